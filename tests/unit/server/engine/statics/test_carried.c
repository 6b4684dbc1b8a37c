/* Stability of bodies that points carry, and of frameworks of points and bars (papers,
 * the answer of the same bodies as rigid ones. */
#include <math.h>

#include "tests/lib/check_main.h"
#include "tests/lib/frames.h"
#include "tests/lib/near.h"

static const struct stability_query PLAIN = { .sides = 8, .touch = 1e-2, .direction = { 1, 0, 0 } };

static struct stability_motion motion_of(const struct stability_view *view, body_id body)
{
	for (uint32_t i = 0; i < view->bodies; i++)
		if (view->motions[i].body == body)
			return view->motions[i];
	ck_abort_msg("body %u is not in the answer", body);
}

/* Every contact of the rigid answer has its like: place, force, and whether it breaks. */
static void expect_same_contacts(const struct stability_view *rigid,
				 const struct stability_view *framed)
{
	ck_assert_uint_eq(rigid->points, framed->points);
	for (uint32_t i = 0; i < rigid->points; i++) {
		const struct stability_contact *a = &rigid->contacts[i], *b = &framed->contacts[i];
		expect_near(a->point, b->point, 1e-12);
		expect_near(a->normal, b->normal, 1e-12);
		expect_near(a->parting, b->parting, 1e-9);
		ck_assert_double_le(fabs(a->normal_force - b->normal_force), 1e-9);
		ck_assert_int_eq(a->breaks, b->breaks);
	}
}

/* */
START_TEST(towers_that_points_carry_have_the_answer_of_rigid_ones)
{
	struct world *rigid = frame_world(), *framed = frame_world();
	body_id bricks[2][FRAME_BRICKS_MAX], points[FRAME_BRICKS_MAX][FRAME_POINTS];
	uint32_t count = frame_triangle(rigid, NULL, bricks[0]);
	frame_triangle(framed, points, bricks[1]);
	struct stability_view a = test_stability(rigid, PLAIN), b = test_stability(framed, PLAIN);
	ck_assert_int_eq(a.verdict, STABILITY_FALLS);
	ck_assert_int_eq(b.verdict, STABILITY_FALLS);
	ck_assert_uint_eq(b.bodies, count * (1 + FRAME_POINTS));
	expect_same_contacts(&a, &b);
	double most = 0;
	for (uint32_t k = 0; k < count; k++) {
		struct stability_motion body = motion_of(&a, bricks[0][k]);
		struct stability_motion carried = motion_of(&b, bricks[1][k]);
		expect_near(carried.acceleration, body.acceleration, 1e-9);
		expect_near(carried.angular, body.angular, 1e-9);
		for (uint32_t i = 0; i < FRAME_POINTS; i++) {
			vec3 arm = vec3_make(FRAME_PLACES[i % 3], FRAME_PLACES[i / 3], 0);
			vec3 expected = vec3_add(body.acceleration, vec3_cross(body.angular, arm));
			vec3 found = motion_of(&b, points[k][i]).acceleration;
			expect_near(found, expected, 1e-9);
			most = fmax(most, vec3_length(expected));
		}
	}
	ck_assert_double_gt(most, 1);
	stability_view_release(&a);
	stability_view_release(&b);
	world_destroy(rigid);
	world_destroy(framed);
}
END_TEST

/* A slab of 10 kg whose centre is 0.4 from that of the brick below, and a brick at 0.8 on it; a brick of 1 kg
 * against a stop of a quarter of its height. Returns the ids of the upper one and the stopped one. */
static struct world *margins_world(bool framed, body_id *upper, body_id *stopped)
{
	struct world *world = frame_world();
	body_id points[3][FRAME_POINTS];
	frame_brick(world, vec3_make(0, 0.5, 0), framed ? points[0] : NULL);
	frame_put(world, TEST_POLYGON, vec3_make(0.4, 1.5, 0), BODY_DYNAMIC, 10);
	*upper = frame_brick(world, vec3_make(0.8, 2.5, 0), framed ? points[1] : NULL);
	*stopped = frame_brick(world, vec3_make(5.2, 0.5, 0), framed ? points[2] : NULL);
	frame_put(world, TEST_POLYGON, vec3_make(6.2, -0.25, 0), BODY_STATIC, 1);
	return world;
}

/* a load tips the slab at 0.3 P = 10 · 0.1 − 0.3 weights, a push the brick over its stop at
 * twice its weight. */
START_TEST(loads_and_pushes_on_carried_bodies_have_the_margins_of_rigid_ones)
{
	bool framed = _i == 1;
	body_id upper, stopped;
	struct world *world = margins_world(framed, &upper, &stopped);
	struct stability_query query = PLAIN;
	query.margin = STABILITY_LOAD;
	query.body = upper;
	struct stability_view view = test_stability(world, query);
	ck_assert_int_eq(view.verdict, STABILITY_STANDS);
	double load = 9.81 * 0.7 / 0.3, push = 2 * 9.81;
	ck_assert_double_le(fabs(view.lower - load), 2e-6 * load);
	ck_assert_double_le(fabs(view.upper - load), 2e-6 * load);
	stability_view_release(&view);
	query.margin = STABILITY_PUSH;
	query.body = stopped;
	view = test_stability(world, query);
	ck_assert_double_le(fabs(view.lower - push), 2e-6 * push);
	ck_assert_double_le(fabs(view.upper - push), 2e-6 * push);
	stability_view_release(&view);
	world_destroy(world);
}
END_TEST

/* A second brick shares a point with the one below: rows of their contact have it on both sides. */
START_TEST(bodies_may_share_a_point)
{
	struct world *world = frame_world();
	body_id points[FRAME_POINTS];
	frame_brick(world, vec3_make(0, 0.5, 0), points);
	body_id upper = frame_put(world, TEST_POLYGON, vec3_make(0, 1.5, 0), BODY_DYNAMIC, 1);
	body_id own = frame_put(world, TEST_SHAPES, vec3_make(0.5, 2, 0), BODY_DYNAMIC, 1);
	frame_bar(world, points[6], own);
	const body_id two[2] = { points[6], own };
	struct command carry = frame_carry_command(upper, two, 2);
	test_do(world, &carry);
	struct stability_view view = test_stability(world, PLAIN);
	double floor = 0, right = 0;
	ck_assert_int_eq(view.verdict, STABILITY_STANDS);
	for (uint32_t i = 0; i < view.points; i++) {
		vec3 at = view.contacts[i].point;
		floor += at.y < 0.5 ? view.contacts[i].normal_force : 0;
		right += at.y > 0.5 && at.x > 0 ? view.contacts[i].normal_force : 0;
	}
	/* The upper one hangs at the shared point on its left, and its own kilogram is at its right end. */
	ck_assert_double_le(fabs(floor - 2 * 9.81), 1e-8);
	ck_assert_double_le(fabs(right - 9.81), 1e-8);
	stability_view_release(&view);
	world_destroy(world);
}
END_TEST

/* Its parts are answered apart: the brick in the air falls freely, the tower stands. */
START_TEST(a_falling_framework_leaves_another_at_rest)
{
	struct world *world = frame_world();
	body_id points[2][FRAME_POINTS], bricks[2];
	bricks[0] = frame_brick(world, vec3_make(0, 0.5, 0), points[0]);
	bricks[1] = frame_brick(world, vec3_make(4, 2.5, 0), points[1]);
	struct stability_view view = test_stability(world, PLAIN);
	ck_assert_int_eq(view.verdict, STABILITY_FALLS);
	for (uint32_t i = 0; i < 2; i++) {
		vec3 expected = vec3_make(0, i == 0 ? 0 : -9.81, 0);
		expect_near(motion_of(&view, bricks[i]).acceleration, expected, 1e-10);
		for (uint32_t k = 0; k < FRAME_POINTS; k++)
			expect_near(motion_of(&view, points[i][k]).acceleration, expected, 1e-10);
	}
	stability_view_release(&view);
	world_destroy(world);
}
END_TEST

static void pin(struct world *world, body_id body)
{
	struct command joint = test_command(COMMAND_JOINT_CREATE);
	joint.joint_create.type = JOINT_SPHERICAL;
	joint.joint_create.body_a = body;
	joint.joint_create.point_b = test_body(world, body).position;
	test_do(world, &joint);
}

/* A square of four points and bars on two pins stands; pushed, only if it has a diagonal. */
START_TEST(a_frame_of_bars_resists_a_push_by_its_diagonal)
{
	bool braced = _i == 1;
	struct world *world = frame_world();
	body_id points[4];
	for (uint32_t i = 0; i < 4; i++)
		points[i] = frame_put(world, TEST_SHAPES, vec3_make(i % 2, 3.0 + i / 2, 0),
				      BODY_DYNAMIC, 1);
	pin(world, points[0]);
	pin(world, points[1]);
	frame_bar(world, points[0], points[2]);
	frame_bar(world, points[1], points[3]);
	frame_bar(world, points[2], points[3]);
	if (braced)
		frame_bar(world, points[0], points[3]);
	struct stability_query query = PLAIN;
	query.margin = STABILITY_PUSH;
	query.body = points[2];
	struct stability_view view = test_stability(world, query);
	ck_assert_int_eq(view.verdict, STABILITY_STANDS);
	ck_assert_uint_eq(view.points, 0);
	if (braced)
		ck_assert(isinf(view.lower) && isinf(view.upper));
	else
		ck_assert_double_le(view.upper, 1e-9);
	stability_view_release(&view);
	world_destroy(world);
}
END_TEST

static struct stability_joint joint_of(const struct stability_view *view, joint_id joint)
{
	for (uint32_t i = 0; i < view->joints; i++)
		if (view->loaded[i].joint == joint)
			return view->loaded[i];
	ck_abort_msg("joint %u is not in the answer", joint);
}

/* Two bars at 45 degrees hold a point of 2 kg, on which a third hangs one of 1 kg. */
START_TEST(bars_have_the_forces_of_their_equilibrium)
{
	struct world *world = frame_world();
	body_id points[4];
	static const vec3 PLACES[4] = { { -1, 6, 0 }, { 1, 6, 0 }, { 0, 5, 0 }, { 0, 3, 0 } };
	for (uint32_t i = 0; i < 4; i++)
		points[i] = frame_put(world, TEST_SHAPES, PLACES[i], BODY_DYNAMIC, i == 2 ? 2 : 1);
	pin(world, points[0]);
	pin(world, points[1]);
	frame_bar(world, points[0], points[2]);
	frame_bar(world, points[1], points[2]);
	frame_bar(world, points[2], points[3]);
	struct stability_view view = test_stability(world, PLAIN);
	ck_assert_int_eq(view.verdict, STABILITY_STANDS);
	ck_assert_uint_eq(view.joints, 5);
	const double half = 1.5 * 9.81;
	/* On b, the world of the pins and the lower end of each bar, at the anchor there. */
	const vec3 forces[5] = { { half, -half - 9.81, 0 },
				 { -half, -half - 9.81, 0 },
				 { -half, half, 0 },
				 { half, half, 0 },
				 { 0, 9.81, 0 } };
	for (uint32_t i = 0; i < 5; i++) {
		struct stability_joint joint = joint_of(&view, i + 1);
		expect_near(joint.force, forces[i], 1e-9);
		expect_near(joint.torque, vec3_zero(), 1e-9);
		expect_near(joint.point, PLACES[i < 2 ? i : i < 4 ? 2 : 3], 1e-12);
	}
	stability_view_release(&view);
	world_destroy(world);
}
END_TEST

/* A cube of 3 kg welded to the world half a metre beside its centre: its weight, and the moment
 * about the anchor. */
START_TEST(a_weld_bears_a_moment)
{
	struct world *world = frame_world();
	body_id body = frame_put(world, TEST_POLYGON, vec3_make(2, 5, 0), BODY_DYNAMIC, 3);
	struct command weld = test_command(COMMAND_JOINT_CREATE);
	weld.joint_create.type = JOINT_FIXED;
	weld.joint_create.body_b = body;
	weld.joint_create.place = 1;
	weld.joint_create.point_a = weld.joint_create.point_b = vec3_make(1.5, 5, 0);
	joint_id id = test_do(world, &weld);
	struct stability_view view = test_stability(world, PLAIN);
	struct stability_joint joint = joint_of(&view, id);
	ck_assert_int_eq(view.verdict, STABILITY_STANDS);
	expect_near(joint.force, vec3_make(0, 3 * 9.81, 0), 1e-9);
	expect_near(joint.torque, vec3_make(0, 0, 3 * 9.81 * 0.5), 1e-9);
	stability_view_release(&view);
	world_destroy(world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("carried");
	TCase *tcase = tcase_create("carried");
	tcase_add_test(tcase, towers_that_points_carry_have_the_answer_of_rigid_ones);
	tcase_add_loop_test(
		tcase, loads_and_pushes_on_carried_bodies_have_the_margins_of_rigid_ones, 0, 2);
	tcase_add_test(tcase, bodies_may_share_a_point);
	tcase_add_test(tcase, a_falling_framework_leaves_another_at_rest);
	tcase_add_loop_test(tcase, a_frame_of_bars_resists_a_push_by_its_diagonal, 0, 2);
	tcase_add_test(tcase, bars_have_the_forces_of_their_equilibrium);
	tcase_add_test(tcase, a_weld_bears_a_moment);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
