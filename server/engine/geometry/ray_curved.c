/* See ray_curved.h.
 *
 * A start outside a convex solid enters it at the least parameter at which a part of its surface is
 * crossed inwards: each part (an end, a side, a prism, an edge's capsule) is tested by itself and
 * the nearest hit counts. Quadratics are solved about the parameter nearest to the axis or centre,
 * so that their roots keep their digits if the ray begins far away. */
#include "server/engine/geometry/ray_curved.h"

#include "server/engine/geometry/rounded.h"

static bool keep_inside(vec3 along, struct shape_hit *hit)
{
	*hit = (struct shape_hit){ 0, vec3_negate(vec3_normalize(along)), 0, true };
	return true;
}

/* Keeps a hit if it is the nearest so far. */
static void offer_hit(double fraction, vec3 normal, double limit, bool *found,
		      struct shape_hit *hit)
{
	if (!(fraction >= 0) || fraction > limit || (*found && fraction >= hit->fraction))
		return;
	*hit = (struct shape_hit){ fraction, normal, 0, false };
	*found = true;
}

/* The roots of a f² + 2 b f + c, low ≤ high. False: there are none. */
static bool solve_quadratic(double a, double b, double c, double *low, double *high)
{
	double square = b * b - a * c;
	if (!(square >= 0) || (a == 0 && b == 0))
		return false;
	double q = -(b + scalar_copy_sign(scalar_sqrt(square), b));
	double one = a != 0 ? q / a : c / q, two = q != 0 ? c / q : one;
	*low = scalar_min(one, two);
	*high = scalar_max(one, two);
	return true;
}

/* The end at height y with its outward normal ±y. */
static void offer_end(double y, double sign, double radius, vec3 from, vec3 along, double limit,
		      bool *found, struct shape_hit *hit)
{
	double gap = sign * (from.y - y), slope = sign * along.y;
	if (!(gap > 0) || !(slope < 0))
		return;
	double f = -gap / slope;
	vec3 p = vec3_mul_add(from, along, f);
	if (p.x * p.x + p.z * p.z <= radius * radius)
		offer_hit(f, vec3_make(0, sign, 0), limit, found, hit);
}

bool ray_cylinder(double half_length, double radius, vec3 from, vec3 along, double limit,
		  struct shape_hit *hit)
{
	ASSERT(radius > 0 && half_length > 0);
	double c = from.x * from.x + from.z * from.z - radius * radius, low, high;
	bool found = false;
	if (c <= 0 && scalar_abs(from.y) <= half_length)
		return keep_inside(along, hit);
	offer_end(half_length, 1, radius, from, along, limit, &found, hit);
	offer_end(-half_length, -1, radius, from, along, limit, &found, hit);
	double a = along.x * along.x + along.z * along.z;
	double near = a > 0 ? -(from.x * along.x + from.z * along.z) / a : 0;
	vec3 p = vec3_mul_add(from, along, near);
	if (!(c > 0) || !(a > 0) ||
	    !solve_quadratic(a, p.x * along.x + p.z * along.z,
			     p.x * p.x + p.z * p.z - radius * radius, &low, &high))
		return found;
	vec3 at = vec3_mul_add(from, along, near + low);
	if (scalar_abs(at.y) <= half_length)
		offer_hit(near + low, vec3_normalize(vec3_make(at.x, 0, at.z)), limit, &found, hit);
	return found;
}

/* x² + z² = k² w² with w the distance below the apex and k = r / 2h. */
bool ray_cone(double half_length, double radius, vec3 from, vec3 along, double limit,
	      struct shape_hit *hit)
{
	ASSERT(radius > 0 && half_length > 0);
	double height = 2 * half_length, k = radius / height, w = half_length - from.y;
	bool found = false;
	if (w >= 0 && w <= height && from.x * from.x + from.z * from.z <= k * k * w * w)
		return keep_inside(along, hit);
	offer_end(-half_length, -1, radius, from, along, limit, &found, hit);
	double square = vec3_length_squared(along), roots[2];
	vec3 apex = vec3_make(0, half_length, 0);
	double near = square > 0 ? vec3_dot(vec3_sub(apex, from), along) / square : 0;
	vec3 p = vec3_mul_add(from, along, near);
	double dw = -along.y, pw = half_length - p.y;
	if (!solve_quadratic(along.x * along.x + along.z * along.z - k * k * dw * dw,
			     p.x * along.x + p.z * along.z - k * k * pw * dw,
			     p.x * p.x + p.z * p.z - k * k * pw * pw, &roots[0], &roots[1]))
		return found;
	for (uint32_t i = 0; i < 2; i++) {
		vec3 at = vec3_mul_add(from, along, near + roots[i]);
		double below = half_length - at.y, across = scalar_sqrt(at.x * at.x + at.z * at.z);
		if (!(below >= 0) || below > height)
			continue;
		/* At the apex the axis is one of the normals. */
		vec3 n = across > 0 ? vec3_make(at.x / across, k, at.z / across)
				    : vec3_make(0, 1, 0);
		if (vec3_dot(n, along) < 0)
			offer_hit(near + roots[i], vec3_normalize(n), limit, &found, hit);
	}
	return found;
}

bool ray_ellipsoid(vec3 half, vec3 from, vec3 along, double limit, struct shape_hit *hit)
{
	vec3 m = vec3_make(from.x / half.x, from.y / half.y, from.z / half.z);
	vec3 d = vec3_make(along.x / half.x, along.y / half.y, along.z / half.z);
	struct shape_hit ball;
	if (!ray_sphere(vec3_zero(), 1, m, d, limit, &ball))
		return false;
	if (ball.inside)
		return keep_inside(along, hit);
	vec3 n = vec3_make(ball.normal.x / half.x, ball.normal.y / half.y, ball.normal.z / half.z);
	*hit = (struct shape_hit){ ball.fraction, vec3_normalize(n), 0, false };
	return true;
}

/* The face moved outwards by the radius. */
static void offer_face(const struct hull *core, uint32_t f, double radius, vec3 from, vec3 along,
		       double limit, bool *found, struct shape_hit *hit)
{
	const struct hull_face *face = &core->faces[f];
	double gap = vec3_dot(face->normal, from) - face->offset - radius;
	double slope = vec3_dot(face->normal, along);
	if (!(gap > 0) || !(slope < 0))
		return;
	vec3 p = vec3_mul_add(from, along, -gap / slope);
	uint32_t edge = face->edge;
	for (uint32_t k = 0; k < face->edge_count; k++) {
		uint32_t next = core->edges[edge].next;
		vec3 start = core->vertices[core->edges[edge].origin];
		vec3 side = vec3_sub(core->vertices[core->edges[next].origin], start);
		if (vec3_triple(side, face->normal, vec3_sub(p, start)) > 0)
			return;
		edge = next;
	}
	offer_hit(-gap / slope, face->normal, limit, found, hit);
}

bool ray_rounded(const struct hull *core, double radius, vec3 from, vec3 along, double limit,
		 struct shape_hit *hit)
{
	ASSERT(radius > 0);
	bool found = false;
	if (rounded_holds(core, radius, from))
		return keep_inside(along, hit);
	for (uint32_t f = 0; f < core->face_count; f++)
		offer_face(core, f, radius, from, along, limit, &found, hit);
	for (uint32_t h = 0; h < core->edge_count; h++) {
		const struct half_edge *edge = &core->edges[h];
		struct shape_hit part;
		if (edge->twin > h && ray_capsule(core->vertices[edge->origin],
						  core->vertices[core->edges[edge->twin].origin],
						  radius, from, along, limit, &part))
			offer_hit(part.fraction, part.normal, limit, &found, hit);
	}
	return found;
}
