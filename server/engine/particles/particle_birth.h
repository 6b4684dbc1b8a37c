/* particle_birth.h: how particles come into a world: by emitters (particle_birth.c), by commands, and
 * from other particles (particle_descent.c). */
#ifndef CAIRN_ENGINE_PARTICLES_PARTICLE_BIRTH_H
#define CAIRN_ENGINE_PARTICLES_PARTICLE_BIRTH_H

#include "server/base/rng.h"
#include "server/engine/particles/particles.h"

/* A new particle; its system's `born` is at least its serial. */
struct particle_birth {
	uint32_t system; /* row */
	uint8_t generation;
	uint64_t serial, tick, death;
	vec3 position, velocity;
	double size, mass;
};

/* A number within mean ± deviation (P-38). */
double particle_draw(struct rng *rng, const double parameter[2]);
/* The generator of what a particle draws at its birth. */
struct rng particle_generator(const struct system_table *table, uint32_t row, uint64_t serial);
/* A direction at a drawn angle from the given one; with `planar` about z, to either side. */
vec3 particle_turn_away(vec3 direction, double spread, bool planar, struct rng *rng);
/* Whether a ball overlaps a solid body that particles of this mask meet (P-37). */
bool particle_is_blocked(const struct dynamics *self, uint32_t mask, vec3 position, double radius);
/* The tick of a death so many seconds after `now`: the first whose particles would be older. */
uint64_t particle_death(const struct tables *tables, uint64_t now, double life);
/* Whether capacity and memory_max allow one more. */
bool particle_has_room(const struct tables *tables, uint32_t system);
/* The row is reserved, and there is room. */
void particle_append(struct dynamics *self, const struct particle_birth *birth);

/* Mounts a system's emitter on a body, 0: on none. `here`: it stays where it is in the world. */
void dynamics_mount(struct dynamics *self, uint32_t system, body_id body, bool here);
/* The body goes: its emitters stay where they are. */
void dynamics_mounts_drop(struct dynamics *self, body_id body);

/* ---- particle_descent.c -------------------------------------------------------------------------- */

/* Splits and trails of the particles that are there. The rows are reserved. */
void particle_descents(struct dynamics *self, uint64_t now);
/* Most births of a tick into system `row` by splits and trails. */
uint64_t particle_descents_max(const struct tables *tables, uint32_t row);
/* No system leaves a trail of this one any more. */
void particle_forget_trail(struct tables *tables, system_id id);

#endif
