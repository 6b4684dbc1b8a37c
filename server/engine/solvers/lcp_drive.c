/* lcp_drive.c: driving one row of the core until it holds (I-02, I-03; 9.5).
 *
 * Row d has w_d < 0 and σ = 1, or w_d > 0 and σ = −1. x_d changes by σ s, and the active rows C
 * follow so that w_C stays 0: Δx_d = σ, Δx_C = −σ A_CC⁻¹ A_Cd, Δw = A Δx. A step ends at the first
 * of
 *   goal    w_d = 0                                        → d becomes active, done
 *   bound   x_d at its bound                               → d settles there, done
 *   leave   x_i of an active row at a bound                → i leaves C, w_i = 0
 *   join    w_i = 0 of a row settled at a bound, or w_i ≠ 0 of a held row → i joins C
 * After leave and join the next step follows. Steps of length zero are ordinary. The goal wins ties
 * (this corrects I-03, where i joins and d has no direction left), then d's own bound, then the
 * least index: leaving and joining rows are compared in one pass by index (Chang and Cottle's rule
 * for sufficient matrices).
 *
 * The Schur complement Δw_d/σ of d in C decides about the direction.
 *   Positive: an ordinary step.
 *   Zero to rounding: A Δx = 0, so only `leave` and `bound` can end the step. If neither does, the
 * direction proves that there is no solution, unless w_d is rounding itself: then d holds already.
 * Masses 1 : 1e8 have genuine complements down to 1e-15, which double cannot tell from rounding. If
 * they were called dependent, x would move by 1e10 along a w that is not 0. Doubtful complements
 * are therefore computed again in twice the digits (lcp_core.c).
 *   Negative: A is not semidefinite, and if nothing ends the step, the direction is a ray.
 * A row that joins changed its w while C's stayed 0, so it should be independent of C. If its own
 * Schur complement is rounding, its change was rounding too, and the next candidate is taken.
 * Pivots are therefore never regularised. A diagonal regularisation with refinement was tried and
 * dropped: in wall 10 a regularised pivot made the next directions wrong, while refusing the row
 * solves it.
 */
#include "server/engine/linalg/dense.h"
#include "server/engine/math/scalar.h"
#include "server/engine/solvers/lcp_core.h"

#define NOISE 0x1p-43 /* of the largest |Δx|: smaller changes are rounding */
#define FAR 0x1p42    /* of the largest |b|: a larger x is a proof that there is no solution */
#define TIE 1e-9 /* of the step: the goal and d's bound win if they are this close to its end */

enum drive_event { EVENT_NONE, EVENT_GOAL, EVENT_BOUND, EVENT_LEAVE, EVENT_JOIN };

struct drive_step {
	enum drive_event event;
	uint32_t row;
	double length;
	double schur; /* of the driven row; 0 if it depends on the active ones */
	double join;  /* Schur complement of the row that joins */
	bool refused; /* a candidate was measured and refused: the factor's border is no longer d's */
	double noise; /* smaller changes of x and w are rounding */
};

/* dw += Σ dx_j (row j of A) over four rows without zeros, in this order in each sum. Four at once
 * read and write dw once, and the sums of different entries are independent. */
static void spread_four(struct lcp_core *self, const uint32_t *j)
{
	const double *a = self->value + self->start[j[0]], *b = self->value + self->start[j[1]];
	const double *c = self->value + self->start[j[2]], *d = self->value + self->start[j[3]];
	const double x[4] = { self->dx[j[0]], self->dx[j[1]], self->dx[j[2]], self->dx[j[3]] };
	double *dw = self->dw;
	uint32_t i = 0;
	for (; i + 2 <= self->count; i += 2) {
		dense_pair sum = *(const dense_pair *)(dw + i);
		sum += *(const dense_pair *)(a + i) * x[0];
		sum += *(const dense_pair *)(b + i) * x[1];
		sum += *(const dense_pair *)(c + i) * x[2];
		sum += *(const dense_pair *)(d + i) * x[3];
		*(dense_pair *)(dw + i) = sum;
	}
	for (; i < self->count; i++) {
		double sum = dw[i] + a[i] * x[0];
		sum += b[i] * x[1];
		sum += c[i] * x[2];
		dw[i] = sum + d[i] * x[3];
	}
}

static void spread_one(struct lcp_core *self, uint32_t j)
{
	VALIDATE(j < self->count);
	for (uint32_t k = self->start[j]; k < self->start[j + 1]; k++)
		self->dw[self->column[k]] += self->value[k] * self->dx[j];
}

/* dw := A dx over the driven and the active rows, in the factor's order. */
static void compute_row_changes(struct lcp_core *self, uint32_t d)
{
	uint32_t four[4], waiting = 0;
	dense_zero(self->dw, self->count);
	for (uint32_t p = 0; p <= self->factor.size; p++) {
		uint32_t j = p < self->factor.size ? self->order[p] : d;
		bool full = self->start[j + 1] - self->start[j] == self->count;
		if (self->dx[j] == 0)
			continue;
		if (full) {
			four[waiting++] = j;
			if (waiting == 4) {
				spread_four(self, four);
				waiting = 0;
			}
			continue;
		}
		for (uint32_t k = 0; k < waiting; k++)
			spread_one(self, four[k]);
		waiting = 0;
		spread_one(self, j);
	}
	for (uint32_t k = 0; k < waiting; k++)
		spread_one(self, four[k]);
}

static struct drive_step find_direction(struct lcp_core *self, uint32_t d, double sigma)
{
	VALIDATE(d < self->count && self->state[d] != LCP_ACTIVE);
	VALIDATE(sigma == 1 || sigma == -1);
	struct drive_step step = { .event = EVENT_NONE, .length = __builtin_inf() };
	dense_zero(self->dx, self->count);
	step.schur = lcp_core_measure(self, d);
	double most = 1;
	for (uint32_t p = 0; p < self->factor.size; p++)
		self->dx[self->order[p]] = -sigma * self->work[p];
	self->dx[d] = sigma;
	compute_row_changes(self, d);
	for (uint32_t p = 0; p < self->factor.size; p++) {
		most = scalar_max(most, scalar_abs(self->dx[self->order[p]]));
		self->dw[self->order[p]] = 0;
	}
	step.noise = NOISE * most;
	if (step.schur == 0)
		dense_zero(self->dw, self->count);
	self->dw[d] = sigma * step.schur;
	return step;
}

static void offer_event(struct drive_step *step, enum drive_event event, uint32_t row,
			double length)
{
	length = scalar_max(length, 0);
	if (length < step->length) {
		step->event = event;
		step->row = row;
		step->length = length;
	}
}

static void offer_row(const struct lcp_core *self, struct drive_step *step, uint32_t i)
{
	VALIDATE(i < self->count);
	double dx = self->dx[i], dw = self->dw[i], x = self->x[i], w = self->w[i];
	switch (self->state[i]) {
	case LCP_ACTIVE:
		if (dx < -step->noise)
			offer_event(step, EVENT_LEAVE, i, (self->lower[i] - x) / dx);
		else if (dx > step->noise)
			offer_event(step, EVENT_LEAVE, i, (self->upper[i] - x) / dx);
		break;
	case LCP_LOWER:
		if (dw < -step->noise && self->rule == LCP_RULE_INDEX &&
		    self->upper[i] > self->lower[i])
			offer_event(step, EVENT_JOIN, i, -w / dw);
		break;
	case LCP_UPPER:
		if (dw > step->noise && self->rule == LCP_RULE_INDEX &&
		    self->upper[i] > self->lower[i])
			offer_event(step, EVENT_JOIN, i, -w / dw);
		break;
	case LCP_HELD:
		if (scalar_abs(dw) > step->noise)
			offer_event(step, EVENT_JOIN, i, 0);
		break;
	}
}

/* Finds the event, row and length that end the step. */
static void choose_step_end(const struct lcp_core *self, struct drive_step *step, uint32_t d,
			    double sigma)
{
	VALIDATE(d < self->count);
	step->event = EVENT_NONE;
	step->length = __builtin_inf();
	for (uint32_t i = 0; i < self->count; i++)
		if (i != d)
			offer_row(self, step, i);
	double room = sigma > 0 ? self->upper[d] - self->x[d] : self->x[d] - self->lower[d];
	if (room <= step->length * (1 + TIE) && room <= SCALAR_MAX) {
		step->event = EVENT_BOUND;
		step->row = d;
		step->length = room;
	}
	double goal = step->schur > 0 ? scalar_abs(self->w[d]) / step->schur : __builtin_inf();
	if (goal <= step->length * (1 + TIE) && goal <= SCALAR_MAX) {
		step->event = EVENT_GOAL;
		step->row = d;
		step->length = goal;
	}
}

static void advance_rows(struct lcp_core *self, uint32_t d, double length)
{
	VALIDATE(d < self->count);
	for (uint32_t p = 0; p < self->factor.size; p++)
		self->x[self->order[p]] += length * self->dx[self->order[p]];
	self->x[d] += length * self->dx[d];
	for (uint32_t i = 0; i < self->count; i++)
		self->w[i] += length * self->dw[i];
}

static void leave_active(struct lcp_core *self, uint32_t i)
{
	ASSERT(self->state[i] == LCP_ACTIVE);
	bool low = self->dx[i] < 0;
	self->x[i] = low ? self->lower[i] : self->upper[i];
	self->w[i] = 0;
	lcp_core_deactivate(self, i, low ? LCP_LOWER : LCP_UPPER);
}

/* Finds the end of the step. A row that would join but depends on the active rows does not move
 * except by rounding: its dw becomes 0 and the choice is repeated. */
static void choose_join(struct lcp_core *self, struct drive_step *step, uint32_t d, double sigma)
{
	VALIDATE(sigma == 1 || sigma == -1);
	for (;;) {
		choose_step_end(self, step, d, sigma);
		if (step->event != EVENT_JOIN)
			return;
		step->join = lcp_core_measure(self, step->row);
		if (step->join > 0)
			return;
		step->refused = true;
		self->dw[step->row] = 0;
	}
}

/* Row d depends on the active rows to the rounding of A. If A as given is not singular and its
 * solution is within FAR, that is the solution: x goes there and d becomes active. */
static bool solve_as_given(struct lcp_core *self, uint32_t d, double sigma)
{
	ASSERT(self->state[d] != LCP_ACTIVE);
	double schur = lcp_core_exact(self, d);
	double length = scalar_abs(self->w[d]) / schur;
	if (!(schur > 0) || !(length <= FAR * dense_max_abs(self->b, self->count)))
		return false;
	for (uint32_t p = 0; p < self->factor.size; p++)
		self->x[self->order[p]] -= sigma * length * self->work[p];
	self->x[d] += sigma * length;
	lcp_core_refresh(self);
	self->w[d] = 0;
	lcp_core_append(self, d, schur);
	return true;
}

/* No event ends the step. True: row d holds after all; else result.status gives the reason. */
static bool finish_endless(struct lcp_core *self, const struct drive_step *step, uint32_t d,
			   double sigma)
{
	ASSERT(step->event == EVENT_NONE || !(step->length <= SCALAR_MAX));
	double slack = 0.1 * self->tolerance * lcp_core_size(self);
	if (step->schur == 0 && scalar_abs(self->w[d]) <= slack) {
		self->floor = scalar_max(self->floor, scalar_abs(self->w[d]));
		lcp_core_settle(self, d);
		return true;
	}
	if (step->schur == 0 && self->far && solve_as_given(self, d, sigma)) {
		self->result.pivots++;
		return true;
	}
	self->result.status = step->schur == 0 ? SOLVER_INFEASIBLE : SOLVER_UNBOUNDED;
	return false;
}

bool lcp_core_drive(struct lcp_core *self, uint32_t d)
{
	ASSERT(d < self->count && self->state[d] != LCP_ACTIVE);
	double sigma = self->w[d] < 0 ? 1 : -1;
	for (;;) {
		if (self->result.pivots >= self->pivots_max) {
			self->result.status = SOLVER_LIMIT;
			return false;
		}
		struct drive_step step = find_direction(self, d, sigma);
		choose_join(self, &step, d, sigma);
		if (step.event == EVENT_NONE || !(step.length <= SCALAR_MAX))
			return finish_endless(self, &step, d, sigma);
		ASSERT(step.length >= 0 && step.row < self->count);
		self->result.pivots++;
		advance_rows(self, d, step.length);
		switch (step.event) {
		case EVENT_GOAL:
			self->w[d] = 0;
			if (step.refused)
				(void)lcp_core_measure(self, d);
			lcp_core_append(self, d, step.schur);
			return true;
		case EVENT_BOUND:
			self->x[d] = sigma > 0 ? self->upper[d] : self->lower[d];
			self->state[d] = sigma > 0 ? LCP_UPPER : LCP_LOWER;
			return true;
		case EVENT_LEAVE:
			leave_active(self, step.row);
			break;
		case EVENT_JOIN:
			self->w[step.row] = 0;
			lcp_core_append(self, step.row, step.join);
			break;
		case EVENT_NONE:
			break;
		}
	}
}
