/* view.h: the loop thread's mirror of a world's visible state, with enough history to find the
 * changes since any recent frame.
 *
 * Rows ascend by id: ids are monotone within an epoch, so a new body is always appended. A removed
 * body leaves a dead row until the next compaction. Each applied report is a *serial* (1, 2, …);
 * the engine's tick is not enough, because it does not move on control reports and goes back on
 * RESTORE. For the last WIRE_RING_TICKS serials the changed rows are stored, for every row the
 * serial at which each column last changed and at which it was created, and a log of the last
 * VIEW_REMOVALS_MAX removals.
 *
 *	base within the ring      cost = rows that changed since           (DELTA)
 *	base within the log       cost = one pass over all rows            (DELTA, absolute)
 *	older, or other epoch     every row                                (SNAPSHOT)
 *
 * Invariants: V1 rows[i].body.id < rows[i+1].body.id. V2 index finds exactly the live rows. V3
 * tick_sum is the wrapping sum of the live rows' tick hashes. V4 finished, it equals the engine's
 * own tick hash; otherwise the mirror is wrong and view_apply fails, so no client is sent a state
 * that the engine did not have.
 */
#ifndef CAIRN_SYNC_VIEW_H
#define CAIRN_SYNC_VIEW_H

#include "protocol/block.h"
#include "server/base/array.h"
#include "server/base/table.h"
#include "server/host/report.h"
#include "server/sync/view_joints.h"
#include "server/sync/view_particles.h"

enum { VIEW_REMOVALS_MAX = 65536 };

struct view_row {
	struct wire_body body; /* `shapes` and `contacts` owned by the row */
	bool live;
	uint32_t contact_room;		     /* bytes */
	uint64_t created;		     /* serial */
	uint64_t changed[WIRE_COLUMN_COUNT]; /* serial, by column */
	uint64_t stamp;			     /* last collection that took it */
	uint64_t tick_hash;		     /* its share (V3) */
};

/* Row indices changed at one serial; ascending. */
struct view_changes {
	uint64_t serial;
	ARRAY_OF(uint32_t) rows;
};

struct view_removal {
	uint64_t serial, created;
	uint32_t id;
};

struct view {
	uint64_t serial;       /* of the newest report */
	uint64_t epoch_serial; /* first serial of the present epoch: older bases need a SNAPSHOT */
	uint64_t steps;	       /* reports of steps so far */
	uint64_t tick, tick_hash;
	uint32_t epoch, edit;
	uint32_t row_count, row_capacity, live_count;
	struct view_row *rows; /* owned */
	struct table index;    /* id → row */
	struct view_changes ring[WIRE_RING_TICKS];
	/* Owned ring; it doubles as it fills, up to VIEW_REMOVALS_MAX. */
	struct view_removal *removals;
	uint32_t removal_capacity;
	uint64_t removal_count; /* so far; entry i is at i % removal_capacity */
	uint64_t compacted;	/* serial of the last compaction: older ring entries are void */
	uint64_t stamp;
	uint64_t tick_sum;
	bool contacts; /* the rows' contacts are valid: the last report contained them */
	struct view_joints joints;
	struct view_particles particles;
};

/* Columns of a row that changed after `base`. */
static inline wire_mask view_row_since(const struct view_row *row, uint64_t base)
{
	uint32_t mask = 0;
#define COLUMN(bit, NAME, name, bytes, doc)                                                        \
	mask |= (uint32_t)(row->changed[(bit) - ((bit) > 7)] > base) << (bit);
#include "protocol/columns.def"
	return (wire_mask)mask;
}

void view_init(struct view *self);
void view_release(struct view *self);
/* Applies one TICK report as the next serial. NO_MEMORY or CORRUPT (the report does not fit the
 * mirror, or V4): the mirror must be refilled by a `whole` report. */
MUST_CHECK enum status view_apply(struct view *self, const struct tick_report *report);

/* Frees the contacts of all rows, when no subscription needs them. */
void view_drop_contacts(struct view *self);

/* The changes that a frame contains. */
struct view_delta {
	ARRAY_OF(struct block_row) rows; /* ascending ids; bodies borrowed from the view */
	ARRAY_OF(uint32_t) removed;	 /* ascending */
	bool absolute;			 /* the base is older than the ring */
};
void view_delta_release(struct view_delta *delta);
/* Collects the changes of columns `fields` since serial `base`. MISSING: a SNAPSHOT is needed;
 * NO_MEMORY. `delta` keeps its memory between calls. */
MUST_CHECK enum status view_collect(struct view *self, uint64_t base, wire_mask fields,
				    struct view_delta *delta);
/* Collects every live row as created. NO_MEMORY. */
MUST_CHECK enum status view_collect_all(struct view *self, wire_mask fields,
					struct view_delta *delta);
/* Hash of everything that a whole-world subscription to `fields` sees: the tick hash where `fields`
 * includes all columns that it covers (*is_tick_hash), else the view hash. */
uint64_t view_hash(const struct view *self, wire_mask fields, bool *is_tick_hash);

#endif
