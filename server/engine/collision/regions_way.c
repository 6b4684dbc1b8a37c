/* regions_way.c: depth of a region as the way out along its normal (ch1-3 A-18, G-29).
 *
 * A's part of the border lies on the side of the normal n, B's on the other; both are known at their
 * vertices inside and at the points of the contours, which are in both. B moved by n times (the highest n·p
 * of A's part − the lowest of B's) no longer meets A here: a plane separates them. Between two faces, a
 * vertex and a face, or two edges no smaller motion along n does. (Distances of vertices to the other
 * surface do not say this: the corners of two aligned boxes lie on each other's sides, at distance 0 however
 * deep the overlap is.)
 *
 * Direction: that of A's normal integrated over A's part; or, of regions with few plane facets, the
 * facet's normal along which the way is shorter. Faces that coincide need this: which of two coincident
 * sides is inside is decided by an infinitesimal shift, and the integral contains its area. A facet's
 * normal counts only if it leads out: on the whole of either part the normal agrees with it in sign, that
 * is, of |n_i·d| summed over the areas at least 0.9 remain when the signs are kept. (A peg in a slab has
 * sides, but moved sideways it does not leave the slab: its two sides cancel.)
 *
 * The way is that of the region: bodies that cross deeply may meet elsewhere before they have gone it.
 *
 * A shell inside the other body has no contour. Its way out leads from its farthest point to the nearest
 * point of the other surface to its deepest point. Where the integral is negligible and there are
 * contours (a bar through a wall), no direction is known: depth stays the distance of the deepest point to
 * the other's surface, and if that point is past the middle of a thin body, it refers to its far side. For
 * this reason A-18 bisects the motion.
 */
#include "server/engine/collision/regions_work.h"

/* 1: the part of a facet's flux that must have one sign. */
#define FLUX_MIN 0.9
/* 1: a facet's normal replaces the integral's only if the way is shorter by this part. */
#define SHORTER 1e-9

static bool has_way(const struct region *region)
{
	return region->kind != REGION_CROSSING || regions_have_direction(region);
}

/* Calls for every point of a border: `parts` has bit 0 if it is in A's part, bit 1 if in B's. */
typedef void border_point(struct regions_work *work, uint32_t region, vec3 point, uint32_t parts);

static void visit_border(struct regions_work *work, border_point *visit)
{
	for (uint32_t i = 0; i < work->segments.count; i++) {
		const struct shared_segment *segment = &work->segments.items[i];
		visit(work, work_region(work, segment->contour),
		      work->nodes.items[segment->start].point, 3);
	}
	for (uint32_t body = BODY_A; body <= BODY_B; body++)
		for (uint32_t i = 0; i < work->inside[body].count; i++) {
			struct inside_vertex at = work->inside[body].items[i];
			vec3 point = work->mesh[body]->vertices[at.vertex];
			point = body == BODY_B ? pose_point(work->at[BODY_B], point) : point;
			visit(work, work_region(work, at.element), point, 1u << body);
		}
}

/* Height of a point along a direction, m, from a corner of the region's box, so that little cancels. */
static double height_of(const struct region *region, vec3 direction, vec3 point)
{
	return vec3_dot(direction, vec3_sub(point, region->box.min));
}

/* ---- the direction ----------------------------------------------------------------------------- */

/* Direction `way` of a region, from A to B. */
static vec3 way_of(const struct region *region, const struct region_facets *facets, uint32_t way)
{
	if (way == 0)
		return region->normal;
	const struct region_facet *facet = &facets->items[way - 1];
	return facet->body == BODY_A ? facet->normal : vec3_negate(facet->normal);
}

static uint32_t way_count(const struct region *region, const struct region_facets *facets)
{
	bool flat = region->kind == REGION_CROSSING && !facets->many;
	return 1 + (flat ? facets->count : 0);
}

/* Whether a facet's direction leads out of the region. */
static bool leads_out(const struct region_facets *facets, vec3 direction)
{
	double net[2] = { 0, 0 }, gross[2] = { 0, 0 };
	for (uint32_t i = 0; i < facets->count; i++) {
		const struct region_facet *facet = &facets->items[i];
		double flux = facet->area * vec3_dot(facet->normal, direction);
		net[facet->body] += facet->body == BODY_A ? flux : -flux;
		gross[facet->body] += scalar_abs(flux);
	}
	return net[BODY_A] > 0 && net[BODY_A] >= FLUX_MIN * gross[BODY_A] && net[BODY_B] > 0 &&
	       net[BODY_B] >= FLUX_MIN * gross[BODY_B];
}

static void add_to_extent(struct regions_work *work, uint32_t r, vec3 point, uint32_t parts)
{
	const struct region *region = &work->regions.items[r];
	const struct region_facets *facets = &work->facets.items[r];
	struct region_extent *extent = &work->extents.items[r];
	for (uint32_t way = 0; way < way_count(region, facets); way++) {
		double height = height_of(region, way_of(region, facets, way), point);
		if (parts & 1)
			extent->high[way] = scalar_max(extent->high[way], height);
		if (parts & 2)
			extent->low[way] = scalar_min(extent->low[way], height);
	}
}

/* Replaces the integral's direction by the facet's along which the way out is shorter, and sets the heights
 * of both ends. */
static void choose_way(struct region *region, const struct region_facets *facets,
		       const struct region_extent *extent, struct region_end ends[2])
{
	double shortest = extent->high[0] - extent->low[0];
	uint32_t best = 0;
	for (uint32_t way = 1; way < way_count(region, facets); way++) {
		double length = extent->high[way] - extent->low[way];
		if (!(length < (1 - SHORTER) * shortest) ||
		    !leads_out(facets, way_of(region, facets, way)))
			continue;
		shortest = length;
		best = way;
	}
	region->normal = way_of(region, facets, best);
	ends[BODY_A].height = extent->high[best];
	ends[BODY_B].height = -extent->low[best];
}

/* ---- depth and points -------------------------------------------------------------------------- */

/* Points of a border count as equally far along the normal within this part of the region's size. */
#define LEVEL_TOLERANCE 1e-9

/* Adds a point to the end at whose height it is; `side` is 1 for A, whose end is the highest, −1 for B. */
static void add_to_end(struct region_end *end, const struct region *region, vec3 point, double side)
{
	double large = vec3_max_component(vec3_sub(region->box.max, region->box.min));
	double height = side * height_of(region, region->normal, point);
	if (height >= end->height - LEVEL_TOLERANCE * large)
		end->box = aabb_add_point(end->box, point);
}

static double diagonal(struct aabb box)
{
	return vec3_length(vec3_sub(box.max, box.min));
}

static void finish_way(struct region *region, const struct region_end ends[2])
{
	/* A shell's end in the other body is the nearest point of the surface, as found before. */
	bool of_a = region->kind != REGION_B_IN_A, of_b = region->kind != REGION_A_IN_B;
	double high =
		of_a ? ends[BODY_A].height : height_of(region, region->normal, region->point_a);
	double low =
		of_b ? -ends[BODY_B].height : height_of(region, region->normal, region->point_b);
	region->depth = scalar_max(high - low, 0);
	/* The smaller end is opposite some point of the larger one: a corner above a face. */
	if (of_a && (!of_b || diagonal(ends[BODY_A].box) <= diagonal(ends[BODY_B].box))) {
		vec3 middle = aabb_centre(ends[BODY_A].box);
		double lift = high - height_of(region, region->normal, middle);
		region->point_a = vec3_mul_add(middle, region->normal, lift);
		region->point_b = vec3_mul_sub(region->point_a, region->normal, region->depth);
	} else {
		vec3 middle = aabb_centre(ends[BODY_B].box);
		double lift = low - height_of(region, region->normal, middle);
		region->point_b = vec3_mul_add(middle, region->normal, lift);
		region->point_a = vec3_mul_add(region->point_b, region->normal, region->depth);
	}
}

static void add_to_ends(struct regions_work *work, uint32_t r, vec3 point, uint32_t parts)
{
	const struct region *region = &work->regions.items[r];
	if (parts & 1)
		add_to_end(&work->ends.items[2 * r + BODY_A], region, point, 1);
	if (parts & 2)
		add_to_end(&work->ends.items[2 * r + BODY_B], region, point, -1);
}

enum status regions_ways(struct regions_work *work)
{
	uint32_t count = work->regions.count;
	enum status status = ARRAY_RESERVE(&work->ends, 2 * (uint64_t)count);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&work->extents, count);
	if (status != STATUS_OK)
		return status;
	for (uint32_t r = 0; r < count; r++) {
		struct region_end none = { -__builtin_inf(), aabb_empty() };
		work->ends.items[2 * r] = work->ends.items[2 * r + 1] = none;
		for (uint32_t way = 0; way < REGION_WAYS; way++) {
			work->extents.items[r].high[way] = -__builtin_inf();
			work->extents.items[r].low[way] = __builtin_inf();
		}
	}
	visit_border(work, add_to_extent);
	for (uint32_t r = 0; r < count; r++)
		if (has_way(&work->regions.items[r]))
			choose_way(&work->regions.items[r], &work->facets.items[r],
				   &work->extents.items[r], &work->ends.items[2 * r]);
	visit_border(work, add_to_ends);
	for (uint32_t r = 0; r < count; r++)
		if (has_way(&work->regions.items[r]))
			finish_way(&work->regions.items[r], &work->ends.items[2 * r]);
	return STATUS_OK;
}
