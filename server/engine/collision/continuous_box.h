/* continuous_box.h: the time at which two axis-aligned boxes in straight motion first touch (ch1-3 G-34). */
#ifndef CAIRN_ENGINE_COLLISION_CONTINUOUS_BOX_H
#define CAIRN_ENGINE_COLLISION_CONTINUOUS_BOX_H

#include "server/engine/geometry/aabb.h"

struct continuous_box_hit {
	double time;  /* in [0, 1] */
	vec3 normal;  /* of the touched face: ± an axis, from b to a; zero for an overlap at 0 */
	vec3 centres; /* unit, from b's centre to a's at that time (the book's normal); zero if the
			 * centres coincide */
};

/* The boxes move by `a_step` and `b_step` (m) from time 0 to 1. Boxes that overlap or touch at the start hit
 * at 0. If they touch on several axes at the same time, the normal is the last of these axes. Returns false
 * and leaves *hit unchanged if they never touch. */
bool continuous_box_box(struct aabb a, vec3 a_step, struct aabb b, vec3 b_step,
			struct continuous_box_hit *hit);

#endif
