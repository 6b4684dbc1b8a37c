/* Contacts of soft-step: bounces, rolling, friction axes, and heavy bodies on light ones, against closed
 * forms. bench_contact prints the same figures. */
#include "server/base/rng.h"
#include "tests/lib/check_main.h"
#include "tests/lib/poses.h"
#include "tests/lib/shapes.h"
#include "tests/lib/stage_scenes.h"

#define GRAVITY 9.81

static struct stage stage;

static void set_up(void)
{
	stage_init(&stage, "soft-step");
}

static void tear_down(void)
{
	stage_release(&stage);
}

static uint32_t add(struct shape *shape, vec3 position, double mass)
{
	return stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
						      .shape = stage_shape(&stage, shape),
						      .position = position,
						      .mass = mass });
}

static vec3 place(uint32_t body)
{
	return stage.tables.body.position[body];
}

/* ---- bounces ---------------------------------------------------------------------------------- */

/* The height to which a ball rises by its present speed above the ground, m. */
static double height_of(uint32_t ball, double radius)
{
	double speed = stage.tables.body.velocity[ball].y;
	return place(ball).y - radius + speed * speed / (2 * GRAVITY);
}

START_TEST(heights_follow_the_square_of_the_restitution)
{
	static const double es[] = { 1, 0.9, 0.7 };
	double e = es[_i];
	stage_ground(&stage);
	uint32_t ball = add(make_sphere(0.1), vec3_make(0, 1.1, 0), 1);
	stage.tables.body.restitution[ball] = e;
	double before = 0, height = 1;
	uint32_t found = 0, wanted = e < 0.8 ? 4 : 10;
	for (uint32_t tick = 0; found < wanted && tick < 1000; tick++) {
		stage_step(&stage);
		double speed = stage.tables.body.velocity[ball].y;
		if (before < 0 && speed > 0) {
			double now = height_of(ball, 0.1);
			ck_assert_msg(scalar_near(now / height, e * e, 0.005 * e * e),
				      "bounce %u: %g of %g", found, now, height);
			height = now;
			found++;
		}
		before = speed;
	}
	ck_assert_uint_eq(found, wanted);
	if (e == 1)
		ck_assert_double_gt(height, 0.99);
}
END_TEST

/* Balls in a room without gravity, elastic and smooth. */
START_TEST(a_gas_keeps_its_energy)
{
	stage.tables.world.gravity[0] = vec3_zero();
	struct rng rng = rng_seeded(check_seed());
	for (uint32_t i = 0; i < 6; i++) {
		double n[3] = { 0 };
		n[i / 2] = i % 2 == 0 ? 1 : -1;
		uint32_t plane = stage_shape(&stage, make_plane(vec3_make(n[0], n[1], n[2]), -2));
		stage_add(&stage, (struct stage_body){ .status = BODY_STATIC,
						       .shape = plane,
						       .friction = -1,
						       .restitution = 1 });
	}
	uint32_t ball = stage_shape(&stage, make_sphere(0.1));
	for (uint32_t i = 0; i < 64; i++) {
		vec3 at = vec3_make(i % 4 - 1.5, i / 4 % 4 - 1.5, i / 16 - 1.5);
		vec3 velocity = vec3_scale(random_direction(&rng), 5);
		stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
						       .shape = ball,
						       .position = at,
						       .velocity = velocity,
						       .friction = -1,
						       .restitution = 1 });
	}
	double before = stage_kinetic(&stage);
	vec3 start = stage.tables.body.velocity[6];
	stage_run(&stage, 600);
	ck_assert_double_gt(stage_kinetic(&stage), 0.99 * before);
	ck_assert_double_lt(stage_kinetic(&stage), 1.001 * before);
	ck_assert_double_gt(vec3_distance(stage.tables.body.velocity[6], start), 0.1);
}
END_TEST

START_TEST(an_oblique_hit_keeps_angular_momentum)
{
	stage.tables.world.gravity[0] = vec3_zero();
	uint32_t ball = stage_shape(&stage, make_sphere(0.5));
	struct stage_body body = {
		.status = BODY_DYNAMIC, .shape = ball, .restitution = 1, .friction = _i % 2 ? -1 : 0
	};
	stage_add(&stage, body);
	body.position = vec3_make(-3, 0.2 + 0.07 * _i, 0.1);
	body.velocity = vec3_make(20, 0, 0);
	uint32_t second = stage_add(&stage, body);
	vec3 before = stage_angular_momentum(&stage);
	double energy = stage_kinetic(&stage);
	stage_run(&stage, 24);
	ck_assert_double_lt(vec3_distance(stage_angular_momentum(&stage), before),
			    1e-4 * vec3_length(before));
	ck_assert_double_gt(vec3_distance(stage.tables.body.velocity[second], body.velocity), 1);
	ck_assert_double_lt(stage_kinetic(&stage), (1 + 1e-5) * energy);
	if (_i % 2)
		ck_assert_double_gt(stage_kinetic(&stage), (1 - 1e-5) * energy);
}
END_TEST

/* The four corners of a face bounce together. */
START_TEST(an_elastic_box_that_lands_flat_does_not_turn)
{
	stage_ground(&stage);
	uint32_t box = add(make_box(0.5, 0.2, 0.4), vec3_make(0, 1.2, 0), 10);
	stage.tables.body.restitution[box] = 1;
	double highest = 0;
	for (uint32_t tick = 0; tick < 54; tick++) {
		stage_step(&stage);
		if (tick > 30)
			highest = scalar_max(highest, height_of(box, 0.2));
	}
	ck_assert_double_gt(highest, 0.99);
	ck_assert_double_lt(highest, 1.01);
	ck_assert_double_lt(vec3_length(stage.tables.body.angular_velocity[box]), 0.05);
}
END_TEST

/* ---- rolling ---------------------------------------------------------------------------------- */

/* A ball of radius r that rolls loses 5/7 of rolling/r g of its speed a second. */
START_TEST(a_rolling_ball_slows_down_by_its_load)
{
	static const double rollings[] = { 0, 0.002, 0.01 };
	stage_ground(&stage);
	for (uint32_t i = 0; i < COUNT_OF(rollings); i++) {
		uint32_t ball = stage_shape(&stage, make_sphere(0.1));
		uint32_t row =
			stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
							       .shape = ball,
							       .position = { 0, 0.1, 1.0 * i },
							       .velocity = { 1, 0, 0 },
							       .spin = { 0, 0, -10 },
							       .mass = 32.7 });
		stage.tables.body.rolling_friction[row] = rollings[i];
	}
	stage_run(&stage, 60);
	for (uint32_t i = 0; i < COUNT_OF(rollings); i++) {
		double expected = 1 - 5.0 / 7 * rollings[i] / 0.1 * GRAVITY;
		double speed = stage.tables.body.velocity[1 + i].x;
		ck_assert_msg(scalar_near(speed, expected, 1e-3), "%g: %g, not %g", rollings[i],
			      speed, expected);
	}
	stage_run(&stage, 600);
	ck_assert_double_gt(stage.tables.body.velocity[1].x, 0.99);
	ck_assert_double_lt(vec3_length(stage.tables.body.velocity[2]), 1e-6);
	ck_assert_double_lt(vec3_length(stage.tables.body.velocity[3]), 1e-6);
}
END_TEST

START_TEST(a_ball_rests_on_a_slope_below_rolling_over_radius)
{
	stage_ground(&stage);
	stage_parameter(&stage, PARAMETER_SLEEP_ENABLED, 0);
	bool rests = _i == 0;
	stage.tables.world.gravity[0] = vec3_make(9 * (rests ? 0.095 : 0.11), -9, 0);
	uint32_t ball = add(make_sphere(0.1), vec3_make(0, 0.1, 0), 32.7);
	stage.tables.body.rolling_friction[ball] = 0.01;
	stage_run(&stage, 300);
	if (rests)
		ck_assert_double_lt(scalar_abs(place(ball).x), 1e-3);
	else
		ck_assert_double_gt(place(ball).x, 0.3);
}
END_TEST

START_TEST(spinning_friction_stops_a_spin_about_the_normal)
{
	stage_ground(&stage);
	uint32_t ball = add(make_sphere(0.1), vec3_make(0, 0.1, 0), 1);
	stage.tables.body.angular_velocity[ball] = vec3_make(0, 30, 0);
	stage.tables.body.spinning_friction[ball] = 0.001;
	stage_run(&stage, 60);
	double expected = 30 - 0.001 * GRAVITY / (0.4 * 0.01);
	ck_assert(scalar_near(stage.tables.body.angular_velocity[ball].y, expected, 0.01));
	stage_run(&stage, 800);
	ck_assert_double_lt(vec3_length(stage.tables.body.angular_velocity[ball]), 1e-6);
}
END_TEST

/* ---- a friction axis -------------------------------------------------------------------------- */

/* A ski: along its length friction is √(0.01 × 1), across it 1. It is turned by `heading` rad, and so is
 * the slope (ch4-5 I3b: only the other axis sticks). */
START_TEST(a_body_slides_along_its_friction_axis_only)
{
	double heading = 0.7 * _i;
	quat turn = quat_from_rotation_vector(vec3_make(0, heading, 0));
	uint32_t ground = stage_ground(&stage);
	stage.tables.body.static_friction[ground] = stage.tables.body.dynamic_friction[ground] = 1;
	uint32_t shape = stage_shape(&stage, make_box(0.5, 0.05, 0.1));
	uint32_t ski = stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
							      .shape = shape,
							      .position = { 0, 0.05, 0 },
							      .rotation = turn,
							      .mass = 10,
							      .friction = 1 });
	stage.tables.body.friction_axis[ski] = vec3_make(0.5, 0, 0);
	stage.tables.body.axis_friction[ski] = 0.01;
	stage.tables.world.gravity[0] = quat_rotate(turn, vec3_make(2, -9, 3));
	stage_run(&stage, 60);
	vec3 v = quat_rotate_inverse(turn, stage.tables.body.velocity[ski]);
	ck_assert_msg(scalar_near(v.x, 2 - 0.1 * 9, 0.01), "along: %g", v.x);
	ck_assert_msg(scalar_near(v.z, 0, 0.005), "across: %g", v.z);
}
END_TEST

START_TEST(the_exact_methods_refuse_these_frictions_by_name)
{
	static const char *const names[] = { "lcp", "projection" };
	stage_ground(&stage);
	uint32_t ball = add(make_sphere(0.1), vec3_make(0, 0.1, 0), 1);
	for (uint32_t i = 0; i < COUNT_OF(names); i++) {
		const struct method *method = method_find(names[i]);
		struct reason why = { .text = "" };
		stage.tables.body.rolling_friction[ball] = 0;
		ck_assert_int_eq(method_supports(method, &stage.dynamics, &why), STATUS_OK);
		stage.tables.body.rolling_friction[ball] = 0.01;
		ck_assert_int_eq(method_supports(method, &stage.dynamics, &why),
				 STATUS_METHOD_REFUSES);
		ck_assert_ptr_nonnull(strstr(why.text, "rolling_friction"));
		struct command command;
		command_defaults(&command, COMMAND_SPAWN);
		ck_assert_int_eq(method_admit(method, &stage.dynamics, &command, NULL, 0, &why),
				 STATUS_OK);
		command.spawn.friction_axis = vec3_make(1, 0, 0);
		ck_assert_int_eq(method_admit(method, &stage.dynamics, &command, NULL, 0, &why),
				 STATUS_METHOD_REFUSES);
		ck_assert_ptr_nonnull(strstr(why.text, "friction_axis"));
	}
}
END_TEST

/* ---- loads ------------------------------------------------------------------------------------ */

START_TEST(a_light_box_carries_a_thousand_times_its_mass)
{
	stage_ground(&stage);
	add(make_box(0.5, 0.5, 0.5), vec3_make(0, 0.5, 0), 1);
	uint32_t top = add(make_box(0.5, 0.5, 0.5), vec3_make(0.1, 1.5, 0), 1000);
	stage_run(&stage, 300);
	ck_assert_double_lt(vec3_distance(place(top), vec3_make(0.1, 1.5, 0)), 1e-3);
	ck_assert_uint_le(stage.dynamics.report.fallbacks, 0);
}
END_TEST

START_TEST(a_tower_carries_a_top_a_thousand_times_heavier)
{
	stage_ground(&stage);
	uint32_t top = 0;
	for (uint32_t i = 0; i < 8; i++)
		top = add(make_box(0.5, 0.5, 0.5), vec3_make(0.02 * (i % 3), 0.5 + i, 0),
			  i == 7 ? 1000 : 1);
	vec3 start = place(top);
	stage_run(&stage, 300);
	ck_assert_double_lt(vec3_distance(place(top), start), 0.01);
}
END_TEST

/* Friction 0.6 holds up to a slope of tan 0.6, and beyond it the pair slides by its excess. */
START_TEST(a_heavy_slab_on_a_light_one_sticks_or_slides_by_coulombs_law)
{
	bool sticks = _i == 0;
	stage_ground(&stage);
	stage_parameter(&stage, PARAMETER_SLEEP_ENABLED, 0);
	stage.tables.world.gravity[0] = vec3_make(sticks ? 5.0 : 6.3, -9, 0);
	add(make_box(1, 0.25, 1), vec3_make(0, 0.25, 0), 1);
	uint32_t top = add(make_box(1, 0.25, 1), vec3_make(0, 0.75, 0), 1000);
	stage_run(&stage, 120);
	if (sticks)
		ck_assert_double_lt(scalar_abs(place(top).x), 1e-3);
	else
		ck_assert(scalar_near(place(top).x, 0.5 * 0.9 * 4, 0.1));
}
END_TEST

/* ---- state ------------------------------------------------------------------------------------ */

/* Everything at once: rough and elastic bodies, a hard island, friction axes. */
static void add_everything(struct stage *to)
{
	stage_mixed(to, 60, check_seed());
	struct body_table *body = &to->tables.body;
	for (uint32_t row = 0; row < body->count; row++) {
		body->restitution[row] = 0.25 * (row % 5);
		body->rolling_friction[row] = row % 3 == 0 ? 0.01 : 0;
		body->spinning_friction[row] = row % 4 == 0 ? 0.005 : 0;
		if (row % 2 == 0)
			body->friction_axis[row] = vec3_make(0.3, 0, 1);
		body->axis_friction[row] = 0.1;
	}
	uint32_t box = stage_shape(to, make_box(0.5, 0.5, 0.5));
	for (uint32_t i = 0; i < 3; i++)
		stage_add(to, (struct stage_body){ .status = BODY_DYNAMIC,
						   .shape = box,
						   .position = { 0, 8 + 1.01 * i, 0 },
						   .mass = i == 2 ? 1000 : 1 });
}

START_TEST(workers_and_restored_states_give_the_same_motion)
{
	struct parallel *parallel = parallel_threads_create(3);
	struct stage other;
	stage_init(&other, "soft-step");
	add_everything(&stage);
	add_everything(&other);
	other.dynamics.parallel = parallel;
	uint32_t hard = 0;
	for (uint32_t tick = 0; tick < 150; tick++) {
		stage_step(&stage);
		stage_step(&other);
		hard += stage.dynamics.report.islands_dense;
		ck_assert_uint_eq(stage_hash(&stage), stage_hash(&other));
		if (tick % 40 == 17)
			stage_restore(&other, &stage);
	}
	ck_assert_uint_gt(hard, 0);
	stage_release(&other);
	parallel_threads_destroy(parallel);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("soft contacts");
	TCase *tests = tcase_create("contacts");
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, heights_follow_the_square_of_the_restitution, 0, 3);
	tcase_add_test(tests, a_gas_keeps_its_energy);
	tcase_add_loop_test(tests, an_oblique_hit_keeps_angular_momentum, 0, 10);
	tcase_add_test(tests, an_elastic_box_that_lands_flat_does_not_turn);
	tcase_add_test(tests, a_rolling_ball_slows_down_by_its_load);
	tcase_add_loop_test(tests, a_ball_rests_on_a_slope_below_rolling_over_radius, 0, 2);
	tcase_add_test(tests, spinning_friction_stops_a_spin_about_the_normal);
	tcase_add_loop_test(tests, a_body_slides_along_its_friction_axis_only, 0, 3);
	tcase_add_test(tests, the_exact_methods_refuse_these_frictions_by_name);
	tcase_add_test(tests, a_light_box_carries_a_thousand_times_its_mass);
	tcase_add_test(tests, a_tower_carries_a_top_a_thousand_times_heavier);
	tcase_add_loop_test(tests, a_heavy_slab_on_a_light_one_sticks_or_slides_by_coulombs_law, 0,
			    2);
	tcase_add_test(tests, workers_and_restored_states_give_the_same_motion);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return check_main(make);
}
