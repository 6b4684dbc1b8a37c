/* particle_systems.h: commands about particle systems, for the tables of commands_check.c and
 * commands_apply.c. */
#ifndef CAIRN_ENGINE_WORLD_PARTICLE_SYSTEMS_H
#define CAIRN_ENGINE_WORLD_PARTICLE_SYSTEMS_H

#include "server/engine/world/plan_find.h"

enum status check_particles_create(struct check *check, struct command *command);
enum status check_particles_remove(struct check *check, struct command *command);
enum status check_particles_set(struct check *check, struct command *command);
enum status check_particles_add(struct check *check, struct command *command);
enum status check_particles_interact(struct check *check, struct command *command);

void apply_particles_create(const struct apply_context *context, const struct command *command);
void apply_particles_remove(const struct apply_context *context, const struct command *command);
void apply_particles_set(const struct apply_context *context, const struct command *command);
void apply_particles_add(const struct apply_context *context, const struct command *command);
void apply_particles_interact(const struct apply_context *context, const struct command *command);

#endif
