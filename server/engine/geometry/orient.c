/* orient.c: signs of determinants, by a filter and then without rounding.
 *
 * Problem: sgn det(b − a, c − a, p − a) and the 2×2 likewise. The rounded value differs from the
 * true one by at most a few units of 2⁻⁵³ times the sum of the sizes of its products (Shewchuk 1997
 * finds 7 for the first, 3 for the second; 8 are used): beyond that its sign is right. Otherwise
 * the value is summed without rounding: each difference is two doubles exactly (double2_sum), a
 * product of three of their halves is four doubles exactly, and the whole is at most 6 × 8 × 4 of
 * them, added one by one to an expansion: doubles that do not overlap, smallest first, whose sum is
 * exact and whose last one has the sign of the whole.
 *
 * What goes wrong: products below 2⁻¹⁰⁷⁴ vanish, hence the range of coordinates in the header.
 */
#include "server/engine/geometry/orient.h"

#include "server/engine/math/double_double.h"

/* 8 units of 2⁻⁵³: with fewer than 7 the filter could return a wrong sign. */
#define FILTER 0x1p-50

enum { PARTS_MAX = 6 * 8 * 4 };

struct expansion {
	uint32_t count;
	double part[PARTS_MAX]; /* none is 0 */
};

static void expansion_add(struct expansion *self, double x)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < self->count; i++) {
		double2 sum = double2_sum(x, self->part[i]);
		x = sum.hi;
		if (sum.lo != 0)
			self->part[kept++] = sum.lo;
	}
	if (x != 0)
		self->part[kept++] = x;
	ASSERT(kept <= PARTS_MAX);
	self->count = kept;
}

static void expansion_add_product(struct expansion *self, double a, double b, double c)
{
	double2 ab = double2_product(a, b);
	double2 high = double2_product(ab.hi, c), low = double2_product(ab.lo, c);
	expansion_add(self, low.lo);
	expansion_add(self, low.hi);
	expansion_add(self, high.lo);
	expansion_add(self, high.hi);
}

/* Adds u v w, each the sum of two doubles. */
static void expansion_add_term(struct expansion *self, double2 u, double2 v, double2 w)
{
	for (uint32_t k = 0; k < 8; k++) {
		double a = k & 1 ? u.hi : u.lo, b = k & 2 ? v.hi : v.lo, c = k & 4 ? w.hi : w.lo;
		if (a != 0 && b != 0 && c != 0)
			expansion_add_product(self, a, b, c);
	}
}

static int expansion_sign(const struct expansion *self)
{
	VALIDATE(self->count <= PARTS_MAX);
	if (self->count == 0)
		return 0;
	return self->part[self->count - 1] > 0 ? 1 : -1;
}

/* b − a exactly, by axes. */
static void exact_difference(vec3 b, vec3 a, double2 out[3])
{
	out[0] = double2_sum(b.x, -a.x);
	out[1] = double2_sum(b.y, -a.y);
	out[2] = double2_sum(b.z, -a.z);
}

static int exact_plane(vec3 a, vec3 b, vec3 c, vec3 p)
{
	double2 u[3], v[3], w[3];
	struct expansion sum;
	exact_difference(b, a, u);
	exact_difference(c, a, v);
	exact_difference(p, a, w);
	sum.count = 0;
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t j = (i + 1) % 3, k = (i + 2) % 3;
		expansion_add_term(&sum, u[i], v[j], w[k]);
		expansion_add_term(&sum, double2_negate(u[j]), v[i], w[k]);
	}
	return expansion_sign(&sum);
}

int orient_plane(vec3 a, vec3 b, vec3 c, vec3 p)
{
	vec3 u = vec3_sub(b, a), v = vec3_sub(c, a), w = vec3_sub(p, a);
	double value = vec3_dot(vec3_cross(u, v), w);
	vec3 i = vec3_abs(u), j = vec3_abs(v), k = vec3_abs(w);
	double size = (i.y * j.z + i.z * j.y) * k.x + (i.z * j.x + i.x * j.z) * k.y +
		      (i.x * j.y + i.y * j.x) * k.z;
	if (value > FILTER * size)
		return 1;
	if (value < -FILTER * size)
		return -1;
	return size == 0 ? 0 : exact_plane(a, b, c, p);
}

int orient_line(uint32_t axis, vec3 a, vec3 b, vec3 p)
{
	return orient_vectors(axis, a, b, a, p);
}

int orient_vectors(uint32_t axis, vec3 a, vec3 b, vec3 c, vec3 d)
{
	VALIDATE(axis < 3);
	static const double2 ONE = { 1, 0 };
	uint32_t x = (axis + 1) % 3, y = (axis + 2) % 3;
	double ux = vec3_get(b, x) - vec3_get(a, x), uy = vec3_get(b, y) - vec3_get(a, y);
	double wx = vec3_get(d, x) - vec3_get(c, x), wy = vec3_get(d, y) - vec3_get(c, y);
	double value = ux * wy - uy * wx;
	double size = scalar_abs(ux * wy) + scalar_abs(uy * wx);
	if (value > FILTER * size)
		return 1;
	if (value < -FILTER * size)
		return -1;
	if (size == 0)
		return 0;
	double2 u[3], w[3];
	struct expansion sum = { .count = 0 };
	exact_difference(b, a, u);
	exact_difference(d, c, w);
	expansion_add_term(&sum, u[x], w[y], ONE);
	expansion_add_term(&sum, double2_negate(u[y]), w[x], ONE);
	return expansion_sign(&sum);
}

bool orient_collinear(vec3 a, vec3 b, vec3 c)
{
	return orient_line(0, a, b, c) == 0 && orient_line(1, a, b, c) == 0 &&
	       orient_line(2, a, b, c) == 0;
}
