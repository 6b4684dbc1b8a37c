/* fluid_kernel.h: the smoothing kernels of fluids and their integrals over half-spaces (ch1-3 P-46, P-47).
 *
 * A kernel W(r, h) has the integral 1 and ends at r = h. With q = r/h:
 *
 *   cubic      8/(π h³) (6 q³ − 6 q² + 1 | 2 (1 − q)³)      density and pressure
 *   viscosity  ∇²W = 45/(π h⁵) (1 − q)                      viscosity
 *
 * The Laplacian is that in space, W'' + 2 W'/r; the book prints W''. The book's pair for pressure,
 * densities by poly6 and gradients of the spiky kernel, was tried: forces are then no gradient of an
 * energy, and a pool at rest throws its water 3 m high within a second. A half-space whose surface is
 * the distance d from a particle holds the part λ(d) of the kernel:
 *
 *   λ(d) = ∫_d^h F(s)/h ds,   F(d)/h = −λ'(d) = 2π ∫_d^h r W(r) dr
 *
 * (the cap of a shell of radius r beyond d has the area 2π r (r − d)). All are polynomials in
 * δ = d/h. For δ < 0, λ(−δ) = 1 − λ(δ) and F(−δ) = F(δ). */
#ifndef CAIRN_ENGINE_FLUIDS_FLUID_KERNEL_H
#define CAIRN_ENGINE_FLUIDS_FLUID_KERNEL_H

#include "server/engine/math/vec3.h"

#define FLUID_PI 3.141592653589793

/* W h³ at q in [0, 1]. */
static inline double fluid_kernel_value(double q)
{
	double u = 1 - q;
	VALIDATE(q >= 0 && q <= 1);
	return 8 / FLUID_PI * (q < 0.5 ? 6 * q * q * (q - 1) + 1 : 2 * u * u * u);
}

/* W' h⁵ / r at q in [0, 1]: ∇W is this times the vector from the other particle, over h⁵. It is finite
 * at 0, so coincident particles do not push (P-51). */
static inline double fluid_kernel_slope(double q)
{
	double u = 1 - q;
	VALIDATE(q >= 0 && q <= 1);
	return 8 / FLUID_PI * (q < 0.5 ? 18 * q - 12 : -6 * u * u / q);
}

/* ∇²W h⁵ of the viscosity kernel. */
static inline double fluid_kernel_laplacian(double q)
{
	VALIDATE(q >= 0 && q <= 1);
	return 45 / FLUID_PI * (1 - q);
}

/* F(δ), 0 ≤ δ ≤ 1. */
static inline double fluid_half_slope(double d)
{
	double u = 1 - d, d2 = d * d;
	VALIDATE(d >= 0 && d <= 1);
	if (d >= 0.5)
		return 16 * u * u * u * u * (0.5 - 0.4 * u);
	/* 16 (J(½) + K(½) − J(δ)), J = 6/5 δ⁵ − 3/2 δ⁴ + δ²/2. */
	return 16 * (0.0875 - d2 * (0.5 + d2 * (1.2 * d - 1.5)));
}

/* λ(δ), 0 ≤ δ ≤ 1. */
static inline double fluid_half_part(double d)
{
	double u = 1 - d, d2 = d * d;
	VALIDATE(d >= 0 && d <= 1);
	if (d >= 0.5)
		return 16 * u * u * u * u * u * (0.1 - 0.4 / 6 * u);
	/* M = δ⁶/5 − 3/10 δ⁵ + δ³/6 is the integral of J. */
	double m = d2 * d * (1.0 / 6 + d2 * (0.2 * d - 0.3));
	return 0.5 - 16 * (0.0875 * d - m);
}

/* The integral of ∇²W h² of the viscosity kernel over a half-space, 0 ≤ δ ≤ 1, each place weighted by how
 * much the velocity there, which goes on linearly beyond the surface, differs more than at it; at
 * most FLUID_MIRROR_MAX, which bounds the drag of a wall that a particle touches. */
#define FLUID_MIRROR_MAX 8.0
static inline double fluid_half_drag(double d)
{
	double part = 90 * (1.0 / 12 + d * (-1.0 / 6 + d * d * (1.0 / 6 - d / 12))), d2 = d * d;
	double moment = 45 * (1.0 / 20 + d2 * (-1.0 / 6 + d2 * (0.25 - 2.0 / 15 * d)));
	VALIDATE(d >= 0 && d <= 1);
	return moment < FLUID_MIRROR_MAX * d * part ? moment / d : FLUID_MIRROR_MAX * part;
}

/* A sixth of the integral of r² ∇²W of the viscosity kernel over a half-space, 0 ≤ δ ≤ 1: 1 over the whole
 * space. */
static inline double fluid_half_spread(double d)
{
	double u = 1 - d;
	VALIDATE(d >= 0 && d <= 1);
	return u * u * u * (0.5 + d * (0.75 + d * (0.75 + 0.5 * d)));
}

#endif
