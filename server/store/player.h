/* player.h: plays the records of a world again, tick by tick; shared by recovery and replay.
 *
 * From a checkpoint on, every record is executed in its order: shapes are added, batches applied, ticks
 * recomputed, snapshots restored. Differences are reported; the caller decides what they mean.
 *
 * A build is incompatible if its motion numbers (engine.h) differ from ours: its bits differ, so
 * its ticks cannot be repeated. Depending on player_policy the player skips them up to the next
 * stored state, refuses the file, or redoes the ticks with the numbers of this build.
 *
 * A method of number 0 is experimental: another build of the same numbers may have other bits, which only
 * a hash tells. PLAYER_REDO redoes its ticks, too, from the first one that differs.
 */
#ifndef CAIRN_STORE_PLAYER_H
#define CAIRN_STORE_PLAYER_H

#include "server/base/arena.h"
#include "server/store/recording.h"
#include "server/store/shape_library.h"

enum player_event_kind {
	PLAYER_TICK,	   /* a tick was recomputed; `recorded` and `replayed` are its hashes */
	PLAYER_CHECKPOINT, /* a checkpoint was taken here; `seq` is its number */
	PLAYER_STATE, /* ticks of an incompatible build were skipped; the world is at checkpoint `seq` */
	PLAYER_EPOCH, /* the world is in another epoch, perhaps at another tick */
	PLAYER_END,   /* the recording ends here */
};

struct player_event {
	enum player_event_kind kind;
	uint32_t epoch;
	uint64_t tick;
	uint64_t recorded, replayed;
	uint64_t seq;
	bool restored; /* EPOCH: another state, not only another epoch */
	bool redone;   /* TICK: a build of other bits recorded it; PLAYER_REDO */
};

/* How ticks of an incompatible build are treated. */
enum player_policy { PLAYER_SKIP, PLAYER_REFUSE, PLAYER_REDO };

struct record_player {
	struct recording *recording; /* borrowed */
	struct shape_library shapes; /* owned; the world's source of shapes */
	struct world *world;	     /* owned */
	struct arena scratch;
	uint32_t epoch;
	enum player_policy policy;
	struct motion_numbers numbers; /* of the epoch's ticks */
	uint64_t ticks;		       /* recomputed */
	uint64_t redone;	       /* of those, recorded by a build of other bits */
	bool strayed; /* PLAYER_REDO: a tick of an experimental method differed since the last stored state */
	uint64_t skipped; /* ticks of incompatible builds */
	struct recorded next;
	bool has_next;
	/* Called for the result of each batch that is applied again; may be called again for the results
	 * of stored batches. NULL: not. Set after player_start; borrowed context. */
	void (*on_result)(void *context, const struct batch_result *result);
	void *context;
	uint64_t done; /* seq of the last record that was executed or passed */
	/* Borrowed, or NULL: shapes that are cooked already, and gets those that this player cooks. */
	struct shape_library *cooked;
};

/* Where a player starts, in place of a checkpoint: at the beginning of an epoch, or at a state that was
 * stored elsewhere right after the step to `place`. */
struct player_origin {
	struct recorded_place place;
	const struct bytes *image;	    /* NULL: at the beginning of `epoch` */
	const struct recorded_epoch *epoch; /* with an image of its own */
};

/* Loads the image of checkpoint `seq` and verifies its state hash. CORRUPT, NO_MEMORY. On failure there is
 * nothing to release. `self` must not move, because the world finds its shapes in it. */
MUST_CHECK enum status player_start(struct record_player *self, struct recording *recording,
				    uint64_t seq, enum player_policy policy, struct reason *why);
/* The same from `origin`. `cooked` may be NULL. */
MUST_CHECK enum status player_start_at(struct record_player *self, struct recording *recording,
				       const struct player_origin *origin,
				       struct shape_library *cooked, enum player_policy policy,
				       struct reason *why);
/* player_start with shapes from `cooked`. */
MUST_CHECK enum status player_start_with(struct record_player *self, struct recording *recording,
					 uint64_t seq, struct shape_library *cooked,
					 enum player_policy policy, struct reason *why);
/* True if an incompatible build made the next ticks, so this one cannot compute them. */
bool player_is_incompatible(const struct record_player *self);
/* True: the world's method is experimental, in this build as in that of the file. */
bool player_is_experimental(const struct record_player *self);
/* Executes the records of the world's present boundary that are before its next step. */
MUST_CHECK enum status player_settle(struct record_player *self, struct reason *why);
/* Between two calls: the recording is closed, and later opened anew, when it may have grown. */
void player_park(struct record_player *self);
MUST_CHECK enum status player_unpark(struct record_player *self, struct recording *recording,
				     struct reason *why);
void player_release(struct record_player *self);
/* Plays up to the next event. CORRUPT: the records contradict each other; DIVERGED: a recorded step cannot
 * be repeated, or a batch gets another result; VERSION with PLAYER_REFUSE. */
MUST_CHECK enum status player_next(struct record_player *self, struct player_event *event,
				   struct reason *why);

#endif
