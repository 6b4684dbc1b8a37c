/* dense.c: the obvious loops, in the order dense.h promises. */
#include "server/engine/linalg/dense.h"

#include "server/engine/math/scalar.h"

double dense_dot(const double *x, const double *y, uint32_t n)
{
	double sum = 0;
	for (uint32_t i = 0; i < n; i++)
		sum += x[i] * y[i];
	return sum;
}

void dense_mul_add(double *y, const double *x, double s, uint32_t n)
{
	VALIDATE(n == 0 || y == x || y + n <= x || x + n <= y);
	uint32_t i = 0;
	for (; i + 4 <= n; i += 4) {
		*(dense_pair *)(y + i) += *(const dense_pair *)(x + i) * s;
		*(dense_pair *)(y + i + 2) += *(const dense_pair *)(x + i + 2) * s;
	}
	for (; i < n; i++)
		y[i] += s * x[i];
}

void dense_zero(double *y, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		y[i] = 0;
}

void dense_copy(double *y, const double *x, uint32_t n)
{
	VALIDATE(n == 0 || y <= x || y >= x + n);
	for (uint32_t i = 0; i < n; i++)
		y[i] = x[i];
}

double dense_max_abs(const double *x, uint32_t n)
{
	double largest = 0;
	for (uint32_t i = 0; i < n; i++) {
		double size = scalar_abs(x[i]);
		if (!(size <= largest))
			largest = size;
		if (scalar_is_nan(largest))
			return largest;
	}
	VALIDATE(largest >= 0);
	return largest;
}

void dense_mul_vec(const double *a, uint32_t rows, uint32_t columns, uint32_t stride,
		   const double *x, double *y)
{
	VALIDATE(rows < 2 || stride >= columns);
	VALIDATE(rows == 0 || columns == 0 || x != y);
	for (uint32_t i = 0; i < rows; i++)
		y[i] = dense_dot(a + (size_t)i * stride, x, columns);
}

void dense_transposed_mul_vec(const double *a, uint32_t rows, uint32_t columns, uint32_t stride,
			      const double *x, double *y)
{
	VALIDATE(rows < 2 || stride >= columns);
	VALIDATE(rows == 0 || columns == 0 || x != y);
	dense_zero(y, columns);
	for (uint32_t i = 0; i < rows; i++)
		dense_mul_add(y, a + (size_t)i * stride, x[i], columns);
}
