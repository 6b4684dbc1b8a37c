/* solid.c: cooking a closed mesh that moves.
 *
 * Steps: read and check the numbers; repair or refuse (mesh_repair.h); take mass, principal frame
 * and rotation sphere from the repaired mesh; then make the collision form.
 *
 *   hull    one part, the hull of the vertices; or, with fewer vertices requested or allowed, of those that
 *           are farthest in as many directions. The deviation is how far others protrude from it.
 *   parts   the convex decomposition (decompose.h); each part's hull is a part. Parts too thin for a hull
 *           are left out and counted.
 *   field   a distance field (distance_field.h) and the sides of its contacts; the hull bounds it.
 *   boxes   the boxes of the mesh's hierarchy at a depth (ch4-5 X2): each is a part. Together they hold the
 *           surface, so what touches the mesh touches a box; how many there are, and so what a test
 *           costs, does not depend on the number of triangles. Nothing fills the inside.
 *
 * What goes wrong: the decomposition may refuse (more parts than allowed), and the shape is refused
 * with its reason. Hulls of parts may protrude from the mesh by the tolerance; a warning gives
 * their total volume, so that a bad decomposition is visible.
 */
#include "server/engine/geometry/solid.h"

#include "server/base/heap.h"
#include "server/engine/geometry/cook.h"
#include "server/engine/geometry/decompose.h"
#include "server/engine/geometry/distance_field_sides.h"
#include "server/engine/geometry/hull.h"
#include "server/engine/geometry/mesh.h"
#include "server/engine/geometry/support.h"
#include "server/engine/math/trig.h"

#include <stdio.h>

/* rad: π (3 − √5). Successive directions never align, so they cover the sphere evenly. */
#define GOLDEN_ANGLE 2.39996322972865332223

/* Bytes allowed for a field: 256 cells on each axis of a compact solid need a few tens of millions. */
#define FIELD_BYTES_MAX ((size_t)256 << 20)

struct solid_request {
	uint32_t form, detail;
	double weld, tolerance;
	uint32_t vertices, triangles;
};

void solid_destroy(struct solid *self)
{
	if (self == NULL)
		return;
	for (uint32_t i = 0; i < self->part_count; i++)
		shape_release(self->parts[i]);
	heap_free(self->parts);
	heap_free(self->mesh);
	if (self->field != NULL)
		distance_field_destroy(self->field);
	if (self->sides != NULL)
		field_sides_release(self->sides);
	heap_free(self->sides);
	heap_free(self->surface);
	heap_free(self);
}

/* ---- reading ---------------------------------------------------------------------------------- */

static enum status check_request(struct cook *cook, const struct solid_request *request)
{
	ASSERT(request->vertices >= 4 && request->triangles >= 4);
	static const uint32_t MOST[] = { 0, SHAPE_HULL_VERTICES_MAX, SOLID_PARTS_MAX,
					 SOLID_CELLS_MAX, SOLID_DEPTH_MAX };
	static const uint32_t LEAST[] = { 0, SOLID_HULL_LEAST, 1, 2, 1 };
	if (request->form < SOLID_HULL || request->form > SOLID_BOXES)
		return reason_set(cook->why, STATUS_RANGE, -1, "form",
				  "form %u is none of 1 (hull), 2 (parts), 3 (field), 4 (boxes)",
				  request->form);
	if (request->detail != 0 &&
	    (request->detail > MOST[request->form] || request->detail < LEAST[request->form]))
		return reason_set(cook->why, STATUS_RANGE, -1, "detail",
				  "detail %u is neither 0 nor between %u and %u", request->detail,
				  LEAST[request->form], MOST[request->form]);
	if (request->weld != 0 && request->weld < MESH_WELD_MIN)
		return reason_set(cook->why, STATUS_RANGE, -1, "weld",
				  "weld %.10g is neither 0 nor at least %g", request->weld,
				  MESH_WELD_MIN);
	if (request->tolerance != 0 && request->form != SOLID_PARTS)
		return reason_set(cook->why, STATUS_RANGE, -1, "tolerance",
				  "tolerance %g m is given, but only form 2 (parts) has one: use 0",
				  request->tolerance);
	return STATUS_OK;
}

static enum status read_request(struct cook *cook, struct solid_request *request)
{
	request->form = read_u8(&cook->reader);
	uint32_t reserved = read_u8(&cook->reader);
	request->detail = read_u16(&cook->reader);
	enum status status = cook_number(cook, "weld", 0, 1, &request->weld);
	if (status == STATUS_OK)
		status = cook_number(cook, "tolerance", 0, SHAPE_LENGTH_MAX, &request->tolerance);
	if (status == STATUS_OK)
		status = cook_count(cook, "vertices", 4, SHAPE_MESH_VERTICES_MAX,
				    &request->vertices);
	if (status == STATUS_OK)
		status = cook_count(cook, "triangles", 4, SHAPE_MESH_TRIANGLES_MAX,
				    &request->triangles);
	if (status == STATUS_OK)
		status = cook_expect(cook, (uint64_t)request->vertices * 24 +
						   (uint64_t)request->triangles * 12);
	if (status == STATUS_OK && reserved != 0)
		status = reason_set(cook->why, STATUS_RANGE, -1, "reserved",
				    "the reserved byte is %u, it must be 0", reserved);
	return status == STATUS_OK ? check_request(cook, request) : status;
}

static enum status read_triangles(struct cook *cook, const struct solid_request *request,
				  uint32_t (*triangles)[3])
{
	for (uint32_t t = 0; t < request->triangles; t++)
		for (uint32_t k = 0; k < 3; k++) {
			triangles[t][k] = read_u32(&cook->reader);
			if (triangles[t][k] >= request->vertices)
				return reason_set(cook->why, STATUS_RANGE, t, "triangles",
						  "triangle %u names vertex %u of %u", t,
						  triangles[t][k], request->vertices);
		}
	return STATUS_OK;
}

static enum status read_solid(struct cook *cook, const struct solid_request *request,
			      struct polyhedron **out)
{
	struct solid *solid = cook->shape->solid;
	size_t bytes = request->vertices * sizeof(vec3) + (size_t)request->triangles * 12;
	vec3 *vertices = heap_alloc(bytes);
	if (vertices == NULL)
		return cook_no_memory(cook);
	uint32_t(*triangles)[3] = (uint32_t(*)[3])(vertices + request->vertices);
	enum status status = cook_points(cook, request->vertices, 3, vertices);
	if (status == STATUS_OK)
		status = read_triangles(cook, request, triangles);
	struct mesh_soup soup = { vertices, request->vertices, (const uint32_t(*)[3])triangles,
				  request->triangles };
	struct mesh_repair_options options = { .weld = request->weld, .crossings = true };
	if (status == STATUS_OK)
		status = mesh_repair(&soup, &options, out, &solid->report, cook->why);
	heap_free(vertices);
	return status;
}

/* ---- collision forms -------------------------------------------------------------------------- */

static enum status room_for_parts(struct cook *cook, uint32_t count)
{
	struct solid *solid = cook->shape->solid;
	solid->parts = cook_alloc(cook, MAX_OF(count, 1u) * sizeof *solid->parts);
	return solid->parts == NULL ? cook_no_memory(cook) : STATUS_OK;
}

/* Adds the hull of a part. Errors as hull_of_points; the caller decides about thin parts. */
static enum status add_part(struct cook *cook, const vec3 *points, uint32_t count)
{
	ASSERT(count > 0);
	struct solid *solid = cook->shape->solid;
	struct shape *part;
	enum status status = shape_of_points(points, count, &part, cook->why);
	if (status != STATUS_OK)
		return status;
	solid->parts[solid->part_count++] = part;
	solid->volume_parts += part->mass.volume;
	cook->shape->memory_bytes += part->memory_bytes;
	return STATUS_OK;
}

/* Direction i of n, spread evenly over the sphere by the golden angle. */
static vec3 direction_of(uint32_t i, uint32_t n)
{
	VALIDATE(i < n);
	double z = 1 - (2.0 * i + 1) / n, r = scalar_sqrt(1 - z * z), angle = i * GOLDEN_ANGLE;
	return vec3_make(r * trig_cos(angle), r * trig_sin(angle), z);
}

/* Writes the vertices that are farthest in at least one of n directions, in their order; returns
 * the count. */
static uint32_t take_farthest(const struct polyhedron *mesh, uint32_t n, uint8_t *taken,
			      vec3 *points)
{
	ASSERT(mesh->vertex_count > 0);
	uint32_t count = 0;
	for (uint32_t v = 0; v < mesh->vertex_count; v++)
		taken[v] = 0;
	for (uint32_t i = 0; i < n; i++)
		taken[support_points(mesh->vertices, mesh->vertex_count, direction_of(i, n))
			      .index] = 1;
	for (uint32_t v = 0; v < mesh->vertex_count; v++)
		if (taken[v])
			points[count++] = mesh->vertices[v];
	ASSERT(count > 0 && count <= n);
	return count;
}

/* The greatest distance, m, by which vertices of the mesh protrude from a hull. */
static double outside_distance(const struct hull *hull, const struct polyhedron *mesh)
{
	double most = 0;
	for (uint32_t f = 0; f < hull->face_count; f++) {
		vec3 n = hull->faces[f].normal;
		vec3 far = support_points(mesh->vertices, mesh->vertex_count, n).point;
		most = scalar_max(most, vec3_dot(n, far) - hull->faces[f].offset);
	}
	ASSERT(most >= 0);
	return most;
}

static enum status make_simple_hull(struct cook *cook, const struct polyhedron *mesh, uint32_t most)
{
	ASSERT(most >= SOLID_HULL_LEAST);
	struct solid *solid = cook->shape->solid;
	vec3 *points = heap_alloc(most * sizeof *points + mesh->vertex_count);
	if (points == NULL)
		return cook_no_memory(cook);
	uint32_t count = take_farthest(mesh, most, (uint8_t *)(points + most), points);
	enum status status = add_part(cook, points, count);
	heap_free(points);
	if (status == STATUS_OK)
		solid->deviation = outside_distance(solid->parts[0]->hull, mesh);
	return status;
}

/* The hull of all vertices, or, where that would have too many, of those farthest in so many
 * directions. */
static enum status make_hull(struct cook *cook, const struct solid_request *request,
			     const struct polyhedron *mesh)
{
	bool requested = request->form == SOLID_HULL && request->detail > 0;
	uint32_t most = requested ? request->detail : SHAPE_HULL_VERTICES_MAX;
	enum status status = room_for_parts(cook, 1);
	if (status == STATUS_OK && !requested && mesh->vertex_count <= SHAPE_CLOUD_MAX) {
		status = add_part(cook, mesh->vertices, mesh->vertex_count);
		if (status != STATUS_TOO_LARGE)
			return status;
		status = STATUS_OK;
	}
	return status == STATUS_OK ? make_simple_hull(cook, mesh, most) : status;
}

static enum status add_parts(struct cook *cook, const struct decomposition *made)
{
	ASSERT(made->part_count > 0);
	struct solid *solid = cook->shape->solid;
	enum status status = room_for_parts(cook, made->part_count);
	for (uint32_t i = 0; i < made->part_count && status == STATUS_OK; i++) {
		const struct decompose_part *part = &made->parts[i];
		status = add_part(cook, made->points + part->first_point, part->point_count);
		if (status == STATUS_DEGENERATE) {
			solid->parts_thin++;
			status = STATUS_OK;
		}
	}
	if (status == STATUS_OK && solid->part_count == 0)
		status = reason_set(cook->why, STATUS_DEGENERATE, -1, "triangles",
				    "every part is too thin for a hull (under %g m)",
				    SHAPE_LENGTH_MIN);
	solid->approximated = made->report.approximated;
	solid->deviation = scalar_max(made->report.concavity, made->report.deviation);
	return status;
}

static enum status make_parts(struct cook *cook, const struct solid_request *request,
			      const struct mesh *mesh)
{
	struct decompose_options options = decompose_options_default(mesh);
	struct decomposition *made = NULL;
	options.parts_max = request->detail > 0 ? request->detail : SOLID_PARTS_DEFAULT;
	if (request->tolerance > 0)
		options.concavity = request->tolerance;
	enum status status = decompose_mesh(mesh, &options, &made, cook->why);
	if (status != STATUS_OK)
		return status;
	status = add_parts(cook, made);
	decomposition_release(made);
	return status;
}

static enum status make_field(struct cook *cook, const struct solid_request *request,
			      const struct mesh *mesh)
{
	ASSERT(request->form == SOLID_FIELD);
	struct solid *solid = cook->shape->solid;
	uint32_t cells = request->detail > 0 ? request->detail : SOLID_CELLS_DEFAULT;
	enum status status =
		distance_field_create(mesh, cells, FIELD_BYTES_MAX, &solid->field, cook->why);
	if (status != STATUS_OK)
		return status;
	cook->shape->memory_bytes += solid->field->bytes;
	solid->surface = heap_alloc_zero(sizeof *solid->surface);
	solid->sides = heap_alloc_zero(sizeof *solid->sides);
	if (solid->surface == NULL || solid->sides == NULL)
		return cook_no_memory(cook);
	cook->shape->memory_bytes +=
		sizeof *solid->surface + sizeof *solid->sides + mesh->triangle_count;
	solid->surface->kind = SHAPE_MESH;
	solid->surface->mesh = solid->mesh;
	return field_sides_init(solid->sides, mesh) == STATUS_OK ? STATUS_OK : cook_no_memory(cook);
}

/* A part for the box of a node, which is at least as thick as a hull must be. */
static enum status add_box(struct cook *cook, const struct mesh_node *node)
{
	vec3 middle = vec3_scale(vec3_add(node->min, node->max), 0.5);
	vec3 half = vec3_scale(vec3_sub(node->max, node->min), 0.5), corners[8];
	ASSERT(half.x >= 0 && half.y >= 0 && half.z >= 0);
	half = vec3_make(scalar_max(half.x, SHAPE_LENGTH_MIN), scalar_max(half.y, SHAPE_LENGTH_MIN),
			 scalar_max(half.z, SHAPE_LENGTH_MIN));
	for (uint32_t i = 0; i < 8; i++)
		corners[i] = vec3_add(middle,
				      vec3_make(i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y,
						i & 4 ? half.z : -half.z));
	double size = 2 * vec3_length(half);
	cook->shape->solid->deviation = scalar_max(cook->shape->solid->deviation, size);
	return add_part(cook, corners, 8);
}

/* The nodes at the depth, and leaves above it, from left to right. */
static enum status make_boxes(struct cook *cook, const struct solid_request *request,
			      const struct mesh *mesh)
{
	struct {
		uint32_t node, depth;
	} stack[SOLID_DEPTH_MAX + 1] = { { 0, 0 } };
	uint32_t count = 1, depth = request->detail > 0 ? request->detail : SOLID_DEPTH_DEFAULT;
	ASSERT(depth <= SOLID_DEPTH_MAX && mesh->node_count > 0);
	enum status status = room_for_parts(cook, 1u << depth);
	while (count > 0 && status == STATUS_OK) {
		uint32_t at = stack[--count].node, down = stack[count].depth;
		const struct mesh_node *node = &mesh->nodes[at];
		ASSERT(at < mesh->node_count && count + 2 <= COUNT_OF(stack) + 1);
		if (node->count > 0 || down == depth) {
			status = add_box(cook, node);
			continue;
		}
		stack[count].node = node->first;
		stack[count++].depth = down + 1;
		stack[count].node = at + 1;
		stack[count++].depth = down + 1;
	}
	return status;
}

/* Builds the mesh with its hierarchy, which all forms but the hull need, and the form from it. */
static enum status make_by_mesh(struct cook *cook, const struct solid_request *request,
				const struct polyhedron *polyhedron)
{
	ASSERT(request->form != SOLID_HULL);
	struct solid *solid = cook->shape->solid;
	enum status status = mesh_of_triangles(polyhedron->vertices, polyhedron->vertex_count,
					       (const uint32_t(*)[3])polyhedron->faces,
					       polyhedron->face_count, &solid->mesh, cook->why);
	if (status != STATUS_OK)
		return status;
	cook->shape->memory_bytes += mesh_bytes(polyhedron->vertex_count, polyhedron->face_count);
	if (request->form == SOLID_PARTS)
		return make_parts(cook, request, solid->mesh);
	if (request->form == SOLID_BOXES)
		return make_boxes(cook, request, solid->mesh);
	return make_field(cook, request, solid->mesh);
}

/* ---- cooking ---------------------------------------------------------------------------------- */

static void measure_solid(struct shape *shape)
{
	ASSERT(shape->solid->part_count > 0);
	const struct solid *solid = shape->solid;
	struct aabb box = aabb_empty();
	shape->extent_min = SCALAR_MAX;
	shape->radius_max = solid->frame.radius;
	for (uint32_t i = 0; i < solid->part_count; i++) {
		const struct shape *part = solid->parts[i];
		box = aabb_union(box, aabb_make(part->aabb_min, part->aabb_max));
		/* The thinnest part determines the extent. */
		shape->extent_min = scalar_min(shape->extent_min, part->extent_min);
		for (uint32_t v = 0; v < part->hull->vertex_count; v++)
			shape->radius_max =
				scalar_max(shape->radius_max, vec3_distance(part->hull->vertices[v],
									    shape->mass.centre));
	}
	/* The depth of a field is unknown when it is so coarse that no node is inside. */
	if (solid->field != NULL && solid->field->deepest < 0)
		shape->extent_min = scalar_min(shape->extent_min, -solid->field->deepest);
	shape->aabb_min = box.min;
	shape->aabb_max = box.max;
	if (solid->surface != NULL) {
		solid->surface->aabb_min = box.min;
		solid->surface->aabb_max = box.max;
	}
}

static enum status make_solid(struct cook *cook, const struct solid_request *request,
			      const struct polyhedron *mesh)
{
	struct shape *shape = cook->shape;
	shape->mass = mass_of_polyhedron(mesh);
	if (!(shape->mass.volume > 0))
		return reason_set(cook->why, STATUS_DEGENERATE, -1, "triangles",
				  "the shells enclose no volume in all");
	shape->solid->frame = solid_frame_of(&shape->mass, mesh->vertices, mesh->vertex_count);
	ASSERT(shape->solid->frame.radius > 0);
	shape->solid->vertices = mesh->vertex_count;
	shape->solid->faces = mesh->face_count;
	if (!(shape->solid->frame.moments.z > 0))
		return reason_set(
			cook->why, STATUS_DEGENERATE, -1, "triangles",
			"the least moment of inertia is not positive: the mesh is too flat");
	enum status status = STATUS_OK;
	if (request->form == SOLID_HULL || request->form == SOLID_FIELD)
		status = make_hull(cook, request, mesh);
	if (status == STATUS_OK && request->form != SOLID_HULL)
		status = make_by_mesh(cook, request, mesh);
	return status;
}

enum status solid_cook(struct cook *cook)
{
	ASSERT(cook->shape->kind == SHAPE_SOLID);
	struct solid_request request;
	struct polyhedron *mesh = NULL;
	enum status status = read_request(cook, &request);
	if (status != STATUS_OK)
		return status;
	struct solid *solid = heap_alloc_zero(sizeof *solid);
	if (solid == NULL)
		return cook_no_memory(cook);
	cook->shape->solid = solid;
	cook->shape->memory_bytes += sizeof *solid;
	solid->form = (enum solid_form)request.form;
	status = read_solid(cook, &request, &mesh);
	if (status == STATUS_OK)
		status = make_solid(cook, &request, mesh);
	if (status == STATUS_OK)
		measure_solid(cook->shape);
	polyhedron_destroy(mesh);
	return status;
}

/* ---- texts ------------------------------------------------------------------------------------ */

bool solid_warning(const struct shape *shape, uint32_t i, char *text, size_t bytes)
{
	const struct solid *solid = shape->solid;
	uint32_t lines = 0;
	while (mesh_report_line(&solid->report, lines, text, bytes))
		if (lines++ == i)
			return true;
	i -= lines;
	if (solid->parts_thin > 0 && i-- == 0) {
		snprintf(text, bytes, "%u parts left out, too thin for a hull", solid->parts_thin);
		return true;
	}
	if (solid->approximated > 0 && i-- == 0) {
		snprintf(text, bytes, "%u pieces could not be cut and were approximated",
			 solid->approximated);
		return true;
	}
	if (solid->form == SOLID_HULL && solid->deviation > 0 && i-- == 0) {
		snprintf(text, bytes, "the hull was simplified: vertices protrude by up to %.3g m",
			 solid->deviation);
		return true;
	}
	if (solid->form == SOLID_BOXES && i-- == 0) {
		snprintf(text, bytes, "%u boxes stand for %u triangles, off by up to %.3g m",
			 solid->part_count, solid->faces, solid->deviation);
		return true;
	}
	double excess = solid->volume_parts / shape->mass.volume - 1;
	if (solid->form == SOLID_PARTS && scalar_abs(excess) > 1e-9 && i == 0) {
		snprintf(text, bytes, "the parts' volume differs from the mesh's by %+.3g %%",
			 100 * excess);
		return true;
	}
	return false;
}
