/* stability_command.c: `cairnd stability`: makes a scene's world and asks the engine whether it
 * stands. The answer is printed from its form on the wire, as `cairn stability WORLD` prints that
 * of a server. */
#include "server/commands/stability_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/stability_text.h"
#include "server/commands/batch_world.h"
#include "server/commands/command_words.h"
#include "server/host/host_stability.h"

static enum status read_question(const struct options *options, struct stability_query *out,
				 struct reason *why)
{
	*out = (struct stability_query){ .sides = (uint32_t)options->stability_sides,
					 .body = (body_id)options->stability_body,
					 .lowest = options->stability_lowest };
	enum status status =
		real_read(options->stability_touch, "touch", 0, LENGTH_MAX, "m", &out->touch, why);
	if (status != STATUS_OK)
		return status;
	if (options->stability_margin != NULL) {
		uint32_t margin = stability_margin_number(options->stability_margin);
		if (margin == UINT32_MAX)
			return reason_set(why, STATUS_RANGE, -1, "margin",
					  "--margin: \"%.40s\" is none: use load, push or tilt",
					  options->stability_margin);
		out->margin = (uint8_t)margin;
	}
	return vector_read(options->stability_direction, "direction", &out->direction, why);
}

static enum status ask_stability(const struct options *options, const struct world *world,
				 uint8_t *verdict, struct reason *why)
{
	struct stability_query question;
	struct stability_view view;
	struct bytes answer = { 0 }, text = { 0 };
	bool json = strcmp(options->stability_report, "json") == 0;
	enum status status = read_question(options, &question, why);
	if (status == STATUS_OK)
		status = world_stability(world, &question, &view, why);
	if (status != STATUS_OK)
		return status;
	*verdict = view.verdict;
	status = stability_view_pack(&view, (uint32_t)options->stability_limit, &answer);
	stability_view_release(&view);
	if (status == STATUS_OK)
		status = stability_text(wire_cursor_over(answer.data, (uint32_t)answer.count),
					question.margin, NULL, json, &text);
	if (status == STATUS_OK)
		fwrite(text.data, 1, text.count, stdout);
	else
		reason_set(why, status, -1, "answer", "%s", status_text(status));
	bytes_release(&answer);
	bytes_release(&text);
	return status;
}

int stability_command(const struct options *options)
{
	static const struct option_list NOTHING;
	struct batch_scene from = { .path = options->operands.items[0],
				    .set = &NOTHING,
				    .let = &options->stability_let };
	struct shape_library book;
	struct scene *scene;
	struct world *world;
	struct reason why = { 0 };
	uint8_t verdict = STABILITY_UNDECIDED;
	shape_library_init(&book);
	enum status status = batch_world_make(&from, &book, &scene, &world, &why);
	if (status == STATUS_OK)
		status = ask_stability(options, world, &verdict, &why);
	world_destroy(world);
	scene_destroy(scene);
	shape_library_release(&book);
	if (status != STATUS_OK) {
		command_refused("stability", "", why.field, &why);
		return STABILITY_EXIT_FAILED;
	}
	return verdict == STABILITY_STANDS ? STABILITY_EXIT_STANDS : STABILITY_EXIT_NOT;
}
