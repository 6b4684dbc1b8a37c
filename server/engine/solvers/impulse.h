/* impulse.h: the book's simultaneous impulses with restitution and friction (ch. 4 I2 to I5, ch. 3
 * P-25 to P-29), where all collisions of an island are one system.
 *
 * A problem is stated in the space of contacts, three rows a contact: along the normal, the tangent
 * and the binormal. u = J v are the rows' speeds before the impulses, normal ones > 0 parting; A =
 * J M⁻¹ Jᵀ. The solver knows no bodies (dynamics/row_system.h makes both).
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
	uint8_t *parts; /* a contact: no impulse */
	int8_t *slides; /* two axes a contact: P_a = slides μ_a P_n; 0 sticks */
	uint8_t *kind;
	struct lcp_friction lcp;
};

size_t impulse_bytes(uint32_t contacts_max);
void impulse_init(struct impulse *self, void *memory, uint32_t contacts_max);

/* I3: the signed coefficient along axis 0 (tangent) or 1 (binormal) with which sliding stops
 * exactly at the end of a collision, the other axis sliding with the signed coefficient `other`. K
 * in the contact's frame, u before. ±SCALAR_MAX when nothing stops it. */
double impulse_critical_friction(mat3 k, vec3 u, double restitution, uint32_t axis, double other);

/* impulses: three a contact, N s. Every P_n ≥ 0; every axis |P_a| ≤ μ_a P_n within the residual;
 * the energy never grows. The residual is the worst of |U_n + e u_n| (below zero, or at a contact
 * that pushes), of sticking slip, relative to the largest |u|, and of friction over its limit,
 * relative to P_n. result.rounds counts systems solved, result.fallbacks is 1 when no case of the
 * book's linear system was found acceptable and complementarity decided, regularisations when
 * restitution (then friction) was taken away because energy would have grown. Limits are those of
 * lcp_friction. INVALID: numbers that are not finite or out of their ranges, a stride smaller than
 * the rows, more contacts than the workspace has room for; impulses are 0. */
struct solver_result impulse_solve(struct impulse *self, const struct impulse_problem *problem,
				   const struct solver_options *options, double *impulses);

#endif
