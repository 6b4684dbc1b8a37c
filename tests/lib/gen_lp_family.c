/* See gen_lp_family.h. */
#include "tests/lib/gen_lp_family.h"

#include "server/engine/math/scalar.h"

/* Adds entries in ascending rows, `entries` on average and at least one. */
static void draw_entries(struct gen_lp *self, struct rng *rng, uint32_t rows, uint32_t entries)
{
	uint32_t before = self->starts[self->problem.matrix.columns];
	uint32_t step = MAX_OF(1, 2 * rows / entries);
	uint32_t i = rng_below(rng, step);
	while (i < rows) {
		gen_lp_entry(self, i, rng_range(rng, -1, 1));
		i += 1 + rng_below(rng, step);
	}
	if (self->starts[self->problem.matrix.columns] == before) {
		i = rng_below(rng, rows);
		gen_lp_entry(self, i, rng_range(rng, -1, 1));
	}
}

void gen_lp_sparse(struct gen_lp *self, struct rng *rng, uint32_t rows, uint32_t columns,
		   uint32_t entries)
{
	double *activity = self->scratch, *dual = self->scratch + rows;
	gen_lp_begin(self, rows);
	for (uint32_t i = 0; i < rows; i++) {
		activity[i] = 0;
		dual[i] = scalar_max(rng_range(rng, -1, 1), 0);
	}
	for (uint32_t j = 0; j < columns; j++) {
		bool inside = rng_below(rng, 2) == 0;
		double x = inside ? rng_range(rng, 0, 1) : 0;
		gen_lp_column(self, inside ? 0 : rng_range(rng, 0, 1), 0, LP_INFINITY);
		draw_entries(self, rng, rows, entries);
		for (uint32_t k = self->starts[j]; k < self->starts[j + 1]; k++) {
			activity[self->index[k]] += x * self->values[k];
			self->cost[j] += dual[self->index[k]] * self->values[k];
		}
	}
	for (uint32_t i = 0; i < rows; i++) {
		self->row_low[i] = activity[i] - (dual[i] > 0 ? 0 : rng_range(rng, 0, 1));
		self->row_high[i] = LP_INFINITY;
	}
}

void gen_lp_boxed(struct gen_lp *self, struct rng *rng, uint32_t rows, uint32_t entries)
{
	gen_lp_begin(self, rows);
	for (uint32_t j = 0; j < rows; j++) {
		gen_lp_column(self, rng_range(rng, -1, 1), -1, 1);
		for (uint32_t i = 0; i < rows; i++)
			if (rng_below(rng, rows) < entries)
				gen_lp_entry(self, i, rng_range(rng, -1, 1));
	}
	for (uint32_t i = 0; i < rows; i++) {
		self->row_low[i] = -LP_INFINITY;
		self->row_high[i] = rng_range(rng, 0.05, 0.5);
	}
}

void gen_lp_transport(struct gen_lp *self, struct rng *rng, uint32_t sources, uint32_t sinks)
{
	double left = 0;
	gen_lp_begin(self, sources + sinks);
	for (uint32_t i = 0; i < sources; i++) {
		self->row_low[i] = self->row_high[i] = (double)(sinks * (1 + rng_below(rng, 4)));
		left += self->row_low[i];
	}
	for (uint32_t k = 0; k < sinks; k++) {
		uint32_t share = (uint32_t)(left / (sinks - k));
		double takes = k + 1 == sinks ? left : share + rng_below(rng, 2) * (share > 1);
		self->row_low[sources + k] = self->row_high[sources + k] = takes;
		left -= takes;
	}
	for (uint32_t i = 0; i < sources; i++)
		for (uint32_t k = 0; k < sinks; k++) {
			gen_lp_column(self, 1 + rng_below(rng, 20), 0, LP_INFINITY);
			gen_lp_entry(self, i, 1);
			gen_lp_entry(self, sources + k, 1);
		}
}

void gen_lp_assignment(struct gen_lp *self, struct rng *rng, uint32_t n)
{
	gen_lp_begin(self, 2 * n);
	for (uint32_t i = 0; i < 2 * n; i++)
		self->row_low[i] = self->row_high[i] = 1;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < n; k++) {
			gen_lp_column(self, 1 + rng_below(rng, 100), 0, LP_INFINITY);
			gen_lp_entry(self, i, 1);
			gen_lp_entry(self, n + k, 1);
		}
}

void gen_lp_cover(struct gen_lp *self, struct rng *rng, uint32_t rows, uint32_t sets)
{
	gen_lp_begin(self, rows);
	for (uint32_t j = 0; j < sets; j++) {
		gen_lp_column(self, 1 + rng_below(rng, 3), 0, 1);
		/* Set j contains row j mod rows, so that every row is covered if sets ≥ rows. */
		for (uint32_t i = 0; i < rows; i++)
			if (i == j % rows || rng_below(rng, rows) < 6)
				gen_lp_entry(self, i, 1);
	}
	for (uint32_t i = 0; i < rows; i++) {
		self->row_low[i] = 1;
		self->row_high[i] = LP_INFINITY;
	}
}

/* ---- spheres ------------------------------------------------------------------------------------ */

enum { SPHERES = 1000, NEIGHBOURS = 64 };

/* Positions of spheres and, of each, the pairs in reach. */
struct heap {
	double centre[SPHERES][3];
	uint32_t row_of[SPHERES][NEIGHBOURS], other[SPHERES][NEIGHBOURS], neighbours[SPHERES];
};

static double centre_distance(const struct heap *heap, uint32_t a, uint32_t b)
{
	double square = 0;
	for (uint32_t k = 0; k < 3; k++) {
		double d = heap->centre[a][k] - heap->centre[b][k];
		square += d * d;
	}
	return scalar_sqrt(square);
}

/* Draws the heap, and the bounds of the rows; returns the number of rows. */
static uint32_t draw_heap(struct gen_lp *self, struct rng *rng, struct heap *heap, uint32_t n)
{
	uint32_t rows = 0, count = n * n * n;
	ASSERT(count <= SPHERES);
	for (uint32_t s = 0; s < count; s++) {
		uint32_t at[3] = { s % n, s / n % n, s / (n * n) };
		heap->neighbours[s] = 0;
		for (uint32_t k = 0; k < 3; k++)
			heap->centre[s][k] = 2.2 * at[k] + rng_range(rng, -0.1, 0.1);
	}
	for (uint32_t a = 0; a < count; a++)
		for (uint32_t b = a + 1; b < count; b++) {
			double apart = centre_distance(heap, a, b);
			if (apart > 3.5)
				continue;
			ASSERT(rows < self->rows_max);
			heap->row_of[a][heap->neighbours[a]] = rows;
			heap->other[a][heap->neighbours[a]++] = b;
			heap->row_of[b][heap->neighbours[b]] = rows;
			heap->other[b][heap->neighbours[b]++] = a;
			self->row_low[rows] = 2 - apart;
			self->row_high[rows++] = LP_INFINITY;
		}
	return rows;
}

void gen_lp_spheres(struct gen_lp *self, struct rng *rng, uint32_t n)
{
	static struct heap heap;
	gen_lp_begin(self, draw_heap(self, rng, &heap, n));
	for (uint32_t s = 0; s < n * n * n; s++)
		for (uint32_t k = 0; k < 3; k++) {
			double floor = k == 2 ? -scalar_max(heap.centre[s][2], 0) : -1;
			gen_lp_column(self, k == 2, scalar_max(floor, -1), 1);
			self->start[3 * s + k] = 0;
			for (uint32_t i = 0; i < heap.neighbours[s]; i++) {
				uint32_t other = heap.other[s][i];
				double d = heap.centre[s][k] - heap.centre[other][k];
				gen_lp_entry(self, heap.row_of[s][i],
					     d / centre_distance(&heap, s, other));
			}
		}
}
