/* See time_of_impact.h. Selects the search for a pair of kinds.
 *
 * A search needs bodies that turn about the origin of their frame. The points of a shape that is
 * not at that origin are therefore transformed to the frame that moves. Each search of a further
 * pair of pieces ends at the earliest time found so far.
 *
 * Surfaces: only triangles whose boxes the path of the other piece may reach are searched. In the
 * surface's frame the path is p(t) = R(t)ᵀ(x(t) − s(t)). It is a straight line if the surface does
 * not turn; otherwise it deviates from the chord of an interval of length h by at most |p''| h²/8,
 * with |p''| ≤ ω²|x − s| + 2ω|v|. Time is divided so that both the deviation and the path of an
 * interval are about the size of the piece, and the intervals are searched in turn.
 *
 * Planes: a plane turns about the origin o of its frame with rate ω. The gap to a point at distance
 * D from o shrinks at most at |v| + |w| r + ω D, where D grows at most at |v|. For a plane that
 * does not turn the bound is that of advance.h.
 */
#include "server/engine/collision/time_of_impact.h"

#include "server/base/heap.h"
#include "server/engine/collision/advance.h"
#include "server/engine/collision/continuous_mesh.h"
#include "server/engine/collision/continuous_sphere.h"
#include "server/engine/geometry/intersect_point_mesh.h"
#include "server/engine/geometry/solid.h"

#include <string.h>

/* Intervals into which the time of a search against a surface is divided. Fewer test more triangles. */
enum { INTERVALS_MAX = 64 };

/* The part of the tolerance that a step towards a plane leaves, as in advance.c: a larger one takes
 * more steps, a smaller one risks overlap by rounding. */
#define PLANE_STEP_MARGIN 0x1p-4

struct impact_options impact_options_default(void)
{
	return (struct impact_options){ .tolerance = 1e-6, .iterations_max = 64 };
}

/* A convex piece in the frame that moves. Its points are those of the shape, `few` or `transformed`. */
struct impact_convex {
	struct advance_body body;
	struct gjk_points few;
	struct hull hull;
	vec3 transformed[SHAPE_HULL_VERTICES_MAX];
	uint32_t child;
};
_Static_assert((int)SHAPE_POLYGON_VERTICES_MAX <= (int)SHAPE_HULL_VERTICES_MAX,
	       "transformed holds the points of a hull or of a polygon");

struct impact_search {
	const struct impact_side *a, *b;
	struct motion motion_a, motion_b; /* end at the earliest time so far */
	const struct impact_options *options;
	struct impact_result *best;
};

static bool is_identity(pose at)
{
	return vec3_equal(at.position, vec3_zero()) && at.rotation.x == 0 && at.rotation.y == 0 &&
	       at.rotation.z == 0;
}

/* `motion` may be NULL; search_convex sets it. */
static void convex_init(struct impact_convex *self, const struct impact_side *side, uint32_t child,
			const struct motion *motion)
{
	const struct shape *shape = shape_exact(side->piece.shape);
	struct gjk_core core = gjk_core_of(shape, child, &self->few);
	self->child = child;
	if (!is_identity(side->in_frame)) {
		ASSERT(core.count <= SHAPE_HULL_VERTICES_MAX);
		for (uint32_t i = 0; i < core.count; i++)
			self->transformed[i] = pose_point(side->in_frame, core.points[i]);
		core.points = self->transformed;
		if (core.hull != NULL) {
			self->hull = *core.hull;
			self->hull.vertices = self->transformed;
			self->hull.centre = pose_point(side->in_frame, self->hull.centre);
			core.hull = &self->hull;
		}
		if (core.curve != NULL)
			self->few.curve =
				curve_placed(core.curve, mat3_from_quat(side->in_frame.rotation),
					     side->in_frame.position);
	}
	self->body = (struct advance_body){ core, gjk_reach(&core) + core.radius, motion };
}

/* ---- the earliest result --------------------------------------------------------------------- */

/* Stores a result that is earlier than all before; later searches end at its time. Ties: an
 * overlap, else the first result. */
static void update_result(struct impact_search *self, const struct impact_result *found)
{
	VALIDATE(found->outcome <= IMPACT_LIMIT);
	struct impact_result *best = self->best;
	best->iterations += found->iterations;
	best->limits += found->outcome == IMPACT_LIMIT;
	if (found->outcome == IMPACT_APART)
		return;
	bool first = best->outcome == IMPACT_APART;
	bool overlaps = found->outcome == IMPACT_OVERLAP && best->outcome != IMPACT_OVERLAP;
	if (!first && !(found->time < best->time) && !overlaps)
		return;
	struct impact_result earliest = *found;
	earliest.iterations = best->iterations;
	earliest.pairs = best->pairs;
	earliest.limits = best->limits;
	*best = earliest;
	if (found->time > self->motion_a.t0 && found->time < self->motion_a.t1) {
		self->motion_a = motion_part(&self->motion_a, self->motion_a.t0, found->time);
		self->motion_b = motion_part(&self->motion_b, self->motion_b.t0, found->time);
	}
}

/* Whether the pieces overlap at the start, so that no contact can be earlier. */
static bool has_ended(const struct impact_search *self)
{
	return self->best->outcome == IMPACT_OVERLAP;
}

/* ---- cutting motions short ------------------------------------------------------------------- */

/* Whether A begins and ends at most `grazing` deep behind a face of B, whose normal this is in B's frame. */
static bool stays_outside(const struct impact_search *self, const struct advance_body *a,
			  const struct advance_body *b, vec3 normal)
{
	const struct motion *of_a = self->a->motion, *of_b = self->b->motion;
	double least = -self->options->grazing;
	vec3 from = vec3_negate(pose_vector(of_b->from, normal));
	vec3 to = vec3_negate(pose_vector(of_b->to, normal));
	return advance_apart_along(a, b, of_a->to, of_b->to, to) >= least &&
	       advance_apart_along(a, b, of_a->from, of_b->from, from) >= least;
}

/* Whether A ends at most `grazing` deep behind the plane of a hit, which turns with B, or stays outside of
 * one of B's faces. */
static bool grazes(const struct impact_search *self, const struct advance_body *a,
		   const struct advance_body *b, const struct impact_result *hit)
{
	if (!(self->options->grazing > 0))
		return false;
	const struct motion *of_b = self->b->motion;
	vec3 normal = pose_inverse_vector(motion_at(of_b, hit->time), hit->normal);
	vec3 to = pose_vector(of_b->to, normal);
	if (!vec3_equal(normal, vec3_zero()) &&
	    advance_apart_along(a, b, self->a->motion->to, of_b->to, to) >= -self->options->grazing)
		return true;
	/* The hit may be at an edge of a piece of a floor that the body slides along. */
	const struct hull *hull = b->core.hull;
	if (hull == NULL && self->options->one_sided && b->core.count == 3 && b->core.radius == 0) {
		const vec3 *p = b->core.points;
		vec3 face = vec3_cross(vec3_sub(p[1], p[0]), vec3_sub(p[2], p[0]));
		return stays_outside(self, a, b, vec3_normalize(face));
	}
	for (uint32_t f = 0; hull != NULL && f < hull->face_count; f++)
		if (stays_outside(self, a, b,
				  pose_vector(self->b->in_frame, hull->faces[f].normal)))
			return true;
	return false;
}

/* m: distance of two pieces at the beginning of the whole motion; 0: they overlap. */
static double apart_at_start(const struct impact_search *self, const struct advance_body *a,
			     const struct advance_body *b)
{
	pose b_in_a = pose_relative(self->a->motion->from, self->b->motion->from);
	mat3 rotation = mat3_from_quat(b_in_a.rotation);
	struct gjk_result gap;
	gjk_distance(&a->core, &b->core, &rotation, b_in_a.position, NULL, &gap);
	double apart = gap.distance - a->core.radius - b->core.radius;
	return gap.touching ? 0 : scalar_max(apart, 0);
}

/* Of the tolerance: that of the core. What the core comes nearer in one search the next one begins with, so
 * many searches would bring it through with a larger one. */
#define CORE_TOLERANCE 1e-3

/* The radius of the ball that is searched in place of a touching piece, m; negative: none is,
 * because the ball's centre is only `apart` from the piece at the start. */
static double core_radius(const struct impact_options *options, double apart)
{
	double near = 2 * CORE_TOLERANCE * options->tolerance;
	return apart <= near ? -1 : scalar_min(apart - near, options->core_a);
}

/* Of the distance that is left: how much of it a core's centre may go in one search. */
#define CENTRE_PART 0.5

/* A centre that is too near for a ball stops at the start if it would go far towards the piece: else it would
 * pass in many searches, each of which brings it a little nearer. One in the piece goes on. */
static void stop_centre(const struct advance_body *centre, const struct advance_body *b,
			const struct motion *motion_a, struct impact_result *found)
{
	pose from = motion_a->from, from_b = b->motion->from, b_in_a = pose_relative(from, from_b);
	mat3 rotation = mat3_from_quat(b_in_a.rotation);
	struct gjk_result gap;
	gjk_distance(&centre->core, &b->core, &rotation, b_in_a.position, NULL, &gap);
	double apart = gap.distance - b->core.radius;
	if (gap.touching || !(apart > 0))
		return;
	vec3 normal = pose_vector(from, gap.normal), point = pose_point(from, gap.point_b);
	vec3 of_b = motion_point_velocity(b->motion, from_b.position, point);
	double closing = vec3_dot(vec3_sub(motion_a->velocity, of_b), normal);
	if (!(closing * (motion_a->t1 - motion_a->t0) > CENTRE_PART * apart))
		return;
	found->outcome = IMPACT_HIT;
	found->time = motion_a->t0;
	found->distance = apart;
	found->normal = normal;
	found->point_a = from.position;
	found->point_b = vec3_mul_sub(point, normal, b->core.radius);
	found->core = true;
}

/* Searches for A's core in place of a piece that touches B's from the start; *found is replaced. */
static void search_core(const struct impact_search *self, const struct advance_body *b,
			const struct motion *motion_a, struct impact_result *found)
{
	static const vec3 ORIGIN = { 0, 0, 0 };
	struct advance_body ball = { { &ORIGIN, 1, NULL, 0, NULL }, 0, motion_a };
	struct advance_options options = { CORE_TOLERANCE * self->options->tolerance,
					   self->options->iterations_max };
	struct advance_result end;
	double radius = core_radius(self->options, apart_at_start(self, &ball, b));
	uint64_t iterations = found->iterations;
	*found = (struct impact_result){ .outcome = IMPACT_APART,
					 .time = motion_a->t1,
					 .iterations = iterations };
	if (radius < 0) {
		stop_centre(&ball, b, motion_a, found);
		return;
	}
	ball.core.radius = ball.reach = radius;
	advance_convex(&ball, b, &options, NULL, &end);
	found->iterations += end.iterations;
	if (end.outcome == ADVANCE_APART)
		return;
	found->outcome = end.outcome == ADVANCE_LIMIT ? IMPACT_LIMIT : IMPACT_HIT;
	found->time = end.time;
	found->distance = end.distance;
	found->normal = end.normal;
	found->point_a = end.point_a;
	found->point_b = end.point_b;
	found->core = true;
}

/* Applies the options that cut motions short to the result of a search of two pieces. */
static void cut_short(const struct impact_search *self, const struct advance_body *a,
		      const struct advance_body *b, const struct motion *motion_a,
		      struct impact_result *found)
{
	if (found->outcome == IMPACT_APART)
		return;
	if (self->options->core_a > 0 && apart_at_start(self, a, b) <= self->options->tolerance)
		search_core(self, b, motion_a, found);
	else if (grazes(self, a, b, found))
		found->outcome = IMPACT_APART;
}

/* ---- two convex pieces ----------------------------------------------------------------------- */

/* Whether the body is a ball whose centre moves in a straight line. */
static bool is_straight_ball(const struct advance_body *body)
{
	return body->core.count == 1 && body->core.curve == NULL &&
	       (body->motion->rate == 0 || vec3_equal(body->core.points[0], vec3_zero()));
}

/* The time at which two balls are half of the tolerance apart, in closed form. *out: initialised,
 * APART. */
static void search_balls(const struct advance_body *a, const struct advance_body *b,
			 double tolerance, struct impact_result *out)
{
	double start = a->motion->t0, time = a->motion->t1 - start;
	vec3 from_a = pose_point(a->motion->from, a->core.points[0]);
	vec3 from_b = pose_point(b->motion->from, b->core.points[0]);
	double radii = a->core.radius + b->core.radius;
	struct ball one = { from_a, a->core.radius + 0.5 * tolerance },
		    two = { from_b, b->core.radius };
	struct continuous_sphere_hit hit;
	out->iterations = 1;
	out->time = a->motion->t1;
	if (vec3_distance(from_a, from_b) <= radii) {
		out->outcome = IMPACT_OVERLAP;
		out->time = start;
		return;
	}
	vec3 approach = vec3_sub(a->motion->velocity, b->motion->velocity);
	bool nearer = vec3_dot(approach, vec3_sub(from_b, from_a)) > 0;
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

static void search_convex(struct impact_search *self, struct impact_convex *a,
			  struct impact_convex *b)
{
	static const enum impact_outcome OUTCOMES[] = {
		[ADVANCE_APART] = IMPACT_APART,
		[ADVANCE_HIT] = IMPACT_HIT,
		[ADVANCE_OVERLAP] = IMPACT_OVERLAP,
		[ADVANCE_LIMIT] = IMPACT_LIMIT,
	};
	struct impact_result found = { .outcome = IMPACT_APART };
	struct motion motion_a = self->motion_a, motion_b = self->motion_b;
	a->body.motion = &motion_a;
	b->body.motion = &motion_b;
	self->best->pairs++;
	if (is_straight_ball(&a->body) && is_straight_ball(&b->body)) {
		search_balls(&a->body, &b->body, self->options->tolerance, &found);
	} else {
		struct advance_options options = { self->options->tolerance,
						   self->options->iterations_max };
		struct advance_result end;
		advance_convex(&a->body, &b->body, &options, NULL, &end);
		found = (struct impact_result){ .outcome = OUTCOMES[end.outcome],
						.time = end.time,
						.distance = end.distance,
						.normal = end.normal,
						.point_a = end.point_a,
						.point_b = end.point_b,
						.iterations = end.iterations };
		if (end.outcome == ADVANCE_OVERLAP)
			found.distance = 0;
	}
	cut_short(self, &a->body, &b->body, &motion_a, &found);
	found.child_a = a->child;
	found.child_b = b->child;
	update_result(self, &found);
}

/* ---- a plane --------------------------------------------------------------------------------- */

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

/* The points of a piece, in its shape's frame: those of a large surface are not transformed. */
struct impact_points {
	struct gjk_core core;
	pose in_frame;
	double reach; /* m: radius around the origin of the frame that moves, as in advance.h */
	const struct motion *motion;
};

/* The point of the cloud that is deepest along the plane's normal, in the frame of the motions. */
struct low_point {
	vec3 normal, point; /* of the plane; of the cloud */
	double gap;	    /* m, over the plane */
	uint32_t vertex;
};

static struct low_point lowest_point(const struct impact_points *cloud,
				     const struct half_space *plane, double t)
{
	struct low_point low;
	pose at = motion_at(cloud->motion, t), of_plane = motion_at(plane->motion, t);
	low.normal = pose_vector(of_plane, plane->normal);
	vec3 down = pose_inverse_vector(at, vec3_negate(low.normal));
	vec3 along = pose_inverse_vector(cloud->in_frame, down);
	low.vertex = cloud->core.curve != NULL ? 0 : gjk_support(&cloud->core, along, 0);
	vec3 lowest = cloud->core.curve != NULL ? curve_support(cloud->core.curve, along)
						: cloud->core.points[low.vertex];
	vec3 corner = pose_point(at, pose_point(cloud->in_frame, lowest));
	low.point = vec3_mul_sub(corner, low.normal, cloud->core.radius);
	low.gap = vec3_dot(low.normal, vec3_sub(low.point, of_plane.position)) - plane->offset;
	return low;
}

/* An upper bound of the speed at which the gap shrinks from t to the end, m/s. */
static double closing_speed(const struct impact_points *cloud, const struct half_space *plane,
			    double t, vec3 normal)
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

/* Advances time by steps in which the gap cannot close. The cloud is A of the result, child_a its
 * vertex. */
static struct impact_result advance_to_plane(const struct impact_points *cloud,
					     const struct half_space *plane,
					     const struct impact_options *options)
{
	double t = cloud->motion->t0, end = cloud->motion->t1;
	struct impact_result out = { .outcome = IMPACT_LIMIT, .time = t };
	for (uint32_t k = 0; k < options->iterations_max; k++) {
		struct low_point low = lowest_point(cloud, plane, t);
		out.iterations++;
		if (!(low.gap > 0)) {
			/* After the start only rounding leads here, and the result of the last step
			 * holds. */
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
		double speed = closing_speed(cloud, plane, t, low.normal);
		double step = scalar_max(low.gap - PLANE_STEP_MARGIN * options->tolerance, 0);
		double next = speed > 0 ? t + step / speed : t;
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

/* As stop_centre, for the plane B. */
static void stop_centre_at_plane(const struct impact_points *centre, const struct half_space *plane,
				 struct impact_result *found)
{
	const struct motion *motion = centre->motion;
	struct low_point low = lowest_point(centre, plane, motion->t0);
	vec3 of_plane =
		motion_point_velocity(plane->motion, plane->motion->from.position, low.point);
	double closing = -vec3_dot(vec3_sub(motion->velocity, of_plane), low.normal);
	if (!(low.gap > 0) || !(closing * (motion->t1 - motion->t0) > CENTRE_PART * low.gap))
		return;
	*found = (struct impact_result){ .outcome = IMPACT_HIT,
					 .time = motion->t0,
					 .distance = low.gap,
					 .normal = vec3_negate(low.normal),
					 .point_a = low.point,
					 .point_b = vec3_mul_sub(low.point, low.normal, low.gap) };
}

/* As cut_short, for A's points and the plane B. */
static void cut_short_at_plane(const struct impact_search *self, struct impact_points *cloud,
			       struct half_space *plane, struct impact_result *found)
{
	static const vec3 ORIGIN = { 0, 0, 0 };
	const struct impact_options *options = self->options;
	const struct motion *motion_a = cloud->motion, *motion_b = plane->motion;
	if (found->outcome == IMPACT_APART)
		return;
	cloud->motion = self->a->motion;
	plane->motion = self->b->motion;
	if (options->core_a > 0 &&
	    lowest_point(cloud, plane, cloud->motion->t0).gap <= options->tolerance) {
		struct impact_points ball = {
			{ &ORIGIN, 1, NULL, 0, NULL }, pose_identity(), 0, self->a->motion
		};
		double apart = lowest_point(&ball, plane, ball.motion->t0).gap;
		double radius = core_radius(options, apart);
		uint64_t iterations = found->iterations;
		ball.core.radius = ball.reach = scalar_max(radius, 0);
		ball.motion = motion_a;
		plane->motion = motion_b;
		*found = (struct impact_result){ .outcome = IMPACT_APART, .time = motion_a->t1 };
		struct impact_options finer = *options;
		finer.tolerance *= CORE_TOLERANCE;
		if (radius >= 0)
			*found = advance_to_plane(&ball, plane, &finer);
		else
			stop_centre_at_plane(&ball, plane, found);
		found->iterations += iterations;
		found->core = found->outcome != IMPACT_APART;
	} else if (options->grazing > 0 &&
		   lowest_point(cloud, plane, cloud->motion->t1).gap >= -options->grazing) {
		found->outcome = IMPACT_APART;
	}
}

/* Exchanges A and B. */
static void swap_sides(struct impact_result *found)
{
	vec3 point = found->point_a;
	uint32_t child = found->child_a;
	found->normal = vec3_negate(found->normal);
	found->point_a = found->point_b;
	found->point_b = point;
	found->child_a = found->child_b;
	found->child_b = child;
}

/* The mesh of a side that is a whole mesh or a field; NULL otherwise. */
static const struct shape *surface_of(const struct impact_side *side)
{
	const struct shape *shape = shape_exact(side->piece.shape);
	bool whole = side->piece.child == IMPACT_WHOLE || shape_is_field(side->piece.shape);
	return shape_is_surface(shape) && whole ? shape : NULL;
}

/* The first triangle with a vertex; vertices that no triangle uses get the last one. */
static uint32_t first_triangle_of(const struct mesh *mesh, uint32_t vertex)
{
	uint32_t t = 0;
	while (t + 1 < mesh->triangle_count && mesh->triangles[t][0] != vertex &&
	       mesh->triangles[t][1] != vertex && mesh->triangles[t][2] != vertex)
		t++;
	return t;
}

/* One piece of the side, or all points of a surface at once. `swapped`: the side is B and the plane
 * A. */
static void search_plane(struct impact_search *self, const struct impact_side *side, uint32_t child,
			 bool swapped)
{
	struct motion motion_a = self->motion_a, motion_b = self->motion_b;
	struct half_space plane =
		half_space_of(swapped ? self->a : self->b, swapped ? &motion_a : &motion_b);
	const struct shape *surface = surface_of(side);
	struct gjk_points room;
	struct gjk_core core =
		surface != NULL ? (struct gjk_core){ surface->mesh->vertices,
						     surface->mesh->vertex_count, NULL, 0, NULL }
				: gjk_core_of(shape_exact(side->piece.shape), child, &room);
	double square = 0;
	for (uint32_t i = 0; i < core.count; i++)
		square = scalar_max(
			square, vec3_length_squared(pose_point(side->in_frame, core.points[i])));
	struct impact_points cloud = { core, side->in_frame, scalar_sqrt(square) + core.radius,
				       swapped ? &motion_b : &motion_a };
	if (core.curve != NULL)
		cloud.reach = curve_reach(core.curve) + vec3_length(side->in_frame.position);
	self->best->pairs++;
	struct impact_result found = advance_to_plane(&cloud, &plane, self->options);
	if (!swapped)
		cut_short_at_plane(self, &cloud, &plane, &found);
	found.child_a = surface != NULL ? first_triangle_of(surface->mesh, found.child_a) : child;
	if (swapped)
		swap_sides(&found);
	update_result(self, &found);
}

/* ---- a surface ------------------------------------------------------------------------------- */

/* The number of intervals of time; *sag: the greatest deviation of the path from the chord of an
 * interval, m. */
static uint32_t count_intervals(const struct motion *piece, const struct motion *surface,
				double reach, double *sag)
{
	double time = piece->t1 - piece->t0;
	vec3 v = vec3_sub(piece->velocity, surface->velocity);
	double far = scalar_max(vec3_distance(piece->from.position, surface->from.position),
				vec3_distance(piece->to.position, surface->to.position));
	double bend = surface->rate * surface->rate * far + 2 * surface->rate * vec3_length(v);
	double whole = 0.125 * bend * time * time;
	double count = scalar_max(scalar_sqrt(whole / (0.25 * reach)),
				  vec3_length(v) * time / (4 * reach));
	count = scalar_clamp(scalar_ceil(count), 1, INTERVALS_MAX);
	*sag = whole / (count * count);
	return (uint32_t)count;
}

/* The box of a piece's path in the axes of the surface's shape. */
static struct aabb path_box(const struct impact_side *surface, const struct motion *of_surface,
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

/* Whether the options pass over this triangle of `side`, because the other side's origin is behind it at
 * the start. */
static bool is_behind(const struct impact_search *self, const struct impact_side *side,
		      const struct impact_side *other, uint32_t child)
{
	if (!self->options->one_sided || !shape_is_surface(side->piece.shape))
		return false;
	vec3 p = pose_inverse_point(side->motion->from, other->motion->from.position);
	const struct mesh *mesh = side->piece.shape->mesh;
	p = vec3_sub(pose_inverse_point(side->in_frame, p), mesh_corner(mesh, child, 0));
	return vec3_dot(mesh_normal(mesh, child), p) <= 0;
}

/* A convex piece and the triangles of a surface (`side`), one interval of time after the other.
 * `swapped`: the piece is B. `triangle`: a buffer. */
static void search_surface(struct impact_search *self, const struct impact_side *side,
			   struct impact_convex *piece, struct impact_convex *triangle,
			   bool swapped)
{
	const struct mesh *mesh = surface_of(side)->mesh;
	struct motion all_a = self->motion_a, all_b = self->motion_b;
	double start = all_a.t0, time = all_a.t1 - start, sag;
	uint32_t count = count_intervals(swapped ? &all_b : &all_a, swapped ? &all_a : &all_b,
					 piece->body.reach + self->options->tolerance, &sag);
	double grow = piece->body.reach + sag + self->options->tolerance;
	double limit = self->best->outcome != IMPACT_APART ? self->best->time : all_a.t1;
	for (uint32_t k = 0; k < count && !has_ended(self); k++) {
		double from = start + time * (k / (double)count);
		double to = k + 1 < count ? start + time * ((k + 1) / (double)count) : all_a.t1;
		if (!(to > from))
			continue;
		self->motion_a = motion_part(&all_a, from, to);
		self->motion_b = motion_part(&all_b, from, to);
		struct mesh_walk walk;
		uint32_t child;
		mesh_walk_init(&walk, mesh,
			       path_box(side, swapped ? &self->motion_a : &self->motion_b,
					swapped ? &self->motion_b : &self->motion_a, grow));
		while (!has_ended(self) && mesh_walk_next(&walk, &child)) {
			if (is_behind(self, side, swapped ? self->b : self->a, child))
				continue;
			convex_init(triangle, side, child, NULL);
			search_convex(self, swapped ? triangle : piece, swapped ? piece : triangle);
		}
		if (self->best->outcome != IMPACT_APART && self->best->time < limit)
			break;
	}
	/* An overlap at the start of a later interval is a hit, because the interval before ended
	 * apart. */
	if (self->best->outcome == IMPACT_OVERLAP && self->best->time > self->a->motion->t0)
		self->best->outcome = IMPACT_HIT;
	double end = self->best->outcome != IMPACT_APART ? self->best->time : all_a.t1;
	self->motion_a = end > start ? motion_part(&all_a, start, end) : all_a;
	self->motion_b = end > start ? motion_part(&all_b, start, end) : all_b;
}

/* Reports an overlap if a point of the other side is inside a field at the start, because the
 * surfaces need not cross then. `swapped`: the field is B. */
static void test_start_inside(struct impact_search *self, const struct impact_side *field,
			      const struct impact_side *other, bool swapped)
{
	if (!shape_is_field(field->piece.shape) || other->piece.shape->kind == SHAPE_PLANE ||
	    has_ended(self) || self->options->core_a > 0)
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
	if (swapped)
		swap_sides(&found);
	update_result(self, &found);
}

/* ---- two surfaces ---------------------------------------------------------------------------- */

/* A mesh in the frame that moves, with the tree of its motion. */
struct moving_mesh {
	struct shape shape;
	struct mesh mesh;
	vec3 *vertices;
	struct continuous_mesh tree;
};

static enum status moving_mesh_init(struct moving_mesh *self, const struct impact_side *side)
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

static void moving_mesh_release(struct moving_mesh *self)
{
	continuous_mesh_release(&self->tree);
	heap_free(self->vertices);
}

static enum status search_surfaces(struct impact_search *self)
{
	struct moving_mesh a, b;
	struct continuous_mesh_hit hit;
	struct continuous_mesh_work work;
	enum status status = moving_mesh_init(&a, self->a);
	if (status != STATUS_OK)
		return status;
	status = moving_mesh_init(&b, self->b);
	if (status != STATUS_OK) {
		moving_mesh_release(&a);
		return status;
	}
	bool touch = continuous_mesh_mesh(&a.tree, &self->motion_a, &b.tree, &self->motion_b,
					  self->options->tolerance, &hit, &work);
	moving_mesh_release(&b);
	moving_mesh_release(&a);
	self->best->pairs += work.pairs;
	if (!touch)
		return STATUS_OK;
	/* A hit at the start without a normal means that the surfaces cross. */
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
	update_result(self, &found);
	return STATUS_OK;
}

/* ---- all pairs of pieces --------------------------------------------------------------------- */

/* The convex pieces of a side: first … last − 1. */
static void pieces_of(const struct impact_side *side, uint32_t *first, uint32_t *last)
{
	bool whole = side->piece.child == IMPACT_WHOLE;
	*first = whole ? 0 : side->piece.child;
	*last = whole ? shape_piece_count(shape_exact(side->piece.shape)) : side->piece.child + 1;
}

static void search_pieces(struct impact_search *self, struct impact_convex *one,
			  struct impact_convex *two)
{
	uint32_t first_a, last_a, first_b, last_b;
	pieces_of(self->a, &first_a, &last_a);
	pieces_of(self->b, &first_b, &last_b);
	for (uint32_t i = first_a; i < last_a && !has_ended(self); i++) {
		convex_init(one, self->a, i, NULL);
		for (uint32_t k = first_b; k < last_b && !has_ended(self); k++) {
			convex_init(two, self->b, k, NULL);
			search_convex(self, one, two);
		}
	}
}

/* The pieces of one side and the other side, which is a plane or a surface. `swapped`: the pieces
 * are B's. */
static void search_one_sided(struct impact_search *self, struct impact_convex *one,
			     struct impact_convex *two, bool swapped)
{
	const struct impact_side *side = swapped ? self->b : self->a;
	const struct impact_side *other = swapped ? self->a : self->b;
	bool plane = other->piece.shape->kind == SHAPE_PLANE;
	uint32_t first = 0, last = 1;
	if (surface_of(side) == NULL)
		pieces_of(side, &first, &last);
	for (uint32_t i = first; i < last && !has_ended(self); i++) {
		if (plane) {
			search_plane(self, side, i, swapped);
			continue;
		}
		convex_init(one, side, i, NULL);
		search_surface(self, other, one, two, swapped);
	}
}

enum status time_of_impact(const struct impact_side *a, const struct impact_side *b,
			   const struct impact_options *options, struct impact_result *out)
{
	ASSERT(a->motion->t0 == b->motion->t0 && a->motion->t1 == b->motion->t1);
	ASSERT(options->tolerance > 0 && options->iterations_max > 0);
	*out = (struct impact_result){ .outcome = IMPACT_APART, .time = a->motion->t1 };
	enum shape_kind kind_a = a->piece.shape->kind, kind_b = b->piece.shape->kind;
	bool plane_a = kind_a == SHAPE_PLANE, plane_b = kind_b == SHAPE_PLANE;
	bool surface_a = surface_of(a) != NULL, surface_b = surface_of(b) != NULL;
	if ((plane_a && plane_b) || (kind_a == SHAPE_POLYGON) != (kind_b == SHAPE_POLYGON))
		return STATUS_UNSUPPORTED;
	bool grid = (surface_a && surface_of(a)->mesh->grid != NULL) ||
		    (surface_b && surface_of(b)->mesh->grid != NULL);
	if (grid && (surface_a || plane_a) && (surface_b || plane_b))
		return STATUS_UNSUPPORTED;
	struct impact_search search = { a, b, *a->motion, *b->motion, options, out };
	enum status status = STATUS_OK;
	/* Buffers for two hulls, here and not in each search, because they are large for the stack. */
	struct impact_convex one, two;
	if (surface_a && surface_b)
		status = search_surfaces(&search);
	else if (plane_b || (surface_b && !plane_a))
		search_one_sided(&search, &one, &two, false);
	else if (plane_a || surface_a)
		search_one_sided(&search, &one, &two, true);
	else
		search_pieces(&search, &one, &two);
	test_start_inside(&search, a, b, false);
	test_start_inside(&search, b, a, true);
	return status;
}
