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
#include "server/engine/dynamics/pairs.h"
#include "server/engine/dynamics/step.h"

#include <string.h>

struct reach_work {
	struct step *step;
	uint64_t *leaves;	     /* bit a slot */
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
	return work->leaves[slot / 64] >> (slot % 64) & 1;
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
	work->leaves = arena_push_zero(scratch, (step->body_count + 63) / 64 * sizeof(uint64_t));
	if (leaving == NULL || merged == NULL || work->leaves == NULL)
		return STATUS_NO_MEMORY;
	uint32_t found = 0;
	for (uint32_t i = 0; i < count; i++) {
		work->leaves[ways[i].slot / 64] |= UINT64_C(1) << (ways[i].slot % 64);
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
	return work->status;
}

/* ---- into the list ------------------------------------------------------------------------- */

static int compare_pairs(const void *a, const void *b, void *context)
{
	UNUSED(context);
	const struct contact_pair *x = a, *y = b;
	const uint32_t at_x[4] = { x->a.placement, x->b.placement, x->a.child, x->b.child };
	const uint32_t at_y[4] = { y->a.placement, y->b.placement, y->a.child, y->b.child };
	for (uint32_t i = 0; i < 4; i++)
		if (at_x[i] != at_y[i])
			return at_x[i] < at_y[i] ? -1 : 1;
	return 0;
}

static struct contact_pair pair_at(const struct contact_list *list, uint32_t i)
{
	ASSERT(i < list->count);
	return (struct contact_pair){ list->items[i].a, list->items[i].b };
}

/* Index of the list's first scratch pair. */
static uint32_t first_scratch(const struct contact_list *list)
{
	uint32_t first = list->count;
	while (first > 0 && list->items[first - 1].scratch)
		first--;
	return first;
}

/* True if the pair has a row that stays, gets a row at commit (new_pairs before `begun`), or is
 * among the list's scratch pairs, which begin at `scratch`. */
static bool is_known(const struct step *self, const struct contact_list *list, uint32_t scratch,
		     const struct contact_pair *pair, uint32_t begun)
{
	ASSERT(scratch <= list->count);
	const struct dynamics *dynamics = self->dynamics;
	uint32_t row = contact_find(dynamics, pair), low = 0, high = begun;
	if (row != DYNAMICS_NONE && !(self->gone[row / 64] >> (row % 64) & 1))
		return true;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = compare_pairs(&dynamics->new_pairs.items[middle], pair, NULL);
		if (order == 0)
			return true;
		*(order < 0 ? &low : &high) = order < 0 ? middle + 1 : middle;
	}
	for (low = scratch, high = list->count; low < high;) {
		uint32_t middle = low + (high - low) / 2;
		struct contact_pair there = pair_at(list, middle);
		int order = compare_pairs(&there, pair, NULL);
		if (order == 0)
			return true;
		*(order < 0 ? &low : &high) = order < 0 ? middle + 1 : middle;
	}
	return false;
}

/* Sorts new_pairs from `begun` on and removes duplicates and known pairs. */
static enum status remove_known(struct step *self, const struct contact_list *list, uint32_t begun)
{
	ASSERT(begun <= self->dynamics->new_pairs.count);
	struct dynamics *dynamics = self->dynamics;
	uint32_t found = dynamics->new_pairs.count - begun, unknown = 0;
	if (found == 0)
		return STATUS_OK;
	uint32_t scratch = first_scratch(list);
	struct contact_pair *items = dynamics->new_pairs.items + begun;
	struct contact_pair *merged = ARENA_ARRAY(&dynamics->scratch, struct contact_pair, found);
	if (merged == NULL)
		return STATUS_NO_MEMORY;
	sort_items(items, merged, found, sizeof *items, compare_pairs, NULL);
	for (uint32_t i = 0; i < found; i++)
		if ((i == 0 || compare_pairs(&items[i - 1], &items[i], NULL) != 0) &&
		    !is_known(self, list, scratch, &items[i], begun))
			merged[unknown++] = items[i];
	memcpy(items, merged, unknown * sizeof *items);
	dynamics->new_pairs.count = begun + unknown;
	return STATUS_OK;
}

/* Merges new_pairs from `begun` on (ascending, each once, none known) into the scratch pairs, from
 * the end. The list grows if it must. */
static enum status merge_scratch(struct step *self, struct contact_list *list, uint32_t begun)
{
	struct dynamics *dynamics = self->dynamics;
	struct arena *scratch = &dynamics->scratch;
	uint32_t next = dynamics->new_pairs.count, more = next - begun;
	ASSERT(begun <= next);
	if (list->capacity - list->count < more) {
		uint32_t capacity = MAX_OF(list->capacity, more) + list->count;
		struct contact_list grown = { ARENA_ARRAY(scratch, struct contact_state, capacity),
					      ARENA_ARRAY(scratch, struct contact_made, capacity),
					      list->count, capacity };
		if (grown.items == NULL || grown.made == NULL)
			return STATUS_NO_MEMORY;
		if (list->count > 0) {
			memcpy(grown.items, list->items, list->count * sizeof *grown.items);
			memcpy(grown.made, list->made, list->count * sizeof *grown.made);
		}
		*list = grown;
	}
	ASSERT(list->capacity - list->count >= more);
	uint32_t low = first_scratch(list), left = list->count;
	list->count += more;
	for (uint32_t to = list->count; next > begun; to--) {
		const struct contact_pair *pair = &dynamics->new_pairs.items[next - 1];
		struct contact_pair there = left > low ? pair_at(list, left - 1) : *pair;
		if (left > low && compare_pairs(&there, pair, NULL) > 0) {
			left--;
			list->items[to - 1] = list->items[left];
			list->made[to - 1] = list->made[left];
			continue;
		}
		list->items[to - 1] = (struct contact_state){
			.row = STEP_NO_ROW,
			.body_a = placement_body(dynamics->tables, pair->a.placement),
			.body_b = placement_body(dynamics->tables, pair->b.placement),
			.a = pair->a,
			.b = pair->b,
			.is_new = true,
			.scratch = true,
			.fraction = 1
		};
		next--;
	}
	return STATUS_OK;
}

enum status step_reach(struct step *self, struct contact_list *list, const struct step_way *ways,
		       uint32_t count, struct reason *why)
{
	ASSERT(count <= self->body_count);
	struct dynamics *dynamics = self->dynamics;
	uint32_t begun = dynamics->new_pairs.count;
	struct arena_mark mark = arena_mark(&dynamics->scratch);
	struct reach_work work = { .step = self };
	enum status status = find_pairs(&work, ways, count);
	if (status == STATUS_OK)
		status = remove_known(self, list, begun);
	arena_rewind(&dynamics->scratch, mark);
	uint32_t more = dynamics->new_pairs.count - begun;
	if (status == STATUS_OK)
		status = step_check_limits(
			self, (uint64_t)(list->count - first_scratch(list)) + more, why);
	if (status == STATUS_OK)
		status = merge_scratch(self, list, begun);
	dynamics->new_pairs.count = begun;
	self->reached |= more > 0;
	if (status == STATUS_NO_MEMORY)
		return reason_set(why, status, -1, "memory", "no memory for pairs within a step");
	return status;
}
