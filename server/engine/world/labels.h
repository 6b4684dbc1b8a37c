/* labels.h: the commands name_body and name_joint (dynamics/labels.h has the names). */
#ifndef CAIRN_ENGINE_WORLD_LABELS_H
#define CAIRN_ENGINE_WORLD_LABELS_H

#include "server/engine/world/checking.h"
#include "server/engine/world/plan_find.h"

enum status check_name_body(struct check *check, struct command *command);
enum status check_name_joint(struct check *check, struct command *command);
void apply_name_body(const struct apply_context *context, const struct command *command);
void apply_name_joint(const struct apply_context *context, const struct command *command);

/* Each name belongs to one body or joint, which names it. */
MUST_CHECK enum status labels_check_tables(const struct tables *tables, struct reason *why);

#endif
