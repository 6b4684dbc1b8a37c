/* force_fields.h: commands about force fields, for the tables of commands_check.c and commands_apply.c. */
#ifndef CAIRN_ENGINE_WORLD_FORCE_FIELDS_H
#define CAIRN_ENGINE_WORLD_FORCE_FIELDS_H

#include "server/engine/world/plan_find.h"

enum status check_field_create(struct check *check, struct command *command);
enum status check_field_remove(struct check *check, struct command *command);
enum status check_field_set(struct check *check, struct command *command);

void apply_field_create(const struct apply_context *context, const struct command *command);
void apply_field_remove(const struct apply_context *context, const struct command *command);
void apply_field_set(const struct apply_context *context, const struct command *command);

#endif
