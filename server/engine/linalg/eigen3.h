/* eigen3.h: axes and principal values of a symmetric 3×3 matrix (ch1-3 G-05). */
#ifndef CAIRN_ENGINE_LINALG_EIGEN3_H
#define CAIRN_ENGINE_LINALG_EIGEN3_H

#include "server/engine/math/mat3.h"

struct eigen3 {
	vec3 values;	/* descending; equal ones in the order of their axes */
	mat3 vectors;	/* columns: the axes; orthonormal, determinant +1 */
	double residue; /* largest off-diagonal entry left, absolute */
	uint32_t sweeps;
};

/* Only the lower triangle of `a` (columns below the diagonal) is read. A matrix with entries that
 * are not finite gives zero values and identity axes with residue infinite. */
struct eigen3 eigen3_symmetric(mat3 a);

#endif
