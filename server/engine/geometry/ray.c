/* ray.c: where a segment first meets a shape (chapter 2's G-24…G-26).
 *
 * For solids the start is tested first: if it lies outside, the entry is the least parameter at
 * which some part of the surface is crossed from outside. Convex polyhedra are intersections of
 * half-spaces: the segment enters at the last of the planes that it crosses inwards and must not
 * have left by then.
 *
 * Triangles must leave no gaps, at edges or at vertices. Each vertex is transformed to ray
 * coordinates, two across the ray and one along it, computed from the vertex and the ray alone,
 * hence the same for all triangles around it. Across the ray the problem is planar: is the origin
 * left of every edge? The computed sign of x y' − x' y is the true one or zero, because rounding is
 * monotone; and zero counts as inside. So the test never returns "outside" wrongly, and the origin
 * lies in one of the triangles that cover it. (Signs of volumes in space were tried first and let
 * rays through at vertices: consistent at an edge, they can be wrong for all edges around a
 * vertex.)
 */
#include "server/engine/geometry/ray.h"

#include "server/engine/geometry/closest.h"
#include "server/engine/geometry/intersect_point_mesh.h"
#include "server/engine/geometry/ray_curved.h"
#include "server/engine/geometry/solid.h"

static bool hit_inside(vec3 along, struct shape_hit *hit)
{
	*hit = (struct shape_hit){ 0, vec3_negate(vec3_normalize(along)), 0, true };
	return true;
}

static bool hit_at(double fraction, vec3 normal, struct shape_hit *hit)
{
	*hit = (struct shape_hit){ fraction, normal, 0, false };
	return true;
}

/* The first parameter at which m + f d, starting outside, is within r of the origin; negative:
 * never. Computed as the nearest approach minus half a chord, which stays accurate far away. */
static double enter_ball(vec3 m, vec3 d, double r)
{
	double dd = vec3_dot(d, d), md = vec3_dot(m, d);
	if (!(md < 0))
		return -1;
	double nearest = -md / dd;
	double h = r * r - vec3_length_squared(vec3_mul_add(m, d, nearest));
	if (h < 0)
		return -1;
	return scalar_max(nearest - scalar_sqrt(h / dd), 0);
}

bool ray_sphere(vec3 centre, double radius, vec3 from, vec3 along, double limit,
		struct shape_hit *hit)
{
	vec3 m = vec3_sub(from, centre);
	if (vec3_length_squared(m) <= radius * radius)
		return hit_inside(along, hit);
	double f = enter_ball(m, along, radius), length;
	if (f < 0 || f > limit)
		return false;
	vec3 normal = vec3_normalize_length(vec3_mul_add(m, along, f), &length);
	/* A ball of radius 0 (the corner of a polygon) has no normal: take the one against the ray. */
	return hit_at(f, length > 0 ? normal : vec3_negate(vec3_normalize(along)), hit);
}

/* The side of the cylinder: a ball problem across the axis; along it the hit must lie between the
 * ends. */
static double enter_side(vec3 a, vec3 b, double radius, vec3 from, vec3 along, vec3 *normal)
{
	vec3 axis = vec3_sub(b, a), m = vec3_sub(from, a);
	double length_squared = vec3_dot(axis, axis);
	if (!(length_squared > 0))
		return -1;
	double mk = vec3_dot(m, axis) / length_squared, dk = vec3_dot(along, axis) / length_squared;
	vec3 across = vec3_mul_sub(m, axis, mk), d = vec3_mul_sub(along, axis, dk);
	if (vec3_length_squared(across) <= radius * radius)
		return -1;
	double f = enter_ball(across, d, radius), k = mk + f * dk;
	if (f < 0 || k < 0 || k > 1)
		return -1;
	*normal = vec3_normalize(vec3_mul_add(across, d, f));
	return f;
}

bool ray_capsule(vec3 a, vec3 b, double radius, vec3 from, vec3 along, double limit,
		 struct shape_hit *hit)
{
	double k;
	if (vec3_distance_squared(from, closest_point_segment(from, a, b, &k)) <= radius * radius)
		return hit_inside(along, hit);
	struct shape_hit end;
	bool found = false;
	vec3 normal;
	double f = enter_side(a, b, radius, from, along, &normal);
	if (f >= 0 && f <= limit) {
		found = hit_at(f, normal, hit);
		limit = f;
	}
	if (ray_sphere(a, radius, from, along, limit, &end) && (!found || end.fraction < limit)) {
		*hit = end;
		limit = end.fraction;
		found = true;
	}
	if (ray_sphere(b, radius, from, along, limit, &end) && (!found || end.fraction < limit)) {
		*hit = end;
		found = true;
	}
	return found;
}

/* ---- intersections of half-spaces ------------------------------------------------------------- */

struct plane_clip {
	double enter, leave;
	vec3 normal;  /* of the plane through which it entered */
	bool outside; /* the start is outside some plane */
};

/* Clips by one half-space. False: nothing of the segment is left. */
static bool clip_by(struct plane_clip *clip, vec3 n, double offset, vec3 from, vec3 along)
{
	double gap = vec3_dot(n, from) - offset, slope = vec3_dot(n, along);
	if (gap > 0 && !(slope < 0))
		return false;
	clip->outside |= gap > 0;
	if (slope == 0)
		return true;
	double f = -gap / slope;
	if (slope > 0) {
		clip->leave = scalar_min(clip->leave, f);
	} else if (gap > 0 && f >= clip->enter) {
		clip->enter = f;
		clip->normal = n;
	}
	return clip->enter <= clip->leave;
}

static bool clip_result(const struct plane_clip *clip, vec3 along, struct shape_hit *hit)
{
	if (!clip->outside)
		return hit_inside(along, hit);
	return hit_at(clip->enter, clip->normal, hit);
}

bool ray_box(vec3 half, vec3 from, vec3 along, double limit, struct shape_hit *hit)
{
	struct plane_clip clip = { 0, limit, vec3_zero(), false };
	for (uint32_t axis = 0; axis < 3; axis++) {
		vec3 n = vec3_axis(axis);
		double size = vec3_get(half, axis);
		if (!clip_by(&clip, vec3_negate(n), size, from, along) ||
		    !clip_by(&clip, n, size, from, along))
			return false;
	}
	return clip_result(&clip, along, hit);
}

static bool ray_plane(vec3 normal, double offset, vec3 from, vec3 along, double limit,
		      struct shape_hit *hit)
{
	struct plane_clip clip = { 0, limit, vec3_zero(), false };
	return clip_by(&clip, normal, offset, from, along) && clip_result(&clip, along, hit);
}

static bool ray_hull(const struct hull *hull, vec3 from, vec3 along, double limit,
		     struct shape_hit *hit)
{
	ASSERT(hull->face_count >= 4);
	struct plane_clip clip = { 0, limit, vec3_zero(), false };
	for (uint32_t f = 0; f < hull->face_count; f++)
		if (!clip_by(&clip, hull->faces[f].normal, hull->faces[f].offset, from, along))
			return false;
	return clip_result(&clip, along, hit);
}

/* ---- rounded polygons ------------------------------------------------------------------------- */

static bool inside_polygon(const struct polygon *polygon, vec3 p)
{
	ASSERT(polygon->count >= 3);
	bool inside = true;
	double nearest = SCALAR_MAX;
	for (uint32_t i = 0; i < polygon->count; i++) {
		vec3 a = polygon->vertices[i], b = polygon->vertices[(i + 1) % polygon->count];
		double k;
		inside &= vec3_dot(polygon->normals[i], vec3_sub(p, a)) <= 0;
		nearest = scalar_min(nearest,
				     vec3_distance_squared(p, closest_point_segment(p, a, b, &k)));
	}
	return inside || nearest <= polygon->radius * polygon->radius;
}

/* The shifted edge i, between its ends. */
static bool hit_edge(const struct polygon *polygon, uint32_t i, vec3 from, vec3 along, double limit,
		     struct shape_hit *hit)
{
	VALIDATE(i < polygon->count);
	vec3 n = polygon->normals[i], a = polygon->vertices[i];
	vec3 d = vec3_sub(polygon->vertices[(i + 1) % polygon->count], a);
	double gap = vec3_dot(n, vec3_sub(from, a)) - polygon->radius, slope = vec3_dot(n, along);
	if (gap < 0 || !(slope < 0))
		return false;
	double f = -gap / slope;
	double k = vec3_dot(vec3_sub(vec3_mul_add(from, along, f), a), d);
	if (f > limit || k < 0 || k > vec3_dot(d, d))
		return false;
	return hit_at(f, n, hit);
}

static bool ray_polygon(const struct polygon *polygon, vec3 from, vec3 along, double limit,
			struct shape_hit *hit)
{
	if (inside_polygon(polygon, vec3_make(from.x, from.y, 0)))
		return hit_inside(along, hit);
	from.z = along.z = 0;
	bool found = false;
	struct shape_hit part;
	for (uint32_t i = 0; i < polygon->count; i++) {
		/* The edge, then its corner; only a nearer hit replaces the one found. */
		if (hit_edge(polygon, i, from, along, limit, &part) &&
		    (!found || part.fraction < limit)) {
			*hit = part;
			limit = part.fraction;
			found = true;
		}
		if (ray_sphere(polygon->vertices[i], polygon->radius, from, along, limit, &part) &&
		    (!found || part.fraction < limit)) {
			*hit = part;
			limit = part.fraction;
			found = true;
		}
	}
	return found;
}

/* ---- triangles -------------------------------------------------------------------------------- */

/* Ray coordinates: z is the axis of the direction's largest component, (x, y, z) cyclic. */
struct ray_view {
	vec3 from;
	uint32_t x, y, z;
	double shear_x, shear_y, along_z;
};

static bool view_init(struct ray_view *view, vec3 from, vec3 along)
{
	view->from = from;
	view->z = vec3_largest_axis(vec3_abs(along));
	view->x = (view->z + 1) % 3;
	view->y = (view->z + 2) % 3;
	view->along_z = vec3_get(along, view->z);
	if (view->along_z == 0)
		return false;
	view->shear_x = vec3_get(along, view->x) / view->along_z;
	view->shear_y = vec3_get(along, view->y) / view->along_z;
	return true;
}

/* A point in ray coordinates: (x, y) across the ray, z along it in the ray's parameter. */
static vec3 view_point(const struct ray_view *view, vec3 p)
{
	vec3 d = vec3_sub(p, view->from);
	double z = vec3_get(d, view->z);
	return vec3_make(vec3_get(d, view->x) - view->shear_x * z,
			 vec3_get(d, view->y) - view->shear_y * z, z / view->along_z);
}

static bool hit_triangle(const struct ray_view *view, vec3 a, vec3 b, vec3 c, double limit,
			 struct shape_hit *hit)
{
	/* Seen along +z, a triangle that faces the ray runs clockwise in (x, y); seen along −z
	 * counter-clockwise. */
	double sign = view->along_z > 0 ? -1 : 1;
	vec3 p = view_point(view, a), q = view_point(view, b), r = view_point(view, c);
	double u = sign * (q.x * r.y - q.y * r.x), v = sign * (r.x * p.y - r.y * p.x);
	double w = sign * (p.x * q.y - p.y * q.x), sum = u + v + w;
	if (u < 0 || v < 0 || w < 0 || !(sum > 0))
		return false;
	double f = (u * p.z + v * q.z + w * r.z) / sum;
	if (f < 0 || f > limit)
		return false;
	return hit_at(f, vec3_normalize(vec3_cross(vec3_sub(b, a), vec3_sub(c, a))), hit);
}

bool ray_triangle(vec3 a, vec3 b, vec3 c, vec3 from, vec3 along, double limit,
		  struct shape_hit *hit)
{
	struct ray_view view;
	return view_init(&view, from, along) && hit_triangle(&view, a, b, c, limit, hit);
}

/* Takes the triangle's hit if it is nearer, or as near and of a lower number. */
static void offer_triangle(const struct mesh *mesh, uint32_t triangle, const struct ray_view *view,
			   struct shape_hit *best, bool *found, double *limit)
{
	struct shape_hit hit;
	vec3 corners[3];
	mesh_corners(mesh, triangle, corners);
	if (!hit_triangle(view, corners[0], corners[1], corners[2], *limit, &hit))
		return;
	if (*found && hit.fraction == *limit && triangle > best->child)
		return;
	*best = hit;
	best->child = triangle;
	*found = true;
	*limit = hit.fraction;
}

static void hit_leaf(const struct mesh *mesh, const struct mesh_node *node,
		     const struct ray_view *view, struct shape_hit *best, bool *found,
		     double *limit)
{
	VALIDATE(node->count > 0);
	for (uint32_t i = 0; i < node->count; i++)
		offer_triangle(mesh, mesh->order[node->first + i], view, best, found, limit);
}

/* A further margin of the part of the ray that is left, because the hit's fraction carries the rounding
 * of a triangle's plane. */
#define BEYOND_HIT 1e-9

/* The cells of a block of the lowest level, if their own boxes are met. */
static void hit_block(const struct mesh *mesh, struct height_block block, vec3 from, vec3 along,
		      const struct ray_view *view, struct shape_hit *best, bool *found,
		      double *limit)
{
	const struct heightfield *grid = mesh->grid;
	struct height_cells cells = heightfield_block_cells(grid, block);
	for (uint32_t z = cells.first_z; z <= cells.last_z; z++)
		for (uint32_t x = cells.first_x; x <= cells.last_x; x++) {
			uint32_t triangle = 2 * (z * (grid->columns - 1) + x);
			double enter, leave;
			if (!heightfield_has_cell(grid, x, z))
				continue;
			struct aabb box = aabb_union(mesh_triangle_aabb(mesh, triangle),
						     mesh_triangle_aabb(mesh, triangle + 1));
			if (!aabb_clip_line(box, from, along, *limit * (1 + BEYOND_HIT), &enter,
					    &leave))
				continue;
			offer_triangle(mesh, triangle, view, best, found, limit);
			offer_triangle(mesh, triangle + 1, view, best, found, limit);
		}
}

/* As ray_mesh; of the four blocks in a block the nearer ones come first. */
static bool ray_grid(const struct mesh *mesh, vec3 from, vec3 along, double limit,
		     const struct ray_view *view, struct shape_hit *hit)
{
	const struct heightfield *grid = mesh->grid;
	struct height_block stack[4 * HEIGHTFIELD_LEVELS_MAX];
	uint32_t depth = 1, far_x = along.x >= 0, far_z = along.z >= 0;
	bool found = false;
	stack[0] = heightfield_top(grid);
	while (depth > 0) {
		struct height_block block = stack[--depth];
		struct aabb box;
		double enter, leave;
		if (!heightfield_block_box(grid, block, &box) ||
		    !aabb_clip_line(box, from, along, limit * (1 + BEYOND_HIT), &enter, &leave))
			continue;
		if (block.level == 0) {
			hit_block(mesh, block, from, along, view, hit, &found, &limit);
			continue;
		}
		const struct heightfield_level *below = &grid->levels[block.level - 1];
		for (uint32_t k = 0; k < 4; k++) {
			uint32_t x = 2 * block.x + (far_x ^ (k & 1));
			uint32_t z = 2 * block.z + (far_z ^ (k >> 1));
			if (x < below->wide && z < below->deep)
				stack[depth++] = (struct height_block){ block.level - 1, x, z };
		}
	}
	return found;
}

/* Nodes are pruned only when they begin beyond the best hit (with the same margin as their box), so
 * the order of traversal, nearer half first, does not affect the result. */
bool ray_mesh(const struct mesh *mesh, vec3 from, vec3 along, double limit, struct shape_hit *hit)
{
	uint32_t stack[MESH_DEPTH_MAX], depth = 1;
	bool found = false;
	struct ray_view view;
	if (!view_init(&view, from, along))
		return false;
	if (mesh->grid != NULL)
		return ray_grid(mesh, from, along, limit, &view, hit);
	stack[0] = 0;
	while (depth > 0) {
		uint32_t at = stack[--depth];
		const struct mesh_node *node = &mesh->nodes[at];
		double enter, leave;
		double reach = limit * (1 + BEYOND_HIT);
		if (!aabb_clip_line(aabb_make(node->min, node->max), from, along, reach, &enter,
				    &leave))
			continue;
		if (node->count > 0) {
			hit_leaf(mesh, node, &view, hit, &found, &limit);
			continue;
		}
		ASSERT(depth + 2 <= MESH_DEPTH_MAX);
		const struct mesh_node *left = node + 1, *right = &mesh->nodes[node->first];
		vec3 gap =
			vec3_sub(vec3_add(right->min, right->max), vec3_add(left->min, left->max));
		bool left_first = vec3_dot(gap, along) >= 0;
		stack[depth++] = left_first ? node->first : at + 1;
		stack[depth++] = left_first ? at + 1 : node->first;
	}
	return found;
}

/* The first part that is hit; of equally near ones the least. A field is hit where its mesh is. */
static bool ray_solid(const struct solid *solid, vec3 from, vec3 along, double limit,
		      struct shape_hit *hit)
{
	bool found = false;
	if (solid->field != NULL && intersect_point_mesh(solid->mesh, from) != POINT_MESH_OUTSIDE)
		return hit_inside(along, hit);
	if (solid->field != NULL)
		return ray_mesh(solid->mesh, from, along, limit, hit);
	for (uint32_t i = 0; i < solid->part_count; i++) {
		struct shape_hit part;
		if (!ray_hull(solid->parts[i]->hull, from, along, limit, &part) ||
		    (found && part.fraction >= hit->fraction))
			continue;
		*hit = part;
		hit->child = i;
		limit = part.fraction;
		found = true;
	}
	return found;
}

bool ray_shape(const struct shape *shape, vec3 from, vec3 along, double limit,
	       struct shape_hit *hit)
{
	vec3 end;
	switch (shape->kind) {
	case SHAPE_SPHERE:
		return ray_sphere(vec3_zero(), shape->sphere.radius, from, along, limit, hit);
	case SHAPE_CAPSULE:
		end = vec3_make(0, shape->capsule.half_length, 0);
		return ray_capsule(vec3_negate(end), end, shape->capsule.radius, from, along, limit,
				   hit);
	case SHAPE_BOX:
		return ray_box(shape->box.half, from, along, limit, hit);
	case SHAPE_HULL:
		return ray_hull(shape->hull, from, along, limit, hit);
	case SHAPE_MESH:
	case SHAPE_HEIGHTFIELD:
		return ray_mesh(shape->mesh, from, along, limit, hit);
	case SHAPE_POLYGON:
		return ray_polygon(shape->polygon, from, along, limit, hit);
	case SHAPE_ROUNDED:
		return ray_rounded(shape->stand_in->hull, shape->rounded.radius, from, along, limit,
				   hit);
	case SHAPE_CYLINDER:
		return ray_cylinder(shape->cylinder.half_length, shape->cylinder.radius, from,
				    along, limit, hit);
	case SHAPE_CONE:
		return ray_cone(shape->cone.half_length, shape->cone.radius, from, along, limit,
				hit);
	case SHAPE_ELLIPSOID:
		return ray_ellipsoid(shape->ellipsoid.half, from, along, limit, hit);
	case SHAPE_SOLID:
		return ray_solid(shape->solid, from, along, limit, hit);
	case SHAPE_PLANE:
	case SHAPE_KINDS:
		break;
	}
	ASSERT(shape->kind == SHAPE_PLANE);
	return ray_plane(shape->plane.normal, shape->plane.offset, from, along, limit, hit);
}
