/* pairs_core.c: a sphere or a capsule against a polyhedron.
 *
 * Shallow: the distance of the core (a point, a segment) to the polyhedron by GJK, less the radius;
 * the direction between the nearest points is the normal. Deep, when the core itself touches:
 * separating axes of the core. For a point these are the faces. For a segment also the cross
 * products with edges: on the Gauss sphere the segment is the great circle across it, so an edge
 * counts if its faces' normals lie on different sides of that circle.
 *
 * A capsule that lies along a face gets two points, the segment cut to the face's prism: one would
 * let it see-saw.
 */
#include "server/engine/collision/gjk.h"
#include "server/engine/collision/pairs.h"
#include "server/engine/collision/sat.h"
#include "server/engine/geometry/closest.h"

/* Cosine of the angle between normal and face normal under which a capsule counts as lying on
 * the face (2.6 degrees). Larger: two points sooner, but the normal jumps by more when it
 * changes to the face's. */
#define LYING_COSINE 0.999

/* Whether p's foot lies in the face. */
static bool over_face(const struct hull *hull, const struct hull_face *face, vec3 p)
{
	uint32_t edge = face->edge;
	for (uint32_t k = 0; k < face->edge_count; k++) {
		uint32_t next = hull->edges[edge].next;
		vec3 from = hull->vertices[hull->edges[edge].origin];
		vec3 along = vec3_sub(hull->vertices[hull->edges[next].origin], from);
		if (vec3_triple(along, face->normal, vec3_sub(p, from)) > 0)
			return false;
		edge = next;
	}
	return true;
}

/* The face p is farthest above. */
static uint32_t face_above(const struct hull *hull, vec3 p, double *height)
{
	uint32_t best = 0;
	*height = -SCALAR_MAX;
	for (uint32_t f = 0; f < hull->face_count; f++) {
		double above = vec3_dot(hull->faces[f].normal, p) - hull->faces[f].offset;
		best = above > *height ? f : best;
		*height = above > *height ? above : *height;
	}
	return best;
}

/* Begins with the vertices remembered, and remembers the new ones. */
static void nearest_of(const struct pair *pair, struct pair_cache *cache,
		       struct gjk_result *nearest)
{
	struct gjk_points room_a, room_b;
	struct gjk_core a = gjk_core_of(pair->a, 0, &room_a);
	struct gjk_core b = gjk_core_of(pair->b, 0, &room_b);
	mat3 rotation = mat3_from_quat(pair->b_in_a.rotation);
	struct gjk_simplex start = { cache->kind == CACHE_VERTICES,
				     { cache->feature_a },
				     { cache->feature_b } };
	gjk_distance(&a, &b, &rotation, pair->b_in_a.position, &start, nearest);
	cache_set(cache, CACHE_VERTICES, nearest->simplex.a[0], nearest->simplex.b[0]);
}

void pair_sphere_hull(const struct pair *pair, struct pair_cache *cache, struct manifold *out)
{
	const struct hull *hull = pair->b->hull;
	double radius = pair->a->sphere.radius, height;
	vec3 centre = pose_inverse_point(pair->b_in_a, vec3_zero());
	uint32_t f = face_above(hull, centre, &height);
	out->count = 0;
	if (height > radius + pair->margin)
		return;
	if (height <= 0 || over_face(hull, &hull->faces[f], centre)) {
		vec3 normal = quat_rotate(pair->b_in_a.rotation, hull->faces[f].normal);
		normal = vec3_negate(normal);
		manifold_one(out, normal, vec3_scale(normal, radius), height - radius,
			     feature_make(FEATURE_VERTEX, 0, f));
		return;
	}
	struct gjk_result nearest;
	nearest_of(pair, cache, &nearest);
	double separation = nearest.distance - radius;
	if (nearest.touching || separation > pair->margin)
		return;
	manifold_one(out, nearest.normal, vec3_scale(nearest.normal, radius), separation,
		     feature_make(FEATURE_NEAREST, 0, nearest.simplex.b[0]));
}

/* ---- capsules --------------------------------------------------------------------------------- */

/* A capsule in the frame of the hull. */
struct capsule_on_hull {
	const struct hull *hull;
	vec3 ends[2];
	double radius, margin;
	pose to_a; /* the hull's pose in the capsule's frame */
};

/* The part of the segment inside the face's prism, as parameters; false if there is none. */
static bool segment_over_face(const struct capsule_on_hull *x, const struct hull_face *face,
			      double t[2])
{
	const struct hull *hull = x->hull;
	vec3 along = vec3_sub(x->ends[1], x->ends[0]);
	uint32_t edge = face->edge;
	t[0] = 0;
	t[1] = 1;
	for (uint32_t k = 0; k < face->edge_count; k++) {
		uint32_t next = hull->edges[edge].next;
		vec3 from = hull->vertices[hull->edges[edge].origin];
		vec3 side = vec3_cross(vec3_sub(hull->vertices[hull->edges[next].origin], from),
				       face->normal);
		double out = vec3_dot(side, vec3_sub(x->ends[0], from)),
		       rise = vec3_dot(side, along);
		if (rise > 0)
			t[1] = scalar_min(t[1], -out / rise);
		else if (rise < 0)
			t[0] = scalar_max(t[0], -out / rise);
		else if (out > 0)
			return false;
		edge = next;
	}
	return t[0] <= t[1];
}

/* Up to two points on the face; false if none lies within the margin. */
static bool face_manifold(const struct capsule_on_hull *x, uint32_t f, struct manifold *out)
{
	const struct hull_face *face = &x->hull->faces[f];
	double t[2];
	if (!segment_over_face(x, face, t))
		return false;
	out->count = 0;
	out->normal = vec3_negate(quat_rotate(x->to_a.rotation, face->normal));
	for (uint32_t k = 0; k < 2; k++) {
		vec3 p = vec3_lerp(x->ends[0], x->ends[1], t[k]);
		double height = vec3_dot(face->normal, p) - face->offset;
		double separation = height - x->radius;
		if (separation > x->margin || (k == 1 && out->count == 1 && t[0] == t[1]))
			continue;
		/* Midway between the capsule's surface and the face. */
		vec3 middle = vec3_mul_sub(p, face->normal, 0.5 * (height + x->radius));
		out->points[out->count++] =
			(struct manifold_point){ pose_point(x->to_a, middle), separation,
						 feature_make(FEATURE_VERTEX, k, f) };
	}
	return out->count > 0;
}

struct segment_edge {
	double separation;
	uint32_t edge;
	vec3 normal; /* from the hull, its frame */
};

static struct segment_edge segment_edges(const struct capsule_on_hull *x, double least)
{
	const struct hull *hull = x->hull;
	vec3 along = vec3_sub(x->ends[1], x->ends[0]);
	struct segment_edge best = { -SCALAR_MAX, 0, { 0, 0, 0 } };
	double bar = least;
	for (uint32_t h = 0; h < hull->edge_count; h++) {
		const struct half_edge *edge = &hull->edges[h], *twin = &hull->edges[edge->twin];
		if (edge->twin < h ||
		    vec3_dot(hull->faces[edge->face].normal, along) *
				    vec3_dot(hull->faces[twin->face].normal, along) >=
			    0)
			continue;
		vec3 from = hull->vertices[edge->origin];
		vec3 d = vec3_sub(hull->vertices[twin->origin], from), n = vec3_cross(d, along);
		double length2 = vec3_length_squared(n);
		if (!(length2 > PAIR_PARALLEL_SINE * PAIR_PARALLEL_SINE * vec3_length_squared(d) *
					vec3_length_squared(along)))
			continue;
		n = vec3_scale(n, 1.0 / scalar_sqrt(length2));
		if (vec3_dot(n, vec3_sub(from, hull->centre)) < 0)
			n = vec3_negate(n);
		double separation = vec3_dot(n, vec3_sub(x->ends[0], from));
		if (separation > bar) {
			bar = separation;
			best = (struct segment_edge){ separation, h, n };
		}
	}
	return best;
}

/* The segment itself is in the hull. */
static void deep_manifold(const struct capsule_on_hull *x, double slop, struct manifold *out)
{
	const struct hull *hull = x->hull;
	uint32_t best = 0, end = 0;
	double high = -SCALAR_MAX;
	for (uint32_t f = 0; f < hull->face_count; f++) {
		double one = vec3_dot(hull->faces[f].normal, x->ends[0]) - hull->faces[f].offset;
		double other = vec3_dot(hull->faces[f].normal, x->ends[1]) - hull->faces[f].offset;
		if (scalar_min(one, other) > high) {
			high = scalar_min(one, other);
			best = f;
			end = other < one;
		}
	}
	struct segment_edge edge = segment_edges(x, high + slop);
	if (edge.separation > -SCALAR_MAX) {
		const struct half_edge *h = &hull->edges[edge.edge];
		struct segment_pair near =
			closest_segment_segment(x->ends[0], x->ends[1], hull->vertices[h->origin],
						hull->vertices[hull->edges[h->twin].origin]);
		vec3 normal = vec3_negate(quat_rotate(x->to_a.rotation, edge.normal));
		vec3 on_a = vec3_mul_add(pose_point(x->to_a, near.first), normal, x->radius);
		manifold_one(out, normal, on_a, edge.separation - x->radius,
			     feature_make(FEATURE_EDGES, 0, edge.edge));
		return;
	}
	if (face_manifold(x, best, out))
		return;
	/* Beside the face's prism: the lower end alone. */
	vec3 normal = vec3_negate(quat_rotate(x->to_a.rotation, hull->faces[best].normal));
	manifold_one(out, normal,
		     vec3_mul_add(pose_point(x->to_a, x->ends[end]), normal, x->radius),
		     high - x->radius, feature_make(FEATURE_VERTEX, end, best));
}

void pair_capsule_hull(const struct pair *pair, struct pair_cache *cache, struct manifold *out)
{
	double half = pair->a->capsule.half_length, radius = pair->a->capsule.radius;
	struct capsule_on_hull x = { pair->b->hull,
				     { pose_inverse_point(pair->b_in_a, vec3_make(0, -half, 0)),
				       pose_inverse_point(pair->b_in_a, vec3_make(0, half, 0)) },
				     radius,
				     pair->margin,
				     pair->b_in_a };
	struct gjk_result nearest;
	out->count = 0;
	nearest_of(pair, cache, &nearest);
	double separation = nearest.distance - radius;
	if (separation > pair->margin)
		return;
	if (nearest.touching) {
		deep_manifold(&x, pair_slop(pair->a, pair->b), out);
		return;
	}
	vec3 seen = pose_inverse_vector(pair->b_in_a, nearest.normal);
	uint32_t f = sat_face_against(x.hull, seen);
	/* A leaning capsule's nearest end may lie beside the face: then its points are too far. */
	if (-vec3_dot(x.hull->faces[f].normal, seen) > LYING_COSINE && face_manifold(&x, f, out) &&
	    manifold_deepest(out) <= separation + pair_slop(pair->a, pair->b))
		return;
	manifold_one(out, nearest.normal, vec3_mul_add(nearest.point_a, nearest.normal, radius),
		     separation,
		     feature_make(FEATURE_NEAREST, nearest.simplex.a[0], nearest.simplex.b[0]));
}
