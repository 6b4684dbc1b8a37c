/* The sums of fluid_lanes.h with AVX2: eight floats, four doubles. */
#if defined(__x86_64__)
#include "server/base/target.h"

TARGET_AVX2
#define FLUID_LANES 8
#define FLUID_KERNELS fluid_kernels_8
#include "server/engine/fluids/fluid_lanes.h"
TARGET_END

#else
typedef int fluid_lanes_8_needs_x86;
#endif
