/* web_stream.h: a WebSocket as a `struct stream`: one binary message is one frame's content.
 *
 * To the session it is like any other stream of framed bytes: received messages get the five bytes
 * of a frame's header, and sent frames lose them. libwebsockets needs space for its own header in
 * front of the bytes that it sends. A frame has that space (FRAME_ROOM), so a frame that many
 * clients share is not copied for each: its header is overwritten during the call and restored
 * after it.
 *
 * A message may arrive in any number of fragments. It is gathered up to the largest frame that a
 * client may send, within the time that a partial frame may take. A message that announces more,
 * and a text message, become bytes that every session refuses with an error.
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
	uint64_t message_ms;	     /* time in which a message must be complete */
};

/* Makes a stream over a WebSocket that has just been opened. The caller passes it to its owner;
 * web_stream_gone frees it. NULL: out of memory. */
struct web_stream *web_stream_create(struct web_streams *set, struct lws *wsi,
				     const struct peer *peer);
/* The stream that a session uses. */
struct stream *web_stream_door(struct web_stream *self);

/* Events of libwebsockets for the connection: bytes of a message, writable, timer, closed. True
 * asks libwebsockets to close the connection. */
bool web_stream_received(struct web_stream *self, const uint8_t *data, size_t bytes, size_t to_come,
			 bool first, bool last, bool binary);
bool web_stream_writable(struct web_stream *self);
bool web_stream_late(struct web_stream *self);
void web_stream_gone(struct web_stream *self);

#endif
