/* controls.h: commands that say how bodies move: gravity's factor and greatest speeds, targets of
 * animated bodies, explosions. For the tables of commands_check.c and commands_apply.c, and for
 * world_step.c. */
#ifndef CAIRN_ENGINE_WORLD_CONTROLS_H
#define CAIRN_ENGINE_WORLD_CONTROLS_H

#include "server/engine/world/plan_find.h"

enum status check_set_motion(struct check *check, struct command *command);
enum status check_move_to(struct check *check, struct command *command);
enum status check_explode(struct check *check, struct command *command);

void apply_set_motion(const struct apply_context *context, const struct command *command);
void apply_move_to(const struct apply_context *context, const struct command *command);
void apply_explode(const struct apply_context *context, const struct command *command);

/* Adds I⁻¹ l to the angular velocity; l in world axes, N m s. */
void controls_turn(struct world *world, uint32_t row, vec3 l);
/* An impulse (N s, world axes) at `arm` (m, world axes) from the mass centre of a dynamic body; wakes it. */
void controls_push(struct world *world, uint32_t row, vec3 impulse, vec3 arm);
/* Sets a body's columns and flag; factor 1 has none. */
void controls_set_motion(struct body_table *body, uint32_t row, double gravity_scale,
			 double speed_max, double angular_speed_max);
/* Before the method's step: animated bodies whose tick to a target has been made stop, unless they have a new
 * one. O(awake bodies). */
void controls_begin(struct world *world);

#endif
