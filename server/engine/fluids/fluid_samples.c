/* fluid_samples.c: the samples of shapes; see fluid_boundary.h.
 *
 * Cells have the edge of the wall kernel's radius h and lie symmetrically about the middle of the
 * shape's box. Each has 4³ nodes; of a shape with more than SAMPLES_MAX nodes 2³ or 1. A node stands for
 * the part of its small cube that is inside: of a solid found at eight points, of an open surface from the
 * distance of its middle. The part of the kernel in the shape is the sum over nodes, so its error
 * falls with the square of the pitch. Surfaces, which may be a landscape, are sampled where the fluid
 * is. A shape that is too large even so has no samples: it still stops particles (particle_path.c). Both are
 * counted (columns unsampled and coarse of the system). */
#include "server/engine/fluids/fluid_samples.h"

#include "server/engine/collision/query.h"
#include "server/engine/geometry/closest.h"
#include "server/engine/geometry/intersect_point_mesh.h"
#include "server/engine/geometry/mesh.h"
#include "server/engine/types.h"

enum { SAMPLES_MAX = 1 << 22, MARGIN = 4 };
/* m: the ball that stands for a point in tests for overlap. */
#define POINT 1e-9
/* A point is as near to two triangles if the distances differ by less than this part. */
#define TIE 1e-9

/* ---- what is inside ------------------------------------------------------------------------------- */

static bool is_surface(const struct shape *shape)
{
	return shape->kind == SHAPE_MESH || shape->kind == SHAPE_HEIGHTFIELD;
}

/* The distance of an open surface within `reach`, negative below; `reach` if it is farther. */
static double distance_of_surface(const struct mesh *mesh, vec3 p, double reach)
{
	struct mesh_walk walk;
	uint32_t triangle;
	double least = reach * reach;
	vec3 away = vec3_zero(), normal = vec3_zero();
	ASSERT(reach > 0);
	mesh_walk_init(&walk, mesh, aabb_grow(aabb_of_point(p), reach));
	while (mesh_walk_next(&walk, &triangle)) {
		vec3 corner[3];
		mesh_corners(mesh, triangle, corner);
		struct triangle_point near =
			closest_point_triangle(p, corner[0], corner[1], corner[2]);
		if (near.distance_squared > least * (1 + TIE))
			continue;
		if (near.distance_squared < least * (1 - TIE))
			normal = vec3_zero();
		least = scalar_min(least, near.distance_squared);
		away = vec3_sub(p, near.point);
		normal = vec3_add(normal, mesh_normal(mesh, triangle));
	}
	return vec3_dot(away, normal) < 0 ? -scalar_sqrt(least) : scalar_sqrt(least);
}

/* How many eighths of the small cube are inside. */
static uint32_t inside_of(const struct shape *shape, vec3 centre, double pitch, double radius)
{
	uint32_t count = 0;
	ASSERT(pitch > 0);
	bool closed = shape->kind == SHAPE_MESH && shape->mesh->closed;
	if (is_surface(shape) && !closed) {
		double d = distance_of_surface(shape->mesh, centre, radius + pitch);
		if (d >= radius || d < -radius)
			return 0;
		return (uint32_t)(8 * scalar_clamp(0.5 - d / pitch, 0, 1) + 0.5);
	}
	if (!closed && !shape_overlap_sphere(shape, centre, pitch))
		return 0;
	for (uint32_t corner = 0; corner < 8; corner++) {
		vec3 offset = vec3_make(corner & 1 ? 0.25 : -0.25, corner & 2 ? 0.25 : -0.25,
					corner & 4 ? 0.25 : -0.25);
		vec3 p = vec3_mul_add(centre, offset, pitch);
		count += closed ? intersect_point_mesh(shape->mesh, p) == POINT_MESH_INSIDE
				: shape_overlap_sphere(shape, p, POINT);
	}
	return count;
}

/* ---- making them ---------------------------------------------------------------------------------- */

const struct fluid_samples *fluid_samples_find(const struct fluid_boundary *self,
					       const struct shape *shape, double radius)
{
	ASSERT(radius > 0);
	for (uint32_t i = 0; i < self->samples.count; i++)
		if (self->samples.items[i].serial == shape->serial &&
		    self->samples.items[i].radius == radius)
			return &self->samples.items[i];
	return NULL;
}

/* The nodes of a cell that are inside. */
static enum status sample_cell(struct fluid_samples *self, const struct shape *shape,
			       const uint32_t cell[3])
{
	uint32_t fine = self->fine, nodes = fine * fine * fine;
	double pitch = self->radius / fine;
	ASSERT(fine >= 1 && fine <= FLUID_FINE);
	vec3 corner =
		vec3_mul_add(self->lowest, vec3_make(cell[0], cell[1], cell[2]), self->radius);
	enum status status = ARRAY_RESERVE(&self->items, (uint64_t)self->items.count + nodes);
	if (status != STATUS_OK ||
	    !shape_overlap_sphere(shape, vec3_add(corner, vec3_all(0.5 * self->radius)),
				  2 * self->radius))
		return status;
	for (uint32_t n = 0; n < nodes; n++) {
		vec3 at = vec3_make(n % fine + 0.5, n / fine % fine + 0.5, n / (fine * fine) + 0.5);
		at = vec3_mul_add(corner, at, pitch);
		uint32_t inside = inside_of(shape, at, pitch, self->radius);
		if (inside > 0)
			self->items.items[self->items.count++] = (struct fluid_sample){
				{ (float)at.x, (float)at.y, (float)at.z },
				(float)(pitch * pitch * pitch * inside / 8),
			};
	}
	return status;
}

static enum status sample_shape(struct fluid_samples *self, const struct shape *shape)
{
	uint64_t cells = (uint64_t)self->cells[0] * self->cells[1] * self->cells[2];
	enum status status = ARRAY_RESERVE(&self->starts, cells + 1);
	ASSERT(cells <= SAMPLES_MAX);
	for (uint64_t i = 0; i < cells && status == STATUS_OK; i++) {
		uint32_t n = (uint32_t)i;
		uint32_t cell[3] = { n % self->cells[0], n / self->cells[0] % self->cells[1],
				     n / (self->cells[0] * self->cells[1]) };
		self->starts.items[self->starts.count++] = self->items.count;
		status = sample_cell(self, shape, cell);
	}
	if (status == STATUS_OK)
		self->starts.items[self->starts.count++] = self->items.count;
	return status;
}

/* Chooses the cells: those of the shape's box, of a surface those of `box` and MARGIN around it. The
 * lattice is the shape's own, so what is cut off changes no sample. No cells: the shape is too large. */
static void place_cells(struct fluid_samples *self, const struct shape *shape, struct aabb box)
{
	double layer = is_surface(shape) ? self->radius : 0, count = 1, h = self->radius;
	struct aabb whole = aabb_grow(aabb_make(shape->aabb_min, shape->aabb_max), layer);
	vec3 middle = aabb_centre(whole);
	ASSERT(h > 0);
	self->fine = 0;
	for (uint32_t axis = 0; axis < 3; axis++) {
		double extent = vec3_get(whole.max, axis) - vec3_get(whole.min, axis);
		double cells = scalar_max(scalar_ceil(extent / h), 1), first = 0;
		double low = vec3_get(middle, axis) - 0.5 * cells * h;
		if (is_surface(shape)) {
			double from = (vec3_get(box.min, axis) - low) / h - MARGIN;
			double to = (vec3_get(box.max, axis) - low) / h + MARGIN;
			first = scalar_clamp(scalar_floor(from), 0, cells - 1);
			cells = scalar_clamp(scalar_ceil(to), first + 1, cells) - first;
		}
		count *= cells;
		if (count > SAMPLES_MAX)
			return;
		self->cells[axis] = (uint32_t)cells;
		vec3_set(&self->lowest, axis, low + first * h);
	}
	self->fine = FLUID_FINE;
	while (count * self->fine * self->fine * self->fine > SAMPLES_MAX)
		self->fine /= 2;
}

static void release_one(struct fluid_samples *self)
{
	ARRAY_RELEASE(&self->items);
	ARRAY_RELEASE(&self->starts);
}

enum status fluid_samples_add(struct fluid_boundary *self, const struct shape *shape, double radius,
			      struct aabb box)
{
	uint32_t index = 0;
	while (index < self->samples.count && (self->samples.items[index].serial != shape->serial ||
					       self->samples.items[index].radius != radius))
		index++;
	bool known = index < self->samples.count;
	if (known && (!is_surface(shape) || aabb_contains(self->samples.items[index].region, box)))
		return STATUS_OK;
	enum status status = ARRAY_RESERVE(&self->samples, (uint64_t)self->samples.count + 1);
	if (status != STATUS_OK)
		return status;
	struct fluid_samples samples = { .serial = shape->serial, .radius = radius };
	samples.region = aabb_grow(box, (MARGIN - 1) * radius);
	place_cells(&samples, shape, box);
	ASSERT(samples.fine <= FLUID_FINE);
	if (samples.fine > 0)
		status = sample_shape(&samples, shape);
	if (status != STATUS_OK) {
		release_one(&samples);
		return status;
	}
	if (known)
		release_one(&self->samples.items[index]);
	self->samples.items[index] = samples;
	self->samples.count += !known;
	return STATUS_OK;
}

void fluid_samples_release(struct fluid_boundary *self)
{
	for (uint32_t i = 0; i < self->samples.count; i++)
		release_one(&self->samples.items[i]);
	ARRAY_RELEASE(&self->samples);
}

uint64_t fluid_samples_memory(const struct fluid_boundary *self)
{
	uint64_t bytes = (uint64_t)self->samples.capacity * sizeof(struct fluid_samples);
	for (uint32_t i = 0; i < self->samples.count; i++) {
		const struct fluid_samples *samples = &self->samples.items[i];
		bytes += (uint64_t)samples->items.capacity * sizeof(struct fluid_sample);
		bytes += (uint64_t)samples->starts.capacity * sizeof(uint32_t);
	}
	return bytes;
}

/* ---- reading them --------------------------------------------------------------------------------- */

/* The half-space with the same part of the kernel: its distance, in radii. */
static double distance_of(double part)
{
	double low = 0, high = 1, wanted = scalar_min(part, 1 - part);
	ASSERT(part >= 0);
	if (!(wanted > 0))
		return part >= 1 ? -1 : 1;
	for (uint32_t i = 0; i < 24; i++) {
		double d = 0.5 * (low + high);
		*(fluid_half_part(d) > wanted ? &low : &high) = d;
	}
	return part <= 0.5 ? low : -low;
}

static void add_sample(const struct fluid_sample *sample, vec3 p, double inverse,
		       struct fluid_touch *out)
{
	vec3 d = vec3_make(p.x - (double)sample->at[0], p.y - (double)sample->at[1],
			   p.z - (double)sample->at[2]);
	d = vec3_scale(d, inverse);
	double q = vec3_length(d), volume = (double)sample->volume * inverse * inverse * inverse;
	if (q >= 1)
		return;
	out->part += volume * fluid_kernel_value(q);
	double slope = fluid_kernel_slope(q);
	out->slope = vec3_mul_add(out->slope, d, volume * slope);
}

bool fluid_samples_touch(const struct fluid_samples *self, vec3 p, struct fluid_touch *out)
{
	double inverse = 1 / self->radius;
	vec3 in_cells = vec3_scale(vec3_sub(p, self->lowest), inverse);
	int64_t first[3], last[3];
	*out = (struct fluid_touch){ 0 };
	for (uint32_t axis = 0; axis < 3; axis++) {
		double cell = scalar_floor(vec3_get(in_cells, axis));
		if (self->cells[axis] == 0 || !(cell >= -1) || !(cell <= self->cells[axis]))
			return false;
		first[axis] = cell >= 1 ? (int64_t)cell - 1 : 0;
		last[axis] = MIN_OF((int64_t)cell + 1, (int64_t)self->cells[axis] - 1);
	}
	ASSERT(self->starts.count > 0);
	for (int64_t z = first[2]; z <= last[2]; z++)
		for (int64_t y = first[1]; y <= last[1]; y++) {
			int64_t row = (z * self->cells[1] + y) * self->cells[0];
			uint32_t end = self->starts.items[row + last[0] + 1];
			for (uint32_t i = self->starts.items[row + first[0]]; i < end; i++)
				add_sample(&self->items.items[i], p, inverse, out);
		}
	if (!(out->part > 0))
		return false;
	out->distance = distance_of(out->part);
	return true;
}
