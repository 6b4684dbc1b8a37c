/* The pool on the simulated executor, with real seeds and simulated costs, and on threads. */
#include "server/tick/pool.h"

#include <stdlib.h>
#include <string.h>

#include "server/io/executor_uv.h"
#include "server/io/io_uv.h"
#include "server/tick/schedule.h"
#include "tests/lib/check_main.h"
#include "tests/lib/io_sim.h"

enum backend { UV, SIM, BACKENDS };
enum { WORLDS = 12, WORKERS = 3, LETTERS = 400 };

struct rig {
	struct io_sim *sim;
	struct io *io;
	struct executor *executor;
	struct pool *pool;
	struct io_timer *timer;
	uint32_t removed;
};

/* A pretended world: a schedule, a cost, and a check that nobody else is inside. */
struct world {
	struct runnable runnable;
	struct rig *rig;
	struct schedule schedule;
	uint64_t cost;	/* ns of simulated time a step takes */
	uint64_t steps, late_max;
	atomic_flag inside;
	uint32_t collisions; /* two threads inside, or a call on no worker */
	uint64_t early;
	uint32_t letters, disordered;
	bool removed;
};

static void enter(struct world *world)
{
	enum executor_thread thread = executor_current(world->rig->executor);
	bool worker = thread >= EXECUTOR_WORKER && thread < EXECUTOR_THREADS_MAX;
	world->collisions += atomic_flag_test_and_set(&world->inside) || !worker;
}

static void leave(struct world *world)
{
	atomic_flag_clear(&world->inside);
}

static uint64_t world_due(struct runnable *runnable)
{
	return schedule_due(&((struct world *)runnable)->schedule);
}

static void world_run(struct runnable *runnable, uint64_t now)
{
	struct world *world = (struct world *)runnable;
	struct schedule_turn turn;
	enter(world);
	if (!schedule_begin(&world->schedule, now, &turn)) {
		world->early++;
		leave(world);
		return;
	}
	world->late_max = MAX_OF(world->late_max, turn.lateness);
	world->steps++;
	if (world->rig->sim != NULL)
		io_sim_spend(world->rig->sim, world->cost);
	uint64_t after = executor_now(world->rig->executor);
	(void)schedule_end(&world->schedule, after - now, after);
	leave(world);
}

static const struct runnable_ops WORLD_OPS = { world_due, world_run };

static struct world worlds[WORLDS];

static void rig_open(struct rig *rig, int backend)
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
	struct pool_options options = { WORLDS, LETTERS };
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

START_TEST(worlds_are_spread_evenly_and_each_keeps_its_rate)
{
	struct rig rig;
	rig_open(&rig, _i);
	add_all(&rig);
	struct world extra = { .runnable = { &WORLD_OPS, 99, NULL } };
	ck_assert_int_eq(pool_add(rig.pool, &extra.runnable), STATUS_LIMIT);
	for (uint32_t i = 0; i < WORKERS; i++) {
		struct pool_worker_load load;
		pool_load(rig.pool, i, &load);
		ck_assert_uint_eq(load.runnables, WORLDS / WORKERS);
	}
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

START_TEST(a_world_that_catches_up_takes_turns_with_its_neighbours)
{
	struct rig rig;
	rig_open(&rig, SIM);
	/* World 0 is asked for ten thousand steps of 5 ms; the others step in 10 µs. */
	for (uint32_t i = 0; i < WORLDS; i++)
		worlds[i].cost = i == 0 ? 5 * NS_PER_MS : 10 * NS_PER_US;
	schedule_request(&worlds[0].schedule, 10000);
	add_all(&rig);
	/* The twin answers one bell per turn, so moving in takes the neighbours a few slices. */
	run_for(&rig, 100 * NS_PER_MS);
	for (uint32_t i = 0; i < WORLDS; i++)
		worlds[i].late_max = 0;
	run_for(&rig, 5 * NS_PER_S);
	for (uint32_t i = 1; i < WORLDS; i++) {
		ck_assert_uint_ge(worlds[i].steps, 498);
		ck_assert_uint_eq(worlds[i].schedule.dropped, 0);
		/* One step of the greedy one, no more. */
		ck_assert_uint_le(worlds[i].late_max, 6 * NS_PER_MS);
	}
	ck_assert_uint_gt(worlds[0].steps, 900);
	rig_close(&rig);
}
END_TEST

START_TEST(balancing_moves_the_costly_apart_and_every_tick_is_taken_once)
{
	struct rig rig;
	rig_open(&rig, SIM);
	add_all(&rig);
	/* Four costly ones on the same worker: 4 × 4 ms per 10 ms do not fit one worker. */
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

/* ---- mail ---------------------------------------------------------------------------------- */
struct note {
	uint32_t number;
	uint32_t times;
};

static struct note notes[WORLDS][LETTERS];

static void on_letter(struct runnable *runnable, void *context)
{
	struct world *world = (struct world *)runnable;
	struct note *note = context;
	enter(world);
	note->times++;
	world->disordered += note->number != world->letters++;
	leave(world);
}

START_TEST(letters_come_once_in_order_while_worlds_run_and_move)
{
	struct rig rig;
	rig_open(&rig, _i);
	memset(notes, 0, sizeof notes);
	add_all(&rig);
	for (uint32_t n = 0; n < LETTERS; n++) {
		for (uint32_t i = 0; i < WORLDS; i++) {
			notes[i][n].number = n;
			ck_assert_int_eq(pool_mail(&worlds[i].runnable, on_letter, &notes[i][n]),
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
		ck_assert_uint_eq(worlds[i].letters, LETTERS);
	rig_close(&rig);
}
END_TEST

START_TEST(a_full_box_refuses_and_one_that_leaves_is_closed)
{
	struct rig rig;
	struct note note = { 0, 0 };
	rig_open(&rig, SIM);
	ck_assert_int_eq(pool_add(rig.pool, &worlds[0].runnable), STATUS_OK);
	for (uint32_t n = 0; n < LETTERS; n++)
		ck_assert_int_eq(pool_mail(&worlds[0].runnable, on_letter, &note), STATUS_OK);
	ck_assert_int_eq(pool_mail(&worlds[0].runnable, on_letter, &note), STATUS_FULL);
	pool_remove(rig.pool, &worlds[0].runnable, on_removed, &rig);
	ck_assert_int_eq(pool_mail(&worlds[0].runnable, on_letter, &note), STATUS_CLOSED);
	run_for(&rig, NS_PER_S);
	ck_assert_uint_eq(note.times, LETTERS);
	ck_assert(worlds[0].removed);
	worlds[0].disordered = 0; /* all carry the same number */
	rig_close(&rig);
}
END_TEST

START_TEST(worlds_come_and_go_while_others_run)
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

static Suite *make(void)
{
	Suite *suite = suite_create("server/tick/pool");
	TCase *run = tcase_create("run");
	tcase_add_loop_test(run, worlds_are_spread_evenly_and_each_keeps_its_rate, 0, BACKENDS);
	tcase_add_test(run, a_world_that_catches_up_takes_turns_with_its_neighbours);
	tcase_add_test(run, balancing_moves_the_costly_apart_and_every_tick_is_taken_once);
	suite_add_tcase(suite, run);
	TCase *mail = tcase_create("mail");
	tcase_add_loop_test(mail, letters_come_once_in_order_while_worlds_run_and_move, 0, BACKENDS);
	tcase_add_test(mail, a_full_box_refuses_and_one_that_leaves_is_closed);
	tcase_add_loop_test(mail, worlds_come_and_go_while_others_run, 0, BACKENDS);
	suite_add_tcase(suite, mail);
	return suite;
}

int main(void)
{
	return check_main(make);
}
