/* Every kind of broad phase against brute force over all pairs: complete, sorted, no duplicates,
 * after any history; and the sizes of grids (ch1-3 G-09…G-13). Each test runs once per kind
 * (_i). */
#include "server/engine/collision/broad_phase.h"

#include "server/engine/collision/box_queries.h"
#include "server/base/array.h"
#include "server/base/heap.h"
#include "server/base/rng.h"
#include "server/engine/collision/broad_grid.h"
#include "server/engine/collision/tree.h"
#include "tests/lib/check_main.h"
#include "tests/lib/poses.h"

enum { SLOTS = 300 };

struct model {
	struct aabb box;
	bool used, still, moved;
};

/* The boxes of the proxies. */
enum mix { MIX_USUAL, MIX_SIZES, MIX_ONE_CELL, MIX_FAR, MIX_PLANES, MIX_TOUCHING, MIXES };

struct world {
	struct broad_phase *broad_phase;
	struct model models[SLOTS];
	struct rng rng;
	struct proxy_pairs pairs;
	enum mix mix;
};

static void world_init(struct world *world, int kind, uint64_t salt)
{
	*world = (struct world){ 0 };
	world->rng = rng_seeded(check_seed() + salt);
	ck_assert_int_eq(broad_phase_create(kind, &world->broad_phase), STATUS_OK);
	ck_assert_int_eq(broad_phase_reserve(world->broad_phase, SLOTS), STATUS_OK);
}

static void world_release(struct world *world)
{
	broad_phase_destroy(world->broad_phase);
	ARRAY_RELEASE(&world->pairs);
}

static struct aabb random_box(struct rng *rng)
{
	vec3 centre = random_vector(rng, 8);
	double big = rng_below(rng, 40) == 0 ? 20 : 1;
	return aabb_of_centre(centre, vec3_all(rng_range(rng, 0.1, 1) * big));
}

/* Half extents over six orders of magnitude, in a world larger than most of them. */
static struct aabb box_of_sizes(struct rng *rng)
{
	double half = 1e-4;
	for (uint32_t k = rng_below(rng, 21); k > 0; k--)
		half *= 2;
	vec3 flat = vec3_make(rng_range(rng, 0, 1), rng_range(rng, 0, 1), rng_range(rng, 0, 1));
	return aabb_of_centre(random_vector(rng, 30), vec3_scale(flat, half));
}

/* Boxes unbounded on all sides but one, or on all sides. */
static struct aabb plane_box(struct rng *rng)
{
	struct aabb box = aabb_of_centre(vec3_zero(), vec3_all(AABB_EVERYWHERE));
	uint32_t axis = rng_below(rng, 4);
	if (axis < 3)
		vec3_set(rng_below(rng, 2) ? &box.max : &box.min, axis, rng_range(rng, -8, 8));
	return box;
}

static struct aabb box_for(struct world *world)
{
	struct rng *rng = &world->rng;
	struct aabb box = random_box(rng);
	switch (world->mix) {
	case MIX_SIZES:
		return box_of_sizes(rng);
	case MIX_ONE_CELL:
		return aabb_of_centre(random_vector(rng, 1e-3), vec3_all(rng_range(rng, 0, 1e-4)));
	case MIX_FAR: {
		vec3 far = vec3_make(9.9e4, -9.9e4, rng_below(rng, 2) ? 7e4 : -7e4);
		return aabb_make(vec3_add(box.min, far), vec3_add(box.max, far));
	}
	case MIX_PLANES:
		return rng_below(rng, 20) == 0 ? plane_box(rng) : box;
	case MIX_TOUCHING: {
		/* On integer coordinates: faces, edges and corners that just touch, and boxes of
		 * zero extent. */
		vec3 at = vec3_make(rng_below(rng, 5), rng_below(rng, 5), rng_below(rng, 5));
		return aabb_make(at, vec3_add(at, vec3_make(rng_below(rng, 3), rng_below(rng, 3),
							    rng_below(rng, 2))));
	}
	default:
		return box;
	}
}

/* Cell sizes may change at any time without changing the pairs. */
static void change_cells(struct world *world)
{
	struct broad_cells cells = { rng_range(&world->rng, 1, 16),
				     1 + rng_below(&world->rng, BROAD_PHASE_LEVELS_MAX) };
	if (rng_below(&world->rng, 100) == 0)
		broad_phase_set_cells(world->broad_phase, cells);
}

static void world_change(struct world *world)
{
	change_cells(world);
	uint32_t slot = rng_below(&world->rng, SLOTS);
	struct model *model = &world->models[slot];
	if (!model->used) {
		bool still = rng_below(&world->rng, 3) == 0;
		*model = (struct model){ box_for(world), true, still, true };
		broad_phase_add(world->broad_phase, slot, &model->box, still ? PROXY_STATIC : 0);
	} else if (rng_below(&world->rng, 4) == 0) {
		*model = (struct model){ .used = false };
		broad_phase_remove(world->broad_phase, slot);
	} else {
		model->box = box_for(world);
		model->moved = true;
		broad_phase_move(world->broad_phase, slot, &model->box);
	}
	ck_assert(broad_phase_has(world->broad_phase, slot) == model->used);
}

/* Rejects a fifth of the pairs. */
static bool reject_fifth(uint32_t a, uint32_t b, const void *context)
{
	(void)context;
	return (a * 7 + b) % 5 != 0;
}

static bool model_pair(const struct model *a, const struct model *b)
{
	return a->used && b->used && (a->moved || b->moved) && !(a->still && b->still) &&
	       aabb_overlaps(a->box, b->box);
}

static void check_pairs(const struct world *world, proxy_filter *filter)
{
	uint32_t at = 0;
	for (uint32_t a = 0; a < SLOTS; a++) {
		for (uint32_t b = a + 1; b < SLOTS; b++) {
			if (!model_pair(&world->models[a], &world->models[b]) ||
			    (filter != NULL && !filter(a, b, NULL)))
				continue;
			ck_assert_uint_lt(at, world->pairs.count);
			ck_assert_uint_eq(proxy_pair_a(world->pairs.items[at]), a);
			ck_assert_uint_eq(proxy_pair_b(world->pairs.items[at]), b);
			at++;
		}
	}
	ck_assert_uint_eq(at, world->pairs.count);
}

/* Runs the chunks backwards and in small pieces, as unlike the serial run as possible. */
static void run_backwards(const struct parallel *self, uint32_t count, uint32_t grain,
			  parallel_piece *piece, void *context)
{
	(void)self;
	(void)grain;
	for (uint32_t at = count; at > 0;) {
		uint32_t first = at > 7 ? at - 7 : 0;
		piece(first, at, at % 3, context);
		at = first;
	}
}
static const struct parallel backwards = { run_backwards, 3, NULL };

/* _i counts the kinds within each mix. */
START_TEST(every_pair_with_a_moved_proxy_is_found_once_and_sorted)
{
	struct world world;
	world_init(&world, _i % BROAD_PHASE_KINDS, 1 + (uint64_t)_i);
	world.mix = _i / BROAD_PHASE_KINDS;
	for (uint32_t round = 0; round < check_cases(60); round++) {
		for (int k = 0; k < (round % 3 == 0 ? 200 : 10); k++)
			world_change(&world);
		const struct parallel *parallel = round % 2 ? &parallel_serial : &backwards;
		proxy_filter *filter = round % 5 == 0 ? reject_fifth : NULL;
		ck_assert_int_eq(broad_phase_pairs(world.broad_phase, parallel, filter, NULL,
						   UINT32_MAX, &world.pairs),
				 STATUS_OK);
		check_pairs(&world, filter);
		if (round % 4 == 3)
			continue; /* not settled: these pairs come again */
		broad_phase_settle(world.broad_phase);
		for (uint32_t i = 0; i < SLOTS; i++)
			world.models[i].moved = false;
	}
	world_release(&world);
}
END_TEST

START_TEST(the_order_of_insertion_does_not_change_the_pairs)
{
	struct world one, other;
	world_init(&one, _i, 2);
	world_init(&other, _i, 2);
	for (uint32_t i = 0; i < SLOTS; i++)
		one.models[i].box = random_box(&one.rng);
	for (uint32_t i = 0; i < SLOTS; i++) {
		uint32_t k = SLOTS - 1 - i;
		broad_phase_add(one.broad_phase, i, &one.models[i].box, 0);
		broad_phase_add(other.broad_phase, k, &one.models[k].box, 0);
	}
	ck_assert_int_eq(broad_phase_pairs(one.broad_phase, &parallel_serial, NULL, NULL,
					   UINT32_MAX, &one.pairs),
			 STATUS_OK);
	ck_assert_int_eq(broad_phase_pairs(other.broad_phase, &backwards, NULL, NULL, UINT32_MAX,
					   &other.pairs),
			 STATUS_OK);
	ck_assert_uint_gt(one.pairs.count, 100);
	ck_assert_uint_eq(one.pairs.count, other.pairs.count);
	ck_assert_mem_eq(one.pairs.items, other.pairs.items, one.pairs.count * sizeof(uint64_t));
	world_release(&one);
	world_release(&other);
}
END_TEST

START_TEST(many_coincident_boxes_lose_no_pair)
{
	struct world world;
	world_init(&world, _i, 3);
	for (uint32_t i = 0; i < 200; i++) {
		double x = rng_range(&world.rng, 0, 1), y = rng_range(&world.rng, 0, 1);
		struct aabb box =
			aabb_of_centre(vec3_make(x, y, rng_range(&world.rng, 0, 1)), vec3_all(0.5));
		broad_phase_add(world.broad_phase, i, &box, 0);
	}
	ck_assert_int_eq(
		broad_phase_pairs(world.broad_phase, &backwards, NULL, NULL, 19900, &world.pairs),
		STATUS_OK);
	ck_assert_uint_eq(world.pairs.count, 19900);
	uint32_t at = 0;
	for (uint32_t a = 0; a < 200; a++)
		for (uint32_t b = a + 1; b < 200; b++, at++)
			ck_assert_uint_eq(world.pairs.items[at], (uint64_t)a << 32 | b);
	world_release(&world);
}
END_TEST

START_TEST(too_many_pairs_are_refused_and_found_by_the_next_call)
{
	struct world world;
	world_init(&world, _i, 4);
	for (uint32_t i = 0; i < 50; i++) {
		struct aabb box = aabb_of_centre(vec3_zero(), vec3_all(1));
		broad_phase_add(world.broad_phase, i, &box, 0);
	}
	ck_assert_int_eq(broad_phase_pairs(world.broad_phase, &parallel_serial, NULL, NULL, 1224,
					   &world.pairs),
			 STATUS_LIMIT);
	ck_assert_uint_eq(world.pairs.count, 0);
	ck_assert_int_eq(broad_phase_pairs(world.broad_phase, &parallel_serial, NULL, NULL, 1225,
					   &world.pairs),
			 STATUS_OK);
	ck_assert_uint_eq(world.pairs.count, 1225);
	world_release(&world);
}
END_TEST

START_TEST(a_steady_state_does_not_touch_the_heap)
{
	struct world world;
	world_init(&world, _i, 5);
	struct aabb boxes[4][SLOTS];
	for (int k = 0; k < 4; k++)
		for (uint32_t i = 0; i < SLOTS; i++)
			boxes[k][i] = random_box(&world.rng);
	for (int round = 0; round < 12; round++) {
		uint64_t calls = heap_calls_total();
		for (uint32_t i = 0; i < SLOTS; i++)
			if (round == 0)
				broad_phase_add(world.broad_phase, i, &boxes[0][i], 0);
			else
				broad_phase_move(world.broad_phase, i, &boxes[round % 4][i]);
		ck_assert_int_eq(broad_phase_pairs(world.broad_phase, &parallel_serial, NULL, NULL,
						   100000, &world.pairs),
				 STATUS_OK);
		broad_phase_settle(world.broad_phase);
		if (round > 4)
			ck_assert_uint_eq(heap_calls_total(), calls);
	}
	world_release(&world);
}
END_TEST

struct seen {
	uint8_t count[SLOTS];
};

static bool count_box_visit(uint32_t slot, void *context)
{
	((struct seen *)context)->count[slot]++;
	return true;
}

static double count_ray_visit(uint32_t slot, double fraction_max, void *context)
{
	((struct seen *)context)->count[slot]++;
	return fraction_max;
}

/* Queries before the first call for pairs, and after later ones. */
START_TEST(queries_find_static_and_moving_proxies)
{
	struct world world;
	world_init(&world, _i % BROAD_PHASE_KINDS, 60 + (uint64_t)_i);
	world.mix = _i / BROAD_PHASE_KINDS;
	for (int k = 0; k < 900; k++)
		world_change(&world);
	for (uint32_t k = 0; k < check_cases(150); k++) {
		struct seen boxes = { { 0 } }, rays = { { 0 } };
		if (k % 16 == 15) {
			ck_assert_int_eq(broad_phase_pairs(world.broad_phase, &parallel_serial,
							   NULL, NULL, UINT32_MAX, &world.pairs),
					 STATUS_OK);
			for (int i = 0; i < 100; i++)
				world_change(&world);
		}
		struct aabb box = box_for(&world);
		vec3 from = aabb_centre(box_for(&world)), to = aabb_centre(box);
		if (k % 3 == 0) /* along an axis */
			to = vec3_make(to.x, from.y, from.z);
		vec3 along = vec3_sub(to, from);
		broad_phase_query(world.broad_phase, &box, count_box_visit, &boxes);
		broad_phase_ray(world.broad_phase, from, along, 1, count_ray_visit, &rays);
		for (uint32_t i = 0; i < SLOTS; i++) {
			const struct model *model = &world.models[i];
			double enter, leave;
			ck_assert_uint_eq(boxes.count[i],
					  model->used && aabb_overlaps(model->box, box));
			/* A ray may visit boxes that it misses by rounding. */
			double room = 1e-9 * vec3_max_component(vec3_abs(from)) + 1e-12;
			bool hit = model->used &&
				   aabb_clip_line(model->box, from, along, 1, &enter, &leave);
			bool near = model->used && aabb_clip_line(aabb_grow(model->box, room), from,
								  along, 1, &enter, &leave);
			ck_assert_uint_le(hit, rays.count[i]);
			ck_assert_uint_le(rays.count[i], near);
		}
	}
	world_release(&world);
}
END_TEST

enum { QUERIES = 90 };

struct seen_by_each {
	struct seen seen[QUERIES];
};

static bool count_query_visit(uint32_t slot, uint32_t query, void *context)
{
	((struct seen_by_each *)context)->seen[query].count[slot]++;
	return true;
}

/* The box of a proxy, so that a query finds something in worlds with much room too. */
static struct aabb box_of_proxy(struct world *world)
{
	uint32_t slot = rng_below(&world->rng, SLOTS);
	for (uint32_t i = 0; i < SLOTS; i++, slot = (slot + 1) % SLOTS)
		if (world->models[slot].used)
			return world->models[slot].box;
	return box_for(world);
}

/* Clusters of near boxes, boxes far from all others, and equal ones; all proxies or moving ones. */
START_TEST(queries_at_once_find_what_each_finds_alone)
{
	struct world world;
	struct box_queries queries = { 0 };
	world_init(&world, _i % BROAD_PHASE_KINDS, 160 + (uint64_t)_i);
	world.mix = _i / BROAD_PHASE_KINDS;
	for (int k = 0; k < 900; k++)
		world_change(&world);
	uint32_t found = 0;
	for (uint32_t round = 0; round < 2 + check_cases(18); round++) {
		static struct seen_by_each each;
		memset(&each, 0, sizeof each);
		bool moving = round % 2;
		uint32_t count = round < 2 ? round : QUERIES;
		box_queries_clear(&queries);
		for (uint32_t q = 0; q < count; q++) {
			struct aabb box = q % 18 == 9  ? box_of_proxy(&world)
					  : q % 9 == 0 ? box_for(&world)
						       : queries.boxes.items[q - 1];
			vec3 step = q % 4 == 3 ? vec3_zero() : random_vector(&world.rng, 0.4);
			box = aabb_make(vec3_add(box.min, step), vec3_add(box.max, step));
			ck_assert_int_eq(box_queries_add(&queries, &box), STATUS_OK);
		}
		ck_assert_int_eq(box_queries_run(&queries, world.broad_phase,
						 moving ? BOX_QUERY_MOVING : BOX_QUERY_ALL,
						 count_query_visit, &each),
				 STATUS_OK);
		for (uint32_t q = 0; q < count; q++)
			for (uint32_t i = 0; i < SLOTS; i++) {
				const struct model *model = &world.models[i];
				bool wanted = model->used && !(moving && model->still) &&
					      aabb_overlaps(model->box, queries.boxes.items[q]);
				ck_assert_uint_eq(each.seen[q].count[i], wanted);
				found += wanted;
			}
	}
	ck_assert_uint_gt(found, 0);
	box_queries_release(&queries);
	world_release(&world);
}
END_TEST

struct shorter {
	const struct world *world;
	vec3 from, along;
	double nearest;
	uint32_t visits;
};

static double visit_nearest(uint32_t slot, double fraction_max, void *context)
{
	struct shorter *shorter = context;
	double enter, leave;
	shorter->visits++;
	if (!aabb_clip_line(shorter->world->models[slot].box, shorter->from, shorter->along,
			    fraction_max, &enter, &leave))
		return fraction_max;
	shorter->nearest = scalar_min(shorter->nearest, enter);
	return shorter->nearest;
}

START_TEST(a_ray_that_shortens_finds_the_nearest)
{
	struct world world;
	world_init(&world, _i, 7);
	uint32_t visits = 0;
	for (int k = 0; k < 900; k++)
		world_change(&world);
	for (uint32_t k = 0; k < check_cases(200); k++) {
		struct shorter shorter = {
			&world, random_vector(&world.rng, 9), { 0, 0, 0 }, 1, 0
		};
		shorter.along = random_vector(&world.rng, 20);
		double nearest = 1;
		for (uint32_t i = 0; i < SLOTS; i++) {
			double enter, leave;
			if (world.models[i].used &&
			    aabb_clip_line(world.models[i].box, shorter.from, shorter.along, 1,
					   &enter, &leave))
				nearest = scalar_min(nearest, enter);
		}
		broad_phase_ray(world.broad_phase, shorter.from, shorter.along, 1, visit_nearest,
				&shorter);
		ck_assert(shorter.nearest == nearest);
		visits += shorter.visits;
	}
	ck_assert_uint_lt(visits, check_cases(200) * SLOTS / 4);
	world_release(&world);
}
END_TEST

START_TEST(a_reset_removes_all_proxies_and_growth_none)
{
	struct world world;
	world_init(&world, _i, 8);
	for (int k = 0; k < 400; k++)
		world_change(&world);
	/* A larger capacity does not move a proxy. */
	ck_assert_int_eq(broad_phase_reserve(world.broad_phase, 5 * SLOTS), STATUS_OK);
	ck_assert_int_eq(broad_phase_pairs(world.broad_phase, &parallel_serial, NULL, NULL,
					   UINT32_MAX, &world.pairs),
			 STATUS_OK);
	check_pairs(&world, NULL);
	broad_phase_reset(world.broad_phase);
	for (uint32_t i = 0; i < SLOTS; i++)
		world.models[i].used = false;
	for (int k = 0; k < 300; k++)
		world_change(&world);
	ck_assert_int_eq(broad_phase_pairs(world.broad_phase, &parallel_serial, NULL, NULL,
					   UINT32_MAX, &world.pairs),
			 STATUS_OK);
	check_pairs(&world, NULL);
	world_release(&world);
}
END_TEST

/* ---- grids ------------------------------------------------------------------------------------ */

START_TEST(g09_cell_size_follows_the_mean_diameter_and_g10_moves_within_a_cell_cost_nothing)
{
	struct grid_levels levels = grid_levels_uniform(1, 2);
	ck_assert(levels.first == 2);
	ck_assert_uint_eq(levels.count, 1);
	/* Sixty cubes of diameter 1: cells of 1 m, and a box in [1.5, 2.5]³ touches 8. */
	struct world world;
	world_init(&world, BROAD_PHASE_GRID, 9);
	double half = 0.5 / scalar_sqrt(3);
	for (uint32_t i = 0; i < 60; i++) {
		struct aabb box = aabb_of_centre(vec3_make(10 * i + 1, 1, 1), vec3_all(half));
		broad_phase_add(world.broad_phase, i, &box, 0);
	}
	ck_assert_int_eq(broad_phase_pairs(world.broad_phase, &parallel_serial, NULL, NULL,
					   UINT32_MAX, &world.pairs),
			 STATUS_OK);
	uint64_t before = broad_phase_work(world.broad_phase).cells_changed;
	struct aabb box = { vec3_all(1.5), vec3_all(2.5) };
	broad_phase_add(world.broad_phase, 60, &box, 0);
	ck_assert_uint_eq(broad_phase_work(world.broad_phase).cells_changed - before, 8);
	before = broad_phase_work(world.broad_phase).cells_changed;
	box.min.x = 1.25;
	broad_phase_move(world.broad_phase, 60, &box);
	ck_assert_uint_eq(broad_phase_work(world.broad_phase).cells_changed, before);
	world_release(&world);
}
END_TEST

START_TEST(g11_levels_are_those_of_the_example)
{
	struct grid_levels levels = grid_levels_between(2, 16, GRID_LEVELS_MAX);
	ck_assert_uint_eq(levels.count, 3);
	ck_assert(levels.first == 4);
	ck_assert_uint_eq(grid_level_of(&levels, 2), 0);
	ck_assert_uint_eq(grid_level_of(&levels, 3), 0);
	ck_assert_uint_eq(grid_level_of(&levels, 4), 1);
	ck_assert_uint_eq(grid_level_of(&levels, 9.7), 2);
	ck_assert_uint_eq(grid_level_of(&levels, 16), 2);
	/* Out of range: the first and the last level. */
	ck_assert_uint_eq(grid_level_of(&levels, 0.1), 0);
	ck_assert_uint_eq(grid_level_of(&levels, 1e9), 2);
	levels = grid_levels_between(5, 5, GRID_LEVELS_MAX);
	ck_assert_uint_eq(levels.count, 1);
	ck_assert(levels.first == 10);
	ck_assert_uint_le(grid_levels_between(1e-6, 1e7, GRID_LEVELS_MAX).count, GRID_LEVELS_MAX);
}
END_TEST

START_TEST(g13_only_bodies_whose_swept_boxes_overlap_are_a_pair)
{
	struct world world;
	world_init(&world, BROAD_PHASE_SWEEP, 10);
	/* Boxes around whole motions: the second and third paths cross. */
	struct aabb ways[3] = { { { 0, 0, 0 }, { 1, 10, 1 } },
				{ { 2, 0, 0 }, { 12, 1, 1 } },
				{ { 8, -5, 0 }, { 9, 5, 1 } } };
	for (uint32_t i = 0; i < 3; i++)
		broad_phase_add(world.broad_phase, i, &ways[i], 0);
	ck_assert_int_eq(broad_phase_pairs(world.broad_phase, &parallel_serial, NULL, NULL,
					   UINT32_MAX, &world.pairs),
			 STATUS_OK);
	ck_assert_uint_eq(world.pairs.count, 1);
	ck_assert_uint_eq(world.pairs.items[0], UINT64_C(1) << 32 | 2);
	world_release(&world);
}
END_TEST

START_TEST(kinds_have_names)
{
	for (enum broad_phase_kind kind = 0; kind < BROAD_PHASE_KINDS; kind++)
		ck_assert_int_eq(broad_phase_by_name(broad_phase_name(kind)), kind);
	ck_assert_int_eq(broad_phase_by_name("octopus"), BROAD_PHASE_KINDS);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/collision/broad_phase");
	TCase *tcase = tcase_create("broad_phase");
	int kinds = BROAD_PHASE_KINDS, mixed = BROAD_PHASE_KINDS * MIXES;
	tcase_add_loop_test(tcase, every_pair_with_a_moved_proxy_is_found_once_and_sorted, 0,
			    mixed);
	tcase_add_loop_test(tcase, the_order_of_insertion_does_not_change_the_pairs, 0, kinds);
	tcase_add_loop_test(tcase, many_coincident_boxes_lose_no_pair, 0, kinds);
	tcase_add_loop_test(tcase, too_many_pairs_are_refused_and_found_by_the_next_call, 0, kinds);
	tcase_add_loop_test(tcase, a_steady_state_does_not_touch_the_heap, 0, kinds);
	tcase_add_loop_test(tcase, queries_find_static_and_moving_proxies, 0, mixed);
	tcase_add_loop_test(tcase, queries_at_once_find_what_each_finds_alone, 0, mixed);
	tcase_add_loop_test(tcase, a_ray_that_shortens_finds_the_nearest, 0, kinds);
	tcase_add_loop_test(tcase, a_reset_removes_all_proxies_and_growth_none, 0, kinds);
	tcase_add_test(
		tcase,
		g09_cell_size_follows_the_mean_diameter_and_g10_moves_within_a_cell_cost_nothing);
	tcase_add_test(tcase, g11_levels_are_those_of_the_example);
	tcase_add_test(tcase, g13_only_bodies_whose_swept_boxes_overlap_are_a_pair);
	tcase_add_test(tcase, kinds_have_names);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
