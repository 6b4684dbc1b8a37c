/* parts.c: see parts.h. Union-find, in which the lower body becomes the root, then counting sorts. */
#include "server/engine/statics/parts.h"

#include "server/base/heap.h"
#include "server/base/union_find.h"

#include <string.h>

static void join_bodies(uint32_t *parent, uint32_t a, uint32_t b)
{
	if (a == ROW_NO_BODY || b == ROW_NO_BODY)
		return;
	(void)union_find_join(parent, a, b);
}

/* A body of a point; each has one that moves. */
static uint32_t body_of_point(const struct statics_point *point)
{
	ASSERT(point->a != ROW_NO_BODY || point->b != ROW_NO_BODY);
	return point->a != ROW_NO_BODY ? point->a : point->b;
}

/* part := the part of each body; returns their number. */
static uint32_t number_parts(const struct statics_problem *problem, uint32_t *part)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < problem->body_count; i++)
		part[i] = i;
	for (uint32_t i = 0; i < problem->point_count; i++)
		join_bodies(part, problem->points[i].a, problem->points[i].b);
	for (uint32_t i = 0; i < problem->row_count; i++)
		for (uint32_t k = 1; k < problem->rows[i].count; k++)
			join_bodies(part, problem->rows[i].parts[0].slot,
				    problem->rows[i].parts[k].slot);
	for (uint32_t i = 0; i < problem->carried_count; i++)
		for (uint32_t k = 0; k < problem->carried[i].frame.count; k++)
			join_bodies(part, problem->carried[i].body, problem->carried[i].points[k]);
	for (uint32_t i = 0; i < problem->body_count; i++)
		part[i] = union_find_root(part, i);
	for (uint32_t i = 0; i < problem->body_count; i++)
		part[i] = part[i] == i ? count++ : part[part[i]]; /* roots come first */
	ASSERT(count <= problem->body_count);
	return count;
}

/* Sorts 0 … count − 1 by their parts, stably. `first`: parts + 1. */
static void sort_by_parts(const uint32_t *part, uint32_t count, uint32_t parts, uint32_t *first,
			  uint32_t *out)
{
	memset(first, 0, (parts + 1u) * sizeof *first);
	for (uint32_t i = 0; i < count; i++)
		first[part[i] + 1]++;
	for (uint32_t k = 0; k < parts; k++)
		first[k + 1] += first[k];
	ASSERT(first[parts] == count);
	for (uint32_t i = 0; i < count; i++)
		out[first[part[i]]++] = i;
	for (uint32_t k = parts; k > 0; k--)
		first[k] = first[k - 1];
	first[0] = 0;
}

static enum status allocate_parts(struct statics_parts *self, const struct statics_problem *problem)
{
	size_t bodies = problem->body_count + 1u, points = problem->point_count + 1u;
	size_t rows = problem->row_count + 1u, carried = problem->carried_count + 1u;
	self->body = heap_alloc(bodies * sizeof *self->body);
	self->point = heap_alloc(points * sizeof *self->point);
	self->row = heap_alloc(rows * sizeof *self->row);
	self->carry = heap_alloc(carried * sizeof *self->carry);
	self->body_first = heap_alloc(bodies * sizeof *self->body_first);
	self->point_first = heap_alloc(bodies * sizeof *self->point_first);
	self->row_first = heap_alloc(bodies * sizeof *self->row_first);
	self->carry_first = heap_alloc(bodies * sizeof *self->carry_first);
	self->slot = heap_alloc(bodies * sizeof *self->slot);
	self->bodies = heap_alloc(bodies * sizeof *self->bodies);
	self->points = heap_alloc(points * sizeof *self->points);
	self->rows = heap_alloc(rows * sizeof *self->rows);
	self->carried = heap_alloc(carried * sizeof *self->carried);
	bool all = self->body != NULL && self->point != NULL && self->row != NULL &&
		   self->body_first != NULL && self->point_first != NULL &&
		   self->row_first != NULL && self->slot != NULL && self->bodies != NULL &&
		   self->points != NULL && self->rows != NULL && self->carry != NULL &&
		   self->carry_first != NULL && self->carried != NULL;
	return all ? STATUS_OK : STATUS_NO_MEMORY;
}

static uint32_t slot_in(const struct statics_parts *self, uint32_t body)
{
	return body == ROW_NO_BODY ? ROW_NO_BODY : self->slot[body];
}

/* Copies the problem in the order of its parts, with bodies by their indexes in them. */
static void fill_parts(struct statics_parts *self, const struct statics_problem *problem)
{
	for (uint32_t part = 0; part < self->count; part++)
		for (uint32_t i = self->body_first[part]; i < self->body_first[part + 1]; i++) {
			self->slot[self->body[i]] = i - self->body_first[part];
			self->bodies[i] = problem->bodies[self->body[i]];
		}
	for (uint32_t i = 0; i < problem->point_count; i++) {
		self->points[i] = problem->points[self->point[i]];
		self->points[i].a = slot_in(self, self->points[i].a);
		self->points[i].b = slot_in(self, self->points[i].b);
	}
	for (uint32_t i = 0; i < problem->row_count; i++) {
		self->rows[i] = problem->rows[self->row[i]];
		for (uint32_t k = 0; k < self->rows[i].count; k++)
			self->rows[i].parts[k].slot = slot_in(self, self->rows[i].parts[k].slot);
	}
	for (uint32_t i = 0; i < problem->carried_count; i++) {
		struct statics_carried *carried = &self->carried[i];
		*carried = problem->carried[self->carry[i]];
		carried->body = self->slot[carried->body];
		for (uint32_t k = 0; k < carried->frame.count; k++)
			carried->points[k] = self->slot[carried->points[k]];
	}
}

enum status statics_parts_init(struct statics_parts *self, const struct statics_problem *problem)
{
	*self = (struct statics_parts){ 0 };
	uint32_t most = MAX_OF(MAX_OF(problem->point_count, problem->row_count),
			       MAX_OF(problem->carried_count, 1u));
	uint32_t *part = heap_alloc((problem->body_count + 1u) * sizeof *part);
	uint32_t *of = heap_alloc(most * sizeof *of);
	enum status status = allocate_parts(self, problem);
	if (status != STATUS_OK || part == NULL || of == NULL) {
		heap_free(part);
		heap_free(of);
		return STATUS_NO_MEMORY;
	}
	self->count = number_parts(problem, part);
	sort_by_parts(part, problem->body_count, self->count, self->body_first, self->body);
	for (uint32_t i = 0; i < problem->point_count; i++)
		of[i] = part[body_of_point(&problem->points[i])];
	sort_by_parts(of, problem->point_count, self->count, self->point_first, self->point);
	for (uint32_t i = 0; i < problem->row_count; i++)
		of[i] = part[problem->rows[i].parts[0].slot];
	sort_by_parts(of, problem->row_count, self->count, self->row_first, self->row);
	for (uint32_t i = 0; i < problem->carried_count; i++)
		of[i] = part[problem->carried[i].body];
	sort_by_parts(of, problem->carried_count, self->count, self->carry_first, self->carry);
	fill_parts(self, problem);
	heap_free(part);
	heap_free(of);
	return STATUS_OK;
}

void statics_parts_release(struct statics_parts *self)
{
	heap_free(self->body);
	heap_free(self->point);
	heap_free(self->row);
	heap_free(self->carry);
	heap_free(self->carry_first);
	heap_free(self->carried);
	heap_free(self->body_first);
	heap_free(self->point_first);
	heap_free(self->row_first);
	heap_free(self->slot);
	heap_free(self->bodies);
	heap_free(self->points);
	heap_free(self->rows);
	*self = (struct statics_parts){ 0 };
}

struct statics_problem statics_part(const struct statics_parts *self,
				    const struct statics_problem *whole, uint32_t part)
{
	ASSERT(part < self->count);
	struct statics_problem problem = *whole;
	problem.bodies = self->bodies + self->body_first[part];
	problem.points = self->points + self->point_first[part];
	problem.rows = self->rows + self->row_first[part];
	problem.carried = self->carried + self->carry_first[part];
	problem.carried_count = self->carry_first[part + 1] - self->carry_first[part];
	problem.body_count = self->body_first[part + 1] - self->body_first[part];
	problem.point_count = self->point_first[part + 1] - self->point_first[part];
	problem.row_count = self->row_first[part + 1] - self->row_first[part];
	return problem;
}
