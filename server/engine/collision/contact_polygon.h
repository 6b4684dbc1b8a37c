/* contact_polygon.h: the whole contact polygon of two pieces, and the feature that the normal belongs to.
 *
 * A manifold has at most four points, which suffice for a solver of impulses. The distribution of forces over
 * a face needs the whole polygon, and accelerations need to know how the normal turns with the
 * bodies. Both are computed from a manifold on request; the narrow phase does no work for them.
 */
#ifndef CAIRN_ENGINE_COLLISION_CONTACT_POLYGON_H
#define CAIRN_ENGINE_COLLISION_CONTACT_POLYGON_H

#include "server/engine/collision/clip.h"

/* The feature that the normal turns with, for accelerations and other poses of the bodies. */
enum contact_normal {
	CONTACT_NORMAL_GIVEN,	   /* none of those below: the caller must give its rate */
	CONTACT_NORMAL_OF_A,	   /* of a face of a */
	CONTACT_NORMAL_OF_B,	   /* of a face of b */
	CONTACT_NORMAL_OF_EDGES,   /* parallel to edge_a × edge_b, of either sign */
	CONTACT_NORMAL_OF_CENTRES, /* from ball_a to ball_b: balls, capsules */
};

struct contact_polygon {
	enum contact_normal normal_of;
	vec3 normal;	     /* the manifold's */
	vec3 edge_a, edge_b; /* of EDGES: directions, m, as long as the edges */
	vec3 ball_a, ball_b; /* of CENTRES: points, m */
	uint32_t count;
	struct manifold_point points[CLIP_CORNERS_MAX]; /* in unspecified order */
};

/* Frames, margin (m) and pieces as for collide_pieces, which computed *found. If the normal is that of a
 * face and the other piece has a face against it, the points are the corners of the overlap of both faces
 * (for a plane: all vertices within the margin). Otherwise they are the manifold's points, which are
 * complete in this case. count = 0 if the manifold has no points. Never fails; O(vertices + edges). */
void contact_polygon(struct piece a, struct piece b, const pose *b_in_a, double margin,
		     const struct manifold *found, struct contact_polygon *out);
/* The same, but corners are cut off exactly at the border of the face, while contact_polygon keeps
 * those within the slop of the narrow phase outside it (pairs.h), which carry no force in statics. */
void contact_polygon_exact(struct piece a, struct piece b, const pose *b_in_a, double margin,
			   const struct manifold *found, struct contact_polygon *out);

/* A corner of the overlap of two faces as what it is: a vertex of one piece on the face of the other, or the
 * crossing of two edges. Its separation is exact while the pieces turn, and no piece is the reference:
 * mirrored or swapped pieces have mirrored or swapped corners (papers R-10). */
struct contact_corner {
	enum contact_normal normal_of;
	vec3 normal;	     /* unit, a → b */
	vec3 edge_a, edge_b; /* of EDGES: directions, m */
	vec3 ball_a, ball_b; /* of CENTRES */
	vec3 point;	     /* midway between the surfaces */
	double separation;   /* m, along `normal` */
	uint32_t feature;
};
enum { CONTACT_CORNERS_MAX = CLIP_CORNERS_MAX };

/* Frames, margin and pieces as for contact_polygon. Returns the number of corners in out (room for
 * CONTACT_CORNERS_MAX), without those farther apart than the margin. Two polygons in the plane: the ends
 * of the interval in which their edges face each other, or, if these have passed each other, the vertex
 * on the edge that separates them best. Where not both pieces have a face, the points of the manifold. */
uint32_t contact_corners(struct piece a, struct piece b, const pose *b_in_a, double margin,
			 const struct manifold *found, struct contact_corner *out);

#endif
