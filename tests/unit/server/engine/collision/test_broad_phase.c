/* The broad phase against all pairs: complete, sorted, once each, whatever the history. */
#include "server/engine/collision/broad_phase.h"

#include "server/base/array.h"
#include "server/base/heap.h"
#include "server/base/rng.h"
#include "tests/lib/check_main.h"

enum { SLOTS = 300 };

struct model {
	struct aabb box;
	bool used, still, moved;
};

struct world {
	struct broad_phase *broad_phase;
	struct model models[SLOTS];
	struct rng rng;
	struct proxy_pairs pairs;
};

static void world_init(struct world *world, uint64_t salt)
{
	*world = (struct world){ 0 };
	world->rng = rng_seeded(check_seed() + salt);
	ck_assert_int_eq(broad_phase_create(&world->broad_phase), STATUS_OK);
	ck_assert_int_eq(broad_phase_reserve(world->broad_phase, SLOTS), STATUS_OK);
}

static void world_release(struct world *world)
{
	broad_phase_destroy(world->broad_phase);
	ARRAY_RELEASE(&world->pairs);
}

static struct aabb random_box(struct rng *rng)
{
	double x = rng_range(rng, -8, 8), y = rng_range(rng, -8, 8), z = rng_range(rng, -8, 8);
	double big = rng_below(rng, 40) == 0 ? 20 : 1;
	return aabb_of_centre(vec3_make(x, y, z), vec3_all(rng_range(rng, 0.1, 1) * big));
}

static void world_change(struct world *world)
{
	uint32_t slot = rng_below(&world->rng, SLOTS);
	struct model *model = &world->models[slot];
	if (!model->used) {
		bool still = rng_below(&world->rng, 3) == 0;
		*model = (struct model){ random_box(&world->rng), true, still, true };
		broad_phase_add(world->broad_phase, slot, &model->box, still ? PROXY_STATIC : 0);
	} else if (rng_below(&world->rng, 4) == 0) {
		*model = (struct model){ .used = false };
		broad_phase_remove(world->broad_phase, slot);
	} else {
		model->box = random_box(&world->rng);
		model->moved = true;
		broad_phase_move(world->broad_phase, slot, &model->box);
	}
	ck_assert(broad_phase_has(world->broad_phase, slot) == model->used);
}

/* Leaves out a fifth of the pairs. */
static bool some_filter(uint32_t a, uint32_t b, const void *context)
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

/* Runs the pieces backwards and in small bits, as unlike the serial run as can be. */
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

START_TEST(pairs_are_all_pairs_with_a_moved_one_sorted_and_once)
{
	struct world world;
	world_init(&world, 1);
	for (int round = 0; round < 60; round++) {
		for (int k = 0; k < (round % 3 == 0 ? 200 : 10); k++)
			world_change(&world);
		const struct parallel *parallel = round % 2 ? &parallel_serial : &backwards;
		proxy_filter *filter = round % 5 == 0 ? some_filter : NULL;
		ck_assert_int_eq(broad_phase_pairs(world.broad_phase, parallel, filter, NULL,
						   UINT32_MAX, &world.pairs), STATUS_OK);
		check_pairs(&world, filter);
		if (round % 4 == 3)
			continue; /* Not settled: the same pairs, and more, come again. */
		broad_phase_settle(world.broad_phase);
		for (uint32_t i = 0; i < SLOTS; i++)
			world.models[i].moved = false;
	}
	world_release(&world);
}
END_TEST

START_TEST(the_order_of_insertion_cannot_be_seen)
{
	struct world one, other;
	world_init(&one, 2);
	world_init(&other, 2);
	for (uint32_t i = 0; i < SLOTS; i++)
		one.models[i].box = random_box(&one.rng);
	for (uint32_t i = 0; i < SLOTS; i++) {
		uint32_t k = SLOTS - 1 - i;
		broad_phase_add(one.broad_phase, i, &one.models[i].box, 0);
		broad_phase_add(other.broad_phase, k, &one.models[k].box, 0);
	}
	ck_assert_int_eq(broad_phase_pairs(one.broad_phase, &parallel_serial, NULL, NULL,
					   UINT32_MAX, &one.pairs), STATUS_OK);
	ck_assert_int_eq(broad_phase_pairs(other.broad_phase, &backwards, NULL, NULL, UINT32_MAX,
					   &other.pairs), STATUS_OK);
	ck_assert_uint_gt(one.pairs.count, 100);
	ck_assert_uint_eq(one.pairs.count, other.pairs.count);
	ck_assert_mem_eq(one.pairs.items, other.pairs.items, one.pairs.count * sizeof(uint64_t));
	world_release(&one);
	world_release(&other);
}
END_TEST

START_TEST(an_overlap_bomb_loses_no_pair)
{
	struct world world;
	world_init(&world, 3);
	for (uint32_t i = 0; i < 200; i++) {
		double x = rng_range(&world.rng, 0, 1), y = rng_range(&world.rng, 0, 1);
		struct aabb box = aabb_of_centre(vec3_make(x, y, rng_range(&world.rng, 0, 1)),
						 vec3_all(0.5));
		broad_phase_add(world.broad_phase, i, &box, 0);
	}
	ck_assert_int_eq(broad_phase_pairs(world.broad_phase, &backwards, NULL, NULL, 19900,
					   &world.pairs), STATUS_OK);
	ck_assert_uint_eq(world.pairs.count, 19900);
	uint32_t at = 0;
	for (uint32_t a = 0; a < 200; a++)
		for (uint32_t b = a + 1; b < 200; b++, at++)
			ck_assert_uint_eq(world.pairs.items[at], (uint64_t)a << 32 | b);
	world_release(&world);
}
END_TEST

START_TEST(too_many_pairs_are_refused_and_nothing_is_forgotten)
{
	struct world world;
	world_init(&world, 4);
	for (uint32_t i = 0; i < 50; i++) {
		struct aabb box = aabb_of_centre(vec3_zero(), vec3_all(1));
		broad_phase_add(world.broad_phase, i, &box, 0);
	}
	ck_assert_int_eq(broad_phase_pairs(world.broad_phase, &parallel_serial, NULL, NULL, 1224,
					   &world.pairs), STATUS_LIMIT);
	ck_assert_uint_eq(world.pairs.count, 0);
	ck_assert_int_eq(broad_phase_pairs(world.broad_phase, &parallel_serial, NULL, NULL, 1225,
					   &world.pairs), STATUS_OK);
	ck_assert_uint_eq(world.pairs.count, 1225);
	world_release(&world);
}
END_TEST

START_TEST(a_steady_state_does_not_touch_the_heap)
{
	struct world world;
	world_init(&world, 5);
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
						   100000, &world.pairs), STATUS_OK);
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

static bool visit_seen(uint32_t slot, void *context)
{
	((struct seen *)context)->count[slot]++;
	return true;
}

static double visit_ray_seen(uint32_t slot, double fraction_max, void *context)
{
	((struct seen *)context)->count[slot]++;
	return fraction_max;
}

START_TEST(queries_see_still_and_moving_proxies)
{
	struct world world;
	world_init(&world, 6);
	for (int k = 0; k < 900; k++)
		world_change(&world);
	for (int k = 0; k < 100; k++) {
		struct seen boxes = { { 0 } }, rays = { { 0 } };
		struct aabb box = random_box(&world.rng);
		vec3 from = aabb_centre(random_box(&world.rng)), to = aabb_centre(box);
		vec3 along = vec3_sub(to, from);
		broad_phase_query(world.broad_phase, &box, visit_seen, &boxes);
		broad_phase_ray(world.broad_phase, from, along, 1, visit_ray_seen, &rays);
		for (uint32_t i = 0; i < SLOTS; i++) {
			const struct model *model = &world.models[i];
			double enter, leave;
			ck_assert_uint_eq(boxes.count[i],
					  model->used && aabb_overlaps(model->box, box));
			bool hit = model->used && aabb_clip_line(aabb_grow(model->box, 1e-12), from,
								 along, 1, &enter, &leave);
			ck_assert_uint_eq(rays.count[i], hit);
		}
	}
	world_release(&world);
}
END_TEST

START_TEST(a_fat_box_holds_its_tight_one_and_half_the_margin)
{
	struct rng rng = rng_seeded(check_seed());
	for (int k = 0; k < 1000; k++) {
		struct aabb tight = random_box(&rng);
		vec3 travel = aabb_centre(random_box(&rng));
		struct aabb fat = broad_phase_fatten(&tight, 0.02, k % 2 ? travel : vec3_zero());
		ck_assert(broad_phase_holds(&fat, &tight, 0.02));
		struct aabb there = { vec3_add(tight.min, travel), vec3_add(tight.max, travel) };
		ck_assert(broad_phase_holds(&fat, &there, 0.02) == (k % 2 == 1));
	}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/collision/broad_phase");
	TCase *tcase = tcase_create("broad_phase");
	tcase_add_test(tcase, pairs_are_all_pairs_with_a_moved_one_sorted_and_once);
	tcase_add_test(tcase, the_order_of_insertion_cannot_be_seen);
	tcase_add_test(tcase, an_overlap_bomb_loses_no_pair);
	tcase_add_test(tcase, too_many_pairs_are_refused_and_nothing_is_forgotten);
	tcase_add_test(tcase, a_steady_state_does_not_touch_the_heap);
	tcase_add_test(tcase, queries_see_still_and_moving_proxies);
	tcase_add_test(tcase, a_fat_box_holds_its_tight_one_and_half_the_margin);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
