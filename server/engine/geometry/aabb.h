/* aabb.h: axis-aligned bounding boxes, the volumes of every hierarchy. Boxes are closed: touching
 * boxes overlap. */
#ifndef CAIRN_ENGINE_GEOMETRY_AABB_H
#define CAIRN_ENGINE_GEOMETRY_AABB_H

#include "server/engine/math/vec3.h"

/* Metres; min ≤ max on each axis unless empty. */
struct aabb {
	vec3 min, max;
};

/* Bound of the box of an unbounded shape (a plane), metres from the origin. It lies far beyond
 * every world, so such a box overlaps all that exists; it is small enough that areas and sums of
 * such boxes stay finite. */
#define AABB_EVERYWHERE 1e9

static inline struct aabb aabb_make(vec3 min, vec3 max)
{
	return (struct aabb){ min, max };
}

/* The empty box: contains nothing, and is neutral in aabb_union. */
static inline struct aabb aabb_empty(void)
{
	return (struct aabb){ vec3_all(SCALAR_MAX), vec3_all(-SCALAR_MAX) };
}

static inline struct aabb aabb_of_point(vec3 p)
{
	return (struct aabb){ p, p };
}

static inline struct aabb aabb_of_centre(vec3 centre, vec3 half)
{
	return (struct aabb){ vec3_sub(centre, half), vec3_add(centre, half) };
}

static inline struct aabb aabb_add_point(struct aabb a, vec3 p)
{
	return (struct aabb){ vec3_min(a.min, p), vec3_max(a.max, p) };
}

static inline struct aabb aabb_union(struct aabb a, struct aabb b)
{
	return (struct aabb){ vec3_min(a.min, b.min), vec3_max(a.max, b.max) };
}

/* Grown by `margin` on every side. */
static inline struct aabb aabb_grow(struct aabb a, double margin)
{
	vec3 m = vec3_all(margin);
	return (struct aabb){ vec3_sub(a.min, m), vec3_add(a.max, m) };
}

static inline bool aabb_overlaps(struct aabb a, struct aabb b)
{
	return a.min.x <= b.max.x && b.min.x <= a.max.x && a.min.y <= b.max.y &&
	       b.min.y <= a.max.y && a.min.z <= b.max.z && b.min.z <= a.max.z;
}

/* Whether `inner` lies wholly in `outer`. */
static inline bool aabb_contains(struct aabb outer, struct aabb inner)
{
	return outer.min.x <= inner.min.x && outer.min.y <= inner.min.y &&
	       outer.min.z <= inner.min.z && inner.max.x <= outer.max.x &&
	       inner.max.y <= outer.max.y && inner.max.z <= outer.max.z;
}

static inline bool aabb_contains_point(struct aabb a, vec3 p)
{
	return a.min.x <= p.x && p.x <= a.max.x && a.min.y <= p.y && p.y <= a.max.y &&
	       a.min.z <= p.z && p.z <= a.max.z;
}

static inline vec3 aabb_centre(struct aabb a)
{
	return vec3_scale(vec3_add(a.min, a.max), 0.5);
}

static inline vec3 aabb_half(struct aabb a)
{
	return vec3_scale(vec3_sub(a.max, a.min), 0.5);
}

/* Surface, m². */
static inline double aabb_area(struct aabb a)
{
	vec3 d = vec3_sub(a.max, a.min);
	return 2.0 * (d.x * d.y + d.y * d.z + d.z * d.x);
}

/* The part f in [0, limit] of the line from + f along that lies in the box (ch1-3 G-26, by slabs).
 * False when there is none; *enter and *leave are then untouched or meaningless. Where a component
 * of `along` is zero, `from` must lie in that slab. Conservative: each quotient is off by at most
 * two units in the last place, so a line within a flat box is not missed; *enter may exceed *leave
 * by that much. */
static inline bool aabb_clip_line(struct aabb a, vec3 from, vec3 along, double limit, double *enter,
				  double *leave)
{
	double first = 0, last = limit;
	for (uint32_t axis = 0; axis < 3; axis++) {
		double low = vec3_get(a.min, axis) - vec3_get(from, axis);
		double high = vec3_get(a.max, axis) - vec3_get(from, axis);
		double d = vec3_get(along, axis);
		if (d == 0) {
			if (low > 0 || high < 0)
				return false;
			continue;
		}
		double one = low / d, other = high / d;
		first = scalar_max(first, scalar_min(one, other));
		last = scalar_min(last, scalar_max(one, other));
	}
	*enter = first;
	*leave = last;
	return first <= last * (1 + 4 * SCALAR_EPSILON);
}

#endif
