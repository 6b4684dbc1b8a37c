/* web_internal.h: the state that web.c, web_http.c and web_metrics.c share. */
#ifndef CAIRN_WEB_WEB_INTERNAL_H
#define CAIRN_WEB_WEB_INTERNAL_H

#include <libwebsockets.h>

#include "server/base/array.h"
#include "server/base/bytes.h"
#include "server/web/assets.h"
#include "server/web/web.h"
#include "server/web/web_stream.h"

enum { WEB_HOST_MAX = 128, WEB_HOSTS_MAX = 72 };

struct web_guest {
	struct lws *wsi;
	struct peer peer;
};

/* One listening address. */
struct web_site {
	struct web *web;
	bool on;
	bool admin;
	bool tls;
	struct address address; /* as bound */
	/* Each site has its own context, so that neither can use up the other's pool of headers. */
	struct lws_context *context;
	/* Connections that are not WebSockets yet, and their number per address. */
	ARRAY_OF(struct web_guest) guests;
	struct address_limits address_limits;
	struct lws_vhost *vhost;
	struct lws_protocols protocols[2];
	/* Allowed values of Host, in lower case. */
	char hosts[WEB_HOSTS_MAX][WEB_HOST_MAX];
	uint32_t host_count;
};

struct web {
	struct service *service;
	struct uv_loop_s *loop;
	struct web_site viewer, admin;
	struct assets assets;
	struct web_streams streams;
	uint64_t requests, refused;
	uint32_t connections; /* open now, listeners included */
	uint32_t sockets;     /* those that are WebSockets, which count as streams of io, too */
	bool destroying;
};

/* Our state of one connection, stored by libwebsockets; zero at the start. */
struct web_connection {
	struct web_stream *stream; /* a WebSocket */
	/* The response being sent: `text`, or a file's bytes. */
	const uint8_t *body;
	size_t body_bytes, body_sent;
	struct bytes text;
};

/* Answers GET and HEAD of a site. Returns the result of the libwebsockets callback. */
int web_answer(struct web_site *site, struct lws *wsi, struct web_connection *connection,
	       const char *path);
/* Sends the next part of a body. */
int web_answer_more(struct lws *wsi, struct web_connection *connection);
/* True if Host, or for a WebSocket Origin, is on the list. */
bool web_host_allowed(const struct web_site *site, struct lws *wsi);
bool web_origin_allowed(const struct web_site *site, struct lws *wsi);
/* A header's value in lower case; false when it is missing or too long for `out`. */
bool web_header(struct lws *wsi, enum lws_token_indexes token, char *out, size_t bytes);

/* The text of /metrics for the worlds that the grant allows (NULL: all). NO_MEMORY. */
MUST_CHECK enum status web_metrics(struct service *service, const struct grant *grant,
				   struct bytes *out);

#endif
