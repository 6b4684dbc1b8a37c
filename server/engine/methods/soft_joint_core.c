/* soft_joint_core.c: all joints of a group that are in loops or between them, solved at once.
 *
 * The trees that hang on the core are contained in its bodies' responses W (soft_joint_tree.c). With
 * J_i the rows of joint i and s the bodies that two joints share,
 *
 *   A_ij = Σ_s J_is W_s J_jsᵀ,    the diagonal of A_ii times 1 + SOFTNESS
 *
 * is positive definite except for rows that move nothing, and A λ = target − J v is solved by A = L D
 * Lᵀ, with one block for each joint, in the order of approximate minimum degree: the factor of a ladder
 * of planks has a few blocks more for each joint. With B_ij the reduced A_ij when j is eliminated:
 *
 *   A_ik ← A_ik − B_ij A_jj⁻¹ B_kjᵀ                 once a sub-step, column by column
 *   y_j = A_jj⁻¹ x_j    x_i ← x_i − B_ij y_j        forward
 *   λ_j = y_j − A_jj⁻¹ Σ_i B_ijᵀ λ_i                backward
 *
 * The rows of loops can be dependent (a plane four-bar, two hinges of a door) or nearly so (a taut
 * chain between two walls, which can only change its sag). SOFTNESS makes the solution unique: dependent
 * rows share the load, and the speed that the tension of a taut chain leaves is corrected by its gap in
 * the next sub-steps.
 *
 * Rows that contradict each other (walls too far apart for their chain) would get unbounded impulses,
 * and the bodies would shake: a force f at an arm r rotates with its body, which a sub-step of h
 * resolves up to h² f r I⁻¹ of about 4. That number is a joint's strain. If it exceeds STRAIN_MAX,
 *
 *   λ ← λ − θ SOFTNESS A⁻¹ diag(A) λ
 *
 * removes from λ the part that SOFTNESS alone carries, with θ such that the worst strain becomes
 * STRAIN_MAX. Such a mechanism stretches, as a speed of its rows (the residual), and the step counts a
 * fallback.
 */
#include "server/base/sort.h"
#include "server/engine/linalg/order_amd.h"
#include "server/engine/methods/soft_step.h"

#include <string.h>

/* 1, of a row's own A_ii. Larger: a loaded taut chain stretches more, as the root. Smaller: a mechanism
 * that does not fit near a dead point is thrown off it, at √(1/SOFTNESS) times the speed at which its
 * gap closes. */
#define SOFTNESS 1e-4

/* 1. Larger: mechanisms that do not fit shake. Smaller: taut chains with heavy loads stretch. */
#define STRAIN_MAX 2.5

/* 1, of a strain. If SOFTNESS carries less of it, the load is real and the rows do not contradict each
 * other. */
#define CARRIED_MIN 0.01

enum {
	BLOCK = SOFT_LOCKS_MAX * SOFT_LOCKS_MAX,
	DIAGONAL = SOFT_LOCKS_MAX * (SOFT_LOCKS_MAX + 1) / 2,
	/* Products of blocks in a factor, per joint of the core. A net of 20 by 20 bodies stays below,
	 * and costs five times as much as its joints in a tree; one of 30 by 30 does not. */
	PRODUCTS_MAX = 128,
	/* Strains of a group that are limited in a pass. */
	STRAINS_MAX = 4,
};

/* ---- the order ------------------------------------------------------------------------------ */

/* Work of planning a core. A joint's place is its index in the core: at first in the order as found,
 * then in that of elimination. */
struct core_plan {
	struct soft_joints *joints;
	struct soft_group *group;
	uint32_t count;
	uint32_t *start, *neighbours; /* by place: those it shares a body with */
	uint32_t *sequence;	      /* by k: the place eliminated k-th */
	uint32_t *seen;		      /* by place: the last place that saw it */
	uint32_t *heads, *next;	      /* lists of columns, by their first row */
	uint32_t *list;
};

static inline struct soft_joint *at_place(const struct soft_joints *joints,
					  const struct soft_group *group, uint32_t place)
{
	VALIDATE(place < group->last - group->core_first);
	return &joints->items[joints->forest.order[group->core_first + place]];
}

/* An upper bound of the pattern's entries; a body of very many joints makes it too large to fit. */
static uint64_t count_neighbours(const struct core_plan *plan)
{
	const struct soft_forest *forest = &plan->joints->forest;
	uint64_t entries = 0;
	for (uint32_t i = plan->group->body_first; i < plan->group->body_last; i++) {
		uint64_t degree = forest->nodes[forest->bodies[i]].degree;
		entries += degree * (degree - (degree > 0));
	}
	return entries;
}

static bool allocate_core(struct core_plan *plan, struct arena *scratch, uint64_t entries)
{
	struct soft_core *core = &plan->group->core;
	uint64_t count = plan->count;
	plan->start = ARENA_ARRAY(scratch, uint32_t, count + 1);
	plan->neighbours = ARENA_ARRAY(scratch, uint32_t, entries);
	plan->sequence = ARENA_ARRAY(scratch, uint32_t, count);
	plan->seen = ARENA_ARRAY(scratch, uint32_t, count);
	plan->heads = ARENA_ARRAY(scratch, uint32_t, count);
	plan->next = ARENA_ARRAY(scratch, uint32_t, count);
	plan->list = ARENA_ARRAY(scratch, uint32_t, count);
	core->first = ARENA_ARRAY(scratch, uint32_t, count + 1);
	core->rows = ARENA_ARRAY(scratch, uint32_t, (PRODUCTS_MAX + 1) * count);
	core->pairs = ARENA_ARRAY(scratch, struct soft_core_pair, entries / 2);
	core->diagonal = ARENA_ARRAY(scratch, double, DIAGONAL *count);
	core->own = ARENA_ARRAY(scratch, double, SOFT_LOCKS_MAX *count);
	core->impulses = ARENA_ARRAY(scratch, double, SOFT_LOCKS_MAX *count);
	return plan->start != NULL && plan->neighbours != NULL && plan->sequence != NULL &&
	       plan->seen != NULL && plan->heads != NULL && plan->next != NULL &&
	       plan->list != NULL && core->first != NULL && core->rows != NULL &&
	       core->pairs != NULL && core->diagonal != NULL && core->own != NULL &&
	       core->impulses != NULL;
}

/* The next joint of a node, from the k-th on, that is in the core; false if there is none. */
static bool next_core_joint(const struct soft_joints *joints, uint32_t jointed, uint32_t *k,
			    uint32_t *place)
{
	const struct soft_node *node = &joints->forest.nodes[jointed];
	for (; *k < node->count; (*k)++) {
		*place = joints->items[joints->forest.ends[node->first + *k]].core_place;
		if (*place != SOFT_NO_PLACE)
			return (*k)++, true;
	}
	return false;
}

static void find_neighbours(struct core_plan *plan)
{
	const struct soft_joints *joints = plan->joints;
	uint32_t entries = 0;
	memset(plan->seen, 0xff, plan->count * sizeof *plan->seen);
	for (uint32_t i = 0; i < plan->count; i++) {
		const struct soft_joint *joint = at_place(joints, plan->group, i);
		plan->start[i] = entries;
		plan->seen[i] = i;
		for (uint32_t side = 0; side < 2; side++) {
			uint32_t jointed = side == 0 ? joint->a : joint->b, k = 0, other;
			while (joints->jointed[jointed].moves &&
			       next_core_joint(joints, jointed, &k, &other)) {
				if (plan->seen[other] == i)
					continue;
				plan->seen[other] = i;
				plan->neighbours[entries++] = other;
			}
		}
	}
	plan->start[plan->count] = entries;
}

/* Reorders the core's joints by elimination, and renumbers their places. */
static void apply_order(struct core_plan *plan)
{
	uint32_t *order = &plan->joints->forest.order[plan->group->core_first];
	memcpy(plan->list, order, plan->count * sizeof *order);
	for (uint32_t place = 0; place < plan->count; place++) {
		uint32_t joint = plan->list[plan->sequence[place]];
		order[place] = joint;
		plan->joints->items[joint].core_place = place;
	}
	for (uint32_t place = 0; place < plan->count; place++)
		plan->list[plan->sequence[place]] = place;
	for (uint32_t k = 0; k < plan->start[plan->count]; k++)
		plan->neighbours[k] = plan->list[plan->neighbours[k]];
}

static int compare_places(const void *a, const void *b, void *context)
{
	UNUSED(context);
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

static void add_factor_row(struct core_plan *plan, uint32_t column, uint32_t row, uint32_t *end)
{
	VALIDATE(column < plan->count && row < plan->count);
	if (row <= column || plan->seen[row] == column)
		return;
	plan->seen[row] = column;
	plan->group->core.rows[(*end)++] = row;
}

/* The rows of each column of the factor: those of A, and those of the columns whose first row it is.
 * False if there are too many. */
static bool find_rows(struct core_plan *plan)
{
	struct soft_core *core = &plan->group->core;
	uint64_t products = 0;
	uint32_t end = 0;
	memset(plan->seen, 0xff, plan->count * sizeof *plan->seen);
	memset(plan->heads, 0xff, plan->count * sizeof *plan->heads);
	for (uint32_t column = 0; column < plan->count; column++) {
		uint32_t first = end, from = plan->sequence[column];
		core->first[column] = first;
		for (uint32_t k = plan->start[from]; k < plan->start[from + 1]; k++)
			add_factor_row(plan, column, plan->neighbours[k], &end);
		for (uint32_t c = plan->heads[column]; c != SOFT_NO_PLACE; c = plan->next[c])
			for (uint32_t k = core->first[c]; k < core->first[c + 1]; k++)
				add_factor_row(plan, column, core->rows[k], &end);
		uint64_t count = end - first;
		products += count * (count + 1) / 2;
		if (products > (uint64_t)PRODUCTS_MAX * plan->count)
			return false;
		core->first[column + 1] = end;
		if (count == 0)
			continue;
		uint32_t least = core->rows[first];
		for (uint32_t k = first + 1; k < end; k++)
			least = MIN_OF(least, core->rows[k]);
		plan->next[column] = plan->heads[least];
		plan->heads[least] = column;
	}
	/* Only now: a net that is too dense, which its last columns show, is not sorted. */
	for (uint32_t column = 0; column < plan->count; column++)
		sort_items(&core->rows[core->first[column]], plan->list,
			   core->first[column + 1] - core->first[column], sizeof *core->rows,
			   compare_places, NULL);
	return true;
}

static uint32_t find_block(const struct soft_core *core, uint32_t column, uint32_t row)
{
	VALIDATE(column < row);
	uint32_t low = core->first[column], high = core->first[column + 1];
	while (low + 1 < high) {
		uint32_t middle = low + (high - low) / 2;
		if (core->rows[middle] <= row)
			low = middle;
		else
			high = middle;
	}
	VALIDATE(core->rows[low] == row);
	return low;
}

static void find_pairs(struct core_plan *plan)
{
	const struct soft_joints *joints = plan->joints;
	struct soft_core *core = &plan->group->core;
	core->pair_count = 0;
	for (uint32_t i = plan->group->body_first; i < plan->group->body_last; i++) {
		uint32_t jointed = joints->forest.bodies[i], k = 0, column, row;
		while (next_core_joint(joints, jointed, &k, &column))
			for (uint32_t m = 0; next_core_joint(joints, jointed, &m, &row);)
				if (row > column)
					core->pairs[core->pair_count++] = (struct soft_core_pair){
						column, row, jointed, find_block(core, column, row)
					};
	}
}

enum status soft_core_plan(struct soft_step *self, struct soft_group *group, bool *fits)
{
	struct arena *scratch = &self->dynamics->scratch;
	struct core_plan plan = { .joints = &self->joints,
				  .group = group,
				  .count = group->last - group->core_first };
	uint64_t entries = count_neighbours(&plan);
	*fits = true;
	if (plan.count == 0)
		return STATUS_OK;
	*fits = entries <= (uint64_t)PRODUCTS_MAX * plan.count && plan.count < UINT32_MAX / BLOCK;
	if (!*fits)
		return STATUS_OK;
	size_t words = order_amd_words(plan.count, (uint32_t)entries);
	struct soft_core *core = &group->core;
	if (words == SIZE_MAX || !allocate_core(&plan, scratch, entries))
		return STATUS_NO_MEMORY;
	uint32_t *work = ARENA_ARRAY(scratch, uint32_t, words);
	if (work == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t place = 0; place < plan.count; place++)
		at_place(plan.joints, group, place)->core_place = place;
	find_neighbours(&plan);
	ASSERT(plan.start[plan.count] <= entries);
	order_amd(plan.count, plan.start, plan.neighbours, plan.sequence, work);
	apply_order(&plan);
	*fits = find_rows(&plan);
	if (!*fits) {
		for (uint32_t place = 0; place < plan.count; place++)
			at_place(plan.joints, group, place)->core_place = SOFT_NO_PLACE;
		return STATUS_OK;
	}
	find_pairs(&plan);
	core->blocks = ARENA_ARRAY(scratch, double, (uint64_t)BLOCK * core->first[plan.count]);
	return core->blocks != NULL ? STATUS_OK : STATUS_NO_MEMORY;
}

/* ---- once a sub-step ------------------------------------------------------------------------ */

static const struct spatial *on_jointed(const struct soft_joint *joint, uint32_t row,
					uint32_t jointed)
{
	VALIDATE(row < joint->count && (jointed == joint->a || jointed == joint->b));
	return jointed == joint->a ? &joint->locks[row].on_a : &joint->locks[row].on_b;
}

/* Strain rate of a unit force at an arm, averaged over the directions across it. */
static double arm_strain(const struct soft_jointed *jointed, vec3 arm)
{
	double length = vec3_length(arm);
	if (!jointed->moves || length == 0)
		return 0;
	vec3 along = vec3_scale(arm, 1 / length);
	double across = sym3_trace(jointed->inertia_inv) -
			vec3_dot(along, sym3_apply(jointed->inertia_inv, along));
	return 0.5 * across * length;
}

static void set_strain(const struct soft_joints *joints, uint32_t i)
{
	struct soft_joint *joint = &joints->items[i];
	const struct joint *data = &joints->list.joints[i];
	const struct soft_jointed *a = &joints->jointed[joint->a], *b = &joints->jointed[joint->b];
	const struct body_motion *at_a = joint->a == 0 ? &data->a : &joints->motions[joint->a];
	const struct body_motion *at_b = joint->b == 0 ? &data->b : &joints->motions[joint->b];
	vec3 end_a = joint_anchor_a(data, at_a), end_b = joint_anchor_b(data, at_b);
	joint->force_strain = arm_strain(a, vec3_sub(end_a, at_a->centre)) +
			      arm_strain(b, vec3_sub(end_b, at_b->centre));
	joint->couple_strain = (sym3_trace(a->inertia_inv) + sym3_trace(b->inertia_inv)) / 3;
	double length = vec3_distance(end_a, end_b);
	if (data->type == JOINT_DISTANCE && length > 0) /* a rod rotates with its ends */
		joint->force_strain +=
			(vec3_max_component(a->mass_inv) + vec3_max_component(b->mass_inv)) /
			length;
}

/* A_jj, the rows of its lower half; `own` gets its diagonal without SOFTNESS. */
static void fill_diagonal(const struct soft_joints *joints, const struct soft_joint *joint,
			  double own[SOFT_LOCKS_MAX], double *out)
{
	const uint32_t sides[2] = { joint->a, joint->b };
	ASSERT(joint->count <= SOFT_LOCKS_MAX);
	memset(out, 0, DIAGONAL * sizeof *out);
	for (uint32_t side = 0; side < 2; side++) {
		const struct soft_jointed *jointed = &joints->jointed[sides[side]];
		double *row = out;
		for (uint32_t i = 0; i < joint->count && jointed->moves; i++) {
			double answer[6];
			soft_respond(jointed->response, on_jointed(joint, i, sides[side]), answer);
			for (uint32_t j = 0; j <= i; j++)
				row[j] += soft_dot(on_jointed(joint, j, sides[side]), answer);
			row += i + 1;
		}
	}
	for (uint32_t i = 0, at = 0; i < joint->count; at += ++i + 1) {
		own[i] = out[at];
		out[at] += SOFTNESS * own[i];
		out[at] += soft_joint_compliance(joint, i);
	}
}

static void fill_blocks_of_core(const struct soft_joints *joints, const struct soft_group *group)
{
	const struct soft_core *core = &group->core;
	uint32_t places = group->last - group->core_first;
	double answers[SOFT_LOCKS_MAX][6];
	memset(core->blocks, 0, (size_t)BLOCK * core->first[places] * sizeof *core->blocks);
	for (uint32_t k = 0; k < core->pair_count; k++) {
		const struct soft_core_pair *couple = &core->pairs[k];
		const struct soft_joint *column = at_place(joints, group, couple->column);
		const struct soft_joint *row = at_place(joints, group, couple->row);
		bool again = k > 0 && couple[-1].column == couple->column &&
			     couple[-1].jointed == couple->jointed;
		for (uint32_t c = 0; c < column->count && !again; c++)
			soft_respond(joints->jointed[couple->jointed].response,
				     on_jointed(column, c, couple->jointed), answers[c]);
		double *block = &core->blocks[(size_t)BLOCK * couple->block];
		for (uint32_t r = 0; r < row->count; r++)
			for (uint32_t c = 0; c < column->count; c++)
				block[SOFT_LOCKS_MAX * r + c] +=
					soft_dot(on_jointed(row, r, couple->jointed), answers[c]);
	}
}

/* out −= B Yᵀ; the lower half alone if `packed`. */
static inline void subtract_product(double *out, const double *b, uint32_t b_count, const double *y,
				    uint32_t y_count, uint32_t inner, bool packed)
{
	VALIDATE(b_count <= SOFT_LOCKS_MAX && y_count <= SOFT_LOCKS_MAX);
	for (uint32_t r = 0; r < b_count; r++) {
		uint32_t columns = packed ? r + 1 : y_count;
		for (uint32_t c = 0; c < columns; c++) {
			double sum = 0;
			for (uint32_t m = 0; m < inner; m++)
				sum += b[SOFT_LOCKS_MAX * r + m] * y[SOFT_LOCKS_MAX * c + m];
			out[c] -= sum;
		}
		out += packed ? r + 1 : SOFT_LOCKS_MAX;
	}
}

/* Eliminates a column: subtracts its products from the blocks of its rows. */
static void eliminate_column(const struct soft_joints *joints, const struct soft_group *group,
			     uint32_t column)
{
	VALIDATE(column < group->last - group->core_first);
	const struct soft_core *core = &group->core;
	const struct soft_joint *pivot = at_place(joints, group, column);
	uint32_t end = core->first[column + 1];
	for (uint32_t k = core->first[column]; k < end; k++) {
		uint32_t target = core->rows[k], at = core->first[target];
		const struct soft_joint *joint = at_place(joints, group, target);
		const double *b = &core->blocks[(size_t)BLOCK * k];
		double y[BLOCK];
		memcpy(y, b, sizeof y);
		for (uint32_t r = 0; r < joint->count; r++)
			soft_joint_solve_factored(pivot, pivot->count, &y[SOFT_LOCKS_MAX * r]);
		subtract_product(&core->diagonal[(size_t)DIAGONAL * target], b, joint->count, y,
				 joint->count, pivot->count, true);
		for (uint32_t i = k + 1; i < end; i++) {
			while (core->rows[at] != core->rows[i])
				at++;
			subtract_product(&core->blocks[(size_t)BLOCK * at],
					 &core->blocks[(size_t)BLOCK * i],
					 at_place(joints, group, core->rows[i])->count, y,
					 joint->count, pivot->count, false);
		}
	}
}

void soft_core_factor(struct soft_joints *joints, const struct soft_group *group)
{
	ASSERT(group->core_first <= group->last);
	const struct soft_core *core = &group->core;
	uint32_t count = group->last - group->core_first;
	if (count == 0)
		return;
	for (uint32_t i = 0; i < count; i++) {
		set_strain(joints, joints->forest.order[group->core_first + i]);
		fill_diagonal(joints, at_place(joints, group, i),
			      &core->own[(size_t)SOFT_LOCKS_MAX * i],
			      &core->diagonal[(size_t)DIAGONAL * i]);
	}
	fill_blocks_of_core(joints, group);
	for (uint32_t i = 0; i < count; i++) {
		struct soft_joint *joint = at_place(joints, group, i);
		soft_joint_factor(joints, joint, &core->diagonal[(size_t)DIAGONAL * i],
				  joint->count);
		eliminate_column(joints, group, i);
	}
}

/* ---- a pass --------------------------------------------------------------------------------- */

/* change ← A⁻¹ change, over the joints of the core. */
static void solve_factored_core(struct soft_joints *joints, const struct soft_group *group)
{
	const struct soft_core *core = &group->core;
	uint32_t count = group->last - group->core_first;
	for (uint32_t i = 0; i < count; i++) {
		struct soft_joint *joint = at_place(joints, group, i);
		soft_joint_solve_factored(joint, joint->count, joint->branch->change);
		for (uint32_t k = core->first[i]; k < core->first[i + 1]; k++) {
			struct soft_joint *row = at_place(joints, group, core->rows[k]);
			const double *block = &core->blocks[(size_t)BLOCK * k];
			for (uint32_t r = 0; r < row->count; r++)
				for (uint32_t c = 0; c < joint->count; c++)
					row->branch->change[r] -= block[SOFT_LOCKS_MAX * r + c] *
								  joint->branch->change[c];
		}
	}
	for (uint32_t i = count; i-- > 0;) {
		struct soft_joint *joint = at_place(joints, group, i);
		double sum[SOFT_LOCKS_MAX] = { 0 };
		for (uint32_t k = core->first[i]; k < core->first[i + 1]; k++) {
			const struct soft_joint *row = at_place(joints, group, core->rows[k]);
			const double *block = &core->blocks[(size_t)BLOCK * k];
			for (uint32_t r = 0; r < row->count; r++)
				for (uint32_t c = 0; c < joint->count; c++)
					sum[c] += block[SOFT_LOCKS_MAX * r + c] *
						  row->branch->change[r];
		}
		soft_joint_solve_factored(joint, joint->count, sum);
		for (uint32_t c = 0; c < joint->count; c++)
			joint->branch->change[c] -= sum[c];
	}
}

/* 1: strain of a joint by its impulse `change`. */
static double strain_of(const struct soft_pass *pass, const struct soft_joint *joint)
{
	vec3 force = vec3_zero(), couple = vec3_zero();
	for (uint32_t i = 0; i < joint->count; i++) {
		const struct soft_row *row = &joint->locks[i];
		const struct spatial *on = joint->b != 0 ? &row->on_b : &row->on_a;
		if (vec3_length_squared(on->linear) > 0)
			force = vec3_mul_add(force, on->linear, joint->branch->change[i]);
		else
			couple = vec3_mul_add(couple, on->angular, joint->branch->change[i]);
	}
	return (vec3_length(force) * joint->force_strain +
		vec3_length(couple) * joint->couple_strain) /
	       pass->h_inv;
}

/* The greatest strain and its place. */
static double worst_strain(const struct soft_pass *pass, const struct soft_group *group,
			   uint32_t *place)
{
	double worst = 0;
	*place = 0;
	for (uint32_t i = 0; i < group->last - group->core_first; i++) {
		double strain = strain_of(pass, at_place(pass->joints, group, i));
		if (strain > worst) {
			worst = strain;
			*place = i;
		}
	}
	return worst;
}

/* Removes from λ the part that SOFTNESS carries, as far as needed for STRAIN_MAX at `place`. False,
 * with λ unchanged, if that part is below CARRIED_MIN: then the load is real. */
static bool relieve_strain(const struct soft_pass *pass, struct soft_group *group, double strain,
			   uint32_t place)
{
	struct soft_joints *joints = pass->joints;
	struct soft_core *core = &group->core;
	uint32_t count = group->last - group->core_first;
	for (uint32_t i = 0; i < count; i++) {
		struct soft_joint *joint = at_place(joints, group, i);
		double *impulses = &core->impulses[(size_t)SOFT_LOCKS_MAX * i];
		const double *own = &core->own[(size_t)SOFT_LOCKS_MAX * i];
		memcpy(impulses, joint->branch->change, sizeof joint->branch->change);
		for (uint32_t r = 0; r < joint->count; r++)
			joint->branch->change[r] *= SOFTNESS * own[r];
	}
	solve_factored_core(joints, group);
	/* The strains are added as if of one direction, which they nearly are. */
	double carried = strain_of(pass, at_place(joints, group, place));
	double part = 0;
	if (carried > CARRIED_MIN * strain)
		part = scalar_min((strain - STRAIN_MAX) / carried, 1);
	ASSERT(!(part < 0) && !(part > 1));
	for (uint32_t i = 0; i < count; i++) {
		struct soft_joint *joint = at_place(joints, group, i);
		const double *impulses = &core->impulses[(size_t)SOFT_LOCKS_MAX * i];
		for (uint32_t r = 0; r < joint->count; r++)
			joint->branch->change[r] = impulses[r] - part * joint->branch->change[r];
	}
	return part > 0;
}

void soft_core_respond(struct soft_joints *joints, struct soft_group *group)
{
	solve_factored_core(joints, group);
}

void soft_core_solve(const struct soft_pass *pass, struct soft_group *group)
{
	uint32_t place;
	solve_factored_core(pass->joints, group);
	for (uint32_t i = 0; i < STRAINS_MAX; i++) {
		double strain = worst_strain(pass, group, &place);
		if (!(strain > 1.01 * STRAIN_MAX) || !relieve_strain(pass, group, strain, place))
			break;
		group->core.strained = true;
	}
}
