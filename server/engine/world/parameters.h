/* parameters.h: parameters.def as C: the row of each parameter in the parameter table.
 *
 *   double hertz = tables->parameter.value[PARAMETER_CONTACT_HERTZ];
 */
#ifndef CAIRN_ENGINE_WORLD_PARAMETERS_H
#define CAIRN_ENGINE_WORLD_PARAMETERS_H

#include "server/base/base.h"

enum parameter_row {
#define PARAMETER(number, NAME, name, kind, absent, initial, min, max, unit, doc) PARAMETER_##NAME = (number),
#include "server/engine/world/parameters.def"
#undef PARAMETER
	PARAMETER_COUNT,
};

/* Rows that the limit memory_max counts: those there were when the core's number was given. */
enum { PARAMETERS_CHARGED = 9 };

/* The list in order of rows: PARAMETER_COUNT entries. */
struct parameter_entry {
	const char *name, *unit, *doc;
	double absent, initial, min, max;
	bool whole; /* a count or a switch: an integer */
};
extern const struct parameter_entry parameter_entries[PARAMETER_COUNT];

enum { PARAMETER_REAL = 0, PARAMETER_WHOLE = 1 };

/* Row of a name, or PARAMETER_COUNT. */
uint32_t parameter_find(const char *name);

#endif
