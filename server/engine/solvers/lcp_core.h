/* lcp_core.h: the pivoting that the dense LCP and the dual of the QP share; for the solvers only.
 *
 * Between lcp_core_begin and lcp_core_end all numbers are in scaled units: row and column i are
 * multiplied by a power of two that brings the diagonal into [1/2, 2). The scaling rounds nothing
 * and is undone exactly.
 */
#ifndef CAIRN_ENGINE_SOLVERS_LCP_CORE_H
#define CAIRN_ENGINE_SOLVERS_LCP_CORE_H

#include "server/engine/linalg/chol_envelope.h"
#include "server/engine/solvers/lcp.h"

enum { LCP_WAITING = LCP_HELD + 1 }; /* a row still to be driven: x is given, w arbitrary */

/* Which row is driven next. */
enum lcp_rule {
	LCP_RULE_WORST, /* Goldfarb, Idnani: the most violated; settled rows may become violated */
	LCP_RULE_INDEX, /* Dantzig, Baraff: by index; settled rows keep holding */
};

struct lcp_core {
	uint32_t capacity, count;
	uint32_t *start,
		*column; /* the non-zero entries of A by rows: count + 1 starts, then columns */
	double *value, *diagonal;
	double *b, *lower, *upper, *scale;
	double *x, *w, *dx, *dw; /* by row */
	double *work;		 /* 2 × capacity */
	uint8_t *state;		 /* enum lcp_state, or LCP_WAITING */
	uint32_t *position;	 /* of an active row in the factor */
	uint32_t *order;	 /* the active rows, in the factor's order */
	uint32_t *band, *mark;	 /* rows in band order; scratch by row (lcp_core_band.c) */
	bool banded;
	uint32_t checked_at; /* pivots at the last check of the envelope */
	struct chol_envelope factor;
	enum lcp_rule rule;
	bool far; /* a row that depends on others to rounding is solved with A as given (see FAR) */
	double floor; /* largest |w| that was accepted as rounding */
	double tolerance;
	uint32_t pivots_max;
	struct solver_result result;
};

/* Divides `memory` into the arrays for at most `rows` rows. */
void lcp_core_carve(struct lcp_core *self, struct solver_memory *memory, uint32_t rows);
/* Copies a valid problem, scaled; count ≤ capacity. No row is settled. */
void lcp_core_begin(struct lcp_core *self, const struct lcp_problem *problem,
		    const struct solver_options *options, enum lcp_rule rule);
/* Starts from the active set `hint`: `count` enum lcp_state; other bytes are ignored. */
void lcp_core_warm(struct lcp_core *self, const uint8_t *hint);
/* Drives rows until all hold. result.status stays SOLVED unless a row could not be driven. */
void lcp_core_run(struct lcp_core *self, uint32_t rounds_max);
/* Copies x in the problem's units, and states without WAITING unless `state` is NULL. */
void lcp_core_end(struct lcp_core *self, double *x, uint8_t *state);

/* ---- shared by the parts of the core ---- */

/* w := A x + b from scratch. */
void lcp_core_refresh(struct lcp_core *self);
/* Makes row i active. False: it depends on the active rows, and nothing changed. */
bool lcp_core_activate(struct lcp_core *self, uint32_t i);
void lcp_core_deactivate(struct lcp_core *self, uint32_t i, enum lcp_state state);
/* Computes the border of the factor for row i: A_CC⁻¹ A_Ci into work; returns the Schur complement,
 * 0 if it is no more than rounding leaves of a row that depends on the active ones. */
double lcp_core_measure(struct lcp_core *self, uint32_t i);
/* The same, with the Schur complement of A as given in twice the digits, however small. */
double lcp_core_exact(struct lcp_core *self, uint32_t i);
/* Makes row i active with the border that lcp_core_measure or lcp_core_exact has just computed for
 * it. */
void lcp_core_append(struct lcp_core *self, uint32_t i, double schur);
/* Computes the factor again in band order if its envelope has become too wide. */
void lcp_core_narrow(struct lcp_core *self);
/* Drives row d until it holds. False: the run ends; result.status gives the reason. */
bool lcp_core_drive(struct lcp_core *self, uint32_t d);
/* The size of the terms that cancel in w: the larger of max |b| and max |x|. */
double lcp_core_size(const struct lcp_core *self);
/* Sets the state of a row whose conditions hold: LOWER, UPPER or HELD. */
void lcp_core_settle(struct lcp_core *self, uint32_t i);

#endif
