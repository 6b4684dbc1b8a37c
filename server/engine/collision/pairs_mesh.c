/* See pairs.h. A convex piece against one triangle of a static, one-sided surface.
 *
 * Each triangle is tested separately, but the surface must act as one: a body that slides over the seam of
 * two coplanar triangles must not collide with the seam ("ghost" contacts). A triangle therefore reports
 * only contacts of its own Voronoi region. Let d be the direction from the surface to the body at the
 * nearest point:
 *
 *   inside the face   d is the triangle's normal: always its own.
 *   on an edge        its own if d does not lean over the neighbour, that is d·m ≤ 0 with m pointing into
 *                     the neighbour, across the edge, in its plane; else the neighbour has a nearer
 *                     point and answers. At flat and hollow edges d always leans over one of the two.
 *   on a corner       the same for all edges that leave the corner.
 *
 * What both sides of an edge could say, the triangle with the lower index says. For spheres and
 * capsules this is exact. A polyhedron's best axis is put to the same test at the feature of the
 * triangle that it touches; if it fails there, the triangle's own normal is used instead, which
 * finds points only where the body is truly over the triangle. Where so all triangles around refuse, though
 * the body overlaps them, the surroundings are asked as one (mesh_corner.c).
 *
 * One-sided: a body whose centre is behind the triangle's plane (a sphere: by more than its radius)
 * is not its business.
 */
#include "server/engine/collision/face_contact.h"
#include "server/engine/collision/gjk.h"
#include "server/engine/collision/mesh_corner.h"
#include "server/engine/collision/pairs.h"
#include "server/engine/collision/sat.h"
#include "server/engine/geometry/closest.h"

/* Sine up to which a direction counts as not leaning: on the seam itself rounding must not make
 * both sides look at each other. */
#define LEAN 1e-9
/* The same for polyhedra at an edge that is really convex: there is no seam to be felt, and
 * where two corners overlap the best axis of one triangle may lie a little beyond the
 * neighbour's normal. */
#define LEAN_OPEN 0.25
/* Cosine under which a capsule counts as lying on the face. */
#define LYING_COSINE 0.999
/* Below the cosine of the fold under which an edge counts as flat (MESH_FLAT_SINE: 0.9 degrees). */
#define FLAT_COSINE 0.999

/* Relative difference of squared distances that may be rounding. */
#define TIE 1e-12

enum { FAN_MAX = 256 };

struct triangle {
	const struct mesh *mesh;
	uint32_t index;
	vec3 corners[3]; /* mesh frame */
	vec3 normal;	 /* unit */
};

static vec3 normal_of(const vec3 corners[3])
{
	return vec3_normalize(
		vec3_cross(vec3_sub(corners[1], corners[0]), vec3_sub(corners[2], corners[0])));
}

static struct triangle triangle_of(const struct mesh *mesh, uint32_t index)
{
	struct triangle out = { .mesh = mesh, .index = index };
	for (int k = 0; k < 3; k++)
		out.corners[k] = mesh->vertices[mesh->triangles[index][k]];
	out.normal = normal_of(out.corners);
	return out;
}

static double height_over(const struct triangle *t, vec3 p)
{
	return vec3_dot(t->normal, vec3_sub(p, t->corners[0]));
}

/* ---- ownership of contacts ---------------------------------------------------------------------- */

static bool edge_is_open(const struct mesh *mesh, uint32_t index, uint32_t e)
{
	return mesh->edge_flags[index] >> e & 1;
}

/* True if unit d at edge `e` points over the neighbour by more than `lean` (sine). */
static bool leans_over(const struct triangle *t, uint32_t e, vec3 d, double lean)
{
	uint32_t neighbour = t->mesh->adjacent[t->index][e];
	if (neighbour == UINT32_MAX)
		return false;
	struct triangle other = triangle_of(t->mesh, neighbour);
	vec3 along = vec3_normalize(vec3_sub(t->corners[(e + 1) % 3], t->corners[e]));
	/* The neighbour runs along the edge the other way, with its inside to the left. */
	return vec3_dot(d, vec3_cross(along, other.normal)) > lean;
}

/* True if a contact along unit d at edge e belongs to this triangle; `shared`: to the lower index. */
static bool edge_is_own(const struct triangle *t, uint32_t e, vec3 d, bool shared)
{
	uint32_t neighbour = t->mesh->adjacent[t->index][e];
	if (shared && neighbour < t->index)
		return false;
	/* Flat (to a degree) and hollow edges: no need to ask the neighbour for a steep d. */
	bool open = edge_is_open(t->mesh, t->index, e);
	if (!open && vec3_dot(d, t->normal) < FLAT_COSINE)
		return false;
	return !leans_over(t, e, d, open && !shared ? LEAN_OPEN : LEAN);
}

/* The corner of a triangle that lies at p; vertices at equal places count as one. */
static uint32_t corner_at(const struct mesh *mesh, uint32_t index, vec3 p)
{
	uint32_t k = 0;
	while (k < 2 && !vec3_equal(mesh->vertices[mesh->triangles[index][k]], p))
		k++;
	return k;
}

/* Goes round corner k of the triangle over one side (the edge that arrives at the corner, or the
 * one that leaves it), until it comes back, meets the border or FAN_MAX triangles. False as soon
 * as d leans along an edge, or a triangle with a lower index is met. *round: came back. */
static bool fan_is_own(const struct triangle *t, uint32_t k, bool arriving, vec3 d, bool shared,
		       bool *round)
{
	const struct mesh *mesh = t->mesh;
	vec3 at = t->corners[k];
	uint32_t index = t->index, corner = k;
	*round = false;
	for (int step = 0; step < FAN_MAX; step++) {
		uint32_t far = arriving ? (corner + 2) % 3 : (corner + 1) % 3;
		uint32_t edge = arriving ? (corner + 2) % 3 : corner;
		vec3 along = vec3_sub(mesh->vertices[mesh->triangles[index][far]], at);
		double lean = !shared && edge_is_open(mesh, index, edge) ? LEAN_OPEN : LEAN;
		if (vec3_dot(d, along) > lean * vec3_length(along))
			return false;
		uint32_t next = mesh->adjacent[index][edge];
		if (next == UINT32_MAX)
			return true;
		if (next == t->index) {
			*round = true;
			return true;
		}
		if (shared && next < t->index)
			return false;
		index = next;
		corner = corner_at(mesh, index, at);
	}
	return true;
}

static bool corner_is_own(const struct triangle *t, uint32_t k, vec3 d, bool shared)
{
	bool round;
	if (!fan_is_own(t, k, true, d, shared, &round))
		return false;
	return round || fan_is_own(t, k, false, d, shared, &round);
}

/* Whether the nearest feature, seen along unit d, is this triangle's to answer. */
static bool is_own(const struct triangle *t, enum triangle_feature feature, vec3 d, bool shared)
{
	switch (feature) {
	case TRIANGLE_VERTEX_0:
	case TRIANGLE_VERTEX_1:
	case TRIANGLE_VERTEX_2:
		return corner_is_own(t, feature - TRIANGLE_VERTEX_0, d, shared);
	case TRIANGLE_EDGE_0:
	case TRIANGLE_EDGE_1:
	case TRIANGLE_EDGE_2:
		return edge_is_own(t, feature - TRIANGLE_EDGE_0, d, shared);
	case TRIANGLE_FACE:
		break;
	}
	return true;
}

/* ---- spheres ---------------------------------------------------------------------------------- */

/* A point of the body's core (mesh frame) whose nearest point on the triangle is q; in A's frame. */
static struct manifold_point point_to_a(const struct pair *pair, vec3 q, vec3 d, double separation,
					uint32_t feature)
{
	vec3 middle = vec3_mul_add(q, d, 0.5 * separation);
	return (struct manifold_point){ pose_point(pair->b_in_a, middle), separation, feature };
}

static void normal_to_a(const struct pair *pair, vec3 d, struct manifold *out)
{
	out->normal = vec3_negate(quat_rotate(pair->b_in_a.rotation, d));
}

void pair_sphere_mesh(const struct pair *pair, struct pair_cache *cache, struct manifold *out)
{
	UNUSED(cache);
	struct triangle t = triangle_of(pair->b->mesh, pair->child);
	double radius = pair->a->sphere.radius, reach = radius + pair->margin;
	vec3 centre = pose_inverse_point(pair->b_in_a, vec3_zero());
	double height = height_over(&t, centre);
	out->count = 0;
	if (height > reach || height < -radius)
		return;
	struct triangle_point near =
		closest_point_triangle(centre, t.corners[0], t.corners[1], t.corners[2]);
	vec3 d = t.normal;
	double distance = height;
	if (near.feature != TRIANGLE_FACE) {
		if (near.distance_squared > reach * reach || height < 0)
			return;
		if (near.distance_squared > 0)
			d = vec3_normalize_length(vec3_sub(centre, near.point), &distance);
		if (!is_own(&t, near.feature, d, true))
			return;
	}
	normal_to_a(pair, d, out);
	out->count = 1;
	out->points[0] = point_to_a(pair, near.point, d, distance - radius,
				    feature_make(FEATURE_NEAREST, 0, near.feature));
}

/* ---- capsules --------------------------------------------------------------------------------- */

struct nearest_pair {
	vec3 on_segment, on_triangle;
	double squared;
	enum triangle_feature feature;
};

static int dimension(enum triangle_feature feature)
{
	return feature == TRIANGLE_FACE ? 2 : feature >= TRIANGLE_EDGE_0 ? 1 : 0;
}

/* Among points that are equally near up to rounding (a capsule along an edge), those on the larger
 * feature: an edge has one owner near the capsule, its end may have one that sees nothing of it. */
static void update_nearest(struct nearest_pair *best, vec3 p, vec3 q, double squared,
			   enum triangle_feature feature)
{
	bool less = squared<best->squared *(1 - TIE), more = squared> best->squared * (1 + TIE);
	if (less || (!more && dimension(feature) > dimension(best->feature)))
		*best = (struct nearest_pair){ p, q, squared, feature };
}

/* Nearest points of a segment that does not cross the triangle: at an end, or at an edge. */
static struct nearest_pair segment_triangle(const struct triangle *t, const vec3 ends[2])
{
	struct nearest_pair best = { ends[0], ends[0], SCALAR_MAX / 2, TRIANGLE_FACE };
	for (int k = 0; k < 2; k++) {
		struct triangle_point near = closest_point_triangle(ends[k], t->corners[0],
								    t->corners[1], t->corners[2]);
		update_nearest(&best, ends[k], near.point, near.distance_squared, near.feature);
	}
	for (uint32_t e = 0; e < 3; e++) {
		struct segment_pair near = closest_segment_segment(ends[0], ends[1], t->corners[e],
								   t->corners[(e + 1) % 3]);
		enum triangle_feature feature = near.t <= 0   ? TRIANGLE_VERTEX_0 + e
						: near.t >= 1 ? TRIANGLE_VERTEX_0 + (e + 1) % 3
							      : TRIANGLE_EDGE_0 + e;
		update_nearest(&best, near.first, near.second, near.distance_squared, feature);
	}
	return best;
}

/* The part of the segment over the triangle; false if there is none. */
static bool segment_over(const struct triangle *t, const vec3 ends[2], double part[2])
{
	vec3 along = vec3_sub(ends[1], ends[0]);
	part[0] = 0;
	part[1] = 1;
	for (int e = 0; e < 3; e++) {
		vec3 side = vec3_cross(vec3_sub(t->corners[(e + 1) % 3], t->corners[e]), t->normal);
		double out = vec3_dot(side, vec3_sub(ends[0], t->corners[e]));
		double rise = vec3_dot(side, along);
		if (rise > 0)
			part[1] = scalar_min(part[1], -out / rise);
		else if (rise < 0)
			part[0] = scalar_max(part[0], -out / rise);
		else if (out > 0)
			return false;
	}
	return part[0] <= part[1];
}

/* Up to two points along the face's normal. */
static bool capsule_face(const struct pair *pair, const struct triangle *t, const vec3 ends[2],
			 struct manifold *out)
{
	double part[2], radius = pair->a->capsule.radius;
	if (!segment_over(t, ends, part))
		return false;
	out->count = 0;
	normal_to_a(pair, t->normal, out);
	for (uint32_t k = 0; k < 2; k++) {
		vec3 p = vec3_lerp(ends[0], ends[1], part[k]);
		double height = height_over(t, p), separation = height - radius;
		if (separation > pair->margin || (out->count == 1 && part[0] == part[1]))
			continue;
		out->points[out->count++] =
			point_to_a(pair, vec3_mul_sub(p, t->normal, height), t->normal, separation,
				   feature_make(FEATURE_VERTEX, k, 0));
	}
	return out->count > 0;
}

void pair_capsule_mesh(const struct pair *pair, struct pair_cache *cache, struct manifold *out)
{
	UNUSED(cache);
	struct triangle t = triangle_of(pair->b->mesh, pair->child);
	double half = pair->a->capsule.half_length, radius = pair->a->capsule.radius;
	double reach = radius + pair->margin;
	vec3 ends[2] = { pose_inverse_point(pair->b_in_a, vec3_make(0, -half, 0)),
			 pose_inverse_point(pair->b_in_a, vec3_make(0, half, 0)) };
	double heights[2] = { height_over(&t, ends[0]), height_over(&t, ends[1]) };
	out->count = 0;
	if (scalar_min(heights[0], heights[1]) > reach)
		return;
	/* Through the plane: if through the triangle, the face pushes it out. */
	bool behind = heights[0] + heights[1] < -2 * radius;
	bool through = (heights[0] < 0) != (heights[1] < 0);
	double k = through ? heights[0] / (heights[0] - heights[1]) : 0, part[2];
	if (through && segment_over(&t, ends, part) && part[0] <= k && k <= part[1]) {
		if (!behind)
			capsule_face(pair, &t, ends, out);
		return;
	}
	struct nearest_pair near = segment_triangle(&t, ends);
	if (near.squared > reach * reach)
		return;
	double distance;
	vec3 d = vec3_normalize_length(vec3_sub(near.on_segment, near.on_triangle), &distance);
	double upward = distance > 0 ? vec3_dot(d, t.normal) : 1;
	double slop = scalar_min(PAIR_SLOP_RELATIVE * pair->a->extent_min, PAIR_SLOP_MAX);
	if (!behind && (near.feature == TRIANGLE_FACE || upward > LYING_COSINE) &&
	    capsule_face(pair, &t, ends, out) && manifold_deepest(out) <= distance - radius + slop)
		return;
	out->count = 0;
	if (upward < -LEAN || near.feature == TRIANGLE_FACE || distance == 0 ||
	    !is_own(&t, near.feature, d, true))
		return;
	normal_to_a(pair, d, out);
	out->count = 1;
	out->points[0] = point_to_a(pair, near.on_triangle, d, distance - radius,
				    feature_make(FEATURE_NEAREST, 0, near.feature));
}

/* ---- polyhedra -------------------------------------------------------------------------------- */

/* A triangle as a polyhedron of two faces: 0 the outside, 1 the inside. Half-edges 0, 1, 2 run
 * round the outside, 3, 4, 5 are their twins. */
struct flat_hull {
	struct hull hull;
	vec3 vertices[3];
	struct half_edge edges[6];
	struct hull_face faces[2];
	uint16_t vertex_edge[3];
};

static void flat_hull_make(struct flat_hull *flat, const vec3 corners[3], vec3 normal)
{
	static const struct half_edge EDGES[6] = { { 0, 3, 1, 0 }, { 1, 4, 2, 0 }, { 2, 5, 0, 0 },
						   { 1, 0, 5, 1 }, { 2, 1, 3, 1 }, { 0, 2, 4, 1 } };
	double offset = vec3_dot(normal, corners[0]);
	flat->hull = (struct hull){
		3, 2, 6, flat->vertices, flat->edges, flat->faces, flat->vertex_edge, vec3_zero()
	};
	for (int k = 0; k < 3; k++) {
		flat->vertices[k] = corners[k];
		flat->vertex_edge[k] = (uint16_t)k;
		flat->hull.centre = vec3_mul_add(flat->hull.centre, corners[k], 1.0 / 3);
	}
	for (int k = 0; k < 6; k++)
		flat->edges[k] = EDGES[k];
	flat->faces[0] = (struct hull_face){ normal, offset, 0, 3 };
	flat->faces[1] = (struct hull_face){ vec3_negate(normal), -offset, 3, 3 };
}

/* The hull (a) and the triangle as a hull (b), both in the hull's frame. */
struct hull_triangle {
	const struct pair *pair;
	const struct hull *hull;
	struct triangle own; /* mesh frame, for the neighbours */
	struct flat_hull flat;
	struct placing here; /* the identity */
	double slop;
};

/* The feature that has exactly these corners (bits 0, 1, 2). */
static enum triangle_feature feature_of(uint32_t corners)
{
	static const uint8_t FEATURES[8] = { TRIANGLE_FACE,   TRIANGLE_VERTEX_0, TRIANGLE_VERTEX_1,
					     TRIANGLE_EDGE_0, TRIANGLE_VERTEX_2, TRIANGLE_EDGE_2,
					     TRIANGLE_EDGE_1, TRIANGLE_FACE };
	return FEATURES[corners & 7];
}

/* Which feature of the triangle lies farthest along d (hull's frame) within the slop. */
static enum triangle_feature feature_under(const struct hull_triangle *x, vec3 d)
{
	double along[3], top = -SCALAR_MAX;
	for (int k = 0; k < 3; k++) {
		along[k] = vec3_dot(x->flat.vertices[k], d);
		top = scalar_max(top, along[k]);
	}
	uint32_t set = 0;
	for (int k = 0; k < 3; k++)
		set |= (uint32_t)(along[k] >= top - x->slop) << k;
	return feature_of(set);
}

/* Whether a contact at this feature with direction d (surface → hull, hull's frame) is the
 * triangle's. Both sides of an edge may say so: a polyhedron's points are reduced per triangle,
 * and the other side may have found another axis. */
static bool admits(const struct hull_triangle *x, enum triangle_feature feature, vec3 d)
{
	vec3 outward = x->flat.faces[0].normal;
	return feature != TRIANGLE_FACE && vec3_dot(d, outward) > 0 &&
	       is_own(&x->own, feature, quat_rotate_inverse(x->pair->b_in_a.rotation, d), false);
}

/* Under a convex edge the inside is nearer to one face or the other; points that are nearer to a
 * neighbour's are the neighbour's. (A body that touches the side of a block near its rim is not
 * deep under the top.) */
static void leave_to_neighbours(const struct hull_triangle *x, struct manifold *out)
{
	vec3 normal = x->flat.faces[0].normal;
	for (uint32_t e = 0; e < 3; e++) {
		uint32_t neighbour = x->own.mesh->adjacent[x->own.index][e], kept = 0;
		if (!edge_is_open(x->own.mesh, x->own.index, e) || neighbour == UINT32_MAX)
			continue;
		struct triangle other = triangle_of(x->own.mesh, neighbour);
		for (uint32_t k = 0; k < out->count; k++) {
			struct manifold_point point = out->points[k];
			vec3 on_hull = vec3_mul_add(point.point, normal, 0.5 * point.separation);
			double height =
				height_over(&other, pose_inverse_point(x->pair->b_in_a, on_hull));
			if (point.separation >= -x->slop || height <= point.separation + x->slop)
				out->points[kept++] = point;
		}
		out->count = kept;
	}
}

/* `best`: no other axis is better. */
static void triangle_manifold(const struct hull_triangle *x, struct sat_face up, bool best,
			      struct manifold *out)
{
	struct face_contact contact = { &x->flat.hull,	 x->hull, &x->here, up,
					x->pair->margin, x->slop, true };
	face_contact(&contact, out);
	if (!best)
		leave_to_neighbours(x, out);
	out->normal = vec3_negate(out->normal);
}

static void hull_manifold(const struct hull_triangle *x, struct sat_face face, struct manifold *out)
{
	struct face_contact contact = { x->hull,	 &x->flat.hull, &x->here, face,
					x->pair->margin, x->slop,	false };
	face_contact(&contact, out);
}

static bool edges_manifold(const struct hull_triangle *x, const struct sat_edges *edges,
			   struct manifold *out)
{
	uint32_t e = edges->edge_b; /* the lower of the two: 0, 1, 2 */
	if (!admits(x, TRIANGLE_EDGE_0 + e, vec3_negate(edges->normal)))
		return false;
	const struct half_edge *h = &x->hull->edges[edges->edge_a];
	struct segment_pair near = closest_segment_segment(
		x->hull->vertices[h->origin], x->hull->vertices[x->hull->edges[h->twin].origin],
		x->flat.vertices[e], x->flat.vertices[(e + 1) % 3]);
	manifold_one(out, edges->normal, near.first, edges->separation,
		     feature_make(FEATURE_EDGES, edges->edge_a, e));
	return scalar_sqrt(near.distance_squared) <= scalar_abs(edges->separation) + x->slop;
}

/* Corners and edges that face each other, if they are nearer than what is there by more than the
 * slop and the triangle's to answer for. */
static void corner_manifold(const struct hull_triangle *x, struct manifold *out)
{
	double bar = out->count > 0 ? manifold_deepest(out) - x->slop : SCALAR_MAX;
	struct gjk_core a = { x->hull->vertices, x->hull->vertex_count, x->hull, 0 };
	struct gjk_core b = { x->flat.vertices, 3, NULL, 0 };
	struct gjk_result near;
	gjk_distance(&a, &b, &x->here.rotation, x->here.translation, NULL, &near);
	if (near.touching || near.distance > x->pair->margin || near.distance >= bar)
		return;
	uint32_t corners = 0;
	for (uint32_t k = 0; k < near.simplex.count; k++)
		corners |= 1u << near.simplex.b[k];
	enum triangle_feature feature = feature_of(corners);
	if (admits(x, feature, vec3_negate(near.normal)))
		manifold_one(out, near.normal, near.point_a, near.distance,
			     feature_make(FEATURE_NEAREST, near.simplex.a[0], feature));
}

/* The best axis that is the triangle's to answer for; else its own normal. */
static void hull_contact(const struct hull_triangle *x, struct sat_face up, struct sat_face side,
			 struct sat_edges edges, struct manifold *out)
{
	bool crossing = edges.separation > -SCALAR_MAX;
	bool sideways = !crossing && side.separation > up.separation + x->slop;
	if (crossing && edges_manifold(x, &edges, out))
		return;
	out->count = 0;
	if (sideways) {
		vec3 d = vec3_negate(x->hull->faces[side.face].normal);
		if (admits(x, feature_under(x, d), d))
			hull_manifold(x, side, out);
		if (manifold_deepest(out) <= side.separation + x->slop)
			return;
		corner_manifold(x, out);
		if (out->count > 0)
			return;
	}
	triangle_manifold(x, up, !crossing && !sideways, out);
	if (manifold_deepest(out) > up.separation + x->slop)
		corner_manifold(x, out);
}

/* What the triangle itself says. True: hull and triangle overlap by more than the slop. */
static bool hull_alone(const struct pair *pair, uint32_t child, struct pair_cache *cache,
		       struct manifold *out)
{
	struct hull_triangle x = { pair, pair->a->hull, triangle_of(pair->b->mesh, child),
				   .here = { mat3_identity(), vec3_zero() } };
	mat3 rotation = mat3_from_quat(pair->b_in_a.rotation);
	vec3 corners[3];
	for (int k = 0; k < 3; k++)
		corners[k] =
			vec3_add(pair->b_in_a.position, mat3_mul_vec(rotation, x.own.corners[k]));
	flat_hull_make(&x.flat, corners, mat3_mul_vec(rotation, x.own.normal));
	x.slop = scalar_min(PAIR_SLOP_RELATIVE * pair->a->extent_min, PAIR_SLOP_MAX);
	out->count = 0;
	const struct hull_face *outside = &x.flat.faces[0];
	if (vec3_dot(outside->normal, x.hull->centre) < outside->offset)
		return false;
	uint32_t lowest = cache->kind == CACHE_FACE_B ? cache->feature_a : 0;
	if (lowest >= x.hull->vertex_count)
		lowest = 0;
	struct sat_face up = sat_face(&x.flat.hull, x.hull, &x.here, 0, lowest);
	cache_set(cache, CACHE_FACE_B, up.vertex, 0);
	if (up.separation > pair->margin)
		return false;
	uint32_t guess = sat_face_guess(x.hull, &x.flat.hull, &x.here);
	struct sat_face side = sat_faces(x.hull, &x.flat.hull, &x.here, guess, pair->margin);
	if (side.separation > pair->margin)
		return false;
	double top = scalar_max(up.separation, side.separation);
	struct sat_edges edges = sat_edges(
		x.hull, &x.flat.hull, &x.here, top + x.slop, scalar_max(pair->margin, -top),
		x.flat.vertices[side.vertex], x.hull->vertices[up.vertex]);
	if (edges.separation > pair->margin)
		return false;
	hull_contact(&x, up, side, edges, out);
	return top < 0 && edges.separation < 0;
}

/* Whether the hull meets a convex edge between the triangle and a neighbour. Elsewhere the triangles'
 * own answers are enough. */
static bool meets_open_edge(const struct hull *hull, const struct mesh *mesh, uint32_t child,
			    const struct placing *mesh_in_hull)
{
	for (uint32_t e = 0; e < 3; e++) {
		const uint32_t *corner = mesh->triangles[child];
		if (!edge_is_open(mesh, child, e) || mesh->adjacent[child][e] == UINT32_MAX)
			continue;
		vec3 p = placing_point(mesh_in_hull, mesh->vertices[corner[e]]);
		vec3 q = placing_point(mesh_in_hull, mesh->vertices[corner[(e + 1) % 3]]);
		double first = 0, last = 1;
		for (uint32_t f = 0; f < hull->face_count && first <= last; f++) {
			double from = vec3_dot(hull->faces[f].normal, p) - hull->faces[f].offset;
			double to = vec3_dot(hull->faces[f].normal, q) - hull->faces[f].offset;
			if (from > 0 && to > 0)
				first = 2;
			else if (from > 0)
				first = scalar_max(first, from / (from - to));
			else if (to > 0)
				last = scalar_min(last, from / (from - to));
		}
		if (first <= last)
			return true;
	}
	return false;
}

/* Whether the hull overlaps triangle `child` without an answer of it or of the triangles around, although the
 * surface is convex there. *corner gets the way out of all of them together. */
static bool is_orphan(const struct pair *pair, uint32_t child, struct mesh_fan *fan,
		      struct mesh_corner *corner)
{
	const struct mesh *mesh = pair->b->mesh;
	double slop = scalar_min(PAIR_SLOP_RELATIVE * pair->a->extent_min, PAIR_SLOP_MAX);
	struct placing there = { mat3_from_quat(pair->b_in_a.rotation), pair->b_in_a.position };
	struct pair_cache none = { 0 };
	struct manifold said;
	if (!meets_open_edge(pair->a->hull, mesh, child, &there) ||
	    !hull_alone(pair, child, &none, &said) || said.count > 0 ||
	    !mesh_fan_of(mesh, child, fan) ||
	    !mesh_corner_axis(pair->a->hull, mesh, fan, &there, slop, corner) ||
	    corner->separation >= 0)
		return false;
	for (uint32_t k = 1; k < fan->count; k++) {
		none = (struct pair_cache){ 0 };
		hull_alone(pair, fan->triangles[k], &none, &said);
		if (said.count == 0)
			continue;
		/* An answer counts if it is as deep as its own axis says, or the best. */
		double along = mesh_corner_along(pair->a->hull, mesh, fan, &there, said.normal);
		if (manifold_deepest(&said) <= scalar_max(along, corner->separation) + slop)
			return false;
	}
	return true;
}

/* Of the triangles around to which that happens the one with the best way out answers, of equal ones the
 * lowest. */
static void corner_contact(const struct pair *pair, struct manifold *out)
{
	struct mesh_fan fan, other_fan;
	struct mesh_corner corner, other;
	if (!is_orphan(pair, pair->child, &fan, &corner))
		return;
	for (uint32_t k = 1; k < fan.count; k++) {
		uint32_t child = fan.triangles[k];
		if (is_orphan(pair, child, &other_fan, &other) &&
		    (other.separation > corner.separation ||
		     (other.separation == corner.separation && child < pair->child)))
			return;
	}
	manifold_one(out, corner.normal, corner.on_hull, corner.separation, corner.feature);
}

void pair_hull_mesh(const struct pair *pair, struct pair_cache *cache, struct manifold *out)
{
	if (hull_alone(pair, pair->child, cache, out) && out->count == 0)
		corner_contact(pair, out);
}
