/* ldl_sparse.c: row by row over the elimination tree.
 *
 * Row k of L has an entry in column i exactly when i is met on the way up the tree from an entry of
 * A's column k (parent[i]: the first row below i that L's column i reaches). The numbers of row k
 * come from a sparse triangular solve along these columns, each taken after those below it in the
 * tree. The order of all sums is that of columns and of the tree: a function of the pattern alone.
 *
 * Changing row k: removed, its column l d lᵀ of L is given back to the rows below, an update of
 * rank one; inserted, L's row k is the sparse solve of factoring, its column what is left over, and
 * the rows below are downdated by it (method C1 of Gill, Golub, Murray, Saunders 1974, along the way
 * up the tree).
 * What goes wrong: a matrix that is not definite to rounding has a pivot that is not positive; it
 * is replaced and counted.
 */
#include "server/engine/linalg/ldl_sparse.h"

#include "server/engine/math/scalar.h"

#define NONE UINT32_MAX

size_t ldl_sparse_analyse(struct ldl_sparse *self, uint32_t size, const uint32_t *start,
			  const uint32_t *row)
{
	size_t entries = 0;
	self->size = size;
	for (uint32_t k = 0; k < size; k++) {
		self->parent[k] = NONE;
		self->flag[k] = k;
		self->count[k] = 0;
		for (uint32_t p = start[k]; p < start[k + 1]; p++)
			for (uint32_t i = row[p]; self->flag[i] != k; i = self->parent[i]) {
				if (self->parent[i] == NONE)
					self->parent[i] = k;
				self->count[i]++;
				self->flag[i] = k;
			}
	}
	for (uint32_t k = 0; k < size; k++) {
		self->start[k] = (uint32_t)MIN_OF(entries, UINT32_MAX);
		entries += self->count[k];
	}
	self->start[size] = (uint32_t)MIN_OF(entries, UINT32_MAX);
	return entries;
}

/* Scatters column k of A and lists its row of L, children before parents; where the list begins. */
static uint32_t reach(struct ldl_sparse *self, uint32_t k, const uint32_t *start,
		      const uint32_t *row, const double *value)
{
	uint32_t top = self->size;
	self->flag[k] = k;
	for (uint32_t p = start[k]; p < start[k + 1]; p++) {
		uint32_t length = 0, i = row[p];
		self->work[i] += value[p];
		for (; self->flag[i] != k; i = self->parent[i]) {
			self->pattern[length++] = i;
			self->flag[i] = k;
		}
		while (length > 0)
			self->pattern[--top] = self->pattern[--length];
	}
	return top;
}

static void factor_row(struct ldl_sparse *self, uint32_t k, uint32_t top, double pivot_min)
{
	double own = self->work[k], pivot = own;
	self->work[k] = 0;
	for (; top < self->size; top++) {
		uint32_t i = self->pattern[top], end = self->start[i] + self->count[i];
		double y = self->work[i];
		self->work[i] = 0;
		for (uint32_t p = self->start[i]; y != 0 && p < end; p++)
			self->work[self->row[p]] -= self->value[p] * y;
		double l = y / self->diagonal[i];
		pivot -= l * y;
		self->row[end] = k;
		self->value[end] = l;
		self->count[i]++;
	}
	if (!(pivot > pivot_min * scalar_abs(own))) {
		pivot = own != 0 ? scalar_abs(own) : 1;
		self->helped++;
	}
	self->diagonal[k] = pivot;
}

void ldl_sparse_factor_part(struct ldl_sparse *self, uint32_t first, uint32_t end,
			    const uint32_t *start, const uint32_t *row, const double *value,
			    double pivot_min)
{
	ASSERT(self->start[self->size] <= self->entries_max && end <= self->size);
	self->helped = 0;
	for (uint32_t k = first; k < end; k++) {
		self->flag[k] = NONE;
		self->work[k] = 0;
	}
	for (uint32_t k = first; k < end; k++) {
		self->count[k] = 0;
		factor_row(self, k, reach(self, k, start, row, value), pivot_min);
	}
	for (uint32_t k = first; k < end; k++)
		self->flag[k] = NONE;
}

void ldl_sparse_factor(struct ldl_sparse *self, const uint32_t *start, const uint32_t *row,
		       const double *value, double pivot_min)
{
	ldl_sparse_factor_part(self, 0, self->size, start, row, value, pivot_min);
}

void ldl_sparse_solve_part(const struct ldl_sparse *self, uint32_t first, uint32_t end, double *b)
{
	for (uint32_t j = first; j < end; j++)
		for (uint32_t p = self->start[j]; b[j] != 0 && p < self->start[j + 1]; p++)
			b[self->row[p]] -= self->value[p] * b[j];
	for (uint32_t j = end; j-- > first;) {
		double sum = b[j] / self->diagonal[j];
		for (uint32_t p = self->start[j]; p < self->start[j + 1]; p++)
			sum -= self->value[p] * b[self->row[p]];
		b[j] = sum;
	}
}

void ldl_sparse_solve(const struct ldl_sparse *self, double *b)
{
	ldl_sparse_solve_part(self, 0, self->size, b);
}

/* ---- changing rows ------------------------------------------------------------------------------
 */

/* Where column i keeps row k: rows ascend. */
static uint32_t entry_of(const struct ldl_sparse *self, uint32_t i, uint32_t k)
{
	uint32_t low = self->start[i], high = self->start[i + 1];
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (self->row[middle] < k)
			low = middle + 1;
		else
			high = middle;
	}
	ASSERT(low < self->start[i + 1] && self->row[low] == k);
	return low;
}

/* Lists row k of L as reach does, and leaves the flags free. */
static uint32_t row_of_factor(struct ldl_sparse *self, uint32_t k, const uint32_t *start,
			      const uint32_t *row)
{
	uint32_t top = self->size;
	self->flag[k] = k;
	for (uint32_t p = start[k]; p < start[k + 1]; p++) {
		uint32_t length = 0;
		for (uint32_t i = row[p]; self->flag[i] != k; i = self->parent[i]) {
			self->pattern[length++] = i;
			self->flag[i] = k;
		}
		while (length > 0)
			self->pattern[--top] = self->pattern[--length];
	}
	for (uint32_t t = top; t < self->size; t++)
		self->flag[self->pattern[t]] = NONE;
	self->flag[k] = NONE;
	return top;
}

/* A += alpha w wᵀ for the w in work, which lies on the way from j up; w is lost. */
static bool change(struct ldl_sparse *self, uint32_t j, double alpha, double pivot_min)
{
	bool good = true;
	for (; j != NONE; j = self->parent[j]) {
		double w = self->work[j], old = self->diagonal[j];
		self->work[j] = 0;
		if (w == 0)
			continue;
		double now = old + alpha * w * w;
		if (!(now > pivot_min * old)) {
			good = false;
			now = old;
		}
		double beta = alpha * w / now;
		alpha *= old / now;
		self->diagonal[j] = now;
		for (uint32_t p = self->start[j]; p < self->start[j + 1]; p++) {
			double *rest = &self->work[self->row[p]], l = self->value[p];
			*rest -= w * l;
			self->value[p] = l + beta * *rest;
		}
	}
	return good;
}

void ldl_sparse_remove(struct ldl_sparse *self, uint32_t k, const uint32_t *start,
		       const uint32_t *row)
{
	for (uint32_t t = row_of_factor(self, k, start, row); t < self->size; t++)
		self->value[entry_of(self, self->pattern[t], k)] = 0;
	for (uint32_t p = self->start[k]; p < self->start[k + 1]; p++) {
		self->work[self->row[p]] = self->value[p];
		self->value[p] = 0;
	}
	double d = self->diagonal[k];
	self->diagonal[k] = 1;
	/* An update only adds: it cannot fail. */
	(void)change(self, self->parent[k], d, 0);
}

bool ldl_sparse_insert(struct ldl_sparse *self, uint32_t k, const uint32_t *start,
		       const uint32_t *row, double pivot_min)
{
	double own = self->work[k];
	for (uint32_t t = row_of_factor(self, k, start, row); t < self->size; t++) {
		uint32_t i = self->pattern[t];
		double y = self->work[i];
		self->work[i] = 0;
		if (y == 0)
			continue;
		for (uint32_t p = self->start[i]; p < self->start[i + 1]; p++)
			self->work[self->row[p]] -= self->value[p] * y;
		self->work[k] -= y / self->diagonal[i] * y;
		self->value[entry_of(self, i, k)] = y / self->diagonal[i];
	}
	double pivot = self->work[k];
	bool good = pivot > pivot_min * scalar_abs(own);
	self->work[k] = 0;
	pivot = good ? pivot : 1;
	self->diagonal[k] = pivot;
	for (uint32_t p = self->start[k]; p < self->start[k + 1]; p++) {
		double *rest = &self->work[self->row[p]];
		*rest /= pivot;
		self->value[p] = *rest;
	}
	return change(self, self->parent[k], -pivot, pivot_min) && good;
}
