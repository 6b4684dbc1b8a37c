/* A batch has the effect of its commands one by one. Batches are all pairs of commands and random rows
 * of up to eight, by a player and by a controller. The reference is a second world that gets the same
 * commands in batches of one at the same boundary. Answers, ids and every byte of the image must be
 * equal; a batch whose n-th command is refused alone is refused as a whole, for the same reason.
 *
 * The file also tests two meanings of commands: setting fields of a body gives the same body as
 * spawning it with them, and a load on a rotated body acts as the rotated load. */
#include "server/engine/engine.h"

#include "tests/lib/check_main.h"
#include "tests/lib/gen_commands.h"
#include "tests/lib/worlds.h"

#include <stdio.h>
#include <string.h>

enum { ROW_MAX = 8, ME = 1, STRANGER = 2 };

/* Commands, with storage for the shapes of their SPAWNs. */
struct row {
	struct command commands[ROW_MAX];
	struct attachment items[ROW_MAX][4];
	uint32_t count;
	bool restricted;
};

/* ---- the world of the commands ---------------------------------------------------------------- */

static body_id spawn_of(struct world *world, uint8_t status, uint32_t owner, double x,
			uint32_t shapes)
{
	struct attachment items[2] = {
		{ test_use(world, TEST_BOX), { 0, 0, 0 }, { 1, 0, 0, 0 } },
		{ test_use(world, TEST_SPHERE), { 0.7, 0.1, 0 }, { 1, 0, 0, 0 } }
	};
	struct command spawn = test_command(COMMAND_SPAWN);
	spawn.spawn.status = status;
	spawn.spawn.owner = owner;
	spawn.spawn.position = vec3_make(x, 0.5, 0);
	spawn.spawn.shapes = (struct attachment_list){ items, shapes };
	return test_do(world, &spawn);
}

/* Touching bodies of every status, some owned by the session, close to the limits of the world. */
static struct bytes crowded_image(const char *method)
{
	struct world_options options = test_options(false, method);
	options.limits.bodies = 9;
	options.limits.placements = 12;
	options.limits.shapes = 6;
	struct world *world = test_world_of(&options);
	static const enum test_shape known[] = { TEST_SPHERE, TEST_BOX, TEST_CAPSULE, TEST_HULL };
	for (uint32_t i = 0; i < COUNT_OF(known); i++)
		test_use(world, known[i]);
	spawn_of(world, BODY_STATIC, 0, 0, 1);
	spawn_of(world, BODY_DYNAMIC, ME, 0.9, 1);
	spawn_of(world, BODY_DYNAMIC, STRANGER, 1.8, 2);
	spawn_of(world, BODY_ANIMATED, ME, 3.5, 1);
	spawn_of(world, BODY_INACTIVE, ME, 6, 1);
	spawn_of(world, BODY_DYNAMIC, ME, 8, 2);
	test_step(world, 3);
	struct bytes image = test_save(world);
	world_destroy(world);
	return image;
}

static struct world *load(const struct bytes *image)
{
	struct world *world;
	ck_assert_int_eq(world_load(image->data, image->count, test_shape_source(), &world, NULL),
			 STATUS_OK);
	return world;
}

/* ---- rows ------------------------------------------------------------------------------------- */

static void add_command(struct gen_commands *gen, struct row *row, enum command_op op)
{
	uint32_t at = row->count++;
	struct command *command = &row->commands[at];
	gen_command(gen, op, command);
	if (op != COMMAND_SPAWN)
		return;
	memcpy(row->items[at], gen->items, sizeof row->items[at]);
	command->spawn.shapes.items = row->items[at];
	command->spawn.owner = rng_below(&gen->rng, 3);
}

static enum command_result result_of(const struct command *command)
{
	return command_info(command->op)->result;
}

/* Makes the last command of the row refer to the body, shape, joint or field of an earlier command, with
 * probability 2/3 for each candidate. */
static void refer_back(struct gen_commands *gen, struct row *row)
{
	uint32_t last = row->count - 1;
	struct command *command = &row->commands[last];
	const struct command_field *field = &command_info(command->op)->fields[0];
	if (field->type > FIELD_PARTICLES)
		return;
	static const enum command_result makes[] = { [FIELD_BODY] = RESULT_BODY,
						     [FIELD_SHAPE] = RESULT_SHAPE,
						     [FIELD_JOINT] = RESULT_JOINT,
						     [FIELD_FORCE_FIELD] = RESULT_FORCE_FIELD,
						     [FIELD_PARTICLES] = RESULT_PARTICLES };
	enum command_result wanted = makes[field->type];
	for (uint32_t k = last; k-- > 0;) {
		if (result_of(&row->commands[k]) != wanted || rng_below(&gen->rng, 3) == 0)
			continue;
		int64_t id = -(int64_t)k - 1;
		memcpy((char *)command + field->offset, &id, sizeof id);
		return;
	}
}

/* Replaces a negative id −k by the id that single batch k made. */
static void resolve_back(struct command *command, const uint32_t *made)
{
	const struct command_info *info = command_info(command->op);
	if (info->field_count == 0 || info->fields[0].type > FIELD_PARTICLES)
		return;
	char *at = (char *)command + info->fields[0].offset;
	int64_t id;
	memcpy(&id, at, sizeof id);
	if (id < 0)
		id = made[-id - 1];
	memcpy(at, &id, sizeof id);
}

/* Applies commands of the row at the boundary; from a copy, because applying normalises values. */
static enum status apply_commands(struct world *world, const struct row *row, uint32_t first,
				  uint32_t count, uint64_t number, struct batch_result *result,
				  const uint32_t *made)
{
	struct command own[ROW_MAX];
	memcpy(own, &row->commands[first], count * sizeof *own);
	if (made != NULL)
		resolve_back(own, made);
	struct batch batch = { .session = ME,
			       .number = number,
			       .restricted = row->restricted,
			       .commands = own,
			       .count = count };
	ck_assert_int_eq(world_apply(world, &batch, 1, result), STATUS_OK);
	return result->status;
}

static void assert_same(const struct world *a, const struct world *b, const char *what)
{
	struct bytes x = test_save(a), y = test_save(b);
	struct reason why = { 0 };
	enum status status = world_image_difference(x.data, x.count, y.data, y.count, &why);
	ck_assert_msg(status == STATUS_OK, "%s: %s", what, why.text);
	bytes_release(&x);
	bytes_release(&y);
}

static void describe(const struct row *row, char *text, size_t room)
{
	size_t at = (size_t)snprintf(text, room, "%s:", row->restricted ? "player" : "controller");
	for (uint32_t i = 0; i < row->count && at < room; i++) {
		at += (size_t)snprintf(text + at, room - at, " [%u] ", i);
		if (at < room)
			at += (size_t)command_describe(&row->commands[i], text + at, room - at);
	}
}

/* METHOD is checked for the whole batch at once, so a batch may be refused with UNSUPPORTED although an
 * earlier command of it removes the obstacle. */
static bool may_be_stricter(const struct row *row, enum status status)
{
	for (uint32_t i = 0; i < row->count; i++)
		if (row->commands[i].op == COMMAND_METHOD)
			return status == STATUS_UNSUPPORTED;
	return false;
}

/* Returns whether the row was accepted. */
static bool check_row(const struct bytes *image, const struct row *row)
{
	struct world *together = load(image), *apart = load(image), *before = load(image);
	struct batch_result result, one;
	uint32_t made[ROW_MAX] = { 0 }, done = 0;
	char what[2000];
	describe(row, what, sizeof what);
	enum status single = STATUS_OK;
	for (; done < row->count && single == STATUS_OK; done++) {
		single = apply_commands(apart, row, done, 1, 10 + done, &one, made);
		if (single == STATUS_OK)
			made[done] = one.values[0];
	}
	enum status whole = apply_commands(together, row, 0, row->count, 10, &result, NULL);
	if (!(single == STATUS_OK && may_be_stricter(row, whole))) {
		ck_assert_msg(whole == single, "%s: together %s, one by one %s", what,
			      status_name(whole), status_name(single));
	}
	if (whole == STATUS_OK) {
		ck_assert_uint_eq(result.value_count, row->count);
		for (uint32_t i = 0; i < row->count; i++)
			ck_assert_msg(result.values[i] == made[i], "%s: [%u] makes %u, not %u",
				      what, i, result.values[i], made[i]);
		assert_same(together, apart, what);
		test_step(together, 1);
		test_step(apart, 1);
		assert_same(together, apart, what);
		test_check(together);
	} else {
		if (single != STATUS_OK)
			ck_assert_msg(result.why.index == (int64_t)done - 1,
				      "%s: refused at [%lld]", what, (long long)result.why.index);
		assert_same(together, before, what);
	}
	world_destroy(together);
	world_destroy(apart);
	world_destroy(before);
	return whole == STATUS_OK;
}

/* In parts, because there are many: every PARTS-th command as the first one. */
enum { PARTS = 4 };
START_TEST(every_pair_of_commands_acts_as_two_single_batches)
{
	struct bytes image = crowded_image(_i % 2 ? "soft-step" : "free");
	struct world *world = load(&image);
	struct gen_commands gen;
	gen_commands_init(&gen, world, check_seed() + (uint64_t)_i);
	uint32_t count, accepted = 0, refused = 0;
	const struct command_info *list = command_list(&count);
	for (uint32_t a = (uint32_t)_i / 2; a < count; a += PARTS)
		for (uint32_t b = 0; b < count; b++)
			for (uint32_t way = 0; way < 4; way++) {
				if (list[a].reserved || list[b].reserved)
					continue;
				struct row row = { .restricted = way % 2 };
				add_command(&gen, &row, (enum command_op)list[a].op);
				add_command(&gen, &row, (enum command_op)list[b].op);
				refer_back(&gen, &row);
				*(check_row(&image, &row) ? &accepted : &refused) += 1;
			}
	ck_assert_uint_gt(accepted, 400);
	ck_assert_uint_gt(refused, 400);
	world_destroy(world);
	bytes_release(&image);
}
END_TEST

START_TEST(a_row_of_commands_acts_as_its_commands_one_by_one)
{
	struct bytes image = crowded_image(_i ? "soft-step" : "free");
	struct world *world = load(&image);
	struct gen_commands gen;
	gen_commands_init(&gen, world, check_seed() + 100 + (uint64_t)_i);
	uint32_t accepted = 0, refused = 0;
	for (uint32_t round = 0; round < check_cases(1500); round++) {
		struct row row = { .restricted = rng_below(&gen.rng, 2) };
		uint32_t length = 3 + rng_below(&gen.rng, ROW_MAX - 2);
		/* SPAWN and REMOVE in turn: limits count the bodies that exist at a time. */
		bool churn = rng_below(&gen.rng, 2);
		while (row.count < length) {
			struct command any;
			gen_any_command(&gen, &any);
			enum command_op op = (enum command_op)any.op;
			if (churn)
				op = row.count % 2 ? COMMAND_REMOVE : COMMAND_SPAWN;
			add_command(&gen, &row, op);
			refer_back(&gen, &row);
		}
		*(check_row(&image, &row) ? &accepted : &refused) += 1;
	}
	ck_assert_uint_gt(accepted, check_cases(200));
	ck_assert_uint_gt(refused, check_cases(200));
	world_destroy(world);
	bytes_release(&image);
}
END_TEST

START_TEST(bodies_spawned_and_removed_in_a_batch_count_towards_no_limit)
{
	struct world_options options = test_options(false, "free");
	options.limits.bodies = 1;
	options.limits.placements = 2;
	struct world *world = test_world_of(&options);
	shape_id box = test_use(world, TEST_BOX);
	struct attachment items[2] = { { box, { 0, 0, 0 }, { 1, 0, 0, 0 } },
				       { box, { 2, 0, 0 }, { 1, 0, 0, 0 } } };
	struct command commands[21];
	for (int i = 0; i < 20; i++) {
		commands[i] = test_command(i % 2 ? COMMAND_REMOVE : COMMAND_SPAWN);
		if (i % 2)
			commands[i].remove.body = -i;
		else
			commands[i].spawn.shapes = (struct attachment_list){ items, 2 };
	}
	commands[20] = commands[0];
	struct batch_result result;
	ck_assert_int_eq(test_batch(world, commands, 21, &result), STATUS_OK);
	ck_assert_uint_eq(world_stats(world).bodies, 1);
	ck_assert_uint_eq(world_stats(world).placements, 2);
	test_check(world);
	/* Existing bodies count. */
	ck_assert_int_eq(test_try(world, &commands[20]), STATUS_LIMIT);
	world_destroy(world);
}
END_TEST

/* ---- what commands mean ----------------------------------------------------------------------- */

/* Copies each field of `set` that SPAWN has too, by name, into `spawn`. Returns their number. */
static uint32_t copy_common(const struct command *set, struct command *spawn)
{
	const struct command_info *from = command_info(set->op), *to = command_info(COMMAND_SPAWN);
	uint32_t copied = 0;
	for (uint32_t f = 0; f < from->field_count; f++)
		for (uint32_t g = 0; g < to->field_count; g++) {
			if (strcmp(from->fields[f].name, to->fields[g].name) != 0)
				continue;
			ck_assert_int_eq(from->fields[f].type, to->fields[g].type);
			static const size_t sizes[] = {
				[FIELD_ENUM] = sizeof(uint8_t),	   [FIELD_U32] = sizeof(uint32_t),
				[FIELD_INTEGER] = sizeof(int64_t), [FIELD_F64] = sizeof(double),
				[FIELD_VEC3] = sizeof(vec3),	   [FIELD_QUAT] = sizeof(quat),
			};
			memcpy((char *)spawn + to->fields[g].offset,
			       (const char *)set + from->fields[f].offset,
			       sizes[from->fields[f].type]);
			copied++;
		}
	return copied;
}

START_TEST(setting_fields_gives_the_body_that_spawning_with_them_gives)
{
	static const struct {
		enum command_op op;
		uint32_t fields;
	} sets[] = { { COMMAND_SET_POSE, 2 },	   { COMMAND_SET_VELOCITY, 2 },
		     { COMMAND_SET_STATUS, 1 },	   { COMMAND_SET_MATERIAL, 9 },
		     { COMMAND_SET_FILTER, 3 },	   { COMMAND_SET_OWNER, 1 },
		     { COMMAND_SET_TAG, 1 },	   { COMMAND_SET_DAMPING, 2 },
		     { COMMAND_SET_INTEGRATOR, 3 } };
	for (uint32_t round = 0; round < 40; round++)
		for (uint32_t i = 0; i < COUNT_OF(sets); i++) {
			struct world *set_world = test_world(false, "free");
			struct world *spawn_world = test_world(false, "free");
			struct gen_commands gen;
			gen_commands_init(&gen, set_world, check_seed() + 8 * round + i);
			struct attachment item;
			struct command spawn =
				test_spawn_command(set_world, TEST_CAPSULE, vec3_zero(), &item);
			struct command set;
			body_id body = test_do(set_world, &spawn);
			gen_command(&gen, sets[i].op, &set);
			set.remove.body = body;
			if (set.op == COMMAND_SET_STATUS)
				set.set_status.fast = SWITCH_KEEP; /* SPAWN has it in its flags */
			if (set.op == COMMAND_SET_FILTER)
				set.set_filter.sensor = SWITCH_KEEP; /* likewise */
			test_do(set_world, &set);
			test_use(spawn_world, TEST_CAPSULE);
			ck_assert_uint_eq(copy_common(&set, &spawn), sets[i].fields);
			test_do(spawn_world, &spawn);
			assert_same(set_world, spawn_world, command_info(set.op)->name);
			test_step(set_world, 2);
			test_step(spawn_world, 2);
			assert_same(set_world, spawn_world, command_info(set.op)->name);
			world_destroy(set_world);
			world_destroy(spawn_world);
		}
}
END_TEST

/* The velocities of a body with the given rotation after one command and `ticks` ticks. */
struct motion {
	vec3 velocity, spin;
};

static struct motion motion_after(const struct command *command, quat rotation, uint32_t ticks)
{
	struct world *world = test_world(false, "free");
	struct command gravity = test_command(COMMAND_GRAVITY);
	gravity.gravity.gravity = vec3_zero();
	test_do(world, &gravity);
	/* The inertia differs by axis, and the mass centre is not the origin. */
	struct attachment items[2] = {
		{ test_use(world, TEST_BOX), { 0.2, 0, 0 }, { 1, 0, 0, 0 } },
		{ test_use(world, TEST_CAPSULE), { 1.5, 0.5, 0.1 }, { 1, 0, 0, 0 } }
	};
	struct command spawn = test_command(COMMAND_SPAWN);
	spawn.spawn.rotation = rotation;
	spawn.spawn.shapes = (struct attachment_list){ items, 2 };
	struct command own = *command;
	own.remove.body = test_do(world, &spawn);
	test_do(world, &own);
	test_step(world, ticks);
	struct body_view view = test_body(world, (body_id)own.remove.body);
	world_destroy(world);
	return (struct motion){ view.velocity, view.angular_velocity };
}

static void rotate_world_vectors(struct command *command, quat q)
{
	switch (command->op) {
	case COMMAND_FORCE:
		command->force.force = quat_rotate(q, command->force.force);
		break;
	case COMMAND_TORQUE:
		command->torque.torque = quat_rotate(q, command->torque.torque);
		break;
	case COMMAND_IMPULSE:
		command->impulse.impulse = quat_rotate(q, command->impulse.impulse);
		break;
	default:
		command->angular_impulse.impulse = quat_rotate(q, command->angular_impulse.impulse);
		break;
	}
}

START_TEST(a_load_turns_with_the_world_and_its_point_with_the_body)
{
	static const enum command_op ops[] = { COMMAND_IMPULSE, COMMAND_ANGULAR_IMPULSE,
					       COMMAND_FORCE, COMMAND_TORQUE };
	struct world *any = test_world(false, "free");
	struct gen_commands gen;
	gen_commands_init(&gen, any, check_seed());
	for (uint32_t round = 0; round < 60; round++)
		for (uint32_t i = 0; i < COUNT_OF(ops); i++) {
			uint32_t ticks = ops[i] == COMMAND_FORCE || ops[i] == COMMAND_TORQUE;
			struct command command, turn;
			gen_command(&gen, ops[i], &command);
			gen_command(&gen, COMMAND_SET_POSE, &turn);
			quat q = quat_normalize(turn.set_pose.rotation);
			struct motion straight = motion_after(&command, quat_identity(), ticks);
			rotate_world_vectors(&command, q);
			struct motion turned = motion_after(&command, q, ticks);
			double size = vec3_length(straight.velocity) + vec3_length(straight.spin);
			ck_assert_double_gt(size, 0);
			ck_assert_double_lt(
				vec3_distance(quat_rotate(q, straight.velocity), turned.velocity),
				1e-12 * size);
			ck_assert_double_lt(
				vec3_distance(quat_rotate(q, straight.spin), turned.spin),
				1e-12 * size);
		}
	world_destroy(any);
}
END_TEST

START_TEST(a_force_over_one_tick_is_the_impulse_of_force_times_the_tick)
{
	struct world *any = test_world(false, "free");
	struct gen_commands gen;
	gen_commands_init(&gen, any, check_seed());
	double dt = (double)world_info(any).rate_den / world_info(any).rate_num;
	for (uint32_t round = 0; round < 60; round++) {
		struct command force, turn, impulse = test_command(COMMAND_IMPULSE);
		gen_command(&gen, COMMAND_FORCE, &force);
		gen_command(&gen, COMMAND_SET_POSE, &turn);
		force.force.ticks = 1;
		impulse.impulse.impulse = vec3_scale(force.force.force, dt);
		impulse.impulse.point = force.force.point;
		struct motion pushed = motion_after(&force, turn.set_pose.rotation, 1);
		struct motion hit = motion_after(&impulse, turn.set_pose.rotation, 0);
		ck_assert_double_lt(vec3_distance(pushed.velocity, hit.velocity),
				    1e-12 * vec3_length(hit.velocity));
		/* The spin agrees to first order, because the gyroscopic term turns it within the tick. */
		ck_assert_double_lt(vec3_distance(pushed.spin, hit.spin),
				    1e-3 * vec3_length(hit.spin) + 1e-12);
	}
	world_destroy(any);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/world/one_by_one");
	TCase *rows = tcase_create("rows");
	tcase_add_loop_test(rows, every_pair_of_commands_acts_as_two_single_batches, 0, 2 * PARTS);
	tcase_add_loop_test(rows, a_row_of_commands_acts_as_its_commands_one_by_one, 0, 2);
	tcase_add_test(rows, bodies_spawned_and_removed_in_a_batch_count_towards_no_limit);
	suite_add_tcase(suite, rows);
	TCase *meaning = tcase_create("meaning");
	tcase_add_test(meaning, setting_fields_gives_the_body_that_spawning_with_them_gives);
	tcase_add_test(meaning, a_load_turns_with_the_world_and_its_point_with_the_body);
	tcase_add_test(meaning, a_force_over_one_tick_is_the_impulse_of_force_times_the_tick);
	suite_add_tcase(suite, meaning);
	return suite;
}

int main(void)
{
	return check_main(make);
}
