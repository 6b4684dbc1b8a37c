/* See time_of_impact.h. Selects the search for a pair of kinds.
 *
 * A shape that is not at the origin of the frame that moves gets its points carried into that
 * frame, because searches need motions that are straight and turn about an origin. Searches of
 * further pairs end at the earliest time so far.
 *
 * Of a surface only triangles are searched whose boxes the other piece's way meets. In the
 * surface's frame that way is p(t) = R(t)ᵀ(x(t) − s(t)), a straight line if the surface does not
 * turn; else it leaves the chord of an interval h by at most |p''| h²/8, |p''| ≤ ω²|x − s| + 2ω|v|.
 * Time is cut so finely that this, and the way itself, are of the piece's size, and the intervals
 * are searched in turn.
 *
 * A plane turns about its frame's origin o with ω: the gap to a point a distance D from o shrinks
 * no faster than |v| + |w| r + ω D, where D only grows by |v|. A plane that does not turn has
 * advance.h's bound.
 */
#include "server/engine/collision/time_of_impact.h"

#include "server/base/heap.h"
#include "server/engine/collision/advance.h"
#include "server/engine/collision/continuous_mesh.h"
#include "server/engine/collision/continuous_sphere.h"
#include "server/engine/geometry/intersect_point_mesh.h"
#include "server/engine/geometry/solid.h"

#include <string.h>

enum { CUTS_MAX = 64 };

#define LEFT 0x1p-4 /* of the tolerance, that a step towards a plane leaves; advance.c says why */

struct impact_options impact_options_default(void)
{
	return (struct impact_options){ 1e-6, 64 };
}

/* A convex piece in the frame that moves; its points are elsewhere or in `carried`. */
struct convex {
	struct advance_body body;
	struct gjk_points few;
	struct hull hull;
	vec3 carried[SHAPE_HULL_VERTICES_MAX];
	uint32_t child;
};
_Static_assert((int)SHAPE_POLYGON_VERTICES_MAX <= (int)SHAPE_HULL_VERTICES_MAX,
	       "carried holds both");

struct impact_search {
	const struct impact_side *a, *b;
	struct motion motion_a, motion_b; /* up to the best time so far */
	const struct impact_options *options;
	struct impact_result *best;
};

static bool is_identity(pose at)
{
	return vec3_equal(at.position, vec3_zero()) && at.rotation.x == 0 && at.rotation.y == 0 &&
	       at.rotation.z == 0;
}

static void convex_init(struct convex *self, const struct impact_side *side, uint32_t child,
			const struct motion *motion)
{
	const struct shape *shape = shape_exact(side->piece.shape);
	struct gjk_core core = gjk_core_of(shape, child, &self->few);
	self->child = child;
	if (!is_identity(side->in_frame)) {
		ASSERT(core.count <= SHAPE_HULL_VERTICES_MAX);
		for (uint32_t i = 0; i < core.count; i++)
			self->carried[i] = pose_point(side->in_frame, core.points[i]);
		core.points = self->carried;
		if (core.hull != NULL) {
			self->hull = *core.hull;
			self->hull.vertices = self->carried;
			self->hull.centre = pose_point(side->in_frame, self->hull.centre);
			core.hull = &self->hull;
		}
	}
	double square = 0;
	for (uint32_t i = 0; i < core.count; i++)
		square = scalar_max(square, vec3_length_squared(core.points[i]));
	self->body = (struct advance_body){ core, scalar_sqrt(square) + core.radius, motion };
}

/* ---- the earliest ------------------------------------------------------------------------------------ */

static struct motion part_of(const struct motion *motion, double from, double to)
{
	VALIDATE(!(from > to));
	struct motion part = *motion;
	part.from = motion_at(motion, from);
	part.to = motion_at(motion, to);
	part.t0 = from;
	part.t1 = to;
	return part;
}

/* Stores a result that is earlier than all before; later searches end at its time. */
static void offer_result(struct impact_search *self, const struct impact_result *found)
{
	VALIDATE(found->outcome <= IMPACT_LIMIT);
	struct impact_result *best = self->best;
	best->looks += found->looks;
	best->limits += found->outcome == IMPACT_LIMIT;
	if (found->outcome == IMPACT_APART)
		return;
	bool first = best->outcome == IMPACT_APART;
	bool overlaps = found->outcome == IMPACT_OVERLAP && best->outcome != IMPACT_OVERLAP;
	if (!first && !(found->time < best->time) && !overlaps)
		return;
	struct impact_result kept = *found;
	kept.looks = best->looks;
	kept.pairs = best->pairs;
	kept.limits = best->limits;
	*best = kept;
	if (found->time > self->motion_a.t0 && found->time < self->motion_a.t1) {
		self->motion_a = part_of(&self->motion_a, self->motion_a.t0, found->time);
		self->motion_b = part_of(&self->motion_b, self->motion_b.t0, found->time);
	}
}

/* An overlap at the start: no contact can be earlier. */
static bool is_over(const struct impact_search *self)
{
	return self->best->outcome == IMPACT_OVERLAP;
}

/* ---- two convex pieces ------------------------------------------------------------------------------- */

/* Whether a ball's centre goes straight. */
static bool is_straight_ball(const struct advance_body *body)
{
	return body->core.count == 1 &&
	       (body->motion->rate == 0 || vec3_equal(body->core.points[0], vec3_zero()));
}

/* By the equation of their distance, to half of the tolerance. */
static void meet_balls(const struct advance_body *a, const struct advance_body *b, double tolerance,
		       struct impact_result *out)
{
	double start = a->motion->t0, time = a->motion->t1 - start;
	vec3 from_a = pose_point(a->motion->from, a->core.points[0]);
	vec3 from_b = pose_point(b->motion->from, b->core.points[0]);
	double radii = a->core.radius + b->core.radius;
	struct ball one = { from_a, a->core.radius + 0.5 * tolerance },
		    two = { from_b, b->core.radius };
	struct continuous_sphere_hit hit;
	out->looks = 1;
	out->time = a->motion->t1;
	if (vec3_distance(from_a, from_b) <= radii) {
		out->outcome = IMPACT_OVERLAP;
		out->time = start;
		return;
	}
	vec3 way = vec3_sub(a->motion->velocity, b->motion->velocity);
	bool nearer = vec3_dot(way, vec3_sub(from_b, from_a)) > 0;
	if (!nearer || !continuous_sphere_sphere(one, vec3_scale(a->motion->velocity, time), two,
						 vec3_scale(b->motion->velocity, time), &hit))
		return;
	out->outcome = IMPACT_HIT;
	out->time = scalar_min(start + hit.time * time, a->motion->t1);
	vec3 at_a = pose_point(motion_at(a->motion, out->time), a->core.points[0]);
	vec3 at_b = pose_point(motion_at(b->motion, out->time), b->core.points[0]);
	double distance;
	out->normal = vec3_normalize_length(vec3_sub(at_b, at_a), &distance);
	out->distance = scalar_max(distance - radii, 0);
	out->point_a = vec3_mul_add(at_a, out->normal, a->core.radius);
	out->point_b = vec3_mul_sub(at_b, out->normal, b->core.radius);
}

static struct impact_result meet_convex(const struct advance_body *a, const struct advance_body *b,
					const struct impact_options *options)
{
	struct impact_result out = { .outcome = IMPACT_APART };
	if (is_straight_ball(a) && is_straight_ball(b)) {
		meet_balls(a, b, options->tolerance, &out);
		return out;
	}
	static const enum impact_outcome outcomes[] = {
		[ADVANCE_APART] = IMPACT_APART,
		[ADVANCE_HIT] = IMPACT_HIT,
		[ADVANCE_OVERLAP] = IMPACT_OVERLAP,
		[ADVANCE_LIMIT] = IMPACT_LIMIT,
	};
	struct advance_options inner = { options->tolerance, options->iterations_max };
	struct advance_result found;
	advance_convex(a, b, &inner, NULL, &found);
	out = (struct impact_result){ .outcome = outcomes[found.outcome],
				      .time = found.time,
				      .distance = found.distance,
				      .normal = found.normal,
				      .point_a = found.point_a,
				      .point_b = found.point_b,
				      .looks = found.iterations };
	if (found.outcome == ADVANCE_OVERLAP)
		out.distance = 0;
	return out;
}

static void search_convex(struct impact_search *self, struct convex *a, struct convex *b)
{
	struct motion motion_a = self->motion_a, motion_b = self->motion_b;
	a->body.motion = &motion_a;
	b->body.motion = &motion_b;
	self->best->pairs++;
	struct impact_result found = meet_convex(&a->body, &b->body, self->options);
	found.child_a = a->child;
	found.child_b = b->child;
	offer_result(self, &found);
}

/* ---- a plane ----------------------------------------------------------------------------------------- */

/* The half-space n·x ≤ offset in the frame that moves. */
struct half_space {
	vec3 normal;
	double offset;
	const struct motion *motion;
};

static struct half_space half_space_of(const struct impact_side *side, const struct motion *motion)
{
	const struct shape *shape = side->piece.shape;
	vec3 normal = pose_vector(side->in_frame, shape->plane.normal);
	return (struct half_space){ normal,
				    shape->plane.offset + vec3_dot(normal, side->in_frame.position),
				    motion };
}

/* Points of a piece in its shape's frame, so that those of a large surface need not be carried. */
struct cloud {
	struct gjk_core core;
	pose in_frame;
	double reach; /* m, from the origin of the frame that moves */
	const struct motion *motion;
};

static struct cloud cloud_of(struct gjk_core core, pose in_frame, const struct motion *motion)
{
	double square = 0;
	for (uint32_t i = 0; i < core.count; i++)
		square = scalar_max(square,
				    vec3_length_squared(pose_point(in_frame, core.points[i])));
	return (struct cloud){ core, in_frame, scalar_sqrt(square) + core.radius, motion };
}

struct low_point {
	vec3 normal, point; /* of the plane; of the cloud, world */
	double gap;
	uint32_t vertex;
};

static struct low_point lowest(const struct cloud *cloud, const struct half_space *plane, double t)
{
	struct low_point low;
	pose at = motion_at(cloud->motion, t), of_plane = motion_at(plane->motion, t);
	low.normal = pose_vector(of_plane, plane->normal);
	vec3 down = pose_inverse_vector(at, vec3_negate(low.normal));
	low.vertex = gjk_support(&cloud->core, pose_inverse_vector(cloud->in_frame, down), 0);
	vec3 corner = pose_point(at, pose_point(cloud->in_frame, cloud->core.points[low.vertex]));
	low.point = vec3_mul_sub(corner, low.normal, cloud->core.radius);
	low.gap = vec3_dot(low.normal, vec3_sub(low.point, of_plane.position)) - plane->offset;
	return low;
}

/* How fast the gap can shrink from t to the end, m/s. */
static double sinking(const struct cloud *cloud, const struct half_space *plane, double t,
		      vec3 normal)
{
	const struct motion *motion = cloud->motion;
	vec3 v = vec3_sub(motion->velocity, plane->motion->velocity);
	if (plane->motion->rate == 0)
		return vec3_length(vec3_cross(motion->spin, normal)) * cloud->reach -
		       vec3_dot(v, normal);
	double speed = vec3_length(v), left = motion->t1 - t;
	vec3 between =
		vec3_sub(motion_at(motion, t).position, motion_at(plane->motion, t).position);
	double arm = vec3_length(between) + speed * left + cloud->reach;
	return speed + motion->rate * cloud->reach + plane->motion->rate * arm;
}

/* The cloud is A; child_a is the vertex. */
static struct impact_result meet_plane(const struct cloud *cloud, const struct half_space *plane,
				       const struct impact_options *options)
{
	double t = cloud->motion->t0, end = cloud->motion->t1;
	struct impact_result out = { .outcome = IMPACT_LIMIT, .time = t };
	for (uint32_t k = 0; k < options->iterations_max; k++) {
		struct low_point low = lowest(cloud, plane, t);
		out.looks++;
		if (!(low.gap > 0)) {
			/* Later than at the start it is rounding: the last time was apart. */
			out.outcome = k == 0 ? IMPACT_OVERLAP : IMPACT_HIT;
			if (k == 0)
				out.point_a = out.point_b = low.point;
			return out;
		}
		out.time = t;
		out.distance = low.gap;
		out.normal = vec3_negate(low.normal);
		out.point_a = low.point;
		out.point_b = vec3_mul_sub(low.point, low.normal, low.gap);
		out.child_a = low.vertex;
		double speed = sinking(cloud, plane, t, low.normal);
		double way = scalar_max(low.gap - LEFT * options->tolerance, 0);
		double next = speed > 0 ? t + way / speed : t;
		if (speed <= 0 || (next > end && low.gap > options->tolerance)) {
			out.outcome = IMPACT_APART;
			out.time = end;
			return out;
		}
		if (low.gap <= options->tolerance) {
			out.outcome = IMPACT_HIT;
			return out;
		}
		if (!(next > t))
			return out;
		t = next;
	}
	return out;
}

static void turn_round(struct impact_result *found)
{
	vec3 point = found->point_a;
	uint32_t child = found->child_a;
	found->normal = vec3_negate(found->normal);
	found->point_a = found->point_b;
	found->point_b = point;
	found->child_a = found->child_b;
	found->child_b = child;
}

static const struct shape *surface_of(const struct impact_side *side)
{
	const struct shape *shape = shape_exact(side->piece.shape);
	bool whole = side->piece.child == IMPACT_WHOLE || shape_is_field(side->piece.shape);
	return shape->kind == SHAPE_MESH && whole ? shape : NULL;
}

/* The first triangle with that vertex. */
static uint32_t triangle_with(const struct mesh *mesh, uint32_t vertex)
{
	uint32_t t = 0;
	while (t + 1 < mesh->triangle_count && mesh->triangles[t][0] != vertex &&
	       mesh->triangles[t][1] != vertex && mesh->triangles[t][2] != vertex)
		t++;
	return t;
}

/* One piece of the side, or all of a surface at once; the side is B when `turned`. */
static void search_plane(struct impact_search *self, const struct impact_side *side, uint32_t child,
			 bool turned)
{
	struct motion motion_a = self->motion_a, motion_b = self->motion_b;
	struct half_space plane =
		half_space_of(turned ? self->a : self->b, turned ? &motion_a : &motion_b);
	const struct shape *surface = surface_of(side);
	struct gjk_points room;
	struct gjk_core core = surface != NULL
				       ? (struct gjk_core){ surface->mesh->vertices,
							    surface->mesh->vertex_count, NULL, 0 }
				       : gjk_core_of(shape_exact(side->piece.shape), child, &room);
	struct cloud cloud = cloud_of(core, side->in_frame, turned ? &motion_b : &motion_a);
	self->best->pairs++;
	struct impact_result found = meet_plane(&cloud, &plane, self->options);
	found.child_a = surface != NULL ? triangle_with(surface->mesh, found.child_a) : child;
	if (turned)
		turn_round(&found);
	offer_result(self, &found);
}

/* ---- a surface --------------------------------------------------------------------------------------- */

/* Into how many intervals time is cut, and what the way leaves its chord by in each. */
static uint32_t cut_time(const struct motion *piece, const struct motion *surface, double reach,
			 double *sag)
{
	double time = piece->t1 - piece->t0;
	vec3 v = vec3_sub(piece->velocity, surface->velocity);
	double far = scalar_max(vec3_distance(piece->from.position, surface->from.position),
				vec3_distance(piece->to.position, surface->to.position));
	double bend = surface->rate * surface->rate * far + 2 * surface->rate * vec3_length(v);
	double whole = 0.125 * bend * time * time;
	double cuts = scalar_max(scalar_sqrt(whole / (0.25 * reach)),
				 vec3_length(v) * time / (4 * reach));
	cuts = scalar_clamp(scalar_ceil(cuts), 1, CUTS_MAX);
	*sag = whole / (cuts * cuts);
	return (uint32_t)cuts;
}

/* The box of a piece's way in the surface's own axes. */
static struct aabb way_box(const struct impact_side *surface, const struct motion *of_surface,
			   const struct motion *of_piece, double grow)
{
	vec3 end[2];
	for (uint32_t k = 0; k < 2; k++) {
		pose frame = k == 0 ? of_surface->from : of_surface->to;
		vec3 place = k == 0 ? of_piece->from.position : of_piece->to.position;
		end[k] = pose_inverse_point(surface->in_frame, pose_inverse_point(frame, place));
	}
	return aabb_grow(aabb_make(vec3_min(end[0], end[1]), vec3_max(end[0], end[1])), grow);
}

/* One interval of time; the piece is B when `turned`. */
static void search_interval(struct impact_search *self, const struct impact_side *side,
			    struct convex *piece, struct convex *triangle, double sag, bool turned)
{
	const struct shape *surface = surface_of(side);
	double grow = piece->body.reach + sag + self->options->tolerance;
	struct mesh_walk walk;
	uint32_t child;
	mesh_walk_init(&walk, surface->mesh,
		       way_box(side, turned ? &self->motion_a : &self->motion_b,
			       turned ? &self->motion_b : &self->motion_a, grow));
	while (!is_over(self) && mesh_walk_next(&walk, &child)) {
		convex_init(triangle, side, child, NULL);
		search_convex(self, turned ? triangle : piece, turned ? piece : triangle);
	}
}

static void search_surface(struct impact_search *self, const struct impact_side *side,
			   struct convex *piece, struct convex *triangle, bool turned)
{
	struct motion all_a = self->motion_a, all_b = self->motion_b;
	double start = all_a.t0, time = all_a.t1 - start, sag;
	uint32_t cuts = cut_time(turned ? &all_b : &all_a, turned ? &all_a : &all_b,
				 piece->body.reach + self->options->tolerance, &sag);
	double limit = self->best->outcome != IMPACT_APART ? self->best->time : all_a.t1;
	for (uint32_t k = 0; k < cuts && !is_over(self); k++) {
		double from = start + time * (k / (double)cuts);
		double to = k + 1 < cuts ? start + time * ((k + 1) / (double)cuts) : all_a.t1;
		if (!(to > from))
			continue;
		self->motion_a = part_of(&all_a, from, to);
		self->motion_b = part_of(&all_b, from, to);
		search_interval(self, side, piece, triangle, sag, turned);
		if (self->best->outcome != IMPACT_APART && self->best->time < limit)
			break;
	}
	/* What begins inside rounding of an interval's end touches there. */
	if (self->best->outcome == IMPACT_OVERLAP && self->best->time > self->a->motion->t0)
		self->best->outcome = IMPACT_HIT;
	double end = self->best->outcome != IMPACT_APART ? self->best->time : all_a.t1;
	self->motion_a = end > start ? part_of(&all_a, start, end) : all_a;
	self->motion_b = end > start ? part_of(&all_b, start, end) : all_b;
}

/* Of a field: whether some point of the other is inside at the start, which surfaces do not tell. */
static void begin_inside(struct impact_search *self, const struct impact_side *field,
			 const struct impact_side *other, bool turned)
{
	if (!shape_is_field(field->piece.shape) || other->piece.shape->kind == SHAPE_PLANE ||
	    is_over(self))
		return;
	struct gjk_points room;
	uint32_t child = other->piece.child == IMPACT_WHOLE || surface_of(other) != NULL
				 ? 0
				 : other->piece.child;
	struct gjk_core core = gjk_core_of(shape_exact(other->piece.shape), child, &room);
	vec3 p = pose_point(other->motion->from, pose_point(other->in_frame, core.points[0]));
	vec3 in_field =
		pose_inverse_point(field->in_frame, pose_inverse_point(field->motion->from, p));
	struct mesh_point near;
	if (!(intersect_vertex_depth(field->piece.shape->solid->mesh, in_field, &near) > 0))
		return;
	struct impact_result found = { .outcome = IMPACT_OVERLAP,
				       .time = field->motion->t0,
				       .point_a = p,
				       .point_b = p,
				       .child_a = near.triangle,
				       .child_b = child };
	if (turned)
		turn_round(&found);
	offer_result(self, &found);
}

/* ---- two surfaces ------------------------------------------------------------------------------------ */

/* A mesh in the frame that moves, with the tree of its motion. */
struct carried_mesh {
	struct shape shape;
	struct mesh mesh;
	vec3 *vertices;
	struct continuous_mesh tree;
};

static enum status carried_init(struct carried_mesh *self, const struct impact_side *side)
{
	const struct mesh *mesh = surface_of(side)->mesh;
	size_t bytes = mesh->vertex_count * sizeof *mesh->vertices;
	self->vertices = heap_alloc(bytes);
	if (self->vertices == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t v = 0; v < mesh->vertex_count; v++)
		self->vertices[v] = pose_point(side->in_frame, mesh->vertices[v]);
	self->mesh = *mesh;
	self->mesh.vertices = self->vertices;
	memset(&self->shape, 0, sizeof self->shape);
	self->shape.kind = SHAPE_MESH;
	self->shape.mesh = &self->mesh;
	enum status status = continuous_mesh_init(&self->tree, &self->shape);
	if (status != STATUS_OK)
		heap_free(self->vertices);
	return status;
}

static void carried_release(struct carried_mesh *self)
{
	continuous_mesh_release(&self->tree);
	heap_free(self->vertices);
}

static void search_surfaces(struct impact_search *self, struct carried_mesh *a,
			    struct carried_mesh *b)
{
	struct continuous_mesh_hit hit;
	struct continuous_mesh_work work;
	bool met = continuous_mesh_mesh(&a->tree, &self->motion_a, &b->tree, &self->motion_b,
					self->options->tolerance, &hit, &work);
	self->best->pairs += work.pairs;
	if (!met)
		return;
	/* A hit at the very start whose normal vanishes is one of surfaces that cross. */
	bool crosses = hit.time == self->motion_a.t0 && vec3_equal(hit.normal, vec3_zero());
	struct impact_result found = {
		.outcome = crosses ? IMPACT_OVERLAP : IMPACT_HIT,
		.time = hit.time,
		.distance = hit.distance,
		.normal = hit.normal,
		.point_a = vec3_mul_sub(hit.point, hit.normal, 0.5 * hit.distance),
		.point_b = vec3_mul_add(hit.point, hit.normal, 0.5 * hit.distance),
		.child_a = hit.triangle_a,
		.child_b = hit.triangle_b
	};
	offer_result(self, &found);
}

static enum status meet_surfaces(struct impact_search *self)
{
	struct carried_mesh a, b;
	enum status status = carried_init(&a, self->a);
	if (status != STATUS_OK)
		return status;
	status = carried_init(&b, self->b);
	if (status == STATUS_OK) {
		search_surfaces(self, &a, &b);
		carried_release(&b);
	}
	carried_release(&a);
	return status;
}

/* ---- all pairs of pieces ----------------------------------------------------------------------------- */

/* The convex pieces of a side: first … last − 1. */
static void pieces_of(const struct impact_side *side, uint32_t *first, uint32_t *last)
{
	bool whole = side->piece.child == IMPACT_WHOLE;
	*first = whole ? 0 : side->piece.child;
	*last = whole ? shape_piece_count(shape_exact(side->piece.shape)) : side->piece.child + 1;
}

static void meet_pieces(struct impact_search *self, struct convex *one, struct convex *two)
{
	uint32_t first_a, last_a, first_b, last_b;
	pieces_of(self->a, &first_a, &last_a);
	pieces_of(self->b, &first_b, &last_b);
	for (uint32_t i = first_a; i < last_a && !is_over(self); i++) {
		convex_init(one, self->a, i, NULL);
		for (uint32_t k = first_b; k < last_b && !is_over(self); k++) {
			convex_init(two, self->b, k, NULL);
			search_convex(self, one, two);
		}
	}
}

/* Pieces of one side with the other, which is a plane or a surface. */
static void meet_one_sided(struct impact_search *self, struct convex *one, struct convex *two,
			   bool turned)
{
	const struct impact_side *side = turned ? self->b : self->a;
	const struct impact_side *other = turned ? self->a : self->b;
	bool plane = other->piece.shape->kind == SHAPE_PLANE;
	uint32_t first = 0, last = 1;
	if (surface_of(side) == NULL)
		pieces_of(side, &first, &last);
	for (uint32_t i = first; i < last && !is_over(self); i++) {
		if (plane) {
			search_plane(self, side, i, turned);
			continue;
		}
		convex_init(one, side, i, NULL);
		search_surface(self, other, one, two, turned);
	}
}

static bool is_supported(const struct impact_side *a, const struct impact_side *b)
{
	const struct shape *one = a->piece.shape, *two = b->piece.shape;
	bool plane_a = one->kind == SHAPE_PLANE, plane_b = two->kind == SHAPE_PLANE;
	bool flat_a = one->kind == SHAPE_POLYGON, flat_b = two->kind == SHAPE_POLYGON;
	return !(plane_a && plane_b) && flat_a == flat_b;
}

enum status time_of_impact(const struct impact_side *a, const struct impact_side *b,
			   const struct impact_options *options, struct impact_result *out)
{
	ASSERT(a->motion->t0 == b->motion->t0 && a->motion->t1 == b->motion->t1);
	ASSERT(options->tolerance > 0 && options->iterations_max > 0);
	*out = (struct impact_result){ .outcome = IMPACT_APART, .time = a->motion->t1 };
	if (!is_supported(a, b))
		return STATUS_UNSUPPORTED;
	struct impact_search search = { a, b, *a->motion, *b->motion, options, out };
	bool plane_a = a->piece.shape->kind == SHAPE_PLANE,
	     plane_b = b->piece.shape->kind == SHAPE_PLANE;
	bool surface_a = surface_of(a) != NULL, surface_b = surface_of(b) != NULL;
	enum status status = STATUS_OK;
	/* Room for two hulls; too much for a stack of calls, so only here. */
	struct convex one, two;
	if (surface_a && surface_b)
		status = meet_surfaces(&search);
	else if (plane_b || (surface_b && !plane_a))
		meet_one_sided(&search, &one, &two, false);
	else if (plane_a || surface_a)
		meet_one_sided(&search, &one, &two, true);
	else
		meet_pieces(&search, &one, &two);
	begin_inside(&search, a, b, false);
	begin_inside(&search, b, a, true);
	return status;
}
