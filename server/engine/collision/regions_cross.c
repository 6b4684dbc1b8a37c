/* regions_cross.c: all pieces and nodes, and the contours they form.
 *
 * Each pair of triangles that cross has one piece with two ends (crossing.h). An end is a node: an edge
 * of one body and a triangle of the other, found by both triangles of that edge; in one of the two
 * pieces it is the end, in the other the start (regions.h: B is moved a little, so there are no other
 * cases, and closed meshes give closed contours). Sorting the starts and the ends by their names
 * finds the pairs; then contours are followed from piece to piece. Pieces are numbered as the
 * hierarchies give them, contours by their first piece.
 *
 * Nodes of one edge p q must stand in their true order, or parts of it would count as inside that are
 * not. With d₁, d₂ the signed heights of p and q over the planes of two triangles, the edge passes the
 * first before the second when E = d₁(p) d₂(q) − d₁(q) d₂(p) has the sign of (d₁(p) − d₁(q)) (d₂(p) −
 * d₂(q)); moving B by s adds s·(± n₁ (d₂(q) − d₂(p)) ∓ n₂ (d₁(q) − d₁(p))), which decides where bodies
 * are aligned and E is 0. Heights are taken to 106 bits, so noise of turned coordinates is told apart.
 */
#include "server/engine/collision/crossing.h"
#include "server/engine/collision/mesh_pair.h"
#include "server/engine/collision/regions_work.h"

#include "server/base/sort.h"
#include "server/engine/math/double_double.h"

#define ORDER_NOISE 0x1p-90 /* of E's terms: 0 */
#define SHIFT_NOISE 0x1p-40 /* of the shift's terms: 0 */

static uint64_t name_of(const struct regions_work *work, const uint32_t triangle[2],
			struct crossing_end end)
{
	VALIDATE(end.edge < 3);
	uint32_t body = end.from_a ? BODY_A : BODY_B;
	uint32_t half_edge = 3 * triangle[body] + end.edge;
	uint64_t edge = work_edge_name(work->mesh[body], half_edge);
	return (uint64_t)body << 63 | edge << 32 | triangle[1 - body];
}

static enum status add_piece(struct regions_work *work, uint32_t i, uint32_t j,
			     const struct crossing *crossing)
{
	VALIDATE(i < work->mesh[BODY_A]->triangle_count);
	VALIDATE(j < work->mesh[BODY_B]->triangle_count);
	uint32_t p = work->pieces.count, triangle[2] = { i, j };
	enum status status = ARRAY_RESERVE(&work->pieces, (uint64_t)p + 1);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&work->keys[0], 2 * ((uint64_t)p + 1));
	for (uint32_t body = 0; body < 2 && status == STATUS_OK; body++) {
		status = work_note(work, body, triangle[body]);
		if (status == STATUS_OK)
			work->marks[body].triangle[triangle[body]] |= TRIANGLE_CROSSED;
	}
	if (status != STATUS_OK)
		return status;
	work->pieces.items[work->pieces.count++] =
		(struct shared_segment){ { i, j }, NONE, NONE, NONE, NONE };
	work->keys[0].items[2 * p] = name_of(work, triangle, crossing->start);
	work->keys[0].items[2 * p + 1] = name_of(work, triangle, crossing->end);
	return STATUS_OK;
}

static double2 minus(double a, double b)
{
	return double2_sum(a, -b);
}

/* u (v w' − w v'), one of the three parts of a determinant. */
static double2 part_of(double2 u, double2 v, double2 w2, double2 w, double2 v2)
{
	return double2_mul(u, double2_add(double2_mul(v, w2), double2_negate(double2_mul(w, v2))));
}

/* ((t₁ − t₀) × (t₂ − t₀)) · (p − t₀). */
static double2 height_over(const vec3 t[3], vec3 p)
{
	double2 u[3] = { minus(t[1].x, t[0].x), minus(t[1].y, t[0].y), minus(t[1].z, t[0].z) };
	double2 v[3] = { minus(t[2].x, t[0].x), minus(t[2].y, t[0].y), minus(t[2].z, t[0].z) };
	double2 w[3] = { minus(p.x, t[0].x), minus(p.y, t[0].y), minus(p.z, t[0].z) };
	double2 sum = part_of(w[0], u[1], v[2], u[2], v[1]);
	sum = double2_add(sum, part_of(w[1], u[2], v[0], u[0], v[2]));
	return double2_add(sum, part_of(w[2], u[0], v[1], u[1], v[0]));
}

/* Where an edge goes through a triangle's plane. */
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

/* Numbers the nodes by their names; keys[0] holds the names of each piece's start and end. */
static enum status number_nodes(struct regions_work *work)
{
	uint32_t ends = 2 * work->pieces.count;
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
				(struct node){ .key = key, .piece = NONE, .contour = NONE };
		struct node *node = &work->nodes.items[work->nodes.count - 1];
		struct shared_segment *piece = &work->pieces.items[end / 2];
		if (end % 2 == 0) {
			piece->start = work->nodes.count - 1;
			node->piece = end / 2;
		} else {
			piece->end = work->nodes.count - 1;
		}
	}
	status = ARRAY_RESERVE(&work->heights, work->nodes.count);
	for (uint32_t i = 0; i < work->nodes.count && status == STATUS_OK; i++)
		place_node(work, &work->nodes.items[i], &work->heights.items[i]);
	return status;
}

static double2 of_parts(const double parts[2])
{
	return (double2){ parts[0], parts[1] };
}

/* < 0: node a comes first along their edge. */
static int along_edge(const void *one, const void *other, void *context)
{
	const struct regions_work *work = context;
	uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
	const struct node_height *ha = &work->heights.items[a], *hb = &work->heights.items[b];
	double2 ap = of_parts(ha->from), aq = of_parts(ha->to);
	double2 bp = of_parts(hb->from), bq = of_parts(hb->to);
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

/* The nodes of each edge in the order along it; values are free again. */
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
			   sizeof(uint32_t), along_edge, work);
		uint32_t body = (uint32_t)(edge >> 31), name = (uint32_t)edge & 0x7fffffff;
		status = work_note(work, body, name / 3);
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
		if (work->pieces.count >= pairs_max)
			return STATUS_LIMIT;
		enum status status = add_piece(work, i, j, &crossing);
		if (status != STATUS_OK)
			return status;
	}
	work->nodes_tested = walk.tested;
	if (work->pieces.count == 0)
		return STATUS_OK;
	enum status status = number_nodes(work);
	work->origin = status == STATUS_OK ? work->nodes.items[0].point : vec3_zero();
	return status == STATUS_OK ? group_nodes(work) : status;
}

/* ---- contours --------------------------------------------------------------------------------- */

static void follow_chain(struct regions_work *work, uint32_t first, uint32_t contour)
{
	struct shared_segment *pieces = work->pieces.items;
	for (uint32_t p = first; p != NONE && pieces[p].contour == NONE; p = pieces[p].next) {
		pieces[p].contour = contour;
		work->nodes.items[pieces[p].start].contour = contour;
		work->nodes.items[pieces[p].end].contour = contour;
	}
}

static enum status new_contour(struct regions_work *work, uint32_t first)
{
	uint32_t contour;
	enum status status = work_new_element(work, REGION_CROSSING, &contour);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&work->contour_first, (uint64_t)contour + 1);
	if (status != STATUS_OK)
		return status;
	work->contour_first.items[work->contour_first.count++] = first;
	follow_chain(work, first, contour);
	return STATUS_OK;
}

/* Open ones first, from where nothing leads to them; then the closed ones. */
enum status regions_trace(struct regions_work *work)
{
	uint32_t count = work->pieces.count;
	enum status status = ARRAY_RESERVE(&work->values[0], count);
	if (status != STATUS_OK)
		return status;
	uint32_t *led_to = work->values[0].items;
	for (uint32_t p = 0; p < count; p++)
		led_to[p] = 0;
	for (uint32_t p = 0; p < count; p++) {
		uint32_t next = work->nodes.items[work->pieces.items[p].end].piece;
		work->pieces.items[p].next = next;
		if (next != NONE)
			led_to[next]++;
	}
	for (uint32_t pass = 0; pass < 2; pass++)
		for (uint32_t p = 0; p < count && status == STATUS_OK; p++) {
			if (work->pieces.items[p].contour != NONE || (pass == 0 && led_to[p] > 0))
				continue;
			work->broken += pass == 0;
			status = new_contour(work, p);
		}
	return status;
}
