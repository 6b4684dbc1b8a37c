/* particle_holds.h: particles that bodies hold, and systems that move together with bodies
 * (particle_cloth.c). */
#ifndef CAIRN_ENGINE_PARTICLES_PARTICLE_HOLDS_H
#define CAIRN_ENGINE_PARTICLES_PARTICLE_HOLDS_H

#include "server/engine/dynamics/dynamics.h"

struct particle_hold {
	uint64_t serial;
	body_id body;
	vec3 point;	  /* m, body axes */
	double stiffness; /* N/m; 0: rigid */
	double damping_ratio;
};
/* The particle is held from now on, and by no other body. The row is reserved. */
void dynamics_hold_add(struct dynamics *self, uint32_t system, const struct particle_hold *hold);
/* No body holds it any more. */
void dynamics_hold_remove(struct dynamics *self, uint32_t system, uint64_t serial);
/* The body goes: it holds nothing any more. */
void dynamics_holds_drop(struct dynamics *self, body_id body);

/* Whether a linked system moves before the bodies do and meets them within its sub-steps. */
bool particle_system_coupled(const struct tables *tables, uint32_t system);
/* Moves the coupled systems, and gives bodies their impulses, as a tick begins; `dt` in s. NO_MEMORY: nothing
 * changed. */
struct particle_motion;
MUST_CHECK enum status particle_cloth_move(struct dynamics *self,
					   const struct particle_motion *motion);
/* The method's step was refused: takes back what these impulses did. */
void particle_cloth_undo(struct dynamics *self);

#endif
