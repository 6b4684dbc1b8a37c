/* The view of a world, compared with an oracle that stores every full state. */
#include "server/sync/view.h"

#include <string.h>

#include "server/base/body_hash.h"
#include "server/base/heap.h"
#include "server/host/report_queue.h"
#include "tests/lib/check_main.h"
#include "tests/lib/gen_reports.h"

enum { REPORTS = 220 };

/* The state after each serial number. */
struct past {
	struct wire_body bodies[GEN_BODIES_MAX];
	uint32_t count;
	uint32_t epoch;
	bool whole;
};
static struct past past[REPORTS + 1];

struct course {
	struct gen_reports gen;
	struct view view;
};

static void course_apply(struct course *course, struct report *report)
{
	ck_assert_int_eq(view_apply(&course->view, &report->ticked), STATUS_OK);
	struct past *now = &past[course->view.serial];
	memcpy(now->bodies, course->gen.bodies, sizeof now->bodies);
	now->count = course->gen.count;
	now->epoch = course->gen.epoch;
	now->whole = report->ticked.whole;
	report_destroy(report);
}

static void course_start(struct course *course, uint64_t seed)
{
	gen_reports_init(&course->gen, seed);
	course->gen.contacts = seed % 2 == 0;
	view_init(&course->view);
	course_apply(course, gen_reports_whole(&course->gen, false));
}

static const struct wire_body *find(const struct past *state, uint32_t id)
{
	for (uint32_t i = 0; i < state->count; i++)
		if (state->bodies[i].id == id)
			return &state->bodies[i];
	return NULL;
}

/* A delta must lead from the base to the present state, name no body or removal without a cause,
 * and include every column that differs. Columns that changed and changed back may be included. */
static void check_delta(struct course *course, uint64_t base, wire_mask fields,
			const struct view_delta *delta)
{
	const struct past *then = &past[base], *now = &past[course->view.serial];
	uint32_t row = 0, gone = 0;
	for (uint32_t i = 1; i < delta->rows.count; i++)
		ck_assert_uint_lt(delta->rows.items[i - 1].body->id, delta->rows.items[i].body->id);
	for (uint32_t i = 0; i < now->count; i++) {
		const struct wire_body *body = &now->bodies[i], *old = find(then, body->id);
		bool listed =
			row < delta->rows.count && delta->rows.items[row].body->id == body->id;
		wire_mask differs = old != NULL ? wire_columns_differ(old, body) & fields : fields;
		ck_assert(listed || differs == 0);
		if (!listed)
			continue;
		const struct block_row *found = &delta->rows.items[row++];
		ck_assert_uint_eq(wire_columns_differ(found->body, body), 0);
		ck_assert_uint_eq(found->created, old == NULL);
		ck_assert_uint_eq(found->mask & differs, differs);
		ck_assert_uint_ne(found->mask, 0);
		ck_assert_uint_eq(found->mask & ~fields, 0);
	}
	ck_assert_uint_eq(row, delta->rows.count);
	for (uint32_t i = 0; i < then->count; i++) {
		if (find(now, then->bodies[i].id) != NULL)
			continue;
		ck_assert_uint_lt(gone, delta->removed.count);
		ck_assert_uint_eq(delta->removed.items[gone++], then->bodies[i].id);
	}
	ck_assert_uint_eq(gone, delta->removed.count);
}

static void check_all_bases(struct course *course)
{
	struct view_delta delta = { 0 };
	uint64_t first = 1;
	for (uint64_t serial = 1; serial <= course->view.serial; serial++)
		first = past[serial].whole ? serial : first;
	for (uint64_t base = 0; base <= course->view.serial; base++) {
		wire_mask fields = (wire_mask)(1 + rng_below(&course->gen.rng, WIRE_COLUMNS_ALL));
		fields |= rng_below(&course->gen.rng, 2) ? WIRE_COLUMN_CONTACTS : 0;
		enum status status = view_collect(&course->view, base, fields, &delta);
		if (base < first) {
			ck_assert_int_eq(status, STATUS_MISSING);
			continue;
		}
		ck_assert_int_eq(status, STATUS_OK);
		check_delta(course, base, fields, &delta);
		bool recent = course->view.serial - base < WIRE_RING_TICKS &&
			      base >= course->view.compacted;
		ck_assert(delta.absolute == !recent);
	}
	ck_assert_int_eq(view_collect_all(&course->view, WIRE_COLUMNS_ALL, &delta), STATUS_OK);
	ck_assert_uint_eq(delta.rows.count, course->gen.count);
	view_delta_release(&delta);
}

START_TEST(from_any_base_a_delta_leads_to_the_present_state)
{
	static struct course course;
	course_start(&course, check_seed() + (uint64_t)_i);
	while (course.view.serial < REPORTS) {
		uint32_t what = rng_below(&course.gen.rng, 100);
		if (what < 6)
			course_apply(&course, gen_reports_control(&course.gen));
		else if (what < 8)
			course_apply(&course, gen_reports_whole(&course.gen, what == 7));
		else
			course_apply(&course, gen_reports_next(&course.gen));
		if (course.view.serial % 20 == 0 || what < 8)
			check_all_bases(&course);
		bool is_tick_hash;
		ck_assert_uint_eq(view_hash(&course.view, WIRE_COLUMNS_ALL, &is_tick_hash),
				  gen_reports_hash(&course.gen));
		ck_assert(is_tick_hash);
	}
	view_release(&course.view);
}
END_TEST

START_TEST(rows_stay_bounded_while_bodies_are_made_and_removed)
{
	static struct course course;
	course_start(&course, check_seed());
	course.gen.births = 60;
	course.gen.deaths = 30;
	uint64_t compactions = 0;
	while (course.view.serial < REPORTS) {
		uint64_t before = course.view.compacted;
		course_apply(&course, gen_reports_next(&course.gen));
		compactions += course.view.compacted != before;
		ck_assert_uint_le(course.view.row_count, 64 + 2 * course.view.live_count);
	}
	check_all_bases(&course);
	ck_assert_uint_gt(compactions, 3);
	ck_assert_uint_gt(course.view.removal_count, 1000);
	view_release(&course.view);
}
END_TEST

START_TEST(a_base_before_the_log_of_removals_needs_a_snapshot)
{
	static struct course course;
	struct view_delta delta = { 0 };
	course_start(&course, check_seed());
	course.gen.births = 100;
	course.gen.deaths = 0;
	while (course.gen.count < 300)
		course_apply(&course, gen_reports_next(&course.gen));
	uint64_t base = course.view.serial;
	/* Bodies are removed and made until the log of removals has wrapped around. */
	uint64_t removed = course.view.removal_count;
	while (course.view.removal_count - removed <= VIEW_REMOVALS_MAX + 400) {
		course.gen.births = 100;
		course.gen.deaths = 50;
		struct report *report = gen_reports_next(&course.gen);
		ck_assert_int_eq(view_apply(&course.view, &report->ticked), STATUS_OK);
		report_destroy(report);
		if (course.view.removal_count - removed < VIEW_REMOVALS_MAX)
			ck_assert_int_eq(view_collect(&course.view, base, 1, &delta), STATUS_OK);
	}
	ck_assert_int_eq(view_collect(&course.view, base, 1, &delta), STATUS_MISSING);
	ck_assert_int_eq(view_collect(&course.view, course.view.serial - 1, 1, &delta), STATUS_OK);
	view_delta_release(&delta);
	view_release(&course.view);
}
END_TEST

START_TEST(an_inconsistent_report_is_noticed)
{
	static struct course course;
	struct report *report;
	/* 0: a wrong hash; 1: an unknown body changes; 2: a known body is created; 3: an unknown
	 * body is removed; 4: a body is left out. */
	for (int lie = 0; lie < 5; lie++) {
		course_start(&course, check_seed());
		course.gen.births = 50;
		for (int i = 0; i < 10; i++)
			course_apply(&course, gen_reports_next(&course.gen));
		report = gen_reports_next(&course.gen);
		struct tick_report *ticked = &report->ticked;
		ck_assert_uint_gt(ticked->body_count, 1);
		struct report_body *last = &ticked->bodies[ticked->body_count - 1];
		if (lie == 0)
			ticked->tick_hash ^= 1;
		else if (lie == 1)
			*last = (struct report_body){ .view.id = 999999, .why = REPORT_MOVED };
		else if (lie == 2)
			*last = (struct report_body){ .view.id = 1, .why = REPORT_CREATED };
		else if (lie == 3)
			ticked->removed[ticked->removed_count++] = 999999;
		else
			ticked->body_count--;
		ck_assert_int_eq(view_apply(&course.view, ticked), STATUS_CORRUPT);
		report_destroy(report);
		/* A whole report restores the view. */
		report = gen_reports_whole(&course.gen, false);
		ck_assert_int_eq(view_apply(&course.view, &report->ticked), STATUS_OK);
		report_destroy(report);
		view_release(&course.view);
	}
}
END_TEST

START_TEST(after_any_failed_allocation_a_whole_report_restores_the_view)
{
	static struct course course;
	for (uint64_t n = 1; n < 60; n++) {
		course_start(&course, check_seed());
		course.gen.births = 40;
		for (uint64_t i = 0; i < 12; i++) {
			struct report *report = gen_reports_next(&course.gen);
			heap_fail_at(i == 3 ? n : 0);
			enum status status = view_apply(&course.view, &report->ticked);
			heap_fail_at(0);
			report_destroy(report);
			if (status == STATUS_OK)
				continue;
			ck_assert_int_eq(status, STATUS_NO_MEMORY);
			report = gen_reports_whole(&course.gen, false);
			ck_assert_int_eq(view_apply(&course.view, &report->ticked), STATUS_OK);
			report_destroy(report);
		}
		bool is_tick_hash;
		ck_assert_uint_eq(view_hash(&course.view, 31, &is_tick_hash),
				  gen_reports_hash(&course.gen));
		view_release(&course.view);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("server/sync/view");
	TCase *deltas = tcase_create("deltas");
	tcase_add_loop_test(deltas, from_any_base_a_delta_leads_to_the_present_state, 0, 4);
	tcase_add_test(deltas, rows_stay_bounded_while_bodies_are_made_and_removed);
	tcase_add_test(deltas, a_base_before_the_log_of_removals_needs_a_snapshot);
	suite_add_tcase(suite, deltas);
	TCase *faults = tcase_create("faults");
	tcase_add_test(faults, an_inconsistent_report_is_noticed);
	tcase_add_test(faults, after_any_failed_allocation_a_whole_report_restores_the_view);
	suite_add_tcase(suite, faults);
	return suite;
}

int main(void)
{
	return check_main(make);
}
