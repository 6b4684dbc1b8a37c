/* sat.h: the separating axes of two convex polyhedra: faces of each, and pairs of edges.
 *
 * Separation along a unit axis n from A to B: least n·b over B minus greatest n·a over A, m;
 * negative when they overlap along it. The greatest of all is the distance of overlapping pieces to
 * being apart (its negative: least translation); above zero it is a lower bound of their distance.
 */
#ifndef CAIRN_ENGINE_COLLISION_SAT_H
#define CAIRN_ENGINE_COLLISION_SAT_H

#include "server/engine/collision/manifold.h"
#include "server/engine/geometry/aabb.h"
#include "server/engine/geometry/shape.h"
#include "server/engine/math/mat3.h"
#include "server/engine/math/vec3.h"

/* How B lies in A's frame: x ↦ translation + rotation x. */
struct placing {
	mat3 rotation;
	vec3 translation;
};
struct placing placing_inverse(const struct placing *self);
static inline vec3 placing_point(const struct placing *self, vec3 p)
{
	return vec3_add(self->translation, mat3_mul_vec(self->rotation, p));
}

struct sat_face {
	double separation;
	uint32_t face;	 /* of the piece whose faces are tested */
	uint32_t vertex; /* of the other: nearest to (or deepest under) that face */
};

/* Separation along one face of `a`; `start`: vertex of b to begin the search with. */
struct sat_face sat_face(const struct hull *a, const struct hull *b, const struct placing *b_in_a,
			 uint32_t face, uint32_t start);
/* The face of `a` with the greatest separation. Stops early, with a face that separates, as soon as
 * one is above `enough`. `start` is tested first and wins ties, then the lowest number. */
struct sat_face sat_faces(const struct hull *a, const struct hull *b, const struct placing *b_in_a,
			  uint32_t start, double enough);
/* A start without a cache: the face that b's centre is farthest above. */
uint32_t sat_face_guess(const struct hull *a, const struct hull *b, const struct placing *b_in_a);

struct sat_edges {
	double separation;	 /* −SCALAR_MAX: none */
	uint32_t edge_a, edge_b; /* half-edges, each the lower of the two of its edge */
	vec3 normal;		 /* unit, A → B, A's frame */
};

/* The pair of edges with the greatest separation above `least`, among those whose edges come
 * within `reach` of the other piece's box: farther ones cannot be where the pieces touch or come
 * nearest within that distance. `reach` = SCALAR_MAX: all pairs. Ties: the lower edge of b, then
 * of a. `of_b` is any point of b in a's frame, `of_a` any point of a in b's: the deeper they lie
 * in the other piece, the fewer pairs are tested; the result does not depend on them. */
struct sat_edges sat_edges(const struct hull *a, const struct hull *b, const struct placing *b_in_a,
			   double least, double reach, vec3 of_b, vec3 of_a);
/* Separation of one pair of edges if their cross product is an axis of the two pieces (the arcs of
 * their faces' normals cross on the Gauss sphere); −SCALAR_MAX if not. */
double sat_edge_pair(const struct hull *a, const struct hull *b, const struct placing *b_in_a,
		     uint32_t edge_a, uint32_t edge_b, vec3 *normal);

/* The same for an edge of `a` and a single edge from → to with the outward normals of its two faces, all in
 * a's frame. */
double sat_edge_alone(const struct hull *a, uint32_t edge_a, vec3 from, vec3 to, vec3 left,
		      vec3 right, vec3 *normal);

struct sat_axis {
	double separation;
	vec3 normal;		/* unit, A → B, A's frame */
	struct pair_cache axis; /* the features of the axis, see enum pair_cache_kind */
	bool remembered;	/* the cached axis separates by more than `enough` */
};

/* The axis of the greatest separation of all, to rounding, nearly parallel edges included: overlapping
 * hulls are −separation deep along it. Stops early at any axis above `enough` (0: whether they are apart;
 * SCALAR_MAX: the greatest), the cached one first. `cache` (zeros: none) gets the axis found; whatever
 * it held, the verdict is the same. */
void sat_greatest(const struct hull *a, const struct hull *b, const struct placing *b_in_a,
		  double enough, struct pair_cache *cache, struct sat_axis *out);

/* The face of `hull` whose normal opposes `direction` most; the first of equals. */
uint32_t sat_face_against(const struct hull *hull, vec3 direction);

/* The same among the faces round one vertex; of equals the lower number. */
uint32_t sat_face_at(const struct hull *hull, uint32_t vertex, vec3 direction);

/* The box of the transformed vertices. */
struct aabb sat_box(const struct hull *hull, const struct placing *placing);

#endif
