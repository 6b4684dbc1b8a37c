/* The bodies that each command wakes. Two bodies sleep as one set, a third one sleeps by itself. A
 * command that moves, pushes or changes a body wakes its whole set and no other; a command about all
 * bodies wakes all; a command without effect on motion wakes none. */
#include "server/engine/engine.h"

#include "tests/lib/check_main.h"
#include "tests/lib/worlds.h"

static struct world *world;
static body_id ground, pair[2], alone;

static void setup(void)
{
	world = test_world(false, "soft-step");
	ground = test_spawn(world, TEST_PLANE, vec3_zero());
	for (int i = 0; i < 2; i++)
		pair[i] = test_spawn(world, TEST_BOX, vec3_make(0, 0.5 + i, 0));
	alone = test_spawn(world, TEST_BOX, vec3_make(6, 0.5, 0));
	test_step(world, 120);
	ck_assert(test_body(world, pair[0]).asleep && test_body(world, pair[1]).asleep &&
		  test_body(world, alone).asleep);
}

static void teardown(void)
{
	test_check(world);
	world_destroy(world);
}

enum woken { NOBODY, ITS_SET, EVERYBODY };

static void assert_woken(enum woken woken, const char *what)
{
	for (int i = 0; i < 2; i++)
		ck_assert_msg(test_body(world, pair[i]).asleep == (woken == NOBODY),
			      "%s: %s of the pair", what, i == 0 ? "the lower" : "the upper");
	ck_assert_msg(test_body(world, alone).asleep == (woken != EVERYBODY), "%s: the third body",
		      what);
}

static const struct {
	enum command_op op;
	enum woken woken;
} ABOUT[] = {
	{ COMMAND_SET_POSE, ITS_SET },	   { COMMAND_SET_VELOCITY, ITS_SET },
	{ COMMAND_FORCE, ITS_SET },	   { COMMAND_TORQUE, ITS_SET },
	{ COMMAND_IMPULSE, ITS_SET },	   { COMMAND_ANGULAR_IMPULSE, ITS_SET },
	{ COMMAND_SET_MATERIAL, ITS_SET }, { COMMAND_SET_FILTER, ITS_SET },
	{ COMMAND_SET_DAMPING, ITS_SET },  { COMMAND_SET_STATUS, ITS_SET },
	{ COMMAND_WAKE, ITS_SET },	   { COMMAND_SET_OWNER, NOBODY },
	{ COMMAND_SET_TAG, NOBODY },	   { COMMAND_SET_INTEGRATOR, ITS_SET },
};

START_TEST(a_command_about_a_sleeper_wakes_its_set_or_no_body)
{
	uint32_t row = (uint32_t)_i % COUNT_OF(ABOUT);
	body_id body = pair[(uint32_t)_i / COUNT_OF(ABOUT)];
	struct command command = test_command(ABOUT[row].op);
	/* Every command about a body has the field `body` first. */
	command.remove.body = body;
	if (command.op == COMMAND_SET_POSE)
		command.set_pose.position = test_body(world, body).position;
	if (command.op == COMMAND_SET_VELOCITY)
		command.set_velocity.velocity = vec3_make(0.01, 0, 0);
	test_do(world, &command);
	assert_woken(ABOUT[row].woken, command_info(command.op)->name);
	test_step(world, 1);
	assert_woken(ABOUT[row].woken, command_info(command.op)->name);
}
END_TEST

/* The command itself must wake the body, so that the push acts in the same tick. */
START_TEST(a_sleeper_that_is_pushed_moves_in_the_same_tick)
{
	static const enum command_op ops[] = { COMMAND_FORCE, COMMAND_TORQUE, COMMAND_IMPULSE,
					       COMMAND_ANGULAR_IMPULSE };
	struct command command = test_command(ops[_i]);
	command.remove.body = alone;
	vec3 strong = vec3_make(0, 5e4, 0);
	if (ops[_i] == COMMAND_FORCE)
		command.force.force = strong;
	else if (ops[_i] == COMMAND_TORQUE)
		command.torque.torque = strong;
	else if (ops[_i] == COMMAND_IMPULSE)
		command.impulse.impulse = strong;
	else
		command.angular_impulse.impulse = strong;
	test_do(world, &command);
	test_step(world, 1);
	struct body_view view = test_body(world, alone);
	double speed = vec3_length(view.velocity) + vec3_length(view.angular_velocity);
	ck_assert_double_gt(speed, 0.5);
	ck_assert(!view.asleep);
}
END_TEST

START_TEST(a_command_about_all_bodies_wakes_all)
{
	struct command commands[4] = { test_command(COMMAND_GRAVITY),
				       test_command(COMMAND_PARAMETER),
				       test_command(COMMAND_METHOD), test_command(COMMAND_BOUNDS) };
	commands[0].gravity.gravity = vec3_make(0, -5, 0);
	commands[1].parameter.name = test_text("soft_step.substeps");
	commands[1].parameter.value = 8;
	commands[2].method.name = test_text("free");
	commands[3].bounds.mode = BOUNDS_INACTIVE;
	commands[3].bounds.minimum = vec3_make(-50, -50, -50);
	commands[3].bounds.maximum = vec3_make(50, 50, 50);
	test_do(world, &commands[_i]);
	assert_woken(EVERYBODY, command_info(commands[_i].op)->name);
}
END_TEST

START_TEST(new_bodies_and_commands_about_others_wake_no_sleeper)
{
	struct command seed = test_command(COMMAND_SEED);
	seed.seed.seed = 5;
	test_do(world, &seed);
	test_use(world, TEST_HULL);
	test_spawn(world, TEST_SPHERE, vec3_make(0, 40, 20));
	struct command about = test_command(COMMAND_SET_VELOCITY);
	about.set_velocity.body = test_spawn(world, TEST_SPHERE, vec3_make(0, 40, 30));
	test_do(world, &about);
	test_step(world, 2);
	assert_woken(NOBODY, "elsewhere");
}
END_TEST

START_TEST(removing_a_body_of_a_set_wakes_the_other)
{
	struct command remove = test_command(COMMAND_REMOVE);
	remove.remove.body = pair[_i];
	test_do(world, &remove);
	ck_assert(!test_body(world, pair[!_i]).asleep);
	ck_assert(test_body(world, alone).asleep);
}
END_TEST

START_TEST(a_body_made_static_stops_and_one_made_dynamic_again_moves)
{
	struct command status = test_command(COMMAND_SET_STATUS),
		       move = test_command(COMMAND_SET_VELOCITY);
	move.set_velocity.body = status.set_status.body = alone;
	move.set_velocity.velocity = vec3_make(3, 0, 0);
	move.set_velocity.angular_velocity = vec3_make(0, 2, 0);
	test_do(world, &move);
	status.set_status.status = BODY_STATIC;
	test_do(world, &status);
	ck_assert(vec3_equal(test_body(world, alone).velocity, vec3_zero()));
	ck_assert(vec3_equal(test_body(world, alone).angular_velocity, vec3_zero()));
	vec3 before = test_body(world, alone).position;
	test_step(world, 5);
	ck_assert(vec3_equal(test_body(world, alone).position, before));
	status.set_status.status = BODY_DYNAMIC;
	test_do(world, &status);
	test_do(world, &move);
	test_step(world, 5);
	ck_assert_double_gt(test_body(world, alone).position.x, before.x + 0.05);
}
END_TEST

/* One step wakes the body and makes it inactive outside the bounds. The body is awake neither before nor
 * after the step, and must be in the list of moved bodies all the same. */
START_TEST(a_sleeper_struck_out_of_bounds_in_one_tick_is_listed_as_moved)
{
	struct command bounds = test_command(COMMAND_BOUNDS);
	bounds.bounds.mode = BOUNDS_INACTIVE;
	bounds.bounds.maximum.x = 6.05;
	test_do(world, &bounds);
	test_step(world, 120);
	ck_assert(test_body(world, alone).asleep);
	struct attachment item;
	struct command bullet = test_spawn_command(world, TEST_BOX, vec3_make(3.2, 0.5, 0), &item);
	bullet.spawn.velocity = vec3_make(100, 0, 0);
	bullet.spawn.mass = 10000;
	test_do(world, &bullet);
	bool slept = true;
	for (uint32_t tick = 0; tick < 10 && test_body(world, alone).status == BODY_DYNAMIC;
	     tick++) {
		slept = test_body(world, alone).asleep;
		test_step(world, 1);
		test_check(world);
	}
	struct world_changes changes = world_changes(world);
	bool listed = false;
	for (uint32_t i = 0; i < changes.moved_count; i++)
		listed = listed || changes.moved[i] == alone;
	ck_assert_int_eq(test_body(world, alone).status, BODY_INACTIVE);
	ck_assert(slept && listed);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/world/waking");
	TCase *waking = tcase_create("waking");
	tcase_add_checked_fixture(waking, setup, teardown);
	tcase_add_loop_test(waking, a_command_about_a_sleeper_wakes_its_set_or_no_body, 0,
			    2 * COUNT_OF(ABOUT));
	tcase_add_loop_test(waking, a_sleeper_that_is_pushed_moves_in_the_same_tick, 0, 4);
	tcase_add_loop_test(waking, a_command_about_all_bodies_wakes_all, 0, 4);
	tcase_add_test(waking, new_bodies_and_commands_about_others_wake_no_sleeper);
	tcase_add_loop_test(waking, removing_a_body_of_a_set_wakes_the_other, 0, 2);
	tcase_add_test(waking, a_body_made_static_stops_and_one_made_dynamic_again_moves);
	tcase_add_test(waking, a_sleeper_struck_out_of_bounds_in_one_tick_is_listed_as_moved);
	suite_add_tcase(suite, waking);
	return suite;
}

int main(void)
{
	return check_main(make);
}
