/* See cursor.h. A table indexed by the first byte gives the layout of each token, so one function
 * reads all. */
#include "protocol/cursor.h"

#include "server/base/bytes.h"

struct wire_cursor wire_cursor_over(const void *data, uint32_t bytes)
{
	const uint8_t *at = data;
	return (struct wire_cursor){ at, bytes == 0 ? at : at + bytes };
}

struct wire_cursor wire_cursor_of(struct wire_slice slice)
{
	return wire_cursor_over(slice.at, slice.bytes);
}

struct wire_cursor wire_cursor_list(const struct wire_list *list)
{
	return wire_cursor_over(list->at, list->bytes);
}

/* An integer of 0, 1, 2, 4 or 8 bytes. */
static inline uint64_t get_be(const uint8_t *at, uint32_t bytes)
{
	switch (bytes) {
	case 8:
		return get_be64(at);
	case 4:
		return get_be32(at);
	case 2:
		return (uint32_t)at[0] << 8 | at[1];
	case 1:
		return at[0];
	default:
		return 0;
	}
}

static void set_integer(struct wire_token *token, int64_t value)
{
	token->type = WIRE_TOKEN_INTEGER;
	token->integer = value;
}

/* Sign-extends a big-endian integer of 1, 2, 4 or 8 bytes. */
static int64_t signed_of(uint64_t value, uint32_t bytes)
{
	uint64_t sign = (uint64_t)1 << (8 * bytes - 1);
	return (int64_t)((value ^ sign) - sign);
}

/* The layout after the first byte, for 0xC0 … 0xDF. */
enum form { NONE, TRUTH, UNSIGNED, SIGNED, FLOAT, BYTES, ITEMS, REFUSED };
static const struct {
	uint8_t form;
	uint8_t bytes; /* of the value or of the count */
	uint8_t type;
} FORMS[32] = {
	/* C0 nil, C1 never used, C2 false, C3 true */
	{ NONE, 0, WIRE_TOKEN_NIL },
	{ REFUSED, 0, 0 },
	{ TRUTH, 0, WIRE_TOKEN_BOOL },
	{ TRUTH, 0, WIRE_TOKEN_BOOL },
	/* C4 C5 C6 bin, C7 C8 C9 ext */
	{ BYTES, 1, WIRE_TOKEN_BIN },
	{ BYTES, 2, WIRE_TOKEN_BIN },
	{ BYTES, 4, WIRE_TOKEN_BIN },
	{ REFUSED, 0, 0 },
	{ REFUSED, 0, 0 },
	{ REFUSED, 0, 0 },
	/* CA CB float */
	{ FLOAT, 4, WIRE_TOKEN_REAL },
	{ FLOAT, 8, WIRE_TOKEN_REAL },
	/* CC … CF uint, D0 … D3 int */
	{ UNSIGNED, 1, WIRE_TOKEN_INTEGER },
	{ UNSIGNED, 2, WIRE_TOKEN_INTEGER },
	{ UNSIGNED, 4, WIRE_TOKEN_INTEGER },
	{ UNSIGNED, 8, WIRE_TOKEN_INTEGER },
	{ SIGNED, 1, WIRE_TOKEN_INTEGER },
	{ SIGNED, 2, WIRE_TOKEN_INTEGER },
	{ SIGNED, 4, WIRE_TOKEN_INTEGER },
	{ SIGNED, 8, WIRE_TOKEN_INTEGER },
	/* D4 … D8 fixext */
	{ REFUSED, 0, 0 },
	{ REFUSED, 0, 0 },
	{ REFUSED, 0, 0 },
	{ REFUSED, 0, 0 },
	{ REFUSED, 0, 0 },
	/* D9 DA DB str */
	{ BYTES, 1, WIRE_TOKEN_TEXT },
	{ BYTES, 2, WIRE_TOKEN_TEXT },
	{ BYTES, 4, WIRE_TOKEN_TEXT },
	/* DC DD array, DE DF map */
	{ ITEMS, 2, WIRE_TOKEN_ARRAY },
	{ ITEMS, 4, WIRE_TOKEN_ARRAY },
	{ ITEMS, 2, WIRE_TOKEN_MAP },
	{ ITEMS, 4, WIRE_TOKEN_MAP },
};

/* The bytes of a str or bin, if they are all there. */
static enum status take_bytes(struct wire_cursor *self, const uint8_t *at, struct wire_token *token)
{
	if (token->count > (size_t)(self->end - at))
		return STATUS_MALFORMED;
	token->at = at;
	self->at = at + token->count;
	return STATUS_OK;
}

static enum status take_formed(struct wire_cursor *self, uint8_t first, struct wire_token *token)
{
	uint32_t bytes = FORMS[first - 0xC0].bytes;
	const uint8_t *at = self->at + 1;
	if (FORMS[first - 0xC0].form == REFUSED || bytes > (size_t)(self->end - at))
		return STATUS_MALFORMED;
	uint64_t value = get_be(at, bytes);
	at += bytes;
	token->type = (enum wire_token_type)FORMS[first - 0xC0].type;
	token->count = 0;
	switch (FORMS[first - 0xC0].form) {
	case TRUTH:
		token->truth = first == 0xC3;
		break;
	case UNSIGNED:
		token->integer = value > INT64_MAX ? INT64_MAX : (int64_t)value;
		break;
	case SIGNED:
		token->integer = signed_of(value, bytes);
		break;
	case FLOAT:
		token->real =
			bytes == 4 ? (double)f32_of_bits((uint32_t)value) : f64_of_bits(value);
		break;
	case BYTES:
		token->count = (uint32_t)value;
		return take_bytes(self, at, token);
	case ITEMS:
		token->count = (uint32_t)value;
		break;
	default:
		break;
	}
	self->at = at;
	return STATUS_OK;
}

enum status wire_next(struct wire_cursor *self, struct wire_token *token)
{
	if (self->at == self->end)
		return STATUS_MALFORMED;
	uint8_t first = *self->at;
	if (first >= 0xC0 && first <= 0xDF)
		return take_formed(self, first, token);
	token->count = 0;
	if (first >= 0xA0 && first <= 0xBF) {
		token->type = WIRE_TOKEN_TEXT;
		token->count = first & 0x1F;
		return take_bytes(self, self->at + 1, token);
	}
	self->at++;
	if (first < 0x80 || first >= 0xE0) {
		set_integer(token, (int8_t)first);
	} else {
		token->type = first < 0x90 ? WIRE_TOKEN_MAP : WIRE_TOKEN_ARRAY;
		token->count = first & 0x0F;
	}
	return STATUS_OK;
}

/* The size of a value of one token that is valid for all bytes: integers of up to 32 bits (so
 * within ±2^53), nil, booleans. 0: the value must be read and checked. */
static inline uint32_t plain_bytes(uint8_t first)
{
	/* Integers of 1, 2 and 4 bytes: CC CD CE and D0 D1 D2. */
	static const uint8_t WIDTHS[32] = {
		[0x00] = 1, [0x02] = 1, [0x03] = 1, [0x0C] = 2, [0x0D] = 3,
		[0x0E] = 5, [0x10] = 2, [0x11] = 3, [0x12] = 5
	};
	if (first < 0x80 || first >= 0xE0)
		return 1;
	return first >= 0xC0 ? WIDTHS[first - 0xC0] : 0;
}

enum { FLOAT64 = 0xCB, FLOAT64_BYTES = 9 };

/* Is a whole float 64 next, and finite: an exponent that is not all ones? */
static inline bool at_real(const struct wire_cursor *self)
{
	const uint8_t *at = self->at;
	return self->end - at >= FLOAT64_BYTES && at[0] == FLOAT64 &&
	       !((at[1] & 0x7F) == 0x7F && (at[2] & 0xF0) == 0xF0);
}

uint64_t wire_pass_plain(struct wire_cursor *self, uint64_t most)
{
	uint64_t passed = 0;
	for (; passed < most && self->at < self->end; passed++) {
		uint32_t bytes = at_real(self) ? FLOAT64_BYTES : plain_bytes(*self->at);
		if (bytes == 0 || bytes > (size_t)(self->end - self->at))
			break;
		self->at += bytes;
	}
	return passed;
}

enum status wire_skip(struct wire_cursor *self, struct wire_slice *value)
{
	struct wire_cursor walk = *self;
	/* Values still to pass. Each has at least one byte, so a count above the bytes left is malformed. */
	uint64_t left = 1;
	while (left > 0) {
		struct wire_token token;
		left -= wire_pass_plain(&walk, left);
		if (left == 0)
			break;
		if (wire_next(&walk, &token) != STATUS_OK)
			return STATUS_MALFORMED;
		left--;
		if (token.type == WIRE_TOKEN_ARRAY)
			left += token.count;
		else if (token.type == WIRE_TOKEN_MAP)
			left += (uint64_t)2 * token.count;
		if (left > (uint64_t)(walk.end - walk.at))
			return STATUS_MALFORMED;
	}
	if (value != NULL)
		*value = (struct wire_slice){ self->at, (uint32_t)(walk.at - self->at) };
	*self = walk;
	return STATUS_OK;
}

/* The next token if it is of this type; else STATUS_TYPE, and the cursor does not move. */
static enum status take_token(struct wire_cursor *self, enum wire_token_type type,
			      struct wire_token *token)
{
	struct wire_cursor walk = *self;
	if (wire_next(&walk, token) != STATUS_OK)
		return STATUS_MALFORMED;
	if (token->type != type)
		return STATUS_TYPE;
	*self = walk;
	return STATUS_OK;
}

enum status wire_take_int(struct wire_cursor *self, int64_t *value)
{
	if (self->at < self->end && *self->at < 0x80) {
		*value = *self->at++;
		return STATUS_OK;
	}
	struct wire_cursor before = *self;
	struct wire_token token;
	enum status status = take_token(self, WIRE_TOKEN_INTEGER, &token);
	if (status != STATUS_OK)
		return status;
	if (token.integer > WIRE_INTEGER_MAX || token.integer < -WIRE_INTEGER_MAX) {
		*self = before;
		return STATUS_RANGE;
	}
	*value = token.integer;
	return STATUS_OK;
}

enum status wire_take_uint(struct wire_cursor *self, uint64_t max, uint64_t *value)
{
	struct wire_cursor before = *self;
	int64_t integer;
	enum status status = wire_take_int(self, &integer);
	if (status != STATUS_OK)
		return status;
	if (integer < 0 || (uint64_t)integer > max) {
		*self = before;
		return STATUS_RANGE;
	}
	*value = (uint64_t)integer;
	return STATUS_OK;
}

enum status wire_take_real(struct wire_cursor *self, double *value)
{
	if (at_real(self)) {
		*value = f64_of_bits(get_be64(self->at + 1));
		self->at += FLOAT64_BYTES;
		return STATUS_OK;
	}
	struct wire_cursor walk = *self;
	struct wire_token token;
	if (wire_next(&walk, &token) != STATUS_OK)
		return STATUS_MALFORMED;
	if (token.type == WIRE_TOKEN_INTEGER) {
		if (token.integer > WIRE_INTEGER_MAX || token.integer < -WIRE_INTEGER_MAX)
			return STATUS_RANGE;
		*value = (double)token.integer;
	} else if (token.type == WIRE_TOKEN_REAL) {
		if (!(token.real - token.real == 0))
			return STATUS_NOT_FINITE;
		*value = token.real;
	} else {
		return STATUS_TYPE;
	}
	*self = walk;
	return STATUS_OK;
}

enum status wire_take_reals(struct wire_cursor *self, double *values, uint32_t count)
{
	struct wire_cursor before = *self;
	for (uint32_t i = 0; i < count; i++) {
		enum status status = wire_take_real(self, &values[i]);
		if (status != STATUS_OK) {
			*self = before;
			return status;
		}
	}
	return STATUS_OK;
}

enum status wire_take_bin(struct wire_cursor *self, struct wire_slice *value)
{
	struct wire_token token;
	enum status status = take_token(self, WIRE_TOKEN_BIN, &token);
	if (status == STATUS_OK)
		*value = (struct wire_slice){ token.at, token.count };
	return status;
}

enum status wire_take_array(struct wire_cursor *self, uint32_t *count)
{
	if (self->at < self->end && (*self->at & 0xF0) == 0x90) {
		*count = *self->at++ & 0x0F;
		return STATUS_OK;
	}
	struct wire_token token;
	enum status status = take_token(self, WIRE_TOKEN_ARRAY, &token);
	if (status == STATUS_OK)
		*count = token.count;
	return status;
}

enum status wire_take_tuple(struct wire_cursor *self, double *values, uint32_t count)
{
	struct wire_cursor before = *self;
	uint32_t items;
	enum status status = wire_take_array(self, &items);
	if (status == STATUS_OK && items != count)
		status = STATUS_TYPE;
	if (status == STATUS_OK)
		status = wire_take_reals(self, values, count);
	if (status != STATUS_OK)
		*self = before;
	return status;
}

enum status wire_skip_many(struct wire_cursor *self, uint32_t count)
{
	enum status status = STATUS_OK;
	for (; count > 0 && status == STATUS_OK; count--)
		status = wire_skip(self, NULL);
	return status;
}

enum status wire_take_list(struct wire_cursor *self, struct wire_list *list)
{
	struct wire_cursor walk = *self;
	struct wire_slice whole;
	struct wire_token token;
	enum status status = take_token(&walk, WIRE_TOKEN_ARRAY, &token);
	if (status != STATUS_OK)
		return status;
	const uint8_t *items = walk.at;
	if (wire_skip(self, &whole) != STATUS_OK)
		return STATUS_MALFORMED;
	*list = (struct wire_list){ items, (uint32_t)(whole.at + whole.bytes - items),
				    token.count };
	return STATUS_OK;
}
