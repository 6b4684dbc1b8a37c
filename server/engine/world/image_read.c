/* image_read.c: tables from the bytes of an image, of this version or an earlier one.
 *
 * Everything is checked before it is used: sizes against the bytes left while reading, every
 * invariant of the tables afterwards (invariants.c). A column that an image lacks has the value
 * `absent`. An unknown table or column comes from a later build, and the image is refused unless
 * it has no rows.
 *
 * An image may not cause much larger allocations than its own size: of each table that has rows,
 * at least an eighth of the bytes of a row must be there.
 *
 * The hash that was reported when an image was saved is made over its own bytes, before anything
 * is converted, by the rule of its version; so it can be checked in every later build. The rule
 * of version 1 is frozen here: each of its ten tables, also an empty one, as u32 rows and all
 * columns but two, and their hashes in order.
 */
#include "server/base/hash.h"
#include "server/engine/world/image.h"
#include "server/engine/world/parameters.h"

#include <string.h>

enum { TYPES = COLUMN_QUAT + 1, FIRST_TABLES = 10 };
#define MISSING_MAX ((size_t)8)

static const uint8_t type_bytes[TYPES] = {
	[COLUMN_U8] = 1,  [COLUMN_U16] = 2,   [COLUMN_U32] = 4,
	[COLUMN_U64] = 8, [COLUMN_I64] = 8,   [COLUMN_F32] = 4,
	[COLUMN_F64] = 8, [COLUMN_VEC3] = 24, [COLUMN_QUAT] = 32,
};

#define BAD(...) reason_set(why, STATUS_CORRUPT, -1, "image", __VA_ARGS__)
#define LATER(...) reason_set(why, STATUS_VERSION, -1, "image", __VA_ARGS__)

/* An image while it is read. */
struct image {
	struct reader reader;
	uint32_t version, sections;
	struct motion_numbers numbers;
	bool hashed;		      /* the caller needs `hashes` */
	uint64_t hashes[TABLE_COUNT]; /* of tables, by the rule of the version */
	uint32_t
		next_table; /* version 1: index of the next table; all tables are there, in order */
};

/* A table of the image: for each column of this build the address of its data in the image. */
struct section {
	uint32_t table;
	uint32_t rows;
	const void *data[COLUMNS_MAX];
	size_t row_bytes;    /* of the columns in the image */
	struct hasher first; /* version 1 */
};

/* ---- columns ---------------------------------------------------------------------------------- */

/* Two columns were not hashed in version 1: world.epoch and world.broad_phase. */
static bool first_hashed(uint16_t table, uint16_t column)
{
	return table != 1 || (column != 2 && column != 22);
}

static enum status place_column(struct section *section, uint16_t number, uint8_t type,
				uint32_t length, const uint8_t *data, struct reason *why)
{
	ASSERT(section->table < TABLE_COUNT);
	const struct table_info *info = &table_infos[section->table];
	for (uint32_t i = 0; i < info->column_count; i++) {
		const struct column_info *column = &info->columns[i];
		if (column->number != number)
			continue;
		if (column->type != type || column->length != length)
			return BAD("column %s.%s has type %u and length %u: it must have %u and %u",
				   info->name, column->name, type, length, column->type,
				   column->length);
		if (section->data[i] != NULL)
			return BAD("column %s.%s is in the image twice", info->name, column->name);
		section->data[i] = data;
		section->row_bytes += column->row_bytes;
		return STATUS_OK;
	}
	if (section->rows == 0)
		return STATUS_OK;
	return LATER(
		"column %u of table %s is unknown: a later build wrote the image; load it with "
		"that build",
		number, info->name);
}

static enum status read_column(struct image *image, struct section *section, struct reason *why)
{
	struct reader *reader = &image->reader;
	uint16_t number = read_u16(reader);
	uint8_t type = read_u8(reader);
	uint32_t length = read_u32(reader);
	if (reader->failed || type >= TYPES)
		return BAD("a column is cut off, or its type %u is not below %u", type,
			   (unsigned)TYPES);
	uint64_t row_bytes = (uint64_t)length * type_bytes[type];
	if (section->rows > 0 && row_bytes > reader_left(reader) / section->rows)
		return BAD("column %u is cut off: %u rows need more than the %llu bytes left",
			   number, section->rows, (unsigned long long)reader_left(reader));
	size_t bytes = (size_t)(row_bytes * section->rows);
	const uint8_t *data = reader_take(reader, bytes);
	if (section->table == TABLE_COUNT)
		return STATUS_OK;
	if (image->hashed && image->version == 1 &&
	    first_hashed(table_infos[section->table].number, number))
		hasher_update(&section->first, data, bytes);
	return place_column(section, number, type, length, data, why);
}

/* ---- tables ----------------------------------------------------------------------------------- */

static uint32_t find_table(uint16_t number)
{
	for (uint32_t table = 0; table < TABLE_COUNT; table++)
		if (table_infos[table].number == number)
			return table;
	return TABLE_COUNT;
}

static enum status copy_section(const struct section *section, struct tables *tables,
				struct reason *why)
{
	const struct table_info *info = &table_infos[section->table];
	if (tables_count(tables, section->table) > 0)
		return BAD("table %s is in the image twice", info->name);
	if (section->row_bytes * MISSING_MAX < table_row_bytes(section->table))
		return BAD("table %s has columns of %llu bytes a row: a row of this build has %llu",
			   info->name, (unsigned long long)section->row_bytes,
			   (unsigned long long)table_row_bytes(section->table));
	enum status status = tables_reserve(tables, section->table, section->rows);
	if (status != STATUS_OK)
		return reason_set(why, status, -1, "image",
				  "the server has no memory for the tables of the image");
	tables_insert(tables, section->table, 0, section->rows);
	for (uint32_t i = 0; i < info->column_count; i++)
		if (section->data[i] != NULL)
			memcpy(tables_column(tables, section->table, i), section->data[i],
			       section->rows * info->columns[i].row_bytes);
	return STATUS_OK;
}

static enum status read_section(struct image *image, struct tables *tables, struct reason *why)
{
	struct reader *reader = &image->reader;
	uint16_t number = read_u16(reader);
	struct section section = { .table = find_table(number), .rows = read_u32(reader) };
	uint16_t columns = read_u16(reader);
	if (reader->failed)
		return BAD("the header of a table is cut off");
	if (image->version == 1 && section.table != image->next_table)
		return BAD("table %u is out of order: version 1 has its tables in ascending order",
			   number);
	if (section.table == TABLE_COUNT && section.rows > 0)
		return LATER(
			"table %u with %u rows is unknown: a later build wrote the image; load "
			"it with that build",
			number, section.rows);
	image->next_table++;
	hasher_init(&section.first, 0);
	hasher_u32(&section.first, section.rows);
	for (uint32_t i = 0; i < columns; i++) {
		enum status status = read_column(image, &section, why);
		if (status != STATUS_OK)
			return status;
	}
	if (section.table == TABLE_COUNT)
		return STATUS_OK;
	if (section.table == TABLE_PARAMETER && section.rows > PARAMETER_COUNT)
		return LATER("the image has %u parameters, this build knows %d: load it with the "
			     "build that wrote it",
			     section.rows, PARAMETER_COUNT);
	if (image->hashed)
		image->hashes[section.table] =
			image->version == 1 ? hasher_digest(&section.first)
					    : table_hash(section.table, section.rows, section.data);
	return section.rows == 0 ? STATUS_OK : copy_section(&section, tables, why);
}

/* Parameters that are newer than the image are absent. */
static enum status complete_parameters(struct tables *tables, struct reason *why)
{
	uint32_t rows = tables->parameter.count;
	if (tables_reserve(tables, TABLE_PARAMETER, PARAMETER_COUNT) != STATUS_OK)
		return reason_set(why, STATUS_NO_MEMORY, -1, "image",
				  "the server has no memory for the tables of the image");
	for (; rows < PARAMETER_COUNT; rows++) {
		tables_append(tables, TABLE_PARAMETER);
		tables->parameter.value[rows] = parameter_entries[rows].absent;
	}
	ASSERT(tables->parameter.count == PARAMETER_COUNT);
	return STATUS_OK;
}

/* ---- images ----------------------------------------------------------------------------------- */

static enum status read_numbers(struct image *image, struct reason *why)
{
	struct reader *reader = &image->reader;
	struct motion_numbers *numbers = &image->numbers;
	if (image->version == 1) {
		uint32_t abi = read_u32(reader);
		*numbers = motion_of_abi_1();
		return abi == 1 ? STATUS_OK
				: LATER("abi of the image is %u: in version 1 it must be 1", abi);
	}
	numbers->core = read_u32(reader);
	numbers->method_count = read_u32(reader);
	if (reader->failed || numbers->method_count > MOTION_METHODS_MAX)
		return BAD("the list of methods is cut off, or its length %u is above %d",
			   numbers->method_count, MOTION_METHODS_MAX);
	for (uint32_t i = 0; i < numbers->method_count; i++) {
		numbers->methods[i].method = read_u16(reader);
		numbers->methods[i].number = read_u32(reader);
	}
	return STATUS_OK;
}

static enum status read_sections(struct image *image, struct tables *tables, struct reason *why)
{
	enum status status = STATUS_OK;
	image->sections = read_u32(&image->reader);
	for (uint32_t i = 0; i < image->sections && status == STATUS_OK; i++)
		status = read_section(image, tables, why);
	if (status != STATUS_OK)
		return status;
	if (reader_finish(&image->reader) != STATUS_OK)
		return BAD("there are bytes after the last table");
	if (image->version == 1 && image->sections != FIRST_TABLES)
		return BAD("an image of version 1 has %d tables, this one has %u", FIRST_TABLES,
			   image->sections);
	return complete_parameters(tables, why);
}

/* The rule of version 1: the hashes in order, nothing left out. */
static uint64_t join_saved_hashes(const struct image *image)
{
	struct hasher hasher;
	if (image->version != 1)
		return table_hashes_join(image->hashes);
	hasher_init(&hasher, 0);
	for (uint32_t i = 0; i < FIRST_TABLES; i++)
		hasher_u64(&hasher, image->hashes[i]);
	return hasher_digest(&hasher);
}

static void fill_about(const struct image *image, const struct tables *tables,
		       struct image_about *about)
{
	*about = (struct image_about){
		.version = image->version,
		.numbers = image->numbers,
		.table_count = image->version == 1 ? (uint32_t)FIRST_TABLES : image->next_table,
		.saved_hash = join_saved_hashes(image),
	};
	about->table_count = MIN_OF(about->table_count, (uint32_t)TABLE_COUNT);
	memcpy(about->saved_hashes, image->hashes, sizeof image->hashes);
	about->state_hash = tables_state_hash(tables, about->hashes);
}

/* The header, up to the sections. */
static enum status open_image(struct image *image, const uint8_t *data, size_t bytes,
			      struct reason *why)
{
	if (bytes < IMAGE_MAGIC_BYTES + 3 * sizeof(uint32_t) + sizeof(uint64_t) ||
	    memcmp(data, IMAGE_MAGIC, IMAGE_MAGIC_BYTES) != 0)
		return BAD("these %llu bytes are no image of a world: the image is cut off or does "
			   "not begin with " IMAGE_MAGIC,
			   (unsigned long long)bytes);
	image->reader = reader_over(data, bytes - sizeof(uint64_t));
	(void)reader_take(&image->reader, IMAGE_MAGIC_BYTES);
	image->version = read_u32(&image->reader);
	if (image->version == 0 || image->version > IMAGE_VERSION)
		return LATER("version of the image is %u: this build reads 1 to %d", image->version,
			     IMAGE_VERSION);
	return STATUS_OK;
}

enum status image_read(const uint8_t *data, size_t bytes, struct tables *tables,
		       struct image_about *about, struct reason *why)
{
	struct image image = { .hashed = about != NULL };
	tables_init(tables);
	enum status status = open_image(&image, data, bytes, why);
	if (status != STATUS_OK)
		return status;
	if (hash64(data, bytes - sizeof(uint64_t), 0) != get_le64(data + bytes - sizeof(uint64_t)))
		return BAD("the checksum does not match: the image is damaged, use another copy");
	status = read_numbers(&image, why);
	if (status == STATUS_OK)
		status = read_sections(&image, tables, why);
	if (status != STATUS_OK)
		tables_release(tables);
	else if (about != NULL)
		fill_about(&image, tables, about);
	return status;
}

enum status world_image_numbers(const uint8_t *data, size_t bytes, struct motion_numbers *out,
				struct reason *why)
{
	struct image image = { 0 };
	enum status status = open_image(&image, data, bytes, why);
	if (status == STATUS_OK)
		status = read_numbers(&image, why);
	if (status == STATUS_OK && image.reader.failed)
		status = BAD("the numbers of the core and the methods are cut off");
	*out = image.numbers;
	return status;
}

enum status world_image_about(const uint8_t *data, size_t bytes, struct image_about *out,
			      struct reason *why)
{
	struct tables tables;
	enum status status = image_read(data, bytes, &tables, out, why);
	if (status != STATUS_OK)
		return status;
	if (tables.world.count == 1) {
		out->tick = tables.world.tick[0];
		out->method = tables.world.method[0];
	}
	tables_release(&tables);
	return STATUS_OK;
}

/* `head` may end anywhere after the world's own table, which is the first. */
bool world_image_memory_max(const uint8_t *head, size_t bytes, uint64_t *out)
{
	struct image image = { .hashed = false };
	struct reason why;
	if (open_image(&image, head, bytes, &why) != STATUS_OK ||
	    read_numbers(&image, &why) != STATUS_OK)
		return false;
	(void)read_u32(&image.reader);
	struct section section = { .table = find_table(read_u16(&image.reader)) };
	section.rows = read_u32(&image.reader);
	uint16_t columns = read_u16(&image.reader);
	if (image.reader.failed || section.table != TABLE_WORLD || section.rows != 1)
		return false;
	for (uint32_t i = 0; i < columns; i++)
		if (read_column(&image, &section, &why) != STATUS_OK)
			return false;
	for (uint32_t i = 0; i < table_infos[TABLE_WORLD].column_count; i++)
		if (strcmp(table_infos[TABLE_WORLD].columns[i].name, "memory_max") == 0 &&
		    section.data[i] != NULL) {
			*out = get_le64(section.data[i]);
			return true;
		}
	return false;
}
