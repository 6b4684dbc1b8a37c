/* lp_basis.c: the basis of the simplex method, and the values and prices that follow from it.
 *
 * The rows are A x − s = 0 with s the activities, so with B the basic columns of [A −1] and N the
 * others, B x_B = −N x_N; prices d = c − [A −1]ᵀ y with Bᵀ y = c_B.
 */
#include "server/engine/linalg/dense.h"
#include "server/engine/solvers/lp_simplex.h"

void lp_settle(struct lp_dual_simplex *self, uint32_t j)
{
	VALIDATE(j < lp_variables(self));
	bool low = lp_has_low(self, j), high = lp_has_high(self, j);
	if (self->place[j] == LP_HIGH && !high)
		self->place[j] = LP_LOW;
	if (self->place[j] == LP_LOW && !low)
		self->place[j] = high ? LP_HIGH : LP_BETWEEN;
	if (self->place[j] == LP_BETWEEN && (low || high))
		self->place[j] =
			low && (!high || self->x[j] - self->low[j] <= self->high[j] - self->x[j])
				? LP_LOW
				: LP_HIGH;
	self->x[j] = self->place[j] == LP_LOW	 ? self->low[j]
		     : self->place[j] == LP_HIGH ? self->high[j]
						 : 0;
}

#ifdef CAIRN_VALIDATE
/* Whether the head names each basic variable once: as many basic places as rows, all heads basic. */
static bool basis_is_consistent(const struct lp_dual_simplex *self)
{
	uint32_t basic = 0;
	for (uint32_t j = 0; j < lp_variables(self); j++)
		basic += self->place[j] == LP_BASIC;
	for (uint32_t i = 0; i < self->matrix.rows; i++)
		if (self->head[i] >= lp_variables(self) || self->place[self->head[i]] != LP_BASIC)
			return false;
	return basic == self->matrix.rows;
}
#endif

void lp_basis_start(struct lp_dual_simplex *self, const uint8_t *places)
{
	uint32_t count = 0, columns = self->matrix.columns, rows = self->matrix.rows;
	for (uint32_t j = 0; j < lp_variables(self); j++) {
		uint8_t place = places != NULL ? places[j] : j < columns ? LP_LOW : LP_BASIC;
		self->place[j] = place <= LP_BETWEEN ? place : LP_LOW;
		self->x[j] = 0;
	}
	for (uint32_t j = 0; j < lp_variables(self); j++) {
		if (self->place[j] != LP_BASIC)
			continue;
		if (count < rows)
			self->head[count++] = j;
		else
			self->place[j] = LP_LOW;
	}
	for (uint32_t i = 0; count < rows; i++)
		if (self->place[columns + i] != LP_BASIC) {
			self->place[columns + i] = LP_BASIC;
			self->head[count++] = columns + i;
		}
	ASSERT(count == rows);
	VALIDATE(basis_is_consistent(self));
	for (uint32_t j = 0; j < lp_variables(self); j++)
		if (self->place[j] != LP_BASIC)
			lp_settle(self, j);
	for (uint32_t i = 0; i < rows; i++)
		self->weight[i] = 1;
}

/* v −= (column of variable j) × s. */
void lp_subtract_column(const struct lp_dual_simplex *self, uint32_t j, double s, double *v)
{
	VALIDATE(j < lp_variables(self));
	const struct lp_matrix *a = &self->matrix;
	if (j >= a->columns) {
		v[j - a->columns] += s;
		return;
	}
	for (uint32_t k = a->starts[j]; k < a->starts[j + 1]; k++)
		v[a->index[k]] -= a->values[k] * s;
}

/* Computes basic x from the others, with one step of iterative refinement. */
static void compute_basic(struct lp_dual_simplex *self)
{
	double *v = self->tau;
	for (uint32_t pass = 0; pass < 2; pass++) {
		dense_zero(v, self->matrix.rows);
		for (uint32_t j = 0; j < lp_variables(self); j++)
			if (self->x[j] != 0 && (pass == 1 || self->place[j] != LP_BASIC))
				lp_subtract_column(self, j, self->x[j], v);
		lp_factor_solve(&self->factor, v);
		for (uint32_t i = 0; i < self->matrix.rows; i++)
			self->x[self->head[i]] = pass == 0 ? v[i] : self->x[self->head[i]] + v[i];
	}
}

/* Sets the tableau's row to 0. */
static void clear_row(struct lp_dual_simplex *self)
{
	for (uint32_t k = 0; k < self->touched_count; k++)
		self->tableau[self->touched[k]] = 0;
	VALIDATE(self->touched_count <= lp_variables(self));
	self->touched_count = 0;
}

bool lp_refactor(struct lp_dual_simplex *self)
{
	uint32_t replaced, rows = self->matrix.rows;
	uint32_t *before = self->candidates;
	double *weight = self->tableau;
	clear_row(self);
	/* The weights belong to variables, and head is reordered below. The tableau's row is no longer
	 * needed here, so its memory serves. */
	for (uint32_t i = 0; i < rows; i++) {
		before[i] = self->head[i];
		weight[self->head[i]] = self->weight[i];
	}
	self->result.refactorings++;
	bool good = lp_factor_make(&self->factor, &self->matrix, self->head, &replaced);
	if (good && replaced > 0) {
		self->result.fallbacks += replaced;
		for (uint32_t i = 0; i < rows; i++)
			self->place[before[i]] = LP_LOW;
		for (uint32_t i = 0; i < rows; i++)
			self->place[self->head[i]] = LP_BASIC;
		for (uint32_t i = 0; i < rows; i++)
			if (self->place[before[i]] != LP_BASIC)
				lp_settle(self, before[i]);
	}
	for (uint32_t i = 0; i < rows; i++) {
		double w = weight[self->head[i]];
		self->weight[i] = w > 0 ? w : 1;
	}
	for (uint32_t i = 0; i < rows; i++)
		weight[before[i]] = weight[self->head[i]] = 0;
	VALIDATE(!good || basis_is_consistent(self));
	if (good)
		compute_basic(self);
	return good;
}

void lp_duals(struct lp_dual_simplex *self, const double *cost, double *dual)
{
	for (uint32_t i = 0; i < self->matrix.rows; i++)
		dual[i] = cost[self->head[i]];
	lp_factor_solve_transposed(&self->factor, dual);
}

void lp_reprice(struct lp_dual_simplex *self)
{
	const struct lp_matrix *a = &self->matrix;
	double *y = self->rho;
	lp_duals(self, self->shifted, y);
	for (uint32_t j = 0; j < a->columns; j++) {
		double sum = self->shifted[j];
		for (uint32_t k = a->starts[j]; k < a->starts[j + 1]; k++)
			sum -= a->values[k] * y[a->index[k]];
		self->price[j] = self->place[j] == LP_BASIC ? 0 : sum;
	}
	for (uint32_t i = 0; i < a->rows; i++) {
		uint32_t j = a->columns + i;
		self->price[j] = self->place[j] == LP_BASIC ? 0 : self->shifted[j] + y[i];
	}
}

void lp_solve_column(struct lp_dual_simplex *self, uint32_t j, double *column)
{
	VALIDATE(j < lp_variables(self));
	dense_zero(column, self->matrix.rows);
	lp_subtract_column(self, j, -1, column);
	lp_factor_solve_entering(&self->factor, column);
}

/* Rows of B⁻¹ with more of their entries than this multiply with A by columns, which costs all of A but less
 * an entry, others by rows. */
#define DENSE_ROW 0.25

static uint32_t count_entries(const double *v, uint32_t count)
{
	uint32_t found = 0;
	for (uint32_t i = 0; i < count; i++)
		found += v[i] != 0;
	return found;
}

static void touch_variable(struct lp_dual_simplex *self, uint32_t j, double value)
{
	VALIDATE(self->touched_count < lp_variables(self));
	self->touched[self->touched_count++] = j;
	self->tableau[j] = value;
}

static void multiply_by_columns(struct lp_dual_simplex *self)
{
	const struct lp_matrix *a = &self->matrix;
	VALIDATE(self->touched_count == 0);
	for (uint32_t j = 0; j < a->columns; j++) {
		double sum = 0;
		if (self->place[j] == LP_BASIC)
			continue;
		for (uint32_t k = a->starts[j]; k < a->starts[j + 1]; k++)
			sum += a->values[k] * self->rho[a->index[k]];
		if (sum != 0)
			touch_variable(self, j, sum);
	}
	for (uint32_t i = 0; i < a->rows; i++)
		if (self->rho[i] != 0 && self->place[a->columns + i] != LP_BASIC)
			touch_variable(self, a->columns + i, -self->rho[i]);
}

/* Entries of basic variables remain 0, because no caller reads them. */
void lp_solve_row(struct lp_dual_simplex *self, uint32_t row)
{
	ASSERT(row < self->matrix.rows);
	uint32_t columns = self->matrix.columns;
	clear_row(self);
	dense_zero(self->rho, self->matrix.rows);
	self->rho[row] = 1;
	lp_factor_solve_leaving(&self->factor, self->rho);
	if (count_entries(self->rho, self->matrix.rows) > DENSE_ROW * self->matrix.rows) {
		multiply_by_columns(self);
		return;
	}
	/* By rows of A in order, so each entry's sum has the order of its column. */
	for (uint32_t i = 0; i < self->matrix.rows; i++) {
		double r = self->rho[i];
		if (r == 0)
			continue;
		for (uint32_t k = self->row_starts[i]; k < self->row_starts[i + 1]; k++) {
			uint32_t j = self->row_columns[k];
			if (self->place[j] == LP_BASIC)
				continue;
			if (!self->listed[j]) {
				self->listed[j] = true;
				self->touched[self->touched_count++] = j;
			}
			self->tableau[j] += r * self->row_values[k];
		}
		if (self->place[columns + i] != LP_BASIC) {
			self->touched[self->touched_count++] = columns + i;
			self->tableau[columns + i] = -r;
		}
	}
	for (uint32_t k = 0; k < self->touched_count; k++)
		self->listed[self->touched[k]] = false;
}

bool lp_exchange(struct lp_dual_simplex *self, uint32_t row, uint32_t in)
{
	uint32_t out = self->head[row];
	bool updated = lp_factor_update(&self->factor, row, self->column[row]);
	self->head[row] = in;
	self->place[in] = LP_BASIC;
	self->price[in] = 0;
	ASSERT(self->place[out] != LP_BASIC);
	self->result.pivots++;
	return updated;
}

void lp_move_prices(struct lp_dual_simplex *self, uint32_t in, uint32_t out)
{
	double step = self->price[in] / self->tableau[in];
	for (uint32_t k = 0; k < self->touched_count; k++) {
		uint32_t j = self->touched[k];
		self->price[j] -= step * self->tableau[j];
	}
	self->price[in] = 0;
	self->price[out] = -step;
}

double lp_basic_violation(const struct lp_dual_simplex *self)
{
	double worst = 0;
	for (uint32_t i = 0; i < self->matrix.rows; i++) {
		uint32_t j = self->head[i];
		double below = self->low[j] - self->x[j], above = self->x[j] - self->high[j];
		if (lp_has_low(self, j) && below > lp_slack(self, self->low[j]))
			worst = scalar_max(below, worst);
		if (lp_has_high(self, j) && above > lp_slack(self, self->high[j]))
			worst = scalar_max(above, worst);
	}
	return worst;
}

enum lp_outcome lp_after_exchange(struct lp_dual_simplex *self, bool updated)
{
	if (updated)
		return LP_GOING;
	if (!lp_refactor(self))
		return LP_FULL;
	lp_reprice(self);
	return LP_GOING;
}

enum lp_outcome lp_try_again(struct lp_dual_simplex *self)
{
	self->result.fallbacks++;
	return self->factor.updates == 0 ? LP_STUCK : lp_after_exchange(self, false);
}

void lp_note_progress(struct lp_dual_simplex *self, bool progress)
{
	self->stalls = progress ? 0 : self->stalls + 1;
	self->least_index = self->stalls > LP_STALLS_MAX + self->matrix.rows;
}
