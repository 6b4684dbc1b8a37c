/* Locked axes of bodies, under every method that has them: what is locked does not move by one bit, what is
 * free has the right inertia, contacts push along free axes only; refusals; images. */
#include "server/base/rng.h"
#include "server/engine/math/scalar.h"
#include "server/engine/math/sym3.h"
#include "tests/lib/near.h"
#include "tests/lib/poses.h"
#include "tests/lib/worlds.h"

#include <math.h>
#include <string.h>

static const char *const METHODS[] = { "free",	     "soft-step",  "lcp",
				       "projection", "reflection", "penalty" };
enum { METHOD_COUNT = 6, BODIES = 9, ALL_TURNING = 56 };

static struct command locks_of_body(body_id body, uint32_t locks)
{
	struct command command = test_command(COMMAND_SET_LOCKS);
	command.set_locks.body = body;
	command.set_locks.locks = locks;
	return command;
}

static double component(vec3 v, uint32_t axis)
{
	return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

static bool same_bits(double a, double b)
{
	return memcmp(&a, &b, sizeof a) == 0;
}

/* ---- to the last bit --------------------------------------------------------------------------- */

struct held {
	body_id id;
	uint32_t locks;
	struct body_view start;
};

static void check_held(const struct world *world, const struct held *held)
{
	struct body_view now = test_body(world, held->id);
	for (uint32_t axis = 0; axis < 3; axis++) {
		if (held->locks >> axis & 1) {
			ck_assert(same_bits(component(now.position, axis),
					    component(held->start.position, axis)));
			ck_assert(component(now.velocity, axis) == 0);
		}
		if (held->locks >> (3 + axis) & 1)
			ck_assert(component(now.angular_velocity, axis) == 0);
	}
	if ((held->locks & ALL_TURNING) == ALL_TURNING)
		ck_assert(memcmp(&now.rotation, &held->start.rotation, sizeof now.rotation) == 0);
}

static body_id spawn_held(struct world *world, struct rng *rng, uint32_t i, uint32_t locks)
{
	static const enum test_shape shapes[] = { TEST_SPHERE, TEST_CAPSULE, TEST_BOX };
	struct attachment item;
	vec3 at = vec3_make(0.9 * (i % 3), 0.6 + 0.8 * (i / 3), rng_range(rng, -0.3, 0.3));
	struct command spawn = test_spawn_command(world, shapes[rng_below(rng, 3)], at, &item);
	spawn.spawn.rotation = random_rotation(rng);
	spawn.spawn.restitution = rng_below(rng, 2) ? 0.5 : 0;
	spawn.spawn.mass = rng_below(rng, 3) ? 1 : 300;
	spawn.spawn.locks = locks;
	return test_do(world, &spawn);
}

static void push_held(struct world *world, struct rng *rng, body_id body)
{
	struct command push = test_command(COMMAND_IMPULSE);
	push.impulse.body = body;
	push.impulse.impulse = random_vector(rng, 3);
	push.impulse.point = random_vector(rng, 0.4);
	test_do(world, &push);
	struct command turn = test_command(COMMAND_ANGULAR_IMPULSE);
	turn.angular_impulse.body = body;
	turn.angular_impulse.impulse = random_vector(rng, 0.5);
	test_do(world, &turn);
	struct command force = test_command(COMMAND_FORCE);
	force.force.body = body;
	force.force.force = random_vector(rng, 20);
	force.force.ticks = 5;
	test_do(world, &force);
}

static void join_held(struct world *world, body_id a, body_id b)
{
	struct command join = test_command(COMMAND_JOINT_CREATE);
	join.joint_create.type = JOINT_DISTANCE;
	join.joint_create.body_a = a;
	join.joint_create.body_b = b;
	enum status status = test_try(world, &join);
	ck_assert(status == STATUS_OK || status == STATUS_METHOD_REFUSES);
}

/* Heaps of bodies with random locks, pushed at random, some joined. */
START_TEST(locked_axes_do_not_move_by_one_bit)
{
	struct rng rng = rng_seeded(check_seed() + (uint64_t)_i);
	uint32_t moved = 0;
	for (int round = 0; round < 6; round++) {
		struct world *world = test_world(false, METHODS[_i]);
		struct held held[BODIES];
		test_spawn(world, TEST_PLANE, vec3_zero());
		for (uint32_t i = 0; i < BODIES; i++) {
			held[i].locks = rng_below(&rng, 4) == 0 ? 0 : rng_below(&rng, 64);
			held[i].id = spawn_held(world, &rng, i, held[i].locks);
			held[i].start = test_body(world, held[i].id);
		}
		if (round % 2)
			join_held(world, held[0].id, held[1].id);
		for (int tick = 0; tick < 40; tick++) {
			if (tick % 8 == 0)
				push_held(world, &rng, held[rng_below(&rng, BODIES)].id);
			test_step(world, 1);
			for (uint32_t i = 0; i < BODIES; i++)
				check_held(world, &held[i]);
		}
		for (uint32_t i = 0; i < BODIES; i++)
			moved += vec3_distance(test_body(world, held[i].id).position,
					       held[i].start.position) > 0.01;
		test_check(world);
		world_destroy(world);
	}
	ck_assert_uint_gt(moved, BODIES);
}
END_TEST

/* ---- inertia ------------------------------------------------------------------------------------- */

static body_id spawn_uneven(struct world *world, struct rng *rng, uint32_t locks, sym3 *inertia)
{
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_SPHERE, vec3_make(0, 9, 0), &item);
	spawn.spawn.mass = 2;
	spawn.spawn.mass_rule = MASS_GIVEN;
	spawn.spawn.inertia = vec3_make(0.5, 1, 1.3);
	spawn.spawn.rotation = random_rotation(rng);
	spawn.spawn.locks = locks;
	*inertia = sym3_rotate(mat3_from_quat(spawn.spawn.rotation),
			       sym3_of(mat3_diagonal(spawn.spawn.inertia)));
	return test_do(world, &spawn);
}

/* With two locked axes the body keeps its inertia about the third: ω = τ t / I. */
START_TEST(a_body_that_turns_about_one_axis_has_its_inertia_about_it)
{
	struct rng rng = rng_seeded(check_seed());
	struct world *world = test_world(false, METHODS[_i]);
	test_no_gravity(world);
	sym3 inertia;
	body_id body = spawn_uneven(world, &rng, 8 | 32, &inertia);
	struct command torque = test_command(COMMAND_TORQUE);
	torque.torque.body = body;
	torque.torque.torque = vec3_make(3, 2, -4);
	torque.torque.ticks = 60;
	test_do(world, &torque);
	test_step(world, 60);
	vec3 spin = test_body(world, body).angular_velocity;
	expect_near(spin, vec3_make(0, 2 / inertia.yy, 0), 1e-4);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* With one locked axis an impulse L gives (I_FF)⁻¹ L_F; the rest goes into the support. */
START_TEST(an_impulse_turns_about_two_axes_by_their_block)
{
	struct rng rng = rng_seeded(check_seed());
	struct world *world = test_world(false, METHODS[_i]);
	test_no_gravity(world);
	sym3 t;
	body_id body = spawn_uneven(world, &rng, 16, &t);
	struct command turn = test_command(COMMAND_ANGULAR_IMPULSE);
	turn.angular_impulse.body = body;
	turn.angular_impulse.impulse = vec3_make(1, 5, 2);
	test_do(world, &turn);
	double det = t.xx * t.zz - t.zx * t.zx;
	vec3 wanted = vec3_make((t.zz - 2 * t.zx) / det, 0, (2 * t.xx - t.zx) / det);
	expect_near(test_body(world, body).angular_velocity, wanted, 1e-12);
	test_step(world, 1);
	ck_assert_double_gt(vec3_length(test_body(world, body).angular_velocity), 0);
	ck_assert(test_body(world, body).angular_velocity.y == 0);
	world_destroy(world);
}
END_TEST

/* ---- contacts ------------------------------------------------------------------------------------ */

static body_id spawn_smooth(struct world *world, vec3 at, vec3 velocity, uint32_t locks)
{
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_SPHERE, at, &item);
	spawn.spawn.mass = 1;
	spawn.spawn.static_friction = spawn.spawn.dynamic_friction = 0;
	spawn.spawn.velocity = velocity;
	spawn.spawn.locks = locks;
	return test_do(world, &spawn);
}

/* A ball strikes one that moves along x only, obliquely, without friction and restitution. With n the normal
 * and a the speed along it, K = 1 + n_x² and λ = a / K: the struck ball gets λ n_x, the other loses λ n. */
START_TEST(contacts_push_along_free_axes_only)
{
	struct world *world = test_world(false, METHODS[_i]);
	test_no_gravity(world);
	vec3 n = vec3_normalize(vec3_make(2, 1, 1));
	body_id ball = spawn_smooth(world, vec3_scale(n, -1.02), vec3_scale(n, 2), 0);
	body_id held = spawn_smooth(world, vec3_zero(), vec3_zero(), 2 | 4);
	test_step(world, 30);
	double impulse = 2 / (1 + n.x * n.x);
	bool touches = strcmp(METHODS[_i], "free") != 0;
	bool springs = strcmp(METHODS[_i], "penalty") == 0;
	vec3 struck = test_body(world, held).velocity, left = test_body(world, ball).velocity;
	ck_assert(struck.y == 0 && struck.z == 0);
	if (touches && !springs) {
		/* The normal turns a little while they touch. */
		expect_near(struck, vec3_make(impulse * n.x, 0, 0), 0.04);
		expect_near(left, vec3_scale(n, 2 - impulse), 0.06);
	}
	/* Nothing but the ball pushes along x. */
	ck_assert_double_eq_tol(struck.x + left.x, 2 * n.x, 1e-5);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* A heavy box between two locked ones rests on them, and one that may only turn is no support that gives. */
START_TEST(what_lies_on_locked_bodies_rests)
{
	struct world *world = test_world(false, METHODS[_i]);
	body_id box[3];
	for (int k = 0; k < 3; k++) {
		struct attachment item;
		vec3 at = vec3_make(k == 2 ? 0 : 0.8 * (2 * k - 1), k == 2 ? 1 : 0, 0);
		struct command spawn = test_spawn_command(world, TEST_BOX, at, &item);
		spawn.spawn.mass = k == 2 ? 20 : 1;
		spawn.spawn.locks = k == 0 ? 63 : k == 1 ? 7 | 8 | 16 | 32 : 0;
		box[k] = test_do(world, &spawn);
	}
	test_step(world, 240);
	bool falls = strcmp(METHODS[_i], "free") == 0;
	struct body_view top = test_body(world, box[2]);
	ck_assert(falls ? top.position.y < 0 : top.position.y > 0.97);
	ck_assert(falls || vec3_length(top.velocity) < 0.01);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* ---- commands and images --------------------------------------------------------------------------- */

START_TEST(a_lock_stops_and_frees_a_body)
{
	struct world *world = test_world(false, METHODS[_i]);
	body_id body = test_spawn(world, TEST_BOX, vec3_make(0, 50, 0));
	test_step(world, 10);
	struct command set = locks_of_body(body, 2);
	test_do(world, &set);
	struct body_view held = test_body(world, body);
	ck_assert(held.velocity.y == 0);
	test_step(world, 300);
	ck_assert(same_bits(test_body(world, body).position.y, held.position.y));
	/* It may sleep; freed, it wakes and falls. */
	set = locks_of_body(body, 0);
	test_do(world, &set);
	test_step(world, 30);
	ck_assert_double_eq_tol(test_body(world, body).velocity.y, -9.81 / 2, 0.01);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* Locks act on dynamic bodies; an animated one follows its script, and stops where it is held when it
 * becomes dynamic. */
START_TEST(locks_are_of_dynamic_bodies)
{
	struct world *world = test_world(false, "soft-step");
	test_no_gravity(world);
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_BOX, vec3_zero(), &item);
	spawn.spawn.status = BODY_ANIMATED;
	spawn.spawn.locks = 1 | 32;
	spawn.spawn.velocity = vec3_make(1, 2, 3);
	spawn.spawn.angular_velocity = vec3_make(0, 0, 1);
	body_id body = test_do(world, &spawn);
	test_step(world, 60);
	expect_near(test_body(world, body).position, vec3_make(1, 2, 3), 1e-9);
	struct command status = test_command(COMMAND_SET_STATUS);
	status.set_status.body = body;
	status.set_status.status = BODY_DYNAMIC;
	test_do(world, &status);
	expect_near(test_body(world, body).velocity, vec3_make(0, 2, 3), 1e-15);
	expect_near(test_body(world, body).angular_velocity, vec3_zero(), 1e-15);
	test_check(world);
	world_destroy(world);
}
END_TEST

START_TEST(bad_locks_are_refused)
{
	struct world *world = test_world(false, "soft-step");
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_BOX, vec3_zero(), &item);
	spawn.spawn.locks = 64;
	ck_assert_int_eq(test_try(world, &spawn), STATUS_RANGE);
	spawn.spawn.locks = 1 | 16;
	spawn.spawn.velocity = vec3_make(1e-9, 0, 0);
	ck_assert_int_eq(test_try(world, &spawn), STATUS_RANGE);
	spawn.spawn.velocity = vec3_make(0, 1, 0);
	spawn.spawn.angular_velocity = vec3_make(0, 1, 0);
	ck_assert_int_eq(test_try(world, &spawn), STATUS_RANGE);
	spawn.spawn.angular_velocity = vec3_make(1, 0, 0);
	body_id body = test_do(world, &spawn);
	struct command velocity = test_command(COMMAND_SET_VELOCITY);
	velocity.set_velocity.body = body;
	velocity.set_velocity.velocity = vec3_make(2, 0, 0);
	ck_assert_int_eq(test_try(world, &velocity), STATUS_RANGE);
	struct command set = locks_of_body(body, 64);
	ck_assert_int_eq(test_try(world, &set), STATUS_RANGE);
	set = locks_of_body(body + 9, 1);
	ck_assert_int_eq(test_try(world, &set), STATUS_UNKNOWN_BODY);
	/* impact does not have them. */
	struct command method = test_command(COMMAND_METHOD);
	method.method.name = test_text("impact");
	ck_assert_int_eq(test_try(world, &method), STATUS_METHOD_REFUSES);
	set = locks_of_body(body, 0);
	test_do(world, &set);
	test_do(world, &method);
	set = locks_of_body(body, 2);
	ck_assert_int_eq(test_try(world, &set), STATUS_METHOD_REFUSES);
	ck_assert_int_eq(test_try(world, &spawn), STATUS_METHOD_REFUSES);
	test_do(world, &velocity);
	world_destroy(world);
}
END_TEST

/* A batch may lock a body and then use it: the plan knows the locks. */
START_TEST(a_batch_sees_its_own_locks)
{
	struct world *world = test_world(false, "soft-step");
	body_id body = test_spawn(world, TEST_BOX, vec3_zero());
	struct command batch[2] = { locks_of_body(body, 1), test_command(COMMAND_SET_VELOCITY) };
	batch[1].set_velocity.body = body;
	batch[1].set_velocity.velocity = vec3_make(1, 0, 0);
	ck_assert_int_eq(test_batch(world, batch, 2, NULL), STATUS_RANGE);
	batch[0].set_locks.locks = 6;
	ck_assert_int_eq(test_batch(world, batch, 2, NULL), STATUS_OK);
	ck_assert(test_body(world, body).velocity.x == 1);
	world_destroy(world);
}
END_TEST

START_TEST(images_and_hashes_have_locks)
{
	struct rng rng = rng_seeded(check_seed());
	struct world *world = test_world(false, METHODS[_i]), *copy;
	test_spawn(world, TEST_PLANE, vec3_zero());
	for (uint32_t i = 0; i < BODIES; i++)
		spawn_held(world, &rng, i, rng_below(&rng, 64));
	body_id body = spawn_held(world, &rng, BODIES, 0);
	test_step(world, 12);
	uint64_t before = test_hash(world);
	struct command set = locks_of_body(body, 32);
	test_do(world, &set);
	ck_assert_uint_ne(test_hash(world), before);
	struct bytes image = test_save(world);
	ck_assert_int_eq(world_load(image.data, image.count, test_shape_source(), &copy, NULL),
			 STATUS_OK);
	bytes_release(&image);
	test_step(world, 30);
	test_step(copy, 30);
	ck_assert_uint_eq(test_hash(world), test_hash(copy));
	world_destroy(copy);
	world_destroy(world);
}
END_TEST

/* In a planar world z, rx and ry are held anyway. */
START_TEST(planar_bodies_have_locks)
{
	struct world *world = test_world(true, METHODS[_i]);
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_POLYGON, vec3_make(3, 5, 0), &item);
	spawn.spawn.locks = 1 | 8;
	body_id body = test_do(world, &spawn);
	struct command push = test_command(COMMAND_IMPULSE);
	push.impulse.body = body;
	push.impulse.impulse = vec3_make(5, 0, 0);
	push.impulse.point = vec3_make(0, 0.25, 0);
	test_do(world, &push);
	test_step(world, 30);
	struct body_view now = test_body(world, body);
	ck_assert(now.position.x == 3 && now.velocity.x == 0);
	ck_assert_double_lt(now.position.y, 4.5);
	ck_assert_double_lt(now.angular_velocity.z, -0.001);
	test_check(world);
	world_destroy(world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("locks");
	TCase *tests = tcase_create("locks");
	tcase_add_loop_test(tests, locked_axes_do_not_move_by_one_bit, 0, METHOD_COUNT);
	tcase_add_loop_test(tests, a_body_that_turns_about_one_axis_has_its_inertia_about_it, 0,
			    METHOD_COUNT);
	tcase_add_loop_test(tests, an_impulse_turns_about_two_axes_by_their_block, 0, METHOD_COUNT);
	tcase_add_loop_test(tests, contacts_push_along_free_axes_only, 0, METHOD_COUNT);
	tcase_add_loop_test(tests, what_lies_on_locked_bodies_rests, 0, METHOD_COUNT);
	tcase_add_loop_test(tests, a_lock_stops_and_frees_a_body, 0, METHOD_COUNT);
	tcase_add_test(tests, locks_are_of_dynamic_bodies);
	tcase_add_test(tests, bad_locks_are_refused);
	tcase_add_test(tests, a_batch_sees_its_own_locks);
	tcase_add_loop_test(tests, images_and_hashes_have_locks, 0, METHOD_COUNT);
	tcase_add_loop_test(tests, planar_bodies_have_locks, 0, METHOD_COUNT);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return check_main(make);
}
