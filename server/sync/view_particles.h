/* view_particles.h: the particles of a view, while the host reports them: today's, and those of a
 * few states before.
 *
 * Nearly all particles move in every tick, so there is no record of changes: a frame compares two
 * states. States are kept for VIEW_PARTICLE_STATES reports that changed something, and in
 * VIEW_PARTICLE_BYTES, but at least two. A base older than these is served with all particles
 * (WIRE_FRAME_WHOLE): the history of particles never causes a SNAPSHOT of the bodies.
 */
#ifndef CAIRN_SYNC_VIEW_PARTICLES_H
#define CAIRN_SYNC_VIEW_PARTICLES_H

#include "protocol/particle_columns.h"
#include "server/base/array.h"
#include "server/host/report.h"

enum { VIEW_PARTICLE_STATES = 32, VIEW_PARTICLE_BYTES = 64 << 20 };

struct view_particle_state {
	uint64_t serial; /* of the first report of this state; the next state's ends it */
	uint64_t tick;	 /* of that report */
	uint32_t epoch;
	uint32_t system_count;
	struct system_flight systems[SYSTEMS_MAX]; /* ascending ids */
	ARRAY_OF(struct wire_particle) rows;	   /* ascending by (system, serial) */
};

struct view_particles {
	bool valid;	/* the last report contained the particles */
	uint64_t first; /* states so far before the oldest one that is kept */
	uint64_t count; /* states so far; state i is at i % VIEW_PARTICLE_STATES */
	uint64_t bytes; /* of the rows of those that are kept */
	struct view_particle_state *states[VIEW_PARTICLE_STATES]; /* owned; NULL: not used yet */
};

void view_particles_release(struct view_particles *self);
/* Applies the particles of the report of that serial. NO_MEMORY. */
MUST_CHECK enum status view_particles_apply(struct view_particles *self,
					    const struct tick_report *report, uint64_t serial);
/* Today's state; `valid`. */
const struct view_particle_state *view_particles_now(const struct view_particles *self);
/* The state at a serial; NULL: it is no longer kept. */
const struct view_particle_state *view_particles_at(const struct view_particles *self,
						    uint64_t serial);

#endif
