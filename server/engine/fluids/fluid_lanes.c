/* fluid_lanes.c: the sums of fluid_lanes.h with the vectors of every processor, and the choice of a width. */
#define FLUID_LANES 4
#define FLUID_KERNELS fluid_kernels_4
#include "server/engine/fluids/fluid_lanes.h"

#include "server/base/processor.h"

const struct fluid_kernels *fluid_kernels_choose(void)
{
	uint32_t width = processor_lanes();
#if defined(__x86_64__)
	if (width >= 8)
		return &fluid_kernels_8;
#endif
	return width >= 4 ? &fluid_kernels_4 : &fluid_kernels_1;
}
