/* Friction with two coefficients, along an axis and across it (ch4-5 I3b), under `impact`: impulses and
 * contact forces against what Newton's law gives in closed form; and static or dynamic friction by slip. */
#include "server/engine/math/scalar.h"
#include "server/engine/math/trig.h"
#include "tests/lib/near.h"
#include "tests/lib/shapes.h"
#include "tests/lib/stage_scenes.h"
#include "tests/lib/worlds.h"

#include <stdio.h>

#define GRAVITY 9.81

struct rough {
	vec3 axis;
	double along, across;
};

static void make_rough(struct command *spawn, struct rough of)
{
	spawn->spawn.friction_axis = of.axis;
	spawn->spawn.axis_friction = of.along;
	spawn->spawn.static_friction = spawn->spawn.dynamic_friction = of.across;
	spawn->spawn.friction_rule = COMBINE_MULTIPLY;
	spawn->spawn.restitution = 0;
	spawn->spawn.flags = 0;
}

static body_id put_floor(struct world *world, struct rough of)
{
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_PLANE, vec3_zero(), &item);
	spawn.spawn.status = BODY_STATIC;
	make_rough(&spawn, of);
	return test_do(world, &spawn);
}

/* Smooth or rough, so that the product with the other's friction is the other's. */
static const struct rough ONE = { { 0, 0, 0 }, 0, 1 };

/* A cube of 1 m and 1 kg that stands on the floor. */
static body_id put_puck(struct world *world, struct rough of, vec3 velocity)
{
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_BOX, vec3_make(0, 0.5, 0), &item);
	spawn.spawn.velocity = velocity;
	spawn.spawn.mass = 1;
	make_rough(&spawn, of);
	return test_do(world, &spawn);
}

static void set_gravity(struct world *world, vec3 gravity)
{
	struct command command = test_command(COMMAND_GRAVITY);
	command.gravity.gravity = gravity;
	test_do(world, &command);
}

/* Speed and way after t seconds of a slip that begins with u and is slowed down by a. */
static double speed_after(double u, double a, double t)
{
	double left = scalar_max(scalar_abs(u) - a * t, 0);
	return u < 0 ? -left : left;
}

static double way_after(double u, double a, double t)
{
	double slides = scalar_min(t, scalar_abs(u) / a);
	double way = scalar_abs(u) * slides - 0.5 * a * slides * slides;
	return u < 0 ? -way : way;
}

/* Each component slows down by its own coefficient, against its own sign: ch4-5 I3b in all quadrants, for an
 * axis of the floor or of the puck, that points anywhere in the plane. The slips end with a tick. */
START_TEST(a_puck_is_slowed_down_by_each_coefficient)
{
	bool of_puck = _i & 1;
	double angle = 0.7 * (_i >> 3), mu[2] = { 0.1, 0.25 };
	double sign[2] = { _i & 2 ? 1 : -1, _i & 4 ? 1 : -1 };
	vec3 t = vec3_make(trig_cos(angle), 0, trig_sin(angle));
	vec3 k = vec3_make(-trig_sin(angle), 0, trig_cos(angle));
	struct rough rough = { vec3_scale(t, 0.8), mu[0], mu[1] };
	struct world *world = test_world(false, "impact");
	put_floor(world, of_puck ? ONE : rough);
	double u = sign[0] * mu[0] * GRAVITY * 0.75, v = sign[1] * mu[1] * GRAVITY * 0.5;
	body_id puck = put_puck(world, of_puck ? rough : ONE, vec3_mul_add(vec3_scale(t, u), k, v));
	for (uint32_t tick = 1; tick <= 60; tick++) {
		test_step(world, 1);
		double time = tick / 60.0;
		struct body_view view = test_body(world, puck);
		double a = mu[0] * GRAVITY, b = mu[1] * GRAVITY;
		vec3 speed = vec3_mul_add(vec3_scale(t, speed_after(u, a, time)), k,
					  speed_after(v, b, time));
		vec3 way = vec3_mul_add(vec3_scale(t, way_after(u, a, time)), k,
					way_after(v, b, time));
		expect_near(view.velocity, speed, 1e-12);
		expect_near(view.position, vec3_add(way, vec3_make(0, 0.5, 0)), 1e-12);
		expect_near(view.angular_velocity, vec3_zero(), 1e-12);
	}
	world_destroy(world);
}
END_TEST

/* On a slope whose steepest line makes an angle with the axis each component holds or slides by itself; the
 * contact forces are what holds it. */
START_TEST(a_block_on_a_slope_holds_in_one_direction_and_slides_in_the_other)
{
	double steep = 0.4, turn = 0.6, mu[2] = { 0.1, 0.5 };
	double down = GRAVITY * trig_sin(steep), press = GRAVITY * trig_cos(steep);
	double along = down * trig_cos(turn), across = down * trig_sin(turn);
	ck_assert(along > mu[0] * press && across < mu[1] * press);
	struct world *world = test_world(false, "impact");
	set_gravity(world, vec3_make(along, -press, across));
	put_floor(world, (struct rough){ vec3_make(1, 0, 0), mu[0], mu[1] });
	body_id block = put_puck(world, ONE, vec3_zero());
	test_step(world, 60);
	double a = along - mu[0] * press;
	struct body_view view = test_body(world, block);
	expect_near(view.velocity, vec3_make(a, 0, 0), 1e-12);
	expect_near(view.position, vec3_make(0.5 * a, 0.5, 0), 1e-12);
	struct force_view points[8];
	uint32_t count;
	double normal = 0;
	ck_assert_int_eq(world_forces(world, block, false, points, 8, &count), STATUS_OK);
	for (uint32_t i = 0; i < count; i++)
		normal += points[i].normal_force;
	ck_assert_double_eq_tol(normal, press, 1e-12);
	ck_assert(count > 0 && points[0].b == block);
	expect_near(points[0].friction_force, vec3_make(-mu[0] * press, 0, -across), 1e-12);
	world_destroy(world);
}
END_TEST

/* ch4-5 I3b: an impulse with a coefficient of 0 along the axis and a large one across it sticks across it
 * only; with two small ones both slide, each with its own impulse. A ball of radius ½ m and 1 kg, e = ½. */
START_TEST(an_impulse_has_a_coefficient_for_each_tangent)
{
	static const struct {
		double along, across;
		vec3 velocity;
	} CASES[] = {
		{ 0, 10, { 1, -2, 1 } },       { 0, 10, { -1, -2, 1 } },
		{ 0.05, 0.08, { 1, -2, 1 } },  { 0.05, 0.08, { -1, -2, 1 } },
		{ 0.05, 0.08, { 1, -2, -1 } }, { 0.05, 0.08, { -1, -2, -1 } },
	};
	const double e = 0.5;
	struct attachment item;
	struct world *world = test_world(false, "impact");
	test_no_gravity(world);
	put_floor(world, (struct rough){ vec3_make(0, 0, 0.3), CASES[_i].along, CASES[_i].across });
	struct command ball = test_spawn_command(world, TEST_SPHERE, vec3_make(0, 0.505, 0), &item);
	make_rough(&ball, ONE);
	ball.spawn.mass = 1;
	ball.spawn.restitution = e;
	ball.spawn.velocity = CASES[_i].velocity;
	body_id id = test_do(world, &ball);
	test_step(world, 1);
	vec3 before = CASES[_i].velocity, after = test_body(world, id).velocity;
	double normal = 2 * (1 + e);
	/* A ball that sticks loses 2/7 of its slip by the impulse: I = 2/5 m r^2. */
	double x = before.x - scalar_sign(before.x) * scalar_min(CASES[_i].across * normal,
								 2.0 / 7 * scalar_abs(before.x));
	double z = before.z - scalar_sign(before.z) * scalar_min(CASES[_i].along * normal,
								 2.0 / 7 * scalar_abs(before.z));
	expect_near(after, vec3_make(x, 2 * e, z), 1e-12);
	world_destroy(world);
}
END_TEST

/* A slip has dynamic friction whatever its direction; with an axis each component that slips does,
 * and the other one is held by static friction. */
START_TEST(what_slips_has_dynamic_friction_in_every_direction)
{
	double angle = PI / 8 * (_i % 16);
	static const char *const METHODS[] = { "impact", "impact", "lcp" };
	bool along = _i / 16 == 1;
	vec3 t = vec3_make(trig_cos(angle), 0, trig_sin(angle));
	struct world *world = test_world(false, METHODS[_i / 16]);
	struct attachment item;
	struct command ground = test_spawn_command(world, TEST_PLANE, vec3_zero(), &item);
	ground.spawn.status = BODY_STATIC;
	make_rough(&ground, (struct rough){ along ? t : vec3_zero(), 1, 0.6 });
	ground.spawn.dynamic_friction = 0.3;
	test_do(world, &ground);
	body_id puck = put_puck(world, ONE, vec3_scale(t, 3));
	struct command rough = test_command(COMMAND_SET_MATERIAL);
	rough.set_material.body = puck;
	rough.set_material.static_friction = 1;
	rough.set_material.dynamic_friction = 0.5;
	rough.set_material.friction_rule = COMBINE_MULTIPLY;
	test_do(world, &rough);
	test_step(world, 30);
	double mu = along ? 0.5 : 0.3 * 0.5;
	expect_near(test_body(world, puck).velocity, vec3_scale(t, 3 - 0.5 * mu * GRAVITY), 1e-12);
	world_destroy(world);
}
END_TEST

/* An axis along the normal has no direction in the plane: the ordinary coefficient holds. */
START_TEST(an_axis_along_the_normal_has_no_effect)
{
	vec3 found[2];
	for (uint32_t k = 0; k < 2; k++) {
		struct world *world = test_world(false, "impact");
		struct rough rough = { vec3_make(0, k, 0), 5, 0.2 };
		put_floor(world, rough);
		body_id puck = put_puck(world, ONE, vec3_make(1, 0, 2));
		test_step(world, 30);
		found[k] = test_body(world, puck).velocity;
		world_destroy(world);
	}
	ck_assert(vec3_equal(found[0], found[1]));
	ck_assert_double_gt(vec3_length(found[0]), 0.5);
}
END_TEST

/* A puck in a groove through the axis of a table that turns: r'' = w^2 r, so r = r0 cosh(w t), and the table
 * pushes it aside by 2 m w r'. */
static double groove_error(uint32_t rate, uint8_t integrator)
{
	const double spin = 1, begin = 0.5;
	struct stage stage;
	stage_init(&stage, "impact");
	stage.dt = 1.0 / rate;
	uint32_t table = stage_add(
		&stage, (struct stage_body){ .status = BODY_ANIMATED,
					     .shape = stage_shape(&stage, make_box(5, 0.5, 5)),
					     .position = { 0, -0.5, 0 },
					     .spin = { 0, spin, 0 },
					     .friction = 10 });
	stage.tables.body.friction_axis[table] = vec3_make(1, 0, 0);
	uint32_t puck = stage_add(
		&stage, (struct stage_body){ .status = BODY_DYNAMIC,
					     .shape = stage_shape(&stage, make_box(0.2, 0.1, 0.2)),
					     .position = { begin, 0.1, 0 },
					     .velocity = { 0, 0, -spin * begin },
					     .spin = { 0, spin, 0 },
					     .friction = 10 });
	stage.tables.body.integrator[puck] = integrator;
	stage_run(&stage, rate);
	double r = begin * 0.5 * (trig_exp(spin) + trig_exp(-spin));
	vec3 exact = vec3_make(r * trig_cos(spin), 0.1, -r * trig_sin(spin));
	double off = vec3_distance(stage.tables.body.position[puck], exact);
	stage_release(&stage);
	return off;
}

START_TEST(a_puck_in_a_groove_of_a_turning_table_moves_outwards)
{
	double coarse = groove_error(60, INTEGRATOR_AUTOMATIC);
	double fine = groove_error(240, INTEGRATOR_AUTOMATIC);
	printf("# off %.2g, %.2g m at 60, 240 Hz\n", coarse, fine);
	ck_assert_double_lt(coarse, 1e-3);
	ck_assert_double_lt(fine, coarse / 12);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("methods/impact: friction axis");
	TCase *tcase = tcase_create("friction axis");
	tcase_add_loop_test(tcase, a_puck_is_slowed_down_by_each_coefficient, 0, 24);
	tcase_add_test(tcase, a_block_on_a_slope_holds_in_one_direction_and_slides_in_the_other);
	tcase_add_loop_test(tcase, an_impulse_has_a_coefficient_for_each_tangent, 0, 6);
	tcase_add_loop_test(tcase, what_slips_has_dynamic_friction_in_every_direction, 0, 48);
	tcase_add_test(tcase, an_axis_along_the_normal_has_no_effect);
	tcase_add_test(tcase, a_puck_in_a_groove_of_a_turning_table_moves_outwards);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
