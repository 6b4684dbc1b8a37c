/* snapshot.c: a world as bytes, and worlds from bytes.
 *
 *   "CAIRNIMG", u32 version
 *   u32 number of the core, u32 methods, of each: u16 its number, u32 the number of its motion
 *   u32 sections
 *   section: u16 table number, u32 rows, u16 columns
 *   column:  u16 column number, u8 type, u32 values a row, then rows × values, little-endian
 *   u64 XXH3 of everything before
 *
 * Version 1, of the first builds, has one u32 (`abi`, 1) in place of the second line. image_read.c
 * reads both. A restore makes a whole second world first and then trades places with it.
 */
#include "server/base/hash.h"
#include "server/engine/world/image.h"
#include "server/engine/world/world.h"

#include <string.h>

/* ---- writing ---------------------------------------------------------------------------------- */

static void write_table(struct writer *writer, const struct tables *tables, enum table_index table)
{
	const struct table_info *info = &table_infos[table];
	uint32_t rows = tables_count(tables, table);
	write_u16(writer, info->number);
	write_u32(writer, rows);
	write_u16(writer, (uint16_t)info->column_count);
	for (uint32_t i = 0; i < info->column_count; i++) {
		const struct column_info *column = &info->columns[i];
		write_u16(writer, column->number);
		write_u8(writer, column->type);
		write_u32(writer, column->length);
		if (rows > 0)
			write_raw(writer, tables_column(tables, table, i),
				  rows * column->row_bytes);
	}
}

void world_image_seal(struct bytes *image)
{
	if (image->count < IMAGE_MAGIC_BYTES + 8 ||
	    memcmp(image->data, IMAGE_MAGIC, IMAGE_MAGIC_BYTES) != 0)
		return;
	size_t body = image->count - 8;
	put_le64(image->data + body, hash64(image->data, body, 0));
}

enum status world_save(const struct world *world, struct bytes *out)
{
	size_t start = out->count;
	enum status status = world_save_open(world, out);
	if (status != STATUS_OK)
		return status;
	struct bytes image = { out->data + start, out->count - start, 0 };
	world_image_seal(&image);
	return STATUS_OK;
}

enum status world_save_open(const struct world *world, struct bytes *out)
{
	size_t start = out->count;
	method_save(&world->method, &world->dynamics);
	struct writer writer = writer_into(out);
	struct motion_numbers numbers = engine_motion();
	write_raw(&writer, IMAGE_MAGIC, IMAGE_MAGIC_BYTES);
	write_u32(&writer, IMAGE_VERSION);
	write_u32(&writer, numbers.core);
	write_u32(&writer, numbers.method_count);
	for (uint32_t i = 0; i < numbers.method_count; i++) {
		write_u16(&writer, numbers.methods[i].method);
		write_u32(&writer, numbers.methods[i].number);
	}
	write_u32(&writer, TABLE_COUNT);
	for (uint32_t table = 0; table < TABLE_COUNT; table++)
		write_table(&writer, &world->tables, table);
	write_u64(&writer, 0); /* the place of the checksum */
	if (writer.failed)
		out->count = start;
	return writer_status(&writer);
}

/* ---- worlds from images ----------------------------------------------------------------------- */

enum status world_load(const uint8_t *data, size_t bytes, struct shape_source shapes,
		       struct world **out, struct reason *why)
{
	struct tables tables;
	enum status status = image_read(data, bytes, &tables, NULL, why);
	if (status != STATUS_OK)
		return status;
	status = tables_check(&tables, why);
	if (status != STATUS_OK) {
		tables_release(&tables);
		return status;
	}
	return world_of_tables(&tables, shapes, out, why);
}

enum status world_of_tables(struct tables *tables, struct shape_source shapes, struct world **out,
			    struct reason *why)
{
	struct world *world;
	enum status status = world_make(tables, shapes, &world, why);
	if (status != STATUS_OK)
		return status;
	status = world_check(world, why);
	if (status == STATUS_OK)
		status = method_supports(world->method.method, &world->dynamics, why);
	if (status == STATUS_OK)
		status = method_ready(&world->method, &world->dynamics, why);
	if (status != STATUS_OK) {
		world_destroy(world);
		return status;
	}
	*out = world;
	return STATUS_OK;
}

enum status check_same_rate_and_space(const struct tables *ours, const struct tables *theirs,
				      struct reason *why)
{
	const struct world_table *a = &ours->world, *b = &theirs->world;
	if (a->rate_num[0] == b->rate_num[0] && a->rate_den[0] == b->rate_den[0] &&
	    a->planar[0] == b->planar[0])
		return STATUS_OK;
	return reason_set(
		why, STATUS_RANGE, -1, "rate",
		"the image has rate %u/%u and planar %u, the world %u/%u and %u: they must be equal",
		b->rate_num[0], b->rate_den[0], b->planar[0], a->rate_num[0], a->rate_den[0],
		a->planar[0]);
}

void world_trade(struct world *a, struct world *b)
{
	struct world old = *a;
	*a = *b;
	*b = old;
	a->dynamics.tables = &a->tables;
	b->dynamics.tables = &b->tables;
}

enum status world_restore(struct world *world, const uint8_t *data, size_t bytes,
			  struct reason *why)
{
	struct world *fresh;
	enum status status = world_load(data, bytes, world->source, &fresh, why);
	if (status != STATUS_OK)
		return status;
	status = check_same_rate_and_space(&world->tables, &fresh->tables, why);
	if (status == STATUS_OK) {
		fresh->tables.world.epoch[0] = world->tables.world.epoch[0];
		world_trade(world, fresh);
	}
	world_destroy(fresh);
	return status;
}
