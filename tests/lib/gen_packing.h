/* gen_packing.h: loose layouts of polygons in a strip, and the obvious exact test for overlap. */
#ifndef CAIRN_TESTS_GEN_PACKING_H
#define CAIRN_TESTS_GEN_PACKING_H

#include "server/base/rng.h"
#include "server/engine/packing/packing.h"

struct gen_packing {
	struct packing_problem problem;
	struct packing_polygon *polygons; /* owned, as are the corners */
	vec2 *corners;
	uint32_t count, corner_count;
};

/* `count` star-shaped polygons of 3 to `corners_most` corners (all of `corners_most` if `all`), radii between
 * `inner` and 1, in rows of cells of 2.1 × 2.1 jittered by 0.04, in a strip of `rows` cells. */
void gen_packing_stars(struct gen_packing *self, struct rng *rng, uint32_t count, uint32_t rows,
		       uint32_t corners_most, bool all, double inner);
void gen_packing_release(struct gen_packing *self);
/* Whether two polygons at two places have a point in common, by all pairs of sides and a corner inside, with
 * exact signs. */
bool gen_packing_meet(const struct packing_polygon *a, vec2 at_a, const struct packing_polygon *b,
		      vec2 at_b);

#endif
