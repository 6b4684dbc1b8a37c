/* poly.h: real roots of polynomials of low degree inside an interval (ch1-3 G-35). */
#ifndef CAIRN_ENGINE_LINALG_POLY_H
#define CAIRN_ENGINE_LINALG_POLY_H

#include "server/base/base.h"

enum { POLY_DEGREE_MAX = 6 };

/* Σ c[i] xⁱ by Horner's rule; c has degree + 1 entries, constant first. */
double poly_value(const double *c, uint32_t degree, double x);

/* The distinct real roots in [low, high], ascending, into `roots` (room for `degree`). Returns how
 * many. Leading zeros in c are allowed; the zero polynomial has no roots here. A touching (double)
 * root is found when |f| at the extremum is at most POLY_TOUCH times Σ |c_i xⁱ|, i.e. zero to
 * rounding. degree ≤ POLY_DEGREE_MAX, low ≤ high, all finite, and so is every term inside. Each
 * root is within rounding of a change of sign (its bracket is at most two neighbouring doubles
 * wide) or is such an extremum. */
uint32_t poly_roots(const double *c, uint32_t degree, double low, double high, double *roots);

#define POLY_TOUCH 0x1p-48 /* 16 units of rounding; larger reports near misses as touches */

#endif
