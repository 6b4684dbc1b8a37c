/* The files of the viewer in memory: paths, types, compression, and paths that are never served. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "server/web/assets.h"
#include "tests/lib/check_main.h"

static char home[64];
static struct assets assets;

static void put(const char *name, const char *text, size_t bytes)
{
	char path[256];
	snprintf(path, sizeof path, "%s/%s", home, name);
	FILE *file = fopen(path, "wb");
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(text, 1, bytes, file), bytes);
	fclose(file);
}

static void setup(void)
{
	char path[256];
	snprintf(home, sizeof home, "%s", "/tmp/cairn-assets-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(home));
	snprintf(path, sizeof path, "%s/lib", home);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	static char zeros[5000];
	put("index.html", "<p>hello", 8);
	put("lib/three.js", zeros, sizeof zeros);
	put(".secret", "x", 1);
	snprintf(path, sizeof path, "%s/link.txt", home);
	ck_assert_int_eq(symlink("/etc/passwd", path), 0);
	assets_init(&assets);
}

static void teardown(void)
{
	static const char *const NAMES[] = { "index.html", "lib/three.js", ".secret",
					     "link.txt",   "lib",	   "" };
	assets_release(&assets);
	for (size_t i = 0; i < COUNT_OF(NAMES); i++) {
		char path[256];
		snprintf(path, sizeof path, "%s/%s", home, NAMES[i]);
		remove(path);
	}
}

START_TEST(every_file_is_found_by_its_path_and_nothing_else_is)
{
	struct reason why;
	ck_assert_int_eq(assets_load(&assets, home, &why), STATUS_OK);
	ck_assert_uint_eq(assets.items.count, 2);
	ck_assert_ptr_nonnull(assets_find(&assets, "/index.html"));
	ck_assert_ptr_eq(assets_find(&assets, "/"), assets_find(&assets, "/index.html"));
	ck_assert_ptr_nonnull(assets_find(&assets, "/lib/three.js"));
	static const char *const NOT[] = { "",
					   "/.secret",
					   "/link.txt",
					   "/lib",
					   "/lib/",
					   "//index.html",
					   "/lib/../index.html",
					   "/../../etc/passwd",
					   "/index.html/",
					   "index.html",
					   "/%2e%2e/etc/passwd" };
	for (size_t i = 0; i < COUNT_OF(NOT); i++)
		ck_assert_ptr_null(assets_find(&assets, NOT[i]));
}
END_TEST

START_TEST(a_file_is_compressed_if_smaller_and_unpacks_to_itself)
{
	struct reason why;
	ck_assert_int_eq(assets_load(&assets, home, &why), STATUS_OK);
	ck_assert_ptr_null(assets_find(&assets, "/index.html")->packed);
	const struct asset *big = assets_find(&assets, "/lib/three.js");
	ck_assert_ptr_nonnull(big->packed);
	ck_assert_uint_lt(big->packed_bytes, big->bytes);
	uint8_t out[8192];
	z_stream stream;
	memset(&stream, 0, sizeof stream);
	ck_assert_int_eq(inflateInit2(&stream, 15 + 16), Z_OK);
	stream.next_in = big->packed;
	stream.avail_in = (uInt)big->packed_bytes;
	stream.next_out = out;
	stream.avail_out = sizeof out;
	ck_assert_int_eq(inflate(&stream, Z_FINISH), Z_STREAM_END);
	ck_assert_uint_eq(stream.total_out, big->bytes);
	ck_assert_mem_eq(out, big->data, big->bytes);
	inflateEnd(&stream);
}
END_TEST

START_TEST(a_tag_changes_if_and_only_if_the_bytes_change)
{
	struct reason why;
	char before[40];
	ck_assert_int_eq(assets_load(&assets, home, &why), STATUS_OK);
	memcpy(before, assets_find(&assets, "/")->etag, sizeof assets_find(&assets, "/")->etag);
	ck_assert_int_eq(before[0], '"');
	ck_assert_uint_eq(strlen(before), 34);
	assets_release(&assets);
	ck_assert_int_eq(assets_load(&assets, home, &why), STATUS_OK);
	ck_assert_str_eq(assets_find(&assets, "/")->etag, before);
	assets_release(&assets);
	put("index.html", "<p>hellp", 8);
	ck_assert_int_eq(assets_load(&assets, home, &why), STATUS_OK);
	ck_assert_str_ne(assets_find(&assets, "/")->etag, before);
}
END_TEST

START_TEST(the_suffix_of_a_name_gives_its_type)
{
	ck_assert_str_eq(asset_type("/a.js"), "text/javascript; charset=utf-8");
	ck_assert_str_eq(asset_type("/a.js.map"), "application/json");
	ck_assert_str_eq(asset_type("/a.wasm"), "application/wasm");
	ck_assert_str_eq(asset_type("/js"), "application/octet-stream");
	ck_assert_str_eq(asset_type("/.js"), "text/javascript; charset=utf-8");
}
END_TEST

START_TEST(a_missing_directory_has_no_files)
{
	struct reason why;
	ck_assert_int_eq(assets_load(&assets, "/nonexistent/cairn", &why), STATUS_OK);
	ck_assert_uint_eq(assets.items.count, 0);
	ck_assert_ptr_null(assets_find(&assets, "/"));
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("assets");
	TCase *cases = tcase_create("files");
	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_test(cases, every_file_is_found_by_its_path_and_nothing_else_is);
	tcase_add_test(cases, a_file_is_compressed_if_smaller_and_unpacks_to_itself);
	tcase_add_test(cases, a_tag_changes_if_and_only_if_the_bytes_change);
	tcase_add_test(cases, the_suffix_of_a_name_gives_its_type);
	tcase_add_test(cases, a_missing_directory_has_no_files);
	suite_add_tcase(suite, cases);
	return suite;
}

int main(void)
{
	return check_main(make);
}
