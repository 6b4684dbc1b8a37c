/* JSON strings: quotes, backslashes and control bytes are escaped; every other byte passes unchanged. */
#include "server/base/json_text.h"

#include <stdio.h>
#include <string.h>

#include "tests/lib/check_main.h"

/* What json_text_print writes for these bytes, as a string. */
static const char *printed(const char *text, size_t bytes)
{
	static char out[2048];
	FILE *file = fmemopen(out, sizeof out, "w");
	ck_assert_ptr_nonnull(file);
	json_text_print(file, text, bytes);
	ck_assert_int_eq(ferror(file), 0);
	ck_assert_int_eq(fclose(file), 0);
	return out;
}

START_TEST(plain_text_gets_quotes_only)
{
	ck_assert_str_eq(printed("pile of 12", 10), "\"pile of 12\"");
	ck_assert_str_eq(printed("", 0), "\"\"");
	ck_assert_str_eq(printed(NULL, 0), "\"\"");
	/* The slash needs no escape. */
	ck_assert_str_eq(printed("a/b", 3), "\"a/b\"");
}
END_TEST

START_TEST(quotes_and_backslashes_get_a_backslash)
{
	ck_assert_str_eq(printed("a\"b", 3), "\"a\\\"b\"");
	ck_assert_str_eq(printed("C:\\x", 4), "\"C:\\\\x\"");
	ck_assert_str_eq(printed("\\\"", 2), "\"\\\\\\\"\"");
}
END_TEST

START_TEST(every_control_byte_becomes_its_number)
{
	for (unsigned c = 0; c < 0x20; c++) {
		char text = (char)c, wanted[16];
		snprintf(wanted, sizeof wanted, "\"\\u%04x\"", c);
		ck_assert_str_eq(printed(&text, 1), wanted);
	}
	/* A zero byte does not end the text. */
	ck_assert_str_eq(printed("a\0b\n", 4), "\"a\\u0000b\\u000a\"");
}
END_TEST

START_TEST(all_other_bytes_pass_unchanged_valid_utf8_or_not)
{
	for (unsigned c = 0x20; c < 0x100; c++) {
		if (c == '"' || c == '\\')
			continue;
		char text = (char)c, wanted[4] = { '"', (char)c, '"', '\0' };
		ck_assert_str_eq(printed(&text, 1), wanted);
	}
	ck_assert_str_eq(printed("Größe π", strlen("Größe π")), "\"Größe π\"");
	/* A sequence that is cut, and one longer than its character needs. */
	ck_assert_str_eq(printed("\xe2\x82", 2), "\"\xe2\x82\"");
	ck_assert_str_eq(printed("\xc0\xaf", 2), "\"\xc0\xaf\"");
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("json_text");
	TCase *all = tcase_create("strings");
	tcase_add_test(all, plain_text_gets_quotes_only);
	tcase_add_test(all, quotes_and_backslashes_get_a_backslash);
	tcase_add_test(all, every_control_byte_becomes_its_number);
	tcase_add_test(all, all_other_bytes_pass_unchanged_valid_utf8_or_not);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
