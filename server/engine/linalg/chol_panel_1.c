/* The factor of chol_panel_lanes.h one number after the other, to which tests hold the others. */
#define PANEL_LANES 1
#define PANEL_KERNELS chol_panel_kernels_1
#include "server/engine/linalg/chol_panel_lanes.h"
