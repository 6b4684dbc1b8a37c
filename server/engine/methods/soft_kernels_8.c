/* The passes of soft_passes.h with AVX2: eight lanes. Every function of this file is compiled for AVX2 and
 * called only where the processor has it; products and sums stay apart (-ffp-contract=off). */
#if defined(__x86_64__)

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC target("avx2")
#endif

#define LANES_WIDTH 8
#define SOFT_KERNELS soft_kernels_8
#include "server/engine/methods/soft_passes.h"

#if defined(__clang__)
#pragma clang attribute pop
#endif

#else
typedef int soft_kernels_8_needs_x86;
#endif
