/* channels.h: steady flows between walls, as velocities along y in m/s.
 *
 * Couette: belts at x = ±½ m that run with ±¼ m/s. Poiseuille: a square pipe of 1 m around the y axis,
 * ν = ½ m²/s, g = 2 m/s² downwards,
 *
 *   v = −4 g/(ν π³) Σ_odd n (−1)^((n−1)/2)/n³ (1 − cosh(nπz)/cosh(nπ/2)) cos(nπx). */
#ifndef CAIRN_TESTS_CHANNELS_H
#define CAIRN_TESTS_CHANNELS_H

#include <math.h>

#define COUETTE_SPEED 0.25
#define POISEUILLE_GRAVITY 2.0
#define POISEUILLE_VISCOSITY 0.5 /* m²/s */

static inline double couette(double x, double z)
{
	(void)z;
	return 2 * COUETTE_SPEED * x;
}

static inline double poiseuille(double x, double z)
{
	const double pi = 3.141592653589793;
	double sum = 0;
	for (int n = 1; n < 12; n += 2) {
		double sign = n % 4 == 1 ? 1 : -1;
		sum += sign / (n * n * n) * (1 - cosh(n * pi * z) / cosh(n * pi / 2)) *
		       cos(n * pi * x);
	}
	return -4 * POISEUILLE_GRAVITY / (POISEUILLE_VISCOSITY * pi * pi * pi) * sum;
}

#endif
