/* scalar.h: functions of one double, and of pairs.
 *
 * Nothing here calls the mathematical library: floor and friends go through 64-bit integers, tests
 * for NaN look at bits, and the square root is the machine's instruction (correctly rounded by
 * IEEE 754, hence the same everywhere). Conversions to integers are range-checked, because
 * processors differ in the result for a double that does not fit (x86 and ARM).
 */
#ifndef CAIRN_ENGINE_MATH_SCALAR_H
#define CAIRN_ENGINE_MATH_SCALAR_H

#include "server/base/base.h"

#include <string.h>

#define PI 3.14159265358979323846
#define TWO_PI 6.28318530717958647693
#define HALF_PI 1.57079632679489661923
#define QUARTER_PI 0.78539816339744830962
#define RADIANS_PER_DEGREE 0.01745329251994329577
#define SCALAR_EPSILON 0x1p-52 /* distance from 1 to the next double */
#define SCALAR_MAX 0x1.fffffffffffffp1023

static inline uint64_t scalar_bits(double x)
{
	uint64_t bits;
	memcpy(&bits, &x, sizeof bits);
	return bits;
}

static inline double scalar_from_bits(uint64_t bits)
{
	double x;
	memcpy(&x, &bits, sizeof x);
	return x;
}

static inline bool scalar_is_finite(double x)
{
	return (scalar_bits(x) >> 52 & 0x7ff) != 0x7ff;
}

static inline bool scalar_is_nan(double x)
{
	return (scalar_bits(x) & 0x7fffffffffffffffu) > 0x7ff0000000000000u;
}

/* Clears the sign, also of NaN. */
static inline double scalar_abs(double x)
{
	return scalar_from_bits(scalar_bits(x) & 0x7fffffffffffffffu);
}

/* x with the sign of y. */
static inline double scalar_copy_sign(double x, double y)
{
	return scalar_from_bits((scalar_bits(x) & 0x7fffffffffffffffu) |
				(scalar_bits(y) & 0x8000000000000000u));
}

/* Minimum and maximum. If the two are equal or one is NaN, the second. */
static inline double scalar_min(double a, double b)
{
	return a < b ? a : b;
}

static inline double scalar_max(double a, double b)
{
	return a > b ? a : b;
}

/* low ≤ high. NaN gives low. */
static inline double scalar_clamp(double x, double low, double high)
{
	return x > low ? (x < high ? x : high) : low;
}

/* −1, 0 or 1; 0 for NaN. */
static inline double scalar_sign(double x)
{
	return x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0;
}

static inline double scalar_square(double x)
{
	return x * x;
}

/* NaN for x < 0. */
static inline double scalar_sqrt(double x)
{
	return __builtin_sqrt(x);
}

/* a + t (b − a); at t = 1 the result may differ from b by rounding. */
static inline double scalar_lerp(double a, double b, double t)
{
	return a + t * (b - a);
}

/* |a − b| ≤ tolerance; false with NaN. */
static inline bool scalar_near(double a, double b, double tolerance)
{
	return scalar_abs(a - b) <= tolerance;
}

/* ---- towards integers ----------------------------------------------------------------------- */

/* Rounds towards zero. From 2⁵² on every double is an integer, and NaN stays NaN. */
static inline double scalar_trunc(double x)
{
	if (!(scalar_abs(x) < 0x1p52))
		return x;
	return scalar_copy_sign((double)(int64_t)x, x);
}

static inline double scalar_floor(double x)
{
	double whole = scalar_trunc(x);
	return whole > x ? whole - 1.0 : whole;
}

static inline double scalar_ceil(double x)
{
	double whole = scalar_trunc(x);
	return whole < x ? scalar_copy_sign(whole + 1.0, x) : whole;
}

/* To the nearest integer, halves to the even one: the addition of 2⁵² rounds, because from there on
 * doubles have no fraction. */
static inline double scalar_round(double x)
{
	double size = scalar_abs(x);
	if (!(size < 0x1p52))
		return x;
	volatile double shifted = size + 0x1p52;
	return scalar_copy_sign(shifted - 0x1p52, x);
}

/* False, and *out unchanged, unless x rounded towards zero fits. */
MUST_CHECK static inline bool scalar_to_i32(double x, int32_t *out)
{
	if (!(x > -2147483649.0 && x < 2147483648.0))
		return false;
	*out = (int32_t)x;
	return true;
}

MUST_CHECK static inline bool scalar_to_u32(double x, uint32_t *out)
{
	if (!(x > -1.0 && x < 4294967296.0))
		return false;
	*out = (uint32_t)x;
	return true;
}

MUST_CHECK static inline bool scalar_to_i64(double x, int64_t *out)
{
	if (!(x >= -0x1p63 && x < 0x1p63))
		return false;
	*out = (int64_t)x;
	return true;
}

/* Rounded towards zero, then the nearest value that fits; 0 for NaN. */
static inline int32_t scalar_to_i32_clamped(double x)
{
	int32_t out = 0;
	if (scalar_is_nan(x))
		return 0;
	if (!scalar_to_i32(x, &out))
		out = x > 0 ? INT32_MAX : INT32_MIN;
	return out;
}

/* A float is a rounded double; outside its range it is the largest float of that sign; NaN becomes
 * 0. */
static inline float scalar_to_float(double x)
{
	if (scalar_is_nan(x))
		return 0.0f;
	return (float)scalar_clamp(x, -0x1.fffffep127, 0x1.fffffep127);
}

#endif
