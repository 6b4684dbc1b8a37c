/* See query.h. GJK on the cores; planes by support points; meshes triangle by triangle. A core is
 * the piece without its rounding radius, in its own frame; `placing` is its placement in the frame
 * of the other piece.
 *
 * Two rounded pieces overlap if and only if the distance of their cores is at most the sum of the
 * radii. The distance is known to a relative 1e-12, so for pieces that touch within rounding either
 * result is possible.
 */
#include "server/engine/collision/query.h"

#include "server/engine/collision/gjk.h"
#include "server/engine/collision/sat.h"
#include "server/engine/geometry/aabb.h"
#include "server/engine/geometry/intersect_point_mesh.h"
#include "server/engine/geometry/mesh.h"
#include "server/engine/geometry/ray.h"
#include "server/engine/geometry/solid.h"

static struct placing placing_of(const pose *at)
{
	return (struct placing){ mat3_from_quat(at->rotation), at->position };
}

static bool cores_overlap(const struct gjk_core *a, const struct gjk_core *b,
			  const struct placing *b_in_a)
{
	double radii = a->radius + b->radius;
	return !gjk_apart_by(a, b, &b_in_a->rotation, b_in_a->translation, radii, NULL);
}

static struct aabb core_box(const struct gjk_core *core, const struct placing *placing)
{
	return gjk_box(core, &placing->rotation, placing->translation);
}

static bool plane_overlaps_core(const struct shape *plane, const struct gjk_core *core,
				const struct placing *placing)
{
	if (core->curve != NULL) {
		vec3 n = plane->plane.normal;
		vec3 down = mat3_transposed_mul_vec(placing->rotation, vec3_negate(n));
		vec3 p = placing_point(placing, curve_support(core->curve, down));
		return vec3_dot(n, p) <= plane->plane.offset;
	}
	for (uint32_t i = 0; i < core->count; i++) {
		vec3 p = placing_point(placing, core->points[i]);
		if (vec3_dot(plane->plane.normal, p) - core->radius <= plane->plane.offset)
			return true;
	}
	return false;
}

/* Half-spaces are apart only if their normals are opposite (within 1e-12) and a gap is between them. */
static bool planes_overlap(const struct shape *a, const struct shape *b, const pose *b_in_a)
{
	vec3 normal = quat_rotate(b_in_a->rotation, b->plane.normal);
	double offset = b->plane.offset + vec3_dot(normal, b_in_a->position);
	vec3 sum = vec3_add(a->plane.normal, normal);
	return vec3_length(sum) > 1e-12 || a->plane.offset + offset >= 0;
}

static struct gjk_core triangle_core(const struct mesh *mesh, uint32_t triangle, vec3 room[3])
{
	mesh_corners(mesh, triangle, room);
	return (struct gjk_core){ room, 3, NULL, 0, NULL };
}

static bool solid_overlaps_core(const struct shape *solid, const struct gjk_core *core,
				const struct placing *placing)
{
	struct aabb box = core_box(core, placing);
	for (uint32_t i = 0; i < shape_piece_count(solid); i++) {
		struct gjk_points room;
		struct gjk_core own = gjk_core_of(solid, i, &room);
		if (aabb_overlaps(shape_piece_aabb(solid, i), box) &&
		    cores_overlap(&own, core, placing))
			return true;
	}
	return false;
}

/* The triangles of a mesh as a surface. */
static bool mesh_overlaps_core(const struct mesh *mesh, const struct gjk_core *core,
			       const struct placing *placing)
{
	struct mesh_walk walk;
	uint32_t triangle;
	mesh_walk_init(&walk, mesh, core_box(core, placing));
	while (mesh_walk_next(&walk, &triangle)) {
		vec3 room[3];
		struct gjk_core own = triangle_core(mesh, triangle, room);
		if (cores_overlap(&own, core, placing))
			return true;
	}
	return false;
}

/* The surfaces cross, or one piece lies inside the other, which one point of each decides. */
static bool field_overlaps_core(const struct solid *solid, const struct gjk_core *core,
				const struct placing *placing)
{
	struct gjk_core vertex = { solid->mesh->vertices, 1, NULL, 0, NULL };
	return mesh_overlaps_core(solid->mesh, core, placing) ||
	       cores_overlap(&vertex, core, placing) ||
	       intersect_point_mesh(solid->mesh, placing_point(placing, core->points[0])) !=
		       POINT_MESH_OUTSIDE;
}

/* A whole shape of any kind. */
static bool shape_overlaps_core(const struct shape *shape, const struct gjk_core *core,
				const struct placing *placing)
{
	if (shape->kind == SHAPE_PLANE)
		return plane_overlaps_core(shape, core, placing);
	if (shape_is_field(shape))
		return field_overlaps_core(shape->solid, core, placing);
	if (shape->kind == SHAPE_SOLID)
		return solid_overlaps_core(shape, core, placing);
	if (!shape_is_surface(shape)) {
		struct gjk_points room;
		struct gjk_core own = gjk_core_of(shape, 0, &room);
		return cores_overlap(&own, core, placing);
	}
	return mesh_overlaps_core(shape->mesh, core, placing);
}

/* The triangles of `mesh` near the shape, one by one. */
static bool shape_overlaps_mesh(const struct shape *shape, const struct shape *mesh,
				const pose *mesh_in_shape)
{
	struct placing placing = placing_of(mesh_in_shape);
	pose shape_in_mesh = pose_inverse(*mesh_in_shape);
	struct mesh_walk walk;
	uint32_t triangle;
	mesh_walk_init(&walk, mesh->mesh, shape_aabb(shape, &shape_in_mesh));
	while (mesh_walk_next(&walk, &triangle)) {
		vec3 room[3];
		struct gjk_core core = triangle_core(mesh->mesh, triangle, room);
		if (shape_overlaps_core(shape, &core, &placing))
			return true;
	}
	return false;
}

static bool is_core(const struct shape *shape)
{
	return !shape_is_ground(shape) && shape->kind != SHAPE_SOLID;
}

static bool field_overlap(const struct shape *field, const struct shape *other,
			  const pose *other_in_field)
{
	const struct shape *surface = shape_exact(field), *other_surface = shape_exact(other);
	if (is_core(other) || other->kind == SHAPE_PLANE) {
		pose field_in_other = pose_inverse(*other_in_field);
		struct gjk_points room;
		struct placing placing = placing_of(other_in_field);
		if (other->kind == SHAPE_PLANE)
			return shape_overlaps_mesh(other, surface, &field_in_other);
		struct gjk_core core = gjk_core_of(other, 0, &room);
		return shape_overlaps_core(field, &core, &placing);
	}
	if (shape_overlaps_mesh(surface, other_surface, other_in_field))
		return true;
	vec3 point_of_other = pose_point(*other_in_field, mesh_some_point(other_surface->mesh));
	vec3 point_of_field = pose_inverse_point(*other_in_field, mesh_some_point(surface->mesh));
	return intersect_point_mesh(surface->mesh, point_of_other) != POINT_MESH_OUTSIDE ||
	       (shape_is_field(other) &&
		intersect_point_mesh(other_surface->mesh, point_of_field) != POINT_MESH_OUTSIDE);
}

/* ---- overlaps that balls decide -------------------------------------------------------------- */

enum ball_verdict { APART, OVERLAPPING, UNDECIDED };

/* Of the sizes involved: within this of touching, the distance of the cores decides. It is far above
 * the errors of both, so that balls never contradict it. */
#define BALL_SLACK 1e-9

/* Shapes whose distance GJK finds to rounding, and which contain the ball of their extent_min. */
static bool is_solid_polytope(const struct shape *shape)
{
	return shape->kind == SHAPE_SPHERE || shape->kind == SHAPE_CAPSULE ||
	       shape->kind == SHAPE_BOX || shape->kind == SHAPE_HULL ||
	       shape->kind == SHAPE_ROUNDED;
}

/* Bounds of the distance from the shape to a point in its frame; negative: it is inside at least so
 * deep. */
static void bound_distance(const struct shape *shape, vec3 point, double *lower, double *upper)
{
	double radius = 0;
	ASSERT(shape->extent_min <= shape->radius_max);
	vec3 rest = point; /* from the nearest point of the core */
	if (shape->kind == SHAPE_BOX) {
		vec3 half = shape->box.half;
		rest = vec3_sub(point, vec3_max(vec3_negate(half), vec3_min(half, point)));
	} else if (shape->kind == SHAPE_SPHERE) {
		radius = shape->sphere.radius;
	} else if (shape->kind == SHAPE_CAPSULE) {
		double h = shape->capsule.half_length;
		rest.y = point.y - scalar_max(-h, scalar_min(h, point.y));
		radius = shape->capsule.radius;
	} else {
		double way = vec3_distance(point, shape->mass.centre);
		*lower = way - shape->radius_max;
		*upper = way - shape->extent_min;
		return;
	}
	*lower = *upper = vec3_length(rest) - radius;
}

/* By the balls in and around b, whose mass centre in a's frame is given. */
static enum ball_verdict judge_balls(const struct shape *a, const struct shape *b, vec3 centre)
{
	double lower, upper;
	double size = a->radius_max + b->radius_max + vec3_length(centre);
	bound_distance(a, centre, &lower, &upper);
	ASSERT(lower <= upper);
	if (lower > b->radius_max + BALL_SLACK * size)
		return APART;
	return upper < b->extent_min - BALL_SLACK * size ? OVERLAPPING : UNDECIDED;
}

static enum ball_verdict judge_quickly(const struct shape *a, const struct shape *b,
				       const pose *b_in_a)
{
	if (!is_solid_polytope(a) || !is_solid_polytope(b))
		return UNDECIDED;
	enum ball_verdict verdict = judge_balls(a, b, pose_point(*b_in_a, b->mass.centre));
	return verdict != UNDECIDED
		       ? verdict
		       : judge_balls(b, a, pose_inverse_point(*b_in_a, a->mass.centre));
}

bool shape_overlap(const struct shape *a, const struct shape *b, const pose *b_in_a)
{
	enum ball_verdict verdict = judge_quickly(a, b, b_in_a);
	if (verdict != UNDECIDED)
		return verdict == OVERLAPPING;
	bool field_a = shape_is_field(a), field_b = shape_is_field(b);
	if (field_a && (field_b || b->kind != SHAPE_SOLID))
		return field_overlap(a, b, b_in_a);
	if (field_b && a->kind != SHAPE_SOLID) {
		pose a_in_b = pose_inverse(*b_in_a);
		return field_overlap(b, a, &a_in_b);
	}
	if (field_b) { /* a is a solid of parts */
		pose a_in_b = pose_inverse(*b_in_a);
		return shape_overlap(b, a, &a_in_b);
	}
	for (uint32_t i = 0; b->kind == SHAPE_SOLID && i < shape_piece_count(b); i++) {
		uint32_t child = i;
		if (shape_overlap(a, shape_part(b, &child), b_in_a))
			return true;
	}
	if (b->kind == SHAPE_SOLID)
		return false;
	if (a->kind == SHAPE_SOLID && !is_core(b)) { /* a mesh or a plane, part by part */
		pose a_in_b = pose_inverse(*b_in_a);
		return shape_overlap(b, a, &a_in_b);
	}
	if (a->kind == SHAPE_PLANE && b->kind == SHAPE_PLANE)
		return planes_overlap(a, b, b_in_a);
	if (shape_is_surface(a) && shape_is_surface(b))
		return shape_overlaps_mesh(a, b, b_in_a);
	if (!is_core(b) && is_core(a)) {
		pose a_in_b = pose_inverse(*b_in_a);
		return shape_overlap(b, a, &a_in_b);
	}
	if (shape_is_surface(b)) /* a is a plane */
		return shape_overlaps_mesh(a, b, b_in_a);
	if (b->kind == SHAPE_PLANE) { /* a is a mesh */
		pose a_in_b = pose_inverse(*b_in_a);
		return shape_overlaps_mesh(b, a, &a_in_b);
	}
	struct gjk_points room;
	struct gjk_core core = gjk_core_of(b, 0, &room);
	struct placing placing = placing_of(b_in_a);
	return shape_overlaps_core(a, &core, &placing);
}

bool shape_overlap_sphere(const struct shape *shape, vec3 centre, double radius)
{
	struct gjk_core core = { &centre, 1, NULL, radius, NULL };
	struct placing here = { mat3_identity(), vec3_zero() };
	return shape_overlaps_core(shape, &core, &here);
}

bool shape_overlap_box(const struct shape *shape, const pose *at, vec3 half)
{
	vec3 corners[8];
	for (int k = 0; k < 8; k++)
		corners[k] = vec3_make(k & 1 ? half.x : -half.x, k & 2 ? half.y : -half.y,
				       k & 4 ? half.z : -half.z);
	struct gjk_core core = { corners, 8, NULL, 0, NULL };
	struct placing placing = placing_of(at);
	return shape_overlaps_core(shape, &core, &placing);
}

bool piece_overlap(struct piece a, struct piece b, const pose *b_in_a)
{
	if (shape_is_field(a.shape) ||
	    shape_is_field(b.shape)) /* a side of a field is a direction, not a piece of space */
		return shape_overlap(a.shape, b.shape, b_in_a);
	if (a.shape->kind == SHAPE_PLANE && b.shape->kind == SHAPE_PLANE)
		return planes_overlap(a.shape, b.shape, b_in_a);
	if (b.shape->kind == SHAPE_PLANE) {
		pose a_in_b = pose_inverse(*b_in_a);
		return piece_overlap(b, a, &a_in_b);
	}
	struct gjk_points room_a, room_b;
	struct gjk_core core = gjk_core_of(b.shape, b.child, &room_b);
	struct placing placing = placing_of(b_in_a);
	if (a.shape->kind == SHAPE_PLANE)
		return plane_overlaps_core(a.shape, &core, &placing);
	struct gjk_core own = gjk_core_of(a.shape, a.child, &room_a);
	return cores_overlap(&own, &core, &placing);
}

void piece_distance(struct piece a, struct piece b, const pose *b_in_a, struct piece_gap *out)
{
	struct gjk_points room_a, room_b;
	struct gjk_core core_a = gjk_core_of(a.shape, a.child, &room_a);
	struct gjk_core core_b = gjk_core_of(b.shape, b.child, &room_b);
	struct placing placing = placing_of(b_in_a);
	struct gjk_result nearest;
	gjk_distance(&core_a, &core_b, &placing.rotation, placing.translation, NULL, &nearest);
	double radii = core_a.radius + core_b.radius, gap = nearest.distance - radii;
	*out = (struct piece_gap){ 0, nearest.point_a, nearest.point_b, vec3_zero() };
	if (gap > 0) {
		out->distance = gap;
		out->normal = nearest.normal;
		out->point_a = vec3_mul_add(nearest.point_a, nearest.normal, core_a.radius);
		out->point_b = vec3_mul_sub(nearest.point_b, nearest.normal, core_b.radius);
	} else if (radii > 0) {
		/* A point between the cores that is within both radii. */
		vec3 shared = vec3_lerp(nearest.point_a, nearest.point_b, core_a.radius / radii);
		out->point_a = out->point_b = shared;
	}
}

bool shape_ray(const struct shape *shape, const pose *at, vec3 from, vec3 along, double limit,
	       struct query_hit *hit)
{
	struct shape_hit local;
	if (!ray_shape(shape, pose_inverse_point(*at, from), pose_inverse_vector(*at, along), limit,
		       &local))
		return false;
	*hit = (struct query_hit){ local.fraction, quat_rotate(at->rotation, local.normal),
				   local.child, local.inside };
	return true;
}
