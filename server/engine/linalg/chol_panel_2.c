/* The factor of chol_panel_lanes.h in pairs, which every processor has. */
#define PANEL_LANES 2
#define PANEL_KERNELS chol_panel_kernels_2
#include "server/engine/linalg/chol_panel_lanes.h"
