/* See capabilities.h. */
#include "protocol/capabilities.h"

#include <string.h>

const char *wire_cap_name(uint32_t bit)
{
	switch (bit) {
#define CAPABILITY(bit, NAME, name, doc)                                                           \
	case bit:                                                                                  \
		return #name;
#include "protocol/capabilities.def"
	default:
		return NULL;
	}
}

uint32_t wire_cap_find(struct wire_slice name)
{
	for (uint32_t bit = 0; bit < 32; bit++) {
		const char *known = wire_cap_name(bit);
		if (known != NULL && strlen(known) == name.bytes &&
		    memcmp(known, name.at, name.bytes) == 0)
			return 1u << bit;
	}
	return 0;
}
