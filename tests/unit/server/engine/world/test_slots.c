/* The rules of all slot tables: the lowest free row is taken, free rows are clear, ids are unique. */
#include "server/engine/world/tables.h"

#include "server/base/rng.h"
#include "tests/lib/check_main.h"

#include <string.h>

enum { ROWS = 40, STEPS = 600 };

static struct tables tables;
static struct bitset used;
static struct table index_of, ids;

static void setup(void)
{
	tables_init(&tables);
	bitset_init(&used);
	table_init(&index_of);
	table_init(&ids);
	ck_assert_int_eq(bitset_reserve(&used, ROWS), STATUS_OK);
	ck_assert_int_eq(table_reserve(&index_of, ROWS), STATUS_OK);
	ck_assert_int_eq(table_reserve(&ids, ROWS), STATUS_OK);
}

static void teardown(void)
{
	tables_release(&tables);
	bitset_release(&used);
	table_release(&index_of);
	table_release(&ids);
}

static const struct column_info *key_of(enum table_index table)
{
	uint32_t column = tables_key_column(table);
	return column < COLUMNS_MAX ? &table_infos[table].columns[column] : NULL;
}

static void put_key(enum table_index table, uint32_t row, uint32_t key)
{
	uint32_t column = tables_key_column(table);
	void *values = tables_column(&tables, table, column);
	if (table_infos[table].columns[column].type == COLUMN_U8)
		((uint8_t *)values)[row] = key != 0;
	else
		((uint32_t *)values)[row] = key;
}

/* Takes and frees rows at random and compares them with a plain array. */
static void take_and_free(enum table_index table, struct rng *rng)
{
	bool by_id = (key_of(table)->flags & COLUMN_ID) != 0, taken[ROWS] = { false };
	uint32_t next = 1;
	ck_assert_int_eq(tables_reserve(&tables, table, ROWS), STATUS_OK);
	for (uint32_t step = 0; step < STEPS; step++) {
		uint32_t row = rng_below(rng, ROWS);
		if (taken[row]) {
			tables_free_row(&tables, table, row, &used, by_id ? &index_of : NULL);
			taken[row] = false;
			continue;
		}
		uint32_t lowest = 0;
		while (lowest < ROWS && taken[lowest])
			lowest++;
		if (lowest == ROWS)
			continue;
		ck_assert_uint_eq(tables_take_row(&tables, table, &used), lowest);
		put_key(table, lowest, next);
		if (by_id)
			ck_assert_int_eq(table_insert(&index_of, next, lowest), STATUS_OK);
		taken[lowest] = true;
		next++;
	}
	for (uint32_t row = 0; row < tables_count(&tables, table); row++)
		ck_assert_int_eq(tables_key(&tables, table, row) != 0, taken[row]);
}

START_TEST(the_lowest_free_row_is_taken_and_the_sets_can_be_rebuilt)
{
	struct rng rng = rng_seeded(check_seed());
	uint32_t kinds = 0;
	for (uint32_t t = 0; t < TABLE_COUNT; t++) {
		enum table_index table = (enum table_index)t;
		if (key_of(table) == NULL)
			continue;
		kinds++;
		teardown();
		setup();
		take_and_free(table, &rng);
		bool by_id = (key_of(table)->flags & COLUMN_ID) != 0;
		struct reason why;
		ck_assert_int_eq(tables_check_rows(&tables, table, &ids, &why), STATUS_OK);
		ck_assert_int_eq(
			tables_check_sets(&tables, table, &used, by_id ? &index_of : NULL, &why),
			STATUS_OK);
		struct bitset again;
		bitset_init(&again);
		ck_assert_int_eq(bitset_reserve(&again, ROWS), STATUS_OK);
		table_reset(&index_of);
		tables_find_rows(&tables, table, &again, by_id ? &index_of : NULL);
		for (uint32_t row = 0; row < ROWS; row++)
			ck_assert_int_eq(bitset_get(&again, row), bitset_get(&used, row));
		ck_assert_int_eq(
			tables_check_sets(&tables, table, &again, by_id ? &index_of : NULL, &why),
			STATUS_OK);
		bitset_release(&again);
	}
	ck_assert_uint_eq(kinds, 12);
}
END_TEST

START_TEST(a_violation_of_the_rules_is_reported_with_row_and_column)
{
	struct reason why;
	for (uint32_t t = 0; t < TABLE_COUNT; t++) {
		enum table_index table = (enum table_index)t;
		if (key_of(table) == NULL)
			continue;
		teardown();
		setup();
		ck_assert_int_eq(tables_reserve(&tables, table, ROWS), STATUS_OK);
		for (uint32_t row = 0; row < 3; row++)
			put_key(table, tables_take_row(&tables, table, &used), row + 5);
		/* A free row that is not clear. */
		uint32_t last = table_infos[table].column_count - 1;
		const struct column_info *column = &table_infos[table].columns[last];
		tables_free_row(&tables, table, 1, &used, NULL);
		uint8_t *cell = (uint8_t *)tables_column(&tables, table, last) + column->row_bytes;
		cell[0] ^= 1;
		ck_assert_int_eq(tables_check_rows(&tables, table, &ids, &why), STATUS_CORRUPT);
		ck_assert_str_eq(why.field, column->name);
		ck_assert_int_eq(why.index, 1);
		cell[0] ^= 1;
		/* A taken row that is not in the set, and a free row in the set. */
		put_key(table, 1, 6);
		ck_assert_int_eq(tables_check_sets(&tables, table, &used, NULL, &why),
				 STATUS_CORRUPT);
		ck_assert_int_eq(why.index, 1);
		put_key(table, 1, 0);
		bitset_set(&used, 1);
		ck_assert_int_eq(tables_check_sets(&tables, table, &used, NULL, &why),
				 STATUS_CORRUPT);
		bitset_clear(&used, 1);
		if (!(key_of(table)->flags & COLUMN_ID))
			continue;
		/* An id in two rows, and an id that the index lacks. */
		put_key(table, 1, 7);
		table_reset(&ids);
		ck_assert_int_eq(tables_check_rows(&tables, table, &ids, &why), STATUS_CORRUPT);
		ck_assert_int_eq(why.index, 2);
		put_key(table, 1, 0);
		ck_assert_int_eq(tables_check_sets(&tables, table, &used, &index_of, &why),
				 STATUS_CORRUPT);
		ck_assert_int_eq(why.index, 0);
	}
}
END_TEST

START_TEST(a_row_gives_the_body_it_belongs_to)
{
	ck_assert_int_eq(tables_reserve(&tables, TABLE_BODY, 4), STATUS_OK);
	ck_assert_int_eq(tables_reserve(&tables, TABLE_PLACEMENT, 4), STATUS_OK);
	ck_assert_int_eq(tables_reserve(&tables, TABLE_DRIVE, 4), STATUS_OK);
	for (uint32_t row = 0; row < 3; row++)
		tables.body.id[tables_append(&tables, TABLE_BODY)] = 10 + row;
	tables.placement.body[tables_append(&tables, TABLE_PLACEMENT)] = 2; /* row 1, plus one */
	(void)tables_append(&tables, TABLE_PLACEMENT);
	tables.drive.body[tables_append(&tables, TABLE_DRIVE)] = 2;
	ck_assert_uint_eq(tables_body_of(&tables, TABLE_BODY, 2), 12);
	ck_assert_uint_eq(tables_body_of(&tables, TABLE_PLACEMENT, 0), 11);
	ck_assert_uint_eq(tables_body_of(&tables, TABLE_PLACEMENT, 1), 0);
	ck_assert_uint_eq(tables_body_of(&tables, TABLE_DRIVE, 0), 12);
	ck_assert_uint_eq(tables_body_of(&tables, TABLE_WORLD, 0), 0);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/world/slots");
	TCase *tcase = tcase_create("slots");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, the_lowest_free_row_is_taken_and_the_sets_can_be_rebuilt);
	tcase_add_test(tcase, a_violation_of_the_rules_is_reported_with_row_and_column);
	tcase_add_test(tcase, a_row_gives_the_body_it_belongs_to);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
