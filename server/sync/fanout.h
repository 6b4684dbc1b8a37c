/* fanout.h: one world's subscriptions, served from one mirror: every frame is encoded once for each
 * group of subscriptions that need the same bytes, and shared.
 *
 * A group is (what they watch, what they stand on, profile, fields, frame size): those that skipped
 * form their own until their next frame. Groups live until the next report, so late joiners of the
 * same tick share one SNAPSHOT; a world has at most two different ones on their way in parts, and
 * who comes then waits for the next. A subscription with a budget (ration.h) is a group of its own.
 *
 * Contacts are told by the host while fanout_needs_contacts, joints while fanout_needs_joints; the
 * first SNAPSHOT of a subscription to them waits for the first report that does. What a
 * subscription to joints is to be told of them follows the bodies of the same state in ROWS
 * (fanout_joints.c).
 *
 * A report begins a round: subscriptions are served a slice at a time, which ends after so many of
 * them or so much work, and between two slices the loop does what else there is to do
 * (fanout_continue). Who has not been served when the next report comes is served first in its
 * round; the next DELTA covers the gap, as after any skip.
 *
 * What a subscription's frames cost is taken from its allowance (allowance.h). Before each report
 * the interests that can be paid for are found: they are shown the changes and what that has cost
 * is paid afterwards, the others rest (interest.h). Who has no allowance left when it is to be
 * served is passed over, its events are lost once it is far overdrawn, and NOTICE says so with the
 * code `busy`.
 */
#ifndef CAIRN_SYNC_FANOUT_H
#define CAIRN_SYNC_FANOUT_H

#include "server/sync/subscription.h"

struct fanout;

/* A world that is not running and has made no step for so long is at rest: everybody is brought up
 * to date, whatever their pace. (One that runs may be slow: it is given longer.) */
#define FANOUT_REST_NS (UINT64_C(20) * NS_PER_MS)

struct fanout_counters {
	uint64_t frames, skipped, events_lost; /* sent, not sent, dropped */
	uint64_t late;			       /* not served before the next report came */
	uint64_t encoded;		       /* groups encoded: the work done once */
	uint64_t looked;		       /* bodies held against interests */
	uint64_t rows;			       /* of bodies, in the groups encoded */
	uint64_t joints;		       /* looked at, packed, hashed */
	uint64_t heard;			       /* events held against subscriptions */
	uint64_t contacts_cut; /* points that the host did not tell, over all reports */
	uint64_t short_of;     /* frames not made for want of allowance */
	uint64_t bytes;
	uint32_t subscriptions, interests;
};

/* `pool` is borrowed. */
MUST_CHECK enum status fanout_create(struct frame_pool *pool, struct fanout **out);
void fanout_destroy(struct fanout *self);

/* Whether there is anybody to serve. */
bool fanout_is_watched(const struct fanout *self);
/* The world's next report; `now` is of no account where nobody watches. Not OK: the mirror is lost
 * until a `whole` report comes; ask the host for one. */
MUST_CHECK enum status fanout_report(struct fanout *self, const struct tick_report *report,
				     uint64_t now);

/* The next slice of the round; true: there are more. After fanout_report, until it says false. */
bool fanout_continue(struct fanout *self, uint64_t now);
bool fanout_is_serving(const struct fanout *self);
/* Watched changes so far: held against areas, packed into frames, events held against subscriptions. */
uint64_t fanout_work(const struct fanout *self);
/* Whether fanout_rest is to be called a little later: the step that was shown last may stay the
 * last one, or somebody waits for allowance and no step will serve him. */
bool fanout_may_rest(const struct fanout *self);
/* Begins a round in which everybody is brought up to date, if the world has come to rest. */
void fanout_rest(struct fanout *self, uint64_t now);

/* Adds a subscription; its SNAPSHOT goes out at once if the mirror stands and `allowance`
 * (borrowed; NULL: without bound) has something left. Refusals name the field. */
MUST_CHECK enum status fanout_subscribe(struct fanout *self, const struct msg_subscribe *ask,
					struct outbox *outbox, struct allowance *allowance,
					bool has_ack, uint32_t frame_max, uint64_t now,
					struct subscription **out, struct reason *why);
/* It watches something else from its next frame on, which says what comes and goes with that; of
 * several the last one counts. Refusals name the field. */
MUST_CHECK enum status fanout_focus(struct fanout *self, struct subscription *subscription,
				    const struct msg_focus *focus, struct reason *why);
void fanout_unsubscribe(struct fanout *self, struct subscription *subscription);
/* The next frame is a SNAPSHOT, sent as soon as there is room. */
void fanout_resync(struct fanout *self, struct subscription *subscription, uint64_t now);
/* The client has taken what waited: goes on with a frame of many parts. */
void fanout_on_writable(struct fanout *self, struct subscription *subscription, uint64_t now);
/* Brings it up to date now, if it is behind and has room: for a world at rest, in which no tick
 * will. */
void fanout_show(struct fanout *self, struct subscription *subscription, uint64_t now);
/* Now and then: begins a round for whoever was skipped and has room, also while the world stands still
 * (fanout_continue); gives up frames that are stuck. */
void fanout_check(struct fanout *self, uint64_t now);
/* Whether a subscription is to show contacts: the host must tell them (host_watch_contacts). */
bool fanout_needs_contacts(const struct fanout *self);
/* The same of joints (host_watch_joints). */
bool fanout_needs_joints(const struct fanout *self);
/* Whether the mirror is good. */
bool fanout_has_mirror(const struct fanout *self);

const struct view *fanout_view(const struct fanout *self);
void fanout_counters(const struct fanout *self, struct fanout_counters *out);

#endif
