/* Joints as rows of a world: creation, change, removal, refusal, lists and images. Their effect on
 * motion is tested with the methods. */
#include "server/engine/engine.h"

#include <math.h>
#include <string.h>

#include "server/base/heap.h"
#include "tests/lib/check_main.h"
#include "tests/lib/gen_commands.h"
#include "tests/lib/worlds.h"

static struct world *world;
static body_id ball[2], floor_body;

static void setup(void)
{
	world = test_world(false, "soft-step");
	floor_body = test_spawn(world, TEST_PLANE, vec3_make(0, -10, 0));
	for (int i = 0; i < 2; i++)
		ball[i] = test_spawn(world, TEST_BOX, vec3_make(3 * i, 0.5, 0));
}

static void teardown(void)
{
	test_check(world);
	world_destroy(world);
}

/* JOINT_CREATE of two bodies at the world point `at`, at their present poses. */
static struct command join(uint8_t type, int64_t a, int64_t b, vec3 at)
{
	struct command command = test_command(COMMAND_JOINT_CREATE);
	command.joint_create.type = type;
	command.joint_create.body_a = a;
	command.joint_create.body_b = b;
	command.joint_create.point_a = command.joint_create.point_b = at;
	command.joint_create.place = 1;
	return command;
}

static struct command axis_of(joint_id joint, uint32_t axis)
{
	struct command command = test_command(COMMAND_JOINT_AXIS);
	command.joint_axis.joint = joint;
	command.joint_axis.axis = axis;
	return command;
}

static struct joint_view view_of(joint_id id)
{
	struct joint_view view;
	ck_assert_int_eq(world_joint(world, id, &view), STATUS_OK);
	return view;
}

static vec3 middle(void)
{
	return vec3_make(1.5, 0.5, 0);
}

/* The batch is refused with the status and field, and the state is unchanged. */
static void assert_refused(struct command *commands, uint32_t count, enum status status,
			   const char *field)
{
	struct batch_result result;
	uint64_t hash = test_hash(world);
	uint32_t edit = world_info(world).edit;
	ck_assert_int_eq(test_batch(world, commands, count, &result), status);
	ck_assert_str_eq(result.why.field, field);
	ck_assert(result.why.text[0] != '\0');
	ck_assert_uint_eq(test_hash(world), hash);
	ck_assert_uint_eq(world_info(world).edit, edit);
}

/* ---- creation, view, removal ------------------------------------------------------------------ */

START_TEST(a_joint_of_each_type_is_created_viewed_and_removed)
{
	uint8_t type = (uint8_t)_i;
	struct command create = join(type, type == JOINT_DRAG ? 0 : ball[0], ball[1], middle());
	create.joint_create.tag = 7;
	create.joint_create.break_force = 5;
	if (type == JOINT_DISTANCE)
		create.joint_create.point_b = vec3_make(3, 0.5, 0);
	joint_id id = test_do(world, &create), ids[4];
	ck_assert_uint_eq(id, 1);
	struct joint_view view = view_of(id);
	ck_assert_uint_eq(view.type, type);
	ck_assert_uint_eq(view.a, type == JOINT_DRAG ? 0 : ball[0]);
	ck_assert_uint_eq(view.b, ball[1]);
	ck_assert_int_eq(view.tag, 7);
	ck_assert_double_eq(view.break_force, 5);
	ck_assert_double_le(vec3_distance(view.anchor_a, middle()), 1e-12);
	for (uint32_t k = 0; k < JOINT_AXES; k++)
		ck_assert_double_eq_tol(view.coordinates[k],
					type == JOINT_DISTANCE && k == 0 ? 1.5 : 0, 1e-12);
	ck_assert_uint_eq(world_joints(world, 0, ids, 4), 1);
	ck_assert_uint_eq(ids[0], id);
	ck_assert_uint_eq(world_joints(world, ball[1], ids, 4), 1);
	ck_assert_uint_eq(world_joints(world, floor_body, ids, 4), 0);
	struct command remove = test_command(COMMAND_JOINT_REMOVE);
	remove.joint_remove.joint = id;
	test_do(world, &remove);
	ck_assert_int_eq(world_joint(world, id, &view), STATUS_UNKNOWN_JOINT);
	/* A removed joint's id is not used again. */
	ck_assert_uint_eq(test_do(world, &create), id + 1);
}
END_TEST

START_TEST(a_batch_refers_to_its_new_bodies_and_joints_by_negative_ids)
{
	struct attachment item[2];
	struct command commands[4];
	for (int i = 0; i < 2; i++)
		commands[i] =
			test_spawn_command(world, TEST_BOX, vec3_make(10 + 2 * i, 5, 0), &item[i]);
	commands[2] = join(JOINT_REVOLUTE, -1, -2, vec3_make(11, 5, 0));
	commands[3] = axis_of(0, 3);
	commands[3].joint_axis.joint = -3;
	commands[3].joint_axis.mode = JOINT_LIMITED;
	commands[3].joint_axis.upper = 1;
	struct batch_result result;
	ck_assert_int_eq(test_batch(world, commands, 4, &result), STATUS_OK);
	struct joint_view view = view_of(result.values[2]);
	ck_assert_uint_eq(view.a, result.values[0]);
	ck_assert_uint_eq(view.b, result.values[1]);
	struct joint_axis_view axis;
	ck_assert_int_eq(world_joint_axis(world, view.id, 3, &axis), STATUS_OK);
	ck_assert_uint_eq(axis.mode, JOINT_LIMITED);
	ck_assert_double_eq(axis.upper, 1);
	ck_assert_int_eq(world_joint_axis(world, view.id, 6, &axis), STATUS_RANGE);
}
END_TEST

START_TEST(removing_a_body_removes_its_joints)
{
	struct command create = join(JOINT_FIXED, ball[0], ball[1], middle());
	joint_id first = test_do(world, &create), second = test_do(world, &create);
	struct command held = join(JOINT_SPHERICAL, 0, ball[1], middle());
	joint_id third = test_do(world, &held);
	struct command remove = test_command(COMMAND_REMOVE);
	remove.remove.body = ball[0];
	test_do(world, &remove);
	struct joint_view view;
	ck_assert_int_eq(world_joint(world, first, &view), STATUS_UNKNOWN_JOINT);
	ck_assert_int_eq(world_joint(world, second, &view), STATUS_UNKNOWN_JOINT);
	ck_assert_uint_eq(view_of(third).b, ball[1]);
}
END_TEST

/* ---- refused ---------------------------------------------------------------------------------- */

/* In a batch that removes one of the bodies, every later command about the joint is refused. */
START_TEST(commands_about_a_joint_of_a_removed_body_are_refused)
{
	struct command create = join(JOINT_REVOLUTE, ball[0], ball[1], middle());
	joint_id id = test_do(world, &create);
	struct joint_target target = { .joint = id, .axis = 3 };
	struct joint_point point = { 0, 0 };
	struct command about[] = {
		test_command(COMMAND_JOINT_REMOVE),
		test_command(COMMAND_JOINT_SET),
		axis_of(id, 3),
		test_command(COMMAND_JOINT_TARGETS),
		test_command(COMMAND_JOINT_TABLE),
		test_command(COMMAND_JOINT_MOVE),
	};
	about[0].joint_remove.joint = about[1].joint_set.joint = id;
	about[3].joint_targets.targets = (struct target_list){ &target, 1 };
	about[4].joint_table.joint = about[5].joint_move.joint = id;
	about[4].joint_table.points = (struct point_list){ &point, 1 };
	for (uint32_t i = 0; i < 2 * COUNT_OF(about); i++) {
		struct command commands[2] = { test_command(COMMAND_REMOVE), about[i / 2] };
		commands[0].remove.body = ball[i % 2];
		assert_refused(commands, 2, STATUS_UNKNOWN_JOINT, i / 2 == 3 ? "targets" : "joint");
	}
	ck_assert_uint_eq(view_of(id).a, ball[0]);
}
END_TEST

START_TEST(bad_sides_are_refused)
{
	struct command create = join(JOINT_REVOLUTE, ball[0], 999, middle());
	assert_refused(&create, 1, STATUS_UNKNOWN_BODY, "body_b");
	create = join(JOINT_REVOLUTE, 999, ball[0], middle());
	assert_refused(&create, 1, STATUS_UNKNOWN_BODY, "body_a");
	create = join(JOINT_REVOLUTE, ball[0], ball[0], middle());
	assert_refused(&create, 1, STATUS_RANGE, "body_b");
	create = join(JOINT_REVOLUTE, 0, 0, middle());
	assert_refused(&create, 1, STATUS_RANGE, "body_b");
	create = join(JOINT_REVOLUTE, floor_body, 0, middle());
	assert_refused(&create, 1, STATUS_STATUS_WRONG, "body_b");
	struct attachment item;
	struct command still = test_spawn_command(world, TEST_BOX, vec3_make(20, 0, 0), &item);
	still.spawn.status = BODY_ANIMATED;
	body_id scripted = test_do(world, &still);
	still.spawn.status = BODY_INACTIVE;
	body_id idle = test_do(world, &still);
	create = join(JOINT_REVOLUTE, scripted, floor_body, middle());
	assert_refused(&create, 1, STATUS_STATUS_WRONG, "body_b");
	create = join(JOINT_REVOLUTE, scripted, idle, middle());
	assert_refused(&create, 1, STATUS_STATUS_WRONG, "body_b");
	create = join(JOINT_DRAG, ball[0], ball[1], middle());
	assert_refused(&create, 1, STATUS_RANGE, "body_a");
	create = join(JOINT_REVOLUTE, ball[0], -1, middle());
	assert_refused(&create, 1, STATUS_BACK_REFERENCE, "body_b");
	struct command removed[2] = { test_command(COMMAND_REMOVE),
				      join(JOINT_REVOLUTE, ball[0], ball[1], middle()) };
	removed[0].remove.body = ball[1];
	assert_refused(removed, 2, STATUS_UNKNOWN_BODY, "body_b");
}
END_TEST

START_TEST(bad_places_are_refused_by_field)
{
	struct command create = join(JOINT_REVOLUTE, ball[0], ball[1], vec3_make(2e6, 0, 0));
	assert_refused(&create, 1, STATUS_RANGE, "point_a");
	create = join(JOINT_REVOLUTE, ball[0], ball[1], vec3_make(NAN, 0, 0));
	assert_refused(&create, 1, STATUS_NOT_FINITE, "point_a");
	create = join(JOINT_REVOLUTE, ball[0], ball[1], middle());
	create.joint_create.frame_a = (quat){ 0, 0, 0, 0 };
	assert_refused(&create, 1, STATUS_RANGE, "frame_a");
	create = join(JOINT_REVOLUTE, ball[0], ball[1], middle());
	create.joint_create.type = 11;
	assert_refused(&create, 1, STATUS_RANGE, "type");
	/* Both anchors in the mass centres of bodies 3 m apart. */
	create = join(JOINT_SPHERICAL, ball[0], ball[1], vec3_zero());
	create.joint_create.place = 0;
	assert_refused(&create, 1, STATUS_RANGE, "point_b");
	create.joint_create.point_a = vec3_make(1.5, 0, 0);
	create.joint_create.point_b = vec3_make(-1.5, 0, 0);
	create.joint_create.type = JOINT_FIXED;
	create.joint_create.frame_b = quat_normalize((quat){ 1, 0.1, 0, 0 });
	assert_refused(&create, 1, STATUS_RANGE, "frame_b");
}
END_TEST

START_TEST(fields_that_a_joint_type_lacks_are_refused)
{
	struct command create = join(JOINT_REVOLUTE, ball[0], ball[1], middle());
	joint_id id = test_do(world, &create);
	struct command axis = axis_of(id, 0);
	assert_refused(&axis, 1, STATUS_RANGE, "axis");
	axis = axis_of(id, 6);
	assert_refused(&axis, 1, STATUS_RANGE, "axis");
	axis = axis_of(id, 3);
	axis.joint_axis.mode = JOINT_LOCKED;
	assert_refused(&axis, 1, STATUS_RANGE, "mode");
	axis.joint_axis.mode = JOINT_LIMITED;
	axis.joint_axis.lower = 1;
	axis.joint_axis.upper = 0.5;
	assert_refused(&axis, 1, STATUS_RANGE, "upper");
	axis = axis_of(id, 3);
	axis.joint_axis.spring = JOINT_SPRING_HERTZ;
	axis.joint_axis.stiffness = 1e6;
	assert_refused(&axis, 1, STATUS_RANGE, "stiffness");
	axis = axis_of(id, 3);
	axis.joint_axis.target = NAN;
	assert_refused(&axis, 1, STATUS_NOT_FINITE, "target");
	axis = axis_of(id + 1, 3);
	assert_refused(&axis, 1, STATUS_UNKNOWN_JOINT, "joint");
	struct command move = test_command(COMMAND_JOINT_MOVE);
	move.joint_move.joint = id;
	assert_refused(&move, 1, STATUS_STATUS_WRONG, "joint");
	create = join(JOINT_SPHERICAL, ball[0], ball[1], middle());
	joint_id swing = test_do(world, &create);
	axis = axis_of(swing, 4);
	axis.joint_axis.mode = JOINT_LIMITED;
	axis.joint_axis.lower = -0.5;
	axis.joint_axis.upper = 0.5;
	assert_refused(&axis, 1, STATUS_RANGE, "lower");
}
END_TEST

START_TEST(targets_need_a_motor_and_a_finite_number)
{
	struct command create = join(JOINT_REVOLUTE, ball[0], ball[1], middle());
	joint_id id = test_do(world, &create);
	struct joint_target items[2] = { { id, 3, 1 }, { id, 3, 2 } };
	struct command targets = test_command(COMMAND_JOINT_TARGETS);
	targets.joint_targets.targets = (struct target_list){ items, 2 };
	assert_refused(&targets, 1, STATUS_RANGE, "targets");
	struct joint_point points[2] = { { 0, 1 }, { 1, 2 } };
	struct command table = test_command(COMMAND_JOINT_TABLE);
	table.joint_table.joint = id;
	table.joint_table.axis = 3;
	table.joint_table.points = (struct point_list){ points, 2 };
	assert_refused(&table, 1, STATUS_RANGE, "axis");
	struct command axis = axis_of(id, 3);
	axis.joint_axis.motor = JOINT_MOTOR_POSITION;
	test_do(world, &axis);
	items[1].value = NAN;
	assert_refused(&targets, 1, STATUS_NOT_FINITE, "targets");
	items[1] = (struct joint_target){ id, 2, 0 };
	assert_refused(&targets, 1, STATUS_RANGE, "targets");
	items[1] = (struct joint_target){ id + 5, 3, 0 };
	assert_refused(&targets, 1, STATUS_UNKNOWN_JOINT, "targets");
	table.joint_table.period = 0.5;
	assert_refused(&table, 1, STATUS_RANGE, "period");
	points[1].time = 0;
	table.joint_table.period = 0;
	assert_refused(&table, 1, STATUS_RANGE, "points");
	points[1].time = 1;
	ck_assert_int_eq(test_try(world, &table), STATUS_OK);
	items[1] = (struct joint_target){ id, 3, 2 };
	ck_assert_int_eq(test_try(world, &targets), STATUS_OK);
	struct joint_axis_view view;
	ck_assert_int_eq(world_joint_axis(world, id, 3, &view), STATUS_OK);
	ck_assert_uint_eq(view.wave, JOINT_WAVE_CONSTANT);
	ck_assert_double_eq(view.target, 2);
}
END_TEST

START_TEST(a_player_joins_only_its_own_bodies_and_commands_its_own_joints)
{
	struct command own = test_command(COMMAND_SET_OWNER);
	own.set_owner.body = ball[0];
	own.set_owner.owner = 5;
	test_do(world, &own);
	struct command commands[1] = { join(JOINT_SPHERICAL, 0, ball[0], middle()) };
	struct batch batch = {
		.session = 5, .number = 1, .restricted = true, .commands = commands, .count = 1
	};
	struct batch_result result;
	ck_assert_int_eq(world_apply(world, &batch, 1, &result), STATUS_OK);
	ck_assert_int_eq(result.status, STATUS_OK);
	joint_id id = result.values[0];
	ck_assert_uint_eq(view_of(id).owner, 5);
	/* Another's body, and another's joint. */
	commands[0] = join(JOINT_SPHERICAL, ball[0], ball[1], middle());
	batch.number = 2;
	ck_assert_int_eq(world_apply(world, &batch, 1, &result), STATUS_OK);
	ck_assert_int_eq(result.status, STATUS_NOT_OWNER);
	ck_assert_str_eq(result.why.field, "body_b");
	commands[0] = test_command(COMMAND_JOINT_REMOVE);
	commands[0].joint_remove.joint = id;
	batch.session = 6;
	ck_assert_int_eq(world_apply(world, &batch, 1, &result), STATUS_OK);
	ck_assert_int_eq(result.status, STATUS_NOT_OWNER);
	batch.session = 5;
	batch.number = 3;
	ck_assert_int_eq(world_apply(world, &batch, 1, &result), STATUS_OK);
	ck_assert_int_eq(result.status, STATUS_OK);
}
END_TEST

START_TEST(joints_beyond_the_limit_are_refused)
{
	struct world_options options = test_options(false, "soft-step");
	options.limits.joints = 3;
	struct world *small = test_world_of(&options);
	body_id body = test_spawn(small, TEST_BOX, vec3_zero());
	struct command commands[4];
	for (int i = 0; i < 4; i++)
		commands[i] = join(JOINT_SPHERICAL, 0, body, vec3_zero());
	ck_assert_int_eq(test_batch(small, commands, 4, NULL), STATUS_LIMIT);
	ck_assert_int_eq(test_batch(small, commands, 3, NULL), STATUS_OK);
	ck_assert_int_eq(test_try(small, &commands[3]), STATUS_LIMIT);
	ck_assert_uint_eq(world_stats(small).joints, 3);
	test_check(small);
	world_destroy(small);
}
END_TEST

START_TEST(the_method_free_refuses_joints)
{
	struct world *other = test_world(false, "free");
	body_id body = test_spawn(other, TEST_BOX, vec3_zero());
	struct command create = join(JOINT_SPHERICAL, 0, body, vec3_zero());
	ck_assert_int_eq(test_try(other, &create), STATUS_METHOD_REFUSES);
	world_destroy(other);
	create = join(JOINT_SPHERICAL, 0, ball[0], vec3_zero());
	test_do(world, &create);
	struct command method = test_command(COMMAND_METHOD);
	method.method.name = test_text("free");
	ck_assert_int_eq(test_try(world, &method), STATUS_METHOD_REFUSES);
}
END_TEST

/* ---- A2: bodies whose poses violate the joint ------------------------------------------------- */

static struct world_energy momentum(void)
{
	return world_energy(world);
}

START_TEST(a_violated_joint_is_refused_or_projected_as_requested)
{
	struct command turn = test_command(COMMAND_SET_VELOCITY);
	turn.set_velocity.body = ball[0];
	turn.set_velocity.velocity = vec3_make(1, 2, 3);
	turn.set_velocity.angular_velocity = vec3_make(0.5, -1, 2);
	test_do(world, &turn);
	struct command create = join((uint8_t)_i, ball[0], ball[1], vec3_zero());
	create.joint_create.place = 0;
	create.joint_create.point_a = vec3_make(1, 0.2, 0);
	create.joint_create.point_b = vec3_make(-1, 0, 0.1);
	create.joint_create.frame_b = quat_normalize((quat){ 1, 0.1, -0.2, 0.15 });
	create.joint_create.violated = 1;
	assert_refused(&create, 1, STATUS_RANGE, "point_b");
	vec3 before = momentum().linear;
	create.joint_create.violated = 2;
	joint_id id = test_do(world, &create);
	struct joint_view view = view_of(id);
	uint32_t locked_from = _i == JOINT_CYLINDRICAL || _i == JOINT_PRISMATIC ? 1 : 0;
	for (uint32_t k = locked_from; k < 3; k++)
		ck_assert_double_le(fabs(view.coordinates[k]), 1e-9);
	ck_assert_double_le(vec3_distance(momentum().linear, before), 1e-9);
	/* The projected bodies satisfy a second joint that refuses violations. */
	create.joint_create.violated = 1;
	ck_assert_int_eq(test_try(world, &create), STATUS_OK);
}
END_TEST

/* ---- many on one body, and what is linked ----------------------------------------------------- */

START_TEST(ten_thousand_joints_on_one_body_are_created_and_removed)
{
	enum { MANY = 10000, AT_ONCE = 4000 };
	static struct command commands[AT_ONCE];
	uint32_t made = 0;
	for (uint32_t left = MANY; left > 0;) {
		uint32_t count = left < AT_ONCE ? left : AT_ONCE;
		for (uint32_t i = 0; i < count; i++)
			commands[i] = join(JOINT_DISTANCE, 0, ball[0], middle());
		ck_assert_int_eq(test_batch(world, commands, count, NULL), STATUS_OK);
		left -= count;
		made += count;
	}
	ck_assert_uint_eq(world_joints(world, ball[0], NULL, 0), MANY);
	test_step(world, 3);
	ck_assert_double_le(world_stats(world).joint_error, 1e-2);
	ck_assert_uint_eq(world_stats(world).quarantined_total, 0);
	test_check(world);
	/* Every second joint is removed, from the oldest on. */
	for (uint32_t id = 1; id <= made; id += 2) {
		struct command remove = test_command(COMMAND_JOINT_REMOVE);
		remove.joint_remove.joint = id;
		ck_assert_int_eq(test_try(world, &remove), STATUS_OK);
	}
	ck_assert_uint_eq(world_joints(world, ball[0], NULL, 0), MANY / 2);
	test_check(world);
	struct command remove = test_command(COMMAND_REMOVE);
	remove.remove.body = ball[0];
	test_do(world, &remove);
	ck_assert_uint_eq(world_joints(world, 0, NULL, 0), 0);
}
END_TEST

START_TEST(linked_bodies_are_found_through_dynamic_bodies_only)
{
	enum { LINKS = 5 };
	body_id link[LINKS], ids[16];
	joint_id joint[LINKS];
	uint32_t count;
	for (int i = 0; i < LINKS; i++)
		link[i] = test_spawn(world, TEST_SPHERE, vec3_make(2 * i, 20, 0));
	for (int i = 0; i + 1 < LINKS; i++) {
		struct command create =
			join(JOINT_SPHERICAL, link[i], link[i + 1], vec3_make(2 * i + 1, 20, 0));
		joint[i] = test_do(world, &create);
	}
	ck_assert_int_eq(world_linked(world, link[2], ids, 16, &count), STATUS_OK);
	ck_assert_uint_eq(count, LINKS);
	ck_assert_mem_eq(ids, link, sizeof link);
	struct command remove = test_command(COMMAND_JOINT_REMOVE);
	remove.joint_remove.joint = joint[1];
	test_do(world, &remove);
	ck_assert_int_eq(world_linked(world, link[0], ids, 16, &count), STATUS_OK);
	ck_assert_uint_eq(count, 2);
	ck_assert_int_eq(world_linked(world, link[4], ids, 16, &count), STATUS_OK);
	ck_assert_uint_eq(count, 3);
	/* Two bodies that hang on the same static floor are not linked through it. */
	struct command hang = join(JOINT_SPHERICAL, floor_body, link[0], vec3_make(0, 20, 0));
	test_do(world, &hang);
	hang = join(JOINT_SPHERICAL, floor_body, link[4], vec3_make(8, 20, 0));
	test_do(world, &hang);
	ck_assert_int_eq(world_linked(world, link[0], ids, 16, &count), STATUS_OK);
	ck_assert_uint_eq(count, 3);
	ck_assert_int_eq(world_linked(world, 12345, ids, 16, &count), STATUS_OK);
	ck_assert_uint_eq(count, 0);
}
END_TEST

/* ---- changes at a boundary -------------------------------------------------------------------- */

enum { MODEL = 4096 };
struct model {
	bool there[MODEL];
};

static void read_model(struct model *model)
{
	static joint_id ids[MODEL];
	uint32_t count = world_joints(world, 0, ids, MODEL);
	ck_assert_uint_lt(count, MODEL);
	memset(model, 0, sizeof *model);
	for (uint32_t i = 0; i < count; i++) {
		ck_assert(i == 0 || ids[i - 1] < ids[i]);
		ck_assert_uint_lt(ids[i], MODEL);
		model->there[ids[i]] = true;
	}
}

static bool is_listed(const joint_id *ids, uint32_t count, joint_id id)
{
	for (uint32_t i = 0; i < count; i++)
		if (ids[i] == id)
			return true;
	return false;
}

/* The lists of changes are exactly the created and removed joints, in ascending order. Moved joints
 * existed before and exist now. */
static void assert_changes(const struct model *before, const struct model *now)
{
	struct world_joint_changes changes;
	ck_assert_int_eq(world_joint_changes(world, &changes), STATUS_OK);
	for (uint32_t id = 1; id < MODEL; id++) {
		ck_assert(is_listed(changes.created, changes.created_count, id) ==
			  (now->there[id] && !before->there[id]));
		ck_assert(is_listed(changes.removed, changes.removed_count, id) ==
			  (before->there[id] && !now->there[id]));
		ck_assert(!is_listed(changes.moved, changes.moved_count, id) ||
			  (before->there[id] && now->there[id]));
	}
	for (uint32_t i = 1; i < changes.created_count; i++)
		ck_assert_uint_lt(changes.created[i - 1], changes.created[i]);
	for (uint32_t i = 1; i < changes.removed_count; i++)
		ck_assert_uint_lt(changes.removed[i - 1], changes.removed[i]);
}

START_TEST(random_joint_commands_are_listed_as_changes_and_saved)
{
	struct gen_commands gen;
	static struct model before, now;
	gen_commands_init(&gen, world, check_seed() + (uint64_t)_i);
	static const enum command_op ops[] = {
		COMMAND_JOINT_CREATE, COMMAND_JOINT_CREATE,  COMMAND_JOINT_REMOVE,
		COMMAND_JOINT_SET,    COMMAND_JOINT_AXIS,    COMMAND_JOINT_AXIS,
		COMMAND_JOINT_TABLE,  COMMAND_JOINT_TARGETS, COMMAND_JOINT_MOVE,
		COMMAND_REMOVE,	      COMMAND_SPAWN,	     COMMAND_SPAWN,
		COMMAND_SET_STATUS,   COMMAND_SET_POSE,
	};
	for (int round = 0; round < 60; round++) {
		read_model(&before);
		world_close_boundary(world);
		uint32_t count = 1 + rng_below(&gen.rng, 12);
		for (uint32_t i = 0; i < count; i++) {
			struct command command;
			enum command_op op = ops[rng_below(&gen.rng, COUNT_OF(ops))];
			gen_command(&gen, op, &command);
			(void)test_try(world, &command);
		}
		read_model(&now);
		assert_changes(&before, &now);
		test_check(world);
		read_model(&before);
		test_step(world, 1);
		read_model(&now);
		uint64_t hash = test_hash(world);
		ck_assert_int_eq(world_rebuild_caches(world), STATUS_OK);
		struct bytes image = test_save(world);
		struct world *copy;
		ck_assert_int_eq(
			world_load(image.data, image.count, test_shape_source(), &copy, NULL),
			STATUS_OK);
		test_step(copy, 3);
		ck_assert_int_eq(world_restore(world, image.data, image.count, NULL), STATUS_OK);
		ck_assert_uint_eq(test_hash(world), hash);
		test_step(world, 3);
		ck_assert_uint_eq(test_hash(copy), test_hash(world));
		bytes_release(&image);
		world_destroy(copy);
	}
}
END_TEST

/* ---- sleep, collision of joined bodies, breaking ---------------------------------------------- */

START_TEST(joined_bodies_sleep_and_wake_together)
{
	struct world *own = test_world(false, "soft-step");
	test_spawn(own, TEST_PLANE, vec3_zero());
	body_id left = test_spawn(own, TEST_BOX, vec3_make(0, 0.5, 0)),
		right = test_spawn(own, TEST_BOX, vec3_make(3, 0.5, 0));
	struct command create = join(JOINT_DISTANCE, left, right, vec3_make(0, 0.5, 0));
	create.joint_create.point_b = vec3_make(3, 0.5, 0);
	test_do(own, &create);
	test_step(own, 120);
	ck_assert(test_body(own, left).asleep && test_body(own, right).asleep);
	struct joint_view view;
	ck_assert_int_eq(world_joint(own, 1, &view), STATUS_OK);
	ck_assert(view.asleep);
	struct command wake = test_command(COMMAND_WAKE);
	wake.wake.body = left;
	test_do(own, &wake);
	ck_assert(!test_body(own, right).asleep);
	test_check(own);
	world_destroy(own);
}
END_TEST

START_TEST(a_body_with_a_running_motor_does_not_sleep)
{
	struct command create = join(JOINT_REVOLUTE, 0, ball[0], vec3_make(0, 0.5, 0));
	joint_id id = test_do(world, &create);
	struct command axis = axis_of(id, 3);
	axis.joint_axis.motor = JOINT_MOTOR_VELOCITY;
	axis.joint_axis.target = 1e-4; /* below the speed of sleep */
	test_do(world, &axis);
	test_step(world, 300);
	ck_assert(!test_body(world, ball[0]).asleep);
	struct joint_target target = { id, 3, 0 };
	struct command stop = test_command(COMMAND_JOINT_TARGETS);
	stop.joint_targets.targets = (struct target_list){ &target, 1 };
	test_do(world, &stop);
	test_step(world, 120);
	ck_assert(test_body(world, ball[0]).asleep);
	target.value = 1;
	test_do(world, &stop);
	ck_assert(!test_body(world, ball[0]).asleep);
}
END_TEST

START_TEST(joined_bodies_collide_only_if_the_flag_is_set)
{
	body_id upper =
		test_spawn(world, TEST_BOX, vec3_make(0, 1.4, 0)); /* overlaps ball[0] by 0.1 m */
	test_step(world, 1);
	struct contact_view views[8];
	ck_assert_uint_gt(test_contacts(world, upper, views, 8), 0);
	struct command create = join(JOINT_FIXED, ball[0], upper, vec3_make(0, 1, 0));
	joint_id id = test_do(world, &create);
	test_step(world, 1);
	ck_assert_uint_eq(test_contacts(world, upper, views, 8), 0);
	struct command set = test_command(COMMAND_JOINT_SET);
	set.joint_set.joint = id;
	set.joint_set.flags = 0;
	test_do(world, &set);
	test_step(world, 1);
	ck_assert_uint_gt(test_contacts(world, upper, views, 8), 0);
	set.joint_set.flags = JOINT_BODIES_PASS;
	test_do(world, &set);
	test_step(world, 1);
	ck_assert_uint_eq(test_contacts(world, upper, views, 8), 0);
	struct command remove = test_command(COMMAND_JOINT_REMOVE);
	remove.joint_remove.joint = id;
	test_do(world, &remove);
	test_step(world, 1);
	ck_assert_uint_gt(test_contacts(world, upper, views, 8), 0);
}
END_TEST

/* Two balls fly at each other, and beyond them a third rests. Returns whether the two ever touched. */
static bool fly_through(struct world *own, bool grouped, bool joined, struct body_view out[3])
{
	static const double at[] = { -3, 3, 6 }, speed[] = { 4, -4, 0 };
	struct command still = test_command(COMMAND_GRAVITY);
	body_id id[3];
	bool touched = false;
	test_do(own, &still);
	for (uint32_t i = 0; i < 3; i++) {
		struct attachment item;
		struct command spawn =
			test_spawn_command(own, TEST_SPHERE, vec3_make(at[i], 0, 0), &item);
		spawn.spawn.velocity = vec3_make(speed[i], 0, 0);
		spawn.spawn.group = grouped && i < 2 ? -1 : 0;
		id[i] = test_do(own, &spawn);
	}
	struct command pair = join(JOINT_SIX_DOF, id[0], id[1], vec3_zero());
	joint_id joint = joined ? test_do(own, &pair) : 0;
	for (uint8_t axis = 0; joined && axis < JOINT_AXES; axis++) {
		struct command set = axis_of(joint, axis);
		set.joint_axis.mode = JOINT_FREE;
		test_do(own, &set);
	}
	for (int i = 0; i < 150; i++) {
		struct contact_view views[8];
		test_step(own, 1);
		uint32_t count = test_contacts(own, id[1], views, 8);
		for (uint32_t k = 0; k < count; k++)
			touched |= views[k].a == id[0] || views[k].b == id[0];
	}
	for (uint32_t i = 0; i < 3; i++)
		out[i] = test_body(own, id[i]);
	test_check(own);
	world_destroy(own);
	return touched;
}

/* The pair moves as it does with a negative group of its own; the first still hits the third. */
START_TEST(a_joint_of_free_axes_only_keeps_a_pair_from_meeting)
{
	static const char *const methods[] = { "soft-step", "lcp", "projection", "reflection",
					       "impact" };
	struct body_view with[3], grouped[3], meeting[3];
	ck_assert(!fly_through(test_world(false, methods[_i]), false, true, with));
	ck_assert(!fly_through(test_world(false, methods[_i]), true, false, grouped));
	ck_assert(fly_through(test_world(false, methods[_i]), false, false, meeting));
	for (uint32_t i = 0; i < 3; i++)
		ck_assert_double_le(vec3_distance(with[i].position, grouped[i].position), 1e-9);
	ck_assert_double_gt(with[2].position.x, 6.1);
	ck_assert_double_eq_tol(meeting[2].position.x, 6, 1e-9);
}
END_TEST

/* A cube of 1000 kg, welded at its face, loads the joint with 9810 N and 4905 N·m about the anchor.
 * Returns the number of break events. */
static uint32_t count_breaks(double force, double torque)
{
	struct world *own = test_world(false, "soft-step");
	body_id cube = test_spawn(own, TEST_BOX, vec3_make(0.5, 0, 0));
	struct command create = join(JOINT_FIXED, 0, cube, vec3_zero());
	create.joint_create.break_force = force;
	create.joint_create.break_torque = torque;
	joint_id id = test_do(own, &create);
	uint32_t broken = 0;
	for (int i = 0; i < 30; i++) {
		uint32_t count;
		test_step(own, 1);
		const struct event *events = world_events(own, &count);
		for (uint32_t k = 0; k < count; k++) {
			if (events[k].kind != EVENT_JOINT_BREAK)
				continue;
			ck_assert_uint_eq(events[k].a, 0);
			ck_assert_uint_eq(events[k].b, cube);
			ck_assert_uint_eq(events[k].child_a, id);
			ck_assert_double_gt(events[k].value, 1);
			broken++;
		}
	}
	struct joint_view view;
	ck_assert_int_eq(world_joint(own, id, &view),
			 broken > 0 ? STATUS_UNKNOWN_JOINT : STATUS_OK);
	test_check(own);
	world_destroy(own);
	return broken;
}

START_TEST(a_joint_breaks_by_force_or_torque_once)
{
	ck_assert_uint_eq(count_breaks(0, 0), 0);
	ck_assert_uint_eq(count_breaks(9000, 0), 1);
	ck_assert_uint_eq(count_breaks(11000, 0), 0);
	ck_assert_uint_eq(count_breaks(0, 4500), 1);
	ck_assert_uint_eq(count_breaks(0, 5400), 0);
}
END_TEST

START_TEST(a_broken_joint_is_removed_and_the_saved_world_continues)
{
	struct command create = join(JOINT_FIXED, 0, ball[0], vec3_make(0.5, 0.5, 0));
	create.joint_create.break_force = 1;
	joint_id id = test_do(world, &create);
	test_step(world, 1);
	struct joint_view view;
	ck_assert_int_eq(world_joint(world, id, &view), STATUS_UNKNOWN_JOINT);
	struct command remove = test_command(COMMAND_JOINT_REMOVE);
	remove.joint_remove.joint = id;
	assert_refused(&remove, 1, STATUS_UNKNOWN_JOINT, "joint");
	struct bytes image = test_save(world);
	struct world *copy;
	ck_assert_int_eq(world_load(image.data, image.count, test_shape_source(), &copy, NULL),
			 STATUS_OK);
	test_step(copy, 10);
	test_step(world, 10);
	ck_assert_uint_eq(test_hash(copy), test_hash(world));
	world_destroy(copy);
	bytes_release(&image);
}
END_TEST

START_TEST(a_ring_with_redundant_welds_keeps_its_shape)
{
	static const char *const methods[] = { "soft-step", "lcp", "projection", "reflection",
					       "impact" };
	struct world *own = test_world(false, methods[_i]);
	body_id ring[4];
	for (int i = 0; i < 4; i++)
		ring[i] = test_spawn(own, TEST_BOX, vec3_make(i % 2, 5 + i / 2, 0));
	int at = 0, order[] = { 0, 1, 3, 2 };
	for (int k = 0; k < 8; k++, at = (at + 1) % 4) {
		struct command create = join(JOINT_FIXED, ring[order[at]],
					     ring[order[(at + 1) % 4]], vec3_make(0.5, 5.5, 0));
		test_do(own, &create);
	}
	struct world_energy before = world_energy(own);
	test_step(own, 60);
	ck_assert_double_le(world_stats(own).joint_error, 1e-4);
	ck_assert_double_le(fabs(world_energy(own).linear.x - before.linear.x), 1e-6 * 4000);
	for (int i = 0; i < 4; i++)
		ck_assert(!test_body(own, ring[i]).quarantined);
	test_check(own);
	world_destroy(own);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *suite = suite_create("engine/world/joints");
	TCase *life = tcase_create("life");
	tcase_add_checked_fixture(life, setup, teardown);
	tcase_add_loop_test(life, a_joint_of_each_type_is_created_viewed_and_removed, 1,
			    JOINT_TYPES_END);
	tcase_add_test(life, a_batch_refers_to_its_new_bodies_and_joints_by_negative_ids);
	tcase_add_test(life, removing_a_body_removes_its_joints);
	tcase_add_test(life, commands_about_a_joint_of_a_removed_body_are_refused);
	tcase_add_loop_test(life, a_violated_joint_is_refused_or_projected_as_requested, 1,
			    JOINT_FIXED + 1);
	tcase_add_test(life, ten_thousand_joints_on_one_body_are_created_and_removed);
	tcase_add_test(life, linked_bodies_are_found_through_dynamic_bodies_only);
	tcase_add_loop_test(life, random_joint_commands_are_listed_as_changes_and_saved, 0, 6);
	suite_add_tcase(suite, life);
	TCase *refused = tcase_create("refused");
	tcase_add_checked_fixture(refused, setup, teardown);
	tcase_add_test(refused, bad_sides_are_refused);
	tcase_add_test(refused, bad_places_are_refused_by_field);
	tcase_add_test(refused, fields_that_a_joint_type_lacks_are_refused);
	tcase_add_test(refused, targets_need_a_motor_and_a_finite_number);
	tcase_add_test(refused, a_player_joins_only_its_own_bodies_and_commands_its_own_joints);
	tcase_add_test(refused, joints_beyond_the_limit_are_refused);
	tcase_add_test(refused, the_method_free_refuses_joints);
	suite_add_tcase(suite, refused);
	TCase *steps = tcase_create("steps");
	tcase_add_checked_fixture(steps, setup, teardown);
	tcase_add_test(steps, joined_bodies_sleep_and_wake_together);
	tcase_add_test(steps, a_body_with_a_running_motor_does_not_sleep);
	tcase_add_test(steps, joined_bodies_collide_only_if_the_flag_is_set);
	tcase_add_loop_test(steps, a_joint_of_free_axes_only_keeps_a_pair_from_meeting, 0, 5);
	tcase_add_test(steps, a_joint_breaks_by_force_or_torque_once);
	tcase_add_test(steps, a_broken_joint_is_removed_and_the_saved_world_continues);
	tcase_add_loop_test(steps, a_ring_with_redundant_welds_keeps_its_shape, 0, 5);
	suite_add_tcase(suite, steps);
	return suite;
}

int main(void)
{
	return check_main(make_suite);
}
