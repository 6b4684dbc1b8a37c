/* intersect_box_triangle.c: ch1-3 G-22, with its fourth step.
 *
 * A box and a triangle meet iff a corner of the triangle lies in the box, or an edge of the
 * triangle enters it, or an edge of the box pierces the triangle: if none does, the boundary of the
 * triangle is outside the box and no edge of the box crosses its interior, so the plane of the
 * triangle cuts the box in nothing that lies in the triangle. The book omits the second test, and
 * misses slivers. Cheap tests come first: the boxes of both, and the box wholly on one side of the
 * triangle's plane.
 */
#include "server/engine/geometry/intersect_box_triangle.h"

#include "server/engine/geometry/intersect_segment_box.h"
#include "server/engine/geometry/intersect_segment_triangle.h"
#include "server/engine/geometry/orient.h"

/* Corner i of the box: bits 0, 1, 2 select the upper end in x, y, z. */
static vec3 box_corner(struct aabb box, uint32_t i)
{
	VALIDATE(i < 8);
	return vec3_make(i & 1 ? box.max.x : box.min.x, i & 2 ? box.max.y : box.min.y,
			 i & 4 ? box.max.z : box.min.z);
}

bool intersect_box_triangle(struct aabb box, vec3 a, vec3 b, vec3 c)
{
	struct aabb own = aabb_make(vec3_min(vec3_min(a, b), c), vec3_max(vec3_max(a, b), c));
	if (!aabb_overlaps(box, own))
		return false;
	if (aabb_contains_point(box, a) || aabb_contains_point(box, b) ||
	    aabb_contains_point(box, c))
		return true;
	int side[8];
	uint32_t above = 0, below = 0;
	for (uint32_t i = 0; i < 8; i++) {
		side[i] = orient_plane(a, b, c, box_corner(box, i));
		above += side[i] > 0;
		below += side[i] < 0;
	}
	if (above == 8 || below == 8)
		return false;
	if (intersect_segment_box(a, b, box) || intersect_segment_box(b, c, box) ||
	    intersect_segment_box(c, a, box))
		return true;
	/* A box edge in the plane that meets the triangle but none of its edges lies inside it; its
	 * ends are then ends of edges that pierce. So it suffices to test edges with ends on
	 * different sides or in the plane. */
	for (uint32_t i = 0; i < 8; i++) {
		for (uint32_t bit = 1; bit < 8; bit <<= 1) {
			uint32_t j = i | bit;
			if (j == i || side[i] * side[j] > 0)
				continue;
			if (intersect_segment_triangle_sides(box_corner(box, i), box_corner(box, j),
							     side[i], side[j], a, b, c,
							     NULL) != SEGMENT_TRIANGLE_APART)
				return true;
		}
	}
	return false;
}
