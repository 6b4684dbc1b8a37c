/* proxy.h: the PROXY protocol, versions 1 and 2: a load balancer states the client's address in a
 * header in front of the stream's own bytes.
 *
 *	1   PROXY TCP4 203.0.113.7 192.0.2.1 50000 7411 CR LF        at most 107 bytes, or PROXY UNKNOWN …
 *	2   0D 0A 0D 0A 00 0D 0A 51 55 49 54 0A, version and command, family, length (16 bits, big-endian),
 *	    then source, destination, ports, and further fields, which are skipped
 *
 * Only the source address is used. With UNKNOWN, LOCAL and families that are not IP (health checks
 * of the balancer itself) the connection's own address stays. After a header the peer never counts
 * as one of this machine, because an address that is merely stated must not grant a role.
 */
#ifndef CAIRN_SESSION_PROXY_H
#define CAIRN_SESSION_PROXY_H

#include "server/io/io.h"

/* A header is at most this long, in bytes; a longer one is MALFORMED, which bounds the input before
 * HELLO. */
enum { PROXY_HEADER_MAX = 536 };

/* Parses the first bytes of a connection (borrowed). OK: *bytes is the header's length, `peer` has the
 * address and text of the source where one is stated, and is not local; AGAIN: more bytes are needed;
 * MALFORMED. */
MUST_CHECK enum status proxy_read(const uint8_t *data, size_t count, size_t *bytes,
				  struct peer *peer);

#endif
