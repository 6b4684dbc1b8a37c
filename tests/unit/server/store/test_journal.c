/* The journal: a durable record is in the file, records are in order, and the backlog is bounded. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/io/log.h"
#include "server/store/schema.h"
#include "server/store/store_state.h"
#include "tests/lib/check_main.h"
#include "tests/lib/recorder.h"
#include "tests/lib/worlds.h"

static char directory[RECORDER_PATH];
static struct recorder recorder;

static void set_up(void)
{
	log_set_level(LOG_ERROR);
	recorder_directory(directory);
	recorder_open(&recorder, directory, check_seed());
}

static void tear_down(void)
{
	recorder_close(&recorder);
	recorder_remove(directory);
}

/* The number that a query returns, read by a second connection, which sees only committed rows. */
static uint64_t read_number(const char *name, const char *text)
{
	char path[RECORDER_PATH];
	struct reason why;
	sqlite3 *db;
	uint64_t value;
	recorder_path(&recorder, name, path);
	ck_assert_int_eq(sql_open(path, SQL_READ, &db, &why), STATUS_OK);
	enum status status = sql_number(db, text, UINT64_MAX, &value, &why);
	ck_assert_msg(status == STATUS_OK, "%s: %s", text, why.text);
	sql_close(db);
	return value;
}

START_TEST(a_tick_reported_durable_is_in_the_file)
{
	recorder_begin(&recorder, "one", "soft-step", false, check_seed());
	for (int i = 0; i < 40; i++) {
		recorder_run(&recorder, 1);
		if (i % 7 == 0)
			journal_flush(recorder.journal);
		io_sim_run_until(recorder.sim, io_sim_now(recorder.sim) + 9 * NS_PER_MS);
		if (recorder.durables == 0)
			continue;
		char text[160];
		snprintf(text, sizeof text,
			 "SELECT count(*) FROM hashes WHERE epoch = %u AND tick + count > %llu",
			 (unsigned)recorder.durable_epoch,
			 (unsigned long long)recorder.durable_tick);
		if (recorder.durable_tick > 0)
			ck_assert_uint_eq(read_number("one", text), 1);
	}
	recorder_settle(&recorder);
	ck_assert_uint_eq(recorder.durable_tick, 40);
	ck_assert_uint_eq(recorder.durable_epoch, world_info(recorder.world).epoch);
	ck_assert_uint_eq(read_number("one", "SELECT sum(count) FROM hashes"), 40);
	ck_assert_uint_eq(read_number("one", "SELECT count(*) FROM hashes"), 1);
}
END_TEST

/* Durability after a power failure cannot be tested here; that COMMIT waits for the disk can. */
START_TEST(a_commit_is_synced)
{
	uint64_t level, logged;
	struct reason why;
	recorder_begin(&recorder, "sync", "free", false, 1);
	recorder_settle(&recorder);
	sqlite3 *db = recorder.journal->file.db;
	ck_assert_int_eq(sql_number(db, "PRAGMA synchronous", 0, &level, &why), STATUS_OK);
	ck_assert_uint_eq(level, 2);
	ck_assert_int_eq(sql_number(db, "SELECT journal_mode = 'wal' FROM pragma_journal_mode", 0,
				    &logged, &why),
			 STATUS_OK);
	ck_assert_uint_eq(logged, 1);
}
END_TEST

START_TEST(every_kind_of_record_is_read_back_unchanged)
{
	static const uint8_t packed[] = { 0x92, 0x18, 0x01 }; /* [wake, 1] */
	static const uint64_t tables[3] = { 1, UINT64_MAX, 3 };
	const struct journal_batch batches[2] = {
		{ 7, UINT64_C(1) << 63 | 5, 12, LATE_REFUSE, true, packed, sizeof packed, 1,
		  STATUS_LATE },
		{ UINT32_MAX, 6, 0, LATE_NEXT_TICK, false, NULL, 0, 0, 0 },
	};
	struct reason why;
	struct bytes image = { 0 };
	struct journal *journal;
	ck_assert_int_eq(bytes_append(&image, "an image", 8), STATUS_OK);
	ck_assert_int_eq(store_create_world(recorder.store, "kinds", NULL, &journal, &why),
			 STATUS_OK);
	ck_assert_int_eq(journal_shape(journal, 3, 10, test_shape(TEST_HULL)), STATUS_OK);
	ck_assert_int_eq(journal_shape(journal, 3, 10, test_shape(TEST_HULL)), STATUS_OK);
	ck_assert_int_eq(journal_checkpoint(journal, 3, 10, 4, "here", &image, 77, tables, 3),
			 STATUS_OK);
	ck_assert_int_eq(journal_apply(journal, 3, 10, 5, batches, 2), STATUS_OK);
	ck_assert_int_eq(journal_apply(journal, 3, 10, 6, NULL, 0), STATUS_OK);
	ck_assert_int_eq(journal_tick(journal, 3, 11, 0x0102030405060708), STATUS_OK);
	ck_assert_int_eq(journal_stopped(journal, 3, 11, STATUS_LIMIT), STATUS_OK);
	ck_assert_int_eq(journal_restore(journal, 4, 10, 4, "here"), STATUS_OK);
	bytes_release(&image);
	journal_flush(journal);
	recorder_settle(&recorder);
	static const char *const facts[] = {
		"SELECT count(*) = 1 AND max(kind) = 'hull' AND max(tick) = 10 FROM shapes",
		"SELECT epoch = 3 AND tick = 10 AND state_hash = x'000000000000004D'"
		" AND image_bytes = 8 AND name = 'here'"
		" AND table_hashes = x'0000000000000001FFFFFFFFFFFFFFFF0000000000000003'"
		" FROM checkpoints",
		"SELECT count(*) = 2 AND sum(batches) = 2 FROM applies",
		"SELECT count(*) = 1 FROM batches WHERE session = 7 AND batch = -9223372036854775803"
		" AND at = 12 AND late = 1 AND restricted = 1 AND count = 1 AND commands = x'921801'",
		"SELECT count(*) = 1 FROM batches WHERE session = 4294967295 AND batch = 6"
		" AND length(commands) = 0",
		"SELECT message = 'step' AND batch = 5 FROM input WHERE session = 7",
		"SELECT hash = '0102030405060708' AND tick = 11 AND epoch = 3 FROM tick_hashes",
		"SELECT cause = 'created' AND tick = 10 FROM epochs WHERE epoch = 3",
		"SELECT cause = 'restored' AND snapshot = 'here' AND checkpoint ="
		" (SELECT seq FROM checkpoints) FROM epochs WHERE epoch = 4",
		"SELECT tick = 10 AND name = 'here' FROM snapshots",
		"SELECT count(*) = 3 FROM table_hashes",
		"SELECT count(*) = 1 AND max(status) = 49 AND max(tick) = 11 FROM stops",
		"SELECT count(*) = 7 FROM timeline",
		"SELECT value = 'kinds' FROM meta WHERE key = 'world'",
	};
	for (size_t i = 0; i < COUNT_OF(facts); i++)
		ck_assert_msg(read_number("kinds", facts[i]) == 1, "%s", facts[i]);
	journal_close(journal);
}
END_TEST

START_TEST(records_of_a_busy_world_share_transactions)
{
	recorder_begin(&recorder, "busy", "free", false, 1);
	recorder_settle(&recorder);
	uint32_t before = recorder.durables;
	uint64_t began = io_sim_now(recorder.sim);
	for (int i = 0; i < 200; i++) {
		recorder_step(&recorder);
		io_sim_run_until(recorder.sim, io_sim_now(recorder.sim) + NS_PER_MS);
	}
	uint64_t took = io_sim_now(recorder.sim) - began;
	uint32_t commits = recorder.durables - before;
	ck_assert_uint_le(commits, took / COMMIT_APART + 2);
	ck_assert_uint_ge(commits, took / COMMIT_APART / 2);
	/* A flush commits at once. */
	recorder_step(&recorder);
	journal_flush(recorder.journal);
	io_sim_run_until(recorder.sim, io_sim_now(recorder.sim) + 2 * NS_PER_MS);
	ck_assert_uint_eq(recorder.durable_tick, 201);
	ck_assert_uint_eq(read_number("busy", "SELECT sum(count) FROM hashes"), 201);
}
END_TEST

START_TEST(stored_counts_the_records_on_disk)
{
	recorder_begin(&recorder, "saves", "free", false, 1);
	recorder_settle(&recorder);
	uint64_t before = journal_records(recorder.journal);
	ck_assert_uint_eq(recorder.stored, before);
	recorder_checkpoint(&recorder, "a");
	recorder_checkpoint(&recorder, NULL);
	recorder_checkpoint(&recorder, "b");
	ck_assert_uint_eq(recorder.stored, before);
	ck_assert_uint_eq(journal_records(recorder.journal), before + 3);
	recorder_settle(&recorder);
	ck_assert_uint_eq(recorder.stored, before + 3);
	recorder_checkpoint(&recorder, "a");
	recorder_settle(&recorder);
	ck_assert_uint_eq(recorder.stored, before + 4);
	ck_assert_uint_eq(read_number("saves", "SELECT count(*) FROM snapshots"), 2);
}
END_TEST

static void append_zeros(struct bytes *bytes, size_t count)
{
	ck_assert_int_eq(bytes_reserve(bytes, count), STATUS_OK);
	memset(bytes->data + bytes->count, 0, count);
	bytes->count += count;
}

/* Appends images of 4 MiB until the journal refuses. */
START_TEST(a_full_backlog_refuses_checkpoints_and_reports_when_it_has_space)
{
	struct bytes image = { 0 };
	uint64_t table = 1;
	recorder_begin(&recorder, "backlog", "free", false, 1);
	recorder_settle(&recorder);
	append_zeros(&image, 4 << 20);
	int taken = 0;
	while (journal_ready(recorder.journal)) {
		ck_assert_int_eq(journal_checkpoint(recorder.journal, recorder.epoch, 0, 0, NULL,
						    &image, 1, &table, 1),
				 STATUS_OK);
		taken++;
	}
	ck_assert_int_eq(taken, 4);
	/* Beyond the limit the records of a tick in progress are still accepted; an unbounded
	 * number is not. */
	ck_assert_int_eq(journal_tick(recorder.journal, recorder.epoch, 1, 1), STATUS_OK);
	enum status status = STATUS_OK;
	for (; status == STATUS_OK && taken < 100; taken++)
		status = journal_checkpoint(recorder.journal, recorder.epoch, 1, 0, NULL, &image, 1,
					    &table, 1);
	ck_assert_int_eq(status, STATUS_FULL);
	ck_assert_int_lt(taken, 34);
	ck_assert_uint_eq(recorder.wakes, 0);
	recorder_settle(&recorder);
	ck_assert_uint_eq(recorder.wakes, 1);
	ck_assert(journal_ready(recorder.journal));
	ck_assert_int_eq(journal_tick(recorder.journal, recorder.epoch, 2, 2), STATUS_OK);
	recorder_settle(&recorder);
	ck_assert_uint_eq(recorder.wakes, 1);
	ck_assert_uint_eq(recorder.durable_tick, 2);
	bytes_release(&image);
}
END_TEST

START_TEST(a_full_disk_fails_the_journal_and_keeps_durable_ticks)
{
	char text[96];
	struct reason why;
	recorder_begin(&recorder, "full", "free", false, check_seed());
	recorder_run(&recorder, 20);
	recorder_settle(&recorder);
	sqlite3 *db = recorder.journal->file.db;
	uint64_t pages;
	ck_assert_int_eq(sql_number(db, "PRAGMA page_count", 0, &pages, &why), STATUS_OK);
	snprintf(text, sizeof text, "PRAGMA max_page_count = %llu", (unsigned long long)pages + 3);
	ck_assert_int_eq(sql_exec(db, text, &why), STATUS_OK);
	uint64_t durable_before = 0;
	for (int i = 0; i < 1000 && journal_ready(recorder.journal); i++) {
		durable_before = recorder.durable_tick;
		recorder_run(&recorder, 1);
		recorder_settle(&recorder);
	}
	ck_assert(!journal_ready(recorder.journal));
	ck_assert_uint_eq(recorder.failures, 1);
	ck_assert_int_eq(recorder.failed, STATUS_FULL);
	ck_assert_uint_ge(durable_before, 20);
	ck_assert_uint_eq(recorder.durable_tick, durable_before);
	ck_assert_int_eq(journal_tick(recorder.journal, recorder.epoch, 5000, 1), STATUS_FULL);
	ck_assert_int_eq(journal_status(recorder.journal, &why), STATUS_FULL);
	ck_assert_uint_eq(recorder.wakes, 1);
	recorder_settle(&recorder);
	ck_assert_uint_eq(recorder.failures, 1);
	ck_assert_uint_eq(read_number("full", "SELECT sum(count) FROM hashes"), durable_before);
	recorder_end(&recorder);
	recorder_settle(&recorder);
	/* After space is free again, every durable tick can be recovered. */
	struct recovered recovered;
	recorder_recover(&recorder, "full", &recovered);
	ck_assert_uint_eq(world_info(recorder.world).tick, durable_before);
}
END_TEST

START_TEST(closing_the_journal_writes_its_backlog)
{
	recorder_begin(&recorder, "end", "free", false, 1);
	recorder_settle(&recorder);
	recorder_run(&recorder, 5);
	journal_flush(recorder.journal);
	recorder_settle(&recorder);
	recorder_run(&recorder, 1);
	/* No simulated time passes, so nothing can have been written yet. */
	recorder_close(&recorder);
	recorder_open(&recorder, directory, check_seed());
	struct recovered recovered;
	recorder_recover(&recorder, "end", &recovered);
	ck_assert_uint_eq(world_info(recorder.world).tick, 6);
}
END_TEST

/* A row holds the hashes of 256 ticks, complete and in order, however the transactions divided
 * them. */
START_TEST(rows_of_hashes_fill_across_transactions)
{
	struct rng rng = rng_seeded(check_seed());
	recorder_begin(&recorder, "rows", "free", false, 1);
	for (uint64_t tick = 1; tick <= 700; tick++) {
		ck_assert_int_eq(journal_tick(recorder.journal, recorder.epoch, tick,
					      tick * UINT64_C(0x9e3779b97f4a7c15)),
				 STATUS_OK);
		if (rng_below(&rng, 20) == 0)
			recorder_settle(&recorder);
	}
	recorder_settle(&recorder);
	ck_assert_uint_eq(read_number("rows", "SELECT count(*) FROM hashes"), 3);
	ck_assert_uint_eq(read_number("rows",
				      "SELECT count(*) FROM hashes WHERE length(hashes) = 8 * count"
				      " AND tick IN (1, 257, 513)"),
			  3);
	ck_assert_uint_eq(read_number("rows", "SELECT count(*) FROM tick_hashes"), 700);
	/* tick 700: 700 × 0x9e3779b97f4a7c15 */
	ck_assert_uint_eq(read_number("rows", "SELECT hash = '9fb0d7380fab496c' FROM tick_hashes"
					      " WHERE tick = 700"),
			  1);
}
END_TEST

START_TEST(a_steady_tick_makes_no_heap_call_on_the_worlds_thread)
{
	static const uint8_t packed[] = { 0x92, 0x18, 0x01 };
	const struct journal_batch batch = { 1, 1, 0, 0, false, packed, sizeof packed, 1, 0 };
	uint64_t calls = 0;
	recorder_begin(&recorder, "steady", "free", false, 1);
	for (uint64_t tick = 1; tick <= 400; tick++) {
		if (tick % 5 == 0)
			recorder_settle(&recorder);
		uint64_t before = heap_calls();
		enum status status =
			journal_apply(recorder.journal, recorder.epoch, tick - 1, 1, &batch, 1);
		ck_assert_int_eq(status, STATUS_OK);
		status = journal_tick(recorder.journal, recorder.epoch, tick, tick);
		ck_assert_int_eq(status, STATUS_OK);
		if (tick > 20)
			calls += heap_calls() - before;
	}
	ck_assert_uint_eq(calls, 0);
}
END_TEST

/* Whichever allocation fails, a record is appended whole or not at all. */
START_TEST(without_memory_a_record_is_refused_whole)
{
	struct bytes image = { 0 };
	uint64_t tables[2] = { 1, 2 };
	uint32_t refused = 0;
	recorder_begin(&recorder, "memory", "free", false, 1);
	recorder_settle(&recorder);
	append_zeros(&image, 1000);
	for (uint64_t tick = 1; tick <= 60; tick++) {
		heap_fail_at(1 + tick % 3);
		enum status status = journal_checkpoint(recorder.journal, recorder.epoch, tick - 1,
							0, NULL, &image, tick, tables, 2);
		if (status == STATUS_OK)
			status = journal_tick(recorder.journal, recorder.epoch, tick, tick);
		heap_fail_at(0);
		refused += status == STATUS_NO_MEMORY;
		if (status != STATUS_OK)
			ck_assert_int_eq(status, STATUS_NO_MEMORY);
		if (status != STATUS_OK)
			ck_assert_int_eq(journal_tick(recorder.journal, recorder.epoch, tick, tick),
					 STATUS_OK);
		recorder_settle(&recorder);
		ck_assert_uint_eq(recorder.durable_tick, tick);
	}
	ck_assert_uint_gt(refused, 0);
	ck_assert_uint_eq(recorder.failures, 0);
	ck_assert_uint_eq(read_number("memory", "SELECT count(*) FROM tick_hashes"), 60);
	bytes_release(&image);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("journal");
	TCase *tests = tcase_create("journal");
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, a_tick_reported_durable_is_in_the_file);
	tcase_add_test(tests, a_commit_is_synced);
	tcase_add_test(tests, every_kind_of_record_is_read_back_unchanged);
	tcase_add_test(tests, records_of_a_busy_world_share_transactions);
	tcase_add_test(tests, stored_counts_the_records_on_disk);
	tcase_add_test(tests, a_full_backlog_refuses_checkpoints_and_reports_when_it_has_space);
	tcase_add_test(tests, a_full_disk_fails_the_journal_and_keeps_durable_ticks);
	tcase_add_test(tests, closing_the_journal_writes_its_backlog);
	tcase_add_test(tests, rows_of_hashes_fill_across_transactions);
	tcase_add_test(tests, a_steady_tick_makes_no_heap_call_on_the_worlds_thread);
	tcase_add_test(tests, without_memory_a_record_is_refused_whole);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return check_main(make);
}
