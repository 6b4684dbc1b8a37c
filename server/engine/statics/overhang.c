/* See overhang.h. */
#include "server/engine/statics/overhang.h"

#include <string.h>

#include "server/engine/statics/counterweights.h"
#include "server/engine/math/scalar.h"

/* Halvings of the interval in which a load is: more change no bit. */
enum { HALVINGS = 200 };
/* Shapes of the counterweights of one bound: a stack of 20 bricks needs 69. */
enum { SHAPES_MAX = 256 };
/* In weights of a brick: a lighter counterweight is none. */
#define WEIGHT_MIN 1e-9

/* Bricks from the top are 1 … bricks; those above `first` carry no counterweight. */
struct spine {
	uint32_t bricks, first;
	double load[OVERHANG_MAX + 1], reach;
};

struct spine_list {
	struct spine items[OVERHANG_MAX * (OVERHANG_MAX + 1)]; /* the farthest first */
	uint32_t count;
};

/* The loads below brick `first`, from its own on; false if the lowest is more than all bricks. */
static bool load_below(struct spine *self, double own, double most)
{
	ASSERT(self->first >= 1);
	ASSERT(self->bricks <= OVERHANG_MAX);
	self->load[self->first] = own;
	for (uint32_t i = self->first; i < self->bricks; i++) {
		self->load[i + 1] = scalar_square(self->load[i]) / (self->load[i - 1] + 0.5);
		if (self->load[i + 1] > most)
			return false;
	}
	return true;
}

/* False: no best loads exist, because a counterweight would pull. */
static bool load_spine(struct spine *self, uint32_t bricks, uint32_t first, uint32_t count)
{
	double low = first, high = count;
	*self = (struct spine){ .bricks = bricks, .first = first };
	if (first > bricks && bricks != count)
		return false;
	for (uint32_t i = 0; i < first && i <= bricks; i++)
		self->load[i] = i;
	for (uint32_t k = 0; k < HALVINGS && first < bricks; k++) {
		double own = low + 0.5 * (high - low);
		*(load_below(self, own, count) ? &low : &high) = own;
	}
	if (first < bricks && !load_below(self, low, count))
		return false;
	self->load[bricks] = count;
	for (uint32_t i = 1; i <= bricks; i++) {
		double weight = self->load[i] - self->load[i - 1] - 1;
		if (weight < (i < first ? 0 : WEIGHT_MIN))
			return false;
		self->reach += 1 - (self->load[i - 1] + 0.5) / self->load[i];
	}
	return true;
}

static void list_spines(struct spine_list *self, uint32_t count)
{
	self->count = 0;
	for (uint32_t bricks = 1; bricks <= count; bricks++)
		for (uint32_t first = 1; first <= bricks + 1; first++) {
			struct spine spine;
			if (!load_spine(&spine, bricks, first, count))
				continue;
			uint32_t at = self->count++;
			ASSERT(at < COUNT_OF(self->items));
			for (; at > 0 && self->items[at - 1].reach < spine.reach; at--)
				self->items[at] = self->items[at - 1];
			self->items[at] = spine;
		}
}

/* ---- shapes of the counterweights ------------------------------------------------------------ */

/* In lengths of a brick. Where it is possible, bricks do not just touch each other with their ends.
 * */
#define ROOM 0.01

struct shape_search {
	struct counterweights task;
	uint32_t rows_min, tried;
	bool placed;
	enum status status;
};

static void begin_search(struct shape_search *self, const struct spine *spine, double room)
{
	double reach = 0;
	*self = (struct shape_search){ .task = { .spine = spine->bricks, .room = room } };
	for (uint32_t row = 0; row < spine->bricks; row++) {
		uint32_t i = spine->bricks - row;
		reach += 1 - (spine->load[i - 1] + 0.5) / spine->load[i];
		self->task.spine_x[row] = reach - 0.5;
		self->task.weight[row] =
			i < spine->first ? 0 : spine->load[i] - spine->load[i - 1] - 1;
	}
	/* The highest brick that carries a counterweight has one above its row. */
	self->rows_min = spine->first > spine->bricks ? 1 : spine->bricks - spine->first + 2;
}

/* Tries all ways to lay `left` more bricks in this row and the ones above, until one balances. A
 * row has at most one brick more than the row below it, because each rests on one or two. */
static void search_shapes(struct shape_search *self, uint32_t row, uint32_t left)
{
	ASSERT(row >= 1);
	if (left == 0 && row < self->rows_min)
		return;
	if (left == 0) {
		self->task.rows = row;
		self->tried++;
		self->status = counterweights_place(&self->task, &self->placed);
		return;
	}
	uint32_t most = MIN_OF(left, self->task.in_row[row - 1] + 1);
	for (uint32_t bricks = 1; bricks <= most && row < COUNTERWEIGHT_ROWS_MAX; bricks++) {
		self->task.in_row[row] = bricks;
		search_shapes(self, row + 1, left - bricks);
		if (self->placed || self->status != STATUS_OK || self->tried >= SHAPES_MAX)
			return;
	}
}

static void take_stack(struct overhang *self, const struct spine *spine,
		       const struct counterweights *found)
{
	uint32_t at = 0;
	self->spine = spine->bricks;
	self->reach = spine->reach;
	for (uint32_t row = 0; row < spine->bricks; row++, at++) {
		self->x[at] = found->spine_x[row];
		self->row[at] = row;
	}
	for (uint32_t row = 1, k = 0; row < found->rows && k < found->count; row++)
		for (uint32_t i = 0; i < found->in_row[row]; i++, k++, at++) {
			self->x[at] = found->x[k];
			self->row[at] = row;
		}
	ASSERT(at == self->count);
}

enum status overhang_find(struct overhang *self, uint32_t count)
{
	struct spine_list list;
	ASSERT(count >= 1);
	ASSERT(count <= OVERHANG_MAX);
	*self = (struct overhang){ .count = count };
	list_spines(&list, count);
	for (uint32_t i = 0; i < 2 * list.count; i++) {
		struct shape_search search;
		const struct spine *spine = &list.items[i / 2];
		begin_search(&search, spine, i % 2 == 0 ? ROOM : 0);
		if (spine->bricks == count)
			search.placed = true;
		else
			search_shapes(&search, 1, count - spine->bricks);
		self->layouts += search.tried;
		if (search.status != STATUS_OK)
			return search.status;
		if (search.placed) {
			take_stack(self, spine, &search.task);
			return STATUS_OK;
		}
	}
	ASSERT(false); /* One brick on each other is always listed. */
	return STATUS_RANGE;
}
