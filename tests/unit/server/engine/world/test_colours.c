/* Colours of bodies: what depends on them (images), and what does not (motion, sleep, hashes). */
#include "tests/lib/check_main.h"
#include "tests/lib/worlds.h"

static struct command colour_of(body_id body, uint32_t colour, uint8_t given)
{
	struct command command = test_command(COMMAND_SET_COLOUR);
	command.set_colour.body = body;
	command.set_colour.colour = colour;
	command.set_colour.given = given;
	return command;
}

START_TEST(no_motion_and_no_hash_depends_on_a_colour)
{
	static const char *const methods[] = { "soft-step", "lcp", "impact" };
	body_id ids[4];
	struct world *plain = test_stack(methods[_i], ids),
		     *coloured = test_stack(methods[_i], ids);
	for (uint32_t tick = 0; tick < 60; tick++) {
		struct command command = colour_of(ids[tick % 4], tick * 0x010203u, tick % 7 != 6);
		test_do(coloured, &command);
		test_step(plain, 1);
		test_step(coloured, 1);
		ck_assert_uint_eq(world_tick_hash(plain), world_tick_hash(coloured));
		ck_assert_uint_eq(test_hash(plain), test_hash(coloured));
	}
	test_check(coloured);
	ck_assert_uint_ne(test_body(coloured, ids[1]).colour, test_body(plain, ids[1]).colour);
	world_destroy(plain);
	world_destroy(coloured);
}
END_TEST

START_TEST(a_sleeping_body_is_coloured_and_sleeps_on)
{
	body_id ids[4];
	struct world *world = test_stack("soft-step", ids);
	test_step(world, 600);
	ck_assert(test_body(world, ids[1]).asleep);
	struct command command = colour_of(ids[1], 0xC87941, 1);
	test_do(world, &command);
	struct body_view view = test_body(world, ids[1]);
	ck_assert(view.asleep);
	ck_assert_uint_eq(view.colour, 0xC87941 + COLOUR_GIVEN);
	command = colour_of(ids[1], 0x123456, 0);
	test_do(world, &command);
	ck_assert_uint_eq(test_body(world, ids[1]).colour, 0);
	/* Black is a colour, and differs from none. */
	command = colour_of(ids[1], 0, 1);
	test_do(world, &command);
	ck_assert_uint_eq(test_body(world, ids[1]).colour, COLOUR_GIVEN);
	world_destroy(world);
}
END_TEST

START_TEST(unknown_bodies_and_numbers_beyond_white_are_refused)
{
	body_id ids[4];
	struct world *world = test_stack("soft-step", ids);
	struct command command = colour_of(99, 0, 1);
	ck_assert_int_eq(test_try(world, &command), STATUS_UNKNOWN_BODY);
	command = colour_of(ids[1], 0x1000000, 1);
	ck_assert_int_eq(test_try(world, &command), STATUS_RANGE);
	command = colour_of(ids[1], 0, 2);
	ck_assert_int_eq(test_try(world, &command), STATUS_RANGE);
	ck_assert_uint_eq(test_body(world, ids[1]).colour, 0);
	world_destroy(world);
}
END_TEST

START_TEST(an_image_keeps_colours_and_a_reused_row_has_none)
{
	body_id ids[4];
	struct world *world = test_stack("soft-step", ids), *copy;
	for (uint32_t i = 1; i < 4; i++) {
		struct command command = colour_of(ids[i], 0x111111 * i, 1);
		test_do(world, &command);
	}
	struct command removal = test_command(COMMAND_REMOVE);
	removal.remove.body = ids[2];
	test_do(world, &removal);
	body_id fresh = test_spawn(world, TEST_BOX, vec3_make(5, 5, 5));
	struct bytes image = test_save(world);
	ck_assert_int_eq(world_load(image.data, image.count, test_shape_source(), &copy, NULL),
			 STATUS_OK);
	bytes_release(&image);
	const struct world *both[] = { world, copy };
	for (uint32_t i = 0; i < 2; i++) {
		ck_assert_uint_eq(test_body(both[i], ids[1]).colour, 0x111111 + COLOUR_GIVEN);
		ck_assert_uint_eq(test_body(both[i], ids[3]).colour, 0x333333 + COLOUR_GIVEN);
		ck_assert_uint_eq(test_body(both[i], fresh).colour, 0);
	}
	world_destroy(world);
	world_destroy(copy);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("colours");
	TCase *tcase = tcase_create("colours");
	tcase_add_loop_test(tcase, no_motion_and_no_hash_depends_on_a_colour, 0, 3);
	tcase_add_test(tcase, a_sleeping_body_is_coloured_and_sleeps_on);
	tcase_add_test(tcase, unknown_bodies_and_numbers_beyond_white_are_refused);
	tcase_add_test(tcase, an_image_keeps_colours_and_a_reused_row_has_none);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
