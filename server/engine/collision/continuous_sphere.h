/* continuous_sphere.h: when two balls on straight ways first touch (ch1-3 G-33). */
#ifndef CAIRN_ENGINE_COLLISION_CONTINUOUS_SPHERE_H
#define CAIRN_ENGINE_COLLISION_CONTINUOUS_SPHERE_H

#include "server/engine/geometry/intersect_sphere_sphere.h"

struct continuous_sphere_hit {
	double time; /* in [0, 1] */
	vec3 point;  /* on the line of centres, at that time */
	vec3 normal; /* unit, from b to a; x when the centres are in one place */
};

/* Balls whose centres go from their `centre` by `a_step` and `b_step` in the time 0 … 1. Balls that overlap
 * (or touch) at the start hit at 0. False, and *hit untouched, when they never touch. */
bool continuous_sphere_sphere(struct ball a, vec3 a_step, struct ball b, vec3 b_step,
			      struct continuous_sphere_hit *hit);

#endif
