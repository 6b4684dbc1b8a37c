/* The kernels of particle_kernels.h with AVX-512: eight lanes. */
#if defined(__x86_64__)
#include "server/base/target.h"

TARGET_AVX512
#define PARTICLE_LANES 8
#define PARTICLE_KERNELS particle_kernels_8
#include "server/engine/particles/particle_passes.h"
TARGET_END

#else
typedef int particle_kernels_8_needs_x86;
#endif
