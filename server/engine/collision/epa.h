/* epa.h: the penetration depth of two convex pieces: the least translation that separates them, with bounds.
 *
 * Works on cores, as gjk.h: the depth of pieces with radii is that of the cores plus both radii. Everything
 * is in A's frame.
 */
#ifndef CAIRN_ENGINE_COLLISION_EPA_H
#define CAIRN_ENGINE_COLLISION_EPA_H

#include "server/engine/collision/gjk.h"

enum {
	EPA_VERTICES_MAX = 256,
	EPA_FACES_MAX = 2 * EPA_VERTICES_MAX - 4, /* Euler */
};

struct epa_vertex {
	vec3 w, a, b; /* w = b − a */
	uint16_t index_a, index_b;
};
struct epa_face {
	vec3 normal; /* unit, outward; zero if lost in rounding */
	double key;  /* m: distance from the origin, negative if the origin lies outside */
	uint16_t corner[3], beside[3]; /* beside[k] lies across corner k → k + 1 */
	uint8_t state;
};
/* Scratch memory of one search; nothing is carried over to the next. About 65 kB. */
struct epa_workspace {
	uint32_t vertex_count, face_count, free_count;
	struct epa_vertex vertices[EPA_VERTICES_MAX];
	struct epa_face faces[EPA_FACES_MAX];
	uint16_t free[EPA_FACES_MAX];
	uint16_t stack[EPA_FACES_MAX][2];
	uint16_t rim[EPA_FACES_MAX][2];
};

enum epa_status {
	EPA_DONE,     /* the bounds meet */
	EPA_FLAT,     /* the Minkowski difference has no volume: depth 0 along its normal */
	EPA_CAPACITY, /* the workspace is full: the bounds hold, with a gap */
	EPA_OPEN,     /* rounding stopped the search: the bounds hold, with a gap */
};

struct epa_result {
	enum epa_status status;
	double depth; /* m ≥ 0: upper bound: moving B by it along the normal separates the cores */
	double lower;	       /* m ≥ 0: no shorter translation separates them */
	vec3 normal;	       /* unit, A → B */
	vec3 point_a, point_b; /* each on its piece's surface: a − b = depth normal */
	uint32_t iterations;
};

/* `touching`: the simplex of a gjk_result (or vclip_result) with touching set, for the same placing. Any
 * other simplex of valid indices gives a correct result too, if the cores overlap. */
void epa_depth(const struct gjk_core *a, const struct gjk_core *b, const mat3 *rotation,
	       vec3 translation, const struct gjk_simplex *touching, struct epa_workspace *work,
	       struct epa_result *out);

#endif
