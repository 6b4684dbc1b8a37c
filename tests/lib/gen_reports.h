/* gen_reports.h: TICK reports of an imaginary world, for tests of readers without an engine.
 *
 * Bodies appear, disappear and change at random, as a host would report it; the full state is kept
 * for comparison. Every report has the correct tick hash. */
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
	/* Ascending ids; no shapes; contacts are valid until the program ends. */
	struct wire_body bodies[GEN_BODIES_MAX];
	uint32_t changes, births, deaths; /* at most, per hundred bodies and tick */
	bool contacts;			  /* included in every report, and changing */
};

void gen_reports_init(struct gen_reports *gen, uint64_t seed);
/* Advances by a tick and reports it; returned owned (report_destroy). */
struct report *gen_reports_next(struct gen_reports *gen);
/* The present state as a whole report: the first one, one after a loss, or (new_epoch) after a
 * restore. */
struct report *gen_reports_whole(struct gen_reports *gen, bool new_epoch);
/* A report of the control state alone. */
struct report *gen_reports_control(struct gen_reports *gen);
uint64_t gen_reports_hash(const struct gen_reports *gen);

#endif
