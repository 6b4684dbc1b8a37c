/* particle_systems.h: commands about particle systems, for the tables of commands_check.c and
 * commands_apply.c. */
#ifndef CAIRN_ENGINE_WORLD_PARTICLE_SYSTEMS_H
#define CAIRN_ENGINE_WORLD_PARTICLE_SYSTEMS_H

#include "server/engine/world/plan_find.h"

enum status check_particles_create(struct check *check, struct command *command);
enum status check_particles_remove(struct check *check, struct command *command);
enum status check_particles_set(struct check *check, struct command *command);
enum status check_particles_add(struct check *check, struct command *command);
enum status check_particles_contacts(struct check *check, struct command *command);
enum status check_particles_hold(struct check *check, struct command *command);
enum status check_particles_self(struct check *check, struct command *command);
enum status check_particles_meet(struct check *check, struct command *command);
enum status check_particles_limit(struct check *check, struct command *command);
enum status check_particles_emitter(struct check *check, struct command *command);
enum status check_particles_sink(struct check *check, struct command *command);
enum status check_particles_split(struct check *check, struct command *command);
enum status check_particles_trail(struct check *check, struct command *command);
enum status check_particles_interact(struct check *check, struct command *command);
enum status check_particles_lattice(struct check *check, struct command *command);
enum status check_particles_link(struct check *check, struct command *command);
enum status check_particles_fluid(struct check *check, struct command *command);
enum status check_particles_fill(struct check *check, struct command *command);
enum status check_particles_pin(struct check *check, struct command *command);
/* RANGE: drawn numbers would leave the limits of their mean. */
MUST_CHECK enum status check_deviation(struct check *check, const char *name, double mean,
				       double deviation, double least, double most);
/* LIMIT: the system has no room for so many further particles. */
MUST_CHECK enum status check_particle_room(struct check *check, const struct planned_system *system,
					   uint64_t count);
/* LINKED: the system's particles act on each other. */
MUST_CHECK enum status check_particles_linkable(struct check *check,
						const struct planned_system *system);
/* UNKNOWN_PARTICLE: the system has none with this serial number. */
MUST_CHECK enum status check_particle_serial(struct check *check,
					     const struct planned_system *system, uint32_t serial,
					     const char *field);
/* The row of a system that is given links or holds, with at least so many sub-steps. */
uint32_t particles_linked_row(const struct apply_context *context, int64_t id, uint32_t substeps);
/* What a lattice adds. */
uint64_t lattice_particles(const struct command_PARTICLES_LATTICE *lattice);
uint64_t lattice_links(const struct command_PARTICLES_LATTICE *lattice, bool planar);

/* How many places a fill has. */
uint64_t fill_particles(const struct command_PARTICLES_FILL *fill);

void apply_particles_create(const struct apply_context *context, const struct command *command);
void apply_particles_remove(const struct apply_context *context, const struct command *command);
void apply_particles_set(const struct apply_context *context, const struct command *command);
void apply_particles_add(const struct apply_context *context, const struct command *command);
void apply_particles_self(const struct apply_context *context, const struct command *command);
void apply_particles_meet(const struct apply_context *context, const struct command *command);
void apply_particles_limit(const struct apply_context *context, const struct command *command);
void apply_particles_emitter(const struct apply_context *context, const struct command *command);
void apply_particles_contacts(const struct apply_context *context, const struct command *command);
void apply_particles_hold(const struct apply_context *context, const struct command *command);
void apply_particles_sink(const struct apply_context *context, const struct command *command);
void apply_particles_split(const struct apply_context *context, const struct command *command);
void apply_particles_trail(const struct apply_context *context, const struct command *command);
void apply_particles_interact(const struct apply_context *context, const struct command *command);
void apply_particles_lattice(const struct apply_context *context, const struct command *command);
void apply_particles_link(const struct apply_context *context, const struct command *command);
void apply_particles_fluid(const struct apply_context *context, const struct command *command);
void apply_particles_fill(const struct apply_context *context, const struct command *command);
void apply_particles_pin(const struct apply_context *context, const struct command *command);

#endif
