/* The factor of chol_panel_lanes.h with AVX2: four lanes. */
#if defined(__x86_64__)
#include "server/base/target.h"

TARGET_AVX2
#define PANEL_LANES 4
#define PANEL_KERNELS chol_panel_kernels_4
#include "server/engine/linalg/chol_panel_lanes.h"
TARGET_END

#else
typedef int chol_panel_4_needs_x86;
#endif
