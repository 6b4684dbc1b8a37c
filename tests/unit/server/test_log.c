#include "server/log.h"

#include <stdio.h>
#include <string.h>

#include "tests/lib/check_main.h"

struct caught {
	uint32_t lines;
	char last[2048];
};

static void catch_line(const char *line, void *context)
{
	struct caught *caught = context;
	caught->lines++;
	snprintf(caught->last, sizeof caught->last, "%s", line);
}

START_TEST(a_line_has_time_level_event_and_pairs)
{
	struct caught caught = { 0 };
	log_set_sink(catch_line, &caught);
	log_info("session_open", "session=%d peer=%s", 7, "unix");
	log_set_sink(NULL, NULL);
	ck_assert_uint_eq(caught.lines, 1);
	/* 2026-01-31T12:00:00.123456Z */
	ck_assert_uint_gt(strlen(caught.last), 28);
	ck_assert_int_eq(caught.last[10], 'T');
	ck_assert_int_eq(caught.last[26], 'Z');
	ck_assert_str_eq(caught.last + 28, "info session_open session=7 peer=unix");
}
END_TEST

START_TEST(what_is_under_the_level_is_not_said)
{
	struct caught caught = { 0 };
	log_set_sink(catch_line, &caught);
	log_debug("detail", "x=%d", 1);
	ck_assert_uint_eq(caught.lines, 0);
	log_set_level(LOG_DEBUG);
	log_debug("detail", "x=%d", 1);
	ck_assert_uint_eq(caught.lines, 1);
	log_set_level(LOG_ERROR);
	log_warn("detail", "x=%d", 1);
	ck_assert_uint_eq(caught.lines, 1);
	log_set_level(LOG_INFO);
	log_set_sink(NULL, NULL);
}
END_TEST

START_TEST(a_place_that_says_too_much_is_held_back_and_counted_and_others_are_not)
{
	struct caught caught = { 0 };
	log_set_sink(catch_line, &caught);
	for (uint32_t i = 0; i < 1000; i++)
		log_info("noise", "i=%u", i);
	ck_assert_uint_ge(caught.lines, LOG_BURST);
	ck_assert_uint_le(caught.lines, LOG_BURST + LOG_PER_SECOND);
	uint32_t before = caught.lines;
	log_info("other", "i=%d", 0);
	ck_assert_uint_eq(caught.lines, before + 1);
	log_set_sink(NULL, NULL);
}
END_TEST

START_TEST(a_hostile_name_cannot_make_a_second_line)
{
	struct caught caught = { 0 };
	log_set_sink(catch_line, &caught);
	log_info("hello", "client=%s", "a\nb\x1b[31m\x7fü");
	log_set_sink(NULL, NULL);
	ck_assert_str_eq(caught.last + 28, "info hello client=a\\x0ab\\x1b[31m\\x7fü");
}
END_TEST

START_TEST(a_line_that_is_too_long_is_cut)
{
	struct caught caught = { 0 };
	char text[5000];
	memset(text, '\n', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	log_set_sink(catch_line, &caught);
	log_info("long", "text=%s", text);
	log_set_sink(NULL, NULL);
	ck_assert_uint_eq(caught.lines, 1);
	ck_assert_uint_le(strlen(caught.last), LOG_LINE_BYTES);
	ck_assert_uint_gt(strlen(caught.last), LOG_LINE_BYTES - 8);
}
END_TEST

START_TEST(levels_are_read_by_name)
{
	for (int i = 0; i < LOG_LEVELS; i++) {
		enum log_level level;
		ck_assert(log_level_parse(log_level_name((enum log_level)i), &level));
		ck_assert_int_eq((int)level, i);
	}
	enum log_level level;
	ck_assert(!log_level_parse("loud", &level));
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("server/log");
	TCase *line = tcase_create("line");
	tcase_add_test(line, a_line_has_time_level_event_and_pairs);
	tcase_add_test(line, what_is_under_the_level_is_not_said);
	tcase_add_test(line, a_place_that_says_too_much_is_held_back_and_counted_and_others_are_not);
	tcase_add_test(line, a_hostile_name_cannot_make_a_second_line);
	tcase_add_test(line, a_line_that_is_too_long_is_cut);
	tcase_add_test(line, levels_are_read_by_name);
	suite_add_tcase(suite, line);
	return suite;
}

int main(void)
{
	return check_main(make);
}
