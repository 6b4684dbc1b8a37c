/* chol_block.c: sparse Cholesky by columns of blocks, left-looking: the columns to the left that have a
 * block in row k change column k, then column k is finished.
 *
 * The pattern follows from the elimination tree (Liu 1986): row k of L has a block in column i exactly
 * when i is on the path up the tree from a block of A's column k. Each finished column is in the
 * list of the row of its next block; the columns in list k are those that change column k. The order
 * of all sums is a function of the pattern alone.
 *
 * A diagonal block of the factor holds the inverse of its lower triangle, so that solving multiplies.
 * Nearly all time goes into the product of a block and a transposed block. A column of a block is three
 * pairs of doubles, because every baseline processor has registers for pairs.
 * What goes wrong: rounding of large entries brings a pivot below 1, which is impossible in exact
 * arithmetic; the pivot becomes 1. Pivots of at most 1/2 are counted.
 *
 * In a planar problem three of a body's six unknowns have no other entries than their 1. Blocks then
 * are 3 × 3, an eighth of the work. What is left out are products with zeros, so the result is the same
 * to the bit.
 */
#include "server/engine/linalg/chol_block.h"

#include <string.h>

#include "server/engine/linalg/chol_rows.h"
#include "server/engine/math/scalar.h"

#define NONE UINT32_MAX
enum { B = CHOL_BLOCK, BB = CHOL_BLOCK_DOUBLES, P = CHOL_BLOCK_PLANAR, PP = P * P };

typedef double pair __attribute__((vector_size(16)));

/* Builds the elimination tree and counts the blocks of each column of L, in `at`. */
static void count_blocks(struct chol_block *self, const uint32_t *start, const uint32_t *row)
{
	for (uint32_t k = 0; k < self->size; k++) {
		self->parent[k] = NONE;
		self->place[k] = k;
		self->at[k] = 1;
		VALIDATE(start[k] <= start[k + 1]);
		for (uint32_t p = start[k]; p < start[k + 1]; p++)
			for (uint32_t i = row[p]; self->place[i] != k; i = self->parent[i]) {
				if (self->parent[i] == NONE)
					self->parent[i] = k;
				self->at[i]++;
				self->place[i] = k;
			}
	}
}

#ifdef CAIRN_VALIDATE
/* Whether each column of L has as many blocks as were counted, its rows ascending from the diagonal. */
static bool columns_are_filled(const struct chol_block *self)
{
	for (uint32_t k = 0; k < self->size; k++) {
		if (self->at[k] != self->start[k + 1] || self->row[self->start[k]] != k)
			return false;
		for (uint32_t p = self->start[k] + 1; p < self->start[k + 1]; p++)
			if (self->row[p] <= self->row[p - 1])
				return false;
	}
	return true;
}
#endif

size_t chol_block_analyse(struct chol_block *self, uint32_t size, const uint32_t *start,
			  const uint32_t *row)
{
	size_t blocks = 0;
	self->size = size;
	count_blocks(self, start, row);
	for (uint32_t k = 0; k < size; k++) {
		self->start[k] = (uint32_t)MIN_OF(blocks, UINT32_MAX);
		blocks += self->at[k];
	}
	self->start[size] = (uint32_t)MIN_OF(blocks, UINT32_MAX);
	ASSERT(blocks >= size);
	if (blocks > self->blocks_max || blocks >= UINT32_MAX)
		return blocks;
	for (uint32_t k = 0; k < size; k++) {
		self->place[k] = k;
		self->at[k] = self->start[k] + 1;
		self->row[self->start[k]] = k;
		for (uint32_t p = start[k]; p < start[k + 1]; p++)
			for (uint32_t i = row[p]; self->place[i] != k; i = self->parent[i]) {
				self->row[self->at[i]++] = k;
				self->place[i] = k;
			}
	}
	VALIDATE(columns_are_filled(self));
	return blocks;
}

uint32_t chol_block_find(const struct chol_block *self, uint32_t i, uint32_t k)
{
	ASSERT(k < self->size && i >= k && i < self->size);
	uint32_t at = chol_rows_find(self->row, self->start[k], self->start[k + 1], i);
	ASSERT(at < self->start[k + 1] && self->row[at] == i);
	return at;
}

void chol_block_identity(struct chol_block *self)
{
	uint32_t n = chol_block_width(self);
	memset(self->value, 0, (size_t)self->start[self->size] * n * n * sizeof *self->value);
	for (uint32_t k = 0; k < self->size; k++)
		for (uint32_t c = 0; c < n; c++)
			self->value[(size_t)self->start[k] * n * n + c * n + c] = 1;
}

/* C −= A Rᵀ. */
static inline void subtract_product(double *c, const double *a, const double *r)
{
	VALIDATE(((uintptr_t)c & 15) == 0 && ((uintptr_t)a & 15) == 0);
	VALIDATE(c != a && c != r);
	const pair *from = __builtin_assume_aligned(a, 16);
	pair *to = __builtin_assume_aligned(c, 16);
	for (uint32_t j = 0; j < B; j++) {
		pair x = to[3 * j], y = to[3 * j + 1], z = to[3 * j + 2];
		for (uint32_t k = 0; k < B; k++) {
			double s = r[k * B + j];
			pair by = { s, s };
			x -= from[3 * k] * by;
			y -= from[3 * k + 1] * by;
			z -= from[3 * k + 2] * by;
		}
		to[3 * j] = x;
		to[3 * j + 1] = y;
		to[3 * j + 2] = z;
	}
}

/* A pair anywhere: columns of three begin at odd doubles. */
typedef double loose_pair __attribute__((vector_size(16), aligned(8), may_alias));

static inline pair load_pair(const double *from)
{
	return *(const loose_pair *)from;
}

/* The same of 3 × 3 blocks: a pair and a double a column. */
static inline void subtract_product_planar(double *c, const double *a, const double *r)
{
	VALIDATE(c != a && c != r);
	const pair a0 = load_pair(a), a1 = load_pair(a + 3), a2 = load_pair(a + 6);
	const double z0 = a[2], z1 = a[5], z2 = a[8];
	for (uint32_t j = 0; j < P; j++) {
		const pair by0 = { r[j], r[j] }, by1 = { r[P + j], r[P + j] };
		const pair by2 = { r[2 * P + j], r[2 * P + j] };
		*(loose_pair *)(c + 3 * j) = load_pair(c + 3 * j) - a0 * by0 - a1 * by1 - a2 * by2;
		c[3 * j + 2] = c[3 * j + 2] - z0 * by0[0] - z1 * by1[0] - z2 * by2[0];
	}
}

/* Replaces a diagonal block of n × n by the inverse of its Cholesky factor, with zeros above the
 * diagonal. */
static inline void invert_pivot(struct chol_block *self, double *block, uint32_t n)
{
	double l[B][B];
	for (uint32_t j = 0; j < n; j++) {
		double pivot = block[j * n + j];
		for (uint32_t k = 0; k < j; k++)
			pivot -= l[j][k] * l[j][k];
		if (!(pivot >= 1)) {
			self->pivots_raised += !(pivot > 0.5);
			pivot = 1;
		}
		l[j][j] = scalar_sqrt(pivot);
		VALIDATE(l[j][j] >= 1);
		for (uint32_t i = j + 1; i < n; i++) {
			double sum = block[j * n + i];
			for (uint32_t k = 0; k < j; k++)
				sum -= l[i][k] * l[j][k];
			l[i][j] = sum / l[j][j];
		}
	}
	memset(block, 0, (size_t)n * n * sizeof *block);
	for (uint32_t j = 0; j < n; j++)
		for (uint32_t i = j; i < n; i++) {
			double sum = i == j ? 1 : 0;
			for (uint32_t k = j; k < i; k++)
				sum -= l[i][k] * block[j * n + k];
			block[j * n + i] = sum / l[i][i];
		}
}

/* A := A L⁻ᵀ; `inverse` is L⁻¹. */
static inline void divide_block(double *block, const double *inverse, uint32_t n)
{
	VALIDATE(block != inverse);
	double to[BB];
	for (uint32_t j = 0; j < n; j++)
		for (uint32_t i = 0; i < n; i++) {
			double sum = 0;
			for (uint32_t k = 0; k <= j; k++)
				sum += block[k * n + i] * inverse[k * n + j];
			to[j * n + i] = sum;
		}
	memcpy(block, to, (size_t)n * n * sizeof *to);
}

/* Subtracts column j's share from column k, where k is the row of block at[j]. */
static inline void subtract_column(struct chol_block *self, uint32_t j, uint32_t n)
{
	VALIDATE(self->at[j] < self->start[j + 1]);
	const double *across = self->value + (size_t)self->at[j] * n * n;
	for (uint32_t p = self->at[j]; p < self->start[j + 1]; p++) {
		double *to = self->value + (size_t)self->place[self->row[p]] * n * n;
		if (n == P)
			subtract_product_planar(to, self->value + (size_t)p * n * n, across);
		else
			subtract_product(to, self->value + (size_t)p * n * n, across);
	}
}

/* Puts column j into the list of the row of its next block, if it has one. */
static void list_column(struct chol_block *self, uint32_t j)
{
	if (self->at[j] >= self->start[j + 1])
		return;
	uint32_t k = self->row[self->at[j]];
	VALIDATE(k > j && k < self->size);
	self->parent[j] = self->link[k];
	self->link[k] = j;
}

/* With blocks of n × n, a constant of each call. */
static inline void factor_blocks(struct chol_block *self, uint32_t n)
{
	/* link[k] is the first column of list k, parent[j] the next after j: the tree is no longer
	 * needed. */
	self->pivots_raised = 0;
	for (uint32_t k = 0; k < self->size; k++)
		self->link[k] = NONE;
	for (uint32_t k = 0; k < self->size; k++) {
		uint32_t first = self->start[k], end = self->start[k + 1], next = NONE;
		for (uint32_t p = first; p < end; p++)
			self->place[self->row[p]] = p;
		for (uint32_t j = self->link[k]; j != NONE; j = next) {
			next = self->parent[j];
			subtract_column(self, j, n);
			self->at[j]++;
			list_column(self, j);
		}
		double *pivot = self->value + (size_t)first * n * n;
		VALIDATE(self->row[first] == k);
		invert_pivot(self, pivot, n);
		for (uint32_t p = first + 1; p < end; p++)
			divide_block(self->value + (size_t)p * n * n, pivot, n);
		self->at[k] = first + 1;
		list_column(self, k);
	}
}

void chol_block_factor(struct chol_block *self)
{
	if (self->planar)
		factor_blocks(self, P);
	else
		factor_blocks(self, B);
}

/* b −= A x of one block. */
static inline void subtract_block(double *b, const double *a, const double *x)
{
	VALIDATE(b != x);
	const pair *from = __builtin_assume_aligned(a, 16);
	pair b0 = load_pair(b), b1 = load_pair(b + 2), b2 = load_pair(b + 4);
	for (uint32_t c = 0; c < B; c++) {
		pair by = { x[c], x[c] };
		b0 -= from[3 * c] * by;
		b1 -= from[3 * c + 1] * by;
		b2 -= from[3 * c + 2] * by;
	}
	*(loose_pair *)b = b0;
	*(loose_pair *)(b + 2) = b1;
	*(loose_pair *)(b + 4) = b2;
}

/* b −= Aᵀ x of one block: two columns at once, row by row. */
static inline void subtract_transposed_block(double *b, const double *a, const double *x)
{
	VALIDATE(b != x);
	const pair *from = __builtin_assume_aligned(a, 16);
	for (uint32_t c = 0; c < B; c += 2) {
		pair sum = load_pair(b + c);
		for (uint32_t r = 0; r < B / 2; r++) {
			pair left = from[3 * c + r], right = from[3 * c + 3 + r];
			pair first = { left[0], right[0] }, second = { left[1], right[1] };
			pair by = { x[2 * r], x[2 * r] };
			pair next = { x[2 * r + 1], x[2 * r + 1] };
			sum -= first * by;
			sum -= second * next;
		}
		*(loose_pair *)(b + c) = sum;
	}
}

static void solve_spatial(const struct chol_block *self, double *b)
{
	VALIDATE(self->start[0] == 0);
	double own[B];
	for (uint32_t k = 0; k < self->size; k++) {
		double *at = b + (size_t)k * B;
		const double *block = self->value + (size_t)self->start[k] * BB;
		memcpy(own, at, sizeof own);
		memset(at, 0, sizeof own);
		for (uint32_t c = 0; c < B; c++)
			for (uint32_t r = c; r < B; r++)
				at[r] += block[c * B + r] * own[c];
		for (uint32_t p = self->start[k] + 1; p < self->start[k + 1]; p++)
			subtract_block(b + (size_t)self->row[p] * B, self->value + (size_t)p * BB,
				       at);
	}
	for (uint32_t k = self->size; k-- > 0;) {
		double *at = b + (size_t)k * B;
		memcpy(own, at, sizeof own);
		for (uint32_t p = self->start[k] + 1; p < self->start[k + 1]; p++)
			subtract_transposed_block(own, self->value + (size_t)p * BB,
						  b + (size_t)self->row[p] * B);
		const double *block = self->value + (size_t)self->start[k] * BB;
		for (uint32_t c = 0; c < B; c++) {
			at[c] = 0;
			for (uint32_t r = c; r < B; r++)
				at[c] += block[c * B + r] * own[r];
		}
	}
}

/* The unknowns that a planar problem has: along x and y, and about z. */
static const uint8_t PLANAR[P] = { 0, 1, 5 };

static inline void take_planar(const double *b, double own[P])
{
	for (uint32_t c = 0; c < P; c++)
		own[c] = b[PLANAR[c]];
}

static void solve_planar(const struct chol_block *self, double *b)
{
	VALIDATE(self->start[0] == 0);
	double own[P], at[P], to[P];
	for (uint32_t k = 0; k < self->size; k++) {
		const double *block = self->value + (size_t)self->start[k] * PP;
		take_planar(b + (size_t)k * B, own);
		memset(at, 0, sizeof at);
		for (uint32_t c = 0; c < P; c++)
			for (uint32_t r = c; r < P; r++)
				at[r] += block[c * P + r] * own[c];
		for (uint32_t c = 0; c < P; c++)
			b[(size_t)k * B + PLANAR[c]] = at[c];
		for (uint32_t p = self->start[k] + 1; p < self->start[k + 1]; p++) {
			double *place = b + (size_t)self->row[p] * B;
			const double *a = self->value + (size_t)p * PP;
			take_planar(place, to);
			for (uint32_t c = 0; c < P; c++)
				for (uint32_t r = 0; r < P; r++)
					to[r] -= a[c * P + r] * at[c];
			for (uint32_t c = 0; c < P; c++)
				place[PLANAR[c]] = to[c];
		}
	}
	for (uint32_t k = self->size; k-- > 0;) {
		take_planar(b + (size_t)k * B, own);
		for (uint32_t p = self->start[k] + 1; p < self->start[k + 1]; p++) {
			const double *a = self->value + (size_t)p * PP;
			take_planar(b + (size_t)self->row[p] * B, to);
			for (uint32_t c = 0; c < P; c++)
				for (uint32_t r = 0; r < P; r++)
					own[c] -= a[c * P + r] * to[r];
		}
		const double *block = self->value + (size_t)self->start[k] * PP;
		for (uint32_t c = 0; c < P; c++) {
			double sum = 0;
			for (uint32_t r = c; r < P; r++)
				sum += block[c * P + r] * own[r];
			b[(size_t)k * B + PLANAR[c]] = sum;
		}
	}
}

void chol_block_solve(const struct chol_block *self, double *b)
{
	ASSERT(b != NULL);
	if (self->planar)
		solve_planar(self, b);
	else
		solve_spatial(self, b);
}
