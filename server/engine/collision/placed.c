/* See placed.h. Casts and nearest points over lists of placed shapes, piece by piece.
 *
 * A cast tests each piece of the moving shape against the pieces of the placed one that its swept
 * box overlaps, by conservative advancement (advance.h) without rotation. The computation is in the
 * frame of the placed shape, so the precision does not depend on its position in the world. A
 * half-space needs no search: the vertex that is lowest along its normal decides.
 *
 * An overlap at the start has fraction 0 and the normal and depth of the narrow phase's manifold.
 * If the narrow phase has no routine for the two kinds, or finds no point, the normal is opposite
 * to the displacement and the depth is 0.
 *
 * A solid that is a field is represented by the triangles of its mesh. One of its points decides
 * whether a shape lies wholly inside a field.
 *
 * Nearest points are found by GJK for each pair of pieces whose boxes are nearer than the best
 * distance so far. Overlapping pieces are ordered by the depth of their manifold.
 */
#include "server/engine/collision/placed.h"

#include "server/engine/collision/advance.h"
#include "server/engine/collision/manifold.h"
#include "server/engine/geometry/intersect_point_mesh.h"
#include "server/engine/geometry/mesh.h"
#include "server/engine/geometry/solid.h"
#include "server/engine/geometry/support.h"

enum { ADVANCE_ITERATIONS = 256 };

/* ---- pieces in a box ------------------------------------------------------------------------- */

/* Walks the pieces of a shape whose boxes meet a box, in a fixed order. */
struct piece_walk {
	const struct shape *shape;
	struct aabb box;
	struct mesh_walk mesh;
	uint32_t next, count;
};

static void pieces_init(struct piece_walk *self, const struct shape *shape, struct aabb box)
{
	self->shape = shape;
	self->box = box;
	self->next = 0;
	self->count = shape_is_surface(shape) ? 0 : shape_piece_count(shape);
	if (shape_is_surface(shape))
		mesh_walk_init(&self->mesh, shape->mesh, box);
}

static bool pieces_next(struct piece_walk *self, uint32_t *piece)
{
	if (shape_is_surface(self->shape))
		return mesh_walk_next(&self->mesh, piece);
	while (self->next < self->count) {
		*piece = self->next++;
		if (aabb_overlaps(shape_piece_aabb(self->shape, *piece), self->box))
			return true;
	}
	return false;
}

static struct aabb core_box(const struct gjk_core *core, const pose *at)
{
	if (core->curve != NULL) {
		mat3 rotation = mat3_from_quat(at->rotation);
		return gjk_box(core, &rotation, at->position);
	}
	struct aabb box = aabb_empty();
	for (uint32_t i = 0; i < core->count; i++)
		box = aabb_add_point(box, pose_point(*at, core->points[i]));
	return aabb_grow(box, core->radius);
}

/* The point of a core, without its radius, that is lowest along n, and which vertex it is (of a
 * curve 0). */
static vec3 lowest_of(const struct gjk_core *core, const pose *at, vec3 n, uint32_t *vertex)
{
	vec3 lowest = vec3_zero();
	double least = SCALAR_MAX;
	*vertex = 0;
	if (core->curve != NULL) {
		vec3 down = pose_inverse_vector(*at, vec3_negate(n));
		return pose_point(*at, curve_support(core->curve, down));
	}
	for (uint32_t i = 0; i < core->count; i++) {
		vec3 p = pose_point(*at, core->points[i]);
		if (vec3_dot(n, p) < least) {
			least = vec3_dot(n, p);
			lowest = p;
			*vertex = i;
		}
	}
	return lowest;
}

/* ---- casts ----------------------------------------------------------------------------------- */

/* A moving piece in the frame of the placed shape. */
struct piece_cast {
	const struct shape *shape;
	uint32_t child;
	pose from;
	vec3 way;
	struct gjk_points room;
	struct gjk_core core;
	struct motion motion, still;
};

static bool hit_precedes(const struct cast_hit *a, const struct cast_hit *b)
{
	if (a->fraction != b->fraction)
		return a->fraction < b->fraction;
	return a->depth > b->depth;
}

/* Depth of the overlap of two pieces, and the normal from the other to the moving one. */
static void overlap_at_start(const struct piece_cast *flight, struct piece other,
			     struct cast_hit *hit)
{
	struct piece own = { flight->shape, flight->child };
	struct pair_cache cache = { 0 };
	struct manifold manifold = { .count = 0 };
	vec3 back = vec3_normalize(vec3_negate(flight->way));
	hit->fraction = 0;
	hit->depth = 0;
	hit->normal = vec3_dot(back, back) > 0.5 ? back : vec3_make(0, 1, 0);
	hit->point = flight->from.position;
	if (collide_supported(other.shape->kind, own.shape->kind))
		collide_pieces(other, own, &flight->from, 0, &cache, &manifold);
	for (uint32_t i = 0; i < manifold.count; i++) {
		if (-manifold.points[i].separation < hit->depth)
			continue;
		hit->depth = -manifold.points[i].separation;
		hit->normal = manifold.normal;
		hit->point = manifold.points[i].point;
	}
}

static bool cast_at_plane(const struct piece_cast *flight, const struct shape *plane,
			  struct cast_hit *hit)
{
	vec3 n = plane->plane.normal;
	uint32_t vertex;
	vec3 lowest = lowest_of(&flight->core, &flight->from, n, &vertex);
	double gap = vec3_dot(n, lowest) - flight->core.radius - plane->plane.offset;
	double speed = -vec3_dot(n, flight->way);
	hit->normal = n;
	hit->depth = scalar_max(-gap, 0);
	hit->fraction = 0;
	if (gap > 0) {
		if (!(speed > 0) || gap > speed)
			return false;
		hit->fraction = scalar_max(gap - SWEEP_TOLERANCE, 0) / speed;
	}
	vec3 p = vec3_mul_add(lowest, flight->way, hit->fraction);
	hit->point = vec3_mul_sub(p, n, vec3_dot(n, p) - plane->plane.offset);
	return true;
}

static bool cast_at_piece(const struct piece_cast *flight, struct piece other, double limit,
			  struct cast_hit *hit)
{
	struct gjk_points room;
	struct advance_body still =
		advance_body_of(other.shape, other.child, &flight->still, &room);
	struct advance_body moving = { flight->core, 0, &flight->motion };
	struct advance_options options = { SWEEP_TOLERANCE, ADVANCE_ITERATIONS };
	struct advance_result result;
	advance_convex(&still, &moving, &options, NULL, &result);
	if (result.outcome == ADVANCE_APART || result.time > limit)
		return false;
	if (result.outcome == ADVANCE_OVERLAP) {
		overlap_at_start(flight, other, hit);
		return true;
	}
	hit->fraction = result.time;
	hit->depth = 0;
	hit->point = result.point_a;
	hit->normal = result.normal;
	hit->uncertain = result.outcome == ADVANCE_LIMIT;
	return true;
}

/* Casts a piece at a placed shape, in the latter's frame. */
static bool cast_piece(const struct piece_cast *flight, const struct shape *shape,
		       struct cast_hit *best, bool found)
{
	struct cast_hit hit = { .own_child = flight->child };
	if (shape->kind == SHAPE_PLANE) {
		if (!cast_at_plane(flight, shape, &hit) || (found && !hit_precedes(&hit, best)))
			return found;
		*best = hit;
		return true;
	}
	pose end = flight->from;
	end.position = vec3_add(end.position, flight->way);
	struct aabb box =
		aabb_union(core_box(&flight->core, &flight->from), core_box(&flight->core, &end));
	struct piece_walk walk;
	uint32_t piece;
	pieces_init(&walk, shape, aabb_grow(box, 2 * SWEEP_TOLERANCE));
	while (pieces_next(&walk, &piece)) {
		hit = (struct cast_hit){ .own_child = flight->child };
		if (!cast_at_piece(flight, (struct piece){ shape, piece },
				   found ? best->fraction : 1, &hit))
			continue;
		hit.child = piece;
		/* Equal hits are ordered by triangle, because the order of a mesh's leaves is
		 * arbitrary. */
		if (found && !hit_precedes(&hit, best) &&
		    !(hit.fraction == best->fraction && hit.depth == best->depth &&
		      hit.own_child == best->own_child && hit.child < best->child))
			continue;
		*best = hit;
		found = true;
	}
	return found;
}

static struct motion motion_along(pose from, vec3 way)
{
	pose to = { vec3_add(from.position, way), from.rotation };
	return (struct motion){ .from = from,
				.to = to,
				.t0 = 0,
				.t1 = 1,
				.velocity = way,
				.axis = vec3_make(1, 0, 0) };
}

/* A point of the shape; not of a plane. */
static vec3 some_point(const struct shape *shape)
{
	const struct shape *exact = shape_exact(shape);
	struct gjk_points room;
	if (shape_is_surface(exact))
		return mesh_some_point(exact->mesh);
	return gjk_core_of(exact, 0, &room).points[0];
}

/* True if a point of `other` lies in the field's solid. */
static bool field_holds(const struct shape *field, const struct shape *other, pose other_in_field,
			struct mesh_point *near)
{
	if (!shape_is_field(field) || other->kind == SHAPE_PLANE)
		return false;
	vec3 p = pose_point(other_in_field, some_point(other));
	return intersect_vertex_depth(field->solid->mesh, p, near) > 0;
}

/* Handles a shape that starts wholly inside a field, where the surfaces do not overlap. */
static bool begins_inside(const struct placed_shape *placed, const struct shape *shape,
			  const struct piece_cast *flight, struct cast_hit *out)
{
	struct mesh_point near;
	vec3 back;
	if (field_holds(placed->shape, shape, flight->from, &near)) {
		back = vec3_sub(near.point, pose_point(flight->from, some_point(shape)));
	} else if (field_holds(shape, placed->shape, pose_inverse(flight->from), &near)) {
		near.point = pose_point(flight->from, near.point);
		back = vec3_sub(some_point(placed->shape), near.point);
	} else {
		return false;
	}
	*out = (struct cast_hit){ .depth = near.distance,
				  .point = near.point,
				  .normal = vec3_normalize(back) };
	return true;
}

static bool cast_at(const struct placed_shape *placed, const struct shape *shape, pose from,
		    vec3 way, struct cast_hit *out)
{
	const struct shape *target = shape_exact(placed->shape), *own = shape_exact(shape);
	struct piece_cast flight = { .shape = own, .way = pose_inverse_vector(placed->at, way) };
	bool found = false;
	flight.from = pose_relative(placed->at, from);
	flight.motion = motion_along(flight.from, flight.way);
	flight.still = motion_along(pose_identity(), vec3_zero());
	for (uint32_t i = 0; i < shape_piece_count(own); i++) {
		flight.child = i;
		flight.core = gjk_core_of(own, i, &flight.room);
		found = cast_piece(&flight, target, out, found);
	}
	if (!found || out->fraction > 0)
		found = begins_inside(placed, shape, &flight, out) || found;
	if (!found)
		return false;
	out->body = placed->body;
	out->placement = placed->placement;
	out->point = pose_point(placed->at, out->point);
	out->normal = pose_vector(placed->at, out->normal);
	return true;
}

static bool is_movable(const struct shape *shape)
{
	return !shape_is_ground(shape);
}

uint32_t placed_cast(const struct placed_shape *placed, uint32_t count, const struct shape *shape,
		     pose from, vec3 way, struct cast_hit *hits, uint32_t capacity,
		     enum status *status)
{
	uint32_t written = 0;
	*status = is_movable(shape) ? STATUS_OK : STATUS_UNSUPPORTED;
	for (uint32_t i = 0; i < count && *status == STATUS_OK && capacity > 0; i++) {
		struct cast_hit hit = { 0 };
		if (!cast_at(&placed[i], shape, from, way, &hit))
			continue;
		uint32_t at = written < capacity ? written++ : capacity;
		while (at > 0 && hit_precedes(&hit, &hits[at - 1])) {
			if (at < capacity)
				hits[at] = hits[at - 1];
			at--;
		}
		if (at < capacity)
			hits[at] = hit;
	}
	return written;
}

/* ---- nearest points -------------------------------------------------------------------------- */

static double box_distance(struct aabb a, struct aabb b)
{
	vec3 gap = vec3_max(vec3_max(vec3_sub(a.min, b.max), vec3_sub(b.min, a.max)), vec3_zero());
	return vec3_length(gap);
}

/* Vertices of a simplex on one side, each once. */
static uint32_t feature_of(const uint16_t *vertices, uint32_t count, uint32_t *out)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < count && kept < CLOSEST_FEATURE_MAX; i++) {
		uint32_t k = 0;
		while (k < kept && out[k] != vertices[i])
			k++;
		if (k == kept)
			out[kept++] = vertices[i];
	}
	return kept;
}

/* Two pieces in the frame of the first; false if they are not nearer than out->distance. */
static bool pieces_closest(struct piece a, struct piece b, const pose *b_in_a,
			   struct closest_pair *out)
{
	struct gjk_points room_a, room_b;
	struct gjk_core core_a = gjk_core_of(a.shape, a.child, &room_a);
	struct gjk_core core_b = gjk_core_of(b.shape, b.child, &room_b);
	mat3 rotation = mat3_from_quat(b_in_a->rotation);
	struct gjk_result near;
	gjk_distance(&core_a, &core_b, &rotation, b_in_a->position, NULL, &near);
	double distance = near.distance - core_a.radius - core_b.radius;
	vec3 normal = near.normal;
	if (near.touching || distance <= 0) {
		struct piece_cast flight = { .shape = b.shape, .child = b.child, .from = *b_in_a };
		struct cast_hit hit;
		overlap_at_start(&flight, a, &hit);
		distance = -hit.depth;
		normal = hit.normal;
		near.point_a = near.point_b = hit.point;
		if (distance >= out->distance)
			return false;
		out->a.point = vec3_mul_sub(hit.point, normal, 0.5 * distance);
		out->b.point = vec3_mul_add(hit.point, normal, 0.5 * distance);
	} else {
		if (distance >= out->distance)
			return false;
		out->a.point = vec3_mul_add(near.point_a, normal, core_a.radius);
		out->b.point = vec3_mul_sub(near.point_b, normal, core_b.radius);
	}
	out->distance = distance;
	out->normal = normal;
	out->a.child = a.child;
	out->b.child = b.child;
	out->a.feature_count = feature_of(near.simplex.a, near.simplex.count, out->a.feature);
	out->b.feature_count = feature_of(near.simplex.b, near.simplex.count, out->b.feature);
	return true;
}

/* A half-space (a) and a piece, in the half-space's frame. */
static bool plane_closest(const struct shape *plane, struct piece b, const pose *b_in_a,
			  struct closest_pair *out)
{
	struct gjk_points room;
	struct gjk_core core = gjk_core_of(b.shape, b.child, &room);
	vec3 n = plane->plane.normal;
	uint32_t vertex;
	vec3 lowest = lowest_of(&core, b_in_a, n, &vertex);
	double distance = vec3_dot(n, lowest) - core.radius - plane->plane.offset;
	if (distance >= out->distance)
		return false;
	out->distance = distance;
	out->normal = n;
	out->b.point = vec3_mul_sub(lowest, n, core.radius);
	out->a.point = vec3_mul_sub(out->b.point, n, distance);
	out->a.child = 0;
	out->b.child = b.child;
	out->a.feature_count = 0;
	out->b.feature_count = core.curve != NULL ? 0 : 1;
	out->b.feature[0] = vertex;
	return true;
}

/* Tests all pieces of b with the pieces of a within out->distance, in a's frame. */
static bool shapes_closest(const struct shape *a, const struct shape *b, const pose *b_in_a,
			   struct closest_pair *out)
{
	bool found = false;
	for (uint32_t i = 0; i < shape_piece_count(b); i++) {
		struct piece piece_b = { b, i };
		if (a->kind == SHAPE_PLANE) {
			found |= plane_closest(a, piece_b, b_in_a, out);
			continue;
		}
		struct gjk_points room;
		struct gjk_core core = gjk_core_of(b, i, &room);
		struct aabb box = core_box(&core, b_in_a);
		struct piece_walk walk;
		uint32_t piece;
		pieces_init(&walk, a, aabb_grow(box, scalar_max(out->distance, 0)));
		while (pieces_next(&walk, &piece))
			if (box_distance(shape_piece_aabb(a, piece), box) <
				    scalar_max(out->distance, 0) ||
			    out->distance <= 0)
				found |= pieces_closest((struct piece){ a, piece }, piece_b, b_in_a,
							out);
	}
	return found;
}

static void swap_sides(struct closest_pair *pair)
{
	struct closest_pair kept = *pair;
	pair->a.point = kept.b.point;
	pair->b.point = kept.a.point;
	pair->a.child = kept.b.child;
	pair->b.child = kept.a.child;
	pair->a.feature_count = kept.b.feature_count;
	pair->b.feature_count = kept.a.feature_count;
	for (uint32_t i = 0; i < CLOSEST_FEATURE_MAX; i++) {
		pair->a.feature[i] = kept.b.feature[i];
		pair->b.feature[i] = kept.a.feature[i];
	}
	pair->normal = vec3_negate(kept.normal);
}

/* Transforms the points and the normal to the world's frame. */
static void to_world(struct closest_pair *pair, const pose *at)
{
	pair->a.point = pose_point(*at, pair->a.point);
	pair->b.point = pose_point(*at, pair->b.point);
	pair->normal = pose_vector(*at, pair->normal);
}

/* If one lies wholly inside the other, which is a field: the depth is the distance of its far side
 * from the surface. */
static void turn_if_inside(const struct shape *a, const struct shape *b, const pose *b_in_a,
			   struct closest_pair *out)
{
	struct mesh_point near;
	bool holds = field_holds(a, b, *b_in_a, &near);
	if (!(out->distance > 0) || (!holds && !field_holds(b, a, pose_inverse(*b_in_a), &near)))
		return;
	out->distance = -out->distance - 2 * support_radius(holds ? b : a);
	out->normal = vec3_negate(out->normal);
}

static bool closest_of(const struct placed_shape *a, const struct placed_shape *b,
		       struct closest_pair *out)
{
	bool fixed_a = !is_movable(a->shape), fixed_b = !is_movable(b->shape);
	struct closest_pair best = *out;
	if (fixed_a && fixed_b)
		return false;
	/* The computation is in the frame of the mesh or plane, else of the field. */
	bool turn = fixed_b || (!fixed_a && shape_is_field(b->shape) && !shape_is_field(a->shape));
	const struct placed_shape *first = turn ? b : a, *second = turn ? a : b;
	pose relative = pose_relative(first->at, second->at);
	if (!shapes_closest(shape_exact(first->shape), shape_exact(second->shape), &relative,
			    &best))
		return false;
	turn_if_inside(first->shape, second->shape, &relative, &best);
	to_world(&best, &first->at);
	if (turn)
		swap_sides(&best);
	*out = best;
	out->a.body = a->body;
	out->a.placement = a->placement;
	out->b.body = b->body;
	out->b.placement = b->placement;
	return true;
}

bool placed_closest(const struct placed_shape *a, uint32_t a_count, const struct placed_shape *b,
		    uint32_t b_count, double reach, struct closest_pair *out)
{
	bool found = false;
	*out = (struct closest_pair){ .distance = reach };
	for (uint32_t i = 0; i < a_count; i++)
		for (uint32_t k = 0; k < b_count; k++)
			found |= closest_of(&a[i], &b[k], out);
	return found;
}
