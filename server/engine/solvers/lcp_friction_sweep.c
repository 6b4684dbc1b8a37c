/* lcp_friction_sweep.c: projected Gauss-Seidel with momentum.
 *
 * A sweep makes the conditions of each row hold in turn, contact by contact, with the bounds from the
 * present x of its normal, and updates u. The rows of a contact act on the same bodies, so their three
 * speeds are computed at once, and the effect of one row on the next is known beforehand (A's entries
 * between them). The chain of sums that depends on u is therefore that of a contact, not of a row.
 *
 * Between two sweeps x and u are extrapolated by a share of the last change. The share grows as in
 * Nesterov (1983) up to `momentum`, and restarts if a sweep's change is much longer than the one
 * before. In heaps of 5000 rows 100 such sweeps reach the error of 300 plain ones. In some heaps
 * momentum oscillates, so the caller reduces it if nothing is gained. Tried without gain (2026-11):
 * over-relaxed rows, symmetric sweeps, Anderson's combinations of 5 and 10 sweeps (the active rows
 * change too often).
 */
#include "server/engine/solvers/lcp_friction_sweep.h"

#include <string.h>

#include "server/engine/solvers/lcp_sparse_core.h"

#define LONGER 4 /* of the square of the last change: momentum restarts */

enum { GROUP = 3 };

typedef double pair __attribute__((vector_size(16)));

/* The number of rows that are processed together from row `first` on: those of its contact that act
 * on the same bodies in the same order, at most GROUP. */
static uint32_t group_at(const struct lcp_sparse *self, uint32_t first)
{
	VALIDATE(first < self->rows);
	uint32_t count = 1, entries = self->start[first + 1] - self->start[first];
	while (count < GROUP && first + count < self->rows &&
	       self->normal[first + count] == first) {
		uint32_t i = first + count;
		if (self->start[i + 1] - self->start[i] != entries ||
		    memcmp(self->at + self->start[i], self->at + self->start[first],
			   entries * sizeof *self->at) != 0)
			break;
		count++;
	}
	return count;
}

/* A's entry of two rows that act on the same bodies, without compliance. */
static double matrix_entry(const struct lcp_sparse *self, uint32_t i, uint32_t j)
{
	VALIDATE(self->start[i + 1] - self->start[i] == self->start[j + 1] - self->start[j]);
	double sum = 0;
	for (uint32_t k = 0; k < self->start[i + 1] - self->start[i]; k++)
		for (uint32_t c = 0; c < LCP_BODY; c++)
			sum += self->jacobian[self->start[i] + k][c] *
			       self->jacobian[self->start[j] + k][c];
	return sum;
}

void lcp_friction_sweep_begin(struct lcp_sparse *self)
{
	for (uint32_t i = 0, count; i < self->rows; i += count) {
		count = group_at(self, i);
		ASSERT(count >= 1 && count <= GROUP);
		for (uint32_t k = 0; k < count; k++) {
			self->free[i + k] = (uint8_t)count;
			double own = self->compliance[i + k] + matrix_entry(self, i + k, i + k);
			self->slope[i + k] = own > 0 ? 1 / own : 0;
			self->stiffness[i + k] = k > 0 ? matrix_entry(self, i + k, i) : 0;
			self->target[i + k] = k > 1 ? matrix_entry(self, i + k, i + 1) : 0;
		}
	}
}

/* Changes x of row i so that its conditions hold; w is J_i u. Returns the change of x. */
static inline double settle_row(struct lcp_sparse *self, uint32_t i, double w)
{
	VALIDATE(i < self->rows);
	double x = self->x[i];
	struct lcp_span span = { self->lower[i], self->upper[i] };
	if (self->normal[i] != i)
		span = lcp_sparse_span(self, i, self->friction[i] * self->x[self->normal[i]]);
	w += self->compliance[i] * x + self->b[i];
	self->x[i] = scalar_clamp(x - w * self->slope[i], span.low, span.high);
	return self->x[i] - x;
}

static inline pair pair_load(const double *from)
{
	pair v;
	memcpy(&v, from, sizeof v);
	return v;
}

/* settle_row for the three rows of a contact, and u. */
static void settle_three(struct lcp_sparse *self, uint32_t i)
{
	VALIDATE(i + GROUP <= self->rows);
	VALIDATE(self->normal[i + 1] == i && self->normal[i + 2] == i);
	uint32_t first = self->start[i], entries = self->start[i + 1] - first;
	const double *j = self->jacobian[first];
	const double *rows[GROUP] = { j, j + LCP_BODY * (size_t)entries,
				      j + 2 * LCP_BODY * (size_t)entries };
	pair w[GROUP] = { { 0, 0 }, { 0, 0 }, { 0, 0 } };
	double dx[GROUP];
	for (uint32_t p = 0; p < entries; p++) {
		const double *u = self->u + LCP_BODY * (size_t)self->at[first + p];
		for (uint32_t k = 0; k < GROUP; k++) {
			const double *row = rows[k] + LCP_BODY * (size_t)p;
			w[k] += (pair_load(row) * pair_load(u) +
				 pair_load(row + 2) * pair_load(u + 2)) +
				pair_load(row + 4) * pair_load(u + 4);
		}
	}
	dx[0] = settle_row(self, i, w[0][0] + w[0][1]);
	dx[1] = settle_row(self, i + 1, (w[1][0] + w[1][1]) + self->stiffness[i + 1] * dx[0]);
	dx[2] = settle_row(self, i + 2,
			   (w[2][0] + w[2][1]) + self->stiffness[i + 2] * dx[0] +
				   self->target[i + 2] * dx[1]);
	pair by[GROUP] = { { dx[0], dx[0] }, { dx[1], dx[1] }, { dx[2], dx[2] } };
	for (uint32_t p = 0; p < entries; p++) {
		double *to = self->u + LCP_BODY * (size_t)self->at[first + p];
		for (uint32_t c = 0; c < LCP_BODY; c += 2) {
			size_t at = LCP_BODY * (size_t)p + c;
			pair u = pair_load(to + c);
			u += (by[0] * pair_load(rows[0] + at) + by[1] * pair_load(rows[1] + at)) +
			     by[2] * pair_load(rows[2] + at);
			memcpy(to + c, &u, sizeof u);
		}
	}
}

static void sweep_rows(struct lcp_sparse *self)
{
	for (uint32_t i = 0; i < self->rows;) {
		if (self->free[i] == GROUP) {
			settle_three(self, i);
			i += GROUP;
			continue;
		}
		double dx = settle_row(self, i, lcp_sparse_row_dot(self, i, self->u));
		lcp_sparse_row_add(self, i, dx, self->u);
		i++;
	}
}

/* |x − x before the sweep|². */
static double squared_change(const struct lcp_sparse *self)
{
	double sum = 0;
	for (uint32_t i = 0; i < self->rows; i++)
		sum += (self->x[i] - self->ray[i]) * (self->x[i] - self->ray[i]);
	return sum;
}

/* Moves x and u by `share` of the last change, x within its bounds. */
static void extrapolate(struct lcp_sparse *self, double share)
{
	double *last_u = self->kept_u, *last = self->ray;
	for (size_t k = 0; k < lcp_sparse_unknowns(self); k++) {
		double u = self->u[k];
		self->u[k] += share * (u - last_u[k]);
		last_u[k] = u;
	}
	for (uint32_t i = 0; i < self->rows; i++) {
		double x = self->x[i], further = x + share * (x - last[i]);
		struct lcp_span span = { self->lower[i], self->upper[i] };
		if (self->normal[i] != i)
			span = lcp_sparse_span(self, i,
					       self->friction[i] * self->x[self->normal[i]]);
		last[i] = x;
		self->x[i] = scalar_clamp(further, span.low, span.high);
		if (self->x[i] != further)
			lcp_sparse_row_add(self, i, self->x[i] - further, self->u);
	}
}

void lcp_friction_sweep(struct lcp_sparse *self, uint32_t count, double momentum)
{
	ASSERT(momentum >= 0 && momentum < 1);
	double theta = 1, before = __builtin_inf();
	memcpy(self->ray, self->x, self->rows * sizeof *self->x);
	memcpy(self->kept_u, self->u, lcp_sparse_unknowns(self) * sizeof *self->u);
	for (uint32_t k = 0; k < count; k++) {
		sweep_rows(self);
		double change = squared_change(self),
		       next = 0.5 * (1 + scalar_sqrt(1 + 4 * theta * theta));
		double share = scalar_min(momentum, (theta - 1) / next);
		bool restart = change > LONGER * before;
		theta = restart ? 1 : next;
		before = change;
		/* The last sweep is not extrapolated: each of its rows held when it was processed. */
		if (k + 1 < count)
			extrapolate(self, restart ? 0 : share);
	}
}
