/* Stages of a tick under a clock that the test moves. */
#include "server/base/profile.h"

#include <string.h>

#include "server/base/rng.h"
#include "tests/lib/check_main.h"

static uint64_t clock_ns;

static uint64_t read_clock(const void *context)
{
	return *(const uint64_t *)context;
}

static struct profile profile_of_test(void)
{
	return (struct profile){ .now = read_clock, .context = &clock_ns };
}

START_TEST(every_nanosecond_belongs_to_the_stage_entered_last)
{
	struct rng rng = rng_seeded(check_seed());
	struct profile profile = profile_of_test();
	uint64_t expected[PROFILE_STAGES] = { 0 }, all = 0;
	for (uint32_t tick = 0; tick < 50; tick++) {
		enum profile_stage stage = (enum profile_stage)rng_below(&rng, PROFILE_STAGES);
		clock_ns += rng_below(&rng, 1000); /* between ticks: of no stage */
		profile_begin(&profile, stage);
		for (uint32_t i = rng_below(&rng, 40); i > 0; i--) {
			uint64_t ns = rng_below(&rng, 1000);
			clock_ns += ns;
			expected[stage] += ns;
			all += ns;
			enum profile_stage next =
				(enum profile_stage)rng_below(&rng, PROFILE_STAGES);
			ck_assert_int_eq(profile_enter(&profile, next), stage);
			stage = next;
		}
		clock_ns += 7;
		expected[stage] += 7;
		all += 7;
		profile_end(&profile, 2);
	}
	uint64_t sum = 0;
	for (int i = 0; i < PROFILE_STAGES; i++) {
		ck_assert_uint_eq(profile.sums.ns[i], expected[i]);
		sum += profile.sums.ns[i];
	}
	ck_assert_uint_eq(sum, all);
	ck_assert_uint_eq(profile.sums.ticks, 100);
}
END_TEST

START_TEST(without_a_profile_nothing_is_read)
{
	ck_assert_int_eq(profile_enter(NULL, PROFILE_SOLVE), PROFILE_SOLVE);
}
END_TEST

START_TEST(no_two_stages_have_one_name)
{
	for (int i = 0; i < PROFILE_STAGES; i++)
		for (int k = 0; k < i; k++)
			ck_assert_str_ne(profile_stage_name((enum profile_stage)i),
					 profile_stage_name((enum profile_stage)k));
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("server/base/profile");
	TCase *cases = tcase_create("stages");
	tcase_add_test(cases, every_nanosecond_belongs_to_the_stage_entered_last);
	tcase_add_test(cases, without_a_profile_nothing_is_read);
	tcase_add_test(cases, no_two_stages_have_one_name);
	suite_add_tcase(suite, cases);
	return suite;
}

int main(void)
{
	return check_main(make);
}
