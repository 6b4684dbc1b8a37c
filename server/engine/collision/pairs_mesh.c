/* See pairs.h. A convex piece against one triangle of a static, one-sided surface.
 *
 * Each triangle is tested separately, but the surface must act as one: a body that slides over the
 * seam of two coplanar triangles must not collide with the seam ("ghost" contacts). A triangle
 * therefore reports only contacts in its own Voronoi region. Let d be the direction from the
 * surface to the body at the nearest point:
 *
 *   inside the face   d is the triangle's normal; the contact is always its own.
 *   on an edge        its own if d does not lean over the neighbour, that is d·m ≤ 0 with m
 *   pointing into
 *                     the neighbour, across the edge, in its plane; otherwise the neighbour has a
 *                     nearer point and reports it. At flat and concave edges d always leans over
 *                     one of the two.
 *   on a corner       the same for all edges that leave the corner.
 *
 * A contact that belongs to both sides of an edge is reported by the triangle with the lower index.
 * For spheres and capsules this is exact. The best axis of a polyhedron is tested in the same way
 * at the feature of the triangle that it touches. If the feature is not the triangle's own, the
 * triangle's normal is used instead, which gives points only where the body is over the triangle.
 * If no triangle around reports a contact although the body overlaps them, the triangles around a
 * corner are tested together (mesh_corner.c).
 *
 * One-sided: a body whose centre is behind the triangle's plane (a sphere: by more than its radius)
 * has no contact with the triangle.
 */
#include "server/engine/collision/curved_pair.h"
#include "server/engine/collision/face_contact.h"
#include "server/engine/collision/gjk.h"
#include "server/engine/collision/mesh_corner.h"
#include "server/engine/collision/pairs.h"
#include "server/engine/collision/sat.h"
#include "server/engine/collision/triangle.h"
#include "server/engine/geometry/closest.h"
#include "server/engine/geometry/mesh.h"
#include "server/engine/geometry/support.h"

/* Sine up to which a direction does not count as leaning. With 0, rounding on a seam could make
 * each of the two triangles leave the contact to the other. */
#define LEAN 1e-9
/* The same for polyhedra at a convex edge, which is no seam. Where two corners overlap, the best
 * axis of one triangle may lean beyond the neighbour's normal by as much. */
#define LEAN_OPEN 0.25
/* A capsule whose axis of contact has a greater cosine to the normal lies on the face (2.6
 * degrees). */
#define LYING_COSINE 0.999
/* At an edge that is not convex a direction d is tested against the neighbour only if its cosine to
 * the normal is greater. Must be less than the cosine of the fold of a flat edge (MESH_FLAT_SINE:
 * 0.9 degrees). */
#define FLAT_COSINE 0.999

/* Relative difference up to which two squared distances count as equal. */
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
	mesh_corners(mesh, index, out.corners);
	out.normal = normal_of(out.corners);
	return out;
}

static double height_over(const struct triangle *t, vec3 p)
{
	return vec3_dot(t->normal, vec3_sub(p, t->corners[0]));
}

/* ---- ownership of contacts ------------------------------------------------------------------- */

/* True if unit d at edge `e` points over the neighbour by more than `lean` (sine). */
static bool leans_over(const struct triangle *t, uint32_t e, vec3 d, double lean)
{
	uint32_t neighbour = mesh_across(t->mesh, t->index, e);
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
	uint32_t neighbour = mesh_across(t->mesh, t->index, e);
	if (shared && neighbour < t->index)
		return false;
	/* At a flat or concave edge a d apart from the normal belongs to no contact of this
	 * triangle. */
	bool open = mesh_edge_is_open(t->mesh, t->index, e);
	if (!open && vec3_dot(d, t->normal) < FLAT_COSINE)
		return false;
	return !leans_over(t, e, d, open && !shared ? LEAN_OPEN : LEAN);
}

/* The corner of a triangle that lies at p; vertices at equal places count as one. */
static uint32_t corner_at(const struct mesh *mesh, uint32_t index, vec3 p)
{
	uint32_t k = 0;
	while (k < 2 && !vec3_equal(mesh_corner(mesh, index, k), p))
		k++;
	return k;
}

/* Walks around corner k of the triangle, over the edge that arrives at the corner or the one that
 * leaves it, until it is back, at the border, or has passed FAN_MAX triangles. False as soon as d
 * leans along an edge, or, if `shared`, at a triangle with a lower index. *round: the walk came
 * back. */
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
		vec3 along = vec3_sub(mesh_corner(mesh, index, far), at);
		double lean = !shared && mesh_edge_is_open(mesh, index, edge) ? LEAN_OPEN : LEAN;
		if (vec3_dot(d, along) > lean * vec3_length(along))
			return false;
		uint32_t next = mesh_across(mesh, index, edge);
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

/* Whether a contact at this feature along unit d belongs to this triangle. `shared`: the other
 * triangles of the feature find the same contact, so only the lowest index reports it. */
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

/* ---- spheres --------------------------------------------------------------------------------- */

/* The contact point, in A's frame, for the nearest point q on the triangle and the direction d, in
 * the mesh frame. */
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
	struct triangle t = triangle_of(pair->b->mesh, pair->child);
	double radius = pair->a->sphere.radius, reach = radius + pair->margin;
	vec3 centre = pose_inverse_point(pair->b_in_a, vec3_zero());
	double height = height_over(&t, centre);
	out->count = 0;
	cache_set(cache, CACHE_NONE, 0, 0);
	if (height > reach || height < -radius)
		return;
	struct triangle_point near =
		closest_point_triangle(centre, t.corners[0], t.corners[1], t.corners[2]);
	vec3 d = t.normal;
	double distance = height;
	if (near.feature != TRIANGLE_FACE) {
		if (near.distance_squared > reach * reach)
			return;
		cache_set(cache, CACHE_NEIGHBOUR, 0, 0);
		if (height < 0)
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

/* ---- capsules -------------------------------------------------------------------------------- */

struct nearest_pair {
	vec3 on_segment, on_triangle;
	double squared;
	enum triangle_feature feature;
};

static int dimension(enum triangle_feature feature)
{
	return feature == TRIANGLE_FACE ? 2 : feature >= TRIANGLE_EDGE_0 ? 1 : 0;
}

/* Among points that are equally near up to rounding (a capsule along an edge), those on the feature
 * of higher dimension are taken: the owner of the edge is near the capsule, but the owner of its
 * end may be out of reach. */
static void update_nearest(struct nearest_pair *best, vec3 p, vec3 q, double squared,
			   enum triangle_feature feature)
{
	bool less = squared<best->squared *(1 - TIE), more = squared> best->squared * (1 + TIE);
	if (less || (!more && dimension(feature) > dimension(best->feature)))
		*best = (struct nearest_pair){ p, q, squared, feature };
}

/* The nearest points of a triangle and a segment that does not cross it: at an end or at an edge. */
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

/* Clips the segment to the triangle's prism: part[0] ≤ part[1] in 0 … 1; false if no part is left. */
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

/* Up to two points along the face's normal; false if none lies within the margin. */
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
	struct triangle t = triangle_of(pair->b->mesh, pair->child);
	double half = pair->a->capsule.half_length, radius = pair->a->capsule.radius;
	double reach = radius + pair->margin;
	vec3 ends[2] = { pose_inverse_point(pair->b_in_a, vec3_make(0, -half, 0)),
			 pose_inverse_point(pair->b_in_a, vec3_make(0, half, 0)) };
	double heights[2] = { height_over(&t, ends[0]), height_over(&t, ends[1]) };
	out->count = 0;
	cache_set(cache, CACHE_NEIGHBOUR, 0, 0);
	if (scalar_min(heights[0], heights[1]) > reach) {
		cache_set(cache, CACHE_NONE, 0, 0);
		return;
	}
	/* A segment through the triangle is pushed out along the face's normal. */
	bool behind = heights[0] + heights[1] < -2 * radius;
	bool through = (heights[0] < 0) != (heights[1] < 0);
	double k = through ? heights[0] / (heights[0] - heights[1]) : 0, part[2];
	if (through && segment_over(&t, ends, part) && part[0] <= k && k <= part[1]) {
		if (!behind)
			capsule_face(pair, &t, ends, out);
		return;
	}
	struct nearest_pair near = segment_triangle(&t, ends);
	if (near.squared > reach * reach) {
		cache_set(cache, CACHE_NONE, 0, 0);
		return;
	}
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

/* ---- polyhedra ------------------------------------------------------------------------------- */

/* The hull (a) and the triangle as a hull (b), both in the hull's frame. */
struct hull_triangle {
	const struct pair *pair;
	const struct hull *hull;
	struct triangle own; /* mesh frame, for the neighbours */
	struct flat_hull flat;
	struct placing here; /* the identity */
	double slop;
};

/* The feature with exactly these corners (bits 0, 1, 2). */
static enum triangle_feature feature_of(uint32_t corners)
{
	static const uint8_t FEATURES[8] = { TRIANGLE_FACE,   TRIANGLE_VERTEX_0, TRIANGLE_VERTEX_1,
					     TRIANGLE_EDGE_0, TRIANGLE_VERTEX_2, TRIANGLE_EDGE_2,
					     TRIANGLE_EDGE_1, TRIANGLE_FACE };
	return FEATURES[corners & 7];
}

/* The feature of the triangle that is farthest along d (hull's frame), within the slop. */
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

/* Whether a contact at this feature with direction d (surface → hull, hull's frame) belongs to the
 * triangle. It may belong to both sides of an edge, because the points of a polyhedron are reduced
 * per triangle, and the other side may have found another axis. */
static bool owns_contact(const struct hull_triangle *x, enum triangle_feature feature, vec3 d)
{
	vec3 outward = x->flat.faces[0].normal;
	return feature != TRIANGLE_FACE && vec3_dot(d, outward) > 0 &&
	       is_own(&x->own, feature, quat_rotate_inverse(x->pair->b_in_a.rotation, d), false);
}

/* Removes the points that are nearer to the face of a neighbour across a convex edge, which the
 * neighbour reports: a body that touches the side of a block near its rim is not deep below the
 * top. */
static void drop_points_of_neighbours(const struct hull_triangle *x, struct manifold *out)
{
	vec3 normal = x->flat.faces[0].normal;
	for (uint32_t e = 0; e < 3; e++) {
		uint32_t neighbour = mesh_across(x->own.mesh, x->own.index, e), kept = 0;
		if (!mesh_edge_is_open(x->own.mesh, x->own.index, e) || neighbour == UINT32_MAX)
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

/* The contact of two edges; false if it is not the triangle's or the edges are farther apart than
 * their axis. */
static bool edges_manifold(const struct hull_triangle *x, const struct sat_edges *edges,
			   struct manifold *out)
{
	uint32_t e = edges->edge_b; /* the lower of the two: 0, 1, 2 */
	if (!owns_contact(x, TRIANGLE_EDGE_0 + e, vec3_negate(edges->normal)))
		return false;
	const struct half_edge *h = &x->hull->edges[edges->edge_a];
	struct segment_pair near = closest_segment_segment(
		x->hull->vertices[h->origin], x->hull->vertices[x->hull->edges[h->twin].origin],
		x->flat.vertices[e], x->flat.vertices[(e + 1) % 3]);
	manifold_one(out, edges->normal, near.first, edges->separation,
		     feature_make(FEATURE_EDGES, edges->edge_a, e));
	return scalar_sqrt(near.distance_squared) <= scalar_abs(edges->separation) + x->slop;
}

/* The nearest points of hull and triangle, by GJK, if they belong to the triangle and are nearer
 * than the points in *out by more than the slop. */
static void nearest_manifold(const struct hull_triangle *x, struct manifold *out)
{
	double bar = out->count > 0 ? manifold_deepest(out) - x->slop : SCALAR_MAX;
	struct gjk_core a = { x->hull->vertices, x->hull->vertex_count, x->hull, 0, NULL };
	struct gjk_core b = { x->flat.vertices, 3, NULL, 0, NULL };
	struct gjk_result near;
	gjk_distance(&a, &b, &x->here.rotation, x->here.translation, NULL, &near);
	if (near.touching || near.distance > x->pair->margin || near.distance >= bar)
		return;
	uint32_t corners = 0;
	for (uint32_t k = 0; k < near.simplex.count; k++)
		corners |= 1u << near.simplex.b[k];
	enum triangle_feature feature = feature_of(corners);
	if (owns_contact(x, feature, vec3_negate(near.normal)))
		manifold_one(out, near.normal, near.point_a, near.distance,
			     feature_make(FEATURE_NEAREST, near.simplex.a[0], feature));
}

/* The contact of the best axis that belongs to the triangle; if there is none, that of its normal. */
static void hull_contact(const struct hull_triangle *x, struct sat_face up, struct sat_face side,
			 struct sat_edges edges, struct manifold *out)
{
	bool crossing = edges.separation > -SCALAR_MAX;
	bool sideways = !crossing && side.separation > up.separation + x->slop;
	if (crossing && edges_manifold(x, &edges, out))
		return;
	out->count = 0;
	/* A face of the hull, then the nearest points. */
	if (sideways) {
		vec3 d = vec3_negate(x->hull->faces[side.face].normal);
		struct face_contact of_hull = { x->hull,	 &x->flat.hull, &x->here, side,
						x->pair->margin, x->slop,	false };
		if (owns_contact(x, feature_under(x, d), d))
			face_contact(&of_hull, out);
		if (manifold_deepest(out) <= side.separation + x->slop)
			return;
		nearest_manifold(x, out);
		if (out->count > 0)
			return;
	}
	/* The triangle's normal. If another axis is better, neighbours report the points nearer to
	 * them. */
	struct face_contact of_triangle = { &x->flat.hull,   x->hull, &x->here, up,
					    x->pair->margin, x->slop, true };
	face_contact(&of_triangle, out);
	if (crossing || sideways)
		drop_points_of_neighbours(x, out);
	out->normal = vec3_negate(out->normal);
	if (manifold_deepest(out) > up.separation + x->slop)
		nearest_manifold(x, out);
}

/* The manifold of one triangle tested by itself. True: hull and triangle overlap. */
static bool collide_triangle(const struct pair *pair, uint32_t child, struct pair_cache *cache,
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
	uint32_t lowest = cache->kind == CACHE_FACE_B || cache->kind == CACHE_NEIGHBOUR
				  ? cache->feature_a
				  : 0;
	if (vec3_dot(outside->normal, x.hull->centre) < outside->offset) {
		cache_set(cache, CACHE_NEIGHBOUR, lowest, 0);
		return false;
	}
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
	if (out->count == 0)
		cache_set(cache, CACHE_NEIGHBOUR, up.vertex, 0);
	return top < 0 && edges.separation < 0;
}

/* Whether the hull intersects a convex edge between the triangle and a neighbour. Otherwise the
 * manifolds of the single triangles suffice. */
static bool intersects_open_edge(const struct hull *hull, const struct mesh *mesh, uint32_t child,
				 const struct placing *mesh_in_hull)
{
	for (uint32_t e = 0; e < 3; e++) {
		if (!mesh_edge_is_open(mesh, child, e) || mesh_across(mesh, child, e) == UINT32_MAX)
			continue;
		vec3 p = placing_point(mesh_in_hull, mesh_corner(mesh, child, e));
		vec3 q = placing_point(mesh_in_hull, mesh_corner(mesh, child, (e + 1) % 3));
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

/* Whether the hull overlaps triangle `child`, the surface is convex there, and neither it nor the
 * triangles around it report a contact. Then *corner is the axis of least penetration of all of
 * them together. */
static bool is_unreported(const struct pair *pair, uint32_t child, struct mesh_fan *fan,
			  struct mesh_corner *corner)
{
	const struct mesh *mesh = pair->b->mesh;
	double slop = scalar_min(PAIR_SLOP_RELATIVE * pair->a->extent_min, PAIR_SLOP_MAX);
	struct placing there = { mat3_from_quat(pair->b_in_a.rotation), pair->b_in_a.position };
	struct pair_cache none = { 0 };
	struct manifold alone;
	if (!intersects_open_edge(pair->a->hull, mesh, child, &there) ||
	    !collide_triangle(pair, child, &none, &alone) || alone.count > 0 ||
	    !mesh_fan_of(mesh, child, fan) ||
	    !mesh_corner_axis(pair->a->hull, mesh, fan, &there, slop, corner) ||
	    corner->separation >= 0)
		return false;
	for (uint32_t k = 1; k < fan->count; k++) {
		none = (struct pair_cache){ 0 };
		collide_triangle(pair, fan->triangles[k], &none, &alone);
		if (alone.count == 0)
			continue;
		/* A manifold counts if it is as deep as the fan along its normal, or along the best
		 * axis. */
		double along = mesh_corner_along(pair->a->hull, mesh, fan, &there, alone.normal);
		if (manifold_deepest(&alone) <= scalar_max(along, corner->separation) + slop)
			return false;
	}
	return true;
}

void pair_hull_mesh(const struct pair *pair, struct pair_cache *cache, struct manifold *out)
{
	struct mesh_fan fan, other_fan;
	struct mesh_corner corner, other;
	if (!collide_triangle(pair, pair->child, cache, out) || out->count > 0 ||
	    !is_unreported(pair, pair->child, &fan, &corner))
		return;
	/* Of the triangles around for which this holds, the one with the least penetration reports
	 * the contact, of equal ones the lowest index. */
	for (uint32_t k = 1; k < fan.count; k++) {
		uint32_t child = fan.triangles[k];
		if (is_unreported(pair, child, &other_fan, &other) &&
		    (other.separation > corner.separation ||
		     (other.separation == corner.separation && child < pair->child)))
			return;
	}
	manifold_one(out, corner.normal, corner.on_hull, corner.separation, corner.feature);
}

/* ---- curved and rounded shapes --------------------------------------------------------------- */

/* The feature of the triangle that is farthest along d (mesh frame), within the slop. */
static enum triangle_feature feature_along(const struct triangle *t, vec3 d, double slop)
{
	double along[3], top = -SCALAR_MAX;
	for (int k = 0; k < 3; k++) {
		along[k] = vec3_dot(t->corners[k], d);
		top = scalar_max(top, along[k]);
	}
	uint32_t set = 0;
	for (int k = 0; k < 3; k++)
		set |= (uint32_t)(along[k] >= top - slop) << k;
	return feature_of(set);
}

/* As drop_points_of_neighbours. */
static void drop_curved_points(const struct pair *pair, const struct triangle *t, double slop,
			       struct manifold *out)
{
	for (uint32_t e = 0; e < 3; e++) {
		uint32_t neighbour = mesh_across(t->mesh, t->index, e), kept = 0;
		if (!mesh_edge_is_open(t->mesh, t->index, e) || neighbour == UINT32_MAX)
			continue;
		struct triangle other = triangle_of(t->mesh, neighbour);
		for (uint32_t k = 0; k < out->count; k++) {
			struct manifold_point point = out->points[k];
			vec3 on_a = vec3_mul_sub(point.point, out->normal, 0.5 * point.separation);
			double height = height_over(&other, pose_inverse_point(pair->b_in_a, on_a));
			if (point.separation >= -slop || height <= point.separation + slop)
				out->points[kept++] = point;
		}
		out->count = kept;
	}
}

/* A corner in a corner of the surface: no triangle's axis may belong to it. The hull that stands
 * for the shape is then collided, whose triangles are tested together there. */
static void hull_instead(const struct pair *pair, struct manifold *out)
{
	struct placing there = { mat3_from_quat(pair->b_in_a.rotation), pair->b_in_a.position };
	struct pair hull = *pair;
	struct pair_cache none = { 0 };
	double radius = support_radius(pair->a);
	hull.a = pair->a->stand_in;
	if (!intersects_open_edge(hull.a->hull, pair->b->mesh, pair->child, &there))
		return;
	pair_hull_mesh(&hull, &none, out);
	for (uint32_t k = 0; k < out->count; k++) {
		struct manifold_point *point = &out->points[k];
		point->separation -= radius;
		point->point = vec3_mul_add(point->point, out->normal, 0.5 * radius);
	}
}

/* The axis decides as for a capsule: a contact at an edge or corner counts if it is the triangle's
 * own. In every other case the triangle's normal is used, which gives points only where the body is
 * over it. */
void pair_curved_mesh(const struct pair *pair, struct pair_cache *cache, struct manifold *out)
{
	struct triangle t = triangle_of(pair->b->mesh, pair->child);
	struct curved_pair self;
	struct curved_axis axis;
	struct pair_cache last = *cache;
	out->count = 0;
	cache_set(cache, CACHE_NEIGHBOUR, 0, 0);
	if (height_over(&t, pose_inverse_point(pair->b_in_a, pair->a->mass.centre)) < 0)
		return;
	curved_pair_init(&self, pair);
	if (!curved_axis_find(&self, &axis)) {
		cache_set(cache, CACHE_NONE, 0, 0);
		return;
	}
	vec3 d = vec3_negate(quat_rotate_inverse(pair->b_in_a.rotation, axis.normal));
	vec3 normal = vec3_negate(quat_rotate(pair->b_in_a.rotation, t.normal));
	double upward = vec3_dot(d, t.normal), up = curved_separation(&self, normal);
	enum triangle_feature feature = feature_along(&t, d, self.slop);
	bool flat = up >= axis.separation - self.slop;
	bool own = feature != TRIANGLE_FACE && upward > 0 && is_own(&t, feature, d, false);
	if ((!own || (flat && upward > LYING_COSINE)) && up - self.radii <= pair->margin) {
		curved_over_face(&self, normal, out);
		if (!flat)
			drop_curved_points(pair, &t, self.slop, out);
	}
	if (own && manifold_deepest(out) > axis.separation - self.radii + self.slop)
		curved_manifold(&self, &axis, &last, out);
	if (out->count == 0 && axis.separation < 0)
		hull_instead(pair, out);
	if (out->count > 0)
		*cache = last;
}
