/* A million numbered events, sent to clients that read, lag and stall. A client receives each event
 * once and in order, or NOTICE counts it as lost. */
#include <stdlib.h>

#include "server/base/body_hash.h"
#include "server/base/heap.h"
#include "server/host/report.h"
#include "tests/lib/check_main.h"
#include "tests/lib/watchers.h"

enum { EVENTS = 1000000, CLIENTS = 4, BODIES = 3 };

static struct watchers watchers;
static const struct wire_body bodies[BODIES] = {
	{ .id = 1, .rotation = { 1, 0, 0, 0 } },
	{ .id = 2, .rotation = { 1, 0, 0, 0 } },
	{ .id = 3, .rotation = { 1, 0, 0, 0 } },
};

static void *checked_calloc(size_t bytes)
{
	void *block = heap_alloc_zero(bytes);
	ck_assert_ptr_nonnull(block);
	return block;
}

static struct report *report_of(uint64_t tick, uint64_t first_event, uint32_t events)
{
	struct report *report = checked_calloc(sizeof *report);
	struct tick_report *to = &report->ticked;
	uint64_t sum = 0;
	report->kind = REPORT_TICK;
	to->tick = tick;
	to->epoch = 1;
	to->whole = tick == 1;
	to->step = true;
	to->bodies = checked_calloc(BODIES * sizeof *to->bodies);
	for (uint32_t i = 0; i < BODIES; i++)
		sum += wire_tick_hash(&bodies[i]);
	for (uint32_t i = 0; i < BODIES && to->whole; i++) {
		to->bodies[i].view.id = bodies[i].id;
		to->bodies[i].view.rotation.w = 1;
		to->bodies[i].why = REPORT_CREATED;
		to->body_count++;
	}
	to->tick_hash = body_hash_finish(tick, sum, BODIES);
	to->events = checked_calloc((events + 1) * sizeof *to->events);
	for (uint32_t i = 0; i < events; i++)
		to->events[i] = (struct event){ .kind = EVENT_CONTACT_BEGIN,
						.a = 1,
						.b = 2,
						.value = (double)(first_event + i) };
	to->event_count = events;
	return report;
}

/* Client 0 reads everything; 1 lags now and then; 2 stalls for 2.5 s in every 5; 3 does not read
 * until the end. */
static void set_stalls(struct rng *rng, uint64_t tick)
{
	uint32_t chance = rng_below(rng, 100);
	watchers.watchers[1].queued = chance < 30 ? 1 << 20 : 0;
	watchers.watchers[2].queued = tick / 150 % 2 == 1 ? 1 << 20 : 0;
	watchers.watchers[3].queued = tick > 5 ? 1 << 20 : 0;
}

START_TEST(of_a_million_events_each_arrives_or_is_counted_by_notice)
{
	int64_t live = heap_live();
	struct rng rng = rng_seeded(check_seed());
	uint64_t tick = 1, event_total = 0;
	watchers_start(&watchers, CLIENTS, check_seed(), false);
	watchers.event_mask = UINT64_C(1) << EVENT_CONTACT_BEGIN;
	watchers_tick(&watchers, report_of(tick, 1, 0), bodies, BODIES);
	for (uint32_t i = 0; i < CLIENTS; i++)
		watchers_enter(&watchers, i, (enum wire_profile)i, WIRE_COLUMNS_ALL, 1);
	while (event_total < EVENTS) {
		bool many = rng_below(&rng, 4) == 0;
		uint32_t count = rng_below(&rng, many ? 3000 : 500);
		count = (uint32_t)MIN_OF((uint64_t)count, EVENTS - event_total);
		set_stalls(&rng, tick);
		watchers_tick(&watchers, report_of(++tick, event_total + 1, count), bodies, BODIES);
		event_total += count;
	}
	/* All clients read to the end; 300 ticks, until their divisors are 1 again. */
	for (uint32_t i = 0; i < CLIENTS; i++)
		watchers.watchers[i].queued = 0;
	for (uint32_t i = 0; i < 300; i++)
		watchers_tick(&watchers, report_of(++tick, event_total + 1, 0), bodies, BODIES);
	for (uint32_t i = 0; i < CLIENTS; i++)
		ck_assert_uint_eq(watchers.watchers[i].events + watchers.watchers[i].events_lost,
				  EVENTS);
	ck_assert_uint_eq(watchers.watchers[0].events_lost, 0);
	/* The queue of events is bounded, so a client that does not read loses most of them. */
	ck_assert_uint_gt(watchers.watchers[3].events_lost, EVENTS / 2);
	ck_assert_uint_gt(watchers.watchers[3].events_lost, watchers.watchers[1].events_lost);
	watchers_finish(&watchers);
	ck_assert_int_eq(heap_live(), live);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("server/sync/events");
	TCase *events = tcase_create("events");
	tcase_add_test(events, of_a_million_events_each_arrives_or_is_counted_by_notice);
	suite_add_tcase(suite, events);
	return suite;
}

int main(void)
{
	return check_main(make);
}
