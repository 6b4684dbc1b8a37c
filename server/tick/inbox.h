/* inbox.h: the batches that wait for the next tick boundary of one world, in the order of application.
 *
 * The loop thread puts batches, the world's worker takes all of them at the boundary. The order is
 * (session, batch), never that of arrival: two runs that deliver the same batches before the same tick
 * apply them alike, whatever the network did. Entries and bytes are bounded; a full inbox refuses the
 * new batch with BUSY.
 */
#ifndef CAIRN_TICK_INBOX_H
#define CAIRN_TICK_INBOX_H

#include "server/base/base.h"
#include "server/base/status.h"

struct inbox;

struct inbox_entry {
	uint64_t session;
	uint64_t batch; /* numbered per session and world */
	void *payload;	/* owned by the caller; not read */
	uint32_t bytes; /* counted against inbox_limits.bytes */
};

struct inbox_limits {
	uint32_t entries;
	uint64_t bytes;
};

struct inbox_counters {
	uint64_t accepted, refused;
	uint32_t entries; /* waiting now */
	uint64_t bytes;
};

typedef void inbox_drop(void *payload, void *context);

MUST_CHECK enum status inbox_create(const struct inbox_limits *limits, struct inbox **out);
/* Passes each waiting payload to `drop` (may be NULL). */
void inbox_destroy(struct inbox *inbox, inbox_drop *drop, void *context);

/* Any thread. `payload` is taken on OK, stays the caller's otherwise. BUSY when full; SEQUENCE when
 * the same (session, batch) already waits; NO_MEMORY. */
MUST_CHECK enum status inbox_put(struct inbox *inbox, uint64_t session, uint64_t batch,
				 void *payload, uint32_t bytes);
/* The world's worker: everything that waits, ascending by (session, batch). The array is borrowed
 * until the next take; the payloads are returned owned. NULL and 0 when nothing waits. Allocates
 * nothing. */
const struct inbox_entry *inbox_take(struct inbox *inbox, uint32_t *count);
/* True: a batch of that session waits. */
bool inbox_has(struct inbox *inbox, uint64_t session);
void inbox_counters(struct inbox *inbox, struct inbox_counters *out);

#endif
