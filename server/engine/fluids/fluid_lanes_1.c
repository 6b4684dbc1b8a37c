/* The sums of fluid_lanes.h one number after the other, to which tests hold the others. */
#define FLUID_LANES 1
#define FLUID_KERNELS fluid_kernels_1
#include "server/engine/fluids/fluid_lanes.h"
