/* See transport.h. Addresses are parsed first; then sockets, TLS and WebSocket frames form layers. */
#include "clients/lib/transport.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "protocol/frame.h"
#include "protocol/token.h"

enum { READ_BYTES = 256 << 10, HEAD_MAX = 8192, HOST_MAX = 256, PORT_MAX = 8 };

/* A parsed address. */
struct address_target {
	char host[HOST_MAX], port[PORT_MAX], path[256];
	bool tls, web;
};

void transport_init(struct transport *self)
{
	memset(self, 0, sizeof *self);
	self->fd = -1;
}

void transport_release(struct transport *self)
{
	SSL_free(self->tls);
	SSL_CTX_free(self->tls_context);
	if (self->fd >= 0)
		close(self->fd);
	bytes_release(&self->raw);
	bytes_release(&self->message);
	bytes_release(&self->pongs);
	transport_init(self);
}

/* ---- addresses ------------------------------------------------------------------------------- */
static enum status bad_address(struct reason *why, const char *address)
{
	return reason_set(
		why, STATUS_RANGE, -1, "address",
		"address %s is not unix:PATH, tcp:HOST:PORT, tls:HOST:PORT, ws://HOST:PORT or "
		"wss://HOST:PORT, with a port from 1 to 65535",
		address);
}

/* "HOST:PORT" or "[HOST]:PORT", the first `bytes` of `text`. */
static bool split_host(const char *text, size_t bytes, struct address_target *out)
{
	const char *colon = memrchr(text, ':', bytes);
	if (colon == NULL)
		return false;
	const char *host = text;
	size_t host_bytes = (size_t)(colon - text), port_bytes = bytes - host_bytes - 1;
	if (host_bytes > 2 && host[0] == '[' && host[host_bytes - 1] == ']') {
		host++;
		host_bytes -= 2;
	}
	if (host_bytes == 0 || host_bytes >= HOST_MAX || port_bytes == 0 ||
	    port_bytes >= PORT_MAX || strspn(colon + 1, "0123456789") != port_bytes)
		return false;
	snprintf(out->host, sizeof out->host, "%.*s", (int)host_bytes, host);
	snprintf(out->port, sizeof out->port, "%.*s", (int)port_bytes, colon + 1);
	/* getaddrinfo takes a larger one for what its lowest 16 bits are. */
	unsigned long port = strtoul(out->port, NULL, 10);
	return port >= 1 && port <= UINT16_MAX;
}

static enum status parse_address(const char *address, struct address_target *out,
				 struct reason *why)
{
	static const struct {
		const char *prefix;
		bool tls, web;
	} KINDS[] = {
		{ "tcp:", false, false }, { "tls:", true, false }, { "ws://", false, true },
		{ "wss://", true, true }, { "", false, false },
	};
	size_t kind = 0;
	while (strncmp(address, KINDS[kind].prefix, strlen(KINDS[kind].prefix)) != 0)
		kind++;
	memset(out, 0, sizeof *out);
	out->tls = KINDS[kind].tls;
	out->web = KINDS[kind].web;
	const char *rest = address + strlen(KINDS[kind].prefix), *slash = strchr(rest, '/');
	size_t bytes = slash != NULL ? (size_t)(slash - rest) : strlen(rest);
	if ((slash != NULL && !out->web) || !split_host(rest, bytes, out))
		return bad_address(why, address);
	bool has_path = slash != NULL && slash[1] != '\0';
	snprintf(out->path, sizeof out->path, "%s", has_path ? slash : "/ws");
	return STATUS_OK;
}

/* ---- sockets --------------------------------------------------------------------------------- */
static enum status connect_failed(struct reason *why, const char *address, int error)
{
	return reason_set(why, STATUS_IO, -1, "address", "%.90s: %s", address, strerror(error));
}

static enum status open_unix(struct transport *self, const char *address, struct reason *why)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	const char *path = address + strlen("unix:");
	if (path[0] == '\0' || strlen(path) >= sizeof to.sun_path)
		return reason_set(why, STATUS_RANGE, -1, "address",
				  "the path of a Unix socket has 1 to %zu bytes, not %zu",
				  sizeof to.sun_path - 1, strlen(path));
	snprintf(to.sun_path, sizeof to.sun_path, "%s", path);
	self->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (self->fd < 0 || connect(self->fd, (struct sockaddr *)&to, sizeof to) != 0)
		return connect_failed(why, address, errno);
	return STATUS_OK;
}

static void set_timeouts(int fd, uint32_t timeout_ms)
{
	struct timeval limit = { .tv_sec = timeout_ms / 1000, .tv_usec = timeout_ms % 1000 * 1000 };
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

/* Connects to the first of the host's addresses that accepts. */
static enum status open_tcp(struct transport *self, const struct address_target *target,
			    const char *address, uint32_t timeout_ms, struct reason *why)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV }, *found;
	/* cairnd listens on 127.0.0.1 by default, and `localhost` may resolve to ::1 first. */
	const char *host = strcmp(target->host, "localhost") == 0 ? "127.0.0.1" : target->host;
	int error = getaddrinfo(host, target->port, &hints, &found), on = 1;
	if (error != 0)
		return reason_set(why, STATUS_RANGE, -1, "address", "%s: %s", target->host,
				  gai_strerror(error));
	error = ECONNREFUSED;
	for (const struct addrinfo *at = found; at != NULL && self->fd < 0; at = at->ai_next) {
		int fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
		if (fd < 0)
			continue;
		set_timeouts(fd, timeout_ms);
		if (connect(fd, at->ai_addr, at->ai_addrlen) == 0) {
			self->fd = fd;
			continue;
		}
		error = errno;
		close(fd);
	}
	freeaddrinfo(found);
	if (self->fd < 0)
		return connect_failed(why, address, error);
	(void)setsockopt(self->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	return STATUS_OK;
}

/* ---- TLS ------------------------------------------------------------------------------------- */
static enum status tls_failed(struct transport *self, struct reason *why)
{
	long verdict = self->tls != NULL ? SSL_get_verify_result(self->tls) : X509_V_OK;
	char text[120] = "";
	ERR_error_string_n(ERR_get_error(), text, sizeof text);
	ERR_clear_error();
	if (verdict != X509_V_OK)
		return reason_set(why, STATUS_AUTH, -1, "tls",
				  "the certificate of the server is not accepted: %s",
				  X509_verify_cert_error_string(verdict));
	return reason_set(why, STATUS_IO, -1, "tls", "TLS could not be established: %s", text);
}

static enum status open_tls(struct transport *self, const struct address_target *target,
			    const char *trusted, struct reason *why)
{
	self->tls_context = SSL_CTX_new(TLS_client_method());
	if (self->tls_context == NULL ||
	    SSL_CTX_set_min_proto_version(self->tls_context, TLS1_3_VERSION) != 1)
		return tls_failed(self, why);
	SSL_CTX_set_verify(self->tls_context, SSL_VERIFY_PEER, NULL);
	SSL_CTX_set_mode(self->tls_context,
			 SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	int loaded = trusted != NULL
			     ? SSL_CTX_load_verify_locations(self->tls_context, trusted, NULL)
			     : SSL_CTX_set_default_verify_paths(self->tls_context);
	self->tls = loaded == 1 ? SSL_new(self->tls_context) : NULL;
	if (self->tls == NULL)
		return tls_failed(self, why);
	uint8_t octets[16];
	bool numeric = inet_pton(AF_INET, target->host, octets) == 1 ||
		       inet_pton(AF_INET6, target->host, octets) == 1;
	X509_VERIFY_PARAM *expected = SSL_get0_param(self->tls);
	int named = numeric ? X509_VERIFY_PARAM_set1_ip_asc(expected, target->host)
			    : X509_VERIFY_PARAM_set1_host(expected, target->host, 0);
	if (!numeric)
		(void)SSL_set_tlsext_host_name(self->tls, target->host);
	if (named != 1 || SSL_set_fd(self->tls, self->fd) != 1 || SSL_connect(self->tls) != 1)
		return tls_failed(self, why);
	return STATUS_OK;
}

/* ---- bytes ----------------------------------------------------------------------------------- */
/* Returns the bytes sent, 0 if the socket accepts none now, −1 if the connection has ended. */
static long send_bytes(struct transport *self, const uint8_t *data, size_t bytes)
{
	if (self->tls != NULL) {
		ERR_clear_error();
		int done = SSL_write(self->tls, data, (int)MIN_OF(bytes, (size_t)1 << 20));
		if (done > 0)
			return done;
		int error = SSL_get_error(self->tls, done);
		return error == SSL_ERROR_WANT_WRITE || error == SSL_ERROR_WANT_READ ? 0 : -1;
	}
	ssize_t done = send(self->fd, data, bytes, MSG_NOSIGNAL);
	if (done >= 0)
		return done;
	return errno == EAGAIN || errno == EINTR ? 0 : -1;
}

/* Likewise, for received bytes. */
static long receive_bytes(struct transport *self, uint8_t *into, size_t bytes)
{
	if (self->tls != NULL) {
		ERR_clear_error();
		int done = SSL_read(self->tls, into, (int)bytes);
		if (done > 0)
			return done;
		int error = SSL_get_error(self->tls, done);
		return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? 0 : -1;
	}
	ssize_t done = recv(self->fd, into, bytes, 0);
	if (done > 0)
		return done;
	return done < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

/* ---- WebSocket ------------------------------------------------------------------------------- */
static enum status websocket_failed(struct reason *why, const char *text)
{
	return reason_set(why, STATUS_HANDSHAKE, -1, "address",
			  "the WebSocket handshake failed: %s", text);
}

static enum status open_web(struct transport *self, const struct address_target *target,
			    struct reason *why)
{
	uint8_t key[16];
	char key_text[32], request[1024], head[HEAD_MAX + 1];
	size_t used = 0;
	bool ipv6 = strchr(target->host, ':') != NULL;
	if (getrandom(key, sizeof key, 0) != (ssize_t)sizeof key)
		return websocket_failed(why, "the system gives no random bytes");
	/* token_encode writes the URL-safe alphabet without padding: two letters differ from
	 * base64, and the padding of 16 bytes, `==`, is added below. */
	token_encode(key, sizeof key, key_text);
	for (char *at = key_text; *at != '\0'; at++)
		*at = *at == '-' ? '+' : *at == '_' ? '/' : *at;
	int bytes = snprintf(request, sizeof request,
			     "GET %s HTTP/1.1\r\nHost: %s%s%s:%s\r\nUpgrade: websocket\r\n"
			     "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
			     "Sec-WebSocket-Key: %s==\r\n\r\n",
			     target->path, ipv6 ? "[" : "", target->host, ipv6 ? "]" : "",
			     target->port, key_text);
	if (bytes >= (int)sizeof request ||
	    send_bytes(self, (uint8_t *)request, (size_t)bytes) != bytes)
		return websocket_failed(why, "the request could not be sent");
	const char *end = NULL;
	while (end == NULL) {
		long got = used < HEAD_MAX
				   ? receive_bytes(self, (uint8_t *)head + used, HEAD_MAX - used)
				   : -1;
		if (got <= 0)
			return websocket_failed(
				why,
				"no complete answer of at most 8192 bytes came in time: check the address");
		used += (size_t)got;
		head[used] = '\0';
		end = strstr(head, "\r\n\r\n");
	}
	if (strncmp(head, "HTTP/1.1 101", 12) != 0) {
		head[strcspn(head, "\r\n")] = '\0';
		return websocket_failed(why, head);
	}
	end += 4;
	self->web = true;
	return bytes_append(&self->raw, end, used - (size_t)(end - head));
}

enum { CONTINUATION = 0, BINARY = 2, CLOSING = 8, PING = 9, PONG = 10, LAST = 0x80, MASKED = 0x80 };

/* Appends one masked WebSocket frame with these bytes (RFC 6455, 5.2). */
static enum status append_websocket_frame(int opcode, const uint8_t *data, size_t bytes,
					  struct bytes *out)
{
	uint8_t head[14], mask[4];
	size_t used = 2;
	head[0] = (uint8_t)(LAST | opcode);
	if (bytes < 126) {
		head[1] = (uint8_t)(MASKED | bytes);
	} else if (bytes < 1 << 16) {
		head[1] = MASKED | 126;
		head[2] = (uint8_t)(bytes >> 8);
		head[3] = (uint8_t)bytes;
		used = 4;
	} else {
		head[1] = MASKED | 127;
		put_be64(head + 2, bytes);
		used = 10;
	}
	if (getrandom(mask, sizeof mask, 0) != (ssize_t)sizeof mask)
		return STATUS_IO;
	memcpy(head + used, mask, sizeof mask);
	if (bytes_reserve(out, used + sizeof mask + bytes) != STATUS_OK)
		return STATUS_NO_MEMORY;
	memcpy(out->data + out->count, head, used + sizeof mask);
	out->count += used + sizeof mask;
	for (size_t i = 0; i < bytes; i++)
		out->data[out->count + i] = data[i] ^ mask[i & 3];
	out->count += bytes;
	return STATUS_OK;
}

/* Appends the finished message to `in` as a frame with its header. */
static enum status finish_message(struct transport *self, struct bytes *in)
{
	uint8_t header[WIRE_FRAME_HEADER];
	frame_header_put(header, (uint32_t)self->message.count);
	enum status status = bytes_append(in, header, sizeof header);
	if (status == STATUS_OK)
		status = bytes_append(in, self->message.data, self->message.count);
	self->message.count = 0;
	return status;
}

/* Handles one WebSocket frame; `first` is its first byte: the FIN bit and the opcode. */
static enum status take_websocket_frame(struct transport *self, uint8_t first, const uint8_t *data,
					size_t bytes, struct bytes *in)
{
	switch (first & 15) {
	case PING:
		return append_websocket_frame(PONG, data, bytes, &self->pongs);
	case PONG:
		return STATUS_OK;
	case CLOSING:
		return STATUS_CLOSED;
	case BINARY:
	case CONTINUATION:
		break;
	default:
		return STATUS_MALFORMED;
	}
	if (self->message.count + bytes > WIRE_FRAME_DOWN)
		return STATUS_TOO_LARGE;
	enum status status = bytes_append(&self->message, data, bytes);
	if (status == STATUS_OK && (first & LAST) != 0)
		status = finish_message(self, in);
	return status;
}

/* Handles every complete WebSocket frame of the received bytes. */
static enum status take_websocket_frames(struct transport *self, struct bytes *in)
{
	size_t taken = 0;
	enum status status = STATUS_OK;
	while (status == STATUS_OK && self->raw.count - taken >= 2) {
		const uint8_t *at = self->raw.data + taken;
		size_t head = 2, left = self->raw.count - taken;
		uint64_t bytes = at[1] & 127;
		if (bytes >= 126)
			head = bytes == 126 ? 4 : 10;
		if (left < head)
			break;
		if (bytes >= 126)
			bytes = head == 4 ? (uint64_t)at[2] << 8 | at[3] : get_be64(at + 2);
		if ((at[1] & MASKED) != 0 || bytes > WIRE_FRAME_DOWN)
			return STATUS_MALFORMED;
		if (left - head < bytes)
			break;
		status = take_websocket_frame(self, at[0], at + head, (size_t)bytes, in);
		taken += head + (size_t)bytes;
	}
	bytes_consume(&self->raw, taken);
	return status;
}

/* ---- transport.h ----------------------------------------------------------------------------- */
enum status transport_open(struct transport *self, const char *address, const char *trusted,
			   uint32_t timeout_ms, struct reason *why)
{
	struct address_target target = { .tls = false };
	enum status status;
	if (strncmp(address, "unix:", 5) == 0) {
		status = open_unix(self, address, why);
	} else {
		status = parse_address(address, &target, why);
		if (status == STATUS_OK)
			status = open_tcp(self, &target, address, timeout_ms, why);
	}
	if (status == STATUS_OK && target.tls)
		status = open_tls(self, &target, trusted, why);
	if (status == STATUS_OK && target.web)
		status = open_web(self, &target, why);
	if (status == STATUS_OK)
		fcntl(self->fd, F_SETFL, O_NONBLOCK);
	return status;
}

enum status transport_wrap(struct transport *self, const uint8_t *frame, size_t bytes,
			   struct bytes *out)
{
	if (!self->web)
		return bytes_append(out, frame, bytes);
	return append_websocket_frame(BINARY, frame + WIRE_FRAME_HEADER, bytes - WIRE_FRAME_HEADER,
				      out);
}

enum status transport_send(struct transport *self, struct bytes *out)
{
	/* Pongs are queued between complete messages. */
	if (self->pongs.count > 0) {
		enum status status = bytes_append(out, self->pongs.data, self->pongs.count);
		if (status != STATUS_OK)
			return status;
		self->pongs.count = 0;
	}
	while (out->count > 0) {
		long done = send_bytes(self, out->data, out->count);
		if (done < 0)
			return STATUS_CLOSED;
		if (done == 0)
			return STATUS_OK;
		bytes_consume(out, (size_t)done);
	}
	return STATUS_OK;
}

enum status transport_receive(struct transport *self, struct bytes *in)
{
	struct bytes *into = self->web ? &self->raw : in;
	size_t before = in->count;
	if (bytes_reserve(into, READ_BYTES) != STATUS_OK)
		return STATUS_NO_MEMORY;
	long done = receive_bytes(self, into->data + into->count, READ_BYTES);
	if (done > 0)
		into->count += (size_t)done;
	if (!self->web)
		return done > 0 ? STATUS_OK : done == 0 ? STATUS_AGAIN : STATUS_CLOSED;
	enum status status = take_websocket_frames(self, in);
	/* Frames received before the connection ended are still returned. */
	if (in->count > before)
		return STATUS_OK;
	if (status != STATUS_OK)
		return status;
	return done < 0 ? STATUS_CLOSED : STATUS_AGAIN;
}

bool transport_pending(const struct transport *self)
{
	return self->tls != NULL && SSL_pending(self->tls) > 0;
}
