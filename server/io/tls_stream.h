/* tls_stream.h: TLS 1.3 as a stream over a stream.
 *
 *	owner ◄─► tls_stream ◄─► OpenSSL, between two buffers in memory ◄─► any other stream
 *
 * The stream below carries what OpenSSL makes of the bytes above; nothing above knows. Versions below
 * 1.3 are refused, there are no session tickets, no early data and no renegotiation, so there is nothing
 * to negotiate down. A handshake that fails ends the stream with an alert; how long one may take is the
 * owner's to bound, as with any first message (a session's HELLO). What is written before it is complete
 * is refused (CLOSED): a server has nothing to say to somebody it cannot hear.
 *
 * Bounded: 16 KiB in, unread plain text stays encrypted below, and what waits to be sent waits in the
 * stream below under its own bound.
 */
#ifndef CAIRN_IO_TLS_STREAM_H
#define CAIRN_IO_TLS_STREAM_H

#include "server/io/io.h"

enum { TLS_KEY_FILE_MAX = 64 << 10 }; /* bytes */

struct tls_context;

struct tls_counters {
	uint64_t streams, handshakes, failures; /* made, completed, failed */
};

/* A server's certificate (a chain in PEM) and its key. `why` names the option and what OpenSSL says: IO,
 * TYPE no certificate or key, RANGE they do not belong together, FORBIDDEN everybody may read the key. */
enum status tls_context_create(const char *certificate, const char *key, struct tls_context **out,
			       struct reason *why) MUST_CHECK;
/* Takes new files in place of the old ones for streams to come; where one is wrong nothing changes. */
enum status tls_context_reload(struct tls_context *self, const char *certificate, const char *key,
			       struct reason *why) MUST_CHECK;
/* After the streams. */
void tls_context_destroy(struct tls_context *self);
const struct tls_counters *tls_context_counters(const struct tls_context *self);

/* The server's side over `under`, which is taken, has not been started, and is started here. Frames for
 * encrypted bytes come from `pool` (borrowed). NULL without memory: `under` is closed. */
struct stream *tls_stream_create(struct tls_context *context, struct stream *under,
				 struct frame_pool *pool);

#endif
