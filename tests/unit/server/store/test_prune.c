/* Retention: the file does not grow with the age of its world, and the world can still be recovered
 * from it. */
#include <stdio.h>
#include <string.h>

#include "server/base/rng.h"
#include "server/io/log.h"
#include "server/store/replay.h"
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

static void set_retention(uint32_t checkpoints, bool from_birth)
{
	struct retention retention = { checkpoints, from_birth };
	store_set_retention(recorder.store, &retention);
}

static uint64_t read_number(const char *text)
{
	char path[RECORDER_PATH];
	struct reason why;
	sqlite3 *db;
	uint64_t value;
	recorder_path(&recorder, "w", path);
	ck_assert_int_eq(sql_open(path, SQL_READ, &db, &why), STATUS_OK);
	enum status status = sql_number(db, text, 0, &value, &why);
	ck_assert_msg(status == STATUS_OK, "%s: %s", text, why.text);
	sql_close(db);
	return value;
}

/* Makes `rounds` checkpoints, each after ten ticks. */
static void run_rounds(int rounds)
{
	for (int i = 0; i < rounds; i++) {
		for (int tick = 0; tick < 10; tick++) {
			recorder_run(&recorder, 1);
			io_sim_run_until(recorder.sim, io_sim_now(recorder.sim) + 17 * NS_PER_MS);
		}
		recorder_checkpoint(&recorder, NULL);
	}
	recorder_settle(&recorder);
}

static enum status verify(uint64_t from, struct replay_report *report, struct reason *why)
{
	char path[RECORDER_PATH];
	recorder_path(&recorder, "w", path);
	struct replay_options options = { .file = path, .verify = true, .from = from };
	return replay_file(&options, report, why);
}

/* Closes the store, recovers the world and finds it as it was. */
static void recover_and_compare(void)
{
	struct recovered recovered;
	uint64_t hash = test_hash(recorder.world), tick = world_info(recorder.world).tick;
	recorder_close(&recorder);
	recorder_open(&recorder, directory, 7);
	recorder_recover(&recorder, "w", &recovered);
	ck_assert_uint_eq(world_info(recorder.world).tick, tick);
	ck_assert_uint_eq(test_hash(recorder.world), hash);
}

START_TEST(the_newest_checkpoints_and_the_records_after_them_are_kept)
{
	uint32_t count = (uint32_t)_i + 1;
	set_retention(count, false);
	recorder_begin(&recorder, "w", "soft-step", false, check_seed());
	run_rounds(12);
	recorder_run(&recorder, 5);
	recorder_settle(&recorder);
	ck_assert_uint_eq(read_number("SELECT count(*) FROM checkpoints"), count);
	uint64_t begins = read_number("SELECT min(tick) FROM checkpoints");
	ck_assert_uint_eq(begins, 120 - 10 * (count - 1));
	ck_assert_uint_eq(read_number("SELECT min(seq) FROM checkpoints"),
			  read_number("SELECT value FROM meta WHERE key = 'begins'"));
	ck_assert_uint_eq(
		read_number("SELECT count(*) FROM applies WHERE seq < (SELECT value FROM meta"
			    " WHERE key = 'begins')"),
		0);
	ck_assert_uint_eq(read_number("SELECT count(*) FROM batches WHERE apply NOT IN"
				      " (SELECT seq FROM applies)"),
			  0);
	/* No hash after the oldest checkpoint is missing. */
	ck_assert_uint_eq(read_number("SELECT max(tick + count) FROM hashes"), 126);
	ck_assert_uint_eq(read_number("SELECT count(*) FROM shapes"), TEST_SHAPES);
	recover_and_compare();
}
END_TEST

START_TEST(a_pruned_recording_verifies_and_reports_its_first_tick)
{
	struct replay_report report;
	struct reason why;
	set_retention(3, false);
	recorder_begin(&recorder, "w", "soft-step", false, check_seed());
	run_rounds(2);
	ck_assert_int_eq(verify(0, &report, &why), STATUS_OK);
	ck_assert(report.whole);
	ck_assert_uint_eq(report.begins_tick, 0);
	run_rounds(8);
	recorder_run(&recorder, 5);
	recorder_settle(&recorder);
	ck_assert_int_eq(verify(0, &report, &why), STATUS_OK);
	ck_assert_int_eq(report.verdict, REPLAY_SAME);
	ck_assert(!report.whole);
	ck_assert_uint_eq(report.begins_tick, 80);
	ck_assert_uint_eq(report.ticks, 25);
	ck_assert_uint_eq(report.state_hash, test_hash(recorder.world));
	/* A replay from a pruned tick is refused with a reason. */
	ck_assert_int_eq(verify(79, &report, &why), STATUS_MISSING);
	ck_assert_msg(strstr(why.text, "pruned") != NULL, "%s", why.text);
	ck_assert_int_eq(verify(95, &report, &why), STATUS_OK);
	ck_assert_uint_eq(report.ticks, 15);
}
END_TEST

/* Rows of hashes end where a transaction ended: exactly at the first checkpoint, or one tick before
 * or after it, among other places. */
START_TEST(every_tick_after_the_first_checkpoint_has_a_hash_and_no_earlier_row_is_left)
{
	struct rng rng = rng_seeded(check_seed() + (uint64_t)_i);
	set_retention(1 + (uint32_t)_i, false);
	recorder_begin(&recorder, "w", "free", false, check_seed());
	for (int round = 0; round < 60; round++) {
		recorder_run(&recorder, 1 + rng_below(&rng, 3));
		if (rng_below(&rng, 2) == 0)
			recorder_checkpoint(&recorder, NULL);
		recorder_settle(&recorder);
		uint64_t begins = read_number("SELECT min(tick) FROM checkpoints");
		uint64_t now = world_info(recorder.world).tick;
		ck_assert_uint_eq(
			read_number("WITH b AS (SELECT min(tick) AS tick FROM checkpoints) SELECT"
				    " coalesce(sum(min(count, h.tick + count - 1 - b.tick)), 0)"
				    " FROM hashes h, b WHERE h.tick + count - 1 > b.tick"),
			now - begins);
		ck_assert_uint_eq(
			read_number("SELECT count(*) FROM hashes WHERE tick + count - 1 <="
				    " (SELECT min(tick) FROM checkpoints)"),
			0);
	}
	ck_assert_uint_gt(read_number("SELECT min(tick) FROM checkpoints"), 50);
	recover_and_compare();
}
END_TEST

START_TEST(a_recording_from_birth_keeps_all_ticks_and_few_images)
{
	struct replay_report report;
	struct reason why;
	set_retention(2, true);
	recorder_begin(&recorder, "w", "soft-step", false, check_seed());
	run_rounds(10);
	ck_assert_uint_eq(read_number("SELECT count(*) FROM checkpoints"), 3);
	ck_assert_uint_eq(read_number("SELECT min(tick) FROM checkpoints"), 0);
	ck_assert_int_eq(verify(0, &report, &why), STATUS_OK);
	ck_assert_int_eq(report.verdict, REPLAY_SAME);
	ck_assert(report.whole);
	ck_assert_uint_eq(report.ticks, 100);
	/* A daemon without "from birth" prunes the beginning, and setting the option again cannot
	 * restore it. */
	set_retention(2, false);
	run_rounds(1);
	ck_assert_uint_eq(read_number("SELECT count(*) FROM checkpoints"), 2);
	set_retention(2, true);
	run_rounds(3);
	ck_assert_uint_eq(read_number("SELECT min(tick) FROM checkpoints"), 100);
	ck_assert_int_eq(verify(0, &report, &why), STATUS_OK);
	ck_assert(!report.whole);
	ck_assert_uint_eq(report.ticks, 40);
}
END_TEST

/* No tick is further than OLD_SPACING from a stored state, however old it is, and few states are kept. */
START_TEST(a_recording_from_birth_keeps_a_state_of_each_spacing)
{
	set_retention(2, true);
	recorder_begin(&recorder, "w", "free", false, check_seed());
	for (int i = 0; i < 14; i++) {
		for (int tick = 0; tick < 3600; tick++)
			recorder_step(&recorder);
		recorder_checkpoint(&recorder, NULL);
		recorder_settle(&recorder);
	}
	ck_assert_uint_eq(read_number("SELECT max(tick - earlier) FROM (SELECT tick, lag(tick) OVER"
				      " (ORDER BY tick) AS earlier FROM checkpoints)"),
			  OLD_SPACING);
	/* 0, 18 000 and 36 000; 46 800 and 50 400 are the newest. */
	ck_assert_uint_eq(read_number("SELECT count(*) FROM checkpoints"), 5);
	recover_and_compare();
}
END_TEST

static void no_number(void *context, uint32_t session, uint64_t batch)
{
	UNUSED(context);
	UNUSED(session);
	UNUSED(batch);
}

static void no_result(void *context, const struct batch_result *result)
{
	UNUSED(context);
	UNUSED(result);
}

/* What a recovery replays for the results of RESULT_TICKS ticks does not grow with the world's age. */
START_TEST(from_birth_a_checkpoint_before_the_last_results_is_kept)
{
	struct recovery_events events = { no_number, no_result, NULL };
	struct recovered recovered;
	struct reason why;
	set_retention(2, true);
	recorder_begin(&recorder, "w", "free", false, check_seed());
	for (int i = 0; i < 70; i++) {
		for (int tick = 0; tick < 20; tick++)
			recorder_step(&recorder);
		recorder_checkpoint(&recorder, NULL);
		recorder_settle(&recorder);
	}
	recorder_close(&recorder);
	recorder_open(&recorder, directory, 7);
	ck_assert_int_eq(store_recover(recorder.store, "w", &events, &recovered, &why), STATUS_OK);
	ck_assert_uint_ge(recovered.replayed, RESULT_TICKS);
	ck_assert_uint_le(recovered.replayed, RESULT_TICKS + 20);
	recorder.world = recovered.world;
	recorder.journal = recovered.journal;
	shape_library_release(&recovered.shapes);
}
END_TEST

START_TEST(a_snapshot_is_kept_while_a_name_or_a_restore_needs_it)
{
	struct replay_report report;
	struct reason why;
	set_retention(2, false);
	recorder_begin(&recorder, "w", "free", false, check_seed());
	run_rounds(1);
	recorder_checkpoint(&recorder, "a");
	recorder_checkpoint(&recorder, "b");
	run_rounds(6);
	ck_assert_uint_eq(read_number("SELECT count(*) FROM checkpoints"), 4);
	/* Restores the first "a"; then another state is saved under its name. */
	recorder_restore(&recorder, "a");
	recorder_run(&recorder, 3);
	recorder_checkpoint(&recorder, "a");
	recorder_run(&recorder, 2);
	recorder_settle(&recorder);
	ck_assert_uint_eq(read_number("SELECT count(*) FROM checkpoints WHERE name = 'a'"), 2);
	ck_assert_int_eq(verify(0, &report, &why), STATUS_OK);
	ck_assert_int_eq(report.verdict, REPLAY_SAME);
	ck_assert_uint_eq(report.state_hash, test_hash(recorder.world));
	recover_and_compare();
	set_retention(2, false);
	run_rounds(4);
	/* The RESTORE is pruned with its history, and so is the snapshot it needed. */
	ck_assert_uint_eq(read_number("SELECT count(*) FROM checkpoints WHERE name = 'a'"), 1);
	ck_assert_uint_eq(read_number("SELECT count(*) FROM checkpoints"), 4);
	ck_assert_uint_eq(read_number("SELECT count(*) FROM epochs"), 1);
	recover_and_compare();
}
END_TEST

/* Free pages are used again: an old world's file is as large as a younger one's. */
START_TEST(the_file_does_not_grow_with_the_worlds_age)
{
	set_retention(2, false);
	recorder_begin(&recorder, "w", "free", false, check_seed());
	uint64_t pages[4];
	for (int i = 0; i < 4; i++) {
		/* Every round restores the same state, so that all images have the same size. */
		recorder_checkpoint(&recorder, "again");
		for (int round = 0; round < 12; round++) {
			run_rounds(1);
			recorder_restore(&recorder, "again");
		}
		pages[i] = read_number("PRAGMA page_count");
	}
	ck_assert_uint_le(pages[3], pages[1] + pages[1] / 4);
	ck_assert_uint_eq(read_number("SELECT sum(count) FROM hashes") < 100, 1);
}
END_TEST

START_TEST(a_backlog_of_an_earlier_daemon_is_pruned_in_slices_without_new_records)
{
	recorder_begin(&recorder, "w", "soft-step", false, check_seed());
	run_rounds(20);
	ck_assert_uint_eq(read_number("SELECT count(*) FROM checkpoints"), 21);
	recover_and_compare();
	set_retention(3, false);
	recorder_settle(&recorder);
	uint64_t soon = read_number("SELECT count(*) FROM checkpoints");
	ck_assert_uint_gt(soon, 3);
	io_sim_run_until(recorder.sim, io_sim_now(recorder.sim) + 2000 * NS_PER_MS);
	ck_assert_uint_eq(read_number("SELECT count(*) FROM checkpoints"), 3);
	recover_and_compare();
}
END_TEST

START_TEST(a_burst_of_checkpoints_is_pruned_as_fast_as_it_was_written)
{
	set_retention(2, false);
	recorder_begin(&recorder, "w", "free", false, check_seed());
	recorder_settle(&recorder);
	for (int i = 0; i < 20; i++) {
		recorder_run(&recorder, 1);
		recorder_checkpoint(&recorder, NULL);
	}
	/* enough time for five slices of pruning */
	recorder_settle(&recorder);
	ck_assert_uint_eq(read_number("SELECT count(*) FROM checkpoints"), 2);
	recover_and_compare();
}
END_TEST

START_TEST(sessions_with_pruned_batches_are_still_listed)
{
	struct recovered recovered;
	struct reason why;
	set_retention(1, false);
	recorder_begin(&recorder, "w", "free", false, check_seed());
	run_rounds(5);
	uint64_t batches = read_number("SELECT count(*) FROM batches");
	ck_assert_uint_eq(batches, 0);
	recorder_close(&recorder);
	recorder_open(&recorder, directory, 1);
	ck_assert_int_eq(store_recover(recorder.store, "w", NULL, &recovered, &why), STATUS_OK);
	/* The sessions of recorder_disturb are 1 … 3. */
	ck_assert_uint_ge(recovered.session_max, 3);
	recorder.world = recovered.world;
	recorder.journal = recovered.journal;
	shape_library_release(&recovered.shapes);
}
END_TEST

static struct journal_figures figures;
static void on_figures(void *context, const struct journal_figures *now)
{
	UNUSED(context);
	figures = *now;
}

START_TEST(pruned_records_are_counted)
{
	set_retention(4, false);
	recorder_begin(&recorder, "w", "soft-step", false, check_seed());
	struct journal_events events = { .figures = on_figures };
	journal_set_events(recorder.journal, &events);
	run_rounds(10);
	ck_assert_uint_eq(figures.checkpoints_pruned, 11 - 4);
	ck_assert_uint_gt(figures.records_pruned, 70);
	ck_assert_uint_eq(figures.prune_failures, 0);
	ck_assert_uint_eq(figures.file_bytes,
			  read_number("PRAGMA page_count") * read_number("PRAGMA page_size"));
	ck_assert_uint_lt(figures.free_bytes, figures.file_bytes);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("prune");
	TCase *tests = tcase_create("prune");
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_loop_test(tests, the_newest_checkpoints_and_the_records_after_them_are_kept, 0,
			    4);
	tcase_add_test(tests, a_pruned_recording_verifies_and_reports_its_first_tick);
	tcase_add_loop_test(
		tests, every_tick_after_the_first_checkpoint_has_a_hash_and_no_earlier_row_is_left,
		0, 3);
	tcase_add_test(tests, a_recording_from_birth_keeps_all_ticks_and_few_images);
	tcase_add_test(tests, a_recording_from_birth_keeps_a_state_of_each_spacing);
	tcase_add_test(tests, from_birth_a_checkpoint_before_the_last_results_is_kept);
	tcase_add_test(tests, a_snapshot_is_kept_while_a_name_or_a_restore_needs_it);
	tcase_add_test(tests, the_file_does_not_grow_with_the_worlds_age);
	tcase_add_test(tests,
		       a_backlog_of_an_earlier_daemon_is_pruned_in_slices_without_new_records);
	tcase_add_test(tests, a_burst_of_checkpoints_is_pruned_as_fast_as_it_was_written);
	tcase_add_test(tests, sessions_with_pruned_batches_are_still_listed);
	tcase_add_test(tests, pruned_records_are_counted);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return check_main(make);
}
