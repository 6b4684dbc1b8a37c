/* test_gauss_carried.c: bodies that points carry under `gauss`: a brick as nine points and 16 bars moves as
 * a rigid body of three variables (papers ), a triangle as a third of its mass at each midpoint of
 * its edges; and the commands carry and uncarry. */
#include "tests/lib/check_main.h"
#include "tests/lib/frames.h"
#include "tests/lib/near.h"
#include "tests/lib/worlds.h"

#include "server/base/bytes.h"

#include <math.h>

/* m/s²: by how much the acceleration of a point, which was at rest a tick ago, differs from that of its place
 * in a rigid body; `arm` from the mass centre. */
static double acceleration_differs(struct body_view point, struct body_view rigid, vec3 arm)
{
	vec3 place = vec3_add(rigid.velocity, vec3_cross(rigid.angular_velocity, arm));
	return 60 * vec3_distance(point.velocity, place);
}

static double totals_differ(const struct world *a, const struct world *b)
{
	struct world_energy p = world_energy(a), q = world_energy(b);
	return fmax(fmax(fabs(p.kinetic - q.kinetic), fabs(p.potential - q.potential)),
		    fmax(vec3_distance(p.linear, q.linear), vec3_distance(p.angular, q.angular)));
}

/* the accelerations of the first moment, in one solution. */
START_TEST(bricks_of_nine_points_begin_to_fall_as_rigid_ones)
{
	struct world *rigid = frame_world(), *framed = frame_world();
	body_id bricks[2][FRAME_BRICKS_MAX], points[FRAME_BRICKS_MAX][FRAME_POINTS];
	frame_set(rigid, "gauss.rounds", 1);
	frame_set(framed, "gauss.rounds", 1);
	uint32_t count = frame_triangle(rigid, NULL, bricks[0]);
	frame_triangle(framed, points, bricks[1]);
	test_step(rigid, 1);
	test_step(framed, 1);
	test_check(framed);
	ck_assert_double_le(world_stats(framed).residual, 1e-10);
	double most = 0, up = 0;
	for (uint32_t k = 0; k < count; k++) {
		struct body_view body = test_body(rigid, bricks[0][k]);
		for (uint32_t i = 0; i < FRAME_POINTS; i++)
			most = fmax(most,
				    acceleration_differs(test_body(framed, points[k][i]), body,
							 vec3_make(FRAME_PLACES[i % 3],
								   FRAME_PLACES[i / 3], 0)));
		expect_near(test_body(framed, bricks[1][k]).velocity, body.velocity, 1e-12);
		up = fmax(up, body.velocity.y);
	}
	ck_assert_double_gt(up, 1e-3);
	ck_assert_double_le(most, 1e-10);
	ck_assert_double_le(totals_differ(rigid, framed), 1e-10);
	world_destroy(rigid);
	world_destroy(framed);
}
END_TEST

/* m: where the bricks are after half a second at some rate, from the rigid ones at the same rate. */
static double apart_at(uint32_t rate)
{
	vec3 places[2][FRAME_BRICKS_MAX];
	double most = 0;
	uint32_t count = 0;
	for (uint32_t i = 0; i < 2; i++) {
		struct world_options options = test_options(true, "gauss");
		options.rate_num = rate;
		struct world *world = test_world_of(&options);
		frame_set(world, "sleep.enabled", 0);
		for (int k = -4; k <= 4; k++)
			frame_put(world, TEST_POLYGON, vec3_make(k, -0.5, 0), BODY_STATIC, 1);
		body_id bricks[FRAME_BRICKS_MAX], points[FRAME_BRICKS_MAX][FRAME_POINTS];
		count = frame_triangle(world, i == 1 ? points : NULL, bricks);
		for (uint32_t tick = 0; tick < rate / 2; tick++)
			test_step(world, 1);
		for (uint32_t k = 0; k < count; k++)
			places[i][k] = test_body(world, bricks[k]).position;
		struct carrier_view views[FRAME_BRICKS_MAX];
		uint32_t listed;
		ck_assert_int_eq(world_carriers(world, 0, 0, views, FRAME_BRICKS_MAX, &listed),
				 STATUS_OK);
		ck_assert_uint_eq(listed, i == 0 ? 0 : count);
		for (uint32_t k = 0; k < listed; k++) {
			ck_assert_uint_eq(views[k].count, 4);
			ck_assert_double_le(views[k].off, 1e-8);
		}
		ck_assert_double_le(world_stats(world).residual, 1e-10);
		ck_assert_double_le(world_stats(world).penetration_max, 1e-8);
		world_destroy(world);
	}
	for (uint32_t k = 0; k < count; k++)
		most = fmax(most, vec3_distance(places[0][k], places[1][k]));
	return most;
}

/* The fall itself: bars hold to 1e-8 m, nothing overlaps, and both kinds of bricks converge. */
START_TEST(both_kinds_of_bricks_fall_alike_the_more_the_shorter_the_step)
{
	double slow = apart_at(60), fast = apart_at(240);
	ck_assert_double_le(slow, 2e-2);
	ck_assert_double_le(fast, 0.5 * slow);
}
END_TEST

/* A triangle on one of its corners: carried by its midpoints, or (points NULL) rigid with their
 * moments. arms: of the midpoints, from the mass centre. */
static body_id put_triangle(struct world *world, body_id *points, vec3 *arms)
{
	/* Half the square of the catalogue: corners and midpoints in its axes. */
	static const vec3 CORNERS[3] = { { -0.5, -0.5, 0 }, { 0.5, -0.5, 0 }, { 0.5, 0.5, 0 } };
	quat turn = quat_from_rotation_vector(vec3_make(0, 0, 0.3));
	vec3 middles[3], centre = vec3_zero();
	double inertia = 0, lowest = 0;
	for (uint32_t i = 0; i < 3; i++) {
		middles[i] = vec3_lerp(CORNERS[i], CORNERS[(i + 1) % 3], 0.5);
		centre = vec3_mul_add(centre, CORNERS[i], 1.0 / 3);
		lowest = fmin(lowest, quat_rotate(turn, CORNERS[i]).y);
	}
	for (uint32_t i = 0; i < 3; i++)
		inertia += 2.0 / 3 * vec3_length_squared(vec3_sub(middles[i], centre));
	vec3 at = vec3_make(0, 0.1 - lowest, 0); /* its edge is rounded by 0.1 */
	struct attachment item;
	struct command command = test_spawn_command(world, TEST_TRIANGLE, at, &item);
	command.spawn.static_friction = command.spawn.dynamic_friction = 0;
	command.spawn.restitution = 0;
	command.spawn.rotation = turn;
	command.spawn.mass = 2;
	command.spawn.mass_rule = MASS_GIVEN;
	command.spawn.centre = centre;
	command.spawn.inertia = vec3_make(0, 0, inertia);
	body_id triangle = test_do(world, &command);
	for (uint32_t i = 0; i < 3; i++)
		arms[i] = quat_rotate(turn, vec3_sub(middles[i], centre));
	if (points == NULL)
		return triangle;
	for (uint32_t i = 0; i < 3; i++)
		points[i] =
			frame_put(world, TEST_SHAPES, vec3_add(at, quat_rotate(turn, middles[i])),
				  BODY_DYNAMIC, 2.0 / 3);
	for (uint32_t i = 0; i < 3; i++)
		frame_bar(world, points[i], points[(i + 1) % 3]);
	command = frame_carry_command(triangle, points, 3);
	test_do(world, &command);
	return triangle;
}

START_TEST(a_triangle_of_its_midpoints_begins_to_fall_as_a_rigid_one)
{
	struct world *rigid = frame_world(), *framed = frame_world();
	body_id points[3];
	vec3 arms[3];
	frame_set(rigid, "gauss.rounds", 1);
	frame_set(framed, "gauss.rounds", 1);
	body_id triangle = put_triangle(rigid, NULL, arms);
	put_triangle(framed, points, arms);
	test_step(rigid, 1);
	test_step(framed, 1);
	struct body_view body = test_body(rigid, triangle);
	ck_assert_double_gt(fabs(body.angular_velocity.z), 1e-2);
	for (uint32_t i = 0; i < 3; i++)
		ck_assert_double_le(
			acceleration_differs(test_body(framed, points[i]), body, arms[i]), 1e-10);
	ck_assert_double_le(totals_differ(rigid, framed), 1e-10);
	world_destroy(rigid);
	world_destroy(framed);
}
END_TEST

/* Two points tell where a body is, too; the others of its framework follow by their bars. */
START_TEST(two_points_carry_as_four_do)
{
	struct world *world = frame_world();
	frame_set(world, "gauss.rounds", 1);
	body_id points[2][FRAME_POINTS], bricks[2];
	for (uint32_t i = 0; i < 2; i++) {
		double x = i == 0 ? -4 : 4;
		frame_put(world, TEST_POLYGON, vec3_make(x + 0.7, 0.5, 0), BODY_STATIC, 1);
		bricks[i] = frame_brick(world, vec3_make(x, 1.5, 0), points[i]);
	}
	const body_id diagonal[2] = { points[1][2], points[1][6] };
	struct command carry = frame_carry_command(bricks[1], diagonal, 2);
	test_do(world, &carry);
	test_step(world, 1);
	struct body_view four = test_body(world, bricks[0]), two = test_body(world, bricks[1]);
	ck_assert_double_gt(fabs(four.angular_velocity.z), 1e-2);
	expect_near(vec3_scale(four.velocity, 60), vec3_scale(two.velocity, 60), 1e-10);
	expect_near(vec3_scale(four.angular_velocity, 60), vec3_scale(two.angular_velocity, 60),
		    1e-10);
	world_destroy(world);
}
END_TEST

START_TEST(a_fall_of_frameworks_continues_after_a_load)
{
	struct world *world = frame_world(), *loaded;
	body_id bricks[FRAME_BRICKS_MAX], points[FRAME_BRICKS_MAX][FRAME_POINTS];
	frame_triangle(world, points, bricks);
	test_step(world, 20);
	struct bytes image = test_save(world);
	struct reason why;
	ck_assert_int_eq(world_load(image.data, image.count, test_shape_source(), &loaded, &why),
			 STATUS_OK);
	test_check(loaded);
	for (uint32_t i = 0; i < 20; i++) {
		test_step(world, 1);
		test_step(loaded, 1);
		ck_assert_uint_eq(test_hash(world), test_hash(loaded));
	}
	bytes_release(&image);
	world_destroy(loaded);
	world_destroy(world);
}
END_TEST

/* A body that nothing carries any more goes on by its own mass, with the velocity that its points had. */
START_TEST(a_body_that_is_let_go_falls_by_itself)
{
	struct world *world = frame_world();
	body_id points[FRAME_POINTS], brick = frame_brick(world, vec3_make(0, 5, 0), points);
	test_step(world, 10);
	struct body_view before = test_body(world, brick);
	ck_assert_double_lt(before.velocity.y, -1);
	struct command command = test_command(_i == 0 ? COMMAND_UNCARRY : COMMAND_REMOVE);
	if (_i == 0)
		command.uncarry.body = brick;
	else
		command.remove.body = points[6];
	if (_i == 2) {
		command = test_command(COMMAND_SET_STATUS);
		command.set_status.body = points[0];
		command.set_status.status = BODY_STATIC;
	}
	test_do(world, &command);
	test_check(world);
	struct carrier_view view;
	uint32_t count;
	ck_assert_int_eq(world_carriers(world, 0, 0, &view, 1, &count), STATUS_OK);
	ck_assert_uint_eq(count, 0);
	test_step(world, 1);
	struct body_view after = test_body(world, brick);
	ck_assert_double_eq_tol(after.velocity.y, before.velocity.y - 9.81 / 60, 1e-9);
	command = test_command(COMMAND_UNCARRY);
	command.uncarry.body = brick;
	ck_assert_int_eq(test_try(world, &command), STATUS_NOT_CARRIED);
	command = test_command(COMMAND_REMOVE);
	command.remove.body = brick;
	test_do(world, &command);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* A point that a command moves takes the body along. */
START_TEST(a_body_follows_points_that_commands_move)
{
	struct world *world = frame_world();
	body_id points[2],
		brick = frame_put(world, TEST_POLYGON, vec3_make(0, 3, 0), BODY_DYNAMIC, 1);
	for (uint32_t i = 0; i < 2; i++)
		points[i] =
			frame_put(world, TEST_SHAPES, vec3_make(i - 0.5, 3, 0), BODY_DYNAMIC, 0.5);
	struct command command = frame_carry_command(brick, points, 2);
	test_do(world, &command);
	command = test_command(COMMAND_SET_POSE);
	command.set_pose.body = points[1];
	command.set_pose.position = vec3_make(-0.5, 4, 0); /* a quarter turn about the other */
	test_do(world, &command);
	struct body_view body = test_body(world, brick);
	expect_near(body.position, vec3_make(-0.5, 3.5, 0), 1e-12);
	expect_near(quat_rotate(body.rotation, vec3_make(1, 0, 0)), vec3_make(0, 1, 0), 1e-12);
	command = test_command(COMMAND_SET_VELOCITY);
	command.set_velocity.body = points[1];
	command.set_velocity.velocity = vec3_make(-1, 0, 0);
	test_do(world, &command);
	test_step(world, 1);
	test_check(world);
	ck_assert_double_eq_tol(test_body(world, brick).angular_velocity.z, 1, 1e-3);
	ck_assert_double_eq_tol(test_body(world, brick).velocity.x, -0.5, 1e-12);
	world_destroy(world);
}
END_TEST

START_TEST(a_framework_at_rest_sleeps_and_wakes_as_one)
{
	struct world *world = frame_world();
	frame_set(world, "sleep.enabled", 1);
	body_id points[FRAME_POINTS], brick = frame_brick(world, vec3_make(0, 0.5, 0), points);
	test_step(world, 120);
	ck_assert(test_body(world, brick).asleep);
	for (uint32_t i = 0; i < FRAME_POINTS; i++)
		ck_assert(test_body(world, points[i]).asleep);
	struct command push = test_command(COMMAND_IMPULSE);
	push.impulse.body = points[0];
	push.impulse.impulse = vec3_make(1, 0, 0);
	test_do(world, &push);
	ck_assert(!test_body(world, brick).asleep && !test_body(world, points[8]).asleep);
	test_step(world, 1);
	ck_assert_double_eq_tol(test_body(world, brick).velocity.x, 1, 1e-9);
	test_check(world);
	world_destroy(world);
}
END_TEST

static enum status try_carry(struct world *world, body_id body, body_id a, body_id b, body_id c)
{
	const body_id points[3] = { a, b, c };
	struct command carry = frame_carry_command(body, points, 3);
	return test_try(world, &carry);
}

START_TEST(what_cannot_be_carried_is_refused_by_name)
{
	struct world *world = frame_world();
	body_id points[FRAME_POINTS], brick = frame_brick(world, vec3_make(0, 3, 0), points);
	body_id lone = frame_put(world, TEST_POLYGON, vec3_make(4, 3, 0), BODY_DYNAMIC, 1);
	body_id wall = frame_put(world, TEST_POLYGON, vec3_make(8, 3, 0), BODY_STATIC, 1);
	body_id twin = frame_put(world, TEST_SHAPES, vec3_make(0, 5, 0), BODY_DYNAMIC, 1);
	body_id same = frame_put(world, TEST_SHAPES, vec3_make(0, 5, 0), BODY_DYNAMIC, 1);
	ck_assert_int_eq(try_carry(world, lone, lone, twin, 0), STATUS_RANGE);
	ck_assert_int_eq(try_carry(world, lone, twin, twin, 0), STATUS_EXISTS);
	ck_assert_int_eq(try_carry(world, lone, twin, same, 0), STATUS_DEGENERATE);
	ck_assert_int_eq(try_carry(world, lone, twin, wall, 0), STATUS_STATUS_WRONG);
	ck_assert_int_eq(try_carry(world, wall, twin, points[0], 0), STATUS_STATUS_WRONG);
	ck_assert_int_eq(try_carry(world, lone, twin, brick, 0), STATUS_CARRIED);
	ck_assert_int_eq(try_carry(world, points[0], twin, lone, 0), STATUS_CARRIED);
	ck_assert_int_eq(try_carry(world, 999, twin, lone, 0), STATUS_UNKNOWN_BODY);
	ck_assert_int_eq(try_carry(world, lone, twin, 999, 0), STATUS_UNKNOWN_BODY);
	frame_bar(world, lone, twin);
	ck_assert_int_eq(try_carry(world, lone, points[0], points[2], 0), STATUS_IN_USE);
	struct command command = test_command(COMMAND_SET_POSE);
	command.set_pose.body = brick;
	ck_assert_int_eq(test_try(world, &command), STATUS_CARRIED);
	command = test_command(COMMAND_SET_VELOCITY);
	command.set_velocity.body = brick;
	ck_assert_int_eq(test_try(world, &command), STATUS_CARRIED);
	command = test_command(COMMAND_FORCE);
	command.force.body = brick;
	ck_assert_int_eq(test_try(world, &command), STATUS_CARRIED);
	command = test_command(COMMAND_SET_STATUS);
	command.set_status.body = brick;
	command.set_status.status = BODY_STATIC;
	ck_assert_int_eq(test_try(world, &command), STATUS_CARRIED);
	command = test_command(COMMAND_JOINT_CREATE);
	command.joint_create.type = JOINT_DISTANCE;
	command.joint_create.body_a = brick;
	command.joint_create.body_b = wall;
	ck_assert_int_eq(test_try(world, &command), STATUS_CARRIED);
	struct reason why;
	ck_assert_int_eq(world_supports(world, "lcp", &why), STATUS_METHOD_REFUSES);
	test_check(world);
	world_destroy(world);
	world = test_world(true, "lcp");
	ck_assert_int_eq(try_carry(world, test_spawn(world, TEST_POLYGON, vec3_zero()),
				   test_spawn(world, TEST_SHAPES, vec3_zero()),
				   test_spawn(world, TEST_SHAPES, vec3_make(1, 0, 0)), 0),
			 STATUS_METHOD_REFUSES);
	world_destroy(world);
	world = test_world(false, "gauss");
	const vec3 at = { 0, 0, 0 };
	body_id box = frame_put(world, TEST_BOX, at, BODY_DYNAMIC, 1);
	ck_assert_int_eq(try_carry(world, box, box, box, 0), STATUS_PLANAR);
	world_destroy(world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("gauss_carried");
	TCase *tcase = tcase_create("gauss_carried");
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, bricks_of_nine_points_begin_to_fall_as_rigid_ones);
	tcase_add_test(tcase, both_kinds_of_bricks_fall_alike_the_more_the_shorter_the_step);
	tcase_add_test(tcase, a_triangle_of_its_midpoints_begins_to_fall_as_a_rigid_one);
	tcase_add_test(tcase, two_points_carry_as_four_do);
	tcase_add_test(tcase, a_fall_of_frameworks_continues_after_a_load);
	tcase_add_loop_test(tcase, a_body_that_is_let_go_falls_by_itself, 0, 3);
	tcase_add_test(tcase, a_body_follows_points_that_commands_move);
	tcase_add_test(tcase, a_framework_at_rest_sleeps_and_wakes_as_one);
	tcase_add_test(tcase, what_cannot_be_carried_is_refused_by_name);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
