/* See json_text.h. */
#include "server/base/json_text.h"

#include <string.h>

void json_text_print(FILE *file, const char *text, size_t bytes)
{
	ASSERT(text != NULL || bytes == 0);
	fputc('"', file);
	for (size_t i = 0; i < bytes; i++) {
		unsigned char c = (unsigned char)text[i];
		if (c == '"' || c == '\\')
			fprintf(file, "\\%c", c);
		else if (c < 0x20)
			fprintf(file, "\\u%04x", c);
		else
			fputc(c, file);
	}
	fputc('"', file);
}

static void print_string(FILE *file, const char *text)
{
	json_text_print(file, text, strlen(text));
}

void json_reason_print(FILE *file, const struct reason *why)
{
	fputs("{\"error\": {\"status\": ", file);
	print_string(file, status_name(why->status));
	fprintf(file, ", \"code\": %d, \"text\": ", (int)why->status);
	print_string(file, why->text);
	if (why->field[0] != '\0') {
		fputs(", \"field\": ", file);
		print_string(file, why->field);
	}
	if (why->index >= 0)
		fprintf(file, ", \"index\": %lld", (long long)why->index);
	fputs("}}\n", file);
}
