/* broad_phase.h: which shapes are near enough to look at.
 *
 * A proxy is a box round a placed shape, enlarged ("fat") so that small motions need no work here.
 * It is named by a slot of the caller's (the placement row). broad_phase_pairs finds every pair of
 * proxies whose fat boxes touch and of which at least one was added or moved since the last
 * broad_phase_settle.
 *
 * Promises: pairs come as (a, b) with a < b, sorted by a then b, each once; the set is a function
 * of boxes, flags, moved slots and filter alone, not of history, memory or number of workers. Pairs
 * are never dropped: too many is an answer (LIMIT) given before anything changes.
 *
 * Behind the door stands one of several kinds, chosen at creation. All give the same answers, so nothing
 * of a kind needs saving, and a world may change its kind between any two ticks:
 *
 *   tree    two dynamic trees, still and moving      whatever there is; the one to take without a reason
 *   grid    one uniform grid (ch1-3 G-09, G-10)      many things of about one size
 *   levels  a grid for each power of two (G-11, G-12)  sizes of many orders of magnitude
 *   sweep   a tree over whole motions (G-13)         most things move, and fast: all is refitted at once
 */
#ifndef CAIRN_ENGINE_COLLISION_BROAD_PHASE_H
#define CAIRN_ENGINE_COLLISION_BROAD_PHASE_H

#include "server/base/parallel.h"
#include "server/base/status.h"
#include "server/engine/geometry/aabb.h"
#include "server/engine/math/vec3.h"

struct broad_phase; /* private */

/* Numbers are permanent: world.broad_phase. */
enum broad_phase_kind {
	BROAD_PHASE_TREE = 0,
	BROAD_PHASE_GRID = 1,
	BROAD_PHASE_LEVELS = 2,
	BROAD_PHASE_SWEEP = 3,
	BROAD_PHASE_KINDS = 4,
};
/* "tree" … "sweep". */
const char *broad_phase_name(enum broad_phase_kind kind);
/* BROAD_PHASE_KINDS: there is none of that name. */
enum broad_phase_kind broad_phase_by_name(const char *name);

/* A proxy's flags. Two static proxies never make a pair, and are never looked at together. */
enum { PROXY_STATIC = 1u << 0 };

/* Pairs found: keys a << 32 | b, ascending. An array in the sense of base/array.h, owned by the caller. */
struct proxy_pairs {
	uint64_t *items;
	uint32_t count, capacity;
};
static inline uint32_t proxy_pair_a(uint64_t pair)
{
	return (uint32_t)(pair >> 32);
}
static inline uint32_t proxy_pair_b(uint64_t pair)
{
	return (uint32_t)pair;
}

/* Whether the pair a < b is wanted (filters, bodies in common, pairs known already). Called from
 * workers: it may only read, and must be a pure function of what does not change meanwhile. */
typedef bool proxy_filter(uint32_t a, uint32_t b, const void *context);

MUST_CHECK enum status broad_phase_create(enum broad_phase_kind kind, struct broad_phase **out);
void broad_phase_destroy(struct broad_phase *self); /* NULL is ignored */
/* The cells of `grid` and `levels`; trees ignore them. They decide what a search costs, never what it finds.
 * The book (ch1-3 G-09) recommends 2 diameters, some eight things a cell; where things are crowded the lists
 * of such cells are long, and 1 costs little more than half (docs/COLLISION.md, measured). */
enum { BROAD_PHASE_LEVELS_MAX = 32 };
struct broad_cells {
	double per_diameter; /* width of a cell in diameters of its things: 1 … 16 */
	uint32_t levels_max; /* 1 … BROAD_PHASE_LEVELS_MAX */
};
extern const struct broad_cells broad_cells_default; /* 1 diameter, all levels */
/* From the next broad_phase_pairs on; the same cells again cost nothing. */
void broad_phase_set_cells(struct broad_phase *self, struct broad_cells cells);
/* Forgets all proxies, keeps the memory and the cells. */
void broad_phase_reset(struct broad_phase *self);
/* Slots 0 … slots-1 may be used without touching the heap. */
MUST_CHECK enum status broad_phase_reserve(struct broad_phase *self, uint32_t slots);

/* The slot must be reserved and free. The proxy counts as moved. */
void broad_phase_add(struct broad_phase *self, uint32_t slot, const struct aabb *fat,
		     uint32_t flags);
void broad_phase_remove(struct broad_phase *self, uint32_t slot);
void broad_phase_move(struct broad_phase *self, uint32_t slot, const struct aabb *fat);
/* Looks for the proxy's pairs again although its box is the same (a filter changed). */
void broad_phase_touch(struct broad_phase *self, uint32_t slot);
bool broad_phase_has(const struct broad_phase *self, uint32_t slot);

/* Pairs of moved proxies that `filter` (NULL: all) wants; replaces what is in `out`. LIMIT if
 * there are more than `limit`, NO_MEMORY: then `out->count` is 0 and nothing else changed. The
 * moved set stays until broad_phase_settle, so a step that is undone for other reasons finds the
 * same pairs again. */
MUST_CHECK enum status broad_phase_pairs(struct broad_phase *self, const struct parallel *parallel,
					 proxy_filter *filter, const void *context, uint32_t limit,
					 struct proxy_pairs *out);
/* The pairs were taken over: forgets which proxies moved. */
void broad_phase_settle(struct broad_phase *self);

/* Proxies whose fat box touches `box`, in no order that may be relied on: answers must not
 * depend on it. `visit` returns false to stop. */
typedef bool proxy_visit(uint32_t slot, void *context);
void broad_phase_query(const struct broad_phase *self, const struct aabb *box, proxy_visit *visit,
		       void *context);
/* Proxies whose fat box meets origin + f direction, 0 ≤ f ≤ fraction_max. `visit` returns the new
 * fraction_max: the present one to go on, its hit's to look only for nearer ones (equal ones still
 * come: ties are the caller's, by id), a negative one to stop. */
typedef double proxy_ray_visit(uint32_t slot, double fraction_max, void *context);
void broad_phase_ray(const struct broad_phase *self, vec3 origin, vec3 direction,
		     double fraction_max, proxy_ray_visit *visit, void *context);

/* What the kind did since creation, for statistics and tests; what it does not know is 0. */
struct broad_phase_work {
	uint64_t cells_changed; /* references to cells made and taken back */
	uint64_t rebuilds;
};
struct broad_phase_work broad_phase_work(const struct broad_phase *self);

#endif
