/* allowance.h: how much work one session, and all sessions of its role, may cause by watching.
 *
 * The unit is a watched change: one body held against an area, one body packed into a frame, or one event
 * held against a subscription. Each of them costs the loop's thread some tenths of a microsecond. An
 * allowance is filled with time and emptied by the work that was done; where it is empty the session's
 * subscriptions are served less often (fanout.h), and nothing else changes.
 *
 *	              ┌── share: half of the role's rate, divided among its sessions
 *	session ◄─────┤
 *	  at most     └── pool: the other half, for whoever needs more
 *	  its own rate
 *
 * So a session that watches little is served whatever the others of its role do, and one that watches
 * much may use what the others leave. Buckets hold ALLOWANCE_BURST_MS of their rate and may be
 * overdrawn by one frame: what a frame costs is known once it is made.
 */
#ifndef CAIRN_SYNC_ALLOWANCE_H
#define CAIRN_SYNC_ALLOWANCE_H

#include "server/base/base.h"
#include "server/io/instant.h"

enum { ALLOWANCE_BURST_MS = 125 };

/* What all sessions of a role have together. */
struct allowance_pool {
	double rate;	    /* watched changes a second; half of it is shared out */
	double tokens;	    /* of the other half */
	uint64_t filled_at; /* instant */
	uint32_t members;   /* sessions */
	uint64_t spent;	    /* watched changes so far */
};

struct allowance {
	struct allowance_pool *pool; /* borrowed */
	double rate;		     /* of its own, at most */
	double tokens, share;
	uint64_t filled_at;
	uint64_t short_times; /* frames that were not made for want of it */
};

void allowance_pool_init(struct allowance_pool *self, double rate, uint64_t now);
/* One more session of the role. */
void allowance_init(struct allowance *self, struct allowance_pool *pool, double rate, uint64_t now);
/* It is gone. */
void allowance_release(struct allowance *self);
/* Whether anything may be done at `now`; NULL may always. */
bool allowance_permits(struct allowance *self, uint64_t now);
/* How many watched changes it could pay for now, 0 where it is overdrawn. */
double allowance_left(struct allowance *self, uint64_t now);
/* Overdrawn by more than all it can hold: what can be left out is left out. NULL never is. */
bool allowance_is_far_over(const struct allowance *self);
/* So many have been; less than nothing gives back what was spent too much. NULL pays nothing. */
void allowance_spend(struct allowance *self, double changes);

#endif
