/* The scene of 901 cubes, watched by clients that join, leave and stall, in all profiles. This is
 * the short run; `make soak-stream` is the long one of 10^5 ticks. */
#include "server/base/heap.h"
#include "tests/lib/check_main.h"
#include "tests/lib/cubes.h"
#include "tests/lib/watchers.h"

enum { TICKS = 400, CLIENTS = 8 };

static struct cubes cubes;
static struct watchers watchers;

START_TEST(every_mirror_equals_the_world_while_clients_join_leave_and_skip)
{
	int64_t live = heap_live();
	cubes_start(&cubes, check_seed(), true);
	watchers_start(&watchers, CLIENTS, check_seed() + 1, true);
	watchers_tick(&watchers, cubes_report(&cubes, true), cubes.bodies, cubes.count);
	for (uint32_t i = 0; i < CLIENTS; i++) {
		watchers.watchers[i].steady = i < WATCHER_PROFILES;
		watchers_enter(&watchers, i, (enum wire_profile)(i % WATCHER_PROFILES),
			       i < WATCHER_PROFILES ? WIRE_COLUMNS_ALL : WIRE_COLUMNS_TICK, 1);
	}
	for (int i = 0; i < TICKS; i++) {
		cubes_play(&cubes);
		watchers_tick(&watchers, cubes_report(&cubes, false), cubes.bodies, cubes.count);
	}
	for (uint32_t p = 0; p < WATCHER_PROFILES; p++)
		ck_assert_uint_gt(watchers.counts[p].compared, TICKS / 2);
	ck_assert_uint_gt(watchers.counts[WIRE_PROFILE_VIEW].differences, TICKS / 2);
	watchers_finish(&watchers);
	cubes_finish(&cubes);
	ck_assert_int_eq(heap_live(), live);
}
END_TEST

/* The bytes a body that docs/PROTOCOL.md states, over a tenth of the trace on which they were
 * measured. */
START_TEST(a_changed_body_costs_the_stated_bytes)
{
	cubes_start(&cubes, 901, false);
	watchers_start(&watchers, 2, 1, false);
	for (int i = 0; i < 120; i++)
		cubes_play(&cubes);
	watchers_tick(&watchers, cubes_report(&cubes, true), cubes.bodies, cubes.count);
	const wire_mask fields = WIRE_COLUMN_POSITION | WIRE_COLUMN_ROTATION | WIRE_COLUMN_STATUS;
	watchers_enter(&watchers, 0, WIRE_PROFILE_VIEW, fields, 1);
	watchers_enter(&watchers, 1, WIRE_PROFILE_SIM, fields, 1);
	for (int i = 0; i < 360; i++) {
		cubes_play(&cubes);
		watchers_tick(&watchers, cubes_report(&cubes, false), cubes.bodies, cubes.count);
	}
	const struct watcher_counts *view = &watchers.counts[WIRE_PROFILE_VIEW];
	const struct watcher_counts *sim = &watchers.counts[WIRE_PROFILE_SIM];
	ck_assert_uint_gt(view->rows, 360 * 20);
	ck_assert_double_le((double)view->bytes / (double)view->rows, 8);
	ck_assert_double_le((double)sim->bytes / (double)sim->rows, 14);
	watchers_finish(&watchers);
	cubes_finish(&cubes);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("server/sync/cubes");
	TCase *cases = tcase_create("cubes");
	tcase_add_test(cases, every_mirror_equals_the_world_while_clients_join_leave_and_skip);
	tcase_add_test(cases, a_changed_body_costs_the_stated_bytes);
	suite_add_tcase(suite, cases);
	return suite;
}

int main(void)
{
	return check_main(make);
}
