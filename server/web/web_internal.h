/* web_internal.h: what the files behind web.h share. */
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
	/* Each site has a context of its own, so a pool of headers that the other cannot use up. */
	struct lws_context *context;
	/* Connections that are no WebSocket yet, and how many each address has. */
	ARRAY_OF(struct web_guest) guests;
	struct address_limits address_limits;
	struct lws_vhost *vhost;
	struct lws_protocols protocols[2];
	/* What Host may say, in small letters. */
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
	uint32_t sockets;     /* of them, WebSockets: streams of io as well */
	bool destroying;
};

/* What libwebsockets keeps for us with each connection; zero at its start. */
struct web_connection {
	struct web_stream *stream; /* a WebSocket */
	/* A response under way: text, or a file's bytes. */
	const uint8_t *body;
	size_t body_bytes, body_sent;
	struct bytes text;
};

/* Answers GET and HEAD of a site. Returns what the callback of libwebsockets returns. */
int web_answer(struct web_site *site, struct lws *wsi, struct web_connection *connection,
	       const char *path);
/* Goes on sending a body. */
int web_answer_more(struct lws *wsi, struct web_connection *connection);
/* Whether Host, and for a WebSocket Origin, are on the list. */
bool web_host_allowed(const struct web_site *site, struct lws *wsi);
bool web_origin_allowed(const struct web_site *site, struct lws *wsi);
/* A header's value in small letters; false when it is missing, or longer than fits. */
bool web_header(struct lws *wsi, enum lws_token_indexes token, char *out, size_t bytes);

/* The text of /metrics, of the worlds that the grant (NULL: of all) is for. */
enum status web_metrics(struct service *service, const struct grant *grant,
			struct bytes *out) MUST_CHECK;

#endif
