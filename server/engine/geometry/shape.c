/* shape.c: cooking canonical bytes into a shape, and its life.
 *
 * The bytes come from the network and are not trusted: every count is compared with the bytes
 * present before anything is allocated for it, every number is checked to be finite and in range
 * before it is used, and the kind itself checks the rest for meaning.
 */
#include "server/engine/geometry/shape.h"

#include "server/base/heap.h"
#include "server/engine/geometry/cook.h"
#include "server/engine/geometry/curve.h"
#include "server/engine/geometry/distance_field_sides.h"
#include "server/engine/geometry/hull.h"
#include "server/engine/geometry/mesh.h"
#include "server/engine/geometry/solid.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { CANONICAL_VERSION = 1 };

static const struct {
	const char *name;
	enum status (*cook)(struct cook *cook);
} KINDS[SHAPE_KINDS] = {
	[SHAPE_SPHERE] = { "sphere", sphere_cook },
	[SHAPE_CAPSULE] = { "capsule", capsule_cook },
	[SHAPE_BOX] = { "box", box_cook },
	[SHAPE_HULL] = { "hull", hull_cook },
	[SHAPE_PLANE] = { "plane", plane_cook },
	[SHAPE_MESH] = { "mesh", mesh_cook },
	[SHAPE_POLYGON] = { "polygon", polygon_cook },
	[SHAPE_SOLID] = { "solid", solid_cook },
	[SHAPE_ROUNDED] = { "rounded", rounded_cook },
	[SHAPE_CYLINDER] = { "cylinder", cylinder_cook },
	[SHAPE_CONE] = { "cone", cone_cook },
	[SHAPE_ELLIPSOID] = { "ellipsoid", ellipsoid_cook },
	[SHAPE_HEIGHTFIELD] = { "heightfield", heightfield_cook },
};

const char *shape_kind_name(enum shape_kind kind)
{
	uint32_t number = (uint32_t)kind;
	return number > 0 && number < SHAPE_KINDS ? KINDS[number].name : "unknown";
}

/* ---- checks ---------------------------------------------------------------------------------- */

static enum status report_truncated(struct cook *cook)
{
	return reason_set(cook->why, STATUS_MALFORMED, -1, "shape",
			  "the canonical bytes end too early");
}

enum status cook_check(struct cook *cook, const char *field, int64_t index, double value,
		       double min, double max)
{
	ASSERT(min <= max);
	if (!scalar_is_finite(value))
		return reason_set(cook->why, STATUS_NOT_FINITE, index, field,
				  "%s is not a finite number", field);
	char text[REASON_NUMBER_BYTES];
	if (value < min || value > max)
		return reason_set(cook->why, STATUS_RANGE, index, field,
				  "%s %s is not between %.10g and %.10g", field,
				  reason_number(value, text), min, max);
	return STATUS_OK;
}

enum status cook_number(struct cook *cook, const char *field, double min, double max, double *out)
{
	*out = read_f64(&cook->reader);
	if (cook->reader.failed)
		return report_truncated(cook);
	return cook_check(cook, field, -1, *out, min, max);
}

enum status cook_points(struct cook *cook, uint32_t count, uint32_t axes, vec3 *out)
{
	ASSERT(axes == 2 || axes == 3);
	static const char *const NAMES[3] = { "x", "y", "z" };
	for (uint32_t i = 0; i < count; i++) {
		out[i] = vec3_zero();
		for (uint32_t axis = 0; axis < axes; axis++) {
			double value = read_f64(&cook->reader);
			if (cook->reader.failed)
				return report_truncated(cook);
			enum status status = cook_check(cook, NAMES[axis], i, value,
							-SHAPE_LENGTH_MAX, SHAPE_LENGTH_MAX);
			if (status != STATUS_OK)
				return status;
			vec3_set(&out[i], axis, value);
		}
	}
	return STATUS_OK;
}

enum status cook_count(struct cook *cook, const char *field, uint32_t min, uint32_t max,
		       uint32_t *out)
{
	ASSERT(min <= max);
	*out = read_u32(&cook->reader);
	if (cook->reader.failed)
		return report_truncated(cook);
	if (*out < min)
		return reason_set(cook->why, STATUS_DEGENERATE, -1, field,
				  "%u %s are given, at least %u are needed", *out, field, min);
	if (*out > max)
		return reason_set(cook->why, STATUS_TOO_LARGE, -1, field,
				  "%u %s are given, at most %u are allowed", *out, field, max);
	return STATUS_OK;
}

enum status cook_expect(struct cook *cook, uint64_t bytes)
{
	if (reader_left(&cook->reader) < bytes)
		return report_truncated(cook);
	if (reader_left(&cook->reader) > bytes)
		return reason_set(cook->why, STATUS_MALFORMED, -1, "shape",
				  "%zu bytes follow the end of the shape",
				  (size_t)(reader_left(&cook->reader) - bytes));
	return STATUS_OK;
}

enum status cook_no_memory(struct cook *cook)
{
	return reason_set(cook->why, STATUS_NO_MEMORY, -1, "shape", "out of memory");
}

void *cook_alloc(struct cook *cook, size_t bytes)
{
	ASSERT(bytes > 0);
	void *block = heap_alloc(bytes);
	if (block != NULL)
		cook->shape->memory_bytes += bytes;
	return block;
}

/* ---- life ------------------------------------------------------------------------------------ */

static void destroy_shape(struct shape *shape)
{
	ASSERT(shape->kind < SHAPE_KINDS);
	if (shape_is_surface(shape))
		heap_free(shape->mesh);
	if (shape->kind == SHAPE_POLYGON)
		heap_free(shape->polygon);
	if (shape->kind == SHAPE_SOLID)
		solid_destroy(shape->solid);
	shape_release(shape->stand_in);
	heap_free(shape->hull);
	heap_free(shape->canonical);
	heap_free(shape);
}

/* Serials are compared for equality only, so the order of threads does not matter. */
static uint64_t next_serial(void)
{
	static _Atomic uint64_t last;
	return atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
}

static enum status read_kind(struct cook *cook, enum shape_kind *kind)
{
	uint32_t number = read_u8(&cook->reader), version = read_u8(&cook->reader);
	if (cook->reader.failed)
		return report_truncated(cook);
	if (number == 0 || number >= SHAPE_KINDS)
		return reason_set(cook->why, STATUS_MALFORMED, -1, "kind",
				  "%u is no kind of shape: kinds are 1 to %d", number,
				  SHAPE_KINDS - 1);
	if (version != CANONICAL_VERSION)
		return reason_set(cook->why, STATUS_VERSION, -1, "version",
				  "canonical bytes have version %u, only %d is supported", version,
				  CANONICAL_VERSION);
	*kind = (enum shape_kind)number;
	return STATUS_OK;
}

static enum status keep_canonical(struct cook *cook, const uint8_t *data, size_t bytes,
				  const uint8_t *name)
{
	struct shape *shape = cook->shape;
	shape->canonical = cook_alloc(cook, bytes);
	if (shape->canonical == NULL)
		return cook_no_memory(cook);
	memcpy(shape->canonical, data, bytes);
	shape->canonical_bytes = bytes;
	if (name != NULL)
		memcpy(shape->name, name, SHAPE_NAME_BYTES);
	return STATUS_OK;
}

enum status shape_cook(const uint8_t *data, size_t bytes, const uint8_t *name, struct shape **out,
		       struct reason *why)
{
	struct cook cook = { .reader = reader_over(data, bytes), .why = why };
	enum shape_kind kind = SHAPE_KINDS;
	enum status status = read_kind(&cook, &kind);
	if (status != STATUS_OK)
		return status;
	cook.shape = heap_alloc_zero(sizeof *cook.shape);
	if (cook.shape == NULL)
		return cook_no_memory(&cook);
	cook.shape->kind = kind;
	cook.shape->memory_bytes = sizeof *cook.shape;
	/* The kind is cooked first, because most bad uploads end there and copying their bytes
	 * would be wasted. */
	status = KINDS[kind].cook(&cook);
	if (status == STATUS_OK)
		status = keep_canonical(&cook, data, bytes, name);
	if (status != STATUS_OK) {
		destroy_shape(cook.shape);
		return status;
	}
	if (kind == SHAPE_HEIGHTFIELD)
		heightfield_attach(cook.shape);
	ASSERT(reader_finish(&cook.reader) == STATUS_OK);
	cook.shape->serial = next_serial();
	atomic_init(&cook.shape->references, 1);
	*out = cook.shape;
	return STATUS_OK;
}

enum status shape_of_points(const vec3 *points, uint32_t count, struct shape **out,
			    struct reason *why)
{
	struct hull_build build;
	struct shape *shape = heap_alloc_zero(sizeof *shape);
	if (shape == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "shape", "out of memory");
	shape->kind = SHAPE_HULL;
	shape->memory_bytes = sizeof *shape;
	enum status status = hull_of_points(points, count, &shape->hull, &build, why);
	if (status == STATUS_OK)
		status = hull_measure(shape, &build.mass, why);
	if (status != STATUS_OK) {
		destroy_shape(shape);
		return status;
	}
	shape->serial = next_serial();
	atomic_init(&shape->references, 1);
	*out = shape;
	return STATUS_OK;
}

struct shape *shape_retain(const struct shape *shape)
{
	struct shape *self = (struct shape *)shape;
	uint32_t before = atomic_fetch_add_explicit(&self->references, 1, memory_order_relaxed);
	ASSERT(before > 0);
	return self;
}

void shape_release(struct shape *shape)
{
	if (shape == NULL)
		return;
	/* Release: this thread's reads happen before the drop. Acquire: the last holder sees them
	 * all. */
	uint32_t before = atomic_fetch_sub_explicit(&shape->references, 1, memory_order_acq_rel);
	ASSERT(before > 0);
	if (before == 1)
		destroy_shape(shape);
}

bool shape_shared(const struct shape *shape)
{
	/* Acquire: when the result is false, all accesses of other holders are over. */
	return atomic_load_explicit(&((struct shape *)shape)->references, memory_order_acquire) > 1;
}

static double field_cells(const struct distance_field *field)
{
	if (field == NULL)
		return 0;
	return (double)field->cells[0] * field->cells[1] * field->cells[2];
}

uint32_t shape_facts(const struct shape *shape, double facts[SHAPE_FACTS_MAX])
{
	uint32_t count = 4;
	facts[0] = facts[1] = facts[2] = 0;
	facts[3] = (double)shape->memory_bytes;
	if (shape->hull != NULL) {
		facts[0] = shape->hull->vertex_count;
		facts[1] = shape->hull->edge_count / 2;
		facts[2] = shape->hull->face_count;
	} else if (shape->kind == SHAPE_ROUNDED) {
		const struct hull *core = shape->stand_in->hull;
		facts[0] = core->vertex_count;
		facts[1] = core->edge_count / 2;
		facts[2] = core->face_count;
	} else if (shape->kind == SHAPE_MESH) {
		facts[0] = shape->mesh->vertex_count;
		facts[2] = shape->mesh->triangle_count;
		facts[count++] = shape->mesh->closed;
	} else if (shape->kind == SHAPE_HEIGHTFIELD) {
		facts[0] = shape->mesh->vertex_count;
		facts[2] = 2.0 * shape->mesh->grid->cells_count;
		facts[count++] = shape->mesh->grid->holes_count;
	} else if (shape->kind == SHAPE_POLYGON) {
		facts[0] = facts[1] = shape->polygon->count;
	} else if (shape->kind == SHAPE_SOLID) {
		facts[0] = shape->solid->vertices;
		facts[1] = 1.5 * shape->solid->faces;
		facts[2] = shape->solid->faces;
		facts[count++] = shape->solid->part_count;
		facts[count++] = shape->solid->volume_parts;
		facts[count++] = shape->solid->frame.radius;
		facts[count++] = field_cells(shape->solid->field);
	}
	ASSERT(count <= SHAPE_FACTS_MAX);
	return count;
}

bool shape_warning(const struct shape *shape, uint32_t i, char *text, size_t bytes)
{
	if (shape->kind == SHAPE_SOLID)
		return solid_warning(shape, i, text, bytes);
	if (shape->kind != SHAPE_MESH || shape->mesh->closed)
		return false;
	if (i == 0)
		snprintf(text, bytes, "not closed: %u edges do not have two triangles that agree",
			 shape->mesh->loose_edges);
	else if (i == 1 && shape->mesh->junctions > 0)
		snprintf(
			text, bytes,
			"T-junctions: on %u edges lies a vertex of another triangle; only soft-step "
			"lets bodies slide over such seams",
			shape->mesh->junctions);
	else
		return false;
	return true;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

bool shape_is_field(const struct shape *shape)
{
	return shape->kind == SHAPE_SOLID && shape->solid->field != NULL;
}

bool shape_is_sided(const struct shape *field, const struct shape *other)
{
	if (!shape_is_field(field) || shape_is_ground(other))
		return false;
	return shape_is_field(other) || shape_piece_count(other) == 1;
}

const struct shape *shape_exact(const struct shape *shape)
{
	return shape_is_field(shape) ? shape->solid->surface : shape;
}

uint32_t shape_piece_count(const struct shape *shape)
{
	if (shape_is_surface(shape))
		return shape->mesh->triangle_count;
	if (shape_is_field(shape))
		return shape->solid->sides->count;
	return shape->kind == SHAPE_SOLID ? shape->solid->part_count : 1;
}

struct aabb shape_piece_aabb(const struct shape *shape, uint32_t piece)
{
	VALIDATE(shape->kind != SHAPE_PLANE);
	VALIDATE(piece < shape_piece_count(shape));
	if (shape_is_surface(shape))
		return mesh_triangle_aabb(shape->mesh, piece);
	if (shape_is_field(shape))
		return shape->solid->sides->box[piece];
	const struct shape *part = shape_part(shape, &piece);
	return aabb_make(part->aabb_min, part->aabb_max);
}

const struct shape *shape_part(const struct shape *shape, uint32_t *child)
{
	if (shape->kind != SHAPE_SOLID || shape_is_field(shape))
		return shape;
	ASSERT(*child < shape->solid->part_count);
	const struct shape *part = shape->solid->parts[*child];
	*child = 0;
	return part;
}

/* ---- bounds ---------------------------------------------------------------------------------- */

static struct aabb box_of_points(const vec3 *points, uint32_t count, mat3 r, vec3 position)
{
	struct aabb box = aabb_empty();
	for (uint32_t i = 0; i < count; i++)
		box = aabb_add_point(box, mat3_mul_vec(r, points[i]));
	return aabb_make(vec3_add(box.min, position), vec3_add(box.max, position));
}

static struct aabb box_of_plane(vec3 normal, double offset)
{
	struct aabb box = aabb_of_centre(vec3_zero(), vec3_all(AABB_EVERYWHERE));
	for (uint32_t axis = 0; axis < 3; axis++) {
		double n = vec3_get(normal, axis);
		vec3 others = normal;
		vec3_set(&others, axis, 0);
		if (!vec3_equal(others, vec3_zero()))
			continue;
		vec3_set(n > 0 ? &box.max : &box.min, axis, offset / n);
	}
	return box;
}

/* Half extents of the box around a box of half extents `half` rotated by r. */
static vec3 rotated_half(mat3 r, vec3 half)
{
	vec3 x = vec3_abs(r.x), y = vec3_abs(r.y), z = vec3_abs(r.z);
	return vec3_add(vec3_add(vec3_scale(x, half.x), vec3_scale(y, half.y)),
			vec3_scale(z, half.z));
}

static struct aabb box_of_box(struct aabb box, mat3 r, vec3 position)
{
	vec3 centre = vec3_add(position, mat3_mul_vec(r, aabb_centre(box)));
	return aabb_of_centre(centre, rotated_half(r, aabb_half(box)));
}

static struct aabb box_of_parts(const struct solid *solid, mat3 r, vec3 position)
{
	struct aabb box = aabb_empty();
	for (uint32_t i = 0; i < solid->part_count; i++) {
		const struct hull *hull = solid->parts[i]->hull;
		box = aabb_union(box,
				 box_of_points(hull->vertices, hull->vertex_count, r, position));
	}
	return box;
}

/* Not inlined: its curve would lengthen the frame of every other kind. */
static __attribute__((noinline)) struct aabb box_of_curve(const struct shape *shape, const pose *at)
{
	struct curve curve = curve_of(shape);
	mat3 rotation = mat3_from_quat(at->rotation);
	return curve_box(&curve, &rotation, at->position);
}

struct aabb shape_aabb(const struct shape *shape, const pose *at)
{
	mat3 r = mat3_from_quat(at->rotation);
	vec3 p = at->position;
	switch (shape->kind) {
	case SHAPE_SPHERE:
		return aabb_of_centre(p, vec3_all(shape->sphere.radius));
	case SHAPE_CAPSULE:
		return aabb_grow(
			aabb_of_centre(p, vec3_scale(vec3_abs(r.y), shape->capsule.half_length)),
			shape->capsule.radius);
	case SHAPE_BOX:
		return aabb_of_centre(p, rotated_half(r, shape->box.half));
	case SHAPE_HULL:
		return box_of_points(shape->hull->vertices, shape->hull->vertex_count, r, p);
	case SHAPE_MESH:
		return box_of_points(shape->mesh->vertices, shape->mesh->vertex_count, r, p);
	case SHAPE_HEIGHTFIELD:
		return box_of_box(aabb_make(shape->aabb_min, shape->aabb_max), r, p);
	case SHAPE_POLYGON:
		return aabb_grow(
			box_of_points(shape->polygon->vertices, shape->polygon->count, r, p),
			shape->polygon->radius);
	case SHAPE_SOLID:
		return box_of_parts(shape->solid, r, p);
	case SHAPE_ROUNDED:
		return aabb_grow(box_of_points(shape->stand_in->hull->vertices,
					       shape->stand_in->hull->vertex_count, r, p),
				 shape->rounded.radius);
	case SHAPE_CYLINDER:
	case SHAPE_CONE:
	case SHAPE_ELLIPSOID:
		return box_of_curve(shape, at);
	case SHAPE_PLANE:
	case SHAPE_KINDS:
		break;
	}
	ASSERT(shape->kind == SHAPE_PLANE);
	vec3 normal = mat3_mul_vec(r, shape->plane.normal);
	return box_of_plane(normal, shape->plane.offset + vec3_dot(normal, p));
}
