/* gen_qp.h: convex quadratic programs that are hard for the reasons found in public collections:
 * bad scaling, dependent rows, vertices where many rows meet, Hessians that are singular, nearly
 * singular or zero, free and boxed variables, dense and sparse. For each family the construction
 * decides whether a minimum exists. */
#ifndef CAIRN_TESTS_GEN_QP_H
#define CAIRN_TESTS_GEN_QP_H

#include "server/base/rng.h"
#include "server/engine/solvers/qp_dual_active_set.h"

enum gen_qp_family {
	GEN_QP_DEFINITE, /* G = M Mᵀ + 0.1, general rows, some equal */
	GEN_QP_BOXED,	 /* G of any rank, most often n − 1; a box 4 wide, and a few rows */
	GEN_QP_ILL,	 /* eigenvalues from 1 to 1e-12 … 1e-15; a box 4 or 2000 wide, and rows */
	GEN_QP_SCALED,	 /* definite, variables and rows over six powers of ten */
	GEN_QP_LINEAR,	 /* G = 0, boxed */
	GEN_QP_DEGENERATE, /* small integers, rows in a vertex, rows twice and three times */
	GEN_QP_EQUATIONS,  /* dependent equality rows that agree, G singular, x ≥ 0 */
	GEN_QP_NEAR,	   /* rows 1e-3 … 1e-9 beside each other */
	GEN_QP_FIT, /* least squares with absolute values (lasso): G of low rank, free variables */
	GEN_QP_CONTROL, /* equality rows of a chain of states, inputs in boxes, sparse */
	GEN_QP_MACHINE, /* separating two clouds: most variables without curvature, sparse */
	GEN_QP_SHARES,	/* shares that sum to 1, with factors: large and tiny curvatures */
	GEN_QP_INFEASIBLE, /* rows that contradict each other: z ≥ 0, Cᵀz = 0, d·z > 0, all exact */
	GEN_QP_UNBOUNDED, /* a ray p: G p = 0, C p ≥ 0, c·p < 0, all exact */
	GEN_QP_FAMILIES
};
const char *gen_qp_name(enum gen_qp_family family);

/* A program with its arrays. */
struct gen_qp {
	struct qp_problem problem;
	double *g, *c, *matrix, *d;
	bool *equal;
	uint32_t variables_max, rows_max;
};

/* Room for programs of up to `size` variables and 4 × size + 4 rows. */
void gen_qp_init(struct gen_qp *self, uint32_t size);
void gen_qp_release(struct gen_qp *self);
/* A program of at most `size` variables ≥ 2, or slightly more in families whose structure rounds it
 * up. */
void gen_qp_random(struct gen_qp *self, enum gen_qp_family family, struct rng *rng, uint32_t size);

#endif
