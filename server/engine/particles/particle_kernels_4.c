/* The kernels of particle_kernels.h with AVX2: four lanes. Every function of this file is
 * compiled for AVX2 and called only where the processor has it; products and sums stay apart
 * (-ffp-contract=off). */
#if defined(__x86_64__)

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC target("avx2")
#endif

#define PARTICLE_LANES 4
#define PARTICLE_KERNELS particle_kernels_4
#include "server/engine/particles/particle_passes.h"

#if defined(__clang__)
#pragma clang attribute pop
#endif

#else
typedef int particle_kernels_4_needs_x86;
#endif
