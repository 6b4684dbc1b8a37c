/* packer.h: packs MessagePack values into a bounded buffer of the caller.
 *
 * msgpack-c does the encoding, through a callback that writes into the buffer: no copy, no heap. Only float
 * 64 and values of one byte are written without it.
 * A failure is sticky: after the first value that does not fit (or is not allowed on the wire) nothing more
 * is written, so it is enough to check `wire_packer_status` at the end. Integers take their shortest form, so
 * the same values always give the same bytes.
 */
#ifndef CAIRN_PROTOCOL_PACKER_H
#define CAIRN_PROTOCOL_PACKER_H

#include "protocol/message.h"

struct wire_packer {
	uint8_t *data;	    /* borrowed */
	uint32_t capacity;  /* bytes */
	uint32_t bytes;	    /* written so far */
	enum status status; /* OK, FULL, NOT_FINITE or RANGE: the first failure */
};

struct wire_packer wire_packer_over(void *data, uint32_t capacity);
MUST_CHECK enum status wire_packer_status(const struct wire_packer *self);
/* The bytes written so far (borrowed from the buffer); empty after a failure. */
struct wire_slice wire_packer_slice(const struct wire_packer *self);

void wire_pack_nil(struct wire_packer *self);
void wire_pack_bool(struct wire_packer *self, bool value);
/* Beyond ±2^53: RANGE. */
void wire_pack_uint(struct wire_packer *self, uint64_t value);
void wire_pack_int(struct wire_packer *self, int64_t value);
/* Always as float 64, so that its bits are preserved. Not finite: NOT_FINITE. */
void wire_pack_real(struct wire_packer *self, double value);
void wire_pack_text(struct wire_packer *self, struct wire_slice text);
void wire_pack_string(struct wire_packer *self, const char *text);
void wire_pack_bin(struct wire_packer *self, const void *data, uint32_t bytes);
/* A bin's header only; the caller then appends `bytes` raw bytes. */
void wire_pack_bin_header(struct wire_packer *self, uint32_t bytes);
/* A bin of eight bytes, big-endian. */
void wire_pack_hash(struct wire_packer *self, uint64_t value);
/* Headers; `count` values (for a map: pairs) follow. */
void wire_pack_array(struct wire_packer *self, uint32_t count);
void wire_pack_map(struct wire_packer *self, uint32_t count);
/* Copies bytes: values that are packed already. */
void wire_pack_raw(struct wire_packer *self, const void *data, uint32_t bytes);
/* Space for `bytes` bytes that the caller fills; NULL if they do not fit. */
uint8_t *wire_pack_take(struct wire_packer *self, uint32_t bytes);

#endif
