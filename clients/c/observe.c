/* observe.c: steps, states and frames of cairn.h. */
#include <string.h>

#include "clients/c/library.h"
#include "protocol/block.h"
#include "server/base/body_hash.h"

cairn_vec3 library_vec3(const double from[3])
{
	return (cairn_vec3){ from[0], from[1], from[2] };
}

void library_body(const struct wire_body *from, cairn_body *to)
{
	*to = (cairn_body){
		.id = from->id,
		.status = from->status,
		.asleep = (from->flags & WIRE_BODY_ASLEEP) != 0,
		.fast = (from->flags & WIRE_BODY_FAST) != 0,
		.sensor = (from->flags & WIRE_BODY_SENSOR) != 0,
		.owner = from->owner,
		.tag = from->tag,
		.position = library_vec3(from->position),
		.rotation = { from->rotation[0], from->rotation[1], from->rotation[2],
			      from->rotation[3] },
		.velocity = library_vec3(from->velocity),
		.spin = library_vec3(from->spin),
	};
}

void library_joint(const struct wire_joint *from, cairn_joint *to)
{
	*to = (cairn_joint){
		.id = from->id,
		.a = from->a,
		.b = from->b,
		.type = from->type,
		.force = library_vec3(from->force),
		.torque = library_vec3(from->torque),
	};
	memcpy(to->coordinates, from->coordinates, sizeof to->coordinates);
}

static void library_particle(const struct wire_particle *from, cairn_particle *to)
{
	*to = (cairn_particle){
		.system = from->system,
		.serial = from->serial,
		.position = library_vec3(from->position),
		.velocity = library_vec3(from->velocity),
		.radius = from->size[0],
		.mass = from->size[1],
		.birth = from->life[0],
		.death = from->life[1],
		.density = from->density,
		.pressure = from->pressure,
	};
}

enum status library_no_memory(struct reason *why)
{
	return reason_set(why, STATUS_NO_MEMORY, -1, "answer", "%s", status_text(STATUS_NO_MEMORY));
}

enum status library_malformed(struct reason *why, const char *what)
{
	return reason_set(why, STATUS_MALFORMED, -1, what, "the server's answer is malformed");
}

/* ---- steps and states ---------------------------------------------------------------------------- */

/* Reads the third item of an observation, the bodies as an exact block. */
static enum status read_bodies(struct wire_slice observation, struct library_bodies *out,
			       struct reason *why)
{
	struct wire_cursor in = wire_cursor_of(observation);
	struct wire_list list;
	struct wire_slice parts[3];
	struct block_reader reader;
	struct wire_body body = { 0 };
	wire_mask mask;
	out->count = 0;
	if (wire_take_list(&in, &list) != STATUS_OK || list.count != COUNT_OF(parts))
		return library_malformed(why, "observation");
	struct wire_cursor items = wire_cursor_list(&list);
	for (size_t i = 0; i < COUNT_OF(parts); i++)
		if (wire_skip(&items, &parts[i]) != STATUS_OK)
			return library_malformed(why, "observation");
	enum status status = block_open(&reader, WIRE_PROFILE_EXACT, WIRE_COLUMNS_ALL, parts[2]);
	while (status == STATUS_OK) {
		status = block_next(&reader, &body, &mask);
		if (status != STATUS_OK)
			break;
		if (ARRAY_RESERVE(out, out->count + 1u) != STATUS_OK)
			return library_no_memory(why);
		library_body(&body, &out->items[out->count++]);
	}
	return status == STATUS_MISSING ? STATUS_OK : library_malformed(why, "observation");
}

static enum status step(cairn_world *world, uint32_t ticks, cairn_state *state, struct reason *why)
{
	struct message stepped;
	do {
		struct cairn_step ask = { .n = MIN_OF(ticks, (uint32_t)WIRE_STEPS_MAX) };
		ticks -= ask.n;
		if (ticks == 0 && state != NULL)
			ask.want = WIRE_WANT_HASH | WIRE_WANT_EXACT;
		enum status status =
			cairn_step(world->client->wire, world->info.number, &ask, &stepped, why);
		if (status != STATUS_OK)
			return status;
	} while (ticks > 0);
	const struct msg_stepped *done = &stepped.stepped;
	world->info.tick = done->tick;
	if (state == NULL)
		return STATUS_OK;
	if (done->code != STATUS_OK)
		return reason_set(why, (enum status)done->code, -1, "state",
				  "the ticks ran, but the bodies do not fit into a frame; use "
				  "cairn_world_watch, or step without a state");
	struct library_bodies *bodies = &world->client->stepped;
	enum status status = read_bodies(done->observation, bodies, why);
	*state = (cairn_state){
		done->epoch,	       done->tick,    done->edit,   done->state_hash.value,
		done->tick_hash.value, bodies->count, bodies->items
	};
	return status;
}

int cairn_world_step(cairn_world *world, uint32_t ticks, cairn_state *state, cairn_error *error)
{
	struct reason why = library_reason();
	return library_fail(step(world, ticks, state, &why), &why, error);
}

const cairn_body *cairn_state_find(const cairn_state *state, uint32_t id)
{
	uint32_t first = 0, end = state->count;
	while (first < end) {
		uint32_t middle = first + (end - first) / 2;
		if (state->bodies[middle].id == id)
			return &state->bodies[middle];
		if (state->bodies[middle].id < id)
			first = middle + 1;
		else
			end = middle;
	}
	return NULL;
}

uint64_t cairn_state_tick_hash(const cairn_state *state)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < state->count; i++) {
		const cairn_body *from = &state->bodies[i];
		const struct wire_body body = {
			.id = from->id,
			.status = from->status,
			.flags = from->asleep ? WIRE_BODY_ASLEEP : 0,
			.position = { from->position.x, from->position.y, from->position.z },
			.rotation = { from->rotation.w, from->rotation.x, from->rotation.y,
				      from->rotation.z },
			.velocity = { from->velocity.x, from->velocity.y, from->velocity.z },
			.spin = { from->spin.x, from->spin.y, from->spin.z },
		};
		sum += wire_tick_hash(&body);
	}
	return body_hash_finish(state->tick, sum, state->count);
}

/* ---- frames -------------------------------------------------------------------------------------- */

/* NULL for a number that no world has. */
static struct cairn_joined *library_watched(const struct cairn_connected *self, uint64_t sub)
{
	for (uint32_t i = 0; i < self->worlds.count; i++)
		if (self->worlds.items[i]->sub == sub)
			return self->worlds.items[i];
	return NULL;
}

void library_frame(void *context, uint64_t sub, const struct mirror *mirror)
{
	struct cairn_connected *self = context;
	struct cairn_joined *world = library_watched(self, sub);
	if (world == NULL)
		return;
	world->info.tick = mirror->tick;
	world->info.bodies = mirror->count;
	/* Without memory for its bodies a frame is left out, as one that the network lost. */
	const struct mirror_joints *joints = &mirror->joints;
	if (self->options.frame == NULL ||
	    ARRAY_RESERVE(&self->watched, MAX_OF(mirror->count, 1u)) != STATUS_OK ||
	    ARRAY_RESERVE(&self->watched_joints, MAX_OF(joints->count, 1u)) != STATUS_OK)
		return;
	self->watched.count = mirror->count;
	for (uint32_t i = 0; i < mirror->count; i++)
		library_body(&mirror->bodies[i], &self->watched.items[i]);
	for (uint32_t i = 0; i < joints->count; i++)
		library_joint(&joints->items[i], &self->watched_joints.items[i]);
	const struct particle_list *particles = &mirror->particles.shown;
	if (ARRAY_RESERVE(&self->watched_particles, particles->items.count) != STATUS_OK)
		return;
	for (uint32_t i = 0; i < particles->items.count; i++)
		library_particle(&particles->items.items[i], &self->watched_particles.items[i]);
	const cairn_frame frame = {
		.state = { .epoch = mirror->epoch,
			   .tick = mirror->tick,
			   .edit = mirror->edit,
			   .tick_hash = mirror_tick_hash(mirror, mirror->tick),
			   .count = mirror->count,
			   .bodies = self->watched.items },
		.verified = mirror->checked,
		.joint_count = joints->count,
		.joints = self->watched_joints.items,
		.particle_count = particles->items.count,
		.particles = self->watched_particles.items,
	};
	self->options.frame(self->options.context, world, &frame);
}

void library_event(void *context, uint64_t sub, uint64_t tick, const struct event *event)
{
	struct cairn_connected *self = context;
	struct cairn_joined *world = library_watched(self, sub);
	if (world == NULL || self->options.event == NULL)
		return;
	const cairn_event out = {
		.tick = tick,
		.kind = event->kind,
		.a = event->a,
		.b = event->b,
		.value = event->value,
		.point = { event->point.x, event->point.y, event->point.z },
		.normal = { event->normal.x, event->normal.y, event->normal.z },
		.speed = event->speed,
	};
	self->options.event(self->options.context, world, &out);
}

int cairn_world_unwatch(cairn_world *world, cairn_error *error)
{
	struct reason why = library_reason();
	uint64_t sub = world->sub;
	world->sub = 0;
	return library_fail(cairn_unsubscribe(world->client->wire, sub, &why), &why, error);
}

/* ---- areas --------------------------------------------------------------------------------------- */

cairn_area cairn_area_box(cairn_vec3 minimum, cairn_vec3 maximum)
{
	return (cairn_area){ .kind = WIRE_AREA_BOX,
			     .numbers = { minimum.x, minimum.y, minimum.z, maximum.x, maximum.y,
					  maximum.z } };
}

cairn_area cairn_area_ball(cairn_vec3 centre, double radius)
{
	return (cairn_area){ .kind = WIRE_AREA_BALL,
			     .numbers = { centre.x, centre.y, centre.z, radius } };
}

cairn_area cairn_area_frustum(cairn_vec3 eye, cairn_quat rotation, double half_width,
			      double half_height, double near_distance, double far_distance)
{
	return (cairn_area){ .kind = WIRE_AREA_FRUSTUM,
			     .numbers = { eye.x, eye.y, eye.z, rotation.w, rotation.x, rotation.y,
					  rotation.z, half_width, half_height, near_distance,
					  far_distance } };
}

/* Copies the areas into the wire's form. */
static enum status copy_areas(const cairn_area *from, uint32_t count,
			      struct wire_area to[WIRE_AREAS_MAX], struct reason *why)
{
	if (count > WIRE_AREAS_MAX)
		return reason_set(why, STATUS_RANGE, -1, "areas",
				  "%u areas: at most %d are allowed", count, WIRE_AREAS_MAX);
	for (uint32_t i = 0; i < count; i++) {
		if (from[i].kind <= WIRE_AREA_EVERYTHING || from[i].kind >= WIRE_AREA_KINDS)
			return reason_set(why, STATUS_RANGE, i, "areas",
					  "an area has kind %d: make it with cairn_area_box, "
					  "cairn_area_ball or cairn_area_frustum",
					  from[i].kind);
		to[i] = (struct wire_area){ .kind = (uint8_t)from[i].kind, .body = from[i].body };
		_Static_assert(sizeof to[i].numbers == sizeof from[i].numbers, "numbers fit");
		memcpy(to[i].numbers, from[i].numbers, sizeof to[i].numbers);
	}
	return STATUS_OK;
}

/* What an application asks to see; *sight borrows from it and from `copied`. NULL: the whole world. */
static enum status make_sight(const cairn_area *areas, uint32_t area_count, const uint32_t *follow,
			      uint32_t follow_count, struct wire_area copied[WIRE_AREAS_MAX],
			      struct cairn_sight *sight, const struct cairn_sight **out,
			      struct reason *why)
{
	*sight = (struct cairn_sight){ copied, area_count, follow, follow_count };
	*out = area_count + follow_count > 0 ? sight : NULL;
	return copy_areas(areas, area_count, copied, why);
}

int cairn_world_focus(cairn_world *world, const cairn_area *areas, uint32_t area_count,
		      const uint32_t *follow, uint32_t follow_count, cairn_error *error)
{
	struct reason why = library_reason();
	struct wire_area copied[WIRE_AREAS_MAX];
	struct cairn_sight sight;
	const struct cairn_sight *seen;
	enum status status =
		make_sight(areas, area_count, follow, follow_count, copied, &sight, &seen, &why);
	if (status == STATUS_OK)
		status = cairn_focus(world->client->wire, world->sub, seen, &why);
	return library_fail(status, &why, error);
}

int cairn_world_watch_with(cairn_world *world, const cairn_watch_options *options,
			   cairn_error *error)
{
	static const cairn_watch_options none;
	const cairn_watch_options *given = options != NULL ? options : &none;
	struct reason why = library_reason();
	struct wire_area copied[WIRE_AREAS_MAX];
	struct cairn_sight sight;
	struct cairn_subscription wanted = {
		.sub = ++world->client->last_sub,
		.world = world->info.number,
		.profile = WIRE_PROFILE_EXACT,
		.divisor = given->divisor,
		.events = given->events,
		.budget = given->budget,
		.joints = given->joints ? WIRE_JOINT_COLUMNS_ALL : 0,
		.particles = given->particles ? WIRE_PARTICLE_COLUMNS_ALL : 0,
		.sample = given->sample,
	};
	enum status status = make_sight(given->areas, given->area_count, given->follow,
					given->follow_count, copied, &sight, &wanted.sight, &why);
	if (status == STATUS_OK && world->sub != 0)
		status = reason_set(&why, STATUS_EXISTS, -1, "world",
				    "the world is watched already; cairn_world_unwatch ends that");
	if (status == STATUS_OK)
		status = cairn_subscribe(world->client->wire, &wanted, &why);
	if (status == STATUS_OK)
		world->sub = wanted.sub;
	return library_fail(status, &why, error);
}

int cairn_world_watch(cairn_world *world, uint32_t divisor, uint64_t events, cairn_error *error)
{
	const cairn_watch_options options = { .divisor = divisor, .events = events };
	return cairn_world_watch_with(world, &options, error);
}

int cairn_world_seek(cairn_world *world, const cairn_instant *tick, double speed,
		     cairn_error *error)
{
	struct message sought;
	struct reason why = library_reason();
	struct cairn_tick place = { 0 };
	if (tick != NULL)
		place = (struct cairn_tick){ .tick = tick->tick, .epoch = tick->epoch };
	return library_fail(cairn_seek(world->client->wire, world->sub,
				       tick != NULL ? &place : NULL, speed, &sought, &why),
			    &why, error);
}
