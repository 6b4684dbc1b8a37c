/* broad_levels.c: the kind `levels`: a grid for each power of two of sizes (ch1-3 G-11, G-12). See grid.h. */
#include "server/engine/collision/grid.h"

static struct broad_index *create_levels(void)
{
	return grid_create(false);
}

const struct broad_kind broad_kind_levels = {
	.name = "levels",
	.create = create_levels,
	.destroy = grid_destroy,
	.reset = grid_reset,
	.reserve = grid_reserve,
	.add = grid_add,
	.remove = grid_remove,
	.move = grid_move,
	.box = grid_box,
	.set_cells = grid_set_cells,
	.prepare = grid_prepare,
	.partners = grid_partners,
	.query = grid_query,
	.ray = grid_ray,
	.work = grid_work,
};
