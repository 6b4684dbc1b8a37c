/* regions_flood.c: which parts of the surfaces lie inside, and which contours they join (G-29's flood).
 *
 * A surface inside the other body is bounded by contours. From the nodes on its edges each crossed
 * triangle knows which of its corners are inside; edges without nodes between two such corners are
 * inside as a whole and lead on to the triangle across, which is inside as a whole when it is not
 * crossed. Whatever is reached joins the sets of the contours it is reached from.
 *
 * Holes: a contour can lie in a single triangle (a spike through the middle of a large face). If the
 * face is inside all around it, the contour belongs to what lies around: a ray in the plane of the
 * triangle, from the contour's farthest point outward, meets another contour or the border of the triangle
 * first; they are joined. This is the one place where rounding decides, and it can only misjudge
 * curves nearer to each other than rounding.
 *
 * Shells (G-16): a part of a body that no contour touches lies wholly inside or outside. It can be inside
 * only if its box is, so the search starts from triangles in the other body's box, and gives up at the
 * first triangle that is not, or that the flood or a contour knows.
 */
#include "server/engine/collision/regions_work.h"

#include "server/engine/geometry/intersect_obb_obb.h"
#include "server/engine/geometry/intersect_point_mesh.h"

/* ---- what an edge knows ----------------------------------------------------------------------- */

static struct node_group *group_of(struct regions_work *work, uint32_t body, uint32_t half_edge)
{
	uint32_t mark = work->marks[body].edge[work_edge_name(work->mesh[body], half_edge)];
	return mark & 1 ? &work->groups.items[mark / 2] : NULL;
}

/* The node nearest to the half-edge's beginning, or to its end. */
static const struct node *outer_node(const struct regions_work *work,
				     const struct node_group *group, bool named, bool beginning)
{
	VALIDATE(group->count > 0);
	uint32_t at = named == beginning ? 0 : group->count - 1;
	return &work->nodes.items[work->group_nodes.items[group->first + at]];
}

enum corner_state { CORNER_UNKNOWN, CORNER_OUTSIDE, CORNER_INSIDE };
struct flood_corner {
	enum corner_state state;
	uint32_t element;
};

static struct flood_corner corner_at(const struct regions_work *work, uint32_t body,
				     const struct node_group *group, uint32_t half_edge,
				     bool beginning)
{
	bool named = work_edge_name(work->mesh[body], half_edge) == half_edge;
	const struct node *node = outer_node(work, group, named, beginning);
	bool inside = (named == beginning) != node->enters;
	return (struct flood_corner){ inside ? CORNER_INSIDE : CORNER_OUTSIDE, node->contour };
}

/* ---- flood ------------------------------------------------------------------------------------ */

static enum status note_vertex(struct regions_work *work, uint32_t body, uint32_t triangle,
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
	enum status status = work_note(work, body, half_edge / 3);
	if (status == STATUS_OK && twin != NONE)
		status = work_note(work, body, twin / 3);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&work->stack, (uint64_t)work->stack.count + 2);
	if (status != STATUS_OK)
		return status;
	*mark = 2 * (element + 1);
	work->stack.items[work->stack.count++] = (struct noted){ body, half_edge / 3 };
	if (twin != NONE)
		work->stack.items[work->stack.count++] = (struct noted){ body, twin / 3 };
	return STATUS_OK;
}

/* A triangle none of whose edges has nodes, reached by one that is inside: all of it is. */
static enum status flood_whole(struct regions_work *work, uint32_t body, uint32_t triangle)
{
	VALIDATE(triangle < work->mesh[body]->triangle_count);
	uint8_t *state = &work->marks[body].triangle[triangle];
	uint32_t element = NONE;
	if (*state & TRIANGLE_INSIDE)
		return STATUS_OK;
	for (uint32_t k = 0; k < 3; k++) {
		if (group_of(work, body, 3 * triangle + k) != NULL)
			return STATUS_OK; /* It knows its corners itself. */
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
			status = note_vertex(work, body, triangle, k, element);
	}
	return status;
}

enum status regions_flood_drain(struct regions_work *work)
{
	enum status status = STATUS_OK;
	while (work->stack.count > 0 && status == STATUS_OK) {
		struct noted next = work->stack.items[--work->stack.count];
		status = flood_whole(work, next.body, next.triangle);
	}
	return status;
}

static void learn(struct regions_work *work, struct flood_corner *corner, struct flood_corner known)
{
	if (corner->state == CORNER_UNKNOWN)
		*corner = known;
	else if (corner->state == CORNER_INSIDE && known.state == CORNER_INSIDE)
		work_join(work, corner->element, known.element);
}

/* What is inside of a crossed triangle: corners, and edges between two of them. */
static enum status flood_crossed(struct regions_work *work, uint32_t body, uint32_t triangle)
{
	struct flood_corner corner[3] = { { CORNER_UNKNOWN, 0 } };
	const struct node_group *group[3];
	for (uint32_t k = 0; k < 3; k++) {
		uint32_t half_edge = 3 * triangle + k;
		group[k] = group_of(work, body, half_edge);
		if (group[k] == NULL)
			continue;
		learn(work, &corner[k], corner_at(work, body, group[k], half_edge, true));
		learn(work, &corner[(k + 1) % 3],
		      corner_at(work, body, group[k], half_edge, false));
	}
	/* Twice round: a corner may learn from one that learns in the same round. */
	for (uint32_t k = 0; k < 6; k++) {
		struct flood_corner *one = &corner[k % 3], *other = &corner[(k + 1) % 3];
		if (group[k % 3] != NULL)
			continue;
		if (one->state != CORNER_UNKNOWN)
			learn(work, other, *one);
		else if (other->state != CORNER_UNKNOWN)
			learn(work, one, *other);
	}
	enum status status = STATUS_OK;
	for (uint32_t k = 0; k < 3 && status == STATUS_OK; k++) {
		if (corner[k].state != CORNER_INSIDE)
			continue;
		status = note_vertex(work, body, triangle, k, corner[k].element);
		if (status == STATUS_OK && group[k] == NULL)
			status =
				regions_flood_edge(work, body, 3 * triangle + k, corner[k].element);
	}
	return status;
}

/* The part of an edge between two nodes. */
static void join_along(struct regions_work *work, const struct node_group *group)
{
	const uint32_t *nodes = &work->group_nodes.items[group->first];
	for (uint32_t i = 1; i < group->count; i++) {
		const struct node *from = &work->nodes.items[nodes[i - 1]];
		if (from->enters)
			work_join(work, from->contour, work->nodes.items[nodes[i]].contour);
	}
}

enum status regions_flood(struct regions_work *work)
{
	enum status status = STATUS_OK;
	for (uint32_t g = 0; g < work->groups.count; g++)
		join_along(work, &work->groups.items[g]);
	uint32_t crossed = work->touched.count; /* The flood notes more. */
	for (uint32_t i = 0; i < crossed && status == STATUS_OK; i++) {
		struct noted at = work->touched.items[i];
		status = flood_crossed(work, at.body, at.triangle);
	}
	return status == STATUS_OK ? regions_flood_drain(work) : status;
}

/* ---- holes ------------------------------------------------------------------------------------ */

/* A ray in the plane of a triangle, seen along an axis: from (u, v), along +u. */
struct plane_ray {
	uint32_t x, y; /* axes */
	double u, v, nearest;
};

/* Whether the segment is met first, so far. Half open in v, so a corner counts once. */
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

/* The part of an edge that the ray met: joins its set, or if no node is near, all of the edge. */
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
	/* The last node before it leads to it if it enters; else it is the first after. */
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

static enum status join_hole(struct regions_work *work, uint32_t contour, uint32_t body,
			     struct plane_ray ray)
{
	uint32_t triangle = work->pieces.items[work->contour_first.items[contour]].triangle[body];
	uint32_t edge = NONE, other = NONE;
	for (uint32_t p = 0; p < work->pieces.count; p++) {
		const struct shared_segment *piece = &work->pieces.items[p];
		if (piece->triangle[body] == triangle && piece->contour != contour &&
		    ray_meets(&ray, work->nodes.items[piece->start].point,
			      work->nodes.items[piece->end].point))
			other = piece->contour;
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

/* Twice the area a contour encloses, seen along an axis, and its point farthest along x. */
static double enclosed(const struct regions_work *work, uint32_t first, struct plane_ray *ray)
{
	double sum = 0;
	uint32_t p = first;
	vec3 origin = work->nodes.items[work->pieces.items[first].start].point;
	ray->u = -SCALAR_MAX;
	ray->nearest = SCALAR_MAX;
	do {
		const struct shared_segment *piece = &work->pieces.items[p];
		vec3 here = vec3_sub(work->nodes.items[piece->start].point, origin);
		vec3 there = vec3_sub(work->nodes.items[piece->end].point, origin);
		sum += vec3_get(here, ray->x) * vec3_get(there, ray->y) -
		       vec3_get(here, ray->y) * vec3_get(there, ray->x);
		if (vec3_get(work->nodes.items[piece->start].point, ray->x) > ray->u) {
			ray->u = vec3_get(work->nodes.items[piece->start].point, ray->x);
			ray->v = vec3_get(work->nodes.items[piece->start].point, ray->y);
		}
		p = piece->next;
	} while (p != NONE && p != first);
	return sum;
}

static bool in_one_triangle(const struct regions_work *work, uint32_t first, uint32_t body)
{
	uint32_t p = first, triangle = work->pieces.items[first].triangle[body];
	do {
		if (work->pieces.items[p].triangle[body] != triangle)
			return false;
		p = work->pieces.items[p].next;
	} while (p != NONE && p != first);
	return p == first;
}

/* A contour runs with the inside to its left on A and to its right on B (crossing.h): seen from the
 * front of its triangle, the face inside is round it when it runs clockwise on A, counter-clockwise
 * on B. */
static enum status hole_of(struct regions_work *work, uint32_t contour, uint32_t body)
{
	uint32_t first = work->contour_first.items[contour];
	if (!in_one_triangle(work, first, body))
		return STATUS_OK;
	vec3 t[3];
	for (uint32_t k = 0; k < 3; k++)
		t[k] = work_corner(work, body, work->pieces.items[first].triangle[body], k);
	vec3 normal = vec3_cross(vec3_sub(t[1], t[0]), vec3_sub(t[2], t[0]));
	uint32_t axis = vec3_largest_axis(vec3_abs(normal));
	struct plane_ray ray = { .x = (axis + 1) % 3, .y = (axis + 2) % 3 };
	double area = enclosed(work, first, &ray);
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
			status = hole_of(work, c, body);
	return status == STATUS_OK ? regions_flood_drain(work) : status;
}

/* ---- shells ----------------------------------------------------------------------------------- */

static struct aabb box_in_a(const struct regions_work *work, uint32_t body, uint32_t triangle)
{
	struct aabb box = aabb_of_point(work_corner(work, body, triangle, 0));
	box = aabb_add_point(box, work_corner(work, body, triangle, 1));
	return aabb_add_point(box, work_corner(work, body, triangle, 2));
}

static enum status see(struct regions_work *work, uint32_t body, uint32_t triangle)
{
	enum status status = work_note(work, body, triangle);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&work->stack, (uint64_t)work->stack.count + 1);
	if (status != STATUS_OK)
		return status;
	work->marks[body].triangle[triangle] |= TRIANGLE_SEEN;
	work->stack.items[work->stack.count++] = (struct noted){ body, triangle };
	return STATUS_OK;
}

/* Collects a shell's triangles in the stack; false in *whole when it leaves the box or is known. */
static enum status collect_regions(struct regions_work *work, uint32_t body, uint32_t triangle,
				   const struct aabb *within, bool *whole)
{
	const struct mesh *mesh = work->mesh[body];
	work->stack.count = 0;
	*whole = true;
	enum status status = see(work, body, triangle);
	for (uint32_t i = 0; i < work->stack.count && status == STATUS_OK; i++) {
		uint32_t at = work->stack.items[i].triangle;
		if (!aabb_contains(*within, box_in_a(work, body, at)))
			*whole = false;
		for (uint32_t k = 0; k < 3 && *whole && status == STATUS_OK; k++) {
			uint32_t next = mesh->adjacent[at][k];
			uint8_t state = work->marks[body].triangle[next];
			if (state & (TRIANGLE_CROSSED | TRIANGLE_INSIDE | TRIANGLE_LEFT))
				*whole = false;
			else if (!(state & TRIANGLE_SEEN))
				status = see(work, body, next);
		}
		if (!*whole)
			break;
	}
	for (uint32_t i = 0; i < work->stack.count && !*whole; i++)
		work->marks[body].triangle[work->stack.items[i].triangle] |= TRIANGLE_LEFT;
	return status;
}

/* Whether what is in the stack lies inside: the first vertex that is not on the surface tells. */
static bool stack_is_inside(const struct regions_work *work, uint32_t body)
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

static enum status flood_stack(struct regions_work *work, uint32_t body)
{
	uint32_t element, triangle = work->stack.items[0].triangle;
	enum status status =
		work_new_element(work, body == BODY_A ? REGION_A_IN_B : REGION_B_IN_A, &element);
	work->stack.count = 0;
	if (status == STATUS_OK)
		status = regions_flood_edge(work, body, 3 * triangle, element);
	return status == STATUS_OK ? regions_flood_drain(work) : status;
}

/* The box along the axes of the frame in which another frame stands at `at`, around one of its own. */
static struct aabb box_around(const struct mesh_node *node, pose at)
{
	mat3 rotation = mat3_from_quat(at.rotation);
	struct obb box = obb_of_aabb(aabb_make(node->min, node->max));
	box = obb_placed(&box, &at, &rotation);
	mat3 size = { vec3_abs(box.axes.x), vec3_abs(box.axes.y), vec3_abs(box.axes.z) };
	return aabb_of_centre(box.centre, mat3_mul_vec(size, box.half));
}

static enum status shells_of(struct regions_work *work, uint32_t body)
{
	const struct mesh_node *other = &work->mesh[1 - body]->nodes[0];
	pose b_in_a = work->at[BODY_B];
	/* Where the other lies, in A's frame and in the body's own. */
	struct aabb within = box_around(other, work->at[1 - body]);
	struct mesh_walk walk;
	mesh_walk_init(&walk, work->mesh[body],
		       body == BODY_A ? within : box_around(other, pose_inverse(b_in_a)));
	uint32_t triangle;
	enum status status = STATUS_OK;
	while (status == STATUS_OK && mesh_walk_next(&walk, &triangle)) {
		bool whole;
		if (work->marks[body].triangle[triangle] & ~TRIANGLE_NOTED)
			continue;
		status = collect_regions(work, body, triangle, &within, &whole);
		if (status == STATUS_OK && whole && stack_is_inside(work, body))
			status = flood_stack(work, body);
	}
	work->stack.count = 0;
	return status;
}

enum status regions_shells(struct regions_work *work)
{
	enum status status = shells_of(work, BODY_A);
	return status == STATUS_OK ? shells_of(work, BODY_B) : status;
}
