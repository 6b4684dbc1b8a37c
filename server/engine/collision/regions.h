/* regions.h: where two closed meshes overlap (ch1-3 2.5.13, 2.5.14, G-29): the curves in which their
 * surfaces cross, the connected pieces of what they have in common, and how deep each goes.
 *
 * A contour is a closed curve in which the surfaces cross. A region is a connected part of the border
 * of A ∩ B: all contours that can be reached from each other along A's surface inside B and B's inside
 * A. (The book counts each contour as a region; a bar that passes right through another has two
 * contours, and here one region.) A shell of one that lies wholly in the other is a region without
 * contour.
 *
 * Everything is given in A's frame. Which edges pierce which faces is decided exactly for the doubles
 * given (B's vertices as taken to A's frame), with B moved by less than anything on all axes, so every
 * contour is closed and no case is degenerate. Bodies that only touch may therefore give a
 * region of no depth, or none: see depth_min.
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
	double depth; /* m, its distance to the other's surface; < 0: the body has none in this region */
	vec3 point;
	vec3 nearest;	   /* of the other's surface */
	uint32_t vertex;   /* of the mesh; REGION_NO_VERTEX: the middle of an edge's part inside */
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
	/* m³ and m³ centre of what both bodies hold. Of a region that has a hollow (the border of A ∩ B
	 * is then several regions): of its border alone, a void's with volume < 0. */
	double volume;
	vec3 centre;
	struct aabb box; /* around its contours and vertices */
	/* Unit, from A to B: that of the integral of A's outward normal over its surface inside B; where
	 * that is nothing (a bar through a wall) or there is no contour, the way on which the deepest point
	 * leaves the other body soonest (A's turned round). `area` is the length of the integral, m². */
	vec3 normal;
	double area;
	/* The deeper of the two gives `depth`; point_a on A's surface, point_b on B's, `depth` apart. */
	double depth;
	vec3 point_a, point_b;
	struct region_depth deepest_a, deepest_b;
};

/* A point of a contour lies where an edge of one body pierces a triangle of the other; the piece from
 * it to the next (of a closed one, from the last to the first) lies in both triangles. */
struct contour_point {
	vec3 point;
	uint32_t triangle_a, triangle_b; /* of the piece that begins here */
};
struct contour {
	uint32_t first, count; /* of points */
	uint32_t region;
	bool closed; /* false only where rounding left a triangle without area; `broken` counts it */
};

struct regions_options {
	double depth_min; /* m ≥ 0: regions with less depth are left out; contours of theirs too */
	uint32_t pairs_max; /* of triangles that cross; more is STATUS_LIMIT */
};

struct regions_work; /* private */

/* The answer: arrays owned by it, valid until the next find. Regions come deepest first (ties: in the
 * order of their first crossing), contours in the order of regions. */
struct regions {
	struct region *regions;
	struct contour *contours;
	struct contour_point *points;
	uint32_t region_count, contour_count, point_count;
	uint32_t pairs;	       /* pairs of triangles that cross */
	uint64_t nodes_tested; /* pairs of boxes looked at */
	uint32_t broken;       /* contours that could not be closed */
	struct regions_work *work;
};

struct regions_options regions_options_default(void); /* 0 m, 2^22 pairs */
void regions_init(struct regions *self);
void regions_release(struct regions *self);

/* UNSUPPORTED: a mesh is not closed; LIMIT: more than pairs_max; NO_MEMORY. Then there are no regions.
 * The order of the answer and its bits depend on the meshes and the pose alone. */
MUST_CHECK enum status regions_find(struct regions *self, const struct mesh *a,
				    const struct mesh *b, const pose *b_in_a,
				    const struct regions_options *options);

#endif
