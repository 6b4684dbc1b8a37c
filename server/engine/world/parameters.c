/* See parameters.h. Both tables are derived from parameters.def; names are compared before aliases. */
#include "server/engine/world/parameters.h"

#include <string.h>

const struct parameter_entry parameter_entries[PARAMETER_COUNT] = {
#define PARAMETER(number, NAME, name, kind, absent, initial, min, max, unit, methods, doc)         \
	[number] = { name, unit, methods, doc, absent, initial, min, max, PARAMETER_##kind },
#include "server/engine/world/parameters.def"
};

static const struct {
	const char *name;
	uint32_t row;
} ALIASES[] = {
#define PARAMETER_ALIAS(NAME, old) { old, PARAMETER_##NAME },
#include "server/engine/world/parameters.def"
};

uint32_t parameter_find(const char *name)
{
	for (uint32_t row = 0; row < PARAMETER_COUNT; row++)
		if (parameter_entries[row].name != NULL &&
		    strcmp(parameter_entries[row].name, name) == 0)
			return row;
	for (uint32_t i = 0; i < COUNT_OF(ALIASES); i++)
		if (strcmp(ALIASES[i].name, name) == 0)
			return ALIASES[i].row;
	return PARAMETER_COUNT;
}

const char *parameter_alias(uint32_t row, uint32_t index)
{
	for (uint32_t i = 0; i < COUNT_OF(ALIASES); i++)
		if (ALIASES[i].row == row && index-- == 0)
			return ALIASES[i].name;
	return NULL;
}
