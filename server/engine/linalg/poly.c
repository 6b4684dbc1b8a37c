/* poly.c: roots by splitting at the extrema (ch1-3 G-35, exercises 5 and 6).
 *
 * Problem: all x in [low, high] with f(x) = 0. Between two neighbouring zeros of f' the polynomial
 * is monotone, so a change of sign brackets exactly one root and no change means none. The zeros of
 * f' are found in the same way from f'', down to a straight line. Inside a bracket Newton's step is
 * taken when it stays inside and at least halves the last step, else the bracket is halved; when it
 * no longer moves, a small push past the root closes the bracket from the other side. It ends when
 * the bracket is two neighbouring doubles or f is exactly zero.
 * What goes wrong: at a double root rounding lifts the curve off the axis. Each extremum and each end
 * with |f| ≤ POLY_TOUCH Σ |c_i xⁱ| therefore counts as the root of the pieces that meet there.
 * Leading coefficients of zero lower the degree. The zero polynomial has no roots here.
 */
#include "server/engine/linalg/poly.h"

#include "server/engine/math/scalar.h"

/* Halving from the largest double to the smallest takes 2100 steps, and no bracket needs more. Usual
 * polynomials on [0, 1] take 15 a root, counting those of the derivatives; cubics on ±10¹⁰⁰ up to
 * 500. */
enum { STEPS_MAX = 2200 };

double poly_value(const double *c, uint32_t degree, double x)
{
	VALIDATE(degree <= POLY_DEGREE_MAX);
	double sum = c[degree];
	for (uint32_t i = degree; i-- > 0;)
		sum = sum * x + c[i];
	return sum;
}

static double poly_slope(const double *c, uint32_t degree, double x)
{
	double sum = 0;
	for (uint32_t i = degree; i > 0; i--)
		sum = sum * x + i * c[i];
	return sum;
}

/* Whether f is zero at x to the rounding of its terms. */
static bool poly_touches(const double *c, uint32_t degree, double x)
{
	VALIDATE(degree <= POLY_DEGREE_MAX);
	double size = scalar_abs(x), sum = scalar_abs(c[degree]);
	for (uint32_t i = degree; i-- > 0;)
		sum = sum * size + scalar_abs(c[i]);
	return scalar_abs(poly_value(c, degree, x)) <= POLY_TOUCH * sum;
}

/* The root in (a, b), where f(a) and f(b) have different signs. */
static double poly_refine(const double *c, uint32_t degree, double a, double b)
{
	bool rising = poly_value(c, degree, a) < 0;
	double x = a + 0.5 * (b - a), step = b - a, push = 0x1p-52;
	for (int i = 0; i < STEPS_MAX; i++) {
		double f = poly_value(c, degree, x);
		if (f == 0)
			return x;
		bool below = (f < 0) == rising;
		if (below)
			a = x;
		else
			b = x;
		double next = x - f / poly_slope(c, degree, x), near = push * scalar_abs(x);
		bool good = scalar_abs(next - x) <= 0.5 * scalar_abs(step);
		if (scalar_abs(next - x) < near) {
			/* Newton comes no closer: step just beyond, to move the other end of the
			 * bracket. */
			next = below ? x + near : x - near;
			push *= 2;
			good = true;
		}
		if (!(good && next > a && next < b))
			next = a + 0.5 * (b - a);
		if (!(next > a && next < b))
			break;
		step = next - x;
		x = next;
	}
	/* Neighbours: the end where f is smaller, the lower one on a tie. */
	double fa = scalar_abs(poly_value(c, degree, a)), fb = scalar_abs(poly_value(c, degree, b));
	return fa <= fb ? a : b;
}

/* Appends x unless it repeats the last root. A polynomial has at most `degree` roots: where
 * rounding makes one more knot touch zero, that knot lies within rounding of the root before it,
 * which stands for both. */
static uint32_t add_root(double *roots, uint32_t count, uint32_t degree, double x)
{
	if (count == degree || (count > 0 && !(x > roots[count - 1])))
		return count;
	roots[count] = x;
	return count + 1;
}

uint32_t poly_roots(const double *c, uint32_t degree, double low, double high, double *roots)
{
	ASSERT(degree <= POLY_DEGREE_MAX);
	while (degree > 0 && c[degree] == 0)
		degree--;
	if (degree == 0)
		return 0;

	/* The ends and the extrema between them. */
	double knots[POLY_DEGREE_MAX + 1], slope[POLY_DEGREE_MAX];
	for (uint32_t i = 0; i < degree; i++)
		slope[i] = (i + 1) * c[i + 1];
	knots[0] = low;
	uint32_t pieces = 1 + poly_roots(slope, degree - 1, low, high, knots + 1);
	knots[pieces] = high;

	/* A root at a knot belongs to both its pieces; a piece between two roots at knots has no
	 * other. */
	uint32_t count = 0;
	bool zero_here = poly_touches(c, degree, low);
	for (uint32_t i = 0; i < pieces; i++) {
		double a = knots[i], b = knots[i + 1];
		bool zero_there = poly_touches(c, degree, b);
		double fa = poly_value(c, degree, a), fb = poly_value(c, degree, b);
		if (zero_here)
			count = add_root(roots, count, degree, a);
		else if (!zero_there && ((fa < 0 && fb > 0) || (fa > 0 && fb < 0)))
			count = add_root(roots, count, degree, poly_refine(c, degree, a, b));
		zero_here = zero_there;
	}
	return zero_here ? add_root(roots, count, degree, high) : count;
}
