/* The recursions of soft_tree_passes.h with AVX2: four links. */
#if defined(__x86_64__)
#include "server/base/target.h"

#include <immintrin.h>

TARGET_AVX2
#define LANES_WIDTH 8
#define TREE_LANES 4
#define TREE_KERNELS tree_kernels_4
#include "server/engine/methods/soft_tree_passes.h"
TARGET_END

#else
typedef int soft_tree_kernels_4_needs_x86;
#endif
