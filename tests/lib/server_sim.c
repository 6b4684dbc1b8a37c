/* The daemon's half: creation, stepping, the truth, ending. After every event each world is read:
 * its state is kept whenever (epoch, tick) or the tick hash has changed. Nothing runs concurrently
 * with an event, so the state read is the state that the worker left. */
#include "tests/lib/server_sim.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/heap.h"
#include "server/host/host_state.h"
#include "server/session/session.h"
#include "tests/lib/io_sim_internal.h"
#include "tests/lib/sim_client.h"

_Noreturn void sim_fail(const char *what, const struct reason *why)
{
	printf("# server_sim: %s: %s %s\n", what, why != NULL ? why->field : "",
	       why != NULL ? why->text : "");
	fflush(stdout);
	abort();
}

void *sim_memory(void *memory)
{
	if (memory == NULL)
		sim_fail("out of memory", NULL);
	return memory;
}

struct server_sim_options server_sim_options_default(uint64_t seed)
{
	struct server_sim_options options = { .io = io_sim_options_default(seed), .truth = true };
	return options;
}

/* Only the daemon's allocations count towards the one that fails. */
static void daemon_begin(struct server_sim *self)
{
	self->calls_before = heap_calls();
	if (self->fail_in > 0)
		heap_fail_at(self->fail_in);
}

static void daemon_end(struct server_sim *self)
{
	uint64_t calls = heap_calls() - self->calls_before;
	self->daemon_calls += calls;
	if (self->fail_in == 0)
		return;
	heap_fail_at(0);
	self->failed = calls >= self->fail_in;
	self->fail_in = self->failed ? 0 : self->fail_in - calls;
}

/* ---- the truth ---------------------------------------------------------------------------------- */

static const struct wire_body *body_in(const struct sim_state *state, uint32_t id)
{
	for (uint32_t i = 0; i < state->count; i++)
		if (state->bodies[i].id == id)
			return &state->bodies[i];
	return NULL;
}

static void state_release(struct sim_state *state)
{
	for (uint32_t i = 0; i < state->count; i++)
		heap_free((void *)(uintptr_t)state->bodies[i].shapes);
	for (uint32_t i = 0; i < state->count; i++)
		heap_free((void *)(uintptr_t)state->bodies[i].contacts);
	heap_free(state->bodies);
	heap_free(state->joints);
	heap_free(state->particles);
}

static bool is_dynamic(const struct sim_state *state, uint32_t id)
{
	const struct wire_body *body = body_in(state, id);
	return body != NULL && body->status == BODY_DYNAMIC;
}

/* Finds the body that stores a point of the contact and converts the point to its side (`out`);
 * NULL if no such body exists. */
static struct wire_body *find_holder(const struct sim_state *state, const struct contact_view *view,
				     struct wire_touch *out)
{
	bool a = is_dynamic(state, view->a), b = is_dynamic(state, view->b);
	bool first = a && (!b || view->a > view->b);
	*out = (struct wire_touch){ .other = first ? view->b : view->a,
				    .child = first ? view->child_a : view->child_b,
				    .other_child = first ? view->child_b : view->child_a,
				    .separation = view->separation,
				    .impulse = view->normal_impulse };
	memcpy(out->point, &view->point, sizeof out->point);
	memcpy(out->normal, &view->normal, sizeof out->normal);
	memcpy(out->friction, &view->friction_impulse, sizeof out->friction);
	for (int i = 0; i < 3 && first; i++) {
		out->normal[i] = 0 - out->normal[i];
		out->friction[i] = 0 - out->friction[i];
	}
	if (!a && !b)
		return NULL;
	return (struct wire_body *)(uintptr_t)body_in(state, first ? view->a : view->b);
}

struct held_contact {
	struct wire_touch touch;
	uint32_t holder, order;
};

static int by_holder(const void *a, const void *b)
{
	const struct held_contact *x = a, *y = b;
	const uint32_t xs[5] = { x->holder, x->touch.other, x->touch.child, x->touch.other_child,
				 x->order };
	const uint32_t ys[5] = { y->holder, y->touch.other, y->touch.child, y->touch.other_child,
				 y->order };
	for (int i = 0; i < 5; i++)
		if (xs[i] != ys[i])
			return xs[i] > ys[i] ? 1 : -1;
	return 0;
}

/* All contacts of the world, grouped by the body that stores them; computed differently from the
 * host's way. */
static void read_contacts(const struct world *world, struct sim_state *state)
{
	uint32_t room = 4 * world_stats(world).contacts + 1, count, held_count = 0;
	struct contact_view *views = sim_memory(heap_alloc(room * sizeof *views));
	struct held_contact *held = sim_memory(heap_alloc(room * sizeof *held));
	if (world_contacts(world, 0, views, room, &count) != STATUS_OK)
		sim_fail("out of memory", NULL);
	for (uint32_t i = 0; i < count; i++) {
		struct wire_body *holder = find_holder(state, &views[i], &held[held_count].touch);
		if (holder == NULL)
			continue;
		held[held_count].holder = holder->id;
		held[held_count++].order = i;
	}
	qsort(held, held_count, sizeof *held, by_holder);
	for (uint32_t i = 0, end; i < held_count; i = end) {
		struct wire_body *holder =
			(struct wire_body *)(uintptr_t)body_in(state, held[i].holder);
		struct wire_touches_writer writer;
		for (end = i; end < held_count && held[end].holder == held[i].holder;)
			end++;
		uint8_t *packed = sim_memory(heap_alloc(WIRE_TOUCHES_BYTES_MAX));
		wire_touches_begin(&writer, WIRE_PROFILE_EXACT, packed, end - i);
		for (uint32_t k = i; k < end; k++)
			wire_touches_put(&writer, &held[k].touch);
		holder->contact_bytes = (uint32_t)(writer.at - packed);
		holder->contacts = sim_memory(heap_realloc(packed, holder->contact_bytes));
	}
	heap_free(views);
	heap_free(held);
}

static void read_shapes(const struct world *world, struct wire_body *to)
{
	struct placement_view placements[ATTACHMENTS_MAX];
	uint32_t count = world_body_placements(world, to->id, placements, ATTACHMENTS_MAX);
	uint8_t *shapes = sim_memory(heap_alloc(count * (size_t)WIRE_SHAPE_BYTES));
	for (uint32_t i = 0; i < count; i++) {
		struct wire_placement placement;
		memcpy(placement.shape.bytes, placements[i].shape->name, SHAPE_NAME_BYTES);
		memcpy(placement.position, &placements[i].position, sizeof placement.position);
		memcpy(placement.rotation, &placements[i].rotation, sizeof placement.rotation);
		wire_placement_put(shapes + i * (size_t)WIRE_SHAPE_BYTES, &placement);
	}
	to->shape_count = (uint8_t)count;
	to->shapes = shapes;
}

static void read_body(const struct world *world, body_id id, struct wire_body *to)
{
	struct body_view view;
	if (world_body(world, id, &view) != STATUS_OK)
		sim_fail("a listed body is not there", NULL);
	*to = (struct wire_body){
		.id = id,
		.status = view.status,
		.flags = wire_body_flags(view.asleep, view.quarantined, view.fast, view.sensor),
		.owner = view.owner,
		.tag = view.tag,
	};
	memcpy(to->position, &view.position, sizeof to->position);
	memcpy(to->rotation, &view.rotation, sizeof to->rotation);
	memcpy(to->velocity, &view.velocity, sizeof to->velocity);
	memcpy(to->spin, &view.angular_velocity, sizeof to->spin);
	read_shapes(world, to);
}

static void read_joint(const struct world *world, joint_id id, struct wire_joint *to)
{
	struct joint_view view;
	if (world_joint(world, id, &view) != STATUS_OK)
		sim_fail("a listed joint is not there", NULL);
	*to = (struct wire_joint){
		.id = id,
		.a = view.a,
		.b = view.b,
		.owner = view.owner,
		.tag = view.tag,
		.type = view.type,
		.flags = (uint8_t)(view.flags | (view.asleep ? WIRE_JOINT_ASLEEP : 0)),
		.breaks = { view.break_force, view.break_torque },
	};
	memcpy(to->point_a, &view.point_a, sizeof to->point_a);
	memcpy(to->frame_a, &view.frame_a, sizeof to->frame_a);
	memcpy(to->point_b, &view.point_b, sizeof to->point_b);
	memcpy(to->frame_b, &view.frame_b, sizeof to->frame_b);
	memcpy(to->coordinates, view.coordinates, sizeof to->coordinates);
	memcpy(to->force, &view.force, sizeof to->force);
	memcpy(to->torque, &view.torque, sizeof to->torque);
}

static void read_joints(const struct world *world, struct sim_state *state)
{
	uint32_t count = world_joints(world, 0, NULL, 0);
	if (count == 0)
		return;
	joint_id *ids = sim_memory(heap_alloc(count * sizeof *ids));
	state->joints = sim_memory(heap_alloc(count * sizeof *state->joints));
	state->joint_count = world_joints(world, 0, ids, count);
	for (uint32_t i = 0; i < count; i++)
		read_joint(world, ids[i], &state->joints[i]);
	heap_free(ids);
}

static void read_particles(const struct world *world, struct sim_state *state)
{
	state->particle_count = world_particle_count(world);
	if (state->particle_count == 0)
		return;
	state->particles = sim_memory(heap_alloc(state->particle_count * sizeof *state->particles));
	world_particle_rows(world, state->particles);
}

static struct sim_truth *truth_of(struct server_sim *self, uint32_t world)
{
	for (uint32_t i = 0; i < self->truths.count; i++)
		if (self->truths.items[i].world == world)
			return &self->truths.items[i];
	if (ARRAY_RESERVE(&self->truths, self->truths.count + 1u) != STATUS_OK)
		sim_fail("out of memory", NULL);
	struct sim_truth *truth = &self->truths.items[self->truths.count++];
	*truth = (struct sim_truth){ .world = world };
	return truth;
}

static void read_world(struct server_sim *self, const struct host *host)
{
	const struct world *world = host->world;
	struct sim_truth *truth = truth_of(self, host->options.number);
	struct world_info info = world_info(world);
	uint64_t hash = world_tick_hash(world);
	if (truth->states.count > 0) {
		const struct sim_state *last = &truth->states.items[truth->states.count - 1];
		if (last->tick == info.tick && last->epoch == info.epoch &&
		    last->edit == info.edit && last->tick_hash == hash)
			return;
	}
	if (ARRAY_RESERVE(&truth->states, truth->states.count + 1u) != STATUS_OK)
		sim_fail("out of memory", NULL);
	struct sim_state *state = &truth->states.items[truth->states.count++];
	*state = (struct sim_state){
		.tick = info.tick, .tick_hash = hash, .epoch = info.epoch, .edit = info.edit
	};
	state->count = world_bodies(world, NULL, 0);
	state->bodies = sim_memory(heap_alloc(state->count * sizeof *state->bodies));
	body_id *ids = sim_memory(heap_alloc(state->count * sizeof *ids));
	world_bodies(world, ids, state->count);
	for (uint32_t i = 0; i < state->count; i++)
		read_body(world, ids[i], &state->bodies[i]);
	read_contacts(world, state);
	read_joints(world, state);
	read_particles(world, state);
	heap_free(ids);
}

/* One event of the loop may contain several slices (pool.h): the state is read after each. */
static struct server_sim *running_sim;
static const struct runnable_ops *seen_ops;

static uint64_t due_of_runnable(struct runnable *runnable)
{
	return seen_ops->due(runnable);
}

static uint32_t run_and_read(struct runnable *runnable, uint64_t now, uint64_t until)
{
	uint32_t steps = seen_ops->run(runnable, now, until);
	daemon_end(running_sim);
	read_world(running_sim, (struct host *)runnable);
	daemon_begin(running_sim);
	return steps;
}

static void read_all(struct server_sim *self)
{
	static const struct runnable_ops SEEING = { due_of_runnable, run_and_read };
	if (!self->keeps_truth || self->server == NULL)
		return;
	const struct worlds *worlds = &self->server->worlds;
	for (uint32_t i = 0; i < worlds->items.count; i++) {
		struct host *host = worlds->items.items[i]->host;
		read_world(self, host);
		if (host->runnable.ops != &SEEING)
			seen_ops = host->runnable.ops;
		host->runnable.ops = &SEEING;
	}
}

/* Whether a body of the mirror equals the real one in the columns that it has. In `view` and `sim`
 * the integers must equal the quantised real values, and the doubles must be those that the
 * integers represent. */
static bool shows_body(const struct mirror *mirror, uint32_t index, const struct wire_body *real)
{
	static uint8_t packed[WIRE_TOUCHES_BYTES_MAX];
	struct wire_body shown = *real;
	struct wire_quantised values;
	if (wire_profile_quantised(mirror->profile)) {
		struct wire_slice exact = { real->contacts, real->contact_bytes };
		shown.contacts = packed;
		shown.contact_bytes = wire_touches_quantise(mirror->profile, exact, packed);
		wire_quantise(mirror->profile, real, &values);
		wire_dequantise(mirror->profile, &values, WIRE_COLUMNS_ALL, &shown);
		if (wire_quantised_differ(&mirror->quantised[index], &values) & mirror->fields)
			return false;
	}
	return mirror->bodies[index].id == real->id &&
	       (wire_columns_differ(&mirror->bodies[index], &shown) & mirror->fields) == 0;
}

/* Whether the mirror has the joints of its bodies (for a part of the world), or all joints, each as
 * its profile encodes it. While a budget delays bodies, joints may arrive before them. */
static bool shows_joints(const struct mirror *mirror, const struct sim_state *state, bool part,
			 bool partial)
{
	const struct mirror_joints *joints = &mirror->joints;
	uint32_t next = 0;
	for (uint32_t i = 0; i < state->joint_count && joints->columns != 0; i++) {
		const struct wire_joint *real = &state->joints[i];
		bool seen = !part || mirror_find(mirror, real->a) != NULL ||
			    mirror_find(mirror, real->b) != NULL;
		bool here = next < joints->count && joints->items[next].id == real->id;
		if (here != seen && !(here && partial))
			return false;
		if (here &&
		    wire_joint_hash(joints->profile, &joints->items[next++], joints->columns) !=
			    wire_joint_hash(joints->profile, real, joints->columns))
			return false;
	}
	return next == joints->count;
}

static struct wire_particle wire_particle_of(const struct particle_row *from)
{
	struct wire_particle to = { .system = from->system,
				    .serial = from->serial,
				    .size = { from->radius, from->mass },
				    .life = { from->birth, from->death },
				    .density = from->density,
				    .pressure = from->pressure };
	memcpy(to.velocity, &from->velocity, sizeof to.velocity);
	memcpy(to.position, &from->position, sizeof to.position);
	return to;
}

/* Whether a particle of the mirror equals the real one, as its profile encodes it. */
static bool shows_particle(const struct mirror_particles *particles, uint32_t index,
			   const struct wire_particle *real)
{
	const struct wire_particle *own = &particles->shown.items.items[index];
	struct wire_particle_steps steps;
	const struct wire_particle_steps *shown = NULL;
	if (wire_particle_compare(own, real) != 0)
		return false;
	if (wire_profile_quantised(particles->profile)) {
		wire_particle_quantise(particles->profile, real, particles->columns, &steps);
		shown = &particles->shown.steps.items[index];
	}
	return wire_particle_hash(particles->profile, own, shown, particles->columns) ==
	       wire_particle_hash(particles->profile, real, &steps, particles->columns);
}

static bool is_watched_place(const struct sim_subscription *subscription,
			     const struct sim_state *state, const double position[3],
			     double margins);

/* Whether the mirror has the particles of its sample and its areas. */
static bool shows_particles(const struct sim_subscription *subscription,
			    const struct sim_state *state, bool part, bool settled)
{
	const struct mirror_particles *particles = &subscription->mirror.particles;
	uint32_t next = 0;
	if (!(particles->columns & WIRE_PARTICLE_COLUMNS_OWN))
		return particles->shown.items.count == 0;
	for (uint32_t i = 0; i < state->particle_count; i++) {
		struct wire_particle real = wire_particle_of(&state->particles[i]);
		bool here = next < particles->shown.items.count &&
			    wire_particle_compare(&particles->shown.items.items[next], &real) == 0;
		bool sampled = real.serial % subscription->sample == 0;
		if (here && (!sampled || !shows_particle(particles, next, &real)))
			return false;
		next += here;
		if (!sampled || !settled)
			continue;
		/* An area on a body lags by half a margin, and is larger by as much. */
		if (!here && (!part || is_watched_place(subscription, state, real.position, 0)))
			return false;
		if (here && part && !is_watched_place(subscription, state, real.position, 1.0001))
			return false;
	}
	return next == particles->shown.items.count;
}

/* Whether the mirror equals this state. */
static bool shows(const struct sim_subscription *subscription, const struct sim_state *state)
{
	const struct mirror *mirror = &subscription->mirror;
	if (mirror->count != state->count)
		return false;
	for (uint32_t i = 0; i < state->count; i++)
		if (!shows_body(mirror, i, &state->bodies[i]))
			return false;
	return shows_joints(mirror, state, false, false) &&
	       shows_particles(subscription, state, false, true);
}

/* A RESTORE and the next tick or RESTORE may fall into one event: then the state between them is
 * not read; in the second case no state of its epoch is. */
static bool may_be_missed(const struct sim_truth *truth, const struct mirror *mirror)
{
	for (uint32_t i = 1; i < truth->states.count; i++)
		if (truth->states.items[i].epoch == mirror->epoch &&
		    truth->states.items[i - 1].epoch < mirror->epoch)
			return truth->states.items[i].tick == mirror->tick + 1;
	for (uint32_t i = 1; i < truth->states.count; i++)
		if (truth->states.items[i].epoch > mirror->epoch &&
		    truth->states.items[i - 1].epoch < mirror->epoch)
			return true;
	return false;
}

/* Whether a place is within `margins` margins of the watched area. If the body of an area is gone,
 * the area's place is unknown: with margins everything counts as inside, without them nothing. */
static bool is_watched_place(const struct sim_subscription *subscription,
			     const struct sim_state *state, const double position[3],
			     double margins)
{
	for (uint32_t i = 0; i < subscription->area_count; i++) {
		const struct wire_area *area = &subscription->areas[i];
		const struct wire_body *anchor = body_in(state, area->body);
		double origin[3] = { 0 }, pad = margins * wire_area_margin(area);
		if (area->body != 0 && anchor == NULL && margins > 0)
			return true;
		if (anchor != NULL)
			memcpy(origin, anchor->position, sizeof origin);
		if ((area->body == 0 || anchor != NULL) &&
		    wire_area_holds(area, origin, position, pad))
			return true;
	}
	return false;
}

static bool is_watched(const struct sim_subscription *subscription, const struct sim_state *state,
		       const struct wire_body *body, double margins)
{
	for (uint32_t i = 0; i < subscription->follow_count; i++)
		if (subscription->follow[i] == body->id)
			return true;
	return is_watched_place(subscription, state, body->position, margins);
}

/* Whether the mirror equals this state restricted to the watched part. */
static bool shows_part(const struct sim_subscription *subscription, const struct sim_state *state)
{
	const struct mirror *mirror = &subscription->mirror;
	/* While a FOCUS is in transit the mirror may show either part, and with a budget the rest
	 * of the bodies is still to come. */
	bool settled = subscription->focus_t == 0 && subscription->focus_frames != 1;
	uint32_t seen = 0;
	for (uint32_t i = 0; i < state->count; i++) {
		const struct wire_body *real = &state->bodies[i];
		const struct wire_body *shown = mirror_find(mirror, real->id);
		seen += shown != NULL;
		if (shown != NULL && !subscription->partial &&
		    !shows_body(mirror, (uint32_t)(shown - mirror->bodies), real))
			return false;
		if (!settled)
			continue;
		if (shown == NULL && !subscription->partial &&
		    is_watched(subscription, state, real, 0))
			return false;
		if (shown != NULL && !subscription->partial &&
		    !is_watched(subscription, state, real, 2.0001))
			return false;
	}
	return seen == mirror->count && shows_joints(mirror, state, true, subscription->partial) &&
	       shows_particles(subscription, state, true, settled);
}

void server_sim_compare(struct server_sim *self, const struct sim_subscription *subscription)
{
	const struct mirror *mirror = &subscription->mirror;
	if (!self->keeps_truth)
		return;
	const struct sim_truth *truth = truth_of(self, subscription->world);
	bool known = false, right = false;
	/* The state before an undone step may have the same name as the state after it. */
	for (uint32_t i = truth->states.count; i-- > 0 && !right;) {
		const struct sim_state *state = &truth->states.items[i];
		if (state->tick != mirror->tick || state->epoch != mirror->epoch ||
		    state->edit != mirror->edit)
			continue;
		known = true;
		right = subscription->part ? shows_part(subscription, state)
					   : shows(subscription, state);
	}
	self->compared++;
	bool unknown = !known && !may_be_missed(truth, mirror);
	self->unknown_states += unknown;
	self->false_states += known && !right;
	if (getenv("SIM_LOG") != NULL && (unknown || (known && !right)))
		printf("# %s: sub %d of world %u, epoch %u tick %d edit %d, profile %d, fields %d%s\n",
		       unknown ? "unknown" : "false", (int)subscription->sub,
		       (unsigned)subscription->world, (unsigned)mirror->epoch, (int)mirror->tick,
		       (int)mirror->edit, (int)mirror->profile, (int)mirror->fields,
		       subscription->part ? ", a part" : "");
}

const struct sim_state *server_sim_state(const struct server_sim *self, uint32_t world,
					 uint32_t epoch, uint64_t tick)
{
	for (uint32_t i = 0; i < self->truths.count; i++) {
		const struct sim_truth *truth = &self->truths.items[i];
		for (uint32_t k = truth->states.count; truth->world == world && k-- > 0;)
			if (truth->states.items[k].epoch == epoch &&
			    truth->states.items[k].tick == tick)
				return &truth->states.items[k];
	}
	return NULL;
}

bool server_sim_was(const struct server_sim *self, uint32_t world, uint64_t tick, uint64_t edit,
		    uint64_t tick_hash)
{
	for (uint32_t i = 0; i < self->truths.count; i++) {
		const struct sim_truth *truth = &self->truths.items[i];
		for (uint32_t k = truth->states.count; truth->world == world && k-- > 0;)
			if (truth->states.items[k].tick == tick &&
			    truth->states.items[k].edit == edit &&
			    truth->states.items[k].tick_hash == tick_hash)
				return true;
	}
	return false;
}

struct world *server_sim_world(const struct server_sim *self, uint32_t world)
{
	struct served_world *served = worlds_find(&self->server->worlds, world);
	return served != NULL ? served->host->world : NULL;
}

/* ---- time --------------------------------------------------------------------------------------- */

static bool is_daemon(uint32_t actor)
{
	return actor == 0 || actor >= IO_SIM_HOSTS_MAX;
}

bool server_sim_step(struct server_sim *self)
{
	bool daemon = self->sim->event_count > 0 && is_daemon(self->sim->events[0].actor);
	running_sim = self;
	if (daemon)
		daemon_begin(self);
	bool some = io_sim_step(self->sim);
	if (daemon) {
		daemon_end(self);
		read_all(self);
	}
	return some;
}

static bool until(struct server_sim *self, bool (*done)(void *context), void *context,
		  uint64_t limit)
{
	while (done == NULL || !done(context)) {
		if (self->sim->event_count == 0 || self->sim->events[0].at > limit)
			return false;
		(void)server_sim_step(self);
	}
	return true;
}

bool server_sim_until(struct server_sim *self, bool (*done)(void *context), void *context,
		      uint64_t ns)
{
	return until(self, done, context, io_sim_now(self->sim) + ns);
}

void server_sim_run(struct server_sim *self, uint64_t ns)
{
	uint64_t limit = io_sim_now(self->sim) + ns;
	(void)until(self, NULL, NULL, limit);
	io_sim_run_until(self->sim, limit);
}

uint64_t server_sim_now(const struct server_sim *self)
{
	return io_sim_now(self->sim);
}

/* ---- life --------------------------------------------------------------------------------------- */

static void parse_options(struct server_sim *self, const struct server_sim_options *options)
{
	/* The seed decides whether LOOP makes steps itself, unless the test sets it, and whether ticks
	 * of one STEP share a slice. */
	struct rng rng = rng_seeded(options->io.seed ^ UINT64_C(0x57e9));
	const char *argv[32] = { "cairnd", "--listen", SIM_TCP, "--listen", SIM_UNIX };
	int argc = 5;
	for (uint32_t i = 0; i < COUNT_OF(options->arguments) && options->arguments[i] != NULL; i++)
		argv[argc++] = options->arguments[i];
	struct reason why;
	self->options = sim_memory(heap_alloc_zero(sizeof *self->options));
	if (options_parse(self->options, argc, argv, NULL, &why) != STATUS_OK)
		sim_fail("options", &why);
	if (rng_below(&rng, 2) == 0)
		self->options->loop_step_us = 0;
	if (options->stepper != SIM_STEPPER_DRAWN)
		self->options->loop_step_us = options->stepper == SIM_STEPPER_LOOP ? 100 : 0;
	if (rng_below(&rng, 2) == 0 || options->one_tick_a_slice)
		self->options->slice_us = 0;
}

static enum status make_server(struct server_sim *self, struct reason *why)
{
	struct io *io = io_sim_host(self->sim, 0);
	daemon_begin(self);
	enum status status = server_create(io, io_sim_executor(self->sim), self->options, SIM_UID,
					   &self->server, why);
	if (status == STATUS_OK)
		status = server_start(self->server, why);
	if (status != STATUS_OK && self->server != NULL) {
		server_destroy(self->server);
		self->server = NULL;
	}
	daemon_end(self);
	return status;
}

static void quiet(const char *line, void *context)
{
	UNUSED(context);
	if (getenv("SIM_LOG") != NULL)
		printf("# %s\n", line);
}

struct server_sim *server_sim_create_failing(const struct server_sim_options *options,
					     uint64_t fail_in)
{
	struct server_sim *self = sim_memory(heap_alloc_zero(sizeof *self));
	struct reason why;
	log_set_sink(quiet, NULL);
	if (io_sim_create(&options->io, &self->sim) != STATUS_OK ||
	    frame_pool_create(16u << 20, &self->frames) != STATUS_OK)
		sim_fail("no simulation", NULL);
	self->rng = rng_seeded(options->io.seed ^ UINT64_C(0x5ca1ab1e));
	self->keeps_truth = options->truth;
	self->fail_in = fail_in;
	parse_options(self, options);
	if (make_server(self, &why) != STATUS_OK) {
		if (!self->failed)
			sim_fail("the daemon does not start", &why);
		server_sim_destroy(self);
		return NULL;
	}
	read_all(self);
	return self;
}

struct server_sim *server_sim_create(const struct server_sim_options *options)
{
	return server_sim_create_failing(options, 0);
}

static void end_server(struct server_sim *self)
{
	if (self->server == NULL)
		return;
	running_sim = self;
	daemon_begin(self);
	server_destroy(self->server);
	daemon_end(self);
	self->server = NULL;
}

bool server_sim_drain(struct server_sim *self, uint64_t ns)
{
	struct sim_host *host = self->sim->hosts[0];
	uint64_t limit = io_sim_now(self->sim) + ns;
	host->stopped = false;
	server_drain(self->server);
	while (!host->stopped && self->sim->event_count > 0 && self->sim->events[0].at <= limit)
		(void)server_sim_step(self);
	bool stopped = host->stopped;
	end_server(self);
	return stopped;
}

void server_sim_end(struct server_sim *self)
{
	for (uint32_t i = 0; i < self->client_count; i++)
		sim_vanish(self->clients[i]);
	for (uint32_t i = 0; i < self->ghosts.count; i++)
		sim_vanish(self->ghosts.items[i]);
	end_server(self);
}

void server_sim_begin(struct server_sim *self, const char *data)
{
	struct reason why;
	ASSERT(self->server == NULL);
	io_sim_executor_anew(self->sim);
	if (data != NULL)
		self->options->data = data;
	if (make_server(self, &why) != STATUS_OK)
		sim_fail("the daemon does not start again", &why);
}

static void release_truths(struct server_sim *self)
{
	for (uint32_t i = 0; i < self->truths.count; i++) {
		for (uint32_t k = 0; k < self->truths.items[i].states.count; k++)
			state_release(&self->truths.items[i].states.items[k]);
		ARRAY_RELEASE(&self->truths.items[i].states);
	}
	ARRAY_RELEASE(&self->truths);
}

void server_sim_forget(struct server_sim *self)
{
	release_truths(self);
	read_all(self);
}

void server_sim_destroy(struct server_sim *self)
{
	end_server(self);
	for (uint32_t i = 0; i < self->client_count; i++)
		sim_client_release(self->clients[i]);
	io_sim_destroy(self->sim);
	for (uint32_t i = 0; i < self->client_count; i++)
		heap_free(self->clients[i]);
	for (uint32_t i = 0; i < self->ghosts.count; i++) {
		sim_client_release(self->ghosts.items[i]);
		heap_free(self->ghosts.items[i]);
	}
	ARRAY_RELEASE(&self->ghosts);
	release_truths(self);
	frame_pool_destroy(self->frames);
	heap_free(self->options);
	heap_free(self);
}

bool server_sim_sound(const struct server_sim *self)
{
	uint64_t wrong =
		self->malformed + self->diverged + self->false_states + self->unknown_states;
	if (wrong > 0)
		printf("# malformed %" PRIu64 ", diverged %" PRIu64 ", false %" PRIu64
		       ", unknown %" PRIu64 " of %" PRIu64 " frames\n",
		       self->malformed, self->diverged, self->false_states, self->unknown_states,
		       self->compared);
	fflush(stdout);
	return wrong == 0;
}
