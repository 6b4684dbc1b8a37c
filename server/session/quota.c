#include "server/session/quota.h"

/* Frames, bytes, commands, queries (rays and their like), spawns and faults per second. */
static const double rates[][QUOTA_KINDS] = {
	[WIRE_ROLE_NOBODY] = { 20, 64e3, 0, 0, 0, 20 },
	[WIRE_ROLE_OBSERVER] = { 500, 256e3, 0, 120, 0, 20 },
	[WIRE_ROLE_PLAYER] = { 1000, 1e6, 6000, 600, 60, 50 },
	[WIRE_ROLE_CONTROLLER] = { 1e6, 1e9, 20e6, 1e6, 20e6, 1000 },
	[WIRE_ROLE_ADMIN] = { 1e6, 1e9, 20e6, 1e6, 20e6, 1000 },
};

void quota_init(struct quota *self, enum wire_role role, uint64_t now)
{
	for (int k = 0; k < QUOTA_KINDS; k++) {
		self->rate[k] = rates[role][k];
		self->tokens[k] = 2 * self->rate[k];
		self->over_since[k] = INSTANT_NEVER;
	}
	self->filled_at = now;
	self->refusals = 0;
}

static void fill(struct quota *self, uint64_t now)
{
	/* Several buckets are asked for one frame; an instant read before the last is as good. */
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
	fill(self, now);
	if (self->tokens[kind] < amount) {
		self->refusals++;
		if (self->over_since[kind] == INSTANT_NEVER)
			self->over_since[kind] = now;
		return false;
	}
	self->tokens[kind] -= amount;
	/* A bucket half full again ends the run. */
	if (self->tokens[kind] >= self->rate[kind])
		self->over_since[kind] = INSTANT_NEVER;
	return true;
}

bool quota_exhausted(const struct quota *self, uint64_t now)
{
	for (int k = 0; k < QUOTA_KINDS; k++)
		if (self->over_since[k] != INSTANT_NEVER &&
		    now - self->over_since[k] > QUOTA_SUSTAINED_MS * NS_PER_MS)
			return true;
	return false;
}
