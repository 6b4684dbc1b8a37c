/* clip.h: the part of one convex polygon that lies over another, and four points to stand for many. */
#ifndef CAIRN_ENGINE_COLLISION_CLIP_H
#define CAIRN_ENGINE_COLLISION_CLIP_H

#include "server/engine/collision/manifold.h"

/* A corner of a convex polygon. `before` and `after` name the sides it lies between (any numbers). */
struct clip_corner {
	vec3 point;
	uint32_t before, after;
};

/* A hull's face has at most as many corners as the hull; every clip adds at most one. */
enum { CLIP_CORNERS_MAX = 2 * SHAPE_HULL_VERTICES_MAX };

/* Sutherland–Hodgman against one half-space normal · p ≤ offset. Corners outside by no more than
 * `slop` stay where they are; the others are cut off at the plane itself, so that slop does not
 * draw sharp corners out to needles. New corners lie on the new side `side`. `out` has room for
 * CLIP_CORNERS_MAX. Returns its count; order is kept. A polygon may be a segment (2 corners) or
 * a point. */
uint32_t clip_polygon(const struct clip_corner *in, uint32_t count, vec3 normal, double offset,
		      double slop, uint32_t side, struct clip_corner *out);

/* Sets out->normal, out->points and out->count = min(count, 4): all of at most four points in their
 * order; of more, one that is deepest (within `slop`), the farthest from it, the one that spans the
 * largest triangle with them, and the one that adds most to it, in the plane across `normal`. Equal
 * ones: the first in order wins, so the choice is a function of the list. */
void manifold_reduce(const struct manifold_point *points, uint32_t count, vec3 normal, double slop,
		     struct manifold *out);

#endif
