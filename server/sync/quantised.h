/* quantised.h: a view's columns as integers, for one of the profiles `view` and `sim`, with their
 * values at any recent serial.
 *
 * Beside each row of the view is its present quantised value. When a report changes it, the
 * previous value goes into a log; the row refers to its newest entry, and each entry to the next
 * older one. The value at serial b is in the oldest entry after b; if there is none, the present
 * value is valid. So a base costs a lookup for each row that is sent, however the rows were chosen,
 * and nothing is stored per client.
 *
 *	row 7:  now ──► entry 93 (before serial 12) ──► entry 61 (before serial 9) ──► older than the log
 *
 * The log reaches back WIRE_RING_TICKS serials, or fewer if they need more than
 * QUANTISED_LOG_BYTES: `floor` is the oldest base that it covers. Frames on older bases are
 * absolute. A row whose changes all vanish in rounding is not sent.
 *
 * Contacts (protocol/contacts.h) are never encoded relative to a base, so only their present bytes
 * and the serial of their last change are stored, and only while a subscription needs them in this
 * profile.
 *
 * Invariants: Q1 rows have the indices and ids of the view's rows. Q2 `now` is the result of
 * wire_quantise for the row. Q3 every change after `floor` is in the log. Q4 a stored share is that
 * of the row's present value.
 */
#ifndef CAIRN_SYNC_QUANTISED_H
#define CAIRN_SYNC_QUANTISED_H

#include "server/sync/view.h"

enum {
	QUANTISED_COLUMNS = 4,
	QUANTISED_PROFILES = 2,
	QUANTISED_LOG_BYTES = 32 << 20, /* of one profile of one world */
	QUANTISED_SHARES = 4,		/* field masks whose shares of hashes are stored */
};

struct quantised_row {
	struct wire_quantised now;
	uint32_t id;
	uint64_t last;			     /* newest entry of the log, 0 none */
	uint64_t changed[QUANTISED_COLUMNS]; /* serial, by column */
	uint64_t contacts_changed;	     /* serial */
	uint8_t *contacts;		     /* owned */
	uint32_t contact_bytes, contact_room;
};

struct quantised_entry {
	struct wire_quantised before;
	uint64_t serial; /* at which the value was replaced */
	uint64_t older;	 /* entry of the same row, 0 none */
};

/* Shares of view hashes over some fields, by row; 0: not known since the row changed. */
struct quantised_shares {
	wire_mask fields; /* 0: unused */
	uint64_t used;	  /* serial of the last use */
	uint32_t capacity;
	uint64_t *values; /* owned */
};

struct quantised {
	enum wire_profile profile;
	uint64_t serial; /* of the view that it matches; 0: none */
	uint64_t floor;
	uint32_t row_count, row_capacity;
	struct quantised_row *rows; /* owned */
	/* Owned ring. Entries are numbered from 1; entry n is at n % capacity, a power of two. */
	struct quantised_entry *log;
	uint64_t log_first, log_next;
	uint32_t log_capacity, log_max;
	struct quantised_shares shares[QUANTISED_SHARES];
	bool contacts;	 /* rows store contacts */
	uint8_t *packed; /* owned; scratch for one value */
	uint32_t packed_room;
};

void quantised_init(struct quantised *self, enum wire_profile profile);
void quantised_release(struct quantised *self);
/* Updates to the view's serial, from the last report or from scratch, with contacts or without.
 * NO_MEMORY: it is empty until the next call. */
MUST_CHECK enum status quantised_follow(struct quantised *self, const struct view *view,
					bool contacts);

/* Makes rows collected from the view (view_collect, or by area) rows of this profile: their present
 * values and their bases; columns whose change rounding hides are removed from the masks, and rows
 * without a change are dropped. Sets delta->absolute when `base` (0 for a SNAPSHOT) is older than
 * the log. */
void quantised_refine(const struct quantised *self, const struct view *view, uint64_t base,
		      struct view_delta *delta);
/* View hash over all rows, for a subscription to the whole world. */
uint64_t quantised_hash(struct quantised *self, const struct view *view, wire_mask fields);
/* A row's share of a view hash; recomputed only where the row has changed. */
uint64_t quantised_share(struct quantised *self, const struct view *view, uint32_t row,
			 wire_mask fields);

#endif
