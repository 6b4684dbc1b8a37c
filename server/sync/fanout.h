/* fanout.h: one world's subscriptions, served from one mirror: every frame is encoded once for each
 * group of subscriptions that need the same bytes, and shared.
 *
 * A group is (interest, base, profile, fields, frame size), so subscriptions that skipped frames
 * form groups of their own until their next frame. Groups live until the next report, so
 * subscriptions that join in the same tick share one SNAPSHOT. At most two different SNAPSHOTs of a
 * world are being sent in parts at a time; further subscriptions wait for the next one. A
 * subscription with a budget (ration.h) is a group of its own.
 *
 * The host reports contacts while fanout_needs_contacts, joints while fanout_needs_joints; the
 * first SNAPSHOT of a subscription to them waits for the first report that contains them. The
 * joints of a subscription follow the bodies of the same state in ROWS (fanout_joints.c).
 *
 * A report begins a round, which serves the subscriptions in slices. A slice ends after
 * FANOUT_SLICE subscriptions or FANOUT_SLICE_WORK, and between two slices the loop does its other
 * work (fanout_continue). Subscriptions that were not served when the next report arrives are
 * served first in its round; their next DELTA covers the gap, as after any skip.
 *
 * The work for a subscription's frames is charged to its allowance (allowance.h). Before each
 * report the fanout finds the interests whose expected cost can be paid; these test the changes,
 * and the true cost is charged afterwards; the others rest (interest.h). A subscription without
 * allowance is not served. When its allowance is far overdrawn its events are dropped, too. NOTICE
 * reports both with the code `busy`.
 */
#ifndef CAIRN_SYNC_FANOUT_H
#define CAIRN_SYNC_FANOUT_H

#include "server/sync/subscription.h"

struct fanout;

/* A world that is not running and has made no step for this time is at rest: every subscription
 * gets the newest state, whatever its divisor. A running world is allowed longer
 * (FANOUT_RUNNING_REST_NS), as it may be slow. */
#define FANOUT_REST_NS (UINT64_C(20) * NS_PER_MS)

struct fanout_counters {
	uint64_t frames, skipped, events_lost; /* sent, not sent, dropped */
	uint64_t late;			       /* not served before the next report came */
	uint64_t encoded;		       /* groups encoded: the work done once */
	uint64_t looked;		       /* bodies tested against interests */
	uint64_t rows;			       /* of bodies, in the groups encoded */
	uint64_t joints;		       /* joints visited, packed, hashed */
	uint64_t particles;		       /* particles compared, packed, hashed */
	uint64_t heard;			       /* events tested against subscriptions */
	uint64_t contacts_cut; /* contact points that the host left out of reports */
	uint64_t short_of;     /* frames skipped because an allowance was empty */
	uint64_t bytes;
	uint32_t subscriptions, interests;
};

/* `pool` is borrowed. NO_MEMORY. */
MUST_CHECK enum status fanout_create(struct frame_pool *pool, struct fanout **out);
void fanout_destroy(struct fanout *self);

/* True if there is a subscription. */
bool fanout_is_watched(const struct fanout *self);
/* Applies the world's next report and begins a round; `now` is ignored without subscriptions. Not
 * OK: the mirror is invalid until a `whole` report arrives; request one from the host. */
MUST_CHECK enum status fanout_report(struct fanout *self, const struct tick_report *report,
				     uint64_t now);

/* In place of fanout_report, while there is no subscription: the mirror is invalid until a `whole`
 * report arrives. Request one from the host for the next subscription. Keeping a mirror that nobody
 * reads would cost LOOP as much as a small step costs the worker. */
void fanout_skip(struct fanout *self);

/* Serves the next slice of the round; true: more remain. */
bool fanout_continue(struct fanout *self, uint64_t now);
bool fanout_is_serving(const struct fanout *self);
/* Watched changes so far: bodies tested, rows packed and hashed, events tested (allowance.h). */
uint64_t fanout_work(const struct fanout *self);
/* True if fanout_rest must be called a little later: the last step shown may have been the last
 * one, or a subscription waits for allowance and no step will serve it. */
bool fanout_may_rest(const struct fanout *self);
/* If the world is at rest, begins a round in which every subscription gets the newest state. */
void fanout_rest(struct fanout *self, uint64_t now);

/* Adds a subscription. Its SNAPSHOT is sent at once if the mirror is valid and `allowance`
 * (borrowed; NULL: no bound) is not empty. Refusals name the field. */
MUST_CHECK enum status fanout_subscribe(struct fanout *self, const struct msg_subscribe *ask,
					struct outbox *outbox, struct allowance *allowance,
					bool has_ack, uint32_t frame_max, uint64_t now,
					struct subscription **out, struct reason *why);
/* Replaces the areas and bodies that the subscription watches, from its next frame on. That frame
 * contains the bodies that enter and leave. Of several calls before a frame the last one counts.
 * Refusals name the field. */
MUST_CHECK enum status fanout_focus(struct fanout *self, struct subscription *subscription,
				    const struct msg_focus *focus, struct reason *why);
/* Moves a subscription from `from`, with its areas, to `self`; it goes on with a SNAPSHOT, at once if it can
 * be sent. Events that wait are dropped and counted. NO_MEMORY: nothing has changed. */
MUST_CHECK enum status fanout_move(struct fanout *from, struct fanout *self,
				   struct subscription *subscription, uint64_t now);
void fanout_unsubscribe(struct fanout *self, struct subscription *subscription);
/* Makes the next frame a SNAPSHOT and sends it as soon as there is room. */
void fanout_resync(struct fanout *self, struct subscription *subscription, uint64_t now);
/* The outbox is empty again: continues with a frame of many parts. */
void fanout_on_writable(struct fanout *self, struct subscription *subscription, uint64_t now);
/* Sends the newest state now, if the subscription lacks it and has room. For worlds at rest, in
 * which no tick sends it. */
void fanout_show(struct fanout *self, struct subscription *subscription, uint64_t now);
/* Each quarter second: begins a round for subscriptions that were skipped and have room, also while
 * the world is at rest (then call fanout_continue); drops frames that are stuck. */
void fanout_check(struct fanout *self, uint64_t now);
/* True if a subscription includes contacts: the host must report them (host_watch_contacts). */
bool fanout_needs_contacts(const struct fanout *self);
/* The same for joints (host_watch_joints). */
bool fanout_needs_joints(const struct fanout *self);
/* The same for particles (host_watch_particles). */
bool fanout_needs_particles(const struct fanout *self);
/* True if the mirror is valid. */
bool fanout_has_mirror(const struct fanout *self);

const struct view *fanout_view(const struct fanout *self);
void fanout_counters(const struct fanout *self, struct fanout_counters *out);

#endif
