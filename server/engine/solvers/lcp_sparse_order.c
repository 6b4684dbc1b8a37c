/* lcp_sparse_order.c: the pattern of a problem over bodies: the order of their elimination, and the
 * blocks of the factor that each row adds to.
 *
 * Two bodies are neighbours if a row acts on both. The factor is over bodies, not rows: a wall of 1000
 * bricks has 12 000 contacts, but each brick has only six neighbours, however many contacts they share
 * and however many of those are redundant.
 */
#include <string.h>

#include "server/engine/linalg/order_amd.h"
#include "server/engine/solvers/lcp_sparse_core.h"

/* Whether start begins with 0 and does not decrease, and each entry is the index of a body. */
static bool indices_are_valid(const struct lcp_sparse_problem *problem)
{
	if (problem->rows == 0)
		return true;
	if (problem->start[0] != 0)
		return false;
	for (uint32_t i = 0; i < problem->rows; i++)
		if (problem->start[i + 1] < problem->start[i])
			return false;
	for (uint32_t p = 0; p < problem->start[problem->rows]; p++)
		if (problem->body[p] >= problem->bodies)
			return false;
	return true;
}

/* Copies the order of the problem into `order`, its inverse into `place`. False: no permutation. */
static bool copy_order(struct lcp_sparse *self, const uint32_t *order)
{
	for (uint32_t k = 0; k < self->bodies; k++)
		self->place[k] = UINT32_MAX;
	for (uint32_t k = 0; k < self->bodies; k++) {
		if (order[k] >= self->bodies || self->place[order[k]] != UINT32_MAX)
			return false;
		self->place[order[k]] = k;
		self->order[k] = order[k];
	}
	return true;
}

static size_t count_pairs(const struct lcp_sparse_problem *problem)
{
	size_t pairs = 0;
	for (uint32_t i = 0; i < problem->rows; i++) {
		size_t count = problem->start[i + 1] - problem->start[i];
		pairs += count * (count + 1) / 2;
	}
	return pairs;
}

struct lcp_sparse_size lcp_sparse_size_of(const struct lcp_sparse_problem *problem)
{
	if (!indices_are_valid(problem))
		return (struct lcp_sparse_size){ 0 };
	size_t pairs = count_pairs(problem);
	return (struct lcp_sparse_size){
		.rows = problem->rows,
		.bodies = problem->bodies,
		.entries = problem->rows > 0 ? problem->start[problem->rows] : 0,
		.pairs = pairs,
		.blocks = problem->bodies + 2 * MIN_OF(pairs, 8 * (size_t)problem->bodies),
	};
}

/* Whether the workspace has the factor's pattern of this problem from the last one. */
static bool is_ordered(const struct lcp_sparse *self, const struct lcp_sparse_problem *problem)
{
	size_t rows = problem->rows;
	if (!self->ordered || self->bodies != problem->bodies ||
	    self->own_order != (problem->order == NULL) ||
	    (problem->order != NULL &&
	     memcmp(self->order, problem->order, self->bodies * sizeof *self->order) != 0))
		return false;
	return self->rows == rows &&
	       (rows == 0 ||
		(memcmp(self->start, problem->start, (rows + 1) * sizeof *self->start) == 0 &&
		 memcmp(self->body, problem->body, self->start[rows] * sizeof *self->body) == 0));
}

/* touch: the rows that act on body k are touch[touch_start[k]] … touch[touch_start[k + 1] - 1]. */
static void list_touching(struct lcp_sparse *self)
{
	uint32_t entries = self->start[self->rows], *start = self->touch_start;
	memset(start, 0, ((size_t)self->bodies + 2) * sizeof *start);
	for (uint32_t p = 0; p < entries; p++)
		start[self->body[p] + 2]++;
	for (uint32_t k = 0; k < self->bodies; k++)
		start[k + 2] += start[k + 1];
	for (uint32_t i = 0; i < self->rows; i++)
		for (uint32_t p = self->start[i]; p < self->start[i + 1]; p++)
			self->touch[start[self->body[p] + 1]++] = i;
}

/* near: the neighbours of each body, each once. `place` is scratch. */
static void list_neighbours(struct lcp_sparse *self)
{
	uint32_t count = 0, *seen = self->place;
	for (uint32_t k = 0; k < self->bodies; k++)
		seen[k] = UINT32_MAX;
	for (uint32_t k = 0; k < self->bodies; k++) {
		self->near_start[k] = count;
		seen[k] = k;
		for (uint32_t t = self->touch_start[k]; t < self->touch_start[k + 1]; t++) {
			uint32_t i = self->touch[t];
			for (uint32_t p = self->start[i]; p < self->start[i + 1]; p++) {
				uint32_t other = self->body[p];
				if (seen[other] == k)
					continue;
				seen[other] = k;
				self->near[count++] = other;
			}
		}
	}
	ASSERT(count <= 2 * self->capacity.pairs);
	self->near_start[self->bodies] = count;
}

/* Lists the neighbours that come before each body in the new order, in touch_start (no longer
 * needed) and half, and analyses the factor. Returns its number of blocks. */
static size_t analyse(struct lcp_sparse *self)
{
	VALIDATE(self->bodies <= self->capacity.bodies);
	uint32_t *start = self->touch_start, *row = self->half, count = 0;
	for (uint32_t k = 0; k < self->bodies; k++)
		self->place[self->order[k]] = k;
	for (uint32_t k = 0; k < self->bodies; k++) {
		uint32_t body = self->order[k];
		start[k] = count;
		for (uint32_t n = self->near_start[body]; n < self->near_start[body + 1]; n++)
			if (self->place[self->near[n]] < k)
				row[count++] = self->place[self->near[n]];
	}
	ASSERT(count <= self->capacity.pairs);
	start[self->bodies] = count;
	return chol_block_analyse(&self->factor, self->bodies, start, row);
}

/* The block of the factor of each pair of entries of a row. */
static void find_slots(struct lcp_sparse *self)
{
	uint32_t *slot = self->slot;
	for (uint32_t p = 0; p < self->start[self->rows]; p++)
		self->at[p] = self->place[self->body[p]];
	for (uint32_t i = 0; i < self->rows; i++)
		for (uint32_t p = self->start[i]; p < self->start[i + 1]; p++)
			for (uint32_t q = self->start[i]; q <= p; q++) {
				uint32_t a = self->at[p], b = self->at[q];
				*slot++ =
					chol_block_find(&self->factor, MAX_OF(a, b), MIN_OF(a, b));
			}
}

enum solver_status lcp_sparse_pattern(struct lcp_sparse *self,
				      const struct lcp_sparse_problem *problem)
{
	if (is_ordered(self, problem))
		return SOLVER_SOLVED;
	self->ordered = false;
	self->blocks_needed = 0;
	if (self->start == NULL || problem->rows > self->capacity.rows ||
	    problem->bodies > self->capacity.bodies ||
	    (problem->rows > 0 && problem->start[problem->rows] > self->capacity.entries) ||
	    !indices_are_valid(problem) || count_pairs(problem) > self->capacity.pairs)
		return SOLVER_INVALID;
	self->rows = problem->rows;
	self->bodies = problem->bodies;
	self->start[0] = 0;
	if (self->rows > 0) {
		memcpy(self->start, problem->start, (self->rows + (size_t)1) * sizeof *self->start);
		memcpy(self->body, problem->body, self->start[self->rows] * sizeof *self->body);
	}
	list_touching(self);
	list_neighbours(self);
	if (problem->order == NULL)
		order_amd(self->bodies, self->near_start, self->near, self->order, self->amd);
	else if (!copy_order(self, problem->order))
		return SOLVER_INVALID;
	self->own_order = problem->order == NULL;
	self->blocks_needed = analyse(self);
	if (self->blocks_needed > self->capacity.blocks)
		return SOLVER_LIMIT;
	ASSERT(self->blocks_needed >= self->bodies);
	find_slots(self);
	self->ordered = true;
	return SOLVER_SOLVED;
}
