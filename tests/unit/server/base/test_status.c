/* Status codes have unique numbers and names; a reason carries a status, a place and a bounded text. */
#include "server/base/status.h"

#include <stdio.h>
#include <string.h>

#include "server/base/utf8.h"
#include "tests/lib/check_main.h"

static const struct {
	int number;
	const char *name;
} TABLE[] = {
#define STATUS(number, NAME, name, text) { number, #name },
#include "server/base/status.def"
};

START_TEST(every_status_has_its_own_number_and_name)
{
	for (size_t i = 0; i < COUNT_OF(TABLE); i++) {
		for (size_t j = i + 1; j < COUNT_OF(TABLE); j++) {
			ck_assert_int_ne(TABLE[i].number, TABLE[j].number);
			ck_assert_str_ne(TABLE[i].name, TABLE[j].name);
		}
	}
}
END_TEST

START_TEST(every_status_has_a_text_and_its_name)
{
	for (size_t i = 0; i < COUNT_OF(TABLE); i++) {
		enum status status = (enum status)TABLE[i].number;
		ck_assert_str_ne(status_text(status), "unknown status");
		ck_assert_str_eq(status_name(status), TABLE[i].name);
	}
}
END_TEST

START_TEST(a_number_outside_the_table_is_called_unknown)
{
	ck_assert_str_eq(status_text((enum status)9999), "unknown status");
	ck_assert_str_eq(status_name((enum status)9999), "unknown");
}
END_TEST

START_TEST(a_reason_carries_status_place_and_formatted_text)
{
	struct reason why;
	memset(&why, 0xa5, sizeof why);
	enum status status = reason_set(&why, STATUS_RANGE, 7, "radius", "%d is over %d", 12, 10);
	ck_assert_int_eq(status, STATUS_RANGE);
	ck_assert_int_eq(why.status, STATUS_RANGE);
	ck_assert_int_eq(why.index, 7);
	ck_assert_str_eq(why.field, "radius");
	ck_assert_str_eq(why.text, "12 is over 10");
}
END_TEST

START_TEST(a_reason_cuts_texts_that_are_too_long)
{
	char field[100], text[1000];
	memset(field, 'f', sizeof field - 1);
	memset(text, 't', sizeof text - 1);
	field[sizeof field - 1] = text[sizeof text - 1] = '\0';
	struct reason why;
	reason_set(&why, STATUS_RANGE, -1, field, "%s", text);
	ck_assert_uint_eq(strlen(why.field), sizeof why.field - 1);
	ck_assert_uint_eq(strlen(why.text), sizeof why.text - 1);
}
END_TEST

/* Paths of every length, of characters of one to four bytes: what stands before and behind them stays. */
START_TEST(a_reason_keeps_the_remedy_behind_a_long_path)
{
	static const char *const CHARACTERS[] = { "a", "ä", "…", "𝄞" };
	static const char head[] = "file: ", tail[] = " exists: remove it, or choose another name";
	for (size_t c = 0; c < COUNT_OF(CHARACTERS); c++)
		for (size_t count = 1; count < 900; count++) {
			char path[4096] = "", whole[4200];
			for (size_t i = 0; i < count; i++)
				strcat(path, CHARACTERS[c]);
			size_t length =
				(size_t)snprintf(whole, sizeof whole, "%s%s%s", head, path, tail);
			struct reason why;
			reason_set(&why, STATUS_EXISTS, -1, "file", "%s%s%s", head, path, tail);
			size_t bytes = strlen(why.text);
			if (length < sizeof why.text) {
				ck_assert_str_eq(why.text, whole);
				continue;
			}
			ck_assert_uint_gt(bytes, sizeof why.text - 8);
			ck_assert(strncmp(why.text, head, strlen(head)) == 0);
			ck_assert_str_eq(why.text + bytes - strlen(tail), tail);
			ck_assert_ptr_nonnull(strstr(why.text, "…"));
			for (size_t at = 0; at < bytes;) {
				uint32_t step = utf8_bytes(why.text + at, UTF8_BYTES_MAX);
				ck_assert_uint_gt(step, 0);
				at += step;
			}
		}
}
END_TEST

/* Two paths in a sentence, and a long sentence without any: both ends stay. */
START_TEST(a_reason_of_many_words_keeps_both_ends)
{
	char path[301], text[601];
	memset(path, 'p', sizeof path - 1);
	path[sizeof path - 1] = '\0';
	struct reason why;
	reason_set(&why, STATUS_EXISTS, -1, "file", "%s.a is %s.b: name another", path, path);
	ck_assert_ptr_nonnull(strstr(why.text, ".a is p"));
	ck_assert_ptr_nonnull(strstr(why.text, ".b: name another"));
	for (size_t i = 0; i < sizeof text - 1; i++)
		text[i] = i % 5 == 4 ? ' ' : 'w';
	text[sizeof text - 1] = '\0';
	reason_set(&why, STATUS_EXISTS, -1, "file", "first %slast", text);
	ck_assert(strncmp(why.text, "first ", 6) == 0);
	ck_assert_str_eq(why.text + strlen(why.text) - 5, " last");
	/* A reason may be made of its own text. */
	reason_set(&why, STATUS_EXISTS, -1, "file", "again: %s", why.text);
	ck_assert(strncmp(why.text, "again: first ", 13) == 0);
}
END_TEST

START_TEST(a_reason_may_be_null)
{
	ck_assert_int_eq(reason_set(NULL, STATUS_LIMIT, -1, "x", "y"), STATUS_LIMIT);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("base/status");
	TCase *table = tcase_create("table");
	tcase_add_test(table, every_status_has_its_own_number_and_name);
	tcase_add_test(table, every_status_has_a_text_and_its_name);
	tcase_add_test(table, a_number_outside_the_table_is_called_unknown);
	suite_add_tcase(suite, table);
	TCase *reason = tcase_create("reason");
	tcase_add_test(reason, a_reason_carries_status_place_and_formatted_text);
	tcase_add_test(reason, a_reason_cuts_texts_that_are_too_long);
	tcase_add_test(reason, a_reason_keeps_the_remedy_behind_a_long_path);
	tcase_add_test(reason, a_reason_of_many_words_keeps_both_ends);
	tcase_add_test(reason, a_reason_may_be_null);
	suite_add_tcase(suite, reason);
	return suite;
}

int main(void)
{
	return check_main(make);
}
