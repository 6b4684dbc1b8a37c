/* tls_stream.h: TLS 1.3 as a stream over a stream.
 *
 *	owner ◄─► tls_stream ◄─► OpenSSL, between two buffers in memory ◄─► any other stream
 *
 * The stream below carries the encrypted bytes; its owner sees an ordinary stream. Versions below 1.3
 * are refused, and there are no session tickets, no early data and no renegotiation, so a peer cannot
 * force a weaker connection. A failed handshake ends the stream with an alert; the owner limits its
 * time, as for any first message (a session's HELLO). Writes before the handshake is complete are
 * refused with CLOSED.
 *
 * Memory is bounded: 16 KiB of incoming bytes; further ones stay encrypted in the stream below.
 * Outgoing bytes are queued in the stream below, under its own bound.
 */
#ifndef CAIRN_IO_TLS_STREAM_H
#define CAIRN_IO_TLS_STREAM_H

#include "server/io/io.h"

enum { TLS_KEY_FILE_MAX = 64 << 10 }; /* bytes */

struct tls_context;

struct tls_counters {
	uint64_t streams, handshakes, failures; /* made, completed, failed */
};

/* A server's certificate (a chain in PEM) and its key. `why` names the option and OpenSSL's
 * message: IO, TYPE no certificate or key, RANGE they do not match, FORBIDDEN the key is readable
 * by other users. */
MUST_CHECK enum status tls_context_create(const char *certificate, const char *key,
					  struct tls_context **out, struct reason *why);
/* Loads new files for later streams; if one of them is refused nothing changes. */
MUST_CHECK enum status tls_context_reload(struct tls_context *self, const char *certificate,
					  const char *key, struct reason *why);
/* After the streams. */
void tls_context_destroy(struct tls_context *self);
const struct tls_counters *tls_context_counters(const struct tls_context *self);

/* The server's side over `under`, which is taken, has not been started, and is started here. Frames for
 * encrypted bytes come from `pool` (borrowed). NULL without memory: `under` is closed. */
struct stream *tls_stream_create(struct tls_context *context, struct stream *under,
				 struct frame_pool *pool);

#endif
