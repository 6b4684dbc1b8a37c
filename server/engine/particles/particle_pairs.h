/* particle_pairs.h: what particles do to each other in a tick, before they meet bodies.
 *
 * Systems that PARTICLES_INTERACT has given forces or collisions are active; a particle of one is
 * an actor. Forces (P-10 … P-13, short-range repulsion) act in sub-steps; each is
 *
 *   x ← x + v h/2,  a from all places x,  v ← v + a h,  x ← x + v h/2
 *
 * (position Verlet: symplectic, of second order). The pairs of an actor are visited in one order,
 * by cells (particle_cells.h) and numbers, and the force of b on a is the exact opposite of that
 * of a on b, so momentum is kept to rounding and the bits do not depend on workers.
 *
 * Then collisions (particle_hits.c) bend the paths. What results is the end of the path and the
 * velocity there; particle_path.c takes it from there to bodies. */
#ifndef CAIRN_ENGINE_PARTICLES_PARTICLE_PAIRS_H
#define CAIRN_ENGINE_PARTICLES_PARTICLE_PAIRS_H

#include "server/base/min_heap.h"
#include "server/engine/particles/particle_cells.h"
#include "server/engine/particles/particle_kernels.h"
#include "server/engine/particles/particles.h"

/* The end of an actor's path, by particle row. */
struct particle_end {
	vec3 to, velocity;
	bool known;  /* the particle is an actor */
	bool struck; /* it collided: it has `velocity` on all of its way */
	bool cut;    /* its collisions were too many */
	bool held;   /* pinned: bodies do not move it */
	double core; /* m: the ball that bodies stop; 0: the particle's own */
};

/* A particle that others act on. */
struct actor {
	vec3 v; /* this and the next four are read together, in the order of cells */
	double mass, radius;
	uint32_t system, row; /* system: its row */
	vec3 x;
	double decay, coast, fall; /* of a sub-step, see struct particle_law */
	bool lost;		   /* a number overflowed */
};

/* The rest of an actor's path in a tick, for its collisions (particle_hits.c). */
struct hit_path {
	vec3 x, v;
	vec3 to, gain; /* end of the path, change of velocity until there */
	double mass, radius;
	double time;	 /* of x, a part of the tick */
	double hit_time; /* of its earliest hit, with the actor `hit`; 2: none */
	uint32_t row, system;
	uint32_t hit, hit_version, hits; /* hit_version: `hits` of the other as it was found */
};

/* Of the grid of collisions. */
enum { HIT_LEVELS = 32 };
/* Where an actor's path is in that grid. */
struct hit_cell {
	int64_t x, y, z;
	uint32_t level;
};
struct hit_link {
	struct hit_cell cell;
	uint32_t next; /* in the list of its bucket */
	bool linked;
};

struct particle_pairs {
	struct particle_cells cells;
	ARRAY_OF(double) numbers;   /* of `points` */
	ARRAY_OF(uint64_t) lines;   /* likewise */
	ARRAY_OF(uint32_t) systems; /* likewise */
	struct pair_points points;  /* actors in the order of cells */
	const struct particle_kernels *kernels;
	double largest; /* m: radius of an actor */
	uint32_t only;	/* the only active system; DYNAMICS_NONE: there are several */
	ARRAY_OF(struct actor) actors;
	ARRAY_OF(vec3) accelerations;	    /* by actor */
	ARRAY_OF(struct particle_end) ends; /* by particle row */
	ARRAY_OF(struct hit_path) paths;    /* by actor, as the next three are */
	ARRAY_OF(struct hit_link) links;
	ARRAY_OF(struct min_heap_entry) heap_entries;
	ARRAY_OF(uint32_t) heap_places;
	ARRAY_OF(uint32_t) heads; /* of lists, by bucket */
	struct min_heap earliest; /* hits, by actor */
	uint32_t head_mask, level_counts[HIT_LEVELS];
	double width; /* m: of cells of level 0 */
	struct pair_law laws[SYSTEMS_MAX][SYSTEMS_MAX];
	const struct particle_motion *motion; /* of the tick in progress */
	uint32_t substeps;
	double step;	 /* s: of a sub-step */
	double reach;	 /* m: the largest cutoff; 0: no forces */
	bool collisions; /* of some systems */
};

/* Whether PARTICLES_INTERACT gave some system forces or collisions. */
bool particle_pairs_active(const struct tables *tables);
/* Room for all particles. NO_MEMORY. */
MUST_CHECK enum status particle_pairs_reserve(struct dynamics *self);
void particle_pairs_destroy(struct particle_pairs *self);
uint64_t particle_pairs_memory(const struct particle_pairs *self);
/* Fills `ends` for this tick. */
void particle_pairs_run(struct particle_pairs *self, const struct particle_motion *motion);

/* ---- particle_hits.c ------------------------------------------------------------------------------ */

/* Collisions of the actors on their ways to where forces have brought them. */
void particle_hits_run(struct particle_pairs *self);

#endif
