/* report_queue.h: reports from a world's worker to the loop thread, first in first out.
 *
 * There is one producer at a time (a world has one worker at a time, and a move between workers orders
 * their pushes) and one consumer. The producer pushes onto a shared stack; the consumer takes the whole
 * stack at once and reverses it. The queue itself has no bound: the producer checks report_queue_count
 * before it starts a slice.
 */
#ifndef CAIRN_HOST_REPORT_QUEUE_H
#define CAIRN_HOST_REPORT_QUEUE_H

#include <stdatomic.h>

#include "server/host/report.h"

struct report_queue {
	_Atomic(struct report *) newest; /* pushed, newest first */
	struct report *oldest;		 /* the consumer's: reversed, oldest first */
	atomic_uint count;
	/* Used reports that are returned for reuse, so that a steady tick allocates nothing. */
	_Atomic(struct report *) returned; /* by the consumer, any order */
	struct report *spare;		   /* the producer's */
	atomic_uint spare_count;	   /* of both */
};
enum { REPORTS_SPARE_MAX = 2 };

void report_queue_init(struct report_queue *self);
/* Destroys the reports that were never taken. */
void report_queue_release(struct report_queue *self);
void report_queue_push(struct report_queue *self, struct report *report); /* taken */
/* Returned owned, or NULL. */
struct report *report_queue_take(struct report_queue *self);
/* The producer: an empty TICK report, whose lists keep their capacity. Returned owned; NULL: no memory. */
struct report *report_queue_tick(struct report_queue *self);
/* The consumer returns a report that it has taken, or the producer one that it has not pushed. Taken. */
void report_queue_return(struct report_queue *self, struct report *report);
uint32_t report_queue_count(const struct report_queue *self);

#endif
