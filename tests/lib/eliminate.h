/* eliminate.h: linear equations by full pivoting, for tests and benches that want a plain oracle. */
#ifndef CAIRN_TESTS_ELIMINATE_H
#define CAIRN_TESTS_ELIMINATE_H

#include <stdint.h>

/* Solves a x = b, n × n line by line, in place of b; destroys a. Pivots below `least` times the first
 * one are none: what depends on the rest gets 0. Returns the rank, or UINT32_MAX without memory. */
uint32_t eliminate(uint32_t n, double *a, double *b, double least);

#endif
