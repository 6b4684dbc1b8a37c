/* visuals.c: see visuals.h. The visuals of a body are a list in the order of their commands,
 * from body.first_visual on. They do not count as uses of a shape, because uses are part of the
 * hash: a shape that only visuals show may be dropped, and takes them along. */
#include "server/engine/world/visuals.h"

#include <string.h>

/* ---- rows ---------------------------------------------------------------------------------- */

uint32_t visuals_of(const struct tables *tables, uint32_t body)
{
	uint32_t count = 0;
	for (uint32_t at = tables->body.first_visual[body]; at != 0;
	     at = tables->visual.next[at - 1])
		count++;
	ASSERT(count <= VISUALS_MAX);
	return count;
}

/* Removes the row that *link names; *link then names the next. */
static void remove_visual(struct world *world, uint32_t *link)
{
	uint32_t row = *link - 1;
	ASSERT(world->tables.visual.body[row] != 0);
	*link = world->tables.visual.next[row];
	tables_free_row(&world->tables, TABLE_VISUAL, row, &world->dynamics.visual_used, NULL);
}

void visuals_drop_body(struct world *world, uint32_t body)
{
	while (world->tables.body.first_visual[body] != 0)
		remove_visual(world, &world->tables.body.first_visual[body]);
}

/* The link to a row in the list of its body. */
static uint32_t *find_visual_link(struct tables *tables, uint32_t row)
{
	ASSERT(row < tables->visual.count && tables->visual.body[row] != 0);
	uint32_t *link = &tables->body.first_visual[tables->visual.body[row] - 1];
	while (*link != row + 1)
		link = &tables->visual.next[*link - 1];
	return link;
}

void visuals_drop_shape(struct world *world, uint32_t shape)
{
	const struct visual_table *table = &world->tables.visual;
	for (uint32_t row = bitset_next(&world->dynamics.visual_used, 0); row != BITSET_NONE;
	     row = bitset_next(&world->dynamics.visual_used, row + 1))
		if (table->shape[row] == shape)
			remove_visual(world, find_visual_link(&world->tables, row));
}

/* ---- commands ------------------------------------------------------------------------------ */

enum status check_add_visual(struct check *check, struct command *command)
{
	struct command_ADD_VISUAL *add = &command->add_visual;
	struct planned_body *body;
	struct planned_shape *shape;
	enum status status = plan_find_body(check, &add->body, &body);
	if (status == STATUS_OK)
		status = plan_find_shape(check, &add->shape, &shape, "shape");
	if (status != STATUS_OK)
		return status;
	if (body->visuals >= VISUALS_MAX)
		return REFUSE(check, STATUS_LIMIT, "body",
			      "body %u has %u visuals, the most that a body may have: "
			      "clear_visuals takes them away",
			      body->id, (uint32_t)VISUALS_MAX);
	body->visuals++;
	check->plan->new_visuals++;
	return STATUS_OK;
}

enum status check_clear_visuals(struct check *check, struct command *command)
{
	struct planned_body *body;
	enum status status = plan_find_body(check, &command->clear_visuals.body, &body);
	if (status == STATUS_OK)
		body->visuals = 0;
	return status;
}

void apply_add_visual(const struct apply_context *context, const struct command *command)
{
	struct world *world = context->world;
	struct tables *tables = &world->tables;
	const struct command_ADD_VISUAL *add = &command->add_visual;
	uint32_t body = dynamics_find_body(&world->dynamics, (body_id)add->body);
	uint32_t shape = shapes_find(world, (shape_id)add->shape);
	ASSERT(body != ROW_NONE && shape != ROW_NONE);
	uint32_t *link = &tables->body.first_visual[body];
	while (*link != 0)
		link = &tables->visual.next[*link - 1];
	uint32_t row = tables_take_row(tables, TABLE_VISUAL, &world->dynamics.visual_used);
	*link = row + 1;
	tables->visual.body[row] = body + 1;
	tables->visual.shape[row] = shape;
	tables->visual.position[row] = add->position;
	tables->visual.rotation[row] = add->rotation;
	tables->visual.colour[row] = add->given != 0 ? add->colour + COLOUR_GIVEN : 0;
}

void apply_clear_visuals(const struct apply_context *context, const struct command *command)
{
	uint32_t body =
		dynamics_find_body(&context->world->dynamics, (body_id)command->clear_visuals.body);
	ASSERT(body != ROW_NONE);
	visuals_drop_body(context->world, body);
}

/* ---- view ---------------------------------------------------------------------------------- */

static struct visual_view view_of(const struct tables *tables, uint32_t row)
{
	uint32_t shape = tables->visual.shape[row];
	struct visual_view view = { .shape = tables->shape.id[shape],
				    .position = tables->visual.position[row],
				    .rotation = tables->visual.rotation[row],
				    .colour = tables->visual.colour[row] };
	memcpy(view.name.bytes, tables->shape.name[shape], sizeof view.name.bytes);
	return view;
}

uint32_t world_visuals(const struct world *world, body_id body, struct visual_view *out,
		       uint32_t capacity)
{
	const struct tables *tables = &world->tables;
	uint32_t row = dynamics_find_body(&world->dynamics, body), count = 0;
	for (uint32_t at = row != ROW_NONE ? tables->body.first_visual[row] : 0; at != 0;
	     at = tables->visual.next[at - 1], count++)
		if (count < capacity)
			out[count] = view_of(tables, at - 1);
	return count;
}
