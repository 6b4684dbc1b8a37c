/* See tick_costs.h. */
#include "server/tick/tick_costs.h"

#include "server/io/instant.h"

#define FIRST_BOUND (4 * NS_PER_US)

uint64_t tick_costs_bound(uint32_t bucket)
{
	ASSERT(bucket < TICK_COST_BUCKETS);
	return bucket + 1 < TICK_COST_BUCKETS ? FIRST_BOUND << bucket : UINT64_MAX;
}

void tick_costs_add(struct tick_costs *self, uint64_t ns)
{
	uint32_t bucket = 0;
	while (ns > tick_costs_bound(bucket))
		bucket++;
	self->counts[bucket]++;
	self->sum += ns;
}

void tick_costs_merge(struct tick_costs *self, const struct tick_costs *other)
{
	for (uint32_t i = 0; i < TICK_COST_BUCKETS; i++)
		self->counts[i] += other->counts[i];
	self->sum += other->sum;
}

uint64_t tick_costs_count(const struct tick_costs *self)
{
	uint64_t count = 0;
	for (uint32_t i = 0; i < TICK_COST_BUCKETS; i++)
		count += self->counts[i];
	return count;
}

uint64_t tick_costs_quantile(const struct tick_costs *self, uint32_t permille)
{
	ASSERT(permille <= 1000);
	uint64_t count = tick_costs_count(self), seen = 0;
	/* The least number of costs that is at least the share, without overflow. */
	uint64_t wanted = count / 1000 * permille + (count % 1000 * permille + 999) / 1000;
	uint32_t bucket = 0;
	if (count == 0)
		return 0;
	while (bucket + 2 < TICK_COST_BUCKETS && (seen += self->counts[bucket]) < wanted)
		bucket++;
	return tick_costs_bound(bucket);
}
