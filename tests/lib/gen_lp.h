/* gen_lp.h: linear programs of many families, drawn at random and from brick towers. */
#ifndef CAIRN_TESTS_GEN_LP_H
#define CAIRN_TESTS_GEN_LP_H

#include "server/base/rng.h"
#include "server/engine/solvers/lp_dual_simplex.h"

enum gen_lp_family {
	GEN_LP_BOXED,	   /* every column between two bounds */
	GEN_LP_GENERAL,	   /* all kinds of bounds and rows; may be infeasible or unbounded */
	GEN_LP_INTEGER,	   /* small integers everywhere: many ties, degenerate */
	GEN_LP_DEGENERATE, /* rows that meet in one point */
	GEN_LP_REDUNDANT,  /* repeated and scaled rows */
	GEN_LP_EQUATIONS,
	GEN_LP_FREE,   /* free columns */
	GEN_LP_EMPTY,  /* no rows, or no columns, or empty ones */
	GEN_LP_SCALES, /* rows and columns over eight powers of ten */
	GEN_LP_ASSIGNMENT,
	GEN_LP_FAMILIES
};

/* A problem with its arrays, a workspace and a solution for it. */
struct gen_lp {
	struct lp_problem problem;
	uint32_t rows_max, columns_max, nonzeros_max;
	uint32_t *starts, *index;
	double *values, *cost, *column_low, *column_high, *row_low, *row_high, *start;
	struct lp_dual_simplex simplex;
	void *memory;
	struct lp_solution solution;
	double *scratch; /* 2 × rows */
};

void gen_lp_init(struct gen_lp *self, uint32_t rows_max, uint32_t columns_max,
		 uint32_t nonzeros_max);
void gen_lp_release(struct gen_lp *self);
void gen_lp_random(struct gen_lp *self, struct rng *rng, enum gen_lp_family family);
/* gen_lp_begin sets the number of rows, whose bounds the caller fills in; gen_lp_column adds a
 * column and gen_lp_entry an entry of it (rows ascending). */
void gen_lp_begin(struct gen_lp *self, uint32_t rows);
void gen_lp_column(struct gen_lp *self, double cost, double low, double high);
void gen_lp_entry(struct gen_lp *self, uint32_t row, double value);
struct solver_result gen_lp_solve(struct gen_lp *self, const struct solver_options *options);

/* A planar pile of unit-weight bricks of 1 × 1/4: each by its left edge and its layer, 0 on the table.
 * Forces are vertical, at both ends of each overlap (papers R-06). */
struct gen_lp_brick {
	double left;
	uint32_t layer;
};
/* The program min Σ|force and moment imbalance| over the contact forces: 0 for a stable pile. With
 * `hard` the balance is a constraint, and the program is infeasible for an unstable pile. */
void gen_lp_stack(struct gen_lp *self, const struct gen_lp_brick *bricks, uint32_t count,
		  bool hard);
/* A random pile; returns the number of bricks, ≤ `most`. */
uint32_t gen_lp_pile(struct rng *rng, struct gen_lp_brick *bricks, uint32_t most);
/* Rows 1, 2, …, m, …, 2, 1 (bottom up). Room for m² bricks. */
uint32_t gen_lp_diamond(struct gen_lp_brick *bricks, uint32_t m);
/* Rows 1, 2, …, m bottom up. */
uint32_t gen_lp_inverted(struct gen_lp_brick *bricks, uint32_t m);

#endif
