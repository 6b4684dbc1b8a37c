/* Visuals of bodies: no motion and no hash depends on them; lists, limits, removal with bodies
 * and shapes, images. */
#include "server/base/bytes.h"
#include "tests/lib/check_main.h"
#include "tests/lib/worlds.h"

static struct command visual_of(struct world *world, body_id body, enum test_shape shape, vec3 at)
{
	struct command command = test_command(COMMAND_ADD_VISUAL);
	command.add_visual.body = body;
	command.add_visual.shape = test_use(world, shape);
	command.add_visual.position = at;
	return command;
}

static void clear(struct world *world, body_id body)
{
	struct command command = test_command(COMMAND_CLEAR_VISUALS);
	command.clear_visuals.body = body;
	test_do(world, &command);
}

START_TEST(no_motion_and_no_hash_depends_on_a_visual)
{
	static const char *const methods[] = { "soft-step", "lcp", "impact" };
	body_id ids[4];
	struct world *plain = test_stack(methods[_i], ids), *dressed = test_stack(methods[_i], ids);
	test_use(plain, TEST_MESH);
	for (uint32_t tick = 0; tick < 60; tick++) {
		struct command command = visual_of(dressed, ids[tick % 4], TEST_MESH,
						   vec3_make(tick, 0, -1.0 * tick));
		test_do(dressed, &command);
		if (tick % 11 == 10)
			clear(dressed, ids[tick % 4]);
		test_step(plain, 1);
		test_step(dressed, 1);
		ck_assert_uint_eq(world_tick_hash(plain), world_tick_hash(dressed));
		ck_assert_uint_eq(test_hash(plain), test_hash(dressed));
	}
	test_check(dressed);
	ck_assert_uint_gt(world_visuals(dressed, ids[1], NULL, 0), 0);
	world_destroy(plain);
	world_destroy(dressed);
}
END_TEST

START_TEST(visuals_are_kept_in_their_order_and_taken_away)
{
	body_id ids[4];
	struct world *world = test_stack("soft-step", ids);
	struct visual_view views[3];
	for (uint32_t i = 0; i < 3; i++) {
		struct command command = visual_of(world, ids[1], i == 1 ? TEST_MESH : TEST_SPHERE,
						   vec3_make(i, 0, 0));
		command.add_visual.rotation = quat_make(0, 0, 1.5, 0); /* is normalised */
		command.add_visual.colour = i;
		command.add_visual.given = i < 2;
		test_do(world, &command);
	}
	ck_assert_uint_eq(world_visuals(world, ids[1], views, 3), 3);
	ck_assert_uint_eq(world_visuals(world, ids[1], views, 2), 3);
	ck_assert_uint_eq(world_visuals(world, 999, views, 3), 0);
	for (uint32_t i = 0; i < 3; i++) {
		ck_assert_double_eq(views[i].position.x, i);
		ck_assert_double_eq(views[i].rotation.y, 1);
		ck_assert_uint_eq(views[i].colour, i < 2 ? i + COLOUR_GIVEN : 0);
		ck_assert_uint_eq(views[i].shape,
				  test_use(world, i == 1 ? TEST_MESH : TEST_SPHERE));
		struct name32 name = test_shape_name(i == 1 ? TEST_MESH : TEST_SPHERE);
		ck_assert_mem_eq(views[i].name.bytes, name.bytes, sizeof name.bytes);
	}
	test_check(world);
	/* With the shape go those that show it, of all bodies. */
	struct command drop = test_command(COMMAND_SHAPE_DROP);
	drop.shape_drop.shape = test_use(world, TEST_SPHERE);
	test_do(world, &drop);
	ck_assert_uint_eq(world_visuals(world, ids[1], views, 3), 1);
	ck_assert_double_eq(views[0].position.x, 1);
	test_check(world);
	clear(world, ids[1]);
	ck_assert_uint_eq(world_visuals(world, ids[1], views, 3), 0);
	test_check(world);
	world_destroy(world);
}
END_TEST

START_TEST(a_body_takes_its_visuals_along)
{
	body_id ids[4];
	struct world *world = test_stack("soft-step", ids);
	for (uint32_t i = 1; i < 4; i++)
		for (uint32_t k = 0; k <= i; k++) {
			struct command command =
				visual_of(world, ids[i], TEST_MESH, vec3_make(i, k, 0));
			test_do(world, &command);
		}
	struct command remove = test_command(COMMAND_REMOVE);
	remove.remove.body = ids[2];
	test_do(world, &remove);
	test_check(world);
	ck_assert_uint_eq(world_visuals(world, ids[1], NULL, 0), 2);
	ck_assert_uint_eq(world_visuals(world, ids[3], NULL, 0), 4);
	/* Its rows are used again, and images hold the lists. */
	body_id next = test_spawn(world, TEST_BOX, vec3_make(0, 9, 0));
	struct command command = visual_of(world, next, TEST_MESH, vec3_make(7, 0, 0));
	test_do(world, &command);
	struct bytes image = test_save(world);
	struct world *loaded;
	struct reason why;
	ck_assert_int_eq(world_load(image.data, image.count, test_shape_source(), &loaded, &why),
			 STATUS_OK);
	test_check(loaded);
	struct visual_view view;
	ck_assert_uint_eq(world_visuals(loaded, next, &view, 1), 1);
	ck_assert_double_eq(view.position.x, 7);
	ck_assert_uint_eq(world_visuals(loaded, ids[3], NULL, 0), 4);
	bytes_release(&image);
	world_destroy(loaded);
	world_destroy(world);
}
END_TEST

START_TEST(too_many_and_unknown_ones_are_refused_and_change_nothing)
{
	body_id ids[4];
	struct world *world = test_stack("soft-step", ids);
	struct command commands[VISUALS_MAX + 1];
	struct batch_result result;
	for (uint32_t i = 0; i <= VISUALS_MAX; i++)
		commands[i] = visual_of(world, ids[1], TEST_MESH, vec3_zero());
	ck_assert_int_eq(test_batch(world, commands, VISUALS_MAX + 1, &result), STATUS_LIMIT);
	ck_assert_uint_eq(world_visuals(world, ids[1], NULL, 0), 0);
	ck_assert_int_eq(test_batch(world, commands, VISUALS_MAX, &result), STATUS_OK);
	ck_assert_int_eq(test_try(world, &commands[0]), STATUS_LIMIT);
	/* A place that the same batch makes. */
	struct command batch[] = { test_command(COMMAND_CLEAR_VISUALS), commands[0] };
	batch[0].clear_visuals.body = ids[1];
	ck_assert_int_eq(test_batch(world, batch, 2, &result), STATUS_OK);
	ck_assert_uint_eq(world_visuals(world, ids[1], NULL, 0), 1);
	struct command unknown = commands[0];
	unknown.add_visual.shape = 999;
	ck_assert_int_eq(test_try(world, &unknown), STATUS_UNKNOWN_SHAPE);
	unknown = commands[0];
	unknown.add_visual.body = 999;
	ck_assert_int_eq(test_try(world, &unknown), STATUS_UNKNOWN_BODY);
	test_check(world);
	world_destroy(world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("visuals");
	TCase *tcase = tcase_create("visuals");
	tcase_add_loop_test(tcase, no_motion_and_no_hash_depends_on_a_visual, 0, 3);
	tcase_add_test(tcase, visuals_are_kept_in_their_order_and_taken_away);
	tcase_add_test(tcase, a_body_takes_its_visuals_along);
	tcase_add_test(tcase, too_many_and_unknown_ones_are_refused_and_change_nothing);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
