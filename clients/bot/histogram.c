/* See histogram.h. A quantile is found by summing the bins from below. */
#include "clients/bot/histogram.h"

/* Values below 16 have a bin each; above, the four bits after the leading one choose the bin of the
 * power. */
static uint32_t bin_of(uint64_t us)
{
	if (us < HISTOGRAM_STEPS)
		return (uint32_t)us;
	uint32_t power = 63u - (uint32_t)__builtin_clzll(us);
	uint32_t bin = (power - 3) * HISTOGRAM_STEPS + (uint32_t)(us >> (power - 4) & 15);
	return MIN_OF(bin, (uint32_t)COUNT_OF(((struct latency_histogram *)0)->bins) - 1);
}

/* The largest value of a bin. */
static uint64_t top_of(uint32_t bin)
{
	if (bin < HISTOGRAM_STEPS)
		return bin;
	uint32_t power = bin / HISTOGRAM_STEPS + 3, step = bin % HISTOGRAM_STEPS;
	return ((uint64_t)(HISTOGRAM_STEPS + step + 1) << (power - 4)) - 1;
}

void histogram_add(struct latency_histogram *self, uint64_t us)
{
	self->count++;
	self->sum += (double)us;
	self->max = MAX_OF(self->max, us);
	self->bins[bin_of(us)]++;
}

void histogram_merge(struct latency_histogram *self, const struct latency_histogram *from)
{
	self->count += from->count;
	self->sum += from->sum;
	self->max = MAX_OF(self->max, from->max);
	for (uint32_t i = 0; i < COUNT_OF(self->bins); i++)
		self->bins[i] += from->bins[i];
}

uint64_t histogram_at(const struct latency_histogram *self, double part)
{
	uint64_t before = 0;
	for (uint32_t i = 0; i < COUNT_OF(self->bins); i++) {
		before += self->bins[i];
		if (before > 0 && (double)before >= part * (double)self->count)
			return MIN_OF(top_of(i), self->max);
	}
	return 0;
}
