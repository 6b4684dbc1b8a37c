/* sleep.c: islands of bodies that rest fall asleep, and sleep sets are woken.
 *
 * A sleep island is a set of awake dynamic bodies linked by touching contacts, by joints and by
 * carriers.
 * Union-find visits links in order of rows; the lower row becomes the root, so the islands are a
 * function of the set of links alone. When every point of every body of an island has been slower
 * than sleep.speed for sleep.time, the island falls asleep as one sleep set, a ring through
 * sleep_next in order of rows. Its bodies leave `awake`, its contacts leave `live`, and no step
 * visits them until one is woken, which wakes the whole set. (A step of a method that lets sleeping
 * bodies hold may wake some bodies of a set; the others sleep on as that set.)
 *
 * The speed is the larger of the velocity and the actual motion, removal of penetration included. A
 * moving animated body keeps the bodies awake that it touches or is joined to, and so does a
 * running motor. A body without BODY_MAY_SLEEP keeps its island awake.
 */
#include "server/engine/dynamics/belt.h"

#include "server/base/union_find.h"
#include "server/engine/dynamics/body.h"
#include "server/engine/dynamics/carrier.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/joint_list.h"
#include "server/engine/dynamics/step.h"
#include "server/engine/world/parameters.h"

struct sleep_islands {
	uint32_t *parent; /* by body row; only awake dynamic bodies are set */
	double *slow;	  /* by root: the shortest sleep_time of its bodies, s */
	uint32_t *last;	  /* by root: the body last added to the ring */
};

static bool is_moving_animated(const struct dynamics *self, uint32_t body)
{
	return self->tables->body.status[body] == BODY_ANIMATED && bitset_get(&self->awake, body);
}

static inline bool is_awake_dynamic(const struct dynamics *self, uint32_t body)
{
	return self->tables->body.status[body] == BODY_DYNAMIC && bitset_get(&self->awake, body);
}

struct sleep_work {
	struct dynamics *self;
	uint32_t *parent;
	double dt;
};

enum { WORD_GRAIN = 4 };

/* Raises or resets sleep_time, the time for which each awake body has been slow, s; each is an island of
 * its own at first. First and last are words of the set of awake bodies. */
static void sleep_times_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct sleep_work *work = context;
	const struct dynamics *self = work->self;
	struct body_table *table = &self->tables->body;
	double slow = self->tables->parameter.value[PARAMETER_SLEEP_SPEED], dt = work->dt;
	for (uint32_t w = first; w < last; w++)
		for (uint64_t bits = self->awake.words[w]; bits != 0; bits &= bits - 1) {
			uint32_t body = w * 64 + (uint32_t)__builtin_ctzll(bits);
			const struct body_cache *cache = &self->bodies.items[body];
			work->parent[body] = body;
			if (table->status[body] != BODY_DYNAMIC)
				continue;
			double speed = vec3_length(table->velocity[body]) +
				       vec3_length(table->angular_velocity[body]) * cache->reach;
			speed = scalar_max(speed, cache->motion / dt);
			if (speed > slow || !(table->flags[body] & BODY_MAY_SLEEP))
				table->sleep_time[body] = 0;
			else
				table->sleep_time[body] += dt;
		}
}

/* Whether one of a contact's surfaces is a conveyor. */
static bool row_on_belt(const struct dynamics *self, uint32_t row)
{
	const struct contact_table *contact = &self->tables->contact;
	ASSERT(contact->used[row]);
	return belt_touches(
		self, (struct contact_piece){ contact->placement_a[row], contact->child_a[row] },
		(struct contact_piece){ contact->placement_b[row], contact->child_b[row] });
}

static void link_touching(struct dynamics *self, struct sleep_islands *islands)
{
	struct tables *tables = self->tables;
	for (uint32_t row = bitset_next(&self->live, 0); row != BITSET_NONE;
	     row = bitset_next(&self->live, row + 1)) {
		if (!tables->contact.touching[row])
			continue;
		uint32_t a = contact_body_a(tables, row), b = contact_body_b(tables, row);
		if (belt_concerns(self, a, b) && row_on_belt(self, row))
			tables->body.sleep_time[a] = tables->body.sleep_time[b] = 0;
		if (is_awake_dynamic(self, a) && is_awake_dynamic(self, b)) {
			(void)union_find_join(islands->parent, a, b);
			continue;
		}
		if (is_moving_animated(self, a) || is_moving_animated(self, b)) {
			tables->body.sleep_time[a] = tables->body.sleep_time[b] = 0;
		}
	}
}

/* True for a velocity motor with a target and for a motor with a wave; a motor that holds a
 * position may sleep. */
static bool motor_runs(const struct joint_table *joint, uint32_t row)
{
	ASSERT(row < joint->count);
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++)
		if (joint->motor[row][axis] != JOINT_MOTOR_NONE &&
		    (joint->wave[row][axis] != JOINT_WAVE_CONSTANT ||
		     (joint->motor[row][axis] == JOINT_MOTOR_VELOCITY &&
		      joint->target[row][axis] != 0)))
			return true;
	return false;
}

static void reset_sleep_time(struct tables *tables, uint32_t body)
{
	if (body != DYNAMICS_NONE)
		tables->body.sleep_time[body] = 0;
}

static void link_joined(struct dynamics *self, struct sleep_islands *islands)
{
	struct tables *tables = self->tables;
	for (uint32_t row = bitset_next(&self->joint_used, 0); row != BITSET_NONE;
	     row = bitset_next(&self->joint_used, row + 1)) {
		uint32_t a = joint_body(tables, row, 0), b = joint_body(tables, row, 1);
		bool awake_a = a != DYNAMICS_NONE && bitset_get(&self->awake, a);
		bool awake_b = b != DYNAMICS_NONE && bitset_get(&self->awake, b);
		if (!awake_a && !awake_b)
			continue;
		bitset_set(&self->joint_notes.moved, row); /* reported even if it does not act */
		if (!joint_may_act(tables, row))
			continue;
		bool animated = (awake_a && is_moving_animated(self, a)) ||
				(awake_b && is_moving_animated(self, b));
		if (animated || motor_runs(&tables->joint, row)) {
			reset_sleep_time(tables, a);
			reset_sleep_time(tables, b);
		}
		if (awake_a && awake_b && is_awake_dynamic(self, a) && is_awake_dynamic(self, b))
			(void)union_find_join(islands->parent, a, b);
	}
}

/* An awake dynamic body of a joint; DYNAMICS_NONE: it has none. */
static uint32_t awake_body(const struct dynamics *self, uint32_t row)
{
	for (uint32_t side = 0; side < 2; side++) {
		uint32_t body = joint_body(self->tables, row, side);
		if (body != DYNAMICS_NONE && is_awake_dynamic(self, body))
			return body;
	}
	return DYNAMICS_NONE;
}

/* The bodies of a gear's joints sleep together, and not while a motor or an animated body moves the
 * leader. */
static void link_geared(struct dynamics *self, struct sleep_islands *islands)
{
	struct tables *tables = self->tables;
	for (uint32_t row = bitset_next(&self->joint_geared, 0); row != BITSET_NONE;
	     row = bitset_next(&self->joint_geared, row + 1))
		for (uint32_t axis = 0; axis < JOINT_AXES; axis++) {
			uint32_t leader = tables->joint.leader[row][axis] - 1;
			if (leader == DYNAMICS_NONE || !joint_may_act(tables, row) ||
			    !joint_may_act(tables, leader))
				continue;
			uint32_t a = awake_body(self, row), b = awake_body(self, leader);
			bool moves = motor_runs(&tables->joint, leader);
			for (uint32_t side = 0; side < 2; side++) {
				uint32_t body = joint_body(tables, leader, side);
				moves |= body != DYNAMICS_NONE && is_moving_animated(self, body);
			}
			if (moves)
				reset_sleep_time(tables, a);
			if (a != DYNAMICS_NONE && b != DYNAMICS_NONE)
				(void)union_find_join(islands->parent, a, b);
		}
}

/* A body sleeps and wakes with the points that carry it. */
static void link_carried(struct dynamics *self, struct sleep_islands *islands)
{
	for (uint32_t row = bitset_next(&self->carrier_used, 0); row != BITSET_NONE;
	     row = bitset_next(&self->carrier_used, row + 1)) {
		uint32_t body = self->tables->carrier.body[row] - 1;
		if (!is_awake_dynamic(self, body))
			continue;
		for (uint32_t k = 0; k < CARRIER_POINTS; k++) {
			uint32_t point = carrier_point(self->tables, row, k);
			if (point != DYNAMICS_NONE && is_awake_dynamic(self, point))
				(void)union_find_join(islands->parent, body, point);
		}
	}
}

static void fall_asleep(struct dynamics *self, uint32_t body, uint32_t set, uint32_t *last)
{
	ASSERT(set != 0);
	ASSERT(*last == DYNAMICS_NONE || *last < body);
	struct tables *tables = self->tables;
	tables->body.velocity[body] = tables->body.angular_velocity[body] = vec3_zero();
	dynamics_rotors_rest(self, body);
	tables->body.sleep_set[body] = set;
	tables->body.sleep_next[body] = body;
	if (*last != DYNAMICS_NONE) {
		tables->body.sleep_next[body] = tables->body.sleep_next[*last];
		tables->body.sleep_next[*last] = body;
	}
	*last = body;
	body_refresh_awake(self, body);
	joints_note_moved(self, body);
	ASSERT(self->slept.count < self->slept.capacity);
	self->slept.items[self->slept.count++] = body; /* step_commit reserved it */
	dynamics_event(
		self,
		(struct event){ .kind = EVENT_SLEEP, .a = tables->body.id[body], .fraction = 1 });
}

/* Numbers begin at 1, because 0 means awake. */
static uint32_t next_set(struct tables *tables)
{
	uint32_t set = MAX_OF(tables->world.next_sleep_set[0], 1u);
	tables->world.next_sleep_set[0] = set + 1;
	return set;
}

/* Counts islands, and lets those fall asleep that have been slow for sleep.time. The root is the
 * lowest row of its island, so it comes first and gets the set's number. */
static void sleep_slow_islands(struct dynamics *self, struct sleep_islands *islands)
{
	struct tables *tables = self->tables;
	double wanted = tables->parameter.value[PARAMETER_SLEEP_TIME];
	for (uint32_t body = bitset_next(&self->awake, 0); body != BITSET_NONE;
	     body = bitset_next(&self->awake, body + 1)) {
		if (!is_awake_dynamic(self, body))
			continue;
		uint32_t root = union_find_root(islands->parent, body);
		if (root == body) {
			islands->slow[root] = tables->body.sleep_time[body];
			islands->last[root] = DYNAMICS_NONE;
			self->report.islands++;
		}
		islands->slow[root] =
			scalar_min(islands->slow[root], tables->body.sleep_time[body]);
	}
	if (tables->parameter.value[PARAMETER_SLEEP_ENABLED] == 0)
		return;
	for (uint32_t body = bitset_next(&self->awake, 0); body != BITSET_NONE;
	     body = bitset_next(&self->awake, body + 1)) {
		if (!is_awake_dynamic(self, body))
			continue;
		/* `parent` of bodies that have just fallen asleep is still valid. */
		uint32_t root = union_find_root(islands->parent, body);
		if (islands->slow[root] < wanted || islands->slow[root] == 0)
			continue;
		uint32_t set = root == body ? next_set(tables) : tables->body.sleep_set[root];
		fall_asleep(self, body, set, &islands->last[root]);
	}
}

void step_sleep(struct step *step)
{
	struct dynamics *self = step->dynamics;
	uint32_t rows = self->tables->body.count;
	profile_enter(self->profile, PROFILE_SLEEP);
	struct arena_mark mark = arena_mark(&self->scratch);
	struct sleep_islands islands = { ARENA_ARRAY(&self->scratch, uint32_t, rows),
					 ARENA_ARRAY(&self->scratch, double, rows),
					 ARENA_ARRAY(&self->scratch, uint32_t, rows) };
	ASSERT(islands.parent != NULL && islands.slow != NULL &&
	       islands.last != NULL); /* reserved */
	ASSERT(step->dt > 0);
	struct sleep_work work = { self, islands.parent, step->dt };
	uint32_t words = (MIN_OF(rows, self->awake.size) + 63) / 64;
	parallel_run(step->parallel, words, WORD_GRAIN, sleep_times_piece, &work);
	link_touching(self, &islands);
	link_joined(self, &islands);
	link_geared(self, &islands);
	link_carried(self, &islands);
	sleep_slow_islands(self, &islands);
	arena_rewind(&self->scratch, mark);
}

/* ---- waking -------------------------------------------------------------------------------- */

static void wake_one(struct dynamics *self, uint32_t body)
{
	ASSERT(self->tables->body.sleep_set[body] != 0);
	struct tables *tables = self->tables;
	joints_note_moved(self, body);
	tables->body.sleep_set[body] = 0;
	tables->body.sleep_time[body] = 0;
	tables->body.sleep_next[body] = body;
	body_refresh_awake(self, body);
	dynamics_event(
		self,
		(struct event){ .kind = EVENT_WAKE, .a = tables->body.id[body], .fraction = 1 });
}

void dynamics_wake(struct dynamics *self, uint32_t body)
{
	ASSERT(body < self->tables->body.count);
	struct tables *tables = self->tables;
	tables->body.sleep_time[body] = 0;
	if (tables->body.sleep_set[body] == 0)
		return;
	for (uint32_t at = body, next;; at = next) {
		next = tables->body.sleep_next[at];
		wake_one(self, at);
		if (next == body)
			break;
	}
	ASSERT(tables->body.sleep_set[body] == 0);
}

void dynamics_wake_some(struct dynamics *self, uint32_t body, const uint64_t *rows)
{
	struct tables *tables = self->tables;
	if (tables->body.sleep_set[body] == 0)
		return;
	uint32_t first = DYNAMICS_NONE, last = DYNAMICS_NONE; /* of those that sleep on */
	for (uint32_t at = body, next;; at = next) {
		next = tables->body.sleep_next[at];
		if (rows[at / 64] >> (at % 64) & 1) {
			wake_one(self, at);
		} else {
			if (last == DYNAMICS_NONE)
				first = at;
			else
				tables->body.sleep_next[last] = at;
			last = at;
		}
		if (next == body)
			break;
	}
	if (last != DYNAMICS_NONE)
		tables->body.sleep_next[last] = first;
}

void dynamics_wake_all(struct dynamics *self)
{
	self->disturbed = true;
	for (uint32_t body = bitset_next(&self->body_used, 0); body != BITSET_NONE;
	     body = bitset_next(&self->body_used, body + 1))
		dynamics_wake(self, body);
}
