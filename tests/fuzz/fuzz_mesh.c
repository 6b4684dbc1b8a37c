/* fuzz_mesh.c: uploads of meshes, in a small format: one byte is a coordinate or a corner. A mesh
 * that repair accepts is a valid solid with positive mass; a refusal names the fault and leaves
 * nothing allocated. Both are cooked in every form.
 *
 *   byte 0   bits 0–1 form − 1 (3: the static kind, or with bit 4 boxes), bits 2–3 weld, bits 5–7 spare
 *   byte 1   vertices: 4 … 67
 *   then 3 bytes a vertex, on a lattice of 1/16 m, then 3 bytes a triangle, modulo the vertices */
#include "server/base/bytes.h"
#include "server/base/heap.h"
#include "server/engine/collision/query.h"
#include "server/engine/geometry/hull.h"
#include "server/engine/geometry/mesh.h"
#include "server/engine/geometry/ray.h"
#include "server/engine/geometry/solid.h"

#include <string.h>

enum { VERTICES_MAX = 67, TRIANGLES_MAX = 400 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

struct input {
	bool surface; /* the static kind, which has no form */
	uint32_t form, vertex_count, triangle_count;
	double weld;
	vec3 vertices[VERTICES_MAX];
	uint32_t triangles[TRIANGLES_MAX][3];
};

static bool read_input(const uint8_t *data, size_t bytes, struct input *in)
{
	static const double WELDS[4] = { 0, 1e-6, 0.05, 0.3 };
	if (bytes < 2)
		return false;
	in->form = (data[0] & 3) + 1;
	in->surface = in->form == SOLID_BOXES && (data[0] & 16) == 0;
	in->weld = WELDS[data[0] >> 2 & 3];
	in->vertex_count = 4 + data[1] % 64;
	size_t at = 2, head = at + 3 * (size_t)in->vertex_count;
	if (bytes < head + 12)
		return false;
	for (uint32_t v = 0; v < in->vertex_count; v++, at += 3)
		in->vertices[v] = vec3_make((data[at] - 128) / 16.0, (data[at + 1] - 128) / 16.0,
					    (data[at + 2] - 128) / 16.0);
	in->triangle_count = (uint32_t)MIN_OF((bytes - head) / 3, (size_t)TRIANGLES_MAX);
	for (uint32_t t = 0; t < in->triangle_count; t++, at += 3)
		for (uint32_t k = 0; k < 3; k++)
			in->triangles[t][k] = data[at + k] % in->vertex_count;
	return true;
}

static void write_input(const struct input *in, struct bytes *out)
{
	struct writer writer = writer_into(out);
	write_u8(&writer, in->surface ? SHAPE_MESH : SHAPE_SOLID);
	write_u8(&writer, 1);
	if (!in->surface) {
		write_u8(&writer, (uint8_t)in->form);
		write_u8(&writer, 0);
		write_u16(&writer, in->form == SOLID_FIELD ? 8 : 0);
		write_f64(&writer, in->weld);
		write_f64(&writer, 0);
	}
	write_u32(&writer, in->vertex_count);
	write_u32(&writer, in->triangle_count);
	for (uint32_t v = 0; v < in->vertex_count; v++) {
		write_f64(&writer, in->vertices[v].x);
		write_f64(&writer, in->vertices[v].y);
		write_f64(&writer, in->vertices[v].z);
	}
	for (uint32_t t = 0; t < in->triangle_count; t++)
		for (uint32_t k = 0; k < 3; k++)
			write_u32(&writer, in->triangles[t][k]);
	ASSERT(writer_status(&writer) == STATUS_OK);
}

/* Repairs the mesh. Returns whether the result is a solid. */
static bool check_repair(const struct input *in)
{
	struct mesh_soup soup = { in->vertices, in->vertex_count,
				  (const uint32_t(*)[3])in->triangles, in->triangle_count };
	struct mesh_repair_options options = { .weld = in->weld, .crossings = true };
	struct mesh_report report;
	struct polyhedron *solid = NULL;
	struct reason why;
	char line[64];
	enum status status = mesh_repair(&soup, &options, &solid, &report, &why);
	for (uint32_t i = 0; mesh_report_line(&report, i, line, sizeof line); i++)
		ASSERT(strlen(line) > 0 && i < 64);
	ASSERT((status == STATUS_OK) == (solid != NULL));
	ASSERT(report.closed == (status == STATUS_OK));
	if (status != STATUS_OK) {
		ASSERT(status == STATUS_DEGENERATE && why.status == status);
		return false;
	}
	uint32_t gone =
		report.triangles_collapsed + report.triangles_repeated + report.triangles_cancelled;
	ASSERT(solid->face_count + gone == in->triangle_count);
	ASSERT(solid->vertex_count + report.vertices_welded + report.vertices_unused ==
	       in->vertex_count + report.vertices_split);
	const char *fault = NULL;
	bool valid = polyhedron_is_valid(solid, &fault);
	/* Shells of opposite orientation may give a volume that is not positive (PH-2); every other
	 * check must hold. */
	ASSERT(valid || strncmp(fault, "PH-2", 4) == 0);
	polyhedron_destroy(solid);
	return true;
}

static void check_solid(const struct shape *shape)
{
	const struct solid *solid = shape->solid;
	ASSERT(shape->mass.volume > 0);
	ASSERT(solid->frame.moments.z > 0);
	ASSERT(solid->part_count > 0 && solid->part_count <= SOLID_PARTS_MAX);
	for (uint32_t i = 0; i < solid->part_count; i++) {
		ASSERT(hull_is_valid(solid->parts[i]->hull, 1e-4, NULL));
		ASSERT(solid->parts[i]->extent_min >= shape->extent_min);
	}
	pose at = pose_make(vec3_make(1, 2, 3), quat_normalize(quat_make(1, 0.3, -0.2, 0.5)));
	struct aabb box = aabb_grow(shape_aabb(shape, &at), 1e-9);
	for (uint32_t i = 0; i < solid->part_count; i++)
		ASSERT(aabb_contains_point(box, pose_point(at, solid->parts[i]->hull->centre)));
	/* Every part overlaps itself, and a ray towards its middle hits the solid. */
	pose here = pose_identity();
	ASSERT(shape_overlap(shape, shape, &here));
	vec3 middle = solid->parts[0]->hull->centre;
	struct query_hit hit;
	ASSERT(shape_ray(shape, &here, vec3_add(middle, vec3_make(100, 0, 0)),
			 vec3_make(-200, 0, 0), 1, &hit));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static struct input in;
	int64_t live = heap_live();
	if (!read_input(data, bytes, &in))
		return 0;
	bool closed = check_repair(&in);
	ASSERT(heap_live() == live);
	struct bytes canonical = { 0 };
	struct shape *shape = NULL;
	struct reason why = { 0 };
	write_input(&in, &canonical);
	enum status status = shape_cook(canonical.data, canonical.count, NULL, &shape, &why);
	ASSERT(status == STATUS_OK || why.status == status);
	ASSERT(status != STATUS_OK || in.surface || closed);
	if (status == STATUS_OK && !in.surface)
		check_solid(shape);
	shape_release(shape);
	bytes_release(&canonical);
	ASSERT(heap_live() == live);
	return 0;
}
