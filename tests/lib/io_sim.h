/* io_sim.h: the simulated twin of io.h and executor.h: everything from one seed, in one thread.
 *
 * A virtual clock jumps from event to event. Hosts are loops (`struct io`) joined by a network with
 * delays, a bounded kernel buffer per direction, short writes and short reads at any byte; peers
 * can vanish silently, reset, or stop reading. Host 0 is the daemon's; the threads of its executor
 * run in turns with hand-over delays drawn from the seed, so another seed gives another
 * interleaving. Two runs with the same seed and the same program are equal, event by event.
 *
 * Faithful to TCP where it matters to the daemon: an accepted write says nothing about the peer; a
 * close with unread bytes is a reset; a half-open peer is noticed only by bytes sent to it that are
 * not acknowledged for user_timeout_ms; a paused reader fills its sender's buffers. */
#ifndef CAIRN_TESTS_IO_SIM_H
#define CAIRN_TESTS_IO_SIM_H

#include "server/io/executor.h"
#include "server/io/io.h"

enum { IO_SIM_HOSTS_MAX = 256 };
/* io_wall_s at instant 0. */
#define IO_SIM_EPOCH_S UINT64_C(1700000000)

struct io_sim;

struct io_sim_options {
	uint64_t seed;
	uint64_t delay_min, delay_max; /* ns, one way */
	uint32_t kernel_bytes;	       /* per direction: accepted and not yet read */
	uint32_t torn;		       /* thousandths of reads and writes that are cut */
	uint32_t reset;		       /* millionths of arrivals that find the connection reset */
	uint64_t hand_off_max;	       /* ns from a post or wakeup to its turn */
	uint64_t alarm_late_max;       /* ns an alarm or timer is late */
	struct io_limits limits;       /* of every host */
	struct executor_options executor;
	bool quiet; /* do not print the seed */
};

/* Delays of 20 µs to 2 ms, 172 544 bytes (network 5.5), half of all reads and writes torn, no
 * resets, hand-over up to 100 µs, alarms up to 50 µs late; two workers, four step workers. */
struct io_sim_options io_sim_options_default(uint64_t seed);

/* Prints "# io_sim seed N" first. Returned owned. */
MUST_CHECK enum status io_sim_create(const struct io_sim_options *options, struct io_sim **out);
/* Open streams get their `closed`; then all memory is freed, hosts and executor included
 * (executor_destroy need not have been called). */
void io_sim_destroy(struct io_sim *sim);

/* Host `index`, created on first use; 0 is the executor's LOOP. Borrowed. */
struct io *io_sim_host(struct io_sim *sim, uint32_t index);
struct executor *io_sim_executor(struct io_sim *sim);
/* After executor_stop: resets its threads to the state before executor_start, for another daemon. */
void io_sim_executor_anew(struct io_sim *sim);
uint64_t io_sim_now(const struct io_sim *sim);

/* Runs the next event. False: there is none. */
bool io_sim_step(struct io_sim *sim);
/* Runs all events up to that instant; the clock then shows it. */
void io_sim_run_until(struct io_sim *sim, uint64_t instant);
/* Runs until `done(context)`; false if `limit` is reached or no event is left before it. */
MUST_CHECK bool io_sim_run_for(struct io_sim *sim, bool (*done)(void *context), void *context,
			       uint64_t limit);

/* Called by the current event: it takes `ns` more. Its clock advances, and other events of its
 * thread wait longer; other threads are not delayed. */
void io_sim_spend(struct io_sim *sim, uint64_t ns);
/* Delivers a signal to a host that called io_set_signals. */
void io_sim_signal(struct io *host, int signal);

/* Faults; `stream` belongs to the host that is affected. */
/* The process of its owner stops reading (true) or reads again (false): bytes fill first the buffer
 * towards it, then that of the sender. */
void io_sim_stall(struct stream *stream, bool stalled);
/* The host's cable is cut: this end is closed (CLOSED), and the other end receives nothing. */
void io_sim_vanish(struct stream *stream);
/* Both ends are reset. */
void io_sim_reset(struct stream *stream);
/* Bytes in transit or in buffers towards the stream's peer. */
size_t io_sim_in_kernel(const struct stream *stream);

uint64_t io_sim_events(const struct io_sim *sim);
/* A hash of all events: instants, actors, order. */
uint64_t io_sim_trace(const struct io_sim *sim);

#endif
