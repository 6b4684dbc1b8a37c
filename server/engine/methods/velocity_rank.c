/* velocity_rank.c: locked axes that depend on others, in islands with reduced coordinates.
 *
 * The rows of a joint that closes a loop in space may depend on each other at every pose at which
 * it is closed, as one of Bricard's five does: some combination z of them moves nothing, Jᵀz = 0.
 * Such rows have a solution only if zᵀb = 0. A motion's last round fulfils that, but not those
 * before, whose curvatures are not exact yet: so the part of b along each z is taken out. What is
 * left is solved by the rows that do not depend, and their impulses are shared out to all: the
 * least ones with this motion, which are those without a part along z. Lengths and angles are
 * compared in units in which each row's J M⁻¹ Jᵀ is 1.
 *
 * Which rows depend is found by elimination with pivoting, at each pose anew.
 */
#include "server/engine/methods/velocity.h"

#include <string.h>

/* 1. A row whose J M⁻¹ Jᵀ is below this part of itself after elimination of those before it depends
 * on them. Larger: poses near those where one more row depends are solved without it, and joints
 * open there; smaller: rounding of the elimination. */
#define RANK 1e-12

/* More rows are not looked at: what elimination costs grows as their cube. */
enum { RANK_ROWS_MAX = 64 };

#define ALLOCATE(type, count) ARENA_ARRAY(self->arena, type, count)

/* Whether row i is a locked axis that moves something. */
static bool is_lock(const struct velocity_island *self, uint32_t i)
{
	const struct velocity_joint_row *row = &self->joints[i - self->contact_rows];
	ASSERT(i >= self->contact_rows && i < self->taut_from);
	return row->role == VELOCITY_LOCK && velocity_row_acts(row) && !self->tree->still[i];
}

/* Eliminates the rows of a (count × count, symmetric, of diagonal 1) in `order`, which it finds:
 * those that depend come last. Returns the number of the others. */
static uint32_t eliminate(double *a, uint32_t count, uint32_t *order)
{
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	for (uint32_t k = 0; k < count; k++) {
		uint32_t best = k;
		for (uint32_t i = k + 1; i < count; i++)
			if (a[(size_t)order[i] * count + order[i]] >
			    a[(size_t)order[best] * count + order[best]])
				best = i;
		uint32_t pivot = order[best];
		double diagonal = a[(size_t)pivot * count + pivot];
		if (!(diagonal > RANK))
			return k;
		order[best] = order[k];
		order[k] = pivot;
		for (uint32_t i = k + 1; i < count; i++) {
			double *row = a + (size_t)order[i] * count;
			double part = row[pivot] / diagonal;
			for (uint32_t j = k + 1; j < count; j++)
				row[order[j]] -= part * a[(size_t)pivot * count + order[j]];
			row[pivot] = part;
		}
	}
	return count;
}

/* Takes the part along z, of length 1, out of v. */
static void take_out(const double *z, uint32_t count, double *v)
{
	double along = 0;
	for (uint32_t i = 0; i < count; i++)
		along += z[i] * v[i];
	for (uint32_t i = 0; i < count; i++)
		v[i] -= along * z[i];
}

/* The combinations of rows that move nothing, orthonormal. */
static void find_nulls(struct velocity_rank *rank, const double *a, const uint32_t *order)
{
	uint32_t count = rank->count, first = count - rank->nulls;
	ASSERT(rank->nulls > 0 && rank->nulls < count);
	for (uint32_t n = 0; n < rank->nulls; n++) {
		double *z = rank->null + (size_t)n * count;
		memset(z, 0, count * sizeof *z);
		z[order[first + n]] = 1;
		/* Row d less the sum of c times those before it moves nothing: c from the last one up. */
		for (uint32_t k = first; k-- > 0;) {
			double c = a[(size_t)order[first + n] * count + order[k]];
			for (uint32_t i = k + 1; i < first; i++)
				c += z[order[i]] * a[(size_t)order[i] * count + order[k]];
			z[order[k]] = -c;
		}
	}
	for (uint32_t n = 0; n < rank->nulls; n++) {
		double *z = rank->null + (size_t)n * count, length = 0;
		for (uint32_t twice = 0; twice < 2; twice++)
			for (uint32_t before = 0; before < n; before++)
				take_out(rank->null + (size_t)before * count, count, z);
		for (uint32_t i = 0; i < count; i++)
			length += z[i] * z[i];
		for (uint32_t i = 0; i < count; i++)
			z[i] /= scalar_sqrt(length);
	}
}

enum status velocity_rank_find(struct velocity_island *self)
{
	uint32_t count = 0;
	ASSERT(self->tree != NULL && self->rank == NULL);
	for (uint32_t i = self->contact_rows; i < self->taut_from; i++)
		count += is_lock(self, i);
	if (count < 2 || count > RANK_ROWS_MAX)
		return STATUS_OK;
	struct velocity_rank *rank = ALLOCATE(struct velocity_rank, 1);
	uint32_t *rows = ALLOCATE(uint32_t, count), *order = ALLOCATE(uint32_t, count);
	double *scale = ALLOCATE(double, count);
	double *a = ALLOCATE(double, (size_t)count *count);
	if (rank == NULL || rows == NULL || order == NULL || scale == NULL || a == NULL)
		return STATUS_NO_MEMORY;
	count = 0;
	for (uint32_t i = self->contact_rows; i < self->taut_from; i++)
		if (is_lock(self, i))
			rows[count++] = i;
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t k = 0; k <= i; k++)
			a[(size_t)i * count + k] = mass_couple(&self->mass, self->rows[rows[i]].j,
							       &self->system.responses[rows[k]]);
		scale[i] = scalar_sqrt(a[(size_t)i * count + i]);
	}
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = 0; k <= i; k++) {
			a[(size_t)i * count + k] /= scale[i] * scale[k];
			a[(size_t)k * count + i] = a[(size_t)i * count + k];
		}
	*rank = (struct velocity_rank){ .count = count,
					.nulls = count - eliminate(a, count, order),
					.row = rows,
					.scale = scale,
					.dependent = order };
	if (rank->nulls == 0)
		return STATUS_OK;
	rank->null = ALLOCATE(double, (size_t)rank->nulls *count);
	rank->work = ALLOCATE(double, count);
	rank->b = ALLOCATE(double, self->count);
	rank->selected = ALLOCATE(bool, self->count);
	if (rank->null == NULL || rank->work == NULL || rank->b == NULL || rank->selected == NULL)
		return STATUS_NO_MEMORY;
	find_nulls(rank, a, order);
	rank->dependent += count - rank->nulls;
	self->rank = rank;
	return STATUS_OK;
}

bool velocity_rank_reduce(const struct velocity_island *self,
			  const struct velocity_problem *problem, struct velocity_problem *out,
			  double *left)
{
	struct velocity_rank *rank = self->rank;
	ASSERT(rank != NULL && rank->nulls > 0);
	*left = 0;
	for (uint32_t k = 0; k < rank->count; k++)
		if (!velocity_row_included(self, problem, rank->row[k]))
			return false;
	memcpy(rank->b, problem->b, self->count * sizeof *rank->b);
	for (uint32_t i = 0; i < self->count; i++)
		rank->selected[i] = problem->selected == NULL || problem->selected[i];
	for (uint32_t k = 0; k < rank->count; k++)
		rank->work[k] = problem->b[rank->row[k]] / rank->scale[k];
	for (uint32_t n = 0; n < rank->nulls; n++) {
		take_out(rank->null + (size_t)n * rank->count, rank->count, rank->work);
		rank->selected[rank->row[rank->dependent[n]]] = false;
	}
	for (uint32_t k = 0; k < rank->count; k++) {
		uint32_t i = rank->row[k];
		rank->b[i] = rank->work[k] * rank->scale[k];
		*left = scalar_max(*left, scalar_abs(problem->b[i] - rank->b[i]));
	}
	*out = (struct velocity_problem){ rank->selected, rank->b, problem->x };
	return true;
}

void velocity_rank_share(const struct velocity_island *self, double *x)
{
	struct velocity_rank *rank = self->rank;
	ASSERT(rank != NULL && rank->row[0] >= self->contact_rows);
	for (uint32_t k = 0; k < rank->count; k++)
		rank->work[k] = x[rank->row[k]] * rank->scale[k];
	for (uint32_t n = 0; n < rank->nulls; n++)
		take_out(rank->null + (size_t)n * rank->count, rank->count, rank->work);
	for (uint32_t k = 0; k < rank->count; k++)
		x[rank->row[k]] = rank->work[k] / rank->scale[k];
}
