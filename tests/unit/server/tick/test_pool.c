/* The pool of workers, on the simulated executor (random seeds, simulated costs of steps) and on
 * threads. */
#include "server/tick/pool.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/io/executor_uv.h"
#include "server/io/io_uv.h"
#include "server/tick/schedule.h"
#include "tests/lib/check_main.h"
#include "tests/lib/io_sim.h"

enum backend { UV, SIM, BACKENDS };
enum { WORLDS = 12, WORKERS = 3, TASKS = 400 };

struct rig {
	struct io_sim *sim;
	struct io *io;
	struct executor *executor;
	struct pool *pool;
	struct io_timer *timer;
	uint32_t removed;
};

/* A stand-in for a world: a schedule, a cost, and a check that only one thread runs it at a time. */
struct world {
	struct runnable runnable;
	struct rig *rig;
	struct schedule schedule;
	uint64_t cost; /* simulated time of a step, ns */
	uint64_t steps, late_max;
	atomic_flag inside;
	uint32_t
		collisions; /* calls while another thread was inside, or on a thread that may not run it */
	uint64_t early;
	uint32_t tasks, disordered;
	bool removed;
	bool borrowed;	     /* LOOP has borrowed it and may run it */
	atomic_bool blocked; /* while set, its slice does not end */
	atomic_bool inside_now;
	atomic_uint seen_steps, seen_tasks; /* copies that another thread may read */
};

static void enter(struct world *world)
{
	enum executor_thread thread = executor_current(world->rig->executor);
	bool worker = thread >= EXECUTOR_WORKER && thread < EXECUTOR_THREADS_MAX;
	bool borrower = thread == EXECUTOR_LOOP && world->borrowed;
	world->collisions += atomic_flag_test_and_set(&world->inside) || !(worker || borrower);
}

static void leave(struct world *world)
{
	atomic_flag_clear(&world->inside);
}

static uint64_t world_due(struct runnable *runnable)
{
	return schedule_due(&((struct world *)runnable)->schedule);
}

static uint32_t world_run(struct runnable *runnable, uint64_t now, uint64_t until)
{
	UNUSED(until);
	struct world *world = (struct world *)runnable;
	struct schedule_turn turn;
	enter(world);
	if (!schedule_begin(&world->schedule, now, &turn)) {
		world->early++;
		leave(world);
		return 0;
	}
	world->late_max = MAX_OF(world->late_max, turn.lateness);
	world->steps++;
	if (world->rig->sim != NULL)
		io_sim_spend(world->rig->sim, world->cost);
	atomic_store(&world->inside_now, true);
	while (atomic_load(&world->blocked))
		nanosleep(&(struct timespec){ 0, NS_PER_MS }, NULL);
	atomic_store(&world->inside_now, false);
	atomic_fetch_add(&world->seen_steps, 1);
	uint64_t after = executor_now(world->rig->executor);
	(void)schedule_end(&world->schedule, after - now, after);
	leave(world);
	return 1;
}

static const struct runnable_ops WORLD_OPS = { world_due, world_run };

static struct world worlds[WORLDS];

static void rig_open_slices(struct rig *rig, int backend, uint64_t slice_ns)
{
	memset(rig, 0, sizeof *rig);
	struct executor_options executor = { WORKERS, 1, 64, 0 };
	if (backend == SIM) {
		struct io_sim_options options = io_sim_options_default(check_seed());
		options.executor = executor;
		ck_assert_int_eq(io_sim_create(&options, &rig->sim), STATUS_OK);
		rig->io = io_sim_host(rig->sim, 0);
		rig->executor = io_sim_executor(rig->sim);
	} else {
		ck_assert_int_eq(io_uv_create(&io_limits_default, &rig->io), STATUS_OK);
		ck_assert_int_eq(executor_uv_create(rig->io, &executor, &rig->executor), STATUS_OK);
	}
	/* The machine may be busy, so on threads LOOP may spend a whole second of a turn on
	 * borrowed worlds. */
	struct pool_options options = { WORLDS, TASKS,
					rig->sim != NULL ? 100 * NS_PER_US : NS_PER_S, slice_ns };
	ck_assert_int_eq(pool_create(rig->executor, &options, &rig->pool), STATUS_OK);
	memset(worlds, 0, sizeof worlds);
	for (uint32_t i = 0; i < WORLDS; i++) {
		worlds[i].runnable = (struct runnable){ &WORLD_OPS, i + 1, NULL };
		worlds[i].rig = rig;
		atomic_flag_clear(&worlds[i].inside);
		schedule_init(&worlds[i].schedule, (struct tick_rate){ 100, 1 }, 0);
	}
	struct reason why;
	ck_assert_int_eq(executor_start(rig->executor, &why), STATUS_OK);
}

/* A slice is one step. */
static void rig_open(struct rig *rig, int backend)
{
	rig_open_slices(rig, backend, 0);
}

static void stop_io(void *context)
{
	io_stop(context);
}

static void run_for(struct rig *rig, uint64_t ns)
{
	if (rig->sim != NULL) {
		io_sim_run_until(rig->sim, io_sim_now(rig->sim) + ns);
		return;
	}
	ck_assert_int_eq(io_timer_create(rig->io, stop_io, rig->io, &rig->timer), STATUS_OK);
	io_timer_start(rig->timer, io_now(rig->io) + ns);
	io_run(rig->io);
	io_timer_destroy(rig->timer);
}

static void rig_close(struct rig *rig)
{
	executor_stop(rig->executor);
	for (uint32_t i = 0; i < WORLDS; i++) {
		ck_assert_uint_eq(worlds[i].collisions, 0);
		ck_assert_uint_eq(worlds[i].early, 0);
		ck_assert_uint_eq(worlds[i].disordered, 0);
	}
	pool_destroy(rig->pool);
	executor_destroy(rig->executor);
	if (rig->sim != NULL)
		io_sim_destroy(rig->sim);
	else
		io_uv_destroy(rig->io);
}

static void on_removed(struct runnable *runnable, void *context)
{
	struct rig *rig = context;
	ck_assert_ptr_null(runnable->pooled);
	ck_assert_int_eq(executor_current(rig->executor), EXECUTOR_LOOP);
	((struct world *)runnable)->removed = true;
	rig->removed++;
}

static void add_all(struct rig *rig)
{
	for (uint32_t i = 0; i < WORLDS; i++) {
		schedule_run(&worlds[i].schedule, executor_now(rig->executor));
		ck_assert_int_eq(pool_add(rig->pool, &worlds[i].runnable), STATUS_OK);
	}
}

START_TEST(worlds_are_spread_evenly_over_workers_and_keep_their_rates)
{
	struct rig rig;
	rig_open(&rig, _i);
	add_all(&rig);
	struct world extra = { .runnable = { &WORLD_OPS, 99, NULL } };
	ck_assert_int_eq(pool_add(rig.pool, &extra.runnable), STATUS_LIMIT);
	uint32_t on[WORKERS] = { 0 };
	for (uint32_t i = 0; i < WORLDS; i++)
		on[pool_worker_of(&worlds[i].runnable)]++;
	for (uint32_t i = 0; i < WORKERS; i++)
		ck_assert_uint_eq(on[i], WORLDS / WORKERS);
	run_for(&rig, rig.sim != NULL ? 10 * NS_PER_S : 200 * NS_PER_MS);
	executor_stop(rig.executor);
	uint64_t expected = rig.sim != NULL ? 999 : 10;
	for (uint32_t i = 0; i < WORLDS; i++) {
		ck_assert_uint_ge(worlds[i].steps, expected);
		if (rig.sim != NULL)
			ck_assert_uint_le(worlds[i].steps, 1000);
	}
	rig_close(&rig);
}
END_TEST

START_TEST(a_world_with_many_requested_steps_delays_others_by_one_step_at_most)
{
	struct rig rig;
	rig_open(&rig, SIM);
	/* World 0 has ten thousand requested steps of 5 ms; a step of the others takes 10 µs. */
	for (uint32_t i = 0; i < WORLDS; i++)
		worlds[i].cost = i == 0 ? 5 * NS_PER_MS : 10 * NS_PER_US;
	schedule_request(&worlds[0].schedule, 10000);
	add_all(&rig);
	/* The simulated executor answers one wakeup a turn, so the first ticks of the others are
	 * late by a few slices. */
	run_for(&rig, 100 * NS_PER_MS);
	for (uint32_t i = 0; i < WORLDS; i++)
		worlds[i].late_max = 0;
	run_for(&rig, 5 * NS_PER_S);
	for (uint32_t i = 1; i < WORLDS; i++) {
		ck_assert_uint_ge(worlds[i].steps, 498);
		ck_assert_uint_eq(worlds[i].schedule.dropped, 0);
		/* 5 ms for one step of world 0, and 1 ms for the rest. */
		ck_assert_uint_le(worlds[i].late_max, 6 * NS_PER_MS);
	}
	ck_assert_uint_gt(worlds[0].steps, 900);
	rig_close(&rig);
}
END_TEST

START_TEST(a_slice_makes_requested_steps_until_its_time_is_up_and_of_the_clock_one_at_a_time)
{
	struct rig rig;
	rig_open_slices(&rig, SIM, 500 * NS_PER_US);
	/* World 0 has requested steps of 7 µs, so a slice makes 72 of them; world 1 is due by its clock. */
	for (uint32_t i = 0; i < WORLDS; i++)
		worlds[i].cost = 7 * NS_PER_US;
	schedule_request(&worlds[0].schedule, 1000);
	ck_assert_int_eq(pool_add(rig.pool, &worlds[0].runnable), STATUS_OK);
	schedule_run(&worlds[1].schedule, executor_now(rig.executor));
	ck_assert_int_eq(pool_add(rig.pool, &worlds[1].runnable), STATUS_OK);
	/* With one step a slice, 1000 steps would take 1000 turns of the worker. */
	uint32_t turns = 0, steps = 0, most = 0;
	while (worlds[0].steps < 1000 && turns < 1000) {
		ck_assert(io_sim_step(rig.sim));
		most = MAX_OF(most, (uint32_t)worlds[0].steps - steps);
		turns += worlds[0].steps > steps;
		steps = (uint32_t)worlds[0].steps;
	}
	ck_assert_uint_eq(worlds[0].steps, 1000);
	ck_assert_uint_eq(most, 72);
	ck_assert_uint_le(turns, 1000 / 72 + 1);
	run_for(&rig, NS_PER_S);
	ck_assert_uint_ge(worlds[1].steps, 99);
	ck_assert_uint_le(worlds[1].steps, 102);
	rig_close(&rig);
}
END_TEST

START_TEST(balancing_moves_costly_worlds_to_other_workers_and_no_tick_is_dropped)
{
	struct rig rig;
	rig_open(&rig, SIM);
	add_all(&rig);
	/* Four costly worlds on the same worker: 4 × 4 ms in 10 ms do not fit. */
	uint32_t first = pool_worker_of(&worlds[0].runnable), costly = 0;
	for (uint32_t i = 0; i < WORLDS; i++) {
		bool here = pool_worker_of(&worlds[i].runnable) == first;
		worlds[i].cost = here ? 4 * NS_PER_MS : 10 * NS_PER_US;
		costly += here;
	}
	ck_assert_uint_eq(costly, 4);
	uint32_t moves = 0;
	for (uint32_t second = 0; second < 10; second++) {
		run_for(&rig, NS_PER_S);
		moves += pool_balance(rig.pool);
	}
	ck_assert_uint_ge(moves, 2);
	ck_assert_uint_le(moves, 6);
	uint64_t steps = worlds[0].steps, dropped = worlds[0].schedule.dropped;
	run_for(&rig, NS_PER_S);
	ck_assert_uint_ge(worlds[0].steps - steps, 99);
	ck_assert_uint_eq(worlds[0].schedule.dropped, dropped);
	rig_close(&rig);
}
END_TEST

/* No move of one of them alone narrows the gap by a tenth. */
START_TEST(many_small_worlds_are_spread_again)
{
	struct rig rig;
	rig_open(&rig, SIM);
	add_all(&rig);
	uint32_t first = pool_worker_of(&worlds[0].runnable), left = 0;
	for (uint32_t i = 0; i < WORLDS; i++)
		worlds[i].cost = pool_worker_of(&worlds[i].runnable) == first ? 480 * NS_PER_US : 0;
	uint32_t moves = 0;
	for (uint32_t second = 0; second < 10; second++) {
		run_for(&rig, NS_PER_S);
		moves += pool_balance(rig.pool);
	}
	run_for(&rig, NS_PER_S);
	for (uint32_t i = 0; i < WORLDS; i++)
		left += worlds[i].cost > 0 && pool_worker_of(&worlds[i].runnable) == first;
	ck_assert_uint_ge(moves, 1);
	ck_assert_uint_le(moves, 2);
	ck_assert_uint_le(left, 3);
	rig_close(&rig);
}
END_TEST

static void count_task(struct runnable *runnable, void *context)
{
	UNUSED(context);
	atomic_fetch_add(&((struct world *)runnable)->seen_tasks, 1);
}

/* On threads: the slice of world 0 does not end before every other world has made five steps and
 * run its task. That includes the worlds and tasks of the blocked worker, which pool_relieve moves
 * away. */
START_TEST(worlds_behind_a_long_slice_move_to_other_workers)
{
	struct rig rig;
	uint32_t steps[WORLDS];
	rig_open(&rig, UV);
	add_all(&rig);
	run_for(&rig, 50 * NS_PER_MS);
	atomic_store(&worlds[0].blocked, true);
	while (!atomic_load(&worlds[0].inside_now))
		run_for(&rig, NS_PER_MS);
	uint32_t blocked_worker = pool_worker_of(&worlds[0].runnable), neighbours = 0;
	for (uint32_t i = 1; i < WORLDS; i++) {
		steps[i] = atomic_load(&worlds[i].seen_steps);
		neighbours += pool_worker_of(&worlds[i].runnable) == blocked_worker;
		ck_assert_int_eq(pool_post(&worlds[i].runnable, count_task, NULL), STATUS_OK);
	}
	ck_assert_uint_gt(neighbours, 0);
	bool all = false;
	for (int n = 0; n < 5000 && !all; n++) {
		run_for(&rig, 2 * NS_PER_MS);
		(void)pool_relieve(rig.pool);
		all = true;
		for (uint32_t i = 1; i < WORLDS; i++)
			all = all && atomic_load(&worlds[i].seen_steps) >= steps[i] + 5 &&
			      atomic_load(&worlds[i].seen_tasks) == 1;
	}
	ck_assert(atomic_load(&worlds[0].inside_now));
	atomic_store(&worlds[0].blocked, false);
	ck_assert(all);
	struct pool_counters counters;
	pool_counters(rig.pool, &counters);
	ck_assert_uint_ge(counters.relieved, neighbours);
	/* World 0 runs again on its worker. */
	uint32_t before = atomic_load(&worlds[0].seen_steps);
	for (int n = 0; n < 5000 && atomic_load(&worlds[0].seen_steps) < before + 5; n++)
		run_for(&rig, 2 * NS_PER_MS);
	ck_assert_uint_ge(atomic_load(&worlds[0].seen_steps), before + 5);
	rig_close(&rig);
}
END_TEST

/* ---- tasks ---------------------------------------------------------------------------------- */
struct note {
	uint32_t number;
	uint32_t times;
};

static struct note notes[WORLDS][TASKS];

static void on_task(struct runnable *runnable, void *context)
{
	struct world *world = (struct world *)runnable;
	struct note *note = context;
	enter(world);
	note->times++;
	world->disordered += note->number != world->tasks++;
	leave(world);
}

START_TEST(tasks_run_once_in_order_while_worlds_run_and_move)
{
	struct rig rig;
	rig_open(&rig, _i);
	memset(notes, 0, sizeof notes);
	add_all(&rig);
	for (uint32_t n = 0; n < TASKS; n++) {
		for (uint32_t i = 0; i < WORLDS; i++) {
			notes[i][n].number = n;
			ck_assert_int_eq(pool_post(&worlds[i].runnable, on_task, &notes[i][n]),
					 STATUS_OK);
			pool_wake(&worlds[i].runnable);
		}
		if (n % 40 != 0)
			continue;
		for (uint32_t i = 0; i < WORLDS; i++)
			worlds[i].cost = (i < WORLDS / 2) == (n % 80 == 0) ? 3 * NS_PER_MS : 0;
		run_for(&rig, rig.sim != NULL ? 200 * NS_PER_MS : NS_PER_MS);
		(void)pool_balance(rig.pool);
	}
	for (uint32_t i = 0; i < WORLDS; i++)
		pool_remove(rig.pool, &worlds[i].runnable, on_removed, &rig);
	run_for(&rig, rig.sim != NULL ? NS_PER_S : 100 * NS_PER_MS);
	ck_assert_uint_eq(rig.removed, WORLDS);
	for (uint32_t i = 0; i < WORLDS; i++)
		ck_assert_uint_eq(worlds[i].tasks, TASKS);
	rig_close(&rig);
}
END_TEST

struct waiting {
	struct rig *rig;
	uint64_t posted, most; /* ns */
	uint32_t done;
};

static void on_waiting(struct runnable *runnable, void *context)
{
	struct waiting *waiting = context;
	UNUSED(runnable);
	uint64_t waited = executor_now(waiting->rig->executor) - waiting->posted;
	waiting->most = MAX_OF(waiting->most, waited);
	waiting->done++;
}

START_TEST(tasks_of_worlds_with_too_much_work_wait_for_one_round)
{
	/* Steps of 10 ms at 100 Hz, four worlds a worker: a round takes 40 ms, and all are always due. */
	const uint64_t step = 10 * NS_PER_MS, round = WORLDS / WORKERS * step;
	struct rig rig;
	rig_open(&rig, SIM);
	for (uint32_t i = 0; i < WORLDS; i++)
		worlds[i].cost = step;
	add_all(&rig);
	run_for(&rig, NS_PER_S);
	for (uint32_t n = 0; n < 20; n++) {
		struct waiting waiting = { &rig, executor_now(rig.executor), 0, 0 };
		for (uint32_t i = 0; i < WORLDS; i++)
			ck_assert_int_eq(pool_post(&worlds[i].runnable, on_waiting, &waiting),
					 STATUS_OK);
		run_for(&rig, WORLDS * round);
		ck_assert_uint_eq(waiting.done, WORLDS);
		ck_assert_uint_le(waiting.most, round);
	}
	rig_close(&rig);
}
END_TEST

START_TEST(a_full_queue_answers_full_and_a_removed_runnable_answers_closed)
{
	struct rig rig;
	struct note note = { 0, 0 };
	rig_open(&rig, SIM);
	ck_assert_int_eq(pool_add(rig.pool, &worlds[0].runnable), STATUS_OK);
	for (uint32_t n = 0; n < TASKS; n++)
		ck_assert_int_eq(pool_post(&worlds[0].runnable, on_task, &note), STATUS_OK);
	ck_assert_int_eq(pool_post(&worlds[0].runnable, on_task, &note), STATUS_FULL);
	pool_remove(rig.pool, &worlds[0].runnable, on_removed, &rig);
	ck_assert_int_eq(pool_post(&worlds[0].runnable, on_task, &note), STATUS_CLOSED);
	run_for(&rig, NS_PER_S);
	ck_assert_uint_eq(note.times, TASKS);
	ck_assert(worlds[0].removed);
	worlds[0].disordered = 0; /* all tasks have the number 0 */
	rig_close(&rig);
}
END_TEST

START_TEST(deferrable_tasks_leave_half_the_queue_free)
{
	struct rig rig;
	struct note note = { 0, 0 };
	uint32_t taken = 0;
	rig_open(&rig, SIM);
	ck_assert_int_eq(pool_add(rig.pool, &worlds[0].runnable), STATUS_OK);
	while (pool_post_deferrable(&worlds[0].runnable, on_task, &note) == STATUS_OK)
		taken++;
	ck_assert_uint_eq(taken, TASKS / 2);
	for (; taken < TASKS; taken++)
		ck_assert_int_eq(pool_post(&worlds[0].runnable, on_task, &note), STATUS_OK);
	ck_assert_int_eq(pool_post_deferrable(&worlds[0].runnable, on_task, &note), STATUS_FULL);
	run_for(&rig, NS_PER_S);
	ck_assert_uint_eq(note.times, TASKS);
	ck_assert_int_eq(pool_post_deferrable(&worlds[0].runnable, on_task, &note), STATUS_OK);
	run_for(&rig, NS_PER_S);
	worlds[0].disordered = 0; /* all tasks have the number 0 */
	rig_close(&rig);
}
END_TEST

START_TEST(worlds_are_added_and_removed_while_others_run)
{
	struct rig rig;
	uint32_t expected = 0;
	rig_open(&rig, _i);
	add_all(&rig);
	for (uint32_t round = 0; round < 20; round++) {
		for (uint32_t i = round % 3; i < WORLDS; i += 3) {
			pool_wake(&worlds[i].runnable);
			pool_remove(rig.pool, &worlds[i].runnable, on_removed, &rig);
			pool_wake(&worlds[i].runnable);
			expected++;
		}
		while (rig.removed < expected)
			run_for(&rig, 2 * NS_PER_MS);
		for (uint32_t i = round % 3; i < WORLDS; i += 3)
			ck_assert_int_eq(pool_add(rig.pool, &worlds[i].runnable), STATUS_OK);
		run_for(&rig, 3 * NS_PER_MS);
		(void)pool_balance(rig.pool);
	}
	rig_close(&rig);
}
END_TEST

/* ---- borrowing ------------------------------------------------------------------------------- */
static void run_one_slice(struct rig *rig, struct world *world)
{
	schedule_request(&world->schedule, 1);
	pool_wake(&world->runnable);
	run_for(rig, 20 * NS_PER_MS);
}

static bool borrow(struct world *world, uint32_t slices)
{
	world->borrowed = pool_borrow(&world->runnable, slices);
	return world->borrowed;
}

static void give_back(struct world *world)
{
	world->borrowed = false;
	pool_give_back(&world->runnable);
}

/* Runs `work` on LOOP; simulated time passes only while the simulation runs. */
static void on_loop(struct rig *rig, executor_work *work)
{
	ck_assert_int_eq(executor_post(rig->executor, EXECUTOR_LOOP, work, rig), STATUS_OK);
	run_for(rig, rig->sim != NULL ? 20 * NS_PER_MS : NS_PER_MS);
}

static void borrow_and_step_100_times(void *context)
{
	struct rig *rig = context;
	struct world *world = &worlds[0];
	for (uint64_t n = 0; n < 100; n++) {
		ck_assert(borrow(world, 2));
		ck_assert(!pool_slice(&world->runnable)); /* nothing is due */
		schedule_request(&world->schedule, 1);
		ck_assert(pool_slice(&world->runnable));
		ck_assert(!pool_slice(&world->runnable));
		give_back(world);
		pool_end_turn(rig->pool);
	}
}

START_TEST(a_borrowed_world_steps_on_loop_and_wakes_no_worker)
{
	struct rig rig;
	struct executor_counters before, after;
	struct pool_counters counters;
	rig_open(&rig, SIM);
	struct world *world = &worlds[0];
	ck_assert_int_eq(pool_add(rig.pool, &world->runnable), STATUS_OK);
	/* Refused: its first task is under way to its worker (busy); then its cost is not known yet
	 * (costly). */
	ck_assert(!borrow(world, 1));
	run_for(&rig, 20 * NS_PER_MS);
	ck_assert(!borrow(world, 1));
	world->cost = 10 * NS_PER_US;
	run_one_slice(&rig, world);
	ck_assert_uint_eq(world->steps, 1);
	executor_counters(rig.executor, &before);
	on_loop(&rig, borrow_and_step_100_times);
	executor_counters(rig.executor, &after);
	ck_assert_uint_eq(world->steps, 101);
	for (uint32_t i = 0; i < EXECUTOR_WORKER + WORKERS; i++)
		ck_assert_uint_eq(after.wakeups[i], before.wakeups[i]);
	pool_counters(rig.pool, &counters);
	ck_assert_uint_eq(counters.borrowed, 100);
	ck_assert_uint_eq(counters.slices, 100);
	ck_assert_uint_eq(counters.busy, 1);
	ck_assert_uint_eq(counters.costly, 1);
	rig_close(&rig);
}
END_TEST

static void borrow_and_step(struct world *world)
{
	ck_assert(borrow(world, 1));
	schedule_request(&world->schedule, 1);
	ck_assert(pool_slice(&world->runnable));
	give_back(world);
}

static void spend_turns(void *context)
{
	struct rig *rig = context;
	for (uint32_t turn = 0; turn < 3; turn++) {
		ck_assert(!borrow(&worlds[2], 1));
		ck_assert(!borrow(&worlds[0], 4));
		for (uint32_t n = 0; n < 3; n++)
			borrow_and_step(&worlds[n % 2]);
		ck_assert(!borrow(&worlds[0], 1));
		pool_end_turn(rig->pool);
	}
	/* A world whose last slice took 200 µs is not borrowed again … */
	worlds[0].cost = 200 * NS_PER_US;
	borrow_and_step(&worlds[0]);
	pool_end_turn(rig->pool);
	ck_assert(!borrow(&worlds[0], 1));
}

START_TEST(a_turn_of_loop_borrows_only_what_fits_into_its_time)
{
	struct rig rig;
	rig_open(&rig, SIM);
	for (uint32_t i = 0; i < 3; i++) {
		worlds[i].cost = (i == 2 ? 101 : 30) * NS_PER_US;
		ck_assert_int_eq(pool_add(rig.pool, &worlds[i].runnable), STATUS_OK);
		run_one_slice(&rig, &worlds[i]);
	}
	on_loop(&rig, spend_turns);
	/* … until a slice on its worker takes less than the limit. */
	worlds[0].cost = 30 * NS_PER_US;
	run_one_slice(&rig, &worlds[0]);
	ck_assert(borrow(&worlds[0], 1));
	give_back(&worlds[0]);
	rig_close(&rig);
}
END_TEST

static uint32_t round_of_tasks, borrowed_slices;

/* Runs a task the quickest way: on LOOP if the world can be borrowed, else posted. */
static void send_quickly(struct world *world, struct note *note)
{
	if (!borrow(world, 1)) {
		ck_assert_int_eq(pool_post(&world->runnable, on_task, note), STATUS_OK);
		return;
	}
	on_task(&world->runnable, note);
	schedule_request(&world->schedule, 1);
	borrowed_slices += pool_slice(&world->runnable);
	give_back(world);
}

static void send_round(void *context)
{
	struct rig *rig = context;
	uint32_t round = round_of_tasks++;
	for (uint32_t i = 0; i < WORLDS; i++)
		for (uint32_t k = 0; k < 4; k++) {
			struct note *note = &notes[i][4 * round + k];
			struct runnable *runnable = &worlds[i].runnable;
			note->number = 4 * round + k;
			if (k == (round + i) % 5)
				ck_assert_int_eq(pool_post(runnable, on_task, note), STATUS_OK);
			else
				send_quickly(&worlds[i], note);
			if (k == (round + i) % 7)
				pool_wake(runnable);
		}
	pool_end_turn(rig->pool);
	for (uint32_t i = 0; round % 20 == 0 && i < WORLDS; i++)
		worlds[i].cost = (i < WORLDS / 2) == (round % 40 == 0) ? 3 * NS_PER_MS : 0;
	if (round % 10 == 0)
		(void)pool_balance(rig->pool);
}

START_TEST(tasks_keep_their_order_between_loop_and_workers)
{
	struct rig rig;
	uint64_t steps[WORLDS] = { 0 };
	rig_open(&rig, _i);
	memset(notes, 0, sizeof notes);
	round_of_tasks = borrowed_slices = 0;
	for (uint32_t i = 0; i < WORLDS; i++) {
		/* Worlds with an even index also run by the clock. */
		if (i % 2 == 0)
			schedule_run(&worlds[i].schedule, executor_now(rig.executor));
		schedule_request(&worlds[i].schedule, 1);
		ck_assert_int_eq(pool_add(rig.pool, &worlds[i].runnable), STATUS_OK);
	}
	run_for(&rig, 50 * NS_PER_MS);
	while (round_of_tasks < TASKS / 4)
		on_loop(&rig, send_round);
	run_for(&rig, 50 * NS_PER_MS);
	for (uint32_t i = 0; rig.sim != NULL && i < WORLDS; i++)
		steps[i] = worlds[i].steps;
	run_for(&rig, 200 * NS_PER_MS);
	executor_stop(rig.executor);
	for (uint32_t i = 0; i < WORLDS; i++) {
		bool clocked = i % 2 == 0;
		ck_assert_uint_eq(worlds[i].tasks, TASKS);
		if (rig.sim != NULL)
			ck_assert_uint_ge(worlds[i].steps, steps[i] + (clocked ? 15 : 0));
	}
	ck_assert_uint_gt(borrowed_slices, 0);
	rig_close(&rig);
}
END_TEST

/* A task, a wakeup, a deadline or a removal that reaches the worker while LOOP has the world waits
 * until LOOP gives the world back. */
START_TEST(work_for_a_borrowed_world_happens_after_it_is_given_back)
{
	enum { TASK, WAKE, CLOCK, REMOVE };
	struct rig rig;
	struct note note = { 0, 0 };
	rig_open(&rig, SIM);
	struct world *world = &worlds[0];
	if (_i == CLOCK)
		schedule_run(&world->schedule, executor_now(rig.executor));
	ck_assert_int_eq(pool_add(rig.pool, &world->runnable), STATUS_OK);
	run_for(&rig, 20 * NS_PER_MS);
	uint64_t steps = world->steps;
	ck_assert(borrow(world, 0));
	if (_i == TASK)
		ck_assert_int_eq(pool_post(&world->runnable, on_task, &note), STATUS_OK);
	if (_i == WAKE) {
		schedule_request(&world->schedule, 1);
		pool_wake(&world->runnable);
	}
	if (_i == REMOVE)
		pool_remove(rig.pool, &world->runnable, on_removed, &rig);
	run_for(&rig, 100 * NS_PER_MS);
	ck_assert_uint_eq(world->steps, steps);
	ck_assert_uint_eq(note.times, 0);
	ck_assert(!world->removed);
	give_back(world);
	/* the worker has been woken and goes first */
	ck_assert(_i == REMOVE || !pool_borrow(&world->runnable, 0));
	run_for(&rig, 100 * NS_PER_MS);
	ck_assert_uint_eq(note.times, _i == TASK);
	ck_assert_int_eq(world->removed, _i == REMOVE);
	if (_i == WAKE)
		ck_assert_uint_eq(world->steps, steps + 1);
	if (_i == CLOCK)
		ck_assert_uint_ge(world->steps, steps + 8);
	rig_close(&rig);
}
END_TEST

START_TEST(a_borrowed_world_moves_when_it_is_given_back)
{
	struct rig rig;
	rig_open(&rig, SIM);
	/* Worlds 0 and 3 are costly and on the same worker: balancing moves world 0. */
	for (uint32_t i = 0; i < 4; i++) {
		worlds[i].cost = 4 * NS_PER_MS;
		if (i % 3 == 0)
			schedule_run(&worlds[i].schedule, executor_now(rig.executor));
		ck_assert_int_eq(pool_add(rig.pool, &worlds[i].runnable), STATUS_OK);
	}
	struct world *world = &worlds[0];
	uint32_t at = pool_worker_of(&world->runnable);
	ck_assert_uint_eq(pool_worker_of(&worlds[3].runnable), at);
	run_for(&rig, NS_PER_S);
	ck_assert(borrow(world, 0));
	uint64_t steps = world->steps;
	ck_assert(pool_balance(rig.pool));
	run_for(&rig, 100 * NS_PER_MS);
	ck_assert_uint_eq(pool_worker_of(&world->runnable), at);
	ck_assert_uint_eq(world->steps, steps);
	give_back(world);
	run_for(&rig, 100 * NS_PER_MS);
	ck_assert_uint_ne(pool_worker_of(&world->runnable), at);
	ck_assert_uint_ge(world->steps, steps + 8);
	rig_close(&rig);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("server/tick/pool");
	TCase *run = tcase_create("run");
	tcase_add_loop_test(run, worlds_are_spread_evenly_over_workers_and_keep_their_rates, 0,
			    BACKENDS);
	tcase_add_test(run, many_small_worlds_are_spread_again);
	tcase_add_test(run, a_world_with_many_requested_steps_delays_others_by_one_step_at_most);
	tcase_add_test(
		run,
		a_slice_makes_requested_steps_until_its_time_is_up_and_of_the_clock_one_at_a_time);
	tcase_add_test(run, balancing_moves_costly_worlds_to_other_workers_and_no_tick_is_dropped);
	tcase_add_test(run, worlds_behind_a_long_slice_move_to_other_workers);
	suite_add_tcase(suite, run);
	TCase *tasks = tcase_create("tasks");
	tcase_add_loop_test(tasks, tasks_run_once_in_order_while_worlds_run_and_move, 0, BACKENDS);
	tcase_add_test(tasks, a_full_queue_answers_full_and_a_removed_runnable_answers_closed);
	tcase_add_test(tasks, tasks_of_worlds_with_too_much_work_wait_for_one_round);
	tcase_add_test(tasks, deferrable_tasks_leave_half_the_queue_free);
	tcase_add_loop_test(tasks, worlds_are_added_and_removed_while_others_run, 0, BACKENDS);
	suite_add_tcase(suite, tasks);
	TCase *borrowing = tcase_create("borrowing");
	tcase_add_test(borrowing, a_borrowed_world_steps_on_loop_and_wakes_no_worker);
	tcase_add_test(borrowing, a_turn_of_loop_borrows_only_what_fits_into_its_time);
	tcase_add_loop_test(borrowing, tasks_keep_their_order_between_loop_and_workers, 0,
			    BACKENDS);
	tcase_add_loop_test(borrowing, work_for_a_borrowed_world_happens_after_it_is_given_back, 0,
			    4);
	tcase_add_test(borrowing, a_borrowed_world_moves_when_it_is_given_back);
	suite_add_tcase(suite, borrowing);
	return suite;
}

int main(void)
{
	return check_main(make);
}
