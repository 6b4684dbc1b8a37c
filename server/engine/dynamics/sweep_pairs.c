/* See sweep.h. Pairs of dynamic bodies of which one has BODY_FAST, each body on its way after static
 * and animated obstacles.
 *
 * Pairs are searched in parallel; then the earliest touch by (fraction, id, id) ends the paths of both
 * bodies, and the other pairs of these two are searched again with the shorter paths, until there is no
 * touch. A shorter path takes the whole tick as well, so of each pair one continuous motion has been
 * searched that ends where the bodies end. */
#include "server/engine/dynamics/sweep.h"

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

static int compare_fast_pairs(const void *x, const void *y, void *context)
{
	UNUSED(context);
	const struct fast_pair *p = x, *q = y;
	if (p->a != q->a)
		return p->a < q->a ? -1 : 1;
	return p->body_b < q->body_b ? -1 : p->body_b > q->body_b;
}

/* Sorts the pairs and removes those that are there twice. */
static void sort_pairs(struct pair_work *work, struct fast_pair *merged)
{
	uint32_t kept = 0;
	sort_items(work->pairs, merged, work->count, sizeof *merged, compare_fast_pairs, NULL);
	for (uint32_t i = 0; i < work->count; i++)
		if (i == 0 || compare_fast_pairs(&work->pairs[i - 1], &work->pairs[i], NULL) != 0)
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

/* True if pair p is to come before q: by (fraction, id, id). The list's order is that of rows, so equal
 * fractions compare the ids. */
static bool is_earlier(const struct pair_work *work, const struct fast_pair *p,
		       const struct fast_pair *q)
{
	const uint32_t *id = work->step->dynamics->tables->body.id;
	if (p->hit.fraction != q->hit.fraction)
		return p->hit.fraction < q->hit.fraction;
	uint32_t p_a = id[work->list->items[p->a].body], q_a = id[work->list->items[q->a].body];
	return p_a != q_a ? p_a < q_a : id[p->body_b] < id[q->body_b];
}

static void stop_body(struct sweep_body *body, double fraction)
{
	sweep_path_cut(&body->path, fraction);
	body->left *= fraction;
	body->stops = true;
}

static void stop_pair(const struct pair_work *work, struct fast_pair *pair)
{
	struct sweep_body *a = &work->list->items[pair->a];
	double fraction = pair->hit.fraction;
	pair->stops++;
	if (pair->hit.core) {
		a->core = true;
		a->core_normal = pair->hit.normal;
		a->core_way = pair->hit.obstacle_way;
	}
	stop_body(a, fraction);
	if (pair->b != DYNAMICS_NONE) {
		stop_body(&work->list->items[pair->b], fraction);
		work->step->dynamics->report.sweep_pairs++;
	}
	for (uint32_t i = 0; i < work->count; i++) {
		struct fast_pair *other = &work->pairs[i];
		if (other == pair)
			continue;
		if (other->a == pair->a || other->b == pair->a || other->a == pair->b ||
		    (pair->b != DYNAMICS_NONE && other->b == pair->b))
			search_pair(work, other);
	}
	/* Its own bodies now end where they touch. */
	pair->hit.fraction = 1;
}

static void stop_pairs(const struct pair_work *work)
{
	for (;;) {
		struct fast_pair *earliest = NULL;
		for (uint32_t i = 0; i < work->count; i++) {
			struct fast_pair *pair = &work->pairs[i];
			if (pair->hit.fraction < 1 && pair->stops < PAIR_STOPS_MAX &&
			    (earliest == NULL || is_earlier(work, pair, earliest)))
				earliest = pair;
		}
		if (earliest == NULL)
			break;
		stop_pair(work, earliest);
	}
	for (uint32_t i = 0; i < work->count; i++) {
		const struct fast_pair *pair = &work->pairs[i];
		work->list->items[pair->a].limits += pair->hit.limits + (pair->hit.fraction < 1);
	}
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
	stop_pairs(&work);
	return STATUS_OK;
}
