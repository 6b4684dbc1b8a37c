/* Every message is packed and read back; truncation, wrong types and values out of range are refused by field
 * name; unpacking allocates nothing. */
#include "protocol/unpack.h"

#include <malloc.h>
#include <string.h>

#include "protocol/cursor.h"
#include "protocol/frame.h"
#include "protocol/pack.h"
#include "server/base/heap.h"
#include "server/base/rng.h"
#include "tests/lib/check_main.h"
#include "tests/lib/gen_message.h"

enum { SCRATCH = 1 << 18, ROUNDS = 40 };
static uint8_t scratch_bytes[SCRATCH], frame[SCRATCH], again[SCRATCH];

static struct wire_packer scratch(void)
{
	return wire_packer_over(scratch_bytes, sizeof scratch_bytes);
}

/* Calls `each` for every message that is not reserved. */
static void for_each(void (*each)(const struct message_info *info, struct rng *rng))
{
	struct rng rng = rng_seeded(check_seed());
	for (size_t i = 0; message_info_at(i) != NULL; i++) {
		if (!message_info_at(i)->reserved)
			each(message_info_at(i), &rng);
	}
}

static void round_trip(const struct message_info *info, struct rng *rng)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct message sent, got;
		struct wire_packer space = scratch();
		struct wire_slice content;
		uint32_t bytes, second;
		size_t whole;
		gen_message(rng, info->type, &sent, &space);
		ck_assert_int_eq(message_pack(&sent, frame, sizeof frame, &bytes), STATUS_OK);
		ck_assert_int_eq(frame_split(frame, bytes, sizeof frame, &content, &whole),
				 STATUS_OK);
		ck_assert_uint_eq(whole, bytes);
		ck_assert_int_eq(
			message_read(content.at, content.bytes, &VALIDATE_DOWN, &got, NULL),
			STATUS_OK);
		ck_assert_ptr_null(gen_message_difference(&sent, &got));
		/* message_read, which relies on the validator, gives the same message as message_unpack. */
		ck_assert_int_eq(message_unpack(content.at, content.bytes, &got, NULL), STATUS_OK);
		ck_assert_ptr_null(gen_message_difference(&sent, &got));
		ck_assert_int_eq(message_pack(&got, again, sizeof again, &second), STATUS_OK);
		ck_assert_uint_eq(second, bytes);
		ck_assert_mem_eq(again, frame, bytes);
	}
}

START_TEST(every_message_is_read_as_it_was_packed)
{
	for_each(round_trip);
}
END_TEST

static void cut_everywhere(const struct message_info *info, struct rng *rng)
{
	struct message sent, got;
	struct wire_packer space = scratch();
	uint32_t bytes;
	gen_message(rng, info->type, &sent, &space);
	ck_assert_int_eq(message_pack_content(&sent, frame, sizeof frame, &bytes), STATUS_OK);
	for (uint32_t cut = 0; cut < bytes; cut++) {
		ck_assert_int_eq(validate_content(frame, cut, &VALIDATE_DOWN, NULL),
				 STATUS_MALFORMED);
		/* Without the validator: no crash, and never taken for whole. */
		ck_assert_int_ne(message_unpack(frame, cut, &got, NULL), STATUS_OK);
	}
}

START_TEST(a_message_cut_at_any_byte_is_refused)
{
	for_each(cut_everywhere);
}
END_TEST

static void no_room(const struct message_info *info, struct rng *rng)
{
	struct message sent;
	struct wire_packer space = scratch();
	uint32_t bytes, ignored;
	gen_message(rng, info->type, &sent, &space);
	ck_assert_int_eq(message_pack(&sent, frame, sizeof frame, &bytes), STATUS_OK);
	for (uint32_t room = 0; room < MIN_OF(bytes, 400u); room++) {
		again[room] = 0x5a;
		ck_assert_int_eq(message_pack(&sent, again, room, &ignored), STATUS_FULL);
		ck_assert_uint_eq(again[room], 0x5a);
	}
	ck_assert_int_eq(message_pack(&sent, again, bytes, &ignored), STATUS_OK);
}

START_TEST(a_buffer_that_is_too_small_is_not_overrun)
{
	for_each(no_room);
}
END_TEST

/* Packs fields [0, count) of a message, field `wrong` (if < count) replaced by the value `bad`. */
static uint32_t pack_with(const struct message *sent, const struct message_info *info,
			  uint32_t count, uint32_t wrong, struct wire_slice bad)
{
	uint32_t bytes;
	ck_assert_int_eq(message_pack_content(sent, again, sizeof again, &bytes), STATUS_OK);
	struct wire_cursor in = wire_cursor_over(again, bytes);
	struct wire_token token;
	bool map = info->layout == WIRE_LAYOUT_MAP;
	struct wire_packer out = wire_packer_over(frame, sizeof frame);
	wire_pack_array(&out, map ? 2 : 1 + count);
	wire_pack_uint(&out, (uint64_t)info->type);
	if (map)
		wire_pack_map(&out, count);
	for (int i = 0; i < (map ? 3 : 2); i++)
		ck_assert_int_eq(wire_next(&in, &token), STATUS_OK);
	for (uint32_t i = 0; i < count; i++) {
		struct wire_slice value;
		for (int part = 0; part < (map ? 2 : 1); part++) {
			ck_assert_int_eq(wire_skip(&in, &value), STATUS_OK);
			bool replace = i == wrong && part == (map ? 1 : 0);
			wire_pack_raw(&out, replace ? bad.at : value.at,
				      replace ? bad.bytes : value.bytes);
		}
	}
	ck_assert_int_eq(wire_packer_status(&out), STATUS_OK);
	return out.bytes;
}

#define VALUE(...)                                                                                 \
	(struct wire_slice)                                                                        \
	{                                                                                          \
		(const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })         \
	}

/* May a field of this kind hold a value of that type (nil, true, 7, -1, 0.5, "", bin, [], {})? */
static bool fits(const struct message_field *field, enum wire_token_type type)
{
	switch (field->kind) {
	case WIRE_KIND_UINT:
	case WIRE_KIND_INT:
		return type == WIRE_TOKEN_INTEGER;
	case WIRE_KIND_REAL:
		return type == WIRE_TOKEN_INTEGER || type == WIRE_TOKEN_REAL;
	case WIRE_KIND_TEXT:
		return type == WIRE_TOKEN_TEXT;
	case WIRE_KIND_BIN:
	case WIRE_KIND_HASH:
		return type == WIRE_TOKEN_BIN || type == WIRE_TOKEN_NIL;
	case WIRE_KIND_NAME:
		return type == WIRE_TOKEN_BIN;
	case WIRE_KIND_OPTION:
		return type == WIRE_TOKEN_INTEGER || type == WIRE_TOKEN_NIL;
	case WIRE_KIND_BOX:
		return type == WIRE_TOKEN_ARRAY || type == WIRE_TOKEN_NIL;
	case WIRE_KIND_LIMITS:
	case WIRE_KIND_MAP:
		return type == WIRE_TOKEN_MAP;
	case WIRE_KIND_RAW:
		return true;
	default:
		return type == WIRE_TOKEN_ARRAY;
	}
}

static void wrong_type(const struct message_info *info, struct rng *rng)
{
	const struct {
		enum wire_token_type type;
		struct wire_slice value;
	} bad[] = {
		{ WIRE_TOKEN_NIL, VALUE(0xc0) },
		{ WIRE_TOKEN_BOOL, VALUE(0xc3) },
		{ WIRE_TOKEN_INTEGER, VALUE(7) },
		{ WIRE_TOKEN_REAL, VALUE(0xca, 0x3f, 0, 0, 0) },
		{ WIRE_TOKEN_TEXT, VALUE(0xa1, 'x') },
		{ WIRE_TOKEN_BIN, VALUE(0xc4, 1, 2) },
		{ WIRE_TOKEN_ARRAY, VALUE(0x90) },
		{ WIRE_TOKEN_MAP, VALUE(0x80) },
	};
	for (uint32_t f = 0; f < info->field_count; f++) {
		for (size_t i = 0; i < COUNT_OF(bad); i++) {
			struct message sent, got;
			struct reason why;
			struct wire_packer space = scratch();
			if (fits(&info->fields[f], bad[i].type))
				continue;
			gen_message(rng, info->type, &sent, &space);
			uint32_t bytes = pack_with(&sent, info, info->field_count, f, bad[i].value);
			ck_assert_int_eq(message_read(frame, bytes, &VALIDATE_DOWN, &got, &why),
					 STATUS_TYPE);
			ck_assert_str_eq(why.field, info->fields[f].name);
			ck_assert(!wire_status_closes(why.status));
		}
	}
}

START_TEST(a_wrong_type_is_refused_in_every_field_by_name)
{
	for_each(wrong_type);
}
END_TEST

static void out_of_range(const struct message_info *info, struct rng *rng)
{
	for (uint32_t f = 0; f < info->field_count; f++) {
		const struct message_field *field = &info->fields[f];
		struct message sent, got;
		struct reason why;
		struct wire_packer space = scratch();
		uint8_t bytes[16];
		struct wire_packer value = wire_packer_over(bytes, sizeof bytes);
		if (field->kind != WIRE_KIND_UINT && field->kind != WIRE_KIND_OPTION)
			continue;
		/* One more than the most, and one less than the least. */
		if (field->max < (double)WIRE_INTEGER_MAX && rng_below(rng, 2) == 0)
			wire_pack_uint(&value, (uint64_t)field->max + 1);
		else
			wire_pack_int(&value, -1);
		gen_message(rng, info->type, &sent, &space);
		uint32_t count =
			pack_with(&sent, info, info->field_count, f, wire_packer_slice(&value));
		ck_assert_int_eq(message_read(frame, count, &VALIDATE_DOWN, &got, &why),
				 STATUS_RANGE);
		ck_assert_str_eq(why.field, field->name);
	}
}

START_TEST(numbers_out_of_bounds_are_refused_by_name)
{
	for (int round = 0; round < 8; round++)
		for_each(out_of_range);
}
END_TEST

static void missing_fields(const struct message_info *info, struct rng *rng)
{
	struct message sent, got, fallbacks;
	struct wire_packer space = scratch();
	gen_message(rng, info->type, &sent, &space);
	message_init(&fallbacks, info->type);
	for (uint32_t count = 0; count <= info->field_count; count++) {
		uint32_t bytes = pack_with(&sent, info, count, UINT32_MAX, VALUE(0));
		bool enough = count == info->field_count || !info->fields[count].needed;
		struct reason why;
		ck_assert_int_eq(message_read(frame, bytes, &VALIDATE_DOWN, &got, &why),
				 enough ? STATUS_OK : STATUS_TYPE);
		if (!enough)
			ck_assert_str_eq(why.field, info->fields[count].name);
	}
	/* With the needed ones alone, the rest is as message_init left it. */
	uint32_t needed = 0;
	while (needed < info->field_count && info->fields[needed].needed)
		needed++;
	uint32_t bytes = pack_with(&sent, info, needed, UINT32_MAX, VALUE(0));
	ck_assert_int_eq(message_read(frame, bytes, &VALIDATE_DOWN, &got, NULL), STATUS_OK);
	uint32_t end = needed < info->field_count ? info->fields[needed].offset : sizeof got;
	memcpy(&fallbacks, &got, end);
	ck_assert_mem_eq((uint8_t *)&got + end, (uint8_t *)&fallbacks + end, sizeof got - end);
}

START_TEST(missing_fields_are_named_or_take_their_fallback)
{
	for_each(missing_fields);
}
END_TEST

static void extra_fields(const struct message_info *info, struct rng *rng)
{
	struct message sent, got;
	struct wire_packer space = scratch();
	uint32_t bytes;
	gen_message(rng, info->type, &sent, &space);
	ck_assert_int_eq(message_pack_content(&sent, frame, sizeof frame, &bytes), STATUS_OK);
	bool map = info->layout == WIRE_LAYOUT_MAP;
	/* A newer peer appends fields; here the header's count is one byte. */
	frame[map ? 2 : 0]++;
	if (info->field_count >= 15 || (!map && info->field_count >= 14))
		return;
	static const uint8_t MORE[] = { 0xa3, 'n', 'e', 'w', 0x92, 1, 0xc0 };
	uint32_t skip = map ? 0 : 4;
	memcpy(frame + bytes, MORE + skip, sizeof MORE - skip);
	bytes += (uint32_t)sizeof MORE - skip;
	ck_assert_int_eq(message_read(frame, bytes, &VALIDATE_DOWN, &got, NULL), STATUS_OK);
	ck_assert_ptr_null(gen_message_difference(&sent, &got));
}

START_TEST(fields_of_a_newer_version_are_ignored)
{
	for_each(extra_fields);
}
END_TEST

START_TEST(reading_allocates_nothing)
{
	struct rng rng = rng_seeded(check_seed());
	uint64_t calls = heap_calls();
	struct mallinfo2 before = mallinfo2();
	for (size_t i = 0; message_info_at(i) != NULL; i++) {
		if (!message_info_at(i)->reserved)
			round_trip(message_info_at(i), &rng);
	}
	struct mallinfo2 after = mallinfo2();
	ck_assert_uint_eq(heap_calls(), calls);
	ck_assert_uint_eq(after.uordblks, before.uordblks);
}
END_TEST

START_TEST(unknown_and_reserved_numbers_have_different_errors)
{
	struct message got;
	struct reason why;
	ck_assert_int_eq(message_unpack((const uint8_t[]){ 0x91, 9 }, 2, &got, &why),
			 STATUS_UNKNOWN_MESSAGE);
	ck_assert_int_eq(message_unpack((const uint8_t[]){ 0x91, 127 }, 2, &got, &why),
			 STATUS_UNKNOWN_MESSAGE);
	for (size_t i = 0; message_info_at(i) != NULL; i++) {
		const struct message_info *info = message_info_at(i);
		const uint8_t bytes[] = { 0x92, (uint8_t)info->type, 0xc0 };
		if (info->reserved)
			ck_assert_int_eq(message_unpack(bytes, 3, &got, &why), STATUS_UNSUPPORTED);
	}
}
END_TEST

START_TEST(a_refused_request_still_has_its_ref)
{
	/* QUERY(id 77, world "x"): the world is wrong, the id is known. */
	static const uint8_t BYTES[] = { 0x94, 50, 77, 0xa1, 'x', 0x90 };
	struct message got, error;
	struct reason why;
	ck_assert_int_eq(message_read(BYTES, sizeof BYTES, &VALIDATE_UP, &got, &why), STATUS_TYPE);
	message_error(&error, &got, &why);
	ck_assert_uint_eq(error.error.ref, 77);
	ck_assert_uint_eq(error.error.about, MESSAGE_QUERY);
	ck_assert_uint_eq(error.error.code, STATUS_TYPE);
	ck_assert(wire_slice_is(error.error.field, "world"));
	uint32_t bytes;
	ck_assert_int_eq(message_pack(&error, frame, sizeof frame, &bytes), STATUS_OK);
}
END_TEST

START_TEST(the_ref_of_a_batch_is_its_number)
{
	struct message message;
	message_init(&message, MESSAGE_COMMANDS);
	message.commands.world = 3;
	message.commands.batch = 12;
	ck_assert_uint_eq(message_ref(&message), 12);
	message_init(&message, MESSAGE_STEP);
	message.step.world = 3;
	message.step.request = 13;
	ck_assert_uint_eq(message_ref(&message), 13);
	message_init(&message, MESSAGE_HELLO);
	ck_assert_uint_eq(message_ref(&message), 0);
}
END_TEST

START_TEST(a_message_that_unpack_refuses_is_not_packed)
{
	struct message message;
	uint32_t bytes;
	message_init(&message, MESSAGE_STEP);
	message.step.n = WIRE_STEPS_MAX + 1;
	ck_assert_int_eq(message_pack(&message, frame, sizeof frame, &bytes), STATUS_RANGE);
	message_init(&message, MESSAGE_SAVE);
	message.save.name = wire_text("\xff");
	ck_assert_int_eq(message_pack(&message, frame, sizeof frame, &bytes), STATUS_TYPE);
	message_init(&message, MESSAGE_CONTROL);
	message.control.value = 2e6;
	ck_assert_int_eq(message_pack(&message, frame, sizeof frame, &bytes), STATUS_RANGE);
	message_init(&message, MESSAGE_FOLLOW);
	ck_assert_int_eq(message_pack(&message, frame, sizeof frame, &bytes), STATUS_UNSUPPORTED);
}
END_TEST

START_TEST(a_shared_tail_and_any_head_make_the_same_frame)
{
	static const enum message_type TYPES[] = { MESSAGE_SNAPSHOT, MESSAGE_DELTA, MESSAGE_EVENTS,
						   MESSAGE_NOTICE };
	static const uint64_t SUBS[] = { 0, 1, 127, 128, 65536, (uint64_t)WIRE_INTEGER_MAX };
	struct rng rng = rng_seeded(check_seed());
	for (size_t t = 0; t < COUNT_OF(TYPES); t++) {
		struct message message;
		struct wire_packer space = scratch();
		uint32_t tail, bytes;
		gen_message(&rng, TYPES[t], &message, &space);
		ck_assert_int_eq(message_pack_tail(&message, again + WIRE_HEAD_MAX,
						   sizeof again - WIRE_HEAD_MAX, &tail),
				 STATUS_OK);
		for (size_t s = 0; s < COUNT_OF(SUBS); s++) {
			uint8_t head[WIRE_HEAD_MAX];
			/* `sub` is the first field of each. */
			message.delta.sub = SUBS[s];
			ck_assert_int_eq(message_pack(&message, frame, sizeof frame, &bytes),
					 STATUS_OK);
			uint32_t count = message_pack_head(TYPES[t], SUBS[s], tail, true, head);
			ck_assert_uint_eq(count + tail, bytes);
			ck_assert_mem_eq(frame, head, count);
			ck_assert_mem_eq(frame + count, again + WIRE_HEAD_MAX, tail);
			uint32_t bare = message_pack_head(TYPES[t], SUBS[s], tail, false, head);
			ck_assert_uint_eq(bare, count - WIRE_FRAME_HEADER);
			ck_assert_mem_eq(frame + WIRE_FRAME_HEADER, head, bare);
		}
	}
}
END_TEST

START_TEST(values_of_maps_are_found_by_key)
{
	static const uint8_t PAIRS[] = {
		0xa1, 'a', 1, 0xa1, 'b', 0x92, 2, 3, 0xa2, 'b', 'c', 0xc0
	};
	struct wire_list map = { PAIRS, sizeof PAIRS, 3 };
	struct wire_slice value;
	ck_assert_int_eq(wire_map_find(&map, "b", &value), STATUS_OK);
	ck_assert_uint_eq(value.bytes, 3);
	ck_assert_int_eq(wire_map_find(&map, "bc", &value), STATUS_OK);
	ck_assert_uint_eq(value.bytes, 1);
	ck_assert_int_eq(wire_map_find(&map, "c", &value), STATUS_MISSING);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("protocol/unpack");
	TCase *trip = tcase_create("round trip");
	tcase_add_test(trip, every_message_is_read_as_it_was_packed);
	tcase_add_test(trip, a_message_cut_at_any_byte_is_refused);
	tcase_add_test(trip, a_buffer_that_is_too_small_is_not_overrun);
	tcase_add_test(trip, reading_allocates_nothing);
	tcase_add_test(trip, a_shared_tail_and_any_head_make_the_same_frame);
	suite_add_tcase(suite, trip);
	TCase *fields = tcase_create("fields");
	tcase_add_test(fields, a_wrong_type_is_refused_in_every_field_by_name);
	tcase_add_test(fields, numbers_out_of_bounds_are_refused_by_name);
	tcase_add_test(fields, missing_fields_are_named_or_take_their_fallback);
	tcase_add_test(fields, fields_of_a_newer_version_are_ignored);
	tcase_add_test(fields, a_message_that_unpack_refuses_is_not_packed);
	tcase_add_test(fields, values_of_maps_are_found_by_key);
	suite_add_tcase(suite, fields);
	TCase *answers = tcase_create("answers");
	tcase_add_test(answers, unknown_and_reserved_numbers_have_different_errors);
	tcase_add_test(answers, a_refused_request_still_has_its_ref);
	tcase_add_test(answers, the_ref_of_a_batch_is_its_number);
	suite_add_tcase(suite, answers);
	return suite;
}

int main(void)
{
	return check_main(make);
}
