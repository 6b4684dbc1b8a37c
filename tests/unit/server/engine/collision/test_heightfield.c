/* Heightfields: the same triangles, neighbours, edges, rays, contacts, casts, overlaps and nearest points
 * as a mesh of the same surface, bit for bit; tiles with aprons as one surface; refusals; memory. */
#include "server/engine/geometry/heightfield.h"

#include "server/base/rng.h"
#include "server/engine/collision/manifold.h"
#include "server/engine/collision/placed.h"
#include "server/engine/collision/query.h"
#include "server/engine/geometry/mesh.h"
#include "server/engine/geometry/ray.h"
#include "tests/lib/check_main.h"
#include "tests/lib/closed_meshes.h"
#include "tests/lib/poses.h"
#include "tests/lib/shapes.h"

#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 19, ROWS = 14, CELLS = (COLUMNS - 1) * (ROWS - 1), SAMPLES = COLUMNS * ROWS };

static struct rng rng;

/* A surface as a heightfield and as a mesh, and the heightfield's numbers of the mesh's triangles. */
struct twins {
	struct shape *field, *mesh;
	uint32_t numbers[2 * CELLS];
};

static float some_height(void)
{
	/* Flat parts, gentle ones and cliffs. */
	double size[] = { 0, 0.05, 0.5, 3 };
	return (float)rng_range(&rng, 0, size[rng_below(&rng, 4)]);
}

static void make_twins(struct twins *out, bool with_holes)
{
	float heights[SAMPLES];
	uint8_t holes[CELLS], patches[CELLS];
	struct height_grid grid = { COLUMNS, ROWS, 0.5, 0.7, heights, NULL, patches, false };
	for (uint32_t i = 0; i < SAMPLES; i++)
		heights[i] = some_height();
	for (uint32_t c = 0; c < CELLS; c++) {
		holes[c] = rng_below(&rng, 5) == 0;
		patches[c] = (uint8_t)rng_below(&rng, 4);
	}
	holes[0] = patches[0] = 1;
	if (with_holes)
		grid.holes = holes;
	out->field = make_heightfield(&grid);
	out->mesh = make_mesh_of_heightfield(out->field, out->numbers);
	for (uint32_t t = 0; t < out->field->mesh->triangle_count; t++)
		ck_assert_uint_eq(mesh_patch(out->field->mesh, t), patches[t / 2]);
	ck_assert_uint_eq(out->field->mesh->patch_max, 3);
}

static void release_twins(struct twins *self)
{
	shape_release(self->field);
	shape_release(self->mesh);
}

/* The heightfield's number of a triangle of the mesh, which may be none. */
static uint32_t number_of(const struct twins *twins, uint32_t triangle)
{
	return triangle == UINT32_MAX ? UINT32_MAX : twins->numbers[triangle];
}

static vec3 near_surface(double above)
{
	return vec3_make(rng_range(&rng, -5, 5), rng_range(&rng, -0.5, above),
			 rng_range(&rng, -5, 5));
}

static pose random_pose(vec3 position)
{
	return pose_make(position, random_rotation(&rng));
}

START_TEST(triangles_neighbours_and_edges_are_those_of_a_mesh)
{
	rng = rng_seeded(check_seed());
	for (uint32_t run = 0; run < 20; run++) {
		struct twins twins;
		make_twins(&twins, run % 2 == 1);
		const struct mesh *mesh = twins.mesh->mesh, *field = twins.field->mesh;
		ck_assert_uint_eq(mesh->triangle_count, 2 * field->grid->cells_count);
		for (uint32_t t = 0; t < mesh->triangle_count; t++)
			for (uint32_t k = 0; k < 3; k++) {
				uint32_t number = twins.numbers[t];
				ck_assert(vec3_equal(mesh_corner(mesh, t, k),
						     mesh_corner(field, number, k)));
				ck_assert_uint_eq(mesh_across(field, number, k),
						  number_of(&twins, mesh_across(mesh, t, k)));
				ck_assert_int_eq(mesh_edge_is_open(field, number, k),
						 mesh_edge_is_open(mesh, t, k));
			}
		release_twins(&twins);
	}
}
END_TEST

static int compare_numbers(const void *a, const void *b)
{
	uint32_t one = *(const uint32_t *)a, two = *(const uint32_t *)b;
	return (one > two) - (one < two);
}

START_TEST(a_box_finds_the_same_triangles)
{
	rng = rng_seeded(check_seed());
	uint32_t found = 0;
	for (uint32_t run = 0; run < 20; run++) {
		struct twins twins;
		make_twins(&twins, run % 2 == 1);
		for (uint32_t i = 0; i < 200; i++) {
			uint32_t of_mesh[2 * CELLS], of_field[2 * CELLS];
			double size = i % 4 == 0 ? 5 : i % 4 == 1 ? 1 : 0.2;
			struct aabb box =
				aabb_of_centre(near_surface(3), vec3_all(rng_range(&rng, 0, size)));
			if (i % 7 == 0) /* whose sides lie on lines of the grid */
				box = aabb_make(vec3_make(-2, -9, 0.35), vec3_make(-1.5, 9, 0.35));
			uint32_t count =
				mesh_query(twins.mesh->mesh, box, of_mesh, COUNT_OF(of_mesh));
			ck_assert_uint_eq(
				mesh_query(twins.field->mesh, box, of_field, COUNT_OF(of_field)),
				count);
			for (uint32_t k = 0; k < count; k++)
				of_mesh[k] = twins.numbers[of_mesh[k]];
			qsort(of_mesh, count, sizeof *of_mesh, compare_numbers);
			qsort(of_field, count, sizeof *of_field, compare_numbers);
			ck_assert_mem_eq(of_mesh, of_field, count * sizeof *of_mesh);
			found += count;
		}
		release_twins(&twins);
	}
	ck_assert_uint_gt(found, 10000);
}
END_TEST

START_TEST(rays_hit_as_on_a_mesh)
{
	rng = rng_seeded(check_seed());
	uint32_t hits = 0;
	for (uint32_t run = 0; run < 20; run++) {
		struct twins twins;
		make_twins(&twins, run % 2 == 1);
		for (uint32_t i = 0; i < 500; i++) {
			struct shape_hit of_mesh = { 0 }, of_field = { 0 };
			vec3 from = near_surface(6), along = vec3_sub(near_surface(1), from);
			if (i % 3 == 0) /* through a vertex */
				along = vec3_sub(
					mesh_vertex(twins.field->mesh, rng_below(&rng, SAMPLES)),
					from);
			if (i % 5 == 0)
				along.x = 0;
			if (i % 10 == 0)
				along.z = 0;
			along = vec3_scale(along, 4);
			bool hit = ray_shape(twins.mesh, from, along, 1, &of_mesh);
			ck_assert_int_eq(ray_shape(twins.field, from, along, 1, &of_field), hit);
			hits += hit;
			if (!hit)
				continue;
			ck_assert(of_field.fraction == of_mesh.fraction);
			ck_assert(vec3_equal(of_field.normal, of_mesh.normal));
			ck_assert_uint_eq(of_field.child, twins.numbers[of_mesh.child]);
		}
		release_twins(&twins);
	}
	ck_assert_uint_gt(hits, 2000);
}
END_TEST

enum { BODIES = 9 };

static struct shape *make_body(uint32_t kind)
{
	static const vec3 POINTS[6] = {
		{ -0.3, -0.2, -0.3 }, { 0.3, -0.2, -0.3 }, { 0, -0.2, 0.4 },
		{ -0.2, 0.3, -0.2 },  { 0.2, 0.3, -0.2 },  { 0, 0.3, 0.2 }
	};
	switch (kind) {
	case 0:
		return make_sphere(0.4);
	case 1:
		return make_capsule(0.5, 0.2);
	case 2:
		return make_box(0.4, 0.25, 0.3);
	case 3:
		return make_hull(POINTS, 6);
	case 4:
		return make_rounded_box(0.3, 0.2, 0.25, 0.1);
	case 5:
		return make_cylinder(0.3, 0.35);
	case 6:
		return make_cone(0.4, 0.35);
	case 7:
		return make_ellipsoid(0.5, 0.25, 0.3);
	default: {
		struct shape *closed = make_l();
		struct shape *field = make_field_solid(closed->mesh, 12);
		shape_release(closed);
		return field;
	}
	}
}

/* Contacts of one body at one pose; returns their points. */
static uint32_t compare_contacts(const struct twins *twins, const struct shape *body, pose at)
{
	uint32_t points = 0, near[2 * CELLS];
	struct aabb box = aabb_grow(shape_aabb(body, &at), 0.1);
	uint32_t count = mesh_query(twins->mesh->mesh, box, near, COUNT_OF(near));
	for (uint32_t k = 0; k < count; k++) {
		struct manifold one = { .count = 0 }, other = { .count = 0 };
		struct pair_cache cache_one = { 0 }, cache_other = { 0 };
		pose mesh_in_body = pose_inverse(at);
		collide_pieces((struct piece){ body, 0 }, (struct piece){ twins->mesh, near[k] },
			       &mesh_in_body, 0.05, &cache_one, &one);
		collide_pieces((struct piece){ body, 0 },
			       (struct piece){ twins->field, twins->numbers[near[k]] },
			       &mesh_in_body, 0.05, &cache_other, &other);
		ck_assert_uint_eq(one.count, other.count);
		ck_assert_mem_eq(&cache_one, &cache_other, sizeof cache_one);
		points += one.count;
		if (one.count == 0)
			continue;
		ck_assert(vec3_equal(one.normal, other.normal));
		for (uint32_t p = 0; p < one.count; p++) {
			ck_assert(vec3_equal(one.points[p].point, other.points[p].point));
			ck_assert(one.points[p].separation == other.points[p].separation);
			/* Those of a field contain the triangle's number. */
			ck_assert(one.points[p].feature == other.points[p].feature ||
				  (shape_is_field(body) && twins->numbers[near[k]] != near[k]));
		}
	}
	return points;
}

START_TEST(contacts_are_those_of_a_mesh)
{
	rng = rng_seeded(check_seed());
	uint32_t points[BODIES] = { 0 };
	for (uint32_t run = 0; run < 6; run++) {
		struct twins twins;
		make_twins(&twins, run % 2 == 1);
		for (uint32_t kind = 0; kind < BODIES; kind++) {
			struct shape *body = make_body(kind);
			/* A field is slow: it has many points. */
			uint32_t times = shape_is_field(body) ? 3 : 25;
			for (uint32_t i = 0; i < times; i++)
				points[kind] += compare_contacts(&twins, body,
								 random_pose(near_surface(2)));
			shape_release(body);
		}
		release_twins(&twins);
	}
	for (uint32_t kind = 0; kind < BODIES; kind++)
		ck_assert_uint_gt(points[kind], 20);
}
END_TEST

START_TEST(casts_overlaps_and_nearest_points_are_those_of_a_mesh)
{
	rng = rng_seeded(check_seed());
	uint32_t casts = 0, overlaps = 0, nearest = 0;
	struct twins twins;
	make_twins(&twins, true);
	for (uint32_t i = 0; i < 200; i++) {
		struct shape *body = make_body(i % 40 == 39 ? BODIES - 1 : i % (BODIES - 1));
		pose ground = random_pose(vec3_make(3, -2, 1));
		pose at = pose_mul(ground, random_pose(near_surface(3)));
		struct placed_shape mesh = { .shape = twins.mesh, .at = ground, .body = 1 };
		struct placed_shape field = { .shape = twins.field, .at = ground, .body = 1 };
		struct placed_shape own = { .shape = body, .at = at, .body = 2 };
		struct cast_hit hit[2] = { 0 };
		struct closest_pair pair[2];
		enum status status[2];
		vec3 way = vec3_make(rng_range(&rng, -3, 3), -3, rng_range(&rng, -3, 3));
		uint32_t count = placed_cast(&mesh, 1, body, at, way, &hit[0], 1, &status[0]);
		ck_assert_uint_eq(placed_cast(&field, 1, body, at, way, &hit[1], 1, &status[1]),
				  count);
		ck_assert(hit[0].fraction == hit[1].fraction && hit[0].depth == hit[1].depth);
		ck_assert(vec3_equal(hit[0].normal, hit[1].normal));
		ck_assert(count == 0 || hit[1].child == twins.numbers[hit[0].child]);
		casts += count;
		pose relative = pose_relative(ground, at);
		bool overlap = shape_overlap(twins.mesh, body, &relative);
		ck_assert_int_eq(shape_overlap(twins.field, body, &relative), overlap);
		overlaps += overlap;
		bool found = placed_closest(&mesh, 1, &own, 1, 2, &pair[0]);
		ck_assert_int_eq(placed_closest(&field, 1, &own, 1, 2, &pair[1]), found);
		nearest += found;
		ck_assert(!found || pair[0].distance == pair[1].distance);
		shape_release(body);
	}
	ck_assert_uint_gt(casts, 50);
	ck_assert_uint_gt(overlaps, 10);
	ck_assert_uint_gt(nearest, 50);
	release_twins(&twins);
}
END_TEST

/* ---- tiles ------------------------------------------------------------------------------------ */

/* TILES × TILES tiles of TILE_CELLS × TILE_CELLS cells, and the same surface in one piece. */
enum { TILES = 3, TILE_CELLS = 4, WIDE = TILES * TILE_CELLS + 1, TILE_SIDE = TILE_CELLS + 3 };
#define TILE_CELL 0.5

struct tiling {
	struct shape *whole, *tile[TILES][TILES]; /* [z][x] */
};

static void make_tiling(struct tiling *out, const float heights[WIDE * WIDE])
{
	struct height_grid grid = { WIDE, WIDE, TILE_CELL, TILE_CELL, heights, NULL, NULL, false };
	out->whole = make_heightfield(&grid);
	for (int tz = 0; tz < TILES; tz++)
		for (int tx = 0; tx < TILES; tx++) {
			float own[TILE_SIDE * TILE_SIDE];
			uint8_t holes[(TILE_SIDE - 1) * (TILE_SIDE - 1)] = { 0 };
			struct height_grid tile = { TILE_SIDE, TILE_SIDE, TILE_CELL, TILE_CELL,
						    own,       holes,	  NULL,	     true };
			for (int j = 0; j < TILE_SIDE; j++)
				for (int i = 0; i < TILE_SIDE; i++) {
					int x = tx * TILE_CELLS + i - 1,
					    z = tz * TILE_CELLS + j - 1;
					bool known = x >= 0 && z >= 0 && x < WIDE && z < WIDE;
					own[j * TILE_SIDE + i] = known ? heights[z * WIDE + x] : 0;
					/* Where the whole has no cell, the apron has none. */
					if (i + 1 < TILE_SIDE && j + 1 < TILE_SIDE)
						holes[j * (TILE_SIDE - 1) + i] = x < 0 || z < 0 ||
										 x + 1 >= WIDE ||
										 z + 1 >= WIDE;
				}
			bool inner = tx > 0 && tz > 0 && tx + 1 < TILES && tz + 1 < TILES;
			tile.holes = inner ? NULL : holes;
			out->tile[tz][tx] = make_heightfield(&tile);
		}
}

static void release_tiling(struct tiling *self)
{
	shape_release(self->whole);
	for (int k = 0; k < TILES * TILES; k++)
		shape_release(self->tile[k / TILES][k % TILES]);
}

struct touch {
	vec3 normal, point; /* in the body's frame */
	double separation;
};
enum { TOUCHES_MAX = 512 };

/* Appends the contact points of a body with a heightfield whose middle is at `middle`. */
static uint32_t list_touches(const struct shape *field, vec3 middle, const struct shape *body,
			     pose at, struct touch *out, uint32_t count)
{
	uint32_t near[256];
	at.position = vec3_sub(at.position, middle);
	uint32_t found = mesh_query(field->mesh, aabb_grow(shape_aabb(body, &at), 0.1), near, 256);
	ck_assert_uint_le(found, 256);
	for (uint32_t k = 0; k < found; k++) {
		struct manifold manifold = { .count = 0 };
		struct pair_cache cache = { 0 };
		pose field_in_body = pose_inverse(at);
		collide_pieces((struct piece){ body, 0 }, (struct piece){ field, near[k] },
			       &field_in_body, 0.05, &cache, &manifold);
		for (uint32_t p = 0; p < manifold.count && count < TOUCHES_MAX; p++)
			out[count++] = (struct touch){ manifold.normal, manifold.points[p].point,
						       manifold.points[p].separation };
	}
	return count;
}

static bool has_touch(const struct touch *list, uint32_t count, const struct touch *wanted)
{
	for (uint32_t k = 0; k < count; k++)
		if (vec3_distance(list[k].normal, wanted->normal) < 1e-9 &&
		    vec3_distance(list[k].point, wanted->point) < 1e-9 &&
		    scalar_abs(list[k].separation - wanted->separation) < 1e-9)
			return true;
	return false;
}

/* At a border of tiles a contact is neither lost nor reported twice, and has the normal of the whole. (The
 * axes of curved and rounded shapes are found by iteration, which may end elsewhere in another frame.) */
START_TEST(tiles_with_aprons_touch_as_one_surface)
{
	rng = rng_seeded(check_seed());
	uint32_t touches = 0;
	for (uint32_t run = 0; run < 8; run++) {
		struct tiling tiling;
		float heights[WIDE * WIDE];
		/* Multiples of 1/64, so that both frames have the same coordinates. */
		for (uint32_t k = 0; k < WIDE * WIDE; k++)
			heights[k] = run == 0 ? 0 : (float)(rng_below(&rng, 1 + 16 * run) / 64.0);
		make_tiling(&tiling, heights);
		for (uint32_t i = 0; i < 60; i++) {
			struct shape *body = make_body(i % 4);
			/* Over an inner border, on or near it, or anywhere. */
			double border = (rng_below(&rng, 2) - 0.5) * TILE_CELLS * TILE_CELL;
			double across = border + (rng_below(&rng, 65) / 64.0 - 0.5) / (1 + i % 3);
			double along = rng_below(&rng, 257) / 64.0 - 2;
			pose at = random_pose(vec3_make(i % 2 ? across : along,
							rng_below(&rng, 96) / 64.0 + 0x1p-7,
							i % 2 ? along : across));
			if (i % 4 == 0)
				at.rotation = quat_identity();
			struct touch whole[TOUCHES_MAX], parts[TOUCHES_MAX];
			uint32_t count =
				list_touches(tiling.whole, vec3_zero(), body, at, whole, 0);
			uint32_t found = 0;
			for (int k = 0; k < TILES * TILES; k++) {
				double side = TILE_CELLS * TILE_CELL;
				vec3 middle = vec3_make(side * (k % TILES - 1), 0,
							side * (k / TILES - 1));
				found = list_touches(tiling.tile[k / TILES][k % TILES], middle,
						     body, at, parts, found);
			}
			ck_assert_uint_eq(found, count);
			for (uint32_t k = 0; k < count; k++)
				ck_assert(has_touch(parts, found, &whole[k]));
			touches += count;
			shape_release(body);
		}
		release_tiling(&tiling);
	}
	ck_assert_uint_gt(touches, 1000);
}
END_TEST

/* ---- refusals and size ------------------------------------------------------------------------ */

static void expect_refused(const struct height_grid *grid, enum status wanted, const char *text)
{
	struct bytes bytes = { 0 };
	struct shape *shape = NULL;
	struct reason why = { 0 };
	bytes_of_heightfield(&bytes, grid);
	ck_assert_int_eq(shape_cook(bytes.data, bytes.count, NULL, &shape, &why), wanted);
	ck_assert_ptr_null(shape);
	ck_assert_msg(strstr(why.text, text) != NULL, "%s", why.text);
	bytes_release(&bytes);
}

START_TEST(bad_grids_are_refused_by_name)
{
	float heights[16] = { 0 };
	uint8_t holes[9] = { 0 }, patches[9] = { 0 };
	struct height_grid good = { 4, 4, 1, 1, heights, NULL, NULL, false }, bad = good;
	shape_release(make_heightfield(&good));
	heights[6] = (float)scalar_from_bits(0x7ff8000000000000u);
	expect_refused(&good, STATUS_NOT_FINITE, "column 2, row 1");
	heights[6] = 2e5F;
	expect_refused(&good, STATUS_RANGE, "heights 200000 is not between");
	heights[6] = 2e4F;
	expect_refused(&good, STATUS_DEGENERATE, "differ by 20000 m, at most 10000 m");
	heights[6] = 0;
	bad.columns = 1;
	expect_refused(&bad, STATUS_DEGENERATE, "1 columns are given, at least 2");
	bad.columns = 4;
	bad.apron = true;
	bad.rows = 3;
	expect_refused(&bad, STATUS_DEGENERATE, "3 rows are given, at least 4");
	bad = good;
	bad.cell_x = 0;
	expect_refused(&bad, STATUS_RANGE, "cell_x 0 is not between");
	bad.cell_x = 1e5;
	expect_refused(&bad, STATUS_RANGE, "cell_x 100000 is not between");
	bad.cell_x = 1e-3;
	bad.cell_z = 100;
	expect_refused(&bad, STATUS_DEGENERATE, "the ratio 100000");
	bad = good;
	bad.holes = holes;
	expect_refused(&bad, STATUS_RANGE, "no cell is a hole");
	memset(holes, 1, sizeof holes);
	expect_refused(&bad, STATUS_DEGENERATE, "every cell is a hole");
	bad = good;
	bad.patches = patches;
	expect_refused(&bad, STATUS_RANGE, "all patches are 0");
	patches[4] = 200;
	expect_refused(&bad, STATUS_RANGE, "cell 4 has patch 200");
	/* Under the apron alone there is ground. */
	memset(holes, 0, sizeof holes);
	holes[4] = 1;
	bad = good;
	bad.holes = holes;
	bad.apron = true;
	expect_refused(&bad, STATUS_DEGENERATE, "every cell is a hole");
}
END_TEST

START_TEST(a_sample_costs_at_most_five_bytes)
{
	enum { SIDE = 1024 };
	float *heights = calloc(SIDE * SIDE, sizeof *heights);
	ck_assert(heights != NULL);
	struct height_grid grid = { SIDE, SIDE, 1, 1, heights, NULL, NULL, false };
	struct shape *shape = make_heightfield(&grid);
	ck_assert_double_le((double)shape->memory_bytes, 5.0 * SIDE * SIDE);
	shape_release(shape);
	free(heights);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/collision/heightfield");
	TCase *tcase = tcase_create("heightfield");
	tcase_add_test(tcase, triangles_neighbours_and_edges_are_those_of_a_mesh);
	tcase_add_test(tcase, a_box_finds_the_same_triangles);
	tcase_add_test(tcase, rays_hit_as_on_a_mesh);
	tcase_add_test(tcase, contacts_are_those_of_a_mesh);
	tcase_add_test(tcase, casts_overlaps_and_nearest_points_are_those_of_a_mesh);
	tcase_add_test(tcase, tiles_with_aprons_touch_as_one_surface);
	tcase_add_test(tcase, bad_grids_are_refused_by_name);
	tcase_add_test(tcase, a_sample_costs_at_most_five_bytes);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
