/* eigen3.c: eigen.h for 3×3, with right-handed axes. */
#include "server/engine/linalg/eigen3.h"

#include "server/engine/linalg/eigen.h"

struct eigen3 eigen3_symmetric(mat3 m)
{
	const double lower[3][3] = {
		{ m.x.x, 0, 0 },
		{ m.x.y, m.y.y, 0 },
		{ m.x.z, m.y.z, m.z.z },
	};
	struct eigen of = eigen_symmetric(&lower[0][0], 3, 3);
	struct eigen3 result = { .residue = of.residue, .sweeps = of.sweeps };
	for (uint32_t i = 0; i < 3; i++) {
		vec3_set(&result.values, i, of.values[i]);
		for (uint32_t k = 0; k < 3; k++)
			mat3_set(&result.vectors, k, i, of.vectors[k][i]);
	}
	ASSERT(!(result.values.x < result.values.y) && !(result.values.y < result.values.z));
	if (mat3_det(result.vectors) < 0)
		result.vectors.z = vec3_negate(result.vectors.z);
	return result;
}
