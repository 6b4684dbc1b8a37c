/* report_queue.h: reports from a world's worker to the loop thread, first in first out.
 *
 * One producer at a time (a world has one worker at a time, and moving it between workers orders
 * them), one consumer. The producer pushes onto a shared stack; the consumer takes the whole stack
 * at once and turns it round. Only the count is bounded, by the producer's own restraint
 * (report_queue_full).
 */
#ifndef CAIRN_HOST_REPORT_QUEUE_H
#define CAIRN_HOST_REPORT_QUEUE_H

#include <stdatomic.h>

#include "server/host/report.h"

struct report_queue {
	_Atomic(struct report *) newest; /* pushed, newest first */
	struct report *oldest;		 /* the consumer's: turned round, oldest first */
	atomic_uint count;
	/* Spent reports on their way back, so that a steady tick asks the heap for nothing. */
	_Atomic(struct report *) returned; /* by the consumer, any order */
	struct report *spare;		   /* the producer's */
	atomic_uint spare_count;	   /* of both */
};
enum { REPORTS_SPARE_MAX = 2 };

void report_queue_init(struct report_queue *self);
/* Destroys what was never taken. */
void report_queue_release(struct report_queue *self);
void report_queue_push(struct report_queue *self, struct report *report); /* taken */
/* Returned owned, or NULL. */
struct report *report_queue_take(struct report_queue *self);
/* The producer: an empty TICK report, whose lists keep their room. Returned owned; NULL: out of memory. */
struct report *report_queue_tick(struct report_queue *self);
/* The consumer: one that it has taken, or the producer: one that it has not pushed. Taken. */
void report_queue_return(struct report_queue *self, struct report *report);
uint32_t report_queue_count(const struct report_queue *self);

#endif
