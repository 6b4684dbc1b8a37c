/* ration.h: a subscription with a budget of bytes a second: the most important bodies are sent first.
 *
 * A token bucket refills at the budget's rate and is charged for the bytes sent. At each frame
 * every body with unsent changes gains weight. The heaviest bodies are sent until the bucket is
 * empty, and their weight returns to 0. The others keep their weight, so every body is sent in the
 * end, however small the budget is.
 *
 *	weight += (1 + v/(1 + v)) / (1 + 4 d²/s²) · (2 if the client does not have it)
 *
 * v is the speed in m/s, d the distance to the nearest followed body or area, s the size of the
 * largest area (without areas and followed bodies all distances count as 0). The order is by
 * (weight, id), so equal histories make equal frames. Each body has its own base, the serial at
 * which it was sent last. Removals are always sent.
 */
#ifndef CAIRN_SYNC_RATION_H
#define CAIRN_SYNC_RATION_H

#include "server/sync/interest.h"
#include "server/sync/quantised.h"

/* Bytes per second: with less, the heads of frames alone would use up the budget. */
enum { RATION_BUDGET_MIN = 256 };

/* A body that the client has or must get. */
struct ration_body {
	uint32_t id;
	bool has;      /* the client has it, as of `sent` */
	bool waiting;  /* it may have unsent changes */
	uint64_t sent; /* serial */
	double weight;
};
/* A body in the order of priority; `at` is its index in `bodies`. */
struct ration_turn {
	double weight;
	uint32_t id, at;
};

struct ration {
	double rate;   /* bytes per second */
	double tokens; /* bytes; negative after a frame that was larger than estimated */
	uint64_t filled_at;
	struct interest_mark mark;
	ARRAY_OF(struct ration_body) bodies;
	struct table index;		    /* id → body */
	ARRAY_OF(uint32_t) waiting;	    /* ids */
	ARRAY_OF(struct ration_turn) turns; /* scratch */
};

MUST_CHECK enum status ration_create(uint64_t rate, uint64_t now, struct ration **out);
void ration_destroy(struct ration *self);
/* Refills the bucket; true if a frame may be sent. */
bool ration_allows(struct ration *self, uint64_t now);
/* Collects the rows of the next frame; with `snapshot` as if the client had nothing. `quantised` is
 * NULL for profiles without. *partial: bodies with changes were left out. After a failure
 * (NO_MEMORY) the next frame must be a SNAPSHOT. */
MUST_CHECK enum status ration_collect(struct ration *self, struct interest_map *map,
				      struct view *view, struct interest *interest,
				      const struct quantised *quantised, bool snapshot,
				      enum wire_profile profile, wire_mask fields,
				      struct view_delta *delta, bool *partial);
/* Charges the bytes sent. */
void ration_spend(struct ration *self, uint64_t bytes);

#endif
