/* stats.h: counters and histograms that one thread writes and any thread may read.
 *
 * A histogram is log-linear: eight buckets per power of two, so a quantile is known to 12.5 % over
 * the whole range of 64 bits. It never allocates and never forgets; two readings can be subtracted.
 * Readers see each count whole, not all of them at one moment.
 */
#ifndef CAIRN_STATS_H
#define CAIRN_STATS_H

#include <stdatomic.h>

#include "server/base/base.h"

/* The phases of a world's tick, in the order they happen. */
enum tick_phase {
#define PHASE(NAME, name, text) PHASE_##NAME,
#include "server/tick/phases.def"
#undef PHASE
	PHASE_COUNT
};

/* The short name, as it stands in INFO. */
const char *tick_phase_name(enum tick_phase phase);

struct counter {
	_Atomic uint64_t value;
};

/* The writing thread only. */
static inline void counter_add(struct counter *self, uint64_t amount)
{
	uint64_t value = atomic_load_explicit(&self->value, memory_order_relaxed);
	atomic_store_explicit(&self->value, value + amount, memory_order_relaxed);
}

static inline uint64_t counter_read(const struct counter *self)
{
	return atomic_load_explicit(&self->value, memory_order_relaxed);
}

enum {
	HISTOGRAM_SUB_LOG2 = 3,
	HISTOGRAM_SUB = 1 << HISTOGRAM_SUB_LOG2,
	/* Values from 2⁴⁰ on (18 minutes in ns) share the last bucket. */
	HISTOGRAM_BUCKETS = (40 - HISTOGRAM_SUB_LOG2 + 1) * HISTOGRAM_SUB
};

/* All zero is empty. */
struct time_histogram {
	_Atomic uint32_t buckets[HISTOGRAM_BUCKETS];
	struct counter count;
	struct counter sum;
	struct counter max;
};

/* The writing thread only. */
void histogram_add(struct time_histogram *self, uint64_t value);
/* The least bound that at least `share` (0 … 1) of the values do not pass, at most 12.5 % over the
 * true one and never over the maximum; 0 when empty. */
uint64_t histogram_quantile(const struct time_histogram *self, double share);
double histogram_mean(const struct time_histogram *self);
/* No reader and no writer at the time. */
void histogram_reset(struct time_histogram *self);

/* Times of one world's ticks, in ns. Written by its worker. */
struct tick_stats {
	struct time_histogram phases[PHASE_COUNT];
	struct time_histogram lateness; /* start of a paced tick after its deadline */
	struct counter ticks;
	struct counter late;	/* by a period or more */
	struct counter dropped; /* ticks the clock dropped */
};

/* One line of `name=value` pairs for a log or INFO: count, mean, median, p99, max in µs. Returns
 * the length it would have, like snprintf. */
int histogram_print(const struct time_histogram *self, const char *name, char *text, size_t bytes);

#endif
