/* sat.h: the separating axes of two convex polyhedra: faces of each, and pairs of edges.
 *
 * The separation along a unit axis n from A to B is the least n·b over B minus the greatest n·a
 * over A, in m; it is negative if they overlap along n. If the greatest separation over all axes is
 * negative, its absolute value is the penetration depth (the least translation that separates the
 * pieces); if it is positive, it is a lower bound of their distance.
 */
#ifndef CAIRN_ENGINE_COLLISION_SAT_H
#define CAIRN_ENGINE_COLLISION_SAT_H

#include "server/engine/collision/manifold.h"
#include "server/engine/geometry/aabb.h"
#include "server/engine/geometry/shape.h"
#include "server/engine/math/mat3.h"
#include "server/engine/math/vec3.h"

/* The placement of B in A's frame: x ↦ translation + rotation x. */
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
	uint32_t vertex; /* of the other piece: the nearest to, or deepest below, that face */
};

/* Separation along one face of `a`. `start`: vertex of b where the search begins. */
struct sat_face sat_face(const struct hull *a, const struct hull *b, const struct placing *b_in_a,
			 uint32_t face, uint32_t start);
/* The face of `a` with the greatest separation; stops at the first face above `enough`. `start` is
 * tested first and wins ties, then the lowest number. */
struct sat_face sat_faces(const struct hull *a, const struct hull *b, const struct placing *b_in_a,
			  uint32_t start, double enough);
/* A start if there is no cached face: the face that b's centre is farthest above. */
uint32_t sat_face_guess(const struct hull *a, const struct hull *b, const struct placing *b_in_a);

struct sat_edges {
	double separation;	 /* m; −SCALAR_MAX: there is no such pair */
	uint32_t edge_a, edge_b; /* half-edges, each the lower of the two of its edge */
	vec3 normal;		 /* unit, A → B, A's frame */
};

/* The pair of edges with the greatest separation above `least`, among edges within `reach` (m) of
 * the other piece's box: edges farther away cannot be those that touch or are nearest within that
 * distance. `reach` = SCALAR_MAX: all pairs. Ties: the lower edge of b, then of a. `of_b` is any
 * point of b in a's frame, `of_a` any point of a in b's frame: the deeper they lie in the other
 * piece, the fewer pairs are tested; the result does not depend on them. */
struct sat_edges sat_edges(const struct hull *a, const struct hull *b, const struct placing *b_in_a,
			   double least, double reach, vec3 of_b, vec3 of_a);
/* Separation of one pair of edges if their cross product is an axis of the two pieces (the arcs of
 * their faces' normals cross on the Gauss sphere); −SCALAR_MAX if not. */
double sat_edge_pair(const struct hull *a, const struct hull *b, const struct placing *b_in_a,
		     uint32_t edge_a, uint32_t edge_b, vec3 *normal);

/* The same for an edge of `a` and a single edge from → to with the outward normals of its two
 * faces, all in a's frame. */
double sat_edge_alone(const struct hull *a, uint32_t edge_a, vec3 from, vec3 to, vec3 left,
		      vec3 right, vec3 *normal);

struct sat_axis {
	double separation;
	vec3 normal;		/* unit, A → B, A's frame */
	struct pair_cache axis; /* the features of the axis, see enum pair_cache_kind */
	bool remembered;	/* the cached axis separates by more than `enough` */
};

/* The axis of the greatest separation, up to rounding, nearly parallel edges included; −separation
 * is the depth of overlapping hulls. Stops at the first axis above `enough` (0: decides if they are
 * apart; SCALAR_MAX: finds the greatest); the cached axis is tested first. `cache` (zeros: none)
 * receives the axis found. Its content does not change whether an axis above `enough` is found. */
void sat_greatest(const struct hull *a, const struct hull *b, const struct placing *b_in_a,
		  double enough, struct pair_cache *cache, struct sat_axis *out);

/* The face of `hull` whose normal opposes `direction` most; of equal ones the first. */
uint32_t sat_face_against(const struct hull *hull, vec3 direction);

/* The same among the faces around one vertex; of equal ones the lower number. */
uint32_t sat_face_at(const struct hull *hull, uint32_t vertex, vec3 direction);

#endif
