/* mechanisms.h: random mechanisms of boxes and joints of all types. */
#ifndef CAIRN_TESTS_MECHANISMS_H
#define CAIRN_TESTS_MECHANISMS_H

#include "tests/lib/joined.h"

/* What a mechanism has beside its tree. */
enum extras { NOTHING, DRIVES, LOOPS, FLOATING };

/* A tree of `count` ≤ 16 boxes, on the world or free: the same for the same seed. */
void make_mechanism(struct world *world, uint64_t seed, uint32_t count, enum extras extras,
		    body_id *out);
/* The furthest that a body of one world is from that of the other, in m or rad. */
double mechanisms_apart(const struct world *a, const struct world *b, const body_id *bodies,
			uint32_t count);

#endif
