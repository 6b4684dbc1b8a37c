/* See curve.h. */
#include "server/engine/geometry/curve.h"

#include "server/engine/geometry/support.h"

struct curve curve_of(const struct shape *shape)
{
	ASSERT(shape_is_curved(shape));
	struct curve self = { .kind = shape->kind,
			      .rotation = mat3_identity(),
			      .translation = vec3_zero() };
	if (shape->kind == SHAPE_ELLIPSOID) {
		self.half = shape->ellipsoid.half;
		return self;
	}
	self.half_length = shape->cylinder.half_length;
	self.radius = shape->cylinder.radius;
	return self;
}

struct curve curve_placed(const struct curve *self, mat3 rotation, vec3 translation)
{
	ASSERT(self->kind >= SHAPE_CYLINDER);
	struct curve placed = *self;
	placed.rotation = mat3_mul(rotation, self->rotation);
	placed.translation = vec3_add(translation, mat3_mul_vec(rotation, self->translation));
	return placed;
}

/* In the shape's frame. */
static vec3 local_support(const struct curve *self, vec3 d)
{
	if (self->kind == SHAPE_ELLIPSOID) {
		vec3 scaled = vec3_hadamard(self->half, d);
		vec3 unit = vec3_normalize(scaled);
		return vec3_hadamard(self->half, unit);
	}
	double s = scalar_sqrt(d.x * d.x + d.z * d.z), h = self->half_length;
	double k = s > 0 ? self->radius / s : 0;
	if (self->kind == SHAPE_CYLINDER)
		return vec3_make(k * d.x, d.y > 0 ? h : -h, k * d.z);
	ASSERT(self->kind == SHAPE_CONE);
	if (2 * h * d.y > self->radius * s)
		return vec3_make(0, h, 0);
	return vec3_make(k * d.x, -h, k * d.z);
}

vec3 curve_support(const struct curve *self, vec3 direction)
{
	vec3 local = mat3_transposed_mul_vec(self->rotation, direction);
	return vec3_add(self->translation,
			mat3_mul_vec(self->rotation, local_support(self, local)));
}

double curve_reach(const struct curve *self)
{
	double h = self->half_length, r = self->radius;
	double own = self->kind == SHAPE_ELLIPSOID ? vec3_max_component(self->half)
						   : scalar_sqrt(h * h + r * r);
	ASSERT(own > 0);
	return own + vec3_length(self->translation);
}

struct aabb curve_box(const struct curve *self, const mat3 *rotation, vec3 translation)
{
	struct curve placed = curve_placed(self, *rotation, translation);
	struct aabb box;
	for (uint32_t axis = 0; axis < 3; axis++) {
		vec3 d = vec3_axis(axis);
		vec3 far = curve_support(&placed, d), near = curve_support(&placed, vec3_negate(d));
		vec3_set(&box.max, axis, vec3_get(far, axis));
		vec3_set(&box.min, axis, vec3_get(near, axis));
	}
	VALIDATE(box.min.x <= box.max.x);
	return box;
}

/* Sine of the angle to the axis up to which a normal is that of a flat end. Where normals are
 * between the side and an end, the contact is at a rim, an edge: it does not roll. */
#define SIDE_COSINE 0.999

/* With q = Σ (n_i a_i)², the support function of an ellipsoid is √q, and the sum of its principal
 * radii is the trace of the Hessian: (Σ a_i² − Σ n_i² a_i⁴ / q) / √q. */
static double ellipsoid_rounding(vec3 half, vec3 n)
{
	vec3 square = vec3_hadamard(half, half), scaled = vec3_hadamard(square, n);
	double q = vec3_dot(scaled, n), far = vec3_length_squared(scaled);
	ASSERT(q > 0);
	return 0.5 * (square.x + square.y + square.z - far / q) / scalar_sqrt(q);
}

double curve_rounding(const struct shape *shape, vec3 normal)
{
	double across = scalar_sqrt(normal.x * normal.x + normal.z * normal.z);
	double h = shape->cylinder.half_length, r = shape->cylinder.radius;
	switch (shape->kind) {
	case SHAPE_ELLIPSOID:
		return ellipsoid_rounding(shape->ellipsoid.half, normal);
	case SHAPE_CYLINDER:
		return across > SIDE_COSINE ? r : 0;
	case SHAPE_CONE: {
		/* The radius of curvature is that of the disc divided by the cosine: half of the
		 * rim's. */
		double length = scalar_sqrt(4 * h * h + r * r);
		double along = (2 * h * across + r * normal.y) / length;
		return along > SIDE_COSINE ? 0.5 * r * length / (2 * h) : 0;
	}
	default:
		ASSERT(!shape_is_curved(shape));
		return support_radius(shape);
	}
}

double curve_rounding_along(const struct shape *shape, vec3 normal, vec3 direction)
{
	vec3 d = vec3_mul_sub(direction, normal, vec3_dot(direction, normal));
	if (!shape_is_curved(shape) || !(vec3_length_squared(d) > 0))
		return curve_rounding(shape, normal);
	d = vec3_normalize(d);
	if (shape->kind != SHAPE_ELLIPSOID) { /* straight along the axis */
		vec3 around = vec3_cross(vec3_axis(1), normal);
		double across = vec3_length_squared(around), part = vec3_dot(around, d);
		return across > 0 ? curve_rounding(shape, normal) * part * part / across : 0;
	}
	vec3 square = vec3_hadamard(shape->ellipsoid.half, shape->ellipsoid.half);
	double q = vec3_dot(normal, vec3_hadamard(square, normal));
	double mixed = vec3_dot(d, vec3_hadamard(square, normal));
	ASSERT(q > 0);
	return (vec3_dot(d, vec3_hadamard(square, d)) - mixed * mixed / q) / scalar_sqrt(q);
}
