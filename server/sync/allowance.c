/* See allowance.h. */
#include "server/sync/allowance.h"

#include <string.h>

static double add_tokens(double tokens, double rate, double seconds)
{
	return MIN_OF(tokens + rate * seconds, rate * (ALLOWANCE_BURST_MS / 1000.0));
}

/* Seconds since the last refill; 0 where `now` was read before it. */
static double seconds_since(uint64_t *filled_at, uint64_t now)
{
	if (now <= *filled_at)
		return 0;
	double seconds = (double)(now - *filled_at) / (double)NS_PER_S;
	*filled_at = now;
	return seconds;
}

void allowance_pool_init(struct allowance_pool *self, double rate, uint64_t now)
{
	*self = (struct allowance_pool){ .rate = rate, .filled_at = now };
	self->tokens = add_tokens(rate, rate / 2, 0);
}

void allowance_init(struct allowance *self, struct allowance_pool *pool, double rate, uint64_t now)
{
	pool->members++;
	*self = (struct allowance){ .pool = pool, .rate = rate, .filled_at = now };
	self->tokens = add_tokens(rate, rate, 0);
	self->share = add_tokens(rate, pool->rate / 2 / pool->members, 0);
}

void allowance_release(struct allowance *self)
{
	if (self->pool != NULL)
		self->pool->members--;
	self->pool = NULL;
}

static void refill_buckets(struct allowance *self, uint64_t now)
{
	struct allowance_pool *pool = self->pool;
	double half = pool->rate / 2;
	double seconds = seconds_since(&self->filled_at, now);
	self->tokens = add_tokens(self->tokens, self->rate, seconds);
	self->share = add_tokens(self->share, half / MAX_OF(pool->members, 1u), seconds);
	pool->tokens = add_tokens(pool->tokens, half, seconds_since(&pool->filled_at, now));
}

double allowance_left(struct allowance *self, uint64_t now)
{
	if (self == NULL || self->pool == NULL)
		return 1e300;
	refill_buckets(self, now);
	double role = MAX_OF(self->share, 0.0) + MAX_OF(self->pool->tokens, 0.0);
	return MAX_OF(MIN_OF(self->tokens, role), 0.0);
}

bool allowance_permits(struct allowance *self, uint64_t now)
{
	return allowance_left(self, now) > 0;
}

bool allowance_is_far_over(const struct allowance *self)
{
	return self != NULL && self->pool != NULL &&
	       self->tokens < -self->rate * (ALLOWANCE_BURST_MS / 1000.0);
}

/* Refunds to the share up to its size and the rest to the pool, in the order in which it was
 * charged. */
static void refund(struct allowance *self, double changes)
{
	struct allowance_pool *pool = self->pool;
	double half = pool->rate / 2;
	double full =
		add_tokens(half / MAX_OF(pool->members, 1u), half / MAX_OF(pool->members, 1u), 0);
	double own = MIN_OF(MAX_OF(full - self->share, 0.0), changes);
	self->tokens = add_tokens(self->tokens + changes, self->rate, 0);
	self->share += own;
	pool->tokens = add_tokens(pool->tokens + changes - own, half, 0);
	pool->spent -= (uint64_t)changes;
}

void allowance_spend(struct allowance *self, double changes)
{
	if (self == NULL || self->pool == NULL)
		return;
	if (changes < 0) {
		refund(self, -changes);
		return;
	}
	self->tokens -= changes;
	self->pool->spent += (uint64_t)changes;
	/* The share is charged first, then the pool as far as it has tokens; the rest overdraws the
	 * share. */
	double own = MIN_OF(MAX_OF(self->share, 0.0), changes);
	self->share -= own;
	double rest = changes - own;
	double common = MIN_OF(MAX_OF(self->pool->tokens, 0.0), rest);
	self->pool->tokens -= common;
	self->share -= rest - common;
}
