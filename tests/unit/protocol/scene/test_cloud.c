/* Point clouds: welding, thinning out and turning, compared with simple slow implementations. */
#include "protocol/scene/cloud.h"
#include "server/base/rng.h"
#include "tests/lib/check_main.h"

#include <math.h>
#include <string.h>

static struct point_cloud cloud_of(const vec3 *points, uint32_t count)
{
	struct point_cloud cloud = { 0 };
	ck_assert_int_eq(ARRAY_RESERVE(&cloud.points, count), STATUS_OK);
	memcpy(cloud.points.items, points, count * sizeof *points);
	cloud.points.count = count;
	return cloud;
}

static void add_triangle(struct point_cloud *cloud, uint32_t a, uint32_t b, uint32_t c)
{
	ck_assert_int_eq(ARRAY_RESERVE(&cloud->triangles, (uint64_t)cloud->triangles.count + 1),
			 STATUS_OK);
	cloud->triangles.items[cloud->triangles.count++] = (struct mesh_triangle){ { a, b, c } };
}

static vec3 cell(vec3 p, double pitch)
{
	if (!(pitch > 0))
		return p;
	return vec3_make(floor(p.x / pitch), floor(p.y / pitch), floor(p.z / pitch));
}

/* Keeps a point unless an earlier one shares its cell. */
static uint32_t weld_slowly(const vec3 *points, uint32_t count, double pitch, vec3 *out)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < count; i++) {
		bool seen = false;
		for (uint32_t k = 0; k < i && !seen; k++)
			seen = vec3_equal(cell(points[k], pitch), cell(points[i], pitch));
		if (!seen)
			out[kept++] = points[i];
	}
	return kept;
}

START_TEST(welding_keeps_the_first_of_each_cell_in_order)
{
	enum { COUNT = 600 };
	static vec3 points[COUNT], expected[COUNT];
	struct rng rng = rng_seeded(check_seed());
	for (int round = 0; round < 4; round++) {
		double pitch = round == 0 ? 0 : 0.1 * round;
		for (int i = 0; i < COUNT; i++) {
			/* A lattice of quarters, so that many are equal; both zeros. */
			double x = (double)rng_below(&rng, 7) * 0.25 - 0.75;
			double y = (double)rng_below(&rng, 7) * 0.25 - 0.75;
			points[i] = vec3_make(x == 0 && i % 2 ? -0.0 : x, y, i % 3 * 0.25);
		}
		uint32_t kept = weld_slowly(points, COUNT, pitch, expected);
		struct point_cloud cloud = cloud_of(points, COUNT);
		ck_assert_int_eq(cloud_weld(&cloud, pitch), STATUS_OK);
		ck_assert_uint_eq(cloud.points.count, kept);
		for (uint32_t i = 0; i < kept; i++)
			ck_assert(vec3_equal(cloud.points.items[i], expected[i]));
		cloud_release(&cloud);
	}
}
END_TEST

START_TEST(welding_drops_degenerate_and_repeated_triangles)
{
	const vec3 points[] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 },	{ 1, 0, 0 },
				{ 1, 1, 0 }, { 0, 1, 0 }, { 0.5, 0, 0 } };
	struct point_cloud cloud = cloud_of(points, COUNT_OF(points));
	add_triangle(&cloud, 0, 1, 2);
	add_triangle(&cloud, 3, 4, 5);
	add_triangle(&cloud, 2, 0, 3); /* the first again */
	add_triangle(&cloud, 1, 3, 4); /* two corners are one */
	add_triangle(&cloud, 0, 6, 1); /* a line */
	ck_assert_int_eq(cloud_weld(&cloud, 0), STATUS_OK);
	ck_assert_uint_eq(cloud.points.count, 5);
	ck_assert_uint_eq(cloud.triangles.count, 2);
	const struct mesh_triangle expected[] = { { { 0, 1, 2 } }, { { 1, 3, 2 } } };
	ck_assert_mem_eq(cloud.triangles.items, expected, sizeof expected);
	cloud_release(&cloud);
}
END_TEST

START_TEST(thinning_out_keeps_support_points)
{
	enum { COUNT = 4000, DIRECTIONS = 200 };
	static vec3 points[COUNT];
	struct rng rng = rng_seeded(check_seed());
	for (int i = 0; i < COUNT; i++) {
		vec3 p;
		do {
			p.x = rng_range(&rng, -1, 1);
			p.y = rng_range(&rng, -1, 1);
			p.z = rng_range(&rng, -1, 1);
		} while (!(vec3_length(p) > 0.1));
		points[i] = vec3_normalize(p);
	}
	struct point_cloud cloud = cloud_of(points, COUNT);
	ck_assert_int_eq(cloud_simplify(&cloud, DIRECTIONS), STATUS_OK);
	ck_assert_uint_le(cloud.points.count, DIRECTIONS);
	ck_assert_uint_gt(cloud.points.count, DIRECTIONS / 2);
	/* The order stays, and along any direction little of the unit ball is lost: half the square
	 * of the farthest a direction is from the nearest of the spiral (about 0.2), and no more than
	 * twice that because the points themselves are scattered. */
	uint32_t at = 0;
	for (int i = 0; i < COUNT && at < cloud.points.count; i++)
		at += vec3_equal(points[i], cloud.points.items[at]);
	ck_assert_uint_eq(at, cloud.points.count);
	for (int i = 0; i < COUNT; i += 7) {
		double reach = -1;
		for (uint32_t k = 0; k < cloud.points.count; k++)
			reach = fmax(reach, vec3_dot(points[i], cloud.points.items[k]));
		ck_assert_double_gt(reach, 0.96);
	}
	cloud_release(&cloud);
}
END_TEST

START_TEST(thinning_out_takes_the_first_of_equals)
{
	const vec3 points[] = { { 0, 0, 0 }, { 1, 1, 1 }, { 1, 1, 1 }, { 0, 0, 0 } };
	struct point_cloud cloud = cloud_of(points, COUNT_OF(points));
	ck_assert_int_eq(cloud_simplify(&cloud, 64), STATUS_OK);
	ck_assert_uint_eq(cloud.points.count, 2);
	ck_assert(vec3_equal(cloud.points.items[0], points[0]));
	cloud_release(&cloud);
	struct point_cloud empty = { 0 };
	ck_assert_int_eq(cloud_simplify(&empty, 64), STATUS_OK);
	ck_assert_int_eq(cloud_weld(&empty, 0), STATUS_OK);
	cloud_release(&empty);
}
END_TEST

START_TEST(turning_makes_the_chosen_axis_point_upwards)
{
	for (uint32_t up = 0; up < 3; up++) {
		vec3 points[] = { vec3_axis(up), vec3_axis(0), vec3_axis(1), vec3_axis(2) };
		struct point_cloud cloud = cloud_of(points, 4);
		cloud_transform(&cloud, up, false, vec3_all(1));
		const vec3 *p = cloud.points.items;
		ck_assert(vec3_equal(p[0], vec3_axis(1)));
		/* A rotation: right-handed axes stay right-handed. */
		ck_assert_double_eq(vec3_triple(p[1], p[2], p[3]), 1);
		cloud_release(&cloud);
	}
}
END_TEST

START_TEST(centring_comes_before_scaling)
{
	const vec3 points[] = { { 1, 2, 3 }, { 3, 6, 9 }, { 2, 2, 4 } };
	struct point_cloud cloud = cloud_of(points, 3);
	cloud_transform(&cloud, 1, true, vec3_make(10, 100, 1000));
	ck_assert(vec3_equal(cloud.points.items[0], vec3_make(-10, -200, -3000)));
	ck_assert(vec3_equal(cloud.points.items[1], vec3_make(10, 200, 3000)));
	cloud_release(&cloud);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("cloud");
	TCase *test = tcase_create("cloud");
	tcase_add_test(test, welding_keeps_the_first_of_each_cell_in_order);
	tcase_add_test(test, welding_drops_degenerate_and_repeated_triangles);
	tcase_add_test(test, thinning_out_keeps_support_points);
	tcase_add_test(test, thinning_out_takes_the_first_of_equals);
	tcase_add_test(test, turning_makes_the_chosen_axis_point_upwards);
	tcase_add_test(test, centring_comes_before_scaling);
	suite_add_tcase(suite, test);
	return suite;
}

int main(void)
{
	return check_main(make);
}
