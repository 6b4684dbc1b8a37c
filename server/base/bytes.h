/* bytes.h: growing buffers, and values written to and read from bytes in a fixed byte order.
 *
 * Three types:
 *   struct bytes   a growing buffer that owns its memory;
 *   struct writer  appends little-endian values to a growing buffer or to a caller's fixed one;
 *   struct reader  takes little-endian values from a slice, never past its end.
 * A failure of a writer or reader is sticky: every further call does nothing (a reader returns
 * zeros), so a caller writes or reads a whole structure and checks once at the end. Big-endian
 * put/get helpers serve the frame headers and MessagePack.
 */
#ifndef CAIRN_BASE_BYTES_H
#define CAIRN_BASE_BYTES_H

#include "server/base/status.h"

#include <string.h>

struct bytes {
	uint8_t *data;		/* owned, NULL while capacity is 0 */
	size_t count, capacity; /* bytes filled, bytes available */
};

/* Zero initialisation is a valid empty buffer as well. */
void bytes_init(struct bytes *self);
void bytes_release(struct bytes *self);
/* Grows the capacity to count + more bytes, at least doubling it. On failure nothing changes. */
MUST_CHECK enum status bytes_reserve(struct bytes *self, size_t more);
MUST_CHECK enum status bytes_append(struct bytes *self, const void *data, size_t count);
/* Removes the first `count` bytes (at most all). */
void bytes_consume(struct bytes *self, size_t count);
/* Empties the buffer; the memory stays. */
static inline void bytes_reset(struct bytes *self)
{
	self->count = 0;
}

/* ---- little-endian -------------------------------------------------------------------------- */

struct writer {
	struct bytes *grow; /* borrowed; NULL: the fixed buffer below */
	uint8_t *data;	    /* borrowed */
	size_t count, capacity;
	bool failed; /* no room, or out of memory */
};

struct writer writer_over(void *data, size_t capacity);
struct writer writer_into(struct bytes *bytes);
/* Space for `count` bytes at the end, to be filled by the caller; NULL after a failure. */
uint8_t *writer_take(struct writer *self, size_t count);
void write_u8(struct writer *self, uint8_t value);
void write_u16(struct writer *self, uint16_t value);
void write_u32(struct writer *self, uint32_t value);
void write_u64(struct writer *self, uint64_t value);
void write_i64(struct writer *self, int64_t value);
void write_f64(struct writer *self, double value);
/* Raw bytes without a length. */
void write_raw(struct writer *self, const void *data, size_t count);
/* A u32 length, then the bytes. */
void write_blob(struct writer *self, const void *data, uint32_t count);
/* STATUS_NO_MEMORY or, for a fixed buffer, STATUS_FULL after a failure. */
MUST_CHECK enum status writer_status(const struct writer *self);

struct reader {
	const uint8_t *data; /* borrowed */
	size_t count;	     /* bytes in all */
	size_t position;     /* bytes taken so far, at most count */
	bool failed;	     /* a read went past the end */
};

struct reader reader_over(const void *data, size_t count);
/* The next `count` bytes, borrowed from the slice; NULL after a failure. */
const uint8_t *reader_take(struct reader *self, size_t count);
uint8_t read_u8(struct reader *self);
uint16_t read_u16(struct reader *self);
uint32_t read_u32(struct reader *self);
uint64_t read_u64(struct reader *self);
int64_t read_i64(struct reader *self);
double read_f64(struct reader *self);
/* Copies `count` raw bytes out; fills with zeros after a failure. */
void read_raw(struct reader *self, void *data, size_t count);
/* A u32 length, then that many bytes: borrowed, with the length in `count` (0 after a failure). */
const uint8_t *read_blob(struct reader *self, uint32_t *count);
static inline size_t reader_left(const struct reader *self)
{
	VALIDATE(self->position <= self->count);
	return self->count - self->position;
}
/* STATUS_OK when nothing failed and every byte was taken, else STATUS_MALFORMED. */
MUST_CHECK enum status reader_finish(const struct reader *self);

/* ---- values in bytes ------------------------------------------------------------------------ */

static inline uint32_t get_be32(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static inline uint64_t get_be64(const uint8_t *at)
{
	return (uint64_t)get_be32(at) << 32 | get_be32(at + 4);
}

static inline void put_be32(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 24);
	at[1] = (uint8_t)(value >> 16);
	at[2] = (uint8_t)(value >> 8);
	at[3] = (uint8_t)value;
}

static inline void put_be64(uint8_t *at, uint64_t value)
{
	put_be32(at, (uint32_t)(value >> 32));
	put_be32(at + 4, (uint32_t)value);
}

static inline uint32_t get_le32(const uint8_t *at)
{
	return (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
}

static inline uint64_t get_le64(const uint8_t *at)
{
	return (uint64_t)get_le32(at + 4) << 32 | get_le32(at);
}

static inline void put_le32(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)value;
	at[1] = (uint8_t)(value >> 8);
	at[2] = (uint8_t)(value >> 16);
	at[3] = (uint8_t)(value >> 24);
}

static inline void put_le64(uint8_t *at, uint64_t value)
{
	put_le32(at, (uint32_t)value);
	put_le32(at + 4, (uint32_t)(value >> 32));
}

static inline uint64_t bits_of_f64(double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	return bits;
}

static inline double f64_of_bits(uint64_t bits)
{
	double value;
	memcpy(&value, &bits, sizeof value);
	return value;
}

static inline uint32_t bits_of_f32(float value)
{
	uint32_t bits;
	memcpy(&bits, &value, sizeof bits);
	return bits;
}

static inline float f32_of_bits(uint32_t bits)
{
	float value;
	memcpy(&value, &bits, sizeof value);
	return value;
}

#endif
