/* processor.h: what the processor can do beyond its architecture's baseline. Results never depend on it. */
#ifndef CAIRN_BASE_PROCESSOR_H
#define CAIRN_BASE_PROCESSOR_H

#include "server/base/base.h"

/* Floats that kernels process side by side: 16 with AVX-512, 8 with AVX2, else 4; less after
 * processor_limit_lanes. Any thread. */
uint32_t processor_lanes(void);
/* At most this many (1, 4, 8 or 16), for the whole process. Any thread; steps that have begun keep
 * theirs. */
void processor_limit_lanes(uint32_t most);

#endif
