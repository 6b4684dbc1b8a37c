/* A tree of links that falls, tumbling, onto the ground under `impact`, with its joints as rows and in
 * reduced coordinates: every collision is found and resolved, the ground's impulse and gravity are what
 * momentum changes by, no energy is gained, and joints hold. */
#include "tests/lib/joined.h"

#include <math.h>
#include <stdio.h>

enum { LINKS = 5, TICKS = 90, POINTS_MAX = 64, RATE = 60 };

static const struct landing {
	double coordinates, restitution;
} LANDINGS[] = { { 0, 0 }, { 0, 0.5 }, { 2, 0 }, { 2, 0.5 } };

/* A trunk with two limbs of two links: hinges with limits at the trunk, a ball and a universal joint
 * beyond. */
static struct world *make_tumbler(const struct landing *landing, body_id links[LINKS])
{
	static const double along[] = { 0, 1.2, 2.4, -1.2, -2.4 };
	static const uint32_t before[] = { 0, 0, 1, 0, 3 };
	static const uint8_t types[] = { 0, JOINT_REVOLUTE, JOINT_SPHERICAL, JOINT_REVOLUTE,
					 JOINT_UNIVERSAL };
	struct world *world = joined_world("impact", RATE, vec3_make(0, -9.81, 0));
	joined_set(world, "articulated.coordinates", landing->coordinates);
	joined_set(world, "sleep.enabled", 0);
	joined_put(world, (struct joined_thing){ .shape = TEST_PLANE, .meets = true });
	for (uint32_t i = 0; i < LINKS; i++) {
		links[i] = joined_put(world,
				      (struct joined_thing){ .shape = TEST_BOX,
							     .at = { along[i], 1.8, 0.01 * i },
							     .mass = i == 0 ? 4 : 1,
							     .velocity = { 0.4, -1, 0.2 },
							     .restitution = landing->restitution,
							     .meets = true });
		if (i == 0)
			continue;
		double at = 0.5 * (along[i] + along[before[i]]);
		struct command command =
			joined_create((enum joint_type)types[i], links[before[i]], links[i],
				      vec3_make(at, 1.8, 0), joined_about_z());
		command.joint_create.flags = JOINT_BODIES_PASS;
		joint_id joint = test_do(world, &command);
		if (types[i] != JOINT_REVOLUTE)
			continue;
		command = joined_axis(joint, 3);
		command.joint_axis.mode = JOINT_LIMITED;
		command.joint_axis.lower = -0.6;
		command.joint_axis.upper = 0.6;
		test_do(world, &command);
	}
	struct command turn = test_command(COMMAND_IMPULSE);
	turn.impulse.body = links[2];
	turn.impulse.impulse = vec3_make(0.3, 2, 0.7);
	test_do(world, &turn);
	return world;
}

static vec3 momentum_of(const struct world *world, const body_id *links)
{
	vec3 sum = vec3_zero();
	for (uint32_t i = 0; i < LINKS; i++) {
		struct body_view view = test_body(world, links[i]);
		sum = vec3_mul_add(sum, view.velocity, view.mass);
	}
	return sum;
}

/* N s: what the ground, which is the first body, gave to the links in the last tick. */
static vec3 ground_impulse(const struct world *world, body_id ground)
{
	struct contact_view points[POINTS_MAX];
	uint32_t count;
	vec3 sum = vec3_zero();
	ck_assert_int_eq(world_contacts(world, ground, points, POINTS_MAX, &count), STATUS_OK);
	for (uint32_t k = 0; k < count; k++) {
		double sign = points[k].a == ground ? 1 : -1;
		sum = vec3_mul_add(sum, points[k].normal, sign * points[k].normal_impulse);
		sum = vec3_mul_add(sum, points[k].friction_impulse, sign);
	}
	return sum;
}

START_TEST(a_tree_that_lands_obeys_the_ground)
{
	const struct landing *landing = &LANDINGS[_i];
	body_id links[LINKS], ground = 1;
	struct world *world = make_tumbler(landing, links);
	const double mass = 8, dt = 1.0 / RATE;
	test_step(world, 1);
	struct world_energy energy = world_energy(world);
	double start = energy.kinetic + energy.potential, last = start, bearing = 0;
	double off = 0, gained = 0, joints = 0;
	for (uint32_t tick = 1; tick < TICKS; tick++) {
		vec3 before = momentum_of(world, links);
		test_step(world, 1);
		vec3 change = vec3_sub(momentum_of(world, links), before);
		vec3 given = ground_impulse(world, ground);
		bearing += given.y;
		given.y -= mass * 9.81 * dt;
		off = fmax(off, vec3_distance(change, given));
		energy = world_energy(world);
		double now = energy.kinetic + energy.potential;
		gained = fmax(gained, now - last);
		last = now;
		joints = fmax(joints, world_stats(world).joint_error);
	}
	struct world_stats stats = world_stats(world);
	printf("# coordinates %g, restitution %g: %llu events, momentum off by %.2g N s, energy %.6g "
	       "of %.6g J, at most %.2g in a tick, ground %.4g N s, joints %.2g, fallbacks %llu\n",
	       landing->coordinates, landing->restitution,
	       (unsigned long long)stats.impact_total.events, off, last, start, gained, bearing,
	       joints, (unsigned long long)stats.fallbacks_total);
	ck_assert_uint_eq(stats.impact_total.unresolved, 0);
	ck_assert_uint_eq(stats.quarantined_total, 0);
	ck_assert_uint_gt(stats.impact_total.events, 2);
	ck_assert_uint_eq(stats.islands_reduced > 0, landing->coordinates > 0);
	ck_assert_double_le(off, 1e-12);
	ck_assert_double_le(last, start);
	ck_assert_double_le(gained, 0.005); /* of flight, whose energy oscillates */
	ck_assert_double_gt(bearing, 0.8 * mass * 9.81 * dt * TICKS);
	ck_assert_double_le(joints, 2e-9);
	test_check(world);
	world_destroy(world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("tree landing");
	TCase *tcase = tcase_create("landings");
	tcase_add_loop_test(tcase, a_tree_that_lands_obeys_the_ground, 0, (int)COUNT_OF(LANDINGS));
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
