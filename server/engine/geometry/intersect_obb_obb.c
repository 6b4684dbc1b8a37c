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

struct obb_pair {
	double t[3], a[3], b[3];
	double r[3][3], size[3][3]; /* R and |R| + SLACK */
	double slack;		    /* m: rounding of the centres */
};

static void obb_pair_init(struct obb_pair *self, const struct obb *a, const struct obb *b)
{
	mat3 r = mat3_transposed_mul(a->axes, b->axes);
	vec3 t = mat3_transposed_mul_vec(a->axes, vec3_sub(b->centre, a->centre));
	for (uint32_t i = 0; i < 3; i++) {
		self->t[i] = vec3_get(t, i);
		self->a[i] = vec3_get(a->half, i);
		self->b[i] = vec3_get(b->half, i);
		for (uint32_t j = 0; j < 3; j++) {
			self->r[i][j] = mat3_get(r, i, j);
			self->size[i][j] = scalar_abs(self->r[i][j]) + SLACK;
		}
	}
	VALIDATE(a->half.x >= 0 && a->half.y >= 0 && a->half.z >= 0);
	VALIDATE(b->half.x >= 0 && b->half.y >= 0 && b->half.z >= 0);
	vec3 far = vec3_add(vec3_abs(a->centre), vec3_abs(b->centre));
	self->slack = 4 * SCALAR_EPSILON * (far.x + far.y + far.z);
}

static bool separated_by_a(const struct obb_pair *s, uint32_t i)
{
	double reach = s->b[0] * s->size[i][0] + s->b[1] * s->size[i][1] + s->b[2] * s->size[i][2];
	return scalar_abs(s->t[i]) > s->a[i] + reach + s->slack;
}

static bool separated_by_b(const struct obb_pair *s, uint32_t j)
{
	double t = s->t[0] * s->r[0][j] + s->t[1] * s->r[1][j] + s->t[2] * s->r[2][j];
	double reach = s->a[0] * s->size[0][j] + s->a[1] * s->size[1][j] + s->a[2] * s->size[2][j];
	return scalar_abs(t) > s->b[j] + reach + s->slack;
}

static bool separated_by_edges(const struct obb_pair *s, uint32_t i, uint32_t j)
{
	VALIDATE(i < 3 && j < 3);
	uint32_t i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
	double t = s->t[i2] * s->r[i1][j] - s->t[i1] * s->r[i2][j];
	double reach = s->a[i1] * s->size[i2][j] + s->a[i2] * s->size[i1][j] +
		       s->b[j1] * s->size[i][j2] + s->b[j2] * s->size[i][j1];
	/* T's own rounding is of the size of T. */
	double rounding = SLACK * (scalar_abs(s->t[i1]) + scalar_abs(s->t[i2]));
	return scalar_abs(t) > reach + rounding + s->slack;
}

uint32_t intersect_obb_obb_axis(const struct obb *a, const struct obb *b)
{
	struct obb_pair s;
	obb_pair_init(&s, a, b);
	for (uint32_t i = 0; i < 3; i++)
		if (separated_by_a(&s, i))
			return i;
	for (uint32_t j = 0; j < 3; j++)
		if (separated_by_b(&s, j))
			return 3 + j;
	for (uint32_t i = 0; i < 3; i++)
		for (uint32_t j = 0; j < 3; j++)
			if (separated_by_edges(&s, i, j))
				return 6 + 3 * i + j;
	return OBB_OVERLAP;
}
