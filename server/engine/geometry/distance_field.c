/* distance_field.c: queries of a field: values, gradients, nearest points (app G-05 … G-07).
 *
 * A value is trilinear in its cell: of edge c in a brick, of 8 c elsewhere. Node values are exact
 * distances, so an interpolated value is off by at most the mean way to the nodes, √3/2 of the
 * cell, and by O(c²) of curvature where the surface is smooth. Across the border between bricks and
 * bare blocks values jump by no more than that; no bare block contains surface.
 *
 * What goes wrong: on the medial axis, where two sides are equally near, the gradient vanishes and
 * there is no direction; the queries return false. The search for the nearest point moves by d
 * against the gradient until d is small; where a medial axis bends the gradient it needs several
 * iterations.
 */
#include "server/engine/geometry/distance_field.h"

#include "server/engine/geometry/distance_field_cell.h"

enum { SIDE = DISTANCE_FIELD_BRICK + 1 };

/* A gradient shorter than this is no direction; its length is 1 almost everywhere. */
#define GRADIENT_MIN 0.01

static double mix_values(double low, double high, double t)
{
	return low + t * (high - low);
}

/* Values at the corners: bits 0, 1, 2 of the index select the far corner in x, y, z. */
static double trilinear(const double v[8], vec3 t)
{
	double near = mix_values(mix_values(v[0], v[1], t.x), mix_values(v[2], v[3], t.x), t.y);
	double far = mix_values(mix_values(v[4], v[5], t.x), mix_values(v[6], v[7], t.x), t.y);
	return mix_values(near, far, t.z);
}

static double coarse_value(const struct distance_field *self, const uint32_t block[3], vec3 t)
{
	VALIDATE(block[0] < self->blocks[0] && block[1] < self->blocks[1]);
	VALIDATE(block[2] < self->blocks[2]);
	size_t nx = self->blocks[0] + 1, ny = self->blocks[1] + 1;
	const float *at = self->coarse + block[0] + nx * (block[1] + ny * block[2]);
	double v[8];
	for (uint32_t i = 0; i < 8; i++)
		v[i] = (double)at[(i & 1) + nx * ((i >> 1 & 1) + ny * (i >> 2))];
	return trilinear(v, t);
}

bool distance_field_cell(const struct distance_field *self, vec3 cells, double *value)
{
	uint32_t block[3], local[3];
	vec3 fine, coarse;
	for (uint32_t axis = 0; axis < 3; axis++) {
		uint32_t cell = 0;
		double at = vec3_get(cells, axis);
		if (!scalar_to_u32(at, &cell))
			cell = 0;
		cell = MIN_OF(cell, self->cells[axis] - 1);
		block[axis] = cell / DISTANCE_FIELD_BRICK;
		local[axis] = cell % DISTANCE_FIELD_BRICK;
		vec3_set(&fine, axis, at - cell);
		vec3_set(&coarse, axis,
			 (at - block[axis] * DISTANCE_FIELD_BRICK) / DISTANCE_FIELD_BRICK);
	}
	uint32_t brick =
		self->brick_of[block[0] +
			       self->blocks[0] * (block[1] + (size_t)self->blocks[1] * block[2])];
	if (brick == UINT32_MAX) {
		*value = coarse_value(self, block, coarse);
		return false;
	}
	VALIDATE(brick < self->brick_count);
	const int16_t *at = self->bricks[brick] + local[0] + SIDE * (local[1] + SIDE * local[2]);
	double v[8];
	for (uint32_t i = 0; i < 8; i++)
		v[i] = at[(i & 1) + SIDE * ((i >> 1 & 1) + SIDE * (i >> 2))];
	*value = trilinear(v, fine) * (self->cell * DISTANCE_FIELD_QUANTUM);
	return true;
}

/* Converts p to cells from node 0; false outside the grid. */
static bool to_cells(const struct distance_field *self, vec3 p, vec3 *cells)
{
	bool in = true;
	*cells = vec3_scale(vec3_sub(p, self->origin), 1 / self->cell);
	for (uint32_t axis = 0; axis < 3; axis++) {
		double at = vec3_get(*cells, axis);
		in = in && at >= 0 && at <= self->cells[axis];
	}
	return in;
}

double distance_field_bound(const struct distance_field *self, vec3 p)
{
	vec3 cells;
	double value;
	if (!to_cells(self, p, &cells))
		return vec3_distance(p, vec3_min(vec3_max(p, self->solid.min), self->solid.max));
	bool fine = distance_field_cell(self, cells, &value);
	return value - (fine ? 1 : DISTANCE_FIELD_BRICK) * 0.87 * self->cell;
}

bool distance_field_value(const struct distance_field *self, vec3 p, double *value)
{
	vec3 cells;
	if (!to_cells(self, p, &cells)) {
		*value = vec3_distance(p, vec3_min(vec3_max(p, self->solid.min), self->solid.max));
		return false;
	}
	distance_field_cell(self, cells, value);
	return true;
}

vec3 distance_field_slope(const struct distance_field *self, vec3 cells)
{
	VALIDATE(self->cell > 0);
	vec3 rise = vec3_zero();
	for (uint32_t axis = 0; axis < 3; axis++) {
		vec3 low = cells, high = cells;
		double below, above, at = vec3_get(cells, axis);
		double from = scalar_max(at - 1, 0), to = scalar_min(at + 1, self->cells[axis]);
		vec3_set(&low, axis, from);
		vec3_set(&high, axis, to);
		distance_field_cell(self, low, &below);
		distance_field_cell(self, high, &above);
		vec3_set(&rise, axis, (above - below) / ((to - from) * self->cell));
	}
	return rise;
}

bool distance_field_gradient(const struct distance_field *self, vec3 p, vec3 *gradient)
{
	vec3 cells;
	double length;
	if (!to_cells(self, p, &cells))
		return false;
	*gradient = vec3_normalize_length(distance_field_slope(self, cells), &length);
	return length > GRADIENT_MIN;
}

/* app G-07. */
bool distance_field_closest(const struct distance_field *self, vec3 p,
			    struct distance_field_point *out)
{
	vec3 low = self->origin, high = vec3_zero();
	double d;
	for (uint32_t axis = 0; axis < 3; axis++)
		vec3_set(&high, axis,
			 vec3_get(low, axis) + self->cell * self->cells[axis] * (1 - 1e-12));
	*out = (struct distance_field_point){ .point = p };
	if (!distance_field_value(self, p, &d) || !distance_field_gradient(self, p, &out->normal))
		return false;
	out->distance = d;
	double near = self->cell * DISTANCE_FIELD_QUANTUM;
	while (scalar_abs(d) > near && out->iterations < DISTANCE_FIELD_ITERATIONS_MAX) {
		vec3 next = vec3_mul_sub(out->point, out->normal, d), normal;
		next = vec3_min(vec3_max(next, low), high);
		if (!distance_field_gradient(self, next, &normal))
			break;
		out->point = next;
		out->normal = normal;
		out->iterations++;
		distance_field_value(self, out->point, &d);
	}
	ASSERT(out->iterations <= DISTANCE_FIELD_ITERATIONS_MAX);
	out->residual = scalar_abs(d);
	return true;
}
