/* lcp_friction.h: contacts with Coulomb friction in a pyramid aligned with the contact's frame, as
 * one complementarity problem (app I-04…I-08; ch4-5 9.5). */
#ifndef CAIRN_ENGINE_SOLVERS_LCP_FRICTION_H
#define CAIRN_ENGINE_SOLVERS_LCP_FRICTION_H

#include "server/engine/linalg/lu.h"
#include "server/engine/solvers/lcp_dantzig.h"

/* Kind of a row. A contact is a normal row followed by its tangent rows: none, one or two. */
enum friction_row {
	FRICTION_NORMAL, /* x ≥ 0, w ≥ 0, x w = 0 */
	FRICTION_STATIC, /* |x| ≤ μ x_n; w = 0 inside, w ≤ 0 at +μ x_n, w ≥ 0 at −μ x_n */
	FRICTION_FORWARD,  /* slides: x = +μ x_n, w is free */
	FRICTION_BACKWARD, /* slides: x = −μ x_n, w is free */
	FRICTION_JOINT,	   /* w = 0, x free */
};

/* w = A x + b; A symmetric, positive semidefinite. Friction of a sliding tangent opposes the
 * velocity u of the first body relative to the second: FORWARD where u < 0 (I-07). */
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
	/* Tangents tied to an unknown normal, x_t = tie_value x_n: column of matrix, row of a. */
	uint32_t *tie_column, *tie_row;
	double *tie_value;
	uint32_t *from, *to; /* by row: its non-zero entries in a lie in from … to − 1 */
	uint32_t *pivots;
	double *x, *w, *dx, *dw, *right, *lower, *upper;
	uint8_t *lcp_state, *out;
	uint32_t stuck;	  /* normal or joint row at which an order failed; UINT32_MAX: none */
	bool ray;	  /* the order failed on a step that no event ends */
	bool regularised; /* the present factor has a regularised diagonal */
	uint32_t pivots_max;
	struct solver_result result;
	struct lcp_dantzig lcp; /* of the fallback */
};

size_t lcp_friction_bytes(uint32_t rows);
void lcp_friction_init(struct lcp_friction *self, void *memory, uint32_t rows);
/* x: count values out. collision: NULL, or count flags out, set at the normals of contacts without a
 * finite solution: their x is 0, and the caller treats them as collisions, with impulses (I-08).
 * Defaults of options: pivots_max 20 n + 100 for each order, rounds_max 6 orders. SOLVED: all
 * conditions hold, except those of collisions, which are not required. Otherwise `fallbacks` is 1 and
 * x is the solution of the fallback: friction limits fixed from the normals of the previous round,
 * repeated; without friction if that would add energy. ½ xᵀA x + bᵀx ≤ 0 (to rounding) holds for every
 * problem without sliding rows, and for every solution of the fallback. */
struct solver_result lcp_friction_solve(struct lcp_friction *self,
					const struct friction_problem *problem,
					const struct solver_options *options, double *x,
					uint8_t *collision);
/* w := A x + b; returns the residual as lcp_residual does, with the bounds −μ x_n … μ x_n. */
double lcp_friction_residual(const struct friction_problem *problem, const double *x, double *w,
			     const uint8_t *collision);
/* The energy that the impulses add: ½ xᵀA x + bᵀx. */
double lcp_friction_energy(const struct friction_problem *problem, const double *x);

/* Shared by the parts of the solver. */
enum friction_state {
	FRICTION_WAITING, /* not driven yet */
	FRICTION_OFF,	  /* a normal with x = 0, or a tangent of such a normal */
	FRICTION_ON,	  /* w = 0, an unknown of the linear system */
	FRICTION_HELD,	  /* w = 0, x fixed until a step would change w */
	FRICTION_AT_MAX,  /* x = +μ x_n */
	FRICTION_AT_MIN,  /* x = −μ x_n */
	FRICTION_OUT,	  /* a collision */
};
/* Drives row d until its conditions hold. False: result.status, stuck and ray give the reason. */
bool lcp_friction_drive(struct lcp_friction *self, uint32_t d);
/* x of the unknowns := the solution of w = 0 for the present x elsewhere. */
void lcp_friction_correct(struct lcp_friction *self);
/* The larger of max |b| and max |x|: the size of the terms that cancel in w. */
double lcp_friction_size(const struct lcp_friction *self);

#endif
