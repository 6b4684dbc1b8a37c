/* decompose_box.c: the approximation behind the cutting: a solid divided by boxes.
 *
 * The part of the solid S within a box B is bounded by surface in B and by parts of B's sides, so
 * its extreme points are corners of triangles clipped to B, and corners of B inside S. Their hull H
 * contains S ∩ B and lies in B. Hence, for boxes that divide space: the hulls cover S, do not
 * overlap, have at least the volume of S, and deviate from S by at most the diagonal of their box.
 * This holds for any closed surface, because no surface has to be traced. H is accepted when its
 * deviation is small enough; otherwise the box around H is halved across its longest side. A box no
 * longer than the allowed deviation is accepted without measuring, so the division ends.
 *
 * What goes wrong: flat remains (a box that only touches a face) have no hull; they are left out
 * and counted.
 */
#include "server/engine/geometry/decompose_box.h"

#include "server/engine/geometry/intersect_point_mesh.h"

#include <string.h>

enum { POINTS_MAX = 20000, POLYGON_MAX = 9, POINTS_FIRST = 256, CLUSTER_FACTOR = 1024 };

/* A vertex within this distance of a triangle's plane counts as in it, relative to the diagonal of
 * the box. */
#define FLAT_PER_DIAGONAL 1e-9

struct mesh *piece_mesh(const struct decompose_piece *piece)
{
	uint32_t triangles = piece->triangle_count, nodes = mesh_tree_nodes_max(triangles);
	size_t bytes = sizeof(struct mesh) + nodes * sizeof(struct mesh_node) +
		       piece->point_count * sizeof(vec3) + triangles * 4 * sizeof(uint32_t);
	struct mesh *mesh = heap_alloc(bytes);
	void *scratch = heap_alloc(mesh_tree_scratch_bytes(triangles));
	if (mesh == NULL || scratch == NULL) {
		heap_free(mesh);
		heap_free(scratch);
		return NULL;
	}
	*mesh = (struct mesh){ .vertex_count = piece->point_count,
			       .triangle_count = triangles,
			       .closed = true };
	mesh->nodes = (struct mesh_node *)(mesh + 1);
	mesh->vertices = (vec3 *)(mesh->nodes + nodes);
	mesh->triangles = (uint32_t(*)[3])(mesh->vertices + piece->point_count);
	mesh->order = (uint32_t *)(mesh->triangles + triangles);
	memcpy(mesh->vertices, piece->points, piece->point_count * sizeof(vec3));
	memcpy(mesh->triangles, piece->corner, (size_t)triangles * 3 * sizeof(uint32_t));
	mesh_tree_build(mesh, scratch);
	heap_free(scratch);
	return mesh;
}

/* Clips the polygon to one side of one of the box's planes (Sutherland and Hodgman). */
static uint32_t clip_polygon(vec3 *polygon, uint32_t count, uint32_t axis, double bound,
			     double side)
{
	ASSERT(axis < 3);
	VALIDATE(side == 1 || side == -1);
	vec3 kept[POLYGON_MAX + 1];
	uint32_t n = 0;
	for (uint32_t i = 0; i < count; i++) {
		vec3 a = polygon[i], b = polygon[i + 1 == count ? 0 : i + 1];
		double da = (vec3_get(a, axis) - bound) * side;
		double db = (vec3_get(b, axis) - bound) * side;
		if (da <= 0)
			kept[n++] = a;
		if ((da < 0 && db > 0) || (da > 0 && db < 0)) {
			vec3 at = vec3_lerp(a, b, da / (da - db));
			vec3_set(&at, axis, bound);
			kept[n++] = at;
		}
		ASSERT(n <= POLYGON_MAX);
	}
	memcpy(polygon, kept, n * sizeof *polygon);
	return n;
}

static uint32_t clip_triangle(const struct mesh *mesh, uint32_t t, struct aabb box, vec3 *polygon)
{
	ASSERT(t < mesh->triangle_count);
	uint32_t count = 3;
	for (uint32_t k = 0; k < 3; k++)
		polygon[k] = mesh_corner(mesh, t, k);
	for (uint32_t axis = 0; axis < 3 && count > 0; axis++) {
		count = clip_polygon(polygon, count, axis, vec3_get(box.max, axis), 1);
		count = clip_polygon(polygon, count, axis, vec3_get(box.min, axis), -1);
	}
	return count;
}

typedef ARRAY_OF(vec3) point_list;

static enum status collect_points(const struct mesh *mesh, struct aabb box, point_list *out)
{
	struct mesh_walk walk;
	uint32_t triangle;
	enum status status = ARRAY_RESERVE(out, POINTS_FIRST);
	mesh_walk_init(&walk, mesh, box);
	while (status == STATUS_OK && mesh_walk_next(&walk, &triangle)) {
		status = ARRAY_RESERVE(out, out->count + (uint64_t)POLYGON_MAX + 8);
		if (status == STATUS_OK)
			out->count += clip_triangle(mesh, triangle, box, out->items + out->count);
	}
	for (uint32_t i = 0; status == STATUS_OK && i < 8; i++) {
		vec3 corner =
			vec3_make(i & 1 ? box.max.x : box.min.x, i & 2 ? box.max.y : box.min.y,
				  i & 4 ? box.max.z : box.min.z);
		if (intersect_point_mesh(mesh, corner) != POINT_MESH_OUTSIDE)
			out->items[out->count++] = corner;
	}
	ASSERT(out->count <= out->capacity);
	return status;
}

static void halve_box(struct aabb box, struct box_result *out)
{
	uint32_t axis = vec3_largest_axis(vec3_sub(box.max, box.min));
	double middle = vec3_get(aabb_centre(box), axis);
	out->answer = BOX_SPLIT;
	out->first = out->second = box;
	vec3_set(&out->first.max, axis, middle);
	vec3_set(&out->second.min, axis, middle);
}

/* Whether all surface within the box lies on the hull: then the solid within the box is its own
 * hull, because a hull point outside the solid would have a nearest point on its surface, and would
 * lie above it. */
static bool is_convex(const struct mesh *mesh, struct aabb box, const struct piece_hull *hull)
{
	ASSERT(!hull->thin && hull->factor > 0);
	double slack = FLAT_PER_DIAGONAL * vec3_distance(box.min, box.max);
	struct mesh_walk walk;
	uint32_t t;
	mesh_walk_init(&walk, mesh, box);
	while (mesh_walk_next(&walk, &t)) {
		vec3 normal = mesh_normal(mesh, t), at = mesh_corner(mesh, t, 0),
		     own[POLYGON_MAX + 1];
		if (clip_triangle(mesh, t, box, own) < 3)
			continue;
		for (uint32_t i = 0; i < hull->vertex_count; i++) {
			vec3 p = vec3_mul_add(hull->middle, hull->hull->vertices[i],
					      1 / hull->factor);
			if (vec3_dot(normal, vec3_sub(p, at)) > slack)
				return false;
		}
	}
	return true;
}

static enum status classify_box(const struct mesh *mesh, const point_list *points, struct aabb box,
				struct box_limits limits, struct box_result *out)
{
	ASSERT(points->count >= 4);
	double diagonal = vec3_distance(box.min, box.max);
	/* A dense cluster of points this small (a fan of thousands of triangles) is not divided
	 * further. */
	bool small = diagonal <= limits.deviation / CLUSTER_FACTOR;
	if (points->count > POINTS_MAX && !small) {
		halve_box(box, out);
		return STATUS_OK;
	}
	enum status status = piece_hull_init(&out->hull, points->items, points->count, !small);
	bool large = status == STATUS_TOO_LARGE;
	if (status != STATUS_OK && !large)
		return status;
	if (out->hull.thin)
		return STATUS_OK;
	out->deviation = diagonal;
	if (large || (out->hull.vertex_count > limits.vertices_max && !small)) {
		halve_box(box, out);
		return STATUS_OK;
	}
	if (is_convex(mesh, box, &out->hull))
		out->deviation = FLAT_PER_DIAGONAL * diagonal;
	else if (diagonal > limits.deviation)
		out->deviation = hull_deviation(mesh, &out->hull, box, limits.deviation,
						limits.deviation / 4);
	out->answer = BOX_PART;
	if (out->deviation > limits.deviation)
		halve_box(box, out);
	return STATUS_OK;
}

enum status box_examine(const struct mesh *mesh, struct aabb box, struct box_limits limits,
			struct box_result *out)
{
	ASSERT(mesh->closed);
	ASSERT(limits.deviation > 0 && limits.vertices_max >= 4);
	point_list points = { 0 };
	*out = (struct box_result){ .answer = BOX_EMPTY };
	enum status status = collect_points(mesh, box, &points);
	if (status == STATUS_OK && points.count >= 4) {
		struct aabb around = aabb_empty();
		for (uint32_t i = 0; i < points.count; i++)
			around = aabb_add_point(around, points.items[i]);
		status = classify_box(mesh, &points, around, limits, out);
	} else if (points.count > 0) {
		out->hull.thin = true;
	}
	ARRAY_RELEASE(&points);
	return status;
}
