/* Every command is packed and read back; wrong types, missing values and truncation are refused by
 * field name. */
#include "protocol/command_wire.h"

#include <string.h>

#include "protocol/validate.h"
#include "server/base/heap.h"
#include "server/base/rng.h"
#include "tests/lib/check_main.h"
#include "tests/lib/gen_message.h"

static struct arena arena;
static uint8_t data[1 << 16], again[1 << 16];
static struct attachment attachments[ATTACHMENTS_MAX];
static struct joint_target targets[JOINT_TARGETS_MAX];
static struct joint_point points[JOINT_POINTS_MAX];

static void set_up(void)
{
	ck_assert_int_eq(arena_init(&arena, 1 << 20), STATUS_OK);
}

static void tear_down(void)
{
	arena_release(&arena);
}

static vec3 gen_vec3(struct rng *rng)
{
	return vec3_make(gen_real(rng), gen_real(rng), gen_real(rng));
}

static struct attachment_list gen_attachments(struct rng *rng)
{
	uint32_t count = rng_below(rng, 4) == 0 ? ATTACHMENTS_MAX : rng_below(rng, 4);
	for (uint32_t i = 0; i < count; i++)
		attachments[i] = (struct attachment){
			.shape = (int64_t)rng_u32(rng) - 1000,
			.position = gen_vec3(rng),
			.rotation = quat_from_parts(gen_real(rng), gen_vec3(rng)),
		};
	return (struct attachment_list){ count > 0 ? attachments : NULL, count };
}

/* A small length, or sometimes the largest. */
static uint32_t gen_count(struct rng *rng, uint32_t most)
{
	return rng_below(rng, 40) == 0 ? most : rng_below(rng, 4);
}

static struct target_list gen_targets(struct rng *rng)
{
	uint32_t count = gen_count(rng, JOINT_TARGETS_MAX);
	for (uint32_t i = 0; i < count; i++)
		targets[i] = (struct joint_target){ .joint = (int64_t)rng_u32(rng) - 1000,
						    .axis = (uint8_t)rng_u32(rng),
						    .value = gen_real(rng) };
	return (struct target_list){ count > 0 ? targets : NULL, count };
}

static struct point_list gen_points(struct rng *rng)
{
	uint32_t count = gen_count(rng, JOINT_POINTS_MAX);
	for (uint32_t i = 0; i < count; i++)
		points[i] = (struct joint_point){ .time = gen_real(rng), .value = gen_real(rng) };
	return (struct point_list){ count > 0 ? points : NULL, count };
}

static void gen_field(struct rng *rng, enum field_type type, void *at)
{
	switch (type) {
	case FIELD_BODY:
	case FIELD_SHAPE:
	case FIELD_JOINT:
	case FIELD_FORCE_FIELD:
	case FIELD_PARTICLES:
	case FIELD_INTEGER:
		*(int64_t *)at = (int64_t)(rng_u64(rng) >> 10) - (INT64_C(1) << 53);
		return;
	case FIELD_ENUM:
		*(uint8_t *)at = (uint8_t)rng_u32(rng);
		return;
	case FIELD_U32:
		*(uint32_t *)at = rng_u32(rng);
		return;
	case FIELD_F64:
		*(double *)at = gen_real(rng);
		return;
	case FIELD_VEC3:
		*(vec3 *)at = gen_vec3(rng);
		return;
	case FIELD_QUAT:
		*(quat *)at = quat_from_parts(gen_real(rng), gen_vec3(rng));
		return;
	case FIELD_TEXT:
		memset(at, 0, sizeof(struct text32));
		memset(at, 'a' + (int)rng_below(rng, 26), 1 + rng_below(rng, 31));
		return;
	case FIELD_NAME:
		memset(at, (int)rng_below(rng, 256), sizeof(struct name32));
		return;
	case FIELD_SEED:
		*(uint64_t *)at = rng_u64(rng);
		return;
	case FIELD_ATTACHMENTS:
		*(struct attachment_list *)at = gen_attachments(rng);
		return;
	case FIELD_TARGETS:
		*(struct target_list *)at = gen_targets(rng);
		return;
	case FIELD_POINTS:
		*(struct point_list *)at = gen_points(rng);
		return;
	}
}

/* Random fields; some have their defaults, so that packing sometimes leaves out the last ones. */
static void gen_command(struct rng *rng, const struct command_info *info, struct command *command)
{
	command_defaults(command, info->op);
	uint32_t reach = rng_below(rng, info->field_count + 1);
	for (uint32_t i = 0; i < info->field_count; i++) {
		if (i < info->needed || i < reach)
			gen_field(rng, info->fields[i].type,
				  (uint8_t *)command + info->fields[i].offset);
	}
}

static bool attachments_same(const struct attachment_list *a, const struct attachment_list *b)
{
	return a->count == b->count &&
	       (a->count == 0 || memcmp(a->items, b->items, a->count * sizeof *a->items) == 0);
}

static bool targets_same(const struct target_list *a, const struct target_list *b)
{
	bool equal = a->count == b->count;
	for (uint32_t i = 0; i < a->count && equal; i++)
		equal = a->items[i].joint == b->items[i].joint &&
			a->items[i].axis == b->items[i].axis &&
			memcmp(&a->items[i].value, &b->items[i].value, sizeof(double)) == 0;
	return equal;
}

static bool points_same(const struct point_list *a, const struct point_list *b)
{
	return a->count == b->count &&
	       (a->count == 0 || memcmp(a->items, b->items, a->count * sizeof *a->items) == 0);
}

static bool fields_same(enum field_type type, const void *a, const void *b)
{
	static const size_t BYTES[] = {
		[FIELD_BODY] = 8,	 [FIELD_SHAPE] = 8,	[FIELD_JOINT] = 8,
		[FIELD_ENUM] = 1,	 [FIELD_U32] = 4,	[FIELD_INTEGER] = 8,
		[FIELD_F64] = 8,	 [FIELD_VEC3] = 24,	[FIELD_QUAT] = 32,
		[FIELD_TEXT] = 32,	 [FIELD_NAME] = 32,	[FIELD_SEED] = 8,
		[FIELD_FORCE_FIELD] = 8, [FIELD_PARTICLES] = 8,
	};
	switch (type) {
	case FIELD_ATTACHMENTS:
		return attachments_same(a, b);
	case FIELD_TARGETS:
		return targets_same(a, b);
	case FIELD_POINTS:
		return points_same(a, b);
	default:
		return memcmp(a, b, BYTES[type]) == 0;
	}
}

static bool same(const struct command_info *info, const struct command *a, const struct command *b)
{
	for (uint32_t i = 0; i < info->field_count; i++) {
		const void *at = (const uint8_t *)a + info->fields[i].offset;
		const void *bt = (const uint8_t *)b + info->fields[i].offset;
		if (!fields_same(info->fields[i].type, at, bt))
			return false;
	}
	return a->op == b->op;
}

static void for_each(void (*each)(const struct command_info *info, struct rng *rng))
{
	struct rng rng = rng_seeded(check_seed());
	uint32_t count;
	const struct command_info *list = command_list(&count);
	ck_assert_uint_gt(count, 20);
	for (uint32_t i = 0; i < count; i++) {
		for (int round = 0; round < 50 && !list[i].reserved; round++)
			each(&list[i], &rng);
	}
}

static void round_trip(const struct command_info *info, struct rng *rng)
{
	struct command sent, got;
	gen_command(rng, info, &sent);
	struct wire_packer out = wire_packer_over(data, sizeof data);
	command_pack(&out, &sent);
	ck_assert_int_eq(wire_packer_status(&out), STATUS_OK);
	ck_assert_int_eq(validate_value(data, out.bytes, &VALIDATE_UP, NULL), STATUS_OK);
	struct wire_cursor in = wire_cursor_over(data, out.bytes);
	arena_reset(&arena);
	ck_assert_int_eq(command_take(&in, &arena, 0, &got, NULL), STATUS_OK);
	ck_assert(wire_at_end(&in));
	ck_assert(same(info, &sent, &got));
	/* One command has one form. */
	struct wire_packer second = wire_packer_over(again, sizeof again);
	command_pack(&second, &got);
	ck_assert_uint_eq(second.bytes, out.bytes);
	ck_assert_mem_eq(again, data, out.bytes);
}

START_TEST(every_command_is_read_as_it_was_packed)
{
	for_each(round_trip);
}
END_TEST

static void cut(const struct command_info *info, struct rng *rng)
{
	struct command sent, got;
	gen_command(rng, info, &sent);
	struct wire_packer out = wire_packer_over(data, sizeof data);
	command_pack(&out, &sent);
	for (uint32_t bytes = 0; bytes < MIN_OF(out.bytes, 200u); bytes++) {
		struct wire_cursor in = wire_cursor_over(data, bytes);
		arena_reset(&arena);
		ck_assert_int_ne(command_take(&in, &arena, 0, &got, NULL), STATUS_OK);
	}
}

START_TEST(a_command_cut_at_any_byte_is_refused)
{
	for_each(cut);
}
END_TEST

/* Packs all fields of a command; field `wrong` is replaced by a bool, which is no type of a field. */
static void wrong_type(const struct command_info *info, struct rng *rng)
{
	struct command sent, got;
	for (uint32_t wrong = 0; wrong < info->field_count; wrong++) {
		struct wire_token token;
		struct reason why;
		gen_command(rng, info, &sent);
		struct wire_packer whole = wire_packer_over(again, sizeof again);
		command_pack(&whole, &sent);
		struct wire_cursor fields = wire_cursor_over(again, whole.bytes);
		ck_assert_int_eq(wire_next(&fields, &token), STATUS_OK);
		uint32_t count = token.count;
		if (wrong + 1 >= count)
			continue;
		struct wire_packer out = wire_packer_over(data, sizeof data);
		wire_pack_array(&out, count);
		for (uint32_t i = 0; i < count; i++) {
			struct wire_slice value;
			ck_assert_int_eq(wire_skip(&fields, &value), STATUS_OK);
			if (i == wrong + 1)
				wire_pack_bool(&out, true);
			else
				wire_pack_raw(&out, value.at, value.bytes);
		}
		struct wire_cursor in = wire_cursor_over(data, out.bytes);
		arena_reset(&arena);
		ck_assert_int_eq(command_take(&in, &arena, 4, &got, &why), STATUS_TYPE);
		ck_assert_str_eq(why.field, info->fields[wrong].name);
		ck_assert_int_eq(why.index, 4);
	}
}

START_TEST(a_wrong_type_is_refused_in_every_field_by_name)
{
	for_each(wrong_type);
}
END_TEST

static enum status take(const uint8_t *bytes, uint32_t count, struct command *command,
			struct reason *why)
{
	struct wire_cursor in = wire_cursor_over(bytes, count);
	arena_reset(&arena);
	return command_take(&in, &arena, 0, command, why);
}

#define TAKE(command, why, ...)                                                                    \
	take((const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }), command,  \
	     why)

START_TEST(a_missing_field_is_named_or_has_its_default)
{
	struct command command;
	struct reason why;
	ck_assert_int_eq(TAKE(&command, &why, 0x92, 10, 2), STATUS_TYPE);
	ck_assert_str_eq(why.field, "position");
	ck_assert_int_eq(TAKE(&command, &why, 0x93, 10, 2, 0x93, 1, 2, 3), STATUS_OK);
	ck_assert(command.spawn.position.y == 2);
	ck_assert(command.spawn.rotation.w == 1);
	ck_assert_uint_eq(command.spawn.shapes.count, 0);
	ck_assert(command.spawn.density == 1000);
	ck_assert_uint_eq(command.spawn.mask, UINT32_MAX);
}
END_TEST

START_TEST(missing_poses_of_attachments_have_defaults)
{
	struct command command;
	struct reason why;
	ck_assert_int_eq(TAKE(&command, &why, 0x94, 10, 2, 0x93, 0, 0, 0, 0x92, 0x91, 5, 0x92, 0xff,
			      0x93, 1, 2, 3),
			 STATUS_OK);
	ck_assert_uint_eq(command.spawn.shapes.count, 2);
	ck_assert_int_eq(command.spawn.shapes.items[0].shape, 5);
	ck_assert(command.spawn.shapes.items[0].rotation.w == 1);
	ck_assert_int_eq(command.spawn.shapes.items[1].shape, -1);
	ck_assert(command.spawn.shapes.items[1].position.z == 3);
	ck_assert_int_eq(TAKE(&command, &why, 0x94, 10, 2, 0x93, 0, 0, 0, 0x91, 0x90), STATUS_TYPE);
	ck_assert_str_eq(why.field, "shapes");
}
END_TEST

START_TEST(unknown_and_reserved_commands_have_different_errors)
{
	struct command command;
	struct reason why;
	ck_assert_int_eq(TAKE(&command, &why, 0x91, 99), STATUS_UNKNOWN_COMMAND);
	ck_assert_int_eq(TAKE(&command, &why, 0x91, 0), STATUS_UNKNOWN_COMMAND);
	ck_assert_int_eq(TAKE(&command, &why, 0x92, 80, 1), STATUS_UNKNOWN_COMMAND);
	ck_assert_int_eq(TAKE(&command, &why, 0x91, 0xce, 0, 1, 0, 10), STATUS_TYPE);
	ck_assert_int_eq(TAKE(&command, &why, 0x92, 25, 1), STATUS_UNSUPPORTED);
	ck_assert_int_eq(TAKE(&command, &why, 0x90), STATUS_TYPE);
	ck_assert_int_eq(TAKE(&command, &why, 10), STATUS_TYPE);
}
END_TEST

START_TEST(a_seed_is_eight_bytes_or_an_integer)
{
	struct command command;
	struct reason why;
	ck_assert_int_eq(TAKE(&command, &why, 0x92, 33, 0xc4, 8, 0xff, 0, 0, 0, 0, 0, 0, 1),
			 STATUS_OK);
	ck_assert_uint_eq(command.seed.seed, (UINT64_C(0xff) << 56) + 1);
	ck_assert_int_eq(TAKE(&command, &why, 0x92, 33, 7), STATUS_OK);
	ck_assert_uint_eq(command.seed.seed, 7);
	ck_assert_int_eq(TAKE(&command, &why, 0x92, 33, 0xff), STATUS_RANGE);
	ck_assert_int_eq(TAKE(&command, &why, 0x92, 33, 0xc4, 1, 7), STATUS_RANGE);
}
END_TEST

START_TEST(fields_of_a_newer_version_are_ignored)
{
	struct command command;
	ck_assert_int_eq(TAKE(&command, NULL, 0x94, 24, 7, 0xc0, 0x91, 1), STATUS_OK);
	ck_assert_int_eq(command.wake.body, 7);
}
END_TEST

START_TEST(a_list_is_taken_whole_or_not_at_all)
{
	static const uint8_t GOOD[] = { 0x92, 24, 1, 0x92, 11, 2 };
	static const uint8_t BAD[] = { 0x94, 10, 2, 0x93, 0, 0, 0, 0x91, 0x91, 5, 0x92, 24, 0xc3 };
	struct command *commands;
	struct reason why;
	struct wire_list list = { GOOD, sizeof GOOD, 2 };
	ck_assert_int_eq(command_take_list(&list, &arena, &commands, &why), STATUS_OK);
	ck_assert_uint_eq(commands[0].op, COMMAND_WAKE);
	ck_assert_int_eq(commands[1].remove.body, 2);
	size_t used = arena_used(&arena);
	list = (struct wire_list){ BAD, sizeof BAD, 2 };
	ck_assert_int_eq(command_take_list(&list, &arena, &commands, &why), STATUS_TYPE);
	ck_assert_int_eq(why.index, 1);
	ck_assert_uint_eq(arena_used(&arena), used);
	list = (struct wire_list){ NULL, 0, 0 };
	ck_assert_int_eq(command_take_list(&list, &arena, &commands, &why), STATUS_OK);
	list.count = WIRE_BATCH_MAX + 1;
	ck_assert_int_eq(command_take_list(&list, &arena, &commands, &why), STATUS_RANGE);
}
END_TEST

START_TEST(a_failed_allocation_is_reported)
{
	static const uint8_t ONE[] = { 0x92, 24, 1 };
	struct wire_list list = { ONE, sizeof ONE, 1 };
	struct command *commands;
	struct reason why;
	struct arena empty;
	ck_assert_int_eq(arena_init(&empty, 0), STATUS_OK);
	heap_fail_at(1);
	ck_assert_int_eq(command_take_list(&list, &empty, &commands, &why), STATUS_NO_MEMORY);
	heap_fail_at(0);
	arena_release(&empty);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("protocol/command_wire");
	TCase *all = tcase_create("every command");
	tcase_add_checked_fixture(all, set_up, tear_down);
	tcase_add_test(all, every_command_is_read_as_it_was_packed);
	tcase_add_test(all, a_command_cut_at_any_byte_is_refused);
	tcase_add_test(all, a_wrong_type_is_refused_in_every_field_by_name);
	suite_add_tcase(suite, all);
	TCase *some = tcase_create("some commands");
	tcase_add_checked_fixture(some, set_up, tear_down);
	tcase_add_test(some, a_missing_field_is_named_or_has_its_default);
	tcase_add_test(some, missing_poses_of_attachments_have_defaults);
	tcase_add_test(some, unknown_and_reserved_commands_have_different_errors);
	tcase_add_test(some, a_seed_is_eight_bytes_or_an_integer);
	tcase_add_test(some, fields_of_a_newer_version_are_ignored);
	tcase_add_test(some, a_list_is_taken_whole_or_not_at_all);
	tcase_add_test(some, a_failed_allocation_is_reported);
	suite_add_tcase(suite, some);
	return suite;
}

int main(void)
{
	return check_main(make);
}
