/* Gears under every method with joints: accelerations, forces and energies that theory gives, momentum,
 * agreement of the methods, drift, and what is refused. */
#include "server/base/rng.h"
#include "server/engine/math/trig.h"
#include "tests/lib/joined.h"

#include <math.h>

static const char *const METHODS[] = { "lcp",	 "projection", "reflection",
				       "impact", "gauss",      "soft-step" };
enum { METHODS_COUNT = COUNT_OF(METHODS), SOFT = METHODS_COUNT - 1 };

/* m, rad: how exactly a method keeps a gear. */
static double kept(int method)
{
	return method == SOFT ? 1e-4 : 1e-9;
}

/* kg m², of a cube of 1 m. */
static double cube_inertia(double mass)
{
	return mass / 6;
}

static struct command gear(joint_id joint, uint32_t axis, joint_id leader, uint32_t leader_axis,
			   double ratio)
{
	struct command command = test_command(COMMAND_JOINT_GEAR);
	command.joint_gear = (struct command_JOINT_GEAR){ .joint = joint,
							  .axis = axis,
							  .leader = leader,
							  .leader_axis = leader_axis,
							  .ratio = ratio };
	return command;
}

static double coordinate(const struct world *world, joint_id joint, uint32_t axis)
{
	return joined_view(world, joint).coordinates[axis];
}

static struct joint_axis_view axis_of(const struct world *world, joint_id joint, uint32_t axis)
{
	struct joint_axis_view view;
	ck_assert_int_eq(world_joint_axis(world, joint, axis, &view), STATUS_OK);
	return view;
}

/* ---- two wheels ------------------------------------------------------------------------------ */

struct wheels {
	struct world *world;
	body_id bodies[2];
	joint_id joints[2];
	double inertia[2];
};

/* Two bodies on hinges about z; the second follows the first. */
static struct wheels open_wheels(const char *method, double ratio)
{
	struct wheels self = { .world = joined_world(method, 60, vec3_zero()) };
	for (uint32_t i = 0; i < 2; i++) {
		vec3 at = vec3_make(3.0 * i, 0, 0);
		self.bodies[i] = joined_put(self.world, (struct joined_thing){ .shape = TEST_BOX,
									       .mass = 2.0 + i,
									       .at = at,
									       .smooth = true });
		self.joints[i] = joined_join(self.world, JOINT_REVOLUTE, 0, self.bodies[i], at,
					     joined_about_z());
		self.inertia[i] = cube_inertia(2.0 + i);
	}
	struct command command = gear(self.joints[1], 3, self.joints[0], 3, ratio);
	test_do(self.world, &command);
	return self;
}

static double slip(const struct wheels *self, double ratio)
{
	return coordinate(self->world, self->joints[1], 3) -
	       ratio * coordinate(self->world, self->joints[0], 3);
}

/* (I_l + r² I_f) q'' = τ, and the gear exerts r I_f q'' on the follower: for dozens of turns. */
START_TEST(wheels_turn_as_one_inertia)
{
	const double ratio = -2.5, torque = 0.02;
	enum { TICKS = 1500 }; /* a million are in tests/bench/soak_mechanisms */
	struct wheels self = open_wheels(METHODS[_i], ratio);
	joined_push(self.world, self.bodies[0], vec3_zero(), vec3_make(0, 0, torque));
	double alpha = torque / (self.inertia[0] + ratio * ratio * self.inertia[1]);
	double worst = 0, time = TICKS / 60.0;
	for (uint32_t tick = 0; tick < TICKS; tick++) {
		test_step(self.world, 1);
		worst = fmax(worst, fabs(slip(&self, ratio)));
	}
	ck_assert_msg(worst <= kept(_i), "%s: the gear slips by %g", METHODS[_i], worst);
	double spin = test_body(self.world, self.bodies[0]).angular_velocity.z;
	ck_assert_double_eq_tol(spin, alpha * time, 1e-3 * alpha * time);
	double force = axis_of(self.world, self.joints[1], 3).gear_force;
	ck_assert_double_eq_tol(force, ratio * self.inertia[1] * alpha, 1e-3 * torque);
	ck_assert_double_eq_tol(joined_view(self.world, self.joints[1]).torque.z, force,
				1e-6 * torque);
	ck_assert_double_eq_tol(joined_view(self.world, self.joints[0]).torque.z, -ratio * force,
				1e-6 * torque);
	test_check(self.world);
	world_destroy(self.world);
}
END_TEST

/* Without other forces the speeds that a gear gives stay, and so does the energy. */
START_TEST(a_gear_does_no_work)
{
	const double ratio = 3;
	struct wheels self = open_wheels(METHODS[_i], ratio);
	struct command command = test_command(COMMAND_SET_VELOCITY);
	for (uint32_t i = 0; i < 2; i++) {
		command.set_velocity.body = self.bodies[i];
		command.set_velocity.angular_velocity = vec3_make(0, 0, i == 0 ? 0.7 : 0.7 * ratio);
		test_do(self.world, &command);
	}
	test_step(self.world, 2000);
	ck_assert_double_eq_tol(test_body(self.world, self.bodies[0]).angular_velocity.z, 0.7,
				_i == SOFT ? 1e-4 : 1e-9);
	ck_assert_double_le(fabs(slip(&self, ratio)), kept(_i));
	world_destroy(self.world);
}
END_TEST

/* ---- two pairs in free space ------------------------------------------------------------------ */

struct pairs {
	struct world *world;
	body_id bodies[4];
	joint_id joints[2];
};

static struct pairs open_pairs(const char *method, uint32_t rate)
{
	struct pairs self = { .world = joined_world(method, rate, vec3_zero()) };
	struct rng rng = rng_seeded(check_seed());
	for (uint32_t i = 0; i < 4; i++)
		self.bodies[i] =
			joined_put(self.world,
				   (struct joined_thing){ .shape = TEST_BOX,
							  .mass = 1 + rng_double(&rng),
							  .at = { 4.0 * (i / 2), 1.2 * (i % 2), 0 },
							  .smooth = true });
	for (uint32_t i = 0; i < 2; i++)
		self.joints[i] = joined_join(self.world, JOINT_REVOLUTE, self.bodies[2 * i],
					     self.bodies[2 * i + 1], vec3_make(4.0 * i, 0.6, 0),
					     joined_about_z());
	struct command command = gear(self.joints[1], 3, self.joints[0], 3, -1.5);
	test_do(self.world, &command);
	command = test_command(COMMAND_SET_VELOCITY);
	/* The first pair bends and turns as a whole about another axis; the second one rests. */
	for (uint32_t i = 0; i < 2; i++) {
		vec3 spin = vec3_make(0.3, 0.2, i == 0 ? 0.5 : -0.8);
		struct body_view view = test_body(self.world, self.bodies[i]);
		vec3 arm = vec3_sub(view.position, vec3_make(0, 0.6, 0));
		command.set_velocity.body = self.bodies[i];
		command.set_velocity.angular_velocity = spin;
		command.set_velocity.velocity = vec3_cross(spin, arm);
		test_do(self.world, &command);
	}
	return self;
}

/* Linear and angular momentum of one pair. */
static void momentum(const struct pairs *self, uint32_t pair, vec3 *linear, vec3 *angular)
{
	*linear = *angular = vec3_zero();
	for (uint32_t k = 0; k < 2; k++) {
		struct body_view view = test_body(self->world, self->bodies[2 * pair + k]);
		vec3 p = vec3_scale(view.velocity, view.mass);
		*linear = vec3_add(*linear, p);
		*angular = vec3_add(*angular, vec3_cross(view.position, p));
		*angular = vec3_mul_add(*angular, view.angular_velocity, cube_inertia(view.mass));
	}
}

/* A gear between two floating pairs exchanges energy between them and no momentum: what it exerts at
 * each is a couple and its reaction. */
START_TEST(floating_pairs_keep_their_momenta)
{
	struct pairs self = open_pairs(METHODS[_i], 240);
	vec3 linear[2], angular[2], now, turning;
	for (uint32_t i = 0; i < 2; i++)
		momentum(&self, i, &linear[i], &angular[i]);
	/* The set speeds are one impulse of the gear away from what it permits. */
	test_step(self.world, 240);
	double moved = test_body(self.world, self.bodies[3]).angular_velocity.z;
	ck_assert_msg(fabs(moved) > 0.05, "%s: the second pair moves at %g", METHODS[_i], moved);
	for (uint32_t i = 0; i < 2; i++) {
		momentum(&self, i, &now, &turning);
		double tolerance = _i == SOFT ? 2e-3 : 1e-3; /* integration of free rotation */
		ASSERT_VEC3(now, linear[i], _i == SOFT ? 1e-4 : 1e-9);
		ASSERT_VEC3(turning, angular[i], tolerance);
	}
	double off = coordinate(self.world, self.joints[1], 3) +
		     1.5 * coordinate(self.world, self.joints[0], 3);
	ck_assert_msg(fabs(off) <= kept(_i), "%s: the gear slips by %g", METHODS[_i], off);
	test_check(self.world);
	world_destroy(self.world);
}
END_TEST

/* ---- a linkage in gravity --------------------------------------------------------------------- */

struct arm {
	struct world *world;
	body_id bodies[3];
	joint_id joints[3];
};

/* Three links that hang on each other; the third joint follows the first, two joints away. */
static struct arm open_arm(const char *method, uint32_t rate)
{
	struct arm self = { .world = joined_world(method, rate, vec3_make(0, -9.81, 0)) };
	for (uint32_t i = 0; i < 3; i++) {
		self.bodies[i] =
			joined_put(self.world, (struct joined_thing){ .shape = TEST_BOX,
								      .mass = 1 + 0.5 * i,
								      .at = { 0.6 + 1.2 * i, 0, 0 },
								      .smooth = true });
		self.joints[i] =
			joined_join(self.world, JOINT_REVOLUTE, i == 0 ? 0 : self.bodies[i - 1],
				    self.bodies[i], vec3_make(1.2 * i, 0, 0), joined_about_z());
	}
	struct command command = gear(self.joints[2], 3, self.joints[0], 3, -0.8);
	test_do(self.world, &command);
	return self;
}

static double energy(const struct arm *self)
{
	double sum = 0;
	for (uint32_t i = 0; i < 3; i++) {
		struct body_view view = test_body(self->world, self->bodies[i]);
		sum += view.mass *
			       (0.5 * vec3_length_squared(view.velocity) + 9.81 * view.position.y) +
		       0.5 * cube_inertia(view.mass) * vec3_length_squared(view.angular_velocity);
	}
	return sum;
}

/* The methods agree with lcp at a fine step, and none gains energy. */
START_TEST(a_linkage_moves_alike_under_all_methods)
{
	struct arm self = open_arm(METHODS[_i], 2000), other = open_arm("lcp", 2000);
	double start = energy(&self), swing = 0;
	for (uint32_t part = 0; part < 10; part++) {
		test_step(self.world, 100);
		test_step(other.world, 100);
		swing = fmax(swing, fabs(coordinate(self.world, self.joints[0], 3)));
		ck_assert_msg(fabs(energy(&self) - start) < 0.05, "%s: %g J of energy", METHODS[_i],
			      energy(&self) - start);
	}
	for (uint32_t i = 0; i < 3; i++)
		ck_assert_msg(fabs(coordinate(self.world, self.joints[i], 3) -
				   coordinate(other.world, other.joints[i], 3)) < 4e-3,
			      "%s: joint %u is at %g, not %g", METHODS[_i], (unsigned)i,
			      coordinate(self.world, self.joints[i], 3),
			      coordinate(other.world, other.joints[i], 3));
	ck_assert_double_gt(swing, 0.5);
	double off = coordinate(self.world, self.joints[2], 3) +
		     0.8 * coordinate(self.world, self.joints[0], 3);
	ck_assert_msg(fabs(off) <= kept(_i), "%s: the gear slips by %g", METHODS[_i], off);
	test_check(self.world);
	world_destroy(self.world);
	world_destroy(other.world);
}
END_TEST

/* Reduced coordinates have gears as rows: the accelerations are those with which lcp begins to move, of
 * a linkage and of two wheels that only their gear makes one robot. */
START_TEST(reduced_coordinates_have_gears)
{
	struct robot_view view;
	struct reason why;
	struct arm arm = open_arm("lcp", 2000);
	ck_assert_int_eq(world_robot(arm.world, arm.bodies[1], &view, &why), STATUS_OK);
	ck_assert_uint_eq(view.axes, 3);
	ck_assert_uint_eq(view.closure_rows, 1);
	ck_assert_uint_eq(view.closure_rank, 1);
	ck_assert_double_lt(view.residual, 1e-9);
	ck_assert_double_eq_tol(view.accelerations[2], -0.8 * view.accelerations[0], 1e-9);
	test_step(arm.world, 20);
	for (uint32_t i = 0; i < 3; i++)
		ck_assert_double_eq_tol(coordinate(arm.world, arm.joints[i], 3),
					0.5 * view.accelerations[i] * 1e-4,
					1e-3 * fabs(view.accelerations[i]) * 1e-4);
	robot_view_release(&view);
	world_destroy(arm.world);

	struct wheels wheels = open_wheels("lcp", 2);
	joined_push(wheels.world, wheels.bodies[0], vec3_zero(), vec3_make(0, 0, 1));
	ck_assert_int_eq(world_robot(wheels.world, wheels.bodies[1], &view, &why), STATUS_OK);
	ck_assert_uint_eq(view.links, 2);
	double alpha = 1 / (wheels.inertia[0] + 4 * wheels.inertia[1]);
	ck_assert_double_eq_tol(view.accelerations[0], alpha, 1e-12);
	ck_assert_double_eq_tol(view.accelerations[1], 2 * alpha, 1e-12);
	robot_view_release(&view);
	world_destroy(wheels.world);
}
END_TEST

/* ---- other axes ------------------------------------------------------------------------------- */

/* A screw: the slide of a cylindrical joint follows its own turn; a load on it drives it. */
START_TEST(a_screw_turns_under_its_load)
{
	const double pitch = 0.1, force = 0.5;
	struct world *world = joined_world(METHODS[_i], 60, vec3_zero());
	body_id body = joined_put(
		world, (struct joined_thing){ .shape = TEST_BOX, .mass = 2, .smooth = true });
	joint_id joint =
		joined_join(world, JOINT_CYLINDRICAL, 0, body, vec3_zero(), quat_identity());
	struct command command = gear(joint, 0, joint, 3, pitch);
	double inertia = cube_inertia(2);
	test_do(world, &command);
	joined_push(world, body, vec3_make(force, 0, 0), vec3_zero());
	test_step(world, 300);
	/* (m p² + I) q'' = p F */
	double alpha = pitch * force / (2 * pitch * pitch + inertia);
	ck_assert_double_eq_tol(test_body(world, body).angular_velocity.x, alpha * 5,
				1e-2 * alpha * 5);
	ck_assert_double_le(fabs(coordinate(world, joint, 0) - pitch * coordinate(world, joint, 3)),
			    kept(_i));
	test_check(world);
	world_destroy(world);
}
END_TEST

/* A gear that is violated when it is set closes, at no more than contact.push_speed. */
START_TEST(a_violated_gear_closes_slowly)
{
	struct wheels self = open_wheels(METHODS[_i], 1);
	struct command command = gear(self.joints[1], 3, self.joints[0], 3, 1);
	command.joint_gear.offset = 0.5;
	test_do(self.world, &command);
	joined_set(self.world, "contact.push_speed", 1);
	test_step(self.world, 6);
	double off = slip(&self, 1) - 0.5;
	ck_assert_msg(off < -0.3 && off > -0.5, "%s: %g after 0.1 s", METHODS[_i], off);
	test_step(self.world, 240);
	ck_assert_msg(fabs(slip(&self, 1) - 0.5) < 1e-3, "%s: %g after 4 s", METHODS[_i],
		      slip(&self, 1) - 0.5);
	world_destroy(self.world);
}
END_TEST

/* Three wheels in a ring of gears that agree: one of them is redundant, and nothing is lost. */
START_TEST(a_ring_of_gears_turns)
{
	struct wheels self = open_wheels(METHODS[_i], 2);
	struct command back = gear(self.joints[0], 3, self.joints[1], 3, 0.5);
	test_do(self.world, &back);
	joined_push(self.world, self.bodies[0], vec3_zero(), vec3_make(0, 0, 1));
	test_step(self.world, 60);
	double alpha = 1 / (self.inertia[0] + 4 * self.inertia[1]);
	ck_assert_double_eq_tol(test_body(self.world, self.bodies[0]).angular_velocity.z, alpha,
				1e-3 * alpha);
	ck_assert_double_le(fabs(slip(&self, 2)), kept(_i));
	world_destroy(self.world);
}
END_TEST

/* ---- the world ---------------------------------------------------------------------------------- */

/* A world that is saved in mid-motion and loaded goes on with the same bits. */
START_TEST(a_loaded_gear_has_the_same_future)
{
	struct arm self = open_arm(METHODS[_i], 60);
	test_step(self.world, 30);
	struct bytes image = test_save(self.world);
	struct world *loaded;
	struct reason why;
	ck_assert_int_eq(world_load(image.data, image.count, test_shape_source(), &loaded, &why),
			 STATUS_OK);
	bytes_release(&image);
	for (uint32_t tick = 0; tick < 30; tick++) {
		test_step(self.world, 1);
		test_step(loaded, 1);
		ck_assert_uint_eq(world_tick_hash(self.world), world_tick_hash(loaded));
	}
	ck_assert_uint_eq(test_hash(self.world), test_hash(loaded));
	world_destroy(self.world);
	world_destroy(loaded);
}
END_TEST

/* A follower is free when its leader or its gear is removed. */
START_TEST(a_gear_ends_with_its_leader)
{
	for (uint32_t way = 0; way < 2; way++) {
		struct wheels self = open_wheels(METHODS[_i], 2);
		struct command command = test_command(COMMAND_JOINT_REMOVE);
		command.joint_remove.joint = self.joints[0];
		if (way == 1)
			command = gear(self.joints[1], 3, 0, 0, 1);
		test_do(self.world, &command);
		ck_assert_uint_eq(axis_of(self.world, self.joints[1], 3).leader, 0);
		joined_push(self.world, self.bodies[1], vec3_zero(), vec3_make(0, 0, 1));
		test_step(self.world, 60);
		ck_assert_double_eq_tol(test_body(self.world, self.bodies[1]).angular_velocity.z,
					1 / self.inertia[1], 1e-3 / self.inertia[1]);
		test_check(self.world);
		world_destroy(self.world);
	}
}
END_TEST

enum { FOLLOWERS = 16 };

struct followed {
	joint_id joint; /* 0: removed */
	uint32_t leader[JOINT_AXES], axis[JOINT_AXES];
};

static void expect_followers(const struct world *world, const struct followed *joints)
{
	for (uint32_t i = 0; i < FOLLOWERS; i++)
		for (uint32_t axis = 0; axis < JOINT_AXES && joints[i].joint != 0; axis++) {
			struct joint_axis_view view = axis_of(world, joints[i].joint, axis);
			ck_assert_uint_eq(view.leader, joints[i].leader[axis]);
			if (view.leader != 0)
				ck_assert_uint_eq(view.leader_axis, joints[i].axis[axis]);
		}
}

static void remove_followed(struct world *world, struct followed *joints, uint32_t removed)
{
	struct command command = test_command(COMMAND_JOINT_REMOVE);
	command.joint_remove.joint = joints[removed].joint;
	test_do(world, &command);
	for (uint32_t i = 0; i < FOLLOWERS; i++)
		for (uint32_t axis = 0; axis < JOINT_AXES; axis++)
			if (i == removed || joints[i].leader[axis] == joints[removed].joint)
				joints[i].leader[axis] = 0;
	joints[removed].joint = 0;
}

/* Any number of axes follow one joint, also others of its own, and change their leader; with each joint
 * exactly its own followers become free, in the loaded world as well. */
START_TEST(with_a_leader_its_followers_alone_become_free)
{
	struct rng rng = rng_seeded(check_seed());
	struct world *world = joined_world("soft-step", 60, vec3_zero());
	struct followed joints[FOLLOWERS] = { { 0 } };
	body_id bodies[FOLLOWERS];
	for (uint32_t i = 0; i < FOLLOWERS; i++)
		bodies[i] = joined_put(world, (struct joined_thing){ .shape = TEST_BOX,
								     .mass = 1,
								     .at = { 3.0 * i, 0, 0 } });
	for (uint32_t round = 0; round < 600; round++) {
		uint32_t i = rng_below(&rng, FOLLOWERS), k = rng_below(&rng, FOLLOWERS);
		uint32_t axis = rng_below(&rng, JOINT_AXES), leading = rng_below(&rng, JOINT_AXES);
		if (joints[i].joint == 0)
			joints[i].joint = joined_join(world, JOINT_SIX_DOF, 0, bodies[i],
						      vec3_make(3.0 * i, 0, 0), quat_identity());
		if (round % 12 == 11) {
			remove_followed(world, joints, i);
		} else if (joints[k].joint != 0 && (i != k || axis != leading)) {
			bool ends = round % 5 == 4;
			joints[i].leader[axis] = ends ? 0 : joints[k].joint;
			joints[i].axis[axis] = leading;
			struct command command =
				gear(joints[i].joint, axis, joints[i].leader[axis], leading, 2);
			test_do(world, &command);
		}
		if (round % 100 == 99) {
			struct bytes image = test_save(world);
			struct reason why;
			world_destroy(world);
			ck_assert_int_eq(world_load(image.data, image.count, test_shape_source(),
						    &world, &why),
					 STATUS_OK);
			bytes_release(&image);
		}
		expect_followers(world, joints);
	}
	for (uint32_t i = 0; i < FOLLOWERS; i++)
		if (joints[i].joint != 0)
			remove_followed(world, joints, i);
	test_check(world);
	world_destroy(world);
}
END_TEST

START_TEST(senseless_gears_are_refused)
{
	struct wheels self = open_wheels("lcp", 2);
	const double inf = (double)INFINITY;
	joint_id a = self.joints[0], b = self.joints[1];
	const struct {
		joint_id joint, leader;
		uint32_t axis, leader_axis;
		double ratio;
		enum status status;
	} cases[] = { { b, a, 3, 3, 0, STATUS_RANGE },
		      { b, b, 3, 3, 1, STATUS_RANGE },
		      { b, a, 4, 3, 1, STATUS_RANGE },
		      { b, a, 3, 0, 1, STATUS_RANGE },
		      { b, a, 6, 3, 1, STATUS_RANGE },
		      { b, 99, 3, 3, 1, STATUS_UNKNOWN_JOINT },
		      { b, a, 3, 3, inf, STATUS_NOT_FINITE },
		      { b, a, 3, 3, 2e6, STATUS_RANGE },
		      { 0, a, 3, 3, 1, STATUS_UNKNOWN_JOINT },
		      { b, a, 3, 3, -1e6, STATUS_OK },
		      { b, 0, 3, 3, 1, STATUS_OK } };
	for (uint32_t i = 0; i < COUNT_OF(cases); i++) {
		struct command command = gear(cases[i].joint, cases[i].axis, cases[i].leader,
					      cases[i].leader_axis, cases[i].ratio);
		ck_assert_msg(test_try(self.world, &command) == cases[i].status, "case %u: %s",
			      (unsigned)i, status_name(test_try(self.world, &command)));
	}
	test_check(self.world);
	world_destroy(self.world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("gear");
	TCase *tcase = tcase_create("gear");
	tcase_add_loop_test(tcase, wheels_turn_as_one_inertia, 0, METHODS_COUNT);
	tcase_add_loop_test(tcase, a_gear_does_no_work, 0, METHODS_COUNT);
	tcase_add_loop_test(tcase, floating_pairs_keep_their_momenta, 0, METHODS_COUNT);
	tcase_add_loop_test(tcase, a_linkage_moves_alike_under_all_methods, 0, METHODS_COUNT);
	tcase_add_loop_test(tcase, a_screw_turns_under_its_load, 0, METHODS_COUNT);
	tcase_add_loop_test(tcase, a_violated_gear_closes_slowly, 0, METHODS_COUNT);
	tcase_add_loop_test(tcase, a_ring_of_gears_turns, 0, METHODS_COUNT);
	tcase_add_loop_test(tcase, a_loaded_gear_has_the_same_future, 0, METHODS_COUNT);
	tcase_add_loop_test(tcase, a_gear_ends_with_its_leader, 0, METHODS_COUNT);
	tcase_add_test(tcase, reduced_coordinates_have_gears);
	tcase_add_test(tcase, with_a_leader_its_followers_alone_become_free);
	tcase_add_test(tcase, senseless_gears_are_refused);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
