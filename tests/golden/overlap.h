/* overlap.h: the lines of the golden list for overlapping meshes, sums, free regions and meshes in motion. */
#ifndef CAIRN_TESTS_GOLDEN_OVERLAP_H
#define CAIRN_TESTS_GOLDEN_OVERLAP_H

#include "tests/golden/solvers.h"

/* Of each: a hash of its numbers, and one of how many things it found. */
void golden_overlap(golden_line *line);

#endif
