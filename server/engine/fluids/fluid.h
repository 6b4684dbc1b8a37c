/* fluid.h: fluids: particle systems whose particles carry volume (ch1-3 P-46 … P-53).
 *
 * PARTICLES_FLUID makes a system a fluid (table fluid). A tick:
 *
 *   fluids_prepare   moves the fluid over the tick, beside the bodies as they will probably move,
 *                    and notes what it does to them (table load)
 *   the method       has the loads among its forces (force.c), constant over the tick
 *   particles_step   takes the particles along their ways, past the bodies (particle_path.c)
 *
 * so forces between fluid and bodies act in one tick on both, and momentum balances. A body moves
 * in the eyes of the fluid with the acceleration that it had in the last tick apart from the load,
 * and in addition as the pressures of this tick push it; so a floating body and its water are
 * solved together, however light it is. Impacts are no such acceleration: it is at most
 * FLUID_FREE_MAX times gravity.
 *
 * Two solvers: `explicit` has an equation of state and small sub-steps (P-48, P-50, fluid_press);
 * `incompressible` is divergence-free SPH (Bender and Koschier 2015): pressures are iterated until
 * the mean excess of density is within the tolerance (fluid_solve). Both have the walls of
 * fluid_boundary.h in the place of ghosts. */
#ifndef CAIRN_ENGINE_FLUIDS_FLUID_H
#define CAIRN_ENGINE_FLUIDS_FLUID_H

#include "server/engine/particles/particle_pairs.h"

struct fluid_work;

#define FLUID_FREE_MAX 2.0

/* What fluids do to a body in a tick. */
struct fluid_load {
	uint32_t row, id;
	vec3 force, torque;  /* N, N m about the mass centre */
	vec3 velocity, spin; /* of the body as the tick began */
};

/* ---- rows ---------------------------------------------------------------------------------------- */

/* The row of a system in the table fluid, DYNAMICS_NONE: it is none. */
uint32_t fluid_find(const struct tables *tables, uint32_t system);
/* Removes a system from the table. */
void fluid_forget(struct tables *tables, uint32_t system);
/* The row of a body in the table load, DYNAMICS_NONE: fluids did not touch it. O(log loads). */
uint32_t fluid_find_load(const struct tables *tables, uint32_t body);

/* ---- a tick -------------------------------------------------------------------------------------- */

/* NO_MEMORY: nothing changed. `dt` in s. */
MUST_CHECK enum status fluids_prepare(struct dynamics *self, double dt);
/* The method's step was refused. */
void fluids_undo(struct dynamics *self);
/* Puts the ends of the fluid's ways in the place of `others` (may be NULL): ends of the ways of all
 * particles, by row. */
const struct particle_end *fluids_ends(struct dynamics *self, const struct particle_end *others);
/* After the paths: densities, figures, bodies that must not sleep. */
void fluids_settle(struct dynamics *self);

void fluids_destroy(struct fluid_work *self);
uint64_t fluids_memory(const struct fluid_work *self);

#endif
