/* The kernels of particle_kernels.h with AVX-512: eight lanes. Every function of this file is
 * compiled for AVX-512 and called only where the processor has it; products and sums stay apart
 * (-ffp-contract=off). */
#if defined(__x86_64__)

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512vl,avx512dq,avx512bw"))),        \
			     apply_to = function)
#else
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,prefer-vector-width=512")
#endif

#define PARTICLE_LANES 8
#define PARTICLE_KERNELS particle_kernels_8
#include "server/engine/particles/particle_passes.h"

#if defined(__clang__)
#pragma clang attribute pop
#endif

#else
typedef int particle_kernels_8_needs_x86;
#endif
