/* json_text.h: strings of JSON, as the commands and clients print them. */
#ifndef CAIRN_BASE_JSON_TEXT_H
#define CAIRN_BASE_JSON_TEXT_H

#include <stdio.h>

#include "server/base/base.h"
#include "server/base/status.h"

/* Prints `bytes` bytes of text as one JSON string (RFC 8259) in quotes. A quote or backslash gets a
 * backslash; a control byte below 0x20 becomes \u00XX, because JSON forbids it in a string. All other
 * bytes pass unchanged, so valid UTF-8 stays valid and an invalid byte, for example of a file name,
 * is not replaced. A failed write shows in ferror(file). */
void json_text_print(FILE *file, const char *text, size_t bytes);

/* Prints a refusal as one object on a line: {"error": {"status", "code", "text", "field", "index"}},
 * without a field or an index that it does not have. `status` has the names of status.def. */
void json_reason_print(FILE *file, const struct reason *why);

#endif
