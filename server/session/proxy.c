/* See proxy.h. */
#include "server/session/proxy.h"

#include <stdio.h>
#include <string.h>

/* Bytes of a version 1 line at most, of a version 2 head, and of its address blocks, as the
 * protocol says. */
enum { V1_MAX = 107, V2_HEAD = 16, V2_IP4 = 12, V2_IP6 = 36 };

static const uint8_t V2_SIGNATURE[12] = { 0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d,
					  0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a };

static void set_source(struct peer *peer, struct address source)
{
	address_unmap(&source);
	peer->kind = source.kind;
	memcpy(peer->octets, source.octets, sizeof peer->octets);
	address_print(&source, peer->text);
}

/* ---- version 1 ----------------------------------------------------------------------------------- */

/* Parses a version 1 line, a C string without its line end. */
static enum status parse_v1_line(char *line, struct peer *peer)
{
	char family[8], source[46], target[46], text[64];
	unsigned port, target_port;
	struct address address;
	int end = 0;
	if (strcmp(line, "PROXY UNKNOWN") == 0 || strncmp(line, "PROXY UNKNOWN ", 14) == 0)
		return STATUS_OK;
	if (sscanf(line, "PROXY %7s %45s %45s %5u %5u%n", family, source, target, &port,
		   &target_port, &end) != 5 ||
	    line[end] != '\0' || port > 65535)
		return STATUS_MALFORMED;
	bool six = strcmp(family, "TCP6") == 0;
	if (!six && strcmp(family, "TCP4") != 0)
		return STATUS_MALFORMED;
	snprintf(text, sizeof text, six ? "tcp:[%s]:%u" : "tcp:%s:%u", source, port);
	if (address_parse(text, &address, NULL) != STATUS_OK ||
	    address.kind != (six ? ADDRESS_TCP6 : ADDRESS_TCP4))
		return STATUS_MALFORMED;
	set_source(peer, address);
	return STATUS_OK;
}

static enum status read_v1(const uint8_t *data, size_t count, size_t *bytes, struct peer *peer)
{
	char line[V1_MAX + 1];
	const uint8_t *end = memchr(data, '\n', MIN_OF(count, (size_t)V1_MAX));
	if (end == NULL)
		return count < V1_MAX ? STATUS_AGAIN : STATUS_MALFORMED;
	size_t length = (size_t)(end - data);
	if (length == 0 || data[length - 1] != '\r' || memchr(data, '\0', length) != NULL)
		return STATUS_MALFORMED;
	memcpy(line, data, length - 1);
	line[length - 1] = '\0';
	*bytes = length + 1;
	return parse_v1_line(line, peer);
}

/* ---- version 2 ----------------------------------------------------------------------------------- */

static enum status parse_v2_addresses(uint8_t family, const uint8_t *block, size_t length,
				      struct peer *peer)
{
	struct address source = { .kind = ADDRESS_TCP4 };
	size_t octets = 4, least = V2_IP4;
	if (family >> 4 == 2) {
		source.kind = ADDRESS_TCP6;
		octets = 16;
		least = V2_IP6;
	} else if (family >> 4 != 1) {
		return STATUS_OK; /* not an IP address: the connection's own stays */
	}
	if (length < least)
		return STATUS_MALFORMED;
	memcpy(source.octets, block, octets);
	source.port = (uint16_t)(block[2 * octets] << 8 | block[2 * octets + 1]);
	set_source(peer, source);
	return STATUS_OK;
}

static enum status read_v2(const uint8_t *data, size_t count, size_t *bytes, struct peer *peer)
{
	if (count < V2_HEAD)
		return STATUS_AGAIN;
	size_t length = (size_t)data[14] << 8 | data[15];
	uint8_t version = data[12] >> 4, command = data[12] & 15;
	if (version != 2 || command > 1 || V2_HEAD + length > PROXY_HEADER_MAX)
		return STATUS_MALFORMED;
	if (count < V2_HEAD + length)
		return STATUS_AGAIN;
	*bytes = V2_HEAD + length;
	return command == 0 ? STATUS_OK
			    : parse_v2_addresses(data[13], data + V2_HEAD, length, peer);
}

static enum status read_header(const uint8_t *data, size_t count, size_t *bytes, struct peer *peer)
{
	static const char V1[] = "PROXY ";
	size_t one = MIN_OF(count, sizeof V1 - 1), two = MIN_OF(count, sizeof V2_SIGNATURE);
	if (count == 0)
		return STATUS_AGAIN;
	if (memcmp(data, V1, one) == 0)
		return one < sizeof V1 - 1 ? STATUS_AGAIN : read_v1(data, count, bytes, peer);
	if (memcmp(data, V2_SIGNATURE, two) == 0)
		return two < sizeof V2_SIGNATURE ? STATUS_AGAIN : read_v2(data, count, bytes, peer);
	return STATUS_MALFORMED;
}

enum status proxy_read(const uint8_t *data, size_t count, size_t *bytes, struct peer *peer)
{
	enum status status = read_header(data, count, bytes, peer);
	if (status != STATUS_OK)
		return status;
	/* A connection from this machine counts as secure: how the balancer itself received the
	 * bytes is its operator's decision. */
	peer->secure = peer->secure || peer->local;
	peer->local = false;
	peer->known = false;
	return STATUS_OK;
}
