/* The passes of soft_passes.h with AVX-512: sixteen floats, eight doubles. */
#if defined(__x86_64__)
#include "server/base/target.h"

#include <immintrin.h>

TARGET_AVX512
#define LANES_WIDTH 16
#define SOFT_KERNELS soft_kernels_16
#include "server/engine/methods/soft_passes.h"
TARGET_END

#else
typedef int soft_kernels_16_needs_x86;
#endif
