/* lcp_core.h: the pivoting that the dense LCP and the dual of the QP share; for the solvers only.
 *
 * Between lcp_core_begin and the end everything is in scaled units: row and column i times 2^k with
 * k such that the diagonal lies in [1/2, 2), exact and undone exactly.
 */
#ifndef CAIRN_ENGINE_SOLVERS_LCP_CORE_H
#define CAIRN_ENGINE_SOLVERS_LCP_CORE_H

#include "server/engine/linalg/chol_envelope.h"
#include "server/engine/solvers/lcp.h"

enum { LCP_WAITING = LCP_HELD + 1 }; /* not looked at yet: x is given, w arbitrary */

/* In which order rows are made to hold. */
enum lcp_rule {
	LCP_RULE_WORST, /* Goldfarb, Idnani: the most violated; others may break and come later */
	LCP_RULE_INDEX, /* Dantzig, Baraff: one after the other; what holds keeps holding */
};

struct lcp_core {
	uint32_t capacity, count;
	uint32_t *start,
		*column; /* the entries of A other than zero, by rows: count + 1, entries */
	double *value, *diagonal;
	double *b, *lower, *upper, *scale;
	double *x, *w, *dx, *dw; /* by row */
	double *work;		 /* 2 × capacity */
	uint8_t *state;		 /* enum lcp_state, or LCP_WAITING */
	uint32_t *position;	 /* of an active row in the factor */
	uint32_t *order;	 /* the active rows, as the factor has them */
	uint32_t *band, *mark;	 /* rows along A from one end; scratch by row (lcp_core_band.c) */
	bool banded;
	uint32_t looked; /* pivots when the envelope was last looked at */
	struct chol_envelope factor;
	enum lcp_rule rule;
	bool far;     /* a row that depends to rounding is solved as A stands, however far x goes */
	double floor; /* largest |w| that was accepted as rounding */
	double tolerance;
	uint32_t pivots_max;
	struct solver_result result;
};

/* Carves the arrays for at most `rows` rows. */
void lcp_core_carve(struct lcp_core *self, struct solver_memory *memory, uint32_t rows);
/* Takes a valid problem over (scaled); count ≤ capacity. */
void lcp_core_begin(struct lcp_core *self, const struct lcp_problem *problem,
		    const struct solver_options *options, enum lcp_rule rule);
/* Starts from the active set `hint` (as lcp_state, `count`). */
void lcp_core_warm(struct lcp_core *self, const uint8_t *hint);
/* Makes all rows hold; result.status is SOLVED unless it ended otherwise. */
void lcp_core_run(struct lcp_core *self, uint32_t rounds_max);
/* x in the problem's units; states without WAITING. */
void lcp_core_end(struct lcp_core *self, double *x, uint8_t *state);

/* Shared by the parts of the core. w := A x + b from scratch. */
void lcp_core_refresh(struct lcp_core *self);
/* Makes row i active: true, or false when it depends on the active ones. */
bool lcp_core_activate(struct lcp_core *self, uint32_t i);
void lcp_core_deactivate(struct lcp_core *self, uint32_t i, enum lcp_state state);
/* Measures row i against the factor (its border): A_CC⁻¹ A_Ci in work, the Schur complement
 * returned, 0 when it is what rounding leaves of a row that depends on the active ones. */
double lcp_core_measure(struct lcp_core *self, uint32_t i);
/* The same to twice the digits, whatever rounding of A makes of it. */
double lcp_core_exact(struct lcp_core *self, uint32_t i);
/* Keeps the border just measured. */
void lcp_core_keep(struct lcp_core *self, uint32_t i, double schur);
/* Makes the factor anew in a better order if its envelope has become too wide. */
void lcp_core_narrow(struct lcp_core *self);
/* Drives row d until it holds. False when the run ends; result.status says why. */
bool lcp_core_drive(struct lcp_core *self, uint32_t d);
/* Size of what cancels in w: max |b|, |x|. */
double lcp_core_size(const struct lcp_core *self);
/* Whether row i's conditions hold to `slack`, given x at or between its bounds. */
bool lcp_core_holds(const struct lcp_core *self, uint32_t i, double slack);
/* Files a row whose conditions hold. */
void lcp_core_settle(struct lcp_core *self, uint32_t i);

#endif
