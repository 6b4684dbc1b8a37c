/* advance.c: app H, conservative advancement.
 *
 * At time t the pieces are separated by at least d along the direction n from A to B, where d is GJK's
 * proved lower bound minus the radii. The direction n stays fixed and v, w are constant, so for the
 * rest of the motion a point of A moves along n at most at
 *   v_A·n + |w_A × n| r_A,   since (w × r)·n = r·(n × w),
 * and a point of B likewise against n. The sum of both is the approach speed; the pieces cannot touch
 * within d / approach. The book uses |w| instead of |w × n|, which is never better, because a spin about
 * the normal brings no point nearer. If the approach is not positive, the pieces stay separated until
 * the end; this also holds for pieces that start within the tolerance and part. A growing distance does
 * not end the search (unlike A-21), because rotation may shrink it later; only the approach decides.
 *
 * A step stops short by STEP_MARGIN times the tolerance, so rounding does not make it end in overlap.
 *
 * Invariant: the pieces are separated at every accepted time, and accepted times increase.
 * What goes wrong: grazing motion takes many steps (linear convergence, at the rate
 * 1 − true approach / approach); after iterations_max steps the outcome is ADVANCE_LIMIT. With a
 * tolerance below rounding a step may end in overlap: the step is then halved until it does not. If no
 * part of the distance can be proved any more, the outcome is ADVANCE_LIMIT as well.
 */
#include "server/engine/collision/advance.h"

#define STEP_MARGIN                                                                                \
	0x1p-4 /* of the tolerance; more takes more steps, less risks overlap by rounding */

struct advance_body advance_body_of(const struct shape *shape, uint32_t child,
				    const struct motion *motion, struct gjk_points *room)
{
	ASSERT(shape->kind != SHAPE_PLANE);
	struct gjk_core core = gjk_core_of(shape, child, room);
	ASSERT(core.count > 0);
	return (struct advance_body){ core, gjk_reach(&core) + core.radius, motion };
}

/* A direction along which the pieces are proved to be separated by `safe` m. */
struct certificate {
	vec3 axis; /* unit, A → B */
	double safe;
};

double advance_apart_along(const struct advance_body *a, const struct advance_body *b, pose at_a,
			   pose at_b, vec3 axis)
{
	vec3 in_a = pose_inverse_vector(at_a, axis);
	vec3 in_b = pose_inverse_vector(at_b, vec3_negate(axis));
	vec3 far_a = gjk_support_point(&a->core, in_a);
	vec3 far_b = gjk_support_point(&b->core, in_b);
	vec3 between = vec3_sub(pose_point(at_b, far_b), pose_point(at_a, far_a));
	return vec3_dot(axis, between) - a->core.radius - b->core.radius;
}

/* True: the pieces are separated at t; *out then describes the gap and *proof bounds it. On entry *proof
 * has the axis of the previous step, which is tried again: for pieces that are very near, the direction
 * between the nearest points is mostly rounding, and an axis found farther away proves more. */
static bool measure_gap(const struct advance_body *a, const struct advance_body *b, double t,
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
	proof->safe = advance_apart_along(a, b, at_a, at_b, proof->axis);
	if (gap.lower - radii >= proof->safe)
		*proof = (struct certificate){ out->normal, gap.lower - radii };
	return true;
}

/* Upper bound of the speed at which the pieces approach along the unit vector n, m/s. */
static double approach_speed(const struct advance_body *a, const struct advance_body *b, vec3 n)
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
	ASSERT(options->tolerance > 0);
	ASSERT(options->iterations_max > 0);
	*out = (struct advance_result){ .time = t };
	if (start != NULL)
		out->simplex = *start;
	struct certificate proof = { vec3_zero(), 0 };
	for (uint32_t k = 0; k < options->iterations_max; k++) {
		bool apart = measure_gap(a, b, t, out, &proof);
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
		double speed = approach_speed(a, b, proof.axis);
		double way = scalar_max(proof.safe - STEP_MARGIN * options->tolerance, 0);
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
