/* address_limits.h: limits on the connections of one address, so that one address cannot use up the
 * connections of all.
 *
 * The address is the whole IPv4 address, or the first 64 bits of an IPv6 address, because one IPv6
 * subscriber usually owns all 2⁶⁴ addresses below such a prefix. Connections that have not sent
 * HELLO yet have a limit of their own, because opening one costs the peer nothing. Connections
 * through Unix sockets are not counted. Connections from this machine over TCP are counted only if
 * an option sets a limit.
 */
#ifndef CAIRN_SESSION_ADDRESS_LIMITS_H
#define CAIRN_SESSION_ADDRESS_LIMITS_H

#include "server/base/table.h"
#include "server/io/io.h"

/* Default limit of connections that have not sent HELLO, per address. */
enum { ADDRESS_GREETINGS = 256 };

struct address_limits {
	/* address → connections in the low 16 bits, those before HELLO in the high 16 bits */
	struct table counts;
	uint32_t greetings_max; /* per address; 0: ADDRESS_GREETINGS, no limit for this machine */
	uint32_t sessions_max; /* per address; 0: no limit but the 65535 that the table can count */
	uint64_t refused;      /* connections refused so far */
};

void address_limits_init(struct address_limits *self, uint32_t greetings_max,
			 uint32_t sessions_max);
void address_limits_release(struct address_limits *self);
/* Counts a new connection, which has not sent HELLO yet. FULL: the address is at a limit, the
 * refusal is counted; NO_MEMORY. Nothing is counted unless OK. */
MUST_CHECK enum status address_limits_add(struct address_limits *self, const struct peer *peer);
/* A counted connection has sent HELLO. */
void address_limits_greeted(struct address_limits *self, const struct peer *peer);
/* A counted connection has closed; `greeting`: it had not sent HELLO. */
void address_limits_remove(struct address_limits *self, const struct peer *peer, bool greeting);
/* Connections counted of that address, for tests. */
uint32_t address_limits_count(const struct address_limits *self, const struct peer *peer);

#endif
