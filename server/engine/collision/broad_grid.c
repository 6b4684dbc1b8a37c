/* broad_grid.c: cells by hashing, residents by level, and the searches over both.
 *
 * Cell (i, j, k) of a level contains the points with i = floor(x / width) and so on. A reference states that
 * a proxy is in a cell; the references of all cells of equal hash form a chain. Two boxes that touch share
 * the cell of the componentwise maximum of their least corners, because floor(x × 1/width) is monotone in x
 * despite rounding. A pair that shares several cells is reported in that cell alone. So it is reported
 * once without marks, and several workers may search at the same time.
 *
 * References are from a pool of REFS_PER_SLOT for each slot. A proxy that needs more than CELLS_MAX cells, or
 * more than the pool has left, or that is outside the range of indexes, is in the list of large proxies. A
 * move within the same cells changes only the box (G-10).
 */
#include "server/engine/collision/broad_grid.h"

#include "server/engine/collision/tree.h"

#define NONE UINT32_MAX
#define INDEX_MAX 1073741824.0 /* 2^30: differences of indexes fit int32 */
#define DIAMETER_MAX 1e7       /* m: larger proxies do not influence the cell sizes */
#define DIAMETER_MIN 1e-6      /* m: smaller diameters are rounded up to this */

enum {
	LARGE = GRID_LEVELS_MAX, /* the list of large proxies */
	LISTS = GRID_LEVELS_MAX + 1,
	REFS_PER_SLOT = 8,
	CELLS_MAX = 64,
	CHANGES_MIN = 16, /* changes before cell sizes are chosen again, at least */
};

struct grid_cell {
	int32_t at[3];
};

struct grid_ref {
	struct grid_cell cell;
	uint32_t level, slot;
	uint32_t next, previous; /* in the chain; next: also of the free ones */
	uint32_t sibling;	 /* the proxy's next reference */
};

struct grid_proxy {
	struct aabb box;
	struct grid_cell low, high; /* of its level */
	uint32_t list;		    /* its level, or LARGE */
	uint32_t next, previous;    /* in the list */
	uint32_t refs;
	bool still;
};

struct broad_index {
	bool one_level;
	struct broad_cells cells; /* as set */
	bool cells_changed;	  /* since sizes were chosen */
	struct grid_levels levels;
	double width[GRID_LEVELS_MAX], inverse[GRID_LEVELS_MAX]; /* m, 1/m */
	ARRAY_OF(struct grid_proxy) proxies;			 /* by slot */
	ARRAY_OF(struct grid_ref) refs;
	ARRAY_OF(uint32_t) chains; /* a power of two of them */
	uint32_t free;		   /* references */
	uint32_t first[LISTS], residents[LISTS];
	uint32_t resting[LISTS]; /* residents that have not moved, while pairs are looked for */
	uint32_t count, changes; /* proxies; those new or resized since the sizes were chosen */
	struct broad_phase_work work;
};

/* ---- levels ----------------------------------------------------------------------------------- */

struct grid_levels grid_levels_uniform(double mean, double k)
{
	ASSERT(mean > 0 && k >= 1);
	return (struct grid_levels){ k * mean, 1 };
}

struct grid_levels grid_levels_between(double diameter_min, double diameter_max,
				       uint32_t levels_max)
{
	ASSERT(levels_max >= 1 && levels_max <= GRID_LEVELS_MAX);
	ASSERT(diameter_min > 0 && diameter_min <= diameter_max);
	struct grid_levels levels = { diameter_min / GRID_PART_MIN, 1 };
	for (double width = levels.first;
	     width * GRID_PART_MAX < diameter_max && levels.count < levels_max; width *= 2)
		levels.count++;
	return levels;
}

uint32_t grid_level_of(const struct grid_levels *levels, double diameter)
{
	uint32_t level = 0;
	for (double width = 2 * levels->first;
	     level + 1 < levels->count && GRID_PART_MIN * width <= diameter; width *= 2)
		level++;
	return level;
}

static double diameter_of(const struct aabb *box)
{
	return scalar_max(vec3_length(vec3_sub(box->max, box->min)), DIAMETER_MIN);
}

static void set_levels(struct broad_index *index, struct grid_levels levels)
{
	ASSERT(levels.count >= 1 && levels.count <= GRID_LEVELS_MAX);
	ASSERT(levels.first > 0);
	index->levels = levels;
	double width = levels.first;
	for (uint32_t i = 0; i < levels.count; i++, width *= 2) {
		index->width[i] = width;
		index->inverse[i] = 1 / width;
	}
}

/* ---- cells ------------------------------------------------------------------------------------ */

static int32_t index_of(double x)
{
	return scalar_to_i32_clamped(scalar_floor(scalar_clamp(x, -INDEX_MAX, INDEX_MAX)));
}

static struct grid_cell cell_of(const struct broad_index *index, uint32_t level, vec3 p)
{
	double inverse = index->inverse[level];
	return (struct grid_cell){ { index_of(p.x * inverse), index_of(p.y * inverse),
				     index_of(p.z * inverse) } };
}

/* Products of three spans of up to 2^31: a double holds them well enough to compare. */
static double cells_between(struct grid_cell low, struct grid_cell high)
{
	double cells = 1;
	for (uint32_t axis = 0; axis < 3; axis++)
		cells *= (double)high.at[axis] - low.at[axis] + 1;
	return cells;
}

static bool cell_is(struct grid_cell a, struct grid_cell b)
{
	return a.at[0] == b.at[0] && a.at[1] == b.at[1] && a.at[2] == b.at[2];
}

/* The next cell of a block, x fastest; false after the last. */
static bool cell_next(struct grid_cell *cell, struct grid_cell low, struct grid_cell high)
{
	for (uint32_t axis = 0; axis < 3; axis++) {
		if (cell->at[axis] < high.at[axis]) {
			cell->at[axis]++;
			return true;
		}
		cell->at[axis] = low.at[axis];
	}
	return false;
}

/* The book's key i + j + k puts whole diagonals together; a product spreads them. */
static uint32_t *chain_of(const struct broad_index *index, uint32_t level, struct grid_cell cell)
{
	uint64_t key = (uint32_t)cell.at[0] * UINT64_C(0x9e3779b97f4a7c15);
	key = (key ^ (uint32_t)cell.at[1]) * UINT64_C(0xc2b2ae3d27d4eb4f);
	key = (key ^ (key >> 29) ^ (uint32_t)cell.at[2]) * UINT64_C(0x9e3779b97f4a7c15);
	key = (key ^ (key >> 32) ^ level) * UINT64_C(0xc2b2ae3d27d4eb4f);
	return &index->chains.items[(key >> 32) & (index->chains.count - 1)];
}

static void ref_add(struct broad_index *index, uint32_t slot, struct grid_cell cell)
{
	struct grid_proxy *proxy = &index->proxies.items[slot];
	ASSERT(index->free < index->refs.count);
	uint32_t r = index->free, *chain = chain_of(index, proxy->list, cell);
	struct grid_ref *ref = &index->refs.items[r];
	index->free = ref->next;
	*ref = (struct grid_ref){ cell, proxy->list, slot, *chain, NONE, proxy->refs };
	if (*chain != NONE)
		index->refs.items[*chain].previous = r;
	*chain = proxy->refs = r;
	index->work.cells_changed++;
}

static void ref_remove(struct broad_index *index, uint32_t r)
{
	ASSERT(r < index->refs.count);
	struct grid_ref *ref = &index->refs.items[r];
	if (ref->previous != NONE)
		index->refs.items[ref->previous].next = ref->next;
	else
		*chain_of(index, ref->level, ref->cell) = ref->next;
	if (ref->next != NONE)
		index->refs.items[ref->next].previous = ref->previous;
	ref->next = index->free;
	index->free = r;
	index->work.cells_changed++;
}

/* ---- lists ------------------------------------------------------------------------------------ */

static void list_add(struct broad_index *index, uint32_t slot, uint32_t list)
{
	ASSERT(slot < index->proxies.count && list < LISTS);
	struct grid_proxy *proxy = &index->proxies.items[slot];
	proxy->list = list;
	proxy->next = index->first[list];
	proxy->previous = NONE;
	if (proxy->next != NONE)
		index->proxies.items[proxy->next].previous = slot;
	index->first[list] = slot;
	index->residents[list]++;
}

static void list_remove(struct broad_index *index, const struct grid_proxy *proxy)
{
	ASSERT(proxy->list < LISTS);
	ASSERT(index->residents[proxy->list] > 0);
	if (proxy->previous != NONE)
		index->proxies.items[proxy->previous].next = proxy->next;
	else
		index->first[proxy->list] = proxy->next;
	if (proxy->next != NONE)
		index->proxies.items[proxy->next].previous = proxy->previous;
	index->residents[proxy->list]--;
}

/* ---- a proxy's range -------------------------------------------------------------------------- */

struct cell_range {
	uint32_t list;
	struct grid_cell low, high;
};

static bool within_indexes(struct grid_cell low, struct grid_cell high)
{
	for (uint32_t axis = 0; axis < 3; axis++)
		if (low.at[axis] <= (int32_t)-INDEX_MAX || high.at[axis] >= (int32_t)INDEX_MAX)
			return false;
	return true;
}

static struct cell_range cell_range_of(const struct broad_index *index, const struct aabb *box)
{
	struct cell_range range;
	double per_diameter = index->one_level ? 1 : index->cells.per_diameter;
	range.list = grid_level_of(&index->levels, per_diameter * diameter_of(box));
	range.low = cell_of(index, range.list, box->min);
	range.high = cell_of(index, range.list, box->max);
	if (!within_indexes(range.low, range.high) ||
	    cells_between(range.low, range.high) > CELLS_MAX)
		range.list = LARGE;
	return range;
}

static void insert_proxy(struct broad_index *index, uint32_t slot, struct cell_range range)
{
	struct grid_proxy *proxy = &index->proxies.items[slot];
	proxy->refs = NONE;
	proxy->low = range.low;
	proxy->high = range.high;
	if (range.list != LARGE) {
		/* Enough references for all cells? */
		double cells = cells_between(range.low, range.high);
		uint32_t r = index->free;
		for (; cells > 0 && r != NONE; cells--)
			r = index->refs.items[r].next;
		if (cells > 0)
			range.list = LARGE;
	}
	list_add(index, slot, range.list);
	if (range.list == LARGE)
		return;
	struct grid_cell cell = range.low;
	do
		ref_add(index, slot, cell);
	while (cell_next(&cell, range.low, range.high));
}

static void remove_refs(struct broad_index *index, uint32_t slot)
{
	const struct grid_proxy *proxy = &index->proxies.items[slot];
	for (uint32_t r = proxy->refs, next; r != NONE; r = next) {
		next = index->refs.items[r].sibling;
		ref_remove(index, r);
	}
	list_remove(index, proxy);
}

/* ---- life ------------------------------------------------------------------------------------- */

static void clear_lists(struct broad_index *index)
{
	for (uint32_t i = 0; i < index->chains.count; i++)
		index->chains.items[i] = NONE;
	for (uint32_t i = 0; i < index->refs.count; i++)
		index->refs.items[i].next = i + 1 < index->refs.count ? i + 1 : NONE;
	index->free = index->refs.count > 0 ? 0 : NONE;
	for (uint32_t i = 0; i < LISTS; i++) {
		index->first[i] = NONE;
		index->residents[i] = 0;
	}
}

static struct broad_index *grid_create(bool one_level)
{
	struct broad_index *index = heap_alloc_zero(sizeof *index);
	if (index == NULL)
		return NULL;
	index->one_level = one_level;
	index->cells = broad_cells_default;
	set_levels(index, grid_levels_uniform(1, index->cells.per_diameter));
	clear_lists(index);
	return index;
}

static void grid_destroy(struct broad_index *index)
{
	ARRAY_RELEASE(&index->proxies);
	ARRAY_RELEASE(&index->refs);
	ARRAY_RELEASE(&index->chains);
	heap_free(index);
}

static void grid_reset(struct broad_index *index)
{
	clear_lists(index);
	for (uint32_t i = 0; i < index->proxies.count; i++)
		index->proxies.items[i].list = NONE;
	index->count = index->changes = 0;
}

/* Inserts all proxies again, after a change of cell sizes or of the number of chains. */
static void insert_all(struct broad_index *index)
{
	clear_lists(index);
	for (uint32_t slot = 0; slot < index->proxies.count; slot++)
		if (index->proxies.items[slot].list != NONE)
			insert_proxy(index, slot,
				     cell_range_of(index, &index->proxies.items[slot].box));
}

static enum status grid_reserve(struct broad_index *index, uint32_t slots)
{
	enum status status = ARRAY_RESERVE(&index->proxies, slots);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&index->refs, (uint64_t)slots * REFS_PER_SLOT);
	uint64_t chains = MAX_OF(index->chains.count, 16u);
	while (chains < (uint64_t)slots * 4 && chains < UINT64_C(1) << 31)
		chains *= 2;
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&index->chains, chains);
	if (status != STATUS_OK || slots <= index->proxies.count)
		return status;
	for (; index->proxies.count < slots; index->proxies.count++)
		index->proxies.items[index->proxies.count].list = NONE;
	ASSERT((chains & (chains - 1)) == 0); /* chain_of masks the hash. */
	index->refs.count = slots * REFS_PER_SLOT;
	index->chains.count = (uint32_t)chains;
	insert_all(index);
	return STATUS_OK;
}

static void grid_add(struct broad_index *index, uint32_t slot, bool still, const struct aabb *box)
{
	ASSERT(slot < index->proxies.count);
	struct grid_proxy *proxy = &index->proxies.items[slot];
	ASSERT(proxy->list == NONE);
	if (index->count == 0)
		set_levels(index, grid_levels_uniform(scalar_min(diameter_of(box), DIAMETER_MAX),
						      index->cells.per_diameter));
	proxy->box = *box;
	proxy->still = still;
	insert_proxy(index, slot, cell_range_of(index, box));
	index->count++;
	index->changes++;
}

static void grid_remove(struct broad_index *index, uint32_t slot, bool still)
{
	UNUSED(still);
	ASSERT(index->count > 0 && slot < index->proxies.count);
	ASSERT(index->proxies.items[slot].list != NONE);
	remove_refs(index, slot);
	index->proxies.items[slot].list = NONE;
	index->count--;
	index->changes++;
}

static void grid_move(struct broad_index *index, uint32_t slot, bool still, const struct aabb *box)
{
	UNUSED(still);
	ASSERT(slot < index->proxies.count);
	struct grid_proxy *proxy = &index->proxies.items[slot];
	ASSERT(proxy->list != NONE);
	double before = diameter_of(&proxy->box), after = diameter_of(box);
	struct cell_range range = cell_range_of(index, box);
	index->changes += after > 2 * before || before > 2 * after;
	proxy->box = *box;
	bool same = range.list == proxy->list;
	if (same && (range.list == LARGE ||
		     (cell_is(range.low, proxy->low) && cell_is(range.high, proxy->high))))
		return;
	remove_refs(index, slot);
	insert_proxy(index, slot, range);
}

static const struct aabb *grid_box(const struct broad_index *index, uint32_t slot, bool still)
{
	UNUSED(still);
	VALIDATE(slot < index->proxies.count);
	return &index->proxies.items[slot].box;
}

static struct broad_phase_work grid_work(const struct broad_index *index)
{
	return index->work;
}

/* ---- sizes ------------------------------------------------------------------------------------ */

static struct grid_levels best_levels(const struct broad_index *index)
{
	double sum = 0, least = DIAMETER_MAX, most = 0;
	uint32_t count = 0;
	for (uint32_t slot = 0; slot < index->proxies.count; slot++) {
		const struct grid_proxy *proxy = &index->proxies.items[slot];
		double diameter = proxy->list != NONE ? diameter_of(&proxy->box) : DIAMETER_MAX;
		if (diameter >= DIAMETER_MAX)
			continue;
		sum += diameter;
		count++;
		least = scalar_min(least, diameter);
		most = scalar_max(most, diameter);
	}
	if (count == 0)
		return index->levels;
	double k = index->cells.per_diameter;
	return index->one_level ? grid_levels_uniform(sum / count, k)
				: grid_levels_between(k * least, k * most, index->cells.levels_max);
}

/* When half as many changed as there are. Sizes nearly as they were stay: entering all again costs. */
static void choose_levels(struct broad_index *index)
{
	bool set = index->cells_changed;
	if (!set && index->changes <= CHANGES_MIN + index->count / 2)
		return;
	index->changes = 0;
	index->cells_changed = false;
	struct grid_levels best = best_levels(index);
	double ratio = best.first / index->levels.first;
	if (!set && best.count == index->levels.count && ratio < 1.25 && ratio > 0.8)
		return;
	set_levels(index, best);
	insert_all(index);
	index->work.rebuilds++;
}

static void grid_set_cells(struct broad_index *index, struct broad_cells cells)
{
	index->cells = cells;
	index->cells_changed = true;
}

static void grid_prepare(struct broad_index *index, const uint32_t *moved, uint32_t count)
{
	choose_levels(index);
	for (uint32_t list = 0; list < LISTS; list++)
		index->resting[list] = index->residents[list];
	for (uint32_t i = 0; i < count; i++)
		index->resting[index->proxies.items[moved[i]].list]--;
}

/* ---- searching a box -------------------------------------------------------------------------- */

/* All proxies whose boxes touch one box, each once. */
struct scan {
	const struct broad_index *index;
	const struct aabb *box;
	uint32_t
		finer; /* lists before it are searched only if they have proxies that have not moved */
	uint32_t list; /* level or LARGE */
	bool by_cells;
	struct grid_cell low, high, cell;
	uint32_t at; /* the reference, or slot, to look at next */
};

/* Goes to the first list from `list` on that has residents. */
static void scan_enter(struct scan *scan, uint32_t list)
{
	const struct broad_index *index = scan->index;
	while (list < LISTS &&
	       (list < scan->finer ? index->resting[list] : index->residents[list]) == 0)
		list++;
	scan->list = list;
	scan->by_cells = false;
	if (list == LISTS)
		return;
	scan->at = index->first[list];
	if (list == LARGE)
		return;
	scan->low = cell_of(index, list, scan->box->min);
	scan->high = cell_of(index, list, scan->box->max);
	if (cells_between(scan->low, scan->high) >= index->residents[list])
		return;
	scan->by_cells = true;
	scan->cell = scan->low;
	scan->at = *chain_of(index, list, scan->cell);
}

static struct scan scan_make(const struct broad_index *index, const struct aabb *box,
			     uint32_t finer)
{
	struct scan scan = { .index = index, .box = box, .finer = finer };
	scan_enter(&scan, 0);
	return scan;
}

/* True if this is the cell in which the pair is reported. */
static bool cell_counts(struct grid_cell cell, struct grid_cell low, struct grid_cell other)
{
	for (uint32_t axis = 0; axis < 3; axis++)
		if (cell.at[axis] != MAX_OF(low.at[axis], other.at[axis]))
			return false;
	return true;
}

/* NONE at the end of the list. */
static uint32_t scan_list(struct scan *scan)
{
	while (scan->at != NONE) {
		uint32_t slot = scan->at;
		const struct grid_proxy *proxy = &scan->index->proxies.items[slot];
		scan->at = proxy->next;
		if (aabb_overlaps(proxy->box, *scan->box))
			return slot;
	}
	return NONE;
}

static uint32_t scan_cells(struct scan *scan)
{
	const struct broad_index *index = scan->index;
	for (;;) {
		while (scan->at != NONE) {
			const struct grid_ref *ref = &index->refs.items[scan->at];
			scan->at = ref->next;
			if (ref->level != scan->list || !cell_is(ref->cell, scan->cell))
				continue;
			const struct grid_proxy *proxy = &index->proxies.items[ref->slot];
			if (cell_counts(scan->cell, scan->low, proxy->low) &&
			    aabb_overlaps(proxy->box, *scan->box))
				return ref->slot;
		}
		if (!cell_next(&scan->cell, scan->low, scan->high))
			return NONE;
		scan->at = *chain_of(index, scan->list, scan->cell);
	}
}

/* NONE at the end. */
static uint32_t scan_next(struct scan *scan)
{
	while (scan->list < LISTS) {
		uint32_t slot = scan->by_cells ? scan_cells(scan) : scan_list(scan);
		if (slot != NONE)
			return slot;
		scan_enter(scan, scan->list + 1);
	}
	return NONE;
}

/* True if the search for `slot` reports the pair: of two moved proxies the one on the finer level does, on
 * one level the one with the smaller slot. */
static bool pair_is_reported(const struct broad_index *index, const struct pair_search *search,
			     uint32_t slot, uint32_t partner)
{
	const struct grid_proxy *one = &index->proxies.items[slot];
	const struct grid_proxy *other = &index->proxies.items[partner];
	if (partner == slot || (one->still && other->still))
		return false;
	if (search->proxies[partner].flags & PROXY_MOVED &&
	    (other->list < one->list || (other->list == one->list && partner < slot)))
		return false;
	return search->filter == NULL ||
	       search->filter(MIN_OF(slot, partner), MAX_OF(slot, partner), search->context);
}

static void grid_partners(const struct broad_index *index, const struct pair_search *search,
			  uint32_t slot, bool still, struct partners *out)
{
	UNUSED(still);
	const struct grid_proxy *proxy = &index->proxies.items[slot];
	struct scan scan = scan_make(index, &proxy->box, proxy->list);
	for (uint32_t partner = scan_next(&scan); partner != NONE; partner = scan_next(&scan))
		if (pair_is_reported(index, search, slot, partner))
			partners_add(out, slot, partner);
}

static void grid_query(const struct broad_index *index, const struct aabb *box, proxy_visit *visit,
		       void *context)
{
	struct scan scan = scan_make(index, box, 0);
	for (uint32_t slot = scan_next(&scan); slot != NONE; slot = scan_next(&scan))
		if (!visit(slot, context))
			return;
}

/* ---- searching a ray -------------------------------------------------------------------------- */

/* A ray in one level, slab by slab of cells along its main axis. The cells visited in a slab are a
 * function of the slab alone, so a later slab can compute whether an earlier one has visited a
 * proxy. */
struct ray_scan {
	const struct broad_index *index;
	struct tree_ray *ray;
	proxy_ray_visit *visit;
	void *context;
	uint32_t level, axis;
	double fraction_max; /* at the beginning: slabs must not shrink */
	double margin;	     /* m, of rounding */
	int32_t first, last; /* slabs, in the order of the ray */
};

/* The least and greatest coordinate of the ray on `axis` for fractions from `enter` to `leave`. */
static void ray_span(const struct ray_scan *scan, uint32_t axis, double enter, double leave,
		     double *low, double *high)
{
	double from = vec3_get(scan->ray->origin, axis),
	       along = vec3_get(scan->ray->direction, axis);
	double one = from + along * enter, other = from + along * leave;
	*low = scalar_min(one, other) - scan->margin;
	*high = scalar_max(one, other) + scan->margin;
}

/* The block of cells that the ray may meet in a slab. */
static void slab_cells(const struct ray_scan *scan, int32_t slab, struct grid_cell *low,
		       struct grid_cell *high)
{
	double width = scan->index->width[scan->level], inverse = scan->index->inverse[scan->level];
	double from = vec3_get(scan->ray->origin, scan->axis);
	double along = vec3_get(scan->ray->direction, scan->axis);
	double near = (slab * width - scan->margin - from) / along;
	double far = ((slab + 1.0) * width + scan->margin - from) / along;
	double enter = scalar_clamp(scalar_min(near, far), 0, scan->fraction_max);
	double leave = scalar_clamp(scalar_max(near, far), 0, scan->fraction_max);
	for (uint32_t axis = 0; axis < 3; axis++) {
		double least, most;
		ray_span(scan, axis, enter, leave, &least, &most);
		low->at[axis] = axis == scan->axis ? slab : index_of(least * inverse);
		high->at[axis] = axis == scan->axis ? slab : index_of(most * inverse);
	}
}

/* True if an earlier slab has visited one of the proxy's cells. */
static bool visited_before(const struct ray_scan *scan, const struct grid_proxy *proxy,
			   int32_t slab)
{
	bool up = vec3_get(scan->ray->direction, scan->axis) > 0;
	int32_t low = proxy->low.at[scan->axis], high = proxy->high.at[scan->axis];
	int32_t from = up ? MAX_OF(low, scan->first) : slab + 1;
	int32_t to = up ? slab - 1 : MIN_OF(high, scan->first);
	for (int32_t s = from; s <= to; s++) {
		struct grid_cell block_low, block_high;
		bool meets = true;
		slab_cells(scan, s, &block_low, &block_high);
		for (uint32_t axis = 0; axis < 3; axis++)
			meets = meets && block_low.at[axis] <= proxy->high.at[axis] &&
				proxy->low.at[axis] <= block_high.at[axis];
		if (meets)
			return true;
	}
	return false;
}

/* Visits the proxy if the ray meets its box. False: the visit stops the query. */
static bool visit_ray_hit(struct ray_scan *scan, uint32_t slot)
{
	if (!tree_ray_meets(scan->ray, &scan->index->proxies.items[slot].box))
		return true;
	scan->ray->fraction_max = scan->visit(slot, scan->ray->fraction_max, scan->context);
	return scan->ray->fraction_max >= 0;
}

static bool ray_slab(struct ray_scan *scan, int32_t slab)
{
	const struct broad_index *index = scan->index;
	struct grid_cell low, high;
	slab_cells(scan, slab, &low, &high);
	struct grid_cell cell = low;
	do {
		uint32_t r = *chain_of(index, scan->level, cell), next;
		for (; r != NONE; r = next) {
			const struct grid_ref *ref = &index->refs.items[r];
			const struct grid_proxy *proxy = &index->proxies.items[ref->slot];
			next = ref->next;
			if (ref->level != scan->level || !cell_is(ref->cell, cell))
				continue;
			/* Along the main axis the block is one cell deep: only across it cells repeat. */
			struct grid_cell corner = proxy->low;
			corner.at[scan->axis] = slab;
			if (!cell_counts(cell, low, corner) || visited_before(scan, proxy, slab))
				continue;
			if (!visit_ray_hit(scan, ref->slot))
				return false;
		}
	} while (cell_next(&cell, low, high));
	return true;
}

/* Visits the slabs in order, up to the present end of the ray. False: the visit stops the query. */
static bool ray_cells(struct ray_scan *scan)
{
	double width = scan->index->width[scan->level];
	double from = vec3_get(scan->ray->origin, scan->axis);
	double along = vec3_get(scan->ray->direction, scan->axis);
	int32_t step = along > 0 ? 1 : -1;
	for (int32_t slab = scan->first;; slab += step) {
		double near = (step > 0 ? slab : slab + 1.0) * width - step * scan->margin;
		if ((near - from) / along > scan->ray->fraction_max)
			return true;
		if (!ray_slab(scan, slab))
			return false;
		if (slab == scan->last)
			return true;
	}
}

static bool ray_list(struct ray_scan *scan, uint32_t list)
{
	uint32_t slot = scan->index->first[list];
	for (; slot != NONE; slot = scan->index->proxies.items[slot].next)
		if (!visit_ray_hit(scan, slot))
			return false;
	return true;
}

/* Sets the slabs of the level; false: the list of its proxies is cheaper, or the ray is not finite. */
static bool ray_has_slabs(struct ray_scan *scan)
{
	double low, high, inverse = scan->index->inverse[scan->level];
	double along = vec3_get(scan->ray->direction, scan->axis);
	ray_span(scan, scan->axis, 0, scan->fraction_max, &low, &high);
	if (along == 0 || !scalar_is_finite(low) || !scalar_is_finite(high))
		return false;
	int32_t least = index_of(low * inverse), most = index_of(high * inverse);
	scan->first = along > 0 ? least : most;
	scan->last = along > 0 ? most : least;
	/* A slab has at most 2 × 2 cells, or 3 × 3 with the margin. */
	double slabs = (double)most - least + 1;
	return 4 * slabs < scan->index->residents[scan->level] && least > (int32_t)-INDEX_MAX &&
	       most < (int32_t)INDEX_MAX;
}

static void grid_ray(const struct broad_index *index, vec3 origin, vec3 direction,
		     double fraction_max, proxy_ray_visit *visit, void *context)
{
	struct tree_ray ray = tree_ray_make(origin, direction, fraction_max);
	vec3 reach = vec3_mul_add(vec3_abs(origin), vec3_abs(direction), fraction_max);
	struct ray_scan scan = {
		.index = index,
		.ray = &ray,
		.visit = visit,
		.context = context,
		.axis = vec3_largest_axis(vec3_abs(direction)),
		.margin = 64 * SCALAR_EPSILON * vec3_max_component(reach),
	};
	for (uint32_t list = 0; list < LISTS; list++) {
		if (index->residents[list] == 0)
			continue;
		scan.level = list;
		scan.fraction_max = ray.fraction_max;
		bool slabs = list != LARGE && ray_has_slabs(&scan);
		if (!(slabs ? ray_cells(&scan) : ray_list(&scan, list)))
			return;
	}
}

/* ---- the kinds -------------------------------------------------------------------------------- */

static struct broad_index *create_uniform(void)
{
	return grid_create(true);
}

static struct broad_index *create_levels(void)
{
	return grid_create(false);
}

#define GRID_KIND(NAME, CREATE)                                                                    \
	{                                                                                          \
		.name = (NAME), .create = (CREATE), .destroy = grid_destroy, .reset = grid_reset,  \
		.reserve = grid_reserve, .add = grid_add, .remove = grid_remove,                   \
		.move = grid_move, .box = grid_box, .set_cells = grid_set_cells,                   \
		.prepare = grid_prepare, .partners = grid_partners, .query = grid_query,           \
		.ray = grid_ray, .work = grid_work,                                                \
	}

/* One uniform grid; and a grid for each power of two of sizes. */
const struct broad_kind broad_kind_grid = GRID_KIND("grid", create_uniform);
const struct broad_kind broad_kind_levels = GRID_KIND("levels", create_levels);
