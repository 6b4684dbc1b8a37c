/* bricard.h: a loop one of whose rows always depends on the others. */
#ifndef CAIRN_TESTS_BRICARD_H
#define CAIRN_TESTS_BRICARD_H

#include "tests/lib/worlds.h"

/* Bricard's linkage of six equal links: edges of a cube that form a closed skew hexagon, at each corner a
 * hinge perpendicular to both of its edges. One link is fixed. Under `lcp` at 60 Hz, with gravity. */
struct world *bricard_world(void);

#endif
