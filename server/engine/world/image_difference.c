/* image_difference.c: the first difference of two images, reported as table, row, id and column. */
#include "server/engine/world/image.h"

#include <stdio.h>
#include <string.h>

/* One value as text. */
static void format_value(const void *at, uint8_t type, char *text, size_t bytes)
{
	const double *f = at;
	switch (type) {
	case COLUMN_U8:
		snprintf(text, bytes, "%u", *(const uint8_t *)at);
		return;
	case COLUMN_U16:
		snprintf(text, bytes, "%u", *(const uint16_t *)at);
		return;
	case COLUMN_U32:
		snprintf(text, bytes, "%u", *(const uint32_t *)at);
		return;
	case COLUMN_U64:
		snprintf(text, bytes, "%016llx", (unsigned long long)*(const uint64_t *)at);
		return;
	case COLUMN_I64:
		snprintf(text, bytes, "%lld", (long long)*(const int64_t *)at);
		return;
	case COLUMN_F32:
		snprintf(text, bytes, "%.9g", (double)*(const float *)at);
		return;
	case COLUMN_F64:
		snprintf(text, bytes, "%.17g", f[0]);
		return;
	default:
		text[0] = '\0'; /* vectors and rotations are reported by component, as F64 */
		return;
	}
}

static void describe_difference(const struct tables *a, const struct tables *b,
				enum table_index table, uint32_t column, uint32_t row,
				struct reason *difference)
{
	const struct column_info *info = &table_infos[table].columns[column];
	const char *x = (const char *)tables_column(a, table, column) + row * info->row_bytes;
	const char *y = (const char *)tables_column(b, table, column) + row * info->row_bytes;
	size_t size = info->row_bytes / info->length;
	uint32_t value = 0;
	while (value + 1 < info->length && memcmp(x + value * size, y + value * size, size) == 0)
		value++;
	char one[32], other[32], place[32] = "", body[32] = "";
	if (info->length > 1)
		snprintf(place, sizeof place, "[%u]", value);
	x += value * size;
	y += value * size;
	uint8_t type = info->type;
	if (type == COLUMN_VEC3 || type == COLUMN_QUAT) {
		/* The first component that differs. */
		uint32_t component = 0;
		while (memcmp(x, y, sizeof(double)) == 0) {
			x += sizeof(double);
			y += sizeof(double);
			component++;
		}
		snprintf(place + strlen(place), sizeof place - strlen(place), ".%c",
			 (type == COLUMN_VEC3 ? "xyz" : "wxyz")[component]);
		type = COLUMN_F64;
	}
	format_value(x, type, one, sizeof one);
	format_value(y, type, other, sizeof other);
	if (tables_body_of(a, table, row) != 0)
		snprintf(body, sizeof body, " (body %u)", tables_body_of(a, table, row));
	reason_set(difference, STATUS_DIVERGED, row, info->name,
		   "%s row %u%s, %s%s: first image %s, second %s", table_infos[table].name, row,
		   body, info->name, place, one, other);
}

/* Compares row by row, so the reported difference is in the first row that differs. */
static enum status compare_table(const struct tables *a, const struct tables *b,
				 enum table_index table, struct reason *difference)
{
	const struct table_info *info = &table_infos[table];
	uint32_t rows = MIN_OF(tables_count(a, table), tables_count(b, table));
	for (uint32_t row = 0; row < rows; row++) {
		for (uint32_t column = 0; column < info->column_count; column++) {
			size_t bytes = info->columns[column].row_bytes;
			const char *x = tables_column(a, table, column);
			const char *y = tables_column(b, table, column);
			if (memcmp(x + row * bytes, y + row * bytes, bytes) != 0 &&
			    !(info->columns[column].flags & COLUMN_UNHASHED)) {
				describe_difference(a, b, table, column, row, difference);
				return STATUS_DIVERGED;
			}
		}
	}
	if (tables_count(a, table) == tables_count(b, table))
		return STATUS_OK;
	return reason_set(difference, STATUS_DIVERGED, rows, "rows", "%s has %u rows against %u",
			  info->name, tables_count(a, table), tables_count(b, table));
}

enum status world_image_difference(const uint8_t *a, size_t a_bytes, const uint8_t *b,
				   size_t b_bytes, struct reason *difference)
{
	struct tables one, other;
	enum status status = image_read(a, a_bytes, &one, NULL, difference);
	if (status != STATUS_OK)
		return status;
	status = image_read(b, b_bytes, &other, NULL, difference);
	if (status != STATUS_OK) {
		tables_release(&one);
		return status;
	}
	for (uint32_t table = 0; table < TABLE_COUNT && status == STATUS_OK; table++)
		status = compare_table(&one, &other, table, difference);
	tables_release(&one);
	tables_release(&other);
	return status;
}
