/* See durability.h. */
#include "server/store/durability.h"

#include <string.h>

static const char *const NAMES[] = { "off", "tick", "command" };

const char *durability_name(enum durability durability)
{
	return NAMES[durability];
}

bool durability_parse(const char *name, size_t bytes, enum durability *out)
{
	for (size_t i = 0; i < COUNT_OF(NAMES); i++) {
		if (strlen(NAMES[i]) != bytes || memcmp(NAMES[i], name, bytes) != 0)
			continue;
		*out = (enum durability)i;
		return true;
	}
	return false;
}
