/* vec3, vec2 and vec3f. */
#include "server/engine/math/vec3.h"

#include "server/base/rng.h"
#include "server/engine/math/vec2.h"
#include "server/engine/math/vec3f.h"
#include "tests/lib/check_main.h"

static vec3 random_vec3(struct rng *rng, double size)
{
	double x = rng_range(rng, -size, size), y = rng_range(rng, -size, size);
	return vec3_make(x, y, rng_range(rng, -size, size));
}

static void expect_frame(vec3 n, vec3 t, vec3 k)
{
	ck_assert_double_le(scalar_abs(vec3_triple(n, t, k) - 1), 1e-12);
	ck_assert_double_le(scalar_abs(vec3_length(t) - 1), 1e-15);
	ck_assert_double_le(scalar_abs(vec3_dot(n, t)), 1e-15);
	ck_assert_double_le(scalar_abs(vec3_dot(n, k)), 1e-15);
	ck_assert_double_le(scalar_abs(vec3_dot(t, k)), 1e-15);
}

START_TEST(a_contact_frame_is_right_handed_for_every_normal)
{
	/* app A-05: det = +1 ± 1e-12 for 1000 normals. */
	struct rng rng = rng_seeded(check_seed());
	for (int i = 0; i < 1000; i++) {
		vec3 t, k, n = vec3_normalize(random_vec3(&rng, 1));
		vec3_frame(n, &t, &k);
		expect_frame(n, t, k);
	}
}
END_TEST

START_TEST(a_contact_frame_breaks_ties_in_the_order_x_y_z)
{
	/* The values that app A-05 gives, and the corners where components are equal. */
	static const vec3 known[3][3] = {
		{ { 1, 0, 0 }, { 0, 0, 1 }, { 0, -1, 0 } },
		{ { 0, 1, 0 }, { 0, 0, -1 }, { -1, 0, 0 } },
		{ { 0, 0, 1 }, { 0, 1, 0 }, { -1, 0, 0 } },
	};
	vec3 t, k;
	for (int i = 0; i < 3; i++) {
		vec3_frame(known[i][0], &t, &k);
		ck_assert(vec3_equal(t, known[i][1]) && vec3_equal(k, known[i][2]));
	}
	double h = 1 / scalar_sqrt(3);
	vec3_frame(vec3_make(h, h, -h), &t, &k);
	ck_assert(t.x == 0); /* all are equal: x comes first */
	vec3_frame(vec3_normalize(vec3_make(2, 1, -1)), &t, &k);
	ck_assert(t.y == 0); /* of equal y and z, y comes first */
}
END_TEST

START_TEST(products_obey_their_identities)
{
	struct rng rng = rng_seeded(check_seed());
	for (int i = 0; i < 2000; i++) {
		vec3 a = random_vec3(&rng, 3), b = random_vec3(&rng, 3), c = random_vec3(&rng, 3);
		vec3 cross = vec3_cross(a, b);
		ck_assert(vec3_equal(cross, vec3_negate(vec3_cross(b, a))));
		ck_assert_double_le(scalar_abs(vec3_dot(cross, a)), 1e-13);
		double area = vec3_length_squared(cross), dot = vec3_dot(a, b);
		double product = vec3_length_squared(a) * vec3_length_squared(b);
		ck_assert_double_le(scalar_abs(area + dot * dot - product), 1e-12);
		/* a × (b × c) = b (a·c) − c (a·b). */
		vec3 left = vec3_cross(a, vec3_cross(b, c));
		vec3 right = vec3_mul_sub(vec3_scale(b, vec3_dot(a, c)), c, vec3_dot(a, b));
		ck_assert_double_le(vec3_distance(left, right), 1e-12);
		ck_assert(vec3_equal(vec3_mul_add(a, b, 2), vec3_add(a, vec3_scale(b, 2))));
		ck_assert(vec3_equal(vec3_lerp(a, b, 0), a));
	}
}
END_TEST

START_TEST(normalising_gives_unit_or_zero)
{
	struct rng rng = rng_seeded(check_seed());
	double length;
	for (int i = 0; i < 2000; i++) {
		vec3 a = random_vec3(&rng, i % 2 ? 1e100 : 1e-100);
		vec3 n = vec3_normalize_length(a, &length);
		ck_assert_double_le(scalar_abs(vec3_length(n) - 1), 1e-15);
		ck_assert_double_le(vec3_distance(vec3_scale(n, length), a), 1e-15 * length);
	}
	ck_assert(vec3_equal(vec3_normalize(vec3_zero()), vec3_zero()));
	vec3_normalize_length(vec3_make(0, -0.0, 0), &length);
	ck_assert_double_eq(length, 0);
	ck_assert(vec2_length(vec2_normalize(vec2_zero())) == 0);
}
END_TEST

START_TEST(components_are_indexed_by_axis_and_ties_give_the_lower_axis)
{
	vec3 a = vec3_make(1, 2, 3);
	for (uint32_t axis = 0; axis < 3; axis++) {
		ck_assert_double_eq(vec3_get(a, axis), axis + 1);
		ck_assert_double_eq(vec3_dot(a, vec3_axis(axis)), axis + 1);
		vec3_set(&a, axis, 5);
		ck_assert_double_eq(vec3_get(a, axis), 5);
	}
	ck_assert_uint_eq(vec3_smallest_axis(a), 0);
	ck_assert_uint_eq(vec3_largest_axis(vec3_make(1, 2, 2)), 1);
	ck_assert_uint_eq(vec3_smallest_axis(vec3_make(3, 2, 2)), 1);
	ck_assert_uint_eq(vec3_largest_axis(vec3_make(0, 1, 2)), 2);
	ck_assert(vec3_equal(vec3_min(vec3_make(1, 5, 3), vec3_make(4, 2, 3)), vec3_make(1, 2, 3)));
	ck_assert(vec3_equal(vec3_max(vec3_make(1, 5, 3), vec3_make(4, 2, 3)), vec3_make(4, 5, 3)));
	ck_assert_double_eq(vec3_max_component(vec3_make(1, -9, 4)), 4);
	ck_assert_double_eq(vec3_min_component(vec3_abs(vec3_make(1, -9, 4))), 1);
	ck_assert(!vec3_is_finite(vec3_make(0, 1.0 / 0.0, 0)) && vec3_is_finite(a));
}
END_TEST

START_TEST(vec2_agrees_with_the_xy_part_of_vec3)
{
	struct rng rng = rng_seeded(check_seed());
	for (int i = 0; i < 1000; i++) {
		vec3 a = random_vec3(&rng, 2), b = random_vec3(&rng, 2);
		vec2 p = vec2_make(a.x, a.y), q = vec2_make(b.x, b.y);
		ck_assert_double_eq(vec2_cross(p, q), vec3_cross(a, b).z);
		ck_assert_double_eq(vec2_dot(vec2_left(p), p), 0);
		ck_assert_double_ge(vec2_cross(p, vec2_left(p)), 0);
		ck_assert_double_eq(vec2_dot(vec2_left(p), vec2_right(p)), -vec2_dot(p, p));
		ck_assert_double_le(scalar_abs(vec2_distance(p, q) - vec2_length(vec2_sub(q, p))),
				    0);
	}
}
END_TEST

START_TEST(vec3f_agrees_with_vec3_to_float_rounding)
{
	struct rng rng = rng_seeded(check_seed());
	for (int i = 0; i < 1000; i++) {
		vec3 a = random_vec3(&rng, 2), b = random_vec3(&rng, 2);
		vec3f af = vec3f_from(a), bf = vec3f_from(b);
		ck_assert_double_le(
			vec3_distance(vec3f_widen(vec3f_cross(af, bf)), vec3_cross(a, b)), 4e-6);
		ck_assert_double_le(scalar_abs((double)vec3f_dot(af, bf) - vec3_dot(a, b)), 4e-6);
		vec3f sum = vec3f_mul_add(af, bf, 0.5f), back = vec3f_mul_sub(sum, bf, 0.5f);
		ck_assert_double_le(vec3_distance(vec3f_widen(back), a), 2e-6);
	}
	ck_assert_float_eq(vec3f_from(vec3_make(1e300, 0, 0)).x, 0x1.fffffep127f);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("vec3");
	TCase *all = tcase_create("vec3");
	tcase_add_test(all, a_contact_frame_is_right_handed_for_every_normal);
	tcase_add_test(all, a_contact_frame_breaks_ties_in_the_order_x_y_z);
	tcase_add_test(all, products_obey_their_identities);
	tcase_add_test(all, normalising_gives_unit_or_zero);
	tcase_add_test(all, components_are_indexed_by_axis_and_ties_give_the_lower_axis);
	tcase_add_test(all, vec2_agrees_with_the_xy_part_of_vec3);
	tcase_add_test(all, vec3f_agrees_with_vec3_to_float_rounding);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
