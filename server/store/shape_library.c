/* See shape_library.h. Shapes are found by the first eight bytes of their names, then by all of them. */
#include "server/store/shape_library.h"

#include <string.h>

#include "server/base/array.h"

/* Entries whose names share their first eight bytes form a list through `older`; only a forged name
 * makes such a list longer than one entry. */
struct shape_library_entry {
	struct shape *shape;
	uint32_t older; /* index + 1, 0 none */
};

static uint64_t name_key(const uint8_t name[SHAPE_NAME_BYTES])
{
	return get_le64(name);
}

void shape_library_init(struct shape_library *self)
{
	memset(self, 0, sizeof *self);
	table_init(&self->index);
}

void shape_library_release(struct shape_library *self)
{
	for (uint32_t i = 0; i < self->count; i++)
		shape_release(self->entries[i].shape);
	heap_free(self->entries);
	table_release(&self->index);
	memset(self, 0, sizeof *self);
}

/* The array has room for it. */
static enum status append_shape(struct shape_library *self, struct shape *shape)
{
	uint32_t older = 0;
	if (table_find(&self->index, name_key(shape->name), &older))
		older++;
	enum status status = table_put(&self->index, name_key(shape->name), self->count);
	if (status != STATUS_OK)
		return status;
	self->entries[self->count++] = (struct shape_library_entry){ shape, older };
	self->bytes += shape->memory_bytes;
	return STATUS_OK;
}

enum status shape_library_add(struct shape_library *self, const struct shape *shape)
{
	if (shape_library_find(self, shape->name) != NULL)
		return STATUS_EXISTS;
	enum status status = array_reserve(&self->entries, &self->capacity,
					   (uint64_t)self->count + 1, sizeof *self->entries);
	if (status == STATUS_OK)
		status = append_shape(self, (struct shape *)shape);
	if (status == STATUS_OK)
		shape_retain(shape);
	return status;
}

void shape_library_trim(struct shape_library *self, uint64_t bytes)
{
	uint32_t count = self->count;
	uint64_t held = self->bytes;
	if (held <= bytes)
		return;
	/* All remaining shapes are inserted again, so that the lists through `older` are complete.
	 * The table has room for keys that it had before, so this cannot fail. */
	table_reset(&self->index);
	self->count = 0;
	self->bytes = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct shape *shape = self->entries[i].shape;
		if (held > bytes && !shape_shared(shape)) {
			held -= shape->memory_bytes;
			shape_release(shape);
			continue;
		}
		enum status status = append_shape(self, shape);
		ASSERT(status == STATUS_OK);
	}
}

enum status shape_library_copy(struct shape_library *self, const struct shape_library *from)
{
	for (uint32_t i = 0; i < from->count; i++) {
		enum status status = shape_library_add(self, from->entries[i].shape);
		if (status != STATUS_OK) {
			shape_library_release(self);
			return status;
		}
	}
	return STATUS_OK;
}

const struct shape *shape_library_find(const struct shape_library *self,
				       const uint8_t name[SHAPE_NAME_BYTES])
{
	uint32_t index;
	if (!table_find(&self->index, name_key(name), &index))
		return NULL;
	for (uint32_t link = index + 1; link != 0; link = self->entries[link - 1].older)
		if (memcmp(self->entries[link - 1].shape->name, name, SHAPE_NAME_BYTES) == 0)
			return self->entries[link - 1].shape;
	return NULL;
}

const struct shape *shape_library_at(const struct shape_library *self, uint32_t index)
{
	return self->entries[index].shape;
}

enum status shape_library_cook(struct wire_slice canonical, const uint8_t *name, struct shape **out,
			       struct reason *why)
{
	enum status status = shape_cook(canonical.at, canonical.bytes, name, out, why);
	if (status == STATUS_MALFORMED)
		status = why->status = STATUS_CORRUPT;
	return status;
}

static const struct shape *find_in_library(void *context, const uint8_t name[SHAPE_NAME_BYTES])
{
	return shape_library_find(context, name);
}

struct shape_source shape_library_source(struct shape_library *self)
{
	return (struct shape_source){ find_in_library, self };
}
