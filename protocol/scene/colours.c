/* colours.c: the colours of a scene's bodies, each as a SET_COLOUR. A colour is 0xRRGGBB, which needs
 * no quotes in YAML, or "#RRGGBB"; a list of them is used in turn by the bodies of a generator. */
#include <string.h>

#include "protocol/scene/compile.h"
#include "server/engine/world/command.h"

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool read_colour(const struct yaml_node *node, uint32_t *out)
{
	if (node->kind != NODE_SCALAR)
		return false;
	const char *text = node->text;
	if (strncmp(text, "0x", 2) == 0)
		text += 2;
	else if (*text++ != '#')
		return false;
	*out = 0;
	for (int i = 0; i < 6; i++) {
		int digit = hex_digit(text[i]);
		if (digit < 0)
			return false;
		*out = *out << 4 | (uint32_t)digit;
	}
	return text[6] == '\0';
}

enum status compile_colour(struct compile *self, const struct yaml_node *node, uint32_t *out)
{
	if (read_colour(node, out))
		return STATUS_OK;
	return source_fail(
		&self->source, node->line, STATUS_RANGE, "colour",
		"colour is %.32s; it must be 0xRRGGBB or \"#RRGGBB\", each pair from 00 to FF, "
		"as 0xC87941",
		node->kind == NODE_SCALAR ? node->text : node_kind_text(node));
}

static enum status check_one(struct compile *self, const struct yaml_node *node)
{
	uint32_t colour;
	return compile_colour(self, node, &colour);
}

static enum status check_colours(struct compile *self, const struct yaml_node *node)
{
	if (node == NULL || node->kind != NODE_LIST)
		return node == NULL ? STATUS_OK : check_one(self, node);
	if (node->first == NULL)
		return source_fail(&self->source, node->line, STATUS_RANGE, "colour",
				   "the list of colours is empty; give one at least");
	enum status status = STATUS_OK;
	for (const struct yaml_node *at = node->first; at != NULL && status == STATUS_OK;
	     at = at->next)
		status = check_one(self, at);
	return status;
}

enum status compile_colour_key(struct compile *self, const struct yaml_node *map,
			       const struct yaml_node *colour, const struct yaml_node *color,
			       const struct yaml_node **out)
{
	*out = colour != NULL ? colour : color;
	enum status status =
		compile_refuse_both(self, map, colour != NULL && color != NULL, "color", "colour");
	return status == STATUS_OK ? check_colours(self, *out) : status;
}

enum status compile_colours(struct compile *self)
{
	for (uint32_t i = 0; i < self->coloured.count; i++) {
		const struct coloured_bodies bodies = self->coloured.items[i];
		bool several = bodies.colour->kind == NODE_LIST;
		const struct yaml_node *at = several ? bodies.colour->first : bodies.colour;
		for (uint32_t k = 0; k < bodies.count; k++) {
			struct command *command =
				compile_command(self, COMMAND_SET_COLOUR, at->line);
			if (command == NULL)
				return source_no_memory(&self->source);
			command->set_colour.body = -(int64_t)(bodies.first + k) - 1;
			bool good = read_colour(at, &command->set_colour.colour);
			ASSERT(good);
			if (several)
				at = at->next != NULL ? at->next : bodies.colour->first;
		}
	}
	return STATUS_OK;
}
