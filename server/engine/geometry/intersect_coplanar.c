/* intersect_coplanar.c: ch1-3 G-27, by exact signs.
 *
 * In a plane every predicate follows from the side of a line on which a point lies. The projection
 * of the plane along an axis preserves these sides unless it is itself a line, so the signs are
 * computed in projections (orient_line). The book's test of a point (does the segment to the
 * barycentre cross an edge) gives the same result with one more rounding. Collinear points have no
 * such projection: there bounding boxes decide, because along a line all three coordinates are
 * monotone.
 */
#include "server/engine/geometry/intersect_coplanar.h"

#include "server/engine/geometry/aabb.h"
#include "server/engine/geometry/orient.h"

static struct aabb box_of(vec3 a, vec3 b)
{
	return aabb_make(vec3_min(a, b), vec3_max(a, b));
}

bool intersect_point_segment(vec3 p, vec3 a, vec3 b)
{
	return aabb_contains_point(box_of(a, b), p) && orient_collinear(a, b, p);
}

/* The axis along which the projection of a b c has the largest area, so that orient_line(axis, a,
 * b, c) ≠ 0. False for collinear a b c. */
static bool intersect_projection_axis(vec3 a, vec3 b, vec3 c, uint32_t *axis)
{
	vec3 normal = vec3_cross(vec3_sub(b, a), vec3_sub(c, a));
	uint32_t first = vec3_largest_axis(vec3_abs(normal));
	VALIDATE(first < 3);
	for (uint32_t k = 0; k < 3; k++) {
		*axis = (first + k) % 3;
		if (orient_line(*axis, a, b, c) != 0)
			return true;
	}
	return false;
}

/* Whether two segments of one plane meet, whose projection along `axis` preserves sides. */
static bool projections_meet(uint32_t axis, vec3 p0, vec3 p1, vec3 q0, vec3 q1)
{
	VALIDATE(axis < 3);
	int p0_side = orient_line(axis, q0, q1, p0), p1_side = orient_line(axis, q0, q1, p1);
	if (p0_side * p1_side > 0)
		return false;
	int q0_side = orient_line(axis, p0, p1, q0), q1_side = orient_line(axis, p0, p1, q1);
	if (q0_side * q1_side > 0)
		return false;
	if (p0_side * p1_side < 0 && q0_side * q1_side < 0)
		return true;
	return intersect_point_segment(p0, q0, q1) || intersect_point_segment(p1, q0, q1) ||
	       intersect_point_segment(q0, p0, p1) || intersect_point_segment(q1, p0, p1);
}

bool intersect_edge_edge(vec3 p0, vec3 p1, vec3 q0, vec3 q1)
{
	uint32_t axis;
	if (!aabb_overlaps(box_of(p0, p1), box_of(q0, q1)))
		return false;
	if (orient_plane(p0, p1, q0, q1) != 0)
		return false;
	if (intersect_projection_axis(p0, p1, q0, &axis) ||
	    intersect_projection_axis(p0, p1, q1, &axis) ||
	    intersect_projection_axis(q0, q1, p0, &axis) ||
	    intersect_projection_axis(q0, q1, p1, &axis))
		return projections_meet(axis, p0, p1, q0, q1);
	return true;
}

bool intersect_edge_edge_at(vec3 p0, vec3 p1, vec3 q0, vec3 q1, double *t, double *m)
{
	vec3 p = vec3_sub(p1, p0), q = vec3_sub(q1, q0), normal = vec3_cross(p, q);
	double size = vec3_length_squared(normal);
	*t = *m = 0;
	if (!(size > 0x1p-80 * vec3_length_squared(p) * vec3_length_squared(q)))
		return false;
	vec3 across_p = vec3_cross(normal, p), across_q = vec3_cross(normal, q);
	vec3 apart = vec3_sub(q0, p0);
	*t = vec3_dot(across_q, apart) / vec3_dot(across_q, p);
	*m = -vec3_dot(across_p, apart) / vec3_dot(across_p, q);
	return true;
}

bool intersect_point_triangle(vec3 p, vec3 a, vec3 b, vec3 c)
{
	uint32_t axis;
	if (!intersect_projection_axis(a, b, c, &axis))
		return intersect_point_segment(p, a, b) || intersect_point_segment(p, b, c) ||
		       intersect_point_segment(p, c, a);
	int ab = orient_line(axis, a, b, p), bc = orient_line(axis, b, c, p),
	    ca = orient_line(axis, c, a, p);
	return (ab >= 0 && bc >= 0 && ca >= 0) || (ab <= 0 && bc <= 0 && ca <= 0);
}
