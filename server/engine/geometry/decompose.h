/* decompose.h: a closed mesh as convex parts (app F, Joe's method, with a bounded approximation as
 * fallback).
 *
 * Cutting, which is exact, starts at a reflex edge, a notch: a plane through it cuts the solid
 * along one face, and both halves are processed the same way until a piece is convex or its
 * concavity is within the tolerance. Pieces have disjoint interiors and their volumes sum to the
 * whole. Pieces that no plane can cut, and solids the method does not cover (those with a cavity),
 * are approximated: axis-parallel boxes divide the solid, and a part is the hull of the solid
 * within its box. Such parts are disjoint, cover the solid, and exceed it by no more than the
 * reported deviation. Every fallback is counted in the report.
 *
 * The same mesh and options give the same parts in the same order on every machine.
 */
#ifndef CAIRN_ENGINE_GEOMETRY_DECOMPOSE_H
#define CAIRN_ENGINE_GEOMETRY_DECOMPOSE_H

#include "server/engine/geometry/mesh.h"

/* An edge whose inner angle exceeds π by no more than this sine counts as flat. A smaller value
 * makes notches of rounding errors, which no plane can resolve. */
#define DECOMPOSE_FLAT_SINE 1e-9

enum decompose_mode {
	DECOMPOSE_CUT_THEN_APPROXIMATE, /* cut; what cannot be cut is approximated */
	DECOMPOSE_CUT_ONLY,		/* cut; what cannot be cut stays one concave part */
	DECOMPOSE_APPROXIMATE_ONLY,	/* any closed mesh */
};

struct decompose_options {
	enum decompose_mode mode;
	double concavity; /* m, ≥ 0: deviation allowed between a part and its hull; 0: exactly convex */
	double angle_min; /* rad: F-03's θacc, least inner angle a cut may make; halved on retries */
	double distance_min; /* F-05's dacc, of the mean edge: nearest a vertex may lie to a cut it is not
			       * on; halved on retries */
	uint32_t candidates; /* F-03's nc, planes tried at an edge, 1 … 64 */
	uint32_t
		vertices_max; /* of a part's hull, 8 … SHAPE_HULL_VERTICES_MAX; larger ones are halved */
	uint32_t parts_max; /* more: LIMIT */
};

/* CUT_THEN_APPROXIMATE, concavity 1/50 of the mesh's largest extent, 20°, 0.05, 16, 256, 65536. */
struct decompose_options decompose_options_default(const struct mesh *mesh);

/* Reasons for which a candidate plane is refused. */
enum decompose_refusal {
	DECOMPOSE_REFUSED_ANGLE,    /* F-03, F-04: an inner angle under angle_min */
	DECOMPOSE_REFUSED_OPEN,	    /* F-04: the trace does not return to its start */
	DECOMPOSE_REFUSED_DISTANCE, /* F-05.1: a vertex too near */
	DECOMPOSE_REFUSED_TURN,	    /* F-05.2: the loop bounds a hole */
	DECOMPOSE_REFUSED_HOLE,	    /* F-05.3: the cut face has a hole */
	DECOMPOSE_REFUSED_CAP,	    /* the cut face could not be triangulated */
	DECOMPOSE_REFUSALS,
};

struct decompose_part {
	uint32_t first_point,
		point_count; /* in `points`: its vertices, each once; what a hull is made of */
	uint32_t first_triangle, triangle_count; /* in `triangles`: its closed surface */
	double volume;				 /* m³, within that surface */
	double hull_volume;			 /* m³, of the hull of its points */
	double concavity; /* m, measured: upper bound of the deviation of the hull from the surface */
	bool approximate; /* from the approximation: surface and hull are the same */
};

struct decompose_report {
	uint32_t solids;   /* connected surfaces of the mesh */
	uint32_t notches;  /* reflex edges of the mesh */
	uint32_t cuts;	   /* faces cut at notches */
	uint32_t halvings; /* cuts for vertices_max, or where no plane of F-03 passed */
	uint64_t planes;   /* candidate planes traced */
	uint64_t refused[DECOMPOSE_REFUSALS];
	uint32_t relaxed;	     /* times angle_min and distance_min were lowered for a piece */
	uint32_t unresolved;	     /* pieces no plane could cut */
	uint32_t unresolved_notches; /* their reflex edges */
	uint32_t
		approximated; /* of these pieces and of solids with cavities, how many were approximated */
	double volume;	      /* m³, of the mesh */
	double volume_parts;	 /* m³, sum over the parts' surfaces */
	double volume_hulls;	 /* m³, sum over the parts' hulls */
	uint32_t thin;		 /* pieces left out: flatter than a 10⁻⁷th of their size */
	double volume_thin;	 /* m³, of these */
	double volume_cut_error; /* m³, |sum over all pieces cut − the mesh|: rounding alone */
	double volume_excess; /* m³, of approximated parts over the solids they approximate: ≥ 0,
				  * unless solids overlap, which the mesh counts twice */
	double concavity;     /* m, the largest of the parts cut */
	double deviation;     /* m, no point of an approximated part is farther from the solid */
};

struct decomposition {
	uint32_t part_count, point_count, triangle_count;
	struct decompose_part *parts;
	vec3 *points;
	uint32_t (*triangles)[3]; /* in `points`, counter-clockwise from outside */
	struct decompose_report report;
};

/* Frees the decomposition, which is one block; `self` is taken; NULL is ignored. */
void decomposition_release(struct decomposition *self);

/* Decomposes a mesh in one call. The mesh is borrowed for the call. `options` may be NULL (the
 * default). Returned owned in *out. Errors: DEGENERATE (the mesh is open or inside out; surfaces
 * meet in a vertex without sharing an edge there, which `why` names, except in mode
 * APPROXIMATE_ONLY; or no part is thick enough for a hull), RANGE (options), LIMIT (parts_max),
 * NO_MEMORY. */
MUST_CHECK enum status decompose_mesh(const struct mesh *mesh,
				      const struct decompose_options *options,
				      struct decomposition **out, struct reason *why);

/* The same in slices, for a thread that must handle other work in between. */
struct decompose;
/* The mesh is borrowed until decompose_destroy. Errors as above. */
MUST_CHECK enum status decompose_create(const struct mesh *mesh,
					const struct decompose_options *options,
					struct decompose **out, struct reason *why);
/* Processes at least one and at most `work` pieces. OK: finished, and *out (returned owned) is the
 * result, which does not depend on the slices. AGAIN: call again. Otherwise errors as above, after
 * which only decompose_destroy may be called. */
MUST_CHECK enum status decompose_step(struct decompose *self, uint32_t work,
				      struct decomposition **out, struct reason *why);
void decompose_destroy(struct decompose *self);

#endif
