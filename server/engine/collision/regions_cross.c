/* See regions_work.h. All segments and nodes, and the contours that they form.
 *
 * Each pair of triangles that cross has one segment with two ends (crossing.h). An end is a node:
 * an edge of one body and a triangle of the other body. Both triangles of that edge find the node;
 * in one of the two segments it is the end, in the other one the start. Because B is shifted by an
 * infinitesimal vector, there are no other cases, and closed meshes give closed contours. Sorting
 * starts and ends by the keys of their nodes finds the pairs; then contours are followed from
 * segment to segment. Segments are numbered in the order in which the hierarchies give them,
 * contours by their first segment.
 *
 * The nodes of an edge p q must be in their true order; otherwise parts of the edge that are
 * outside would count as inside. Let d₁, d₂ be the signed heights over the planes of two triangles.
 * The edge passes the first triangle before the second if E = d₁(p) d₂(q) − d₁(q) d₂(p) has the
 * sign of (d₁(p) − d₁(q)) (d₂(p) − d₂(q)). A shift of B by s adds s·(± n₁ (d₂(q) − d₂(p)) ∓ n₂
 * (d₁(q) − d₁(p))), which decides if the bodies are aligned and E is 0. Heights are computed to 106
 * bits, so that the rounding of rotated coordinates is distinguished from 0.
 */
#include "server/engine/collision/crossing.h"
#include "server/engine/collision/mesh_pair.h"
#include "server/engine/collision/regions_work.h"

#include "server/base/sort.h"
#include "server/engine/math/double_double.h"

/* E counts as 0 below this part of its terms: above the rounding of 106 bits, far below that of a
 * double. */
#define ORDER_NOISE 0x1p-90
/* Likewise for the terms of the shift, which are doubles. */
#define SHIFT_NOISE 0x1p-40

/* struct node.key of one end of the segment of triangles triangle[BODY_A] and triangle[BODY_B]. */
static uint64_t node_key(const struct regions_work *work, const uint32_t triangle[2],
			 struct crossing_end end)
{
	VALIDATE(end.edge < 3);
	uint32_t body = end.from_a ? BODY_A : BODY_B;
	uint32_t half_edge = 3 * triangle[body] + end.edge;
	uint64_t edge = work_edge_name(work->mesh[body], half_edge);
	return (uint64_t)body << 63 | edge << 32 | triangle[1 - body];
}

static enum status add_segment(struct regions_work *work, uint32_t i, uint32_t j,
			       const struct crossing *crossing)
{
	VALIDATE(i < work->mesh[BODY_A]->triangle_count);
	VALIDATE(j < work->mesh[BODY_B]->triangle_count);
	uint32_t p = work->segments.count, triangle[2] = { i, j };
	enum status status = ARRAY_RESERVE(&work->segments, (uint64_t)p + 1);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&work->keys[0], 2 * ((uint64_t)p + 1));
	for (uint32_t body = 0; body < 2 && status == STATUS_OK; body++) {
		status = work_touch(work, body, triangle[body]);
		if (status == STATUS_OK)
			work->marks[body].triangle[triangle[body]] |= TRIANGLE_CROSSED;
	}
	if (status != STATUS_OK)
		return status;
	work->segments.items[work->segments.count++] =
		(struct shared_segment){ { i, j }, NONE, NONE, NONE, NONE };
	work->keys[0].items[2 * p] = node_key(work, triangle, crossing->start);
	work->keys[0].items[2 * p + 1] = node_key(work, triangle, crossing->end);
	return STATUS_OK;
}

static double2 difference(double a, double b)
{
	return double2_sum(a, -b);
}

/* u (v w' − w v'), one of the three parts of a determinant. */
static double2 determinant_part(double2 u, double2 v, double2 w2, double2 w, double2 v2)
{
	return double2_mul(u, double2_add(double2_mul(v, w2), double2_negate(double2_mul(w, v2))));
}

/* ((t₁ − t₀) × (t₂ − t₀)) · (p − t₀). */
static double2 height_over(const vec3 t[3], vec3 p)
{
	double2 u[3] = { difference(t[1].x, t[0].x), difference(t[1].y, t[0].y),
			 difference(t[1].z, t[0].z) };
	double2 v[3] = { difference(t[2].x, t[0].x), difference(t[2].y, t[0].y),
			 difference(t[2].z, t[0].z) };
	double2 w[3] = { difference(p.x, t[0].x), difference(p.y, t[0].y),
			 difference(p.z, t[0].z) };
	double2 sum = determinant_part(w[0], u[1], v[2], u[2], v[1]);
	sum = double2_add(sum, determinant_part(w[1], u[2], v[0], u[0], v[2]));
	return double2_add(sum, determinant_part(w[2], u[0], v[1], u[1], v[0]));
}

/* The point where a node's edge passes the plane of its triangle. */
static void place_node(struct regions_work *work, struct node *node, struct node_height *out)
{
	uint32_t body = (uint32_t)(node->key >> 63),
		 edge = (uint32_t)(node->key >> 32) & 0x7fffffff;
	uint32_t other = 1 - body, triangle = (uint32_t)node->key;
	vec3 t[3], p = work_corner(work, body, edge / 3, edge % 3);
	vec3 q = work_corner(work, body, edge / 3, edge % 3 + 1);
	for (uint32_t k = 0; k < 3; k++)
		t[k] = work_corner(work, other, triangle, k);
	double2 here = height_over(t, p), there = height_over(t, q);
	double2 both = double2_add(here, double2_negate(there));
	vec3 normal = vec3_cross(vec3_sub(t[1], t[0]), vec3_sub(t[2], t[0]));
	node->enters = (other == BODY_A ? crossing_side_of_a(t, p) : crossing_side_of_b(t, p)) > 0;
	node->at = both.hi != 0 ? scalar_clamp(double2_div(here, both).hi, 0, 1) : 0.5;
	node->point = vec3_lerp(p, q, node->at);
	*out = (struct node_height){ { here.hi, here.lo },
				     { there.hi, there.lo },
				     other == BODY_A ? normal : vec3_negate(normal) };
}

/* Makes the nodes in the order of their keys; keys[0] holds the keys of each segment's start and
 * end. */
static enum status number_nodes(struct regions_work *work)
{
	uint32_t ends = 2 * work->segments.count;
	enum status status = ARRAY_RESERVE(&work->keys[1], ends);
	for (uint32_t i = 0; i < 2 && status == STATUS_OK; i++)
		status = ARRAY_RESERVE(&work->values[i], ends);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&work->nodes, ends);
	if (status != STATUS_OK)
		return status;
	for (uint32_t i = 0; i < ends; i++)
		work->values[0].items[i] = i;
	sort_keys(work->keys[0].items, work->values[0].items, work->keys[1].items,
		  work->values[1].items, ends);
	for (uint32_t i = 0; i < ends; i++) {
		uint64_t key = work->keys[0].items[i];
		uint32_t end = work->values[0].items[i];
		if (i == 0 || key != work->keys[0].items[i - 1])
			work->nodes.items[work->nodes.count++] =
				(struct node){ .key = key, .segment = NONE, .contour = NONE };
		struct node *node = &work->nodes.items[work->nodes.count - 1];
		struct shared_segment *segment = &work->segments.items[end / 2];
		if (end % 2 == 0) {
			segment->start = work->nodes.count - 1;
			node->segment = end / 2;
		} else {
			segment->end = work->nodes.count - 1;
		}
	}
	status = ARRAY_RESERVE(&work->heights, work->nodes.count);
	for (uint32_t i = 0; i < work->nodes.count && status == STATUS_OK; i++)
		place_node(work, &work->nodes.items[i], &work->heights.items[i]);
	return status;
}

static double2 to_double2(const double parts[2])
{
	return (double2){ parts[0], parts[1] };
}

/* < 0: node a is before node b on their edge. */
static int compare_along_edge(const void *one, const void *other, void *context)
{
	const struct regions_work *work = context;
	uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
	const struct node_height *ha = &work->heights.items[a], *hb = &work->heights.items[b];
	double2 ap = to_double2(ha->from), aq = to_double2(ha->to);
	double2 bp = to_double2(hb->from), bq = to_double2(hb->to);
	double2 first = double2_mul(ap, bq), second = double2_mul(aq, bp);
	double order = double2_add(first, double2_negate(second)).hi;
	double size = scalar_abs(first.hi) + scalar_abs(second.hi);
	bool same = work->nodes.items[a].enters == work->nodes.items[b].enters;
	if (scalar_abs(order) > ORDER_NOISE * size)
		return (order > 0) == same ? -1 : 1;
	vec3 up = vec3_scale(ha->shift, bq.hi - bp.hi), down = vec3_scale(hb->shift, aq.hi - ap.hi);
	for (uint32_t axis = 0; axis < 3; axis++) {
		double x = vec3_get(up, axis), y = vec3_get(down, axis);
		if (scalar_abs(x - y) > SHIFT_NOISE * (scalar_abs(x) + scalar_abs(y)))
			return (x > y) == same ? -1 : 1;
	}
	return (a > b) - (a < b);
}

/* Groups the nodes by edge and sorts each group along its edge. Overwrites values[0]. */
static enum status group_nodes(struct regions_work *work)
{
	uint32_t count = work->nodes.count;
	enum status status = ARRAY_RESERVE(&work->groups, count);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&work->group_nodes, count);
	if (status != STATUS_OK)
		return status;
	for (uint32_t first = 0, end; first < count; first = end) {
		uint64_t edge = work->nodes.items[first].key >> 32;
		for (end = first; end < count && work->nodes.items[end].key >> 32 == edge; end++)
			work->group_nodes.items[end] = end;
		sort_items(&work->group_nodes.items[first], work->values[0].items, end - first,
			   sizeof(uint32_t), compare_along_edge, work);
		uint32_t body = (uint32_t)(edge >> 31), name = (uint32_t)edge & 0x7fffffff;
		status = work_touch(work, body, name / 3);
		if (status != STATUS_OK)
			return status;
		work->marks[body].edge[name] = 1 + 2 * work->groups.count;
		work->groups.items[work->groups.count++] =
			(struct node_group){ first, end - first };
	}
	work->group_nodes.count = count;
	return STATUS_OK;
}

enum status regions_cross(struct regions_work *work, uint32_t pairs_max)
{
	struct mesh_pair walk;
	uint32_t i, j;
	mesh_pair_init(&walk, work->mesh[BODY_A], work->mesh[BODY_B], &work->at[BODY_B]);
	while (mesh_pair_next(&walk, &i, &j)) {
		struct crossing crossing;
		vec3 a[3];
		for (uint32_t k = 0; k < 3; k++)
			a[k] = mesh_corner(work->mesh[BODY_A], i, k);
		enum crossing_outcome outcome = crossing_find(a, walk.corners, &crossing);
		work->broken += outcome == CROSSING_BROKEN;
		if (outcome != CROSSING_FOUND)
			continue;
		if (work->segments.count >= pairs_max)
			return STATUS_LIMIT;
		enum status status = add_segment(work, i, j, &crossing);
		if (status != STATUS_OK)
			return status;
	}
	work->nodes_tested = walk.tested;
	if (work->segments.count == 0)
		return STATUS_OK;
	enum status status = number_nodes(work);
	work->origin = status == STATUS_OK ? work->nodes.items[0].point : vec3_zero();
	return status == STATUS_OK ? group_nodes(work) : status;
}

/* ---- contours --------------------------------------------------------------------------------- */

enum status regions_trace(struct regions_work *work)
{
	uint32_t count = work->segments.count;
	struct shared_segment *segments = work->segments.items;
	enum status status = ARRAY_RESERVE(&work->values[0], count);
	if (status != STATUS_OK)
		return status;
	/* The successor of each segment, and how many predecessors it has. */
	uint32_t *predecessors = work->values[0].items;
	for (uint32_t p = 0; p < count; p++)
		predecessors[p] = 0;
	for (uint32_t p = 0; p < count; p++) {
		uint32_t next = work->nodes.items[segments[p].end].segment;
		segments[p].next = next;
		if (next != NONE)
			predecessors[next]++;
	}
	/* Open contours first, from their first segment, which has no predecessor; then closed
	 * contours, from their segment of least number. */
	for (uint32_t pass = 0; pass < 2; pass++)
		for (uint32_t first = 0; first < count; first++) {
			uint32_t contour;
			if (segments[first].contour != NONE ||
			    (pass == 0 && predecessors[first] > 0))
				continue;
			work->broken += pass == 0;
			status = work_new_element(work, REGION_CROSSING, &contour);
			if (status == STATUS_OK)
				status = ARRAY_RESERVE(&work->contour_first, (uint64_t)contour + 1);
			if (status != STATUS_OK)
				return status;
			work->contour_first.items[work->contour_first.count++] = first;
			for (uint32_t p = first; p != NONE && segments[p].contour == NONE;
			     p = segments[p].next) {
				segments[p].contour = contour;
				work->nodes.items[segments[p].start].contour = contour;
				work->nodes.items[segments[p].end].contour = contour;
			}
		}
	return STATUS_OK;
}
