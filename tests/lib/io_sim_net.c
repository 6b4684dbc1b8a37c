/* The network: a connection is two links, each with the pipe that leads to it.
 *
 *	write ─► queue (process) ─► pipe: [ under way | ready ] ─► space, received
 *	         stream_queued         kernel_bytes in all
 *
 * A write puts what fits into the peer's pipe and keeps the rest; an arrival event makes bytes
 * ready, in order, after a drawn delay; reading frees room, which the sender learns a delay later.
 * The end of a stream travels behind its bytes. */
#include <stdio.h>
#include <string.h>

#include "server/base/heap.h"
#include "tests/lib/io_sim_internal.h"

enum { QUEUE_FRAMES = 64, DISCARD_BYTES = 4096 };

enum link_state {
	LINK_NEW,
	LINK_CONNECTING,
	LINK_OPEN,
	LINK_FINISHING,
	LINK_LINGERING,
	LINK_CLOSING, /* its `closed` is scheduled */
	LINK_GONE
};

/* A frame that waits in the process, from byte `sent` on. */
struct waiting {
	struct frame *frame;
	uint32_t sent;
};

struct sim_link {
	struct stream stream;
	struct sim_object object;
	struct io_sim *sim;
	struct sim_host *host;
	struct sim_link *next, *previous; /* the simulation's list */
	struct sim_link *other;		  /* NULL: none yet, or it is gone */
	struct address address;		  /* of the listener */
	enum link_state state;
	enum status why;
	bool stalled, paused, ended, tailed, cut, accepted;
	bool readable_due;
	bool fin_sent;
	/* the pipe that leads here */
	uint8_t *pipe;
	uint32_t pipe_first, pipe_count, pipe_ready;
	bool fin_ready;
	uint64_t last_at; /* nothing may arrive before this */
	/* Instant of the oldest byte sent to a peer that is cut off; 0: none. */
	uint64_t unheard;
	/* waiting in the process */
	struct ring queue;
	struct waiting *storage;
	uint64_t queued;
};

struct sim_ear {
	struct io_listener listener;
	struct sim_ear *next;
	struct address address;
	io_accepted *accepted;
	void *context;
};

static void fire_readable(struct io_sim *sim, void *target, uint64_t argument);
static void fire_room(struct io_sim *sim, void *target, uint64_t argument);
static void push_out(struct sim_link *link);

static struct sim_link *link_of(const struct stream *stream)
{
	return (struct sim_link *)stream;
}

static struct sim_link *link_of_object(void *object)
{
	return (struct sim_link *)((char *)object - offsetof(struct sim_link, object));
}

static uint64_t delay(struct io_sim *sim)
{
	const struct io_sim_options *options = &sim->options;
	return options->delay_min + sim_draw(sim, options->delay_max - options->delay_min);
}

static void schedule(struct sim_link *link, uint64_t at, sim_fire *fire, uint64_t argument)
{
	sim_schedule(link->sim, link->host->index, at, fire, &link->object, argument);
}

static bool alive(const struct sim_link *link)
{
	return link->state < LINK_CLOSING;
}

/* ---- life ---------------------------------------------------------------------------------- */
static void link_free(void *object)
{
	struct sim_link *link = link_of_object(object);
	heap_free(link->pipe);
	heap_free(link->storage);
	heap_free(link);
}

static struct sim_link *link_create(struct sim_host *host, const struct address *address)
{
	struct io_sim *sim = host->sim;
	struct sim_link *link = heap_alloc_zero(sizeof *link);
	uint8_t *pipe = heap_alloc(sim->options.kernel_bytes);
	struct waiting *storage = heap_alloc(QUEUE_FRAMES * sizeof *storage);
	if (link == NULL || pipe == NULL || storage == NULL) {
		heap_free(link);
		heap_free(pipe);
		heap_free(storage);
		return NULL;
	}
	link->stream.io = &host->io;
	link->stream.ops = &sim_stream_ops;
	link->object = (struct sim_object){ 1, link_free };
	link->sim = sim;
	link->host = host;
	link->address = *address;
	link->pipe = pipe;
	link->storage = storage;
	ring_init(&link->queue, storage, QUEUE_FRAMES, sizeof *storage);
	link->next = sim->links;
	if (sim->links != NULL)
		sim->links->previous = link;
	sim->links = link;
	host->io.counters.streams++;
	return link;
}

static void drop_queue(struct sim_link *link)
{
	struct waiting waiting;
	while (ring_pop(&link->queue, &waiting))
		frame_release(waiting.frame);
	link->host->io.counters.queued_bytes -= link->queued;
	link->queued = 0;
}

static void fire_closed(struct io_sim *sim, void *target, uint64_t argument)
{
	struct sim_link *link = link_of_object(target);
	UNUSED(argument);
	if (link->state == LINK_GONE)
		return;
	link->state = LINK_GONE;
	if (link->previous != NULL)
		link->previous->next = link->next;
	else
		sim->links = link->next;
	if (link->next != NULL)
		link->next->previous = link->previous;
	if (link->other != NULL)
		link->other->other = NULL;
	link->host->io.counters.streams--;
	link->host->io.counters.closed++;
	if (link->stream.events != NULL)
		link->stream.events->closed(link->stream.context, link->why);
	sim_drop(&link->object);
}

static void fire_reset(struct io_sim *sim, void *target, uint64_t why);

/* Notifies the peer, in order: a reset or the end of the stream. */
static void tell_peer(struct sim_link *link, bool reset)
{
	struct sim_link *other = link->other;
	if (other == NULL || link->cut || !alive(other))
		return;
	uint64_t at = MAX_OF(other->last_at, sim_now(link->sim) + delay(link->sim));
	if (reset) {
		schedule(other, at, fire_reset, STATUS_CLOSED);
		return;
	}
	if (link->fin_sent)
		return;
	link->fin_sent = true;
	other->last_at = at;
	schedule(other, at, fire_readable, 1);
}

/* Begins to close; `closed` is called later, as io.h promises. */
static void link_end(struct sim_link *link, enum status why, bool reset)
{
	if (!alive(link))
		return;
	/* Closing with bytes unread is a reset. */
	tell_peer(link, reset || link->pipe_count > 0);
	link->state = LINK_CLOSING;
	link->why = why;
	drop_queue(link);
	schedule(link, 0, fire_closed, 0);
}

static void fire_reset(struct io_sim *sim, void *target, uint64_t why)
{
	struct sim_link *link = link_of_object(target);
	UNUSED(sim);
	link_end(link, (enum status)why, true);
}

static void fire_linger(struct io_sim *sim, void *target, uint64_t argument)
{
	struct sim_link *link = link_of_object(target);
	UNUSED(sim);
	UNUSED(argument);
	if (link->state == LINK_LINGERING)
		link_end(link, STATUS_OK, false);
}

/* Everything is sent: close our half and wait for the peer's. */
static void linger(struct sim_link *link)
{
	link->state = LINK_LINGERING;
	tell_peer(link, false);
	link->fin_sent = true;
	if (link->ended) {
		link_end(link, STATUS_OK, false);
		return;
	}
	uint64_t wait = link->stream.io->limits.linger_ms * NS_PER_MS;
	schedule(link, sim_now(link->sim) + wait, fire_linger, 0);
}

/* ---- reading ------------------------------------------------------------------------------- */
static void pipe_take(struct sim_link *link, uint8_t *into, uint32_t bytes)
{
	uint32_t capacity = link->sim->options.kernel_bytes;
	uint32_t straight = MIN_OF(bytes, capacity - link->pipe_first);
	memcpy(into, link->pipe + link->pipe_first, straight);
	memcpy(into + straight, link->pipe, bytes - straight);
	link->pipe_first = (link->pipe_first + bytes) % capacity;
	link->pipe_count -= bytes;
	link->pipe_ready -= bytes;
	link->stream.io->counters.bytes_in += bytes;
	if (link->other != NULL && !link->cut)
		schedule(link->other, sim_now(link->sim) + delay(link->sim), fire_room, 0);
}

static void pipe_put(struct sim_link *link, const uint8_t *from, uint32_t bytes)
{
	uint32_t capacity = link->sim->options.kernel_bytes;
	uint32_t last = (link->pipe_first + link->pipe_count) % capacity;
	uint32_t straight = MIN_OF(bytes, capacity - last);
	memcpy(link->pipe + last, from, straight);
	memcpy(link->pipe, from + straight, bytes - straight);
	link->pipe_count += bytes;
}

/* All bytes, or a prefix cut at any byte. */
static uint32_t torn(struct sim_link *link, uint32_t bytes, uint32_t least)
{
	if (bytes <= least || !sim_chance(link->sim, link->sim->options.torn))
		return bytes;
	return least + (uint32_t)sim_draw(link->sim, bytes - least);
}

static void end_of_file(struct sim_link *link)
{
	if (link->state == LINK_FINISHING)
		link->ended = true;
	else
		link_end(link, STATUS_OK, false);
}

/* One read. False: there are no bytes, no reader, or no room. */
static bool read_once(struct sim_link *link)
{
	uint8_t discard[DISCARD_BYTES], *into = discard;
	size_t room = sizeof discard;
	bool open = link->state == LINK_OPEN;
	if (open)
		room = link->stream.events->space(link->stream.context, &into);
	if (link->state != LINK_OPEN && open)
		return false;
	link->paused = room == 0;
	if (room == 0)
		return false;
	uint32_t bytes = torn(link, (uint32_t)MIN_OF(room, link->pipe_ready), 1);
	pipe_take(link, into, bytes);
	if (open)
		link->stream.events->received(link->stream.context, bytes);
	return true;
}

static void readable_soon(struct sim_link *link)
{
	if (link->readable_due)
		return;
	link->readable_due = true;
	schedule(link, sim_now(link->sim) + sim_draw(link->sim, 20 * NS_PER_US), fire_readable, 0);
}

static void pump_in(struct sim_link *link)
{
	bool reads = link->state >= LINK_OPEN && link->state <= LINK_LINGERING;
	if (!reads || link->stalled || link->paused)
		return;
	if (link->pipe_ready > 0) {
		/* The rest after a short read is another event, so that other events can come between. */
		if (read_once(link) && alive(link))
			readable_soon(link);
		return;
	}
	if (link->fin_ready && link->pipe_count == 0)
		end_of_file(link);
}

static void fire_readable(struct io_sim *sim, void *target, uint64_t fin)
{
	struct sim_link *link = link_of_object(target);
	UNUSED(sim);
	if (fin != 0 && !link->cut)
		link->fin_ready = true;
	if (fin == 0)
		link->readable_due = false;
	pump_in(link);
}

static void fire_arrival(struct io_sim *sim, void *target, uint64_t bytes)
{
	struct sim_link *link = link_of_object(target);
	if (link->cut || !alive(link))
		return;
	if (rng_below(&sim->rng, 1000000) < sim->options.reset) {
		link_end(link, STATUS_CLOSED, true);
		return;
	}
	link->pipe_ready += (uint32_t)bytes;
	if (!link->readable_due)
		pump_in(link);
}

static void sim_stream_start(struct stream *stream, const struct stream_events *events,
			     void *context)
{
	struct sim_link *link = link_of(stream);
	stream->events = events;
	stream->context = context;
	ASSERT(link->state == LINK_NEW || link->state == LINK_CLOSING);
	if (link->state == LINK_CLOSING)
		return;
	link->state = LINK_OPEN;
	readable_soon(link);
}

static void sim_stream_resume(struct stream *stream)
{
	struct sim_link *link = link_of(stream);
	link->paused = false;
	if (link->state == LINK_OPEN)
		readable_soon(link);
}

/* ---- writing ------------------------------------------------------------------------------- */
static void fire_user_timeout(struct io_sim *sim, void *target, uint64_t argument)
{
	UNUSED(sim);
	UNUSED(argument);
	link_end(link_of_object(target), STATUS_SLOW, false);
}

/* Bytes for a peer that is gone: accepted, and never acknowledged. */
static void into_the_void(struct sim_link *link)
{
	uint64_t now = sim_now(link->sim);
	if (link->unheard != 0)
		return;
	link->unheard = now;
	if (link->cut)
		schedule(link, now + link->stream.io->limits.user_timeout_ms * NS_PER_MS,
			 fire_user_timeout, 0);
	else
		schedule(link, now + 2 * delay(link->sim), fire_reset, STATUS_CLOSED);
}

/* Writes up to `bytes` to the kernel; returns the number accepted. */
static uint32_t kernel_take(struct sim_link *link, const uint8_t *from, uint32_t bytes)
{
	struct sim_link *other = link->other;
	if (link->state == LINK_CONNECTING)
		return 0;
	if (other == NULL || link->cut || !alive(other)) {
		into_the_void(link);
		return bytes;
	}
	uint32_t room = link->sim->options.kernel_bytes - other->pipe_count;
	uint32_t taken = torn(link, MIN_OF(bytes, room), 0);
	if (taken == 0)
		return 0;
	pipe_put(other, from, taken);
	uint64_t at = MAX_OF(other->last_at, sim_now(link->sim) + delay(link->sim));
	other->last_at = at;
	schedule(other, at, fire_arrival, taken);
	return taken;
}

static void fire_room(struct io_sim *sim, void *target, uint64_t argument)
{
	UNUSED(sim);
	UNUSED(argument);
	push_out(link_of_object(target));
}

/* Retries the rest of a short write. When the pipe is full, the reader's next read triggers the retry. */
static void room_soon(struct sim_link *link)
{
	bool full =
		link->other != NULL && link->other->pipe_count == link->sim->options.kernel_bytes;
	if (link->state == LINK_CONNECTING || full)
		return;
	schedule(link, sim_now(link->sim) + delay(link->sim), fire_room, 0);
}

/* Sends as much of the queue as the kernel accepts. */
static void push_out(struct sim_link *link)
{
	if (!alive(link) || link->state == LINK_CONNECTING)
		return;
	while (link->queue.count > 0) {
		struct waiting *first = ring_at(&link->queue, 0);
		uint32_t left = first->frame->bytes - first->sent;
		uint32_t taken = kernel_take(link, first->frame->data + first->sent, left);
		first->sent += taken;
		link->queued -= taken;
		link->host->io.counters.queued_bytes -= taken;
		link->host->io.counters.bytes_out += taken;
		if (taken < left) {
			room_soon(link);
			return;
		}
		frame_release(first->frame);
		(void)ring_pop(&link->queue, NULL);
	}
	bool owed = link->tailed;
	link->tailed = false;
	if (link->state == LINK_FINISHING)
		linger(link);
	else if (owed && link->stream.events != NULL && link->stream.events->drained != NULL)
		link->stream.events->drained(link->stream.context);
}

/* The ring of waiting frames doubles as it must; the bytes are bounded, so it is too. */
static void queue_push(struct sim_link *link, struct frame *frame, uint32_t sent)
{
	struct waiting waiting = { frame_retain(frame), sent };
	if (link->queue.count == link->queue.capacity) {
		uint32_t capacity = link->queue.capacity * 2;
		struct waiting *storage = sim_realloc(NULL, capacity * sizeof *storage);
		struct ring larger;
		ring_init(&larger, storage, capacity, sizeof *storage);
		struct waiting moved;
		while (ring_pop(&link->queue, &moved))
			ASSERT(ring_push(&larger, &moved) == STATUS_OK);
		heap_free(link->storage);
		link->storage = storage;
		link->queue = larger;
	}
	ASSERT(ring_push(&link->queue, &waiting) == STATUS_OK);
	link->queued += frame->bytes - sent;
	link->host->io.counters.queued_bytes += frame->bytes - sent;
}

static enum status sim_stream_write(struct stream *stream, struct frame *const frames[],
				    uint32_t count)
{
	struct sim_link *link = link_of(stream);
	struct io_counters *counters = &stream->io->counters;
	if (link->state > LINK_OPEN)
		return STATUS_CLOSED;
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < count; i++)
		bytes += frames[i]->bytes;
	if (bytes + link->queued > stream->io->limits.queue_bytes) {
		counters->writes_refused++;
		return STATUS_FULL;
	}
	bool waits = link->queue.count > 0;
	counters->writes += !waits;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t taken = 0;
		if (!waits)
			taken = kernel_take(link, frames[i]->data, frames[i]->bytes);
		counters->bytes_out += taken;
		if (taken == frames[i]->bytes)
			continue;
		queue_push(link, frames[i], taken);
		if (!waits) {
			counters->writes_short++;
			link->tailed = true;
			room_soon(link);
		}
		waits = true;
	}
	return STATUS_OK;
}

static size_t sim_stream_queued(const struct stream *stream)
{
	return link_of(stream)->queued;
}

static void sim_stream_finish(struct stream *stream)
{
	struct sim_link *link = link_of(stream);
	if (link->state == LINK_CONNECTING) {
		link_end(link, STATUS_OK, false);
		return;
	}
	if (link->state != LINK_OPEN)
		return;
	link->state = LINK_FINISHING;
	link->paused = false;
	readable_soon(link);
	if (link->queue.count == 0)
		linger(link);
}

static void sim_stream_close(struct stream *stream)
{
	link_end(link_of(stream), STATUS_OK, false);
}

static void sim_stream_peer(const struct stream *stream, struct peer *out)
{
	const struct sim_link *link = link_of(stream);
	uint32_t index = link->other != NULL ? link->other->host->index : 0;
	memset(out, 0, sizeof *out);
	out->kind = link->address.kind;
	out->local = address_is_loopback(&link->address);
	memcpy(out->octets, link->address.octets, sizeof out->octets);
	out->known = out->kind == ADDRESS_UNIX;
	out->uid = out->gid = out->known ? 1000 : 0;
	out->pid = out->known ? (int32_t)index + 1 : 0;
	snprintf(out->text, sizeof out->text, "sim:host=%u", index);
}

/* ---- listening and connecting -------------------------------------------------------------- */
static bool same_address(const struct address *a, const struct address *b)
{
	char first[ADDRESS_TEXT_MAX], second[ADDRESS_TEXT_MAX];
	address_print(a, first);
	address_print(b, second);
	return strcmp(first, second) == 0;
}

static struct sim_ear *ear_at(struct io_sim *sim, const struct address *address)
{
	struct sim_ear *ear = sim->ears;
	while (ear != NULL && !same_address(&ear->address, address))
		ear = ear->next;
	return ear;
}

enum status sim_listen(struct io *io, const struct address *address, io_accepted *accepted,
		       void *context, struct io_listener **out, struct reason *why)
{
	struct io_sim *sim = sim_host_of(io)->sim;
	struct address at = *address;
	if (at.kind != ADDRESS_UNIX && at.port == 0)
		at.port = sim->next_port++;
	if (ear_at(sim, &at) != NULL)
		return reason_set(why, STATUS_EXISTS, -1, "address", "in use");
	struct sim_ear *ear = heap_alloc_zero(sizeof *ear);
	if (ear == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "address", "out of memory");
	ear->listener.io = io;
	ear->address = at;
	ear->accepted = accepted;
	ear->context = context;
	ear->next = sim->ears;
	sim->ears = ear;
	*out = &ear->listener;
	return STATUS_OK;
}

void sim_listener_address(const struct io_listener *listener, struct address *out)
{
	*out = ((const struct sim_ear *)listener)->address;
}

void sim_listener_close(struct io_listener *listener)
{
	struct sim_ear **place = &sim_host_of(listener->io)->sim->ears;
	while (*place != (struct sim_ear *)listener)
		place = &(*place)->next;
	*place = (*place)->next;
	heap_free(listener);
}

static void fire_connected(struct io_sim *sim, void *target, uint64_t argument)
{
	struct sim_link *link = link_of_object(target);
	UNUSED(sim);
	UNUSED(argument);
	if (link->state != LINK_CONNECTING)
		return;
	link->state = LINK_OPEN;
	if (link->stream.events->connected != NULL)
		link->stream.events->connected(link->stream.context);
	push_out(link);
	if (alive(link))
		pump_in(link);
}

/* On the listener's host: creates the other half of the connection, unless the limit of connections
 * is reached. */
static void fire_accept(struct io_sim *sim, void *target, uint64_t argument)
{
	struct sim_link *link = link_of_object(target);
	UNUSED(argument);
	struct sim_ear *ear = ear_at(sim, &link->address);
	if (link->state != LINK_CONNECTING || link->cut)
		return;
	struct sim_host *host = ear != NULL ? sim_host_of(ear->listener.io) : NULL;
	if (host != NULL && host->io.counters.streams >= host->io.limits.streams_max) {
		host->io.counters.refused++;
		host = NULL;
	}
	struct sim_link *mine = host != NULL ? link_create(host, &link->address) : NULL;
	uint64_t at = sim_now(sim) + delay(sim);
	if (mine == NULL) {
		schedule(link, at, fire_reset, ear == NULL ? STATUS_MISSING : STATUS_CLOSED);
		return;
	}
	mine->other = link;
	link->other = mine;
	/* Bytes written from here on arrive after the connection is reported. */
	link->last_at = at;
	schedule(link, at, fire_connected, 0);
	host->io.counters.accepted++;
	ear->accepted(ear->context, &mine->stream);
}

enum status sim_connect(struct io *io, const struct address *address,
			const struct stream_events *events, void *context, struct stream **out)
{
	struct sim_host *host = sim_host_of(io);
	struct io_sim *sim = host->sim;
	struct sim_link *link = link_create(host, address);
	if (link == NULL)
		return STATUS_NO_MEMORY;
	link->state = LINK_CONNECTING;
	link->stream.events = events;
	link->stream.context = context;
	struct sim_ear *ear = ear_at(sim, address);
	uint32_t actor = ear != NULL ? sim_host_of(ear->listener.io)->index : host->index;
	sim_schedule(sim, actor, sim_now(sim) + delay(sim), fire_accept, &link->object, 0);
	*out = &link->stream;
	return STATUS_OK;
}

/* ---- faults -------------------------------------------------------------------------------- */
void io_sim_stall(struct stream *stream, bool stalled)
{
	struct sim_link *link = link_of(stream);
	link->stalled = stalled;
	if (!stalled && alive(link))
		readable_soon(link);
}

void io_sim_vanish(struct stream *stream)
{
	struct sim_link *link = link_of(stream), *other = link->other;
	link->cut = true;
	if (other != NULL) {
		other->cut = true;
		/* Bytes already sent that will never be acknowledged. */
		if (link->pipe_count > 0 || other->queue.count > 0)
			into_the_void(other);
	}
	link_end(link, STATUS_CLOSED, false);
}

void io_sim_reset(struct stream *stream)
{
	link_end(link_of(stream), STATUS_CLOSED, true);
}

size_t io_sim_in_kernel(const struct stream *stream)
{
	const struct sim_link *link = link_of(stream);
	return link->other != NULL ? link->other->pipe_count : 0;
}

void sim_network_end(struct io_sim *sim)
{
	while (sim->ears != NULL)
		sim_listener_close(&sim->ears->listener);
	while (sim->links != NULL) {
		struct sim_link *link = sim->links;
		link->cut = true;
		link_end(link, STATUS_OK, false);
		fire_closed(sim, &link->object, 0);
	}
}

const struct stream_ops sim_stream_ops = {
	.start = sim_stream_start,
	.write = sim_stream_write,
	.queued = sim_stream_queued,
	.resume = sim_stream_resume,
	.finish = sim_stream_finish,
	.close = sim_stream_close,
	.peer = sim_stream_peer,
};
