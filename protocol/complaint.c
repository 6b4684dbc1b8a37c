/* See complaint.h. */
#include "protocol/complaint.h"

#include <math.h>
#include <stdio.h>

enum { ITEMS_SHOWN = 4, TEXT_SHOWN = 24, VALUE_BYTES = 64 };

static void describe_token(const struct wire_token *token, char *text, size_t bytes)
{
	switch (token->type) {
	case WIRE_TOKEN_NIL:
		snprintf(text, bytes, "nil");
		return;
	case WIRE_TOKEN_BOOL:
		snprintf(text, bytes, "%s", token->truth ? "true" : "false");
		return;
	case WIRE_TOKEN_INTEGER:
		snprintf(text, bytes, "%lld", (long long)token->integer);
		return;
	case WIRE_TOKEN_REAL:
		/* The sign of a NaN depends on the machine that made it. */
		if (isnan(token->real))
			snprintf(text, bytes, "nan");
		else
			snprintf(text, bytes, "%.10g", token->real);
		return;
	case WIRE_TOKEN_TEXT:
		snprintf(text, bytes, token->count > TEXT_SHOWN ? "a text of %u bytes" : "\"%.*s\"",
			 token->count, (const char *)token->at);
		return;
	case WIRE_TOKEN_BIN:
		snprintf(text, bytes, "a bin of %u bytes", token->count);
		return;
	case WIRE_TOKEN_ARRAY:
		snprintf(text, bytes, "an array of %u", token->count);
		return;
	case WIRE_TOKEN_MAP:
		snprintf(text, bytes, "a map of %u", token->count);
		return;
	}
}

/* Writes a short array of numbers in full, because one of them may be the fault. */
static bool describe_numbers(struct wire_cursor at, uint32_t count, char *text, size_t bytes)
{
	size_t used = (size_t)snprintf(text, bytes, "[");
	for (uint32_t i = 0; i < count; i++) {
		struct wire_token token;
		char item[32];
		if (wire_next(&at, &token) != STATUS_OK ||
		    (token.type != WIRE_TOKEN_INTEGER && token.type != WIRE_TOKEN_REAL))
			return false;
		describe_token(&token, item, sizeof item);
		used += (size_t)snprintf(text + used, bytes - used, "%s%s", i > 0 ? ", " : "",
					 item);
		if (used >= bytes - 1)
			return false;
	}
	snprintf(text + used, bytes - used, "]");
	return true;
}

/* Writes the value at the cursor for a person: 10001, 4.5, "fast", nil, [0, nan, 1], a bin of 31 bytes. Long
 * texts and arrays are summarised; the result always ends with a NUL. */
static void wire_describe(struct wire_cursor at, char *text, size_t bytes)
{
	struct wire_token token;
	if (wire_next(&at, &token) != STATUS_OK) {
		snprintf(text, bytes, "cut short");
		return;
	}
	bool numbers = token.type == WIRE_TOKEN_ARRAY && token.count > 0 &&
		       token.count <= ITEMS_SHOWN && describe_numbers(at, token.count, text, bytes);
	if (!numbers)
		describe_token(&token, text, bytes);
}

enum status wire_complain(struct reason *why, enum status status, int64_t index, const char *field,
			  const char *owner, struct wire_cursor value, const char *allowed)
{
	char given[VALUE_BYTES];
	if (why == NULL)
		return status;
	wire_describe(value, given, sizeof given);
	return reason_set(why, status, index, field, "%s of %s is %s: it must be %s", field, owner,
			  given, allowed);
}
