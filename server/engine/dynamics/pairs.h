/* pairs.h: the pairs of pieces that are near. Private to dynamics and statics. */
#ifndef CAIRN_ENGINE_DYNAMICS_PAIRS_H
#define CAIRN_ENGINE_DYNAMICS_PAIRS_H

#include "server/engine/dynamics/dynamics.h"

/* Fills self->gone (rows whose pair is no longer wanted, each once) and self->new_pairs (wanted
 * pairs without a row, ascending). Changes nothing else. LIMIT with `why` (contacts_max),
 * NO_MEMORY. */
MUST_CHECK enum status pairs_find(struct dynamics *self, struct reason *why);

/* Whether the filters of two placements let them meet: groups, else categories and masks. */
bool pairs_filter_allows(const struct dynamics *self, uint32_t a, uint32_t b);

/* A placement and a box that holds it for the time considered. */
struct pair_reach {
	uint32_t placement;
	struct aabb box; /* world axes */
	double motion; /* m: none of its points goes farther than this from where the tables have it */
};
/* The reach of a placement that stays in its fat box. */
struct pair_reach pair_reach_fat(const struct dynamics *self, uint32_t placement);
/* True if the bodies of two placements may collide and, if one is a half-space, the other's box
 * reaches it. Does not compare the boxes. */
bool pair_may_meet(const struct dynamics *self, const struct pair_reach *a,
		   const struct pair_reach *b);
/* Appends to self->new_pairs the near pieces of two placements whose bodies may collide, ascending by
 * children. NO_MEMORY. */
MUST_CHECK enum status pairs_between(struct dynamics *self, const struct pair_reach *a,
				     const struct pair_reach *b);
/* True if the pair's bodies may collide and its pieces are near by their fat boxes. */
bool pair_wanted(const struct dynamics *self, const struct contact_pair *pair);

#endif
