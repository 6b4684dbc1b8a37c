/* wide.h: numbers with the precision of a double and a 64-bit exponent.
 *
 * Used to measure residuals whose products leave the range of doubles (1e-301 times 1e206 times 1e206),
 * for which arithmetic in doubles gives 0 or infinity. Addition and multiplication round as those of
 * double (53 bits, to nearest) and never overflow or underflow. An infinite mantissa stands for a
 * missing bound; infinity minus infinity must not occur. Sums whose terms cancel are computed with
 * twice the precision (wide2) and rounded once.
 */
#ifndef CAIRN_ENGINE_MATH_WIDE_H
#define CAIRN_ENGINE_MATH_WIDE_H

#include "server/engine/math/double_double.h"

/* mantissa · 2^exponent; mantissa 0, ±∞, or 1/2 ≤ |mantissa| < 1. */
typedef struct wide {
	double mantissa;
	int64_t exponent;
} wide;

/* 2^e, −1022 ≤ e ≤ 1023. */
static inline double scalar_power2(int64_t e)
{
	VALIDATE(e >= -1022 && e <= 1023);
	return scalar_from_bits((uint64_t)(1023 + e) << 52);
}

/* x 2^e; 0 or infinity beyond the range of doubles. Exact unless the result is subnormal. */
static inline double scalar_shift(double x, int64_t e)
{
	e = e < -4000 ? -4000 : e > 4000 ? 4000 : e;
	for (; e > 1000; e -= 1000)
		x *= 0x1p1000;
	for (; e < -1000; e += 1000)
		x *= 0x1p-1000;
	return x * scalar_power2(e);
}

static inline wide wide_normal(double mantissa, int64_t exponent)
{
	if (mantissa == 0 || !scalar_is_finite(mantissa))
		return (wide){ mantissa, 0 };
	uint64_t bits = scalar_bits(mantissa);
	int64_t own = (int64_t)(bits >> 52 & 0x7ff) - 1022;
	bits = (bits & ~((uint64_t)0x7ff << 52)) | (uint64_t)1022 << 52;
	return (wide){ scalar_from_bits(bits), exponent + own };
}

static inline wide wide_of(double x)
{
	bool subnormal = scalar_abs(x) < 0x1p-1000;
	return subnormal ? wide_normal(x * 0x1p100, -100) : wide_normal(x, 0);
}

static inline double wide_value(wide a)
{
	return scalar_shift(a.mantissa, a.exponent);
}

static inline wide wide_negative(wide a)
{
	return (wide){ -a.mantissa, a.exponent };
}

static inline wide wide_abs(wide a)
{
	return (wide){ scalar_abs(a.mantissa), a.exponent };
}

static inline wide wide_times(wide a, wide b)
{
	return wide_normal(a.mantissa * b.mantissa, a.exponent + b.exponent);
}

/* b is not 0. */
static inline wide wide_over(wide a, wide b)
{
	return wide_normal(a.mantissa / b.mantissa, a.exponent - b.exponent);
}

static inline wide wide_plus(wide a, wide b)
{
	if (a.mantissa == 0 || !scalar_is_finite(b.mantissa))
		return b;
	if (b.mantissa == 0 || !scalar_is_finite(a.mantissa))
		return a;
	if (a.exponent < b.exponent)
		return wide_plus(b, a);
	int64_t apart = a.exponent - b.exponent;
	if (apart > 100)
		return a;
	return wide_normal(a.mantissa + b.mantissa * scalar_power2(-apart), a.exponent);
}

static inline wide wide_minus(wide a, wide b)
{
	return wide_plus(a, wide_negative(b));
}

static inline bool wide_less(wide a, wide b)
{
	return wide_minus(a, b).mantissa < 0;
}

static inline wide wide_max(wide a, wide b)
{
	return wide_less(a, b) ? b : a;
}

static inline wide wide_min(wide a, wide b)
{
	return wide_less(b, a) ? b : a;
}

/* a ≥ 0. */
static inline wide wide_sqrt(wide a)
{
	bool odd = (a.exponent & 1) != 0;
	return wide_normal(scalar_sqrt(odd ? 2 * a.mantissa : a.mantissa),
			   (odd ? a.exponent - 1 : a.exponent) / 2);
}

/* a / b as a double; 0 for 0 / 0 and infinity for a / 0. */
static inline double wide_ratio(wide a, wide b)
{
	if (a.mantissa == 0)
		return 0;
	return b.mantissa == 0 ? __builtin_inf() : wide_value(wide_over(a, b));
}

/* A running sum: mantissa · 2^exponent, mantissa.hi 0 or 1/2 ≤ |mantissa.hi| < 1.
 * Begins with {{0, 0}, 0}. */
typedef struct wide2 {
	double2 mantissa;
	int64_t exponent;
} wide2;

static inline wide2 wide2_plus(wide2 a, wide2 b)
{
	if (a.mantissa.hi == 0)
		return b;
	if (b.mantissa.hi == 0)
		return a;
	if (a.exponent < b.exponent)
		return wide2_plus(b, a);
	int64_t apart = a.exponent - b.exponent;
	if (apart > 200)
		return a;
	double down = scalar_power2(-apart);
	double2 sum =
		double2_add(a.mantissa, (double2){ b.mantissa.hi * down, b.mantissa.lo * down });
	int64_t own = wide_normal(sum.hi, 0).exponent;
	double up = scalar_power2(-own);
	return (wide2){ { sum.hi * up, sum.lo * up }, sum.hi == 0 ? 0 : a.exponent + own };
}

static inline wide2 wide2_minus(wide2 a, wide2 b)
{
	return wide2_plus(a, (wide2){ double2_negate(b.mantissa), b.exponent });
}

/* sum + x y, finite. */
static inline wide2 wide2_plus_product(wide2 sum, double x, double y)
{
	wide a = wide_of(x), b = wide_of(y);
	double2 term = double2_product(a.mantissa, b.mantissa);
	int64_t own = wide_normal(term.hi, 0).exponent;
	double up = scalar_power2(-own);
	return wide2_plus(sum,
			  (wide2){ { term.hi * up, term.lo * up }, a.exponent + b.exponent + own });
}

static inline wide wide2_rounded(wide2 a)
{
	return wide_normal(a.mantissa.hi, a.exponent);
}

#endif
