/* network.c: the relay. Each direction of a connection is a queue of pieces. A piece is forwarded
 * at its arrival + delay + a random part of jitter, but never before the piece ahead of it, because
 * a stream keeps its order, and never during a stall. The relay does not read into a full queue, so
 * the sender sees back pressure as on a real link. */
#include "clients/bot/network.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clients/lib/transport.h"
#include "server/base/array.h"
#include "server/base/bytes.h"
#include "server/base/heap.h"

enum { PIECE_BYTES = 16 << 10, QUEUE_MAX = 1 << 20, OPEN_MS = 1000 };

struct delayed_piece {
	uint64_t due; /* time at which it is forwarded, µs */
	size_t bytes;
};
struct direction {
	struct bytes data;
	ARRAY_OF(struct delayed_piece) pieces;
	uint64_t last_due;
	bool ended; /* the sender has closed */
};
struct relay {
	int fd[2];		/* of the client, of the server; −1: closed */
	struct direction to[2]; /* bytes to be sent to fd[0], to fd[1] */
	uint64_t opened;	/* µs */
	struct rng rng;
};
struct bad_network {
	const struct bot_options *options;
	int listener;
	pthread_t thread;
	atomic_bool stopping;
	ARRAY_OF(struct relay *) pairs;
	uint64_t started, accepted;
};

static void pair_free(struct relay *pair)
{
	for (uint32_t side = 0; side < 2; side++) {
		if (pair->fd[side] >= 0)
			close(pair->fd[side]);
		bytes_release(&pair->to[side].data);
		ARRAY_RELEASE(&pair->to[side].pieces);
	}
	heap_free(pair);
}

/* The time, µs, at which a piece that arrives now is forwarded. */
static uint64_t due_at(const struct bad_network *self, struct relay *pair, struct direction *to,
		       uint64_t now)
{
	uint64_t delay = (uint64_t)self->options->network.delay_ms * 1000;
	uint64_t jitter = (uint64_t)self->options->network.jitter_ms * 1000;
	uint64_t every = (uint64_t)self->options->network.stall_every_ms * 1000;
	uint64_t stall = (uint64_t)self->options->network.stall_ms * 1000;
	uint64_t due = now + delay + (uint64_t)(rng_double(&pair->rng) * (double)jitter);
	if (every > 0 && stall > 0) {
		/* Each period except the first begins with a stall. */
		uint64_t since = due - self->started, phase = since % every;
		if (since >= every && phase < stall)
			due += stall - phase;
	}
	to->last_due = MAX_OF(to->last_due, due);
	return to->last_due;
}

static void read_piece(struct bad_network *self, struct relay *pair, uint32_t side, uint64_t now)
{
	struct direction *to = &pair->to[1 - side];
	if (bytes_reserve(&to->data, PIECE_BYTES) != STATUS_OK ||
	    ARRAY_RESERVE(&to->pieces, to->pieces.count + 1u) != STATUS_OK)
		return;
	ssize_t got = recv(pair->fd[side], to->data.data + to->data.count, PIECE_BYTES, 0);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		to->ended = true;
		return;
	}
	to->data.count += (size_t)got;
	to->pieces.items[to->pieces.count++] =
		(struct delayed_piece){ due_at(self, pair, to, now), (size_t)got };
}

/* Sends the pieces that are due. False: the connection of this side has ended. */
static bool write_piece(struct relay *pair, uint32_t side, uint64_t now)
{
	struct direction *to = &pair->to[side];
	while (to->pieces.count > 0 && to->pieces.items[0].due <= now) {
		ssize_t sent = send(pair->fd[side], to->data.data, to->pieces.items[0].bytes,
				    MSG_NOSIGNAL);
		if (sent < 0)
			return errno == EAGAIN || errno == EINTR;
		bytes_consume(&to->data, (size_t)sent);
		to->pieces.items[0].bytes -= (size_t)sent;
		if (to->pieces.items[0].bytes > 0)
			return true;
		to->pieces.count--;
		memmove(to->pieces.items, to->pieces.items + 1,
			to->pieces.count * sizeof *to->pieces.items);
	}
	return true;
}

static bool half_open(const struct bad_network *self, const struct relay *pair, uint64_t now)
{
	uint64_t after = (uint64_t)self->options->network.half_open_s * 1000000;
	return after > 0 && now - pair->opened >= after;
}

/* Reads and forwards. False: a side has ended and everything that it sent has been forwarded, or a
 * send failed. */
static bool forward_pieces(struct bad_network *self, struct relay *pair, const struct pollfd *ready,
			   uint64_t now)
{
	if (half_open(self, pair, now))
		return true;
	for (uint32_t side = 0; side < 2; side++)
		if (ready[side].revents & (POLLIN | POLLHUP | POLLERR))
			read_piece(self, pair, side, now);
	for (uint32_t side = 0; side < 2; side++)
		if (!write_piece(pair, side, now))
			return false;
	for (uint32_t side = 0; side < 2; side++)
		if (pair->to[side].ended && pair->to[side].pieces.count == 0)
			return false;
	return true;
}

static void accept_one(struct bad_network *self, uint64_t now)
{
	int fd = accept4(self->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd < 0)
		return;
	struct transport server;
	transport_init(&server);
	struct relay *pair = heap_alloc_zero(sizeof *pair);
	if (pair == NULL || ARRAY_RESERVE(&self->pairs, self->pairs.count + 1u) != STATUS_OK ||
	    transport_open(&server, self->options->address, NULL, OPEN_MS, NULL) != STATUS_OK) {
		heap_free(pair);
		close(fd);
		return;
	}
	int on = 1;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	pair->fd[0] = fd;
	pair->fd[1] = server.fd; /* owned by the pair from here on */
	pair->opened = now;
	pair->rng = rng_seeded(self->options->seed + rng_mix(++self->accepted));
	self->pairs.items[self->pairs.count++] = pair;
}

static int wait_ms(const struct bad_network *self, uint64_t now)
{
	uint64_t next = now + 50000;
	for (uint32_t i = 0; i < self->pairs.count; i++)
		for (uint32_t side = 0; side < 2; side++) {
			const struct direction *to = &self->pairs.items[i]->to[side];
			/* A piece that is due already waits for POLLOUT, not for a time. */
			if (to->pieces.count > 0 && to->pieces.items[0].due > now &&
			    !half_open(self, self->pairs.items[i], now))
				next = MIN_OF(next, to->pieces.items[0].due);
		}
	return next <= now ? 0 : (int)((next - now + 999) / 1000);
}

/* The events to wait for on one side of a pair. Without any the descriptor is −1, because poll(2) would
 * otherwise report POLLHUP again and again. */
static struct pollfd poll_of(const struct bad_network *self, const struct relay *pair,
			     uint32_t side, uint64_t now)
{
	const struct direction *to = &pair->to[side], *from = &pair->to[1 - side];
	struct pollfd poll = { pair->fd[side], 0, 0 };
	if (!half_open(self, pair, now)) {
		if (!from->ended && from->data.count < QUEUE_MAX)
			poll.events |= POLLIN;
		if (to->pieces.count > 0 && to->pieces.items[0].due <= now)
			poll.events |= POLLOUT;
	}
	if (poll.events == 0)
		poll.fd = -1;
	return poll;
}

static void *run_network(void *context)
{
	struct bad_network *self = context;
	ARRAY_OF(struct pollfd) polls = { 0 };
	while (!atomic_load(&self->stopping)) {
		if (ARRAY_RESERVE(&polls, 1 + 2 * self->pairs.count) != STATUS_OK)
			break;
		uint64_t now = bot_now();
		uint32_t pairs = self->pairs.count;
		polls.items[0] = (struct pollfd){ self->listener, POLLIN, 0 };
		for (uint32_t i = 0; i < 2 * pairs; i++)
			polls.items[1 + i] = poll_of(self, self->pairs.items[i / 2], i % 2, now);
		poll(polls.items, 1 + 2 * pairs, wait_ms(self, now));
		now = bot_now();
		for (uint32_t i = pairs; i-- > 0;)
			if (!forward_pieces(self, self->pairs.items[i], &polls.items[1 + 2 * i],
					    now)) {
				pair_free(self->pairs.items[i]);
				self->pairs.items[i] = self->pairs.items[--self->pairs.count];
			}
		if (polls.items[0].revents & POLLIN)
			accept_one(self, now);
	}
	ARRAY_RELEASE(&polls);
	return NULL;
}

enum status network_start(const struct bot_options *options, struct bad_network **out,
			  char address[64], struct reason *why)
{
	struct sockaddr_in here = { .sin_family = AF_INET };
	socklen_t bytes = sizeof here;
	struct bad_network *self = heap_alloc_zero(sizeof *self);
	if (self == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "network", "%s",
				  status_text(STATUS_NO_MEMORY));
	self->options = options;
	self->started = bot_now();
	here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	self->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (self->listener < 0 || bind(self->listener, (struct sockaddr *)&here, bytes) != 0 ||
	    listen(self->listener, 1024) != 0 ||
	    getsockname(self->listener, (struct sockaddr *)&here, &bytes) != 0 ||
	    pthread_create(&self->thread, NULL, run_network, self) != 0) {
		reason_set(why, STATUS_IO, -1, "network", "%s", strerror(errno));
		if (self->listener >= 0)
			close(self->listener);
		heap_free(self);
		return STATUS_IO;
	}
	snprintf(address, 64, "tcp:127.0.0.1:%d", ntohs(here.sin_port));
	*out = self;
	return STATUS_OK;
}

void network_stop(struct bad_network *self)
{
	if (self == NULL)
		return;
	atomic_store(&self->stopping, true);
	pthread_join(self->thread, NULL);
	close(self->listener);
	for (uint32_t i = 0; i < self->pairs.count; i++)
		pair_free(self->pairs.items[i]);
	ARRAY_RELEASE(&self->pairs);
	heap_free(self);
}
