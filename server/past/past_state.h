/* past_state.h: the inside of the room, shared by its files.
 *
 *	past.c          the desk: asks from LOOP to ANSWERS in slices, and answers back
 *	past_walk.c     places, and worlds that are played to them
 *	past_states.c   STATES, IMAGE, DIFFERENCE and CHECK
 *	past_when.c     WHEN
 *	past_outline.c  OUTLINE
 *	past_archive.c  ARCHIVE
 */
#ifndef CAIRN_PAST_PAST_STATE_H
#define CAIRN_PAST_PAST_STATE_H

#include "server/io/lock.h"
#include "server/past/past.h"
#include "server/store/player.h"
#include "server/store/sql.h"

enum { PAST_PATH_MAX = 4096 };

struct past {
	struct past_desk *desk; /* borrowed */
	char path[PAST_PATH_MAX];
	struct keyframes *keyframes; /* a reference, or NULL */
	uint32_t references;	     /* of LOOP and of its asks; guarded by the desk's lock */
	bool ended;		     /* LOOP has released it; guarded likewise */
	/* ANSWERS: every shape of the file that was cooked. */
	struct shape_library cooked;
};

/* Epochs that continue one another. */
struct past_stretch {
	struct recorded_place first, last;
	bool present; /* the newest epoch is its last */
};

/* A world that is played to places. Zero initialisation is closed. */
struct past_walk {
	struct past *past; /* borrowed */
	sqlite3 *db;
	struct recording *recording;
	struct record_player *player; /* owned; NULL: not started */
	struct recorded_place at;     /* of its world */
	ARRAY_OF(struct recorded_epoch) epochs;
	struct recorded_place floor; /* the earliest place with complete records after it */
	uint64_t ticks;		     /* computed again */
};

MUST_CHECK enum status past_walk_open(struct past_walk *walk, struct past *past,
				      struct reason *why);
void past_walk_close(struct past_walk *walk);
/* Finds the epoch of a place and its stretch. `nearby`: a tick outside the stretch becomes its end. RANGE. */
MUST_CHECK enum status past_walk_find(const struct past_walk *walk, bool nearby,
				      struct recorded_place *place, struct past_stretch *stretch,
				      struct reason *why);
/* The place from which past_walk_start would play. */
MUST_CHECK enum status past_walk_origin(struct past_walk *walk, struct recorded_place place,
					struct recorded_place *origin, struct reason *why);
/* Starts a world at the nearest stored state at or before `place`, unless the walk's world is nearer. */
MUST_CHECK enum status past_walk_start(struct past_walk *walk, struct recorded_place place,
				       struct reason *why);
/* One tick, or a new epoch, towards `place`; *reached: the world is there. Ticks of an incompatible build
 * cannot be computed: then the world counts as there where it is. DIVERGED: a tick's hash is not the
 * recorded one. */
MUST_CHECK enum status past_walk_step(struct past_walk *walk, struct recorded_place place,
				      bool *reached, struct reason *why);
int past_compare(struct recorded_place a, struct recorded_place b);
/* The epoch's row; NULL: the file does not have it. */
const struct recorded_epoch *past_walk_epoch(const struct past_walk *walk, uint32_t epoch);

enum past_stage { STAGE_OPEN, STAGE_SLEEP, STAGE_PLAY, STAGE_DONE };

struct past_job {
	struct past_job *next;
	struct past *past; /* a reference */
	struct past_ask ask;
	struct past_answer answer;
	past_answered *answered; /* NULL: cancelled; LOOP's */
	void *context;
	bool cancelled; /* guarded by the desk's lock */
	/* ANSWERS: */
	enum past_stage stage;
	struct past_walk walk;
	struct past_stretch stretch;
	struct recorded_place target; /* next state to reach */
	uint64_t stride;	      /* of states, ticks */
	uint32_t left;		      /* states still to make */
	bool backward;
	uint64_t wake_at, give_up_at; /* instants; of an ask whose place is not in the file yet */
	ARRAY_OF(struct event) events;
	struct bytes other;	   /* DIFFERENCE, CHECK: the first image */
	struct archive_copy *copy; /* ARCHIVE: owned, or NULL */
	/* WHEN */
	struct recorded_place best;
	bool found, standing;	    /* standing: the first segment (state, image) is made */
	uint64_t scan, until, from; /* see past_when.c */
	uint32_t epoch_index;
	double value;
	body_id body;
};

/* Each does a part of its job until `until`, or for some ticks; STAGE_DONE when it is finished. */
MUST_CHECK enum status past_play_states(struct past_job *job, uint64_t until);
MUST_CHECK enum status past_play_image(struct past_job *job, uint64_t until);
MUST_CHECK enum status past_play_difference(struct past_job *job, uint64_t until);
MUST_CHECK enum status past_play_check(struct past_job *job, uint64_t until);
MUST_CHECK enum status past_play_when(struct past_job *job, uint64_t until);
MUST_CHECK enum status past_play_outline(struct past_job *job);
MUST_CHECK enum status past_play_archive(struct past_job *job, uint64_t until);
/* Opens the file and finds the job's place. */
MUST_CHECK enum status past_open_job(struct past_job *job);
MUST_CHECK enum status past_play_job(struct past_job *job, uint64_t until);
/* Fills in the answer and closes the file. */
void past_end_job(struct past_job *job, enum status status);
/* True: the slice is over. */
bool past_slice_over(const struct past_job *job, uint64_t until, uint32_t *ticks);

#endif
