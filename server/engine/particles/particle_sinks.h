/* particle_sinks.h: sinks: regions and bodies that take the particles of a system away (table sink).
 *
 * A system has up to PARTICLE_SINKS_MAX of them, by numbers from 1. At the end of a tick, a particle whose
 * place is in a sink of its system is taken: it goes as the next tick begins, like one whose life ends,
 * and its momentum with it. The sink with the lowest number counts it. */
#ifndef CAIRN_ENGINE_PARTICLES_PARTICLE_SINKS_H
#define CAIRN_ENGINE_PARTICLES_PARTICLE_SINKS_H

#include "server/engine/dynamics/dynamics.h"

struct particle_sink {
	uint32_t number;
	uint8_t region;
	body_id body; /* 0: position and rotation are in the world */
	vec3 position, size;
	quat rotation;
	double radius;
};

/* Makes a sink or sets it anew; its counts stay. There is a row for it. */
void dynamics_sink_set(struct dynamics *self, uint32_t system, const struct particle_sink *sink);
/* No effect if the system has no such sink. */
void dynamics_sink_remove(struct dynamics *self, uint32_t system, uint32_t number);
/* The system goes. */
void particle_sinks_forget(struct tables *tables, uint32_t system);
/* The body goes, and the sinks that it carries or is. */
void dynamics_sinks_drop(struct dynamics *self, body_id body);
/* After the paths of the tick that ends as `now`. */
void particle_sinks_run(struct dynamics *self, uint64_t now);

#endif
