/* See pairs.h. Pairs of spheres and capsules, and a sphere with a box, in closed form.
 *
 * A separation is the distance of two points or segments less the radii. If the two nearest points
 * coincide, their difference has no direction: the normal is then +y, and in a box the normal of the nearest
 * face.
 */
#include "server/engine/collision/pairs.h"
#include "server/engine/geometry/closest.h"

/* m. The square of a shorter vector is denormal or 0, so dividing by its root would give no unit vector. */
#define SHORTEST 1e-150

/* One point of the nearest points p of A's core and q of B's core, if they are within the margin. */
static inline void round_contact(const vec3 *at_p, double radius_a, const vec3 *at_q,
				 double radius_b, uint32_t feature, double margin,
				 struct manifold *out)
{
	vec3 p = *at_p, q = *at_q, d = vec3_sub(q, p);
	double reach = radius_a + radius_b + margin, squared = vec3_length_squared(d);
	if (squared > reach * reach)
		return;
	double distance = scalar_sqrt(squared);
	vec3 normal = distance > SHORTEST ? vec3_scale(d, 1.0 / distance) : vec3_make(0, 1, 0);
	manifold_one(out, normal, vec3_mul_add(p, normal, radius_a), distance - radius_a - radius_b,
		     feature);
}

/* G-19. */
void pair_sphere_sphere(const struct pair *pair, struct pair_cache *cache, struct manifold *out)
{
	UNUSED(cache);
	out->count = 0;
	const vec3 centre = vec3_zero();
	round_contact(&centre, pair->a->sphere.radius, &pair->b_in_a.position,
		      pair->b->sphere.radius, feature_make(FEATURE_NEAREST, 0, 0), pair->margin,
		      out);
}

static void capsule_ends(const struct shape *capsule, const pose *at, vec3 ends[2])
{
	vec3 up = vec3_scale(quat_rotate(at->rotation, vec3_make(0, 1, 0)),
			     capsule->capsule.half_length);
	ends[0] = vec3_sub(at->position, up);
	ends[1] = vec3_add(at->position, up);
}

void pair_sphere_capsule(const struct pair *pair, struct pair_cache *cache, struct manifold *out)
{
	UNUSED(cache);
	vec3 ends[2];
	double k;
	out->count = 0;
	capsule_ends(pair->b, &pair->b_in_a, ends);
	const vec3 centre = vec3_zero();
	vec3 nearest = closest_point_segment(centre, ends[0], ends[1], &k);
	round_contact(&centre, pair->a->sphere.radius, &nearest, pair->b->capsule.radius,
		      feature_make(FEATURE_NEAREST, 0, 0), pair->margin, out);
}

/* The part of segment b that lies beside segment a, from t[0] to t[1] along b, if the two are parallel
 * within about 3 degrees and that part is longer than a thousandth of a. A capsule along another then gets
 * two points, because it would rock on a single one. */
static bool find_overlap(const vec3 a[2], const vec3 b[2], double t[2])
{
	vec3 u = vec3_sub(a[1], a[0]), v = vec3_sub(b[1], b[0]);
	double uu = vec3_dot(u, u), vv = vec3_dot(v, v), uv = vec3_dot(u, v);
	if (!(uv * uv > 0.997 * uu * vv))
		return false;
	double first = -vec3_dot(vec3_sub(b[0], a[0]), u) / uv; /* beside a0 */
	double last = first + uu / uv;				/* beside a1 */
	t[0] = scalar_clamp(first, 0, 1);
	t[1] = scalar_clamp(last, 0, 1);
	return scalar_abs(t[1] - t[0]) * scalar_sqrt(vv) > 1e-3 * scalar_sqrt(uu);
}

void pair_capsule_capsule(const struct pair *pair, struct pair_cache *cache, struct manifold *out)
{
	UNUSED(cache);
	double half = pair->a->capsule.half_length, ra = pair->a->capsule.radius, t[2];
	double rb = pair->b->capsule.radius;
	vec3 a[2] = { vec3_make(0, -half, 0), vec3_make(0, half, 0) }, b[2];
	out->count = 0;
	capsule_ends(pair->b, &pair->b_in_a, b);
	struct segment_pair nearest = closest_segment_segment(a[0], a[1], b[0], b[1]);
	double reach = ra + rb + pair->margin;
	if (nearest.distance_squared > reach * reach)
		return;
	round_contact(&nearest.first, ra, &nearest.second, rb, feature_make(FEATURE_NEAREST, 0, 0),
		      pair->margin, out);
	if (nearest.distance_squared == 0 || !find_overlap(a, b, t))
		return;
	/* Both points use the normal of the nearest points. */
	struct manifold_point points[2];
	uint32_t count = 0;
	for (int k = 0; k < 2; k++) {
		vec3 q = vec3_lerp(b[0], b[1], t[k]);
		vec3 p = vec3_make(0, scalar_clamp(q.y, -half, half), 0);
		double separation = vec3_dot(vec3_sub(q, p), out->normal) - ra - rb;
		if (separation > pair->margin)
			continue;
		vec3 on_a = vec3_mul_add(p, out->normal, ra);
		points[count++] =
			(struct manifold_point){ vec3_mul_add(on_a, out->normal, 0.5 * separation),
						 separation,
						 feature_make(FEATURE_EDGES, (uint32_t)k, 0) };
	}
	/* The two points replace the nearest points, which lie on one of them or between them. */
	if (count == 2) {
		out->count = 2;
		out->points[0] = points[0];
		out->points[1] = points[1];
	}
}

/* G-21. A centre inside the box is pushed out through the nearest face; of equal ones, the first axis. */
void pair_sphere_box(const struct pair *pair, struct pair_cache *cache, struct manifold *out)
{
	UNUSED(cache);
	vec3 h = pair->b->box.half, c = pose_inverse_point(pair->b_in_a, vec3_zero());
	double radius = pair->a->sphere.radius;
	vec3 near = vec3_make(scalar_clamp(c.x, -h.x, h.x), scalar_clamp(c.y, -h.y, h.y),
			      scalar_clamp(c.z, -h.z, h.z));
	vec3 d = vec3_sub(near, c); /* from the centre to the box, B's frame */
	double reach = radius + pair->margin, squared = vec3_length_squared(d), separation;
	vec3 normal;
	uint32_t part;
	out->count = 0;
	if (squared > reach * reach)
		return;
	if (squared > SHORTEST * SHORTEST) {
		double distance = scalar_sqrt(squared);
		normal = vec3_scale(d, 1.0 / distance);
		separation = distance - radius;
		part = (d.x != 0) | (d.y != 0) << 1 | (d.z != 0) << 2;
	} else {
		vec3 inset = vec3_sub(h, vec3_abs(c));
		uint32_t axis = vec3_smallest_axis(inset);
		normal = vec3_scale(vec3_axis(axis), vec3_get(c, axis) < 0 ? 1.0 : -1.0);
		separation = -vec3_get(inset, axis) - radius;
		part = 1u << axis;
	}
	normal = quat_rotate(pair->b_in_a.rotation, normal);
	manifold_one(out, normal, vec3_scale(normal, radius), separation,
		     feature_make(FEATURE_NEAREST, 0, part));
}
