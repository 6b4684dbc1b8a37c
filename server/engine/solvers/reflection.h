/* reflection.h: generalized reflections: elastic and partly elastic simultaneous impacts that keep
 * symmetry, energy and momentum, let touching bodies part, and push only (papers C-09, C-10). */
#ifndef CAIRN_ENGINE_SOLVERS_REFLECTION_H
#define CAIRN_ENGINE_SOLVERS_REFLECTION_H

#include "server/engine/solvers/impact.h"
#include "server/engine/solvers/lcp_dantzig.h"
#include "server/engine/solvers/qp_dual_active_set.h"

/* Which of two equal statements of a round is solved (C-07): same velocities, to rounding. */
enum reflection_core {
	REFLECTION_LCP,	       /* A λ + 2 u ≥ 0 ⟂ λ ≥ 0 over the approaching contacts */
	REFLECTION_PROJECTION, /* the nearest velocity, in the metric of mass, with N v ≥ −u */
};

struct reflection_sizes {
	uint32_t bodies, contacts;
	uint32_t island; /* most contacts of one cluster; 0: contacts */
	bool projection; /* whether REFLECTION_PROJECTION is wanted: 6 variables a body more */
};

struct reflection {
	struct reflection_sizes sizes;
	double *a, *picked, *b, *lambda, *total, *inelastic, *u, *start;
	uint32_t *order, *starts, *scratch, *active;
	uint8_t *state, *states;
	struct lcp_dantzig lcp;
	/* Projection. */
	double *g, *c, *rows, *d, *x, *lengths;
	uint32_t *local;
	struct qp_dual_active_set qp;
};

size_t reflection_bytes(struct reflection_sizes sizes);
void reflection_init(struct reflection *self, void *memory, struct reflection_sizes sizes);

/* impulses: along each normal, ≥ 0 up to rounding of sums that are ≥ 0 each (frictionless: the
 * contacts' own restitution and friction are not looked at). restitution c: v = (1 − c) · inelastic + c ·
 * reflected. result.rounds: the most rounds of a cluster; a cluster stops when no contact approaches
 * faster than 1e-14 of the fastest point. LIMIT: options.rounds_max (0: 200) did not suffice for some
 * cluster (counted in fallbacks); what was left ended inelastically. The residual is the largest
 * approach left, relative to the fastest point. INEXACT: a round's LCP or projection was. INVALID:
 * !impact_valid, a restitution outside 0 … 1, a core that is none or was not asked for, or more bodies,
 * contacts or contacts of one cluster than the sizes. */
struct solver_result reflection_solve(struct reflection *self, const struct impact_problem *problem,
				      enum reflection_core core, double restitution,
				      const struct solver_options *options, double *impulses);
/* One inelastic impact of all contacts: the nearest velocity with N v ≥ 0 (C-03, C-07, R-11). */
struct solver_result reflection_inelastic(struct reflection *self,
					  const struct impact_problem *problem,
					  enum reflection_core core,
					  const struct solver_options *options, double *impulses);
/* One plain elastic impact, contacts stick artificially (C-08): for comparison. */
struct solver_result reflection_elastic(struct reflection *self,
					const struct impact_problem *problem,
					enum reflection_core core, double restitution,
					const struct solver_options *options, double *impulses);
/* Adds the impulses to the bodies. */
void reflection_apply(const struct impact_problem *problem, const double *impulses);

#endif
