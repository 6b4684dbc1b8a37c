/* What profiles cost, for worlds of every size. */
#include "server/tick/profile_credit.h"

#include "server/base/rng.h"
#include "tests/lib/check_main.h"

enum { SLICES = 20000, ENTERED = 40, STAGE_NS = 50 };

/* Runs slices of about `ns`; returns how many were profiled. *spent is what the profiles cost. */
static uint32_t run(struct rng *rng, uint64_t ns, uint64_t *time, uint64_t *spent)
{
	struct profile_credit credit = { 0 };
	uint32_t profiled = 0;
	*time = *spent = 0;
	for (uint32_t i = 0; i < SLICES; i++) {
		uint64_t slice = ns / 2 + rng_below(rng, (uint32_t)ns);
		if (profile_credit_suffices(&credit)) {
			profile_credit_pay(&credit, ENTERED);
			*spent += ENTERED * STAGE_NS;
			profiled++;
		}
		profile_credit_save(&credit, slice);
		*time += slice;
	}
	return profiled;
}

START_TEST(profiles_cost_less_than_one_percent)
{
	struct rng rng = rng_seeded(check_seed());
	uint64_t time, spent;
	for (uint64_t ns = 500; ns < UINT64_C(100000000); ns *= 3) {
		uint32_t profiled = run(&rng, ns, &time, &spent);
		/* The first one is free. */
		ck_assert_uint_le(spent - ENTERED * STAGE_NS, time / 100);
		ck_assert_uint_ge(profiled, 3);
		/* A large world's are all profiled, once a few have paid for the first. */
		if (ns > 1000000)
			ck_assert_uint_ge(profiled, SLICES - 4);
	}
}
END_TEST

START_TEST(a_large_world_that_becomes_small_has_saved_little)
{
	struct profile_credit credit = { 0 };
	for (int i = 0; i < 1000; i++)
		profile_credit_save(&credit, UINT64_C(1000000000));
	uint32_t profiled = 0;
	for (; profile_credit_suffices(&credit); profiled++)
		profile_credit_pay(&credit, ENTERED);
	ck_assert_uint_le(profiled * (uint64_t)ENTERED * STAGE_NS, 1100000);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("server/tick/profile_credit");
	TCase *cases = tcase_create("cost");
	tcase_add_test(cases, profiles_cost_less_than_one_percent);
	tcase_add_test(cases, a_large_world_that_becomes_small_has_saved_little);
	suite_add_tcase(suite, cases);
	return suite;
}

int main(void)
{
	return check_main(make);
}
