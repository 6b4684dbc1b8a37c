/* web_http.c: answers to GET: the viewer's files, metrics, health. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "server/base/heap.h"
#include "server/web/web_internal.h"

enum { HEADER_ROOM = 2048, BODY_PART = 64 << 10 };

struct response {
	unsigned status;
	const char *type;
	const char *etag; /* NULL: none, and not cacheable */
	bool gzip;
	const uint8_t *body; /* borrowed until it is sent */
	size_t bytes;
};

/* Shown if no viewer has been built. */
static const char NOT_BUILT[] =
	"<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>cairnd</title>"
	"<body><h1>cairnd is running</h1>"
	"<p>The viewer has not been built, so there is no page to show yet. "
	"Build it in <code>clients/web</code> (<code>npm ci &amp;&amp; npm run build</code>) and start "
	"cairnd with <code>--web-files clients/web/dist</code>.</p>"
	"<p>Clients can connect already: WebSocket at <code>/ws</code>, see docs/PROTOCOL.md."
	"</p></body></html>\n";

/* ---- allowed hosts and origins --------------------------------------------------------------- */
bool web_header(struct lws *wsi, enum lws_token_indexes token, char *out, size_t bytes)
{
	int length = lws_hdr_copy(wsi, out, (int)bytes, token);
	if (length <= 0)
		return false;
	for (char *at = out; *at != '\0'; at++)
		*at = (char)tolower((unsigned char)*at);
	return true;
}

static bool host_known(const struct web_site *site, const char *host)
{
	for (uint32_t i = 0; i < site->host_count; i++)
		if (strcmp(site->hosts[i], host) == 0)
			return true;
	return false;
}

bool web_host_allowed(const struct web_site *site, struct lws *wsi)
{
	char host[WEB_HOST_MAX];
	return web_header(wsi, WSI_TOKEN_HOST, host, sizeof host) && host_known(site, host);
}

bool web_origin_allowed(const struct web_site *site, struct lws *wsi)
{
	char origin[WEB_HOST_MAX + 16];
	/* Accepted without Origin: browsers always send one, other programs do not. */
	if (lws_hdr_total_length(wsi, WSI_TOKEN_ORIGIN) == 0)
		return true;
	if (!web_header(wsi, WSI_TOKEN_ORIGIN, origin, sizeof origin))
		return false;
	const struct option_list *others = &site->web->service->options->web_origin;
	for (uint32_t i = 0; i < others->count; i++)
		if (strcasecmp(others->items[i], origin) == 0)
			return true;
	const char *scheme = site->tls ? "https://" : "http://";
	size_t length = strlen(scheme);
	return strncmp(origin, scheme, length) == 0 && host_known(site, origin + length);
}

/* ---- sending --------------------------------------------------------------------------------- */
struct head {
	struct lws *wsi;
	uint8_t *at, *end;
	bool failed;
};

static void put_header(struct head *head, const char *name, const char *value)
{
	head->failed = head->failed ||
		       lws_add_http_header_by_name(head->wsi, (const unsigned char *)name,
						   (const unsigned char *)value, (int)strlen(value),
						   &head->at, head->end) != 0;
}

/* Content policy: scripts, styles and data from this server only, no framing by other pages, no
 * forms. */
static void put_policy(struct head *head, const struct web_site *site, struct lws *wsi)
{
	char host[WEB_HOST_MAX], policy[512];
	if (!web_host_allowed(site, wsi) || !web_header(wsi, WSI_TOKEN_HOST, host, sizeof host))
		snprintf(host, sizeof host, "%s", site->hosts[0]);
	snprintf(policy, sizeof policy,
		 "default-src 'self'; connect-src 'self' %s://%s; img-src 'self' data: blob:; "
		 "worker-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'none'; "
		 "frame-ancestors 'none'",
		 site->tls ? "wss" : "ws", host);
	put_header(head, "content-security-policy:", policy);
	put_header(head, "x-content-type-options:", "nosniff");
	put_header(head, "referrer-policy:", "no-referrer");
	put_header(head, "cross-origin-opener-policy:", "same-origin");
	put_header(head, "cross-origin-resource-policy:", "same-origin");
}

static int finish_response(struct lws *wsi, struct web_connection *connection)
{
	bytes_release(&connection->text);
	connection->body = NULL;
	return lws_http_transaction_completed(wsi) != 0 ? -1 : 0;
}

static int send_response(struct web_site *site, struct lws *wsi, struct web_connection *connection,
			 const struct response *response, bool head_only)
{
	uint8_t room[LWS_PRE + HEADER_ROOM], *start = room + LWS_PRE;
	struct head head = { .wsi = wsi, .at = start, .end = room + sizeof room };
	bool empty = response->status == HTTP_STATUS_NOT_MODIFIED;
	head.failed =
		lws_add_http_common_headers(wsi, response->status, response->type,
					    empty ? 0 : response->bytes, &head.at, head.end) != 0;
	put_policy(&head, site, wsi);
	/* Browsers use only TLS for a year, so a man in the middle cannot downgrade them. */
	if (site->tls)
		put_header(&head, "strict-transport-security:", "max-age=31536000");
	put_header(&head, "cache-control:", response->etag != NULL ? "no-cache" : "no-store");
	if (response->etag != NULL) {
		put_header(&head, "etag:", response->etag);
		put_header(&head, "vary:", "accept-encoding");
	}
	if (response->gzip && !empty)
		put_header(&head, "content-encoding:", "gzip");
	if (response->status == HTTP_STATUS_UNAUTHORIZED)
		put_header(&head, "www-authenticate:", "Bearer");
	if (response->status == HTTP_STATUS_METHOD_NOT_ALLOWED)
		put_header(&head, "allow:", "GET, HEAD");
	if (head.failed || lws_finalize_write_http_header(wsi, start, &head.at, head.end) != 0)
		return -1;
	if (empty || head_only || response->bytes == 0)
		return finish_response(wsi, connection);
	connection->body = response->body;
	connection->body_bytes = response->bytes;
	connection->body_sent = 0;
	lws_callback_on_writable(wsi);
	return 0;
}

int web_answer_more(struct lws *wsi, struct web_connection *connection)
{
	if (connection->body == NULL)
		return 0;
	size_t left = connection->body_bytes - connection->body_sent;
	size_t bytes = MIN_OF(left, (size_t)BODY_PART);
	bool last = bytes == left;
	/* A client that takes nothing for WEB_IDLE_S is disconnected. */
	lws_set_timeout(wsi, PENDING_TIMEOUT_HTTP_CONTENT, WEB_IDLE_S);
	/* HTTP/1 bodies go out as they are; the cast is the library's missing const. */
	int sent = lws_write(wsi, (unsigned char *)connection->body + connection->body_sent, bytes,
			     last ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP);
	if (sent < (int)bytes)
		return -1;
	connection->body_sent += bytes;
	if (last)
		return finish_response(wsi, connection);
	lws_callback_on_writable(wsi);
	return 0;
}

/* ---- responses ------------------------------------------------------------------------------- */
static bool header_contains(struct lws *wsi, enum lws_token_indexes token, const char *word)
{
	char value[256];
	return web_header(wsi, token, value, sizeof value) && strstr(value, word) != NULL;
}

static struct response text_response(unsigned status, const char *text)
{
	return (struct response){ .status = status,
				  .type = "text/plain; charset=utf-8",
				  .body = (const uint8_t *)text,
				  .bytes = strlen(text) };
}

static struct response file_response(struct lws *wsi, const struct asset *asset)
{
	struct response response = { .status = HTTP_STATUS_OK,
				     .type = asset->type,
				     .etag = asset->etag,
				     .body = asset->data,
				     .bytes = asset->bytes };
	if (header_contains(wsi, WSI_TOKEN_HTTP_IF_NONE_MATCH, asset->etag))
		response.status = HTTP_STATUS_NOT_MODIFIED;
	if (asset->packed != NULL && header_contains(wsi, WSI_TOKEN_HTTP_ACCEPT_ENCODING, "gzip")) {
		response.gzip = true;
		response.body = asset->packed;
		response.bytes = asset->packed_bytes;
	}
	return response;
}

static struct response viewer_response(struct web *web, struct lws *wsi, const char *path)
{
	const struct asset *asset = assets_find(&web->assets, path);
	if (asset != NULL)
		return file_response(wsi, asset);
	if (strcmp(path, "/") != 0)
		return text_response(HTTP_STATUS_NOT_FOUND,
				     "Not found: the server has no file of this path.\n");
	struct response response = text_response(HTTP_STATUS_OK, NOT_BUILT);
	response.type = "text/html; charset=utf-8";
	return response;
}

/* ---- access ---------------------------------------------------------------------------------- */

/* The worlds that a request for metrics may see. */
struct web_access {
	bool any;     /* may see worlds at all */
	bool limited; /* only those of `grant` */
	struct grant grant;
};

static const struct peer *peer_of(const struct web_site *site, const struct lws *wsi)
{
	for (uint32_t i = 0; i < site->guests.count; i++)
		if (site->guests.items[i].wsi == wsi)
			return &site->guests.items[i].peer;
	return NULL;
}

/* Reads `Authorization: Bearer TOKEN`. Only bearer tokens of the tokens file are accepted, no
 * connect tokens, because each of those is valid once. */
static bool check_authorization(struct web_site *site, struct lws *wsi, struct web_access *out)
{
	char value[2048 + 8];
	struct reason why;
	struct service *service = site->web->service;
	int length = lws_hdr_copy(wsi, value, sizeof value, WSI_TOKEN_HTTP_AUTHORIZATION);
	if (length <= 7 || strncasecmp(value, "Bearer ", 7) != 0)
		return false;
	struct wire_slice token = { .at = (const uint8_t *)value + 7,
				    .bytes = (uint32_t)length - 7 };
	if (keyring_check(&service->keyring, token, io_wall_s(service->io), &out->grant, &why) !=
		    STATUS_OK ||
	    out->grant.once)
		return false;
	out->any = true;
	out->limited = out->grant.world_count > 0;
	return true;
}

/* The access of a request. Without a token, peers of this machine see all, unless --loopback-role
 * is none; without a tokens file all peers do, because then only this machine can reach the server. */
static struct web_access access_of(struct web_site *site, struct lws *wsi)
{
	struct web_access access = { .any = false };
	const struct service *service = site->web->service;
	if (lws_hdr_total_length(wsi, WSI_TOKEN_HTTP_AUTHORIZATION) > 0) {
		(void)check_authorization(site, wsi, &access);
		return access;
	}
	const struct peer *peer = peer_of(site, wsi);
	access.any = service->options->tokens == NULL ||
		     (peer != NULL && peer->local && service->loopback_role != WIRE_ROLE_NOBODY);
	return access;
}

/* Ready means that new sessions are accepted. Refused files are listed below it, if the request may
 * see them. */
static struct response ready_response(struct web *web, struct web_connection *connection,
				      const struct web_access *access)
{
	uint32_t count = 0, told = 0;
	const struct refused_file *files =
		web->service->store != NULL ? store_refused(web->service->store, &count) : NULL;
	if (web->service->draining)
		return text_response(HTTP_STATUS_SERVICE_UNAVAILABLE, "draining\n");
	if (count == 0 || !access->any)
		return text_response(HTTP_STATUS_OK, "ready\n");
	bytes_reset(&connection->text);
	enum status status = bytes_append(&connection->text, "ready\n", 6);
	for (uint32_t i = 0; i < count && told < STORE_REFUSED_SHOWN && status == STATUS_OK; i++) {
		char line[WIRE_NAME_MAX + 64];
		if (access->limited && !grant_allows_world(&access->grant, files[i].name))
			continue;
		int length = snprintf(line, sizeof line, "refused %s %s\n", files[i].name,
				      status_name(files[i].status));
		status = bytes_append(&connection->text, line,
				      MIN_OF((size_t)length, sizeof line - 1));
		told++;
	}
	return (struct response){ .status = HTTP_STATUS_OK,
				  .type = "text/plain; charset=utf-8",
				  .body = connection->text.data,
				  .bytes = connection->text.count };
}

static struct response admin_response(struct web_site *site, struct lws *wsi,
				      struct web_connection *connection, const char *path)
{
	struct web *web = site->web;
	if (strcmp(path, "/healthz") == 0)
		return text_response(HTTP_STATUS_OK, "ok\n");
	struct web_access access = access_of(site, wsi);
	if (strcmp(path, "/readyz") == 0)
		return ready_response(web, connection, &access);
	if (strcmp(path, "/metrics") != 0)
		return text_response(HTTP_STATUS_NOT_FOUND,
				     "Not found: the paths are /metrics, /healthz and /readyz.\n");
	if (!access.any)
		return text_response(
			HTTP_STATUS_UNAUTHORIZED,
			"Send a bearer token of the tokens file: Authorization: Bearer TOKEN.\n");
	bytes_reset(&connection->text);
	if (web_metrics(web->service, access.limited ? &access.grant : NULL, &connection->text) !=
	    STATUS_OK)
		return text_response(HTTP_STATUS_SERVICE_UNAVAILABLE, "out of memory\n");
	return (struct response){ .status = HTTP_STATUS_OK,
				  .type = "text/plain; version=0.0.4; charset=utf-8",
				  .body = connection->text.data,
				  .bytes = connection->text.count };
}

int web_answer(struct web_site *site, struct lws *wsi, struct web_connection *connection,
	       const char *path)
{
	struct web *web = site->web;
	bool get = lws_hdr_total_length(wsi, WSI_TOKEN_GET_URI) > 0;
	bool head = lws_hdr_total_length(wsi, WSI_TOKEN_HEAD_URI) > 0;
	struct response response;
	web->requests++;
	if (!web_host_allowed(site, wsi)) {
		web->refused++;
		response = text_response(
			421, "Host is not a name of this server; allow it with --web-host.\n");
	} else if (!get && !head) {
		response = text_response(HTTP_STATUS_METHOD_NOT_ALLOWED,
					 "Only GET and HEAD are allowed.\n");
	} else {
		response = site->admin ? admin_response(site, wsi, connection, path)
				       : viewer_response(web, wsi, path);
	}
	return send_response(site, wsi, connection, &response, head);
}
