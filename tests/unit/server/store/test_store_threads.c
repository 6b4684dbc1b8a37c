/* The store on real threads: a worker puts records, STORE writes them, LOOP hears of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/io/executor_uv.h"
#include "server/io/io_uv.h"
#include "server/io/log.h"
#include "server/store/sql.h"
#include "server/store/store.h"
#include "tests/lib/check_main.h"
#include "tests/lib/recorder.h"

enum { WORLDS = 3, TICKS = 3000 };

static struct io *io;
static struct executor *executor;
static struct store *store;

/* One world: its worker's, but for what LOOP is told. */
struct life {
	struct journal *journal;
	char name[8];
	uint64_t made;
	uint64_t durable, saved; /* LOOP's */
};
static struct life lives[WORLDS];
static uint32_t ended;

static void end_if_done(struct life *life)
{
	if (life->durable < TICKS || life->saved < TICKS / 1000)
		return;
	journal_close(life->journal);
	if (++ended == WORLDS)
		io_stop(io);
}

static void on_durable(void *context, uint32_t epoch, uint64_t tick, uint32_t edit)
{
	struct life *life = context;
	ck_assert_uint_eq(edit, 0);
	ck_assert_uint_eq(epoch, 1);
	ck_assert_uint_ge(tick, life->durable);
	bool first = life->durable < TICKS;
	life->durable = tick;
	if (first)
		end_if_done(life);
}

static void on_saved(void *context)
{
	struct life *life = context;
	life->saved++;
	end_if_done(life);
}

static void on_failed(void *context, enum status status, const char *text)
{
	UNUSED(context);
	ck_abort_msg("%s: %s", status_name(status), text);
}

static void put_some(void *context);

/* On LOOP: the worker may go on. */
static void on_ready(void *context)
{
	struct life *life = context;
	enum executor_thread worker = EXECUTOR_WORKER + (enum executor_thread)((life - lives) % 2);
	ck_assert_int_eq(executor_post(executor, worker, put_some, life), STATUS_OK);
}

/* On a worker: until the end, or until the journal has enough. */
static void put_some(void *context)
{
	struct life *life = context;
	static const uint64_t table = 1;
	uint8_t zero[65536] = { 0 };
	struct bytes image = { zero, sizeof zero, sizeof zero };
	while (life->made < TICKS) {
		if (!journal_ready(life->journal))
			return;
		uint64_t tick = ++life->made;
		ck_assert_int_eq(journal_tick(life->journal, 1, tick, tick), STATUS_OK);
		if (tick % 4 == 0)
			ck_assert_int_eq(journal_checkpoint(life->journal, 1, tick, 0,
							    tick % 1000 == 0 ? "s" : NULL, &image,
							    tick, &table, 1),
					 STATUS_OK);
	}
	journal_flush(life->journal);
}

static void begin(struct life *life)
{
	struct reason why;
	snprintf(life->name, sizeof life->name, "w%d", (int)(life - lives));
	enum status status = store_create_world(store, life->name, &life->journal, &why);
	ck_assert_msg(status == STATUS_OK, "%s", why.text);
	struct journal_events events = {
		.durable = on_durable, .saved = on_saved, .failed = on_failed, .context = life
	};
	journal_set_events(life->journal, &events);
	journal_on_ready(life->journal, on_ready, life);
	on_ready(life);
}

static uint64_t ask(sqlite3 *db, const char *text)
{
	struct reason why;
	uint64_t value;
	ck_assert_int_eq(sql_number(db, text, 0, &value, &why), STATUS_OK);
	return value;
}

/* Of a file that was pruned meanwhile: it is whole from where it says that it begins, to its end. */
static void check_pruned(sqlite3 *db)
{
	uint64_t begins = ask(db, "SELECT tick FROM checkpoints WHERE seq ="
				  " (SELECT value FROM meta WHERE key = 'begins')");
	ck_assert_uint_gt(begins, 0);
	ck_assert_uint_eq(ask(db,
			      "SELECT count(*) FROM tick_hashes WHERE hash = printf('%016x', tick)"
			      " AND tick > (SELECT tick FROM checkpoints WHERE seq ="
			      " (SELECT value FROM meta WHERE key = 'begins'))"),
			  TICKS - begins);
	ck_assert_uint_eq(ask(db, "SELECT max(tick) FROM checkpoints"), TICKS);
	ck_assert_uint_lt(ask(db, "SELECT count(*) FROM checkpoints"), TICKS / 4 - 1);
}

static void check_file(const char *directory, const struct life *life, bool pruned)
{
	char path[RECORDER_PATH + 32];
	struct reason why;
	sqlite3 *db;
	snprintf(path, sizeof path, "%s/%s.cairn", directory, life->name);
	ck_assert_int_eq(sql_open(path, SQL_READ, &db, &why), STATUS_OK);
	if (pruned) {
		check_pruned(db);
		sql_close(db);
		return;
	}
	ck_assert_uint_eq(
		ask(db, "SELECT count(*) FROM tick_hashes WHERE hash = printf('%016x', tick)"),
		TICKS);
	ck_assert_uint_eq(ask(db, "SELECT count(*) FROM checkpoints a JOIN checkpoints b"
				  " ON b.seq = a.seq + 1 WHERE b.tick = a.tick + 4"),
			  TICKS / 4 - 1);
	sql_close(db);
}

/* Once as it is, and once while what is older than two checkpoints is taken away. */
START_TEST(records_of_several_worlds_pass_between_threads)
{
	struct retention retention = { .checkpoints = _i == 0 ? 0 : 2 };
	char directory[RECORDER_PATH];
	struct reason why;
	struct executor_options threads = executor_options_default();
	struct io_limits limits = io_limits_default;
	threads.workers = 2;
	log_set_level(LOG_ERROR);
	recorder_directory(directory);
	ck_assert_int_eq(io_uv_create(&limits, &io), STATUS_OK);
	ck_assert_int_eq(executor_uv_create(io, &threads, &executor), STATUS_OK);
	ck_assert_int_eq(store_create(directory, executor, &store, &why), STATUS_OK);
	store_set_retention(store, &retention);
	memset(lives, 0, sizeof lives);
	ended = 0;
	ck_assert_int_eq(executor_start(executor, &why), STATUS_OK);
	for (int i = 0; i < WORLDS; i++)
		begin(&lives[i]);
	io_run(io);
	executor_stop(executor);
	store_destroy(store);
	for (int i = 0; i < WORLDS; i++)
		check_file(directory, &lives[i], _i == 1);
	executor_destroy(executor);
	io_uv_destroy(io);
	recorder_remove(directory);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("store_threads");
	TCase *tests = tcase_create("store_threads");
	tcase_add_loop_test(tests, records_of_several_worlds_pass_between_threads, 0, 2);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return check_main(make);
}
