/* query.h: overlap, distance and ray tests of single shapes, independent of contacts.
 *
 * Shapes are solid: a piece inside another overlaps it. A mesh is a surface, two-sided for overlaps and
 * one-sided (from outside) for rays. Touching counts as overlapping. Every pair of kinds has a
 * result, also pairs that never collide. Results depend only on the arguments.
 */
#ifndef CAIRN_ENGINE_COLLISION_QUERY_H
#define CAIRN_ENGINE_COLLISION_QUERY_H

#include "server/engine/collision/manifold.h"
#include "server/engine/geometry/shape.h"
#include "server/engine/math/pose.h"

/* Two pieces: of a mesh one triangle, of a solid of parts one part, else the whole shape. */
bool piece_overlap(struct piece a, struct piece b, const pose *b_in_a);

/* The whole shapes. */
bool shape_overlap(const struct shape *a, const struct shape *b, const pose *b_in_a);
/* A shape and a ball or a box that is given in the shape's frame; radius and half-widths in m. */
bool shape_overlap_sphere(const struct shape *shape, vec3 centre, double radius);
bool shape_overlap_box(const struct shape *shape, const pose *at, vec3 half);

struct piece_gap {
	double distance;       /* m; 0 if they overlap */
	vec3 point_a, point_b; /* the nearest points, A's frame; overlapping: a common point */
	vec3 normal;	       /* unit, A → B, A's frame; 0 if they overlap */
};
/* The gap between two pieces, neither of which is a plane; for a field, that of its hull. */
void piece_distance(struct piece a, struct piece b, const pose *b_in_a, struct piece_gap *out);

struct query_hit {
	double fraction; /* the hit is at from + fraction along; in [0, limit] */
	vec3 normal;	 /* unit, outward, in the frame of the ray; opposite to `along` if inside */
	uint32_t child;	 /* triangle of a mesh */
	bool inside;	 /* the ray starts inside a solid; fraction is 0 */
};
/* The first point of from + f along, 0 ≤ f ≤ limit, in the shape with pose `at`. False if nothing
 * is hit; then *hit is unchanged. */
bool shape_ray(const struct shape *shape, const pose *at, vec3 from, vec3 along, double limit,
	       struct query_hit *hit);

#endif
