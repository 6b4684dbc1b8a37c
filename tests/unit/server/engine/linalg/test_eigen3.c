/* Eigenvalues and axes, checked by their defining properties (ch1-3 G-05). */
#include "server/engine/linalg/eigen3.h"

#include "server/engine/linalg/eigen.h"

#include <string.h>

#include "server/base/rng.h"
#include "tests/lib/check_main.h"

/* The largest absolute entry. */
static double size_of(mat3 a)
{
	double y = vec3_max_component(vec3_abs(a.y)), z = vec3_max_component(vec3_abs(a.z));
	return scalar_max(vec3_max_component(vec3_abs(a.x)), scalar_max(y, z));
}

/* Checks C = Q L Qᵀ, QᵀQ = 1, det Q = 1 and descending values; `size` is the scale of the
 * entries. */
static struct eigen3 expect_eigen(mat3 a, double size)
{
	struct eigen3 e = eigen3_symmetric(a);
	mat3 back = mat3_rotate_diagonal(e.vectors, e.values);
	ck_assert_double_le(size_of(mat3_sub(back, a)), 1e-14 * size);
	mat3 square = mat3_transposed_mul(e.vectors, e.vectors);
	ck_assert_double_le(size_of(mat3_sub(square, mat3_identity())), 1e-14);
	ck_assert_double_le(scalar_abs(mat3_det(e.vectors) - 1), 1e-14);
	ck_assert(e.values.x >= e.values.y && e.values.y >= e.values.z);
	ck_assert_double_eq(e.residue, 0);
	ck_assert_uint_le(e.sweeps, 6);
	return e;
}

START_TEST(a_diagonal_matrix_has_descending_values_and_right_handed_axes)
{
	struct eigen3 e = expect_eigen(mat3_diagonal(vec3_make(3, 1, 2)), 3);
	ck_assert(vec3_equal(e.values, vec3_make(3, 2, 1)));
	ck_assert_uint_eq(e.sweeps, 0);
	e = expect_eigen(mat3_zero(), 1);
	ck_assert(vec3_equal(e.values, vec3_zero()) && vec3_equal(e.vectors.x, vec3_axis(0)));
}
END_TEST

START_TEST(random_matrices_of_every_size_are_decomposed)
{
	struct rng rng = rng_seeded(check_seed());
	static const double sizes[] = { 1, 1e-300, 1e300, 1e-12, 1e150, 1e-160 };
	for (int n = 0; n < 6000; n++) {
		double c[6], s = sizes[n % 6];
		for (int i = 0; i < 6; i++)
			c[i] = rng_range(&rng, -s, s);
		mat3 a = { { c[0], c[1], c[2] }, { c[1], c[3], c[4] }, { c[2], c[4], c[5] } };
		expect_eigen(a, s);
		double trace = mat3_trace(a);
		vec3 values = eigen3_symmetric(a).values;
		ck_assert_double_le(scalar_abs(values.x + values.y + values.z - trace), 1e-14 * s);
	}
}
END_TEST

/* A = Q L Qᵀ and QᵀQ = 1 of every order. */
START_TEST(matrices_of_every_order_are_decomposed)
{
	struct rng rng = rng_seeded(check_seed());
	for (uint32_t n = 0; n < 3000; n++) {
		uint32_t order = 1 + n % EIGEN_MAX;
		double a[EIGEN_MAX][EIGEN_MAX + 1], size = n % 2 == 0 ? 1 : 1e200;
		memset(a, 0x5a, sizeof a);
		for (uint32_t i = 0; i < order; i++)
			for (uint32_t k = 0; k <= i; k++)
				a[i][k] =
					rng_below(&rng, 4) == 0 ? 0 : rng_range(&rng, -size, size);
		struct eigen e = eigen_symmetric(&a[0][0], order, EIGEN_MAX + 1);
		ck_assert_double_eq(e.residue, 0);
		ck_assert_uint_le(e.sweeps, 10);
		for (uint32_t i = 0; i < order; i++)
			for (uint32_t k = 0; k <= i; k++) {
				double back = 0, square = 0;
				for (uint32_t axis = 0; axis < order; axis++) {
					back += e.values[axis] * e.vectors[i][axis] *
						e.vectors[k][axis];
					square += e.vectors[axis][i] * e.vectors[axis][k];
				}
				ck_assert_double_le(scalar_abs(back - a[i][k]), 1e-14 * size);
				ck_assert_double_le(scalar_abs(square - (i == k)), 1e-14);
			}
		for (uint32_t i = 1; i < order; i++)
			ck_assert_double_ge(e.values[i - 1], e.values[i]);
		a[order - 1][0] = NAN;
		ck_assert(
			!scalar_is_finite(eigen_symmetric(&a[0][0], order, EIGEN_MAX + 1).residue));
	}
}
END_TEST

START_TEST(repeated_and_widely_spread_values_are_found)
{
	struct rng rng = rng_seeded(check_seed());
	static const vec3 spectra[] = { { 2, 2, 1 },	    { 2, 1, 1 },	{ 1, 1, 1 },
					{ 1, 0, 0 },	    { 1, 1e-8, 1e-16 }, { 1, 0, -1 },
					{ 1, 1 - 1e-15, 0 } };
	for (int n = 0; n < 2000; n++) {
		vec3 spectrum = spectra[(size_t)n % COUNT_OF(spectra)];
		double w = rng_range(&rng, -1, 1), x = rng_range(&rng, -1, 1);
		double y = rng_range(&rng, -1, 1), z = rng_range(&rng, -1, 1);
		mat3 r = mat3_from_quat(quat_normalize(quat_make(w, x, y, z)));
		struct eigen3 e = expect_eigen(mat3_rotate_diagonal(r, spectrum), 1);
		ck_assert_double_le(vec3_distance(e.values, spectrum), 1e-14);
	}
}
END_TEST

START_TEST(only_the_lower_triangle_is_read)
{
	mat3 whole = { { 4, 1, -2 }, { 1, 3, 0.5 }, { -2, 0.5, 1 } }, lower = whole;
	lower.y.x = lower.z.x = lower.z.y = 0.0 / 0.0;
	struct eigen3 a = eigen3_symmetric(whole), b = eigen3_symmetric(lower);
	ck_assert_mem_eq(&a.values, &b.values, sizeof a.values);
	ck_assert_mem_eq(&a.vectors, &b.vectors, sizeof a.vectors);
}
END_TEST

START_TEST(a_matrix_that_is_not_finite_has_a_defined_result)
{
	mat3 a = mat3_identity();
	a.x.z = 1.0 / 0.0;
	struct eigen3 e = eigen3_symmetric(a);
	ck_assert(vec3_equal(e.values, vec3_zero()) && !scalar_is_finite(e.residue));
	ck_assert(vec3_equal(e.vectors.y, vec3_axis(1)));
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("eigen3");
	TCase *all = tcase_create("eigen3");
	tcase_add_test(all, a_diagonal_matrix_has_descending_values_and_right_handed_axes);
	tcase_add_test(all, random_matrices_of_every_size_are_decomposed);
	tcase_add_test(all, matrices_of_every_order_are_decomposed);
	tcase_add_test(all, repeated_and_widely_spread_values_are_found);
	tcase_add_test(all, only_the_lower_triangle_is_read);
	tcase_add_test(all, a_matrix_that_is_not_finite_has_a_defined_result);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
