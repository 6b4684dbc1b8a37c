/* particle_meet.h: linked particles of two systems that meet each other: cloth on cloth, a rope over a
 * cloth, jelly on it.
 *
 * A pair of systems (table MEETING, by ids) keeps any particle of one `thickness` away from any of the
 * other, by the law of particle_self.h: straight paths of a sub-step, no bounce, friction, shares by
 * masses. Systems that meet others move together, in the same sub-steps, as those that bodies hold
 * (particle_cloth.c); in each sub-step the pairs are corrected after the links of all of them, in the
 * order of the table, and of the particles of a pair in that of serial numbers. So no bit depends on
 * workers or rows. */
#ifndef CAIRN_ENGINE_PARTICLES_PARTICLE_MEET_H
#define CAIRN_ENGINE_PARTICLES_PARTICLE_MEET_H

#include "server/engine/particles/particle_bonds.h"

/* From now on two systems meet with this thickness (m) and friction; 0: not any more. The row is
 * reserved. */
void dynamics_meeting_set(struct dynamics *self, system_id a, system_id b, double thickness,
			  double friction);
/* The system goes: it meets none any more. */
void dynamics_meetings_drop(struct dynamics *self, system_id system);
/* How many others a system meets. */
uint32_t particle_meetings(const struct tables *tables, system_id system);

/* Room for a tick. NO_MEMORY. */
MUST_CHECK enum status particle_meet_reserve(struct dynamics *self);
void particle_meet_release(struct particle_links *self);
uint64_t particle_meet_memory(const struct particle_links *self);
/* Before the first sub-step of a tick, in a sub-step after the links, and after the tick: figures. */
void particle_meet_begin(struct particle_links *self);
void particle_meet_correct(struct particle_links *self);
void particle_meet_settle(struct dynamics *self);

#endif
