/* curved_pair.h: contacts of convex pieces of which one at least is round: a cylinder, cone,
 * ellipsoid, or a rounded hull, against any other convex piece. Private to collision. */
#ifndef CAIRN_ENGINE_COLLISION_CURVED_PAIR_H
#define CAIRN_ENGINE_COLLISION_CURVED_PAIR_H

#include "server/engine/collision/clip.h"
#include "server/engine/collision/gjk.h"
#include "server/engine/collision/sat.h"

/* A convex piece in A's frame. */
struct curved_side {
	const struct shape *shape; /* borrowed */
	uint32_t child;
	struct gjk_points room;
	struct gjk_core core;
	struct placing at;
};

struct curved_pair {
	struct curved_side a, b;
	double radii, margin, slop; /* m: sum of the rounding radii; of the pair; pairs.h */
};
void curved_pair_init(struct curved_pair *self, const struct pair *pair);

/* ---- axes (curved_axis.c) -------------------------------------------------------------------- */

/* An axis and the points of the cores that are nearest, or deepest, along it; b − a = separation ·
 * normal up to the convergence of the search. */
struct curved_axis {
	vec3 normal;	   /* unit, A → B */
	double separation; /* m, of the cores, by supports: they are at least so far apart along it */
	vec3 point_a, point_b;
	uint32_t rounds; /* of the search for overlapping cores */
};

/* m: least n·b − greatest n·a of the cores. */
double curved_separation(const struct curved_pair *self, vec3 normal);

/* The axis of greatest separation. Cores that are apart: that of their nearest points. Overlapping
 * ones: a local maximum, the best from several starts; a translation by −separation along it parts
 * the cores. False: the cores are farther apart than radii and margin. */
bool curved_axis_find(const struct curved_pair *self, struct curved_axis *out);

/* ---- features (curved_face.c) ---------------------------------------------------------------- */

enum { CURVED_RIM = 16 }; /* points of a rim; one more is the lowest */

/* The corners of a side's core that face a direction: a flat face, a straight line of the surface
 * or a point. */
struct curved_face {
	bool flat, rim; /* rim: a disc; its corners lie on its rim */
	vec3 normal;	/* unit, outward, if flat */
	vec3 centre;	/* of the disc */
	uint32_t count;
	struct clip_corner corners[CLIP_CORNERS_MAX];
};

/* The feature of the core that faces `direction` (unit, A's frame) most. */
void curved_face_of(const struct curved_side *self, bool is_b, vec3 direction,
		    struct curved_face *out);

/* ---- manifolds (pairs_curved.c) -------------------------------------------------------------- */

/* The manifold of an axis. The cache says whose face was the last one and receives whose it is. */
void curved_manifold(const struct curved_pair *self, const struct curved_axis *axis,
		     struct pair_cache *cache, struct manifold *out);
/* The points of A over B's face along its normal, however far the deepest point of A is from it; B
 * has a flat face along −normal. */
void curved_over_face(const struct curved_pair *self, vec3 normal, struct manifold *out);

#endif
