/* fuzz_web.c: a browser's WebSocket as a stream, over a substitute for libwebsockets that follows
 * the input: pieces of messages arrive, the owner has space or not, writes leave a rest or fail,
 * time passes. A byte chooses the event:
 *
 *	00 f l t t n…   a piece of n bytes arrives, of a fragment with t more to come; f: bit 0 the message's
 *	                first, bit 1 its last, bit 2 text
 *	01 w            from now on the owner accepts w bytes at a time, and reads on
 *	02 r            the rest that libwebsockets kept is sent; r ≠ 0: the next writes leave a rest
 *	03 s            that many quarters of a second pass, and the timer fires
 *	04 l h a a      the owner writes a message of a bytes in two frames, the first with h of them; l ≠ 0:
 *	                the next write fails
 *	05              the owner finishes
 *	06              the owner closes
 *
 * The owner receives whole frames, each the message that was sent. After the end nothing more is
 * delivered. The messages sent are those written, in order. The count of queued bytes is always
 * right. */
#include <libwebsockets.h>
#include <string.h>

#include "protocol/frame.h"
#include "protocol/limits.h"
#include "server/base/bytes.h"
#include "server/web/web_stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { STEPS_MAX = 300, MESSAGE_MS = 2000 };

/* ---- libwebsockets ----------------------------------------------------------------------------- */

static struct {
	struct bytes sent, message; /* complete messages behind headers; the incomplete one */
	bool partial, leaves_rest, fails, killed;
} wire;

int lws_write(struct lws *wsi, unsigned char *buf, size_t len, enum lws_write_protocol protocol)
{
	uint8_t header[WIRE_FRAME_HEADER];
	UNUSED(wsi);
	ASSERT(!wire.partial);
	ASSERT((protocol & 0x1f) ==
	       (wire.message.count == 0 ? LWS_WRITE_BINARY : LWS_WRITE_CONTINUATION));
	memset(buf - LWS_PRE, 0x5a, LWS_PRE);
	if (wire.fails)
		return -1;
	ASSERT(bytes_append(&wire.message, buf, len) == STATUS_OK);
	wire.partial = wire.leaves_rest;
	if (protocol & LWS_WRITE_NO_FIN)
		return (int)len;
	frame_header_put(header, (uint32_t)wire.message.count);
	ASSERT(bytes_append(&wire.sent, header, sizeof header) == STATUS_OK);
	ASSERT(bytes_append(&wire.sent, wire.message.data, wire.message.count) == STATUS_OK);
	wire.message.count = 0;
	return (int)len;
}

int lws_partial_buffered(struct lws *wsi)
{
	UNUSED(wsi);
	return wire.partial;
}

int lws_callback_on_writable(struct lws *wsi)
{
	UNUSED(wsi);
	return 1;
}

void lws_set_timeout(struct lws *wsi, enum pending_timeout reason, int secs)
{
	UNUSED(wsi);
	UNUSED(reason);
	ASSERT(secs == LWS_TO_KILL_ASYNC);
	wire.killed = true;
}

void lws_cancel_service(struct lws_context *context)
{
	UNUSED(context);
}

void lws_close_reason(struct lws *wsi, enum lws_close_status status, unsigned char *buf, size_t len)
{
	UNUSED(wsi);
	UNUSED(status);
	UNUSED(buf);
	UNUSED(len);
}

int lws_rx_flow_control(struct lws *wsi, int enable)
{
	UNUSED(wsi);
	UNUSED(enable);
	return 0;
}

void lws_set_timer_usecs(struct lws *wsi, lws_usec_t usecs)
{
	UNUSED(wsi);
	UNUSED(usecs);
}

/* ---- the loop and the owner -------------------------------------------------------------------- */

static uint64_t clock_ns;

static uint64_t now(const struct io *io)
{
	UNUSED(io);
	return clock_ns;
}

static const struct io_ops IO_OPS = { .now = now };

static struct {
	struct io io;
	struct web_streams set;
	struct web_stream *web;
	struct stream *stream;
	struct frame_pool *pool;
	struct bytes received, arrived, written; /* arrived: complete messages, as frames */
	uint8_t room[1 << 16];
	size_t window;
	uint32_t closed;
	bool over, poisoned; /* nothing more may be received; the last bytes may not be a frame */
} owner;

static size_t on_space(void *context, uint8_t **into)
{
	UNUSED(context);
	*into = owner.room;
	return owner.window;
}

static void on_received(void *context, size_t bytes)
{
	UNUSED(context);
	ASSERT(bytes > 0 && bytes <= owner.window);
	ASSERT(bytes_append(&owner.received, owner.room, bytes) == STATUS_OK);
}

static void on_closed(void *context, enum status why)
{
	UNUSED(context);
	UNUSED(why);
	owner.closed++;
}

static const struct stream_events EVENTS = { .space = on_space,
					     .received = on_received,
					     .closed = on_closed };

static void set_up(void)
{
	static const struct peer PEER = { .kind = ADDRESS_TCP4, .web = true, .text = "web:1" };
	struct frame_pool *pool = owner.pool;
	memset(&wire, 0, sizeof wire);
	memset(&owner, 0, sizeof owner);
	clock_ns = NS_PER_S;
	owner.pool = pool;
	if (pool == NULL)
		ASSERT(frame_pool_create(1 << 20, &owner.pool) == STATUS_OK);
	owner.window = sizeof owner.room;
	owner.io.ops = &IO_OPS;
	owner.io.limits = io_limits_default;
	owner.set = (struct web_streams){ .io = &owner.io, .message_ms = MESSAGE_MS };
	owner.web = web_stream_create(&owner.set, NULL, &PEER);
	ASSERT(owner.web != NULL);
	owner.stream = web_stream_door(owner.web);
	stream_start(owner.stream, &EVENTS, NULL);
}

/* The bytes received are the beginning of those that arrived, except for a last piece that is not a
 * frame. */
static void check_received(void)
{
	size_t same = MIN_OF(owner.received.count, owner.arrived.count);
	ASSERT(same == 0 || memcmp(owner.received.data, owner.arrived.data, same) == 0);
	ASSERT(owner.received.count <= owner.arrived.count || owner.poisoned);
	same = MIN_OF(wire.sent.count, owner.written.count);
	ASSERT(wire.sent.count <= owner.written.count);
	ASSERT(same == 0 || memcmp(wire.sent.data, owner.written.data, same) == 0);
	ASSERT(owner.io.counters.queued_bytes == stream_queued(owner.stream));
}

static void tear_down(void)
{
	struct frame_pool_counters counters;
	web_stream_gone(owner.web);
	ASSERT(owner.closed == 1);
	ASSERT(owner.io.counters.queued_bytes == 0 && owner.io.counters.streams == 0);
	frame_pool_counters(owner.pool, &counters);
	ASSERT(counters.live == 0);
	bytes_release(&wire.sent);
	bytes_release(&wire.message);
	bytes_release(&owner.received);
	bytes_release(&owner.arrived);
	bytes_release(&owner.written);
}

/* ---- events of the input ----------------------------------------------------------------------- */

struct script {
	const uint8_t *at, *end;
};

static uint8_t next(struct script *script)
{
	return script->at < script->end ? *script->at++ : 0;
}

/* As libwebsockets does: delivers the pieces of one message in order, and none while the owner has
 * no space. */
static void arrive(struct script *script, struct bytes *message, bool *under_way)
{
	uint8_t flags = next(script), bytes = next(script);
	size_t to_come = (size_t)next(script) << 8;
	to_come = to_come * to_come / 16 + next(script);
	size_t here = MIN_OF((size_t)bytes, (size_t)(script->end - script->at));
	bool first = !*under_way, last = (flags & 2) != 0 && to_come == 0, binary = !(flags & 4);
	const uint8_t *data = script->at;
	uint8_t header[WIRE_FRAME_HEADER];
	script->at += here;
	/* Flow control: while received bytes are unread, no more are delivered. */
	if (owner.over || owner.received.count < owner.arrived.count)
		return;
	message->count = first ? 0 : message->count;
	ASSERT(bytes_append(message, data, here) == STATUS_OK);
	*under_way = !last;
	owner.poisoned = !binary || message->count + to_come > WIRE_FRAME_UP;
	if (last && !owner.poisoned) {
		frame_header_put(header, (uint32_t)message->count);
		ASSERT(bytes_append(&owner.arrived, header, sizeof header) == STATUS_OK);
		ASSERT(bytes_append(&owner.arrived, message->data, message->count) == STATUS_OK);
	}
	bool ends = web_stream_received(owner.web, data, here, to_come, first, last, binary);
	owner.over = ends || owner.poisoned;
}

static struct frame *frame_of(const uint8_t *data, size_t bytes)
{
	struct frame *frame;
	ASSERT(frame_create(owner.pool, (uint32_t)MAX_OF(bytes, 1u), &frame) == STATUS_OK);
	memcpy(frame->data, data, bytes);
	frame->bytes = (uint32_t)bytes;
	return frame;
}

static void write_message(struct script *script)
{
	static uint8_t whole[WIRE_FRAME_HEADER + 16384];
	wire.fails = wire.fails || next(script) != 0;
	size_t head = next(script) * (size_t)32, content = (size_t)(next(script) & 63) << 8;
	content += next(script);
	content = MAX_OF(content, (size_t)1);
	size_t bytes = content + WIRE_FRAME_HEADER;
	head = MIN_OF(head + WIRE_FRAME_HEADER, bytes);
	frame_header_put(whole, (uint32_t)content);
	memset(whole + WIRE_FRAME_HEADER, (int)owner.written.count, content);
	struct frame *frames[2] = { frame_of(whole, head), frame_of(whole + head, bytes - head) };
	if (stream_write(owner.stream, frames, head < bytes ? 2 : 1) != STATUS_FULL)
		ASSERT(bytes_append(&owner.written, whole, bytes) == STATUS_OK);
	ASSERT(memcmp(frames[0]->data, whole, head) == 0);
	ASSERT(memcmp(frames[1]->data, whole + head, bytes - head) == 0);
	frame_release(frames[0]);
	frame_release(frames[1]);
}

static void perform_event(struct script *script, struct bytes *message, bool *under_way)
{
	switch (next(script)) {
	case 0:
		arrive(script, message, under_way);
		break;
	case 1:
		owner.window = next(script) * (size_t)16;
		stream_resume(owner.stream);
		break;
	case 2:
		wire.partial = false;
		wire.leaves_rest = next(script) != 0;
		owner.over = web_stream_writable(owner.web) || owner.over;
		break;
	case 3:
		clock_ns += next(script) * (NS_PER_S / 4);
		/* A message that takes too long ends the stream with bytes that are no frame. */
		owner.poisoned = owner.poisoned || *under_way;
		owner.over = web_stream_late(owner.web) || owner.over;
		owner.poisoned = owner.poisoned && owner.over;
		break;
	case 4:
		write_message(script);
		break;
	case 5:
		stream_finish(owner.stream);
		break;
	case 6:
		stream_close(owner.stream);
		break;
	default:
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct script script = { data, data + bytes };
	struct bytes message = { 0 };
	bool under_way = false;
	set_up();
	for (int i = 0; i < STEPS_MAX && script.at < script.end; i++) {
		perform_event(&script, &message, &under_way);
		check_received();
		/* After the end no callback of the stream is called. */
		owner.over = owner.over || wire.killed;
		if (owner.over && !wire.killed && !owner.poisoned)
			break;
	}
	tear_down();
	bytes_release(&message);
	return 0;
}
