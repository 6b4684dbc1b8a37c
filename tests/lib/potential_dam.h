/* potential_dam.h: the collapse of a column as potential flow, the inviscid reference of a dam break.
 *
 * The fluid is mirrored at the ground and at the wall behind it, so its whole border is free surface. The
 * potential is that of sources outside, 1.5 intervals from the border, and their mirror images, fitted to the
 * potential at the nodes; nodes move with the fluid, dφ/dt = v²/2 − g y (the mixed method of
 * Longuet-Higgins and Cokelet 1976 with the desingularised sources of Cao et al. 1991). Lengths in widths
 * of the column, times in √(width/g). */
#ifndef CAIRN_TESTS_POTENTIAL_DAM_H
#define CAIRN_TESTS_POTENTIAL_DAM_H

#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { POTENTIAL_NODES = 240, POTENTIAL_GHOSTS = 4 };

struct potential_dam {
	double complex z[POTENTIAL_NODES]; /* from the wall over the top to the ground */
	double phi[POTENTIAL_NODES];
	double time;
	int nodes;
};

/* Node i, or its mirror image beyond the ends. */
static inline double complex potential_node(const double complex *z, int nodes, int i)
{
	if (i < 0)
		return -conj(z[-i]);
	return i < nodes ? z[i] : conj(z[2 * nodes - 2 - i]);
}

static inline double potential_value(const double *phi, int nodes, int i)
{
	return i < 0 ? phi[-i] : i < nodes ? phi[i] : phi[2 * nodes - 2 - i];
}

/* Solves the n equations a x = b with partial pivoting; x in b. */
static inline void potential_solve(double (*a)[POTENTIAL_NODES + 1], double *b, int n)
{
	for (int k = 0; k < n; k++) {
		int best = k;
		for (int i = k + 1; i < n; i++)
			best = fabs(a[i][k]) > fabs(a[best][k]) ? i : best;
		for (int j = 0; j < n && best != k; j++) {
			double swap = a[k][j];
			a[k][j] = a[best][j], a[best][j] = swap;
		}
		double swap = b[k];
		b[k] = b[best], b[best] = swap;
		for (int i = k + 1; i < n; i++) {
			double factor = a[i][k] / a[k][k];
			for (int j = k + 1; j < n; j++)
				a[i][j] -= factor * a[k][j];
			b[i] -= factor * b[k];
		}
	}
	for (int k = n; k-- > 0;) {
		for (int j = k + 1; j < n; j++)
			b[k] -= a[k][j] * b[j];
		b[k] /= a[k][k];
	}
}

/* Velocities of the nodes, as complex numbers. */
static inline void potential_velocities(const double complex *z, const double *phi, int n,
					double complex *v)
{
	static double a[POTENTIAL_NODES + 1][POTENTIAL_NODES + 1];
	static double q[POTENTIAL_NODES + 1];
	static double complex s[POTENTIAL_NODES];
	for (int i = 0; i < n; i++) {
		double complex along = potential_node(z, n, i + 1) - potential_node(z, n, i - 1);
		s[i] = z[i] + 0.75 * I * along;
	}
	s[0] = I * cimag(s[0]);
	s[n - 1] = creal(s[n - 1]);
	for (int i = 0; i <= n; i++) {
		for (int k = 0; k < n; k++) {
			const double complex at = i < n ? z[i] : 0;
			a[i][k] = i == n ? 1
					 : log(cabs(at - s[k]) * cabs(at + conj(s[k])) *
					       cabs(at - conj(s[k])) * cabs(at + s[k]));
		}
		a[i][n] = i < n;
		q[i] = i < n ? phi[i] : 0;
	}
	potential_solve(a, q, n + 1);
	for (int i = 0; i < n; i++) {
		v[i] = 0;
		for (int k = 0; k < n; k++)
			v[i] += q[k] * (1 / conj(z[i] - s[k]) + 1 / conj(z[i] + conj(s[k])) +
					1 / conj(z[i] - conj(s[k])) + 1 / conj(z[i] + s[k]));
	}
	v[0] = I * cimag(v[0]);
	v[n - 1] = creal(v[n - 1]);
}

/* A column of the height `n2` with its corner rounded by 3 % of the width. */
static inline void potential_start(struct potential_dam *self, double n2, int nodes)
{
	const double r = 0.03, quarter = 1.5707963267948966;
	const double top = 1 - r, arc = quarter * r, all = top + arc + n2 - r;
	self->nodes = nodes;
	self->time = 0;
	for (int i = 0; i < nodes; i++) {
		double s = all * i / (nodes - 1), turn = quarter - (s - top) / r;
		self->phi[i] = 0;
		if (s < top)
			self->z[i] = s + I * n2;
		else if (s < top + arc)
			self->z[i] = 1 - r + r * cos(turn) + I * (n2 - r + r * sin(turn));
		else
			self->z[i] = 1 + I * fmax(all - s, 0);
	}
}

/* Five points of a smoothing of third order against the sawtooth of Longuet-Higgins and Cokelet. */
static inline void potential_smooth(struct potential_dam *self)
{
	static const double weight[5] = { -1, 4, 10, 4, -1 };
	double complex z[POTENTIAL_NODES];
	double phi[POTENTIAL_NODES];
	for (int i = 0; i < self->nodes; i++) {
		z[i] = 0, phi[i] = 0;
		for (int k = 0; k < 5; k++) {
			z[i] += weight[k] / 16 * potential_node(self->z, self->nodes, i + k - 2);
			phi[i] +=
				weight[k] / 16 * potential_value(self->phi, self->nodes, i + k - 2);
		}
	}
	z[0] = I * cimag(z[0]);
	z[self->nodes - 1] = creal(z[self->nodes - 1]);
	memcpy(self->z, z, sizeof z);
	memcpy(self->phi, phi, sizeof phi);
}

/* Places the nodes anew along the border, denser towards the front, by cubics through four nodes. */
static inline void potential_regrid(struct potential_dam *self)
{
	enum { G = POTENTIAL_GHOSTS };
	double length[POTENTIAL_NODES + 2 * G];
	double complex z[POTENTIAL_NODES];
	double phi[POTENTIAL_NODES];
	int n = self->nodes, k = 1;
	length[0] = 0;
	for (int i = 1; i < n + 2 * G; i++)
		length[i] = length[i - 1] + cabs(potential_node(self->z, n, i - G) -
						 potential_node(self->z, n, i - G - 1));
	double start = length[G], all = length[G + n - 1] - start, bunch = 1.5;
	for (int i = 0; i < n; i++) {
		double part = (1 - exp(-bunch * i / (n - 1))) / (1 - exp(-bunch));
		double at = start + all * part;
		while (k + 3 < n + 2 * G && length[k + 1] < at)
			k++;
		z[i] = 0, phi[i] = 0;
		for (int a = k - 1; a <= k + 2; a++) {
			double w = 1;
			for (int b = k - 1; b <= k + 2; b++)
				w *= a == b ? 1 : (at - length[b]) / (length[a] - length[b]);
			z[i] += w * potential_node(self->z, n, a - G);
			phi[i] += w * potential_value(self->phi, n, a - G);
		}
	}
	z[0] = I * cimag(z[0]);
	z[n - 1] = creal(z[n - 1]);
	memcpy(self->z, z, sizeof z);
	memcpy(self->phi, phi, sizeof phi);
}

/* A step of Runge and Kutta, at most `most`; then the nodes are placed anew. */
static inline void potential_step(struct potential_dam *self, double most)
{
	static const double ahead[4] = { 0, 0.5, 0.5, 1 }, weight[4] = { 1, 2, 2, 1 };
	double complex z[POTENTIAL_NODES], v[POTENTIAL_NODES], way[POTENTIAL_NODES] = { 0 };
	double phi[POTENTIAL_NODES], rate[POTENTIAL_NODES] = { 0 }, climb[POTENTIAL_NODES] = { 0 };
	double step = most;
	int n = self->nodes;
	for (int stage = 0; stage < 4; stage++) {
		for (int i = 0; i < n; i++) {
			z[i] = self->z[i] + (stage ? ahead[stage] * step * v[i] : 0);
			phi[i] = self->phi[i] + ahead[stage] * step * rate[i];
		}
		potential_velocities(z, phi, n, v);
		for (int i = 0; i < n; i++) {
			double speed = cabs(v[i]);
			rate[i] = 0.5 * speed * speed - cimag(z[i]);
			if (stage == 0 && i > 0)
				step = fmin(step, 0.4 * cabs(z[i] - z[i - 1]) / fmax(speed, 0.05));
			way[i] += weight[stage] / 6 * v[i];
			climb[i] += weight[stage] / 6 * rate[i];
		}
	}
	for (int i = 0; i < n; i++) {
		self->z[i] += step * way[i];
		self->phi[i] += step * climb[i];
	}
	self->time += step;
	potential_smooth(self);
	potential_regrid(self);
}

#endif
