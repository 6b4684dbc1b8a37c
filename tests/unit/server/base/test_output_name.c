/* The names of written files: an ending that promises another format is refused. */
#include "server/base/output_name.h"
#include "tests/lib/check_main.h"

#include <string.h>

static const struct {
	const char *path, *endings;
	bool good;
} NAMES[] = {
	{ "plot.svg", ".svg", true },	    { "a.b/plot.SVG", ".svg", true },
	{ "out.yml", ".yaml .yml", true },  { "out.yaml", ".yaml .yml", true },
	{ "/dev/stdout", ".svg", true },    { "some.folder/plot", ".svg", true },
	{ ".hidden", ".svg", true },	    { NULL, ".svg", true },
	{ "plot.png", ".svg", false },	    { "plot.svg.gz", ".svg", false },
	{ "plot.sv", ".svg", false },	    { "plot.svgz", ".svg", false },
	{ "out.svg", ".yaml .yml", false }, { "out.yam", ".yaml .yml", false },
	{ "out.", ".svg", false },
};

START_TEST(an_ending_of_another_format_is_refused)
{
	struct reason why = { .text = "" };
	enum status status =
		output_name_check(NAMES[_i].path, "plot", "SVG", NAMES[_i].endings, &why);
	ck_assert_int_eq(status, NAMES[_i].good ? STATUS_OK : STATUS_RANGE);
	if (NAMES[_i].good)
		return;
	ck_assert_str_eq(why.field, "plot");
	ck_assert_ptr_nonnull(strstr(why.text, NAMES[_i].path));
	ck_assert_ptr_nonnull(strstr(why.text, "SVG is written"));
}
END_TEST

START_TEST(a_long_name_leaves_room_for_the_remedy)
{
	struct reason why;
	char path[301];
	memset(path, 'x', sizeof path);
	memcpy(path + 296, ".png", 5);
	ck_assert_int_eq(output_name_check(path, "poses", "CSV", ".csv", &why), STATUS_RANGE);
	ck_assert_ptr_nonnull(strstr(why.text, "ends with .csv, or has no ending"));
}
END_TEST

START_TEST(an_ending_alone_is_no_name)
{
	ck_assert(output_name_ends("a.cairn", ".cairn"));
	ck_assert(output_name_ends("folder/A.CAIRN", ".cairn"));
	ck_assert(!output_name_ends(".cairn", ".cairn"));
	ck_assert(!output_name_ends("a.rec", ".cairn"));
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("output_name");
	TCase *all = tcase_create("all");
	tcase_add_loop_test(all, an_ending_of_another_format_is_refused, 0, (int)COUNT_OF(NAMES));
	tcase_add_test(all, a_long_name_leaves_room_for_the_remedy);
	tcase_add_test(all, an_ending_alone_is_no_name);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
