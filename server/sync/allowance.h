/* allowance.h: bounds on the work that one session, and all sessions of its role, may cause by
 * watching.
 *
 * The unit is a watched change: one body tested against an area, one body packed into a frame, or
 * one event tested against a subscription. Each costs the loop thread some tenths of a microsecond.
 * An allowance refills with time and is charged for the work that was done. While it is empty the
 * session's subscriptions get frames less often (fanout.h); nothing else changes.
 *
 *	              ┌── share: half of the role's rate, divided among its sessions
 *	session ◄─────┤
 *	  at most     └── pool: the other half, for sessions that need more
 *	  its own rate
 *
 * So a session that watches little is always served, whatever the other sessions of its role do. A
 * session that watches much may use the tokens that the others leave. A bucket holds
 * ALLOWANCE_BURST_MS of its rate and may be overdrawn by one frame, because the cost of a frame is
 * known only when it is made.
 */
#ifndef CAIRN_SYNC_ALLOWANCE_H
#define CAIRN_SYNC_ALLOWANCE_H

#include "server/base/base.h"
#include "server/io/instant.h"

/* Longer bursts let one session fill more turns of the loop in a row. */
enum { ALLOWANCE_BURST_MS = 125 };

/* The common budget of all sessions of a role. */
struct allowance_pool {
	double rate;	    /* watched changes a second; half of it is shared out */
	double tokens;	    /* watched changes left of the other half */
	uint64_t filled_at; /* instant */
	uint32_t members;   /* sessions */
	uint64_t spent;	    /* watched changes so far */
};

struct allowance {
	struct allowance_pool *pool; /* borrowed */
	double rate;		     /* watched changes a second of this session, at most */
	double tokens,
		share; /* left of its own rate, and of its share of the role's; may be negative */
	uint64_t filled_at;
	uint64_t short_times; /* frames skipped because it was empty */
};

void allowance_pool_init(struct allowance_pool *self, double rate, uint64_t now);
/* Adds a session to the role. */
void allowance_init(struct allowance *self, struct allowance_pool *pool, double rate, uint64_t now);
/* The session has ended. */
void allowance_release(struct allowance *self);
/* True if anything is left at instant `now`; always for NULL, which has no bound. */
bool allowance_permits(struct allowance *self, uint64_t now);
/* Watched changes that may be spent now, 0 where it is overdrawn. */
double allowance_left(struct allowance *self, uint64_t now);
/* True if it is overdrawn by more than a full bucket; then events are dropped, too. Never for NULL. */
bool allowance_is_far_over(const struct allowance *self);
/* Charges so many watched changes; a negative number refunds. NULL is not charged. */
void allowance_spend(struct allowance *self, double changes);

#endif
