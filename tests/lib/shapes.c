/* See shapes.h. */
#include "tests/lib/shapes.h"

#include "server/base/heap.h"
#include "server/base/rng.h"
#include "server/engine/geometry/mesh.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct writer begin(struct bytes *out, enum shape_kind kind)
{
	struct writer writer = writer_into(out);
	write_u8(&writer, (uint8_t)kind);
	write_u8(&writer, 1);
	return writer;
}

static void write_vec3(struct writer *writer, vec3 p)
{
	write_f64(writer, p.x);
	write_f64(writer, p.y);
	write_f64(writer, p.z);
}

static void end(struct writer *writer)
{
	ASSERT(writer_status(writer) == STATUS_OK);
}

void bytes_of_sphere(struct bytes *out, double radius)
{
	struct writer writer = begin(out, SHAPE_SPHERE);
	write_f64(&writer, radius);
	end(&writer);
}

void bytes_of_capsule(struct bytes *out, double half_length, double radius)
{
	struct writer writer = begin(out, SHAPE_CAPSULE);
	write_f64(&writer, half_length);
	write_f64(&writer, radius);
	end(&writer);
}

void bytes_of_box(struct bytes *out, vec3 half)
{
	struct writer writer = begin(out, SHAPE_BOX);
	write_vec3(&writer, half);
	end(&writer);
}

void bytes_of_hull(struct bytes *out, const vec3 *points, uint32_t count)
{
	struct writer writer = begin(out, SHAPE_HULL);
	write_u32(&writer, count);
	for (uint32_t i = 0; i < count; i++)
		write_vec3(&writer, points[i]);
	end(&writer);
}

void bytes_of_plane(struct bytes *out, vec3 normal, double offset)
{
	struct writer writer = begin(out, SHAPE_PLANE);
	write_vec3(&writer, normal);
	write_f64(&writer, offset);
	end(&writer);
}

void bytes_of_mesh(struct bytes *out, const vec3 *vertices, uint32_t vertex_count,
		   const uint32_t (*triangles)[3], uint32_t triangle_count)
{
	struct writer writer = begin(out, SHAPE_MESH);
	write_u32(&writer, vertex_count);
	write_u32(&writer, triangle_count);
	for (uint32_t i = 0; i < vertex_count; i++)
		write_vec3(&writer, vertices[i]);
	for (uint32_t t = 0; t < triangle_count; t++)
		for (uint32_t k = 0; k < 3; k++)
			write_u32(&writer, triangles[t][k]);
	end(&writer);
}

void bytes_of_polygon(struct bytes *out, const vec3 *vertices, uint32_t count, double radius)
{
	struct writer writer = begin(out, SHAPE_POLYGON);
	write_u32(&writer, count);
	write_f64(&writer, radius);
	for (uint32_t i = 0; i < count; i++) {
		write_f64(&writer, vertices[i].x);
		write_f64(&writer, vertices[i].y);
	}
	end(&writer);
}

void bytes_of_solid(struct bytes *out, uint32_t form, uint32_t detail, const vec3 *vertices,
		    uint32_t vertex_count, const uint32_t (*triangles)[3], uint32_t triangle_count)
{
	struct writer writer = begin(out, SHAPE_SOLID);
	write_u8(&writer, (uint8_t)form);
	write_u8(&writer, 0);
	write_u16(&writer, (uint16_t)detail);
	write_f64(&writer, 0);
	write_f64(&writer, 0);
	write_u32(&writer, vertex_count);
	write_u32(&writer, triangle_count);
	for (uint32_t i = 0; i < vertex_count; i++)
		write_vec3(&writer, vertices[i]);
	for (uint32_t t = 0; t < triangle_count; t++)
		for (uint32_t k = 0; k < 3; k++)
			write_u32(&writer, triangles[t][k]);
	end(&writer);
}

void bytes_of_rounded_box(struct bytes *out, vec3 half, double radius)
{
	struct writer writer = begin(out, SHAPE_ROUNDED);
	write_u8(&writer, 1);
	write_u8(&writer, 0);
	write_f64(&writer, radius);
	write_vec3(&writer, half);
	end(&writer);
}

void bytes_of_rounded_hull(struct bytes *out, const vec3 *points, uint32_t count, double radius)
{
	struct writer writer = begin(out, SHAPE_ROUNDED);
	write_u8(&writer, 2);
	write_u8(&writer, 0);
	write_f64(&writer, radius);
	write_u32(&writer, count);
	for (uint32_t i = 0; i < count; i++)
		write_vec3(&writer, points[i]);
	end(&writer);
}

static void bytes_of_two(struct bytes *out, enum shape_kind kind, double one, double two)
{
	struct writer writer = begin(out, kind);
	write_f64(&writer, one);
	write_f64(&writer, two);
	end(&writer);
}

void bytes_of_cylinder(struct bytes *out, double half_length, double radius)
{
	bytes_of_two(out, SHAPE_CYLINDER, half_length, radius);
}

void bytes_of_cone(struct bytes *out, double half_length, double radius)
{
	bytes_of_two(out, SHAPE_CONE, half_length, radius);
}

void bytes_of_ellipsoid(struct bytes *out, vec3 half)
{
	struct writer writer = begin(out, SHAPE_ELLIPSOID);
	write_vec3(&writer, half);
	end(&writer);
}

/* A bit for each cell, lowest first. */
static void write_holes(struct writer *writer, const uint8_t *holes, uint32_t cells)
{
	for (uint32_t first = 0; first < cells; first += 8) {
		uint8_t bits = 0;
		for (uint32_t k = 0; k < 8 && first + k < cells; k++)
			bits |= (uint8_t)((holes[first + k] != 0) << k);
		write_u8(writer, bits);
	}
}

void bytes_of_heightfield(struct bytes *out, const struct height_grid *grid)
{
	struct writer writer = begin(out, SHAPE_HEIGHTFIELD);
	uint32_t cells = (grid->columns - 1) * (grid->rows - 1);
	write_u8(&writer, (uint8_t)((grid->holes != NULL) | grid->apron << 1 |
				    (grid->patches != NULL) << 2));
	write_u8(&writer, 0);
	write_u32(&writer, grid->columns);
	write_u32(&writer, grid->rows);
	write_f64(&writer, grid->cell_x);
	write_f64(&writer, grid->cell_z);
	for (uint32_t i = 0; i < grid->columns * grid->rows; i++) {
		uint32_t bits;
		memcpy(&bits, &grid->heights[i], sizeof bits);
		write_u32(&writer, bits);
	}
	if (grid->holes != NULL)
		write_holes(&writer, grid->holes, cells);
	if (grid->patches != NULL)
		write_raw(&writer, grid->patches, cells);
	end(&writer);
}

struct shape *make_heightfield(const struct height_grid *grid)
{
	struct bytes bytes = { 0 };
	bytes_of_heightfield(&bytes, grid);
	return shape_of_bytes(&bytes);
}

struct shape *make_mesh_of_heightfield(const struct shape *heightfield, uint32_t *numbers)
{
	const struct mesh *surface = heightfield->mesh;
	uint32_t count = 0, vertices = surface->vertex_count;
	vec3 *points = malloc(vertices * sizeof *points);
	uint32_t(*triangles)[3] = malloc(surface->triangle_count * sizeof *triangles);
	ASSERT(points != NULL && triangles != NULL);
	for (uint32_t v = 0; v < vertices; v++)
		points[v] = mesh_vertex(surface, v);
	for (uint32_t t = 0; t < surface->triangle_count; t++) {
		uint32_t wide = surface->grid->columns - 1;
		if (!heightfield_has_cell(surface->grid, t / 2 % wide, t / 2 / wide))
			continue;
		for (uint32_t k = 0; k < 3; k++)
			triangles[count][k] = mesh_vertex_of(surface, t, k);
		if (numbers != NULL)
			numbers[count] = t;
		count++;
	}
	struct shape *mesh = make_mesh(points, vertices, (const uint32_t(*)[3])triangles, count);
	free(points);
	free(triangles);
	return mesh;
}

struct shape *make_rounded_box(double half_x, double half_y, double half_z, double radius)
{
	struct bytes bytes = { 0 };
	bytes_of_rounded_box(&bytes, vec3_make(half_x, half_y, half_z), radius);
	return shape_of_bytes(&bytes);
}

struct shape *make_rounded_hull(const vec3 *points, uint32_t count, double radius)
{
	struct bytes bytes = { 0 };
	bytes_of_rounded_hull(&bytes, points, count, radius);
	return shape_of_bytes(&bytes);
}

struct shape *make_cylinder(double half_length, double radius)
{
	struct bytes bytes = { 0 };
	bytes_of_cylinder(&bytes, half_length, radius);
	return shape_of_bytes(&bytes);
}

struct shape *make_cone(double half_length, double radius)
{
	struct bytes bytes = { 0 };
	bytes_of_cone(&bytes, half_length, radius);
	return shape_of_bytes(&bytes);
}

struct shape *make_ellipsoid(double half_x, double half_y, double half_z)
{
	struct bytes bytes = { 0 };
	bytes_of_ellipsoid(&bytes, vec3_make(half_x, half_y, half_z));
	return shape_of_bytes(&bytes);
}

struct shape *make_boxes_solid(const vec3 (*boxes)[2], uint32_t count)
{
	static const uint32_t CUBE[12][3] = { { 0, 2, 1 }, { 1, 2, 3 }, { 4, 5, 6 }, { 5, 7, 6 },
					      { 0, 1, 4 }, { 1, 5, 4 }, { 2, 6, 3 }, { 3, 6, 7 },
					      { 0, 4, 2 }, { 2, 4, 6 }, { 1, 3, 5 }, { 3, 7, 5 } };
	vec3 vertices[64 * 8];
	uint32_t triangles[64 * 12][3];
	struct bytes bytes = { 0 };
	ASSERT(count <= 64);
	for (uint32_t b = 0; b < count; b++) {
		vec3 at = boxes[b][0], half = boxes[b][1];
		for (uint32_t i = 0; i < 8; i++)
			vertices[8 * b + i] = vec3_add(at, vec3_make(i & 1 ? half.x : -half.x,
								     i & 2 ? half.y : -half.y,
								     i & 4 ? half.z : -half.z));
		for (uint32_t t = 0; t < 12; t++)
			for (uint32_t k = 0; k < 3; k++)
				triangles[12 * b + t][k] = 8 * b + CUBE[t][k];
	}
	bytes_of_solid(&bytes, 2, 0, vertices, 8 * count, (const uint32_t(*)[3])triangles,
		       12 * count);
	return shape_of_bytes(&bytes);
}

struct shape *shape_of_bytes(struct bytes *bytes)
{
	struct shape *shape = NULL;
	struct reason why;
	if (shape_cook(bytes->data, bytes->count, NULL, &shape, &why) != STATUS_OK) {
		fprintf(stderr, "a test's shape was refused: %s: %s\n", status_name(why.status),
			why.text);
		abort();
	}
	bytes_release(bytes);
	return shape;
}

struct shape *make_sphere(double radius)
{
	struct bytes bytes = { 0 };
	bytes_of_sphere(&bytes, radius);
	return shape_of_bytes(&bytes);
}

struct shape *make_capsule(double half_length, double radius)
{
	struct bytes bytes = { 0 };
	bytes_of_capsule(&bytes, half_length, radius);
	return shape_of_bytes(&bytes);
}

struct shape *make_box(double half_x, double half_y, double half_z)
{
	struct bytes bytes = { 0 };
	bytes_of_box(&bytes, vec3_make(half_x, half_y, half_z));
	return shape_of_bytes(&bytes);
}

struct shape *make_hull(const vec3 *points, uint32_t count)
{
	struct bytes bytes = { 0 };
	bytes_of_hull(&bytes, points, count);
	return shape_of_bytes(&bytes);
}

struct shape *make_plane(vec3 normal, double offset)
{
	struct bytes bytes = { 0 };
	bytes_of_plane(&bytes, normal, offset);
	return shape_of_bytes(&bytes);
}

struct shape *make_mesh(const vec3 *vertices, uint32_t vertex_count, const uint32_t (*triangles)[3],
			uint32_t triangle_count)
{
	struct bytes bytes = { 0 };
	bytes_of_mesh(&bytes, vertices, vertex_count, triangles, triangle_count);
	return shape_of_bytes(&bytes);
}

struct shape *make_polygon(const vec3 *vertices, uint32_t count, double radius)
{
	struct bytes bytes = { 0 };
	bytes_of_polygon(&bytes, vertices, count, radius);
	return shape_of_bytes(&bytes);
}

struct shape *make_terrain(uint32_t cells, double size, double bump, uint64_t seed)
{
	uint32_t side = cells + 1, triangle = 0;
	struct rng rng = rng_seeded(seed);
	vec3 *vertices = heap_alloc(side * side * sizeof *vertices);
	uint32_t(*triangles)[3] = heap_alloc(cells * cells * 2 * sizeof *triangles);
	ASSERT(vertices != NULL && triangles != NULL);
	for (uint32_t z = 0; z < side; z++)
		for (uint32_t x = 0; x < side; x++)
			vertices[z * side + x] =
				vec3_make((x - cells * 0.5) * size, rng_range(&rng, 0, bump),
					  (z - cells * 0.5) * size);
	for (uint32_t z = 0; z < cells; z++)
		for (uint32_t x = 0; x < cells; x++) {
			uint32_t a = z * side + x, b = a + 1, c = a + side, d = c + 1;
			uint32_t two[2][3] = { { a, c, b }, { b, c, d } };
			for (uint32_t i = 0; i < 2; i++, triangle++)
				for (uint32_t k = 0; k < 3; k++)
					triangles[triangle][k] = two[i][k];
		}
	struct shape *shape =
		make_mesh(vertices, side * side, (const uint32_t(*)[3])triangles, triangle);
	heap_free(vertices);
	heap_free(triangles);
	return shape;
}
