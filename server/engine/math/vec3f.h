/* vec3f.h: the float twin of vec3, for the soft solver's velocities and impulses only. */
#ifndef CAIRN_ENGINE_MATH_VEC3F_H
#define CAIRN_ENGINE_MATH_VEC3F_H

#include "server/engine/math/vec3.h"

typedef struct {
	float x, y, z;
} vec3f;

static inline vec3f vec3f_make(float x, float y, float z)
{
	return (vec3f){ x, y, z };
}

static inline vec3f vec3f_zero(void)
{
	return (vec3f){ 0, 0, 0 };
}

/* Each component rounded to nearest, clamped to the largest float. */
static inline vec3f vec3f_from(vec3 a)
{
	return (vec3f){ scalar_to_float(a.x), scalar_to_float(a.y), scalar_to_float(a.z) };
}

static inline vec3 vec3f_widen(vec3f a)
{
	return (vec3){ (double)a.x, (double)a.y, (double)a.z };
}

static inline vec3f vec3f_add(vec3f a, vec3f b)
{
	return (vec3f){ a.x + b.x, a.y + b.y, a.z + b.z };
}

static inline vec3f vec3f_sub(vec3f a, vec3f b)
{
	return (vec3f){ a.x - b.x, a.y - b.y, a.z - b.z };
}

static inline vec3f vec3f_scale(vec3f a, float s)
{
	return (vec3f){ a.x * s, a.y * s, a.z * s };
}

static inline vec3f vec3f_negate(vec3f a)
{
	return (vec3f){ -a.x, -a.y, -a.z };
}

/* a + s b. */
static inline vec3f vec3f_mul_add(vec3f a, vec3f b, float s)
{
	return (vec3f){ a.x + b.x * s, a.y + b.y * s, a.z + b.z * s };
}

/* a − s b. */
static inline vec3f vec3f_mul_sub(vec3f a, vec3f b, float s)
{
	return (vec3f){ a.x - b.x * s, a.y - b.y * s, a.z - b.z * s };
}

static inline float vec3f_dot(vec3f a, vec3f b)
{
	return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline vec3f vec3f_cross(vec3f a, vec3f b)
{
	return (vec3f){ a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x };
}

static inline float vec3f_length_squared(vec3f a)
{
	return vec3f_dot(a, a);
}

static inline float vec3f_length(vec3f a)
{
	return __builtin_sqrtf(vec3f_dot(a, a));
}

#endif
