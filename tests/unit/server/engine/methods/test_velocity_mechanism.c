/* Mechanisms in the exact velocity methods, through engine.h: joints, limits, springs and contacts
 * together, and properties that all methods share. */
#include "server/base/rng.h"
#include "server/engine/math/trig.h"
#include "tests/lib/check_main.h"
#include "tests/lib/joined.h"
#include "tests/lib/worlds.h"

static const char *const METHODS[] = { "lcp", "projection", "reflection", "impact", "soft-step" };
enum { EXACT = 3 };

/* ---- springs ---------------------------------------------------------------------------------- */

enum spring_case { SPRING_DOOR, SPRING_WINGS, SPRING_TRAIN, SPRING_CASES };

/* A spring of 1 Hz with a kick, without gravity: a door on a hinge of the world; a light and a heavy cube
 * on one hinge; two cubes on a slider beside their centres. */
static joint_id make_spring(struct world *world, enum spring_case kind)
{
	bool slides = kind == SPRING_TRAIN;
	vec3 at = slides ? vec3_make(0.2, 0.3, 0) : vec3_zero();
	body_id a = 0;
	if (kind != SPRING_DOOR)
		a = joined_put(world, (struct joined_thing){
					      .shape = TEST_BOX, .at = { -0.5, 0, 0 }, .mass = 5 });
	body_id b = joined_put(world, (struct joined_thing){ .shape = TEST_BOX,
							     .at = { 0.5, slides ? 0.6 : 0, 0 },
							     .mass = 1 });
	joint_id joint = joined_join(world, slides ? JOINT_PRISMATIC : JOINT_REVOLUTE, a, b, at,
				     slides ? quat_identity() : joined_about_z());
	struct command axis = joined_axis(joint, slides ? 0 : 3);
	axis.joint_axis.spring = JOINT_SPRING_HERTZ;
	axis.joint_axis.stiffness = 1;
	test_do(world, &axis);
	struct command kick = test_command(COMMAND_IMPULSE);
	kick.impulse.body = b;
	kick.impulse.impulse = slides ? vec3_make(0.1, 0, 0) : vec3_make(0, 0.01, 0);
	test_do(world, &kick);
	return joint;
}

START_TEST(a_spring_has_its_given_period)
{
	/* Under every method and for any bodies: the frequency is that of the effective mass along the
	 * free axis. */
	enum { RATE = 480, TURNS = 3 };
	const char *method = METHODS[_i / SPRING_CASES];
	struct world *world = joined_world(method, RATE, vec3_zero());
	joint_id joint = make_spring(world, (enum spring_case)(_i % SPRING_CASES));
	uint32_t axis = _i % SPRING_CASES == SPRING_TRAIN ? 0 : 3, crossings = 0;
	double last = 0, first = 0, now = 0;
	for (uint32_t tick = 1; crossings <= 2 * TURNS && tick < 2 * TURNS * RATE; tick++) {
		test_step(world, 1);
		double q = joined_view(world, joint).coordinates[axis];
		if (q * last < 0) {
			now = (tick - q / (q - last)) / RATE;
			first = crossings++ == 0 ? now : first;
		}
		last = q;
	}
	ck_assert_uint_eq(crossings, 2 * TURNS + 1);
	ck_assert_double_eq_tol((now - first) / TURNS, 1, 1e-3);
	ck_assert_uint_eq(world_stats(world).fallbacks_total, 0);
	world_destroy(world);
}
END_TEST

/* ---- ropes ------------------------------------------------------------------------------------ */

enum { PLANKS = 16 };

/* A row of cubes with gaps of 0.1 m between two places of the world, joined by ropes of `length`. */
static struct world *make_bridge(const char *method, double length, body_id *planks,
				 joint_id *ropes)
{
	struct world *world = joined_world(method, 60, vec3_make(0, -9.81, 0));
	for (uint32_t i = 0; i < PLANKS; i++) {
		struct attachment item;
		struct command spawn =
			test_spawn_command(world, TEST_BOX, vec3_make(1.1 * i, 0, 0), &item);
		spawn.spawn.mass = 10;
		spawn.spawn.mask = 0;
		spawn.spawn.flags = 0;
		spawn.spawn.linear_damping = spawn.spawn.angular_damping = 1;
		planks[i] = test_do(world, &spawn);
	}
	for (uint32_t i = 0; i <= PLANKS; i++) {
		struct command rope = test_command(COMMAND_JOINT_CREATE);
		rope.joint_create.type = JOINT_DISTANCE;
		rope.joint_create.body_a = i > 0 ? planks[i - 1] : 0;
		rope.joint_create.body_b = i < PLANKS ? planks[i] : 0;
		rope.joint_create.point_a = vec3_make(1.1 * i - 0.6, 0, 0);
		rope.joint_create.point_b = vec3_make(1.1 * i - 0.5, 0, 0);
		rope.joint_create.place = 1;
		ropes[i] = test_do(world, &rope);
		struct command axis = joined_axis(ropes[i], 0);
		axis.joint_axis.mode = JOINT_LIMITED;
		axis.joint_axis.upper = length;
		test_do(world, &axis);
	}
	return world;
}

/* A rope of at most `length` between points of a and b. */
static joint_id tie(struct world *world, body_id a, body_id b, vec3 at_a, vec3 at_b, double length)
{
	struct command rope = test_command(COMMAND_JOINT_CREATE);
	rope.joint_create.type = JOINT_DISTANCE;
	rope.joint_create.body_a = a;
	rope.joint_create.body_b = b;
	rope.joint_create.point_a = at_a;
	rope.joint_create.point_b = at_b;
	rope.joint_create.place = 1;
	joint_id joint = test_do(world, &rope);
	struct command axis = joined_axis(joint, 0);
	axis.joint_axis.mode = JOINT_LIMITED;
	axis.joint_axis.upper = length;
	test_do(world, &axis);
	return joint;
}

START_TEST(a_slow_pendulum_on_a_rope_conserves_energy)
{
	/* Steps that resolve an oscillation do not damp it: 1 m at 60 Hz, for a minute. */
	struct world *world = joined_world(METHODS[_i], 60, vec3_make(0, -9.81, 0));
	body_id ball = joined_put(
		world, (struct joined_thing){ .shape = TEST_SPHERE, .at = { 1, 0, 0 }, .mass = 1 });
	tie(world, 0, ball, vec3_zero(), vec3_make(1, 0, 0), 1);
	double highest = -1;
	for (uint32_t tick = 0; tick < 3600; tick++) {
		test_step(world, 1);
		highest = tick < 3480 ? highest
				      : scalar_max(highest, test_body(world, ball).position.y);
	}
	ck_assert_double_gt(highest, -0.01);
	ck_assert_double_lt(highest, 0.01);
	joined_assert_exact(world);
	world_destroy(world);
}
END_TEST

START_TEST(a_bridge_of_short_ropes_carries_its_weight)
{
	/* The ropes oscillate ten times faster than the steps resolve. At rest they carry the weight of
	 * the planks, and all ropes have the same horizontal force. */
	body_id planks[PLANKS];
	joint_id ropes[PLANKS + 1];
	struct world *world = make_bridge(METHODS[_i], 0.12, planks, ropes);
	for (uint32_t tick = 0; tick < 900; tick++) {
		test_step(world, 1);
		struct world_stats stats = world_stats(world);
		ck_assert_uint_eq(stats.fallbacks_total, 0);
		ck_assert_double_le(stats.joint_error, 1e-8);
		ck_assert_double_le(stats.residual, 1e-9);
	}
	/* Damping is off, because it would reduce the fall within a step. */
	for (uint32_t i = 0; i < PLANKS; i++) {
		struct command still = test_command(COMMAND_SET_DAMPING);
		still.set_damping.body = planks[i];
		test_do(world, &still);
	}
	test_step(world, 1);
	vec3 last = joined_view(world, ropes[PLANKS]).force,
	     first = joined_view(world, ropes[0]).force;
	ck_assert_double_eq_tol(first.y - last.y, PLANKS * 10 * 9.81, 1e-3 * PLANKS * 10 * 9.81);
	for (uint32_t i = 1; i <= PLANKS; i++)
		ck_assert_double_eq_tol(joined_view(world, ropes[i]).force.x / first.x, 1, 1e-3);
	world_destroy(world);
}
END_TEST

/* ---- angles ----------------------------------------------------------------------------------- */

START_TEST(a_limited_twist_adds_no_energy_at_a_swing_of_half_a_turn)
{
	/* At a swing of half a turn the twist is undefined, and close to it the twist changes at any rate.
	 * Three links fold over each other, almost in a plane. */
	enum { LINKS = 3 };
	struct rng rng = rng_seeded((uint64_t)_i);
	struct world *world = joined_world(METHODS[_i % COUNT_OF(METHODS)], 60, vec3_zero());
	body_id links[LINKS];
	double most = 0;
	for (uint32_t i = 0; i < LINKS; i++) {
		vec3 spin = { rng_range(&rng, -0.3, 0.3), rng_range(&rng, -0.3, 0.3),
			      i % 2 == 0 ? 9 : -9 };
		links[i] = joined_put(world, (struct joined_thing){ .shape = TEST_BOX,
								    .at = { i + 0.5, 0, 0 },
								    .mass = 1,
								    .spin = spin });
		joint_id joint = joined_join(world, JOINT_SPHERICAL, i > 0 ? links[i - 1] : 0,
					     links[i], vec3_make(i, 0, 0), quat_identity());
		struct command axis = joined_axis(joint, 3);
		axis.joint_axis.mode = JOINT_LIMITED;
		axis.joint_axis.lower = -0.2;
		axis.joint_axis.upper = 0.3;
		test_do(world, &axis);
	}
	for (uint32_t tick = 0; tick <= 300; tick++) {
		double energy = 0;
		test_step(world, 1);
		for (uint32_t i = 0; i < LINKS; i++) {
			struct body_view view = test_body(world, links[i]);
			energy += 0.5 * vec3_length_squared(view.velocity) +
				  vec3_length_squared(view.angular_velocity) / 12;
		}
		if (tick == 0)
			most = 1.05 * energy;
		ck_assert_double_le(energy, most);
	}
	ck_assert_uint_eq(world_stats(world).fallbacks_total, 0);
	world_destroy(world);
}
END_TEST

/* ---- joints between bodies that cannot move --------------------------------------------------- */

static void set_status(struct world *world, body_id body, uint8_t status)
{
	struct command command = test_command(COMMAND_SET_STATUS);
	command.set_status.body = body;
	command.set_status.status = status;
	test_do(world, &command);
}

START_TEST(a_rope_between_fixed_bodies_has_no_effect)
{
	/* Ropes that are taut or too short, between static bodies and to an animated body, and a just taut
	 * rope between bodies welded to the world (a shorter one would contradict the welds). A free body
	 * beside them falls unchanged. */
	struct world *world = joined_world(METHODS[_i], 60, vec3_make(0, -9.81, 0));
	body_id post[2], script, held[2];
	joint_id ropes[4];
	for (uint32_t i = 0; i < 2; i++) {
		vec3 at = { 3 * i, 0, 0 }, up = { 3 * i, 5, 0 };
		post[i] = joined_put(
			world, (struct joined_thing){ .shape = TEST_BOX, .at = at, .mass = 1 });
		held[i] = joined_put(
			world, (struct joined_thing){ .shape = TEST_BOX, .at = up, .mass = 1 });
		joined_join(world, JOINT_FIXED, 0, held[i], up, quat_identity());
	}
	script = joined_put(
		world, (struct joined_thing){ .shape = TEST_BOX, .at = { 0, 0, 4 }, .mass = 1 });
	body_id free = joined_put(
		world, (struct joined_thing){ .shape = TEST_BOX, .at = { 9, 0, 0 }, .mass = 1 });
	ropes[0] = tie(world, post[0], post[1], vec3_zero(), vec3_make(3, 0, 0), 3);
	ropes[1] = tie(world, post[0], post[1], vec3_zero(), vec3_make(3, 0, 0), 1);
	ropes[2] = tie(world, post[0], script, vec3_zero(), vec3_make(0, 0, 4), 4);
	ropes[3] = tie(world, held[0], held[1], vec3_make(0, 5, 0), vec3_make(3, 5, 0), 3);
	set_status(world, post[0], BODY_STATIC);
	set_status(world, post[1], BODY_STATIC);
	set_status(world, script, BODY_ANIMATED);
	struct command away = test_command(COMMAND_SET_VELOCITY);
	away.set_velocity.body = script;
	away.set_velocity.velocity = vec3_make(0, 0, 1);
	test_do(world, &away);
	for (uint32_t tick = 0; tick < 60; tick++) {
		test_step(world, 1);
		struct world_stats stats = world_stats(world);
		ck_assert_uint_eq(stats.fallbacks_total, 0);
		ck_assert_uint_eq(stats.quarantined_total, 0);
		ck_assert_double_finite(stats.residual);
		for (uint32_t i = 0; i < COUNT_OF(ropes); i++)
			ASSERT_VEC3(joined_view(world, ropes[i]).force, vec3_zero(),
				    i < 3 ? 0 : 1e-3);
	}
	for (uint32_t i = 0; i < 2; i++)
		ASSERT_VEC3(test_body(world, held[i]).position, vec3_make(3 * i, 5, 0), 1e-3);
	ck_assert_double_eq_tol(test_body(world, free).velocity.y, -9.81, 1e-9);
	world_destroy(world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("methods/velocity_mechanism");
	TCase *springs = tcase_create("springs");
	tcase_set_timeout(springs, 60);
	tcase_add_loop_test(springs, a_spring_has_its_given_period, 0,
			    COUNT_OF(METHODS) * SPRING_CASES);
	suite_add_tcase(suite, springs);
	TCase *ropes = tcase_create("ropes");
	tcase_set_timeout(ropes, 120);
	tcase_add_loop_test(ropes, a_slow_pendulum_on_a_rope_conserves_energy, 0, EXACT);
	tcase_add_loop_test(ropes, a_bridge_of_short_ropes_carries_its_weight, 0, EXACT);
	suite_add_tcase(suite, ropes);
	TCase *angles = tcase_create("angles");
	tcase_set_timeout(angles, 60);
	tcase_add_loop_test(angles, a_limited_twist_adds_no_energy_at_a_swing_of_half_a_turn, 0,
			    160);
	suite_add_tcase(suite, angles);
	TCase *still = tcase_create("what nothing can move");
	tcase_set_timeout(still, 60);
	tcase_add_loop_test(still, a_rope_between_fixed_bodies_has_no_effect, 0, COUNT_OF(METHODS));
	suite_add_tcase(suite, still);
	return suite;
}

int main(void)
{
	return check_main(make);
}
