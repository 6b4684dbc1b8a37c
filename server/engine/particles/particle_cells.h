/* particle_cells.h: which particles are near (ch1-3 P-13, G-09).
 *
 * Items lie in cells of a grid whose edge is the reach, so what is within it is at most one cell
 * apart. Where the box around all items has at most CELLS_DENSE cells an item, each cell is a
 * bucket, in the order of z, y, x. Otherwise cells are hashed so that neighbours along x are
 * neighbours in memory: a bucket is x + hash(y, z). A counting sort puts the items of a bucket
 * in the order of their numbers, so every walk has one order (of z, y, x, number), whoever
 * walks, and the cost is linear.
 *
 * Of a bucket only the first CELLS_CROWD items are near anything: places where more are at one
 * point stay affordable. The rest is crowded; the caller counts it. */
#ifndef CAIRN_ENGINE_PARTICLES_PARTICLE_CELLS_H
#define CAIRN_ENGINE_PARTICLES_PARTICLE_CELLS_H

#include "server/base/array.h"
#include "server/engine/math/vec3.h"

enum { CELLS_CROWD = 512, CELLS_RANGES = 27, CELLS_DENSE = 2 };
/* m: smaller cells would have coordinates beyond 32 bits. */
#define CELLS_EDGE_MIN 1e-3

struct cell_entry {
	vec3 at;
	uint64_t line; /* y and z of its cell */
	uint32_t item; /* number */
};

struct particle_cells {
	ARRAY_OF(struct cell_entry) entries, sorted;
	ARRAY_OF(uint32_t) buckets; /* of each entry; before sorting the x of its cell */
	ARRAY_OF(uint32_t) starts;  /* of each bucket in sorted, and the end */
	double edge, edge_inv;	    /* m: of a cell; 1/m */
	uint32_t bucket_count;
	bool dense;			    /* each bucket is a cell */
	bool crowded;			    /* some bucket is */
	int32_t least[3], most[3], size[3]; /* of coordinates of cells; size: of the grid */
};

/* Entries first … last − 1 of `sorted` with this line may be near. */
struct cell_span {
	uint64_t line;
	uint32_t first, last;
};

/* Room for so many items. NO_MEMORY. */
MUST_CHECK enum status particle_cells_reserve(struct particle_cells *self, uint32_t items);
void particle_cells_release(struct particle_cells *self);
uint64_t particle_cells_memory(const struct particle_cells *self);

/* Removes all items; `edge` > 0 in m. */
void particle_cells_begin(struct particle_cells *self, double edge);
/* Adds an item, in ascending order of numbers. */
void particle_cells_add(struct particle_cells *self, uint32_t item, vec3 at);
/* After the last item. */
void particle_cells_sort(struct particle_cells *self);

/* Of the cell with this coordinate. */
static inline int32_t particle_cells_coordinate(const struct particle_cells *self, double x)
{
	double cell = scalar_floor(x * self->edge_inv);
	ASSERT(cell > -2147483647.0 && cell < 2147483646.0);
	return (int32_t)cell;
}

/* The end of a bucket without what is crowded. */
static inline uint32_t particle_cells_end(const struct particle_cells *self, uint32_t bucket)
{
	uint32_t first = self->starts.items[bucket];
	return MIN_OF(self->starts.items[bucket + 1], first + CELLS_CROWD);
}

/* The cells within one of the place's; returns how many ranges have entries. */
uint32_t particle_cells_near(const struct particle_cells *self, vec3 at,
			     struct cell_span out[CELLS_RANGES]);

#endif
