/* lcp_friction.h: contacts with Coulomb friction in a pyramid aligned with the contact's frame, as
 * one complementarity problem (app I-04…I-08; ch4-5 9.5). */
#ifndef CAIRN_ENGINE_SOLVERS_LCP_FRICTION_H
#define CAIRN_ENGINE_SOLVERS_LCP_FRICTION_H

#include "server/engine/linalg/lu.h"
#include "server/engine/solvers/lcp_dantzig.h"

/* What a row is. Tangents (none, one or two) follow the normal they belong to. */
enum friction_row {
	FRICTION_NORMAL, /* x ≥ 0, w ≥ 0, x w = 0 */
	FRICTION_STATIC, /* |x| ≤ μ x_n; w = 0 inside, w ≤ 0 at +μ x_n, w ≥ 0 at −μ x_n */
	FRICTION_FORWARD,  /* sliding: x = +μ x_n, w is free */
	FRICTION_BACKWARD, /* sliding: x = −μ x_n, w is free */
	FRICTION_JOINT,	   /* w = 0, x free */
};

/* w = A x + b; A symmetric, positive semidefinite. A sliding tangent pushes against the velocity u
 * of the first body relative to the second: FORWARD where u < 0 (I-07). */
struct friction_problem {
	uint32_t count, stride;
	const double *a, *b;
	const uint8_t *kind;	/* enum friction_row */
	const double *friction; /* μ ≥ 0 of tangent rows; others are not read */
};

struct lcp_friction {
	uint32_t capacity, count;
	double *a; /* scaled, count × count */
	double *b, *friction, *scale;
	uint8_t *kind, *state;
	uint32_t *normal; /* of a tangent; itself otherwise */
	uint32_t *order;  /* rows that begin a contact or joint, as they are driven */
	uint32_t order_count;
	uint32_t *unknown; /* rows solved for */
	uint32_t unknown_count;
	double *matrix; /* unknowns × unknowns, factored */
	uint32_t *tie_column,
		*tie_row; /* what is tied to the unknowns: column of matrix, row of a */
	double *tie_value;
	uint32_t *from, *to; /* by row: where its entries other than zero lie in a */
	uint32_t *pivots;
	double *x, *w, *dx, *dw, *right, *lower, *upper;
	uint8_t *lcp_state, *out;
	uint32_t stuck;	  /* the row at which an order failed */
	bool ray;	  /* it failed by a step without end */
	bool regularised; /* the present factor is */
	uint32_t pivots_max;
	struct solver_result result;
	struct lcp_dantzig lcp; /* plan B */
};

size_t lcp_friction_bytes(uint32_t rows);
void lcp_friction_init(struct lcp_friction *self, void *memory, uint32_t rows);
/* x: count values out. collision: NULL, or count flags out: set at the normals of contacts that
 * have no finite answer (their x is 0): to be treated as collisions, with impulses (I-08). Limits
 * when 0: pivots 20 n + 100 an order, rounds: 6 orders. SOLVED: all conditions hold (of collisions,
 * none is asked). Else `fallbacks` is 1 and x the answer of plan B: friction limits from the
 * normals of the round before, repeated; or without friction if that would add energy: ½ xᵀA x +
 * bᵀx ≤ 0 (to rounding) holds in every case without sliding rows, and after plan B in all. */
struct solver_result lcp_friction_solve(struct lcp_friction *self,
					const struct friction_problem *problem,
					const struct solver_options *options, double *x,
					uint8_t *collision);
/* w := A x + b; residual as lcp_residual's, with the bounds −μ x_n … μ x_n. */
double lcp_friction_residual(const struct friction_problem *problem, const double *x, double *w,
			     const uint8_t *collision);
/* The worst row in units of w, as lcp_row_violation, for w as lcp_friction_residual left it. */
double lcp_friction_violation(const struct friction_problem *problem, const double *x,
			      const double *w, const uint8_t *collision);
/* Energy the impulses add: ½ xᵀA x + bᵀx. */
double lcp_friction_energy(const struct friction_problem *problem, const double *x);

/* Shared by the parts of the solver. */
enum friction_state {
	FRICTION_WAITING, /* not looked at yet */
	FRICTION_OFF,	  /* a normal with x = 0, or a tangent of such a one */
	FRICTION_ON,	  /* w = 0, solved for */
	FRICTION_HELD,	  /* w = 0, x stays until it would move */
	FRICTION_AT_MAX,  /* x = +μ x_n */
	FRICTION_AT_MIN,  /* x = −μ x_n */
	FRICTION_OUT,	  /* a collision */
};
/* Drives row d until it holds; false: result.status, stuck and ray say why. */
bool lcp_friction_drive(struct lcp_friction *self, uint32_t d);
/* x of the unknowns := the solution of w = 0 for the present x elsewhere. */
void lcp_friction_correct(struct lcp_friction *self);
double lcp_friction_size(const struct lcp_friction *self);

#endif
