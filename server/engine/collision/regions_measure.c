/* See regions_work.h. Volume, area, normal and depth of each region.
 *
 * Volume: by the divergence theorem, from the parts of both surfaces that bound the region, each
 * with its own outward normal. The part of a triangle that is inside is bounded by segments and by
 * parts of its edges. For any point o of its plane and an origin O, the signed tetrahedra (O, o, p,
 * q) over all bounding lines p q, with the inside to the left, sum to the pyramid from O over that
 * part, whatever its form. One pass over segments and one over edges therefore give volume and
 * first moment, and no face is cut. Area: ∫ n over A's part is ½ Σ p × q along its contours alone
 * (Stokes); over B's part it is the opposite.
 *
 * Depths of points: for each body, the distance to the other's surface of its deepest vertex inside the
 * other; if it has none, of the deepest middle of the parts of its edges that are inside (an edge that
 * pierces an edge). Every region is bounded by such vertices or parts of at least one body. They give the
 * depth of a region only where regions_way.c knows no way out.
 */
#include "server/engine/collision/regions_work.h"

#include "server/base/sort.h"
#include "server/engine/geometry/intersect_point_mesh.h"

/* ---- regions ---------------------------------------------------------------------------------- */

/* One region for each set of elements, numbered by its first element. */
static enum status make_regions(struct regions_work *work)
{
	uint32_t count = work->elements.count;
	enum status status = ARRAY_RESERVE(&work->regions, count);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&work->sums, count);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&work->facets, count);
	if (status != STATUS_OK)
		return status;
	for (uint32_t e = 0; e < count; e++) {
		struct element *element = &work->elements.items[e];
		if (work_root(work, e) != e)
			continue;
		element->region = work->regions.count;
		work->sums.items[work->regions.count] = (struct region_sum){ 0 };
		work->facets.items[work->regions.count] = (struct region_facets){ 0 };
		work->regions.items[work->regions.count++] = (struct region){
			.kind = element->kind,
			.box = aabb_empty(),
			.deepest_a = { .depth = -1 },
			.deepest_b = { .depth = -1 },
		};
	}
	return STATUS_OK;
}

/* ---- volume and area -------------------------------------------------------------------------- */

/* Adds the tetrahedron from the origin over (o, p, q). */
static void add_tetrahedron(struct regions_work *work, uint32_t element, vec3 o, vec3 p, vec3 q)
{
	struct region_sum *sum = &work->sums.items[work_region(work, element)];
	o = vec3_sub(o, work->origin);
	p = vec3_sub(p, work->origin);
	q = vec3_sub(q, work->origin);
	double volume = vec3_dot(o, vec3_cross(p, q)) / 6;
	sum->volume += volume;
	sum->moment = vec3_mul_add(sum->moment, vec3_add(o, vec3_add(p, q)), volume / 4);
}

/* Triangles of one body whose normals differ by less than 0.3° are one facet. */
#define FACET_COSINE 0.99999

/* Adds the triangle (o, p, q) to the facet of a region that lies in the plane of `triangle`; by the same
 * sums as the volume, a facet gets the area of its part that is inside. */
static void add_facet(struct regions_work *work, uint32_t element, uint32_t body, uint32_t triangle,
		      vec3 p, vec3 q)
{
	struct region_facets *facets = &work->facets.items[work_region(work, element)];
	vec3 o = work_corner(work, body, triangle, 0);
	vec3 normal = vec3_cross(vec3_sub(work_corner(work, body, triangle, 1), o),
				 vec3_sub(work_corner(work, body, triangle, 2), o));
	double length = vec3_length(normal);
	if (!(length > 0))
		return;
	normal = vec3_scale(normal, 1 / length);
	double area = 0.5 * vec3_dot(normal, vec3_cross(vec3_sub(p, o), vec3_sub(q, o)));
	uint32_t i = 0;
	while (i < facets->count && !(facets->items[i].body == body &&
				      vec3_dot(facets->items[i].normal, normal) > FACET_COSINE))
		i++;
	if (i == REGION_FACETS_MAX) {
		facets->many = true;
		return;
	}
	if (i == facets->count)
		facets->items[facets->count++] = (struct region_facet){ normal, 0, body };
	facets->items[i].area += area;
}

/* Adds the segments: to the area, and to the volume as a bound of both triangles. */
static void add_contours(struct regions_work *work)
{
	for (uint32_t i = 0; i < work->segments.count; i++) {
		const struct shared_segment *segment = &work->segments.items[i];
		vec3 p = work->nodes.items[segment->start].point;
		vec3 q = work->nodes.items[segment->end].point;
		uint32_t region = work_region(work, segment->contour);
		vec3 arm = vec3_sub(p, work->origin), tip = vec3_sub(q, work->origin);
		struct region_sum *sum = &work->sums.items[region];
		sum->area = vec3_mul_add(sum->area, vec3_cross(arm, tip), 0.5);
		add_tetrahedron(work, segment->contour,
				work_corner(work, BODY_A, segment->triangle[0], 0), p, q);
		add_tetrahedron(work, segment->contour,
				work_corner(work, BODY_B, segment->triangle[1], 0), q, p);
		add_facet(work, segment->contour, BODY_A, segment->triangle[0], p, q);
		add_facet(work, segment->contour, BODY_B, segment->triangle[1], q, p);
		struct aabb *box = &work->regions.items[region].box;
		*box = aabb_add_point(aabb_add_point(*box, p), q);
	}
}

/* Adds the parts of a half-edge that are inside, in its direction. */
static void add_edge(struct regions_work *work, uint32_t body, uint32_t half_edge)
{
	uint32_t name = work_edge_name(work->mesh[body], half_edge), triangle = half_edge / 3;
	uint32_t mark = work->marks[body].edge[name];
	if (mark == 0)
		return;
	vec3 o = work_corner(work, body, triangle, 0);
	vec3 p = work_corner(work, body, name / 3, name % 3);
	vec3 q = work_corner(work, body, name / 3, name % 3 + 1);
	bool turned = name != half_edge;
	if ((mark & 1) == 0) {
		add_tetrahedron(work, mark / 2 - 1, o, turned ? q : p, turned ? p : q);
		add_facet(work, mark / 2 - 1, body, triangle, turned ? q : p, turned ? p : q);
		return;
	}
	const struct node_group *group = &work->groups.items[mark / 2];
	const uint32_t *nodes = &work->group_nodes.items[group->first];
	/* Part i lies between nodes i − 1 and i; the first and the last part end at p and q. */
	for (uint32_t i = 0; i <= group->count; i++) {
		const struct node *to = i < group->count ? &work->nodes.items[nodes[i]] : NULL;
		const struct node *from = i > 0 ? &work->nodes.items[nodes[i - 1]] : NULL;
		bool inside = from != NULL ? from->enters : !to->enters;
		if (!inside)
			continue;
		vec3 begin = from != NULL ? from->point : p, end = to != NULL ? to->point : q;
		uint32_t element = from != NULL ? from->contour : to->contour;
		add_tetrahedron(work, element, o, turned ? end : begin, turned ? begin : end);
		add_facet(work, element, body, triangle, turned ? end : begin,
			  turned ? begin : end);
	}
}

/* ---- depth ------------------------------------------------------------------------------------ */

/* Measures a point of `body` that is inside; the deepest one of its region is kept. */
static void update_depth(struct regions_work *work, uint32_t body, uint32_t region, vec3 point,
			 uint32_t vertex)
{
	struct region *to = &work->regions.items[region];
	struct region_depth *best = body == BODY_A ? &to->deepest_a : &to->deepest_b;
	pose other = work->at[1 - body];
	struct mesh_point near =
		intersect_nearest_on_mesh(work->mesh[1 - body], pose_inverse_point(other, point));
	to->box = aabb_add_point(to->box, point);
	if (near.distance > best->depth)
		*best = (struct region_depth){ near.distance, point, pose_point(other, near.point),
					       vertex, near.triangle };
}

static void measure_vertices(struct regions_work *work, uint32_t body)
{
	for (uint32_t i = 0; i < work->inside[body].count; i++) {
		struct inside_vertex at = work->inside[body].items[i];
		vec3 point = work->mesh[body]->vertices[at.vertex];
		if (body == BODY_B)
			point = pose_point(work->at[BODY_B], point);
		uint32_t region = work_region(work, at.element);
		struct region *to = &work->regions.items[region];
		*(body == BODY_A ? &to->vertices_a : &to->vertices_b) += 1;
		update_depth(work, body, region, point, at.vertex);
	}
}

/* Measures the middles of edge parts in regions where their body has no vertex inside. */
static void measure_edge_middles(struct regions_work *work)
{
	for (uint32_t g = 0; g < work->groups.count; g++) {
		const uint32_t *nodes = &work->group_nodes.items[work->groups.items[g].first];
		for (uint32_t i = 1; i < work->groups.items[g].count; i++) {
			const struct node *from = &work->nodes.items[nodes[i - 1]];
			const struct node *to = &work->nodes.items[nodes[i]];
			uint32_t body = (uint32_t)(from->key >> 63);
			uint32_t region = work_region(work, from->contour);
			const struct region *at = &work->regions.items[region];
			uint32_t vertices = body == BODY_A ? at->vertices_a : at->vertices_b;
			if (from->enters && vertices == 0)
				update_depth(work, body, region,
					     vec3_lerp(from->point, to->point, 0.5),
					     REGION_NO_VERTEX);
		}
	}
}

/* ---- a region --------------------------------------------------------------------------------- */

bool regions_have_direction(const struct region *region)
{
	vec3 size = vec3_sub(region->box.max, region->box.min);
	double large = vec3_max_component(vec3_abs(size));
	return region->area > REGION_AREA_MIN * large * large;
}

static void finish_region(struct region *region, const struct region_sum *sum, vec3 origin)
{
	region->volume = sum->volume;
	region->centre = aabb_centre(region->box);
	vec3 centre = vec3_scale(sum->moment, sum->volume != 0 ? 1 / sum->volume : 0);
	/* The quotient of a tiny volume is rounding and may lie anywhere. */
	if (sum->volume != 0 && aabb_contains_point(region->box, vec3_add(origin, centre)))
		region->centre = vec3_add(origin, centre);
	region->area = vec3_length(sum->area);
	bool by_a = region->deepest_a.depth >= region->deepest_b.depth;
	const struct region_depth *deepest = by_a ? &region->deepest_a : &region->deepest_b;
	region->depth = scalar_max(deepest->depth, 0);
	region->point_a = by_a ? deepest->point : deepest->nearest;
	region->point_b = by_a ? deepest->nearest : deepest->point;
	if (regions_have_direction(region))
		region->normal = vec3_normalize(sum->area);
	else
		region->normal = vec3_normalize(vec3_sub(region->point_a, region->point_b));
}

enum status regions_measure(struct regions_work *work)
{
	enum status status = make_regions(work);
	if (status != STATUS_OK)
		return status;
	add_contours(work);
	for (uint32_t i = 0; i < work->touched.count; i++)
		for (uint32_t k = 0; k < 3; k++)
			add_edge(work, work->touched.items[i].body,
				 3 * work->touched.items[i].triangle + k);
	measure_vertices(work, BODY_A);
	measure_vertices(work, BODY_B);
	measure_edge_middles(work);
	for (uint32_t r = 0; r < work->regions.count; r++)
		finish_region(&work->regions.items[r], &work->sums.items[r], work->origin);
	return STATUS_OK;
}

/* ---- the result ------------------------------------------------------------------------------- */

/* Writes contour `number` from its first segment on. */
static void write_contour(struct regions_work *work, uint32_t number, uint32_t region)
{
	uint32_t first = work->contour_first.items[number], p = first;
	struct contour *contour = &work->contours.items[work->contours.count++];
	*contour = (struct contour){ work->points.count, 0, region, false };
	while (p != NONE) {
		const struct shared_segment *segment = &work->segments.items[p];
		work->points.items[work->points.count++] =
			(struct contour_point){ work->nodes.items[segment->start].point,
						segment->triangle[0], segment->triangle[1] };
		contour->count++;
		if (segment->next ==
		    NONE) /* The last segment of an open contour also writes its end. */
			work->points.items[work->points.count++] =
				(struct contour_point){ work->nodes.items[segment->end].point,
							segment->triangle[0],
							segment->triangle[1] };
		p = segment->next;
		contour->closed = p == first;
		if (p == first || (p != NONE && work->segments.items[p].contour != number))
			break;
	}
	contour->count = work->points.count - contour->first;
}

enum status regions_write(struct regions_work *work, double depth_min)
{
	uint32_t regions = work->regions.count, contours = work->contour_first.count;
	uint64_t capacity = MAX_OF(regions, contours);
	enum status status = ARRAY_RESERVE(&work->sorted, regions);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&work->contours, contours);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&work->points, (uint64_t)work->segments.count + contours);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&work->group_nodes, (uint64_t)regions + 1);
	for (uint32_t i = 0; i < 2 && status == STATUS_OK; i++) {
		status = ARRAY_RESERVE(&work->keys[i], capacity);
		if (status == STATUS_OK)
			status = ARRAY_RESERVE(&work->values[i], capacity);
	}
	if (status != STATUS_OK)
		return status;
	/* values[0]: regions by falling depth. The sort is stable, so equal ones keep their order. */
	for (uint32_t r = 0; r < regions; r++) {
		work->keys[0].items[r] = ~sort_key_of_double(work->regions.items[r].depth);
		work->values[0].items[r] = r;
	}
	sort_keys(work->keys[0].items, work->values[0].items, work->keys[1].items,
		  work->values[1].items, regions);
	/* values[1]: contours by region; those of region r are first[r] … first[r + 1). group_nodes
	 * is free at this stage and holds `first`. */
	uint32_t *first = work->group_nodes.items;
	for (uint32_t r = 0; r <= regions; r++)
		first[r] = 0;
	for (uint32_t c = 0; c < contours; c++)
		first[work_region(work, c) + 1]++;
	for (uint32_t r = 0; r < regions; r++)
		first[r + 1] += first[r];
	for (uint32_t c = contours; c-- > 0;)
		work->keys[1].items[c] = 0;
	for (uint32_t c = 0; c < contours; c++) {
		uint32_t r = work_region(work, c);
		work->values[1].items[first[r] + (uint32_t)work->keys[1].items[r]++] = c;
	}
	for (uint32_t i = 0; i < regions; i++) {
		uint32_t from = work->values[0].items[i], to = work->sorted.count;
		if (work->regions.items[from].depth < depth_min)
			continue;
		struct region *out = &work->sorted.items[work->sorted.count++];
		*out = work->regions.items[from];
		out->first_contour = work->contours.count;
		for (uint32_t c = first[from]; c < first[from + 1]; c++)
			write_contour(work, work->values[1].items[c], to);
		out->contour_count = work->contours.count - out->first_contour;
	}
	return STATUS_OK;
}
