/* See field_pair.h. Contact candidates of a distance field: vertices and edges of polyhedra in the field, and
 * vertices of the field's mesh against faces.
 *
 * An edge touches between its ends where it crosses an edge of the field's solid, or at both ends of the part
 * that lies on a face. These points are found by marching along the edge. The distance changes by no more
 * than the step, so a step may be as long as the value less the reach and a cell; it is at least half a cell.
 */
#include "server/engine/collision/field_pair.h"
#include "server/engine/geometry/distance_field_cell.h"
#include "server/engine/geometry/mesh.h"

enum { FAN_MAX = 16, EDGE_STEPS_MAX = 4096 };

#define INSET                                                                                      \
	5.0 /* cells from a vertex into its face, where the field is flat if a face lies there */
#define OPPOSED -0.9 /* cosine: of a face's normal to the field's that it lies on */
#define PLATEAU                                                                                    \
	0.02 /* cells: points of an edge whose value exceeds the least by less lie on the face */
#define APART 2.0 /* cells: points of an edge that are nearer than this are merged */

/* A polyhedron in a field: its placing there, and the direction of the result. */
struct probing {
	struct field_pair *to;
	const struct distance_field *field;
	struct placing at; /* the probe's frame in the field's */
	bool swapped;	   /* the field is b's and the probe a's */
};

/* The faces around a feature, in the field's frame: the normal, and a point of the feature moved INSET cells
 * into the face. */
struct fan {
	uint32_t count;
	vec3 normal[FAN_MAX], inset[FAN_MAX];
};

static void fan_add(struct fan *fan, const struct probing *x, vec3 p, vec3 normal, vec3 centre)
{
	vec3 to = vec3_sub(centre, p);
	double length = vec3_length(to);
	ASSERT(fan->count <= FAN_MAX);
	if (fan->count == FAN_MAX || !(length > 0))
		return;
	double part = scalar_min(0.9, INSET * x->field->cell / length);
	fan->normal[fan->count] = normal;
	fan->inset[fan->count++] = vec3_mul_add(p, to, part);
}

static enum feature_kind probe_feature_kind(const struct probing *x)
{
	return x->swapped ? FEATURE_IN_OTHER : FEATURE_IN_FIELD;
}

/* Adds a candidate found in the field's frame. */
static void emit_candidate(const struct probing *x, vec3 p, vec3 normal, double separation,
			   uint32_t feature)
{
	if (!x->swapped) {
		field_add(x->to, p, normal, separation, feature);
		return;
	}
	const struct placing *place = &x->to->b_in_a;
	vec3 on_b = placing_point(place, vec3_mul_sub(p, normal, separation));
	field_add(x->to, on_b, vec3_negate(mat3_mul_vec(place->rotation, normal)), separation,
		  feature);
}

/* Writes normal and separation at p. Where the field is not flat, a face of the fan that lies on the field's
 * solid gives a more accurate normal. False: p is beyond the reach. */
static bool resolve_normal(const struct probing *x, vec3 p, const struct fan *fan,
			   struct field_sample *at)
{
	ASSERT(fan->count <= FAN_MAX);
	double most = OPPOSED;
	struct field_sample best, near;
	if (!distance_field_sample(x->field, p, x->to->reach, at) ||
	    at->value > x->to->reach + 2 * x->field->cell)
		return false;
	if (at->flat)
		return true;
	for (uint32_t k = 0; k < fan->count; k++) {
		if (!distance_field_sample(x->field, fan->inset[k],
					   2 * x->to->reach + 4 * x->field->cell, &near) ||
		    !near.flat || !(vec3_dot(near.normal, fan->normal[k]) < most))
			continue;
		most = vec3_dot(near.normal, fan->normal[k]);
		best = near;
		best.value += vec3_dot(near.normal, vec3_sub(p, fan->inset[k]));
	}
	if (most < OPPOSED)
		*at = best;
	return true;
}

/* ---- edges ------------------------------------------------------------------------------------ */

struct field_edge {
	vec3 ends[2];
	double value[2];	   /* of the field at the ends, m */
	vec3 normal[2], centre[2]; /* of the adjacent faces */
	uint32_t faces, number;
};

/* Adds the point at parameter t of the edge; `which`: 0 or 1, the first or last touching point. */
static void add_edge_point(const struct probing *x, const struct field_edge *edge, double t,
			   uint32_t which)
{
	struct fan fan = { 0 };
	struct field_sample at;
	vec3 p = vec3_lerp(edge->ends[0], edge->ends[1], t);
	vec3 along = vec3_normalize(vec3_sub(edge->ends[1], edge->ends[0]));
	ASSERT(edge->faces >= 1 && edge->faces <= 2);
	ASSERT(which < 2);
	for (uint32_t k = 0; k < edge->faces; k++)
		fan_add(&fan, x, p, edge->normal[k], edge->centre[k]);
	if (!resolve_normal(x, p, &fan, &at))
		return;
	vec3 normal = at.normal;
	if (!at.flat)
		normal = vec3_normalize(vec3_mul_sub(normal, along, vec3_dot(normal, along)));
	if (vec3_length_squared(normal) < 0.5)
		return;
	emit_candidate(x, p, normal, at.value,
		       field_feature(probe_feature_kind(x), edge->number, true, which));
}

/* The part of an edge, from `first` to `last` (0 … 1), with values within PLATEAU of the least, in m. */
struct edge_minimum {
	double least, first, last;
};

static struct edge_minimum march_edge(const struct probing *x, const struct field_edge *edge,
				      double enter, double leave)
{
	double cell = x->field->cell, slack = PLATEAU * cell;
	vec3 along = vec3_sub(edge->ends[1], edge->ends[0]);
	double length = vec3_length(along), s = enter * length;
	struct edge_minimum low = { SCALAR_MAX, 0, 0 };
	for (uint32_t i = 0; i < EDGE_STEPS_MAX && s <= leave * length; i++) {
		double value;
		distance_field_value(x->field, vec3_mul_add(edge->ends[0], along, s / length),
				     &value);
		if (value < low.least - slack)
			low = (struct edge_minimum){ value, s / length, s / length };
		else if (value <= low.least + slack)
			low = (struct edge_minimum){ scalar_min(low.least, value), low.first,
						     s / length };
		s += scalar_max(value - x->to->reach - cell, 0.5 * cell);
	}
	return low;
}

static void gather_edge(const struct probing *x, const struct field_edge *edge)
{
	vec3 along = vec3_sub(edge->ends[1], edge->ends[0]);
	double enter, leave, reach = x->to->reach, length = vec3_length(along);
	struct aabb box = aabb_grow(x->field->solid, reach);
	/* The edge is skipped if both ends touch, or if no point between can be within the reach, because the
	 * distance changes by at most the distance moved. */
	if ((edge->value[0] <= reach && edge->value[1] <= reach) || !(length > 0) ||
	    edge->value[0] + edge->value[1] > 2 * (reach + x->field->cell) + length ||
	    !aabb_clip_line(box, edge->ends[0], along, 1, &enter, &leave))
		return;
	struct edge_minimum low = march_edge(x, edge, enter, leave);
	if (!(low.least <= reach))
		return;
	double apart = APART * x->field->cell / length;
	/* Near an end that touches, the vertex is the candidate. */
	if (!(edge->value[0] <= reach && low.first < apart) &&
	    !(edge->value[1] <= reach && low.first > 1 - apart))
		add_edge_point(x, edge, low.first, 0);
	if (low.last - low.first > apart && !(edge->value[0] <= reach && low.last < apart) &&
	    !(edge->value[1] <= reach && low.last > 1 - apart))
		add_edge_point(x, edge, low.last, 1);
}

/* The field's value at p; outside the grid a lower bound, the distance from the solid's box. */
static double field_value(const struct probing *x, vec3 p)
{
	double value;
	distance_field_value(x->field, p, &value);
	return value;
}

/* ---- a hull in a field ------------------------------------------------------------------------ */

static vec3 face_centre(const struct hull *hull, uint32_t face)
{
	ASSERT(face < hull->face_count);
	vec3 sum = vec3_zero();
	uint32_t h = hull->faces[face].edge, count = hull->faces[face].edge_count;
	for (uint32_t k = 0; k < count; k++, h = hull->edges[h].next)
		sum = vec3_add(sum, hull->vertices[hull->edges[h].origin]);
	return vec3_scale(sum, 1.0 / count);
}

static void add_face(struct fan *fan, const struct probing *x, const struct hull *hull,
		     uint32_t face, vec3 p)
{
	fan_add(fan, x, p, mat3_mul_vec(x->at.rotation, hull->faces[face].normal),
		placing_point(&x->at, face_centre(hull, face)));
}

/* Adds the vertices of a hull, and its edges between them. */
static void hull_in_field(const struct probing *x, const struct hull *hull)
{
	ASSERT(hull->vertex_count <= SHAPE_HULL_VERTICES_MAX);
	double value[SHAPE_HULL_VERTICES_MAX];
	struct field_sample at;
	for (uint32_t v = 0; v < hull->vertex_count; v++) {
		struct fan fan = { 0 };
		vec3 p = placing_point(&x->at, hull->vertices[v]);
		value[v] = field_value(x, p);
		if (value[v] > x->to->reach + 2 * x->field->cell)
			continue;
		uint32_t first = hull->vertex_edge[v], h = first;
		do {
			add_face(&fan, x, hull, hull->edges[h].face, p);
			h = hull->edges[hull->edges[h].twin].next;
		} while (h != first && fan.count < FAN_MAX);
		if (!resolve_normal(x, p, &fan, &at))
			continue;
		value[v] = at.value;
		emit_candidate(x, p, at.normal, at.value,
			       field_feature(probe_feature_kind(x), v, false, 0));
	}
	for (uint32_t h = 0; h < hull->edge_count; h++) {
		const struct half_edge *half = &hull->edges[h], *twin = &hull->edges[half->twin];
		if (half->twin < h)
			continue;
		struct field_edge edge = { .value = { value[half->origin], value[twin->origin] },
					   .faces = 2,
					   .number = h };
		const uint16_t faces[2] = { half->face, twin->face },
			       ends[2] = { half->origin, twin->origin };
		if (edge.value[0] <= x->to->reach && edge.value[1] <= x->to->reach)
			continue;
		for (uint32_t k = 0; k < 2; k++) {
			edge.ends[k] = placing_point(&x->at, hull->vertices[ends[k]]);
			edge.normal[k] = mat3_mul_vec(x->at.rotation, hull->faces[faces[k]].normal);
			edge.centre[k] = placing_point(&x->at, face_centre(hull, faces[k]));
		}
		gather_edge(x, &edge);
	}
}

/* ---- triangles in a field --------------------------------------------------------------------- */

/* A triangle's corners, normal and centre in the field's frame. */
struct facet {
	vec3 corner[3], normal, centre;
};

static struct facet facet_of(const struct probing *x, const struct mesh *mesh, uint32_t triangle)
{
	ASSERT(triangle < mesh->triangle_count);
	struct facet facet;
	for (uint32_t k = 0; k < 3; k++)
		facet.corner[k] = placing_point(&x->at, mesh_corner(mesh, triangle, k));
	facet.normal = mat3_mul_vec(x->at.rotation, mesh_normal(mesh, triangle));
	facet.centre = vec3_scale(
		vec3_add(vec3_add(facet.corner[0], facet.corner[1]), facet.corner[2]), 1.0 / 3);
	return facet;
}

static void fan_around(struct fan *fan, const struct probing *x, const struct mesh *mesh,
		       uint32_t triangle, uint32_t corner)
{
	ASSERT(corner < 3);
	vec3 place = mesh_corner(mesh, triangle, corner), p = placing_point(&x->at, place);
	uint32_t t = triangle, k = corner;
	do {
		struct facet facet = facet_of(x, mesh, t);
		fan_add(fan, x, p, facet.normal, facet.centre);
		t = mesh_across(mesh, t, (k + 2) % 3);
		for (k = 0; t != UINT32_MAX && k < 2 && !vec3_equal(mesh_corner(mesh, t, k), place);
		     k++)
			;
	} while (t != triangle && t != UINT32_MAX && fan->count < FAN_MAX);
}

/* Adds candidates of the corners in `owns` (distance_field_probe) and of its edges that are convex. */
static void triangle_in_field(const struct probing *x, const struct mesh *mesh, uint32_t triangle,
			      uint8_t owns)
{
	struct facet facet = facet_of(x, mesh, triangle);
	struct field_sample at;
	double value[3];
	for (uint32_t k = 0; k < 3; k++) {
		struct fan fan = { 0 };
		value[k] = field_value(x, facet.corner[k]);
		if ((owns >> k & 1) == 0 || value[k] > x->to->reach + 2 * x->field->cell)
			continue;
		fan_around(&fan, x, mesh, triangle, k);
		if (resolve_normal(x, facet.corner[k], &fan, &at))
			emit_candidate(
				x, facet.corner[k], at.normal, at.value,
				field_feature(probe_feature_kind(x), 3 * triangle + k, false, 0));
	}
	for (uint32_t k = 0; k < 3; k++) {
		uint32_t next = (k + 1) % 3, other = mesh_across(mesh, triangle, k);
		if ((owns >> (3 + k) & 1) == 0 || !mesh_edge_is_open(mesh, triangle, k))
			continue;
		struct field_edge edge = { .ends = { facet.corner[k], facet.corner[next] },
					   .value = { value[k], value[next] },
					   .normal = { facet.normal },
					   .centre = { facet.centre },
					   .faces = 1,
					   .number = triangle * 3 + k };
		if (other != UINT32_MAX) {
			struct facet across = facet_of(x, mesh, other);
			edge.normal[1] = across.normal;
			edge.centre[1] = across.centre;
			edge.faces = 2;
		}
		gather_edge(x, &edge);
	}
}

/* Adds the vertices and convex edges of a mesh, through its hierarchy. */
static void mesh_in_field(const struct probing *x, const struct distance_field_probe *probe)
{
	const struct mesh *mesh = probe->mesh;
	uint32_t stack[MESH_DEPTH_MAX], depth = 1;
	stack[0] = 0;
	while (depth > 0) {
		uint32_t at = stack[--depth];
		const struct mesh_node *node = &mesh->nodes[at];
		vec3 middle =
			placing_point(&x->at, vec3_scale(vec3_add(node->min, node->max), 0.5));
		double half = 0.5 * vec3_distance(node->min, node->max);
		if (distance_field_bound(x->field, middle) > half + x->to->reach)
			continue;
		for (uint32_t i = node->first; node->count > 0 && i < node->first + node->count;
		     i++)
			triangle_in_field(x, mesh, mesh->order[i], probe->owns[mesh->order[i]]);
		if (node->count == 0) {
			stack[depth++] = node->first;
			stack[depth++] = at + 1;
		}
	}
}

/* ---- vertices of the field's mesh ------------------------------------------------------------- */

typedef void visit_vertex(struct field_pair *self, uint32_t triangle, uint32_t corner, vec3 p,
			  void *context);

/* Visits the vertices of the field's mesh in a box of its frame, each once. */
static void visit_vertices(struct field_pair *self, struct aabb box, visit_vertex *visit,
			   void *context)
{
	const struct distance_field_probe *probe = &self->sides->probe;
	struct mesh_walk walk;
	uint32_t t;
	mesh_walk_init(&walk, probe->mesh, box);
	while (mesh_walk_next(&walk, &t))
		for (uint32_t k = 0; k < 3; k++) {
			vec3 p = mesh_corner(probe->mesh, t, k);
			if ((probe->owns[t] >> k & 1) != 0 && aabb_contains_point(box, p))
				visit(self, t, k, p, context);
		}
}

/* ---- half-spaces ------------------------------------------------------------------------------ */

void field_gather_plane(struct field_pair *self)
{
	const struct shape *b = self->pair->b;
	const struct mesh *mesh = self->sides->probe.mesh;
	vec3 n = mat3_mul_vec(self->b_in_a.rotation, b->plane.normal), out = vec3_negate(n);
	double offset = b->plane.offset + vec3_dot(n, self->b_in_a.translation);
	uint32_t stack[MESH_DEPTH_MAX], depth = 1;
	stack[0] = 0;
	while (depth > 0) {
		uint32_t at = stack[--depth];
		const struct mesh_node *node = &mesh->nodes[at];
		vec3 middle = vec3_scale(vec3_add(node->min, node->max), 0.5);
		vec3 half = vec3_sub(node->max, middle);
		if (vec3_dot(n, middle) - vec3_dot(vec3_abs(n), half) > offset + self->reach)
			continue;
		for (uint32_t i = node->first; node->count > 0 && i < node->first + node->count;
		     i++) {
			uint32_t t = mesh->order[i];
			for (uint32_t k = 0; k < 3; k++) {
				vec3 p = mesh_corner(mesh, t, k);
				double height = vec3_dot(n, p) - offset;
				if ((self->sides->probe.owns[t] >> k & 1) != 0)
					field_add(self, vec3_mul_sub(p, n, height), out, height,
						  field_feature(FEATURE_OF_MESH, 3 * t + k, false,
								0));
			}
		}
		if (node->count == 0) {
			stack[depth++] = node->first;
			stack[depth++] = at + 1;
		}
	}
}

/* ---- hulls ------------------------------------------------------------------------------------ */

/* The least cosine between a direction and the normals of the faces at a vertex of the field's mesh. */
static double least_facing(const struct field_pair *self, uint32_t triangle, uint32_t corner,
			   vec3 direction)
{
	const struct mesh *mesh = self->sides->probe.mesh;
	ASSERT(triangle < mesh->triangle_count && corner < 3);
	vec3 place = mesh_corner(mesh, triangle, corner);
	uint32_t t = triangle, k = corner, count = 0;
	double least = 1;
	do {
		least = scalar_min(least, vec3_dot(mesh_normal(mesh, t), direction));
		t = mesh_across(mesh, t, (k + 2) % 3);
		for (k = 0; t != UINT32_MAX && k < 2 && !vec3_equal(mesh_corner(mesh, t, k), place);
		     k++)
			;
	} while (t != triangle && t != UINT32_MAX && ++count < FAN_MAX);
	return least;
}

struct hull_test {
	const struct hull *hull;
	double slop; /* m: faces within it of the highest count as equally far */
};

/* Adds a vertex p of the field's mesh whose foot on the nearest face of the hull lies on that face. */
static void add_vertex_on_hull(struct field_pair *self, uint32_t triangle, uint32_t corner, vec3 p,
			       void *context)
{
	const struct hull_test *x = context;
	const struct hull *hull = x->hull;
	vec3 q = vec3_sub(p, self->b_in_a.translation);
	q = mat3_transposed_mul_vec(self->b_in_a.rotation, q);
	double top = -SCALAR_MAX, best = 2;
	uint32_t face = 0;
	for (uint32_t f = 0; f < hull->face_count; f++)
		top = scalar_max(top, vec3_dot(hull->faces[f].normal, q) - hull->faces[f].offset);
	if (top > self->reach)
		return;
	for (uint32_t f = 0; f < hull->face_count; f++) {
		double height = vec3_dot(hull->faces[f].normal, q) - hull->faces[f].offset;
		vec3 normal = mat3_mul_vec(self->b_in_a.rotation, hull->faces[f].normal);
		if (height < top - x->slop)
			continue;
		double along = least_facing(self, triangle, corner, normal);
		face = along < best ? f : face;
		best = scalar_min(along, best);
	}
	double height = vec3_dot(hull->faces[face].normal, q) - hull->faces[face].offset;
	vec3 foot = vec3_mul_sub(q, hull->faces[face].normal, height);
	for (uint32_t f = 0; f < hull->face_count; f++)
		if (vec3_dot(hull->faces[f].normal, foot) - hull->faces[f].offset > x->slop)
			return;
	vec3 normal = vec3_negate(mat3_mul_vec(self->b_in_a.rotation, hull->faces[face].normal));
	field_add(self, placing_point(&self->b_in_a, foot), normal, height,
		  field_feature(FEATURE_OF_MESH, 3 * triangle + corner, false, 0));
}

void field_gather_hull(struct field_pair *self)
{
	const struct shape *b = self->pair->b;
	struct probing probing = { self, self->field, self->b_in_a, false };
	struct hull_test test = { b->hull, pair_slop(self->pair->a, b) + 0.25 * self->field->cell };
	struct aabb box = aabb_empty();
	for (uint32_t v = 0; v < b->hull->vertex_count; v++)
		box = aabb_add_point(box, placing_point(&self->b_in_a, b->hull->vertices[v]));
	box = aabb_grow(box, self->reach);
	if (!aabb_overlaps(box, self->field->solid))
		return;
	hull_in_field(&probing, b->hull);
	visit_vertices(self, box, add_vertex_on_hull, &test);
}

/* ---- triangles of a mesh ---------------------------------------------------------------------- */

/* A triangle of b's mesh, in the field's frame. */
struct triangle_test {
	vec3 corner[3], normal;
	double below; /* m: vertices deeper below the triangle are ignored */
};

static void add_vertex_on_triangle(struct field_pair *self, uint32_t triangle, uint32_t corner,
				   vec3 p, void *context)
{
	const struct triangle_test *test = context;
	double height = vec3_dot(test->normal, vec3_sub(p, test->corner[0]));
	if (height > self->reach || height < -test->below)
		return;
	for (uint32_t k = 0; k < 3; k++) {
		vec3 from = test->corner[k], side = vec3_sub(test->corner[(k + 1) % 3], from);
		if (vec3_triple(test->normal, side, vec3_sub(p, from)) < 0)
			return;
	}
	field_add(self, vec3_mul_sub(p, test->normal, height), vec3_negate(test->normal), height,
		  field_feature(FEATURE_OF_MESH, 3 * triangle + corner, false, 0));
}

void field_gather_triangle(struct field_pair *self)
{
	const struct mesh *mesh = self->pair->b->mesh;
	uint32_t child = self->pair->child;
	struct probing probing = { self, self->field, self->b_in_a, false };
	ASSERT(child < mesh->triangle_count);
	struct facet facet = facet_of(&probing, mesh, child);
	struct triangle_test test = { { facet.corner[0], facet.corner[1], facet.corner[2] },
				      facet.normal,
				      scalar_max(self->pair->a->extent_min, self->field->cell) };
	struct aabb box = aabb_empty();
	for (uint32_t k = 0; k < 3; k++)
		box = aabb_add_point(box, facet.corner[k]);
	uint8_t owns = 0;
	for (uint32_t k = 0; k < 3; k++) {
		bool convex = mesh_edge_is_open(mesh, child, k);
		if (convex)
			owns |= (uint8_t)(1 << k | 1 << (k + 1) % 3);
		/* An edge of two triangles is tested with the one of the smaller number. */
		if (convex && mesh_across(mesh, child, k) > child)
			owns |= (uint8_t)(8 << k);
	}
	triangle_in_field(&probing, mesh, child, owns);
	visit_vertices(self, aabb_grow(box, self->reach + test.below), add_vertex_on_triangle,
		       &test);
}

/* ---- two fields ------------------------------------------------------------------------------- */

void field_gather_field(struct field_pair *self)
{
	const struct solid *b = self->pair->b->solid;
	struct probing one = { self, self->field, self->b_in_a, false };
	struct probing two = { self, b->field, placing_inverse(&self->b_in_a), true };
	mesh_in_field(&one, &b->sides->probe);
	mesh_in_field(&two, &self->sides->probe);
}
