/* Deadlines and indices of ticks; expected values are computed by hand: whole seconds, remainders,
 * and properties over random inputs. */
#include "server/tick/clock.h"

#include "server/base/rng.h"
#include "tests/lib/check_main.h"

static const struct tick_rate RATES[] = {
	{ 60, 1 },	 { 120, 1 }, { 240, 1 },   { 50, 1 },	     { 1, 1 }, { 1000, 1 },
	{ 30000, 1001 }, { 1, 10 },  { 10000, 1 }, { 999983, 1000 }, { 7, 3 }, { 1, 1000000 },
};

START_TEST(num_ticks_take_exactly_den_seconds)
{
	struct tick_rate rate = RATES[_i];
	struct tick_clock clock = { .start = 12345, .rate = rate, .speed = TICK_SPEED_NORMAL };
	/* After num ticks exactly den seconds have passed, for up to three years. */
	uint64_t years = UINT64_C(3) * 365 * 86400;
	for (uint64_t times = 1; times <= years / rate.den; times = times * 7 + 1) {
		uint64_t deadline = tick_clock_deadline(&clock, times * rate.num);
		ck_assert_uint_eq(deadline - clock.start, times * rate.den * NS_PER_S);
	}
}
END_TEST

START_TEST(an_interval_is_the_period_or_one_nanosecond_more)
{
	struct tick_rate rate = RATES[_i];
	struct tick_clock clock = { .start = 777, .rate = rate, .speed = TICK_SPEED_NORMAL };
	uint64_t period = tick_rate_period(rate);
	struct rng rng = rng_seeded(check_seed());
	for (uint32_t round = 0; round < 1000; round++) {
		uint64_t n = rng_u64(&rng) >> 30;
		uint64_t here = tick_clock_deadline(&clock, n);
		uint64_t next = tick_clock_deadline(&clock, n + 1);
		if (next == INSTANT_NEVER)
			continue;
		ck_assert_uint_ge(next - here, period);
		ck_assert_uint_le(next - here, period + 1);
	}
}
END_TEST

START_TEST(the_index_is_the_inverse_of_the_deadline)
{
	struct rng rng = rng_seeded(check_seed() + (uint64_t)_i);
	for (uint32_t round = 0; round < 2000; round++) {
		struct tick_clock clock = {
			.start = rng_u64(&rng) >> 20,
			.rate = RATES[_i],
			.speed = 1 + rng_below(&rng, round % 2 ? 3000 : TICK_SPEED_MAX),
		};
		uint32_t shift = 30 + rng_below(&rng, 30);
		uint64_t n = rng_u64(&rng) >> shift;
		uint64_t deadline = tick_clock_deadline(&clock, n);
		if (deadline == INSTANT_NEVER)
			continue;
		/* At a high speed several ticks have the same deadline; the index is that of the
		 * last. */
		uint64_t index = tick_clock_index(&clock, deadline);
		ck_assert_uint_ge(index, n);
		ck_assert_uint_eq(tick_clock_deadline(&clock, index), deadline);
		ck_assert_uint_gt(tick_clock_deadline(&clock, index + 1), deadline);
		if (deadline > clock.start)
			ck_assert_uint_lt(tick_clock_index(&clock, deadline - 1), n);
	}
}
END_TEST

START_TEST(speed_divides_the_period)
{
	struct tick_clock normal = { .rate = { 60, 1 }, .speed = TICK_SPEED_NORMAL };
	struct tick_clock twice = normal, tenth = normal;
	twice.speed = 2000;
	tenth.speed = 100;
	for (uint64_t n = 0; n < 1000; n++) {
		uint64_t deadline = tick_clock_deadline(&normal, n);
		ck_assert_uint_eq(tick_clock_deadline(&twice, 2 * n), deadline);
		ck_assert_uint_eq(tick_clock_deadline(&tenth, n),
				  tick_clock_deadline(&normal, 10 * n));
	}
}
END_TEST

START_TEST(a_deadline_that_overflows_is_never)
{
	struct tick_clock clock = { .start = UINT64_MAX - 1000, .rate = { 60, 1 }, .speed = 1000 };
	ck_assert_uint_eq(tick_clock_deadline(&clock, 0), UINT64_MAX - 1000);
	ck_assert_uint_eq(tick_clock_deadline(&clock, 1), INSTANT_NEVER);
	ck_assert_uint_eq(tick_clock_deadline(&clock, UINT64_MAX), INSTANT_NEVER);
}
END_TEST

START_TEST(rates_out_of_range_are_not_valid)
{
	ck_assert(!tick_rate_valid((struct tick_rate){ 0, 1 }));
	ck_assert(!tick_rate_valid((struct tick_rate){ 1, 0 }));
	ck_assert(!tick_rate_valid((struct tick_rate){ TICK_RATE_MAX + 1, 1000 }));
	ck_assert(!tick_rate_valid((struct tick_rate){ 1, TICK_RATE_MAX + 1 }));
	ck_assert(!tick_rate_valid((struct tick_rate){ 10001, 1 }));
	ck_assert(!tick_rate_valid((struct tick_rate){ 20001, 2 }));
	ck_assert(tick_rate_valid((struct tick_rate){ 10000, 1 }));
	ck_assert(tick_rate_valid((struct tick_rate){ 1, TICK_RATE_MAX }));
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("server/tick/clock");
	TCase *deadline = tcase_create("deadline");
	int rates = COUNT_OF(RATES);
	tcase_add_loop_test(deadline, num_ticks_take_exactly_den_seconds, 0, rates);
	tcase_add_loop_test(deadline, an_interval_is_the_period_or_one_nanosecond_more, 0, rates);
	tcase_add_loop_test(deadline, the_index_is_the_inverse_of_the_deadline, 0, rates);
	tcase_add_test(deadline, speed_divides_the_period);
	tcase_add_test(deadline, a_deadline_that_overflows_is_never);
	tcase_add_test(deadline, rates_out_of_range_are_not_valid);
	suite_add_tcase(suite, deadline);
	return suite;
}

int main(void)
{
	return check_main(make);
}
