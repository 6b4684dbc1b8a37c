/* force.h: a force at any state and time, so that multi-stage integrators may ask for it at stage
 * states and rewinding methods at sub-tick times. It must be a pure function of its arguments. */
#ifndef CAIRN_ENGINE_DYNAMICS_FORCE_H
#define CAIRN_ENGINE_DYNAMICS_FORCE_H

#include "server/engine/math/pose.h"
#include "server/engine/math/vec3.h"

/* Where one body is at a stage. */
struct force_state {
	vec3 centre; /* mass centre, world, m */
	quat rotation;
	vec3 velocity, angular_velocity;
	double mass;
};

struct force {
	/* Adds the force (N) and the torque about the mass centre (N·m), world axes, that act on body
	 * row `body` at `time` seconds from the tick's start. */
	void (*add)(const struct force *self, uint32_t body, const struct force_state *state,
		    double time, vec3 *force, vec3 *torque);
	const void *context; /* borrowed */
};

#endif
