/* See web_stream.h. Nothing is sent while libwebsockets holds an unsent rest (`partial`); a close
 * is always asynchronous, so that the stream stays valid until its caller has returned. */
#include "server/web/web_stream.h"

#include <libwebsockets.h>

#include "protocol/frame.h"
#include "protocol/limits.h"
#include "server/base/array.h"
#include "server/base/bytes.h"
#include "server/base/heap.h"

/* libwebsockets overwrites LWS_PRE bytes in front of what it sends. */
_Static_assert(FRAME_ROOM >= LWS_PRE, "a frame has room for the header of a message");

enum { GATHER_BYTES = 4096 };

enum web_state { WEB_NEW, WEB_OPEN, WEB_FINISHING, WEB_CLOSING };

/* Queued bytes: those of a frame from `at` on. */
struct web_waiting {
	struct frame *frame;
	uint32_t at;
};

struct web_stream {
	struct stream stream;
	struct web_streams *set;
	struct lws *wsi;
	enum web_state state;
	struct peer peer;
	/* Output: frames from `first` on are queued; `partial` bytes are in libwebsockets, which
	 * could not send a message whole. */
	ARRAY_OF(struct web_waiting) waiting;
	uint32_t first;
	size_t queued, partial;
	uint32_t left; /* unsent bytes of the message at the front */
	bool fresh;    /* no byte of it has been sent */
	bool tailed;   /* `drained` must be called when the queue is empty */
	/* Input: an incomplete message, with space for a frame's header in front. */
	struct bytes input;
	size_t given; /* bytes of a complete message passed to the owner */
	bool whole, paused;
	uint64_t message_until; /* instant */
	bool timed;		/* a message has begun that must end in time */
	enum status why;
};

static struct web_stream *web_of(const struct stream *stream)
{
	return (struct web_stream *)stream;
}

/* Closes the connection after the caller has returned; may be called from anywhere. */
static void end_stream(struct web_stream *self, enum status why)
{
	if (self->state == WEB_CLOSING)
		return;
	self->state = WEB_CLOSING;
	self->why = why;
	lws_set_timeout(self->wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC);
	lws_cancel_service(self->set->context);
}

/* ---- sending --------------------------------------------------------------------------------- */
static void update_queued_total(struct web_stream *self, size_t before)
{
	uint64_t *total = &self->stream.io->counters.queued_bytes;
	*total = *total - before + self->queued + self->partial;
}

/* Sends a piece of a message; `piece` has LWS_PRE bytes in front, which are restored. False: the
 * connection is broken. */
static bool send_piece(struct web_stream *self, uint8_t *piece, size_t bytes, bool last)
{
	struct io_counters *counters = &self->stream.io->counters;
	uint8_t kept[LWS_PRE];
	int how = (self->fresh ? LWS_WRITE_BINARY : LWS_WRITE_CONTINUATION) |
		  (last ? 0 : LWS_WRITE_NO_FIN);
	memcpy(kept, piece - LWS_PRE, LWS_PRE);
	int sent = lws_write(self->wsi, piece, bytes, (enum lws_write_protocol)how);
	memcpy(piece - LWS_PRE, kept, LWS_PRE);
	counters->writes++;
	self->fresh = false;
	if (sent < (int)bytes)
		return false;
	if (lws_partial_buffered(self->wsi)) {
		counters->writes_short++;
		self->partial = bytes;
	}
	counters->bytes_out += bytes;
	return true;
}

/* Removes bytes from the front of the queue. */
static void consume_bytes(struct web_stream *self, size_t bytes)
{
	self->queued -= bytes;
	while (bytes > 0 || (self->first < self->waiting.count &&
			     self->waiting.items[self->first].at ==
				     self->waiting.items[self->first].frame->bytes)) {
		struct web_waiting *front = &self->waiting.items[self->first];
		uint32_t part = (uint32_t)MIN_OF(bytes, (size_t)(front->frame->bytes - front->at));
		front->at += part;
		bytes -= part;
		if (front->at == front->frame->bytes) {
			frame_release(front->frame);
			self->first++;
		}
	}
}

/* Copies `bytes` from the front of the queue, across frames. */
static void gather_bytes(const struct web_stream *self, uint8_t *out, size_t bytes)
{
	for (uint32_t i = self->first; bytes > 0; i++) {
		const struct web_waiting *waiting = &self->waiting.items[i];
		size_t part = MIN_OF(bytes, (size_t)(waiting->frame->bytes - waiting->at));
		memcpy(out, waiting->frame->data + waiting->at, part);
		out += part;
		bytes -= part;
	}
}

/* Sends the next message, or the next piece of it. A shared tail follows a head of the client's own
 * in another buffer: a short message is copied together, because one system call costs more than
 * the copy; a long one is sent as fragments without a copy. */
static bool send_next(struct web_stream *self)
{
	uint8_t small[LWS_PRE + GATHER_BYTES];
	struct web_waiting *front = &self->waiting.items[self->first];
	if (self->left == 0) {
		/* Every frame begins with a header, because the packer made it. */
		ASSERT(front->frame->bytes - front->at >= WIRE_FRAME_HEADER);
		self->left = get_be32(front->frame->data + front->at + 1);
		self->fresh = true;
		consume_bytes(self, WIRE_FRAME_HEADER);
		if (self->first == self->waiting.count)
			return true;
		front = &self->waiting.items[self->first];
	}
	size_t here = front->frame->bytes - front->at, bytes = MIN_OF(here, (size_t)self->left);
	uint8_t *piece = front->frame->data + front->at;
	if (here < self->left && self->fresh && self->left <= GATHER_BYTES &&
	    self->queued >= self->left) {
		bytes = self->left;
		piece = small + LWS_PRE;
		gather_bytes(self, piece, bytes);
	}
	bool sent = send_piece(self, piece, bytes, bytes == self->left);
	self->left -= (uint32_t)bytes;
	consume_bytes(self, bytes);
	return sent;
}

/* Sends as much as the socket takes. libwebsockets forbids sending while it holds an unsent rest. */
static void send_waiting(struct web_stream *self)
{
	while (self->first < self->waiting.count && self->partial == 0 &&
	       self->state != WEB_CLOSING)
		if (!send_next(self))
			end_stream(self, STATUS_CLOSED);
	if (self->first == self->waiting.count)
		self->first = self->waiting.count = 0;
	if (self->partial > 0 || self->first < self->waiting.count) {
		self->tailed = true;
		lws_callback_on_writable(self->wsi);
	}
}

static enum status web_write(struct stream *stream, struct frame *const frames[], uint32_t count)
{
	struct web_stream *self = web_of(stream);
	size_t before = self->queued + self->partial, bytes = 0;
	if (self->state != WEB_OPEN && self->state != WEB_NEW)
		return STATUS_CLOSED;
	for (uint32_t i = 0; i < count; i++)
		bytes += frames[i]->bytes;
	if (before + bytes > stream->io->limits.queue_bytes) {
		stream->io->counters.writes_refused++;
		return STATUS_FULL;
	}
	/* Reuses the entries of frames that have been sent. */
	if (self->first > 0 && self->first >= self->waiting.count / 2) {
		self->waiting.count -= self->first;
		memmove(self->waiting.items, self->waiting.items + self->first,
			self->waiting.count * sizeof self->waiting.items[0]);
		self->first = 0;
	}
	if (ARRAY_RESERVE(&self->waiting, self->waiting.count + (uint64_t)count) != STATUS_OK)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < count; i++)
		self->waiting.items[self->waiting.count++] =
			(struct web_waiting){ .frame = frame_retain(frames[i]) };
	self->queued += bytes;
	send_waiting(self);
	update_queued_total(self, before);
	return self->state == WEB_CLOSING ? STATUS_CLOSED : STATUS_OK;
}

static size_t web_queued(const struct stream *stream)
{
	return web_of(stream)->queued + web_of(stream)->partial;
}

bool web_stream_writable(struct web_stream *self)
{
	size_t before = self->queued + self->partial;
	/* libwebsockets calls this only after its unsent rest has been sent. */
	self->partial = 0;
	send_waiting(self);
	update_queued_total(self, before);
	bool empty = self->queued == 0 && self->partial == 0;
	if (empty && self->state == WEB_FINISHING) {
		lws_close_reason(self->wsi, LWS_CLOSE_STATUS_NORMAL, NULL, 0);
		self->state = WEB_CLOSING;
		return true;
	}
	bool owed = empty && self->tailed && self->state == WEB_OPEN;
	self->tailed = self->tailed && !empty;
	if (owed && self->stream.events->drained != NULL)
		self->stream.events->drained(self->stream.context);
	return self->state == WEB_CLOSING;
}

/* ---- receiving ------------------------------------------------------------------------------- */
/* Passes the rest of a complete message to the owner, as far as it has space. */
static void deliver_message(struct web_stream *self)
{
	while (self->state == WEB_OPEN && self->given < self->input.count) {
		uint8_t *into = NULL;
		size_t room = self->stream.events->space(self->stream.context, &into);
		if (room == 0) {
			self->paused = true;
			lws_rx_flow_control(self->wsi, 0);
			return;
		}
		size_t bytes = MIN_OF(room, self->input.count - self->given);
		memcpy(into, self->input.data + self->given, bytes);
		self->given += bytes;
		self->stream.io->counters.bytes_in += bytes;
		self->stream.events->received(self->stream.context, bytes);
	}
	self->input.count = self->given = 0;
	self->whole = false;
}

/* Passes bytes that are not a frame to the session, so that it ends the connection with an
 * error. */
static void refuse_message(struct web_stream *self, const uint8_t *bytes, size_t count)
{
	self->input.count = self->given = 0;
	if (bytes_append(&self->input, bytes, count) != STATUS_OK) {
		end_stream(self, STATUS_NO_MEMORY);
		return;
	}
	self->whole = true;
	deliver_message(self);
	/* If the owner accepts them it would misread later bytes, so the stream ends. */
	if (self->state == WEB_OPEN)
		end_stream(self, STATUS_MALFORMED);
}

static bool begin_message(struct web_stream *self)
{
	static const uint8_t HEADER[WIRE_FRAME_HEADER];
	self->input.count = 0;
	return bytes_append(&self->input, HEADER, sizeof HEADER) == STATUS_OK;
}

bool web_stream_received(struct web_stream *self, const uint8_t *data, size_t bytes, size_t to_come,
			 bool first, bool last, bool binary)
{
	static const uint8_t NO_FRAME[1] = { 0 };
	if (self->state != WEB_OPEN)
		return self->state == WEB_CLOSING;
	if (self->whole || (first && !begin_message(self))) {
		end_stream(self, STATUS_NO_MEMORY);
		return true;
	}
	size_t content = self->input.count - WIRE_FRAME_HEADER + bytes;
	uint8_t header[WIRE_FRAME_HEADER];
	frame_header_put(header, (uint32_t)MIN_OF(content + to_come, (size_t)UINT32_MAX));
	if (!binary) {
		refuse_message(self, NO_FRAME, sizeof NO_FRAME);
	} else if (content + to_come > WIRE_FRAME_UP) {
		refuse_message(self, NO_FRAME, sizeof NO_FRAME);
	} else if (bytes_append(&self->input, data, bytes) != STATUS_OK) {
		end_stream(self, STATUS_NO_MEMORY);
	} else if (last) {
		self->timed = false;
		memcpy(self->input.data, header, sizeof header);
		self->whole = true;
		deliver_message(self);
	} else if (first) {
		self->timed = true;
		self->message_until = io_now(self->stream.io) + self->set->message_ms * NS_PER_MS;
		lws_set_timer_usecs(self->wsi, (lws_usec_t)(self->set->message_ms * 1000));
	}
	return self->state == WEB_CLOSING;
}

bool web_stream_late(struct web_stream *self)
{
	static const uint8_t NO_FRAME[1] = { 0 };
	/* The timer of a completed message fires, too, because cancelling it costs more. */
	if (self->state == WEB_OPEN && self->timed &&
	    io_now(self->stream.io) >= self->message_until)
		refuse_message(self, NO_FRAME, sizeof NO_FRAME);
	return self->state == WEB_CLOSING;
}

static void web_resume(struct stream *stream)
{
	struct web_stream *self = web_of(stream);
	if (self->state != WEB_OPEN || !self->paused)
		return;
	self->paused = false;
	deliver_message(self);
	if (!self->paused)
		lws_rx_flow_control(self->wsi, 1);
}

/* ---- life ------------------------------------------------------------------------------------ */
static void web_start(struct stream *stream, const struct stream_events *events, void *context)
{
	struct web_stream *self = web_of(stream);
	ASSERT(self->state == WEB_NEW);
	stream->events = events;
	stream->context = context;
	self->state = WEB_OPEN;
}

static void web_finish(struct stream *stream)
{
	struct web_stream *self = web_of(stream);
	ASSERT(stream->events != NULL);
	if (self->state != WEB_OPEN)
		return;
	self->state = WEB_FINISHING;
	if (self->paused)
		lws_rx_flow_control(self->wsi, 1);
	lws_callback_on_writable(self->wsi);
}

static void web_close(struct stream *stream)
{
	end_stream(web_of(stream), STATUS_OK);
}

static void web_peer(const struct stream *stream, struct peer *out)
{
	*out = web_of(stream)->peer;
}

static const struct stream_ops WEB_OPS = {
	.start = web_start,
	.write = web_write,
	.queued = web_queued,
	.resume = web_resume,
	.finish = web_finish,
	.close = web_close,
	.peer = web_peer,
};

struct web_stream *web_stream_create(struct web_streams *set, struct lws *wsi,
				     const struct peer *peer)
{
	struct web_stream *self = heap_alloc_zero(sizeof *self);
	if (self == NULL)
		return NULL;
	self->stream.io = set->io;
	self->stream.ops = &WEB_OPS;
	self->set = set;
	self->wsi = wsi;
	self->peer = *peer;
	set->io->counters.streams++;
	set->io->counters.accepted++;
	return self;
}

struct stream *web_stream_door(struct web_stream *self)
{
	return &self->stream;
}

void web_stream_gone(struct web_stream *self)
{
	struct io_counters *counters = &self->stream.io->counters;
	counters->queued_bytes -= self->queued + self->partial;
	counters->streams--;
	counters->closed++;
	self->state = WEB_CLOSING;
	for (uint32_t i = self->first; i < self->waiting.count; i++)
		frame_release(self->waiting.items[i].frame);
	if (self->stream.events != NULL)
		self->stream.events->closed(self->stream.context, self->why);
	ARRAY_RELEASE(&self->waiting);
	bytes_release(&self->input);
	heap_free(self);
}
