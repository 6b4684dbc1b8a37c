/* carriers.h: bodies that points carry: the commands carry and uncarry, and reading them
 * (dynamics/carrier.h). */
#ifndef CAIRN_ENGINE_WORLD_CARRIERS_H
#define CAIRN_ENGINE_WORLD_CARRIERS_H

#include "server/engine/world/checking.h"
#include "server/engine/world/plan_find.h"

enum status check_carry(struct check *check, struct command *command);
enum status check_uncarry(struct check *check, struct command *command);
void apply_carry(const struct apply_context *context, const struct command *command);
void apply_uncarry(const struct apply_context *context, const struct command *command);

/* CARRIED, for a command that a body which points carry cannot follow. */
MUST_CHECK enum status check_not_carried(struct check *check, const struct planned_body *body);
/* Rules of the table. CORRUPT with why. */
MUST_CHECK enum status carriers_check_tables(const struct tables *tables, struct reason *why);

#endif
