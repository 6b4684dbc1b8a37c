/* soft_lanes.h: vectors of floats: eight contacts side by side.
 *
 * A block always has eight lanes of floats. Kernels process LANES_WIDTH of them in a vector that every
 * baseline processor has (SSE2, NEON: four floats), and go over the block in steps of that width.
 * Vectors are a compiler extension: each operation is the IEEE one per lane, without approximate
 * reciprocals and fused multiply-adds, so results do not depend on the width. Wider registers change
 * only LANES_WIDTH and the transposes below.
 */
#ifndef CAIRN_ENGINE_METHODS_SOFT_LANES_H
#define CAIRN_ENGINE_METHODS_SOFT_LANES_H

#include "server/base/base.h"

#include <string.h>

enum { BLOCK_LANES = 8, LANES_WIDTH = 4 };

/* Always inline, because a call would spill the registers that kernels depend on. */
#define LANES_INLINE static inline __attribute__((always_inline))

typedef float lanes __attribute__((vector_size(16)));
typedef int32_t lanes_mask __attribute__((vector_size(16)));

/* Eight floats of a block. */
struct lane8 {
	_Alignas(16) float at[BLOCK_LANES];
};
struct lane8x3 {
	struct lane8 x, y, z;
};

struct lanes3 {
	lanes x, y, z;
};

LANES_INLINE lanes lanes_all(float s)
{
	return (lanes){ s, s, s, s };
}

/* Lanes first … first+3; `first` is a multiple of the width. */
LANES_INLINE lanes lanes_load(const struct lane8 *from, uint32_t first)
{
	VALIDATE(first == 0 || first == LANES_WIDTH);
	lanes v;
	memcpy(&v, &from->at[first], sizeof v);
	return v;
}

LANES_INLINE void lanes_store(struct lane8 *to, uint32_t first, lanes v)
{
	VALIDATE(first == 0 || first == LANES_WIDTH);
	memcpy(&to->at[first], &v, sizeof v);
}

LANES_INLINE struct lanes3 lanes3_load(const struct lane8x3 *from, uint32_t first)
{
	return (struct lanes3){ lanes_load(&from->x, first), lanes_load(&from->y, first),
				lanes_load(&from->z, first) };
}

LANES_INLINE void lanes3_store(struct lane8x3 *to, uint32_t first, struct lanes3 v)
{
	lanes_store(&to->x, first, v.x);
	lanes_store(&to->y, first, v.y);
	lanes_store(&to->z, first, v.z);
}

LANES_INLINE bool lanes_any(lanes_mask mask)
{
	return (mask[0] | mask[1] | mask[2] | mask[3]) != 0;
}

LANES_INLINE lanes lanes_select(lanes_mask mask, lanes yes, lanes no)
{
	return (lanes)((mask & (lanes_mask)yes) | (~mask & (lanes_mask)no));
}

/* b if they are equal or one is not a number. */
LANES_INLINE lanes lanes_max(lanes a, lanes b)
{
	return lanes_select(a > b, a, b);
}

LANES_INLINE lanes lanes_min(lanes a, lanes b)
{
	return lanes_select(a < b, a, b);
}

/* 1/a; 0 where a is not above 0. */
LANES_INLINE lanes lanes_inverse(lanes a)
{
	lanes_mask some = a > lanes_all(0);
	lanes one = lanes_all(1);
	return lanes_select(some, one / lanes_select(some, a, one), lanes_all(0));
}

LANES_INLINE lanes lanes_sqrt(lanes a)
{
	return (lanes){ __builtin_sqrtf(a[0]), __builtin_sqrtf(a[1]), __builtin_sqrtf(a[2]),
			__builtin_sqrtf(a[3]) };
}

LANES_INLINE struct lanes3 lanes3_add(struct lanes3 a, struct lanes3 b)
{
	return (struct lanes3){ a.x + b.x, a.y + b.y, a.z + b.z };
}

LANES_INLINE struct lanes3 lanes3_sub(struct lanes3 a, struct lanes3 b)
{
	return (struct lanes3){ a.x - b.x, a.y - b.y, a.z - b.z };
}

LANES_INLINE struct lanes3 lanes3_scale(struct lanes3 a, lanes s)
{
	return (struct lanes3){ a.x * s, a.y * s, a.z * s };
}

LANES_INLINE struct lanes3 lanes3_mul_add(struct lanes3 a, struct lanes3 b, lanes s)
{
	return (struct lanes3){ a.x + b.x * s, a.y + b.y * s, a.z + b.z * s };
}

LANES_INLINE struct lanes3 lanes3_mul_sub(struct lanes3 a, struct lanes3 b, lanes s)
{
	return (struct lanes3){ a.x - b.x * s, a.y - b.y * s, a.z - b.z * s };
}

LANES_INLINE lanes lanes3_dot(struct lanes3 a, struct lanes3 b)
{
	return a.x * b.x + a.y * b.y + a.z * b.z;
}

LANES_INLINE struct lanes3 lanes3_cross(struct lanes3 a, struct lanes3 b)
{
	return (struct lanes3){ a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z,
				a.x * b.y - a.y * b.x };
}

/* Four rows of (x, y, z, w) into four columns, or back: it is its own inverse. */
LANES_INLINE void lanes_transpose(lanes *a, lanes *b, lanes *c, lanes *d)
{
	lanes ab_low = __builtin_shufflevector(*a, *b, 0, 4, 1, 5);
	lanes ab_high = __builtin_shufflevector(*a, *b, 2, 6, 3, 7);
	lanes cd_low = __builtin_shufflevector(*c, *d, 0, 4, 1, 5);
	lanes cd_high = __builtin_shufflevector(*c, *d, 2, 6, 3, 7);
	*a = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5);
	*b = __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
	*c = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
	*d = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
}

#endif
