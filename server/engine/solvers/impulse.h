/* impulse.h: the book's simultaneous impulses with restitution and friction (ch. 4 I2 to I5, ch. 3
 * P-25 to P-29), where all collisions of a problem are one system.
 *
 * A problem is stated in the space of contacts with three rows for each: normal, tangent, binormal.
 * u = J v are the rows' speeds before the impulses in m/s, > 0 where a contact separates; A = J M⁻¹ Jᵀ
 * in 1/kg. The solver sees no bodies (dynamics/row_system.h computes u and A).
 */
#ifndef CAIRN_ENGINE_SOLVERS_IMPULSE_H
#define CAIRN_ENGINE_SOLVERS_IMPULSE_H

#include "server/engine/math/mat3.h"
#include "server/engine/solvers/lcp_friction.h"

struct impulse_problem {
	uint32_t contacts, stride; /* stride of a, at least 3 × contacts */
	const double *a;	   /* row by row; symmetric, semidefinite */
	const double *u;	   /* by row */
	const double *restitution; /* by contact, 0 … 1 */
	const double *friction;	   /* two a contact, ≥ 0: each axis has its own cone (I2) */
};

struct impulse {
	uint32_t contacts_max;
	double *system, *x, *right, *friction; /* 3 rows a contact */
	uint32_t *pivots, *unknown;
	uint8_t *released; /* by contact: 1 if it gets no impulse */
	int8_t *slides;	   /* two axes a contact: P_a = slides μ_a P_n, −1 or 1; 0 sticks */
	uint8_t *kind;
	struct lcp_friction lcp;
};

/* The workspace in `memory` (borrowed, aligned to 64), as solver.h describes. */
size_t impulse_bytes(uint32_t contacts_max);
void impulse_init(struct impulse *self, void *memory, uint32_t contacts_max);

/* I3: the signed coefficient along axis 0 (tangent) or 1 (binormal) with which sliding stops
 * exactly at the end of a collision, while the other axis slides with the signed coefficient `other`.
 * k and u (before) are in the contact's frame. ±SCALAR_MAX if no coefficient stops it. */
double impulse_critical_friction(mat3 k, vec3 u, double restitution, uint32_t axis, double other);

/* impulses: three a contact, N s. Every P_n ≥ 0; on every axis |P_a| ≤ μ_a P_n within the residual; the
 * energy never grows. The residual is the largest of |U_n + e u_n| (below zero, or at a contact with
 * an impulse) and of slip on a sticking axis, relative to the largest |u|, and of friction above its
 * limit, relative to the largest impulse. result.rounds counts systems solved; result.fallbacks is 1 if the
 * book's cases gave no acceptable solution and complementarity followed; result.regularisations is 1
 * if restitution (then friction) was dropped because energy would have grown. Limits are those of
 * lcp_friction. INVALID: numbers that are not finite or out of their ranges, a stride smaller than
 * the rows, more contacts than the workspace holds; impulses are 0. */
struct solver_result impulse_solve(struct impulse *self, const struct impulse_problem *problem,
				   const struct solver_options *options, double *impulses);

#endif
