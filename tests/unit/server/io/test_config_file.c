/* Configuration files: precedence between defaults and the environment, and mistakes reported by
 * line. */
#include "server/io/config_file.h"

#include "server/options.h"
#include "tests/lib/check_main.h"

#include <string.h>

static struct options options;
static struct config_file file;
static struct reason why;

static enum status configure(const char *text, int argc, const char *const argv[],
			     const char *const environment[])
{
	config_file_release(&file);
	enum status status = config_file_parse(&file, "c.yaml", text, strlen(text), &why);
	if (status != STATUS_OK)
		return status;
	return options_parse_with(&options, argc, argv, environment,
				  (const char *const *)file.settings, &why);
}

static enum status configure_alone(const char *text)
{
	static const char *const ARGV[] = { "cairnd" };
	return configure(text, 1, ARGV, NULL);
}

START_TEST(the_file_overrides_defaults_and_is_overridden_by_environment_and_command_line)
{
	static const char TEXT[] = "ping-ms: 4000\ndrain-ms: 5000\nhandshake-ms: 600\nlog: warn\n"
				   "listen: [tcp:127.0.0.1:1, tcp:127.0.0.1:2]\n";
	static const char *const ARGV[] = { "cairnd", "--drain-ms", "7000",
					    "--listen=tcp:127.0.0.1:3" };
	static const char *const ENVIRONMENT[] = { "CAIRN_PING_MS=8000", NULL };
	ck_assert_int_eq(configure_alone(TEXT), STATUS_OK);
	ck_assert_uint_eq(options.ping_ms, 4000);
	ck_assert_uint_eq(options.listen.count, 2);
	ck_assert_int_eq(options.log_level, LOG_WARN);
	ck_assert_int_eq(configure(TEXT, 4, ARGV, ENVIRONMENT), STATUS_OK);
	ck_assert_uint_eq(options.ping_ms, 8000);
	ck_assert_uint_eq(options.drain_ms, 7000);
	ck_assert_uint_eq(options.handshake_ms, 600);
	ck_assert_uint_eq(options.listen.count, 1);
	ck_assert_str_eq(options.listen.items[0], "tcp:127.0.0.1:3");
}
END_TEST

START_TEST(a_list_in_the_environment_replaces_that_of_the_file)
{
	static const char *const ARGV[] = { "cairnd" };
	static const char *const ENVIRONMENT[] = { "CAIRN_LISTEN=tcp:127.0.0.1:9", NULL };
	ck_assert_int_eq(configure("listen: [tcp:127.0.0.1:1]", 1, ARGV, ENVIRONMENT), STATUS_OK);
	ck_assert_uint_eq(options.listen.count, 1);
	ck_assert_str_eq(options.listen.items[0], "tcp:127.0.0.1:9");
}
END_TEST

START_TEST(mistakes_name_the_line_or_the_option)
{
	static const struct {
		const char *text, *part;
		enum status status;
	} CASES[] = {
		{ "ping-ms: 4000\nping-ms: 5\n", "c.yaml:2", STATUS_EXISTS },
		{ "ping-ms: {a: 1}\n", "ping-ms", STATUS_TYPE },
		{ "[1, 2]\n", "mapping", STATUS_TYPE },
		{ "a: [\n", "c.yaml:", STATUS_MALFORMED },
		{ "pnig-ms: 4000\n", "did you mean --ping-ms", STATUS_MISSING },
		{ "ping-ms: fast\n", "ping-ms", STATUS_TYPE },
		{ "ping-ms: 1\n", "100", STATUS_RANGE },
		{ "config: other.yaml\n", "not allowed in a configuration file",
		  STATUS_UNSUPPORTED },
		{ "listen: [tcp:203.0.113.1:1]\n", "--tokens", STATUS_AUTH },
	};
	for (size_t i = 0; i < COUNT_OF(CASES); i++) {
		ck_assert_int_eq(configure_alone(CASES[i].text), CASES[i].status);
		ck_assert_msg(strstr(why.text, CASES[i].part) != NULL, "%s: %s", CASES[i].text,
			      why.text);
	}
}
END_TEST

START_TEST(an_empty_file_sets_nothing)
{
	ck_assert_int_eq(configure_alone(""), STATUS_OK);
	ck_assert_int_eq(configure_alone("# only a comment\n"), STATUS_OK);
	ck_assert_uint_eq(options.ping_ms, 10000);
}
END_TEST

START_TEST(the_path_comes_from_the_command_line_then_the_environment)
{
	static const char *const WORD[] = { "cairnd", "--paused", "--config", "a" };
	static const char *const JOINED[] = { "cairnd", "--config=b" };
	static const char *const NONE[] = { "cairnd" };
	static const char *const ENVIRONMENT[] = { "CAIRN_CONFIG=c", NULL };
	ck_assert_str_eq(options_config_path(4, WORD, ENVIRONMENT), "a");
	ck_assert_str_eq(options_config_path(2, JOINED, ENVIRONMENT), "b");
	ck_assert_str_eq(options_config_path(1, NONE, ENVIRONMENT), "c");
	ck_assert_ptr_null(options_config_path(1, NONE, NULL));
}
END_TEST

START_TEST(only_live_options_change_on_reload)
{
	struct option_view view;
	uint32_t live = 0, seen = 0;
	ck_assert_int_eq(configure_alone(""), STATUS_OK);
	ck_assert_int_eq(options_change(&options, "ping-ms", "2000", &why), STATUS_OK);
	ck_assert_uint_eq(options.ping_ms, 2000);
	ck_assert_int_eq(options_change(&options, "ping-ms", "1", &why), STATUS_RANGE);
	ck_assert_uint_eq(options.ping_ms, 2000);
	ck_assert_int_eq(options_change(&options, "data", "x", &why), STATUS_UNSUPPORTED);
	ck_assert_int_eq(options_change(&options, "nothing", "x", &why), STATUS_MISSING);
	for (; options_view(&options, seen, &view); seen++) {
		live += view.live;
		/* Options are printed as they are written in a file. */
		if (view.live)
			ck_assert_int_eq(options_change(&options, view.name, view.value, &why),
					 STATUS_OK);
		if (strcmp(view.name, "ping-ms") == 0)
			ck_assert_str_eq(view.value, "2000");
	}
	ck_assert_uint_gt(live, 3);
	ck_assert_uint_gt(seen, 25);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("config_file");
	TCase *files = tcase_create("files"), *running = tcase_create("running");
	tcase_add_test(
		files,
		the_file_overrides_defaults_and_is_overridden_by_environment_and_command_line);
	tcase_add_test(files, a_list_in_the_environment_replaces_that_of_the_file);
	tcase_add_test(files, mistakes_name_the_line_or_the_option);
	tcase_add_test(files, an_empty_file_sets_nothing);
	tcase_add_test(files, the_path_comes_from_the_command_line_then_the_environment);
	tcase_add_test(running, only_live_options_change_on_reload);
	suite_add_tcase(suite, files);
	suite_add_tcase(suite, running);
	return suite;
}

int main(void)
{
	return check_main(make);
}
