/* Joints of free angles in motion through gimbal lock (q₄ = ±π/2, where two axes coincide), under every
 * method. */
#include <stdio.h>

#include "tests/lib/joined.h"

static const struct {
	const char *name;
	double energy, joint, place; /* tolerances: relative; m and rad; rad/s */
} METHODS[] = { { "lcp", 1e-6, 1e-9, 1e-9 },
		{ "projection", 1e-6, 1e-9, 1e-9 },
		{ "reflection", 1e-6, 1e-9, 1e-9 },
		{ "impact", 1e-6, 1e-9, 1e-9 },
		{ "soft-step", 1e-3, 1e-3, 1e-5 } };

struct flight {
	double energy, jump, joint; /* jump: rad/s in a tick, the greatest */
	double turn;		    /* rad in a tick, the greatest of an angle that is not locked */
	double nearest;		    /* rad, of q₄ to ±π/2 */
	vec3 spin;
};

enum { RATE = 120, NONE = 0 };

/* Two seconds of a capsule that turns on a joint at its centre. `locked`: the locked angle of a six_dof. */
static struct flight fly_capsule(const char *method, enum joint_type type, quat frame,
				 uint32_t locked, vec3 spin)
{
	struct world *world = joined_world(method, RATE, vec3_zero());
	body_id capsule = joined_put(
		world, (struct joined_thing){ .shape = TEST_CAPSULE, .mass = 2, .spin = spin });
	joint_id joint = joined_join(world, type, 0, capsule, vec3_zero(), frame);
	for (uint32_t k = 3; k < JOINT_AXES && type == JOINT_SIX_DOF; k++) {
		struct command axis = joined_axis(joint, k);
		axis.joint_axis.mode = k == locked ? JOINT_LOCKED : JOINT_FREE;
		test_do(world, &axis);
	}
	struct flight flight = { .nearest = PI, .spin = spin };
	double start = world_energy(world).kinetic;
	struct joint_view was = joined_view(world, joint);
	for (uint32_t tick = 0; tick < 2 * RATE; tick++) {
		test_step(world, 1);
		vec3 now = test_body(world, capsule).angular_velocity;
		struct joint_view view = joined_view(world, joint);
		double off = scalar_abs(view.coordinates[4]) - HALF_PI;
		for (uint32_t k = 3; k < JOINT_AXES; k++)
			if (k != locked)
				flight.turn =
					scalar_max(flight.turn, scalar_abs(view.coordinates[k] -
									   was.coordinates[k]));
		was = view;
		flight.nearest = scalar_min(flight.nearest, scalar_abs(off));
		flight.energy = scalar_max(flight.energy,
					   scalar_abs(world_energy(world).kinetic / start - 1));
		flight.jump = scalar_max(flight.jump, vec3_distance(now, flight.spin));
		flight.joint = scalar_max(flight.joint, world_stats(world).joint_error);
		flight.spin = now;
	}
	ck_assert_uint_eq(world_stats(world).quarantined_total, 0);
	test_check(world);
	world_destroy(world);
	return flight;
}

/* A six_dof with a locked angle moves as the equivalent joint `type` through the gimbal lock, without a
 * jump or a loss of energy. With x locked, y and z of the six_dof are x and y of a universal joint. */
static void assert_moves_as(int method, enum joint_type type, quat frame, uint32_t locked,
			    vec3 spin)
{
	const quat y_for_x = quat_make(0.5, 0.5, 0.5, 0.5);
	quat other_frame = locked == 3 ? quat_mul(frame, y_for_x) : frame;
	struct flight one = fly_capsule(METHODS[method].name, JOINT_SIX_DOF, frame, locked, spin);
	struct flight other = fly_capsule(METHODS[method].name, type, other_frame, NONE, spin);
	printf("# %s: q4 %.2g from the lock, energy %.2g, jump %.2g, joint %.2g\n",
	       METHODS[method].name, one.nearest, one.energy, one.jump, one.joint);
	ck_assert_double_lt(one.nearest, 0.02);
	ck_assert_double_lt(one.energy, METHODS[method].energy);
	ck_assert_double_lt(one.joint, METHODS[method].joint);
	/* The angular acceleration of a free body is at most the square of its spin. */
	ck_assert_double_lt(one.jump, 2 * vec3_length_squared(spin) / RATE);
	/* Of three free angles, two jump by π at the gimbal lock. */
	ck_assert(locked == NONE || one.turn < 2 * vec3_length(spin) / RATE);
	ck_assert_double_lt(vec3_distance(one.spin, other.spin), METHODS[method].place);
}

START_TEST(free_angles_turn_past_the_lock)
{
	assert_moves_as(_i, JOINT_SPHERICAL, quat_identity(), NONE, vec3_make(0, 3, 0));
	assert_moves_as(_i, JOINT_SPHERICAL, quat_identity(), NONE, vec3_make(0, 3, 0.01));
}
END_TEST

START_TEST(two_free_angles_turn_past_the_lock)
{
	assert_moves_as(_i, JOINT_UNIVERSAL, quat_identity(), 5, vec3_make(0, 3, 0));
	assert_moves_as(_i, JOINT_UNIVERSAL, quat_identity(), 5, vec3_make(0.4, 3, 0));
	assert_moves_as(_i, JOINT_UNIVERSAL, quat_identity(), 5, vec3_make(3, 5, 0));
}
END_TEST

START_TEST(a_joint_locked_about_x_turns_past_the_lock)
{
	const quat z_for_x = quat_make(0.5, -0.5, -0.5, -0.5); /* y is along the world's x */
	assert_moves_as(_i, JOINT_UNIVERSAL, quat_identity(), 3, vec3_make(0, 3, 0));
	assert_moves_as(_i, JOINT_UNIVERSAL, z_for_x, 3, vec3_make(3, 0, 0));
	assert_moves_as(_i, JOINT_UNIVERSAL, z_for_x, 3, vec3_make(3, 0.4, 0));
	assert_moves_as(_i, JOINT_UNIVERSAL, z_for_x, 3, vec3_make(5, 3, 0));
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("methods/joint_gimbal");
	TCase *test = tcase_create("gimbal");
	tcase_set_timeout(test, 60);
	tcase_add_loop_test(test, free_angles_turn_past_the_lock, 0, COUNT_OF(METHODS));
	tcase_add_loop_test(test, two_free_angles_turn_past_the_lock, 0, COUNT_OF(METHODS));
	tcase_add_loop_test(test, a_joint_locked_about_x_turns_past_the_lock, 0, COUNT_OF(METHODS));
	suite_add_tcase(suite, test);
	return suite;
}

int main(void)
{
	return check_main(make);
}
