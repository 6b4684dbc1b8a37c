/* Meshes: adjacency, edges that may collide, the hierarchy, and refusals with the triangle's
 * index. */
#include "server/engine/geometry/mesh.h"

#include "server/base/heap.h"
#include "server/base/rng.h"
#include "tests/lib/check_main.h"
#include "tests/lib/shapes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct rng rng;

/* Two triangles along the x axis: (0, 1, 2) level, (1, 0, 3) with its far corner at height y. */
static struct shape *hinge(double y)
{
	vec3 vertices[4] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0.5, 0, -1 }, { 0.5, y, 1 } };
	static const uint32_t TRIANGLES[2][3] = { { 0, 1, 2 }, { 1, 0, 3 } };
	return make_mesh(vertices, 4, TRIANGLES, 2);
}

START_TEST(t_junctions_are_counted_and_told)
{
	static const uint32_t TRIANGLES[3][3] = { { 0, 1, 2 }, { 3, 0, 4 }, { 1, 3, 5 } };
	/* One large triangle, and two on its other side that meet in the middle of its edge, or beside it. */
	for (uint32_t i = 0; i < 2; i++) {
		vec3 vertices[6] = { { 0, 0, 0 }, { 2, 0, 0 }, { 1, 0, -1 },
				     { 1, 0, 0 }, { 0, 0, 1 }, { 2, 0, 1 } };
		vertices[3].z = i == 0 ? 0 : 0.01;
		struct shape *shape = make_mesh(vertices, 6, TRIANGLES, 3);
		char text[200];
		ck_assert_uint_eq(shape->mesh->junctions, i == 0);
		ck_assert(shape_warning(shape, 0, text, sizeof text));
		ck_assert_int_eq(shape_warning(shape, 1, text, sizeof text), i == 0);
		ck_assert(i == 1 || strstr(text, "T-junctions: on 1 edges") != NULL);
		shape_release(shape);
	}
}
END_TEST

START_TEST(flat_and_concave_edges_do_not_collide)
{
	static const struct {
		double height;
		bool may_collide;
	} CASES[] = { { 0, false },    { 0.5, false }, { -0.5, true }, { -0.01, false },
		      { -0.02, true }, { 10, false },  { -10, true } };
	for (uint32_t i = 0; i < COUNT_OF(CASES); i++) {
		struct shape *shape = hinge(CASES[i].height);
		const struct mesh *mesh = shape->mesh;
		ck_assert_uint_eq(mesh->adjacent[0][0], 1);
		ck_assert_uint_eq(mesh->adjacent[1][0], 0);
		ck_assert_uint_eq(mesh->adjacent[0][1], UINT32_MAX);
		ck_assert_int_eq(mesh->edge_flags[0] & 1, CASES[i].may_collide);
		ck_assert_int_eq(mesh->edge_flags[1] & 1, CASES[i].may_collide);
		/* Border edges may always collide. */
		ck_assert_int_eq(mesh->edge_flags[0] & 6, 6);
		ck_assert(!mesh->closed);
		shape_release(shape);
	}
}
END_TEST

START_TEST(triangles_with_coincident_vertices_are_adjacent)
{
	vec3 vertices[6] = { { 0, 0, 0 }, { 1, 0, 0 },	  { 0, 0, -1 },
			     { 1, 0, 0 }, { -0.0, 0, 0 }, { 0, -1, 1 } };
	static const uint32_t TRIANGLES[2][3] = { { 0, 1, 2 }, { 3, 4, 5 } };
	struct shape *shape = make_mesh(vertices, 6, TRIANGLES, 2);
	ck_assert_uint_eq(shape->mesh->adjacent[0][0], 1);
	ck_assert_uint_eq(shape->mesh->adjacent[1][0], 0);
	ck_assert_int_eq(shape->mesh->edge_flags[0], 7);
	shape_release(shape);
}
END_TEST

static const vec3 CUBE[8] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 1, 1, 0 },
			      { 0, 0, 1 }, { 1, 0, 1 }, { 0, 1, 1 }, { 1, 1, 1 } };
static const uint32_t CUBE_TRIANGLES[12][3] = {
	{ 0, 4, 6 }, { 0, 6, 2 }, { 1, 3, 7 }, { 1, 7, 5 }, { 0, 1, 5 }, { 0, 5, 4 },
	{ 2, 6, 7 }, { 2, 7, 3 }, { 0, 2, 3 }, { 0, 3, 1 }, { 4, 5, 7 }, { 4, 7, 6 },
};

START_TEST(a_cube_is_closed_and_its_diagonals_are_flat)
{
	struct shape *shape = make_mesh(CUBE, 8, CUBE_TRIANGLES, 12);
	const struct mesh *mesh = shape->mesh;
	ck_assert(mesh->closed);
	ck_assert_double_eq_tol(shape->mass.volume, 1, 1e-15);
	for (uint32_t t = 0; t < 12; t++)
		for (uint32_t k = 0; k < 3; k++) {
			uint32_t other = mesh->adjacent[t][k];
			ck_assert_uint_lt(other, 12);
			bool diagonal = other / 2 == t / 2;
			ck_assert_int_eq(mesh->edge_flags[t] >> k & 1, !diagonal);
			/* Adjacency is mutual. */
			const uint32_t *back = mesh->adjacent[other];
			ck_assert(back[0] == t || back[1] == t || back[2] == t);
		}
	shape_release(shape);
}
END_TEST

START_TEST(an_edge_of_three_triangles_has_no_adjacency)
{
	vec3 vertices[5] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 0, -1 }, { 0, 0, 1 }, { 0, 1, 0 } };
	static const uint32_t TRIANGLES[3][3] = { { 0, 1, 2 }, { 1, 0, 3 }, { 1, 0, 4 } };
	struct shape *shape = make_mesh(vertices, 5, TRIANGLES, 3);
	for (uint32_t t = 0; t < 3; t++)
		ck_assert_uint_eq(shape->mesh->adjacent[t][0], UINT32_MAX);
	ck_assert(!shape->mesh->closed);
	shape_release(shape);
	/* Two triangles with the same direction along their common edge: one of them is
	 * inverted. */
	static const uint32_t TWISTED[2][3] = { { 0, 1, 2 }, { 0, 1, 3 } };
	shape = make_mesh(vertices, 5, TWISTED, 2);
	ck_assert_uint_eq(shape->mesh->adjacent[0][0], UINT32_MAX);
	ck_assert_int_eq(shape->mesh->edge_flags[0], 7);
	shape_release(shape);
}
END_TEST

static void expect_refused(const vec3 *vertices, uint32_t vertex_count,
			   const uint32_t (*triangles)[3], uint32_t triangle_count,
			   enum status expected, int64_t index, const char *words)
{
	struct bytes bytes = { 0 };
	struct shape *shape = NULL;
	struct reason why = { 0 };
	int64_t before = heap_live();
	bytes_of_mesh(&bytes, vertices, vertex_count, triangles, triangle_count);
	enum status status = shape_cook(bytes.data, bytes.count, NULL, &shape, &why);
	ck_assert_msg(status == expected, "%s: %s", status_name(status), why.text);
	ck_assert_int_eq(why.index, index);
	ck_assert_msg(strstr(why.text, words) != NULL, "%s", why.text);
	ck_assert_ptr_null(shape);
	bytes_release(&bytes);
	ck_assert_int_eq(heap_live(), before);
}

START_TEST(invalid_triangles_are_refused_with_their_index)
{
	uint32_t list[12][3];
	memcpy(list, CUBE_TRIANGLES, sizeof list);
	list[7][1] = 8;
	expect_refused(CUBE, 8, (const uint32_t(*)[3])list, 12, STATUS_RANGE, 7,
		       "names vertex 8 of 8");
	list[7][1] = list[7][0];
	expect_refused(CUBE, 8, (const uint32_t(*)[3])list, 12, STATUS_DEGENERATE, 7,
		       "has no area");
	memcpy(list[7], CUBE_TRIANGLES[2], sizeof list[7]);
	expect_refused(CUBE, 8, (const uint32_t(*)[3])list, 12, STATUS_DEGENERATE, 7,
		       "repeats triangle 2");
	/* The repeated triangle is recognised in reverse and through other vertices at the same
	 * positions. */
	list[7][0] = CUBE_TRIANGLES[2][1];
	list[7][1] = CUBE_TRIANGLES[2][0];
	expect_refused(CUBE, 8, (const uint32_t(*)[3])list, 12, STATUS_DEGENERATE, 7,
		       "repeats triangle 2");
	vec3 line[3] = { { 0, 0, 0 }, { 1, 1, 1 }, { 3, 3, 3 } };
	static const uint32_t ONE[1][3] = { { 0, 1, 2 } };
	expect_refused(line, 3, ONE, 1, STATUS_DEGENERATE, 0, "has no area");
	line[2] = vec3_make(1, 1, 1 + 1e-13);
	expect_refused(line, 3, ONE, 1, STATUS_DEGENERATE, 0, "has no area");
	line[2] = vec3_make(0, 1e300, 0);
	expect_refused(line, 3, ONE, 1, STATUS_RANGE, 2, "y 1e+300");
	line[2].y = scalar_from_bits(0x7ff8000000000001u);
	expect_refused(line, 3, ONE, 1, STATUS_NOT_FINITE, 2, "y is not a finite number");
}
END_TEST

/* ---- the hierarchy ---------------------------------------------------------------------------- */

/* Checks that every triangle is in one leaf and every box contains those below it. Returns the
 * number of triangles below. */
static uint32_t check_node(const struct mesh *mesh, uint32_t at, uint32_t depth, uint8_t *seen)
{
	const struct mesh_node *node = &mesh->nodes[at];
	struct aabb box = aabb_make(node->min, node->max);
	ck_assert_uint_lt(depth, MESH_DEPTH_MAX);
	ck_assert_uint_lt(at, mesh->node_count);
	if (node->count > 0) {
		ck_assert_uint_le(node->count, MESH_LEAF_TRIANGLES);
		for (uint32_t i = 0; i < node->count; i++) {
			uint32_t triangle = mesh->order[node->first + i];
			ck_assert_uint_eq(seen[triangle]++, 0);
			ck_assert(aabb_contains(box, mesh_triangle_aabb(mesh, triangle)));
		}
		return node->count;
	}
	const struct mesh_node *left = &mesh->nodes[at + 1], *right = &mesh->nodes[node->first];
	ck_assert(aabb_contains(box, aabb_make(left->min, left->max)));
	ck_assert(aabb_contains(box, aabb_make(right->min, right->max)));
	return check_node(mesh, at + 1, depth + 1, seen) +
	       check_node(mesh, node->first, depth + 1, seen);
}

static void check_tree(const struct mesh *mesh)
{
	uint8_t *seen = calloc(mesh->triangle_count, 1);
	ck_assert_uint_eq(check_node(mesh, 0, 0, seen), mesh->triangle_count);
	ck_assert_uint_le(mesh->node_count, mesh_tree_nodes_max(mesh->triangle_count));
	free(seen);
}

START_TEST(every_triangle_is_in_one_leaf_within_its_boxes)
{
	for (uint32_t cells = 1; cells <= 40; cells += 3) {
		struct shape *shape = make_terrain(cells, 1, 0.7, cells);
		check_tree(shape->mesh);
		shape_release(shape);
	}
}
END_TEST

START_TEST(triangles_with_one_centroid_give_a_shallow_tree)
{
	/* Coincident centroids, which no plane separates; then sizes in geometric progression, of
	 * which each plane splits off a few. */
	enum { COUNT = 4000 };
	vec3 *vertices = malloc(3 * COUNT * sizeof *vertices);
	uint32_t(*triangles)[3] = malloc(COUNT * sizeof *triangles);
	for (uint32_t shape_number = 0; shape_number < 2; shape_number++) {
		double size = 1;
		for (uint32_t t = 0; t < COUNT; t++) {
			size = t % 100 == 0 ? 1 : size * 1.1;
			double s = shape_number == 0 ? 1 + t * 1e-4 : size * (1 + 1e-5 * t);
			vec3 centre = vec3_make(shape_number == 0 ? 0 : s * 0.4, 0, 0);
			vertices[3 * t] = vec3_add(centre, vec3_make(-s, -s, 0));
			vertices[3 * t + 1] = vec3_add(centre, vec3_make(s, -s, 0));
			vertices[3 * t + 2] = vec3_add(centre, vec3_make(0, s, 0));
			for (uint32_t k = 0; k < 3; k++)
				triangles[t][k] = 3 * t + k;
		}
		struct shape *shape =
			make_mesh(vertices, 3 * COUNT, (const uint32_t(*)[3])triangles, COUNT);
		check_tree(shape->mesh);
		shape_release(shape);
	}
	free(vertices);
	free(triangles);
}
END_TEST

static int ascending(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

START_TEST(a_query_agrees_with_brute_force)
{
	struct shape *shape = make_terrain(30, 0.5, 0.4, 7);
	const struct mesh *mesh = shape->mesh;
	uint32_t found[1800], again[1800], hits = 0;
	rng = rng_seeded(check_seed());
	for (uint32_t run = 0; run < 500; run++) {
		vec3 centre = vec3_make(rng_range(&rng, -9, 9), rng_range(&rng, -0.2, 0.6),
					rng_range(&rng, -9, 9));
		struct aabb box = aabb_of_centre(centre, vec3_all(rng_range(&rng, 0, 2)));
		uint32_t count = mesh_query(mesh, box, found, COUNT_OF(found));
		ck_assert_uint_eq(mesh_query(mesh, box, again, 3), count);
		ck_assert_int_eq(memcmp(found, again, MIN_OF(count, 3u) * sizeof *found), 0);
		qsort(found, count, sizeof *found, ascending);
		uint32_t expected = 0;
		for (uint32_t t = 0; t < mesh->triangle_count; t++) {
			if (!aabb_overlaps(box, mesh_triangle_aabb(mesh, t)))
				continue;
			ck_assert_uint_lt(expected, count);
			ck_assert_uint_eq(found[expected], t);
			expected++;
		}
		ck_assert_uint_eq(expected, count);
		hits += count;
	}
	ck_assert_uint_gt(hits, 10000);
	shape_release(shape);
}
END_TEST

START_TEST(cooking_twice_gives_the_same_bits)
{
	struct shape *a = make_terrain(25, 0.5, 0.4, 3), *b = make_terrain(25, 0.5, 0.4, 3);
	ck_assert_uint_eq(a->mesh->node_count, b->mesh->node_count);
	ck_assert_int_eq(memcmp(a->mesh->nodes, b->mesh->nodes,
				a->mesh->node_count * sizeof *a->mesh->nodes),
			 0);
	ck_assert_int_eq(memcmp(a->mesh->order, b->mesh->order,
				a->mesh->triangle_count * sizeof *a->mesh->order),
			 0);
	shape_release(a);
	shape_release(b);
}
END_TEST

START_TEST(a_mesh_of_80000_triangles_can_be_cooked)
{
	struct timespec from, to;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	struct shape *shape = make_terrain(200, 0.5, 0.4, 3);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	double ms = (double)(to.tv_sec - from.tv_sec) * 1e3 +
		    (double)(to.tv_nsec - from.tv_nsec) * 1e-6;
	printf("# %u triangles cooked in %.1f ms, %u nodes, %.1f MB\n", shape->mesh->triangle_count,
	       ms, shape->mesh->node_count, (double)shape->memory_bytes * 1e-6);
	ck_assert_uint_eq(shape->mesh->triangle_count, 80000);
	shape_release(shape);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/geometry/mesh");
	TCase *edges = tcase_create("edges");
	tcase_add_test(edges, t_junctions_are_counted_and_told);
	tcase_add_test(edges, flat_and_concave_edges_do_not_collide);
	tcase_add_test(edges, triangles_with_coincident_vertices_are_adjacent);
	tcase_add_test(edges, a_cube_is_closed_and_its_diagonals_are_flat);
	tcase_add_test(edges, an_edge_of_three_triangles_has_no_adjacency);
	tcase_add_test(edges, invalid_triangles_are_refused_with_their_index);
	suite_add_tcase(suite, edges);
	TCase *tree = tcase_create("tree");
	tcase_add_test(tree, every_triangle_is_in_one_leaf_within_its_boxes);
	tcase_add_test(tree, triangles_with_one_centroid_give_a_shallow_tree);
	tcase_add_test(tree, a_query_agrees_with_brute_force);
	tcase_add_test(tree, cooking_twice_gives_the_same_bits);
	tcase_add_test(tree, a_mesh_of_80000_triangles_can_be_cooked);
	suite_add_tcase(suite, tree);
	return suite;
}

int main(void)
{
	return check_main(make);
}
