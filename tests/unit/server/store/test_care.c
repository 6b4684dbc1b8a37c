/* Check, repair, backup and restore of world files; files that are cut, or have one wrong bit.
 *
 * EVERY=N in the environment flips a bit in every N-th byte, from byte FIRST on (make check: 197 bytes apart;
 * `make soak-flips`: every byte, half of them in each of two processes). */
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/heap.h"
#include "server/store/care.h"
#include "server/store/journal.h"
#include "server/store/sql.h"
#include "server/store/world_file.h"
#include "tests/lib/check_main.h"
#include "tests/lib/recorder.h"

enum { TICKS = 40, EVERY_DEFAULT = 197 };

static struct recorder recorder;
static char folder[RECORDER_PATH], file[RECORDER_PATH + 32], other[RECORDER_PATH + 32];

/* A file of TICKS ticks with batches and three checkpoints, closed. */
static void make_file(void)
{
	recorder_directory(folder);
	recorder_open(&recorder, folder, check_seed());
	recorder_begin(&recorder, "w", "soft-step", false, 3);
	for (int i = 0; i < TICKS; i++) {
		recorder_disturb(&recorder);
		recorder_step(&recorder);
		if (i == TICKS / 2)
			recorder_checkpoint(&recorder, NULL);
	}
	/* As an orderly end does. Without it a wrong bit of a command could change hidden state alone,
	 * which tick hashes do not cover. */
	recorder_checkpoint(&recorder, NULL);
	recorder_close(&recorder);
	snprintf(file, sizeof file, "%s/w.cairn", folder);
	snprintf(other, sizeof other, "%s/other.cairn", folder);
}

static void remove_files(void)
{
	recorder_remove(folder);
}

static struct bytes read_bytes(const char *path)
{
	struct bytes bytes = { 0 };
	uint8_t buffer[4096];
	FILE *in = fopen(path, "rb");
	ck_assert_ptr_nonnull(in);
	for (size_t got; (got = fread(buffer, 1, sizeof buffer, in)) > 0;)
		ck_assert_int_eq(bytes_append(&bytes, buffer, got), STATUS_OK);
	fclose(in);
	return bytes;
}

static void write_bytes(const char *path, const struct bytes *bytes, size_t count)
{
	FILE *out = fopen(path, "wb");
	ck_assert_ptr_nonnull(out);
	ck_assert_uint_eq(fwrite(bytes->data, 1, count, out), count);
	ck_assert_int_eq(fclose(out), 0);
}

static void drop(const char *path)
{
	static const char *const suffixes[] = { "", "-wal", "-shm", "-journal" };
	char name[RECORDER_PATH + 64];
	for (size_t i = 0; i < COUNT_OF(suffixes); i++) {
		snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
		(void)unlink(name);
	}
}

static struct care_report checked(const char *path)
{
	struct care_report report;
	struct reason why;
	enum status status = care_check(path, &report, &why);
	ck_assert_msg(status == STATUS_OK, "%s", why.text);
	return report;
}

START_TEST(a_whole_file_is_sound_and_proved_to_its_end)
{
	struct care_report report = checked(file);
	ck_assert_msg(report.sound, "%s", report.damage);
	ck_assert(report.proved);
	ck_assert_uint_eq(report.tick, TICKS);
	ck_assert_uint_eq(report.ticks, TICKS);
}
END_TEST

static void change(const char *text)
{
	sqlite3 *db;
	ck_assert_int_eq(sqlite3_open(file, &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static uint64_t number(const char *text)
{
	sqlite3 *db;
	uint64_t value;
	struct reason why;
	ck_assert_int_eq(sql_open(file, SQL_ALONE, &db, &why), STATUS_OK);
	ck_assert_int_eq(sql_number(db, text, 0, &value, &why), STATUS_OK);
	sql_close(db);
	return value;
}

/* A damage at a known place: everything before it is kept. */
START_TEST(a_repair_keeps_what_precedes_the_damage)
{
#define APPLY "(SELECT max(seq) FROM applies WHERE tick <= 30 AND batches > 0)"
	static const char *const damages[] = {
		"UPDATE hashes SET hashes = CAST(substr(hashes, 1, 8 * 29) || x'0123456789abcdef'"
		" || substr(hashes, 8 * 30 + 1) AS BLOB)",
		"UPDATE batches SET commands = x'c1' WHERE apply = " APPLY,
		"UPDATE batches SET result = 3 WHERE apply = " APPLY,
		"DELETE FROM applies WHERE seq = " APPLY,
	};
	uint64_t tick = _i == 0 ? 29 : number("SELECT tick FROM applies WHERE seq = " APPLY);
	struct reason why;
	struct care_report report, again;
	struct bytes before, after;
	change(damages[_i]);
	report = checked(file);
	ck_assert(!report.sound);
	ck_assert_str_ne(report.damage, "");
	/* The first hash that misses the batches of a record that is gone tells it. What these changed may be
	 * hidden from the hashes for some ticks, or until the last checkpoint; the records around may tell
	 * it before. The hash of each tick proves what is kept. */
	if (_i == 3)
		tick = report.tick;
	ck_assert_uint_eq(report.tick, tick);
	before = read_bytes(file);
	enum status status = care_repair(file, other, &report, &why);
	ck_assert_msg(status == STATUS_OK, "%s", why.text);
	ck_assert_uint_eq(report.tick, tick);
	ck_assert_uint_gt(report.rows_cut, 0);
	again = checked(other);
	ck_assert_msg(again.sound, "%s", again.damage);
	ck_assert_uint_eq(again.tick, tick);
	after = read_bytes(file);
	ck_assert_uint_eq(before.count, after.count);
	ck_assert_mem_eq(before.data, after.data, before.count);
	bytes_release(&before);
	bytes_release(&after);
	/* Nothing is overwritten. */
	ck_assert_int_eq(care_repair(file, other, &report, &why), STATUS_EXISTS);
}
END_TEST

START_TEST(without_its_first_checkpoint_a_file_begins_at_the_next)
{
	struct reason why;
	struct care_report report;
	change("UPDATE checkpoints SET image = x'00' WHERE seq = (SELECT min(seq) FROM checkpoints)");
	ck_assert_int_eq(care_repair(file, other, &report, &why), STATUS_OK);
	ck_assert_uint_eq(report.tick, TICKS);
	ck_assert_uint_lt(report.ticks, TICKS);
	ck_assert(checked(other).sound);
	change("UPDATE checkpoints SET image = x'00'");
	drop(other);
	ck_assert_int_eq(care_repair(file, other, &report, &why), STATUS_CORRUPT);
	ck_assert_int_ne(access(other, F_OK), 0);
}
END_TEST

/* One wrong bit: found, or without effect on the history; a repair is sound or refused; nothing crashes. */
START_TEST(one_wrong_bit_is_found_or_harmless)
{
	const char *every_text = getenv("EVERY");
	uint32_t every = every_text != NULL ? (uint32_t)atoi(every_text) : EVERY_DEFAULT;
	const char *first_text = getenv("FIRST");
	size_t first = first_text != NULL ? (size_t)atoi(first_text) : check_seed() % every;
	struct bytes bytes = read_bytes(file);
	struct care_report whole = checked(file);
	struct rng rng = rng_seeded(check_seed());
	uint32_t found = 0, refused = 0, repaired = 0;
	for (size_t at = first; at < bytes.count; at += every) {
		struct care_report report;
		struct reason why;
		uint8_t bit = (uint8_t)(1u << rng_below(&rng, 8));
		bytes.data[at] ^= bit;
		write_bytes(file, &bytes, bytes.count);
		bytes.data[at] ^= bit;
		if (care_check(file, &report, &why) != STATUS_OK) {
			refused++;
			continue;
		}
		if (report.sound) {
			ck_assert_msg(report.state_hash == whole.state_hash, "byte %zu: tick %d",
				      at, (int)report.tick);
			continue;
		}
		found++;
		drop(other);
		if (care_repair(file, other, &report, &why) != STATUS_OK)
			continue;
		repaired++;
		report = checked(other);
		ck_assert_msg(report.sound, "byte %zu: %s", at, report.damage);
	}
	printf("# %zu bytes in steps of %u: %u damages found, %u files refused, %u repaired\n",
	       bytes.count, (unsigned)every, (unsigned)found, (unsigned)refused,
	       (unsigned)repaired);
	ck_assert_uint_gt(found, 0);
	ck_assert_uint_gt(repaired, 0);
	bytes_release(&bytes);
}
END_TEST

START_TEST(a_cut_file_is_found)
{
	struct bytes bytes = read_bytes(file);
	for (size_t count = 0; count < bytes.count; count += 1 + bytes.count / 60) {
		struct care_report report;
		struct reason why;
		write_bytes(file, &bytes, count);
		enum status status = care_check(file, &report, &why);
		ck_assert(status != STATUS_OK || !report.sound);
		drop(other);
		if (care_repair(file, other, &report, &why) == STATUS_OK)
			ck_assert(checked(other).sound);
	}
	bytes_release(&bytes);
}
END_TEST

START_TEST(a_backup_of_a_world_that_is_written_is_a_prefix_of_it)
{
	struct reason why;
	struct care_report report;
	struct recorder busy;
	recorder_open(&busy, folder, check_seed());
	recorder_begin(&busy, "busy", "free", false, 1);
	for (int i = 0; i < 30; i++)
		recorder_step(&busy);
	recorder_settle(&busy);
	snprintf(file, sizeof file, "%s/busy.cairn", folder);
	enum status status = care_backup(file, other, &report, &why);
	ck_assert_msg(status == STATUS_OK, "%s", why.text);
	ck_assert_int_eq(care_backup(file, other, &report, &why), STATUS_EXISTS);
	for (int i = 0; i < 30; i++)
		recorder_step(&busy);
	recorder_settle(&busy);
	/* The directory is in use. */
	char place[RECORDER_PATH + 32];
	snprintf(place, sizeof place, "%s/again.cairn", folder);
	ck_assert_int_eq(care_restore(other, place, &report, &why), STATUS_IN_USE);
	recorder_close(&busy);
	ck_assert_int_eq(care_restore(other, file, &report, &why), STATUS_EXISTS);
	status = care_restore(other, place, &report, &why);
	ck_assert_msg(status == STATUS_OK, "%s", why.text);
	report = checked(place);
	ck_assert(report.sound);
	ck_assert_uint_eq(report.tick, 30);
	struct stat found;
	ck_assert_int_eq(stat(place, &found), 0);
	ck_assert_uint_eq(found.st_mode & 0777, 0600);
	change("UPDATE checkpoints SET image = x'00'");
	drop(place);
	ck_assert_int_eq(care_restore(file, place, &report, &why), STATUS_CORRUPT);
}
END_TEST

/* Two writers of one file, as by a link from another directory: the first one stops. */
START_TEST(a_file_that_another_program_has_written_is_not_written_any_more)
{
	struct reason why;
	struct world_file_progress progress = { 0 };
	struct world_file first = { 0 }, second = { 0 };
	struct record_buffer records = { 0 };
	ck_assert_int_eq(world_file_open(&first, file, &why), STATUS_OK);
	ck_assert_int_eq(world_file_recovered(&first, 2, TICKS, &why), STATUS_OK);
	ck_assert_int_eq(record_buffer_put_tick(&records, 2, TICKS + 1, 1), STATUS_OK);
	ck_assert_int_eq(world_file_write(&first, &records, &progress, &why), STATUS_OK);
	ck_assert_int_eq(world_file_open(&second, file, &why), STATUS_OK);
	ck_assert_int_eq(world_file_recovered(&second, 3, TICKS + 1, &why), STATUS_OK);
	record_buffer_reset(&records);
	ck_assert_int_eq(record_buffer_put_tick(&records, 2, TICKS + 2, 2), STATUS_OK);
	ck_assert_int_eq(world_file_write(&first, &records, &progress, &why), STATUS_IN_USE);
	record_buffer_release(&records);
	world_file_close(&first);
	world_file_close(&second);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("server/store/care");
	TCase *cases = tcase_create("care");
	tcase_set_timeout(cases, 600);
	tcase_add_checked_fixture(cases, make_file, remove_files);
	tcase_add_test(cases, a_whole_file_is_sound_and_proved_to_its_end);
	tcase_add_loop_test(cases, a_repair_keeps_what_precedes_the_damage, 0, 4);
	tcase_add_test(cases, without_its_first_checkpoint_a_file_begins_at_the_next);
	tcase_add_test(cases, one_wrong_bit_is_found_or_harmless);
	tcase_add_test(cases, a_cut_file_is_found);
	tcase_add_test(cases, a_backup_of_a_world_that_is_written_is_a_prefix_of_it);
	tcase_add_test(cases, a_file_that_another_program_has_written_is_not_written_any_more);
	suite_add_tcase(suite, cases);
	return suite;
}

int main(void)
{
	return check_main(make);
}
