/* quota.h: token buckets: how much a session may ask for in a second, and in a burst.
 *
 * A bucket holds up to `burst` tokens and gains `rate` a second. Over it the request is refused
 * (busy) and nothing is done; a session that is refused for QUOTA_SUSTAINED_MS without a pause is
 * let go. Rates depend on the role: players are strangers, controllers and administrators drive
 * the machine.
 */
#ifndef CAIRN_SESSION_QUOTA_H
#define CAIRN_SESSION_QUOTA_H

#include "protocol/message.h"
#include "server/io/instant.h"

enum quota_kind {
	QUOTA_FRAMES,
	QUOTA_BYTES,
	QUOTA_COMMANDS,
	QUOTA_QUERIES,
	QUOTA_SPAWNS,
	QUOTA_FAULTS, /* messages that cannot be read, frames that are too large */
	QUOTA_KINDS
};
enum { QUOTA_SUSTAINED_MS = 5000 };

struct quota {
	double tokens[QUOTA_KINDS];
	double rate[QUOTA_KINDS]; /* per second; the burst is twice that */
	uint64_t filled_at;	  /* instant of the last filling */
	/* First refusal of an unbroken run, by kind; INSTANT_NEVER none. */
	uint64_t over_since[QUOTA_KINDS];
	uint64_t refusals;
};

void quota_init(struct quota *self, enum wire_role role, uint64_t now);
/* Takes `amount` tokens of a kind. False: not enough; nothing is taken. */
bool quota_take(struct quota *self, enum quota_kind kind, double amount, uint64_t now);
/* Whether the session has been over its quota for too long. */
bool quota_exhausted(const struct quota *self, uint64_t now);

#endif
