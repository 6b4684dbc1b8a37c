/* Rotors of joints (armature) under every method with joints: inertia, a slide on a turning arm, energy and
 * momentum with the rotor's share, impacts, motors and springs of the same axis, rows against reduced
 * coordinates, and what is refused. */
#include "tests/lib/joined.h"

#include <math.h>
#include <stdio.h>

static const struct {
	const char *method;
	double coordinates; /* of articulated.coordinates; 0: the method has no such parameter */
} RUNS[] = {
	{ "lcp", 1 },	     { "lcp", 2 },	  { "projection", 1 }, { "projection", 2 },
	{ "reflection", 1 }, { "reflection", 2 }, { "impact", 1 },     { "impact", 2 },
	{ "gauss", 0 },	     { "soft-step", 0 },
};
enum { RUNS_COUNT = COUNT_OF(RUNS), GAUSS = RUNS_COUNT - 2, SOFT = RUNS_COUNT - 1 };

static struct world *open_world(int run, uint32_t rate, vec3 gravity)
{
	struct world *world = joined_world(RUNS[run].method, rate, gravity);
	if (RUNS[run].coordinates > 0)
		joined_set(world, "articulated.coordinates", RUNS[run].coordinates - 1);
	return world;
}

static void set_armature(struct world *world, joint_id joint, uint32_t axis, double armature)
{
	struct command command = test_command(COMMAND_JOINT_ARMATURE);
	command.joint_armature = (struct command_JOINT_ARMATURE){ .joint = joint,
								  .axis = axis,
								  .armature = armature };
	test_do(world, &command);
}

static struct joint_axis_view axis_of(const struct world *world, joint_id joint, uint32_t axis)
{
	struct joint_axis_view view;
	ck_assert_int_eq(world_joint_axis(world, joint, axis, &view), STATUS_OK);
	return view;
}

static vec3 spin_of(const struct world *world, body_id body)
{
	return test_body(world, body).angular_velocity;
}

/* ---- one axis -------------------------------------------------------------------------------------- */

struct wheel {
	struct world *world;
	body_id body;
	joint_id joint;
	double inertia; /* about its hinge */
};

/* A cube of 3 kg on a hinge about z through its centre, with a rotor. */
static struct wheel open_wheel(int run, double armature)
{
	struct wheel self = { .world = open_world(run, 60, vec3_zero()), .inertia = 0.5 };
	self.body = joined_put(
		self.world, (struct joined_thing){ .shape = TEST_BOX, .mass = 3, .smooth = true });
	self.joint = joined_join(self.world, JOINT_REVOLUTE, 0, self.body, vec3_zero(),
				 joined_about_z());
	set_armature(self.world, self.joint, 3, armature);
	return self;
}

/* (I + a) q'' = τ, and the rotor exerts −a q''. */
START_TEST(a_rotor_adds_to_the_inertia_of_its_axis)
{
	static const double sizes[] = { 0.01, 0.5, 100 };
	for (uint32_t i = 0; i < COUNT_OF(sizes); i++) {
		struct wheel self = open_wheel(_i, sizes[i]);
		const double torque = 2, alpha = torque / (self.inertia + sizes[i]);
		joined_push(self.world, self.body, vec3_zero(), vec3_make(0, 0, torque));
		test_step(self.world, 60);
		double slack = _i == SOFT ? 1e-5 : 1e-9;
		ck_assert_double_eq_tol(spin_of(self.world, self.body).z, alpha, slack * alpha);
		struct joint_axis_view axis = axis_of(self.world, self.joint, 3);
		ck_assert_double_eq(axis.armature, sizes[i]);
		ck_assert_double_eq_tol(axis.rotor_force, -sizes[i] * alpha, slack * torque);
		/* The joint's torque is that of its rotor, because nothing else acts along the axis. */
		ck_assert_double_eq_tol(joined_view(self.world, self.joint).torque.z,
					axis.rotor_force, slack * torque);
		test_check(self.world);
		world_destroy(self.world);
	}
}
END_TEST

/* A blow by a command meets the rotor with its axis; a velocity that one sets is the rotor's as well. */
START_TEST(a_blow_turns_the_rotor)
{
	const double a = 3, blow = 250, slack = _i == SOFT ? 1e-3 : 1e-9;
	struct wheel self = open_wheel(_i, a);
	struct command command = test_command(COMMAND_ANGULAR_IMPULSE);
	command.angular_impulse.body = self.body;
	command.angular_impulse.impulse = vec3_make(0, 0, 0.1 * blow);
	test_do(self.world, &command);
	test_step(self.world, 10);
	double spin = 0.1 * blow / (self.inertia + a);
	ck_assert_double_eq_tol(spin_of(self.world, self.body).z, spin, slack * spin);
	command = test_command(COMMAND_SET_VELOCITY);
	command.set_velocity.body = self.body;
	command.set_velocity.angular_velocity = vec3_make(0, 0, 2);
	test_do(self.world, &command);
	test_step(self.world, 10);
	ck_assert_double_eq_tol(spin_of(self.world, self.body).z, 2, slack);
	test_check(self.world);
	world_destroy(self.world);
}
END_TEST

/* ω of a servo: k / (I + a); the motor's force accelerates both. */
START_TEST(a_motor_drives_the_rotor_as_well)
{
	const double a = 4;
	struct wheel self = open_wheel(_i, a);
	struct command command = joined_axis(self.joint, 3);
	command.joint_axis.mode = JOINT_FREE;
	command.joint_axis.motor = JOINT_MOTOR_VELOCITY;
	command.joint_axis.target = 50;
	command.joint_axis.motor_limit = 3;
	test_do(self.world, &command);
	test_step(self.world, 30);
	double speed = 0.5 * 3 / (self.inertia + a), slack = _i == SOFT ? 1e-4 : 1e-9;
	ck_assert_double_eq_tol(spin_of(self.world, self.body).z, speed, slack);
	command.joint_axis.motor = JOINT_MOTOR_FORCE;
	command.joint_axis.target = -3;
	test_do(self.world, &command);
	test_step(self.world, 30);
	ck_assert_double_eq_tol(spin_of(self.world, self.body).z, 0, 2 * slack);
	/* A rigid motor is not slowed by the rotor, and its force is that for both. */
	command.joint_axis.motor = JOINT_MOTOR_VELOCITY;
	command.joint_axis.target = 1;
	command.joint_axis.motor_limit = 0;
	test_do(self.world, &command);
	test_step(self.world, 1);
	ck_assert_double_eq_tol(spin_of(self.world, self.body).z, 1, 1e-4);
	test_check(self.world);
	world_destroy(self.world);
}
END_TEST

/* A damped spring and a servo on an axis with a rotor: the angle of the oscillator with (I + a) q'' = −k q −
 * c q', to the first order of soft-step and of implicit springs. */
START_TEST(springs_and_servos_turn_the_rotor)
{
	const double k = 30, c = 2, a = 1;
	double error[2];
	if (_i == GAUSS)
		return; /* it makes no damped motion of second order; its rotor is in the tests above */
	for (uint32_t kind = 0; kind < 2; kind++) {
		for (uint32_t fine = 0; fine < 2; fine++) {
			uint32_t rate = 240u << fine;
			struct world *world = open_world(_i, rate, vec3_zero());
			body_id body = joined_put(world, (struct joined_thing){ .shape = TEST_BOX,
										.mass = 3,
										.smooth = true });
			joint_id joint = joined_join(world, JOINT_REVOLUTE, 0, body, vec3_zero(),
						     joined_about_z());
			set_armature(world, joint, 3, a);
			struct command command = joined_axis(joint, 3);
			command.joint_axis.mode = JOINT_FREE;
			if (kind == 0) {
				command.joint_axis.spring = JOINT_SPRING_STIFFNESS;
				command.joint_axis.stiffness = k;
				command.joint_axis.damping = c;
				command.joint_axis.rest = 1;
			} else {
				command.joint_axis.motor = JOINT_MOTOR_POSITION;
				command.joint_axis.motor_stiffness = k;
				command.joint_axis.motor_damping = c;
				command.joint_axis.target = 1;
			}
			test_do(world, &command);
			test_step(world, rate / 2);
			double decay = c / (2 * (0.5 + a)), w = sqrt(k / (0.5 + a) - decay * decay);
			double t = 0.5,
			       q = 1 - exp(-decay * t) * (cos(w * t) + decay / w * sin(w * t));
			error[fine] = fabs(joined_view(world, joint).coordinates[3] - q);
			test_check(world);
			world_destroy(world);
		}
		ck_assert_msg(error[0] < 0.03 && error[1] < 0.6 * error[0], "%s %u: %g %g",
			      RUNS[_i].method, kind, error[0], error[1]);
	}
}
END_TEST

/* ---- a slide on a turning arm ---------------------------------------------------------------------- */

struct slide_state {
	double r, speed, spin;
};

/* r'' = m r φ'² / (m + a), (I + m r²) φ' = L. */
static struct slide_state slide_rate(struct slide_state s, double mass, double a, double arm)
{
	double inertia = arm + mass * s.r * s.r;
	return (struct slide_state){ s.speed, mass * s.r * s.spin * s.spin / (mass + a),
				     -2 * mass * s.r * s.speed * s.spin / inertia };
}

static struct slide_state slide_after(double mass, double a, double arm, struct slide_state s,
				      double time)
{
	enum { STEPS = 4000 };
	double h = time / STEPS;
	for (uint32_t i = 0; i < STEPS; i++) {
		struct slide_state k[4], at = s;
		for (uint32_t j = 0; j < 4; j++) {
			k[j] = slide_rate(at, mass, a, arm);
			double w = j == 2 ? h : 0.5 * h;
			at = (struct slide_state){ s.r + w * k[j].r, s.speed + w * k[j].speed,
						   s.spin + w * k[j].spin };
		}
		s.r += h / 6 * (k[0].r + 2 * k[1].r + 2 * k[2].r + k[3].r);
		s.speed += h / 6 * (k[0].speed + 2 * k[1].speed + 2 * k[2].speed + k[3].speed);
		s.spin += h / 6 * (k[0].spin + 2 * k[1].spin + 2 * k[2].spin + k[3].spin);
	}
	return s;
}

/* The speed of its axis changes with the arm's turning, not only with the bodies' velocities. */
START_TEST(a_rotor_of_a_slide_feels_the_turning_arm)
{
	const double a = 1.5, mass = 2, arm = 1.0 / 6 + 2.0 / 6;
	struct slide_state expected =
		slide_after(mass, a, arm, (struct slide_state){ 1, 0, 1.5 }, 1);
	double error[2], energy[2];
	for (uint32_t fine = 0; fine < 2; fine++) {
		uint32_t rate = 120u << fine;
		struct world *world = open_world(_i, rate, vec3_zero());
		body_id bodies[2];
		for (uint32_t i = 0; i < 2; i++)
			bodies[i] = joined_put(world,
					       (struct joined_thing){ .shape = TEST_BOX,
								      .mass = 1.0 + i,
								      .at = { i, 0, 0 },
								      .velocity = { 0, 1.5 * i, 0 },
								      .spin = { 0, 0, 1.5 },
								      .smooth = true });
		joined_join(world, JOINT_REVOLUTE, 0, bodies[0], vec3_zero(), joined_about_z());
		joint_id slide = joined_join(world, JOINT_PRISMATIC, bodies[0], bodies[1],
					     vec3_zero(), quat_identity());
		set_armature(world, slide, 0, a);
		test_step(world, rate);
		struct body_view outer = test_body(world, bodies[1]);
		double r = vec3_length(outer.position), w = outer.angular_velocity.z;
		double along = vec3_dot(outer.velocity, outer.position) / r;
		error[fine] = fabs(r - expected.r) + fabs(w - expected.spin) +
			      fabs(along - expected.speed);
		double now = 0.5 * (arm + mass * r * r) * w * w + 0.5 * (mass + a) * along * along;
		energy[fine] = fabs(now - 0.5 * (arm + mass) * 1.5 * 1.5);
		ck_assert_double_eq_tol((arm + mass * r * r) * w, (arm + mass) * 1.5,
					_i == SOFT || _i == GAUSS ? 2e-2 : 1e-9);
		test_check(world);
		world_destroy(world);
	}
	printf("# slide, %s %g: %.2g, %.2g; energy %.2g, %.2g\n", RUNS[_i].method,
	       RUNS[_i].coordinates, error[0], error[1], energy[0], energy[1]);
	bool first = _i == SOFT || _i == GAUSS;
	ck_assert_double_le(error[0], first ? 5e-2 : 1e-3);
	ck_assert_double_le(error[1], (first ? 0.62 : 0.32) * error[0]);
	ck_assert_double_le(energy[1], first ? 5e-2 : 1e-4);
}
END_TEST

/* ---- two floating bodies --------------------------------------------------------------------------- */

/* A hinge between free bodies: momenta of the bodies are those of the whole, because a rotor of MuJoCo's
 * model turns with a relative coordinate and has none of its own; the energy is that of the bodies and
 * ½ a q'². */
START_TEST(a_floating_pair_keeps_momenta_and_energy)
{
	const double a = 0.8;
	struct world *world = open_world(_i, 240, vec3_zero());
	const quat tilted = quat_from_axis_angle(vec3_normalize(vec3_make(1, 2, -1)), 0.8);
	body_id bodies[2];
	for (uint32_t i = 0; i < 2; i++)
		bodies[i] = joined_put(world, (struct joined_thing){ .shape = TEST_BOX,
								     .mass = 1.0 + i,
								     .at = { 1.2 * i, 0.3 * i, 0 },
								     .smooth = true });
	joint_id joint = joined_join(world, JOINT_REVOLUTE, bodies[0], bodies[1],
				     vec3_make(0.6, 0, 0.2), tilted);
	set_armature(world, joint, 3, a);
	vec3 axis = quat_rotate(tilted, vec3_make(1, 0, 0));
	struct command push = test_command(COMMAND_TORQUE);
	push.torque = (struct command_TORQUE){ bodies[0], vec3_make(3, -4, 1), 60 };
	test_do(world, &push);
	test_step(world, 60);
	vec3 before = vec3_zero(), after;
	double energy[2];
	for (uint32_t k = 0; k < 2; k++) {
		vec3 moment = vec3_zero(), linear = vec3_zero();
		double sum = 0;
		struct body_view at[2] = { test_body(world, bodies[0]),
					   test_body(world, bodies[1]) };
		for (uint32_t i = 0; i < 2; i++) {
			double mass = 1.0 + i;
			linear = vec3_mul_add(linear, at[i].velocity, mass);
			moment = vec3_mul_add(moment, vec3_cross(at[i].position, at[i].velocity),
					      mass);
			moment = vec3_mul_add(moment, at[i].angular_velocity, mass / 6);
			sum += 0.5 * mass * vec3_length_squared(at[i].velocity) +
			       mass / 12 * vec3_length_squared(at[i].angular_velocity);
		}
		vec3 now = quat_rotate(at[0].rotation, axis);
		double rate =
			vec3_dot(now, vec3_sub(at[1].angular_velocity, at[0].angular_velocity));
		energy[k] = sum + 0.5 * a * rate * rate;
		after = vec3_add(moment, vec3_scale(linear, 100));
		if (k == 0) {
			before = after;
			ck_assert_double_gt(fabs(rate), 0.4);
			test_step(world, 240);
		}
	}
	bool first = _i == SOFT || _i == GAUSS;
	ASSERT_VEC3(after, before, first ? 0.2 : 1e-8);
	ck_assert_double_eq_tol(energy[1], energy[0], (first ? 0.1 : 2e-4) * energy[0]);
	world_destroy(world);
}
END_TEST

/* ---- impacts --------------------------------------------------------------------------------------- */

/* A ball of mass m and speed v strikes an arm of inertia I + a at distance r without loss: with J the
 * impulse, m v' = m v − J, (I + a) ω = J r, and the relative speed turns around. */
START_TEST(a_struck_arm_turns_its_rotor)
{
	if (_i == GAUSS)
		return; /* restitution has no place in it */
	for (uint32_t elastic = 0; elastic < 2; elastic++) {
		const double a = 2, m = 1.5, v = 3, r = 0.4, inertia = 0.5;
		struct world *world = open_world(_i, 960, vec3_zero());
		body_id arm = joined_put(world, (struct joined_thing){ .shape = TEST_BOX,
								       .mass = 3,
								       .meets = true,
								       .smooth = true,
								       .restitution = elastic });
		joint_id joint =
			joined_join(world, JOINT_REVOLUTE, 0, arm, vec3_zero(), joined_about_z());
		set_armature(world, joint, 3, a);
		body_id ball = joined_put(world, (struct joined_thing){ .shape = TEST_SPHERE,
									.mass = m,
									.at = { r, 1.3, 0 },
									.velocity = { 0, -v, 0 },
									.meets = true,
									.smooth = true,
									.restitution = elastic });
		test_step(world, 100); /* it arrives at 96 */
		double impulse = (1 + elastic) * v / (1 / m + r * r / (inertia + a));
		double spin = spin_of(world, arm).z, speed = -test_body(world, ball).velocity.y;
		double moment = m * r * v, slack = _i == SOFT ? 0.3 : elastic == 1 ? 1e-6 : 2e-3;
		bool known =
			_i != SOFT || elastic == 0; /* soft-step loses the bounce off a rotor */
		ck_assert_msg(!known || (fabs(spin + impulse * r / (inertia + a)) < slack &&
					 fabs(speed - v + impulse / m) < slack),
			      "%s %g, e = %u: %g for %g, %g for %g", RUNS[_i].method,
			      RUNS[_i].coordinates, elastic, spin, -impulse * r / (inertia + a),
			      speed, v - impulse / m);
		double energy = 0.5 * (inertia + a) * spin * spin + 0.5 * m * speed * speed;
		ck_assert_double_le(energy, 0.5 * m * v * v * (1 + 1e-7));
		if (elastic == 1 && _i != SOFT)
			ck_assert_double_eq_tol(energy, 0.5 * m * v * v, 1e-6);
		ck_assert_double_eq_tol(-(inertia + a) * spin + m * r * speed, moment,
					elastic == 1 && _i != SOFT ? 1e-6 : 2e-2);
		test_check(world);
		world_destroy(world);
	}
}
END_TEST

/* ---- rows against reduced coordinates ---------------------------------------------------------------- */

/* A floating chain: a hip of three turns, hinges, a slide, with rotors at all of them and springs at some. */
static void run_chain(int run, struct body_view out[5])
{
	struct world *world = open_world(run, 240, vec3_make(0, -9.81, 0));
	body_id bodies[5];
	for (uint32_t i = 0; i < 5; i++)
		bodies[i] = joined_put(world, (struct joined_thing){ .shape = TEST_BOX,
								     .mass = 1 + 0.5 * i,
								     .at = { 1.0 * i, 0, 0 } });
	for (uint32_t i = 0; i < 4; i++) {
		static const uint8_t types[] = { JOINT_SIX_DOF, JOINT_REVOLUTE, JOINT_PRISMATIC,
						 JOINT_UNIVERSAL };
		quat frame = i == 1 ? joined_about_z()
				    : quat_from_axis_angle(vec3_make(0, 0, 1), 0.4 * i);
		joint_id joint = joined_join(world, types[i], bodies[i], bodies[i + 1],
					     vec3_make(i + 0.5, 0, 0), frame);
		for (uint32_t axis = 0; axis < JOINT_AXES; axis++) {
			bool free_turns = i == 0 && axis >= 3;
			bool own = (i == 1 && axis == 3) || (i == 2 && axis == 0) ||
				   (i == 3 && (axis == 3 || axis == 4));
			if (!free_turns && !own)
				continue;
			struct command set = joined_axis(joint, axis);
			set.joint_axis.mode = JOINT_FREE;
			if (i > 0) {
				set.joint_axis.spring = JOINT_SPRING_STIFFNESS;
				set.joint_axis.stiffness = 20;
				set.joint_axis.damping = 0.5;
			}
			test_do(world, &set);
			set_armature(world, joint, axis, 0.3 + 0.4 * axis);
		}
	}
	joined_push(world, bodies[4], vec3_make(3, 8, -2), vec3_make(0.5, 1, 2));
	test_step(world, 120);
	for (uint32_t i = 0; i < 5; i++)
		out[i] = test_body(world, bodies[i]);
	struct world_stats stats = world_stats(world);
	ck_assert_uint_eq(stats.fallbacks_total, 0);
	ck_assert_int_eq(stats.islands_reduced > 0, RUNS[run].coordinates == 2);
	test_check(world);
	world_destroy(world);
}

START_TEST(rows_and_reduced_coordinates_agree)
{
	struct body_view rows[5], reduced[5];
	run_chain(2 * _i, rows);
	run_chain(2 * _i + 1, reduced);
	double off = 0;
	for (uint32_t i = 0; i < 5; i++) {
		off = fmax(off, vec3_distance(rows[i].position, reduced[i].position));
		off = fmax(off, vec3_distance(rows[i].velocity, reduced[i].velocity));
		off = fmax(off,
			   vec3_distance(rows[i].angular_velocity, reduced[i].angular_velocity));
	}
	printf("# rows and reduced, %s: %.2g\n", RUNS[2 * _i].method, off);
	ck_assert_double_le(off, 1e-9);
}
END_TEST

/* ---- what is kept, and what is refused --------------------------------------------------------------- */

/* A world from the image of another moves as that one, and the hash knows the rotor. */
START_TEST(a_saved_rotor_is_the_same)
{
	struct wheel self = open_wheel(_i, 1.25), other = open_wheel(_i, 1.5);
	joined_push(self.world, self.body, vec3_zero(), vec3_make(0, 0, 1));
	joined_push(other.world, other.body, vec3_zero(), vec3_make(0, 0, 1));
	ck_assert_uint_ne(test_hash(self.world), test_hash(other.world));
	test_step(self.world, 10);
	struct bytes image = test_save(self.world);
	struct world *copy;
	struct reason why = { 0 };
	ck_assert_int_eq(world_load(image.data, image.count, test_shape_source(), &copy, &why),
			 STATUS_OK);
	test_step(self.world, 10);
	test_step(copy, 10);
	ck_assert_uint_eq(test_hash(self.world), test_hash(copy));
	ck_assert_double_eq(axis_of(copy, self.joint, 3).armature, 1.25);
	bytes_release(&image);
	world_destroy(copy);
	world_destroy(self.world);
	world_destroy(other.world);
}
END_TEST

START_TEST(armature_is_refused_where_no_axis_turns)
{
	struct wheel self = open_wheel(0, 1);
	body_id other = joined_put(
		self.world,
		(struct joined_thing){ .shape = TEST_BOX, .mass = 1, .at = { 5, 0, 0 } });
	joint_id ball = joined_join(self.world, JOINT_SPHERICAL, 0, other, vec3_make(5, 0, 0),
				    quat_identity());
	struct command command = test_command(COMMAND_JOINT_ARMATURE);
	const struct {
		joint_id joint;
		uint32_t axis;
		double armature;
		enum status status;
	} cases[] = { { self.joint, 4, 1, STATUS_RANGE },
		      { self.joint, 6, 1, STATUS_RANGE },
		      { ball, 3, 1, STATUS_RANGE },
		      { ball, 3, 0, STATUS_OK },
		      { self.joint, 3, -1, STATUS_RANGE },
		      { self.joint, 3, 2e18, STATUS_RANGE },
		      { self.joint, 3, (double)INFINITY, STATUS_NOT_FINITE },
		      { 99, 3, 1, STATUS_UNKNOWN_JOINT },
		      { self.joint, 3, 0, STATUS_OK } };
	for (uint32_t i = 0; i < COUNT_OF(cases); i++) {
		command.joint_armature =
			(struct command_JOINT_ARMATURE){ cases[i].joint, cases[i].axis,
							 cases[i].armature };
		ck_assert_msg(test_try(self.world, &command) == cases[i].status, "case %u: %s",
			      (unsigned)i, status_name(test_try(self.world, &command)));
	}
	test_check(self.world);
	world_destroy(self.world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("methods/armature");
	TCase *test = tcase_create("armature");
	tcase_set_timeout(test, 60);
	tcase_add_loop_test(test, a_rotor_adds_to_the_inertia_of_its_axis, 0, RUNS_COUNT);
	tcase_add_loop_test(test, a_blow_turns_the_rotor, 0, RUNS_COUNT);
	tcase_add_loop_test(test, a_motor_drives_the_rotor_as_well, 0, RUNS_COUNT);
	tcase_add_loop_test(test, springs_and_servos_turn_the_rotor, 0, RUNS_COUNT);
	tcase_add_loop_test(test, a_rotor_of_a_slide_feels_the_turning_arm, 0, RUNS_COUNT);
	tcase_add_loop_test(test, a_floating_pair_keeps_momenta_and_energy, 0, RUNS_COUNT);
	tcase_add_loop_test(test, a_struck_arm_turns_its_rotor, 0, RUNS_COUNT);
	tcase_add_loop_test(test, rows_and_reduced_coordinates_agree, 0, 4);
	tcase_add_loop_test(test, a_saved_rotor_is_the_same, 0, RUNS_COUNT);
	tcase_add_test(test, armature_is_refused_where_no_axis_turns);
	suite_add_tcase(suite, test);
	return suite;
}

int main(void)
{
	return check_main(make);
}
