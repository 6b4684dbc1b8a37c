/* Many lives of the daemon, each from one seed (tests/lib/sim_life.h): clients of every kind come, do
 * what the seed says, and break what can break.
 *
 * SEEDS=N in the environment lives so many of them instead of the few that fit into a suite, ACTS=N
 * makes each so long; CAIRN_SEED is the first one. `make soak-twin` lives ten thousand. */
#include <stdlib.h>

#include "tests/lib/check_main.h"
#include "tests/lib/sim_life.h"

enum { SEEDS_DEFAULT = 32, ACTS_DEFAULT = 300 };

static uint32_t wanted(const char *name, uint32_t fallback)
{
	const char *text = getenv(name);
	return text != NULL ? (uint32_t)strtoul(text, NULL, 10) : fallback;
}

START_TEST(whatever_happens_mirrors_are_the_world_and_batches_have_one_fate)
{
	life_live(check_seed() + (uint64_t)_i, wanted("ACTS", ACTS_DEFAULT));
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("tests/sim/random");
	TCase *lives = tcase_create("lives");
	tcase_set_timeout(lives, 120);
	tcase_add_loop_test(lives, whatever_happens_mirrors_are_the_world_and_batches_have_one_fate,
			    0, (int)wanted("SEEDS", SEEDS_DEFAULT));
	suite_add_tcase(suite, lives);
	return suite;
}

int main(void)
{
	return check_main(make);
}
