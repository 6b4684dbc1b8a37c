/* Motors of kind force under every method: accelerations are those of forward dynamics in reduced
 * coordinates, momenta stay, limits and targets hold, and what they exert is told. */
#include "server/engine/math/trig.h"
#include "tests/lib/joined.h"

#include <math.h>

static const char *const METHODS[] = { "lcp",	 "projection", "reflection",
				       "impact", "gauss",      "soft-step" };
enum { METHODS_COUNT = COUNT_OF(METHODS), SOFT = METHODS_COUNT - 1, LINKS = 6 };

/* A floating tree of boxes with one joint of each type that has axes. */
struct tree {
	struct world *world;
	body_id bodies[LINKS];
	joint_id joints[LINKS]; /* of body i to its parent; that of body 0 is unused */
	struct robot_view view;
};

static const struct {
	enum joint_type type;
	uint32_t parent;
	vec3 at; /* m, of the body */
	vec3 turn;
} TREE[LINKS] = {
	{ 0, 0, { 0, 0, 0 }, { 0, 0, 0 } },
	{ JOINT_REVOLUTE, 0, { 1.2, 0.1, -0.2 }, { 0.3, 0.5, -0.2 } },
	{ JOINT_PRISMATIC, 1, { 1.3, 1.3, 0.1 }, { -0.7, 0.1, 0.6 } },
	{ JOINT_CYLINDRICAL, 0, { -0.9, 0.4, 0.7 }, { 0.2, -0.9, 0.4 } },
	{ JOINT_UNIVERSAL, 3, { -1.8, -0.6, 0.4 }, { 1.1, 0.3, 0.2 } },
	{ JOINT_REVOLUTE, 4, { -2.5, 0.2, -0.6 }, { -0.4, 0.8, 0.9 } },
};

static struct tree open_tree(const char *method, uint32_t rate)
{
	struct tree self = { .world = joined_world(method, rate, vec3_zero()) };
	struct reason why;
	for (uint32_t i = 0; i < LINKS; i++) {
		self.bodies[i] = joined_put(self.world, (struct joined_thing){ .shape = TEST_BOX,
									       .at = TREE[i].at,
									       .mass = 1 + 0.7 * i,
									       .smooth = true });
		if (i == 0)
			continue;
		vec3 middle = vec3_scale(vec3_add(TREE[i].at, TREE[TREE[i].parent].at), 0.5);
		self.joints[i] = joined_join(self.world, TREE[i].type, self.bodies[TREE[i].parent],
					     self.bodies[i], middle,
					     quat_from_rotation_vector(TREE[i].turn));
	}
	ck_assert_int_eq(world_robot(self.world, self.bodies[0], &self.view, &why), STATUS_OK);
	return self;
}

static void close_tree(struct tree *self)
{
	test_check(self->world);
	robot_view_release(&self->view);
	world_destroy(self->world);
}

/* Makes a force motor of each axis of a joint; `forces` by axis of the robot. */
static void drive_tree(const struct tree *self, const double *forces)
{
	uint32_t axis = 0;
	for (uint32_t k = 0; k < self->view.links; k++) {
		const struct robot_view_link *link = &self->view.link[k];
		for (uint32_t i = 0; i < link->axes; i++, axis++) {
			if (link->joint == 0)
				continue;
			struct command command = joined_axis(link->joint, link->axis[i]);
			command.joint_axis.motor = JOINT_MOTOR_FORCE;
			command.joint_axis.target = forces[axis];
			test_do(self->world, &command);
		}
	}
	ck_assert_uint_eq(axis, self->view.axes);
}

/* Forces of both signs, several of them; 0 of the base. */
static void choose_forces(const struct tree *self, uint32_t seed, double *forces)
{
	for (uint32_t i = 0; i < self->view.axes; i++)
		forces[i] = i < 6 ? 0 : 3 * trig_sin(1.7 * (i + 1) + 2.3 * seed);
}

/* The accelerations of the tree under given forces, from its rates after a tick from rest. */
static void measure(const char *method, uint32_t rate, const double *forces, double sign,
		    double *out)
{
	struct tree tree = open_tree(method, rate);
	double signed_forces[32];
	struct robot_view after;
	struct reason why;
	for (uint32_t i = 0; i < tree.view.axes; i++)
		signed_forces[i] = sign * forces[i];
	drive_tree(&tree, signed_forces);
	test_step(tree.world, 1);
	ck_assert_int_eq(world_robot(tree.world, tree.bodies[0], &after, &why), STATUS_OK);
	for (uint32_t i = 0; i < after.axes; i++)
		out[i] = after.rates[i] * rate;
	robot_view_release(&after);
	close_tree(&tree);
}

/* One tick of h from rest: rates are h q'' and terms of h³ that are even in the forces, so half
 * the difference of opposite forces is h q'' to h⁵. soft-step has velocities of single precision. */
START_TEST(accelerations_are_those_of_forward_dynamics)
{
	enum { RATE = 1000 };
	double forces[32], plus[32], minus[32], most = 0, large = 0;
	struct tree tree = open_tree(METHODS[_i], RATE);
	struct robot_dynamics_view answer;
	struct reason why;
	ck_assert_uint_le(tree.view.axes, 32);
	for (uint32_t seed = 0; seed < 4; seed++) {
		choose_forces(&tree, seed, forces);
		struct robot_dynamics asked = { .bodies = tree.bodies,
						.body_count = 1,
						.values = forces,
						.value_count = tree.view.axes };
		ck_assert_int_eq(world_robot_dynamics(tree.world, &asked, &answer, &why),
				 STATUS_OK);
		measure(METHODS[_i], RATE, forces, 1, plus);
		measure(METHODS[_i], RATE, forces, -1, minus);
		for (uint32_t i = 0; i < answer.axes; i++) {
			most = fmax(most, fabs(0.5 * (plus[i] - minus[i]) - answer.values[i]));
			large = fmax(large, fabs(answer.values[i]));
		}
		robot_dynamics_view_release(&answer);
	}
	ck_assert_double_gt(large, 1);
	ck_assert_msg(most <= (_i == SOFT ? 1e-5 : 1e-9) * large, "%s: %g of %g", METHODS[_i], most,
		      large);
	close_tree(&tree);
}
END_TEST

/* What motors do within a floating tree changes neither momentum. Forces along axes are held
 * while the bodies slide along them, which moves the line of force by nothing, and turn, which is
 * of the order of the tick. */
START_TEST(motors_within_a_tree_keep_its_momenta)
{
	struct tree tree = open_tree(METHODS[_i], 240);
	double forces[32], energy = 0;
	vec3 linear = vec3_zero(), angular = vec3_zero();
	choose_forces(&tree, 5, forces);
	for (uint32_t axis = 0, k = 0; k < tree.view.links; axis += tree.view.link[k++].axes)
		for (uint32_t i = 0; i < tree.view.link[k].axes; i++)
			if (tree.view.link[k].axis[i] < 3)
				forces[axis + i] = 0;
	drive_tree(&tree, forces);
	for (uint32_t tick = 0; tick < 120; tick++) {
		test_step(tree.world, 1);
		struct world_energy now = world_energy(tree.world);
		linear = now.linear;
		angular = now.angular;
		energy = fmax(energy, now.kinetic);
	}
	ck_assert_double_gt(energy, 1);
	double tolerance = _i == SOFT ? 2e-4 : 1e-9;
	ck_assert_msg(vec3_length(linear) < tolerance && vec3_length(angular) < tolerance,
		      "%s: %g kg m/s, %g kg m2/s at %g J", METHODS[_i], vec3_length(linear),
		      vec3_length(angular), energy);
	close_tree(&tree);
}
END_TEST

/* ---- one slide ------------------------------------------------------------------------------ */

struct slide {
	struct world *world;
	body_id body;
	joint_id joint;
};

static struct slide open_slide(const char *method, double force, double limit)
{
	struct slide self = { .world = joined_world(method, 60, vec3_make(0, -9.81, 0)) };
	self.body = joined_put(
		self.world, (struct joined_thing){ .shape = TEST_BOX, .mass = 2, .smooth = true });
	self.joint = joined_join(self.world, JOINT_PRISMATIC, 0, self.body, vec3_zero(),
				 quat_identity());
	struct command command = joined_axis(self.joint, 0);
	command.joint_axis.motor = JOINT_MOTOR_FORCE;
	command.joint_axis.target = force;
	command.joint_axis.motor_limit = limit;
	test_do(self.world, &command);
	return self;
}

static double speed(const struct slide *self)
{
	return test_body(self->world, self->body).velocity.x;
}

/* v = F t / m, up to the limit; the joint tells the force, beside the weight that it carries. */
START_TEST(a_force_is_exerted_up_to_its_limit_and_told)
{
	double tolerance = _i == SOFT ? 1e-5 : 1e-10;
	struct slide free = open_slide(METHODS[_i], 3, 0), cut = open_slide(METHODS[_i], -30, 5);
	struct command retarget = test_command(COMMAND_JOINT_TARGETS);
	struct joint_target target = { free.joint, 0, -3 };
	struct robot_view robot;
	struct reason why;
	test_step(free.world, 60);
	test_step(cut.world, 60);
	ck_assert_double_eq_tol(speed(&free), 1.5, tolerance);
	ck_assert_double_eq_tol(speed(&cut), -2.5, tolerance);
	ASSERT_VEC3(joined_view(free.world, free.joint).force, vec3_make(3, 2 * 9.81, 0), 1e-4);
	ck_assert_int_eq(world_robot(cut.world, cut.body, &robot, &why), STATUS_OK);
	ck_assert_uint_eq(robot.axes, 1);
	ck_assert_double_eq_tol(robot.forces[0], -5, 1e-12);
	robot_view_release(&robot);
	retarget.joint_targets.targets = (struct target_list){ &target, 1 };
	test_do(free.world, &retarget);
	test_step(free.world, 60);
	ck_assert_double_eq_tol(speed(&free), 0, tolerance);
	test_check(free.world);
	world_destroy(free.world);
	world_destroy(cut.world);
}
END_TEST

/* A locked axis has no motor, and a sine is exerted at each tick's middle: over whole turns it
 * gives nothing. */
START_TEST(a_wave_is_a_force_and_a_locked_axis_has_none)
{
	double tolerance = _i == SOFT ? 1e-5 : 1e-9, most = 0;
	struct slide self = open_slide(METHODS[_i], 0, 0);
	struct command command = joined_axis(self.joint, 0);
	command.joint_axis.motor = JOINT_MOTOR_FORCE;
	command.joint_axis.wave = JOINT_WAVE_SINE;
	command.joint_axis.amplitude = 8;
	command.joint_axis.hertz = 2;
	test_do(self.world, &command);
	for (uint32_t tick = 1; tick <= 60; tick++) {
		test_step(self.world, 1);
		/* m v = ∫ 8 sin ωt dt */
		double omega = TWO_PI * 2, exact = 4 / omega * (1 - trig_cos(omega * tick / 60));
		most = fmax(most, fabs(speed(&self) - exact));
	}
	ck_assert_double_lt(most, 4e-3); /* of the rule of the middle: ω² h² / 24 of 0.64 m/s */
	ck_assert_double_eq_tol(speed(&self), 0, tolerance);
	command.joint_axis.mode = JOINT_LIMITED;
	command.joint_axis.lower = command.joint_axis.upper =
		test_body(self.world, self.body).position.x;
	test_do(self.world, &command);
	test_step(self.world, 10);
	ck_assert_double_eq_tol(joined_view(self.world, self.joint).force.x, 0, 1e-6);
	test_check(self.world);
	world_destroy(self.world);
}
END_TEST

/* A motor of force lifts its load: M q'' + b of the inverse dynamics at rest is the force that
 * holds it. */
START_TEST(the_forces_of_inverse_dynamics_hold_an_arm)
{
	struct world *world = joined_world(METHODS[_i], 240, vec3_make(0, -9.81, 0));
	body_id bodies[3], before = 0;
	joint_id joints[3];
	for (uint32_t i = 0; i < 3; i++) {
		vec3 at = vec3_make(1.2 * i + 0.6, 0, 0);
		bodies[i] = joined_put(world, (struct joined_thing){ .shape = TEST_BOX,
								     .at = at,
								     .mass = 3 - i,
								     .smooth = true });
		joints[i] = joined_join(world, JOINT_REVOLUTE, before, bodies[i],
					vec3_make(1.2 * i, 0, 0), joined_about_z());
		before = bodies[i];
	}
	struct robot_dynamics asked = { .bodies = bodies, .body_count = 1, .inverse = true };
	struct robot_dynamics_view answer;
	struct reason why;
	ck_assert_int_eq(world_robot_dynamics(world, &asked, &answer, &why), STATUS_OK);
	ck_assert_uint_eq(answer.axes, 3);
	for (uint32_t i = 0; i < 3; i++) {
		struct command command = joined_axis(joints[i], 3);
		command.joint_axis.motor = JOINT_MOTOR_FORCE;
		command.joint_axis.target = answer.values[i];
		test_do(world, &command);
	}
	robot_dynamics_view_release(&answer);
	test_step(world, 120);
	/* The balance is not stable, so rounding grows, e^(5 t). */
	for (uint32_t i = 0; i < 3; i++)
		ck_assert_double_lt(vec3_length(test_body(world, bodies[i]).angular_velocity),
				    _i == SOFT ? 1e-2 : 1e-6);
	test_check(world);
	world_destroy(world);
}
END_TEST

START_TEST(gains_of_a_force_are_refused)
{
	struct slide self = open_slide("lcp", 1, 0);
	struct command command = joined_axis(self.joint, 0);
	command.joint_axis.motor = JOINT_MOTOR_FORCE;
	command.joint_axis.motor_stiffness = 1;
	ck_assert_int_eq(test_try(self.world, &command), STATUS_RANGE);
	command.joint_axis.motor_stiffness = 0;
	command.joint_axis.motor_damping = 1;
	ck_assert_int_eq(test_try(self.world, &command), STATUS_RANGE);
	command.joint_axis.motor_damping = 0;
	command.joint_axis.motor = JOINT_MOTOR_FORCE + 1;
	ck_assert_int_ne(test_try(self.world, &command), STATUS_OK);
	world_destroy(self.world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("joint torque");
	TCase *tcase = tcase_create("joint torque");
	tcase_add_loop_test(tcase, accelerations_are_those_of_forward_dynamics, 0, METHODS_COUNT);
	tcase_add_loop_test(tcase, motors_within_a_tree_keep_its_momenta, 0, METHODS_COUNT);
	tcase_add_loop_test(tcase, a_force_is_exerted_up_to_its_limit_and_told, 0, METHODS_COUNT);
	tcase_add_loop_test(tcase, a_wave_is_a_force_and_a_locked_axis_has_none, 0, METHODS_COUNT);
	tcase_add_loop_test(tcase, the_forces_of_inverse_dynamics_hold_an_arm, 0, METHODS_COUNT);
	tcase_add_test(tcase, gains_of_a_force_are_refused);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
