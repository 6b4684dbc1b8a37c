/* locks.h: locked axes of a body: the command set_locks, and what SPAWN and set_velocity ask of them. For
 * the tables of commands_check.c and commands_apply.c. */
#ifndef CAIRN_ENGINE_WORLD_LOCKS_H
#define CAIRN_ENGINE_WORLD_LOCKS_H

#include "server/engine/world/plan_find.h"

enum status check_set_locks(struct check *check, struct command *command);
void apply_set_locks(const struct apply_context *context, const struct command *command);

/* Velocities of a dynamic body with these locks: RANGE unless they are 0 along and about them. */
MUST_CHECK enum status locks_check(struct check *check, uint32_t locks, vec3 velocity, vec3 spin);
/* As locks_hold, of a body in the plan. */
void locks_hold_planned(struct planned_body *body);

#endif
