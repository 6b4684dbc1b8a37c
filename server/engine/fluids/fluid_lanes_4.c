/* The sums of fluid_lanes.h with AVX2: four lanes. Every function of this file is compiled for AVX2 and
 * called only where the processor has it; products and sums stay apart (-ffp-contract=off). */
#if defined(__x86_64__)

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC target("avx2")
#endif

#define FLUID_LANES 4
#define FLUID_KERNELS fluid_kernels_4
#include "server/engine/fluids/fluid_lanes.h"

#if defined(__clang__)
#pragma clang attribute pop
#endif

#else
typedef int fluid_lanes_4_needs_x86;
#endif
