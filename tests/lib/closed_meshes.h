/* closed_meshes.h: closed meshes for tests, each returned owned (shape_release). */
#ifndef CAIRN_TESTS_CLOSED_MESHES_H
#define CAIRN_TESTS_CLOSED_MESHES_H

#include "server/base/rng.h"
#include "server/engine/geometry/mesh.h"
#include "server/engine/math/pose.h"
#include "tests/lib/shapes.h"

/* A simple polygon (counter-clockwise in x-y, `count` of at most 64 corners) from z = 0 to z =
 * height. */
struct shape *make_prism(const vec3 *corners, uint32_t count, double height);
/* An n-pointed star, radii 1 and `inner`, 1 high. */
struct shape *make_star(uint32_t points, double inner);
/* L: 2 × 2 less 1 × 1; U: 3 × 2 less 1 × 1; plus: 3 × 3 less its four corners; all 1 high. */
struct shape *make_l(void);
struct shape *make_u(void);
struct shape *make_plus(void);

/* Unit cubes of a grid of nx × ny × nz at the cells that are set in `filled` (x fastest); NULL if
 * an edge has four faces. */
struct shape *make_voxels(uint32_t nx, uint32_t ny, uint32_t nz, const uint8_t *filled);
/* Edge 1, about 0. */
struct shape *make_unit_cube(void);
/* 3 × 3 × 1 without the middle; 3 × 3 × 3 without the middle (a void). */
struct shape *make_ring(void);
struct shape *make_hollow(void);
/* A random tree of cubes in a 4 × 4 × 3 grid, connected, without edges of four faces. */
struct shape *make_random_cubes(struct rng *rng, uint32_t cubes);

/* A sphere of 8 · 4^steps triangles, each radius times 1 + bump × (a number in [−1, 1) from
 * rng). */
struct shape *make_ball(uint32_t steps, double radius, double bump, struct rng *rng);

/* A profile (x, y; x ≥ 0) turned about y in `around` steps. Closed: a ring (counter-clockwise
 * profile); else its ends lie on the axis, and it runs from the lower one outwards to the upper
 * one. */
struct shape *make_turned(const vec3 *profile, uint32_t count, bool closed, uint32_t around);
/* A torus about y, and a bowl: the lower half of a shell of these radii. */
struct shape *make_torus(double radius, double thick, uint32_t around, uint32_t across);
struct shape *make_bowl(double inner, double outer, uint32_t around, uint32_t up);
/* The mesh as a solid with a field of `cells` cells, or with convex parts. */
struct shape *make_field_solid(const struct mesh *mesh, uint32_t cells);
struct shape *make_parts_solid(const struct mesh *mesh, uint32_t parts);

/* The same mesh at another pose. */
struct shape *make_moved(const struct mesh *mesh, const pose *at);

/* A uniform point of the box. */
vec3 random_in_box(struct rng *rng, struct aabb box);
quat random_turn(struct rng *rng);

#endif
