/* The kernels of particle_kernels.h one number after the other, to which tests hold the others. */
#define PARTICLE_LANES 1
#define PARTICLE_KERNELS particle_kernels_1
#include "server/engine/particles/particle_passes.h"
