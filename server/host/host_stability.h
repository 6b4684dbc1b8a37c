/* host_stability.h: the query STABILITY on an image of the world. Private to host. */
#ifndef CAIRN_HOST_STABILITY_H
#define CAIRN_HOST_STABILITY_H

#include "protocol/query_wire.h"
#include "server/base/bytes.h"
#include "server/store/shape_library.h"

struct host;

/* A state, unsealed, and references to the shapes in it. */
struct stability_image {
	struct bytes image;
	struct shape_library shapes;
};

/* The host's world between two ticks; its worker. Release it in any case. NO_MEMORY. */
MUST_CHECK enum status stability_image_make(struct stability_image *self, const struct host *host,
					    struct reason *why);
void stability_image_release(struct stability_image *self);
/* Any thread. Appends the answer; errors of world_load and world_stability. */
MUST_CHECK enum status stability_image_answer(struct stability_image *self,
					      const struct wire_query *query, struct bytes *out,
					      struct reason *why);

/* Appends an answer in the form of the wire, with at most `limit` items of each list. NO_MEMORY. */
struct stability_view;
MUST_CHECK enum status stability_view_pack(const struct stability_view *view, uint32_t limit,
					   struct bytes *out);

#endif
