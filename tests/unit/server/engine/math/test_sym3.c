/* sym3 and sym3f against full matrices. */
#include "server/engine/math/sym3.h"

#include "server/base/rng.h"
#include "server/engine/math/sym3f.h"
#include "tests/lib/check_main.h"
#include "tests/lib/poses.h"

static sym3 random_sym3(struct rng *rng)
{
	double t[6];
	for (uint32_t i = 0; i < 6; i++)
		t[i] = rng_range(rng, -3, 3);
	return sym3_load(t);
}

/* The largest difference between corresponding entries. */
static double mat3_difference(mat3 a, mat3 b)
{
	double most = 0;
	for (uint32_t row = 0; row < 3; row++)
		for (uint32_t column = 0; column < 3; column++)
			most = scalar_max(most, scalar_abs(mat3_get(a, row, column) -
							   mat3_get(b, row, column)));
	return most;
}

START_TEST(a_sym3_agrees_with_its_full_matrix)
{
	struct rng rng = rng_seeded(check_seed());
	for (uint32_t i = 0; i < 1000; i++) {
		sym3 t = random_sym3(&rng), s = random_sym3(&rng);
		mat3 m = sym3_matrix(t);
		vec3 v = random_vector(&rng, 2);
		double stored[6];
		sym3_store(t, stored);
		ck_assert_double_eq(mat3_difference(m, mat3_transpose(m)), 0);
		ck_assert_double_eq(mat3_difference(sym3_matrix(sym3_of(m)), m), 0);
		ck_assert_double_eq(mat3_difference(sym3_matrix(sym3_load(stored)), m), 0);
		ck_assert(vec3_equal(sym3_apply(t, v), mat3_mul_vec(m, v)));
		ck_assert_double_eq(sym3_quadratic(t, v), vec3_dot(v, mat3_mul_vec(m, v)));
		ck_assert_double_eq(sym3_trace(t), mat3_trace(m));
		ck_assert_double_eq(
			mat3_difference(sym3_matrix(sym3_add(t, s)), mat3_add(m, sym3_matrix(s))),
			0);
		ck_assert_double_eq(
			mat3_difference(sym3_matrix(sym3_scale(t, v.x)), mat3_scale(m, v.x)), 0);
	}
}
END_TEST

START_TEST(a_rotated_tensor_maps_rotated_vectors_alike)
{
	struct rng rng = rng_seeded(check_seed() + 1);
	for (uint32_t i = 0; i < 1000; i++) {
		sym3 t = random_sym3(&rng);
		mat3 r = mat3_from_quat(awkward_rotation(&rng));
		vec3 v = random_vector(&rng, 2);
		vec3 turned = sym3_apply(sym3_rotate(r, t), mat3_mul_vec(r, v));
		ck_assert_double_le(vec3_distance(turned, mat3_mul_vec(r, sym3_apply(t, v))),
				    1e-13);
		ck_assert_double_eq(mat3_difference(sym3_matrix(sym3_rotate(r, t)),
						    sym3_matrix(sym3_of(mat3_rotate_tensor(
							    r, sym3_matrix(t))))),
				    0);
		ck_assert_double_eq_tol(sym3_quadratic(sym3_rotate(r, t), mat3_mul_vec(r, v)),
					sym3_quadratic(t, v), 1e-12);
	}
}
END_TEST

START_TEST(a_regular_tensor_has_an_inverse_and_a_singular_one_has_none)
{
	struct rng rng = rng_seeded(check_seed() + 2);
	for (uint32_t i = 0; i < 1000; i++) {
		vec3 d = vec3_make(rng_range(&rng, 0.5, 3), rng_range(&rng, 0.5, 3),
				   rng_range(&rng, -3, -0.5));
		sym3 t = sym3_rotate(mat3_from_quat(random_rotation(&rng)), sym3_diagonal(d));
		sym3 inverse;
		vec3 v = random_vector(&rng, 2);
		ck_assert(sym3_inverse(t, &inverse));
		ck_assert_double_le(vec3_distance(sym3_apply(inverse, sym3_apply(t, v)), v), 1e-13);
	}
	sym3 inverse = sym3_make(9, 9, 9, 9, 9, 9);
	ck_assert(!sym3_inverse(sym3_diagonal(vec3_make(1, 0, 2)), &inverse));
	ck_assert_double_eq(mat3_difference(sym3_matrix(inverse), mat3_zero()), 0);
	ck_assert(!sym3_inverse(sym3_diagonal(vec3_all(__builtin_nan(""))), &inverse));
	ck_assert(!sym3_inverse(sym3_zero(), &inverse));
	ck_assert(sym3_is_finite(inverse));
	ck_assert(!sym3_is_finite(sym3_make(1, 1, 1, 0, __builtin_inf(), 0)));
}
END_TEST

START_TEST(sym3f_agrees_with_sym3_to_float_precision)
{
	struct rng rng = rng_seeded(check_seed() + 3);
	for (uint32_t i = 0; i < 1000; i++) {
		sym3 t = random_sym3(&rng);
		vec3 v = random_vector(&rng, 2);
		sym3f narrow = sym3f_from(t);
		vec3 found = vec3f_widen(sym3f_apply(&narrow, vec3f_from(v)));
		ck_assert_double_le(vec3_distance(found, sym3_apply(t, v)), 1e-5);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("sym3");
	TCase *tests = tcase_create("symmetric tensors");
	tcase_add_test(tests, a_sym3_agrees_with_its_full_matrix);
	tcase_add_test(tests, a_rotated_tensor_maps_rotated_vectors_alike);
	tcase_add_test(tests, a_regular_tensor_has_an_inverse_and_a_singular_one_has_none);
	tcase_add_test(tests, sym3f_agrees_with_sym3_to_float_precision);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return check_main(make);
}
