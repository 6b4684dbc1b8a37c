#include "clients/lib/connection.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "protocol/frame.h"
#include "protocol/pack.h"

enum { READ_BYTES = 256 << 10 };

void connection_init(struct connection *self)
{
	memset(self, 0, sizeof *self);
	self->fd = -1;
	self->frame_max = WIRE_FRAME_DOWN;
}

void connection_release(struct connection *self)
{
	if (self->fd >= 0)
		close(self->fd);
	self->fd = -1;
	bytes_release(&self->in);
	bytes_release(&self->out);
}

/* ---- opening ------------------------------------------------------------------------------------- */

union any_address {
	struct sockaddr base;
	struct sockaddr_un local;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
};

static enum status parse_unix(const char *path, union any_address *to, socklen_t *bytes,
			      struct reason *why)
{
	to->local.sun_family = AF_UNIX;
	if (path[0] == '\0' || strlen(path) >= sizeof to->local.sun_path)
		return reason_set(why, STATUS_RANGE, -1, "address",
				  "a socket's path has 1 to %zu bytes",
				  sizeof to->local.sun_path - 1);
	snprintf(to->local.sun_path, sizeof to->local.sun_path, "%s", path);
	*bytes = sizeof to->local;
	return STATUS_OK;
}

/* HOST:PORT with a numeric host, [HOST]:PORT for IPv6; localhost is 127.0.0.1. */
static enum status parse_tcp(const char *text, union any_address *to, socklen_t *bytes,
			     struct reason *why)
{
	const char *colon = strrchr(text, ':');
	char host[64];
	char *end = NULL;
	long port = colon != NULL ? strtol(colon + 1, &end, 10) : 0;
	if (colon == NULL || end == colon + 1 || *end != '\0' || port < 1 || port > 65535 ||
	    (size_t)(colon - text) >= sizeof host)
		return reason_set(why, STATUS_RANGE, -1, "address", "%s is not HOST:PORT", text);
	snprintf(host, sizeof host, "%.*s", (int)(colon - text), text);
	if (strcmp(host, "localhost") == 0)
		snprintf(host, sizeof host, "127.0.0.1");
	size_t length = strlen(host);
	if (length > 1 && host[0] == '[' && host[length - 1] == ']') {
		host[length - 1] = '\0';
		to->six.sin6_family = AF_INET6;
		to->six.sin6_port = htons((uint16_t)port);
		*bytes = sizeof to->six;
		if (inet_pton(AF_INET6, host + 1, &to->six.sin6_addr) == 1)
			return STATUS_OK;
	} else {
		to->four.sin_family = AF_INET;
		to->four.sin_port = htons((uint16_t)port);
		*bytes = sizeof to->four;
		if (inet_pton(AF_INET, host, &to->four.sin_addr) == 1)
			return STATUS_OK;
	}
	return reason_set(why, STATUS_RANGE, -1, "address", "%s is no numeric address", host);
}

enum status connection_open(struct connection *self, const char *address, struct reason *why)
{
	union any_address to;
	socklen_t bytes;
	memset(&to, 0, sizeof to);
	enum status status =
		strncmp(address, "unix:", 5) == 0  ? parse_unix(address + 5, &to, &bytes, why)
		: strncmp(address, "tcp:", 4) == 0 ? parse_tcp(address + 4, &to, &bytes, why)
						   : parse_tcp(address, &to, &bytes, why);
	if (status != STATUS_OK)
		return status;
	self->fd = socket(to.base.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (self->fd < 0 || connect(self->fd, &to.base, bytes) != 0)
		return reason_set(why, STATUS_IO, -1, "address", "%s: %s", address,
				  strerror(errno));
	int on = 1;
	if (to.base.sa_family != AF_UNIX)
		setsockopt(self->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	fcntl(self->fd, F_SETFL, O_NONBLOCK);
	return STATUS_OK;
}

/* ---- moving bytes -------------------------------------------------------------------------------- */

enum status connection_queue(struct connection *self, const struct message *message,
			     struct reason *why)
{
	for (size_t room = 512; room <= 2 * (size_t)WIRE_FRAME_UP; room *= 4) {
		uint32_t bytes;
		if (bytes_reserve(&self->out, room) != STATUS_OK)
			return reason_set(why, STATUS_NO_MEMORY, -1, "message", "%s",
					  status_text(STATUS_NO_MEMORY));
		enum status status = message_pack(message, self->out.data + self->out.count,
						  (uint32_t)room, &bytes);
		if (status == STATUS_OK && bytes <= WIRE_FRAME_UP + WIRE_FRAME_HEADER) {
			self->out.count += bytes;
			return STATUS_OK;
		}
		if (status != STATUS_FULL && status != STATUS_OK)
			return reason_set(why, status, -1, "message", "%s", status_text(status));
	}
	return reason_set(why, STATUS_TOO_LARGE, -1, "message", "a frame has at most %d bytes",
			  WIRE_FRAME_UP);
}

enum status connection_flush(struct connection *self)
{
	while (self->out.count > 0) {
		ssize_t done = send(self->fd, self->out.data, self->out.count, MSG_NOSIGNAL);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return errno == EAGAIN ? STATUS_OK : STATUS_CLOSED;
		bytes_consume(&self->out, (size_t)done);
	}
	return STATUS_OK;
}

static enum status read_in(struct connection *self)
{
	bytes_consume(&self->in, self->taken);
	self->taken = 0;
	if (bytes_reserve(&self->in, READ_BYTES) != STATUS_OK)
		return STATUS_NO_MEMORY;
	ssize_t done = recv(self->fd, self->in.data + self->in.count, READ_BYTES, 0);
	if (done > 0) {
		self->in.count += (size_t)done;
		return STATUS_OK;
	}
	if (done == 0)
		return STATUS_CLOSED;
	return errno == EAGAIN || errno == EINTR ? STATUS_AGAIN : STATUS_CLOSED;
}

enum status connection_move(struct connection *self, int timeout_ms)
{
	enum status status = connection_flush(self);
	if (status != STATUS_OK)
		return read_in(self) == STATUS_OK ? STATUS_OK : status; /* its GOODBYE, if any */
	struct pollfd wanted = { self->fd, POLLIN, 0 };
	if (self->out.count > 0)
		wanted.events |= POLLOUT;
	int ready = poll(&wanted, 1, timeout_ms);
	if (ready < 0 && errno != EINTR)
		return STATUS_IO;
	if (ready <= 0)
		return STATUS_AGAIN;
	if (wanted.revents & (POLLIN | POLLHUP | POLLERR))
		return read_in(self);
	return STATUS_OK;
}

enum status connection_next(struct connection *self, struct wire_slice *content)
{
	size_t bytes;
	/* Before the first byte there is no buffer, and even 0 cannot be added to none. */
	const uint8_t *start = self->taken > 0 ? self->in.data + self->taken : self->in.data;
	enum status status = frame_split(start, self->in.count - self->taken,
					 self->frame_max, content, &bytes);
	if (status == STATUS_OK)
		self->taken += bytes;
	return status;
}
