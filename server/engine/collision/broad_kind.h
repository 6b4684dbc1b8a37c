/* broad_kind.h: what a kind of broad phase is; private to broad_*.c.
 *
 * broad_phase.c keeps what all kinds need (which slots are used, static, moved) and asks the kind for
 * places. A kind is told of every proxy once: add, then moves, then remove. Its questions may come from
 * several workers at once and change nothing.
 */
#ifndef CAIRN_ENGINE_COLLISION_BROAD_KIND_H
#define CAIRN_ENGINE_COLLISION_BROAD_KIND_H

#include "server/base/array.h"
#include "server/engine/collision/broad_phase.h"

enum { PROXY_USED = 1u << 30, PROXY_MOVED = 1u << 31 };

struct proxy {
	uint32_t flags;	   /* PROXY_STATIC, PROXY_USED, PROXY_MOVED; 0 free */
	uint32_t moved_at; /* its place in the list of moved ones, while PROXY_MOVED */
};

struct broad_index; /* each kind's own */

/* One search for pairs. */
struct question {
	const struct proxy *proxies; /* by slot */
	proxy_filter *filter;
	const void *context;
};

/* Where partners of one proxy go: counted, the first `room` noted, keys written if `keys` is given. */
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
	/* NULL, or called before pairs are asked for: the time to rebuild, within reserved memory, and to
	 * look at who has moved. */
	void (*prepare)(struct broad_index *index, const uint32_t *moved, uint32_t count);
	/* All partners of a moved proxy that `wanted` wants, or a kind's own rule of which of two moved
	 * ones asks for both. */
	void (*partners)(const struct broad_index *index, const struct question *question,
			 uint32_t slot, bool still, struct partners *out);
	/* NULL, or in place of asking for each: all pairs with a moved proxy, in any order. LIMIT and
	 * NO_MEMORY as broad_phase_pairs; out->count is then undefined. */
	enum status (*pairs)(struct broad_index *index, const struct question *question,
			     uint32_t limit, struct proxy_pairs *out);
	void (*query)(const struct broad_index *index, const struct aabb *box, proxy_visit *visit,
		      void *context);
	void (*ray)(const struct broad_index *index, vec3 origin, vec3 direction,
		    double fraction_max, proxy_ray_visit *visit, void *context);
	struct broad_phase_work (*work)(const struct broad_index *index); /* or NULL */
};

extern const struct broad_kind broad_kind_tree, broad_kind_grid, broad_kind_levels,
	broad_kind_sweep;

static inline uint64_t pair_key(uint32_t slot, uint32_t partner)
{
	uint32_t a = MIN_OF(slot, partner), b = MAX_OF(slot, partner);
	return (uint64_t)a << 32 | b;
}

/* Whether the pair is to be reported by the question of `slot`, which has moved: of two moved ones the
 * lesser asks for both. Boxes touch and one is not static: that is the kind's to see to. */
static inline bool wanted(const struct question *q, uint32_t slot, uint32_t partner)
{
	if (partner == slot)
		return false;
	if (q->proxies[partner].flags & PROXY_MOVED && partner < slot)
		return false;
	return q->filter == NULL ||
	       q->filter(MIN_OF(slot, partner), MAX_OF(slot, partner), q->context);
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
