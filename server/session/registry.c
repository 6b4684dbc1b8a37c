/* See registry.h. */
#include "server/session/registry.h"

#include "server/session/session.h"

void registry_init(struct registry *self, uint32_t first_number)
{
	memset(self, 0, sizeof *self);
	table_init(&self->index);
	self->next_number = first_number;
}

void registry_release(struct registry *self)
{
	ARRAY_RELEASE(&self->items);
	table_release(&self->index);
}

enum status registry_add(struct registry *self, struct session *session, uint32_t *number)
{
	enum status status = ARRAY_RESERVE(&self->items, self->items.count + 1u);
	if (status == STATUS_OK)
		status = table_insert(&self->index, self->next_number, self->items.count);
	if (status != STATUS_OK)
		return status;
	self->items.items[self->items.count++] = session;
	self->opened++;
	*number = self->next_number++;
	return STATUS_OK;
}

enum status registry_restore(struct registry *self, struct session *session, uint32_t number)
{
	uint32_t next = self->next_number, ignored;
	if (table_find(&self->index, number, &ignored))
		return STATUS_EXISTS;
	self->next_number = number;
	enum status status = registry_add(self, session, &ignored);
	self->next_number = MAX_OF(next, self->next_number);
	return status;
}

void registry_remove(struct registry *self, uint32_t number)
{
	uint32_t at;
	if (!table_find(&self->index, number, &at))
		return;
	table_remove(&self->index, number);
	self->items.count--;
	self->closed++;
	/* The last session moves to the free place; its key is in the table, so the put needs no
	 * memory. */
	if (at < self->items.count) {
		struct session *last = self->items.items[self->items.count];
		self->items.items[at] = last;
		enum status status = table_put(&self->index, last->number, at);
		ASSERT(status == STATUS_OK);
	}
}

struct session *registry_find(const struct registry *self, uint32_t number)
{
	uint32_t at;
	return table_find(&self->index, number, &at) ? self->items.items[at] : NULL;
}
