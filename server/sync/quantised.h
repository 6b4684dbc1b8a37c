/* quantised.h: a view's columns as integers, for one of the profiles `view` and `sim`, with what
 * they were at any recent serial.
 *
 * Beside each row of the view stands what it shows now. When a report changes that, what was shown
 * before goes into a log, and the row's newest entry points to its older ones: the value at serial
 * b is in the oldest entry behind b, and where there is none it is the present one. So a base costs
 * a lookup for each row that is sent, however the rows were chosen; nothing is kept per client.
 *
 *	row 7:  now ──► entry 93 (before serial 12) ──► entry 61 (before serial 9) ──► older than the log
 *
 * The log reaches back WIRE_RING_TICKS serials, less where QUANTISED_LOG_BYTES end first: `floor`
 * is the oldest base it knows. Frames on older ones are absolute. A change that is lost in rounding
 * is none: such rows are not sent.
 *
 * Contacts (protocol/contacts.h) never stand on another tick, so only what they are now is kept,
 * and when that was last another: while anybody asks for them in this profile.
 *
 * Invariants: Q1 rows stand as the view's do, the same ids. Q2 `now` is what wire_quantise makes of
 * the row. Q3 every change behind `floor` is in the log. Q4 a share that is known is that of the
 * row as it is.
 */
#ifndef CAIRN_SYNC_QUANTISED_H
#define CAIRN_SYNC_QUANTISED_H

#include "server/sync/view.h"

enum {
	QUANTISED_COLUMNS = 4,
	QUANTISED_PROFILES = 2,
	QUANTISED_LOG_BYTES = 32 << 20, /* of one profile of one world */
	QUANTISED_SHARES = 4,		/* choices of fields whose hashes are remembered */
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
	uint64_t serial; /* at which it ceased to be so */
	uint64_t older;	 /* entry of the same row, 0 none */
};

/* Shares of view hashes over some fields, by row; 0: not known since the row changed. */
struct quantised_shares {
	wire_mask fields; /* 0: nobody's */
	uint64_t used;	  /* serial at which they were last asked for */
	uint32_t capacity;
	uint64_t *values; /* owned */
};

struct quantised {
	enum wire_profile profile;
	uint64_t serial; /* of the view it goes with; 0: it does not */
	uint64_t floor;
	uint32_t row_count, row_capacity;
	struct quantised_row *rows; /* owned */
	/* Owned ring. Entries are numbered from 1; number n stands at n % capacity, a power of two. */
	struct quantised_entry *log;
	uint64_t log_first, log_next;
	uint32_t log_capacity, log_max;
	struct quantised_shares shares[QUANTISED_SHARES];
	bool contacts;	 /* rows have them */
	uint8_t *packed; /* owned: one value in the making */
	uint32_t packed_room;
};

void quantised_init(struct quantised *self, enum wire_profile profile);
void quantised_release(struct quantised *self);
/* Follows the view after each of its reports, or from anew, with contacts or without. NO_MEMORY: it
 * is empty, until next time. */
MUST_CHECK enum status quantised_follow(struct quantised *self, const struct view *view,
					bool contacts);

/* What the row showed at serial `base`, which is not below `floor` and not before the row was made. */
const struct wire_quantised *quantised_at(const struct quantised *self, uint32_t row,
					  uint64_t base);
/* Makes rows collected from the view (view_collect, or by area) rows of this profile: what they
 * show, what they stand on, and in their masks nothing that rounding hides; rows without a change
 * are dropped. Sets delta->absolute when `base` (0 for a SNAPSHOT) is older than the log. */
void quantised_refine(const struct quantised *self, const struct view *view, uint64_t base,
		      struct view_delta *delta);
/* Of all rows; the view hash of a subscription that sees the whole world. */
uint64_t quantised_hash(struct quantised *self, const struct view *view, wire_mask fields);
/* A row's share of a view hash; made anew only where the row has changed. */
uint64_t quantised_share(struct quantised *self, const struct view *view, uint32_t row,
			 wire_mask fields);
/* The index of a row of the view from its body. */
uint32_t quantised_row_of(const struct view *view, const struct wire_body *body);

#endif
