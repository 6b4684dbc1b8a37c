/* ledger.h: the command batches of one session in one world: the number that comes next, and the
 * results of the last WIRE_RESULTS_KEPT batches, so that a repeated batch is answered and not
 * applied twice.
 *
 *	number is     next    accepted; its RESULT follows
 *	              before  repeated: the stored RESULT is sent again; nothing is sent while the batch is
 *	                      pending; EXPIRED where the result is no longer stored
 *	              after   SEQUENCE: a number was left out (accepted after ledger_accept_gaps)
 */
#ifndef CAIRN_SESSION_LEDGER_H
#define CAIRN_SESSION_LEDGER_H

#include "protocol/result_wire.h"
#include "server/base/bytes.h"
#include "server/host/report.h"

struct ledger_entry {
	uint64_t batch; /* 0: empty */
	bool answered;
	struct bytes packed; /* the result, as an item of RESULT */
};

struct ledger {
	uint64_t last;		      /* highest number seen */
	bool gaps;		      /* of a session of the last daemon: numbers may be left out */
	uint64_t last_at;	      /* highest tick that a batch was dated for */
	struct ledger_entry *entries; /* ring of WIRE_RESULTS_KEPT; NULL until the first batch */
};

void ledger_release(struct ledger *self);

/* WAITING: the batch was accepted before and has no result yet. */
enum ledger_verdict { LEDGER_NEW, LEDGER_REPEATED, LEDGER_WAITING, LEDGER_REFUSED };
/* Decides what happens with a batch of that number, dated for tick `at` if `dated`. NEW: the number
 * is used up. REPEATED: *packed (borrowed) is its result. REFUSED: `why` is EXPIRED, SEQUENCE or
 * NO_MEMORY. */
enum ledger_verdict ledger_offer(struct ledger *self, uint64_t batch, bool dated, uint64_t at,
				 struct wire_slice *packed, struct reason *why);
/* Packs a result into the caller's buffer and stores a copy for repeats, while the batch is among
 * the last WIRE_RESULTS_KEPT. Without memory for the copy, a repeat will be answered EXPIRED. */
enum { LEDGER_RESULT_BYTES = 512 + 5 * WIRE_BATCH_MAX };
struct wire_slice ledger_answer(struct ledger *self, const struct wire_result *result,
				uint8_t packed[LEDGER_RESULT_BYTES]);
/* The session is of the last daemon, whose refusals and batches without durability are unknown here: every
 * number above the last is the next. */
void ledger_accept_gaps(struct ledger *self);
/* The last daemon had accepted that batch. */
void ledger_saw(struct ledger *self, uint64_t batch);
/* The last daemon, or a replay of its records, got that result. NO_MEMORY: a repeat is answered EXPIRED. */
enum status ledger_restore(struct ledger *self, const struct wire_result *result);
/* A new epoch has begun: batches may be dated for smaller ticks than before. */
void ledger_start_epoch(struct ledger *self);

#endif
