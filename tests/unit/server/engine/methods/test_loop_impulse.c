/* Impulses through closed loops: a blow on a ring of links, and a ball that hits one, change its momentum by
 * what they bring, and the ring stays closed (book AR1, AR4). */
#include "server/engine/math/trig.h"
#include "tests/lib/joined.h"

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

static Suite *make(void)
{
	Suite *suite = suite_create("loop impulses");
	TCase *tcase = tcase_create("loop impulses");
	tcase_add_loop_test(tcase, a_blow_on_a_loop_is_its_momentum, 0, METHODS_COUNT);
	tcase_add_loop_test(tcase, a_ball_that_hits_a_loop_gives_what_it_loses, 0, METHODS_COUNT);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
