/* See draw_command.h. A scene is stepped here, once for each method; a recording is played. */
#include "server/commands/draw_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/output_file.h"
#include "server/base/parallel.h"
#include "server/commands/batch_world.h"
#include "server/commands/command_words.h"
#include "server/commands/film_svg.h"
#include "server/past/past.h"

#define RECORDING_ENDING ".cairn"
/* Pictures of an animation in a second of the world, if --every does not say otherwise. */
enum { PICTURES_A_SECOND = 30, PICTURES_OF_STRIP = 4, TICKS_OF_SCENE = 60 };
_Static_assert((int)FILM_SHEET_MAX >= (int)SCENE_METHODS_MAX, "a film for each method");

struct drawing {
	const struct options *options;
	struct film films[FILM_SHEET_MAX];
	struct scene_methods methods; /* none: the scene's */
	uint32_t count;
	struct stability_view forces;
	bool has_forces;
};

/* The first state of the first film. */
static enum status find_forces(struct drawing *self, const struct world *world, struct reason *why)
{
	struct stability_query query = { .sides = 8, .direction = { 1, 0, 0 } };
	if (!self->options->draw_forces || self->has_forces)
		return STATUS_OK;
	enum status status = real_read(self->options->draw_touch, "touch", 0, LENGTH_MAX, "m",
				       &query.touch, why);
	if (status == STATUS_OK)
		status = world_stability(world, &query, &self->forces, why);
	self->has_forces = status == STATUS_OK;
	return status;
}

/* ---- scenes ------------------------------------------------------------------------------------ */

/* Without methods there is one film, under the scene's. */
static enum status read_methods(struct drawing *self, struct reason *why)
{
	const char *text = self->options->draw_methods;
	self->count = 1;
	if (text == NULL)
		return STATUS_OK;
	enum status status = batch_methods_read(text, &self->methods, why);
	self->count = status == STATUS_OK ? self->methods.count : 0;
	return status;
}

static uint64_t picture_distance(const struct options *options, const struct world *world)
{
	struct world_info info = world_info(world);
	if (options->draw_every > 0)
		return options->draw_every;
	uint64_t every = info.rate_num / ((uint64_t)info.rate_den * PICTURES_A_SECOND);
	return options->draw_animate ? MAX_OF(every, 1u) : 1;
}

static enum status film_world(struct drawing *self, struct film *film, struct world *world,
			      struct reason *why)
{
	uint64_t every = picture_distance(self->options, world);
	uint64_t ticks = self->options->draw_ticks == DRAW_TICKS_OPEN ? TICKS_OF_SCENE
								      : self->options->draw_ticks;
	enum status status = find_forces(self, world, why);
	if (status == STATUS_OK)
		status = film_add(film, world, why);
	for (uint64_t tick = 1; tick <= ticks && status == STATUS_OK; tick++) {
		status = world_step(world, &parallel_serial, why);
		if (status == STATUS_OK && tick % every == 0)
			status = film_add(film, world, why);
	}
	return status;
}

static enum status film_scene(struct drawing *self, uint32_t number, struct reason *why)
{
	const struct options *options = self->options;
	const char *method = number < self->methods.count ? self->methods.names[number] : NULL;
	struct shape_library book;
	struct scene *scene;
	struct world *world;
	shape_library_init(&book);
	enum status status =
		batch_world_make(&(struct batch_scene){ .path = options->operands.items[0],
							.method = method,
							.set = &options->draw_set,
							.let = &options->draw_let },
				 &book, &scene, &world, why);
	if (status == STATUS_OK)
		status = film_world(self, &self->films[number], world, why);
	world_destroy(world);
	scene_destroy(scene);
	shape_library_release(&book);
	return status;
}

/* ---- recordings -------------------------------------------------------------------------------- */

static enum status visit_state(void *context, const struct world *world,
			       struct recorded_place place, bool sampled, struct reason *why)
{
	struct drawing *self = context;
	UNUSED(place);
	if (!sampled)
		return STATUS_OK;
	enum status status = find_forces(self, world, why);
	return status == STATUS_OK ? film_add(&self->films[0], world, why) : status;
}

static enum status film_recording(struct drawing *self, struct reason *why)
{
	const struct options *options = self->options;
	struct past_range range = { .epoch = (uint32_t)options->draw_epoch,
				    .every = MAX_OF(options->draw_every, 1u) };
	if (options->draw_methods != NULL || options->draw_set.count > 0 ||
	    options->draw_let.count > 0 || options->draw_ticks != DRAW_TICKS_OPEN)
		return reason_set(
			why, STATUS_UNSUPPORTED, -1, "methods",
			"--methods, --set, --let and --ticks are for scenes; a recording is drawn from "
			"--from to --to");
	self->count = 1;
	enum status status = tick_range_read(options->draw_from, options->draw_to, &range, why);
	if (status == STATUS_OK)
		status = past_play_file(options->operands.items[0], &range, visit_state, self, why);
	if (status == STATUS_OK && self->films[0].pictures.count == 0)
		return reason_set(why, STATUS_MISSING, -1, "file", "the recording has no state");
	return status;
}

/* ---- the command ------------------------------------------------------------------------------- */

static enum status make_films(struct drawing *self, struct reason *why)
{
	const struct options *options = self->options;
	if (path_ends(options->operands.items[0], RECORDING_ENDING))
		return film_recording(self, why);
	if (options->draw_from != NULL || options->draw_to != NULL || options->draw_epoch != 0)
		return reason_set(
			why, STATUS_UNSUPPORTED, -1, "from",
			"--from, --to and --epoch are for recordings; a scene is drawn from its "
			"beginning, for --ticks");
	enum status status = read_methods(self, why);
	for (uint32_t i = 0; i < self->count && status == STATUS_OK; i++)
		status = film_scene(self, i, why);
	return status;
}

static void print_films(const struct drawing *self)
{
	struct film_sheet sheet = {
		.count = self->count,
		.pictures = self->options->draw_pictures > 0
				    ? (uint32_t)self->options->draw_pictures
				    : PICTURES_OF_STRIP,
		.width = (double)self->options->draw_width,
		.forces = self->has_forces ? &self->forces : NULL,
	};
	for (uint32_t i = 0; i < self->count; i++) {
		sheet.films[i] = &self->films[i];
		sheet.labels[i] = i < self->methods.count ? self->methods.names[i] : NULL;
	}
	if (self->options->draw_animate)
		film_svg_animation(&sheet, stdout);
	else
		film_svg_strip(&sheet, stdout);
}

int draw_command(const struct options *options)
{
	struct drawing drawing = { .options = options };
	struct reason why = { 0 };
	enum status status = make_films(&drawing, &why);
	if (status == STATUS_OK)
		print_films(&drawing);
	else
		command_refused("draw", options->operands.items[0], why.field, &why);
	for (uint32_t i = 0; i < FILM_SHEET_MAX; i++)
		film_release(&drawing.films[i]);
	if (drawing.has_forces)
		stability_view_release(&drawing.forces);
	return status == STATUS_OK && fflush(stdout) == 0 && ferror(stdout) == 0 ? EXIT_SUCCESS
										 : EXIT_FAILURE;
}
