/* Random scenes give the same state hashes for any number of workers, for any width of vectors, and after
 * a restore that rebuilds the caches. */
#include "server/base/processor.h"
#include "server/base/rng.h"
#include "tests/lib/check_main.h"
#include "tests/lib/stage_scenes.h"

static const uint32_t WORKERS[] = { 2, 3, 8 };
/* More threads than processors take turns, so scenes with many workers have few ticks. */
enum { MANY = 4, MANY_TICKS = 5 };

static void make_overlap_bomb(struct stage *stage, uint64_t seed)
{
	stage_ground(stage);
	stage_bomb(stage, 200, seed);
}

static void make_mixed(struct stage *stage, uint64_t seed)
{
	stage_mixed(stage, 80, seed);
}

/* Steps the scene with one worker and with others. The hashes must be equal after every tick. */
static void compare_workers(void (*scene)(struct stage *, uint64_t), uint64_t seed, uint32_t ticks)
{
	for (uint32_t w = 0; w < COUNT_OF(WORKERS); w++) {
		struct stage one, many;
		stage_init(&one, "soft-step");
		stage_init(&many, "soft-step");
		many.parallel = parallel_threads_create(WORKERS[w]);
		scene(&one, seed);
		scene(&many, seed);
		uint32_t count = WORKERS[w] < MANY ? ticks : MIN_OF(ticks, (uint32_t)MANY_TICKS);
		for (uint32_t tick = 0; tick < count; tick++) {
			stage_step(&one);
			stage_step(&many);
			ck_assert_msg(stage_hash(&one) == stage_hash(&many),
				      "%u workers, seed %llu: tick %u differs", WORKERS[w],
				      (unsigned long long)seed, tick);
		}
		parallel_threads_destroy((struct parallel *)many.parallel);
		stage_release(&one);
		stage_release(&many);
	}
}

START_TEST(the_overlap_bomb_has_one_hash_for_any_number_of_workers)
{
	compare_workers(make_overlap_bomb, 7, 6);
}
END_TEST

START_TEST(mixed_scenes_have_one_hash_for_any_number_of_workers)
{
	compare_workers(make_mixed, check_seed(), 40);
	compare_workers(make_mixed, check_seed() + 1, 40);
}
END_TEST

/* Elastic balls and boxes in a heap, so that blocks have balls and others, and some bounce. */
static void make_bouncing(struct stage *stage, uint64_t seed)
{
	make_mixed(stage, seed);
	for (uint32_t body = 0; body < stage->tables.body.count; body += 2)
		stage->tables.body.restitution[body] = 0.8;
}

START_TEST(scenes_have_one_hash_for_any_width_of_vectors)
{
	static const uint32_t LANES[] = { 1, 4, 8, 16 };
	enum { WIDTHS = 4 };
	static void (*const SCENES[])(struct stage *, uint64_t) = { make_overlap_bomb, make_mixed,
								    make_bouncing };
	struct stage stages[WIDTHS];
	for (uint32_t w = 0; w < WIDTHS; w++) {
		stage_init(&stages[w], "soft-step");
		SCENES[_i](&stages[w], check_seed());
	}
	for (uint32_t tick = 0; tick < (_i == 0 ? 6 : 60); tick++)
		for (uint32_t w = 0; w < WIDTHS; w++) {
			processor_limit_lanes(LANES[w]);
			stage_step(&stages[w]);
			ck_assert_msg(stage_hash(&stages[w]) == stage_hash(&stages[0]),
				      "%u lanes: tick %u differs", LANES[w], tick);
		}
	for (uint32_t w = 0; w < WIDTHS; w++)
		stage_release(&stages[w]);
}
END_TEST

START_TEST(restoring_at_random_ticks_changes_no_hash)
{
	struct rng rng = rng_seeded(check_seed());
	struct stage straight, restored;
	stage_init(&straight, "soft-step");
	stage_init(&restored, "soft-step");
	stage_mixed(&straight, 60, check_seed());
	stage_restore(&restored, &straight);
	for (uint32_t tick = 0; tick < 150; tick++) {
		if (rng_below(&rng, 10) == 0)
			stage_restore(&restored, &straight);
		stage_step(&straight);
		stage_step(&restored);
		ck_assert_uint_eq(stage_hash(&restored), stage_hash(&straight));
	}
	stage_release(&straight);
	stage_release(&restored);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("property/workers");
	TCase *workers = tcase_create("workers");
	tcase_add_test(workers, the_overlap_bomb_has_one_hash_for_any_number_of_workers);
	tcase_add_test(workers, mixed_scenes_have_one_hash_for_any_number_of_workers);
	tcase_add_loop_test(workers, scenes_have_one_hash_for_any_width_of_vectors, 0, 3);
	tcase_add_test(workers, restoring_at_random_ticks_changes_no_hash);
	suite_add_tcase(suite, workers);
	return suite;
}

int main(void)
{
	return check_main(make);
}
