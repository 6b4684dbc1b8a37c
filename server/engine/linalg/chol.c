/* chol.c: Cholesky's factor, row by row: l_ij follows from the rows above.
 * What goes wrong: pivots that are not positive; see chol.h.
 */
#include "server/engine/linalg/chol.h"

#include "server/engine/linalg/dense.h"
#include "server/engine/math/scalar.h"

static double *chol_row(const struct chol *self, uint32_t i)
{
	VALIDATE(i < self->capacity);
	return self->lower + (size_t)i * self->capacity;
}

/* Whether a pivot has a square root that can be divided by. */
static bool chol_good(double pivot)
{
	return pivot > 0 && pivot <= SCALAR_MAX;
}

void chol_init(struct chol *self, double *storage, uint32_t capacity)
{
	ASSERT(capacity == 0 || storage != NULL);
	*self = (struct chol){ storage, capacity, 0 };
}

bool chol_append(struct chol *self, const double *row, double diagonal)
{
	ASSERT(self->size < self->capacity);
	uint32_t n = self->size;
	double *l = chol_row(self, n);
	for (uint32_t j = 0; j < n; j++) {
		const double *above = chol_row(self, j);
		l[j] = (row[j] - dense_dot(above, l, j)) / above[j];
	}
	double pivot = diagonal - dense_dot(l, l, n);
	if (!chol_good(pivot))
		return false;
	l[n] = scalar_sqrt(pivot);
	ASSERT(l[n] > 0 && l[n] <= SCALAR_MAX);
	self->size = n + 1;
	return true;
}

bool chol_factor(struct chol *self, const double *a, uint32_t size, uint32_t stride)
{
	ASSERT(stride >= size);
	ASSERT(size <= self->capacity);
	self->size = 0;
	/* Each entry of A's row i is read just before l overwrites it, so `a` may be the storage. */
	for (uint32_t i = 0; i < size; i++) {
		const double *row = a + (size_t)i * stride;
		if (!chol_append(self, row, row[i]))
			return false;
	}
	return true;
}

void chol_solve_lower(const struct chol *self, double *b)
{
	VALIDATE(self->size <= self->capacity);
	for (uint32_t i = 0; i < self->size; i++) {
		const double *l = chol_row(self, i);
		b[i] = (b[i] - dense_dot(l, b, i)) / l[i];
	}
}

void chol_solve_upper(const struct chol *self, double *b)
{
	VALIDATE(self->size <= self->capacity);
	for (uint32_t i = self->size; i-- > 0;) {
		const double *l = chol_row(self, i);
		b[i] /= l[i];
		dense_mul_add(b, l, -b[i], i);
	}
}

void chol_solve(const struct chol *self, double *b)
{
	chol_solve_lower(self, b);
	chol_solve_upper(self, b);
}
