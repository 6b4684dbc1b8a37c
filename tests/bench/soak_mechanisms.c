/* soak_mechanisms: closed mechanisms for a million steps, under `lcp`, with joints as rows and in reduced
 * coordinates, where only the joint that closes a loop is rows: by how much their joints are off
 * at most, and their energy at the end (a crank is turned by a motor; the linkage of
 * Bricard swings under gravity, the others move freely without it).
 *
 *   four-bar        three cubes between two hinges of the world, in a plane
 *   slider-crank    a crank that a motor turns, a rod, a slide
 *   bricard         six links along edges of a cube, a loop in space with one freedom that counting does
 *                   not find
 *   gears           three wheels in a train of ratios −2 and 1.5
 *
 *	soak_mechanisms [STEPS [MECHANISM…]]
 *
 * Ends with 1 if a joint is off by more than its mechanism permits. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/engine/math/trig.h"
#include "tests/lib/bricard.h"
#include "tests/lib/joined.h"

static body_id put(struct world *world, vec3 at, double mass)
{
	return joined_put(world,
			  (struct joined_thing){ .shape = TEST_BOX, .at = at, .mass = mass });
}

static struct world *make_four_bar(void)
{
	struct world *world = joined_world("lcp", 60, vec3_zero());
	const vec3 pins[] = { { 0, 0, 0 }, { 0, 1, 0 }, { 2, 1.5, 0 }, { 2, 0, 0 } };
	body_id before = 0;
	for (uint32_t i = 0; i < 3; i++) {
		body_id link = put(world, vec3_scale(vec3_add(pins[i], pins[i + 1]), 0.5), 1);
		joined_join(world, JOINT_REVOLUTE, before, link, pins[i], joined_about_z());
		before = link;
		if (i == 0) {
			struct command command = test_command(COMMAND_SET_VELOCITY);
			command.set_velocity.body = link;
			command.set_velocity.angular_velocity = vec3_make(0, 0, 3);
			test_do(world, &command);
		}
	}
	joined_join(world, JOINT_REVOLUTE, before, 0, pins[3], joined_about_z());
	return world;
}

static struct world *make_slider_crank(void)
{
	struct world *world = joined_world("lcp", 60, vec3_zero());
	body_id crank = put(world, vec3_make(0.25, 0, 0), 1);
	body_id rod = put(world, vec3_make(1.25, 0, 0), 1),
		block = put(world, vec3_make(2, 0, 0), 1);
	joint_id shaft =
		joined_join(world, JOINT_REVOLUTE, 0, crank, vec3_zero(), joined_about_z());
	joined_join(world, JOINT_REVOLUTE, crank, rod, vec3_make(0.5, 0, 0), joined_about_z());
	joined_join(world, JOINT_REVOLUTE, rod, block, vec3_make(2, 0, 0), joined_about_z());
	joined_join(world, JOINT_PRISMATIC, 0, block, vec3_make(2, 0, 0), quat_identity());
	struct command drive = joined_axis(shaft, 3);
	drive.joint_axis.motor = JOINT_MOTOR_VELOCITY;
	drive.joint_axis.target = 2;
	test_do(world, &drive);
	return world;
}

static struct world *make_gears(void)
{
	struct world *world = joined_world("lcp", 60, vec3_zero());
	static const double RATIOS[] = { 0, -2, 1.5 };
	joint_id before = 0;
	for (uint32_t i = 0; i < 3; i++) {
		body_id wheel = put(world, vec3_make(2.0 * i, 0, 0), 1);
		joint_id joint = joined_join(world, JOINT_REVOLUTE, 0, wheel,
					     vec3_make(2.0 * i, 0, 0), joined_about_z());
		struct command gear = test_command(COMMAND_JOINT_GEAR);
		gear.joint_gear = (struct command_JOINT_GEAR){ .joint = joint,
							       .axis = 3,
							       .leader = before,
							       .leader_axis = 3,
							       .ratio = RATIOS[i] };
		struct command spin = test_command(COMMAND_SET_VELOCITY);
		spin.set_velocity.body = wheel;
		spin.set_velocity.angular_velocity = vec3_make(0, 0, i == 0 ? 1 : 0);
		test_do(world, i == 0 ? &spin : &gear);
		before = joint;
	}
	return world;
}

static const struct {
	const char *name;
	struct world *(*make)(void);
	/* m, rad: positions are not corrected below 1e-9, in reduced coordinates 5e-11. Bricard's loop passes
	 * poses in which one more row depends on the others; there rows are compliant for a step. */
	double most, reduced;
} MECHANISMS[] = {
	{ "four-bar", make_four_bar, 2e-9, 1e-10 },
	{ "slider-crank", make_slider_crank, 2e-9, 1e-10 },
	{ "bricard", bricard_world, 1e-5, 1e-10 },
	{ "gears", make_gears, 2e-9, 1e-10 },
};

static double energy_of(const struct world *world)
{
	struct world_energy energy = world_energy(world);
	return energy.kinetic + energy.potential;
}

static bool is_asked_for(int count, char **names, const char *name)
{
	bool asked = count < 1;
	for (int i = 0; i < count; i++)
		asked |= strcmp(names[i], name) == 0;
	return asked;
}

int main(int argc, char **argv)
{
	uint32_t steps = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000000;
	bool good = true;
	for (uint32_t run = 0; run < 2 * COUNT_OF(MECHANISMS); run++) {
		uint32_t i = run / 2;
		bool reduced = run % 2 == 1;
		if (!is_asked_for(argc - 2, argv + 2, MECHANISMS[i].name))
			continue;
		struct world *world = MECHANISMS[i].make();
		joined_set(world, "articulated.coordinates", reduced ? 2 : 0);
		double worst = 0, last = 0, begun = 0;
		uint64_t fallbacks = 0;
		for (uint32_t step = 0; step < steps; step++) {
			test_step(world, 1);
			struct world_stats stats = world_stats(world);
			worst = fmax(worst, stats.joint_error);
			fallbacks += stats.fallbacks;
			if (step >= steps - steps / 10)
				last = fmax(last, stats.joint_error);
			if (step == 60)
				begun = energy_of(world);
		}
		printf("%-13s %-7s %u steps: joints off by %.2g at most, %.2g in the last tenth; "
		       "energy %.6g J after a second, %.6g J at the end; %llu fallbacks\n",
		       MECHANISMS[i].name, reduced ? "reduced" : "rows", (unsigned)steps, worst,
		       last, begun, energy_of(world), (unsigned long long)fallbacks);
		fflush(stdout);
		good &= worst <= (reduced ? MECHANISMS[i].reduced : MECHANISMS[i].most);
		world_destroy(world);
	}
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
