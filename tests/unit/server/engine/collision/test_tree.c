/* The tree against a plain list: after any history a walk finds exactly the overlapping boxes. */
#include "server/engine/collision/tree.h"

#include <string.h>

#include "server/base/heap.h"
#include "server/base/rng.h"
#include "tests/lib/check_main.h"
#include "tests/lib/poses.h"

enum { ITEMS = 400 };

struct world {
	struct tree tree;
	struct rng rng;
	struct aabb boxes[ITEMS];
	uint32_t leaves[ITEMS]; /* TREE_NONE: absent */
};

/* Boxes of all sizes; some flat, some points, some on a common grid so that faces touch exactly. */
static struct aabb random_box(struct rng *rng)
{
	vec3 centre = random_vector(rng, 10), half = vec3_abs(random_vector(rng, 1));
	switch (rng_below(rng, 8)) {
	case 0:
		half.y = 0;
		break;
	case 1:
		half = vec3_zero();
		break;
	case 2:
		centre = vec3_make(rng_below(rng, 8), rng_below(rng, 8), 0);
		half = vec3_all(0.5);
		break;
	case 3:
		half = vec3_scale(half, 8);
		break;
	default:
		break;
	}
	return aabb_of_centre(centre, half);
}

static void world_init(struct world *world, uint64_t salt)
{
	world->rng = rng_seeded(check_seed() + salt);
	tree_init(&world->tree);
	ck_assert_int_eq(tree_reserve(&world->tree, ITEMS), STATUS_OK);
	for (uint32_t i = 0; i < ITEMS; i++)
		world->leaves[i] = TREE_NONE;
}

static void world_change(struct world *world)
{
	uint32_t i = rng_below(&world->rng, ITEMS);
	if (world->leaves[i] == TREE_NONE) {
		world->boxes[i] = random_box(&world->rng);
		world->leaves[i] = tree_insert(&world->tree, &world->boxes[i], i);
	} else if (rng_below(&world->rng, 3) == 0) {
		tree_remove(&world->tree, world->leaves[i]);
		world->leaves[i] = TREE_NONE;
	} else {
		world->boxes[i] = random_box(&world->rng);
		tree_move(&world->tree, world->leaves[i], &world->boxes[i]);
	}
}

static void check_box_query(const struct world *world, struct aabb box)
{
	uint8_t seen[ITEMS] = { 0 };
	const struct tree *tree = &world->tree;
	struct tree_walk walk = tree_walk_begin(tree, &box);
	for (uint32_t n = tree_walk_next(&walk); n != TREE_NONE; n = tree_walk_next(&walk))
		seen[tree->nodes[n].item]++;
	for (uint32_t i = 0; i < ITEMS; i++) {
		bool meets = world->leaves[i] != TREE_NONE && aabb_overlaps(world->boxes[i], box);
		ck_assert_uint_eq(seen[i], meets);
	}
}

static void check_ray_query(const struct world *world, vec3 from, vec3 along)
{
	uint8_t seen[ITEMS] = { 0 };
	const struct tree *tree = &world->tree;
	struct tree_ray ray = tree_ray_make(from, along, 1);
	for (uint32_t n = tree_ray_first(tree, &ray); n != TREE_NONE;
	     n = tree_ray_next(tree, &ray, n))
		seen[tree->nodes[n].item]++;
	for (uint32_t i = 0; i < ITEMS; i++) {
		double enter, leave;
		ck_assert_uint_le(seen[i], 1);
		if (world->leaves[i] == TREE_NONE)
			ck_assert_uint_eq(seen[i], 0);
		else if (aabb_clip_line(world->boxes[i], from, along, 1, &enter, &leave))
			ck_assert_uint_eq(seen[i], 1);
		else if (!aabb_clip_line(aabb_grow(world->boxes[i], 1e-9), from, along, 1, &enter,
					 &leave))
			ck_assert_uint_eq(seen[i], 0);
	}
}

static void check_queries(struct world *world)
{
	struct rng *rng = &world->rng;
	for (int k = 0; k < 20; k++)
		check_box_query(world, random_box(rng));
	for (int k = 0; k < 20; k++) {
		vec3 along = random_vector(rng, 20);
		if (k % 4 == 0)
			along.y = 0;
		if (k % 5 == 0)
			along.x = -0.0;
		check_ray_query(world, random_vector(rng, 12), along);
	}
}

START_TEST(a_walk_finds_exactly_the_overlapping_boxes)
{
	struct world world;
	world_init(&world, 1);
	for (int round = 0; round < 40; round++) {
		for (int k = 0; k < 100; k++)
			world_change(&world);
		tree_check(&world.tree);
		check_queries(&world);
	}
	tree_release(&world.tree);
}
END_TEST

START_TEST(sorted_insertions_give_a_shallow_tree)
{
	struct tree tree;
	tree_init(&tree);
	ck_assert_int_eq(tree_reserve(&tree, 4096), STATUS_OK);
	for (uint32_t i = 0; i < 4096; i++) {
		struct aabb box = aabb_of_centre(vec3_make(i, 0, 0), vec3_all(0.6));
		tree_insert(&tree, &box, i);
	}
	tree_check(&tree);
	ck_assert_uint_le(tree_height(&tree), 40);
	tree_release(&tree);
}
END_TEST

static uint32_t leaves_in(const struct tree *tree, struct aabb box)
{
	struct tree_walk walk = tree_walk_begin(tree, &box);
	uint32_t count = 0;
	while (tree_walk_next(&walk) != TREE_NONE)
		count++;
	return count;
}

/* Coincident boxes make a chain deeper than the stack of a walk. */
START_TEST(coincident_boxes_are_all_found)
{
	struct tree tree;
	struct aabb box = aabb_of_centre(vec3_zero(), vec3_all(1)), all = aabb_grow(box, 1);
	tree_init(&tree);
	ck_assert_uint_eq(leaves_in(&tree, all), 0);
	ck_assert_int_eq(tree_reserve(&tree, 1000), STATUS_OK);
	for (uint32_t i = 0; i < 1000; i++)
		tree_insert(&tree, &box, i);
	ck_assert_uint_gt(tree_height(&tree), TREE_WALK_LEFT);
	ck_assert_uint_eq(leaves_in(&tree, all), 1000);
	tree_check(&tree);
	tree_reset(&tree);
	tree_check(&tree);
	ck_assert_uint_eq(leaves_in(&tree, all), 0);
	tree_release(&tree);
}
END_TEST

START_TEST(changes_within_the_reserved_capacity_do_not_allocate)
{
	struct world world;
	world_init(&world, 3);
	uint64_t calls = heap_calls_total();
	for (int k = 0; k < 3000; k++)
		world_change(&world);
	ck_assert_uint_eq(heap_calls_total(), calls);
	tree_release(&world.tree);
}
END_TEST

START_TEST(a_shortened_ray_visits_only_nearer_boxes)
{
	struct tree tree;
	tree_init(&tree);
	ck_assert_int_eq(tree_reserve(&tree, 100), STATUS_OK);
	for (uint32_t i = 0; i < 100; i++) {
		struct aabb box = aabb_of_centre(vec3_make(i, 0, 0), vec3_all(0.25));
		tree_insert(&tree, &box, i);
	}
	struct tree_ray ray = tree_ray_make(vec3_make(-1, 0, 0), vec3_make(200, 0, 0), 1);
	uint32_t count = 0, last = 0;
	for (uint32_t n = tree_ray_first(&tree, &ray); n != TREE_NONE;
	     n = tree_ray_next(&tree, &ray, n)) {
		last = tree.nodes[n].item;
		double fraction = (last + 0.75) / 200;
		ck_assert_double_le(fraction, ray.fraction_max);
		ray.fraction_max = fraction;
		count++;
	}
	ck_assert_uint_eq(last, 0);
	ck_assert_uint_le(count, 10);
	tree_release(&tree);
}
END_TEST

/* The expected work of a small query: the sum of the surfaces of inner boxes. */
static double tree_cost(const struct tree *tree)
{
	double cost = 0;
	for (uint32_t n = 0; n < tree->capacity; n++) {
		const struct tree_node *node = &tree->nodes[n];
		vec3 size = vec3_sub(node->box.max, node->box.min);
		if (node->child[0] != TREE_NONE)
			cost += size.x * size.y + size.y * size.z + size.z * size.x;
	}
	return cost;
}

/* In turn: boxes that fly straight through each other in all directions, and that all fall together. */
START_TEST(leaves_that_move_by_small_steps_keep_a_good_tree)
{
	enum { BODIES = 1000, STEPS = 400 };
	static vec3 at[BODIES], speed[BODIES];
	static uint32_t leaves[BODIES];
	struct rng rng = rng_seeded(check_seed());
	struct tree tree;
	tree_init(&tree);
	ck_assert_int_eq(tree_reserve(&tree, BODIES), STATUS_OK);
	ck_assert_uint_eq(tree.capacity, 2 * BODIES - 1);
	for (uint32_t i = 0; i < BODIES; i++) {
		at[i] = random_vector(&rng, 10);
		speed[i] = _i == 0 ? random_vector(&rng, 0.1) : vec3_make(0, -0.1, 0);
		struct aabb box = aabb_of_centre(at[i], vec3_all(0.5));
		leaves[i] = tree_insert(&tree, &box, i);
	}
	for (int step = 0; step < STEPS; step++)
		for (uint32_t i = 0; i < BODIES; i++) {
			at[i] = vec3_add(at[i], speed[i]);
			struct aabb box = aabb_of_centre(at[i], vec3_all(0.5));
			tree_move(&tree, leaves[i], &box);
		}
	tree_check(&tree);
	/* As good as a tree into which the boxes are inserted now. */
	double cost = tree_cost(&tree);
	tree_reset(&tree);
	for (uint32_t i = 0; i < BODIES; i++) {
		struct aabb box = aabb_of_centre(at[i], vec3_all(0.5));
		tree_insert(&tree, &box, i);
	}
	ck_assert_double_le(cost, 1.5 * tree_cost(&tree));
	tree_release(&tree);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/collision/tree");
	TCase *tcase = tcase_create("tree");
	tcase_add_test(tcase, a_walk_finds_exactly_the_overlapping_boxes);
	tcase_add_test(tcase, sorted_insertions_give_a_shallow_tree);
	tcase_add_test(tcase, coincident_boxes_are_all_found);
	tcase_add_test(tcase, changes_within_the_reserved_capacity_do_not_allocate);
	tcase_add_test(tcase, a_shortened_ray_visits_only_nearer_boxes);
	tcase_add_loop_test(tcase, leaves_that_move_by_small_steps_keep_a_good_tree, 0, 2);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
