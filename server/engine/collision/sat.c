/* See sat.h.
 *
 * The Minkowski difference B − A is a polyhedron whose faces come from faces of A, faces of B, and
 * pairs of edges; the separations are the signed distances of these faces from the origin. Of the
 * edge pairs only those that form a face are axes: on the Gauss sphere an edge is the arc between
 * the normals of its two faces, and a pair forms a face if A's arc crosses the mirrored arc of B.
 *
 * Faces: the separation of face f is at most n_f·p − o_f for any point p of B. One dot product with
 * the best support point so far, and one with B's centre, therefore discard nearly all faces; for
 * the others B's support point against n_f is computed. The result is exact, and not every vertex
 * is tested for every face.
 *
 * Edges: if the best axis is that of an edge pair, the pieces touch at these two edges after a
 * translation by the size of the separation. Both edges therefore lie within that distance of the
 * other piece and of its box; edges outside are not paired. Let w be any point of B at heights h1,
 * h2 over the two faces of an edge of A. An axis on their arc is n = α n1 + β n2 with α, β ≥ 0 and
 * 1 ≤ α + β ≤ 1/c, where c is the cosine of half their angle, and its separation is at most n·(w −
 * p) = α h1 + β h2 for p on the edge. The edge is therefore excluded if the greater height is at
 * most `bar` (bar < 0), or at most c times `bar` (bar > 0). For a hull that rests on a large box
 * this excludes all edges of the box.
 *
 * Signs: half-edge h of face f runs with f to its left. With the normals n_f and n_t of the faces
 * of h and its twin, n_f × n_t points along the edge, so four signs decide if two arcs cross.
 */
#include "server/engine/collision/sat.h"

#include "server/engine/collision/gjk.h"
#include "server/engine/collision/pairs.h"
#include "server/engine/math/double_double.h"

/* Below this sine of their angle the cross product of two edges is computed to 106 bits. */
#define EXACT_SINE 1e-2
/* Sine of the least angle of two edges: the axis of a lesser one equals that of a face within the
 * rounding of the vertices. */
#define LEAST_SINE 1e-14

struct placing placing_inverse(const struct placing *self)
{
	mat3 inverse = mat3_transpose(self->rotation);
	return (struct placing){ inverse, vec3_negate(mat3_mul_vec(inverse, self->translation)) };
}

/* ---- faces ------------------------------------------------------------------------------------ */

struct sat_face sat_face(const struct hull *a, const struct hull *b, const struct placing *b_in_a,
			 uint32_t face, uint32_t start)
{
	VALIDATE(face < a->face_count);
	VALIDATE(start < b->vertex_count);
	const struct hull_face *f = &a->faces[face];
	struct gjk_core core = { b->vertices, b->vertex_count, b, 0, NULL };
	vec3 against = mat3_transposed_mul_vec(b_in_a->rotation, vec3_negate(f->normal));
	uint32_t vertex = gjk_support(&core, against, start);
	double separation =
		vec3_dot(f->normal, placing_point(b_in_a, b->vertices[vertex])) - f->offset;
	return (struct sat_face){ separation, face, vertex };
}

struct sat_face sat_faces(const struct hull *a, const struct hull *b, const struct placing *b_in_a,
			  uint32_t start, double enough)
{
	VALIDATE(start < a->face_count);
	struct sat_face best = sat_face(a, b, b_in_a, start, 0);
	vec3 centre = placing_point(b_in_a, b->centre);
	vec3 witness = placing_point(b_in_a, b->vertices[best.vertex]);
	for (uint32_t face = 0; face < a->face_count && best.separation <= enough; face++) {
		const struct hull_face *f = &a->faces[face];
		if (vec3_dot(f->normal, witness) - f->offset <= best.separation ||
		    vec3_dot(f->normal, centre) - f->offset <= best.separation || face == start)
			continue;
		struct sat_face other = sat_face(a, b, b_in_a, face, best.vertex);
		if (other.separation <= best.separation)
			continue;
		best = other;
		witness = placing_point(b_in_a, b->vertices[best.vertex]);
	}
	VALIDATE(best.face < a->face_count);
	VALIDATE(best.vertex < b->vertex_count);
	return best;
}

uint32_t sat_face_guess(const struct hull *a, const struct hull *b, const struct placing *b_in_a)
{
	VALIDATE(a->face_count > 0);
	vec3 centre = placing_point(b_in_a, b->centre);
	uint32_t best = 0;
	double high = -SCALAR_MAX;
	for (uint32_t face = 0; face < a->face_count; face++) {
		double above = vec3_dot(a->faces[face].normal, centre) - a->faces[face].offset;
		best = above > high ? face : best;
		high = above > high ? above : high;
	}
	VALIDATE(best < a->face_count);
	return best;
}

uint32_t sat_face_against(const struct hull *hull, vec3 direction)
{
	VALIDATE(hull->face_count > 0);
	uint32_t best = 0;
	double least = SCALAR_MAX;
	for (uint32_t face = 0; face < hull->face_count; face++) {
		double along = vec3_dot(hull->faces[face].normal, direction);
		best = along < least ? face : best;
		least = along < least ? along : least;
	}
	VALIDATE(best < hull->face_count);
	return best;
}

uint32_t sat_face_at(const struct hull *hull, uint32_t vertex, vec3 direction)
{
	VALIDATE(vertex < hull->vertex_count);
	uint32_t first = hull->vertex_edge[vertex], edge = first, best = hull->edges[first].face;
	double least = SCALAR_MAX;
	do {
		uint32_t face = hull->edges[edge].face;
		double along = vec3_dot(hull->faces[face].normal, direction);
		if (along < least || (along == least && face < best)) {
			least = along;
			best = face;
		}
		edge = hull->edges[hull->edges[edge].twin].next;
	} while (edge != first);
	VALIDATE(best < hull->face_count);
	return best;
}

/* ---- edges ------------------------------------------------------------------------------------ */

struct sat_edge_cone {
	vec3 from, to, along;
	vec3 normal, twin_normal; /* of its face and the twin's */
};

static struct sat_edge_cone edge_of(const struct hull *hull, uint32_t h)
{
	VALIDATE(h < hull->edge_count);
	const struct half_edge *edge = &hull->edges[h], *twin = &hull->edges[edge->twin];
	struct sat_edge_cone out = { hull->vertices[edge->origin],
				     hull->vertices[twin->origin],
				     { 0, 0, 0 },
				     hull->faces[edge->face].normal,
				     hull->faces[twin->face].normal };
	out.along = vec3_sub(out.to, out.from);
	return out;
}

static struct sat_edge_cone edge_placed(const struct hull *hull, uint32_t h,
					const struct placing *placing)
{
	struct sat_edge_cone e = edge_of(hull, h);
	return (struct sat_edge_cone){ placing_point(placing, e.from), placing_point(placing, e.to),
				       mat3_mul_vec(placing->rotation, e.along),
				       mat3_mul_vec(placing->rotation, e.normal),
				       mat3_mul_vec(placing->rotation, e.twin_normal) };
}

/* Whether the arc of a crosses the mirrored arc of b. */
static inline bool arcs_cross(const struct sat_edge_cone *a, const struct sat_edge_cone *b)
{
	double b1 = vec3_dot(b->normal, a->along), b2 = vec3_dot(b->twin_normal, a->along);
	if (b1 * b2 >= 0)
		return false;
	double a1 = vec3_dot(a->normal, b->along), a2 = vec3_dot(a->twin_normal, b->along);
	return a1 * a2 < 0 && b1 * a2 < 0;
}

/* a b − c d, with at most two roundings. */
static double minor_exact(double a, double b, double c, double d)
{
	double2 ab = double2_product(a, b), cd = double2_product(c, d);
	double2 sum = double2_add(ab, double2_negate(cd));
	return sum.hi;
}

/* a × b, accurate also for nearly parallel vectors. */
static vec3 cross_exact(vec3 a, vec3 b)
{
	return vec3_make(minor_exact(a.y, b.z, a.z, b.y), minor_exact(a.z, b.x, a.x, b.z),
			 minor_exact(a.x, b.y, a.y, b.x));
}

/* Separation of the two lines along their cross product, directed away from a's centre; −SCALAR_MAX
 * if the sine of their angle is not above `sine`. */
static double separation_of_edges(const struct sat_edge_cone *a, const struct sat_edge_cone *b,
				  vec3 centre_a, double sine, vec3 *normal)
{
	vec3 cross = vec3_cross(a->along, b->along);
	double length2 = vec3_length_squared(cross);
	double sizes = vec3_length_squared(a->along) * vec3_length_squared(b->along);
	if (sine < PAIR_PARALLEL_SINE && length2 < EXACT_SINE * EXACT_SINE * sizes) {
		cross = cross_exact(a->along, b->along);
		length2 = vec3_length_squared(cross);
	}
	if (!(length2 > sine * sine * sizes))
		return -SCALAR_MAX;
	vec3 n = vec3_scale(cross, 1.0 / scalar_sqrt(length2));
	if (vec3_dot(n, vec3_sub(a->from, centre_a)) < 0)
		n = vec3_negate(n);
	*normal = n;
	return vec3_dot(n, vec3_sub(b->from, a->from));
}

double sat_edge_pair(const struct hull *a, const struct hull *b, const struct placing *b_in_a,
		     uint32_t edge_a, uint32_t edge_b, vec3 *normal)
{
	VALIDATE(edge_a < a->edge_count);
	VALIDATE(edge_b < b->edge_count);
	struct sat_edge_cone e = edge_of(a, edge_a), f = edge_placed(b, edge_b, b_in_a);
	if (!arcs_cross(&e, &f))
		return -SCALAR_MAX;
	return separation_of_edges(&e, &f, a->centre, PAIR_PARALLEL_SINE, normal);
}

double sat_edge_alone(const struct hull *a, uint32_t edge_a, vec3 from, vec3 to, vec3 left,
		      vec3 right, vec3 *normal)
{
	VALIDATE(edge_a < a->edge_count);
	struct sat_edge_cone e = edge_of(a, edge_a),
			     f = { from, to, vec3_sub(to, from), left, right };
	if (!arcs_cross(&e, &f))
		return -SCALAR_MAX;
	return separation_of_edges(&e, &f, a->centre, PAIR_PARALLEL_SINE, normal);
}

/* The box of the transformed vertices. */
static struct aabb sat_box(const struct hull *hull, const struct placing *placing)
{
	VALIDATE(hull->vertex_count > 0);
	struct aabb box = aabb_empty();
	for (uint32_t i = 0; i < hull->vertex_count; i++)
		box = aabb_add_point(box, placing_point(placing, hull->vertices[i]));
	return box;
}

/* Whether the edge's box overlaps `box`. */
static inline bool edge_near(vec3 from, vec3 to, const struct aabb *box)
{
	vec3 low = vec3_min(from, to), high = vec3_max(from, to);
	return (low.x <= box->max.x) & (high.x >= box->min.x) & (low.y <= box->max.y) &
	       (high.y >= box->min.y) & (low.z <= box->max.z) & (high.z >= box->min.z);
}

/* Euler's formula: a hull with V vertices has at most 3 V − 6 edges and 2 V − 4 faces. */
enum { EDGES_MAX = 3 * SHAPE_HULL_VERTICES_MAX, FACES_MAX = 2 * SHAPE_HULL_VERTICES_MAX };

/* True if an axis on the arc of two faces may have a separation above `bar`, given that a point of
 * the other piece is at most `high` (m) above both. */
static inline bool arc_may_exceed(const struct hull_face *f, const struct hull_face *g, double high,
				  double bar)
{
	if (high <= 0)
		return high > bar;
	return bar <= 0 || 2 * high * high > bar * bar * (1 + vec3_dot(f->normal, g->normal));
}

/* Collects in `worth` the edges that neither the other piece's centre nor `point` excludes and that
 * are within `reach` of its box. Returns their number. */
static uint32_t select_edges(const struct hull *hull, const struct hull *other,
			     const struct placing *placing, double reach, vec3 point, double bar,
			     uint16_t worth[EDGES_MAX])
{
	ASSERT(hull->edge_count / 2 <= EDGES_MAX);
	ASSERT(hull->face_count <= FACES_MAX);
	/* Heights of both points over every face. */
	double high_point[FACES_MAX], high_centre[FACES_MAX];
	vec3 centre = placing_point(placing, other->centre);
	for (uint32_t f = 0; f < hull->face_count; f++) {
		const struct hull_face *face = &hull->faces[f];
		high_centre[f] = vec3_dot(face->normal, centre) - face->offset;
		high_point[f] = vec3_dot(face->normal, point) - face->offset;
	}
	uint32_t count = 0;
	for (uint32_t h = 0; h < hull->edge_count; h++) {
		const struct half_edge *edge = &hull->edges[h];
		if (edge->twin < h)
			continue;
		uint32_t f = edge->face, g = hull->edges[edge->twin].face;
		double high = scalar_max(high_point[f], high_point[g]);
		double central = scalar_max(high_centre[f], high_centre[g]);
		if (arc_may_exceed(&hull->faces[f], &hull->faces[g], scalar_min(high, central),
				   bar))
			worth[count++] = (uint16_t)h;
	}
	if (reach == SCALAR_MAX || count == 0)
		return count;
	struct aabb near = aabb_grow(sat_box(other, placing), reach);
	uint32_t kept = 0;
	for (uint32_t k = 0; k < count; k++) {
		const struct half_edge *edge = &hull->edges[worth[k]];
		if (edge_near(hull->vertices[edge->origin],
			      hull->vertices[hull->edges[edge->twin].origin], &near))
			worth[kept++] = worth[k];
	}
	VALIDATE(kept <= count);
	return kept;
}

/* Separation along a unit axis, computed from all vertices. For exact hulls it equals the distance
 * of the two lines. In hulls whose faces are flat only within a tolerance the lines of short edges
 * are unreliable, and hill climbing from their ends may stop on a plateau. */
static double separation_along(const struct hull *a, const struct hull *b,
			       const struct placing *b_in_a, vec3 axis)
{
	VALIDATE(a->vertex_count > 0 && b->vertex_count > 0);
	vec3 back = mat3_transposed_mul_vec(b_in_a->rotation, vec3_negate(axis));
	vec3 p = a->vertices[0], q = b->vertices[0];
	for (uint32_t i = 1; i < a->vertex_count; i++)
		if (vec3_dot(axis, a->vertices[i]) > vec3_dot(axis, p))
			p = a->vertices[i];
	for (uint32_t i = 1; i < b->vertex_count; i++)
		if (vec3_dot(back, b->vertices[i]) > vec3_dot(back, q))
			q = b->vertices[i];
	return vec3_dot(axis, vec3_sub(placing_point(b_in_a, q), p));
}

static struct sat_edges search_edges(const struct hull *a, const struct hull *b,
				     const struct placing *b_in_a, double least, double reach,
				     vec3 of_b, vec3 of_a, double sine)
{
	struct sat_edges best = { -SCALAR_MAX, 0, 0, { 0, 0, 0 } };
	uint16_t worth_a[EDGES_MAX], worth_b[EDGES_MAX];
	struct placing a_in_b = placing_inverse(b_in_a);
	uint32_t count_a = select_edges(a, b, b_in_a, reach, of_b, least, worth_a);
	uint32_t count_b =
		count_a == 0 ? 0 : select_edges(b, a, &a_in_b, reach, of_a, least, worth_b);
	double bar = least;
	for (uint32_t j = 0; j < count_b; j++) {
		struct sat_edge_cone f = edge_placed(b, worth_b[j], b_in_a);
		for (uint32_t i = 0; i < count_a; i++) {
			struct sat_edge_cone e = edge_of(a, worth_a[i]);
			vec3 normal = { 0, 0, 0 };
			if (!arcs_cross(&e, &f))
				continue;
			double separation = separation_of_edges(&e, &f, a->centre, sine, &normal);
			if (separation > bar && sine < PAIR_PARALLEL_SINE)
				separation = scalar_min(separation,
							separation_along(a, b, b_in_a, normal));
			if (separation <= bar)
				continue;
			bar = separation;
			best = (struct sat_edges){ separation, worth_a[i], worth_b[j], normal };
		}
	}
	return best;
}

struct sat_edges sat_edges(const struct hull *a, const struct hull *b, const struct placing *b_in_a,
			   double least, double reach, vec3 of_b, vec3 of_a)
{
	return search_edges(a, b, b_in_a, least, reach, of_b, of_a, PAIR_PARALLEL_SINE);
}

/* ---- all axes -------------------------------------------------------------------------------- */

/* The separation along the cached axis; false if the cache holds no axis of this pair. */
static bool sat_remembered(const struct hull *a, const struct hull *b, const struct placing *b_in_a,
			   const struct placing *a_in_b, const struct pair_cache *cache,
			   struct sat_axis *out)
{
	uint32_t i = cache->feature_a, j = cache->feature_b;
	struct sat_face face;
	out->axis = *cache;
	switch (cache->kind) {
	case CACHE_FACE_A:
		if (i >= a->face_count || j >= b->vertex_count)
			return false;
		face = sat_face(a, b, b_in_a, i, j);
		out->separation = face.separation;
		out->normal = a->faces[i].normal;
		return true;
	case CACHE_FACE_B:
		if (j >= b->face_count || i >= a->vertex_count)
			return false;
		face = sat_face(b, a, a_in_b, j, i);
		out->separation = face.separation;
		out->normal = vec3_negate(mat3_mul_vec(b_in_a->rotation, b->faces[j].normal));
		return true;
	case CACHE_EDGES:
		if (i >= a->edge_count || j >= b->edge_count)
			return false;
		out->separation = sat_edge_pair(a, b, b_in_a, i, j, &out->normal);
		return out->separation > -SCALAR_MAX;
	default:
		return false;
	}
}

void sat_greatest(const struct hull *a, const struct hull *b, const struct placing *b_in_a,
		  double enough, struct pair_cache *cache, struct sat_axis *out)
{
	struct placing a_in_b = placing_inverse(b_in_a);
	out->remembered =
		sat_remembered(a, b, b_in_a, &a_in_b, cache, out) && out->separation > enough;
	if (out->remembered)
		return;
	uint32_t start_a = cache->kind == CACHE_FACE_A && cache->feature_a < a->face_count
				   ? cache->feature_a
				   : sat_face_guess(a, b, b_in_a);
	uint32_t start_b = cache->kind == CACHE_FACE_B && cache->feature_b < b->face_count
				   ? cache->feature_b
				   : sat_face_guess(b, a, &a_in_b);
	struct sat_face of_a = sat_faces(a, b, b_in_a, start_a, enough), of_b = { 0 };
	bool is_b = false;
	if (of_a.separation <= enough) {
		of_b = sat_faces(b, a, &a_in_b, start_b, enough);
		is_b = of_b.separation > of_a.separation;
	}
	if (is_b) {
		cache_set(cache, CACHE_FACE_B, of_b.vertex, of_b.face);
		out->separation = of_b.separation;
		out->normal =
			vec3_negate(mat3_mul_vec(b_in_a->rotation, b->faces[of_b.face].normal));
	} else {
		cache_set(cache, CACHE_FACE_A, of_a.face, of_a.vertex);
		out->separation = of_a.separation;
		out->normal = a->faces[of_a.face].normal;
	}
	if (out->separation <= enough) {
		struct sat_edges edges =
			search_edges(a, b, b_in_a, out->separation, SCALAR_MAX,
				     placing_point(b_in_a, b->vertices[of_a.vertex]),
				     placing_point(&a_in_b, a->vertices[of_b.vertex]), LEAST_SINE);
		if (edges.separation > -SCALAR_MAX) {
			cache_set(cache, CACHE_EDGES, edges.edge_a, edges.edge_b);
			out->separation = edges.separation;
			out->normal = edges.normal;
		}
	}
	out->axis = *cache;
}
