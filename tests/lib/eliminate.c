/* See eliminate.h. */
#include "tests/lib/eliminate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void swap(double *a, double *b)
{
	double kept = *a;
	*a = *b;
	*b = kept;
}

/* Swaps the largest entry of the remaining block to (rank, rank); returns it. */
static double pivot(uint32_t n, double *a, double *b, uint32_t rank, uint32_t *columns)
{
	uint32_t row = rank, column = rank;
	for (uint32_t i = rank; i < n; i++)
		for (uint32_t j = rank; j < n; j++)
			if (fabs(a[i * n + j]) > fabs(a[row * n + column])) {
				row = i;
				column = j;
			}
	for (uint32_t j = 0; j < n; j++)
		swap(&a[rank * n + j], &a[row * n + j]);
	swap(&b[rank], &b[row]);
	for (uint32_t i = 0; i < n; i++)
		swap(&a[i * n + rank], &a[i * n + column]);
	uint32_t name = columns[rank];
	columns[rank] = columns[column];
	columns[column] = name;
	return a[rank * n + rank];
}

uint32_t eliminate(uint32_t n, double *a, double *b, double least)
{
	uint32_t *columns = malloc((n + 1) * sizeof *columns), rank = 0;
	double *x = calloc(n + 1, sizeof *x), first = 0;
	if (columns == NULL || x == NULL) {
		free(columns);
		free(x);
		return UINT32_MAX;
	}
	for (uint32_t i = 0; i < n; i++)
		columns[i] = i;
	for (; rank < n; rank++) {
		double found = fabs(pivot(n, a, b, rank, columns));
		first = rank == 0 ? found : first;
		if (!(found > least * first))
			break;
		for (uint32_t i = rank + 1; i < n; i++) {
			double factor = a[i * n + rank] / a[rank * n + rank];
			for (uint32_t j = rank; j < n; j++)
				a[i * n + j] -= factor * a[rank * n + j];
			b[i] -= factor * b[rank];
		}
	}
	for (uint32_t k = rank; k-- > 0;) {
		for (uint32_t j = k + 1; j < rank; j++)
			b[k] -= a[k * n + j] * x[columns[j]];
		x[columns[k]] = b[k] / a[k * n + k];
	}
	memcpy(b, x, n * sizeof *x);
	free(columns);
	free(x);
	return rank;
}
