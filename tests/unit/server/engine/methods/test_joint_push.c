/* joint.push_speed: how fast locked axes of joints that a command put off are closed by the exact methods. */
#include "tests/lib/joined.h"

static const char *const METHODS[] = { "lcp", "projection", "reflection", "impact", "gauss" };

/* Two balls of 1 and 3 kg on a rod of 1 m along x, at rest. */
struct rod {
	struct world *world;
	body_id a, b;
	joint_id joint;
};

static struct rod make_rod(const char *method)
{
	struct rod rod = { .world = joined_world(method, 60, vec3_zero()) };
	rod.a = joined_put(rod.world, (struct joined_thing){
					      .shape = TEST_SPHERE, .mass = 1, .smooth = true });
	rod.b = joined_put(rod.world, (struct joined_thing){ .shape = TEST_SPHERE,
							     .at = { 1, 0, 0 },
							     .mass = 3,
							     .smooth = true });
	struct command create =
		joined_create(JOINT_DISTANCE, rod.a, rod.b, vec3_zero(), quat_identity());
	create.joint_create.place = 0;
	rod.joint = test_do(rod.world, &create);
	return rod;
}

static void set_length(const struct rod *rod, double length)
{
	struct command axis = joined_axis(rod->joint, 0);
	axis.joint_axis.mode = JOINT_LOCKED;
	axis.joint_axis.rest = length;
	test_do(rod->world, &axis);
}

static double length_of(const struct rod *rod)
{
	return vec3_distance(test_body(rod->world, rod->a).position,
			     test_body(rod->world, rod->b).position);
}

START_TEST(a_rod_takes_another_length_at_the_given_rate)
{
	static const double lengths[] = { 2, 0.4 };
	const double rate = 1.5, h = 1.0 / 60;
	for (uint32_t k = 0; k < COUNT_OF(lengths); k++) {
		struct rod rod = make_rod(METHODS[_i]);
		double way = lengths[k] - 1, sign = way < 0 ? -1 : 1;
		joined_set(rod.world, "joint.push_speed", rate);
		test_step(rod.world, 2);
		set_length(&rod, lengths[k]);
		for (uint32_t tick = 1; tick <= 60; tick++) {
			test_step(rod.world, 1);
			double most = 1 + sign * scalar_min(rate * h * tick, scalar_abs(way));
			ck_assert_double_eq_tol(length_of(&rod), most, 1e-8);
		}
		/* The common centre stays, and displacements give no velocity. */
		vec3 a = test_body(rod.world, rod.a).position;
		vec3 b = test_body(rod.world, rod.b).position;
		ASSERT_VEC3(vec3_scale(vec3_mul_add(a, b, 3), 0.25), vec3_make(0.75, 0, 0), 1e-9);
		ASSERT_VEC3(test_body(rod.world, rod.a).velocity, vec3_zero(), 1e-6);
		world_destroy(rod.world);
	}
}
END_TEST

START_TEST(without_a_rate_it_takes_its_length_within_a_tick)
{
	struct rod rod = make_rod(METHODS[_i]);
	set_length(&rod, 2);
	test_step(rod.world, 1);
	ck_assert_double_eq_tol(length_of(&rod), 2, 1e-8);
	world_destroy(rod.world);
}
END_TEST

/* A chain of boxes on hinges that hangs from the world; one of them is put elsewhere. In reduced coordinates
 * its joints are rows until they are closed. */
START_TEST(a_chain_closes_no_faster_with_rows_and_in_reduced_coordinates)
{
	enum { LINKS = 4 };
	const double rate = 2, h = 1.0 / 60;
	struct world *world = joined_world(METHODS[_i / 2], 60, vec3_zero());
	joined_set(world, "joint.push_speed", rate);
	joined_set(world, "articulated.coordinates", _i % 2 == 0 ? 0 : 2);
	body_id links[LINKS];
	for (uint32_t i = 0; i < LINKS; i++) {
		links[i] = joined_put(world, (struct joined_thing){ .shape = TEST_BOX,
								    .at = { i + 0.5, 0, 0 },
								    .mass = 1 });
		joined_join(world, JOINT_REVOLUTE, i == 0 ? 0 : links[i - 1], links[i],
			    vec3_make(i, 0, 0), joined_about_z());
	}
	test_step(world, 2);
	struct command tear = test_command(COMMAND_SET_POSE);
	tear.set_pose.body = links[2];
	tear.set_pose.position = vec3_make(2.5, 0.5, 0);
	tear.set_pose.rotation = quat_identity();
	test_do(world, &tear);
	vec3 before[LINKS];
	double fastest = 0, maximal = 0;
	for (uint32_t tick = 0; tick < 60; tick++) {
		for (uint32_t i = 0; i < LINKS; i++)
			before[i] = test_body(world, links[i]).position;
		test_step(world, 1);
		for (uint32_t i = 0; i < LINKS; i++)
			fastest = scalar_max(
				fastest,
				vec3_distance(before[i], test_body(world, links[i]).position));
		maximal += world_stats(world).islands_maximal;
		if (tick == 4)
			ck_assert_double_gt(world_stats(world).joint_error, 0.2);
	}
	ck_assert_double_lt(world_stats(world).joint_error, 1e-8);
	/* Two joints of the link are off; each closes at the rate. */
	ck_assert_double_le(fastest, 2.5 * rate * h);
	ck_assert_double_gt(fastest, 0.2 * rate * h);
	ck_assert_int_eq(maximal > 0, _i % 2);
	world_destroy(world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("methods/joint_push");
	TCase *tcase = tcase_create("push");
	tcase_add_loop_test(tcase, a_rod_takes_another_length_at_the_given_rate, 0,
			    COUNT_OF(METHODS));
	tcase_add_loop_test(tcase, without_a_rate_it_takes_its_length_within_a_tick, 0,
			    COUNT_OF(METHODS) - 1); /* gauss has contact.push_speed then */
	tcase_add_loop_test(tcase, a_chain_closes_no_faster_with_rows_and_in_reduced_coordinates, 0,
			    6);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
