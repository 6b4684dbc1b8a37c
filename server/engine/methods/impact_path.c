/* impact_path.c: paths of bodies within a tick, and when pairs of pieces meet on them.
 *
 * A body moves from the state at its clock to its state at the end of its part of the tick on a
 * cubic path: position and rotation vector are those polynomials that have the poses and velocities
 * of both states. Under a constant force the path is the exact parabola.
 *
 * Collisions are found in three stages, each of which can only be too early:
 *   time_of_impact on the chord (constant velocities between both poses, ch1-3 A-02), with the distance of
 *     path and chord as tolerance; it passes most pairs and no collision;
 *   conservative advancement on the path itself, with a bound of its acceleration;
 *   the root of the gap between a time apart and a time of overlap, to IMPACT_GAP.
 * The chord alone would find a collision too early by |a| h²/8, which gains or loses energy in every
 * bounce (ch4-5 D6a).
 *
 * Pairs that touch, or overlap, at their clock have no event while they part. They have one when they
 * overlap by more than they did, which is looked for at SAMPLES times of the path.
 */
#include "server/engine/collision/time_of_impact.h"
#include "server/engine/collision/triangle.h"
#include "server/engine/collision/vclip.h"
#include "server/engine/dynamics/body.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/one_way.h"
#include "server/engine/math/trig.h"
#include "server/engine/methods/impact.h"

enum {
	/* Advancements of one pair; more occur only where a body spins fast close to another. */
	ADVANCE_MAX = 64,
	/* Of a piece and a triangle: bodies that slide or roll over a surface come and stay near to many. */
	ADVANCE_TRIANGLE = 8,
	ROOT_MAX = 80,
	/* Times at which a pair that touched is looked at, for each size of a piece that it moves and
	 * for each radian. Fewer: a bounce that ends within the tick is found at the next one, with
	 * more penetration. */
	SAMPLES = 16,
	SAMPLES_MORE = 24, /* sizes and radians */
	/* Of the time between two of these, where it is not known that the pieces stay apart. */
	HALVINGS_MAX = 6,
};

/* rad: longest turn of a chord for time_of_impact, below the half turn at which its direction is lost. */
#define CHORD_TURN 2.0
#define CHORDS_MAX 64
/* 1. The part by which a body that is deep in a triangle goes deeper before that is an event. */
#define SINK_PART 0.25

uint32_t impact_slot(const struct impact_step *self, uint32_t body)
{
	return step_takes_part(self->step, body) ? self->step->dynamics->bodies.items[body].slot
						 : ROW_NO_BODY;
}

/* ---- the path --------------------------------------------------------------------------------- */

/* The rotation vector from `from` to `to` whose length fits the turn that the spins make in `time` s. */
static vec3 turn_between(const struct body_motion *from, const struct body_motion *to, double time)
{
	vec3 turn = quat_to_rotation_vector(quat_mul(to->rotation, quat_conjugate(from->rotation)));
	vec3 mean = vec3_scale(vec3_add(from->angular_velocity, to->angular_velocity), 0.5 * time);
	double angle = vec3_length(turn);
	if (vec3_length_squared(mean) < 1 || !(angle > 0))
		return turn;
	vec3 axis = vec3_scale(turn, 1 / angle);
	double turns = scalar_floor((vec3_dot(mean, axis) - angle) / TWO_PI + 0.5);
	return vec3_scale(axis, angle + TWO_PI * turns);
}

/* Rate of the rotation vector `turn` at spin w: w − ½ θ×w + ¹⁄₁₂ θ×(θ×w) + … */
static vec3 turn_rate(vec3 turn, vec3 spin)
{
	vec3 once = vec3_cross(turn, spin), twice = vec3_cross(turn, once);
	double angle = vec3_length(turn), factor = 1.0 / 12;
	if (angle > 1e-2) {
		double half = 0.5 * angle, s = trig_sin(half), c = trig_cos(half);
		factor = scalar_abs(s) > 1e-3 ? (1 - half * c / s) / (angle * angle) : 0;
	}
	return vec3_mul_add(vec3_mul_sub(spin, once, 0.5), twice, factor);
}

/* A cubic from 0 with rate v0 to `way` with rate v1 in `time` s, at the part s of it. */
static vec3 cubic(vec3 way, vec3 v0, vec3 v1, double time, double s)
{
	double r = 1 - s;
	vec3 at = vec3_scale(way, s * s * (3 - 2 * s));
	at = vec3_mul_add(at, v0, time * s * r * r);
	return vec3_mul_sub(at, v1, time * s * s * r);
}

static struct body_motion path_at(const struct body_motion *from, const struct body_motion *to,
				  double begin, double end, double time)
{
	if (!(time > begin))
		return *from;
	if (!(time < end))
		return *to;
	double span = end - begin, s = (time - begin) / span;
	vec3 way = vec3_sub(to->centre, from->centre);
	struct body_motion at;
	at.centre = vec3_add(from->centre, cubic(way, from->velocity, to->velocity, span, s));
	vec3 turn = turn_between(from, to, span);
	vec3 rate = turn_rate(turn, to->angular_velocity);
	vec3 part = cubic(turn, from->angular_velocity, rate, span, s);
	at.rotation = quat_integrate(from->rotation, part, 1);
	at.velocity = vec3_mul_add(vec3_scale(from->velocity, 1 - s), to->velocity, s);
	at.angular_velocity =
		vec3_mul_add(vec3_scale(from->angular_velocity, 1 - s), to->angular_velocity, s);
	return at;
}

struct body_motion impact_motion_at(const struct impact_step *self, uint32_t body, double time)
{
	uint32_t slot = impact_slot(self, body);
	if (slot == ROW_NO_BODY)
		return dynamics_motion(self->step->dynamics, body);
	return path_at(&self->from[slot], &self->to[slot], self->clock[slot], self->until[slot],
		       time);
}

/* ---- one body of a pair ----------------------------------------------------------------------- */

struct path_side {
	const struct shape *shape;
	uint32_t child;
	pose placed; /* the piece in the body's frame */
	vec3 centre_in_body;
	struct body_motion from, to;
	double begin; /* s: of `from` */
	double reach; /* m: lever of its points about the mass centre that turn its surface */
	double length, angle; /* m, rad: bounds of what is left of its path */
	double bend;	      /* m/s²: bound of the acceleration of its centre on the path */
	double off;	      /* m: bound of the distance of path and chord, of any point */
};

static double bend_of(const struct body_motion *from, const struct body_motion *to, double span,
		      double *off)
{
	vec3 mean = vec3_scale(vec3_sub(to->centre, from->centre), 1 / span);
	double change = vec3_distance(from->velocity, mean) + vec3_distance(to->velocity, mean);
	*off = span * change * (4.0 / 27);
	return 4 * change / span;
}

static struct path_side make_side(const struct impact_step *self, struct contact_piece piece,
				  uint32_t body, double begin, double end)
{
	const struct dynamics *dynamics = self->step->dynamics;
	const struct tables *tables = dynamics->tables;
	uint32_t slot = impact_slot(self, body);
	struct path_side side = {
		.shape = placement_shape(dynamics, piece.placement),
		.child = piece.child,
		.placed = placement_pose(tables, piece.placement),
		.centre_in_body = tables->body.centre[body],
		.from = impact_motion_at(self, body, begin),
		.begin = begin,
	};
	side.to = slot == ROW_NO_BODY ? side.from : impact_motion_at(self, body, end);
	if (slot == ROW_NO_BODY)
		return side;
	double span = end - begin;
	side.bend = bend_of(&side.from, &side.to, span, &side.off);
	vec3 turn = turn_between(&side.from, &side.to, span);
	vec3 spin = vec3_scale(turn, 1 / span);
	double uneven =
		vec3_distance(side.from.angular_velocity, spin) +
		vec3_distance(side.to.angular_velocity, turn_rate(turn, side.to.angular_velocity)) +
		vec3_distance(turn_rate(turn, side.to.angular_velocity), spin);
	double radius = shape_is_round(side.shape) ? side.shape->extent_min : 0;
	side.reach = dynamics->bodies.items[body].reach - radius;
	side.angle = vec3_length(turn) + span * uneven * (4.0 / 27);
	side.off += side.reach * span * uneven * (4.0 / 27);
	side.length = vec3_distance(side.from.centre, side.to.centre) + side.off +
		      side.reach * side.angle;
	return side;
}

static struct body_motion side_at(const struct path_side *side, double end, double time)
{
	return path_at(&side->from, &side->to, side->begin, end, time);
}

static pose piece_pose(const struct path_side *side, const struct body_motion *at)
{
	vec3 arm = quat_rotate(at->rotation, side->centre_in_body);
	return pose_mul(pose_make(vec3_sub(at->centre, arm), at->rotation), side->placed);
}

/* ---- a pair on its paths ---------------------------------------------------------------------- */

struct path_pair {
	struct path_side a, b;
	double begin, end; /* s */
	double margin;	   /* m: pieces farther apart cannot meet in this time */
	struct pair_cache hints;
	/* Of two convex polyhedra, else NULL: the closest features of the last distance, where the next
	 * search begins. */
	struct vclip_features *nearest;
	/* 1: b is a triangle of a surface and a is convex; -1: the other way round; 0: neither. */
	int triangle;
};

struct path_gap {
	double gap;	/* m; infinite: farther apart than the margin */
	vec3 normal;	/* world, a → b */
	double closing; /* m/s: bound of how fast the gap may close now */
	double opening; /* m/s: and how fast it may have opened before */
	double speed;	/* m/s: n·(v_b − v_a) at the nearest points; negative: approaching */
	double side;	/* m: of a pair with a triangle, see triangle.h */
};

static vec3 point_velocity(const struct body_motion *motion, vec3 point)
{
	vec3 arm = vec3_sub(point, motion->centre);
	return vec3_add(motion->velocity, vec3_cross(motion->angular_velocity, arm));
}

/* The hull of a piece; NULL: it is no convex polyhedron. */
static const struct hull *hull_of(const struct path_side *side)
{
	uint32_t child = side->child;
	return shape_part(side->shape, &child)->hull;
}

/* Two convex polyhedra that are apart, by their closest features: their distance is
 * continuous on the path, where the narrow phase's separation jumps from axis to axis. False: they touch. */
static bool find_distance(const struct path_pair *pair, const pose *b_in_a, struct manifold *out)
{
	struct placing there = { mat3_from_quat(b_in_a->rotation), b_in_a->position };
	struct vclip_result found;
	vclip_distance(hull_of(&pair->a), hull_of(&pair->b), &there, pair->nearest, &found);
	*pair->nearest = found.features;
	if (found.touching || !(found.distance > 0))
		return false;
	out->normal = found.normal;
	out->count = found.distance > pair->margin ? 0 : 1;
	out->points[0].point = vec3_scale(vec3_add(found.point_a, found.point_b), 0.5);
	out->points[0].separation = found.distance;
	return true;
}

/* The convex piece and the triangle of a pair, placed. */
static struct pair triangle_pair(const struct path_pair *pair, const pose *b_in_a)
{
	const struct path_side *piece = pair->triangle > 0 ? &pair->a : &pair->b;
	const struct path_side *surface = pair->triangle > 0 ? &pair->b : &pair->a;
	uint32_t child = piece->child;
	ASSERT(pair->triangle != 0);
	return (struct pair){ .a = shape_part(piece->shape, &child),
			      .b = surface->shape,
			      .child = surface->child,
			      .child_a = child,
			      .b_in_a = pair->triangle > 0 ? *b_in_a : pose_inverse(*b_in_a),
			      .margin = pair->margin };
}

/* A convex piece and a triangle, whether or not a contact would be the triangle's own: its gap is
 * continuous on the path. */
static double find_triangle(const struct path_pair *pair, const pose *b_in_a, struct manifold *out)
{
	struct pair placed = triangle_pair(pair, b_in_a);
	struct triangle_gap found;
	triangle_gap_find(&placed, &found);
	out->count = found.gap < __builtin_inf() ? 1 : 0;
	out->points[0].separation = found.gap;
	out->normal = found.normal;
	out->points[0].point = found.point;
	if (pair->triangle < 0) {
		out->normal = vec3_negate(pose_vector(*b_in_a, found.normal));
		out->points[0].point = pose_point(*b_in_a, found.point);
	}
	return found.side;
}

static struct path_gap gap_at(const struct path_pair *pair, double time)
{
	struct body_motion at_a = side_at(&pair->a, pair->end, time);
	struct body_motion at_b = side_at(&pair->b, pair->end, time);
	pose a = piece_pose(&pair->a, &at_a), b = piece_pose(&pair->b, &at_b);
	pose b_in_a = pose_relative(a, b);
	struct pair_cache cache = pair->hints;
	struct manifold found = { .count = 0 };
	struct path_gap out = { .gap = __builtin_inf() };
	if (pair->triangle != 0)
		out.side = find_triangle(pair, &b_in_a, &found);
	else if (pair->nearest == NULL || !find_distance(pair, &b_in_a, &found))
		collide_pieces((struct piece){ pair->a.shape, pair->a.child },
			       (struct piece){ pair->b.shape, pair->b.child }, &b_in_a,
			       pair->margin, &cache, &found);
	if (found.count == 0)
		return out;
	out.normal = pose_vector(a, found.normal);
	vec3 apart = vec3_sub(at_b.velocity, at_a.velocity);
	double turning =
		pair->a.reach * vec3_length(vec3_cross(at_a.angular_velocity, out.normal)) +
		pair->b.reach * vec3_length(vec3_cross(at_b.angular_velocity, out.normal));
	out.closing = scalar_max(0, -vec3_dot(apart, out.normal)) + turning;
	out.opening = scalar_max(0, vec3_dot(apart, out.normal)) + turning;
	for (uint32_t k = 0; k < found.count; k++) {
		vec3 point = pose_point(a, found.points[k].point);
		vec3 u = vec3_sub(point_velocity(&at_b, point), point_velocity(&at_a, point));
		double speed = vec3_dot(u, out.normal);
		if (found.points[k].separation < out.gap)
			out.speed = speed;
		out.gap = scalar_min(out.gap, found.points[k].separation);
	}
	return out;
}

/* The time at which gap − level changes its sign, between `low`, where it is positive, and `high`, where
 * it is not; by the Illinois form of false position. */
static double find_root(const struct path_pair *pair, double low, double gap_low, double high,
			double gap_high, double level)
{
	double f_low = gap_low - level, f_high = gap_high - level;
	int side = 0;
	for (int i = 0; i < ROOT_MAX && f_low > IMPACT_GAP; i++) {
		double time = (low * f_high - high * f_low) / (f_high - f_low);
		if (!(time > low && time < high))
			time = 0.5 * (low + high);
		if (!(time > low && time < high))
			break;
		double f = gap_at(pair, time).gap - level;
		if (f > 0) {
			low = time;
			f_low = f;
			f_high = side > 0 ? 0.5 * f_high : f_high;
			side = 1;
		} else {
			high = time;
			f_high = f;
			f_low = side < 0 ? 0.5 * f_low : f_low;
			side = -1;
			if (f > -IMPACT_GAP)
				return time;
		}
	}
	/* Where the narrow phase changes its features the gap jumps and is 0 at no time. */
	return f_low > IMPACT_TOUCH ? high : low;
}

/* Times at which a pair that touched is looked at, and whether its end alone tells that it does not
 * return: its motion is small beside the pieces. */
static uint32_t samples_of(const struct path_pair *pair, bool *slow)
{
	double size = __builtin_inf();
	if (pair->a.length > 0)
		size = pair->a.shape->extent_min;
	if (pair->b.length > 0)
		size = scalar_min(size, pair->b.shape->extent_min);
	double motion = size > 0 ? (pair->a.length + pair->b.length) / size : SAMPLES_MORE;
	double angle = pair->a.angle + pair->b.angle;
	*slow = motion < 1 && angle < 0.5;
	double count = SAMPLES * (1 + scalar_min(motion + angle, SAMPLES_MORE));
	uint32_t samples = SAMPLES;
	return scalar_to_u32(scalar_floor(count), &samples) ? samples : SAMPLES;
}

/* A pair that touches at its clock: when it overlaps by more than `level`. */
static double time_of_return(const struct path_pair *pair, double first, double level)
{
	double before = pair->begin, gap_before = first;
	bool slow;
	uint32_t samples = samples_of(pair, &slow);
	if (slow && !(gap_at(pair, pair->end).gap < level))
		return __builtin_inf();
	for (uint32_t k = 1; k <= samples; k++) {
		double time = k == samples ? pair->end
					   : pair->begin + (pair->end - pair->begin) * k / samples;
		double gap = gap_at(pair, time).gap;
		if (gap < level) {
			/* If it was apart, it returns from outside, and the gap is 0. */
			double target = gap_before > IMPACT_TOUCH ? 0 : level;
			return gap_before > target
				       ? find_root(pair, before, gap_before, time, gap, target)
				       : before;
		}
		before = time;
		gap_before = gap;
	}
	return __builtin_inf();
}

/* The chord from `time` to the end as far as it turns by at most CHORD_TURN; false: no chord. */
static bool make_chords(const struct path_pair *pair, double from, double to, struct motion *a,
			struct motion *b)
{
	struct body_motion a0 = side_at(&pair->a, pair->end, from);
	struct body_motion a1 = side_at(&pair->a, pair->end, to);
	struct body_motion b0 = side_at(&pair->b, pair->end, from);
	struct body_motion b1 = side_at(&pair->b, pair->end, to);
	return motion_between(pose_make(a0.centre, a0.rotation), from,
			      pose_make(a1.centre, a1.rotation), to, a) == STATUS_OK &&
	       motion_between(pose_make(b0.centre, b0.rotation), from,
			      pose_make(b1.centre, b1.rotation), to, b) == STATUS_OK;
}

static pose piece_in_centre_frame(const struct path_side *side)
{
	return pose_make(vec3_sub(side->placed.position, side->centre_in_body),
			 side->placed.rotation);
}

/* A time up to which the pieces are apart on the path, by time_of_impact on chords. */
static double time_on_chords(const struct path_pair *pair)
{
	double turn = scalar_max(pair->a.angle, pair->b.angle);
	double parts = scalar_min(1 + scalar_floor(turn / CHORD_TURN), CHORDS_MAX);
	struct impact_options options = impact_options_default();
	options.tolerance = scalar_max(options.tolerance, pair->a.off + pair->b.off);
	for (double k = 0; k < parts; k++) {
		double span = pair->end - pair->begin, from = pair->begin + span * k / parts;
		double to = k + 1 < parts ? pair->begin + span * (k + 1) / parts : pair->end;
		struct motion a, b;
		if (!make_chords(pair, from, to, &a, &b))
			return from;
		struct impact_side side_a = { { pair->a.shape, pair->a.child },
					      piece_in_centre_frame(&pair->a),
					      &a };
		struct impact_side side_b = { { pair->b.shape, pair->b.child },
					      piece_in_centre_frame(&pair->b),
					      &b };
		struct impact_result result;
		if (time_of_impact(&side_a, &side_b, &options, &result) != STATUS_OK)
			return from;
		/* Up to a LIMIT the pieces are apart, too, and the search on the path goes on from there. */
		if (result.outcome != IMPACT_APART)
			return result.outcome == IMPACT_OVERLAP ? from : result.time;
	}
	return pair->end;
}

/* m: less than the gap becomes within `span` s after it was `at`. */
static double least_within(const struct path_pair *pair, struct path_gap at, double span)
{
	double bend = pair->a.bend + pair->b.bend;
	return at.gap - span * (at.closing + 0.5 * bend * span);
}

/* As time_of_return, of a triangle, from `begin` on, where it has the gap `at`: between two looks the
 * gap is proved to stay above the level, or not to be deeper than touching pairs may be, or they are as
 * near as there. *unresolved counts a search that ends without an overlap where they had to be nearer and
 * the motion is large. */
static double time_of_sinking(const struct path_pair *pair, double begin, struct path_gap at,
			      double level, uint32_t *unresolved)
{
	bool slow, proved = true;
	uint32_t samples = samples_of(pair, &slow);
	double bend = pair->a.bend + pair->b.bend, span = pair->end - begin, time = begin;
	if (slow && !(gap_at(pair, pair->end).gap < level))
		return __builtin_inf();
	while (at.gap < __builtin_inf() && time < pair->end) {
		double above = scalar_max(at.gap - level, 0), least = span / samples;
		double most = at.closing + scalar_sqrt(at.closing * at.closing + 2 * bend * above);
		double step = most > 0 ? 2 * above / most : span;
		double next = scalar_min(time + scalar_max(step, least), pair->end);
		struct path_gap there = gap_at(pair, next);
		proved = proved &&
			 (step >= least || least_within(pair, at, next - time) > -IMPACT_SINK);
		if (there.gap < level) {
			double target = at.gap > IMPACT_TOUCH ? 0 : level;
			return at.gap > target
				       ? find_root(pair, time, at.gap, next, there.gap, target)
				       : time;
		}
		time = next;
		at = there;
	}
	*unresolved += !proved && level > -IMPACT_SINK;
	return __builtin_inf();
}

/* m: less than the gap becomes between two looks, `span` s apart: it closes from the first no faster than it
 * may, and opens to the second no faster than it may. */
static double least_between(const struct path_pair *pair, struct path_gap from, struct path_gap to,
			    double span)
{
	double bend = 0.5 * (pair->a.bend + pair->b.bend) * span;
	double close = from.closing + bend, open = to.opening + bend;
	if (!(from.gap < __builtin_inf()) || !(to.gap < __builtin_inf()) || !(close + open > 0))
		return scalar_min(from.gap, to.gap);
	double s = (from.gap - to.gap + open * span) / (close + open);
	s = scalar_clamp(s, 0, span);
	return scalar_max(from.gap - close * s, to.gap - open * (span - s));
}

/* A time of a path at which the gap was looked at. */
struct path_look {
	double time;
	struct path_gap at;
	uint32_t depth; /* halvings that led to it */
};

/* The first overlap between two looks, the first of which is apart; infinite: none was found. The interval is
 * halved until no overlap in it can be deeper than touching pairs may be; *proved becomes false where
 * HALVINGS_MAX were not enough. */
static double overlap_between(const struct path_pair *pair, struct path_look left,
			      struct path_look right, bool *proved)
{
	struct path_look stack[HALVINGS_MAX + 2];
	uint32_t count = 0;
	stack[count++] = right;
	while (count > 0) {
		right = stack[count - 1];
		if (right.at.gap < 0)
			return find_root(pair, left.time, left.at.gap, right.time, right.at.gap, 0);
		double span = right.time - left.time;
		bool good = least_between(pair, left.at, right.at, span) > -IMPACT_SINK;
		if (good || right.depth == HALVINGS_MAX) {
			*proved = *proved && good;
			left = right;
			count--;
			continue;
		}
		uint32_t depth = ++stack[count - 1].depth;
		double middle = left.time + 0.5 * span;
		ASSERT(count < COUNT_OF(stack));
		stack[count++] = (struct path_look){ middle, gap_at(pair, middle), depth };
	}
	return __builtin_inf();
}

/* Where steps that pass no collision have become too short: the path from `before` on, at which the
 * gap `at` is positive, is looked at at some times, and between them as often as it takes. Counts a
 * search without an answer if none shows an overlap, and one might be deeper than touching pairs may be. */
static double find_overlap(const struct path_pair *pair, double before, struct path_gap at,
			   uint32_t *unresolved)
{
	bool slow, proved = true;
	uint32_t samples = samples_of(pair, &slow);
	struct path_look left = { before, at, 0 };
	for (uint32_t k = 1; k <= samples; k++) {
		double time =
			k == samples ? pair->end : before + (pair->end - before) * k / samples;
		struct path_look right = { time, gap_at(pair, time), 0 };
		double found = overlap_between(pair, left, right, &proved);
		if (found < __builtin_inf())
			return found;
		left = right;
	}
	*unresolved += !proved;
	return __builtin_inf();
}

/* The first time from `time` on at which the gap is at most IMPACT_GAP. */
static double advance_on_path(const struct path_pair *pair, double time, uint32_t *unresolved)
{
	double bend = pair->a.bend + pair->b.bend, before = 0;
	struct path_gap last = { .gap = 0 };
	for (uint32_t i = 0; i < ADVANCE_MAX; i++) {
		struct path_gap at = gap_at(pair, time);
		if (!(at.gap < __builtin_inf()))
			return __builtin_inf();
		if (at.gap <= IMPACT_GAP)
			return i > 0 && at.gap < -IMPACT_GAP
				       ? find_root(pair, before, last.gap, time, at.gap, 0)
				       : time;
		/* The guess of false position, which ends the search if it overlaps. */
		double guess = at.speed < 0 ? time - at.gap / at.speed * (1 + 1e-6) : pair->end;
		if (guess < pair->end && guess > time) {
			double there = gap_at(pair, guess).gap;
			if (there <= IMPACT_GAP)
				return find_root(pair, time, at.gap, guess, there, 0);
		}
		if (pair->triangle != 0 && i >= ADVANCE_TRIANGLE)
			return time_of_sinking(pair, time, at, -IMPACT_DEPTH, unresolved);
		double root = scalar_sqrt(at.closing * at.closing + 2 * bend * at.gap);
		double most = at.closing + root;
		if (!(most > 0))
			return __builtin_inf();
		before = time;
		last = at;
		time += 2 * at.gap / most;
		if (!(time < pair->end)) {
			double gap = gap_at(pair, pair->end).gap;
			return gap < -IMPACT_DEPTH
				       ? find_root(pair, before, last.gap, pair->end, gap, 0)
				       : __builtin_inf();
		}
	}
	return find_overlap(pair, before, last, unresolved);
}

/* The paths of a contact's pieces; false: they end where they begin, or the pieces cannot meet on them. */
static bool make_pair(const struct impact_step *self, const struct contact_state *contact,
		      struct path_pair *out)
{
	const struct dynamics *dynamics = self->step->dynamics;
	uint32_t slot_a = impact_slot(self, contact->body_a);
	uint32_t slot_b = impact_slot(self, contact->body_b);
	double begin = scalar_max(slot_a == ROW_NO_BODY ? 0 : self->clock[slot_a],
				  slot_b == ROW_NO_BODY ? 0 : self->clock[slot_b]);
	double end = scalar_min(slot_a == ROW_NO_BODY ? self->step->dt : self->until[slot_a],
				slot_b == ROW_NO_BODY ? self->step->dt : self->until[slot_b]);
	if (!(begin < end))
		return false;
	*out = (struct path_pair){ .a = make_side(self, contact->a, contact->body_a, begin, end),
				   .b = make_side(self, contact->b, contact->body_b, begin, end),
				   .begin = begin,
				   .end = end };
	out->margin = out->a.length + out->b.length + IMPACT_TOUCH;
	out->triangle = triangle_meets(out->a.shape, out->b.shape)   ? 1
			: triangle_meets(out->b.shape, out->a.shape) ? -1
								     : 0;
	double apart = vec3_distance(out->a.from.centre, out->b.from.centre) -
		       dynamics->bodies.items[contact->body_a].reach -
		       dynamics->bodies.items[contact->body_b].reach;
	if (apart > out->margin)
		return false;
	if (!contact->is_new) {
		const struct contact_table *table = &dynamics->tables->contact;
		out->hints = (struct pair_cache){ .kind = table->cache_kind[contact->row],
						  .feature_a = table->cache_a[contact->row],
						  .feature_b = table->cache_b[contact->row] };
	}
	return true;
}

/* How deep the piece of a pair with a triangle is below its plane, m, at a time. */
static double low_at(const struct path_pair *pair, double time)
{
	struct body_motion at_a = side_at(&pair->a, pair->end, time);
	struct body_motion at_b = side_at(&pair->b, pair->end, time);
	pose b_in_a = pose_relative(piece_pose(&pair->a, &at_a), piece_pose(&pair->b, &at_b));
	struct pair placed = triangle_pair(pair, &b_in_a);
	return triangle_low(&placed);
}

/* m: by how much the points of a side leave the straight lines between both ends of their paths. */
static double bow_of(const struct path_side *side)
{
	return side->off + side->reach * (1 - trig_cos(scalar_min(0.5 * side->angle, PI)));
}

/* A convex piece and a triangle of a surface. A body that stays above the plane of the triangle has no event
 * with it, and so most that slide and roll have none. Where the triangle touches the piece but the contact
 * is its neighbour's, an event comes when the piece goes IMPACT_SINK deeper. */
static double time_at_triangle(const struct impact_step *self, uint32_t index,
			       struct path_pair *pair, uint32_t *unresolved)
{
	double bow = bow_of(&pair->a) + bow_of(&pair->b);
	double low = scalar_min(low_at(pair, pair->begin), low_at(pair, pair->end));
	if (low - bow >= -IMPACT_SINK)
		return __builtin_inf();
	struct path_gap first = gap_at(pair, pair->begin);
	if (!(first.gap < __builtin_inf()))
		return __builtin_inf();
	double time = __builtin_inf(), from = pair->begin;
	double depth = scalar_max(-first.gap, 0);
	if (self->pairs[index].touching || first.gap <= IMPACT_TOUCH) {
		double more = scalar_max(IMPACT_SINK, SINK_PART * depth);
		time = time_of_sinking(pair, pair->begin, first, -depth - more, unresolved);
	} else {
		if (first.gap > pair->a.off + pair->b.off)
			from = time_on_chords(pair);
		if (from < pair->end)
			time = advance_on_path(pair, from, unresolved);
	}
	/* Who comes from behind passes. */
	return time < __builtin_inf() && gap_at(pair, time).side < 0 ? __builtin_inf() : time;
}

/* The time of the next event, s, whether or not a body is one-way. */
static double time_of_pair(const struct impact_step *self, uint32_t index, struct path_pair *pair,
			   uint32_t *unresolved)
{
	if (pair->triangle != 0)
		return time_at_triangle(self, index, pair, unresolved);
	struct path_gap first = gap_at(pair, pair->begin);
	if (!(first.gap < __builtin_inf()))
		return __builtin_inf();
	/* Bodies deep in each other are pushed apart; features that change there are no collisions. */
	if (self->pairs[index].touching && first.gap < -IMPACT_SINK)
		return __builtin_inf();
	if (self->pairs[index].touching)
		return time_of_return(pair, first.gap, scalar_min(first.gap, 0) - IMPACT_SINK);
	/* Most pairs need the first separation only, which is never more than the distance. */
	struct vclip_features nearest = { { VCLIP_FACE, 0 }, { VCLIP_FACE, 0 } }; /* none */
	if (hull_of(&pair->a) != NULL && hull_of(&pair->b) != NULL)
		pair->nearest = &nearest;
	double time = __builtin_inf(), from = pair->begin;
	if (first.gap <= IMPACT_TOUCH) {
		time = time_of_return(pair, first.gap, scalar_min(first.gap, 0) - IMPACT_DEPTH);
	} else {
		if (first.gap > pair->a.off + pair->b.off)
			from = time_on_chords(pair);
		if (from < pair->end)
			time = advance_on_path(pair, from, unresolved);
	}
	pair->nearest = NULL;
	return time;
}

/* ---- ends of paths in a distance field -------------------------------------------------------- */

bool impact_meets_field(const struct impact_step *self, uint32_t index)
{
	const struct dynamics *dynamics = self->step->dynamics;
	const struct contact_state *contact = &self->list->items[index];
	return self->field_rounds > 0 && !self->pairs[index].deep &&
	       (shape_is_field(placement_shape(dynamics, contact->a.placement)) ||
		shape_is_field(placement_shape(dynamics, contact->b.placement))) &&
	       !one_way_concerns(dynamics, contact->body_a, contact->body_b);
}

/* A vector that turns with a side, from the end of its path to the beginning. */
static vec3 turn_back(const struct path_side *side, vec3 v)
{
	quat back = quat_mul(side->from.rotation, quat_conjugate(side->to.rotation));
	return quat_rotate(back, v);
}

bool impact_meeting_find(const struct impact_step *self, uint32_t index, struct impact_meeting *out)
{
	struct path_pair pair;
	out->count = 0;
	if (!make_pair(self, &self->list->items[index], &pair))
		return false;
	pose a = piece_pose(&pair.a, &pair.a.to), b = piece_pose(&pair.b, &pair.b.to);
	pose b_in_a = pose_relative(a, b);
	struct pair_cache cache = pair.hints;
	struct manifold found;
	collide_pieces((struct piece){ pair.a.shape, pair.a.child },
		       (struct piece){ pair.b.shape, pair.b.child }, &b_in_a, 0, &cache, &found);
	vec3 normal = pose_vector(a, found.normal);
	out->begin = pair.begin;
	for (uint32_t k = 0; k < found.count; k++) {
		double gap = found.points[k].separation;
		if (!(gap < -IMPACT_DEPTH))
			continue;
		vec3 middle = pose_point(a, found.points[k].point);
		vec3 on_a = vec3_mul_sub(middle, normal, 0.5 * gap);
		vec3 on_b = vec3_mul_add(middle, normal, 0.5 * gap);
		uint32_t at = out->count++;
		out->arm_a[at] = turn_back(&pair.a, vec3_sub(on_a, pair.a.to.centre));
		out->arm_b[at] = turn_back(&pair.b, vec3_sub(on_b, pair.b.to.centre));
		out->feature[at] = found.points[k].feature;
		out->depth[at] = -gap;
	}
	out->normal = turn_back(shape_is_field(pair.a.shape) ? &pair.a : &pair.b, normal);
	for (uint32_t k = 0; k < out->count; k++) {
		vec3 of_a = vec3_cross(pair.a.from.angular_velocity, out->arm_a[k]);
		vec3 of_b = vec3_cross(pair.b.from.angular_velocity, out->arm_b[k]);
		vec3 u = vec3_sub(vec3_add(pair.b.from.velocity, of_b),
				  vec3_add(pair.a.from.velocity, of_a));
		out->speed[k] = vec3_dot(out->normal, u);
	}
	return out->count > 0;
}

/* The time of a collision with a field: at once if it is one of impact_fields.c, never if the paths
 * end apart; else as of other pairs. */
static double time_at_field(const struct impact_step *self, uint32_t index, struct path_pair *pair,
			    uint32_t *unresolved)
{
	struct impact_meeting met;
	if (self->pairs[index].touching)
		return time_of_pair(self, index, pair, unresolved);
	if (!impact_meeting_find(self, index, &met))
		return __builtin_inf();
	for (uint32_t k = 0; k < met.count; k++)
		if (met.speed[k] < -self->settings.restitution_speed)
			return met.begin;
	return time_of_pair(self, index, pair, unresolved);
}

double impact_time(const struct impact_step *self, uint32_t index, uint32_t *unresolved)
{
	ASSERT(index < self->list->count);
	if (self->pairs[index].deep)
		return __builtin_inf();
	const struct contact_state *contact = &self->list->items[index];
	const struct dynamics *dynamics = self->step->dynamics;
	struct path_pair pair;
	if (!make_pair(self, contact, &pair))
		return __builtin_inf();
	if (impact_meets_field(self, index))
		return time_at_field(self, index, &pair, unresolved);
	if (!one_way_concerns(dynamics, contact->body_a, contact->body_b))
		return time_of_pair(self, index, &pair, unresolved);
	enum passage passage = one_way_passage(dynamics, contact);
	/* A pair that is about to be let through overlaps at its clock, and was refused there. */
	if (passage == PASSAGE_THROUGH ||
	    (passage != PASSAGE_SOLID && (contact->one_way & ONE_WAY_ENTERS)))
		return __builtin_inf();
	double time = time_of_pair(self, index, &pair, unresolved);
	if (passage == PASSAGE_SOLID || !(time < __builtin_inf()))
		return time;
	vec3 normal = gap_at(&pair, time).normal;
	bool lands = one_way_faces(dynamics, contact->body_a, contact->body_b, normal);
	return lands ? time : __builtin_inf();
}

/* ---- limits of joints ------------------------------------------------------------------------- */

/* 1. The part of the way to a limit that is made at once. The motion stops a coordinate that arrives early
 * at its limit, without a bounce, so the last part is made in smaller ones. */
#define LIMIT_PART 0.95

double impact_limit_time(const struct impact_step *self, uint32_t joint)
{
	const struct constraint *constraint = &self->joints.constraints[joint];
	const struct joint *data = &self->joints.joints[joint];
	const uint32_t slots[2] = { constraint->body_a, constraint->body_b };
	struct body_motion motion[2] = { data->a, data->b };
	double begin = 0, end = self->step->dt, first = __builtin_inf();
	for (uint32_t k = 0; k < 2; k++)
		if (slots[k] != ROW_NO_BODY) {
			begin = scalar_max(begin, self->clock[slots[k]]);
			end = scalar_min(end, self->until[slots[k]]);
		}
	for (uint32_t k = 0; k < 2; k++)
		if (slots[k] != ROW_NO_BODY) {
			if (self->rounds[slots[k]] > self->rounds_max)
				return first;
			motion[k] = impact_motion_at(self, self->step->bodies[slots[k]], begin);
		}
	struct constraint_row rows[JOINT_ROWS_MAX];
	struct row_block blocks[JOINT_ROWS_MAX];
	struct row_part parts[2 * JOINT_ROWS_MAX];
	struct row_list list = { .rows = rows,
				 .blocks = blocks,
				 .parts = parts,
				 .row_capacity = JOINT_ROWS_MAX,
				 .block_capacity = JOINT_ROWS_MAX,
				 .part_capacity = 2 * JOINT_ROWS_MAX };
	struct constraint_options options = { .level = CONSTRAINT_VELOCITY };
	constraint->kind->rows(constraint, 0, &motion[0], &motion[1], &options, &list);
	for (uint32_t b = 0; b < list.block_count; b++) {
		const struct constraint_row *row = &rows[blocks[b].first];
		double speed = row->approach - row->wanted;
		if (row->set != ROW_POSITIVE || !(blocks[b].restitution > 0) ||
		    !(row->gap > IMPACT_LIMIT) || !(speed < -self->settings.restitution_speed))
			continue;
		double time = begin - row->gap / speed;
		if (time < end)
			first = scalar_min(first, begin - LIMIT_PART * row->gap / speed);
	}
	return first;
}

/* ---- reach ------------------------------------------------------------------------------------ */

struct aabb impact_path_box(const struct impact_step *self, uint32_t slot, double *motion,
			    bool *leaves)
{
	const struct dynamics *dynamics = self->step->dynamics;
	const struct tables *tables = dynamics->tables;
	uint32_t body = self->step->bodies[slot];
	const struct body_motion *from = &self->from[slot], *to = &self->to[slot];
	double span = self->until[slot] - self->clock[slot], off = 0;
	double reach = dynamics->bodies.items[body].reach;
	struct aabb box = aabb_empty();
	*leaves = false;
	if (span > 0)
		(void)bend_of(from, to, span, &off);
	double angle = span > 0 ? vec3_length(turn_between(from, to, span)) +
					  span * vec3_distance(from->angular_velocity,
							       to->angular_velocity)
				: 0;
	/* Between two poses an angle apart, a point leaves the box of both by at most its sagitta. */
	double sag = reach * (1 - trig_cos(scalar_min(0.5 * angle, 0.5 * PI)));
	if (angle > PI)
		sag = 2 * reach;
	for (uint32_t p = tables->body.first_placement[body]; p != 0;
	     p = tables->placement.next[p - 1]) {
		const struct shape *shape = placement_shape(dynamics, p - 1);
		struct path_side side = { .placed = placement_pose(tables, p - 1),
					  .centre_in_body = tables->body.centre[body] };
		pose a = piece_pose(&side, from), b = piece_pose(&side, to);
		struct aabb path = aabb_union(shape_aabb(shape, &a), shape_aabb(shape, &b));
		path = aabb_grow(path, off + sag);
		*leaves |= !aabb_contains(placement_box(tables, p - 1), path);
		box = aabb_union(box, path);
	}
	struct body_motion begin = dynamics_motion(dynamics, body);
	double way = scalar_max(vec3_distance(begin.centre, from->centre),
				vec3_distance(begin.centre, to->centre));
	double before = vec3_length(
		quat_to_rotation_vector(quat_mul(from->rotation, quat_conjugate(begin.rotation))));
	*motion = way + off + reach * scalar_min(before + angle, 2);
	return box;
}
