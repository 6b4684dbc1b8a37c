/* See connection.h. Unsent bytes stay in `out`; a frame is returned once all of it is in `in`. */
#include "clients/lib/connection.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "protocol/frame.h"
#include "protocol/pack.h"

void connection_init(struct connection *self)
{
	memset(self, 0, sizeof *self);
	transport_init(&self->transport);
	self->frame_max = WIRE_FRAME_DOWN;
	self->frame_up = WIRE_FRAME_UP_GUEST;
}

void connection_release(struct connection *self)
{
	transport_release(&self->transport);
	bytes_release(&self->in);
	bytes_release(&self->out);
	bytes_release(&self->packed);
}

enum status connection_open(struct connection *self, const char *address, const char *trusted,
			    uint32_t timeout_ms, struct reason *why)
{
	return transport_open(&self->transport, address, trusted, timeout_ms, why);
}

/* ---- sending and receiving ----------------------------------------------------------------------- */

enum status connection_queue(struct connection *self, const struct message *message,
			     struct reason *why)
{
	for (size_t room = 512; room <= 4 * (size_t)WIRE_FRAME_UP; room *= 4) {
		uint32_t bytes;
		self->packed.count = 0;
		if (bytes_reserve(&self->packed, room) != STATUS_OK)
			return reason_set(why, STATUS_NO_MEMORY, -1, "message", "%s",
					  status_text(STATUS_NO_MEMORY));
		enum status status =
			message_pack(message, self->packed.data, (uint32_t)room, &bytes);
		bool packed = status == STATUS_OK && bytes <= self->frame_up + WIRE_FRAME_HEADER;
		if (packed)
			status = transport_wrap(&self->transport, self->packed.data, bytes,
						&self->out);
		if (packed && status == STATUS_OK)
			return STATUS_OK;
		if (status != STATUS_FULL && status != STATUS_OK)
			return message_explain(message, status, why);
	}
	return reason_set(
		why, STATUS_TOO_LARGE, -1, "message",
		"the message does not fit into a frame; the server accepts at most %u bytes",
		(unsigned)self->frame_up);
}

enum status connection_flush(struct connection *self)
{
	return transport_send(&self->transport, &self->out);
}

static enum status receive_available(struct connection *self)
{
	bytes_consume(&self->in, self->taken);
	self->taken = 0;
	return transport_receive(&self->transport, &self->in);
}

enum status connection_move(struct connection *self, int timeout_ms)
{
	enum status status = connection_flush(self);
	if (status != STATUS_OK)
		return receive_available(self) == STATUS_OK ? STATUS_OK
							    : status; /* perhaps its GOODBYE */
	if (transport_pending(&self->transport))
		return receive_available(self);
	struct pollfd descriptor = { self->transport.fd, POLLIN, 0 };
	if (self->out.count > 0)
		descriptor.events |= POLLOUT;
	int ready = poll(&descriptor, 1, timeout_ms);
	if (ready < 0 && errno != EINTR)
		return STATUS_IO;
	if (ready <= 0)
		return STATUS_AGAIN;
	if (descriptor.revents & (POLLIN | POLLHUP | POLLERR))
		return receive_available(self);
	return STATUS_OK;
}

enum status connection_next(struct connection *self, struct wire_slice *content)
{
	size_t bytes;
	/* `in.data` is NULL before the first byte arrives, and adding even 0 to NULL is undefined. */
	const uint8_t *start = self->taken > 0 ? self->in.data + self->taken : self->in.data;
	enum status status =
		frame_split(start, self->in.count - self->taken, self->frame_max, content, &bytes);
	if (status == STATUS_OK)
		self->taken += bytes;
	return status;
}
