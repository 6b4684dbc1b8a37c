/* The passes of soft_passes.h lane by lane: the plain computation, for tests. */
#define LANES_WIDTH 1
#define SOFT_KERNELS soft_kernels_1
#include "server/engine/methods/soft_passes.h"
