/* The passes of soft_passes.h with vectors that every processor has. */
#define LANES_WIDTH 4
#define SOFT_KERNELS soft_kernels_4
#include "server/engine/methods/soft_passes.h"
