/* See locks_text.h. */
#include "protocol/locks_text.h"

#include <string.h>

static const char *const AXES[] = { "x", "y", "z", "rx", "ry", "rz" };

static uint32_t bit_of(const char *word, size_t length)
{
	for (uint32_t axis = 0; axis < COUNT_OF(AXES); axis++)
		if (strlen(AXES[axis]) == length && strncmp(AXES[axis], word, length) == 0)
			return 1u << axis;
	return 0;
}

enum status locks_read(const char *text, uint32_t *locks, struct reason *why)
{
	static const char between[] = ", ";
	uint32_t found = 0;
	if (strcmp(text, "none") == 0) {
		*locks = 0;
		return STATUS_OK;
	}
	for (text += strspn(text, between); *text != '\0'; text += strspn(text, between)) {
		size_t length = strcspn(text, between);
		uint32_t bit = bit_of(text, length);
		ASSERT(length > 0 && bit < 64);
		if (bit == 0)
			return reason_set(why, STATUS_RANGE, -1, "locks",
					  "locks has %.*s: it must name axes among x, y, z (along) "
					  "and rx, ry, rz (about), or be none",
					  (int)(length < 20 ? length : 20), text);
		if ((found & bit) != 0)
			return reason_set(why, STATUS_EXISTS, -1, "locks",
					  "locks has %.*s twice; name each axis once", (int)length,
					  text);
		found |= bit;
		text += length;
	}
	*locks = found;
	return STATUS_OK;
}
