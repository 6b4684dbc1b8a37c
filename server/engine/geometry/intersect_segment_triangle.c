/* intersect_segment_triangle.c: ch1-3 G-25, by exact signs.
 *
 * Both ends on one side of the plane: apart. Ends on opposite sides: the line p q passes the edges
 * a b, b c, c a; it goes through the triangle iff it passes no two of them on different sides, that
 * is iff the tetrahedra p q a b, p q b c, p q c a do not have volumes of both signs. One end in the
 * plane: a point in triangle test. Both in the plane, or a triangle without area (whose plane
 * contains every point): the segment meets an edge, or lies inside.
 */
#include "server/engine/geometry/intersect_segment_triangle.h"

#include "server/engine/geometry/intersect_coplanar.h"
#include "server/engine/geometry/orient.h"

/* The crossing of p q with the plane, between the ends despite rounding. */
static vec3 plane_crossing(vec3 p, vec3 q, vec3 a, vec3 b, vec3 c)
{
	vec3 normal = vec3_cross(vec3_sub(b, a), vec3_sub(c, a));
	double from = scalar_abs(vec3_dot(normal, vec3_sub(p, a)));
	double to = scalar_abs(vec3_dot(normal, vec3_sub(q, a)));
	double t = from + to > 0 ? from / (from + to) : 0.5;
	return vec3_lerp(p, q, t);
}

/* A point that an edge and the segment share. */
static bool edge_point(vec3 p, vec3 q, vec3 a, vec3 b, vec3 *at)
{
	double t, m;
	if (!intersect_edge_edge(p, q, a, b))
		return false;
	if (intersect_point_segment(a, p, q))
		*at = a;
	else if (intersect_point_segment(b, p, q))
		*at = b;
	else if (intersect_point_segment(p, a, b))
		*at = p;
	else if (intersect_edge_edge_at(p, q, a, b, &t, &m))
		*at = vec3_lerp(p, q, scalar_clamp(t, 0, 1));
	else
		*at = q;
	return true;
}

static enum segment_triangle intersect_in_plane(vec3 p, vec3 q, vec3 a, vec3 b, vec3 c, vec3 *at)
{
	bool has_area = !orient_collinear(a, b, c);
	if (has_area && intersect_point_triangle(p, a, b, c))
		*at = p;
	else if (has_area && intersect_point_triangle(q, a, b, c))
		*at = q;
	else if (!edge_point(p, q, a, b, at) && !edge_point(p, q, b, c, at) &&
		 !edge_point(p, q, c, a, at))
		return SEGMENT_TRIANGLE_APART;
	return SEGMENT_TRIANGLE_FLAT;
}

enum segment_triangle intersect_segment_triangle_sides(vec3 p, vec3 q, int side_p, int side_q,
						       vec3 a, vec3 b, vec3 c, vec3 *at)
{
	VALIDATE(side_p >= -1 && side_p <= 1);
	VALIDATE(side_q >= -1 && side_q <= 1);
	vec3 ignored;
	if (at == NULL)
		at = &ignored;
	if (side_p * side_q > 0)
		return SEGMENT_TRIANGLE_APART;
	if (side_p == 0 && side_q == 0)
		return intersect_in_plane(p, q, a, b, c, at);
	if (side_p == 0 || side_q == 0) {
		*at = side_p == 0 ? p : q;
		return intersect_point_triangle(*at, a, b, c) ? SEGMENT_TRIANGLE_POINT
							      : SEGMENT_TRIANGLE_APART;
	}
	int ab = orient_plane(p, q, a, b), bc = orient_plane(p, q, b, c);
	if (ab * bc < 0)
		return SEGMENT_TRIANGLE_APART;
	int ca = orient_plane(p, q, c, a);
	if (ab * ca < 0 || bc * ca < 0)
		return SEGMENT_TRIANGLE_APART;
	*at = plane_crossing(p, q, a, b, c);
	return SEGMENT_TRIANGLE_POINT;
}

enum segment_triangle intersect_segment_triangle(vec3 p, vec3 q, vec3 a, vec3 b, vec3 c, vec3 *at)
{
	return intersect_segment_triangle_sides(p, q, orient_plane(a, b, c, p),
						orient_plane(a, b, c, q), a, b, c, at);
}
