/* mat3.h: 3×3 matrices of doubles, stored as three columns: m.x is the image of the x axis. */
#ifndef CAIRN_ENGINE_MATH_MAT3_H
#define CAIRN_ENGINE_MATH_MAT3_H

#include "server/engine/math/quat.h"
#include "server/engine/math/vec3.h"

typedef struct {
	vec3 x, y, z;
} mat3;

static inline mat3 mat3_columns(vec3 x, vec3 y, vec3 z)
{
	return (mat3){ x, y, z };
}

static inline mat3 mat3_rows(vec3 a, vec3 b, vec3 c)
{
	return (mat3){ { a.x, b.x, c.x }, { a.y, b.y, c.y }, { a.z, b.z, c.z } };
}

static inline mat3 mat3_diagonal(vec3 d)
{
	return (mat3){ { d.x, 0, 0 }, { 0, d.y, 0 }, { 0, 0, d.z } };
}

static inline mat3 mat3_identity(void)
{
	return mat3_diagonal(vec3_all(1));
}

static inline mat3 mat3_zero(void)
{
	return mat3_diagonal(vec3_zero());
}

static inline mat3 mat3_add(mat3 a, mat3 b)
{
	return (mat3){ vec3_add(a.x, b.x), vec3_add(a.y, b.y), vec3_add(a.z, b.z) };
}

static inline mat3 mat3_sub(mat3 a, mat3 b)
{
	return (mat3){ vec3_sub(a.x, b.x), vec3_sub(a.y, b.y), vec3_sub(a.z, b.z) };
}

static inline mat3 mat3_scale(mat3 a, double s)
{
	return (mat3){ vec3_scale(a.x, s), vec3_scale(a.y, s), vec3_scale(a.z, s) };
}

static inline mat3 mat3_transpose(mat3 a)
{
	return mat3_rows(a.x, a.y, a.z);
}

/* m v. */
static inline vec3 mat3_mul_vec(mat3 m, vec3 v)
{
	return (vec3){ m.x.x * v.x + m.y.x * v.y + m.z.x * v.z,
		       m.x.y * v.x + m.y.y * v.y + m.z.y * v.z,
		       m.x.z * v.x + m.y.z * v.y + m.z.z * v.z };
}

/* mᵀ v. */
static inline vec3 mat3_transposed_mul_vec(mat3 m, vec3 v)
{
	return (vec3){ vec3_dot(m.x, v), vec3_dot(m.y, v), vec3_dot(m.z, v) };
}

/* a b. */
static inline mat3 mat3_mul(mat3 a, mat3 b)
{
	return (mat3){ mat3_mul_vec(a, b.x), mat3_mul_vec(a, b.y), mat3_mul_vec(a, b.z) };
}

/* aᵀ b. */
static inline mat3 mat3_transposed_mul(mat3 a, mat3 b)
{
	return (mat3){ mat3_transposed_mul_vec(a, b.x), mat3_transposed_mul_vec(a, b.y),
		       mat3_transposed_mul_vec(a, b.z) };
}

/* a bᵀ for two vectors. */
static inline mat3 mat3_outer(vec3 a, vec3 b)
{
	return (mat3){ vec3_scale(a, b.x), vec3_scale(a, b.y), vec3_scale(a, b.z) };
}

/* [a]× with [a]× b = a × b (app A-06). */
static inline mat3 mat3_skew(vec3 a)
{
	return (mat3){ { 0, a.z, -a.y }, { -a.z, 0, a.x }, { a.y, -a.x, 0 } };
}

static inline double mat3_det(mat3 a)
{
	return vec3_triple(a.x, a.y, a.z);
}

static inline double mat3_trace(mat3 a)
{
	return a.x.x + a.y.y + a.z.z;
}

/* By cofactors. False, and *inverse the zero matrix, if the determinant is 0 or the inverse is not
 * finite. The accuracy of a nearly singular inverse is not checked. */
static inline bool mat3_inverse(mat3 a, mat3 *inverse)
{
	vec3 yz = vec3_cross(a.y, a.z), zx = vec3_cross(a.z, a.x), xy = vec3_cross(a.x, a.y);
	double scale = 1.0 / vec3_dot(a.x, yz);
	mat3 result = mat3_scale(mat3_rows(yz, zx, xy), scale);
	bool good = scalar_is_finite(scale) && vec3_is_finite(result.x) &&
		    vec3_is_finite(result.y) && vec3_is_finite(result.z);
	*inverse = good ? result : mat3_zero();
	return good;
}

/* Row `row`, column `column`, each 0, 1 or 2. */
static inline double mat3_get(mat3 a, uint32_t row, uint32_t column)
{
	VALIDATE(row < 3 && column < 3);
	return vec3_get(column == 0 ? a.x : column == 1 ? a.y : a.z, row);
}

static inline void mat3_set(mat3 *a, uint32_t row, uint32_t column, double value)
{
	VALIDATE(row < 3 && column < 3);
	vec3_set(column == 0 ? &a->x : column == 1 ? &a->y : &a->z, row, value);
}

/* app C-03: the rotation matrix of a unit quaternion. */
static inline mat3 mat3_from_quat(quat q)
{
	double xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
	double xy = q.x * q.y, yz = q.y * q.z, zx = q.z * q.x;
	double wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
	return (mat3){ { 1 - 2 * (yy + zz), 2 * (xy + wz), 2 * (zx - wy) },
		       { 2 * (xy - wz), 1 - 2 * (zz + xx), 2 * (yz + wx) },
		       { 2 * (zx + wy), 2 * (yz - wx), 1 - 2 * (xx + yy) } };
}

/* R diag(d) Rᵀ: the tensor with principal values d, in world axes. Exactly symmetric. */
static inline mat3 mat3_rotate_diagonal(mat3 r, vec3 d)
{
	vec3 a = vec3_hadamard(vec3_make(r.x.x, r.y.x, r.z.x), d);
	vec3 b = vec3_hadamard(vec3_make(r.x.y, r.y.y, r.z.y), d);
	vec3 c = vec3_hadamard(vec3_make(r.x.z, r.y.z, r.z.z), d);
	vec3 p = vec3_make(r.x.x, r.y.x, r.z.x), q = vec3_make(r.x.y, r.y.y, r.z.y),
	     s = vec3_make(r.x.z, r.y.z, r.z.z);
	double xy = vec3_dot(a, q), yz = vec3_dot(b, s), zx = vec3_dot(c, p);
	return (mat3){ { vec3_dot(a, p), xy, zx },
		       { xy, vec3_dot(b, q), yz },
		       { zx, yz, vec3_dot(c, s) } };
}

/* R I Rᵀ. */
static inline mat3 mat3_rotate_tensor(mat3 r, mat3 tensor)
{
	return mat3_mul(mat3_mul(r, tensor), mat3_transpose(r));
}

/* The rotation by `angle` (rad) about the unit `axis` (app C-03); in quat.c. */
mat3 mat3_from_axis_angle(vec3 axis, double angle);
/* The unit quaternion, w ≥ 0, of a rotation matrix, by the largest of (trace, diagonal) (app C-04);
 * the matrix may be off by rounding. In quat.c. */
quat quat_from_mat3(mat3 r);
/* The nearest rotation by Gram–Schmidt, x first, then y (app C-06). The columns must not be
 * (nearly) dependent. In quat.c. */
mat3 mat3_orthonormalize(mat3 r);

#endif
