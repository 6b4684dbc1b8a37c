/* soft_kernels.c: which kernels a step uses. Their results are equal bit by bit. */
#include "server/base/processor.h"
#include "server/engine/methods/soft_step.h"

const struct soft_kernels *soft_kernels_choose(void)
{
	uint32_t width = processor_lanes();
#if defined(__x86_64__)
	if (width >= 16)
		return &soft_kernels_16;
	if (width >= 8)
		return &soft_kernels_8;
#endif
	return width >= 4 ? &soft_kernels_4 : &soft_kernels_1;
}
