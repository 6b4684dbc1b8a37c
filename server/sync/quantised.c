/* See quantised.h and its invariants Q1 to Q4. */
#include "server/sync/quantised.h"

#include <string.h>

#include "server/base/body_hash.h"
#include "server/base/heap.h"

enum { LOG_MIN = 256, CONTACTS_INDEX = WIRE_COLUMN_COUNT - 1 };
_Static_assert(WIRE_COLUMN_CONTACTS == 1 << (CONTACTS_INDEX + 1), "contacts are the last column");

void quantised_init(struct quantised *self, enum wire_profile profile)
{
	memset(self, 0, sizeof *self);
	self->profile = profile;
	self->log_max = LOG_MIN;
	while ((uint64_t)self->log_max * 2 * sizeof *self->log <= QUANTISED_LOG_BYTES)
		self->log_max *= 2;
	self->log_first = self->log_next = 1;
}

static void drop_contacts(struct quantised_row *row)
{
	heap_free(row->contacts);
	row->contacts = NULL;
	row->contact_bytes = row->contact_room = 0;
}

static void forget_contacts(struct quantised *self)
{
	for (uint32_t i = 0; i < self->row_count && self->contacts; i++)
		drop_contacts(&self->rows[i]);
	self->contacts = false;
}

void quantised_release(struct quantised *self)
{
	forget_contacts(self);
	heap_free(self->packed);
	heap_free(self->rows);
	heap_free(self->log);
	for (uint32_t i = 0; i < QUANTISED_SHARES; i++)
		heap_free(self->shares[i].values);
	quantised_init(self, self->profile);
}

/* ---- the log ----------------------------------------------------------------------------------- */

static struct quantised_entry *entry_at(const struct quantised *self, uint64_t number)
{
	return &self->log[number & (self->log_capacity - 1)];
}

/* Drops the oldest entry; bases before its serial are no longer covered. */
static void drop_oldest(struct quantised *self)
{
	self->floor = entry_at(self, self->log_first++)->serial;
}

static void drop_old(struct quantised *self)
{
	while (self->log_first < self->log_next &&
	       entry_at(self, self->log_first)->serial + WIRE_RING_TICKS <= self->serial)
		drop_oldest(self);
}

static enum status grow_log(struct quantised *self)
{
	uint32_t capacity = MAX_OF(2 * self->log_capacity, (uint32_t)LOG_MIN);
	struct quantised_entry *log = heap_alloc(capacity * sizeof *log);
	if (log == NULL)
		return STATUS_NO_MEMORY;
	for (uint64_t n = self->log_first; n < self->log_next; n++)
		log[n & (capacity - 1)] = *entry_at(self, n);
	heap_free(self->log);
	self->log = log;
	self->log_capacity = capacity;
	return STATUS_OK;
}

static enum status log_value(struct quantised *self, struct quantised_row *row)
{
	if (self->log_next - self->log_first == self->log_capacity) {
		if (self->log_capacity == self->log_max)
			drop_oldest(self);
		else if (grow_log(self) != STATUS_OK)
			return STATUS_NO_MEMORY;
	}
	*entry_at(self, self->log_next) =
		(struct quantised_entry){ row->now, self->serial, row->last };
	row->last = self->log_next++;
	return STATUS_OK;
}

static struct wire_slice contacts_of(const struct quantised_row *row)
{
	return (struct wire_slice){ row->contacts, row->contact_bytes };
}

/* ---- shares of hashes -------------------------------------------------------------------------- */

static void forget_share(struct quantised *self, uint32_t row)
{
	for (uint32_t i = 0; i < QUANTISED_SHARES; i++)
		if (row < self->shares[i].capacity)
			self->shares[i].values[row] = 0;
}

static void forget_shares(struct quantised *self)
{
	for (uint32_t i = 0; i < QUANTISED_SHARES; i++)
		if (self->shares[i].capacity > 0)
			memset(self->shares[i].values, 0,
			       self->shares[i].capacity * sizeof *self->shares[i].values);
}

/* The shares over these fields, with an entry for each row; the least recently used ones are
 * replaced. NULL without memory: then nothing is stored. */
static struct quantised_shares *shares_of(struct quantised *self, wire_mask fields)
{
	struct quantised_shares *found = &self->shares[0];
	for (uint32_t i = 0; i < QUANTISED_SHARES; i++) {
		struct quantised_shares *shares = &self->shares[i];
		if (shares->fields == fields) {
			found = shares;
			break;
		}
		if (shares->used < found->used)
			found = shares;
	}
	if (found->fields != fields || found->capacity < self->row_capacity) {
		uint64_t *values = heap_realloc(found->values, self->row_capacity * sizeof *values);
		if (values == NULL)
			return NULL;
		uint32_t known = found->fields == fields ? found->capacity : 0;
		memset(values + known, 0, (self->row_capacity - known) * sizeof *values);
		found->values = values;
		found->capacity = self->row_capacity;
		found->fields = fields;
	}
	found->used = self->serial;
	return found;
}

static uint64_t share(const struct quantised *self, const struct view *view, uint32_t row,
		      struct quantised_shares *shares, wire_mask fields)
{
	if (shares != NULL && shares->values[row] != 0)
		return shares->values[row];
	uint64_t value = wire_quantised_hash(&view->rows[row].body, &self->rows[row].now,
					     contacts_of(&self->rows[row]), fields);
	if (shares != NULL)
		shares->values[row] = value;
	return value;
}

/* ---- following the view ------------------------------------------------------------------------ */

/* Updates the row's contacts, and their serial if the bytes differ. */
static enum status show_contacts(struct quantised *self, const struct view_row *from,
				 struct quantised_row *row)
{
	struct wire_slice exact = { from->body.contacts, from->body.contact_bytes };
	enum status status =
		array_reserve(&self->packed, &self->packed_room, wire_touches_short_max(exact), 1);
	if (status != STATUS_OK)
		return status;
	uint32_t bytes = wire_touches_quantise(self->profile, exact, self->packed);
	if (bytes == row->contact_bytes &&
	    (bytes == 0 || memcmp(row->contacts, self->packed, bytes) == 0))
		return STATUS_OK;
	status = array_reserve(&row->contacts, &row->contact_room, bytes, 1);
	if (status != STATUS_OK)
		return status;
	if (bytes > 0)
		memcpy(row->contacts, self->packed, bytes);
	row->contact_bytes = bytes;
	row->contacts_changed = self->serial;
	return STATUS_OK;
}

/* Stores contacts of all rows for the first subscription that needs them; no client has been sent
 * any yet. */
static enum status show_all_contacts(struct quantised *self, const struct view *view)
{
	enum status status = STATUS_OK;
	self->contacts = true;
	for (uint32_t i = 0; i < self->row_count && status == STATUS_OK; i++) {
		self->rows[i].contacts_changed = self->serial;
		if (view->rows[i].live)
			status = show_contacts(self, &view->rows[i], &self->rows[i]);
	}
	forget_shares(self);
	return status;
}

static void make_row(struct quantised *self, const struct view_row *from, struct quantised_row *row)
{
	memset(row, 0, sizeof *row);
	row->id = from->body.id;
	row->contacts_changed = self->serial;
	forget_share(self, (uint32_t)(row - self->rows));
	wire_quantise(self->profile, &from->body, &row->now);
	for (uint32_t c = 0; c < QUANTISED_COLUMNS; c++)
		row->changed[c] = self->serial;
}

static enum status reserve_rows(struct quantised *self, const struct view *view)
{
	return array_reserve(&self->rows, &self->row_capacity, view->row_count, sizeof *self->rows);
}

static enum status rebuild(struct quantised *self, const struct view *view)
{
	forget_contacts(self);
	self->row_count = 0;
	self->log_first = self->log_next;
	self->floor = self->serial = view->serial;
	enum status status = reserve_rows(self, view);
	if (status != STATUS_OK)
		return status;
	for (uint32_t i = 0; i < view->row_count; i++)
		make_row(self, &view->rows[i], &self->rows[i]);
	self->row_count = view->row_count;
	return STATUS_OK;
}

/* Removes rows after a compaction of the view: both ascend by id. Log entries do not refer to rows,
 * so the log stays valid. */
static void close_gaps(struct quantised *self, const struct view *view)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < self->row_count; i++)
		if (kept < view->row_count && self->rows[i].id == view->rows[kept].body.id)
			self->rows[kept++] = self->rows[i];
		else
			drop_contacts(&self->rows[i]);
	self->row_count = kept;
	forget_shares(self);
}

static enum status update_row_columns(struct quantised *self, const struct view *view,
				      uint32_t index)
{
	const struct view_row *from = &view->rows[index];
	struct quantised_row *row = &self->rows[index];
	struct wire_quantised next;
	if (!from->live)
		return STATUS_OK;
	/* Columns that are not quantised may have changed, too. */
	forget_share(self, index);
	if (self->contacts && from->changed[CONTACTS_INDEX] == self->serial &&
	    show_contacts(self, from, row) != STATUS_OK)
		return STATUS_NO_MEMORY;
	memset(&next, 0, sizeof next);
	wire_quantise(self->profile, &from->body, &next);
	wire_mask mask = wire_quantised_differ(&row->now, &next);
	if (mask == 0)
		return STATUS_OK;
	if (log_value(self, row) != STATUS_OK)
		return STATUS_NO_MEMORY;
	row->now = next;
	for (uint32_t c = 0; c < QUANTISED_COLUMNS; c++)
		if (mask >> c & 1)
			row->changed[c] = self->serial;
	return STATUS_OK;
}

static enum status update_rows(struct quantised *self, const struct view *view)
{
	const struct view_changes *changes = &view->ring[view->serial % WIRE_RING_TICKS];
	uint32_t known = self->row_count;
	enum status status = STATUS_OK;
	if (view->compacted == view->serial) {
		for (uint32_t i = 0; i < known && status == STATUS_OK; i++)
			status = update_row_columns(self, view, i);
		return status;
	}
	for (uint32_t i = 0; i < changes->rows.count && status == STATUS_OK; i++)
		if (changes->rows.items[i] < known)
			status = update_row_columns(self, view, changes->rows.items[i]);
	return status;
}

static enum status apply_changes(struct quantised *self, const struct view *view)
{
	self->serial = view->serial;
	drop_old(self);
	if (view->compacted == view->serial)
		close_gaps(self, view);
	enum status status = reserve_rows(self, view);
	if (status == STATUS_OK)
		status = update_rows(self, view);
	while (status == STATUS_OK && self->row_count < view->row_count) {
		uint32_t row = self->row_count++;
		make_row(self, &view->rows[row], &self->rows[row]);
		if (self->contacts && view->rows[row].live)
			status = show_contacts(self, &view->rows[row], &self->rows[row]);
	}
	return status;
}

static enum status follow_serial(struct quantised *self, const struct view *view)
{
	bool next = self->serial != 0 && self->serial + 1 == view->serial &&
		    view->epoch_serial != view->serial;
	if (self->serial == view->serial)
		return STATUS_OK;
	return next ? apply_changes(self, view) : rebuild(self, view);
}

enum status quantised_follow(struct quantised *self, const struct view *view, bool contacts)
{
	if (!contacts)
		forget_contacts(self);
	enum status status = follow_serial(self, view);
	if (status == STATUS_OK && contacts && !self->contacts)
		status = show_all_contacts(self, view);
	if (status != STATUS_OK)
		quantised_release(self);
	return status;
}

/* ---- reading ----------------------------------------------------------------------------------- */

/* The row's value at serial `base`, which is at least `floor` and not before the row was
 * created. */
static const struct wire_quantised *quantised_at(const struct quantised *self, uint32_t row,
						 uint64_t base)
{
	const struct wire_quantised *value = &self->rows[row].now;
	/* Dropped entries have a serial below every base that callers may pass (floor). */
	for (uint64_t n = self->rows[row].last; n >= self->log_first && n != 0;) {
		const struct quantised_entry *entry = entry_at(self, n);
		if (entry->serial <= base)
			break;
		value = &entry->before;
		n = entry->older;
	}
	return value;
}

/* The index of a row of the view from its body. */
static uint32_t quantised_row_of(const struct view *view, const struct wire_body *body)
{
	return (uint32_t)((const struct view_row *)(const void *)body - view->rows);
}

static wire_mask changed_since(const struct quantised_row *row, uint64_t base)
{
	wire_mask mask = 0;
	for (uint32_t c = 0; c < QUANTISED_COLUMNS; c++)
		if (row->changed[c] > base)
			mask |= (wire_mask)(1u << c);
	return mask;
}

void quantised_refine(const struct quantised *self, const struct view *view, uint64_t base,
		      struct view_delta *delta)
{
	uint32_t kept = 0;
	delta->absolute = base < self->floor;
	for (uint32_t i = 0; i < delta->rows.count; i++) {
		struct block_row row = delta->rows.items[i];
		uint32_t index = quantised_row_of(view, row.body);
		const struct quantised_row *values = &self->rows[index];
		row.to = &values->now;
		row.from = NULL;
		if (!row.created && !delta->absolute) {
			row.from = quantised_at(self, index, base);
			row.mask &= wire_quantised_differ(row.from, row.to) |
				    (wire_mask)~WIRE_COLUMNS_QUANTISED;
		} else if (!row.created) {
			row.mask &=
				changed_since(values, base) | (wire_mask)~WIRE_COLUMNS_QUANTISED;
		}
		if (row.mask & WIRE_COLUMN_CONTACTS) {
			row.contacts = contacts_of(values);
			if (!row.created && values->contacts_changed <= base)
				row.mask &= (wire_mask)~WIRE_COLUMN_CONTACTS;
		}
		if (row.mask != 0)
			delta->rows.items[kept++] = row;
	}
	delta->rows.count = kept;
}

uint64_t quantised_share(struct quantised *self, const struct view *view, uint32_t row,
			 wire_mask fields)
{
	return share(self, view, row, shares_of(self, fields), fields);
}

uint64_t quantised_hash(struct quantised *self, const struct view *view, wire_mask fields)
{
	struct quantised_shares *shares = shares_of(self, fields);
	uint64_t sum = 0;
	for (uint32_t i = 0; i < view->row_count; i++)
		if (view->rows[i].live)
			sum += share(self, view, i, shares, fields);
	return body_hash_finish(view->tick, sum, view->live_count);
}
