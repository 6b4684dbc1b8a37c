/* ldl_sparse.c: row by row over the elimination tree.
 *
 * Row k of L has an entry in column i exactly when i is met on the way up the tree from an entry of
 * A's column k (parent[i]: the first row below i that L's column i reaches). The numbers of row k
 * come from a sparse triangular solve along these columns, each taken after those below it in the
 * tree. The order of all sums is that of columns and of the tree: a function of the pattern alone.
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

void ldl_sparse_factor(struct ldl_sparse *self, const uint32_t *start, const uint32_t *row,
		       const double *value, double pivot_min)
{
	ASSERT(self->start[self->size] <= self->entries_max);
	self->helped = 0;
	for (uint32_t k = 0; k < self->size; k++) {
		self->flag[k] = NONE;
		self->work[k] = 0;
	}
	for (uint32_t k = 0; k < self->size; k++) {
		self->count[k] = 0;
		uint32_t top = reach(self, k, start, row, value);
		double own = self->work[k], pivot = own;
		self->work[k] = 0;
		for (; top < self->size; top++) {
			uint32_t i = self->pattern[top], end = self->start[i] + self->count[i];
			double y = self->work[i];
			self->work[i] = 0;
			for (uint32_t p = self->start[i]; p < end; p++)
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
}

void ldl_sparse_solve(const struct ldl_sparse *self, double *b)
{
	for (uint32_t j = 0; j < self->size; j++)
		for (uint32_t p = self->start[j]; p < self->start[j + 1]; p++)
			b[self->row[p]] -= self->value[p] * b[j];
	for (uint32_t j = self->size; j-- > 0;) {
		b[j] /= self->diagonal[j];
		for (uint32_t p = self->start[j]; p < self->start[j + 1]; p++)
			b[j] -= self->value[p] * b[self->row[p]];
	}
}
