/* lcp_sparse.c: min ½ xᵀA x + bᵀx between bounds, by projected Newton steps (Bertsekas 1982).
 *
 * Its conditions are the complementarity problem. Islands (rows that A does not couple) are solved
 * one after the other, each with rounds, steps and a factor of its own. A round: rows at a bound
 * that w holds there are fixed; on the others d = −(A + ε)⁻¹ w, with a sparse L D Lᵀ in an order
 * that was chosen once (AMD) for the whole pattern; then x := clamp(x + α d), α = 1, ½, ¼ … until
 * the value falls enough. Sweeps of projected Gauss–Seidel before and between find the active set
 * roughly. All of it only lowers the value, so no set of rows can come again for ever, however
 * degenerate. ε is `regularisation` of the diagonal (redundant contacts make A singular); since w
 * is the true one, repeated steps remove it: the last rounds are iterative refinement.
 *
 * The pattern of the factor is that of all rows; a fixed one stands in it as a row of the unit
 * matrix. From round to round only few rows change (2 to 50 of 10 000 in a wall, once the sweeps
 * are over), so these enter and leave the factor by updates; many at once, or a pivot that an
 * update loses, make it anew.
 *
 * Rows and columns are scaled by powers of two to diagonals near 1. Numbers beyond 2^±460 would leave
 * the range of doubles on the way: then each island's x, b and bounds are multiplied by a power of
 * two as well, exponents are added before anything is multiplied, and the residual of the problem
 * as given is judged in numbers without a last exponent (lcp_wide.h). Other problems keep their bits.
 *
 * What goes wrong: a factor larger than the workspace, no solution, rounds used up, or a value that
 * does not fall any more before the tolerance is met: LIMIT. The residual is that of what goes out.
 */
#include "server/engine/solvers/lcp_sparse.h"

#include "server/engine/linalg/dense.h"
#include "server/engine/linalg/order_amd.h"
#include "server/engine/solvers/lcp_wide.h"

enum { SWEEPS_FIRST = 150, SWEEPS = 10, ROUNDS_MAX = 300, HALVINGS = 20 };
enum { FEW = 32 };     /* of an island's rows one in so many may change by updates */
enum { UPDATES = 500 }; /* then the factor is made anew, before their rounding adds up */

#define PIVOT_MIN 0x1p-50
#define TAME_MIN 0x1p-460 /* between these, scaling is exact and products stay in range */
#define TAME_MAX 0x1p460

static void carve(struct lcp_sparse *self, struct solver_memory *memory, uint32_t rows,
		  uint32_t entries, size_t fill)
{
	size_t n = rows;
	struct ldl_sparse *factor = &self->factor;
	double **doubles[] = {&self->b,    &self->lower,  &self->upper,     &self->scale,
			      &self->x,    &self->w,      &self->next,      &self->next_w,
			      &self->step, &factor->work, &factor->diagonal};
	uint32_t **counts[] = {&self->order,    &self->place,    &self->island, &self->member,
			       &factor->parent, &factor->count,  &factor->flag,
			       &factor->pattern, &self->half_start, &factor->start};
	self->rows_max = rows;
	self->entries_max = entries;
	for (uint32_t i = 0; i < COUNT_OF(doubles); i++)
		*doubles[i] = SOLVER_CARVE(memory, double, n);
	for (uint32_t i = 0; i < COUNT_OF(counts); i++)
		*counts[i] = SOLVER_CARVE(memory, uint32_t, n + 1);
	self->free = SOLVER_CARVE(memory, uint8_t, n);
	self->wanted = SOLVER_CARVE(memory, uint8_t, n);
	self->lift = SOLVER_CARVE(memory, int32_t, n);
	self->value = SOLVER_CARVE(memory, double, entries);
	self->half_row = SOLVER_CARVE(memory, uint32_t, entries);
	self->half_from = SOLVER_CARVE(memory, uint32_t, entries);
	self->half_value = SOLVER_CARVE(memory, double, entries);
	factor->entries_max = fill;
	factor->row = SOLVER_CARVE(memory, uint32_t, fill);
	factor->value = SOLVER_CARVE(memory, double, fill);
}

size_t lcp_sparse_bytes(uint32_t rows, uint32_t entries, size_t fill)
{
	struct lcp_sparse self;
	struct solver_memory memory = {0};
	carve(&self, &memory, rows, entries, fill);
	return memory.used;
}

void lcp_sparse_init(struct lcp_sparse *self, void *memory, uint32_t rows, uint32_t entries,
		     size_t fill)
{
	struct solver_memory carving = {.memory = memory};
	carve(self, &carving, rows, entries, fill);
}

/* Numbers the islands by their least row; each row's into `label`; how many. */
static uint32_t label_islands(struct lcp_sparse *self, const struct lcp_sparse_problem *problem,
			      uint32_t *label, uint32_t *queue)
{
	uint32_t islands = 0;
	for (uint32_t i = 0; i < problem->count; i++)
		label[i] = UINT32_MAX;
	for (uint32_t i = 0; i < problem->count; i++) {
		uint32_t tail = 0;
		if (label[i] != UINT32_MAX)
			continue;
		label[i] = islands;
		queue[tail++] = i;
		for (uint32_t head = 0; head < tail; head++)
			for (uint32_t p = problem->start[queue[head]];
			     p < problem->start[queue[head] + 1]; p++) {
				uint32_t j = problem->column[p];
				if (label[j] != UINT32_MAX)
					continue;
				label[j] = islands;
				queue[tail++] = j;
			}
		self->island[++islands] = tail;
	}
	return islands;
}

/* Sorts `order` by islands, keeping it inside each: that changes no fill. */
static void sort_by_island(struct lcp_sparse *self, const struct lcp_sparse_problem *problem,
			   const uint32_t *order)
{
	uint32_t *label = self->factor.pattern, *next = self->factor.count;
	self->island[0] = 0;
	self->islands = label_islands(self, problem, label, next);
	for (uint32_t k = 0; k < self->islands; k++) {
		self->island[k + 1] += self->island[k];
		next[k] = self->island[k];
	}
	for (uint32_t k = 0; k < problem->count; k++)
		self->order[next[label[order[k]]]++] = order[k];
	for (uint32_t k = 0; k < self->islands; k++)
		next[k] = self->island[k];
	for (uint32_t i = 0; i < problem->count; i++)
		self->member[next[label[i]]++] = i;
	for (uint32_t k = 0; k < problem->count; k++)
		self->place[self->order[k]] = k;
}

size_t lcp_sparse_order_by(struct lcp_sparse *self, const struct lcp_sparse_problem *problem,
			   const uint32_t *order)
{
	uint32_t n = problem->count, entries = 0;
	ASSERT(n <= self->rows_max && problem->start[n] <= self->entries_max);
	sort_by_island(self, problem, order);
	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = self->order[k];
		self->half_start[k] = entries;
		for (uint32_t p = problem->start[i]; p < problem->start[i + 1]; p++)
			if (self->place[problem->column[p]] <= k) {
				self->half_row[entries] = self->place[problem->column[p]];
				self->half_from[entries++] = p;
			}
	}
	self->half_start[n] = entries;
	return ldl_sparse_analyse(&self->factor, n, self->half_start, self->half_row);
}

enum status lcp_sparse_order(struct lcp_sparse *self, const struct lcp_sparse_problem *problem,
			     size_t *fill)
{
	ASSERT(problem->count <= self->rows_max);
	uint32_t *order = self->factor.parent;
	enum status status = order_amd(problem->count, problem->start, problem->column, order);
	*fill = lcp_sparse_order_by(self, problem, order);
	return status;
}

static bool valid(const struct lcp_sparse_problem *problem)
{
	uint32_t n = problem->count;
	if (!solver_finite(problem->value, problem->start[n]) || !solver_finite(problem->b, n))
		return false;
	for (uint32_t i = 0; i < n && problem->lower != NULL; i++)
		if (!(problem->lower[i] <= problem->upper[i]) || problem->lower[i] > SCALAR_MAX ||
		    problem->upper[i] < -SCALAR_MAX)
			return false;
	return true;
}

/* 2^k that brings a near 1. */
static double scale_of(double a)
{
	double scale = 1;
	for (; a * scale * scale >= 2 && scale > 0x1p-400; scale *= 0.5)
		;
	for (; a > 0 && a * scale * scale < 0.5 && scale < 0x1p400; scale *= 2)
		;
	return scale;
}

static bool is_tame(const double *values, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		double size = scalar_abs(values[i]);
		if (size != 0 && size <= SCALAR_MAX && !(size >= TAME_MIN && size <= TAME_MAX))
			return false;
	}
	return true;
}

static bool all_tame(const struct lcp_sparse_problem *problem)
{
	uint32_t n = problem->count;
	return is_tame(problem->value, problem->start[n]) && is_tame(problem->b, n) &&
	       (problem->lower == NULL ||
		(is_tame(problem->lower, n) && is_tame(problem->upper, n)));
}

static double diagonal_of(const struct lcp_sparse_problem *problem, uint32_t row)
{
	double own = 0;
	for (uint32_t p = problem->start[row]; p < problem->start[row + 1]; p++)
		own = problem->column[p] == row ? problem->value[p] : own;
	return own;
}

static void take(struct lcp_sparse *self, const struct lcp_sparse_problem *problem, const double *x)
{
	for (uint32_t i = 0; i < problem->count; i++)
		self->scale[i] = scale_of(diagonal_of(problem, i));
	for (uint32_t i = 0; i < problem->count; i++) {
		double scale = self->scale[i];
		bool bounds = problem->lower != NULL;
		self->b[i] = problem->b[i] * scale;
		self->lower[i] = bounds ? problem->lower[i] / scale : 0;
		self->upper[i] = bounds ? problem->upper[i] / scale : __builtin_inf();
		double from = x != NULL && scalar_is_finite(x[i]) ? x[i] / scale : 0;
		self->x[i] = scalar_clamp(from, self->lower[i], self->upper[i]);
		for (uint32_t p = problem->start[i]; p < problem->start[i + 1]; p++)
			self->value[p] =
				problem->value[p] * scale * self->scale[problem->column[p]];
	}
}

/* ---- numbers far apart ------------------------------------------------------------------------
 */

/* e of a value in [2^(e-1), 2^e). */
static int64_t exponent_of(double x)
{
	return wide_of(x).exponent;
}

/* What brings the island's largest b, or bound that keeps an x from 0, near 1. */
static int32_t lift_of(const struct lcp_sparse *self, const struct lcp_sparse_problem *problem,
		       uint32_t island)
{
	int64_t most = INT64_MIN;
	for (uint32_t k = self->island[island]; k < self->island[island + 1]; k++) {
		uint32_t i = self->order[k];
		int64_t unit = exponent_of(self->scale[i]) - 1;
		double push = problem->b[i], hold = 0;
		if (problem->lower != NULL && problem->lower[i] > 0)
			hold = problem->lower[i];
		if (problem->lower != NULL && problem->upper[i] < 0)
			hold = problem->upper[i];
		if (push != 0)
			most = MAX_OF(most, exponent_of(push) + unit);
		if (hold != 0)
			most = MAX_OF(most, exponent_of(hold) - unit);
	}
	return most == INT64_MIN ? 0 : (int32_t)-most;
}

static void take_row(struct lcp_sparse *self, const struct lcp_sparse_problem *problem, uint32_t i,
		     int64_t lift, const double *x)
{
	int64_t unit = exponent_of(self->scale[i]) - 1;
	bool bounds = problem->lower != NULL;
	self->b[i] = scalar_shift(problem->b[i], lift + unit);
	self->lower[i] = bounds ? scalar_shift(problem->lower[i], lift - unit) : 0;
	self->upper[i] = bounds ? scalar_shift(problem->upper[i], lift - unit) : __builtin_inf();
	double from = x != NULL && scalar_is_finite(x[i]) ? scalar_shift(x[i], lift - unit) : 0;
	self->x[i] = scalar_clamp(from, self->lower[i], self->upper[i]);
	for (uint32_t p = problem->start[i]; p < problem->start[i + 1]; p++) {
		double other = self->scale[problem->column[p]];
		self->value[p] =
			scalar_shift(problem->value[p], unit + exponent_of(other) - 1);
	}
}

static void take_far(struct lcp_sparse *self, const struct lcp_sparse_problem *problem,
		     const double *x)
{
	for (uint32_t i = 0; i < problem->count; i++) {
		double own = diagonal_of(problem, i);
		int64_t e = own > 0 ? exponent_of(own) : 0;
		self->scale[i] = scalar_power2(-(e - (e & 1)) / 2);
	}
	for (uint32_t k = 0; k < self->islands; k++) {
		self->lift[k] = lift_of(self, problem, k);
		for (uint32_t p = self->island[k]; p < self->island[k + 1]; p++)
			take_row(self, problem, self->order[p], self->lift[k], x);
	}
}

/* Back into the problem's units, and between its bounds. */
static void hand_out_far(const struct lcp_sparse *self, const struct lcp_sparse_problem *problem,
			 double *x)
{
	for (uint32_t k = 0; k < self->islands; k++)
		for (uint32_t p = self->island[k]; p < self->island[k + 1]; p++) {
			uint32_t i = self->order[p];
			double own = scalar_shift(self->x[i], exponent_of(self->scale[i]) - 1 -
								      self->lift[k]);
			double low = problem->lower != NULL ? problem->lower[i] : 0;
			double high = problem->lower != NULL ? problem->upper[i] : SCALAR_MAX;
			own = scalar_clamp(own, -SCALAR_MAX, SCALAR_MAX);
			x[i] = scalar_clamp(own, low, high);
		}
}

/* Of the problem as given. */
static double residual_far(const struct lcp_sparse_problem *problem, const double *x)
{
	struct lcp_wide worst = {{0, 0}, {0, 0}};
	if (!solver_finite(x, problem->count))
		return __builtin_inf();
	for (uint32_t i = 0; i < problem->count; i++) {
		bool bounds = problem->lower != NULL;
		struct lcp_wide_sum sum = lcp_wide_begin(problem->b[i]);
		for (uint32_t p = problem->start[i]; p < problem->start[i + 1]; p++)
			lcp_wide_add(&sum, problem->value[p], x[problem->column[p]]);
		lcp_wide_row(&worst, sum, diagonal_of(problem, i), x[i],
			     wide_of(bounds ? problem->lower[i] : 0),
			     wide_of(bounds ? problem->upper[i] : __builtin_inf()), true);
	}
	return lcp_wide_residual(&worst);
}

/* ---- one island --------------------------------------------------------------------------------
 */

struct island {
	struct lcp_sparse *self;
	const struct lcp_sparse_problem *problem;
	const struct solver_options *options;
	uint32_t first, end; /* places */
	double most_b;
	bool factored;
	uint32_t updates; /* of the factor since it was made */
};

static void multiply(const struct island *isle, const double *x, double *w)
{
	const struct lcp_sparse *self = isle->self;
	for (uint32_t k = isle->first; k < isle->end; k++) {
		uint32_t i = self->order[k];
		double sum = self->b[i];
		for (uint32_t p = isle->problem->start[i]; p < isle->problem->start[i + 1]; p++)
			sum += self->value[p] * x[isle->problem->column[p]];
		w[i] = sum;
	}
}

/* ½ xᵀA x + bᵀx, with w = A x + b. */
static double value_of(const struct island *isle, const double *x, const double *w)
{
	double sum = 0;
	for (uint32_t k = isle->first; k < isle->end; k++) {
		uint32_t i = isle->self->order[k];
		sum += x[i] * (w[i] + isle->self->b[i]);
	}
	return 0.5 * sum;
}

struct worst {
	double gap, term;
	double reach; /* largest |x| */
};

static struct worst worst_of(const struct island *isle)
{
	const struct lcp_sparse *self = isle->self;
	struct worst worst = {0, 0, 0};
	for (uint32_t k = isle->first; k < isle->end; k++) {
		uint32_t i = self->order[k];
		double x = self->x[i], gap = x - self->w[i];
		gap = scalar_abs(x - scalar_clamp(gap, self->lower[i], self->upper[i]));
		if (!scalar_is_finite(gap))
			return (struct worst){__builtin_inf(), 1, 1};
		worst.reach = scalar_max(worst.reach, scalar_abs(x));
		worst.gap = scalar_max(worst.gap, gap);
		worst.term = scalar_max(worst.term, scalar_abs(self->b[i]));
		for (uint32_t p = isle->problem->start[i]; p < isle->problem->start[i + 1]; p++)
			worst.term = scalar_max(
				worst.term,
				scalar_abs(self->value[p] * self->x[isle->problem->column[p]]));
	}
	return worst;
}

static double residual_of(struct worst worst)
{
	return worst.gap == 0 ? 0 : worst.gap / worst.term;
}

/* Whether products and differences in double say what that residual is. */
static bool in_range(struct worst worst)
{
	return scalar_is_finite(worst.gap) && worst.term >= LCP_TERM_MIN &&
	       worst.term <= LCP_TERM_MAX && worst.reach <= LCP_REACH * worst.term;
}

/* Projected Gauss–Seidel, forth and back by rows. */
static void sweep(struct island *isle, uint32_t times)
{
	struct lcp_sparse *self = isle->self;
	const struct lcp_sparse_problem *problem = isle->problem;
	uint32_t n = isle->end - isle->first;
	for (uint32_t k = 0; k < 2 * times; k++)
		for (uint32_t r = 0; r < n; r++) {
			uint32_t i = self->member[isle->first + (k % 2 == 0 ? r : n - 1 - r)];
			double sum = self->b[i], own = 0;
			for (uint32_t p = problem->start[i]; p < problem->start[i + 1]; p++) {
				uint32_t j = problem->column[p];
				sum += self->value[p] * self->x[j];
				own = j == i ? self->value[p] : own;
			}
			if (own > 0)
				self->x[i] = scalar_clamp(self->x[i] - sum / own, self->lower[i],
							  self->upper[i]);
		}
	multiply(isle, self->x, self->w);
}

/* Which rows may move; how many differ from those in the factor. */
static uint32_t choose_free(struct island *isle)
{
	struct lcp_sparse *self = isle->self;
	double slack = 1e-3 * isle->options->tolerance * isle->most_b;
	uint32_t changes = 0;
	for (uint32_t k = isle->first; k < isle->end; k++) {
		uint32_t i = self->order[k];
		self->wanted[i] = !(self->x[i] <= self->lower[i] && self->w[i] > -slack) &&
				  !(self->x[i] >= self->upper[i] && self->w[i] < slack);
		changes += self->wanted[i] != self->free[i];
	}
	return changes;
}

static void factor_anew(struct island *isle)
{
	struct lcp_sparse *self = isle->self;
	double extra = isle->options->regularisation;
	for (uint32_t k = isle->first; k < isle->end; k++)
		self->free[self->order[k]] = self->wanted[self->order[k]];
	for (uint32_t k = isle->first; k < isle->end; k++) {
		bool here = self->free[self->order[k]];
		for (uint32_t p = self->half_start[k]; p < self->half_start[k + 1]; p++) {
			uint32_t j = self->half_row[p];
			double a = self->value[self->half_from[p]];
			if (!here || !self->free[self->order[j]])
				a = j == k;
			else if (j == k)
				a += extra;
			self->half_value[p] = a;
		}
	}
	ldl_sparse_factor_part(&self->factor, isle->first, isle->end, self->half_start,
			       self->half_row, self->half_value, PIVOT_MIN);
	self->result.refactorings++;
	self->result.regularisations += self->factor.helped;
	isle->factored = true;
	isle->updates = 0;
}

static bool insert(struct island *isle, uint32_t k)
{
	struct lcp_sparse *self = isle->self;
	uint32_t i = self->order[k];
	self->free[i] = 1;
	for (uint32_t p = isle->problem->start[i]; p < isle->problem->start[i + 1]; p++) {
		uint32_t j = isle->problem->column[p];
		if (self->free[j])
			self->factor.work[self->place[j]] =
				self->value[p] + (i == j ? isle->options->regularisation : 0);
	}
	return ldl_sparse_insert(&self->factor, k, self->half_start, self->half_row, PIVOT_MIN);
}

/* Rows that are no longer wanted leave first: it keeps pivots large. */
static void bring_up_to_date(struct island *isle)
{
	struct lcp_sparse *self = isle->self;
	uint32_t changes = choose_free(isle);
	if (!isle->factored) {
		factor_anew(isle);
		return;
	}
	isle->updates += changes;
	self->result.pivots += changes;
	if (changes > (isle->end - isle->first) / FEW || isle->updates > UPDATES) {
		factor_anew(isle);
		return;
	}
	for (uint32_t k = isle->first; k < isle->end && changes > 0; k++) {
		uint32_t i = self->order[k];
		if (!self->free[i] || self->wanted[i])
			continue;
		self->free[i] = 0;
		ldl_sparse_remove(&self->factor, k, self->half_start, self->half_row);
	}
	for (uint32_t k = isle->first; k < isle->end && changes > 0; k++)
		if (self->wanted[self->order[k]] && !self->free[self->order[k]] &&
		    !insert(isle, k)) {
			factor_anew(isle);
			return;
		}
}

static void newton(struct island *isle)
{
	struct lcp_sparse *self = isle->self;
	bring_up_to_date(isle);
	for (uint32_t k = isle->first; k < isle->end; k++) {
		uint32_t i = self->order[k];
		self->step[k] = self->free[i] ? -self->w[i] : 0;
	}
	ldl_sparse_solve_part(&self->factor, isle->first, isle->end, self->step);
}

/* Goes along the projected step as far as the value falls; false when it does not. */
static bool search(struct island *isle)
{
	struct lcp_sparse *self = isle->self;
	double before = value_of(isle, self->x, self->w), alpha = 1;
	double size = scalar_abs(before);
	for (uint32_t round = 0; round < HALVINGS; round++, alpha *= 0.5) {
		double fall = 0;
		for (uint32_t k = isle->first; k < isle->end; k++) {
			uint32_t i = self->order[k];
			self->next[i] = scalar_clamp(self->x[i] + alpha * self->step[k],
						     self->lower[i], self->upper[i]);
			fall += self->w[i] * (self->next[i] - self->x[i]);
		}
		multiply(isle, self->next, self->next_w);
		double after = value_of(isle, self->next, self->next_w);
		/* At the end falls drown in rounding: then full steps are refinement. */
		if (after <= before + 1e-4 * fall ||
		    (round == 0 && scalar_abs(fall) <= 1e-12 * size)) {
			for (uint32_t k = isle->first; k < isle->end; k++) {
				uint32_t i = self->order[k];
				self->x[i] = self->next[i];
				self->w[i] = self->next_w[i];
			}
			return true;
		}
	}
	return false;
}

static void solve_island(struct island *isle)
{
	struct lcp_sparse *self = isle->self;
	double tolerance = isle->options->tolerance;
	uint32_t most = isle->options->rounds_max > 0 ? isle->options->rounds_max : ROUNDS_MAX;
	for (uint32_t k = isle->first; k < isle->end; k++)
		isle->most_b = scalar_max(isle->most_b, scalar_abs(self->b[self->order[k]]));
	multiply(isle, self->x, self->w);
	if (residual_of(worst_of(isle)) > tolerance && !isle->options->warm)
		sweep(isle, SWEEPS_FIRST);
	uint32_t rounds = 0;
	for (; rounds < most && residual_of(worst_of(isle)) > 0.01 * tolerance; rounds++) {
		newton(isle);
		bool fell = search(isle);
		if (residual_of(worst_of(isle)) > 1e3 * tolerance)
			sweep(isle, SWEEPS);
		else if (!fell)
			break;
	}
	self->result.rounds = MAX_OF(self->result.rounds, rounds);
}

struct solver_result lcp_sparse_solve(struct lcp_sparse *self,
				      const struct lcp_sparse_problem *problem,
				      const struct solver_options *options, double *x)
{
	uint32_t n = problem->count;
	struct worst worst = {0, 0, 0};
	double inner = 0; /* the worst residual of an island, by itself and in its own scale */
	ASSERT(n <= self->rows_max && problem->start[n] <= self->entries_max);
	self->result =
		(struct solver_result){.status = SOLVER_NOT_FINITE, .residual = __builtin_inf()};
	if (!valid(problem)) {
		dense_zero(x, n);
		return self->result;
	}
	bool room = self->factor.start[n] <= self->factor.entries_max, far = !all_tame(problem);
	(far ? take_far : take)(self, problem, options->warm ? x : NULL);
	for (uint32_t k = 0; k < self->islands; k++) {
		struct island isle = {.self = self,
				      .problem = problem,
				      .options = options,
				      .first = self->island[k],
				      .end = self->island[k + 1]};
		if (room)
			solve_island(&isle);
		multiply(&isle, self->x, self->w);
		struct worst one = worst_of(&isle);
		worst.gap = scalar_max(worst.gap, one.gap);
		worst.term = scalar_max(worst.term, one.term);
		worst.reach = scalar_max(worst.reach, one.reach);
		inner = scalar_max(inner, residual_of(one));
	}
	for (uint32_t i = 0; i < n && !far; i++)
		x[i] = self->x[i] * self->scale[i];
	if (far)
		hand_out_far(self, problem, x);
	self->result.residual =
		far || !in_range(worst) ? residual_far(problem, x) : residual_of(worst);
	self->result.status = self->result.residual <= options->tolerance ? SOLVER_SOLVED :
			      inner <= options->tolerance		  ? SOLVER_INEXACT :
									    SOLVER_LIMIT;
	return self->result;
}
