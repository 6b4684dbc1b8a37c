/* fluid_boundary.c: planes and boxes; see fluid_boundary.h. Samples are in fluid_samples.c. */
#include "server/engine/fluids/fluid_boundary.h"

#include "server/base/heap.h"
#include "server/engine/fluids/fluid_samples.h"
#include "server/engine/types.h"

#define WIDTH (2.0 / FLUID_CORNER_STEPS) /* of an interval */

enum { NODES = FLUID_CORNER_NODES, STEPS = FLUID_CORNER_STEPS };

/* ---- the table of octants ------------------------------------------------------------------------ */

static double weight_at(double x, double y, double z)
{
	double q = scalar_sqrt(x * x + y * y + z * z);
	return q < 1 ? fluid_kernel_value(q) : 0;
}

/* The middle of half k of an interval. */
static double middle(uint32_t interval, uint32_t half)
{
	return -1 + WIDTH * (interval + 0.25 + 0.5 * half);
}

static double square_of(double x, uint32_t j, uint32_t k)
{
	double sum = 0;
	for (uint32_t half = 0; half < 4; half++)
		sum += weight_at(x, middle(j, half & 1), middle(k, half >> 1));
	return sum * (WIDTH * WIDTH / 4);
}

/* Sums of intervals become integrals from each node to the end. */
static void accumulate(float *line, uint32_t stride)
{
	double sum = 0;
	ASSERT(line[STEPS * stride] == 0);
	for (uint32_t i = STEPS; i-- > 0;) {
		sum += line[i * stride];
		line[i * stride] = (float)sum;
	}
}

/* Of the octant, in both coordinates but the first. */
static void fill_slope(float (*table)[NODES][NODES])
{
	memset(table, 0, sizeof(float) * NODES * NODES * NODES);
	for (uint32_t i = 0; i < NODES; i++) {
		double x = -1 + WIDTH * i, exact = fluid_half_slope(scalar_min(scalar_abs(x), 1));
		for (uint32_t j = 0; j < STEPS; j++)
			for (uint32_t k = 0; k < STEPS; k++)
				table[i][j][k] = (float)square_of(x, j, k);
		for (uint32_t j = 0; j < STEPS; j++)
			accumulate(table[i][j], 1);
		for (uint32_t k = 0; k < STEPS; k++)
			accumulate(&table[i][0][k], NODES);
		double factor = table[i][0][0] > 0 ? exact / (double)table[i][0][0] : 0;
		for (uint32_t j = 0; j < NODES; j++)
			for (uint32_t k = 0; k < NODES; k++)
				table[i][j][k] = (float)(factor * (double)table[i][j][k]);
	}
}

/* Of the octant, with 1 for the whole. */
static void fill_part(float (*table)[NODES][NODES])
{
	memset(table, 0, sizeof(float) * NODES * NODES * NODES);
	for (uint32_t i = 0; i < STEPS; i++)
		for (uint32_t j = 0; j < STEPS; j++)
			for (uint32_t k = 0; k < STEPS; k++)
				table[i][j][k] = (float)(WIDTH / 2 *
							 (square_of(middle(i, 0), j, k) +
							  square_of(middle(i, 1), j, k)));
	for (uint32_t j = 0; j < STEPS; j++)
		for (uint32_t k = 0; k < STEPS; k++) {
			accumulate(&table[j][k][0], 1);
		}
	for (uint32_t j = 0; j < STEPS; j++)
		for (uint32_t k = 0; k < STEPS; k++) {
			accumulate(&table[j][0][k], NODES);
		}
	for (uint32_t j = 0; j < STEPS; j++)
		for (uint32_t k = 0; k < STEPS; k++) {
			accumulate(&table[0][j][k], NODES * NODES);
		}
	double factor = 1 / (double)table[0][0][0];
	for (uint32_t i = 0; i < NODES * NODES * NODES; i++)
		(&table[0][0][0])[i] = (float)(factor * (double)(&table[0][0][0])[i]);
}

enum status fluid_boundary_prepare(struct fluid_boundary *self)
{
	if (self->corners != NULL)
		return STATUS_OK;
	self->corners = heap_alloc(sizeof *self->corners);
	if (self->corners == NULL)
		return STATUS_NO_MEMORY;
	fill_part(self->corners->part);
	fill_slope(self->corners->slope);
	ASSERT(self->corners->part[0][0][0] > 0);
	return STATUS_OK;
}

/* ---- boxes --------------------------------------------------------------------------------------- */

/* A coordinate of the table: its interval and the part of it. */
struct corner_place {
	uint32_t at;
	double part;
};

static struct corner_place place_of(double x)
{
	double scaled = (x + 1) * (1 / WIDTH);
	uint32_t at = (uint32_t)scaled;
	ASSERT(scaled >= 0);
	at = MIN_OF(at, (uint32_t)STEPS - 1);
	return (struct corner_place){ at, scaled - at };
}

static double read_corner(const float (*table)[NODES][NODES], struct corner_place x,
			  struct corner_place y, struct corner_place z)
{
	double value[2];
	VALIDATE(x.at < STEPS && y.at < STEPS && z.at < STEPS);
	for (uint32_t i = 0; i < 2; i++) {
		const float *low = &table[x.at + i][y.at][z.at], *high = low + NODES;
		double a = (double)low[0] + z.part * ((double)low[1] - (double)low[0]);
		double b = (double)high[0] + z.part * ((double)high[1] - (double)high[0]);
		value[i] = a + y.part * (b - a);
	}
	return value[0] + x.part * (value[1] - value[0]);
}

struct box_sides {
	uint32_t count[3];
	struct corner_place place[3][2];
};

static void add_corner(const struct fluid_corners *table, const struct box_sides *sides,
		       const uint32_t at[3], double *part, double slope[3])
{
	struct corner_place x = sides->place[0][at[0]], y = sides->place[1][at[1]],
			    z = sides->place[2][at[2]];
	double sign = (at[0] + at[1] + at[2]) % 2 == 0 ? 1 : -1;
	*part += sign * read_corner(table->part, x, y, z);
	slope[0] += sign * read_corner(table->slope, x, y, z);
	slope[1] += sign * read_corner(table->slope, y, z, x);
	slope[2] += sign * read_corner(table->slope, z, x, y);
}

/* The box low … high in radii from the particle; out->slope in its axes, in radii as all of *out. */
static bool touch_box(const struct fluid_boundary *self, vec3 low, vec3 high,
		      struct fluid_touch *out)
{
	struct box_sides sides;
	double outside = 0, inside = -SCALAR_MAX;
	for (uint32_t axis = 0; axis < 3; axis++) {
		double a = vec3_get(low, axis), b = vec3_get(high, axis);
		double near = scalar_max(a, -b);
		outside += near > 0 ? near * near : 0;
		inside = scalar_max(inside, near);
		if (a >= 1 || b <= -1)
			return false;
		sides.place[axis][0] = place_of(scalar_max(a, -1));
		sides.count[axis] = b < 1 ? 2 : 1;
		if (b < 1)
			sides.place[axis][1] = place_of(b);
	}
	if (outside >= 1)
		return false;
	double slope[3] = { 0 }, part = 0;
	for (uint32_t i = 0; i < sides.count[0]; i++)
		for (uint32_t j = 0; j < sides.count[1]; j++)
			for (uint32_t k = 0; k < sides.count[2]; k++)
				add_corner(self->corners, &sides, (const uint32_t[3]){ i, j, k },
					   &part, slope);
	out->part = scalar_max(part, 0);
	out->slope = vec3_make(slope[0], slope[1], slope[2]);
	out->distance = inside > 0 ? scalar_sqrt(outside) : inside;
	return true;
}

/* ---- shapes --------------------------------------------------------------------------------------- */

/* In the plane's frame. */
static bool touch_plane(vec3 normal, double d, struct fluid_touch *out)
{
	if (!(d < 1))
		return false;
	ASSERT(vec3_length_squared(normal) > 0.5);
	double part = 0, slope = 0;
	if (d > -1) {
		part = fluid_half_part(scalar_abs(d));
		slope = fluid_half_slope(scalar_abs(d));
	}
	out->part = d < 0 ? 1 - part : part;
	/* Towards the plane the part grows. */
	out->slope = vec3_scale(normal, -slope);
	out->distance = d;
	return true;
}

bool fluid_boundary_touch(const struct fluid_boundary *self, const struct fluid_probe *probe,
			  const struct shape *shape, const pose *at, struct fluid_touch *out)
{
	double inverse = 1 / probe->radius;
	vec3 p = pose_inverse_point(*at, probe->x);
	bool touches;
	ASSERT(probe->radius > 0);
	if (shape->kind == SHAPE_PLANE) {
		double distance = vec3_dot(shape->plane.normal, p) - shape->plane.offset;
		touches = touch_plane(shape->plane.normal, distance * inverse, out);
	} else if (shape->kind == SHAPE_BOX) {
		vec3 low = vec3_scale(vec3_sub(vec3_negate(shape->box.half), p), inverse);
		vec3 high = vec3_scale(vec3_sub(shape->box.half, p), inverse);
		touches = touch_box(self, low, high, out);
	} else {
		const struct fluid_samples *samples =
			fluid_samples_find(self, shape, probe->radius);
		touches = samples != NULL && fluid_samples_touch(samples, p, out);
	}
	if (!touches)
		return false;
	out->slope = vec3_scale(quat_rotate(at->rotation, out->slope), inverse);
	out->distance *= probe->radius;
	return true;
}

/* ---- overlaps ------------------------------------------------------------------------------------- */

/* Axes are the same up to a permutation and signs if all cosines are this near to 0 or 1. */
#define ALIGNED 1e-3
/* Radii: beyond every kernel. */
#define FAR 2.0

/* Where an axis goes, or 3: it is none of the axes. */
static uint32_t same_axis(vec3 direction)
{
	vec3 size = vec3_abs(direction);
	uint32_t axis = vec3_largest_axis(size);
	return vec3_get(size, axis) > 1 - ALIGNED * ALIGNED ? axis : 3;
}

bool fluid_boundary_region(const struct fluid_probe *probe, const struct shape *shape,
			   const pose *at, mat3 axes, struct fluid_region *out)
{
	double inverse = 1 / probe->radius;
	vec3 x = probe->x;
	ASSERT(probe->radius > 0);
	if (shape->kind == SHAPE_PLANE) {
		vec3 normal = quat_rotate(at->rotation, shape->plane.normal);
		vec3 p = pose_inverse_point(*at, x);
		double d = (vec3_dot(shape->plane.normal, p) - shape->plane.offset) * inverse;
		normal = mat3_transposed_mul_vec(axes, normal);
		uint32_t axis = same_axis(normal);
		if (axis == 3)
			return false;
		*out = (struct fluid_region){ vec3_all(-FAR), vec3_all(FAR) };
		if (vec3_get(normal, axis) > 0)
			vec3_set(&out->high, axis, -d);
		else
			vec3_set(&out->low, axis, d);
		return true;
	}
	if (shape->kind != SHAPE_BOX)
		return false;
	vec3 middle = mat3_transposed_mul_vec(axes, vec3_sub(at->position, x)), half = vec3_zero();
	for (uint32_t k = 0; k < 3; k++) {
		vec3 own = quat_rotate(at->rotation, vec3_axis(k));
		uint32_t axis = same_axis(mat3_transposed_mul_vec(axes, own));
		if (axis == 3)
			return false;
		vec3_set(&half, axis, vec3_get(shape->box.half, k));
	}
	out->low = vec3_scale(vec3_sub(middle, half), inverse);
	out->high = vec3_scale(vec3_add(middle, half), inverse);
	return true;
}

void fluid_boundary_without(const struct fluid_boundary *self, const struct fluid_probe *probe,
			    mat3 axes, const struct fluid_region *region,
			    const struct fluid_region *others, uint32_t count,
			    struct fluid_touch *out)
{
	double part = 0;
	vec3 slope = vec3_zero();
	ASSERT(count <= FLUID_OVERLAPS);
	for (uint32_t subset = 0; subset < 1u << count; subset++) {
		struct fluid_region cut = *region;
		double sign = 1;
		for (uint32_t k = 0; k < count; k++) {
			if (!(subset >> k & 1))
				continue;
			sign = -sign;
			cut.low = vec3_max(cut.low, others[k].low);
			cut.high = vec3_min(cut.high, others[k].high);
		}
		struct fluid_touch touch;
		if (!(vec3_min_component(vec3_sub(cut.high, cut.low)) > 0) ||
		    !touch_box(self, cut.low, cut.high, &touch))
			continue;
		part += sign * touch.part;
		slope = vec3_mul_add(slope, touch.slope, sign);
	}
	out->part = scalar_max(part, 0);
	out->slope = vec3_scale(mat3_mul_vec(axes, slope), 1 / probe->radius);
}

enum status fluid_boundary_add(struct fluid_boundary *self, const struct shape *shape,
			       const pose *at, double radius, struct aabb box)
{
	ASSERT(radius > 0);
	if (shape->kind == SHAPE_PLANE || shape->kind == SHAPE_BOX)
		return STATUS_OK;
	struct aabb own = aabb_empty();
	for (uint32_t k = 0; k < 8; k++) {
		vec3 corner =
			vec3_make(k & 1 ? box.max.x : box.min.x, k & 2 ? box.max.y : box.min.y,
				  k & 4 ? box.max.z : box.min.z);
		own = aabb_add_point(own, pose_inverse_point(*at, corner));
	}
	return fluid_samples_add(self, shape, radius, own);
}

uint32_t fluid_boundary_fineness(const struct fluid_boundary *self, const struct shape *shape,
				 double radius)
{
	ASSERT(radius > 0);
	if (shape->kind == SHAPE_PLANE || shape->kind == SHAPE_BOX)
		return FLUID_FINE;
	const struct fluid_samples *samples = fluid_samples_find(self, shape, radius);
	return samples != NULL ? samples->fine : 0;
}

void fluid_boundary_release(struct fluid_boundary *self)
{
	heap_free(self->corners);
	self->corners = NULL;
	fluid_samples_release(self);
}

uint64_t fluid_boundary_memory(const struct fluid_boundary *self)
{
	uint64_t bytes = self->corners != NULL ? sizeof *self->corners : 0;
	return bytes + fluid_samples_memory(self);
}
