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
};

void report_queue_init(struct report_queue *self);
/* Destroys what was never taken. */
void report_queue_release(struct report_queue *self);
void report_queue_push(struct report_queue *self, struct report *report); /* taken */
/* Returned owned, or NULL. */
struct report *report_queue_take(struct report_queue *self);
uint32_t report_queue_count(const struct report_queue *self);

#endif
