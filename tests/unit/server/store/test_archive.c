/* Running recordings (keep.h) and recordings as files of their own (archive.h): what is kept, and that every
 * file made recomputes by itself. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/io/log.h"
#include "server/store/archive.h"
#include "server/store/care.h"
#include "server/store/store_state.h"
#include "tests/lib/check_main.h"
#include "tests/lib/recorder.h"
#include "tests/lib/worlds.h"

static char directory[RECORDER_PATH], world[RECORDER_PATH];
static struct recorder recorder;

static void set_up(void)
{
	log_set_level(LOG_ERROR);
	recorder_directory(directory);
	recorder_open(&recorder, directory, check_seed());
	recorder_path(&recorder, "w", world);
}

static void remove_recordings(void)
{
	char names[8][WIRE_NAME_MAX + 1], path[NEW_FILE_PATH];
	uint32_t count = 0;
	struct reason why;
	ck_assert_int_eq(archive_names(world, names, 8, &count, &why), STATUS_OK);
	ck_assert_uint_le(count, 8);
	for (uint32_t i = 0; i < count; i++)
		ck_assert_int_eq(archive_remove(world, names[i], &why), STATUS_OK);
	ck_assert(archive_path(world, "", path));
	(void)rmdir(path);
	*strrchr(path, '/') = '\0';
	(void)rmdir(path);
}

static void tear_down(void)
{
	recorder_close(&recorder);
	remove_recordings();
	recorder_remove(directory);
}

static void set_retention(uint32_t checkpoints)
{
	struct retention retention = { checkpoints, false };
	store_set_retention(recorder.store, &retention);
}

static uint64_t read_number(const char *text)
{
	struct reason why;
	sqlite3 *db;
	uint64_t value;
	ck_assert_int_eq(sql_open(world, SQL_READ, &db, &why), STATUS_OK);
	ck_assert_int_eq(sql_number(db, text, 0, &value, &why), STATUS_OK);
	sql_close(db);
	return value;
}

static void run_rounds(int rounds)
{
	for (int i = 0; i < rounds; i++) {
		recorder_run(&recorder, 10);
		recorder_checkpoint(&recorder, NULL);
		recorder_settle(&recorder);
	}
}

static void keep(const char *name, uint64_t ticks, uint64_t bytes)
{
	struct world_info info = world_info(recorder.world);
	struct journal_keep record = { .ticks = ticks, .bytes = bytes };
	snprintf(record.name, sizeof record.name, "%s", name);
	snprintf(record.title, sizeof record.title, "title of %s", name);
	if (name[0] != '\0')
		recorder_checkpoint(&recorder, NULL);
	ck_assert_int_eq(journal_keep(recorder.journal, info.epoch, info.tick, &record), STATUS_OK);
	recorder_settle(&recorder);
}

/* Copies the file's records from the checkpoint `begins` on, as ANSWERS does. */
static enum status copy(const char *name, uint64_t begins, uint64_t room,
			struct archive_entry *entry, struct reason *why)
{
	struct archive_order order = { .begins = begins, .room = room };
	struct archive_copy *made = NULL;
	struct recording *recording;
	sqlite3 *db;
	bool done = false;
	snprintf(order.name, sizeof order.name, "%s", name);
	ck_assert_int_eq(sql_open(world, SQL_READ, &db, why), STATUS_OK);
	ck_assert_int_eq(recording_open(db, &recording, why), STATUS_OK);
	enum status status = archive_copy_begin(world, db, &order, &made, why);
	while (status == STATUS_OK && !done)
		status = archive_copy_step(made, &done, why);
	if (status == STATUS_OK)
		status = archive_copy_end(made, entry, why);
	archive_copy_destroy(made);
	recording_close(recording);
	sql_close(db);
	return status;
}

static void check_sound(const char *name, uint64_t ticks)
{
	char path[NEW_FILE_PATH];
	struct care_report report;
	struct reason why;
	ck_assert(archive_path(world, name, path));
	ck_assert_int_eq(care_check(path, &report, &why), STATUS_OK);
	ck_assert_msg(report.sound, "%s", report.damage);
	ck_assert_uint_eq(report.ticks, ticks);
	ck_assert_uint_eq(report.state_hash, test_hash(recorder.world));
}

static bool any_part_is_left(void)
{
	char path[RECORDER_PATH + 64];
	snprintf(path, sizeof path, "%s/recordings/w/.a.part", directory);
	return access(path, F_OK) == 0;
}

START_TEST(a_running_recording_is_not_pruned_and_its_end_lets_go)
{
	set_retention(2);
	recorder_begin(&recorder, "w", "soft-step", false, check_seed());
	run_rounds(4);
	keep("a", 0, 0);
	run_rounds(12);
	/* From tick 40 on everything is there, although two checkpoints would do. */
	ck_assert_uint_eq(read_number("SELECT min(tick) FROM checkpoints"), 40);
	ck_assert_uint_eq(read_number("SELECT count(*) FROM checkpoints"), 13);
	keep("", 0, 0);
	run_rounds(3);
	ck_assert_uint_eq(read_number("SELECT count(*) FROM checkpoints"), 2);
	ck_assert_uint_eq(read_number("SELECT count(*) FROM meta WHERE key GLOB 'recording*'"), 0);
}
END_TEST

START_TEST(a_ring_follows_the_world_and_never_has_less_than_its_ticks)
{
	set_retention(2);
	recorder_begin(&recorder, "w", "free", false, check_seed());
	keep("a", 45, 0);
	for (int round = 0; round < 20; round++) {
		run_rounds(1);
		uint64_t begins = read_number("SELECT min(tick) FROM checkpoints");
		uint64_t now = world_info(recorder.world).tick;
		/* Checkpoints are ten ticks apart. */
		ck_assert_uint_ge(now - begins, now < 45 ? now : 45);
		ck_assert_uint_le(now - begins, 45 + 10);
	}
}
END_TEST

START_TEST(a_bound_in_bytes_drops_the_oldest_part)
{
	set_retention(2);
	recorder_begin(&recorder, "w", "free", false, check_seed());
	keep("a", 0, 1);
	run_rounds(30);
	ck_assert_uint_le(read_number("SELECT count(*) FROM checkpoints"), 3);
}
END_TEST

/* The daemon dies; the next one finds the recording running, and keeps its part. */
START_TEST(a_recording_goes_on_after_a_crash)
{
	struct recovered recovered;
	set_retention(2);
	recorder_begin(&recorder, "w", "soft-step", false, check_seed());
	run_rounds(2);
	keep("night", 0, 0);
	run_rounds(3);
	char crashed[RECORDER_PATH];
	recorder_directory(crashed);
	recorder_copy(&recorder, "w", crashed);
	recorder_close(&recorder);
	recorder_remove(directory);
	memcpy(directory, crashed, sizeof directory);
	recorder_open(&recorder, directory, 7);
	recorder_path(&recorder, "w", world);
	set_retention(2);
	recorder_recover(&recorder, "w", &recovered);
	ck_assert_str_eq(recovered.recording, "night");
	run_rounds(6);
	ck_assert_uint_eq(read_number("SELECT min(tick) FROM checkpoints"), 20);
}
END_TEST

START_TEST(a_copy_recomputes_alone_with_restores_and_shapes)
{
	struct archive_entry entry;
	struct reason why;
	set_retention(0);
	recorder_begin(&recorder, "w", "soft-step", false, check_seed());
	recorder_checkpoint(&recorder, "early");
	run_rounds(3);
	keep("a", 0, 0);
	uint64_t begins = read_number("SELECT value FROM meta WHERE key = 'recording_begins'");
	run_rounds(2);
	recorder_restore(&recorder, "early");
	run_rounds(2);
	recorder_run(&recorder, 7);
	recorder_settle(&recorder);
	ck_assert_int_eq(copy("a", begins, UINT64_MAX, &entry, &why), STATUS_OK);
	ck_assert_uint_eq(entry.first.tick, 30);
	ck_assert_uint_eq(entry.last.epoch, 2);
	ck_assert_uint_eq(entry.last.tick, 27);
	check_sound("a", 20 + 27);
	/* From the beginning of the world on. */
	uint64_t first = read_number("SELECT min(seq) FROM checkpoints");
	ck_assert_int_eq(copy("all", first, UINT64_MAX, &entry, &why), STATUS_OK);
	check_sound("all", 50 + 27);
	/* A name is used once. */
	ck_assert_int_eq(copy("a", first, UINT64_MAX, &entry, &why), STATUS_EXISTS);
	ck_assert_int_eq(archive_remove(world, "a", &why), STATUS_OK);
	ck_assert_int_eq(archive_remove(world, "a", &why), STATUS_MISSING);
}
END_TEST

START_TEST(a_copy_that_is_too_large_leaves_nothing)
{
	struct archive_entry entry;
	struct reason why;
	recorder_begin(&recorder, "w", "free", false, check_seed());
	run_rounds(3);
	uint64_t first = read_number("SELECT min(seq) FROM checkpoints");
	ck_assert_int_eq(copy("a", first, 20000, &entry, &why), STATUS_FULL);
	ck_assert_msg(strstr(why.text, "--recordings-bytes") != NULL, "%s", why.text);
	ck_assert(!any_part_is_left());
	uint32_t count;
	ck_assert_int_eq(archive_names(world, NULL, 0, &count, &why), STATUS_OK);
	ck_assert_uint_eq(count, 0);
}
END_TEST

START_TEST(a_received_file_is_checked_before_it_gets_its_name)
{
	struct archive_entry entry;
	struct reason why;
	struct bytes part = { 0 }, whole = { 0 };
	uint64_t size;
	recorder_begin(&recorder, "w", "free", false, check_seed());
	run_rounds(2);
	ck_assert_int_eq(copy("a", read_number("SELECT min(seq) FROM checkpoints"), UINT64_MAX,
			      &entry, &why),
			 STATUS_OK);
	ck_assert_int_eq(archive_read(world, "a", 0, 1u << 24, &whole, &size, &why), STATUS_OK);
	ck_assert_uint_eq(size, whole.count);
	for (uint64_t at = 0; at < size; at += 10000) {
		bytes_reset(&part);
		uint64_t bytes = MIN_OF(size - at, (uint64_t)10000);
		ck_assert_int_eq(bytes_append(&part, whole.data + at, bytes), STATUS_OK);
		ck_assert_int_eq(archive_put(world, "b", at + 1, &part, size * 4, &why),
				 STATUS_RANGE);
		ck_assert_int_eq(archive_put(world, "b", at, &part, size * 4, &why), STATUS_OK);
	}
	ck_assert_int_eq(archive_put_end(world, "b", &entry, &why), STATUS_OK);
	check_sound("b", 20);
	/* Other bytes, a second file of the name, and too many bytes. */
	ck_assert_int_eq(archive_put(world, "c", 0, &part, size * 4, &why), STATUS_OK);
	ck_assert_int_ne(archive_put_end(world, "c", &entry, &why), STATUS_OK);
	ck_assert_int_eq(archive_put(world, "b", 0, &part, size * 4, &why), STATUS_EXISTS);
	ck_assert_int_eq(archive_put(world, "d", 0, &part, size, &why), STATUS_FULL);
	uint32_t count;
	char names[4][WIRE_NAME_MAX + 1];
	ck_assert_int_eq(archive_names(world, names, 4, &count, &why), STATUS_OK);
	ck_assert_uint_eq(count, 2);
	ck_assert_str_eq(names[0], "a");
	ck_assert_str_eq(names[1], "b");
	bytes_release(&part);
	bytes_release(&whole);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("archive");
	TCase *tests = tcase_create("archive");
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, a_running_recording_is_not_pruned_and_its_end_lets_go);
	tcase_add_test(tests, a_ring_follows_the_world_and_never_has_less_than_its_ticks);
	tcase_add_test(tests, a_bound_in_bytes_drops_the_oldest_part);
	tcase_add_test(tests, a_recording_goes_on_after_a_crash);
	tcase_add_test(tests, a_copy_recomputes_alone_with_restores_and_shapes);
	tcase_add_test(tests, a_copy_that_is_too_large_leaves_nothing);
	tcase_add_test(tests, a_received_file_is_checked_before_it_gets_its_name);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return check_main(make);
}
