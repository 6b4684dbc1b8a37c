/* Inbox: the order in which batches are taken, limits, duplicates, memory, and several sending
 * threads. */
#include "server/tick/inbox.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/heap.h"
#include "server/base/rng.h"
#include "tests/lib/check_main.h"

static const struct inbox_limits LIMITS = { 1000, 100000 };

static bool ascending(const struct inbox_entry *a, const struct inbox_entry *b)
{
	return a->session < b->session || (a->session == b->session && a->batch < b->batch);
}

START_TEST(batches_are_taken_by_session_then_batch_in_any_order_of_arrival)
{
	struct inbox *inbox;
	struct rng rng = rng_seeded(check_seed());
	static char marks[40][25];
	ck_assert_int_eq(inbox_create(&LIMITS, &inbox), STATUS_OK);
	for (uint32_t round = 0; round < 20; round++) {
		uint32_t order[1000], count;
		for (uint32_t i = 0; i < 1000; i++) {
			uint32_t other = rng_below(&rng, i + 1);
			order[i] = order[other];
			order[other] = i;
		}
		for (uint32_t i = 0; i < 1000; i++) {
			uint32_t session = order[i] / 25, batch = order[i] % 25;
			ck_assert_int_eq(
				inbox_put(inbox, session, batch, &marks[session][batch], 100),
				STATUS_OK);
		}
		const struct inbox_entry *entries = inbox_take(inbox, &count);
		ck_assert_uint_eq(count, 1000);
		for (uint32_t i = 0; i < count; i++) {
			ck_assert(i == 0 || ascending(&entries[i - 1], &entries[i]));
			ck_assert_ptr_eq(entries[i].payload,
					 &marks[entries[i].session][entries[i].batch]);
		}
		ck_assert_ptr_null(inbox_take(inbox, &count));
		ck_assert_uint_eq(count, 0);
	}
	inbox_destroy(inbox, NULL, NULL);
}
END_TEST

START_TEST(a_full_inbox_answers_busy_and_keeps_its_batches)
{
	struct inbox *inbox;
	struct inbox_counters counters;
	struct inbox_limits limits = { 3, 100 };
	ck_assert_int_eq(inbox_create(&limits, &inbox), STATUS_OK);
	ck_assert_int_eq(inbox_put(inbox, 1, 1, NULL, 50), STATUS_OK);
	ck_assert_int_eq(inbox_put(inbox, 1, 2, NULL, 51), STATUS_BUSY);
	ck_assert_int_eq(inbox_put(inbox, 1, 2, NULL, UINT32_MAX), STATUS_BUSY);
	ck_assert_int_eq(inbox_put(inbox, 1, 2, NULL, 50), STATUS_OK);
	ck_assert_int_eq(inbox_put(inbox, 2, 1, NULL, 0), STATUS_OK);
	ck_assert_int_eq(inbox_put(inbox, 3, 1, NULL, 0), STATUS_BUSY);
	inbox_counters(inbox, &counters);
	ck_assert_uint_eq(counters.accepted, 3);
	ck_assert_uint_eq(counters.refused, 3);
	ck_assert_uint_eq(counters.entries, 3);
	ck_assert_uint_eq(counters.bytes, 100);
	uint32_t count;
	ck_assert_ptr_nonnull(inbox_take(inbox, &count));
	ck_assert_uint_eq(count, 3);
	ck_assert_int_eq(inbox_put(inbox, 3, 1, NULL, 100), STATUS_OK);
	inbox_destroy(inbox, NULL, NULL);
}
END_TEST

START_TEST(a_batch_already_in_the_inbox_is_out_of_sequence)
{
	struct inbox *inbox;
	ck_assert_int_eq(inbox_create(&LIMITS, &inbox), STATUS_OK);
	ck_assert_int_eq(inbox_put(inbox, 5, 7, NULL, 1), STATUS_OK);
	ck_assert_int_eq(inbox_put(inbox, 5, 9, NULL, 1), STATUS_OK);
	ck_assert_int_eq(inbox_put(inbox, 5, 7, NULL, 1), STATUS_SEQUENCE);
	ck_assert_int_eq(inbox_put(inbox, 5, 9, NULL, 1), STATUS_SEQUENCE);
	ck_assert_int_eq(inbox_put(inbox, 6, 7, NULL, 1), STATUS_OK);
	inbox_destroy(inbox, NULL, NULL);
}
END_TEST

static void count_dropped(void *payload, void *context)
{
	UNUSED(payload);
	++*(uint32_t *)context;
}

START_TEST(destroying_the_inbox_returns_the_batches_left)
{
	struct inbox *inbox;
	uint32_t dropped = 0, count;
	ck_assert_int_eq(inbox_create(&LIMITS, &inbox), STATUS_OK);
	for (uint64_t i = 0; i < 5; i++)
		ck_assert_int_eq(inbox_put(inbox, 1, i, NULL, 1), STATUS_OK);
	(void)inbox_take(inbox, &count);
	for (uint64_t i = 0; i < 3; i++)
		ck_assert_int_eq(inbox_put(inbox, 1, i, NULL, 1), STATUS_OK);
	inbox_destroy(inbox, count_dropped, &dropped);
	ck_assert_uint_eq(dropped, 3);
}
END_TEST

START_TEST(a_steady_inbox_makes_no_heap_call)
{
	struct inbox *inbox;
	ck_assert_int_eq(inbox_create(&LIMITS, &inbox), STATUS_OK);
	uint64_t calls = 0;
	for (uint64_t i = 0; i < 5000; i++) {
		uint32_t count;
		/* After 300 batches both arrays have grown to the size they need. */
		if (i == 300)
			calls = heap_calls();
		ck_assert_int_eq(inbox_put(inbox, i % 7, i, NULL, 1), STATUS_OK);
		if (i % 100 == 99)
			(void)inbox_take(inbox, &count);
	}
	ck_assert_uint_gt(calls, 0);
	ck_assert_uint_eq(heap_calls(), calls);
	inbox_destroy(inbox, NULL, NULL);
}
END_TEST

START_TEST(a_new_inbox_is_one_block_and_a_failed_put_changes_nothing)
{
	struct inbox *inbox;
	struct inbox_counters counters;
	uint64_t calls = heap_calls();
	ck_assert_int_eq(inbox_create(&LIMITS, &inbox), STATUS_OK);
	ck_assert_uint_eq(heap_calls(), calls + 1);
	heap_fail_at(1);
	ck_assert_int_eq(inbox_put(inbox, 1, 1, NULL, 1), STATUS_NO_MEMORY);
	inbox_counters(inbox, &counters);
	ck_assert_uint_eq(counters.entries, 0);
	ck_assert_uint_eq(counters.bytes, 0);
	ck_assert_int_eq(inbox_put(inbox, 1, 1, NULL, 1), STATUS_OK);
	inbox_destroy(inbox, NULL, NULL);
}
END_TEST

struct sender {
	struct inbox *inbox;
	uint64_t session;
	pthread_t thread;
};

enum { BATCHES = 3000 };

static void *send_all(void *context)
{
	struct sender *sender = context;
	for (uint64_t batch = 0; batch < BATCHES;)
		batch += inbox_put(sender->inbox, sender->session, batch, NULL, 10) == STATUS_OK;
	return NULL;
}

START_TEST(batches_of_several_threads_arrive_once_and_in_order)
{
	struct sender senders[3];
	uint64_t next[COUNT_OF(senders)] = { 0 }, total = 0;
	struct inbox *inbox;
	struct inbox_limits limits = { 64, 100000 };
	ck_assert_int_eq(inbox_create(&limits, &inbox), STATUS_OK);
	for (uint32_t i = 0; i < COUNT_OF(senders); i++) {
		senders[i] = (struct sender){ .inbox = inbox, .session = i };
		ck_assert_int_eq(pthread_create(&senders[i].thread, NULL, send_all, &senders[i]),
				 0);
	}
	while (total < BATCHES * COUNT_OF(senders)) {
		uint32_t count;
		const struct inbox_entry *entries = inbox_take(inbox, &count);
		for (uint32_t i = 0; i < count; i++)
			ck_assert_uint_eq(entries[i].batch, next[entries[i].session]++);
		total += count;
	}
	for (uint32_t i = 0; i < COUNT_OF(senders); i++)
		ck_assert_int_eq(pthread_join(senders[i].thread, NULL), 0);
	inbox_destroy(inbox, NULL, NULL);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("server/tick/inbox");
	TCase *order = tcase_create("order");
	tcase_add_test(order, batches_are_taken_by_session_then_batch_in_any_order_of_arrival);
	tcase_add_test(order, a_full_inbox_answers_busy_and_keeps_its_batches);
	tcase_add_test(order, a_batch_already_in_the_inbox_is_out_of_sequence);
	tcase_add_test(order, destroying_the_inbox_returns_the_batches_left);
	tcase_add_test(order, a_new_inbox_is_one_block_and_a_failed_put_changes_nothing);
	tcase_add_test(order, a_steady_inbox_makes_no_heap_call);
	tcase_add_test(order, batches_of_several_threads_arrive_once_and_in_order);
	suite_add_tcase(suite, order);
	return suite;
}

int main(void)
{
	return check_main(make);
}
