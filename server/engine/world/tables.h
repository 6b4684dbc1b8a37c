/* tables.h: fields.def as C: one struct of arrays for each table, and descriptors of all columns.
 *
 * `struct tables` owns the arrays; code reaches a value by column name and row index:
 * tables->body.velocity[row]. Arrays grow only in tables_reserve, and in a step only during its
 * prepare phase, because growth moves them.
 */
#ifndef CAIRN_ENGINE_WORLD_TABLES_H
#define CAIRN_ENGINE_WORLD_TABLES_H

#include "server/base/bitset.h"
#include "server/base/status.h"
#include "server/base/table.h"
#include "server/engine/math/quat.h"
#include "server/engine/math/vec3.h"

typedef uint8_t column_c_U8;
typedef uint16_t column_c_U16;
typedef uint32_t column_c_U32;
typedef uint64_t column_c_U64;
typedef int64_t column_c_I64;
typedef float column_c_F32;
typedef double column_c_F64;
typedef vec3 column_c_VEC3;
typedef quat column_c_QUAT;

enum column_type {
	COLUMN_U8,
	COLUMN_U16,
	COLUMN_U32,
	COLUMN_U64,
	COLUMN_I64,
	COLUMN_F32,
	COLUMN_F64,
	COLUMN_VEC3,
	COLUMN_QUAT,
};
enum column_flag {
	COLUMN_UNHASHED = 1,
	COLUMN_UNCHARGED = 2,
	COLUMN_KEY = 4,
	COLUMN_ID = 8,
	COLUMN_BODY = 16,
};

/* struct body_table { uint32_t count, capacity; uint32_t *id; … }; */
#define TABLE(number, NAME, name, doc)                                                             \
	struct name##_table {                                                                      \
		uint32_t count, capacity;
#define COLUMN(table, number, TYPE, name, flags, doc) column_c_##TYPE *name;
#define COLUMN_OF(table, number, TYPE, name, flags, absent, initial, doc) column_c_##TYPE *name;
#define COLUMN_ARRAY(table, number, TYPE, length, name, flags, doc) column_c_##TYPE(*name)[length];
#define END_TABLE(NAME, name)                                                                      \
	}                                                                                          \
	;
#include "server/engine/world/fields.def"

struct tables {
#define TABLE(number, NAME, name, doc) struct name##_table name;
#include "server/engine/world/fields.def"
	uint64_t bytes; /* memory held by the arrays */
};

enum table_index {
#define TABLE(number, NAME, name, doc) TABLE_##NAME,
#include "server/engine/world/fields.def"
	TABLE_COUNT,
};

enum { COLUMNS_MAX = 96 }; /* of one table */

struct column_info {
	const char *name, *doc;
	uint16_t number;
	uint8_t type;	 /* enum column_type */
	uint8_t flags;	 /* enum column_flag */
	uint32_t length; /* values a row */
	size_t row_bytes;
	double absent,
		initial; /* of every value; whole numbers within 2^53 where the type is one */
	size_t offset;	 /* of the array pointer, into the table's struct */
};
struct table_info {
	const char *name, *doc;
	uint16_t number;
	size_t offset; /* of the table, into struct tables; count and capacity come first */
	uint32_t column_count;
	const struct column_info *columns;
};
extern const struct table_info table_infos[TABLE_COUNT];

void tables_init(struct tables *tables);
void tables_release(struct tables *tables);
/* Makes room for `rows` rows; the world's limits are not checked. Pointers into the columns are
 * invalid afterwards. NO_MEMORY: rows and capacity are unchanged. */
MUST_CHECK enum status tables_reserve(struct tables *tables, enum table_index table, uint32_t rows);
uint32_t tables_count(const struct tables *tables, enum table_index table);
/* A column's array, borrowed until the table grows; NULL while it has no capacity. */
void *tables_column(const struct tables *tables, enum table_index table, uint32_t column);
/* Appends a clear row (`absent` in every column) within the reserved capacity; returns its
 * index. */
uint32_t tables_append(struct tables *tables, enum table_index table);
void tables_clear_row(struct tables *tables, enum table_index table, uint32_t row);
/* Sets every column of a row to `initial`. */
void tables_begin_row(struct tables *tables, enum table_index table, uint32_t row);
/* True if the row is clear; if not, *column is the first column with another value. */
bool tables_row_is_clear(const struct tables *tables, enum table_index table, uint32_t row,
			 uint32_t *column);
/* For tables without free rows: remove `rows` rows from `row` on; insert `rows` clear rows before
 * `row` (reserved); remove all rows from `rows` on; copy row `from` over row `to`. */
void tables_remove(struct tables *tables, enum table_index table, uint32_t row, uint32_t rows);
void tables_insert(struct tables *tables, enum table_index table, uint32_t row, uint32_t rows);
void tables_truncate(struct tables *tables, enum table_index table, uint32_t rows);
void tables_copy_row(struct tables *tables, enum table_index table, uint32_t to, uint32_t from);

/* ---- slot tables (tables_slots.c): those with a KEY ---- */

/* The column of the KEY; COLUMNS_MAX for a table of another kind. */
uint32_t tables_key_column(enum table_index table);
/* The KEY of a row; 0 if the row is free. */
uint32_t tables_key(const struct tables *tables, enum table_index table, uint32_t row);
/* Takes the lowest free row (reserved in the table and in `used`). The caller fills its columns,
 * the KEY first. */
uint32_t tables_take_row(struct tables *tables, enum table_index table, struct bitset *used);
/* Clears and frees the row, and removes its id from `index` (NULL for a table without ID). */
void tables_free_row(struct tables *tables, enum table_index table, uint32_t row,
		     struct bitset *used, struct table *index);
/* Enters every taken row into `used` and, by its ID, into `index` (or NULL); both are empty and
 * have room. */
void tables_find_rows(const struct tables *tables, enum table_index table, struct bitset *used,
		      struct table *index);
/* Checks that free rows are clear and that no ID is in two rows; `ids` (reset, with room) is
 * scratch. CORRUPT; `why` names the row and column. */
MUST_CHECK enum status tables_check_rows(const struct tables *tables, enum table_index table,
					 struct table *ids, struct reason *why);
/* Checks that `used` and `index` equal what tables_find_rows would make. CORRUPT; `why` names
 * the row. */
MUST_CHECK enum status tables_check_sets(const struct tables *tables, enum table_index table,
					 const struct bitset *used, const struct table *index,
					 struct reason *why);
/* The id of the body that a row belongs to, 0 if to none. */
uint32_t tables_body_of(const struct tables *tables, enum table_index table, uint32_t row);

/* Bytes of one row: the sum over all columns, and over those that memory_max counts. */
size_t table_row_bytes(enum table_index table);
size_t table_row_charge(enum table_index table);
/* The number that memory_max limits, in bytes: count × charge of a row, summed over all tables.
 * Rows are counted and not capacity, because capacity depends on history. So the number is a
 * function of the state, equal in every build with the same number of the core. */
uint64_t tables_charge(const struct tables *tables);
/* True if memory_max is not exceeded when `table` has `rows` rows. */
bool tables_fit(const struct tables *tables, enum table_index table, uint32_t rows);

/* Whether the table has a hashed column. */
bool table_is_hashed(enum table_index table);
/* XXH3-64 (seed 0) of a table: u32 rows, then, of each hashed column that does not hold `absent`
 * in every row, u32 number and the values, little-endian. Of the parameters: of each that is not
 * `absent`, u32 number and f64 value. 0 when the table is left out: it has no rows, no hashed
 * column, or no such parameter. */
uint64_t tables_hash(const struct tables *tables, enum table_index table);
/* The same for columns outside a struct tables: data[i] (any alignment) holds column i; NULL if
 * it is absent. */
uint64_t table_hash(enum table_index table, uint32_t rows, const void *const *data);
/* XXH3-64 of (u32 number, u64 hash) of each table that is not left out, in order. hashes[] is by
 * table_index. */
uint64_t table_hashes_join(const uint64_t hashes[TABLE_COUNT]);

#endif
