/* tables.h: fields.def as C: one struct of arrays per table, and the table that describes them.
 *
 * The arrays are owned by `struct tables`; rows are reached by index, columns by name:
 * tables->body.velocity[row]. Growth happens in one place (tables_reserve) and never inside a step
 * after its prepare phase.
 */
#ifndef CAIRN_ENGINE_WORLD_TABLES_H
#define CAIRN_ENGINE_WORLD_TABLES_H

#include "server/base/status.h"
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
enum { COLUMN_UNHASHED = 1 };

/* struct body_table { uint32_t count, capacity; uint32_t *id; … }; */
#define TABLE(number, NAME, name, doc)    \
	struct name##_table {             \
		uint32_t count, capacity;
#define COLUMN(table, number, TYPE, name, flags, doc) column_c_##TYPE *name;
#define COLUMN_ARRAY(table, number, TYPE, length, name, flags, doc) column_c_##TYPE (*name)[length];
#define END_TABLE(NAME, name) \
	}                     \
	;
#include "server/engine/world/fields.def"
#undef TABLE
#undef COLUMN
#undef COLUMN_ARRAY
#undef END_TABLE

struct tables {
#define TABLE(number, NAME, name, doc) struct name##_table name;
#define COLUMN(table, number, TYPE, name, flags, doc)
#define COLUMN_ARRAY(table, number, TYPE, length, name, flags, doc)
#define END_TABLE(NAME, name)
#include "server/engine/world/fields.def"
#undef TABLE
#undef COLUMN
#undef COLUMN_ARRAY
#undef END_TABLE
	uint64_t bytes; /* memory held by the arrays */
};

enum table_index {
#define TABLE(number, NAME, name, doc) TABLE_##NAME,
#define COLUMN(table, number, TYPE, name, flags, doc)
#define COLUMN_ARRAY(table, number, TYPE, length, name, flags, doc)
#define END_TABLE(NAME, name)
#include "server/engine/world/fields.def"
#undef TABLE
#undef COLUMN
#undef COLUMN_ARRAY
#undef END_TABLE
	TABLE_COUNT,
};

enum { COLUMNS_MAX = 64 }; /* of one table */

struct column_info {
	const char *name, *doc;
	uint16_t number;
	uint8_t type;	/* enum column_type */
	uint8_t flags;	/* COLUMN_UNHASHED */
	uint32_t length; /* values a row */
	size_t row_bytes;
	size_t offset; /* of the array pointer, into the table's struct */
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
/* Makes room for `rows` rows; new memory is zero. Existing pointers into the columns are void after.
 * NO_MEMORY: nothing changed. Limits are not its business. */
MUST_CHECK enum status tables_reserve(struct tables *tables, enum table_index table, uint32_t rows);
uint32_t tables_count(const struct tables *tables, enum table_index table);
/* A column's array, borrowed until the table grows; NULL while it has no capacity. */
void *tables_column(const struct tables *tables, enum table_index table, uint32_t column);
/* Appends a zeroed row within the reserved capacity; returns its index. */
uint32_t tables_append(struct tables *tables, enum table_index table);
/* Sets every column of a row to zero. */
void tables_clear_row(struct tables *tables, enum table_index table, uint32_t row);
/* For tables whose rows move up: takes the first `rows` away, puts zeroed ones in before `row`
 * (reserved), takes all from row `rows` on away, copies a row over another. */
void tables_remove_first(struct tables *tables, enum table_index table, uint32_t rows);
void tables_insert(struct tables *tables, enum table_index table, uint32_t row, uint32_t rows);
void tables_truncate(struct tables *tables, enum table_index table, uint32_t rows);
void tables_copy_row(struct tables *tables, enum table_index table, uint32_t to, uint32_t from);
/* Bytes of one row: the sum over its columns. */
size_t table_row_bytes(enum table_index table);
/* Bytes of the rows in use (count × bytes of a row, over all tables): what the limit memory_max is held
 * against, because it is a function of the state alone; capacity depends on history. */
uint64_t tables_row_bytes(const struct tables *tables);
/* Whether the limit is kept when `table` has `rows` rows. */
bool tables_fit(const struct tables *tables, enum table_index table, uint32_t rows);
/* XXH3-64 of a table: its row count and every hashed column, little-endian, in order of numbers. */
uint64_t tables_hash(const struct tables *tables, enum table_index table);

#endif
