/* See clock.h. */
#include "server/tick/clock.h"

/* deadline(n) − start = ⌊n · D / N⌋ with D = den · 10⁹ · 1000 ≤ 10¹⁸ and N = num · speed ≤ 10¹¹:
 * with n < 2⁶⁴ the product stays under 2¹²⁴. */
typedef unsigned __int128 wide;

static wide numerator(const struct tick_clock *self)
{
	return (wide)self->rate.den * NS_PER_S * TICK_SPEED_NORMAL;
}

static wide denominator(const struct tick_clock *self)
{
	return (wide)self->rate.num * self->speed;
}

bool tick_rate_valid(struct tick_rate rate)
{
	if (rate.num < 1 || rate.num > TICK_RATE_MAX)
		return false;
	if (rate.den < 1 || rate.den > TICK_RATE_MAX)
		return false;
	return rate.num / rate.den < 10000 || rate.num == 10000 * (uint64_t)rate.den;
}

uint64_t tick_rate_period(struct tick_rate rate)
{
	ASSERT(tick_rate_valid(rate));
	return rate.den * NS_PER_S / rate.num;
}

uint64_t tick_clock_deadline(const struct tick_clock *self, uint64_t n)
{
	wide offset = n * numerator(self) / denominator(self);
	wide deadline = self->start + offset;
	return deadline < INSTANT_NEVER ? (uint64_t)deadline : INSTANT_NEVER;
}

/* ⌊n·D/N⌋ ≤ e  ⇔  n·D < (e+1)·N  ⇔  n ≤ ((e+1)·N − 1) / D. */
uint64_t tick_clock_index(const struct tick_clock *self, uint64_t now)
{
	ASSERT(now >= self->start);
	wide elapsed = now - self->start;
	return (uint64_t)(((elapsed + 1) * denominator(self) - 1) / numerator(self));
}
