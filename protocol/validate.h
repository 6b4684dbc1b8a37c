/* validate.h: may these bytes be looked at? The first thing done with a frame's content, over all
 * of it.
 *
 * One pass without recursion: what every count claims is held against the bytes that are left,
 * levels and elements against the limits, numbers against ±2^53 and finiteness, texts against
 * UTF-8, keys of maps must be texts, ext types do not exist. Nothing is allocated; the time is
 * linear in the bytes. What passes is one array whose first item is an integer 0…127, and nothing
 * after it.
 */
#ifndef CAIRN_PROTOCOL_VALIDATE_H
#define CAIRN_PROTOCOL_VALIDATE_H

#include "protocol/message.h"

struct validate_limits {
	uint32_t depth;	   /* levels of arrays and maps, the outermost being the first */
	uint32_t elements; /* items, keys and values in all */
	uint32_t text;	   /* bytes of one str */
};

extern const struct validate_limits VALIDATE_UP;   /* what a server demands of clients */
extern const struct validate_limits VALIDATE_DOWN; /* what a client demands of servers */

/* STATUS_OK, or MALFORMED, TOO_DEEP, TOO_LARGE (a text, or all elements), NOT_FINITE, RANGE (an integer
 * beyond 2^53), with the byte's offset as the reason's index and what is wrong as its text (`why` may be
 * NULL). The frame's end is known whatever stands in it, so none of them ends a connection. */
MUST_CHECK enum status validate_content(const uint8_t *content, uint32_t bytes,
					const struct validate_limits *limits, struct reason *why);

/* Same for one value of any type, e.g. a journal record. */
MUST_CHECK enum status validate_value(const uint8_t *value, uint32_t bytes,
				      const struct validate_limits *limits, struct reason *why);

/* UTF-8 without overlong forms, surrogates, or NUL. */
bool validate_utf8(const uint8_t *text, uint32_t bytes);

#endif
