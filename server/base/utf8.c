/* See utf8.h. */
#include "server/base/utf8.h"

uint32_t utf8_bytes(const char *text, size_t room)
{
	/* By the first byte: how many, and the range of the second. */
	static const struct {
		uint8_t first, last, bytes, low, high;
	} ROWS[] = {
		{ 0xC2, 0xDF, 2, 0x80, 0xBF }, { 0xE0, 0xE0, 3, 0xA0, 0xBF },
		{ 0xE1, 0xEC, 3, 0x80, 0xBF }, { 0xED, 0xED, 3, 0x80, 0x9F },
		{ 0xEE, 0xEF, 3, 0x80, 0xBF }, { 0xF0, 0xF0, 4, 0x90, 0xBF },
		{ 0xF1, 0xF3, 4, 0x80, 0xBF }, { 0xF4, 0xF4, 4, 0x80, 0x8F },
	};
	const uint8_t *at = (const uint8_t *)text;
	if (room > 0 && at[0] > 0 && at[0] < 0x80)
		return 1;
	for (size_t i = 0; i < COUNT_OF(ROWS) && room > 1; i++) {
		if (at[0] < ROWS[i].first || at[0] > ROWS[i].last)
			continue;
		if (ROWS[i].bytes > room || at[1] < ROWS[i].low || at[1] > ROWS[i].high)
			return 0;
		for (uint32_t k = 2; k < ROWS[i].bytes; k++)
			if ((at[k] & 0xC0) != 0x80)
				return 0;
		return ROWS[i].bytes;
	}
	return 0;
}

void utf8_mend(char *text)
{
	while (*text != '\0') {
		uint32_t bytes = utf8_bytes(text, UTF8_BYTES_MAX);
		if (bytes == 0 || (uint8_t)*text < ' ' || *text == 0x7F)
			*text = '?';
		text += MAX_OF(bytes, 1u);
	}
}
