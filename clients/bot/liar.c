/* liar.c: conversations of hostile or broken clients. The server may answer with an ERROR or
 * GOODBYE, or close; it must not crash, hang, or keep a connection that sends malformed frames. */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clients/bot/bot.h"
#include "clients/lib/transport.h"
#include "protocol/frame.h"
#include "protocol/handshake.h"
#include "protocol/pack.h"
#include "server/base/heap.h"

enum { LIE_BYTES = 4096, ANSWER_MS = 50, PAUSE_MS = 50, OPEN_MS = 1000 };

enum lie {
	LIE_NOISE,   /* random bytes */
	LIE_OTHER,   /* another protocol */
	LIE_HUGE,    /* a frame header with a length above the limit */
	LIE_COUNTS,  /* an array header with 2^31 items */
	LIE_DEEP,    /* deeply nested arrays */
	LIE_HALF,    /* half a frame, then silence */
	LIE_EMPTY,   /* an empty frame */
	LIE_EARLY,   /* a request before HELLO */
	LIE_UNKNOWN, /* HELLO, then messages of unknown types */
	LIE_BENT,    /* HELLO with one bit flipped */
	LIE_FLOOD,   /* HELLO, then a flood of PINGs */
	LIES
};

static uint32_t put_frame(uint8_t *at, const uint8_t *content, uint32_t bytes)
{
	frame_header_put(at, bytes);
	memcpy(at + WIRE_FRAME_HEADER, content, bytes);
	return WIRE_FRAME_HEADER + bytes;
}

static uint32_t put_hello(uint8_t *at)
{
	struct handshake handshake;
	struct message hello;
	uint32_t bytes = 0;
	handshake_init(&handshake, &(struct handshake_offer){ .name = "liar" });
	handshake_hello(&handshake, &hello);
	return message_pack(&hello, at, LIE_BYTES, &bytes) == STATUS_OK ? bytes : 0;
}

static uint32_t put_many(uint8_t *at, uint32_t used, struct rng *rng, bool known)
{
	while (used + 16 < LIE_BYTES) {
		uint8_t ping[] = { 0x92, 4, (uint8_t)rng_below(rng, 128) };
		uint8_t other[] = { 0x92, (uint8_t)(100 + rng_below(rng, 28)), 0xc0 };
		used += put_frame(at + used, known ? ping : other, 3);
	}
	return used;
}

/* Writes the bytes of one lie and returns their count, at most LIE_BYTES. */
static uint32_t write_lie(enum lie lie, struct rng *rng, uint8_t *at)
{
	static const uint8_t HTTP[] = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
	static const uint8_t COUNTS[] = { 0xdd, 0x7f, 0xff, 0xff, 0xff };
	static const uint8_t EARLY[] = { 0x92, 10, 1 };
	uint32_t bytes = 0;
	switch (lie) {
	case LIE_NOISE:
		for (; bytes < 512; bytes++)
			at[bytes] = (uint8_t)rng_below(rng, 256);
		return bytes;
	case LIE_OTHER:
		memcpy(at, HTTP, sizeof HTTP);
		return sizeof HTTP;
	case LIE_HUGE:
		frame_header_put(at, 0xfffffff0u);
		return WIRE_FRAME_HEADER;
	case LIE_COUNTS:
		return put_frame(at, COUNTS, sizeof COUNTS);
	case LIE_DEEP:
		frame_header_put(at, 1000);
		memset(at + WIRE_FRAME_HEADER, 0x91, 1000);
		return WIRE_FRAME_HEADER + 1000;
	case LIE_HALF:
		frame_header_put(at, 1000);
		return WIRE_FRAME_HEADER + 3;
	case LIE_EMPTY:
		frame_header_put(at, 0);
		return WIRE_FRAME_HEADER;
	case LIE_EARLY:
		return put_frame(at, EARLY, sizeof EARLY);
	case LIE_BENT: {
		bytes = put_hello(at);
		uint32_t which = rng_below(rng, MAX_OF(bytes, 1u));
		at[which] ^= (uint8_t)(1u << rng_below(rng, 8));
		return bytes;
	}
	case LIE_UNKNOWN:
	case LIE_FLOOD:
	case LIES:
		break;
	}
	return put_many(at, put_hello(at), rng, lie == LIE_FLOOD);
}

/* One conversation: connects, sends a lie, and waits ANSWER_MS for the server to close. */
static void lie_once(const char *address, struct rng *rng, struct tally *tally)
{
	uint8_t lie[LIE_BYTES], answer[LIE_BYTES];
	struct transport peer;
	transport_init(&peer);
	if (transport_open(&peer, address, NULL, OPEN_MS, NULL) != STATUS_OK) {
		/* The server refuses connections above its limit for one address. */
		tally->ended++;
		return;
	}
	uint32_t bytes = write_lie((enum lie)rng_below(rng, LIES), rng, lie);
	bool closed = send(peer.fd, lie, bytes, MSG_NOSIGNAL) < 0;
	tally->lies++;
	for (uint64_t end = bot_now() + ANSWER_MS * 1000; !closed && bot_now() < end;) {
		struct pollfd ready = { peer.fd, POLLIN, 0 };
		if (poll(&ready, 1, ANSWER_MS) > 0)
			closed = recv(peer.fd, answer, sizeof answer, 0) <= 0;
	}
	tally->ended += closed;
	tally->tolerated += !closed;
	transport_release(&peer);
}

/* ---- the thread ---------------------------------------------------------------------------- */

struct liars {
	const struct bot_options *options;
	struct tally *tally;
	pthread_t thread;
	atomic_bool stopping;
};

static void *run_liar(void *context)
{
	struct liars *self = context;
	struct rng rng = rng_seeded(rng_mix(self->options->seed));
	while (!atomic_load(&self->stopping)) {
		for (uint32_t i = 0;
		     i < self->options->count[BOT_LIAR] && !atomic_load(&self->stopping); i++)
			lie_once(self->options->address, &rng, self->tally);
		poll(NULL, 0, PAUSE_MS);
	}
	return NULL;
}

enum status liars_start(const struct bot_options *options, struct tally *tally, struct liars **out,
			struct reason *why)
{
	*out = NULL;
	if (options->count[BOT_LIAR] == 0)
		return STATUS_OK;
	struct liars *self = heap_alloc_zero(sizeof *self);
	if (self == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "liars", "%s",
				  status_text(STATUS_NO_MEMORY));
	self->options = options;
	self->tally = tally;
	tally->sessions = options->count[BOT_LIAR];
	if (pthread_create(&self->thread, NULL, run_liar, self) != 0) {
		heap_free(self);
		return reason_set(why, STATUS_IO, -1, "liars", "no thread could be started");
	}
	*out = self;
	return STATUS_OK;
}

void liars_stop(struct liars *self)
{
	if (self == NULL)
		return;
	atomic_store(&self->stopping, true);
	pthread_join(self->thread, NULL);
	heap_free(self);
}
