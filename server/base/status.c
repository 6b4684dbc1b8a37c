/* See status.h. Texts and names come from status.def. */
#include "server/base/status.h"

#include <stdarg.h>
#include <stdio.h>

#include "server/base/utf8.h"

const char *status_text(enum status status)
{
	switch (status) {
#define STATUS(number, NAME, name, text)                                                           \
	case STATUS_##NAME:                                                                        \
		return text;
#include "server/base/status.def"
	}
	return "unknown status";
}

const char *status_name(enum status status)
{
	switch (status) {
#define STATUS(number, NAME, name, text)                                                           \
	case STATUS_##NAME:                                                                        \
		return #name;
#include "server/base/status.def"
	}
	return "unknown";
}

const char *reason_number(double value, char text[REASON_NUMBER_BYTES])
{
	const double whole_max = 9007199254740992.0;
	bool whole = value >= -whole_max && value <= whole_max && value == (double)(int64_t)value;
	snprintf(text, REASON_NUMBER_BYTES, whole ? "%.0f" : "%.10g", value);
	return text;
}

enum status reason_set(struct reason *why, enum status status, int64_t index, const char *field,
		       const char *format, ...)
{
	if (why == NULL)
		return status;
	why->status = status;
	why->index = index;
	snprintf(why->field, sizeof why->field, "%s", field);
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(why->text, sizeof why->text, format, arguments);
	va_end(arguments);
	/* Parts of them may come from files and clients, and may have been cut. */
	utf8_mend(why->field);
	utf8_mend(why->text);
	return status;
}
