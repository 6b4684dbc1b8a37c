/* See mirror_joints.h. A part is read whole before anything changes; new ids are merged in from the back. */
#include "protocol/mirror_joints.h"

#include <string.h>

#include "server/base/array.h"
#include "server/base/body_hash.h"
#include "server/base/heap.h"

void mirror_joints_release(struct mirror_joints *self)
{
	heap_free(self->items);
	heap_free(self->fresh);
	memset(self, 0, sizeof *self);
}

const struct wire_joint *mirror_joints_find(const struct mirror_joints *self, uint32_t id)
{
	uint32_t low = 0, high = self->count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (self->items[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < self->count && self->items[low].id == id ? &self->items[low] : NULL;
}

uint64_t mirror_joints_hash(const struct mirror_joints *self, uint64_t tick)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < self->count; i++)
		sum += wire_joint_hash(self->profile, &self->items[i], self->columns);
	return body_hash_finish(tick, sum, self->count);
}

static enum status remove_joints(struct mirror_joints *self, struct wire_slice removed)
{
	struct block_ids ids;
	uint32_t id, read = 0, write = 0;
	enum status status = block_ids_open(&ids, self->profile, removed);
	if (status != STATUS_OK || ids.left == 0)
		return status;
	while ((status = block_ids_next(&ids, &id)) == STATUS_OK) {
		while (read < self->count && self->items[read].id < id)
			self->items[write++] = self->items[read++];
		if (read == self->count || self->items[read].id != id) {
			status = STATUS_MALFORMED;
			break;
		}
		read++;
	}
	while (read < self->count)
		self->items[write++] = self->items[read++];
	self->count = write;
	return status == STATUS_MISSING ? STATUS_OK : status;
}

/* Checks all rows of a part and lists the new ids, before anything changes. */
static enum status read_fresh(struct mirror_joints *self, struct wire_slice columns,
			      uint32_t *fresh)
{
	struct wire_joint row = { 0 };
	wire_mask mask;
	uint32_t at = 0;
	*fresh = 0;
	enum status status = joint_rows_open(&self->reader, self->profile, self->columns, columns);
	if (status == STATUS_OK)
		status = array_reserve(&self->fresh, &self->fresh_capacity, self->reader.left,
				       sizeof *self->fresh);
	while (status == STATUS_OK &&
	       (status = joint_rows_next(&self->reader, &row, &mask)) == STATUS_OK) {
		while (at < self->count && self->items[at].id < row.id)
			at++;
		if (at < self->count && self->items[at].id == row.id)
			continue;
		if (mask != self->columns)
			return STATUS_MALFORMED;
		self->fresh[(*fresh)++] = row.id;
	}
	if (status != STATUS_MISSING)
		return status;
	if (*fresh > self->max - self->count)
		return STATUS_LIMIT;
	return array_reserve(&self->items, &self->capacity, (uint64_t)self->count + *fresh,
			     sizeof *self->items);
}

/* Merges the new ids in from the back. */
static void open_gaps(struct mirror_joints *self, uint32_t fresh)
{
	uint32_t old = self->count, write = self->count + fresh;
	self->count = write;
	while (fresh > 0) {
		if (old > 0 && self->items[old - 1].id > self->fresh[fresh - 1])
			self->items[--write] = self->items[--old];
		else
			self->items[--write] = (struct wire_joint){ .id = self->fresh[--fresh] };
	}
}

static void store_rows(struct mirror_joints *self, struct wire_slice columns)
{
	struct wire_joint row = { 0 };
	wire_mask mask;
	uint32_t at = 0;
	enum status status = joint_rows_open(&self->reader, self->profile, self->columns, columns);
	ASSERT(status == STATUS_OK); /* checked by read_fresh */
	while ((status = joint_rows_next(&self->reader, &row, &mask)) == STATUS_OK) {
		while (self->items[at].id < row.id)
			at++;
		wire_joint_copy(&self->items[at], &row, mask);
	}
}

enum status mirror_joints_apply(struct mirror_joints *self, const struct msg_rows *frame)
{
	uint32_t fresh;
	if (frame->part == 0 && (frame->flags & WIRE_FRAME_WHOLE))
		self->count = 0;
	enum status status = remove_joints(self, frame->removed);
	if (status == STATUS_OK)
		status = read_fresh(self, frame->columns, &fresh);
	if (status != STATUS_OK)
		return status;
	open_gaps(self, fresh);
	store_rows(self, frame->columns);
	return STATUS_OK;
}
