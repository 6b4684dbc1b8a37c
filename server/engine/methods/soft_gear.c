/* soft_gear.c: gears (dynamics/gear.h) under soft-step.
 *
 * The joints of a gear's bodies are solved exactly, group by group, so the row of a gear is solved on top
 * of that: its response R is that of its bodies to a unit impulse of it while all rows that are solved
 * together hold, one more elimination of their groups. Gears that share a group are a set with
 *
 *   K = J R    λ = K⁻¹ (target − J v)
 *
 * which is dense, because every gear of a set acts on the same groups. Then the groups are solved again with
 * the targets that they had. If their members do not change, both are exact after one round; else another
 * round has the new K. Sets of more than TOGETHER gears are solved in parts, in turns.
 */
#include "server/engine/methods/soft_step.h"

#include "server/base/union_find.h"

#include <string.h>

enum {
	/* Gears of one K. Larger: its factor costs more than sweeps over parts. */
	TOGETHER = 96,
	/* Rounds of a pass. Fewer: gears of joints whose motors reach their limits in this sub-step slip. */
	ROUNDS_MAX = 6,
};

/* 1, of the speeds of a gear's two axes: smaller differences are rounding. */
#define SPEED_TINY 1e-13
/* 1, of K's diagonal: a smaller pivot is of a row that depends on others or moves nothing. */
#define PIVOT_MIN 1e-10

/* ---- plan ----------------------------------------------------------------------------------- */

static struct soft_jointed *body_of(struct soft_joints *joints, const struct soft_gear *gear,
				    uint32_t k)
{
	ASSERT(k < 2 * GEAR_ENDS);
	return &joints->jointed[gear->bodies[k]];
}

/* What a body of a gear shares with those of other gears: its group, or itself if it is in none. */
static uint32_t key_of(const struct soft_joints *joints, uint32_t jointed)
{
	uint32_t group = joints->gears.group_of[jointed];
	return group != SOFT_NO_PLACE ? group : joints->forest.group_count + jointed;
}

/* Gears that share a body or a group get one root. `above`: by gear (base/union_find.h). */
static bool link_gears(struct soft_joints *joints, struct arena *scratch, uint32_t *above)
{
	struct soft_gears *gears = &joints->gears;
	uint32_t keys = joints->forest.group_count + joints->jointed_count;
	uint32_t *first = ARENA_ARRAY(scratch, uint32_t, keys);
	if (first == NULL)
		return false;
	for (uint32_t k = 0; k < keys; k++)
		first[k] = SOFT_NO_PLACE;
	for (uint32_t i = 0; i < gears->count; i++) {
		const struct soft_gear *gear = &gears->items[i];
		above[i] = i;
		for (uint32_t k = 0; k < 2 * GEAR_ENDS; k++) {
			if (!body_of(joints, gear, k)->moves)
				continue;
			uint32_t *other = &first[key_of(joints, gear->bodies[k])];
			if (*other == SOFT_NO_PLACE)
				*other = i;
			(void)union_find_join(above, *other, i);
		}
	}
	return true;
}

static void group_bodies(struct soft_joints *joints)
{
	const struct soft_forest *forest = &joints->forest;
	for (uint32_t i = 0; i < joints->jointed_count; i++)
		joints->gears.group_of[i] = SOFT_NO_PLACE;
	for (uint32_t g = 0; g < forest->group_count; g++)
		for (uint32_t i = forest->groups[g].body_first; i < forest->groups[g].body_last;
		     i++)
			joints->gears.group_of[forest->bodies[i]] = g;
}

/* The groups of a set, each once, ascending by their first gear. */
static void list_groups(struct soft_joints *joints, struct soft_gear_set *set)
{
	struct soft_gears *gears = &joints->gears;
	set->groups = gears->groups + gears->group_count;
	for (uint32_t i = 0; i < set->count; i++)
		for (uint32_t k = 0; k < 2 * GEAR_ENDS; k++) {
			uint32_t body = gears->items[set->gears[i]].bodies[k], at = 0;
			uint32_t group = gears->group_of[body];
			if (!joints->jointed[body].moves || group == SOFT_NO_PLACE)
				continue;
			while (at < set->group_count && set->groups[at] != group)
				at++;
			if (at == set->group_count)
				set->groups[set->group_count++] = group;
			joints->forest.groups[group].geared = true;
		}
	gears->group_count += set->group_count;
}

/* Lists gears by their roots, ascending by their first gears; false: no memory. */
static bool order_gears(struct soft_gears *gears, struct arena *scratch, uint32_t *above)
{
	uint32_t *end = arena_push_zero(scratch, (gears->count + 1u) * sizeof *end), placed = 0;
	if (end == NULL)
		return false;
	for (uint32_t i = 0; i < gears->count; i++)
		end[union_find_root(above, i) + 1]++;
	for (uint32_t i = 0; i < gears->count; i++)
		end[i + 1] += end[i];
	for (uint32_t i = 0; i < gears->count; i++)
		gears->order[end[union_find_root(above, i)]++] = i;
	for (uint32_t root = 0; root < gears->count; root++)
		while (placed < end[root]) {
			uint32_t count = MIN_OF(end[root] - placed, (uint32_t)TOGETHER);
			gears->sets[gears->set_count++] =
				(struct soft_gear_set){ .gears = gears->order + placed,
							.count = count };
			placed += count;
		}
	ASSERT(placed == gears->count);
	return true;
}

/* Sets of gears with one root, of at most TOGETHER. */
static bool make_sets(struct soft_joints *joints, struct arena *scratch)
{
	struct soft_gears *gears = &joints->gears;
	uint32_t *above = ARENA_ARRAY(scratch, uint32_t, gears->count);
	if (above == NULL || !link_gears(joints, scratch, above) ||
	    !order_gears(gears, scratch, above))
		return false;
	for (uint32_t s = 0; s < gears->set_count; s++) {
		struct soft_gear_set *set = &gears->sets[s];
		list_groups(joints, set);
		set->factor = ARENA_ARRAY(scratch, double, (size_t)set->count * set->count);
		set->change = ARENA_ARRAY(scratch, double, set->count);
		if (set->factor == NULL || set->change == NULL)
			return false;
	}
	return true;
}

enum status soft_gears_plan(struct soft_step *self)
{
	struct soft_joints *joints = &self->joints;
	struct soft_gears *gears = &joints->gears;
	struct arena *scratch = &self->dynamics->scratch;
	if (gears->count == 0)
		return STATUS_OK;
	gears->group_of = ARENA_ARRAY(scratch, uint32_t, joints->jointed_count);
	gears->order = ARENA_ARRAY(scratch, uint32_t, gears->count);
	gears->groups = ARENA_ARRAY(scratch, uint32_t, (size_t)2 * GEAR_ENDS * gears->count);
	gears->sets = ARENA_ARRAY(scratch, struct soft_gear_set, gears->count);
	gears->response = arena_push_zero(scratch, joints->jointed_count * sizeof *gears->response);
	if (gears->group_of == NULL || gears->order == NULL || gears->groups == NULL ||
	    gears->sets == NULL || gears->response == NULL)
		return STATUS_NO_MEMORY;
	group_bodies(joints);
	return make_sets(joints, scratch) ? STATUS_OK : STATUS_NO_MEMORY;
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* Whole turns are counted from the sub-step before. */
static void count_turns(struct joint *joint, const struct body_motion *a,
			const struct body_motion *b)
{
	double now[JOINT_AXES];
	joint_coordinates(joint, a, b, now);
	memcpy(joint->angle, now + 3, sizeof joint->angle);
}

static void measure_gear(struct soft_step *self, struct soft_gear *gear)
{
	const struct soft_joints *joints = &self->joints;
	const struct body_motion *motions[GEAR_ENDS][2];
	struct gear_row row;
	for (uint32_t end = 0; end < GEAR_ENDS; end++) {
		struct joint *joint = &gear->data.joints[end];
		for (uint32_t side = 0; side < 2; side++) {
			uint32_t body = gear->bodies[2 * end + side];
			const struct body_motion *given = side == 0 ? &joint->a : &joint->b;
			motions[end][side] = body == 0 ? given : &joints->motions[body];
		}
		count_turns(joint, motions[end][0], motions[end][1]);
	}
	gear_row_at(&gear->data, motions, CONSTRAINT_ACCELERATION, &row);
	for (uint32_t k = 0; k < 2 * GEAR_ENDS; k++)
		gear->on[k] = row.on[k / 2][k % 2];
	double rate = joints->bias_rate * row.gap, most = (double)self->push_speed;
	double h = self->dt / self->substeps;
	gear->bias = scalar_clamp(rate, -most, most) + 0.5 * h * row.bend;
}

void soft_gears_measure(struct soft_step *self)
{
	struct soft_gears *gears = &self->joints.gears;
	for (uint32_t i = 0; i < gears->count; i++)
		measure_gear(self, &gears->items[i]);
	for (uint32_t s = 0; s < gears->set_count; s++)
		gears->sets[s].factored = false;
}

/* ---- K --------------------------------------------------------------------------------------- */

/* J v, with velocities by jointed body; *size: the sum of its terms' magnitudes. */
static double speed_of(const struct soft_joints *joints, const struct soft_gear *gear, double *size)
{
	double speed = 0;
	*size = 0;
	for (uint32_t k = 0; k < 2 * GEAR_ENDS; k++) {
		double term = spatial_dot(gear->on[k], joints->jointed[gear->bodies[k]].velocity);
		speed += term;
		*size += scalar_abs(term);
	}
	return speed;
}

/* Sum of the versions of a set's groups, which changes when one is factored again. */
static uint64_t version_of(const struct soft_joints *joints, const struct soft_gear_set *set)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < set->group_count; i++)
		sum += joints->forest.groups[set->groups[i]].version;
	return sum;
}

/* gears.response becomes R of the gear, zero for bodies of other groups. */
static void find_response(struct soft_joints *joints, const struct soft_gear *gear)
{
	struct soft_gears *gears = &joints->gears;
	for (uint32_t k = 0; k < 2 * GEAR_ENDS; k++) {
		struct soft_jointed *body = body_of(joints, gear, k);
		struct spatial *to = &gears->response[gear->bodies[k]];
		if (!body->moves)
			continue;
		to->linear =
			vec3_add(to->linear, vec3_hadamard(body->mass_inv, gear->on[k].linear));
		to->angular =
			vec3_add(to->angular, sym3_apply(body->inertia_inv, gear->on[k].angular));
	}
	for (uint32_t k = 0; k < 2 * GEAR_ENDS; k++) {
		uint32_t group = gears->group_of[gear->bodies[k]];
		bool again = !body_of(joints, gear, k)->moves || group == SOFT_NO_PLACE;
		for (uint32_t before = 0; before < k && !again; before++)
			again = body_of(joints, gear, before)->moves &&
				gears->group_of[gear->bodies[before]] == group;
		if (!again)
			soft_group_respond(joints, &joints->forest.groups[group], gears->response);
	}
}

static void forget_response(struct soft_joints *joints, const struct soft_gear *gear)
{
	struct soft_gears *gears = &joints->gears;
	const struct soft_forest *forest = &joints->forest;
	for (uint32_t k = 0; k < 2 * GEAR_ENDS; k++) {
		uint32_t group = gears->group_of[gear->bodies[k]];
		gears->response[gear->bodies[k]] = spatial_zero();
		if (group == SOFT_NO_PLACE)
			continue;
		for (uint32_t i = forest->groups[group].body_first;
		     i < forest->groups[group].body_last; i++)
			gears->response[forest->bodies[i]] = spatial_zero();
	}
}

/* K = L D Lᵀ, in place: L below the diagonal, 1/D on it; 0 where a pivot vanishes. */
static void factor(double *k, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		double *row = k + (size_t)i * n, least = PIVOT_MIN * row[i], pivot = row[i];
		for (uint32_t j = 0; j < i; j++) {
			const double *other = k + (size_t)j * n;
			for (uint32_t m = 0; m < j; m++)
				row[j] -= row[m] * other[m];
		}
		for (uint32_t j = 0; j < i; j++) {
			double l = row[j] * k[(size_t)j * n + j];
			pivot -= l * row[j];
			row[j] = l;
		}
		row[i] = pivot > least && pivot > 0 ? 1 / pivot : 0;
	}
}

static void solve_factored(const double *k, uint32_t n, double *x)
{
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < i; j++)
			x[i] -= k[(size_t)i * n + j] * x[j];
	for (uint32_t i = 0; i < n; i++)
		x[i] *= k[(size_t)i * n + i];
	for (uint32_t i = n; i-- > 0;)
		for (uint32_t j = 0; j < i; j++)
			x[j] -= k[(size_t)i * n + j] * x[i];
}

static void factor_set(struct soft_joints *joints, struct soft_gear_set *set)
{
	struct soft_gears *gears = &joints->gears;
	uint32_t n = set->count;
	for (uint32_t i = 0; i < n; i++) {
		const struct soft_gear *gear = &gears->items[set->gears[i]];
		find_response(joints, gear);
		for (uint32_t j = i; j < n; j++) {
			const struct soft_gear *other = &gears->items[set->gears[j]];
			double sum = 0;
			for (uint32_t k = 0; k < 2 * GEAR_ENDS; k++)
				sum += spatial_dot(other->on[k], gears->response[other->bodies[k]]);
			set->factor[(size_t)j * n + i] = sum;
		}
		forget_response(joints, gear);
	}
	factor(set->factor, n);
	set->factored = true;
	set->version = version_of(joints, set);
}

/* ---- a pass --------------------------------------------------------------------------------- */

void soft_gears_aim(const struct soft_pass *pass)
{
	struct soft_joints *joints = pass->joints;
	for (uint32_t i = 0; i < joints->gears.count; i++) {
		struct soft_gear *gear = &joints->gears.items[i];
		double size, speed = speed_of(joints, gear, &size);
		gear->target = pass->biased ? speed - pass->mass_scale * (speed + gear->bias) : 0;
	}
}

/* Whether a gear of the set is not at its target. `change` gets what is missing. */
static bool is_off(const struct soft_joints *joints, const struct soft_gear_set *set)
{
	bool off = false;
	for (uint32_t i = 0; i < set->count; i++) {
		const struct soft_gear *gear = &joints->gears.items[set->gears[i]];
		double size, speed = speed_of(joints, gear, &size);
		set->change[i] = gear->target - speed;
		off |= scalar_abs(set->change[i]) > SPEED_TINY * (size + scalar_abs(gear->target));
	}
	return off;
}

static void push_set(struct soft_joints *joints, const struct soft_gear_set *set)
{
	for (uint32_t i = 0; i < set->count; i++) {
		struct soft_gear *gear = &joints->gears.items[set->gears[i]];
		gear->impulse += set->change[i];
		for (uint32_t k = 0; k < 2 * GEAR_ENDS; k++) {
			struct spatial push = spatial_scale(gear->on[k], set->change[i]);
			soft_jointed_apply(body_of(joints, gear, k), &push);
		}
	}
}

void soft_gears_solve(const struct soft_pass *pass)
{
	struct soft_joints *joints = pass->joints;
	struct soft_gears *gears = &joints->gears;
	bool off = gears->count > 0;
	for (uint32_t round = 0; round < ROUNDS_MAX && off; round++) {
		off = false;
		for (uint32_t s = 0; s < gears->set_count; s++) {
			struct soft_gear_set *set = &gears->sets[s];
			if (!is_off(joints, set))
				continue;
			if (!set->factored || set->version != version_of(joints, set))
				factor_set(joints, set);
			solve_factored(set->factor, set->count, set->change);
			push_set(joints, set);
			for (uint32_t g = 0; g < set->group_count; g++)
				soft_group_settle(pass, &joints->forest.groups[set->groups[g]]);
			off = true;
		}
	}
}

void soft_gears_start(struct soft_joints *joints)
{
	for (uint32_t i = 0; i < joints->gears.count; i++)
		joints->gears.items[i].impulse = 0;
}

void soft_gears_add_totals(struct soft_joints *joints, double sign)
{
	for (uint32_t i = 0; i < joints->gears.count; i++)
		joints->gears.items[i].total += sign * joints->gears.items[i].impulse;
}

double soft_gears_residual(struct soft_step *self)
{
	struct soft_joints *joints = &self->joints;
	double most = 0;
	for (uint32_t i = 0; i < joints->gears.count; i++) {
		struct soft_gear *gear = &joints->gears.items[i];
		double size;
		most = scalar_max(most, scalar_abs(speed_of(joints, gear, &size)));
		for (uint32_t k = 0; k < 2 * GEAR_ENDS && gear->impulse != 0; k++)
			self->drives[body_of(joints, gear, k)->number].pushed = true;
	}
	return most;
}
