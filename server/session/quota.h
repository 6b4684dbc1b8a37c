/* quota.h: token buckets: how much a session may request per second, and in a burst.
 *
 * A bucket holds up to twice its rate and gains `rate` tokens a second. A request that exceeds it
 * is refused (BUSY) and not carried out. A session that is refused for QUOTA_SUSTAINED_MS without
 * its bucket becoming half full is disconnected. Rates depend on the role, because players are not
 * trusted, while controllers and administrators are.
 */
#ifndef CAIRN_SESSION_QUOTA_H
#define CAIRN_SESSION_QUOTA_H

#include "protocol/message.h"
#include "server/io/instant.h"

enum quota_kind {
#define QUOTA(KIND, name, nobody, observer, player, controller, what) QUOTA_##KIND,
#include "server/session/quota.def"
	QUOTA_NUMBERS,
	/* Kinds before this one have a bucket in struct quota, the others in struct allowance. */
	QUOTA_KINDS = QUOTA_WATCHED
};
/* Long enough that a client which backs off after BUSY is never disconnected. */
enum { QUOTA_SUSTAINED_MS = 5000 };

/* The rate of a kind for a role, per second, and the kind's name. */
double quota_of(enum wire_role role, enum quota_kind kind);
const char *quota_name(enum quota_kind kind);

struct quota {
	double tokens[QUOTA_KINDS];
	double rate[QUOTA_KINDS]; /* per second; the burst is twice that */
	uint64_t filled_at;	  /* instant of the last refill */
	/* Instant of the first refusal since the bucket was last half full, by kind; INSTANT_NEVER:
	 * none. */
	uint64_t over_since[QUOTA_KINDS];
	uint64_t refusals;
};

void quota_init(struct quota *self, enum wire_role role, uint64_t now);
/* Takes `amount` tokens of a kind. False: the bucket holds fewer, and none is taken. */
bool quota_take(struct quota *self, enum quota_kind kind, double amount, uint64_t now);
/* Takes `amount` tokens that turned out to be due after the request was carried out. The bucket may
 * become negative; it must refill before the next quota_take of that kind succeeds. */
void quota_charge(struct quota *self, enum quota_kind kind, double amount, uint64_t now);
/* True if one kind has been refused for longer than QUOTA_SUSTAINED_MS (see over_since). */
bool quota_exhausted(const struct quota *self, uint64_t now);

#endif
