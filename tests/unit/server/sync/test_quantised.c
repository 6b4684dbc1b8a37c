/* Quantised columns and their log, compared with an oracle that stores every full state. */
#include "server/sync/quantised.h"

#include <string.h>

#include "server/base/body_hash.h"
#include "server/base/heap.h"
#include "server/host/report_queue.h"
#include "tests/lib/check_main.h"
#include "tests/lib/gen_reports.h"

enum { REPORTS = 200 };

struct past {
	struct wire_body bodies[GEN_BODIES_MAX];
	uint32_t count;
};
static struct past past[REPORTS + 1];

struct course {
	struct gen_reports gen;
	struct view view;
	struct quantised quantised;
};
static struct course course;

static void apply_to_view(struct report *report)
{
	ck_assert_int_eq(view_apply(&course.view, &report->ticked), STATUS_OK);
	report_destroy(report);
	struct past *now = &past[course.view.serial];
	memcpy(now->bodies, course.gen.bodies, sizeof now->bodies);
	now->count = course.gen.count;
}

static void apply_report(struct report *report)
{
	apply_to_view(report);
	ck_assert_int_eq(quantised_follow(&course.quantised, &course.view, true), STATUS_OK);
}

static void start(enum wire_profile profile, uint64_t seed)
{
	gen_reports_init(&course.gen, seed);
	course.gen.contacts = true;
	view_init(&course.view);
	quantised_init(&course.quantised, profile);
	apply_report(gen_reports_whole(&course.gen, false));
}

static void finish(void)
{
	quantised_release(&course.quantised);
	view_release(&course.view);
}

static const struct wire_body *find(const struct past *state, uint32_t id)
{
	for (uint32_t i = 0; i < state->count; i++)
		if (state->bodies[i].id == id)
			return &state->bodies[i];
	return NULL;
}

static uint8_t packed[2][512];

static struct wire_slice shown_contacts(const struct wire_body *body, uint8_t *out)
{
	struct wire_slice exact = { body->contacts, body->contact_bytes };
	return (struct wire_slice){ out,
				    wire_touches_quantise(course.quantised.profile, exact, out) };
}

static bool same_bytes(struct wire_slice a, struct wire_slice b)
{
	return a.bytes == b.bytes && (a.bytes == 0 || memcmp(a.at, b.at, a.bytes) == 0);
}

static wire_mask difference(const struct wire_body *then, const struct wire_body *now)
{
	struct wire_quantised a, b;
	wire_quantise(course.quantised.profile, then, &a);
	wire_quantise(course.quantised.profile, now, &b);
	wire_mask mask =
		wire_columns_differ(then, now) & ~(WIRE_COLUMNS_QUANTISED | WIRE_COLUMN_CONTACTS);
	struct wire_slice old = shown_contacts(then, packed[0]),
			  new = shown_contacts(now, packed[1]);
	if (!same_bytes(old, new))
		mask |= WIRE_COLUMN_CONTACTS;
	return mask | wire_quantised_differ(&a, &b);
}

/* From the state shown at the base to the one shown now: no differing row is missing and, as far
 * back as the log reaches, no quantised column is sent without need. */
static void check_base(uint64_t base, wire_mask fields, struct view_delta *delta)
{
	const struct past *then = &past[base], *now = &past[course.view.serial];
	ck_assert_int_eq(view_collect(&course.view, base, fields, delta), STATUS_OK);
	quantised_refine(&course.quantised, &course.view, base, delta);
	ck_assert(delta->absolute == (base < course.quantised.floor));
	uint32_t listed = 0;
	for (uint32_t i = 0; i < now->count; i++) {
		const struct wire_body *body = &now->bodies[i], *old = find(then, body->id);
		wire_mask differs = old != NULL ? difference(old, body) & fields : fields;
		const struct block_row *row =
			listed < delta->rows.count ? &delta->rows.items[listed] : NULL;
		if (row == NULL || row->body->id != body->id) {
			ck_assert_uint_eq(differs, 0);
			continue;
		}
		listed++;
		ck_assert_uint_eq(row->mask & differs, differs);
		if (!delta->absolute)
			ck_assert_uint_eq(row->mask & WIRE_COLUMNS_QUANTISED,
					  differs & WIRE_COLUMNS_QUANTISED);
		struct wire_quantised value;
		wire_quantise(course.quantised.profile, body, &value);
		ck_assert_uint_eq(wire_quantised_differ(row->to, &value), 0);
		if (row->mask & WIRE_COLUMN_CONTACTS)
			ck_assert(same_bytes(row->contacts, shown_contacts(body, packed[0])));
		ck_assert((row->from == NULL) == (delta->absolute || old == NULL));
		if (row->from == NULL)
			continue;
		wire_quantise(course.quantised.profile, old, &value);
		ck_assert_uint_eq(wire_quantised_differ(row->from, &value), 0);
	}
	ck_assert_uint_eq(listed, delta->rows.count);
}

static wire_mask draw_fields(void)
{
	wire_mask contacts = rng_below(&course.gen.rng, 2) ? WIRE_COLUMN_CONTACTS : 0;
	return contacts | (wire_mask)(1 + rng_below(&course.gen.rng, WIRE_COLUMNS_ALL));
}

static void check_all_bases(uint64_t first)
{
	struct view_delta delta = { 0 };
	for (uint64_t base = first; base <= course.view.serial; base++)
		check_base(base, draw_fields(), &delta);
	view_delta_release(&delta);
}

static uint64_t hash_of_now(wire_mask fields)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < course.gen.count; i++) {
		struct wire_quantised values;
		wire_quantise(course.quantised.profile, &course.gen.bodies[i], &values);
		sum += wire_quantised_hash(&course.gen.bodies[i], &values,
					   shown_contacts(&course.gen.bodies[i], packed[0]),
					   fields);
	}
	return body_hash_finish(course.gen.tick, sum, course.gen.count);
}

START_TEST(from_any_base_the_changes_lead_to_the_present_state)
{
	start(_i % 2 ? WIRE_PROFILE_SIM : WIRE_PROFILE_VIEW, check_seed() + (uint64_t)_i);
	uint64_t first = 1;
	while (course.view.serial < REPORTS) {
		uint32_t what = rng_below(&course.gen.rng, 100);
		if (what == 0) {
			apply_report(gen_reports_whole(&course.gen, _i % 4 < 2));
			first = course.view.serial;
		} else if (what < 6) {
			apply_report(gen_reports_control(&course.gen));
		} else {
			apply_report(gen_reports_next(&course.gen));
		}
		ck_assert_uint_eq(course.quantised.row_count, course.view.row_count);
		if (course.view.serial % 20 == 0)
			check_all_bases(first);
		/* A hash of columns that are in the cache, and one of more choices of columns than
		 * the cache holds. */
		wire_mask some =
			(wire_mask)(1 + 9 * rng_below(&course.gen.rng, 7)) | WIRE_COLUMN_CONTACTS;
		ck_assert_uint_eq(quantised_hash(&course.quantised, &course.view, 127),
				  hash_of_now(127));
		ck_assert_uint_eq(quantised_hash(&course.quantised, &course.view, some),
				  hash_of_now(some));
	}
	uint64_t reach = course.view.serial - course.quantised.floor;
	ck_assert(reach == WIRE_RING_TICKS - 1 || reach == WIRE_RING_TICKS ||
		  course.quantised.floor == first);
	finish();
}
END_TEST

START_TEST(compaction_of_rows_keeps_their_history)
{
	start(WIRE_PROFILE_VIEW, check_seed());
	course.gen.births = 60;
	course.gen.deaths = 30;
	uint32_t compactions = 0;
	while (course.view.serial < REPORTS) {
		uint64_t before = course.view.compacted;
		apply_report(gen_reports_next(&course.gen));
		if (course.view.compacted == before)
			continue;
		compactions++;
		/* The view forgets its bases at a compaction; the quantised log does not. */
		ck_assert_uint_lt(course.quantised.floor, course.view.serial - 1);
		check_all_bases(1);
	}
	ck_assert_uint_gt(compactions, 3);
	finish();
}
END_TEST

START_TEST(the_log_is_bounded_in_bytes_and_reports_its_first_serial)
{
	start(WIRE_PROFILE_SIM, check_seed());
	course.quantised.log_max = 256;
	course.gen.births = 100;
	course.gen.deaths = 1;
	course.gen.changes = 60;
	while (course.view.serial < REPORTS) {
		apply_report(gen_reports_next(&course.gen));
		ck_assert_uint_le(course.quantised.log_capacity, 256);
	}
	ck_assert_uint_gt(course.quantised.floor, course.view.serial - 10);
	check_all_bases(1);
	finish();
}
END_TEST

START_TEST(after_missed_reports_the_log_begins_anew)
{
	start(WIRE_PROFILE_SIM, check_seed());
	course.gen.births = 30;
	for (int i = 0; i < 20; i++)
		apply_report(gen_reports_next(&course.gen));
	for (int i = 0; i < 3; i++)
		apply_to_view(gen_reports_next(&course.gen));
	ck_assert_int_eq(quantised_follow(&course.quantised, &course.view, true), STATUS_OK);
	ck_assert_uint_eq(course.quantised.floor, course.view.serial);
	check_all_bases(1);
	finish();
}
END_TEST

START_TEST(a_change_below_the_rounding_is_not_sent)
{
	start(WIRE_PROFILE_VIEW, check_seed());
	course.gen.births = 100;
	while (course.gen.count < 5)
		apply_report(gen_reports_next(&course.gen));
	course.gen.births = course.gen.deaths = course.gen.changes = 0;
	for (int tick = 1; tick <= 10; tick++) {
		struct wire_body *body = &course.gen.bodies[3];
		struct report *report = gen_reports_next(&course.gen);
		struct report_body *reported = &report->ticked.bodies[0];
		struct view_delta delta = { 0 };
		/* A tenth of a step each tick: after five ticks it is half a step and the rounded
		 * value changes. */
		body->position[0] = 7 + tick / 5120.0;
		*reported = (struct report_body){ .why = REPORT_MOVED };
		reported->view.id = body->id;
		reported->view.status = body->status;
		reported->view.asleep = body->flags & WIRE_BODY_ASLEEP;
		reported->view.owner = body->owner;
		reported->view.tag = body->tag;
		memcpy(&reported->view.position, body->position, sizeof body->position);
		memcpy(&reported->view.rotation, body->rotation, sizeof body->rotation);
		memcpy(&reported->view.velocity, body->velocity, sizeof body->velocity);
		memcpy(&reported->view.angular_velocity, body->spin, sizeof body->spin);
		report->ticked.body_count = 1;
		report->ticked.tick_hash = gen_reports_hash(&course.gen);
		apply_report(report);
		ck_assert_int_eq(view_collect(&course.view, course.view.serial - 1, 127, &delta),
				 STATUS_OK);
		ck_assert_uint_eq(delta.rows.count, 1);
		quantised_refine(&course.quantised, &course.view, course.view.serial - 1, &delta);
		ck_assert_uint_eq(delta.rows.count, tick == 1 || tick == 5);
		view_delta_release(&delta);
	}
	finish();
}
END_TEST

START_TEST(after_any_failed_allocation_the_log_begins_anew)
{
	uint32_t failures = 0;
	for (uint64_t n = 1; n < 4; n++) {
		int64_t live = heap_live();
		start(WIRE_PROFILE_VIEW, check_seed());
		course.gen.births = 60;
		for (uint64_t i = 0; i < 40; i++) {
			apply_to_view(gen_reports_next(&course.gen));
			heap_fail_at(n);
			enum status status =
				quantised_follow(&course.quantised, &course.view, true);
			heap_fail_at(0);
			failures += status != STATUS_OK;
			if (status != STATUS_OK)
				ck_assert_int_eq(
					quantised_follow(&course.quantised, &course.view, true),
					STATUS_OK);
		}
		check_all_bases(1);
		finish();
		ck_assert_int_eq(heap_live(), live);
	}
	ck_assert_uint_gt(failures, 0);
}
END_TEST

START_TEST(a_steady_tick_makes_no_heap_call)
{
	start(WIRE_PROFILE_VIEW, check_seed());
	course.gen.births = course.gen.deaths = 20;
	while (course.view.serial < 80)
		apply_report(gen_reports_next(&course.gen));
	course.gen.births = course.gen.deaths = 0;
	while (course.view.serial < 150)
		apply_report(gen_reports_next(&course.gen));
	for (int i = 0; i < 40; i++) {
		apply_to_view(gen_reports_next(&course.gen));
		uint64_t calls = heap_calls();
		ck_assert_int_eq(quantised_follow(&course.quantised, &course.view, true),
				 STATUS_OK);
		ck_assert_uint_eq(heap_calls(), calls);
	}
	finish();
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("server/sync/quantised");
	TCase *changes = tcase_create("changes");
	tcase_add_loop_test(changes, from_any_base_the_changes_lead_to_the_present_state, 0, 4);
	tcase_add_test(changes, compaction_of_rows_keeps_their_history);
	tcase_add_test(changes, the_log_is_bounded_in_bytes_and_reports_its_first_serial);
	tcase_add_test(changes, after_missed_reports_the_log_begins_anew);
	tcase_add_test(changes, a_change_below_the_rounding_is_not_sent);
	suite_add_tcase(suite, changes);
	TCase *memory = tcase_create("memory");
	tcase_add_test(memory, after_any_failed_allocation_the_log_begins_anew);
	tcase_add_test(memory, a_steady_tick_makes_no_heap_call);
	suite_add_tcase(suite, memory);
	return suite;
}

int main(void)
{
	return check_main(make);
}
