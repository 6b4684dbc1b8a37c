/* particles.h: particle systems: their rows, and what a tick does with particles.
 *
 * A particle is a ball without rotation (ch1-3 P-01, P-15). All particles of a world are rows of
 * one table in the order of their births, so a block of PARTICLE_BLOCK rows is work for one
 * thread, and no result depends on threads. A tick:
 *
 *   particles_prepare   the impulses that particles gave bodies in the last tick act (P-22), and fluids
 *                       find their motion and what it does to bodies (fluid.h)
 *   the method's step   moves the bodies; particles do not exist for it
 *   particles_step      deaths by age, motion of all particles, births
 *
 * so bodies are done before any particle meets them, and total momentum balances over two ticks.
 * A particle flies freely for the whole tick first, under gravity, drag (P-05, P-06) and the
 * world's force fields (P-09), or with others that it pulls, pushes and meets (particle_pairs.h);
 * then its straight path is searched for bodies (particle_path.c).
 *
 * Births draw from a generator that is seeded with the system's seed and id and the particle's
 * serial number, so a particle does not depend on what else was born (particle_birth.c). */
#ifndef CAIRN_ENGINE_PARTICLES_PARTICLES_H
#define CAIRN_ENGINE_PARTICLES_PARTICLES_H

#include "server/engine/dynamics/dynamics.h"

enum { PARTICLE_BLOCK = 256 };

/* ---- rows -------------------------------------------------------------------------------------- */

/* Room for `systems` and `particles` further rows. NO_MEMORY. */
MUST_CHECK enum status dynamics_system_reserve(struct dynamics *self, uint32_t systems,
					       uint32_t particles);
uint32_t dynamics_system_take(struct dynamics *self);
/* Removes the system and its particles. O(particles). */
void dynamics_system_free(struct dynamics *self, uint32_t row);
/* DYNAMICS_NONE: no such system. O(SYSTEMS_MAX). */
uint32_t dynamics_find_system(const struct dynamics *self, system_id id);
/* The sum of the capacities of all systems. */
uint32_t dynamics_system_capacity(const struct dynamics *self);
/* How many particles system `row` may still make. */
uint32_t dynamics_system_room(const struct tables *tables, uint32_t row);
/* One particle with the system's mean size, mass and life; there is room and memory. */
void dynamics_particle_add(struct dynamics *self, uint32_t system, vec3 position, vec3 velocity);

/* ---- a tick ------------------------------------------------------------------------------------ */

/* NO_MEMORY: nothing changed. `dt` in s. */
MUST_CHECK enum status particles_prepare(struct dynamics *self, double dt);
/* The method's step was refused: takes back what the impulses and fluids did. */
void particles_undo(struct dynamics *self);
/* After the method's step and the world's bounds; `dt` in s. */
void particles_step(struct dynamics *self, double dt);

/* ---- parts of particles_step -------------------------------------------------------------------- */

struct particle_motion;
struct particle_law;
struct particle_end;
/* Moves the particles of rows first … last − 1. */
void particle_path_block(const struct particle_motion *motion, uint32_t first, uint32_t last);
/* What the world's fields give a particle (m/s²). */
vec3 particle_field_acceleration(const struct particle_motion *motion, uint32_t system, vec3 at,
				 vec3 velocity, double mass);
/* The laws of a tick of all systems, and the fields that act on some of them. */
void particle_laws_find(struct particle_motion *motion, const struct tables *tables, double dt);
/* Whether particles of this mask meet the placement's body as an obstacle. */
bool particle_meets(const struct dynamics *self, uint32_t placement, uint32_t mask);
/* Whether a hit is on a body that is solid from one side, from its other side. */
struct swept_hit;
bool particle_passes(const struct dynamics *self, uint32_t body, const struct swept_hit *hit);
/* The coefficients for particles of another mass. */
void particle_law_of_mass(struct particle_law *law, double mass, double dt);
/* That of a system, for its mean mass; `fields` is left. */
void particle_law_of_system(struct particle_law *law, const struct tables *tables, uint32_t row,
			    double dt);
/* The births of this tick. The rows are reserved. */
void particle_births(struct dynamics *self, uint64_t now);
/* Most births of a tick. */
uint64_t particle_births_max(const struct tables *tables);

/* How the particles of a system move in a tick of h seconds:
 * x += v coast h + a fall h², v = v decay + a coast h (P-06, exact for constant a). */
struct particle_law {
	vec3 acceleration; /* m/s²: gravity */
	double drag;	   /* N s/m */
	double mass;	   /* kg: of the particles for which decay, coast and fall are given */
	double decay, coast, fall;
	bool fields; /* some field acts on its particles */
};

struct particle_motion {
	struct dynamics *dynamics;
	double dt;
	double reach;			 /* m: no point of a body moved farther in this tick */
	double bounce_speed;		 /* m/s: slower impacts do not bounce */
	struct aabb bounds;		 /* particles beyond are removed */
	const struct particle_end *ends; /* by row (particle_pairs.h); NULL: none is an actor */
	uint32_t fields[FIELDS_MAX], field_count; /* rows of fields that act on some particles */
	struct particle_law laws[SYSTEMS_MAX];	  /* by row */
};

#endif
