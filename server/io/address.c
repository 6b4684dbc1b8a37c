/* See address.h. Text is parsed with inet_pton only: no name is resolved. */
#include "server/io/address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool starts_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

void address_unmap(struct address *address)
{
	static const uint8_t MAPPED[12] = { [10] = 0xff, [11] = 0xff };
	if (address->kind != ADDRESS_TCP6 || memcmp(address->octets, MAPPED, sizeof MAPPED) != 0)
		return;
	address->kind = ADDRESS_TCP4;
	memmove(address->octets, address->octets + sizeof MAPPED, 4);
	memset(address->octets + 4, 0, sizeof address->octets - 4);
}

bool address_is_loopback(const struct address *address)
{
	static const uint8_t LOOPBACK6[16] = { [15] = 1 };
	if (address->kind == ADDRESS_UNIX)
		return true;
	if (address->kind == ADDRESS_TCP4)
		return address->octets[0] == 127;
	return memcmp(address->octets, LOOPBACK6, sizeof LOOPBACK6) == 0;
}

static enum status parse_unix(const char *path, struct address *out, struct reason *why)
{
	size_t length = strlen(path);
	if (length == 0)
		return reason_set(why, STATUS_TYPE, -1, "address", "a path must follow \"unix:\"");
	if (length > ADDRESS_PATH_MAX)
		return reason_set(why, STATUS_RANGE, -1, "address",
				  "the path has %zu bytes, a Unix socket takes %d", length,
				  ADDRESS_PATH_MAX);
	memset(out, 0, sizeof *out);
	out->kind = ADDRESS_UNIX;
	memcpy(out->path, path, length + 1);
	return STATUS_OK;
}

/* Splits "host:port" or "[host]:port" into `host` and the text of the port. */
static bool split_port(const char *text, char *host, size_t host_bytes, const char **port)
{
	const char *end = strrchr(text, ':');
	if (end == NULL)
		return false;
	*port = end + 1;
	bool bracketed = text[0] == '[';
	if (bracketed && (end - text < 2 || end[-1] != ']'))
		return false;
	const char *first = bracketed ? text + 1 : text;
	size_t length = (size_t)(end - first) - (bracketed ? 1 : 0);
	if (length == 0 || length >= host_bytes)
		return false;
	memcpy(host, first, length);
	host[length] = '\0';
	return bracketed || strchr(host, ':') == NULL;
}

static bool parse_port(const char *text, uint16_t *out)
{
	size_t digits = strspn(text, "0123456789");
	if (digits == 0 || digits > 5 || text[digits] != '\0')
		return false;
	unsigned long port = strtoul(text, NULL, 10);
	*out = (uint16_t)port;
	return port <= UINT16_MAX;
}

static enum status parse_tcp(const char *text, struct address *out, struct reason *why)
{
	char host[64];
	const char *port_text;
	struct address result;
	memset(&result, 0, sizeof result);
	if (!split_port(text, host, sizeof host, &port_text))
		return reason_set(why, STATUS_TYPE, -1, "address",
				  "\"%.40s\" is not HOST:PORT or [HOST]:PORT", text);
	if (!parse_port(port_text, &result.port))
		return reason_set(why, STATUS_RANGE, -1, "address",
				  "port \"%.16s\" is not a number from 0 to 65535", port_text);
	const char *numeric = strcmp(host, "localhost") == 0 ? "127.0.0.1" : host;
	if (inet_pton(AF_INET, numeric, result.octets) == 1)
		result.kind = ADDRESS_TCP4;
	else if (inet_pton(AF_INET6, numeric, result.octets) == 1)
		result.kind = ADDRESS_TCP6;
	else
		return reason_set(why, STATUS_TYPE, -1, "address",
				  "\"%.40s\" is not an IP address; names are not looked up", host);
	*out = result;
	return STATUS_OK;
}

enum status address_parse(const char *text, struct address *out, struct reason *why)
{
	if (starts_with(text, "unix:"))
		return parse_unix(text + 5, out, why);
	if (starts_with(text, "tcp:"))
		return parse_tcp(text + 4, out, why);
	return reason_set(why, STATUS_TYPE, -1, "address",
			  "\"%.40s\" begins with neither \"unix:\" nor \"tcp:\"", text);
}

void address_print(const struct address *address, char text[ADDRESS_TEXT_MAX])
{
	char host[INET6_ADDRSTRLEN] = "?";
	if (address->kind == ADDRESS_UNIX) {
		snprintf(text, ADDRESS_TEXT_MAX, "unix:%s", address->path);
		return;
	}
	bool six = address->kind == ADDRESS_TCP6;
	inet_ntop(six ? AF_INET6 : AF_INET, address->octets, host, sizeof host);
	snprintf(text, ADDRESS_TEXT_MAX, six ? "tcp:[%s]:%u" : "tcp:%s:%u", host, address->port);
}

enum status address_check_target(const char *text, const char *field, struct reason *why)
{
	static const char *const KINDS[] = { "tcp:", "tls:", "ws://", "wss://" };
	char host[256], rest[256];
	const char *port_text;
	uint16_t port = 0;
	bool good = starts_with(text, "unix:") && text[5] != '\0';
	for (size_t i = 0; !good && i < COUNT_OF(KINDS); i++) {
		if (!starts_with(text, KINDS[i]))
			continue;
		snprintf(rest, sizeof rest, "%s", text + strlen(KINDS[i]));
		if (i >= 2)
			rest[strcspn(rest, "/")] = '\0';
		good = split_port(rest, host, sizeof host, &port_text) &&
		       parse_port(port_text, &port) && port > 0 && strpbrk(host, " /") == NULL;
	}
	if (good)
		return STATUS_OK;
	return reason_set(
		why, STATUS_RANGE, -1, field,
		"%s: \"%.60s\" is no address that clients connect to: unix:PATH, tcp:HOST:PORT, "
		"tls:HOST:PORT, ws://HOST:PORT or wss://HOST:PORT",
		field, text);
}

/* ---- networks -------------------------------------------------------------------------------- */

enum status network_parse(const char *text, struct address_network *out, struct reason *why)
{
	struct address address = { .kind = ADDRESS_TCP6 };
	char host[INET6_ADDRSTRLEN];
	const char *slash = strchr(text, '/');
	size_t length = slash != NULL ? (size_t)(slash - text) : strlen(text);
	bool read = length < sizeof host;
	if (read) {
		memcpy(host, text, length);
		host[length] = '\0';
		if (inet_pton(AF_INET, host, address.octets) == 1)
			address.kind = ADDRESS_TCP4;
		else
			read = inet_pton(AF_INET6, host, address.octets) == 1;
	}
	if (!read)
		return reason_set(why, STATUS_TYPE, -1, "address",
				  "\"%.48s\" is not an IP address or ADDRESS/BITS", text);
	if (slash == NULL)
		address_unmap(&address);
	uint32_t most = address.kind == ADDRESS_TCP4 ? 32 : 128, bits = most;
	if (slash != NULL) {
		size_t digits = strspn(slash + 1, "0123456789");
		bits = digits > 0 && digits <= 3 && slash[1 + digits] == '\0'
			       ? (uint32_t)strtoul(slash + 1, NULL, 10)
			       : UINT32_MAX;
		if (bits > most)
			return reason_set(why, STATUS_RANGE, -1, "address",
					  "\"%.48s\": /BITS must be a number from 0 to %u", text,
					  (unsigned)most);
	}
	*out = (struct address_network){ .kind = address.kind, .bits = bits };
	memcpy(out->octets, address.octets, sizeof out->octets);
	return STATUS_OK;
}

bool network_has(const struct address_network *network, enum address_kind kind,
		 const uint8_t octets[16])
{
	uint32_t whole = network->bits / 8, rest = network->bits % 8;
	if (kind != network->kind || memcmp(octets, network->octets, whole) != 0)
		return false;
	return rest == 0 || (octets[whole] ^ network->octets[whole]) >> (8 - rest) == 0;
}
