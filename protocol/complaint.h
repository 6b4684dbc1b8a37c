/* complaint.h: the error text for a refused value on the wire: the field, the value given, the
 * allowed values.
 *
 *	n of STEP is 10001: it must be an integer within 0 and 10000
 *
 * Integers are written with all digits. The text is made only for refused values.
 */
#ifndef CAIRN_PROTOCOL_COMPLAINT_H
#define CAIRN_PROTOCOL_COMPLAINT_H

#include "protocol/cursor.h"

/* Fills `why` (may be NULL) and returns `status`. `owner` names the message or query of the field;
 * `value` is a cursor at the refused value; `allowed` completes "it must be …". */
enum status wire_complain(struct reason *why, enum status status, int64_t index, const char *field,
			  const char *owner, struct wire_cursor value, const char *allowed);

#endif
