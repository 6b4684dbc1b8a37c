/* fuzz_solid.c: arbitrary bytes as a closed mesh, cut into convex parts and sampled as a distance
 * field.
 *
 * The bytes are a small grid of cubes and displacements of its corners (so that most inputs are
 * closed, many tangled, and some intersect themselves), or, if they begin as a mesh does, canonical
 * bytes of a shape. The result is an answer or a refusal; the volumes of cut parts sum to the
 * whole; parts are closed; and no memory is leaked. */
#include "server/base/heap.h"
#include "server/engine/geometry/decompose.h"
#include "server/engine/geometry/distance_field.h"
#include "tests/lib/closed_meshes.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { NX = 3, NY = 3, NZ = 2, CUBES = NX * NY * NZ };

/* Byte b as a number in [−1, 1]; different bytes often give the same number. */
static double small(uint8_t b)
{
	return ((double)(b % 17) - 8) / 8;
}

static struct shape *shape_of(const uint8_t *data, size_t bytes)
{
	uint8_t filled[CUBES];
	struct shape *shape = NULL;
	if (bytes > 10 && data[0] == SHAPE_MESH && data[1] == 1)
		return shape_cook(data, bytes, NULL, &shape, NULL) == STATUS_OK ? shape : NULL;
	if (bytes < 5)
		return NULL;
	for (uint32_t i = 0; i < CUBES; i++)
		filled[i] = data[i / 8] >> i % 8 & 1;
	filled[0] = 1;
	shape = make_voxels(NX, NY, NZ, filled);
	if (shape == NULL)
		return NULL;
	/* Corners at the same place are moved together. */
	double scale = data[3] % 4 == 0 ? 0 : data[3] % 4 == 1 ? 1e-9 : 0.6;
	struct mesh *mesh = shape->mesh;
	struct bytes canonical = { 0 };
	for (uint32_t i = 0; i < mesh->vertex_count; i++) {
		vec3 p = mesh->vertices[i];
		uint32_t at = 3 * (uint32_t)(p.x + (NX + 1) * (p.y + (NY + 1) * p.z)) + 4;
		double x = small(data[at % bytes]), y = small(data[(at + 1) % bytes]);
		double z = small(data[(at + 2) % bytes]);
		mesh->vertices[i] = vec3_mul_add(p, vec3_make(x, y, z), scale);
	}
	bytes_of_mesh(&canonical, mesh->vertices, mesh->vertex_count,
		      (const uint32_t(*)[3])mesh->triangles, mesh->triangle_count);
	shape_release(shape);
	if (shape_cook(canonical.data, canonical.count, NULL, &shape, NULL) != STATUS_OK)
		shape = NULL;
	bytes_release(&canonical);
	return shape;
}

/* Within each part, every edge is used equally often in both directions. */
static void check_closed(const struct decomposition *d, const struct decompose_part *part)
{
	int64_t sum = 0, square = 0;
	for (uint32_t t = 0; t < part->triangle_count; t++) {
		const uint32_t *corner = d->triangles[part->first_triangle + t];
		for (uint32_t k = 0; k < 3; k++) {
			int64_t a = corner[k], b = corner[(k + 1) % 3];
			ASSERT(a >= part->first_point && a < part->first_point + part->point_count);
			sum += a - b;
			square += (a - b) * (a + b) * (a * b + 1);
		}
	}
	ASSERT(sum == 0);
	ASSERT(square == 0);
}

static void decompose(const struct mesh *mesh, uint32_t choice)
{
	struct decompose_options options = decompose_options_default(mesh);
	struct decomposition *d = NULL;
	struct reason why;
	options.mode = choice % 3;
	/* Fine approximations take seconds, so the fuzzer makes coarse ones only. */
	if (options.mode == DECOMPOSE_CUT_ONLY)
		options.concavity *= choice / 3 % 3;
	else
		options.concavity *= 8 * (1 + choice / 3 % 3);
	options.parts_max = 400;
	enum status status = decompose_mesh(mesh, &options, &d, &why);
	if (status != STATUS_OK) {
		ASSERT(why.status == status);
		ASSERT(memchr(why.text, '\0', sizeof why.text) != NULL);
		return;
	}
	double scale = vec3_distance(mesh->nodes[0].min, mesh->nodes[0].max);
	const struct decompose_report *r = &d->report;
	ASSERT(d->part_count > 0 && d->part_count <= 400);
	ASSERT(r->volume_cut_error <= 1e-11 * scale * scale * scale);
	for (uint32_t i = 0; i < d->part_count; i++)
		check_closed(d, &d->parts[i]);
	decomposition_release(d);
}

/* Exact signs are guaranteed for coordinates that are 0 or over 1e-60 (orient.h). */
static bool in_range_of_signs(const struct mesh *mesh)
{
	for (uint32_t i = 0; i < mesh->vertex_count; i++)
		for (uint32_t axis = 0; axis < 3; axis++) {
			double x = scalar_abs(vec3_get(mesh->vertices[i], axis));
			if (x > 0 && x < 1e-60)
				return false;
		}
	return true;
}

static void sample(const struct mesh *mesh, uint32_t choice)
{
	struct distance_field *field = NULL;
	struct distance_field_mesh surface;
	if (distance_field_create(mesh, 2 + choice % 15, 1 << 22, &field, NULL) != STATUS_OK)
		return;
	ASSERT(field->hits % 2 == 0 || !in_range_of_signs(mesh));
	for (uint32_t i = 0; i < 8; i++) {
		vec3 t = vec3_make(i & 1, i & 2, i & 4),
		     size = vec3_sub(field->solid.max, field->solid.min);
		struct distance_field_point point;
		double value;
		vec3 p = vec3_add(field->solid.min, vec3_hadamard(size, vec3_scale(t, 0.21)));
		bool in = distance_field_value(field, p, &value);
		ASSERT(scalar_is_finite(value));
		if (distance_field_closest(field, p, &point))
			ASSERT(in && vec3_is_finite(point.point));
	}
	if (distance_field_surface(field, &surface) == STATUS_OK) {
		ASSERT(surface.triangle_count % 2 == 0);
		distance_field_mesh_release(&surface);
	}
	distance_field_destroy(field);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	int64_t live = heap_live();
	struct shape *shape = shape_of(data, bytes);
	if (shape != NULL) {
		if (shape->kind == SHAPE_MESH && shape->mesh->triangle_count <= 300) {
			decompose(shape->mesh, data[bytes - 1]);
			sample(shape->mesh, data[bytes - 1] / 9);
		}
		shape_release(shape);
	}
	ASSERT(heap_live() == live);
	return 0;
}
