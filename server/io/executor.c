/* See executor.h: checks the arguments and passes each call to the implementation. */
#include "server/io/executor.h"

#include <unistd.h>

struct executor_options executor_options_default(void)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	/* At least two: while one is inside a long tick, the other runs the other worlds. */
	long workers = MAX_OF(cores - 1, 2L);
	return (struct executor_options){
		.workers = (uint32_t)MIN_OF(workers, EXECUTOR_WORKERS_MAX),
		.step_workers = 1,
		.queue_length = 4096,
		.fifo_priority = 0,
	};
}

enum status executor_post(struct executor *self, enum executor_thread to, executor_work *work,
			  void *context)
{
	ASSERT(work != NULL);
	ASSERT(to < EXECUTOR_WORKER + self->options.workers);
	return self->ops->post(self, to, work, context);
}

void executor_wake(struct executor *self, enum executor_thread to, struct wakeup *wakeup)
{
	ASSERT(wakeup->callback != NULL);
	ASSERT(to < EXECUTOR_WORKER + self->options.workers);
	self->ops->wake(self, to, wakeup);
}

void executor_on_alarm(struct executor *self, enum executor_thread thread, executor_work *due,
		       void *context)
{
	ASSERT(thread != EXECUTOR_LOOP);
	ASSERT(thread < EXECUTOR_WORKER + self->options.workers);
	self->ops->on_alarm(self, thread, due, context);
}

void executor_set_alarm(struct executor *self, uint64_t at)
{
	self->ops->set_alarm(self, at);
}

enum status executor_start(struct executor *self, struct reason *why)
{
	return self->ops->start(self, why);
}

void executor_stop(struct executor *self)
{
	self->ops->stop(self);
}

void executor_destroy(struct executor *self)
{
	self->ops->destroy(self);
}

void executor_hold(struct executor *self)
{
	if (self->ops->hold != NULL)
		self->ops->hold(self);
}

void executor_ring(struct executor *self)
{
	if (self->ops->ring != NULL)
		self->ops->ring(self);
}

uint32_t executor_workers(const struct executor *self)
{
	return self->options.workers;
}

enum executor_thread executor_current(const struct executor *self)
{
	return self->ops->current(self);
}

uint64_t executor_now(const struct executor *self)
{
	return self->ops->now(self);
}

uint64_t executor_used(const struct executor *self)
{
	return self->ops->used(self);
}

const struct parallel *executor_parallel(const struct executor *self)
{
	return self->parallel;
}

void executor_counters(struct executor *self, struct executor_counters *out)
{
	self->ops->counters(self, out);
}
