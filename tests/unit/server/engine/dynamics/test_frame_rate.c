/* Time derivatives of app E against central differences, and Euler's equation (ch. 4 D4, 9.2, K2). */
#include <math.h>

#include "server/base/rng.h"
#include "server/engine/dynamics/frame_rate.h"
#include "tests/lib/check_main.h"
#include "tests/lib/poses.h"

#define STEP 1e-6
#define NEAR 1e-8 /* checklist: the difference is < 1e-8 for h = 1e-6 */

static struct rng rng;

static void set_up(void)
{
	rng = rng_seeded(check_seed());
}

static vec3 turned(vec3 v, vec3 spin, double time)
{
	return quat_rotate(quat_from_rotation_vector(vec3_scale(spin, time)), v);
}

static vec3 slope(vec3 before, vec3 after)
{
	return vec3_scale(vec3_sub(after, before), 0.5 / STEP);
}

static void near(vec3 a, vec3 b)
{
	ck_assert_double_le(vec3_distance(a, b), NEAR);
}

START_TEST(a_body_fixed_vector_and_a_face_normal_turn_with_the_body)
{
	for (uint32_t i = 0; i < 100; i++) {
		vec3 p = random_vector(&rng, 1), w = random_vector(&rng, 1);
		near(frame_rate_fixed(w, p), slope(turned(p, w, -STEP), turned(p, w, STEP)));
	}
}
END_TEST

START_TEST(the_rate_of_the_normal_of_two_points_equals_the_difference_quotient)
{
	for (uint32_t i = 0; i < 100; i++) {
		vec3 p1 = vec3_add(random_vector(&rng, 1), vec3_make(3, 0, 0)),
		     p2 = random_vector(&rng, 1), v1 = random_vector(&rng, 1),
		     v2 = random_vector(&rng, 1);
		vec3 n[2];
		for (uint32_t k = 0; k < 2; k++) {
			double t = k == 0 ? -STEP : STEP;
			n[k] = vec3_normalize(
				vec3_sub(vec3_mul_add(p1, v1, t), vec3_mul_add(p2, v2, t)));
		}
		near(frame_rate_points(p1, p2, v1, v2), slope(n[0], n[1]));
	}
	ck_assert_double_eq_tol(vec3_length(frame_rate_points(vec3_make(4, 0, 0), vec3_zero(),
							      vec3_make(0, 2, 0), vec3_zero())),
				0.5, 1e-15);
}
END_TEST

START_TEST(the_rate_of_the_normal_of_two_edges_equals_the_difference_quotient)
{
	for (uint32_t i = 0; i < 200; i++) {
		vec3 e1 = random_vector(&rng, 1), e2 = random_vector(&rng, 1),
		     w1 = random_vector(&rng, 1), w2 = random_vector(&rng, 1), n[2];
		if (vec3_length(vec3_cross(e1, e2)) < 0.3)
			continue;
		for (uint32_t k = 0; k < 2; k++) {
			double t = k == 0 ? -STEP : STEP;
			n[k] = vec3_normalize(vec3_cross(turned(e1, w1, t), turned(e2, w2, t)));
		}
		near(frame_rate_edges(e1, e2, w1, w2), slope(n[0], n[1]));
	}
	vec3 x = vec3_axis(0);
	ck_assert(vec3_equal(frame_rate_edges(x, x, vec3_axis(1), vec3_axis(2)), vec3_zero()));
}
END_TEST

START_TEST(rates_of_tangents_equal_difference_quotients_on_every_branch)
{
	uint32_t branches[3] = { 0 };
	for (uint32_t i = 0; i < 300; i++) {
		vec3 n = vec3_normalize(random_vector(&rng, 1)), w = random_vector(&rng, 1), t[2],
		     k[2], t_rate, k_rate;
		vec3 size = vec3_abs(n);
		double least = vec3_min_component(size);
		double middle = size.x + size.y + size.z - least - vec3_max_component(size);
		if (middle - least < 1e-4)
			continue; /* too close to a jump of the frame */
		branches[vec3_smallest_axis(size)]++;
		for (uint32_t at = 0; at < 2; at++)
			vec3_frame(turned(n, w, at == 0 ? -STEP : STEP), &t[at], &k[at]);
		frame_rate_tangents(n, vec3_cross(w, n), &t_rate, &k_rate);
		near(t_rate, slope(t[0], t[1]));
		near(k_rate, slope(k[0], k[1]));
	}
	ck_assert(branches[0] > 0 && branches[1] > 0 && branches[2] > 0);
}
END_TEST

START_TEST(matrix_and_quaternion_turn_at_the_rate_of_the_spin)
{
	for (uint32_t i = 0; i < 100; i++) {
		vec3 w = random_vector(&rng, 1);
		quat q = quat_from_rotation_vector(random_vector(&rng, 1));
		quat before = quat_integrate(q, w, -STEP), after = quat_integrate(q, w, STEP);
		quat rate = quat_derivative(q, w);
		ck_assert_double_le(fabs(rate.w - (after.w - before.w) / (2 * STEP)), NEAR);
		near(quat_vector(rate), slope(quat_vector(before), quat_vector(after)));
		/* |q| = 1 gives q · q' = 0; the inverse map gives the spin. */
		ck_assert_double_le(fabs(quat_dot(q, rate)), 1e-15);
		ck_assert_double_le(vec3_distance(frame_rate_spin(q, rate), w), 1e-14);
		mat3 matrix = frame_rate_rotation(w, mat3_from_quat(q));
		mat3 first = mat3_from_quat(before), second = mat3_from_quat(after);
		near(matrix.x, slope(first.x, second.x));
		near(matrix.y, slope(first.y, second.y));
		near(matrix.z, slope(first.z, second.z));
	}
}
END_TEST

/* D4: I = diag(1, 2, 3), w = (1, 1, 1), no torque: (−1, 1, −1/3). */
START_TEST(an_uneven_body_accelerates_its_spin_without_torque)
{
	mat3 inertia = mat3_diagonal(vec3_make(1, 2, 3)), inverse;
	ck_assert(mat3_inverse(inertia, &inverse));
	vec3 alpha = frame_rate_gyroscopic(inertia, inverse, vec3_all(1), vec3_zero());
	ck_assert_double_le(vec3_distance(alpha, vec3_make(-1, 1, -1 / 3.0)), 1e-15);
}
END_TEST

/* K2: floor turning at (0, 0, 0.5), n = y, relative speed x: 2 v · n' = −1 (normalised: −2). */
START_TEST(the_coriolis_part_of_a_turning_floor_is_minus_one)
{
	vec3 n_rate = frame_rate_fixed(vec3_make(0, 0, 0.5), vec3_axis(1));
	ck_assert_double_eq_tol(2 * vec3_dot(vec3_axis(0), n_rate), -1, 1e-15);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("frame_rate");
	TCase *rates = tcase_create("rates");
	tcase_add_checked_fixture(rates, set_up, NULL);
	tcase_add_test(rates, a_body_fixed_vector_and_a_face_normal_turn_with_the_body);
	tcase_add_test(rates, the_rate_of_the_normal_of_two_points_equals_the_difference_quotient);
	tcase_add_test(rates, the_rate_of_the_normal_of_two_edges_equals_the_difference_quotient);
	tcase_add_test(rates, rates_of_tangents_equal_difference_quotients_on_every_branch);
	tcase_add_test(rates, matrix_and_quaternion_turn_at_the_rate_of_the_spin);
	tcase_add_test(rates, an_uneven_body_accelerates_its_spin_without_torque);
	tcase_add_test(rates, the_coriolis_part_of_a_turning_floor_is_minus_one);
	suite_add_tcase(suite, rates);
	return suite;
}

int main(void)
{
	return check_main(make);
}
