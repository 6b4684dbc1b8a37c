/* lu.c: Gaussian elimination, row by row, with exchanges. What goes wrong: a column without a pivot
 * (A singular to the last bit); nearly singular matrices pass and give large answers, which the
 * caller sees in its residual. */
#include "server/engine/linalg/lu.h"

#include "server/engine/linalg/dense.h"
#include "server/engine/math/scalar.h"

static void swap_rows(double *a, double *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		double t = a[i];
		a[i] = b[i];
		b[i] = t;
	}
}

/* The row at or below k with the largest entry in column k; the least index among equals. */
static uint32_t lu_pivot(const double *a, uint32_t n, uint32_t stride, uint32_t k)
{
	uint32_t best = k;
	double largest = scalar_abs(a[(size_t)k * stride + k]);
	for (uint32_t i = k + 1; i < n; i++) {
		double size = scalar_abs(a[(size_t)i * stride + k]);
		if (!(size > largest))
			continue;
		largest = size;
		best = i;
	}
	return best;
}

bool lu_factor(double *a, uint32_t n, uint32_t stride, uint32_t *pivots)
{
	for (uint32_t k = 0; k < n; k++) {
		uint32_t p = lu_pivot(a, n, stride, k);
		double *top = a + (size_t)k * stride;
		pivots[k] = p;
		if (p != k)
			swap_rows(top, a + (size_t)p * stride, n);
		double size = scalar_abs(top[k]);
		if (!(size > 0 && size <= SCALAR_MAX))
			return false;
		for (uint32_t i = k + 1; i < n; i++) {
			double *row = a + (size_t)i * stride;
			row[k] /= top[k];
			dense_mul_add(row + k + 1, top + k + 1, -row[k], n - k - 1);
		}
	}
	return true;
}

void lu_solve(const double *a, uint32_t n, uint32_t stride, const uint32_t *pivots, double *b)
{
	for (uint32_t k = 0; k < n; k++)
		swap_rows(b + k, b + pivots[k], pivots[k] != k);
	for (uint32_t i = 0; i < n; i++)
		b[i] -= dense_dot(a + (size_t)i * stride, b, i);
	for (uint32_t i = n; i-- > 0;) {
		const double *row = a + (size_t)i * stride;
		b[i] = (b[i] - dense_dot(row + i + 1, b + i + 1, n - i - 1)) / row[i];
	}
}

void lu_solve_transposed(const double *a, uint32_t n, uint32_t stride, const uint32_t *pivots,
			 double *b)
{
	for (uint32_t i = 0; i < n; i++) {
		const double *row = a + (size_t)i * stride;
		b[i] /= row[i];
		dense_mul_add(b + i + 1, row + i + 1, -b[i], n - i - 1);
	}
	for (uint32_t i = n; i-- > 0;)
		dense_mul_add(b, a + (size_t)i * stride, -b[i], i);
	for (uint32_t k = n; k-- > 0;)
		swap_rows(b + k, b + pivots[k], pivots[k] != k);
}
