/* labels.c: see labels.h. */
#include "server/engine/dynamics/labels.h"

#include <string.h>

enum status dynamics_label_reserve(struct dynamics *self, uint32_t rows)
{
	enum status status =
		tables_reserve(self->tables, TABLE_LABEL, self->tables->label.count + rows);
	return status == STATUS_OK ? bitset_reserve(&self->label_used, self->tables->label.capacity)
				   : status;
}

/* The column that names the row of the label. */
static uint32_t *label_of(struct tables *tables, enum label_kind kind, uint32_t row)
{
	ASSERT(row < (kind == LABEL_JOINT ? tables->joint.count : tables->body.count));
	return kind == LABEL_JOINT ? &tables->joint.label[row] : &tables->body.label[row];
}

void dynamics_label_set(struct dynamics *self, enum label_kind kind, uint32_t row, const char *text)
{
	struct tables *tables = self->tables;
	uint32_t *label = label_of(tables, kind, row);
	size_t bytes = strlen(text);
	ASSERT(bytes > 0 && bytes < sizeof tables->label.text[0]);
	if (*label == 0) {
		*label = tables_take_row(tables, TABLE_LABEL, &self->label_used) + 1;
		tables->label.owner[*label - 1] = label_owner(kind, row);
	}
	uint8_t *to = tables->label.text[*label - 1];
	ASSERT(tables->label.owner[*label - 1] == label_owner(kind, row));
	memset(to, 0, sizeof tables->label.text[0]);
	memcpy(to, text, bytes);
}

void dynamics_label_drop(struct dynamics *self, enum label_kind kind, uint32_t row)
{
	uint32_t *label = label_of(self->tables, kind, row);
	if (*label == 0)
		return;
	ASSERT(self->tables->label.owner[*label - 1] == label_owner(kind, row));
	tables_free_row(self->tables, TABLE_LABEL, *label - 1, &self->label_used, NULL);
	*label = 0;
}
