/* V-Clip (spec 4.9, V1…V6): known features, warm starts, termination. tests/property/test_agreement
 * checks distances in general. */
#include "server/engine/collision/vclip.h"

#include "tests/lib/check_main.h"
#include "tests/lib/poses.h"
#include "tests/lib/shapes.h"

static struct rng rng;
static struct shape *cube, *round_hull, *small_hull;

static struct shape *hull_of(uint32_t count, double size)
{
	vec3 points[256];
	for (uint32_t k = 0; k < count; k++)
		points[k] = vec3_scale(random_direction(&rng), size);
	return make_hull(points, count);
}

static void set_up(void)
{
	rng = rng_seeded(check_seed());
	cube = make_box(0.5, 0.5, 0.5);
	round_hull = hull_of(200, 0.8);
	small_hull = hull_of(12, 0.8);
}

static void tear_down(void)
{
	shape_release(cube);
	shape_release(round_hull);
	shape_release(small_hull);
}

static struct placing placed(const pose *at)
{
	return (struct placing){ mat3_from_quat(at->rotation), at->position };
}

static struct vclip_result cubes(vec3 place, quat turn)
{
	struct vclip_result r;
	pose at = pose_make(place, turn);
	struct placing there = placed(&at);
	vclip_distance(cube->hull, cube->hull, &there, NULL, &r);
	return r;
}

START_TEST(cubes_in_known_poses_have_the_expected_features)
{
	static const double R = 0.70710678118654752440;
	struct vclip_result r = cubes(vec3_make(2, 2, 2), quat_identity());
	ck_assert_uint_eq(r.features.a.kind, VCLIP_VERTEX);
	ck_assert_uint_eq(r.features.a.index, 7);
	ck_assert_uint_eq(r.features.b.kind, VCLIP_VERTEX);
	ck_assert_uint_eq(r.features.b.index, 0);
	ck_assert_double_eq_tol(r.distance, 1.73205080756887729, 1e-14);
	/* Two crossed edges: the example of the separating axes test. */
	vec3 n = vec3_make(R, R, 0), z = vec3_make(0, 0, 1);
	mat3 axes = mat3_columns(vec3_normalize(vec3_add(n, z)), vec3_normalize(vec3_sub(n, z)),
				 vec3_normalize(vec3_make(-1, 1, 0)));
	r = cubes(vec3_scale(n, 1.5), quat_from_mat3(axes));
	ck_assert_uint_eq(r.features.a.kind, VCLIP_EDGE);
	ck_assert_uint_eq(r.features.b.kind, VCLIP_EDGE);
	ck_assert_double_eq_tol(r.distance, 1.5 - 2 * R, 1e-14);
	ck_assert_double_le(vec3_distance(r.normal, n), 1e-14);
	/* A corner above a face: the diagonal of b is vertical. */
	vec3 diagonal = vec3_scale(vec3_make(1, 1, 1), 0.57735026918962576);
	vec3 t, k;
	vec3_frame(diagonal, &t, &k);
	quat stand = quat_conjugate(quat_from_mat3(mat3_columns(t, diagonal, vec3_negate(k))));
	r = cubes(vec3_make(0.1, 2, 0.05), stand);
	ck_assert_uint_eq(r.features.a.kind, VCLIP_FACE);
	ck_assert_uint_eq(r.features.b.kind, VCLIP_VERTEX);
	ck_assert_double_eq_tol(r.distance, 2 - 0.5 - 0.86602540378443865, 1e-14);
	ck_assert(!r.handed_over);
}
END_TEST

START_TEST(a_warm_start_takes_few_steps_and_gives_the_same_distance)
{
	uint64_t warm_steps = 0, cold_steps = 0;
	struct vclip_features features = { { 0, 0 }, { 0, 0 } };
	pose at = pose_make(vec3_make(1.8, 0.1, 0), random_rotation(&rng));
	for (int k = 0; k < 2000; k++) {
		struct vclip_result warm, cold;
		vec3 turn = vec3_make(0.004, 0.003, -0.002);
		at.rotation =
			quat_normalize(quat_mul(quat_make(1, turn.x, turn.y, turn.z), at.rotation));
		struct placing there = placed(&at);
		vclip_distance(round_hull->hull, round_hull->hull, &there, &features, &warm);
		vclip_distance(round_hull->hull, round_hull->hull, &there, NULL, &cold);
		ck_assert_double_eq_tol(warm.distance, cold.distance, 1e-12);
		features = warm.features;
		warm_steps += warm.steps;
		cold_steps += cold.steps;
	}
	ck_assert_uint_lt(warm_steps, 2 * 2000);
	ck_assert_uint_lt(warm_steps, cold_steps);
}
END_TEST

static struct vclip_feature random_feature(const struct hull *hull)
{
	uint32_t counts[3] = { hull->vertex_count, hull->edge_count, hull->face_count };
	uint32_t kind = rng_below(&rng, 3);
	uint32_t index = rng_below(&rng, counts[kind] + (rng_below(&rng, 10) == 0 ? 1000 : 0));
	return (struct vclip_feature){ (uint16_t)kind, (uint16_t)index };
}

START_TEST(any_start_feature_gives_the_same_distance_and_terminates)
{
	for (int k = 0; k < 4000; k++) {
		struct vclip_result one, other;
		vec3 place = vec3_scale(random_direction(&rng), rng_range(&rng, 0.3, 2.5));
		pose at = pose_make(place, awkward_rotation(&rng));
		struct placing there = placed(&at);
		struct vclip_features wild = { random_feature(small_hull->hull),
					       random_feature(cube->hull) };
		vclip_distance(small_hull->hull, cube->hull, &there, NULL, &one);
		vclip_distance(small_hull->hull, cube->hull, &there, &wild, &other);
		ck_assert(one.touching == other.touching);
		ck_assert_double_eq_tol(one.distance, other.distance, 1e-12);
		ck_assert_uint_le(other.steps, 64 + small_hull->hull->edge_count + 24);
	}
}
END_TEST

START_TEST(in_general_positions_the_walk_needs_no_fallback_algorithm)
{
	uint32_t handed = 0, apart = 0;
	for (int k = 0; k < 4000; k++) {
		struct vclip_result r;
		vec3 place = vec3_scale(random_direction(&rng), rng_range(&rng, 0.3, 3));
		pose at = pose_make(place, random_rotation(&rng));
		struct placing there = placed(&at);
		vclip_distance(round_hull->hull, small_hull->hull, &there, NULL, &r);
		handed += r.handed_over;
		apart += !r.touching;
	}
	ck_assert_uint_gt(apart, 1000);
	ck_assert_uint_gt(4000 - apart, 300);
	ck_assert_uint_eq(handed, 0);
}
END_TEST

START_TEST(exchanging_the_hulls_reverses_the_normal)
{
	for (int k = 0; k < 3000; k++) {
		struct vclip_result r, s;
		vec3 place = vec3_scale(random_direction(&rng), rng_range(&rng, 0.5, 3));
		pose at = pose_make(place, awkward_rotation(&rng)), back = pose_inverse(at);
		struct placing there = placed(&at), here = placed(&back);
		vclip_distance(small_hull->hull, cube->hull, &there, NULL, &r);
		vclip_distance(cube->hull, small_hull->hull, &here, NULL, &s);
		ck_assert(r.touching == s.touching);
		ck_assert_double_eq_tol(r.distance, s.distance, 1e-12);
		if (r.distance < 1e-3)
			continue;
		vec3 turned = vec3_negate(pose_vector(at, s.normal));
		ck_assert_double_le(vec3_distance(turned, r.normal), 1e-8);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/collision/vclip");
	TCase *tcase = tcase_create("vclip");
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, cubes_in_known_poses_have_the_expected_features);
	tcase_add_test(tcase, a_warm_start_takes_few_steps_and_gives_the_same_distance);
	tcase_add_test(tcase, any_start_feature_gives_the_same_distance_and_terminates);
	tcase_add_test(tcase, in_general_positions_the_walk_needs_no_fallback_algorithm);
	tcase_add_test(tcase, exchanging_the_hulls_reverses_the_normal);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
