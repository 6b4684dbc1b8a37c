/* broad_grid.h: proxies in cells of one or several sizes (ch1-3 G-09…G-12): the kinds `grid` and `levels`
 * of broad phase.
 *
 * A level is a grid of cubes of one size. A proxy is stored in every cell of its level that its box touches,
 * or, if these are too many, in the list of large proxies. Empty cells take no memory. A search visits each
 * level separately: its cells, or the level's list of proxies if that is shorter. (G-12 stores a proxy also
 * in the cells of all coarser levels; searching these levels instead finds the same candidates, and the
 * memory of a proxy does not depend on the number of levels.) Of two moved proxies the one on the finer level
 * reports the pair, because it covers few cells of the coarser level. A search visits finer levels only for
 * proxies that have not moved.
 *
 * Cell sizes are chosen again when many proxies were added or resized. They change the cost of a search,
 * never its result.
 */
#ifndef CAIRN_ENGINE_COLLISION_BROAD_GRID_H
#define CAIRN_ENGINE_COLLISION_BROAD_GRID_H

#include "server/engine/collision/broad_kind.h"

enum { GRID_LEVELS_MAX = BROAD_PHASE_LEVELS_MAX };

/* G-11: k times a proxy's diameter is between these parts of its cells' width. */
#define GRID_PART_MIN 0.5
#define GRID_PART_MAX 1.0

/* Level j (from 0) has cells of first × 2^j metres. */
struct grid_levels {
	double first;	/* > 0 */
	uint32_t count; /* 1 … GRID_LEVELS_MAX */
};
/* G-09: cells of k times the mean diameter (m), k ≥ 1, mean > 0. */
struct grid_levels grid_levels_uniform(double mean, double k);
/* G-11, at most `levels_max` levels from the finest: a proxy too large for the last spans more of its cells.
 * 0 < diameter_min ≤ diameter_max. */
struct grid_levels grid_levels_between(double diameter_min, double diameter_max,
				       uint32_t levels_max);
/* G-11: the largest level with a cell's width of at most diameter / GRID_PART_MIN; 0 below the least. */
uint32_t grid_level_of(const struct grid_levels *levels, double diameter);

#endif
