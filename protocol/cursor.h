/* cursor.h: reads MessagePack values one after the other, out of a slice.
 *
 * A token is one header with its value: a number, the bytes of a str or bin, or the count of an
 * array or map whose items follow as further tokens. Nothing is allocated or copied. A cursor never
 * reads past its slice: a token that is not whole, or of a type the wire does not use (ext, 0xC1),
 * is STATUS_MALFORMED and the cursor stays.
 *
 * The validator is built on this, so both always agree about what bytes mean. msgpack-c's unpacker
 * is not used, because it reserves memory by the counts that a peer claims, and does not report the position
 * of a value, which journals and forwarding need. Tests compare with it.
 */
#ifndef CAIRN_PROTOCOL_CURSOR_H
#define CAIRN_PROTOCOL_CURSOR_H

#include "protocol/message.h"

enum wire_token_type {
	WIRE_TOKEN_NIL,
	WIRE_TOKEN_BOOL,
	WIRE_TOKEN_INTEGER,
	WIRE_TOKEN_REAL,
	WIRE_TOKEN_TEXT,
	WIRE_TOKEN_BIN,
	WIRE_TOKEN_ARRAY,
	WIRE_TOKEN_MAP,
};

struct wire_token {
	enum wire_token_type type;
	uint32_t count; /* ARRAY: items; MAP: pairs; TEXT, BIN: bytes */
	union {
		bool truth;
		int64_t integer; /* beyond INT64_MAX: INT64_MAX, which no field may hold */
		double real;	 /* float 32 is widened */
		const uint8_t *at;
	};
};

struct wire_cursor {
	const uint8_t *at; /* borrowed */
	const uint8_t *end;
};

struct wire_cursor wire_cursor_over(const void *data, uint32_t bytes);
struct wire_cursor wire_cursor_of(struct wire_slice slice);
struct wire_cursor wire_cursor_list(const struct wire_list *list);

/* The next token; STATUS_MALFORMED at the end. */
MUST_CHECK enum status wire_next(struct wire_cursor *self, struct wire_token *token);
/* Passes over at most `most` values of one token each that are always valid: nil, booleans, integers of up to
 * 32 bits, finite floats of 64 bits. Stops before any other value. Returns the number of values passed. */
uint64_t wire_pass_plain(struct wire_cursor *self, uint64_t most);
/* Passes over one whole value of any type and returns its bytes in `value` (may be NULL). */
MUST_CHECK enum status wire_skip(struct wire_cursor *self, struct wire_slice *value);

/* One value of a given kind; STATUS_TYPE if it has another type. On failure the cursor does not move. */
MUST_CHECK enum status wire_take_uint(struct wire_cursor *self, uint64_t max, uint64_t *value);
MUST_CHECK enum status wire_take_int(struct wire_cursor *self, int64_t *value);
/* A float or an integer, finite. */
MUST_CHECK enum status wire_take_real(struct wire_cursor *self, double *value);
MUST_CHECK enum status wire_take_reals(struct wire_cursor *self, double *values, uint32_t count);
MUST_CHECK enum status wire_take_bin(struct wire_cursor *self, struct wire_slice *value);
/* The header of an array; the cursor moves to its first item. */
MUST_CHECK enum status wire_take_array(struct wire_cursor *self, uint32_t *count);
/* An array of exactly `count` numbers; STATUS_TYPE if it has another length. */
MUST_CHECK enum status wire_take_tuple(struct wire_cursor *self, double *values, uint32_t count);
/* Passes over `count` values. */
MUST_CHECK enum status wire_skip_many(struct wire_cursor *self, uint32_t count);
/* A whole array; its items are in `list` and the cursor moves past it. */
MUST_CHECK enum status wire_take_list(struct wire_cursor *self, struct wire_list *list);
static inline bool wire_at_end(const struct wire_cursor *self)
{
	return self->at == self->end;
}

#endif
