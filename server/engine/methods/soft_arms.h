/* soft_arms.h: arms, masses and gaps of LANES_WIDTH lanes, which soft_arms.c explains. */
#ifndef CAIRN_ENGINE_METHODS_SOFT_ARMS_H
#define CAIRN_ENGINE_METHODS_SOFT_ARMS_H

#include "server/engine/methods/soft_calm.h"
#include "server/engine/methods/soft_contact.h"

/* 1. Arms that change by less than this part of their length stay as they were, and an impulse may miss
 * the angular momentum of such a change. Larger: more momentum is lost; smaller: more blocks slide,
 * which takes half as long again. */
#define CALM 1e-3

/* 1. Of an arm's square: a smaller core is that of a ball, and only rounding. */
#define ROUNDING 1e-5f

/* ---- J, masses and friction blocks from arms -------------------------------------------------- */

/* 1/kg: t1 M⁻¹ t2 by the masses of both sides; 0 without locked axes. */
ALWAYS_INLINE lanes mass_across(const struct soft_block *block, uint32_t first, struct lanes3 t1,
				struct lanes3 t2)
{
	return lanes_load(&block->mass_inv_a, first) *
		       lanes3_dot(free_part(block->locks, &block->free_a, first, t1), t2) +
	       lanes_load(&block->mass_inv_b, first) *
		       lanes3_dot(free_part(block->locks, &block->free_b, first, t1), t2);
}

/* The inverse of the 2×2 block of the tangents at the friction centre. */
ALWAYS_INLINE void derive_tangents(struct soft_block *block, uint32_t first, struct lanes3 normal)
{
	struct lanes3 t1 = lanes3_load(&block->tangent, first), t2 = lanes3_cross(normal, t1);
	struct lanes3 arm_a = lanes3_load(&block->arm_a, first);
	struct lanes3 arm_b = lanes3_load(&block->arm_b, first);
	struct lanes3 a1 = lanes3_cross(arm_a, t1), a2 = lanes3_cross(arm_a, t2);
	struct lanes3 b1 = lanes3_cross(arm_b, t1), b2 = lanes3_cross(arm_b, t2);
	struct lanes3 ia1 = tensor_lanes(block->inertia_inv_a, first, a1);
	struct lanes3 ia2 = tensor_lanes(block->inertia_inv_a, first, a2);
	struct lanes3 ib1 = tensor_lanes(block->inertia_inv_b, first, b1);
	struct lanes3 ib2 = tensor_lanes(block->inertia_inv_b, first, b2);
	lanes k11 = mass_along(block, first, t1) + lanes3_dot(a1, ia1) + lanes3_dot(b1, ib1);
	lanes k22 = mass_along(block, first, t2) + lanes3_dot(a2, ia2) + lanes3_dot(b2, ib2);
	lanes k12 = lanes3_dot(a1, ia2) + lanes3_dot(b1, ib2);
	if (block->locks)
		k12 += mass_across(block, first, t1, t2);
	lanes inverse = lanes_inverse(k11 * k22 - k12 * k12);
	lanes_store(&block->tangent_mass[0], first, k22 * inverse);
	lanes_store(&block->tangent_mass[1], first, k11 * inverse);
	lanes_store(&block->tangent_mass[2], first, -k12 * inverse);
}

ALWAYS_INLINE void derive_twist(struct soft_block *block, uint32_t first, struct lanes3 normal)
{
	struct lanes3 twist_a = tensor_lanes(block->inertia_inv_a, first, normal);
	struct lanes3 twist_b = tensor_lanes(block->inertia_inv_b, first, normal);
	lanes k = lanes3_dot(normal, twist_a) + lanes3_dot(normal, twist_b);
	lanes3_store(&block->twist_a, first, twist_a);
	lanes3_store(&block->twist_b, first, twist_b);
	lanes_store(&block->twist_mass, first, lanes_inverse(k));
}

ALWAYS_INLINE void derive_point(const struct soft_block *block, struct soft_point *point,
				uint32_t first, struct lanes3 normal, struct lanes3 arm_a,
				struct lanes3 arm_b)
{
	struct lanes3 j_a = lanes3_cross(arm_a, normal), j_b = lanes3_cross(arm_b, normal);
	struct lanes3 spin_a = tensor_lanes(block->inertia_inv_a, first, j_a);
	struct lanes3 spin_b = tensor_lanes(block->inertia_inv_b, first, j_b);
	lanes k = mass_along(block, first, normal) + lanes3_dot(j_a, spin_a) +
		  lanes3_dot(j_b, spin_b);
	lanes3_store(&point->j_a, first, j_a);
	lanes3_store(&point->j_b, first, j_b);
	lanes3_store(&point->spin_a, first, spin_a);
	lanes3_store(&point->spin_b, first, spin_b);
	lanes_store(&point->mass, first, lanes_inverse(k));
}

/* m, at the start; 0 for a point that the lane does not have. */
ALWAYS_INLINE lanes half_gap(const struct soft_point *point, uint32_t first)
{
	lanes gap = lanes_load(&point->separation, first);
	return lanes_select(gap < lanes_all(SOFT_NOWHERE), gap * lanes_all(0.5f), lanes_all(0));
}

/* m²: the square of the part of an arm that rotates with its body; `height`, m, is the arm's extent
 * along the normal, of which `still` does not rotate. */
ALWAYS_INLINE lanes core_squared(struct lanes3 arm, lanes height, lanes still)
{
	lanes rest = height - still, square = lanes3_dot(arm, arm);
	lanes core = square - height * height + rest * rest;
	return lanes_select(core > square * lanes_all(ROUNDING), core, lanes_all(0));
}

/* The greatest squares over a block's points: of the rotating parts of arms, and of arms. */
struct arm_extent {
	lanes core_a, core_b, arm_a, arm_b; /* m² */
};

ALWAYS_INLINE void derive_calm(struct soft_block *block, uint32_t first,
			       const struct arm_extent *extent)
{
	lanes zero = lanes_all(0), one = lanes_all(1);
	lanes_mask moves_a = lanes_load(&block->mass_inv_a, first) > zero;
	lanes_mask moves_b = lanes_load(&block->mass_inv_b, first) > zero;
	lanes size = lanes_max(lanes_select(moves_a, extent->arm_a, zero),
			       lanes_select(moves_b, extent->arm_b, zero));
	lanes_store(&block->calm, first, size * lanes_all(CALM * CALM));
	lanes_store(&block->follows, first, lanes_select(moves_a & moves_b, one, zero));
	/* The vector part of a quaternion is half the rotation, hence 4 for its square. */
	lanes_store(&block->sway_a, first,
		    lanes_select(moves_a, extent->core_a * lanes_all(4), zero));
	lanes_store(&block->sway_b, first,
		    lanes_select(moves_b, extent->core_b * lanes_all(4), zero));
}

ALWAYS_INLINE void derive_half(struct soft_block *block, uint32_t first)
{
	struct lanes3 normal = lanes3_load(&block->normal, first);
	struct lanes3 centre = lanes3_load(&block->arm_a, first);
	lanes rounding_a = lanes_load(&block->rounding_a, first);
	lanes rounding_b = lanes_load(&block->rounding_b, first);
	struct arm_extent extent = { lanes_all(0), lanes_all(0), lanes_all(0), lanes_all(0) };
	VALIDATE(block->point_count <= MANIFOLD_POINTS_MAX);
	for (uint32_t p = 0; p < block->point_count; p++) {
		struct soft_point *point = &block->points[p];
		struct lanes3 arm_a = lanes3_load(&point->j_a, first);
		struct lanes3 arm_b = lanes3_load(&point->j_b, first);
		struct lanes3 lever = lanes3_sub(arm_a, centre);
		lanes_store(&point->lever, first, lanes_sqrt(lanes3_dot(lever, lever)));
		lanes height_a = lanes3_dot(arm_a, normal), height_b = lanes3_dot(arm_b, normal);
		lanes half = half_gap(point, first);
		extent.core_a =
			lanes_max(extent.core_a, core_squared(arm_a, height_a, rounding_a + half));
		extent.core_b =
			lanes_max(extent.core_b, core_squared(arm_b, -height_b, rounding_b + half));
		extent.arm_a = lanes_max(extent.arm_a, lanes3_dot(arm_a, arm_a));
		lanes_store(&point->height_a, first, height_a);
		lanes_store(&point->height_b, first, height_b);
		extent.arm_b = lanes_max(extent.arm_b, lanes3_dot(arm_b, arm_b));
		derive_point(block, point, first, normal, arm_a, arm_b);
	}
	derive_tangents(block, first, normal);
	derive_twist(block, first, normal);
	derive_calm(block, first, &extent);
}

static inline void derive_block(struct soft_block *block)
{
	for (uint32_t first = 0; first < BLOCK_LANES; first += LANES_WIDTH)
		derive_half(block, first);
}

/* ---- sliding ---------------------------------------------------------------------------------- */

/* Part of the distance between the ends that A's arm gets. */
ALWAYS_INLINE lanes gap_share(const struct soft_block *block, uint32_t first)
{
	lanes zero = lanes_all(0), one = lanes_all(1), half = lanes_all(0.5f);
	lanes_mask moves_a = lanes_load(&block->mass_inv_a, first) > zero;
	lanes_mask moves_b = lanes_load(&block->mass_inv_b, first) > zero;
	lanes_mask round_a = lanes_load(&block->rounding_a, first) > zero;
	lanes_mask round_b = lanes_load(&block->rounding_b, first) > zero;
	lanes by_shape = lanes_select(round_a ^ round_b, lanes_select(round_b, one, zero), half);
	return lanes_select(moves_a ^ moves_b, lanes_select(moves_b, one, zero), by_shape);
}

/* Recovers the arms of the start from J: an arm is n×J + h n. */
ALWAYS_INLINE void slide_init(const struct soft_block *block, struct soft_slide *slide,
			      uint32_t first)
{
	struct lanes3 normal = lanes3_load(&block->normal, first);
	lanes rounding_a = lanes_load(&block->rounding_a, first);
	lanes rounding_b = lanes_load(&block->rounding_b, first);
	VALIDATE(!block->slides);
	lanes3_store(&slide->normal, first, normal);
	lanes_store(&slide->share, first, gap_share(block, first));
	for (uint32_t p = 0; p < block->point_count; p++) {
		const struct soft_point *point = &block->points[p];
		lanes half = half_gap(point, first);
		lanes a = rounding_a + half, b = rounding_b + half;
		struct lanes3 flat_a = lanes3_cross(normal, lanes3_load(&point->j_a, first));
		struct lanes3 flat_b = lanes3_cross(normal, lanes3_load(&point->j_b, first));
		lanes3_store(
			&slide->points[p].core_a, first,
			lanes3_mul_add(flat_a, normal, lanes_load(&point->height_a, first) - a));
		lanes3_store(
			&slide->points[p].core_b, first,
			lanes3_mul_add(flat_b, normal, lanes_load(&point->height_b, first) + b));
		lanes_store(&slide->points[p].round_a, first, a);
		lanes_store(&slide->points[p].round_b, first, b);
	}
}

/* (turn − 1) c, formed without subtracting: 2 (w v×c + v×(v×c)). */
ALWAYS_INLINE struct lanes3 turned_by(struct lanes3 v, lanes w, struct lanes3 c)
{
	struct lanes3 u = lanes3_cross(v, c);
	struct lanes3 half = lanes3_mul_add(lanes3_cross(v, u), u, w);
	return lanes3_add(half, half);
}

/* Motion of a point's two ends against each other since the start, its gap now, and the length of n₀ +
 * x/D. */
struct point_motion {
	struct lanes3 turned_a, turned_b, apart;
	lanes gap, length;
};

ALWAYS_INLINE struct point_motion point_motion_of(const struct soft_block *block,
						  const struct soft_slide *slide, uint32_t p,
						  uint32_t first,
						  const struct relative_motion *motion, bool balls)
{
	VALIDATE(p < block->point_count);
	struct point_motion d = { 0 };
	struct lanes3 normal = lanes3_load(&slide->normal, first);
	lanes bend = lanes_load(&block->bend, first), one = lanes_all(1);
	d.apart = motion->apart;
	if (!balls) {
		d.turned_a = turned_by(motion->turn_a, motion->scalar_a,
				       lanes3_load(&slide->points[p].core_a, first));
		d.turned_b = turned_by(motion->turn_b, motion->scalar_b,
				       lanes3_load(&slide->points[p].core_b, first));
		d.apart = lanes3_add(d.apart, lanes3_sub(d.turned_b, d.turned_a));
	}
	/* |n₀ + x/D| and (that − 1) D, without cancellation. */
	lanes along = lanes3_dot(normal, d.apart), more = along + along;
	more += lanes3_dot(d.apart, d.apart) * bend;
	d.length = lanes_sqrt(lanes_max(one + more * bend, lanes_all(1e-6f)));
	d.gap = lanes_load(&block->points[p].separation, first) + more / (d.length + one);
	return d;
}

/* Updates n and the first tangent, orthogonal to it. */
ALWAYS_INLINE struct lanes3 slide_frame(struct soft_block *block, const struct soft_slide *slide,
					uint32_t first, const struct point_motion *d)
{
	lanes bend = lanes_load(&block->bend, first), one = lanes_all(1);
	struct lanes3 normal = lanes3_load(&slide->normal, first);
	normal = lanes3_scale(lanes3_mul_add(normal, d->apart, bend), one / d->length);
	struct lanes3 t = lanes3_load(&block->tangent, first);
	t = lanes3_mul_sub(t, normal, lanes3_dot(normal, t));
	lanes square = lanes3_dot(t, t);
	lanes_mask some = square > lanes_all(0);
	t = lanes3_scale(
		t, lanes_select(some, one / lanes_sqrt(lanes_select(some, square, one)), one));
	lanes3_store(&block->normal, first, normal);
	lanes3_store(&block->tangent, first, t);
	return normal;
}

/* Slips at the new friction centre, of the velocities at the start. */
ALWAYS_INLINE void slide_slips(const struct soft_step *step, struct soft_block *block,
			       uint32_t first, struct lanes3 normal, struct lanes3 w_a,
			       struct lanes3 w_b)
{
	struct lanes3 t1 = lanes3_load(&block->tangent, first), t2 = lanes3_cross(normal, t1);
	struct lanes3 at_a = lanes3_cross(w_a, lanes3_load(&block->arm_a, first));
	struct lanes3 at_b = lanes3_cross(w_b, lanes3_load(&block->arm_b, first));
	struct lanes3 slip = lanes3_add(lanes3_load(&block->drift, first), lanes3_sub(at_b, at_a));
	if (block->belts)
		slip = lanes3_add(slip,
				  lanes3_load(&step->roughs[block - step->blocks].belt, first));
	lanes_store(&block->slip[0], first, lanes3_dot(slip, t1));
	lanes_store(&block->slip[1], first, lanes3_dot(slip, t2));
	lanes_store(&block->spin_slip, first, lanes3_dot(normal, lanes3_sub(w_b, w_a)));
}

/* Copies the rotated inertia of a body with a soft_turn into its lane. */
static inline void load_inertia(const struct soft_step *step, uint32_t number, struct lane8 to[6],
				uint32_t lane)
{
	VALIDATE(number <= step->body_count && lane < BLOCK_LANES);
	if (step->drives[number].spins)
		for (uint32_t i = 0; i < 6; i++)
			to[i].at[lane] = step->turns[number].inertia_inv.at[i];
}

static inline void measure_sliding(const struct soft_step *step, struct soft_block *block,
				   const struct soft_slide *slide, uint32_t first,
				   const struct relative_motion *motion, bool balls)
{
	VALIDATE(block->slides);
	const uint32_t *a = &block->body_a[first], *b = &block->body_b[first];
	struct lanes3 w_a = GATHER(step->drives, a, spin), w_b = GATHER(step->drives, b, spin);
	struct lanes3 drift = lanes3_load(&block->drift, first), normal = { 0 };
	struct lanes3 start = lanes3_load(&slide->normal, first);
	struct lanes3 centre_a = { 0 }, centre_b = { 0 };
	lanes share = lanes_load(&slide->share, first), rest = lanes_all(1) - share;
	for (uint32_t i = 0; i < LANES_WIDTH && block->spins; i++) {
		load_inertia(step, a[i], block->inertia_inv_a, first + i);
		load_inertia(step, b[i], block->inertia_inv_b, first + i);
	}
	for (uint32_t p = 0; p < block->point_count; p++) {
		struct soft_point *point = &block->points[p];
		struct point_motion d = point_motion_of(block, slide, p, first, motion, balls);
		if (p == 0)
			normal = slide_frame(block, slide, first, &d);
		lanes round_a = lanes_load(&slide->points[p].round_a, first);
		lanes round_b = lanes_load(&slide->points[p].round_b, first);
		lanes weight = lanes_load(&point->weight, first);
		struct lanes3 tilt = lanes3_sub(normal, start);
		struct lanes3 apart = lanes3_mul_sub(d.apart, tilt, round_a + round_b);
		struct lanes3 arm_a =
			lanes3_add(lanes3_load(&slide->points[p].core_a, first), d.turned_a);
		struct lanes3 arm_b =
			lanes3_add(lanes3_load(&slide->points[p].core_b, first), d.turned_b);
		arm_a = lanes3_mul_add(lanes3_mul_add(arm_a, normal, round_a), apart, share);
		arm_b = lanes3_mul_sub(lanes3_mul_sub(arm_b, normal, round_b), apart, rest);
		centre_a = lanes3_mul_add(centre_a, arm_a, weight);
		centre_b = lanes3_mul_add(centre_b, arm_b, weight);
		if (!balls)
			derive_point(block, point, first, normal, arm_a, arm_b);
		lanes_store(&point->gap, first, d.gap);
		lanes_store(&point->approach, first,
			    lanes3_dot(normal, drift) +
				    (lanes3_dot(lanes3_load(&point->j_b, first), w_b) -
				     lanes3_dot(lanes3_load(&point->j_a, first), w_a)));
	}
	lanes3_store(&block->arm_a, first, centre_a);
	lanes3_store(&block->arm_b, first, centre_b);
	if (!balls) {
		derive_twist(block, first, normal);
		derive_tangents(block, first, normal);
	}
	slide_slips(step, block, first, normal, w_a, w_b);
}

/* ---- residual --------------------------------------------------------------------------------- */

/* m/s: the greatest speed at which touching points with an impulse still close or separate. */
static inline float residual_of(const struct soft_step *step, const struct soft_block *block)
{
	lanes zero = lanes_all(0), most = zero;
	for (uint32_t first = 0; first < BLOCK_LANES; first += LANES_WIDTH) {
		struct sides s = sides_gather(step->bodies, block, first);
		struct lanes3 normal = lanes3_load(&block->normal, first);
		for (uint32_t p = 0; p < block->point_count; p++) {
			const struct soft_point *point = &block->points[p];
			lanes speed = normal_speed(&s, point, first, normal);
			lanes_mask counts = (lanes_load(&point->impulse, first) > zero) &
					    (lanes_load(&point->gap, first) <= zero);
			speed = lanes_select(counts, lanes_max(speed, -speed), zero);
			most = lanes_max(most, speed);
		}
	}
	float greatest = 0;
	LANES_UNROLL
	for (uint32_t lane = 0; lane < LANES_WIDTH; lane++)
		greatest = MAX_OF(greatest, most[lane]);
	return greatest;
}

#endif
