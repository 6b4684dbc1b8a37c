/* GJK (spec 4.10, G1…G4) against brute force over all pairs of features. */
#include "server/engine/collision/gjk.h"

#include "tests/lib/check_main.h"
#include "tests/lib/oracle_collision.h"
#include "tests/lib/poses.h"
#include "tests/lib/shapes.h"

static struct rng rng;

static void set_up(void)
{
	rng = rng_seeded(check_seed());
}

static struct shape *random_hull(uint32_t count, double size)
{
	vec3 points[256];
	for (uint32_t k = 0; k < count; k++)
		points[k] = vec3_scale(random_direction(&rng), rng_range(&rng, 0.8, 1) * size);
	return make_hull(points, count);
}

static void nearest(const struct shape *a, const struct shape *b, const pose *at,
		    const struct gjk_simplex *start, struct gjk_result *out)
{
	struct gjk_points room_a, room_b;
	struct gjk_core core_a = gjk_core_of(a, 0, &room_a), core_b = gjk_core_of(b, 0, &room_b);
	mat3 rotation = mat3_from_quat(at->rotation);
	gjk_distance(&core_a, &core_b, &rotation, at->position, start, out);
}

START_TEST(the_distance_agrees_with_all_pairs_of_features)
{
	struct shape *shapes[5] = { make_box(0.5, 0.3, 0.8), random_hull(5, 0.8),
				    random_hull(12, 0.8), random_hull(30, 0.8),
				    random_hull(120, 0.8) };
	uint32_t most = 0;
	for (int k = 0; k < 3000; k++) {
		uint32_t i = rng_below(&rng, k % 50 == 0 ? 5 : 3), j = rng_below(&rng, 4);
		const struct shape *a = shapes[i], *b = shapes[j];
		struct gjk_result r;
		pose at = pose_make(vec3_scale(random_direction(&rng), rng_range(&rng, 0.2, 2.5)),
				    awkward_rotation(&rng));
		nearest(a, b, &at, NULL, &r);
		double wanted = oracle_distance(a->hull, b->hull, &at);
		ck_assert_double_eq_tol(r.distance, wanted, 1e-9);
		ck_assert(r.touching == (wanted < 1e-10));
		most = MAX_OF(most, r.iterations);
	}
	ck_assert_uint_le(most, 30);
	for (int k = 0; k < 5; k++)
		shape_release(shapes[k]);
}
END_TEST

START_TEST(nearest_points_lie_in_their_pieces_at_the_reported_distance)
{
	struct shape *a = random_hull(20, 0.8), *b = random_hull(60, 0.5);
	for (int k = 0; k < 2000; k++) {
		struct gjk_result r;
		pose at = pose_make(vec3_scale(random_direction(&rng), rng_range(&rng, 0.2, 3)),
				    random_rotation(&rng));
		nearest(a, b, &at, NULL, &r);
		vec3 apart = vec3_sub(r.point_b, r.point_a);
		ck_assert_double_eq_tol(vec3_length(apart), r.distance, 1e-10);
		ck_assert_double_le(oracle_point_distance(a->hull, r.point_a), 1e-12);
		vec3 in_b = pose_inverse_point(at, r.point_b);
		ck_assert_double_le(oracle_point_distance(b->hull, in_b), 1e-12);
		if (r.touching)
			continue;
		/* The certificate: lower ≤ distance, and the normal separates the pieces by
		 * `lower`. */
		ck_assert_double_le(r.lower, r.distance);
		ck_assert_double_ge(r.lower, r.distance * (1 - 1e-9));
		ck_assert_double_ge(oracle_separation(a->hull, b->hull, &at, r.normal),
				    r.lower * (1 - 1e-9));
	}
	shape_release(a);
	shape_release(b);
}
END_TEST

START_TEST(exchanging_the_pieces_reverses_the_normal)
{
	struct shape *a = random_hull(20, 0.8), *b = make_box(0.2, 0.7, 0.4);
	for (int k = 0; k < 2000; k++) {
		struct gjk_result r, s;
		pose at = pose_make(vec3_scale(random_direction(&rng), rng_range(&rng, 0.5, 3)),
				    awkward_rotation(&rng));
		pose back = pose_inverse(at);
		nearest(a, b, &at, NULL, &r);
		nearest(b, a, &back, NULL, &s);
		ck_assert(r.touching == s.touching);
		ck_assert_double_eq_tol(r.distance, s.distance, 1e-10);
		if (r.distance < 1e-3)
			continue;
		vec3 turned = vec3_negate(pose_vector(at, s.normal));
		ck_assert_double_le(vec3_distance(turned, r.normal), 1e-8);
	}
	shape_release(a);
	shape_release(b);
}
END_TEST

START_TEST(moving_both_pieces_together_changes_nothing)
{
	struct shape *a = random_hull(20, 0.8), *b = random_hull(14, 0.8);
	for (int k = 0; k < 1000; k++) {
		struct gjk_result r, s;
		pose pa = pose_make(random_vector(&rng, 1), random_rotation(&rng));
		pose pb = pose_make(random_vector(&rng, 3), random_rotation(&rng));
		pose all = pose_make(random_vector(&rng, 100), random_rotation(&rng));
		pose one = pose_relative(pa, pb);
		pose two = pose_relative(pose_mul(all, pa), pose_mul(all, pb));
		nearest(a, b, &one, NULL, &r);
		nearest(a, b, &two, NULL, &s);
		ck_assert_double_eq_tol(r.distance, s.distance, 1e-10);
	}
	shape_release(a);
	shape_release(b);
}
END_TEST

START_TEST(a_warm_start_gives_the_same_distance_in_fewer_rounds)
{
	struct shape *a = random_hull(30, 0.8), *b = random_hull(100, 0.8);
	uint64_t cold = 0, warm = 0;
	for (int k = 0; k < 1000; k++) {
		struct gjk_result r, s, wild;
		pose at = pose_make(vec3_scale(random_direction(&rng), rng_range(&rng, 1.7, 3)),
				    random_rotation(&rng));
		nearest(a, b, &at, NULL, &r);
		at.position = vec3_add(at.position, random_vector(&rng, 1e-3));
		nearest(a, b, &at, &r.simplex, &s);
		nearest(a, b, &at, NULL, &r);
		struct gjk_simplex nonsense = { 3, { 7, 7, 60000 }, { 3, 3, 1 } };
		nearest(a, b, &at, &nonsense, &wild);
		ck_assert_double_eq_tol(r.distance, s.distance, 1e-11);
		ck_assert_double_eq_tol(r.distance, wild.distance, 1e-11);
		cold += r.iterations;
		warm += s.iterations;
	}
	ck_assert_uint_lt(warm, cold);
	shape_release(a);
	shape_release(b);
}
END_TEST

START_TEST(known_cube_distances_are_reproduced)
{
	struct shape *cube = make_box(0.5, 0.5, 0.5), *sphere = make_sphere(0.25);
	struct shape *capsule = make_capsule(1, 0.1);
	struct gjk_result r;
	pose at = pose_make(vec3_make(3, 0, 0), quat_identity());
	nearest(cube, cube, &at, NULL, &r);
	ck_assert_double_eq_tol(r.distance, 2, 1e-12);
	at.position = vec3_make(2, 2, 0);
	nearest(cube, cube, &at, NULL, &r);
	ck_assert_double_eq_tol(r.distance, 1.41421356237309505, 1e-12);
	at.position = vec3_make(2, 2, 2);
	nearest(cube, cube, &at, NULL, &r);
	ck_assert_double_eq_tol(r.distance, 1.73205080756887729, 1e-12);
	nearest(cube, sphere, &at, NULL, &r);
	ck_assert_double_eq_tol(r.distance, 1.5 * 1.73205080756887729, 1e-12);
	at.position = vec3_make(2, 0.2, 0.1);
	nearest(cube, capsule, &at, NULL, &r);
	ck_assert_double_eq_tol(r.distance, 1.5, 1e-12);
	at.position = vec3_make(1, 0, 0); /* face on face */
	nearest(cube, cube, &at, NULL, &r);
	ck_assert(r.touching);
	ck_assert_double_eq(r.distance, 0);
	shape_release(cube);
	shape_release(sphere);
	shape_release(capsule);
}
END_TEST

START_TEST(nearly_touching_pieces_get_their_tiny_distance)
{
	struct shape *cube = make_box(0.5, 0.5, 0.5), *hull = random_hull(40, 1);
	for (double gap = 1e-2; gap > 1e-8; gap *= 0.3) {
		for (int k = 0; k < 50; k++) {
			struct gjk_result r;
			quat turn = random_rotation(&rng);
			/* Raise the hull until its lowest vertex is `gap` above the cube's top. */
			double low = SCALAR_MAX;
			vec3 at = { 0, 0, 0 };
			for (uint32_t i = 0; i < hull->hull->vertex_count; i++) {
				vec3 p = quat_rotate(turn, hull->hull->vertices[i]);
				if (p.y < low) {
					low = p.y;
					at = vec3_make(-p.x, 0, -p.z);
				}
			}
			at.y = 0.5 + gap - low;
			pose lifted = pose_make(at, turn);
			nearest(cube, hull, &lifted, NULL, &r);
			ck_assert_double_eq_tol(r.distance, gap, 1e-12 + 1e-6 * gap);
			ck_assert_double_ge(r.normal.y, 1 - 1e-9);
		}
	}
	shape_release(cube);
	shape_release(hull);
}
END_TEST

/* Hulls almost in contact, found by random search: the last simplex is so flat that from a cold
 * start rounding puts the origin into it. */
START_TEST(a_flat_simplex_is_not_taken_for_touching)
{
	for (uint64_t seed = 1; seed <= 7; seed++) {
		vec3 points[24];
		rng = rng_seeded(seed);
		for (int k = 0; k < 24; k++) {
			double size = rng_range(&rng, 0.4, 0.8);
			points[k] = vec3_scale(random_direction(&rng), size);
		}
		struct shape *hull = make_hull(points, 24), *box = make_box(0.7, 0.2, 0.4);
		struct gjk_result r;
		pose at = pose_make(vec3_make(-0x1.46dddb679cb08p-1, -0x1.0dd8512c0b35ep-1,
					      0x1.6443b68bb0dap-3),
				    quat_make(-0x1.7a8b8e5c2f408p-1, 0x1.dec5d93c49ca9p-3,
					      0x1.f8ef1a01a94d6p-3, 0x1.29a265c420917p-1));
		nearest(hull, box, &at, NULL, &r);
		double wanted = oracle_distance(hull->hull, box->hull, &at);
		ck_assert_double_eq_tol(r.distance, wanted, 1e-12);
		ck_assert(r.touching == (wanted == 0));
		if (seed == 7)
			ck_assert_double_eq_tol(r.distance, 6.69075e-07, 1e-12);
		shape_release(hull);
		shape_release(box);
	}
}
END_TEST

/* Gaps down to the rounding of the vertices: both bounds converge, and separated pieces are
 * reported apart. */
START_TEST(the_bounds_converge_at_every_gap)
{
	struct shape *a = random_hull(20, 0.8), *b = make_box(0.5, 0.3, 0.8);
	uint32_t handed = 0;
	for (int k = 0; k < 3000; k++) {
		struct gjk_result r;
		double gap = 0.01;
		for (uint32_t m = rng_below(&rng, 12); m > 0; m--)
			gap *= 0.1;
		pose at = pose_make(vec3_scale(random_direction(&rng), 3), awkward_rotation(&rng));
		nearest(a, b, &at, NULL, &r);
		at.position = vec3_mul_sub(at.position, r.normal, r.distance - gap);
		nearest(a, b, &at, NULL, &r);
		ck_assert(!r.touching);
		ck_assert_double_eq_tol(r.distance, gap, 1e-14);
		ck_assert_double_le(r.distance - r.lower, 5e-14 + 1e-12 * gap);
		ck_assert_double_ge(oracle_separation(a->hull, b->hull, &at, r.normal),
				    r.lower - 3e-14);
		handed += r.handed_over;
	}
	ck_assert_uint_gt(handed, 0);
	ck_assert_uint_lt(handed, 1500);
	shape_release(a);
	shape_release(b);
}
END_TEST

START_TEST(the_gap_test_agrees_with_the_distance)
{
	struct shape *a = random_hull(20, 0.8), *b = random_hull(60, 0.5);
	struct gjk_points room;
	struct gjk_core core_a = gjk_core_of(a, 0, &room), core_b = gjk_core_of(b, 0, &room);
	uint32_t apart = 0;
	for (int k = 0; k < 3000; k++) {
		struct gjk_result r;
		pose at = pose_make(vec3_scale(random_direction(&rng), rng_range(&rng, 0.2, 3)),
				    awkward_rotation(&rng));
		mat3 rotation = mat3_from_quat(at.rotation);
		nearest(a, b, &at, NULL, &r);
		double gap = k % 3 == 0 ? 0 : r.distance * rng_range(&rng, 0.8, 1.2);
		bool wanted = r.distance > gap;
		ck_assert(gjk_apart_by(&core_a, &core_b, &rotation, at.position, gap, NULL) ==
			  wanted);
		ck_assert(gjk_apart_by(&core_a, &core_b, &rotation, at.position, gap, &r.simplex) ==
			  wanted);
		apart += wanted;
	}
	ck_assert_uint_gt(apart, 1000);
	ck_assert_uint_lt(apart, 2500);
	shape_release(a);
	shape_release(b);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/collision/gjk");
	TCase *tcase = tcase_create("gjk");
	tcase_add_checked_fixture(tcase, set_up, NULL);
	tcase_add_test(tcase, the_distance_agrees_with_all_pairs_of_features);
	tcase_add_test(tcase, nearest_points_lie_in_their_pieces_at_the_reported_distance);
	tcase_add_test(tcase, exchanging_the_pieces_reverses_the_normal);
	tcase_add_test(tcase, moving_both_pieces_together_changes_nothing);
	tcase_add_test(tcase, a_warm_start_gives_the_same_distance_in_fewer_rounds);
	tcase_add_test(tcase, known_cube_distances_are_reproduced);
	tcase_add_test(tcase, nearly_touching_pieces_get_their_tiny_distance);
	tcase_add_test(tcase, a_flat_simplex_is_not_taken_for_touching);
	tcase_add_test(tcase, the_bounds_converge_at_every_gap);
	tcase_add_test(tcase, the_gap_test_agrees_with_the_distance);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
