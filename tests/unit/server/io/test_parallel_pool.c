/* Parallel pool: every item is processed once, with any number of workers and callers. */
#include "server/io/parallel_pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "server/base/rng.h"
#include "tests/lib/check_main.h"
#include "tests/lib/io_sim.h"

enum { ITEMS = 5000, CALLERS = 3 };

struct job {
	uint32_t workers;
	uint32_t grain;
	uint32_t count;
	/* For each item: how often it was processed, and its result. */
	uint32_t done[ITEMS];
	double value[ITEMS];
	atomic_uint bad_worker, short_runs;
};

static void work(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	struct job *job = context;
	if (worker >= job->workers || first >= last || last > job->count)
		atomic_fetch_add(&job->bad_worker, 1);
	if (last - first < job->grain && last != job->count)
		atomic_fetch_add(&job->short_runs, 1);
	for (uint32_t i = first; i < last; i++) {
		job->done[i]++;
		job->value[i] = 1.0 / (i + 1.0);
	}
}

/* Runs a job and checks that each item was processed exactly once; returns the sum in index order. */
static double run_and_check(const struct parallel *parallel, struct job *job, uint32_t count,
			    uint32_t grain)
{
	memset(job, 0, sizeof *job);
	job->workers = parallel->workers;
	job->grain = grain;
	job->count = count;
	parallel_run(parallel, count, grain, work, job);
	ck_assert_uint_eq(atomic_load(&job->bad_worker), 0);
	ck_assert_uint_eq(atomic_load(&job->short_runs), 0);
	double sum = 0;
	uint32_t wrong = 0;
	for (uint32_t i = 0; i < ITEMS; i++) {
		wrong += job->done[i] != (i < count);
		sum += job->value[i];
	}
	ck_assert_uint_eq(wrong, 0);
	return sum;
}

static struct job jobs[CALLERS];

START_TEST(every_item_is_processed_once_and_the_result_equals_that_of_one_worker)
{
	struct parallel_pool *pool;
	struct rng rng = rng_seeded(check_seed());
	static struct job serial;
	ck_assert_int_eq(parallel_pool_create((uint32_t)_i, &pool), STATUS_OK);
	const struct parallel *parallel = parallel_pool_parallel(pool);
	ck_assert_uint_eq(parallel->workers, (uint32_t)_i);
	for (uint32_t round = 0; round < 200; round++) {
		uint32_t count = rng_below(&rng, ITEMS), grain = rng_below(&rng, 300);
		double ours = run_and_check(parallel, &jobs[0], count, grain);
		ck_assert(ours == run_and_check(&parallel_serial, &serial, count, 0));
	}
	parallel_pool_destroy(pool);
}
END_TEST

static void count_one(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	uint8_t *seen = context;
	for (uint32_t i = first; i < last; i++)
		seen[i]++;
}

START_TEST(thousands_of_small_stages_lose_no_item)
{
	struct parallel_pool *pool;
	uint32_t wrong = 0;
	ck_assert_int_eq(parallel_pool_create(4, &pool), STATUS_OK);
	const struct parallel *parallel = parallel_pool_parallel(pool);
	for (uint32_t round = 0; round < 5000; round++) {
		uint8_t seen[24] = { 0 };
		uint32_t count = 1 + round % COUNT_OF(seen);
		parallel_run(parallel, count, 1, count_one, seen);
		for (uint32_t i = 0; i < COUNT_OF(seen); i++)
			wrong += seen[i] != (i < count);
	}
	ck_assert_uint_eq(wrong, 0);
	parallel_pool_destroy(pool);
}
END_TEST

struct caller {
	const struct parallel *parallel;
	uint32_t index;
	pthread_t thread;
	uint32_t wrong;
};

static void *caller_main(void *context)
{
	struct caller *caller = context;
	uint8_t seen[200];
	for (uint32_t round = 0; round < 300; round++) {
		memset(seen, 0, sizeof seen);
		parallel_run(caller->parallel, sizeof seen, 1, count_one, seen);
		for (uint32_t i = 0; i < sizeof seen; i++)
			caller->wrong += seen[i] != 1;
	}
	return NULL;
}

START_TEST(several_callers_at_once_get_their_own_results)
{
	struct parallel_pool *pool;
	struct caller callers[CALLERS];
	ck_assert_int_eq(parallel_pool_create(3, &pool), STATUS_OK);
	for (uint32_t i = 0; i < CALLERS; i++) {
		callers[i] =
			(struct caller){ .parallel = parallel_pool_parallel(pool), .index = i };
		ck_assert_int_eq(pthread_create(&callers[i].thread, NULL, caller_main, &callers[i]),
				 0);
	}
	for (uint32_t i = 0; i < CALLERS; i++) {
		ck_assert_int_eq(pthread_join(callers[i].thread, NULL), 0);
		ck_assert_uint_eq(callers[i].wrong, 0);
	}
	parallel_pool_destroy(pool);
}
END_TEST

START_TEST(a_number_of_workers_out_of_range_is_refused)
{
	struct parallel_pool *pool;
	ck_assert_int_eq(parallel_pool_create(0, &pool), STATUS_RANGE);
	ck_assert_int_eq(parallel_pool_create(PARALLEL_WORKERS_MAX + 1, &pool), STATUS_RANGE);
}
END_TEST

START_TEST(the_simulated_pool_shuffles_the_pieces_and_keeps_the_contract)
{
	struct io_sim *sim;
	struct io_sim_options options = io_sim_options_default(check_seed());
	ck_assert_int_eq(io_sim_create(&options, &sim), STATUS_OK);
	const struct parallel *parallel = executor_parallel(io_sim_executor(sim));
	static struct job serial;
	for (uint32_t count = 1; count < ITEMS; count = count * 3 + 1) {
		double ours = run_and_check(parallel, &jobs[0], count, 7);
		ck_assert(ours == run_and_check(&parallel_serial, &serial, count, 0));
	}
	io_sim_destroy(sim);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("server/io/parallel_pool");
	TCase *run = tcase_create("run");
	tcase_add_loop_test(
		run, every_item_is_processed_once_and_the_result_equals_that_of_one_worker, 1, 6);
	tcase_add_test(run, thousands_of_small_stages_lose_no_item);
	tcase_add_test(run, several_callers_at_once_get_their_own_results);
	tcase_add_test(run, a_number_of_workers_out_of_range_is_refused);
	tcase_add_test(run, the_simulated_pool_shuffles_the_pieces_and_keeps_the_contract);
	suite_add_tcase(suite, run);
	return suite;
}

int main(void)
{
	return check_main(make);
}
