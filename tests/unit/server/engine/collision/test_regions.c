/* Overlaps of closed meshes (ch1-3 2.5.13, 2.5.14, G-29, G-16): solids with known volumes and
 * depths, many boxes against clipping and against sampling, and touching, coincident or nested
 * solids. */
#include "server/engine/collision/regions.h"

#include "server/base/hash.h"
#include "server/base/heap.h"
#include "server/engine/collision/epa.h"
#include "server/engine/collision/mesh_pair.h"
#include "server/engine/geometry/intersect_point_mesh.h"
#include "server/engine/geometry/intersect_triangle_triangle.h"
#include "tests/lib/check_main.h"
#include "tests/lib/poses.h"
#include "tests/lib/shapes.h"
#include "tests/lib/solids.h"

static struct rng rng;
static struct solid solid_a, solid_b;

static void set_up(void)
{
	rng = rng_seeded(check_seed());
	solid_reset(&solid_a);
	solid_reset(&solid_b);
}

static struct regions find_with(const struct shape *a, const struct shape *b, pose at,
				struct regions_options options)
{
	struct regions found;
	regions_init(&found);
	ck_assert_int_eq(regions_find(&found, a->mesh, b->mesh, &at, &options), STATUS_OK);
	return found;
}

/* The regions of solid_a and solid_b. */
static struct regions find(pose at)
{
	struct shape *a = solid_shape(&solid_a), *b = solid_shape(&solid_b);
	ck_assert(a->mesh->closed && b->mesh->closed);
	struct regions found = find_with(a, b, at, regions_options_default());
	ck_assert_uint_eq(found.broken, 0);
	shape_release(a);
	shape_release(b);
	return found;
}

static double volume_of(const struct regions *found)
{
	double sum = 0;
	for (uint32_t r = 0; r < found->region_count; r++)
		sum += found->regions[r].volume;
	return sum;
}

static void expect_near(double is, double wanted, double tolerance)
{
	ck_assert_msg(scalar_abs(is - wanted) <= tolerance, "%.17g is not %.17g", is, wanted);
}

static pose translated(double x, double y, double z)
{
	return pose_make(vec3_make(x, y, z), quat_identity());
}

/* ---- known solids ----------------------------------------------------------------------------- */

START_TEST(g29_a_tip_in_a_slab_is_as_deep_as_it_reaches)
{
	solid_add_octahedron(&solid_a, vec3_make(2, -1, 0.9), 1);
	solid_add_box(&solid_b, vec3_make(-5, -5, -1), vec3_make(5, 5, 0), false);
	struct regions found = find(pose_identity());
	ck_assert_uint_eq(found.region_count, 1);
	const struct region *region = &found.regions[0];
	ck_assert_uint_eq(region->contour_count, 1);
	expect_near(region->depth, 0.1, 1e-15);
	ck_assert(vec3_distance(region->point_a, vec3_make(2, -1, -0.1)) < 1e-15);
	ck_assert(vec3_distance(region->point_b, vec3_make(2, -1, 0)) < 1e-15);
	ck_assert(vec3_distance(region->normal, vec3_make(0, 0, -1)) < 1e-15);
	/* A pyramid over a square with diagonals of 0.2. */
	expect_near(region->volume, 0.02 * 0.1 / 3, 1e-16);
	expect_near(region->area, 0.02, 1e-15);
	ck_assert(vec3_distance(region->centre, vec3_make(2, -1, -0.025)) < 1e-12);
	ck_assert_uint_eq(region->vertices_a, 1);
	ck_assert_uint_eq(region->vertices_b, 0);
	ck_assert(region->deepest_b.depth < 0);
	regions_release(&found);
}
END_TEST

START_TEST(g29_two_tips_are_two_regions_with_two_depths)
{
	solid_add_octahedron(&solid_a, vec3_make(-2, 0, 0.9), 1);
	solid_add_octahedron(&solid_a, vec3_make(2, 0, 0.7), 1);
	solid_add_box(&solid_b, vec3_make(-5, -5, -1), vec3_make(5, 5, 0), false);
	struct regions found = find(pose_identity());
	ck_assert_uint_eq(found.region_count, 2);
	expect_near(found.regions[0].depth, 0.3, 1e-15);
	expect_near(found.regions[1].depth, 0.1, 1e-15);
	ck_assert(found.regions[0].point_a.x == 2 && found.regions[1].point_a.x == -2);
	regions_release(&found);
}
END_TEST

START_TEST(g29_edges_that_cross_without_vertices_inside_have_a_finite_depth)
{
	/* Two roofs with crossed ridges, each 0.1 through the other. */
	solid_add_box_at(&solid_a, vec3_make(4, 1, 1),
			 pose_make(vec3_zero(), quat_from_axis_angle(vec3_axis(0), PI / 4)));
	solid_add_box_at(&solid_b, vec3_make(1, 4, 1),
			 pose_make(vec3_zero(), quat_from_axis_angle(vec3_axis(1), PI / 4)));
	struct regions found = find(translated(0, 0, 2 * scalar_sqrt(2) - 0.2));
	ck_assert_uint_eq(found.region_count, 1);
	const struct region *region = &found.regions[0];
	ck_assert_uint_eq(region->vertices_a + region->vertices_b, 0);
	ck_assert_uint_eq(region->deepest_a.vertex, REGION_NO_VERTEX);
	/* The ridges are 0.2 through each other, and part along z. */
	expect_near(region->depth, 0.2, 1e-14);
	/* The middle of A's ridge is 0.2 below B's ridge, on faces at 45 degrees. */
	expect_near(region->deepest_a.depth, 0.2 / scalar_sqrt(2), 1e-14);
	ck_assert(vec3_distance(region->normal, vec3_axis(2)) < 1e-12);
	regions_release(&found);
}
END_TEST

/* Aligned bodies: the corners of each lie on the other's sides. */
START_TEST(g29_aligned_boxes_are_as_deep_as_they_overlap)
{
	static const double DEPTHS[] = { 1e-6, 0.1, 0.25, 0.5, 0.75 };
	solid_add_box(&solid_a, vec3_all(-0.5), vec3_all(0.5), false);
	solid_add_box(&solid_b, vec3_all(-0.5), vec3_all(0.5), false);
	for (uint32_t i = 0; i < COUNT_OF(DEPTHS); i++)
		for (uint32_t axis = 0; axis < 3; axis++)
			for (int side = -1; side <= 1; side += 2) {
				vec3 way = vec3_scale(vec3_axis(axis), side);
				vec3 at = vec3_scale(way, 1 - DEPTHS[i]);
				struct regions found = find(pose_make(at, quat_identity()));
				ck_assert_uint_eq(found.region_count, 1);
				const struct region *region = &found.regions[0];
				expect_near(region->depth, DEPTHS[i], 1e-15);
				expect_near(region->volume, DEPTHS[i], 1e-15);
				ck_assert(vec3_distance(region->normal, way) < 1e-14);
				expect_near(
					vec3_dot(vec3_sub(region->point_a, region->point_b), way),
					DEPTHS[i], 1e-15);
				regions_release(&found);
			}
}
END_TEST

/* A peg in a slab leaves it the way it came, not sideways; flush with the slab's side it leaves sideways. */
START_TEST(g29_a_peg_leaves_a_slab_where_the_slab_lets_it)
{
	solid_add_box(&solid_a, vec3_make(-5, -5, -10), vec3_make(5, 5, 0), false);
	solid_add_box(&solid_b, vec3_make(-0.1, -0.1, -2), vec3_make(0.1, 0.1, 3), false);
	struct regions found = find(translated(1, 2, 0));
	expect_near(found.regions[0].depth, 2, 1e-14);
	ck_assert(vec3_distance(found.regions[0].normal, vec3_axis(2)) < 1e-14);
	regions_release(&found);
	found = find(translated(4.9, 2, 0));
	expect_near(found.regions[0].depth, 0.2, 1e-14);
	ck_assert(vec3_distance(found.regions[0].normal, vec3_axis(0)) < 1e-14);
	regions_release(&found);
}
END_TEST

/* The depth of EPA for two boxes of these halves, B at `at`; 0 if they are apart. */
static double epa_of_boxes(vec3 half_a, vec3 half_b, pose at)
{
	static struct epa_workspace work;
	struct shape *a = make_box(half_a.x, half_a.y, half_a.z);
	struct shape *b = make_box(half_b.x, half_b.y, half_b.z);
	struct gjk_core core_a = { a->hull->vertices, a->hull->vertex_count, a->hull, 0, NULL };
	struct gjk_core core_b = { b->hull->vertices, b->hull->vertex_count, b->hull, 0, NULL };
	mat3 rotation = mat3_from_quat(at.rotation);
	struct gjk_result near;
	struct epa_result found = { 0 };
	gjk_distance(&core_a, &core_b, &rotation, at.position, NULL, &near);
	if (near.touching)
		epa_depth(&core_a, &core_b, &rotation, at.position, &near.simplex, &work, &found);
	shape_release(a);
	shape_release(b);
	return found.depth;
}

/* Half sizes from 0.3 to 1 m. */
static vec3 random_half(void)
{
	return vec3_add(vec3_all(0.65), random_vector(&rng, 0.35));
}

/* Of convex bodies that overlap by less than a third of their half sizes, the way out is no shorter than
 * EPA's, which is the shortest of all, and it separates them. Where a corner or an edge of a box is in a face
 * of a large one, it is the same. (Bodies that cross deeply may meet elsewhere on the way.) */
START_TEST(g29_the_way_out_of_boxes_is_epas_or_longer_and_leads_out)
{
	uint32_t overlaps = 0, shallow = 0, equal = 0;
	for (uint32_t trial = 0; trial < 1500; trial++) {
		set_up();
		rng = rng_seeded(check_seed() + trial);
		bool large = trial % 2 == 0;
		vec3 half_a = large ? vec3_make(9, 9, 4) : random_half();
		vec3 half_b = random_half();
		solid_add_box(&solid_a, vec3_negate(half_a), half_a, false);
		solid_add_box(&solid_b, vec3_negate(half_b), half_b, false);
		pose at = pose_make(random_vector(&rng, 1), random_rotation(&rng));
		if (large)
			at.position = vec3_make(at.position.x, at.position.y, 4 + at.position.z);
		double epa = epa_of_boxes(half_a, half_b, at);
		struct regions found = find(at);
		if (found.region_count == 0) {
			ck_assert_double_le(epa, 1e-12);
			regions_release(&found);
			continue;
		}
		ck_assert_uint_eq(found.region_count, 1);
		struct region region = found.regions[0];
		regions_release(&found);
		overlaps++;
		if (region.kind != REGION_CROSSING || epa > 0.1)
			continue;
		shallow++;
		ck_assert_double_ge(region.depth, epa - 1e-12);
		equal += region.depth <= epa + 1e-9;
		at.position = vec3_mul_add(at.position, region.normal, region.depth + 1e-9);
		found = find(at);
		ck_assert_uint_eq(found.region_count, 0);
		regions_release(&found);
	}
	ck_assert_uint_gt(overlaps, 500);
	ck_assert_uint_gt(shallow, 25);
	ck_assert_uint_gt(equal, shallow / 2);
}
END_TEST

START_TEST(g29_a_bar_through_a_bar_has_two_contours_and_two_bars_two_regions)
{
	solid_add_box(&solid_a, vec3_make(-5, -1, -1), vec3_make(5, 1, 1), false);
	solid_add_box(&solid_b, vec3_make(-0.5, -0.5, -6), vec3_make(0.5, 0.5, 6), false);
	struct regions found = find(translated(0.25, 0.125, 0));
	ck_assert_uint_eq(found.region_count, 1);
	ck_assert_uint_eq(found.contour_count, 2);
	expect_near(found.regions[0].volume, 2, 1e-14);
	expect_near(found.regions[0].area, 0, 1e-14);
	expect_near(vec3_length(found.regions[0].normal), 1, 1e-14);
	/* The diagonal of B's side faces passes (x, 0.125, 0), and A's side at y = 1 is nearest. */
	expect_near(found.regions[0].depth, 0.875, 1e-14);
	regions_release(&found);
	/* The same bar through two bars. */
	solid_add_box(&solid_a, vec3_make(-5, -1, 3), vec3_make(5, 1, 4), false);
	found = find(translated(0.25, 0.125, 0));
	ck_assert_uint_eq(found.region_count, 2);
	ck_assert_uint_eq(found.contour_count, 4);
	expect_near(volume_of(&found), 3, 1e-14);
	regions_release(&found);
}
END_TEST

/* ---- combs ------------------------------------------------------------------------------------ */

enum { TEETH_MAX = 12 };

/* Columns of width 1: a tooth on every even one, above a bar. */
static bool comb_cell(uint32_t i, uint32_t j, uint32_t k, const void *context)
{
	(void)j;
	(void)context;
	return k == 0 || i % 2 == 0;
}

static void add_comb(struct solid *solid, uint32_t teeth, double width)
{
	double x[2 * TEETH_MAX], y[2] = { 0, 1 }, z[3] = { 0, 1, 4 };
	for (uint32_t i = 0; i < 2 * teeth; i++)
		x[i] = i / 2 * 2.0 + (i % 2 ? width : 0);
	struct solid_lines lines[3] = { { x, 2 * teeth }, { y, 2 }, { z, 3 } };
	solid_add_cells(solid, lines, comb_cell, NULL);
}

START_TEST(crossed_combs_overlap_once_per_tooth)
{
	for (uint32_t teeth = 1; teeth <= TEETH_MAX; teeth += 3) {
		set_up();
		add_comb(&solid_a, teeth, 0.5);
		add_comb(&solid_b, teeth, 0.75);
		/* Upside down, in the same columns, so that 0.25 m of each tooth overlaps. */
		pose at = pose_make(vec3_make(-0.25, 1.25, 7.75),
				    quat_from_axis_angle(vec3_axis(0), PI));
		struct regions found = find(at);
		ck_assert_uint_eq(found.region_count, teeth);
		ck_assert_uint_eq(found.contour_count, teeth);
		for (uint32_t r = 0; r < teeth; r++) {
			expect_near(found.regions[r].volume, 0.5 * 0.75 * 0.25, 1e-12);
			expect_near(found.regions[r].depth, 0.25, 1e-12);
		}
		regions_release(&found);
	}
}
END_TEST

START_TEST(a_grid_of_crossings_has_one_region_each)
{
	/* Combs at right angles, teeth across teeth. */
	add_comb(&solid_a, 5, 0.5);
	add_comb(&solid_b, 4, 0.5);
	pose at = pose_make(vec3_make(-1.25, 0.25, 8), quat_from_axis_angle(vec3_axis(1), PI / 2));
	struct regions found = find(at);
	uint32_t expected = 0;
	double volume = 0;
	/* Teeth of B lie along x from −0.25 to 2.75, at z = 8 − (2 k … 2 k + 0.5); those of A
	 * extend over z from 1 to 4 at x = 2 i … 2 i + 0.5. */
	for (uint32_t i = 0; i < 5; i++)
		for (uint32_t k = 0; k < 4; k++) {
			double z = scalar_min(4, 8 - 2.0 * k) - scalar_max(1, 7.5 - 2.0 * k);
			double x = scalar_min(2 * i + 0.5, 2.75) - scalar_max(2 * i, -0.25);
			if (x > 0 && z > 0) {
				expected++;
				volume += x * z * 0.75;
			}
		}
	ck_assert_uint_gt(expected, 3);
	ck_assert_uint_eq(found.region_count, expected);
	expect_near(volume_of(&found), volume, 1e-12);
	regions_release(&found);
}
END_TEST

/* ---- holes, shells, touching ------------------------------------------------------------------ */

static bool pipe_cell(uint32_t i, uint32_t j, uint32_t k, const void *context)
{
	(void)k;
	(void)context;
	return i != 1 || j != 1;
}

START_TEST(a_pipe_through_a_plate_is_one_region_with_four_contours)
{
	double x[4] = { -0.5, -0.25, 0.25, 0.5 }, z[2] = { -3, 3 };
	struct solid_lines lines[3] = { { x, 4 }, { x, 4 }, { z, 2 } };
	solid_add_cells(&solid_a, lines, pipe_cell, NULL);
	solid_add_box(&solid_b, vec3_make(-8, -8, -1), vec3_make(8, 8, 1), false);
	/* Off the plate's diagonal, so that each ring lies in one triangle. */
	struct regions found = find(translated(3, -2, 0.25));
	ck_assert_uint_eq(found.contour_count, 4);
	ck_assert_uint_eq(found.region_count, 1);
	expect_near(volume_of(&found), 2 * (1 - 0.25), 1e-12);
	regions_release(&found);
	/* The same with the solids exchanged. */
	struct solid swap = solid_a;
	solid_a = solid_b;
	solid_b = swap;
	found = find(translated(-3, 2, -0.25));
	ck_assert_uint_eq(found.contour_count, 4);
	ck_assert_uint_eq(found.region_count, 1);
	regions_release(&found);
}
END_TEST

START_TEST(g16_a_shell_wholly_inside_is_a_region_without_contour)
{
	solid_add_box(&solid_a, vec3_all(-1), vec3_all(1), false);
	solid_add_box(&solid_b, vec3_all(-0.25), vec3_all(0.25), false);
	struct regions found = find(translated(0.5, 0, 0));
	ck_assert_uint_eq(found.region_count, 1);
	ck_assert_uint_eq(found.contour_count, 0);
	ck_assert_int_eq(found.regions[0].kind, REGION_B_IN_A);
	expect_near(found.regions[0].volume, 0.125, 1e-15);
	expect_near(found.regions[0].depth, 0.75, 1e-15);
	ck_assert_uint_eq(found.regions[0].vertices_b, 8);
	regions_release(&found);
	found = find(translated(3, 0, 0));
	ck_assert_uint_eq(found.region_count, 0);
	regions_release(&found);
	/* One shell inside, one across, one outside. */
	solid_add_box(&solid_b, vec3_make(0.75, -0.5, -0.5), vec3_make(1.75, 0.5, 0.5), false);
	solid_add_box(&solid_b, vec3_make(3, 3, 3), vec3_make(4, 4, 4), false);
	found = find(pose_identity());
	ck_assert_uint_eq(found.region_count, 2);
	expect_near(volume_of(&found), 0.125 + 0.25, 1e-15);
	regions_release(&found);
}
END_TEST

START_TEST(g16_a_body_in_the_void_of_a_shell_does_not_overlap)
{
	solid_add_box(&solid_a, vec3_all(-2), vec3_all(2), false);
	solid_add_box(&solid_a, vec3_all(-1), vec3_all(1), true);
	solid_add_box(&solid_b, vec3_all(-0.5), vec3_all(0.5), false);
	struct regions found = find(pose_identity());
	ck_assert_uint_eq(found.region_count, 0);
	regions_release(&found);
	/* A box around the void: the outer border and the border of the void give two regions,
	 * whose volumes add up. */
	set_up();
	solid_add_box(&solid_a, vec3_all(-2), vec3_all(2), false);
	solid_add_box(&solid_a, vec3_all(-1), vec3_all(1), true);
	solid_add_box(&solid_b, vec3_all(-1.5), vec3_all(1.5), false);
	found = find(pose_identity());
	ck_assert_uint_eq(found.region_count, 2);
	expect_near(volume_of(&found), 27 - 8, 1e-12);
	regions_release(&found);
}
END_TEST

START_TEST(aligned_coplanar_and_coincident_bodies_have_the_exact_volume)
{
	solid_add_box(&solid_a, vec3_all(-1), vec3_all(1), false);
	solid_add_box(&solid_b, vec3_all(-1), vec3_all(1), false);
	for (int x = -2; x <= 2; x++)
		for (int y = -2; y <= 2; y++)
			for (int z = -2; z <= 2; z++) {
				struct regions found = find(translated(x, y, z));
				double wanted = (2 - scalar_abs(x)) * (2 - scalar_abs(y)) *
						(2 - scalar_abs(z));
				ck_assert_uint_le(found.region_count, 1);
				ck_assert(wanted == 0 || found.region_count == 1);
				expect_near(volume_of(&found), wanted, 1e-14);
				for (uint32_t c = 0; c < found.contour_count; c++)
					ck_assert(found.contours[c].closed);
				/* A touching contact has no depth. */
				if (found.region_count == 1 && wanted == 0)
					ck_assert(found.regions[0].depth == 0);
				regions_release(&found);
			}
}
END_TEST

START_TEST(linked_rings_do_not_overlap_and_crossed_rings_do)
{
	solid_add_ring(&solid_a, 3, 0.75, 24, 12);
	solid_add_ring(&solid_b, 3, 0.75, 20, 9);
	quat turned = quat_from_axis_angle(vec3_axis(0), PI / 2);
	struct regions found = find(pose_make(vec3_make(3, 0, 0), turned));
	ck_assert_uint_eq(found.region_count, 0); /* linked */
	regions_release(&found);
	found = find(pose_make(vec3_make(0.3, 0.1, 0.2), turned));
	ck_assert_uint_eq(found.region_count, 2); /* crossed in two places */
	regions_release(&found);
	found = find(pose_make(vec3_make(0.1, 0.05, 0.2), quat_identity()));
	ck_assert_uint_eq(found.region_count, 1); /* nearly coincident: one region all round */
	regions_release(&found);
}
END_TEST

/* ---- many boxes ------------------------------------------------------------------------------- */

struct placed_box {
	vec3 half;
	pose at;
};

enum { BOXES_MAX = 8, CLIP_MAX = 32 };

static double plane_over(const struct placed_box *box, uint32_t face, vec3 p)
{
	double at = vec3_get(pose_inverse_point(box->at, p), face / 2);
	return (face % 2 ? at : -at) - vec3_get(box->half, face / 2);
}

/* The volume under the part of a's face that lies in b, seen from `origin`. */
static double clipped_volume(const struct placed_box *a, uint32_t face, const struct placed_box *b,
			     vec3 origin)
{
	vec3 loop[CLIP_MAX];
	uint32_t count = 4, x = (face / 2 + 1) % 3, y = (face / 2 + 2) % 3;
	for (uint32_t k = 0; k < 4; k++) {
		vec3 p = vec3_zero();
		bool u = face % 2 ? k == 1 || k == 2 : k >= 2,
		     v = face % 2 ? k >= 2 : k == 1 || k == 2;
		vec3_set(&p, face / 2,
			 face % 2 ? vec3_get(a->half, face / 2) : -vec3_get(a->half, face / 2));
		vec3_set(&p, x, u ? vec3_get(a->half, x) : -vec3_get(a->half, x));
		vec3_set(&p, y, v ? vec3_get(a->half, y) : -vec3_get(a->half, y));
		loop[k] = pose_point(a->at, p);
	}
	for (uint32_t f = 0; f < 6; f++) {
		vec3 kept[CLIP_MAX];
		uint32_t n = 0;
		for (uint32_t k = 0; k < count; k++) {
			vec3 p = loop[k], q = loop[(k + 1) % count];
			double here = plane_over(b, f, p), there = plane_over(b, f, q);
			if (here <= 0)
				kept[n++] = p;
			if ((here <= 0) != (there <= 0))
				kept[n++] = vec3_lerp(p, q, here / (here - there));
		}
		count = n;
		for (uint32_t k = 0; k < n; k++)
			loop[k] = kept[k];
	}
	double sum = 0;
	for (uint32_t k = 2; k < count; k++)
		sum += vec3_dot(vec3_sub(loop[0], origin), vec3_cross(vec3_sub(loop[k - 1], origin),
								      vec3_sub(loop[k], origin)));
	return sum / 6;
}

static double common_volume(const struct placed_box *a, const struct placed_box *b)
{
	double sum = 0;
	for (uint32_t f = 0; f < 6; f++)
		sum += clipped_volume(a, f, b, a->at.position) +
		       clipped_volume(b, f, a, a->at.position);
	return sum;
}

/* Boxes in the cells of a lattice, so that boxes of one solid do not meet. */
static uint32_t draw_boxes(struct solid *solid, struct placed_box *boxes)
{
	uint32_t count = 0;
	for (uint32_t cell = 0; cell < 8; cell++) {
		if (rng_below(&rng, 4) == 0)
			continue;
		vec3 centre = vec3_make(cell & 1 ? 1 : -1, cell & 2 ? 1 : -1, cell & 4 ? 1 : -1);
		boxes[count].half =
			vec3_make(rng_range(&rng, 0.1, 0.57), rng_range(&rng, 0.1, 0.57),
				  rng_range(&rng, 0.1, 0.57));
		boxes[count].at = pose_make(centre, random_rotation(&rng));
		solid_add_box_at(solid, boxes[count].half, boxes[count].at);
		count++;
	}
	return count;
}

START_TEST(many_boxes_have_one_region_per_pair_with_the_volume_of_clipping)
{
	struct placed_box a[BOXES_MAX], b[BOXES_MAX];
	uint32_t seen = 0;
	for (uint32_t round = 0; round < 400; round++) {
		solid_reset(&solid_a);
		solid_reset(&solid_b);
		uint32_t count_a = draw_boxes(&solid_a, a), count_b = draw_boxes(&solid_b, b);
		if (count_a == 0 || count_b == 0)
			continue;
		pose at = pose_make(random_vector(&rng, 1.5), awkward_rotation(&rng));
		struct regions found = find(at);
		uint32_t pairs = 0;
		double volume = 0;
		for (uint32_t i = 0; i < count_a; i++)
			for (uint32_t j = 0; j < count_b; j++) {
				struct placed_box other = { b[j].half, pose_mul(at, b[j].at) };
				double common = common_volume(&a[i], &other);
				pairs += common > 1e-9;
				volume += common;
			}
		uint32_t regions = 0;
		for (uint32_t r = 0; r < found.region_count; r++)
			regions += found.regions[r].volume > 1e-9;
		ck_assert_uint_eq(regions, pairs);
		expect_near(volume_of(&found), volume, 1e-12);
		seen += pairs;
		regions_release(&found);
	}
	ck_assert_uint_gt(seen, 200);
}
END_TEST

/* Cells of a coarse lattice, filled at random but never adjacent only by an edge or corner. */
enum { LATTICE = 5 };
struct lattice {
	bool filled[LATTICE][LATTICE][LATTICE];
};
static bool lattice_cell(uint32_t i, uint32_t j, uint32_t k, const void *context)
{
	return ((const struct lattice *)context)->filled[i][j][k];
}

/* Grows from the middle: a cell is added if the mesh stays closed. */
static struct shape *draw_lattice(struct solid *solid, const double *at)
{
	struct lattice lattice = { { { { false } } } };
	struct solid_lines lines[3] = { { at, LATTICE + 1 },
					{ at, LATTICE + 1 },
					{ at, LATTICE + 1 } };
	struct shape *shape = NULL;
	lattice.filled[2][2][2] = true;
	for (uint32_t tries = 0; tries < 40 || shape == NULL; tries++) {
		uint32_t i = rng_below(&rng, LATTICE), j = rng_below(&rng, LATTICE);
		uint32_t k = rng_below(&rng, LATTICE);
		bool was = lattice.filled[i][j][k];
		lattice.filled[i][j][k] = true;
		solid_reset(solid);
		solid_add_cells(solid, lines, lattice_cell, &lattice);
		struct shape *next = solid_shape(solid);
		if (!next->mesh->closed) {
			lattice.filled[i][j][k] = was;
			shape_release(next);
			continue;
		}
		if (shape != NULL)
			shape_release(shape);
		shape = next;
	}
	return shape;
}

START_TEST(branching_solids_have_the_volume_of_sampling)
{
	static const double AT[LATTICE + 1] = { -2.5, -1.5, -0.5, 0.5, 1.5, 2.5 };
	enum { SAMPLES = 4000 };
	for (uint32_t round = 0; round < 12; round++) {
		struct shape *a = draw_lattice(&solid_a, AT), *b = draw_lattice(&solid_b, AT);
		pose at = pose_make(random_vector(&rng, 1.5), random_rotation(&rng));
		struct regions found = find_with(a, b, at, regions_options_default());
		uint32_t hits = 0;
		for (uint32_t i = 0; i < SAMPLES; i++) {
			vec3 p = random_vector(&rng, 2.5);
			hits += intersect_point_mesh(a->mesh, p) == POINT_MESH_INSIDE &&
				intersect_point_mesh(b->mesh, pose_inverse_point(at, p)) ==
					POINT_MESH_INSIDE;
		}
		double part = hits / (double)SAMPLES;
		double sigma = 125 * scalar_sqrt(part * (1 - part) / SAMPLES + 1e-6);
		expect_near(volume_of(&found), 125 * part, 5 * sigma);
		regions_release(&found);
		shape_release(a);
		shape_release(b);
	}
}
END_TEST

/* ---- contours --------------------------------------------------------------------------------- */

START_TEST(contours_are_closed_and_lie_on_both_surfaces)
{
	solid_add_ring(&solid_a, 3, 1, 32, 16);
	solid_add_ring(&solid_b, 2, 1.25, 24, 12);
	struct shape *a = solid_shape(&solid_a), *b = solid_shape(&solid_b);
	for (uint32_t round = 0; round < 20; round++) {
		pose at = pose_make(random_vector(&rng, 2), random_rotation(&rng));
		struct regions found = find_with(a, b, at, regions_options_default());
		ck_assert_uint_eq(found.broken, 0);
		for (uint32_t c = 0; c < found.contour_count; c++) {
			const struct contour *contour = &found.contours[c];
			ck_assert(contour->closed && contour->count >= 3);
			for (uint32_t i = 0; i < contour->count; i++) {
				const struct contour_point *point =
					&found.points[contour->first + i];
				ck_assert(
					intersect_nearest_on_mesh(a->mesh, point->point).distance <
					1e-12);
				vec3 in_b = pose_inverse_point(at, point->point);
				ck_assert(intersect_nearest_on_mesh(b->mesh, in_b).distance <
					  1e-12);
			}
		}
		regions_release(&found);
	}
	shape_release(a);
	shape_release(b);
}
END_TEST

START_TEST(g14_the_walk_over_two_meshes_finds_every_overlapping_pair_once)
{
	struct shape *a = make_terrain(9, 0.7, 1.5, 5), *b = make_terrain(7, 0.6, 2, 6);
	for (uint32_t round = 0; round < 20; round++) {
		static uint8_t seen[2 * 81 * 2 * 49];
		pose at = pose_make(random_vector(&rng, 2), awkward_rotation(&rng));
		struct mesh_pair walk;
		uint32_t i, j, count_b = b->mesh->triangle_count;
		for (uint32_t k = 0; k < sizeof seen; k++)
			seen[k] = 0;
		mesh_pair_init(&walk, a->mesh, b->mesh, &at);
		while (mesh_pair_next(&walk, &i, &j))
			ck_assert_uint_eq(seen[i * count_b + j]++, 0);
		for (i = 0; i < a->mesh->triangle_count; i++)
			for (j = 0; j < count_b; j++) {
				vec3 one[3], other[3];
				mesh_corners_at(b->mesh, j, &at, other);
				for (uint32_t k = 0; k < 3; k++)
					one[k] = mesh_corner(a->mesh, i, k);
				if (intersect_triangle_triangle(one, other, NULL))
					ck_assert_uint_eq(seen[i * count_b + j], 1);
			}
	}
	shape_release(a);
	shape_release(b);
}
END_TEST

/* ---- the contract ----------------------------------------------------------------------------- */

START_TEST(shallow_regions_can_be_omitted_and_an_open_mesh_is_refused)
{
	solid_add_octahedron(&solid_a, vec3_make(-2, 0, 0.9), 1);
	solid_add_octahedron(&solid_a, vec3_make(2, 0, 0.7), 1);
	solid_add_box(&solid_b, vec3_make(-5, -5, -1), vec3_make(5, 5, 0), false);
	struct shape *a = solid_shape(&solid_a), *b = solid_shape(&solid_b);
	struct shape *open = make_terrain(3, 1, 1, 1);
	struct regions_options options = regions_options_default();
	options.depth_min = 0.2;
	struct regions found = find_with(a, b, pose_identity(), options);
	ck_assert_uint_eq(found.region_count, 1);
	ck_assert_uint_eq(found.contour_count, 1);
	pose at = pose_identity();
	ck_assert_int_eq(regions_find(&found, a->mesh, open->mesh, &at, &options),
			 STATUS_UNSUPPORTED);
	ck_assert_uint_eq(found.region_count, 0);
	options.pairs_max = 3;
	ck_assert_int_eq(regions_find(&found, a->mesh, b->mesh, &at, &options), STATUS_LIMIT);
	ck_assert_uint_eq(found.region_count, 0);
	/* After the failures the next call is complete. */
	options = regions_options_default();
	ck_assert_int_eq(regions_find(&found, a->mesh, b->mesh, &at, &options), STATUS_OK);
	ck_assert_uint_eq(found.region_count, 2);
	regions_release(&found);
	shape_release(a);
	shape_release(b);
	shape_release(open);
}
END_TEST

START_TEST(a_failed_allocation_is_reported_and_the_next_call_is_complete)
{
	solid_add_ring(&solid_a, 3, 1, 12, 8);
	solid_add_ring(&solid_b, 2, 1.25, 12, 8);
	struct shape *a = solid_shape(&solid_a), *b = solid_shape(&solid_b);
	pose at = pose_make(vec3_make(0.5, 0.25, 0.5), quat_identity());
	struct regions_options options = regions_options_default();
	struct regions whole = find_with(a, b, at, options), found;
	uint32_t refused = 0;
	for (uint64_t n = 1;; n++) {
		int64_t before = heap_live();
		regions_init(&found);
		heap_fail_at(n);
		enum status status = regions_find(&found, a->mesh, b->mesh, &at, &options);
		bool done = heap_fail_pending();
		heap_fail_at(0);
		ck_assert_int_eq(status, done ? STATUS_OK : STATUS_NO_MEMORY);
		refused += !done;
		ck_assert_int_eq(regions_find(&found, a->mesh, b->mesh, &at, &options), STATUS_OK);
		ck_assert_uint_eq(found.region_count, whole.region_count);
		ck_assert_uint_eq(found.point_count, whole.point_count);
		regions_release(&found);
		ck_assert_int_eq(heap_live(), before);
		if (done)
			break;
	}
	ck_assert_uint_gt(refused, 10);
	regions_release(&whole);
	shape_release(a);
	shape_release(b);
}
END_TEST

START_TEST(a_second_call_gives_the_same_bits)
{
	solid_add_ring(&solid_a, 3, 1, 32, 16);
	solid_add_ring(&solid_b, 2, 1.25, 24, 12);
	struct shape *a = solid_shape(&solid_a), *b = solid_shape(&solid_b);
	struct regions_options options = regions_options_default();
	struct regions again;
	regions_init(&again);
	for (uint32_t round = 0; round < 10; round++) {
		pose at = pose_make(random_vector(&rng, 2), random_rotation(&rng));
		struct regions first = find_with(a, b, at, options);
		ck_assert_int_eq(regions_find(&again, a->mesh, b->mesh, &at, &options), STATUS_OK);
		ck_assert_uint_eq(first.region_count, again.region_count);
		ck_assert_uint_eq(first.point_count, again.point_count);
		for (uint32_t r = 0; r < first.region_count; r++) {
			ck_assert(first.regions[r].volume == again.regions[r].volume);
			ck_assert(first.regions[r].depth == again.regions[r].depth);
			ck_assert(vec3_equal(first.regions[r].normal, again.regions[r].normal));
		}
		for (uint32_t i = 0; i < first.point_count; i++)
			ck_assert(vec3_equal(first.points[i].point, again.points[i].point));
		regions_release(&first);
	}
	regions_release(&again);
	shape_release(a);
	shape_release(b);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("regions");
	TCase *tc = tcase_create("solids");
	tcase_add_checked_fixture(tc, set_up, NULL);
	tcase_add_test(tc, g29_a_tip_in_a_slab_is_as_deep_as_it_reaches);
	tcase_add_test(tc, g29_two_tips_are_two_regions_with_two_depths);
	tcase_add_test(tc, g29_edges_that_cross_without_vertices_inside_have_a_finite_depth);
	tcase_add_test(tc, g29_aligned_boxes_are_as_deep_as_they_overlap);
	tcase_add_test(tc, g29_a_peg_leaves_a_slab_where_the_slab_lets_it);
	tcase_add_test(tc, g29_the_way_out_of_boxes_is_epas_or_longer_and_leads_out);
	tcase_add_test(tc, g29_a_bar_through_a_bar_has_two_contours_and_two_bars_two_regions);
	tcase_add_test(tc, crossed_combs_overlap_once_per_tooth);
	tcase_add_test(tc, a_grid_of_crossings_has_one_region_each);
	tcase_add_test(tc, a_pipe_through_a_plate_is_one_region_with_four_contours);
	tcase_add_test(tc, g16_a_shell_wholly_inside_is_a_region_without_contour);
	tcase_add_test(tc, g16_a_body_in_the_void_of_a_shell_does_not_overlap);
	tcase_add_test(tc, aligned_coplanar_and_coincident_bodies_have_the_exact_volume);
	tcase_add_test(tc, linked_rings_do_not_overlap_and_crossed_rings_do);
	suite_add_tcase(suite, tc);
	tc = tcase_create("random");
	tcase_add_checked_fixture(tc, set_up, NULL);
	tcase_add_test(tc, many_boxes_have_one_region_per_pair_with_the_volume_of_clipping);
	tcase_add_test(tc, branching_solids_have_the_volume_of_sampling);
	tcase_add_test(tc, contours_are_closed_and_lie_on_both_surfaces);
	tcase_add_test(tc, g14_the_walk_over_two_meshes_finds_every_overlapping_pair_once);
	suite_add_tcase(suite, tc);
	tc = tcase_create("contract");
	tcase_add_checked_fixture(tc, set_up, NULL);
	tcase_add_test(tc, shallow_regions_can_be_omitted_and_an_open_mesh_is_refused);
	tcase_add_test(tc, a_failed_allocation_is_reported_and_the_next_call_is_complete);
	tcase_add_test(tc, a_second_call_gives_the_same_bits);
	suite_add_tcase(suite, tc);
	return suite;
}

int main(void)
{
	return check_main(make);
}
