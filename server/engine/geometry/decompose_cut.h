/* decompose_cut.h: one cut of a piece: plane, cut face, halves. Private to decompose*.c. */
#ifndef CAIRN_ENGINE_GEOMETRY_DECOMPOSE_CUT_H
#define CAIRN_ENGINE_GEOMETRY_DECOMPOSE_CUT_H

#include "server/engine/geometry/decompose_piece.h"

struct cut_plane {
	vec3 at, normal; /* unit; "above" is where it points */
};

struct cut_limits {
	double snap;	     /* m: a vertex at most this far counts as in the plane */
	double cosine;	     /* of the least inner angle; 1: any */
	double distance_min; /* m: F-05.1 */
};

/* A corner of the cut face. */
struct cut_node {
	/* Of a vertex: a half-edge leaving it. Of a crossed edge: the half-edge of the triangle that
	 * the trace enters, which starts above the plane and ends below. */
	uint32_t half;
	uint32_t point; /* of a vertex; UINT32_MAX of a crossed edge until it is split */
	vec3 at;
};

/* Memory for cutting pieces up to some size, and the last cut face found. */
struct cutter {
	uint32_t points, triangles;    /* room */
	struct decompose_piece *piece; /* borrowed while cutting */
	struct cut_plane plane;
	struct cut_limits limits;
	uint32_t now;	  /* number of the current plane; other stamps are stale */
	uint32_t *stamp;  /* of points: `distance` is from plane `now` when equal */
	uint32_t *passed; /* of points: visited by trace `now` when equal */
	double *distance;
	uint32_t node_count, node_room;
	struct cut_node *nodes;	  /* counter-clockwise about the normal */
	uint32_t *before, *after; /* of nodes, while ears are cut */
	uint32_t *border;	  /* of nodes: half-edge across the edge to `after` */
	uint32_t blunt_count;
	uint32_t *blunt; /* nodes that do not turn left */
	double *ear;
	uint32_t cap_count;
	uint32_t (*cap)[3];	 /* triangles of nodes */
	uint32_t (*cap_twin)[3]; /* cap half-edge 3c + k, or CUT_LOOP | node */
};

/* Marks a number as a node of the loop rather than a half-edge of the cap. */
#define CUT_LOOP 0x80000000u

/* Makes room for cutting `piece`, which is borrowed. False: out of memory. */
MUST_CHECK bool cutter_reserve(struct cutter *self, struct decompose_piece *piece);
void cutter_release(struct cutter *self);

/* F-04, F-05 and the triangulation: traces the cut face from half-edge `start` (a notch in the
 * plane whose own side is above), or, when `crossed`, from a half-edge that starts above and ends
 * below. DECOMPOSE_REFUSALS: found, and cut_apply may follow; otherwise the reason of refusal, and
 * the piece is unchanged. */
enum decompose_refusal cut_trace(struct cutter *self, struct cut_plane plane,
				 struct cut_limits limits, uint32_t start, bool crossed);
/* F-06: splits the piece along the traced face and adds the results to `out`. The piece itself must
 * be destroyed afterwards. False: out of memory. */
MUST_CHECK bool cut_apply(struct cutter *self, piece_list *out);

/* Triangulates the cut face (decompose_cap.c); false when no triangulation is found. */
bool cut_make_cap(struct cutter *self);
/* +1 when nodes a b p turn left about the normal, −1 right, 0 straight: exact for their projection. */
int cut_turn(const struct cutter *self, vec3 a, vec3 b, vec3 p);

/* F-03: planes through a notch that leave no part of it reflex, in the book's order. Returns the
 * count, at most `capacity`. */
uint32_t cut_candidates(const struct decompose_piece *piece, uint32_t notch, uint32_t capacity,
			struct cut_plane *out);

#endif
