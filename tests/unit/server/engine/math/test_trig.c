/* Accuracy against tests/data/trig_points.txt, whose values have 90 digits before rounding, and the
 * properties that no table shows. */
#include "server/engine/math/trig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/base.h"
#include "server/base/rng.h"
#include "server/engine/math/scalar.h"
#include "tests/lib/check_main.h"

/* a − b in units in the last place; a and b have the same sign. */
static double ulps_between(double a, double b)
{
	int64_t x, y;
	memcpy(&x, &a, sizeof x);
	memcpy(&y, &b, sizeof y);
	return (double)(x - y) * (x < 0 ? -1 : 1);
}

static double evaluate(const char *name, double x, double y)
{
	static const struct {
		const char *name;
		double (*one)(double);
		double (*two)(double, double);
	} functions[] = {
		{ "sin", trig_sin, NULL },   { "cos", trig_cos, NULL },
		{ "atan", trig_atan, NULL }, { "atan2", NULL, trig_atan2 },
		{ "exp", trig_exp, NULL },   { "pow", NULL, trig_pow },
	};
	for (size_t i = 0; i < COUNT_OF(functions); i++)
		if (strcmp(name, functions[i].name) == 0)
			return functions[i].one ? functions[i].one(x) : functions[i].two(x, y);
	ck_abort_msg("no function %s", name);
}

static bool has_two_arguments(const char *name)
{
	return !strcmp(name, "atan2") || !strcmp(name, "pow");
}

struct accuracy {
	uint32_t points;
	double worst, at[2]; /* units in the last place; arguments */
};

static struct accuracy measure(const char *wanted)
{
	char path[1024], line[256], name[16];
	const char *root = getenv("CAIRN_SRCDIR");
	snprintf(path, sizeof path, "%s/tests/data/trig_points.txt", root ? root : ".");
	FILE *file = fopen(path, "r");
	ck_assert_msg(file != NULL, "%s", path);
	struct accuracy result = { 0 };
	while (fgets(line, sizeof line, file)) {
		unsigned long long bits[3];
		double rest;
		if (sscanf(line, "%15s", name) != 1 || strcmp(name, wanted) != 0)
			continue;
		int fields = has_two_arguments(name) ? sscanf(line, "%*s %llx %llx %llx %lf",
							      &bits[0], &bits[1], &bits[2], &rest)
						     : 1 + sscanf(line, "%*s %llx %llx %lf",
								  &bits[0], &bits[2], &rest);
		ck_assert_int_eq(fields, 4);
		double x = scalar_from_bits(bits[0]);
		double y = has_two_arguments(name) ? scalar_from_bits(bits[1]) : 0;
		double near = scalar_from_bits(bits[2]);
		double error = scalar_abs(ulps_between(evaluate(name, x, y), near) - rest);
		result.points++;
		if (!(error <= result.worst))
			result = (struct accuracy){ result.points, error, { x, y } };
	}
	fclose(file);
	return result;
}

/* The accuracy that trig.h states for each function. */
static const struct {
	const char *name;
	double units;
} STATED[] = {
	{ "sin", 0.65 },   { "cos", 0.65 }, { "atan", 0.51 },
	{ "atan2", 0.51 }, { "exp", 0.51 }, { "pow", 0.51 },
};

START_TEST(every_hard_point_is_within_the_stated_accuracy)
{
	struct accuracy found = measure(STATED[_i].name);
	printf("# %-6s %4u points, at most %.3f units of the last place, at %.17g %.17g\n",
	       STATED[_i].name, found.points, found.worst, found.at[0], found.at[1]);
	fflush(stdout);
	ck_assert_uint_gt(found.points, 150);
	ck_assert_double_le(found.worst, STATED[_i].units);
}
END_TEST

START_TEST(sine_and_cosine_squared_sum_to_one_at_every_size)
{
	struct rng rng = rng_seeded(check_seed());
	for (int i = 0; i < 20000; i++) {
		uint64_t bits = rng_u64(&rng);
		double s, c, x = scalar_from_bits(bits);
		if (!scalar_is_finite(x))
			continue;
		trig_sincos(x, &s, &c);
		ck_assert_double_le(scalar_abs(s * s + c * c - 1), 4e-16);
		ck_assert(trig_sin(x) == s && trig_cos(x) == c);
		ck_assert(trig_sin(-x) == -s && trig_cos(-x) == c);
	}
}
END_TEST

START_TEST(both_angle_reductions_agree_at_their_border)
{
	/* The reduction changes at 2^20: Cody and Waite below, Payne and Hanek above. */
	for (int i = -2000; i < 2000; i++) {
		double x = 0x1p20 + i * 0x1p-8, s, c, s1, c1;
		trig_sincos(x, &s, &c);
		trig_sincos(x + 0x1p-8, &s1, &c1);
		double step = 0x1p-8;
		ck_assert_double_le(scalar_abs(s1 - s - step * c), step * step);
		ck_assert_double_le(scalar_abs(c1 - c + step * s), step * step);
	}
}
END_TEST

START_TEST(the_arctangent_of_sine_and_cosine_is_the_angle)
{
	struct rng rng = rng_seeded(check_seed());
	for (int i = 0; i < 20000; i++) {
		double a = rng_range(&rng, -PI / 2, PI / 2), t = rng_range(&rng, -PI, PI);
		ck_assert_double_le(scalar_abs(trig_atan(trig_sin(a) / trig_cos(a)) - a), 1e-15);
		double r = trig_exp(rng_range(&rng, -300, 300));
		double back = trig_atan2(r * trig_sin(t), r * trig_cos(t));
		ck_assert_double_le(scalar_abs(back - t), 1e-15);
	}
}
END_TEST

START_TEST(functions_are_monotonic_between_neighbouring_doubles)
{
	struct rng rng = rng_seeded(check_seed());
	for (int i = 0; i < 20000; i++) {
		double x = rng_range(&rng, 1e-3, 1), y = scalar_from_bits(scalar_bits(x) + 1);
		ck_assert(trig_atan(y) >= trig_atan(x));
		ck_assert(trig_sin(y) >= trig_sin(x));
		ck_assert(trig_cos(y) <= trig_cos(x));
		ck_assert(trig_exp(y) >= trig_exp(x));
	}
}
END_TEST

static const double INF = 1.0 / 0.0, NAN_HERE = 0.0 / 0.0;

START_TEST(nan_arguments_give_nan)
{
	double (*const one[])(double) = { trig_sin, trig_cos, trig_atan, trig_exp };
	for (size_t i = 0; i < COUNT_OF(one); i++)
		ck_assert(scalar_is_nan(one[i](NAN_HERE)));
	ck_assert(scalar_is_nan(trig_atan2(NAN_HERE, 1)) && scalar_is_nan(trig_atan2(1, NAN_HERE)));
	ck_assert(scalar_is_nan(trig_sin(INF)) && scalar_is_nan(trig_cos(-INF)));
}
END_TEST

START_TEST(limits_of_the_range_are_exact)
{
	ck_assert(trig_exp(0) == 1 && trig_exp(INF) == INF && trig_exp(-INF) == 0);
	ck_assert(scalar_is_finite(trig_exp(0x1.62e42fefa39efp+9)));
	ck_assert(trig_exp(0x1.62e42fefa39f0p+9) == INF);
	ck_assert(trig_exp(-745.13) == 0x1p-1074 && trig_exp(-745.14) == 0);
	ck_assert(trig_atan(INF) == PI / 2 && trig_atan(-INF) == -PI / 2);
}
END_TEST

START_TEST(atan2_honours_signed_zeros_and_infinities)
{
	ck_assert(scalar_bits(trig_atan2(0.0, 1)) == scalar_bits(0.0));
	ck_assert(scalar_bits(trig_atan2(-0.0, 1)) == scalar_bits(-0.0));
	ck_assert(trig_atan2(0.0, -0.0) == PI && trig_atan2(-0.0, -0.0) == -PI);
	ck_assert(scalar_bits(trig_atan2(-0.0, 0.0)) == scalar_bits(-0.0));
	ck_assert(trig_atan2(1, 0) == PI / 2 && trig_atan2(-1, -0.0) == -PI / 2);
	ck_assert(trig_atan2(INF, INF) == PI / 4 && trig_atan2(-INF, -INF) == -3 * PI / 4);
	ck_assert(trig_atan2(5, INF) == 0 && trig_atan2(5, -INF) == PI);
	ck_assert(trig_atan2(-INF, 5) == -PI / 2);
	ck_assert(scalar_bits(trig_sin(-0.0)) == scalar_bits(-0.0));
}
END_TEST

START_TEST(powers_of_special_numbers_follow_c99)
{
	ck_assert(trig_pow(NAN_HERE, 0) == 1 && trig_pow(1, NAN_HERE) == 1);
	ck_assert(trig_pow(-1, INF) == 1 && trig_pow(0.5, INF) == 0 && trig_pow(0.5, -INF) == INF);
	ck_assert(trig_pow(2, INF) == INF && trig_pow(2, -INF) == 0);
	ck_assert(trig_pow(0.0, 3) == 0 && trig_pow(0.0, -2) == INF && trig_pow(-0.0, -3) == -INF);
	ck_assert(scalar_bits(trig_pow(-0.0, 3)) == scalar_bits(-0.0));
	ck_assert(trig_pow(-INF, 3) == -INF && trig_pow(-INF, 2) == INF && trig_pow(INF, -1) == 0);
	ck_assert(scalar_is_nan(trig_pow(-2, 0.5)));
	ck_assert(trig_pow(-2, 3) == -8 && trig_pow(-2, 4) == 16);
	ck_assert(trig_pow(2, -1074) == 0x1p-1074);
	ck_assert(trig_pow(0x1p-1074, 0.5) == 0x1p-537 && trig_pow(0x1p-1074, -0.5) == 0x1p537);
	ck_assert(trig_pow(2, 1023) == 0x1p1023 && trig_pow(2, 1024) == INF);
	ck_assert(trig_pow(2, -1100) == 0 && trig_pow(10, 2) == 100 && trig_pow(9, 0.5) == 3);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("trig");
	TCase *points = tcase_create("accuracy");
	tcase_add_loop_test(points, every_hard_point_is_within_the_stated_accuracy, 0,
			    (int)COUNT_OF(STATED));
	suite_add_tcase(suite, points);
	TCase *properties = tcase_create("properties");
	tcase_add_test(properties, sine_and_cosine_squared_sum_to_one_at_every_size);
	tcase_add_test(properties, both_angle_reductions_agree_at_their_border);
	tcase_add_test(properties, the_arctangent_of_sine_and_cosine_is_the_angle);
	tcase_add_test(properties, functions_are_monotonic_between_neighbouring_doubles);
	suite_add_tcase(suite, properties);
	TCase *special = tcase_create("special values");
	tcase_add_test(special, nan_arguments_give_nan);
	tcase_add_test(special, limits_of_the_range_are_exact);
	tcase_add_test(special, atan2_honours_signed_zeros_and_infinities);
	tcase_add_test(special, powers_of_special_numbers_follow_c99);
	suite_add_tcase(suite, special);
	return suite;
}

int main(void)
{
	return check_main(make);
}
