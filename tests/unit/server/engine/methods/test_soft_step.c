/* Motion with soft contacts, against closed forms of mechanics. */
#include "server/engine/math/trig.h"
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

static uint32_t add_body(uint32_t shape, vec3 position, vec3 velocity)
{
	return stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
						      .shape = shape,
						      .position = position,
						      .velocity = velocity });
}

/* ---- momentum and energy ---------------------------------------------------------------------- */

START_TEST(collisions_without_gravity_conserve_momentum_and_gain_no_energy)
{
	stage.tables.world.gravity[0] = vec3_zero();
	uint32_t box = stage_shape(&stage, make_box(0.5, 0.3, 0.4));
	uint32_t ball = stage_shape(&stage, make_sphere(0.4));
	for (uint32_t i = 0; i < 8; i++) {
		double x = 1.5 * i - 6;
		uint32_t row = add_body(i % 2 ? box : ball, vec3_make(x, 0.1 * i, 0.05 * i),
					vec3_make(-x, 0.1, 0));
		stage.tables.body.angular_velocity[row] = vec3_make(0.3, -0.2 * i, 0.5);
	}
	vec3 momentum = stage_momentum(&stage), angular = stage_angular_momentum(&stage);
	double energy = stage_kinetic(&stage), scale = energy;
	for (uint32_t tick = 0; tick < 180; tick++) {
		stage_step(&stage);
		double now = stage_kinetic(&stage);
		/* Pushing out penetration may return a little of the energy lost in the impact. */
		ck_assert(now <= energy + 0.01 * scale);
		energy = now;
		ck_assert(vec3_distance(stage_momentum(&stage), momentum) < 1e-6 * scale);
		ck_assert(vec3_distance(stage_angular_momentum(&stage), angular) < 1e-5 * scale);
	}
	ck_assert(energy < 0.7 * scale);
}
END_TEST

/* The shares of energy and angular momentum that a brick loses in ten seconds of spin about its middle
 * axis. */
static void spin_brick(uint32_t substeps, double *energy_lost, double *momentum_off)
{
	struct stage alone;
	stage_init(&alone, "soft-step");
	alone.tables.world.gravity[0] = vec3_zero();
	stage_parameter(&alone, PARAMETER_SUBSTEPS, substeps);
	uint32_t brick = stage_shape(&alone, make_box(0.1, 0.3, 0.6));
	uint32_t row =
		stage_add(&alone, (struct stage_body){ .status = BODY_DYNAMIC, .shape = brick });
	alone.tables.body.angular_velocity[row] = vec3_make(0.1, 6, 0.1);
	double energy = stage_kinetic(&alone), lowest = 6;
	vec3 angular = stage_angular_momentum(&alone);
	for (uint32_t tick = 0; tick < 600; tick++) {
		stage_step(&alone);
		ck_assert(stage_kinetic(&alone) <= energy * 1.0001);
		lowest = scalar_min(lowest,
				    quat_rotate_inverse(alone.tables.body.rotation[row],
							alone.tables.body.angular_velocity[row])
					    .y);
	}
	/* The brick must tumble (tennis racket theorem). */
	ck_assert(lowest < -2);
	*energy_lost = 1 - stage_kinetic(&alone) / energy;
	*momentum_off =
		vec3_distance(stage_angular_momentum(&alone), angular) / vec3_length(angular);
	stage_release(&alone);
}

START_TEST(a_spinning_brick_conserves_energy_and_momentum_at_any_substeps)
{
	double energy, momentum;
	for (uint32_t substeps = 1; substeps <= 8; substeps *= 2) {
		spin_brick(substeps, &energy, &momentum);
		ck_assert_double_le(scalar_abs(energy), 1e-10);
		ck_assert_double_le(momentum, 1e-11);
	}
}
END_TEST

/* The depth of a ball in a box 0.1 s after a depth of 1 cm, without gravity. */
static double depth_left(uint8_t status, bool box_first)
{
	struct stage alone;
	stage_init(&alone, "soft-step");
	alone.tables.world.gravity[0] = vec3_zero();
	uint32_t box = stage_shape(&alone, make_box(0.5, 0.5, 0.5)),
		 ball = stage_shape(&alone, make_sphere(0.5));
	uint32_t rows[2];
	for (uint32_t i = 0; i < 2; i++) {
		bool is_box = (i == 0) == box_first;
		rows[is_box] = stage_add(
			&alone, (struct stage_body){ .status = is_box ? status : BODY_DYNAMIC,
						     .shape = is_box ? box : ball,
						     .position = { 0, is_box ? 0 : 0.99, 0 },
						     .mass = is_box ? 1e9 : 1 });
	}
	stage_run(&alone, 6);
	double apart =
		alone.tables.body.position[rows[0]].y - alone.tables.body.position[rows[1]].y;
	stage_release(&alone);
	return 1 - apart;
}

/* Contacts with static bodies have springs of twice the frequency and half the damping. */
START_TEST(a_static_body_pushes_out_faster_than_a_heavy_one_in_either_order)
{
	for (int first = 0; first < 2; first++) {
		double fixed = depth_left(BODY_STATIC, first),
		       heavy = depth_left(BODY_DYNAMIC, first);
		ck_assert_double_gt(fixed, -1e-4);
		ck_assert_double_lt(heavy, 0.005);
		ck_assert_double_lt(fixed, 0.25 * heavy);
	}
}
END_TEST

START_TEST(a_settled_pile_has_no_energy_left)
{
	stage_stack(&stage, 6);
	stage_parameter(&stage, PARAMETER_SLEEP_ENABLED, 0);
	stage_run(&stage, 120);
	double potential = stage_potential(&stage);
	for (uint32_t tick = 0; tick < 60; tick++) {
		stage_step(&stage);
		ck_assert(stage_kinetic(&stage) < 1e-6 * potential);
		ck_assert(stage_potential(&stage) <= potential * (1 + 1e-7));
	}
}
END_TEST

/* ---- bounces ---------------------------------------------------------------------------------- */

START_TEST(a_ball_bounces_to_the_square_of_its_restitution)
{
	static const double es[] = { 0.3, 0.5, 0.8, 1.0 };
	stage_ground(&stage);
	uint32_t ball = stage_shape(&stage, make_sphere(0.25));
	uint32_t rows[COUNT_OF(es)];
	for (uint32_t i = 0; i < COUNT_OF(es); i++) {
		rows[i] = add_body(ball, vec3_make(2.0 * i, 2.25, 0), vec3_zero());
		stage.tables.body.restitution[rows[i]] = es[i];
	}
	double highest[COUNT_OF(es)] = { 0 };
	for (uint32_t tick = 0; tick < 90; tick++) {
		stage_step(&stage);
		for (uint32_t i = 0; i < COUNT_OF(es); i++)
			if (tick > 40)
				highest[i] = scalar_max(
					highest[i], stage.tables.body.position[rows[i]].y - 0.25);
	}
	/* Between two ticks the top may be 0.4 mm higher. */
	for (uint32_t i = 0; i < COUNT_OF(es); i++) {
		double height = 2.0 * es[i] * es[i];
		ck_assert_msg(scalar_near(highest[i], height, 0.01 * height + 4e-4),
			      "e %g: %g instead of %g", es[i], highest[i], height);
	}
}
END_TEST

START_TEST(slow_approaches_do_not_bounce)
{
	stage_ground(&stage);
	uint32_t ball = stage_shape(&stage, make_sphere(0.25));
	/* It arrives with 0.44 m/s; with restitution 0.5 half a metre a second is the least. */
	uint32_t row = add_body(ball, vec3_make(0, 0.26, 0), vec3_zero());
	stage.tables.body.restitution[row] = 0.5;
	for (uint32_t tick = 0; tick < 60; tick++) {
		stage_step(&stage);
		ck_assert_double_lt(stage.tables.body.velocity[row].y, 0.01);
	}
}
END_TEST

START_TEST(a_fast_ball_does_not_sink_into_the_ground)
{
	stage_ground(&stage);
	uint32_t ball = stage_shape(&stage, make_sphere(0.5));
	uint32_t row = add_body(ball, vec3_make(0, 5, 0), vec3_make(0, -12, 0));
	double lowest = 5;
	for (uint32_t tick = 0; tick < 60; tick++) {
		stage_step(&stage);
		lowest = scalar_min(lowest, stage.tables.body.position[row].y);
	}
	ck_assert_msg(lowest > 0.49, "sank to %g", lowest);
}
END_TEST

/* ---- friction --------------------------------------------------------------------------------- */

/* A box on a plane tilted by `angle` about z; returns how far it slid in `ticks`. */
static double slide(double angle, double friction, uint32_t ticks)
{
	vec3 normal = vec3_make(-trig_sin(angle), trig_cos(angle), 0);
	quat tilt = quat_from_axis_angle(vec3_make(0, 0, 1), angle);
	uint32_t plane = stage_shape(&stage, make_plane(normal, 0));
	stage_add(&stage, (struct stage_body){
				  .status = BODY_STATIC, .shape = plane, .friction = friction });
	uint32_t box = stage_shape(&stage, make_box(0.5, 0.25, 0.5));
	uint32_t row = stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
							      .shape = box,
							      .position = vec3_scale(normal, 0.25),
							      .rotation = tilt,
							      .friction = friction,
							      .wakeful = true });
	vec3 start = stage.tables.body.position[row];
	stage_run(&stage, ticks);
	return vec3_distance(stage.tables.body.position[row], start);
}

START_TEST(a_box_sticks_just_below_the_angle_of_friction)
{
	ck_assert(slide(trig_atan(0.5) - 0.01, 0.5, 120) < 0.005);
}
END_TEST

START_TEST(a_box_slides_just_above_the_angle_of_friction)
{
	double angle = trig_atan(0.5) + 0.05, time = 2;
	double expected = 0.5 * 9.81 * (trig_sin(angle) - 0.5 * trig_cos(angle)) * time * time;
	double way = slide(angle, 0.5, 120);
	ck_assert_msg(scalar_near(way, expected, 0.05 * expected), "%g instead of %g", way,
		      expected);
}
END_TEST

START_TEST(without_friction_a_box_slides_freely)
{
	double time = 1, expected = 0.5 * 9.81 * trig_sin(0.1) * time * time;
	double way = slide(0.1, -1, 60);
	ck_assert_msg(scalar_near(way, expected, 0.02 * expected), "%g instead of %g", way,
		      expected);
}
END_TEST

START_TEST(static_friction_exceeds_dynamic_friction)
{
	/* Between the two friction cones a body at rest sticks, and a sliding body keeps sliding. */
	double angle = trig_atan(0.5);
	vec3 normal = vec3_make(-trig_sin(angle), trig_cos(angle), 0);
	vec3 down = vec3_make(-normal.y, normal.x, 0);
	uint32_t plane = stage_shape(&stage, make_plane(normal, 0));
	stage_add(&stage, (struct stage_body){ .status = BODY_STATIC, .shape = plane });
	uint32_t box = stage_shape(&stage, make_box(0.5, 0.25, 0.5));
	uint32_t rows[2];
	for (uint32_t i = 0; i < 2; i++) {
		struct stage_body body = { .status = BODY_DYNAMIC, .shape = box, .wakeful = true };
		body.position = vec3_add(vec3_scale(normal, 0.25), vec3_make(0, 0, 3.0 * i));
		body.rotation = quat_from_axis_angle(vec3_make(0, 0, 1), angle);
		body.velocity = vec3_scale(down, i);
		rows[i] = stage_add(&stage, body);
	}
	for (uint32_t row = 0; row < 3; row++) {
		stage.tables.body.static_friction[row] = 0.7;
		stage.tables.body.dynamic_friction[row] = 0.3;
	}
	stage_run(&stage, 60);
	ck_assert(vec3_length(stage.tables.body.velocity[rows[0]]) < 0.01);
	ck_assert(vec3_length(stage.tables.body.velocity[rows[1]]) > 1.5);
}
END_TEST

START_TEST(a_spinning_box_is_stopped_by_the_twist_of_its_manifold)
{
	stage_ground(&stage);
	uint32_t box = stage_shape(&stage, make_box(0.5, 0.1, 0.5));
	uint32_t row = add_body(box, vec3_make(0, 0.1, 0), vec3_zero());
	stage.tables.body.angular_velocity[row] = vec3_make(0, 4, 0);
	stage_run(&stage, 5);
	/* Friction at four corners, 0.707 m out: the moment is μ m g r, the inertia m/6. */
	double expected = 4 - 0.6 * 9.81 * 0.70711 * 6 * 5 / 60;
	ck_assert(scalar_near(stage.tables.body.angular_velocity[row].y, expected, 0.3));
	stage_run(&stage, 115);
	ck_assert(scalar_abs(stage.tables.body.angular_velocity[row].y) < 1e-3);
}
END_TEST

START_TEST(a_ball_rolls_without_slipping_and_without_end)
{
	stage_ground(&stage);
	uint32_t ball = stage_shape(&stage, make_sphere(0.5));
	uint32_t row = add_body(ball, vec3_make(0, 0.5, 0), vec3_make(2, 0, 0));
	stage_run(&stage, 120);
	/* Sliding turns into rolling at 5/7 of the speed. */
	double speed = stage.tables.body.velocity[row].x;
	ck_assert(scalar_near(speed, 2.0 * 5 / 7, 0.02));
	ck_assert(scalar_near(stage.tables.body.angular_velocity[row].z, -speed / 0.5, 0.02));
}
END_TEST

/* ---- stacks ----------------------------------------------------------------------------------- */

START_TEST(ten_stacked_boxes_stay_in_place)
{
	uint32_t lowest = stage_stack(&stage, 10);
	stage_run(&stage, 300);
	for (uint32_t i = 0; i < 10; i++) {
		vec3 at = stage.tables.body.position[lowest + i];
		ck_assert(scalar_near(at.y, 0.5 + i, 0.02));
		ck_assert(scalar_abs(at.x) < 0.01 && scalar_abs(at.z) < 0.01);
	}
	ck_assert_uint_eq(stage.dynamics.awake.count, 0);
}
END_TEST

START_TEST(the_ground_carries_the_weight_of_the_stack)
{
	uint32_t lowest = stage_stack(&stage, 5);
	stage_parameter(&stage, PARAMETER_SLEEP_ENABLED, 0);
	stage_run(&stage, 200);
	double carried = 0, weight = 0;
	for (uint32_t row = 0; row < stage.tables.contact.count; row++)
		if (stage.tables.contact.used[row] && stage.tables.contact.placement_a[row] == 0)
			for (uint32_t p = 0; p < 4; p++)
				carried += stage.tables.contact.normal_impulse[row][p];
	for (uint32_t i = 0; i < 5; i++)
		weight += stage.tables.body.mass[lowest + i] * 9.81 * stage.dt;
	ck_assert_msg(scalar_near(carried, weight, 1e-3 * weight), "%g of %g", carried, weight);
}
END_TEST

START_TEST(a_heavy_box_rests_on_light_ones)
{
	stage_ground(&stage);
	uint32_t box = stage_shape(&stage, make_box(0.5, 0.5, 0.5));
	uint32_t top = 0;
	for (uint32_t i = 0; i < 5; i++)
		top = stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
							     .shape = box,
							     .position = { 0, 0.5 + i, 0 },
							     .mass = i == 4 ? 10 : 1 });
	stage_run(&stage, 300);
	vec3 at = stage.tables.body.position[top];
	ck_assert_msg(at.y > 4.45, "top at %g", at.y);
	ck_assert(scalar_abs(at.x) < 0.02 && scalar_abs(at.z) < 0.02);
}
END_TEST

START_TEST(a_pyramid_of_twenty_rows_stands_within_its_limits)
{
	enum { ROWS = 20, STEPS = 600 };
	stage_ground(&stage);
	uint32_t box = stage_shape(&stage, make_box(0.5, 0.5, 0.5));
	for (uint32_t i = 0; i < ROWS; i++)
		for (uint32_t k = i; k < ROWS; k++)
			stage_add(&stage, (struct stage_body){
						  .status = BODY_DYNAMIC,
						  .shape = box,
						  .mass = 1,
						  .position = { 0.5 * i + (k - i), 0.5 + i, 0 } });
	stage_parameter(&stage, PARAMETER_SLEEP_ENABLED, 0);
	vec3 start[ROWS * (ROWS + 1) / 2 + 1];
	for (uint32_t row = 1; row < stage.tables.body.count; row++)
		start[row] = stage.tables.body.position[row];
	stage_run(&stage, STEPS);
	ck_assert(stage.dynamics.report.penetration_max <= 0.004);
	ck_assert(stage.dynamics.report.residual < 0.01);
	for (uint32_t row = 1; row < stage.tables.body.count; row++) {
		vec3 moved = vec3_sub(stage.tables.body.position[row], start[row]);
		moved.y = 0;
		ck_assert_msg(vec3_length(moved) <= 0.010, "body %u drifts %g", row,
			      vec3_length(moved));
	}
}
END_TEST

/* A body has more contacts than there are colours; the surplus contacts are solved serially. */
START_TEST(a_tray_carries_more_balls_than_there_are_colours)
{
	enum { SIDE = 18 };
	stage_ground(&stage);
	uint32_t tray = stage_shape(&stage, make_box(4, 0.5, 4));
	uint32_t ball = stage_shape(&stage, make_sphere(0.2));
	stage_parameter(&stage, PARAMETER_SLEEP_ENABLED, 0);
	uint32_t row = add_body(tray, vec3_make(0, 0.5, 0), vec3_zero());
	for (uint32_t i = 0; i < SIDE * SIDE; i++)
		add_body(ball, vec3_make(0.42 * (i % SIDE) - 3.57, 1.2, 0.42 * (i / SIDE) - 3.57),
			 vec3_zero());
	stage_run(&stage, 120);
	ck_assert_uint_gt(stage.dynamics.report.colours, 256);
	ck_assert_uint_eq(stage.dynamics.report.touching, SIDE * SIDE + 1);
	for (uint32_t i = 1; i <= SIDE * SIDE; i++)
		ck_assert(scalar_near(stage.tables.body.position[row + i].y, 1.2, 0.005));
	ck_assert(scalar_near(stage.tables.body.position[row].y, 0.5, 0.005));
	ck_assert(stage_kinetic(&stage) < 1e-6 * stage_potential(&stage));
}
END_TEST

START_TEST(overlapping_spheres_separate_without_a_quarantine)
{
	stage_ground(&stage);
	stage_bomb(&stage, 60, 9);
	stage_run(&stage, 240);
	for (uint32_t row = 0; row < stage.tables.body.count; row++) {
		ck_assert_uint_eq(stage.tables.body.quarantined[row], 0);
		ck_assert(vec3_length(stage.tables.body.velocity[row]) < 20);
	}
	ck_assert(stage.dynamics.report.penetration_max < 0.05);
}
END_TEST

/* ---- meshes ----------------------------------------------------------------------------------- */

static uint32_t flat_mesh(uint32_t cells)
{
	return stage_shape(&stage, make_terrain(cells, 0.5, 0, 1));
}

START_TEST(a_ball_rolls_over_triangles_as_over_a_plane)
{
	uint32_t mesh = flat_mesh(24);
	stage_add(&stage, (struct stage_body){ .status = BODY_STATIC, .shape = mesh });
	uint32_t ball = stage_shape(&stage, make_sphere(0.4));
	uint32_t row = add_body(ball, vec3_make(-4, 0.4, 0.13), vec3_make(3, 0, 0.4));
	stage.tables.body.angular_velocity[row] = vec3_make(1, 0, -7.5);
	double highest = 0;
	for (uint32_t tick = 0; tick < 120; tick++) {
		stage_step(&stage);
		highest = scalar_max(highest, stage.tables.body.position[row].y);
	}
	ck_assert_msg(highest < 0.402, "jumped to %g", highest);
	ck_assert(scalar_near(stage.tables.body.velocity[row].x, 3, 0.03));
	ck_assert(scalar_near(stage.tables.body.velocity[row].z, 0.4, 0.02));
}
END_TEST

START_TEST(a_box_slides_over_triangles_without_bumps)
{
	uint32_t mesh = flat_mesh(24);
	stage_add(&stage,
		  (struct stage_body){ .status = BODY_STATIC, .shape = mesh, .friction = -1 });
	uint32_t box = stage_shape(&stage, make_box(0.4, 0.2, 0.3));
	uint32_t row = add_body(box, vec3_make(-4, 0.2, 0.1), vec3_make(3, 0, 0.3));
	double highest = 0;
	for (uint32_t tick = 0; tick < 120; tick++) {
		stage_step(&stage);
		highest = scalar_max(highest, stage.tables.body.position[row].y);
	}
	ck_assert_msg(highest < 0.203, "jumped to %g", highest);
	ck_assert(scalar_near(stage.tables.body.velocity[row].x, 3, 0.05));
}
END_TEST

/* ---- animated, damped, planar ----------------------------------------------------------------- */

START_TEST(a_conveyor_carries_a_body)
{
	uint32_t slab = stage_shape(&stage, make_box(20, 0.5, 2));
	uint32_t box = stage_shape(&stage, make_box(0.25, 0.25, 0.25));
	stage_add(&stage, (struct stage_body){ .status = BODY_ANIMATED,
					       .shape = slab,
					       .velocity = { 1, 0, 0 } });
	uint32_t row = add_body(box, vec3_make(-5, 0.75, 0), vec3_zero());
	stage_run(&stage, 60);
	ck_assert(scalar_near(stage.tables.body.velocity[row].x, 1, 0.01));
}
END_TEST

START_TEST(damping_decays_motion_at_its_rate)
{
	stage.tables.world.gravity[0] = vec3_zero();
	uint32_t ball = stage_shape(&stage, make_sphere(0.5));
	uint32_t row = add_body(ball, vec3_zero(), vec3_make(2, 0, 0));
	stage.tables.body.angular_velocity[row] = vec3_make(0, 3, 0);
	stage.tables.body.linear_damping[row] = 0.5;
	stage.tables.body.angular_damping[row] = 1;
	stage_run(&stage, 60);
	ck_assert(scalar_near(stage.tables.body.velocity[row].x, 2 * trig_exp(-0.5), 0.005));
	ck_assert(scalar_near(stage.tables.body.angular_velocity[row].y, 3 * trig_exp(-1), 0.01));
}
END_TEST

START_TEST(a_planar_stack_stays_in_its_plane)
{
	static const vec3 ground[] = { { -20, -1, 0 }, { 20, -1, 0 }, { 20, 0, 0 }, { -20, 0, 0 } };
	static const vec3 square[] = {
		{ -0.5, -0.5, 0 }, { 0.5, -0.5, 0 }, { 0.5, 0.5, 0 }, { -0.5, 0.5, 0 }
	};
	stage.tables.world.planar[0] = 1;
	uint32_t floor = stage_shape(&stage, make_polygon(ground, 4, 0));
	uint32_t piece = stage_shape(&stage, make_polygon(square, 4, 0));
	stage_add(&stage, (struct stage_body){ .status = BODY_STATIC, .shape = floor });
	uint32_t lowest = 0;
	for (uint32_t i = 0; i < 5; i++) {
		uint32_t row = add_body(piece, vec3_make(0.05 * i, 0.5 + i, 0), vec3_make(0, 0, 0));
		lowest = i == 0 ? row : lowest;
	}
	stage_run(&stage, 240);
	for (uint32_t i = 0; i < 5; i++) {
		uint32_t row = lowest + i;
		ck_assert(scalar_near(stage.tables.body.position[row].y, 0.5 + i, 0.02));
		ck_assert(stage.tables.body.position[row].z == 0);
		ck_assert(stage.tables.body.rotation[row].x == 0);
		ck_assert(stage.tables.body.rotation[row].y == 0);
		ck_assert(stage.tables.body.velocity[row].z == 0);
	}
}
END_TEST

static Suite *make(void)
{
	const TTest *const tests[] = {
		collisions_without_gravity_conserve_momentum_and_gain_no_energy,
		a_spinning_brick_conserves_energy_and_momentum_at_any_substeps,
		a_static_body_pushes_out_faster_than_a_heavy_one_in_either_order,
		a_settled_pile_has_no_energy_left,
		a_ball_bounces_to_the_square_of_its_restitution,
		slow_approaches_do_not_bounce,
		a_fast_ball_does_not_sink_into_the_ground,
		a_box_sticks_just_below_the_angle_of_friction,
		a_box_slides_just_above_the_angle_of_friction,
		without_friction_a_box_slides_freely,
		static_friction_exceeds_dynamic_friction,
		a_spinning_box_is_stopped_by_the_twist_of_its_manifold,
		a_ball_rolls_without_slipping_and_without_end,
		ten_stacked_boxes_stay_in_place,
		the_ground_carries_the_weight_of_the_stack,
		a_heavy_box_rests_on_light_ones,
		a_pyramid_of_twenty_rows_stands_within_its_limits,
		a_tray_carries_more_balls_than_there_are_colours,
		overlapping_spheres_separate_without_a_quarantine,
		a_ball_rolls_over_triangles_as_over_a_plane,
		a_box_slides_over_triangles_without_bumps,
		a_conveyor_carries_a_body,
		damping_decays_motion_at_its_rate,
		a_planar_stack_stays_in_its_plane,
	};
	Suite *suite = suite_create("methods/soft_step");
	TCase *motion = tcase_create("motion");
	tcase_add_checked_fixture(motion, set_up, tear_down);
	for (uint32_t i = 0; i < COUNT_OF(tests); i++)
		tcase_add_test(motion, tests[i]);
	suite_add_tcase(suite, motion);
	return suite;
}

int main(void)
{
	return check_main(make);
}
