/* past.h: the past of worlds in service: any tick of it is computed again beside the running world.
 *
 *	LOOP ──past_ask──► desk ──► ANSWERS: keyframe or checkpoint ─► ticks ─► states, image, answer
 *	  ▲                                                              │
 *	  └──────────────────────── past_answered ◄─────────────────────┘
 *
 * The source is the world's file, which holds every command (store/recording.h), and the keyframes of this
 * run (store/keyframes.h). The world itself is not touched: its worker, its reports and its clients do not
 * notice. ANSWERS works in slices of PAST_SLICE, round robin over at most PAST_ACTIVE asks at a time, so
 * that one long question delays neither others nor queries of shapes; the other asks wait, which bounds the
 * memory: an active ask holds one world. After an ask for states the world is kept for the next one that
 * continues there (at most PAST_WARM).
 *
 * A place is an epoch and a tick, and means the state right after the step to that tick; at the beginning of
 * an epoch, after the commands of that boundary. Epochs that continue one another (a restart of the daemon)
 * are one *stretch*: its ticks can be played through.
 */
#ifndef CAIRN_PAST_PAST_H
#define CAIRN_PAST_PAST_H

#include "protocol/query_wire.h"
#include "server/host/report.h"
#include "server/io/executor.h"
#include "server/store/archive.h"
#include "server/store/keyframes.h"
#include "server/store/shape_library.h"

/* Between two looks at other work of ANSWERS. */
#define PAST_SLICE (10 * NS_PER_MS)
enum { PAST_ACTIVE = 4, PAST_WARM = 4, PAST_WAITING_MAX = 1024 };

struct past_desk;
/* One for the daemon. `executor` is borrowed. NO_MEMORY. */
MUST_CHECK enum status past_desk_create(struct executor *executor, struct past_desk **out);
/* Before executor_stop: asks end early, and no callback is called any more. */
void past_desk_stop(struct past_desk *desk);
/* After executor_stop, and after every past was released. NULL is ignored. */
void past_desk_destroy(struct past_desk *desk);

struct past_figures {
	uint64_t asks, refused, ticks; /* ticks that were computed again */
	uint32_t waiting;
};
struct past_figures past_desk_figures(struct past_desk *desk);

/* The past of one world: its file, and its keyframes (retained; NULL: none). LOOP. NO_MEMORY. */
struct past;
MUST_CHECK enum status past_create(struct past_desk *desk, const char *path,
				   struct keyframes *keyframes, struct past **out);
/* LOOP; asks still under way end without a callback. NULL is ignored. */
void past_release(struct past *past);
struct keyframes *past_keyframes(struct past *past);
/* The path of its file; borrowed. */
const char *past_path(const struct past *past);
/* LOOP: like past_release, but asks under way are answered; the past ends with the last of them. */
void past_let_go(struct past *past);

enum past_kind {
	PAST_STATES,	 /* whole states, as reports */
	PAST_IMAGE,	 /* the image of a state, and the shapes it needs */
	PAST_WHEN,	 /* query WHEN */
	PAST_OUTLINE,	 /* query PAST */
	PAST_DIFFERENCE, /* query DIFFERENCE */
	PAST_ARCHIVE,	 /* recordings: archive.h */
	PAST_CHECK, /* the ticks between two keyframes are computed again and the states compared */
};

enum past_archive_action {
	PAST_ARCHIVE_LIST, /* query RECORDINGS */
	PAST_ARCHIVE_COPY,
	PAST_ARCHIVE_REMOVE,
	PAST_ARCHIVE_READ,
	PAST_ARCHIVE_PUT,
};
struct past_archive {
	enum past_archive_action action;
	char name[WIRE_NAME_MAX + 1], title[WIRE_TITLE_MAX + 1];
	/* LIST: one runs. COPY: what the running one keeps, with its title; otherwise from `other` on, or
	 * without `has_from` all that the file has. */
	bool running, has_from;
	uint64_t room;	   /* COPY, PUT: bytes that all recordings may take */
	uint64_t offset;   /* READ, PUT */
	struct bytes part; /* PUT: taken by past_ask; none: the last part has come */
};

struct past_ask {
	enum past_kind kind;
	/* Of STATES, IMAGE, DIFFERENCE. Epoch 0: the last epoch that has the tick. */
	struct recorded_place place;
	/* STATES: at most `count` states, `stride` ticks apart (negative: backward), the first at `place`.
	 * `nearby`: a tick beyond the stretch means its end. Events of the ticks after `since` up to each
	 * state are in its report, if the states go forward; 0: none. */
	int64_t stride;
	uint32_t count;
	bool nearby;
	struct report_choice choice;
	/* The place is of the present epoch: if the file does not have it yet, it soon will. */
	bool soon;
	bool owns_context; /* the context is a heap block, freed after the answer */
	uint64_t since;
	struct keyframe_condition condition; /* WHEN */
	bool latest;
	struct recorded_place other; /* DIFFERENCE; ARCHIVE */
	/* DIFFERENCE: names of snapshots in place of `place` and `other`, borrowed; NULL: none. */
	const char *snapshots[2];
	struct past_archive archive; /* ARCHIVE; of COPY, `place` is what the file must have */
	uint32_t limit;		     /* OUTLINE, ARCHIVE */
};

struct past_answer {
	enum status status;
	struct reason why;
	struct recorded_place place; /* of the first state, or of the image */
	/* The stretch of `place`: its ends, and whether it ends at the world's present. */
	struct recorded_place first, last;
	bool present;
	ARRAY_OF(struct report *) states; /* STATES: in the order asked for; owned */
	struct bytes image;		  /* IMAGE */
	uint64_t state_hash;
	struct shape_library shapes;
	struct bytes raw;	    /* the answer to a query, packed */
	struct archive_entry entry; /* ARCHIVE: the recording; of READ its size only */
	uint64_t ticks;		    /* that were computed again */
	uint64_t used_ns;	    /* processor time */
	bool checked; /* CHECK: two keyframes were compared; they differ where status is DIVERGED */
};

/* LOOP. The callback may take parts of the answer, and the rest is released after it. */
typedef void past_answered(void *context, struct past_answer *answer);
struct past_job;
/* BUSY: PAST_WAITING_MAX asks wait; NO_MEMORY. On OK the ask's `archive.part` is taken. */
MUST_CHECK enum status past_ask(struct past *past, const struct past_ask *ask,
				past_answered *answered, void *context, struct past_job **out);
/* LOOP; its callback is not called. Only before its callback was called. */
void past_cancel(struct past_job *job);

/* ---- files that no world is in service from: synchronous, any thread ----------------------------- */

/* The status is that of the answer, which is filled in any case, for past_answer_release. */
MUST_CHECK enum status past_answer_file(const char *path, const struct past_ask *ask,
					struct past_answer *answer);
void past_answer_release(struct past_answer *answer);

struct past_range {
	uint32_t epoch; /* 0: without `from` the newest stretch, else the last epoch that has it */
	bool has_from, has_to;
	uint64_t from, to; /* ticks, of one stretch; beyond its end `to` is its last one */
	uint64_t every;	   /* every n-th state is sampled, n ≥ 1 */
};
/* Calls `visit` for every state of the range, in order; its events are those of the tick. Another status than
 * OK ends it. RANGE: `to` comes before the first tick. */
typedef enum status past_visit(void *context, const struct world *world,
			       struct recorded_place place, bool sampled, struct reason *why);
MUST_CHECK enum status past_play_file(const char *path, const struct past_range *range,
				      past_visit *visit, void *context, struct reason *why);

#endif
