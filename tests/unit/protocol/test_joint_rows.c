/* Rows of joints: rows are packed and read back in every profile; invalid bytes are refused; mirrors apply
 * frames in parts and refuse rows that contradict them. */
#include "protocol/joint_rows.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "protocol/mirror.h"
#include "protocol/pack.h"
#include "protocol/unpack.h"
#include "server/base/body_hash.h"
#include "server/base/bytes.h"
#include "server/base/rng.h"
#include "tests/lib/check_main.h"

enum { JOINTS_MAX = 300, PARTS_MAX = 64 };

static struct wire_joint joints[JOINTS_MAX];
static struct joint_row rows[JOINTS_MAX];
static uint8_t bytes[1 << 20];

static double number(struct rng *rng)
{
	return rng_range(rng, -1, 1) * pow(10, rng_range(rng, -45, 45));
}

static void numbers(struct rng *rng, double *values, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		values[i] = number(rng);
}

static struct wire_joint draw(struct rng *rng, uint32_t id)
{
	struct wire_joint joint = { .id = id,
				    .a = rng_below(rng, 9),
				    .b = rng_below(rng, UINT32_MAX),
				    .owner = rng_below(rng, UINT32_MAX),
				    .tag = (int64_t)rng_below(rng, 1000) - 500,
				    .type = (uint8_t)rng_below(rng, 256),
				    .flags = (uint8_t)rng_below(rng, 256) };
	numbers(rng, joint.point_a, 3);
	numbers(rng, joint.frame_a, 4);
	numbers(rng, joint.point_b, 3);
	numbers(rng, joint.frame_b, 4);
	numbers(rng, joint.coordinates, 6);
	numbers(rng, joint.force, 3);
	numbers(rng, joint.torque, 3);
	numbers(rng, joint.breaks, 2);
	return joint;
}

static wire_mask any_mask(struct rng *rng, wire_mask columns)
{
	wire_mask mask = 0;
	while (mask == 0)
		mask = (wire_mask)rng_below(rng, WIRE_JOINT_COLUMNS_ALL + 1) & columns;
	return mask;
}

/* Some joints, ids ascending, and rows of some of their columns. */
static uint32_t draw_rows(struct rng *rng, wire_mask columns)
{
	uint32_t count = rng_below(rng, 40), id = 0;
	for (uint32_t i = 0; i < count; i++) {
		id += 1 + rng_below(rng, i % 5 == 0 ? 1000000 : 3);
		joints[i] = draw(rng, id);
		rows[i] = (struct joint_row){ &joints[i], any_mask(rng, columns) };
	}
	return count;
}

static struct wire_slice pack(enum wire_profile profile, wire_mask columns, uint32_t count)
{
	struct wire_packer out = wire_packer_over(bytes, sizeof bytes);
	joint_rows_pack(&out, profile, columns, rows, count);
	ck_assert_int_eq(wire_packer_status(&out), STATUS_OK);
	return wire_packer_slice(&out);
}

START_TEST(rows_are_read_as_they_were_written_in_every_profile)
{
	enum wire_profile profile = (enum wire_profile)_i;
	struct rng rng = rng_seeded(check_seed());
	for (int round = 0; round < 300; round++) {
		wire_mask columns = any_mask(&rng, WIRE_JOINT_COLUMNS_ALL);
		uint32_t count = draw_rows(&rng, columns);
		struct joint_reader reader;
		struct wire_joint got;
		wire_mask mask;
		ck_assert_int_eq(
			joint_rows_open(&reader, profile, columns, pack(profile, columns, count)),
			STATUS_OK);
		ck_assert_uint_eq(reader.left, count);
		for (uint32_t i = 0; i < count; i++) {
			struct wire_joint meant = joints[i];
			wire_joint_show(profile, &meant);
			memset(&got, 0, sizeof got);
			ck_assert_int_eq(joint_rows_next(&reader, &got, &mask), STATUS_OK);
			ck_assert_uint_eq(got.id, joints[i].id);
			ck_assert_uint_eq(mask,
					  profile == WIRE_PROFILE_PLAIN ? columns : rows[i].mask);
			ck_assert_uint_eq(wire_joint_differs(&got, &meant) & mask, 0);
			ck_assert_uint_eq(wire_joint_hash(profile, &got, mask),
					  wire_joint_hash(profile, &joints[i], mask));
		}
		ck_assert_int_eq(joint_rows_next(&reader, &got, &mask), STATUS_MISSING);
	}
}
END_TEST

START_TEST(floats_are_the_nearest_finite_ones)
{
	static const double values[][2] = {
		{ 1 + 0x1p-24, 1 }, /* half way: to the even one */
		{ 1 + 0x3p-24, 1 + 0x1p-22 },
		{ 1e300, (double)FLT_MAX },
		{ -1e300, -(double)FLT_MAX },
		{ 0x1p-149, 0x1p-149 },
		{ 0x1p-151, 0 },
		{ (double)FLT_MAX * (1 + 0x1p-30), (double)FLT_MAX },
	};
	for (uint32_t i = 0; i < COUNT_OF(values); i++) {
		struct wire_joint joint = { .id = 1, .coordinates = { values[i][0] } };
		wire_joint_show(WIRE_PROFILE_EXACT, &joint);
		ck_assert(joint.coordinates[0] == values[i][0]);
		wire_joint_show(WIRE_PROFILE_SIM, &joint);
		ck_assert_msg(joint.coordinates[0] == values[i][1], "%a", joint.coordinates[0]);
	}
}
END_TEST

/* A block is refused if it is truncated at any byte, or has a byte more. */
START_TEST(truncated_or_too_long_rows_are_refused)
{
	enum wire_profile profile = (enum wire_profile)_i;
	struct rng rng = rng_seeded(check_seed());
	uint32_t count = 0;
	while (count < 3)
		count = draw_rows(&rng, WIRE_JOINT_COLUMNS_ALL);
	struct wire_slice whole = pack(profile, WIRE_JOINT_COLUMNS_ALL, 3);
	struct joint_reader reader;
	for (uint32_t cut = 0; cut < whole.bytes; cut++) {
		/* As a bin of `cut` bytes, so that the header is correct. */
		uint8_t shorter[4096] = { 0xC5, (uint8_t)(cut >> 8), (uint8_t)cut };
		uint32_t head = profile == WIRE_PROFILE_PLAIN ? 0 : 3;
		uint32_t skip = profile == WIRE_PROFILE_PLAIN ? 0 : whole.at[0] == 0xC4 ? 2 : 3;
		if (cut + skip >= whole.bytes)
			break;
		memcpy(shorter + head, whole.at + skip, cut);
		struct wire_slice value = { shorter, head + cut };
		if (profile == WIRE_PROFILE_PLAIN && cut == 0)
			continue;
		ck_assert_int_eq(joint_rows_open(&reader, profile, WIRE_JOINT_COLUMNS_ALL, value),
				 STATUS_MALFORMED);
	}
	memcpy(bytes + whole.bytes, "\1", 1);
	struct wire_slice longer = { whole.at, whole.bytes + 1 };
	ck_assert_int_eq(joint_rows_open(&reader, profile, WIRE_JOINT_COLUMNS_ALL, longer),
			 STATUS_MALFORMED);
}
END_TEST

struct value {
	uint8_t bytes[24];
	uint32_t count;
};
#define VALUE(...)                                                                                 \
	{                                                                                          \
		{ __VA_ARGS__ }, sizeof((uint8_t[]){ __VA_ARGS__ })                                \
	}

static struct wire_slice slice_of(const struct value *value)
{
	return (struct wire_slice){ value->bytes, value->count };
}

START_TEST(invalid_rows_are_refused)
{
	static const struct {
		const char *what;
		struct value value;
	} cases[] = {
		{ "nil", VALUE(0xC0) },
		{ "a list", VALUE(0x90) },
		{ "nothing within", VALUE(0xC4, 0) },
		{ "more rows than bytes", VALUE(0xC4, 2, 5, 0) },
		{ "a mask of nothing", VALUE(0xC4, 3, 1, 0, 0) },
		{ "a mask of a column not asked for", VALUE(0xC4, 3, 1, 0, 32) },
		{ "a mask cut short", VALUE(0xC4, 3, 1, 0, 0x90) },
		{ "a second mask byte of nothing", VALUE(0xC4, 4, 1, 0, 0x90, 0) },
		{ "a column cut short", VALUE(0xC4, 5, 1, 0, 16, 1, 2) },
		{ "an id beyond 32 bits", VALUE(0xC4, 8, 1, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 16, 0) },
		{ "a byte behind",
		  VALUE(0xC4, 16, 1, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9) },
	};
	struct joint_reader reader;
	for (uint32_t i = 0; i < COUNT_OF(cases); i++)
		ck_assert_msg(joint_rows_open(&reader, WIRE_PROFILE_EXACT, WIRE_JOINT_OWNER,
					      slice_of(&cases[i].value)) == STATUS_MALFORMED,
			      "%s", cases[i].what);
	/* In profile plain ids must ascend, and a row has all its items. */
	static const struct value plain[] = {
		VALUE(0x92, 0x93, 2, 0, 0, 0x93, 2, 0, 0),
		VALUE(0x91, 0x92, 1, 0),
		VALUE(0x91, 0x93, 0, 0, 0),
		VALUE(0x91, 0x93, 1, 0xC0, 0),
		VALUE(0x91, 5),
	};
	for (uint32_t i = 0; i < COUNT_OF(plain); i++) {
		struct wire_joint joint;
		wire_mask mask;
		enum status status = joint_rows_open(&reader, WIRE_PROFILE_PLAIN, WIRE_JOINT_OWNER,
						     slice_of(&plain[i]));
		while (status == STATUS_OK)
			status = joint_rows_next(&reader, &joint, &mask);
		ck_assert_int_eq(status, STATUS_MALFORMED);
	}
}
END_TEST

START_TEST(numbers_that_are_not_finite_are_refused)
{
	static const uint64_t bad[] = { 0x7FF0000000000000, 0xFFF0000000000000,
					0x7FF8000000000001 };
	static const uint32_t narrow[] = { 0x7F800000, 0xFF800000, 0x7FC00001 };
	for (uint32_t i = 0; i < 2 * COUNT_OF(bad); i++) {
		bool wide = i < COUNT_OF(bad);
		enum wire_profile profile = wide ? WIRE_PROFILE_EXACT : WIRE_PROFILE_VIEW;
		struct wire_joint joint = { .id = 1 };
		struct joint_reader reader;
		wire_mask mask;
		rows[0] = (struct joint_row){ &joint, WIRE_JOINT_BREAK };
		struct wire_slice value = pack(profile, WIRE_JOINT_BREAK, 1);
		if (wide)
			put_le64(bytes + value.bytes - 8, bad[i]);
		else
			put_le32(bytes + value.bytes - 4, narrow[i - COUNT_OF(bad)]);
		ck_assert_int_eq(joint_rows_open(&reader, profile, WIRE_JOINT_BREAK, value),
				 STATUS_OK);
		ck_assert_int_eq(joint_rows_next(&reader, &joint, &mask), STATUS_MALFORMED);
	}
}
END_TEST

/* ---- mirrors ------------------------------------------------------------------------------------- */

static uint64_t hash_of(const struct joint_frame *frame, uint32_t count)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < count; i++)
		sum += wire_joint_hash(frame->profile, &joints[i], frame->columns);
	return body_hash_finish(frame->tick, sum, count);
}

/* A frame of no bodies, with ROWS announced. */
static enum status announce(struct mirror *mirror, uint64_t tick, bool snapshot, uint8_t flags)
{
	static const uint8_t none[] = { 0xC4, 1, 0 }, list[] = { 0x90 };
	bool last;
	struct wire_slice empty = mirror->profile == WIRE_PROFILE_PLAIN
					  ? (struct wire_slice){ list, 1 }
					  : (struct wire_slice){ none, 3 };
	struct msg_snapshot first = { .tick = tick, .of = 1, .flags = flags | 1, .columns = empty };
	struct msg_delta next = {
		.tick = tick, .base = mirror->tick, .of = 1, .flags = flags | 1, .columns = empty
	};
	enum status status = snapshot ? mirror_snapshot(mirror, &first, &last)
				      : mirror_delta(mirror, &next, &last);
	ck_assert(status != STATUS_OK || last == !(flags & WIRE_FRAME_ROWS));
	return status;
}

/* Sends ROWS in parts; returns their number. */
static uint32_t deliver(struct mirror *mirror, const struct joint_frame *frame)
{
	static struct delta_part parts[PARTS_MAX];
	uint32_t count, size;
	ck_assert_int_eq(joint_rows_plan(frame, WIRE_FRAME_MIN, parts, PARTS_MAX, &count),
			 STATUS_OK);
	for (uint32_t p = 0; p < count; p++) {
		uint8_t *tail = bytes + WIRE_HEAD_MAX, head[WIRE_HEAD_MAX];
		struct message message;
		bool last;
		ck_assert_int_eq(
			joint_rows_pack_tail(frame, parts, count, p, tail, WIRE_FRAME_MIN, &size),
			STATUS_OK);
		uint32_t before = message_pack_head(MESSAGE_ROWS, 1, size, false, head);
		memcpy(tail - before, head, before);
		ck_assert_uint_le(before + size, WIRE_FRAME_MIN);
		ck_assert_int_eq(
			message_read(tail - before, before + size, &VALIDATE_DOWN, &message, NULL),
			STATUS_OK);
		ck_assert_int_eq(mirror_take(mirror, &message, &last), STATUS_OK);
		ck_assert(last == (p + 1 == count) && mirror->complete == last);
	}
	return count;
}

START_TEST(mirrors_follow_rows_in_parts)
{
	enum wire_profile profile = (enum wire_profile)_i;
	struct rng rng = rng_seeded(check_seed());
	struct mirror mirror;
	uint32_t removed[JOINTS_MAX], most = 0;
	mirror_init(&mirror, profile, WIRE_COLUMNS_TICK, 10);
	mirror_watch_joints(&mirror, WIRE_JOINT_COLUMNS_ALL, JOINTS_MAX);
	uint32_t count = 0, next_id = 1;
	for (uint64_t tick = 1; tick < 60; tick++) {
		bool snapshot = tick % 20 == 1;
		struct joint_frame frame = { .profile = profile,
					     .columns = WIRE_JOINT_COLUMNS_ALL,
					     .tick = tick,
					     .flags = snapshot ? WIRE_FRAME_WHOLE : 0,
					     .removed = removed,
					     .rows = rows };
		uint32_t kept = 0;
		for (uint32_t i = 0; i < count; i++) {
			if (rng_below(&rng, 8) == 0) {
				removed[frame.removed_count++] = joints[i].id;
				continue;
			}
			joints[kept] = joints[i];
			wire_mask mask = any_mask(&rng, WIRE_JOINT_COLUMNS_ALL);
			struct wire_joint other = draw(&rng, joints[kept].id);
			if (!snapshot && rng_below(&rng, 2) == 0)
				mask = 0;
			wire_joint_copy(&joints[kept], &other, mask);
			mask = snapshot ? WIRE_JOINT_COLUMNS_ALL : mask;
			if (mask != 0)
				rows[frame.row_count++] = (struct joint_row){ &joints[kept], mask };
			kept++;
		}
		for (count = kept; count < JOINTS_MAX && rng_below(&rng, 30) != 0; count++) {
			next_id += 1 + rng_below(&rng, 3);
			joints[count] = draw(&rng, next_id);
			rows[frame.row_count++] =
				(struct joint_row){ &joints[count], WIRE_JOINT_COLUMNS_ALL };
		}
		frame.removed_count = snapshot ? 0 : frame.removed_count;
		frame.hash = (struct wire_hash){ true, hash_of(&frame, count) };
		ck_assert_int_eq(announce(&mirror, tick, snapshot, WIRE_FRAME_ROWS), STATUS_OK);
		uint32_t parts = deliver(&mirror, &frame);
		most = MAX_OF(most, parts);
		ck_assert_uint_eq(mirror.tick, tick);
		ck_assert_uint_eq(mirror.joints.count, count);
		for (uint32_t i = 0; i < count; i++)
			ck_assert_ptr_eq(mirror_joints_find(&mirror.joints, joints[i].id),
					 &mirror.joints.items[i]);
	}
	ck_assert_uint_gt(most, 2);
	mirror_release(&mirror);
}
END_TEST

static const struct wire_joint one = { .id = 5, .a = 1, .b = 2 };

static struct msg_rows rows_of(wire_mask mask, uint64_t tick)
{
	rows[0] = (struct joint_row){ &one, mask };
	return (struct msg_rows){ .tick = tick,
				  .kind = WIRE_VISIBLE_JOINT,
				  .of = 1,
				  .columns = pack(WIRE_PROFILE_EXACT, WIRE_JOINT_COLUMNS_ALL, 1) };
}

static struct mirror begin(void)
{
	struct mirror mirror;
	mirror_init(&mirror, WIRE_PROFILE_EXACT, WIRE_COLUMNS_TICK, 10);
	mirror_watch_joints(&mirror, WIRE_JOINT_COLUMNS_ALL, 1);
	ck_assert_int_eq(announce(&mirror, 1, true, WIRE_FRAME_ROWS), STATUS_OK);
	ck_assert(!mirror.complete);
	return mirror;
}

static void refuses(struct mirror *mirror, const struct msg_rows *frame, enum status status)
{
	bool last;
	ck_assert_int_eq(mirror_rows(mirror, frame, &last), status);
	ck_assert(!mirror->complete);
	mirror_release(mirror);
}

START_TEST(rows_that_contradict_a_mirror_are_refused)
{
	static const uint8_t gone[] = { 0xC4, 2, 1, 6 };
	struct msg_rows frame = rows_of(WIRE_JOINT_COLUMNS_ALL, 2);
	struct mirror mirror = begin();
	refuses(&mirror, &frame, STATUS_SEQUENCE); /* of another tick */
	mirror = begin();
	frame.tick = 1;
	frame.kind = 2;
	refuses(&mirror, &frame, STATUS_MALFORMED); /* of another kind */
	mirror = begin();
	frame = rows_of(WIRE_JOINT_COLUMNS_ALL, 1);
	frame.part = 1;
	refuses(&mirror, &frame, STATUS_SEQUENCE); /* not the first part */
	mirror = begin();
	frame.part = 0;
	frame.of = 0;
	refuses(&mirror, &frame, STATUS_MALFORMED);
	mirror = begin();
	frame = rows_of(WIRE_JOINT_OWNER, 1);
	refuses(&mirror, &frame, STATUS_MALFORMED); /* a new one that is not whole */
	mirror = begin();
	frame = rows_of(WIRE_JOINT_COLUMNS_ALL, 1);
	frame.removed = (struct wire_slice){ gone, sizeof gone };
	refuses(&mirror, &frame, STATUS_MALFORMED); /* one that is not there goes */
	mirror = begin();
	mirror.joints.max = 0;
	frame = rows_of(WIRE_JOINT_COLUMNS_ALL, 1);
	refuses(&mirror, &frame, STATUS_LIMIT);
	mirror = begin();
	frame.hash = (struct wire_hash){ true, 1 };
	refuses(&mirror, &frame, STATUS_DIVERGED);
	/* A mirror without a subscription to joints refuses ROWS. */
	mirror_init(&mirror, WIRE_PROFILE_EXACT, WIRE_COLUMNS_TICK, 10);
	ck_assert_int_eq(announce(&mirror, 1, true, WIRE_FRAME_ROWS), STATUS_MALFORMED);
	ck_assert_int_eq(announce(&mirror, 1, true, 0), STATUS_OK);
	frame = rows_of(WIRE_JOINT_COLUMNS_ALL, 1);
	refuses(&mirror, &frame, STATUS_SEQUENCE);
	/* A DELTA is refused while the frame before it lacks its ROWS. */
	mirror = begin();
	ck_assert_int_eq(announce(&mirror, 2, false, 0), STATUS_SEQUENCE);
	mirror_release(&mirror);
}
END_TEST

START_TEST(a_snapshot_without_rows_leaves_no_joints)
{
	struct mirror mirror = begin();
	struct msg_rows frame = rows_of(WIRE_JOINT_COLUMNS_ALL, 1);
	bool last;
	ck_assert_int_eq(mirror_rows(&mirror, &frame, &last), STATUS_OK);
	ck_assert(last && mirror.joints.count == 1);
	/* A DELTA that announces none leaves them as they are. */
	ck_assert_int_eq(announce(&mirror, 2, false, 0), STATUS_OK);
	ck_assert_uint_eq(mirror.joints.count, 1);
	/* One that tells the whole set anew begins with none. */
	ck_assert_int_eq(announce(&mirror, 3, false, WIRE_FRAME_ROWS), STATUS_OK);
	frame = rows_of(WIRE_JOINT_COLUMNS_ALL, 3);
	frame.flags = WIRE_FRAME_WHOLE;
	ck_assert_int_eq(mirror_rows(&mirror, &frame, &last), STATUS_OK);
	ck_assert_uint_eq(mirror.joints.count, 1);
	ck_assert_int_eq(announce(&mirror, 4, true, 0), STATUS_OK);
	ck_assert_uint_eq(mirror.joints.count, 0);
	mirror_release(&mirror);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("protocol/joint_rows");
	TCase *values = tcase_create("rows");
	tcase_add_loop_test(values, rows_are_read_as_they_were_written_in_every_profile, 0, 4);
	tcase_add_test(values, floats_are_the_nearest_finite_ones);
	tcase_add_loop_test(values, truncated_or_too_long_rows_are_refused, 0, 4);
	tcase_add_test(values, invalid_rows_are_refused);
	tcase_add_test(values, numbers_that_are_not_finite_are_refused);
	suite_add_tcase(suite, values);
	TCase *mirrors = tcase_create("mirrors");
	tcase_add_loop_test(mirrors, mirrors_follow_rows_in_parts, 0, 4);
	tcase_add_test(mirrors, rows_that_contradict_a_mirror_are_refused);
	tcase_add_test(mirrors, a_snapshot_without_rows_leaves_no_joints);
	suite_add_tcase(suite, mirrors);
	return suite;
}

int main(void)
{
	return check_main(make);
}
