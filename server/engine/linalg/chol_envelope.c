/* chol_envelope.c: Cholesky by rows inside an envelope.
 *
 * l_i = L⁻¹ a_i starts in the column where a_i starts, so the envelope of L is that of A. If row k is
 * deleted, the block under it becomes L₃₃ L₃₃ᵀ + l lᵀ, with l the removed column (Golub and Van Loan,
 * 6.5): plane rotations take (pivot, l) to (pivot', 0). They are carried out row by row, because the
 * entries of a row are adjacent: row i undergoes the rotations of the columns before it and then
 * defines its own. The envelope does not grow: the entries that l brings into a row start at column k
 * or at the row's own start, whichever is later.
 * Sums run in index order over four fixed lanes, joined as (0 + 1) + (2 + 3).
 * What goes wrong: a Schur complement that is not positive; the caller checks it before it appends.
 */
#include "server/engine/linalg/chol_envelope.h"

#include "server/engine/linalg/dense.h"
#include "server/engine/math/scalar.h"

static double *row_at(const struct chol_envelope *self, uint32_t i)
{
	VALIDATE(i < self->capacity);
	return self->lower + (size_t)i * (i + 1) / 2;
}

static double dot_lanes(const double *x, const double *y, uint32_t n)
{
	dense_pair first = { 0, 0 }, second = { 0, 0 };
	uint32_t i = 0;
	for (; i + 4 <= n; i += 4) {
		first += *(const dense_pair *)(x + i) * *(const dense_pair *)(y + i);
		second += *(const dense_pair *)(x + i + 2) * *(const dense_pair *)(y + i + 2);
	}
	double sum[4] = { first[0], first[1], second[0], second[1] };
	for (; i < n; i++)
		sum[i & 3] += x[i] * y[i];
	return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

size_t chol_envelope_doubles(uint32_t capacity)
{
	return (size_t)capacity * ((size_t)capacity + 1) / 2;
}

void chol_envelope_init(struct chol_envelope *self, double *lower, uint32_t *first,
			uint32_t capacity)
{
	*self = (struct chol_envelope){ lower, first, capacity, 0 };
}

double *chol_envelope_border(struct chol_envelope *self, uint32_t first)
{
	ASSERT(self->size < self->capacity && first <= self->size);
	self->first[self->size] = first;
	return row_at(self, self->size);
}

double chol_envelope_schur(struct chol_envelope *self, double diagonal)
{
	ASSERT(self->size < self->capacity);
	ASSERT(self->first[self->size] <= self->size);
	uint32_t n = self->size, from = self->first[n];
	double *l = row_at(self, n);
	for (uint32_t j = from; j < n; j++) {
		const double *above = row_at(self, j);
		uint32_t start = MAX_OF(from, self->first[j]);
		l[j] = (l[j] - dot_lanes(above + start, l + start, j - start)) / above[j];
	}
	return diagonal - dot_lanes(l + from, l + from, n - from);
}

/* y := L⁻ᵀ y. */
static void solve_upper(const struct chol_envelope *self, double *y)
{
	for (uint32_t i = self->size; i-- > 0;) {
		if (y[i] == 0)
			continue;
		const double *l = row_at(self, i);
		y[i] /= l[i];
		dense_mul_add(y + self->first[i], l + self->first[i], -y[i], i - self->first[i]);
	}
}

void chol_envelope_border_solve(const struct chol_envelope *self, double *y)
{
	ASSERT(self->size < self->capacity);
	uint32_t n = self->size, from = self->first[n];
	const double *l = row_at(self, n);
	dense_zero(y, from);
	dense_copy(y + from, l + from, n - from);
	solve_upper(self, y);
}

void chol_envelope_append(struct chol_envelope *self, double schur)
{
	ASSERT(self->size < self->capacity);
	ASSERT(schur > 0);
	row_at(self, self->size)[self->size] = scalar_sqrt(schur);
	self->size++;
}

void chol_envelope_solve(const struct chol_envelope *self, double *b)
{
	for (uint32_t i = 0; i < self->size; i++) {
		const double *l = row_at(self, i);
		uint32_t from = self->first[i];
		VALIDATE(from <= i);
		b[i] = (b[i] - dot_lanes(l + from, b + from, i - from)) / l[i];
	}
	solve_upper(self, b);
}

/* A deletion: row i + 1 while it becomes row i. */
struct shifted_row {
	const double *old;
	double *row;
	uint32_t at; /* next column */
	double x;    /* the rotated entry of the removed column in this row */
};

static struct shifted_row start_row(struct chol_envelope *self, uint32_t i, uint32_t index)
{
	struct shifted_row self_row = { .old = row_at(self, i + 1), .row = row_at(self, i) };
	uint32_t first = self->first[i + 1];
	self_row.x = first <= index ? self_row.old[index] : 0;
	for (uint32_t j = first; j < index; j++)
		self_row.row[j] = self_row.old[j];
	first -= first > index;
	self->first[i] = first;
	self_row.at = MAX_OF(first, index);
	VALIDATE(self_row.at <= i);
	return self_row;
}

static void rotate_row(struct shifted_row *self, uint32_t end, const double *cosine,
		       const double *sine)
{
	for (; self->at < end; self->at++) {
		double l = self->old[self->at + 1], c = cosine[self->at], s = sine[self->at];
		self->row[self->at] = c * l + s * self->x;
		self->x = c * self->x - s * l;
	}
}

/* The same rotations on four rows at once: in one row each rotation depends on the one before, so the
 * processor would wait; four independent rows fill the wait. */
static void rotate_four(struct shifted_row *four, uint32_t end, const double *cosine,
			const double *sine)
{
	VALIDATE(four[0].at == four[1].at && four[0].at == four[2].at && four[0].at == four[3].at);
	double x[4] = { four[0].x, four[1].x, four[2].x, four[3].x };
	for (uint32_t j = four[0].at; j < end; j++)
		for (uint32_t r = 0; r < 4; r++) {
			double l = four[r].old[j + 1];
			four[r].row[j] = cosine[j] * l + sine[j] * x[r];
			x[r] = cosine[j] * x[r] - sine[j] * l;
		}
	for (uint32_t r = 0; r < 4; r++) {
		four[r].x = x[r];
		four[r].at = MAX_OF(four[r].at, end);
	}
}

/* The row's own rotation, which takes (pivot, x) to (root, 0). */
static void finish_row(struct shifted_row *self, uint32_t i, double *cosine, double *sine)
{
	rotate_row(self, i, cosine, sine);
	VALIDATE(self->at == i);
	double pivot = self->old[i + 1], x = self->x;
	double root = x == 0 ? pivot : scalar_sqrt(pivot * pivot + x * x);
	cosine[i] = pivot / root;
	sine[i] = x / root;
	self->row[i] = root;
}

/* The place of a row is overwritten one column behind where the row above reads it, so four rows may
 * move together. */
void chol_envelope_delete(struct chol_envelope *self, uint32_t index, double *scratch)
{
	ASSERT(index < self->size);
	uint32_t n = self->size - 1, i = index;
	double *cosine = scratch, *sine = scratch + n;
	for (; i + 4 <= n; i += 4) {
		struct shifted_row four[4];
		uint32_t common = index;
		for (uint32_t r = 0; r < 4; r++) {
			uint32_t first = self->first[i + r + 1];
			common = MAX_OF(common, first - (first > index));
		}
		common = MIN_OF(common, i);
		for (uint32_t r = 0; r < 4; r++) {
			four[r] = start_row(self, i + r, index);
			rotate_row(&four[r], common, cosine, sine);
		}
		if (four[0].at == common && four[1].at == common && four[2].at == common &&
		    four[3].at == common)
			rotate_four(four, i, cosine, sine);
		for (uint32_t r = 0; r < 4; r++)
			finish_row(&four[r], i + r, cosine, sine);
	}
	for (; i < n; i++) {
		struct shifted_row one = start_row(self, i, index);
		finish_row(&one, i, cosine, sine);
	}
	self->size = n;
}
