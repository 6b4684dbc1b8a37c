/* clock.h: when tick n is due. Pure: instants are arguments and results; no clock is read.
 *
 * deadline(n) = start + ⌊n · den · 10⁹ · 1000 / (num · speed)⌋ in whole nanoseconds, by 128-bit
 * integers from n itself, so the long-run rate is exact: no periods are summed, and at 60 Hz every
 * sixtieth deadline lies exactly on a second (network 5.4 measures the drift of summed or rounded
 * periods).
 */
#ifndef CAIRN_TICK_CLOCK_H
#define CAIRN_TICK_CLOCK_H

#include "server/base/base.h"
#include "server/io/instant.h"

/* Ticks per second as a fraction: {60, 1}, {30000, 1001}, {1, 10}. */
struct tick_rate {
	uint32_t num; /* 1 … TICK_RATE_MAX */
	uint32_t den; /* 1 … TICK_RATE_MAX */
};

enum {
	TICK_RATE_MAX = 1000000,
	TICK_SPEED_NORMAL = 1000, /* thousandths: world time per wall time */
	TICK_SPEED_MAX = 100000
};

struct tick_clock {
	uint64_t start; /* the instant of its tick 0 */
	struct tick_rate rate;
	uint32_t speed; /* 1 … TICK_SPEED_MAX */
};

/* Both parts in range and at most 10⁴ ticks per second at normal speed. */
bool tick_rate_valid(struct tick_rate rate);
/* One period at normal speed, rounded down, ≥ 1 ns. */
uint64_t tick_rate_period(struct tick_rate rate);

/* The instant of tick n; INSTANT_NEVER if it lies beyond the clock's end (584 years). */
uint64_t tick_clock_deadline(const struct tick_clock *self, uint64_t n);
/* The greatest n whose deadline is at or before `now`. `now` ≥ start. */
uint64_t tick_clock_index(const struct tick_clock *self, uint64_t now);

#endif
