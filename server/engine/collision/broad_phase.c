/* broad_phase.c: the part shared by all kinds of broad phase: slots, the list of moved slots, pairs.
 *
 * All boxes are stored before the first search, so each of two moved proxies can find the other. One of
 * them reports the pair, by a rule that depends on the pair alone (pair_is_wanted: the smaller
 * slot), so each pair is reported once.
 *
 * Searches run in parallel: search i writes only to record i, which has room for FOUND_MAX partners and
 * a count of all. Then the counts are summed, the limit is checked and memory is reserved. A second
 * pass copies the keys; it repeats the search of a proxy with more than FOUND_MAX partners. The
 * keys are sorted at the end, so the result depends neither on the kind nor on the order of moves
 * nor on the workers.
 */
#include "server/engine/collision/broad_phase.h"

#include "server/base/sort.h"
#include "server/engine/collision/broad_kind.h"

#include <string.h>

enum {
	FOUND_MAX = 14, /* makes struct found 64 bytes, a cache line: workers do not share lines */
	GRAIN = 32,	/* searches in a piece of parallel work, at least */
};
#define PROXY_FREE ((struct proxy){ 0, 0 })

/* The partners of one moved proxy. */
struct found {
	uint32_t slot;
	uint32_t count; /* of all partners, may exceed FOUND_MAX */
	uint32_t partners[FOUND_MAX];
};

struct broad_phase {
	const struct broad_kind *kind;
	struct broad_index *index; /* owned */
	struct broad_cells cells;
	ARRAY_OF(struct proxy) proxies; /* by slot; count = capacity in use */
	ARRAY_OF(uint32_t) moved;	/* slots with PROXY_MOVED */
	ARRAY_OF(struct found) found;
	ARRAY_OF(uint64_t) scratch;
};

static const struct broad_kind *const KINDS[BROAD_PHASE_KINDS] = {
	[BROAD_PHASE_TREE] = &broad_kind_tree,
	[BROAD_PHASE_GRID] = &broad_kind_grid,
	[BROAD_PHASE_LEVELS] = &broad_kind_levels,
	[BROAD_PHASE_SWEEP] = &broad_kind_sweep,
};

const char *broad_phase_name(enum broad_phase_kind kind)
{
	ASSERT(kind < BROAD_PHASE_KINDS);
	return KINDS[kind]->name;
}

enum broad_phase_kind broad_phase_by_name(const char *name)
{
	enum broad_phase_kind kind = 0;
	while (kind < BROAD_PHASE_KINDS && strcmp(KINDS[kind]->name, name) != 0)
		kind++;
	return kind;
}

enum status broad_phase_create(enum broad_phase_kind kind, struct broad_phase **out)
{
	ASSERT(kind < BROAD_PHASE_KINDS);
	struct broad_phase *self = heap_alloc_zero(sizeof *self);
	if (self == NULL)
		return STATUS_NO_MEMORY;
	self->kind = KINDS[kind];
	self->cells = broad_cells_default;
	self->index = self->kind->create();
	if (self->index == NULL) {
		heap_free(self);
		return STATUS_NO_MEMORY;
	}
	*out = self;
	return STATUS_OK;
}

void broad_phase_destroy(struct broad_phase *self)
{
	if (self == NULL)
		return;
	self->kind->destroy(self->index);
	ARRAY_RELEASE(&self->proxies);
	ARRAY_RELEASE(&self->moved);
	ARRAY_RELEASE(&self->found);
	ARRAY_RELEASE(&self->scratch);
	heap_free(self);
}

const struct broad_cells broad_cells_default = { 1, BROAD_PHASE_LEVELS_MAX };

void broad_phase_set_cells(struct broad_phase *self, struct broad_cells cells)
{
	ASSERT(cells.per_diameter >= 1 && cells.per_diameter <= 16);
	ASSERT(cells.levels_max >= 1 && cells.levels_max <= BROAD_PHASE_LEVELS_MAX);
	if (cells.per_diameter == self->cells.per_diameter &&
	    cells.levels_max == self->cells.levels_max)
		return;
	self->cells = cells;
	if (self->kind->set_cells != NULL)
		self->kind->set_cells(self->index, cells);
}

void broad_phase_reset(struct broad_phase *self)
{
	self->kind->reset(self->index);
	for (uint32_t i = 0; i < self->proxies.count; i++)
		self->proxies.items[i] = PROXY_FREE;
	self->moved.count = 0;
}

enum status broad_phase_reserve(struct broad_phase *self, uint32_t slots)
{
	enum status status = self->kind->reserve(self->index, slots);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->moved, slots);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->found, slots);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->proxies, slots);
	if (status != STATUS_OK)
		return status;
	for (; self->proxies.count < slots; self->proxies.count++)
		self->proxies.items[self->proxies.count] = PROXY_FREE;
	return STATUS_OK;
}

static struct proxy *proxy_at(struct broad_phase *self, uint32_t slot)
{
	ASSERT(broad_phase_has(self, slot));
	return &self->proxies.items[slot];
}

static bool is_still(const struct proxy *proxy)
{
	return proxy->flags & PROXY_STATIC;
}

/* The list has room for every slot once: a slot is in it exactly while PROXY_MOVED is set. */
void broad_phase_touch(struct broad_phase *self, uint32_t slot)
{
	struct proxy *proxy = proxy_at(self, slot);
	if (proxy->flags & PROXY_MOVED)
		return;
	ASSERT(self->moved.count < self->proxies.count);
	proxy->flags |= PROXY_MOVED;
	proxy->moved_at = self->moved.count;
	self->moved.items[self->moved.count++] = slot;
}

void broad_phase_add(struct broad_phase *self, uint32_t slot, const struct aabb *fat,
		     uint32_t flags)
{
	ASSERT(slot < self->proxies.count);
	ASSERT(self->proxies.items[slot].flags == 0);
	ASSERT((flags & ~(uint32_t)PROXY_STATIC) == 0);
	struct proxy *proxy = &self->proxies.items[slot];
	proxy->flags = (flags & PROXY_STATIC) | PROXY_USED;
	self->kind->add(self->index, slot, is_still(proxy), fat);
	broad_phase_touch(self, slot);
}

static void moved_forget(struct broad_phase *self, const struct proxy *proxy)
{
	ASSERT(proxy->moved_at < self->moved.count);
	uint32_t last = self->moved.items[--self->moved.count];
	self->moved.items[proxy->moved_at] = last;
	self->proxies.items[last].moved_at = proxy->moved_at;
}

void broad_phase_remove(struct broad_phase *self, uint32_t slot)
{
	struct proxy *proxy = proxy_at(self, slot);
	self->kind->remove(self->index, slot, is_still(proxy));
	if (proxy->flags & PROXY_MOVED)
		moved_forget(self, proxy);
	*proxy = PROXY_FREE;
}

void broad_phase_move(struct broad_phase *self, uint32_t slot, const struct aabb *fat)
{
	const struct proxy *proxy = proxy_at(self, slot);
	self->kind->move(self->index, slot, is_still(proxy), fat);
	broad_phase_touch(self, slot);
}

bool broad_phase_has(const struct broad_phase *self, uint32_t slot)
{
	return slot < self->proxies.count && self->proxies.items[slot].flags != 0;
}

struct aabb broad_phase_box(const struct broad_phase *self, uint32_t slot)
{
	ASSERT(broad_phase_has(self, slot));
	return *self->kind->box(self->index, slot, is_still(&self->proxies.items[slot]));
}

/* ---- pairs ------------------------------------------------------------------------------------ */

struct partner_search {
	struct broad_phase *self;
	struct pair_search search;
};

static void find_partners(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct partner_search *job = context;
	struct broad_phase *self = job->self;
	for (uint32_t i = first; i < last; i++) {
		struct found *found = &self->found.items[i];
		struct partners partners = { 0, FOUND_MAX, found->partners, NULL };
		found->slot = self->moved.items[i];
		self->kind->partners(self->index, &job->search, found->slot,
				     is_still(&self->proxies.items[found->slot]), &partners);
		found->count = partners.count;
	}
}

/* Finds the partners of all moved slots in parallel, then writes their keys to `out` in order of
 * the list of moved slots. Of each slot FOUND_MAX partners are stored; a slot with more is searched
 * a second time, directly into `out`. */
static enum status find_each(struct partner_search *job, const struct parallel *parallel,
			     uint32_t limit, struct proxy_pairs *out)
{
	const struct broad_phase *self = job->self;
	parallel_run(parallel, self->moved.count, GRAIN, find_partners, job);
	uint64_t total = 0;
	for (uint32_t i = 0; i < self->moved.count; i++)
		total += self->found.items[i].count;
	if (total > limit)
		return STATUS_LIMIT;
	enum status status = ARRAY_RESERVE(out, total);
	if (status != STATUS_OK)
		return status;
	uint64_t *next = out->items;
	for (uint32_t i = 0; i < self->moved.count; i++) {
		const struct found *found = &self->found.items[i];
		ASSERT(found->slot == self->moved.items[i]);
		if (found->count > FOUND_MAX) {
			struct partners partners = { .keys = next };
			self->kind->partners(self->index, &job->search, found->slot,
					     is_still(&self->proxies.items[found->slot]),
					     &partners);
			ASSERT(partners.count == found->count);
			next += partners.count;
		} else {
			for (uint32_t k = 0; k < found->count; k++)
				*next++ = pair_key(found->slot, found->partners[k]);
		}
	}
	out->count = (uint32_t)total;
	return STATUS_OK;
}

enum status broad_phase_pairs(struct broad_phase *self, const struct parallel *parallel,
			      proxy_filter *filter, const void *context, uint32_t limit,
			      struct proxy_pairs *out)
{
	struct partner_search job = { self, { self->proxies.items, filter, context } };
	out->count = 0;
	if (self->kind->prepare != NULL)
		self->kind->prepare(self->index, self->moved.items, self->moved.count);
	enum status status;
	if (self->kind->pairs != NULL && self->moved.count > 0)
		status = self->kind->pairs(self->index, &job.search, limit, out);
	else
		status = find_each(&job, parallel, limit, out);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->scratch, out->count);
	if (status != STATUS_OK) {
		out->count = 0;
		return status;
	}
	ASSERT(out->count <= limit);
	if (out->count > 1)
		sort_keys(out->items, NULL, self->scratch.items, NULL, out->count);
	return STATUS_OK;
}

void broad_phase_settle(struct broad_phase *self)
{
	for (uint32_t i = 0; i < self->moved.count; i++)
		self->proxies.items[self->moved.items[i]].flags &= ~PROXY_MOVED;
	self->moved.count = 0;
}

/* ---- queries ---------------------------------------------------------------------------------- */

void broad_phase_query(const struct broad_phase *self, const struct aabb *box, proxy_visit *visit,
		       void *context)
{
	self->kind->query(self->index, box, visit, context);
}

struct moving_query {
	const struct broad_phase *self;
	proxy_visit *visit;
	void *context;
};

static bool visit_moving(uint32_t slot, void *context)
{
	const struct moving_query *query = context;
	return is_still(&query->self->proxies.items[slot]) || query->visit(slot, query->context);
}

void broad_phase_query_moving(const struct broad_phase *self, const struct aabb *box,
			      proxy_visit *visit, void *context)
{
	struct moving_query query = { self, visit, context };
	if (self->kind->query_moving != NULL)
		self->kind->query_moving(self->index, box, visit, context);
	else
		self->kind->query(self->index, box, visit_moving, &query);
}

void broad_phase_ray(const struct broad_phase *self, vec3 origin, vec3 direction,
		     double fraction_max, proxy_ray_visit *visit, void *context)
{
	self->kind->ray(self->index, origin, direction, fraction_max, visit, context);
}

struct broad_phase_work broad_phase_work(const struct broad_phase *self)
{
	return self->kind->work != NULL ? self->kind->work(self->index)
					: (struct broad_phase_work){ 0 };
}
