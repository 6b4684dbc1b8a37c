/* lcp_friction_drive.c: drives one row of a problem with friction until it holds (I-05…I-07).
 *
 * Unknowns are the normals and joints that are on, and the tangents that stick. A tangent at its limit
 * is tied to its normal: Δx_t = ±μ Δx_n, so the column of the normal is A e_n ± μ A e_t. The reduced
 * matrix is unsymmetric as soon as one tangent is tied. It is computed and factored (LU, within the
 * band that contacts along a chain leave) for each direction.
 *
 * A step ends at the first of these events; the driven row's own end wins ties, then the least index:
 *   on normal       Δx < 0                    x = 0        → off, with its tangents
 *   off normal      Δw < 0                    w = 0        → on; its tangents by the sign of w
 *   sticking        ±Δx − μ Δx_n > 0          ±x = μ x_n   → at its limit
 *   at its limit    Δw of the wrong sign      w = 0        → sticks
 *   held            Δw ≠ 0                    at once      → sticks, or on
 *   driven normal                             w = 0        → on, done
 *   driven tangent                            w = 0        → sticks, done
 *                                             ±x = μ x_n   → at its limit, done
 * Corrected against the print: the signs at the limits; saturation on both sides while x_n changes
 * too; the own normal of a driven tangent stays among the unknowns.
 *
 * Failures. If the reduced matrix is singular (redundant contacts), its diagonal is regularised and the
 * direction refined; if it has no factor even then (entries near the end of the range of double), the
 * order fails. The order also fails at this contact if the pivots are used up, if steps of length 0
 * repeat, or if no event ends the step (a ray).
 */
#include "server/engine/linalg/dense.h"
#include "server/engine/math/scalar.h"
#include "server/engine/solvers/lcp_friction.h"

#define NOISE 0x1p-40	 /* of the largest |Δx|: smaller changes are rounding */
#define SINGULAR 0x1p-36 /* of the diagonal: a smaller pivot is rounding */
#define REGULAR 1e-9	 /* of the diagonal, added to a singular matrix */
#define TIE 1e-9	 /* of the step: the driven row's own end wins if it is this close */

struct friction_step {
	uint32_t row; /* whose event ends the step; UINT32_MAX: none */
	uint8_t to;   /* the state that this row gets */
	bool goal;    /* the event is the driven row's own end */
	double length, noise;
};

/* x_t / x_n of a tied tangent: +μ or −μ; 0 if tangent t is not tied. */
static double tied_coefficient(const struct lcp_friction *self, uint32_t t)
{
	VALIDATE(t < self->count);
	if (self->kind[t] == FRICTION_FORWARD || self->state[t] == FRICTION_AT_MAX)
		return self->friction[t];
	if (self->kind[t] == FRICTION_BACKWARD || self->state[t] == FRICTION_AT_MIN)
		return -self->friction[t];
	return 0;
}

/* One past the last tangent of normal n. */
static uint32_t tangents_end(const struct lcp_friction *self, uint32_t n)
{
	VALIDATE(n < self->count && self->normal[n] == n);
	uint32_t end = n + 1;
	while (end < self->count && self->normal[end] == n)
		end++;
	return end;
}

/* Lists the tangents tied to unknown normals, by columns of the matrix; returns their number. */
static uint32_t list_ties(struct lcp_friction *self)
{
	uint32_t count = 0;
	for (uint32_t p = 0; p < self->unknown_count; p++) {
		uint32_t n = self->unknown[p];
		if (self->kind[n] != FRICTION_NORMAL)
			continue;
		for (uint32_t t = n + 1, end = tangents_end(self, n); t < end; t++) {
			double value = tied_coefficient(self, t);
			if (value == 0)
				continue;
			self->tie_column[count] = p;
			self->tie_row[count] = t;
			self->tie_value[count++] = value;
		}
	}
	ASSERT(count <= self->count);
	return count;
}

enum factor {
	FACTOR_NONE, /* the matrix has no factor */
	FACTOR_POOR, /* a pivot is no larger than rounding */
	FACTOR_GOOD,
};

/* Computes and factors the reduced matrix, with `extra` added to its diagonal. */
static enum factor factor_unknowns(struct lcp_friction *self, double extra)
{
	uint32_t k = self->unknown_count, ties = list_ties(self);
	for (uint32_t r = 0; r < k; r++) {
		const double *row = self->a + (size_t)self->unknown[r] * self->count;
		double *to = self->matrix + (size_t)r * k;
		for (uint32_t c = 0; c < k; c++)
			to[c] = row[self->unknown[c]];
		for (uint32_t i = 0; i < ties; i++)
			to[self->tie_column[i]] += self->tie_value[i] * row[self->tie_row[i]];
		to[r] += extra;
	}
	if (!lu_factor(self->matrix, k, k, self->pivots))
		return FACTOR_NONE;
	for (uint32_t r = 0; r < k; r++)
		if (!(scalar_abs(self->matrix[r * k + r]) > SINGULAR))
			return FACTOR_POOR;
	return FACTOR_GOOD;
}

/* Lists the unknowns by index, without row d, and factors their matrix. False: it has no factor,
 * because its numbers lie too far apart. */
static bool prepare_unknowns(struct lcp_friction *self, uint32_t d)
{
	enum factor made;
	self->unknown_count = 0;
	for (uint32_t i = 0; i < self->count; i++)
		if (self->state[i] == FRICTION_ON && i != d)
			self->unknown[self->unknown_count++] = i;
	ASSERT(self->unknown_count <= self->count);
	made = factor_unknowns(self, 0);
	self->regularised = made != FACTOR_GOOD;
	if (!self->regularised)
		return true;
	self->result.regularisations++;
	double extra = REGULAR;
	while ((made = factor_unknowns(self, extra)) != FACTOR_GOOD && extra < 1)
		extra *= 16;
	return made != FACTOR_NONE;
}

/* dw := A dx. */
static void compute_friction_changes(struct lcp_friction *self)
{
	dense_zero(self->dw, self->count);
	for (uint32_t j = 0; j < self->count; j++)
		if (self->dx[j] != 0)
			dense_mul_add(self->dw + self->from[j],
				      self->a + (size_t)j * self->count + self->from[j],
				      self->dx[j], self->to[j] - self->from[j]);
}

/* x of tied tangents := ±μ times that of their normals; x or dx. */
static void follow_ties(struct lcp_friction *self, double *x)
{
	for (uint32_t t = 0; t < self->count; t++) {
		double by = self->normal[t] != t ? tied_coefficient(self, t) : 0;
		if (by != 0)
			x[t] = by * x[self->normal[t]];
	}
}

/* dx += the solution of Δw = 0 on the unknowns for the present dw; dw follows. */
static void follow_unknowns(struct lcp_friction *self)
{
	VALIDATE(self->unknown_count <= self->count);
	for (uint32_t p = 0; p < self->unknown_count; p++)
		self->right[p] = -self->dw[self->unknown[p]];
	lu_solve(self->matrix, self->unknown_count, self->unknown_count, self->pivots, self->right);
	for (uint32_t p = 0; p < self->unknown_count; p++)
		self->dx[self->unknown[p]] += self->right[p];
	follow_ties(self, self->dx);
	compute_friction_changes(self);
}

/* Finds dx and dw for Δx_d = sigma. Returns the size below which their entries are rounding; below 0:
 * there is no factor and so no direction. */
static double find_friction_direction(struct lcp_friction *self, uint32_t d, double sigma)
{
	VALIDATE(sigma == 1 || sigma == -1);
	if (!prepare_unknowns(self, d))
		return -1;
	dense_zero(self->dx, self->count);
	self->dx[d] = sigma;
	follow_ties(self, self->dx);
	compute_friction_changes(self);
	follow_unknowns(self);
	for (uint32_t k = 0; self->regularised && k < 6; k++)
		follow_unknowns(self);
	double most = 1;
	for (uint32_t p = 0; p < self->unknown_count; p++) {
		most = scalar_max(most, scalar_abs(self->dx[self->unknown[p]]));
		if (!self->regularised)
			self->dw[self->unknown[p]] = 0;
	}
	return NOISE * most;
}

/* The step ends at `row` if that comes before its present end. */
static void offer_state(struct friction_step *step, uint32_t row, uint8_t to, double length)
{
	length = scalar_max(length, 0);
	if (length < step->length)
		*step = (struct friction_step){ row, to, false, length, step->noise };
}

static void offer_tangent(const struct lcp_friction *self, struct friction_step *step, uint32_t t)
{
	VALIDATE(self->kind[t] == FRICTION_STATIC);
	uint32_t n = self->normal[t];
	double limit = self->friction[t] * self->x[n], grow = self->friction[t] * self->dx[n];
	double up = self->dx[t] - grow, down = -self->dx[t] - grow;
	if (up > step->noise)
		offer_state(step, t, FRICTION_AT_MAX, (limit - self->x[t]) / up);
	if (down > step->noise)
		offer_state(step, t, FRICTION_AT_MIN, (limit + self->x[t]) / down);
}

static void offer_row(const struct lcp_friction *self, struct friction_step *step, uint32_t i)
{
	VALIDATE(i < self->count);
	double dx = self->dx[i], dw = self->dw[i];
	bool moves = scalar_abs(dw) > step->noise;
	switch (self->state[i]) {
	case FRICTION_HELD:
		if (moves)
			offer_state(step, i, FRICTION_ON, 0);
		if (self->kind[i] == FRICTION_STATIC)
			offer_tangent(self, step, i);
		break;
	case FRICTION_ON:
		if (self->kind[i] == FRICTION_STATIC)
			offer_tangent(self, step, i);
		else if (self->kind[i] == FRICTION_NORMAL && dx < -step->noise)
			offer_state(step, i, FRICTION_OFF, -self->x[i] / dx);
		break;
	case FRICTION_OFF:
		if (self->kind[i] == FRICTION_NORMAL && moves && dw < 0)
			offer_state(step, i, FRICTION_ON, -self->w[i] / dw);
		break;
	case FRICTION_AT_MAX:
		if (self->kind[i] == FRICTION_STATIC && moves && dw > 0)
			offer_state(step, i, FRICTION_ON, -self->w[i] / dw);
		break;
	case FRICTION_AT_MIN:
		if (self->kind[i] == FRICTION_STATIC && moves && dw < 0)
			offer_state(step, i, FRICTION_ON, -self->w[i] / dw);
		break;
	}
}

/* The driven row's own ends win ties: first the goal w = 0, then the limit of a tangent. */
static void offer_goal(const struct lcp_friction *self, struct friction_step *step, uint32_t d,
		       double sigma)
{
	VALIDATE(sigma == 1 || sigma == -1);
	double gain = sigma * self->dw[d], room = __builtin_inf();
	uint8_t limit = sigma > 0 ? FRICTION_AT_MAX : FRICTION_AT_MIN;
	if (self->kind[d] == FRICTION_STATIC) {
		uint32_t n = self->normal[d];
		double grow = sigma * self->dx[d] - self->friction[d] * self->dx[n];
		double left = self->friction[d] * self->x[n] - sigma * self->x[d];
		if (grow > step->noise)
			room = scalar_max(left / grow, 0);
	}
	if (room <= step->length * (1 + TIE) && room <= SCALAR_MAX)
		*step = (struct friction_step){ d, limit, true, room, step->noise };
	double goal = gain > step->noise ? scalar_abs(self->w[d]) / gain : __builtin_inf();
	if (goal <= step->length * (1 + TIE) && goal <= SCALAR_MAX)
		*step = (struct friction_step){ d, FRICTION_ON, true, goal, step->noise };
}

/* Gives step->row its new state, and its tangents theirs. */
static void enter_state(struct lcp_friction *self, const struct friction_step *step)
{
	VALIDATE(step->row < self->count);
	uint32_t i = step->row;
	self->state[i] = step->to;
	if (step->to == FRICTION_ON)
		self->w[i] = 0;
	if (step->to == FRICTION_OFF)
		self->x[i] = 0;
	if (self->kind[i] != FRICTION_NORMAL || step->goal)
		return;
	for (uint32_t t = i + 1, end = tangents_end(self, i); t < end; t++) {
		if (step->to == FRICTION_OFF || self->kind[t] != FRICTION_STATIC) {
			self->state[t] = FRICTION_OFF;
			self->x[t] = self->kind[t] == FRICTION_STATIC
					     ? 0
					     : tied_coefficient(self, t) * self->x[i];
			continue;
		}
		double small = step->noise * lcp_friction_size(self);
		self->state[t] = self->w[t] < -small  ? FRICTION_AT_MAX
				 : self->w[t] > small ? FRICTION_AT_MIN
						      : FRICTION_HELD;
	}
}

/* The order fails at row d; returns false. */
static bool fail_order(struct lcp_friction *self, uint32_t d, bool ray, enum solver_status status)
{
	ASSERT(d < self->count);
	ASSERT(status != SOLVER_SOLVED);
	self->stuck = self->normal[d];
	self->ray = ray;
	self->result.status = status;
	return false;
}

bool lcp_friction_drive(struct lcp_friction *self, uint32_t d)
{
	ASSERT(d < self->count);
	double sigma = self->w[d] < 0 ? 1 : -1;
	uint32_t still = 0;
	while (self->state[d] == FRICTION_WAITING) {
		if (self->result.pivots >= self->pivots_max || still > 3 * self->count + 8)
			return fail_order(self, d, false, SOLVER_LIMIT);
		struct friction_step step = { UINT32_MAX, 0, false, __builtin_inf(), 0 };
		step.noise = find_friction_direction(self, d, sigma);
		if (step.noise < 0)
			return fail_order(self, d, false, SOLVER_INEXACT);
		for (uint32_t i = 0; i < self->count; i++)
			if (i != d)
				offer_row(self, &step, i);
		offer_goal(self, &step, d, sigma);
		if (!(step.length <= SCALAR_MAX)) {
			if (scalar_abs(self->w[d]) > 1e-11 * lcp_friction_size(self))
				return fail_order(self, d, true, SOLVER_UNBOUNDED);
			self->state[d] = FRICTION_HELD;
			return true;
		}
		ASSERT(step.row < self->count && step.length >= 0);
		self->result.pivots++;
		still = step.length > 0 ? 0 : still + 1;
		dense_mul_add(self->x, self->dx, step.length, self->count);
		dense_mul_add(self->w, self->dw, step.length, self->count);
		enter_state(self, &step);
		follow_ties(self, self->x);
	}
	return true;
}

void lcp_friction_correct(struct lcp_friction *self)
{
	if (!prepare_unknowns(self, UINT32_MAX))
		return;
	for (uint32_t k = 0; k < (self->regularised ? 8u : 3u); k++) {
		dense_mul_vec(self->a, self->count, self->count, self->count, self->x, self->w);
		dense_mul_add(self->w, self->b, 1, self->count);
		for (uint32_t p = 0; p < self->unknown_count; p++)
			self->right[p] = -self->w[self->unknown[p]];
		lu_solve(self->matrix, self->unknown_count, self->unknown_count, self->pivots,
			 self->right);
		for (uint32_t p = 0; p < self->unknown_count; p++)
			self->x[self->unknown[p]] += self->right[p];
		follow_ties(self, self->x);
	}
}

double lcp_friction_size(const struct lcp_friction *self)
{
	return scalar_max(dense_max_abs(self->b, self->count), dense_max_abs(self->x, self->count));
}
