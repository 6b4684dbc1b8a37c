/* Recovery: at whatever moment a daemon ends, its worlds are recovered to the last durable state of
 * their files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "protocol/command_wire.h"
#include "server/io/log.h"
#include "server/store/store_state.h"
#include "tests/lib/check_main.h"
#include "tests/lib/recorder.h"
#include "tests/lib/worlds.h"

static char directory[RECORDER_PATH], elsewhere[RECORDER_PATH];
static struct recorder recorder;

static void set_up(void)
{
	log_set_level(LOG_ERROR);
	recorder_directory(directory);
	recorder_directory(elsewhere);
	recorder_open(&recorder, directory, check_seed());
}

static void tear_down(void)
{
	recorder_close(&recorder);
	recorder_remove(directory);
	recorder_remove(elsewhere);
}

/* ---- recorded states -------------------------------------------------------------------------- */

/* Hashes by (epoch, tick): after the tick, and after the commands of its boundary. */
static struct state {
	uint32_t epoch;
	uint64_t tick, stepped, applied;
} states[4096];
static uint32_t state_count;

static struct state *state_at(uint32_t epoch, uint64_t tick)
{
	for (uint32_t i = state_count; i > 0; i--)
		if (states[i - 1].epoch == epoch && states[i - 1].tick == tick)
			return &states[i - 1];
	ck_assert_uint_lt(state_count, COUNT_OF(states));
	states[state_count] = (struct state){ epoch, tick, 0, 0 };
	return &states[state_count++];
}

static void note_state(bool applied)
{
	struct world_info info = world_info(recorder.world);
	struct state *state = state_at(info.epoch, info.tick);
	state->applied = test_hash(recorder.world);
	if (!applied)
		state->stepped = state->applied;
}

static void pass_time(void)
{
	io_sim_run_until(recorder.sim,
			 io_sim_now(recorder.sim) + rng_below(&recorder.gen.rng, 30) * NS_PER_MS);
}

/* One tick with random commands, restores and checkpoints around it. */
static void make_tick(void)
{
	struct rng *rng = &recorder.gen.rng;
	uint32_t chance = rng_below(rng, 40);
	recorder_disturb(&recorder);
	note_state(true);
	pass_time();
	recorder_step(&recorder);
	note_state(false);
	if (chance < 4)
		recorder_checkpoint(&recorder, chance == 0 ? NULL : chance == 1 ? "a" : "b");
	if (chance == 4 && recorder.save_count > 0) {
		recorder_restore(&recorder, recorder.saves[0].name);
		note_state(false);
	}
	pass_time();
}

static uint64_t read_number(const char *where, const char *name, const char *text)
{
	char path[RECORDER_PATH + 80];
	struct reason why;
	sqlite3 *db;
	uint64_t value;
	snprintf(path, sizeof path, "%s/%s.cairn", where, name);
	ck_assert_int_eq(sql_open(path, SQL_READ, &db, &why), STATUS_OK);
	enum status status = sql_number(db, text, UINT64_MAX, &value, &why);
	ck_assert_msg(status == STATUS_OK, "%s: %s", text, why.text);
	sql_close(db);
	return value;
}

static void change_file(const char *where, const char *name, const char *text)
{
	char path[RECORDER_PATH + 80];
	struct reason why;
	sqlite3 *db;
	snprintf(path, sizeof path, "%s/%s.cairn", where, name);
	ck_assert_int_eq(sql_open(path, SQL_WRITE, &db, &why), STATUS_OK);
	enum status status = sql_exec(db, text, &why);
	ck_assert_msg(status == STATUS_OK, "%s: %s", text, why.text);
	sql_close(db);
}

/* Recovers the copy in `elsewhere` and compares it with the noted state of its tick. Returns that
 * tick. */
static uint64_t check_copy(uint32_t *epoch)
{
	struct recorder other;
	struct recovered recovered;
	*epoch = (uint32_t)read_number(elsewhere, "w", "SELECT max(epoch) FROM epochs");
	recorder_open(&other, elsewhere, 1);
	recorder_recover(&other, "w", &recovered);
	struct world_info info = world_info(other.world);
	ck_assert_uint_eq(info.epoch, *epoch + 1);
	char text[120];
	snprintf(text, sizeof text, "SELECT count(*) FROM applies WHERE epoch = %u AND tick = %llu",
		 (unsigned)*epoch, (unsigned long long)info.tick);
	bool applied = read_number(elsewhere, "w", text) > 0;
	struct state *state = state_at(*epoch, info.tick);
	ck_assert_uint_eq(test_hash(other.world), applied ? state->applied : state->stepped);
	test_check(other.world);
	recorder_close(&other);
	return info.tick;
}

static void remove_copy(void)
{
	char path[RECORDER_PATH + 40];
	static const char *const files[] = { "w.cairn", "w.cairn-wal", "w.cairn-shm",
					     "cairnd.lock" };
	for (size_t i = 0; i < COUNT_OF(files); i++) {
		snprintf(path, sizeof path, "%s/%s", elsewhere, files[i]);
		unlink(path);
	}
}

/* Six worlds without retention, and two that keep the newest 1 or 2 checkpoints. */
START_TEST(a_crash_at_any_tick_loses_nothing_durable)
{
	static const char *const methods[] = { "soft-step",  "free",   "projection", "lcp",
					       "reflection", "impact", "lcp" };
	struct rng rng = rng_seeded(check_seed() + (uint64_t)_i);
	struct retention retention = { .checkpoints = _i < 6 ? 0 : (uint32_t)_i - 5 };
	store_set_retention(recorder.store, &retention);
	recorder_begin(&recorder, "w", methods[_i % 7], _i % 7 >= 2 && _i % 7 < 5,
		       check_seed() + (uint64_t)_i);
	note_state(false);
	pass_time();
	for (int crash = 0; crash < 5; crash++) {
		for (uint32_t ticks = 1 + rng_below(&rng, 30); ticks > 0; ticks--)
			make_tick();
		if (recorder.durables == 0)
			recorder_settle(&recorder);
		recorder_copy(&recorder, "w", elsewhere);
		uint32_t durable_epoch = recorder.durable_epoch, epoch;
		uint64_t durable_tick = recorder.durable_tick, tick = check_copy(&epoch);
		ck_assert_uint_ge(epoch, durable_epoch);
		if (epoch == durable_epoch)
			ck_assert_uint_ge(tick, durable_tick);
		remove_copy();
	}
}
END_TEST

/* Notes of a process that is going to be killed, in memory shared with the test. */
struct kill_notes {
	_Atomic uint64_t durable; /* last tick reported durable */
	uint64_t hash[100000];	  /* by tick; stored before the tick is journalled */
};

static _Noreturn void make_ticks_until_killed(struct kill_notes *kill_notes)
{
	struct retention retention = { .checkpoints = 2 };
	recorder_open(&recorder, directory, check_seed());
	store_set_retention(recorder.store, &retention);
	recorder_begin(&recorder, "w", "soft-step", false, check_seed());
	for (;;) {
		recorder_disturb(&recorder);
		test_step(recorder.world, 1);
		struct world_info info = world_info(recorder.world);
		kill_notes->hash[info.tick] = test_hash(recorder.world);
		ck_assert_int_eq(journal_tick(recorder.journal, info.epoch, info.tick,
					      world_tick_hash(recorder.world)),
				 STATUS_OK);
		if (info.tick % 4 == 0)
			recorder_checkpoint(&recorder, NULL);
		io_sim_run_until(recorder.sim, io_sim_now(recorder.sim) + 25 * NS_PER_MS);
		kill_notes->durable = recorder.durable_tick;
	}
}

START_TEST(a_killed_process_loses_no_durable_tick)
{
	struct kill_notes *kill_notes = mmap(NULL, sizeof *kill_notes, PROT_READ | PROT_WRITE,
					     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(kill_notes, MAP_FAILED);
	recorder_close(&recorder);
	/* The process also prunes, keeping two checkpoints. */
	for (int kills = 0; kills < 6; kills++) {
		kill_notes->durable = 0;
		pid_t child = fork();
		ck_assert_int_ge(child, 0);
		if (child == 0)
			make_ticks_until_killed(kill_notes);
		/* The kill comes after a few durable ticks, at a different moment each time. */
		while (kill_notes->durable < 5)
			usleep(1000);
		usleep((useconds_t)(kills * 7919 % 20000));
		ck_assert_int_eq(kill(child, SIGKILL), 0);
		ck_assert_int_eq(waitpid(child, NULL, 0), child);
		uint64_t durable = kill_notes->durable;
		struct recovered recovered;
		recorder_open(&recorder, directory, 1);
		recorder_recover(&recorder, "w", &recovered);
		uint64_t tick = world_info(recorder.world).tick;
		ck_assert_uint_ge(tick, durable);
		ck_assert_uint_eq(test_hash(recorder.world), kill_notes->hash[tick]);
		struct reason why;
		recorder_end(&recorder);
		ck_assert_int_eq(store_remove_world(recorder.store, "w", &why), STATUS_OK);
		recorder_close(&recorder);
	}
	munmap(kill_notes, sizeof *kill_notes);
	recorder_open(&recorder, directory, 1);
}
END_TEST

/* _i = 0: no retention. _i = 1: everything older than two checkpoints is pruned, in transactions
 * that are not synced. */
START_TEST(from_a_torn_log_an_earlier_state_is_recovered)
{
	struct rng rng = rng_seeded(check_seed());
	struct retention retention = { .checkpoints = _i == 0 ? 0 : 2 };
	store_set_retention(recorder.store, &retention);
	uint64_t furthest = 0;
	recorder_begin(&recorder, "w", "soft-step", false, check_seed());
	note_state(false);
	/* From here on every transaction stays in the write-ahead log. */
	recorder_settle(&recorder);
	struct reason why;
	ck_assert_int_eq(
		sql_exec(recorder.journal->file.db, "PRAGMA wal_checkpoint(TRUNCATE)", &why),
		STATUS_OK);
	ck_assert_int_eq(sql_exec(recorder.journal->file.db, "PRAGMA wal_autocheckpoint = 0", &why),
			 STATUS_OK);
	for (int i = 0; i < 60; i++)
		make_tick();
	recorder_settle(&recorder);
	for (int tear = 0; tear < 12; tear++) {
		char path[RECORDER_PATH + 40];
		struct stat file;
		recorder_copy(&recorder, "w", elsewhere);
		snprintf(path, sizeof path, "%s/w.cairn-wal", elsewhere);
		ck_assert_int_eq(stat(path, &file), 0);
		uint32_t cut = rng_below(&rng, (uint32_t)file.st_size + 1);
		ck_assert_int_eq(truncate(path, cut), 0);
		uint32_t epoch;
		uint64_t tick = check_copy(&epoch);
		furthest = MAX_OF(furthest, tick);
		remove_copy();
	}
	ck_assert_uint_gt(furthest, 0);
}
END_TEST

START_TEST(a_recovered_world_continues_and_can_be_recovered_again)
{
	recorder_begin(&recorder, "w", "soft-step", false, check_seed());
	uint32_t first = recorder.epoch;
	for (uint32_t life = 1; life <= 4; life++) {
		recorder_run(&recorder, 15);
		uint64_t hash = test_hash(recorder.world);
		recorder_close(&recorder);
		recorder_open(&recorder, directory, life);
		char names[2][WIRE_NAME_MAX + 1];
		ck_assert_uint_eq(store_worlds(recorder.store, names, 2), 1);
		ck_assert_str_eq(names[0], "w");
		struct recovered recovered;
		recorder_recover(&recorder, "w", &recovered);
		ck_assert_uint_eq(test_hash(recorder.world), hash);
		ck_assert_uint_eq(world_info(recorder.world).tick, 15 * life);
		ck_assert_uint_eq(world_info(recorder.world).epoch, first + life);
		ck_assert_uint_eq(recovered.checkpoint_tick, 15 * (life - 1));
		ck_assert_uint_eq(recovered.replayed, 15);
		ck_assert_uint_ge(recovered.session_max, 1);
	}
}
END_TEST

/* ---- damaged files ---------------------------------------------------------------------------- */

static void record_sixty(void)
{
	recorder_begin(&recorder, "w", "soft-step", false, check_seed());
	for (int i = 0; i < 3; i++) {
		recorder_run(&recorder, 20);
		recorder_checkpoint(&recorder, i == 1 ? "kept" : NULL);
	}
	/* So often that some batch comes after the last checkpoint. */
	for (int i = 0; i < 10; i++)
		recorder_disturb(&recorder);
	recorder_run(&recorder, 7);
	state_count = 0;
	note_state(false);
	recorder_close(&recorder);
}

static enum status try_to_recover(struct recovered *recovered, struct reason *why)
{
	enum status status;
	recorder_open(&recorder, directory, 1);
	status = store_recover(recorder.store, "w", NULL, recovered, why);
	if (status == STATUS_OK) {
		recorder.world = recovered->world;
		recorder.journal = recovered->journal;
		shape_library_release(&recovered->shapes);
		for (uint32_t i = 0; i < recovered->snapshots.count; i++)
			bytes_release(&recovered->snapshots.items[i].image);
		ARRAY_RELEASE(&recovered->snapshots);
	}
	return status;
}

#define OF_LAST_CHECKPOINT "WHERE seq = (SELECT max(seq) FROM checkpoints)"
static const char *const harms[] = {
	"UPDATE checkpoints SET image = zeroblob(length(image)) " OF_LAST_CHECKPOINT,
	"UPDATE checkpoints SET image = substr(image, 1, length(image) / 2) " OF_LAST_CHECKPOINT,
	"UPDATE checkpoints SET image = x'' " OF_LAST_CHECKPOINT,
	"UPDATE checkpoints SET image_hash = x'0123456789ABCDEF' " OF_LAST_CHECKPOINT,
	"UPDATE checkpoints SET image_bytes = image_bytes + 1 " OF_LAST_CHECKPOINT,
	"UPDATE checkpoints SET image_bytes = -1 " OF_LAST_CHECKPOINT,
	"UPDATE checkpoints SET state_hash = x'0123456789ABCDEF' " OF_LAST_CHECKPOINT,
	"UPDATE checkpoints SET state_hash = 'short' " OF_LAST_CHECKPOINT,
	"UPDATE checkpoints SET table_hashes = zeroblob(8000) " OF_LAST_CHECKPOINT,
	"UPDATE checkpoints SET (image, image_hash, image_bytes) ="
	" (SELECT image, image_hash, image_bytes FROM checkpoints ORDER BY seq LIMIT 1) " OF_LAST_CHECKPOINT,
};

START_TEST(a_damaged_checkpoint_is_skipped)
{
	struct recovered recovered;
	struct reason why;
	record_sixty();
	change_file(directory, "w", harms[_i]);
	enum status status = try_to_recover(&recovered, &why);
	ck_assert_msg(status == STATUS_OK, "%s: %s", status_name(status), why.text);
	ck_assert_uint_eq(recovered.checkpoints_corrupt, 1);
	ck_assert_uint_eq(recovered.checkpoint_tick, 40);
	ck_assert_uint_eq(recovered.replayed, 27);
	ck_assert_uint_eq(test_hash(recorder.world), states[0].stepped);
}
END_TEST

START_TEST(without_a_valid_checkpoint_recovery_is_refused)
{
	struct recovered recovered;
	struct reason why;
	record_sixty();
	change_file(directory, "w", "UPDATE checkpoints SET image_hash = x'0123456789ABCDEF'");
	ck_assert_int_eq(try_to_recover(&recovered, &why), STATUS_CORRUPT);
	ck_assert_ptr_null(recovered.world);
}
END_TEST

static const struct {
	const char *change;
	enum status status;
	const char *word; /* must occur in the reason */
} refusals[] = {
	{ "UPDATE hashes SET hashes = substr(hashes, 1, 8 * 63) || x'0000000000000000' ||"
	  " substr(hashes, 8 * 64 + 1)",
	  STATUS_DIVERGED, "tick 64" },
	{ "UPDATE batches SET commands = x'FF' WHERE seq = (SELECT max(seq) FROM batches)",
	  STATUS_CORRUPT, "commands of batch" },
	{ "DELETE FROM batches WHERE seq = (SELECT max(seq) FROM batches)", STATUS_CORRUPT,
	  "is gone" },
	{ "UPDATE hashes SET count = 61, hashes = substr(hashes, 1, 8 * 61)", STATUS_CORRUPT,
	  "leads to" },
	{ "UPDATE hashes SET count = 257", STATUS_CORRUPT, "wrong count" },
	{ "UPDATE shapes SET canonical = zeroblob(9)", STATUS_CORRUPT, "its name" },
	{ "UPDATE epochs SET motion = 'core 999' || substr(motion, instr(motion, ','))",
	  STATUS_VERSION, "of an incompatible build" },
	{ "PRAGMA user_version = 3", STATUS_VERSION, "version 3" },
	{ "PRAGMA application_id = 1", STATUS_CORRUPT, "not a recording" },
};

START_TEST(a_damaged_file_is_refused_with_its_reason)
{
	struct recovered recovered;
	struct reason why;
	record_sixty();
	change_file(directory, "w", refusals[_i].change);
	enum status status = try_to_recover(&recovered, &why);
	ck_assert_msg(status == refusals[_i].status, "%s: %s", status_name(status), why.text);
	ck_assert_msg(strstr(why.text, refusals[_i].word) != NULL, "%s", why.text);
	ck_assert_ptr_null(recovered.world);
}
END_TEST

START_TEST(a_file_that_is_not_a_database_is_refused)
{
	char path[RECORDER_PATH];
	struct recovered recovered;
	struct reason why;
	recorder_path(&recorder, "w", path);
	recorder_close(&recorder);
	FILE *file = fopen(path, "wb");
	for (int i = 0; i < 8192; i++)
		fputc(i * 7 % 251, file);
	ck_assert_int_eq(fclose(file), 0);
	ck_assert_int_eq(try_to_recover(&recovered, &why), STATUS_CORRUPT);
}
END_TEST

/* ---- shapes, sessions, snapshots -------------------------------------------------------------- */

/* SHAPE_USE and a SPAWN in one batch. If replay knew the shape too early, it would make a body too
 * many. */
static enum status use_shape(uint64_t number)
{
	uint8_t packed[256];
	struct command commands[2] = { test_command(COMMAND_SHAPE_USE),
				       test_command(COMMAND_SPAWN) };
	commands[0].shape_use.name = test_shape_name(TEST_HULL);
	struct wire_packer packer = wire_packer_over(packed, sizeof packed);
	command_pack(&packer, &commands[0]);
	command_pack(&packer, &commands[1]);
	struct batch batch = { .session = 1, .number = number, .commands = commands, .count = 2 };
	struct wire_slice slice = wire_packer_slice(&packer);
	struct journal_batch record = {
		.session = 1,
		.batch = number,
		.commands = slice.at,
		.bytes = slice.bytes,
		.count = 2,
	};
	struct batch_result result;
	struct world_info info = world_info(recorder.world);
	ck_assert_int_eq(world_apply(recorder.world, &batch, 1, &result), STATUS_OK);
	record.result = (uint8_t)result.status;
	ck_assert_int_eq(
		journal_apply(recorder.journal, info.epoch, info.tick, info.edit + 1, &record, 1),
		STATUS_OK);
	return result.status;
}

START_TEST(a_shape_is_unknown_before_the_tick_it_was_added)
{
	struct reason why;
	struct shape_library book;
	shape_library_init(&book);
	ck_assert_int_eq(store_create_world(recorder.store, "w", NULL, &recorder.journal, &why),
			 STATUS_OK);
	recorder.world = test_world(false, "free");
	world_set_shape_source(recorder.world, shape_library_source(&book));
	recorder.epoch = world_info(recorder.world).epoch;
	recorder_checkpoint(&recorder, NULL);
	ck_assert_int_eq(use_shape(1), STATUS_UNKNOWN_SHAPE);
	recorder_step(&recorder);
	ck_assert_int_eq(shape_library_add(&book, test_shape(TEST_HULL)), STATUS_OK);
	ck_assert_int_eq(journal_shape(recorder.journal, recorder.epoch, 1, test_shape(TEST_HULL)),
			 STATUS_OK);
	ck_assert_int_eq(use_shape(2), STATUS_OK);
	recorder_step(&recorder);
	uint64_t hash = test_hash(recorder.world);
	recorder_close(&recorder);
	shape_library_release(&book);
	struct recovered recovered;
	recorder_open(&recorder, directory, 1);
	recorder_recover(&recorder, "w", &recovered);
	ck_assert_uint_eq(test_hash(recorder.world), hash);
}
END_TEST

START_TEST(the_latest_snapshot_of_each_name_is_recovered)
{
	struct reason why;
	recorder_begin(&recorder, "w", "free", false, check_seed());
	recorder_run(&recorder, 3);
	recorder_checkpoint(&recorder, "b");
	recorder_run(&recorder, 3);
	recorder_checkpoint(&recorder, "a");
	recorder_run(&recorder, 3);
	recorder_checkpoint(&recorder, "b");
	uint64_t hash = test_hash(recorder.world);
	recorder_close(&recorder);
	recorder_open(&recorder, directory, 1);
	struct recovered recovered;
	ck_assert_int_eq(store_recover(recorder.store, "w", NULL, &recovered, &why), STATUS_OK);
	ck_assert_uint_eq(recovered.snapshots.count, 2);
	ck_assert_str_eq(recovered.snapshots.items[0].name, "a");
	ck_assert_uint_eq(recovered.snapshots.items[0].tick, 6);
	ck_assert_str_eq(recovered.snapshots.items[1].name, "b");
	ck_assert_uint_eq(recovered.snapshots.items[1].tick, 9);
	ck_assert_uint_eq(recovered.snapshots.items[1].state_hash, hash);
	struct world *world;
	struct bytes *image = &recovered.snapshots.items[1].image;
	ck_assert_int_eq(world_load(image->data, image->count, test_shape_source(), &world, &why),
			 STATUS_OK);
	ck_assert_uint_eq(test_hash(world), hash);
	world_destroy(world);
	recorder.world = recovered.world;
	recorder.journal = recovered.journal;
	shape_library_release(&recovered.shapes);
	for (int i = 0; i < 2; i++)
		bytes_release(&recovered.snapshots.items[i].image);
	ARRAY_RELEASE(&recovered.snapshots);
}
END_TEST

/* ---- the directory ---------------------------------------------------------------------------- */

START_TEST(two_daemons_cannot_use_one_directory)
{
	struct store *second;
	struct reason why;
	ck_assert_int_eq(store_create(directory, io_sim_executor(recorder.sim), &second, &why),
			 STATUS_IN_USE);
	char pid[32];
	snprintf(pid, sizeof pid, "process %ld", (long)getpid());
	ck_assert_msg(strstr(why.text, pid) != NULL, "%s", why.text);
}
END_TEST

START_TEST(a_name_has_one_file_until_it_is_removed)
{
	struct reason why;
	struct journal *second;
	recorder_begin(&recorder, "w", "free", false, 1);
	ck_assert_int_eq(store_create_world(recorder.store, "w", NULL, &second, &why),
			 STATUS_EXISTS);
	ck_assert_int_eq(store_remove_world(recorder.store, "w", &why), STATUS_IN_USE);
	recorder_run(&recorder, 2);
	/* Closed, removed and created again with no simulated time between, twice. */
	for (uint64_t i = 0; i < 2; i++) {
		recorder_end(&recorder);
		ck_assert_int_eq(store_create_world(recorder.store, "w", NULL, &second, &why),
				 STATUS_EXISTS);
		ck_assert_int_eq(store_remove_world(recorder.store, "w", &why), STATUS_OK);
		recorder_begin(&recorder, "w", "free", false, 1);
		recorder_run(&recorder, 5);
	}
	recorder_settle(&recorder);
	ck_assert_uint_eq(read_number(directory, "w", "SELECT sum(count) FROM hashes"), 5);
	recorder_end(&recorder);
	recorder_settle(&recorder);
	ck_assert_int_eq(store_remove_world(recorder.store, "w", &why), STATUS_OK);
	ck_assert_int_eq(store_remove_world(recorder.store, "w", &why), STATUS_MISSING);
	char path[RECORDER_PATH];
	recorder_path(&recorder, "w", path);
	ck_assert_int_ne(access(path, F_OK), 0);
}
END_TEST

START_TEST(only_files_with_a_world_are_listed)
{
	static const char *const worlds[] = { "b", "B", "a.b", "a" };
	char path[RECORDER_PATH], names[8][WIRE_NAME_MAX + 1];
	struct journal *journal;
	struct reason why;
	for (size_t i = 0; i < COUNT_OF(worlds); i++) {
		recorder_begin(&recorder, worlds[i], "free", false, 1);
		recorder_end(&recorder);
	}
	/* A journal without any record, and files with other names. */
	ck_assert_int_eq(store_create_world(recorder.store, "never", NULL, &journal, &why),
			 STATUS_OK);
	recorder_close(&recorder);
	static const char *const others[] = { ".hidden.cairn", "notes.txt", "a b.cairn", ".cairn" };
	for (size_t i = 0; i < COUNT_OF(others); i++) {
		snprintf(path, sizeof path, "%.400s/%s", directory, others[i]);
		FILE *file = fopen(path, "wb");
		ck_assert_int_eq(fclose(file), 0);
	}
	recorder_open(&recorder, directory, 2);
	ck_assert_uint_eq(store_worlds(recorder.store, NULL, 0), 4);
	ck_assert_uint_eq(store_worlds(recorder.store, names, 8), 4);
	static const char *const expected[] = { "B", "a", "a.b", "b" };
	for (size_t i = 0; i < COUNT_OF(expected); i++)
		ck_assert_str_eq(names[i], expected[i]);
	/* The name of a journal without records is free again. */
	recorder_begin(&recorder, "never", "free", false, 1);
	recorder_run(&recorder, 1);
	recorder_settle(&recorder);
	ck_assert_uint_eq(recorder.durable_tick, 1);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("recover");
	TCase *tests = tcase_create("recover");
	tcase_set_timeout(tests, 30);
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_loop_test(tests, a_crash_at_any_tick_loses_nothing_durable, 0, 8);
	tcase_add_test(tests, a_killed_process_loses_no_durable_tick);
	tcase_add_loop_test(tests, from_a_torn_log_an_earlier_state_is_recovered, 0, 2);
	tcase_add_test(tests, a_recovered_world_continues_and_can_be_recovered_again);
	tcase_add_loop_test(tests, a_damaged_checkpoint_is_skipped, 0, COUNT_OF(harms));
	tcase_add_test(tests, without_a_valid_checkpoint_recovery_is_refused);
	tcase_add_loop_test(tests, a_damaged_file_is_refused_with_its_reason, 0,
			    COUNT_OF(refusals));
	tcase_add_test(tests, a_file_that_is_not_a_database_is_refused);
	tcase_add_test(tests, a_shape_is_unknown_before_the_tick_it_was_added);
	tcase_add_test(tests, the_latest_snapshot_of_each_name_is_recovered);
	tcase_add_test(tests, two_daemons_cannot_use_one_directory);
	tcase_add_test(tests, a_name_has_one_file_until_it_is_removed);
	tcase_add_test(tests, only_files_with_a_world_are_listed);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return check_main(make);
}
