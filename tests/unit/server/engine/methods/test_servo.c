/* Motors with gains (servos) under every method: as springs where those can be, at speeds and lags that
 * theory gives, within their limits; what makes no sense is refused. */
#include "server/engine/math/trig.h"
#include "tests/lib/joined.h"

#include <math.h>

static const char *const METHODS[] = { "lcp",	 "projection", "reflection",
				       "impact", "gauss",      "soft-step" };
enum { METHODS_COUNT = COUNT_OF(METHODS) };

/* A world with a slide along x, of a body of 2 kg, that the axis command `axis` drives. */
struct slide {
	struct world *world;
	body_id body;
	joint_id joint;
};

static struct slide open_slide(const char *method, uint32_t rate, vec3 gravity)
{
	struct slide self = { .world = joined_world(method, rate, gravity) };
	self.body = joined_put(
		self.world, (struct joined_thing){ .shape = TEST_BOX, .mass = 2, .smooth = true });
	self.joint = joined_join(self.world, JOINT_PRISMATIC, 0, self.body, vec3_zero(),
				 quat_identity());
	return self;
}

static struct command drive(const struct slide *self, enum joint_motor motor, double target,
			    double stiffness, double damping)
{
	struct command command = joined_axis(self->joint, 0);
	command.joint_axis.motor = (uint8_t)motor;
	command.joint_axis.target = target;
	command.joint_axis.motor_stiffness = stiffness;
	command.joint_axis.motor_damping = damping;
	return command;
}

static double place(const struct slide *self)
{
	return test_body(self->world, self->body).position.x;
}

static double speed(const struct slide *self)
{
	return test_body(self->world, self->body).velocity.x;
}

/* A servo that holds a place is the spring that pulls there, in every bit. */
START_TEST(a_servo_at_rest_is_a_spring)
{
	for (uint32_t limited = 0; limited < 2; limited++) {
		struct slide spring = open_slide(METHODS[_i], 60, vec3_make(3, 0, 0)),
			     servo = open_slide(METHODS[_i], 60, vec3_make(3, 0, 0));
		double limit = limited ? 7 : 0;
		struct command own = joined_axis(spring.joint, 0);
		own.joint_axis.spring = JOINT_SPRING_STIFFNESS;
		own.joint_axis.stiffness = 90;
		own.joint_axis.damping = 4;
		own.joint_axis.rest = 0.5;
		own.joint_axis.spring_limit = limit;
		struct command other = drive(&servo, JOINT_MOTOR_POSITION, 0.5, 90, 4);
		other.joint_axis.motor_limit = limit;
		test_do(spring.world, &own);
		test_do(servo.world, &other);
		for (uint32_t tick = 0; tick < 200; tick++) {
			test_step(spring.world, 1);
			test_step(servo.world, 1);
			ck_assert_uint_eq(world_tick_hash(spring.world),
					  world_tick_hash(servo.world));
		}
		test_check(servo.world);
		world_destroy(spring.world);
		world_destroy(servo.world);
	}
}
END_TEST

/* m a = F − c (v − target): it ends at target + F / c, and a limit below F does not hold it. */
START_TEST(a_velocity_servo_slips_by_its_load)
{
	struct slide self = open_slide(METHODS[_i], 60, vec3_zero());
	struct command command = drive(&self, JOINT_MOTOR_VELOCITY, 1.5, 0, 8);
	joined_push(self.world, self.body, vec3_make(4, 0, 0), vec3_zero());
	test_do(self.world, &command);
	test_step(self.world, 600);
	/* By the way: the velocity of a body that joints alone bind is that of the middle of the tick,
	 * and half a tick of forces. */
	double from = place(&self);
	test_step(self.world, 60);
	ck_assert_double_eq_tol(place(&self) - from, 1.5 + 4.0 / 8, 1e-6);
	ck_assert_double_eq_tol(joined_view(self.world, self.joint).force.x, -4, 1e-4);
	command.joint_axis.motor_limit = 1;
	test_do(self.world, &command);
	double before = speed(&self);
	test_step(self.world, 60);
	ck_assert_double_eq_tol(speed(&self) - before, (4.0 - 1) / 2, 1e-3);
	test_check(self.world);
	world_destroy(self.world);
}
END_TEST

/* The lag of a servo behind a sine is that of m e'' + c e' + k e = −m target'', because its damping acts
 * on the rate that is missing. Short steps, so that their own error is small. */
START_TEST(a_servo_follows_a_sine_with_the_lag_of_theory)
{
	enum { RATE = 2000 };
	const double m = 2, k = 800, c = 60, amplitude = 0.2, omega = TWO_PI * 1.25;
	struct slide self = open_slide(METHODS[_i], RATE, vec3_zero());
	struct command command = drive(&self, JOINT_MOTOR_POSITION, 0, k, c);
	command.joint_axis.wave = JOINT_WAVE_SINE;
	command.joint_axis.amplitude = amplitude;
	command.joint_axis.hertz = 1.25;
	test_do(self.world, &command);
	test_step(self.world, 2 * RATE); /* e^(-15 t): settled */
	double real = k - m * omega * omega, imaginary = c * omega, most = 0;
	double lag = m * omega * omega * amplitude / sqrt(real * real + imaginary * imaginary);
	for (uint32_t tick = 1; tick <= RATE * 4 / 5; tick++) {
		test_step(self.world, 1);
		double time = 2 + (double)tick / RATE;
		most = fmax(most, fabs(place(&self) - amplitude * trig_sin(omega * time)));
	}
	ck_assert_double_eq_tol(most, lag, 0.02 * lag);
	test_check(self.world);
	world_destroy(self.world);
}
END_TEST

/* Stiff servos on long steps come to rest: their forces are those at the end of the step. */
START_TEST(a_stiff_servo_is_stable_on_long_steps)
{
	struct slide self = open_slide(METHODS[_i], 30, vec3_make(-9.81, 0, 0));
	struct command command = drive(&self, JOINT_MOTOR_POSITION, 0.3, 1e7, 1e5);
	test_do(self.world, &command);
	test_step(self.world, 120);
	double rest = place(&self);
	ck_assert_double_eq_tol(rest, 0.3 - 2 * 9.81 / 1e7, 1e-6);
	test_step(self.world, 30);
	ck_assert_double_eq_tol(place(&self), rest, 1e-9);
	world_destroy(self.world);
}
END_TEST

/* Without damping, and with a mass matrix that turns with the pose, so that rows of servos change their
 * kind within a tick: the energy stays near that of the deflection, as with springs. */
START_TEST(a_servo_without_damping_gains_no_energy)
{
	static const double TARGET[2] = { 0.2, -0.3 };
	const double stiffness = 1000;
	struct world *world = joined_world(METHODS[_i], 60, vec3_zero());
	body_id body = joined_put(
		world, (struct joined_thing){ .shape = TEST_BOX, .mass = 1, .smooth = true });
	joint_id joint = joined_join(world, JOINT_UNIVERSAL, 0, body, vec3_zero(), quat_identity());
	double energy = 0, most = 0;
	for (uint32_t k = 0; k < 2; k++) {
		struct command command = joined_axis(joint, (uint8_t)(3 + k));
		command.joint_axis.motor = JOINT_MOTOR_POSITION;
		command.joint_axis.target = TARGET[k];
		command.joint_axis.motor_stiffness = stiffness;
		test_do(world, &command);
		energy += stiffness * TARGET[k] * TARGET[k] / 2;
	}
	for (uint32_t tick = 0; tick < 600; tick++) {
		test_step(world, 1);
		struct body_view view = test_body(world, body);
		most = fmax(most, 0.5 * vec3_length_squared(view.velocity) +
					  vec3_length_squared(view.angular_velocity) / 12);
	}
	ck_assert_msg(most < 1.5 * energy, "%s: %g J of %g", METHODS[_i], most, energy);
	test_check(world);
	world_destroy(world);
}
END_TEST

START_TEST(gains_without_their_motor_are_refused)
{
	struct slide self = open_slide("lcp", 60, vec3_zero());
	static const struct {
		enum joint_motor motor;
		double stiffness, damping;
		enum status status;
	} cases[] = { { JOINT_MOTOR_NONE, 1, 0, STATUS_RANGE },
		      { JOINT_MOTOR_NONE, 0, 1, STATUS_RANGE },
		      { JOINT_MOTOR_VELOCITY, 1, 1, STATUS_RANGE },
		      { JOINT_MOTOR_POSITION, 0, 1, STATUS_RANGE },
		      { JOINT_MOTOR_POSITION, -1, 0, STATUS_RANGE },
		      { JOINT_MOTOR_POSITION, 1, (double)INFINITY, STATUS_NOT_FINITE },
		      { JOINT_MOTOR_POSITION, 1, 0, STATUS_OK },
		      { JOINT_MOTOR_VELOCITY, 0, 1, STATUS_OK } };
	for (uint32_t i = 0; i < COUNT_OF(cases); i++) {
		struct command command =
			drive(&self, cases[i].motor, 0, cases[i].stiffness, cases[i].damping);
		ck_assert_int_eq(test_try(self.world, &command), cases[i].status);
	}
	struct joint_axis_view view;
	ck_assert_int_eq(world_joint_axis(self.world, self.joint, 0, &view), STATUS_OK);
	ck_assert_double_eq(view.motor_damping, 1);
	ck_assert_double_eq(view.motor_stiffness, 0);
	test_check(self.world);
	world_destroy(self.world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("servo");
	TCase *tcase = tcase_create("servo");
	tcase_add_loop_test(tcase, a_servo_at_rest_is_a_spring, 0, METHODS_COUNT);
	tcase_add_loop_test(tcase, a_velocity_servo_slips_by_its_load, 0, METHODS_COUNT);
	tcase_add_loop_test(tcase, a_servo_follows_a_sine_with_the_lag_of_theory, 0, METHODS_COUNT);
	tcase_add_loop_test(tcase, a_stiff_servo_is_stable_on_long_steps, 0, METHODS_COUNT);
	tcase_add_loop_test(tcase, a_servo_without_damping_gains_no_energy, 0, METHODS_COUNT);
	tcase_add_test(tcase, gains_without_their_motor_are_refused);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
