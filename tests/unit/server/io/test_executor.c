/* The contract of executor.h, on threads and on the simulated executor. */
#include "server/io/executor.h"

#include <stdlib.h>
#include <string.h>

#include "server/io/executor_uv.h"
#include "server/io/io_uv.h"
#include "tests/lib/check_main.h"
#include "tests/lib/io_sim.h"

enum backend { UV, SIM, BACKENDS };
enum { WORKERS = 3, POSTS = 2000 };

struct rig {
	struct io_sim *sim;
	struct io *io;
	struct executor *executor;
};

static void rig_open(struct rig *rig, int backend, uint32_t queue_length)
{
	memset(rig, 0, sizeof *rig);
	struct executor_options executor = { WORKERS, 2, queue_length, 0 };
	if (backend == SIM) {
		struct io_sim_options options = io_sim_options_default(check_seed());
		options.executor = executor;
		ck_assert_int_eq(io_sim_create(&options, &rig->sim), STATUS_OK);
		rig->io = io_sim_host(rig->sim, 0);
		rig->executor = io_sim_executor(rig->sim);
		return;
	}
	ck_assert_int_eq(io_uv_create(&io_limits_default, &rig->io), STATUS_OK);
	ck_assert_int_eq(executor_uv_create(rig->io, &executor, &rig->executor), STATUS_OK);
}

static void rig_close(struct rig *rig)
{
	executor_destroy(rig->executor);
	if (rig->sim != NULL)
		io_sim_destroy(rig->sim);
	else
		io_uv_destroy(rig->io);
}

static void start(struct rig *rig)
{
	struct reason why;
	ck_assert_int_eq(executor_start(rig->executor, &why), STATUS_OK);
}

/* Calls of one thread; the test reads the counts after executor_stop. */
struct track {
	struct executor *executor;
	enum executor_thread thread;
	uint32_t next; /* the number expected next */
	uint32_t wrong;
	uint32_t elsewhere; /* calls on another thread */
};

struct numbered {
	struct track *track;
	uint32_t number;
};

static void on_numbered(void *context)
{
	struct numbered *numbered = context;
	struct track *track = numbered->track;
	track->wrong += numbered->number != track->next;
	track->next = numbered->number + 1;
	track->elsewhere += executor_current(track->executor) != track->thread;
}

static struct numbered numbers[EXECUTOR_WORKER + WORKERS][POSTS];

START_TEST(posted_work_runs_in_order_on_its_thread)
{
	struct rig rig;
	struct track tracks[EXECUTOR_WORKER + WORKERS];
	rig_open(&rig, _i, POSTS);
	ck_assert_int_eq(executor_current(rig.executor), EXECUTOR_LOOP);
	/* The first half is posted before the threads start. */
	for (uint32_t n = 0; n < POSTS; n++) {
		if (n == POSTS / 2)
			start(&rig);
		for (uint32_t thread = 0; thread < COUNT_OF(tracks); thread++) {
			struct numbered *numbered = &numbers[thread][n];
			if (n == 0)
				tracks[thread] =
					(struct track){ rig.executor, (enum executor_thread)thread,
							0, 0, 0 };
			*numbered = (struct numbered){ &tracks[thread], n };
			ck_assert_int_eq(executor_post(rig.executor, (enum executor_thread)thread,
						       on_numbered, numbered),
					 STATUS_OK);
		}
	}
	executor_stop(rig.executor);
	for (uint32_t thread = 0; thread < COUNT_OF(tracks); thread++) {
		ck_assert_uint_eq(tracks[thread].next, POSTS);
		ck_assert_uint_eq(tracks[thread].wrong, 0);
		ck_assert_uint_eq(tracks[thread].elsewhere, 0);
	}
	rig_close(&rig);
}
END_TEST

static void on_nothing(void *context)
{
	UNUSED(context);
}

START_TEST(a_full_queue_answers_full_and_a_stopped_thread_closed)
{
	struct rig rig;
	struct executor_counters counters;
	rig_open(&rig, _i, 8);
	for (uint32_t i = 0; i < 8; i++)
		ck_assert_int_eq(executor_post(rig.executor, EXECUTOR_STORE, on_nothing, NULL),
				 STATUS_OK);
	ck_assert_int_eq(executor_post(rig.executor, EXECUTOR_STORE, on_nothing, NULL),
			 STATUS_FULL);
	executor_counters(rig.executor, &counters);
	ck_assert_uint_eq(counters.posts[EXECUTOR_STORE], 8);
	ck_assert_uint_eq(counters.refused[EXECUTOR_STORE], 1);
	ck_assert_uint_eq(counters.depth_max[EXECUTOR_STORE], 8);
	start(&rig);
	executor_stop(rig.executor);
	ck_assert_int_eq(executor_post(rig.executor, EXECUTOR_STORE, on_nothing, NULL),
			 STATUS_CLOSED);
	rig_close(&rig);
}
END_TEST

/* ---- wakeups ------------------------------------------------------------------------------- */
/* Adds an item of work, then makes the wakeup pending: at the end no item may be left. */
struct wakeup_work {
	struct rig *rig;
	struct wakeup wakeup;
	atomic_uint pending_items;
	uint32_t done, answers;
};

static void on_wakeup(void *context)
{
	struct wakeup_work *wakeup_work = context;
	wakeup_work->answers++;
	wakeup_work->done += atomic_exchange(&wakeup_work->pending_items, 0);
}

static void wake_often(void *context)
{
	struct wakeup_work *wakeup_work = context;
	for (uint32_t i = 0; i < 50; i++) {
		atomic_fetch_add(&wakeup_work->pending_items, 1);
		executor_wake(wakeup_work->rig->executor, EXECUTOR_HELPER, &wakeup_work->wakeup);
	}
}

START_TEST(a_wakeup_from_many_threads_is_never_lost)
{
	struct rig rig;
	struct wakeup_work wakeup_work = { .rig = &rig };
	enum { ROUNDS = 100 };
	rig_open(&rig, _i, 1024);
	wakeup_init(&wakeup_work.wakeup, on_wakeup, &wakeup_work);
	atomic_init(&wakeup_work.pending_items, 0);
	start(&rig);
	for (uint32_t i = 0; i < ROUNDS; i++)
		for (uint32_t w = 0; w < WORKERS; w++)
			ck_assert_int_eq(executor_post(rig.executor,
						       (enum executor_thread)(EXECUTOR_WORKER + w),
						       wake_often, &wakeup_work),
					 STATUS_OK);
	executor_stop(rig.executor);
	ck_assert_uint_eq(wakeup_work.done, ROUNDS * WORKERS * 50);
	ck_assert_uint_eq(atomic_load(&wakeup_work.pending_items), 0);
	ck_assert_uint_le(wakeup_work.answers, ROUNDS * WORKERS * 50);
	rig_close(&rig);
}
END_TEST

START_TEST(two_wakeups_before_the_call_cause_one_call)
{
	struct rig rig;
	struct wakeup_work wakeup_work = { .rig = &rig };
	rig_open(&rig, _i, 8);
	wakeup_init(&wakeup_work.wakeup, on_wakeup, &wakeup_work);
	atomic_init(&wakeup_work.pending_items, 0);
	executor_wake(rig.executor, EXECUTOR_HELPER, &wakeup_work.wakeup);
	executor_wake(rig.executor, EXECUTOR_HELPER, &wakeup_work.wakeup);
	start(&rig);
	executor_stop(rig.executor);
	ck_assert_uint_eq(wakeup_work.answers, 1);
	rig_close(&rig);
}
END_TEST

/* ---- alarms -------------------------------------------------------------------------------- */
struct clockwork {
	struct rig *rig;
	uint64_t wanted;
	uint32_t early, went_off;
};

static void stop_loop(void *context)
{
	io_stop(((struct rig *)context)->io);
}

/* An alarm every millisecond, forty times; each is set from the previous due instant, not from now. */
static void on_alarm(void *context)
{
	struct clockwork *self = context;
	self->early += executor_now(self->rig->executor) < self->wanted;
	self->went_off++;
	if (self->went_off == 40) {
		ck_assert_int_eq(
			executor_post(self->rig->executor, EXECUTOR_LOOP, stop_loop, self->rig),
			STATUS_OK);
		return;
	}
	self->wanted += NS_PER_MS;
	/* An alarm that is moved forward is one alarm, not two. */
	executor_set_alarm(self->rig->executor, self->wanted + NS_PER_S);
	executor_set_alarm(self->rig->executor, self->wanted);
}

static void set_first_alarm(void *context)
{
	struct clockwork *self = context;
	self->wanted = executor_now(self->rig->executor) + NS_PER_MS;
	executor_set_alarm(self->rig->executor, self->wanted);
}

START_TEST(an_alarm_fires_once_each_time_it_is_set_and_never_early)
{
	struct rig rig;
	struct clockwork clockwork = { &rig, 0, 0, 0 };
	rig_open(&rig, _i, 8);
	executor_on_alarm(rig.executor, EXECUTOR_WORKER, on_alarm, &clockwork);
	start(&rig);
	ck_assert_int_eq(executor_post(rig.executor, EXECUTOR_WORKER, set_first_alarm, &clockwork),
			 STATUS_OK);
	io_run(rig.io);
	executor_stop(rig.executor);
	ck_assert_uint_eq(clockwork.went_off, 40);
	ck_assert_uint_eq(clockwork.early, 0);
	rig_close(&rig);
}
END_TEST

static void set_past(void *context)
{
	struct clockwork *self = context;
	self->wanted = 0;
	self->went_off = 39;
	executor_set_alarm(self->rig->executor, 0);
}

START_TEST(an_alarm_in_the_past_fires_at_once)
{
	struct rig rig;
	struct clockwork clockwork = { &rig, 0, 0, 0 };
	rig_open(&rig, _i, 8);
	executor_on_alarm(rig.executor, EXECUTOR_WORKER + 1, on_alarm, &clockwork);
	start(&rig);
	ck_assert_int_eq(executor_post(rig.executor, EXECUTOR_WORKER + 1, set_past, &clockwork),
			 STATUS_OK);
	io_run(rig.io);
	executor_stop(rig.executor);
	ck_assert_uint_eq(clockwork.went_off, 40);
	rig_close(&rig);
}
END_TEST

/* ---- the end ------------------------------------------------------------------------------- */
/* A worker posts every item to STORE, and STORE posts it to LOOP. No item may be lost, although
 * LOOP's queue is short and LOOP is stopping. */
struct chain {
	struct rig *rig;
	uint32_t at_worker, at_store, at_loop, refused;
};

static void chain_loop(void *context)
{
	((struct chain *)context)->at_loop++;
}

static void chain_store(void *context)
{
	struct chain *chain = context;
	chain->at_store++;
	while (executor_post(chain->rig->executor, EXECUTOR_LOOP, chain_loop, chain) != STATUS_OK)
		chain->refused++;
}

static void chain_worker(void *context)
{
	struct chain *chain = context;
	chain->at_worker++;
	ck_assert_int_eq(executor_post(chain->rig->executor, EXECUTOR_STORE, chain_store, chain),
			 STATUS_OK);
}

START_TEST(stopping_finishes_work_passed_from_workers_to_the_store_and_to_loop)
{
	struct rig rig;
	struct chain chain = { &rig, 0, 0, 0, 0 };
	rig_open(&rig, _i, 512);
	start(&rig);
	for (uint32_t i = 0; i < 500; i++)
		ck_assert_int_eq(executor_post(rig.executor, EXECUTOR_WORKER, chain_worker, &chain),
				 STATUS_OK);
	executor_stop(rig.executor);
	ck_assert_uint_eq(chain.at_worker, 500);
	ck_assert_uint_eq(chain.at_store, 500);
	ck_assert_uint_eq(chain.at_loop, 500);
	rig_close(&rig);
}
END_TEST

START_TEST(options_out_of_range_are_refused)
{
	struct executor *executor;
	struct io *io;
	struct executor_options options = executor_options_default();
	ck_assert_uint_ge(options.workers, 1);
	ck_assert_int_eq(io_uv_create(&io_limits_default, &io), STATUS_OK);
	options.workers = 0;
	ck_assert_int_eq(executor_uv_create(io, &options, &executor), STATUS_RANGE);
	options.workers = EXECUTOR_WORKERS_MAX + 1;
	ck_assert_int_eq(executor_uv_create(io, &options, &executor), STATUS_RANGE);
	options = executor_options_default();
	options.step_workers = PARALLEL_WORKERS_MAX + 1;
	ck_assert_int_eq(executor_uv_create(io, &options, &executor), STATUS_RANGE);
	io_uv_destroy(io);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("server/io/executor");
	TCase *contract = tcase_create("contract");
	tcase_add_loop_test(contract, posted_work_runs_in_order_on_its_thread, 0, BACKENDS);
	tcase_add_loop_test(contract, a_full_queue_answers_full_and_a_stopped_thread_closed, 0,
			    BACKENDS);
	tcase_add_loop_test(contract, a_wakeup_from_many_threads_is_never_lost, 0, BACKENDS);
	tcase_add_loop_test(contract, two_wakeups_before_the_call_cause_one_call, 0, BACKENDS);
	tcase_add_loop_test(contract, an_alarm_fires_once_each_time_it_is_set_and_never_early, 0,
			    BACKENDS);
	tcase_add_loop_test(contract, an_alarm_in_the_past_fires_at_once, 0, BACKENDS);
	tcase_add_loop_test(contract,
			    stopping_finishes_work_passed_from_workers_to_the_store_and_to_loop, 0,
			    BACKENDS);
	tcase_add_test(contract, options_out_of_range_are_refused);
	suite_add_tcase(suite, contract);
	return suite;
}

int main(void)
{
	return check_main(make);
}
