/* See check_main.h. */
#include "tests/lib/check_main.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Any number will do; it is fixed so that a plain `make check` is the same run every time. */
#define SEED_DEFAULT UINT64_C(20240229)

static uint64_t seed = SEED_DEFAULT;

static uint64_t seed_read(const char *text)
{
	if (text == NULL || text[0] == '\0')
		return SEED_DEFAULT;
	if (strcmp(text, "random") == 0) {
		struct timespec now;
		clock_gettime(CLOCK_REALTIME, &now);
		return (uint64_t)now.tv_sec * 1000000007u + (uint64_t)now.tv_nsec;
	}
	return strtoull(text, NULL, 0);
}

uint64_t check_seed(void)
{
	return seed;
}

uint32_t check_cases(uint32_t all)
{
	const char *sanitizers = getenv("CAIRN_SANITIZE");
	if (sanitizers == NULL || sanitizers[0] == '\0')
		return all;
	return all >= 8 ? all / 8 : 1;
}

#undef _mark_point
void check_mark(const char *file, int line)
{
	/* Two places with the same entry are told more often. Cases run in children, which begin
	 * with an empty table. */
	static _Thread_local struct {
		const char *file;
		int line;
	} told[1024];
	size_t at = ((uintptr_t)file / 8 + (size_t)line) % (sizeof told / sizeof *told);
	if (told[at].file == file && told[at].line == line)
		return;
	told[at].file = file;
	told[at].line = line;
	_mark_point(file, line);
}

/* The name of the case is part of the TAP line, in which the harness reads the directive. */
START_TEST(is_not_here)
{
}
END_TEST

void check_skip(Suite *suite, const char *what, const char *why)
{
	/* Check keeps the pointer. */
	static char names[8][160];
	static size_t used;
	if (used == sizeof names / sizeof *names)
		abort();
	snprintf(names[used], sizeof *names, "%s # SKIP %s", what, why);
	TCase *tcase = tcase_create(names[used++]);
	tcase_add_test(tcase, is_not_here);
	suite_add_tcase(suite, tcase);
}

int check_main(Suite *(*make)(void))
{
	seed = seed_read(getenv("CAIRN_SEED"));
	printf("# seed %" PRIu64 "\n", seed);
	/* The cases run in forked children, which must not print the buffered line again. */
	fflush(stdout);
	SRunner *runner = srunner_create(make());
	srunner_set_tap(runner, "-");
	srunner_run_all(runner, CK_SILENT);
	int run = srunner_ntests_run(runner);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	/* A filter that selects nothing is a mistake of the caller, not a pass. */
	return run > 0 && failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
