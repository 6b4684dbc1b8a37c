/* particle_kernels.c: the kernels of particle_kernels.h with two lanes, and the choice of a width. */
#define PARTICLE_LANES 2
#define PARTICLE_KERNELS particle_kernels_2
#include "server/engine/particles/particle_passes.h"

#include "server/base/processor.h"

const struct particle_kernels *particle_kernels_choose(void)
{
	uint32_t width = processor_lanes();
#if defined(__x86_64__)
	if (width >= 16)
		return &particle_kernels_8;
	if (width >= 8)
		return &particle_kernels_4;
#endif
	return width >= 4 ? &particle_kernels_2 : &particle_kernels_1;
}
