/* pairs.h: which pieces are near: what step.c asks of pairs.c. Private to dynamics. */
#ifndef CAIRN_ENGINE_DYNAMICS_PAIRS_H
#define CAIRN_ENGINE_DYNAMICS_PAIRS_H

#include "server/engine/dynamics/dynamics.h"

/* Fills self->gone (rows there and not wanted any more, each once) and self->new_pairs (pairs
 * wanted and not there, ascending). Changes nothing else. LIMIT with `why` (contacts_max),
 * NO_MEMORY. */
MUST_CHECK enum status pairs_find(struct dynamics *self, struct reason *why);

/* A placement and where it stays for as long as a question is about. */
struct pair_reach {
	uint32_t placement;
	struct aabb box; /* world axes */
	double motion; /* m: none of its points goes farther than this from where the tables have it */
};
/* Where its fat box has it. */
struct pair_reach pair_reach_fat(const struct dynamics *self, uint32_t placement);
/* Whether the bodies of two placements may meet, and a half-space among them is reached. */
bool pair_may_meet(const struct dynamics *self, const struct pair_reach *a,
		   const struct pair_reach *b);
/* Appends to self->new_pairs the near pieces of two placements whose bodies may meet, ascending by
 * children. */
MUST_CHECK enum status pairs_between(struct dynamics *self, const struct pair_reach *a,
				     const struct pair_reach *b);
/* Whether the pair's bodies may meet and its pieces are near by their fat boxes. */
bool pair_wanted(const struct dynamics *self, const struct contact_pair *pair);

#endif
