/* See json_text.h. */
#include "server/base/json_text.h"

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
