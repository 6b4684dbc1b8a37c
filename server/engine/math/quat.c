/* quat.c: conversions between quaternions, matrices, axes and angles (app C-03, C-04, C-06).
 *
 * The book's printed axis-angle matrix is the transpose of the one used here and contradicts its
 * printed quaternion matrix (docs/SOURCES.md, corrections). Here R(u, θ) = R(q), and both turn
 * counter-clockwise for an observer towards whom the axis points.
 */
#include "server/engine/math/quat.h"

#include "server/base/inline.h"
#include "server/engine/math/mat3.h"
#include "server/engine/math/trig.h"

/* Below this half angle (rad) sin φ / φ is 1 − φ²/6 to rounding, because φ⁴/120 < 2⁻⁵³. A larger value
 * would lose digits, a smaller one only time. */
static const double HALF_ANGLE_SMALL = 1e-4;

quat quat_from_axis_angle(vec3 axis, double angle)
{
	double sine, cosine;
	trig_sincos(0.5 * angle, &sine, &cosine);
	return quat_from_parts(cosine, vec3_scale(axis, sine));
}

/* Inline, because a call passes the result by memory, and its copy waits for that. */
ALWAYS_INLINE quat turn_by(vec3 r)
{
	vec3 half = vec3_scale(r, 0.5);
	double square = vec3_length_squared(half), phi = scalar_sqrt(square);
	if (phi < HALF_ANGLE_SMALL)
		return quat_normalize(
			quat_from_parts(1.0 - square / 2.0, vec3_scale(half, 1.0 - square / 6.0)));
	double sine, cosine;
	trig_sincos(phi, &sine, &cosine);
	return quat_from_parts(cosine, vec3_scale(half, sine / phi));
}

quat quat_from_rotation_vector(vec3 r)
{
	return turn_by(r);
}

/* The one of q and −q with w > 0; for a half turn (w = 0) the one whose first nonzero component is
 * positive. */
static quat quat_canonical(quat q)
{
	double lead = q.w != 0 ? q.w : q.x != 0 ? q.x : q.y != 0 ? q.y : q.z;
	return lead < 0 ? quat_negate(q) : q;
}

void quat_to_axis_angle(quat q, vec3 *axis, double *angle)
{
	q = quat_canonical(q);
	/* Scaling by a power of two is exact and keeps the square from underflowing. */
	vec3 v = quat_vector(q);
	double largest = vec3_max_component(vec3_abs(v));
	double scale = largest < 0x1p-500 ? 0x1p600 : 1.0;
	double length;
	*axis = vec3_normalize_length(vec3_scale(v, scale), &length);
	if (!(length > 0)) {
		*axis = vec3_axis(0);
		*angle = 0;
		return;
	}
	*angle = 2.0 * trig_atan2(length / scale, q.w);
}

vec3 quat_to_rotation_vector(quat q)
{
	vec3 axis;
	double angle;
	quat_to_axis_angle(q, &axis, &angle);
	return vec3_scale(axis, angle);
}

quat quat_integrate(quat q, vec3 spin, double time)
{
	return quat_normalize(quat_mul(turn_by(vec3_scale(spin, time)), q));
}

/* With φ half the angle: (1 + a·b, a × b) is 2 cos φ times the result, accurate up to a right angle.
 * Beyond, 1 + a·b cancels, but a + b does not (a difference of close numbers is exact):
 * s = |a × (a + b)| = sin 2φ is accurate to rounding, and so are sin²φ = (1 − a·b)/2 and
 * cos φ = s/(2 sin φ). */
quat quat_between(vec3 a, vec3 b)
{
	double dot = vec3_dot(a, b), s;
	if (dot >= 0)
		return quat_normalize(quat_from_parts(1.0 + dot, vec3_cross(a, b)));
	vec3 axis = vec3_normalize_length(vec3_cross(a, vec3_add(a, b)), &s);
	if (s == 0) {
		vec3 unused;
		vec3_frame(a, &axis, &unused);
	}
	double sine = scalar_sqrt(0.5 * (1.0 - dot));
	return quat_normalize(quat_from_parts(s / (2 * sine), vec3_scale(axis, sine)));
}

mat3 mat3_from_axis_angle(vec3 u, double angle)
{
	double s, c;
	trig_sincos(angle, &s, &c);
	vec3 tu = vec3_scale(u, 1.0 - c), su = vec3_scale(u, s);
	return (mat3){ { tu.x * u.x + c, tu.x * u.y + su.z, tu.x * u.z - su.y },
		       { tu.x * u.y - su.z, tu.y * u.y + c, tu.y * u.z + su.x },
		       { tu.x * u.z + su.y, tu.y * u.z - su.x, tu.z * u.z + c } };
}

/* 4w² = 1 + tr R and 4x² = 1 + 2 Rxx − tr R, …; the largest of the four is at least 1, so dividing
 * by its root loses nothing. Ties go to the first of w, x, y, z. */
quat quat_from_mat3(mat3 r)
{
	double trace = mat3_trace(r);
	double ww = 1 + trace, xx = 1 + 2 * r.x.x - trace, yy = 1 + 2 * r.y.y - trace,
	       zz = 1 + 2 * r.z.z - trace;
	quat q;
	if (ww >= xx && ww >= yy && ww >= zz)
		q = quat_make(ww, r.y.z - r.z.y, r.z.x - r.x.z, r.x.y - r.y.x);
	else if (xx >= yy && xx >= zz)
		q = quat_make(r.y.z - r.z.y, xx, r.x.y + r.y.x, r.z.x + r.x.z);
	else if (yy >= zz)
		q = quat_make(r.z.x - r.x.z, r.x.y + r.y.x, yy, r.y.z + r.z.y);
	else
		q = quat_make(r.x.y - r.y.x, r.z.x + r.x.z, r.y.z + r.z.y, zz);
	return quat_canonical(quat_normalize(q));
}

mat3 mat3_orthonormalize(mat3 r)
{
	vec3 x = vec3_normalize(r.x);
	vec3 y = vec3_normalize(vec3_mul_sub(r.y, x, vec3_dot(x, r.y)));
	/* The second pass over y removes the rounding error that the first leaves if the columns are
	 * nearly dependent. */
	y = vec3_normalize(vec3_mul_sub(y, x, vec3_dot(x, y)));
	return mat3_columns(x, y, vec3_cross(x, y));
}
