/* The recursions of soft_tree_passes.h with vectors that every processor has: two links. */
#define LANES_WIDTH 4
#define TREE_LANES 2
#define TREE_KERNELS tree_kernels_2
#include "server/engine/methods/soft_tree_passes.h"
