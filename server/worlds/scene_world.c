/* See scene_world.h. Batches hold at most BATCH_COMMANDS_MAX commands: first one SHAPE_USE a shape,
 * whose ids the scene's commands need, then the scene's commands in file order. */
#include "server/worlds/scene_world.h"

#include <stdio.h>
#include <string.h>

#include "server/base/heap.h"
#include "server/io/log.h"

static struct world_options options_of(const struct scene_world *scene, const char *method,
				       struct shape_library *book)
{
	struct world_options options = world_options_default();
	options.planar = scene->planar;
	options.shapes = shape_library_source(book);
	if (scene->rate_num != 0) {
		options.rate_num = scene->rate_num;
		options.rate_den = scene->rate_den;
	}
	if (scene->gravity_given)
		options.gravity = scene->gravity;
	if (scene->seed_given)
		options.seed = scene->seed;
	if (method != NULL || scene->method[0] != '\0')
		snprintf(options.method, sizeof options.method, "%s",
			 method != NULL ? method : scene->method);
	snprintf(options.broad_phase, sizeof options.broad_phase, "%s", scene->broad_phase);
	if (scene->bodies_max != 0)
		options.limits.bodies = scene->bodies_max;
	if (scene->placements_max != 0)
		options.limits.placements = scene->placements_max;
	if (scene->contacts_max != 0)
		options.limits.contacts = scene->contacts_max;
	if (scene->shapes_max != 0)
		options.limits.shapes = scene->shapes_max;
	if (scene->joints_max != 0)
		options.limits.joints = scene->joints_max;
	if (scene->events_max != 0)
		options.limits.events = scene->events_max;
	return options;
}

static enum status cook_shapes(const struct scene *scene, struct shape_library *book,
			       struct reason *why)
{
	for (uint32_t i = 0; i < scene->shape_count; i++) {
		const struct scene_shape *from = &scene->shapes[i];
		struct shape *shape;
		struct reason inner;
		char place[SCENE_PLACE_BYTES];
		enum status status =
			shape_cook(from->canonical, from->bytes, from->name.bytes, &shape, &inner);
		if (status != STATUS_OK)
			return reason_set(why, status, inner.index, inner.field, "%s: shape %s: %s",
					  scene_place(scene, from->line, place), from->label,
					  inner.text);
		status = shape_library_add(book, shape);
		shape_release(shape);
		if (status != STATUS_OK && status != STATUS_EXISTS)
			return reason_set(why, status, i, "shape", "%s", status_text(status));
	}
	return STATUS_OK;
}

/* Applies one batch. A refusal names the command's line in the file: `lines` of `scene` (both may be
 * NULL). `values` (may be NULL) receives the ids made, one a command. */
static enum status apply_batch(struct world *world, struct command *commands, uint32_t count,
			       const struct scene *scene, const uint32_t *lines, uint32_t *values,
			       struct reason *why)
{
	char place[SCENE_PLACE_BYTES];
	struct batch batch = { .number = 1, .commands = commands, .count = count };
	struct batch_result result;
	enum status status = world_apply(world, &batch, 1, &result);
	if (status != STATUS_OK)
		return reason_set(why, status, -1, "scene", "%s", status_text(status));
	if (result.status != STATUS_OK) {
		const struct reason *inner = &result.why;
		bool known = lines != NULL && inner->index >= 0 && inner->index < (int64_t)count;
		if (!known)
			*why = *inner;
		else
			reason_set(why, result.status, inner->index, inner->field, "%s: %s",
				   scene_place(scene, lines[inner->index], place), inner->text);
		return result.status;
	}
	if (values != NULL)
		memcpy(values, result.values, count * sizeof *values);
	return STATUS_OK;
}

static enum status use_shapes(struct scene *scene, struct world *world, struct reason *why)
{
	uint32_t count = scene->shape_count;
	struct command *commands = heap_alloc(MAX_OF(count, 1u) * sizeof *commands);
	uint32_t *ids = heap_alloc(MAX_OF(count, 1u) * sizeof *ids);
	enum status status = STATUS_OK;
	if (commands == NULL || ids == NULL)
		status = reason_set(why, STATUS_NO_MEMORY, -1, "scene", "%s",
				    status_text(STATUS_NO_MEMORY));
	for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
		command_defaults(&commands[i], COMMAND_SHAPE_USE);
		commands[i].shape_use.name = scene->shapes[i].name;
	}
	for (uint32_t first = 0; first < count && status == STATUS_OK; first += BATCH_COMMANDS_MAX)
		status = apply_batch(world, commands + first,
				     MIN_OF(count - first, (uint32_t)BATCH_COMMANDS_MAX), NULL,
				     NULL, ids + first, why);
	if (status == STATUS_OK)
		scene_resolve(scene, ids);
	heap_free(commands);
	heap_free(ids);
	return status;
}

/* The scene's own commands, batch by batch. */
static enum status apply_scene(struct scene *scene, struct world *world, struct reason *why)
{
	uint32_t count = scene->command_count;
	uint32_t *values = heap_alloc(MAX_OF(count, 1u) * sizeof *values);
	if (values == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "scene", "%s",
				  status_text(STATUS_NO_MEMORY));
	enum status status = STATUS_OK;
	for (uint32_t first = 0; first < count && status == STATUS_OK;
	     first += BATCH_COMMANDS_MAX) {
		uint32_t end = first + MIN_OF(count - first, (uint32_t)BATCH_COMMANDS_MAX);
		scene_link(scene, first, end, values);
		status = apply_batch(world, scene->commands + first, end - first, scene,
				     scene->lines + first, values + first, why);
	}
	if (status == STATUS_OK)
		scene_expect_link(scene, values);
	heap_free(values);
	return status;
}

enum status scene_world_make(struct scene *scene, const char *method, struct shape_library *book,
			     struct world **out, struct reason *why)
{
	struct world_options options = options_of(&scene->world, method, book);
	struct world *world = NULL;
	enum status status = cook_shapes(scene, book, why);
	if (status == STATUS_OK)
		status = world_create(&options, &world, why);
	if (status == STATUS_OK)
		status = use_shapes(scene, world, why);
	if (status == STATUS_OK)
		status = apply_scene(scene, world, why);
	if (status != STATUS_OK) {
		if (world != NULL)
			world_destroy(world);
		shape_library_release(book);
		return status;
	}
	world_begin(world);
	*out = world;
	return STATUS_OK;
}

enum status scene_world_take(struct scene *scene, struct made_scene *out, struct reason *why)
{
	*out = (struct made_scene){ .notes = scene->notes };
	scene->notes = NULL;
	const char *durability = scene->world.durability;
	out->own_durability = durability_parse(durability, strlen(durability), &out->durability);
	shape_library_init(&out->shapes);
	enum status status = scene_world_make(scene, NULL, &out->shapes, &out->world, why);
	scene_destroy(scene);
	if (status != STATUS_OK)
		scene_world_release(out);
	return status;
}

void scene_world_release(struct made_scene *self)
{
	if (self->world != NULL)
		world_destroy(self->world);
	shape_library_release(&self->shapes);
	heap_free(self->notes);
	*self = (struct made_scene){ 0 };
}

void scene_world_log_notes(const struct made_scene *self, const char *name)
{
	const char *notes = self->notes;
	while (notes != NULL && *notes != '\0') {
		size_t bytes = strcspn(notes, "\n");
		log_warn("scene_not_taken", "name=%s: %.*s", name, (int)bytes, notes);
		notes += bytes + (notes[bytes] == '\n');
	}
}
