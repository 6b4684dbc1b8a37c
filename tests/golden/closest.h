/* closest.h: the lines of the golden list for distances, depths and axes of convex bodies. */
#ifndef CAIRN_TESTS_GOLDEN_CLOSEST_H
#define CAIRN_TESTS_GOLDEN_CLOSEST_H

#include "tests/golden/solvers.h"

/* Of each algorithm: a hash of its numbers, and one of how it came to them (features, rounds). */
void golden_closest(golden_line *line);

#endif
