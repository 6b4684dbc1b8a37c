/* frame_rate.h: time derivatives of contact frames, rotations and body-fixed vectors (app E).
 *
 * All vectors are in world axes, spins in rad/s, rates per second. Derivatives of unit vectors are
 * projected, never normalised, because their length enters accelerations (K2; the print normalises
 * them).
 */
#ifndef CAIRN_ENGINE_DYNAMICS_FRAME_RATE_H
#define CAIRN_ENGINE_DYNAMICS_FRAME_RATE_H

#include "server/engine/math/mat3.h"

/* E-01: a vector fixed in a body, or the unit normal of its face (E-03): w × p. */
static inline vec3 frame_rate_fixed(vec3 spin, vec3 vector)
{
	return vec3_cross(spin, vector);
}

/* n' of n = N/|N| for N' = change; zero for N = 0. */
vec3 frame_rate_unit(vec3 vector, vec3 change);
/* E-02: n = (p1 − p2)/|p1 − p2| between two points with velocities v1, v2. */
vec3 frame_rate_points(vec3 p1, vec3 p2, vec3 v1, vec3 v2);
/* E-03: n = e1 × e2 / |e1 × e2| of two edges on bodies that spin with w1, w2; parallel edges give
 * zero. */
vec3 frame_rate_edges(vec3 e1, vec3 e2, vec3 w1, vec3 w2);
/* E-04: t' and k' of the frame that vec3_frame makes of n, from n' (perpendicular to n). The frame
 * jumps where vec3_frame changes its branch. */
void frame_rate_tangents(vec3 n, vec3 n_rate, vec3 *t_rate, vec3 *k_rate);
/* E-05: R' = [w]× R. */
mat3 frame_rate_rotation(vec3 spin, mat3 rotation);
/* E-06, the inverse of quat_derivative: w = 2 (s v' − s' v + v × v'), for a unit q. */
vec3 frame_rate_spin(quat q, quat q_rate);
/* D4, Euler's equation: w' = I⁻¹ (τ + (I w) × w), all in one set of axes. */
vec3 frame_rate_gyroscopic(mat3 inertia, mat3 inertia_inv, vec3 spin, vec3 torque);

#endif
