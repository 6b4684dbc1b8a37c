/* gen_lp_family.h: linear programs of families that grow: sizes are given, numbers are drawn. */
#ifndef CAIRN_TESTS_GEN_LP_FAMILY_H
#define CAIRN_TESTS_GEN_LP_FAMILY_H

#include "tests/lib/gen_lp.h"

/* Sparse rows and columns with about `entries` entries a column; a point and prices are drawn first and the
 * bounds and costs around them, so that an optimum exists. The basis of all activities is neither
 * feasible nor dual feasible. */
void gen_lp_sparse(struct gen_lp *self, struct rng *rng, uint32_t rows, uint32_t columns,
		   uint32_t entries);
/* The same number of boxed columns as rows, upper bounds on rows: only the dual phase works. */
void gen_lp_boxed(struct gen_lp *self, struct rng *rng, uint32_t rows, uint32_t entries);
/* Goods from sources to sinks: equations, total supply is total demand. Integers, so degenerate. */
void gen_lp_transport(struct gen_lp *self, struct rng *rng, uint32_t sources, uint32_t sinks);
/* A transport of unit goods: 2n rows, n² columns, each basis degenerate. */
void gen_lp_assignment(struct gen_lp *self, struct rng *rng, uint32_t n);
/* The relaxation of a set cover: each row is covered by at least one of its sets, costs 1, 2 or 3. */
void gen_lp_cover(struct gen_lp *self, struct rng *rng, uint32_t rows, uint32_t sets);
/* One step of n³ spheres of radius 1 that sink, at pitch 2.2, jittered: a row for each pair in reach, three
 * boxed columns a sphere. self->start is a feasible point; problem.start remains NULL. */
void gen_lp_spheres(struct gen_lp *self, struct rng *rng, uint32_t n);

#endif
