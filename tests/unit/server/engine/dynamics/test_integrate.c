/* The free path of one body over one step: closed forms of damped motion, conservation of angular
 * momentum and energy, and limits of speed that apply before a body moves. */
#include <math.h>

#include "server/base/rng.h"
#include "server/engine/dynamics/integrate.h"
#include "tests/lib/check_main.h"
#include "tests/lib/shapes.h"
#include "tests/lib/stage.h"

static struct rng rng;
static struct stage stage;

static void set_up(void)
{
	rng = rng_seeded(check_seed());
	stage_init(&stage, "free");
}

static void tear_down(void)
{
	stage_release(&stage);
}

static vec3 draw(double most)
{
	vec3 v;
	v.x = rng_range(&rng, -most, most);
	v.y = rng_range(&rng, -most, most);
	v.z = rng_range(&rng, -most, most);
	return v;
}

static uint32_t add_body(uint32_t shape)
{
	vec3 axis = draw(1);
	return stage_add(&stage,
			 (struct stage_body){ .status = BODY_DYNAMIC,
					      .shape = shape,
					      .velocity = draw(10),
					      .spin = draw(10),
					      .rotation = { 0.5, axis.x, axis.y, axis.z } });
}

static void near(vec3 found, vec3 wanted, double off)
{
	ck_assert_double_le(vec3_distance(found, wanted), off * (1 + vec3_length(wanted)));
}

static struct body_motion free_path(uint32_t row, const struct force_sum *sum, double dt,
				    uint32_t pieces)
{
	struct body_start start = integrate_start(&stage.dynamics, row, sum, dt);
	return integrate_free(&stage.dynamics, row, &start, dt, pieces);
}

/* Stores the end of a path as the body's motion. */
static void store_path_end(uint32_t row, const struct body_motion *motion)
{
	struct body_table *body = &stage.tables.body;
	body->velocity[row] = motion->velocity;
	body->angular_velocity[row] = motion->angular_velocity;
	body->rotation[row] = motion->rotation;
	stage.dynamics.bodies.items[row].rotation = mat3_from_quat(motion->rotation);
	stage.dynamics.bodies.items[row].centre = motion->centre;
}

/* e^z, (e^z − 1)/z and ((e^z − 1)/z − 1)/z with more digits, z = −c t, on both sides of the switch to
 * the series. */
START_TEST(damped_motion_is_its_closed_form)
{
	for (uint32_t round = 0; round < 400; round++) {
		double rate = exp(rng_range(&rng, -30, 7)), time = rng_range(&rng, 1e-5, 0.1);
		struct damped d = integrate_damped(rate, time);
		long double z = -(long double)rate * time, one = 1, two = 0.5L;
		if (fabsl(z) > 1e-3L) {
			one = expm1l(z) / z;
			two = (one - 1) / z;
		} else {
			two = 0.5L + z / 6 + z * z / 24 + z * z * z / 120;
			one = 1 + z * two;
		}
		ck_assert_double_le(fabs(d.keep - (double)expl(z)), 1e-15);
		ck_assert_double_le(fabs(d.gain / time - (double)one), 1e-15);
		ck_assert_double_le(fabs(d.rise / time / time - (double)two), 2e-15);
	}
	struct damped none = integrate_damped(0, 0.3);
	ck_assert(none.keep == 1 && none.gain == 0.3 && none.rise == 0.5 * 0.3 * 0.3);
}
END_TEST

/* v' = a − c v: two steps give the same motion as one step of their total length. */
START_TEST(two_damped_steps_of_a_ball_equal_one_long_step)
{
	uint32_t row = add_body(stage_shape(&stage, make_sphere(0.5)));
	struct body_table *body = &stage.tables.body;
	for (uint32_t round = 0; round < 200; round++) {
		struct force_sum sum = { draw(10), draw(1e3), draw(0) };
		body->velocity[row] = draw(10);
		body->angular_velocity[row] = draw(10);
		/* Damping from 0 to c dt = 20. */
		body->linear_damping[row] = round % 5 == 0 ? 0 : rng_range(&rng, 0, 200);
		body->angular_damping[row] = round % 3 == 0 ? 0 : rng_range(&rng, 0, 200);
		if (round % 2 == 0) /* torque along the spin: only turns about one axis add up */
			sum.torque =
				vec3_scale(body->angular_velocity[row], rng_range(&rng, -9, 9));
		struct body_motion before = dynamics_motion(&stage.dynamics, row);
		double dt = rng_range(&rng, 0.001, 0.1), part = rng_range(&rng, 0, dt);
		struct body_motion whole = free_path(row, &sum, dt, 1);
		struct body_motion first = free_path(row, &sum, part, 1);
		store_path_end(row, &first);
		struct body_motion second = free_path(row, &sum, dt - part, 1);
		near(second.velocity, whole.velocity, 1e-12);
		near(second.centre, whole.centre, 1e-12);
		near(second.angular_velocity, whole.angular_velocity, 1e-12);
		if (round % 2 == 0)
			ck_assert_double_ge(fabs(quat_dot(second.rotation, whole.rotation)),
					    1 - 1e-12);
		store_path_end(row, &before);
	}
}
END_TEST

START_TEST(a_fall_does_not_depend_on_the_mass_in_any_bit)
{
	uint32_t shape = stage_shape(&stage, make_sphere(0.5)), first = add_body(shape);
	for (uint32_t i = 0; i < 50; i++) {
		uint32_t row = add_body(shape);
		struct body_table *body = &stage.tables.body;
		body->mass[row] *= 1 + 0.37 * i;
		body->mass_inv[row] = 1 / body->mass[row];
		body->velocity[row] = body->velocity[first];
		struct force_sum sum[2];
		const uint32_t rows[2] = { first, row };
		force_all(&stage.dynamics, rows, 2, 0, sum);
		vec3 a = free_path(first, &sum[0], 1 / 60.0, 1).velocity;
		vec3 b = free_path(row, &sum[1], 1 / 60.0, 1).velocity;
		ck_assert_mem_eq(&a, &b, sizeof a);
	}
}
END_TEST

static vec3 momentum_of(uint32_t row, const struct body_motion *motion)
{
	sym3 inertia = sym3_load(stage.tables.body.inertia[row]);
	return integrate_tensor_at(inertia, motion->rotation, motion->angular_velocity);
}

/* Torque-free: angular momentum is kept to rounding at any turn; energy up to 1/3 rad a step. Beyond,
 * the Newton iteration may leave a residual. */
START_TEST(a_tumbling_brick_conserves_momentum_and_energy)
{
	static const struct force_sum none;
	for (uint32_t round = 0; round < 60; round++) {
		double size = exp(rng_range(&rng, -3, 1)), wide = size * rng_range(&rng, 0.1, 3);
		double high = size * rng_range(&rng, 0.1, 3), most = exp(rng_range(&rng, -5, 6));
		uint32_t row = add_body(stage_shape(&stage, make_box(size, wide, high)));
		stage.tables.body.angular_velocity[row] = draw(most);
		struct body_motion start = dynamics_motion(&stage.dynamics, row), now = start;
		vec3 momentum = momentum_of(row, &start);
		double energy = vec3_dot(momentum, start.angular_velocity);
		for (uint32_t i = 0; i < 100; i++) {
			now = free_path(row, &none, 1 / 60.0, 1 + i % 4);
			store_path_end(row, &now);
		}
		near(vec3_scale(momentum_of(row, &now), 1 / vec3_length(momentum)),
		     vec3_normalize(momentum), 1e-12);
		double left = vec3_dot(momentum_of(row, &now), now.angular_velocity);
		double fast = vec3_length(start.angular_velocity);
		ck_assert_double_le(fabs(left / energy - 1), fast < 20 ? 1e-10 : 1e-4);
	}
}
END_TEST

/* With torque and damping: half the step gives a quarter of the error. */
START_TEST(a_driven_tumbling_brick_has_second_order_error)
{
	uint32_t row = add_body(stage_shape(&stage, make_box(0.1, 0.3, 0.6)));
	stage.tables.body.angular_damping[row] = 2;
	for (uint32_t round = 0; round < 30; round++) {
		struct force_sum sum = { vec3_zero(), vec3_zero(), draw(200) };
		stage.tables.body.angular_velocity[row] = draw(3);
		struct body_motion truth = free_path(row, &sum, 0.1, 4096);
		double off[3];
		for (uint32_t k = 0; k < 3; k++) {
			struct body_motion rough = free_path(row, &sum, 0.1, 32u << k);
			off[k] = vec3_distance(rough.angular_velocity, truth.angular_velocity) +
				 vec3_distance(quat_vector(rough.rotation),
					       quat_vector(truth.rotation));
		}
		ck_assert_double_le(off[1], 0.3 * off[0] + 1e-12);
		ck_assert_double_le(off[2], 0.3 * off[1] + 1e-12);
	}
}
END_TEST

/* The push would carry the body across the world; its speed is limited before it moves. */
START_TEST(no_body_is_faster_than_the_limits_even_within_a_step)
{
	uint32_t row = add_body(stage_shape(&stage, make_box(0.1, 0.3, 0.6)));
	struct body_table *body = &stage.tables.body;
	for (uint32_t round = 0; round < 100; round++) {
		struct force_sum sum = { draw(1), draw(exp(rng_range(&rng, 0, 60))),
					 draw(exp(rng_range(&rng, 0, 60))) };
		body->velocity[row] = draw(exp(rng_range(&rng, 0, 40)));
		body->angular_velocity[row] = draw(exp(rng_range(&rng, 0, 40)));
		body->linear_damping[row] = round % 2 == 0 ? 0 : rng_range(&rng, 0, 50);
		struct body_start start = integrate_start(&stage.dynamics, row, &sum, 1 / 60.0);
		struct body_motion moved =
			integrate_free(&stage.dynamics, row, &start, 1 / 60.0, 1);
		double most = SPEED_MAX * (1 + 1e-12);
		ck_assert_double_le(vec3_length(start.velocity.linear), most);
		ck_assert_double_le(vec3_length(start.velocity.angular),
				    ANGULAR_SPEED_MAX * (1 + 1e-12));
		ck_assert_double_le(vec3_length(moved.velocity), most);
		double way = vec3_distance(moved.centre, stage.dynamics.bodies.items[row].centre);
		ck_assert_double_le(way, most / 60);
	}
}
END_TEST

START_TEST(an_animated_body_keeps_its_velocity_under_forces_and_damping)
{
	uint32_t row = stage_add(
		&stage, (struct stage_body){ .status = BODY_ANIMATED,
					     .shape = stage_shape(&stage, make_sphere(0.5)),
					     .velocity = { 1, 2, 3 },
					     .spin = { 4, 5, 6 } });
	stage.tables.body.linear_damping[row] = stage.tables.body.angular_damping[row] = 9;
	struct force_sum sum = { vec3_all(7), vec3_all(8), vec3_all(9) };
	struct body_motion moved = free_path(row, &sum, 0.1, 4);
	ck_assert(vec3_equal(moved.velocity, vec3_make(1, 2, 3)));
	ck_assert(vec3_equal(moved.angular_velocity, vec3_make(4, 5, 6)));
	near(moved.centre, vec3_make(0.1, 0.2, 0.3), 1e-15);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/dynamics/integrate");
	TCase *steps = tcase_create("steps");
	tcase_add_checked_fixture(steps, set_up, tear_down);
	tcase_add_test(steps, damped_motion_is_its_closed_form);
	tcase_add_test(steps, two_damped_steps_of_a_ball_equal_one_long_step);
	tcase_add_test(steps, a_fall_does_not_depend_on_the_mass_in_any_bit);
	tcase_add_test(steps, a_tumbling_brick_conserves_momentum_and_energy);
	tcase_add_test(steps, a_driven_tumbling_brick_has_second_order_error);
	tcase_add_test(steps, no_body_is_faster_than_the_limits_even_within_a_step);
	tcase_add_test(steps, an_animated_body_keeps_its_velocity_under_forces_and_damping);
	suite_add_tcase(suite, steps);
	return suite;
}

int main(void)
{
	return check_main(make);
}
