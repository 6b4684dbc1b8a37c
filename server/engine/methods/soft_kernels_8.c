/* The passes of soft_passes.h with AVX2: eight lanes. */
#if defined(__x86_64__)
#include "server/base/target.h"

#include <immintrin.h>

TARGET_AVX2
#define LANES_WIDTH 8
#define SOFT_KERNELS soft_kernels_8
#include "server/engine/methods/soft_passes.h"
TARGET_END

#else
typedef int soft_kernels_8_needs_x86;
#endif
