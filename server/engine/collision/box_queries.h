/* box_queries.h: many queries of a broad phase at once. Boxes that are near each other are asked as one,
 * so that the walk through the broad phase is made once for all of them. */
#ifndef CAIRN_ENGINE_COLLISION_BOX_QUERIES_H
#define CAIRN_ENGINE_COLLISION_BOX_QUERIES_H

#include "server/base/array.h"
#include "server/engine/collision/broad_phase.h"

/* A proxy near a cluster of boxes. */
struct box_near {
	struct aabb box; /* of the proxy, fat */
	uint32_t slot;
};

/* All zero at first. Memory is kept from use to use. */
struct box_queries {
	ARRAY_OF(struct aabb) boxes; /* in the order of box_queries_add */
	ARRAY_OF(uint64_t) keys;     /* of each box: its place on a curve through space */
	ARRAY_OF(uint64_t) keys_scratch;
	ARRAY_OF(uint32_t) order; /* the boxes along the curve */
	ARRAY_OF(uint32_t) order_scratch;
	ARRAY_OF(struct box_near) near; /* of the cluster in work */
	bool lost;			/* memory ran out while `near` grew */
};

void box_queries_release(struct box_queries *self);
static inline void box_queries_clear(struct box_queries *self)
{
	self->boxes.count = 0;
}
/* Adds a query; queries are numbered from 0 on. NO_MEMORY. */
MUST_CHECK enum status box_queries_add(struct box_queries *self, const struct aabb *box);

enum box_query_of { BOX_QUERY_ALL, BOX_QUERY_MOVING };
/* Visits the proxies whose fat boxes touch box `query`, all or those that are not static, as
 * broad_phase_query or broad_phase_query_moving does for each box alone. The order is unspecified.
 * `visit` returns false to stop. */
typedef bool box_query_visit(uint32_t slot, uint32_t query, void *context);
/* NO_MEMORY: not everything was visited. */
MUST_CHECK enum status box_queries_run(struct box_queries *self,
				       const struct broad_phase *broad_phase,
				       enum box_query_of what, box_query_visit *visit,
				       void *context);

#endif
