/* Many simulated lives of the daemon, each from one seed (tests/lib/sim_life.h): clients of every
 * kind connect, act at random, and fail in every way that is simulated.
 *
 * SEEDS=N in the environment runs N lives instead of the few that fit into a suite, ACTS=N sets
 * their length; CAIRN_SEED is the first seed. `make soak-twin` runs ten thousand. */
#include <stdlib.h>

#include "tests/lib/check_main.h"
#include "tests/lib/sim_life.h"

/* Every eighth life is a long one. */
enum { SEEDS_DEFAULT = 32, ACTS_DEFAULT = 300, LONG_EVERY = 8, LONG = 4 };

static uint32_t environment_number(const char *name, uint32_t fallback)
{
	const char *text = getenv(name);
	return text != NULL ? (uint32_t)strtoul(text, NULL, 10) : fallback;
}

START_TEST(mirrors_equal_the_world_and_every_batch_has_one_result)
{
	uint64_t seed = check_seed() + (uint64_t)_i;
	(void)life_live(seed, environment_number("ACTS", ACTS_DEFAULT) *
				      (seed % LONG_EVERY == 0 ? LONG : 1));
}
END_TEST

/* Seeds that once failed. 20242715: a journal's queue had space again after its world had left the
 * pool, while a restart waited for requests to finish. */
static const uint64_t failed_seeds[] = { 20242715 };

START_TEST(seeds_that_once_failed_pass)
{
	(void)life_live(failed_seeds[_i], ACTS_DEFAULT);
}
END_TEST

/* The hash of a life must not depend on its file paths, or on its tokens, which come from the
 * machine's entropy. */
START_TEST(a_seed_gives_the_same_life_again)
{
	uint64_t seed = check_seed() + 100 + (uint64_t)_i;
	ck_assert_uint_eq(life_live(seed, 150), life_live(seed, 150));
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("tests/sim/random");
	TCase *lives = tcase_create("lives");
	tcase_set_timeout(lives, 120);
	tcase_add_loop_test(lives, mirrors_equal_the_world_and_every_batch_has_one_result, 0,
			    (int)environment_number("SEEDS", SEEDS_DEFAULT));
	/* tests/sim/soak sets SEEDS and counts one result for each. */
	if (getenv("SEEDS") == NULL) {
		tcase_add_loop_test(lives, seeds_that_once_failed_pass, 0, COUNT_OF(failed_seeds));
		tcase_add_loop_test(lives, a_seed_gives_the_same_life_again, 0, 6);
	}
	suite_add_tcase(suite, lives);
	return suite;
}

int main(void)
{
	return check_main(make);
}
