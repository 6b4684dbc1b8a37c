/* The progress bar of a terminal. */
#include "server/base/progress_text.h"

#include <string.h>

#include "tests/lib/check_main.h"

START_TEST(a_bar_advances_by_whole_percents_and_fills)
{
	static const uint64_t totals[] = { 1, 7, 100, 12345, UINT64_MAX };
	for (size_t i = 0; i < COUNT_OF(totals); i++) {
		struct progress_text text;
		uint32_t lines = 0, filled = 0;
		progress_text_init(&text, "things", totals[i]);
		for (uint32_t step = 0; step <= 1000; step++) {
			uint64_t done = step == 1000 ? totals[i] : totals[i] / 1000 * step;
			if (!progress_text_at(&text, done))
				continue;
			uint32_t cells = 0;
			for (const char *at = text.line; *at != '\0'; at++)
				cells += *at == '#';
			ck_assert_uint_ge(cells, filled);
			filled = cells;
			lines++;
		}
		ck_assert_uint_le(lines, 101);
		ck_assert_uint_eq(filled, PROGRESS_TEXT_CELLS);
		ck_assert_ptr_nonnull(strstr(text.line, "things ["));
		ck_assert_ptr_nonnull(strstr(text.line, "100 %"));
		/* A position beyond the end is the end. */
		ck_assert(!progress_text_at(&text, UINT64_MAX));
	}
}
END_TEST

START_TEST(a_long_name_does_not_push_the_bar_off_the_line)
{
	char name[300];
	struct progress_text text;
	memset(name, 'x', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	progress_text_init(&text, name, 6);
	ck_assert(progress_text_at(&text, 3));
	ck_assert_ptr_nonnull(strstr(text.line, "[###############...............]  50 %"));
	ck_assert_uint_lt(strlen(text.line), 80 + strlen(PROGRESS_TEXT_AWAY));
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("progress_text");
	TCase *all = tcase_create("progress_text");
	tcase_add_test(all, a_bar_advances_by_whole_percents_and_fills);
	tcase_add_test(all, a_long_name_does_not_push_the_bar_off_the_line);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
