/* See instant.h. */
#include "server/io/instant.h"

#include <time.h>

static uint64_t read_clock(clockid_t clock)
{
	struct timespec time;
	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}

uint64_t instant_now(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t instant_used(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}
