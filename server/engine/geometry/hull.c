/* hull.c: the convex polyhedron: memory, completion, validation, cooking.
 *
 * Invariants (tests cite them):
 *   H-1  every half-edge's next stays in its face; its twin is on another face and runs the other way;
 *   H-2  every face is a loop of at least three different vertices, every vertex has at least three
 *        faces, and V − E + F = 2: one closed surface without handles;
 *   H-3  a face's vertices lie within the tolerance of its plane;
 *   H-4  no vertex lies farther than the tolerance outside any face's plane (convexity);
 *   H-5  normals are unit and point away from the centre, which lies inside;
 *   H-6  corners of a face turn left seen from outside, up to the tolerance.
 */
#include "server/engine/geometry/hull.h"

#include "server/base/heap.h"
#include "server/engine/geometry/cook.h"

#include <string.h>

/* Euler: a polyhedron with V vertices has at most 3V − 6 edges. With more vertices half-edges would
 * no longer fit 16 bits. */
enum { HALF_EDGES_MAX = 6 * SHAPE_HULL_VERTICES_MAX - 12 };
_Static_assert((int)HALF_EDGES_MAX < UINT16_MAX, "half-edges are numbered in 16 bits");

#define NO_EDGE UINT16_MAX

size_t hull_bytes(uint32_t vertices, uint32_t faces, uint32_t half_edges)
{
	return sizeof(struct hull) + vertices * sizeof(vec3) + faces * sizeof(struct hull_face) +
	       half_edges * sizeof(struct half_edge) + vertices * sizeof(uint16_t);
}

struct hull *hull_alloc(uint32_t vertices, uint32_t faces, uint32_t half_edges)
{
	ASSERT(vertices <= SHAPE_HULL_VERTICES_MAX);
	ASSERT(half_edges <= HALF_EDGES_MAX);
	/* Zeroed, so that padding bytes are deterministic as well. */
	struct hull *hull = heap_alloc_zero(hull_bytes(vertices, faces, half_edges));
	if (hull == NULL)
		return NULL;
	hull->vertex_count = vertices;
	hull->face_count = faces;
	hull->edge_count = half_edges;
	/* Parts in falling order of alignment. */
	hull->vertices = (vec3 *)(hull + 1);
	hull->faces = (struct hull_face *)(hull->vertices + vertices);
	hull->edges = (struct half_edge *)(hull->faces + faces);
	hull->vertex_edge = (uint16_t *)(hull->edges + half_edges);
	return hull;
}

static uint16_t destination(const struct hull *hull, uint32_t edge)
{
	VALIDATE(edge < hull->edge_count);
	return hull->edges[hull->edges[edge].next].origin;
}

/* Finds twins by chaining the half-edges that leave each vertex. False unless each has exactly one. */
static bool pair_twins(struct hull *hull)
{
	ASSERT(hull->edge_count <= HALF_EDGES_MAX);
	uint16_t link[HALF_EDGES_MAX];
	memset(hull->vertex_edge, 0xff, hull->vertex_count * sizeof *hull->vertex_edge);
	for (uint32_t h = hull->edge_count; h-- > 0;) {
		uint16_t origin = hull->edges[h].origin;
		ASSERT(origin < hull->vertex_count);
		link[h] = hull->vertex_edge[origin];
		hull->vertex_edge[origin] = (uint16_t)h;
	}
	for (uint32_t h = 0; h < hull->edge_count; h++) {
		uint32_t found = 0;
		uint16_t from = destination(hull, h), to = hull->edges[h].origin;
		for (uint16_t k = hull->vertex_edge[from]; k != NO_EDGE; k = link[k]) {
			if (destination(hull, k) != to)
				continue;
			hull->edges[h].twin = k;
			found++;
		}
		if (found != 1)
			return false;
	}
	return true;
}

/* The plane of a face: Newell's sum of cross products gives the area-weighted normal of a polygon
 * that is planar only to rounding; the offset is that of its outermost vertex. */
static void face_plane(struct hull *hull, struct hull_face *face)
{
	VALIDATE(face->edge < hull->edge_count);
	vec3 origin = hull->vertices[hull->edges[face->edge].origin];
	vec3 sum = vec3_zero();
	uint32_t h = face->edge;
	for (uint32_t i = 0; i < face->edge_count; i++, h = hull->edges[h].next) {
		vec3 a = vec3_sub(hull->vertices[hull->edges[h].origin], origin);
		vec3 b = vec3_sub(hull->vertices[destination(hull, h)], origin);
		sum = vec3_add(sum, vec3_cross(a, b));
	}
	double length = vec3_length(sum);
	/* Divided, not multiplied by the reciprocal: an axis stays exactly an axis. */
	face->normal = length > 0 ? vec3_make(sum.x / length, sum.y / length, sum.z / length)
				  : vec3_zero();
	face->offset = vec3_dot(face->normal, origin);
	for (uint32_t i = 0; i < face->edge_count; i++, h = hull->edges[h].next)
		face->offset =
			scalar_max(face->offset,
				   vec3_dot(face->normal, hull->vertices[hull->edges[h].origin]));
}

#ifdef CAIRN_VALIDATE
static bool twins_are_mutual(const struct hull *hull)
{
	for (uint32_t h = 0; h < hull->edge_count; h++)
		if (hull->edges[hull->edges[h].twin].twin != h)
			return false;
	return true;
}
#endif

bool hull_finish(struct hull *hull)
{
	if (!pair_twins(hull))
		return false;
	for (uint32_t v = 0; v < hull->vertex_count; v++)
		if (hull->vertex_edge[v] == NO_EDGE)
			return false;
	for (uint32_t f = 0; f < hull->face_count; f++)
		face_plane(hull, &hull->faces[f]);
	/* Summed relative to the first vertex, so that a hull far from the origin loses no digits. */
	vec3 base = hull->vertices[0], sum = vec3_zero();
	for (uint32_t v = 0; v < hull->vertex_count; v++)
		sum = vec3_add(sum, vec3_sub(hull->vertices[v], base));
	hull->centre = vec3_mul_add(base, sum, 1.0 / hull->vertex_count);
	VALIDATE(twins_are_mutual(hull));
	return true;
}

/* ---- validation ------------------------------------------------------------------------------- */

static const char *check_edges(const struct hull *hull)
{
	for (uint32_t h = 0; h < hull->edge_count; h++) {
		const struct half_edge *edge = &hull->edges[h];
		const struct half_edge *twin = &hull->edges[edge->twin];
		if (hull->edges[edge->next].face != edge->face)
			return "H-1: the loop of a face leaves the face";
		if (twin->twin != h || twin->face == edge->face)
			return "H-1: the twin of a half-edge is not its other side";
		if (twin->origin != destination(hull, h) ||
		    destination(hull, edge->twin) != edge->origin)
			return "H-1: a twin connects other vertices";
	}
	return NULL;
}

/* Faces around a vertex, 0 when the walk does not close. */
static uint32_t vertex_degree(const struct hull *hull, uint32_t vertex)
{
	VALIDATE(vertex < hull->vertex_count);
	uint32_t h = hull->vertex_edge[vertex], degree = 0;
	do {
		if (hull->edges[h].origin != vertex || ++degree > hull->edge_count)
			return 0;
		h = hull->edges[hull->edges[h].twin].next;
	} while (h != hull->vertex_edge[vertex]);
	return degree;
}

static const char *check_topology(const struct hull *hull)
{
	uint32_t edges = 0;
	for (uint32_t f = 0; f < hull->face_count; f++) {
		uint32_t h = hull->faces[f].edge, length = 0;
		do {
			h = hull->edges[h].next;
			length++;
		} while (h != hull->faces[f].edge && length <= hull->edge_count);
		if (length < 3 || length != hull->faces[f].edge_count || hull->edges[h].face != f)
			return "H-2: a face is not a loop of three or more half-edges";
		edges += length;
	}
	uint32_t corners = 0;
	for (uint32_t v = 0; v < hull->vertex_count; v++) {
		uint32_t degree = vertex_degree(hull, v);
		if (degree < 3)
			return "H-2: a vertex has fewer than three faces";
		corners += degree;
	}
	/* The fans together contain all half-edges, so no two surfaces share only a vertex. */
	if (edges != hull->edge_count || corners != hull->edge_count)
		return "H-2: a half-edge belongs to no face or no vertex";
	if (hull->vertex_count + hull->face_count != hull->edge_count / 2 + 2)
		return "H-2: V - E + F is not 2";
	return NULL;
}

static const char *check_planes(const struct hull *hull, double tolerance)
{
	for (uint32_t f = 0; f < hull->face_count; f++) {
		const struct hull_face *face = &hull->faces[f];
		if (!(scalar_abs(vec3_length(face->normal) - 1.0) <= 1e-12))
			return "H-5: a normal is not unit";
		if (!(vec3_dot(face->normal, hull->centre) < face->offset))
			return "H-5: the centre lies outside";
		uint32_t h = face->edge;
		for (uint32_t i = 0; i < face->edge_count; i++, h = hull->edges[h].next) {
			vec3 p = hull->vertices[hull->edges[h].origin];
			if (scalar_abs(vec3_dot(face->normal, p) - face->offset) > tolerance)
				return "H-3: a face is not planar";
		}
		for (uint32_t v = 0; v < hull->vertex_count; v++)
			if (vec3_dot(face->normal, hull->vertices[v]) - face->offset > tolerance)
				return "H-4: a vertex lies outside a face";
	}
	return NULL;
}

/* A corner turns left, or lies within the tolerance of the line through its neighbours. */
static const char *check_corners(const struct hull *hull, double tolerance)
{
	for (uint32_t h = 0; h < hull->edge_count; h++) {
		const struct half_edge *edge = &hull->edges[h];
		vec3 a = hull->vertices[edge->origin];
		vec3 b = hull->vertices[destination(hull, h)];
		vec3 c = hull->vertices[destination(hull, edge->next)];
		vec3 turn = vec3_cross(vec3_sub(b, a), vec3_sub(c, b));
		double height = vec3_dot(turn, hull->faces[edge->face].normal);
		if (height < -tolerance * vec3_distance(a, c))
			return "H-6: a corner turns right";
	}
	return NULL;
}

bool hull_is_valid(const struct hull *hull, double tolerance, const char **why)
{
	ASSERT(tolerance >= 0);
	const char *fault = check_edges(hull);
	if (fault == NULL)
		fault = check_topology(hull);
	if (fault == NULL)
		fault = check_planes(hull, tolerance);
	if (fault == NULL)
		fault = check_corners(hull, tolerance);
	if (why != NULL)
		*why = fault;
	return fault == NULL;
}

/* ---- cooking ---------------------------------------------------------------------------------- */

static void measure_hull(struct shape *shape)
{
	ASSERT(shape->mass.volume > 0);
	const struct hull *hull = shape->hull;
	vec3 centre = shape->mass.centre;
	struct aabb box = aabb_empty();
	double farthest = 0, nearest = SCALAR_MAX;
	for (uint32_t v = 0; v < hull->vertex_count; v++) {
		box = aabb_add_point(box, hull->vertices[v]);
		farthest = scalar_max(farthest, vec3_distance(hull->vertices[v], centre));
	}
	for (uint32_t f = 0; f < hull->face_count; f++)
		nearest = scalar_min(nearest, hull->faces[f].offset -
						      vec3_dot(hull->faces[f].normal, centre));
	ASSERT(farthest > 0);
	shape->aabb_min = box.min;
	shape->aabb_max = box.max;
	shape->radius_max = farthest;
	shape->extent_min = scalar_max(nearest, 0);
}

enum status hull_measure(struct shape *shape, const struct mass_properties *mass,
			 struct reason *why)
{
	ASSERT(shape->hull != NULL && shape->hull->vertex_count >= 4);
	const struct hull *hull = shape->hull;
	shape->memory_bytes += hull_bytes(hull->vertex_count, hull->face_count, hull->edge_count);
	shape->mass = *mass;
	if (!(shape->mass.volume > 0))
		return reason_set(why, STATUS_DEGENERATE, -1, "points", "the hull has no volume");
	measure_hull(shape);
	return STATUS_OK;
}

enum status hull_cook(struct cook *cook)
{
	ASSERT(cook->shape->kind == SHAPE_HULL);
	struct shape *shape = cook->shape;
	uint32_t count;
	enum status status = cook_count(cook, "points", 4, SHAPE_CLOUD_MAX, &count);
	if (status == STATUS_OK)
		status = cook_expect(cook, (uint64_t)count * 24);
	if (status != STATUS_OK)
		return status;
	struct hull_build build;
	vec3 *points = heap_alloc(count * sizeof *points);
	if (points == NULL)
		return cook_no_memory(cook);
	status = cook_points(cook, count, 3, points);
	if (status == STATUS_OK)
		status = hull_of_points(points, count, &shape->hull, &build, cook->why);
	heap_free(points);
	if (status != STATUS_OK)
		return status;
	return hull_measure(shape, &build.mass, cook->why);
}
