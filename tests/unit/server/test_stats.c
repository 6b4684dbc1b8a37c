/* The oracle is a sorted array. */
#include "server/stats.h"

#include <stdlib.h>
#include <string.h>

#include "server/base/rng.h"
#include "tests/lib/check_main.h"

enum { VALUES = 5000 };

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

START_TEST(a_quantile_is_never_under_the_true_one_nor_an_eighth_over_it)
{
	static struct time_histogram histogram;
	static uint64_t values[VALUES];
	struct rng rng = rng_seeded(check_seed() + (uint64_t)_i);
	histogram_reset(&histogram);
	uint64_t sum = 0;
	for (uint32_t i = 0; i < VALUES; i++) {
		uint32_t shift = 25 + rng_below(&rng, 39);
		values[i] = rng_u64(&rng) >> shift;
		sum += values[i];
		histogram_add(&histogram, values[i]);
	}
	qsort(values, VALUES, sizeof values[0], by_value);
	for (uint32_t percent = 1; percent <= 100; percent++) {
		uint64_t truth = values[VALUES / 100 * percent - 1];
		uint64_t ours = histogram_quantile(&histogram, percent / 100.0);
		ck_assert_uint_ge(ours, truth);
		ck_assert_uint_le(ours, truth + truth / HISTOGRAM_SUB);
	}
	ck_assert_uint_eq(counter_read(&histogram.count), VALUES);
	ck_assert_uint_eq(counter_read(&histogram.sum), sum);
	ck_assert_uint_eq(counter_read(&histogram.max), values[VALUES - 1]);
}
END_TEST

START_TEST(every_single_value_is_its_own_median)
{
	static struct time_histogram histogram;
	for (uint32_t shift = 0; shift < 64; shift++) {
		for (int64_t offset = -1; offset <= 1; offset++) {
			uint64_t value = (UINT64_C(1) << shift) + (uint64_t)offset;
			histogram_reset(&histogram);
			histogram_add(&histogram, value);
			ck_assert_uint_eq(histogram_quantile(&histogram, 0.5), value);
			ck_assert_uint_eq(histogram_quantile(&histogram, 1), value);
		}
	}
}
END_TEST

START_TEST(an_empty_histogram_is_zero)
{
	static struct time_histogram histogram;
	ck_assert_uint_eq(histogram_quantile(&histogram, 0.5), 0);
	ck_assert(histogram_mean(&histogram) == 0);
}
END_TEST

START_TEST(every_phase_has_a_name_of_its_own)
{
	for (int i = 0; i < PHASE_COUNT; i++)
		for (int j = 0; j < i; j++)
			ck_assert_str_ne(tick_phase_name((enum tick_phase)i),
					 tick_phase_name((enum tick_phase)j));
}
END_TEST

START_TEST(a_line_for_people_has_the_figures_in_microseconds)
{
	static struct time_histogram histogram;
	char text[200], small[10];
	histogram_reset(&histogram);
	histogram_add(&histogram, 5000);
	int length = histogram_print(&histogram, "step", text, sizeof text);
	ck_assert_str_eq(text, "step_count=1 step_mean_us=5.0 step_p50_us=5.0 step_p99_us=5.0 "
			       "step_max_us=5.0");
	ck_assert_int_eq(length, (int)strlen(text));
	ck_assert_int_eq(histogram_print(&histogram, "step", small, sizeof small), length);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("server/stats");
	TCase *histogram = tcase_create("histogram");
	tcase_add_loop_test(histogram, a_quantile_is_never_under_the_true_one_nor_an_eighth_over_it,
			    0, 10);
	tcase_add_test(histogram, every_single_value_is_its_own_median);
	tcase_add_test(histogram, an_empty_histogram_is_zero);
	tcase_add_test(histogram, every_phase_has_a_name_of_its_own);
	tcase_add_test(histogram, a_line_for_people_has_the_figures_in_microseconds);
	suite_add_tcase(suite, histogram);
	return suite;
}

int main(void)
{
	return check_main(make);
}
