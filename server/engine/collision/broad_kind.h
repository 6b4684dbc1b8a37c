/* broad_kind.h: the interface of a kind of broad phase; private to broad_*.c and grid.c.
 *
 * broad_phase.c stores what all kinds need (which slots are used, static, moved); the kind stores the boxes.
 * Every proxy is added once, then moved any number of times, then removed. `partners`, `query` and `ray`
 * may be called from several workers at the same time and change nothing.
 */
#ifndef CAIRN_ENGINE_COLLISION_BROAD_KIND_H
#define CAIRN_ENGINE_COLLISION_BROAD_KIND_H

#include "server/base/array.h"
#include "server/engine/collision/broad_phase.h"

enum { PROXY_USED = 1u << 30, PROXY_MOVED = 1u << 31 };

struct proxy {
	uint32_t flags;	   /* PROXY_STATIC, PROXY_USED, PROXY_MOVED; 0 free */
	uint32_t moved_at; /* index in the list of moved slots, while PROXY_MOVED */
};

struct broad_index; /* each kind's own */

/* One search for pairs. */
struct pair_search {
	const struct proxy *proxies; /* by slot */
	proxy_filter *filter;
	const void *context;
};

/* Output of the search for one proxy's partners: all are counted, the first `room` are written to `slots`,
 * and all keys to `keys` unless it is NULL. */
struct partners {
	uint32_t count, room;
	uint32_t *slots;
	uint64_t *keys;
};

struct broad_kind {
	const char *name;
	struct broad_index *(*create)(void); /* NULL: no memory */
	void (*destroy)(struct broad_index *index);
	void (*reset)(struct broad_index *index);
	enum status (*reserve)(struct broad_index *index, uint32_t slots);
	void (*add)(struct broad_index *index, uint32_t slot, bool still, const struct aabb *box);
	void (*remove)(struct broad_index *index, uint32_t slot, bool still);
	void (*move)(struct broad_index *index, uint32_t slot, bool still, const struct aabb *box);
	const struct aabb *(*box)(const struct broad_index *index, uint32_t slot, bool still);
	void (*set_cells)(struct broad_index *index, struct broad_cells cells); /* or NULL */
	/* NULL, or called before each search for pairs with the moved slots. The kind may rebuild
	 * here, within reserved memory. */
	void (*prepare)(struct broad_index *index, const uint32_t *moved, uint32_t count);
	/* Adds all partners of a moved proxy for which pair_is_wanted is true. A kind may use its own rule of
	 * which of two moved proxies reports their pair. */
	void (*partners)(const struct broad_index *index, const struct pair_search *search,
			 uint32_t slot, bool still, struct partners *out);
	/* NULL, or replaces `partners`: all pairs with a moved proxy, in any order. LIMIT and NO_MEMORY as
	 * broad_phase_pairs; out->count is then undefined. */
	enum status (*pairs)(struct broad_index *index, const struct pair_search *search,
			     uint32_t limit, struct proxy_pairs *out);
	void (*query)(const struct broad_index *index, const struct aabb *box, proxy_visit *visit,
		      void *context);
	/* NULL, or as `query` without the still ones, where that saves a walk. */
	void (*query_moving)(const struct broad_index *index, const struct aabb *box,
			     proxy_visit *visit, void *context);
	void (*ray)(const struct broad_index *index, vec3 origin, vec3 direction,
		    double fraction_max, proxy_ray_visit *visit, void *context);
	struct broad_phase_work (*work)(const struct broad_index *index); /* or NULL */
};

extern const struct broad_kind broad_kind_tree, broad_kind_grid, broad_kind_levels,
	broad_kind_sweep;

static inline uint64_t pair_key(uint32_t slot, uint32_t partner)
{
	VALIDATE(slot != partner);
	uint32_t a = MIN_OF(slot, partner), b = MAX_OF(slot, partner);
	return (uint64_t)a << 32 | b;
}

/* True if the search for the moved proxy `slot` reports the pair: of two moved proxies the one with the
 * smaller slot reports it. The kind must check that the boxes touch and that one proxy is not static. */
static inline bool pair_is_wanted(const struct pair_search *search, uint32_t slot, uint32_t partner)
{
	if (partner == slot)
		return false;
	if (search->proxies[partner].flags & PROXY_MOVED && partner < slot)
		return false;
	return search->filter == NULL ||
	       search->filter(MIN_OF(slot, partner), MAX_OF(slot, partner), search->context);
}

static inline void partners_add(struct partners *out, uint32_t slot, uint32_t partner)
{
	if (out->count < out->room)
		out->slots[out->count] = partner;
	if (out->keys != NULL)
		out->keys[out->count] = pair_key(slot, partner);
	out->count++;
}

#endif
