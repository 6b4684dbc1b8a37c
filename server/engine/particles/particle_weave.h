/* particle_weave.h: the sub-steps of linked particles, with links side by side.
 *
 * The links of a system act one after the other, in the order of their rows (particle_links.h).
 * Links without a common particle do not disturb each other, so any order that keeps the order
 * of the links of each particle gives the same bits. A link's level is one more than the highest
 * level of the links before it that share a particle with it. Levels follow each other; within
 * one links are sorted by their first particle, and where both ends of several links follow each
 * other in memory they are a run, which vectors correct (particle_kernels.h). Others are
 * gathered.
 *
 * Particle i has slot (i mod 4) q + i / 4 with q a quarter of their number: so those two or four
 * apart follow each other, too, which the two colours of a lattice need in every direction.
 *
 * Order and runs are made again when links join other particles than in the last tick, and the
 * numbers of links when these, the masses of particles or the sub-step changed. */
#ifndef CAIRN_ENGINE_PARTICLES_PARTICLE_WEAVE_H
#define CAIRN_ENGINE_PARTICLES_PARTICLE_WEAVE_H

#include "server/engine/particles/particle_bonds.h"

/* Room for the linked systems of a tick. NO_MEMORY. */
MUST_CHECK enum status particle_weave_reserve(struct dynamics *self);
void particle_weave_release(struct particle_links *self);
uint64_t particle_weave_memory(const struct particle_links *self);

/* Whether the bonds that were in the place of the system's in the lists before are those that it has
 * now: if so it sets what the links are. Its nodes are gathered, and first_bond is set. */
bool particle_weave_expects(const struct particle_links *self, struct linked_system *system);
/* Before the sub-steps of a tick, and after them. */
void particle_weave_begin(const struct particle_links *self, struct linked_system *system);
void particle_weave_end(const struct particle_links *self, const struct linked_system *system);
/* `count` sub-steps: free motion, and every link once. */
void particle_weave_move(const struct particle_links *self, const struct linked_system *system,
			 double h, uint32_t count);
/* After the paths: the largest relative elongation, and that of each link where some tear. */
double particle_weave_measure(const struct particle_links *self, struct linked_system *system);

#endif
