/* surface.h: the command set_surface: from which side a body is solid, and how its surface moves. For the
 * tables of commands_check.c and commands_apply.c. */
#ifndef CAIRN_ENGINE_WORLD_SURFACE_H
#define CAIRN_ENGINE_WORLD_SURFACE_H

#include "server/engine/world/plan_find.h"

enum status check_set_surface(struct check *check, struct command *command);
void apply_set_surface(const struct apply_context *context, const struct command *command);

/* Of SPAWN or set_surface: a direction that is zero or long enough to be one, and a velocity; both in the
 * plane of a planar world. RANGE, PLANAR. */
MUST_CHECK enum status surface_check(struct check *check, vec3 direction, vec3 velocity);
/* Sets a body's columns. */
void surface_set(struct body_table *body, uint32_t row, vec3 direction, vec3 velocity);

#endif
