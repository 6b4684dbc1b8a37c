/* solvers.h: the solvers' lines of the golden list. */
#ifndef CAIRN_TESTS_GOLDEN_SOLVERS_H
#define CAIRN_TESTS_GOLDEN_SOLVERS_H

#include <stdint.h>

/* A family of `count` problems: hash of the solutions, hash of how they were found. */
typedef void golden_line(const char *name, uint32_t count, uint64_t values, uint64_t ways);
void golden_solvers(golden_line *line);

#endif
