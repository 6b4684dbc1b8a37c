/* monitor.c: MONITOR_LINE: a message of one session, reported to every session that monitors. A
 * monitor whose queue is full loses lines; the next line that it gets says how many. */
#include "protocol/unpack.h"
#include "server/session/service.h"
#include "server/session/session.h"

/* Above this many queued bytes a monitor gets no further lines, so that monitoring never makes it
 * slow. */
enum { MONITOR_QUEUE_MAX = 64 << 10 };

void session_observe(struct session *self, const struct message *message, uint32_t bytes)
{
	struct service *service = self->service;
	struct message line;
	if (service->monitors == 0)
		return;
	message_init(&line, MESSAGE_MONITOR_LINE);
	line.monitor_line.time_us = io_now_us(service->io);
	line.monitor_line.session = self->number;
	line.monitor_line.message = message->type;
	line.monitor_line.ref = message_ref(message);
	line.monitor_line.bytes = bytes;
	for (uint32_t i = 0; i < service->sessions.items.count; i++) {
		struct session *monitor = service->sessions.items.items[i];
		/* A monitor does not see its own messages, because each line would cause further
		 * ones (its ACKs). */
		if (!monitor->monitors || monitor == self || monitor->state != SESSION_OPEN)
			continue;
		line.monitor_line.lost = monitor->monitor_lost;
		bool sent = outbox_queued(&monitor->outbox) < MONITOR_QUEUE_MAX &&
			    session_send(monitor, &line) == STATUS_OK;
		monitor->monitor_lost = sent ? 0 : monitor->monitor_lost + 1;
	}
}

void session_end_monitor(struct session *self)
{
	if (self->monitors)
		self->service->monitors--;
	self->monitors = false;
}
