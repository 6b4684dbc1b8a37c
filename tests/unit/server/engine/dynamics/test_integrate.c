/* One body over one step: damping that never turns a velocity round, and the implicit gyroscopic term. */
#include "server/base/rng.h"
#include "server/engine/dynamics/integrate.h"
#include "tests/lib/check_main.h"
#include "tests/lib/shapes.h"
#include "tests/lib/stage.h"

static vec3 draw(struct rng *rng, double most)
{
	vec3 v;
	v.x = rng_range(rng, -most, most);
	v.y = rng_range(rng, -most, most);
	v.z = rng_range(rng, -most, most);
	return v;
}

static void near(vec3 found, vec3 wanted, double off)
{
	ck_assert_double_lt(vec3_distance(found, wanted), off * (1 + vec3_length(wanted)));
}

/* v' = (v + dt F/m) / (1 + dt c), linear and angular alike; a ball has no gyroscopic term. */
START_TEST(a_ball_is_pushed_turned_and_damped)
{
	struct rng rng = rng_seeded(check_seed());
	struct stage stage;
	stage_init(&stage, "free");
	uint32_t ball = stage_shape(&stage, make_sphere(0.5));
	uint32_t row = stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC, .shape = ball });
	struct body_table *body = &stage.tables.body;
	for (uint32_t round = 0; round < 200; round++) {
		double dt = rng_range(&rng, 0.001, 0.1);
		vec3 force = draw(&rng, 1e4), torque = draw(&rng, 1e3);
		body->velocity[row] = draw(&rng, 10);
		body->angular_velocity[row] = draw(&rng, 10);
		/* From nothing to far more than a step can take. */
		body->linear_damping[row] = rng_range(&rng, 0, 2) / dt;
		body->angular_damping[row] = rng_range(&rng, 0, 2) / dt;
		double moment = body->inertia[row][0];
		vec3 pushed = vec3_mul_add(body->velocity[row], force, dt / body->mass[row]);
		vec3 turned = vec3_mul_add(body->angular_velocity[row], torque, dt / moment);
		vec3 velocity, spin;
		integrate_velocities(&stage.dynamics, row, force, torque, dt, &velocity, &spin);
		near(velocity, vec3_scale(pushed, 1 / (1 + dt * body->linear_damping[row])), 1e-12);
		near(spin, vec3_scale(turned, 1 / (1 + dt * body->angular_damping[row])), 1e-12);
	}
	stage_release(&stage);
}
END_TEST

/* I (ω₁ − ω₀) + dt ω₁ × I ω₁ = 0 in body axes: one Newton step leaves an error of the second order. */
START_TEST(a_tumbling_body_solves_its_equation_to_second_order)
{
	struct rng rng = rng_seeded(check_seed() + 1);
	struct stage stage;
	stage_init(&stage, "free");
	uint32_t brick = stage_shape(&stage, make_box(0.1, 0.3, 0.6));
	vec3 axis = draw(&rng, 1);
	uint32_t row = stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
							      .shape = brick,
							      .rotation = { 0.5, axis.x, axis.y, axis.z } });
	struct body_table *body = &stage.tables.body;
	for (uint32_t round = 0; round < 50; round++) {
		vec3 start = draw(&rng, 3);
		double first = 0, last = 0;
		for (double dt = 0.02; dt > 0.002; dt /= 2) {
			body->angular_velocity[row] = start;
			vec3 velocity, spin;
			integrate_velocities(&stage.dynamics, row, vec3_zero(), vec3_zero(), dt, &velocity,
					     &spin);
			vec3 w0 = quat_rotate_inverse(body->rotation[row], start);
			vec3 w1 = quat_rotate_inverse(body->rotation[row], spin);
			const double *t = body->inertia[row];
			vec3 momentum = vec3_make(t[0] * w1.x, t[1] * w1.y, t[2] * w1.z);
			vec3 change = vec3_make(t[0] * (w1.x - w0.x), t[1] * (w1.y - w0.y),
						t[2] * (w1.z - w0.z));
			vec3 off = vec3_mul_add(change, vec3_cross(w1, momentum), dt);
			double size = vec3_length(off) / vec3_length(momentum);
			ck_assert_double_lt(size, 20 * dt * dt * vec3_length_squared(start));
			first = first > 0 ? first : size;
			last = size;
		}
		/* Eight times less of a step. */
		ck_assert_double_gt(first / last, 30);
	}
	stage_release(&stage);
}
END_TEST

START_TEST(what_is_not_dynamic_goes_on_as_it_is_told)
{
	struct stage stage;
	stage_init(&stage, "free");
	uint32_t ball = stage_shape(&stage, make_sphere(0.5));
	uint32_t row = stage_add(&stage, (struct stage_body){ .status = BODY_ANIMATED,
							      .shape = ball,
							      .velocity = { 1, 2, 3 },
							      .spin = { 4, 5, 6 } });
	stage.tables.body.linear_damping[row] = stage.tables.body.angular_damping[row] = 9;
	vec3 velocity, spin;
	integrate_velocities(&stage.dynamics, row, vec3_all(7), vec3_all(8), 0.1, &velocity, &spin);
	ck_assert(vec3_equal(velocity, vec3_make(1, 2, 3)) && vec3_equal(spin, vec3_make(4, 5, 6)));
	stage_release(&stage);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/dynamics/integrate");
	TCase *steps = tcase_create("steps");
	tcase_add_test(steps, a_ball_is_pushed_turned_and_damped);
	tcase_add_test(steps, a_tumbling_body_solves_its_equation_to_second_order);
	tcase_add_test(steps, what_is_not_dynamic_goes_on_as_it_is_told);
	suite_add_tcase(suite, steps);
	return suite;
}

int main(void)
{
	return check_main(make);
}
