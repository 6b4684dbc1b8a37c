/* parameters.h: parameters.def as C: the row of each parameter in the parameter table.
 *
 *   double hertz = tables->parameter.value[PARAMETER_CONTACT_HERTZ];
 */
#ifndef CAIRN_ENGINE_WORLD_PARAMETERS_H
#define CAIRN_ENGINE_WORLD_PARAMETERS_H

#include "server/base/base.h"

enum parameter_row {
#define PARAMETER(number, NAME, name, kind, absent, initial, min, max, unit, methods, doc)         \
	PARAMETER_##NAME = (number),
#include "server/engine/world/parameters.def"
	PARAMETER_COUNT,
};

/* Rows that the limit memory_max counts. Fixed while the number of the core is: a larger count would let
 * the same commands meet memory_max at an earlier tick, so old journals would replay differently. */
enum { PARAMETERS_CHARGED = 9 };

/* The parameters in order of rows; a row whose number no parameter has is all 0. */
struct parameter_entry {
	const char *name, *unit;
	const char *methods; /* names of the methods that read it, separated by blanks */
	const char *doc;
	double absent, initial, min, max;
	bool whole; /* a count or a switch: an integer */
};
extern const struct parameter_entry parameter_entries[PARAMETER_COUNT];

enum { PARAMETER_REAL = 0, PARAMETER_WHOLE = 1 };

/* The row of a parameter by its present or an earlier name; PARAMETER_COUNT if there is none. */
uint32_t parameter_find(const char *name);
/* The index-th earlier name of a parameter, or NULL. */
const char *parameter_alias(uint32_t row, uint32_t index);

#endif
