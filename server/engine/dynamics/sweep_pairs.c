/* See sweep.h. Pairs of dynamic bodies of which one has BODY_FAST, each body on its way after static
 * and animated obstacles.
 *
 * Pairs are searched in parallel; then the earliest touch by (fraction, id, id) ends the paths of both
 * bodies, and the other pairs of these two are searched again with the shorter paths, until there is no
 * touch. A shorter path takes the whole tick as well, so of each pair one continuous motion has been
 * searched that ends where the bodies end. */
#include "server/engine/dynamics/sweep.h"

#include "server/base/min_heap.h"
#include "server/base/sort.h"
#include "server/engine/dynamics/body.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/pairs.h"
#include "server/engine/dynamics/sweep_list.h"

enum {
	PAIR_GRAIN = 4,
	/* How often a pair may end its bodies' paths; then it counts as a search without an answer. */
	PAIR_STOPS_MAX = 8,
};

struct fast_pair {
	uint32_t a, b;	 /* indexes of the list; b: DYNAMICS_NONE if it is slow or sleeps */
	uint32_t body_b; /* row */
	uint32_t stops;
	struct sweep_hit hit;
};

struct pair_work {
	struct step *step;
	const struct body_motion *motions;
	struct sweep_list *list;
	double slow_most;
	struct fast_pair *pairs; /* NULL: they are counted */
	uint32_t count;
	uint32_t at; /* of the body whose pairs are being found */
	const uint64_t *fast;
};

static bool is_flagged(const struct pair_work *work, uint32_t i)
{
	const struct body_table *table = &work->step->dynamics->tables->body;
	return table->flags[work->list->items[i].body] & BODY_FAST;
}

static void add_pair(struct pair_work *work, uint32_t a, uint32_t b, uint32_t body_b)
{
	if (work->pairs != NULL)
		work->pairs[work->count] = (struct fast_pair){ a, b, body_b, 0, { .fraction = 1 } };
	work->count++;
}

/* ---- finding ------------------------------------------------------------------------------- */

static bool visit_slow(uint32_t placement, void *context)
{
	struct pair_work *work = context;
	const struct dynamics *dynamics = work->step->dynamics;
	uint32_t body = placement_body(dynamics->tables, placement);
	if (dynamics->tables->body.status[body] != BODY_DYNAMIC)
		return true;
	if (step_takes_part(work->step, body)) {
		uint32_t slot = dynamics->bodies.items[body].slot;
		if (work->fast[slot / 64] >> (slot % 64) & 1)
			return true;
	}
	/* A body with several placements is met several times: one pair is enough, at the first. */
	if (dynamics->tables->body.first_placement[body] != placement + 1 &&
	    aabb_overlaps(placement_box(dynamics->tables,
					dynamics->tables->body.first_placement[body] - 1),
			  work->list->items[work->at].box))
		return true;
	add_pair(work, work->at, DYNAMICS_NONE, body);
	return true;
}

static int compare_boxes(const void *x, const void *y, void *context)
{
	const struct sweep_body *items = context;
	uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
	if (items[i].box.min.x != items[k].box.min.x)
		return items[i].box.min.x < items[k].box.min.x ? -1 : 1;
	return i < k ? -1 : i > k;
}

/* Visits every pair once or more often; counts or stores it. */
static void find_pairs(struct pair_work *work, const uint32_t *order)
{
	const struct sweep_list *list = work->list;
	work->count = 0;
	for (uint32_t i = 0; i < list->count; i++) {
		if (!is_flagged(work, i))
			continue;
		work->at = i;
		broad_phase_query(work->step->dynamics->broad_phase, &list->items[i].box,
				  visit_slow, work);
	}
	for (uint32_t i = 0; i < list->count; i++) {
		const struct sweep_body *x = &list->items[order[i]];
		for (uint32_t k = i + 1; k < list->count; k++) {
			const struct sweep_body *y = &list->items[order[k]];
			if (y->box.min.x > x->box.max.x)
				break;
			bool flagged = is_flagged(work, order[i]);
			if (!aabb_overlaps(x->box, y->box) ||
			    !(flagged || is_flagged(work, order[k])))
				continue;
			uint32_t a = flagged ? order[i] : order[k];
			uint32_t b = flagged ? order[k] : order[i];
			if (is_flagged(work, b) && b < a) {
				uint32_t lower = b;
				b = a;
				a = lower;
			}
			add_pair(work, a, b, list->items[b].body);
		}
	}
}

/* By ids: rows have others after a body was removed. */
static int compare_fast_pairs(const void *x, const void *y, void *context)
{
	const struct pair_work *work = context;
	const uint32_t *id = work->step->dynamics->tables->body.id;
	const struct fast_pair *p = x, *q = y;
	uint32_t p_a = id[work->list->items[p->a].body], q_a = id[work->list->items[q->a].body];
	uint32_t p_b = id[p->body_b], q_b = id[q->body_b];
	if (p_a != q_a)
		return p_a < q_a ? -1 : 1;
	return p_b < q_b ? -1 : p_b > q_b;
}

/* Sorts the pairs by ids and removes those that are there twice. */
static void sort_pairs(struct pair_work *work, struct fast_pair *merged)
{
	uint32_t kept = 0;
	sort_items(work->pairs, merged, work->count, sizeof *merged, compare_fast_pairs, work);
	for (uint32_t i = 0; i < work->count; i++)
		if (i == 0 || compare_fast_pairs(&work->pairs[i - 1], &work->pairs[i], work) != 0)
			merged[kept++] = work->pairs[i];
	for (uint32_t i = 0; i < kept; i++)
		work->pairs[i] = merged[i];
	work->count = kept;
}

/* ---- touching ------------------------------------------------------------------------------ */

static struct sweep_path partner_path(const struct pair_work *work, const struct fast_pair *pair)
{
	const struct step *step = work->step;
	struct sweep_path path;
	if (pair->b != DYNAMICS_NONE)
		return work->list->items[pair->b].path;
	if (step_takes_part(step, pair->body_b) &&
	    sweep_path_of(step->dynamics, pair->body_b,
			  &work->motions[step->dynamics->bodies.items[pair->body_b].slot], step->dt,
			  &path))
		return path;
	return sweep_path_still(step->dynamics, pair->body_b);
}

static void search_pair(const struct pair_work *work, struct fast_pair *pair)
{
	const struct dynamics *dynamics = work->step->dynamics;
	const struct tables *tables = dynamics->tables;
	const struct sweep_body *a = &work->list->items[pair->a];
	struct sweep_path other = partner_path(work, pair);
	uint32_t parts = sweep_parts(&a->path, &other);
	pair->hit = (struct sweep_hit){ .fraction = 1, .limits = pair->hit.limits };
	for (uint32_t part = 0; part < parts && pair->hit.fraction == 1; part++)
		for (uint32_t p = tables->body.first_placement[a->body]; p != 0;
		     p = tables->placement.next[p - 1])
			for (uint32_t q = tables->body.first_placement[pair->body_b]; q != 0;
			     q = tables->placement.next[q - 1]) {
				struct pair_reach mine = { p - 1, a->box, 0 };
				struct pair_reach theirs = pair_reach_fat(dynamics, q - 1);
				if (pair_may_meet(dynamics, &mine, &theirs))
					sweep_placements(dynamics, &a->path, p - 1, &other, q - 1,
							 part, parts, &pair->hit);
			}
}

static void pairs_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct pair_work *work = context;
	for (uint32_t i = first; i < last; i++)
		search_pair(work, &work->pairs[i]);
}

/* ---- stopping, the earliest touch first ---------------------------------------------------- */

/* The pairs whose touch may still end paths, and the pairs of each body of the list. */
struct pair_queue {
	const struct pair_work *work;
	struct min_heap heap; /* by fraction; pairs are numbered by ids */
	uint32_t *first_of;   /* by body of the list, and one more: where its pairs begin in `of` */
	uint32_t *of;
};

static void queue_pair(struct pair_queue *self, uint32_t i)
{
	const struct fast_pair *pair = &self->work->pairs[i];
	if (pair->hit.fraction < 1 && pair->stops < PAIR_STOPS_MAX)
		min_heap_put(&self->heap, i, pair->hit.fraction);
	else
		min_heap_remove(&self->heap, i);
}

/* Lists the pairs of each body. `first_of` is all zero. */
static void list_pairs_of_bodies(struct pair_queue *self)
{
	const struct pair_work *work = self->work;
	uint32_t *first_of = self->first_of;
	for (uint32_t i = 0; i < work->count; i++) {
		first_of[work->pairs[i].a]++;
		if (work->pairs[i].b != DYNAMICS_NONE)
			first_of[work->pairs[i].b]++;
	}
	for (uint32_t body = 0; body < work->list->count; body++)
		first_of[body + 1] += first_of[body];
	/* Each start is now where the next body's begins, and goes back with each pair that is listed. */
	for (uint32_t i = work->count; i-- > 0;) {
		self->of[--first_of[work->pairs[i].a]] = i;
		if (work->pairs[i].b != DYNAMICS_NONE)
			self->of[--first_of[work->pairs[i].b]] = i;
	}
}

static enum status create_queue(struct pair_queue *self, const struct pair_work *work)
{
	struct arena *scratch = &work->step->dynamics->scratch;
	struct min_heap_entry *items = ARENA_ARRAY(scratch, struct min_heap_entry, work->count);
	uint32_t *place = ARENA_ARRAY(scratch, uint32_t, work->count);
	self->work = work;
	self->of = ARENA_ARRAY(scratch, uint32_t, 2 * (uint64_t)work->count);
	self->first_of =
		arena_push_zero(scratch, (work->list->count + 1u) * sizeof *self->first_of);
	if (items == NULL || place == NULL || self->of == NULL || self->first_of == NULL)
		return STATUS_NO_MEMORY;
	min_heap_init(&self->heap, items, place, work->count);
	list_pairs_of_bodies(self);
	for (uint32_t i = 0; i < work->count; i++)
		queue_pair(self, i);
	return STATUS_OK;
}

static void stop_body(struct pair_queue *self, uint32_t index, uint32_t pair)
{
	struct sweep_body *body = &self->work->list->items[index];
	double fraction = self->work->pairs[pair].hit.fraction;
	sweep_path_cut(&body->path, fraction);
	body->left *= fraction;
	body->stops = true;
}

/* Searches the other pairs of a body again, because its path is shorter. */
static void search_again(struct pair_queue *self, uint32_t index, uint32_t pair)
{
	for (uint32_t k = self->first_of[index]; k < self->first_of[index + 1]; k++) {
		if (self->of[k] == pair)
			continue;
		search_pair(self->work, &self->work->pairs[self->of[k]]);
		queue_pair(self, self->of[k]);
	}
}

static void stop_pair(struct pair_queue *self, uint32_t index)
{
	const struct pair_work *work = self->work;
	struct fast_pair *pair = &work->pairs[index];
	struct sweep_body *a = &work->list->items[pair->a];
	pair->stops++;
	if (pair->hit.core) {
		a->core = true;
		a->core_normal = pair->hit.normal;
		a->core_way = pair->hit.obstacle_way;
	}
	stop_body(self, pair->a, index);
	if (pair->b != DYNAMICS_NONE) {
		stop_body(self, pair->b, index);
		work->step->dynamics->report.sweep_pairs++;
	}
	/* Its own bodies now end where they touch. */
	pair->hit.fraction = 1;
	queue_pair(self, index);
	search_again(self, pair->a, index);
	if (pair->b != DYNAMICS_NONE)
		search_again(self, pair->b, index);
}

static enum status stop_pairs(const struct pair_work *work)
{
	struct pair_queue queue;
	enum status status = create_queue(&queue, work);
	if (status != STATUS_OK)
		return status;
	for (const struct min_heap_entry *first; (first = min_heap_first(&queue.heap)) != NULL;)
		stop_pair(&queue, first->item);
	for (uint32_t i = 0; i < work->count; i++) {
		const struct fast_pair *pair = &work->pairs[i];
		work->list->items[pair->a].limits += pair->hit.limits + (pair->hit.fraction < 1);
	}
	return STATUS_OK;
}

enum status sweep_pairs(struct step *self, const struct body_motion *motions,
			struct sweep_list *list)
{
	struct dynamics *dynamics = self->dynamics;
	struct arena *scratch = &dynamics->scratch;
	struct pair_work work = {
		.step = self, .motions = motions, .list = list, .fast = self->swept
	};
	bool any = false;
	for (uint32_t i = 0; i < list->count; i++) {
		struct sweep_body *body = &list->items[i];
		body->box = aabb_grow(sweep_path_box(&body->path, 0, 1), list->slow_most);
		any |= is_flagged(&work, i);
	}
	if (!any)
		return STATUS_OK;
	uint32_t *order = ARENA_ARRAY(scratch, uint32_t, list->count);
	uint32_t *merged = ARENA_ARRAY(scratch, uint32_t, list->count);
	if (order == NULL || merged == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < list->count; i++)
		order[i] = i;
	sort_items(order, merged, list->count, sizeof *order, compare_boxes, list->items);
	find_pairs(&work, order);
	struct fast_pair *pairs = ARENA_ARRAY(scratch, struct fast_pair, work.count);
	struct fast_pair *room = ARENA_ARRAY(scratch, struct fast_pair, work.count);
	if (pairs == NULL || room == NULL)
		return STATUS_NO_MEMORY;
	work.pairs = pairs;
	find_pairs(&work, order);
	sort_pairs(&work, room);
	parallel_run(self->parallel, work.count, PAIR_GRAIN, pairs_piece, &work);
	return stop_pairs(&work);
}
