/* fuzz_proxy.c: the first bytes of a connection as a load balancer's header. The result for a whole
 * header differs from that for a part of it, does not depend on the bytes after it, and names an
 * address that can be printed and read again. A refusal leaves the peer unchanged.
 *
 * The first byte chooses the peer that the connection had: bit 0 local, bit 1 secure, bit 2 a Unix
 * socket. */
#include <string.h>

#include "server/session/proxy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count);

static struct peer peer_of(uint8_t bits)
{
	struct peer peer;
	memset(&peer, 0, sizeof peer);
	peer.kind = bits & 4 ? ADDRESS_UNIX : ADDRESS_TCP4;
	peer.local = (bits & 1) != 0;
	peer.secure = (bits & 2) != 0;
	peer.known = (bits & 4) != 0;
	strcpy(peer.text, "who connected");
	return peer;
}

static void check_peer(const struct peer *before, const struct peer *after)
{
	struct address address;
	ASSERT(!after->local && !after->known);
	ASSERT(after->secure == (before->secure || before->local));
	if (strcmp(before->text, after->text) == 0) {
		ASSERT(after->kind == before->kind);
		ASSERT(memcmp(before->octets, after->octets, sizeof after->octets) == 0);
		return;
	}
	ASSERT(memchr(after->text, '\0', sizeof after->text) != NULL);
	ASSERT(address_parse(after->text, &address, NULL) == STATUS_OK);
	ASSERT(address.kind == after->kind && address.kind != ADDRESS_UNIX);
	address_unmap(&address);
	ASSERT(address.kind == after->kind); /* no IPv4-mapped address */
	ASSERT(memcmp(address.octets, after->octets, address.kind == ADDRESS_TCP6 ? 16 : 4) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count)
{
	if (count == 0)
		return 0;
	const struct peer before = peer_of(data[0]);
	data++;
	count--;
	struct peer after = before, again = before;
	size_t bytes = 0, other = 0;
	enum status status = proxy_read(data, count, &bytes, &after);
	if (status != STATUS_OK) {
		ASSERT(status == STATUS_AGAIN || status == STATUS_MALFORMED);
		ASSERT(status == STATUS_MALFORMED || count < PROXY_HEADER_MAX);
		ASSERT(memcmp(&before, &after, sizeof after) == 0);
		return 0;
	}
	ASSERT(bytes > 0 && bytes <= count && bytes <= PROXY_HEADER_MAX);
	check_peer(&before, &after);
	/* The header alone, without the bytes after it, gives the same peer. */
	ASSERT(proxy_read(data, bytes, &other, &again) == STATUS_OK);
	ASSERT(other == bytes && memcmp(&again, &after, sizeof after) == 0);
	for (size_t part = 0; part < bytes; part++) {
		again = before;
		ASSERT(proxy_read(data, part, &other, &again) == STATUS_AGAIN);
		ASSERT(memcmp(&again, &before, sizeof again) == 0);
	}
	return 0;
}
