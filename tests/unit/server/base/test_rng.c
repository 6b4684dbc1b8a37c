/* The random generator: the published sequence, a state that is a value, and even distributions. */
#include "server/base/rng.h"

#include <string.h>

#include "tests/lib/check_main.h"

/* SplitMix64 from seed 1234567 is in its author's test vectors; the first two outputs of
 * xoshiro256** from state (1, 2, 3, 4) follow from its definition by hand: rotl(2·5, 7)·9 and
 * rotl(0·5, 7)·9. */
START_TEST(the_generator_is_the_published_one)
{
	ck_assert_uint_eq(rng_mix(1234567), 6457827717110365317u);
	ck_assert_uint_eq(rng_mix(1234567 + 0x9e3779b97f4a7c15u), 3203168211198807973u);
	struct rng rng = { { 1, 2, 3, 4 } };
	ck_assert_uint_eq(rng_u64(&rng), 11520);
	ck_assert_uint_eq(rng_u64(&rng), 0);
	ck_assert_uint_eq(rng_u64(&rng), 1509978240);
	ck_assert_uint_eq(rng_u64(&rng), 1215971899390074240);
}
END_TEST

START_TEST(a_copied_state_continues_alike_and_seeds_differ)
{
	struct rng a = rng_seeded(check_seed()), b, c = rng_seeded(check_seed() + 1);
	for (int i = 0; i < 100; i++)
		rng_u64(&a);
	b = a;
	int same = 0;
	for (int i = 0; i < 100; i++) {
		uint64_t x = rng_u64(&a);
		ck_assert_uint_eq(x, rng_u64(&b));
		same += x == rng_u64(&c);
	}
	ck_assert_int_eq(same, 0);
}
END_TEST

START_TEST(no_seed_gives_the_zero_state)
{
	for (uint64_t seed = 0; seed < 1000; seed++) {
		struct rng rng = rng_seeded(seed * 0x9e3779b97f4a7c15u);
		ck_assert(rng.state[0] | rng.state[1] | rng.state[2] | rng.state[3]);
	}
}
END_TEST

START_TEST(doubles_fill_the_unit_interval_evenly)
{
	struct rng rng = rng_seeded(check_seed());
	uint32_t boxes[16] = { 0 };
	double sum = 0;
	for (int i = 0; i < 160000; i++) {
		double x = rng_double(&rng);
		ck_assert(x >= 0 && x < 1);
		boxes[(int)(x * 16)]++;
		sum += x;
	}
	/* The standard deviation of a bin times five is 484, that of the sum times five 577. */
	for (int i = 0; i < 16; i++)
		ck_assert(boxes[i] > 10000 - 500 && boxes[i] < 10000 + 500);
	ck_assert(sum > 80000 - 600 && sum < 80000 + 600);
}
END_TEST

START_TEST(ranges_are_half_open_even_where_rounding_would_close_them)
{
	struct rng rng = rng_seeded(check_seed());
	double next = 1 + 0x1p-52;
	for (int i = 0; i < 2000; i++) {
		ck_assert_double_eq(rng_range(&rng, 1, next), 1);
		ck_assert_double_eq(rng_range(&rng, 3, 3), 3);
		double x = rng_range(&rng, -5, -4);
		ck_assert(x >= -5 && x < -4);
	}
}
END_TEST

START_TEST(small_counts_are_unbiased)
{
	struct rng rng = rng_seeded(check_seed());
	uint32_t boxes[7] = { 0 };
	for (int i = 0; i < 70000; i++)
		boxes[rng_below(&rng, 7)]++;
	for (int i = 0; i < 7; i++)
		ck_assert(boxes[i] > 9500 && boxes[i] < 10500);
	for (int i = 0; i < 100; i++) {
		ck_assert_uint_eq(rng_below(&rng, 1), 0);
		ck_assert_uint_lt(rng_below(&rng, 0xfffffffb), 0xfffffffb);
	}
	/* With a plain remainder, half of all draws below 3·2^30 would be in the lowest third. */
	uint32_t low = 0;
	for (int i = 0; i < 30000; i++)
		low += rng_below(&rng, 3u << 30) < 1u << 30;
	ck_assert(low > 9500 && low < 10500);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("rng");
	TCase *all = tcase_create("rng");
	tcase_add_test(all, the_generator_is_the_published_one);
	tcase_add_test(all, a_copied_state_continues_alike_and_seeds_differ);
	tcase_add_test(all, no_seed_gives_the_zero_state);
	tcase_add_test(all, doubles_fill_the_unit_interval_evenly);
	tcase_add_test(all, ranges_are_half_open_even_where_rounding_would_close_them);
	tcase_add_test(all, small_counts_are_unbiased);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
