/* bench_closest.h: libccd and Bullet for bench_closest, behind a C interface of plain numbers. */
#ifndef CAIRN_BENCH_BENCH_CLOSEST_H
#define CAIRN_BENCH_BENCH_CLOSEST_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A convex solid: a box if half[0] > 0, else the hull of points. `climb`: index of the farthest
 * point in a direction, by the search that our algorithms use (libccd needs it from its caller). */
struct closest_shape {
	double half[3];
	const double *points; /* xyz */
	int point_count;
	unsigned (*climb)(const void *of, const double direction[3]);
	const void *of;
};
struct closest_surface {
	const double *vertices; /* xyz */
	const unsigned *triangles;
	int vertex_count, triangle_count;
};

/* b as seen from a: position, and rotation as w x y z. */
struct closest_pose {
	double position[3], rotation[4];
};

struct closest_peer {
	const char *name;
	/* NULL: the library does not have this query. */
	void *(*create)(const struct closest_shape *a, const struct closest_shape *b);
	void (*destroy)(void *pair);
	/* Distance of two bodies that are apart (1 from a library that reports only whether), depth
	 * of two that overlap. `warm`: start from the result of the query before. */
	double (*apart)(void *pair, const struct closest_pose *at, bool warm);
	double (*depth)(void *pair, const struct closest_pose *at, bool warm);
	void *(*create_mesh)(const struct closest_surface *a, const struct closest_surface *b);
	void (*destroy_mesh)(void *pair);
	/* Number of pairs of triangles that intersect, found with their points. */
	double (*meet)(void *pair, const struct closest_pose *at, bool warm);
};

extern const struct closest_peer closest_ccd, closest_bullet; /* name NULL: not installed */

#ifdef __cplusplus
}
#endif

#endif
