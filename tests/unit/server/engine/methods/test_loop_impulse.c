/* Impulses through closed loops: a blow on a ring of links, and a ball that hits one, change its momentum by
 * what they bring, and the ring stays closed (book AR1, AR4). */
#include "server/engine/math/trig.h"
#include "tests/lib/joined.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const METHODS[] = { "lcp", "projection", "reflection", "impact", "soft-step" };
enum { METHODS_COUNT = COUNT_OF(METHODS), SOFT = METHODS_COUNT - 1, LINKS = 6 };

struct ring {
	struct world *world;
	body_id links[LINKS];
};

/* Cubes of 1 m on a circle of 2 m about the origin, each hinged to the next about z: a loop of which all
 * but three conditions out of the plane are redundant. */
static struct ring open_ring(const char *method, uint32_t rate)
{
	struct ring self = { .world = joined_world(method, rate, vec3_zero()) };
	for (uint32_t i = 0; i < LINKS; i++) {
		double angle = TWO_PI * i / LINKS;
		self.links[i] = joined_put(self.world,
					   (struct joined_thing){ .shape = TEST_BOX,
								  .mass = 1 + 0.25 * i,
								  .at = { 2 * trig_cos(angle),
									  2 * trig_sin(angle), 0 },
								  .restitution = 1,
								  .smooth = true,
								  .meets = true });
	}
	for (uint32_t i = 0; i < LINKS; i++) {
		double angle = TWO_PI * (i + 0.5) / LINKS;
		struct command command =
			joined_create(JOINT_REVOLUTE, self.links[i], self.links[(i + 1) % LINKS],
				      vec3_make(1.75 * trig_cos(angle), 1.75 * trig_sin(angle), 0),
				      joined_about_z());
		command.joint_create.flags = JOINT_BODIES_PASS;
		test_do(self.world, &command);
	}
	return self;
}

static vec3 momentum(const struct world *world, const body_id *bodies, uint32_t count)
{
	vec3 sum = vec3_zero();
	for (uint32_t i = 0; i < count; i++) {
		struct body_view view = test_body(world, bodies[i]);
		sum = vec3_mul_add(sum, view.velocity, view.mass);
	}
	return sum;
}

START_TEST(a_blow_on_a_loop_is_its_momentum)
{
	struct ring self = open_ring(METHODS[_i], 240);
	struct command blow = test_command(COMMAND_IMPULSE);
	blow.impulse.body = self.links[1];
	blow.impulse.impulse = vec3_make(0.4, -1.3, 0.7);
	test_do(self.world, &blow);
	for (uint32_t tick = 0; tick < 24; tick++) {
		test_step(self.world, 1);
		double tolerance = _i == SOFT ? 1e-5 : 1e-12;
		ASSERT_VEC3(momentum(self.world, self.links, LINKS), blow.impulse.impulse,
			    tolerance);
		double error = world_stats(self.world).joint_error;
		ck_assert_msg(error <= (_i == SOFT ? 1e-3 : 2e-9), "%s: the ring is open by %g",
			      METHODS[_i], error);
	}
	/* All of it moves: the blow has gone through every joint. */
	for (uint32_t i = 0; i < LINKS; i++)
		ck_assert_double_gt(vec3_length(test_body(self.world, self.links[i]).velocity),
				    1e-2);
	world_destroy(self.world);
}
END_TEST

START_TEST(a_ball_that_hits_a_loop_gives_what_it_loses)
{
	struct ring self = open_ring(METHODS[_i], 240);
	body_id all[LINKS + 1];
	memcpy(all, self.links, sizeof self.links);
	all[LINKS] = joined_put(self.world, (struct joined_thing){ .shape = TEST_SPHERE,
								   .mass = 2,
								   .at = { 3.2, 0.1, 0 },
								   .velocity = { -3, 0, 0 },
								   .restitution = 1,
								   .smooth = true,
								   .meets = true });
	const vec3 before = { -6, 0, 0 };
	test_step(self.world, 60);
	ck_assert_double_gt(test_body(self.world, all[LINKS]).velocity.x, -2);
	ASSERT_VEC3(momentum(self.world, all, LINKS + 1), before, _i == SOFT ? 1e-5 : 1e-11);
	double error = world_stats(self.world).joint_error;
	ck_assert_msg(error <= (_i == SOFT ? 5e-3 : 2e-9), "%s: the ring is open by %g",
		      METHODS[_i], error);
	world_destroy(self.world);
}
END_TEST

/* ---- blows far beyond what a mechanism is for ------------------------------------------------------ */

enum { MECHANISMS = 3 };

/* A closed ring; a chain on the world with limits, a servo and a rotor; a floating tree of joints of many
 * types. */
static struct ring open_mechanism(const char *method, uint32_t kind)
{
	static const uint8_t types[] = { JOINT_REVOLUTE, JOINT_SPHERICAL, JOINT_PRISMATIC,
					 JOINT_UNIVERSAL, JOINT_CYLINDRICAL };
	if (kind == 0)
		return open_ring(method, 120);
	struct ring self = { .world = joined_world(method, 120, vec3_zero()) };
	for (uint32_t i = 0; i < LINKS; i++)
		self.links[i] = joined_put(
			self.world,
			(struct joined_thing){ .shape = TEST_BOX, .mass = 1, .at = { i, 0, 0 } });
	for (uint32_t i = kind == 1 ? 0 : 1; i < LINKS; i++) {
		uint8_t type = kind == 1 ? JOINT_REVOLUTE : types[(i - 1) % COUNT_OF(types)];
		joint_id joint =
			joined_join(self.world, type, i == 0 ? 0 : self.links[i - 1], self.links[i],
				    vec3_make(i - 0.5, 0, 0), joined_about_z());
		if (kind != 1)
			continue;
		struct command set = joined_axis(joint, 3);
		set.joint_axis.mode = i % 2 == 0 ? JOINT_LIMITED : JOINT_FREE;
		set.joint_axis.lower = i % 2 == 0 ? -0.5 : 0;
		set.joint_axis.upper = i % 2 == 0 ? 0.5 : 0;
		test_do(self.world, &set);
		set = test_command(COMMAND_JOINT_ARMATURE);
		set.joint_armature = (struct command_JOINT_ARMATURE){ joint, 3, 0.2 };
		test_do(self.world, &set);
	}
	return self;
}

static double kinetic_energy(const struct ring *self)
{
	double sum = 0;
	for (uint32_t i = 0; i < LINKS; i++) {
		struct body_view at = test_body(self->world, self->links[i]);
		sum += 0.5 * at.mass * vec3_length_squared(at.velocity) +
		       at.mass / 12 * vec3_length_squared(at.angular_velocity);
	}
	return sum;
}

/* 250 N s on a link of a kilogram: 250 m/s. Nothing is in quarantine, what is left open is told, the
 * energy is at most that of the blow, and the mechanism closes again. */
START_TEST(a_great_blow_stays_bounded)
{
	for (uint32_t kind = 0; kind < MECHANISMS; kind++) {
		struct ring self = open_mechanism(METHODS[_i], kind);
		struct command blow = test_command(COMMAND_IMPULSE);
		blow.impulse.body = self.links[LINKS - 2];
		blow.impulse.impulse = vec3_make(60, 230, kind == 1 ? 0 : -76);
		blow.impulse.point = vec3_make(0.3, 0, 0.1);
		test_do(self.world, &blow);
		double energy = kinetic_energy(&self), most = 0, open = 0;
		for (uint32_t tick = 0; tick < 60; tick++) {
			test_step(self.world, 1);
			struct world_stats stats = world_stats(self.world);
			ck_assert(isfinite(stats.residual) && isfinite(stats.joint_error));
			most = fmax(most, kinetic_energy(&self));
			open = fmax(open, stats.joint_error);
		}
		struct world_stats stats = world_stats(self.world);
		printf("# %s %u: energy %.4g of %.4g, open %.2g, at last %.2g, residual %.2g, "
		       "fallbacks %u\n",
		       METHODS[_i], kind, most, energy, open, stats.joint_error, stats.residual,
		       (unsigned)stats.fallbacks_total);
		fflush(stdout);
		ck_assert_uint_eq(stats.quarantined_total, 0);
		ck_assert_double_le(most, energy * (1 + 1e-9));
		ck_assert_double_le(open, _i == SOFT ? 1 : 1e-3);
		ck_assert_double_le(stats.joint_error, _i == SOFT ? 0.1 : 1e-5);
		test_check(self.world);
		world_destroy(self.world);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("loop impulses");
	TCase *tcase = tcase_create("loop impulses");
	tcase_add_loop_test(tcase, a_blow_on_a_loop_is_its_momentum, 0, METHODS_COUNT);
	tcase_add_loop_test(tcase, a_ball_that_hits_a_loop_gives_what_it_loses, 0, METHODS_COUNT);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, a_great_blow_stays_bounded, 0, METHODS_COUNT);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
