/* See lu.h. Gaussian elimination, row by row, with row exchanges. It fails if a column has no pivot (A
 * is exactly singular). A nearly singular matrix gives a large solution, which shows in the caller's
 * residual. For systems that are regularly singular (redundant contacts that all stick)
 * lu_solve_ranked exchanges columns as well and stops at the rank. */
#include "server/engine/linalg/lu.h"

#include "server/engine/linalg/dense.h"
#include "server/engine/math/scalar.h"

/* Relative to the largest entry of A: a smaller pivot is the rounding of a dependent row. A smaller
 * limit divides by that rounding; a larger one drops independent rows. */
#define RANK_PIVOT_MIN 0x1p-40

static void swap_rows(double *a, double *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		double t = a[i];
		a[i] = b[i];
		b[i] = t;
	}
}

/* The row at or below k with the largest entry in column k; the least index among equals. */
static uint32_t find_pivot_row(const double *a, uint32_t n, uint32_t stride, uint32_t k)
{
	ASSERT(k < n);
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

#ifdef CAIRN_VALIDATE
static bool exchanges_are_below(const uint32_t *pivots, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		if (pivots[k] < k || pivots[k] >= n)
			return false;
	return true;
}
#endif

bool lu_factor(double *a, uint32_t n, uint32_t stride, uint32_t *pivots)
{
	ASSERT(stride >= n);
	for (uint32_t k = 0; k < n; k++) {
		uint32_t p = find_pivot_row(a, n, stride, k);
		double *top = a + (size_t)k * stride;
		ASSERT(p >= k && p < n);
		pivots[k] = p;
		if (p != k)
			swap_rows(top, a + (size_t)p * stride, n);
		double size = scalar_abs(top[k]);
		if (!(size > 0 && size <= SCALAR_MAX))
			return false;
		/* Trailing zeros of the pivot row are skipped; the contacts of a chain have many. */
		uint32_t end = n;
		while (end > k + 1 && top[end - 1] == 0)
			end--;
		for (uint32_t i = k + 1; i < n; i++) {
			double *row = a + (size_t)i * stride;
			if (row[k] == 0)
				continue;
			row[k] /= top[k];
			dense_mul_add(row + k + 1, top + k + 1, -row[k], end - k - 1);
		}
	}
	return true;
}

void lu_solve(const double *a, uint32_t n, uint32_t stride, const uint32_t *pivots, double *b)
{
	ASSERT(stride >= n);
	VALIDATE(exchanges_are_below(pivots, n));
	for (uint32_t k = 0; k < n; k++)
		swap_rows(b + k, b + pivots[k], pivots[k] != k);
	for (uint32_t i = 0; i < n; i++)
		b[i] -= dense_dot(a + (size_t)i * stride, b, i);
	for (uint32_t i = n; i-- > 0;) {
		const double *row = a + (size_t)i * stride;
		b[i] = (b[i] - dense_dot(row + i + 1, b + i + 1, n - i - 1)) / row[i];
	}
}

/* The largest entry of the block from (k, k) into *row and *column, the first among equals by rows. */
static double find_largest_entry(const double *a, uint32_t n, uint32_t stride, uint32_t k,
				 uint32_t *row, uint32_t *column)
{
	double largest = 0;
	*row = *column = k;
	for (uint32_t i = k; i < n; i++)
		for (uint32_t j = k; j < n; j++) {
			double size = scalar_abs(a[(size_t)i * stride + j]);
			if (!(size > largest))
				continue;
			largest = size;
			*row = i;
			*column = j;
		}
	return largest;
}

static void swap_columns(double *a, uint32_t n, uint32_t stride, uint32_t j, uint32_t k)
{
	for (uint32_t i = 0; i < n && j != k; i++) {
		double t = a[(size_t)i * stride + j];
		a[(size_t)i * stride + j] = a[(size_t)i * stride + k];
		a[(size_t)i * stride + k] = t;
	}
}

uint32_t lu_solve_ranked(double *a, uint32_t n, uint32_t stride, uint32_t *columns, double *b)
{
	ASSERT(stride >= n);
	uint32_t rank = 0;
	double first = 0;
	for (; rank < n; rank++) {
		uint32_t row, column;
		double size = find_largest_entry(a, n, stride, rank, &row, &column);
		first = rank == 0 ? size : first;
		if (!(size > RANK_PIVOT_MIN * first && size <= SCALAR_MAX))
			break;
		double *top = a + (size_t)rank * stride;
		swap_rows(top, a + (size_t)row * stride, row != rank ? n : 0);
		swap_rows(b + rank, b + row, row != rank);
		swap_columns(a, n, stride, rank, column);
		columns[rank] = column;
		for (uint32_t i = rank + 1; i < n; i++) {
			double *below = a + (size_t)i * stride, factor = below[rank] / top[rank];
			dense_mul_add(below + rank + 1, top + rank + 1, -factor, n - rank - 1);
			b[i] -= factor * b[rank];
		}
	}
	ASSERT(rank <= n);
	dense_zero(b + rank, n - rank);
	for (uint32_t i = rank; i-- > 0;) {
		const double *row = a + (size_t)i * stride;
		b[i] = (b[i] - dense_dot(row + i + 1, b + i + 1, rank - i - 1)) / row[i];
	}
	for (uint32_t k = rank; k-- > 0;)
		swap_rows(b + k, b + columns[k], columns[k] != k);
	return rank;
}
