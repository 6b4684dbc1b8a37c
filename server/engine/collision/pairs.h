/* pairs.h: what the narrow phase's routines share. Private to collision: the door is manifold.h.
 *
 * A routine is written for one order of kinds; the table in pairs.c calls it for the other order
 * too, with the pose inverted and the answer turned round. Routines may assume a finite pose and a
 * unit rotation, write all of *out that counts, and leave out->count = 0 when the pieces are apart
 * by more than the margin.
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
	uint32_t child_a;	   /* side of a when a is a field; UINT32_MAX: all */
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

/* pair_cache.kind: what feature_a and feature_b say. Face and axis numbers are those of the
 * shape in the routine's own order of kinds. */
enum pair_cache_kind {
	CACHE_NONE = 0,
	CACHE_FACE_A = 1, /* face (box: axis) of a; feature_b: b's vertex nearest to it */
	CACHE_FACE_B =
		2,	 /* feature_b: face (box: axis) of b; feature_a: a's vertex nearest to it */
	CACHE_EDGES = 3, /* half-edges (boxes: axes) */
	CACHE_VERTICES = 4, /* vertices where a search for the distance starts */
};

static inline void cache_set(struct pair_cache *cache, enum pair_cache_kind kind,
			     uint32_t feature_a, uint32_t feature_b)
{
	*cache = (struct pair_cache){
		(uint8_t)kind, { 0, 0, 0 }, (uint16_t)feature_a, (uint16_t)feature_b
	};
}

/* ---- features: 32 bits that name what touches what
 * ------------------------------------------------
 *
 *   bits 31…29  what kind of pair
 *   bits 28…0   the two features
 *
 * A corner of a clipped polygon lies between two sides, each an edge of a or of b: 13 bits each and
 * one bit whose it is. A hull has at most 1024 vertices, so at most 6132 half-edges, which fit.
 */
enum feature_kind {
	FEATURE_CORNER = 0u,  /* side before, side after; bit 28: b's face is the reference */
	FEATURE_EDGES = 1u,   /* half-edge of a (13 bits), half-edge of b (13 bits) */
	FEATURE_NEAREST = 2u, /* nearest points: vertex of a (13 bits), vertex of b (13 bits) */
	FEATURE_VERTEX = 3u,  /* vertex of a (13 bits) on a face or plane of b */
	/* With a field; the rest of the bits is what field_feature packs. */
	FEATURE_IN_FIELD = 4u, /* of b, in a's field */
	FEATURE_IN_OTHER = 5u, /* of a's mesh, in b's field */
	FEATURE_OF_MESH = 6u,  /* vertex of a's mesh on b */
	FEATURE_ROUND = 7u,    /* a place on a sphere: which sphere, which side */
};

static inline uint32_t feature_make(enum feature_kind kind, uint32_t a, uint32_t b)
{
	return (uint32_t)kind << 29 | (b & 0x1fff) << 13 | (a & 0x1fff);
}

/* A vertex (`number`), or an edge and which end of what touches. */
static inline uint32_t field_feature(enum feature_kind kind, uint32_t number, bool edge,
				     uint32_t which)
{
	return (uint32_t)kind << 29 | (uint32_t)edge << 28 | (which & 1) << 27 |
	       (number & 0x7ffffff);
}

/* A side of a polygon being clipped: `edge` < 8192, `of_b`: whose. */
static inline uint32_t feature_side(uint32_t edge, bool of_b)
{
	return (edge & 0x1fff) | (uint32_t)of_b << 13;
}

static inline uint32_t feature_corner(uint32_t before, uint32_t after, bool reference_b)
{
	return (uint32_t)FEATURE_CORNER << 29 | (uint32_t)reference_b << 28 | after << 14 | before;
}

/* ---- tolerances --------------------------------------------------------------------------------- */

/* m. How much better another face or an edge pair must be before a contact changes its
 * reference, at most. Two faces that are equally good up to rounding must not take turns: the
 * feature ids, and with them the solver's memory, would change every step. Larger: calmer, but
 * the reported separation may be that much short of the true one. */
#define PAIR_SLOP_MAX 1e-3
/* The same as a part of the smaller piece's least half-width, for small things. */
#define PAIR_SLOP_RELATIVE 0.02
/* How much of it the reference face is wider when a polygon is clipped to it. Equal boxes on top of
 * each other have their corners exactly at the border; with this they stay corners. */
#define PAIR_CLIP_SLOP 0.5
/* Two edges whose angle's sine is less give no axis: dividing by it would only magnify rounding,
 * and the axis lies within 1e-5 of one that the faces give. */
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
	double least = SCALAR_MAX;
	for (uint32_t k = 0; k < manifold->count; k++)
		least = scalar_min(manifold->points[k].separation, least);
	return least;
}

#endif
