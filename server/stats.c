/* See stats.h. */
#include "server/stats.h"

#include <stdio.h>

const char *tick_phase_name(enum tick_phase phase)
{
	static const char *const NAMES[PHASE_COUNT] = {
#define PHASE(NAME, name, text) #name,
#include "server/tick/phases.def"
#undef PHASE
	};
	return NAMES[phase];
}

/* Values under 8 have a bucket each; from there, the top bit chooses the group of eight and the
 * next three bits the bucket in it. */
static uint32_t bucket_of(uint64_t value)
{
	if (value < HISTOGRAM_SUB)
		return (uint32_t)value;
	uint32_t top = 63 - (uint32_t)__builtin_clzll(value);
	uint32_t group = top - HISTOGRAM_SUB_LOG2;
	uint32_t bucket = group * HISTOGRAM_SUB + (uint32_t)(value >> group);
	return MIN_OF(bucket, HISTOGRAM_BUCKETS - 1);
}

/* The greatest value of a bucket. */
static uint64_t bucket_bound(uint32_t bucket)
{
	if (bucket < HISTOGRAM_SUB)
		return bucket;
	uint32_t group = bucket / HISTOGRAM_SUB - 1;
	uint64_t low = (uint64_t)(bucket % HISTOGRAM_SUB + HISTOGRAM_SUB) << group;
	return low + (UINT64_C(1) << group) - 1;
}

void histogram_add(struct time_histogram *self, uint64_t value)
{
	_Atomic uint32_t *bucket = &self->buckets[bucket_of(value)];
	uint32_t count = atomic_load_explicit(bucket, memory_order_relaxed);
	atomic_store_explicit(bucket, count + 1, memory_order_relaxed);
	counter_add(&self->count, 1);
	counter_add(&self->sum, value);
	if (value > counter_read(&self->max))
		atomic_store_explicit(&self->max.value, value, memory_order_relaxed);
}

uint64_t histogram_quantile(const struct time_histogram *self, double share)
{
	uint64_t count = counter_read(&self->count), max = counter_read(&self->max), below = 0;
	/* A whole rank may come out a rounding error above itself: half a value less is the same
	 * rank and not in danger. */
	double wanted = share * (double)count - 0.5;
	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		below += atomic_load_explicit(&self->buckets[i], memory_order_relaxed);
		if (below > 0 && (double)below >= wanted)
			return i == HISTOGRAM_BUCKETS - 1 ? max : MIN_OF(bucket_bound(i), max);
	}
	return max;
}

double histogram_mean(const struct time_histogram *self)
{
	uint64_t count = counter_read(&self->count);
	return count > 0 ? (double)counter_read(&self->sum) / (double)count : 0;
}

void histogram_reset(struct time_histogram *self)
{
	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		atomic_store_explicit(&self->buckets[i], 0, memory_order_relaxed);
	atomic_store_explicit(&self->count.value, 0, memory_order_relaxed);
	atomic_store_explicit(&self->sum.value, 0, memory_order_relaxed);
	atomic_store_explicit(&self->max.value, 0, memory_order_relaxed);
}

int histogram_print(const struct time_histogram *self, const char *name, char *text, size_t bytes)
{
	return snprintf(text, bytes,
			"%s_count=%llu %s_mean_us=%.1f %s_p50_us=%.1f %s_p99_us=%.1f "
			"%s_max_us=%.1f",
			name, (unsigned long long)counter_read(&self->count), name,
			histogram_mean(self) / 1e3, name,
			(double)histogram_quantile(self, 0.50) / 1e3, name,
			(double)histogram_quantile(self, 0.99) / 1e3, name,
			(double)counter_read(&self->max) / 1e3);
}
