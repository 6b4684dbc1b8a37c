/* connection.h: frames to and from a cairnd: a transport, an outgoing buffer, an incoming one that is split
 * into frames. POSIX sockets, poll(2) and OpenSSL, so that the library fits into any program. */
#ifndef CAIRN_CLIENTS_LIB_CONNECTION_H
#define CAIRN_CLIENTS_LIB_CONNECTION_H

#include "clients/lib/transport.h"
#include "protocol/message.h"
#include "server/base/bytes.h"

struct connection {
	struct transport transport;
	struct bytes in, out;
	struct bytes packed; /* a message on its way into `out` */
	size_t taken;	     /* bytes of `in` that have been looked at */
	uint32_t frame_max;  /* bytes of content that may come */
	uint32_t frame_up;   /* and that may be sent */
};

void connection_init(struct connection *self);
/* As transport_open. */
MUST_CHECK enum status connection_open(struct connection *self, const char *address,
				       const char *trusted, uint32_t timeout_ms,
				       struct reason *why);
void connection_release(struct connection *self);
MUST_CHECK enum status connection_queue(struct connection *self, const struct message *message,
					struct reason *why);
/* Writes what it can without waiting. CLOSED. */
MUST_CHECK enum status connection_flush(struct connection *self);
/* Writes and reads what it can within `timeout_ms`. AGAIN: nothing came; CLOSED, IO. */
MUST_CHECK enum status connection_move(struct connection *self, int timeout_ms);
/* The next whole frame's content, borrowed until the next connection_move. AGAIN, MALFORMED, TOO_LARGE. */
MUST_CHECK enum status connection_next(struct connection *self, struct wire_slice *content);

#endif
