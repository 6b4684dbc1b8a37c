/* gen_reports.h: TICK reports of a make-believe world, for all who read them without an engine.
 *
 * Bodies come, go and change at random, as a host would report it; the full state is kept beside, so that an
 * oracle can look at it. Every report's tick hash is the right one. */
#ifndef CAIRN_TESTS_GEN_REPORTS_H
#define CAIRN_TESTS_GEN_REPORTS_H

#include "protocol/columns.h"
#include "server/base/rng.h"
#include "server/host/report.h"

enum { GEN_BODIES_MAX = 400 };

struct gen_reports {
	struct rng rng;
	uint64_t tick;
	uint32_t epoch, next_id, count;
	/* Ascending; no shapes; contacts stay as long as the program. */
	struct wire_body bodies[GEN_BODIES_MAX];
	uint32_t changes, births, deaths; /* of hundred bodies a tick, at most so many */
	bool contacts;			  /* told in every report, and changing */
};

void gen_reports_init(struct gen_reports *gen, uint64_t seed);
/* Moves on by a tick and reports it; returned owned (report_destroy). */
struct report *gen_reports_next(struct gen_reports *gen);
/* The state as it stands, as a whole report: the first, after a loss, or (new_epoch) after a restore. */
struct report *gen_reports_whole(struct gen_reports *gen, bool new_epoch);
/* Control alone. */
struct report *gen_reports_control(struct gen_reports *gen);
uint64_t gen_reports_hash(const struct gen_reports *gen);

#endif
