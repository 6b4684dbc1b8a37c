/* shapes.h: the golden lines of convex decomposition and distance fields. */
#ifndef CAIRN_TESTS_GOLDEN_SHAPES_H
#define CAIRN_TESTS_GOLDEN_SHAPES_H

#include "tests/golden/solvers.h"

void golden_shapes(golden_line *line);

#endif
