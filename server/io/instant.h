/* instant.h: the unit of time of io and tick.
 *
 * An instant is a uint64_t count of nanoseconds of a monotonic clock with an arbitrary origin (the
 * machine's CLOCK_MONOTONIC, or the virtual clock of a simulation). The wire uses microseconds; the
 * conversion is made where a message is packed. Instants decide when work is done and are never
 * part of a world's state.
 */
#ifndef CAIRN_IO_INSTANT_H
#define CAIRN_IO_INSTANT_H

#include <stdint.h>

/* Later than every instant: nothing is due. */
#define INSTANT_NEVER UINT64_MAX

#define NS_PER_US UINT64_C(1000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)

/* The machine's clock, for implementations and measurements; other code calls io_now. */
uint64_t instant_now(void);
/* Processor time the calling thread has used, in ns. */
uint64_t instant_used(void);

#endif
