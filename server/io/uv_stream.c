/* uv_stream.c: one stream on libuv. See io.h.
 *
 * Writing: one uv_try_write of everything; frames that the kernel does not accept are queued, with
 * references of their own, in one uv_write. uv_try_write returns EAGAIN while a uv_write is queued,
 * so bytes keep their order (network 6.1). The queue is bounded here, since libuv's is not.
 *
 * Ending: a last ERROR or GOODBYE must arrive. Closing a TCP socket that has unread bytes sends a
 * reset, which may discard bytes on their way. So stream_finish sends, closes our half, and drops
 * incoming bytes until the peer closes too or the linger time is over.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "server/base/heap.h"
#include "server/io/uv_internal.h"

/* The unsent rest of a write, queued in libuv. */
struct uv_write {
	uv_write_t request;
	struct uv_link *link;
	struct uv_write *next;
	uint64_t bytes;
	uint32_t count;
	struct frame *frames[STREAM_FRAMES_MAX];
};

/* An error code of libuv as a status for the owner of a stream. */
static enum status uv_meaning(int error)
{
	switch (error) {
	case UV_EOF:
		return STATUS_OK;
	case UV_ECONNRESET:
	case UV_EPIPE:
	case UV_ECANCELED:
		return STATUS_CLOSED;
	case UV_ETIMEDOUT:
		return STATUS_SLOW;
	case UV_ECONNREFUSED:
	case UV_ENOENT:
		return STATUS_MISSING;
	default:
		return STATUS_IO;
	}
}

/* ---- life ------------------------------------------------------------------------------------ */
struct uv_link *uv_link_create(struct uv_io *io, enum address_kind kind)
{
	struct uv_link *link = heap_alloc_zero(sizeof *link);
	if (link == NULL)
		return NULL;
	link->stream.io = &io->io;
	link->stream.ops = &uv_link_ops;
	link->kind = kind;
	link->handles = 1;
	if (kind == ADDRESS_UNIX)
		uv_pipe_init(&io->loop, &link->uv.pipe, 0);
	else
		uv_tcp_init(&io->loop, &link->uv.tcp);
	link->uv.handle.data = link;
	link->next = io->links;
	if (io->links != NULL)
		io->links->previous = link;
	io->links = link;
	io->io.counters.streams++;
	return link;
}

static void option(int fd, int level, int name, uint32_t value)
{
	int number = (int)value;
	/* If a kernel lacks one of these options, only more bytes are in flight. */
	(void)setsockopt(fd, level, name, &number, sizeof number);
}

void uv_link_tune(struct uv_link *link)
{
	const struct io_limits *limits = &link->stream.io->limits;
	uv_os_fd_t fd;
	if (uv_fileno(&link->uv.handle, &fd) != 0)
		return;
	if (limits->send_buffer > 0)
		option(fd, SOL_SOCKET, SO_SNDBUF, limits->send_buffer);
	if (link->kind == ADDRESS_UNIX)
		return;
	option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	option(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, limits->notsent_lowat);
	option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, limits->user_timeout_ms);
}

static void on_handle_closed(uv_handle_t *handle)
{
	struct uv_link *link = handle->data;
	if (--link->handles > 0)
		return;
	struct uv_io *io = uv_io_of(link->stream.io);
	if (link->previous != NULL)
		link->previous->next = link->next;
	else
		io->links = link->next;
	if (link->next != NULL)
		link->next->previous = link->previous;
	io->io.counters.streams--;
	io->io.counters.closed++;
	if (link->stream.events != NULL)
		link->stream.events->closed(link->stream.context, link->why);
	heap_free(link);
}

void uv_link_end(struct uv_link *link, enum status why)
{
	if (link->state == LINK_CLOSING)
		return;
	if (link->handles > 1)
		uv_close((uv_handle_t *)&link->linger, on_handle_closed);
	link->state = LINK_CLOSING;
	link->why = why;
	uv_close(&link->uv.handle, on_handle_closed);
}

static void uv_link_close(struct stream *stream)
{
	uv_link_end(uv_link_of(stream), STATUS_OK);
}

/* ---- reading --------------------------------------------------------------------------------- */
static void on_space(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
	struct uv_link *link = handle->data;
	UNUSED(suggested);
	if (link->state == LINK_OPEN) {
		uint8_t *into = NULL;
		size_t bytes = link->stream.events->space(link->stream.context, &into);
		*buffer = uv_buf_init((char *)into, (unsigned)MIN_OF(bytes, 1u << 30));
		return;
	}
	struct uv_io *io = uv_io_of(link->stream.io);
	*buffer = uv_buf_init((char *)io->discard, sizeof io->discard);
}

static void read_stop(struct uv_link *link)
{
	link->reading = false;
	uv_read_stop(&link->uv.stream);
}

static void read_failed(struct uv_link *link, int error)
{
	/* A peer that has closed its half may still read our last bytes. */
	if (error == UV_EOF && link->state == LINK_FINISHING) {
		link->ended = true;
		read_stop(link);
		return;
	}
	uv_link_end(link, uv_meaning(error));
}

static void on_read(uv_stream_t *handle, ssize_t bytes, const uv_buf_t *buffer)
{
	struct uv_link *link = handle->data;
	UNUSED(buffer);
	if (bytes == UV_ENOBUFS) {
		read_stop(link);
	} else if (bytes < 0) {
		read_failed(link, (int)bytes);
	} else if (bytes > 0) {
		link->stream.io->counters.bytes_in += (uint64_t)bytes;
		if (link->state == LINK_OPEN)
			link->stream.events->received(link->stream.context, (size_t)bytes);
	}
}

static void read_start(struct uv_link *link)
{
	if (link->reading || link->ended)
		return;
	int error = uv_read_start(&link->uv.stream, on_space, on_read);
	link->reading = error == 0;
	if (error != 0)
		uv_link_end(link, uv_meaning(error));
}

static void uv_link_start(struct stream *stream, const struct stream_events *events, void *context)
{
	struct uv_link *link = uv_link_of(stream);
	ASSERT(link->state == LINK_NEW);
	stream->events = events;
	stream->context = context;
	link->state = LINK_OPEN;
	read_start(link);
}

static void uv_link_resume(struct stream *stream)
{
	struct uv_link *link = uv_link_of(stream);
	if (link->state == LINK_OPEN)
		read_start(link);
}

/* ---- connecting ------------------------------------------------------------------------------ */
static void on_connected(uv_connect_t *request, int status)
{
	struct uv_link *link = request->data;
	if (link->state == LINK_CLOSING)
		return;
	if (status != 0) {
		uv_link_end(link, uv_meaning(status));
		return;
	}
	uv_link_tune(link);
	read_start(link);
	if (link->state == LINK_OPEN && link->stream.events->connected != NULL)
		link->stream.events->connected(link->stream.context);
}

enum status uv_link_connect(struct io *io, const struct address *address,
			    const struct stream_events *events, void *context, struct stream **out)
{
	struct uv_link *link = uv_link_create(uv_io_of(io), address->kind);
	if (link == NULL)
		return STATUS_NO_MEMORY;
	struct sockaddr_storage storage;
	uv_sockaddr(address, &storage);
	link->connect.data = link;
	link->stream.events = events;
	link->stream.context = context;
	link->state = LINK_OPEN;
	int error = 0;
	if (address->kind == ADDRESS_UNIX)
		uv_pipe_connect(&link->connect, &link->uv.pipe, address->path, on_connected);
	else
		error = uv_tcp_connect(&link->connect, &link->uv.tcp, (struct sockaddr *)&storage,
				       on_connected);
	if (error != 0)
		uv_link_end(link, uv_meaning(error));
	*out = &link->stream;
	return STATUS_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */
static struct uv_write *write_take(struct uv_io *io)
{
	struct uv_write *write = io->writes_idle;
	if (write == NULL)
		return heap_alloc(sizeof *write);
	io->writes_idle = write->next;
	return write;
}

static void write_give(struct uv_io *io, struct uv_write *write)
{
	for (uint32_t i = 0; i < write->count; i++)
		frame_release(write->frames[i]);
	io->io.counters.queued_bytes -= write->bytes;
	write->next = io->writes_idle;
	io->writes_idle = write;
}

void uv_writes_free(struct uv_io *io)
{
	while (io->writes_idle != NULL) {
		struct uv_write *write = io->writes_idle;
		io->writes_idle = write->next;
		heap_free(write);
	}
}

static void on_shutdown(uv_shutdown_t *request, int status)
{
	struct uv_link *link = request->data;
	if (status != 0 || link->ended)
		uv_link_end(link, STATUS_OK);
}

static void on_linger(uv_timer_t *handle)
{
	uv_link_end(handle->data, STATUS_OK);
}

/* All bytes are sent: closes our half and waits up to linger_ms for the peer to close. */
static void linger(struct uv_link *link)
{
	struct uv_io *io = uv_io_of(link->stream.io);
	link->state = LINK_LINGERING;
	link->shutdown.data = link;
	if (uv_shutdown(&link->shutdown, &link->uv.stream, on_shutdown) != 0) {
		uv_link_end(link, STATUS_OK);
		return;
	}
	uv_timer_init(&io->loop, &link->linger);
	link->linger.data = link;
	link->handles++;
	uv_update_time(&io->loop);
	uv_timer_start(&link->linger, on_linger, io->io.limits.linger_ms, 0);
}

static void on_written(uv_write_t *request, int status)
{
	struct uv_write *write = request->data;
	struct uv_link *link = write->link;
	if (status == 0)
		link->stream.io->counters.bytes_out += write->bytes;
	write_give(uv_io_of(link->stream.io), write);
	if (link->state == LINK_CLOSING)
		return;
	if (status != 0) {
		uv_link_end(link, uv_meaning(status));
		return;
	}
	if (link->uv.stream.write_queue_size > 0)
		return;
	bool owed = link->tailed;
	link->tailed = false;
	if (link->state == LINK_FINISHING)
		linger(link);
	else if (owed && link->stream.events != NULL && link->stream.events->drained != NULL)
		link->stream.events->drained(link->stream.context);
}

/* References and queues frames from byte `sent` on. */
static enum status queue_tail(struct uv_link *link, struct frame *const frames[], uint32_t count,
			      uint64_t sent)
{
	struct uv_io *io = uv_io_of(link->stream.io);
	struct uv_write *write = write_take(io);
	if (write == NULL)
		return STATUS_NO_MEMORY;
	uv_buf_t buffers[STREAM_FRAMES_MAX];
	write->request.data = write;
	write->link = link;
	write->count = 0;
	write->bytes = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t skip = MIN_OF(sent, frames[i]->bytes);
		sent -= skip;
		if (skip == frames[i]->bytes)
			continue;
		uint32_t bytes = frames[i]->bytes - (uint32_t)skip;
		buffers[write->count] = uv_buf_init((char *)frames[i]->data + skip, bytes);
		write->frames[write->count++] = frame_retain(frames[i]);
		write->bytes += bytes;
	}
	io->io.counters.queued_bytes += write->bytes;
	link->tailed = true;
	int error = uv_write(&write->request, &link->uv.stream, buffers, write->count, on_written);
	if (error == 0)
		return STATUS_OK;
	write_give(io, write);
	return error == UV_ENOMEM ? STATUS_NO_MEMORY : STATUS_CLOSED;
}

/* Writes as many bytes as the kernel accepts now. Returns their number, or a negative error. */
static int try_write(struct uv_link *link, struct frame *const frames[], uint32_t count)
{
	uv_buf_t buffers[STREAM_FRAMES_MAX];
	if (link->uv.stream.write_queue_size > 0)
		return 0;
	for (uint32_t i = 0; i < count; i++)
		buffers[i] = uv_buf_init((char *)frames[i]->data, frames[i]->bytes);
	link->stream.io->counters.writes++;
	int taken = uv_try_write(&link->uv.stream, buffers, count);
	return taken == UV_EAGAIN ? 0 : taken;
}

static enum status uv_link_write(struct stream *stream, struct frame *const frames[],
				 uint32_t count)
{
	struct uv_link *link = uv_link_of(stream);
	struct io_counters *counters = &stream->io->counters;
	if (link->state != LINK_OPEN && link->state != LINK_NEW)
		return STATUS_CLOSED;
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < count; i++)
		bytes += frames[i]->bytes;
	if (bytes + link->uv.stream.write_queue_size > stream->io->limits.queue_bytes) {
		counters->writes_refused++;
		return STATUS_FULL;
	}
	int taken = try_write(link, frames, count);
	if (taken < 0) {
		uv_link_end(link, uv_meaning(taken));
		return STATUS_CLOSED;
	}
	counters->bytes_out += (uint64_t)taken;
	if ((uint64_t)taken == bytes)
		return STATUS_OK;
	counters->writes_short++;
	/* A part of a frame is sent: without the rest the peer could not decode the stream. */
	enum status status = queue_tail(link, frames, count, (uint64_t)taken);
	if (status != STATUS_OK)
		uv_link_end(link, status);
	return status == STATUS_OK ? STATUS_OK : STATUS_CLOSED;
}

static size_t uv_link_queued(const struct stream *stream)
{
	return uv_link_of(stream)->uv.stream.write_queue_size;
}

static void uv_link_finish(struct stream *stream)
{
	struct uv_link *link = uv_link_of(stream);
	ASSERT(stream->events != NULL);
	if (link->state != LINK_OPEN)
		return;
	if (!uv_is_writable(&link->uv.stream)) {
		/* Not connected yet: there is no peer to send to. */
		uv_link_end(link, STATUS_OK);
		return;
	}
	link->state = LINK_FINISHING;
	read_start(link);
	if (link->state == LINK_FINISHING && link->uv.stream.write_queue_size == 0)
		linger(link);
}

/* ---- the peer -------------------------------------------------------------------------------- */
static void peer_unix(const struct uv_link *link, struct peer *out)
{
	struct ucred credentials;
	socklen_t length = sizeof credentials;
	uv_os_fd_t fd;
	out->known = uv_fileno(&link->uv.handle, &fd) == 0 &&
		     getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0;
	if (!out->known) {
		snprintf(out->text, sizeof out->text, "unix");
		return;
	}
	out->uid = credentials.uid;
	out->gid = credentials.gid;
	out->pid = credentials.pid;
	snprintf(out->text, sizeof out->text, "unix:uid=%u,pid=%d", out->uid, out->pid);
}

static void uv_link_peer(const struct stream *stream, struct peer *out)
{
	struct uv_link *link = uv_link_of(stream);
	memset(out, 0, sizeof *out);
	out->kind = link->kind;
	out->local = link->kind == ADDRESS_UNIX;
	if (link->kind == ADDRESS_UNIX) {
		peer_unix(link, out);
		return;
	}
	struct sockaddr_storage storage;
	int length = sizeof storage;
	struct address address = { .kind = link->kind };
	if (uv_tcp_getpeername(&link->uv.tcp, (struct sockaddr *)&storage, &length) == 0) {
		const struct sockaddr_in *four = (struct sockaddr_in *)&storage;
		const struct sockaddr_in6 *six = (struct sockaddr_in6 *)&storage;
		bool is_four = link->kind == ADDRESS_TCP4;
		address.port = ntohs(is_four ? four->sin_port : six->sin6_port);
		memcpy(address.octets,
		       is_four ? (const void *)&four->sin_addr : (const void *)&six->sin6_addr,
		       is_four ? 4 : 16);
	}
	address_unmap(&address);
	out->kind = address.kind;
	out->local = address_is_loopback(&address);
	memcpy(out->octets, address.octets, sizeof out->octets);
	address_print(&address, out->text);
}

const struct stream_ops uv_link_ops = {
	.start = uv_link_start,
	.write = uv_link_write,
	.queued = uv_link_queued,
	.resume = uv_link_resume,
	.finish = uv_link_finish,
	.close = uv_link_close,
	.peer = uv_link_peer,
};
