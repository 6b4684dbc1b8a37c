/* See regions_work.h. Which parts of the surfaces lie inside, and which contours they join (G-29's
 * flood).
 *
 * A surface inside the other body is bounded by contours. The nodes on the edges of a crossed
 * triangle decide which of its corners are inside. An edge without nodes between two such corners
 * lies wholly inside and leads to the triangle on its other side. A triangle that is reached and
 * not crossed lies wholly inside. All contours from which the flood reaches the same edge or
 * triangle are joined.
 *
 * Holes: a contour may lie in a single triangle (a spike through the middle of a large face). If
 * the face is inside all around the contour, the contour is joined with the surface around it: a
 * ray in the plane of the triangle, from the contour's farthest point outward, first meets another
 * contour or the border of the triangle, and that is joined. Only here does rounding decide; it can
 * misjudge only curves that are closer to each other than the rounding of their points.
 *
 * Shells (G-16): a part of a body that no contour touches lies wholly inside or wholly outside. It
 * can be inside only if its box is in the box of the other body. The search therefore starts from
 * triangles in that box. It rejects a shell at the first triangle that leaves the box, that the
 * flood has reached, or that is crossed.
 */
#include "server/engine/collision/regions_work.h"

#include "server/engine/geometry/intersect_obb_obb.h"
#include "server/engine/geometry/intersect_point_mesh.h"

/* ---- ends of an edge -------------------------------------------------------------------------- */

static struct node_group *group_of(struct regions_work *work, uint32_t body, uint32_t half_edge)
{
	uint32_t mark = work->marks[body].edge[work_edge_name(work->mesh[body], half_edge)];
	return mark & 1 ? &work->groups.items[mark / 2] : NULL;
}

enum corner_state { CORNER_UNKNOWN, CORNER_OUTSIDE, CORNER_INSIDE };
struct flood_corner {
	enum corner_state state;
	uint32_t element;
};

/* The state of the start (`beginning`) or end of a half-edge, from the node next to it. */
static struct flood_corner corner_at(const struct regions_work *work, uint32_t body,
				     const struct node_group *group, uint32_t half_edge,
				     bool beginning)
{
	VALIDATE(group->count > 0);
	bool named = work_edge_name(work->mesh[body], half_edge) == half_edge;
	uint32_t at = named == beginning ? 0 : group->count - 1;
	const struct node *node = &work->nodes.items[work->group_nodes.items[group->first + at]];
	bool inside = (named == beginning) != node->enters;
	return (struct flood_corner){ inside ? CORNER_INSIDE : CORNER_OUTSIDE, node->contour };
}

/* ---- flood ------------------------------------------------------------------------------------ */

/* Lists corner k of a triangle as inside, unless it is listed. */
static enum status list_vertex(struct regions_work *work, uint32_t body, uint32_t triangle,
			       uint32_t k, uint32_t element)
{
	VALIDATE(k < 3);
	VALIDATE(triangle < work->mesh[body]->triangle_count);
	uint32_t vertex = work->mesh[body]->triangles[triangle][k];
	if (work->marks[body].vertex[vertex])
		return STATUS_OK;
	enum status status =
		ARRAY_RESERVE(&work->inside[body], (uint64_t)work->inside[body].count + 1);
	if (status != STATUS_OK)
		return status;
	work->marks[body].vertex[vertex] = 1;
	work->inside[body].items[work->inside[body].count++] =
		(struct inside_vertex){ vertex, element };
	return STATUS_OK;
}

enum status regions_flood_edge(struct regions_work *work, uint32_t body, uint32_t half_edge,
			       uint32_t element)
{
	VALIDATE(half_edge / 3 < work->mesh[body]->triangle_count);
	VALIDATE(element < work->elements.count);
	uint32_t twin = work_twin(work->mesh[body], half_edge);
	uint32_t *mark = &work->marks[body].edge[MIN_OF(half_edge, twin)];
	if (*mark != 0) {
		work_join(work, *mark / 2 - 1, element);
		return STATUS_OK;
	}
	enum status status = work_touch(work, body, half_edge / 3);
	if (status == STATUS_OK && twin != NONE)
		status = work_touch(work, body, twin / 3);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&work->stack, (uint64_t)work->stack.count + 2);
	if (status != STATUS_OK)
		return status;
	*mark = 2 * (element + 1);
	work->stack.items[work->stack.count++] = (struct body_triangle){ body, half_edge / 3 };
	if (twin != NONE)
		work->stack.items[work->stack.count++] = (struct body_triangle){ body, twin / 3 };
	return STATUS_OK;
}

/* A triangle that is reached over an edge inside: if none of its edges has nodes, all of it is
 * inside. */
static enum status flood_whole(struct regions_work *work, uint32_t body, uint32_t triangle)
{
	VALIDATE(triangle < work->mesh[body]->triangle_count);
	uint8_t *state = &work->marks[body].triangle[triangle];
	uint32_t element = NONE;
	if (*state & TRIANGLE_INSIDE)
		return STATUS_OK;
	for (uint32_t k = 0; k < 3; k++) {
		if (group_of(work, body, 3 * triangle + k) != NULL)
			return STATUS_OK; /* flood_crossed floods from its corners. */
		uint32_t name = work_edge_name(work->mesh[body], 3 * triangle + k);
		uint32_t mark = work->marks[body].edge[name];
		if (mark != 0 && element == NONE)
			element = mark / 2 - 1;
	}
	*state |= TRIANGLE_INSIDE;
	enum status status = STATUS_OK;
	for (uint32_t k = 0; k < 3 && status == STATUS_OK; k++) {
		status = regions_flood_edge(work, body, 3 * triangle + k, element);
		if (status == STATUS_OK)
			status = list_vertex(work, body, triangle, k, element);
	}
	return status;
}

enum status regions_flood_drain(struct regions_work *work)
{
	enum status status = STATUS_OK;
	while (work->stack.count > 0 && status == STATUS_OK) {
		struct body_triangle next = work->stack.items[--work->stack.count];
		status = flood_whole(work, next.body, next.triangle);
	}
	return status;
}

/* Adds a known state of a corner; two sets that both hold it are joined. */
static void merge_corner(struct regions_work *work, struct flood_corner *corner,
			 struct flood_corner known)
{
	if (corner->state == CORNER_UNKNOWN)
		*corner = known;
	else if (corner->state == CORNER_INSIDE && known.state == CORNER_INSIDE)
		work_join(work, corner->element, known.element);
}

/* Lists the corners of a crossed triangle that are inside, and floods from its edges that are
 * wholly inside. */
static enum status flood_crossed(struct regions_work *work, uint32_t body, uint32_t triangle)
{
	struct flood_corner corner[3] = { { CORNER_UNKNOWN, 0 } };
	const struct node_group *group[3];
	for (uint32_t k = 0; k < 3; k++) {
		uint32_t half_edge = 3 * triangle + k;
		group[k] = group_of(work, body, half_edge);
		if (group[k] == NULL)
			continue;
		merge_corner(work, &corner[k], corner_at(work, body, group[k], half_edge, true));
		merge_corner(work, &corner[(k + 1) % 3],
			     corner_at(work, body, group[k], half_edge, false));
	}
	/* Both ends of an edge without nodes are on the same side. Two rounds, because the end from
	 * which an edge takes its state may itself become known only in the first round. */
	for (uint32_t k = 0; k < 6; k++) {
		struct flood_corner *one = &corner[k % 3], *other = &corner[(k + 1) % 3];
		if (group[k % 3] != NULL)
			continue;
		if (one->state != CORNER_UNKNOWN)
			merge_corner(work, other, *one);
		else if (other->state != CORNER_UNKNOWN)
			merge_corner(work, one, *other);
	}
	enum status status = STATUS_OK;
	for (uint32_t k = 0; k < 3 && status == STATUS_OK; k++) {
		if (corner[k].state != CORNER_INSIDE)
			continue;
		status = list_vertex(work, body, triangle, k, corner[k].element);
		if (status == STATUS_OK && group[k] == NULL)
			status =
				regions_flood_edge(work, body, 3 * triangle + k, corner[k].element);
	}
	return status;
}

enum status regions_flood(struct regions_work *work)
{
	enum status status = STATUS_OK;
	/* The part of an edge between two nodes joins their contours if it is inside. */
	for (uint32_t g = 0; g < work->groups.count; g++) {
		const uint32_t *nodes = &work->group_nodes.items[work->groups.items[g].first];
		for (uint32_t i = 1; i < work->groups.items[g].count; i++) {
			const struct node *from = &work->nodes.items[nodes[i - 1]];
			if (from->enters)
				work_join(work, from->contour, work->nodes.items[nodes[i]].contour);
		}
	}
	uint32_t crossed = work->touched.count; /* The flood appends more. */
	for (uint32_t i = 0; i < crossed && status == STATUS_OK; i++) {
		struct body_triangle at = work->touched.items[i];
		status = flood_crossed(work, at.body, at.triangle);
	}
	return status == STATUS_OK ? regions_flood_drain(work) : status;
}

/* ---- holes ------------------------------------------------------------------------------------ */

/* A ray from (u, v) in direction +u. It lies in the plane of a triangle and is projected along one of
 * the axes; u and v are the other two. */
struct plane_ray {
	uint32_t x, y;	/* the axes of u and v */
	double u, v;	/* m */
	double nearest; /* u of the nearest hit so far */
};

/* Whether the segment p q is the nearest hit so far; then it updates ray->nearest. The segment is
 * half open in v, so a corner counts once. */
static bool ray_meets(struct plane_ray *ray, vec3 p, vec3 q)
{
	double pv = vec3_get(p, ray->y), qv = vec3_get(q, ray->y);
	if ((pv > ray->v) == (qv > ray->v))
		return false;
	double pu = vec3_get(p, ray->x), qu = vec3_get(q, ray->x);
	double u = pu + (qu - pu) * ((ray->v - pv) / (qv - pv));
	if (!(u >= ray->u && u < ray->nearest))
		return false;
	ray->nearest = u;
	return true;
}

/* Joins the part of an edge that the ray hit; an edge without nodes is inside as a whole. */
static enum status join_edge(struct regions_work *work, uint32_t body, uint32_t half_edge,
			     const struct plane_ray *ray, uint32_t contour)
{
	const struct node_group *group = group_of(work, body, half_edge);
	if (group == NULL)
		return regions_flood_edge(work, body, half_edge, contour);
	vec3 p = work_corner(work, body, half_edge / 3, half_edge % 3);
	vec3 q = work_corner(work, body, half_edge / 3, half_edge % 3 + 1);
	double height = vec3_get(q, ray->y) - vec3_get(p, ray->y);
	double at = height != 0 ? (ray->v - vec3_get(p, ray->y)) / height : 0;
	if (work_edge_name(work->mesh[body], half_edge) != half_edge)
		at = 1 - at;
	/* If the last node before the hit enters, the part begins there; else it ends at the next
	 * node. */
	uint32_t i = 0;
	const uint32_t *nodes = &work->group_nodes.items[group->first];
	while (i + 1 < group->count && work->nodes.items[nodes[i + 1]].at <= at)
		i++;
	const struct node *node = &work->nodes.items[nodes[i]];
	if (!node->enters && node->at <= at && i + 1 < group->count)
		node = &work->nodes.items[nodes[i + 1]];
	work_join(work, node->contour, contour);
	return STATUS_OK;
}

/* Casts the ray of a hole and joins the contour with the first contour or edge that the ray meets. */
static enum status join_hole(struct regions_work *work, uint32_t contour, uint32_t body,
			     struct plane_ray ray)
{
	uint32_t triangle = work->segments.items[work->contour_first.items[contour]].triangle[body];
	uint32_t edge = NONE, other = NONE;
	for (uint32_t p = 0; p < work->segments.count; p++) {
		const struct shared_segment *segment = &work->segments.items[p];
		if (segment->triangle[body] == triangle && segment->contour != contour &&
		    ray_meets(&ray, work->nodes.items[segment->start].point,
			      work->nodes.items[segment->end].point))
			other = segment->contour;
	}
	for (uint32_t k = 0; k < 3; k++)
		if (ray_meets(&ray, work_corner(work, body, triangle, k),
			      work_corner(work, body, triangle, k + 1)))
			edge = 3 * triangle + k;
	if (edge != NONE)
		return join_edge(work, body, edge, &ray, contour);
	if (other != NONE)
		work_join(work, other, contour);
	return STATUS_OK;
}

/* Joins a contour that is a hole in a face of `body` with the surface around it. */
static enum status join_if_hole(struct regions_work *work, uint32_t contour, uint32_t body)
{
	const struct shared_segment *segments = work->segments.items;
	const struct node *nodes = work->nodes.items;
	/* A hole is closed and lies in one triangle. */
	uint32_t first = work->contour_first.items[contour], p = first;
	uint32_t triangle = segments[first].triangle[body];
	do {
		if (segments[p].triangle[body] != triangle)
			return STATUS_OK;
		p = segments[p].next;
	} while (p != NONE && p != first);
	if (p != first)
		return STATUS_OK;
	/* The triangle is projected along the largest axis of its normal. */
	vec3 t[3];
	for (uint32_t k = 0; k < 3; k++)
		t[k] = work_corner(work, body, triangle, k);
	vec3 normal = vec3_cross(vec3_sub(t[1], t[0]), vec3_sub(t[2], t[0]));
	uint32_t axis = vec3_largest_axis(vec3_abs(normal));
	struct plane_ray ray = { .x = (axis + 1) % 3, .y = (axis + 2) % 3 };
	/* Twice the area that the contour encloses, and its point farthest along x, where the ray
	 * starts. */
	double area = 0;
	vec3 origin = nodes[segments[first].start].point;
	ray.u = -SCALAR_MAX;
	ray.nearest = SCALAR_MAX;
	do {
		vec3 here = vec3_sub(nodes[segments[p].start].point, origin);
		vec3 there = vec3_sub(nodes[segments[p].end].point, origin);
		area += vec3_get(here, ray.x) * vec3_get(there, ray.y) -
			vec3_get(here, ray.y) * vec3_get(there, ray.x);
		if (vec3_get(nodes[segments[p].start].point, ray.x) > ray.u) {
			ray.u = vec3_get(nodes[segments[p].start].point, ray.x);
			ray.v = vec3_get(nodes[segments[p].start].point, ray.y);
		}
		p = segments[p].next;
	} while (p != first);
	/* A contour runs with the inside to its left on A and to its right on B (crossing.h). Seen
	 * from the front of its triangle, the inside therefore surrounds it if it runs clockwise on
	 * A, counter-clockwise on B. */
	bool clockwise = (area < 0) != (vec3_get(normal, axis) < 0);
	if (clockwise != (body == BODY_A))
		return STATUS_OK;
	return join_hole(work, contour, body, ray);
}

enum status regions_holes(struct regions_work *work)
{
	enum status status = STATUS_OK;
	for (uint32_t c = 0; c < work->contour_first.count; c++)
		for (uint32_t body = 0; body < 2 && status == STATUS_OK; body++)
			status = join_if_hole(work, c, body);
	return status == STATUS_OK ? regions_flood_drain(work) : status;
}

/* ---- shells ----------------------------------------------------------------------------------- */

static enum status push_triangle(struct regions_work *work, uint32_t body, uint32_t triangle)
{
	enum status status = work_touch(work, body, triangle);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&work->stack, (uint64_t)work->stack.count + 1);
	if (status != STATUS_OK)
		return status;
	work->marks[body].triangle[triangle] |= TRIANGLE_VISITED;
	work->stack.items[work->stack.count++] = (struct body_triangle){ body, triangle };
	return STATUS_OK;
}

/* Collects the triangles of a shell in the stack. *whole: false if the shell leaves the box (of A's
 * frame), is crossed, or has been reached before; then its triangles are marked as rejected. */
static enum status collect_shell(struct regions_work *work, uint32_t body, uint32_t triangle,
				 const struct aabb *within, bool *whole)
{
	const struct mesh *mesh = work->mesh[body];
	work->stack.count = 0;
	*whole = true;
	enum status status = push_triangle(work, body, triangle);
	for (uint32_t i = 0; i < work->stack.count && status == STATUS_OK; i++) {
		uint32_t at = work->stack.items[i].triangle;
		struct aabb box = aabb_of_point(work_corner(work, body, at, 0));
		box = aabb_add_point(box, work_corner(work, body, at, 1));
		box = aabb_add_point(box, work_corner(work, body, at, 2));
		if (!aabb_contains(*within, box))
			*whole = false;
		for (uint32_t k = 0; k < 3 && *whole && status == STATUS_OK; k++) {
			uint32_t next = mesh->adjacent[at][k];
			uint8_t state = work->marks[body].triangle[next];
			if (state & (TRIANGLE_CROSSED | TRIANGLE_INSIDE | TRIANGLE_REJECTED))
				*whole = false;
			else if (!(state & TRIANGLE_VISITED))
				status = push_triangle(work, body, next);
		}
		if (!*whole)
			break;
	}
	for (uint32_t i = 0; i < work->stack.count && !*whole; i++)
		work->marks[body].triangle[work->stack.items[i].triangle] |= TRIANGLE_REJECTED;
	return status;
}

/* Whether the shell in the stack lies inside the other body, decided by its first vertex that is
 * not on the other's surface. */
static bool shell_is_inside(const struct regions_work *work, uint32_t body)
{
	const struct mesh *other = work->mesh[1 - body];
	for (uint32_t i = 0; i < work->stack.count; i++)
		for (uint32_t k = 0; k < 3; k++) {
			vec3 p = work_corner(work, body, work->stack.items[i].triangle, k);
			if (body == BODY_A)
				p = pose_inverse_point(work->at[BODY_B], p);
			enum point_mesh where = intersect_point_mesh(other, p);
			if (where != POINT_MESH_ON)
				return where == POINT_MESH_INSIDE;
		}
	return true;
}

/* The box of a node whose frame has the pose `at`, aligned with the axes in which `at` is given. */
static struct aabb box_around(const struct mesh_node *node, pose at)
{
	mat3 rotation = mat3_from_quat(at.rotation);
	struct obb box = obb_of_aabb(aabb_make(node->min, node->max));
	box = obb_placed(&box, &at, &rotation);
	mat3 size = { vec3_abs(box.axes.x), vec3_abs(box.axes.y), vec3_abs(box.axes.z) };
	return aabb_of_centre(box.centre, mat3_mul_vec(size, box.half));
}

static enum status find_shells(struct regions_work *work, uint32_t body)
{
	const struct mesh_node *other = &work->mesh[1 - body]->nodes[0];
	pose b_in_a = work->at[BODY_B];
	/* The box of the other body, in A's frame and, for the walk, in this body's frame. */
	struct aabb within = box_around(other, work->at[1 - body]);
	struct mesh_walk walk;
	mesh_walk_init(&walk, work->mesh[body],
		       body == BODY_A ? within : box_around(other, pose_inverse(b_in_a)));
	uint32_t triangle;
	enum status status = STATUS_OK;
	while (status == STATUS_OK && mesh_walk_next(&walk, &triangle)) {
		bool whole;
		uint32_t element;
		if (work->marks[body].triangle[triangle] & ~TRIANGLE_TOUCHED)
			continue;
		status = collect_shell(work, body, triangle, &within, &whole);
		if (status != STATUS_OK || !whole || !shell_is_inside(work, body))
			continue;
		/* A shell inside is a region of its own; the flood lists its vertices and edges. */
		work->stack.count = 0;
		status = work_new_element(work, body == BODY_A ? REGION_A_IN_B : REGION_B_IN_A,
					  &element);
		if (status == STATUS_OK)
			status = regions_flood_edge(work, body, 3 * triangle, element);
		if (status == STATUS_OK)
			status = regions_flood_drain(work);
	}
	work->stack.count = 0;
	return status;
}

enum status regions_shells(struct regions_work *work)
{
	enum status status = find_shells(work, BODY_A);
	return status == STATUS_OK ? find_shells(work, BODY_B) : status;
}
