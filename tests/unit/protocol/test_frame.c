/* Frames are split off a stream; incomplete, oversized and foreign bytes have different statuses. */
#include "protocol/frame.h"

#include <string.h>

#include "tests/lib/check_main.h"

static const uint8_t TWO[] = { 0xC6, 0, 0, 0, 3, 0x93, 1, 2, 0xC6, 0, 0, 0, 1, 0x90 };

START_TEST(frames_are_split_off_one_by_one_without_copying)
{
	struct wire_slice content;
	size_t bytes;
	ck_assert_int_eq(frame_split(TWO, sizeof TWO, 100, &content, &bytes), STATUS_OK);
	ck_assert_ptr_eq(content.at, TWO + 5);
	ck_assert_uint_eq(content.bytes, 3);
	ck_assert_uint_eq(bytes, 8);
	ck_assert_int_eq(frame_split(TWO + 8, sizeof TWO - 8, 100, &content, &bytes), STATUS_OK);
	ck_assert_ptr_eq(content.at, TWO + 13);
	ck_assert_uint_eq(bytes, 6);
}
END_TEST

START_TEST(a_truncated_frame_reports_the_bytes_it_needs)
{
	for (size_t cut = 0; cut < 8; cut++) {
		struct wire_slice content;
		size_t bytes;
		ck_assert_int_eq(frame_split(TWO, cut, 100, &content, &bytes), STATUS_AGAIN);
		ck_assert_uint_gt(bytes, cut);
		ck_assert_uint_eq(bytes, cut < 5 ? 5 : 8);
	}
}
END_TEST

START_TEST(another_protocol_is_refused_at_its_first_byte)
{
	for (unsigned first = 0; first < 256; first++) {
		uint8_t byte = (uint8_t)first;
		struct wire_slice content;
		size_t bytes;
		ck_assert_int_eq(frame_split(&byte, 1, 100, &content, &bytes),
				 first == 0xC6 ? STATUS_AGAIN : STATUS_FRAMING);
	}
}
END_TEST

START_TEST(a_frame_is_refused_by_its_announced_length)
{
	uint8_t header[WIRE_FRAME_HEADER];
	struct wire_slice content;
	size_t bytes;
	frame_header_put(header, 100);
	ck_assert_int_eq(frame_split(header, 5, 100, &content, &bytes), STATUS_AGAIN);
	ck_assert_uint_eq(bytes, 105);
	frame_header_put(header, 101);
	ck_assert_int_eq(frame_split(header, 5, 100, &content, &bytes), STATUS_TOO_LARGE);
	frame_header_put(header, UINT32_MAX);
	ck_assert_int_eq(frame_split(header, 5, WIRE_FRAME_DOWN, &content, &bytes),
			 STATUS_TOO_LARGE);
	frame_header_put(header, 0);
	ck_assert_int_eq(frame_split(header, 5, 100, &content, &bytes), STATUS_FRAMING);
}
END_TEST

START_TEST(the_header_is_a_bin_32)
{
	uint8_t header[WIRE_FRAME_HEADER];
	static const uint8_t WANTED[] = { 0xC6, 0x01, 0x02, 0x03, 0x04 };
	frame_header_put(header, 0x01020304);
	ck_assert_mem_eq(header, WANTED, sizeof header);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("protocol/frame");
	TCase *split = tcase_create("split");
	tcase_add_test(split, frames_are_split_off_one_by_one_without_copying);
	tcase_add_test(split, a_truncated_frame_reports_the_bytes_it_needs);
	tcase_add_test(split, another_protocol_is_refused_at_its_first_byte);
	tcase_add_test(split, a_frame_is_refused_by_its_announced_length);
	tcase_add_test(split, the_header_is_a_bin_32);
	suite_add_tcase(suite, split);
	return suite;
}

int main(void)
{
	return check_main(make);
}
