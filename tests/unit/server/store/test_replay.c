/* Replay: a faithful recording verifies; in any other the first differing tick, table, body and
 * field are reported. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/command_wire.h"
#include "server/base/hash.h"
#include "server/io/log.h"
#include "server/store/image.h"
#include "server/store/replay.h"
#include "tests/lib/check_main.h"
#include "tests/lib/recorder.h"
#include "tests/lib/worlds.h"

static char directory[RECORDER_PATH], file[RECORDER_PATH], second[RECORDER_PATH];
static struct recorder recorder;
static struct replay_report report;

static void set_up(void)
{
	log_set_level(LOG_ERROR);
	recorder_directory(directory);
	recorder_open(&recorder, directory, check_seed());
	recorder_path(&recorder, "w", file);
	recorder_path(&recorder, "v", second);
}

static void tear_down(void)
{
	recorder_remove(directory);
}

static void replay(const char *against, uint64_t from)
{
	struct replay_options options = {
		.file = file, .against = against, .verify = true, .from = from
	};
	struct reason why;
	enum status status = replay_file(&options, &report, &why);
	ck_assert_msg(status == STATUS_OK, "%s: %s", status_name(status), why.text);
}

static void change_file(const char *text)
{
	struct reason why;
	sqlite3 *db;
	ck_assert_int_eq(sql_open(file, SQL_WRITE, &db, &why), STATUS_OK);
	enum status status = sql_exec(db, text, &why);
	ck_assert_msg(status == STATUS_OK, "%s: %s", text, why.text);
	sql_close(db);
}

/* ---- changing an image ------------------------------------------------------------------------ */

struct stored {
	struct recorded_checkpoint figures;
	struct bytes image;
};

static struct stored read_checkpoint(uint64_t tick)
{
	struct stored stored = { 0 };
	struct recording *recording;
	struct reason why;
	sqlite3 *db;
	uint64_t seq;
	ck_assert_int_eq(sql_open(file, SQL_READ, &db, &why), STATUS_OK);
	ck_assert_int_eq(recording_open(db, &recording, &why), STATUS_OK);
	ck_assert_int_eq(recording_at(recording, tick, &seq, &why), STATUS_OK);
	ck_assert_int_eq(recording_checkpoint(recording, seq, &stored.figures, &stored.image, &why),
			 STATUS_OK);
	ck_assert_uint_eq(stored.figures.tick, tick);
	recording_close(recording);
	sql_close(db);
	return stored;
}

/* Writes the image back with valid checksums; if world != NULL, also with its state and table
 * hashes. */
static void write_checkpoint(const struct stored *stored, const struct world *world)
{
	static const char text[] =
		"UPDATE checkpoints SET image = ?2, image_hash = ?3 WHERE seq = ?1";
	static const char hashes[] =
		"UPDATE checkpoints SET state_hash = ?2, table_hashes = ?3 WHERE seq = ?1";
	struct bytes packed = { 0 };
	struct reason why;
	sqlite3 *db;
	sqlite3_stmt *put;
	uint8_t hash[8], tables[WORLD_TABLES_MAX * 8];
	ck_assert_int_eq(image_pack(&stored->image, &packed), STATUS_OK);
	put_be64(hash, hash64(stored->image.data, stored->image.count, 0));
	ck_assert_int_eq(sql_open(file, SQL_WRITE, &db, &why), STATUS_OK);
	ck_assert_int_eq(sql_prepare(db, text, &put, &why), STATUS_OK);
	sql_bind(put, 1, stored->figures.seq);
	sql_bind_blob(put, 2, packed.data, packed.count);
	sql_bind_blob(put, 3, hash, sizeof hash);
	ck_assert_int_eq(sql_run(db, put, &why), STATUS_OK);
	sqlite3_finalize(put);
	if (world != NULL) {
		uint64_t values[WORLD_TABLES_MAX];
		uint32_t count;
		put_be64(hash, world_state_hash(world, values, &count));
		for (uint32_t i = 0; i < count; i++)
			put_be64(tables + (size_t)i * 8, values[i]);
		ck_assert_int_eq(sql_prepare(db, hashes, &put, &why), STATUS_OK);
		sql_bind(put, 1, stored->figures.seq);
		sql_bind_blob(put, 2, hash, sizeof hash);
		sql_bind_blob(put, 3, tables, (size_t)count * 8);
		ck_assert_int_eq(sql_run(db, put, &why), STATUS_OK);
		sqlite3_finalize(put);
	}
	sql_close(db);
	bytes_release(&packed);
}

/* Flips a bit of the x velocity of a moving body in the image of `tick`; `mend`: the hashes in the
 * file follow. Returns the id. */
static body_id flip_velocity(uint64_t tick, bool mend)
{
	struct stored stored = read_checkpoint(tick);
	struct world *world;
	struct reason why;
	body_id ids[256], moving = 0;
	uint8_t bits[8];
	struct bytes *image = &stored.image;
	ck_assert_int_eq(world_load(image->data, image->count, test_shape_source(), &world, &why),
			 STATUS_OK);
	uint32_t count = MIN_OF(world_bodies(world, ids, 256), 256u);
	for (uint32_t i = 0; i < count && moving == 0; i++) {
		struct body_view body = test_body(world, ids[i]);
		if (body.status != BODY_DYNAMIC || fabs(body.velocity.x) < 1e-3)
			continue;
		put_le64(bits, bits_of_f64(body.velocity.x));
		moving = ids[i];
	}
	ck_assert_uint_ne(moving, 0);
	world_destroy(world);
	uint8_t *at = memmem(image->data, image->count, bits, sizeof bits);
	ck_assert_ptr_nonnull(at);
	/* Bit 32, because the solver's velocities are floats and would round the last bit away. */
	at[4] ^= 1;
	/* The last 8 bytes of an image are its checksum. */
	put_le64(image->data + image->count - 8, hash64(image->data, image->count - 8, 0));
	world = NULL;
	if (mend)
		ck_assert_int_eq(
			world_load(image->data, image->count, test_shape_source(), &world, &why),
			STATUS_OK);
	write_checkpoint(&stored, world);
	if (world != NULL)
		world_destroy(world);
	bytes_release(image);
	return moving;
}

/* ---- a recording ------------------------------------------------------------------------------ */

static void record(const char *name, const char *method, bool planar, uint64_t seed)
{
	recorder_begin(&recorder, name, method, planar, seed);
	for (int i = 0; i < 3; i++) {
		recorder_run(&recorder, 20);
		recorder_checkpoint(&recorder, i == 1 ? "kept" : NULL);
	}
	recorder_run(&recorder, 10);
}

/* Applies and journals a batch of one command with its result. `older`: as a build that asks less. */
static enum status apply_and_record_as(struct command *command, uint64_t number, bool older)
{
	uint8_t packed[256];
	struct wire_packer packer = wire_packer_over(packed, sizeof packed);
	command_pack(&packer, command);
	struct wire_slice slice = wire_packer_slice(&packer);
	struct journal_batch record = {
		.session = 1,
		.batch = number,
		.commands = slice.at,
		.bytes = slice.bytes,
		.count = 1,
	};
	struct batch batch = {
		.session = 1, .number = number, .commands = command, .count = 1, .recorded = older
	};
	struct batch_result result;
	struct world_info info = world_info(recorder.world);
	ck_assert_int_eq(wire_packer_status(&packer), STATUS_OK);
	ck_assert_int_eq(world_apply(recorder.world, &batch, 1, &result), STATUS_OK);
	record.result = (uint8_t)result.status;
	ck_assert_int_eq(journal_apply(recorder.journal, info.epoch, info.tick,
				       world_info(recorder.world).edit, &record, 1),
			 STATUS_OK);
	return result.status;
}

static void apply_and_record(struct command *command, uint64_t number)
{
	ck_assert_int_eq(apply_and_record_as(command, number, false), STATUS_OK);
}

/* Four spheres in free flight, so that a changed bit of a velocity stays visible; at tick tag_at
 * one gets a tag. */
static void record_falling(const char *name, uint32_t ticks, uint32_t tag_at)
{
	recorder_make(&recorder, name, "soft-step", false, 1);
	for (int i = 0; i < 4; i++) {
		struct attachment item;
		struct command command = test_spawn_command(recorder.world, TEST_SPHERE,
							    vec3_make(3.0 * i, 50, 0), &item);
		/* No number of a parameter: flip_velocity looks for it in the image. */
		command.spawn.velocity = vec3_make(0.1234 + 0.01 * i, 0, 0);
		test_do(recorder.world, &command);
	}
	recorder_beginning(&recorder);
	for (uint32_t tick = 0; tick < ticks; tick++) {
		if (tick == tag_at) {
			body_id ids[8];
			ck_assert_uint_eq(world_bodies(recorder.world, ids, 8), 4);
			struct command tag = test_command(COMMAND_SET_TAG);
			tag.set_tag.body = ids[2];
			tag.set_tag.tag = 5;
			apply_and_record(&tag, 9);
		}
		recorder_step(&recorder);
		if (tick == 29)
			recorder_checkpoint(&recorder, NULL);
	}
}

START_TEST(a_replay_reproduces_every_bit)
{
	static const char *const methods[] = { "soft-step",  "free",	   "soft-step", "lcp",
					       "projection", "reflection", "impact",	"lcp" };
	record("w", methods[_i], _i >= 2 && _i < 5, check_seed() + (uint64_t)_i);
	recorder_restore(&recorder, "kept");
	recorder_run(&recorder, 12);
	recorder_checkpoint(&recorder, "kept");
	recorder_run(&recorder, 3);
	recorder_restore(&recorder, "kept");
	recorder_run(&recorder, 4);
	uint64_t hash = test_hash(recorder.world);
	recorder_close(&recorder);
	replay(NULL, 0);
	ck_assert_msg(report.verdict == REPLAY_SAME, "tick %d: %s", (int)report.first_tick,
		      report.detail);
	ck_assert_uint_eq(report.ticks, 70 + 12 + 3 + 4);
	ck_assert_uint_eq(report.checkpoints, 4);
	ck_assert_uint_eq(report.state_hash, hash);
	ck_assert_uint_eq(report.counts.ticks, report.ticks);
	ck_assert_uint_eq(report.counts.epochs, 3);
	ck_assert_uint_eq(report.tick, 40 + 12 + 4);
	/* Also from any checkpoint on, and after a restart. */
	replay(NULL, 45);
	ck_assert_int_eq(report.verdict, REPLAY_SAME);
	ck_assert_uint_eq(report.state_hash, hash);
	ck_assert_uint_lt(report.ticks, 70);
	recorder_open(&recorder, directory, 3);
	struct recovered recovered;
	recorder_recover(&recorder, "w", &recovered);
	recorder_run(&recorder, 9);
	recorder_close(&recorder);
	replay(NULL, 0);
	ck_assert_int_eq(report.verdict, REPLAY_SAME);
	ck_assert_uint_eq(report.ticks, 89 + 9);
	ck_assert_uint_eq(report.counts.epochs, 4);
}
END_TEST

START_TEST(a_changed_hash_is_reported_as_a_fault_of_the_record_only)
{
	record("w", "soft-step", false, check_seed());
	recorder_close(&recorder);
	change_file("UPDATE hashes SET hashes = substr(hashes, 1, 8 * 26) || x'0000000000000001' ||"
		    " substr(hashes, 8 * 27 + 1)");
	replay(NULL, 0);
	ck_assert_int_eq(report.verdict, REPLAY_DIFFERS);
	ck_assert_int_eq(report.seen, REPLAY_TICK_HASH);
	ck_assert_uint_eq(report.first_tick, 27);
	ck_assert_uint_eq(report.recorded, 1);
	ck_assert(report.located);
	ck_assert_uint_eq(report.located_tick, 40);
	ck_assert_str_eq(report.table, "");
	ck_assert_msg(strstr(report.detail, "only the record") != NULL, "%s", report.detail);
}
END_TEST

START_TEST(a_changed_image_is_reported_with_its_body_and_field)
{
	record_falling("w", 60, 1000);
	recorder_close(&recorder);
	body_id body = flip_velocity(30, false);
	replay(NULL, 0);
	ck_assert_int_eq(report.verdict, REPLAY_DIFFERS);
	ck_assert_int_eq(report.seen, REPLAY_IMAGE);
	ck_assert_uint_eq(report.first_tick, 30);
	ck_assert_str_eq(report.table, "body");
	ck_assert_str_eq(report.column, "velocity");
	ck_assert_uint_eq(report.body, body);
}
END_TEST

/* As if another build had recorded the ticks: the initial state differs by one bit, and its hashes
 * agree with it. */
START_TEST(a_changed_initial_state_is_reported_at_its_first_tick_and_located_at_a_checkpoint)
{
	record_falling("w", 60, 1000);
	recorder_close(&recorder);
	body_id body = flip_velocity(0, true);
	replay(NULL, 0);
	ck_assert_int_eq(report.verdict, REPLAY_DIFFERS);
	ck_assert_int_eq(report.seen, REPLAY_TICK_HASH);
	ck_assert_uint_eq(report.first_tick, 1);
	ck_assert_uint_ne(report.recorded, report.replayed);
	ck_assert(report.located);
	ck_assert_uint_eq(report.located_tick, 30);
	ck_assert_str_eq(report.table, "body");
	ck_assert_uint_eq(report.body, body);
	ck_assert_msg(report.column[0] != '\0', "%s", report.detail);
}
END_TEST

/* A step exceeds the limit of contacts and the world stops. Two batches remove bodies, then the
 * step succeeds. */
/* impact refuses rolling friction, which earlier builds took and ignored. */
START_TEST(a_batch_that_an_older_build_took_is_replayed_and_recovered)
{
	recorder_make(&recorder, "w", "impact", false, 1);
	body_id ball = test_spawn(recorder.world, TEST_SPHERE, vec3_make(0, 5, 0));
	recorder_beginning(&recorder);
	struct command rough = test_command(COMMAND_SET_MATERIAL);
	rough.set_material.body = ball;
	rough.set_material.restitution = 0.5;
	rough.set_material.rolling_friction = 0.01;
	recorder_step(&recorder);
	ck_assert_int_eq(apply_and_record_as(&rough, 1, false), STATUS_METHOD_REFUSES);
	recorder_step(&recorder);
	ck_assert_int_eq(apply_and_record_as(&rough, 2, true), STATUS_OK);
	recorder_step(&recorder);
	recorder_checkpoint(&recorder, NULL);
	recorder_step(&recorder);
	uint64_t last = test_hash(recorder.world);
	recorder_settle(&recorder);
	recorder_end(&recorder);
	replay(NULL, 0);
	ck_assert_msg(report.verdict == REPLAY_SAME, "%s", report.detail);
	ck_assert_uint_eq(report.ticks, 4);
	struct recovered recovered;
	recorder_recover(&recorder, "w", &recovered);
	ck_assert_uint_eq(test_hash(recorder.world), last);
	/* Its owner may go on, and is refused only what is new. */
	ck_assert_int_eq(test_try(recorder.world, &rough), STATUS_METHOD_REFUSES);
	recorder_step(&recorder);
	recorder_close(&recorder);
}
END_TEST

START_TEST(a_refused_step_is_part_of_the_recording)
{
	struct world_options options = test_options(false, "soft-step");
	options.limits.contacts = 1;
	struct reason why;
	recorder_make(&recorder, "w", "soft-step", false, 1);
	world_destroy(recorder.world);
	recorder.world = test_world_of(&options);
	body_id ids[3];
	for (int i = 0; i < 3; i++)
		ids[i] = test_spawn(recorder.world, TEST_BOX, vec3_make(0.1 * i, 0, 0));
	recorder_beginning(&recorder);
	ck_assert_int_eq(world_step(recorder.world, &parallel_serial, &why), STATUS_LIMIT);
	ck_assert_int_eq(journal_stopped(recorder.journal, recorder.epoch, 0, STATUS_LIMIT),
			 STATUS_OK);
	ck_assert(world_stopped(recorder.world));
	recorder_checkpoint(&recorder, NULL);
	struct command removal = test_command(COMMAND_REMOVE);
	for (int i = 1; i < 3; i++) {
		removal.remove.body = ids[i];
		apply_and_record(&removal, (uint64_t)i);
	}
	recorder_step(&recorder);
	recorder_checkpoint(&recorder, NULL);
	recorder_close(&recorder);
	replay(NULL, 0);
	ck_assert_msg(report.verdict == REPLAY_SAME, "%s", report.detail);
	ck_assert_uint_eq(report.checkpoints, 2);
	/* Without the record of the stop the states differ from the next checkpoint on. */
	change_file("DELETE FROM stops");
	replay(NULL, 0);
	ck_assert_int_eq(report.verdict, REPLAY_DIFFERS);
	ck_assert_int_eq(report.seen, REPLAY_STATE_HASH);
	ck_assert_uint_eq(report.first_tick, 0);
}
END_TEST

START_TEST(an_unreadable_image_is_a_difference)
{
	record("w", "free", false, 1);
	recorder_close(&recorder);
	change_file("UPDATE checkpoints SET image = zeroblob(99) WHERE tick = 40");
	replay(NULL, 0);
	ck_assert_int_eq(report.verdict, REPLAY_DIFFERS);
	ck_assert_int_eq(report.seen, REPLAY_IMAGE);
	ck_assert_uint_eq(report.first_tick, 40);
}
END_TEST

START_TEST(two_recordings_are_compared_to_the_tick_and_field)
{
	record_falling("w", 60, 1000);
	recorder_end(&recorder);
	record_falling("v", 60, 42);
	recorder_close(&recorder);
	replay(second, 0);
	ck_assert_int_eq(report.verdict, REPLAY_DIFFERS);
	/* The tick hash does not cover tags; the checkpoint shows the difference. */
	ck_assert_int_eq(report.seen, REPLAY_STATE_HASH);
	ck_assert_uint_eq(report.first_tick, 43);
	ck_assert_uint_eq(report.located_tick, 43);
	ck_assert_str_eq(report.table, "body");
	ck_assert_str_eq(report.column, "tag");
	ck_assert_uint_ne(report.body, 0);
	ck_assert_msg(strstr(report.detail, "first image 0, second 5") != NULL, "%s",
		      report.detail);
}
END_TEST

START_TEST(equal_recordings_agree_and_the_longer_one_is_named)
{
	record_falling("w", 60, 1000);
	recorder_end(&recorder);
	record_falling("v", 45, 1000);
	recorder_close(&recorder);
	replay(second, 0);
	ck_assert_int_eq(report.verdict, REPLAY_SAME);
	ck_assert_int_eq(report.longer, REPLAY_FILE);
	replay(file, 0);
	ck_assert_int_eq(report.verdict, REPLAY_SAME);
	ck_assert_int_eq(report.longer, REPLAY_NEITHER);
	ck_assert_uint_eq(report.tick, 60);
}
END_TEST

START_TEST(a_recording_can_be_verified_while_it_is_written)
{
	record("w", "soft-step", false, check_seed());
	journal_flush(recorder.journal);
	recorder_settle(&recorder);
	replay(NULL, 0);
	ck_assert_int_eq(report.verdict, REPLAY_SAME);
	ck_assert_uint_eq(report.ticks, 70);
	recorder_run(&recorder, 5);
	recorder_settle(&recorder);
	replay(NULL, 0);
	ck_assert_uint_eq(report.ticks, 75);
	recorder_close(&recorder);
}
END_TEST

START_TEST(without_verify_only_the_contents_are_counted)
{
	struct replay_options options = { .file = file };
	struct reason why;
	record("w", "free", false, 1);
	recorder_close(&recorder);
	ck_assert_int_eq(replay_file(&options, &report, &why), STATUS_OK);
	ck_assert_int_eq(report.verdict, REPLAY_UNCHECKED);
	ck_assert_uint_eq(report.counts.ticks, 70);
	ck_assert_uint_eq(report.counts.checkpoints, 4);
	options.file = "/nonexistent/w.cairn";
	ck_assert_int_eq(replay_file(&options, &report, &why), STATUS_IO);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("replay");
	TCase *tests = tcase_create("replay");
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_loop_test(tests, a_replay_reproduces_every_bit, 0, 8);
	tcase_add_test(tests, a_changed_hash_is_reported_as_a_fault_of_the_record_only);
	tcase_add_test(tests, a_changed_image_is_reported_with_its_body_and_field);
	tcase_add_test(
		tests,
		a_changed_initial_state_is_reported_at_its_first_tick_and_located_at_a_checkpoint);
	tcase_add_test(tests, a_batch_that_an_older_build_took_is_replayed_and_recovered);
	tcase_add_test(tests, a_refused_step_is_part_of_the_recording);
	tcase_add_test(tests, an_unreadable_image_is_a_difference);
	tcase_add_test(tests, two_recordings_are_compared_to_the_tick_and_field);
	tcase_add_test(tests, equal_recordings_agree_and_the_longer_one_is_named);
	tcase_add_test(tests, a_recording_can_be_verified_while_it_is_written);
	tcase_add_test(tests, without_verify_only_the_contents_are_counted);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return check_main(make);
}
