/* Commands without a world: defaults, checks of values, the flat form and its round trip,
 * descriptions. */
#include "server/engine/world/command_bytes.h"

#include "tests/lib/check_main.h"
#include "tests/lib/gen_commands.h"
#include "tests/lib/worlds.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

START_TEST(every_command_has_a_number_a_name_and_fields_of_its_own)
{
	uint32_t count;
	const struct command_info *list = command_list(&count);
	ck_assert_uint_gt(count, 20);
	for (uint32_t i = 0; i < count; i++) {
		ck_assert_uint_lt(list[i].op, COMMAND_OPS_MAX);
		ck_assert_ptr_eq(command_info(list[i].op), &list[i]);
		ck_assert_ptr_eq(command_find(list[i].name), &list[i]);
		ck_assert_uint_le(list[i].needed, list[i].field_count);
		ck_assert(i == 0 || list[i - 1].op < list[i].op);
		for (uint32_t f = 0; f < list[i].field_count; f++)
			ck_assert_uint_lt(list[i].fields[f].offset, sizeof(struct command));
	}
	ck_assert_ptr_null(command_info(127));
	ck_assert_ptr_null(command_find("levitate"));
}
END_TEST

START_TEST(defaults_of_optional_fields_pass_the_checks)
{
	struct command spawn = test_command(COMMAND_SPAWN);
	struct reason why;
	ck_assert_int_eq(command_check_values(&spawn, 0, &why), STATUS_OK);
	ck_assert_int_eq(spawn.spawn.status, BODY_DYNAMIC);
	ck_assert_double_eq(spawn.spawn.density, 1000);
	ck_assert(quat_equal(spawn.spawn.rotation, quat_identity()));
	ck_assert_uint_eq(spawn.spawn.mask, UINT32_MAX);
	struct command bounds = test_command(COMMAND_BOUNDS);
	ck_assert_int_eq(command_check_values(&bounds, 0, &why), STATUS_OK);
}
END_TEST

START_TEST(reserved_and_unknown_numbers_are_refused_by_name)
{
	struct reason why;
	struct command drag = { .op = 25 }, nothing = { .op = 80 };
	ck_assert_int_eq(command_check_values(&drag, 3, &why), STATUS_UNSUPPORTED);
	ck_assert_int_eq(why.index, 3);
	ck_assert_int_eq(command_check_values(&nothing, 4, &why), STATUS_UNKNOWN_COMMAND);
}
END_TEST

START_TEST(every_spoiled_value_is_refused_and_names_its_field)
{
	struct world *world = test_world(false, "free");
	struct gen_commands gen;
	gen_commands_init(&gen, world, check_seed());
	uint32_t count, refused = 0;
	const struct command_info *list = command_list(&count);
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t f = 0; f < list[i].field_count; f++) {
			enum field_type type = list[i].fields[f].type;
			struct command command;
			enum status expected;
			for (uint32_t way = 0;; way++) {
				gen_command(&gen, list[i].op, &command);
				if (!gen_spoil(&command, &list[i].fields[f], way, &expected))
					break;
				/* These are refused only against a world. */
				if (type == FIELD_NAME || expected == STATUS_UNKNOWN_BODY ||
				    expected == STATUS_UNKNOWN_SHAPE ||
				    expected == STATUS_UNKNOWN_JOINT ||
				    expected == STATUS_UNKNOWN_FIELD ||
				    expected == STATUS_UNKNOWN_PARTICLES ||
				    expected == STATUS_BACK_REFERENCE ||
				    expected == STATUS_UNKNOWN_METHOD ||
				    expected == STATUS_UNKNOWN_PARAMETER ||
				    (list[i].op == COMMAND_PARAMETER && type == FIELD_F64))
					continue;
				struct reason why = { 0 };
				enum status status = command_check_values(&command, 9, &why);
				ck_assert_msg(status == expected, "%s.%s way %u: %s", list[i].name,
					      list[i].fields[f].name, way, status_name(status));
				ck_assert_int_eq(why.index, 9);
				ck_assert_str_eq(why.field, list[i].fields[f].name);
				refused++;
			}
		}
	}
	ck_assert_uint_gt(refused, 300);
	world_destroy(world);
}
END_TEST

START_TEST(normalising_a_rotation_twice_changes_no_bit)
{
	struct rng rng = rng_seeded(check_seed());
	for (uint32_t i = 0; i < 2000; i++) {
		quat q = quat_make(rng_range(&rng, -1, 1), rng_range(&rng, -1, 1),
				   rng_range(&rng, -1, 1), rng_range(&rng, -1, 1));
		double length = quat_length(q);
		if (length < 0.5 || length > 2)
			continue;
		struct command place = test_command(COMMAND_SET_POSE);
		place.set_pose.body = 1;
		place.set_pose.rotation = q;
		ck_assert_int_eq(command_check_values(&place, 0, NULL), STATUS_OK);
		quat once = place.set_pose.rotation;
		ck_assert_double_eq_tol(quat_length(once), 1, 1e-15);
		ck_assert_int_eq(command_check_values(&place, 0, NULL), STATUS_OK);
		ck_assert(quat_equal(place.set_pose.rotation, once));
	}
}
END_TEST

START_TEST(dynamic_friction_may_not_be_above_static_friction)
{
	struct command set = test_command(COMMAND_SET_MATERIAL);
	set.set_material.body = 1;
	set.set_material.static_friction = 0.2;
	set.set_material.dynamic_friction = 0.3;
	struct reason why;
	ck_assert_int_eq(command_check_values(&set, 0, &why), STATUS_RANGE);
	ck_assert_str_eq(why.field, "dynamic_friction");
}
END_TEST

START_TEST(the_minimum_of_bounds_must_be_below_the_maximum)
{
	struct command bounds = test_command(COMMAND_BOUNDS);
	bounds.bounds.minimum.y = bounds.bounds.maximum.y;
	ck_assert_int_eq(command_check_values(&bounds, 0, NULL), STATUS_RANGE);
}
END_TEST

static bool same_attachments(struct attachment_list a, struct attachment_list b)
{
	if (a.count != b.count)
		return false;
	for (uint32_t i = 0; i < a.count; i++)
		if (a.items[i].shape != b.items[i].shape ||
		    !vec3_equal(a.items[i].position, b.items[i].position) ||
		    !quat_equal(a.items[i].rotation, b.items[i].rotation))
			return false;
	return true;
}

START_TEST(the_flat_form_round_trips)
{
	struct world *world = test_world(false, "free");
	struct gen_commands gen;
	gen_commands_init(&gen, world, check_seed());
	struct arena arena;
	ck_assert_int_eq(arena_init(&arena, 0), STATUS_OK);
	for (uint32_t i = 0; i < 2000; i++) {
		struct command command, back;
		gen_any_command(&gen, &command);
		struct bytes bytes = { 0 };
		struct writer writer = writer_into(&bytes);
		command_write(&writer, &command);
		struct reader reader = reader_over(bytes.data, bytes.count);
		memset(&back, 0xa5, sizeof back);
		ck_assert_int_eq(command_read(&reader, &arena, &back), STATUS_OK);
		ck_assert_int_eq(reader_finish(&reader), STATUS_OK);
		if (command.op == COMMAND_SPAWN) {
			ck_assert(same_attachments(command.spawn.shapes, back.spawn.shapes));
			command.spawn.shapes = back.spawn.shapes;
		}
		/* Writing the command that was read gives the same bytes. */
		struct bytes again = { 0 };
		struct writer second = writer_into(&again);
		command_write(&second, &back);
		ck_assert_uint_eq(again.count, bytes.count);
		ck_assert_int_eq(memcmp(again.data, bytes.data, bytes.count), 0);
		/* Every shorter prefix is refused. */
		reader = reader_over(bytes.data, rng_below(&gen.rng, (uint32_t)bytes.count));
		enum status status = command_read(&reader, &arena, &back);
		ck_assert(status == STATUS_MALFORMED || reader_finish(&reader) != STATUS_OK);
		bytes_release(&bytes);
		bytes_release(&again);
		arena_reset(&arena);
	}
	arena_release(&arena);
	world_destroy(world);
}
END_TEST

START_TEST(an_older_form_with_fewer_fields_gets_defaults)
{
	uint8_t bytes[64];
	struct writer writer = writer_over(bytes, sizeof bytes);
	write_u16(&writer, COMMAND_SPAWN);
	write_u8(&writer, 1);
	write_u8(&writer, BODY_STATIC);
	struct arena arena;
	ck_assert_int_eq(arena_init(&arena, 0), STATUS_OK);
	struct reader reader = reader_over(bytes, writer.count);
	struct command command;
	ck_assert_int_eq(command_read(&reader, &arena, &command), STATUS_OK);
	ck_assert_int_eq(command.spawn.status, BODY_STATIC);
	ck_assert_double_eq(command.spawn.density, 1000);
	bytes[2] = 200;
	reader = reader_over(bytes, writer.count);
	ck_assert_int_eq(command_read(&reader, &arena, &command), STATUS_MALFORMED);
	arena_release(&arena);
}
END_TEST

START_TEST(a_description_names_command_and_fields_and_can_be_cut)
{
	struct command spawn = test_command(COMMAND_SPAWN);
	spawn.spawn.position = vec3_make(1, 2.5, -3);
	char text[1000], cut[20];
	int length = command_describe(&spawn, text, sizeof text);
	ck_assert_int_eq(length, (int)strlen(text));
	ck_assert_ptr_nonnull(strstr(text, "spawn status=2 position=(1,2.5,-3)"));
	ck_assert_int_eq(command_describe(&spawn, cut, sizeof cut), length);
	ck_assert_uint_eq(strlen(cut), sizeof cut - 1);
	ck_assert_int_eq(command_describe(&spawn, NULL, 0), length);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/world/command");
	TCase *list = tcase_create("list");
	tcase_add_test(list, every_command_has_a_number_a_name_and_fields_of_its_own);
	tcase_add_test(list, defaults_of_optional_fields_pass_the_checks);
	tcase_add_test(list, a_description_names_command_and_fields_and_can_be_cut);
	suite_add_tcase(suite, list);
	TCase *values = tcase_create("values");
	tcase_add_test(values, reserved_and_unknown_numbers_are_refused_by_name);
	tcase_add_test(values, every_spoiled_value_is_refused_and_names_its_field);
	tcase_add_test(values, normalising_a_rotation_twice_changes_no_bit);
	tcase_add_test(values, dynamic_friction_may_not_be_above_static_friction);
	tcase_add_test(values, the_minimum_of_bounds_must_be_below_the_maximum);
	suite_add_tcase(suite, values);
	TCase *flat = tcase_create("flat form");
	tcase_add_test(flat, the_flat_form_round_trips);
	tcase_add_test(flat, an_older_form_with_fewer_fields_gets_defaults);
	suite_add_tcase(suite, flat);
	return suite;
}

int main(void)
{
	return check_main(make);
}
