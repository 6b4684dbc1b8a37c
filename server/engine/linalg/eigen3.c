/* eigen3.c: cyclic Jacobi (ch1-3 G-05; Golub and Van Loan, 8.5).
 *
 * Each rotation in the plane (p, q) makes a_pq zero: with τ = (a_qq − a_pp)/(2 a_pq) the tangent is
 * the smaller root of t² + 2 τ t − 1 = 0, t = sign(τ)/(|τ| + sqrt(1 + τ²)), hence |angle| ≤ π/4.
 * The sweep order is (x,y), (x,z), (y,z), always. The off-diagonal mass shrinks quadratically; an
 * entry that no longer changes its diagonal neighbours counts as zero, and then it is set to zero.
 * What goes wrong: repeated eigenvalues leave axes arbitrary (here: whatever the fixed order
 * gives); entries that are not finite (eigen3.h says the result); overflow in τ (prevented by
 * scaling).
 */
#include "server/engine/linalg/eigen3.h"

/* Six sweeps are enough for any 3×3 matrix of doubles; ten is a safety limit that no test reaches. */
enum { SWEEPS_MAX = 10 };

struct jacobi {
	double a[3][3]; /* symmetric, both halves kept */
	double v[3][3]; /* columns are the axes so far */
};

static bool is_negligible(const struct jacobi *j, int p, int q)
{
	double off = scalar_abs(j->a[p][q]);
	double pp = scalar_abs(j->a[p][p]), qq = scalar_abs(j->a[q][q]);
	return pp + off * 0x1p-2 == pp && qq + off * 0x1p-2 == qq;
}

static void rotate_plane(struct jacobi *j, int p, int q)
{
	VALIDATE(0 <= p && p < q && q < 3);
	double off = j->a[p][q];
	int r = 3 - p - q; /* the axis that is not turned */
	if (is_negligible(j, p, q)) {
		j->a[p][q] = j->a[q][p] = 0;
		return;
	}
	double tau = (j->a[q][q] - j->a[p][p]) / (2 * off);
	double t = (tau < 0 ? -1.0 : 1.0) / (scalar_abs(tau) + scalar_sqrt(1 + tau * tau));
	VALIDATE(scalar_abs(t) <= 1);
	double c = 1 / scalar_sqrt(1 + t * t), s = t * c;
	j->a[p][p] -= t * off;
	j->a[q][q] += t * off;
	j->a[p][q] = j->a[q][p] = 0;
	double rp = j->a[r][p], rq = j->a[r][q];
	j->a[r][p] = j->a[p][r] = c * rp - s * rq;
	j->a[r][q] = j->a[q][r] = s * rp + c * rq;
	for (int i = 0; i < 3; i++) {
		double vp = j->v[i][p], vq = j->v[i][q];
		j->v[i][p] = c * vp - s * vq;
		j->v[i][q] = s * vp + c * vq;
	}
}

static double largest_off(const struct jacobi *j)
{
	return scalar_max(scalar_max(scalar_abs(j->a[0][1]), scalar_abs(j->a[0][2])),
			  scalar_abs(j->a[1][2]));
}

/* Sorts into descending order by insertion; equal values stay in their order. */
static void order_descending(const double value[3], int order[3])
{
	for (int i = 0; i < 3; i++) {
		int at = i;
		for (; at > 0 && value[order[at - 1]] < value[i]; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
}

static vec3 jacobi_axis(const struct jacobi *j, int i)
{
	VALIDATE(0 <= i && i < 3);
	return vec3_make(j->v[0][i], j->v[1][i], j->v[2][i]);
}

struct eigen3 eigen3_symmetric(mat3 m)
{
	struct eigen3 result = { .vectors = mat3_identity(), .residue = 1.0 / 0.0 };
	double entries[6] = { m.x.x, m.x.y, m.x.z, m.y.y, m.y.z, m.z.z };
	double size = 0;
	for (int i = 0; i < 6; i++) {
		if (!scalar_is_finite(entries[i]))
			return result;
		size = scalar_max(size, scalar_abs(entries[i]));
	}
	/* Scaling by a power of two is exact and keeps sums and squares from overflowing. */
	double scale = size > 0x1p500 ? 0x1p-600 : size < 0x1p-500 ? 0x1p500 : 1.0;
	for (int i = 0; i < 6; i++)
		entries[i] *= scale;
	struct jacobi j = {
		{ { entries[0], entries[1], entries[2] },
		  { entries[1], entries[3], entries[4] },
		  { entries[2], entries[4], entries[5] } },
		{ { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } },
	};
	while (largest_off(&j) > 0 && result.sweeps < SWEEPS_MAX) {
		rotate_plane(&j, 0, 1);
		rotate_plane(&j, 0, 2);
		rotate_plane(&j, 1, 2);
		result.sweeps++;
	}

	int order[3];
	double diagonal[3] = { j.a[0][0], j.a[1][1], j.a[2][2] };
	order_descending(diagonal, order);
	ASSERT(diagonal[order[0]] >= diagonal[order[1]] &&
	       diagonal[order[1]] >= diagonal[order[2]]);
	ASSERT(order[0] + order[1] + order[2] == 3);
	result.residue = largest_off(&j) / scale;
	result.values = vec3_make(diagonal[order[0]] / scale, diagonal[order[1]] / scale,
				  diagonal[order[2]] / scale);
	result.vectors = mat3_columns(jacobi_axis(&j, order[0]), jacobi_axis(&j, order[1]),
				      jacobi_axis(&j, order[2]));
	if (mat3_det(result.vectors) < 0)
		result.vectors.z = vec3_negate(result.vectors.z);
	return result;
}
