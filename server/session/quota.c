/* See quota.h. */
#include "server/session/quota.h"

static const double rates[QUOTA_NUMBERS][WIRE_ROLES] = {
#define QUOTA(KIND, name, nobody, observer, player, controller, what)                              \
	[QUOTA_##KIND] = { nobody, observer, player, controller, controller },
#include "server/session/quota.def"
};

static const char *const names[QUOTA_NUMBERS] = {
#define QUOTA(KIND, name, nobody, observer, player, controller, what) [QUOTA_##KIND] = #name,
#include "server/session/quota.def"
};

double quota_of(enum wire_role role, enum quota_kind kind)
{
	return rates[kind][role];
}

const char *quota_name(enum quota_kind kind)
{
	return names[kind];
}

void quota_init(struct quota *self, enum wire_role role, uint64_t now)
{
	for (int k = 0; k < QUOTA_KINDS; k++) {
		self->rate[k] = rates[k][role];
		self->tokens[k] = 2 * self->rate[k];
		self->over_since[k] = INSTANT_NEVER;
	}
	self->filled_at = now;
	self->refusals = 0;
}

static void refill(struct quota *self, uint64_t now)
{
	/* One frame takes from several buckets, so an instant may be earlier than the last one. */
	if (now <= self->filled_at)
		return;
	double seconds = (double)(now - self->filled_at) / (double)NS_PER_S;
	self->filled_at = now;
	for (int k = 0; k < QUOTA_KINDS; k++) {
		self->tokens[k] += seconds * self->rate[k];
		if (self->tokens[k] > 2 * self->rate[k])
			self->tokens[k] = 2 * self->rate[k];
	}
}

bool quota_take(struct quota *self, enum quota_kind kind, double amount, uint64_t now)
{
	refill(self, now);
	if (self->tokens[kind] < amount) {
		self->refusals++;
		if (self->over_since[kind] == INSTANT_NEVER)
			self->over_since[kind] = now;
		return false;
	}
	self->tokens[kind] -= amount;
	/* A bucket that is half full ends the run of refusals. */
	if (self->tokens[kind] >= self->rate[kind])
		self->over_since[kind] = INSTANT_NEVER;
	return true;
}

void quota_charge(struct quota *self, enum quota_kind kind, double amount, uint64_t now)
{
	refill(self, now);
	self->tokens[kind] -= amount;
}

bool quota_exhausted(const struct quota *self, uint64_t now)
{
	for (int k = 0; k < QUOTA_KINDS; k++)
		if (self->over_since[k] != INSTANT_NEVER &&
		    now - self->over_since[k] > QUOTA_SUSTAINED_MS * NS_PER_MS)
			return true;
	return false;
}
