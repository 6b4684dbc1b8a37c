/* Retention: a file that does not grow with its world's age, from which the world still comes back. */
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

static void keep(uint32_t checkpoints, bool from_birth)
{
	struct retention retention = { checkpoints, from_birth };
	store_set_retention(recorder.store, &retention);
}

static uint64_t ask(const char *text)
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

/* `rounds` times ten ticks and a checkpoint. */
static void live(int rounds)
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
static void come_back(void)
{
	struct recovered recovered;
	uint64_t hash = test_hash(recorder.world), tick = world_info(recorder.world).tick;
	recorder_close(&recorder);
	recorder_open(&recorder, directory, 7);
	recorder_recover(&recorder, "w", &recovered);
	ck_assert_uint_eq(world_info(recorder.world).tick, tick);
	ck_assert_uint_eq(test_hash(recorder.world), hash);
}

START_TEST(the_newest_checkpoints_and_what_came_after_them_stay)
{
	uint32_t count = (uint32_t)_i + 1;
	keep(count, false);
	recorder_begin(&recorder, "w", "soft-step", false, check_seed());
	live(12);
	recorder_run(&recorder, 5);
	recorder_settle(&recorder);
	ck_assert_uint_eq(ask("SELECT count(*) FROM checkpoints"), count);
	uint64_t begins = ask("SELECT min(tick) FROM checkpoints");
	ck_assert_uint_eq(begins, 120 - 10 * (count - 1));
	ck_assert_uint_eq(ask("SELECT min(seq) FROM checkpoints"),
			  ask("SELECT value FROM meta WHERE key = 'begins'"));
	ck_assert_uint_eq(ask("SELECT count(*) FROM applies WHERE seq < (SELECT value FROM meta"
			      " WHERE key = 'begins')"),
			  0);
	ck_assert_uint_eq(ask("SELECT count(*) FROM batches WHERE apply NOT IN"
			      " (SELECT seq FROM applies)"),
			  0);
	/* Later hashes are all there. */
	ck_assert_uint_eq(ask("SELECT max(tick + count) FROM hashes"), 126);
	ck_assert_uint_eq(ask("SELECT count(*) FROM shapes"), TEST_SHAPES);
	come_back();
}
END_TEST

START_TEST(what_is_kept_verifies_and_says_where_it_begins)
{
	struct replay_report report;
	struct reason why;
	keep(3, false);
	recorder_begin(&recorder, "w", "soft-step", false, check_seed());
	live(2);
	ck_assert_int_eq(verify(0, &report, &why), STATUS_OK);
	ck_assert(report.whole);
	ck_assert_uint_eq(report.begins_tick, 0);
	live(8);
	recorder_run(&recorder, 5);
	recorder_settle(&recorder);
	ck_assert_int_eq(verify(0, &report, &why), STATUS_OK);
	ck_assert_int_eq(report.verdict, REPLAY_SAME);
	ck_assert(!report.whole);
	ck_assert_uint_eq(report.begins_tick, 80);
	ck_assert_uint_eq(report.ticks, 25);
	ck_assert_uint_eq(report.state_hash, test_hash(recorder.world));
	/* From where nothing is left it is refused, in words. */
	ck_assert_int_eq(verify(79, &report, &why), STATUS_MISSING);
	ck_assert_msg(strstr(why.text, "pruned") != NULL, "%s", why.text);
	ck_assert_int_eq(verify(95, &report, &why), STATUS_OK);
	ck_assert_uint_eq(report.ticks, 15);
}
END_TEST

/* Rows of hashes end wherever a transaction did: at the beginning, one tick before and one after it
 * among them. */
START_TEST(every_tick_after_the_beginning_has_its_hash_and_no_row_from_before_stays)
{
	struct rng rng = rng_seeded(check_seed() + (uint64_t)_i);
	keep(1 + (uint32_t)_i, false);
	recorder_begin(&recorder, "w", "free", false, check_seed());
	for (int round = 0; round < 60; round++) {
		recorder_run(&recorder, 1 + rng_below(&rng, 3));
		if (rng_below(&rng, 2) == 0)
			recorder_checkpoint(&recorder, NULL);
		recorder_settle(&recorder);
		uint64_t begins = ask("SELECT min(tick) FROM checkpoints");
		uint64_t now = world_info(recorder.world).tick;
		ck_assert_uint_eq(ask("WITH b AS (SELECT min(tick) AS tick FROM checkpoints) SELECT"
				      " coalesce(sum(min(count, h.tick + count - 1 - b.tick)), 0)"
				      " FROM hashes h, b WHERE h.tick + count - 1 > b.tick"),
				  now - begins);
		ck_assert_uint_eq(ask("SELECT count(*) FROM hashes WHERE tick + count - 1 <="
				      " (SELECT min(tick) FROM checkpoints)"),
				  0);
	}
	ck_assert_uint_gt(ask("SELECT min(tick) FROM checkpoints"), 50);
	come_back();
}
END_TEST

START_TEST(recorded_from_birth_it_stays_whole_with_few_images)
{
	struct replay_report report;
	struct reason why;
	keep(2, true);
	recorder_begin(&recorder, "w", "soft-step", false, check_seed());
	live(10);
	ck_assert_uint_eq(ask("SELECT count(*) FROM checkpoints"), 3);
	ck_assert_uint_eq(ask("SELECT min(tick) FROM checkpoints"), 0);
	ck_assert_int_eq(verify(0, &report, &why), STATUS_OK);
	ck_assert_int_eq(report.verdict, REPLAY_SAME);
	ck_assert(report.whole);
	ck_assert_uint_eq(report.ticks, 100);
	/* A daemon that is not to keep it takes the beginning away, and it cannot come back. */
	keep(2, false);
	live(1);
	ck_assert_uint_eq(ask("SELECT count(*) FROM checkpoints"), 2);
	keep(2, true);
	live(3);
	ck_assert_uint_eq(ask("SELECT min(tick) FROM checkpoints"), 100);
	ck_assert_int_eq(verify(0, &report, &why), STATUS_OK);
	ck_assert(!report.whole);
	ck_assert_uint_eq(report.ticks, 40);
}
END_TEST

START_TEST(snapshots_stay_while_a_name_or_a_restore_needs_them)
{
	struct replay_report report;
	struct reason why;
	keep(2, false);
	recorder_begin(&recorder, "w", "free", false, check_seed());
	live(1);
	recorder_checkpoint(&recorder, "a");
	recorder_checkpoint(&recorder, "b");
	live(6);
	ck_assert_uint_eq(ask("SELECT count(*) FROM checkpoints"), 4);
	/* Back to the first "a", and then another state takes its name. */
	recorder_restore(&recorder, "a");
	recorder_run(&recorder, 3);
	recorder_checkpoint(&recorder, "a");
	recorder_run(&recorder, 2);
	recorder_settle(&recorder);
	ck_assert_uint_eq(ask("SELECT count(*) FROM checkpoints WHERE name = 'a'"), 2);
	ck_assert_int_eq(verify(0, &report, &why), STATUS_OK);
	ck_assert_int_eq(report.verdict, REPLAY_SAME);
	ck_assert_uint_eq(report.state_hash, test_hash(recorder.world));
	come_back();
	keep(2, false);
	live(4);
	/* The RESTORE is history that is not kept any more. */
	ck_assert_uint_eq(ask("SELECT count(*) FROM checkpoints WHERE name = 'a'"), 1);
	ck_assert_uint_eq(ask("SELECT count(*) FROM checkpoints"), 4);
	ck_assert_uint_eq(ask("SELECT count(*) FROM epochs"), 1);
	come_back();
}
END_TEST

/* Pages that became free are used again: the file of an old world is as large as that of a younger one. */
START_TEST(the_file_does_not_grow_with_the_worlds_age)
{
	keep(2, false);
	recorder_begin(&recorder, "w", "free", false, check_seed());
	uint64_t pages[4];
	for (int i = 0; i < 4; i++) {
		/* The same state again and again, for the images' sake. */
		recorder_checkpoint(&recorder, "again");
		for (int round = 0; round < 12; round++) {
			live(1);
			recorder_restore(&recorder, "again");
		}
		pages[i] = ask("PRAGMA page_count");
	}
	ck_assert_uint_le(pages[3], pages[1] + pages[1] / 4);
	ck_assert_uint_eq(ask("SELECT sum(count) FROM hashes") < 100, 1);
}
END_TEST

START_TEST(what_an_earlier_daemon_left_goes_bit_by_bit_without_new_records)
{
	recorder_begin(&recorder, "w", "soft-step", false, check_seed());
	live(20);
	ck_assert_uint_eq(ask("SELECT count(*) FROM checkpoints"), 21);
	come_back();
	keep(3, false);
	recorder_settle(&recorder);
	uint64_t soon = ask("SELECT count(*) FROM checkpoints");
	ck_assert_uint_gt(soon, 3);
	io_sim_run_until(recorder.sim, io_sim_now(recorder.sim) + 2000 * NS_PER_MS);
	ck_assert_uint_eq(ask("SELECT count(*) FROM checkpoints"), 3);
	come_back();
}
END_TEST

START_TEST(a_burst_of_checkpoints_goes_as_fast_as_it_came)
{
	keep(2, false);
	recorder_begin(&recorder, "w", "free", false, check_seed());
	recorder_settle(&recorder);
	for (int i = 0; i < 20; i++) {
		recorder_run(&recorder, 1);
		recorder_checkpoint(&recorder, NULL);
	}
	/* Time for five slices. */
	recorder_settle(&recorder);
	ck_assert_uint_eq(ask("SELECT count(*) FROM checkpoints"), 2);
	come_back();
}
END_TEST

START_TEST(sessions_whose_batches_are_gone_are_remembered)
{
	struct recovered recovered;
	struct reason why;
	keep(1, false);
	recorder_begin(&recorder, "w", "free", false, check_seed());
	live(5);
	uint64_t batches = ask("SELECT count(*) FROM batches");
	ck_assert_uint_eq(batches, 0);
	recorder_close(&recorder);
	recorder_open(&recorder, directory, 1);
	ck_assert_int_eq(store_recover(recorder.store, "w", &recovered, &why), STATUS_OK);
	/* recorder_disturb's sessions are 1 … 3. */
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

START_TEST(what_was_taken_away_is_counted)
{
	keep(4, false);
	recorder_begin(&recorder, "w", "soft-step", false, check_seed());
	struct journal_events events = { .figures = on_figures };
	journal_set_events(recorder.journal, &events);
	live(10);
	ck_assert_uint_eq(figures.checkpoints_pruned, 11 - 4);
	ck_assert_uint_gt(figures.records_pruned, 70);
	ck_assert_uint_eq(figures.prune_failures, 0);
	ck_assert_uint_eq(figures.file_bytes, ask("PRAGMA page_count") * ask("PRAGMA page_size"));
	ck_assert_uint_lt(figures.free_bytes, figures.file_bytes);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("prune");
	TCase *tests = tcase_create("prune");
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_loop_test(tests, the_newest_checkpoints_and_what_came_after_them_stay, 0, 4);
	tcase_add_test(tests, what_is_kept_verifies_and_says_where_it_begins);
	tcase_add_loop_test(
		tests, every_tick_after_the_beginning_has_its_hash_and_no_row_from_before_stays, 0,
		3);
	tcase_add_test(tests, recorded_from_birth_it_stays_whole_with_few_images);
	tcase_add_test(tests, snapshots_stay_while_a_name_or_a_restore_needs_them);
	tcase_add_test(tests, the_file_does_not_grow_with_the_worlds_age);
	tcase_add_test(tests, what_an_earlier_daemon_left_goes_bit_by_bit_without_new_records);
	tcase_add_test(tests, a_burst_of_checkpoints_goes_as_fast_as_it_came);
	tcase_add_test(tests, sessions_whose_batches_are_gone_are_remembered);
	tcase_add_test(tests, what_was_taken_away_is_counted);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return check_main(make);
}
