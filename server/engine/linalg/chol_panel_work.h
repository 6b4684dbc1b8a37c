/* chol_panel_work.h: the layout of a panel, and the kernels of each width. Private to chol_panel. */
#ifndef CAIRN_ENGINE_LINALG_CHOL_PANEL_WORK_H
#define CAIRN_ENGINE_LINALG_CHOL_PANEL_WORK_H

#include "server/engine/linalg/chol_panel.h"

/* Tiles of a panel. */
static inline uint32_t chol_panel_tiles(const struct chol_panel *self, uint32_t p)
{
	uint32_t rows = self->start[p + 1] - self->start[p];
	return (rows + CHOL_PANEL_BODIES - 1) / CHOL_PANEL_BODIES;
}

/* Where the block of a row and a column of a panel with so many block columns begins in it. */
static inline size_t chol_panel_entry(uint32_t columns, uint32_t row, uint32_t column)
{
	size_t tile = (size_t)(row / CHOL_PANEL_BODIES) * columns + column;
	return tile * CHOL_PANEL * CHOL_PANEL_TILE + row % CHOL_PANEL_BODIES * CHOL_PANEL;
}

struct chol_panel_kernels {
	void (*factor)(struct chol_panel *self);
	/* x := A⁻¹ x, by places. */
	void (*solve)(const struct chol_panel *self, double *x);
};
extern const struct chol_panel_kernels chol_panel_kernels_1, chol_panel_kernels_2;
#if defined(__x86_64__)
extern const struct chol_panel_kernels chol_panel_kernels_4;
#endif

#endif
