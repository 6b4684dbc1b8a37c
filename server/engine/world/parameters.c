#include "server/engine/world/parameters.h"

#include <string.h>

const struct parameter_entry parameter_entries[PARAMETER_COUNT] = {
#define PARAMETER(number, NAME, name, kind, absent, initial, min, max, unit, doc) \
	[number] = { name, unit, doc, absent, initial, min, max, PARAMETER_##kind },
#include "server/engine/world/parameters.def"
#undef PARAMETER
};

uint32_t parameter_find(const char *name)
{
	for (uint32_t row = 0; row < PARAMETER_COUNT; row++)
		if (strcmp(parameter_entries[row].name, name) == 0)
			return row;
	return PARAMETER_COUNT;
}
