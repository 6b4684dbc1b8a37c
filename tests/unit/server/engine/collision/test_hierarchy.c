/* Trees of volumes (ch1-3 G-01…G-06, G-08, G-14, G-15), with brute force as the oracle. */
#include "server/engine/collision/hierarchy.h"

#include "server/base/hash.h"
#include "server/base/heap.h"
#include "server/engine/collision/obb.h"
#include "server/engine/collision/sphere_tree.h"
#include "server/engine/geometry/intersect_triangle_triangle.h"
#include "server/engine/linalg/eigen3.h"
#include "tests/lib/check_main.h"
#include "tests/lib/oracle_primitives.h"
#include "tests/lib/poses.h"

#include <string.h>

enum { SOUP_MAX = 300 };

struct soup {
	uint32_t count;
	vec3 vertices[3 * SOUP_MAX];
	uint32_t triangles[SOUP_MAX][3];
};

static struct rng rng;

static void set_up(void)
{
	rng = rng_seeded(check_seed());
}

/* Small triangles in a box of half size `size`, some of them coincident. */
static void draw_soup(struct soup *soup, uint32_t count, double size)
{
	soup->count = count;
	for (uint32_t i = 0; i < count; i++) {
		vec3 centre = random_vector(&rng, size);
		for (uint32_t k = 0; k < 3; k++) {
			soup->vertices[3 * i + k] = vec3_add(centre, random_vector(&rng, 0.3));
			soup->triangles[i][k] = 3 * i + k;
		}
		if (i > 0 && i % 17 == 0)
			memcpy(&soup->vertices[3 * i], &soup->vertices[3 * i - 3],
			       3 * sizeof(vec3));
	}
}

static struct hierarchy_source source_of(const struct soup *soup)
{
	return (struct hierarchy_source){ .vertices = soup->vertices,
					  .triangles = (const uint32_t(*)[3])soup->triangles,
					  .count = soup->count };
}

static struct hierarchy tree_of(const struct soup *soup, enum hierarchy_kind kind)
{
	struct hierarchy tree;
	struct hierarchy_source source = source_of(soup);
	ck_assert_int_eq(hierarchy_build(&tree, kind, &source), STATUS_OK);
	return tree;
}

static bool contains_point(const struct hierarchy *tree, uint32_t node, vec3 p)
{
	if (tree->kind == HIERARCHY_AABB)
		return aabb_contains_point(tree->boxes[node], p);
	if (tree->kind == HIERARCHY_BALL)
		return intersect_sphere_sphere(tree->balls[node], (struct ball){ p, 0 });
	const struct obb *box = &tree->obbs[node];
	vec3 seen = mat3_transposed_mul_vec(box->axes, vec3_sub(p, box->centre));
	vec3 over = vec3_sub(vec3_abs(seen), box->half);
	return vec3_max_component(over) <= 0;
}

static void check_tree(const struct hierarchy *tree, const struct soup *soup)
{
	uint8_t seen[SOUP_MAX] = { 0 };
	ck_assert_uint_eq(tree->nodes[hierarchy_root(tree)].count, soup->count);
	for (uint32_t n = 0; n < tree->node_count; n++) {
		const struct hierarchy_node *node = &tree->nodes[n];
		ck_assert(n == 0 || node->depth <= tree->nodes[n - 1].depth);
		for (uint32_t i = node->first; i < node->first + node->count; i++) {
			uint32_t triangle = tree->order[i];
			for (uint32_t k = 0; k < 3; k++)
				ck_assert(contains_point(
					tree, n, soup->vertices[soup->triangles[triangle][k]]));
			if (node->left == HIERARCHY_LEAF)
				ck_assert_uint_eq(seen[triangle]++, 0);
		}
		if (node->left == HIERARCHY_LEAF)
			continue;
		ck_assert(node->left < n && node->right < n);
		ck_assert_uint_eq(tree->nodes[node->left].count + tree->nodes[node->right].count,
				  node->count);
		ck_assert_uint_eq(tree->nodes[node->left].depth, node->depth + 1);
	}
	for (uint32_t i = 0; i < soup->count; i++)
		ck_assert_uint_eq(seen[i], 1);
}

START_TEST(g02_every_primitive_is_in_one_leaf_and_every_volume_contains_its_primitives)
{
	static struct soup soup;
	for (uint32_t kind = HIERARCHY_AABB; kind <= HIERARCHY_BALL; kind++) {
		for (uint32_t count = 1; count <= SOUP_MAX; count = count * 3 + 1) {
			draw_soup(&soup, count, 2);
			struct hierarchy tree = tree_of(&soup, kind);
			check_tree(&tree, &soup);
			hierarchy_release(&tree);
		}
	}
}
END_TEST

START_TEST(g02_coincident_centres_end_in_one_leaf_and_steep_ones_in_a_flat_tree)
{
	static struct soup soup;
	draw_soup(&soup, 40, 1);
	for (uint32_t i = 1; i < 40; i++)
		memcpy(&soup.vertices[3 * i], soup.vertices, 3 * sizeof(vec3));
	struct hierarchy tree = tree_of(&soup, HIERARCHY_AABB);
	ck_assert_uint_eq(tree.node_count, 1);
	ck_assert_uint_eq(tree.nodes[0].count, 40);
	hierarchy_release(&tree);
	/* Distances that double: each split at the mean separates a single triangle. */
	draw_soup(&soup, 200, 0);
	double far = 1e-30;
	for (uint32_t i = 0; i < 200; i++, far *= 2)
		for (uint32_t k = 0; k < 3; k++)
			soup.vertices[3 * i + k] = vec3_make(far, k * 1e-40, 0);
	tree = tree_of(&soup, HIERARCHY_AABB);
	check_tree(&tree, &soup);
	ck_assert_uint_lt(tree.nodes[0].depth, HIERARCHY_DEPTH_MAX);
	hierarchy_release(&tree);
}
END_TEST

START_TEST(g03_boxes_agree_with_brute_force)
{
	static struct soup soup;
	draw_soup(&soup, 250, 2);
	struct hierarchy tree = tree_of(&soup, HIERARCHY_AABB);
	for (uint32_t n = 0; n < tree.node_count; n++) {
		struct aabb box = aabb_empty();
		const struct hierarchy_node *node = &tree.nodes[n];
		for (uint32_t i = node->first; i < node->first + node->count; i++)
			for (uint32_t k = 0; k < 3; k++)
				box = aabb_add_point(box, soup.vertices[3 * tree.order[i] + k]);
		ck_assert(vec3_equal(box.min, tree.boxes[n].min));
		ck_assert(vec3_equal(box.max, tree.boxes[n].max));
	}
	hierarchy_release(&tree);
}
END_TEST

START_TEST(g04_a_triangles_covariance_agrees_with_the_spec)
{
	vec3 p[3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 } };
	mat3 c = obb_covariance_surface(p, 1);
	ck_assert_double_eq_tol(c.x.x, 1.0 / 18, 1e-15);
	ck_assert_double_eq_tol(c.y.y, 1.0 / 18, 1e-15);
	ck_assert_double_eq_tol(c.x.y, -1.0 / 36, 1e-15);
	struct eigen3 own = eigen3_symmetric(c);
	ck_assert_double_eq_tol(own.values.x, 1.0 / 12, 1e-15);
	ck_assert_double_eq_tol(own.values.y, 1.0 / 36, 1e-15);
	ck_assert_double_eq_tol(scalar_abs(vec3_dot(own.vectors.x, vec3_make(1, -1, 0))),
				scalar_sqrt(2), 1e-14);
	/* The corners alone have the covariance 1/n Σ about their mean, with the same axes. */
	c = obb_covariance_points(p, 3);
	ck_assert_double_eq_tol(c.x.x, 2.0 / 9, 1e-15);
	ck_assert_double_eq_tol(c.x.y, -1.0 / 9, 1e-15);
	struct obb box = obb_of_points(p, 3);
	ck_assert_double_eq_tol(box.half.z, 0, 1e-14);
	ck_assert_double_eq_tol(box.half.x, scalar_sqrt(0.5), 1e-14);
	ck_assert_double_eq_tol(box.half.y, scalar_sqrt(0.5) / 2, 1e-14);
}
END_TEST

START_TEST(g04_interior_points_and_clusters_do_not_rotate_the_axes)
{
	static vec3 p[1100];
	vec3 half = vec3_make(3, 2, 1);
	pose at = pose_make(random_vector(&rng, 5), random_rotation(&rng));
	for (uint32_t i = 0; i < 8; i++)
		p[i] = pose_point(at, vec3_make(i & 1 ? 3 : -3, i & 2 ? 2 : -2, i & 4 ? 1 : -1));
	for (uint32_t i = 8; i < 1100; i++) {
		vec3 inside = vec3_hadamard(random_vector(&rng, 0.9), half);
		if (i > 600)
			inside = vec3_make(2.5, 1.5, 0.5); /* a cluster */
		p[i] = pose_point(at, inside);
	}
	struct obb few = obb_of_points(p, 8), many = obb_of_points(p, 1100);
	mat3 turn = mat3_transposed_mul(few.axes, many.axes);
	ck_assert_double_eq_tol(scalar_abs(turn.x.x), 1, 1e-9);
	ck_assert_double_eq_tol(scalar_abs(turn.y.y), 1, 1e-9);
	ck_assert_double_lt(vec3_distance(many.half, half), 1e-6);
	ck_assert_double_eq_tol(mat3_det(many.axes), 1, 1e-12);
	/* The surface of the unit cube about its centre: the mean of x² is 1/4 on two faces and
	 * 1/12 on four. */
	for (uint32_t i = 0; i < 8; i++)
		p[i] = vec3_make(i & 1, i >> 1 & 1, i >> 2 & 1);
	mat3 c;
	ck_assert(obb_covariance_hull(p, 8, &c));
	ck_assert_double_eq_tol(c.x.x, (2 * 0.25 + 4 / 12.0) / 6, 1e-14);
	ck_assert_double_eq_tol(c.x.y, 0, 1e-14);
	ck_assert(!obb_covariance_hull(p, 3, &c));
}
END_TEST

START_TEST(g05_a_covariance_is_recovered_from_its_eigenvectors)
{
	for (uint32_t run = 0; run < 1000; run++) {
		vec3 p[20];
		for (uint32_t i = 0; i < 20; i++)
			p[i] = random_vector(&rng, 3);
		mat3 c = obb_covariance_points(p, 20);
		struct eigen3 own = eigen3_symmetric(c);
		mat3 back = mat3_sub(mat3_rotate_diagonal(own.vectors, own.values), c);
		mat3 unit =
			mat3_sub(mat3_transposed_mul(own.vectors, own.vectors), mat3_identity());
		for (uint32_t k = 0; k < 9; k++) {
			ck_assert_double_lt(scalar_abs(mat3_get(back, k / 3, k % 3)), 1e-12);
			ck_assert_double_lt(scalar_abs(mat3_get(unit, k / 3, k % 3)), 1e-12);
		}
	}
}
END_TEST

START_TEST(g06_a_ball_grows_as_in_the_spec_and_contains_its_points)
{
	struct ball ball = ball_add_point((struct ball){ vec3_zero(), 1 }, vec3_make(3, 0, 0));
	ck_assert(ball.radius == 2 && vec3_equal(ball.centre, vec3_make(1, 0, 0)));
	for (uint32_t run = 0; run < oracle_runs(2000); run++) {
		vec3 p[60], half = random_vector(&rng, 2);
		quat turn = random_rotation(&rng);
		uint32_t count = 1 + rng_below(&rng, 60);
		for (uint32_t i = 0; i < count; i++)
			p[i] = quat_rotate(turn, vec3_hadamard(half, random_vector(&rng, 1)));
		ball = ball_of_points(p, count);
		double widest = 0;
		for (uint32_t i = 0; i < count; i++) {
			ck_assert(intersect_sphere_sphere(ball, (struct ball){ p[i], 0 }));
			for (uint32_t j = 0; j < i; j++)
				widest = scalar_max(widest, vec3_distance(p[i], p[j]));
		}
		/* The least ball has a radius of at most √(3/8) of the diameter (Jung). */
		ck_assert_double_le(ball.radius, 1.25 * 0.6124 * widest + 1e-12);
		struct ball one = { p[0], rng_double(&rng) }, two = ball_union(ball, one);
		ck_assert_double_le(vec3_distance(two.centre, ball.centre) + ball.radius,
				    two.radius * (1 + 1e-14));
		ck_assert_double_le(vec3_distance(two.centre, one.centre) + one.radius,
				    two.radius * (1 + 1e-14));
	}
}
END_TEST

/* ---- walks ------------------------------------------------------------------------------------ */

static void corners_of(const struct soup *soup, uint32_t i, const pose *at, vec3 out[3])
{
	for (uint32_t k = 0; k < 3; k++) {
		out[k] = soup->vertices[soup->triangles[i][k]];
		if (at != NULL)
			out[k] = pose_point(*at, out[k]);
	}
}

static bool triangles_meet(const struct soup *a, uint32_t i, const struct soup *b, uint32_t j,
			   const pose *at)
{
	vec3 one[3], other[3];
	corners_of(a, i, NULL, one);
	corners_of(b, j, at, other);
	return intersect_triangle_triangle(one, other, NULL);
}

START_TEST(g14_two_trees_give_every_overlapping_pair_once)
{
	static struct soup a, b;
	static uint8_t seen[SOUP_MAX][SOUP_MAX];
	uint64_t hits = 0;
	for (uint32_t run = 0; run < oracle_runs(36); run++) {
		enum hierarchy_kind kind = run % 3;
		draw_soup(&a, 1 + rng_below(&rng, 90), 1);
		draw_soup(&b, 1 + rng_below(&rng, 90), 1);
		pose at = pose_make(random_vector(&rng, 2), awkward_rotation(&rng));
		const pose *placed = run % 4 == 0 ? NULL : &at;
		struct hierarchy one = tree_of(&a, kind), other = tree_of(&b, kind);
		struct hierarchy_walk walk;
		uint32_t i, j;
		memset(seen, 0, sizeof seen);
		uint64_t calls = heap_calls();
		hierarchy_walk_pair(&walk, &one, &other, placed);
		while (hierarchy_walk_next(&walk, &i, &j))
			ck_assert_uint_eq(seen[i][j]++, 0);
		ck_assert_uint_eq(heap_calls(), calls);
		for (i = 0; i < a.count; i++)
			for (j = 0; j < b.count; j++)
				if (triangles_meet(&a, i, &b, j, placed)) {
					ck_assert_uint_eq(seen[i][j], 1);
					hits++;
				}
		hierarchy_release(&one);
		hierarchy_release(&other);
	}
	ck_assert_uint_gt(hits, 30);
}
END_TEST

START_TEST(g15_a_tree_with_itself_gives_every_overlapping_pair_once)
{
	static struct aabb boxes[SOUP_MAX];
	static uint8_t seen[SOUP_MAX][SOUP_MAX];
	for (uint32_t run = 0; run < oracle_runs(30); run++) {
		uint32_t count = 1 + rng_below(&rng, SOUP_MAX), i, j;
		for (i = 0; i < count; i++) {
			vec3 centre = run % 2 ? oracle_grid_point(&rng, 3) : random_vector(&rng, 3);
			boxes[i] = aabb_of_centre(centre, vec3_abs(random_vector(&rng, 0.4)));
			if (run % 2)
				boxes[i] = aabb_of_centre(centre, vec3_all(0.5));
		}
		struct hierarchy_source source = { .boxes = boxes, .count = count };
		struct hierarchy tree;
		struct hierarchy_walk walk;
		ck_assert_int_eq(hierarchy_build(&tree, HIERARCHY_AABB, &source), STATUS_OK);
		memset(seen, 0, sizeof seen);
		hierarchy_walk_self(&walk, &tree);
		while (hierarchy_walk_next(&walk, &i, &j)) {
			ck_assert(i < j);
			ck_assert(aabb_overlaps(boxes[i], boxes[j]));
			ck_assert_uint_eq(seen[i][j]++, 0);
		}
		for (i = 0; i < count; i++)
			for (j = i + 1; j < count; j++)
				ck_assert_uint_eq(seen[i][j], aabb_overlaps(boxes[i], boxes[j]));
		hierarchy_release(&tree);
	}
}
END_TEST

START_TEST(g01_volumes_are_placed_only_where_bodies_are_near)
{
	static struct soup a, b;
	draw_soup(&a, 300, 2);
	draw_soup(&b, 300, 2);
	for (uint32_t kind = HIERARCHY_AABB; kind <= HIERARCHY_BALL; kind++) {
		struct hierarchy one = tree_of(&a, kind), other = tree_of(&b, kind);
		struct hierarchy_walk walk;
		uint32_t i, j;
		pose far = pose_make(vec3_make(20, 0, 0), random_rotation(&rng));
		hierarchy_walk_pair(&walk, &one, &other, &far);
		ck_assert(!hierarchy_walk_next(&walk, &i, &j));
		ck_assert_uint_eq(walk.moved, 1);
		ck_assert_uint_eq(walk.tested, 1);
		pose near = pose_make(vec3_make(4.3, 0, 0), quat_identity());
		hierarchy_walk_pair(&walk, &one, &other, &near);
		while (hierarchy_walk_next(&walk, &i, &j)) {
		}
		ck_assert_uint_gt(walk.moved, 1);
		ck_assert_uint_lt(walk.moved, other.node_count);
		hierarchy_release(&one);
		hierarchy_release(&other);
	}
}
END_TEST

/* ---- refits ----------------------------------------------------------------------------------- */

/* X2: a cap of 5 on trees of 257 faces finds every overlapping pair with fewer tests. */
START_TEST(x2_a_walk_with_a_budget_misses_no_pair)
{
	static struct soup one, other;
	static uint8_t seen[257][257];
	for (uint32_t kind = HIERARCHY_AABB; kind <= HIERARCHY_BALL; kind++) {
		draw_soup(&one, 257, 2);
		draw_soup(&other, 257, 2);
		struct hierarchy a = tree_of(&one, kind), b = tree_of(&other, kind);
		pose at = pose_make(vec3_make(1, 0.5, 0), random_rotation(&rng));
		struct hierarchy_walk capped, full;
		uint32_t i, j, exact = 0, capped_count = 0;
		memset(seen, 0, sizeof seen);
		hierarchy_walk_pair(&capped, &a, &b, &at);
		hierarchy_walk_limit(&capped, 5);
		while (hierarchy_walk_next(&capped, &i, &j)) {
			ck_assert_uint_eq(seen[i][j]++, 0);
			ck_assert_uint_le(a.nodes[capped.leaf_a].depth, 5);
			ck_assert_uint_le(b.nodes[capped.leaf_b].depth, 5);
			capped_count++;
		}
		hierarchy_walk_pair(&full, &a, &b, &at);
		while (hierarchy_walk_next(&full, &i, &j)) {
			ck_assert_uint_eq(seen[i][j], 1);
			exact++;
		}
		ck_assert_uint_gt(exact, 20);
		ck_assert_uint_gt(capped_count, exact);
		ck_assert_uint_lt(capped.tested, full.tested / 2);
		/* At most 2^5 nodes of each tree. */
		uint32_t nodes = 0;
		hierarchy_walk_pair(&capped, &a, &b, &at);
		hierarchy_walk_limit(&capped, 5);
		while (hierarchy_walk_next_nodes(&capped))
			nodes++;
		ck_assert_uint_le(nodes, 32 * 32);
		hierarchy_release(&a);
		hierarchy_release(&b);
	}
}
END_TEST

START_TEST(g08_a_ball_of_radius_1_moved_by_10_sweeps_12)
{
	struct aabb box = aabb_of_centre(vec3_zero(), vec3_all(1));
	struct hierarchy_source source = { .boxes = &box, .count = 1 };
	struct hierarchy tree;
	ck_assert_int_eq(hierarchy_build(&tree, HIERARCHY_AABB, &source), STATUS_OK);
	struct aabb swept = aabb_union(box, aabb_of_centre(vec3_make(10, 0, 0), vec3_all(1)));
	hierarchy_refit_boxes(&tree, &swept);
	ck_assert(tree.boxes[0].min.x == -1 && tree.boxes[0].max.x == 11);
	hierarchy_release(&tree);
}
END_TEST

START_TEST(g08_swept_trees_contain_every_sample_of_the_motion)
{
	static struct soup soup;
	static vec3 to[3 * SOUP_MAX];
	draw_soup(&soup, 60, 1);
	struct hierarchy tree = tree_of(&soup, HIERARCHY_AABB);
	for (uint32_t run = 0; run < oracle_runs(30); run++) {
		struct motion motion;
		pose from = pose_make(random_vector(&rng, 5), random_rotation(&rng));
		pose end = pose_make(random_vector(&rng, 5), awkward_rotation(&rng));
		ck_assert_int_eq(motion_between(from, 2, end, 3, &motion), STATUS_OK);
		for (uint32_t v = 0; v < 180; v++)
			to[v] = random_vector(&rng, 3);
		for (uint32_t way = 0; way < 2; way++) {
			if (way == 0)
				hierarchy_refit_motion(&tree, (const uint32_t(*)[3])soup.triangles,
						       soup.vertices, &motion);
			else
				hierarchy_refit_ways(&tree, (const uint32_t(*)[3])soup.triangles,
						     soup.vertices, to);
			for (uint32_t n = 0; n < tree.node_count; n++) {
				const struct hierarchy_node *node = &tree.nodes[n];
				if (node->left != HIERARCHY_LEAF) {
					ck_assert(aabb_contains(tree.boxes[n],
								tree.boxes[node->left]));
					ck_assert(aabb_contains(tree.boxes[n],
								tree.boxes[node->right]));
					continue;
				}
				for (uint32_t k = 0; k <= 30; k++) {
					uint32_t v = 3 * tree.order[node->first] + k % 3;
					vec3 p = soup.vertices[v];
					pose at = motion_at(&motion, 2 + k / 30.0);
					p = way == 0 ? pose_point(at, p)
						     : (k == 30 ? to[v]
								: vec3_lerp(p, to[v], k / 30.0));
					ck_assert(aabb_contains_point(tree.boxes[n], p));
				}
			}
		}
	}
	hierarchy_release(&tree);
}
END_TEST

START_TEST(a_build_without_memory_is_refused_and_leaves_nothing)
{
	static struct soup soup;
	draw_soup(&soup, 30, 1);
	struct hierarchy_source source = source_of(&soup);
	int64_t live = heap_live();
	for (uint32_t n = 1; n <= 8; n++) {
		struct hierarchy tree;
		heap_fail_at(n);
		ck_assert_int_eq(hierarchy_build(&tree, HIERARCHY_OBB, &source), STATUS_NO_MEMORY);
		ck_assert(!heap_fail_pending());
		ck_assert_int_eq(heap_live(), live);
	}
}
END_TEST

START_TEST(the_bits_are_the_same_everywhere)
{
	static struct soup soup;
	struct hasher hash;
	hasher_init(&hash, 0);
	rng = rng_seeded(1);
	draw_soup(&soup, 200, 2);
	for (uint32_t kind = HIERARCHY_AABB; kind <= HIERARCHY_BALL; kind++) {
		struct hierarchy tree = tree_of(&soup, kind);
		struct hierarchy_walk walk;
		uint32_t i, j;
		hierarchy_walk_self(&walk, &tree);
		while (hierarchy_walk_next(&walk, &i, &j)) {
			hasher_u32(&hash, i);
			hasher_u32(&hash, j);
		}
		hasher_u64(&hash, walk.tested);
		hierarchy_release(&tree);
	}
	ck_assert_uint_eq(hasher_digest(&hash), 4002873279126085626u);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/collision/hierarchy");
	TCase *tc = tcase_create("trees");
	tcase_add_checked_fixture(tc, set_up, NULL);
	tcase_add_test(tc,
		       g02_every_primitive_is_in_one_leaf_and_every_volume_contains_its_primitives);
	tcase_add_test(tc, g02_coincident_centres_end_in_one_leaf_and_steep_ones_in_a_flat_tree);
	tcase_add_test(tc, g03_boxes_agree_with_brute_force);
	tcase_add_test(tc, g04_a_triangles_covariance_agrees_with_the_spec);
	tcase_add_test(tc, g04_interior_points_and_clusters_do_not_rotate_the_axes);
	tcase_add_test(tc, g05_a_covariance_is_recovered_from_its_eigenvectors);
	tcase_add_test(tc, g06_a_ball_grows_as_in_the_spec_and_contains_its_points);
	tcase_add_test(tc, g14_two_trees_give_every_overlapping_pair_once);
	tcase_add_test(tc, g15_a_tree_with_itself_gives_every_overlapping_pair_once);
	tcase_add_test(tc, g01_volumes_are_placed_only_where_bodies_are_near);
	tcase_add_test(tc, x2_a_walk_with_a_budget_misses_no_pair);
	tcase_add_test(tc, g08_a_ball_of_radius_1_moved_by_10_sweeps_12);
	tcase_add_test(tc, g08_swept_trees_contain_every_sample_of_the_motion);
	tcase_add_test(tc, a_build_without_memory_is_refused_and_leaves_nothing);
	tcase_add_test(tc, the_bits_are_the_same_everywhere);
	suite_add_tcase(suite, tc);
	return suite;
}

int main(void)
{
	return check_main(make);
}
