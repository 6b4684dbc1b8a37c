/* web.h: HTTP: WebSockets and the viewer's files for browsers, metrics and health for monitoring.
 *
 *	--web ADDRESS    GET /ws      WebSocket: one binary message is one frame's content (web_stream.h)
 *	                 GET /…       the viewer (assets.h), or a page that says it has not been built
 *	--admin ADDRESS  GET /metrics Prometheus text   /healthz alive   /readyz accepts new sessions
 *
 * libwebsockets runs on io's loop and owns these sockets. A WebSocket becomes a `struct stream`
 * before the session sees it. Any page that a browser shows may try to reach a server on this
 * machine. Therefore nothing is answered unless the request's Host is on the list (against names
 * that are rebound to this address), and no WebSocket is opened unless its Origin, if it has one,
 * is. Even then the peer is an observer until a token grants more.
 *
 * Bounded: connections by io_limits.streams_max together with all others, a request's header by
 * WEB_HEADER_BYTES, the number of headers being read at --web by WEB_HEADERS_MAX and those of one
 * address by WEB_HEADERS_SHARE (or --address-greetings), a request's time by that of the handshake.
 * --admin has a pool and shares of its own, so that clients of --web cannot keep monitoring out.
 */
#ifndef CAIRN_WEB_WEB_H
#define CAIRN_WEB_WEB_H

#include "server/io/address.h"
#include "server/session/service.h"

enum {
	WEB_HEADER_BYTES = 4096, /* of one request */
	WEB_HEADERS_MAX = 1024,
	WEB_HEADERS_SHARE = 64,
	WEB_ADMIN_HEADERS_MAX = 64,
	WEB_ADMIN_HEADERS_SHARE = 32,
	WEB_IDLE_S = 15, /* seconds after which an idle connection is closed */
};

struct web;
struct uv_loop_s;

/* Listens at the addresses of --web and --admin; *out is NULL without either. `loop` is the loop of
 * the server's io. Everything is borrowed. EXISTS for a port in use; errors name the option. *out
 * is the caller's to destroy also after a failure. */
MUST_CHECK enum status web_create(struct service *service, struct uv_loop_s *loop, struct web **out,
				  struct reason *why);
/* Ends every connection, runs the loop until libwebsockets has released it, and frees; NULL is
 * allowed. Only after server_destroy, when no other thread opens files and nothing is accepted. */
void web_destroy(struct web *self);

/* Reads the certificate's files again, for later connections. A wrong file changes nothing. OK also
 * for NULL and without TLS. */
MUST_CHECK enum status web_reload(struct web *self, struct reason *why);

#endif
