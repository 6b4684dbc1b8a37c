/* particle_links.h: links between particles of a system: ropes, cloth, jelly.
 *
 * A link keeps a distance or a volume (enum link_kind). The particles of a system that has links
 * move in sub-steps of h seconds by extended position-based dynamics:
 *
 *   v ← v decay + a coast h,  x ← x + v h,  every link once, in the order of rows
 *
 * For a link with the error C, gradients ∇C, inverse masses w and the compliance α (1/k):
 *
 *   Δλ = −(C + γ ∇C·Δx) / ((1 + γ) Σ w ∇C² + α/h²),  γ = 2 ζ sqrt(μ α) / h,  x ← x + w ∇C Δλ,
 *   v ← v + w ∇C Δλ / h
 *
 * with μ the reduced mass, so ζ is the damping ratio for unequal masses too (ch1-3 P-08), and momentum is
 * kept to rounding. It is implicit Euler: stable for every α, of first order in h. Links of a
 * system are solved as if one after the other (particle_weave.h) and systems beside each other, so no
 * bit depends on workers. What results is the end of the path; particle_path.c takes it to bodies.
 *
 * A system whose contacts are within its sub-steps, or that bodies hold, moves before the bodies do
 * (particle_cloth.c).
 *
 * A link that is longer than its limit at a tick's end, or that pulled harder than its limit in the tick's
 * mean, is torn: it is removed, counted and told by
 * EVENT_LINK_TORN. The links and the pin of a particle go with it.
 *
 * Invariant: both tables refer to particles that exist. */
#ifndef CAIRN_ENGINE_PARTICLES_PARTICLE_LINKS_H
#define CAIRN_ENGINE_PARTICLES_PARTICLE_LINKS_H

#include "server/engine/particles/particles.h"

struct particle_links;

/* The row of a system's particle, DYNAMICS_NONE: it has none with this serial. O(log particles)
 * where systems are mixed evenly. */
uint32_t dynamics_find_particle(const struct tables *tables, uint32_t system, uint64_t serial);
/* Rests at a length or volume; the row is reserved. `rest` 0: that which it has. */
struct particle_link {
	uint8_t kind; /* enum link_kind */
	uint64_t serial[LINK_ENDS];
	double rest, compliance, damping_ratio, tear, tear_force;
};
void dynamics_link_add(struct dynamics *self, uint32_t system, const struct particle_link *link);
void dynamics_pin_add(struct dynamics *self, uint32_t system, uint64_t serial);
void dynamics_pin_remove(struct dynamics *self, uint32_t system, uint64_t serial);

/* How many particles a link of this kind has; a volume of a planar world is the area of a triangle. */
uint32_t particle_link_ends(const struct tables *tables, uint8_t kind);
/* Whether it has links, pins or holds. */
bool particle_system_linked(const struct tables *tables, uint32_t system);

/* Room for a tick. NO_MEMORY. */
MUST_CHECK enum status particle_links_reserve(struct dynamics *self);
void particle_links_destroy(struct particle_links *self);
uint64_t particle_links_memory(const struct particle_links *self);
/* Removes the links and pins of a system, or, for DYNAMICS_NONE, of particles that do not exist. */
void particle_links_prune(struct dynamics *self, uint32_t system);
/* What a tick keeps for the next one is made anew: links have changed. */
void particle_links_forget(struct dynamics *self);
/* The ends of the paths, by particle row: those of `others` (may be NULL) with those of linked
 * systems in their place. */
const struct particle_end *particle_links_run(struct particle_links *self,
					      const struct particle_motion *motion,
					      const struct particle_end *others);
/* After the paths: residuals, and links that tear. */
void particle_links_settle(struct dynamics *self);

#endif
