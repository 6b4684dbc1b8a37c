/* Log: lines of fields, escapes, levels, and the limit of lines a second. */
#include "server/io/log.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

START_TEST(lines_below_the_level_are_not_written)
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

START_TEST(a_noisy_place_is_limited_and_counted_and_others_are_not)
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

START_TEST(a_reader_that_stops_loses_lines_but_delays_nothing_and_loses_no_audit)
{
	static char text[1 << 20];
	int ends[2];
	size_t got = 0;
	uint64_t before = log_lost();
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	int saved = dup(STDERR_FILENO);
	dup2(ends[1], STDERR_FILENO);
	log_start();
	/* A log that waited for the reader would exceed the time limit of the test. */
	for (int i = 0; i < 3000; i++) {
		struct log_site fresh = { 0 };
		log_line(&fresh, LOG_INFO, "filler", "%0200d", i);
	}
	for (int i = 0; i < 50; i++)
		log_audit("audit", "number=%d", i);
	ck_assert_uint_gt(log_lost(), before + 1000);
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	for (int round = 0; round < 100; round++) {
		ssize_t part = read(ends[0], text + got, sizeof text - 1 - got);
		got += part > 0 ? (size_t)part : 0;
		log_flush();
	}
	dup2(saved, STDERR_FILENO);
	text[got] = '\0';
	uint32_t found = 0;
	for (char *at = text; (at = strstr(at, " info audit number=")) != NULL; at++)
		ck_assert_int_eq(atoi(at + 19), (int)found++); /* in order */
	ck_assert_uint_eq(found, 50);
	uint64_t told = 0;
	for (char *at = text; (at = strstr(at, " lost=")) != NULL; at++)
		told += strtoull(at + 6, NULL, 10);
	ck_assert_uint_eq(told, log_lost() - before);
}
END_TEST

START_TEST(quoted_text_cannot_leave_its_quotes)
{
	char out[LOG_TEXT_BYTES], longest[3000];
	ck_assert_str_eq(log_quote(out, "a b"), "\"a b\"");
	ck_assert_str_eq(log_quote(out, "x\" role=admin \\"), "\"x\\\" role=admin \\\\\"");
	ck_assert_str_eq(log_quote(out, "\n\x7f\xc3\xbc"), "\"\\x0a\\x7f\\xc3\\xbc\"");
	memset(longest, '"', sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	log_quote(out, longest);
	/* Every quote inside is escaped; the last byte is the closing quote. */
	size_t length = strlen(out);
	ck_assert_uint_gt(length, LOG_TEXT_BYTES - 8);
	ck_assert_uint_eq(length % 2, 0);
	for (size_t i = 1; i + 1 < length; i += 2)
		ck_assert(out[i] == '\\' && out[i + 1] == '"');
	ck_assert_int_eq(out[length - 1], '"');
}
END_TEST

START_TEST(a_noisy_source_limits_itself_only_and_audits_are_never_limited)
{
	struct caught caught = { 0 };
	struct log_site noisy = { 0 }, calm = { 0 };
	log_set_sink(catch_line, &caught);
	for (int who = 0; who < 1001; who++)
		LOG_FROM(who < 1000 ? &noisy : &calm, LOG_INFO, "line", "i=%d", who);
	ck_assert_ptr_nonnull(strstr(caught.last, "i=1000"));
	ck_assert_uint_le(caught.lines, LOG_BURST + LOG_PER_SECOND + 1);
	caught.lines = 0;
	log_set_level(LOG_ERROR);
	for (int i = 0; i < 1000; i++)
		log_audit("audit", "i=%d", i);
	log_set_level(LOG_INFO);
	ck_assert_uint_eq(caught.lines, 1000);
	log_set_sink(NULL, NULL);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("server/log");
	TCase *line = tcase_create("line");
	tcase_add_test(line, a_line_has_time_level_event_and_pairs);
	tcase_add_test(line, lines_below_the_level_are_not_written);
	tcase_add_test(line, a_noisy_place_is_limited_and_counted_and_others_are_not);
	tcase_add_test(line, a_hostile_name_cannot_make_a_second_line);
	tcase_add_test(line, a_line_that_is_too_long_is_cut);
	tcase_add_test(line, levels_are_read_by_name);
	tcase_add_test(line, a_reader_that_stops_loses_lines_but_delays_nothing_and_loses_no_audit);
	tcase_add_test(line, quoted_text_cannot_leave_its_quotes);
	tcase_add_test(line, a_noisy_source_limits_itself_only_and_audits_are_never_limited);
	suite_add_tcase(suite, line);
	return suite;
}

int main(void)
{
	return check_main(make);
}
