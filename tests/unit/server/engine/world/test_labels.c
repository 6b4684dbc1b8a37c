/* Names of bodies and joints: no motion and no hash depends on them; they go with their bodies and
 * joints, also with one that breaks in a step; images hold them. */
#include "server/base/bytes.h"
#include "tests/lib/joined.h"

#include <stdio.h>

enum { COUNT = 6 };

/* A body or joint, and what it is called. */
struct named {
	body_id body;
	joint_id joint;
};

static struct command naming(bool joint, uint32_t id, const char *name)
{
	struct command command = test_command(joint ? COMMAND_NAME_JOINT : COMMAND_NAME_BODY);
	if (joint)
		command.name_joint.joint = id;
	else
		command.name_body.body = id;
	snprintf(joint ? command.name_joint.name.text : command.name_body.name.text, LABEL_BYTES,
		 "%s", name);
	return command;
}

static void call(struct world *world, bool joint, uint32_t id, const char *name)
{
	struct command command = naming(joint, id, name);
	test_do(world, &command);
}

/* A chain that hangs on the world. */
static struct world *chain(const char *method, struct named links[COUNT])
{
	struct world *world = joined_world(method, 60, vec3_make(0, -9.81, 0));
	for (uint32_t i = 0; i < COUNT; i++) {
		links[i].body = joined_put(world, (struct joined_thing){ .shape = TEST_BOX,
									 .at = { i + 1.0, 0, 0 },
									 .mass = 1 });
		links[i].joint =
			joined_join(world, JOINT_REVOLUTE, i == 0 ? 0 : links[i - 1].body,
				    links[i].body, vec3_make(i + 0.5, 0, 0), joined_about_z());
	}
	return world;
}

static void assert_called(const struct world *world, bool joint, uint32_t id, const char *name)
{
	char text[LABEL_BYTES];
	bool has = joint ? world_joint_name(world, id, text) : world_body_name(world, id, text);
	ck_assert_int_eq(has, name[0] != '\0');
	ck_assert_str_eq(text, name);
}

START_TEST(no_motion_and_no_hash_depends_on_a_name)
{
	static const char *const methods[] = { "soft-step", "lcp", "impact" };
	struct named links[COUNT], same[COUNT];
	struct world *plain = chain(methods[_i], links), *called = chain(methods[_i], same);
	char name[LABEL_BYTES];
	for (uint32_t tick = 0; tick < 40; tick++) {
		snprintf(name, sizeof name, "name %u", tick);
		call(called, tick % 3 == 0,
		     tick % 3 == 0 ? same[tick % COUNT].joint : same[tick % COUNT].body, name);
		test_step(plain, 1);
		test_step(called, 1);
		ck_assert_uint_eq(world_tick_hash(plain), world_tick_hash(called));
		ck_assert_uint_eq(test_hash(plain), test_hash(called));
	}
	assert_called(called, true, same[39 % COUNT].joint, "name 39");
	test_check(called);
	world_destroy(plain);
	world_destroy(called);
}
END_TEST

START_TEST(names_go_with_their_bodies_and_joints_and_images_hold_them)
{
	struct named links[COUNT];
	struct world *world = chain("soft-step", links);
	char name[LABEL_BYTES];
	for (uint32_t i = 0; i < COUNT; i++) {
		snprintf(name, sizeof name, "body %u", i);
		call(world, false, links[i].body, name);
		snprintf(name, sizeof name, "joint %u", i);
		call(world, true, links[i].joint, name);
	}
	call(world, false, links[1].body, "abcdefghijklmnopqrstuvwxyz01234"); /* 31 bytes */
	struct command remove = test_command(COMMAND_REMOVE);
	remove.remove.body = links[3].body; /* and joints 3 and 4 with it */
	test_do(world, &remove);
	test_check(world);
	/* A joint that breaks. */
	struct command set = test_command(COMMAND_JOINT_SET);
	set.joint_set.joint = links[0].joint;
	set.joint_set.break_force = 1;
	test_do(world, &set);
	test_step(world, 2);
	test_check(world);
	assert_called(world, true, links[0].joint, "");
	/* Its row is used again. */
	body_id next = test_spawn(world, TEST_BOX, vec3_make(0, 9, 0));
	assert_called(world, false, next, "");
	call(world, false, next, "next");
	struct bytes image = test_save(world);
	struct world *loaded;
	struct reason why;
	ck_assert_int_eq(world_load(image.data, image.count, test_shape_source(), &loaded, &why),
			 STATUS_OK);
	test_check(loaded);
	struct world *both[] = { world, loaded };
	for (uint32_t k = 0; k < 2; k++) {
		assert_called(both[k], false, next, "next");
		assert_called(both[k], false, links[0].body, "body 0");
		assert_called(both[k], false, links[1].body, "abcdefghijklmnopqrstuvwxyz01234");
		assert_called(both[k], false, links[3].body, "");
		assert_called(both[k], true, links[3].joint, "");
		assert_called(both[k], true, links[4].joint, "");
		assert_called(both[k], true, links[5].joint, "joint 5");
		assert_called(both[k], true, 999, "");
	}
	bytes_release(&image);
	world_destroy(loaded);
	world_destroy(world);
}
END_TEST

START_TEST(unknown_ones_are_refused_and_new_ones_named_in_their_batch)
{
	struct named links[COUNT];
	struct world *world = chain("lcp", links);
	struct command unknown = naming(false, 999, "x");
	ck_assert_int_eq(test_try(world, &unknown), STATUS_UNKNOWN_BODY);
	unknown = naming(true, 999, "x");
	ck_assert_int_eq(test_try(world, &unknown), STATUS_UNKNOWN_JOINT);
	struct command batch[] = { joined_create(JOINT_FIXED, links[0].body, links[5].body,
						 vec3_make(3, 0, 0), quat_identity()),
				   naming(true, 0, "weld"), naming(true, 0, "better weld") };
	struct batch_result result;
	batch[1].name_joint.joint = batch[2].name_joint.joint = -1;
	ck_assert_int_eq(test_batch(world, batch, COUNT_OF(batch), &result), STATUS_OK);
	assert_called(world, true, links[5].joint + 1, "better weld");
	batch[1].name_joint.joint = -2; /* makes nothing */
	ck_assert_int_eq(test_batch(world, batch, COUNT_OF(batch), &result), STATUS_BACK_REFERENCE);
	test_check(world);
	world_destroy(world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("labels");
	TCase *tcase = tcase_create("labels");
	tcase_add_loop_test(tcase, no_motion_and_no_hash_depends_on_a_name, 0, 3);
	tcase_add_test(tcase, names_go_with_their_bodies_and_joints_and_images_hold_them);
	tcase_add_test(tcase, unknown_ones_are_refused_and_new_ones_named_in_their_batch);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
