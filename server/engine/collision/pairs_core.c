/* See pairs.h. A sphere or a capsule (A) against a hull (B). The core of A is a point or a segment.
 *
 * Shallow contact, core outside the hull: the separation is the distance from the core to the hull, by
 * GJK, less the radius. The normal is the direction between the nearest points.
 * Deep contact, core touching the hull: the axis of least penetration of the core. The candidates are the
 * face normals and, for a segment, also the cross products of the segment with the hull's edges. On the
 * Gauss sphere the normals orthogonal to the segment form a great circle; an edge is a candidate only if
 * the normals of its two faces lie on different sides of that circle.
 *
 * A capsule that lies along a face gets two points, the ends of its segment clipped to the prism of the
 * face, because it would rock on a single point.
 */
#include "server/engine/collision/gjk.h"
#include "server/engine/collision/pairs.h"
#include "server/engine/collision/sat.h"
#include "server/engine/geometry/closest.h"

/* A capsule lies on a face if the cosine of the angle between the two normals is greater (2.6 degrees). At a
 * wider angle a capsule gets its two points sooner, but the normal jumps by more when it changes to that of
 * the face. */
#define LYING_COSINE 0.999

/* Whether p lies in the prism of the face: its projection onto the plane is in the polygon. */
static bool is_over_face(const struct hull *hull, const struct hull_face *face, vec3 p)
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

/* The face whose plane p is farthest above; *height in m, < 0 inside the hull. */
static uint32_t highest_face(const struct hull *hull, vec3 p, double *height)
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

/* GJK from the cached vertices; caches the vertices of the result. */
static void measure_distance(const struct pair *pair, struct pair_cache *cache,
			     struct gjk_result *nearest)
{
	struct gjk_points points_a, points_b;
	struct gjk_core a = gjk_core_of(pair->a, 0, &points_a);
	struct gjk_core b = gjk_core_of(pair->b, 0, &points_b);
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
	uint32_t f = highest_face(hull, centre, &height);
	out->count = 0;
	if (height > radius + pair->margin)
		return;
	if (height <= 0 || is_over_face(hull, &hull->faces[f], centre)) {
		vec3 normal = quat_rotate(pair->b_in_a.rotation, hull->faces[f].normal);
		normal = vec3_negate(normal);
		manifold_one(out, normal, vec3_scale(normal, radius), height - radius,
			     feature_make(FEATURE_VERTEX, 0, f));
		return;
	}
	struct gjk_result nearest;
	measure_distance(pair, cache, &nearest);
	double separation = nearest.distance - radius;
	if (nearest.touching || separation > pair->margin)
		return;
	manifold_one(out, nearest.normal, vec3_scale(nearest.normal, radius), separation,
		     feature_make(FEATURE_NEAREST, 0, nearest.simplex.b[0]));
}

/* ---- capsules --------------------------------------------------------------------------------- */

/* A capsule in the hull's frame. */
struct capsule_on_hull {
	const struct hull *hull;
	vec3 ends[2];
	double radius, margin; /* m */
	pose to_a;	       /* the hull's pose in the capsule's frame */
};

/* Clips the segment to the face's prism: t[0] ≤ t[1] in 0 … 1 along it; false if no part is left. */
static bool segment_over_face(const struct capsule_on_hull *capsule, const struct hull_face *face,
			      double t[2])
{
	const struct hull *hull = capsule->hull;
	vec3 along = vec3_sub(capsule->ends[1], capsule->ends[0]);
	uint32_t edge = face->edge;
	t[0] = 0;
	t[1] = 1;
	for (uint32_t k = 0; k < face->edge_count; k++) {
		uint32_t next = hull->edges[edge].next;
		vec3 from = hull->vertices[hull->edges[edge].origin];
		vec3 side = vec3_cross(vec3_sub(hull->vertices[hull->edges[next].origin], from),
				       face->normal);
		double out = vec3_dot(side, vec3_sub(capsule->ends[0], from)),
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
static bool face_manifold(const struct capsule_on_hull *capsule, uint32_t f, struct manifold *out)
{
	const struct hull_face *face = &capsule->hull->faces[f];
	double t[2];
	if (!segment_over_face(capsule, face, t))
		return false;
	out->count = 0;
	out->normal = vec3_negate(quat_rotate(capsule->to_a.rotation, face->normal));
	for (uint32_t k = 0; k < 2; k++) {
		vec3 p = vec3_lerp(capsule->ends[0], capsule->ends[1], t[k]);
		double height = vec3_dot(face->normal, p) - face->offset;
		double separation = height - capsule->radius;
		if (separation > capsule->margin || (k == 1 && out->count == 1 && t[0] == t[1]))
			continue;
		/* Midway between the capsule's surface and the face. */
		vec3 middle = vec3_mul_sub(p, face->normal, 0.5 * (height + capsule->radius));
		out->points[out->count++] =
			(struct manifold_point){ pose_point(capsule->to_a, middle), separation,
						 feature_make(FEATURE_VERTEX, k, f) };
	}
	return out->count > 0;
}

/* The axis of a segment and an edge of the hull. */
struct segment_edge {
	double separation; /* m, of the segment and the hull along `normal` */
	uint32_t edge;
	vec3 normal; /* unit, out of the hull, in its frame */
};

/* The edge axis of greatest separation; its separation is −SCALAR_MAX if none exceeds `least`. */
static struct segment_edge best_edge_axis(const struct capsule_on_hull *capsule, double least)
{
	const struct hull *hull = capsule->hull;
	vec3 along = vec3_sub(capsule->ends[1], capsule->ends[0]);
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
		double separation = vec3_dot(n, vec3_sub(capsule->ends[0], from));
		if (separation > bar) {
			bar = separation;
			best = (struct segment_edge){ separation, h, n };
		}
	}
	return best;
}

/* The segment touches the hull: the axis of greatest separation. An edge axis must exceed the best face by
 * `slop`. */
static void deep_manifold(const struct capsule_on_hull *capsule, double slop, struct manifold *out)
{
	const struct hull *hull = capsule->hull;
	uint32_t best = 0, end = 0;
	double high = -SCALAR_MAX;
	for (uint32_t f = 0; f < hull->face_count; f++) {
		double one =
			vec3_dot(hull->faces[f].normal, capsule->ends[0]) - hull->faces[f].offset;
		double other =
			vec3_dot(hull->faces[f].normal, capsule->ends[1]) - hull->faces[f].offset;
		if (scalar_min(one, other) > high) {
			high = scalar_min(one, other);
			best = f;
			end = other < one;
		}
	}
	struct segment_edge edge = best_edge_axis(capsule, high + slop);
	if (edge.separation > -SCALAR_MAX) {
		const struct half_edge *h = &hull->edges[edge.edge];
		struct segment_pair near = closest_segment_segment(
			capsule->ends[0], capsule->ends[1], hull->vertices[h->origin],
			hull->vertices[hull->edges[h->twin].origin]);
		vec3 normal = vec3_negate(quat_rotate(capsule->to_a.rotation, edge.normal));
		vec3 on_a = vec3_mul_add(pose_point(capsule->to_a, near.first), normal,
					 capsule->radius);
		manifold_one(out, normal, on_a, edge.separation - capsule->radius,
			     feature_make(FEATURE_EDGES, 0, edge.edge));
		return;
	}
	if (face_manifold(capsule, best, out))
		return;
	/* The segment is beside the face's prism: one point, at its lower end. */
	vec3 normal = vec3_negate(quat_rotate(capsule->to_a.rotation, hull->faces[best].normal));
	manifold_one(out, normal,
		     vec3_mul_add(pose_point(capsule->to_a, capsule->ends[end]), normal,
				  capsule->radius),
		     high - capsule->radius, feature_make(FEATURE_VERTEX, end, best));
}

void pair_capsule_hull(const struct pair *pair, struct pair_cache *cache, struct manifold *out)
{
	double half = pair->a->capsule.half_length, radius = pair->a->capsule.radius;
	struct capsule_on_hull capsule = {
		pair->b->hull,
		{ pose_inverse_point(pair->b_in_a, vec3_make(0, -half, 0)),
		  pose_inverse_point(pair->b_in_a, vec3_make(0, half, 0)) },
		radius,
		pair->margin,
		pair->b_in_a
	};
	struct gjk_result nearest;
	out->count = 0;
	measure_distance(pair, cache, &nearest);
	double separation = nearest.distance - radius;
	if (separation > pair->margin)
		return;
	if (nearest.touching) {
		deep_manifold(&capsule, pair_slop(pair->a, pair->b), out);
		return;
	}
	vec3 seen = pose_inverse_vector(pair->b_in_a, nearest.normal);
	uint32_t f = sat_face_against(capsule.hull, seen);
	/* The two points on the face are used only if they are as deep as the nearest points: the nearest end
	 * of an inclined capsule may lie beside the face. */
	if (-vec3_dot(capsule.hull->faces[f].normal, seen) > LYING_COSINE &&
	    face_manifold(&capsule, f, out) &&
	    manifold_deepest(out) <= separation + pair_slop(pair->a, pair->b))
		return;
	manifold_one(out, nearest.normal, vec3_mul_add(nearest.point_a, nearest.normal, radius),
		     separation,
		     feature_make(FEATURE_NEAREST, nearest.simplex.a[0], nearest.simplex.b[0]));
}
