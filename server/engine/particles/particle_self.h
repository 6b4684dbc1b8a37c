/* particle_self.h: linked particles that meet each other: cloth, ropes and jelly that do not pass
 * through themselves.
 *
 * Two particles of a system that share no link stay `thickness` apart (centres). They meet in each
 * sub-step, after the links:
 *
 *   - the straight paths of the sub-step are searched, so that nothing passes between two sub-steps;
 *     the normal n is the direction between them when they meet, and stays that of the sub-step's
 *     start for a pair that is still too near from before, so that what was pushed together is pushed
 *     back to the side from which it came
 *   - x is moved apart along n by masses; v only loses its speed of approach (no bounce, and a deep
 *     start adds no energy), and tangentially what friction allows (Coulomb)
 *
 * A sheet of square cells of side s is closed for balls of diameter d ≥ s √3/2: an edge of length s that
 * crosses the middle of a cell has its ends s √3/2 from the cell's corners, and every other crossing is
 * nearer. So a cloth whose thickness is at least 0.87 of its longest edge does not pass through
 * itself as long as no pair overlaps by more than the rest.
 *
 * Pairs come from cells (particle_cells.h) with a margin, and are listed anew when two particles
 * may have moved by that margin relative to each other. They are in the order of serial numbers. A
 * list has room for SELF_PAIRS a particle on average; pairs beyond it are counted as crowded. */
#ifndef CAIRN_ENGINE_PARTICLES_PARTICLE_SELF_H
#define CAIRN_ENGINE_PARTICLES_PARTICLE_SELF_H

#include "server/engine/particles/particle_bonds.h"

/* Room for a tick. NO_MEMORY. */
MUST_CHECK enum status particle_self_reserve(struct dynamics *self);
void particle_self_release(struct particle_links *self);
uint64_t particle_self_memory(const struct particle_links *self);
/* Whether particles of the system meet each other. */
bool particle_self_meets(const struct particle_links *self, const struct linked_system *system);
/* Before the first sub-step of a tick. */
void particle_self_begin(struct particle_links *self, const struct linked_system *system);
/* In a sub-step, after the links. */
void particle_self_correct(struct particle_links *self, const struct linked_system *system);
/* Parts two particles that come nearer than the thickness in a sub-step. */
void particle_self_part(struct link_node *a, struct link_node *b, double thickness,
			double friction);
/* What leaves the world meets nothing. */
bool particle_is_inside(vec3 x);
/* After the tick: figures. */
void particle_self_settle(struct dynamics *self);

#endif
