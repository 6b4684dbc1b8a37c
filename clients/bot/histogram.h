/* histogram.h: counts of durations in microseconds, in 16 bins for each power of two, so that
 * quantiles are at most 7 % too large. */
#ifndef CAIRN_CLIENTS_BOT_HISTOGRAM_H
#define CAIRN_CLIENTS_BOT_HISTOGRAM_H

#include "server/base/base.h"

enum { HISTOGRAM_STEPS = 16, HISTOGRAM_POWERS = 40 };

struct latency_histogram {
	uint64_t count, max; /* largest value, µs, exactly */
	double sum;
	uint64_t bins[HISTOGRAM_POWERS * HISTOGRAM_STEPS];
};

void histogram_add(struct latency_histogram *self, uint64_t us);
void histogram_merge(struct latency_histogram *self, const struct latency_histogram *from);
/* The quantile `part` (0 … 1): the upper end of its bin, at most `max`; 0 if the histogram is empty. */
uint64_t histogram_at(const struct latency_histogram *self, double part);

#endif
