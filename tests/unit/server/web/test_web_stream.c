/* A WebSocket as a stream, over a substitute for libwebsockets. As the library may, the substitute
 * overwrites the bytes before the data it sends, sometimes keeps a rest to send later, and cuts
 * received data anywhere. */
#include <check.h>
#include <libwebsockets.h>
#include <string.h>

#include "protocol/frame.h"
#include "protocol/limits.h"
#include "server/base/array.h"
#include "server/base/bytes.h"
#include "server/base/heap.h"
#include "server/base/rng.h"
#include "server/web/web_stream.h"
#include "tests/lib/check_main.h"

/* ---- libwebsockets ----------------------------------------------------------------------------- */
static struct rng rng;
static struct bytes sent; /* sent messages put together, each behind a header */
static struct bytes message;
static bool partial, wants, killed, closing, paused;
static uint32_t pieces, fails_in;

int lws_write(struct lws *wsi, unsigned char *buf, size_t len, enum lws_write_protocol protocol)
{
	UNUSED(wsi);
	ck_assert(!partial);
	int kind = protocol & 0x1f;
	bool last = (protocol & LWS_WRITE_NO_FIN) == 0;
	ck_assert_int_eq(kind, message.count == 0 ? LWS_WRITE_BINARY : LWS_WRITE_CONTINUATION);
	for (int i = 1; i <= LWS_PRE; i++)
		buf[-i] = (unsigned char)rng_u32(&rng);
	if (fails_in > 0 && --fails_in == 0)
		return -1;
	ck_assert_int_eq(bytes_append(&message, buf, len), STATUS_OK);
	pieces++;
	partial = rng_below(&rng, 4) == 0;
	if (!last)
		return (int)len;
	uint8_t header[WIRE_FRAME_HEADER];
	frame_header_put(header, (uint32_t)message.count);
	ck_assert_int_eq(bytes_append(&sent, header, sizeof header), STATUS_OK);
	ck_assert_int_eq(bytes_append(&sent, message.data, message.count), STATUS_OK);
	message.count = 0;
	return (int)len;
}

int lws_partial_buffered(struct lws *wsi)
{
	UNUSED(wsi);
	return partial;
}

int lws_callback_on_writable(struct lws *wsi)
{
	UNUSED(wsi);
	wants = true;
	return 1;
}

void lws_set_timeout(struct lws *wsi, enum pending_timeout reason, int secs)
{
	UNUSED(wsi);
	UNUSED(reason);
	ck_assert_int_eq(secs, LWS_TO_KILL_ASYNC);
	killed = true;
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
	closing = true;
}

int lws_rx_flow_control(struct lws *wsi, int enable)
{
	UNUSED(wsi);
	paused = !enable;
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
static struct io io;
static struct web_streams set;
static struct web_stream *web;
static struct stream *stream;
static struct frame_pool *pool;
static struct bytes received_bytes;
static uint8_t room[70000];
static size_t window;
static uint32_t drained, closed;

static size_t on_space(void *context, uint8_t **into)
{
	UNUSED(context);
	*into = room;
	return window;
}

static void on_received(void *context, size_t bytes)
{
	UNUSED(context);
	ck_assert_int_eq(bytes_append(&received_bytes, room, bytes), STATUS_OK);
}

static void on_drained(void *context)
{
	UNUSED(context);
	drained++;
}

static void on_closed(void *context, enum status why)
{
	UNUSED(context);
	UNUSED(why);
	closed++;
}

static const struct stream_events EVENTS = {
	.space = on_space, .received = on_received, .drained = on_drained, .closed = on_closed
};

static void setup(void)
{
	static const struct peer PEER = { .kind = ADDRESS_TCP4, .web = true, .text = "web:1" };
	rng = rng_seeded(check_seed());
	partial = wants = killed = closing = paused = false;
	pieces = fails_in = drained = closed = 0;
	clock_ns = NS_PER_S;
	window = sizeof room;
	memset(&io, 0, sizeof io);
	io.ops = &IO_OPS;
	io.limits = io_limits_default;
	set = (struct web_streams){ .io = &io, .message_ms = 2000 };
	bytes_init(&sent);
	bytes_init(&message);
	bytes_init(&received_bytes);
	ck_assert_int_eq(frame_pool_create(1 << 20, &pool), STATUS_OK);
	web = web_stream_create(&set, NULL, &PEER);
	stream = web_stream_door(web);
	stream_start(stream, &EVENTS, NULL);
}

static void teardown(void)
{
	web_stream_gone(web);
	ck_assert_uint_eq(closed, 1);
	ck_assert_uint_eq(io.counters.queued_bytes, 0);
	ck_assert_uint_eq(io.counters.streams, 0);
	bytes_release(&sent);
	bytes_release(&message);
	bytes_release(&received_bytes);
	frame_pool_destroy(pool);
}

static struct frame *frame_of(const uint8_t *data, size_t bytes)
{
	struct frame *frame;
	ck_assert_int_eq(frame_create(pool, (uint32_t)MAX_OF(bytes, 1u), &frame), STATUS_OK);
	memcpy(frame->data, data, bytes);
	frame->bytes = (uint32_t)bytes;
	return frame;
}

/* libwebsockets has sent the rest it kept. */
static void send_rest(void)
{
	wants = false;
	partial = false;
	(void)web_stream_writable(web);
}

/* Random messages, cut into frames at random places. As senders do, the header is whole and in one
 * frame. */
static void make_messages(struct bytes *stream_bytes, struct frame **frames, uint32_t *count)
{
	static uint8_t content[WIRE_FRAME_HEADER + 9000];
	uint32_t messages = 1 + rng_below(&rng, 12);
	*count = 0;
	for (uint32_t i = 0; i < messages; i++) {
		uint32_t bytes = 1 + rng_below(&rng, rng_below(&rng, 3) == 0 ? 9000 : 300);
		frame_header_put(content, bytes);
		for (uint32_t k = 0; k < bytes; k++)
			content[WIRE_FRAME_HEADER + k] = (uint8_t)rng_u32(&rng);
		uint32_t whole = bytes + WIRE_FRAME_HEADER;
		uint32_t head = WIRE_FRAME_HEADER + rng_below(&rng, bytes + 1);
		ck_assert_int_eq(bytes_append(stream_bytes, content, whole), STATUS_OK);
		frames[(*count)++] = frame_of(content, head);
		if (head < whole)
			frames[(*count)++] = frame_of(content + head, whole - head);
	}
}

START_TEST(written_frames_are_sent_as_the_same_messages_and_not_changed)
{
	for (int round = 0; round < 300; round++) {
		struct frame *frames[32], *copies[32], *shared[32] = { NULL };
		struct bytes wanted = { 0 };
		uint32_t count, done = 0;
		sent.count = 0;
		make_messages(&wanted, frames, &count);
		for (uint32_t i = 0; i < count; i++)
			copies[i] = frame_of(frames[i]->data, frames[i]->bytes);
		while (done < count) {
			uint32_t part = 1 + rng_below(&rng, count - done);
			ck_assert_int_eq(stream_write(stream, frames + done, part), STATUS_OK);
			done += part;
			if (wants && rng_below(&rng, 2) == 0)
				send_rest();
		}
		/* A waiting frame is held by the stream alone, or by other holders too. */
		for (uint32_t i = 0; i < count; i++) {
			if (rng_below(&rng, 2) == 0)
				shared[i] = frame_retain(frames[i]);
			frame_release(frames[i]);
		}
		for (int i = 0; i < 200 && stream_queued(stream) > 0; i++)
			send_rest();
		send_rest();
		ck_assert_uint_eq(stream_queued(stream), 0);
		ck_assert_uint_eq(io.counters.queued_bytes, 0);
		ck_assert_uint_eq(sent.count, wanted.count);
		ck_assert_mem_eq(sent.data, wanted.data, wanted.count);
		for (uint32_t i = 0; i < count; i++) {
			if (shared[i] != NULL) {
				ck_assert_uint_eq(shared[i]->bytes, copies[i]->bytes);
				ck_assert_mem_eq(shared[i]->data, copies[i]->data,
						 copies[i]->bytes);
				frame_release(shared[i]);
			}
			frame_release(copies[i]);
		}
		bytes_release(&wanted);
	}
}
END_TEST

START_TEST(a_shared_frame_is_unchanged_after_it_was_sent)
{
	uint8_t data[WIRE_FRAME_HEADER + 3000], before[sizeof(struct frame) + 16];
	frame_header_put(data, 3000);
	memset(data + WIRE_FRAME_HEADER, 7, 3000);
	struct frame *frame = frame_of(data, sizeof data);
	memcpy(before, frame, sizeof(struct frame));
	ck_assert_int_eq(stream_write(stream, &frame, 1), STATUS_OK);
	send_rest();
	ck_assert_mem_eq(frame->data, data, sizeof data);
	ck_assert_mem_eq(frame, before, sizeof(struct frame));
	ck_assert_uint_eq(pieces, 1);
	frame_release(frame);
}
END_TEST

START_TEST(a_short_message_is_joined_into_one_piece_and_a_long_one_is_not_copied)
{
	static uint8_t data[WIRE_FRAME_HEADER + 40000];
	for (int k = 0; k < 2; k++) {
		uint32_t bytes = k == 0 ? 1000 : 40000;
		frame_header_put(data, bytes);
		struct frame *frames[2] = { frame_of(data, 30), frame_of(data + 30, bytes - 25) };
		pieces = 0;
		ck_assert_int_eq(stream_write(stream, frames, 2), STATUS_OK);
		for (int i = 0; i < 4; i++)
			send_rest();
		ck_assert_uint_eq(pieces, k == 0 ? 1 : 2);
		frame_release(frames[0]);
		frame_release(frames[1]);
	}
}
END_TEST

START_TEST(queued_bytes_are_counted_and_bounded_and_their_end_is_reported)
{
	static uint8_t data[WIRE_FRAME_HEADER + 100000];
	frame_header_put(data, 100000);
	struct frame *frame = frame_of(data, sizeof data);
	/* A rest that the library cannot send. */
	while (!partial)
		ck_assert_int_eq(stream_write(stream, &frame, 1), STATUS_OK);
	drained = 0;
	uint32_t more = 0;
	while (stream_write(stream, &frame, 1) == STATUS_OK)
		more++;
	ck_assert_uint_ge(more, 10);
	ck_assert_uint_le(stream_queued(stream), io.limits.queue_bytes);
	ck_assert_uint_eq(io.counters.writes_refused, 1);
	ck_assert_uint_eq(io.counters.queued_bytes, stream_queued(stream));
	for (uint32_t i = 0; i < 3 * more && stream_queued(stream) > 0; i++) {
		ck_assert_uint_eq(drained, 0);
		send_rest();
	}
	ck_assert_uint_eq(drained, 1);
	frame_release(frame);
}
END_TEST

START_TEST(a_failed_write_closes_the_stream_after_the_call_not_within_it)
{
	uint8_t data[WIRE_FRAME_HEADER + 10] = { 0 };
	frame_header_put(data, 10);
	struct frame *frame = frame_of(data, sizeof data);
	fails_in = 1;
	ck_assert_int_eq(stream_write(stream, &frame, 1), STATUS_CLOSED);
	ck_assert(killed);
	ck_assert_uint_eq(closed, 0);
	ck_assert_int_eq(stream_write(stream, &frame, 1), STATUS_CLOSED);
	frame_release(frame);
}
END_TEST

/* Receives a message in fragments, each in pieces. True: the connection must be closed. */
static bool receive_message(const uint8_t *data, size_t bytes, bool binary)
{
	size_t at = 0;
	bool ends = false;
	while (!ends) {
		size_t fragment = 1 + rng_below(&rng, (uint32_t)(bytes - at));
		bool last_fragment = at + fragment == bytes;
		size_t left = fragment;
		while (left > 0 && !ends) {
			size_t piece = 1 + rng_below(&rng, (uint32_t)left);
			left -= piece;
			bool last = last_fragment && left == 0;
			if (web_stream_received(web, data + at, piece, left, at == 0, last, binary))
				return true;
			at += piece;
			ends = last;
		}
	}
	return false;
}

START_TEST(messages_received_in_any_pieces_become_frames)
{
	struct bytes wanted = { 0 };
	static uint8_t content[WIRE_FRAME_UP];
	for (int round = 0; round < 200; round++) {
		uint32_t bytes = 1 + rng_below(&rng, round % 20 == 0 ? WIRE_FRAME_UP : 500);
		uint8_t header[WIRE_FRAME_HEADER];
		for (uint32_t i = 0; i < bytes; i++)
			content[i] = (uint8_t)rng_u32(&rng);
		frame_header_put(header, bytes);
		ck_assert_int_eq(bytes_append(&wanted, header, sizeof header), STATUS_OK);
		ck_assert_int_eq(bytes_append(&wanted, content, bytes), STATUS_OK);
		window = rng_below(&rng, 3) == 0 ? 0 : 1 + rng_below(&rng, 4000);
		ck_assert(!receive_message(content, bytes, true));
		if (window == 0) {
			ck_assert(paused);
			window = 1 + rng_below(&rng, 100);
			stream_resume(stream);
			ck_assert(!paused);
		}
	}
	ck_assert_uint_eq(received_bytes.count, wanted.count);
	ck_assert_mem_eq(received_bytes.data, wanted.data, wanted.count);
	bytes_release(&wanted);
}
END_TEST

/* A text message, in whatever pieces, becomes one byte that begins no frame. */
START_TEST(a_text_message_becomes_a_byte_that_a_session_refuses)
{
	static const uint8_t TEXT[] = "[10, 1]";
	bool in_two = _i == 1;
	ck_assert(web_stream_received(web, TEXT, sizeof TEXT - 1, in_two ? 5 : 0, true, !in_two,
				      false));
	ck_assert_uint_eq(received_bytes.count, 1);
	ck_assert_uint_eq(received_bytes.data[0], 0);
	ck_assert(killed);
	/* Bytes after the text message are not delivered. */
	ck_assert(web_stream_received(web, TEXT, 5, 0, !in_two, true, true));
	ck_assert_uint_eq(received_bytes.count, 1);
}
END_TEST

START_TEST(a_message_too_large_becomes_a_byte_that_a_session_refuses)
{
	static const uint8_t DATA[100], NO_FRAME[1];
	ck_assert(web_stream_received(web, DATA, 100, WIRE_FRAME_UP + 1 - 100, true, false, true));
	ck_assert_uint_eq(received_bytes.count, sizeof NO_FRAME);
	ck_assert_mem_eq(received_bytes.data, NO_FRAME, sizeof NO_FRAME);
	/* An owner that accepted no byte is not called again. */
	ck_assert(killed);
}
END_TEST

START_TEST(a_message_that_does_not_end_in_time_is_refused)
{
	static const uint8_t DATA[100];
	ck_assert(!web_stream_received(web, DATA, 100, 0, true, false, true));
	clock_ns += NS_PER_S;
	ck_assert(!web_stream_received(web, DATA, 100, 0, false, true, true));
	ck_assert_uint_eq(received_bytes.count, 205);
	clock_ns += 5 * NS_PER_S;
	ck_assert(!web_stream_late(web));
	ck_assert(!web_stream_received(web, DATA, 100, 0, true, false, true));
	clock_ns += 2 * NS_PER_S;
	ck_assert(web_stream_late(web));
	ck_assert_uint_eq(received_bytes.count, 206);
}
END_TEST

START_TEST(queued_bytes_are_sent_before_the_close)
{
	uint8_t data[WIRE_FRAME_HEADER + 10] = { 0 };
	frame_header_put(data, 10);
	struct frame *frame = frame_of(data, sizeof data);
	ck_assert_int_eq(stream_write(stream, &frame, 1), STATUS_OK);
	stream_finish(stream);
	ck_assert(!closing);
	ck_assert_int_eq(stream_write(stream, &frame, 1), STATUS_CLOSED);
	partial = false;
	ck_assert(web_stream_writable(web) || closing);
	ck_assert(closing);
	ck_assert_uint_eq(sent.count, sizeof data);
	frame_release(frame);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("web_stream");
	TCase *cases = tcase_create("stream");
	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_test(cases, written_frames_are_sent_as_the_same_messages_and_not_changed);
	tcase_add_test(cases, a_shared_frame_is_unchanged_after_it_was_sent);
	tcase_add_test(cases,
		       a_short_message_is_joined_into_one_piece_and_a_long_one_is_not_copied);
	tcase_add_test(cases, queued_bytes_are_counted_and_bounded_and_their_end_is_reported);
	tcase_add_test(cases, a_failed_write_closes_the_stream_after_the_call_not_within_it);
	tcase_add_test(cases, messages_received_in_any_pieces_become_frames);
	tcase_add_loop_test(cases, a_text_message_becomes_a_byte_that_a_session_refuses, 0, 2);
	tcase_add_test(cases, a_message_too_large_becomes_a_byte_that_a_session_refuses);
	tcase_add_test(cases, a_message_that_does_not_end_in_time_is_refused);
	tcase_add_test(cases, queued_bytes_are_sent_before_the_close);
	suite_add_tcase(suite, cases);
	return suite;
}

int main(void)
{
	return check_main(make);
}
