/* chol_panel_lanes.h: the factor of chol_panel.h and its solutions in vectors of PANEL_LANES doubles: 1 is
 * the plain computation, 2 what every processor has, 4 needs AVX2. A lane is a row of a tile, so each
 * number is the result of the same operations in the same order at any width. Included once for each
 * width, with PANEL_LANES and PANEL_KERNELS defined.
 *
 * Left-looking: the panels that have a row among the columns of panel p change it, then p is finished by
 * itself, one block column after the other. Nearly all time goes into the product of a tile (12 rows) and the
 * three rows of a body, over all columns of a panel, whose sums stay in registers.
 *
 * Workers first factor parts (chol_panel.c), each alone; what a part's panels change outside waits in a
 * list, in their order. Of each panel above, then, workers change and finish different rows. So each number
 * is the result of the same operations in the same order for any number of workers.
 *
 * A diagonal block of the factor holds the inverse of its lower triangle, so that solving multiplies;
 * above it are zeros. What goes wrong: rounding of large entries brings a pivot below 1, which is
 * impossible in exact arithmetic. A pivot above 1/2 becomes 1. At most 1/2 says that nothing but rounding is
 * left of the pivot and of the column below it; the pivot becomes LOST, which leaves the column without
 * influence and the unknown 0, and is counted. (1 in its place would make the column's rounding, which may
 * be 10¹² beside entries of 10²⁸, a large part of the solution.)
 */
#ifndef CAIRN_ENGINE_LINALG_CHOL_PANEL_LANES_H
#define CAIRN_ENGINE_LINALG_CHOL_PANEL_LANES_H

#include <string.h>

#include "server/base/inline.h"
#include "server/engine/linalg/chol_panel_work.h"
#include "server/engine/linalg/chol_rows.h"
#include "server/engine/math/scalar.h"

#ifndef PANEL_LANES
#define PANEL_LANES 1
#define PANEL_KERNELS chol_panel_kernels_1
#endif

#define NONE UINT32_MAX
/* In place of a pivot that rounding has taken away: its root is beyond all entries, its square is finite. */
#define LOST 1e128

enum {
	D = CHOL_PANEL,
	BODIES = CHOL_PANEL_BODIES,
	TILE = CHOL_PANEL_TILE,
	STRIP = 3 * PANEL_LANES, /* rows whose sums stay in registers */
	SUMS = 4,		 /* of a scalar product */
	SHARE = 8 * BODIES,	 /* rows of a panel above the parts that are a piece of work */
};

#if PANEL_LANES == 1
typedef double lanes;
#else
typedef double lanes __attribute__((vector_size(8 * PANEL_LANES)));
#endif
typedef double lanes_stored __attribute__((vector_size(8 * PANEL_LANES), aligned(8), may_alias));

#if PANEL_LANES == 1
ALWAYS_INLINE lanes load(const double *from)
{
	return *from;
}

ALWAYS_INLINE void store(double *to, lanes v)
{
	*to = v;
}
#else
ALWAYS_INLINE lanes load(const double *from)
{
	return *(const lanes_stored *)from;
}

ALWAYS_INLINE void store(double *to, lanes v)
{
	*(lanes_stored *)to = v;
}
#endif

/* out := A Bᵀ, 12 × 3 column by column: a tile and the three rows of a body at `b`, over `count` columns. */
ALWAYS_INLINE void multiply_tile(const double *a, const double *b, uint32_t count, double *out)
{
	VALIDATE(a != out && b != out);
	for (uint32_t first = 0; first < TILE; first += STRIP) {
		const double *from = a + first, *by = b;
		lanes x0, x1, x2, y0, y1, y2, z0, z1, z2;
		x0 = x1 = x2 = y0 = y1 = y2 = z0 = z1 = z2 = (lanes){ 0 };
		for (uint32_t k = 0; k < count; k++, from += TILE, by += TILE) {
			const lanes p = load(from), q = load(from + PANEL_LANES);
			const lanes r = load(from + 2 * PANEL_LANES);
			x0 += p * by[0];
			x1 += q * by[0];
			x2 += r * by[0];
			y0 += p * by[1];
			y1 += q * by[1];
			y2 += r * by[1];
			z0 += p * by[2];
			z1 += q * by[2];
			z2 += r * by[2];
		}
		double *to = out + first;
		store(to, x0);
		store(to + PANEL_LANES, x1);
		store(to + 2 * PANEL_LANES, x2);
		store(to + TILE, y0);
		store(to + TILE + PANEL_LANES, y1);
		store(to + TILE + 2 * PANEL_LANES, y2);
		store(to + 2 * TILE, z0);
		store(to + 2 * TILE + PANEL_LANES, z1);
		store(to + 2 * TILE + 2 * PANEL_LANES, z2);
	}
}

/* block −= share, 3 × 3 of tiles. */
ALWAYS_INLINE void subtract_block(double *block, const double *share)
{
	VALIDATE(block != share);
	for (uint32_t c = 0; c < D; c++, block += TILE, share += TILE) {
		block[0] -= share[0];
		block[1] -= share[1];
		block[2] -= share[2];
	}
}

/* What panel j does to panel p: j's rows begin … end − 1 are among p's columns. */
struct panel_change {
	uint32_t j, p, begin, end;
};

static struct panel_change change_of(const struct chol_panel *self, uint32_t j, uint32_t p)
{
	const uint32_t *row = self->row + self->start[j];
	uint32_t rows = self->start[j + 1] - self->start[j];
	struct panel_change change = { j, p, self->at[j], self->at[j] };
	while (change.end < rows && row[change.end] < self->first[p + 1])
		change.end++;
	ASSERT(change.end > change.begin);
	return change;
}

/* Subtracts panel j's share from rows of panel p, from j's row `first` to the one before `stop`;
 * local[row] is the place in p. */
static void subtract_rows(struct chol_panel *self, struct panel_change change,
			  const uint32_t *local, uint32_t first, uint32_t stop)
{
	uint32_t j = change.j, p = change.p, begin = change.begin;
	const uint32_t *row = self->row + self->start[j];
	uint32_t count = (self->first[j + 1] - self->first[j]) * D;
	uint32_t columns = self->first[p + 1] - self->first[p];
	const double *from = self->value + self->begin[j];
	double *to = self->value + self->begin[p];
	double product[TILE * D];
	ASSERT(first >= begin);
	for (uint32_t tile = first / BODIES; tile * BODIES < stop; tile++) {
		const double *a = from + (size_t)tile * count * TILE;
		uint32_t least = MAX_OF(first, tile * BODIES);
		uint32_t last = MIN_OF((tile + 1) * BODIES, stop);
		for (uint32_t q = begin; q < MIN_OF(change.end, last); q++) {
			const double *b =
				from + (size_t)(q / BODIES) * count * TILE + q % BODIES * D;
			multiply_tile(a, b, count, product);
			for (uint32_t r = MAX_OF(q, least); r < last; r++)
				subtract_block(to + chol_panel_entry(columns, local[row[r]],
								     row[q] - self->first[p]),
					       product + r % BODIES * D);
		}
	}
}

/* Replaces a diagonal block by the inverse of its Cholesky factor, with zeros above the diagonal. */
static void invert_pivot(double *block, uint32_t *lost)
{
	double l[D][D];
	for (uint32_t j = 0; j < D; j++) {
		double pivot = block[j * TILE + j];
		for (uint32_t k = 0; k < j; k++)
			pivot -= l[j][k] * l[j][k];
		if (!(pivot >= 1)) {
			bool gone = !(pivot > 0.5);
			*lost += gone;
			pivot = gone ? LOST : 1;
		}
		l[j][j] = scalar_sqrt(pivot);
		VALIDATE(l[j][j] >= 1);
		for (uint32_t i = j + 1; i < D; i++) {
			double sum = block[j * TILE + i];
			for (uint32_t k = 0; k < j; k++)
				sum -= l[i][k] * l[j][k];
			l[i][j] = sum / l[j][j];
		}
	}
	for (uint32_t j = 0; j < D; j++) {
		for (uint32_t i = 0; i < j; i++)
			block[j * TILE + i] = 0;
		for (uint32_t i = j; i < D; i++) {
			double sum = i == j ? 1 : 0;
			for (uint32_t k = j; k < i; k++)
				sum -= l[i][k] * block[j * TILE + k];
			block[j * TILE + i] = sum / l[i][i];
		}
	}
}

/* The three columns of a tile times L⁻ᵀ; `inverse` is L⁻¹. */
ALWAYS_INLINE void divide_tile(double *tile, const double *inverse)
{
	const double *l = inverse;
	VALIDATE(tile != inverse);
	for (uint32_t i = 0; i < TILE; i += PANEL_LANES) {
		lanes x = load(tile + i), y = load(tile + TILE + i), z = load(tile + 2 * TILE + i);
		store(tile + i, x * l[0]);
		store(tile + TILE + i, x * l[1] + y * l[TILE + 1]);
		store(tile + 2 * TILE + i, x * l[2] + y * l[TILE + 2] + z * l[2 * TILE + 2]);
	}
}

/* Clears what the tile of a diagonal block has above it, and puts the block back. */
static void clear_above(double *tile, uint32_t place, const double block[D][D])
{
	ASSERT(place < BODIES);
	for (uint32_t c = 0; c < D; c++) {
		memset(tile + c * TILE, 0, place * D * sizeof *tile);
		memcpy(tile + c * TILE + place * D, block[c], sizeof block[c]);
	}
}

/* Subtracts from block column j of a tile what the columns before it have; `row`: the rows of body j. */
ALWAYS_INLINE void subtract_column(double *tile, const double *row, uint32_t j)
{
	double *to = tile + (size_t)j * D * TILE, product[TILE * D];
	VALIDATE(tile != NULL);
	if (j == 0)
		return;
	multiply_tile(tile, row, j * D, product);
	for (uint32_t i = 0; i < TILE * D; i += PANEL_LANES)
		store(to + i, load(to + i) - load(product + i));
}

/* Finishes the tiles of a panel that have its diagonal blocks, from which all other panels have been
 * subtracted. */
static void finish_columns(struct chol_panel *self, uint32_t p, uint32_t *lost)
{
	uint32_t columns = self->first[p + 1] - self->first[p];
	uint32_t tiles = (columns + BODIES - 1) / BODIES;
	double *value = self->value + self->begin[p], block[D][D], inverse[TILE * D];
	size_t step = (size_t)columns * D * TILE; /* from tile to tile */
	for (uint32_t j = 0; j < columns; j++) {
		const double *row = value + j / BODIES * step + j % BODIES * D;
		for (uint32_t tile = j / BODIES; tile < tiles; tile++)
			subtract_column(value + tile * step, row, j);
		double *pivot = value + chol_panel_entry(columns, j, j);
		invert_pivot(pivot, lost);
		for (uint32_t c = 0; c < D; c++) {
			memcpy(block[c], pivot + c * TILE, sizeof block[c]);
			memcpy(inverse + c * TILE, pivot + c * TILE, sizeof block[c]);
		}
		for (uint32_t tile = j / BODIES; tile < tiles; tile++)
			divide_tile(value + tile * step + (size_t)j * D * TILE, inverse);
		clear_above(value + j / BODIES * step + (size_t)j * D * TILE, j % BODIES, block);
	}
}

/* Finishes tiles below those. */
static void finish_tiles(struct chol_panel *self, uint32_t p, uint32_t first, uint32_t end)
{
	uint32_t columns = self->first[p + 1] - self->first[p];
	double *value = self->value + self->begin[p];
	size_t step = (size_t)columns * D * TILE;
	ASSERT(first * BODIES >= columns);
	for (uint32_t tile = first; tile < end; tile++)
		for (uint32_t j = 0; j < columns; j++) {
			const double *row = value + j / BODIES * step + j % BODIES * D;
			subtract_column(value + tile * step, row, j);
			divide_tile(value + tile * step + (size_t)j * D * TILE,
				    value + chol_panel_entry(columns, j, j));
		}
}

/* ---- panels ------------------------------------------------------------------------------------- */

/* Puts panel j into the list of the panel that it changes next, if there is one: whether that is before
 * `end`. */
static bool list_panel(struct chol_panel *self, uint32_t j, uint32_t end)
{
	if (self->at[j] >= self->start[j + 1] - self->start[j])
		return true;
	uint32_t p = self->panel[self->row[self->start[j] + self->at[j]]];
	VALIDATE(p > j && p < self->panels);
	if (p >= end)
		return false;
	self->next[j] = self->link[p];
	self->link[p] = j;
	return true;
}

static void find_local(const struct chol_panel *self, uint32_t p, uint32_t *local)
{
	const uint32_t *row = self->row + self->start[p];
	uint32_t rows = self->start[p + 1] - self->start[p];
	ASSERT(rows > 0);
	for (uint32_t r = 0; r < rows; r++)
		local[row[r]] = r;
}

static void leave_part(struct chol_panel *self, struct chol_panel_part *part, uint32_t j)
{
	ASSERT(j < part->end);
	self->next[j] = part->leave;
	part->leave = j;
}

/* Factors the panels of a part. */
static void factor_part(struct chol_panel *self, struct chol_panel_part *part, uint32_t *local)
{
	uint32_t next = NONE;
	part->leave = NONE;
	part->lost = 0;
	for (uint32_t p = part->first; p < part->end; p++)
		self->link[p] = NONE;
	for (uint32_t p = part->first; p < part->end; p++) {
		uint32_t columns = self->first[p + 1] - self->first[p];
		find_local(self, p, local);
		for (uint32_t j = self->link[p]; j != NONE; j = next) {
			struct panel_change change = change_of(self, j, p);
			next = self->next[j];
			subtract_rows(self, change, local, change.begin,
				      self->start[j + 1] - self->start[j]);
			self->at[j] = change.end;
			if (!list_panel(self, j, part->end))
				leave_part(self, part, j);
		}
		finish_columns(self, p, &part->lost);
		finish_tiles(self, p, (columns + BODIES - 1) / BODIES, chol_panel_tiles(self, p));
		self->at[p] = columns;
		if (!list_panel(self, p, part->end))
			leave_part(self, part, p);
	}
}

static void factor_parts(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	struct chol_panel *self = context;
	for (uint32_t i = first; i < last; i++)
		factor_part(self, &self->part_list[i], self->local + (size_t)worker * self->size);
}

/* The panel above the parts that workers change and finish together. */
struct shared_panel {
	struct chol_panel *self;
	uint32_t p;
};

/* Rows first × SHARE … of the panel. */
static void change_shares(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	const struct shared_panel *shared = context;
	struct chol_panel *self = shared->self;
	uint32_t p = shared->p, rows = self->start[p + 1] - self->start[p];
	const uint32_t *own = self->row + self->start[p];
	uint32_t begin = first * SHARE, end = MIN_OF(last * SHARE, rows);
	(void)worker;
	ASSERT(begin < end);
	for (uint32_t j = self->link[p]; j != NONE; j = self->next[j]) {
		struct panel_change change = change_of(self, j, p);
		const uint32_t *row = self->row + self->start[j];
		uint32_t stop = self->start[j + 1] - self->start[j];
		uint32_t from = chol_rows_find(row, change.begin, stop, own[begin]);
		if (end < rows)
			stop = chol_rows_find(row, from, stop, own[end]);
		if (from < stop)
			subtract_rows(self, change, self->local, from, stop);
	}
}

static void finish_shares(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	const struct shared_panel *shared = context;
	uint32_t p = shared->p, tiles = chol_panel_tiles(shared->self, p);
	uint32_t own = (shared->self->first[p + 1] - shared->self->first[p] + BODIES - 1) / BODIES;
	(void)worker;
	finish_tiles(shared->self, p, own + first * (SHARE / BODIES),
		     MIN_OF(own + last * (SHARE / BODIES), tiles));
}

/* Factors a panel above the parts, of which all below have been finished. */
static void factor_shared(struct chol_panel *self, const struct parallel *parallel, uint32_t p)
{
	struct shared_panel shared = { self, p };
	uint32_t columns = self->first[p + 1] - self->first[p], next = NONE;
	uint32_t rows = self->start[p + 1] - self->start[p];
	uint32_t below = chol_panel_tiles(self, p) - (columns + BODIES - 1) / BODIES;
	find_local(self, p, self->local);
	parallel_run(parallel, (rows + SHARE - 1) / SHARE, 1, change_shares, &shared);
	for (uint32_t j = self->link[p]; j != NONE; j = next) {
		next = self->next[j];
		self->at[j] = change_of(self, j, p).end;
		bool listed = list_panel(self, j, self->panels);
		ASSERT(listed);
	}
	finish_columns(self, p, &self->pivots_lost);
	parallel_run(parallel, (below * BODIES + SHARE - 1) / SHARE, 1, finish_shares, &shared);
	self->at[p] = columns;
	bool listed = list_panel(self, p, self->panels);
	ASSERT(listed);
}

static void factor_panels(struct chol_panel *self)
{
	const struct parallel *parallel =
		self->parallel == NULL ? &parallel_serial : self->parallel;
	uint32_t p = 0, next = NONE;
	self->pivots_lost = 0;
	parallel_run(parallel, self->parts, 1, factor_parts, self);
	for (uint32_t i = 0; i < self->parts; i++) {
		const struct chol_panel_part *part = &self->part_list[i];
		for (; p < part->first; p++)
			self->link[p] = NONE;
		p = part->end;
		self->pivots_lost += part->lost;
	}
	for (; p < self->panels; p++)
		self->link[p] = NONE;
	for (uint32_t i = 0; i < self->parts; i++)
		for (uint32_t j = self->part_list[i].leave; j != NONE; j = next) {
			next = self->next[j];
			bool listed = list_panel(self, j, self->panels);
			ASSERT(listed);
		}
	p = 0;
	for (uint32_t i = 0; i <= self->parts; i++) {
		uint32_t end = i < self->parts ? self->part_list[i].first : self->panels;
		for (; p < end; p++)
			factor_shared(self, parallel, p);
		if (i < self->parts)
			p = self->part_list[i].end;
	}
}

/* ---- solving ------------------------------------------------------------------------------------ */

/* to[0 … 11] −= the columns of a tile times x. */
ALWAYS_INLINE void subtract_tile(const double *tile, const double *x, uint32_t count, double *to)
{
	VALIDATE(tile != to && x != to);
	for (uint32_t first = 0; first < TILE; first += STRIP) {
		const double *from = tile + first;
		lanes p = (lanes){ 0 }, q = p, r = p;
		for (uint32_t k = 0; k < count; k++, from += TILE) {
			p += load(from) * x[k];
			q += load(from + PANEL_LANES) * x[k];
			r += load(from + 2 * PANEL_LANES) * x[k];
		}
		double *at = to + first;
		store(at, load(at) - p);
		store(at + PANEL_LANES, load(at + PANEL_LANES) - q);
		store(at + 2 * PANEL_LANES, load(at + 2 * PANEL_LANES) - r);
	}
}

/* sums[k] += the products of column k of a tile and y, in four sums each: row i is in sum i mod 4. */
ALWAYS_INLINE void add_products(const double *tile, const double *y, uint32_t count, double *sums)
{
	VALIDATE(tile != sums && y != sums);
	for (uint32_t k = 0; k < count; k++, tile += TILE, sums += SUMS)
		for (uint32_t i = 0; i < SUMS; i += PANEL_LANES) {
			lanes sum = load(tile + i) * load(y + i);
			sum += load(tile + SUMS + i) * load(y + SUMS + i);
			sum += load(tile + 2 * SUMS + i) * load(y + 2 * SUMS + i);
			store(sums + i, load(sums + i) + sum);
		}
}

/* L y = x of a panel: x at its columns becomes y, and what is below changes. */
static void solve_forward(const struct chol_panel *self, uint32_t p, double *x)
{
	uint32_t columns = self->first[p + 1] - self->first[p], tiles = chol_panel_tiles(self, p);
	uint32_t rows = self->start[p + 1] - self->start[p];
	const uint32_t *row = self->row + self->start[p];
	const double *value = self->value + self->begin[p];
	size_t step = (size_t)columns * D * TILE;
	double *own = x + (size_t)self->first[p] * D, *rest = self->part;
	memset(rest, 0, (size_t)tiles * TILE * sizeof *rest);
	memcpy(rest, own, (size_t)columns * D * sizeof *rest);
	for (uint32_t j = 0; j < columns; j++) {
		const double *l = value + chol_panel_entry(columns, j, j), *b = rest + j * D;
		double *y = own + j * D;
		y[0] = l[0] * b[0];
		y[1] = l[1] * b[0] + l[TILE + 1] * b[1];
		y[2] = l[2] * b[0] + l[TILE + 2] * b[1] + l[2 * TILE + 2] * b[2];
		for (uint32_t tile = j / BODIES; tile * BODIES < columns; tile++)
			subtract_tile(value + tile * step + (size_t)j * D * TILE, y, D,
				      rest + tile * TILE);
	}
	for (uint32_t tile = columns / BODIES; tile < tiles; tile++) {
		double share[TILE] = { 0 };
		subtract_tile(value + tile * step, own, columns * D, share);
		uint32_t last = MIN_OF((tile + 1) * BODIES, rows);
		for (uint32_t r = MAX_OF(tile * BODIES, columns); r < last; r++)
			for (uint32_t i = 0; i < D; i++)
				x[(size_t)row[r] * D + i] += share[r % BODIES * D + i];
	}
}

/* Lᵀ x = y of a panel, with x below its columns known. */
static void solve_backward(const struct chol_panel *self, uint32_t p, double *x)
{
	uint32_t columns = self->first[p + 1] - self->first[p], tiles = chol_panel_tiles(self, p);
	uint32_t rows = self->start[p + 1] - self->start[p];
	const uint32_t *row = self->row + self->start[p];
	const double *value = self->value + self->begin[p];
	size_t step = (size_t)columns * D * TILE;
	double *own = x + (size_t)self->first[p] * D, *sums = self->part;
	double *known = sums + (size_t)columns * D * SUMS; /* 0 where it is not */
	memset(sums, 0, (size_t)columns * D * SUMS * sizeof *sums);
	memset(known, 0, (size_t)tiles * TILE * sizeof *known);
	for (uint32_t r = columns; r < rows; r++)
		memcpy(known + r * D, x + (size_t)row[r] * D, D * sizeof *x);
	for (uint32_t tile = columns / BODIES; tile < tiles; tile++)
		add_products(value + tile * step, known + tile * TILE, columns * D, sums);
	/* The last tile of columns may have rows below: they have been counted. */
	memset(known + columns * D, 0, (size_t)(tiles * BODIES - columns) * D * sizeof *known);
	for (uint32_t j = columns; j-- > 0;) {
		double *sum = sums + (size_t)j * D * SUMS, b[D];
		for (uint32_t tile = j / BODIES; tile * BODIES < columns; tile++)
			add_products(value + tile * step + (size_t)j * D * TILE,
				     known + tile * TILE, D, sum);
		for (uint32_t c = 0; c < D; c++, sum += SUMS)
			b[c] = own[j * D + c] - ((sum[0] + sum[1]) + (sum[2] + sum[3]));
		const double *l = value + chol_panel_entry(columns, j, j);
		double *to = known + j * D;
		to[0] = l[0] * b[0] + l[1] * b[1] + l[2] * b[2];
		to[1] = l[TILE + 1] * b[1] + l[TILE + 2] * b[2];
		to[2] = l[2 * TILE + 2] * b[2];
	}
	memcpy(own, known, (size_t)columns * D * sizeof *own);
}

static void solve_panels(const struct chol_panel *self, double *x)
{
	VALIDATE(self->start[0] == 0);
	for (uint32_t p = 0; p < self->panels; p++)
		solve_forward(self, p, x);
	for (uint32_t p = self->panels; p-- > 0;)
		solve_backward(self, p, x);
}

const struct chol_panel_kernels PANEL_KERNELS = { factor_panels, solve_panels };

#endif
