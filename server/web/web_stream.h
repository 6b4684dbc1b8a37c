/* web_stream.h: a WebSocket as a `struct stream`: one binary message is one frame's content.
 *
 * Upwards it looks like any other stream of framed bytes: what arrives gets its five bytes of header
 * back, what leaves loses them. libwebsockets wants room for its own header in front of the bytes it
 * sends; a frame has that room (FRAME_ROOM), so a frame that many clients share is not copied for each:
 * its header is overwritten for the length of one call, and put back.
 *
 * A message may come in any number of fragments (browsers cut where it suits them); it is gathered up to
 * the largest frame a client may send, in the time a partial frame may take. One that announces more, and
 * a text message, become bytes that every session refuses by name.
 */
#ifndef CAIRN_WEB_WEB_STREAM_H
#define CAIRN_WEB_WEB_STREAM_H

#include "server/io/io.h"

struct lws;
struct web_stream;

/* The open WebSockets of one loop. */
struct web_streams {
	struct io *io;		     /* borrowed */
	struct lws_context *context; /* borrowed */
	uint64_t message_ms;	     /* a message begun must end in this time */
};

/* A stream over a WebSocket that has just been opened; it is the caller's to hand on, and is freed when
 * the connection is gone. NULL: out of memory. */
struct web_stream *web_stream_create(struct web_streams *set, struct lws *wsi,
				     const struct peer *peer);
struct stream *web_stream_door(struct web_stream *self);

/* What libwebsockets tells of the connection. A true answer asks it to close. */
bool web_stream_received(struct web_stream *self, const uint8_t *data, size_t bytes, size_t to_come,
			 bool first, bool last, bool binary);
bool web_stream_writable(struct web_stream *self);
bool web_stream_late(struct web_stream *self);
void web_stream_gone(struct web_stream *self);

#endif
