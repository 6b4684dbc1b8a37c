/* Movers: stairs and slopes at their limits, platforms, pushes, jumps, corners, what squeezes them,
 * sleep, images, commands, refusals, under all methods. */
#include "server/base/rng.h"
#include "server/engine/math/scalar.h"
#include "server/engine/math/trig.h"
#include "tests/lib/check_main.h"
#include "tests/lib/hall.h"

static const char *const METHODS[] = { "free",	     "soft-step", "lcp",    "projection",
				       "reflection", "impact",	  "penalty" };
enum { METHOD_COUNT = 7 };

static vec3 along_x(double speed)
{
	return vec3_make(speed, 0, 0);
}

/* ---- stairs -------------------------------------------------------------------------------- */

/* Ten steps of `rise` m, 0.4 m deep, from x = 1 on. */
static void build_stairs(struct hall *hall, double rise)
{
	hall_floor(hall);
	for (uint32_t i = 0; i < 10; i++) {
		double top = rise * (i + 1);
		hall_box(hall, vec3_make(20, top, 4), vec3_make(1 + 0.4 * i + 10, 0.5 * top, 0));
	}
}

/* The height that a mover reaches in 10 s at 1.2 m/s with the given step height. */
static double climb(const char *method, double rise, double step, double speed)
{
	struct hall hall;
	hall_open(&hall, method);
	build_stairs(&hall, rise);
	body_id man = hall_mover(&hall, vec3_make(0, 0.001, 0));
	struct command set = hall_mover_command(man);
	set.set_mover.step_height = step;
	test_do(hall.world, &set);
	hall_steer(&hall, man, along_x(speed), 0);
	for (uint32_t tick = 0; tick < 12 / speed * 60; tick++) {
		test_step(hall.world, 1);
		ck_assert_double_lt(hall_overlap(&hall, man), 1e-9);
		ck_assert(hall_view(&hall, man).flags & MOVER_ON_GROUND);
	}
	test_check(hall.world);
	double height = hall_foot(&hall, man).y;
	hall_close(&hall);
	return height;
}

START_TEST(a_mover_climbs_steps_up_to_its_step_height_and_no_higher)
{
	ck_assert_double_eq_tol(climb(METHODS[_i], 0.3, 0.3, 1.2), 3, 0.002);
	ck_assert_double_eq_tol(climb(METHODS[_i], 0.35, 0.3, 1.2), 0, 0.002);
	ck_assert_double_eq_tol(climb(METHODS[_i], 0.35, 0.35, 6), 3.5, 0.002);
	ck_assert_double_eq_tol(climb(METHODS[_i], 0.1, 0.05, 1.2), 0, 0.002);
	ck_assert_double_eq_tol(climb(METHODS[_i], 0.1, 0.3, 6), 1, 0.002);
}
END_TEST

/* ---- slopes -------------------------------------------------------------------------------- */

static quat about_z(double angle)
{
	return quat_from_axis_angle(vec3_make(0, 0, 1), angle);
}

/* How high a mover comes in 4 s on a ramp of this angle; *stands: it is on ground in the end. */
static double walk_up(const char *method, double degrees, bool *stands)
{
	struct hall hall;
	hall_open(&hall, method);
	hall_floor(&hall);
	double angle = degrees * PI / 180;
	/* Its upper face begins at the origin. */
	vec3 middle = vec3_sub(quat_rotate(about_z(angle), vec3_make(10, -1, 0)), vec3_zero());
	hall_static(&hall, make_box(10, 1, 4), pose_make(middle, about_z(angle)));
	body_id man = hall_mover(&hall, vec3_make(-1.5, 0.001, 0));
	hall_steer(&hall, man, along_x(2), 0);
	for (uint32_t tick = 0; tick < 240; tick++) {
		test_step(hall.world, 1);
		ck_assert_double_lt(hall_overlap(&hall, man), 1e-9);
	}
	*stands = (hall_view(&hall, man).flags & MOVER_ON_GROUND) != 0;
	double height = hall_foot(&hall, man).y;
	/* It does not slide on what it can stand on. */
	vec3 before = hall_foot(&hall, man);
	hall_steer(&hall, man, vec3_zero(), 0);
	test_step(hall.world, 60);
	ck_assert_double_lt(vec3_distance(before, hall_foot(&hall, man)), 1e-9);
	hall_close(&hall);
	return height;
}

START_TEST(a_mover_walks_up_slopes_up_to_its_limit)
{
	bool stands;
	ck_assert_double_gt(walk_up(METHODS[_i], 30, &stands), 3);
	ck_assert(stands);
	ck_assert_double_gt(walk_up(METHODS[_i], 49, &stands), 3);
	ck_assert(stands);
	ck_assert_double_lt(walk_up(METHODS[_i], 51, &stands), 0.01);
	ck_assert_double_lt(walk_up(METHODS[_i], 70, &stands), 0.01);
}
END_TEST

START_TEST(on_ground_that_is_too_steep_it_slides_down)
{
	struct hall hall;
	hall_open(&hall, METHODS[_i]);
	hall_floor(&hall);
	double angle = 60 * PI / 180;
	vec3 middle = quat_rotate(about_z(angle), vec3_make(10, -1, 0));
	hall_static(&hall, make_box(10, 1, 4), pose_make(middle, about_z(angle)));
	body_id man = hall_mover(&hall, vec3_make(2, 5, 0));
	/* Uphill does not help. */
	hall_steer(&hall, man, along_x(3), 0);
	double highest = 5;
	for (uint32_t tick = 0; tick < 300; tick++) {
		test_step(hall.world, 1);
		ck_assert_double_lt(hall_overlap(&hall, man), 1e-9);
		ck_assert_double_le(hall_foot(&hall, man).y, highest + 1e-9);
		highest = hall_foot(&hall, man).y;
	}
	ck_assert_double_lt(hall_foot(&hall, man).y, 0.01);
	hall_close(&hall);
}
END_TEST

/* ---- platforms ----------------------------------------------------------------------------- */

static void set_velocity(struct hall *hall, body_id body, vec3 velocity, vec3 spin)
{
	struct command set = test_command(COMMAND_SET_VELOCITY);
	set.set_velocity.body = body;
	set.set_velocity.velocity = velocity;
	set.set_velocity.angular_velocity = spin;
	test_do(hall->world, &set);
}

enum ride { RIDE_STRAIGHT, RIDE_ROUND, RIDE_LIFT, RIDE_ALL, RIDES };

static void drive_platform(struct hall *hall, body_id platform, enum ride ride, double t)
{
	vec3 v = vec3_zero(), w = vec3_zero();
	if (ride == RIDE_STRAIGHT || ride == RIDE_ALL)
		v.x = 3 * trig_sin(t);
	if (ride == RIDE_LIFT || ride == RIDE_ALL)
		v.y = 2 * trig_cos(1.3 * t);
	if (ride == RIDE_ROUND || ride == RIDE_ALL)
		w.y = 1.5 * trig_sin(0.7 * t + 1);
	set_velocity(hall, platform, v, w);
}

START_TEST(a_mover_rides_a_platform_within_a_millimetre)
{
	for (enum ride ride = 0; ride < RIDES; ride++) {
		struct hall hall;
		hall_open(&hall, METHODS[_i]);
		body_id platform = hall_animated(&hall, make_box(4, 0.25, 4),
						 pose_make(vec3_make(0, 10, 0), quat_identity()),
						 vec3_zero(), vec3_zero());
		body_id man = hall_mover(&hall, vec3_make(2.5, 10.251, 1));
		test_step(hall.world, 1);
		vec3 place = pose_inverse_point(hall_pose(&hall, platform), hall_foot(&hall, man));
		for (uint32_t tick = 0; tick < 1000; tick++) {
			drive_platform(&hall, platform, ride, tick / 60.0);
			test_step(hall.world, 1);
			vec3 now = pose_inverse_point(hall_pose(&hall, platform),
						      hall_foot(&hall, man));
			ck_assert_msg(vec3_distance(place, now) < 1e-3,
				      "%s, ride %d, tick %u: %.3g m off", METHODS[_i], ride, tick,
				      vec3_distance(place, now));
			ck_assert(hall_view(&hall, man).flags & MOVER_ON_GROUND);
			ck_assert_uint_eq(hall_view(&hall, man).ground, platform);
		}
		test_check(hall.world);
		hall_close(&hall);
	}
}
END_TEST

/* A conveyor takes it along, and a jump takes the platform's velocity along. */
START_TEST(a_mover_goes_with_a_conveyor_and_keeps_a_platforms_velocity_in_a_jump)
{
	struct hall hall;
	hall_open(&hall, "soft-step");
	body_id belt = hall_box(&hall, vec3_make(20, 1, 4), vec3_make(0, -0.5, 0));
	struct command surface = test_command(COMMAND_SET_SURFACE);
	surface.set_surface.body = belt;
	surface.set_surface.surface_velocity = along_x(1.5);
	test_do(hall.world, &surface);
	body_id man = hall_mover(&hall, vec3_make(0, 0.001, 0));
	test_step(hall.world, 61);
	ck_assert_double_eq_tol(hall_foot(&hall, man).x, 1.5, 1e-6);
	hall_steer(&hall, man, vec3_zero(), 3);
	test_step(hall.world, 12);
	ck_assert(!(hall_view(&hall, man).flags & MOVER_ON_GROUND));
	ck_assert_double_eq_tol(hall_foot(&hall, man).x, 1.8, 1e-6);
	hall_close(&hall);
}
END_TEST

/* ---- in the air ---------------------------------------------------------------------------- */

START_TEST(a_jump_is_a_parabola)
{
	struct hall hall;
	hall_open(&hall, METHODS[_i]);
	hall_floor(&hall);
	body_id man = hall_mover(&hall, vec3_make(0, 0.001, 0));
	test_step(hall.world, 2);
	hall_steer(&hall, man, along_x(2), 5);
	for (uint32_t tick = 1; tick < 60; tick++) {
		test_step(hall.world, 1);
		double t = tick / 60.0;
		ck_assert_double_eq_tol(hall_foot(&hall, man).y, 0.001 + 5 * t - 4.905 * t * t,
					2e-6);
		ck_assert_double_eq_tol(hall_foot(&hall, man).x, 2 * t, 1e-9);
	}
	test_step(hall.world, 5);
	ck_assert(hall_view(&hall, man).flags & MOVER_ON_GROUND);
	ck_assert_double_eq_tol(hall_foot(&hall, man).y, 0.001, 2e-4);
	/* In the air there is nothing to jump from. */
	hall_steer(&hall, man, vec3_zero(), 5);
	test_step(hall.world, 6);
	double height = hall_foot(&hall, man).y;
	hall_steer(&hall, man, vec3_zero(), 5);
	test_step(hall.world, 1);
	ck_assert_double_lt(hall_foot(&hall, man).y, height + 5 / 60.0);
	hall_close(&hall);
}
END_TEST

START_TEST(a_one_way_body_lets_a_jump_through_and_carries_it_then)
{
	struct hall hall;
	hall_open(&hall, METHODS[_i]);
	hall_floor(&hall);
	body_id shelf = hall_box(&hall, vec3_make(4, 0.2, 4), vec3_make(0, 2.2, 0));
	struct command surface = test_command(COMMAND_SET_SURFACE);
	surface.set_surface.body = shelf;
	surface.set_surface.one_way = vec3_make(0, 1, 0);
	test_do(hall.world, &surface);
	body_id man = hall_mover(&hall, vec3_make(0, 0.001, 0));
	test_step(hall.world, 2);
	hall_steer(&hall, man, vec3_zero(), 7.5);
	test_step(hall.world, 120);
	ck_assert_uint_eq(hall_view(&hall, man).ground, shelf);
	ck_assert_double_eq_tol(hall_foot(&hall, man).y, 2.301, 1e-3);
	ck_assert_uint_eq(hall_view(&hall, man).squeezes, 0);
	hall_close(&hall);
}
END_TEST

/* ---- pushing ------------------------------------------------------------------------------- */

/* A crate of `mass` kg without friction that a mover with `force` N runs into. */
static void push_crate(const char *method, double mass, double force)
{
	struct hall hall;
	hall_open(&hall, method);
	body_id ground = hall_floor(&hall);
	struct command smooth = test_command(COMMAND_SET_MATERIAL);
	smooth.set_material.body = ground;
	smooth.set_material.static_friction = smooth.set_material.dynamic_friction = 0;
	test_do(hall.world, &smooth);
	body_id crate = hall_dynamic(&hall, make_box(0.5, 0.5, 0.5),
				     pose_make(vec3_make(1.5, 0.5, 0), quat_identity()), mass, 0);
	body_id man = hall_mover(&hall, vec3_make(0, 0.001, 0));
	struct command set = hall_mover_command(man);
	set.set_mover.push_force = force;
	test_do(hall.world, &set);
	test_step(hall.world, 30);
	hall_steer(&hall, man, along_x(2), 0);
	double speed = test_body(hall.world, crate).velocity.x, fastest = 0, last = 0;
	for (uint32_t tick = 0; tick < 300; tick++) {
		test_step(hall.world, 1);
		double now = test_body(hall.world, crate).velocity.x;
		ck_assert_msg(now - speed <= force / mass / 60 * (1 + 1e-6) + 1e-6,
			      "%s, tick %u: %.6g m/s after %.6g", method, tick, now, speed);
		fastest = scalar_max(fastest, now - speed);
		speed = now;
		last = hall_foot(&hall, man).x;
	}
	ck_assert_double_le(speed, 2 + 1e-3);
	if (force > 0)
		ck_assert_double_gt(fastest, 0.5 * scalar_min(force / mass / 60, 2));
	else
		ck_assert_double_lt(last, 0.71);
	ck_assert_double_lt(hall_pose(&hall, crate).position.x - 0.8 - last, 0.1);
	test_check(hall.world);
	hall_close(&hall);
}

START_TEST(a_mover_pushes_with_its_force_and_no_more)
{
	push_crate(METHODS[_i], 100, 150);
	push_crate(METHODS[_i], 1000, 150);
	push_crate(METHODS[_i], 20, 0);
}
END_TEST

/* Its weight presses on a body on which it stands, so a raft that hangs between two masses sinks.
 *  */
START_TEST(what_it_stands_on_bears_its_weight)
{
	struct hall hall;
	hall_open(&hall, METHODS[_i]);
	body_id raft = hall_dynamic(&hall, make_box(2, 0.25, 2),
				    pose_make(vec3_make(0, 5, 0), quat_identity()), 400, 0.5);
	struct command light = test_command(COMMAND_SET_MOTION);
	light.set_motion.body = raft;
	light.set_motion.gravity_scale = 0;
	test_do(hall.world, &light);
	hall_mover(&hall, vec3_make(0, 5.251, 0));
	test_step(hall.world, 30);
	double before = test_body(hall.world, raft).velocity.y;
	test_step(hall.world, 30);
	double change = test_body(hall.world, raft).velocity.y - before;
	ck_assert_double_eq_tol(change, -0.5 * 80 * 9.81 / 400, 1e-3);
	hall_close(&hall);
}
END_TEST

/* ---- corners ------------------------------------------------------------------------------- */

/* Walls in the way of a mover at these angles about y; it walks into the corner for 2 s, and then
 * nothing moves. */
START_TEST(in_corners_and_on_edges_nothing_jitters)
{
	static const double turns[][3] = {
		{ 0.5, -0.5, 0.5 }, { 0.2, -1.1, 0.2 }, { 0.9, -0.9, 0 }, { 0.3, -0.3, 1.2 }
	};
	for (uint32_t run = 0; run < COUNT_OF(turns); run++) {
		struct hall hall;
		hall_open(&hall, "soft-step");
		hall_floor(&hall);
		for (uint32_t i = 0; i < 3; i++) {
			quat q = quat_from_axis_angle(vec3_make(0, 1, 0), turns[run][i]);
			vec3 at = vec3_add(vec3_make(3, 2, 0), quat_rotate(q, along_x(0.5)));
			/* The third leans over the mover. */
			if (i == 2)
				q = quat_mul(q, about_z(0.4));
			hall_static(&hall, make_box(0.5, 4, 6), pose_make(at, q));
		}
		body_id man = hall_mover(&hall, vec3_make(0, 0.001, 0.2));
		hall_steer(&hall, man, along_x(3), 0);
		for (uint32_t tick = 0; tick < 180; tick++) {
			vec3 before = hall_foot(&hall, man);
			test_step(hall.world, 1);
			ck_assert_double_lt(hall_overlap(&hall, man), 1e-9);
			double gone = vec3_distance(before, hall_foot(&hall, man));
			ck_assert_msg(tick < 120 || gone < 1e-6, "run %u, tick %u: %.3g m", run,
				      tick, gone);
		}
		ck_assert(hall_view(&hall, man).flags & MOVER_BLOCKED);
		hall_close(&hall);
	}
}
END_TEST

START_TEST(on_the_edge_of_a_ledge_it_stands_still)
{
	for (double over = -0.29; over < 0.29; over += 0.0365) {
		struct hall hall;
		hall_open(&hall, "soft-step");
		hall_box(&hall, vec3_make(4, 2, 4), vec3_make(-2, -1, 0));
		body_id man = hall_mover(&hall, vec3_make(over, 0.001, 0));
		test_step(hall.world, 60);
		vec3 before = hall_foot(&hall, man);
		test_step(hall.world, 60);
		ck_assert_msg(vec3_equal(before, hall_foot(&hall, man)), "%.3g m over the edge",
			      over);
		ck_assert(hall_view(&hall, man).flags & MOVER_RESTS);
		hall_close(&hall);
	}
}
END_TEST

/* ---- moving walls -------------------------------------------------------------------------- */

static uint32_t count_events(const struct world *world, enum event_kind kind)
{
	uint32_t count, found = 0;
	const struct event *events = world_events(world, &count);
	for (uint32_t i = 0; i < count; i++)
		found += events[i].kind == kind;
	return found;
}

START_TEST(a_wall_pushes_a_mover_also_when_it_is_fast)
{
	for (double speed = 0.5; speed < 200; speed *= 4) {
		struct hall hall;
		hall_open(&hall, METHODS[_i]);
		hall_floor(&hall);
		body_id wall = hall_animated(
			&hall, make_box(0.05, 2, 2),
			pose_make(vec3_make(-1.5 * speed / 60 - 0.4, 2, 0), quat_identity()),
			along_x(speed), vec3_zero());
		body_id man = hall_mover(&hall, vec3_make(0, 0.001, 0));
		test_step(hall.world, 20);
		double gap = hall_foot(&hall, man).x - hall_pose(&hall, wall).position.x;
		ck_assert_msg(scalar_abs(gap - 0.351) < 1e-3, "%s, %.3g m/s: gap %.6g", METHODS[_i],
			      speed, gap);
		ck_assert_uint_eq(hall_view(&hall, man).squeezes, 0);
		hall_close(&hall);
	}
}
END_TEST

START_TEST(between_closing_walls_a_mover_is_squeezed_by_name)
{
	struct hall hall;
	hall_open(&hall, METHODS[_i]);
	hall_floor(&hall);
	body_id walls[2];
	for (int i = 0; i < 2; i++)
		walls[i] = hall_animated(
			&hall, make_box(0.5, 2, 2),
			pose_make(vec3_make(i == 0 ? -1.5 : 1.5, 2, 0), quat_identity()),
			along_x(i == 0 ? 1 : -1), vec3_zero());
	body_id man = hall_mover(&hall, vec3_make(0.2, 0.001, 0));
	uint32_t events = 0;
	for (uint32_t tick = 0; tick < 60; tick++) {
		test_step(hall.world, 1);
		events += count_events(hall.world, EVENT_SQUEEZED);
		if (!(hall_view(&hall, man).flags & MOVER_SQUEEZED))
			ck_assert_double_lt(hall_overlap(&hall, man), 1e-9);
		ck_assert_double_lt(vec3_length(hall_foot(&hall, man)), 0.5);
	}
	ck_assert_uint_eq(events, 1);
	ck_assert_uint_gt(hall_view(&hall, man).squeezes, 10);
	/* They open: it has a place again. */
	for (int i = 0; i < 2; i++)
		set_velocity(&hall, walls[i], along_x(i == 0 ? -1 : 1), vec3_zero());
	test_step(hall.world, 60);
	ck_assert(!(hall_view(&hall, man).flags & MOVER_SQUEEZED));
	ck_assert_double_lt(hall_overlap(&hall, man), 1e-9);
	test_check(hall.world);
	hall_close(&hall);
}
END_TEST

/* ---- rest and state ------------------------------------------------------------------------ */

START_TEST(a_mover_at_rest_is_skipped_until_something_comes)
{
	struct hall hall;
	hall_open(&hall, METHODS[_i]);
	body_id ground = hall_box(&hall, vec3_make(20, 1, 20), vec3_make(0, -0.5, 0));
	body_id man = hall_mover(&hall, vec3_make(0, 0.001, 0));
	test_step(hall.world, 5);
	ck_assert(hall_view(&hall, man).flags & MOVER_RESTS);
	ck_assert_uint_eq(world_stats(hall.world).awake, 0);
	/* A platform comes along. */
	body_id wall = hall_animated(&hall, make_box(0.5, 1, 1),
				     pose_make(vec3_make(-2, 1.1, 0), quat_identity()), along_x(2),
				     vec3_zero());
	test_step(hall.world, 60);
	ck_assert_double_eq_tol(hall_foot(&hall, man).x, hall_pose(&hall, wall).position.x + 0.801,
				1e-3);
	struct command remove = test_command(COMMAND_REMOVE);
	remove.remove.body = wall;
	test_do(hall.world, &remove);
	test_step(hall.world, 5);
	ck_assert(hall_view(&hall, man).flags & MOVER_RESTS);
	/* Its ground goes. */
	remove.remove.body = ground;
	test_do(hall.world, &remove);
	test_step(hall.world, 30);
	ck_assert_double_lt(hall_foot(&hall, man).y, -1);
	hall_close(&hall);
}
END_TEST

/* Two movers, a crate, a platform and a restored world beside it. */
static void build_busy(struct hall *hall, body_id *men)
{
	build_stairs(hall, 0.25);
	hall_animated(hall, make_box(1, 0.1, 1), pose_make(vec3_make(-2, 0.3, 0), quat_identity()),
		      vec3_make(0.3, 0.1, 0), vec3_make(0, 0.7, 0));
	hall_dynamic(hall, make_box(0.4, 0.4, 0.4),
		     pose_make(vec3_make(0, 0.4, 1), quat_identity()), 30, 0.4);
	men[0] = hall_mover(hall, vec3_make(-2, 0.41, 0));
	men[1] = hall_mover(hall, vec3_make(-1, 0.01, 1));
}

START_TEST(an_image_goes_on_with_equal_hashes)
{
	struct hall hall;
	body_id men[2];
	hall_open(&hall, METHODS[_i]);
	build_busy(&hall, men);
	struct rng rng = rng_seeded(check_seed());
	for (uint32_t tick = 0; tick < 200; tick++) {
		if (tick % 20 == 0)
			for (int i = 0; i < 2; i++)
				hall_steer(&hall, men[i],
					   vec3_make(rng_range(&rng, -2, 4), 0,
						     rng_range(&rng, -1, 1)),
					   tick % 60 == 0 ? 4 : 0);
		struct world *other = NULL;
		if (tick % 7 == 3) {
			struct bytes image = test_save(hall.world);
			struct shape_source source = hall.source;
			struct reason why;
			ck_assert_int_eq(world_load(image.data, image.count, source, &other, &why),
					 STATUS_OK);
			bytes_release(&image);
			ck_assert_uint_eq(test_hash(other), test_hash(hall.world));
		}
		test_step(hall.world, 1);
		if (other != NULL) {
			test_step(other, 1);
			ck_assert_uint_eq(test_hash(other), test_hash(hall.world));
			test_step(other, 3);
			test_check(other);
			world_destroy(other);
		}
		test_check(hall.world);
	}
	hall_close(&hall);
}
END_TEST

START_TEST(a_wish_lasts_for_its_ticks)
{
	struct hall hall;
	hall_open(&hall, "soft-step");
	hall_floor(&hall);
	body_id man = hall_mover(&hall, vec3_make(0, 0.001, 0));
	test_step(hall.world, 2);
	struct command steer = test_command(COMMAND_STEER);
	steer.steer.body = man;
	steer.steer.velocity = along_x(3);
	steer.steer.ticks = 10;
	test_do(hall.world, &steer);
	test_step(hall.world, 40);
	ck_assert_double_eq_tol(hall_foot(&hall, man).x, 0.5, 1e-9);
	ck_assert(vec3_equal(test_body(hall.world, man).velocity, vec3_zero()));
	hall_close(&hall);
}
END_TEST

/* ---- refusals ------------------------------------------------------------------------------ */

START_TEST(what_cannot_walk_is_refused_by_name)
{
	struct hall hall;
	hall_open(&hall, "soft-step");
	body_id ground = hall_floor(&hall);
	body_id ball = hall_dynamic(&hall, make_sphere(0.5),
				    pose_make(vec3_make(0, 3, 0), quat_identity()), 1, 0);
	body_id man = hall_mover(&hall, vec3_make(5, 0.001, 0));
	struct command set = hall_mover_command(ground);
	ck_assert_int_eq(test_try(hall.world, &set), STATUS_STATUS_WRONG);
	set = hall_mover_command(ball);
	ck_assert_int_eq(test_try(hall.world, &set), STATUS_STATUS_WRONG);
	set = hall_mover_command(999);
	ck_assert_int_eq(test_try(hall.world, &set), STATUS_UNKNOWN_BODY);
	set = hall_mover_command(man);
	set.set_mover.slope = 1.6;
	ck_assert_int_eq(test_try(hall.world, &set), STATUS_RANGE);
	set = hall_mover_command(man);
	set.set_mover.push_force = -1;
	ck_assert_int_eq(test_try(hall.world, &set), STATUS_RANGE);
	struct command steer = test_command(COMMAND_STEER);
	steer.steer.body = ball;
	ck_assert_int_eq(test_try(hall.world, &steer), STATUS_STATUS_WRONG);
	steer.steer.body = man;
	steer.steer.velocity.x = __builtin_nan("");
	ck_assert_int_eq(test_try(hall.world, &steer), STATUS_NOT_FINITE);
	struct command velocity = test_command(COMMAND_SET_VELOCITY);
	velocity.set_velocity.body = man;
	ck_assert_int_eq(test_try(hall.world, &velocity), STATUS_STATUS_WRONG);
	struct command target = test_command(COMMAND_MOVE_TO);
	target.move_to.body = man;
	ck_assert_int_eq(test_try(hall.world, &target), STATUS_STATUS_WRONG);
	/* A body without a shape, and one in a planar world. */
	struct command point = test_command(COMMAND_SPAWN);
	point.spawn.status = BODY_ANIMATED;
	set = hall_mover_command(test_do(hall.world, &point));
	ck_assert_int_eq(test_try(hall.world, &set), STATUS_UNSUPPORTED);
	struct world *flat = test_world(true, "soft-step");
	set = hall_mover_command(test_do(flat, &point));
	ck_assert_int_eq(test_try(flat, &set), STATUS_PLANAR);
	world_destroy(flat);
	/* It ends. */
	set = hall_mover_command(man);
	set.set_mover.enabled = 0;
	test_do(hall.world, &set);
	struct mover_view view;
	ck_assert(!world_mover(hall.world, man, &view));
	test_do(hall.world, &velocity);
	test_check(hall.world);
	hall_close(&hall);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/world/movers");
	TCase *all = tcase_create("movers"), *each = tcase_create("each method");
	tcase_set_timeout(all, 120);
	tcase_set_timeout(each, 120);
	tcase_add_loop_test(each, a_mover_climbs_steps_up_to_its_step_height_and_no_higher, 0, 2);
	tcase_add_loop_test(each, a_mover_walks_up_slopes_up_to_its_limit, 0, 2);
	tcase_add_loop_test(each, on_ground_that_is_too_steep_it_slides_down, 0, 2);
	tcase_add_loop_test(each, a_mover_rides_a_platform_within_a_millimetre, 0, METHOD_COUNT);
	tcase_add_loop_test(each, a_jump_is_a_parabola, 0, METHOD_COUNT);
	tcase_add_loop_test(each, a_one_way_body_lets_a_jump_through_and_carries_it_then, 0, 2);
	tcase_add_loop_test(each, a_mover_pushes_with_its_force_and_no_more, 1, METHOD_COUNT);
	tcase_add_loop_test(each, what_it_stands_on_bears_its_weight, 1, METHOD_COUNT);
	tcase_add_loop_test(each, a_wall_pushes_a_mover_also_when_it_is_fast, 0, METHOD_COUNT);
	tcase_add_loop_test(each, between_closing_walls_a_mover_is_squeezed_by_name, 0,
			    METHOD_COUNT);
	tcase_add_loop_test(each, a_mover_at_rest_is_skipped_until_something_comes, 0,
			    METHOD_COUNT);
	tcase_add_loop_test(each, an_image_goes_on_with_equal_hashes, 0, METHOD_COUNT);
	tcase_add_test(all, a_mover_goes_with_a_conveyor_and_keeps_a_platforms_velocity_in_a_jump);
	tcase_add_test(all, in_corners_and_on_edges_nothing_jitters);
	tcase_add_test(all, on_the_edge_of_a_ledge_it_stands_still);
	tcase_add_test(all, a_wish_lasts_for_its_ticks);
	tcase_add_test(all, what_cannot_walk_is_refused_by_name);
	suite_add_tcase(suite, each);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
