/* The recursions of soft_tree_passes.h link by link. */
#define LANES_WIDTH 4
#define TREE_LANES 1
#define TREE_KERNELS tree_kernels_1
#include "server/engine/methods/soft_tree_passes.h"
