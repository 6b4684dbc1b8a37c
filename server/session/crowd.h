/* crowd.h: how many connections each address has, so that one cannot take the places of all.
 *
 * An address is an IPv4 address or the first half of an IPv6 one (a network: whoever has one has 2⁶⁴ of
 * them). Those that have not said HELLO yet are counted apart, because they cost their peer nothing.
 * Unix sockets are not counted; this machine's own TCP peers only where a bound is set.
 */
#ifndef CAIRN_SESSION_CROWD_H
#define CAIRN_SESSION_CROWD_H

#include "server/base/table.h"
#include "server/io/io.h"

enum { CROWD_GREETINGS = 256 };

struct crowd {
	struct table counts; /* address → sessions, and in the upper half those still greeting */
	uint32_t greetings_max; /* per address; 0: CROWD_GREETINGS, none for this machine's */
	uint32_t sessions_max;	/* 0: no bound */
	uint64_t refused;
};

void crowd_init(struct crowd *self, uint32_t greetings_max, uint32_t sessions_max);
void crowd_release(struct crowd *self);
/* One more, greeting. FULL: not from there; NO_MEMORY. */
enum status crowd_enter(struct crowd *self, const struct peer *peer) MUST_CHECK;
/* It has said HELLO. */
void crowd_greeted(struct crowd *self, const struct peer *peer);
/* It is gone. */
void crowd_leave(struct crowd *self, const struct peer *peer, bool greeting);
/* Connections of that address, for those who count. */
uint32_t crowd_of(const struct crowd *self, const struct peer *peer);

#endif
