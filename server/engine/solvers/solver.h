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
 * The contract, which tests/unit/server/engine/solvers/test_contract.c holds every solver to:
 *
 * Status     Any problem ends with a status, whatever its numbers are; no solver fails the program or
 *            prints. A problem that is none (a number that is not finite, crossed bounds, an index out
 *            of range, a stride smaller than the count, a problem larger than the workspace, a workspace
 *            over memory that is NULL or not aligned to 64) is INVALID: the solution is 0, the
 *            residual and the violations are infinite. The caller has a deterministic plan B.
 * Reading    A solver reads what the problem says it has and no more: rows × stride less the tail of the
 *            last row.
 * Aliasing   Arrays of a problem may overlap each other. Solutions, states and the workspace overlap
 *            neither the problem nor each other.
 * Residual   A pure number, the same in all units: the worst violation of a condition over the size of
 *            what that condition was summed from; each solver says what its conditions are. It is
 *            computed from the problem and the solution as handed back, never carried along while
 *            pivoting. SOLVED is said exactly if it is at most the tolerance; infinite means that no
 *            solution is handed back.
 * Violation  The same in the problem's own units, for callers who think in metres per second.
 * Proofs     INFEASIBLE and UNBOUNDED are said only with a certificate that was multiplied out in twice
 *            the digits; its entries are 0 or of the sign that they must have.
 * Same bits  The same problem, options and warm start give the same bits everywhere.
 */
#ifndef CAIRN_ENGINE_SOLVERS_SOLVER_H
#define CAIRN_ENGINE_SOLVERS_SOLVER_H

#include "server/base/base.h"

enum solver_status {
	SOLVER_SOLVED,	   /* residual ≤ tolerance */
	SOLVER_STOPPED,	   /* at the budget asked for, with a feasible point that is not optimal */
	SOLVER_INEXACT,	   /* ended as it should, but residual > tolerance */
	SOLVER_LIMIT,	   /* pivots_max reached; the solution is the last one, see the residual */
	SOLVER_INFEASIBLE, /* no point satisfies the rows; `certificate` proves it */
	SOLVER_UNBOUNDED,  /* a ray without end; `certificate` is its direction */
	SOLVER_INVALID,	   /* no problem, or larger than the workspace: see the contract */
	SOLVER_STATUSES,
	SOLVER_NOT_FINITE = SOLVER_INVALID, /* its name until now */
};

struct solver_options {
	/* Largest residual called SOLVED; 0 (and what is negative or not a number): 1e-10, more than
	 * 1 is taken as 1. Smaller than 1e-13 asks for more than double gives; larger accepts answers
	 * that fallbacks would have to repair. */
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
	uint32_t pivots;	  /* changes of the active set or basis */
	uint32_t rounds;	  /* of what surrounds the pivoting */
	uint32_t refactorings;	  /* factors made from scratch (updates are not counted) */
	uint32_t regularisations; /* rows whose pivot had to be helped */
	uint32_t fallbacks;	  /* parts of the problem answered by the solver's plan B */
	double residual;	  /* worst relative violation of the conditions by the solution */
	/* The worst in the problem's units: of a row (w of an LCP, m/s for contacts; C x − d; a bound
	 * of an LP), and of stationarity (QP, LP: in units of c; 0 for others). */
	double violation, stationarity;
	double objective; /* QP, LP: its value; 0 for an LCP */
	/* INFEASIBLE, UNBOUNDED: a vector in the workspace, valid until its next use; else NULL.
	 * What it must satisfy stands at the solver; tests verify it by multiplication. */
	const double *certificate;
	uint32_t certificate_count;
};

struct solver_options solver_options_default(void);
/* The options as solvers read them: a tolerance in (0, 1]. */
struct solver_options solver_options_used(const struct solver_options *options);
/* What is said of a problem that is none. */
struct solver_result solver_invalid(void);
const char *solver_status_name(enum solver_status status);

/* Whether a workspace can lie there: not NULL, aligned to 64. */
bool solver_memory_good(const void *memory);

/* Carving a workspace out of memory: with `memory` NULL it only counts. `used` is SIZE_MAX once more
 * was asked for than there can be, so that noun_bytes of sizes out of range cannot be allocated. */
struct solver_memory {
	unsigned char *memory;
	size_t used;
};

/* As if more was asked for than there can be. */
void solver_carve_none(struct solver_memory *self);
/* The next `count` items, aligned to 64; NULL while counting. Contents undefined. A
 * square of two uint32_t fits `count`. */
void *solver_carve(struct solver_memory *self, size_t count, size_t item_bytes);
#define SOLVER_CARVE(memory, type, count) ((type *)solver_carve((memory), (count), sizeof(type)))

/* Whether all are finite. */
bool solver_finite(const double *values, size_t count);

#endif
