/* See web.h. In this order: connections and the callback of libwebsockets, listening, life. A site
 * (--web, --admin) has a libwebsockets context and a virtual host of its own. */
#include "config.h"

#include "server/web/web.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <uv.h>

#include "server/base/heap.h"
#include "server/io/log.h"
#include "server/io/secret_file.h"
#include "server/web/web_internal.h"

enum { MESSAGE_PART = 16 << 10, END_ROUNDS = 10 };

/* ---- connections ------------------------------------------------------------------------------- */
static void peer_of(const struct web_site *site, struct lws *wsi, struct peer *out)
{
	struct sockaddr_storage storage;
	socklen_t length = sizeof storage;
	struct address address = { .kind = ADDRESS_TCP4 };
	memset(out, 0, sizeof *out);
	memset(&storage, 0, sizeof storage);
	if (getpeername(lws_get_socket_fd(wsi), (struct sockaddr *)&storage, &length) == 0 &&
	    storage.ss_family == AF_INET6) {
		const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&storage;
		address.kind = ADDRESS_TCP6;
		address.port = ntohs(six->sin6_port);
		memcpy(address.octets, &six->sin6_addr, 16);
	} else {
		const struct sockaddr_in *four = (const struct sockaddr_in *)&storage;
		address.port = ntohs(four->sin_port);
		memcpy(address.octets, &four->sin_addr, 4);
	}
	address_unmap(&address);
	out->kind = address.kind;
	out->local = address_is_loopback(&address);
	memcpy(out->octets, address.octets, sizeof out->octets);
	out->web = true;
	out->secure = site->tls;
	address_print(&address, out->text);
	memcpy(out->text, "web", 3);
}

/* Sets the socket options that io's own connections have: no delay, little data in the kernel. */
static void set_socket_options(const struct web *web, struct lws *wsi)
{
	const struct io_limits *limits = io_limits(web->service->io);
	int fd = lws_get_socket_fd(wsi), one = 1, lowat = (int)limits->notsent_lowat;
	int send_buffer = (int)limits->send_buffer, timeout = (int)limits->user_timeout_ms;
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &lowat, sizeof lowat);
	(void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout, sizeof timeout);
	if (send_buffer > 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &send_buffer, sizeof send_buffer);
}

/* Counts an accepted connection. Not 0: its address is at the limit. */
static int add_guest(struct web_site *site, struct lws *wsi)
{
	struct web *web = site->web;
	struct peer peer;
	peer_of(site, wsi, &peer);
	if (ARRAY_RESERVE(&site->guests, site->guests.count + 1u) != STATUS_OK ||
	    address_limits_add(&site->address_limits, &peer) != STATUS_OK) {
		web->refused++;
		return -1;
	}
	site->guests.items[site->guests.count++] = (struct web_guest){ wsi, peer };
	return 0;
}

/* The connection has become a WebSocket or has closed. */
static void remove_guest(struct web_site *site, const struct lws *wsi)
{
	for (uint32_t i = 0; i < site->guests.count; i++) {
		if (site->guests.items[i].wsi != wsi)
			continue;
		address_limits_remove(&site->address_limits, &site->guests.items[i].peer, true);
		site->guests.items[i] = site->guests.items[--site->guests.count];
		return;
	}
}

static int open_websocket(struct web_site *site, struct lws *wsi, struct web_connection *connection)
{
	struct peer peer;
	struct web *web = site->web;
	const struct io *io = web->service->io;
	remove_guest(site, wsi);
	if (io->counters.streams >= io->limits.streams_max) {
		web->refused++;
		return -1;
	}
	set_socket_options(web, wsi);
	peer_of(site, wsi, &peer);
	connection->stream = web_stream_create(&web->streams, wsi, &peer);
	if (connection->stream == NULL)
		return -1;
	web->sockets++;
	web->service->calls->accept(web->service, web_stream_door(connection->stream));
	return 0;
}

/* WebSockets count as streams and are bounded with them (open_websocket). All other connections,
 * listeners included, may be a quarter of that number in addition. */
static bool is_full(struct web *web)
{
	enum { AT_LEAST = 32 };
	uint32_t most = AT_LEAST + io_limits(web->service->io)->streams_max / 4;
	bool is = web->connections - web->sockets >= most;
	web->refused += is;
	return is;
}

/* Before a connection becomes a WebSocket: checks path, Host and Origin, and that the server does
 * not drain. */
static int check_upgrade(struct web_site *site, struct lws *wsi)
{
	char path[8] = "";
	bool known = lws_hdr_copy(wsi, path, sizeof path, WSI_TOKEN_GET_URI) > 0 &&
		     strcmp(path, "/ws") == 0 && !site->admin;
	bool allowed = web_host_allowed(site, wsi) && web_origin_allowed(site, wsi);
	const struct service *service = site->web->service;
	if (known && allowed && !service->draining && !service->closing)
		return 0;
	site->web->refused++;
	char origin[WEB_HOST_MAX], host[WEB_HOST_MAX];
	if (known && !allowed)
		log_warn("web_refused", "host=%s origin=%s",
			 LOG_TEXT(web_header(wsi, WSI_TOKEN_HOST, host, sizeof host) ? host : "?"),
			 LOG_TEXT(web_header(wsi, WSI_TOKEN_ORIGIN, origin, sizeof origin) ? origin
											   : "?"));
	(void)lws_return_http_status(wsi, known ? HTTP_STATUS_FORBIDDEN : HTTP_STATUS_NOT_FOUND,
				     NULL);
	return -1;
}

static bool receive_message(struct web_connection *connection, struct lws *wsi, const void *data,
			    size_t bytes)
{
	return web_stream_received(connection->stream, data, bytes,
				   lws_remaining_packet_payload(wsi),
				   lws_is_first_fragment(wsi) != 0, lws_is_final_fragment(wsi) != 0,
				   lws_frame_is_binary(wsi) != 0);
}

static int on_websocket(struct web *web, struct web_connection *connection, struct lws *wsi,
			enum lws_callback_reasons reason, const void *data, size_t bytes)
{
	struct web_stream *stream = connection->stream;
	switch (reason) {
	case LWS_CALLBACK_RECEIVE:
		return receive_message(connection, wsi, data, bytes) ? -1 : 0;
	case LWS_CALLBACK_SERVER_WRITEABLE:
		return web_stream_writable(stream) ? -1 : 0;
	case LWS_CALLBACK_TIMER:
		return web_stream_late(stream) ? -1 : 0;
	case LWS_CALLBACK_CLOSED:
		connection->stream = NULL;
		web->sockets--;
		web_stream_gone(stream);
		return 0;
	default:
		return 0;
	}
}

/* Disables TLS sessions and tickets: each connection has keys of its own, as with --tls. */
static void disable_tls_sessions(SSL_CTX *tls)
{
	SSL_CTX_set_options(tls, SSL_OP_NO_TICKET);
	SSL_CTX_set_num_tickets(tls, 0);
	SSL_CTX_set_session_cache_mode(tls, SSL_SESS_CACHE_OFF);
}

static int on_event(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *data,
		    size_t bytes)
{
	/* Of the vhost, before there are connections. */
	if (reason == LWS_CALLBACK_OPENSSL_LOAD_EXTRA_SERVER_VERIFY_CERTS) {
		disable_tls_sessions(user);
		return 0;
	}
	struct web_connection *connection = user;
	struct lws_vhost *vhost = lws_get_vhost(wsi);
	struct web_site *site = vhost != NULL ? lws_get_vhost_user(vhost) : NULL;
	if (connection != NULL && connection->stream != NULL)
		return on_websocket(site->web, connection, wsi, reason, data, bytes);
	/* While web_destroy runs, the server has been destroyed already. */
	bool last = reason == LWS_CALLBACK_CLOSED_HTTP ||
		    reason == LWS_CALLBACK_HTTP_DROP_PROTOCOL || reason == LWS_CALLBACK_WSI_DESTROY;
	if (site == NULL || (site->web->destroying && !last))
		return reason == LWS_CALLBACK_HTTP || reason == LWS_CALLBACK_ESTABLISHED ? -1 : 0;
	switch (reason) {
	case LWS_CALLBACK_HTTP:
		return web_answer(site, wsi, connection, data);
	case LWS_CALLBACK_HTTP_WRITEABLE:
		return web_answer_more(wsi, connection);
	case LWS_CALLBACK_HTTP_DROP_PROTOCOL:
	case LWS_CALLBACK_CLOSED_HTTP:
		if (connection != NULL)
			bytes_release(&connection->text);
		return 0;
	case LWS_CALLBACK_HTTP_BODY:
	case LWS_CALLBACK_HTTP_BODY_COMPLETION:
		return -1; /* no request of ours has a body */
	case LWS_CALLBACK_WSI_CREATE:
		site->web->connections++;
		return 0;
	case LWS_CALLBACK_WSI_DESTROY:
		site->web->connections--;
		remove_guest(site, wsi);
		return 0;
	case LWS_CALLBACK_SERVER_NEW_CLIENT_INSTANTIATED:
		return add_guest(site, wsi);
	case LWS_CALLBACK_FILTER_NETWORK_CONNECTION:
		return is_full(site->web) ? -1 : 0;
	case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
		return check_upgrade(site, wsi);
	case LWS_CALLBACK_ESTABLISHED:
		return open_websocket(site, wsi, connection);
	default:
		return 0;
	}
}

/* ---- listening --------------------------------------------------------------------------------- */
static void add_host(struct web_site *site, const char *name)
{
	if (site->host_count == WEB_HOSTS_MAX)
		return;
	char *out = site->hosts[site->host_count++];
	snprintf(out, WEB_HOST_MAX, "%s", name);
	for (; *out != '\0'; out++)
		*out = *out >= 'A' && *out <= 'Z' ? (char)(*out - 'A' + 'a') : *out;
}

static void add_with_port(struct web_site *site, const char *name)
{
	char text[WEB_HOST_MAX];
	snprintf(text, sizeof text, "%.100s:%u", name, site->address.port);
	add_host(site, text);
	/* Browsers leave the default port out. */
	if (site->address.port == (site->tls ? 443 : 80))
		add_host(site, name);
}

/* Lists the allowed hosts: its address, the names of loopback where it listens there, --web-host. */
static void list_hosts(struct web_site *site)
{
	const struct option_list *names = &site->web->service->options->web_host;
	char text[ADDRESS_TEXT_MAX];
	address_print(&site->address, text);
	add_host(site, text + strlen("tcp:"));
	if (address_is_loopback(&site->address)) {
		add_with_port(site, "localhost");
		add_with_port(site, site->address.kind == ADDRESS_TCP4 ? "127.0.0.1" : "[::1]");
	}
	for (uint32_t i = 0; i < names->count; i++) {
		add_host(site, names->items[i]);
		if (strrchr(names->items[i], ':') == NULL)
			add_with_port(site, names->items[i]);
	}
}

/* Checks that the address is free, because libwebsockets does not report why it cannot listen. */
static enum status check_address_free(struct io *io, const struct address *address,
				      struct address *bound, struct reason *why)
{
	struct io_listener *listener;
	enum status status = io_listen(io, address, NULL, NULL, &listener, why);
	if (status != STATUS_OK)
		return status;
	io_listener_address(listener, bound);
	io_listener_close(listener);
	return STATUS_OK;
}

static enum status open_vhost(struct web_site *site, const char *option, struct reason *why)
{
	struct address *address = &site->address;
	char text[ADDRESS_TEXT_MAX], host[INET6_ADDRSTRLEN];
	inet_ntop(address->kind == ADDRESS_TCP6 ? AF_INET6 : AF_INET, address->octets, host,
		  sizeof host);
	site->protocols[0] =
		(struct lws_protocols){ .name = "cairn.1",
					.callback = on_event,
					.per_session_data_size = sizeof(struct web_connection),
					.rx_buffer_size = MESSAGE_PART,
					.tx_packet_size = FRAME_CAPACITY_MAX };
	struct lws_context_creation_info info = {
		.port = address->port,
		.iface = host,
		.vhost_name = option,
		.protocols = site->protocols,
		.user = site,
		.alpn = "http/1.1",
		.timeout_secs = 5,
		.keepalive_timeout = WEB_IDLE_S,
		.timeout_secs_ah_idle = 5,
		.options = LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND |
			   (address->kind == ADDRESS_TCP4 ? LWS_SERVER_OPTION_DISABLE_IPV6 : 0),
	};
	const struct options *options = site->web->service->options;
	if (site->tls) {
		enum status status =
			secret_file_check(options->tls_key, TLS_KEY_FILE_MAX, "tls-key", why);
		if (status != STATUS_OK)
			return status;
		info.options |= LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT;
		info.ssl_cert_filepath = options->tls_cert;
		info.ssl_private_key_filepath = options->tls_key;
		info.ssl_options_set = SSL_OP_NO_TLSv1 | SSL_OP_NO_TLSv1_1 | SSL_OP_NO_TLSv1_2;
	}
	site->vhost = lws_create_vhost(site->context, &info);
	if (site->vhost == NULL) {
		address_print(address, text);
		return reason_set(why, STATUS_IO, -1, option,
				  "cannot listen at %s; is the port in use?", text);
	}
	if (address->port == 0)
		address->port = (uint16_t)lws_get_vhost_listen_port(site->vhost);
	site->on = true;
	list_hosts(site);
	log_info("listening", "address=%s://%s/%s", site->tls ? "https" : "http", site->hosts[0],
		 site->admin ? "metrics" : "");
	return STATUS_OK;
}

static void log_library_line(int level, const char *line)
{
	char text[LOG_TEXT_BYTES];
	snprintf(text, sizeof text, "%.*s", (int)strcspn(line, "\n"), line);
	if (level == LLL_ERR)
		log_warn("web", "text=%s", LOG_TEXT(text));
	else
		log_debug("web", "text=%s", LOG_TEXT(text));
}

static enum status make_context(struct web_site *site, struct reason *why)
{
	const struct options *options = site->web->service->options;
	void *loops[1] = { site->web->loop };
	uint32_t share = site->admin ? WEB_ADMIN_HEADERS_SHARE : WEB_HEADERS_SHARE;
	struct lws_context_creation_info info = {
		.port = CONTEXT_PORT_NO_LISTEN,
		.foreign_loops = loops,
		.max_http_header_data = WEB_HEADER_BYTES,
		.max_http_header_pool = site->admin ? WEB_ADMIN_HEADERS_MAX : WEB_HEADERS_MAX,
		.server_string = SERVER_NAME,
		.pt_serv_buf_size = MESSAGE_PART,
		.options = LWS_SERVER_OPTION_LIBUV | LWS_SERVER_OPTION_EXPLICIT_VHOSTS |
			   LWS_SERVER_OPTION_VALIDATE_UTF8 |
			   (site->tls ? LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT : 0),
	};
	lws_set_log_level(LLL_ERR | LLL_WARN, log_library_line);
	site->context = lws_create_context(&info);
	if (site->context == NULL)
		return reason_set(why, STATUS_IO, -1, "web",
				  "libwebsockets does not start; is it built with libuv?");
	if (options->address_greetings > 0)
		share = (uint32_t)options->address_greetings;
	address_limits_init(&site->address_limits, share, 0);
	return STATUS_OK;
}

static enum status open_site(struct web_site *site, const char *text, const char *option,
			     struct reason *why)
{
	struct address bound;
	if (text == NULL)
		return STATUS_OK;
	enum status status = options_web_address(text, option, &site->address, why);
	if (status == STATUS_OK)
		status = make_context(site, why);
	if (status == STATUS_OK)
		status = check_address_free(site->web->service->io, &site->address, &bound, why);
	if (status == STATUS_OK)
		status = open_vhost(site, option, why);
	return status;
}

/* ---- life -------------------------------------------------------------------------------------- */
enum status web_create(struct service *service, struct uv_loop_s *loop, struct web **out,
		       struct reason *why)
{
	const struct options *options = service->options;
	*out = NULL;
	if (options->web == NULL && options->admin == NULL)
		return STATUS_OK;
	struct web *self = heap_alloc_zero(sizeof *self);
	if (self == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "web", "out of memory");
	self->service = service;
	self->loop = loop;
	self->streams.io = service->io;
	self->streams.message_ms = options->handshake_ms;
	self->viewer.web = self->admin.web = self;
	self->admin.admin = true;
	self->viewer.tls = options->web_tls;
	assets_init(&self->assets);
	const char *files = options->web_files != NULL ? options->web_files : CAIRN_WEB_DIR;
	enum status status =
		options->web != NULL ? assets_load(&self->assets, files, why) : STATUS_OK;
	if (status == STATUS_OK)
		status = open_site(&self->viewer, options->web, "web", why);
	self->streams.context = self->viewer.context;
	if (status == STATUS_OK)
		status = open_site(&self->admin, options->admin, "admin", why);
	if (status == STATUS_OK && options->web != NULL)
		log_info("web_files", "directory=%s files=%u bytes=%llu", files,
			 (unsigned)self->assets.items.count,
			 (unsigned long long)self->assets.total_bytes);
	*out = self;
	return status;
}

static void close_site(struct web_site *site)
{
	if (site->context == NULL)
		return;
	/* The first call closes, the loop then releases libuv's handles, the second call frees. In
	 * between, libwebsockets 4.1 closes a descriptor twice: another thread that opened one in
	 * that moment would lose it. */
	lws_context_destroy(site->context);
	for (int round = 0; round < END_ROUNDS; round++)
		uv_run(site->web->loop, UV_RUN_NOWAIT);
	lws_context_destroy(site->context);
	ARRAY_RELEASE(&site->guests);
	address_limits_release(&site->address_limits);
}

void web_destroy(struct web *self)
{
	if (self == NULL)
		return;
	self->destroying = true;
	close_site(&self->viewer);
	close_site(&self->admin);
	assets_release(&self->assets);
	heap_free(self);
}

enum status web_reload(struct web *self, struct reason *why)
{
	struct tls_context *trial;
	if (self == NULL || !self->viewer.tls)
		return STATUS_OK;
	const struct options *options = self->service->options;
	/* libwebsockets would keep one file even where the other does not match, so both are
	 * checked first. */
	enum status status = tls_context_create(options->tls_cert, options->tls_key, &trial, why);
	if (status != STATUS_OK)
		return status;
	tls_context_destroy(trial);
	if (lws_tls_cert_updated(self->viewer.context, options->tls_cert, options->tls_key, NULL, 0,
				 NULL, 0))
		return reason_set(why, STATUS_IO, -1, "tls-cert",
				  "libwebsockets refused the certificate or key");
	return STATUS_OK;
}
