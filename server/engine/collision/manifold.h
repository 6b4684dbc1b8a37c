/* manifold.h: the contact points and normal of two convex pieces: the result of the narrow phase.
 *
 * Everything is in body A's frame, in double (there is one narrow phase and no float copy of it). The
 * normal points from A to B. `separation` is signed: negative = penetrating. Points are reported up to
 * `margin` apart so that a solver sees contacts before they touch. Feature ids name the same geometric
 * feature pair from step to step; the solver matches its accumulated impulses by them.
 */
#ifndef CAIRN_ENGINE_COLLISION_MANIFOLD_H
#define CAIRN_ENGINE_COLLISION_MANIFOLD_H

#include "server/engine/geometry/shape.h"
#include "server/engine/math/pose.h"
#include "server/engine/math/vec3.h"

enum { MANIFOLD_POINTS_MAX = 4 };

struct manifold_point {
	vec3 point; /* midway between the two surfaces, A's frame, m */
	double separation;
	uint32_t feature; /* unique within the manifold */
};

struct manifold {
	vec3 normal; /* unit, A → B */
	uint32_t count;
	struct manifold_point points[MANIFOLD_POINTS_MAX];
};

/* The features that one pair stores between steps to start the next search from. A result may depend on
 * them, so the cache is saved as world state: plain numbers, all zero when new. */
struct pair_cache {
	uint8_t kind; /* 0 none, else enum of the routine that wrote it */
	uint8_t reserved[3];
	uint16_t feature_a, feature_b;
};

/* A piece of a shape. `child` is the triangle of a mesh, the part of a solid, the side of a field; 0 for
 * every other kind. */
struct piece {
	const struct shape *shape; /* borrowed */
	uint32_t child;
};

/* Finds the manifold of two pieces; `b_in_a` is the pose of B's frame in A's, `margin` ≥ 0 (m).
 * out->count = 0: the pieces are farther apart than `margin`. Every pair of cooked shapes that
 * collide_supported accepts has a result at every finite pose. */
void collide_pieces(struct piece a, struct piece b, const pose *b_in_a, double margin,
		    struct pair_cache *cache, struct manifold *out);

/* True if the table of pairs has a routine for the two kinds (plane–plane and mesh–mesh have none:
 * both are static; polygon meets only polygon). */
bool collide_supported(enum shape_kind a, enum shape_kind b);

#endif
