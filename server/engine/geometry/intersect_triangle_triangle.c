/* intersect_triangle_triangle.c: ch1-3 G-20, by the six edges.
 *
 * Two triangles that meet share a segment (possibly a point), or a polygon when they are coplanar.
 * Its ends lie on an edge of one and in the other, so they meet iff an edge of one meets the other.
 * The book's cases (a vertex on the plane, two, all three, none, and (0, +, −), which it omits)
 * follow from the signs of the six vertices; each sign is computed once and exactly. The ends of
 * the shared segment are the two points found that lie farthest apart along the line of the two
 * planes.
 */
#include "server/engine/geometry/intersect_triangle_triangle.h"

#include "server/engine/geometry/aabb.h"
#include "server/engine/geometry/intersect_segment_triangle.h"
#include "server/engine/geometry/orient.h"

struct shared_points {
	uint32_t count;
	vec3 point[6];
};

static bool one_sided(const int side[3])
{
	return (side[0] > 0 && side[1] > 0 && side[2] > 0) ||
	       (side[0] < 0 && side[1] < 0 && side[2] < 0);
}

static void sides_of(const vec3 a[3], const vec3 b[3], int out[3])
{
	for (uint32_t i = 0; i < 3; i++)
		out[i] = orient_plane(a[0], a[1], a[2], b[i]);
}

/* The points that edges of `b` share with `a`. */
static void edges_through(const vec3 a[3], const vec3 b[3], const int side[3],
			  struct shared_points *out)
{
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t j = (i + 1) % 3;
		vec3 at;
		if (intersect_segment_triangle_sides(b[i], b[j], side[i], side[j], a[0], a[1], a[2],
						     &at) != SEGMENT_TRIANGLE_APART)
			out->point[out->count++] = at;
	}
}

static void shared_segment(const vec3 a[3], const vec3 b[3], const struct shared_points *points,
			   bool coplanar, struct triangle_cut *out)
{
	vec3 na = vec3_cross(vec3_sub(a[1], a[0]), vec3_sub(a[2], a[0]));
	vec3 nb = vec3_cross(vec3_sub(b[1], b[0]), vec3_sub(b[2], b[0]));
	vec3 line = vec3_cross(na, nb);
	ASSERT(points->count > 0 && points->count <= 6);
	uint32_t first = 0, last = 0;
	for (uint32_t i = 1; i < points->count; i++) {
		double at = vec3_dot(line, points->point[i]);
		if (at < vec3_dot(line, points->point[first]))
			first = i;
		if (at > vec3_dot(line, points->point[last]))
			last = i;
	}
	out->coplanar = coplanar;
	out->from = points->point[first];
	out->to = points->point[coplanar ? first : last];
}

static struct aabb box_of(const vec3 a[3])
{
	return aabb_make(vec3_min(vec3_min(a[0], a[1]), a[2]),
			 vec3_max(vec3_max(a[0], a[1]), a[2]));
}

bool intersect_triangle_triangle(const vec3 a[3], const vec3 b[3], struct triangle_cut *cut)
{
	int side_a[3], side_b[3];
	struct shared_points points = { .count = 0 };
	if (!aabb_overlaps(box_of(a), box_of(b)))
		return false;
	sides_of(a, b, side_b);
	if (one_sided(side_b))
		return false;
	sides_of(b, a, side_a);
	if (one_sided(side_a))
		return false;
	edges_through(a, b, side_b, &points);
	edges_through(b, a, side_a, &points);
	if (points.count == 0)
		return false;
	bool coplanar = side_a[0] == 0 && side_a[1] == 0 && side_a[2] == 0 && side_b[0] == 0 &&
			side_b[1] == 0 && side_b[2] == 0;
	if (cut != NULL)
		shared_segment(a, b, &points, coplanar, cut);
	return true;
}
