/* See view.h and its invariants V1 to V4. */
#include "server/sync/view.h"

#include <stdlib.h>
#include <string.h>

#include "server/base/body_hash.h"
#include "server/base/heap.h"

void view_init(struct view *self)
{
	memset(self, 0, sizeof *self);
	table_init(&self->index);
}

static void drop_contacts(struct view_row *row)
{
	heap_free((void *)(uintptr_t)row->body.contacts);
	row->body.contacts = NULL;
	row->body.contact_bytes = row->contact_room = 0;
}

void view_drop_contacts(struct view *self)
{
	for (uint32_t i = 0; i < self->row_count; i++)
		drop_contacts(&self->rows[i]);
}

static void drop_row(struct view_row *row)
{
	heap_free((void *)(uintptr_t)row->body.shapes);
	row->body.shapes = NULL;
	drop_contacts(row);
	row->live = false;
}

void view_release(struct view *self)
{
	for (uint32_t i = 0; i < self->row_count; i++)
		drop_row(&self->rows[i]);
	for (uint32_t i = 0; i < WIRE_RING_TICKS; i++)
		ARRAY_RELEASE(&self->ring[i].rows);
	heap_free(self->rows);
	heap_free(self->removals);
	table_release(&self->index);
	view_joints_release(&self->joints);
	view_particles_release(&self->particles);
	memset(self, 0, sizeof *self);
}

/* ---- applying a report ------------------------------------------------------------------------- */

static void body_of_view(struct wire_body *to, const struct body_view *from)
{
	to->id = from->id;
	to->status = from->status;
	to->flags = wire_body_flags(from->asleep, from->quarantined, from->fast, from->sensor);
	to->owner = from->owner;
	to->tag = from->tag;
	memcpy(to->position, &from->position, sizeof to->position);
	memcpy(to->rotation, &from->rotation, sizeof to->rotation);
	memcpy(to->velocity, &from->velocity, sizeof to->velocity);
	memcpy(to->spin, &from->angular_velocity, sizeof to->spin);
}

/* The shapes as the wire writes them, owned. */
static enum status pack_shapes(const struct tick_report *report, const struct report_body *from,
			       struct wire_body *to)
{
	to->shape_count = (uint8_t)from->shape_count;
	to->shapes = NULL;
	if (from->shape_count == 0)
		return STATUS_OK;
	uint8_t *shapes = heap_alloc((size_t)from->shape_count * WIRE_SHAPE_BYTES);
	if (shapes == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < from->shape_count; i++) {
		const struct report_shape *shape = &report->shapes[from->first_shape + i];
		struct wire_placement placement;
		memcpy(placement.shape.bytes, shape->name, sizeof placement.shape.bytes);
		memcpy(placement.position, &shape->position, sizeof placement.position);
		memcpy(placement.rotation, &shape->rotation, sizeof placement.rotation);
		wire_placement_put(shapes + i * WIRE_SHAPE_BYTES, &placement);
	}
	to->shapes = shapes;
	return STATUS_OK;
}

/* Copies the contacts into the row's own buffer. */
static enum status copy_contacts(struct view_row *row, const struct tick_report *report,
				 const struct report_body *from)
{
	void *contacts = (void *)(uintptr_t)row->body.contacts;
	enum status status = array_reserve(&contacts, &row->contact_room, from->contact_bytes, 1);
	row->body.contacts = contacts;
	if (status != STATUS_OK)
		return status;
	row->body.contact_bytes = from->contact_bytes;
	if (from->contact_bytes > 0)
		memcpy(contacts, report->contacts_packed.data + from->first_contact,
		       from->contact_bytes);
	return STATUS_OK;
}

static enum status note_change(struct view *self, uint32_t row)
{
	struct view_changes *changes = &self->ring[self->serial % WIRE_RING_TICKS];
	if (ARRAY_RESERVE(&changes->rows, changes->rows.count + 1u) != STATUS_OK)
		return STATUS_NO_MEMORY;
	changes->rows.items[changes->rows.count++] = row;
	return STATUS_OK;
}

static enum status append_row(struct view *self, const struct tick_report *report,
			      const struct report_body *from)
{
	if (self->row_count > 0 && from->view.id <= self->rows[self->row_count - 1].body.id)
		return STATUS_CORRUPT; /* V1 */
	enum status status = array_reserve(&self->rows, &self->row_capacity,
					   (uint64_t)self->row_count + 1, sizeof *self->rows);
	if (status != STATUS_OK)
		return status;
	struct view_row *row = &self->rows[self->row_count];
	memset(row, 0, sizeof *row);
	body_of_view(&row->body, &from->view);
	status = pack_shapes(report, from, &row->body);
	if (status == STATUS_OK && (from->why & REPORT_CONTACTS))
		status = copy_contacts(row, report, from);
	if (status == STATUS_OK)
		status = table_insert(&self->index, from->view.id, self->row_count);
	if (status != STATUS_OK) {
		drop_row(row);
		return status;
	}
	row->live = true;
	row->created = self->serial;
	for (uint32_t c = 0; c < WIRE_COLUMN_COUNT; c++)
		row->changed[c] = self->serial;
	row->tick_hash = wire_tick_hash(&row->body);
	self->tick_sum += row->tick_hash;
	self->live_count++;
	return note_change(self, self->row_count++);
}

static bool contacts_differ(const struct wire_body *body, const struct tick_report *report,
			    const struct report_body *from)
{
	if (body->contact_bytes != from->contact_bytes)
		return true;
	return from->contact_bytes > 0 &&
	       memcmp(body->contacts, report->contacts_packed.data + from->first_contact,
		      from->contact_bytes) != 0;
}

static enum status update_row(struct view *self, const struct tick_report *report,
			      const struct report_body *from)
{
	uint32_t index;
	if (!table_find(&self->index, from->view.id, &index))
		return STATUS_CORRUPT;
	struct view_row *row = &self->rows[index];
	struct wire_body body = row->body;
	body_of_view(&body, &from->view);
	if (from->why & REPORT_CHANGED) {
		enum status status = pack_shapes(report, from, &body);
		if (status != STATUS_OK)
			return status;
	}
	wire_mask mask = wire_columns_differ(&row->body, &body);
	if (body.shapes != row->body.shapes)
		heap_free((void *)(uintptr_t)row->body.shapes);
	row->body = body;
	if ((from->why & REPORT_CONTACTS) && contacts_differ(&body, report, from)) {
		enum status status = copy_contacts(row, report, from);
		if (status != STATUS_OK)
			return status;
		mask |= WIRE_COLUMN_CONTACTS;
	}
	if (mask == 0)
		return STATUS_OK;
	for (uint32_t c = 0; c < WIRE_COLUMN_COUNT; c++)
		if (mask & wire_column_bit(c))
			row->changed[c] = self->serial;
	if (mask & WIRE_COLUMNS_TICK) {
		self->tick_sum -= row->tick_hash;
		row->tick_hash = wire_tick_hash(&row->body);
		self->tick_sum += row->tick_hash;
	}
	return note_change(self, index);
}

/* A ring that has not wrapped yet can be extended without moving entries. */
static enum status make_room_for_removal(struct view *self)
{
	if (self->removal_count < self->removal_capacity ||
	    self->removal_capacity == VIEW_REMOVALS_MAX)
		return STATUS_OK;
	return array_reserve(&self->removals, &self->removal_capacity,
			     MAX_OF(2 * self->removal_capacity, 64u), sizeof *self->removals);
}

static enum status remove_body(struct view *self, uint32_t id)
{
	uint32_t index;
	if (!table_find(&self->index, id, &index))
		return STATUS_CORRUPT;
	enum status status = make_room_for_removal(self);
	if (status != STATUS_OK)
		return status;
	struct view_row *row = &self->rows[index];
	struct view_removal *entry =
		&self->removals[self->removal_count++ % self->removal_capacity];
	*entry = (struct view_removal){ self->serial, row->created, id };
	self->tick_sum -= row->tick_hash;
	table_remove(&self->index, id);
	drop_row(row);
	self->live_count--;
	return STATUS_OK;
}

/* Removes dead rows once they are as many as the live ones; the ring's row indices are void then. */
static void compact(struct view *self)
{
	if (self->row_count < 64 || self->row_count < 2 * self->live_count)
		return;
	uint32_t kept = 0;
	table_reset(&self->index);
	for (uint32_t i = 0; i < self->row_count; i++) {
		if (!self->rows[i].live)
			continue;
		self->rows[kept] = self->rows[i];
		/* The table has had at least as many keys, so the put needs no memory. */
		enum status status = table_insert(&self->index, self->rows[kept].body.id, kept);
		ASSERT(status == STATUS_OK);
		kept++;
	}
	self->row_count = kept;
	self->compacted = self->serial;
}

static void reset_view(struct view *self)
{
	for (uint32_t i = 0; i < self->row_count; i++)
		drop_row(&self->rows[i]);
	self->row_count = self->live_count = 0;
	self->tick_sum = 0;
	table_reset(&self->index);
	self->epoch_serial = self->serial;
}

enum status view_apply(struct view *self, const struct tick_report *report)
{
	self->serial++;
	struct view_changes *changes = &self->ring[self->serial % WIRE_RING_TICKS];
	changes->serial = self->serial;
	changes->rows.count = 0;
	if (report->whole)
		reset_view(self);
	self->tick = report->tick;
	self->epoch = report->epoch;
	self->edit = report->edit;
	self->tick_hash = report->tick_hash;
	/* After reports without contacts the rows' contacts are unknown; the next report with
	 * contacts has all. */
	self->contacts = report->contacts && (self->contacts || report->contacts_all);
	enum status status = STATUS_OK;
	for (uint32_t i = 0; i < report->removed_count && status == STATUS_OK; i++)
		status = remove_body(self, report->removed[i]);
	for (uint32_t i = 0; i < report->body_count && status == STATUS_OK; i++) {
		const struct report_body *body = &report->bodies[i];
		status = body->why & REPORT_CREATED ? append_row(self, report, body)
						    : update_row(self, report, body);
	}
	if (status == STATUS_OK &&
	    body_hash_finish(self->tick, self->tick_sum, self->live_count) != report->tick_hash)
		status = STATUS_CORRUPT; /* V4 */
	if (status == STATUS_OK)
		status = view_joints_apply(&self->joints, report, self->serial);
	if (status == STATUS_OK)
		status = view_particles_apply(&self->particles, report, self->serial);
	if (status == STATUS_OK) {
		self->steps += report->step;
		compact(self);
	}
	return status;
}

/* ---- collecting -------------------------------------------------------------------------------- */

void view_delta_release(struct view_delta *delta)
{
	ARRAY_RELEASE(&delta->rows);
	ARRAY_RELEASE(&delta->removed);
}

static enum status take_row(struct view_delta *delta, const struct view_row *row, uint64_t base,
			    wire_mask fields)
{
	bool created = row->created > base;
	wire_mask mask = created ? fields : view_row_since(row, base) & fields;
	if (mask == 0)
		return STATUS_OK;
	if (ARRAY_RESERVE(&delta->rows, delta->rows.count + 1u) != STATUS_OK)
		return STATUS_NO_MEMORY;
	delta->rows.items[delta->rows.count++] =
		(struct block_row){ .body = &row->body, .mask = mask, .created = created };
	return STATUS_OK;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

static enum status take_removals(struct view *self, uint64_t base, struct view_delta *delta)
{
	uint64_t oldest = self->removal_count > VIEW_REMOVALS_MAX
				  ? self->removal_count - VIEW_REMOVALS_MAX
				  : 0;
	uint64_t first = self->removal_count;
	while (first > oldest && self->removals[(first - 1) % self->removal_capacity].serial > base)
		first--;
	if (first == oldest && oldest > 0)
		return STATUS_MISSING; /* the log begins after the base */
	for (uint64_t i = first; i < self->removal_count; i++) {
		const struct view_removal *removal = &self->removals[i % self->removal_capacity];
		if (removal->created > base)
			continue; /* created and removed after the base */
		if (ARRAY_RESERVE(&delta->removed, delta->removed.count + 1u) != STATUS_OK)
			return STATUS_NO_MEMORY;
		delta->removed.items[delta->removed.count++] = removal->id;
	}
	/* They ascend within a report, not across reports. Ids are unique: a total order. */
	if (self->serial - base > 1 && delta->removed.count > 1)
		qsort(delta->removed.items, delta->removed.count, sizeof *delta->removed.items,
		      by_number);
	return STATUS_OK;
}

static int by_id(const void *a, const void *b)
{
	uint32_t x = ((const struct block_row *)a)->body->id;
	uint32_t y = ((const struct block_row *)b)->body->id;
	return (x > y) - (x < y);
}

/* Collects the rows of the ring's entries after `base`, each once. */
static enum status collect_ring(struct view *self, uint64_t base, wire_mask fields,
				struct view_delta *delta)
{
	self->stamp++;
	for (uint64_t serial = base + 1; serial <= self->serial; serial++) {
		const struct view_changes *changes = &self->ring[serial % WIRE_RING_TICKS];
		for (uint32_t i = 0; i < changes->rows.count; i++) {
			struct view_row *row = &self->rows[changes->rows.items[i]];
			if (!row->live || row->stamp == self->stamp)
				continue;
			row->stamp = self->stamp;
			if (take_row(delta, row, base, fields) != STATUS_OK)
				return STATUS_NO_MEMORY;
		}
	}
	/* One serial's rows ascend already; several have to be merged. Ids are unique: a total
	 * order. */
	if (self->serial - base > 1 && delta->rows.count > 1)
		qsort(delta->rows.items, delta->rows.count, sizeof *delta->rows.items, by_id);
	return STATUS_OK;
}

enum status view_collect(struct view *self, uint64_t base, wire_mask fields,
			 struct view_delta *delta)
{
	delta->rows.count = delta->removed.count = 0;
	delta->absolute = false;
	if (base < self->epoch_serial || base == 0)
		return STATUS_MISSING;
	enum status status = take_removals(self, base, delta);
	if (status != STATUS_OK)
		return status;
	if (self->serial - base < WIRE_RING_TICKS && base >= self->compacted)
		return collect_ring(self, base, fields, delta);
	delta->absolute = true;
	for (uint32_t i = 0; i < self->row_count && status == STATUS_OK; i++)
		if (self->rows[i].live)
			status = take_row(delta, &self->rows[i], base, fields);
	return status;
}

enum status view_collect_all(struct view *self, wire_mask fields, struct view_delta *delta)
{
	delta->rows.count = delta->removed.count = 0;
	delta->absolute = true;
	enum status status = STATUS_OK;
	for (uint32_t i = 0; i < self->row_count && status == STATUS_OK; i++)
		if (self->rows[i].live)
			status = take_row(delta, &self->rows[i], 0, fields);
	return status;
}

uint64_t view_hash(const struct view *self, wire_mask fields, bool *is_tick_hash)
{
	*is_tick_hash = (fields & WIRE_COLUMNS_TICK) == WIRE_COLUMNS_TICK;
	if (*is_tick_hash)
		return body_hash_finish(self->tick, self->tick_sum, self->live_count);
	uint64_t sum = 0;
	for (uint32_t i = 0; i < self->row_count; i++)
		if (self->rows[i].live)
			sum += wire_view_hash(&self->rows[i].body, fields);
	return body_hash_finish(self->tick, sum, self->live_count);
}
