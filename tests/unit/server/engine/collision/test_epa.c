/* EPA (spec G5): known depths, degenerate starts, capacity. tests/property/test_agreement checks
 * depths in general. */
#include "server/engine/collision/epa.h"

#include "tests/lib/check_main.h"
#include "tests/lib/poses.h"
#include "tests/lib/shapes.h"

static struct rng rng;
static struct epa_workspace work;

static void set_up(void)
{
	rng = rng_seeded(check_seed());
}

static struct epa_result depth_of(const struct gjk_core *a, const struct gjk_core *b, vec3 place,
				  quat turn, const struct gjk_simplex *start)
{
	struct epa_result r;
	struct gjk_result near;
	mat3 rotation = mat3_from_quat(turn);
	gjk_distance(a, b, &rotation, place, NULL, &near);
	ck_assert(near.touching);
	epa_depth(a, b, &rotation, place, start != NULL ? start : &near.simplex, &work, &r);
	return r;
}

static struct gjk_core core_of(const struct shape *shape)
{
	return (struct gjk_core){ shape->hull->vertices, shape->hull->vertex_count, shape->hull, 0,
				  NULL };
}

static void check_depth(struct epa_result r, double depth, vec3 normal)
{
	ck_assert_int_eq(r.status, EPA_DONE);
	ck_assert_double_eq_tol(r.depth, depth, 1e-14);
	ck_assert_double_eq_tol(r.lower, depth, 1e-14);
	ck_assert_double_le(vec3_distance(r.normal, normal), 1e-14);
	vec3 apart = vec3_sub(r.point_a, r.point_b);
	ck_assert_double_le(vec3_distance(apart, vec3_scale(normal, depth)), 1e-14);
}

START_TEST(overlapping_cubes_have_the_known_depths)
{
	struct shape *cube = make_box(0.5, 0.5, 0.5);
	struct gjk_core core = core_of(cube);
	quat turn = quat_identity();
	check_depth(depth_of(&core, &core, vec3_make(0.75, 0.1, 0.2), turn, NULL), 0.25,
		    vec3_make(1, 0, 0));
	check_depth(depth_of(&core, &core, vec3_make(0.1, -0.875, 0), turn, NULL), 0.125,
		    vec3_make(0, -1, 0));
	/* Face on face: the depth is 0. */
	check_depth(depth_of(&core, &core, vec3_make(0, 0, 1), turn, NULL), 0, vec3_make(0, 0, 1));
	/* Coincident cubes: six directions, each of depth 1 m. */
	struct epa_result r = depth_of(&core, &core, vec3_zero(), turn, NULL);
	ck_assert_int_eq(r.status, EPA_DONE);
	ck_assert_double_eq_tol(r.depth, 1, 1e-14);
	/* The example of the separating axes test: an edge pair. */
	double h = 0.70710678118654752440;
	vec3 n = vec3_make(h, h, 0), z = vec3_make(0, 0, 1);
	mat3 axes = mat3_columns(vec3_normalize(vec3_add(n, z)), vec3_normalize(vec3_sub(n, z)),
				 vec3_normalize(vec3_make(-1, 1, 0)));
	r = depth_of(&core, &core, vec3_scale(n, 1.4), quat_from_mat3(axes), NULL);
	ck_assert_double_eq_tol(r.depth, 1.41421356237309505 - 1.4, 1e-14);
	shape_release(cube);
}
END_TEST

START_TEST(touching_corners_edges_and_points_have_no_depth)
{
	struct shape *cube = make_box(0.5, 0.5, 0.5);
	struct gjk_core core = core_of(cube);
	static const double PLACES[3][3] = { { 1, 1, 1 }, { 1, 1, 0 }, { 1, 0.25, 0.5 } };
	for (int k = 0; k < 3; k++) {
		vec3 place = vec3_make(PLACES[k][0], PLACES[k][1], PLACES[k][2]);
		struct epa_result r = depth_of(&core, &core, place, quat_identity(), NULL);
		ck_assert_int_eq(r.status, EPA_DONE);
		ck_assert_double_eq(r.depth, 0);
		ck_assert_double_eq_tol(vec3_length(r.normal), 1, 1e-14);
		ck_assert_double_le(vec3_distance(r.point_a, r.point_b), 1e-15);
	}
	shape_release(cube);
}
END_TEST

START_TEST(a_flat_minkowski_difference_is_reported)
{
	static const vec3 TRIANGLE[3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 } };
	static const vec3 SEGMENT[2] = { { 0, 0, 0 }, { 1, 0, 0 } };
	struct gjk_core flat = { TRIANGLE, 3, NULL, 0, NULL }, line = { SEGMENT, 2, NULL, 0, NULL };
	struct epa_result r = depth_of(&flat, &flat, vec3_make(0.2, 0.2, 0), quat_identity(), NULL);
	ck_assert_int_eq(r.status, EPA_FLAT);
	ck_assert_double_eq(r.depth, 0);
	ck_assert_double_eq(scalar_abs(r.normal.z), 1);
	r = depth_of(&line, &line, vec3_make(0.5, 0, 0), quat_identity(), NULL);
	ck_assert_int_eq(r.status, EPA_FLAT);
	ck_assert_double_eq(r.normal.x, 0);
	/* The Minkowski difference of a triangle and a segment through it has volume. */
	r = depth_of(&flat, &line, vec3_make(0.2, 0.2, -0.25),
		     quat_make(0.70710678118654752440, 0, -0.70710678118654752440, 0), NULL);
	ck_assert_int_eq(r.status, EPA_DONE);
	ck_assert_double_eq_tol(r.depth, 0.2, 1e-15);
}
END_TEST

START_TEST(every_start_simplex_gives_the_same_depth)
{
	vec3 points[20];
	for (int k = 0; k < 20; k++)
		points[k] = vec3_scale(random_direction(&rng), 0.8);
	struct shape *hull = make_hull(points, 20), *cube = make_box(0.5, 0.3, 0.4);
	struct gjk_core a = core_of(hull), b = core_of(cube);
	for (int k = 0; k < 1000; k++) {
		struct gjk_simplex start = { rng_below(&rng, 5), { 0 }, { 0 } };
		for (int m = 0; m < 4; m++) {
			start.a[m] = (uint16_t)rng_below(&rng, a.count);
			start.b[m] = (uint16_t)rng_below(&rng, b.count);
		}
		vec3 place = random_vector(&rng, 0.25);
		quat turn = awkward_rotation(&rng);
		struct epa_result r = depth_of(&a, &b, place, turn, NULL);
		struct epa_result s = depth_of(&a, &b, place, turn, &start);
		ck_assert_int_eq(r.status, EPA_DONE);
		ck_assert_int_eq(s.status, EPA_DONE);
		ck_assert_double_eq_tol(r.depth, s.depth, 1e-13);
	}
	shape_release(hull);
	shape_release(cube);
}
END_TEST

START_TEST(a_full_workspace_is_reported_and_its_bounds_are_correct)
{
	static vec3 points[2][4096];
	for (int k = 0; k < 4096; k++) {
		points[0][k] = random_direction(&rng);
		points[1][k] = random_direction(&rng);
	}
	/* Two point-sampled balls with a common centre: nearly all of the surface is nearest. */
	struct gjk_core a = { points[0], 4096, NULL, 0, NULL },
			b = { points[1], 4096, NULL, 0, NULL };
	struct epa_result r = depth_of(&a, &b, vec3_make(0.01, 0, 0), quat_identity(), NULL);
	ck_assert_int_eq(r.status, EPA_CAPACITY);
	ck_assert_double_gt(r.lower, 1.5);
	ck_assert_double_lt(r.lower, r.depth);
	ck_assert_double_lt(r.depth, 2);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/collision/epa");
	TCase *tcase = tcase_create("epa");
	tcase_add_checked_fixture(tcase, set_up, NULL);
	tcase_add_test(tcase, overlapping_cubes_have_the_known_depths);
	tcase_add_test(tcase, touching_corners_edges_and_points_have_no_depth);
	tcase_add_test(tcase, a_flat_minkowski_difference_is_reported);
	tcase_add_test(tcase, every_start_simplex_gives_the_same_depth);
	tcase_add_test(tcase, a_full_workspace_is_reported_and_its_bounds_are_correct);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
