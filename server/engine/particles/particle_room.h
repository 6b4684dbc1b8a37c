/* particle_room.h: whether a birth would overlap a particle (ch1-3 P-37).
 *
 * A hashed grid of all particles, made in a tick in which an emitter needs room and filled further by
 * its births. Its cells are as wide as the largest diameter, so what overlaps is at most one cell
 * apart. Of a bucket only ROOM_LOOKS particles are looked at: a place with more of them around has no
 * room. */
#ifndef CAIRN_ENGINE_PARTICLES_PARTICLE_ROOM_H
#define CAIRN_ENGINE_PARTICLES_PARTICLE_ROOM_H

#include "server/engine/particles/particles.h"

struct particle_room;

/* Room for a tick with so many rows of particles, if an emitter needs it. NO_MEMORY. */
MUST_CHECK enum status particle_room_reserve(struct dynamics *self, uint32_t rows);
void particle_room_destroy(struct particle_room *self);
uint64_t particle_room_memory(const struct particle_room *self);
/* Lists all particles; without an emitter that needs it, nothing. */
void particle_room_begin(struct dynamics *self);
/* The particle has been born. */
void particle_room_add(struct dynamics *self, uint32_t particle);
/* Whether a ball overlaps a particle of the list. */
bool particle_room_taken(const struct dynamics *self, vec3 position, double radius);

#endif
