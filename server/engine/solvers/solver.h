/* solver.h: what all solvers have in common: four things each (problem, options, workspace,
 * result).
 *
 *   struct noun_problem    sizes and borrowed arrays, never written by the solver
 *   struct solver_options  the same for all; solver_options_default() is right nearly always
 *   struct noun            the workspace: sized once for a largest problem over memory of the
 *                          caller, reusable, nothing allocated while solving:
 *                            size_t noun_bytes(sizes);           (a multiple of 64)
 *                            void noun_init(struct noun *, void *memory, sizes);
 *                          `memory` is borrowed, aligned to 64, and outlives the workspace
 *   struct solver_result   noun_solve(workspace, problem, options, solution…) returns it by value
 *
 * Any problem, non-finite numbers included, ends with a status and a true residual: the residual is
 * computed from the problem and the solution as handed back, never carried along while pivoting.
 * A solver does not fail the program and does not print; the caller looks at the status and has a
 * deterministic plan B. The same problem, options and warm start give the same bits everywhere.
 */
#ifndef CAIRN_ENGINE_SOLVERS_SOLVER_H
#define CAIRN_ENGINE_SOLVERS_SOLVER_H

#include "server/base/base.h"

enum solver_status {
	SOLVER_SOLVED,     /* residual ≤ tolerance */
	SOLVER_STOPPED,    /* at the budget asked for, with a feasible point that is not optimal */
	SOLVER_INEXACT,    /* ended as it should, but residual > tolerance */
	SOLVER_LIMIT,      /* pivots_max reached; the solution is the last one, see the residual */
	SOLVER_INFEASIBLE, /* no point satisfies the rows; `certificate` proves it */
	SOLVER_UNBOUNDED,  /* a ray without end; `certificate` is its direction */
	SOLVER_NOT_FINITE, /* a number of the problem is infinite or not a number: solution is 0 */
	SOLVER_STATUSES
};

struct solver_options {
	/* Accepted residual, relative: each solver says to what. Smaller than 1e-13 asks for more
	 * than double gives; larger accepts answers that fallbacks would have to repair. */
	double tolerance;
	/* Pivots (LCP, QP: changes of the active set; LP: changes of the basis); 0: the solver's
	 * own limit, which it states. */
	uint32_t pivots_max;
	/* Rounds of whatever surrounds the pivoting (re-ordering, refinement, reflections); 0: its
	 * own limit. */
	uint32_t rounds_max;
	/* Relative diagonal regularisation for dependent rows, of the row's own diagonal. Only used
	 * where a factor would be singular, and removed again by refinement. */
	double regularisation;
	/* Start from the active set (or basis) that the workspace kept or the caller gives. */
	bool warm;
};

struct solver_result {
	enum solver_status status;
	uint32_t pivots;          /* changes of the active set or basis */
	uint32_t rounds;          /* of what surrounds the pivoting */
	uint32_t refactorings;    /* factors made from scratch (updates are not counted) */
	uint32_t regularisations; /* rows whose pivot had to be helped */
	uint32_t fallbacks;       /* parts of the problem answered by the solver's plan B */
	double residual;          /* worst relative violation of the conditions by the solution */
	double objective;         /* QP, LP: its value; 0 for an LCP */
	/* INFEASIBLE, UNBOUNDED: a vector in the workspace, valid until its next use; else NULL.
	 * What it must satisfy stands at the solver; tests verify it by multiplication. */
	const double *certificate;
	uint32_t certificate_count;
};

struct solver_options solver_options_default(void);
const char *solver_status_name(enum solver_status status);

/* Carving a workspace out of memory: with `memory` NULL it only counts. */
struct solver_memory {
	unsigned char *memory;
	size_t used;
};

/* The next `count` items, aligned to 64; NULL while counting. Contents undefined. */
void *solver_carve(struct solver_memory *self, size_t count, size_t item_bytes);
#define SOLVER_CARVE(memory, type, count) ((type *)solver_carve((memory), (count), sizeof(type)))

/* Whether all are finite. */
bool solver_finite(const double *values, size_t count);

#endif
