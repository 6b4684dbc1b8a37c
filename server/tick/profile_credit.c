/* See profile_credit.h. */
#include "server/tick/profile_credit.h"

#include "server/io/instant.h"

enum {
	/* A profile may cost 1/256 of the time, less than half a percent. */
	SHARE = 256,
	/* ns: reading the clock and adding the difference, on a slow machine. */
	STAGE_PRICE = 50,
};
/* What a large world saved must not let it profile every slice once it is small. */
#define SAVED_MAX ((int64_t)NS_PER_MS)

bool profile_credit_suffices(const struct profile_credit *self)
{
	return self->saved >= self->price;
}

void profile_credit_save(struct profile_credit *self, uint64_t ns)
{
	int64_t part = (int64_t)(ns / SHARE);
	self->saved = MIN_OF(self->saved + part, SAVED_MAX);
}

void profile_credit_pay(struct profile_credit *self, uint64_t entered)
{
	self->price = (int64_t)entered * STAGE_PRICE;
	self->saved -= self->price;
}
