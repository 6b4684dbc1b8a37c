/* web.h: what browsers and monitors come through: WebSocket, the viewer's files, metrics.
 *
 *	--web ADDRESS    GET /ws      WebSocket: one binary message is one frame's content (web_stream.h)
 *	                 GET /…       the viewer (assets.h), or a page that says it has not been built
 *	--admin ADDRESS  GET /metrics Prometheus text   /healthz alive   /readyz takes new sessions
 *
 * libwebsockets runs on the loop of io and owns these sockets; a WebSocket becomes a `struct stream` like
 * any other before anything above sees it. Any page that a browser shows may try to talk to a server on
 * this machine, so nothing is answered unless the Host of the request is on the list (or a name rebound
 * to this address would do), and no WebSocket opened unless the Origin, where there is one, is. Even
 * then it is an observer's connection until a token says more.
 *
 * Bounded: connections by io_limits.streams_max together with all others, the header of a request by
 * WEB_HEADER_BYTES, all headers being read at --web by WEB_HEADERS_MAX and those of one address by
 * WEB_HEADERS_SHARE (or --address-greetings), a request's time by the handshake's. --admin has a pool
 * and shares of its own, so that nobody at --web can hide that the daemon is alive.
 */
#ifndef CAIRN_WEB_WEB_H
#define CAIRN_WEB_WEB_H

#include "server/io/address.h"
#include "server/session/service.h"

enum {
	WEB_HEADER_BYTES = 4096,
	WEB_HEADERS_MAX = 1024,
	WEB_HEADERS_SHARE = 64,
	WEB_ADMIN_HEADERS_MAX = 64,
	WEB_ADMIN_HEADERS_SHARE = 32,
	WEB_IDLE_S = 15,
};

struct web;
struct uv_loop_s;

/* Listens where the server's options say; *out is NULL when they say nowhere. `loop` is the one the
 * server's io runs on. Everything is borrowed. EXISTS for a port in use; the option is named. What *out
 * holds is the caller's also where it is not OK. */
enum status web_create(struct service *service, struct uv_loop_s *loop, struct web **out,
		       struct reason *why) MUST_CHECK;
/* Ends every connection, runs the loop until libwebsockets has let go of it, and frees; NULL is allowed.
 * After server_destroy, when no other thread opens files any more and nobody is accepted. */
void web_destroy(struct web *self);

/* Takes the certificate's files as they are now for connections to come; where they are wrong nothing
 * changes. OK also without a web side (NULL), or one without TLS. */
enum status web_reload(struct web *self, struct reason *why) MUST_CHECK;

#endif
