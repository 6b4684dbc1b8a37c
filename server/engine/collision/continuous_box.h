/* continuous_box.h: when two axis-aligned boxes on straight ways first touch (ch1-3 G-34). */
#ifndef CAIRN_ENGINE_COLLISION_CONTINUOUS_BOX_H
#define CAIRN_ENGINE_COLLISION_CONTINUOUS_BOX_H

#include "server/engine/geometry/aabb.h"

struct continuous_box_hit {
	double time;  /* in [0, 1] */
	vec3 normal;  /* the face that is met: ± an axis, from b to a; zero for an overlap at 0 */
	vec3 centres; /* unit, from b's centre to a's at that time (the book's normal); zero if they
			 * are in one place */
};

/* Boxes that move by `a_step` and `b_step` in the time 0 … 1. Boxes that overlap (or touch) at the
 * start hit at 0. Of axes met at one time the last counts. False, and *hit untouched: never. */
bool continuous_box_box(struct aabb a, vec3 a_step, struct aabb b, vec3 b_step,
			struct continuous_box_hit *hit);

#endif
