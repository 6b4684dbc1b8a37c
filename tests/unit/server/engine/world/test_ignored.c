/* What a method would ignore is refused where it is asked for, by METHOD, SPAWN and SET_MATERIAL, and nowhere
 * else: worlds that have it are opened and stepped. */
#include <string.h>

#include "tests/lib/check_main.h"
#include "tests/lib/worlds.h"

static const struct {
	const char *method, *field;
	bool refuses;
} CASES[] = {
	{ "impact", "rolling_friction", true },	    { "impact", "spinning_friction", true },
	{ "impact", "friction_axis", false },	    { "penalty", "rolling_friction", true },
	{ "penalty", "spinning_friction", true },   { "penalty", "friction_axis", true },
	{ "lcp", "rolling_friction", true },	    { "projection", "friction_axis", true },
	{ "soft-step", "rolling_friction", false }, { "soft-step", "friction_axis", false },
};

static struct command spawn_with(struct world *world, const char *field, struct attachment *item)
{
	struct command spawn = test_spawn_command(world, TEST_SPHERE, vec3_zero(), item);
	if (strcmp(field, "rolling_friction") == 0)
		spawn.spawn.rolling_friction = 0.02;
	else if (strcmp(field, "spinning_friction") == 0)
		spawn.spawn.spinning_friction = 0.02;
	else
		spawn.spawn.friction_axis = vec3_make(0, 0, 1);
	return spawn;
}

static struct command method_command(const char *name)
{
	struct command command = test_command(COMMAND_METHOD);
	command.method.name = test_text(name);
	return command;
}

static void expect_refusal(struct world *world, struct command *commands, uint32_t count,
			   uint32_t at, const char *field)
{
	struct batch_result result;
	uint64_t before = test_hash(world);
	ck_assert_int_eq(test_batch(world, commands, count, &result), STATUS_METHOD_REFUSES);
	ck_assert_int_eq(result.why.index, (int)at);
	ck_assert_str_eq(result.why.field, field);
	/* What to do about it. */
	ck_assert_msg(strstr(result.why.text, "or choose soft-step") != NULL, "%s",
		      result.why.text);
	ck_assert_uint_eq(test_hash(world), before);
}

START_TEST(each_command_that_asks_is_refused_by_field)
{
	struct world *world = test_world(false, CASES[_i].method);
	const char *field = CASES[_i].field;
	struct attachment item;
	struct command batch[3] = { spawn_with(world, field, &item), test_command(COMMAND_SEED) };
	body_id plain = test_spawn(world, TEST_BOX, vec3_make(3, 0, 0));
	struct command set = test_command(COMMAND_SET_MATERIAL);
	set.set_material.body = plain;
	set.set_material.rolling_friction = batch[0].spawn.rolling_friction;
	set.set_material.spinning_friction = batch[0].spawn.spinning_friction;
	set.set_material.friction_axis = batch[0].spawn.friction_axis;
	if (!CASES[_i].refuses) {
		ck_assert_int_eq(test_batch(world, batch, 1, NULL), STATUS_OK);
		ck_assert_int_eq(test_try(world, &set), STATUS_OK);
		test_step(world, 3);
		test_check(world);
		world_destroy(world);
		return;
	}
	expect_refusal(world, batch, 2, 0, field);
	expect_refusal(world, &set, 1, 0, field);
	/* METHOD, for what the world has and for what earlier commands of its batch ask for. */
	struct command soft = method_command("soft-step");
	test_do(world, &soft);
	batch[1] = method_command("soft-step");
	batch[2] = method_command(CASES[_i].method);
	ck_assert_int_eq(test_batch(world, batch, 3, NULL), STATUS_METHOD_REFUSES);
	body_id rough = test_do(world, &batch[0]);
	struct reason why = { .status = STATUS_OK };
	ck_assert_int_eq(test_try(world, &batch[2]), STATUS_METHOD_REFUSES);
	ck_assert_int_eq(world_supports(world, CASES[_i].method, &why), STATUS_METHOD_REFUSES);
	ck_assert_str_eq(why.field, field);
	set = test_command(COMMAND_SET_MATERIAL);
	set.set_material.body = rough;
	test_do(world, &set);
	ck_assert_int_eq(world_supports(world, CASES[_i].method, &why), STATUS_OK);
	test_do(world, &batch[2]);
	world_destroy(world);
}
END_TEST

/* A batch that an earlier build took, and the image of a world with such a body. */
START_TEST(what_an_older_build_took_is_opened_and_stepped)
{
	const char *method = _i ? "penalty" : "impact";
	struct world *world = test_world(false, method);
	struct attachment item;
	struct command spawn = spawn_with(world, "rolling_friction", &item);
	struct batch batch = {
		.session = 1, .number = 1, .commands = &spawn, .count = 1, .recorded = true
	};
	struct batch_result result;
	ck_assert_int_eq(world_apply(world, &batch, 1, &result), STATUS_OK);
	ck_assert_int_eq(result.status, STATUS_OK);
	test_step(world, 5);
	struct bytes image = test_save(world);
	struct world_options options = test_options(false, method);
	struct reason why;
	struct world *again;
	ck_assert_int_eq(world_load(image.data, image.count, options.shapes, &again, &why),
			 STATUS_OK);
	test_step(world, 5);
	test_step(again, 5);
	ck_assert_uint_eq(test_hash(world), test_hash(again));
	bytes_release(&image);
	world_destroy(again);
	world_destroy(world);
}
END_TEST

/* It is asked when it comes, not when it is due. */
START_TEST(a_batch_for_a_later_tick_is_refused_at_once)
{
	struct world *world = test_world(false, "impact");
	struct attachment item;
	struct command spawn = spawn_with(world, "spinning_friction", &item);
	struct batch batch = { .session = 1, .number = 1, .at = 9, .commands = &spawn, .count = 1 };
	struct batch_result result;
	ck_assert_int_eq(world_apply(world, &batch, 1, &result), STATUS_OK);
	ck_assert_int_eq(result.status, STATUS_METHOD_REFUSES);
	ck_assert(!result.stored);
	ck_assert_str_eq(result.why.field, "spinning_friction");
	test_step(world, 12);
	body_id ids[2];
	ck_assert_uint_eq(world_bodies(world, ids, 2), 0);
	world_destroy(world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("world: what a method would ignore");
	TCase *tcase = tcase_create("ignored");
	tcase_add_loop_test(tcase, each_command_that_asks_is_refused_by_field, 0, COUNT_OF(CASES));
	tcase_add_loop_test(tcase, what_an_older_build_took_is_opened_and_stepped, 0, 2);
	tcase_add_test(tcase, a_batch_for_a_later_tick_is_refused_at_once);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
