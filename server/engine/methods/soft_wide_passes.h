/* soft_wide_passes.h: defines the passes over blocks of joints for LANES_WIDTH / 2 doubles. A file per
 * width includes it, by soft_passes.h. Each is the arithmetic of soft_joint_tree.c, soft_joint_rows.c and
 * soft_joint.c, lane by lane and in their order, so bits are equal. */
#ifndef CAIRN_ENGINE_METHODS_SOFT_WIDE_PASSES_H
#define CAIRN_ENGINE_METHODS_SOFT_WIDE_PASSES_H

#include "server/engine/methods/soft_wide_rows.h"

/* Runs call(rows) over the lanes of a block; the usual numbers of rows are constants, so that loops over
 * rows unroll. */
#define WIDE_BLOCK(block, call)                                                                    \
	for (uint32_t first = 0; first < (block)->lanes; first += WIDE) {                          \
		if ((block)->rows == 3)                                                            \
			call(3);                                                                   \
		else if ((block)->rows == 5)                                                       \
			call(5);                                                                   \
		else                                                                               \
			call((block)->rows);                                                       \
	}

enum { FACTOR_MAX = SOFT_LOCKS_MAX * (SOFT_LOCKS_MAX - 1) / 2 };

/* L and 1/D of the lanes. */
struct lanes_factor {
	wide l[FACTOR_MAX], pivot_inv[SOFT_LOCKS_MAX];
};

ALWAYS_INLINE void load_factor(const struct wide_block *block, uint32_t first, uint32_t rows,
			       struct lanes_factor *out)
{
	for (uint32_t i = 0; i < rows * (rows - 1) / 2; i++)
		out->l[i] = wide_load(&block->factor[i], first);
	for (uint32_t i = 0; i < rows; i++)
		out->pivot_inv[i] = wide_load(&block->row[i].pivot_inv, first);
}

ALWAYS_INLINE void load_reach(const struct wide_block *block, uint32_t first, uint32_t row,
			      wide out[6])
{
	LANES_UNROLL
	for (uint32_t c = 0; c < 6; c++)
		out[c] = wide_load(&block->reach[6 * row + c], first);
}

/* x ← K⁻¹ x, as soft_joint_solve_factored. */
ALWAYS_INLINE void solve_lanes(const struct lanes_factor *factor, uint32_t rows, wide *x)
{
	const wide *l = factor->l;
	for (uint32_t i = 1; i < rows; i++) {
		for (uint32_t k = 0; k < i; k++)
			x[i] -= l[k] * x[k];
		l += i;
	}
	for (uint32_t i = 0; i < rows; i++)
		x[i] *= factor->pivot_inv[i];
	for (uint32_t i = rows; i-- > 1;) {
		l -= i;
		for (uint32_t k = 0; k < i; k++)
			x[k] -= l[k] * x[i];
	}
}

/* ---- factors -------------------------------------------------------------------------------- */

/* Traces of M⁻¹ of each lane's body, for response_scale. */
ALWAYS_INLINE void gather_traces(const struct soft_joints *joints, const uint32_t *index,
				 wide *linear, wide *angular)
{
	wide mass[9]; /* mass_inv, then inertia_inv: xx yy zz first */
	GATHER_BODIES(joints, index, mass_inv, 9, mass);
	*linear = mass[0] + mass[1] + mass[2];
	*angular = mass[3] + mass[4] + mass[5];
}

ALWAYS_INLINE wide scale_on(const wide on[6], wide linear, wide angular)
{
	return (on[0] * on[0] + on[1] * on[1] + on[2] * on[2]) * linear +
	       (on[3] * on[3] + on[4] * on[4] + on[5] * on[5]) * angular;
}

/* As soft_joint_factor; k: the rows of the lower half. */
ALWAYS_INLINE void factor_lanes(const struct soft_joints *joints, struct wide_block *block,
				uint32_t first, uint32_t rows, const struct lanes_row *on,
				const wide *k, struct lanes_factor *out)
{
	wide *l = out->l, row[SOFT_LOCKS_MAX], zero = wide_all(0), one = wide_all(1);
	wide linear_a, angular_a, linear_b, angular_b;
	gather_traces(joints, &block->a[first], &linear_a, &angular_a);
	gather_traces(joints, &block->b[first], &linear_b, &angular_b);
	for (uint32_t i = 0; i < rows; i++) {
		const wide *above = out->l;
		wide pivot = k[i];
		for (uint32_t j = 0; j < i; j++) {
			row[j] = k[j];
			for (uint32_t m = 0; m < j; m++)
				row[j] -= row[m] * above[m];
			above += j;
		}
		for (uint32_t j = 0; j < i; j++) {
			l[j] = row[j] * out->pivot_inv[j];
			pivot -= l[j] * row[j];
		}
		wide scale = scale_on(on[i].on_a, linear_a, angular_a) +
			     scale_on(on[i].on_b, linear_b, angular_b);
		wide_mask usable = pivot > wide_all(SOFT_PIVOT_MIN) * scale;
		out->pivot_inv[i] =
			wide_select(usable, one / wide_select(usable, pivot, one), zero);
		l += i;
		k += i + 1;
	}
	for (uint32_t i = 0; i < rows * (rows - 1) / 2; i++)
		wide_store(&block->factor[i], first, out->l[i]);
	for (uint32_t i = 0; i < rows; i++)
		wide_store(&block->row[i].pivot_inv, first, out->pivot_inv[i]);
}

/* M⁻¹ of an impulse on a body without joints; m: its mass_inv, then inertia_inv: xx yy zz xy yz zx. */
ALWAYS_INLINE void respond_free(const wide m[9], const wide on[6], wide out[6])
{
	struct wide_sym3 inertia_inv = { m[3], m[4], m[5], m[6], m[7], m[8] };
	struct wide3 turning = wide_sym3_apply(&inertia_inv, (struct wide3){ on[3], on[4], on[5] });
	LANES_UNROLL
	for (uint32_t c = 0; c < 3; c++)
		out[c] = m[c] * on[c];
	out[3] = turning.x;
	out[4] = turning.y;
	out[5] = turning.z;
}

/* W_p − Tᵀ D⁻¹ T, as reduce_response; x: T, which becomes L⁻¹ T. */
ALWAYS_INLINE void reduce_lanes(const struct lanes_factor *factor, uint32_t rows, wide x[][6],
				wide w[36])
{
	const wide *l = factor->l;
	for (uint32_t i = 0; i < rows; i++) {
		for (uint32_t k = 0; k < i; k++)
			LANES_UNROLL
		for (uint32_t c = 0; c < 6; c++)
			x[i][c] -= l[k] * x[k][c];
		l += i;
		LANES_UNROLL
		for (uint32_t r = 0; r < 6; r++) {
			wide scaled = x[i][r] * factor->pivot_inv[i];
			LANES_UNROLL
			for (uint32_t c = 0; c < 6; c++)
				w[6 * c + r] -= scaled * x[i][c];
		}
	}
}

/* A row of W, whose numbers are six apart, times J. */
ALWAYS_INLINE wide wide_column_dot(const wide *w, const wide on[6])
{
	return w[0] * on[0] + w[6] * on[1] + w[12] * on[2] + w[18] * on[3] + w[24] * on[4] +
	       w[30] * on[5];
}

/* answers = W J; k += J W Jᵀ, the rows of its lower half. */
ALWAYS_INLINE void respond_lanes(const wide w[36], const struct lanes_row *on, bool side_b,
				 uint32_t rows, wide answers[][6], wide *k)
{
	for (uint32_t i = 0; i < rows; i++) {
		LANES_UNROLL
		for (uint32_t r = 0; r < 6; r++)
			answers[i][r] = wide_column_dot(&w[r], side_b ? on[i].on_b : on[i].on_a);
		for (uint32_t j = 0; j <= i; j++)
			k[j] += wide_dot(side_b ? on[j].on_b : on[j].on_a, answers[i]);
		k += i + 1;
	}
}

/* As branch_derive, without other rows. */
ALWAYS_INLINE void factor_loose(struct soft_joints *joints, struct wide_block *block,
				uint32_t first, uint32_t rows)
{
	wide k[SOFT_LOCKS_MAX * (SOFT_LOCKS_MAX + 1) / 2], *to = k, m_a[9], m_b[9];
	struct lanes_row on[SOFT_LOCKS_MAX];
	struct lanes_factor factor;
	load_rows(block, first, rows, on);
	GATHER_BODIES(joints, &block->a[first], mass_inv, 9, m_a);
	GATHER_BODIES(joints, &block->b[first], mass_inv, 9, m_b);
	for (uint32_t i = 0; i < rows; i++) {
		wide answer_a[6], answer_b[6];
		respond_free(m_a, on[i].on_a, answer_a);
		respond_free(m_b, on[i].on_b, answer_b);
		for (uint32_t j = 0; j <= i; j++)
			to[j] = wide_speed(on[j].on_a, answer_a) + wide_speed(on[j].on_b, answer_b);
		to += i + 1;
	}
	factor_lanes(joints, block, first, rows, on, k, &factor);
	for (uint32_t i = 0; i < rows; i++) {
		wide impulse = wide_load(&block->row[i].impulse, first);
		wide_mask none = factor.pivot_inv[i] == wide_all(0);
		wide_store(&block->row[i].impulse, first, wide_select(none, wide_all(0), impulse));
	}
}

/* As factor_branch. */
ALWAYS_INLINE void factor_rows(struct soft_joints *joints, struct wide_block *block, uint32_t first,
			       uint32_t rows)
{
	const uint32_t *child = &(block->child_b ? block->b : block->a)[first];
	const uint32_t *parent = &(block->child_b ? block->a : block->b)[first];
	wide k[SOFT_LOCKS_MAX * (SOFT_LOCKS_MAX + 1) / 2], w[36], reach[SOFT_LOCKS_MAX][6];
	struct lanes_row on[SOFT_LOCKS_MAX];
	struct lanes_factor factor;
	for (uint32_t i = 0; i < rows * (rows + 1) / 2; i++)
		k[i] = -wide_all(0); /* −0 + x is x, whatever its sign */
	load_rows(block, first, rows, on);
	GATHER_BODIES(joints, child, response, 36, w);
	respond_lanes(w, on, block->child_b, rows, reach, k);
	if (block->moves_parent) {
		GATHER_BODIES(joints, parent, response, 36, w);
		respond_lanes(w, on, !block->child_b, rows, reach, k);
	}
	for (uint32_t i = 0, at = 0; i < rows; at += ++i + 1)
		k[at] += wide_all(0); /* soft_joint_compliance of a locked row */
	factor_lanes(joints, block, first, rows, on, k, &factor);
	if (!block->moves_parent)
		return;
	for (uint32_t i = 0; i < rows; i++)
		LANES_UNROLL
	for (uint32_t c = 0; c < 6; c++)
		wide_store(&block->reach[6 * i + c], first, reach[i][c]);
	reduce_lanes(&factor, rows, reach, w);
	SCATTER_BODIES(joints, parent, (block->child_b ? block->moves_a : block->moves_b) >> first,
		       response, 36, w);
}

static void wide_factor(struct soft_joints *joints, struct wide_block *block)
{
#define FACTOR_ROWS(n) factor_rows(joints, block, first, n)
#define FACTOR_LOOSE(n) factor_loose(joints, block, first, n)
	if (block->loose) {
		WIDE_BLOCK(block, FACTOR_LOOSE)
	} else {
		WIDE_BLOCK(block, FACTOR_ROWS)
	}
#undef FACTOR_ROWS
#undef FACTOR_LOOSE
}

/* ---- trees ---------------------------------------------------------------------------------- */

/* As set_targets. */
ALWAYS_INLINE
void target_lanes(const struct soft_pass *pass, const struct wide_block *block, uint32_t first,
		  uint32_t rows, const struct lanes_row *on, wide *target)
{
	wide a[6], b[6];
	for (uint32_t i = 0; i < rows; i++)
		target[i] = wide_all(0);
	if (!pass->biased)
		return;
	GATHER_BODIES(pass->joints, &block->a[first], velocity, 6, a);
	GATHER_BODIES(pass->joints, &block->b[first], velocity, 6, b);
	for (uint32_t i = 0; i < rows; i++) {
		wide speed = wide_speed(on[i].on_a, a) + wide_speed(on[i].on_b, b);
		wide bias = wide_load(&block->row[i].bias, first);
		target[i] = speed - wide_all(pass->mass_scale) * (speed + bias);
	}
}

/* As set_right_sides and eliminate_upward. */
ALWAYS_INLINE void upward_rows(const struct soft_pass *pass, struct wide_block *block,
			       uint32_t first, uint32_t rows)
{
	struct soft_joints *joints = pass->joints;
	wide a[6], b[6], x[SOFT_LOCKS_MAX];
	struct lanes_row on[SOFT_LOCKS_MAX];
	struct lanes_factor factor;
	load_rows(block, first, rows, on);
	load_factor(block, first, rows, &factor);
	target_lanes(pass, block, first, rows, on, x);
	GATHER_BODIES(joints, &block->a[first], trial, 6, a);
	GATHER_BODIES(joints, &block->b[first], trial, 6, b);
	for (uint32_t i = 0; i < rows; i++)
		x[i] = x[i] - wide_speed(on[i].on_a, a) - wide_speed(on[i].on_b, b);
	solve_lanes(&factor, rows, x);
	for (uint32_t i = 0; i < rows; i++)
		wide_store(&block->row[i].change, first, x[i]);
	if (!block->moves_parent)
		return;
	wide *parent = block->child_b ? a : b;
	for (uint32_t i = 0; i < rows; i++) {
		wide reach[6];
		load_reach(block, first, i, reach);
		wide_add(parent, reach, x[i]);
	}
	SCATTER_BODIES(joints, &(block->child_b ? block->a : block->b)[first],
		       (block->child_b ? block->moves_a : block->moves_b) >> first, trial, 6,
		       parent);
}

static void wide_upward(const struct soft_pass *pass, struct wide_block *block){
#define UPWARD_ROWS(n) upward_rows(pass, block, first, n)
	WIDE_BLOCK(block, UPWARD_ROWS)
#undef UPWARD_ROWS
}

/* Adds to each lane's joint the impulses of its rows, and what its bodies get. */
ALWAYS_INLINE void add_to_joints(struct wide_block *block, uint32_t first, uint32_t rows,
				 const wide *change, const wide *on_a, const wide *on_b)
{
	wide_mask has_b = wide_bits(block->has_b, first), acted = { 0 };
	wide on[6];
	for (uint32_t r = 0; r < rows; r++) {
		wide impulse = wide_load(&block->row[r].impulse, first) + change[r];
		wide_store(&block->row[r].impulse, first, impulse);
		acted |= change[r] != wide_all(0);
		if (block->loose)
			acted |= impulse != wide_all(0);
	}
	LANES_UNROLL
	for (uint32_t c = 0; c < 6; c++)
		on[c] = wide_select(has_b, on_b[c], on_a[c]);
	wide_add_stored(block->more->pushed, first, on);
	block->acted |= (uint8_t)bits_of(acted, first);
}

/* As substitute_downward, and what apply_solution does to a joint. */
ALWAYS_INLINE void downward_rows(struct soft_joints *joints, struct wide_block *block,
				 uint32_t first, uint32_t rows)
{
	wide change[SOFT_LOCKS_MAX], a[6], b[6], on_a[6], on_b[6];
	struct lanes_row on[SOFT_LOCKS_MAX];
	load_rows(block, first, rows, on);
	GATHER_BODIES(joints, &block->a[first], impulse, 6, a);
	GATHER_BODIES(joints, &block->b[first], impulse, 6, b);
	for (uint32_t i = 0; i < rows; i++)
		change[i] = wide_load(&block->row[i].change, first);
	if (block->moves_parent) {
		wide x[SOFT_LOCKS_MAX];
		struct lanes_factor factor;
		load_factor(block, first, rows, &factor);
		for (uint32_t i = 0; i < rows; i++) {
			wide reach[6];
			load_reach(block, first, i, reach);
			x[i] = wide_dot(block->child_b ? a : b, reach);
		}
		solve_lanes(&factor, rows, x);
		for (uint32_t i = 0; i < rows; i++)
			change[i] -= x[i];
	}
	LANES_UNROLL
	for (uint32_t c = 0; c < 6; c++)
		on_a[c] = on_b[c] = wide_all(0);
	for (uint32_t i = 0; i < rows; i++) {
		wide_add(on_a, on[i].on_a, change[i]);
		wide_add(on_b, on[i].on_b, change[i]);
	}
	LANES_UNROLL
	for (uint32_t c = 0; c < 6; c++) {
		a[c] += on_a[c];
		b[c] += on_b[c];
	}
	SCATTER_BODIES(joints, &block->a[first], block->moves_a >> first, impulse, 6, a);
	SCATTER_BODIES(joints, &block->b[first], block->moves_b >> first, impulse, 6, b);
	add_to_joints(block, first, rows, change, on_a, on_b);
}

static void wide_downward(struct soft_joints *joints, struct wide_block *block){
#define DOWNWARD_ROWS(n) downward_rows(joints, block, first, n)
	WIDE_BLOCK(block, DOWNWARD_ROWS)
#undef DOWNWARD_ROWS
}

/* ---- loose joints --------------------------------------------------------------------------- */

/* v ← v + M⁻¹ of an impulse, as soft_jointed_apply. */
ALWAYS_INLINE void apply_lanes(struct soft_joints *joints, const uint32_t *index, uint32_t writes,
			       const wide on[6], wide v[6])
{
	wide m[9], answer[6];
	GATHER_BODIES(joints, index, mass_inv, 9, m);
	respond_free(m, on, answer);
	LANES_UNROLL
	for (uint32_t c = 0; c < 6; c++)
		v[c] += answer[c];
	SCATTER_BODIES(joints, index, writes, velocity, 6, v);
}

/* As soft_joint_warm of a loose joint. */
ALWAYS_INLINE void warm_rows(struct soft_joints *joints, struct wide_block *block, uint32_t first,
			     uint32_t rows)
{
	wide a[6], b[6], on_a[6], on_b[6], impulse[SOFT_LOCKS_MAX];
	wide_mask any = { 0 };
	for (uint32_t i = 0; i < rows; i++) {
		impulse[i] = wide_load(&block->row[i].impulse, first);
		any |= impulse[i] != wide_all(0);
	}
	uint32_t bits = bits_of(any, 0);
	if (bits == 0)
		return;
	struct lanes_row on[SOFT_LOCKS_MAX];
	load_rows(block, first, rows, on);
	LANES_UNROLL
	for (uint32_t c = 0; c < 6; c++)
		on_a[c] = on_b[c] = wide_all(0);
	for (uint32_t i = 0; i < rows; i++) {
		wide_add(on_a, on[i].on_a, impulse[i]);
		wide_add(on_b, on[i].on_b, impulse[i]);
	}
	GATHER_BODIES(joints, &block->a[first], velocity, 6, a);
	GATHER_BODIES(joints, &block->b[first], velocity, 6, b);
	apply_lanes(joints, &block->a[first], block->moves_a >> first & bits, on_a, a);
	apply_lanes(joints, &block->b[first], block->moves_b >> first & bits, on_b, b);
	wide_mask has_b = wide_bits(block->has_b, first);
	LANES_UNROLL
	for (uint32_t c = 0; c < 6; c++) {
		struct wide8 *pushed = &block->more->pushed[c];
		wide before = wide_load(pushed, first);
		wide after = before + wide_select(has_b, on_b[c], on_a[c]);
		wide_store(pushed, first, wide_select(any, after, before));
	}
	block->acted |= (uint8_t)(bits << first);
}

static void wide_warm(struct soft_joints *joints, struct wide_block *block){
#define WARM_ROWS(n) warm_rows(joints, block, first, n)
	WIDE_BLOCK(block, WARM_ROWS)
#undef WARM_ROWS
}

/* As solve_locks. */
ALWAYS_INLINE void locks_rows(const struct soft_pass *pass, struct wide_block *block,
			      uint32_t first, uint32_t rows)
{
	struct soft_joints *joints = pass->joints;
	wide a[6], b[6], x[SOFT_LOCKS_MAX], on_a[6], on_b[6];
	struct lanes_row on[SOFT_LOCKS_MAX];
	struct lanes_factor factor;
	load_rows(block, first, rows, on);
	load_factor(block, first, rows, &factor);
	GATHER_BODIES(joints, &block->a[first], velocity, 6, a);
	GATHER_BODIES(joints, &block->b[first], velocity, 6, b);
	for (uint32_t i = 0; i < rows; i++)
		x[i] = wide_speed(on[i].on_a, a) + wide_speed(on[i].on_b, b) +
		       (pass->biased ? wide_load(&block->row[i].bias, first) : wide_all(0));
	solve_lanes(&factor, rows, x);
	LANES_UNROLL
	for (uint32_t c = 0; c < 6; c++)
		on_a[c] = on_b[c] = wide_all(0);
	for (uint32_t i = 0; i < rows; i++) {
		x[i] = -(wide_all(pass->mass_scale) * x[i] +
			 wide_all(pass->impulse_scale) * wide_load(&block->row[i].impulse, first));
		wide_add(on_a, on[i].on_a, x[i]);
		wide_add(on_b, on[i].on_b, x[i]);
	}
	apply_lanes(joints, &block->a[first], block->moves_a >> first, on_a, a);
	apply_lanes(joints, &block->b[first], block->moves_b >> first, on_b, b);
	add_to_joints(block, first, rows, x, on_a, on_b);
}

static void wide_locks(const struct soft_pass *pass, struct wide_block *block)
{
#define LOCKS_ROWS(n) locks_rows(pass, block, first, n)
	WIDE_BLOCK(block, LOCKS_ROWS)
#undef LOCKS_ROWS
}

static const struct soft_wide_kernels wide_kernels = {
	wide_measure,  wide_tighten, wide_factor,     wide_warm,     wide_upward,
	wide_downward, wide_locks,   wide_add_totals, wide_residual,
};

#endif
