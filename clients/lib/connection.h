/* connection.h: frames to and from a cairnd: a transport, an outgoing buffer, and an incoming
 * buffer that is split into frames. It needs only POSIX sockets, poll(2) and OpenSSL, so the
 * library fits into any program. */
#ifndef CAIRN_CLIENTS_LIB_CONNECTION_H
#define CAIRN_CLIENTS_LIB_CONNECTION_H

#include "clients/lib/transport.h"
#include "protocol/message.h"
#include "server/base/bytes.h"

struct connection {
	struct transport transport;
	struct bytes in, out;
	struct bytes packed; /* scratch: one packed message before it is appended to `out` */
	size_t taken;	     /* bytes of `in` that connection_next has returned */
	uint32_t frame_max;  /* largest content of a received frame, bytes */
	uint32_t frame_up;   /* largest content of a sent frame, bytes */
};

void connection_init(struct connection *self);
/* As transport_open. */
MUST_CHECK enum status connection_open(struct connection *self, const char *address,
				       const char *trusted, uint32_t timeout_ms,
				       struct reason *why);
void connection_release(struct connection *self);
/* Appends a message to the outgoing buffer. TOO_LARGE, NO_MEMORY. */
MUST_CHECK enum status connection_queue(struct connection *self, const struct message *message,
					struct reason *why);
/* Sends queued bytes without waiting; the rest stays queued. CLOSED. */
MUST_CHECK enum status connection_flush(struct connection *self);
/* Sends queued bytes and receives; waits at most `timeout_ms` for the socket. AGAIN: nothing was
 * received; CLOSED, IO. */
MUST_CHECK enum status connection_move(struct connection *self, int timeout_ms);
/* The content of the next complete frame, borrowed until the next connection_move. AGAIN, MALFORMED,
 * TOO_LARGE. */
MUST_CHECK enum status connection_next(struct connection *self, struct wire_slice *content);

#endif
