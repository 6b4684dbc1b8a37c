/* The hull of a point cloud: app D's invariants, chapter 2's G-07, and Qhull's volume. */
#include "server/engine/geometry/hull.h"

#include "server/base/heap.h"
#include "server/base/rng.h"
#include "server/engine/geometry/mass.h"
#include "server/engine/math/mat3.h"
#include "server/engine/math/trig.h"
#include "tests/lib/check_main.h"
#include "tests/lib/poses.h"
#include "tests/lib/qhull_volume.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CLOUD_MAX = 65536 };

static vec3 cloud[CLOUD_MAX];
static struct rng rng;

static void seed(void)
{
	rng = rng_seeded(check_seed());
}

static mat3 random_turn(void)
{
	vec3 axis = random_direction(&rng);
	return mat3_from_axis_angle(axis, rng_range(&rng, 0, 6));
}

static double size_of(const vec3 *points, uint32_t count)
{
	struct aabb box = aabb_empty();
	for (uint32_t i = 0; i < count; i++)
		box = aabb_add_point(box, points[i]);
	return vec3_max_component(vec3_sub(box.max, box.min));
}

/* The greatest height of any point above any face, m. */
static double highest_outside(const struct hull *hull, const vec3 *points, uint32_t count)
{
	double highest = -1e9;
	for (uint32_t f = 0; f < hull->face_count; f++)
		for (uint32_t i = 0; i < count; i++)
			highest = scalar_max(highest, vec3_dot(hull->faces[f].normal, points[i]) -
							      hull->faces[f].offset);
	return highest;
}

static struct hull *expect_hull(const vec3 *points, uint32_t count, struct hull_build *build)
{
	struct hull *hull = NULL;
	struct reason why = { 0 };
	enum status status = hull_of_points(points, count, &hull, build, &why);
	ck_assert_msg(status == STATUS_OK, "%u points refused: %s", count, why.text);
	return hull;
}

struct worst {
	double volume, outside;
	uint32_t clouds, exact_only, rounds, faces, vertices;
};

/* Checks the properties that hold for every cloud; volumes are relative to size³. */
static void check_cloud(const vec3 *points, uint32_t count, struct worst *worst)
{
	struct hull_build build = { 0 };
	const char *fault = "";
	struct hull *hull = expect_hull(points, count, &build);
	double size = size_of(points, count);
	ck_assert_msg(hull_is_valid(hull, build.tolerance, &fault), "%s", fault);
	double outside = highest_outside(hull, points, count);
	ck_assert_msg(outside <= build.tolerance, "a point lies %g outside", outside);
	double volume = build.mass.volume, expected = qhull_volume(points, count);
	double slack = 1e-12 * size * size * size;
	/* Faces are planar within the tolerance, so both computations of the volume agree within
	 * it. */
	ck_assert_double_eq_tol(mass_of_hull(hull).volume, volume,
				slack + 6 * size * size * build.tolerance);
	/* Dropped points lie within `outside` metres of the faces. */
	ck_assert_double_le(volume, build.cloud_volume + slack);
	ck_assert_double_ge(volume,
			    build.cloud_volume - slack -
				    (build.rounds > 1 ? 6 * size * size * build.outside : 0));
	if (expected >= 0) {
		double off = scalar_abs(build.cloud_volume - expected);
		worst->volume = scalar_max(worst->volume, off / (size * size * size));
		ck_assert_msg(off <= slack,
			      "volume %.17g, Qhull has %.17g, %u vertices %u faces %u rounds",
			      build.cloud_volume, expected, hull->vertex_count, hull->face_count,
			      build.rounds);
	}
	worst->outside = scalar_max(worst->outside, outside / size);
	worst->exact_only += build.exact_only;
	worst->rounds = MAX_OF(worst->rounds, build.rounds);
	worst->vertices = MAX_OF(worst->vertices, hull->vertex_count);
	worst->faces = MAX_OF(worst->faces, hull->face_count);
	worst->clouds++;
	heap_free(hull);
}

static void print_worst(const char *family, const struct worst *worst)
{
	printf("# %s: %u clouds, volume off by %.1e size^3, points out by %.1e size, "
	       "at most %u rounds, %u vertices, %u faces; redone exactly: %u\n",
	       family, worst->clouds, worst->volume, worst->outside, worst->rounds, worst->vertices,
	       worst->faces, worst->exact_only);
	fflush(stdout);
}

START_TEST(random_clouds_have_qhulls_volume)
{
	struct worst worst = { 0 };
	seed();
	for (uint32_t run = 0; run < 300; run++) {
		/* Clouds of few points may be too flat for a hull. */
		double scale = run % 3 == 0 ? 0.01 : run % 3 == 1 ? 1 : 1e4;
		uint32_t count =
			(run % 3 == 0 ? 20 : 5) + rng_below(&rng, run % 10 == 0 ? 2000 : 100);
		vec3 shift = vec3_scale(random_vector(&rng, 1), run % 2 ? scale * 3 : 0);
		for (uint32_t i = 0; i < count; i++)
			cloud[i] = vec3_mul_add(shift, random_vector(&rng, 1), scale);
		check_cloud(cloud, count, &worst);
	}
	print_worst("in a cube", &worst);
	ck_assert_uint_eq(worst.exact_only, 0);
}
END_TEST

START_TEST(cospherical_clouds_have_qhulls_volume_and_keep_every_point)
{
	struct worst worst = { 0 };
	seed();
	for (uint32_t run = 0; run < 40; run++) {
		uint32_t count = 4 + rng_below(&rng, 1000);
		for (uint32_t i = 0; i < count; i++)
			cloud[i] = random_direction(&rng);
		check_cloud(cloud, count, &worst);
	}
	print_worst("on a sphere", &worst);
	ck_assert_uint_eq(worst.exact_only, 0);
}
END_TEST

/* Converts through memory, because gcc 12 at -O2 drops a rounding to float and back of two
 * neighbouring doubles. */
static vec3 rounded_to_floats(vec3 p)
{
	volatile float x = (float)p.x, y = (float)p.y, z = (float)p.z;
	return vec3_make((double)x, (double)y, (double)z);
}

/* A box of half extents `half`, with points scattered over its faces and edges, rotated by r. */
static uint32_t box_cloud(vec3 half, uint32_t extra, mat3 r, bool rounded)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < extra; i++) {
		vec3 p = vec3_hadamard(random_vector(&rng, 1), half);
		uint32_t axis = rng_below(&rng, 3);
		vec3_set(&p, axis,
			 rng_below(&rng, 2) ? vec3_get(half, axis) : -vec3_get(half, axis));
		if (i % 5 == 0) {
			axis = (axis + 1) % 3;
			vec3_set(&p, axis, vec3_get(half, axis));
		}
		cloud[count++] = p;
	}
	for (uint32_t i = 0; i < 8; i++)
		cloud[count++] = vec3_make(i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y,
					   i & 4 ? half.z : -half.z);
	for (uint32_t i = 0; i < count; i++) {
		cloud[i] = mat3_mul_vec(r, cloud[i]);
		if (rounded)
			cloud[i] = rounded_to_floats(cloud[i]);
	}
	return count;
}

START_TEST(a_box_with_points_on_its_faces_has_six_quadrilaterals)
{
	struct worst worst = { 0 };
	seed();
	for (uint32_t run = 0; run < 60; run++) {
		vec3 half = vec3_make(1, rng_range(&rng, 0.2, 1), rng_range(&rng, 0.05, 1));
		mat3 r = run % 3 == 0 ? mat3_identity() : random_turn();
		uint32_t count = box_cloud(half, rng_below(&rng, 1500), r, false);
		struct hull *hull = expect_hull(cloud, count, NULL);
		ck_assert_uint_eq(hull->vertex_count, 8);
		ck_assert_uint_eq(hull->face_count, 6);
		ck_assert_uint_eq(hull->edge_count, 24);
		heap_free(hull);
		check_cloud(cloud, count, &worst);
	}
	print_worst("boxes", &worst);
	ck_assert_uint_eq(worst.exact_only, 0);
}
END_TEST

START_TEST(a_box_rounded_to_floats_has_six_faces)
{
	seed();
	for (uint32_t run = 0; run < 60; run++) {
		uint32_t count = box_cloud(vec3_make(1, 0.6, 0.3), 500, random_turn(), true);
		struct hull_build build;
		struct hull *hull = expect_hull(cloud, count, &build);
		ck_assert_uint_eq(hull->face_count, 6);
		ck_assert_uint_eq(hull->vertex_count, 8);
		double volume = mass_of_hull(hull).volume;
		ck_assert_double_eq_tol(volume, 8 * 0.18, 1e-5);
		ck_assert(highest_outside(hull, cloud, count) <= build.tolerance);
		heap_free(hull);
	}
}
END_TEST

START_TEST(grids_and_duplicates_have_qhulls_volume)
{
	struct worst worst = { 0 };
	seed();
	for (uint32_t run = 0; run < 40; run++) {
		/* Points of a small lattice: most are repeated, coplanar, collinear. */
		uint32_t count = 20 + rng_below(&rng, 500), side = 2 + rng_below(&rng, 4);
		for (uint32_t i = 0; i < count; i++)
			cloud[i] = vec3_make(rng_below(&rng, side), rng_below(&rng, side),
					     rng_below(&rng, side) * 0.25);
		check_cloud(cloud, count, &worst);
	}
	print_worst("lattices", &worst);
	ck_assert_uint_eq(worst.exact_only, 0);
}
END_TEST

START_TEST(prisms_and_cylinders_have_flat_caps)
{
	struct worst worst = { 0 };
	seed();
	for (uint32_t sides = 3; sides <= 400; sides = sides * 3 / 2 + 1) {
		mat3 r = random_turn();
		for (uint32_t i = 0; i < 2 * sides; i++) {
			double angle = TWO_PI * (i / 2) / sides;
			cloud[i] = mat3_mul_vec(
				r, vec3_make(trig_cos(angle), i % 2 ? 1 : -1, trig_sin(angle)));
		}
		struct hull *hull = expect_hull(cloud, 2 * sides, NULL);
		ck_assert_uint_eq(hull->vertex_count, 2 * sides);
		ck_assert_uint_eq(hull->face_count, sides + 2);
		heap_free(hull);
		check_cloud(cloud, 2 * sides, &worst);
	}
	print_worst("prisms", &worst);
}
END_TEST

START_TEST(slivers_above_the_least_thickness_have_valid_hulls)
{
	struct worst worst = { 0 };
	seed();
	for (uint32_t run = 0; run < 60; run++) {
		uint32_t count = 8 + rng_below(&rng, 300);
		mat3 r = random_turn();
		vec3 half = vec3_make(run % 2 ? 100 : 1, run % 3 ? 1 : 3e-4, 3e-4);
		for (uint32_t i = 0; i < count; i++) {
			vec3 p = vec3_hadamard(random_vector(&rng, 1), half);
			if (i < 8)
				p = vec3_make(i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y,
					      i & 4 ? half.z : -half.z);
			cloud[i] = mat3_mul_vec(r, p);
		}
		check_cloud(cloud, count, &worst);
	}
	print_worst("slivers", &worst);
}
END_TEST

START_TEST(noise_around_the_tolerance_gives_a_valid_hull)
{
	uint32_t exact_only = 0, rounds = 0;
	double worst = 0;
	seed();
	/* The hardest case for merging faces: flat faces with bumps just below and just above the
	 * tolerance. */
	for (uint32_t run = 0; run < 200; run++) {
		double bump = 1e-6 * (run % 20 + 1) / 4;
		uint32_t count = box_cloud(vec3_make(1, 0.8, 0.6), 400, mat3_identity(), false);
		for (uint32_t i = 0; i < count; i++)
			cloud[i] = vec3_mul_add(cloud[i], random_vector(&rng, 1), bump);
		struct hull_build build = { 0 };
		struct hull *hull = expect_hull(cloud, count, &build);
		const char *fault = "";
		ck_assert_msg(hull_is_valid(hull, build.tolerance, &fault), "%s", fault);
		double outside = highest_outside(hull, cloud, count);
		ck_assert_msg(outside <= build.outside * (1 + 1e-9),
			      "run %u, bumps of %g: a point lies %g outside, reported %g", run,
			      bump, outside, build.outside);
		exact_only += build.exact_only;
		worst = scalar_max(worst, outside);
		rounds = MAX_OF(rounds, build.rounds);
		heap_free(hull);
	}
	printf("# noise around the tolerance: at most %u rounds, points out by %.1e m, "
	       "redone exactly: %u of 200\n",
	       rounds, worst, exact_only);
}
END_TEST

START_TEST(a_fine_dome_is_a_valid_hull)
{
	seed();
	/* Sampled so finely that adjacent faces bend by less than the tolerance. */
	for (uint32_t run = 0; run < 10; run++) {
		uint32_t count = 0;
		double r = 0.002 * (run + 1);
		for (uint32_t i = 0; i < 2000; i++) {
			vec3 p = random_vector(&rng, 1);
			double x = p.x * r, z = p.z * r;
			cloud[count++] = vec3_make(x, scalar_sqrt(1 - x * x - z * z), z);
		}
		cloud[count++] = vec3_make(0, -1, 0);
		cloud[count++] = vec3_make(1, 0, 0);
		cloud[count++] = vec3_make(0, 0, 1);
		cloud[count++] = vec3_make(-1, 0, -1);
		struct hull_build build = { 0 };
		struct hull *hull = NULL;
		struct reason why;
		enum status status = hull_of_points(cloud, count, &hull, &build, &why);
		if (status != STATUS_OK) {
			ck_assert_msg(status == STATUS_TOO_LARGE, "%s", why.text);
			continue;
		}
		ck_assert(hull_is_valid(hull, build.tolerance, NULL));
		ck_assert(highest_outside(hull, cloud, count) <= 5 * build.tolerance);
		heap_free(hull);
	}
}
END_TEST

START_TEST(the_cube_of_g07_has_volume_one)
{
	seed();
	for (uint32_t i = 0; i < 108; i++)
		cloud[i] = vec3_scale(vec3_add(random_vector(&rng, 1), vec3_all(1)), 0.5);
	for (uint32_t i = 0; i < 8; i++)
		cloud[i] = vec3_make(i & 1, i >> 1 & 1, i >> 2);
	struct hull *hull = expect_hull(cloud, 108, NULL);
	ck_assert_uint_eq(hull->vertex_count, 8);
	ck_assert_double_eq_tol(mass_of_hull(hull).volume, 1, 1e-15);
	ck_assert(highest_outside(hull, cloud, 108) <= 1e-12);
	/* Vertices are in the order of the cloud. */
	for (uint32_t i = 0; i < 8; i++)
		ck_assert(vec3_equal(hull->vertices[i], cloud[i]));
	heap_free(hull);
}
END_TEST

START_TEST(the_order_of_the_cloud_changes_only_the_numbering)
{
	seed();
	uint32_t count = 300;
	for (uint32_t i = 0; i < count; i++)
		cloud[i] = i % 2 ? random_vector(&rng, 1) : random_direction(&rng);
	struct hull *first = expect_hull(cloud, count, NULL);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t k = rng_below(&rng, count);
		vec3 kept = cloud[i];
		cloud[i] = cloud[k];
		cloud[k] = kept;
	}
	struct hull *second = expect_hull(cloud, count, NULL);
	ck_assert_uint_eq(first->vertex_count, second->vertex_count);
	ck_assert_uint_eq(first->face_count, second->face_count);
	ck_assert_double_eq_tol(mass_of_hull(first).volume, mass_of_hull(second).volume, 1e-14);
	struct hull *again = expect_hull(cloud, count, NULL);
	ck_assert_int_eq(
		memcmp(again->edges, second->edges, second->edge_count * sizeof *second->edges), 0);
	ck_assert_int_eq(
		memcmp(again->faces, second->faces, second->face_count * sizeof *second->faces), 0);
	heap_free(first);
	heap_free(second);
	heap_free(again);
}
END_TEST

static void expect_refused(uint32_t count, enum status expected, const char *words)
{
	struct hull *hull = NULL;
	struct reason why = { 0 };
	enum status status = hull_of_points(cloud, count, &hull, NULL, &why);
	ck_assert_msg(status == expected, "%s: %s", status_name(status), why.text);
	ck_assert_msg(strstr(why.text, words) != NULL, "%s", why.text);
	ck_assert_ptr_null(hull);
}

START_TEST(degenerate_clouds_are_refused_with_the_reason)
{
	seed();
	expect_refused(3, STATUS_DEGENERATE, "at least 4");
	for (uint32_t i = 0; i < 100; i++)
		cloud[i] = vec3_make(5, -3, 2);
	expect_refused(100, STATUS_DEGENERATE, "in one place");
	vec3 a = random_vector(&rng, 1), u = random_direction(&rng), v = random_direction(&rng);
	for (uint32_t i = 0; i < 100; i++)
		cloud[i] = vec3_mul_add(a, u, rng_range(&rng, -5, 5));
	expect_refused(100, STATUS_DEGENERATE, "on a line");
	for (uint32_t i = 0; i < 100; i++)
		cloud[i] = vec3_mul_add(vec3_mul_add(a, u, rng_range(&rng, -5, 5)), v,
					rng_range(&rng, -5, 5));
	expect_refused(100, STATUS_DEGENERATE, "in a plane");
	for (uint32_t i = 0; i < 100; i++)
		cloud[i] = vec3_scale(random_vector(&rng, 1), 1e-300);
	expect_refused(100, STATUS_DEGENERATE, "in one place");
	for (uint32_t i = 0; i < 5000; i++)
		cloud[i] = random_direction(&rng);
	expect_refused(5000, STATUS_TOO_LARGE, "5000 vertices");
}
END_TEST

static double seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void time_cloud(const char *name, uint32_t count, enum status expected)
{
	struct hull *hull = NULL;
	struct hull_build build = { 0 };
	double start = seconds();
	enum status status = hull_of_points(cloud, count, &hull, &build, NULL);
	double took = seconds() - start;
	ck_assert_msg(status == expected, "%s: %s", name, status_name(status));
	printf("# %s, %u points: %.1f ms, %u rounds, %llu facets made, %u vertices\n", name, count,
	       took * 1e3, build.rounds, (unsigned long long)build.facets_made,
	       hull != NULL ? hull->vertex_count : 0);
	heap_free(hull);
	/* n log n: a quadratic method would make tens of millions. */
	ck_assert_uint_le(build.facets_made, 60ull * count);
}

START_TEST(large_clouds_take_less_than_quadratic_time)
{
	seed();
	for (uint32_t i = 0; i < CLOUD_MAX; i++)
		cloud[i] = random_vector(&rng, 1);
	time_cloud("in a cube", 10000, STATUS_OK);
	time_cloud("in a cube", CLOUD_MAX, STATUS_OK);
	for (uint32_t i = 0; i < CLOUD_MAX; i++)
		cloud[i] = random_direction(&rng);
	time_cloud("on a sphere", 10000, STATUS_TOO_LARGE);
	time_cloud("on a sphere", CLOUD_MAX, STATUS_TOO_LARGE);
	box_cloud(vec3_make(1, 0.9, 0.8), CLOUD_MAX - 8, random_turn(), false);
	time_cloud("on a turned box", CLOUD_MAX, STATUS_OK);
	box_cloud(vec3_make(1, 0.9, 0.8), CLOUD_MAX - 8, random_turn(), true);
	time_cloud("on a turned box of floats", CLOUD_MAX, STATUS_OK);
	/* A cone: every facet at the rim of the base is visible from its apex. */
	for (uint32_t i = 0; i < CLOUD_MAX; i++) {
		double angle = TWO_PI * i / CLOUD_MAX;
		cloud[i] = vec3_make(trig_cos(angle), 0, trig_sin(angle));
	}
	cloud[CLOUD_MAX / 2] = vec3_make(0, 0.3, 0);
	time_cloud("a cone", CLOUD_MAX, STATUS_TOO_LARGE);
}
END_TEST

START_TEST(every_failed_allocation_is_reported_without_a_leak)
{
	seed();
	uint32_t count = box_cloud(vec3_make(1, 0.9, 0.8), 60, random_turn(), true);
	int64_t before = heap_live();
	for (uint64_t n = 1;; n++) {
		struct hull *hull = NULL;
		struct reason why = { 0 };
		heap_fail_at(n);
		enum status status = hull_of_points(cloud, count, &hull, NULL, &why);
		bool untouched = heap_fail_pending();
		heap_fail_at(0);
		if (untouched) {
			ck_assert_int_eq(status, STATUS_OK);
			heap_free(hull);
			ck_assert_uint_gt(n, 10);
			break;
		}
		ck_assert_int_eq(status, STATUS_NO_MEMORY);
		ck_assert_int_eq(why.status, STATUS_NO_MEMORY);
		ck_assert_int_eq(heap_live(), before);
	}
	ck_assert_int_eq(heap_live(), before);
}
END_TEST

START_TEST(a_box_is_a_valid_hull_with_axes_for_normals)
{
	vec3 half = vec3_make(0.3, 7, 49);
	struct hull *hull = box_hull(half);
	const char *fault = "";
	ck_assert_msg(hull_is_valid(hull, 1e-12, &fault), "%s", fault);
	for (uint32_t f = 0; f < 6; f++) {
		vec3 n = vec3_scale(vec3_axis(f / 2), f % 2 ? 1 : -1);
		ck_assert(vec3_equal(vec3_add(hull->faces[f].normal, vec3_zero()),
				     vec3_add(n, vec3_zero())));
		ck_assert(hull->faces[f].offset == vec3_get(half, f / 2));
	}
	ck_assert(vec3_equal(vec3_abs(hull->centre), vec3_zero()));
	heap_free(hull);
}
END_TEST

START_TEST(a_broken_polyhedron_is_reported_invalid)
{
	struct hull *hull = box_hull(vec3_all(1));
	const char *fault = NULL;
	hull->vertices[7] = vec3_all(0.9);
	ck_assert(!hull_is_valid(hull, 1e-6, &fault));
	ck_assert_str_eq(fault, "H-3: a face is not planar");
	hull->vertices[7] = vec3_all(1);
	hull->edges[5].twin = 3;
	ck_assert(!hull_is_valid(hull, 1e-6, &fault));
	ck_assert_msg(strncmp(fault, "H-1", 3) == 0, "%s", fault);
	heap_free(hull);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/geometry/hull");
	TCase *clouds = tcase_create("clouds");
	tcase_add_test(clouds, random_clouds_have_qhulls_volume);
	tcase_add_test(clouds, cospherical_clouds_have_qhulls_volume_and_keep_every_point);
	tcase_add_test(clouds, a_box_with_points_on_its_faces_has_six_quadrilaterals);
	tcase_add_test(clouds, a_box_rounded_to_floats_has_six_faces);
	tcase_add_test(clouds, grids_and_duplicates_have_qhulls_volume);
	tcase_add_test(clouds, prisms_and_cylinders_have_flat_caps);
	tcase_add_test(clouds, slivers_above_the_least_thickness_have_valid_hulls);
	tcase_add_test(clouds, noise_around_the_tolerance_gives_a_valid_hull);
	tcase_add_test(clouds, a_fine_dome_is_a_valid_hull);
	tcase_add_test(clouds, the_cube_of_g07_has_volume_one);
	tcase_add_test(clouds, the_order_of_the_cloud_changes_only_the_numbering);
	tcase_add_test(clouds, degenerate_clouds_are_refused_with_the_reason);
	suite_add_tcase(suite, clouds);
	TCase *limits = tcase_create("limits");
	tcase_add_test(limits, large_clouds_take_less_than_quadratic_time);
	tcase_add_test(limits, every_failed_allocation_is_reported_without_a_leak);
	suite_add_tcase(suite, limits);
	TCase *form = tcase_create("polyhedron");
	tcase_add_test(form, a_box_is_a_valid_hull_with_axes_for_normals);
	tcase_add_test(form, a_broken_polyhedron_is_reported_invalid);
	suite_add_tcase(suite, form);
	return suite;
}

int main(void)
{
	return check_main(make);
}
