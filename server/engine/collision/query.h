/* query.h: overlap, distance and ray tests of single shapes, independent of contacts.
 *
 * Shapes are solid: a piece inside another overlaps it. A mesh is a surface, two-sided for overlaps and
 * one-sided (from outside) for rays. Touching counts as overlapping. Every pair of kinds has a result, also
 * pairs that never collide. Results depend only on the arguments.
 */
#ifndef CAIRN_ENGINE_COLLISION_QUERY_H
#define CAIRN_ENGINE_COLLISION_QUERY_H

#include "server/engine/collision/manifold.h"
#include "server/engine/geometry/shape.h"
#include "server/engine/math/pose.h"

/* Two pieces: of a mesh one triangle, of a solid of parts one part, else the whole shape. */
bool piece_overlap(struct piece a, struct piece b, const pose *b_in_a);

/* Whole shapes. */
bool shape_overlap(const struct shape *a, const struct shape *b, const pose *b_in_a);
/* A shape and a ball, or a box, given in the shape's frame. */
bool shape_overlap_sphere(const struct shape *shape, vec3 centre, double radius);
bool shape_overlap_box(const struct shape *shape, const pose *at, vec3 half);

struct piece_gap {
	double distance;       /* m; 0 when they overlap */
	vec3 point_a, point_b; /* the nearest points, A's frame; overlapping: a point they share */
	vec3 normal;	       /* unit, A → B; 0 when they overlap */
};
/* The gap between two pieces, neither of which is a plane; of a field, that of its hull. */
void piece_distance(struct piece a, struct piece b, const pose *b_in_a, struct piece_gap *out);

struct query_hit {
	double fraction; /* of `along`, in [0, limit] */
	vec3 normal;	 /* unit, outward, in the frame of the ray; against `along` when inside */
	uint32_t child;	 /* triangle of a mesh */
	bool inside;	 /* the ray starts inside a solid; fraction is 0 */
};
/* Where from + f along, 0 ≤ f ≤ limit, first meets the shape placed at `at`. False, and *hit
 * untouched, when nothing is hit. */
bool shape_ray(const struct shape *shape, const pose *at, vec3 from, vec3 along, double limit,
	       struct query_hit *hit);

#endif
