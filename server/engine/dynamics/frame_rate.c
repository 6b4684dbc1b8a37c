/* See frame_rate.h. Formulas: appendix E of the book, corrected as docs/SOURCES.md tells. */
#include "server/engine/dynamics/frame_rate.h"

vec3 frame_rate_unit(vec3 vector, vec3 change)
{
	double length;
	vec3 n = vec3_normalize_length(vector, &length);
	if (!(length > 0))
		return vec3_zero();
	return vec3_scale(vec3_mul_sub(change, n, vec3_dot(n, change)), 1 / length);
}

vec3 frame_rate_points(vec3 p1, vec3 p2, vec3 v1, vec3 v2)
{
	return frame_rate_unit(vec3_sub(p1, p2), vec3_sub(v1, v2));
}

/* N' = (e1·e2)(w2 − w1) + (e2·w1) e1 − (e1·w2) e2; the print's last term has w1. */
vec3 frame_rate_edges(vec3 e1, vec3 e2, vec3 w1, vec3 w2)
{
	vec3 change = vec3_scale(vec3_sub(w2, w1), vec3_dot(e1, e2));
	change = vec3_mul_add(change, e1, vec3_dot(e2, w1));
	change = vec3_mul_sub(change, e2, vec3_dot(e1, w2));
	return frame_rate_unit(vec3_cross(e1, e2), change);
}

/* The vector that vec3_frame normalises, `of` in the place of n, in the branch that n selects. */
static vec3 tangent_pattern(vec3 n, vec3 of)
{
	double x = scalar_abs(n.x), y = scalar_abs(n.y), z = scalar_abs(n.z);
	if (x <= y && x <= z)
		return vec3_make(0, of.z, -of.y);
	if (y <= x && y <= z)
		return vec3_make(-of.z, 0, of.x);
	return vec3_make(of.y, -of.x, 0);
}

void frame_rate_tangents(vec3 n, vec3 n_rate, vec3 *t_rate, vec3 *k_rate)
{
	vec3 t, k;
	vec3_frame(n, &t, &k);
	*t_rate = frame_rate_unit(tangent_pattern(n, n), tangent_pattern(n, n_rate));
	*k_rate = vec3_add(vec3_cross(n_rate, t), vec3_cross(n, *t_rate));
}

mat3 frame_rate_rotation(vec3 spin, mat3 rotation)
{
	return mat3_mul(mat3_skew(spin), rotation);
}

vec3 frame_rate_spin(quat q, quat q_rate)
{
	vec3 v = quat_vector(q), dv = quat_vector(q_rate);
	vec3 w = vec3_mul_sub(vec3_scale(dv, q.w), v, q_rate.w);
	return vec3_scale(vec3_add(w, vec3_cross(v, dv)), 2);
}

vec3 frame_rate_gyroscopic(mat3 inertia, mat3 inertia_inv, vec3 spin, vec3 torque)
{
	vec3 momentum = mat3_mul_vec(inertia, spin);
	return mat3_mul_vec(inertia_inv, vec3_add(torque, vec3_cross(momentum, spin)));
}
