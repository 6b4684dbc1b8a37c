/* A double and a triple pendulum, also with rotors, and a gyroscope in gimbals, under every method with
 * joints, against where they are by make_pendulums.py, which knows neither our bodies nor our joints. */
#include <stdio.h>

#include "server/engine/math/trig.h"
#include "tests/data/pendulums.h"
#include "tests/lib/joined.h"

enum { ANGLES_MAX = 3, FINENESSES = 3, ROWS = 1, REDUCED = 2 };

static const struct {
	const char *method;
	uint8_t coordinates; /* of articulated.coordinates; 0: the method has no such parameter */
	uint8_t integrator;
	uint8_t order; /* of the error in the step */
	uint32_t rate; /* ticks per second; then twice and four times as many */
	double most;   /* rad, the error at `rate` */
} RUNS[] = {
	{ "lcp", ROWS, INTEGRATOR_AUTOMATIC, 2, 120, 6e-3 },
	{ "lcp", REDUCED, INTEGRATOR_AUTOMATIC, 2, 120, 6e-3 },
	{ "projection", ROWS, INTEGRATOR_AUTOMATIC, 2, 120, 6e-3 },
	{ "projection", REDUCED, INTEGRATOR_AUTOMATIC, 2, 120, 6e-3 },
	{ "reflection", ROWS, INTEGRATOR_AUTOMATIC, 2, 120, 6e-3 },
	{ "reflection", REDUCED, INTEGRATOR_AUTOMATIC, 2, 120, 6e-3 },
	{ "impact", ROWS, INTEGRATOR_AUTOMATIC, 2, 120, 6e-3 },
	{ "impact", REDUCED, INTEGRATOR_AUTOMATIC, 2, 120, 6e-3 },
	{ "impact", 0, INTEGRATOR_RK4, 4, 120, 3e-6 },
	{ "impact", 0, INTEGRATOR_RK45, 5, 120, 1e-7 },
	{ "soft-step", 0, INTEGRATOR_AUTOMATIC, 1, 480, 3e-3 },
};

/* rad: smaller errors have no order. */
#define ROUNDING 1e-13

static struct world *open_world(int run, uint32_t rate)
{
	struct world *world = joined_world(RUNS[run].method, rate, vec3_make(0, -9.81, 0));
	if (RUNS[run].coordinates != 0)
		joined_set(world, "articulated.coordinates",
			   RUNS[run].coordinates == REDUCED ? 2 : 0);
	return world;
}

static body_id put(struct world *world, int run, struct joined_thing thing)
{
	body_id body = joined_put(world, thing);
	struct command set = test_command(COMMAND_SET_INTEGRATOR);
	set.set_integrator.body = body;
	set.set_integrator.integrator = RUNS[run].integrator;
	set.set_integrator.substeps = 1;
	test_do(world, &set);
	return body;
}

/* The angle about an axis of the frame that a body has turned by from its start. */
static double angle_about(quat rotation, uint32_t axis)
{
	return 2 * trig_atan2(vec3_get(quat_vector(rotation), axis), rotation.w);
}

static void run_second(struct world *world, int run, uint32_t rate)
{
	test_step(world, rate);
	struct world_stats stats = world_stats(world);
	ck_assert_uint_eq(stats.fallbacks_total, 0);
	ck_assert_uint_eq(stats.quarantined_total, 0);
	if (RUNS[run].order > 1)
		ck_assert_double_le(stats.joint_error, 1e-9);
	if (RUNS[run].coordinates == REDUCED)
		ck_assert_uint_ge(stats.islands_reduced, 1);
}

static void set_rotor(struct world *world, joint_id hinge, double armature)
{
	struct command set = test_command(COMMAND_JOINT_ARMATURE);
	set.joint_armature = (struct command_JOINT_ARMATURE){ hinge, 3, armature };
	test_do(world, &set);
}

/* Cubes in a row along x, hinged at faces: the first, of 1 kg, to the world. `rotors`: armature of the
 * hinges; NULL: they have none. */
static void swing(int run, uint32_t rate, uint32_t count, const double *rotors,
		  double angles[ANGLES_MAX])
{
	static const double masses[ANGLES_MAX] = { 1, 2, 0.5 };
	struct world *world = open_world(run, rate);
	body_id cubes[ANGLES_MAX], last = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct joined_thing cube = { .shape = TEST_BOX,
					     .at = { i + 0.5, 0, 0 },
					     .mass = masses[i] };
		cubes[i] = put(world, run, cube);
		joint_id hinge = joined_join(world, JOINT_REVOLUTE, last, cubes[i],
					     vec3_make(i, 0, 0), joined_about_z());
		if (rotors != NULL)
			set_rotor(world, hinge, rotors[i]);
		last = cubes[i];
	}
	run_second(world, run, rate);
	for (uint32_t i = 0; i < count; i++)
		angles[i] = HALF_PI + angle_about(test_body(world, cubes[i]).rotation, 2);
	world_destroy(world);
}

static void swing_double(int run, uint32_t rate, double angles[ANGLES_MAX])
{
	swing(run, rate, 2, NULL, angles);
}

static void swing_triple(int run, uint32_t rate, double angles[ANGLES_MAX])
{
	swing(run, rate, 3, NULL, angles);
}

static void swing_rotors(int run, uint32_t rate, double angles[ANGLES_MAX])
{
	static const double rotors[] = { 0.5, 0.25, 1 };
	swing(run, rate, 3, rotors, angles);
}

/* The capsule's axis is y: of the outer gimbal the axis is −z, of the inner one x. */
static void precess(int run, uint32_t rate, double angles[ANGLES_MAX])
{
	const quat about_minus_z = quat_from_axis_angle(vec3_make(0, 1, 0), HALF_PI);
	const quat about_y = quat_from_axis_angle(vec3_make(0, 0, 1), HALF_PI);
	const vec3 middle = vec3_zero();
	struct world *world = open_world(run, rate);
	body_id outer =
		put(world, run,
		    (struct joined_thing){ .shape = TEST_BOX, .mass = 2, .spin = { 0, 0, -1 } });
	body_id inner =
		put(world, run,
		    (struct joined_thing){ .shape = TEST_BOX, .mass = 1, .spin = { 2, 0, -1 } });
	body_id rotor = put(
		world, run,
		(struct joined_thing){ .shape = TEST_CAPSULE, .mass = 3, .spin = { 2, 20, -1 } });
	joined_join(world, JOINT_REVOLUTE, 0, outer, middle, about_minus_z);
	joined_join(world, JOINT_REVOLUTE, outer, inner, middle, quat_identity());
	joined_join(world, JOINT_REVOLUTE, inner, rotor, middle, about_y);
	run_second(world, run, rate);
	quat first = test_body(world, outer).rotation, second = test_body(world, inner).rotation;
	angles[0] = -angle_about(first, 2);
	angles[1] = angle_about(quat_mul(quat_conjugate(first), second), 0);
	world_destroy(world);
}

static const struct {
	const char *name;
	void (*run)(int run, uint32_t rate, double angles[ANGLES_MAX]);
	const double *reference;
	uint32_t angles;
} SYSTEMS[] = {
	{ "double pendulum", swing_double, DOUBLE_PENDULUM, COUNT_OF(DOUBLE_PENDULUM) },
	{ "triple pendulum", swing_triple, TRIPLE_PENDULUM, COUNT_OF(TRIPLE_PENDULUM) },
	{ "gyroscope", precess, GYROSCOPE, COUNT_OF(GYROSCOPE) },
	{ "pendulum with rotors", swing_rotors, GEARED_PENDULUM, COUNT_OF(GEARED_PENDULUM) },
};

static void assert_converges(uint32_t system, int run)
{
	double error[FINENESSES] = { 0 };
	for (uint32_t k = 0; k < FINENESSES; k++) {
		double angles[ANGLES_MAX];
		SYSTEMS[system].run(run, RUNS[run].rate << k, angles);
		for (uint32_t i = 0; i < SYSTEMS[system].angles; i++) {
			double off = angles[i] - SYSTEMS[system].reference[i];
			off -= TWO_PI * scalar_round(off / TWO_PI);
			error[k] = scalar_max(error[k], scalar_abs(off));
		}
	}
	printf("# %s, %s%s, integrator %u: %.2g, %.2g, %.2g rad at %u, … Hz\n",
	       SYSTEMS[system].name, RUNS[run].method,
	       RUNS[run].coordinates == REDUCED ? " (reduced)" : "", RUNS[run].integrator, error[0],
	       error[1], error[2], RUNS[run].rate);
	fflush(stdout);
	ck_assert_double_le(error[0], RUNS[run].most);
	/* An observed order of at least 0.32 less. */
	double better = 0.8 * (1u << RUNS[run].order);
	ck_assert_double_gt(error[0] / error[1], better);
	if (error[2] > ROUNDING)
		ck_assert_double_gt(error[1] / error[2], better);
}

START_TEST(a_double_pendulum_swings_as_by_lagrange)
{
	assert_converges(0, _i);
}
END_TEST

START_TEST(a_triple_pendulum_swings_as_by_lagrange)
{
	assert_converges(1, _i);
}
END_TEST

START_TEST(a_gyroscope_in_gimbals_precesses_as_by_lagrange)
{
	assert_converges(2, _i);
}
END_TEST

START_TEST(a_pendulum_with_rotors_swings_as_by_lagrange)
{
	assert_converges(3, _i);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("methods/pendulums");
	TCase *test = tcase_create("trajectories");
	int all = COUNT_OF(RUNS);
	tcase_set_timeout(test, 60);
	tcase_add_loop_test(test, a_double_pendulum_swings_as_by_lagrange, 0, all);
	tcase_add_loop_test(test, a_triple_pendulum_swings_as_by_lagrange, 0, all);
	tcase_add_loop_test(test, a_gyroscope_in_gimbals_precesses_as_by_lagrange, 0, all);
	tcase_add_loop_test(test, a_pendulum_with_rotors_swings_as_by_lagrange, 0, all);
	suite_add_tcase(suite, test);
	return suite;
}

int main(void)
{
	return check_main(make);
}
