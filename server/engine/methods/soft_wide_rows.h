/* soft_wide_rows.h: makes the rows of blocks of joints at the present motions, LANES_WIDTH / 2 doubles at a
 * time; and sums of impulses. Included by soft_wide_passes.h. Balls, whose rows are the three axes along, are
 * the arithmetic of constraint_joint; rows of other joints are taken from these, which
 * soft_joint_rows.c has made. */
#ifndef CAIRN_ENGINE_METHODS_SOFT_WIDE_ROWS_H
#define CAIRN_ENGINE_METHODS_SOFT_WIDE_ROWS_H

#include "server/engine/methods/soft_wide_lanes.h"

/* As in struct body_motion. */
struct lanes_motion {
	struct wide3 centre;
	struct wide4 rotation;
	struct wide3 velocity, spin;
};

ALWAYS_INLINE struct wide3 wide3_load(const struct wide8 from[3], uint32_t first)
{
	return (struct wide3){ wide_load(&from[0], first), wide_load(&from[1], first),
			       wide_load(&from[2], first) };
}

ALWAYS_INLINE void wide3_store(struct wide8 to[3], uint32_t first, struct wide3 v)
{
	wide_store(&to[0], first, v.x);
	wide_store(&to[1], first, v.y);
	wide_store(&to[2], first, v.z);
}

ALWAYS_INLINE struct lanes_motion gather_motion_lanes(const struct body_motion *const *motions)
{
	enum { NUMBERS = 13 };
	_Static_assert(sizeof(struct body_motion) == NUMBERS * sizeof(double), "all numbers");
	const double *from[WIDE];
	wide n[NUMBERS];
	LANES_UNROLL
	for (uint32_t i = 0; i < WIDE; i++)
		from[i] = (const double *)(const void *)motions[i];
	wide_gather(from, NUMBERS, n);
	return (struct lanes_motion){ { n[0], n[1], n[2] },
				      { n[3], n[4], n[5], n[6] },
				      { n[7], n[8], n[9] },
				      { n[10], n[11], n[12] } };
}

/* Two bodies of each lane: motions, and from their mass centres to the anchors. */
struct lanes_pair {
	struct lanes_motion a, b;
	struct wide3 arm_a, arm_b;
};

/* As move_impulses_to_anchor; and the arms of a tree's anchors. */
ALWAYS_INLINE void move_lanes(struct wide_block *block, uint32_t first, const struct lanes_pair *at)
{
	struct wide_joint *more = block->more;
	struct wide3 linear = wide3_load(more->pushed, first);
	struct wide3 angular = wide3_load(&more->pushed[3], first);
	struct wide3 turning =
		wide3_sub(angular, wide3_cross(wide3_load(more->arm, first), linear));
	const wide sum[6] = { linear.x, linear.y, linear.z, turning.x, turning.y, turning.z };
	wide_add_stored(more->total_pushed, first, sum);
	LANES_UNROLL
	for (uint32_t c = 0; c < 6; c++)
		wide_store(&more->pushed[c], first, wide_all(0));
	struct wide3 anchor_b = wide3_add(at->b.centre, at->arm_b);
	struct wide3 on = wide3_select(wide_bits(block->has_b, first), at->b.centre, at->a.centre);
	wide3_store(more->arm, first, wide3_sub(anchor_b, on));
	if (block->loose)
		return;
	struct wide3 anchor_a = wide3_add(at->a.centre, at->arm_a);
	wide3_store(more->arm_a, first, wide3_sub(anchor_a, at->a.centre));
	wide3_store(more->arm_b, first, wide3_sub(anchor_b, at->b.centre));
}

ALWAYS_INLINE struct wide3 wide_centripetal(struct wide3 spin, struct wide3 arm)
{
	return wide3_cross(spin, wide3_cross(spin, arm));
}

/* J of a coordinate along `axis` on a side; 0 for a side without a body. */
ALWAYS_INLINE void write_along(struct wide8 on[6], uint32_t first, wide_mask has, struct wide3 arm,
			       struct wide3 axis)
{
	struct wide3 about = wide3_cross(arm, axis), zero = { { 0 }, { 0 }, { 0 } };
	wide3_store(on, first, wide3_select(has, axis, zero));
	wide3_store(&on[3], first, wide3_select(has, about, zero));
}

/* As find_anchors and add_locked_rows of constraint_joint, at the level of accelerations, and
 * measure_joint. Returns the largest gap. */
ALWAYS_INLINE wide ball_rows(const struct wide_measure *measure, struct wide_block *block,
			     uint32_t first, const struct lanes_pair *at)
{
	const struct lanes_motion *a = &at->a, *b = &at->b;
	const struct wide_joint *more = block->more;
	struct wide4 frame = { wide_load(&more->frame_a[0], first),
			       wide_load(&more->frame_a[1], first),
			       wide_load(&more->frame_a[2], first),
			       wide_load(&more->frame_a[3], first) };
	struct wide_mat3 turn = wide_mat3_from_quat(wide4_mul(a->rotation, frame));
	const struct wide3 axes[3] = { turn.x, turn.y, turn.z };
	struct wide3 reach = wide3_add(wide3_sub(b->centre, a->centre), at->arm_b);
	struct wide3 apart = wide3_sub(reach, at->arm_a);
	struct wide3 speed = wide3_sub(wide3_add(b->velocity, wide3_cross(b->spin, at->arm_b)),
				       wide3_add(a->velocity, wide3_cross(a->spin, at->arm_a)));
	struct wide3 turning = wide3_sub(wide_centripetal(b->spin, at->arm_b),
					 wide_centripetal(a->spin, at->arm_a));
	struct wide3 falls =
		wide3_sub(wide3_cross(a->spin, apart), wide3_scale(speed, wide_all(2)));
	struct wide3 bend = wide3_add(turning, wide3_cross(a->spin, falls));
	wide most = wide_all(measure->push_speed), open = wide_all(0);
	wide_mask has_a = wide_bits(block->has_a, first), has_b = wide_bits(block->has_b, first);
	LANES_UNROLL
	for (uint32_t r = 0; r < 3; r++) {
		struct wide_row *row = &block->row[r];
		wide gap = wide3_dot(axes[r], apart) - wide_load(&more->at[r], first);
		wide rate = wide_all(measure->bias_rate) * gap;
		wide bias = wide_clamp(rate, -most, most) +
			    wide_all(measure->half) * wide3_dot(axes[r], bend);
		open = wide_max(open, wide_abs(gap));
		write_along(row->on_a, first, has_a, reach, wide3_negate(axes[r]));
		write_along(row->on_b, first, has_b, at->arm_b, axes[r]);
		wide_store(&row->bias, first, bias);
	}
	return open;
}

/* Takes the rows that soft_joint_rows.c has made in the joints. Returns their largest gap. */
ALWAYS_INLINE wide take_rows(const struct wide_measure *measure, struct wide_block *block,
			     uint32_t first)
{
	_Static_assert(sizeof(struct soft_row) == 12 * sizeof(double), "a row is twelve numbers");
	_Static_assert((int)SOFT_LOCKS_MAX >= (int)PART, "biases are gathered together");
	const struct soft_joint *joints[WIDE];
	const double *from[WIDE];
	wide on[12], bias[SOFT_LOCKS_MAX], open = { 0 };
	wide_mask used = wide_bits((1u << block->lanes) - 1, first);
	LANES_UNROLL
	for (uint32_t i = 0; i < WIDE; i++) {
		uint32_t lane = first + i < block->lanes ? first + i : 0;
		joints[i] = &measure->joints->items[block->number[lane]];
		from[i] = joints[i]->bias;
		open[i] = joints[i]->open;
	}
	wide_gather(from, MAX_OF(block->rows, (uint32_t)PART), bias);
	for (uint32_t r = 0; r < block->rows; r++) {
		LANES_UNROLL
		for (uint32_t i = 0; i < WIDE; i++)
			from[i] = (const double *)(const void *)&joints[i]->locks[r];
		wide_gather(from, 12, on);
		LANES_UNROLL
		for (uint32_t c = 0; c < 6; c++) {
			wide_store(&block->row[r].on_a[c], first,
				   wide_select(used, on[c], wide_all(0)));
			wide_store(&block->row[r].on_b[c], first,
				   wide_select(used, on[6 + c], wide_all(0)));
		}
		wide_store(&block->row[r].bias, first, bias[r]);
	}
	return open;
}

static inline uint32_t wide_measure(const struct wide_measure *measure, struct wide_block *block)
{
	uint32_t fast = 0;
	wide open = wide_all(0), dt = wide_all(measure->dt);
	for (uint32_t first = 0; first < block->lanes; first += WIDE) {
		struct lanes_pair at = { .a = gather_motion_lanes(&block->motion_a[first]),
					 .b = gather_motion_lanes(&block->motion_b[first]) };
		at.arm_a = wide4_rotate(at.a.rotation, wide3_load(block->more->point_a, first));
		at.arm_b = wide4_rotate(at.b.rotation, wide3_load(block->more->point_b, first));
		move_lanes(block, first, &at);
		wide most = block->balls ? ball_rows(measure, block, first, &at)
					 : take_rows(measure, block, first);
		most = wide_select(wide_bits((1u << block->lanes) - 1, first), most, wide_all(0));
		wide_store(&block->more->open, first, most);
		open = wide_max(open, most);
		struct wide3 spin = wide3_sub(at.b.spin, at.a.spin);
		wide turn = wide3_dot(spin, spin) * dt * dt;
		fast |= bits_of(~(turn <= wide_all(SOFT_TURN_FAST)), first);
	}
	block->open = 0;
	LANES_UNROLL
	for (uint32_t i = 0; i < WIDE; i++)
		block->open = scalar_max(block->open, open[i]);
	return block->balls ? fast & ((1u << block->lanes) - 1) : 0;
}

/* ---- stiffness ------------------------------------------------------------------------------ */

/* As add_stiffness, of one side. */
ALWAYS_INLINE void tighten_side(struct soft_joints *joints, const uint32_t *index, uint32_t writes,
				struct wide3 pull, struct wide3 arm, wide h)
{
	wide stiff = h * wide3_dot(pull, arm), s[6], one = wide_all(1);
	wide_mask some = stiff > wide_all(0);
	uint32_t bits = bits_of(some, 0) & writes;
	if (bits == 0)
		return;
	wide along = stiff / wide_select(some, wide3_dot(arm, arm), one);
	GATHER_BODIES(joints, index, stiff, 6, s);
	s[0] += stiff - along * arm.x * arm.x;
	s[1] += stiff - along * arm.y * arm.y;
	s[2] += stiff - along * arm.z * arm.z;
	s[3] += -along * arm.x * arm.y;
	s[4] += -along * arm.y * arm.z;
	s[5] += -along * arm.z * arm.x;
	SCATTER_BODIES(joints, index, bits, stiff, 6, s);
}

static inline void wide_tighten(struct soft_joints *joints, const struct wide_block *block,
				double h)
{
	const struct wide_joint *more = block->more;
	for (uint32_t first = 0; first < block->lanes; first += WIDE) {
		struct wide3 pull = wide3_load(more->pull, first);
		tighten_side(joints, &block->a[first], block->moves_a >> first, wide3_negate(pull),
			     wide3_load(more->arm_a, first), wide_all(h));
		tighten_side(joints, &block->b[first], block->moves_b >> first, pull,
			     wide3_load(more->arm_b, first), wide_all(h));
	}
}

/* ---- sums ----------------------------------------------------------------------------------- */

/* As soft_joint_take_pull. */
ALWAYS_INLINE void take_pull_lanes(struct wide_block *block, uint32_t first)
{
	struct wide_joint *more = block->more;
	struct wide3 sum =
		wide3_add(wide3_load(more->total_pushed, first), wide3_load(more->pushed, first));
	struct wide3 since = wide3_sub(sum, wide3_load(more->pull_before, first));
	wide3_store(more->pull_before, first, sum);
	wide3_store(more->pull, first,
		    wide3_select(wide_bits(block->has_b, first), since, wide3_negate(since)));
}

static inline void wide_add_totals(struct wide_block *block)
{
	for (uint32_t first = 0; first < block->lanes; first += WIDE) {
		if (!block->loose)
			take_pull_lanes(block, first);
		for (uint32_t r = 0; r < block->rows; r++) {
			struct wide_row *row = &block->row[r];
			wide_store(&row->total, first,
				   wide_load(&row->total, first) + wide_load(&row->impulse, first));
		}
	}
}

static inline double wide_residual(const struct soft_joints *joints, const struct wide_block *block)
{
	wide most = wide_all(0);
	for (uint32_t first = 0; first < block->lanes; first += WIDE) {
		wide a[6], b[6];
		struct lanes_row on[SOFT_LOCKS_MAX];
		load_rows(block, first, block->rows, on);
		GATHER_BODIES(joints, &block->a[first], velocity, 6, a);
		GATHER_BODIES(joints, &block->b[first], velocity, 6, b);
		for (uint32_t r = 0; r < block->rows; r++)
			most = wide_max(most, wide_abs(wide_speed(on[r].on_a, a) +
						       wide_speed(on[r].on_b, b)));
	}
	double greatest = 0;
	LANES_UNROLL
	for (uint32_t i = 0; i < WIDE; i++)
		greatest = scalar_max(greatest, most[i]);
	return greatest;
}

#endif
