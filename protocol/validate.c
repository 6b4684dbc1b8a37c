/* validate.c: see validate.h.
 *
 * The state is a stack of open containers, each with the values still missing in it (a map of n
 * pairs misses 2n; an even remainder means that a key comes next). Invariants at each token:
 *   1. the sum of all missing values ≤ bytes left, so a count that is too large is found at its header;
 *   2. open containers ≤ depth ≤ WIRE_DEPTH_MAX, so the stack is a small array.
 */
#include "protocol/validate.h"

#include "protocol/cursor.h"
#include "server/base/utf8.h"

const struct validate_limits VALIDATE_UP = { WIRE_DEPTH_MAX, WIRE_ELEMENTS_UP, WIRE_STRING_UP };
const struct validate_limits VALIDATE_DOWN = { WIRE_DEPTH_MAX, WIRE_ELEMENTS_DOWN,
					       WIRE_STRING_DOWN };

struct validation {
	const struct validate_limits *limits;
	uint64_t missing;  /* values in all open containers */
	uint64_t elements; /* announced so far */
	uint32_t depth;
	struct {
		uint64_t left;
		bool map;
	} open[WIRE_DEPTH_MAX];
};

bool validate_name(const char *name, size_t bytes)
{
	if (bytes == 0 || bytes > WIRE_NAME_MAX || name[0] == '.')
		return false;
	for (size_t i = 0; i < bytes; i++) {
		char c = name[i];
		bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			    (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
		if (!good)
			return false;
	}
	return true;
}

bool validate_utf8(const uint8_t *text, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes;) {
		uint32_t length = utf8_bytes((const char *)text + i, bytes - i);
		if (length == 0)
			return false;
		i += length;
	}
	return true;
}

static enum status check_number(const struct wire_token *token, const char **fault)
{
	if (token->type == WIRE_TOKEN_REAL && !(token->real - token->real == 0)) {
		*fault = "a number is not finite";
		return STATUS_NOT_FINITE;
	}
	if (token->type == WIRE_TOKEN_INTEGER &&
	    (token->integer > WIRE_INTEGER_MAX || token->integer < -WIRE_INTEGER_MAX)) {
		*fault = "an integer is beyond 2^53";
		return STATUS_RANGE;
	}
	return STATUS_OK;
}

static enum status check_text(const struct validation *walk, const struct wire_token *token,
			      const char **fault)
{
	if (token->count > walk->limits->text) {
		*fault = "a text is too long";
		return STATUS_TOO_LARGE;
	}
	if (!validate_utf8(token->at, token->count)) {
		*fault = "a text is not UTF-8";
		return STATUS_MALFORMED;
	}
	return STATUS_OK;
}

/* Opens a container and compares its count with the bytes left and the limits. */
static enum status check_count(struct validation *walk, const struct wire_token *token,
			       uint64_t bytes_left, const char **fault)
{
	uint64_t count = token->type == WIRE_TOKEN_MAP ? (uint64_t)2 * token->count : token->count;
	walk->missing += count;
	walk->elements += count;
	if (walk->missing > bytes_left) {
		*fault = "a count is larger than the frame";
		return STATUS_MALFORMED;
	}
	if (walk->elements > walk->limits->elements) {
		*fault = "too many elements";
		return STATUS_TOO_LARGE;
	}
	if (walk->depth == walk->limits->depth) {
		*fault = "nested too deeply";
		return STATUS_TOO_DEEP;
	}
	walk->open[walk->depth].left = count;
	walk->open[walk->depth].map = token->type == WIRE_TOKEN_MAP;
	walk->depth++;
	return STATUS_OK;
}

static enum status check_token(struct validation *walk, const struct wire_token *token,
			       uint64_t bytes_left, const char **fault)
{
	if (walk->depth > 0) {
		bool key = walk->open[walk->depth - 1].map &&
			   walk->open[walk->depth - 1].left % 2 == 0;
		if (key && token->type != WIRE_TOKEN_TEXT) {
			*fault = "a key is not a text";
			return STATUS_MALFORMED;
		}
		walk->open[walk->depth - 1].left--;
	}
	walk->missing--;
	switch (token->type) {
	case WIRE_TOKEN_INTEGER:
	case WIRE_TOKEN_REAL:
		return check_number(token, fault);
	case WIRE_TOKEN_TEXT:
		return check_text(walk, token, fault);
	case WIRE_TOKEN_ARRAY:
	case WIRE_TOKEN_MAP:
		return check_count(walk, token, bytes_left, fault);
	default:
		return STATUS_OK;
	}
}

static inline void close_full(struct validation *walk)
{
	while (walk->depth > 0 && walk->open[walk->depth - 1].left == 0)
		walk->depth--;
}

/* Most values are numbers in arrays: those that are always valid are passed in one call. */
static void pass_plain(struct validation *walk, struct wire_cursor *cursor)
{
	if (walk->depth == 0 || walk->open[walk->depth - 1].map)
		return;
	uint64_t passed = wire_pass_plain(cursor, walk->open[walk->depth - 1].left);
	walk->open[walk->depth - 1].left -= passed;
	walk->missing -= passed;
	close_full(walk);
}

enum status validate_value(const uint8_t *value, uint32_t bytes,
			   const struct validate_limits *limits, struct reason *why)
{
	ASSERT(limits->depth <= WIRE_DEPTH_MAX);
	struct validation walk = { .limits = limits, .missing = 1 };
	struct wire_cursor cursor = wire_cursor_over(value, bytes);
	while (walk.missing > 0) {
		pass_plain(&walk, &cursor);
		if (walk.missing == 0)
			break;
		struct wire_token token;
		const char *fault = "not a whole value of a known type";
		int64_t offset = cursor.at - value;
		enum status status = wire_next(&cursor, &token);
		if (status == STATUS_OK)
			status = check_token(&walk, &token, (uint64_t)(cursor.end - cursor.at),
					     &fault);
		if (status != STATUS_OK)
			return reason_set(why, status, offset, "frame", "%s (byte %d)", fault,
					  (int)offset);
		close_full(&walk);
	}
	if (!wire_at_end(&cursor))
		return reason_set(why, STATUS_MALFORMED, cursor.at - value, "frame",
				  "bytes after the end of the value");
	return STATUS_OK;
}

enum status validate_content(const uint8_t *content, uint32_t bytes,
			     const struct validate_limits *limits, struct reason *why)
{
	enum status status = validate_value(content, bytes, limits, why);
	if (status != STATUS_OK)
		return status;
	struct wire_cursor cursor = wire_cursor_over(content, bytes);
	struct wire_token token;
	if (wire_next(&cursor, &token) != STATUS_OK || token.type != WIRE_TOKEN_ARRAY ||
	    wire_next(&cursor, &token) != STATUS_OK || token.type != WIRE_TOKEN_INTEGER ||
	    token.integer < 0 || token.integer > 127)
		return reason_set(
			why, STATUS_MALFORMED, 0, "frame",
			"the content is not an array [type, …] with a type from 0 to 127");
	return STATUS_OK;
}
