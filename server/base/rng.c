/* rng.c: xoshiro256** 1.0 by David Blackman and Sebastiano Vigna ("Scrambled linear pseudorandom
 * number generators", 2018): a linear engine of 256 bits, whose second word is scrambled by
 * rotl(s₁ × 5, 7) × 9 on the way out. Period 2²⁵⁶ − 1. */
#include "server/base/rng.h"

static uint64_t rotate_left(uint64_t x, unsigned bits)
{
	VALIDATE(bits > 0 && bits < 64);
	return x << bits | x >> (64 - bits);
}

struct rng rng_seeded(uint64_t seed)
{
	struct rng self;
	for (int i = 0; i < 4; i++) {
		self.state[i] = rng_mix(seed);
		seed += 0x9e3779b97f4a7c15u;
	}
	/* SplitMix64 is a bijection: at most one of four successive outputs can be zero. */
	ASSERT((self.state[0] | self.state[1] | self.state[2] | self.state[3]) != 0);
	return self;
}

uint64_t rng_u64(struct rng *self)
{
	uint64_t *s = self->state;
	uint64_t result = rotate_left(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;
	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate_left(s[3], 45);
	return result;
}

uint32_t rng_u32(struct rng *self)
{
	return (uint32_t)(rng_u64(self) >> 32);
}

double rng_double(struct rng *self)
{
	return (double)(rng_u64(self) >> 11) * 0x1p-53;
}

double rng_range(struct rng *self, double low, double high)
{
	double value = low + rng_double(self) * (high - low);
	/* The sum may round up to `high`, which is excluded. */
	return value < high ? value : low;
}

/* The result is the high half of a 64-bit product. A product whose low half is below 2³² mod count
 * is drawn again, because it would make some results likelier (Lemire, 2019). */
uint32_t rng_below(struct rng *self, uint32_t count)
{
	ASSERT(count > 0);
	uint32_t unfair = (0u - count) % count;
	uint64_t product;
	do {
		product = (uint64_t)rng_u32(self) * count;
	} while ((uint32_t)product < unfair);
	VALIDATE(product >> 32 < count);
	return (uint32_t)(product >> 32);
}
