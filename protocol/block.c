/* See block.h. Sizes are bounded before rows are packed; counts are checked before rows are read. */
#include "protocol/block.h"

#include <string.h>

#include "protocol/block_quantised.h"
#include "protocol/varint.h"

enum status block_profile_check(uint64_t profile)
{
	return profile <= WIRE_PROFILE_SIM ? STATUS_OK : STATUS_RANGE;
}

/* ---- varints and lists of ids ----------------------------------------------------------- */

/* The source of ids: a plain list, or the rows of a block (all, or only the created ones). */
struct id_source {
	const uint32_t *ids;
	const struct block_row *rows;
	uint32_t count;
	bool created_only;
};

static bool id_at(const struct id_source *source, uint32_t i, uint32_t *id)
{
	if (source->ids != NULL) {
		*id = source->ids[i];
		return true;
	}
	*id = source->rows[i].body->id;
	return !source->created_only || source->rows[i].created;
}

static uint32_t ids_count(const struct id_source *source)
{
	uint32_t count = 0, id;
	for (uint32_t i = 0; i < source->count; i++)
		count += id_at(source, i, &id);
	return count;
}

static uint32_t gaps_bytes(const struct id_source *source)
{
	uint32_t bytes = 0, before = 0, id;
	for (uint32_t i = 0; i < source->count; i++) {
		if (!id_at(source, i, &id))
			continue;
		ASSERT(id > before);
		bytes += varint_bytes(id - before - 1);
		before = id;
	}
	return bytes;
}

static uint8_t *gaps_put(uint8_t *at, const struct id_source *source)
{
	uint32_t before = 0, id;
	for (uint32_t i = 0; i < source->count; i++) {
		if (!id_at(source, i, &id))
			continue;
		at = varint_put(at, id - before - 1);
		before = id;
	}
	return at;
}

static void pack_ids(struct wire_packer *out, enum wire_profile profile,
		     const struct id_source *source)
{
	uint32_t count = ids_count(source), id;
	if (profile == WIRE_PROFILE_PLAIN) {
		wire_pack_array(out, count);
		for (uint32_t i = 0; i < source->count; i++) {
			if (id_at(source, i, &id))
				wire_pack_uint(out, id);
		}
		return;
	}
	if (count == 0) {
		wire_pack_nil(out);
		return;
	}
	uint32_t bytes = varint_bytes(count) + gaps_bytes(source);
	wire_pack_bin_header(out, bytes);
	uint8_t *at = wire_pack_take(out, bytes);
	if (at != NULL)
		gaps_put(varint_put(at, count), source);
}

void block_pack_ids(struct wire_packer *out, enum wire_profile profile, const uint32_t *ids,
		    uint32_t count)
{
	struct id_source source = { .ids = ids, .count = ids == NULL ? 0 : count };
	pack_ids(out, profile, &source);
}

void block_pack_created(struct wire_packer *out, enum wire_profile profile,
			const struct block_row *rows, uint32_t count)
{
	struct id_source source = { .rows = rows, .count = count, .created_only = true };
	pack_ids(out, profile, &source);
}

enum status block_ids_open(struct block_ids *self, enum wire_profile profile,
			   struct wire_slice value)
{
	memset(self, 0, sizeof *self);
	self->profile = profile;
	if (value.bytes == 0)
		return STATUS_OK;
	struct wire_cursor in = wire_cursor_of(value);
	if (profile == WIRE_PROFILE_PLAIN) {
		struct wire_list list;
		if (wire_take_list(&in, &list) != STATUS_OK || !wire_at_end(&in))
			return STATUS_MALFORMED;
		self->left = list.count;
		self->in = wire_cursor_list(&list);
		return STATUS_OK;
	}
	struct wire_slice bin;
	if (wire_take_bin(&in, &bin) != STATUS_OK || !wire_at_end(&in))
		return STATUS_MALFORMED;
	self->in = wire_cursor_of(bin);
	self->in.at = varint_get(self->in.at, self->in.end, &self->left);
	if (self->in.at == NULL || self->left > (size_t)(self->in.end - self->in.at))
		return STATUS_MALFORMED;
	return STATUS_OK;
}

enum status block_ids_next(struct block_ids *self, uint32_t *id)
{
	if (self->left == 0)
		return wire_at_end(&self->in) ? STATUS_MISSING : STATUS_MALFORMED;
	if (self->profile == WIRE_PROFILE_PLAIN) {
		uint64_t value;
		if (wire_take_uint(&self->in, UINT32_MAX, &value) != STATUS_OK || value <= self->id)
			return STATUS_MALFORMED;
		self->id = (uint32_t)value;
	} else {
		const uint8_t *at = varint_get_id(self->in.at, self->in.end, self->id, &self->id);
		if (at == NULL)
			return STATUS_MALFORMED;
		self->in.at = at;
	}
	self->left--;
	*id = self->id;
	return STATUS_OK;
}

/* ---- packing ----------------------------------------------------------------------------- */

/* Numbers of a column in a `plain` row (SHAPES and CONTACTS: 1, the list). */
static const uint8_t PLAIN_ITEMS[WIRE_COLUMN_COUNT] = { 3, 4, 3, 3, 2, 2, 1, 1 };
/* Items of a contact in a `plain` row, and its largest size: a header, three ids and eleven floats. */
enum { PLAIN_CONTACT = 14, PLAIN_CONTACT_BYTES = 1 + 3 * 5 + 11 * 9 };

static uint32_t plain_items(wire_mask fields)
{
	uint32_t items = 1;
	for (uint32_t i = 0; i < WIRE_COLUMN_COUNT; i++) {
		if (fields & wire_column_info(i)->bit)
			items += PLAIN_ITEMS[i];
	}
	return items;
}

uint32_t block_row_bytes(enum wire_profile profile, wire_mask fields, const struct block_row *row)
{
	if (!wire_profile_quantised(profile))
		return block_row_bytes_max(profile, fields, row);
	return block_quantised_row_bytes(fields, row);
}

uint64_t block_bytes_max(enum wire_profile profile, wire_mask fields, const struct block_row *rows,
			 uint32_t count)
{
	uint64_t bytes = 0;
	if (wire_profile_quantised(profile))
		return block_quantised_bytes_max(fields, rows, count);
	for (uint32_t i = 0; i < count; i++)
		bytes += block_row_bytes_max(profile, fields, &rows[i]);
	return bytes;
}

uint32_t block_row_bytes_max(enum wire_profile profile, wire_mask fields,
			     const struct block_row *row)
{
	if (wire_profile_quantised(profile))
		return (uint32_t)block_quantised_bytes_max(fields, row, 1);
	if (profile == WIRE_PROFILE_EXACT)
		return VARINT_32_MAX + 2 + wire_columns_bytes(row->body, row->mask & fields);
	/* No number takes more than nine bytes; a shape is a header, a bin of 32 and seven floats.
	 */
	uint32_t bytes = 3 + 9 * plain_items(fields);
	if (fields & WIRE_COLUMN_SHAPES)
		bytes += (uint32_t)row->body->shape_count * (1 + 34 + 7 * 9);
	if (fields & WIRE_COLUMN_CONTACTS)
		bytes += row->body->contact_bytes / WIRE_TOUCH_BYTES * PLAIN_CONTACT_BYTES;
	return bytes;
}

static void pack_reals(struct wire_packer *out, const double *values, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		wire_pack_real(out, values[i]);
}

static void pack_shapes(struct wire_packer *out, const struct wire_body *body)
{
	wire_pack_array(out, body->shape_count);
	for (uint32_t i = 0; i < body->shape_count; i++) {
		struct wire_placement placement;
		wire_placement_get(body->shapes + (size_t)i * WIRE_SHAPE_BYTES, &placement);
		wire_pack_array(out, 8);
		wire_pack_bin(out, placement.shape.bytes, sizeof placement.shape.bytes);
		pack_reals(out, placement.position, 3);
		pack_reals(out, placement.rotation, 4);
	}
}

static void pack_contacts(struct wire_packer *out, const struct wire_body *body)
{
	struct wire_slice value = { body->contacts, body->contact_bytes };
	struct wire_touches touches;
	struct wire_touch touch;
	wire_touches_open(&touches, WIRE_PROFILE_EXACT, value);
	wire_pack_array(out, touches.left);
	while (wire_touches_next(&touches, &touch)) {
		wire_pack_array(out, PLAIN_CONTACT);
		wire_pack_uint(out, touch.other);
		wire_pack_uint(out, touch.child);
		wire_pack_uint(out, touch.other_child);
		pack_reals(out, touch.point, 3);
		pack_reals(out, touch.normal, 3);
		pack_reals(out, &touch.separation, 1);
		pack_reals(out, &touch.impulse, 1);
		pack_reals(out, touch.friction, 3);
	}
}

static void pack_plain_row(struct wire_packer *out, wire_mask fields, const struct wire_body *body)
{
	wire_pack_array(out, plain_items(fields));
	wire_pack_uint(out, body->id);
	if (fields & WIRE_COLUMN_POSITION)
		pack_reals(out, body->position, 3);
	if (fields & WIRE_COLUMN_ROTATION)
		pack_reals(out, body->rotation, 4);
	if (fields & WIRE_COLUMN_VELOCITY)
		pack_reals(out, body->velocity, 3);
	if (fields & WIRE_COLUMN_SPIN)
		pack_reals(out, body->spin, 3);
	if (fields & WIRE_COLUMN_STATUS) {
		wire_pack_uint(out, body->status);
		wire_pack_uint(out, body->flags);
	}
	if (fields & WIRE_COLUMN_OWNER) {
		wire_pack_uint(out, body->owner);
		wire_pack_int(out, body->tag);
	}
	if (fields & WIRE_COLUMN_SHAPES)
		pack_shapes(out, body);
	if (fields & WIRE_COLUMN_CONTACTS)
		pack_contacts(out, body);
}

/* count, ids and masks */
static uint8_t *put_head(uint8_t *at, wire_mask fields, const struct block_row *rows,
			 uint32_t count)
{
	struct id_source source = { .rows = rows, .count = count };
	at = gaps_put(varint_put(at, count), &source);
	bool wide = fields >> 8 != 0;
	for (uint32_t i = 0; i < count; i++) {
		wire_mask mask = rows[i].mask & fields;
		ASSERT(mask != 0);
		if (wide)
			at = wire_mask_put(at, mask);
		else
			*at++ = (uint8_t)mask;
	}
	return at;
}

static void pack_exact(struct wire_packer *out, wire_mask fields, const struct block_row *rows,
		       uint32_t count)
{
	struct id_source source = { .rows = rows, .count = count };
	uint32_t bytes = varint_bytes(count) + gaps_bytes(&source) + count;
	for (uint32_t i = 0; i < count; i++)
		bytes += (uint32_t)((rows[i].mask & fields) >> 8 != 0) +
			 wire_columns_bytes(rows[i].body, rows[i].mask & fields);
	wire_pack_bin_header(out, bytes);
	uint8_t *start = wire_pack_take(out, bytes);
	if (start == NULL)
		return;
	uint8_t *at = put_head(start, fields, rows, count);
	for (uint32_t column = 0; column < WIRE_COLUMN_COUNT; column++) {
		wire_mask bit = wire_column_info(column)->bit & fields;
		for (uint32_t i = 0; i < count && bit != 0; i++) {
			if (rows[i].mask & bit)
				at = wire_column_put(at, rows[i].body, bit);
		}
	}
	ASSERT(at == start + bytes);
}

void block_pack(struct wire_packer *out, enum wire_profile profile, wire_mask fields,
		const struct block_row *rows, uint32_t count)
{
	if (wire_profile_quantised(profile)) {
		block_quantised_pack(out, fields, rows, count);
		return;
	}
	if (profile == WIRE_PROFILE_EXACT) {
		pack_exact(out, fields, rows, count);
		return;
	}
	ASSERT(profile == WIRE_PROFILE_PLAIN);
	wire_pack_array(out, count);
	for (uint32_t i = 0; i < count; i++)
		pack_plain_row(out, fields, rows[i].body);
}

/* ---- reading ----------------------------------------------------------------------------- */

/* Position of the next row's id and mask. Profile exact has a mask for each row, the quantised profiles have
 * runs. */
struct row_cursor {
	const uint8_t *ids, *masks;
	uint32_t id, run; /* the last id; rows of the run not yet read */
	wire_mask mask;
};

/* Reads the head of the next run; its first id becomes the next id. False if the head is truncated
 * or invalid. */
static bool next_run(const struct block_reader *self, struct row_cursor *rows)
{
	uint64_t head, more = 0;
	const uint8_t *at = varint_get_long(rows->ids, self->end, VARINT_32_MAX, &head);
	if (at != NULL && (head & 1) != 0)
		at = varint_get_long(at, self->end, VARINT_32_MAX, &more);
	if (at != NULL)
		at = wire_mask_get(at, self->end, &rows->mask);
	if (at == NULL)
		return false;
	uint64_t length = 1 + (head & 1) + more;
	if ((head >> 1) + length > UINT32_MAX - (uint64_t)rows->id)
		return false;
	rows->id += (uint32_t)(head >> 1);
	rows->run = (uint32_t)length;
	rows->ids = at;
	return true;
}

static bool next_row(const struct block_reader *self, struct row_cursor *rows)
{
	if (!self->quantised) {
		rows->ids = varint_get_id(rows->ids, self->end, rows->id, &rows->id);
		if (rows->masks != NULL) /* the second pass */
			rows->masks = wire_mask_get(rows->masks, self->end, &rows->mask);
		return rows->ids != NULL;
	}
	if (rows->run == 0 && !next_run(self, rows))
		return false;
	rows->run--;
	rows->id++;
	return true;
}

static struct row_cursor first_row(const struct block_reader *self)
{
	return (struct row_cursor){ .ids = self->ids, .masks = self->masks };
}

/* The end of the ids; NULL if one exceeds 32 bits. In runs the masks are among the ids, and the
 * last run must end with the last row. */
static const uint8_t *pass_ids(const struct block_reader *self)
{
	struct row_cursor rows = first_row(self);
	for (uint32_t i = 0; i < self->left; i++) {
		if (!next_row(self, &rows))
			return NULL;
		if (self->quantised && (rows.mask == 0 || (rows.mask & ~self->fields) != 0))
			return NULL;
	}
	return rows.run == 0 ? rows.ids : NULL;
}

/* The end of one value of a column that starts at `at`; NULL when it does not fit. */
static const uint8_t *pass_value(const struct block_reader *self, const uint8_t *at,
				 const struct wire_column_info *info)
{
	if (self->quantised && (info->bit & WIRE_COLUMNS_QUANTISED)) {
		struct wire_change passed;
		return wire_change_get(at, self->end, &passed, info->bit);
	}
	size_t bytes = info->bytes;
	if (info->bit == WIRE_COLUMN_CONTACTS)
		return wire_touches_pass(self->profile, at, self->end);
	if (bytes > (size_t)(self->end - at))
		return NULL;
	if (info->bit == WIRE_COLUMN_SHAPES)
		bytes += (size_t)*at * WIRE_SHAPE_BYTES;
	return bytes > (size_t)(self->end - at) ? NULL : at + bytes;
}

/* The end of a column that starts at `at`; NULL when it does not fit. */
static const uint8_t *pass_column(const struct block_reader *self, const uint8_t *at,
				  uint32_t column)
{
	const struct wire_column_info *info = wire_column_info(column);
	struct row_cursor rows = first_row(self);
	if ((self->fields & info->bit) == 0)
		return at;
	for (uint32_t i = 0; i < self->left && at != NULL; i++) {
		if (!self->quantised) {
			rows.masks = wire_mask_get(rows.masks, self->end, &rows.mask);
		} else {
			bool sound = next_row(self, &rows);
			ASSERT(sound); /* checked by pass_ids */
		}
		if (rows.mask & info->bit)
			at = pass_value(self, at, info);
	}
	return at;
}

/* Masks of profile exact follow the ids. */
static const uint8_t *pass_masks(const struct block_reader *self)
{
	const uint8_t *at = self->masks;
	for (uint32_t i = 0; i < self->left && at != NULL; i++) {
		wire_mask mask = 0;
		at = wire_mask_get(at, self->end, &mask);
		if (mask == 0 || (mask & ~self->fields) != 0)
			return NULL;
	}
	return at;
}

static enum status open_bin(struct block_reader *self, struct wire_cursor *in)
{
	struct wire_slice bin;
	if (wire_take_bin(in, &bin) != STATUS_OK || !wire_at_end(in))
		return STATUS_MALFORMED;
	self->end = bin.at + bin.bytes;
	self->ids = varint_get(bin.at, self->end, &self->left);
	/* A row has at least one byte: its id and mask, or in a run one byte of a column. */
	size_t least = self->quantised ? 1 : 2;
	if (self->ids == NULL || self->left > (size_t)(self->end - self->ids) / least)
		return STATUS_MALFORMED;
	self->masks = NULL;
	const uint8_t *at = pass_ids(self);
	if (at != NULL && !self->quantised) {
		self->masks = at;
		at = pass_masks(self);
	}
	for (uint32_t column = 0; column < WIRE_COLUMN_COUNT && at != NULL; column++) {
		self->columns[column] = at;
		at = pass_column(self, at, column);
	}
	return at == self->end ? STATUS_OK : STATUS_MALFORMED;
}

enum status block_open(struct block_reader *self, enum wire_profile profile, wire_mask fields,
		       struct wire_slice value)
{
	self->profile = profile;
	self->fields = fields & WIRE_COLUMNS_SERVED;
	self->quantised = wire_profile_quantised(profile);
	self->left = 0;
	self->id = self->run = 0;
	struct wire_cursor in = wire_cursor_of(value);
	if (profile != WIRE_PROFILE_PLAIN)
		return open_bin(self, &in);
	struct wire_list list;
	if (wire_take_list(&in, &list) != STATUS_OK || !wire_at_end(&in))
		return STATUS_MALFORMED;
	self->left = list.count;
	self->rows = wire_cursor_list(&list);
	return STATUS_OK;
}

static enum status next_in_bin(struct block_reader *self, struct wire_body *body, wire_mask *mask)
{
	struct row_cursor rows = { self->ids, self->masks, self->id, self->run, self->run_mask };
	bool sound = next_row(self, &rows);
	ASSERT(sound); /* checked by block_open */
	self->ids = rows.ids;
	self->masks = rows.masks;
	self->run = rows.run;
	self->run_mask = rows.mask;
	body->id = self->id = rows.id;
	*mask = rows.mask;
	for (uint32_t column = 0; column < WIRE_COLUMN_COUNT; column++) {
		wire_mask bit = wire_column_bit(column);
		if ((*mask & bit) == 0)
			continue;
		const uint8_t *at = self->columns[column];
		if (self->quantised && (bit & WIRE_COLUMNS_QUANTISED))
			at = wire_change_get(at, self->end, &self->change, bit);
		else if (bit == WIRE_COLUMN_CONTACTS)
			at = wire_contacts_get(self->profile, at, self->end, body);
		else
			at = wire_column_get(at, self->end, body, bit);
		if (at == NULL)
			return STATUS_MALFORMED;
		self->columns[column] = at;
	}
	return STATUS_OK;
}

static enum status take_shape(struct wire_cursor *in, struct wire_placement *placement)
{
	struct wire_slice name;
	uint32_t count;
	if (wire_take_array(in, &count) != STATUS_OK || count != 8 ||
	    wire_take_bin(in, &name) != STATUS_OK || name.bytes != sizeof placement->shape.bytes ||
	    wire_take_reals(in, placement->position, 3) != STATUS_OK ||
	    wire_take_reals(in, placement->rotation, 4) != STATUS_OK)
		return STATUS_MALFORMED;
	memcpy(placement->shape.bytes, name.at, sizeof placement->shape.bytes);
	return STATUS_OK;
}

static enum status take_shapes(struct block_reader *self, struct wire_cursor *in,
			       struct wire_body *body)
{
	uint32_t count;
	if (wire_take_array(in, &count) != STATUS_OK || count > WIRE_BODY_SHAPES)
		return STATUS_MALFORMED;
	for (uint32_t i = 0; i < count; i++) {
		struct wire_placement placement;
		if (take_shape(in, &placement) != STATUS_OK)
			return STATUS_MALFORMED;
		wire_placement_put(self->shapes + (size_t)i * WIRE_SHAPE_BYTES, &placement);
	}
	body->shape_count = (uint8_t)count;
	body->shapes = self->shapes;
	return STATUS_OK;
}

static enum status take_status(struct wire_cursor *in, struct wire_body *body)
{
	uint64_t status, flags;
	if (wire_take_uint(in, UINT8_MAX, &status) != STATUS_OK ||
	    wire_take_uint(in, UINT8_MAX, &flags) != STATUS_OK)
		return STATUS_MALFORMED;
	body->status = (uint8_t)status;
	body->flags = (uint8_t)flags;
	return STATUS_OK;
}

static enum status take_owner(struct wire_cursor *in, struct wire_body *body)
{
	uint64_t owner;
	if (wire_take_uint(in, UINT32_MAX, &owner) != STATUS_OK ||
	    wire_take_int(in, &body->tag) != STATUS_OK)
		return STATUS_MALFORMED;
	body->owner = (uint32_t)owner;
	return STATUS_OK;
}

static enum status take_contact(struct wire_cursor *in, struct wire_touch *touch)
{
	uint32_t count;
	uint64_t ids[3];
	if (wire_take_array(in, &count) != STATUS_OK || count != PLAIN_CONTACT)
		return STATUS_MALFORMED;
	for (uint32_t i = 0; i < 3; i++)
		if (wire_take_uint(in, UINT32_MAX, &ids[i]) != STATUS_OK)
			return STATUS_MALFORMED;
	touch->other = (uint32_t)ids[0];
	touch->child = (uint32_t)ids[1];
	touch->other_child = (uint32_t)ids[2];
	if (wire_take_reals(in, touch->point, 3) != STATUS_OK ||
	    wire_take_reals(in, touch->normal, 3) != STATUS_OK ||
	    wire_take_real(in, &touch->separation) != STATUS_OK ||
	    wire_take_real(in, &touch->impulse) != STATUS_OK)
		return STATUS_MALFORMED;
	return wire_take_reals(in, touch->friction, 3);
}

/* Checks the items without storing them, because their number is known only at the end. */
static enum status take_contacts(struct block_reader *self, struct wire_cursor *in)
{
	struct wire_touch touch;
	if (wire_take_list(in, &self->contacts) != STATUS_OK ||
	    self->contacts.count > WIRE_BODY_CONTACTS)
		return STATUS_MALFORMED;
	struct wire_cursor items = wire_cursor_list(&self->contacts);
	for (uint32_t i = 0; i < self->contacts.count; i++)
		if (take_contact(&items, &touch) != STATUS_OK)
			return STATUS_MALFORMED;
	return STATUS_OK;
}

uint32_t block_contact_bytes(const struct block_reader *self)
{
	uint32_t count = self->contacts.count;
	return count == 0 ? 0 : varint_bytes(count) + count * WIRE_TOUCH_BYTES;
}

void block_take_contacts(const struct block_reader *self, uint8_t *out)
{
	struct wire_cursor items = wire_cursor_list(&self->contacts);
	struct wire_touches_writer writer;
	wire_touches_begin(&writer, WIRE_PROFILE_EXACT, out, self->contacts.count);
	for (uint32_t i = 0; i < self->contacts.count; i++) {
		struct wire_touch touch;
		enum status status = take_contact(&items, &touch);
		ASSERT(status == STATUS_OK); /* checked by take_contacts */
		wire_touches_put(&writer, &touch);
	}
}

static enum status take_column(struct block_reader *self, struct wire_cursor *in,
			       struct wire_body *body, wire_mask bit)
{
	switch (bit) {
	case WIRE_COLUMN_POSITION:
		return wire_take_reals(in, body->position, 3);
	case WIRE_COLUMN_ROTATION:
		return wire_take_reals(in, body->rotation, 4);
	case WIRE_COLUMN_VELOCITY:
		return wire_take_reals(in, body->velocity, 3);
	case WIRE_COLUMN_SPIN:
		return wire_take_reals(in, body->spin, 3);
	case WIRE_COLUMN_STATUS:
		return take_status(in, body);
	case WIRE_COLUMN_OWNER:
		return take_owner(in, body);
	case WIRE_COLUMN_CONTACTS:
		return take_contacts(self, in);
	default:
		return take_shapes(self, in, body);
	}
}

static enum status next_plain(struct block_reader *self, struct wire_body *body, wire_mask *mask)
{
	struct wire_cursor *in = &self->rows;
	uint32_t items, known = plain_items(self->fields);
	uint64_t id;
	if (wire_take_array(in, &items) != STATUS_OK || items < known ||
	    wire_take_uint(in, UINT32_MAX, &id) != STATUS_OK || id <= self->id)
		return STATUS_MALFORMED;
	body->id = self->id = (uint32_t)id;
	for (uint32_t column = 0; column < WIRE_COLUMN_COUNT; column++) {
		wire_mask bit = wire_column_info(column)->bit & self->fields;
		if (bit != 0 && take_column(self, in, body, bit) != STATUS_OK)
			return STATUS_MALFORMED;
	}
	*mask = self->fields;
	return wire_skip_many(in, items - known);
}

enum status block_next(struct block_reader *self, struct wire_body *body, wire_mask *mask)
{
	if (self->left == 0)
		return STATUS_MISSING;
	self->left--;
	if (self->profile == WIRE_PROFILE_PLAIN)
		return next_plain(self, body, mask);
	return next_in_bin(self, body, mask);
}
