/* broad_grid.c: the kind `grid`: one uniform grid (ch1-3 G-09, G-10). See grid.h. */
#include "server/engine/collision/grid.h"

static struct broad_index *create_uniform(void)
{
	return grid_create(true);
}

const struct broad_kind broad_kind_grid = {
	.name = "grid",
	.create = create_uniform,
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
