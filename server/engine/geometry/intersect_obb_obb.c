/* intersect_obb_obb.c: ch1-3 G-18, table 2.1, all nine pairs of edges.
 *
 * In a's frame: T is the vector between the centres, R holds b's axes. An axis separates the boxes
 * iff the projection of T on it is longer than the sum of the half projections. |R| is enlarged by
 * SLACK: the product of two nearly parallel axes is nearly zero, and both sides of its comparison
 * are then rounding errors, which the slack exceeds. T carries the rounding of the centres, which
 * `slack` covers.
 */
#include "server/engine/geometry/intersect_obb_obb.h"

#define SLACK 0x1p-49 /* eight units of rounding of a product of unit vectors */

uint32_t intersect_obb_obb_axis(const struct obb *a, const struct obb *b)
{
	VALIDATE(a->half.x >= 0 && a->half.y >= 0 && a->half.z >= 0);
	VALIDATE(b->half.x >= 0 && b->half.y >= 0 && b->half.z >= 0);
	mat3 rotation = mat3_transposed_mul(a->axes, b->axes);
	vec3 between = mat3_transposed_mul_vec(a->axes, vec3_sub(b->centre, a->centre));
	/* T, half extents, R and |R| + SLACK. */
	double t[3] = { 0 }, ha[3] = { 0 }, hb[3] = { 0 }, r[3][3], size[3][3];
	for (uint32_t i = 0; i < 3; i++) {
		t[i] = vec3_get(between, i);
		ha[i] = vec3_get(a->half, i);
		hb[i] = vec3_get(b->half, i);
		for (uint32_t j = 0; j < 3; j++) {
			r[i][j] = mat3_get(rotation, i, j);
			size[i][j] = scalar_abs(r[i][j]) + SLACK;
		}
	}
	/* m: rounding of the centres. */
	vec3 far = vec3_add(vec3_abs(a->centre), vec3_abs(b->centre));
	double slack = 4 * SCALAR_EPSILON * (far.x + far.y + far.z);

	/* Face normals of a. */
	for (uint32_t i = 0; i < 3; i++) {
		double reach = hb[0] * size[i][0] + hb[1] * size[i][1] + hb[2] * size[i][2];
		if (scalar_abs(t[i]) > ha[i] + reach + slack)
			return i;
	}
	/* Face normals of b. */
	for (uint32_t j = 0; j < 3; j++) {
		double along = t[0] * r[0][j] + t[1] * r[1][j] + t[2] * r[2][j];
		double reach = ha[0] * size[0][j] + ha[1] * size[1][j] + ha[2] * size[2][j];
		if (scalar_abs(along) > hb[j] + reach + slack)
			return 3 + j;
	}
	/* Products of edges. */
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t i1 = (i + 1) % 3, i2 = (i + 2) % 3;
		/* The rounding of T is of the size of T. */
		double rounding = SLACK * (scalar_abs(t[i1]) + scalar_abs(t[i2]));
		for (uint32_t j = 0; j < 3; j++) {
			uint32_t j1 = (j + 1) % 3, j2 = (j + 2) % 3;
			double along = t[i2] * r[i1][j] - t[i1] * r[i2][j];
			double reach = ha[i1] * size[i2][j] + ha[i2] * size[i1][j] +
				       hb[j1] * size[i][j2] + hb[j2] * size[i][j1];
			if (scalar_abs(along) > reach + rounding + slack)
				return 6 + 3 * i + j;
		}
	}
	return OBB_OVERLAP;
}
