/* Tables: growth, rows, clearing and copying, bytes counted against the memory limit, hashes. */
#include "server/engine/world/tables.h"

#include "server/base/bytes.h"
#include "server/base/hash.h"
#include "server/base/heap.h"
#include "server/base/rng.h"
#include "server/engine/world/parameters.h"
#include "tests/lib/check_main.h"

#include <string.h>

static struct tables tables;

static void setup(void)
{
	tables_init(&tables);
}

static void teardown(void)
{
	tables_release(&tables);
}

static uint8_t *cell(enum table_index table, uint32_t column, uint32_t row)
{
	return (uint8_t *)tables_column(&tables, table, column) +
	       row * table_infos[table].columns[column].row_bytes;
}

/* Whether every value of a column is `absent`, value by value. */
static bool absent_everywhere(const struct column_info *info, const uint8_t *at, size_t bytes)
{
	size_t size = info->row_bytes / info->length;
	if (info->type == COLUMN_VEC3 || info->type == COLUMN_QUAT)
		size = sizeof(double);
	for (size_t k = 0; k < bytes; k += size) {
		uint64_t bits = 0;
		double f64;
		float f32;
		memcpy(&bits, at + k, size);
		memcpy(&f64, &bits, sizeof f64);
		memcpy(&f32, &bits, sizeof f32);
		if (info->type >= COLUMN_F64   ? f64 != info->absent || bits >> 63 != 0
		    : info->type == COLUMN_F32 ? (double)f32 != info->absent || bits >> 31 != 0
					       : bits != (uint64_t)(int64_t)info->absent)
			return false;
	}
	return true;
}

/* Sets one cell to its value in a clear row. */
static void clear_cell(enum table_index table, uint32_t column, uint32_t row)
{
	struct tables other;
	tables_init(&other);
	ck_assert_int_eq(tables_reserve(&other, table, 1), STATUS_OK);
	memcpy(cell(table, column, row), tables_column(&other, table, column),
	       table_infos[table].columns[column].row_bytes);
	if (table == TABLE_PARAMETER)
		tables.parameter.value[row] = parameter_entries[row].absent;
	tables_release(&other);
}

/* Rows with random bytes in every column. */
static void fill(enum table_index table, uint32_t rows, struct rng *rng)
{
	ck_assert_int_eq(tables_reserve(&tables, table, tables_count(&tables, table) + rows),
			 STATUS_OK);
	for (uint32_t i = 0; i < rows; i++) {
		uint32_t row = tables_append(&tables, table);
		for (uint32_t c = 0; c < table_infos[table].column_count; c++)
			for (size_t k = 0; k < table_infos[table].columns[c].row_bytes; k++)
				cell(table, c, row)[k] = (uint8_t)rng_u32(rng);
	}
}

START_TEST(numbers_ascend_and_sizes_are_those_of_their_types)
{
	static const size_t sizes[] = { 1, 2, 4, 8, 8, 4, 8, 24, 32 };
	for (uint32_t table = 0; table < TABLE_COUNT; table++) {
		const struct table_info *info = &table_infos[table];
		ck_assert(table == 0 || table_infos[table - 1].number < info->number);
		size_t bytes = 0;
		for (uint32_t c = 0; c < info->column_count; c++) {
			const struct column_info *column = &info->columns[c];
			ck_assert(c == 0 || info->columns[c - 1].number < column->number);
			ck_assert_uint_eq(column->row_bytes, sizes[column->type] * column->length);
			bytes += column->row_bytes;
		}
		ck_assert_uint_eq(bytes, table_row_bytes((enum table_index)table));
	}
	ck_assert_str_eq(table_infos[TABLE_BODY].name, "body");
}
END_TEST

START_TEST(new_rows_are_clear)
{
	struct rng rng = rng_seeded(check_seed());
	for (uint32_t table = 0; table < TABLE_COUNT; table++) {
		enum table_index t = (enum table_index)table;
		fill(t, 5, &rng);
		tables_truncate(&tables, t, 2);
		fill(t, 1, &rng);
		tables_remove(&tables, t, 0, 1);
		ck_assert_int_eq(tables_reserve(&tables, t, 40), STATUS_OK);
		while (tables_count(&tables, t) < 40) {
			uint32_t row = tables_append(&tables, t), column;
			for (uint32_t c = 0; c < table_infos[table].column_count; c++)
				ck_assert(absent_everywhere(
					&table_infos[table].columns[c], cell(t, c, row),
					table_infos[table].columns[c].row_bytes));
			ck_assert(tables_row_is_clear(&tables, t, row, &column));
		}
	}
}
END_TEST

START_TEST(rows_are_inserted_copied_removed_and_cleared)
{
	ck_assert_int_eq(tables_reserve(&tables, TABLE_PENDING, 10), STATUS_OK);
	for (uint64_t i = 0; i < 4; i++)
		tables.pending.due[tables_append(&tables, TABLE_PENDING)] = 10 + i;
	tables_insert(&tables, TABLE_PENDING, 1, 2);
	tables.pending.due[1] = 77;
	uint64_t wanted[] = { 10, 77, 0, 11, 12, 13 };
	ck_assert_uint_eq(tables.pending.count, 6);
	ck_assert_int_eq(memcmp(tables.pending.due, wanted, sizeof wanted), 0);
	tables_copy_row(&tables, TABLE_PENDING, 2, 5);
	ck_assert_uint_eq(tables.pending.due[2], 13);
	tables_remove(&tables, TABLE_PENDING, 0, 4);
	ck_assert_uint_eq(tables.pending.count, 2);
	ck_assert_uint_eq(tables.pending.due[0], 12);
	tables_clear_row(&tables, TABLE_PENDING, 0);
	ck_assert_uint_eq(tables.pending.due[0], 0);
	ck_assert_uint_eq(tables.pending.due[1], 13);
}
END_TEST

/* Whether a column of the table is hashed. */
static bool is_hashed(enum table_index table)
{
	return table != TABLE_VISUAL && table != TABLE_LABEL;
}

/* The hash by definition: over all bytes in one buffer. */
static uint64_t slow_hash(enum table_index table)
{
	struct bytes bytes = { 0 };
	struct writer writer = writer_into(&bytes);
	uint32_t rows = tables_count(&tables, table);
	if (rows == 0 || !is_hashed(table))
		return 0;
	if (table != TABLE_PARAMETER)
		write_u32(&writer, rows);
	for (uint32_t row = 0; table == TABLE_PARAMETER && row < rows; row++) {
		if (tables.parameter.value[row] == parameter_entries[row].absent)
			continue;
		write_u32(&writer, row);
		write_f64(&writer, tables.parameter.value[row]);
	}
	for (uint32_t c = 0; table != TABLE_PARAMETER && c < table_infos[table].column_count; c++) {
		const struct column_info *info = &table_infos[table].columns[c];
		size_t size = rows * info->row_bytes;
		if (info->flags & COLUMN_UNHASHED ||
		    absent_everywhere(info, cell(table, c, 0), size))
			continue;
		write_u32(&writer, info->number);
		write_raw(&writer, cell(table, c, 0), size);
	}
	uint64_t hash = bytes.count > 0 ? hash64(bytes.data, bytes.count, 0) : 0;
	bytes_release(&bytes);
	return hash;
}

START_TEST(a_hash_covers_the_row_count_and_the_columns_in_order)
{
	struct rng rng = rng_seeded(check_seed());
	for (uint32_t table = 0; table < TABLE_COUNT; table++) {
		fill((enum table_index)table, 7, &rng);
		ck_assert_uint_eq(tables_hash(&tables, (enum table_index)table),
				  slow_hash((enum table_index)table));
	}
}
END_TEST

START_TEST(columns_of_absent_values_are_left_out_of_the_hash)
{
	struct rng rng = rng_seeded(check_seed());
	for (uint32_t table = 0; table < TABLE_COUNT; table++) {
		enum table_index t = (enum table_index)table;
		ck_assert_uint_eq(tables_hash(&tables, t), 0);
		fill(t, 5, &rng);
		for (uint32_t c = 0; c < table_infos[table].column_count; c++) {
			/* First a column of absent values only, then with one other value. */
			const struct column_info *info = &table_infos[table].columns[c];
			for (uint32_t row = 0; row < 5; row++)
				clear_cell(t, c, row);
			ck_assert_uint_eq(tables_hash(&tables, t), slow_hash(t));
			uint64_t without = tables_hash(&tables, t);
			cell(t, c, 3)[0] ^= 1;
			ck_assert_int_eq(tables_hash(&tables, t) == without,
					 (info->flags & COLUMN_UNHASHED) != 0);
			ck_assert_uint_eq(tables_hash(&tables, t), slow_hash(t));
			cell(t, c, 3)[0] ^= 1;
		}
	}
}
END_TEST

START_TEST(every_hashed_byte_changes_the_hash_and_no_other_does)
{
	struct rng rng = rng_seeded(check_seed());
	uint32_t unhashed = 0;
	for (uint32_t table = 0; table < TABLE_COUNT; table++) {
		enum table_index t = (enum table_index)table;
		fill(t, 3, &rng);
		uint64_t before = tables_hash(&tables, t);
		for (uint32_t c = 0; c < table_infos[table].column_count; c++) {
			const struct column_info *column = &table_infos[table].columns[c];
			uint8_t *byte =
				cell(t, c, 1) + rng_below(&rng, (uint32_t)column->row_bytes);
			*byte ^= 1;
			bool same = tables_hash(&tables, t) == before;
			ck_assert_int_eq(same, (column->flags & COLUMN_UNHASHED) != 0);
			unhashed += same;
			*byte ^= 1;
		}
		ck_assert_uint_eq(tables_hash(&tables, t), before);
		ck_assert_int_eq(tables_reserve(&tables, t, 1000), STATUS_OK);
		ck_assert_uint_eq(tables_hash(&tables, t), before);
		(void)tables_append(&tables, t);
		/* One more row changes the hash; new parameters are not at their absent value. */
		ck_assert_int_eq(tables_hash(&tables, t) == before, !is_hashed(t));
	}
	/* The epoch, the edit, the kind of broad phase, colours, the first visual, the labels of
	 * bodies and joints; the tables of visuals and labels. */
	ck_assert_uint_eq(unhashed, 7 + table_infos[TABLE_VISUAL].column_count +
					    table_infos[TABLE_LABEL].column_count);
}
END_TEST

START_TEST(growth_without_memory_changes_nothing)
{
	struct rng rng = rng_seeded(check_seed());
	fill(TABLE_BODY, 4, &rng);
	uint64_t before = tables_hash(&tables, TABLE_BODY);
	for (uint64_t n = 1; n <= table_infos[TABLE_BODY].column_count; n++) {
		heap_fail_at(n);
		ck_assert_int_eq(tables_reserve(&tables, TABLE_BODY, 5000), STATUS_NO_MEMORY);
		heap_fail_at(0);
		ck_assert_uint_eq(tables_hash(&tables, TABLE_BODY), before);
		ck_assert_uint_lt(tables.body.capacity, 5000);
	}
	ck_assert_int_eq(tables_reserve(&tables, TABLE_BODY, 5000), STATUS_OK);
	ck_assert_uint_eq(tables_hash(&tables, TABLE_BODY), before);
}
END_TEST

START_TEST(the_memory_limit_counts_rows_in_use)
{
	struct rng rng = rng_seeded(check_seed());
	ck_assert_int_eq(tables_reserve(&tables, TABLE_WORLD, 1), STATUS_OK);
	(void)tables_append(&tables, TABLE_WORLD);
	fill(TABLE_BODY, 10, &rng);
	uint64_t used = table_row_charge(TABLE_WORLD) + 10 * table_row_charge(TABLE_BODY);
	ck_assert_uint_eq(tables_charge(&tables), used);
	tables.world.memory_max[0] = used + 3 * table_row_charge(TABLE_CONTACT);
	ck_assert(tables_fit(&tables, TABLE_CONTACT, 3));
	ck_assert(!tables_fit(&tables, TABLE_CONTACT, 4));
	ck_assert(tables_fit(&tables, TABLE_BODY, 10));
	ck_assert_int_eq(tables_reserve(&tables, TABLE_BODY, 1000), STATUS_OK);
	ck_assert(tables_fit(&tables, TABLE_CONTACT, 3));
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/world/tables");
	TCase *tcase = tcase_create("tables");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, numbers_ascend_and_sizes_are_those_of_their_types);
	tcase_add_test(tcase, new_rows_are_clear);
	tcase_add_test(tcase, rows_are_inserted_copied_removed_and_cleared);
	tcase_add_test(tcase, a_hash_covers_the_row_count_and_the_columns_in_order);
	tcase_add_test(tcase, columns_of_absent_values_are_left_out_of_the_hash);
	tcase_add_test(tcase, every_hashed_byte_changes_the_hash_and_no_other_does);
	tcase_add_test(tcase, growth_without_memory_changes_nothing);
	tcase_add_test(tcase, the_memory_limit_counts_rows_in_use);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
