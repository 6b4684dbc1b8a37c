/* Quaternions against matrices (app A-06, C-01 to C-06). */
#include "server/engine/math/quat.h"

#include "server/base/rng.h"
#include "server/engine/math/mat3.h"
#include "server/engine/math/pose.h"
#include "server/engine/math/trig.h"
#include "tests/lib/check_main.h"

static struct rng rng;

static void seed(void)
{
	rng = rng_seeded(check_seed());
}

static vec3 random_vec3(void)
{
	double x = rng_range(&rng, -1, 1), y = rng_range(&rng, -1, 1);
	return vec3_make(x, y, rng_range(&rng, -1, 1));
}

static quat random_quat(void)
{
	double w = rng_range(&rng, -1, 1);
	return quat_normalize(quat_from_parts(w, random_vec3()));
}

static double quat_difference(quat a, quat b)
{
	double x = quat_length(quat_add(a, b)), y = quat_length(quat_add(a, quat_negate(b)));
	return scalar_min(x, y);
}

static double mat3_difference(mat3 a, mat3 b)
{
	mat3 d = mat3_sub(a, b);
	return scalar_max(vec3_length(d.x), scalar_max(vec3_length(d.y), vec3_length(d.z)));
}

START_TEST(unit_quaternions_multiply_by_hamiltons_rules)
{
	quat i = { 0, 1, 0, 0 }, j = { 0, 0, 1, 0 }, k = { 0, 0, 0, 1 }, minus = { -1, 0, 0, 0 };
	ck_assert(quat_equal(quat_mul(i, j), k) && quat_equal(quat_mul(j, k), i));
	ck_assert(quat_equal(quat_mul(k, i), j) && quat_equal(quat_mul(j, i), quat_negate(k)));
	ck_assert(quat_equal(quat_mul(i, i), minus) && quat_equal(quat_mul(j, j), minus));
	ck_assert(quat_equal(quat_mul(k, k), minus));
}
END_TEST

START_TEST(lengths_multiply_and_a_conjugated_product_reverses_its_factors)
{
	for (int n = 0; n < 1000; n++) {
		quat a = quat_scale(random_quat(), 3), b = quat_scale(random_quat(), 0.2);
		quat ab = quat_mul(a, b);
		ck_assert_double_le(scalar_abs(quat_length(ab) - 0.6), 1e-15);
		quat turned = quat_mul(quat_conjugate(b), quat_conjugate(a));
		ck_assert_double_le(quat_length(quat_add(quat_conjugate(ab), quat_negate(turned))),
				    1e-15);
		quat one = quat_mul(a, quat_inverse(a));
		ck_assert_double_le(quat_difference(one, quat_identity()), 1e-15);
	}
}
END_TEST

START_TEST(axis_and_angle_give_one_rotation_as_matrix_and_as_quaternion)
{
	/* app C-03: R(u, θ) = R(q); and both turn x towards y about z. In units u = 2⁻⁵³ and to
	 * first order: quat_rotate errs by 19 u |p| (4 in t = 2 v × p, 8 in v × t, 2 in w t, 5 in
	 * the sums) and |q|² = 1 ± 8 u; with |p| ≤ √3 two such ways differ by at most
	 * 2 · 27 · √3 u = 1.0e-14. Signs of rounding are mixed: asserted is what 300 seeds (300 000
	 * draws) keep, 0.4 of that. The same share of their own bounds is asserted below. */
	for (int n = 0; n < 1000; n++) {
		vec3 u = vec3_normalize(random_vec3()), p = random_vec3();
		double angle = rng_range(&rng, -7, 7);
		quat q = quat_from_axis_angle(u, angle);
		mat3 r = mat3_from_axis_angle(u, angle);
		ck_assert_double_le(mat3_difference(r, mat3_from_quat(q)), 4e-15);
		ck_assert_double_le(vec3_distance(quat_rotate(q, p), mat3_mul_vec(r, p)), 4e-15);
		/* The sandwich q p q̄ (app C-05). */
		quat sandwich = quat_mul(quat_mul(q, quat_from_parts(0, p)), quat_conjugate(q));
		ck_assert_double_le(vec3_distance(quat_vector(sandwich), quat_rotate(q, p)), 4e-15);
		ck_assert_double_le(vec3_distance(quat_rotate_inverse(q, quat_rotate(q, p)), p),
				    4e-15);
	}
	vec3 y = quat_rotate(quat_from_axis_angle(vec3_axis(2), PI / 2), vec3_axis(0));
	ck_assert_double_le(vec3_distance(y, vec3_axis(1)), 1e-15);
}
END_TEST

START_TEST(conversions_to_axis_and_angle_and_back_are_exact_to_1e_14)
{
	static const double angles[] = { 0,    1e-300, 1e-160, 1e-20, 1e-9,	 1e-5,	    1e-4,
					 2e-4, 0.1,    1,      3,     PI - 1e-4, PI - 1e-9, PI };
	for (size_t i = 0; i < COUNT_OF(angles); i++) {
		for (int n = 0; n < 100; n++) {
			vec3 u = vec3_normalize(random_vec3()), axis;
			double angle;
			quat q = quat_from_axis_angle(u, angles[i]);
			ck_assert_double_le(quat_difference(quat_from_mat3(mat3_from_quat(q)), q),
					    1e-14);
			quat_to_axis_angle(q, &axis, &angle);
			ck_assert(angle >= 0 && angle <= PI);
			ck_assert_double_le(scalar_abs(angle - angles[i]), 1e-14);
			ck_assert_double_le(scalar_abs(vec3_length(axis) - 1), 1e-15);
			ck_assert_double_le(quat_difference(quat_from_axis_angle(axis, angle), q),
					    1e-14);
			vec3 r = quat_to_rotation_vector(q);
			ck_assert_double_le(quat_difference(quat_from_rotation_vector(r), q),
					    1e-14);
			/* Small angles have full relative accuracy. */
			if (angles[i] > 0)
				ck_assert_double_le(scalar_abs(angle / angles[i] - 1), 1e-14);
		}
	}
}
END_TEST

START_TEST(a_half_turn_has_a_definite_axis_and_the_identity_has_x)
{
	vec3 axis;
	double angle;
	quat half[] = { { 0, 0, -1, 0 }, { 0, -0.6, 0, 0.8 }, { 0, 0, 0, -1 }, { 0, 1, 0, 0 } };
	vec3 expected[] = { { 0, 1, 0 }, { 0.6, 0, -0.8 }, { 0, 0, 1 }, { 1, 0, 0 } };
	for (size_t i = 0; i < COUNT_OF(half); i++) {
		quat_to_axis_angle(half[i], &axis, &angle);
		ck_assert(angle == PI && vec3_distance(axis, expected[i]) < 1e-15);
		quat_to_axis_angle(quat_negate(half[i]), &axis, &angle);
		ck_assert(angle == PI && vec3_distance(axis, expected[i]) < 1e-15);
	}
	quat_to_axis_angle(quat_negate(quat_identity()), &axis, &angle);
	ck_assert(angle == 0 && vec3_equal(axis, vec3_axis(0)));
}
END_TEST

START_TEST(every_branch_of_matrix_to_quaternion_is_correct)
{
	for (int n = 0; n < 3000; n++) {
		quat q = random_quat();
		/* Each component is the dominant one in turn. */
		double *c = (double[]){ q.w, q.x, q.y, q.z };
		c[n % 4] *= 20;
		q = quat_normalize(quat_make(c[0], c[1], c[2], c[3]));
		quat back = quat_from_mat3(mat3_from_quat(q));
		ck_assert_double_le(quat_difference(back, q), 1e-15);
		ck_assert_double_ge(back.w, 0);
	}
}
END_TEST

START_TEST(a_million_small_turns_do_not_drift)
{
	/* app C-06 with the exact exponential, so the final rotation is known too. */
	quat q = quat_identity();
	vec3 spin = vec3_make(0.3, -0.5, 0.2);
	for (int n = 0; n < 1000000; n++)
		q = quat_integrate(q, spin, 1e-4);
	ck_assert_double_le(scalar_abs(quat_length(q) - 1), 4e-16);
	mat3 r = mat3_from_quat(q);
	ck_assert_double_le(mat3_difference(mat3_transposed_mul(r, r), mat3_identity()), 1e-12);
	ck_assert_double_le(quat_difference(q, quat_from_rotation_vector(vec3_scale(spin, 100))),
			    1e-11);
}
END_TEST

START_TEST(the_derivative_agrees_with_one_small_step_of_the_integral)
{
	for (int n = 0; n < 200; n++) {
		quat q = random_quat();
		vec3 spin = vec3_scale(random_vec3(), 3);
		quat step = quat_add(quat_integrate(q, spin, 1e-6), quat_negate(q));
		quat slope = quat_scale(step, 1e6);
		ck_assert_double_le(
			quat_length(quat_add(slope, quat_negate(quat_derivative(q, spin)))), 1e-5);
	}
}
END_TEST

START_TEST(quat_between_rotates_the_first_direction_onto_the_second)
{
	for (int n = 0; n < 1000; n++) {
		vec3 a = vec3_normalize(random_vec3()), b = vec3_normalize(random_vec3());
		if (n % 3 == 0)
			b = vec3_normalize(vec3_mul_add(vec3_negate(a), b, 1e-9));
		if (n % 10 == 0)
			b = vec3_negate(a);
		quat q = quat_between(a, b);
		ck_assert_double_le(scalar_abs(quat_length(q) - 1), 1e-15);
		ck_assert_double_le(vec3_distance(quat_rotate(q, a), b), 2e-15);
	}
}
END_TEST

START_TEST(normalising_zero_or_a_non_finite_quaternion_gives_the_identity)
{
	quat broken[] = { { 0, 0, 0, 0 }, { 1.0 / 0.0, 0, 0, 0 }, { 0, 0.0 / 0.0, 0, 0 } };
	for (size_t i = 0; i < COUNT_OF(broken); i++)
		ck_assert(quat_equal(quat_normalize(broken[i]), quat_identity()));
	ck_assert(!quat_is_finite(broken[1]) && quat_is_finite(broken[0]));
}
END_TEST

START_TEST(matrix_operations_obey_their_identities)
{
	for (int n = 0; n < 1000; n++) {
		mat3 a = mat3_columns(random_vec3(), random_vec3(), random_vec3()), inverse;
		vec3 v = random_vec3(), w = random_vec3();
		ck_assert(mat3_inverse(a, &inverse));
		double size = 1 + vec3_length(inverse.x) + vec3_length(inverse.y) +
			      vec3_length(inverse.z);
		ck_assert_double_le(mat3_difference(mat3_mul(a, inverse), mat3_identity()),
				    1e-14 * size * size);
		ck_assert_double_le(scalar_abs(vec3_dot(mat3_mul_vec(a, v), w) -
					       vec3_dot(v, mat3_transposed_mul_vec(a, w))),
				    1e-14);
		ck_assert_double_le(
			mat3_difference(mat3_transposed_mul(a, a), mat3_mul(mat3_transpose(a), a)),
			0);
		/* app A-06, and [Ra]× = R [a]× Rᵀ: an entry of R is off by at most 4 u, a column by
		 * at most 8 u in length, and each of two products adds 3 u of its terms: (16 + 12)
		 * u · 3 · √3 = 1.6e-14. */
		ck_assert(vec3_equal(mat3_mul_vec(mat3_skew(v), w), vec3_cross(v, w)));
		mat3 r = mat3_from_quat(random_quat());
		mat3 turned = mat3_rotate_tensor(r, mat3_skew(v));
		ck_assert_double_le(mat3_difference(turned, mat3_skew(mat3_mul_vec(r, v))), 6e-15);
		mat3 tensor = mat3_rotate_diagonal(r, v);
		ck_assert_double_le(
			mat3_difference(tensor, mat3_rotate_tensor(r, mat3_diagonal(v))), 1e-15);
		ck_assert(tensor.x.y == tensor.y.x && tensor.y.z == tensor.z.y);
		ck_assert(vec3_equal(mat3_mul_vec(mat3_outer(v, w), vec3_axis(1)),
				     vec3_scale(v, w.y)));
		ck_assert_double_eq(mat3_get(a, 1, 2), a.z.y);
		mat3_set(&a, 2, 0, 7);
		ck_assert_double_eq(a.x.z, 7);
	}
	mat3 none, flat = mat3_columns(vec3_axis(0), vec3_axis(1), vec3_axis(0));
	ck_assert(!mat3_inverse(flat, &none) && mat3_difference(none, mat3_zero()) == 0);
	ck_assert(!mat3_inverse(mat3_scale(mat3_identity(), 1e-320), &none));
}
END_TEST

START_TEST(a_drifted_matrix_becomes_a_rotation_again)
{
	for (int n = 0; n < 500; n++) {
		mat3 r = mat3_from_quat(random_quat());
		mat3 drift =
			mat3_scale(mat3_columns(random_vec3(), random_vec3(), random_vec3()), 1e-3);
		/* Three normalized columns, 4 u each, and the product's 3 u · 3: at most
		 * (2 · 4 + 9) u · √3 = 3.3e-15 a column, 4e-15 with the determinant's own sums. */
		mat3 fixed = mat3_orthonormalize(mat3_add(r, drift));
		ck_assert_double_le(
			mat3_difference(mat3_transposed_mul(fixed, fixed), mat3_identity()), 4e-15);
		ck_assert_double_le(scalar_abs(mat3_det(fixed) - 1), 4e-15);
		ck_assert_double_le(mat3_difference(fixed, r), 1e-2);
	}
}
END_TEST

START_TEST(poses_compose_and_invert)
{
	for (int n = 0; n < 500; n++) {
		pose a = { random_vec3(), random_quat() }, b = { random_vec3(), random_quat() };
		/* Two rotations of up to |p| + |a| ≤ 2 √3 each way: 4 · 27 · √3 u = 2.1e-14. */
		vec3 p = random_vec3();
		vec3 chained = pose_point(a, pose_point(b, p));
		ck_assert_double_le(vec3_distance(pose_point(pose_mul(a, b), p), chained), 8e-15);
		ck_assert_double_le(vec3_distance(pose_inverse_point(a, pose_point(a, p)), p),
				    8e-15);
		ck_assert_double_le(vec3_distance(pose_point(pose_inverse(a), pose_point(a, p)), p),
				    8e-15);
		pose seen = pose_relative(a, b), again = pose_mul(a, seen);
		ck_assert_double_le(vec3_distance(again.position, b.position), 8e-15);
		ck_assert_double_le(quat_difference(again.rotation, b.rotation), 8e-15);
		ck_assert_double_le(vec3_distance(pose_inverse_vector(a, pose_vector(a, p)), p),
				    8e-15);
	}
	ck_assert(!pose_is_finite(pose_make(vec3_make(0.0 / 0.0, 0, 0), quat_identity())));
	ck_assert(pose_is_finite(pose_identity()));
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("quat");
	TCase *all = tcase_create("quat");
	tcase_add_checked_fixture(all, seed, NULL);
	tcase_add_test(all, unit_quaternions_multiply_by_hamiltons_rules);
	tcase_add_test(all, lengths_multiply_and_a_conjugated_product_reverses_its_factors);
	tcase_add_test(all, axis_and_angle_give_one_rotation_as_matrix_and_as_quaternion);
	tcase_add_test(all, conversions_to_axis_and_angle_and_back_are_exact_to_1e_14);
	tcase_add_test(all, a_half_turn_has_a_definite_axis_and_the_identity_has_x);
	tcase_add_test(all, every_branch_of_matrix_to_quaternion_is_correct);
	tcase_add_test(all, a_million_small_turns_do_not_drift);
	tcase_add_test(all, the_derivative_agrees_with_one_small_step_of_the_integral);
	tcase_add_test(all, quat_between_rotates_the_first_direction_onto_the_second);
	tcase_add_test(all, normalising_zero_or_a_non_finite_quaternion_gives_the_identity);
	suite_add_tcase(suite, all);
	TCase *matrices = tcase_create("mat3 and pose");
	tcase_add_checked_fixture(matrices, seed, NULL);
	tcase_add_test(matrices, matrix_operations_obey_their_identities);
	tcase_add_test(matrices, a_drifted_matrix_becomes_a_rotation_again);
	tcase_add_test(matrices, poses_compose_and_invert);
	suite_add_tcase(suite, matrices);
	return suite;
}

int main(void)
{
	return check_main(make);
}
