/* uv_listener.c: listening sockets of io_uv: bind, listen, accept, and the addresses of peers. See io.h. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "server/base/heap.h"
#include "server/io/uv_internal.h"

/* The kernel reduces it to net.core.somaxconn: connections that arrive while the loop is busy wait
 * in this queue. */
enum { BACKLOG = INT_MAX };

struct uv_listener {
	struct io_listener listener;
	union {
		uv_handle_t handle;
		uv_stream_t stream;
		uv_tcp_t tcp;
		uv_pipe_t pipe;
	} uv;
	struct address address;
	io_accepted *accepted;
	void *context;
	/* Accepts and drops a connection for which there is no memory, because libuv reports no
	 * further one before this one is accepted. */
	union {
		uv_handle_t handle;
		uv_stream_t stream;
		uv_tcp_t tcp;
		uv_pipe_t pipe;
	} spare;
	bool spare_busy;
	bool spare_owed;
	bool closed;
};

uint32_t uv_sockaddr(const struct address *address, struct sockaddr_storage *out)
{
	memset(out, 0, sizeof *out);
	if (address->kind == ADDRESS_UNIX) {
		struct sockaddr_un *un = (struct sockaddr_un *)out;
		un->sun_family = AF_UNIX;
		memcpy(un->sun_path, address->path, strlen(address->path) + 1);
		return sizeof *un;
	}
	if (address->kind == ADDRESS_TCP4) {
		struct sockaddr_in *in = (struct sockaddr_in *)out;
		in->sin_family = AF_INET;
		in->sin_port = htons(address->port);
		memcpy(&in->sin_addr, address->octets, 4);
		return sizeof *in;
	}
	struct sockaddr_in6 *in = (struct sockaddr_in6 *)out;
	in->sin6_family = AF_INET6;
	in->sin6_port = htons(address->port);
	memcpy(&in->sin6_addr, address->octets, 16);
	return sizeof *in;
}

/* Frees the path for bind: a socket file without a listening process is removed. For any other file
 * the address is refused. */
static enum status clear_path(const struct address *address, struct reason *why)
{
	struct stat found;
	if (lstat(address->path, &found) != 0)
		return STATUS_OK;
	if (!S_ISSOCK(found.st_mode))
		return reason_set(why, STATUS_EXISTS, -1, "address",
				  "%s exists and is not a socket", address->path);
	int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (probe < 0)
		return reason_set(why, STATUS_IO, -1, "address", "socket: %s", strerror(errno));
	struct sockaddr_storage storage;
	uint32_t length = uv_sockaddr(address, &storage);
	/* EAGAIN means that a listener exists and its queue is full. */
	bool refused =
		connect(probe, (struct sockaddr *)&storage, length) != 0 && errno == ECONNREFUSED;
	close(probe);
	if (!refused)
		return reason_set(why, STATUS_EXISTS, -1, "address", "another server listens at %s",
				  address->path);
	unlink(address->path);
	return STATUS_OK;
}

/* Binds without libuv: the mode given to the socket before bind becomes the mode of the file, so
 * other users can never connect. Returns 0 or −errno. */
static int bind_unix(struct uv_listener *self)
{
	struct sockaddr_storage storage;
	uint32_t length = uv_sockaddr(&self->address, &storage);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	int error = 0;
	if (fchmod(fd, 0600) != 0 || bind(fd, (struct sockaddr *)&storage, length) != 0)
		error = -errno;
	else
		error = uv_pipe_open(&self->uv.pipe, fd);
	if (error != 0)
		close(fd);
	return error;
}

static int bind_tcp(struct uv_listener *self)
{
	struct sockaddr_storage storage;
	uv_sockaddr(&self->address, &storage);
	return uv_tcp_bind(&self->uv.tcp, (struct sockaddr *)&storage, 0);
}

/* Reads the port that the system chose. */
static void read_port(struct uv_listener *self)
{
	struct sockaddr_storage storage;
	int length = sizeof storage;
	if (self->address.kind == ADDRESS_UNIX ||
	    uv_tcp_getsockname(&self->uv.tcp, (struct sockaddr *)&storage, &length) != 0)
		return;
	if (self->address.kind == ADDRESS_TCP4)
		self->address.port = ntohs(((struct sockaddr_in *)&storage)->sin_port);
	else
		self->address.port = ntohs(((struct sockaddr_in6 *)&storage)->sin6_port);
}

static void free_listener(struct uv_listener *self)
{
	if (self->closed && !self->spare_busy)
		heap_free(self);
}

static void drop_connection(struct uv_listener *self);

static void on_spare_closed(uv_handle_t *handle)
{
	struct uv_listener *self = handle->data;
	self->spare_busy = false;
	if (self->spare_owed && !uv_is_closing(&self->uv.handle))
		drop_connection(self);
	free_listener(self);
}

static void drop_connection(struct uv_listener *self)
{
	self->spare_owed = self->spare_busy;
	if (self->spare_busy)
		return;
	self->spare_busy = true;
	self->listener.io->counters.refused++;
	if (self->address.kind == ADDRESS_UNIX)
		uv_pipe_init(self->uv.handle.loop, &self->spare.pipe, 0);
	else
		uv_tcp_init(self->uv.handle.loop, &self->spare.tcp);
	self->spare.handle.data = self;
	(void)uv_accept(&self->uv.stream, &self->spare.stream);
	uv_close(&self->spare.handle, on_spare_closed);
}

static void on_connection(uv_stream_t *handle, int status)
{
	struct uv_listener *self = handle->data;
	struct uv_io *io = uv_io_of(self->listener.io);
	if (status < 0)
		return;
	struct uv_link *link = uv_link_create(io, self->address.kind);
	if (link == NULL) {
		drop_connection(self);
		return;
	}
	/* A connection over the limit is accepted and closed, because the loop would report it
	 * again and again. */
	bool full = io->io.counters.streams > io->io.limits.streams_max;
	if (uv_accept(handle, &link->uv.stream) != 0 || full) {
		io->io.counters.refused++;
		uv_link_end(link, STATUS_FULL);
		return;
	}
	io->io.counters.accepted++;
	uv_link_tune(link);
	self->accepted(self->context, &link->stream);
}

static void on_ear_closed(uv_handle_t *handle)
{
	struct uv_listener *self = handle->data;
	self->closed = true;
	free_listener(self);
}

enum status uv_listen_on(struct io *io, const struct address *address, io_accepted *accepted,
			 void *context, struct io_listener **out, struct reason *why)
{
	bool is_unix = address->kind == ADDRESS_UNIX;
	enum status status = is_unix ? clear_path(address, why) : STATUS_OK;
	if (status != STATUS_OK)
		return status;
	struct uv_listener *self = heap_alloc_zero(sizeof *self);
	if (self == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "address", "out of memory");
	self->listener.io = io;
	self->address = *address;
	self->accepted = accepted;
	self->context = context;
	if (is_unix)
		uv_pipe_init(&uv_io_of(io)->loop, &self->uv.pipe, 0);
	else
		uv_tcp_init(&uv_io_of(io)->loop, &self->uv.tcp);
	self->uv.handle.data = self;
	int error = is_unix ? bind_unix(self) : bind_tcp(self);
	if (error == 0)
		error = uv_listen(&self->uv.stream, BACKLOG, on_connection);
	if (error != 0) {
		uv_close(&self->uv.handle, on_ear_closed);
		char text[ADDRESS_TEXT_MAX];
		address_print(address, text);
		return reason_set(why, error == UV_EADDRINUSE ? STATUS_EXISTS : STATUS_IO, -1,
				  "address", "%s: %s", text, uv_strerror(error));
	}
	read_port(self);
	*out = &self->listener;
	return STATUS_OK;
}

void uv_listener_address(const struct io_listener *listener, struct address *out)
{
	*out = ((const struct uv_listener *)listener)->address;
}

void uv_listener_close(struct io_listener *listener)
{
	struct uv_listener *self = (struct uv_listener *)listener;
	if (self->address.kind == ADDRESS_UNIX)
		unlink(self->address.path);
	uv_close(&self->uv.handle, on_ear_closed);
}
