/* snapshot.c: a world as bytes.
 *
 *   "CAIRNIMG", u32 version, u32 abi, u32 sections
 *   section: u16 table number, u32 rows, u16 columns
 *   column:  u16 column number, u8 type, u32 values a row, then rows × values, little-endian
 *   u64 XXH3 of everything before
 *
 * The image describes itself: a reader that does not know a table or a column skips it, and leaves
 * zero (parameters: their initial value) what the image does not have. Nothing is believed before it
 * is checked: sizes against the bytes left while reading, every invariant of the tables afterwards
 * (invariants.c). A restore makes a whole second world first and then trades places with it.
 *
 * An image may not ask for much more memory than it brings: of each table that has rows, at least an
 * eighth of the bytes of a row must be there.
 */
#include "server/base/hash.h"
#include "server/engine/world/parameters.h"
#include "server/engine/world/world.h"

#include <string.h>

static const char magic[8] = { 'C', 'A', 'I', 'R', 'N', 'I', 'M', 'G' };
enum { IMAGE_VERSION = 1, TYPES = COLUMN_QUAT + 1 };
#define MISSING_MAX ((size_t)8)

static const uint8_t type_bytes[TYPES] = {
	[COLUMN_U8] = 1,  [COLUMN_U16] = 2, [COLUMN_U32] = 4,	[COLUMN_U64] = 8,  [COLUMN_I64] = 8,
	[COLUMN_F32] = 4, [COLUMN_F64] = 8, [COLUMN_VEC3] = 24, [COLUMN_QUAT] = 32,
};

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

enum status world_save(const struct world *world, struct bytes *out)
{
	size_t start = out->count;
	struct writer writer = writer_into(out);
	write_raw(&writer, magic, sizeof magic);
	write_u32(&writer, IMAGE_VERSION);
	write_u32(&writer, ENGINE_ABI);
	write_u32(&writer, TABLE_COUNT);
	for (uint32_t table = 0; table < TABLE_COUNT; table++)
		write_table(&writer, &world->tables, table);
	if (!writer.failed)
		write_u64(&writer, hash64(out->data + start, out->count - start, 0));
	if (writer.failed)
		out->count = start;
	return writer_status(&writer);
}

/* ---- reading ---------------------------------------------------------------------------------- */

#define BAD(...) reason_set(why, STATUS_CORRUPT, -1, "image", __VA_ARGS__)

static uint32_t find_table(uint16_t number)
{
	for (uint32_t table = 0; table < TABLE_COUNT; table++)
		if (table_infos[table].number == number)
			return table;
	return TABLE_COUNT;
}

/* A section's columns: where the data of each column we know lies in the image. */
struct section {
	uint32_t table; /* TABLE_COUNT: not known */
	uint32_t rows;
	const uint8_t *data[COLUMNS_MAX];
	size_t row_bytes; /* of the known columns that are there */
};

static enum status read_column(struct reader *reader, struct section *section, struct reason *why)
{
	uint16_t number = read_u16(reader);
	uint8_t type = read_u8(reader);
	uint32_t length = read_u32(reader);
	if (reader->failed || type >= TYPES)
		return BAD("a column is cut off or of unknown type");
	uint64_t row_bytes = (uint64_t)length * type_bytes[type];
	if (section->rows > 0 && row_bytes > reader_left(reader) / section->rows)
		return BAD("column %u is cut off", number);
	const uint8_t *data = reader_take(reader, (size_t)(row_bytes * section->rows));
	if (section->table == TABLE_COUNT)
		return STATUS_OK;
	const struct table_info *info = &table_infos[section->table];
	for (uint32_t i = 0; i < info->column_count; i++) {
		const struct column_info *column = &info->columns[i];
		if (column->number != number)
			continue;
		if (column->type != type || column->length != length)
			return BAD("%s.%s has another type", info->name, column->name);
		if (section->data[i] != NULL)
			return BAD("%s.%s comes twice", info->name, column->name);
		section->data[i] = data;
		section->row_bytes += column->row_bytes;
	}
	return STATUS_OK;
}

static enum status copy_section(const struct section *section, struct tables *tables,
				struct reason *why)
{
	const struct table_info *info = &table_infos[section->table];
	if (tables_count(tables, section->table) > 0)
		return BAD("table %s comes twice", info->name);
	if (section->row_bytes * MISSING_MAX < table_row_bytes(section->table))
		return BAD("table %s lacks too many columns", info->name);
	enum status status = tables_reserve(tables, section->table, section->rows);
	if (status != STATUS_OK)
		return reason_set(why, status, -1, "image", "out of memory");
	tables_insert(tables, section->table, 0, section->rows);
	for (uint32_t i = 0; i < info->column_count; i++)
		if (section->data[i] != NULL)
			memcpy(tables_column(tables, section->table, i), section->data[i],
			       section->rows * info->columns[i].row_bytes);
	return STATUS_OK;
}

static enum status read_section(struct reader *reader, struct tables *tables, struct reason *why)
{
	struct section section = { .table = find_table(read_u16(reader)) };
	section.rows = read_u32(reader);
	uint16_t columns = read_u16(reader);
	if (reader->failed)
		return BAD("a table is cut off");
	for (uint32_t i = 0; i < columns; i++) {
		enum status status = read_column(reader, &section, why);
		if (status != STATUS_OK)
			return status;
	}
	if (section.table == TABLE_COUNT || section.rows == 0)
		return STATUS_OK;
	return copy_section(&section, tables, why);
}

/* Parameters that are newer than the image have their initial values; ones that are gone go. */
static enum status complete_parameters(struct tables *tables, struct reason *why)
{
	uint32_t rows = tables->parameter.count;
	if (rows > PARAMETER_COUNT)
		tables_truncate(tables, TABLE_PARAMETER, PARAMETER_COUNT);
	if (tables_reserve(tables, TABLE_PARAMETER, PARAMETER_COUNT) != STATUS_OK)
		return reason_set(why, STATUS_NO_MEMORY, -1, "image", "out of memory");
	for (; rows < PARAMETER_COUNT; rows++) {
		tables_append(tables, TABLE_PARAMETER);
		tables->parameter.value[rows] = parameter_entries[rows].initial;
	}
	return STATUS_OK;
}

static enum status read_sections(const uint8_t *data, size_t bytes, struct tables *tables,
				 struct reason *why)
{
	struct reader reader = reader_over(data, bytes - sizeof(uint64_t));
	(void)reader_take(&reader, sizeof magic + 2 * sizeof(uint32_t));
	uint32_t sections = read_u32(&reader);
	for (uint32_t i = 0; i < sections; i++) {
		enum status status = read_section(&reader, tables, why);
		if (status != STATUS_OK)
			return status;
	}
	if (reader_finish(&reader) != STATUS_OK)
		return BAD("there are bytes after the last table");
	return complete_parameters(tables, why);
}

enum status image_read(const uint8_t *data, size_t bytes, struct tables *tables, struct reason *why)
{
	tables_init(tables);
	if (bytes < sizeof magic + 3 * sizeof(uint32_t) + sizeof(uint64_t) ||
	    memcmp(data, magic, sizeof magic) != 0)
		return BAD("this is no image of a world");
	uint32_t version = get_le32(data + sizeof magic);
	if (version != IMAGE_VERSION)
		return reason_set(why, STATUS_VERSION, -1, "image", "image of version %u, %d is known",
				  version, IMAGE_VERSION);
	if (hash64(data, bytes - sizeof(uint64_t), 0) != get_le64(data + bytes - sizeof(uint64_t)))
		return BAD("the checksum does not match");
	enum status status = read_sections(data, bytes, tables, why);
	if (status != STATUS_OK)
		tables_release(tables);
	return status;
}

/* ---- worlds from images ----------------------------------------------------------------------- */

enum status world_load(const uint8_t *data, size_t bytes, struct shape_source shapes,
		       struct world **out, struct reason *why)
{
	struct tables tables;
	enum status status = image_read(data, bytes, &tables, why);
	if (status != STATUS_OK)
		return status;
	status = tables_check(&tables, why);
	if (status != STATUS_OK) {
		tables_release(&tables);
		return status;
	}
	struct world *world;
	status = world_make(&tables, shapes, &world, why);
	if (status != STATUS_OK)
		return status;
	status = world_check(world, why);
	if (status != STATUS_OK) {
		world_destroy(world);
		return status;
	}
	*out = world;
	return STATUS_OK;
}

static enum status check_kin(const struct tables *ours, const struct tables *theirs,
			     struct reason *why)
{
	const struct world_table *a = &ours->world, *b = &theirs->world;
	if (a->rate_num[0] == b->rate_num[0] && a->rate_den[0] == b->rate_den[0] &&
	    a->planar[0] == b->planar[0])
		return STATUS_OK;
	return reason_set(why, STATUS_RANGE, -1, "rate",
			  "the image is of a world with another tick rate, or planar against spatial");
}

enum status world_restore(struct world *world, const uint8_t *data, size_t bytes,
			  struct reason *why)
{
	struct world *fresh;
	enum status status = world_load(data, bytes, world->source, &fresh, why);
	if (status != STATUS_OK)
		return status;
	status = check_kin(&world->tables, &fresh->tables, why);
	if (status == STATUS_OK) {
		fresh->tables.world.epoch[0] = world->tables.world.epoch[0];
		struct world old = *world;
		*world = *fresh;
		*fresh = old;
		world->dynamics.tables = &world->tables;
		fresh->dynamics.tables = &fresh->tables;
	}
	world_destroy(fresh);
	return status;
}

uint32_t world_image_shapes(const uint8_t *data, size_t bytes, struct name32 *names,
			    uint32_t capacity)
{
	struct tables tables;
	struct reason why;
	if (image_read(data, bytes, &tables, &why) != STATUS_OK)
		return 0;
	uint32_t count = 0;
	for (uint32_t row = 0; row < tables.shape.count; row++) {
		if (tables.shape.id[row] == 0 || tables.shape.id[row] >= IDS_END)
			continue;
		if (count < capacity)
			memcpy(names[count].bytes, tables.shape.name[row], SHAPE_NAME_BYTES);
		count++;
	}
	tables_release(&tables);
	return count;
}

bool world_image_memory_max(const uint8_t *head, size_t bytes, uint64_t *out)
{
	struct reader reader = reader_over(head, bytes);
	struct reason why;
	if (bytes < sizeof magic || memcmp(head, magic, sizeof magic) != 0)
		return false;
	(void)reader_take(&reader, sizeof magic + 3 * sizeof(uint32_t));
	/* The world's own table is the first. */
	struct section section = { .table = find_table(read_u16(&reader)) };
	section.rows = read_u32(&reader);
	uint16_t columns = read_u16(&reader);
	if (reader.failed || section.table != TABLE_WORLD || section.rows != 1)
		return false;
	for (uint32_t i = 0; i < columns; i++)
		if (read_column(&reader, &section, &why) != STATUS_OK)
			return false;
	for (uint32_t i = 0; i < table_infos[TABLE_WORLD].column_count; i++)
		if (strcmp(table_infos[TABLE_WORLD].columns[i].name, "memory_max") == 0 &&
		    section.data[i] != NULL) {
			*out = get_le64(section.data[i]);
			return true;
		}
	return false;
}
