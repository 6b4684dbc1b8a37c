/* impact_links.c: what is linked to what in a tick of `impact`: the pairs and joints of each body, the
 * bodies that an event concerns, and the pairs that paths add.
 *
 * An event must cost with what is linked to it, so nothing here looks at all bodies or pairs but at the
 * tick's start. Pairs that step_reach adds within the tick (scratch pairs) come last in the list, in
 * the order in which they were found, and keep their index. The order in which pairs are solved is that
 * of rows and then of pieces, whenever they were found: impact_pairs_sort.
 */
#include "server/base/sort.h"
#include "server/engine/dynamics/body.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/methods/impact.h"

#include <string.h>

#define ALLOCATE(type, count) ARENA_ARRAY(&self->step->dynamics->scratch, type, count)

/* ---- lists by body ---------------------------------------------------------------------------- */

/* Prepends an item to the list of a body, by slot. Returns the one that was first; UINT32_MAX: none, or no
 * body. */
static uint32_t prepend(uint32_t *first, uint32_t slot, uint32_t item)
{
	if (slot == ROW_NO_BODY)
		return UINT32_MAX;
	uint32_t next = first[slot];
	first[slot] = item;
	return next;
}

/* Prepends pair p to the lists of its bodies. */
static void link_pair(struct impact_step *self, uint32_t p)
{
	const struct contact_state *pair = &self->list->items[p];
	self->next_a[p] = prepend(self->first_pair, impact_slot(self, pair->body_a), p);
	self->next_b[p] = prepend(self->first_pair, impact_slot(self, pair->body_b), p);
}

void impact_link_joints(struct impact_step *self)
{
	for (uint32_t slot = 0; slot < self->step->body_count; slot++)
		self->first_joint[slot] = UINT32_MAX;
	for (uint32_t j = self->joints.count; j-- > 0;) {
		const struct constraint *joint = &self->joints.constraints[j];
		self->joint_next_a[j] = prepend(self->first_joint, joint->body_a, j);
		self->joint_next_b[j] = prepend(self->first_joint, joint->body_b, j);
	}
}

/* Room for `capacity` pairs, of which those before `kept` keep what they have. */
static enum status reserve_pairs(struct impact_step *self, uint32_t capacity, uint32_t kept)
{
	struct impact_pair *pairs = ALLOCATE(struct impact_pair, capacity);
	struct impact_record *records = ALLOCATE(struct impact_record, capacity);
	uint32_t *next_a = ALLOCATE(uint32_t, capacity), *next_b = ALLOCATE(uint32_t, capacity);
	struct min_heap_entry *entries = ALLOCATE(struct min_heap_entry, capacity);
	uint32_t *place = ALLOCATE(uint32_t, capacity);
	if (pairs == NULL || records == NULL || next_a == NULL || next_b == NULL ||
	    entries == NULL || place == NULL)
		return STATUS_NO_MEMORY;
	if (kept > 0) {
		memcpy(pairs, self->pairs, kept * sizeof *pairs);
		memcpy(records, self->records, kept * sizeof *records);
		memcpy(next_a, self->next_a, kept * sizeof *next_a);
		memcpy(next_b, self->next_b, kept * sizeof *next_b);
	}
	self->pairs = pairs;
	self->records = records;
	self->next_a = next_a;
	self->next_b = next_b;
	min_heap_grow(&self->coming, entries, place, capacity);
	return STATUS_OK;
}

/* Pairs of the list from `first` on become pairs of the tick. */
static enum status add_pairs(struct impact_step *self, uint32_t first)
{
	uint32_t count = self->list->count;
	enum status status = STATUS_OK;
	/* The list's own room grows by parts of its size, and so does this one. */
	if (count > self->coming.items)
		status = reserve_pairs(self, self->list->capacity, first);
	for (uint32_t p = first; p < count && status == STATUS_OK; p++) {
		self->pairs[p] =
			(struct impact_pair){ .time = __builtin_inf(), .first = __builtin_inf() };
		memset(&self->records[p], 0, sizeof self->records[p]);
	}
	for (uint32_t p = count; p-- > first && status == STATUS_OK;)
		link_pair(self, p);
	return status;
}

enum status impact_link_pairs(struct impact_step *self)
{
	for (uint32_t slot = 0; slot < self->step->body_count; slot++)
		self->first_pair[slot] = UINT32_MAX;
	min_heap_init(&self->coming, NULL, NULL, 0);
	return add_pairs(self, 0);
}

/* ---- sets of bodies --------------------------------------------------------------------------- */

void impact_set_add(const struct impact_step *self, struct impact_set *set, uint32_t slot)
{
	if (slot == ROW_NO_BODY || self->local[slot] != UINT32_MAX)
		return;
	self->local[slot] = set->count;
	set->items[set->count++] = slot;
}

void impact_set_add_linked(const struct impact_step *self, struct impact_set *set)
{
	for (uint32_t i = 0; i < set->count; i++) {
		uint32_t slot = set->items[i], body = self->step->bodies[slot];
		if (!self->movable[slot])
			continue;
		for (uint32_t p = self->first_pair[slot]; p != UINT32_MAX;) {
			const struct contact_state *contact = &self->list->items[p];
			bool is_a = contact->body_a == body;
			uint32_t other = is_a ? contact->body_b : contact->body_a;
			if (self->pairs[p].touching || self->pairs[p].hit)
				impact_set_add(self, set, impact_slot(self, other));
			p = is_a ? self->next_a[p] : self->next_b[p];
		}
		for (uint32_t j = self->first_joint[slot]; j != UINT32_MAX;) {
			const struct constraint *joint = &self->joints.constraints[j];
			bool is_a = joint->body_a == slot;
			impact_set_add(self, set, is_a ? joint->body_b : joint->body_a);
			j = is_a ? self->joint_next_a[j] : self->joint_next_b[j];
		}
	}
}

void impact_set_forget(const struct impact_step *self, const struct impact_set *set)
{
	for (uint32_t i = 0; i < set->count; i++)
		self->local[set->items[i]] = UINT32_MAX;
}

/* ---- orders ----------------------------------------------------------------------------------- */

int impact_compare_numbers(const void *a, const void *b, void *context)
{
	UNUSED(context);
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

/* By row and then, of scratch pairs, which have none, by pieces. */
static int compare_pairs(const void *a, const void *b, void *context)
{
	const struct contact_list *list = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct contact_state *of_x = &list->items[x], *of_y = &list->items[y];
	if (!of_x->scratch || !of_y->scratch)
		return x < y ? -1 : x > y;
	struct contact_pair pair_x = { of_x->a, of_x->b }, pair_y = { of_y->a, of_y->b };
	return contact_compare_pairs(&pair_x, &pair_y);
}

enum status impact_pairs_sort(struct impact_step *self, uint32_t *pairs, uint32_t count)
{
	uint32_t *merged = ALLOCATE(uint32_t, count);
	if (merged == NULL)
		return STATUS_NO_MEMORY;
	sort_items(pairs, merged, count, sizeof *pairs, compare_pairs, self->list);
	return STATUS_OK;
}

enum status impact_set_sort(struct impact_step *self, struct impact_set *set)
{
	uint32_t *merged = ALLOCATE(uint32_t, set->count);
	if (merged == NULL)
		return STATUS_NO_MEMORY;
	sort_items(set->items, merged, set->count, sizeof *merged, impact_compare_numbers, NULL);
	return STATUS_OK;
}

enum status impact_pairs_of(struct impact_step *self, const struct impact_set *set, uint32_t **out,
			    uint32_t *out_count)
{
	uint32_t count = 0, *pairs = NULL;
	for (int pass = 0; pass < 2; pass++) {
		count = 0;
		for (uint32_t i = 0; i < set->count; i++) {
			uint32_t slot = set->items[i], body = self->step->bodies[slot];
			for (uint32_t p = self->first_pair[slot];
			     self->movable[slot] && p != UINT32_MAX;) {
				bool is_a = self->list->items[p].body_a == body;
				if (pairs != NULL)
					pairs[count] = p;
				count++;
				p = is_a ? self->next_a[p] : self->next_b[p];
			}
		}
		if (pass == 0)
			pairs = ALLOCATE(uint32_t, count);
		if (pairs == NULL)
			return STATUS_NO_MEMORY;
	}
	enum status status = impact_pairs_sort(self, pairs, count);
	uint32_t unique = 0;
	for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
		if (i == 0 || pairs[i] != pairs[i - 1])
			pairs[unique++] = pairs[i];
	*out = pairs;
	*out_count = unique;
	return status;
}

enum status impact_pairs_finish(struct impact_step *self)
{
	struct contact_list *list = self->list;
	uint32_t first = list->count, count;
	bool sorted = true;
	while (first > 0 && list->items[first - 1].scratch)
		first--;
	count = list->count - first;
	uint32_t *order = ALLOCATE(uint32_t, count);
	if (order == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < count; i++) {
		order[i] = first + i;
		sorted &= i == 0 || compare_pairs(&order[i - 1], &order[i], list) < 0;
	}
	if (sorted)
		return STATUS_OK;
	struct contact_state *items = ALLOCATE(struct contact_state, count);
	struct impact_pair *pairs = ALLOCATE(struct impact_pair, count);
	struct impact_record *records = ALLOCATE(struct impact_record, count);
	enum status status = impact_pairs_sort(self, order, count);
	if (status != STATUS_OK || items == NULL || pairs == NULL || records == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < count; i++) {
		items[i] = list->items[order[i]];
		pairs[i] = self->pairs[order[i]];
		records[i] = self->records[order[i]];
	}
	memcpy(&list->items[first], items, count * sizeof *items);
	memcpy(&self->pairs[first], pairs, count * sizeof *pairs);
	memcpy(&self->records[first], records, count * sizeof *records);
	return STATUS_OK;
}

/* ---- pairs within reach ----------------------------------------------------------------------- */

enum status impact_reach(struct impact_step *self, const struct impact_set *set, struct reason *why)
{
	struct arena *scratch = &self->step->dynamics->scratch;
	struct arena_mark mark = arena_mark(scratch);
	struct step_way *ways = ALLOCATE(struct step_way, set->count);
	if (ways == NULL)
		return STATUS_NO_MEMORY;
	uint32_t count = 0, before = self->list->count;
	for (uint32_t i = 0; i < set->count; i++) {
		struct step_way *way = &ways[count];
		bool leaves = false;
		way->slot = set->items[i];
		way->box = impact_path_box(self, way->slot, &way->motion, &leaves);
		if (!leaves || aabb_contains(self->reached[way->slot], way->box))
			continue;
		self->reached[way->slot] = way->box;
		count++;
	}
	if (count == 0) {
		arena_rewind(scratch, mark);
		return STATUS_OK;
	}
	enum status status = step_reach(self->step, self->list, ways, count, why);
	for (uint32_t p = before; p < self->list->count && status == STATUS_OK; p++) {
		self->list->items[p].point_count = 0;
		self->list->items[p].kept = false;
	}
	return status == STATUS_OK ? add_pairs(self, before) : status;
}
