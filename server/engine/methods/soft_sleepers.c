/* soft_sleepers.c: a hit wakes only what it can move.
 *
 * A sleeping body that an awake one touches holds: it is immovable in the solve, as the world is. It would
 * be a hidden wall if it held whatever is done to it. So the momentum that it receives in the step is summed,
 *
 *   p = dt (forces) + Σ impulses of all its contacts
 *
 * (the angular one likewise): those with awake bodies as this step solved them, those with sleeping and
 * static ones as they were stored when it fell asleep. At rest the sum is zero, so it shows a blow, a push, a
 * pull of friction and the loss of a support alike. If it would accelerate the farthest point of the body by
 * more than SLEEP_FEELS, the step is solved again, and the body takes part; what it rests on and touches then
 * holds in its place. After the last solve, with u the speed of a body that took part,
 *
 *   sleep_time ← min(sleep_time + SLEEP_FEELS dt, sleep.time) − sleep.time u / sleep.speed
 *
 * If some time is left, it sleeps on, at its place, with the impulses that this step found. So a load spreads
 * over sleeping bodies without waking them, and only those wake that move.
 *
 * What does not wake a body is a blow that gives it less than sleep.speed, or a push that accelerates it by
 * less than SLEEP_FEELS sleep.speed / sleep.time; with such a push it would fall asleep, too. (Blows of less
 * than sleep.speed must not be summed where they are received: what a body passes on to one that is not
 * pushed enough to take part would be lost, and a row of them a wall.)
 *
 * Bodies with joints do not hold, and neither does a body that an animated one touches: they wake as their
 * whole sets when they are reached.
 */
#include "server/base/sort.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/force.h"
#include "server/engine/dynamics/joint_list.h"
#include "server/engine/dynamics/locks.h"
#include "server/engine/methods/soft_step.h"
#include "server/engine/world/parameters.h"

enum { AT_ONCE = 8 }; /* contacts that are placed together */

/* 1. Of the acceleration sleep.speed / sleep.time, at which a body from rest stays just awake: what a
 * sleeping one does not feel. Larger: weak pushes meet a wall; smaller: the last swaying of a stack, in
 * which it fell asleep, is taken for a push. */
#define SLEEP_FEELS 0.5

struct push_work {
	struct soft_step *step;
	const uint64_t *held; /* bit a body row */
	const uint32_t *rows;
	uint32_t count;
	struct spatial *sums; /* N s, N m s: by number */
};

static bool is_held(const struct push_work *work, uint32_t body)
{
	return work->held[body / 64] >> (body % 64) & 1;
}

static uint32_t number_of(const struct push_work *work, uint32_t body)
{
	uint32_t low = 0, high = work->count;
	while (low + 1 < high) {
		uint32_t middle = (low + high) / 2;
		if (work->rows[middle] <= body)
			low = middle;
		else
			high = middle;
	}
	ASSERT(work->rows[low] == body);
	return low;
}

static void add_impulse(struct spatial *sum, vec3 impulse, vec3 arm, double sign)
{
	sum->linear = vec3_mul_add(sum->linear, impulse, sign);
	sum->angular = vec3_mul_add(sum->angular, vec3_cross(arm, impulse), sign);
}

/* ---- which ------------------------------------------------------------------------------------- */

/* The sleeping body of a contact that holds. */
static uint32_t sleeper_of(const struct step *step, const struct contact_state *contact)
{
	return step_takes_part(step, contact->body_a) ? contact->body_b : contact->body_a;
}

static bool is_near(const struct step *step, const struct contact_state *contact)
{
	return contact->point_count > 0 ||
	       (!contact->is_new && step->dynamics->tables->contact.touching[contact->row]);
}

/* Sets the bits of the bodies that hold; returns their number. */
static uint32_t find_held(const struct step *step, uint64_t *held)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < step->contacts.count; i++) {
		const struct contact_state *contact = &step->contacts.items[i];
		if (!contact->holds || !is_near(step, contact))
			continue;
		uint32_t body = sleeper_of(step, contact);
		/* It may have been woken after the contact was collided. */
		if (step_takes_part(step, body))
			continue;
		uint64_t bit = UINT64_C(1) << (body % 64);
		count += (held[body / 64] & bit) == 0;
		held[body / 64] |= bit;
	}
	return count;
}

/* ---- what they receive --------------------------------------------------------------------------- */

static void add_forces(struct push_work *work, struct force_sum *sums)
{
	const struct soft_step *self = work->step;
	const struct tables *tables = self->dynamics->tables;
	force_all(self->dynamics, work->rows, work->count, self->dt, sums);
	for (uint32_t i = 0; i < work->count; i++) {
		double mass = tables->body.mass[work->rows[i]];
		vec3 force = vec3_mul_add(sums[i].force, sums[i].acceleration, mass);
		work->sums[i].linear = vec3_scale(force, self->dt);
		work->sums[i].angular = vec3_scale(sums[i].torque, self->dt);
	}
}

static vec3 lane_vec3(const struct lane8x3 *from, uint32_t lane)
{
	return vec3_make((double)from->x.at[lane], (double)from->y.at[lane],
			 (double)from->z.at[lane]);
}

/* Adds the impulses of a solved manifold to the one of its bodies that holds. */
static void add_lane(const struct push_work *work, const struct soft_block *block, uint32_t lane,
		     bool on_b, struct spatial *sum)
{
	const struct soft_step *self = work->step;
	const struct contact_state *contact =
		soft_manifold(&self->clusters, self->step, block->contact[lane]);
	double sign = on_b ? 1 : -1;
	vec3 n = lane_vec3(&block->normal, lane), t1 = lane_vec3(&block->tangent, lane);
	vec3 friction = vec3_mul_add(vec3_scale(t1, (double)block->tangent_total[0].at[lane]),
				     vec3_cross(n, t1), (double)block->tangent_total[1].at[lane]);
	vec3 arm = lane_vec3(on_b ? &block->arm_b : &block->arm_a, lane);
	add_impulse(sum, friction, arm, sign);
	for (uint32_t p = 0; p < contact->point_count; p++) {
		const struct soft_point *point = &block->points[p];
		double total = sign * (double)point->total.at[lane];
		vec3 turning = lane_vec3(on_b ? &point->j_b : &point->j_a, lane);
		sum->linear = vec3_mul_add(sum->linear, n, total);
		sum->angular = vec3_mul_add(sum->angular, turning, total);
	}
	double twist = (double)block->twist_impulse.at[lane] * self->substeps;
	sum->angular = vec3_mul_add(sum->angular, n, sign * twist);
}

static void add_solved(const struct push_work *work)
{
	const struct soft_step *self = work->step;
	for (uint32_t b = 0; b < self->block_count; b++)
		for (uint32_t lane = 0; lane < BLOCK_LANES; lane++) {
			const struct soft_block *block = &self->blocks[b];
			if (block->contact[lane] == DYNAMICS_NONE)
				continue;
			const struct contact_state *contact =
				soft_manifold(&self->clusters, self->step, block->contact[lane]);
			if (is_held(work, contact->body_a))
				add_lane(work, block, lane, false,
					 &work->sums[number_of(work, contact->body_a)]);
			if (is_held(work, contact->body_b))
				add_lane(work, block, lane, true,
					 &work->sums[number_of(work, contact->body_b)]);
		}
}

/* Adds the stored impulses of a contact that does not take part. */
static void add_stored_one(const struct soft_step *self, const struct contact_state *contact,
			   uint32_t body, struct spatial *sum)
{
	const struct contact_table *table = &self->dynamics->tables->contact;
	uint32_t row = contact->row;
	if (contact->point_count == 0)
		return;
	double sign = contact->body_b == body ? 1 : -1;
	vec3 to_b = vec3_sub(contact->points[0].arm_b, contact->points[0].arm_a);
	vec3 across = contact->body_b == body ? to_b : vec3_zero();
	for (uint32_t p = 0; p < contact->point_count; p++)
		add_impulse(sum, vec3_scale(contact->normal, table->normal_impulse[row][p]),
			    vec3_add(contact->points[p].arm_a, across), sign);
	const double *friction = table->friction_impulse[row];
	add_impulse(sum, vec3_make(friction[0], friction[1], friction[2]),
		    vec3_add(soft_friction_arm(contact), across), sign);
	double twist = table->multiplier[row][5] * self->substeps;
	sum->angular = vec3_mul_add(sum->angular, contact->normal, sign * twist);
}

static bool is_listed(const struct step *step, uint32_t row)
{
	return step->listed[row / 64] >> (row % 64) & 1;
}

/* Writes (number, row) of the contacts of bodies that hold with sleeping and static bodies; returns how many
 * there are. `to` NULL: only that. */
static uint32_t list_stored(const struct push_work *work, uint64_t *to)
{
	const struct dynamics *dynamics = work->step->dynamics;
	uint32_t count = 0;
	for (uint32_t i = 0; i < work->count; i++) {
		uint32_t e = dynamics->bodies.items[work->rows[i]].first_edge;
		for (; e != DYNAMICS_NONE; e = dynamics->edges.items[e].next) {
			if (!dynamics->tables->contact.touching[edge_row(e)] ||
			    is_listed(work->step->step, edge_row(e)))
				continue;
			if (to != NULL)
				to[count] = (uint64_t)i << 32 | edge_row(e);
			count++;
		}
	}
	return count;
}

static struct contact_state stored_contact(const struct tables *tables, uint32_t row)
{
	const struct contact_table *table = &tables->contact;
	return (struct contact_state){ .row = row,
				       .body_a = contact_body_a(tables, row),
				       .body_b = contact_body_b(tables, row),
				       .a = { table->placement_a[row], table->child_a[row] },
				       .b = { table->placement_b[row], table->child_b[row] } };
}

/* Adds the impulses of those contacts, in order of bodies and rows: the order of a body's list depends on
 * history. */
static enum status add_stored(const struct push_work *work)
{
	const struct soft_step *self = work->step;
	struct arena *scratch = &self->dynamics->scratch;
	uint32_t count = list_stored(work, NULL);
	uint64_t *keys = ARENA_ARRAY(scratch, uint64_t, count);
	uint64_t *room = ARENA_ARRAY(scratch, uint64_t, count);
	if (keys == NULL || room == NULL)
		return STATUS_NO_MEMORY;
	list_stored(work, keys);
	sort_keys(keys, NULL, room, NULL, count);
	struct collide_options options = collide_options_default(self->dt);
	struct contact_state items[AT_ONCE];
	struct contact_made made[AT_ONCE];
	for (uint32_t first = 0; first < count; first += AT_ONCE) {
		struct contact_list list = { items, made, MIN_OF(count - first, AT_ONCE + 0u),
					     AT_ONCE, false };
		for (uint32_t i = 0; i < list.count; i++)
			items[i] =
				stored_contact(self->dynamics->tables, (uint32_t)keys[first + i]);
		step_collide(self->step, &list, 0, &options);
		for (uint32_t i = 0; i < list.count; i++) {
			uint32_t number = (uint32_t)(keys[first + i] >> 32);
			add_stored_one(self, &items[i], work->rows[number], &work->sums[number]);
		}
	}
	return STATUS_OK;
}

/* ---- who takes part, and who wakes --------------------------------------------------------- */

/* m/s: the speed that a momentum gives to the farthest point of a body. */
static double speed_of(const struct dynamics *dynamics, uint32_t body, struct spatial momentum)
{
	const struct tables *tables = dynamics->tables;
	vec3 v = vec3_scale(momentum.linear, tables->body.mass_inv[body]);
	vec3 w = mat3_mul_vec(integrate_inertia_inv(dynamics, body), momentum.angular);
	uint32_t locks = locks_of(tables, body);
	v = locks_along(locks, v);
	w = locks_about(locks, w);
	if (tables->world.planar[0]) {
		v.z = 0;
		w.x = w.y = 0;
	}
	double turning = vec3_length(w);
	return vec3_length(v) + (turning > 0 ? turning * dynamics->bodies.items[body].reach : 0);
}

/* s: sleep.time, and at least a tick. */
static double sleep_time_of(const struct soft_step *self)
{
	return scalar_max(self->dynamics->tables->parameter.value[PARAMETER_SLEEP_TIME], self->dt);
}

/* s: the sleep_time that a speed leaves to a sleeping body; below 0: none. */
static double time_left(const struct soft_step *self, uint32_t body, double speed)
{
	const struct tables *tables = self->dynamics->tables;
	double slow = tables->parameter.value[PARAMETER_SLEEP_SPEED], most = sleep_time_of(self);
	double time = scalar_min(tables->body.sleep_time[body] + SLEEP_FEELS * self->dt, most);
	if (!(speed > 0))
		return time;
	return speed * most < slow * time ? time - speed * most / slow : -1;
}

/* Those that receive more than what a sleeping body does not feel take part. */
static void push_held(const struct push_work *work)
{
	struct soft_step *self = work->step;
	double slow = self->dynamics->tables->parameter.value[PARAMETER_SLEEP_SPEED];
	double most = SLEEP_FEELS * slow * self->dt / sleep_time_of(self);
	for (uint32_t i = 0; i < work->count; i++)
		if (speed_of(self->dynamics, work->rows[i], work->sums[i]) > most)
			step_push(self->step, work->rows[i]);
}

static bool any_holds(const struct step *step)
{
	for (uint32_t i = 0; i < step->contacts.count; i++)
		if (step->contacts.items[i].holds)
			return true;
	return false;
}

/* Lists the bodies of the bits, ascending. */
static void list_held(const uint64_t *held, uint32_t words, uint32_t *rows)
{
	uint32_t count = 0;
	for (uint32_t w = 0; w < words; w++)
		for (uint64_t bits = held[w]; bits != 0; bits &= bits - 1)
			rows[count++] = w * 64 + (uint32_t)__builtin_ctzll(bits);
}

static enum status measure_held(struct soft_step *self)
{
	struct arena *scratch = &self->dynamics->scratch;
	uint32_t words = self->dynamics->tables->body.count / 64 + 1;
	uint64_t *held = arena_push_zero(scratch, words * sizeof *held);
	if (held == NULL)
		return STATUS_NO_MEMORY;
	uint32_t count = find_held(self->step, held);
	uint32_t *rows = ARENA_ARRAY(scratch, uint32_t, count);
	struct push_work work = { self, held, rows, count,
				  ARENA_ARRAY(scratch, struct spatial, count) };
	struct force_sum *forces = ARENA_ARRAY(scratch, struct force_sum, count);
	if (rows == NULL || work.sums == NULL || forces == NULL)
		return STATUS_NO_MEMORY;
	list_held(held, words, rows);
	add_forces(&work, forces);
	add_solved(&work);
	if (add_stored(&work) != STATUS_OK)
		return STATUS_NO_MEMORY;
	push_held(&work);
	return STATUS_OK;
}

enum status soft_push_sleepers(struct soft_step *self, struct reason *why)
{
	struct arena *scratch = &self->dynamics->scratch;
	struct soft_sleepers *dozing = &self->dozing;
	uint32_t woken = self->step->woken_count;
	*dozing = (struct soft_sleepers){ ARENA_ARRAY(scratch, uint32_t, woken),
					  ARENA_ARRAY(scratch, double, woken), 0 };
	if (dozing->rows != NULL && dozing->left != NULL &&
	    (!any_holds(self->step) || measure_held(self) == STATUS_OK))
		return STATUS_OK;
	return reason_set(why, STATUS_NO_MEMORY, -1, "memory",
			  "no memory for what sleeping bodies receive");
}

/* m/s: how fast the farthest point of a body that slept as the step began moves at its end, or has moved in
 * it. */
static double speed_after(const struct soft_step *self, uint32_t number)
{
	const struct soft_drive *drive = &self->drives[number];
	const struct body_cache *cache = &self->dynamics->bodies.items[self->rows[number - 1]];
	if (!drive->pushed)
		return self->dt * (vec3_length(drive->start.acceleration.linear) +
				   vec3_length(drive->start.acceleration.angular) * cache->reach);
	struct body_motion motion = soft_motion(self, number, self->dt);
	double speed =
		vec3_length(motion.velocity) + vec3_length(motion.angular_velocity) * cache->reach;
	return scalar_max(speed, vec3_distance(motion.centre, cache->centre) / self->dt);
}

void soft_doze(struct soft_step *self)
{
	struct step *step = self->step;
	const struct tables *tables = self->dynamics->tables;
	struct soft_sleepers *dozing = &self->dozing;
	for (uint32_t i = 0; i < self->body_count && step->woken_count > 0; i++) {
		uint32_t body = self->rows[i];
		/* Those that an animated body reaches wake at the commit all the same. */
		if (tables->body.sleep_set[body] == 0 || joint_first(tables, body) != DYNAMICS_NONE)
			continue;
		double left = time_left(self, body, speed_after(self, i + 1));
		if (left < 0)
			continue;
		step_doze(step, body);
		dozing->rows[dozing->count] = body;
		dozing->left[dozing->count++] = left;
	}
}

/* Notes that contacts of a body that sleeps on have other impulses: its own and those of its neighbours. */
static void note_contacts(struct dynamics *dynamics, uint32_t body)
{
	bitset_set(&dynamics->parted, body);
	uint32_t e = dynamics->bodies.items[body].first_edge;
	for (; e != DYNAMICS_NONE; e = dynamics->edges.items[e].next)
		bitset_set(&dynamics->parted, edge_other(dynamics->tables, e));
}

void soft_store_sleepers(const struct soft_step *self)
{
	struct body_table *table = &self->dynamics->tables->body;
	for (uint32_t i = 0; i < self->dozing.count; i++) {
		uint32_t body = self->dozing.rows[i];
		if (table->sleep_set[body] == 0)
			continue;
		table->sleep_time[body] = self->dozing.left[i];
		note_contacts(self->dynamics, body);
	}
}
