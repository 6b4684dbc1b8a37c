/* lp_primal_phase.c: the primal simplex method, from a feasible point to the optimum.
 *
 * It runs after the dual phase, whose costs may have been shifted, and alone if the caller gives a
 * feasible point. Every point is then feasible and the objective never rises. Columns of a given point
 * may be between their bounds without being basic; their price moves each to a bound or into the basis.
 *
 * Of the variables with a price of the wrong sign, the one with the largest price² / weight enters and moves
 * until a basic variable, or itself, meets a bound. The weights are Devex: they approximate the squared
 * length of the move in the space of the variables that were not basic when the weights were last 1, and
 * need only the row of the tableau. They become 1 again when one of them exceeds
 * REFERENCE_MAX. The ratio test has two passes: first the longest step that violates no
 * bound by more than the tolerance; then, of the basic variables that limit the step to at most
 * that, the one with the largest entry, then the least index. After many pivots without progress
 * the least index decides throughout (Bland), which cannot cycle. If no bound limits the step, the
 * direction is the certificate.
 */
#include "server/engine/linalg/dense.h"
#include "server/engine/solvers/lp_simplex.h"

#define REFERENCE_MAX 1e9 /* a larger weight is mostly the rounding and history of the others */

struct primal_step {
	uint32_t in;   /* the variable that enters */
	double sign;   /* direction of x_in */
	uint32_t row;  /* of the basic variable that limits the step, or LP_NONE */
	double length; /* LP_INFINITY: no basic variable limits the step */
};

static void reset_references(struct lp_dual_simplex *self)
{
	for (uint32_t j = 0; j < lp_variables(self); j++)
		self->reference[j] = 1;
}

/* The variable that enters; LP_NONE: x is optimal. */
static uint32_t choose_in(const struct lp_dual_simplex *self)
{
	uint32_t best = LP_NONE;
	double largest = 0;
	for (uint32_t j = 0; j < lp_variables(self); j++) {
		double d = self->price[j], size = scalar_abs(d);
		if (self->place[j] == LP_BASIC || self->low[j] == self->high[j] ||
		    size <= self->tolerance * (1 + scalar_abs(self->cost[j])))
			continue;
		if ((d > 0 && self->place[j] == LP_LOW) || (d < 0 && self->place[j] == LP_HIGH))
			continue;
		double score = d * d / self->reference[j];
		if (best == LP_NONE || score > largest) {
			best = j;
			largest = score;
		}
		if (self->least_index)
			break;
	}
	return best;
}

/* The distance of basic variable `row` from the bound towards which it moves; LP_INFINITY: no bound. */
static double distance_of_row(const struct lp_dual_simplex *self, const struct primal_step *step,
			      uint32_t row)
{
	VALIDATE(row < self->matrix.rows);
	uint32_t j = self->head[row];
	double a = step->sign * self->column[row];
	if (a > LP_PIVOT_MIN && lp_has_low(self, j))
		return self->x[j] - self->low[j];
	if (a < -LP_PIVOT_MIN && lp_has_high(self, j))
		return self->high[j] - self->x[j];
	return LP_INFINITY;
}

/* The distance by which the basic variable of `row` may exceed its bound. */
static double slack_of_row(const struct lp_dual_simplex *self, const struct primal_step *step,
			   uint32_t row)
{
	VALIDATE(row < self->matrix.rows);
	uint32_t j = self->head[row];
	if (self->least_index)
		return 0;
	return lp_slack(self, step->sign * self->column[row] > 0 ? self->low[j] : self->high[j]);
}

/* The basic variable that leaves, by the ratio test of the head. */
static void choose_row(const struct lp_dual_simplex *self, struct primal_step *step)
{
	ASSERT(step->sign == 1 || step->sign == -1);
	double limit = LP_INFINITY, largest = 0;
	step->row = LP_NONE;
	for (uint32_t i = 0; i < self->matrix.rows; i++) {
		double distance = distance_of_row(self, step, i);
		if (distance >= LP_INFINITY)
			continue;
		distance = scalar_max(distance, 0) + slack_of_row(self, step, i);
		limit = scalar_min(distance / scalar_abs(self->column[i]), limit);
	}
	step->length = LP_INFINITY;
	for (uint32_t i = 0; i < self->matrix.rows; i++) {
		double distance = scalar_max(distance_of_row(self, step, i), 0),
		       size = scalar_abs(self->column[i]);
		if (distance >= LP_INFINITY || distance / size > limit)
			continue;
		bool same = size == largest || self->least_index;
		if (step->row == LP_NONE || (!self->least_index && size > largest) ||
		    (same && self->head[i] < self->head[step->row])) {
			step->row = i;
			step->length = distance / size;
			largest = size;
		}
	}
}

/* The distance of x_in from its own bound in this direction. */
static double own_distance(const struct lp_dual_simplex *self, const struct primal_step *step)
{
	VALIDATE(self->place[step->in] != LP_BASIC);
	if (step->sign > 0)
		return lp_has_high(self, step->in) ? self->high[step->in] - self->x[step->in]
						   : LP_INFINITY;
	return lp_has_low(self, step->in) ? self->x[step->in] - self->low[step->in] : LP_INFINITY;
}

static void move_along(struct lp_dual_simplex *self, const struct primal_step *step, double length)
{
	for (uint32_t i = 0; i < self->matrix.rows; i++)
		self->x[self->head[i]] -= step->sign * length * self->column[i];
	self->x[step->in] += step->sign * length;
}

/* x_in moves to its other bound; the basis does not change. */
static enum lp_outcome flip_bound(struct lp_dual_simplex *self, const struct primal_step *step,
				  double length)
{
	ASSERT(self->place[step->in] != LP_BASIC);
	move_along(self, step, length);
	self->place[step->in] = step->sign > 0 ? LP_HIGH : LP_LOW;
	lp_settle(self, step->in);
	self->result.pivots++;
	lp_note_progress(self, length > 0);
	return LP_GOING;
}

/* After the row of the tableau is known. */
static void update_references(struct lp_dual_simplex *self, uint32_t in, uint32_t out)
{
	double pivot = self->tableau[in], entering = self->reference[in] / (pivot * pivot);
	ASSERT(pivot != 0);
	for (uint32_t k = 0; k < self->touched_count; k++) {
		uint32_t j = self->touched[k];
		double w = self->tableau[j] * self->tableau[j] * entering;
		self->reference[j] = scalar_max(w, self->reference[j]);
	}
	self->reference[out] = scalar_max(entering, 1);
	if (!(entering <= REFERENCE_MAX))
		reset_references(self);
}

static enum lp_outcome make_pivot(struct lp_dual_simplex *self, const struct primal_step *step)
{
	ASSERT(step->row < self->matrix.rows);
	ASSERT(self->place[step->in] != LP_BASIC);
	uint32_t out = self->head[step->row];
	double pivot = self->column[step->row];
	if (self->factor.updates > 0 && scalar_abs(pivot) < LP_PIVOT_GOOD)
		return lp_try_again(self);
	lp_solve_row(self, step->row);
	double mismatch = scalar_abs(self->tableau[step->in] - pivot);
	if (self->factor.updates > 0 && !(mismatch <= 1e-7 * (1 + scalar_abs(pivot))))
		return lp_try_again(self);
	self->tableau[step->in] = pivot;
	lp_move_prices(self, step->in, out);
	update_references(self, step->in, out);
	move_along(self, step, step->length);
	self->place[out] = step->sign * pivot > 0 ? LP_LOW : LP_HIGH;
	lp_settle(self, out);
	self->weight[step->row] = 1;
	lp_note_progress(self, step->length > 0);
	return lp_after_exchange(self, lp_exchange(self, step->row, step->in));
}

static void store_ray(struct lp_dual_simplex *self, const struct primal_step *step)
{
	ASSERT(self->place[step->in] != LP_BASIC);
	dense_zero(self->certificate, self->matrix.columns);
	for (uint32_t i = 0; i < self->matrix.rows; i++) {
		uint32_t j = self->head[i];
		if (j < self->matrix.columns && scalar_abs(self->column[i]) > LP_PIVOT_MIN)
			self->certificate[j] =
				-step->sign * self->column[i] * self->column_scale[j];
	}
	if (step->in < self->matrix.columns)
		self->certificate[step->in] = step->sign * self->column_scale[step->in];
}

enum lp_outcome lp_primal_phase(struct lp_dual_simplex *self)
{
	enum lp_outcome outcome = LP_GOING;
	lp_note_progress(self, true);
	reset_references(self);
	while (outcome == LP_GOING) {
		struct primal_step step = { .in = choose_in(self) };
		if (step.in == LP_NONE)
			return LP_OPTIMAL;
		if (self->result.pivots >= self->pivots_max)
			return LP_PIVOTS;
		step.sign = self->price[step.in] < 0 ? 1 : -1;
		lp_solve_column(self, step.in, self->column);
		choose_row(self, &step);
		double own = own_distance(self, &step);
		if (own < LP_INFINITY && own <= step.length) {
			outcome = flip_bound(self, &step, own);
		} else if (step.row != LP_NONE) {
			outcome = make_pivot(self, &step);
		} else if (self->factor.updates > 0) {
			outcome = lp_try_again(self);
		} else {
			store_ray(self, &step);
			outcome = LP_UNBOUNDED;
		}
	}
	return outcome;
}
