/* step_reach.c: pairs of bodies that leave their boxes within a step.
 *
 * The contact list of a step is complete while every body stays in its fat boxes. A method that
 * finds an impact in the middle of the step may send a body elsewhere. Its pairs are then found
 * again, over its whole new path:
 *   with bodies that stay     by the broad phase over their fat boxes, which hold their paths;
 *   with bodies that leave    by a sweep along x over the boxes of the paths.
 * Pieces of divided shapes are found as in pairs.c, with boxes grown by the motion of the bodies.
 */
#include "server/base/array.h"
#include "server/base/sort.h"
#include "server/engine/dynamics/body.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/contact_index.h"
#include "server/engine/dynamics/pairs.h"
#include "server/engine/dynamics/step.h"

#include <string.h>

struct reach_work {
	struct step *step;
	const struct pair_reach *at; /* the placement whose pairs are being found */
	enum status status;
};

static bool placement_leaves(const struct reach_work *work, uint32_t placement)
{
	ASSERT(placement < work->step->dynamics->tables->placement.count);
	const struct dynamics *dynamics = work->step->dynamics;
	uint32_t body = placement_body(dynamics->tables, placement);
	if (!step_takes_part(work->step, body))
		return false;
	uint32_t slot = dynamics->bodies.items[body].slot;
	return work->step->scratch.leaves[slot / 64] >> (slot % 64) & 1;
}

static enum status add_pair(struct dynamics *dynamics, const struct pair_reach *x,
			    const struct pair_reach *y)
{
	ASSERT(x->placement != y->placement);
	const struct pair_reach *a = x->placement < y->placement ? x : y, *b = a == x ? y : x;
	return pair_may_meet(dynamics, a, b) ? pairs_between(dynamics, a, b) : STATUS_OK;
}

static bool visit_staying(uint32_t placement, void *context)
{
	struct reach_work *work = context;
	if (placement_leaves(work, placement))
		return true;
	struct dynamics *dynamics = work->step->dynamics;
	struct pair_reach stays = pair_reach_fat(dynamics, placement);
	work->status = add_pair(dynamics, work->at, &stays);
	return work->status == STATUS_OK;
}

/* ---- paths --------------------------------------------------------------------------------- */

static int compare_ways(const void *a, const void *b, void *context)
{
	UNUSED(context);
	const struct pair_reach *x = a, *y = b;
	if (x->box.min.x != y->box.min.x)
		return x->box.min.x < y->box.min.x ? -1 : 1;
	return x->placement < y->placement ? -1 : x->placement > y->placement;
}

/* Appends to new_pairs the pairs of the bodies that leave their fat boxes. Some are there twice,
 * and some are in the list of contacts already. */
static enum status find_pairs(struct reach_work *work, const struct step_way *ways, uint32_t count)
{
	struct step *step = work->step;
	struct dynamics *dynamics = step->dynamics;
	const struct tables *tables = dynamics->tables;
	struct arena *scratch = &dynamics->scratch;
	uint32_t placements = 0;
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t p = tables->body.first_placement[step->bodies[ways[i].slot]]; p != 0;
		     p = tables->placement.next[p - 1])
			placements++;
	struct pair_reach *leaving = ARENA_ARRAY(scratch, struct pair_reach, placements);
	struct pair_reach *merged = ARENA_ARRAY(scratch, struct pair_reach, placements);
	uint64_t *leaves = step->scratch.leaves;
	if (leaving == NULL || merged == NULL)
		return STATUS_NO_MEMORY;
	uint32_t found = 0;
	for (uint32_t i = 0; i < count; i++) {
		leaves[ways[i].slot / 64] |= UINT64_C(1) << (ways[i].slot % 64);
		for (uint32_t p = tables->body.first_placement[step->bodies[ways[i].slot]]; p != 0;
		     p = tables->placement.next[p - 1])
			leaving[found++] =
				(struct pair_reach){ p - 1, ways[i].box, ways[i].motion };
	}
	ASSERT(found == placements);
	sort_items(leaving, merged, found, sizeof *merged, compare_ways, NULL);
	for (uint32_t i = 0; i < found && work->status == STATUS_OK; i++) {
		work->at = &leaving[i];
		broad_phase_query(dynamics->broad_phase, &work->at->box, visit_staying, work);
		for (uint32_t k = i + 1; k < found && work->status == STATUS_OK &&
					 leaving[k].box.min.x <= work->at->box.max.x;
		     k++)
			if (aabb_overlaps(work->at->box, leaving[k].box))
				work->status = add_pair(dynamics, work->at, &leaving[k]);
	}
	for (uint32_t i = 0; i < count; i++)
		leaves[ways[i].slot / 64] = 0;
	return work->status;
}

/* ---- into the list ------------------------------------------------------------------------- */

static int compare_items(const void *a, const void *b, void *context)
{
	UNUSED(context);
	return contact_compare_pairs(a, b);
}

static struct contact_pair pair_at(const struct contact_list *list, uint32_t i)
{
	ASSERT(i < list->count);
	return (struct contact_pair){ list->items[i].a, list->items[i].b };
}

/* The slot of the index of scratch pairs that holds this one, or the free one in which it belongs. */
static uint32_t scratch_slot(const struct step_scratch *self, const struct contact_list *list,
			     const struct contact_pair *pair)
{
	ASSERT(self->count < self->capacity && (self->capacity & (self->capacity - 1)) == 0);
	uint64_t hash = contact_index_hash(pair->a.placement, pair->b.placement, pair->a.child,
					   pair->b.child);
	uint32_t slot = (uint32_t)(hash >> 32) & (self->capacity - 1);
	for (; self->slots[slot] != 0; slot = (slot + 1) & (self->capacity - 1)) {
		struct contact_pair there = pair_at(list, self->slots[slot] - 1);
		if (contact_compare_pairs(&there, pair) == 0)
			break;
	}
	return slot;
}

/* Room in the index for `more` scratch pairs. */
static enum status reserve_index(struct step *self, const struct contact_list *list, uint32_t more)
{
	struct step_scratch *index = &self->scratch;
	uint64_t capacity = MAX_OF(index->capacity, 16u);
	while ((uint64_t)index->count + more > capacity / 4 * 3)
		capacity *= 2;
	if (capacity == index->capacity)
		return STATUS_OK;
	if (capacity > UINT32_MAX / 2)
		return STATUS_NO_MEMORY;
	uint32_t *slots =
		arena_push_zero(&self->dynamics->scratch, (size_t)capacity * sizeof *slots);
	if (slots == NULL)
		return STATUS_NO_MEMORY;
	index->slots = slots;
	index->capacity = (uint32_t)capacity;
	for (uint32_t i = list->count - index->count; i < list->count; i++) {
		struct contact_pair pair = pair_at(list, i);
		slots[scratch_slot(index, list, &pair)] = i + 1;
	}
	return STATUS_OK;
}

/* True if the pair has a row that stays, gets a row at commit (new_pairs before `begun`), or is
 * among the list's scratch pairs. */
static bool is_known(const struct step *self, const struct contact_list *list,
		     const struct contact_pair *pair, uint32_t begun)
{
	const struct dynamics *dynamics = self->dynamics;
	uint32_t row = contact_find(dynamics, pair), low = 0, high = begun;
	if (row != DYNAMICS_NONE && !(self->gone[row / 64] >> (row % 64) & 1))
		return true;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = contact_compare_pairs(&dynamics->new_pairs.items[middle], pair);
		if (order == 0)
			return true;
		*(order < 0 ? &low : &high) = order < 0 ? middle + 1 : middle;
	}
	return self->scratch.count > 0 &&
	       self->scratch.slots[scratch_slot(&self->scratch, list, pair)] != 0;
}

/* Sorts new_pairs from `begun` on and removes duplicates and known pairs. */
static enum status remove_known(struct step *self, const struct contact_list *list, uint32_t begun)
{
	ASSERT(begun <= self->dynamics->new_pairs.count);
	struct dynamics *dynamics = self->dynamics;
	uint32_t found = dynamics->new_pairs.count - begun, unknown = 0;
	if (found == 0)
		return STATUS_OK;
	struct contact_pair *items = dynamics->new_pairs.items + begun;
	struct contact_pair *merged = ARENA_ARRAY(&dynamics->scratch, struct contact_pair, found);
	if (merged == NULL)
		return STATUS_NO_MEMORY;
	sort_items(items, merged, found, sizeof *items, compare_items, NULL);
	for (uint32_t i = 0; i < found; i++)
		if ((i == 0 || contact_compare_pairs(&items[i - 1], &items[i]) != 0) &&
		    !is_known(self, list, &items[i], begun))
			merged[unknown++] = items[i];
	memcpy(items, merged, unknown * sizeof *items);
	dynamics->new_pairs.count = begun + unknown;
	return STATUS_OK;
}

/* Appends new_pairs from `begun` on (ascending, each once, none known) to the list, which grows if it
 * must. */
static enum status append_scratch(struct step *self, struct contact_list *list, uint32_t begun)
{
	struct dynamics *dynamics = self->dynamics;
	struct arena *scratch = &dynamics->scratch;
	uint32_t more = dynamics->new_pairs.count - begun;
	enum status status = reserve_index(self, list, more);
	if (status != STATUS_OK)
		return status;
	if (list->capacity - list->count < more) {
		uint32_t capacity = MAX_OF(list->capacity, more) + list->count;
		struct contact_list grown = { ARENA_ARRAY(scratch, struct contact_state, capacity),
					      ARENA_ARRAY(scratch, struct contact_made, capacity),
					      list->count, capacity, list->reaches };
		if (grown.items == NULL || grown.made == NULL)
			return STATUS_NO_MEMORY;
		if (list->count > 0) {
			memcpy(grown.items, list->items, list->count * sizeof *grown.items);
			memcpy(grown.made, list->made, list->count * sizeof *grown.made);
		}
		*list = grown;
	}
	ASSERT(list->capacity - list->count >= more);
	for (uint32_t i = 0; i < more; i++) {
		const struct contact_pair *pair = &dynamics->new_pairs.items[begun + i];
		list->items[list->count] = (struct contact_state){
			.row = STEP_NO_ROW,
			.body_a = placement_body(dynamics->tables, pair->a.placement),
			.body_b = placement_body(dynamics->tables, pair->b.placement),
			.a = pair->a,
			.b = pair->b,
			.is_new = true,
			.scratch = true,
		};
		uint32_t slot = scratch_slot(&self->scratch, list, pair);
		self->scratch.slots[slot] = ++list->count;
		self->scratch.count++;
	}
	return STATUS_OK;
}

enum status step_reach(struct step *self, struct contact_list *list, const struct step_way *ways,
		       uint32_t count, struct reason *why)
{
	ASSERT(count <= self->body_count);
	struct dynamics *dynamics = self->dynamics;
	uint32_t begun = dynamics->new_pairs.count;
	if (self->scratch.leaves == NULL)
		self->scratch.leaves = arena_push_zero(
			&dynamics->scratch, (self->body_count + 63) / 64 * sizeof(uint64_t));
	if (self->scratch.leaves == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "memory",
				  "no memory for paths within a step");
	struct arena_mark mark = arena_mark(&dynamics->scratch);
	struct reach_work work = { .step = self };
	enum status status = find_pairs(&work, ways, count);
	if (status == STATUS_OK)
		status = remove_known(self, list, begun);
	arena_rewind(&dynamics->scratch, mark);
	uint32_t more = dynamics->new_pairs.count - begun;
	if (status == STATUS_OK)
		status = step_check_limits(self, (uint64_t)self->scratch.count + more, why);
	if (status == STATUS_OK)
		status = append_scratch(self, list, begun);
	dynamics->new_pairs.count = begun;
	self->reached |= more > 0;
	if (status == STATUS_NO_MEMORY)
		return reason_set(why, status, -1, "memory", "no memory for pairs within a step");
	return status;
}
