/* player.h: makes a recorded world again, tick by tick: what recovery and replay share.
 *
 * From a checkpoint on, every record is done in its order: shapes become known, batches are applied,
 * ticks are made, the world goes back where it went back. What differs is told, not judged.
 *
 * Ticks of other bits (engine.h, the numbers of motion) cannot be made again. The player passes over them to
 * the next stored state, refuses, or makes them anew with the bits of this build, as it is told.
 */
#ifndef CAIRN_STORE_PLAYER_H
#define CAIRN_STORE_PLAYER_H

#include "server/base/arena.h"
#include "server/store/recording.h"
#include "server/store/shape_library.h"

enum player_news {
	PLAYER_TICK,	   /* a tick was made; `recorded` and `replayed` are its hashes */
	PLAYER_CHECKPOINT, /* a checkpoint was taken here; `seq` is its number */
	PLAYER_STATE, /* ticks of other bits were passed over; the world is the checkpoint `seq` */
	PLAYER_EPOCH, /* the world stands in another epoch, perhaps at another tick */
	PLAYER_END,   /* the recording ends here */
};

struct player_event {
	enum player_news news;
	uint32_t epoch;
	uint64_t tick;
	uint64_t recorded, replayed;
	uint64_t seq;
	bool restored; /* EPOCH: another state, not only another epoch */
	bool redone;   /* TICK: with other bits than those recorded, on request */
};

/* What becomes of ticks of other bits. */
enum player_others { PLAYER_PASS_OVER, PLAYER_REFUSE, PLAYER_REDO };

struct record_player {
	struct recording *recording; /* borrowed */
	struct shape_library shapes; /* owned; the world's source of shapes */
	struct world *world;	     /* owned */
	struct arena scratch;
	uint32_t epoch;
	enum player_others others;
	struct motion_numbers numbers; /* of the epoch's ticks */
	uint64_t ticks;		       /* made; of them */
	uint64_t redone;	       /* with other bits */
	uint64_t passed;	       /* over */
	struct recorded next;
	bool has_next;
};

/* Stands at checkpoint `seq`: its image loaded and found to have the state hash it should. CORRUPT. On
 * refusal there is nothing to release. `self` must not move: the world finds its shapes in it. */
MUST_CHECK enum status player_start(struct record_player *self, struct recording *recording,
				    uint64_t seq, enum player_others others, struct reason *why);
void player_release(struct record_player *self);
/* Goes on to the next news. CORRUPT when the recording makes no sense; DIVERGED when a step that was made
 * cannot be made again, or a batch gets another result; VERSION with PLAYER_REFUSE. */
MUST_CHECK enum status player_next(struct record_player *self, struct player_event *event,
				   struct reason *why);

#endif
