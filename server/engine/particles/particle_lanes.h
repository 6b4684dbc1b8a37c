/* particle_lanes.h: vectors of PARTICLE_LANES doubles: links or pairs side by side. 1 is the
 * plain computation, to which tests hold the others; 2 is what every processor has; 4 needs
 * AVX2, 8 AVX-512. Each operation is the IEEE one per lane, without fused multiply-adds, so
 * results do not depend on the width. */
#ifndef CAIRN_ENGINE_PARTICLES_PARTICLE_LANES_H
#define CAIRN_ENGINE_PARTICLES_PARTICLE_LANES_H

#include "server/engine/math/vec3.h"

#ifndef PARTICLE_LANES
#define PARTICLE_LANES 1
#define PARTICLE_KERNELS particle_kernels_1
#endif

#define VECTOR lanes
#define VECTOR_ELEMENT double
#define VECTOR_BITS int64_t
#define VECTOR_BYTES (8 * PARTICLE_LANES)
#include "server/engine/math/vector_lanes.h"

typedef int64_t lanes_stored_mask
	__attribute__((vector_size(8 * PARTICLE_LANES), aligned(8), may_alias));

ALWAYS_INLINE lanes lanes_load(const double *from)
{
	return *(const lanes_stored *)from;
}

/* Of places of an array. As one expression: lane by lane it would go through memory. */
ALWAYS_INLINE lanes lanes_gather(const double *from, const uint32_t *places)
{
#define AT(i) from[places[i]]
#if PARTICLE_LANES == 8
	return (lanes){ AT(0), AT(1), AT(2), AT(3), AT(4), AT(5), AT(6), AT(7) };
#elif PARTICLE_LANES == 4
	return (lanes){ AT(0), AT(1), AT(2), AT(3) };
#elif PARTICLE_LANES == 2
	return (lanes){ AT(0), AT(1) };
#else
	return (lanes){ AT(0) };
#endif
#undef AT
}

ALWAYS_INLINE void lanes_store(double *to, lanes all)
{
	*(lanes_stored *)to = all;
}

/* The first `count` lanes. */
ALWAYS_INLINE lanes_mask lanes_first(uint32_t count)
{
	static const int64_t numbers[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	return *(const lanes_stored_mask *)numbers < (int64_t)count;
}

/* A bit for each lane. */
ALWAYS_INLINE uint32_t lanes_bits(lanes_mask mask)
{
#if PARTICLE_LANES == 8 && defined(__x86_64__)
	typedef long long numbers __attribute__((vector_size(64)));
	return (uint8_t)__builtin_ia32_cvtq2mask512((numbers)mask);
#elif PARTICLE_LANES == 4 && defined(__x86_64__)
	return (uint32_t)__builtin_ia32_movmskpd256((__attribute__((vector_size(32))) double)mask);
#elif PARTICLE_LANES == 2 && defined(__x86_64__)
	return (uint32_t)__builtin_ia32_movmskpd((__attribute__((vector_size(16))) double)mask);
#else
	uint32_t bits = 0;
	for (uint32_t i = 0; i < PARTICLE_LANES; i++)
		bits |= (uint32_t)(mask[i] & 1) << i;
	return bits;
#endif
}

/* Writes first + i for each bit i to `out`; how many. Of `out` PARTICLE_LANES more may be written. */
ALWAYS_INLINE uint32_t lanes_list(uint32_t *out, uint32_t first, uint32_t bits)
{
#if PARTICLE_LANES == 8 && defined(__x86_64__)
	typedef int numbers __attribute__((vector_size(32)));
	typedef int stored __attribute__((vector_size(32), aligned(4), may_alias));
	const numbers all = (int)first + (numbers){ 0, 1, 2, 3, 4, 5, 6, 7 };
	*(stored *)out = __builtin_ia32_compresssi256_mask(all, all, (uint8_t)bits);
	return (uint32_t)__builtin_popcount(bits);
#else
	uint32_t found = 0; /* without a branch, which would be guessed wrong */
	for (uint32_t i = 0; i < PARTICLE_LANES; i++) {
		out[found] = first + i;
		found += bits >> i & 1;
	}
	return found;
#endif
}

/* The lanes of the mask. */
ALWAYS_INLINE void lanes_scatter(double *to, const uint32_t *places, lanes all, lanes_mask mask)
{
	uint32_t bits = lanes_bits(mask);
	for (uint32_t i = 0; i < PARTICLE_LANES; i++)
		if (bits >> i & 1)
			to[places[i]] = all[i];
}

ALWAYS_INLINE bool lanes_every(lanes_mask mask)
{
	return lanes_bits(mask) == (1u << PARTICLE_LANES) - 1;
}

ALWAYS_INLINE lanes lanes_sqrt(lanes a)
{
#if PARTICLE_LANES == 8 && defined(__x86_64__)
	typedef double half __attribute__((vector_size(32)));
	half low = __builtin_shufflevector(a, a, 0, 1, 2, 3);
	half high = __builtin_shufflevector(a, a, 4, 5, 6, 7);
	low = __builtin_ia32_sqrtpd256(low);
	high = __builtin_ia32_sqrtpd256(high);
	return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
#elif PARTICLE_LANES == 4 && defined(__x86_64__)
	return __builtin_ia32_sqrtpd256(a);
#elif PARTICLE_LANES == 2 && defined(__x86_64__)
	return __builtin_ia32_sqrtpd(a);
#else
	for (uint32_t i = 0; i < PARTICLE_LANES; i++)
		a[i] = __builtin_sqrt(a[i]);
	return a;
#endif
}

#endif
