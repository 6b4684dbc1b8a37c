/* check_main.h: the main function of every unit test program.
 *
 * A test program is one suite:
 *
 *	static Suite *make(void) { … }
 *	int main(void) { return check_main(make); }
 *
 * Output is TAP on standard output, after a comment line with the seed. Environment:
 *   CAIRN_SEED=N       seed of generated cases (default: a fixed number; "random" takes the clock)
 *   CK_RUN_CASE=NAME   run only this case (Check's own filter; CK_RUN_SUITE likewise)
 *   CK_FORK=no         run the cases in this process, for a debugger or a sanitizer
 */
#ifndef CAIRN_TESTS_CHECK_MAIN_H
#define CAIRN_TESTS_CHECK_MAIN_H

#include <check.h>
#include <stdint.h>

/* An assertion that holds tells Check its place, which Check writes and reads back: millions in some
 * programs. check_mark tells a place once a thread and case, so a crash is reported behind the place
 * that was reached last for the first time. */
void check_mark(const char *file, int line);
#define _mark_point check_mark

/* Runs the suite that `make` returns (taken). Returns main's result: 0 if all passed, else 1. */
int check_main(Suite *(*make)(void));

/* Adds a result SKIP for something that cannot be tested here because a program or file is not
 * installed. `what` and `why` are short and contain no '#'. A missing prerequisite must never count
 * as passed. */
void check_skip(Suite *suite, const char *what, const char *why);

/* The seed that was printed first. Valid within check_main and the cases it runs. */
uint64_t check_seed(void);

/* How many of `all` generated cases to try: all, and an eighth (at least one) under sanitizers, which
 * make each of them some ten times slower. */
uint32_t check_cases(uint32_t all);

#endif
