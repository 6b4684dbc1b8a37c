/* shapes.h: shapes for tests, each made through its canonical bytes and returned owned (shape_release).
 * A refusal is printed and ends the program: tests of refusals call shape_cook themselves. */
#ifndef CAIRN_TESTS_SHAPES_H
#define CAIRN_TESTS_SHAPES_H

#include "server/base/bytes.h"
#include "server/engine/geometry/shape.h"

/* Canonical bytes appended to `out`. */
void bytes_of_sphere(struct bytes *out, double radius);
void bytes_of_capsule(struct bytes *out, double half_length, double radius);
void bytes_of_box(struct bytes *out, vec3 half);
void bytes_of_hull(struct bytes *out, const vec3 *points, uint32_t count);
void bytes_of_plane(struct bytes *out, vec3 normal, double offset);
void bytes_of_mesh(struct bytes *out, const vec3 *vertices, uint32_t vertex_count,
		   const uint32_t (*triangles)[3], uint32_t triangle_count);
void bytes_of_polygon(struct bytes *out, const vec3 *vertices, uint32_t count, double radius);
/* A closed mesh that moves, in the given form (solid.h), with defaults for the rest. */
void bytes_of_solid(struct bytes *out, uint32_t form, uint32_t detail, const vec3 *vertices,
		    uint32_t vertex_count, const uint32_t (*triangles)[3], uint32_t triangle_count);
void bytes_of_rounded_box(struct bytes *out, vec3 half, double radius);
void bytes_of_rounded_hull(struct bytes *out, const vec3 *points, uint32_t count, double radius);
void bytes_of_cylinder(struct bytes *out, double half_length, double radius);
void bytes_of_cone(struct bytes *out, double half_length, double radius);
void bytes_of_ellipsoid(struct bytes *out, vec3 half);
/* A grid of heights as in heightfield.h: `holes` and `patches` one byte for each cell, or NULL. */
struct height_grid {
	uint32_t columns, rows;
	double cell_x, cell_z;
	const float *heights;
	const uint8_t *holes, *patches;
	bool apron;
};
void bytes_of_heightfield(struct bytes *out, const struct height_grid *grid);

/* Cooks and releases `bytes`. */
struct shape *shape_of_bytes(struct bytes *bytes);

struct shape *make_sphere(double radius);
struct shape *make_capsule(double half_length, double radius);
struct shape *make_box(double half_x, double half_y, double half_z);
struct shape *make_hull(const vec3 *points, uint32_t count);
struct shape *make_plane(vec3 normal, double offset);
struct shape *make_mesh(const vec3 *vertices, uint32_t vertex_count, const uint32_t (*triangles)[3],
			uint32_t triangle_count);
struct shape *make_rounded_box(double half_x, double half_y, double half_z, double radius);
struct shape *make_rounded_hull(const vec3 *points, uint32_t count, double radius);
struct shape *make_cylinder(double half_length, double radius);
struct shape *make_cone(double half_length, double radius);
struct shape *make_ellipsoid(double half_x, double half_y, double half_z);
struct shape *make_heightfield(const struct height_grid *grid);
/* The triangles of a heightfield that can be hit as a mesh, in their order; numbers[t], if not NULL, is the
 * heightfield's number of the mesh's triangle t. */
struct shape *make_mesh_of_heightfield(const struct shape *heightfield, uint32_t *numbers);
struct shape *make_polygon(const vec3 *vertices, uint32_t count, double radius);

/* Separate boxes (centre, half) as one solid of convex parts, at most 16. */
struct shape *make_boxes_solid(const vec3 (*boxes)[2], uint32_t count);

/* A square height field of cells × cells squares of side `size`, two triangles each, over x and z
 * around the origin, with heights in [0, bump) from `seed`. */
struct shape *make_terrain(uint32_t cells, double size, double bump, uint64_t seed);

#endif
