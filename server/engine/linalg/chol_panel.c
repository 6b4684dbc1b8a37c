/* chol_panel.c: the pattern of a Cholesky factor by panels, and the choice of a width.
 *
 * The elimination tree (Liu 1986) of the given order is walked children first, which changes neither
 * fill-in nor sums and puts columns with the same rows side by side: column k + 1 goes on with the panel
 * of column k if it is k's parent and has the same rows but k. Panels of few columns cost more than the
 * zeros that larger ones store, so a panel joins the next one, which must be its parent, if few of the
 * entries of both are zeros then (Ashcraft and Grimes 1989). Rows of a panel follow from the tree of the
 * panels: row i is in all panels on the path up from each column that has a block in row i of A.
 *
 * Subtrees of panels that are at most a PARTS-th of all products are parts: workers factor them side by
 * side, because no panel of one changes one of another, and then together the panels above, one by one.
 * The parts depend on the pattern alone.
 *
 * Numbers are computed in chol_panel_lanes.h, which is included once for each width.
 */
#include "server/engine/linalg/chol_panel.h"

#include <string.h>

#include "server/base/processor.h"
#include "server/base/union_find.h"
#include "server/engine/linalg/chol_panel_work.h"
#include "server/engine/linalg/chol_rows.h"

#define NONE UINT32_MAX

/* Of the blocks of two panels that become one: zeros, with up to so many columns. */
static const struct {
	uint32_t columns;
	double zeros;
} JOINS[] = { { 4, 0.6 }, { 12, 0.2 }, { NONE, 0.05 } };

/* Block columns of a panel. Larger: more of a factor is the finishing of single panels, whose beginning one
 * worker does alone; smaller: shorter products. */
enum { COLUMNS_MAX = 32 };
/* Products of a factor that is worth the parts, and how many parts there are at least. */
#define SHARED 2e5
#define PARTS 16.0

/* The pattern in the making. By places, or by panels before they join. */
struct plan {
	const uint32_t *start, *near; /* of the matrix, by bodies */
	uint32_t *parent, *other, *count, *mark;
	uint32_t *columns, *rows, *root; /* of a panel; the first of those that it joins */
	double *zeros;			 /* of its blocks */
	double *work;			 /* products of a panel, then of it and those below */
};

static bool allocate_plan(struct plan *plan, struct chol_panel *self, struct arena *arena)
{
	uint32_t n = self->size;
	uint32_t **lists[] = { &self->order, &self->place, &self->panel,   &self->link,
			       &self->next,  &self->at,	   &plan->other,   &plan->parent,
			       &plan->count, &plan->mark,  &plan->columns, &plan->rows,
			       &plan->root,  &self->first, &self->start };
	uint32_t workers = self->parallel == NULL ? 1 : self->parallel->workers;
	for (uint32_t i = 0; i < COUNT_OF(lists); i++)
		if ((*lists[i] = ARENA_ARRAY(arena, uint32_t, n + 1)) == NULL)
			return false;
	plan->zeros = ARENA_ARRAY(arena, double, n);
	plan->work = ARENA_ARRAY(arena, double, n);
	self->local = ARENA_ARRAY(arena, uint32_t, (size_t)n * workers);
	self->part_list = ARENA_ARRAY(arena, struct chol_panel_part, n + 1);
	self->begin = ARENA_ARRAY(arena, size_t, n + 1);
	self->vector = ARENA_ARRAY(arena, double, (size_t)n *CHOL_PANEL);
	return plan->zeros != NULL && plan->work != NULL && self->local != NULL &&
	       self->part_list != NULL && self->begin != NULL && self->vector != NULL;
}

static void set_order(struct chol_panel *self, const uint32_t *order)
{
	ASSERT(self->size == 0 || order[0] < self->size);
	if (order != self->order)
		memcpy(self->order, order, self->size * sizeof *order);
	for (uint32_t k = 0; k < self->size; k++)
		self->place[order[k]] = k;
}

/* The tree; `other` shortens the paths. */
static void build_tree(struct plan *plan, const struct chol_panel *self)
{
	for (uint32_t k = 0; k < self->size; k++) {
		uint32_t body = self->order[k];
		plan->parent[k] = plan->other[k] = NONE;
		VALIDATE(plan->start[body] <= plan->start[body + 1]);
		for (uint32_t p = plan->start[body]; p < plan->start[body + 1]; p++) {
			uint32_t i = self->place[plan->near[p]], up;
			for (; i < k && i != NONE; i = up) {
				up = plan->other[i];
				plan->other[i] = k;
				if (up == NONE)
					plan->parent[i] = k;
			}
		}
	}
}

/* Reorders the bodies so that each subtree is a range. */
static void walk_tree(struct plan *plan, struct chol_panel *self)
{
	uint32_t n = self->size, end = n, *child = plan->count, *next = plan->mark;
	uint32_t *stack = plan->columns, *after = plan->rows, depth = 0;
	memset(child, 0xff, (n + 1) * sizeof *child);
	/* Lists of children, the last first, each after its parent from the end: n stands for no parent. */
	for (uint32_t k = 0; k < n; k++) {
		uint32_t up = plan->parent[k] == NONE ? n : plan->parent[k];
		next[k] = child[up];
		child[up] = k;
	}
	for (uint32_t k = child[n]; k != NONE || depth > 0;) {
		if (k == NONE) {
			k = next[stack[--depth]];
			continue;
		}
		after[--end] = self->order[k];
		stack[depth++] = k;
		k = child[k];
	}
	ASSERT(end == 0);
	set_order(self, after);
}

/* Blocks of each column of L. */
static void count_blocks(struct plan *plan, const struct chol_panel *self)
{
	for (uint32_t k = 0; k < self->size; k++) {
		uint32_t body = self->order[k];
		plan->mark[k] = k;
		plan->count[k] = 1;
		for (uint32_t p = plan->start[body]; p < plan->start[body + 1]; p++) {
			uint32_t i = self->place[plan->near[p]];
			for (; i < k && plan->mark[i] != k; i = plan->parent[i]) {
				plan->count[i]++;
				plan->mark[i] = k;
			}
		}
	}
}

/* Panels of columns with exactly the same rows. */
static void find_panels(struct plan *plan, struct chol_panel *self)
{
	self->panels = 0;
	for (uint32_t k = 0; k < self->size; k++) {
		bool goes_on = k > 0 && plan->parent[k - 1] == k &&
			       plan->count[k - 1] == plan->count[k] + 1 &&
			       plan->columns[self->panels - 1] < COLUMNS_MAX;
		if (!goes_on) {
			uint32_t p = self->panels++;
			self->first[p] = k;
			plan->columns[p] = 0;
			plan->rows[p] = plan->count[k];
			plan->root[p] = p;
			plan->zeros[p] = 0;
		}
		plan->columns[self->panels - 1]++;
		self->panel[k] = self->panels - 1;
	}
	self->first[self->panels] = self->size;
}

static bool may_join(double zeros, uint32_t columns, uint32_t rows)
{
	double blocks = 0.5 * columns * (columns + 1.0) + (double)columns * (rows - columns);
	ASSERT(rows >= columns);
	for (uint32_t i = 0; columns <= COLUMNS_MAX && i < COUNT_OF(JOINS); i++)
		if (columns <= JOINS[i].columns)
			return zeros <= JOINS[i].zeros * blocks;
	return false;
}

/* Joins panels with the next ones, from the last on, and numbers them anew. */
static void join_panels(struct plan *plan, struct chol_panel *self)
{
	uint32_t count = 0;
	for (uint32_t p = self->panels; p-- > 0;) {
		uint32_t up = plan->parent[self->first[p] + plan->columns[p] - 1];
		if (up == NONE || union_find_root(plan->root, self->panel[up]) != p + 1)
			continue;
		uint32_t own = plan->columns[p], columns = own + plan->columns[p + 1];
		uint32_t rows = own + plan->rows[p + 1];
		double zeros =
			plan->zeros[p] + plan->zeros[p + 1] + (double)own * (rows - plan->rows[p]);
		if (!may_join(zeros, columns, rows))
			continue;
		plan->root[p + 1] = p;
		plan->columns[p] = columns;
		plan->rows[p] = rows;
		plan->zeros[p] = zeros;
	}
	for (uint32_t p = 0; p < self->panels; p++)
		if (plan->root[p] == p)
			self->first[count++] = self->first[p];
	self->first[count] = self->size;
	self->panels = count;
	for (uint32_t p = 0; p < count; p++)
		for (uint32_t k = self->first[p]; k < self->first[p + 1]; k++)
			self->panel[k] = p;
}

/* Puts row i into the panels that have it: counts them, or writes them to `row`. */
static void list_row(struct plan *plan, const struct chol_panel *self, uint32_t i, bool write)
{
	uint32_t body = self->order[i];
	VALIDATE(i < self->size && self->panel[i] < self->panels);
	plan->mark[self->panel[i]] = i;
	for (uint32_t q = plan->start[body]; q < plan->start[body + 1]; q++) {
		uint32_t k = self->place[plan->near[q]];
		if (k >= i)
			continue;
		for (uint32_t p = self->panel[k]; plan->mark[p] != i;) {
			plan->mark[p] = i;
			if (write)
				self->row[self->at[p]] = i;
			self->at[p]++;
			p = self->panel[plan->parent[self->first[p + 1] - 1]];
		}
	}
}

/* The rows of each panel. NO_MEMORY. */
static enum status list_rows(struct plan *plan, struct chol_panel *self, struct arena *arena)
{
	uint32_t sum = 0;
	for (uint32_t p = 0; p < self->panels; p++) {
		self->at[p] = self->first[p + 1] - self->first[p];
		plan->mark[p] = NONE;
	}
	for (uint32_t i = 0; i < self->size; i++)
		list_row(plan, self, i, false);
	for (uint32_t p = 0; p < self->panels; p++) {
		self->start[p] = sum;
		sum += self->at[p];
	}
	self->start[self->panels] = sum;
	self->row = ARENA_ARRAY(arena, uint32_t, sum);
	if (self->row == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t p = 0; p < self->panels; p++) {
		self->at[p] = self->start[p];
		plan->mark[p] = NONE;
		for (uint32_t k = self->first[p]; k < self->first[p + 1]; k++)
			self->row[self->at[p]++] = k;
	}
	for (uint32_t i = 0; i < self->size; i++)
		list_row(plan, self, i, true);
	return STATUS_OK;
}

/* Room for the numbers, and what a factor costs. NO_MEMORY. */
static enum status place_values(struct plan *plan, struct chol_panel *self, struct arena *arena)
{
	size_t sum = 0;
	uint32_t tallest = 0;
	self->products = 0;
	for (uint32_t p = 0; p < self->panels; p++) {
		size_t columns = self->first[p + 1] - self->first[p];
		size_t rows = self->start[p + 1] - self->start[p], products = 0;
		self->begin[p] = sum;
		sum += (size_t)chol_panel_tiles(self, p) * columns * CHOL_PANEL * CHOL_PANEL_TILE;
		tallest = MAX_OF(tallest, chol_panel_tiles(self, p));
		/* Column after column, each with those from its row on. */
		for (size_t k = 0; k < columns; k++)
			products += (rows - k) * (rows - k + 1) / 2;
		self->products += products;
		plan->work[p] = (double)products;
	}
	self->begin[self->panels] = sum;
	self->value = ARENA_ARRAY(arena, double, sum);
	self->part = ARENA_ARRAY(arena, double, (size_t)tallest *CHOL_PANEL_TILE * 5);
	return self->value == NULL || self->part == NULL ? STATUS_NO_MEMORY : STATUS_OK;
}

/* The largest subtrees of little work: a panel's are those just before it. */
static void find_parts(struct plan *plan, struct chol_panel *self)
{
	double most = (double)self->products / PARTS;
	uint32_t *up = plan->other, *panels = plan->count;
	self->parts = 0;
	if ((double)self->products < SHARED) {
		if (self->panels > 0)
			self->part_list[self->parts++] =
				(struct chol_panel_part){ .end = self->panels };
		return;
	}
	for (uint32_t p = 0; p < self->panels; p++) {
		uint32_t last = plan->parent[self->first[p + 1] - 1];
		up[p] = last == NONE ? NONE : self->panel[last];
		panels[p] = 1;
	}
	for (uint32_t p = 0; p < self->panels; p++) {
		if (up[p] == NONE)
			continue;
		ASSERT(up[p] > p);
		plan->work[up[p]] += plan->work[p];
		panels[up[p]] += panels[p];
	}
	for (uint32_t p = 0; p < self->panels; p++) {
		bool below = up[p] != NONE && plan->work[up[p]] <= most;
		if (plan->work[p] <= most && !below)
			self->part_list[self->parts++] =
				(struct chol_panel_part){ .first = p + 1 - panels[p],
							  .end = p + 1 };
	}
}

enum status chol_panel_analyse(struct chol_panel *self, struct arena *arena, uint32_t size,
			       const uint32_t *start, const uint32_t *near, const uint32_t *order)
{
	struct plan plan = { .start = start, .near = near };
	ASSERT(start != NULL && order != NULL);
	self->size = size;
	self->panels = 0;
	if (!allocate_plan(&plan, self, arena))
		return STATUS_NO_MEMORY;
	set_order(self, order);
	build_tree(&plan, self);
	walk_tree(&plan, self);
	build_tree(&plan, self);
	count_blocks(&plan, self);
	find_panels(&plan, self);
	join_panels(&plan, self);
	enum status status = list_rows(&plan, self, arena);
	if (status == STATUS_OK)
		status = place_values(&plan, self, arena);
	if (status == STATUS_OK)
		find_parts(&plan, self);
	return status;
}

size_t chol_panel_find(const struct chol_panel *self, uint32_t i, uint32_t k)
{
	ASSERT(k <= i && i < self->size);
	uint32_t p = self->panel[k], from = self->start[p];
	uint32_t columns = self->first[p + 1] - self->first[p];
	uint32_t at = chol_rows_find(self->row, from, self->start[p + 1], i);
	if (at == self->start[p + 1] || self->row[at] != i)
		return CHOL_PANEL_NONE;
	return self->begin[p] + chol_panel_entry(columns, at - from, k - self->first[p]);
}

void chol_panel_identity(struct chol_panel *self)
{
	memset(self->value, 0, self->begin[self->panels] * sizeof *self->value);
	for (uint32_t p = 0; p < self->panels; p++) {
		uint32_t columns = self->first[p + 1] - self->first[p];
		for (uint32_t k = 0; k < columns; k++) {
			double *block =
				self->value + self->begin[p] + chol_panel_entry(columns, k, k);
			for (uint32_t c = 0; c < CHOL_PANEL; c++)
				block[c * CHOL_PANEL_TILE + c] = 1;
		}
	}
}

static const struct chol_panel_kernels *choose_kernels(void)
{
	uint32_t width = processor_lanes();
#if defined(__x86_64__)
	if (width >= 8)
		return &chol_panel_kernels_4;
#endif
	return width >= 4 ? &chol_panel_kernels_2 : &chol_panel_kernels_1;
}

void chol_panel_factor(struct chol_panel *self)
{
	choose_kernels()->factor(self);
}

void chol_panel_solve(struct chol_panel *self, double *b)
{
	double *x = self->vector;
	for (uint32_t i = 0; i < self->size; i++)
		memcpy(x + (size_t)self->place[i] * CHOL_PANEL, b + (size_t)i * CHOL_PANEL,
		       CHOL_PANEL * sizeof *b);
	choose_kernels()->solve(self, x);
	for (uint32_t i = 0; i < self->size; i++)
		memcpy(b + (size_t)i * CHOL_PANEL, x + (size_t)self->place[i] * CHOL_PANEL,
		       CHOL_PANEL * sizeof *b);
}
