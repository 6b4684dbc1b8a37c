/* Options from defaults, file, environment and command line: precedence, errors by name, help,
 * listeners. */
#include "server/options.h"

#include <stdio.h>
#include <string.h>

#include "tests/lib/check_main.h"

enum { WORDS = 8 };

static struct options options;
static struct reason why;

/* Parses words up to the first NULL. */
static enum status parse(const char *const words[WORDS], const char *const environment[])
{
	const char *argv[WORDS + 1] = { "cairnd" };
	int argc = 1;
	while (argc <= WORDS && words[argc - 1] != NULL) {
		argv[argc] = words[argc - 1];
		argc++;
	}
	return options_parse(&options, argc, argv, environment, &why);
}

#define PARSE(...) parse((const char *const[WORDS]){ __VA_ARGS__ }, NULL)

START_TEST(without_arguments_the_defaults_hold)
{
	ck_assert_int_eq(PARSE(NULL), STATUS_OK);
	ck_assert_int_eq(options.command, OPTIONS_SERVE);
	ck_assert_uint_eq(options.workers, 0);
	ck_assert_uint_eq(options.step_workers, 1);
	ck_assert_uint_eq(options.queue_bytes, 2 << 20);
	ck_assert_int_eq(options.log_level, LOG_INFO);
	ck_assert(!options.paused);
	ck_assert_ptr_null(options.data);
}
END_TEST

START_TEST(each_kind_is_read_from_both_notations)
{
	ck_assert_int_eq(PARSE("--workers", "3", "--queue-bytes=128K", "--paused", "--log=debug",
			       "--data", "/srv"),
			 STATUS_OK);
	ck_assert_uint_eq(options.workers, 3);
	ck_assert_uint_eq(options.queue_bytes, 128 << 10);
	ck_assert(options.paused);
	ck_assert_int_eq(options.log_level, LOG_DEBUG);
	ck_assert_str_eq(options.data, "/srv");
	ck_assert_int_eq(PARSE("--paused=no", "--listen", "tcp:127.0.0.1:1", "--listen=unix:a"),
			 STATUS_OK);
	ck_assert(!options.paused);
	ck_assert_uint_eq(options.listen.count, 2);
	ck_assert_str_eq(options.listen.items[1], "unix:a");
}
END_TEST

START_TEST(the_command_line_overrides_the_environment_and_that_the_default)
{
	const char *const environment[] = { "CAIRN_STEP_WORKERS=2",
					    "CAIRN_LISTEN=tcp:127.0.0.1:1,unix:b",
					    "CAIRN_WORKERS=5",
					    "CAIRN_DATA=",
					    "PATH=/bin",
					    NULL };
	ck_assert_int_eq(parse((const char *const[WORDS]){ "--workers", "7" }, environment),
			 STATUS_OK);
	ck_assert_uint_eq(options.step_workers, 2);
	ck_assert_uint_eq(options.workers, 7);
	ck_assert_uint_eq(options.listen.count, 2);
	ck_assert_str_eq(options.listen.items[0], "tcp:127.0.0.1:1");
	ck_assert_str_eq(options.listen.items[1], "unix:b");
	ck_assert_ptr_null(options.data);
	ck_assert_int_eq(parse((const char *const[WORDS]){ "--listen", "unix:c" }, environment),
			 STATUS_OK);
	ck_assert_uint_eq(options.listen.count, 1);
	ck_assert_str_eq(options.listen.items[0], "unix:c");
	const char *const bad[] = { "CAIRN_WORKERS=many", NULL };
	ck_assert_int_eq(parse((const char *const[WORDS]){ NULL }, bad), STATUS_TYPE);
	ck_assert_str_eq(why.field, "workers");
}
END_TEST

static const struct {
	const char *words[4];
	enum status status;
	const char *field;
	const char *text; /* must occur in the reason */
} BAD[] = {
	{ { "--wrokers", "3" }, STATUS_MISSING, "option", "--workers?" },
	{ { "--zzzzzzzzzz" }, STATUS_MISSING, "option", "--help" },
	{ { "-x" }, STATUS_MISSING, "option", "unknown option" },
	{ { "scene.yaml" }, STATUS_TYPE, "option", "--scene" },
	{ { "--workers" }, STATUS_MISSING, "workers", "needs a value" },
	{ { "--workers", "x" }, STATUS_TYPE, "workers", "whole number" },
	{ { "--workers", "-1" }, STATUS_TYPE, "workers", "whole number" },
	{ { "--workers", "3K" }, STATUS_TYPE, "workers", "whole number" },
	{ { "--workers", "33" }, STATUS_RANGE, "workers", "0 … 32" },
	{ { "--workers", "99999999999999999999" }, STATUS_TYPE, "workers", "whole number" },
	{ { "--queue-bytes", "1T" }, STATUS_TYPE, "queue-bytes", "64K" },
	{ { "--queue-bytes", "9999999999G" }, STATUS_TYPE, "queue-bytes", "64K" },
	{ { "--queue-bytes", "" }, STATUS_TYPE, "queue-bytes", "64K" },
	{ { "--paused=perhaps" }, STATUS_TYPE, "paused", "true nor false" },
	{ { "--log", "loud" }, STATUS_TYPE, "log", "debug" },
	{ { "--data=" }, STATUS_MISSING, "data", "needs a value" },
	{ { "--data=a", "--data=b" }, STATUS_EXISTS, "data", "twice" },
	{ { "--scene=a", "--scene=a" }, STATUS_EXISTS, "scene", "\"a\" is given twice" },
	{ { "--let=a=1", "--let=a=2" }, STATUS_EXISTS, "let", "now as \"a=2\"" },
	{ { "run", "a", "--ticks=1", "--every=2" }, STATUS_MISSING, "every", "--trajectory" },
	{ { "past", "a", "--when=x", "--to=2" }, STATUS_RANGE, "to", "beside --when" },
	{ { "draw", "a", "--animate", "--pictures=2" }, STATUS_RANGE, "pictures", "--animate" },
	{ { "run" }, STATUS_MISSING, "scene", "SCENE" },
	{ { "run", "a.yaml" }, STATUS_MISSING, "ticks", "--ticks" },
	{ { "run", "a", "b", "--ticks=1" }, STATUS_LIMIT, "scene", "second" },
	{ { "run", "a", "--ticks=1", "--report=xml" }, STATUS_TYPE, "report", "json" },
	{ { "replay" }, STATUS_MISSING, "file", "FILE" },
	{ { "replay", "a", "b" }, STATUS_LIMIT, "file", "second" },
	{ { "replay", "a", "--report=xml" }, STATUS_TYPE, "report", "json" },
	{ { "replay", "a", "--ticks=1" }, STATUS_MISSING, "option", "--ticks" },
	{ { "run", "a", "--listen=b", "--ticks=1" }, STATUS_MISSING, "option", "--listen" },
};

START_TEST(a_mistake_names_its_option)
{
	ck_assert_int_eq(
		PARSE(BAD[_i].words[0], BAD[_i].words[1], BAD[_i].words[2], BAD[_i].words[3]),
		BAD[_i].status);
	ck_assert_str_eq(why.field, BAD[_i].field);
	ck_assert_msg(strstr(why.text, BAD[_i].text) != NULL, "\"%s\" not in \"%s\"", BAD[_i].text,
		      why.text);
}
END_TEST

START_TEST(a_list_has_a_limit)
{
	const char *argv[2 * OPTION_LIST_MAX + 3] = { "cairnd" };
	static char names[OPTION_LIST_MAX + 1][8];
	int argc = 1;
	for (int i = 0; i <= OPTION_LIST_MAX; i++) {
		snprintf(names[i], sizeof names[i], "x%d", i);
		argv[argc++] = "--scene";
		argv[argc++] = names[i];
	}
	ck_assert_int_eq(options_parse(&options, argc - 2, argv, NULL, &why), STATUS_OK);
	ck_assert_uint_eq(options.scenes.count, OPTION_LIST_MAX);
	ck_assert_int_eq(options_parse(&options, argc, argv, NULL, &why), STATUS_LIMIT);
}
END_TEST

START_TEST(a_run_has_its_own_options)
{
	ck_assert_int_eq(PARSE("run", "tower.yaml", "--ticks", "600", "--workers=2", "--set=a=1",
			       "--set", "b=2"),
			 STATUS_OK);
	ck_assert_int_eq(options.command, OPTIONS_RUN);
	ck_assert_str_eq(options.operands.items[0], "tower.yaml");
	ck_assert_uint_eq(options.run_ticks, 600);
	ck_assert_uint_eq(options.run_workers, 2);
	ck_assert_uint_eq(options.run_set.count, 2);
	ck_assert_str_eq(options.run_set.items[1], "b=2");
	ck_assert_int_eq(PARSE("run", "a", "--ticks=0"), STATUS_OK);
	ck_assert_uint_eq(options.run_ticks, 0);
}
END_TEST

START_TEST(a_replay_has_its_own_options)
{
	ck_assert_int_eq(PARSE("replay", "w.cairn", "--verify", "--against", "v.cairn", "--from=7"),
			 STATUS_OK);
	ck_assert_int_eq(options.command, OPTIONS_REPLAY);
	ck_assert_str_eq(options.operands.items[0], "w.cairn");
	ck_assert_str_eq(options.replay_against, "v.cairn");
	ck_assert(options.replay_verify);
	ck_assert_uint_eq(options.replay_from, 7);
}
END_TEST

START_TEST(compare_needs_a_scene_and_a_format)
{
	ck_assert_int_eq(PARSE("compare", "s.yaml", "--methods", "lcp,free", "--ticks=9"),
			 STATUS_OK);
	ck_assert_int_eq(options.command, OPTIONS_COMPARE);
	ck_assert_str_eq(options.compare_methods, "lcp,free");
	ck_assert_uint_eq(options.compare_ticks, 9);
	ck_assert_int_eq(PARSE("compare"), STATUS_MISSING);
	ck_assert_int_eq(PARSE("compare", "s.yaml", "--report", "xml"), STATUS_TYPE);
	ck_assert_int_eq(PARSE("compare", "s.yaml", "t.yaml"), STATUS_LIMIT);
}
END_TEST

START_TEST(help_names_every_option_of_its_command_and_no_other)
{
	char serve[16384], run[8192], compare[8192], replay[8192], mesh[8192], care[8192],
		past[8192], stability[8192], scene[8192], draw[8192], pack[8192];
	char tiny[10];
	const char *const helps[] = {
		[OPTIONS_SERVE] = serve,     [OPTIONS_RUN] = run,
		[OPTIONS_COMPARE] = compare, [OPTIONS_REPLAY] = replay,
		[OPTIONS_MESH] = mesh,	     [OPTIONS_STORE] = care,
		[OPTIONS_PAST] = past,	     [OPTIONS_STABILITY] = stability,
		[OPTIONS_SCENE] = scene,     [OPTIONS_DRAW] = draw,
		[OPTIONS_PACK] = pack,
	};
	ck_assert_uint_lt(options_help(OPTIONS_COMPARE, compare, sizeof compare), sizeof compare);
	ck_assert_uint_lt(options_help(OPTIONS_REPLAY, replay, sizeof replay), sizeof replay);
	ck_assert_uint_lt(options_help(OPTIONS_MESH, mesh, sizeof mesh), sizeof mesh);
	ck_assert_uint_lt(options_help(OPTIONS_STORE, care, sizeof care), sizeof care);
	ck_assert_uint_lt(options_help(OPTIONS_PAST, past, sizeof past), sizeof past);
	ck_assert_uint_lt(options_help(OPTIONS_STABILITY, stability, sizeof stability),
			  sizeof stability);
	ck_assert_uint_lt(options_help(OPTIONS_PACK, pack, sizeof pack), sizeof pack);
	ck_assert_uint_lt(options_help(OPTIONS_DRAW, draw, sizeof draw), sizeof draw);
	ck_assert_uint_lt(options_help(OPTIONS_SCENE, scene, sizeof scene), sizeof scene);
	ck_assert_uint_lt(options_help(OPTIONS_SERVE, serve, sizeof serve), sizeof serve);
	ck_assert_uint_lt(options_help(OPTIONS_RUN, run, sizeof run), sizeof run);
	ck_assert_uint_eq(options_help(OPTIONS_RUN, tiny, sizeof tiny), strlen(run));
#define OPTION(command, KIND, field, name, argument, initial, min, max, help)                      \
	ck_assert_ptr_nonnull(strstr(helps[OPTIONS_##command], "--" name));
#include "server/options.def"
	ck_assert_ptr_null(strstr(run, "--listen"));
	ck_assert_ptr_null(strstr(serve, "--ticks "));
	ck_assert_int_eq(PARSE("--help", "--nonsense"), STATUS_OK);
	ck_assert_int_eq(options.command, OPTIONS_HELP);
	ck_assert_int_eq(options.help_for, OPTIONS_SERVE);
	ck_assert_int_eq(PARSE("run", "--help"), STATUS_OK);
	ck_assert_int_eq(options.help_for, OPTIONS_RUN);
	ck_assert_int_eq(PARSE("--version"), STATUS_OK);
	ck_assert_int_eq(options.command, OPTIONS_VERSION);
}
END_TEST

START_TEST(the_listeners_are_those_given_or_the_default)
{
	struct address addresses[OPTION_ADDRESSES_MAX];
	char text[ADDRESS_TEXT_MAX];
	uint32_t count;
	ck_assert_int_eq(PARSE(NULL), STATUS_OK);
	ck_assert_int_eq(options_addresses(&options, addresses, &count, &why), STATUS_OK);
	ck_assert_uint_eq(count, 1);
	address_print(&addresses[0], text);
	ck_assert_str_eq(text, "tcp:127.0.0.1:7411");
	ck_assert_int_eq(PARSE("--listen=127.0.0.1:0", "--unix=/run/c", "--listen=tcp:[::1]:5"),
			 STATUS_OK);
	ck_assert_int_eq(options_addresses(&options, addresses, &count, &why), STATUS_OK);
	ck_assert_uint_eq(count, 3);
	address_print(&addresses[2], text);
	ck_assert_str_eq(text, "unix:/run/c");
}
END_TEST

START_TEST(a_public_address_needs_tokens_and_encryption)
{
	static const char *const DOORS[] = { "--listen", "--web", "--admin" };
	for (size_t i = 0; i < COUNT_OF(DOORS); i++) {
		static const char *const OPEN[] = { "0.0.0.0:7411", "[::]:7411", "10.0.0.1:7411" };
		for (size_t k = 0; k < COUNT_OF(OPEN); k++) {
			ck_assert_int_eq(PARSE(DOORS[i], OPEN[k]), STATUS_AUTH);
			ck_assert_int_eq(PARSE(DOORS[i], OPEN[k], "--tokens", "f"), STATUS_AUTH);
			ck_assert_int_eq(PARSE(DOORS[i], OPEN[k], "--insecure-plaintext"),
					 STATUS_AUTH);
			ck_assert_int_eq(
				PARSE(DOORS[i], OPEN[k], "--tokens", "f", "--insecure-plaintext"),
				STATUS_OK);
		}
		ck_assert_int_eq(PARSE(DOORS[i], "127.0.0.1:7411"), STATUS_OK);
		ck_assert_int_eq(PARSE(DOORS[i], "[::1]:7411"), STATUS_OK);
	}
	ck_assert_int_eq(PARSE("--loopback-role", "king"), STATUS_RANGE);
	ck_assert_int_eq(PARSE("--loopback-role", "admin"), STATUS_RANGE);
	ck_assert_int_eq(PARSE("--loopback-role", "none"), STATUS_OK);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("server/options");
	TCase *parse_case = tcase_create("parse");
	tcase_add_test(parse_case, without_arguments_the_defaults_hold);
	tcase_add_test(parse_case, each_kind_is_read_from_both_notations);
	tcase_add_test(parse_case, the_command_line_overrides_the_environment_and_that_the_default);
	tcase_add_loop_test(parse_case, a_mistake_names_its_option, 0, COUNT_OF(BAD));
	tcase_add_test(parse_case, a_list_has_a_limit);
	tcase_add_test(parse_case, a_run_has_its_own_options);
	tcase_add_test(parse_case, a_replay_has_its_own_options);
	tcase_add_test(parse_case, compare_needs_a_scene_and_a_format);
	tcase_add_test(parse_case, help_names_every_option_of_its_command_and_no_other);
	tcase_add_test(parse_case, the_listeners_are_those_given_or_the_default);
	tcase_add_test(parse_case, a_public_address_needs_tokens_and_encryption);
	suite_add_tcase(suite, parse_case);
	return suite;
}

int main(void)
{
	return check_main(make);
}
