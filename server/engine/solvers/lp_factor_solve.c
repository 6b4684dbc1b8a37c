/* lp_factor_solve.c: solving with the factor of a basis, and its update after a pivot.
 *
 * After k pivots B = L T_1 … T_k U. Let column p of B be replaced by a. With the spike
 * b = (L T_1 … T_k)⁻¹ a and the row e = U⁻ᵀ e_p,
 *
 *   B' = L T_1 … T_k (U + (b − U e_p) e_pᵀ) = L T_1 … T_k T U,    T = I + (b − U e_p) eᵀ
 *   T⁻¹ = I − (b − U e_p) eᵀ / μ,    μ = 1 + eᵀ(b − U e_p) = eᵀ b, the pivot
 *
 * U stays as it is, as L does. Both vectors come out of solves that a pivot needs anyway: b of the entering
 * column before U is applied, e of the leaving row after it. They are as sparse as the factor, where the
 * solved column of the product form (B' = B E) is as dense as B⁻¹.
 *
 * A factor serves until solves have spent as much work on its updates as its making did: the work of a pivot,
 * (F + a n²/2) / n for a factor of F and updates of a each, is least there. Work is counted in entries.
 *
 * Vectors are dense, but only what is not zero is worked on: L and U by columns for B⁻¹, by rows for B⁻ᵀ.
 */
#include "server/engine/solvers/lp_factor.h"

#include "server/engine/linalg/dense.h"
#include "server/engine/math/scalar.h"

/* Of 1 + |pivot|: by how much the pivot by row and by update may differ. More needs a new factor. */
#define MISMATCH 1e-8
/* Work on an entry of a factor that is made, in entries of an update that is applied: measured. */
#define FACTOR_PRICE 4

/* v := T⁻¹ v with column `c` and row `e`, or v := T⁻ᵀ v with the two exchanged. */
static void apply_update(struct lp_factor *self, uint32_t u, bool transposed, double *v)
{
	VALIDATE(u < self->updates);
	const uint32_t *starts = self->update_starts + 2 * u;
	uint32_t from = transposed ? starts[0] : starts[1], to = transposed ? starts[1] : starts[2];
	double sum = 0;
	for (uint32_t k = from; k < to; k++)
		sum += self->update_value[k] * v[self->update_index[k]];
	self->update_work += to - from;
	if (sum == 0)
		return;
	sum /= self->update_pivot[u];
	from = transposed ? starts[1] : starts[0];
	to = transposed ? starts[2] : starts[1];
	for (uint32_t k = from; k < to; k++)
		v[self->update_index[k]] -= self->update_value[k] * sum;
	self->update_work += to - from;
}

/* v := (L T_1 … T_k)⁻¹ v. */
static void solve_lower(struct lp_factor *self, double *v)
{
	VALIDATE(self->lower_first <= self->rows);
	for (uint32_t step = self->lower_first; step < self->rows; step++) {
		double x = v[self->pivot_row[step]];
		if (x == 0)
			continue;
		for (uint32_t k = self->lower_starts[step]; k < self->lower_starts[step + 1]; k++)
			v[self->lower_index[k]] -= self->lower_value[k] * x;
	}
	for (uint32_t u = 0; u < self->updates; u++)
		apply_update(self, u, false, v);
}

static void solve_upper(const struct lp_factor *self, double *v)
{
	VALIDATE(self->rows <= self->rows_max);
	for (uint32_t step = self->rows; step-- > 0;) {
		uint32_t row = self->pivot_row[step];
		if (v[row] == 0)
			continue;
		double x = v[row] /= self->upper_diagonal[step];
		for (uint32_t k = self->upper_starts[step]; k < self->upper_starts[step + 1]; k++)
			v[self->upper_index[k]] -= self->upper_value[k] * x;
	}
}

static void solve_upper_transposed(const struct lp_factor *self, double *v)
{
	VALIDATE(self->rows <= self->rows_max);
	for (uint32_t step = 0; step < self->rows; step++) {
		uint32_t row = self->pivot_row[step];
		if (v[row] == 0)
			continue;
		double x = v[row] /= self->upper_diagonal[step];
		for (uint32_t k = self->upper_row_starts[row]; k < self->upper_row_starts[row + 1];
		     k++)
			v[self->upper_row_index[k]] -= self->upper_row_value[k] * x;
	}
}

static void solve_lower_transposed(struct lp_factor *self, double *v)
{
	for (uint32_t u = self->updates; u-- > 0;)
		apply_update(self, u, true, v);
	for (uint32_t step = self->rows; step-- > self->lower_first;) {
		uint32_t row = self->pivot_row[step];
		double x = v[row];
		if (x == 0)
			continue;
		for (uint32_t k = self->lower_row_starts[row]; k < self->lower_row_starts[row + 1];
		     k++)
			v[self->lower_row_index[k]] -= self->lower_row_value[k] * x;
	}
}

void lp_factor_solve(struct lp_factor *self, double *v)
{
	solve_lower(self, v);
	solve_upper(self, v);
}

void lp_factor_solve_transposed(struct lp_factor *self, double *v)
{
	solve_upper_transposed(self, v);
	solve_lower_transposed(self, v);
}

void lp_factor_solve_entering(struct lp_factor *self, double *v)
{
	solve_lower(self, v);
	dense_copy(self->spike, v, self->rows);
	solve_upper(self, v);
}

void lp_factor_solve_leaving(struct lp_factor *self, double *v)
{
	solve_upper_transposed(self, v);
	dense_copy(self->unit, v, self->rows);
	solve_lower_transposed(self, v);
}

/* Appends the entries of a vector. False: there are more than fill_max. */
static bool append_entries(struct lp_factor *self, const double *v, uint32_t *at)
{
	for (uint32_t i = 0; i < self->rows; i++) {
		if (v[i] == 0)
			continue;
		if (*at == self->fill_max)
			return false;
		self->update_index[*at] = i;
		self->update_value[(*at)++] = v[i];
	}
	return true;
}

bool lp_factor_update(struct lp_factor *self, uint32_t row, double pivot)
{
	ASSERT(row < self->rows);
	ASSERT(pivot != 0);
	if (self->updates == LP_FACTOR_UPDATES_MAX ||
	    self->update_work > FACTOR_PRICE * self->factor_work)
		return false;
	uint32_t step = self->step_of[row], at = self->update_starts[2 * self->updates];
	self->spike[row] -= self->upper_diagonal[step];
	for (uint32_t k = self->upper_starts[step]; k < self->upper_starts[step + 1]; k++)
		self->spike[self->upper_index[k]] -= self->upper_value[k];
	double mu = 1 + dense_dot(self->spike, self->unit, self->rows);
	if (!(scalar_abs(mu - pivot) <= MISMATCH * (1 + scalar_abs(pivot))))
		return false;
	if (!append_entries(self, self->spike, &at))
		return false;
	self->update_starts[2 * self->updates + 1] = at;
	if (!append_entries(self, self->unit, &at))
		return false;
	self->update_pivot[self->updates] = pivot;
	self->update_starts[2 * ++self->updates] = at;
	return true;
}
