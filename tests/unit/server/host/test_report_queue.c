/* Report queue: first in, first out, between two threads; taken reports are reused. */
#include "server/host/report_queue.h"

#include <pthread.h>
#include <sched.h>

#include "server/base/heap.h"
#include "tests/lib/check_main.h"

enum { REPORTS = 3000, PRODUCERS = 3 };

static struct report *report_of(uint64_t number)
{
	struct report *report = heap_alloc_zero(sizeof *report);
	ck_assert_ptr_nonnull(report);
	report->kind = REPORT_REPLY;
	report->reply.ref = number;
	return report;
}

START_TEST(reports_are_taken_in_the_order_pushed)
{
	struct report_queue queue;
	uint64_t pushed = 0, taken = 0;
	report_queue_init(&queue);
	ck_assert_ptr_null(report_queue_take(&queue));
	for (uint32_t round = 1; round < 60; round++) {
		for (uint32_t i = 0; i < round; i++)
			report_queue_push(&queue, report_of(pushed++));
		/* Some reports stay in the queue, so that it holds old and new ones together. */
		for (uint32_t i = 0; i + 2 < round; i++) {
			struct report *report = report_queue_take(&queue);
			ck_assert_uint_eq(report->reply.ref, taken++);
			report_destroy(report);
		}
		ck_assert_uint_eq(report_queue_count(&queue), pushed - taken);
	}
	report_queue_release(&queue);
}
END_TEST

struct line {
	struct report_queue queue;
	atomic_uint turn; /* the producer that may push */
};

/* Producers push in turn, as the workers of a world do when the world moves between them. */
static void *produce(void *context)
{
	struct line *line = ((void **)context)[0];
	uint32_t me = (uint32_t)(uintptr_t)((void **)context)[1];
	for (uint64_t i = me; i < REPORTS; i += PRODUCERS) {
		while (atomic_load(&line->turn) % PRODUCERS != me)
			sched_yield();
		report_queue_push(&line->queue, report_of(i));
		atomic_fetch_add(&line->turn, 1);
	}
	return NULL;
}

START_TEST(no_report_is_lost_between_threads)
{
	static struct line line;
	pthread_t threads[PRODUCERS];
	void *contexts[PRODUCERS][2];
	report_queue_init(&line.queue);
	for (uintptr_t i = 0; i < PRODUCERS; i++) {
		contexts[i][0] = &line;
		contexts[i][1] = (void *)i;
		ck_assert_int_eq(pthread_create(&threads[i], NULL, produce, contexts[i]), 0);
	}
	for (uint64_t taken = 0; taken < REPORTS;) {
		struct report *report = report_queue_take(&line.queue);
		if (report == NULL) {
			sched_yield();
			continue;
		}
		ck_assert_uint_eq(report->reply.ref, taken++);
		report_destroy(report);
	}
	for (int i = 0; i < PRODUCERS; i++)
		pthread_join(threads[i], NULL);
	ck_assert_ptr_null(report_queue_take(&line.queue));
	ck_assert_uint_eq(report_queue_count(&line.queue), 0);
	report_queue_release(&line.queue);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("server/host/report_queue");
	TCase *order = tcase_create("order");
	tcase_add_test(order, reports_are_taken_in_the_order_pushed);
	tcase_add_test(order, no_report_is_lost_between_threads);
	suite_add_tcase(suite, order);
	return suite;
}

int main(void)
{
	return check_main(make);
}
