/* Growing buffers, writer and reader: every value survives a round trip in little-endian order;
 * input that is short, long or states a wrong length fails, and the reader stays failed; nothing is
 * written past an end. */
#include "server/base/bytes.h"

#include "server/base/heap.h"
#include "tests/lib/check_main.h"

static void write_everything(struct writer *writer)
{
	write_u8(writer, 0xfe);
	write_u16(writer, 0x1234);
	write_u32(writer, 0x89abcdef);
	write_u64(writer, 0x0123456789abcdef);
	write_i64(writer, INT64_MIN);
	write_f64(writer, 0.1);
	write_blob(writer, "hello", 5);
	write_raw(writer, "!", 1);
	write_blob(writer, NULL, 0);
}

enum { EVERYTHING = 1 + 2 + 4 + 8 + 8 + 8 + 9 + 1 + 4 };

/* False as soon as a value differs from the one write_everything wrote. */
static bool read_everything(struct reader *reader)
{
	uint32_t count;
	char mark;
	bool good = read_u8(reader) == 0xfe && read_u16(reader) == 0x1234;
	good = read_u32(reader) == 0x89abcdef && good;
	good = read_u64(reader) == 0x0123456789abcdef && good;
	good = read_i64(reader) == INT64_MIN && good;
	good = read_f64(reader) == 0.1 && good;
	const uint8_t *text = read_blob(reader, &count);
	good = text != NULL && count == 5 && memcmp(text, "hello", 5) == 0 && good;
	read_raw(reader, &mark, 1);
	good = mark == '!' && good;
	good = read_blob(reader, &count) != NULL && count == 0 && good;
	return good;
}

START_TEST(written_values_are_read_back)
{
	struct bytes bytes = { 0 };
	struct writer writer = writer_into(&bytes);
	write_everything(&writer);
	ck_assert_int_eq(writer_status(&writer), STATUS_OK);
	ck_assert_uint_eq(bytes.count, EVERYTHING);
	struct reader reader = reader_over(bytes.data, bytes.count);
	ck_assert(read_everything(&reader));
	ck_assert_int_eq(reader_finish(&reader), STATUS_OK);
	bytes_release(&bytes);
}
END_TEST

START_TEST(numbers_are_little_endian)
{
	static const uint8_t little[] = { 4, 3, 2, 1 }, big[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	uint8_t out[8];
	struct writer writer = writer_over(out, sizeof out);
	write_u32(&writer, 0x01020304);
	ck_assert_mem_eq(out, little, 4);
	put_be64(out, 0x0102030405060708);
	ck_assert_mem_eq(out, big, 8);
	ck_assert_uint_eq(get_be64(big), 0x0102030405060708);
	ck_assert_uint_eq(get_be32(big), 0x01020304);
	ck_assert_uint_eq(get_le32(little), 0x01020304);
	put_le64(out, 0x0807060504030201);
	ck_assert_mem_eq(out, big, 8);
	ck_assert_uint_eq(get_le64(big), 0x0807060504030201);
	put_be32(out, 0x01020304);
	ck_assert_mem_eq(out, big, 4);
}
END_TEST

START_TEST(a_reader_cut_anywhere_fails_once_and_stays_failed)
{
	uint8_t whole[EVERYTHING], cut[EVERYTHING];
	struct writer writer = writer_over(whole, sizeof whole);
	write_everything(&writer);
	ck_assert_int_eq(writer_status(&writer), STATUS_OK);
	for (size_t count = 0; count < EVERYTHING; count++) {
		memcpy(cut, whole, count);
		struct reader reader = reader_over(cut, count);
		ck_assert(!read_everything(&reader));
		ck_assert(reader.failed && reader.position <= count);
		ck_assert_uint_eq(read_u8(&reader), 0);
		ck_assert_int_eq(reader_finish(&reader), STATUS_MALFORMED);
	}
}
END_TEST

START_TEST(bytes_left_over_are_malformed)
{
	struct reader reader = reader_over("ab", 2);
	ck_assert_uint_eq(read_u8(&reader), 'a');
	ck_assert_uint_eq(reader_left(&reader), 1);
	ck_assert_int_eq(reader_finish(&reader), STATUS_MALFORMED);
}
END_TEST

START_TEST(a_blob_longer_than_the_input_is_refused)
{
	static const uint8_t lie[] = { 0xff, 0xff, 0xff, 0xff, 'x' };
	struct reader reader = reader_over(lie, sizeof lie);
	uint32_t count = 7;
	ck_assert_ptr_null(read_blob(&reader, &count));
	ck_assert_uint_eq(count, 0);
}
END_TEST

START_TEST(a_fixed_buffer_is_never_overrun)
{
	for (size_t room = 0; room < EVERYTHING; room++) {
		uint8_t out[EVERYTHING + 8];
		memset(out, 0x5a, sizeof out);
		struct writer writer = writer_over(out, room);
		write_everything(&writer);
		ck_assert_int_eq(writer_status(&writer), STATUS_FULL);
		for (size_t i = room; i < sizeof out; i++)
			ck_assert_uint_eq(out[i], 0x5a);
	}
}
END_TEST

START_TEST(a_buffer_that_cannot_grow_is_unchanged)
{
	static const uint8_t page[4096];
	struct bytes bytes;
	bytes_init(&bytes);
	ck_assert_int_eq(bytes_append(&bytes, "abc", 3), STATUS_OK);
	struct writer writer = writer_into(&bytes);
	heap_fail_at(1);
	ck_assert_int_eq(bytes_append(&bytes, page, sizeof page), STATUS_NO_MEMORY);
	heap_fail_at(1);
	ck_assert_ptr_null(writer_take(&writer, 4096));
	write_u8(&writer, 1);
	ck_assert_int_eq(writer_status(&writer), STATUS_NO_MEMORY);
	ck_assert_int_eq(bytes_reserve(&bytes, SIZE_MAX), STATUS_NO_MEMORY);
	ck_assert_uint_eq(bytes.count, 3);
	ck_assert_mem_eq(bytes.data, "abc", 3);
	bytes_release(&bytes);
}
END_TEST

START_TEST(consuming_keeps_the_rest_in_order)
{
	struct bytes bytes = { 0 };
	for (int i = 0; i < 1000; i++) {
		uint8_t byte = (uint8_t)i;
		ck_assert_int_eq(bytes_append(&bytes, &byte, 1), STATUS_OK);
	}
	bytes_consume(&bytes, 300);
	ck_assert_uint_eq(bytes.count, 700);
	for (int i = 0; i < 700; i++)
		ck_assert_uint_eq(bytes.data[i], (uint8_t)(i + 300));
	bytes_consume(&bytes, 5000);
	ck_assert_uint_eq(bytes.count, 0);
	bytes_release(&bytes);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("bytes");
	TCase *all = tcase_create("bytes");
	tcase_add_test(all, written_values_are_read_back);
	tcase_add_test(all, numbers_are_little_endian);
	tcase_add_test(all, a_reader_cut_anywhere_fails_once_and_stays_failed);
	tcase_add_test(all, bytes_left_over_are_malformed);
	tcase_add_test(all, a_blob_longer_than_the_input_is_refused);
	tcase_add_test(all, a_fixed_buffer_is_never_overrun);
	tcase_add_test(all, a_buffer_that_cannot_grow_is_unchanged);
	tcase_add_test(all, consuming_keeps_the_rest_in_order);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
