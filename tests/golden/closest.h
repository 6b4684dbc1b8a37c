/* closest.h: the lines of the golden list for distances, depths and axes of convex bodies. */
#ifndef CAIRN_TESTS_GOLDEN_CLOSEST_H
#define CAIRN_TESTS_GOLDEN_CLOSEST_H

#include "tests/golden/solvers.h"

/* For each algorithm a hash of its results, and a hash of how it found them (features, rounds). */
void golden_closest(golden_line *line);

#endif
