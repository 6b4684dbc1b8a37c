/* mirror.c: see mirror.h.
 *
 * A part of a DELTA is applied in three passes over sorted ids, each linear in the size of the mirror:
 * removed bodies are deleted, gaps for new bodies are opened from the back, and each row finds its body
 * by searching on from the row before. Rows of a SNAPSHOT are appended.
 */
#include "protocol/mirror.h"

#include <string.h>

#include "server/base/body_hash.h"
#include "server/base/heap.h"

void mirror_init(struct mirror *self, enum wire_profile profile, wire_mask fields,
		 uint32_t body_max)
{
	memset(self, 0, sizeof *self);
	self->profile = profile;
	self->fields = fields & WIRE_COLUMNS_SERVED;
	self->body_max = body_max;
}

void mirror_watch_joints(struct mirror *self, wire_mask columns, uint32_t joint_max)
{
	self->joints.profile = self->profile;
	self->joints.columns = columns & WIRE_JOINT_COLUMNS_ALL;
	self->joints.max = joint_max;
}

void mirror_watch_particles(struct mirror *self, wire_mask columns, uint32_t particle_max)
{
	self->particles.profile = self->profile;
	self->particles.columns = columns & WIRE_PARTICLE_COLUMNS_ALL;
	self->particles.max = particle_max;
}

static void shapes_free(struct wire_body *body)
{
	heap_free((void *)(uintptr_t)body->shapes);
	body->shapes = NULL;
	body->shape_count = 0;
}

static void contacts_free(struct wire_body *body)
{
	heap_free((void *)(uintptr_t)body->contacts);
	body->contacts = NULL;
	body->contact_bytes = 0;
}

static void lists_free(struct wire_body *body)
{
	shapes_free(body);
	contacts_free(body);
}

static void clear_bodies(struct mirror *self)
{
	for (uint32_t i = 0; i < self->count; i++)
		lists_free(&self->bodies[i]);
	self->count = 0;
}

void mirror_release(struct mirror *self)
{
	clear_bodies(self);
	heap_free(self->bodies);
	heap_free(self->quantised);
	heap_free(self->scratch);
	mirror_joints_release(&self->joints);
	mirror_particles_release(&self->particles);
	memset(self, 0, sizeof *self);
}

/* Room for `more` bodies behind the last one. */
static enum status reserve_bodies(struct mirror *self, uint32_t more)
{
	if (more > self->body_max - self->count)
		return STATUS_LIMIT;
	uint32_t needed = self->count + more;
	if (needed <= self->capacity)
		return STATUS_OK;
	uint32_t capacity = MAX_OF(needed, MIN_OF(self->body_max, self->capacity * 2));
	void *bodies = heap_realloc(self->bodies, (size_t)capacity * sizeof *self->bodies);
	if (bodies == NULL)
		return STATUS_NO_MEMORY;
	self->bodies = bodies;
	if (wire_profile_quantised(self->profile)) {
		void *quantised =
			heap_realloc(self->quantised, (size_t)capacity * sizeof *self->quantised);
		if (quantised == NULL)
			return STATUS_NO_MEMORY;
		self->quantised = quantised;
	}
	self->capacity = capacity;
	return STATUS_OK;
}

static void move_body(struct mirror *self, uint32_t to, uint32_t from)
{
	self->bodies[to] = self->bodies[from];
	if (self->quantised != NULL)
		self->quantised[to] = self->quantised[from];
}

/* A body with only an id. Its quantised values are zeros, the base of a new body's row. */
static void make_body(struct mirror *self, uint32_t at, uint32_t id)
{
	self->bodies[at] = (struct wire_body){ .id = id };
	if (self->quantised != NULL)
		self->quantised[at] = (struct wire_quantised){ 0 };
}

/* The index of the first body whose id is not below `id`. */
static uint32_t lower_bound(const struct mirror *self, uint32_t id)
{
	uint32_t low = 0, high = self->count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (self->bodies[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct wire_body *mirror_find(const struct mirror *self, uint32_t id)
{
	uint32_t i = lower_bound(self, id);
	return i < self->count && self->bodies[i].id == id ? &self->bodies[i] : NULL;
}

/* Takes the quantised columns of a row from the reader. */
static bool store_change(struct mirror *self, uint32_t at, wire_mask mask, bool absolute)
{
	struct wire_quantised *values = &self->quantised[at];
	struct wire_quantised next = absolute ? (struct wire_quantised){ 0 } : *values;
	if (!wire_change_apply(self->profile, &self->reader.change, mask, &next))
		return false;
	wire_quantised_copy(values, &next, mask);
	wire_dequantise(self->profile, values, mask, &self->bodies[at]);
	return true;
}

static enum status store_shapes(struct wire_body *body, const struct wire_body *row)
{
	uint8_t *shapes = NULL;
	if (row->shape_count > 0) {
		size_t bytes = (size_t)row->shape_count * WIRE_SHAPE_BYTES;
		shapes = heap_alloc(bytes);
		if (shapes == NULL)
			return STATUS_NO_MEMORY;
		memcpy(shapes, row->shapes, bytes);
	}
	shapes_free(body);
	body->shapes = shapes;
	body->shape_count = row->shape_count;
	return STATUS_OK;
}

/* Contacts in the encoding of the profile; those of `plain` as in `exact`, so that they can be hashed. */
static enum status store_contacts(struct mirror *self, struct wire_body *body,
				  const struct wire_body *row)
{
	bool plain = self->profile == WIRE_PROFILE_PLAIN;
	uint32_t bytes = plain ? block_contact_bytes(&self->reader) : row->contact_bytes;
	uint8_t *contacts = NULL;
	if (bytes > 0) {
		contacts = heap_alloc(bytes);
		if (contacts == NULL)
			return STATUS_NO_MEMORY;
		if (plain)
			block_take_contacts(&self->reader, contacts);
		else
			memcpy(contacts, row->contacts, bytes);
	}
	contacts_free(body);
	body->contacts = contacts;
	body->contact_bytes = bytes;
	return STATUS_OK;
}

/* Writes a row's columns into a body of the mirror; shapes and contacts are copied. */
static enum status store_body(struct mirror *self, uint32_t at, const struct wire_body *row,
			      wire_mask mask, bool absolute)
{
	struct wire_body *body = &self->bodies[at];
	if (self->quantised != NULL) {
		if (!store_change(self, at, mask, absolute))
			return STATUS_MALFORMED;
		mask &= (wire_mask)~WIRE_COLUMNS_QUANTISED;
	}
	const wire_mask lists = WIRE_COLUMN_SHAPES | WIRE_COLUMN_CONTACTS;
	wire_columns_copy(body, row, mask & (wire_mask)~lists);
	enum status status = STATUS_OK;
	if (mask & WIRE_COLUMN_SHAPES)
		status = store_shapes(body, row);
	if (status == STATUS_OK && (mask & WIRE_COLUMN_CONTACTS))
		status = store_contacts(self, body, row);
	return status;
}

static enum status append_rows(struct mirror *self, struct wire_slice columns)
{
	struct wire_body row = { 0 };
	wire_mask mask;
	enum status status = block_open(&self->reader, self->profile, self->fields, columns);
	if (status == STATUS_OK)
		status = reserve_bodies(self, self->reader.left);
	while (status == STATUS_OK &&
	       (status = block_next(&self->reader, &row, &mask)) == STATUS_OK) {
		bool ascends = self->count == 0 || row.id > self->bodies[self->count - 1].id;
		if (mask != self->fields || !ascends)
			return STATUS_MALFORMED;
		make_body(self, self->count, row.id);
		status = store_body(self, self->count, &row, mask, true);
		if (status == STATUS_OK)
			self->count++;
		else
			lists_free(&self->bodies[self->count]);
	}
	return status == STATUS_MISSING ? STATUS_OK : status;
}

static enum status remove_bodies(struct mirror *self, struct wire_slice removed)
{
	struct block_ids ids;
	uint32_t id, read = 0, write = 0;
	enum status status = block_ids_open(&ids, self->profile, removed);
	if (status != STATUS_OK || ids.left == 0)
		return status;
	while ((status = block_ids_next(&ids, &id)) == STATUS_OK) {
		while (read < self->count && self->bodies[read].id < id)
			move_body(self, write++, read++);
		if (read == self->count || self->bodies[read].id != id) {
			status = STATUS_MALFORMED;
			break;
		}
		lists_free(&self->bodies[read++]);
	}
	while (read < self->count)
		move_body(self, write++, read++);
	self->count = write;
	return status == STATUS_MISSING ? STATUS_OK : status;
}

/* Reads the ids of new bodies into scratch. */
static enum status read_created(struct mirror *self, struct wire_slice created, uint32_t *count)
{
	struct block_ids ids;
	uint32_t id;
	*count = 0;
	enum status status = block_ids_open(&ids, self->profile, created);
	if (status != STATUS_OK)
		return status;
	status = reserve_bodies(self, ids.left);
	if (status != STATUS_OK)
		return status;
	if (ids.left > self->scratch_capacity) {
		void *scratch =
			heap_realloc(self->scratch, (size_t)ids.left * sizeof *self->scratch);
		if (scratch == NULL)
			return STATUS_NO_MEMORY;
		self->scratch = scratch;
		self->scratch_capacity = ids.left;
	}
	while ((status = block_ids_next(&ids, &id)) == STATUS_OK)
		self->scratch[(*count)++] = id;
	return status == STATUS_MISSING ? STATUS_OK : status;
}

/* Merges the new ids in from the back; their bodies are empty until their rows are read. Id 0 cannot be
 * new, so the only possible fault is an id that exists already. */
static enum status create_bodies(struct mirror *self, uint32_t created)
{
	for (uint32_t i = 0; i < created; i++) {
		if (mirror_find(self, self->scratch[i]) != NULL)
			return STATUS_MALFORMED;
	}
	uint32_t old = self->count, write = self->count + created;
	self->count = write;
	while (created > 0) {
		if (old > 0 && self->bodies[old - 1].id > self->scratch[created - 1])
			move_body(self, --write, --old);
		else
			make_body(self, --write, self->scratch[--created]);
	}
	return STATUS_OK;
}

static enum status update_rows(struct mirror *self, struct wire_slice columns, uint32_t created,
			       bool absolute)
{
	struct wire_body row = { 0 };
	wire_mask mask;
	uint32_t at = 0, fresh = 0;
	enum status status = block_open(&self->reader, self->profile, self->fields, columns);
	while (status == STATUS_OK &&
	       (status = block_next(&self->reader, &row, &mask)) == STATUS_OK) {
		while (at < self->count && self->bodies[at].id < row.id)
			at++;
		if (at == self->count || self->bodies[at].id != row.id)
			return STATUS_MALFORMED;
		if (fresh < created && self->scratch[fresh] == row.id) {
			/* The row of a new body must have all columns. */
			if (mask != self->fields)
				return STATUS_MALFORMED;
			fresh++;
		}
		status = store_body(self, at, &row, mask, absolute);
	}
	if (status != STATUS_MISSING)
		return status;
	return fresh == created ? STATUS_OK : STATUS_MALFORMED;
}

static struct wire_slice contacts_of(const struct wire_body *body)
{
	return (struct wire_slice){ body->contacts, body->contact_bytes };
}

uint64_t mirror_view_hash(const struct mirror *self, uint64_t tick)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < self->count; i++)
		sum += self->quantised != NULL
			       ? wire_quantised_hash(&self->bodies[i], &self->quantised[i],
						     contacts_of(&self->bodies[i]), self->fields)
			       : wire_view_hash(&self->bodies[i], self->fields);
	return body_hash_finish(tick, sum, self->count);
}

uint64_t mirror_tick_hash(const struct mirror *self, uint64_t tick)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < self->count; i++)
		sum += wire_tick_hash(&self->bodies[i]);
	return body_hash_finish(tick, sum, self->count);
}

/* Checks the order of a part and records it; a first part may begin a frame at any time. */
static enum status arrive(struct mirror *self, enum message_type type, uint64_t tick, uint64_t edit,
			  uint64_t part, uint64_t of)
{
	if (of == 0 || part >= of)
		return STATUS_MALFORMED;
	if (part == 0) {
		self->arriving = type;
		self->arriving_tick = tick;
		self->arriving_edit = (uint32_t)edit;
		self->of = (uint32_t)of;
	} else if (self->arriving != type || self->arriving_tick != tick ||
		   self->arriving_edit != edit || self->next_part != part || self->of != of) {
		return STATUS_SEQUENCE;
	}
	self->next_part = (uint32_t)part + 1;
	return STATUS_OK;
}

/* Called when all parts of the frame are applied. */
static enum status complete_frame(struct mirror *self, uint64_t tick, bool *last)
{
	if (last != NULL)
		*last = true;
	self->arriving = MESSAGE_NONE;
	self->tick = tick;
	self->edit = self->arriving_edit;
	self->complete = true;
	return STATUS_OK;
}

static enum status diverge(struct mirror *self, uint64_t tick, bool *last)
{
	self->arriving = MESSAGE_NONE;
	self->tick = tick;
	self->edit = self->arriving_edit;
	self->checked = false;
	if (last != NULL)
		*last = true;
	return STATUS_DIVERGED;
}

/* Waits for what follows the parts of `done`; without anything the frame is complete. */
static enum status await_next(struct mirror *self, enum message_type done, uint64_t flags,
			      uint64_t tick, bool *last)
{
	bool rows = done != MESSAGE_ROWS && (flags & WIRE_FRAME_ROWS);
	if (done != MESSAGE_ROWS)
		self->blocks_follow = flags & WIRE_FRAME_BLOCKS;
	if (!rows && !self->blocks_follow)
		return complete_frame(self, tick, last);
	if ((rows && self->joints.columns == 0) ||
	    (self->blocks_follow && self->particles.columns == 0)) {
		self->arriving = MESSAGE_NONE;
		return STATUS_MALFORMED;
	}
	self->arriving = rows ? MESSAGE_ROWS : MESSAGE_BLOCKS;
	self->next_part = self->of = 0;
	return STATUS_OK;
}

static enum status depart(struct mirror *self, uint64_t tick, const struct wire_hash *hash,
			  uint64_t flags, bool *last)
{
	if (self->next_part != self->of)
		return STATUS_OK;
	self->checked = hash->set;
	if (hash->set) {
		uint64_t own = flags & WIRE_FRAME_TICK_HASH ? mirror_tick_hash(self, tick)
							    : mirror_view_hash(self, tick);
		if (own != hash->value)
			return diverge(self, tick, last);
	}
	return await_next(self, self->arriving, flags, tick, last);
}

enum status mirror_snapshot(struct mirror *self, const struct msg_snapshot *frame, bool *last)
{
	if (last != NULL)
		*last = false;
	self->complete = false;
	enum status status =
		arrive(self, MESSAGE_SNAPSHOT, frame->tick, frame->edit, frame->part, frame->of);
	if (status == STATUS_OK && frame->part == 0) {
		clear_bodies(self);
		self->joints.count = 0;
		mirror_particles_clear(&self->particles);
		self->epoch = frame->epoch;
	}
	if (status == STATUS_OK && self->epoch != frame->epoch)
		status = STATUS_SEQUENCE;
	if (status == STATUS_OK)
		status = append_rows(self, frame->columns);
	if (status == STATUS_OK)
		return depart(self, frame->tick, &frame->hash, frame->flags, last);
	self->arriving = MESSAGE_NONE;
	return status;
}

static enum status delta_apply(struct mirror *self, const struct msg_delta *frame)
{
	uint32_t created;
	enum status status = remove_bodies(self, frame->removed);
	if (status == STATUS_OK)
		status = read_created(self, frame->created, &created);
	if (status == STATUS_OK)
		status = create_bodies(self, created);
	if (status == STATUS_OK)
		status = update_rows(self, frame->columns, created,
				     frame->flags & WIRE_FRAME_ABSOLUTE);
	return status;
}

enum status mirror_delta(struct mirror *self, const struct msg_delta *frame, bool *last)
{
	if (last != NULL)
		*last = false;
	/* A first part needs a complete mirror as its base; later parts continue the frame. */
	bool stands = frame->part == 0 ? self->complete : self->arriving == MESSAGE_DELTA;
	self->complete = false;
	enum status status = STATUS_SEQUENCE;
	if (stands && frame->epoch == self->epoch && frame->base == self->tick &&
	    frame->base_edit == self->edit)
		status = arrive(self, MESSAGE_DELTA, frame->tick, frame->edit, frame->part,
				frame->of);
	if (status == STATUS_OK)
		status = delta_apply(self, frame);
	if (status == STATUS_OK)
		return depart(self, frame->tick, &frame->hash, frame->flags, last);
	self->arriving = MESSAGE_NONE;
	return status;
}

/* Parts of ROWS and BLOCKS continue the frame after all of its bodies. */
static enum status follow(const struct mirror *self, enum message_type type, uint64_t epoch,
			  uint64_t tick, uint64_t edit, uint64_t part, uint64_t of)
{
	if (self->arriving != type || epoch != self->epoch || tick != self->arriving_tick ||
	    edit != self->arriving_edit || part != self->next_part || (part != 0 && of != self->of))
		return STATUS_SEQUENCE;
	return part < of ? STATUS_OK : STATUS_MALFORMED;
}

/* A part of ROWS or BLOCKS was applied with that result. True: it was the last one. */
static bool has_arrived(struct mirror *self, enum status status, uint64_t of)
{
	if (status != STATUS_OK) {
		self->arriving = MESSAGE_NONE;
		return false;
	}
	self->of = (uint32_t)of;
	return ++self->next_part == self->of;
}

enum status mirror_rows(struct mirror *self, const struct msg_rows *frame, bool *last)
{
	if (last != NULL)
		*last = false;
	self->complete = false;
	enum status status = follow(self, MESSAGE_ROWS, frame->epoch, frame->tick, frame->edit,
				    frame->part, frame->of);
	if (status == STATUS_OK && frame->kind != WIRE_VISIBLE_JOINT)
		status = STATUS_MALFORMED;
	if (status == STATUS_OK)
		status = mirror_joints_apply(&self->joints, frame);
	if (!has_arrived(self, status, frame->of))
		return status;
	if (frame->hash.set && mirror_joints_hash(&self->joints, frame->tick) != frame->hash.value)
		return diverge(self, frame->tick, last);
	return await_next(self, MESSAGE_ROWS, frame->flags, frame->tick, last);
}

enum status mirror_blocks(struct mirror *self, const struct msg_blocks *frame, bool *last)
{
	if (last != NULL)
		*last = false;
	self->complete = false;
	enum status status = follow(self, MESSAGE_BLOCKS, frame->epoch, frame->tick, frame->edit,
				    frame->part, frame->of);
	if (status == STATUS_OK && frame->kind != WIRE_VISIBLE_PARTICLE)
		status = STATUS_MALFORMED;
	if (status == STATUS_OK)
		status = mirror_particles_apply(&self->particles, frame);
	if (!has_arrived(self, status, frame->of))
		return status;
	if (frame->hash.set &&
	    mirror_particles_hash(&self->particles, frame->tick) != frame->hash.value)
		return diverge(self, frame->tick, last);
	return complete_frame(self, frame->tick, last);
}

enum status mirror_take(struct mirror *self, const struct message *message, bool *last)
{
	switch (message->type) {
	case MESSAGE_SNAPSHOT:
		return mirror_snapshot(self, &message->snapshot, last);
	case MESSAGE_DELTA:
		return mirror_delta(self, &message->delta, last);
	case MESSAGE_ROWS:
		return mirror_rows(self, &message->rows, last);
	default:
		ASSERT(message->type == MESSAGE_BLOCKS);
		return mirror_blocks(self, &message->blocks, last);
	}
}
