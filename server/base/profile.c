/* See profile.h. */
#include "server/base/profile.h"

const char *profile_stage_name(enum profile_stage stage)
{
	static const char *const names[PROFILE_STAGES] = {
#define STAGE(NAME, name, text) [PROFILE_##NAME] = name,
#include "server/base/stages.def"
	};
	ASSERT(stage < PROFILE_STAGES);
	return names[stage];
}

void profile_begin(struct profile *self, enum profile_stage stage)
{
	self->entered_at = self->now(self->context);
	self->stage = stage;
}

enum profile_stage profile_switch(struct profile *self, enum profile_stage stage)
{
	ASSERT(stage < PROFILE_STAGES);
	enum profile_stage ended = self->stage;
	uint64_t now = self->now(self->context);
	self->sums.ns[ended] += now - self->entered_at;
	self->sums.entered++;
	self->entered_at = now;
	self->stage = stage;
	return ended;
}

void profile_end(struct profile *self, uint32_t ticks)
{
	profile_switch(self, self->stage);
	self->sums.ticks += ticks;
}
