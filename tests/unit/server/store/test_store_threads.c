/* The store on threads: a worker appends records, STORE writes them, and LOOP is notified. */
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

enum { WORLDS = 3, TICKS = 3000, RECORDS = TICKS + TICKS / 4 };

static struct io *io;
static struct executor *executor;
static struct store *store;

/* One world. Its worker uses it, except for the members of LOOP. */
struct journalled_world {
	struct journal *journal;
	char name[8];
	uint64_t made;
	uint64_t durable, stored; /* written by LOOP */
};
static struct journalled_world journalled_worlds[WORLDS];
static uint32_t ended;

static void end_if_done(struct journalled_world *journalled_world)
{
	if (journalled_world->durable < TICKS || journalled_world->stored < RECORDS)
		return;
	journal_close(journalled_world->journal);
	if (++ended == WORLDS)
		io_stop(io);
}

static void on_durable(void *context, uint32_t epoch, uint64_t tick, uint32_t edit)
{
	struct journalled_world *journalled_world = context;
	ck_assert_uint_eq(edit, 0);
	ck_assert_uint_eq(epoch, 1);
	ck_assert_uint_ge(tick, journalled_world->durable);
	bool first = journalled_world->durable < TICKS;
	journalled_world->durable = tick;
	if (first)
		end_if_done(journalled_world);
}

static void on_stored(void *context, uint64_t records)
{
	struct journalled_world *journalled_world = context;
	ck_assert_uint_gt(records, journalled_world->stored);
	journalled_world->stored = records;
	end_if_done(journalled_world);
}

static void on_failed(void *context, enum status status, const char *text)
{
	UNUSED(context);
	ck_abort_msg("%s: %s", status_name(status), text);
}

static void append_ticks(void *context);

/* On LOOP: the journal has space again, so the worker continues. */
static void on_ready(void *context)
{
	struct journalled_world *journalled_world = context;
	enum executor_thread worker =
		EXECUTOR_WORKER +
		(enum executor_thread)((journalled_world - journalled_worlds) % 2);
	ck_assert_int_eq(executor_post(executor, worker, append_ticks, journalled_world),
			 STATUS_OK);
}

/* On a worker: appends until all ticks are recorded or the journal is full. */
static void append_ticks(void *context)
{
	struct journalled_world *journalled_world = context;
	static const uint64_t table = 1;
	uint8_t zero[65536] = { 0 };
	struct bytes image = { zero, sizeof zero, sizeof zero };
	while (journalled_world->made < TICKS) {
		if (!journal_ready(journalled_world->journal))
			return;
		uint64_t tick = ++journalled_world->made;
		ck_assert_int_eq(journal_tick(journalled_world->journal, 1, tick, tick), STATUS_OK);
		if (tick % 4 == 0)
			ck_assert_int_eq(journal_checkpoint(journalled_world->journal, 1, tick, 0,
							    tick % 1000 == 0 ? "s" : NULL, &image,
							    tick, &table, 1),
					 STATUS_OK);
	}
	journal_flush(journalled_world->journal);
}

static void begin_world(struct journalled_world *journalled_world)
{
	struct reason why;
	snprintf(journalled_world->name, sizeof journalled_world->name, "w%d",
		 (int)(journalled_world - journalled_worlds));
	enum status status = store_create_world(store, journalled_world->name, NULL,
						&journalled_world->journal, &why);
	ck_assert_msg(status == STATUS_OK, "%s", why.text);
	struct journal_events events = { .durable = on_durable,
					 .stored = on_stored,
					 .failed = on_failed,
					 .context = journalled_world };
	journal_set_events(journalled_world->journal, &events);
	journal_on_ready(journalled_world->journal, on_ready, journalled_world);
	on_ready(journalled_world);
}

static uint64_t read_number(sqlite3 *db, const char *text)
{
	struct reason why;
	uint64_t value;
	ck_assert_int_eq(sql_number(db, text, 0, &value, &why), STATUS_OK);
	return value;
}

/* Checks a file that was pruned: its hashes are complete from its first checkpoint to the end. */
static void check_pruned(sqlite3 *db)
{
	uint64_t begins = read_number(db, "SELECT tick FROM checkpoints WHERE seq ="
					  " (SELECT value FROM meta WHERE key = 'begins')");
	ck_assert_uint_gt(begins, 0);
	ck_assert_uint_eq(
		read_number(db,
			    "SELECT count(*) FROM tick_hashes WHERE hash = printf('%016x', tick)"
			    " AND tick > (SELECT tick FROM checkpoints WHERE seq ="
			    " (SELECT value FROM meta WHERE key = 'begins'))"),
		TICKS - begins);
	ck_assert_uint_eq(read_number(db, "SELECT max(tick) FROM checkpoints"), TICKS);
	ck_assert_uint_lt(read_number(db, "SELECT count(*) FROM checkpoints"), TICKS / 4 - 1);
}

static void check_file(const char *directory, const struct journalled_world *journalled_world,
		       bool pruned)
{
	char path[RECORDER_PATH + 32];
	struct reason why;
	sqlite3 *db;
	snprintf(path, sizeof path, "%s/%s.cairn", directory, journalled_world->name);
	ck_assert_int_eq(sql_open(path, SQL_READ, &db, &why), STATUS_OK);
	if (pruned) {
		check_pruned(db);
		sql_close(db);
		return;
	}
	ck_assert_uint_eq(
		read_number(db,
			    "SELECT count(*) FROM tick_hashes WHERE hash = printf('%016x', tick)"),
		TICKS);
	ck_assert_uint_eq(read_number(db, "SELECT count(*) FROM checkpoints a JOIN checkpoints b"
					  " ON b.seq = a.seq + 1 WHERE b.tick = a.tick + 4"),
			  TICKS / 4 - 1);
	sql_close(db);
}

/* _i = 0: no retention. _i = 1: everything older than two checkpoints is pruned. */
START_TEST(records_of_several_worlds_are_written_by_the_store_thread)
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
	memset(journalled_worlds, 0, sizeof journalled_worlds);
	ended = 0;
	ck_assert_int_eq(executor_start(executor, &why), STATUS_OK);
	for (int i = 0; i < WORLDS; i++)
		begin_world(&journalled_worlds[i]);
	io_run(io);
	executor_stop(executor);
	store_destroy(store);
	for (int i = 0; i < WORLDS; i++)
		check_file(directory, &journalled_worlds[i], _i == 1);
	executor_destroy(executor);
	io_uv_destroy(io);
	recorder_remove(directory);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("store_threads");
	TCase *tests = tcase_create("store_threads");
	tcase_add_loop_test(tests, records_of_several_worlds_are_written_by_the_store_thread, 0, 2);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return check_main(make);
}
