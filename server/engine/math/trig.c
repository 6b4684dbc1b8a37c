/* trig.c: elementary functions from + − × ÷ and sqrt.
 *
 * All functions have the same steps: reduce the argument to a short interval exactly (simple reductions
 * lose digits here), evaluate a minimax polynomial there whose leading terms are kept in two doubles
 * (double_double.h), and round once, at the end. tests/data/make_trig.py computes the constants and
 * polynomials with decimal arithmetic.
 *
 * Angles (Cody and Waite 1980; Payne and Hanek 1983). x = q π/2 + r with |r| ≤ π/4. For |x| < 2²⁰
 * the multiple q π/2 is subtracted in three pieces of π/2; q times each of the first two is
 * exact. If the result is tiny, x is close to a multiple and three pieces are too few; then, and for
 * large x, x 2/π is computed modulo 4 with integers, from the window of the digits of 2/π that matter.
 *
 * Arctangent: of y/x in the first octant, with c the nearest eighth to y/x:
 * atan(y/x) = atan c + atan((y − c x)/(x + c y)), the quotient in two doubles and at most 1/15.
 * Exponential (Tang 1989): x = k ln2/64 + r, 2^(k/64) from a table. Logarithm (Tang 1990): x = 2ᵏ
 * m, c ≈ 1/m from a table, t = c m − 1 exactly, ln x = k ln 2 − ln c + ln(1 + t). Power: exp(y ln
 * x) with the logarithm to 69 bits or more.
 */
#include "server/engine/math/trig.h"

#include "server/engine/math/double_double.h"
#include "server/engine/math/trig_tables.h"

static const double NOT_A_NUMBER = 0.0 / 0.0;
static const double INFINITE = 1.0 / 0.0;

static double polynomial(const double *c, int terms, double x)
{
	double sum = c[terms - 1];
	for (int i = terms - 2; i >= 0; i--)
		sum = sum * x + c[i];
	return sum;
}

/* 2ᵉ for −1022 ≤ e ≤ 1023. */
static double power_of_two(int e)
{
	return scalar_from_bits((uint64_t)(e + 1023) << 52);
}

/* x 2ᵉ with at most one rounding that matters, for |e| < 3000. */
static double scale(double x, int e)
{
	for (; e > 1000; e -= 1000)
		x *= 0x1p1000;
	for (; e < -900; e += 900)
		x *= 0x1p-900;
	return x * power_of_two(e);
}

/* The exponent of a normal number, −1023 for smaller ones. */
static int exponent_of(double x)
{
	return (int)(scalar_bits(x) >> 52 & 0x7ff) - 1023;
}

/* ---- angles --------------------------------------------------------------------------------- */

struct reduced {
	double2 r;     /* in about [−π/4, π/4] */
	unsigned turn; /* quarter turns, modulo 4 */
};

/* a × b as 128 bits. */
static uint64_t multiply_wide(uint64_t a, uint64_t b, uint64_t *high)
{
	uint64_t ah = a >> 32, al = (uint32_t)a, bh = b >> 32, bl = (uint32_t)b;
	uint64_t low = al * bl, m1 = ah * bl, m2 = al * bh;
	uint64_t middle = (low >> 32) + (uint32_t)m1 + (uint32_t)m2;
	*high = ah * bh + (m1 >> 32) + (m2 >> 32) + (middle >> 32);
	return middle << 32 | (uint32_t)low;
}

/* Word i of the window of TWO_OVER_PI_DIGITS that starts at bit `bit`. */
static uint64_t window_word(unsigned bit, unsigned i)
{
	unsigned word = bit / 64 + i, shift = bit % 64;
	uint64_t digits = TWO_OVER_PI_DIGITS[word] << shift;
	if (shift > 0)
		digits |= TWO_OVER_PI_DIGITS[word + 1] >> (64 - shift);
	return digits;
}

/* A binary fraction of 192 bits (highest word first) as two doubles. */
static double2 fraction_value(const uint64_t f[3])
{
	unsigned word = 0;
	while (word < 2 && f[word] == 0)
		word++;
	if (f[word] == 0)
		return (double2){ 0, 0 };
	unsigned shift = (unsigned)__builtin_clzll(f[word]);
	uint64_t next = word + 1 < 3 ? f[word + 1] : 0, last = word + 2 < 3 ? f[word + 2] : 0;
	uint64_t top = f[word] << shift | (shift > 0 ? next >> (64 - shift) : 0);
	uint64_t low = next << shift | (shift > 0 ? last >> (64 - shift) : 0);
	/* 53 bits, then 53 more: both conversions are exact. */
	double hi = (double)(top >> 11);
	double lo = (double)((top & 0x7ff) << 42 | low >> 22);
	int exponent = -(int)(64 * word + shift);
	return double2_quick(scale(hi, exponent - 53), scale(lo, exponent - 106));
}

/* x = m 2ᵉ with a 53-bit m, e ≥ −62. Digits of 2/π of weight above 2^(1−e) contribute multiples of
 * 4 to x 2/π and are omitted; 192 digits from there leave an error below 2⁻¹³⁶. */
static struct reduced reduce_exactly(double x)
{
	uint64_t bits = scalar_bits(x) & 0x7fffffffffffffffu;
	int e = (int)(bits >> 52) - 1075;
	uint64_t m = (bits & 0xfffffffffffffu) | 0x10000000000000u;
	/* The table's first digit has weight 2⁶³. */
	unsigned start = (unsigned)(62 + e);

	/* (m × window) modulo 2¹⁹², with the binary point after the first two bits. */
	uint64_t f[3], high1, high2, unused;
	uint64_t low2 = multiply_wide(m, window_word(start, 2), &high2);
	uint64_t low1 = multiply_wide(m, window_word(start, 1), &high1);
	uint64_t low0 = multiply_wide(m, window_word(start, 0), &unused);
	f[2] = low2;
	f[1] = low1 + high2;
	f[0] = low0 + high1 + (f[1] < low1);

	/* The nearest number of quarter turns, and the rest: at most half a quarter turn. */
	struct reduced out = { .turn = (unsigned)(f[0] >> 62) };
	f[0] = f[0] << 2 | f[1] >> 62;
	f[1] = f[1] << 2 | f[2] >> 62;
	f[2] <<= 2;
	bool over = f[0] >> 63;
	if (over) {
		out.turn++;
		f[2] = ~f[2] + 1;
		f[1] = ~f[1] + (f[2] == 0);
		f[0] = ~f[0] + (f[2] == 0 && f[1] == 0);
	}
	out.r = double2_mul(fraction_value(f), (double2){ HALF_PI_HI, HALF_PI_LO });
	if (over)
		out.r = double2_negate(out.r);
	if (x < 0) {
		out.r = double2_negate(out.r);
		out.turn = 0u - out.turn;
	}
	out.turn &= 3;
	return out;
}

/* x finite. */
static struct reduced reduce(double x)
{
	double size = scalar_abs(x);
	if (size <= QUARTER_PI)
		return (struct reduced){ { x, 0 }, 0 };
	if (size < 0x1p20) {
		double k = scalar_round(x * TWO_OVER_PI);
		/* x − k P₁ is exact, by Sterbenz's lemma or because both end at the same bit. */
		double2 r = double2_sum(x - k * HALF_PI_1, -(k * HALF_PI_2));
		r = double2_add(r, double2_negate(double2_product(k, HALF_PI_3)));
		/* The error is below 2⁻⁹⁸, relative to such an r below 2⁻⁶⁸. */
		if (scalar_abs(r.hi) > 0x1p-30)
			return (struct reduced){ r, (unsigned)((int)k & 3) };
	}
	return reduce_exactly(x);
}

/* sin(r) and cos(r) for the reduced r, in two doubles, with an error below 2⁻⁵⁸. */
static double2 sine_near_zero(double2 r)
{
	double z = r.hi * r.hi;
	double rest = r.hi * z * polynomial(SIN_TERMS, COUNT_OF(SIN_TERMS), z);
	/* sin(hi + lo) = sin hi + lo cos hi. */
	return double2_quick(r.hi, rest + r.lo * (1 - 0.5 * z));
}

static double2 cosine_near_zero(double2 r)
{
	double2 z = double2_product(r.hi, r.hi);
	double rest = z.hi * z.hi * polynomial(COS_TERMS, COUNT_OF(COS_TERMS), z.hi);
	double2 base = double2_quick(1, -0.5 * z.hi);
	return double2_quick(base.hi, base.lo + (rest - 0.5 * z.lo - r.hi * r.lo));
}

/* Below this size x³ is less than the rounding of x; the squares of smaller angles would underflow. */
static const double ANGLE_TINY = 0x1p-27;

void trig_sincos(double x, double *sine, double *cosine)
{
	if (!scalar_is_finite(x)) {
		*sine = *cosine = NOT_A_NUMBER;
		return;
	}
	if (scalar_abs(x) < ANGLE_TINY) {
		*sine = x;
		*cosine = 1;
		return;
	}
	struct reduced a = reduce(x);
	double2 s2 = sine_near_zero(a.r), c2 = cosine_near_zero(a.r);
	double s = s2.hi + s2.lo, c = c2.hi + c2.lo;
	*sine = a.turn == 0 ? s : a.turn == 1 ? c : a.turn == 2 ? -s : -c;
	*cosine = a.turn == 0 ? c : a.turn == 1 ? -s : a.turn == 2 ? -c : s;
}

double trig_sin(double x)
{
	double sine, cosine;
	trig_sincos(x, &sine, &cosine);
	return sine;
}

double trig_cos(double x)
{
	double sine, cosine;
	trig_sincos(x, &sine, &cosine);
	return cosine;
}

/* ---- inverse functions ---------------------------------------------------------------------- */

/* atan(y/x) for 0 ≤ y ≤ x; both are of a size at which products neither overflow nor underflow. */
static double2 atan_octant(double2 y, double2 x)
{
	double ratio = y.hi / x.hi;
	int eighth = (int)(ratio * 8 + 0.5);
	double2 t;
	if (eighth == 0) {
		t = double2_div(y, x);
	} else {
		double c = 0.125 * eighth;
		double2 above = double2_add(y, double2_mul_double(x, -c));
		double2 below = double2_add(x, double2_mul_double(y, c));
		t = double2_div(above, below);
	}
	double z = t.hi * t.hi;
	double rest = t.hi * z * polynomial(ATAN_TERMS, COUNT_OF(ATAN_TERMS), z);
	double2 base = { ATAN_EIGHTHS[eighth][0], ATAN_EIGHTHS[eighth][1] };
	double2 sum = double2_sum(base.hi, t.hi);
	return double2_quick(sum.hi, sum.lo + (base.lo + t.lo + rest));
}

/* The angle of (x, y) in [0, π], for y ≥ 0; not both zero, both finite. */
static double angle_of(double2 y, double2 x)
{
	bool left = x.hi < 0;
	if (left)
		x = double2_negate(x);
	bool steep = y.hi > x.hi;
	double2 large = steep ? y : x, small = steep ? x : y;

	/* A small angle equals the ratio to rounding; here scaling would lose bits. */
	int gap = exponent_of(large.hi) - exponent_of(small.hi);
	if (gap > 64 || small.hi == 0) {
		if (!steep && !left)
			return small.hi / large.hi;
		return steep ? HALF_PI_HI : WHOLE_PI_HI;
	}
	int e = -exponent_of(large.hi);
	if (e > 400 || e < -400) {
		large = (double2){ scale(large.hi, e), scale(large.lo, e) };
		small = (double2){ scale(small.hi, e), scale(small.lo, e) };
	}
	double2 angle = atan_octant(small, large);
	if (steep)
		angle = double2_add((double2){ HALF_PI_HI, HALF_PI_LO }, double2_negate(angle));
	if (left)
		angle = double2_add((double2){ WHOLE_PI_HI, WHOLE_PI_LO }, double2_negate(angle));
	return angle.hi + angle.lo;
}

double trig_atan2(double y, double x)
{
	if (scalar_is_nan(x) || scalar_is_nan(y))
		return NOT_A_NUMBER;
	bool left = scalar_bits(x) >> 63;
	double size_x = scalar_abs(x), size_y = scalar_abs(y), angle;
	if (size_y == 0)
		angle = left ? WHOLE_PI_HI : 0;
	else if (size_x == INFINITE && size_y == INFINITE)
		angle = left ? 3 * QUARTER_PI : QUARTER_PI;
	else if (size_x == INFINITE)
		angle = left ? WHOLE_PI_HI : 0;
	else if (size_y == INFINITE)
		angle = HALF_PI_HI;
	else
		angle = angle_of((double2){ size_y, 0 }, (double2){ x, 0 });
	return scalar_copy_sign(angle, y);
}

double trig_atan(double x)
{
	return trig_atan2(x, 1);
}

/* ---- exponential and logarithm -------------------------------------------------------------- */

/* e^(x.hi + x.lo), |x.hi| ≤ 800: infinite where the result overflows, 0 where it underflows. */
static double exp_of(double2 x)
{
	double k = scalar_round(x.hi * SIXTYFOUR_OVER_LN2);
	double r = ((x.hi - k * LN2_64TH_1) - k * LN2_64TH_2) + x.lo;
	double more = r + r * r * polynomial(EXP_TERMS, COUNT_OF(EXP_TERMS), r);
	int step = (int)k, entry = step & 63, e = (step - entry) / 64;
	double hi = EXP_64THS[entry][0], lo = EXP_64THS[entry][1];
	/* Results below the normal numbers are rounded once more by the scaling. */
	return scale(hi + (lo + hi * more), e);
}

static const double EXP_HIGHEST = 0x1.62e42fefa39efp+9; /* e to it is the last finite result */
static const double EXP_LOWEST = -0x1.74910d52d3051p+9; /* below it the result rounds to 0 */

double trig_exp(double x)
{
	if (scalar_is_nan(x))
		return NOT_A_NUMBER;
	if (x > EXP_HIGHEST)
		return INFINITE;
	if (x < EXP_LOWEST)
		return 0;
	return exp_of((double2){ x, 0 });
}

/* ln x for finite x > 0. */
static double2 log_of(double x)
{
	int k = 0;
	if (x < 0x1p-1022) {
		x *= 0x1p54;
		k = -54;
	}
	uint64_t bits = scalar_bits(x);
	unsigned entry = (unsigned)(bits >> 45) & 127;
	k += exponent_of(x);
	double m = scalar_from_bits((bits & 0xfffffffffffffu) | 0x3ff0000000000000u);
	if (entry >= LOG_HALVED) {
		m *= 0.5;
		k++;
	}
	const double *row = LOG_128THS[entry];
	double2 p = double2_product(row[0], m);
	double2 t = double2_quick(p.hi - 1, p.lo);

	/* ln(1 + t) = t − t²/2 + t³ (…), the first two terms in two doubles. */
	double2 square = double2_mul(t, t);
	double rest = t.hi * square.hi * polynomial(LOG_TERMS, COUNT_OF(LOG_TERMS), t.hi);
	double2 log = double2_add(t, (double2){ -0.5 * square.hi, -0.5 * square.lo });
	log = double2_add_double(log, rest);
	log = double2_add((double2){ row[1], row[2] }, log);
	return double2_add(double2_sum(k * LN2_1, k * LN2_2), log);
}

/* ---- powers --------------------------------------------------------------------------------- */

enum parity { NOT_WHOLE, EVEN, ODD };

/* y finite. */
static enum parity parity_of(double y)
{
	if (scalar_trunc(y) != y)
		return NOT_WHOLE;
	double half = y * 0.5;
	return scalar_trunc(half) == half ? EVEN : ODD;
}

/* x > 0 finite, not 1; y finite, not 0. */
static double pow_positive(double x, double y)
{
	double2 log = log_of(x);
	double size = log.hi * y;
	if (size > 800)
		return INFINITE;
	if (size < -800)
		return 0;
	/* Here |y| < 800/|ln x| ≤ 2⁶³: the product below does not overflow. */
	return exp_of(double2_mul_double(log, y));
}

double trig_pow(double x, double y)
{
	if (y == 0 || x == 1)
		return 1;
	if (scalar_is_nan(x) || scalar_is_nan(y))
		return NOT_A_NUMBER;
	double size = scalar_abs(x);
	if (scalar_abs(y) == INFINITE) {
		if (size == 1)
			return 1;
		return (size > 1) == (y > 0) ? INFINITE : 0;
	}
	enum parity parity = parity_of(y);
	double sign = scalar_bits(x) >> 63 && parity == ODD ? -1.0 : 1.0;
	if (size == 0)
		return sign * (y > 0 ? 0 : INFINITE);
	if (size == INFINITE)
		return sign * (y > 0 ? INFINITE : 0);
	if (x < 0 && parity == NOT_WHOLE)
		return NOT_A_NUMBER;
	return sign * (size == 1 ? 1 : pow_positive(size, y));
}
