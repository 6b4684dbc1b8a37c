/* agree.h: compares the four answers about two convex polyhedra (V-Clip, GJK, EPA, separating axes)
 * with each other and with brute force, over families of poses. */
#ifndef CAIRN_TESTS_AGREE_H
#define CAIRN_TESTS_AGREE_H

#include "server/base/rng.h"
#include "server/engine/collision/epa.h"
#include "server/engine/collision/vclip.h"
#include "tests/lib/oracle_convex.h"

enum agree_family {
	AGREE_RANDOM,  /* any hulls, any rotation, any distance */
	AGREE_NEAR,    /* the same, brought to a gap or a depth of 1e-12 … 1e-2 */
	AGREE_ALIGNED, /* boxes with parallel axes, flush or nearly so */
	AGREE_SHARED,  /* hulls that share a vertex, an edge or a face */
	AGREE_SLIVERS, /* plates, needles, flattened hulls: 1 to 1000 */
	AGREE_SIZES,   /* pieces of 1 to 1000000 */
	AGREE_BUMPY,   /* hulls with faces that are flat only to their tolerance */
	AGREE_FAMILIES,
};
const char *agree_family_name(enum agree_family family);

struct agree_tally {
	uint64_t poses, apart, overlapping, rounding; /* rounding: touching up to rounding */
	uint64_t gjk_handed, vclip_handed, epa_open, epa_capacity;
	uint32_t gjk_most, vclip_most, epa_most; /* rounds */
	/* Greatest error of each, in units of what is allowed: 1e-9 d + 1e-13 extent. */
	double gjk, vclip, sat, epa, witness;
	uint64_t failures;
	char first[600]; /* the first failure in words */
};

struct agree;
struct agree *agree_create(uint64_t seed);
void agree_destroy(struct agree *self);

/* `count` poses of a family, added to *tally (zeros at first). */
void agree_run(struct agree *self, enum agree_family family, uint32_t count,
	       struct agree_tally *tally);

/* One pair of hulls in one pose; `what` names the pair in a failure report. */
void agree_pair(struct agree *self, const struct hull *a, const struct hull *b, const pose *at,
		const char *what, struct agree_tally *tally);

#endif
