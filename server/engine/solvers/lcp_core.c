/* lcp_core.c: the active set and its factor; begin, warm start, choice of the next row, end.
 * lcp_drive.c drives one row; lcp_dantzig.c describes the method.
 *
 * Refinement: with C the active rows, x_C += A_CC⁻¹ (−w_C) until w_C no longer shrinks. It removes
 * the rounding errors of the updates of the factor.
 */
#include "server/engine/solvers/lcp_core.h"

#include "server/engine/linalg/dense.h"
#include "server/engine/math/double_double.h"

/* Limits of a Schur complement, the first three relative to 1 + |y|², y = A_CC⁻¹ A_Ci. Larger
 * values call rows with genuine complements dependent (masses 1 : 1e8 have them down to 1e-15);
 * smaller ones pivot on rounding. */
#define DOUBTFUL 0x1p-40  /* below, double cannot tell it from 0: twice the digits decide */
#define DEPENDENT 0x1p-49 /* in twice the digits: the rounding of A's own entries */
#define NOTHING 0x1p-51	  /* in double: rounding, not worth twice the digits */
#define CLEAR 0x1p-20	  /* absolute: above, it is significant for any y, so y is not computed */
#define REFINEMENTS 3	  /* each gains as many digits as the factor has */
#define NOISE 0x1p-43	  /* ≈ 1e-13 of the largest term: the rounding error of a sum */

void lcp_core_carve(struct lcp_core *self, struct solver_memory *memory, uint32_t rows)
{
	size_t n = rows;
	self->capacity = rows;
	self->start = SOLVER_CARVE(memory, uint32_t, n + 1);
	self->column = SOLVER_CARVE(memory, uint32_t, n * n);
	self->value = SOLVER_CARVE(memory, double, n *n);
	double **vectors[] = { &self->diagonal, &self->b, &self->lower, &self->upper, &self->scale,
			       &self->x,	&self->w, &self->dx,	&self->dw };
	for (uint32_t i = 0; i < COUNT_OF(vectors); i++)
		*vectors[i] = SOLVER_CARVE(memory, double, n);
	self->work = SOLVER_CARVE(memory, double, 2 * n);
	self->state = SOLVER_CARVE(memory, uint8_t, n);
	self->position = SOLVER_CARVE(memory, uint32_t, n);
	self->order = SOLVER_CARVE(memory, uint32_t, n);
	self->band = SOLVER_CARVE(memory, uint32_t, n);
	self->mark = SOLVER_CARVE(memory, uint32_t, n);
	uint32_t *first = SOLVER_CARVE(memory, uint32_t, n);
	double *lower = SOLVER_CARVE(memory, double, chol_envelope_doubles(rows));
	chol_envelope_init(&self->factor, lower, first, rows);
}

/* 2^k with a 2^2k in [1/2, 2); 1 when a is not positive. */
static double diagonal_scale(double a)
{
	if (!(a >= 0x1p-1000))
		return 1;
	int exponent = (int)(scalar_bits(a) >> 52 & 0x7ff) - 1023;
	int half = (exponent + (exponent & 1)) / 2;
	return scalar_from_bits((uint64_t)(1023 - half) << 52);
}

static void take_matrix(struct lcp_core *self, const struct lcp_problem *problem)
{
	uint32_t n = problem->count, entries = 0, *columns = self->column;
	double *values = self->value;
	const double *scale = self->scale;
	for (uint32_t i = 0; i < n; i++) {
		const double *row = problem->a + (size_t)i * problem->stride;
		double own = scale[i];
		self->start[i] = entries;
		self->diagonal[i] = own * row[i] * own;
		for (uint32_t j = 0; j < n; j++) {
			double entry = row[j];
			if (entry == 0)
				continue;
			columns[entries] = j;
			values[entries++] = own * entry * scale[j];
		}
	}
	self->start[n] = entries;
	ASSERT(entries <= (size_t)n * n);
}

void lcp_core_begin(struct lcp_core *self, const struct lcp_problem *problem,
		    const struct solver_options *options, enum lcp_rule rule)
{
	ASSERT(problem->count <= self->capacity);
	ASSERT(problem->stride >= problem->count);
	uint32_t n = problem->count;
	self->count = n;
	self->rule = rule;
	self->far = false;
	self->banded = false;
	self->checked_at = 0;
	self->floor = 0;
	self->tolerance = options->tolerance;
	self->pivots_max = options->pivots_max > 0 ? options->pivots_max : 20 * n + 500;
	self->result = (struct solver_result){ .status = SOLVER_SOLVED };
	self->factor.size = 0;
	for (uint32_t i = 0; i < n; i++) {
		double scale = diagonal_scale(problem->a[(size_t)i * problem->stride + i]);
		self->scale[i] = scale;
		self->b[i] = problem->b[i] * scale;
		self->lower[i] = lcp_lower(problem, i) / scale;
		self->upper[i] = lcp_upper(problem, i) / scale;
		self->x[i] = scalar_clamp(0, self->lower[i], self->upper[i]);
		self->state[i] = LCP_WAITING;
	}
	take_matrix(self, problem);
	lcp_core_refresh(self);
}

void lcp_core_refresh(struct lcp_core *self)
{
	for (uint32_t i = 0; i < self->count; i++) {
		double sum = self->b[i];
		for (uint32_t k = self->start[i]; k < self->start[i + 1]; k++)
			sum += self->value[k] * self->x[self->column[k]];
		self->w[i] = sum;
	}
}

double lcp_core_size(const struct lcp_core *self)
{
	return scalar_max(dense_max_abs(self->b, self->count), dense_max_abs(self->x, self->count));
}

/* The border of row i, into the factor; returns its Schur complement as computed. */
static double measure_border(struct lcp_core *self, uint32_t i)
{
	VALIDATE(i < self->count);
	VALIDATE(self->factor.size < self->capacity);
	uint32_t first = self->factor.size;
	for (uint32_t k = self->start[i]; k < self->start[i + 1]; k++)
		if (self->state[self->column[k]] == LCP_ACTIVE)
			first = MIN_OF(first, self->position[self->column[k]]);
	double *border = chol_envelope_border(&self->factor, first);
	dense_zero(border + first, self->factor.size - first);
	for (uint32_t k = self->start[i]; k < self->start[i + 1]; k++)
		if (self->state[self->column[k]] == LCP_ACTIVE)
			border[self->position[self->column[k]]] = self->value[k];
	return chol_envelope_schur(&self->factor, self->diagonal[i]);
}

/* A_ji − A_jC y to about 106 bits, for any row j of C or i itself. */
static double2 exact_remainder(const struct lcp_core *self, uint32_t j, uint32_t i, const double *y)
{
	VALIDATE(j < self->count && i < self->count);
	double2 sum = { 0, 0 };
	for (uint32_t k = self->start[j]; k < self->start[j + 1]; k++) {
		uint32_t c = self->column[k];
		if (c == i)
			sum = double2_add_double(sum, self->value[k]);
		else if (self->state[c] == LCP_ACTIVE)
			sum = double2_add(sum,
					  double2_product(self->value[k], -y[self->position[c]]));
	}
	return sum;
}

/* The Schur complement of row i in twice the digits, as (1, −y)ᵀ A (1, −y): its error is of second
 * order in that of y = A_CC⁻¹ A_Ci, which is refined twice before. */
static double exact_schur(struct lcp_core *self, uint32_t i)
{
	VALIDATE(i < self->count);
	VALIDATE(self->state[i] != LCP_ACTIVE);
	double *y = self->work, *rest = self->work + self->capacity;
	uint32_t size = self->factor.size;
	for (uint32_t k = 0; k < 2; k++) {
		for (uint32_t p = 0; p < size; p++)
			rest[p] = exact_remainder(self, self->order[p], i, y).hi;
		chol_envelope_solve(&self->factor, rest);
		dense_mul_add(y, rest, 1, size);
	}
	double2 schur = exact_remainder(self, i, i, y);
	for (uint32_t p = 0; p < size; p++) {
		double2 off = exact_remainder(self, self->order[p], i, y);
		schur = double2_add(schur, double2_mul_double(off, -y[p]));
	}
	return schur.hi;
}

/* The Schur complement `schur` of row i, computed again where double cannot tell it from 0; 0 if it is
 * rounding. y into work. */
static double significant_schur(struct lcp_core *self, uint32_t i, double schur)
{
	double size = 1;
	chol_envelope_border_solve(&self->factor, self->work);
	for (uint32_t p = 0; p < self->factor.size; p++)
		size += self->work[p] * self->work[p];
	if (scalar_abs(schur) > DOUBTFUL * size)
		return schur;
	if (scalar_abs(schur) <= NOTHING * size)
		return 0;
	schur = exact_schur(self, i);
	return scalar_abs(schur) > DEPENDENT * size ? schur : 0;
}

double lcp_core_exact(struct lcp_core *self, uint32_t i)
{
	ASSERT(i < self->count && self->state[i] != LCP_ACTIVE);
	(void)measure_border(self, i);
	chol_envelope_border_solve(&self->factor, self->work);
	return exact_schur(self, i);
}

double lcp_core_measure(struct lcp_core *self, uint32_t i)
{
	ASSERT(i < self->count);
	return significant_schur(self, i, measure_border(self, i));
}

void lcp_core_append(struct lcp_core *self, uint32_t i, double schur)
{
	ASSERT(i < self->count && self->state[i] != LCP_ACTIVE);
	ASSERT(self->factor.size < self->count);
	self->position[i] = self->factor.size;
	self->order[self->factor.size] = i;
	self->state[i] = LCP_ACTIVE;
	chol_envelope_append(&self->factor, schur);
}

bool lcp_core_activate(struct lcp_core *self, uint32_t i)
{
	ASSERT(i < self->count && self->state[i] != LCP_ACTIVE);
	double schur = measure_border(self, i);
	/* A large one is significant for any y. */
	if (!(schur > CLEAR))
		schur = significant_schur(self, i, schur);
	if (!(schur > 0))
		return false;
	lcp_core_append(self, i, schur);
	return true;
}

void lcp_core_deactivate(struct lcp_core *self, uint32_t i, enum lcp_state state)
{
	ASSERT(i < self->count && self->state[i] == LCP_ACTIVE);
	ASSERT(self->order[self->position[i]] == i);
	ASSERT(state != LCP_ACTIVE);
	uint32_t at = self->position[i];
	chol_envelope_delete(&self->factor, at, self->work);
	for (uint32_t p = at; p < self->factor.size; p++) {
		self->order[p] = self->order[p + 1];
		self->position[self->order[p]] = p;
	}
	self->state[i] = (uint8_t)state;
}

#ifdef CAIRN_VALIDATE
/* Whether order and position are inverse to each other and name exactly the active rows. */
static bool active_rows_match(const struct lcp_core *self)
{
	uint32_t active = 0;
	for (uint32_t i = 0; i < self->count; i++)
		active += self->state[i] == LCP_ACTIVE;
	for (uint32_t p = 0; p < self->factor.size; p++)
		if (self->state[self->order[p]] != LCP_ACTIVE ||
		    self->position[self->order[p]] != p)
			return false;
	return active == self->factor.size;
}
#endif

/* x_C := the solution of w_C = 0 for the given x of the other rows; w is computed again. */
static void correct_active(struct lcp_core *self)
{
	VALIDATE(self->factor.size <= self->count);
	VALIDATE(active_rows_match(self));
	lcp_core_refresh(self);
	for (uint32_t p = 0; p < self->factor.size; p++)
		self->work[p] = -self->w[self->order[p]];
	chol_envelope_solve(&self->factor, self->work);
	for (uint32_t p = 0; p < self->factor.size; p++)
		self->x[self->order[p]] += self->work[p];
	lcp_core_refresh(self);
}

/* The refinement of the head, then x of the active rows clamped to their bounds. */
static void refine_active(struct lcp_core *self)
{
	double before = __builtin_inf();
	lcp_core_refresh(self);
	for (uint32_t k = 0; k < REFINEMENTS; k++) {
		double worst = 0;
		for (uint32_t p = 0; p < self->factor.size; p++)
			worst = scalar_max(worst, scalar_abs(self->w[self->order[p]]));
		if (worst == 0 || !(worst < 0.5 * before))
			break;
		before = worst;
		correct_active(self);
	}
	VALIDATE(active_rows_match(self));
	for (uint32_t p = 0; p < self->factor.size; p++) {
		uint32_t i = self->order[p];
		self->x[i] = scalar_clamp(self->x[i], self->lower[i], self->upper[i]);
	}
	lcp_core_refresh(self);
}

/* Whether the conditions of row i hold to `slack`, for an x within its bounds. */
static bool lcp_core_holds(const struct lcp_core *self, uint32_t i, double slack)
{
	VALIDATE(i < self->count);
	bool low = self->x[i] <= self->lower[i], high = self->x[i] >= self->upper[i];
	return (self->w[i] >= -slack || high) && (self->w[i] <= slack || low);
}

void lcp_core_settle(struct lcp_core *self, uint32_t i)
{
	VALIDATE(i < self->count);
	bool low = self->x[i] <= self->lower[i], high = self->x[i] >= self->upper[i];
	self->state[i] = low && (!high || self->w[i] >= 0) ? LCP_LOWER
			 : high				   ? LCP_UPPER
							   : LCP_HELD;
}

void lcp_core_warm(struct lcp_core *self, const uint8_t *hint)
{
	for (uint32_t i = 0; i < self->count; i++) {
		if (hint[i] == LCP_LOWER && self->lower[i] >= -SCALAR_MAX)
			self->x[i] = self->lower[i];
		else if (hint[i] == LCP_UPPER && self->upper[i] <= SCALAR_MAX)
			self->x[i] = self->upper[i];
		else if (hint[i] == LCP_ACTIVE)
			(void)lcp_core_activate(self, i);
	}
	for (bool again = true; again;) {
		again = false;
		correct_active(self);
		for (uint32_t p = self->factor.size; p-- > 0;) {
			uint32_t i = self->order[p];
			double inside = scalar_clamp(self->x[i], self->lower[i], self->upper[i]);
			if (self->x[i] == inside)
				continue;
			self->x[i] = inside;
			lcp_core_deactivate(self, i, (enum lcp_state)LCP_WAITING);
			again = true;
		}
	}
	double slack = NOISE * lcp_core_size(self);
	for (uint32_t i = 0; i < self->count; i++)
		if (self->state[i] == LCP_WAITING && lcp_core_holds(self, i, slack))
			lcp_core_settle(self, i);
}

/* The next row to drive, or count: rows without bounds first, because they never leave the active
 * set; then by the rule. Ties: the least index. */
static uint32_t next_row(const struct lcp_core *self, double slack)
{
	uint32_t best = self->count;
	double most = slack;
	for (uint32_t i = 0; i < self->count; i++) {
		if (self->state[i] != LCP_WAITING &&
		    (self->rule == LCP_RULE_INDEX || self->state[i] == LCP_ACTIVE))
			continue;
		if (self->state[i] == LCP_WAITING && self->lower[i] < -SCALAR_MAX &&
		    self->upper[i] > SCALAR_MAX)
			return i;
		if (self->rule == LCP_RULE_INDEX) {
			best = MIN_OF(best, i);
		} else if (!lcp_core_holds(self, i, slack) && scalar_abs(self->w[i]) > most) {
			most = scalar_abs(self->w[i]);
			best = i;
		}
	}
	return best;
}

/* Sets rows that no longer hold to WAITING; returns their number. */
static uint32_t unsettle_rows(struct lcp_core *self, double slack)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < self->count; i++) {
		if (self->state[i] == LCP_ACTIVE || lcp_core_holds(self, i, slack))
			continue;
		self->state[i] = LCP_WAITING;
		count++;
	}
	return count;
}

void lcp_core_run(struct lcp_core *self, uint32_t rounds_max)
{
	ASSERT(rounds_max > 0);
	for (uint32_t round = 0; round < rounds_max; round++) {
		self->result.rounds = round + 1;
		for (;;) {
			double slack = scalar_max(NOISE * lcp_core_size(self), self->floor);
			uint32_t d = next_row(self, slack);
			if (d == self->count)
				break;
			if (lcp_core_holds(self, d, slack))
				lcp_core_settle(self, d);
			else if (!lcp_core_drive(self, d)) {
				refine_active(self);
				return;
			}
			lcp_core_narrow(self);
		}
		refine_active(self);
		if (unsettle_rows(self, 0.1 * self->tolerance * lcp_core_size(self)) == 0)
			break;
	}
}

void lcp_core_end(struct lcp_core *self, double *x, uint8_t *state)
{
	ASSERT(self->count <= self->capacity);
	for (uint32_t i = 0; i < self->count; i++) {
		x[i] = self->x[i] * self->scale[i];
		if (state == NULL)
			continue;
		if (self->state[i] == LCP_WAITING)
			lcp_core_settle(self, i);
		state[i] = self->state[i];
	}
}
