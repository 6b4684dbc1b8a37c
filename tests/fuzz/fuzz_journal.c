/* fuzz_journal.c: arbitrary bytes where the store expects its own. The first byte chooses:
 *
 *	0  the records of a buffer, as they pass between two threads
 *	1  an image: loaded, compared with a valid one, and stepped if it is accepted
 *	2  a valid recording in memory whose blobs and numbers the input changes, and which is then replayed
 *
 * The bytes are accepted or refused, and an accepted world keeps every invariant. */
#include <stdlib.h>
#include <string.h>

#include "protocol/command_wire.h"
#include "server/base/hash.h"
#include "server/store/image.h"
#include "server/store/player.h"
#include "server/store/world_file.h"
#include "tests/lib/worlds.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* Bounds on the work of one input. */
enum { TICKS_MAX = 32, IMAGE_MAX = 1 << 20, CHANGES_MAX = 16 };

/* ---- records ------------------------------------------------------------------------------------ */

static void read_records(const uint8_t *data, size_t bytes)
{
	uint8_t byte[1] = { 0 };
	struct bytes images[3] = { { byte, 1, 1 }, { byte, 1, 1 }, { byte, 1, 1 } };
	struct shape *shapes[2] = { (struct shape *)test_shape(TEST_BOX),
				    (struct shape *)test_shape(TEST_SPHERE) };
	struct record_buffer records = { .records = { (uint8_t *)data, bytes, bytes } };
	records.images.items = images;
	records.images.count = COUNT_OF(images);
	records.shapes.items = shapes;
	records.shapes.count = COUNT_OF(shapes);
	struct record_reader reader = record_buffer_read(&records);
	struct record record;
	while (record_buffer_next(&reader, &record) == STATUS_OK) {
		struct journal_batch batch;
		uint32_t count = record.kind == RECORD_APPLY ? record.apply.count : 0;
		for (uint32_t i = 0; i < count; i++)
			ASSERT(record_next_batch(&record, &batch) == STATUS_OK);
		if (record.kind == RECORD_CHECKPOINT)
			ASSERT(record.checkpoint.image != NULL);
		if (record.kind == RECORD_SHAPE)
			ASSERT(record.shape != NULL);
	}
}

/* ---- a valid recording --------------------------------------------------------------------------- */

static struct bytes valid_image; /* of its first state */
static unsigned char *good_file;
static sqlite3_int64 good_file_bytes;

static void put_spawn(struct record_buffer *records, struct world *world, uint64_t number)
{
	uint8_t packed[256];
	struct attachment item;
	struct world_info info = world_info(world);
	struct command command = test_spawn_command(world, TEST_SPHERE,
						    vec3_make(2.0 * (double)number, 5, 0), &item);
	struct wire_packer packer = wire_packer_over(packed, sizeof packed);
	command_pack(&packer, &command);
	struct wire_slice slice = wire_packer_slice(&packer);
	struct journal_batch record = { 1, number, 0, 0, false, slice.at, slice.bytes, 1, 0 };
	struct batch batch = { .session = 1, .number = number, .commands = &command, .count = 1 };
	struct batch_result result;
	ASSERT(world_apply(world, &batch, 1, &result) == STATUS_OK);
	ASSERT(record_buffer_put_apply(records, info.epoch, info.tick, info.edit + 1, &record, 1) ==
	       STATUS_OK);
}

static void put_checkpoint(struct record_buffer *records, struct world *world, const char *name)
{
	uint64_t tables[WORLD_TABLES_MAX];
	uint32_t count;
	struct bytes image = test_save(world);
	struct world_info info = world_info(world);
	uint64_t hash = world_state_hash(world, tables, &count);
	ASSERT(record_buffer_put_checkpoint(records, info.epoch, info.tick, info.edit, name, &image,
					    hash, tables, count) == STATUS_OK);
	if (valid_image.count == 0)
		valid_image = image;
	else
		bytes_release(&image);
}

static void make_valid(void)
{
	struct record_buffer records = { 0 };
	struct world_file file;
	struct world_file_progress progress;
	struct reason why;
	struct world *world = test_world(false, "soft-step");
	test_use(world, TEST_BOX);
	test_use(world, TEST_SPHERE);
	test_spawn(world, TEST_BOX, vec3_make(0, 3, 0));
	uint32_t epoch = world_info(world).epoch;
	for (int i = 0; i < TEST_SHAPES; i++)
		if (i != TEST_MESH)
			ASSERT(record_buffer_put_shape(&records, epoch, 0,
						       test_shape((enum test_shape)i)) ==
			       STATUS_OK);
	put_checkpoint(&records, world, "s");
	for (uint64_t tick = 1; tick <= 8; tick++) {
		if (tick % 3 == 0)
			put_spawn(&records, world, tick);
		test_step(world, 1);
		ASSERT(record_buffer_put_tick(&records, epoch, tick, world_tick_hash(world)) ==
		       STATUS_OK);
	}
	put_checkpoint(&records, world, NULL);
	ASSERT(world_restore(world, valid_image.data, valid_image.count, &why) == STATUS_OK);
	ASSERT(record_buffer_put_restore(&records, epoch + 1, 0, 0, "s") == STATUS_OK);
	test_step(world, 1);
	ASSERT(record_buffer_put_tick(&records, epoch + 1, 1, world_tick_hash(world)) == STATUS_OK);
	ASSERT(world_file_create(&file, ":memory:", "w", NULL, &why) == STATUS_OK);
	ASSERT(world_file_write(&file, &records, &progress, &why) == STATUS_OK);
	good_file = sqlite3_serialize(file.db, "main", &good_file_bytes, 0);
	ASSERT(good_file != NULL);
	world_file_close(&file);
	record_buffer_release(&records);
	world_destroy(world);
}

/* ---- images -------------------------------------------------------------------------------------- */

/* The loaded world saves to an image of the same world. */
static void try_copy(const struct world *world)
{
	struct world *copy;
	struct reason why;
	struct bytes image = test_save(world);
	ASSERT(world_load(image.data, image.count, test_shape_source(), &copy, &why) == STATUS_OK);
	ASSERT(test_hash(copy) == test_hash(world));
	world_destroy(copy);
	bytes_release(&image);
}

static void try_world(struct world *world)
{
	struct reason why;
	ASSERT(world_check(world, &why) == STATUS_OK);
	try_copy(world);
	for (int tick = 0; tick < 3 && world_step(world, &parallel_serial, &why) == STATUS_OK;
	     tick++)
		ASSERT(world_check(world, &why) == STATUS_OK);
}

/* The checksum is set to the right value, because a fuzzer cannot guess it. */
static void read_image(const uint8_t *data, size_t bytes)
{
	struct world *world;
	struct reason why;
	if (bytes < 8)
		return;
	uint8_t *image = malloc(bytes);
	if (image == NULL)
		return;
	memcpy(image, data, bytes);
	put_le64(image + bytes - 8, hash64(image, bytes - 8, 0));
	enum status status =
		world_image_difference(image, bytes, valid_image.data, valid_image.count, &why);
	UNUSED(status);
	struct image_about about;
	status = world_image_about(image, bytes, &about, &why);
	if (world_load(image, bytes, test_shape_source(), &world, &why) == STATUS_OK) {
		try_world(world);
		world_destroy(world);
	}
	free(image);
}

/* ---- recordings ---------------------------------------------------------------------------------- */

/* ?1 is a number, ?2 bytes, ?3 the row. */
static const char *const changes[] = {
	"UPDATE hashes SET hashes = ?2 WHERE tick = ?3",
	"UPDATE hashes SET count = ?1, tick = tick + ?3",
	"UPDATE batches SET commands = ?2 WHERE seq = ?3",
	"UPDATE batches SET count = ?1 WHERE seq = ?3",
	"UPDATE batches SET session = ?1, at = ?1, late = ?3",
	"UPDATE applies SET batches = ?1 WHERE seq = ?3",
	"UPDATE applies SET tick = ?1 WHERE seq = ?3",
	"UPDATE checkpoints SET image = ?2 WHERE seq = ?3",
	"UPDATE checkpoints SET image_bytes = min(?1, 1048576) WHERE seq = ?3",
	"UPDATE checkpoints SET state_hash = ?2 WHERE seq = ?3",
	"UPDATE checkpoints SET table_hashes = ?2, tick = ?1 WHERE seq = ?3",
	"UPDATE checkpoints SET name = CAST(?2 AS TEXT) WHERE seq = ?3",
	"UPDATE epochs SET cause = CAST(?2 AS TEXT), checkpoint = ?1 WHERE epoch = ?3",
	"UPDATE epochs SET tick = ?1, checkpoint = ?3, cause = 'restored'",
	"UPDATE shapes SET canonical = ?2 WHERE seq = ?3",
	"UPDATE OR IGNORE shapes SET seq = ?1 WHERE seq = ?3",
	"INSERT OR IGNORE INTO stops VALUES (?1, ?3, ?3, 49)",
	"INSERT OR IGNORE INTO epochs VALUES (?3, ?1, ?3, 'recovered', NULL, NULL, '', '', NULL, NULL)",
	"DELETE FROM batches WHERE seq = ?3",
	"UPDATE batches SET commands = ?1, apply = ?3",
	"UPDATE batches SET result = ?1",
	"UPDATE epochs SET motion = CAST(?2 AS TEXT) WHERE ?1 = ?1 AND epoch = ?3",
	"UPDATE epochs SET cause = 'upgraded', checkpoint = ?1, redone = ?1 WHERE ?2 = ?2 AND epoch = ?3",
	"UPDATE epochs SET motion = 'core 2, free 1, soft-step 1, lcp 0'",
	"PRAGMA user_version = 1",
};

/* A statement that SQLite refuses (a number used twice) changes nothing, which is allowed. */
static void run_change(sqlite3 *db, const char *text, uint64_t number, const uint8_t *data,
		       size_t bytes, uint64_t row)
{
	sqlite3_stmt *statement;
	struct reason why;
	ASSERT(sql_prepare(db, text, &statement, &why) == STATUS_OK);
	int count = sqlite3_bind_parameter_count(statement);
	if (count >= 1)
		sql_bind(statement, 1, number);
	if (count >= 2)
		sql_bind_blob(statement, 2, data, bytes);
	if (count >= 3)
		sql_bind(statement, 3, row);
	sqlite3_step(statement);
	sqlite3_finalize(statement);
}

/* A changed image gets the right checksum and a changed shape its right name, so that both are read
 * further. */
static void correct_image_hash(sqlite3 *db, const uint8_t *data, size_t bytes, uint64_t row)
{
	struct bytes image = { (uint8_t *)data, bytes, bytes }, packed = { 0 };
	uint8_t hash[8];
	put_be64(hash, hash64(data, bytes, 0));
	ASSERT(image_pack(&image, &packed) == STATUS_OK);
	run_change(db, changes[7], 0, packed.data, packed.count, row);
	run_change(db, changes[8], bytes, NULL, 0, row);
	run_change(db, "UPDATE checkpoints SET image_hash = ?2 WHERE ?1 = ?1 AND seq = ?3", 0, hash,
		   8, row);
	bytes_release(&packed);
}

static void correct_shape_name(sqlite3 *db, const uint8_t *data, size_t bytes, uint64_t row)
{
	uint8_t name[SHA256_BYTES];
	hash_sha256(data, bytes, name);
	run_change(db, "UPDATE OR IGNORE shapes SET name = ?2 WHERE ?1 = ?1 AND seq = ?3", 0, name,
		   sizeof name, row);
}

static void change(sqlite3 *db, struct reader *input)
{
	uint8_t which = read_u8(input), row = read_u8(input), form = read_u8(input);
	uint64_t number = form < 128 ? form : read_u64(input);
	size_t bytes = MIN_OF((size_t)read_u16(input), reader_left(input));
	bytes = MIN_OF(bytes, (size_t)IMAGE_MAX);
	const uint8_t *data = reader_take(input, bytes);
	if (input->failed)
		return;
	which %= COUNT_OF(changes) + 1;
	if (which == COUNT_OF(changes)) {
		correct_image_hash(db, data, bytes, row);
		return;
	}
	run_change(db, changes[which], number, data, bytes, row);
	if (strncmp(changes[which], "UPDATE shapes SET canonical", 27) == 0)
		correct_shape_name(db, data, bytes, row);
}

static void play(sqlite3 *db, uint64_t from, enum player_policy policy)
{
	struct recording *recording;
	struct recording_counts counts;
	struct record_player player;
	struct player_event event;
	struct reason why;
	uint64_t seq;
	if (recording_open(db, &recording, &why) != STATUS_OK)
		return;
	enum status status = recording_count(recording, &counts, &why);
	if (status == STATUS_OK)
		status = recording_last(recording, from, &seq, &why);
	if (status == STATUS_OK && seq != 0 &&
	    player_start(&player, recording, seq, policy, &why) == STATUS_OK) {
		for (int ticks = 0; ticks < TICKS_MAX; ticks += event.kind == PLAYER_TICK)
			if (player_next(&player, &event, &why) != STATUS_OK ||
			    event.kind == PLAYER_END)
				break;
		ASSERT(world_check(player.world, &why) == STATUS_OK);
		player_release(&player);
	}
	recording_close(recording);
}

static void read_recording(const uint8_t *data, size_t bytes)
{
	sqlite3 *db;
	ASSERT(sqlite3_open(":memory:", &db) == SQLITE_OK);
	unsigned char *copy = sqlite3_malloc64((sqlite3_uint64)good_file_bytes);
	ASSERT(copy != NULL);
	memcpy(copy, good_file, (size_t)good_file_bytes);
	ASSERT(sqlite3_deserialize(db, "main", copy, good_file_bytes, good_file_bytes,
				   SQLITE_DESERIALIZE_FREEONCLOSE |
					   SQLITE_DESERIALIZE_RESIZEABLE) == SQLITE_OK);
	struct reader input = reader_over(data, bytes);
	for (int i = 0; i < CHANGES_MAX && reader_left(&input) > 0; i++)
		change(db, &input);
	play(db, UINT64_MAX, PLAYER_REDO);
	play(db, bytes > 0 ? data[bytes - 1] : 9, PLAYER_SKIP);
	sqlite3_close(db);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	if (valid_image.count == 0)
		make_valid();
	if (bytes == 0)
		return 0;
	switch (data[0] % 3) {
	case 0:
		read_records(data + 1, bytes - 1);
		break;
	case 1:
		read_image(data + 1, bytes - 1);
		break;
	default:
		read_recording(data + 1, bytes - 1);
	}
	return 0;
}
