/* varint.h: unsigned integers of 7 bits a byte, low ones first; the top bit is 1 if more bytes follow.
 * Signed integers are mapped to unsigned ones first (zigzag: 0, −1, 1, −2, … become 0, 1, 2, 3, …), so that
 * small magnitudes are short.
 */
#ifndef CAIRN_PROTOCOL_VARINT_H
#define CAIRN_PROTOCOL_VARINT_H

#include "server/base/base.h"

enum {
	VARINT_32_MAX = 5,   /* bytes of 32 bits */
	VARINT_LONG_MAX = 8, /* bytes of 56 bits, the most that is ever read */
};

static inline uint32_t varint_bytes(uint64_t value)
{
	uint32_t bytes = 1;
	for (; value >= 0x80; value >>= 7)
		bytes++;
	return bytes;
}

static inline uint8_t *varint_put(uint8_t *at, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*at++ = (uint8_t)(value | 0x80);
	*at++ = (uint8_t)value;
	return at;
}

/* The end of the varint; NULL if it is truncated or longer than `bytes_max` ≤ VARINT_LONG_MAX. */
static inline const uint8_t *varint_get_long(const uint8_t *at, const uint8_t *end,
					     uint32_t bytes_max, uint64_t *value)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < bytes_max && at + i < end; i++) {
		sum |= (uint64_t)(at[i] & 0x7F) << (7 * i);
		if ((at[i] & 0x80) == 0) {
			*value = sum;
			return at + i + 1;
		}
	}
	return NULL;
}

/* The same for 32 bits; NULL also for a larger number. */
static inline const uint8_t *varint_get(const uint8_t *at, const uint8_t *end, uint32_t *value)
{
	uint64_t sum = 0;
	at = varint_get_long(at, end, VARINT_32_MAX, &sum);
	*value = (uint32_t)sum;
	return sum <= UINT32_MAX ? at : NULL;
}

/* The next of ascending ids: `before`, plus a gap, plus 1. NULL also if it exceeds 32 bits. */
static inline const uint8_t *varint_get_id(const uint8_t *at, const uint8_t *end, uint32_t before,
					   uint32_t *id)
{
	uint32_t gap;
	at = varint_get(at, end, &gap);
	if (at == NULL || gap >= UINT32_MAX - before)
		return NULL;
	*id = before + gap + 1;
	return at;
}

static inline uint64_t zigzag(int64_t value)
{
	return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static inline int64_t unzigzag(uint64_t value)
{
	return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

#endif
