/* sleep.c: who rests on whom, and falling asleep.
 *
 * An island is a set of awake dynamic bodies linked by touching contacts. Union-find, links in order of
 * contact rows; the lesser row becomes the root, so the answer is a function of the set of links alone.
 * When the farthest point of every body of an island has been slower than sleep.speed for sleep.time,
 * all of it falls asleep: one sleep set, a ring through sleep_next in order of rows. Its bodies leave
 * `awake`, its contacts `live`, and no step sees them until one of them is woken, which wakes the set.
 *
 * The speed counts what the body moved, correction of penetration included, as well as its velocity. An
 * animated body that moves keeps what it touches or is joined to awake, and so does a motor that
 * runs. A body that may not sleep keeps its island awake.
 */
#include "server/engine/dynamics/body.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/joint_list.h"
#include "server/engine/dynamics/step.h"
#include "server/engine/world/parameters.h"

struct islands {
	uint32_t *parent; /* by body row; only awake dynamic bodies are set */
	double *slow;	  /* by root: the least time any of its bodies has been slow, s */
	uint32_t *last;	  /* by root: the last row hung into the ring */
};

static uint32_t root_of(uint32_t *parent, uint32_t body)
{
	while (parent[body] != body) {
		parent[body] = parent[parent[body]];
		body = parent[body];
	}
	return body;
}

static void join(uint32_t *parent, uint32_t a, uint32_t b)
{
	a = root_of(parent, a);
	b = root_of(parent, b);
	if (a < b)
		parent[b] = a;
	else
		parent[a] = b;
}

static bool is_moving_script(const struct dynamics *self, uint32_t body)
{
	return self->tables->body.status[body] == BODY_ANIMATED && bitset_get(&self->awake, body);
}

static bool is_awake_dynamic(const struct dynamics *self, uint32_t body)
{
	return self->tables->body.status[body] == BODY_DYNAMIC && bitset_get(&self->awake, body);
}

/* Raises or resets the time for which each awake body has been slow. */
static void measure(struct dynamics *self, double dt)
{
	struct tables *tables = self->tables;
	double slow = tables->parameter.value[PARAMETER_SLEEP_SPEED];
	for (uint32_t body = bitset_next(&self->awake, 0); body != BITSET_NONE;
	     body = bitset_next(&self->awake, body + 1)) {
		const struct body_cache *cache = &self->bodies.items[body];
		if (tables->body.status[body] != BODY_DYNAMIC)
			continue;
		double speed = vec3_length(tables->body.velocity[body]) +
			       vec3_length(tables->body.angular_velocity[body]) * cache->reach;
		speed = scalar_max(speed, cache->motion / dt);
		if (speed > slow || !(tables->body.flags[body] & BODY_MAY_SLEEP))
			tables->body.sleep_time[body] = 0;
		else
			tables->body.sleep_time[body] += dt;
	}
}

static void link_touching(struct dynamics *self, struct islands *islands)
{
	struct tables *tables = self->tables;
	for (uint32_t row = bitset_next(&self->live, 0); row != BITSET_NONE;
	     row = bitset_next(&self->live, row + 1)) {
		if (!tables->contact.touching[row])
			continue;
		uint32_t a = contact_body_a(tables, row), b = contact_body_b(tables, row);
		if (is_moving_script(self, a) || is_moving_script(self, b)) {
			tables->body.sleep_time[a] = tables->body.sleep_time[b] = 0;
			continue;
		}
		if (is_awake_dynamic(self, a) && is_awake_dynamic(self, b))
			join(islands->parent, a, b);
	}
}

/* A motor that turns something, or follows a wave, is at work; one that holds a place may rest there. */
static bool motor_runs(const struct joint_table *joint, uint32_t row)
{
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++)
		if (joint->motor[row][axis] != JOINT_MOTOR_NONE &&
		    (joint->wave[row][axis] != JOINT_WAVE_CONSTANT ||
		     (joint->motor[row][axis] == JOINT_MOTOR_VELOCITY &&
		      joint->target[row][axis] != 0)))
			return true;
	return false;
}

static void stay_awake(struct tables *tables, uint32_t body)
{
	if (body != DYNAMICS_NONE)
		tables->body.sleep_time[body] = 0;
}

static void link_joined(struct dynamics *self, struct islands *islands)
{
	struct tables *tables = self->tables;
	for (uint32_t row = bitset_next(&self->joint_used, 0); row != BITSET_NONE;
	     row = bitset_next(&self->joint_used, row + 1)) {
		uint32_t a = joint_body(tables, row, 0), b = joint_body(tables, row, 1);
		bool awake_a = a != DYNAMICS_NONE && bitset_get(&self->awake, a);
		bool awake_b = b != DYNAMICS_NONE && bitset_get(&self->awake, b);
		if (!awake_a && !awake_b)
			continue;
		bitset_set(&self->joint_notes.moved,
			   row); /* also one that does nothing is told as it is */
		if (!joint_may_act(tables, row))
			continue;
		bool script = (awake_a && is_moving_script(self, a)) ||
			      (awake_b && is_moving_script(self, b));
		if (script || motor_runs(&tables->joint, row)) {
			stay_awake(tables, a);
			stay_awake(tables, b);
		}
		if (awake_a && awake_b && is_awake_dynamic(self, a) && is_awake_dynamic(self, b))
			join(islands->parent, a, b);
	}
}

static void fall_asleep(struct dynamics *self, uint32_t body, uint32_t set, uint32_t *last)
{
	struct tables *tables = self->tables;
	tables->body.velocity[body] = tables->body.angular_velocity[body] = vec3_zero();
	tables->body.sleep_set[body] = set;
	tables->body.sleep_next[body] = body;
	if (*last != DYNAMICS_NONE) {
		tables->body.sleep_next[body] = tables->body.sleep_next[*last];
		tables->body.sleep_next[*last] = body;
	}
	*last = body;
	body_refresh_awake(self, body);
	joints_note_moved(self, body);
	self->slept.items[self->slept.count++] = body; /* room for all who take part */
	dynamics_event(
		self,
		(struct event){ .kind = EVENT_SLEEP, .a = tables->body.id[body], .fraction = 1 });
}

/* Numbers begin at 1: 0 means awake. */
static uint32_t next_set(struct tables *tables)
{
	uint32_t set = MAX_OF(tables->world.next_sleep_set[0], 1u);
	tables->world.next_sleep_set[0] = set + 1;
	return set;
}

/* Counts islands, and puts those to sleep that have been slow for long enough. The root is the lowest
 * row of its island, so it comes first and takes the set's number. */
static void settle(struct dynamics *self, struct islands *islands)
{
	struct tables *tables = self->tables;
	double wanted = tables->parameter.value[PARAMETER_SLEEP_TIME];
	for (uint32_t body = bitset_next(&self->awake, 0); body != BITSET_NONE;
	     body = bitset_next(&self->awake, body + 1)) {
		if (!is_awake_dynamic(self, body))
			continue;
		uint32_t root = root_of(islands->parent, body);
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
		/* Parents of bodies asleep by now are as they were: they are not asked for anew. */
		uint32_t root = root_of(islands->parent, body);
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
	struct arena_mark mark = arena_mark(&self->scratch);
	struct islands islands = { ARENA_ARRAY(&self->scratch, uint32_t, rows),
				   ARENA_ARRAY(&self->scratch, double, rows),
				   ARENA_ARRAY(&self->scratch, uint32_t, rows) };
	ASSERT(islands.parent != NULL && islands.slow != NULL &&
	       islands.last != NULL); /* reserved */
	for (uint32_t body = bitset_next(&self->awake, 0); body != BITSET_NONE;
	     body = bitset_next(&self->awake, body + 1))
		islands.parent[body] = body;
	measure(self, step->dt);
	link_touching(self, &islands);
	link_joined(self, &islands);
	settle(self, &islands);
	arena_rewind(&self->scratch, mark);
}

/* ---- waking ----------------------------------------------------------------------------------- */

void dynamics_wake(struct dynamics *self, uint32_t body)
{
	struct tables *tables = self->tables;
	tables->body.sleep_time[body] = 0;
	if (tables->body.sleep_set[body] == 0)
		return;
	for (uint32_t at = body, next;; at = next) {
		next = tables->body.sleep_next[at];
		joints_note_moved(self, at);
		tables->body.sleep_set[at] = 0;
		tables->body.sleep_time[at] = 0;
		tables->body.sleep_next[at] = at;
		body_refresh_awake(self, at);
		dynamics_event(self, (struct event){ .kind = EVENT_WAKE,
						     .a = tables->body.id[at],
						     .fraction = 1 });
		if (next == body)
			break;
	}
}

void dynamics_wake_all(struct dynamics *self)
{
	for (uint32_t body = bitset_next(&self->body_used, 0); body != BITSET_NONE;
	     body = bitset_next(&self->body_used, body + 1))
		dynamics_wake(self, body);
}
