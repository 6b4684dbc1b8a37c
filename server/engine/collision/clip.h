/* clip.h: clipping of a convex polygon by a half-space, and reduction of a manifold to four points. */
#ifndef CAIRN_ENGINE_COLLISION_CLIP_H
#define CAIRN_ENGINE_COLLISION_CLIP_H

#include "server/engine/collision/manifold.h"

/* A corner of a convex polygon. `before` and `after` are the caller's numbers of the adjacent sides. */
struct clip_corner {
	vec3 point;
	uint32_t before, after;
};

/* A hull's face has at most as many corners as the hull; every clip by one of at most as many sides adds at
 * most one. */
enum { CLIP_CORNERS_MAX = 2 * SHAPE_HULL_VERTICES_MAX };

/* Sutherland–Hodgman clipping by the half-space normal · p ≤ offset. Corners outside by at most `slop` ≥ 0 m
 * stay unchanged; the others are cut off at the plane itself, because a cut at the slop would extend sharp
 * corners to needles. New corners are adjacent to the new side `side`. `in` has at most CLIP_CORNERS_MAX
 * corners and `out` room for as many; they must not overlap. Returns the count of `out`; the order is kept. A
 * polygon may be a segment (2 corners) or a point. */
uint32_t clip_polygon(const struct clip_corner *in, uint32_t count, vec3 normal, double offset,
		      double slop, uint32_t side, struct clip_corner *out);

/* Sets out->normal, out->points and out->count ≤ 4. Up to four points are copied in their order. Of more,
 * these remain, in the order of the list: the deepest (the first within `slop` ≥ 0 m of it), the farthest
 * from it, the one that spans the largest triangle with these two, and the one that adds the largest area to
 * the triangle, all in the plane across `normal`. Among equal points the first is taken, so the choice
 * is a function of the list; points that coincide leave fewer than four. count ≤ CLIP_CORNERS_MAX. */
void manifold_reduce(const struct manifold_point *points, uint32_t count, vec3 normal, double slop,
		     struct manifold *out);

#endif
