/* eliminate.h: linear equations by full pivoting, an oracle for tests and benchmarks. */
#ifndef CAIRN_TESTS_ELIMINATE_H
#define CAIRN_TESTS_ELIMINATE_H

#include <stdint.h>

/* Solves a x = b, n × n by rows, in place of b; destroys a. A pivot below `least` times the first
 * one counts as zero; the unknowns of such columns get 0. Returns the rank, or UINT32_MAX without
 * memory. */
uint32_t eliminate(uint32_t n, double *a, double *b, double least);

#endif
