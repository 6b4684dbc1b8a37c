/* The passes of soft_passes.h with AVX-512: sixteen floats, eight doubles. Every function of this file is
 * compiled for AVX-512 and called only where the processor has it; products and sums stay apart. */
#if defined(__x86_64__)

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512vl,avx512dq,avx512bw"))),        \
			     apply_to = function)
#else
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,prefer-vector-width=512")
#endif

#define LANES_WIDTH 16
#define SOFT_KERNELS soft_kernels_16
#include "server/engine/methods/soft_passes.h"

#if defined(__clang__)
#pragma clang attribute pop
#endif

#else
typedef int soft_kernels_16_needs_x86;
#endif
