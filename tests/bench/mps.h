/* mps.h: reads linear programs in the MPS format, fixed or free, for benchmarks: names without blanks. */
#ifndef CAIRN_TESTS_BENCH_MPS_H
#define CAIRN_TESTS_BENCH_MPS_H

#include <stdio.h>

#include "tests/lib/gen_lp.h"

/* The program of an open file, with integers as numbers of any size; the objective's constant goes to
 * *constant. False: `why` says what is wrong, and the program is undefined. */
bool mps_read(FILE *file, struct gen_lp *out, double *constant, char why[120]);

#endif
