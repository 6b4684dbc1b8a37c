/* tick_costs.h: how long the ticks of a world took, as a histogram by powers of two.
 *
 * A mean hides the ticks that are late, and the largest says nothing of the others. Costs are counted
 * where ticks are made, because one report may stand for several ticks.
 */
#ifndef CAIRN_TICK_TICK_COSTS_H
#define CAIRN_TICK_TICK_COSTS_H

#include "server/base/base.h"

/* Bucket k counts costs of at most tick_costs_bound(k) and more than that of k − 1; the last one all
 * larger costs. */
enum { TICK_COST_BUCKETS = 20 };

struct tick_costs {
	uint64_t counts[TICK_COST_BUCKETS];
	uint64_t sum; /* ns */
};

/* ns: 4 µs · 2^bucket, UINT64_MAX for the last bucket. */
uint64_t tick_costs_bound(uint32_t bucket);
void tick_costs_add(struct tick_costs *self, uint64_t ns);
/* Adds the counts of `other`. */
void tick_costs_merge(struct tick_costs *self, const struct tick_costs *other);
uint64_t tick_costs_count(const struct tick_costs *self);
/* ns: the bound of the first bucket at which `permille` thousandths of all costs are reached; that of the
 * last but one for costs beyond it, 0 without costs. */
uint64_t tick_costs_quantile(const struct tick_costs *self, uint32_t permille);

#endif
