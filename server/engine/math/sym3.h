/* sym3.h: symmetric 3×3 tensors (inertia and its inverse) as six numbers, in the order in which
 * the body table stores them: xx yy zz xy yz zx. Entries are those of the matrix: xy is I_xy, not
 * −I_xy. */
#ifndef CAIRN_ENGINE_MATH_SYM3_H
#define CAIRN_ENGINE_MATH_SYM3_H

#include "server/engine/math/mat3.h"

typedef struct {
	double xx, yy, zz, xy, yz, zx;
} sym3;

static inline sym3 sym3_make(double xx, double yy, double zz, double xy, double yz, double zx)
{
	return (sym3){ xx, yy, zz, xy, yz, zx };
}

static inline sym3 sym3_zero(void)
{
	return (sym3){ 0, 0, 0, 0, 0, 0 };
}

static inline sym3 sym3_diagonal(vec3 d)
{
	return (sym3){ d.x, d.y, d.z, 0, 0, 0 };
}

/* From and to six numbers of the body table. */
static inline sym3 sym3_load(const double t[6])
{
	return (sym3){ t[0], t[1], t[2], t[3], t[4], t[5] };
}

static inline void sym3_store(sym3 t, double out[6])
{
	out[0] = t.xx;
	out[1] = t.yy;
	out[2] = t.zz;
	out[3] = t.xy;
	out[4] = t.yz;
	out[5] = t.zx;
}

static inline mat3 sym3_matrix(sym3 t)
{
	return (mat3){ { t.xx, t.xy, t.zx }, { t.xy, t.yy, t.yz }, { t.zx, t.yz, t.zz } };
}

/* From a matrix that is symmetric up to rounding. Of each pair of entries the result takes xy = m.x.y,
 * yz = m.y.z and zx = m.z.x. */
static inline sym3 sym3_of(mat3 m)
{
	return (sym3){ m.x.x, m.y.y, m.z.z, m.x.y, m.y.z, m.z.x };
}

static inline sym3 sym3_add(sym3 a, sym3 b)
{
	return (sym3){
		a.xx + b.xx, a.yy + b.yy, a.zz + b.zz, a.xy + b.xy, a.yz + b.yz, a.zx + b.zx
	};
}

static inline sym3 sym3_scale(sym3 a, double s)
{
	return (sym3){ a.xx * s, a.yy * s, a.zz * s, a.xy * s, a.yz * s, a.zx * s };
}

/* T v. */
static inline vec3 sym3_apply(sym3 t, vec3 v)
{
	return (vec3){ t.xx * v.x + t.xy * v.y + t.zx * v.z, t.xy * v.x + t.yy * v.y + t.yz * v.z,
		       t.zx * v.x + t.yz * v.y + t.zz * v.z };
}

/* v·T v. */
static inline double sym3_quadratic(sym3 t, vec3 v)
{
	return vec3_dot(v, sym3_apply(t, v));
}

static inline double sym3_trace(sym3 t)
{
	return t.xx + t.yy + t.zz;
}

/* R T Rᵀ, for a tensor in body axes and R from these to world axes. The bits are those of
 * mat3_rotate_tensor. */
static inline sym3 sym3_rotate(mat3 r, sym3 t)
{
	return sym3_of(mat3_rotate_tensor(r, sym3_matrix(t)));
}

static inline bool sym3_is_finite(sym3 t)
{
	return vec3_is_finite(vec3_make(t.xx, t.yy, t.zz)) &&
	       vec3_is_finite(vec3_make(t.xy, t.yz, t.zx));
}

/* By cofactors. False, and *inverse zero, if the determinant is 0 or the inverse is not finite. The
 * accuracy of a nearly singular inverse is not checked. */
static inline bool sym3_inverse(sym3 t, sym3 *inverse)
{
	sym3 c = sym3_make(t.yy * t.zz - t.yz * t.yz, t.zz * t.xx - t.zx * t.zx,
			   t.xx * t.yy - t.xy * t.xy, t.zx * t.yz - t.xy * t.zz,
			   t.xy * t.zx - t.yz * t.xx, t.xy * t.yz - t.zx * t.yy);
	double scale = 1.0 / (t.xx * c.xx + t.xy * c.xy + t.zx * c.zx);
	sym3 result = sym3_scale(c, scale);
	bool good = scalar_is_finite(scale) && sym3_is_finite(result);
	*inverse = good ? result : sym3_zero();
	return good;
}

#endif
