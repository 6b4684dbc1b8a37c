/* UTF-8: what the encoding makes of every code point is a character, and nothing else is. */
#include "server/base/utf8.h"

#include <string.h>

#include "tests/lib/check_main.h"

/* The bytes of a code point, by the definition; returns how many. */
static uint32_t encode(uint32_t code, char out[UTF8_BYTES_MAX])
{
	static const uint8_t LEAD[] = { 0, 0x00, 0xC0, 0xE0, 0xF0 };
	uint32_t bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	for (uint32_t k = bytes; k > 1; k--, code >>= 6)
		out[k - 1] = (char)(0x80 | (code & 0x3F));
	out[0] = (char)(LEAD[bytes] | code);
	return bytes;
}

START_TEST(every_code_point_but_zero_and_the_surrogates_is_a_character)
{
	uint32_t wrong = 0;
	for (uint32_t code = 0; code < 0x110000; code++) {
		char text[UTF8_BYTES_MAX] = { 0 };
		uint32_t bytes = encode(code, text);
		bool good = code > 0 && (code < 0xD800 || code > 0xDFFF);
		wrong += utf8_bytes(text, UTF8_BYTES_MAX) != (good ? bytes : 0);
		wrong += utf8_bytes(text, bytes) != (good ? bytes : 0);
		wrong += utf8_bytes(text, bytes - 1) != 0;
	}
	ck_assert_uint_eq(wrong, 0);
}
END_TEST

START_TEST(no_other_bytes_are_a_character)
{
	/* All texts of three bytes that do not begin in ASCII: as many begin with a character of 2
	 * and of 3 bytes as there are such characters. */
	uint32_t count[UTF8_BYTES_MAX + 1] = { 0 };
	for (uint32_t word = 0x80 << 16; word < 1u << 24; word++) {
		char text[] = { (char)(word >> 16), (char)(word >> 8), (char)word };
		count[utf8_bytes(text, sizeof text)]++;
	}
	ck_assert_uint_eq(count[1], 0);
	ck_assert_uint_eq(count[2], (0x800 - 0x80) << 8);
	ck_assert_uint_eq(count[3], 0x10000 - 0x800 - 0x800);
	ck_assert_uint_eq(count[4], 0);
	ck_assert_uint_eq(utf8_bytes("\xF4\x90\x80\x80", 4), 0); /* beyond the last code point */
	ck_assert_uint_eq(utf8_bytes("\xF0\x8F\xBF\xBF", 4), 0); /* longer than it needs to be */
}
END_TEST

START_TEST(a_mended_text_is_valid_and_keeps_what_was)
{
	char text[] = "é\xC3 \x07\xFFπ\xE2\x82";
	utf8_mend(text);
	ck_assert_str_eq(text, "é? ??π??");
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("utf8");
	TCase *all = tcase_create("characters");
	tcase_add_test(all, every_code_point_but_zero_and_the_surrogates_is_a_character);
	tcase_add_test(all, no_other_bytes_are_a_character);
	tcase_add_test(all, a_mended_text_is_valid_and_keeps_what_was);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
