/* particle_limit.h: linked particles whose links may not be longer than a share of their rest length.
 *
 * One correction a sub-step (particle_links.h) carries a pull by one link. A cloth of n by n that
 * hangs by two corners has its whole weight in a few links, and keeps them to n² g h² only. With a
 * limit s of relative elongation (PARTICLES_LIMIT) each sub-step goes on after its corrections:
 *
 *   tethers   A particle is no farther from a support than the way along links: for its two
 *             nearest supports (pins, and particles that bodies hold rigidly) the distance is at
 *             most the sum of rest lengths along the shortest way. So weight reaches a support
 *             in one correction.
 *   passes    Links longer than their rest by more than 0.15 s (compliant ones: 0.6 s) are
 *             shortened to that, in the order of rows, then tethers follow; after the first pass
 *             only links with an end that moved in the last one are looked at. They only pull: a
 *             bilateral pass would also stretch what wrinkles, and needs ten times as many. It
 *             ends where no link was longer than 0.9 s, or after LIMIT_PASSES_MAX.
 *
 * Each correction acts on two particles by their inverse masses: momentum is kept to rounding
 * wherever nothing is pinned. What a tether pulled is counted as pull of each link along its way, so
 * that a link tears by force where it would without tethers.
 *
 * Tethers are a function of links, pins and holds; they are made again in the tick after one of
 * these changed, in the order of (way, support, particle, link). */
#ifndef CAIRN_ENGINE_PARTICLES_PARTICLE_LIMIT_H
#define CAIRN_ENGINE_PARTICLES_PARTICLE_LIMIT_H

#include "server/engine/particles/particle_bonds.h"

/* In a sub-step; a link that is still longer shows in `stretch`. */
enum { LIMIT_PASSES_MAX = 128 };

/* Room for a tick. NO_MEMORY. */
MUST_CHECK enum status particle_limit_reserve(struct dynamics *self);
void particle_limit_release(struct particle_links *self);
uint64_t particle_limit_memory(const struct particle_links *self);
/* Whether the system's links have a limit. */
bool particle_limit_keeps(const struct particle_links *self, const struct linked_system *system);
/* As its sub-steps begin, in each after the links of h s, and as they end; nothing without a limit. */
void particle_limit_begin(struct particle_links *self, const struct linked_system *system);
void particle_limit_correct(const struct particle_links *self, const struct linked_system *system,
			    double h);
void particle_limit_end(const struct particle_links *self, const struct linked_system *system);
/* After the paths: passes are counted. */
void particle_limit_settle(struct dynamics *self);

#endif
