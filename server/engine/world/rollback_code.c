/* rollback_code.c: tables as bytes: what differs from a base.
 *
 * A base is a copy of all tables at one boundary. An image lists, for each table and column, the cells
 * that differ from the base, whichever they are: no list says what a step may change, so no state can be
 * missing. Bodies and joints made or removed since the base are rows whose KEY differs.
 *
 *   "CAIRNROL", u64 number of the base
 *   table:   u8 table number, rows, a bit for each column that differs, in u64 words of 64 columns (tables
 *            without a difference are left out; a table number 0 ends the list)
 *   column:  u8 form; if SOME: count, then the rows' distances from the row before
 *            codes of the values, two bits each, in order; then the values
 *   u64 XXH3 of everything before
 *
 * Whole numbers without a size are in groups of seven bits, the lowest first. A column in form EACH lists
 * every taken row (of a KEY, and of a table without one: every row); in form SOME it lists those that
 * differ. Free rows are clear. The code of a value says where it is:
 *
 *   0 zero      1 in half its size: a whole number that fits, or a double that a float represents exactly
 *   2 whole     3 in the base, at the same row (rows that the base lacks are clear there)
 *
 * A body that sleeps since the base costs two bits a value, and what has not moved at all costs nothing:
 * its rows are not listed. Doubles of a step in single precision and positions on a grid take code 1.
 *
 * The reader trusts nothing: counts are compared with the limits of the world in the image before memory
 * is reserved, and the state is checked (invariants.c, checks.c) before it replaces another.
 */
#include "server/base/hash.h"
#include "server/base/heap.h"
#include "server/engine/world/rollback.h"

#include <string.h>

#define MAGIC "CAIRNROL"
enum { MAGIC_BYTES = 8, NUMBER_BYTES = 10, FORM_EACH = 0, FORM_SOME = 1 };
enum { CODE_ZERO = 0, CODE_HALF = 1, CODE_WHOLE = 2, CODE_BASE = 3 };

/* Bytes of one value of a column. */
static uint32_t value_bytes(const struct column_info *column)
{
	static const uint8_t bytes[] = {
		[COLUMN_U8] = 1,  [COLUMN_U16] = 2,  [COLUMN_U32] = 4,
		[COLUMN_F32] = 4, [COLUMN_U64] = 8,  [COLUMN_I64] = 8,
		[COLUMN_F64] = 8, [COLUMN_VEC3] = 8, [COLUMN_QUAT] = 8,
	};
	ASSERT(column->type < COUNT_OF(bytes));
	return bytes[column->type];
}

static bool is_double(const struct column_info *column)
{
	return column->type == COLUMN_F64 || column->type == COLUMN_VEC3 ||
	       column->type == COLUMN_QUAT;
}

static uint64_t get_value(const uint8_t *at, uint32_t bytes)
{
	uint64_t value = 0;
	memcpy(&value, at, bytes);
	return value;
}

/* ---- doubles that a float represents ---------------------------------------------------------- */

/* Exponents of the normal floats in a double, and the bits of its fraction that a float lacks. */
#define EXPONENT_LEAST 897u
#define EXPONENT_MOST 1150u
#define FRACTION_REST ((UINT64_C(1) << 29) - 1)

static bool fits_float(uint64_t bits)
{
	uint32_t exponent = (uint32_t)(bits >> 52) & 0x7ff;
	return (bits & FRACTION_REST) == 0 && exponent >= EXPONENT_LEAST &&
	       exponent <= EXPONENT_MOST;
}

static uint32_t to_float(uint64_t bits)
{
	uint32_t exponent = ((uint32_t)(bits >> 52) & 0x7ff) - EXPONENT_LEAST + 1;
	return (uint32_t)(bits >> 63) << 31 | exponent << 23 | ((uint32_t)(bits >> 29) & 0x7fffff);
}

static uint64_t from_float(uint32_t bits)
{
	uint64_t exponent = (bits >> 23 & 0xff) + EXPONENT_LEAST - 1;
	return (uint64_t)(bits >> 31) << 63 | exponent << 52 | (uint64_t)(bits & 0x7fffff) << 29;
}

/* ---- tables ----------------------------------------------------------------------------------- */

enum status rollback_copy(struct tables *to, const struct tables *from)
{
	for (uint32_t table = 0; table < TABLE_COUNT; table++) {
		uint32_t rows = tables_count(from, table);
		if (rows == UINT32_MAX || tables_reserve(to, table, rows + 1) != STATUS_OK)
			return STATUS_NO_MEMORY;
		tables_truncate(to, table, MIN_OF(tables_count(to, table), rows));
		tables_insert(to, table, tables_count(to, table), rows - tables_count(to, table));
		for (uint32_t i = 0; i < table_infos[table].column_count && rows > 0; i++)
			memcpy(tables_column(to, table, i), tables_column(from, table, i),
			       rows * table_infos[table].columns[i].row_bytes);
	}
	return STATUS_OK;
}

void rollback_work_destroy(struct rollback_work *work)
{
	if (work == NULL)
		return;
	tables_release(&work->tables);
	ARRAY_RELEASE(&work->taken);
	ARRAY_RELEASE(&work->different);
	table_release(&work->checking.ids);
	arena_release(&work->checking.arena);
	heap_free(work);
}

/* The rows that a column may list: for a KEY and in a table without one all, else the taken ones.
 * NO_MEMORY. */
static enum status find_rows(const struct tables *tables, enum table_index table, bool all,
			     struct rollback_work *work)
{
	uint32_t rows = tables_count(tables, table);
	if (ARRAY_RESERVE(&work->taken, rows) != STATUS_OK ||
	    ARRAY_RESERVE(&work->different, rows) != STATUS_OK)
		return STATUS_NO_MEMORY;
	work->taken.count = 0;
	for (uint32_t row = 0; row < rows; row++)
		if (all || tables_key(tables, table, row) != 0)
			work->taken.items[work->taken.count++] = row;
	return STATUS_OK;
}

/* A column of the table at hand, here and in the base. */
struct coded_column {
	const struct column_info *info;
	uint8_t *here;
	const uint8_t *base;
	uint32_t base_rows; /* and a clear row behind them */
	uint32_t bytes;	    /* of a value */
	uint32_t values;    /* in a row */
};

static struct coded_column column_at(const struct tables *tables, const struct rollback_base *base,
				     enum table_index table, uint32_t index)
{
	const struct column_info *info = &table_infos[table].columns[index];
	uint32_t bytes = value_bytes(info);
	ASSERT(info->row_bytes % bytes == 0);
	return (struct coded_column){
		.info = info,
		.here = tables_column(tables, table, index),
		.base = tables_column(&base->tables, table, index),
		.base_rows = tables_count(&base->tables, table),
		.bytes = bytes,
		.values = (uint32_t)(info->row_bytes / bytes),
	};
}

static uint8_t *cell_here(const struct coded_column *column, uint32_t row)
{
	return column->here + (size_t)row * column->info->row_bytes;
}

static const uint8_t *cell_of_base(const struct coded_column *column, uint32_t row)
{
	return column->base + (size_t)MIN_OF(row, column->base_rows) * column->info->row_bytes;
}

/* ---- writing ---------------------------------------------------------------------------------- */

/* `out` has room. */
static void put_number(struct bytes *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		out->data[out->count++] = (uint8_t)(value | 0x80);
	out->data[out->count++] = (uint8_t)value;
}

/* Codes one value of `bytes` bytes; returns its code and moves *at behind what it wrote. */
static inline uint32_t put_value(uint64_t value, uint64_t base, uint32_t bytes, bool is_double,
				 uint8_t **at)
{
	uint64_t small = value;
	if (value == base)
		return CODE_BASE;
	if (value == 0)
		return CODE_ZERO;
	bool fits = is_double ? fits_float(value) : value >> (4 * bytes) == 0;
	if (bytes == 1 || !fits) {
		memcpy(*at, &value, bytes);
		*at += bytes;
		return CODE_WHOLE;
	}
	if (is_double)
		small = to_float(value);
	memcpy(*at, &small, bytes / 2);
	*at += bytes / 2;
	return CODE_HALF;
}

/* Writes codes and values of the rows; returns the end of the values. Called with constants for `bytes` and
 * `is_double`, so that each kind of column has its own loop. */
static inline uint8_t *put_rows(const struct coded_column *column, const uint32_t *rows,
				uint32_t count, uint8_t *code_at, uint8_t *at, uint32_t bytes,
				bool is_double)
{
	uint32_t group = 0, shift = 0, values = column->values;
	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *here = cell_here(column, rows[i]);
		const uint8_t *base = cell_of_base(column, rows[i]);
		for (uint32_t k = 0; k < values; k++) {
			uint64_t value = get_value(here + k * bytes, bytes);
			uint64_t old = get_value(base + k * bytes, bytes);
			group |= put_value(value, old, bytes, is_double, &at) << shift;
			shift += 2;
			if (shift == 8) {
				*code_at++ = (uint8_t)group;
				group = shift = 0;
			}
		}
	}
	if (shift > 0)
		*code_at = (uint8_t)group;
	return at;
}

static enum status put_values(const struct coded_column *column, const uint32_t *rows,
			      uint32_t count, struct bytes *out)
{
	uint64_t values = (uint64_t)count * column->values;
	size_t codes = (size_t)((values + 3) / 4);
	if (bytes_reserve(out, codes + (size_t)values * column->bytes) != STATUS_OK)
		return STATUS_NO_MEMORY;
	uint8_t *code_at = out->data + out->count, *at = code_at + codes;
	if (is_double(column->info))
		at = put_rows(column, rows, count, code_at, at, 8, true);
	else if (column->bytes == 8)
		at = put_rows(column, rows, count, code_at, at, 8, false);
	else if (column->bytes == 4)
		at = put_rows(column, rows, count, code_at, at, 4, false);
	else if (column->bytes == 2)
		at = put_rows(column, rows, count, code_at, at, 2, false);
	else
		at = put_rows(column, rows, count, code_at, at, 1, false);
	out->count = (size_t)(at - out->data);
	ASSERT(out->count <= out->capacity);
	return STATUS_OK;
}

/* Lists the rows that differ from the base in work->different, unless there are so many that to list all
 * rows is shorter; then returns false. */
static bool find_different(const struct coded_column *column, struct rollback_work *work)
{
	size_t bytes = column->info->row_bytes;
	uint64_t most = (uint64_t)work->taken.count * column->values / (column->values + 4);
	work->different.count = 0;
	for (uint32_t i = 0; i < work->taken.count; i++) {
		uint32_t row = work->taken.items[i];
		if (memcmp(cell_here(column, row), cell_of_base(column, row), bytes) == 0)
			continue;
		if (work->different.count == most)
			return false;
		work->different.items[work->different.count++] = row;
	}
	return true;
}

/* True if the rows that both have are equal and are all. */
static bool is_as_base(const struct coded_column *column, uint32_t rows)
{
	return rows == column->base_rows &&
	       (rows == 0 ||
		memcmp(column->here, column->base, rows * column->info->row_bytes) == 0);
}

/* Appends a column; *differs: it has a difference. */
static enum status encode_column(const struct coded_column *column, struct rollback_work *work,
				 struct bytes *out, bool *differs)
{
	bool some = find_different(column, work);
	*differs = !some || work->different.count > 0;
	if (!*differs)
		return STATUS_OK;
	if (!some) {
		if (bytes_reserve(out, 1) != STATUS_OK)
			return STATUS_NO_MEMORY;
		out->data[out->count++] = FORM_EACH;
		return put_values(column, work->taken.items, work->taken.count, out);
	}
	if (bytes_reserve(out, 1 + ((size_t)work->different.count + 1) * NUMBER_BYTES) != STATUS_OK)
		return STATUS_NO_MEMORY;
	out->data[out->count++] = FORM_SOME;
	put_number(out, work->different.count);
	for (uint32_t i = 0, next = 0; i < work->different.count; i++) {
		put_number(out, work->different.items[i] - next);
		next = work->different.items[i] + 1;
	}
	return put_values(column, work->different.items, work->different.count, out);
}

/* Of the mask of columns. */
enum { MASK_WORDS = (COLUMNS_MAX + 63) / 64 };
static uint32_t mask_words(const struct table_info *info)
{
	ASSERT(info->column_count > 0 && info->column_count <= COLUMNS_MAX);
	return (info->column_count + 63) / 64;
}

static enum status encode_table(const struct tables *tables, const struct rollback_base *base,
				enum table_index table, struct rollback_work *work,
				struct bytes *out)
{
	const struct table_info *info = &table_infos[table];
	uint32_t rows = tables_count(tables, table), key = tables_key_column(table);
	size_t start = out->count;
	uint64_t mask[MASK_WORDS] = { 0 };
	size_t mask_bytes = mask_words(info) * sizeof *mask;
	if (bytes_reserve(out, 1 + NUMBER_BYTES + sizeof mask) != STATUS_OK)
		return STATUS_NO_MEMORY;
	out->data[out->count++] = (uint8_t)info->number;
	put_number(out, rows);
	size_t mask_at = out->count;
	out->count += mask_bytes;
	bool all = true, found = false, some = false;
	for (uint32_t i = 0; i < info->column_count; i++) {
		struct coded_column column = column_at(tables, base, table, i);
		if (is_as_base(&column, rows))
			continue;
		/* The KEY is the first column, so the reader knows the taken rows when it reads others. */
		ASSERT(key == COLUMNS_MAX || key == 0);
		if (!found || all != (key == COLUMNS_MAX || i == key)) {
			all = key == COLUMNS_MAX || i == key;
			found = true;
			if (find_rows(tables, table, all, work) != STATUS_OK)
				return STATUS_NO_MEMORY;
		}
		bool differs;
		if (encode_column(&column, work, out, &differs) != STATUS_OK)
			return STATUS_NO_MEMORY;
		mask[i / 64] |= (uint64_t)differs << i % 64;
		some |= differs;
	}
	if (!some && rows == tables_count(&base->tables, table))
		out->count = start;
	else
		memcpy(out->data + mask_at, mask, mask_bytes);
	return STATUS_OK;
}

enum status rollback_encode(const struct tables *tables, const struct rollback_base *base,
			    struct rollback_work *work, struct bytes *out)
{
	size_t start = out->count;
	struct writer writer = writer_into(out);
	write_raw(&writer, MAGIC, MAGIC_BYTES);
	write_u64(&writer, base->number);
	enum status status = writer_status(&writer);
	for (uint32_t table = 0; table < TABLE_COUNT && status == STATUS_OK; table++)
		status = encode_table(tables, base, table, work, out);
	if (status == STATUS_OK) {
		write_u8(&writer, 0);
		uint64_t hash = hash64(out->data + start, out->count - start, 0);
		write_u64(&writer, hash);
		status = writer_status(&writer);
	}
	if (status != STATUS_OK)
		out->count = start;
	return status;
}

/* ---- reading ---------------------------------------------------------------------------------- */

#define BAD(...) reason_set(why, STATUS_CORRUPT, -1, "image", __VA_ARGS__)

static uint64_t read_number(struct reader *reader)
{
	uint64_t value = 0;
	for (uint32_t shift = 0; shift < 64; shift += 7) {
		uint8_t byte = read_u8(reader);
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
	reader->failed = true;
	return 0;
}

/* Reads a value of `code` from *at, which ends at `end`; false if it is cut off or the code is none of the
 * column's. */
static inline bool take_value(uint32_t code, uint64_t base, uint32_t bytes, bool is_double,
			      const uint8_t **at, const uint8_t *end, uint64_t *out)
{
	uint32_t size = code == CODE_HALF ? bytes / 2 : bytes;
	*out = code == CODE_BASE ? base : 0;
	if (code == CODE_BASE || code == CODE_ZERO)
		return true;
	if ((size_t)(end - *at) < size || size == 0)
		return false;
	*out = code == CODE_HALF ? get_value(*at, bytes / 2) : get_value(*at, bytes);
	*at += size;
	if (code == CODE_HALF && is_double)
		*out = from_float((uint32_t)*out);
	return true;
}

/* Reads the values of the rows; returns their end, NULL if they are cut off or a code is none. Called with
 * constants, as put_rows. */
static inline const uint8_t *take_rows(const struct coded_column *column, const uint32_t *rows,
				       uint32_t count, const uint8_t *code_at, const uint8_t *at,
				       const uint8_t *end, uint32_t bytes, bool is_double)
{
	uint32_t group = 0, shift = 8, values = column->values;
	for (uint32_t i = 0; i < count; i++) {
		uint8_t *here = cell_here(column, rows[i]);
		const uint8_t *base = cell_of_base(column, rows[i]);
		for (uint32_t k = 0; k < values; k++) {
			if (shift == 8) {
				group = *code_at++;
				shift = 0;
			}
			uint64_t old = get_value(base + k * bytes, bytes), value;
			if (!take_value(group >> shift & 3, old, bytes, is_double, &at, end,
					&value))
				return NULL;
			memcpy(here + k * bytes, &value, bytes);
			shift += 2;
		}
	}
	return at;
}

static bool take_values(const struct coded_column *column, const uint32_t *rows, uint32_t count,
			struct reader *reader)
{
	uint64_t values = (uint64_t)count * column->values;
	const uint8_t *code_at = reader_take(reader, (size_t)((values + 3) / 4));
	if (reader->failed)
		return false;
	const uint8_t *at = reader->data + reader->position, *end = reader->data + reader->count;
	if (is_double(column->info))
		at = take_rows(column, rows, count, code_at, at, end, 8, true);
	else if (column->bytes == 8)
		at = take_rows(column, rows, count, code_at, at, end, 8, false);
	else if (column->bytes == 4)
		at = take_rows(column, rows, count, code_at, at, end, 4, false);
	else if (column->bytes == 2)
		at = take_rows(column, rows, count, code_at, at, end, 2, false);
	else
		at = take_rows(column, rows, count, code_at, at, end, 1, false);
	if (at != NULL)
		reader->position = (size_t)(at - reader->data);
	return at != NULL;
}

/* Reads the rows of form SOME into work->different. */
static bool take_row_list(struct rollback_work *work, uint32_t rows, struct reader *reader)
{
	uint64_t count = read_number(reader), next = 0; /* next <= rows */
	if (reader->failed || count > rows || ARRAY_RESERVE(&work->different, count) != STATUS_OK)
		return false;
	work->different.count = (uint32_t)count;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t apart = read_number(reader);
		if (reader->failed || apart >= rows - next)
			return false;
		work->different.items[i] = (uint32_t)(next + apart);
		next += apart + 1;
	}
	return true;
}

static bool decode_column(const struct coded_column *column, struct rollback_work *work,
			  uint32_t rows, struct reader *reader)
{
	uint8_t form = read_u8(reader);
	if (reader->failed || form > FORM_SOME)
		return false;
	if (form == FORM_EACH)
		return take_values(column, work->taken.items, work->taken.count, reader);
	return take_row_list(work, rows, reader) &&
	       take_values(column, work->different.items, work->different.count, reader);
}

/* Makes the table as it is in the base, with `rows` rows. */
static enum status begin_table(struct tables *tables, const struct rollback_base *base,
			       enum table_index table, uint32_t rows)
{
	uint32_t common = MIN_OF(rows, tables_count(&base->tables, table));
	if (tables_reserve(tables, table, rows) != STATUS_OK)
		return STATUS_NO_MEMORY;
	tables_truncate(tables, table, MIN_OF(tables_count(tables, table), common));
	tables_insert(tables, table, tables_count(tables, table),
		      rows - tables_count(tables, table));
	for (uint32_t i = 0; i < table_infos[table].column_count && common > 0; i++)
		memcpy(tables_column(tables, table, i), tables_column(&base->tables, table, i),
		       common * table_infos[table].columns[i].row_bytes);
	return STATUS_OK;
}

/* Rows that are free here and not in the base. */
static void clear_freed_rows(struct tables *tables, const struct rollback_base *base,
			     enum table_index table)
{
	uint32_t common = MIN_OF(tables_count(tables, table), tables_count(&base->tables, table));
	for (uint32_t row = 0; row < common; row++)
		if (tables_key(tables, table, row) == 0 &&
		    tables_key(&base->tables, table, row) != 0)
			tables_clear_row(tables, table, row);
}

static enum status decode_columns(const struct rollback_base *base, enum table_index table,
				  const uint64_t mask[MASK_WORDS], struct rollback_work *work,
				  struct reader *reader, struct reason *why)
{
	struct tables *tables = &work->tables;
	const struct table_info *info = &table_infos[table];
	bool slots = tables_key_column(table) == 0;
	for (uint32_t i = 0; i < info->column_count; i++) {
		/* All rows for the first column; then, in a slot table, the taken ones. */
		if (i == 1 && slots)
			clear_freed_rows(tables, base, table);
		if (i == 0 || (i == 1 && slots))
			if (find_rows(tables, table, i == 0, work) != STATUS_OK)
				return reason_set(why, STATUS_NO_MEMORY, -1, "image", "%s",
						  status_text(STATUS_NO_MEMORY));
		struct coded_column column = column_at(tables, base, table, i);
		if ((mask[i / 64] >> i % 64 & 1) != 0 &&
		    !decode_column(&column, work, tables_count(tables, table), reader))
			return BAD("column %s.%s is cut off or has a row or a code that is none",
				   info->name, column.info->name);
	}
	return STATUS_OK;
}

static uint32_t find_table(uint8_t number)
{
	uint32_t table = 0;
	while (table < TABLE_COUNT && table_infos[table].number != number)
		table++;
	return table;
}

/* The rows that an image may claim: those of the base, or what the world in the image may hold. */
static bool rows_are_allowed(const struct tables *tables, const struct rollback_base *base,
			     enum table_index table, uint64_t rows)
{
	if (table == TABLE_WORLD || table == TABLE_PARAMETER)
		return rows == tables_count(&base->tables, table);
	if (rows <= tables_count(&base->tables, table))
		return true;
	uint64_t most = MAX_OF(tables->world.memory_max[0], base->charge);
	return rows < UINT32_MAX && rows * table_row_charge(table) <= most;
}

/* Reads the next table, of which `next` is the least. *done: there is none. */
static enum status decode_table(const struct rollback_base *base, uint32_t *next, bool *done,
				struct rollback_work *work, struct reader *reader,
				struct reason *why)
{
	uint8_t number = read_u8(reader);
	uint32_t table = number == 0 ? TABLE_COUNT : find_table(number);
	*done = number == 0 && !reader->failed;
	if (!*done && (table == TABLE_COUNT || table < *next))
		return BAD("table %u is unknown, or not after the one before", number);
	/* Tables that the image leaves out are as in the base. */
	for (; *next < table; (*next)++)
		if (begin_table(&work->tables, base, *next, tables_count(&base->tables, *next)) !=
		    STATUS_OK)
			return reason_set(why, STATUS_NO_MEMORY, -1, "image", "%s",
					  status_text(STATUS_NO_MEMORY));
	if (*done)
		return STATUS_OK;
	*next = table + 1;
	uint64_t rows = read_number(reader), mask[MASK_WORDS] = { 0 };
	const struct table_info *info = &table_infos[table];
	uint32_t words = mask_words(info), beyond = info->column_count % 64;
	for (uint32_t i = 0; i < words; i++)
		mask[i] = read_u64(reader);
	if (reader->failed || (beyond != 0 && mask[words - 1] >> beyond != 0))
		return BAD("the header of table %s is cut off or names a column that it lacks",
			   info->name);
	if (!rows_are_allowed(&work->tables, base, table, rows))
		return BAD("table %s has %llu rows: more than its world may have", info->name,
			   (unsigned long long)rows);
	if (begin_table(&work->tables, base, table, (uint32_t)rows) != STATUS_OK)
		return reason_set(why, STATUS_NO_MEMORY, -1, "image", "%s",
				  status_text(STATUS_NO_MEMORY));
	return decode_columns(base, table, mask, work, reader, why);
}

enum status rollback_decode(const struct rollback_base *base, const uint8_t *data, size_t bytes,
			    struct rollback_work *work, struct reason *why)
{
	if (bytes < MAGIC_BYTES + 2 * sizeof(uint64_t) + 1 || memcmp(data, MAGIC, MAGIC_BYTES) != 0)
		return BAD(
			"these %llu bytes are no rollback image: it is cut off or does not begin "
			"with " MAGIC,
			(unsigned long long)bytes);
	if (hash64(data, bytes - sizeof(uint64_t), 0) != get_le64(data + bytes - sizeof(uint64_t)))
		return BAD("the checksum does not match: the image is damaged");
	struct reader reader = reader_over(data, bytes - sizeof(uint64_t));
	(void)reader_take(&reader, MAGIC_BYTES);
	if (read_u64(&reader) != base->number)
		return BAD("the image is a difference against another base: restore it with the "
			   "base with which it was saved");
	enum status status = STATUS_OK;
	uint32_t next = 0;
	for (bool done = false; !done && status == STATUS_OK;)
		status = decode_table(base, &next, &done, work, &reader, why);
	if (status == STATUS_OK && reader_finish(&reader) != STATUS_OK)
		return BAD("there are bytes after the last table");
	return status;
}
