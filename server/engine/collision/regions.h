/* regions.h: where two closed meshes overlap (ch1-3 2.5.13, 2.5.14, G-29): the curves in which
 * their surfaces cross, the connected parts of their intersection, and the depth of each part.
 *
 * A contour is a closed curve in which the surfaces cross. A region is a connected part of the
 * border of A ∩ B: all contours that are connected along A's surface inside B or along B's surface
 * inside A. (The book counts each contour as a region; a bar that passes right through another one
 * has two contours, and here one region.) A shell of one body that lies wholly inside the other
 * body is a region without contour.
 *
 * All results are in A's frame. Which edges pierce which faces is decided exactly for the given
 * doubles (B's vertices as transformed to A's frame), with B shifted by an infinitesimal vector
 * (crossing.h), so every contour is closed and no case is degenerate. Bodies that only touch may
 * therefore give a region of depth 0, or none: see depth_min.
 */
#ifndef CAIRN_ENGINE_COLLISION_REGIONS_H
#define CAIRN_ENGINE_COLLISION_REGIONS_H

#include "server/base/status.h"
#include "server/engine/geometry/aabb.h"
#include "server/engine/geometry/mesh.h"
#include "server/engine/math/pose.h"

#define REGION_NO_VERTEX UINT32_MAX

/* The deepest point of one body's surface in a region. */
struct region_depth {
	double depth; /* m, its distance to the other's surface; < 0: the region has no point of this body */
	vec3 point;
	vec3 nearest; /* the nearest point of the other's surface */
	uint32_t
		vertex; /* of the mesh; REGION_NO_VERTEX: the middle of the part of an edge that is inside */
	uint32_t triangle; /* of the other mesh, where `nearest` lies */
};

enum region_kind {
	REGION_CROSSING, /* has contours */
	REGION_A_IN_B,	 /* a shell of A, wholly inside B */
	REGION_B_IN_A,
};

struct region {
	enum region_kind kind;
	uint32_t first_contour, contour_count;
	uint32_t vertices_a, vertices_b; /* vertices of A inside B, of B inside A */
	/* m³, and the centre of mass in m, of the part of A ∩ B that this border encloses. If A ∩ B
	 * has a hollow, its border consists of several regions, and that of the hollow has a volume
	 * < 0. */
	double volume;
	vec3 centre;
	struct aabb box; /* around its contours and vertices */
	/* Unit, from A to B: the direction of the integral of A's outward normal over A's surface
	 * inside B, or of a face in the border that leads out sooner (regions_way.c). If the integral is
	 * negligible (a bar through a wall) or there is no contour: the direction from point_b to
	 * point_a, in which the deepest point leaves the other body soonest. `area`: the length of the
	 * integral, m². */
	vec3 normal;
	double area;
	/* The way out along the normal: moved by depth · normal, B no longer meets A in this
	 * region. point_a lies at the end of A's part that is farthest along the normal, point_b at
	 * B's that is farthest against it, in the middle of the smaller of the two ends; a − b =
	 * depth normal. Where the integral is negligible and there is a contour: the deeper of
	 * deepest_a and deepest_b. */
	double depth;
	vec3 point_a, point_b;
	struct region_depth deepest_a, deepest_b;
};

/* A point of a contour lies where an edge of one body pierces a triangle of the other body. The
 * segment to the next point (in a closed contour, from the last to the first) lies in both
 * triangles. */
struct contour_point {
	vec3 point;
	uint32_t triangle_a, triangle_b; /* of the segment that begins here */
};
struct contour {
	uint32_t first, count; /* of points */
	uint32_t region;
	bool closed; /* false only because of a triangle without area; counted in `broken` */
};

struct regions_options {
	double depth_min;   /* m ≥ 0: regions with less depth are omitted, with their contours */
	uint32_t pairs_max; /* limit of pairs of triangles that cross; beyond it STATUS_LIMIT */
};

struct regions_work; /* private */

/* The result. The arrays are owned by it and valid until the next regions_find. Regions are sorted
 * by falling depth (ties: by their first crossing), contours by region. */
struct regions {
	struct region *regions;
	struct contour *contours;
	struct contour_point *points;
	uint32_t region_count, contour_count, point_count;
	uint32_t pairs;	       /* pairs of triangles that cross */
	uint64_t nodes_tested; /* pairs of boxes tested */
	uint32_t broken;       /* contours that could not be closed */
	struct regions_work *work;
};

struct regions_options regions_options_default(void); /* 0 m, 2^22 pairs */
void regions_init(struct regions *self);
void regions_release(struct regions *self);

/* UNSUPPORTED: a mesh is not closed; LIMIT: more than pairs_max crossings; NO_MEMORY. On failure
 * there are no regions. The order and the bits of the result depend only on the meshes and the
 * pose. */
MUST_CHECK enum status regions_find(struct regions *self, const struct mesh *a,
				    const struct mesh *b, const pose *b_in_a,
				    const struct regions_options *options);

#endif
