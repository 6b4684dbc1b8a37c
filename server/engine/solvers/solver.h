/* solver.h: the interface that all solvers share: problem, options, workspace and result.
 *
 *   struct noun_problem    sizes and borrowed arrays, never written by the solver
 *   struct solver_options  the same for all; start from solver_options_default()
 *   struct noun            the workspace: sized once for the largest problem, in memory of the
 *                          caller, reusable; solving allocates nothing:
 *                            size_t noun_bytes(sizes);           (a multiple of 64)
 *                            void noun_init(struct noun *, void *memory, sizes);
 *                          `memory` is borrowed, aligned to 64, and outlives the workspace
 *   struct solver_result   noun_solve(workspace, problem, options, solution…) returns it by value
 *
 * The contract, which tests/unit/server/engine/solvers/test_contract.c holds every solver to:
 *
 * Status     Every problem ends with a status, whatever its numbers are; no solver prints or aborts
 *            the program. INVALID: a number that is not finite, crossed bounds, an index out of range, a
 *            stride smaller than the count, a problem larger than the workspace, a workspace whose
 *            memory is NULL or not aligned to 64. Then the solution is 0, and the residual and the
 *            violations are infinite. The caller then uses its own fallback, which is deterministic.
 * Reading    A solver reads only the elements that the problem declares: rows × stride less the tail of
 *            the last row.
 * Aliasing   Arrays of a problem may overlap each other. Solutions, states and the workspace overlap
 *            neither the problem nor each other.
 * Residual   A pure number, independent of units: the worst violation of a condition relative to the
 *            terms that the condition sums; each solver defines its conditions. It is computed from
 *            the problem and the returned solution, never updated while pivoting. The status is
 *            SOLVED exactly if the residual is at most the tolerance; infinite means that there is no
 *            solution.
 * Violation  The same in the problem's own units, e.g. m/s.
 * Proofs     INFEASIBLE and UNBOUNDED are returned only with a certificate that was verified by
 *            multiplication in twice the digits of double; each of its entries is 0 or has the required sign.
 * Same bits  The same problem, options and warm start give the same bits on every machine.
 */
#ifndef CAIRN_ENGINE_SOLVERS_SOLVER_H
#define CAIRN_ENGINE_SOLVERS_SOLVER_H

#include "server/base/base.h"

enum solver_status {
	SOLVER_SOLVED,	/* residual ≤ tolerance */
	SOLVER_STOPPED, /* the requested budget is used up; the point is feasible, not optimal */
	SOLVER_INEXACT, /* ended regularly, but residual > tolerance */
	SOLVER_LIMIT,	/* pivots_max reached; the solution is the last iterate, see the residual */
	SOLVER_INFEASIBLE, /* no point satisfies the rows; `certificate` proves it */
	SOLVER_UNBOUNDED,  /* a ray without end; `certificate` is its direction */
	SOLVER_INVALID,	   /* malformed, or larger than the workspace: see the contract */
	SOLVER_STATUSES,
	SOLVER_NOT_FINITE = SOLVER_INVALID, /* former name of SOLVER_INVALID */
};

struct solver_options {
	/* Largest residual that counts as SOLVED. 0, negative or NaN: 1e-10; more than 1: 1. Below
	 * 1e-13 the rounding of double exceeds it; a large one accepts solutions that a fallback
	 * would improve. */
	double tolerance;
	/* Pivots (LCP, QP: changes of the active set; LP: changes of the basis); 0: the solver's
	 * default, given in its header. */
	uint32_t pivots_max;
	/* Rounds of the outer loop around the pivoting (re-ordering, refinement, reflections); 0:
	 * the solver's default. */
	uint32_t rounds_max;
	/* Relative diagonal regularisation for dependent rows, of the row's own diagonal. Only used
	 * where a factor would be singular, and removed again by refinement. */
	double regularisation;
	/* 1, of the largest b: lcp_friction_sparse refines a set of active rows only so far, unless no row
	 * is wrong by more than three times as much. Larger: fewer refinements a round, but more
	 * rounds. 0: to the tolerance in each round. */
	double coarse;
	/* Start from the active set (or basis) in the workspace or in the caller's state. */
	bool warm;
	/* Of lcp_sparse and large problems: rounds of the active set before the interior-point method. With
	 * pyramids of many edges the active set cycles, and fewer rounds show it. 0: the solver's default. */
	uint32_t active_rounds;
};

struct solver_result {
	enum solver_status status;
	uint32_t pivots;	  /* changes of the active set or basis */
	uint32_t rounds;	  /* of the outer loop */
	uint32_t refactorings;	  /* factors made from scratch (updates are not counted) */
	uint32_t regularisations; /* rows whose pivot was regularised */
	uint32_t fallbacks;	  /* parts of the problem solved by the solver's fallback */
	double residual;	  /* worst relative violation of the conditions by the solution */
	/* The worst in the problem's units: of a row (w of an LCP, m/s for contacts; C x − d; a bound
	 * of an LP), and of stationarity (QP, LP: in units of c; 0 for others). */
	double violation, stationarity;
	double objective; /* QP, LP: its value; 0 for an LCP */
	/* INFEASIBLE, UNBOUNDED: a vector in the workspace, valid until its next use; else NULL.
	 * The solver's header gives its conditions; tests verify them by multiplication. */
	const double *certificate;
	uint32_t certificate_count;
};

struct solver_options solver_options_default(void);
/* The options as solvers read them: a tolerance in (0, 1]. */
struct solver_options solver_options_used(const struct solver_options *options);
/* The result of a malformed problem: SOLVER_INVALID, residual and violations infinite. */
struct solver_result solver_invalid(void);
const char *solver_status_name(enum solver_status status);

/* Whether `memory` can hold a workspace: not NULL, aligned to 64. */
bool solver_memory_good(const void *memory);

/* Divides memory into the arrays of a workspace; with `memory` NULL it only counts bytes. `used`
 * becomes SIZE_MAX when the total exceeds SIZE_MAX / 2, so allocating noun_bytes of such sizes
 * fails. */
struct solver_memory {
	unsigned char *memory;
	size_t used;
};

/* Marks the total as too large: `used` becomes SIZE_MAX. */
void solver_carve_none(struct solver_memory *self);
/* The next `count` items, aligned to 64; NULL while counting. Contents undefined. A
 * square of two uint32_t fits `count`. */
void *solver_carve(struct solver_memory *self, size_t count, size_t item_bytes);
#define SOLVER_CARVE(memory, type, count) ((type *)solver_carve((memory), (count), sizeof(type)))

/* Whether all `count` values are finite. */
bool solver_finite(const double *values, size_t count);

#endif
