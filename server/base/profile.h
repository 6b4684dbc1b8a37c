/* profile.h: where the time of a tick goes, by stages (stages.def).
 *
 * Code says which stage it enters; the time until the next stage is entered counts for it. So the stages
 * always add up to the whole, and none is forgotten: the rest of a tick belongs to the stage entered last.
 * The clock is given by the caller, because the engine has none. Only the thread that conducts a tick
 * enters stages; what other threads do meanwhile is time of its stage.
 *
 * A NULL profile is one that nobody asked for; entering a stage costs a comparison then.
 */
#ifndef CAIRN_BASE_PROFILE_H
#define CAIRN_BASE_PROFILE_H

#include "server/base/base.h"

enum profile_stage {
#define STAGE(NAME, name, text) PROFILE_##NAME,
#include "server/base/stages.def"
	PROFILE_STAGES
};

/* Sums of ticks that were profiled. */
struct profile_sums {
	uint64_t ns[PROFILE_STAGES];
	uint64_t ticks;
	uint64_t entered; /* stages, which is what the profile itself costs */
};

struct profile {
	uint64_t (*now)(const void *context); /* ns, monotonic */
	const void *context;		      /* borrowed; of `now` */
	struct profile_sums sums;
	/* Of the tick being profiled. */
	uint64_t entered_at; /* ns */
	enum profile_stage stage;
};

const char *profile_stage_name(enum profile_stage stage);

/* Begins a tick, or several, in `stage`. */
void profile_begin(struct profile *self, enum profile_stage stage);
/* Ends it after `ticks` ticks. */
void profile_end(struct profile *self, uint32_t ticks);
enum profile_stage profile_switch(struct profile *self, enum profile_stage stage);
/* Time counts for `stage` from now on. Returns the stage that ends, so that a function used by several
 * stages can go back to it. NULL: nothing happens. */
static inline enum profile_stage profile_enter(struct profile *self, enum profile_stage stage)
{
	return self != NULL ? profile_switch(self, stage) : stage;
}

#endif
