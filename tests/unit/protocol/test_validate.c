/* The validator bounds counts, depth, numbers and texts of hostile frames before anything reads them. */
#include "protocol/validate.h"

#include <malloc.h>
#include <msgpack.h>
#include <string.h>

#include "protocol/cursor.h"
#include "protocol/packer.h"
#include "protocol/unpack.h"
#include "server/base/bytes.h"
#include "server/base/heap.h"
#include "server/base/rng.h"
#include "tests/lib/check_main.h"
#include "tests/lib/gen_message.h"

/* Bytes of heap in use by the whole process, including libraries. */
static size_t held(void)
{
	struct mallinfo2 info = mallinfo2();
	return info.uordblks + info.hblkhd;
}

static enum status check(const void *content, uint32_t bytes)
{
	uint64_t calls = heap_calls();
	size_t before = held();
	enum status status = validate_content(content, bytes, &VALIDATE_UP, NULL);
	struct message message;
	/* Even without the validator, unpacking is safe and allocates nothing. */
	enum status second = message_unpack(content, bytes, &message, NULL);
	UNUSED(second);
	ck_assert_uint_eq(heap_calls(), calls);
	ck_assert_uint_eq(held(), before);
	return status;
}

#define CHECK(...) check((const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

/* network 5.6: these five bytes make msgpack-c reserve 8 and 16 GiB. */
START_TEST(a_count_above_the_bytes_left_is_refused_at_its_header)
{
	ck_assert_int_eq(CHECK(0xdd, 0x0f, 0xff, 0xff, 0xff), STATUS_MALFORMED);
	ck_assert_int_eq(CHECK(0xdf, 0x0f, 0xff, 0xff, 0xff), STATUS_MALFORMED);
	ck_assert_int_eq(CHECK(0x92, 40, 0xdd, 0x0f, 0xff, 0xff, 0xff), STATUS_MALFORMED);
	ck_assert_int_eq(CHECK(0x92, 40, 0xdc, 0x00, 0x01), STATUS_MALFORMED);
	ck_assert_int_eq(CHECK(0x92, 40, 0x82, 0xa1, 'a', 1), STATUS_MALFORMED);
	ck_assert_int_eq(CHECK(0x92, 40, 0xc6, 0xff, 0xff, 0xff, 0xff, 1), STATUS_MALFORMED);
	ck_assert_int_eq(CHECK(0x92, 40, 0xdb, 0xff, 0xff, 0xff, 0xff, 1), STATUS_MALFORMED);
	/* The sum lies though no single count does. */
	ck_assert_int_eq(CHECK(0x94, 40, 0x93, 0x93, 1, 2, 3), STATUS_MALFORMED);
}
END_TEST

/* network 5.6: 155 bytes, 31 nested headers of 16.7 million. */
START_TEST(nested_false_counts_are_refused)
{
	uint8_t bytes[155];
	for (int i = 0; i < 31; i++)
		memcpy(bytes + 5 * i, (const uint8_t[]){ 0xdd, 0x00, 0xff, 0xff, 0xff }, 5);
	ck_assert_int_eq(check(bytes, sizeof bytes), STATUS_MALFORMED);
}
END_TEST

/* network 5.6: a megabyte of nils, 22 MB in msgpack-c. */
START_TEST(a_million_elements_from_a_client_are_refused)
{
	static uint8_t bytes[1000006];
	memset(bytes, 0xc0, sizeof bytes);
	memcpy(bytes, (const uint8_t[]){ 0xdd, 0x00, 0x0f, 0x42, 0x41, 40 }, 6);
	ck_assert_int_eq(check(bytes, sizeof bytes), STATUS_TOO_LARGE);
	ck_assert_int_eq(validate_content(bytes, sizeof bytes, &VALIDATE_DOWN, NULL), STATUS_OK);
}
END_TEST

START_TEST(elements_are_counted_over_the_whole_frame)
{
	static uint8_t bytes[WIRE_ELEMENTS_UP + 16];
	memset(bytes, 0xc0, sizeof bytes);
	/* [40, [nil × n]]: 2 + n elements, in a frame that is longer than any may be. */
	uint32_t n = WIRE_ELEMENTS_UP - 2;
	for (uint32_t more = 0; more < 2; more++) {
		memcpy(bytes, (const uint8_t[]){ 0x92, 40, 0xdd }, 3);
		put_be32(bytes + 3, n + more);
		ck_assert_int_eq(check(bytes, 7 + n + more), more ? STATUS_TOO_LARGE : STATUS_OK);
	}
}
END_TEST

START_TEST(eight_levels_are_allowed_and_nine_are_not)
{
	{
		uint8_t bytes[64] = { 0x92, 40 };
		uint32_t at = 2;
		for (int level = 2; level <= WIRE_DEPTH_MAX; level++)
			bytes[at++] = 0x91;
		bytes[at] = 0xc0;
		ck_assert_int_eq(check(bytes, at + 1), STATUS_OK);
		bytes[at++] = 0x91;
		bytes[at++] = 0xc0;
		ck_assert_int_eq(check(bytes, at), STATUS_TOO_DEEP);
	}
	/* An empty one counts as well. */
	ck_assert_int_eq(CHECK(0x92, 40, 0x91, 0x91, 0x91, 0x91, 0x91, 0x91, 0x91, 0x90),
			 STATUS_TOO_DEEP);
	ck_assert_int_eq(CHECK(0x92, 40, 0x91, 0x91, 0x91, 0x91, 0x91, 0x91, 0x90), STATUS_OK);
}
END_TEST

START_TEST(a_thousand_levels_end_at_the_ninth)
{
	uint8_t bytes[1001];
	memset(bytes, 0x91, sizeof bytes);
	ck_assert_int_eq(check(bytes, sizeof bytes), STATUS_TOO_DEEP);
}
END_TEST

static enum status check_real(double value)
{
	uint8_t bytes[11] = { 0x92, 40, 0xcb };
	put_be64(bytes + 3, bits_of_f64(value));
	return check(bytes, sizeof bytes);
}

START_TEST(numbers_that_are_not_finite_are_refused)
{
	ck_assert_int_eq(check_real(1.5), STATUS_OK);
	ck_assert_int_eq(check_real(1.7976931348623157e308), STATUS_OK);
	ck_assert_int_eq(check_real(5e-324), STATUS_OK);
	ck_assert_int_eq(check_real(f64_of_bits(UINT64_C(0x7ff0) << 48)), STATUS_NOT_FINITE);
	ck_assert_int_eq(check_real(f64_of_bits(UINT64_C(0xfff0) << 48)), STATUS_NOT_FINITE);
	ck_assert_int_eq(check_real(f64_of_bits(UINT64_C(0x7ff8) << 48)), STATUS_NOT_FINITE);
	ck_assert_int_eq(check_real(f64_of_bits((UINT64_C(0x7ff0) << 48) + 1)), STATUS_NOT_FINITE);
	ck_assert_int_eq(CHECK(0x92, 40, 0xca, 0x7f, 0x80, 0, 0), STATUS_NOT_FINITE);
	ck_assert_int_eq(CHECK(0x92, 40, 0xca, 0x7f, 0xc0, 0, 0), STATUS_NOT_FINITE);
	ck_assert_int_eq(CHECK(0x92, 40, 0xca, 0x3f, 0x80, 0, 0), STATUS_OK);
}
END_TEST

static enum status check_integer(uint8_t form, uint64_t value)
{
	uint8_t bytes[11] = { 0x92, 40, form };
	put_be64(bytes + 3, value);
	return check(bytes, sizeof bytes);
}

START_TEST(integers_beyond_two_to_the_53_are_refused)
{
	uint64_t limit = UINT64_C(1) << 53;
	ck_assert_int_eq(check_integer(0xcf, limit), STATUS_OK);
	ck_assert_int_eq(check_integer(0xcf, limit + 1), STATUS_RANGE);
	ck_assert_int_eq(check_integer(0xcf, UINT64_MAX), STATUS_RANGE);
	ck_assert_int_eq(check_integer(0xcf, UINT64_C(1) << 63), STATUS_RANGE);
	ck_assert_int_eq(check_integer(0xd3, limit), STATUS_OK);
	ck_assert_int_eq(check_integer(0xd3, limit + 1), STATUS_RANGE);
	ck_assert_int_eq(check_integer(0xd3, 0 - limit), STATUS_OK);
	ck_assert_int_eq(check_integer(0xd3, 0 - limit - 1), STATUS_RANGE);
	ck_assert_int_eq(check_integer(0xd3, UINT64_C(1) << 63), STATUS_RANGE);
}
END_TEST

START_TEST(ext_types_are_refused)
{
	ck_assert_int_eq(CHECK(0x92, 40, 0xc1), STATUS_MALFORMED);
	ck_assert_int_eq(CHECK(0x92, 40, 0xd4, 1, 1), STATUS_MALFORMED);
	ck_assert_int_eq(CHECK(0x92, 40, 0xd6, 0xff, 1, 2, 3, 4), STATUS_MALFORMED);
	ck_assert_int_eq(CHECK(0x92, 40, 0xc7, 1, 1, 1), STATUS_MALFORMED);
}
END_TEST

START_TEST(texts_are_short_utf8_without_nul)
{
	ck_assert_int_eq(CHECK(0x92, 40, 0xa2, 0xc3, 0xa9), STATUS_OK);
	ck_assert_int_eq(CHECK(0x92, 40, 0xa1, 0x00), STATUS_MALFORMED);
	ck_assert_int_eq(CHECK(0x92, 40, 0xa1, 0xc3), STATUS_MALFORMED);
	ck_assert_int_eq(CHECK(0x92, 40, 0xa2, 0xc0, 0xaf), STATUS_MALFORMED);
	ck_assert_int_eq(CHECK(0x92, 40, 0xa3, 0xe0, 0x80, 0xaf), STATUS_MALFORMED);
	ck_assert_int_eq(CHECK(0x92, 40, 0xa3, 0xed, 0xa0, 0x80), STATUS_MALFORMED);
	ck_assert_int_eq(CHECK(0x92, 40, 0xa4, 0xf4, 0x90, 0x80, 0x80), STATUS_MALFORMED);
	ck_assert_int_eq(CHECK(0x92, 40, 0xa4, 0xf0, 0x9f, 0x98, 0x80), STATUS_OK);
	uint8_t bytes[5 + WIRE_STRING_UP + 1] = { 0x92, 40, 0xda };
	memset(bytes + 5, 'x', sizeof bytes - 5);
	bytes[3] = WIRE_STRING_UP >> 8;
	bytes[4] = WIRE_STRING_UP & 0xff;
	ck_assert_int_eq(check(bytes, 5 + WIRE_STRING_UP), STATUS_OK);
	bytes[4]++;
	ck_assert_int_eq(check(bytes, sizeof bytes), STATUS_TOO_LARGE);
}
END_TEST

START_TEST(keys_of_maps_are_texts)
{
	ck_assert_int_eq(CHECK(0x92, 1, 0x81, 0xa1, 'a', 1), STATUS_OK);
	ck_assert_int_eq(CHECK(0x92, 1, 0x81, 1, 0xa1, 'a'), STATUS_MALFORMED);
	ck_assert_int_eq(CHECK(0x92, 1, 0x82, 0xa1, 'a', 0x91, 1, 2, 3), STATUS_MALFORMED);
	ck_assert_int_eq(CHECK(0x92, 1, 0x82, 0xa1, 'a', 0x91, 1, 0xa1, 'b', 3), STATUS_OK);
}
END_TEST

START_TEST(a_frame_is_one_array_that_starts_with_a_small_number)
{
	ck_assert_int_eq(check("", 0), STATUS_MALFORMED);
	ck_assert_int_eq(CHECK(0x90), STATUS_MALFORMED);
	ck_assert_int_eq(CHECK(40), STATUS_MALFORMED);
	ck_assert_int_eq(CHECK(0x81, 0xa1, 'a', 1), STATUS_MALFORMED);
	ck_assert_int_eq(CHECK(0x91, 0xa1, 'a'), STATUS_MALFORMED);
	ck_assert_int_eq(CHECK(0x91, 0xff), STATUS_MALFORMED);
	ck_assert_int_eq(CHECK(0x91, 0xcc, 0x80), STATUS_MALFORMED);
	ck_assert_int_eq(CHECK(0x91, 0x7f), STATUS_OK);
	ck_assert_int_eq(CHECK(0x91, 40, 0xc0), STATUS_MALFORMED);
	ck_assert_int_eq(CHECK(0x91, 40, 0x91, 40), STATUS_MALFORMED);
}
END_TEST

START_TEST(the_reason_names_the_byte)
{
	static const uint8_t BYTES[] = { 0x93, 40, 1, 0xc1 };
	struct reason why;
	ck_assert_int_eq(validate_content(BYTES, sizeof BYTES, &VALIDATE_UP, &why),
			 STATUS_MALFORMED);
	ck_assert_int_eq(why.index, 3);
	ck_assert_str_eq(why.field, "frame");
}
END_TEST

/* Compares the objects of msgpack-c's unpacker with our reader, over valid bytes. */
static bool same_value(const msgpack_object *object, struct wire_cursor *in);

static bool same_items(const msgpack_object *object, const struct wire_token *token,
		       struct wire_cursor *in)
{
	if (token->type == WIRE_TOKEN_ARRAY) {
		bool same = object->type == MSGPACK_OBJECT_ARRAY &&
			    object->via.array.size == token->count;
		for (uint32_t i = 0; same && i < token->count; i++)
			same = same_value(&object->via.array.ptr[i], in);
		return same;
	}
	bool same = object->type == MSGPACK_OBJECT_MAP && object->via.map.size == token->count;
	for (uint32_t i = 0; same && i < token->count; i++)
		same = same_value(&object->via.map.ptr[i].key, in) &&
		       same_value(&object->via.map.ptr[i].val, in);
	return same;
}

static bool same_number(const msgpack_object *object, const struct wire_token *token)
{
	if (object->type == MSGPACK_OBJECT_POSITIVE_INTEGER)
		return token->integer >= 0 && object->via.u64 == (uint64_t)token->integer;
	return object->type == MSGPACK_OBJECT_NEGATIVE_INTEGER && object->via.i64 == token->integer;
}

static bool same_value(const msgpack_object *object, struct wire_cursor *in)
{
	struct wire_token token;
	if (wire_next(in, &token) != STATUS_OK)
		return false;
	switch (token.type) {
	case WIRE_TOKEN_NIL:
		return object->type == MSGPACK_OBJECT_NIL;
	case WIRE_TOKEN_BOOL:
		return object->type == MSGPACK_OBJECT_BOOLEAN && object->via.boolean == token.truth;
	case WIRE_TOKEN_INTEGER:
		return same_number(object, &token);
	case WIRE_TOKEN_REAL:
		return (object->type == MSGPACK_OBJECT_FLOAT32 ||
			object->type == MSGPACK_OBJECT_FLOAT64) &&
		       bits_of_f64(object->via.f64) == bits_of_f64(token.real);
	case WIRE_TOKEN_TEXT:
		return object->type == MSGPACK_OBJECT_STR && object->via.str.size == token.count &&
		       (token.count == 0 || object->via.str.ptr == (const char *)token.at);
	case WIRE_TOKEN_BIN:
		return object->type == MSGPACK_OBJECT_BIN && object->via.bin.size == token.count &&
		       (token.count == 0 || object->via.bin.ptr == (const char *)token.at);
	default:
		return same_items(object, &token, in);
	}
}

static bool agrees_with_msgpack_c(const uint8_t *bytes, uint32_t count)
{
	msgpack_unpacked unpacked;
	msgpack_unpacked_init(&unpacked);
	size_t offset = 0;
	struct wire_cursor in = wire_cursor_over(bytes, count);
	bool same = msgpack_unpack_next(&unpacked, (const char *)bytes, count, &offset) ==
			    MSGPACK_UNPACK_SUCCESS &&
		    offset == count && same_value(&unpacked.data, &in) && wire_at_end(&in);
	msgpack_unpacked_destroy(&unpacked);
	return same;
}

START_TEST(valid_frames_mean_the_same_to_msgpack_c)
{
	struct rng rng = rng_seeded(check_seed());
	static uint8_t bytes[WIRE_FRAME_UP];
	uint32_t too_large = 0;
	for (int round = 0; round < 2000; round++) {
		struct wire_packer out = wire_packer_over(bytes, sizeof bytes);
		wire_pack_array(&out, 2);
		wire_pack_uint(&out, rng_below(&rng, 128));
		gen_value(&rng, &out, 6);
		/* A random value may exceed the size of a frame; such a value is skipped. */
		if (wire_packer_status(&out) == STATUS_FULL) {
			too_large++;
			continue;
		}
		ck_assert_int_eq(wire_packer_status(&out), STATUS_OK);
		ck_assert_int_eq(validate_content(bytes, out.bytes, &VALIDATE_UP, NULL), STATUS_OK);
		ck_assert(agrees_with_msgpack_c(bytes, out.bytes));
	}
	ck_assert_uint_lt(too_large, 10);
}
END_TEST

/* A mutated frame is refused, or has the same meaning for both readers. */
START_TEST(changed_bytes_are_refused_or_mean_the_same_to_msgpack_c)
{
	struct rng rng = rng_seeded(check_seed() + 1);
	uint8_t bytes[8192];
	uint32_t passed = 0, refused = 0;
	for (int round = 0; round < 4000; round++) {
		struct wire_packer out = wire_packer_over(bytes, sizeof bytes);
		wire_pack_array(&out, 2);
		wire_pack_uint(&out, rng_below(&rng, 128));
		gen_value(&rng, &out, 6);
		uint32_t changes = 1 + rng_below(&rng, 3);
		for (uint32_t i = 0; i < changes; i++)
			bytes[rng_below(&rng, out.bytes)] = (uint8_t)rng_u32(&rng);
		if (check(bytes, out.bytes) == STATUS_OK) {
			ck_assert(agrees_with_msgpack_c(bytes, out.bytes));
			passed++;
		} else {
			refused++;
		}
	}
	ck_assert_uint_gt(passed, 100);
	ck_assert_uint_gt(refused, 100);
}
END_TEST

START_TEST(random_bytes_never_crash_the_validator)
{
	struct rng rng = rng_seeded(check_seed() + 2);
	uint8_t bytes[64];
	for (int round = 0; round < 20000; round++) {
		uint32_t count = rng_below(&rng, sizeof bytes);
		for (uint32_t i = 0; i < count; i++)
			bytes[i] = (uint8_t)rng_u32(&rng);
		if (count > 0 && rng_below(&rng, 2) == 0)
			bytes[0] = (uint8_t)(0x90 | rng_below(&rng, 16));
		enum status status = check(bytes, count);
		ck_assert(status == STATUS_OK || !wire_status_closes(status));
	}
}
END_TEST

/* May a token of this size be passed over without a check of its value? */
static bool is_plain(const struct wire_token *token, uint32_t bytes)
{
	switch (token->type) {
	case WIRE_TOKEN_NIL:
	case WIRE_TOKEN_BOOL:
		return true;
	case WIRE_TOKEN_INTEGER:
		return bytes <= 5;
	case WIRE_TOKEN_REAL:
		return bytes == 9 && token->real - token->real == 0;
	default:
		return false;
	}
}

START_TEST(values_passed_unread_are_valid_for_all_bytes)
{
	struct rng rng = rng_seeded(check_seed() + 3);
	uint8_t bytes[12];
	for (int round = 0; round < 256 * 200; round++) {
		uint32_t count = rng_below(&rng, sizeof bytes + 1);
		for (uint32_t i = 0; i < count; i++)
			bytes[i] = (uint8_t)rng_u32(&rng);
		if (count > 0)
			bytes[0] = (uint8_t)round;
		if (count > 2 && round % 3 == 0) /* not finite, were it a float */
			memcpy(bytes + 1, (const uint8_t[]){ 0x7f | (round & 0x80), 0xf0 }, 2);
		struct wire_cursor one = wire_cursor_over(bytes, count), passing = one;
		struct wire_token token;
		bool plain = wire_next(&one, &token) == STATUS_OK &&
			     is_plain(&token, (uint32_t)(one.at - bytes));
		ck_assert_uint_eq(wire_pass_plain(&passing, 1), plain);
		ck_assert_ptr_eq(passing.at, plain ? one.at : bytes);
	}
	struct wire_cursor none = wire_cursor_over(bytes, 4);
	ck_assert_uint_eq(wire_pass_plain(&none, 0), 0);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("protocol/validate");
	TCase *hostile = tcase_create("hostile");
	tcase_add_test(hostile, a_count_above_the_bytes_left_is_refused_at_its_header);
	tcase_add_test(hostile, nested_false_counts_are_refused);
	tcase_add_test(hostile, a_million_elements_from_a_client_are_refused);
	tcase_add_test(hostile, elements_are_counted_over_the_whole_frame);
	tcase_add_test(hostile, eight_levels_are_allowed_and_nine_are_not);
	tcase_add_test(hostile, a_thousand_levels_end_at_the_ninth);
	tcase_add_test(hostile, numbers_that_are_not_finite_are_refused);
	tcase_add_test(hostile, integers_beyond_two_to_the_53_are_refused);
	tcase_add_test(hostile, ext_types_are_refused);
	tcase_add_test(hostile, texts_are_short_utf8_without_nul);
	tcase_add_test(hostile, keys_of_maps_are_texts);
	tcase_add_test(hostile, a_frame_is_one_array_that_starts_with_a_small_number);
	tcase_add_test(hostile, the_reason_names_the_byte);
	suite_add_tcase(suite, hostile);
	TCase *oracle = tcase_create("oracle");
	tcase_add_test(oracle, valid_frames_mean_the_same_to_msgpack_c);
	tcase_add_test(oracle, changed_bytes_are_refused_or_mean_the_same_to_msgpack_c);
	tcase_add_test(oracle, random_bytes_never_crash_the_validator);
	tcase_add_test(oracle, values_passed_unread_are_valid_for_all_bytes);
	suite_add_tcase(suite, oracle);
	return suite;
}

int main(void)
{
	return check_main(make);
}
