/* tables_slots.c: slot tables: taking, freeing and finding rows, by the flags of their columns.
 *
 * A slot table has one KEY. Invariant 1: a row whose KEY is 0 is clear. Invariant 2: of two taken
 * rows with a KEY that is an ID, the IDs differ. Invariant 3: the next row taken is the lowest that
 * is free; so the row that a new item gets is a function of the table's
 * present contents.
 */
#include "server/engine/world/tables.h"

#include <string.h>

uint32_t tables_key_column(enum table_index table)
{
	const struct table_info *info = &table_infos[table];
	for (uint32_t column = 0; column < info->column_count; column++)
		if (info->columns[column].flags & COLUMN_KEY)
			return column;
	return COLUMNS_MAX;
}

static uint32_t column_value(const struct tables *tables, enum table_index table, uint32_t column,
			     uint32_t row)
{
	const void *values = tables_column(tables, table, column);
	if (table_infos[table].columns[column].type == COLUMN_U8)
		return ((const uint8_t *)values)[row];
	ASSERT(table_infos[table].columns[column].type == COLUMN_U32);
	return ((const uint32_t *)values)[row];
}

uint32_t tables_key(const struct tables *tables, enum table_index table, uint32_t row)
{
	uint32_t column = tables_key_column(table);
	ASSERT(column < COLUMNS_MAX && row < tables_count(tables, table));
	return column_value(tables, table, column, row);
}

uint32_t tables_take_row(struct tables *tables, enum table_index table, struct bitset *used)
{
	uint32_t row = bitset_lowest_clear(used);
	if (row >= tables_count(tables, table)) {
		uint32_t appended = tables_append(tables, table);
		ASSERT(appended == row);
	}
	ASSERT(tables_key(tables, table, row) == 0);
	bitset_set(used, row);
	return row;
}

void tables_free_row(struct tables *tables, enum table_index table, uint32_t row,
		     struct bitset *used, struct table *index)
{
	if (index != NULL)
		table_remove(index, tables_key(tables, table, row));
	bitset_clear(used, row);
	tables_clear_row(tables, table, row);
}

void tables_find_rows(const struct tables *tables, enum table_index table, struct bitset *used,
		      struct table *index)
{
	for (uint32_t row = 0; row < tables_count(tables, table); row++) {
		uint32_t key = tables_key(tables, table, row);
		if (key == 0)
			continue;
		bitset_set(used, row);
		enum status status = index != NULL ? table_insert(index, key, row) : STATUS_OK;
		ASSERT(status == STATUS_OK);
	}
}

static enum status report_broken_row(enum table_index table, uint32_t row, uint32_t column,
				     const char *what, struct reason *why)
{
	const char *name = table_infos[table].columns[column].name;
	return reason_set(why, STATUS_CORRUPT, row, name, "%s row %u: %s %s",
			  table_infos[table].name, row, name, what);
}

enum status tables_check_rows(const struct tables *tables, enum table_index table,
			      struct table *ids, struct reason *why)
{
	uint32_t key = tables_key_column(table), column;
	bool by_id = (table_infos[table].columns[key].flags & COLUMN_ID) != 0;
	for (uint32_t row = 0; row < tables_count(tables, table); row++) {
		uint32_t value = tables_key(tables, table, row);
		if (value == 0 && !tables_row_is_clear(tables, table, row, &column))
			return report_broken_row(table, row, column, "is not clear in a free row",
						 why);
		if (value != 0 && by_id && table_insert(ids, value, row) != STATUS_OK)
			return report_broken_row(table, row, key, "is in two rows", why);
	}
	return STATUS_OK;
}

enum status tables_check_sets(const struct tables *tables, enum table_index table,
			      const struct bitset *used, const struct table *index,
			      struct reason *why)
{
	uint32_t column = tables_key_column(table);
	for (uint32_t row = 0; row < tables_count(tables, table); row++) {
		uint32_t key = tables_key(tables, table, row), found = UINT32_MAX;
		if ((key != 0) != bitset_get(used, row))
			return report_broken_row(table, row, column,
						 "and the set of taken rows differ", why);
		if (key != 0 && index != NULL && (!table_find(index, key, &found) || found != row))
			return report_broken_row(table, row, column, "is not found", why);
	}
	return STATUS_OK;
}

uint32_t tables_body_of(const struct tables *tables, enum table_index table, uint32_t row)
{
	const struct table_info *info = &table_infos[table];
	uint32_t body = table == TABLE_BODY ? row : UINT32_MAX;
	for (uint32_t column = 0; column < info->column_count; column++)
		if (info->columns[column].flags & COLUMN_BODY)
			body = column_value(tables, table, column, row) -
			       (info->columns[column].flags & COLUMN_KEY ? 1u : 0u);
	return body < tables->body.count ? tables->body.id[body] : 0;
}
