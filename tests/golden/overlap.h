/* overlap.h: the lines of the golden list for overlapping meshes, sums, free regions and meshes in motion. */
#ifndef CAIRN_TESTS_GOLDEN_OVERLAP_H
#define CAIRN_TESTS_GOLDEN_OVERLAP_H

#include "tests/golden/solvers.h"

/* For each: a hash of its numbers, and a hash of the counts it found. */
void golden_overlap(golden_line *line);

#endif
