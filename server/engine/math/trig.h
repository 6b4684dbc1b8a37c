/* trig.h: sine, cosine, arctangent, exponential and power, with the same bits on every machine.
 *
 * Only + − × ÷ and sqrt of IEEE doubles are used, without fused operations, so every machine,
 * compiler and optimisation level gives the same result. NaN gives NaN.
 *
 * Accuracy, as the largest distance from the exact value in units of the last place, measured over the
 * 2808 hard points of tests/data/trig_points.txt (bound of the test in brackets): sin 0.56, cos 0.59
 * [0.65]; atan, atan2, exp, pow 0.50 [0.51]. Results of exp and pow below 2⁻¹⁰²² are rounded once more,
 * by less than half a unit.
 */
#ifndef CAIRN_ENGINE_MATH_TRIG_H
#define CAIRN_ENGINE_MATH_TRIG_H

/* Angles in radians of any finite size: the argument is reduced exactly. Infinity gives NaN. */
double trig_sin(double x);
double trig_cos(double x);
void trig_sincos(double x, double *sine, double *cosine);
/* In [−π/2, π/2]. */
double trig_atan(double x);
/* The angle of (x, y) in [−π, π], with the signs of zeros and infinities as C99 F.9.1.4. */
double trig_atan2(double y, double x);
double trig_exp(double x);
/* x to the power y, special cases as C99 F.9.4.4. */
double trig_pow(double x, double y);

#endif
