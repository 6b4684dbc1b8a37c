/* double_double.h: a number as the unevaluated sum of two doubles, about 106 bits.
 *
 * The exact sum and product of two doubles are again two doubles, found with + − × alone (Dekker
 * 1971, Knuth volume 2, 4.2.2). Used where a result must be rounded only once, at the end, or be
 * distinguished from rounding error. Invariant: |lo| is at most half a unit of hi's last place.
 * Products split their factors and need |a| < 2⁹⁹⁵; parts below 2⁻¹⁰⁷⁴ are lost, so operands must
 * be above about 2⁻⁹⁰⁰ if the low part matters.
 */
#ifndef CAIRN_ENGINE_MATH_DOUBLE_DOUBLE_H
#define CAIRN_ENGINE_MATH_DOUBLE_DOUBLE_H

#include "server/engine/math/scalar.h"

typedef struct {
	double hi, lo;
} double2;

/* a + b exactly, for |a| ≥ |b| or a = 0. */
static inline double2 double2_quick(double a, double b)
{
	double sum = a + b;
	return (double2){ sum, b - (sum - a) };
}

/* a + b exactly. */
static inline double2 double2_sum(double a, double b)
{
	double sum = a + b, part = sum - a;
	return (double2){ sum, (a - (sum - part)) + (b - part) };
}

/* The upper 26 bits of a; the rest, a minus them, fits in 26 bits as well. */
static inline double double2_upper(double a)
{
	double c = 0x8000001p0 * a;
	return c - (c - a);
}

/* a × b exactly. */
static inline double2 double2_product(double a, double b)
{
	double p = a * b;
	double ah = double2_upper(a), al = a - ah, bh = double2_upper(b), bl = b - bh;
	return (double2){ p, ((ah * bh - p) + ah * bl + al * bh) + al * bl };
}

static inline double2 double2_negate(double2 a)
{
	return (double2){ -a.hi, -a.lo };
}

static inline double2 double2_add(double2 a, double2 b)
{
	double2 high = double2_sum(a.hi, b.hi), low = double2_sum(a.lo, b.lo);
	high = double2_quick(high.hi, high.lo + low.hi);
	return double2_quick(high.hi, high.lo + low.lo);
}

static inline double2 double2_add_double(double2 a, double b)
{
	double2 high = double2_sum(a.hi, b);
	return double2_quick(high.hi, high.lo + a.lo);
}

static inline double2 double2_mul(double2 a, double2 b)
{
	double2 p = double2_product(a.hi, b.hi);
	return double2_quick(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

static inline double2 double2_mul_double(double2 a, double b)
{
	double2 p = double2_product(a.hi, b);
	return double2_quick(p.hi, p.lo + a.lo * b);
}

/* b ≠ 0. */
static inline double2 double2_div(double2 a, double2 b)
{
	double q = a.hi / b.hi;
	double2 rest = double2_add(a, double2_negate(double2_mul_double(b, q)));
	return double2_quick(q, (rest.hi + rest.lo) / b.hi);
}

#endif
