/* pairs.h: types and constants of the narrow phase's routines. Private to collision; the public header is
 * manifold.h.
 *
 * A routine is written for one order of kinds. For the other order pairs.c calls it with the pose inverted
 * and transforms the manifold back. A routine may assume a finite pose and a unit rotation. It writes
 * out->count and, if that is not 0, the normal and the points; out->count = 0: the pieces are farther apart
 * than the margin.
 */
#ifndef CAIRN_ENGINE_COLLISION_PAIRS_H
#define CAIRN_ENGINE_COLLISION_PAIRS_H

#include "server/engine/collision/manifold.h"
#include "server/engine/geometry/shape.h"
#include "server/engine/math/mat3.h"
#include "server/engine/math/pose.h"

struct pair {
	const struct shape *a, *b; /* borrowed */
	uint32_t child;		   /* triangle of b when b is a mesh */
	uint32_t child_a;	   /* side of a if a is a field; UINT32_MAX: all sides */
	pose b_in_a;
	double margin; /* m, ≥ 0 */
};

typedef void pair_routine(const struct pair *pair, struct pair_cache *cache, struct manifold *out);

pair_routine pair_sphere_sphere, pair_sphere_capsule, pair_capsule_capsule; /* pairs_round.c */
pair_routine pair_sphere_box;						    /* pairs_round.c */
pair_routine pair_sphere_hull, pair_capsule_hull;			    /* pairs_core.c */
pair_routine pair_box_box;						    /* pairs_box.c */
pair_routine pair_hull_hull;						    /* pairs_hull.c */
pair_routine pair_sphere_plane, pair_capsule_plane, pair_hull_plane;	    /* pairs_plane.c */
pair_routine pair_sphere_mesh, pair_capsule_mesh, pair_hull_mesh;	    /* pairs_mesh.c */
pair_routine pair_polygon_polygon;					    /* pairs_polygon.c */
pair_routine pair_field;						    /* pairs_field.c */
pair_routine pair_curved, pair_curved_plane, pair_field_curved;		    /* pairs_curved.c */
pair_routine pair_curved_mesh;						    /* pairs_mesh.c */

/* pair_cache.kind: the meaning of feature_a and feature_b. Faces and axes belong to the shapes in the
 * routine's own order of kinds. The values are saved with worlds and never change. */
enum pair_cache_kind {
	CACHE_NONE = 0,
	CACHE_FACE_A = 1, /* face (box: axis) of a; feature_b: b's vertex nearest to it */
	CACHE_FACE_B =
		2,	 /* feature_b: face (box: axis) of b; feature_a: a's vertex nearest to it */
	CACHE_EDGES = 3, /* half-edges (boxes: axes) */
	CACHE_VERTICES = 4, /* vertices where a search for the distance starts */
	/* Without points although the pieces are near, because a triangle's neighbour reports the contact,
	 * or the body is behind it. After any motion it may be this triangle's. */
	CACHE_NEIGHBOUR = 5,
};

static inline void cache_set(struct pair_cache *cache, enum pair_cache_kind kind,
			     uint32_t feature_a, uint32_t feature_b)
{
	VALIDATE(feature_a <= UINT16_MAX && feature_b <= UINT16_MAX);
	*cache = (struct pair_cache){
		(uint8_t)kind, { 0, 0, 0 }, (uint16_t)feature_a, (uint16_t)feature_b
	};
}

/* ---- feature ids: 32 bits that name the two touching features ----------------------------------
 *
 *   bits 31…29  enum feature_kind
 *   bits 28…0   the two features
 *
 * A corner of a clipped polygon lies between two sides, each an edge of a or of b: 13 bits for the edge
 * and one for its shape. 13 bits suffice because a hull has at most 1024 vertices and so at most 6132
 * half-edges.
 */
enum feature_kind {
	FEATURE_CORNER = 0u,  /* side before, side after; bit 28: b's face is the reference */
	FEATURE_EDGES = 1u,   /* half-edge of a (13 bits), half-edge of b (13 bits) */
	FEATURE_NEAREST = 2u, /* nearest points: vertex of a (13 bits), vertex of b (13 bits) */
	FEATURE_VERTEX = 3u,  /* vertex of a (13 bits) on a face or plane of b */
	/* With a distance field; the lower bits are packed by field_feature. */
	FEATURE_IN_FIELD = 4u, /* of b, in a's field */
	FEATURE_IN_OTHER = 5u, /* of a's mesh, in b's field */
	FEATURE_OF_MESH = 6u,  /* vertex of a's mesh on b */
	FEATURE_ROUND = 7u,    /* a contact of a sphere: number of the sphere, side of the field */
};

static inline uint32_t feature_make(enum feature_kind kind, uint32_t a, uint32_t b)
{
	return (uint32_t)kind << 29 | (b & 0x1fff) << 13 | (a & 0x1fff);
}

/* A vertex (`number`), or an edge and one of its ends (`which`: 0 or 1). */
static inline uint32_t field_feature(enum feature_kind kind, uint32_t number, bool edge,
				     uint32_t which)
{
	return (uint32_t)kind << 29 | (uint32_t)edge << 28 | (which & 1) << 27 |
	       (number & 0x7ffffff);
}

/* A side of a polygon that is clipped: `edge` < 8192 of shape b (`of_b`) or a. */
static inline uint32_t feature_side(uint32_t edge, bool of_b)
{
	VALIDATE(edge < 8192);
	return (edge & 0x1fff) | (uint32_t)of_b << 13;
}

static inline uint32_t feature_corner(uint32_t before, uint32_t after, bool reference_b)
{
	VALIDATE(before < 1u << 14 && after < 1u << 14);
	return (uint32_t)FEATURE_CORNER << 29 | (uint32_t)reference_b << 28 | after << 14 | before;
}

/* ---- tolerances --------------------------------------------------------------------------------- */

/* m. Upper bound of the slop: the separation by which another face or an edge pair must be greater before a
 * contact changes its reference. Without it two faces that are equally good up to rounding would alternate,
 * and the feature ids, and with them the warm start, would change every step. A larger slop is calmer, but
 * the reported separation may be less than the true one by as much. */
#define PAIR_SLOP_MAX 1e-3
/* The slop of small shapes, relative to the least half-width of the smaller one. */
#define PAIR_SLOP_RELATIVE 0.02
/* The part of the slop by which the reference face is enlarged before a polygon is clipped to it. Stacked
 * equal boxes have their corners exactly at the border; the enlargement keeps the corners. */
#define PAIR_CLIP_SLOP 0.5
/* Two edges whose angle has a smaller sine define no axis: dividing by it would magnify rounding, and the
 * axis lies within 1e-5 of a face's axis. */
#define PAIR_PARALLEL_SINE 1e-5

static inline double pair_slop(const struct shape *a, const struct shape *b)
{
	double size = scalar_min(a->extent_min, b->extent_min);
	return scalar_min(PAIR_SLOP_RELATIVE * size, PAIR_SLOP_MAX);
}

/* ---- small helpers ------------------------------------------------------------------------------ */

/* One point: `on_a`, and the separation along the normal. */
static inline void manifold_one(struct manifold *out, vec3 normal, vec3 on_a, double separation,
				uint32_t feature)
{
	out->normal = normal;
	out->count = 1;
	out->points[0] = (struct manifold_point){ vec3_mul_add(on_a, normal, 0.5 * separation),
						  separation, feature };
}

/* Least separation of its points; SCALAR_MAX if it has none. */
static inline double manifold_deepest(const struct manifold *manifold)
{
	VALIDATE(manifold->count <= MANIFOLD_POINTS_MAX);
	double least = SCALAR_MAX;
	for (uint32_t k = 0; k < manifold->count; k++)
		least = scalar_min(manifold->points[k].separation, least);
	return least;
}

#endif
