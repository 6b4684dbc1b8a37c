/* tensor.c: Jacobi's method with a quaternion as the product of its rotations, so that they
 * stay orthogonal. */
#include "protocol/scene/robot/tensor.h"

struct tensor tensor_diagonal(vec3 d)
{
	return (struct tensor){ .xx = d.x, .yy = d.y, .zz = d.z };
}

struct tensor tensor_add(struct tensor a, struct tensor b)
{
	return (struct tensor){ a.xx + b.xx, a.yy + b.yy, a.zz + b.zz,
				a.xy + b.xy, a.xz + b.xz, a.yz + b.yz };
}

struct tensor tensor_scale(struct tensor a, double s)
{
	return (struct tensor){ a.xx * s, a.yy * s, a.zz * s, a.xy * s, a.xz * s, a.yz * s };
}

static vec3 tensor_apply(struct tensor a, vec3 v)
{
	return vec3_make(a.xx * v.x + a.xy * v.y + a.xz * v.z, a.xy * v.x + a.yy * v.y + a.yz * v.z,
			 a.xz * v.x + a.yz * v.y + a.zz * v.z);
}

/* The tensor in the axes that `rotation` turns into those of `a`. */
static struct tensor tensor_in(struct tensor a, quat rotation)
{
	vec3 e[3], t[3];
	for (uint32_t i = 0; i < 3; i++) {
		e[i] = quat_rotate(rotation, vec3_axis(i));
		t[i] = tensor_apply(a, e[i]);
	}
	return (struct tensor){ vec3_dot(e[0], t[0]), vec3_dot(e[1], t[1]), vec3_dot(e[2], t[2]),
				vec3_dot(e[0], t[1]), vec3_dot(e[0], t[2]), vec3_dot(e[1], t[2]) };
}

struct tensor tensor_turn(struct tensor a, quat rotation)
{
	return tensor_in(a, quat_conjugate(rotation));
}

struct tensor tensor_of_point(double mass, vec3 d)
{
	return (struct tensor){ mass * (d.y * d.y + d.z * d.z),
				mass * (d.x * d.x + d.z * d.z),
				mass * (d.x * d.x + d.y * d.y),
				-mass * d.x * d.y,
				-mass * d.x * d.z,
				-mass * d.y * d.z };
}

/* The turn about coordinate axis k that makes the entry between the two others 0. */
static quat jacobi_turn(uint32_t k, double ii, double jj, double ij)
{
	double tau = (jj - ii) / (2 * ij);
	double t = (tau >= 0 ? 1 : -1) / ((tau >= 0 ? tau : -tau) + scalar_sqrt(1 + tau * tau));
	double c = 1 / scalar_sqrt(1 + t * t);
	double half = scalar_sqrt((1 + c) / 2), sine = t * c / (2 * half);
	vec3 v = vec3_zero();
	vec3_set(&v, k, -sine);
	return quat_from_parts(half, v);
}

vec3 tensor_principal(struct tensor a, quat *axes)
{
	enum { SWEEPS = 64 };
	*axes = quat_identity();
	struct tensor d = a;
	double size = scalar_abs(a.xx) + scalar_abs(a.yy) + scalar_abs(a.zz);
	for (uint32_t i = 0; i < SWEEPS; i++) {
		double xy = scalar_abs(d.xy), xz = scalar_abs(d.xz), yz = scalar_abs(d.yz);
		double most = MAX_OF(MAX_OF(xy, xz), yz);
		if (!(most > 1e-16 * size))
			break;
		quat turn = most == xy	 ? jacobi_turn(2, d.xx, d.yy, d.xy)
			    : most == xz ? jacobi_turn(1, d.zz, d.xx, d.xz)
					 : jacobi_turn(0, d.yy, d.zz, d.yz);
		*axes = quat_normalize(quat_mul(*axes, turn));
		d = tensor_in(a, *axes);
	}
	return vec3_make(d.xx, d.yy, d.zz);
}
