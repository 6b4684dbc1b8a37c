/* query_items.h: packing and taking of items by position, shared by the parts of query_wire.h (query_ask.c,
 * query_wire.c, query_long.c). Private to protocol.
 */
#ifndef CAIRN_PROTOCOL_QUERY_ITEMS_H
#define CAIRN_PROTOCOL_QUERY_ITEMS_H

#include "protocol/complaint.h"
#include "protocol/query_wire.h"

static inline void pack_vector(struct wire_packer *out, const double *values, uint32_t count)
{
	wire_pack_array(out, count);
	for (uint32_t i = 0; i < count; i++)
		wire_pack_real(out, values[i]);
}

/* ---- taking: a reader of list items that stores the first fault -------------------------- */

struct taker {
	struct wire_cursor in;
	uint32_t left; /* items not yet taken */
	enum status status;
	/* The faulty field and its allowed values; within `min` and `max` if `max` is not 0. */
	const char *field, *allowed;
	double min, max;
	struct wire_cursor value;
};

static inline void taker_open(struct taker *self, const struct wire_list *list)
{
	*self = (struct taker){ .in = wire_cursor_list(list), .left = list->count };
}

/* Is there an item to take? Sets the status if a required item is missing. */
static inline bool more(struct taker *self, const char *field, bool needed)
{
	if (self->status != STATUS_OK)
		return false;
	self->field = field;
	self->value = self->in;
	self->allowed = "there";
	self->max = 0;
	if (self->left == 0) {
		self->status = needed ? STATUS_TYPE : STATUS_OK;
		return false;
	}
	self->left--;
	return true;
}

static inline void take_vector(struct taker *self, const char *field, bool needed, double *values,
			       uint32_t count)
{
	if (!more(self, field, needed))
		return;
	self->allowed = count == 3 ? "three finite numbers" : "four finite numbers";
	self->status = wire_take_tuple(&self->in, values, count);
}

static inline void take_real(struct taker *self, const char *field, double *value)
{
	if (!more(self, field, true))
		return;
	self->allowed = "a finite number";
	self->status = wire_take_real(&self->in, value);
}

static inline void take_u32(struct taker *self, const char *field, bool needed, uint32_t max,
			    uint32_t *value)
{
	uint64_t number;
	if (!more(self, field, needed))
		return;
	self->allowed = "an integer";
	self->min = 0;
	self->max = max;
	self->status = wire_take_uint(&self->in, max, &number);
	if (self->status == STATUS_OK)
		*value = (uint32_t)number;
}

static inline void take_u8(struct taker *self, const char *field, uint8_t *value)
{
	uint32_t number = 0;
	take_u32(self, field, true, UINT8_MAX, &number);
	*value = (uint8_t)number;
}

static inline void take_tag(struct taker *self, int64_t *tag)
{
	if (more(self, "tag", true))
		self->status = wire_take_int(&self->in, tag);
}

static inline enum status open_item(struct wire_cursor *in, struct taker *taker)
{
	struct wire_list list;
	enum status status = wire_take_list(in, &list);
	if (status == STATUS_OK)
		taker_open(taker, &list);
	return status;
}

static inline void take_shape(struct taker *self, struct wire_slice *shape)
{
	if (!more(self, "shape", true))
		return;
	self->allowed = "a bin: canonical bytes of a shape, or its name; at most 4096 bytes";
	self->status = wire_take_bin(&self->in, shape);
	if (self->status == STATUS_OK && shape->bytes > WIRE_QUERY_SHAPE_MAX)
		self->status = STATUS_RANGE;
}

#endif
