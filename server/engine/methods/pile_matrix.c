/* pile_matrix.c: see pile_matrix.h. */
#include "server/engine/linalg/order_amd.h"
#include "server/engine/linalg/order_dissect.h"
#include "server/engine/math/mat3.h"
#include "server/engine/methods/pile_matrix.h"

#include <string.h>

enum { AXES = CHOL_PANEL, NONE = PILE_STATIC };
/* Products of blocks in the time of the unit of `pile.work`. */
#define PRODUCTS 20.0
/* Bodies from which on nested dissection is tried: fewer save less in factors than it costs. */
enum { DISSECT_MIN = 500 };
/* Times the products of the pattern for which an order was made: with more the order is made anew. */
#define KEEPS 1.2

/* The neighbours of each body, each once. */
struct pile_near {
	uint32_t *start, *near; /* bodies + 1; 2 × links */
};

static bool list_neighbours(struct pile_group *group, const struct pile_link *list, uint32_t links,
			    struct pile_near *out)
{
	uint32_t n = group->slot_count, count = 0;
	uint32_t *first = PILE_ALLOCATE(group, uint32_t, n + 2);
	uint32_t *all = PILE_ALLOCATE(group, uint32_t, 2 * (size_t)links);
	uint32_t *seen = PILE_ALLOCATE(group, uint32_t, n);
	out->start = PILE_ALLOCATE(group, uint32_t, n + 1);
	out->near = PILE_ALLOCATE(group, uint32_t, 2 * (size_t)links);
	if (first == NULL || all == NULL || seen == NULL || out->start == NULL || out->near == NULL)
		return false;
	memset(first, 0, (n + 2) * sizeof *first);
	for (uint32_t pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < links; i++) {
			const struct pile_link link = list[i];
			if (link.a == NONE || link.b == NONE)
				continue;
			if (pass == 1) {
				all[first[link.a + 1]] = link.b;
				all[first[link.b + 1]] = link.a;
			}
			first[link.a + (pass == 0 ? 2 : 1)]++;
			first[link.b + (pass == 0 ? 2 : 1)]++;
		}
		for (uint32_t k = 0; pass == 0 && k < n; k++)
			first[k + 2] += first[k + 1];
	}
	memset(seen, 0xff, n * sizeof *seen);
	for (uint32_t k = 0; k < n; k++) {
		out->start[k] = count;
		for (uint32_t p = first[k]; p < first[k + 1]; p++) {
			if (seen[all[p]] == k)
				continue;
			seen[all[p]] = k;
			out->near[count++] = all[p];
		}
	}
	out->start[n] = count;
	return true;
}

static size_t find_block(const struct pile_matrix *self, uint32_t a, uint32_t b)
{
	if (a == NONE || b == NONE)
		return CHOL_PANEL_NONE;
	uint32_t i = self->factor.place[a], j = self->factor.place[b];
	return chol_panel_find(&self->factor, MAX_OF(i, j), MIN_OF(i, j));
}

bool pile_matrix_find(const struct pile_matrix *self, struct pile_link *links, uint32_t count)
{
	bool all = true;
	for (uint32_t i = 0; i < count && all; i++) {
		struct pile_link *link = &links[i];
		link->aa = find_block(self, link->a, link->a);
		link->bb = find_block(self, link->b, link->b);
		link->ab = find_block(self, link->a, link->b);
		all = link->ab != CHOL_PANEL_NONE || link->a == NONE || link->b == NONE;
	}
	return all;
}

bool pile_matrix_begin(struct pile_matrix *self, struct pile_group *group)
{
	ASSERT(group->slot_count > 0);
	self->root = PILE_ALLOCATE(group, double, (size_t)group->slot_count *AXES);
	self->order = PILE_ALLOCATE(group, uint32_t, group->slot_count);
	self->products = 0;
	self->factor.parallel = group->pile->step->dynamics->parallel;
	return self->root != NULL && self->order != NULL;
}

static enum status analyse_order(struct pile_matrix *self, struct pile_group *group,
				 const struct pile_near *near, const uint32_t *order)
{
	return chol_panel_analyse(&self->factor, &group->pile->step->dynamics->scratch,
				  group->slot_count, near->start, near->near, order);
}

static enum status order_by_degree(struct pile_group *group, const struct pile_near *near,
				   uint32_t *order)
{
	uint32_t n = group->slot_count;
	uint32_t *work = PILE_ALLOCATE(group, uint32_t, order_amd_words(n, near->start[n]));
	if (work == NULL)
		return STATUS_NO_MEMORY;
	order_amd(n, near->start, near->near, order, work);
	return STATUS_OK;
}

static enum status order_by_places(struct pile_group *group, const struct pile_near *near,
				   uint32_t *order)
{
	uint32_t n = group->slot_count;
	vec3 *places = PILE_ALLOCATE(group, vec3, n);
	if (places == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < n; i++)
		places[i] = group->pile->bodies[group->slots[i]].centre;
	return order_dissect(&group->pile->step->dynamics->scratch, n, near->start, near->near,
			     places, order);
}

/* Of the orders by minimum degree and, of large groups, by places the one with fewer products; its pattern.
 * NO_MEMORY. */
static enum status choose_order(struct pile_matrix *self, struct pile_group *group,
				const struct pile_near *near)
{
	struct arena *arena = &group->pile->step->dynamics->scratch;
	uint32_t *other = PILE_ALLOCATE(group, uint32_t, group->slot_count);
	struct arena_mark mark = arena_mark(arena);
	enum status status = other == NULL ? STATUS_NO_MEMORY : STATUS_OK;
	if (status == STATUS_OK)
		status = order_by_degree(group, near, self->order);
	if (status == STATUS_OK)
		status = analyse_order(self, group, near, self->order);
	if (status != STATUS_OK || group->slot_count < DISSECT_MIN)
		return status;
	size_t products = self->factor.products;
	arena_rewind(arena, mark);
	status = order_by_places(group, near, other);
	if (status == STATUS_OK)
		status = analyse_order(self, group, near, other);
	if (status != STATUS_OK)
		return status;
	if (self->factor.products < products) {
		memcpy(self->order, other, group->slot_count * sizeof *other);
		return STATUS_OK;
	}
	arena_rewind(arena, mark);
	return analyse_order(self, group, near, self->order);
}

enum status pile_matrix_analyse(struct pile_matrix *self, struct pile_group *group,
				const struct pile_link *links, uint32_t count)
{
	struct arena *arena = &group->pile->step->dynamics->scratch;
	struct pile_near near;
	ASSERT(group->slot_count > 0);
	if (!list_neighbours(group, links, count, &near))
		return STATUS_NO_MEMORY;
	struct arena_mark mark = arena_mark(arena);
	if (self->products > 0) {
		enum status status = analyse_order(self, group, &near, self->order);
		if (status != STATUS_OK || (double)self->factor.products <= KEEPS * self->products)
			return status;
		arena_rewind(arena, mark);
	}
	enum status status = choose_order(self, group, &near);
	if (status == STATUS_OK)
		self->products = (double)self->factor.products;
	return status;
}

/* Adds m · root_i · root_j to block (i, j). The block of the lower triangle has the later row; m is
 * symmetric. */
static void add_block(struct pile_matrix *self, size_t block, uint32_t i, uint32_t j, mat3 m)
{
	double *to = self->factor.value + block;
	if (self->factor.place[i] < self->factor.place[j]) {
		uint32_t swap = i;
		i = j;
		j = swap;
	}
	ASSERT(i < self->factor.size && j < self->factor.size);
	const double *p = &self->root[(size_t)i * AXES], *q = &self->root[(size_t)j * AXES];
	for (uint32_t c = 0; c < AXES; c++)
		for (uint32_t r = 0; r < AXES; r++)
			to[c * CHOL_PANEL_TILE + r] += p[r] * q[c] * mat3_get(m, r, c);
}

void pile_matrix_add(struct pile_matrix *self, const struct pile_link *link, mat3 m)
{
	if (link->aa != CHOL_PANEL_NONE)
		add_block(self, link->aa, link->a, link->a, m);
	if (link->bb != CHOL_PANEL_NONE)
		add_block(self, link->bb, link->b, link->b, m);
	if (link->ab != CHOL_PANEL_NONE)
		add_block(self, link->ab, link->a, link->b, mat3_scale(m, -1));
}

void pile_matrix_solve(struct pile_matrix *self, double *side)
{
	uint32_t columns = self->factor.size * AXES;
	ASSERT(side != NULL);
	for (uint32_t c = 0; c < columns; c++)
		side[c] *= self->root[c];
	chol_panel_solve(&self->factor, side);
	for (uint32_t c = 0; c < columns; c++)
		side[c] *= self->root[c];
}

double pile_matrix_work(const struct pile_matrix *self)
{
	return (double)self->factor.products / PRODUCTS / PILE_WORK;
}
