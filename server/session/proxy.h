/* proxy.h: the PROXY protocol, versions 1 and 2: who a load balancer speaks for, said in front of the
 * stream's own bytes.
 *
 *	1   PROXY TCP4 203.0.113.7 192.0.2.1 50000 7411 CR LF        at most 107 bytes, or PROXY UNKNOWN …
 *	2   0D 0A 0D 0A 00 0D 0A 51 55 49 54 0A, version and command, family, length (16 bits, big-endian),
 *	    then source, destination, ports, and what else the balancer has to say
 *
 * Only the source is taken. UNKNOWN, LOCAL and families that are not IP leave the address as the
 * connection has it (health checks of the balancer itself). In no case is the peer one of this machine
 * afterwards: where a source is only named, no role follows from it.
 */
#ifndef CAIRN_SESSION_PROXY_H
#define CAIRN_SESSION_PROXY_H

#include "server/io/io.h"

/* More than so many bytes is no header: what a balancer adds is bounded, too. */
enum { PROXY_HEADER_MAX = 536 };

/* Looks at the first bytes of a connection (borrowed). OK: *bytes is the header's length, and `peer` has
 * the address and text of the source where it names one, and is not local; AGAIN: more is needed;
 * MALFORMED. */
enum status proxy_read(const uint8_t *data, size_t count, size_t *bytes,
		       struct peer *peer) MUST_CHECK;

#endif
