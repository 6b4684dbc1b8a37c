/* See ldl.h. L D Lᵀ row by row: row i of L D is solved from the rows above, then divided by D. Without
 * pivoting the factor exists for quasi-definite matrices in every order (Vanderbei 1995); for
 * others the factorisation stops at a small pivot. */
#include "server/engine/linalg/ldl.h"

#include "server/engine/linalg/dense.h"
#include "server/engine/math/scalar.h"

bool ldl_factor(double *a, uint32_t n, uint32_t stride, double pivot_min, double *scratch)
{
	ASSERT(stride >= n);
	ASSERT(pivot_min >= 0);
	for (uint32_t i = 0; i < n; i++) {
		double *row = a + (size_t)i * stride;
		double pivot = row[i];
		/* scratch is the row of L D, row becomes the row of L. */
		for (uint32_t j = 0; j < i; j++) {
			const double *above = a + (size_t)j * stride;
			scratch[j] = row[j] - dense_dot(above, scratch, j);
		}
		for (uint32_t j = 0; j < i; j++) {
			row[j] = scratch[j] / a[(size_t)j * stride + j];
			pivot -= row[j] * scratch[j];
		}
		double size = scalar_abs(pivot);
		if (!(size > pivot_min && size <= SCALAR_MAX))
			return false;
		row[i] = pivot;
	}
	return true;
}

void ldl_solve(const double *a, uint32_t n, uint32_t stride, double *b)
{
	ASSERT(stride >= n);
	for (uint32_t i = 0; i < n; i++)
		b[i] -= dense_dot(a + (size_t)i * stride, b, i);
	for (uint32_t i = 0; i < n; i++)
		b[i] /= a[(size_t)i * stride + i];
	for (uint32_t i = n; i-- > 0;)
		dense_mul_add(b, a + (size_t)i * stride, -b[i], i);
}

uint32_t ldl_negative(const double *a, uint32_t n, uint32_t stride)
{
	ASSERT(stride >= n);
	uint32_t count = 0;
	for (uint32_t i = 0; i < n; i++)
		count += a[(size_t)i * stride + i] < 0;
	ASSERT(count <= n);
	return count;
}
