/* bytes.c: growing buffers, and bounded little-endian writing and reading. Values are composed byte
 * by byte, so the result does not depend on the machine's byte order. */
#include "server/base/bytes.h"

#include "server/base/heap.h"

enum { BYTES_MIN = 64 };

void bytes_init(struct bytes *self)
{
	*self = (struct bytes){ 0 };
}

void bytes_release(struct bytes *self)
{
	heap_free(self->data);
	*self = (struct bytes){ 0 };
}

enum status bytes_reserve(struct bytes *self, size_t more)
{
	VALIDATE(self->count <= self->capacity);
	if (more <= self->capacity - self->count)
		return STATUS_OK;
	if (more > SIZE_MAX / 2 - self->count)
		return STATUS_NO_MEMORY;
	size_t wanted = self->count + more;
	size_t capacity = MAX_OF(self->capacity, (size_t)BYTES_MIN);
	while (capacity < wanted)
		capacity *= 2;
	ASSERT(capacity - self->count >= more);
	uint8_t *data = heap_realloc(self->data, capacity);
	if (data == NULL)
		return STATUS_NO_MEMORY;
	self->data = data;
	self->capacity = capacity;
	return STATUS_OK;
}

enum status bytes_append(struct bytes *self, const void *data, size_t count)
{
	enum status status = bytes_reserve(self, count);
	if (status != STATUS_OK)
		return status;
	if (count > 0)
		memcpy(self->data + self->count, data, count);
	self->count += count;
	VALIDATE(self->count <= self->capacity);
	return STATUS_OK;
}

void bytes_consume(struct bytes *self, size_t count)
{
	count = MIN_OF(count, self->count);
	if (count == 0)
		return;
	memmove(self->data, self->data + count, self->count - count);
	self->count -= count;
}

/* ---- writing -------------------------------------------------------------------------------- */

struct writer writer_over(void *data, size_t capacity)
{
	return (struct writer){ .data = data, .capacity = capacity };
}

struct writer writer_into(struct bytes *bytes)
{
	return (struct writer){ .grow = bytes };
}

uint8_t *writer_take(struct writer *self, size_t count)
{
	if (self->failed)
		return NULL;
	uint8_t *at;
	if (self->grow != NULL) {
		if (bytes_reserve(self->grow, count) != STATUS_OK)
			goto fail;
		at = self->grow->data + self->grow->count;
		self->grow->count += count;
		VALIDATE(self->grow->count <= self->grow->capacity);
	} else {
		VALIDATE(self->count <= self->capacity);
		if (count > self->capacity - self->count)
			goto fail;
		at = self->data + self->count;
	}
	self->count += count;
	return at;
fail:
	self->failed = true;
	return NULL;
}

void write_u8(struct writer *self, uint8_t value)
{
	uint8_t *at = writer_take(self, 1);
	if (at != NULL)
		at[0] = value;
}

void write_u16(struct writer *self, uint16_t value)
{
	uint8_t *at = writer_take(self, 2);
	if (at == NULL)
		return;
	at[0] = (uint8_t)value;
	at[1] = (uint8_t)(value >> 8);
}

void write_u32(struct writer *self, uint32_t value)
{
	uint8_t *at = writer_take(self, 4);
	if (at != NULL)
		put_le32(at, value);
}

void write_u64(struct writer *self, uint64_t value)
{
	uint8_t *at = writer_take(self, 8);
	if (at != NULL)
		put_le64(at, value);
}

void write_i64(struct writer *self, int64_t value)
{
	write_u64(self, (uint64_t)value);
}

void write_f64(struct writer *self, double value)
{
	write_u64(self, bits_of_f64(value));
}

void write_raw(struct writer *self, const void *data, size_t count)
{
	if (count == 0)
		return;
	uint8_t *at = writer_take(self, count);
	if (at != NULL)
		memcpy(at, data, count);
}

void write_blob(struct writer *self, const void *data, uint32_t count)
{
	write_u32(self, count);
	write_raw(self, data, count);
}

enum status writer_status(const struct writer *self)
{
	if (!self->failed)
		return STATUS_OK;
	return self->grow != NULL ? STATUS_NO_MEMORY : STATUS_FULL;
}

/* ---- reading -------------------------------------------------------------------------------- */

struct reader reader_over(const void *data, size_t count)
{
	return (struct reader){ .data = data, .count = count };
}

const uint8_t *reader_take(struct reader *self, size_t count)
{
	VALIDATE(self->position <= self->count);
	static const uint8_t nothing[1];
	if (self->failed || count > self->count - self->position) {
		self->failed = true;
		return NULL;
	}
	if (count == 0)
		return nothing;
	const uint8_t *at = self->data + self->position;
	self->position += count;
	return at;
}

uint8_t read_u8(struct reader *self)
{
	const uint8_t *at = reader_take(self, 1);
	return at != NULL ? at[0] : 0;
}

uint16_t read_u16(struct reader *self)
{
	const uint8_t *at = reader_take(self, 2);
	return at != NULL ? (uint16_t)(at[0] | at[1] << 8) : 0;
}

uint32_t read_u32(struct reader *self)
{
	const uint8_t *at = reader_take(self, 4);
	return at != NULL ? get_le32(at) : 0;
}

uint64_t read_u64(struct reader *self)
{
	const uint8_t *at = reader_take(self, 8);
	return at != NULL ? get_le64(at) : 0;
}

int64_t read_i64(struct reader *self)
{
	return (int64_t)read_u64(self);
}

double read_f64(struct reader *self)
{
	return f64_of_bits(read_u64(self));
}

void read_raw(struct reader *self, void *data, size_t count)
{
	if (count == 0)
		return;
	const uint8_t *at = reader_take(self, count);
	if (at != NULL)
		memcpy(data, at, count);
	else
		memset(data, 0, count);
}

const uint8_t *read_blob(struct reader *self, uint32_t *count)
{
	*count = read_u32(self);
	const uint8_t *at = reader_take(self, *count);
	if (at == NULL)
		*count = 0;
	VALIDATE(*count <= self->position);
	return at;
}

enum status reader_finish(const struct reader *self)
{
	VALIDATE(self->position <= self->count);
	return !self->failed && self->position == self->count ? STATUS_OK : STATUS_MALFORMED;
}
