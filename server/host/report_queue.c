#include "server/host/report_queue.h"

#include "server/base/heap.h"

void report_destroy(struct report *report)
{
	if (report == NULL)
		return;
	if (report->kind == REPORT_TICK) {
		heap_free(report->ticked.bodies);
		heap_free(report->ticked.shapes);
		heap_free(report->ticked.removed);
		heap_free(report->ticked.events);
		heap_free(report->ticked.results);
		heap_free(report->ticked.values);
	} else {
		bytes_release(&report->reply.raw);
		bytes_release(&report->reply.image);
		shape_book_release(&report->reply.shapes);
		bytes_release(&report->reply.results);
	}
	heap_free(report);
}

void report_queue_init(struct report_queue *self)
{
	atomic_init(&self->newest, NULL);
	self->oldest = NULL;
	atomic_init(&self->count, 0);
}

void report_queue_release(struct report_queue *self)
{
	for (struct report *report; (report = report_queue_take(self)) != NULL;)
		report_destroy(report);
}

void report_queue_push(struct report_queue *self, struct report *report)
{
	atomic_fetch_add_explicit(&self->count, 1, memory_order_relaxed);
	struct report *newest = atomic_load_explicit(&self->newest, memory_order_relaxed);
	do
		report->next = newest;
	while (!atomic_compare_exchange_weak_explicit(&self->newest, &newest, report,
						      memory_order_release, memory_order_relaxed));
}

struct report *report_queue_take(struct report_queue *self)
{
	if (self->oldest == NULL) {
		/* Turn what has been pushed since round: the stack holds the newest first. */
		struct report *pushed =
			atomic_exchange_explicit(&self->newest, NULL, memory_order_acquire);
		while (pushed != NULL) {
			struct report *next = pushed->next;
			pushed->next = self->oldest;
			self->oldest = pushed;
			pushed = next;
		}
	}
	struct report *report = self->oldest;
	if (report != NULL) {
		self->oldest = report->next;
		atomic_fetch_sub_explicit(&self->count, 1, memory_order_relaxed);
	}
	return report;
}

uint32_t report_queue_count(const struct report_queue *self)
{
	return atomic_load_explicit(&self->count, memory_order_relaxed);
}
