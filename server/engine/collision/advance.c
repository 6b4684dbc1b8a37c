/* advance.c: app H, conservative advancement.
 *
 * At some time the pieces are apart by at least d along the direction n from A to B (GJK's certified
 * lower bound, minus the radii). A point of A moves along n at most at
 *   v_A·n + |w_A × n| r_A,   since (w × r)·n = r·(n × w),
 * for the rest of the motion, because n is kept fixed and v, w are constant; a point of B likewise
 * backwards. With the sum of both, the approach, nothing touches within d / approach. The book takes
 * |w| for |w × n|, which is never better: a spin about the normal brings nothing nearer. If the approach
 * is not positive the pieces stay apart for good; also pieces that start within the tolerance and
 * part are no hit. That distances grow again is no reason to stop (A-21's): with rotation they may
 * shrink later; the approach alone decides.
 *
 * A step leaves a LEFT part of the tolerance, so that it ends near and not, by rounding, inside.
 *
 * Invariant: the pieces are apart at every accepted time, and these increase. What goes wrong: grazing
 * takes many steps (linear convergence, at the rate 1 − true approach / approach), hence the limit,
 * which is reported as what it is. A tolerance below rounding: a step may end inside, and is halved
 * until it does not; or nothing of the distance can be certified any more, which is the limit as well.
 */
#include "server/engine/collision/advance.h"

#define LEFT 0x1p-4 /* more takes more steps, less comes nearer to rounding */

struct advance_body advance_body_of(const struct shape *shape, uint32_t child,
				    const struct motion *motion, struct gjk_points *room)
{
	struct gjk_core core = gjk_core_of(shape, child, room);
	double square = 0;
	for (uint32_t i = 0; i < core.count; i++)
		square = scalar_max(square, vec3_length_squared(core.points[i]));
	return (struct advance_body){ core, scalar_sqrt(square) + core.radius, motion };
}

/* A direction along which the pieces are apart by `safe` m, proved. */
struct certificate {
	vec3 axis; /* unit, A → B */
	double safe;
};

/* How far the surfaces are apart along a unit axis. */
static double apart_along(const struct advance_body *a, const struct advance_body *b, pose at_a,
			  pose at_b, vec3 axis)
{
	vec3 in_a = pose_inverse_vector(at_a, axis);
	vec3 in_b = pose_inverse_vector(at_b, vec3_negate(axis));
	vec3 far_a = a->core.points[gjk_support(&a->core, in_a, 0)];
	vec3 far_b = b->core.points[gjk_support(&b->core, in_b, 0)];
	vec3 between = vec3_sub(pose_point(at_b, far_b), pose_point(at_a, far_a));
	return vec3_dot(axis, between) - a->core.radius - b->core.radius;
}

/* Whether the pieces are apart at t; if so *out describes it and *proof says by how much for certain.
 * It comes with the axis that served last: very near to each other the pieces have a direction that is
 * mostly rounding, and an older one from farther away proves more. */
static bool look(const struct advance_body *a, const struct advance_body *b, double t,
		 struct advance_result *out, struct certificate *proof)
{
	pose at_a = motion_at(a->motion, t), at_b = motion_at(b->motion, t);
	pose b_in_a = pose_relative(at_a, at_b);
	mat3 rotation = mat3_from_quat(b_in_a.rotation);
	struct gjk_result gap;
	double radii = a->core.radius + b->core.radius;
	gjk_distance(&a->core, &b->core, &rotation, b_in_a.position, &out->simplex, &gap);
	out->iterations++;
	out->simplex = gap.simplex;
	if (gap.touching || gap.distance <= radii)
		return false;
	out->time = t;
	out->distance = gap.distance - radii;
	out->normal = pose_vector(at_a, gap.normal);
	out->point_a = vec3_mul_add(pose_point(at_a, gap.point_a), out->normal, a->core.radius);
	out->point_b = vec3_mul_sub(pose_point(at_a, gap.point_b), out->normal, b->core.radius);
	proof->safe = apart_along(a, b, at_a, at_b, proof->axis);
	if (gap.lower - radii >= proof->safe)
		*proof = (struct certificate){ out->normal, gap.lower - radii };
	return true;
}

/* How fast the pieces can come nearer along n, m/s. */
static double approach(const struct advance_body *a, const struct advance_body *b, vec3 n)
{
	vec3 v = vec3_sub(a->motion->velocity, b->motion->velocity);
	return vec3_dot(v, n) + vec3_length(vec3_cross(a->motion->spin, n)) * a->reach +
	       vec3_length(vec3_cross(b->motion->spin, n)) * b->reach;
}

void advance_convex(const struct advance_body *a, const struct advance_body *b,
		    const struct advance_options *options, const struct gjk_simplex *start,
		    struct advance_result *out)
{
	double end = a->motion->t1, t = a->motion->t0;
	ASSERT(b->motion->t0 == t && b->motion->t1 == end);
	ASSERT(options->tolerance > 0 && options->iterations_max > 0);
	*out = (struct advance_result){ .time = t };
	if (start != NULL)
		out->simplex = *start;
	struct certificate proof = { vec3_zero(), 0 };
	for (uint32_t k = 0; k < options->iterations_max; k++) {
		bool apart = look(a, b, t, out, &proof);
		if (!apart && k == 0) {
			out->outcome = ADVANCE_OVERLAP;
			return;
		}
		if (!apart) {
			double half = out->time + 0.5 * (t - out->time);
			if (!(half > out->time && half < t)) {
				out->outcome = ADVANCE_HIT;
				return;
			}
			t = half;
			continue;
		}
		double speed = approach(a, b, proof.axis);
		double way = scalar_max(proof.safe - LEFT * options->tolerance, 0);
		double next = speed > 0 ? t + way / speed : t;
		if ((speed <= 0 && proof.safe > 0) ||
		    (next > end && out->distance > options->tolerance)) {
			out->outcome = ADVANCE_APART;
			out->time = end;
			return;
		}
		if (out->distance <= options->tolerance) {
			out->outcome = ADVANCE_HIT;
			return;
		}
		if (!(next > t))
			break;
		t = next;
	}
	out->outcome = ADVANCE_LIMIT;
}
