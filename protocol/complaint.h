/* complaint.h: what is wrong with a value on the wire, in words: the field, what was given, what is allowed.
 *
 *	n of STEP is 10001: it must be an integer within 0 and 10000
 *
 * Integers are written whole. Only refusals pay for it.
 */
#ifndef CAIRN_PROTOCOL_COMPLAINT_H
#define CAIRN_PROTOCOL_COMPLAINT_H

#include "protocol/cursor.h"

/* Writes the value at the cursor as a person would: 10001, 4.5, "fast", nil, [0, nan, 1], a bin of 31 bytes.
 * What is long is cut short; the text always ends with a NUL. */
void wire_describe(struct wire_cursor at, char *text, size_t bytes);

/* Fills `why` (may be NULL) and returns `status`. `owner` is what the field belongs to; `value` stands at the
 * refused value; `allowed` follows "it must be". */
enum status wire_complain(struct reason *why, enum status status, int64_t index, const char *field,
			  const char *owner, struct wire_cursor value, const char *allowed);

#endif
