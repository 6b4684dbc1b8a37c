/* lcp_core_band.c: the order of the rows in the core's factor.
 *
 * Rows become active in the order of their violation, which does not follow the contacts. After a
 * while every row of the factor has entries from its first column on, and a tower costs n³ instead
 * of n². Every CHECK pivots, the envelope of the factor is therefore compared with that of the same
 * rows in band order: a breadth-first walk over the pattern of A from one end (Cuthill and McKee
 * 1969). If it is more than twice as large, the factor is computed again in band order, which costs
 * only the narrow envelope.
 *
 * Failure: in band order a row can depend to rounding on the rows before it. It is then held, like
 * every row that does.
 */
#include "server/engine/solvers/lcp_core.h"

enum { CHECK = 16 };	 /* pivots between checks; a check costs a pass over A */
enum { SIZE_MIN = 128 }; /* a smaller factor is cheap in any order */

/* Breadth-first walk from `root` over rows whose mark is below `mark`, which they get; the rows
 * into `out`, returns their number. */
static uint32_t walk_rows(struct lcp_core *self, uint32_t root, uint32_t mark, uint32_t *out)
{
	VALIDATE(root < self->count && self->mark[root] < mark);
	uint32_t tail = 0;
	self->mark[root] = mark;
	out[tail++] = root;
	for (uint32_t head = 0; head < tail; head++)
		for (uint32_t k = self->start[out[head]]; k < self->start[out[head] + 1]; k++) {
			uint32_t j = self->column[k];
			if (self->mark[j] >= mark)
				continue;
			self->mark[j] = mark;
			out[tail++] = j;
		}
	VALIDATE(tail > 0 && tail <= self->count);
	return tail;
}

/* The band order: component by component, each from the row that is farthest from its least row.
 * The second walk of a component reaches all rows of the first one only if the pattern of A is
 * symmetric, which lcp_valid does not check. Rows that it does not reach follow at the end, so
 * that `band` is always a permutation. */
static void find_band(struct lcp_core *self)
{
	uint32_t done = 0;
	for (uint32_t i = 0; i < self->count; i++)
		self->mark[i] = 0;
	for (uint32_t i = 0; i < self->count; i++) {
		if (self->mark[i] != 0)
			continue;
		uint32_t *out = self->band + done;
		uint32_t last = out[walk_rows(self, i, 1, out) - 1];
		done += walk_rows(self, last, 2, out);
	}
	for (uint32_t i = 0; i < self->count; i++)
		if (self->mark[i] < 2)
			self->band[done++] = i;
	ASSERT(done == self->count);
	self->banded = true;
}

/* Whether the factor has more than twice the entries that it would have in band order. */
static bool is_wide(struct lcp_core *self)
{
	VALIDATE(self->banded);
	size_t wide = 0, narrow = 0;
	uint32_t place = 0;
	for (uint32_t p = 0; p < self->factor.size; p++)
		wide += p - self->factor.first[p];
	for (uint32_t k = 0; k < self->count; k++)
		self->mark[self->band[k]] = self->state[self->band[k]] == LCP_ACTIVE ? place++ : 0;
	for (uint32_t p = 0; p < self->factor.size; p++) {
		uint32_t i = self->order[p], first = self->mark[i];
		for (uint32_t k = self->start[i]; k < self->start[i + 1]; k++)
			if (self->state[self->column[k]] == LCP_ACTIVE)
				first = MIN_OF(first, self->mark[self->column[k]]);
		narrow += self->mark[i] - first;
	}
	return wide > 2 * narrow + (size_t)CHECK * self->factor.size;
}

void lcp_core_narrow(struct lcp_core *self)
{
	if (self->factor.size < SIZE_MIN || self->result.pivots < self->checked_at + CHECK)
		return;
	self->checked_at = self->result.pivots;
	if (!self->banded)
		find_band(self);
	if (!is_wide(self))
		return;
	/* HELD: not yet in the new factor. */
	for (uint32_t p = 0; p < self->factor.size; p++) {
		self->state[self->order[p]] = LCP_HELD;
		self->mark[self->order[p]] = UINT32_MAX;
	}
	self->factor.size = 0;
	self->result.refactorings++;
	for (uint32_t k = 0; k < self->count; k++)
		if (self->mark[self->band[k]] == UINT32_MAX)
			(void)lcp_core_activate(self, self->band[k]);
}
