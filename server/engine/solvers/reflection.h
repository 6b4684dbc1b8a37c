/* reflection.h: generalized reflections: elastic and partly elastic simultaneous impacts that conserve
 * symmetry, energy and momentum, let touching bodies separate, and never pull (papers C-09, C-10).
 *
 * A problem is stated in the space of contacts, one row for each, along its normal: u = N v
 * are the speeds before the impact in m/s, > 0 separating; A = N M⁻¹ Nᵀ in 1/kg. The solver sees no
 * bodies (dynamics/row_system.h computes u and A).
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
	double speed; /* of the fastest contact point, m/s, ≥ 0: the unit of slow approaches */
	/* For REFLECTION_PROJECTION: coordinates of the moving bodies, M over them (positive
	 * definite), and N. For REFLECTION_LCP: 0 and NULL. */
	uint32_t variables;
	const double *mass; /* variables² */
	const double *rows; /* count × variables */
};

struct reflection_sizes {
	uint32_t contacts;
	uint32_t variables; /* 0: no room for REFLECTION_PROJECTION */
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

/* The workspace in `memory` (borrowed, aligned to 64), as solver.h describes. */
size_t reflection_bytes(struct reflection_sizes sizes);
void reflection_init(struct reflection *self, void *memory, struct reflection_sizes sizes);

/* impulses: N s along each normal, ≥ 0 up to rounding, because each is a sum of terms ≥ 0.
 * restitution c in 0 … 1: v = (1 − c) · inelastic + c · reflected. result.rounds counts reflections;
 * they end when no contact approaches faster than 1e-14 of the fastest point. The residual is the
 * largest remaining approach relative to the fastest point. LIMIT: contacts still approached after
 * options.rounds_max rounds (0: 200) and one inelastic impact ended them; fallbacks is 1. INEXACT:
 * the LCP or projection of a round was not solved. INVALID: numbers that are not finite, a
 * restitution outside 0 … 1, an unknown core or one without room in the workspace, a stride smaller
 * than the count, more contacts or variables than the sizes; impulses are 0. */
struct solver_result reflection_solve(struct reflection *self,
				      const struct reflection_problem *problem,
				      enum reflection_core core, double restitution,
				      const struct solver_options *options, double *impulses);
/* One inelastic impact of all contacts: the nearest velocity with N v ≥ 0 (C-03, C-07, R-11). */
struct solver_result reflection_inelastic(struct reflection *self,
					  const struct reflection_problem *problem,
					  enum reflection_core core,
					  const struct solver_options *options, double *impulses);
/* One plain elastic impact, after which contacts stick artificially (C-08): for comparison. */
struct solver_result reflection_elastic(struct reflection *self,
					const struct reflection_problem *problem,
					enum reflection_core core, double restitution,
					const struct solver_options *options, double *impulses);

#endif
