/* reflection.h: generalized reflections: elastic and partly elastic simultaneous impacts that keep
 * symmetry, energy and momentum, let touching bodies part, and push only (papers C-09, C-10).
 *
 * A problem is one island in the space of contacts, one row a contact, along its normal: u = N v
 * are the speeds before the impact, > 0 parting; A = N M⁻¹ Nᵀ. The solver knows no bodies
 * (dynamics/row_system.h makes both).
 */
#ifndef CAIRN_ENGINE_SOLVERS_REFLECTION_H
#define CAIRN_ENGINE_SOLVERS_REFLECTION_H

#include "server/engine/solvers/lcp_dantzig.h"
#include "server/engine/solvers/qp_dual_active_set.h"

/* Which of two equal statements of a round is solved (C-07): same velocities, to rounding. */
enum reflection_core {
	REFLECTION_LCP,	       /* A λ + 2 u ≥ 0 ⟂ λ ≥ 0 over the approaching contacts */
	REFLECTION_PROJECTION, /* the nearest velocity, in the metric of mass, with N v ≥ −u */
};

struct reflection_problem {
	uint32_t count, stride; /* contacts; stride of a */
	const double *a;	/* row by row; symmetric, semidefinite */
	const double *u;
	double speed; /* ≥ 0: of the fastest point that touches, m/s; what is slow is measured by it */
	/* For REFLECTION_PROJECTION: coordinates of what moves, M over them (definite), and N;
	 * others: 0. */
	uint32_t variables;
	const double *mass; /* variables² */
	const double *rows; /* count × variables */
};

struct reflection_sizes {
	uint32_t contacts;
	uint32_t variables; /* 0: REFLECTION_PROJECTION is not wanted */
};

struct reflection {
	struct reflection_sizes sizes;
	double *picked, *b, *lambda, *total, *inelastic, *u;
	uint32_t *active;
	uint8_t *state;
	struct lcp_dantzig lcp;
	/* Projection. */
	double *c, *rows, *d, *x;
	struct qp_dual_active_set qp;
};

size_t reflection_bytes(struct reflection_sizes sizes);
void reflection_init(struct reflection *self, void *memory, struct reflection_sizes sizes);

/* impulses: along each normal, ≥ 0 up to rounding of sums that are ≥ 0 each. restitution c: v = (1
 * − c) · inelastic + c · reflected. result.rounds: of reflections; they end when no contact
 * approaches faster than 1e-14 of the fastest point. LIMIT: options.rounds_max (0: 200) did not
 * suffice (fallbacks is 1); what was left ended inelastically. The residual is the largest approach
 * left, relative to the fastest point. INEXACT: a round's LCP or projection was. INVALID: numbers
 * that are not finite, a restitution outside 0 … 1, a core that is none or that the workspace has
 * no room for, a stride smaller than the count, more contacts or variables than the sizes. */
struct solver_result reflection_solve(struct reflection *self,
				      const struct reflection_problem *problem,
				      enum reflection_core core, double restitution,
				      const struct solver_options *options, double *impulses);
/* One inelastic impact of all contacts: the nearest velocity with N v ≥ 0 (C-03, C-07, R-11). */
struct solver_result reflection_inelastic(struct reflection *self,
					  const struct reflection_problem *problem,
					  enum reflection_core core,
					  const struct solver_options *options, double *impulses);
/* One plain elastic impact, contacts stick artificially (C-08): for comparison. */
struct solver_result reflection_elastic(struct reflection *self,
					const struct reflection_problem *problem,
					enum reflection_core core, double restitution,
					const struct solver_options *options, double *impulses);

#endif
