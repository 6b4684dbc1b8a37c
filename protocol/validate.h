/* validate.h: the check of a frame's whole content, before anything else reads it.
 *
 * One pass without recursion: every count is compared with the bytes left, levels and elements with the
 * limits. Integers must be within ±2^53, floats finite, texts UTF-8, keys of maps texts; ext types are
 * refused. Nothing is allocated; the time is linear in the bytes. Valid content is one array whose first
 * item is an integer 0…127, with nothing after the array.
 */
#ifndef CAIRN_PROTOCOL_VALIDATE_H
#define CAIRN_PROTOCOL_VALIDATE_H

#include "protocol/message.h"

struct validate_limits {
	uint32_t depth;	   /* levels of arrays and maps, the outermost being the first */
	uint32_t elements; /* items, keys and values in all */
	uint32_t text;	   /* bytes of one str */
};

extern const struct validate_limits VALIDATE_UP;   /* for frames of clients */
extern const struct validate_limits VALIDATE_DOWN; /* for frames of servers */

/* STATUS_OK, or MALFORMED, TOO_DEEP, TOO_LARGE (a text, or all elements), NOT_FINITE, RANGE (an integer
 * beyond 2^53), with the byte's offset as the reason's index and the fault as its text (`why` may be NULL).
 * The frame's end is known for any content, so none of these errors ends a connection. */
MUST_CHECK enum status validate_content(const uint8_t *content, uint32_t bytes,
					const struct validate_limits *limits, struct reason *why);

/* Same for one value of any type, e.g. a journal record. */
MUST_CHECK enum status validate_value(const uint8_t *value, uint32_t bytes,
				      const struct validate_limits *limits, struct reason *why);

/* A name of a world, a recording, a saved state: 1 to WIRE_NAME_MAX letters, digits, '-', '_', '.', not
 * beginning with a dot. */
bool validate_name(const char *name, size_t bytes);

/* UTF-8 without overlong forms, surrogates, or NUL. */
bool validate_utf8(const uint8_t *text, uint32_t bytes);

#endif
