/* scene_command.c: `cairnd scene tower`: reads an order of a tower from the options and
 * prints its scene. */
#include "server/commands/scene_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/commands/command_words.h"
#include "server/commands/tower.h"

#define NUMBER_MAX 1e9

/* A number from 0 on; NULL: −1. */
static enum status read_size(const char *text, const char *field, double *out, struct reason *why)
{
	*out = -1;
	return text == NULL ? STATUS_OK : real_read(text, field, 0, NUMBER_MAX, "", out, why);
}

static enum status read_brick(const char *text, struct tower_order *out, struct reason *why)
{
	vec3 size;
	if (text == NULL)
		return STATUS_OK;
	enum status status = vector_read(text, "brick", &size, why);
	if (status != STATUS_OK)
		return status;
	double *b = out->brick;
	b[0] = size.x;
	b[1] = size.y;
	b[2] = size.z;
	if (b[0] == 0)
		return reason_set(why, STATUS_RANGE, -1, "brick",
				  "--brick %.40s: no size of a brick; give 0.001 to 1000", text);
	return STATUS_OK;
}

static enum status read_without(const char *text, struct tower_order *out, struct reason *why)
{
	int used = 0;
	if (text == NULL)
		return STATUS_OK;
	out->without = true;
	if (sscanf(text, "%u,%u%n", &out->without_row, &out->without_column, &used) != 2 ||
	    text[used] != '\0')
		return reason_set(why, STATUS_TYPE, -1, "without",
				  "--without: \"%.40s\" is no brick: give ROW,COLUMN from 0", text);
	return STATUS_OK;
}

static enum status read_carried(const char *text, struct tower_order *out, struct reason *why)
{
	if (text == NULL)
		return STATUS_OK;
	if (strcmp(text, "nine-points") == 0)
		out->carried = TOWER_NINE_POINTS;
	else if (strcmp(text, "triangles") == 0)
		out->carried = TOWER_TRIANGLES;
	else
		return reason_set(
			why, STATUS_RANGE, -1, "carried",
			"--carried: \"%.40s\" is no framework: give nine-points or triangles",
			text);
	return STATUS_OK;
}

static enum status read_order(const struct options *options, struct tower_order *out,
			      struct reason *why)
{
	*out = (struct tower_order){ .kind = options->scene_kind,
				     .count = (uint32_t)options->scene_count,
				     .columns = (uint32_t)options->scene_columns,
				     .space = options->scene_space };
	enum status status = read_brick(options->scene_brick, out, why);
	if (status == STATUS_OK)
		status = real_read(options->scene_factor, "factor", 0, 10, "", &out->factor, why);
	if (status == STATUS_OK)
		status = read_size(options->scene_gap, "gap", &out->gap, why);
	if (status == STATUS_OK)
		status = read_size(options->scene_friction, "friction", &out->friction, why);
	if (status == STATUS_OK)
		status = read_size(options->scene_gravity, "gravity", &out->gravity, why);
	if (status == STATUS_OK)
		status = read_carried(options->scene_carried, out, why);
	return status == STATUS_OK ? read_without(options->scene_without, out, why) : status;
}

int scene_command(const struct options *options)
{
	struct tower_order order;
	struct tower tower = { 0 };
	struct bytes text = { 0 };
	struct reason why = { 0 };
	const char *what = options->operands.items[0];
	enum status status = STATUS_OK;
	if (strcmp(what, "tower") != 0)
		status =
			reason_set(&why, STATUS_RANGE, -1, "scene",
				   "\"%.40s\" is no scene that can be made; there is: tower", what);
	if (status == STATUS_OK)
		status = read_order(options, &order, &why);
	if (status == STATUS_OK)
		status = tower_make(&tower, &order, &why);
	if (status == STATUS_OK && (status = tower_text(&tower, &text)) != STATUS_OK)
		reason_set(&why, status, -1, "memory", "no memory for the scene's text");
	if (status == STATUS_OK)
		fwrite(text.data, 1, text.count, stdout);
	else
		command_refused("scene", "", why.field, &why);
	bytes_release(&text);
	tower_release(&tower);
	return status == STATUS_OK && ferror(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
