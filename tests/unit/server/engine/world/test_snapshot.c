/* Images: a loaded world has the same future from any tick, and a damaged image is refused or harmless. */
#include "server/engine/engine.h"

#include "tests/lib/check_main.h"
#include "tests/lib/method_probe.h"
#include "tests/lib/gen_commands.h"
#include "tests/lib/worlds.h"

#include "server/base/hash.h"
#include "server/base/heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const methods[] = { "free",	     "soft-step", "lcp",    "projection",
				       "reflection", "impact",	  "penalty" };

static struct world *load(const struct bytes *image)
{
	struct world *world;
	struct reason why;
	enum status status =
		world_load(image->data, image->count, test_shape_source(), &world, &why);
	ck_assert_msg(status == STATUS_OK, "%s: %s", status_name(status), why.text);
	return world;
}

static enum status try_load(const struct bytes *image, struct world **out, struct reason *why)
{
	return world_load(image->data, image->count, test_shape_source(), out, why);
}

/* Applies a batch of random commands, now or dated for one of the next ticks. */
static void apply_random_batch(struct world *world, struct gen_commands *gen)
{
	struct command commands[4];
	struct attachment items[COUNT_OF(commands)][COUNT_OF(gen->items)];
	uint32_t count = 1 + rng_below(&gen->rng, COUNT_OF(commands));
	gen->world = world;
	for (uint32_t i = 0; i < count; i++) {
		gen_any_command(gen, &commands[i]);
		if (commands[i].op != COMMAND_SPAWN)
			continue;
		memcpy(items[i], gen->items, sizeof items[i]);
		commands[i].spawn.shapes.items = items[i];
	}
	uint64_t tick = world_info(world).tick;
	struct batch batch = { .number = tick + 1, .commands = commands, .count = count };
	batch.session = 1 + rng_below(&gen->rng, 3);
	if (rng_below(&gen->rng, 3) == 0)
		batch.at = tick + rng_below(&gen->rng, 9);
	struct batch_result result;
	ck_assert_int_eq(world_apply(world, &batch, 1, &result), STATUS_OK);
}

static struct world *populated_by(const char *method, bool planar, uint64_t seed,
				  struct gen_commands *gen)
{
	struct world *world = test_world(planar, method);
	gen_commands_init(gen, world, seed);
	for (int shape = 0; shape < (planar ? 2 : 4); shape++)
		test_use(world, (enum test_shape)(shape + (planar ? TEST_POLYGON : 0)));
	for (uint32_t i = 0; i < 30; i++) {
		apply_random_batch(world, gen);
		test_step(world, 1);
	}
	return world;
}

static struct world *populated(bool planar, uint64_t seed, struct gen_commands *gen)
{
	return populated_by("free", planar, seed, gen);
}

START_TEST(a_loaded_world_has_the_same_state_and_the_same_future)
{
	uint32_t left = 0;
	for (uint32_t run = 0; run < 6; run++) {
		struct gen_commands gen;
		struct world *world =
			populated_by(methods[_i], run % 3 == 2, check_seed() + run, &gen);
		for (uint32_t round = 0; round < 4; round++) {
			struct bytes image = test_save(world);
			struct world *copy = load(&image);
			ck_assert_uint_eq(test_hash(copy), test_hash(world));
			ck_assert_uint_eq(world_tick_hash(copy), world_tick_hash(world));
			struct bytes again = test_save(copy);
			ck_assert_uint_eq(again.count, image.count);
			ck_assert_int_eq(memcmp(again.data, image.data, image.count), 0);
			struct gen_commands other = gen;
			for (uint32_t tick = 0; tick < 10; tick++) {
				apply_random_batch(world, &gen);
				apply_random_batch(copy, &other);
				test_step(world, 1);
				test_step(copy, 1);
				ck_assert_uint_eq(test_hash(copy), test_hash(world));
				ck_assert_uint_eq(world_tick_hash(copy), world_tick_hash(world));
			}
			test_check(copy);
			test_check(world);
			bytes_release(&image);
			bytes_release(&again);
			world_destroy(copy);
		}
		left += world_bodies(world, NULL, 0);
		world_destroy(world);
	}
	ck_assert_uint_gt(left, 6 * 3);
}
END_TEST

START_TEST(rebuilt_caches_change_nothing_now_or_later)
{
	for (uint32_t run = 0; run < 4; run++) {
		struct gen_commands gen, other;
		struct world *world = populated_by(methods[_i], run == 3, check_seed() + run, &gen);
		struct bytes image = test_save(world);
		struct world *twin = load(&image);
		other = gen;
		for (uint32_t tick = 0; tick < 60; tick++) {
			apply_random_batch(world, &gen);
			apply_random_batch(twin, &other);
			if (rng_below(&gen.rng, 3) == 0)
				ck_assert_int_eq(world_rebuild_caches(world), STATUS_OK);
			(void)rng_below(&other.rng, 3);
			test_step(world, 1);
			test_step(twin, 1);
			ck_assert_uint_eq(test_hash(world), test_hash(twin));
			ck_assert_uint_eq(world_tick_hash(world), world_tick_hash(twin));
		}
		bytes_release(&image);
		world_destroy(twin);
		world_destroy(world);
	}
}
END_TEST

/* Runs a world with the given broad phase and stores its hash at each tick. On the way the world is
 * loaded from an image, restored and rebuilt. */
static void run_world(const char *broad_phase, uint64_t hashes[], uint32_t ticks)
{
	struct world_options options = test_options(false, "soft-step");
	struct gen_commands gen;
	snprintf(options.broad_phase, sizeof options.broad_phase, "%s", broad_phase);
	struct world *world = test_world_of(&options);
	gen_commands_init(&gen, world, check_seed() + 77);
	for (int shape = 0; shape < 4; shape++)
		test_use(world, (enum test_shape)shape);
	for (uint32_t tick = 0; tick < ticks; tick++) {
		struct reason why;
		apply_random_batch(world, &gen);
		test_step(world, 1);
		hashes[tick] = world_tick_hash(world) ^ test_hash(world);
		struct bytes image = test_save(world);
		if (tick % 10 == 3) {
			world_destroy(world);
			world = load(&image);
		} else if (tick % 10 == 6) {
			ck_assert_int_eq(world_restore(world, image.data, image.count, &why),
					 STATUS_OK);
		} else if (tick % 10 == 9) {
			ck_assert_int_eq(world_rebuild_caches(world), STATUS_OK);
		}
		bytes_release(&image);
	}
	world_destroy(world);
}

START_TEST(every_kind_of_broad_phase_has_the_same_history)
{
	enum { TICKS = 60 };
	static const char *const KINDS[] = { "", "grid", "levels", "sweep" };
	uint64_t first[TICKS], other[TICKS];
	run_world("tree", first, TICKS);
	for (uint32_t k = 0; k < COUNT_OF(KINDS); k++) {
		run_world(KINDS[k], other, TICKS);
		for (uint32_t tick = 0; tick < TICKS; tick++)
			ck_assert_msg(first[tick] == other[tick], "%s at tick %u", KINDS[k], tick);
	}
}
END_TEST

START_TEST(restore_returns_to_the_image_and_keeps_the_epoch)
{
	struct gen_commands gen;
	struct world *world = populated(false, check_seed(), &gen);
	struct bytes image = test_save(world);
	uint64_t then = test_hash(world), tick = world_info(world).tick;
	world_new_epoch(world, 7);
	ck_assert_uint_eq(test_hash(world), then);
	for (uint32_t i = 0; i < 20; i++) {
		apply_random_batch(world, &gen);
		test_step(world, 1);
	}
	ck_assert_uint_ne(test_hash(world), then);
	ck_assert_int_eq(world_restore(world, image.data, image.count, NULL), STATUS_OK);
	ck_assert_uint_eq(test_hash(world), then);
	ck_assert_uint_eq(world_info(world).tick, tick);
	ck_assert_uint_eq(world_info(world).epoch, 7);
	ck_assert_uint_eq(world_changes(world).created_count, 0);
	test_check(world);
	apply_random_batch(world, &gen);
	test_step(world, 5);
	test_check(world);
	bytes_release(&image);
	world_destroy(world);
}
END_TEST

START_TEST(a_planar_image_is_not_restored_into_a_spatial_world)
{
	struct world *flat = test_world(true, "free"), *world = test_world(false, "free");
	struct bytes image = test_save(flat);
	uint64_t before = test_hash(world);
	ck_assert_int_eq(world_restore(world, image.data, image.count, NULL), STATUS_RANGE);
	ck_assert_uint_eq(test_hash(world), before);
	bytes_release(&image);
	world_destroy(flat);
	world_destroy(world);
}
END_TEST

START_TEST(an_image_cut_at_any_byte_is_refused)
{
	struct gen_commands gen;
	struct world *world = populated(false, check_seed(), &gen);
	struct bytes image = test_save(world);
	uint64_t before = test_hash(world);
	for (size_t count = 0; count < image.count; count += 1 + count / 50) {
		/* A buffer of almost the exact size, so that the sanitizer sees reads past its end. */
		uint8_t *cut = malloc(count + 1);
		memcpy(cut, image.data, count);
		struct reason why;
		ck_assert_int_eq(world_restore(world, cut, count, &why), STATUS_CORRUPT);
		free(cut);
	}
	ck_assert_uint_eq(test_hash(world), before);
	test_check(world);
	bytes_release(&image);
	world_destroy(world);
}
END_TEST

/* Corrects the checksum of damaged bytes, so that the loader reads them. */
static void correct_checksum(struct bytes *image)
{
	put_le64(image->data + image->count - 8, hash64(image->data, image->count - 8, 0));
}

START_TEST(a_flipped_bit_is_refused_or_harmless_behind_a_right_checksum)
{
	struct gen_commands gen;
	struct world *world = populated(false, check_seed(), &gen);
	struct bytes image = test_save(world);
	uint64_t before = test_hash(world);
	uint32_t refused = 0, accepted = 0;
	for (uint32_t i = 0; i < 1500; i++) {
		size_t byte = rng_below(&gen.rng, (uint32_t)image.count);
		/* Half of the bits are near the front, where sections begin. */
		if (i % 2 == 0)
			byte = rng_below(&gen.rng, 400);
		uint8_t bit = (uint8_t)(1u << rng_below(&gen.rng, 8));
		struct bytes spoiled = { 0 };
		ck_assert_int_eq(bytes_append(&spoiled, image.data, image.count), STATUS_OK);
		spoiled.data[byte] ^= bit;
		struct world *made = NULL;
		struct reason why;
		if (i % 8 == 0) {
			enum status status =
				world_restore(world, spoiled.data, spoiled.count, &why);
			ck_assert(status == STATUS_CORRUPT || status == STATUS_VERSION);
		}
		correct_checksum(&spoiled);
		enum status status =
			world_load(spoiled.data, spoiled.count, test_shape_source(), &made, &why);
		if (status == STATUS_OK) {
			/* The changed number is valid too. */
			test_check(made);
			enum status stepped = world_step(made, &parallel_serial, &why);
			ck_assert(stepped == STATUS_OK || stepped == STATUS_LIMIT);
			world_destroy(made);
			accepted++;
		} else {
			ck_assert_ptr_null(made);
			refused++;
		}
		bytes_release(&spoiled);
	}
	ck_assert_uint_gt(refused, 200);
	ck_assert_uint_gt(accepted, 100);
	ck_assert_uint_eq(test_hash(world), before);
	bytes_release(&image);
	world_destroy(world);
}
END_TEST

START_TEST(a_missing_shape_is_named)
{
	struct world *world = test_world(false, "free");
	test_spawn(world, TEST_BOX, vec3_zero());
	struct bytes image = test_save(world);
	struct world *made;
	struct reason why;
	struct shape_source none = { 0 };
	ck_assert_int_eq(world_load(image.data, image.count, none, &made, &why),
			 STATUS_UNKNOWN_SHAPE);
	char hex[9];
	const uint8_t *name = test_shape(TEST_BOX)->name;
	snprintf(hex, sizeof hex, "%02x%02x%02x%02x", name[0], name[1], name[2], name[3]);
	ck_assert_ptr_nonnull(strstr(why.text, hex));
	bytes_release(&image);
	world_destroy(world);
}
END_TEST

START_TEST(the_first_difference_of_two_images_is_named)
{
	struct world *world = test_world(false, "free");
	body_id body = test_spawn(world, TEST_BOX, vec3_zero());
	struct bytes a = test_save(world);
	struct reason why;
	world_new_epoch(world, 9);
	struct bytes same = test_save(world);
	ck_assert_int_eq(world_image_difference(a.data, a.count, same.data, same.count, &why),
			 STATUS_OK);
	struct command tag = test_command(COMMAND_SET_TAG);
	tag.set_tag.body = body;
	tag.set_tag.tag = 42;
	test_do(world, &tag);
	struct bytes b = test_save(world);
	ck_assert_int_eq(world_image_difference(a.data, a.count, b.data, b.count, &why),
			 STATUS_DIVERGED);
	ck_assert_str_eq(why.field, "tag");
	ck_assert_str_eq(why.text, "body row 0 (body 1), tag: first image 0, second 42");
	test_spawn(world, TEST_BOX, vec3_zero());
	tag.set_tag.tag = 0;
	test_do(world, &tag);
	bytes_release(&b);
	b = test_save(world);
	ck_assert_int_eq(world_image_difference(a.data, a.count, b.data, b.count, &why),
			 STATUS_DIVERGED);
	ck_assert_str_eq(why.field, "next_body");
	ck_assert_int_eq(world_image_difference(a.data, 30, b.data, b.count, &why), STATUS_CORRUPT);
	bytes_release(&a);
	bytes_release(&b);
	bytes_release(&same);
	world_destroy(world);
}
END_TEST

/* ---- images of other versions ----------------------------------------------------------------- */

enum newer { AS_IT_IS, LAST_COLUMNS_TWICE, BYTES_BEHIND, ADD_COLUMNS, ADD_TABLE, ADD_EMPTY_TABLE };

/* Copies the header: "CAIRNIMG", version, core number and method numbers. */
static void copy_header(struct reader *reader, struct writer *writer)
{
	write_raw(writer, reader_take(reader, 16), 16);
	uint32_t count = read_u32(reader);
	write_u32(writer, count);
	write_raw(writer, reader_take(reader, count * 6), count * 6);
}

/* Copies an image section by section. Drops one column, or adds a column or table that no build knows. */
static struct bytes rewrite(const struct bytes *image, uint16_t drop_table, uint16_t drop_column,
			    enum newer newer)
{
	bool add_unknown = newer == ADD_COLUMNS, add_table = newer >= ADD_TABLE;
	bool twice = newer == LAST_COLUMNS_TWICE;
	static const uint8_t sizes[] = { 1, 2, 4, 8, 8, 4, 8, 24, 32 };
	struct bytes out = { 0 };
	struct reader reader = reader_over(image->data, image->count - 8);
	struct writer writer = writer_into(&out);
	copy_header(&reader, &writer);
	uint32_t sections = read_u32(&reader);
	write_u32(&writer, sections + add_table);
	for (uint32_t s = 0; s < sections; s++) {
		uint16_t table = read_u16(&reader);
		uint32_t rows = read_u32(&reader);
		uint16_t columns = read_u16(&reader);
		write_u16(&writer, table);
		write_u32(&writer, rows);
		write_u16(&writer, (uint16_t)(columns - (table == drop_table) +
					      (add_unknown || twice ? 1 : 0)));
		for (uint32_t c = 0; c < columns; c++) {
			uint16_t number = read_u16(&reader);
			uint8_t type = read_u8(&reader);
			uint32_t length = read_u32(&reader);
			size_t bytes = (size_t)rows * length * sizes[type];
			const uint8_t *data = reader_take(&reader, bytes);
			if (table == drop_table && number == drop_column)
				continue;
			for (uint32_t k = 0; k < (twice && c + 1 == columns ? 2u : 1u); k++) {
				write_u16(&writer, number);
				write_u8(&writer, type);
				write_u32(&writer, length);
				write_raw(&writer, data, bytes);
			}
		}
		if (add_unknown) {
			write_u16(&writer, 999);
			write_u8(&writer, 1);
			write_u32(&writer, 2);
			for (uint32_t r = 0; r < rows * 2; r++)
				write_u16(&writer, 0xbeef);
		}
	}
	if (add_table) {
		uint32_t rows = newer == ADD_TABLE ? 3 : 0;
		write_u16(&writer, 5555);
		write_u32(&writer, rows);
		write_u16(&writer, 1);
		write_u16(&writer, 1);
		write_u8(&writer, 6);
		write_u32(&writer, 1);
		for (uint32_t r = 0; r < rows; r++)
			write_f64(&writer, 1.5);
	}
	if (newer == BYTES_BEHIND)
		write_u8(&writer, 7);
	write_u64(&writer, 0);
	ck_assert(!writer.failed && !reader.failed);
	correct_checksum(&out);
	return out;
}

START_TEST(a_repeated_column_and_bytes_after_the_end_are_refused)
{
	static const enum newer wrong[] = { LAST_COLUMNS_TWICE, BYTES_BEHIND };
	struct gen_commands gen;
	struct world *world = populated(false, check_seed(), &gen), *made = NULL;
	uint64_t before = test_hash(world);
	struct bytes image = test_save(world), same = rewrite(&image, 0, 0, AS_IT_IS);
	struct reason why;
	ck_assert_mem_eq(same.data, image.data, image.count);
	for (uint32_t i = 0; i < COUNT_OF(wrong); i++) {
		struct bytes bad = rewrite(&image, 0, 0, wrong[i]);
		ck_assert_int_eq(try_load(&bad, &made, &why), STATUS_CORRUPT);
		ck_assert_ptr_null(made);
		if (wrong[i] == LAST_COLUMNS_TWICE)
			ck_assert_ptr_nonnull(strstr(why.text, "is in the image twice"));
		ck_assert_int_eq(world_restore(world, bad.data, bad.count, &why), STATUS_CORRUPT);
		ck_assert_uint_eq(test_hash(world), before);
		bytes_release(&bad);
	}
	bytes_release(&image);
	bytes_release(&same);
	world_destroy(world);
}
END_TEST

START_TEST(columns_and_tables_of_a_later_build_are_refused_by_name_unless_empty)
{
	struct gen_commands gen;
	struct world *world = populated(false, check_seed(), &gen), *made = NULL;
	uint64_t before = test_hash(world);
	struct bytes image = test_save(world), column = rewrite(&image, 0, 0, ADD_COLUMNS);
	struct bytes table = rewrite(&image, 0, 0, ADD_TABLE);
	struct bytes empty = rewrite(&image, 0, 0, ADD_EMPTY_TABLE);
	struct reason why;
	ck_assert_int_eq(try_load(&column, &made, &why), STATUS_VERSION);
	ck_assert_str_eq(why.text,
			 "column 999 of table world is unknown: a later build wrote the image; "
			 "load it with that build");
	ck_assert_int_eq(try_load(&table, &made, &why), STATUS_VERSION);
	ck_assert_str_eq(why.text,
			 "table 5555 with 3 rows is unknown: a later build wrote the image; "
			 "load it with that build");
	ck_assert_int_eq(world_restore(world, table.data, table.count, &why), STATUS_VERSION);
	ck_assert_ptr_null(made);
	ck_assert_uint_eq(test_hash(world), before);
	made = load(&empty);
	ck_assert_uint_eq(test_hash(made), before);
	bytes_release(&image);
	bytes_release(&column);
	bytes_release(&table);
	bytes_release(&empty);
	world_destroy(made);
	world_destroy(world);
}
END_TEST

/* The parameter table has one row more than there are parameters. */
START_TEST(a_parameter_of_a_later_build_is_refused_by_number)
{
	struct world *world = test_world(false, "free"), *made = NULL;
	struct bytes image = test_save(world), newer = { 0 };
	struct reader reader = reader_over(image.data, image.count - 8);
	struct writer writer = writer_into(&newer);
	uint32_t rows = 0;
	copy_header(&reader, &writer);
	write_u32(&writer, read_u32(&reader));
	/* The section of the world comes first, then the section of the parameters. */
	size_t start = reader.position;
	(void)read_u16(&reader);
	rows = read_u32(&reader);
	uint16_t columns = read_u16(&reader);
	static const uint8_t sizes[] = { 1, 2, 4, 8, 8, 4, 8, 24, 32 };
	for (uint32_t c = 0; c < columns; c++) {
		(void)read_u16(&reader);
		uint8_t type = read_u8(&reader);
		uint32_t length = read_u32(&reader);
		(void)reader_take(&reader, (size_t)rows * length * sizes[type]);
	}
	write_raw(&writer, image.data + start, reader.position - start);
	ck_assert_uint_eq(read_u16(&reader), 2);
	write_u16(&writer, 2);
	rows = read_u32(&reader);
	write_u32(&writer, rows + 1);
	write_raw(&writer, reader_take(&reader, 9), 9);
	write_raw(&writer, reader_take(&reader, rows * 8), rows * 8);
	write_f64(&writer, 1);
	write_raw(&writer, image.data + reader.position, image.count - 8 - reader.position);
	write_u64(&writer, 0);
	correct_checksum(&newer);
	struct reason why;
	ck_assert_int_eq(try_load(&newer, &made, &why), STATUS_VERSION);
	char said[64];
	snprintf(said, sizeof said, "the image has %u parameters", rows + 1);
	ck_assert_ptr_nonnull(strstr(why.text, said));
	bytes_release(&image);
	bytes_release(&newer);
	world_destroy(world);
}
END_TEST

/* The image names the method `probe`, which refuses hulls. */
START_TEST(a_world_is_not_loaded_under_a_method_that_refuses_it)
{
	method_probe_install();
	struct world *world = test_world(false, "probe"), *other = test_world(false, "free"),
		     *made = NULL;
	struct bytes a = test_save(world), b = test_save(other);
	/* The first difference of the two images is the number of the method. */
	size_t at = 0;
	while (a.data[at] == b.data[at])
		at++;
	test_spawn(other, TEST_HULL, vec3_zero());
	bytes_release(&b);
	b = test_save(other);
	memcpy(&b.data[at], &a.data[at], sizeof(uint16_t));
	correct_checksum(&b);
	struct reason why;
	ck_assert_int_eq(try_load(&b, &made, &why), STATUS_METHOD_REFUSES);
	ck_assert_ptr_null(made);
	ck_assert_int_eq(world_restore(other, b.data, b.count, &why), STATUS_METHOD_REFUSES);
	ck_assert_str_eq(world_info(other).method, "free");
	bytes_release(&a);
	bytes_release(&b);
	world_destroy(world);
	world_destroy(other);
}
END_TEST

START_TEST(an_image_reports_its_numbers_and_its_saved_hash)
{
	struct gen_commands gen;
	struct world *world = populated(false, check_seed(), &gen);
	struct bytes image = test_save(world);
	struct image_about about;
	struct motion_numbers own = engine_motion();
	struct reason why;
	ck_assert_int_eq(world_image_about(image.data, image.count, &about, &why), STATUS_OK);
	ck_assert_uint_eq(about.saved_hash, test_hash(world));
	ck_assert_uint_eq(about.state_hash, test_hash(world));
	ck_assert_uint_eq(about.tick, world_info(world).tick);
	ck_assert(motion_is_same(&about.numbers, &own, "free"));
	/* An image of another core with a wrong checksum: only the header is read. */
	struct motion_numbers numbers;
	image.data[12]++;
	ck_assert_int_eq(world_image_numbers(image.data, image.count, &numbers, &why), STATUS_OK);
	ck_assert_uint_eq(numbers.core, own.core + 1);
	ck_assert(!motion_is_same(&numbers, &own, "free"));
	ck_assert_int_eq(world_image_numbers(image.data, 30, &numbers, &why), STATUS_CORRUPT);
	ck_assert_int_eq(world_image_numbers(image.data, 11, &numbers, &why), STATUS_CORRUPT);
	image.data[12]--;
	/* An image with a missing column: the reported hash is still that of its own bytes. */
	struct bytes older = rewrite(&image, 4, 6, AS_IT_IS);
	uint64_t tables[WORLD_TABLES_MAX];
	ck_assert_int_eq(world_image_about(older.data, older.count, &about, &why), STATUS_OK);
	struct world *copy = load(&older);
	ck_assert_uint_eq(about.state_hash, world_state_hash(copy, tables, NULL));
	ck_assert_int_eq(memcmp(about.hashes, tables, about.table_count * sizeof *tables), 0);
	ck_assert_uint_eq(about.saved_hash, about.state_hash);
	bytes_release(&image);
	bytes_release(&older);
	world_destroy(copy);
	world_destroy(world);
}
END_TEST

START_TEST(numbers_of_motion_are_written_and_read_and_compared_by_method)
{
	static const char *const bad[] = { "",
					   "core",
					   "core x",
					   "core 1,",
					   "core 1, ",
					   "free 1",
					   "core 1, free",
					   "core 1, free 1, free 1",
					   "core 99999999999",
					   "core 1 free 1" };
	struct motion_numbers own = engine_motion(), first = motion_of_abi_1(), read;
	char text[MOTION_TEXT_MAX];
	motion_text(&first, text);
	ck_assert_str_eq(text, "core 1, free 1, soft-step 1, lcp 0");
	motion_text(&own, text);
	ck_assert_int_eq(motion_parse(text, &read), STATUS_OK);
	ck_assert_int_eq(memcmp(&read, &own, sizeof own), 0);
	for (uint32_t i = 0; i < COUNT_OF(bad); i++)
		ck_assert_msg(motion_parse(bad[i], &read) == STATUS_MALFORMED, "%s", bad[i]);
	ck_assert_int_eq(motion_parse("core 1, later 3, free 1, soft-step 8", &read), STATUS_OK);
	ck_assert(motion_is_same(&first, &read, "free"));
	ck_assert(!motion_is_same(&first, &read, "soft-step")); /* another number */
	ck_assert(!motion_is_same(&first, &read, "lcp"));	/* the text has no number for it */
	ck_assert(!motion_is_same(&first, &read, "later"));
	ck_assert_int_eq(motion_parse("core 2, free 1", &read), STATUS_OK);
	ck_assert(!motion_is_same(&first, &read, "free"));
}
END_TEST

START_TEST(a_missing_column_has_its_absent_value)
{
	struct world *world = test_world(false, "free");
	body_id body = test_spawn(world, TEST_BOX, vec3_zero());
	struct command tag = test_command(COMMAND_SET_TAG);
	tag.set_tag.body = body;
	tag.set_tag.tag = 42;
	test_do(world, &tag);
	struct bytes image = test_save(world), older = rewrite(&image, 4, 6, AS_IT_IS);
	struct world *copy = load(&older);
	ck_assert_int_eq(test_body(copy, body).tag, 0);
	bytes_release(&image);
	bytes_release(&older);
	world_destroy(copy);
	world_destroy(world);
}
END_TEST

START_TEST(a_newer_format_is_refused_by_its_version)
{
	struct world *world = test_world(false, "free");
	struct bytes image = test_save(world);
	image.data[8]++;
	correct_checksum(&image);
	struct world *copy;
	ck_assert_int_eq(world_load(image.data, image.count, test_shape_source(), &copy, NULL),
			 STATUS_VERSION);
	bytes_release(&image);
	world_destroy(world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/world/snapshot");
	TCase *same = tcase_create("same future");
	tcase_set_timeout(same, 60);
	tcase_add_loop_test(same, a_loaded_world_has_the_same_state_and_the_same_future, 0,
			    COUNT_OF(methods));
	tcase_add_loop_test(same, rebuilt_caches_change_nothing_now_or_later, 0, COUNT_OF(methods));
	tcase_add_test(same, every_kind_of_broad_phase_has_the_same_history);
	tcase_add_test(same, restore_returns_to_the_image_and_keeps_the_epoch);
	suite_add_tcase(suite, same);
	TCase *bad = tcase_create("bad images");
	tcase_set_timeout(bad, 20);
	tcase_add_test(bad, a_planar_image_is_not_restored_into_a_spatial_world);
	tcase_add_test(bad, an_image_cut_at_any_byte_is_refused);
	tcase_add_test(bad, a_flipped_bit_is_refused_or_harmless_behind_a_right_checksum);
	tcase_add_test(bad, a_missing_shape_is_named);
	suite_add_tcase(suite, bad);
	TCase *versions = tcase_create("versions");
	tcase_add_test(versions, the_first_difference_of_two_images_is_named);
	tcase_add_test(versions, a_repeated_column_and_bytes_after_the_end_are_refused);
	tcase_add_test(versions,
		       columns_and_tables_of_a_later_build_are_refused_by_name_unless_empty);
	tcase_add_test(versions, a_parameter_of_a_later_build_is_refused_by_number);
	tcase_add_test(versions, a_world_is_not_loaded_under_a_method_that_refuses_it);
	tcase_add_test(versions, an_image_reports_its_numbers_and_its_saved_hash);
	tcase_add_test(versions, numbers_of_motion_are_written_and_read_and_compared_by_method);
	tcase_add_test(versions, a_missing_column_has_its_absent_value);
	tcase_add_test(versions, a_newer_format_is_refused_by_its_version);
	suite_add_tcase(suite, versions);
	return suite;
}

int main(void)
{
	return check_main(make);
}
