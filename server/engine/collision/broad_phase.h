/* broad_phase.h: pairs of shapes that may touch, and boxes near a box or a ray.
 *
 * A proxy is the bounding box of a placed shape, enlarged ("fat") so that small motions do not change it.
 * It is identified by the caller's slot (the placement row). broad_phase_pairs finds every pair of
 * proxies whose fat boxes touch and of which at least one was added or moved since the last
 * broad_phase_settle.
 *
 * Guarantees: pairs are (a, b) with a < b, sorted by a then b, each once. The set is a function of boxes,
 * flags, moved slots and filter alone, not of history, memory or number of workers. No pair is dropped: if
 * there are too many, the call returns LIMIT before anything changes.
 *
 * A broad phase is of one of several kinds, chosen at creation. All kinds return the same pairs, so a
 * snapshot stores nothing of them, and a world may change its kind between any two ticks:
 *
 *   tree    two dynamic trees, still and moving        any scene; the default
 *   grid    one uniform grid (ch1-3 G-09, G-10)        many shapes of about one size
 *   levels  a grid for each power of two (G-11, G-12)  sizes of many orders of magnitude
 *   sweep   a tree over whole motions (G-13)           most shapes move fast: all boxes are refitted at once
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
/* Returns BROAD_PHASE_KINDS if no kind has that name. */
enum broad_phase_kind broad_phase_by_name(const char *name);

/* A proxy's flags. Two static proxies never make a pair and are never tested against each other. */
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

/* Returns true if the pair a < b is to be reported (collision filters, shapes of one body, known pairs).
 * Called from several workers: it must be a pure function of data that does not change during the search. */
typedef bool proxy_filter(uint32_t a, uint32_t b, const void *context);

MUST_CHECK enum status broad_phase_create(enum broad_phase_kind kind, struct broad_phase **out);
void broad_phase_destroy(struct broad_phase *self); /* NULL is ignored */
/* The cells of `grid` and `levels`; trees ignore them. They change the cost of a search, never its result.
 * The book (ch1-3 G-09) recommends 2 diameters, about eight shapes in a cell. In crowded scenes the lists of
 * such cells are long; 1 diameter costs little more than half (docs/COLLISION.md, measured). */
enum { BROAD_PHASE_LEVELS_MAX = 32 };
struct broad_cells {
	double per_diameter; /* width of a cell in diameters of its shapes: 1 … 16 */
	uint32_t levels_max; /* 1 … BROAD_PHASE_LEVELS_MAX */
};
extern const struct broad_cells broad_cells_default; /* 1 diameter, all levels */
/* Takes effect at the next broad_phase_pairs; setting equal cells again costs nothing. */
void broad_phase_set_cells(struct broad_phase *self, struct broad_cells cells);
/* Removes all proxies; memory and cells stay. */
void broad_phase_reset(struct broad_phase *self);
/* Slots 0 … slots-1 may be used without touching the heap. */
MUST_CHECK enum status broad_phase_reserve(struct broad_phase *self, uint32_t slots);

/* The slot must be reserved and free. The proxy counts as moved. */
void broad_phase_add(struct broad_phase *self, uint32_t slot, const struct aabb *fat,
		     uint32_t flags);
void broad_phase_remove(struct broad_phase *self, uint32_t slot);
void broad_phase_move(struct broad_phase *self, uint32_t slot, const struct aabb *fat);
/* Marks the proxy as moved although its box is the same, so its pairs are searched again (a filter
 * changed). */
void broad_phase_touch(struct broad_phase *self, uint32_t slot);
bool broad_phase_has(const struct broad_phase *self, uint32_t slot);
/* The fat box of a slot in use. */
struct aabb broad_phase_box(const struct broad_phase *self, uint32_t slot);

/* Writes the pairs of moved proxies for which `filter` is true (NULL: all) to `out`, replacing its contents.
 * Errors: LIMIT if there are more than `limit`, NO_MEMORY; then `out->count` is 0 and nothing else has
 * changed. Proxies stay marked as moved until broad_phase_settle, so a step that is undone finds the same
 * pairs again. */
MUST_CHECK enum status broad_phase_pairs(struct broad_phase *self, const struct parallel *parallel,
					 proxy_filter *filter, const void *context, uint32_t limit,
					 struct proxy_pairs *out);
/* Call when the pairs have been stored: no proxy is marked as moved any more. */
void broad_phase_settle(struct broad_phase *self);

/* Visits proxies whose fat box touches `box`. The order is unspecified, so results must not depend on it.
 * `visit` returns false to stop. */
typedef bool proxy_visit(uint32_t slot, void *context);
void broad_phase_query(const struct broad_phase *self, const struct aabb *box, proxy_visit *visit,
		       void *context);
/* The same without static proxies. */
void broad_phase_query_moving(const struct broad_phase *self, const struct aabb *box,
			      proxy_visit *visit, void *context);
/* Visits proxies whose fat box meets origin + f direction, 0 ≤ f ≤ fraction_max. `visit` returns the new
 * fraction_max: the current one to continue, that of its hit to continue with nearer boxes only (equal
 * ones are still visited; the caller breaks ties by id), a negative one to stop. */
typedef double proxy_ray_visit(uint32_t slot, double fraction_max, void *context);
void broad_phase_ray(const struct broad_phase *self, vec3 origin, vec3 direction,
		     double fraction_max, proxy_ray_visit *visit, void *context);

/* Counters since creation, for statistics and tests; 0 where the kind does not count. */
struct broad_phase_work {
	uint64_t cells_changed; /* references to cells added and removed */
	uint64_t rebuilds;	/* of the whole structure */
};
struct broad_phase_work broad_phase_work(const struct broad_phase *self);

#endif
