/* ration.h: a subscription with a budget: at most so many bytes a second, the most important bodies first.
 *
 * A token bucket is filled by the budget and emptied by what is sent. Every frame, each body that has
 * something to tell gathers weight; the heaviest go until the bucket is empty, and begin from nothing
 * again. What did not go keeps its weight: everything is sent at some time, however little there is.
 *
 *	weight += (1 + v/(1 + v)) / (1 + 4 d²/s²) · (2 if the client does not have it)
 *
 * v speed in m/s, d distance to the nearest of the followed bodies and areas, s the size of the largest
 * area (without either all are equally near). The order is that of (weight, id), so equal histories make
 * equal frames. Each body has its own base: the serial at which it was sent last; removals always go.
 */
#ifndef CAIRN_SYNC_RATION_H
#define CAIRN_SYNC_RATION_H

#include "server/sync/interest.h"
#include "server/sync/quantised.h"

enum { RATION_BUDGET_MIN = 256 }; /* bytes per second */

/* A body the client has, or is to have. */
struct ration_body {
	uint32_t id;
	bool has;      /* the client has it, as of `sent` */
	bool waiting;  /* it may have something to tell */
	uint64_t sent; /* serial */
	double weight;
};
struct ration_turn {
	double weight;
	uint32_t id, at;
};

struct ration {
	double rate;   /* bytes per second */
	double tokens; /* bytes; below zero after a frame that was larger than thought */
	uint64_t filled_at;
	struct interest_mark mark;
	ARRAY_OF(struct ration_body) bodies;
	struct table index;		    /* id → body */
	ARRAY_OF(uint32_t) waiting;	    /* ids */
	ARRAY_OF(struct ration_turn) turns; /* scratch */
};

MUST_CHECK enum status ration_create(uint64_t rate, uint64_t now, struct ration **out);
void ration_destroy(struct ration *self);
/* Fills the bucket. Whether anything may be sent. */
bool ration_allows(struct ration *self, uint64_t now);
/* What is sent now; with `snapshot` as if the client had nothing. `quantised` is NULL for profiles without.
 * *partial: something stays behind. After a failure the next frame must be a SNAPSHOT. */
MUST_CHECK enum status ration_collect(struct ration *self, struct interest_map *map,
				      struct view *view, struct interest *interest,
				      const struct quantised *quantised, bool snapshot,
				      enum wire_profile profile, wire_mask fields,
				      struct view_delta *delta, bool *partial);
/* Bytes that have been sent. */
void ration_spend(struct ration *self, uint64_t bytes);

#endif
