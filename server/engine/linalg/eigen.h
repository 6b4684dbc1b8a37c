/* eigen.h: axes and principal values of a small symmetric matrix (ch1-3 G-05). */
#ifndef CAIRN_ENGINE_LINALG_EIGEN_H
#define CAIRN_ENGINE_LINALG_EIGEN_H

#include "server/base/base.h"

enum { EIGEN_MAX = 6 };

struct eigen {
	uint32_t count;
	double values[EIGEN_MAX]; /* descending; equal ones in the order of their axes */
	double vectors[EIGEN_MAX][EIGEN_MAX]; /* columns: the axes; orthonormal */
	double residue;			      /* largest off-diagonal entry left, absolute */
	uint32_t sweeps;
};

/* Of `a`, count × count (1 … EIGEN_MAX) by rows of `stride`, of which only the lower triangle is read. A
 * matrix with entries that are not finite gives zero values and the identity with residue infinite. */
struct eigen eigen_symmetric(const double *a, uint32_t count, uint32_t stride);

#endif
