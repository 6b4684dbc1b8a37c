/* monitor.c: those who watch what others say. */
#include "protocol/unpack.h"
#include "server/session/service.h"
#include "server/session/session.h"

enum { MONITOR_QUEUE_MAX = 64 << 10 }; /* bytes waiting for one monitor, then lines are left out */

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
		/* Its own messages, ACKs of other subscriptions among them, are no news to it. */
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
