/* decompose.h: a closed mesh as convex parts (app F, Joe's method, with a bounded approximation behind it).
 *
 * Cutting (the exact way) starts at a reflex edge, a notch: a plane through it cuts the solid along one
 * face, and both halves are treated alike until a piece is convex or its concavity is within the
 * tolerance. Pieces have disjoint interiors and their volumes sum to the whole. Pieces that no plane can
 * cut, and solids the method does not cover (a cavity), go to the approximation: the solid is divided
 * by axis-parallel boxes, and a part is the hull of what lies in its box; such parts are disjoint, cover
 * the solid, and stick out of it by no more than the report says. Nothing falls back in silence.
 *
 * The same mesh and options give the same parts in the same order on every machine.
 */
#ifndef CAIRN_ENGINE_GEOMETRY_DECOMPOSE_H
#define CAIRN_ENGINE_GEOMETRY_DECOMPOSE_H

#include "server/engine/geometry/mesh.h"

/* An edge whose inner angle is over π by no more than this sine counts as flat. */
#define DECOMPOSE_FLAT_SINE 1e-9

enum decompose_mode {
	DECOMPOSE_CUT_THEN_APPROXIMATE, /* cut; what cannot be cut is approximated */
	DECOMPOSE_CUT_ONLY,		/* cut; what cannot be cut stays one concave part */
	DECOMPOSE_APPROXIMATE_ONLY,	/* any closed mesh */
};

struct decompose_options {
	enum decompose_mode mode;
	double concavity; /* m, ≥ 0: how far a part's hull may stand off the part; 0: exactly convex */
	double angle_min; /* rad: F-03's θacc, least inner angle a cut may make; halved on retries */
	double distance_min; /* F-05's dacc, of the mean edge: nearest a vertex may lie to a cut it is not
			       * on; halved on retries */
	uint32_t candidates; /* F-03's nc, planes tried at an edge, 1 … 64 */
	uint32_t
		vertices_max; /* of a part's hull, 8 … SHAPE_HULL_VERTICES_MAX; larger ones are halved */
	uint32_t parts_max; /* more are refused with LIMIT */
};

/* CUT_THEN_APPROXIMATE, concavity 1/50 of the mesh's largest extent, 20°, 0.05, 16, 256, 65536. */
struct decompose_options decompose_options_default(const struct mesh *mesh);

/* Why a plane was not taken. */
enum decompose_refusal {
	DECOMPOSE_REFUSED_ANGLE,    /* F-03, F-04: an inner angle under angle_min */
	DECOMPOSE_REFUSED_OPEN,	    /* F-04: the walk does not come back to where it began */
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
	double concavity; /* m, measured: how far the hull stands off the surface, at most */
	bool approximate; /* from the approximation: surface and hull are the same */
};

struct decompose_report {
	uint32_t solids;   /* connected surfaces of the mesh */
	uint32_t notches;  /* reflex edges of the mesh */
	uint32_t cuts;	   /* faces cut at notches */
	uint32_t halvings; /* cuts for vertices_max, or where no plane of F-03 passed */
	uint64_t planes;   /* candidates looked at */
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
	double volume_excess;	 /* m³, of approximated parts over what they stand for: ≥ 0,
				  * unless solids overlap, which the mesh counts twice */
	double concavity;	 /* m, the largest of the parts cut */
	double deviation;	 /* m, no point of an approximated part is farther from the solid */
};

struct decomposition {
	uint32_t part_count, point_count, triangle_count;
	struct decompose_part *parts;
	vec3 *points;
	uint32_t (*triangles)[3]; /* in `points`, counter-clockwise from outside */
	struct decompose_report report;
};

/* One block; `self` is taken; NULL is ignored. */
void decomposition_release(struct decomposition *self);

/* The whole at once. The mesh is borrowed for the call. `options` may be NULL (the default). Returned
 * owned in *out. Errors: DEGENERATE (the mesh is open, or turned inside out; or surfaces meet in a vertex
 * and share no edge there, `why` names it, but not in mode APPROXIMATE_ONLY; or nothing is thick enough
 * for a hull), RANGE (options), LIMIT (parts_max), NO_MEMORY. */
MUST_CHECK enum status decompose_mesh(const struct mesh *mesh,
				      const struct decompose_options *options,
				      struct decomposition **out, struct reason *why);

/* The same in slices, for a thread that has to listen in between. */
struct decompose;
/* The mesh is borrowed until decompose_destroy. Errors as above. */
MUST_CHECK enum status decompose_create(const struct mesh *mesh,
					const struct decompose_options *options,
					struct decompose **out, struct reason *why);
/* Goes on for at least one and about `work` pieces looked at. OK: done, and *out (returned owned) is the
 * result, which does not depend on the slices; AGAIN: call again; else as above, and only
 * decompose_destroy may follow. */
MUST_CHECK enum status decompose_step(struct decompose *self, uint32_t work,
				      struct decomposition **out, struct reason *why);
void decompose_destroy(struct decompose *self);

#endif
