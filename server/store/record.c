/* See record.h. A record is appended whole or not at all: on failure the buffer is truncated to the
 * start of the record. */
#include "server/store/record.h"

#include <stdio.h>
#include <string.h>

/* Bytes that an empty buffer retains: more than the records of a busy tick. */
enum { RETAINED_BYTES_MAX = 256 << 10 };
/* Bytes of one image that it retains: new memory costs as much as filling it. */
enum { RETAINED_IMAGE_MAX = 64 << 20 };

/* Keeps the memory of the larger one of two images, and frees the other. */
static void retain_image(struct record_buffer *self, struct bytes *image)
{
	if (image->capacity > self->spare.capacity && image->capacity <= RETAINED_IMAGE_MAX) {
		struct bytes smaller = self->spare;
		self->spare = *image;
		*image = smaller;
	}
	bytes_release(image);
	bytes_reset(&self->spare);
}

void record_buffer_reset(struct record_buffer *self)
{
	for (uint32_t i = 0; i < self->images.count; i++)
		retain_image(self, &self->images.items[i]);
	for (uint32_t i = 0; i < self->shapes.count; i++)
		shape_release(self->shapes.items[i]);
	self->images.count = 0;
	self->shapes.count = 0;
	self->charged = 0;
	bytes_reset(&self->records);
	if (self->records.capacity > RETAINED_BYTES_MAX)
		bytes_release(&self->records);
	if (self->shapes.capacity * sizeof *self->shapes.items > RETAINED_BYTES_MAX)
		ARRAY_RELEASE(&self->shapes);
}

void record_buffer_release(struct record_buffer *self)
{
	record_buffer_reset(self);
	bytes_release(&self->records);
	bytes_release(&self->spare);
	ARRAY_RELEASE(&self->images);
	ARRAY_RELEASE(&self->shapes);
}

bool record_buffer_is_empty(const struct record_buffer *self)
{
	return self->records.count == 0;
}

uint64_t record_apply_charge(const struct journal_batch *batches, uint32_t count)
{
	uint64_t charge = RECORD_CHARGE;
	for (uint32_t i = 0; i < count; i++)
		charge += RECORD_CHARGE + (uint64_t)batches[i].bytes;
	return charge;
}

uint64_t record_checkpoint_charge(const struct bytes *image)
{
	return RECORD_CHARGE + WORLD_TABLES_MAX * sizeof(uint64_t) + image->count;
}

/* ---- putting ----------------------------------------------------------------------------------- */

static struct writer begin_record(struct record_buffer *self, enum record_kind kind, uint32_t epoch,
				  uint64_t tick, uint32_t edit)
{
	struct writer writer = writer_into(&self->records);
	write_u8(&writer, (uint8_t)kind);
	write_u32(&writer, epoch);
	write_u64(&writer, tick);
	write_u32(&writer, edit);
	return writer;
}

/* Completes a record that began at `start`, or removes it if memory ran out. */
static enum status end_record(struct record_buffer *self, const struct writer *writer, size_t start,
			      uint64_t charge)
{
	enum status status = writer_status(writer);
	if (status == STATUS_OK)
		self->charged += charge;
	else
		self->records.count = start;
	return status;
}

enum status record_buffer_put_apply(struct record_buffer *self, uint32_t epoch, uint64_t tick,
				    uint32_t edit, const struct journal_batch *batches,
				    uint32_t count)
{
	size_t start = self->records.count;
	struct writer writer = begin_record(self, RECORD_APPLY, epoch, tick, edit);
	write_u32(&writer, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct journal_batch *batch = &batches[i];
		write_u32(&writer, batch->session);
		write_u64(&writer, batch->batch);
		write_u64(&writer, batch->at);
		write_u8(&writer, batch->late);
		write_u8(&writer, batch->restricted);
		write_u8(&writer, batch->result);
		write_u32(&writer, batch->count);
		write_blob(&writer, batch->commands, batch->bytes);
	}
	return end_record(self, &writer, start, record_apply_charge(batches, count));
}

enum status record_buffer_put_tick(struct record_buffer *self, uint32_t epoch, uint64_t tick,
				   uint64_t tick_hash)
{
	size_t start = self->records.count;
	struct writer writer = begin_record(self, RECORD_TICK, epoch, tick, 0);
	write_u64(&writer, tick_hash);
	return end_record(self, &writer, start, RECORD_CHARGE);
}

enum status record_buffer_swap_checkpoint(struct record_buffer *self, uint32_t epoch, uint64_t tick,
					  uint32_t edit, const char *name, struct bytes *image,
					  uint64_t state_hash, const uint64_t *table_hashes,
					  uint32_t table_count)
{
	ASSERT(table_count <= WORLD_TABLES_MAX);
	ASSERT(name == NULL || strlen(name) <= WIRE_NAME_MAX);
	enum status status = ARRAY_RESERVE(&self->images, self->images.count + 1u);
	if (status != STATUS_OK)
		return status;
	size_t start = self->records.count;
	struct writer writer = begin_record(self, RECORD_CHECKPOINT, epoch, tick, edit);
	write_u64(&writer, state_hash);
	write_u32(&writer, table_count);
	for (uint32_t i = 0; i < table_count; i++)
		write_u64(&writer, table_hashes[i]);
	write_u8(&writer, name != NULL);
	write_blob(&writer, name, name != NULL ? (uint32_t)strlen(name) : 0);
	status = end_record(self, &writer, start, record_checkpoint_charge(image));
	if (status != STATUS_OK)
		return status;
	self->images.items[self->images.count++] = *image;
	*image = self->spare;
	bytes_init(&self->spare);
	return STATUS_OK;
}

enum status record_buffer_put_checkpoint(struct record_buffer *self, uint32_t epoch, uint64_t tick,
					 uint32_t edit, const char *name, const struct bytes *image,
					 uint64_t state_hash, const uint64_t *table_hashes,
					 uint32_t table_count)
{
	struct bytes copy = { 0 };
	enum status status = bytes_append(&copy, image->data, image->count);
	if (status == STATUS_OK)
		status = record_buffer_swap_checkpoint(self, epoch, tick, edit, name, &copy,
						       state_hash, table_hashes, table_count);
	if (status == STATUS_OK)
		retain_image(self, &copy); /* it is the spare one now */
	else
		bytes_release(&copy);
	return status;
}

enum status record_buffer_put_shape(struct record_buffer *self, uint32_t epoch, uint64_t tick,
				    const struct shape *shape)
{
	enum status status = ARRAY_RESERVE(&self->shapes, self->shapes.count + 1u);
	if (status != STATUS_OK)
		return status;
	size_t start = self->records.count;
	struct writer writer = begin_record(self, RECORD_SHAPE, epoch, tick, 0);
	status = end_record(self, &writer, start, RECORD_CHARGE);
	if (status == STATUS_OK)
		self->shapes.items[self->shapes.count++] = shape_retain(shape);
	return status;
}

enum status record_buffer_put_restore(struct record_buffer *self, uint32_t epoch, uint64_t tick,
				      uint32_t edit, const char *name)
{
	ASSERT(strlen(name) <= WIRE_NAME_MAX);
	size_t start = self->records.count;
	struct writer writer = begin_record(self, RECORD_RESTORE, epoch, tick, edit);
	write_blob(&writer, name, (uint32_t)strlen(name));
	return end_record(self, &writer, start, RECORD_CHARGE);
}

enum status record_buffer_put_restore_state(struct record_buffer *self, uint32_t epoch,
					    uint64_t tick, uint32_t edit, const struct bytes *image,
					    uint64_t state_hash, const uint64_t *table_hashes,
					    uint32_t table_count)
{
	size_t start = self->records.count;
	uint64_t charged = self->charged;
	enum status status = record_buffer_put_restore(self, epoch, tick, edit, "");
	if (status == STATUS_OK)
		status = record_buffer_put_checkpoint(self, epoch, tick, edit, NULL, image,
						      state_hash, table_hashes, table_count);
	if (status != STATUS_OK) {
		self->records.count = start;
		self->charged = charged;
	}
	return status;
}

enum status record_buffer_put_stop(struct record_buffer *self, uint32_t epoch, uint64_t tick,
				   enum status stop)
{
	size_t start = self->records.count;
	struct writer writer = begin_record(self, RECORD_STOP, epoch, tick, 0);
	write_u8(&writer, (uint8_t)stop);
	return end_record(self, &writer, start, RECORD_CHARGE);
}

enum status record_buffer_put_pace(struct record_buffer *self, uint32_t epoch, uint64_t tick,
				   const struct journal_pace *pace)
{
	size_t start = self->records.count;
	struct writer writer = begin_record(self, RECORD_PACE, epoch, tick, 0);
	write_u8(&writer, pace->mode);
	write_u32(&writer, pace->speed);
	write_u32(&writer, pace->barrier);
	return end_record(self, &writer, start, RECORD_CHARGE);
}

static void write_text(struct writer *writer, const char *text)
{
	write_blob(writer, text, (uint32_t)strlen(text));
}

enum status record_buffer_put_keep(struct record_buffer *self, uint32_t epoch, uint64_t tick,
				   const struct journal_keep *keep)
{
	size_t start = self->records.count;
	struct writer writer = begin_record(self, RECORD_KEEP, epoch, tick, 0);
	write_u64(&writer, keep->ticks);
	write_u64(&writer, keep->bytes);
	write_text(&writer, keep->name);
	write_text(&writer, keep->title);
	return end_record(self, &writer, start, RECORD_KEEP_CHARGE);
}

/* ---- taking ------------------------------------------------------------------------------------ */

struct record_reader record_buffer_read(const struct record_buffer *records)
{
	return (struct record_reader){
		.records = records,
		.reader = reader_over(records->records.data, records->records.count),
	};
}

static bool take_text(struct reader *reader, char *out, uint32_t most)
{
	uint32_t bytes;
	const uint8_t *text = read_blob(reader, &bytes);
	if (reader->failed || bytes > most || memchr(text, 0, bytes) != NULL)
		return false;
	memcpy(out, text, bytes);
	out[bytes] = '\0';
	return true;
}

static bool take_name(struct reader *reader, char name[WIRE_NAME_MAX + 1])
{
	return take_text(reader, name, WIRE_NAME_MAX);
}

static bool take_keep(struct reader *reader, struct journal_keep *keep)
{
	keep->ticks = read_u64(reader);
	keep->bytes = read_u64(reader);
	return take_name(reader, keep->name) && take_text(reader, keep->title, WIRE_TITLE_MAX);
}

static bool take_checkpoint(struct record_reader *self, struct record_checkpoint *out)
{
	struct reader *reader = &self->reader;
	out->state_hash = read_u64(reader);
	out->table_count = read_u32(reader);
	if (out->table_count > WORLD_TABLES_MAX)
		return false;
	for (uint32_t i = 0; i < out->table_count; i++)
		out->table_hashes[i] = read_u64(reader);
	out->named = read_u8(reader) != 0;
	if (!take_name(reader, out->name) || self->images == self->records->images.count)
		return false;
	out->image = &self->records->images.items[self->images++];
	return true;
}

/* Skips the batches of an APPLY to find the next record. */
static bool skip_batches(struct reader *reader, struct record *apply)
{
	apply->apply.count = read_u32(reader);
	apply->apply.reader = *reader;
	struct record probe = *apply;
	struct journal_batch batch;
	for (uint32_t i = 0; i < apply->apply.count; i++)
		if (record_next_batch(&probe, &batch) != STATUS_OK)
			return false;
	*reader = probe.apply.reader;
	return true;
}

static bool take_body(struct record_reader *self, struct record *out)
{
	switch (out->kind) {
	case RECORD_APPLY:
		return skip_batches(&self->reader, out);
	case RECORD_TICK:
		out->tick_hash = read_u64(&self->reader);
		return true;
	case RECORD_CHECKPOINT:
		return take_checkpoint(self, &out->checkpoint);
	case RECORD_SHAPE:
		if (self->shapes == self->records->shapes.count)
			return false;
		out->shape = self->records->shapes.items[self->shapes++];
		return true;
	case RECORD_RESTORE:
		return take_name(&self->reader, out->snapshot);
	case RECORD_STOP:
		out->stop = read_u8(&self->reader);
		return true;
	case RECORD_PACE:
		out->pace.mode = read_u8(&self->reader);
		out->pace.speed = read_u32(&self->reader);
		out->pace.barrier = read_u32(&self->reader);
		return true;
	case RECORD_KEEP:
		return take_keep(&self->reader, &out->keep);
	}
	return false;
}

enum status record_buffer_next(struct record_reader *self, struct record *out)
{
	if (reader_left(&self->reader) == 0)
		return STATUS_MISSING;
	memset(out, 0, sizeof *out);
	out->kind = read_u8(&self->reader);
	out->epoch = read_u32(&self->reader);
	out->tick = read_u64(&self->reader);
	out->edit = read_u32(&self->reader);
	bool good = take_body(self, out) && !self->reader.failed;
	return good ? STATUS_OK : STATUS_MALFORMED;
}

enum status record_next_batch(struct record *apply, struct journal_batch *out)
{
	struct reader *reader = &apply->apply.reader;
	out->session = read_u32(reader);
	out->batch = read_u64(reader);
	out->at = read_u64(reader);
	out->late = read_u8(reader);
	out->restricted = read_u8(reader) != 0;
	out->result = read_u8(reader);
	out->count = read_u32(reader);
	out->commands = read_blob(reader, &out->bytes);
	return reader->failed ? STATUS_MALFORMED : STATUS_OK;
}
