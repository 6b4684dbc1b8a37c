/* fuzz_http.c: HTTP requests, over a substitute for libwebsockets that returns the headers of the
 * input. The first byte: bit 0 an admin site, bit 1 TLS, bit 2 headers of answers do not fit, bit 3
 * draining. Then lines: the first is method and path, the others are headers, a letter and a value:
 *
 *	h Host   o Origin   n If-None-Match   e Accept-Encoding
 *
 * A request with a Host that is none of the server's names gets 421 and no file. An Origin is
 * allowed only if it has one of those names or is listed. A body has exactly the announced length. */
#include <libwebsockets.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "server/base/heap.h"
#include "server/options.h"
#include "server/server.h"
#include "server/web/web_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { TEXT_MAX = 4096, PIECES_MAX = 16 };

static struct {
	char text[TEXT_MAX + 1];
	char *method, *path, *host, *origin, *match, *encoding; /* NULL: not sent */
	bool narrow;
	unsigned status;
	size_t announced, sent;
	uint32_t headers, finished;
	const uint8_t *body;
} request;

/* ---- libwebsockets ----------------------------------------------------------------------------- */

static const char *header_of(enum lws_token_indexes token)
{
	bool get = strcmp(request.method, "GET") == 0, head = strcmp(request.method, "HEAD") == 0;
	switch (token) {
	case WSI_TOKEN_HOST:
		return request.host;
	case WSI_TOKEN_ORIGIN:
		return request.origin;
	case WSI_TOKEN_HTTP_IF_NONE_MATCH:
		return request.match;
	case WSI_TOKEN_HTTP_ACCEPT_ENCODING:
		return request.encoding;
	case WSI_TOKEN_GET_URI:
		return get ? request.path : NULL;
	case WSI_TOKEN_HEAD_URI:
		return head ? request.path : NULL;
	default:
		return NULL;
	}
}

int lws_hdr_total_length(struct lws *wsi, enum lws_token_indexes token)
{
	const char *value = header_of(token);
	UNUSED(wsi);
	return value != NULL ? (int)strlen(value) : 0;
}

int lws_hdr_copy(struct lws *wsi, char *dest, int len, enum lws_token_indexes token)
{
	int length = lws_hdr_total_length(wsi, token);
	if (length >= len)
		return -1;
	memcpy(dest, length > 0 ? header_of(token) : "", (size_t)length);
	dest[length] = '\0';
	return length;
}

static int put(const char *text, size_t bytes, unsigned char **at, unsigned char *end)
{
	if (request.narrow || (size_t)(end - *at) < bytes)
		return 1;
	memcpy(*at, text, bytes);
	*at += bytes;
	return 0;
}

int lws_add_http_header_by_name(struct lws *wsi, const unsigned char *name,
				const unsigned char *value, int length, unsigned char **p,
				unsigned char *end)
{
	UNUSED(wsi);
	ASSERT((size_t)length == strlen((const char *)value));
	/* A header's value must not break the line. */
	ASSERT(strpbrk((const char *)value, "\r\n") == NULL);
	request.headers++;
	return put((const char *)name, strlen((const char *)name), p, end) != 0 ||
	       put((const char *)value, (size_t)length, p, end) != 0;
}

int lws_add_http_common_headers(struct lws *wsi, unsigned int code, const char *content_type,
				lws_filepos_t content_len, unsigned char **p, unsigned char *end)
{
	UNUSED(wsi);
	request.status = code;
	request.announced = content_len;
	return put(content_type, strlen(content_type), p, end);
}

int lws_finalize_write_http_header(struct lws *wsi, unsigned char *start, unsigned char **p,
				   unsigned char *end)
{
	UNUSED(wsi);
	ASSERT(*p >= start && *p <= end);
	return 0;
}

int lws_write(struct lws *wsi, unsigned char *buf, size_t len, enum lws_write_protocol protocol)
{
	UNUSED(wsi);
	UNUSED(protocol);
	if (request.sent == 0)
		request.body = buf;
	ASSERT(buf == request.body + request.sent);
	request.sent += len;
	return (int)len;
}

int lws_http_transaction_completed(struct lws *wsi)
{
	UNUSED(wsi);
	request.finished++;
	return 0;
}

int lws_callback_on_writable(struct lws *wsi)
{
	UNUSED(wsi);
	return 1;
}

void lws_set_timeout(struct lws *wsi, enum pending_timeout reason, int secs)
{
	UNUSED(wsi);
	UNUSED(reason);
	UNUSED(secs);
}

/* ---- a site ------------------------------------------------------------------------------------ */

static struct service service;
static struct options options;
static struct web web;
static uint8_t page[100000], packed[70000];

static void make_site(struct web_site *site, uint8_t head)
{
	static struct asset assets[2] = { { .path = "/a.js", .type = "text/javascript" },
					  { .path = "/index.html", .type = "text/html" } };
	for (int i = 0; i < 2; i++) {
		snprintf(assets[i].etag, sizeof assets[i].etag, "\"%d%d\"", i, i);
		assets[i].data = page;
		assets[i].bytes = i == 0 ? 0 : sizeof page;
		assets[i].packed = i == 0 ? NULL : packed;
		assets[i].packed_bytes = i == 0 ? 0 : sizeof packed;
	}
	options.web_origin = (struct option_list){ 1, { "https://elsewhere.example" } };
	service.options = &options;
	service.draining = (head & 8) != 0;
	web.service = &service;
	web.assets.items.items = assets;
	web.assets.items.count = web.assets.items.capacity = 2;
	memset(site, 0, sizeof *site);
	site->web = &web;
	site->on = true;
	site->admin = (head & 1) != 0;
	site->tls = (head & 2) != 0;
	strcpy(site->hosts[0], "127.0.0.1:7480");
	strcpy(site->hosts[1], "cairn.example");
	site->host_count = 2;
}

static char *next_line(char **rest)
{
	char *line = *rest;
	if (line == NULL)
		return NULL;
	char *end = strchr(line, '\n');
	*rest = end != NULL ? end + 1 : NULL;
	if (end != NULL)
		*end = '\0';
	/* libwebsockets never returns a header with a carriage return. */
	line[strcspn(line, "\r")] = '\0';
	return line;
}

static void read_request(const uint8_t *data, size_t bytes)
{
	memset(&request, 0, sizeof request);
	memcpy(request.text, data + 1, bytes - 1);
	request.narrow = (data[0] & 4) != 0;
	char *rest = request.text, *line = next_line(&rest), *space = strchr(line, ' ');
	request.method = line;
	request.path = space != NULL ? space + 1 : line + strlen(line);
	if (space != NULL)
		*space = '\0';
	while ((line = next_line(&rest)) != NULL) {
		char **headers[] = { &request.host, &request.origin, &request.match,
				     &request.encoding };
		const char *which = line[0] != '\0' ? strchr("hone", line[0]) : NULL;
		if (which != NULL)
			*headers[which - strchr("hone", 'h')] = line + 1;
	}
}

/* ---- invariants -------------------------------------------------------------------------------- */

static bool is_ours(const char *name)
{
	return strcasecmp(name, "127.0.0.1:7480") == 0 || strcasecmp(name, "cairn.example") == 0;
}

static void check_origin(const struct web_site *site)
{
	const char *origin = request.origin, *scheme = site->tls ? "https://" : "http://";
	bool none = origin == NULL || origin[0] == '\0';
	bool known = none || strcasecmp(origin, "https://elsewhere.example") == 0 ||
		     (strncasecmp(origin, scheme, strlen(scheme)) == 0 &&
		      is_ours(origin + strlen(scheme)));
	ASSERT(web_origin_allowed(site, NULL) == known);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct web_site site;
	struct web_connection connection = { .stream = NULL };
	if (bytes < 2 || bytes > TEXT_MAX)
		return 0;
	read_request(data, bytes);
	make_site(&site, data[0]);
	check_origin(&site);
	/* A request always has a path; and /metrics needs a whole daemon. */
	if (request.path[0] == '\0' || (site.admin && strcmp(request.path, "/metrics") == 0))
		return 0;
	int answer = web_answer(&site, NULL, &connection, request.path);
	for (int i = 0; i < PIECES_MAX && answer == 0 && connection.body != NULL; i++)
		answer = web_answer_more(NULL, &connection);
	ASSERT(connection.body == NULL || answer != 0);
	bool ours = request.host != NULL && is_ours(request.host);
	ASSERT((request.status == 421) == !ours);
	ASSERT(ours || (request.body != page && request.body != packed));
	ASSERT(answer != 0 || request.finished == 1);
	if (answer == 0 && strcmp(request.method, "HEAD") != 0)
		ASSERT(request.sent == request.announced);
	else
		ASSERT(request.sent == 0);
	bytes_release(&connection.text);
	return 0;
}
