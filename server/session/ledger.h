/* ledger.h: the batches of one session in one world: which number comes next, and what became of the
 * last WIRE_RESULTS_KEPT, so that a repeated batch is answered and not done twice.
 *
 *	next    accepted: waits for its RESULT
 *	before  repeated: the kept RESULT is sent again; still waiting: nothing; no longer kept: EXPIRED
 *	after   SEQUENCE: a number was left out
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
	uint64_t last_at;	      /* highest tick asked for */
	struct ledger_entry *entries; /* ring of WIRE_RESULTS_KEPT; NULL until the first batch */
};

void ledger_release(struct ledger *self);

enum ledger_verdict { LEDGER_NEW, LEDGER_REPEATED, LEDGER_WAITING, LEDGER_REFUSED };
/* What to do with a batch of that number, for tick `at` where it is `dated`, else for the next.
 * REPEATED: *packed (borrowed) is its result. REFUSED: `why` is EXPIRED, SEQUENCE or NO_MEMORY.
 * NEW: the number is used up. */
enum ledger_verdict ledger_offer(struct ledger *self, uint64_t batch, bool dated, uint64_t at,
				 struct wire_slice *packed, struct reason *why);
/* Packs a result into the caller's room and keeps a copy for repeats, while the batch is among the last.
 * Where there is no memory for the copy, a repeat will be answered EXPIRED. */
enum { LEDGER_RESULT_BYTES = 512 + 5 * WIRE_BATCH_MAX };
struct wire_slice ledger_answer(struct ledger *self, const struct wire_result *result,
				uint8_t packed[LEDGER_RESULT_BYTES]);
/* Another epoch has begun: ticks may be smaller than those asked for before. */
void ledger_new_epoch(struct ledger *self);

#endif
