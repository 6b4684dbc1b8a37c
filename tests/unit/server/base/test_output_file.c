/* Files that a program writes: what could not be written at its end is refused before it begins. */
#include "server/base/output_file.h"
#include "tests/lib/check_main.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/cairn-output-XXXXXX";

/* A path in the folder, of the next of four buffers. */
static const char *in_folder(const char *name)
{
	static char paths[4][PATH_MAX];
	static unsigned next;
	char *path = paths[next++ % 4];
	snprintf(path, PATH_MAX, "%s/%s", folder, name);
	return path;
}

static void begin(void)
{
	memcpy(folder + sizeof folder - 7, "XXXXXX", 6);
	ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void end(void)
{
	static const char *const names[] = { "old.csv", "link.csv", "to.csv", "pipe.csv" };
	for (size_t i = 0; i < COUNT_OF(names); i++)
		(void)unlink(in_folder(names[i]));
	ck_assert_int_eq(rmdir(folder), 0);
}

static void put(const char *name, const char *text)
{
	FILE *file = fopen(in_folder(name), "w");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	ck_assert_int_eq(fclose(file), 0);
}

static enum status check(const char *path, struct reason *why)
{
	const struct output_file file = { path, "poses", "CSV", ".csv", false };
	return output_files_check(&file, 1, NULL, why);
}

START_TEST(a_file_that_can_be_written_is_left_as_it_is)
{
	struct reason why;
	struct stat found;
	char text[8] = "";
	put("old.csv", "old");
	ck_assert_int_eq(check(in_folder("old.csv"), &why), STATUS_OK);
	FILE *file = fopen(in_folder("old.csv"), "r");
	ck_assert_ptr_nonnull(fgets(text, sizeof text, file));
	fclose(file);
	ck_assert_str_eq(text, "old");
	ck_assert_int_eq(check(in_folder("new.csv"), &why), STATUS_OK);
	ck_assert_int_ne(stat(in_folder("new.csv"), &found), 0);
	ck_assert_int_eq(check("/dev/null", &why), STATUS_OK);
	ck_assert_int_eq(check(NULL, &why), STATUS_OK);
}
END_TEST

START_TEST(a_link_is_followed_and_a_pipe_is_not_opened)
{
	struct reason why;
	struct stat found;
	ck_assert_int_eq(symlink("to.csv", in_folder("link.csv")), 0);
	ck_assert_int_eq(check(in_folder("link.csv"), &why), STATUS_OK);
	ck_assert_int_eq(lstat(in_folder("link.csv"), &found), 0);
	ck_assert_int_ne(lstat(in_folder("to.csv"), &found), 0);
	/* Opening a pipe that nobody reads waits for ever. */
	ck_assert_int_eq(mkfifo(in_folder("pipe.csv"), 0600), 0);
	ck_assert_int_eq(check(in_folder("pipe.csv"), &why), STATUS_OK);
}
END_TEST

START_TEST(what_cannot_be_written_is_refused_with_the_reason)
{
	struct reason why;
	char deep[PATH_MAX];
	ck_assert_int_eq(check(in_folder("none/new.csv"), &why), STATUS_IO);
	ck_assert_str_eq(why.field, "poses");
	ck_assert_ptr_nonnull(strstr(
		why.text, "none/new.csv cannot be written: No such file or directory; give"));
	ck_assert_int_eq(check(folder, &why), STATUS_IO);
	ck_assert_ptr_nonnull(strstr(why.text, "Is a directory"));
	put("old.csv", "");
	ck_assert_int_eq(check(in_folder("old.csv/new.csv"), &why), STATUS_IO);
	ck_assert_ptr_nonnull(strstr(why.text, "Not a directory"));
	memset(deep, 'x', 1000);
	memcpy(deep, "/tmp/", 5);
	memcpy(deep + 1000, ".csv", 5);
	ck_assert_int_eq(check(deep, &why), STATUS_IO);
	ck_assert_ptr_nonnull(strstr(why.text, "and may be written"));
	ck_assert_int_eq(check(in_folder("new.svg"), &why), STATUS_RANGE);
}
END_TEST

START_TEST(no_file_replaces_another_or_what_is_read)
{
	struct reason why;
	char crooked[PATH_MAX];
	snprintf(crooked, sizeof crooked, "%s/../%s/new.csv", folder, folder + strlen("/tmp/"));
	const struct output_file files[] = {
		{ in_folder("new.csv"), "trajectory", NULL, NULL, false },
		{ crooked, "poses", NULL, NULL, false },
	};
	ck_assert_int_eq(output_files_check(files, 2, NULL, &why), STATUS_EXISTS);
	ck_assert_str_eq(why.field, "poses");
	ck_assert_ptr_nonnull(strstr(why.text, "is the file of --trajectory, too"));
	put("old.csv", "");
	ck_assert_int_eq(symlink("old.csv", in_folder("link.csv")), 0);
	const struct output_file over = { in_folder("link.csv"), "hull", NULL, NULL, false };
	ck_assert_int_eq(output_files_check(&over, 1, in_folder("old.csv"), &why), STATUS_EXISTS);
	ck_assert_ptr_nonnull(strstr(why.text, "is the file that is read"));
	const struct output_file shared[] = {
		{ "/dev/null", "trajectory", NULL, NULL, false },
		{ "/dev/null", "poses", NULL, NULL, false },
	};
	ck_assert_int_eq(output_files_check(shared, 2, "/dev/null", &why), STATUS_OK);
}
END_TEST

static const struct {
	const char *path, *endings;
	bool good;
} NAMES[] = {
	{ "plot.svg", ".svg", true },	    { "./plot.SVG", ".svg", true },
	{ "out.yml", ".yaml .yml", true },  { "out.yaml", ".yaml .yml", true },
	{ "/dev/stdout", ".svg", true },    { "./plot", ".svg", true },
	{ ".hidden", ".svg", true },	    { "plot.png", ".svg", false },
	{ "plot.svg.gz", ".svg", false },   { "plot.sv", ".svg", false },
	{ "plot.svgz", ".svg", false },	    { "out.svg", ".yaml .yml", false },
	{ "out.yam", ".yaml .yml", false }, { "out.", ".svg", false },
};

START_TEST(an_ending_of_another_format_is_refused)
{
	struct reason why = { .text = "" };
	char path[PATH_MAX];
	snprintf(path, sizeof path, "%s%s", NAMES[_i].path[0] == '/' ? "" : in_folder(""),
		 NAMES[_i].path);
	const struct output_file file = { path, "plot", "SVG", NAMES[_i].endings, false };
	ck_assert_int_eq(output_files_check(&file, 1, NULL, &why),
			 NAMES[_i].good ? STATUS_OK : STATUS_RANGE);
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
	ck_assert_int_eq(check(path, &why), STATUS_RANGE);
	ck_assert_ptr_nonnull(strstr(why.text, "ends with .csv, or has no ending"));
}
END_TEST

START_TEST(an_ending_alone_is_no_name)
{
	ck_assert(path_ends("a.cairn", ".cairn"));
	ck_assert(path_ends("folder/A.CAIRN", ".cairn"));
	ck_assert(!path_ends(".cairn", ".cairn"));
	ck_assert(!path_ends("a.rec", ".cairn"));
}
END_TEST

START_TEST(a_fresh_file_replaces_nothing)
{
	struct reason why;
	FILE *stream;
	const struct output_file file = { .path = in_folder("old.csv"),
					  .field = "file",
					  .fresh = true };
	ck_assert_int_eq(output_files_check(&file, 1, NULL, &why), STATUS_OK);
	ck_assert_int_eq(output_file_open(&file, &stream, &why), STATUS_OK);
	ck_assert_int_eq(output_file_close(&file, stream, &why), STATUS_OK);
	ck_assert_int_eq(output_files_check(&file, 1, NULL, &why), STATUS_EXISTS);
	ck_assert_int_eq(output_file_open(&file, &stream, &why), STATUS_EXISTS);
	ck_assert_ptr_null(stream);
	ck_assert_ptr_nonnull(strstr(why.text, "old.csv exists already: remove it"));
	/* A link that leads nowhere is a file that is there. */
	ck_assert_int_eq(symlink("to.csv", in_folder("link.csv")), 0);
	const struct output_file link = { .path = in_folder("link.csv"),
					  .field = "file",
					  .fresh = true };
	ck_assert_int_eq(output_files_check(&link, 1, NULL, &why), STATUS_EXISTS);
}
END_TEST

START_TEST(what_a_full_disk_does_not_take_is_told)
{
	struct reason why;
	FILE *stream;
	const struct output_file file = { .path = "/dev/full", .field = "poses" };
	ck_assert_int_eq(output_files_check(&file, 1, NULL, &why), STATUS_OK);
	ck_assert_int_eq(output_file_open(&file, &stream, &why), STATUS_OK);
	fputs("lost", stream);
	ck_assert_int_eq(output_file_written(&file, stream, &why), STATUS_OK);
	(void)fflush(stream);
	ck_assert_int_eq(output_file_written(&file, stream, &why), STATUS_IO);
	ck_assert_int_eq(output_file_close(&file, stream, &why), STATUS_IO);
	ck_assert_str_eq(why.field, "poses");
	/* Only closing tells of what still waited in the stream. */
	ck_assert_int_eq(output_file_open(&file, &stream, &why), STATUS_OK);
	fputs("lost", stream);
	ck_assert_int_eq(output_file_close(&file, stream, &why), STATUS_IO);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("output_file");
	TCase *all = tcase_create("all");
	tcase_add_checked_fixture(all, begin, end);
	tcase_add_test(all, a_file_that_can_be_written_is_left_as_it_is);
	tcase_add_test(all, a_link_is_followed_and_a_pipe_is_not_opened);
	tcase_add_test(all, what_cannot_be_written_is_refused_with_the_reason);
	tcase_add_test(all, no_file_replaces_another_or_what_is_read);
	tcase_add_loop_test(all, an_ending_of_another_format_is_refused, 0, (int)COUNT_OF(NAMES));
	tcase_add_test(all, a_long_name_leaves_room_for_the_remedy);
	tcase_add_test(all, an_ending_alone_is_no_name);
	tcase_add_test(all, a_fresh_file_replaces_nothing);
	tcase_add_test(all, what_a_full_disk_does_not_take_is_told);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
