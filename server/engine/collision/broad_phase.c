/* broad_phase.c: two dynamic trees.
 *
 * Still proxies and moving ones have a tree each. A moved proxy asks the moving tree, and unless it
 * is static itself also the still one. All boxes are in place before the first question, so two
 * moved proxies find each other both; the pair is kept by the smaller slot's question, hence once.
 *
 * Questions run in parallel: question i writes only to record i, which has room for FOUND_MAX
 * partners and a count of all. Then the counts are summed, the limit is checked and room is made; a
 * second run copies, asking again only where there were more than FOUND_MAX. The keys are sorted at
 * the end, so neither tree shape nor the order of moves nor workers can be seen in the result.
 */
#include "server/engine/collision/broad_phase.h"

#include "server/base/array.h"
#include "server/base/heap.h"
#include "server/base/sort.h"
#include "server/engine/collision/tree.h"

enum {
	STILL = 0,
	MOVING = 1,
	FOUND_MAX = 14,
	GRAIN = 32, /* questions a piece of parallel work has at least */
};
enum { PROXY_USED = 1u << 30, PROXY_MOVED = 1u << 31 };

struct proxy {
	uint32_t node;	   /* its leaf */
	uint32_t flags;	   /* PROXY_STATIC, PROXY_USED, PROXY_MOVED; 0 free */
	uint32_t moved_at; /* its place in the list of moved ones, while PROXY_MOVED */
};
#define PROXY_FREE ((struct proxy){ TREE_NONE, 0, 0 })

/* What one moved proxy found; a cache line. */
struct found {
	uint32_t slot;
	uint32_t count; /* all, also those that had no room */
	uint32_t partners[FOUND_MAX];
};

struct broad_phase {
	struct tree trees[2];
	ARRAY_OF(struct proxy) proxies; /* by slot; count = capacity in use */
	ARRAY_OF(uint32_t) moved;	/* slots with PROXY_MOVED */
	ARRAY_OF(struct found) found;
	ARRAY_OF(uint64_t) scratch;
};

enum status broad_phase_create(struct broad_phase **out)
{
	struct broad_phase *self = heap_alloc_zero(sizeof *self);
	if (self == NULL)
		return STATUS_NO_MEMORY;
	tree_init(&self->trees[STILL]);
	tree_init(&self->trees[MOVING]);
	*out = self;
	return STATUS_OK;
}

void broad_phase_destroy(struct broad_phase *self)
{
	if (self == NULL)
		return;
	tree_release(&self->trees[STILL]);
	tree_release(&self->trees[MOVING]);
	ARRAY_RELEASE(&self->proxies);
	ARRAY_RELEASE(&self->moved);
	ARRAY_RELEASE(&self->found);
	ARRAY_RELEASE(&self->scratch);
	heap_free(self);
}

void broad_phase_reset(struct broad_phase *self)
{
	tree_reset(&self->trees[STILL]);
	tree_reset(&self->trees[MOVING]);
	for (uint32_t i = 0; i < self->proxies.count; i++)
		self->proxies.items[i] = PROXY_FREE;
	self->moved.count = 0;
}

enum status broad_phase_reserve(struct broad_phase *self, uint32_t slots)
{
	enum status status = tree_reserve(&self->trees[STILL], slots);
	if (status == STATUS_OK)
		status = tree_reserve(&self->trees[MOVING], slots);
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

static struct tree *tree_of(struct broad_phase *self, const struct proxy *proxy)
{
	return &self->trees[proxy->flags & PROXY_STATIC ? STILL : MOVING];
}

static struct proxy *proxy_at(struct broad_phase *self, uint32_t slot)
{
	ASSERT(broad_phase_has(self, slot));
	return &self->proxies.items[slot];
}

/* The list has room for every slot once: a slot is on it exactly while its flag is set. */
void broad_phase_touch(struct broad_phase *self, uint32_t slot)
{
	struct proxy *proxy = proxy_at(self, slot);
	if (proxy->flags & PROXY_MOVED)
		return;
	proxy->flags |= PROXY_MOVED;
	proxy->moved_at = self->moved.count;
	self->moved.items[self->moved.count++] = slot;
}

void broad_phase_add(struct broad_phase *self, uint32_t slot, const struct aabb *fat, uint32_t flags)
{
	ASSERT(slot < self->proxies.count && self->proxies.items[slot].flags == 0);
	struct proxy *proxy = &self->proxies.items[slot];
	proxy->flags = (flags & PROXY_STATIC) | PROXY_USED;
	proxy->node = tree_insert(tree_of(self, proxy), fat, slot);
	broad_phase_touch(self, slot);
}

static void moved_forget(struct broad_phase *self, const struct proxy *proxy)
{
	uint32_t last = self->moved.items[--self->moved.count];
	self->moved.items[proxy->moved_at] = last;
	self->proxies.items[last].moved_at = proxy->moved_at;
}

void broad_phase_remove(struct broad_phase *self, uint32_t slot)
{
	struct proxy *proxy = proxy_at(self, slot);
	tree_remove(tree_of(self, proxy), proxy->node);
	if (proxy->flags & PROXY_MOVED)
		moved_forget(self, proxy);
	*proxy = PROXY_FREE;
}

void broad_phase_move(struct broad_phase *self, uint32_t slot, const struct aabb *fat)
{
	struct proxy *proxy = proxy_at(self, slot);
	tree_move(tree_of(self, proxy), proxy->node, fat);
	broad_phase_touch(self, slot);
}

bool broad_phase_has(const struct broad_phase *self, uint32_t slot)
{
	return slot < self->proxies.count && self->proxies.items[slot].flags != 0;
}

const struct aabb *broad_phase_box(const struct broad_phase *self, uint32_t slot)
{
	ASSERT(broad_phase_has(self, slot));
	const struct proxy *proxy = &self->proxies.items[slot];
	return &self->trees[proxy->flags & PROXY_STATIC ? STILL : MOVING].nodes[proxy->node].box;
}

/* ---- pairs ------------------------------------------------------------------------------------ */

struct question {
	struct broad_phase *self;
	proxy_filter *filter;
	const void *context;
	uint64_t *keys;
};

static inline uint64_t pair_key(uint32_t slot, uint32_t partner)
{
	uint32_t a = MIN_OF(slot, partner), b = MAX_OF(slot, partner);
	return (uint64_t)a << 32 | b;
}

/* Whether the pair is to be reported by the question of `slot`. */
static inline bool wanted(const struct question *q, uint32_t slot, uint32_t partner)
{
	if (partner == slot)
		return false;
	if (q->self->proxies.items[partner].flags & PROXY_MOVED && partner < slot)
		return false;
	return q->filter == NULL ||
	       q->filter(MIN_OF(slot, partner), MAX_OF(slot, partner), q->context);
}

/* All partners of one moved proxy: counted, the first `room` of them noted, and their keys
 * written if `keys` is given. */
static uint32_t partners_of(const struct question *q, uint32_t slot, uint32_t *partners,
			    uint32_t room, uint64_t *keys)
{
	const struct broad_phase *self = q->self;
	const struct aabb *box = broad_phase_box(self, slot);
	bool still = self->proxies.items[slot].flags & PROXY_STATIC;
	uint32_t count = 0;
	for (int t = still ? MOVING : STILL; t <= MOVING; t++) {
		const struct tree *tree = &self->trees[t];
		uint32_t n = tree_first(tree, box);
		for (; n != TREE_NONE; n = tree_next(tree, box, n)) {
			uint32_t partner = tree->nodes[n].item;
			if (!wanted(q, slot, partner))
				continue;
			if (count < room)
				partners[count] = partner;
			if (keys != NULL)
				keys[count] = pair_key(slot, partner);
			count++;
		}
	}
	return count;
}

static void ask(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct question *q = context;
	for (uint32_t i = first; i < last; i++) {
		struct found *found = &q->self->found.items[i];
		found->slot = q->self->moved.items[i];
		found->count = partners_of(q, found->slot, found->partners, FOUND_MAX, NULL);
	}
}

static void collect(const struct question *q)
{
	uint64_t *out = q->keys;
	for (uint32_t i = 0; i < q->self->moved.count; i++) {
		const struct found *found = &q->self->found.items[i];
		if (found->count > FOUND_MAX) /* Asks again, now that there is room. */
			out += partners_of(q, found->slot, NULL, 0, out);
		else
			for (uint32_t k = 0; k < found->count; k++)
				*out++ = pair_key(found->slot, found->partners[k]);
	}
}

enum status broad_phase_pairs(struct broad_phase *self, const struct parallel *parallel,
			      proxy_filter *filter, const void *context, uint32_t limit,
			      struct proxy_pairs *out)
{
	out->count = 0;
	struct question q = { self, filter, context, NULL };
	parallel_run(parallel, self->moved.count, GRAIN, ask, &q);
	uint64_t total = 0;
	for (uint32_t i = 0; i < self->moved.count; i++)
		total += self->found.items[i].count;
	if (total > limit)
		return STATUS_LIMIT;
	enum status status = ARRAY_RESERVE(out, total);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->scratch, total);
	if (status != STATUS_OK)
		return status;
	q.keys = out->items;
	collect(&q);
	out->count = (uint32_t)total;
	if (total > 1)
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
	for (int t = STILL; t <= MOVING; t++) {
		const struct tree *tree = &self->trees[t];
		for (uint32_t n = tree_first(tree, box); n != TREE_NONE; n = tree_next(tree, box, n))
			if (!visit(tree->nodes[n].item, context))
				return;
	}
}

void broad_phase_ray(const struct broad_phase *self, vec3 origin, vec3 direction,
		     double fraction_max, proxy_ray_visit *visit, void *context)
{
	struct tree_ray ray = tree_ray_make(origin, direction, fraction_max);
	for (int t = STILL; t <= MOVING; t++) {
		const struct tree *tree = &self->trees[t];
		for (uint32_t n = tree_ray_first(tree, &ray); n != TREE_NONE;
		     n = tree_ray_next(tree, &ray, n)) {
			ray.fraction_max = visit(tree->nodes[n].item, ray.fraction_max, context);
			if (ray.fraction_max < 0)
				return;
		}
	}
}

/* ---- how fat ---------------------------------------------------------------------------------- */

struct aabb broad_phase_fatten(const struct aabb *tight, double contact_margin, vec3 travel)
{
	double side = vec3_max_component(vec3_sub(tight->max, tight->min));
	double room = 0.5 * contact_margin + scalar_min(side / 8, BROAD_PHASE_ROOM_MAX);
	struct aabb fat = aabb_grow(*tight, room);
	fat.min = vec3_add(fat.min, vec3_min(travel, vec3_zero()));
	fat.max = vec3_add(fat.max, vec3_max(travel, vec3_zero()));
	return fat;
}

bool broad_phase_holds(const struct aabb *fat, const struct aabb *tight, double contact_margin)
{
	return aabb_contains(*fat, aabb_grow(*tight, 0.5 * contact_margin));
}
