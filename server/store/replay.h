/* replay.h: a recording made again, and compared with what was recorded. */
#ifndef CAIRN_STORE_REPLAY_H
#define CAIRN_STORE_REPLAY_H

#include "server/base/parallel.h"
#include "server/base/status.h"
#include "server/store/recording.h"

struct replay_options {
	const char *file;
	const char *against; /* another recording to compare with, or NULL */
	bool bisect;	     /* with `against`: start at the last stored states that are equal */
	bool verify;	     /* recompute every tick; else only count the records */
	uint64_t from; /* start at the checkpoint nearest at or before this tick; 0: the first */
	/* With `against`: makes a tick of both at the same time; borrowed. NULL: one after the other. */
	const struct parallel *parallel;
	/* Called after each tick with the number of ticks replayed and of those in the file; may
	 * be NULL. */
	void (*progress)(void *context, uint64_t ticks, uint64_t total);
	void *context;
};

/* STATES: ticks of an incompatible build were skipped; the states stored among them have the hashes
 * that they were saved with, and every other tick is the same. */
enum replay_verdict { REPLAY_UNCHECKED, REPLAY_SAME, REPLAY_DIFFERS, REPLAY_STATES };
/* Where the first difference was seen. */
enum replay_seen { REPLAY_TICK_HASH, REPLAY_STATE_HASH, REPLAY_IMAGE, REPLAY_STEP, REPLAY_LENGTH };

struct replay_report {
	char build[96]; /* that made the file */
	struct recording_counts counts;
	bool whole; /* it begins with the world; else records before `begins` were pruned */
	uint32_t begins_epoch;
	uint64_t begins_tick;
	enum replay_verdict verdict;
	uint64_t ticks, checkpoints; /* recomputed; compared */
	uint64_t skipped,
		states; /* ticks of incompatible builds; stored states verified among them */
	uint32_t epoch;
	uint64_t tick;	     /* the last one reached */
	uint64_t state_hash; /* there */

	/* The first difference. */
	enum replay_seen seen;
	uint32_t first_epoch;
	uint64_t first_tick;
	uint64_t recorded, replayed; /* the hashes; --against: the two files' */
	/* What differs, once images could be compared: at a checkpoint, or exactly with --against. */
	bool located;
	uint64_t located_tick;
	char table[32], column[32];
	int64_t row;
	uint32_t body; /* 0: none */
	char detail[160];
	/* --against: the last command that was applied before the first difference, in either file, and the
	 * tick of its boundary; empty: none. */
	char command[2][160];
	uint64_t command_tick[2];
	/* --against: tick of the states at which the comparison began: where the later file begins, or with
	 * --bisect the last stored states that are equal; whether the two began at different places. */
	uint64_t started;
	bool begins_differ;

	/* --against: which file goes on after the other's end. */
	enum { REPLAY_NEITHER, REPLAY_FILE, REPLAY_AGAINST } longer;
};

/* OK: the report is filled, whatever the verdict. Else the file could not be read or makes no sense; the
 * report holds how far it came. */
MUST_CHECK enum status replay_file(const struct replay_options *options,
				   struct replay_report *report, struct reason *why);

#endif
