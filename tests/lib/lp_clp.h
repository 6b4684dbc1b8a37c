/* lp_clp.h: CLP as an oracle of linear programs. Its dual simplex runs without presolve and perturbation:
 * the first loses digits when it restores the solution, the second is not always undone. */
#ifndef CAIRN_TESTS_LP_CLP_H
#define CAIRN_TESTS_LP_CLP_H

#include <coin/Clp_C_Interface.h>

#include "server/engine/solvers/lp.h"

struct lp_clp {
	Clp_Simplex *model;  /* owned; has the last solution */
	int *starts, *index; /* owned, as are the bounds */
	double *bounds[4];
	uint32_t rows, columns, nonzeros;
};

struct lp_clp_answer {
	int verdict;	  /* 0 optimal, 1 infeasible, 2 unbounded, more: an error */
	double objective; /* of its solution, not of perturbed costs */
	double size;	  /* Σ |c_j x_j|, the scale of its rounding errors */
	double residual;  /* computed as ours */
	int pivots;
	double ms; /* computed for; loading is part of it */
};

/* For problems of at most these sizes. */
void lp_clp_init(struct lp_clp *self, uint32_t rows, uint32_t columns, uint32_t nonzeros);
void lp_clp_release(struct lp_clp *self);
/* `places`: of columns, then rows, to start from; NULL: from all activities. `scratch`: 2 × rows doubles. */
struct lp_clp_answer lp_clp_solve(struct lp_clp *self, const struct lp_problem *problem,
				  const uint8_t *places, double *scratch);
/* Milliseconds that this process has computed for; others on the machine do not count. */
double lp_clp_now(void);

#endif
