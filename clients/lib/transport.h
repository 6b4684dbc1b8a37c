/* transport.h: what carries the frames: a socket, TLS over it, a WebSocket over either.
 *
 *	unix:PATH   tcp:HOST:PORT   tls:HOST:PORT   ws://HOST:PORT[/PATH]   wss://HOST:PORT[/PATH]
 *
 * Upwards all of them give and take the same bytes: frames with their header of five bytes. A WebSocket
 * takes it off each frame on the way out and puts it back on the way in. TLS is 1.3 and nothing less; the
 * certificate must be trusted and be the host's. Opening blocks, up to a time; afterwards nothing does.
 */
#ifndef CAIRN_CLIENTS_LIB_TRANSPORT_H
#define CAIRN_CLIENTS_LIB_TRANSPORT_H

#include "server/base/bytes.h"
#include "server/base/status.h"

struct ssl_st;
struct ssl_ctx_st;

struct transport {
	int fd;				/* −1 none */
	struct ssl_ctx_st *tls_context; /* NULL: no TLS */
	struct ssl_st *tls;
	bool web;	      /* a WebSocket */
	struct bytes raw;     /* of a WebSocket: arrived, not taken apart yet */
	struct bytes message; /* in fragments so far */
	struct bytes answers; /* pongs */
};

void transport_init(struct transport *self);
void transport_release(struct transport *self);
/* `trusted`: a file of certificates (PEM), NULL for the system's. RANGE, IO, AUTH a certificate that is not
 * trusted, HANDSHAKE no WebSocket. */
MUST_CHECK enum status transport_open(struct transport *self, const char *address,
				      const char *trusted, uint32_t timeout_ms, struct reason *why);
/* Appends one whole frame to bytes that transport_send will take. NO_MEMORY. */
MUST_CHECK enum status transport_wrap(struct transport *self, const uint8_t *frame, size_t bytes,
				      struct bytes *out);
/* Sends what it can from the front and takes it off. OK also where nothing could be sent; CLOSED. */
MUST_CHECK enum status transport_send(struct transport *self, struct bytes *out);
/* Appends what has arrived. AGAIN: nothing; CLOSED, MALFORMED, NO_MEMORY. */
MUST_CHECK enum status transport_receive(struct transport *self, struct bytes *in);
/* There is something to receive that poll(2) does not see. */
bool transport_pending(const struct transport *self);

#endif
