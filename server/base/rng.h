/* rng.h: the only random generator. xoshiro256** (Blackman and Vigna), seeded through SplitMix64.
 *
 * The state is a value: it is copied, saved and hashed like any other state of the world. The same
 * seed gives the same numbers on every machine. Not for secrets.
 */
#ifndef CAIRN_BASE_RNG_H
#define CAIRN_BASE_RNG_H

#include "server/base/base.h"

struct rng {
	uint64_t state[4]; /* never all zero */
};

/* Any seed is good; neighbouring seeds give unrelated sequences. */
struct rng rng_seeded(uint64_t seed);
uint64_t rng_u64(struct rng *self);
uint32_t rng_u32(struct rng *self);
/* Uniform in [0, 1): a multiple of 2⁻⁵³. */
double rng_double(struct rng *self);
/* Uniform in [low, high); `low` when they are equal. low ≤ high, both finite. */
double rng_range(struct rng *self, double low, double high);
/* Uniform among 0 … count-1, without bias. count > 0. */
uint32_t rng_below(struct rng *self, uint32_t count);

/* One step of SplitMix64: a well mixed function of 64 bits, also used to spread hash keys. */
static inline uint64_t rng_mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

#endif
