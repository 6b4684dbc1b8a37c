/* The kernels of particle_kernels.h with AVX2: four lanes. */
#if defined(__x86_64__)
#include "server/base/target.h"

TARGET_AVX2
#define PARTICLE_LANES 4
#define PARTICLE_KERNELS particle_kernels_4
#include "server/engine/particles/particle_passes.h"
TARGET_END

#else
typedef int particle_kernels_4_needs_x86;
#endif
