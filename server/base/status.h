/* status.h: the result of a call that can fail for a foreseeable reason. See status.def for the
 * list. */
#ifndef CAIRN_BASE_STATUS_H
#define CAIRN_BASE_STATUS_H

#include <stdarg.h>

#include "server/base/base.h"

enum status {
#define STATUS(number, NAME, name, text) STATUS_##NAME = (number),
#include "server/base/status.def"
};

/* One line for a person. Never NULL; "unknown status" for a number that is not in the table. */
const char *status_text(enum status status);
/* The permanent short name, e.g. "unknown_body". Never NULL. */
const char *status_name(enum status status);

/* Why a call was refused, for people and programs. `field` and `limit` name what was wrong; `index`
 * is the position in a list (command of a batch, vertex of a cloud) or -1. */
struct reason {
	enum status status;
	int64_t index;
	char field[32];
	char text[160];
};

/* Fills `why` (may be NULL) and returns `status`, so that a check reads
 * `return reason_set(why, STATUS_RANGE, -1, "radius", "radius %g is over %g", …)`. A text that is too
 * long loses the middle of its longest words, which are paths and names as a rule, so that the limit
 * and the remedy behind them stay. */
enum status reason_set(struct reason *why, enum status status, int64_t index, const char *field,
		       const char *format, ...) PRINTF_LIKE(5, 6);
enum status reason_set_list(struct reason *why, enum status status, int64_t index,
			    const char *field, const char *format, va_list arguments)
	PRINTF_LIKE(5, 0);

/* Prints a number for such a text: an integer with all its digits, other numbers with ten digits.
 * Returns `text`. */
enum { REASON_NUMBER_BYTES = 32 };
const char *reason_number(double value, char text[REASON_NUMBER_BYTES]);

#endif
