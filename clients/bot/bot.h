/* bot.h: cairn-bot: many sessions in one process, to load a server and to measure its latency and
 * losses.
 *
 *	options ──► network (optional relay: delay, jitter, stalls, half-open) ──► cairnd
 *	        ├─► fleet: players, observers, stallers; one thread, poll(2)
 *	        └─► liars: in a thread of their own, because their calls block
 *	        └─► report: histograms, counts, thresholds; text and JSON
 *
 * The actions of a bot depend only on --seed and its number; what it receives also depends on timing.
 */
#ifndef CAIRN_CLIENTS_BOT_BOT_H
#define CAIRN_CLIENTS_BOT_BOT_H

#include "clients/bot/histogram.h"
#include "protocol/message.h"
#include "server/base/rng.h"

enum bot_kind { BOT_PLAYER, BOT_OBSERVER, BOT_STALLER, BOT_LIAR, BOT_KINDS };
extern const char *const BOT_KIND_NAMES[BOT_KINDS];

enum { BOT_SESSIONS_MAX = 4096 };

struct bot_options {
	const char *address, *world, *json; /* `json`: file of the report, or NULL */
	uint32_t count[BOT_KINDS];
	uint64_t seed;
	double seconds;
	double commands; /* batches a second of each player */
	enum wire_profile profile;
	/* The network between bots and server; all 0: none. */
	struct {
		uint32_t delay_ms, jitter_ms; /* each way; jitter keeps the order of bytes */
		uint32_t stall_ms, stall_every_ms;
		uint32_t half_open_s; /* a connection carries nothing after this time, and
					 stays open */
	} network;
	/* Thresholds; 0: none. */
	struct {
		uint32_t latency_p99_ms, lateness_p99_ms;
		double late; /* share of frames that may be more than a tick late, 0 … 1 */
	} limit;
};

/* Counts and histograms over all sessions of one kind. */
struct tally {
	uint32_t sessions;
	uint64_t frames, bodies;    /* frames applied whole; bodies in the last of each session */
	uint64_t batches, refused;  /* batches answered; of these refused */
	uint64_t skipped, lost;	    /* frames and events that NOTICE reported */
	uint64_t diverged, resyncs; /* mirrors whose hash differed from the server's */
	uint64_t ended;		    /* connections the server ended */
	uint64_t lies, tolerated;   /* hostile inputs sent; of these answered, not closed on */
	uint64_t late;		    /* frames later than one tick */
	uint64_t catch_ups;	    /* stalls after which the newest tick came */
	struct latency_histogram latency;  /* batch sent → result, µs */
	struct latency_histogram lateness; /* delay of a frame beyond the run's least delay, µs */
	struct latency_histogram
		catch_up; /* start of reading → first frame of a tick that had not ended then, µs */
};

MUST_CHECK enum status bot_options_parse(struct bot_options *options, int argc, char *const argv[],
					 struct reason *why);
void bot_usage(void);
/* The i-th option, for usages and manuals; false: there are no more. */
struct bot_option {
	const char *name, *argument, *help;
};
bool bot_option(uint32_t index, struct bot_option *out);

/* The monotonic clock, µs. */
uint64_t bot_now(void);

/* Connects all sessions and runs them for options->seconds. Fails if a session cannot connect, join
 * or subscribe. */
MUST_CHECK enum status fleet_run(const struct bot_options *options, struct tally tally[BOT_KINDS],
				 struct reason *why);

/* Starts a thread that holds hostile conversations, options->count[BOT_LIAR] in each round, until
 * liars_stop. Until then only this thread may write `tally`. *out is NULL if there are no liars. */
struct liars;
MUST_CHECK enum status liars_start(const struct bot_options *options, struct tally *tally,
				   struct liars **out, struct reason *why);
void liars_stop(struct liars *self); /* NULL is ignored */

/* Prints the report. True if no threshold was exceeded and no mirror diverged. */
bool report_print(const struct bot_options *options, const struct tally tally[BOT_KINDS]);
/* Writes options->json. IO. */
MUST_CHECK enum status report_json(const struct bot_options *options,
				   const struct tally tally[BOT_KINDS], bool passed,
				   struct reason *why);

#endif
