/* lp_dual_phase.c: the dual simplex method, from prices of the right sign to a feasible point.
 *
 * A basis is dual feasible if each variable that is not basic is at the bound of its price d: d ≥ 0 at
 * the lower bound, d ≤ 0 at the upper, d = 0 between. In each pivot the basic variable leaves that
 * violates a bound most by steepest edge (violation² over the squared length of its row of B⁻¹,
 * which is updated), and the variable enters whose price reaches zero first along the row. Boxed
 * variables may be passed: they flip to their other bound, as long as the violation does not change
 * its sign (the long step). Of the candidates whose ratio is within tolerance of the first that
 * must not be passed, the largest pivot wins, then the least index.
 *
 * Prices of the wrong sign are corrected beforehand: boxed variables change their bound; the costs
 * of the others are shifted by the price. The primal phase works with the true costs afterwards. If
 * many pivots in a row change no price, costs are perturbed by amounts that depend on the index
 * alone. If that does not help, the least index decides (Bland), which cannot cycle.
 *
 * If there is no candidate, the row of B⁻¹ proves that the bounds contradict each other. It is the
 * certificate.
 */
#include "server/base/rng.h"
#include "server/engine/linalg/dense.h"
#include "server/engine/solvers/lp_simplex.h"

#define PERTURBATION 1e-6 /* of 1 + |cost|; a larger one needs more pivots of the primal phase */
#define WEIGHT_MIN 1e-4	  /* of steepest edge weights, which are squared lengths and so > 0 */
#define ROUNDING 1e-13	  /* of the largest entry of a certificate: smaller entries become 0 */
#define MISMATCH 1e-7	  /* of a pivot computed by row and by column: more needs a new factor */

static void shift_cost(struct lp_dual_simplex *self, uint32_t j, double by)
{
	VALIDATE(j < lp_variables(self));
	self->shifted[j] += by;
	self->price[j] += by;
	self->shifts = true;
}

static bool is_fixed(const struct lp_dual_simplex *self, uint32_t j)
{
	VALIDATE(j < lp_variables(self));
	return self->low[j] == self->high[j];
}

/* Whether the price has the wrong sign for the variable's place. */
static bool is_mispriced(const struct lp_dual_simplex *self, uint32_t j)
{
	VALIDATE(j < lp_variables(self));
	double d = self->price[j];
	uint8_t place = self->place[j];
	if (place == LP_BASIC || (d >= 0 && place == LP_LOW) || (d <= 0 && place == LP_HIGH))
		return false;
	return scalar_abs(d) > self->tolerance * (1 + scalar_abs(self->shifted[j])) &&
	       !is_fixed(self, j);
}

/* Corrects all prices of the wrong sign; true if a variable changed its bound. */
static bool correct_prices(struct lp_dual_simplex *self)
{
	bool moved = false;
	for (uint32_t j = 0; j < lp_variables(self); j++) {
		if (!is_mispriced(self, j))
			continue;
		bool flips = self->price[j] < 0 ? lp_has_high(self, j) : lp_has_low(self, j);
		if (flips) {
			self->place[j] = self->price[j] < 0 ? LP_HIGH : LP_LOW;
			lp_settle(self, j);
			moved = true;
		} else {
			shift_cost(self, j, -self->price[j]);
		}
	}
	return moved;
}

/* Perturbs the costs so that prices move away from zero with the right sign. */
static void perturb_costs(struct lp_dual_simplex *self)
{
	for (uint32_t j = 0; j < lp_variables(self); j++) {
		if (self->place[j] == LP_BASIC || self->place[j] == LP_BETWEEN || is_fixed(self, j))
			continue;
		double share = 0.5 + (double)(rng_mix(j) >> 11) * 0x1p-53;
		double by = PERTURBATION * (1 + scalar_abs(self->cost[j])) * share;
		shift_cost(self, j, self->place[j] == LP_LOW ? by : -by);
	}
	self->perturbed = true;
}

/* ---- one pivot ---------------------------------------------------------------------------------- */

struct dual_step {
	uint32_t row;	  /* of the variable that leaves */
	double sign;	  /* +1 when it is above its upper bound, −1 below its lower one */
	double violation; /* > 0 */
	uint32_t in;	  /* the variable that enters, or LP_NONE */
	uint32_t count;	  /* candidates */
	uint32_t passed;  /* the last of them flip, the very last first */
};

/* excess_i := how far the basic x of row i is beyond its bound; below the lower one it is negative. */
static void note_excess(struct lp_dual_simplex *self, uint32_t i)
{
	uint32_t j = self->head[i];
	double below = self->low[j] - self->x[j], above = self->x[j] - self->high[j];
	bool is_below = lp_has_low(self, j) && below > lp_slack(self, self->low[j]);
	bool is_above = lp_has_high(self, j) && above > lp_slack(self, self->high[j]);
	self->excess[i] = is_below ? -below : is_above ? above : 0;
}

static void note_all(struct lp_dual_simplex *self)
{
	VALIDATE(self->matrix.rows <= self->sizes.rows);
	for (uint32_t i = 0; i < self->matrix.rows; i++)
		note_excess(self, i);
}

/* The variable that leaves. False: the basic point is feasible. */
static bool choose_row(const struct lp_dual_simplex *self, struct dual_step *step)
{
	const double *excess = self->excess, *weight = self->weight;
	double best = 0;
	for (uint32_t i = 0; !self->least_index && i < self->matrix.rows; i++) {
		double score = excess[i] * excess[i] / weight[i];
		if (score > best) {
			best = score;
			step->row = i;
		}
	}
	/* By index, or scores that are all rounded to 0. */
	for (uint32_t i = 0; best == 0 && i < self->matrix.rows; i++)
		if (excess[i] != 0 &&
		    (step->row == LP_NONE || self->head[i] < self->head[step->row]))
			step->row = i;
	if (step->row == LP_NONE)
		return false;
	step->sign = self->excess[step->row] < 0 ? -1 : 1;
	step->violation = scalar_abs(self->excess[step->row]);
	return true;
}

/* Candidates with the step at which their price reaches zero, and their order, which decides between
 * equal steps. */
static void list_candidates(struct lp_dual_simplex *self, struct dual_step *step)
{
	const double *tableau = self->tableau;
	const uint8_t *place = self->place;
	const uint32_t *touched = self->touched;
	uint32_t *candidates = self->candidates, *order = self->candidates_scratch;
	double *ratios = self->ratios;
	uint32_t large = 0, count = 0;
	/* No branches, because signs are as chance has it. */
	for (uint32_t k = 0; k < self->touched_count; k++) {
		uint32_t j = touched[k];
		double a = step->sign * tableau[j];
		double towards = place[j] == LP_LOW ? a : place[j] == LP_HIGH ? -a : scalar_abs(a);
		candidates[large] = j;
		large += towards > LP_PIVOT_MIN;
	}
	for (uint32_t k = 0; k < large; k++) {
		uint32_t j = candidates[k];
		double a = step->sign * tableau[j];
		ratios[count] = place[j] == LP_BETWEEN ? 0 : scalar_max(self->price[j] / a, 0);
		order[count] = count;
		candidates[count] = j;
		count += !is_fixed(self, j);
	}
	step->count = count;
	ASSERT(step->count <= lp_variables(self));
}

/* Whether candidate a comes before candidate b. */
static bool is_earlier(const struct lp_dual_simplex *self, uint32_t a, uint32_t b)
{
	return self->ratios[a] < self->ratios[b] ||
	       (self->ratios[a] == self->ratios[b] &&
		self->candidates_scratch[a] < self->candidates_scratch[b]);
}

static void swap_candidates(struct lp_dual_simplex *self, uint32_t a, uint32_t b)
{
	double ratio = self->ratios[a];
	uint32_t j = self->candidates[a], order = self->candidates_scratch[a];
	self->ratios[a] = self->ratios[b];
	self->candidates[a] = self->candidates[b];
	self->candidates_scratch[a] = self->candidates_scratch[b];
	self->ratios[b] = ratio;
	self->candidates[b] = j;
	self->candidates_scratch[b] = order;
}

/* Moves candidate `at` of a heap down to its place. */
static void sink_candidate(struct lp_dual_simplex *self, uint32_t at, uint32_t count)
{
	VALIDATE(count <= lp_variables(self));
	for (uint32_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
		child += child + 1 < count && is_earlier(self, child + 1, child);
		if (!is_earlier(self, child, at))
			return;
		swap_candidates(self, child, at);
		at = child;
	}
}

/* The step at which the price of j reaches zero. */
static double price_ratio(const struct lp_dual_simplex *self, uint32_t j)
{
	VALIDATE(self->place[j] != LP_BASIC);
	if (self->place[j] == LP_BETWEEN)
		return 0;
	return scalar_max(scalar_abs(self->price[j]) / scalar_abs(self->tableau[j]), 0);
}

/* Moves the candidates that flip unless the step ends before them to the front of the list, as a heap: those
 * with both bounds that come before all others. Returns their number. */
static uint32_t gather_boxed(struct lp_dual_simplex *self, uint32_t count)
{
	uint32_t first = LP_NONE, boxed = 0;
	for (uint32_t k = 0; k < count; k++) {
		uint32_t j = self->candidates[k];
		if ((!lp_has_low(self, j) || !lp_has_high(self, j)) &&
		    (first == LP_NONE || self->ratios[k] < self->ratios[first]))
			first = k;
	}
	double end = first != LP_NONE ? self->ratios[first] : SCALAR_MAX;
	uint32_t order = first; /* the list is in order so far */
	for (uint32_t k = 0; k < count; k++) {
		uint32_t j = self->candidates[k];
		bool early = self->ratios[k] < end || (self->ratios[k] == end && k < order);
		if (early && lp_has_low(self, j) && lp_has_high(self, j))
			swap_candidates(self, k, boxed++);
	}
	for (uint32_t at = boxed / 2; at-- > 0;)
		sink_candidate(self, at, boxed);
	return boxed;
}

/* Moves the candidates that may be passed by flipping them to the end of the list; returns their
 * number. Those that might be are a heap, because few are passed of many. */
static uint32_t pass_candidates(struct lp_dual_simplex *self, const struct dual_step *step)
{
	uint32_t out = self->head[step->row];
	double bound = step->sign > 0 ? self->high[out] : self->low[out];
	double left = step->violation;
	uint32_t count = step->count, boxed = gather_boxed(self, count);
	while (boxed > 0) {
		uint32_t j = self->candidates[0];
		left -= scalar_abs(self->tableau[j]) * (self->high[j] - self->low[j]);
		if (!(left > lp_slack(self, bound)))
			break;
		swap_candidates(self, 0, --boxed);
		sink_candidate(self, 0, boxed);
		swap_candidates(self, boxed, --count);
	}
	ASSERT(count <= step->count);
	return step->count - count;
}

/* The entering variable. LP_NONE: the row proves that there is no feasible point. */
static void choose_in(struct lp_dual_simplex *self, struct dual_step *step)
{
	ASSERT(step->row < self->matrix.rows);
	step->passed = self->least_index ? 0 : pass_candidates(self, step);
	step->in = LP_NONE;
	double limit = LP_INFINITY, largest = 0;
	double slack = self->least_index ? 0 : self->tolerance;
	for (uint32_t k = 0; k < step->count - step->passed; k++) {
		uint32_t j = self->candidates[k];
		double size = scalar_abs(self->tableau[j]);
		limit = scalar_min((scalar_abs(self->price[j]) + slack) / size, limit);
	}
	for (uint32_t k = 0; k < step->count - step->passed; k++) {
		uint32_t j = self->candidates[k];
		double size = scalar_abs(self->tableau[j]);
		bool better = self->least_index
				      ? j < step->in
				      : size > largest || (size == largest && j < step->in);
		if ((step->in == LP_NONE || better) && !(price_ratio(self, j) > limit)) {
			step->in = j;
			largest = size;
		}
	}
}

/* Moves passed variables to their other bounds, and updates the basic ones. */
static void flip_passed(struct lp_dual_simplex *self, const struct dual_step *step)
{
	ASSERT(step->passed <= step->count);
	if (step->passed == 0)
		return;
	dense_zero(self->flips, self->matrix.rows);
	for (uint32_t k = 1; k <= step->passed; k++) {
		uint32_t j = self->candidates[step->count - k];
		double before = self->x[j];
		self->place[j] = self->place[j] == LP_LOW ? LP_HIGH : LP_LOW;
		lp_settle(self, j);
		lp_subtract_column(self, j, self->x[j] - before, self->flips);
	}
	lp_factor_solve(&self->factor, self->flips);
	for (uint32_t i = 0; i < self->matrix.rows; i++)
		if (self->flips[i] != 0) {
			self->x[self->head[i]] += self->flips[i];
			note_excess(self, i);
		}
}

/* weight_i := |row i of the new B⁻¹|², from that of the old one. The weight of the pivot's row is
 * computed from the row itself, because the error of a stored one grows with each update that has a
 * large column[i] / pivot. */
static void update_weights(struct lp_dual_simplex *self, uint32_t row)
{
	ASSERT(row < self->matrix.rows);
	double pivot = self->column[row];
	double weight = dense_dot(self->rho, self->rho, self->matrix.rows);
	dense_copy(self->tau, self->rho, self->matrix.rows);
	lp_factor_solve(&self->factor, self->tau);
	for (uint32_t i = 0; i < self->matrix.rows; i++) {
		if (self->column[i] == 0 || i == row)
			continue;
		double k = self->column[i] / pivot;
		double w = self->weight[i] - 2 * k * self->tau[i] + k * k * weight;
		self->weight[i] = scalar_max(w, WEIGHT_MIN);
	}
	self->weight[row] = scalar_max(weight / (pivot * pivot), WEIGHT_MIN);
}

/* Reduced costs that got the wrong sign, which the tolerance in choose_in allows, become 0: their
 * costs are shifted. */
static void shift_wrong_prices(struct lp_dual_simplex *self)
{
	const double *price = self->price;
	const uint8_t *place = self->place;
	for (uint32_t k = 0; k < self->touched_count; k++) {
		uint32_t j = self->touched[k];
		bool wrong = (place[j] != LP_LOW && price[j] > 0) ||
			     (place[j] != LP_HIGH && price[j] < 0);
		if (wrong && is_mispriced(self, j))
			shift_cost(self, j, -price[j]);
	}
}

static enum lp_outcome make_pivot(struct lp_dual_simplex *self, const struct dual_step *step)
{
	ASSERT(step->row < self->matrix.rows && step->in < lp_variables(self));
	ASSERT(self->place[step->in] != LP_BASIC);
	uint32_t out = self->head[step->row], in = step->in;
	double pivot = self->tableau[in];
	lp_solve_column(self, in, self->column);
	double mismatch = scalar_abs(self->column[step->row] - pivot);
	bool inaccurate = !(mismatch <= MISMATCH * (1 + scalar_abs(pivot)));
	bool small = !(scalar_abs(self->column[step->row]) >= LP_PIVOT_MIN);
	if (small ||
	    (self->factor.updates > 0 && (inaccurate || scalar_abs(pivot) < LP_PIVOT_GOOD)))
		return lp_try_again(self);
	flip_passed(self, step);
	if ((self->place[in] == LP_LOW && self->price[in] < 0) ||
	    (self->place[in] == LP_HIGH && self->price[in] > 0))
		shift_cost(self, in, -self->price[in]);
	bool progress = self->price[in] != 0;
	lp_move_prices(self, in, out);
	double bound = step->sign > 0 ? self->high[out] : self->low[out];
	double t = (self->x[out] - bound) / self->column[step->row];
	for (uint32_t i = 0; i < self->matrix.rows; i++)
		if (self->column[i] != 0) {
			self->x[self->head[i]] -= t * self->column[i];
			note_excess(self, i);
		}
	self->x[in] += t;
	self->x[out] = bound;
	self->place[out] = step->sign > 0 ? LP_HIGH : LP_LOW;
	update_weights(self, step->row);
	bool updated = lp_exchange(self, step->row, in);
	note_excess(self, step->row);
	shift_wrong_prices(self);
	lp_note_progress(self, progress);
	return lp_after_exchange(self, updated);
}

/* Stores the row of B⁻¹ as certificate. Entries that are rounding become 0, because their variables
 * may have infinite bounds. */
static void store_certificate(struct lp_dual_simplex *self, double sign)
{
	ASSERT(sign == 1 || sign == -1);
	double least = ROUNDING * dense_max_abs(self->rho, self->matrix.rows);
	for (uint32_t i = 0; i < self->matrix.rows; i++) {
		bool counts = scalar_abs(self->rho[i]) > least;
		self->certificate[i] = counts ? sign * self->rho[i] * self->row_scale[i] : 0;
	}
}

/* Corrects prices, and x at the bounds that follow. False: the factor does not fit. */
static bool restart_prices(struct lp_dual_simplex *self)
{
	return !correct_prices(self) || lp_refactor(self);
}

enum lp_outcome lp_dual_phase(struct lp_dual_simplex *self)
{
	enum lp_outcome outcome = LP_GOING;
	uint32_t factors = self->result.refactorings;
	if (!restart_prices(self))
		return LP_FULL;
	note_all(self);
	while (outcome == LP_GOING) {
		struct dual_step step = { .row = LP_NONE };
		if (factors != self->result.refactorings) {
			if (!restart_prices(self))
				return LP_FULL;
			note_all(self);
			factors = self->result.refactorings;
		}
		if (!choose_row(self, &step))
			return LP_OPTIMAL;
		if (self->result.pivots >= self->pivots_max)
			return LP_PIVOTS;
		if (self->stalls > LP_STALLS_PERTURB && !self->perturbed)
			perturb_costs(self);
		lp_solve_row(self, step.row);
		list_candidates(self, &step);
		choose_in(self, &step);
		if (step.in != LP_NONE) {
			outcome = make_pivot(self, &step);
		} else if (self->factor.updates > 0) {
			outcome = lp_try_again(self);
		} else {
			store_certificate(self, step.sign);
			outcome = LP_INFEASIBLE;
		}
	}
	return outcome;
}
