/* intersect_segment_box.c: ch1-3 G-26.
 *
 * A segment and a box are apart iff an axis of the box separates them or the product of such an
 * axis with the segment does. The first is a comparison of numbers. The second is decided in the
 * projection along the axis: is the rectangle strictly on one side of the line? That is the test of
 * the book's silhouette edges. Of the four corners only two can decide, those across the line's
 * direction: when both components have one sign (low, high) and (high, low), else (low, low) and
 * (high, high). The eight classes of table 2.5 are these choices for three axes; the sign of its
 * entry (3,7) comes out as corrected.
 */
#include "server/engine/geometry/intersect_segment_box.h"

#include "server/engine/geometry/orient.h"

static vec3 box_corner_in_plane(struct aabb box, uint32_t x, bool high_x, uint32_t y, bool high_y)
{
	VALIDATE(x < 3 && y < 3 && x != y);
	vec3 out = box.min;
	vec3_set(&out, x, vec3_get(high_x ? box.max : box.min, x));
	vec3_set(&out, y, vec3_get(high_y ? box.max : box.min, y));
	return out;
}

bool intersect_segment_box(vec3 p, vec3 q, struct aabb box)
{
	if (!aabb_overlaps(aabb_make(vec3_min(p, q), vec3_max(p, q)), box))
		return false;
	for (uint32_t axis = 0; axis < 3; axis++) {
		uint32_t x = (axis + 1) % 3, y = (axis + 2) % 3;
		bool same =
			(vec3_get(q, x) >= vec3_get(p, x)) == (vec3_get(q, y) >= vec3_get(p, y));
		int one = orient_line(axis, p, q, box_corner_in_plane(box, x, false, y, same));
		int other = orient_line(axis, p, q, box_corner_in_plane(box, x, true, y, !same));
		if (one * other > 0)
			return false;
	}
	return true;
}

bool intersect_ray_box(vec3 from, vec3 along, struct aabb box)
{
	vec3 low = vec3_sub(box.min, from), high = vec3_sub(box.max, from);
	for (uint32_t axis = 0; axis < 3; axis++) {
		double d = vec3_get(along, axis);
		if ((d <= 0 && vec3_get(low, axis) > 0) || (d >= 0 && vec3_get(high, axis) < 0))
			return false;
	}
	for (uint32_t axis = 0; axis < 3; axis++) {
		uint32_t x = (axis + 1) % 3, y = (axis + 2) % 3;
		double dx = vec3_get(along, x), dy = vec3_get(along, y);
		bool same = (dx >= 0) == (dy >= 0);
		double y_of_low = vec3_get(same ? high : low, y);
		double y_of_high = vec3_get(same ? low : high, y);
		double one = dx * y_of_low - dy * vec3_get(low, x);
		double other = dx * y_of_high - dy * vec3_get(high, x);
		if ((one > 0 && other > 0) || (one < 0 && other < 0))
			return false;
	}
	return true;
}
