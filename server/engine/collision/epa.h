/* epa.h: how deep two convex pieces overlap: the least translation that parts them, with a proof.
 *
 * Works on cores, as gjk.h: the depth of pieces with radii is theirs added. Everything is in A's frame.
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
	vec3 normal; /* unit, outward; zero where rounding left none */
	double key;  /* m: distance from the origin, negative where it lies outside */
	uint16_t corner[3], beside[3]; /* beside[k] lies across corner k → k + 1 */
	uint8_t state;
};
/* Contents are the search's own; nothing is kept between two. About 65 kB. */
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
	EPA_CAPACITY, /* the workspace is full: the bounds are right and apart */
	EPA_OPEN,     /* rounding stopped the search: the bounds are right and apart */
};

struct epa_result {
	enum epa_status status;
	double depth; /* m ≥ 0: upper bound: moving B by it along the normal parts the cores, proved */
	double lower;	       /* m ≥ 0: proved: no shorter move parts them */
	vec3 normal;	       /* unit, A → B */
	vec3 point_a, point_b; /* depth apart, each on its piece's surface: a − b = depth normal */
	uint32_t iterations;
};

/* `touching`: the simplex of a gjk_result (or vclip_result) that says so, for the same placing. With
 * any other simplex of valid indices the answer is right too, if the cores overlap. */
void epa_depth(const struct gjk_core *a, const struct gjk_core *b, const mat3 *rotation,
	       vec3 translation, const struct gjk_simplex *touching, struct epa_workspace *work,
	       struct epa_result *out);

#endif
