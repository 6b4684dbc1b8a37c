/* vector_lanes.h: a vector of floats or doubles, the same arithmetic on several sets of numbers at
 * once; and vectors in space, quaternions and 3 × 3 matrices of them. It may be included several
 * times, for several widths. Before each inclusion these are defined:
 *
 *   VECTOR          the name of the type, and the beginning of all others: NAME_all, NAME_select, …
 *   VECTOR_BYTES    its length
 *   VECTOR_ELEMENT  float or double
 *   VECTOR_BITS     the integer of the same size
 *   VECTOR_EIGHT    if there are loads and stores: the structure in memory, with BLOCK_LANES elements `at`
 *   VECTOR_PLAIN    if it is one element: no vector, but the plain type
 *
 * Alone it defines nothing. Each operation is the IEEE one per lane, in the order of vec3.h, quat.h,
 * mat3.h and sym3.h, so that a lane has the bits of the plain computation. */
#ifdef VECTOR

#include "server/base/base.h"
#include "server/base/inline.h"

#ifndef VECTOR_TRANSPOSE_4
/* Rows into columns, or back: v[4], v[2] of vectors of as many numbers. */
#define VECTOR_TRANSPOSE_4(type, v)                                                                \
	do {                                                                                       \
		type ab_even = __builtin_shufflevector((v)[0], (v)[1], 0, 4, 2, 6);                \
		type ab_odd = __builtin_shufflevector((v)[0], (v)[1], 1, 5, 3, 7);                 \
		type cd_even = __builtin_shufflevector((v)[2], (v)[3], 0, 4, 2, 6);                \
		type cd_odd = __builtin_shufflevector((v)[2], (v)[3], 1, 5, 3, 7);                 \
		(v)[0] = __builtin_shufflevector(ab_even, cd_even, 0, 1, 4, 5);                    \
		(v)[1] = __builtin_shufflevector(ab_odd, cd_odd, 0, 1, 4, 5);                      \
		(v)[2] = __builtin_shufflevector(ab_even, cd_even, 2, 3, 6, 7);                    \
		(v)[3] = __builtin_shufflevector(ab_odd, cd_odd, 2, 3, 6, 7);                      \
	} while (0)
#define VECTOR_TRANSPOSE_2(type, v)                                                                \
	do {                                                                                       \
		type low = __builtin_shufflevector((v)[0], (v)[1], 0, 2);                          \
		(v)[1] = __builtin_shufflevector((v)[0], (v)[1], 1, 3);                            \
		(v)[0] = low;                                                                      \
	} while (0)
#endif

#define VECTOR_PASTE(a, b) a##b
#define VECTOR_JOIN(a, b) VECTOR_PASTE(a, b)
#define NAME(suffix) VECTOR_JOIN(VECTOR, suffix)

#ifdef VECTOR_PLAIN
typedef VECTOR_ELEMENT VECTOR;
typedef VECTOR_BITS NAME(_mask);
#else
typedef VECTOR_ELEMENT VECTOR __attribute__((vector_size(VECTOR_BYTES)));
typedef VECTOR_BITS NAME(_mask) __attribute__((vector_size(VECTOR_BYTES)));
#endif

/* In memory, which is an array of elements. In place of memcpy, which gcc splits into halves: a load of a
 * vector that was stored by halves waits for the stores. */
#ifdef VECTOR_PLAIN
typedef VECTOR_ELEMENT NAME(_stored) __attribute__((may_alias));
#else
typedef VECTOR_ELEMENT NAME(_stored)
	__attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(VECTOR_ELEMENT)), may_alias));
#endif

ALWAYS_INLINE VECTOR NAME(_all)(VECTOR_ELEMENT s)
{
	return s - (VECTOR){ 0 }; /* a sum would turn −0 into 0 */
}

#ifdef VECTOR_EIGHT
/* The lanes of one vector from `first` on, which is a multiple of their number. */
ALWAYS_INLINE VECTOR NAME(_load)(const struct VECTOR_EIGHT *from, uint32_t first)
{
	VALIDATE(first < BLOCK_LANES && first % (sizeof(VECTOR) / sizeof(VECTOR_ELEMENT)) == 0);
	return *(const NAME(_stored) *)&from->at[first];
}

ALWAYS_INLINE void NAME(_store)(struct VECTOR_EIGHT *to, uint32_t first, VECTOR v)
{
	VALIDATE(first < BLOCK_LANES && first % (sizeof(VECTOR) / sizeof(VECTOR_ELEMENT)) == 0);
	*(NAME(_stored) *)&to->at[first] = v;
}
#endif

ALWAYS_INLINE VECTOR NAME(_select)(NAME(_mask) mask, VECTOR yes, VECTOR no)
{
#ifdef VECTOR_PLAIN
	return mask ? yes : no;
#else
	return (VECTOR)((mask & (NAME(_mask))yes) | (~mask & (NAME(_mask))no));
#endif
}

#ifndef VECTOR_PLAIN
ALWAYS_INLINE VECTOR NAME(_abs)(VECTOR v)
{
	NAME(_mask) sign = (NAME(_mask))NAME(_all)(-(VECTOR_ELEMENT)0);
	return (VECTOR)((NAME(_mask))v & ~sign);
}
#endif

/* b if they are equal or one is not a number. */
ALWAYS_INLINE VECTOR NAME(_max)(VECTOR a, VECTOR b)
{
	return NAME(_select)(a > b, a, b);
}

ALWAYS_INLINE VECTOR NAME(_min)(VECTOR a, VECTOR b)
{
	return NAME(_select)(a < b, a, b);
}

struct NAME(3) {
	VECTOR x, y, z;
};

ALWAYS_INLINE struct NAME(3) NAME(3_add)(struct NAME(3) a, struct NAME(3) b)
{
	return (struct NAME(3)){ a.x + b.x, a.y + b.y, a.z + b.z };
}

ALWAYS_INLINE struct NAME(3) NAME(3_sub)(struct NAME(3) a, struct NAME(3) b)
{
	return (struct NAME(3)){ a.x - b.x, a.y - b.y, a.z - b.z };
}

ALWAYS_INLINE struct NAME(3) NAME(3_scale)(struct NAME(3) a, VECTOR s)
{
	return (struct NAME(3)){ a.x * s, a.y * s, a.z * s };
}

/* a + b s. */
ALWAYS_INLINE struct NAME(3) NAME(3_mul_add)(struct NAME(3) a, struct NAME(3) b, VECTOR s)
{
	return (struct NAME(3)){ a.x + b.x * s, a.y + b.y * s, a.z + b.z * s };
}

ALWAYS_INLINE VECTOR NAME(3_dot)(struct NAME(3) a, struct NAME(3) b)
{
	return a.x * b.x + a.y * b.y + a.z * b.z;
}

ALWAYS_INLINE struct NAME(3) NAME(3_cross)(struct NAME(3) a, struct NAME(3) b)
{
	return (struct NAME(3)){ a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z,
				 a.x * b.y - a.y * b.x };
}

ALWAYS_INLINE struct NAME(3) NAME(3_negate)(struct NAME(3) a)
{
	return (struct NAME(3)){ -a.x, -a.y, -a.z };
}

ALWAYS_INLINE struct NAME(3) NAME(3_select)(NAME(_mask) mask, struct NAME(3) yes, struct NAME(3) no)
{
	return (struct NAME(3)){ NAME(_select)(mask, yes.x, no.x), NAME(_select)(mask, yes.y, no.y),
				 NAME(_select)(mask, yes.z, no.z) };
}

/* Quaternions. */
struct NAME(4) {
	VECTOR w, x, y, z;
};

/* As quat_rotate. */
ALWAYS_INLINE struct NAME(3) NAME(4_rotate)(struct NAME(4) q, struct NAME(3) p)
{
	struct NAME(3) v = { q.x, q.y, q.z };
	struct NAME(3) t = NAME(3_scale)(NAME(3_cross)(v, p), NAME(_all)(2));
	return NAME(3_add)(NAME(3_add)(p, NAME(3_scale)(t, q.w)), NAME(3_cross)(v, t));
}

/* As quat_conjugate. */
ALWAYS_INLINE struct NAME(4) NAME(4_conjugate)(struct NAME(4) q)
{
	return (struct NAME(4)){ q.w, -q.x, -q.y, -q.z };
}

/* As quat_mul. */
ALWAYS_INLINE struct NAME(4) NAME(4_mul)(struct NAME(4) a, struct NAME(4) b)
{
	return (struct NAME(4)){
		a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
		a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
		a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
		a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
	};
}

/* Matrices by columns, and symmetric ones. */
struct NAME(_mat3) {
	struct NAME(3) x, y, z;
};

struct NAME(_sym3) {
	VECTOR xx, yy, zz, xy, yz, zx;
};

/* As mat3_from_quat. */
ALWAYS_INLINE struct NAME(_mat3) NAME(_mat3_from_quat)(struct NAME(4) q)
{
	VECTOR xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
	VECTOR xy = q.x * q.y, yz = q.y * q.z, zx = q.z * q.x;
	VECTOR wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
	VECTOR one = NAME(_all)(1), two = NAME(_all)(2);
	return (struct NAME(_mat3)){
		{ one - two * (yy + zz), two * (xy + wz), two * (zx - wy) },
		{ two * (xy - wz), one - two * (zz + xx), two * (yz + wx) },
		{ two * (zx + wy), two * (yz - wx), one - two * (xx + yy) },
	};
}

/* As mat3_mul_vec. */
ALWAYS_INLINE struct NAME(3) NAME(_mat3_mul_vec)(const struct NAME(_mat3) * m, struct NAME(3) v)
{
	return (struct NAME(3)){ m->x.x * v.x + m->y.x * v.y + m->z.x * v.z,
				 m->x.y * v.x + m->y.y * v.y + m->z.y * v.z,
				 m->x.z * v.x + m->y.z * v.y + m->z.z * v.z };
}

ALWAYS_INLINE struct NAME(_sym3) NAME(_sym3_add)(struct NAME(_sym3) a, struct NAME(_sym3) b)
{
	return (struct NAME(_sym3)){ a.xx + b.xx, a.yy + b.yy, a.zz + b.zz,
				     a.xy + b.xy, a.yz + b.yz, a.zx + b.zx };
}

/* As sym3_apply. */
ALWAYS_INLINE struct NAME(3) NAME(_sym3_apply)(const struct NAME(_sym3) * t, struct NAME(3) v)
{
	return (struct NAME(3)){ t->xx * v.x + t->xy * v.y + t->zx * v.z,
				 t->xy * v.x + t->yy * v.y + t->yz * v.z,
				 t->zx * v.x + t->yz * v.y + t->zz * v.z };
}

/* R T Rᵀ, as sym3_rotate. */
ALWAYS_INLINE struct NAME(_sym3)
	NAME(_sym3_rotate)(const struct NAME(_mat3) * r, struct NAME(_sym3) t)
{
	struct NAME(_mat3) rt = {
		NAME(_mat3_mul_vec)(r, (struct NAME(3)){ t.xx, t.xy, t.zx }),
		NAME(_mat3_mul_vec)(r, (struct NAME(3)){ t.xy, t.yy, t.yz }),
		NAME(_mat3_mul_vec)(r, (struct NAME(3)){ t.zx, t.yz, t.zz }),
	};
	struct NAME(3) x = NAME(_mat3_mul_vec)(&rt, (struct NAME(3)){ r->x.x, r->y.x, r->z.x });
	struct NAME(3) y = NAME(_mat3_mul_vec)(&rt, (struct NAME(3)){ r->x.y, r->y.y, r->z.y });
	struct NAME(3) z = NAME(_mat3_mul_vec)(&rt, (struct NAME(3)){ r->x.z, r->y.z, r->z.z });
	return (struct NAME(_sym3)){ x.x, y.y, z.z, x.y, y.z, z.x };
}

ALWAYS_INLINE struct NAME(_sym3)
	NAME(_sym3_select)(NAME(_mask) mask, struct NAME(_sym3) yes, struct NAME(_sym3) no)
{
	return (struct NAME(
		_sym3)){ NAME(_select)(mask, yes.xx, no.xx), NAME(_select)(mask, yes.yy, no.yy),
			 NAME(_select)(mask, yes.zz, no.zz), NAME(_select)(mask, yes.xy, no.xy),
			 NAME(_select)(mask, yes.yz, no.yz), NAME(_select)(mask, yes.zx, no.zx) };
}

#undef NAME
#undef VECTOR_JOIN
#undef VECTOR_PASTE
#undef VECTOR_PLAIN
#undef VECTOR_EIGHT
#undef VECTOR_BITS
#undef VECTOR_ELEMENT
#undef VECTOR_BYTES
#undef VECTOR
#endif
