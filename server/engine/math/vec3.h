/* vec3.h: points and directions of space. Sums always run x, y, z, from left to right. */
#ifndef CAIRN_ENGINE_MATH_VEC3_H
#define CAIRN_ENGINE_MATH_VEC3_H

#include "server/engine/math/scalar.h"

typedef struct {
	double x, y, z;
} vec3;

static inline vec3 vec3_make(double x, double y, double z)
{
	return (vec3){ x, y, z };
}

static inline vec3 vec3_zero(void)
{
	return (vec3){ 0, 0, 0 };
}

static inline vec3 vec3_all(double s)
{
	return (vec3){ s, s, s };
}

/* The unit vector of axis 0, 1 or 2. */
static inline vec3 vec3_axis(uint32_t axis)
{
	VALIDATE(axis < 3);
	return (vec3){ axis == 0, axis == 1, axis == 2 };
}

/* Component 0, 1 or 2. */
static inline double vec3_get(vec3 a, uint32_t axis)
{
	VALIDATE(axis < 3);
	return axis == 0 ? a.x : axis == 1 ? a.y : a.z;
}

static inline void vec3_set(vec3 *a, uint32_t axis, double value)
{
	VALIDATE(axis < 3);
	if (axis == 0)
		a->x = value;
	else if (axis == 1)
		a->y = value;
	else
		a->z = value;
}

static inline vec3 vec3_add(vec3 a, vec3 b)
{
	return (vec3){ a.x + b.x, a.y + b.y, a.z + b.z };
}

static inline vec3 vec3_sub(vec3 a, vec3 b)
{
	return (vec3){ a.x - b.x, a.y - b.y, a.z - b.z };
}

static inline vec3 vec3_scale(vec3 a, double s)
{
	return (vec3){ a.x * s, a.y * s, a.z * s };
}

static inline vec3 vec3_negate(vec3 a)
{
	return (vec3){ -a.x, -a.y, -a.z };
}

/* Componentwise product. */
static inline vec3 vec3_hadamard(vec3 a, vec3 b)
{
	return (vec3){ a.x * b.x, a.y * b.y, a.z * b.z };
}

/* a + s b. */
static inline vec3 vec3_mul_add(vec3 a, vec3 b, double s)
{
	return (vec3){ a.x + b.x * s, a.y + b.y * s, a.z + b.z * s };
}

/* a − s b. */
static inline vec3 vec3_mul_sub(vec3 a, vec3 b, double s)
{
	return (vec3){ a.x - b.x * s, a.y - b.y * s, a.z - b.z * s };
}

static inline vec3 vec3_lerp(vec3 a, vec3 b, double t)
{
	return (vec3){ a.x + t * (b.x - a.x), a.y + t * (b.y - a.y), a.z + t * (b.z - a.z) };
}

static inline double vec3_dot(vec3 a, vec3 b)
{
	return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline vec3 vec3_cross(vec3 a, vec3 b)
{
	return (vec3){ a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x };
}

/* a · (b × c). */
static inline double vec3_triple(vec3 a, vec3 b, vec3 c)
{
	return vec3_dot(a, vec3_cross(b, c));
}

static inline double vec3_length_squared(vec3 a)
{
	return vec3_dot(a, a);
}

static inline double vec3_length(vec3 a)
{
	return scalar_sqrt(vec3_dot(a, a));
}

static inline double vec3_distance_squared(vec3 a, vec3 b)
{
	return vec3_length_squared(vec3_sub(a, b));
}

static inline double vec3_distance(vec3 a, vec3 b)
{
	return vec3_length(vec3_sub(a, b));
}

/* The unit vector and the length; both zero for zero (and for a vector whose squares underflow). */
static inline vec3 vec3_normalize_length(vec3 a, double *length)
{
	*length = vec3_length(a);
	return *length > 0 ? vec3_scale(a, 1.0 / *length) : vec3_zero();
}

static inline vec3 vec3_normalize(vec3 a)
{
	double length;
	return vec3_normalize_length(a, &length);
}

static inline vec3 vec3_min(vec3 a, vec3 b)
{
	return (vec3){ scalar_min(a.x, b.x), scalar_min(a.y, b.y), scalar_min(a.z, b.z) };
}

static inline vec3 vec3_max(vec3 a, vec3 b)
{
	return (vec3){ scalar_max(a.x, b.x), scalar_max(a.y, b.y), scalar_max(a.z, b.z) };
}

static inline vec3 vec3_abs(vec3 a)
{
	return (vec3){ scalar_abs(a.x), scalar_abs(a.y), scalar_abs(a.z) };
}

static inline double vec3_max_component(vec3 a)
{
	return scalar_max(scalar_max(a.x, a.y), a.z);
}

static inline double vec3_min_component(vec3 a)
{
	return scalar_min(scalar_min(a.x, a.y), a.z);
}

/* The axis of the largest component; the lowest axis on ties. */
static inline uint32_t vec3_largest_axis(vec3 a)
{
	if (a.x >= a.y && a.x >= a.z)
		return 0;
	return a.y >= a.z ? 1 : 2;
}

/* The axis of the smallest component; the lowest axis on ties. */
static inline uint32_t vec3_smallest_axis(vec3 a)
{
	if (a.x <= a.y && a.x <= a.z)
		return 0;
	return a.y <= a.z ? 1 : 2;
}

static inline bool vec3_is_finite(vec3 a)
{
	return scalar_is_finite(a.x) && scalar_is_finite(a.y) && scalar_is_finite(a.z);
}

static inline bool vec3_equal(vec3 a, vec3 b)
{
	return a.x == b.x && a.y == b.y && a.z == b.z;
}

/* Two tangents of the unit vector n so that (n, t, k) is orthonormal and right-handed (app A-05):
 * the smallest component is dropped, ties in the order x, y, z. The tangents jump where another
 * component becomes the smallest. */
static inline void vec3_frame(vec3 n, vec3 *t, vec3 *k)
{
	double x = scalar_abs(n.x), y = scalar_abs(n.y), z = scalar_abs(n.z);
	vec3 a;
	if (x <= y && x <= z)
		a = vec3_make(0, n.z, -n.y);
	else if (y <= x && y <= z)
		a = vec3_make(-n.z, 0, n.x);
	else
		a = vec3_make(n.y, -n.x, 0);
	*t = vec3_normalize(a);
	*k = vec3_cross(n, *t);
}

#endif
