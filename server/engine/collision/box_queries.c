/* box_queries.c: see box_queries.h.
 *
 * The boxes are sorted along a Z-order curve through their centres and taken in clusters of
 * neighbours. A cluster is asked as the box around it, and what that finds is compared with each of
 * its boxes in a list. A box joins the cluster if the surface of the box around all is then at most
 * that of as many separate boxes as small as the smallest: so a cluster of boxes that are far apart,
 * or of very different sizes, does not find what none of them needs.
 */
#include "server/engine/collision/box_queries.h"

#include "server/base/sort.h"

/* More do not save much of the walk, and lengthen the list that each box is compared with. */
enum { CLUSTER_MAX = 32, CURVE_BITS = 21 };

void box_queries_release(struct box_queries *self)
{
	ARRAY_RELEASE(&self->boxes);
	ARRAY_RELEASE(&self->keys);
	ARRAY_RELEASE(&self->keys_scratch);
	ARRAY_RELEASE(&self->order);
	ARRAY_RELEASE(&self->order_scratch);
	ARRAY_RELEASE(&self->near);
}

enum status box_queries_add(struct box_queries *self, const struct aabb *box)
{
	ASSERT(box->min.x <= box->max.x && box->min.y <= box->max.y && box->min.z <= box->max.z);
	enum status status = ARRAY_RESERVE(&self->boxes, self->boxes.count + 1u);
	if (status == STATUS_OK)
		self->boxes.items[self->boxes.count++] = *box;
	return status;
}

/* Puts two zeros behind each of the lowest 21 bits. */
static uint64_t spread_bits(uint64_t value)
{
	value &= 0x1fffff;
	value = (value | value << 32) & 0x001f00000000ffff;
	value = (value | value << 16) & 0x001f0000ff0000ff;
	value = (value | value << 8) & 0x100f00f00f00f00f;
	value = (value | value << 4) & 0x10c30c30c30c30c3;
	return (value | value << 2) & 0x1249249249249249;
}

/* The place on the curve of a point that is `offset` from its lowest corner; cells of `1 / scale`. */
static uint64_t place_on_curve(vec3 offset, double scale)
{
	double last = (1 << CURVE_BITS) - 1;
	return spread_bits((uint64_t)scalar_clamp(offset.x * scale, 0, last)) |
	       spread_bits((uint64_t)scalar_clamp(offset.y * scale, 0, last)) << 1 |
	       spread_bits((uint64_t)scalar_clamp(offset.z * scale, 0, last)) << 2;
}

static enum status sort_along_curve(struct box_queries *self)
{
	uint32_t count = self->boxes.count;
	if (ARRAY_RESERVE(&self->keys, count) != STATUS_OK ||
	    ARRAY_RESERVE(&self->keys_scratch, count) != STATUS_OK ||
	    ARRAY_RESERVE(&self->order, count) != STATUS_OK ||
	    ARRAY_RESERVE(&self->order_scratch, count) != STATUS_OK)
		return STATUS_NO_MEMORY;
	struct aabb all = aabb_empty();
	for (uint32_t i = 0; i < count; i++)
		all = aabb_add_point(all, aabb_centre(self->boxes.items[i]));
	/* Cells are cubes, so that neighbours along the curve are near on every axis. */
	double extent = vec3_max_component(vec3_sub(all.max, all.min));
	double scale = extent > 0 ? (1 << CURVE_BITS) / extent : 0;
	for (uint32_t i = 0; i < count; i++) {
		vec3 offset = vec3_sub(aabb_centre(self->boxes.items[i]), all.min);
		self->keys.items[i] = place_on_curve(offset, scale);
		self->order.items[i] = i;
	}
	sort_keys(self->keys.items, self->order.items, self->keys_scratch.items,
		  self->order_scratch.items, count);
	return STATUS_OK;
}

/* The end of the cluster that begins at place `first` of the order, and the box around it. */
static uint32_t end_of_cluster(const struct box_queries *self, uint32_t first, struct aabb *around)
{
	*around = self->boxes.items[self->order.items[first]];
	double smallest = aabb_area(*around);
	uint32_t end = first + 1;
	for (; end < self->boxes.count && end - first < CLUSTER_MAX; end++) {
		struct aabb box = self->boxes.items[self->order.items[end]];
		struct aabb both = aabb_union(*around, box);
		double least = scalar_min(smallest, aabb_area(box));
		if (aabb_area(both) > (end - first + 1) * least)
			break;
		*around = both;
		smallest = least;
	}
	return end;
}

struct gathering {
	struct box_queries *self;
	const struct broad_phase *broad_phase;
};

static bool gather_near(uint32_t slot, void *context)
{
	struct gathering *work = context;
	struct box_queries *self = work->self;
	self->lost = ARRAY_RESERVE(&self->near, self->near.count + 1u) != STATUS_OK;
	if (!self->lost)
		self->near.items[self->near.count++] =
			(struct box_near){ broad_phase_box(work->broad_phase, slot), slot };
	return !self->lost;
}

/* Lists what is near the box. */
static enum status gather(struct box_queries *self, const struct broad_phase *broad_phase,
			  enum box_query_of what, const struct aabb *box)
{
	struct gathering work = { self, broad_phase };
	self->near.count = 0;
	self->lost = false;
	if (what == BOX_QUERY_ALL)
		broad_phase_query(broad_phase, box, gather_near, &work);
	else
		broad_phase_query_moving(broad_phase, box, gather_near, &work);
	return self->lost ? STATUS_NO_MEMORY : STATUS_OK;
}

enum status box_queries_run(struct box_queries *self, const struct broad_phase *broad_phase,
			    enum box_query_of what, box_query_visit *visit, void *context)
{
	enum status status = sort_along_curve(self);
	for (uint32_t first = 0, end; status == STATUS_OK && first < self->boxes.count;
	     first = end) {
		struct aabb around;
		end = end_of_cluster(self, first, &around);
		ASSERT(end > first && end - first <= CLUSTER_MAX);
		status = gather(self, broad_phase, what, &around);
		for (uint32_t i = first; status == STATUS_OK && i < end; i++) {
			uint32_t query = self->order.items[i];
			const struct aabb *box = &self->boxes.items[query];
			for (uint32_t k = 0; k < self->near.count; k++)
				if (aabb_overlaps(*box, self->near.items[k].box) &&
				    !visit(self->near.items[k].slot, query, context))
					return STATUS_OK;
		}
	}
	return status;
}
