/* contact_polygon.h: all of where two pieces touch, and what their normal belongs to.
 *
 * A manifold has at most four points, which is all that a solver of impulses needs. Who asks how
 * forces spread over a face, or how a normal turns with the bodies, asks here. Found anew from a
 * manifold; the narrow phase pays nothing for it.
 */
#ifndef CAIRN_ENGINE_COLLISION_CONTACT_POLYGON_H
#define CAIRN_ENGINE_COLLISION_CONTACT_POLYGON_H

#include "server/engine/collision/clip.h"

/* What the normal turns with, for accelerations and for other motions than it was found at. */
enum contact_normal {
	CONTACT_NORMAL_GIVEN,	   /* by none of those below: its rate must be told */
	CONTACT_NORMAL_OF_A,	   /* of a face of a */
	CONTACT_NORMAL_OF_B,	   /* of a face of b */
	CONTACT_NORMAL_OF_EDGES,   /* along edge_a × edge_b, or against it */
	CONTACT_NORMAL_OF_CENTRES, /* from ball_a to ball_b: balls, capsules */
};

struct contact_polygon {
	enum contact_normal normal_of;
	vec3 normal;	     /* the manifold's */
	vec3 edge_a, edge_b; /* of EDGES: directions, m, as long as the edges */
	vec3 ball_a, ball_b; /* of CENTRES: m, places */
	uint32_t count;
	struct manifold_point points[CLIP_CORNERS_MAX]; /* in no order that is promised */
};

/* Frames, margin and pieces as for collide_pieces, which gave *found. Where the normal is of a face
 * and the other piece has one that lies against it, the points are the corners of what one covers
 * of the other (of a plane: all vertices within the margin); elsewhere they are the manifold's,
 * which are all there are. count = 0: the manifold has no points. Total; O(vertices + edges). */
void contact_polygon(struct piece a, struct piece b, const pose *b_in_a, double margin,
		     const struct manifold *found, struct contact_polygon *out);

#endif
