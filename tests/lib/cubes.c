/* See cubes.h. */
#include "tests/lib/cubes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/scene/scene.h"
#include "server/base/heap.h"
#include "server/worlds/scene_world.h"

/* m, m/s, N: the large cube attracts small ones within REACH of its middle. */
#define FIELD 10.0
#define REACH 1.7
#define SPEED 3.0
#define PULL 9.0

static void must(enum status status, const struct reason *why)
{
	if (status == STATUS_OK)
		return;
	fprintf(stderr, "cubes: %s\n", why != NULL ? why->text : status_text(status));
	abort();
}

static void read_bodies(struct cubes *self)
{
	body_id ids[CUBES_MAX];
	self->count = world_bodies(self->world, ids, CUBES_MAX);
	self->tick = world_info(self->world).tick;
	for (uint32_t i = 0; i < self->count; i++) {
		struct body_view view;
		must(world_body(self->world, ids[i], &view), NULL);
		struct wire_body *to = &self->bodies[i];
		*to = (struct wire_body){
			.id = view.id,
			.status = view.status,
			.flags = wire_body_flags(view.asleep, view.quarantined, view.fast,
						 view.sensor),
			.owner = view.owner,
			.tag = view.tag,
		};
		memcpy(to->position, &view.position, sizeof to->position);
		memcpy(to->rotation, &view.rotation, sizeof to->rotation);
		memcpy(to->velocity, &view.velocity, sizeof to->velocity);
		memcpy(to->spin, &view.angular_velocity, sizeof to->spin);
	}
}

void cubes_start(struct cubes *self, uint64_t seed, bool changing)
{
	char path[4096];
	const char *source = getenv("CAIRN_SRCDIR");
	struct scene *scene;
	struct reason why;
	memset(self, 0, sizeof *self);
	self->rng = rng_seeded(seed);
	self->changing = changing;
	snprintf(path, sizeof path, "%s/clients/scenes/cubes901.yaml",
		 source != NULL ? source : ".");
	shape_library_init(&self->book);
	must(scene_load(path, &scene, &why), &why);
	must(scene_world_make(scene, NULL, &self->book, &self->world, &why), &why);
	scene_destroy(scene);
	/* The commands that create the scene are applied at this boundary; the step ends the tick. */
	must(world_step(self->world, &parallel_serial, &why), &why);
	read_bodies(self);
	self->player = self->bodies[self->count - 1].id;
}

void cubes_finish(struct cubes *self)
{
	world_destroy(self->world);
	shape_library_release(&self->book);
}

/* ---- playing ----------------------------------------------------------------------------------- */

static void push(struct command *command, body_id body, double x, double y, double z)
{
	command_defaults(command, COMMAND_FORCE);
	command->force.body = body;
	command->force.force = (vec3){ x, y, z };
	command->force.ticks = 1;
}

/* A force on the large cube towards its goal; a new goal is drawn when it arrives. */
static void drive(struct cubes *self, const struct wire_body *player, struct command *command)
{
	double x = self->goal.x - player->position[0], z = self->goal.z - player->position[2];
	double away = sqrt(x * x + z * z);
	if (away < 1) {
		self->goal.x = rng_range(&self->rng, -FIELD, FIELD);
		self->goal.z = rng_range(&self->rng, -FIELD, FIELD);
	}
	away = fmax(away, 1);
	push(command, player->id, 200 * (x / away * SPEED - player->velocity[0]), 0,
	     200 * (z / away * SPEED - player->velocity[2]));
}

static bool attract(const struct wire_body *player, const struct wire_body *cube,
		    struct command *command)
{
	double d[3], square = 0;
	for (int i = 0; i < 3; i++) {
		d[i] = player->position[i] - cube->position[i];
		square += d[i] * d[i];
	}
	if (cube->status != BODY_DYNAMIC || square > REACH * REACH)
		return false;
	double pull = PULL / sqrt(square);
	push(command, cube->id, d[0] * pull, d[1] * pull, d[2] * pull);
	return true;
}

/* Removes or spawns one cube, so that the number stays near 900. */
static bool remove_or_spawn(struct cubes *self, struct command *command, struct attachment *item)
{
	uint32_t pick = 1 + rng_below(&self->rng, self->count - 2);
	const struct wire_body *cube = &self->bodies[pick];
	double x = rng_range(&self->rng, -FIELD, FIELD), z = rng_range(&self->rng, -FIELD, FIELD);
	if (!self->changing || rng_below(&self->rng, 40) != 0)
		return false;
	if (rng_below(&self->rng, 2) == 0 && cube->id != self->player) {
		command_defaults(command, COMMAND_REMOVE);
		command->remove.body = cube->id;
		return true;
	}
	if (self->count >= CUBES_MAX - 1)
		return false;
	*item = (struct attachment){ .shape = 2, .rotation = { 1, 0, 0, 0 } };
	command_defaults(command, COMMAND_SPAWN);
	command->spawn.status = BODY_DYNAMIC;
	command->spawn.position = (vec3){ x, 4, z };
	command->spawn.mass = 0.5;
	command->spawn.tag = (int64_t)self->tick;
	command->spawn.shapes = (struct attachment_list){ item, 1 };
	return true;
}

void cubes_play(struct cubes *self)
{
	static struct command commands[CUBES_MAX + 2];
	struct attachment item;
	struct reason why;
	uint32_t count = 0;
	const struct wire_body *player = self->bodies;
	while (player->id != self->player)
		player++;
	count += remove_or_spawn(self, &commands[count], &item);
	drive(self, player, &commands[count++]);
	for (uint32_t i = 0; i < self->count; i++) {
		/* A cube that is removed in this tick cannot be pushed. */
		bool gone = commands[0].op == COMMAND_REMOVE &&
			    commands[0].remove.body == self->bodies[i].id;
		if (&self->bodies[i] != player && !gone)
			count += attract(player, &self->bodies[i], &commands[count]);
	}
	struct batch batch = { .number = self->tick + 1, .commands = commands, .count = count };
	struct batch_result result;
	must(world_apply(self->world, &batch, 1, &result), NULL);
	must(result.status, &result.why);
	must(world_step(self->world, &parallel_serial, &why), &why);
	read_bodies(self);
}

/* ---- reporting --------------------------------------------------------------------------------- */

static void *memory(size_t bytes)
{
	void *block = heap_alloc_zero(MAX_OF(bytes, (size_t)1));
	if (block == NULL)
		abort();
	return block;
}

static void report_contacts(const struct cubes *self, struct tick_report *to,
			    struct report_body *body)
{
	struct contact_view views[CUBE_POINTS_MAX];
	uint32_t count;
	must(world_assigned_contacts(self->world, body->view.id, views, CUBE_POINTS_MAX, &count),
	     NULL);
	ASSERT(count <= CUBE_POINTS_MAX);
	body->why |= REPORT_CONTACTS;
	must(report_put_contacts(to, body, views, count), NULL);
}

static void report_body(const struct cubes *self, struct tick_report *to, body_id id, uint8_t why)
{
	struct placement_view placements[ATTACHMENTS_MAX];
	struct report_body *body = &to->bodies[to->body_count++];
	must(world_body(self->world, id, &body->view), NULL);
	body->why = why;
	if (self->contacts)
		report_contacts(self, to, body);
	body->first_shape = to->shape_count;
	if ((why & (REPORT_CREATED | REPORT_CHANGED)) == 0)
		return;
	body->shape_count = world_body_placements(self->world, id, placements, ATTACHMENTS_MAX);
	ASSERT(body->shape_count == 1);
	struct report_shape *shape = &to->shapes[to->shape_count++];
	memcpy(shape->name, placements[0].shape->name, SHAPE_NAME_BYTES);
	shape->position = placements[0].position;
	shape->rotation = placements[0].rotation;
}

static bool list_has(const body_id *ids, uint32_t count, uint32_t *next, body_id id)
{
	if (*next == count || ids[*next] != id)
		return false;
	(*next)++;
	return true;
}

struct report *cubes_report(const struct cubes *self, bool whole)
{
	struct report *report = memory(sizeof *report);
	struct tick_report *to = &report->ticked;
	struct world_changes changes = world_changes(self->world);
	uint32_t created = 0, moved = 0, changed = 0;
	report->kind = REPORT_TICK;
	to->bodies = memory(self->count * sizeof *to->bodies);
	to->shapes = memory(self->count * sizeof *to->shapes);
	to->removed = memory(changes.removed_count * sizeof *to->removed);
	to->tick = self->tick;
	to->epoch = world_info(self->world).epoch;
	to->tick_hash = world_tick_hash(self->world);
	to->whole = whole;
	to->step = !whole;
	to->contacts = self->contacts;
	to->contacts_all = self->contacts && whole;
	for (uint32_t i = 0; i < self->count; i++) {
		body_id id = self->bodies[i].id;
		uint8_t why = 0;
		why |= list_has(changes.created, changes.created_count, &created, id)
			       ? REPORT_CREATED
			       : 0;
		why |= list_has(changes.moved, changes.moved_count, &moved, id) ? REPORT_MOVED : 0;
		why |= list_has(changes.changed, changes.changed_count, &changed, id)
			       ? REPORT_CHANGED
			       : 0;
		if (whole || why != 0)
			report_body(self, to, id, whole ? REPORT_CREATED : why);
	}
	if (!whole && changes.removed_count > 0) {
		memcpy(to->removed, changes.removed, changes.removed_count * sizeof *to->removed);
		to->removed_count = changes.removed_count;
	}
	return report;
}
