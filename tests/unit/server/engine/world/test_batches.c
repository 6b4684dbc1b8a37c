/* Batches: a batch is applied whole or not at all, in the order of session and number, at once or at a
 * later tick; a refusal changes nothing. */
#include "server/engine/engine.h"

#include "tests/lib/check_main.h"
#include "tests/lib/gen_commands.h"
#include "tests/lib/worlds.h"

#include <stdio.h>
#include <string.h>

static struct world *world;

static void setup(void)
{
	world = test_world(false, "free");
}

static void teardown(void)
{
	test_check(world);
	world_destroy(world);
}

static struct command command_about(enum command_op op, int64_t body)
{
	struct command command = test_command(op);
	command.remove.body = body;
	return command;
}

/* ---- refusals --------------------------------------------------------------------------------- */

/* A batch of a valid and an invalid command is refused and changes neither state nor image. */
static void refuse_in_batch(struct command *bad, enum status expected, const char *what)
{
	struct command batch[2] = { test_command(COMMAND_SPAWN), *bad };
	struct bytes before = test_save(world);
	uint64_t tick_hash = world_tick_hash(world), state_hash = test_hash(world);
	struct batch_result result;
	enum status status = test_batch(world, batch, 2, &result);
	ck_assert_msg(status == expected, "%s: %s, not %s", what, status_name(status),
		      status_name(expected));
	ck_assert_int_eq(result.why.status, expected);
	ck_assert_int_eq(result.why.index, 1);
	ck_assert_uint_gt(strlen(result.why.text), 0);
	ck_assert_uint_gt(strlen(result.why.field), 0);
	ck_assert_uint_eq(result.value_count, 0);
	ck_assert_uint_eq(world_tick_hash(world), tick_hash);
	ck_assert_uint_eq(test_hash(world), state_hash);
	ck_assert_uint_eq(world_changes(world).created_count, 0);
	struct bytes after = test_save(world);
	ck_assert_uint_eq(after.count, before.count);
	ck_assert_int_eq(memcmp(after.data, before.data, before.count), 0);
	bytes_release(&before);
	bytes_release(&after);
}

static uint32_t refuse_all_ways(struct gen_commands *gen, const struct command_info *info)
{
	uint32_t refused = 0;
	for (uint32_t f = 0; f < info->field_count; f++) {
		for (uint32_t way = 0;; way++, refused++) {
			struct command command;
			enum status expected;
			gen_command(gen, info->op, &command);
			if (!gen_spoil(&command, &info->fields[f], way, &expected))
				break;
			char what[100];
			snprintf(what, sizeof what, "%s.%s way %u", info->name,
				 info->fields[f].name, way);
			refuse_in_batch(&command, expected, what);
		}
	}
	return refused;
}

START_TEST(every_spoiled_command_is_refused_and_changes_nothing)
{
	for (int shape = TEST_SPHERE; shape <= TEST_HULL; shape++)
		test_spawn(world, (enum test_shape)shape, vec3_make(2.0 * shape, 0, 0));
	for (uint32_t i = 0; i < 2; i++) {
		struct command create = test_system_command("dust");
		test_do(world, &create);
	}
	test_step(world, 2);
	/* After the steps no body is in the list of created bodies. */
	struct gen_commands gen;
	gen_commands_init(&gen, world, check_seed());
	uint32_t count, refused = 0;
	const struct command_info *list = command_list(&count);
	for (uint32_t i = 0; i < count; i++) {
		if (!list[i].reserved) {
			refused += refuse_all_ways(&gen, &list[i]);
			continue;
		}
		struct command later = { .op = list[i].op };
		refuse_in_batch(&later, STATUS_UNSUPPORTED, list[i].name);
	}
	ck_assert_uint_gt(refused, 400);
	struct command nothing = { .op = 250 };
	refuse_in_batch(&nothing, STATUS_UNKNOWN_COMMAND, "250");
}
END_TEST

START_TEST(a_command_is_checked_against_the_state_after_its_predecessors)
{
	body_id body = test_spawn(world, TEST_BOX, vec3_zero());
	test_step(world, 1);
	struct command gone[3] = { test_command(COMMAND_SPAWN), command_about(COMMAND_REMOVE, body),
				   command_about(COMMAND_SET_TAG, body) };
	ck_assert_int_eq(test_batch(world, gone, 3, NULL), STATUS_UNKNOWN_BODY);
	struct command still[2] = { command_about(COMMAND_SET_STATUS, body),
				    command_about(COMMAND_IMPULSE, body) };
	still[0].set_status.status = BODY_STATIC;
	ck_assert_int_eq(test_batch(world, still, 2, NULL), STATUS_STATUS_WRONG);
	struct command dropped[2] = { command_about(COMMAND_REMOVE, body),
				      test_command(COMMAND_SHAPE_DROP) };
	dropped[1].shape_drop.shape = 1;
	struct command used[2] = { dropped[1], dropped[0] };
	ck_assert_int_eq(test_batch(world, used, 2, NULL), STATUS_IN_USE);
	ck_assert_int_eq(test_batch(world, dropped, 2, NULL), STATUS_OK);
	ck_assert_uint_eq(world_stats(world).shapes, 0);
}
END_TEST

START_TEST(a_negative_id_names_the_result_of_an_earlier_command)
{
	struct attachment item = { .shape = -1, .rotation = quat_identity() };
	struct command batch[4] = { test_command(COMMAND_SHAPE_USE), test_command(COMMAND_SPAWN),
				    command_about(COMMAND_SET_TAG, -2),
				    command_about(COMMAND_IMPULSE, -2) };
	batch[0].shape_use.name = test_shape_name(TEST_BOX);
	batch[1].spawn.shapes = (struct attachment_list){ &item, 1 };
	batch[2].set_tag.tag = 77;
	batch[3].impulse.impulse.x = 1000;
	struct batch_result result;
	ck_assert_int_eq(test_batch(world, batch, 4, &result), STATUS_OK);
	ck_assert_uint_eq(result.value_count, 4);
	ck_assert_uint_eq(result.values[0], 1);
	ck_assert_uint_eq(result.values[1], 1);
	ck_assert_uint_eq(result.values[2], 0);
	struct body_view view = test_body(world, result.values[1]);
	ck_assert_int_eq(view.tag, 77);
	ck_assert_double_eq_tol(view.velocity.x, 1, 1e-12);
	ck_assert_uint_eq(view.placement_count, 1);

	struct command bad[2] = { test_command(COMMAND_SPAWN), command_about(COMMAND_SET_TAG, -2) };
	ck_assert_int_eq(test_batch(world, bad, 2, &result), STATUS_BACK_REFERENCE);
	ck_assert_int_eq(result.why.index, 1);
	bad[1].set_tag.body = -3;
	ck_assert_int_eq(test_batch(world, bad, 2, NULL), STATUS_BACK_REFERENCE);
	struct command wrong_kind[2] = { batch[0], command_about(COMMAND_SET_TAG, -1) };
	ck_assert_int_eq(test_batch(world, wrong_kind, 2, NULL), STATUS_BACK_REFERENCE);
	struct command no_result[2] = { command_about(COMMAND_WAKE, 1),
					command_about(COMMAND_SET_TAG, -1) };
	ck_assert_int_eq(test_batch(world, no_result, 2, NULL), STATUS_BACK_REFERENCE);
}
END_TEST

/* Names, and bodies and shapes beside the first. */
static void put_others(struct command *command, body_id other)
{
	if (command->op == COMMAND_SHAPE_DROP)
		command->shape_drop.shape = 1;
	if (command->op == COMMAND_ADD_VISUAL)
		command->add_visual.shape = 1;
	if (command->op == COMMAND_JOINT_CREATE)
		command->joint_create.body_b = other;
	if (command->op == COMMAND_CARRY)
		command->carry.a = command->carry.b = other;
	if (command->op == COMMAND_PARTICLES_MEET)
		command->particles_meet.other = 1;
	if (command->op == COMMAND_NAME_BODY)
		command->name_body.name = test_text("other");
	if (command->op == COMMAND_NAME_JOINT)
		command->name_joint.name = test_text("other");
}

START_TEST(a_player_commands_only_its_own_bodies_and_joints)
{
	body_id other = test_spawn(world, TEST_SHAPES, vec3_zero());
	struct command spawn = test_command(COMMAND_SPAWN);
	spawn.spawn.owner = 3;
	struct batch batch = {
		.session = 9, .number = 1, .restricted = true, .commands = &spawn, .count = 1
	};
	struct batch_result result;
	ck_assert_int_eq(world_apply(world, &batch, 1, &result), STATUS_OK);
	ck_assert_int_eq(result.status, STATUS_OK);
	body_id own = result.values[0];
	ck_assert_uint_eq(test_body(world, own).owner, 9);
	struct command method = test_command(COMMAND_METHOD);
	method.method.name = test_text("soft-step"); /* a method with joints */
	test_do(world, &method);
	struct command create_drags = test_command(COMMAND_JOINT_CREATE);
	create_drags.joint_create.body_b = other;
	joint_id others = test_do(world, &create_drags);
	struct command create_system = test_command(COMMAND_PARTICLES_CREATE);
	create_system.particles_create.name = test_text("others");
	system_id others_system = test_do(world, &create_system);
	struct joint_target target = { .joint = others };
	struct joint_point point = { 0, 0 };

	uint32_t count;
	const struct command_info *list = command_list(&count);
	for (uint32_t i = 0; i < count; i++) {
		if (list[i].reserved || list[i].op == COMMAND_SPAWN ||
		    list[i].op == COMMAND_SHAPE_USE)
			continue;
		enum field_type first = list[i].fields[0].type;
		bool owned = first == FIELD_BODY || first == FIELD_PARTICLES ||
			     first == FIELD_JOINT || strncmp(list[i].name, "joint_", 6) == 0;
		struct command command = first == FIELD_BODY
						 ? command_about((enum command_op)list[i].op, other)
						 : test_command((enum command_op)list[i].op);
		put_others(&command, other);
		if (first == FIELD_JOINT)
			command.joint_remove.joint = others;
		if (first == FIELD_PARTICLES)
			command.particles_remove.system = others_system;
		if (list[i].op == COMMAND_FIELD_REMOVE)
			command.field_remove.field = 1;
		if (list[i].op == COMMAND_FIELD_SET)
			command.field_set.field = 1;
		if (list[i].op == COMMAND_JOINT_TARGETS)
			command.joint_targets.targets = (struct target_list){ &target, 1 };
		if (list[i].op == COMMAND_JOINT_TABLE)
			command.joint_table.points = (struct point_list){ &point, 1 };
		if (list[i].fields[0].type == FIELD_TEXT)
			command.method.name = test_text("free");
		batch.commands = &command;
		batch.number++;
		ck_assert_int_eq(world_apply(world, &batch, 1, &result), STATUS_OK);
		ck_assert_msg(result.status == (owned ? STATUS_NOT_OWNER : STATUS_FORBIDDEN),
			      "%s: %s", list[i].name, status_name(result.status));
	}
	struct command tag = command_about(COMMAND_SET_TAG, own);
	batch.commands = &tag;
	ck_assert_int_eq(world_apply(world, &batch, 1, &result), STATUS_OK);
	ck_assert_int_eq(result.status, STATUS_OK);
}
END_TEST

/* ---- order ------------------------------------------------------------------------------------ */

START_TEST(batches_are_applied_by_session_and_number_in_any_order_of_arrival)
{
	body_id body = test_spawn(world, TEST_SHAPES, vec3_zero());
	static const struct {
		uint32_t session;
		uint64_t number;
		int64_t tag;
	} sent[] = { { 2, 1, 21 }, { 1, 7, 17 }, { 3, 1, 31 }, { 1, 2, 12 } };
	struct command tags[COUNT_OF(sent)];
	struct batch batches[COUNT_OF(sent)];
	struct batch_result results[COUNT_OF(sent)];
	for (uint32_t i = 0; i < COUNT_OF(sent); i++) {
		tags[i] = command_about(COMMAND_SET_TAG, body);
		tags[i].set_tag.tag = sent[i].tag;
		batches[i] = (struct batch){ .session = sent[i].session,
					     .number = sent[i].number,
					     .commands = &tags[i],
					     .count = 1 };
	}
	ck_assert_int_eq(world_apply(world, batches, COUNT_OF(sent), results), STATUS_OK);
	ck_assert_int_eq(test_body(world, body).tag, 31);
	for (uint32_t i = 0; i < COUNT_OF(sent); i++) {
		ck_assert_int_eq(results[i].status, STATUS_OK);
		ck_assert_uint_eq(results[i].session, sent[i].session);
		ck_assert_uint_eq(results[i].number, sent[i].number);
	}
}
END_TEST

START_TEST(a_refused_batch_does_not_affect_the_others)
{
	struct command spawn = test_command(COMMAND_SPAWN), bad = command_about(COMMAND_WAKE, 55);
	struct command again = spawn;
	struct batch batches[3] = {
		{ .session = 1, .number = 1, .commands = &spawn, .count = 1 },
		{ .session = 2, .number = 1, .commands = &bad, .count = 1 },
		{ .session = 3, .number = 1, .commands = &again, .count = 1 },
	};
	struct batch_result results[3];
	ck_assert_int_eq(world_apply(world, batches, 3, results), STATUS_OK);
	ck_assert_int_eq(results[0].status, STATUS_OK);
	ck_assert_int_eq(results[1].status, STATUS_UNKNOWN_BODY);
	ck_assert_int_eq(results[2].status, STATUS_OK);
	ck_assert_uint_eq(results[0].values[0], 1);
	ck_assert_uint_eq(results[2].values[0], 2);
}
END_TEST

/* ---- later ------------------------------------------------------------------------------------ */

static enum status send_at(uint64_t at, uint32_t session, uint64_t number, struct command *command,
			   uint8_t late, struct batch_result *result)
{
	struct batch batch = { .session = session,
			       .number = number,
			       .at = at,
			       .late = late,
			       .commands = command,
			       .count = 1 };
	ck_assert_int_eq(world_apply(world, &batch, 1, result), STATUS_OK);
	return result->status;
}

START_TEST(a_dated_batch_waits_for_its_tick)
{
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_BOX, vec3_zero(), &item);
	struct batch_result result;
	ck_assert_int_eq(send_at(3, 1, 1, &spawn, 0, &result), STATUS_OK);
	ck_assert_uint_eq(result.value_count, 0);
	memset(&item, 0xee, sizeof item); /* the world has copied the batch */
	for (uint32_t tick = 0; tick < 3; tick++) {
		ck_assert_uint_eq(world_bodies(world, NULL, 0), 0);
		test_step(world, 1);
	}
	uint32_t count;
	(void)world_stored_results(world, &count);
	ck_assert_uint_eq(count, 0);
	/* The step applies the batch; no other call is needed. */
	test_step(world, 1);
	ck_assert_uint_eq(world_bodies(world, NULL, 0), 1);
	const struct batch_result *kept = world_stored_results(world, &count);
	ck_assert_uint_eq(count, 1);
	ck_assert_int_eq(kept[0].status, STATUS_OK);
	ck_assert_uint_eq(kept[0].tick, 3);
	ck_assert_uint_eq(kept[0].values[0], 1);
	ck_assert_uint_eq(world_changes(world).created_count, 1);
}
END_TEST

START_TEST(pending_and_new_batches_of_a_tick_are_sorted_together)
{
	body_id body = test_spawn(world, TEST_SHAPES, vec3_zero());
	struct command tag = command_about(COMMAND_SET_TAG, body);
	struct batch_result result;
	tag.set_tag.tag = 25;
	send_at(1, 2, 5, &tag, 0, &result);
	tag.set_tag.tag = 14;
	send_at(1, 1, 4, &tag, 0, &result);
	test_step(world, 1);
	struct command now[2] = { command_about(COMMAND_SET_TAG, body),
				  command_about(COMMAND_SET_TAG, body) };
	now[0].set_tag.tag = 24;
	struct batch batch = { .session = 2, .number = 4, .commands = now, .count = 1 };
	ck_assert_int_eq(world_apply(world, &batch, 1, &result), STATUS_OK);
	ck_assert_int_eq(test_body(world, body).tag, 25);
	uint32_t count;
	const struct batch_result *kept = world_stored_results(world, &count);
	ck_assert_uint_eq(count, 2);
	ck_assert_uint_eq(kept[0].session, 1);
	ck_assert_uint_eq(kept[1].session, 2);
}
END_TEST

START_TEST(a_late_batch_is_applied_or_refused_by_its_late_rule)
{
	test_step(world, 5);
	struct command spawn = test_command(COMMAND_SPAWN);
	struct batch_result result;
	ck_assert_int_eq(send_at(4, 1, 1, &spawn, LATE_REFUSE, &result), STATUS_LATE);
	ck_assert_uint_eq(world_bodies(world, NULL, 0), 0);
	ck_assert_int_eq(send_at(4, 1, 2, &spawn, LATE_NEXT_TICK, &result), STATUS_OK);
	ck_assert_int_eq(send_at(5, 1, 3, &spawn, LATE_REFUSE, &result), STATUS_OK);
	ck_assert_uint_eq(world_bodies(world, NULL, 0), 2);
}
END_TEST

START_TEST(bad_values_are_refused_on_arrival_and_unknown_ids_when_due)
{
	struct command spawn = test_command(COMMAND_SPAWN);
	spawn.spawn.position.x = 1e300;
	uint64_t before = test_hash(world);
	struct batch_result result;
	ck_assert_int_eq(send_at(9, 1, 1, &spawn, 0, &result), STATUS_RANGE);
	ck_assert_uint_eq(test_hash(world), before);
	/* Checks against the world (here: the body's id) are made at the due tick. */
	struct command wake = command_about(COMMAND_WAKE, 17);
	ck_assert_int_eq(send_at(1, 1, 2, &wake, 0, &result), STATUS_OK);
	test_step(world, 2);
	uint32_t count;
	const struct batch_result *kept = world_stored_results(world, &count);
	ck_assert_uint_eq(count, 1);
	ck_assert_int_eq(kept[0].status, STATUS_UNKNOWN_BODY);
}
END_TEST

START_TEST(too_many_commands_or_pending_bytes_are_refused)
{
	static struct command many[BATCH_COMMANDS_MAX + 1];
	for (uint32_t i = 0; i < COUNT_OF(many); i++)
		many[i] = test_command(COMMAND_SPAWN);
	ck_assert_int_eq(test_batch(world, many, COUNT_OF(many), NULL), STATUS_RANGE);
	ck_assert_int_eq(test_batch(world, many, BATCH_COMMANDS_MAX, NULL), STATUS_OK);
	struct batch batch = {
		.session = 1, .at = 1000, .commands = many, .count = BATCH_COMMANDS_MAX
	};
	struct batch_result result = { .status = STATUS_OK };
	uint32_t kept = 0;
	for (; kept < 100 && result.status == STATUS_OK; kept++) {
		batch.number++;
		ck_assert_int_eq(world_apply(world, &batch, 1, &result), STATUS_OK);
	}
	ck_assert_int_eq(result.status, STATUS_LIMIT);
	ck_assert_uint_gt(kept, 5);
}
END_TEST

/* ---- limits ----------------------------------------------------------------------------------- */

START_TEST(limits_are_exact_and_removals_make_room)
{
	struct world_options options = test_options(false, "free");
	options.limits.bodies = 3;
	options.limits.placements = 2;
	options.limits.shapes = 1;
	struct world *small = test_world_of(&options);
	struct attachment item;
	struct command box = test_spawn_command(small, TEST_BOX, vec3_zero(), &item);
	struct command use = test_command(COMMAND_SHAPE_USE);
	use.shape_use.name = test_shape_name(TEST_SPHERE);
	ck_assert_int_eq(test_try(small, &use), STATUS_LIMIT);
	test_do(small, &box);
	body_id second = test_do(small, &box);
	ck_assert_int_eq(test_try(small, &box), STATUS_LIMIT); /* placements */
	struct command point = test_command(COMMAND_SPAWN);
	test_do(small, &point);
	ck_assert_int_eq(test_try(small, &point), STATUS_LIMIT); /* bodies */
	struct command swap[2] = { command_about(COMMAND_REMOVE, second), box };
	ck_assert_int_eq(test_batch(small, swap, 2, NULL), STATUS_OK);
	ck_assert_uint_eq(world_bodies(small, NULL, 0), 3);
	test_check(small);
	world_destroy(small);
}
END_TEST

START_TEST(the_memory_limit_counts_rows)
{
	struct world_options options = test_options(false, "free");
	options.limits.memory_bytes = 1 << 17;
	struct world *small = test_world_of(&options);
	struct command point = test_command(COMMAND_SPAWN);
	uint32_t made = 0;
	while (made < 10000 && test_try(small, &point) == STATUS_OK)
		made++;
	ck_assert_uint_gt(made, 100);
	ck_assert_uint_lt(made, 1000);
	ck_assert_int_eq(test_try(small, &point), STATUS_LIMIT);
	/* A loaded copy, whose arrays have other capacities, reaches the limit at the same row. */
	struct bytes image = test_save(small);
	struct world *copy;
	ck_assert_int_eq(world_load(image.data, image.count, test_shape_source(), &copy, NULL),
			 STATUS_OK);
	ck_assert_int_eq(test_try(copy, &point), STATUS_LIMIT);
	bytes_release(&image);
	world_destroy(copy);
	world_destroy(small);
}
END_TEST

START_TEST(options_out_of_range_are_refused_by_name)
{
	struct world_options good = test_options(false, "free"), bad;
	struct world *made = NULL;
	struct reason why;
	bad = good;
	bad.rate_num = 0;
	ck_assert_int_eq(world_create(&bad, &made, &why), STATUS_RANGE);
	bad = good;
	bad.rate_den = 61;
	ck_assert_int_eq(world_create(&bad, &made, &why), STATUS_RANGE);
	bad = good;
	bad.rate_num = 10001;
	ck_assert_int_eq(world_create(&bad, &made, &why), STATUS_RANGE);
	bad = good;
	bad.gravity.y = 1e300;
	ck_assert_int_eq(world_create(&bad, &made, &why), STATUS_RANGE);
	ck_assert_str_eq(why.field, "gravity");
	bad = good;
	bad.limits.bodies = 0;
	ck_assert_int_eq(world_create(&bad, &made, &why), STATUS_RANGE);
	ck_assert_str_eq(why.field, "bodies_max");
	bad = good;
	memset(bad.method, 'x', sizeof bad.method);
	ck_assert_int_eq(world_create(&bad, &made, &why), STATUS_UNKNOWN_METHOD);
	bad = test_options(false, "soft-step");
	memcpy(bad.broad_phase, "octopus", 8);
	ck_assert_int_eq(world_create(&bad, &made, &why), STATUS_RANGE);
	ck_assert_str_eq(why.field, "broad_phase");
	memset(bad.broad_phase, 'x', sizeof bad.broad_phase);
	ck_assert_int_eq(world_create(&bad, &made, &why), STATUS_RANGE);
	ck_assert_ptr_null(made);
}
END_TEST

static void apply_spawns(struct world *of, uint32_t session, uint64_t number, uint64_t at,
			 bool restricted, int64_t tag)
{
	struct command commands[2];
	struct batch_result result;
	command_defaults(&commands[0], COMMAND_SPAWN);
	commands[0].spawn.tag = tag;
	commands[1] = commands[0];
	struct batch batch = { .session = session,
			       .number = number,
			       .at = at,
			       .restricted = restricted,
			       .commands = commands,
			       .count = 1 + (uint32_t)(tag % 2) };
	ck_assert_int_eq(world_apply(of, &batch, 1, &result), STATUS_OK);
	ck_assert_int_eq(result.status, STATUS_OK);
}

START_TEST(a_withdrawal_ends_the_pending_batches_of_its_session_only)
{
	struct world *with = test_world(false, "free"), *without = test_world(false, "free");
	struct world_share shares[] = { { .session = 3 }, { .session = 4 } };
	struct batch withdraw = { .session = 3, .late = LATE_WITHDRAW };
	struct batch_result result;
	for (uint64_t number = 1; number <= 6; number++) {
		apply_spawns(with, 3, number, 4 + number % 3, true, (int64_t)number);
		for (int w = 0; w < 2; w++) {
			apply_spawns(w == 0 ? with : without, 4, number, 5, true,
				     (int64_t)number + 1);
			apply_spawns(w == 0 ? with : without, 3, 100 + number, 6, false,
				     (int64_t)number);
		}
	}
	world_shares(with, shares, 2);
	ck_assert_uint_eq(shares[0].pending, 6);
	ck_assert_uint_eq(shares[1].pending, 6);
	for (int again = 0; again < 2; again++) {
		ck_assert_int_eq(world_apply(with, &withdraw, 1, &result), STATUS_OK);
		ck_assert_int_eq(result.status, STATUS_OK);
		test_check(with);
		ck_assert_uint_eq(world_pending(with, NULL, 0), 12);
		ck_assert_uint_eq(test_hash(with), test_hash(without));
	}
	test_step(with, 10);
	test_step(without, 10);
	ck_assert_uint_eq(test_hash(with), test_hash(without));
	world_shares(with, shares, 2);
	ck_assert_uint_eq(shares[0].pending, 0);
	ck_assert_uint_eq(shares[1].bodies, 9);
	world_destroy(with);
	world_destroy(without);
}
END_TEST

/* Creates two drags, on bodies 1 and 2, with the owner. */
static void create_drags(struct world *of, uint32_t session, uint64_t number, uint32_t owner)
{
	struct command commands[2];
	struct batch_result result;
	for (int i = 0; i < 2; i++) {
		command_defaults(&commands[i], COMMAND_JOINT_CREATE);
		commands[i].joint_create.type = JOINT_DRAG;
		commands[i].joint_create.body_b = 1 + i;
		commands[i].joint_create.owner = owner;
	}
	struct batch batch = {
		.session = session, .number = number, .commands = commands, .count = 2
	};
	ck_assert_int_eq(world_apply(of, &batch, 1, &result), STATUS_OK);
	ck_assert_int_eq(result.status, STATUS_OK);
}

START_TEST(drags_are_removed_in_the_order_of_batches)
{
	struct world *of = test_world(false, "soft-step");
	struct batch_result results[3];
	struct command create;
	struct joint_view view;
	apply_spawns(of, 1, 1, 0, false, 1);
	for (uint32_t owner = 0; owner < 6; owner++)
		create_drags(of, 1, 2 + owner, owner);
	ck_assert_uint_eq(world_drags(of, 3), 2);
	ck_assert_uint_eq(world_drags(of, 0), 10);
	/* The batch of session 4 creates a drag before the removal of its drags, because the removal has
	 * the highest number. No drags of session 3 are removed. */
	command_defaults(&create, COMMAND_JOINT_CREATE);
	create.joint_create.type = JOINT_DRAG;
	create.joint_create.body_b = 1;
	create.joint_create.owner = 3;
	struct command other = create;
	other.joint_create.owner = 4;
	struct batch batches[] = {
		{ .session = 4, .number = UINT64_MAX, .late = LATE_REMOVE_DRAGS },
		{ .session = 3, .number = 9, .commands = &create, .count = 1 },
		{ .session = 4, .number = 9, .commands = &other, .count = 1 },
	};
	uint32_t edit = world_info(of).edit;
	ck_assert_int_eq(world_apply(of, batches, 3, results), STATUS_OK);
	ck_assert_uint_eq(world_drags(of, 4), 0);
	ck_assert_uint_eq(world_drags(of, 3), 3);
	ck_assert_int_eq(world_joint(of, results[2].values[0], &view), STATUS_UNKNOWN_JOINT);
	test_check(of);
	/* A removal without any drag changes nothing, the edit number included. */
	uint64_t hash = test_hash(of);
	batches[0].number = 1;
	ck_assert_int_eq(world_apply(of, batches, 1, results), STATUS_OK);
	ck_assert_uint_eq(world_info(of).edit, edit + 1);
	ck_assert_uint_eq(test_hash(of), hash);
	batches[0].session = 0;
	ck_assert_int_eq(world_apply(of, batches, 1, results), STATUS_OK);
	ck_assert_uint_eq(world_info(of).edit, edit + 2);
	ck_assert_uint_eq(world_drags(of, 0), 0);
	ck_assert_uint_eq(world_joints(of, 0, NULL, 0), 2); /* the drags without an owner */
	test_check(of);
	world_destroy(of);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/world/batches");
	TCase *whole = tcase_create("whole");
	tcase_add_checked_fixture(whole, setup, teardown);
	tcase_add_test(whole, every_spoiled_command_is_refused_and_changes_nothing);
	tcase_add_test(whole, a_command_is_checked_against_the_state_after_its_predecessors);
	tcase_add_test(whole, a_negative_id_names_the_result_of_an_earlier_command);
	tcase_add_test(whole, a_player_commands_only_its_own_bodies_and_joints);
	tcase_add_test(whole, a_withdrawal_ends_the_pending_batches_of_its_session_only);
	tcase_add_test(whole, drags_are_removed_in_the_order_of_batches);
	suite_add_tcase(suite, whole);
	TCase *order = tcase_create("order");
	tcase_add_checked_fixture(order, setup, teardown);
	tcase_add_test(order, batches_are_applied_by_session_and_number_in_any_order_of_arrival);
	tcase_add_test(order, a_refused_batch_does_not_affect_the_others);
	tcase_add_test(order, a_dated_batch_waits_for_its_tick);
	tcase_add_test(order, pending_and_new_batches_of_a_tick_are_sorted_together);
	tcase_add_test(order, a_late_batch_is_applied_or_refused_by_its_late_rule);
	tcase_add_test(order, bad_values_are_refused_on_arrival_and_unknown_ids_when_due);
	suite_add_tcase(suite, order);
	TCase *limits = tcase_create("limits");
	tcase_add_checked_fixture(limits, setup, teardown);
	tcase_add_test(limits, too_many_commands_or_pending_bytes_are_refused);
	tcase_add_test(limits, limits_are_exact_and_removals_make_room);
	tcase_add_test(limits, the_memory_limit_counts_rows);
	tcase_add_test(limits, options_out_of_range_are_refused_by_name);
	suite_add_tcase(suite, limits);
	return suite;
}

int main(void)
{
	return check_main(make);
}
