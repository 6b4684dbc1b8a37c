/* The rows of the checklists about a whole world, under `impact`, by commands as a user gives them:
 * status, bounds, reports, forces at points, drag, contacts and collisions, clusters, a floor that
 * turns. METHODS.md has their names; the rows of single bodies and contacts
 * are in test_impact_book. */
#include "server/engine/math/scalar.h"
#include "tests/lib/near.h"
#include "tests/lib/worlds.h"

#include <math.h>

#define GRAVITY 9.81

static body_id spawn_ball(struct world *world, uint8_t status, vec3 at, vec3 velocity,
			  double restitution)
{
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_SPHERE, at, &item);
	spawn.spawn.status = status;
	spawn.spawn.velocity = velocity;
	spawn.spawn.mass = 1;
	spawn.spawn.restitution = restitution;
	spawn.spawn.static_friction = spawn.spawn.dynamic_friction = 0;
	spawn.spawn.flags = 0;
	return test_do(world, &spawn);
}

static struct world *calm_world(void)
{
	struct world *world = test_world(false, "impact");
	test_no_gravity(world);
	return world;
}

static void set_parameter(struct world *world, const char *key, double value)
{
	struct command command = test_command(COMMAND_PARAMETER);
	command.parameter.name = test_text(key);
	command.parameter.value = value;
	test_do(world, &command);
}

/* ch1-3 A-05: only dynamic bodies fall, an animated one keeps its velocity and pushes others. */
START_TEST(each_status_moves_as_it_says)
{
	struct world *world = test_world(false, "impact");
	struct body_view begin[4], end[4];
	body_id ids[4];
	for (uint8_t status = BODY_INACTIVE; status <= BODY_ANIMATED; status++) {
		bool moves = status == BODY_ANIMATED;
		ids[status] = spawn_ball(world, status, vec3_make(5.0 * status, 50, 0),
					 moves ? vec3_make(1, 0, 0) : vec3_zero(), 0);
		begin[status] = test_body(world, ids[status]);
	}
	test_step(world, 60);
	for (uint32_t i = 0; i < 4; i++)
		end[i] = test_body(world, ids[i]);
	for (uint32_t i = BODY_INACTIVE; i <= BODY_STATIC; i++)
		ck_assert(vec3_equal(begin[i].position, end[i].position) &&
			  quat_equal(begin[i].rotation, end[i].rotation));
	expect_near(end[BODY_DYNAMIC].velocity, vec3_make(0, -GRAVITY, 0), 1e-12);
	expect_near(end[BODY_ANIMATED].position, vec3_make(16, 50, 0), 1e-12);
	world_destroy(world);
	world = calm_world();
	body_id pusher = spawn_ball(world, BODY_ANIMATED, vec3_zero(), vec3_make(1, 0, 0), 0);
	body_id pushed = spawn_ball(world, BODY_DYNAMIC, vec3_make(1.5, 0, 0), vec3_zero(), 0);
	test_step(world, 120);
	expect_near(test_body(world, pusher).position, vec3_make(2, 0, 0), 1e-12);
	expect_near(test_body(world, pushed).velocity, vec3_make(1, 0, 0), 1e-9);
	ck_assert_double_ge(test_body(world, pushed).position.x, 3 - 1e-6);
	world_destroy(world);
}
END_TEST

static void set_bounds(struct world *world, uint8_t mode)
{
	struct command bounds = test_command(COMMAND_BOUNDS);
	bounds.bounds.mode = mode;
	bounds.bounds.minimum = vec3_all(-5);
	bounds.bounds.maximum = vec3_all(5);
	test_do(world, &bounds);
}

/* ch1-3 A-06: 10 m/s from the middle reach the bound after 0.5 s, and walls with e = 1 send back. */
START_TEST(a_body_ends_or_returns_at_the_bounds)
{
	struct world *world = calm_world();
	set_bounds(world, BOUNDS_INACTIVE);
	body_id ball = spawn_ball(world, BODY_DYNAMIC, vec3_zero(), vec3_make(10, 0, 0), 1);
	uint32_t tick = 0;
	while (test_body(world, ball).status == BODY_DYNAMIC && tick < 100) {
		test_step(world, 1);
		tick++;
	}
	ck_assert_uint_ge(tick, 30);
	ck_assert_uint_le(tick, 31);
	struct body_view left = test_body(world, ball);
	test_step(world, 30);
	ck_assert(left.status == BODY_INACTIVE);
	ck_assert(vec3_equal(test_body(world, ball).position, left.position));
	world_destroy(world);
	world = calm_world();
	set_bounds(world, BOUNDS_WALLS);
	ball = spawn_ball(world, BODY_DYNAMIC, vec3_zero(), vec3_make(10, 0, 0), 1);
	test_step(world, 60);
	expect_near(test_body(world, ball).velocity, vec3_make(-10, 0, 0), 1e-9);
	expect_near(test_body(world, ball).position, vec3_make(-1, 0, 0), 1e-8);
	world_destroy(world);
}
END_TEST

/* ch1-3 A-07: of 100 bodies, the three that move are told. */
START_TEST(only_bodies_that_move_are_told)
{
	struct world *world = calm_world();
	body_id moving[3];
	uint32_t count = 0;
	for (uint32_t i = 0; i < 100; i++) {
		bool moves = i % 40 == 7;
		body_id id = spawn_ball(world, BODY_DYNAMIC, vec3_make(2.0 * i, 0, 0),
					moves ? vec3_make(0, 1, 0) : vec3_zero(), 0);
		if (moves)
			moving[count++] = id;
	}
	ck_assert_uint_eq(count, 3);
	test_step(world, 2);
	struct world_changes changes = world_changes(world);
	ck_assert_uint_eq(changes.moved_count, 3);
	for (uint32_t i = 0; i < 3; i++)
		ck_assert_uint_eq(changes.moved[i], moving[i]);
	ck_assert_uint_eq(changes.created_count + changes.changed_count + changes.removed_count, 0);
	world_destroy(world);
}
END_TEST

/* ch1-3 A-09: 5 N along z at (2, 0, 0) are a torque of −10 N m about y. */
START_TEST(a_force_at_a_point_is_a_force_and_a_torque)
{
	struct world *world = calm_world();
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_BOX, vec3_zero(), &item);
	spawn.spawn.mass = 6; /* a cube of 1 m: I = 1 kg m² */
	body_id body = test_do(world, &spawn);
	struct command force = test_command(COMMAND_FORCE);
	force.force.body = body;
	force.force.force = vec3_make(0, 0, 5);
	force.force.point = vec3_make(2, 0, 0);
	force.force.ticks = 1;
	test_do(world, &force);
	test_step(world, 1);
	struct body_view end = test_body(world, body);
	expect_near(vec3_scale(end.velocity, 6 * 60), vec3_make(0, 0, 5), 1e-9);
	/* The force keeps its direction while the cube turns a little. */
	expect_near(vec3_scale(end.angular_velocity, 60), vec3_make(0, -10, 0), 1e-2);
	world_destroy(world);
}
END_TEST

/* F2: v(4) = v(0) / e, and the spin with the same rate likewise. */
START_TEST(a_drag_takes_speed_and_spin_by_its_rate)
{
	struct world *world = calm_world();
	struct command drag = test_command(COMMAND_FIELD_CREATE);
	drag.field_create.kind = FIELD_DRAG;
	drag.field_create.linear = 0.5;
	drag.field_create.angular = 0.25;
	test_do(world, &drag);
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_SPHERE, vec3_zero(), &item);
	spawn.spawn.mass = 2;
	spawn.spawn.velocity = vec3_make(10, 0, 0);
	spawn.spawn.angular_velocity = vec3_make(0, 10, 0);
	spawn.spawn.integrator = INTEGRATOR_RK4;
	body_id body = test_do(world, &spawn);
	test_step(world, 240);
	struct body_view end = test_body(world, body);
	expect_near(end.velocity, vec3_make(10 * exp(-1), 0, 0), 1e-9);
	expect_near(end.angular_velocity, vec3_make(0, 10 * exp(-1), 0), 1e-9);
	world_destroy(world);
}
END_TEST

/* ch1-3 A-22 with a threshold of 0.01 m/s: 1 m/s bounces, 5 mm/s does not, and what leaves does. */
START_TEST(slow_meetings_are_contacts)
{
	static const struct {
		double before, after;
	} ROWS[] = { { -1, 1 }, { -0.005, 0 }, { 0.005, 0.005 }, { 0.1, 0.1 } };
	for (uint32_t i = 0; i < COUNT_OF(ROWS); i++) {
		struct world *world = calm_world();
		set_parameter(world, "restitution.speed", 0.01);
		struct attachment item;
		struct command floor = test_spawn_command(world, TEST_PLANE, vec3_zero(), &item);
		floor.spawn.status = BODY_STATIC;
		floor.spawn.restitution = 1;
		test_do(world, &floor);
		body_id ball = spawn_ball(world, BODY_DYNAMIC, vec3_make(0, 0.5, 0),
					  vec3_make(0, ROWS[i].before, 0), 1);
		test_step(world, 3);
		expect_near(test_body(world, ball).velocity, vec3_make(0, ROWS[i].after, 0), 1e-9);
		world_destroy(world);
	}
}
END_TEST

/* I5a: a static floor does not join the pairs that stand on it. */
START_TEST(pairs_on_one_floor_are_islands_of_their_own)
{
	struct world *world = test_world(false, "impact");
	set_parameter(world, "sleep.enabled", 0);
	(void)test_spawn(world, TEST_PLANE, vec3_zero());
	for (uint32_t i = 0; i < 3; i++)
		for (uint32_t k = 0; k < 2; k++)
			(void)test_spawn(world, TEST_BOX, vec3_make(4.0 * i, 0.5 + k, 0));
	test_step(world, 10);
	ck_assert_uint_eq(world_stats(world).islands, 3);
	world_destroy(world);
}
END_TEST

/* K2: on a floor that turns with ω about z, a body that passes its axis with v is pressed by
 * 2 v ω more for each kilogram, as the normal turns towards it. */
START_TEST(a_turning_floor_presses_a_body_that_passes)
{
	struct world *world = test_world(false, "impact");
	const double spin = 0.5;
	struct attachment item;
	struct command floor = test_spawn_command(world, TEST_BOX, vec3_make(0, -0.5, 0), &item);
	floor.spawn.status = BODY_ANIMATED;
	floor.spawn.angular_velocity = vec3_make(0, 0, spin);
	/* The middle of the cube's upper face is at rest if the cube moves by ω × r. */
	floor.spawn.velocity = vec3_make(0.5 * spin, 0, 0);
	body_id turning = test_do(world, &floor);
	/* The ball passes the face's middle in the middle of the tick; it begins with the face's
	 * velocity at the place where it is. */
	double dt = 1.0 / 60, speed = 1;
	body_id ball = spawn_ball(world, BODY_DYNAMIC, vec3_make(-0.5 * speed * dt, 0.5 + 1e-9, 0),
				  vec3_make(speed, -0.5 * speed * dt * spin, 0), 0);
	struct contact_view points[4];
	test_step(world, 1);
	ck_assert_uint_eq(test_contacts(world, ball, points, 4), 1);
	double force = points[0].normal_impulse / dt;
	ck_assert(turning != ball);
	ck_assert_double_eq_tol(force, GRAVITY + 2 * speed * spin, 0.02);
	world_destroy(world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("impact rows");
	TCase *rows = tcase_create("rows");
	tcase_add_test(rows, each_status_moves_as_it_says);
	tcase_add_test(rows, a_body_ends_or_returns_at_the_bounds);
	tcase_add_test(rows, only_bodies_that_move_are_told);
	tcase_add_test(rows, a_force_at_a_point_is_a_force_and_a_torque);
	tcase_add_test(rows, a_drag_takes_speed_and_spin_by_its_rate);
	tcase_add_test(rows, slow_meetings_are_contacts);
	tcase_add_test(rows, pairs_on_one_floor_are_islands_of_their_own);
	tcase_add_test(rows, a_turning_floor_presses_a_body_that_passes);
	suite_add_tcase(suite, rows);
	return suite;
}

int main(void)
{
	return check_main(make);
}
