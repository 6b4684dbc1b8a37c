/* soft_lanes.h: vectors of floats: contacts side by side.
 *
 * A block always has eight lanes of floats. Kernels process LANES_WIDTH of them in a vector and go over
 * the block in steps of that width: 4 unless a file defines it before this header, because every
 * baseline processor has vectors of four (SSE2, NEON); 8 for AVX2; 16 for AVX-512, which are the same
 * member of two blocks that follow each other; 1 is the plain computation, to which tests hold the
 * others. Vectors are a compiler extension: each operation is the IEEE one per lane, without approximate
 * reciprocals and fused multiply-adds, so results do not depend on the width.
 */
#ifndef CAIRN_ENGINE_METHODS_SOFT_LANES_H
#define CAIRN_ENGINE_METHODS_SOFT_LANES_H

#include "server/base/base.h"
#include "server/base/inline.h"

#include <string.h>

#ifndef LANES_WIDTH
#define LANES_WIDTH 4
#endif

enum { BLOCK_LANES = 8 };

/* Before a loop of at most sixteen turns over vectors, which becomes straight-line code. Otherwise gcc
 * makes a memory move of a loop that copies vectors, by halves, and the next load waits for these. */
#if defined(__clang__)
#define LANES_UNROLL /* clang does so by itself, and warns where it cannot */
#else
#define LANES_UNROLL _Pragma("GCC unroll 16")
#endif

/* Four floats of a body, whatever the width of kernels. */
typedef float float4 __attribute__((vector_size(16)));

ALWAYS_INLINE float4 float4_all(float s)
{
	return (float4){ s, s, s, s };
}

#if LANES_WIDTH >= 8
typedef float half_stored __attribute__((vector_size(32), aligned(4), may_alias));
#endif

/* Eight floats of a block. */
struct lane8 {
	_Alignas(32) float at[BLOCK_LANES];
};
struct lane8x3 {
	struct lane8 x, y, z;
};

#define VECTOR lanes
#define VECTOR_ELEMENT float
#define VECTOR_BITS int32_t
#define VECTOR_BYTES (4 * LANES_WIDTH)
#if LANES_WIDTH < 16
#define VECTOR_EIGHT lane8
#endif
#include "server/engine/math/vector_lanes.h"

#if LANES_WIDTH == 16
/* From a member of a block to that of the next one, bytes. */
ALWAYS_INLINE size_t lanes_next_block(void);

/* The upper half is inserted from memory, which needs no unit for shuffles. */
ALWAYS_INLINE lanes lanes_join(half_stored low, const half_stored *high)
{
	return (lanes)_mm512_insertf32x8(_mm512_castps256_ps512((__m256)low), (__m256)*high, 1);
}

/* Eight lanes of the block, and eight of the next one; `first` is 0. */
ALWAYS_INLINE lanes lanes_load(const struct lane8 *from, uint32_t first)
{
	VALIDATE(first == 0);
	const char *low = (const char *)&from->at[first], *high = low + lanes_next_block();
	return lanes_join(*(const half_stored *)low, (const half_stored *)high);
}

ALWAYS_INLINE void lanes_store(struct lane8 *to, uint32_t first, lanes v)
{
	VALIDATE(first == 0);
	char *low = (char *)&to->at[first], *high = low + lanes_next_block();
	*(half_stored *)low = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7);
	*(half_stored *)high = __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
}
#endif

ALWAYS_INLINE struct lanes3 lanes3_load(const struct lane8x3 *from, uint32_t first)
{
	return (struct lanes3){ lanes_load(&from->x, first), lanes_load(&from->y, first),
				lanes_load(&from->z, first) };
}

ALWAYS_INLINE void lanes3_store(struct lane8x3 *to, uint32_t first, struct lanes3 v)
{
	lanes_store(&to->x, first, v.x);
	lanes_store(&to->y, first, v.y);
	lanes_store(&to->z, first, v.z);
}

/* Bit i: lane i of a mask. */
ALWAYS_INLINE uint32_t lanes_bits(lanes_mask mask)
{
#if LANES_WIDTH == 16 && defined(__x86_64__)
	return _mm512_movepi32_mask((__m512i)mask);
#elif LANES_WIDTH == 8 && defined(__x86_64__)
	return (uint32_t)__builtin_ia32_movmskps256((lanes)mask);
#elif LANES_WIDTH == 4 && defined(__x86_64__)
	return (uint32_t)__builtin_ia32_movmskps((lanes)mask);
#else
	uint32_t bits = 0;
	for (uint32_t i = 0; i < LANES_WIDTH; i++)
		bits |= (uint32_t)(mask[i] & 1) << i;
	return bits;
#endif
}

ALWAYS_INLINE bool lanes_any(lanes_mask mask)
{
	return lanes_bits(mask) != 0;
}

/* 1/a; 0 where a is not above 0. */
ALWAYS_INLINE lanes lanes_inverse(lanes a)
{
	lanes_mask some = a > lanes_all(0);
	lanes one = lanes_all(1);
	return lanes_select(some, one / lanes_select(some, a, one), lanes_all(0));
}

ALWAYS_INLINE lanes lanes_sqrt(lanes a)
{
#if LANES_WIDTH == 16 && defined(__x86_64__)
	half_stored low = __builtin_shufflevector(a, a, 0, 1, 2, 3, 4, 5, 6, 7);
	half_stored high = __builtin_shufflevector(a, a, 8, 9, 10, 11, 12, 13, 14, 15);
	low = __builtin_ia32_sqrtps256(low);
	high = __builtin_ia32_sqrtps256(high);
	return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
				       15);
#elif LANES_WIDTH == 8 && defined(__x86_64__)
	return __builtin_ia32_sqrtps256(a);
#elif LANES_WIDTH == 4 && defined(__x86_64__)
	return __builtin_ia32_sqrtps(a);
#else
	for (uint32_t i = 0; i < LANES_WIDTH; i++)
		a[i] = __builtin_sqrtf(a[i]);
	return a;
#endif
}

ALWAYS_INLINE struct lanes3 lanes3_mul_sub(struct lanes3 a, struct lanes3 b, lanes s)
{
	return (struct lanes3){ a.x - b.x * s, a.y - b.y * s, a.z - b.z * s };
}

#if LANES_WIDTH == 16
/* Of lane i of a group of four: where it is in two vectors side by side. */
#define LANE_OF(i, group) ((i) % 4 + (i) / 4 * 16 + (group))
#define LANES_SHUFFLE(a, b, i, j, k, l)                                                            \
	__builtin_shufflevector(a, b, LANE_OF(i, 0), LANE_OF(j, 0), LANE_OF(k, 0), LANE_OF(l, 0),  \
				LANE_OF(i, 4), LANE_OF(j, 4), LANE_OF(k, 4), LANE_OF(l, 4),        \
				LANE_OF(i, 8), LANE_OF(j, 8), LANE_OF(k, 8), LANE_OF(l, 8),        \
				LANE_OF(i, 12), LANE_OF(j, 12), LANE_OF(k, 12), LANE_OF(l, 12))
#elif LANES_WIDTH == 8
#define LANES_SHUFFLE(a, b, i, j, k, l)                                                            \
	__builtin_shufflevector(a, b, (i) % 4 + (i) / 4 * 8, (j) % 4 + (j) / 4 * 8,                \
				(k) % 4 + (k) / 4 * 8, (l) % 4 + (l) / 4 * 8,                      \
				(i) % 4 + (i) / 4 * 8 + 4, (j) % 4 + (j) / 4 * 8 + 4,              \
				(k) % 4 + (k) / 4 * 8 + 4, (l) % 4 + (l) / 4 * 8 + 4)
#elif LANES_WIDTH == 4
#define LANES_SHUFFLE(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#endif

#if LANES_WIDTH >= 4
/* In each group of four lanes: four rows of (x, y, z, w) into four columns, or back, as it is its own
 * inverse. */
ALWAYS_INLINE void lanes_transpose(lanes *a, lanes *b, lanes *c, lanes *d)
{
	lanes ab_low = LANES_SHUFFLE(*a, *b, 0, 4, 1, 5);
	lanes ab_high = LANES_SHUFFLE(*a, *b, 2, 6, 3, 7);
	lanes cd_low = LANES_SHUFFLE(*c, *d, 0, 4, 1, 5);
	lanes cd_high = LANES_SHUFFLE(*c, *d, 2, 6, 3, 7);
	*a = LANES_SHUFFLE(ab_low, cd_low, 0, 1, 4, 5);
	*b = LANES_SHUFFLE(ab_low, cd_low, 2, 3, 6, 7);
	*c = LANES_SHUFFLE(ab_high, cd_high, 0, 1, 4, 5);
	*d = LANES_SHUFFLE(ab_high, cd_high, 2, 3, 6, 7);
}
#endif

#if LANES_WIDTH >= 8
ALWAYS_INLINE half_stored half_join(float4 low, const float4 *high)
{
	return (half_stored)_mm256_insertf128_ps(_mm256_castps128_ps256((__m128)low), (__m128)*high,
						 1);
}
#endif

/* Row i of the vectors, one for each lane: of lanes i, i + 4, … */
ALWAYS_INLINE lanes lanes_row(const float4 *const rows[LANES_WIDTH], uint32_t i)
{
#if LANES_WIDTH == 16
	half_stored low = half_join(*rows[i], rows[i + 4]);
	half_stored high = half_join(*rows[i + 8], rows[i + 12]);
	return lanes_join(low, &high);
#elif LANES_WIDTH == 8
	return half_join(*rows[i], rows[i + 4]);
#elif LANES_WIDTH == 4
	return *rows[i];
#else
	return (lanes){ (*rows[0])[i] };
#endif
}

/* x y z and w of a row for each lane. */
ALWAYS_INLINE struct lanes3 lanes_gather(const float4 *const rows[LANES_WIDTH], lanes *w)
{
	lanes x = lanes_row(rows, 0), y = lanes_row(rows, 1);
	lanes z = lanes_row(rows, 2), last = lanes_row(rows, 3);
#if LANES_WIDTH >= 4
	lanes_transpose(&x, &y, &z, &last);
#endif
	*w = last;
	return (struct lanes3){ x, y, z };
}

/* Back: the row of each lane. */
ALWAYS_INLINE void lanes_rows4(struct lanes3 v, lanes w, float4 rows[LANES_WIDTH])
{
#if LANES_WIDTH >= 4
	lanes_transpose(&v.x, &v.y, &v.z, &w);
#endif
#if LANES_WIDTH == 16
	const lanes fours[] = { v.x, v.y, v.z, w };
	for (uint32_t i = 0; i < 4; i++) {
		rows[i] = __builtin_shufflevector(fours[i], fours[i], 0, 1, 2, 3);
		rows[i + 4] = __builtin_shufflevector(fours[i], fours[i], 4, 5, 6, 7);
		rows[i + 8] = __builtin_shufflevector(fours[i], fours[i], 8, 9, 10, 11);
		rows[i + 12] = __builtin_shufflevector(fours[i], fours[i], 12, 13, 14, 15);
	}
#elif LANES_WIDTH == 8
	const lanes pairs[] = { v.x, v.y, v.z, w };
	for (uint32_t i = 0; i < 4; i++) {
		rows[i] = __builtin_shufflevector(pairs[i], pairs[i], 0, 1, 2, 3);
		rows[i + 4] = __builtin_shufflevector(pairs[i], pairs[i], 4, 5, 6, 7);
	}
#elif LANES_WIDTH == 4
	rows[0] = v.x;
	rows[1] = v.y;
	rows[2] = v.z;
	rows[3] = w;
#else
	rows[0] = (float4){ v.x[0], v.y[0], v.z[0], w[0] };
#endif
}

/* The same, its w 0. */
ALWAYS_INLINE void lanes_rows(struct lanes3 v, float4 rows[LANES_WIDTH])
{
	lanes_rows4(v, lanes_all(0), rows);
}

#endif
