/* transport.h: a byte stream to the server: a socket, TLS over it, or a WebSocket over either.
 *
 *	unix:PATH   tcp:HOST:PORT   tls:HOST:PORT   ws://HOST:PORT[/PATH]   wss://HOST:PORT[/PATH]
 *
 * The caller sends and receives the same bytes over each of them: frames with their header of five
 * bytes. A WebSocket message carries a frame without that header; it is removed before sending and
 * restored after receiving. TLS has version 1.3; the certificate must be trusted and must name the
 * host. Opening blocks for at most `timeout_ms`; no other call blocks.
 */
#ifndef CAIRN_CLIENTS_LIB_TRANSPORT_H
#define CAIRN_CLIENTS_LIB_TRANSPORT_H

#include "server/base/bytes.h"
#include "server/base/status.h"

struct ssl_st;
struct ssl_ctx_st;

struct transport {
	int fd;				/* −1: not open */
	struct ssl_ctx_st *tls_context; /* NULL: no TLS */
	struct ssl_st *tls;
	/* Of a WebSocket. */
	bool web;
	struct bytes raw;     /* received, not split into frames yet */
	struct bytes message; /* fragments of the current message so far */
	struct bytes pongs;   /* to be sent before the next message */
};

void transport_init(struct transport *self);
void transport_release(struct transport *self);
/* `trusted`: a file of certificates (PEM); NULL: the system's. RANGE: not an address; IO: cannot
 * connect; AUTH: the certificate is not trusted; HANDSHAKE: the server does not speak WebSocket. */
MUST_CHECK enum status transport_open(struct transport *self, const char *address,
				      const char *trusted, uint32_t timeout_ms, struct reason *why);
/* Appends one complete frame to `out`, in the form that transport_send sends. NO_MEMORY. */
MUST_CHECK enum status transport_wrap(struct transport *self, const uint8_t *frame, size_t bytes,
				      struct bytes *out);
/* Sends bytes from the front of `out` and removes those that were sent. OK also if the socket
 * accepts none; CLOSED. */
MUST_CHECK enum status transport_send(struct transport *self, struct bytes *out);
/* Appends the received bytes. AGAIN: none; CLOSED, MALFORMED, TOO_LARGE, NO_MEMORY. */
MUST_CHECK enum status transport_receive(struct transport *self, struct bytes *in);
/* True if TLS holds decrypted bytes, which poll(2) does not report. */
bool transport_pending(const struct transport *self);

#endif
