/* A method's state is a function of the tables and its block only, at any time at which it is made. */
#include "server/base/heap.h"
#include "server/base/rng.h"
#include "tests/lib/check_main.h"
#include "tests/lib/method_probe.h"
#include "tests/lib/stage_scenes.h"
#include "tests/lib/worlds.h"

#include <string.h>

static void set_up(struct stage *stage)
{
	method_probe_install();
	stage_init(stage, "soft-step");
	stage_ground(stage);
	stage_bomb(stage, 8, 3);
	stage_run(stage, 3);
	stage_method(stage, "probe");
}

START_TEST(a_state_saved_destroyed_and_remade_has_the_same_future)
{
	struct rng rng = rng_seeded(check_seed());
	struct stage straight, broken;
	set_up(&straight);
	set_up(&broken);
	for (uint32_t tick = 0; tick < 60; tick++) {
		if (rng_below(&rng, 3) == 0) {
			method_save(&broken.method, &broken.dynamics);
			method_release(&broken.method);
		}
		stage_step(&straight);
		stage_step(&broken);
		method_save(&straight.method, &straight.dynamics);
		method_save(&broken.method, &broken.dynamics);
		ck_assert_uint_ge(straight.tables.method_block.count, 33);
		ck_assert_uint_eq(stage_hash(&straight), stage_hash(&broken));
	}
	uint32_t alive = method_probe_counts.created - method_probe_counts.destroyed;
	ck_assert_uint_eq(alive, 2);
	stage_release(&straight);
	stage_release(&broken);
	ck_assert_uint_eq(method_probe_counts.created, method_probe_counts.destroyed);
}
END_TEST

START_TEST(without_its_block_a_method_has_another_future)
{
	/* Converse of the test above: with a wrong block the motion differs. */
	struct stage straight, forgetful;
	set_up(&straight);
	set_up(&forgetful);
	stage_run(&straight, 5);
	stage_run(&forgetful, 5);
	method_release(&forgetful.method);
	memset(forgetful.tables.method_block.byte, 0x5a, forgetful.tables.method_block.count);
	stage_step(&straight);
	stage_step(&forgetful);
	ck_assert(straight.tables.body.velocity[1].x != forgetful.tables.body.velocity[1].x);
	stage_release(&straight);
	stage_release(&forgetful);
}
END_TEST

START_TEST(a_step_reports_sleeping_bodies_to_the_state)
{
	struct stage stage;
	method_probe_install();
	stage_init(&stage, "probe");
	stage.tables.world.gravity[0] = vec3_zero();
	stage_parameter(&stage, PARAMETER_SLEEP_SPEED, 10);
	stage_parameter(&stage, PARAMETER_SLEEP_TIME, 0.1);
	stage_bomb(&stage, 7, 1);
	memset(stage.tables.body.velocity, 0, 7 * sizeof(vec3));
	stage_run(&stage, 12);
	ck_assert_uint_eq(stage.dynamics.awake.count, 0);
	ck_assert_uint_eq(method_probe_counts.slept, 7);
	stage_release(&stage);
}
END_TEST

START_TEST(a_step_without_memory_for_state_or_block_changes_nothing)
{
	struct stage stage, straight;
	set_up(&stage);
	set_up(&straight);
	uint64_t before = stage_hash(&stage);
	enum status status = STATUS_NO_MEMORY;
	for (uint64_t nth = 1; status != STATUS_OK; nth++) {
		ck_assert_uint_lt(nth, 50);
		heap_fail_at(nth);
		status = stage_try(&stage);
		heap_fail_at(0);
		if (status != STATUS_OK)
			ck_assert_uint_eq(stage_hash(&stage), before);
	}
	stage_step(&straight);
	ck_assert_uint_eq(stage_hash(&stage), stage_hash(&straight));
	stage_release(&stage);
	stage_release(&straight);
}
END_TEST

START_TEST(a_step_with_a_block_over_the_memory_limit_is_refused)
{
	struct stage stage;
	set_up(&stage);
	stage.tables.world.memory_max[0] = tables_charge(&stage.tables) + 20;
	uint64_t before = stage_hash(&stage);
	ck_assert_int_eq(stage_try(&stage), STATUS_LIMIT);
	ck_assert_uint_eq(stage_hash(&stage), before);
	ck_assert(stage.dynamics.limit_met == (double)stage.tables.world.memory_max[0]);
	stage.tables.world.memory_max[0] += 1000;
	ck_assert_int_eq(stage_try(&stage), STATUS_OK);
	stage_release(&stage);
}
END_TEST

/* ---- through a world -------------------------------------------------------------------------- */

static struct world *load(const struct bytes *image)
{
	struct world *world = NULL;
	struct reason why;
	ck_assert_int_eq(world_load(image->data, image->count, test_shape_source(), &world, &why),
			 STATUS_OK);
	return world;
}

START_TEST(a_loaded_world_continues_with_the_methods_history)
{
	method_probe_install();
	struct world *world = test_world(false, "soft-step");
	for (uint32_t i = 0; i < 5; i++)
		test_spawn(world, TEST_SPHERE, vec3_make(2.0 * i, 5, 0));
	struct command method = test_command(COMMAND_METHOD);
	method.method.name = test_text("probe");
	ck_assert_int_eq(test_try(world, &method), STATUS_OK);
	test_step(world, 7);
	struct bytes image = test_save(world);
	struct world *other = load(&image);
	ck_assert_uint_eq(test_hash(world), test_hash(other));
	for (uint32_t tick = 0; tick < 10; tick++) {
		test_step(world, 1);
		test_step(other, 1);
		ck_assert_uint_eq(test_hash(world), test_hash(other));
	}
	/* A restore also restores the history. */
	struct reason why;
	ck_assert_int_eq(world_restore(world, image.data, image.count, &why), STATUS_OK);
	struct world *third = load(&image);
	test_step(world, 3);
	test_step(third, 3);
	ck_assert_uint_eq(test_hash(world), test_hash(third));
	bytes_release(&image);
	world_destroy(world);
	world_destroy(other);
	world_destroy(third);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("methods/method");
	TCase *instances = tcase_create("instances");
	tcase_add_test(instances, a_state_saved_destroyed_and_remade_has_the_same_future);
	tcase_add_test(instances, without_its_block_a_method_has_another_future);
	tcase_add_test(instances, a_step_reports_sleeping_bodies_to_the_state);
	tcase_add_test(instances, a_step_without_memory_for_state_or_block_changes_nothing);
	tcase_add_test(instances, a_step_with_a_block_over_the_memory_limit_is_refused);
	suite_add_tcase(suite, instances);
	TCase *worlds = tcase_create("worlds");
	tcase_add_test(worlds, a_loaded_world_continues_with_the_methods_history);
	suite_add_tcase(suite, worlds);
	return suite;
}

int main(void)
{
	return check_main(make);
}
