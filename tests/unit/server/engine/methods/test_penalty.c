/* test_penalty.c: `penalty` (ch4-5 X3, ch1-3 exercise 1.6-2): where bodies rest, bounces, slopes, its energy
 * error, and what every method must do: the free path, save and load. */
#include "tests/lib/check_main.h"
#include "tests/lib/worlds.h"

#include "server/base/bytes.h"
#include "server/engine/math/scalar.h"
#include "server/engine/math/trig.h"

#define G 9.81

static struct world *make_world(void)
{
	return test_world(false, "penalty");
}

static void set(struct world *world, const char *name, double value)
{
	struct command command = test_command(COMMAND_PARAMETER);
	command.parameter.name = test_text(name);
	command.parameter.value = value;
	test_do(world, &command);
}

static body_id spawn(struct world *world, enum test_shape shape, vec3 at, double restitution,
		     double friction, uint8_t status)
{
	struct attachment item;
	struct command command = test_spawn_command(world, shape, at, &item);
	command.spawn.mass = 2;
	command.spawn.restitution = restitution;
	command.spawn.static_friction = command.spawn.dynamic_friction = friction;
	command.spawn.status = status;
	return test_do(world, &command);
}

static double height(const struct world *world, body_id body)
{
	return test_body(world, body).position.y;
}

/* X3: at rest d = m g / k, k = m ω²; the shell keeps the surfaces apart. */
START_TEST(a_ball_rests_within_the_shell_at_mg_over_k)
{
	static const double HERTZ[] = { 8, 15, 30 }, THICKNESS[] = { 0, 0.005, 0.01 };
	for (uint32_t i = 0; i < 9; i++) {
		struct world *world = make_world();
		double omega = TWO_PI * HERTZ[i % 3], shell = THICKNESS[i / 3];
		set(world, "penalty.hertz", HERTZ[i % 3]);
		set(world, "penalty.thickness", shell);
		/* Without a shell the contact is as stiff as the sub-step allows. */
		set(world, "penalty.stiffness", shell > 0 ? 0.5 : omega / 960);
		spawn(world, TEST_PLANE, vec3_zero(), 0, 0, BODY_STATIC);
		body_id ball =
			spawn(world, TEST_SPHERE, vec3_make(0, 0.5 + shell, 0), 0, 0, BODY_DYNAMIC);
		test_step(world, 600);
		double rest = 0.5 + shell - G / (omega * omega);
		ck_assert_double_eq_tol(height(world, ball), rest, 1e-9);
		/* Still for ten seconds more. */
		test_step(world, 600);
		ck_assert_double_eq_tol(height(world, ball), rest, 1e-9);
		/* The stored velocity leads by half a sub-step of gravity. */
		ck_assert_double_eq_tol(vec3_length(test_body(world, ball).velocity), 0.5 * G / 960,
					1e-9);
		test_check(world);
		world_destroy(world);
	}
}
END_TEST

/* Heights of e² h: the rebound is as exact as the spring is resolved. */
START_TEST(a_bounce_returns_e_as_the_sub_steps_allow)
{
	static const double COARSE[] = { 0.25, 0.12 };
	double errors[2];
	for (uint32_t k = 0; k < 2; k++) {
		struct world *world = make_world();
		set(world, "penalty.substeps", k == 0 ? 32 : 256);
		set(world, "penalty.stiffness", 0.25);
		spawn(world, TEST_PLANE, vec3_zero(), 0.8, 0, BODY_STATIC);
		body_id ball =
			spawn(world, TEST_SPHERE, vec3_make(0, 1.5, 0), 0.8, 0, BODY_DYNAMIC);
		double top = 0;
		for (uint32_t tick = 0; tick < 75; tick++) {
			test_step(world, 1);
			top = tick > 30 ? scalar_max(top, height(world, ball)) : 0;
		}
		errors[k] = scalar_abs((top - 0.5) / 0.64 - 1);
		ck_assert_double_le(errors[k], COARSE[k]);
		world_destroy(world);
	}
	ck_assert_double_lt(errors[1], errors[0]);
}
END_TEST

/* The residual is what the springs' discretisation made of energy: with it the balance of an elastic, smooth
 * bounce closes. */
START_TEST(the_residual_tells_the_energy_error)
{
	struct world *world = make_world();
	double told = 0;
	spawn(world, TEST_PLANE, vec3_zero(), 1, 0, BODY_STATIC);
	body_id ball = spawn(world, TEST_SPHERE, vec3_make(0, 1.5, 0), 1, 0, BODY_DYNAMIC);
	struct world_energy before = world_energy(world);
	for (uint32_t tick = 0; tick < 50; tick++) {
		test_step(world, 1);
		told += world_stats(world).residual;
	}
	struct world_energy after = world_energy(world);
	ck_assert_double_gt(height(world, ball), 0.6);
	double error = after.kinetic + after.potential - before.kinetic - before.potential;
	ck_assert_double_gt(told, 0);
	ck_assert_double_le(scalar_abs(error), told + 1e-9);
	world_destroy(world);
}
END_TEST

/* A block on a slope, as gravity that leans: it holds below μ without creeping, and slides above it with the
 * acceleration of Coulomb. */
START_TEST(a_block_holds_below_mu_and_slides_above)
{
	for (uint32_t steep = 0; steep < 2; steep++) {
		struct world *world = make_world();
		double angle = trig_atan(steep ? 0.6 : 0.45), seconds = 2;
		double along = G * trig_sin(angle), down = G * trig_cos(angle);
		spawn(world, TEST_PLANE, vec3_zero(), 0, 0.5, BODY_STATIC);
		body_id block =
			spawn(world, TEST_BOX, vec3_make(0, 0.504, 0), 0, 0.5, BODY_DYNAMIC);
		test_step(world, 120);
		struct command lean = test_command(COMMAND_GRAVITY);
		lean.gravity.gravity = vec3_make(along, -down, 0);
		test_do(world, &lean);
		test_step(world, 60);
		double from = test_body(world, block).position.x;
		double speed = test_body(world, block).velocity.x;
		test_step(world, 60 * (uint32_t)seconds);
		double moved = test_body(world, block).position.x - from;
		double slides =
			steep ? speed * seconds + 0.5 * (along - 0.5 * down) * seconds * seconds
			      : 0;
		ck_assert_double_eq_tol(moved, slides, steep ? 0.02 * slides : 1e-6);
		world_destroy(world);
	}
}
END_TEST

START_TEST(what_touches_nothing_moves_as_under_free)
{
	struct world *penalty = make_world(), *free = test_world(false, "free");
	struct world *worlds[2] = { penalty, free };
	body_id body[2];
	for (uint32_t i = 0; i < 2; i++) {
		struct attachment item;
		struct command command =
			test_spawn_command(worlds[i], TEST_CAPSULE, vec3_make(0, 50, 0), &item);
		command.spawn.velocity = vec3_make(1, 2, 3);
		command.spawn.angular_velocity = vec3_make(3, 1, 2);
		body[i] = test_do(worlds[i], &command);
		test_step(worlds[i], 60);
	}
	struct body_view a = test_body(penalty, body[0]), b = test_body(free, body[1]);
	ck_assert(a.position.x == b.position.x && a.position.y == b.position.y);
	ck_assert(a.rotation.w == b.rotation.w && a.angular_velocity.z == b.angular_velocity.z);
	world_destroy(penalty);
	world_destroy(free);
}
END_TEST

/* A pile of every kind of shape, in space and planar: no energy beyond the start's, and what is saved in
 * mid-air goes on alike. */
START_TEST(a_pile_settles_and_continues_after_a_load)
{
	bool planar = _i == 1;
	static const enum test_shape SHAPES[] = { TEST_SPHERE, TEST_BOX, TEST_CAPSULE, TEST_HULL };
	struct world *world = test_world(planar, "penalty");
	spawn(world, planar ? TEST_POLYGON : TEST_PLANE, vec3_zero(), 0, 0.5, BODY_STATIC);
	for (uint32_t i = 0; i < 12; i++)
		spawn(world, planar ? TEST_TRIANGLE : SHAPES[i % 4],
		      vec3_make(0.1 * (i % 3), 1.2 + 1.2 * i, planar ? 0 : 0.07 * (i % 5)), 0.2,
		      0.5, BODY_DYNAMIC);
	struct world_energy start = world_energy(world);
	test_step(world, 90);
	struct bytes image = test_save(world);
	struct world *copy;
	struct reason why;
	ck_assert_int_eq(world_load(image.data, image.count, test_shape_source(), &copy, &why),
			 STATUS_OK);
	bytes_release(&image);
	for (uint32_t i = 0; i < 200; i++) {
		test_step(world, 1);
		test_step(copy, 1);
		ck_assert_uint_eq(test_hash(world), test_hash(copy));
		struct world_energy now = world_energy(world);
		ck_assert_double_le(now.kinetic + now.potential,
				    start.kinetic + start.potential + 1e-6);
	}
	test_check(world);
	world_destroy(world);
	world_destroy(copy);
}
END_TEST

START_TEST(joints_are_refused_by_name)
{
	struct world *world = make_world();
	body_id ball = spawn(world, TEST_SPHERE, vec3_zero(), 0, 0, BODY_DYNAMIC);
	struct command weld = test_command(COMMAND_JOINT_CREATE);
	weld.joint_create.type = JOINT_FIXED;
	weld.joint_create.body_b = ball;
	weld.joint_create.place = 1;
	ck_assert_int_eq(test_try(world, &weld), STATUS_METHOD_REFUSES);
	struct command lcp = test_command(COMMAND_METHOD);
	lcp.method.name = test_text("lcp");
	test_do(world, &lcp);
	test_do(world, &weld);
	struct reason why;
	ck_assert_int_eq(world_supports(world, "penalty", &why), STATUS_METHOD_REFUSES);
	world_destroy(world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("penalty");
	TCase *tcase = tcase_create("penalty");
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, a_ball_rests_within_the_shell_at_mg_over_k);
	tcase_add_test(tcase, a_bounce_returns_e_as_the_sub_steps_allow);
	tcase_add_test(tcase, the_residual_tells_the_energy_error);
	tcase_add_test(tcase, a_block_holds_below_mu_and_slides_above);
	tcase_add_test(tcase, what_touches_nothing_moves_as_under_free);
	tcase_add_loop_test(tcase, a_pile_settles_and_continues_after_a_load, 0, 2);
	tcase_add_test(tcase, joints_are_refused_by_name);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
