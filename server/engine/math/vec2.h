/* vec2.h: points and directions of the plane. */
#ifndef CAIRN_ENGINE_MATH_VEC2_H
#define CAIRN_ENGINE_MATH_VEC2_H

#include "server/engine/math/scalar.h"

typedef struct {
	double x, y;
} vec2;

static inline vec2 vec2_make(double x, double y)
{
	return (vec2){ x, y };
}

static inline vec2 vec2_zero(void)
{
	return (vec2){ 0, 0 };
}

static inline vec2 vec2_add(vec2 a, vec2 b)
{
	return (vec2){ a.x + b.x, a.y + b.y };
}

static inline vec2 vec2_sub(vec2 a, vec2 b)
{
	return (vec2){ a.x - b.x, a.y - b.y };
}

static inline vec2 vec2_scale(vec2 a, double s)
{
	return (vec2){ a.x * s, a.y * s };
}

static inline vec2 vec2_negate(vec2 a)
{
	return (vec2){ -a.x, -a.y };
}

/* a + s b. */
static inline vec2 vec2_mul_add(vec2 a, vec2 b, double s)
{
	return (vec2){ a.x + b.x * s, a.y + b.y * s };
}

static inline vec2 vec2_lerp(vec2 a, vec2 b, double t)
{
	return (vec2){ a.x + t * (b.x - a.x), a.y + t * (b.y - a.y) };
}

static inline double vec2_dot(vec2 a, vec2 b)
{
	return a.x * b.x + a.y * b.y;
}

/* The z component of the cross product: positive if b is to the left of a. */
static inline double vec2_cross(vec2 a, vec2 b)
{
	return a.x * b.y - a.y * b.x;
}

/* A quarter turn to the left: ω × a for ω = 1 about z. */
static inline vec2 vec2_left(vec2 a)
{
	return (vec2){ -a.y, a.x };
}

/* A quarter turn to the right: the outward normal of an edge of a counter-clockwise polygon. */
static inline vec2 vec2_right(vec2 a)
{
	return (vec2){ a.y, -a.x };
}

static inline double vec2_length_squared(vec2 a)
{
	return vec2_dot(a, a);
}

static inline double vec2_length(vec2 a)
{
	return scalar_sqrt(vec2_dot(a, a));
}

static inline double vec2_distance(vec2 a, vec2 b)
{
	return vec2_length(vec2_sub(a, b));
}

/* Zero for zero. */
static inline vec2 vec2_normalize(vec2 a)
{
	double length = vec2_length(a);
	return length > 0 ? vec2_scale(a, 1.0 / length) : vec2_zero();
}

static inline bool vec2_is_finite(vec2 a)
{
	return scalar_is_finite(a.x) && scalar_is_finite(a.y);
}

#endif
