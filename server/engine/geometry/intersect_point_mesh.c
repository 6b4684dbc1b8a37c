/* intersect_point_mesh.c: ch1-3 G-28, by winding numbers.
 *
 * A ray from p along +x leaves the solid through faces whose normal has x > 0 and enters through
 * the others; exits minus entries is the winding number of the surface around p. The book casts six
 * rays and takes the side of each nearest face, to survive hits on edges. Here no ray hits an edge:
 * it is taken to start at p + (0, ε, ε²) with ε infinitesimal (simulation of simplicity,
 * Edelsbrunner and Mücke 1990), so that in the projection along x it passes every edge on one side
 * or the other, and two triangles that share the edge agree on the side. All signs are exact
 * (orient.h), one ray suffices, and only triangles whose boxes the ray meets are tested. A point on
 * the surface is found first: it lies in the plane of a triangle and in the triangle.
 */
#include "server/engine/geometry/intersect_point_mesh.h"

#include "server/engine/geometry/intersect_coplanar.h"
#include "server/engine/geometry/orient.h"

/* Side of the line a → b, seen along x, on which the displaced p lies; 0 only when a and b coincide
 * in that view. Exchanging a and b negates the sign. */
static int side_of(vec3 a, vec3 b, vec3 p)
{
	int side = orient_line(0, a, b, p);
	if (side != 0)
		return side;
	if (b.z != a.z)
		return b.z > a.z ? -1 : 1;
	return (b.y > a.y) - (b.y < a.y);
}

/* The ray's contribution to the winding number: 1 for leaving through the triangle, −1 for
 * entering, 0 for a miss. */
static int ray_winding(vec3 a, vec3 b, vec3 c, int plane_side, vec3 p)
{
	VALIDATE(plane_side >= -1 && plane_side <= 1);
	int ab = side_of(a, b, p), bc = side_of(b, c, p), ca = side_of(c, a, p);
	if (ab == 0 || ab != bc || ab != ca)
		return 0;
	/* Where all three sides are positive, the triangle's normal has x > 0, so the ray from p
	 * in direction +x hits it if p is below its plane; where all are negative, if above. */
	return plane_side == -ab ? ab : 0;
}

enum point_mesh intersect_point_mesh(const struct mesh *mesh, vec3 p)
{
	struct mesh_walk walk;
	uint32_t triangle;
	int winding = 0;
	mesh_walk_init(&walk, mesh, aabb_make(p, vec3_make(AABB_EVERYWHERE, p.y, p.z)));
	while (mesh_walk_next(&walk, &triangle)) {
		vec3 a = mesh_corner(mesh, triangle, 0), b = mesh_corner(mesh, triangle, 1),
		     c = mesh_corner(mesh, triangle, 2);
		int plane_side = orient_plane(a, b, c, p);
		if (plane_side == 0 && intersect_point_triangle(p, a, b, c))
			return POINT_MESH_ON;
		winding += ray_winding(a, b, c, plane_side, p);
	}
	return winding > 0 ? POINT_MESH_INSIDE : POINT_MESH_OUTSIDE;
}

/* ---- nearest points --------------------------------------------------------------------------- */

static double square_to_node(const struct mesh_node *node, vec3 p)
{
	vec3 near = vec3_min(vec3_max(p, node->min), node->max);
	return vec3_distance_squared(near, p);
}

static void nearest_in_leaf(const struct mesh *mesh, const struct mesh_node *node, vec3 p,
			    struct mesh_point *best, double *square)
{
	VALIDATE(node->count > 0);
	for (uint32_t i = node->first; i < node->first + node->count; i++) {
		uint32_t triangle = mesh->order[i];
		struct triangle_point near = closest_point_triangle(
			p, mesh_corner(mesh, triangle, 0), mesh_corner(mesh, triangle, 1),
			mesh_corner(mesh, triangle, 2));
		bool same = near.distance_squared == *square && triangle < best->triangle;
		if (!(near.distance_squared < *square || same))
			continue;
		*square = near.distance_squared;
		best->point = near.point;
		best->triangle = triangle;
		best->feature = near.feature;
	}
}

/* Nodes are pruned only when they begin beyond the best distance (with a margin for rounding), so
 * the order of traversal, nearer half first, does not affect the result. */
struct mesh_point intersect_nearest_on_mesh(const struct mesh *mesh, vec3 p)
{
	struct mesh_point best = { .triangle = UINT32_MAX };
	uint32_t stack[MESH_DEPTH_MAX], depth = 1;
	double square = SCALAR_MAX;
	stack[0] = 0;
	while (depth > 0) {
		uint32_t at = stack[--depth];
		const struct mesh_node *node = &mesh->nodes[at];
		if (square_to_node(node, p) * (1 - 1e-9) > square)
			continue;
		if (node->count > 0) {
			nearest_in_leaf(mesh, node, p, &best, &square);
			continue;
		}
		ASSERT(depth + 2 <= MESH_DEPTH_MAX);
		double left = square_to_node(node + 1, p);
		bool left_first = left <= square_to_node(&mesh->nodes[node->first], p);
		stack[depth++] = left_first ? node->first : at + 1;
		stack[depth++] = left_first ? at + 1 : node->first;
	}
	best.distance = scalar_sqrt(square);
	return best;
}

double intersect_vertex_depth(const struct mesh *mesh, vec3 p, struct mesh_point *nearest)
{
	struct mesh_point found = intersect_nearest_on_mesh(mesh, p);
	if (nearest != NULL)
		*nearest = found;
	return intersect_point_mesh(mesh, p) == POINT_MESH_INSIDE ? found.distance : 0;
}
