/* continuous_sphere.h: the time at which two balls in straight motion first touch (ch1-3 G-33), and a ball
 * and a triangle (ch1-3 P-54). */
#ifndef CAIRN_ENGINE_COLLISION_CONTINUOUS_SPHERE_H
#define CAIRN_ENGINE_COLLISION_CONTINUOUS_SPHERE_H

#include "server/engine/geometry/intersect_sphere_sphere.h"

struct continuous_sphere_hit {
	double time; /* in [0, 1] */
	vec3 point;  /* on the line of centres, at that time */
	vec3 normal; /* unit, from b to a; the x axis if the centres coincide */
};

/* The centres move by `a_step` and `b_step` (m) from time 0 to 1. Balls that overlap or touch at the start
 * hit at 0. Returns false and leaves *hit unchanged if they never touch. */
bool continuous_sphere_sphere(struct ball a, vec3 a_step, struct ball b, vec3 b_step,
			      struct continuous_sphere_hit *hit);

/* A ball and a triangle that moves without turning. `normal` points from the triangle to the ball; `point` is
 * the triangle's point nearest to the centre at that time. A ball that touches at the start hits at 0.
 * Returns false and leaves *hit unchanged if they never touch. */
bool continuous_sphere_triangle(struct ball ball, vec3 step, const vec3 triangle[3],
				vec3 triangle_step, struct continuous_sphere_hit *hit);

#endif
