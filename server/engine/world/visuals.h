/* visuals.h: what pictures show of a body in place of its shapes: the commands add_visual and
 * clear_visuals, and the table of visuals. No motion and no hash depends on it. */
#ifndef CAIRN_ENGINE_WORLD_VISUALS_H
#define CAIRN_ENGINE_WORLD_VISUALS_H

#include "server/engine/world/plan_find.h"

enum status check_add_visual(struct check *check, struct command *command);
enum status check_clear_visuals(struct check *check, struct command *command);
void apply_add_visual(const struct apply_context *context, const struct command *command);
void apply_clear_visuals(const struct apply_context *context, const struct command *command);

/* How many visuals the body in this row has. */
uint32_t visuals_of(const struct tables *tables, uint32_t body);
/* Removes those of the body in this row. */
void visuals_drop_body(struct world *world, uint32_t body);
/* Removes those that show the shape in this row, of all bodies. O(visuals). */
void visuals_drop_shape(struct world *world, uint32_t shape);

#endif
