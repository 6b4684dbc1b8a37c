/* tables.c: fields.def as memory.
 *
 * Descriptors are derived from the list by including it three times: columns of each table, tables,
 * and the sizes of what a pointer points to. Everything generic (growth, clearing, hashing, and in
 * other files snapshot and comparison) walks descriptors, so that a new column needs one line in
 * fields.def and no code.
 *
 * Invariant 1: rows at and past `count`, up to `capacity`, are clear; tables_append relies on it.
 * Numbers are kept little-endian on disk and in hashes; the processors we build for keep them so in
 * memory, and hashing may take a column as it lies.
 */
#include "server/engine/world/tables.h"

#include "server/base/hash.h"
#include "server/base/heap.h"
#include "server/base/inline.h"
#include "server/engine/world/parameters.h"

#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "columns are hashed as they lie");
_Static_assert(sizeof(vec3) == 24 && sizeof(quat) == 32, "values have no padding");

#define TABLE(number, NAME, name, doc) static const struct column_info name##_columns[] = {
#define COLUMN(table, number_, TYPE, name_, flags_, doc_)                                          \
	{ .name = #name_,                                                                          \
	  .doc = doc_,                                                                             \
	  .number = number_,                                                                       \
	  .type = COLUMN_##TYPE,                                                                   \
	  .flags = flags_,                                                                         \
	  .length = 1,                                                                             \
	  .row_bytes = sizeof(column_c_##TYPE),                                                    \
	  .offset = offsetof(struct table##_table, name_) },
#define COLUMN_OF(table, number_, TYPE, name_, flags_, absent_, initial_, doc_)                    \
	{ .name = #name_,                                                                          \
	  .doc = doc_,                                                                             \
	  .number = number_,                                                                       \
	  .type = COLUMN_##TYPE,                                                                   \
	  .flags = flags_,                                                                         \
	  .length = 1,                                                                             \
	  .row_bytes = sizeof(column_c_##TYPE),                                                    \
	  .absent = absent_,                                                                       \
	  .initial = initial_,                                                                     \
	  .offset = offsetof(struct table##_table, name_) },
#define COLUMN_ARRAY(table, number_, TYPE, length_, name_, flags_, doc_)                           \
	{ .name = #name_,                                                                          \
	  .doc = doc_,                                                                             \
	  .number = number_,                                                                       \
	  .type = COLUMN_##TYPE,                                                                   \
	  .flags = flags_,                                                                         \
	  .length = length_,                                                                       \
	  .row_bytes = sizeof(column_c_##TYPE) * (length_),                                        \
	  .offset = offsetof(struct table##_table, name_) },
#define END_TABLE(NAME, name)                                                                      \
	}                                                                                          \
	;
#include "server/engine/world/fields.def"

#define TABLE(number, NAME, name, doc)                                                             \
	_Static_assert(COUNT_OF(name##_columns) <= COLUMNS_MAX, "more than any table may have");
#include "server/engine/world/fields.def"

const struct table_info table_infos[TABLE_COUNT] = {
#define TABLE(number_, NAME, name_, doc_)                                                          \
	[TABLE_##NAME] = { .name = #name_,                                                         \
			   .doc = doc_,                                                            \
			   .number = number_,                                                      \
			   .offset = offsetof(struct tables, name_),                               \
			   .column_count = (uint32_t)COUNT_OF(name_##_columns),                    \
			   .columns = name_##_columns },
#include "server/engine/world/fields.def"
};

/* By table: bytes of a row that count against the limit, because each tick asks for them. */
static const uint32_t row_charges[TABLE_COUNT] = {
#define CHARGE(flags, bytes) +((flags)&COLUMN_UNCHARGED ? 0 : (uint32_t)(bytes))
#define TABLE(number, NAME, name, doc) [TABLE_##NAME] = 0
#define COLUMN(table, number, TYPE, name, flags, doc) CHARGE(flags, sizeof(column_c_##TYPE))
#define COLUMN_OF(table, number, TYPE, name, flags, absent, initial, doc)                          \
	CHARGE(flags, sizeof(column_c_##TYPE))
#define COLUMN_ARRAY(table, number, TYPE, length, name, flags, doc)                                \
	CHARGE(flags, (length) * sizeof(column_c_##TYPE))
#define END_TABLE(NAME, name) ,
#include "server/engine/world/fields.def"
#undef CHARGE
};

/* The first members of every table's struct. */
struct table_head {
	uint32_t count, capacity;
};

static struct table_head *head_of(const struct tables *tables, enum table_index table)
{
	ASSERT((uint32_t)table < TABLE_COUNT);
	return (struct table_head *)((char *)tables + table_infos[table].offset);
}

uint32_t tables_count(const struct tables *tables, enum table_index table)
{
	return head_of(tables, table)->count;
}

/* The address of a column's array pointer. */
static void *column_address(const struct tables *tables, enum table_index table, uint32_t column)
{
	return (char *)tables + table_infos[table].offset +
	       table_infos[table].columns[column].offset;
}

void *tables_column(const struct tables *tables, enum table_index table, uint32_t column)
{
	ASSERT(column < table_infos[table].column_count);
	void *array;
	memcpy(&array, column_address(tables, table, column), sizeof array);
	return array;
}

/* ---- values
 * ----------------------------------------------------------------------------------- */

/* Writes one value of a type in the form that it has in memory; returns its size in bytes.
 * Vectors and rotations are doubles. */
static size_t put_value(uint8_t type, double value, uint8_t at[sizeof(uint64_t)])
{
	ASSERT(type <= COLUMN_QUAT);
	uint64_t bits = (uint64_t)(int64_t)value;
	float single = (float)value;
	switch (type) {
	case COLUMN_U8:
	case COLUMN_U16:
	case COLUMN_U32:
	case COLUMN_U64:
	case COLUMN_I64:
		memcpy(at, &bits, sizeof bits);
		return type == COLUMN_I64 ? 8 : (size_t)1 << (type - COLUMN_U8);
	case COLUMN_F32:
		memcpy(at, &single, sizeof single);
		return sizeof single;
	default:
		memcpy(at, &value, sizeof value);
		return sizeof value;
	}
}

/* Sets every value in the `bytes` bytes at `at` to `value`. */
static void fill_values(const struct column_info *info, double value, char *at, size_t bytes)
{
	uint8_t one[sizeof(uint64_t)];
	size_t size = put_value(info->type, value, one);
	ASSERT(bytes % size == 0);
	if (value == 0)
		memset(at, 0, bytes);
	else
		for (size_t k = 0; k < bytes; k += size)
			memcpy(at + k, one, size);
}

/* Copies without a call where there are few bytes, as in most columns of small worlds. */
ALWAYS_INLINE void copy_few(void *to, const void *from, size_t bytes)
{
	switch (bytes) {
	case 1:
		memcpy(to, from, 1);
		return;
	case 2:
		memcpy(to, from, 2);
		return;
	case 4:
		memcpy(to, from, 4);
		return;
	case 8:
		memcpy(to, from, 8);
		return;
	case sizeof(vec3):
		memcpy(to, from, sizeof(vec3));
		return;
	default:
		memcpy(to, from, bytes);
	}
}

static bool is_zero(const char *at, size_t bytes)
{
	uint64_t word = 0;
	copy_few(&word, at, MIN_OF(bytes, sizeof word));
	return word == 0 &&
	       (bytes <= sizeof word || memcmp(at, at + sizeof word, bytes - sizeof word) == 0);
}

/* True if each value of the cell is the column's `absent`. */
static bool is_absent(const struct column_info *info, const char *at, size_t bytes)
{
	uint8_t one[sizeof(uint64_t)];
	if (info->absent == 0)
		return is_zero(at, bytes);
	size_t size = put_value(info->type, info->absent, one);
	ASSERT(bytes >= size && bytes % size == 0);
	return memcmp(at, one, size) == 0 && memcmp(at, at + size, bytes - size) == 0;
}

/* ---- rows
 * ------------------------------------------------------------------------------------- */

void tables_init(struct tables *tables)
{
	memset(tables, 0, sizeof *tables);
}

void tables_release(struct tables *tables)
{
	for (uint32_t table = 0; table < TABLE_COUNT; table++)
		for (uint32_t column = 0; column < table_infos[table].column_count; column++)
			heap_free(tables_column(tables, table, column));
	tables_init(tables);
}

size_t table_row_charge(enum table_index table)
{
	return row_charges[table];
}

size_t table_row_bytes(enum table_index table)
{
	size_t bytes = 0;
	for (uint32_t column = 0; column < table_infos[table].column_count; column++)
		bytes += table_infos[table].columns[column].row_bytes;
	return bytes;
}

/* A column that grew stays grown when a later one fails: `capacity` is raised only after the
 * last, and rows past it are clear either way. */
enum status tables_reserve(struct tables *tables, enum table_index table, uint32_t rows)
{
	struct table_head *head = head_of(tables, table);
	if (rows <= head->capacity)
		return STATUS_OK;
	uint64_t doubled = MIN_OF((uint64_t)head->capacity * 2, (uint64_t)UINT32_MAX);
	uint32_t room = (uint32_t)MAX_OF((uint64_t)rows, doubled);
	for (uint32_t column = 0; column < table_infos[table].column_count; column++) {
		size_t bytes = table_infos[table].columns[column].row_bytes;
		if (room > SIZE_MAX / bytes)
			return STATUS_NO_MEMORY;
		char *array = heap_realloc(tables_column(tables, table, column), room * bytes);
		if (array == NULL)
			return STATUS_NO_MEMORY;
		const struct column_info *info = &table_infos[table].columns[column];
		fill_values(info, info->absent, array + head->capacity * bytes,
			    (room - head->capacity) * bytes);
		memcpy(column_address(tables, table, column), &array, sizeof array);
	}
	tables->bytes += (uint64_t)(room - head->capacity) * table_row_bytes(table);
	head->capacity = room;
	ASSERT(head->count <= head->capacity && rows <= head->capacity);
	return STATUS_OK;
}

uint32_t tables_append(struct tables *tables, enum table_index table)
{
	struct table_head *head = head_of(tables, table);
	ASSERT(head->count < head->capacity);
	return head->count++;
}

static char *cell_address(const struct tables *tables, enum table_index table, uint32_t column,
			  uint32_t row)
{
	return (char *)tables_column(tables, table, column) +
	       row * table_infos[table].columns[column].row_bytes;
}

void tables_clear_row(struct tables *tables, enum table_index table, uint32_t row)
{
	ASSERT(row < head_of(tables, table)->count);
	for (uint32_t column = 0; column < table_infos[table].column_count; column++) {
		const struct column_info *info = &table_infos[table].columns[column];
		fill_values(info, info->absent, cell_address(tables, table, column, row),
			    info->row_bytes);
	}
}

void tables_begin_row(struct tables *tables, enum table_index table, uint32_t row)
{
	ASSERT(row < head_of(tables, table)->count);
	for (uint32_t column = 0; column < table_infos[table].column_count; column++) {
		const struct column_info *info = &table_infos[table].columns[column];
		fill_values(info, info->initial, cell_address(tables, table, column, row),
			    info->row_bytes);
	}
}

bool tables_row_is_clear(const struct tables *tables, enum table_index table, uint32_t row,
			 uint32_t *column)
{
	const struct table_info *info = &table_infos[table];
	ASSERT(row < head_of(tables, table)->capacity);
	for (*column = 0; *column < info->column_count; ++*column)
		if (!is_absent(&info->columns[*column], cell_address(tables, table, *column, row),
			       info->columns[*column].row_bytes))
			return false;
	return true;
}

void tables_remove(struct tables *tables, enum table_index table, uint32_t row, uint32_t rows)
{
	struct table_head *head = head_of(tables, table);
	ASSERT(row <= head->count && rows <= head->count - row);
	uint32_t kept = head->count - rows;
	for (uint32_t column = 0; column < table_infos[table].column_count && rows > 0; column++) {
		size_t bytes = table_infos[table].columns[column].row_bytes;
		char *array = tables_column(tables, table, column);
		memmove(array + row * bytes, array + ((size_t)row + rows) * bytes,
			(kept - row) * bytes);
		const struct column_info *info = &table_infos[table].columns[column];
		fill_values(info, info->absent, array + kept * bytes, rows * bytes);
	}
	head->count = kept;
}

void tables_insert(struct tables *tables, enum table_index table, uint32_t row, uint32_t rows)
{
	struct table_head *head = head_of(tables, table);
	ASSERT(row <= head->count && rows <= head->capacity - head->count);
	for (uint32_t column = 0; column < table_infos[table].column_count && rows > 0; column++) {
		size_t bytes = table_infos[table].columns[column].row_bytes;
		char *array = tables_column(tables, table, column);
		memmove(array + ((size_t)row + rows) * bytes, array + row * bytes,
			(head->count - row) * bytes);
		const struct column_info *info = &table_infos[table].columns[column];
		fill_values(info, info->absent, array + row * bytes, rows * bytes);
	}
	head->count += rows;
}

void tables_copy_row(struct tables *tables, enum table_index table, uint32_t to, uint32_t from)
{
	struct table_head *head = head_of(tables, table);
	ASSERT(to < head->count && from < head->count);
	for (uint32_t column = 0; column < table_infos[table].column_count && to != from;
	     column++) {
		size_t bytes = table_infos[table].columns[column].row_bytes;
		char *array = tables_column(tables, table, column);
		memcpy(array + to * bytes, array + from * bytes, bytes);
	}
}

void tables_truncate(struct tables *tables, enum table_index table, uint32_t rows)
{
	struct table_head *head = head_of(tables, table);
	ASSERT(rows <= head->count);
	for (uint32_t column = 0; column < table_infos[table].column_count && rows < head->count;
	     column++) {
		size_t bytes = table_infos[table].columns[column].row_bytes;
		char *array = tables_column(tables, table, column);
		const struct column_info *info = &table_infos[table].columns[column];
		fill_values(info, info->absent, array + rows * bytes, (head->count - rows) * bytes);
	}
	head->count = rows;
}

/* ---- the limit ----------------------------------------------------------------------------------- */

uint64_t tables_charge(const struct tables *tables)
{
	uint64_t bytes = 0;
	for (uint32_t table = 0; table < TABLE_COUNT; table++) {
		uint32_t rows = head_of(tables, table)->count;
		if (rows == 0) /* most, and this is asked in each tick */
			continue;
		if (table == TABLE_PARAMETER)
			rows = MIN_OF(rows, (uint32_t)PARAMETERS_CHARGED);
		bytes += (uint64_t)rows * table_row_charge(table);
	}
	return bytes;
}

bool tables_fit(const struct tables *tables, enum table_index table, uint32_t rows)
{
	ASSERT(tables->world.count == 1);
	uint32_t more = rows - MIN_OF(rows, head_of(tables, table)->count);
	return tables_charge(tables) + (uint64_t)more * table_row_charge(table) <=
	       tables->world.memory_max[0];
}

/* ---- hashes
 * ----------------------------------------------------------------------------------- */

/* Bytes to be hashed: few are gathered, because they are hashed faster at once than in pieces. */
struct gathered {
	uint8_t few[1024];
	size_t count; /* in `few` */
	bool many;    /* others are in the hasher */
	struct hasher hasher;
};

static void gather_begin(struct gathered *self)
{
	self->count = 0;
	self->many = false;
}

static void gather_flush(struct gathered *self)
{
	if (!self->many)
		hasher_init(&self->hasher, 0);
	self->many = true;
	hasher_update(&self->hasher, self->few, self->count);
	self->count = 0;
}

static void gather_many(struct gathered *self, const void *data, size_t bytes)
{
	gather_flush(self);
	if (bytes > sizeof self->few) {
		hasher_update(&self->hasher, data, bytes);
		return;
	}
	memcpy(self->few, data, bytes);
	self->count = bytes;
}

ALWAYS_INLINE void gather(struct gathered *self, const void *data, size_t bytes)
{
	if (bytes > sizeof self->few - self->count) {
		gather_many(self, data, bytes);
		return;
	}
	copy_few(self->few + self->count, data, bytes);
	self->count += bytes;
}

ALWAYS_INLINE void gather_u32(struct gathered *self, uint32_t value)
{
	gather(self, &value, sizeof value);
}

static uint64_t gather_hash(struct gathered *self)
{
	if (!self->many)
		return hash64(self->few, self->count, 0);
	gather_flush(self);
	return hasher_digest(&self->hasher);
}

static uint64_t parameters_hash(uint32_t rows, const uint8_t *values)
{
	struct gathered all;
	bool any = false;
	gather_begin(&all);
	for (uint32_t row = 0; row < rows && values != NULL; row++) {
		const uint8_t *value = values + row * sizeof(double);
		double absent = row < PARAMETER_COUNT ? parameter_entries[row].absent : 0;
		if (memcmp(value, &absent, sizeof absent) == 0)
			continue;
		gather_u32(&all, row);
		gather(&all, value, sizeof absent);
		any = true;
	}
	return any ? gather_hash(&all) : 0;
}

bool table_is_hashed(enum table_index table)
{
	bool hashed = false;
	for (uint32_t column = 0; column < table_infos[table].column_count && !hashed; column++)
		hashed = !(table_infos[table].columns[column].flags & COLUMN_UNHASHED);
	return hashed;
}

/* Adds a column with `bytes` bytes, unless it is left out. */
ALWAYS_INLINE void gather_column(struct gathered *self, const struct column_info *info,
				 const void *data, size_t bytes)
{
	if (info->flags & COLUMN_UNHASHED || data == NULL || is_absent(info, data, bytes))
		return;
	gather_u32(self, info->number);
	gather(self, data, bytes);
}

uint64_t table_hash(enum table_index table, uint32_t rows, const void *const *data)
{
	const struct table_info *info = &table_infos[table];
	struct gathered all;
	if (table == TABLE_PARAMETER)
		return parameters_hash(rows, data[0]);
	if (rows == 0 || !table_is_hashed(table))
		return 0;
	gather_begin(&all);
	gather_u32(&all, rows);
	for (uint32_t column = 0; column < info->column_count; column++)
		gather_column(&all, &info->columns[column], data[column],
			      rows * info->columns[column].row_bytes);
	return gather_hash(&all);
}

uint64_t tables_hash(const struct tables *tables, enum table_index table)
{
	const void *data[COLUMNS_MAX];
	if (head_of(tables, table)->count == 0 && table != TABLE_PARAMETER) /* most */
		return 0;
	for (uint32_t column = 0; column < table_infos[table].column_count; column++)
		data[column] = tables_column(tables, table, column);
	return table_hash(table, head_of(tables, table)->count, data);
}

uint64_t table_hashes_join(const uint64_t hashes[TABLE_COUNT])
{
	struct gathered all;
	gather_begin(&all);
	for (uint32_t table = 0; table < TABLE_COUNT; table++) {
		if (hashes[table] == 0)
			continue;
		gather_u32(&all, table_infos[table].number);
		gather(&all, &hashes[table], sizeof hashes[table]);
	}
	return gather_hash(&all);
}
