/* An outbox over a stream that accepts as many frames as the test sets. */
#include "server/io/outbox.h"

#include <string.h>

#include "protocol/frame.h"
#include "protocol/unpack.h"
#include "server/base/heap.h"
#include "tests/lib/check_main.h"

struct sink {
	struct stream stream;
	size_t queued;
	uint32_t writes, frames, order[256];
	enum status answer;
};

static struct sink *first_writer; /* of the current flush */

static enum status sink_write(struct stream *stream, struct frame *const frames[], uint32_t count)
{
	struct sink *sink = (struct sink *)stream;
	ck_assert_uint_gt(count, 0);
	ck_assert_uint_le(count, STREAM_FRAMES_MAX);
	sink->writes++;
	first_writer = first_writer != NULL ? first_writer : sink;
	if (sink->answer != STATUS_OK)
		return sink->answer;
	for (uint32_t i = 0; i < count; i++) {
		if (sink->frames < COUNT_OF(sink->order))
			sink->order[sink->frames] = frames[i]->data[0];
		sink->frames++;
	}
	return STATUS_OK;
}

static size_t queued(const struct stream *stream)
{
	return ((const struct sink *)stream)->queued;
}

static const struct stream_ops ops = { .write = sink_write, .queued = queued };
static struct frame_pool *pool;
static struct outbox_set set;

static void begin(struct sink *sinks, struct outbox *outboxes, uint32_t count)
{
	ck_assert_int_eq(frame_pool_create(1 << 20, &pool), STATUS_OK);
	memset(&set, 0, sizeof set);
	for (uint32_t i = 0; i < count; i++) {
		sinks[i] = (struct sink){ .stream = { .ops = &ops } };
		outbox_init(&outboxes[i], &set, &sinks[i].stream, pool);
	}
}

static void end(struct outbox *outboxes, uint32_t count)
{
	struct frame_pool_counters counters;
	for (uint32_t i = 0; i < count; i++)
		outbox_release(&outboxes[i]);
	frame_pool_counters(pool, &counters);
	ck_assert_uint_eq(counters.live, 0);
	frame_pool_destroy(pool);
}

static struct frame *frame_of(uint32_t bytes, uint8_t mark)
{
	struct frame *frame;
	ck_assert_int_eq(frame_create(pool, bytes, &frame), STATUS_OK);
	frame->bytes = bytes;
	frame->data[0] = mark;
	return frame;
}

START_TEST(a_round_leaves_in_few_writes_and_in_order)
{
	struct sink sink;
	struct outbox outbox;
	begin(&sink, &outbox, 1);
	for (uint8_t i = 0; i < 200; i++)
		outbox_put(&outbox, frame_of(30, i));
	ck_assert_uint_eq(sink.writes, 0);
	ck_assert_uint_eq(outbox_queued(&outbox), 200 * 30);
	outbox_set_flush(&set);
	ck_assert_uint_eq(sink.writes, (200 + STREAM_FRAMES_MAX - 1) / STREAM_FRAMES_MAX);
	for (uint32_t i = 0; i < 200; i++)
		ck_assert_uint_eq(sink.order[i], i);
	ck_assert(outbox_idle(&outbox));
	outbox_set_flush(&set);
	ck_assert_uint_eq(sink.frames, 200);
	end(&outbox, 1);
}
END_TEST

START_TEST(every_outbox_is_flushed_first_at_times)
{
	enum { CLIENTS = 5 };
	struct sink sinks[CLIENTS];
	struct outbox outboxes[CLIENTS];
	bool was_first[CLIENTS] = { false };
	begin(sinks, outboxes, CLIENTS);
	for (int round = 0; round < 10; round++) {
		for (uint32_t i = 0; i < CLIENTS; i++)
			outbox_put(&outboxes[(i + (uint32_t)round) % CLIENTS], frame_of(10, 1));
		first_writer = NULL;
		outbox_set_flush(&set);
		was_first[first_writer - sinks] = true;
		ck_assert_ptr_eq(first_writer, &sinks[round % CLIENTS]);
	}
	for (uint32_t i = 0; i < CLIENTS; i++)
		ck_assert_uint_eq(sinks[i].frames, 10);
	ck_assert(was_first[0] && was_first[CLIENTS - 1]);
	/* An outbox that is released while it waits for a flush is not touched. */
	for (uint32_t i = 0; i < CLIENTS; i++)
		outbox_put(&outboxes[i], frame_of(10, 1));
	outbox_release(&outboxes[2]);
	outbox_set_flush(&set);
	ck_assert_uint_eq(sinks[2].frames, 10);
	ck_assert_uint_eq(sinks[3].frames, 11);
	end(outboxes, CLIENTS);
}
END_TEST

START_TEST(a_client_is_slow_by_queued_control_bytes_or_by_time)
{
	struct sink sink;
	struct outbox outbox;
	begin(&sink, &outbox, 1);
	sink.queued = OUTBOX_SOFT_BYTES;
	ck_assert_int_eq(outbox_verdict(&outbox, 1000), STATUS_OK);
	sink.queued = OUTBOX_SOFT_BYTES + 1;
	ck_assert_int_eq(outbox_verdict(&outbox, 1000), STATUS_OK);
	ck_assert_int_eq(outbox_verdict(&outbox, 1000 + OUTBOX_SOFT_MS * NS_PER_MS), STATUS_OK);
	ck_assert_int_eq(outbox_verdict(&outbox, 1001 + OUTBOX_SOFT_MS * NS_PER_MS), STATUS_SLOW);
	/* Once the queue is below the soft limit, the time counts from zero again. */
	sink.queued = 0;
	ck_assert_int_eq(outbox_verdict(&outbox, 2 * OUTBOX_SOFT_MS * NS_PER_MS), STATUS_OK);
	sink.queued = OUTBOX_HARD_BYTES;
	ck_assert_int_eq(outbox_verdict(&outbox, 2 * OUTBOX_SOFT_MS * NS_PER_MS), STATUS_OK);
	sink.queued = OUTBOX_HARD_BYTES + 1;
	ck_assert_int_eq(outbox_verdict(&outbox, 2 * OUTBOX_SOFT_MS * NS_PER_MS), STATUS_SLOW);
	/* A large frame of state does not count against the client; bytes queued in addition do. */
	sink.queued = 0;
	outbox_put_state(&outbox, frame_of(1 << 20, 1));
	outbox_flush(&outbox);
	sink.queued = (1 << 20) + OUTBOX_SOFT_BYTES;
	ck_assert_int_eq(outbox_verdict(&outbox, 3 * OUTBOX_SOFT_MS * NS_PER_MS), STATUS_OK);
	ck_assert(!outbox_takes_state(&outbox));
	sink.queued = (1 << 20) + OUTBOX_HARD_BYTES + 1;
	ck_assert_int_eq(outbox_verdict(&outbox, 3 * OUTBOX_SOFT_MS * NS_PER_MS), STATUS_SLOW);
	end(&outbox, 1);
}
END_TEST

/* Two ticks may be encoded in one turn of LOOP; the second does not count against a client that
 * reads. */
START_TEST(frames_of_the_same_turn_do_not_make_a_client_slow)
{
	struct sink sink;
	struct outbox outbox;
	begin(&sink, &outbox, 1);
	outbox_put_state(&outbox, frame_of(100, 1));
	ck_assert(!outbox_idle(&outbox));
	ck_assert(outbox_keeps_up(&outbox));
	outbox_set_flush(&set);
	ck_assert(outbox_keeps_up(&outbox));
	sink.queued = 1;
	ck_assert(!outbox_keeps_up(&outbox));
	sink.queued = 0;
	outbox_put_state(&outbox, frame_of(OUTBOX_STATE_BYTES, 1));
	ck_assert(outbox_keeps_up(&outbox));
	outbox_put_state(&outbox, frame_of(1, 1));
	ck_assert(!outbox_keeps_up(&outbox));
	end(&outbox, 1);
}
END_TEST

START_TEST(a_client_that_is_never_idle_keeps_a_bound)
{
	struct sink sink;
	struct outbox outbox;
	begin(&sink, &outbox, 1);
	sink.queued = 100;
	for (int i = 0; i < 1000; i++) {
		outbox_put_state(&outbox, frame_of(10000, 1));
		outbox_flush(&outbox);
	}
	sink.queued = OUTBOX_HARD_BYTES + (256 << 10);
	ck_assert_int_eq(outbox_verdict(&outbox, 0), STATUS_SLOW);
	end(&outbox, 1);
}
END_TEST

START_TEST(after_a_failure_nothing_more_is_written)
{
	struct sink sink;
	struct outbox outbox;
	begin(&sink, &outbox, 1);
	outbox_put(&outbox, frame_of(10, 1));
	sink.answer = STATUS_FULL;
	outbox_flush(&outbox);
	ck_assert_int_eq(outbox_verdict(&outbox, 0), STATUS_SLOW);
	sink.answer = STATUS_OK;
	outbox_put(&outbox, frame_of(10, 2));
	outbox_set_flush(&set);
	ck_assert_uint_eq(sink.frames, 0);
	end(&outbox, 1);
}
END_TEST

START_TEST(a_message_without_memory_ends_the_client_and_one_too_large_does_not)
{
	struct sink sink;
	struct outbox outbox;
	static uint8_t raw[WIRE_FRAME_DOWN];
	begin(&sink, &outbox, 1);
	struct message message;
	message_init(&message, MESSAGE_REPLY);
	outbox.frame_max = WIRE_FRAME_MIN;
	raw[0] = 0xc5; /* bin 16 */
	raw[1] = WIRE_FRAME_MIN >> 8;
	message.reply.value = (struct wire_slice){ raw, 3 + WIRE_FRAME_MIN };
	ck_assert_int_eq(outbox_send(&outbox, &message), STATUS_FULL);
	ck_assert_int_eq(outbox_verdict(&outbox, 0), STATUS_OK);
	/* The largest message that fits has exactly the agreed frame size. */
	uint32_t most = 0;
	for (uint32_t bytes = WIRE_FRAME_MIN - 64; bytes < WIRE_FRAME_MIN; bytes++) {
		struct frame *frame;
		raw[1] = (uint8_t)((bytes - 3) >> 8);
		raw[2] = (uint8_t)(bytes - 3);
		message.reply.value.bytes = bytes;
		if (outbox_pack(&outbox, &message, &frame) != STATUS_OK)
			continue;
		most = frame->bytes - WIRE_FRAME_HEADER;
		frame_release(frame);
	}
	ck_assert_uint_eq(most, WIRE_FRAME_MIN);
	message.reply.value.bytes = 0;
	heap_fail_at(1);
	ck_assert_int_eq(outbox_send(&outbox, &message),
			 STATUS_OK); /* uses an idle frame: no allocation */
	heap_fail_at(0);
	outbox_flush(&outbox);
	outbox.frame_max = WIRE_FRAME_DOWN;
	message.reply.value = (struct wire_slice){ raw, 0 };
	raw[0] = 0xc6;
	raw[1] = 0;
	raw[2] = 0x08;
	raw[3] = raw[4] = 0;
	message.reply.value.bytes = 5 + 0x80000;
	heap_fail_at(2);
	ck_assert_int_eq(outbox_send(&outbox, &message), STATUS_NO_MEMORY);
	heap_fail_at(0);
	ck_assert_int_eq(outbox_verdict(&outbox, 0), STATUS_SLOW);
	end(&outbox, 1);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("server/session/outbox");
	TCase *rounds = tcase_create("rounds");
	tcase_add_test(rounds, a_round_leaves_in_few_writes_and_in_order);
	tcase_add_test(rounds, every_outbox_is_flushed_first_at_times);
	suite_add_tcase(suite, rounds);
	TCase *bounds = tcase_create("bounds");
	tcase_add_test(bounds, a_client_is_slow_by_queued_control_bytes_or_by_time);
	tcase_add_test(bounds, frames_of_the_same_turn_do_not_make_a_client_slow);
	tcase_add_test(bounds, a_client_that_is_never_idle_keeps_a_bound);
	tcase_add_test(bounds, after_a_failure_nothing_more_is_written);
	tcase_add_test(bounds, a_message_without_memory_ends_the_client_and_one_too_large_does_not);
	suite_add_tcase(suite, bounds);
	return suite;
}

int main(void)
{
	return check_main(make);
}
