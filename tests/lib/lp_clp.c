/* See lp_clp.h. */
#include "tests/lib/lp_clp.h"

#include <float.h>
#include <math.h>
#include <time.h>

#include "server/base/heap.h"

void lp_clp_init(struct lp_clp *self, uint32_t rows, uint32_t columns, uint32_t nonzeros)
{
	*self = (struct lp_clp){ .rows = rows, .columns = columns, .nonzeros = nonzeros };
	self->starts = heap_alloc_zero((columns + 1) * sizeof *self->starts);
	self->index = heap_alloc_zero(nonzeros * sizeof *self->index);
	for (uint32_t k = 0; k < 4; k++)
		self->bounds[k] =
			heap_alloc_zero((k < 2 ? columns : rows) * sizeof *self->bounds[k]);
	self->model = Clp_newModel();
	Clp_setLogLevel(self->model, 0);
	Clp_setPrimalTolerance(self->model, 1e-9);
	Clp_setDualTolerance(self->model, 1e-9);
	Clp_setPerturbation(self->model, 100);
}

void lp_clp_release(struct lp_clp *self)
{
	Clp_deleteModel(self->model);
	heap_free(self->starts);
	heap_free(self->index);
	for (uint32_t k = 0; k < 4; k++)
		heap_free(self->bounds[k]);
}

double lp_clp_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void load_problem(struct lp_clp *self, const struct lp_problem *p)
{
	const struct lp_matrix *a = &p->matrix;
	ASSERT(a->rows <= self->rows && a->columns <= self->columns);
	ASSERT(a->starts[a->columns] <= self->nonzeros);
	for (uint32_t j = 0; j <= a->columns; j++)
		self->starts[j] = (int)a->starts[j];
	for (uint32_t k = 0; k < a->starts[a->columns]; k++)
		self->index[k] = (int)a->index[k];
	for (uint32_t j = 0; j < a->columns; j++) {
		self->bounds[0][j] = p->column_low[j] <= -LP_INFINITY ? -DBL_MAX : p->column_low[j];
		self->bounds[1][j] = p->column_high[j] >= LP_INFINITY ? DBL_MAX : p->column_high[j];
	}
	for (uint32_t i = 0; i < a->rows; i++) {
		self->bounds[2][i] = p->row_low[i] <= -LP_INFINITY ? -DBL_MAX : p->row_low[i];
		self->bounds[3][i] = p->row_high[i] >= LP_INFINITY ? DBL_MAX : p->row_high[i];
	}
	Clp_loadProblem(self->model, (int)a->columns, (int)a->rows, self->starts, self->index,
			a->values, self->bounds[0], self->bounds[1], p->cost, self->bounds[2],
			self->bounds[3]);
}

/* CLP's numbers of places: 0 free, 1 basic, 2 upper, 3 lower bound. */
static void give_places(struct lp_clp *self, const struct lp_problem *p, const uint8_t *places)
{
	static const int numbers[] = {
		[LP_LOW] = 3, [LP_HIGH] = 2, [LP_BASIC] = 1, [LP_BETWEEN] = 0
	};
	for (uint32_t j = 0; j < p->matrix.columns; j++)
		Clp_setColumnStatus(self->model, (int)j, numbers[MIN_OF(places[j], LP_BETWEEN)]);
	for (uint32_t i = 0; i < p->matrix.rows; i++)
		Clp_setRowStatus(self->model, (int)i,
				 numbers[MIN_OF(places[p->matrix.columns + i], LP_BETWEEN)]);
}

struct lp_clp_answer lp_clp_solve(struct lp_clp *self, const struct lp_problem *problem,
				  const uint8_t *places, double *scratch)
{
	struct lp_clp_answer answer = { .size = 0 };
	double begin = lp_clp_now();
	load_problem(self, problem);
	if (places != NULL)
		give_places(self, problem, places);
	/* Not Clp_initialSolve, which has a presolve. */
	Clp_dual(self->model, 0);
	answer.ms = lp_clp_now() - begin;
	const double *x = Clp_primalColumnSolution(self->model);
	answer.verdict = Clp_status(self->model);
	answer.objective = lp_objective(problem, x);
	answer.residual = lp_residual(problem, x, Clp_dualRowSolution(self->model), scratch);
	answer.pivots = Clp_numberIterations(self->model);
	for (uint32_t j = 0; j < problem->matrix.columns; j++)
		answer.size += fabs(problem->cost[j] * x[j]);
	return answer;
}
