/* The stacks that reach farthest (papers R-13): reaches in closed form and as printed elsewhere, and
 * that no two bricks overlap. That they stand is tested of their scenes (test_stability.py). */
#include <math.h>

#include "server/base/heap.h"
#include "server/engine/statics/overhang.h"
#include "tests/lib/check_main.h"

/* Paterson and Zwick 2009, of 5 bricks on to the digits printed there; 0: not printed. */
static const double REACHES[] = { 0, 0.5, 0.75, 1, 0, 1.30455, 1.4367, 1.53005, 1.63151 };

static struct overhang found_of(uint32_t count)
{
	struct overhang found;
	ck_assert_int_eq(overhang_find(&found, count), STATUS_OK);
	ck_assert_uint_eq(found.count, count);
	return found;
}

START_TEST(it_reaches_as_far_as_the_best_stacks_that_are_known)
{
	struct overhang found = found_of((uint32_t)_i);
	double most = 0, harmonic = 0;
	for (uint32_t i = 0; i < found.count; i++) {
		most = fmax(most, found.x[i] + 0.5);
		harmonic += 0.5 / (i + 1);
	}
	ck_assert(fabs(most - found.reach) < 1e-12);
	ck_assert(found.reach > harmonic - 1e-12);
	if (_i == 4)
		ck_assert(fabs(found.reach - (15 - 4 * sqrt(2)) / 8) < 1e-12);
	else if (_i < (int)COUNT_OF(REACHES))
		ck_assert(fabs(found.reach - REACHES[_i]) < 6e-6);
	else
		ck_assert(found.reach > found_of((uint32_t)_i - 1).reach + 0.03);
}
END_TEST

START_TEST(bricks_of_a_row_do_not_overlap_and_lie_on_others)
{
	struct overhang found = found_of((uint32_t)_i);
	for (uint32_t i = 0; i < found.count; i++) {
		bool held = found.row[i] == 0;
		for (uint32_t k = 0; k < found.count; k++) {
			double apart = fabs(found.x[i] - found.x[k]);
			if (k != i && found.row[k] == found.row[i])
				ck_assert(apart > 1 - 1e-12);
			held |= found.row[k] + 1 == found.row[i] && apart < 1;
		}
		ck_assert(held);
	}
}
END_TEST

START_TEST(a_lack_of_memory_is_told)
{
	struct overhang found;
	for (uint64_t at = 1; at <= 2; at++) {
		int64_t live = heap_live();
		heap_fail_at(at);
		ck_assert_int_eq(overhang_find(&found, 6), STATUS_NO_MEMORY);
		ck_assert_int_eq(heap_live(), live);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("overhang");
	TCase *tests = tcase_create("overhang");
	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, it_reaches_as_far_as_the_best_stacks_that_are_known, 1, 14);
	tcase_add_loop_test(tests, bricks_of_a_row_do_not_overlap_and_lie_on_others, 1, 14);
	tcase_add_test(tests, a_lack_of_memory_is_told);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return check_main(make);
}
