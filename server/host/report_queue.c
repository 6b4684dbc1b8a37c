/* See report_queue.h. */
#include "server/host/report_queue.h"

#include "server/base/heap.h"

void report_release(struct report *report)
{
	if (report->kind == REPORT_TICK) {
		heap_free(report->ticked.bodies);
		heap_free(report->ticked.shapes);
		bytes_release(&report->ticked.contacts_packed);
		heap_free(report->ticked.removed);
		heap_free(report->ticked.joint_list);
		heap_free(report->ticked.joints_removed);
		heap_free(report->ticked.particle_list);
		heap_free(report->ticked.system_list);
		heap_free(report->ticked.events);
		heap_free(report->ticked.results);
		heap_free(report->ticked.values);
	} else {
		bytes_release(&report->reply.raw);
		bytes_release(&report->reply.image);
		shape_library_release(&report->reply.shapes);
		bytes_release(&report->reply.results);
	}
}

void report_destroy(struct report *report)
{
	if (report == NULL)
		return;
	report_release(report);
	heap_free(report);
}

static void push_onto(_Atomic(struct report *) *stack, struct report *report)
{
	struct report *newest = atomic_load_explicit(stack, memory_order_relaxed);
	do
		report->next = newest;
	while (!atomic_compare_exchange_weak_explicit(stack, &newest, report, memory_order_release,
						      memory_order_relaxed));
}

static struct report *take_spare(struct report_queue *self)
{
	if (self->spare == NULL)
		self->spare = atomic_exchange_explicit(&self->returned, NULL, memory_order_acquire);
	struct report *report = self->spare;
	if (report != NULL) {
		self->spare = report->next;
		atomic_fetch_sub_explicit(&self->spare_count, 1, memory_order_relaxed);
	}
	return report;
}

void report_queue_init(struct report_queue *self)
{
	atomic_init(&self->newest, NULL);
	self->oldest = NULL;
	atomic_init(&self->count, 0);
	atomic_init(&self->returned, NULL);
	self->spare = NULL;
	atomic_init(&self->spare_count, 0);
}

void report_queue_release(struct report_queue *self)
{
	for (struct report *report; (report = report_queue_take(self)) != NULL;)
		report_destroy(report);
	for (struct report *report; (report = take_spare(self)) != NULL;)
		report_destroy(report);
}

struct report *report_queue_tick(struct report_queue *self)
{
	struct report *report = take_spare(self);
	if (report == NULL) {
		report = heap_alloc_zero(sizeof *report);
		if (report != NULL)
			report->kind = REPORT_TICK;
		return report;
	}
	struct tick_report *ticked = &report->ticked;
	ticked->contacts_packed.count = 0;
	*ticked = (struct tick_report){
		.body_room = ticked->body_room,
		.shape_room = ticked->shape_room,
		.removed_room = ticked->removed_room,
		.event_room = ticked->event_room,
		.result_room = ticked->result_room,
		.value_room = ticked->value_room,
		.joint_room = ticked->joint_room,
		.joint_removed_room = ticked->joint_removed_room,
		.particle_room = ticked->particle_room,
		.system_room = ticked->system_room,
		.bodies = ticked->bodies,
		.shapes = ticked->shapes,
		.contacts_packed = ticked->contacts_packed,
		.removed = ticked->removed,
		.joint_list = ticked->joint_list,
		.joints_removed = ticked->joints_removed,
		.particle_list = ticked->particle_list,
		.system_list = ticked->system_list,
		.events = ticked->events,
		.results = ticked->results,
		.values = ticked->values,
	};
	return report;
}

void report_queue_return(struct report_queue *self, struct report *report)
{
	if (report->kind != REPORT_TICK ||
	    atomic_load_explicit(&self->spare_count, memory_order_relaxed) >= REPORTS_SPARE_MAX) {
		report_destroy(report);
		return;
	}
	atomic_fetch_add_explicit(&self->spare_count, 1, memory_order_relaxed);
	push_onto(&self->returned, report);
}

void report_queue_push(struct report_queue *self, struct report *report)
{
	atomic_fetch_add_explicit(&self->count, 1, memory_order_relaxed);
	push_onto(&self->newest, report);
}

struct report *report_queue_take(struct report_queue *self)
{
	if (self->oldest == NULL) {
		/* Reverse the stack of newly pushed reports: it holds the newest first. */
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
