/* Bodies that go with another body, or with the session that owns them: when, what else goes with them,
 * refusals, images. */
#include "tests/lib/check_main.h"
#include "tests/lib/worlds.h"

static body_id spawn_with(struct world *world, vec3 at, body_id with, uint32_t owner, bool ends)
{
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_BOX, at, &item);
	spawn.spawn.ends_with = with;
	spawn.spawn.owner = owner;
	spawn.spawn.ends_with_owner = ends;
	return test_do(world, &spawn);
}

static bool exists(const struct world *world, body_id id)
{
	struct body_view view;
	return world_body(world, id, &view) == STATUS_OK;
}

static void remove_body(struct world *world, body_id id)
{
	struct command command = test_command(COMMAND_REMOVE);
	command.remove.body = id;
	test_do(world, &command);
}

static void end_session(struct world *world, uint32_t session)
{
	struct batch batch = { .session = session,
			       .number = UINT64_MAX,
			       .late = LATE_REMOVE_DRAGS,
			       .restricted = true };
	struct batch_result result;
	ck_assert_int_eq(world_apply(world, &batch, 1, &result), STATUS_OK);
	ck_assert_int_eq(result.status, STATUS_OK);
}

/* A lower row than that of the owner is taken by the last one, which goes all the same. */
START_TEST(what_belongs_to_a_body_goes_with_it)
{
	struct world *world = test_world(false, "soft-step");
	body_id hole = spawn_with(world, vec3_make(9, 0, 0), 0, 0, false);
	body_id owner = spawn_with(world, vec3_make(0, 0, 0), 0, 0, false);
	body_id first = spawn_with(world, vec3_make(0, 1, 0), owner, 0, false);
	body_id other = spawn_with(world, vec3_make(0, 2, 0), 0, 0, false);
	remove_body(world, hole);
	body_id second = spawn_with(world, vec3_make(0, 3, 0), owner, 0, false);
	struct command joint = test_command(COMMAND_JOINT_CREATE);
	joint.joint_create.type = JOINT_FIXED;
	joint.joint_create.body_a = first;
	joint.joint_create.body_b = other;
	joint.joint_create.place = 1;
	test_do(world, &joint);
	test_step(world, 3);
	test_check(world);
	remove_body(world, owner);
	ck_assert(!exists(world, owner) && !exists(world, first) && !exists(world, second));
	ck_assert(exists(world, other));
	ck_assert_uint_eq(world_joints(world, 0, NULL, 0), 0);
	test_step(world, 2);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* Also what the same batch made; later commands of the batch do not find it any more. */
START_TEST(what_belongs_to_it_goes_at_once)
{
	struct world *world = test_world(false, "soft-step");
	struct attachment item;
	struct command commands[4];
	commands[0] = test_spawn_command(world, TEST_BOX, vec3_zero(), &item);
	commands[1] = test_spawn_command(world, TEST_BOX, vec3_make(0, 2, 0), &item);
	commands[1].spawn.ends_with = -1;
	commands[2] = test_command(COMMAND_REMOVE);
	commands[2].remove.body = -1;
	commands[3] = test_command(COMMAND_SET_TAG);
	commands[3].set_tag.body = -2;
	commands[3].set_tag.tag = 7;
	ck_assert_int_eq(test_batch(world, commands, 4, NULL), STATUS_UNKNOWN_BODY);
	ck_assert_int_eq(test_batch(world, commands, 3, NULL), STATUS_OK);
	ck_assert_uint_eq(world_bodies(world, NULL, 0), 0);
	test_check(world);
	world_destroy(world);
}
END_TEST

START_TEST(what_ends_with_a_session_goes_with_it)
{
	struct world *world = test_world(false, "soft-step");
	body_id kept = spawn_with(world, vec3_make(0, 0, 0), 0, 5, false);
	body_id gone = spawn_with(world, vec3_make(2, 0, 0), 0, 5, true);
	body_id tail = spawn_with(world, vec3_make(4, 0, 0), gone, 0, false);
	body_id nobody = spawn_with(world, vec3_make(6, 0, 0), 0, 0, true);
	body_id theirs = spawn_with(world, vec3_make(8, 0, 0), 0, 6, true);
	ck_assert(world_session_leaves(world, 5) && world_session_leaves(world, 6));
	ck_assert(!world_session_leaves(world, 7));
	end_session(world, 7);
	ck_assert_uint_eq(world_bodies(world, NULL, 0), 5);
	uint32_t edit = world_info(world).edit;
	end_session(world, 5);
	ck_assert_uint_eq(world_info(world).edit, edit + 1);
	ck_assert(exists(world, kept) && !exists(world, gone) && !exists(world, tail));
	ck_assert(exists(world, nobody) && exists(world, theirs));
	test_check(world);
	struct command give = test_command(COMMAND_SET_OWNER);
	give.set_owner.body = nobody;
	give.set_owner.owner = 9;
	test_do(world, &give);
	end_session(world, 0);
	ck_assert(exists(world, kept) && !exists(world, nobody) && !exists(world, theirs));
	ck_assert(!world_session_leaves(world, 0));
	test_check(world);
	world_destroy(world);
}
END_TEST

START_TEST(chains_and_strangers_are_refused_and_change_nothing)
{
	struct world *world = test_world(false, "soft-step");
	body_id owner = spawn_with(world, vec3_make(0, 0, 0), 0, 1, false);
	body_id tail = spawn_with(world, vec3_make(2, 0, 0), owner, 1, false);
	uint64_t hash = test_hash(world);
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_BOX, vec3_make(4, 0, 0), &item);
	spawn.spawn.ends_with = tail;
	ck_assert_int_eq(test_try(world, &spawn), STATUS_RANGE);
	spawn.spawn.ends_with = 99;
	ck_assert_int_eq(test_try(world, &spawn), STATUS_UNKNOWN_BODY);
	spawn.spawn.ends_with = -1;
	ck_assert_int_eq(test_try(world, &spawn), STATUS_BACK_REFERENCE);
	spawn.spawn.ends_with = owner;
	struct batch batch = { .session = 2, .restricted = true, .commands = &spawn, .count = 1 };
	struct batch_result result;
	ck_assert_int_eq(world_apply(world, &batch, 1, &result), STATUS_OK);
	ck_assert_int_eq(result.status, STATUS_NOT_OWNER);
	ck_assert_uint_eq(test_hash(world), hash);
	world_destroy(world);
}
END_TEST

START_TEST(an_image_keeps_what_belongs_to_whom)
{
	struct world *world = test_world(false, "soft-step"), *copy;
	body_id owner = spawn_with(world, vec3_make(0, 0, 0), 0, 0, false);
	spawn_with(world, vec3_make(2, 0, 0), owner, 0, false);
	spawn_with(world, vec3_make(4, 0, 0), 0, 3, true);
	test_step(world, 2);
	struct bytes image = test_save(world);
	ck_assert_int_eq(world_load(image.data, image.count, test_shape_source(), &copy, NULL),
			 STATUS_OK);
	bytes_release(&image);
	struct world *both[] = { world, copy };
	for (uint32_t i = 0; i < 2; i++) {
		remove_body(both[i], owner);
		end_session(both[i], 3);
		test_step(both[i], 1);
		ck_assert_uint_eq(world_bodies(both[i], NULL, 0), 0);
	}
	ck_assert_uint_eq(test_hash(world), test_hash(copy));
	world_destroy(world);
	world_destroy(copy);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("removal");
	TCase *tcase = tcase_create("removal");
	tcase_add_test(tcase, what_belongs_to_a_body_goes_with_it);
	tcase_add_test(tcase, what_belongs_to_it_goes_at_once);
	tcase_add_test(tcase, what_ends_with_a_session_goes_with_it);
	tcase_add_test(tcase, chains_and_strangers_are_refused_and_change_nothing);
	tcase_add_test(tcase, an_image_keeps_what_belongs_to_whom);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
