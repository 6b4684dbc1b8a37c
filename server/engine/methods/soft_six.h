/* soft_six.h: six doubles side by side: a row of a joint on one body, a column of a body's response, or
 * one number of each of six rows. Included with LANES_WIDTH defined: vectors of four and two doubles
 * from 8 lanes on, three of two with 4 lanes, and one after the other with 1. Every operation is the IEEE
 * one per number, so results do not depend on the width. */
#ifndef CAIRN_ENGINE_METHODS_SOFT_SIX_H
#define CAIRN_ENGINE_METHODS_SOFT_SIX_H

#include "server/engine/methods/soft_lanes.h"

/* Two doubles, in memory too, which is an array of doubles. */
typedef double doubles2 __attribute__((vector_size(16)));
typedef double doubles2_stored __attribute__((vector_size(16), aligned(8), may_alias));

#if LANES_WIDTH >= 8
typedef double doubles4 __attribute__((vector_size(32)));
typedef double doubles4_stored __attribute__((vector_size(32), aligned(8), may_alias));
#elif LANES_WIDTH >= 4
typedef doubles2 six_part;
typedef doubles2_stored six_part_stored;
enum { SIX_PARTS = 3 };
#else
typedef double six_part;
typedef double six_part_stored;
enum { SIX_PARTS = 6 };
#endif

struct six {
#if LANES_WIDTH >= 8
	doubles4 low;
	doubles2 high;
#else
	six_part part[SIX_PARTS];
#endif
};

#if LANES_WIDTH >= 8
ALWAYS_INLINE struct six six_load(const double *from)
{
	return (struct six){ *(const doubles4_stored *)from, *(const doubles2_stored *)&from[4] };
}

ALWAYS_INLINE void six_store(double *to, struct six v)
{
	*(doubles4_stored *)to = v.low;
	*(doubles2_stored *)&to[4] = v.high;
}

ALWAYS_INLINE struct six six_scale(struct six a, double s)
{
	return (struct six){ a.low * s, a.high * s };
}

ALWAYS_INLINE struct six six_add(struct six a, struct six b)
{
	return (struct six){ a.low + b.low, a.high + b.high };
}

ALWAYS_INLINE struct six six_sub(struct six a, struct six b)
{
	return (struct six){ a.low - b.low, a.high - b.high };
}

ALWAYS_INLINE struct six six_mul(struct six a, struct six b)
{
	return (struct six){ a.low * b.low, a.high * b.high };
}
#else
ALWAYS_INLINE struct six six_load(const double *from)
{
	struct six v;
	LANES_UNROLL
	for (uint32_t i = 0; i < SIX_PARTS; i++)
		v.part[i] = *(const six_part_stored *)&from[6 / SIX_PARTS * i];
	return v;
}

ALWAYS_INLINE void six_store(double *to, struct six v)
{
	LANES_UNROLL
	for (uint32_t i = 0; i < SIX_PARTS; i++)
		*(six_part_stored *)&to[6 / SIX_PARTS * i] = v.part[i];
}

ALWAYS_INLINE struct six six_scale(struct six a, double s)
{
	LANES_UNROLL
	for (uint32_t i = 0; i < SIX_PARTS; i++)
		a.part[i] = a.part[i] * s;
	return a;
}

ALWAYS_INLINE struct six six_add(struct six a, struct six b)
{
	LANES_UNROLL
	for (uint32_t i = 0; i < SIX_PARTS; i++)
		a.part[i] = a.part[i] + b.part[i];
	return a;
}

ALWAYS_INLINE struct six six_sub(struct six a, struct six b)
{
	LANES_UNROLL
	for (uint32_t i = 0; i < SIX_PARTS; i++)
		a.part[i] = a.part[i] - b.part[i];
	return a;
}

ALWAYS_INLINE struct six six_mul(struct six a, struct six b)
{
	LANES_UNROLL
	for (uint32_t i = 0; i < SIX_PARTS; i++)
		a.part[i] = a.part[i] * b.part[i];
	return a;
}
#endif

/* a + s b, a − s b. */
ALWAYS_INLINE struct six six_mul_add(struct six a, struct six b, double s)
{
	return six_add(a, six_scale(b, s));
}

ALWAYS_INLINE struct six six_mul_sub(struct six a, struct six b, double s)
{
	return six_sub(a, six_scale(b, s));
}

/* Σ x_c columns[c], in the order of c, of six columns of six numbers each. */
ALWAYS_INLINE struct six six_combine(const double *columns, const double x[6])
{
	struct six sum = six_scale(six_load(columns), x[0]);
	LANES_UNROLL
	for (uint32_t c = 1; c < 6; c++)
		sum = six_mul_add(sum, six_load(&columns[6 * c]), x[c]);
	return sum;
}

/* The same as two sums of three, which are then added: the order of spatial_dot. */
ALWAYS_INLINE struct six six_combine_halves(const double *columns, const double x[6])
{
	struct six low = six_scale(six_load(columns), x[0]);
	struct six high = six_scale(six_load(&columns[6 * 3]), x[3]);
	LANES_UNROLL
	for (uint32_t c = 1; c < 3; c++) {
		low = six_mul_add(low, six_load(&columns[6 * c]), x[c]);
		high = six_mul_add(high, six_load(&columns[6 * (3 + c)]), x[3 + c]);
	}
	return six_add(low, high);
}

#endif
