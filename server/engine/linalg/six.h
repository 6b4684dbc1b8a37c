/* six.h: six numbers side by side, of a force or a motion, in pairs that the processor multiplies together.
 *
 * Entries do not depend on each other, so the bits are those of one number after the other. */
#ifndef CAIRN_ENGINE_LINALG_SIX_H
#define CAIRN_ENGINE_LINALG_SIX_H

#include "server/engine/linalg/dense.h"

/* Always inline, because a call would pass them through memory. */
#define SIX_INLINE static inline __attribute__((always_inline))

/* Before a loop over entries, which becomes straight-line code, so that these stay in registers. */
#if defined(__clang__)
#define SIX_UNROLL /* clang does so by itself, and warns where it cannot */
#else
#define SIX_UNROLL _Pragma("GCC unroll 6")
#endif

/* Six numbers as pairs, which the processor multiplies two at a time. */
struct six {
	dense_pair of[3];
};

SIX_INLINE struct six six_load(const double *from)
{
	const dense_pair *pairs = (const dense_pair *)from;
	return (struct six){ { pairs[0], pairs[1], pairs[2] } };
}

SIX_INLINE void six_store(double *to, struct six v)
{
	dense_pair *pairs = (dense_pair *)to;
	pairs[0] = v.of[0];
	pairs[1] = v.of[1];
	pairs[2] = v.of[2];
}

SIX_INLINE struct six six_add(struct six a, struct six b)
{
	return (struct six){ { a.of[0] + b.of[0], a.of[1] + b.of[1], a.of[2] + b.of[2] } };
}

SIX_INLINE struct six six_scale(struct six v, double s)
{
	const dense_pair by = { s, s };
	return (struct six){ { v.of[0] * by, v.of[1] * by, v.of[2] * by } };
}

SIX_INLINE struct six six_mul_add(struct six a, struct six v, double s)
{
	return six_add(a, six_scale(v, s));
}

SIX_INLINE struct six six_mul_sub(struct six a, struct six v, double s)
{
	const struct six by = six_scale(v, s);
	return (struct six){ { a.of[0] - by.of[0], a.of[1] - by.of[1], a.of[2] - by.of[2] } };
}

#endif
