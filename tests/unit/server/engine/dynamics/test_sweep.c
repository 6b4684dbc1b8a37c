/* Fast bodies stop before what they would pass through. The scenes are those of bug reports about other
 * engines, and of issues of this method: each states what has to be seen. */
#include "tests/lib/check_main.h"
#include "tests/lib/shapes.h"
#include "tests/lib/stage_scenes.h"

static struct stage stage;

static void set_up(void)
{
	stage_init(&stage, "soft-step");
}

static void tear_down(void)
{
	stage_release(&stage);
}

static vec3 place_of(uint32_t body)
{
	return stage.tables.body.position[body];
}

static vec3 velocity_of(uint32_t body)
{
	return stage.tables.body.velocity[body];
}

static void no_gravity(void)
{
	stage.tables.world.gravity[0] = vec3_zero();
}

static void tick_of(double dt)
{
	stage.dt = stage.dynamics.ahead = dt;
}

static uint32_t add(uint8_t status, struct shape *shape, vec3 position, vec3 velocity)
{
	return stage_add(&stage, (struct stage_body){ .status = status,
						      .shape = stage_shape(&stage, shape),
						      .position = position,
						      .velocity = velocity });
}

static uint32_t add_flagged(struct shape *shape, vec3 position, vec3 velocity)
{
	uint32_t body = add(BODY_DYNAMIC, shape, position, velocity);
	stage.tables.body.flags[body] |= BODY_FAST;
	return body;
}

/* Two triangles, 4 m wide, that look up. */
static struct shape *make_square(void)
{
	return make_terrain(1, 4, 0, 1);
}

START_TEST(a_small_ball_stops_at_a_thin_wall)
{
	no_gravity();
	add(BODY_STATIC, make_box(0.05, 2, 2), vec3_make(2.05, 0, 0), vec3_zero());
	uint32_t ball = add(BODY_DYNAMIC, make_sphere(0.05), vec3_zero(), vec3_make(10, 0, 0));
	stage_run(&stage, 60);
	ck_assert_double_le(place_of(ball).x, 1.96);
	ck_assert_double_ge(place_of(ball).x, 1.90);
	ck_assert_double_le(vec3_length(velocity_of(ball)), 0.1);
}
END_TEST

START_TEST(a_slab_falls_flat_onto_two_triangles)
{
	add(BODY_STATIC, make_square(), vec3_zero(), vec3_zero());
	uint32_t slab = add(BODY_DYNAMIC, make_box(1, 0.015, 1), vec3_make(0, 5, 0), vec3_zero());
	stage_run(&stage, 240);
	ck_assert_double_eq_tol(place_of(slab).y, 0.015, 2e-3);
	ck_assert_double_le(vec3_length(velocity_of(slab)), 1e-2);
}
END_TEST

START_TEST(cubes_at_20_metres_a_second_do_not_fall_through_a_disc)
{
	vec3 rim[64];
	for (uint32_t i = 0; i < 32; i++) {
		quat turn = quat_from_rotation_vector(vec3_make(0, TWO_PI * i / 32, 0));
		vec3 at = quat_rotate(turn, vec3_make(3, 0, 0));
		rim[i] = vec3_make(at.x, -0.05, at.z);
		rim[i + 32] = vec3_make(at.x, 0.05, at.z);
	}
	add(BODY_STATIC, make_hull(rim, 64), vec3_zero(), vec3_zero());
	uint32_t first = 0, cube = stage_shape(&stage, make_box(0.1, 0.1, 0.1));
	for (uint32_t i = 0; i < 25; i++) {
		quat turn = quat_from_rotation_vector(vec3_make(0.3 * i, 0.2 * i, 0.7 * i));
		uint32_t body = stage_add(
			&stage, (struct stage_body){ .status = BODY_DYNAMIC,
						     .shape = cube,
						     .position = vec3_make(0.4 * (i % 5) - 0.8,
									   4 + 0.37 * i,
									   0.4 * (i / 5) - 0.8),
						     .rotation = turn,
						     .velocity = vec3_make(0, -20, 0) });
		first = i == 0 ? body : first;
	}
	for (uint32_t tick = 0; tick < 120; tick++) {
		stage_step(&stage);
		for (uint32_t body = first; body < first + 25; body++) {
			vec3 at = place_of(body);
			if (at.x * at.x + at.z * at.z < 2.8 * 2.8)
				ck_assert_double_ge(at.y, 0);
		}
	}
}
END_TEST

START_TEST(a_long_tick_brings_a_body_to_the_wall_at_full_speed)
{
	no_gravity();
	tick_of(0.25);
	add(BODY_STATIC, make_box(0.1, 5, 5), vec3_make(12.1, 0, 0), vec3_zero());
	uint32_t ball = add(BODY_DYNAMIC, make_sphere(0.2), vec3_zero(), vec3_make(20, 0, 0));
	stage_run(&stage, 2);
	ck_assert_double_eq_tol(place_of(ball).x, 10, 1e-9);
	stage_step(&stage);
	/* At the wall, not before it, and with its whole speed. */
	ck_assert_double_eq_tol(place_of(ball).x, 11.8, 1e-3);
	ck_assert_double_eq_tol(velocity_of(ball).x, 20, 1e-9);
	ck_assert_uint_eq(stage.dynamics.report.sweep_stops, 1);
	stage_step(&stage);
	ck_assert_double_eq_tol(place_of(ball).x, 11.8, 2e-3);
	ck_assert_double_le(scalar_abs(velocity_of(ball).x), 0.1);
}
END_TEST

START_TEST(a_clamped_fall_gains_no_energy)
{
	stage_ground(&stage);
	uint32_t ball = stage_add(
		&stage, (struct stage_body){ .status = BODY_DYNAMIC,
					     .shape = stage_shape(&stage, make_sphere(0.02)),
					     .position = vec3_make(0, 20, 0) });
	double energy = stage_kinetic(&stage) + stage_potential(&stage);
	while (stage.dynamics.report.sweep_stops == 0)
		stage_step(&stage);
	ck_assert_double_eq_tol(place_of(ball).y, 0.02, 1e-3);
	double now = stage_kinetic(&stage) + stage_potential(&stage);
	ck_assert_double_eq_tol(now, energy, 1e-3 * energy);
}
END_TEST

START_TEST(thin_boxes_inside_a_thin_box_come_out_on_their_own_side)
{
	add(BODY_STATIC, make_box(1, 0.02, 1), vec3_zero(), vec3_zero());
	/* Its lower half and more is inside; its middle is above the middle of the other. */
	uint32_t box = add(BODY_DYNAMIC, make_box(0.3, 0.02, 0.3), vec3_make(0, 0.015, 0),
			   vec3_make(0, -1, 0));
	stage_run(&stage, 120);
	ck_assert_double_eq_tol(place_of(box).y, 0.04, 2e-3);
}
END_TEST

START_TEST(a_spinning_rod_does_not_pass_a_post)
{
	no_gravity();
	add(BODY_STATIC, make_box(0.01, 1, 0.01), vec3_make(0.6, 0, 0), vec3_zero());
	uint32_t rod = stage_add(
		&stage,
		(struct stage_body){ .status = BODY_DYNAMIC,
				     .shape = stage_shape(&stage, make_box(1, 0.02, 0.02)),
				     .rotation = quat_from_rotation_vector(vec3_make(0, 1, 0)),
				     .spin = vec3_make(0, -40, 0),
				     .wakeful = true });
	/* While it is in the plane, one end is on each side of the post, and a turn past it is seen as a
	 * change of side. */
	bool met = false;
	double side = 0;
	for (uint32_t tick = 0; tick < 20; tick++) {
		stage_step(&stage);
		vec3 along = quat_rotate(stage.tables.body.rotation[rod], vec3_make(1, 0, 0));
		vec3 post = vec3_sub(vec3_make(0.6, 0, 0), place_of(rod));
		double now = along.x * post.z - along.z * post.x;
		if (side != 0 && scalar_abs(vec3_dot(along, post)) < 0.9 && now * side < 0 &&
		    scalar_abs(now) < 0.3)
			ck_abort_msg("tick %u: the rod is on the other side of the post", tick);
		side = now;
		met |= stage.dynamics.report.sweep_stops > 0;
	}
	ck_assert(met);
}
END_TEST

START_TEST(flagged_bullets_meet_head_on)
{
	no_gravity();
	uint32_t left = add_flagged(make_sphere(0.02), vec3_make(-10, 0, 0), vec3_make(300, 0, 0));
	uint32_t right =
		add_flagged(make_sphere(0.02), vec3_make(10, 0.01, 0), vec3_make(-300, 0, 0));
	bool paired = false;
	for (uint32_t tick = 0; tick < 10; tick++) {
		stage_step(&stage);
		ck_assert_double_lt(place_of(left).x, place_of(right).x);
		paired |= stage.dynamics.report.sweep_pairs > 0;
	}
	ck_assert(paired);
	/* They have lost most of their speed, which was along the normal but for 1 cm. */
	ck_assert_double_lt(velocity_of(left).x, 100);
	ck_assert_double_gt(velocity_of(right).x, -100);
}
END_TEST

START_TEST(a_flagged_bullet_hits_a_thin_dynamic_plate_and_another_does_not)
{
	no_gravity();
	for (uint32_t k = 0; k < 2; k++) {
		uint32_t plate = add(BODY_DYNAMIC, make_box(0.01, 1, 1), vec3_make(0, 5.0 * k, 0),
				     vec3_zero());
		vec3 at = vec3_make(-3, 5.0 * k, 0), velocity = vec3_make(200, 0, 0);
		uint32_t bullet = k == 0 ? add(BODY_DYNAMIC, make_sphere(0.03), at, velocity)
					 : add_flagged(make_sphere(0.03), at, velocity);
		stage_run(&stage, 6);
		ck_assert_int_eq(velocity_of(plate).x > 0.1, k == 1);
		ck_assert_int_eq(place_of(bullet).x < place_of(plate).x, k == 1);
	}
}
END_TEST

START_TEST(a_fast_animated_wall_wakes_and_carries_what_it_meets)
{
	stage_ground(&stage);
	uint32_t ball = stage_add(
		&stage, (struct stage_body){ .status = BODY_DYNAMIC,
					     .shape = stage_shape(&stage, make_sphere(0.1)),
					     .position = vec3_make(0, 0.1, 0),
					     .friction = -1 });
	stage_run(&stage, 90);
	ck_assert_uint_ne(stage.tables.body.sleep_set[ball], 0);
	uint32_t wall = add(BODY_ANIMATED, make_box(0.05, 1, 1), vec3_make(5.37, 1, 0),
			    vec3_make(-60, 0, 0));
	for (uint32_t tick = 0; tick < 30; tick++) {
		stage_step(&stage);
		ck_assert_double_lt(place_of(ball).x, place_of(wall).x);
	}
	ck_assert_double_le(velocity_of(ball).x, -59);
}
END_TEST

START_TEST(nothing_is_swept_where_nothing_is_fast)
{
	stage_stack(&stage, 5);
	stage_run(&stage, 30);
	ck_assert_uint_eq(stage.dynamics.report.swept, 0);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("sweep");
	TCase *tcase = tcase_create("sweep");
	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, a_small_ball_stops_at_a_thin_wall);
	tcase_add_test(tcase, a_slab_falls_flat_onto_two_triangles);
	tcase_add_test(tcase, cubes_at_20_metres_a_second_do_not_fall_through_a_disc);
	tcase_add_test(tcase, a_long_tick_brings_a_body_to_the_wall_at_full_speed);
	tcase_add_test(tcase, a_clamped_fall_gains_no_energy);
	tcase_add_test(tcase, thin_boxes_inside_a_thin_box_come_out_on_their_own_side);
	tcase_add_test(tcase, a_spinning_rod_does_not_pass_a_post);
	tcase_add_test(tcase, flagged_bullets_meet_head_on);
	tcase_add_test(tcase, a_flagged_bullet_hits_a_thin_dynamic_plate_and_another_does_not);
	tcase_add_test(tcase, a_fast_animated_wall_wakes_and_carries_what_it_meets);
	tcase_add_test(tcase, nothing_is_swept_where_nothing_is_fast);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
