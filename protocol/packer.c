/* See packer.h. */
#include "protocol/packer.h"

#include <msgpack.h>
#include <string.h>

#include "server/base/bytes.h"

static void fail_packing(struct wire_packer *self, enum status status)
{
	if (self->status == STATUS_OK)
		self->status = status;
}

uint8_t *wire_pack_take(struct wire_packer *self, uint32_t bytes)
{
	if (self->status != STATUS_OK)
		return NULL;
	if (bytes > self->capacity - self->bytes) {
		self->status = STATUS_FULL;
		return NULL;
	}
	uint8_t *at = self->data + self->bytes;
	self->bytes += bytes;
	return at;
}

void wire_pack_raw(struct wire_packer *self, const void *data, uint32_t bytes)
{
	uint8_t *at = wire_pack_take(self, bytes);
	if (at != NULL && bytes != 0)
		memcpy(at, data, bytes);
}

/* msgpack-c's callback. Its result would stop only the present value; the status of the packer is sticky. */
static int append_bytes(void *self, const char *data, size_t bytes)
{
	wire_pack_raw(self, data, (uint32_t)bytes);
	return 0;
}

static msgpack_packer packer_of(struct wire_packer *self)
{
	msgpack_packer packer;
	msgpack_packer_init(&packer, self, append_bytes);
	return packer;
}

struct wire_packer wire_packer_over(void *data, uint32_t capacity)
{
	return (struct wire_packer){ .data = data, .capacity = capacity };
}

enum status wire_packer_status(const struct wire_packer *self)
{
	return self->status;
}

struct wire_slice wire_packer_slice(const struct wire_packer *self)
{
	return (struct wire_slice){ self->data, self->status == STATUS_OK ? self->bytes : 0 };
}

static void pack_byte(struct wire_packer *self, uint8_t byte)
{
	uint8_t *at = wire_pack_take(self, 1);
	if (at != NULL)
		*at = byte;
}

void wire_pack_nil(struct wire_packer *self)
{
	msgpack_packer packer = packer_of(self);
	msgpack_pack_nil(&packer);
}

void wire_pack_bool(struct wire_packer *self, bool value)
{
	msgpack_packer packer = packer_of(self);
	if (value)
		msgpack_pack_true(&packer);
	else
		msgpack_pack_false(&packer);
}

void wire_pack_uint(struct wire_packer *self, uint64_t value)
{
	if (value > (uint64_t)WIRE_INTEGER_MAX) {
		fail_packing(self, STATUS_RANGE);
		return;
	}
	if (value < 0x80) {
		pack_byte(self, (uint8_t)value);
		return;
	}
	msgpack_packer packer = packer_of(self);
	msgpack_pack_uint64(&packer, value);
}

void wire_pack_int(struct wire_packer *self, int64_t value)
{
	if (value > WIRE_INTEGER_MAX || value < -WIRE_INTEGER_MAX) {
		fail_packing(self, STATUS_RANGE);
		return;
	}
	msgpack_packer packer = packer_of(self);
	msgpack_pack_int64(&packer, value);
}

void wire_pack_real(struct wire_packer *self, double value)
{
	/* True for every finite number and for nothing else. */
	if (!(value - value == 0)) {
		fail_packing(self, STATUS_NOT_FINITE);
		return;
	}
	/* Written without msgpack-c, because most values are numbers and the callbacks took half of
	 * the time. */
	uint8_t *at = wire_pack_take(self, 9);
	if (at == NULL)
		return;
	at[0] = 0xCB;
	put_be64(at + 1, bits_of_f64(value));
}

void wire_pack_text(struct wire_packer *self, struct wire_slice text)
{
	msgpack_packer packer = packer_of(self);
	msgpack_pack_str(&packer, text.bytes);
	wire_pack_raw(self, text.at, text.bytes);
}

void wire_pack_string(struct wire_packer *self, const char *text)
{
	wire_pack_text(self, wire_text(text));
}

void wire_pack_bin_header(struct wire_packer *self, uint32_t bytes)
{
	msgpack_packer packer = packer_of(self);
	msgpack_pack_bin(&packer, bytes);
}

void wire_pack_bin(struct wire_packer *self, const void *data, uint32_t bytes)
{
	wire_pack_bin_header(self, bytes);
	wire_pack_raw(self, data, bytes);
}

void wire_pack_hash(struct wire_packer *self, uint64_t value)
{
	uint8_t data[8];
	put_be64(data, value);
	wire_pack_bin(self, data, sizeof data);
}

void wire_pack_array(struct wire_packer *self, uint32_t count)
{
	if (count < 0x10) {
		pack_byte(self, (uint8_t)(0x90 | count));
		return;
	}
	msgpack_packer packer = packer_of(self);
	msgpack_pack_array(&packer, count);
}

void wire_pack_map(struct wire_packer *self, uint32_t count)
{
	msgpack_packer packer = packer_of(self);
	msgpack_pack_map(&packer, count);
}
