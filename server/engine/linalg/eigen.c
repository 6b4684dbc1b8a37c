/* eigen.c: cyclic Jacobi (ch1-3 G-05; Golub and Van Loan, 8.5).
 *
 * Each rotation in the plane (p, q) makes a_pq zero: with τ = (a_qq − a_pp)/(2 a_pq) the tangent is
 * the smaller root of t² + 2 τ t − 1 = 0, t = sign(τ)/(|τ| + sqrt(1 + τ²)), hence |angle| ≤ π/4.
 * The sweep order is row by row, (0,1), (0,2), … (1,2), …, always. The off-diagonal mass shrinks
 * quadratically; an entry that no longer changes its diagonal neighbours counts as zero, and then it is
 * set to zero. What goes wrong: repeated eigenvalues leave axes arbitrary (here: whatever the fixed
 * order gives); entries that are not finite (eigen.h says the result); overflow in τ (prevented by
 * scaling).
 */
#include "server/engine/linalg/eigen.h"

#include "server/engine/math/scalar.h"

/* Six sweeps are enough for any 3×3 matrix of doubles, ten for 6×6; this is a safety limit that no test
 * reaches. */
enum { SWEEPS_MAX = 16 };

struct jacobi {
	uint32_t count;
	double a[EIGEN_MAX][EIGEN_MAX]; /* symmetric, both halves kept */
	double v[EIGEN_MAX][EIGEN_MAX]; /* columns are the axes so far */
};

static bool is_negligible(const struct jacobi *j, uint32_t p, uint32_t q)
{
	double off = scalar_abs(j->a[p][q]);
	double pp = scalar_abs(j->a[p][p]), qq = scalar_abs(j->a[q][q]);
	return pp + off * 0x1p-2 == pp && qq + off * 0x1p-2 == qq;
}

static void rotate_plane(struct jacobi *j, uint32_t p, uint32_t q)
{
	VALIDATE(p < q && q < j->count);
	double off = j->a[p][q];
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
	for (uint32_t r = 0; r < j->count; r++) {
		if (r == p || r == q)
			continue;
		double rp = j->a[r][p], rq = j->a[r][q];
		j->a[r][p] = j->a[p][r] = c * rp - s * rq;
		j->a[r][q] = j->a[q][r] = s * rp + c * rq;
	}
	for (uint32_t i = 0; i < j->count; i++) {
		double vp = j->v[i][p], vq = j->v[i][q];
		j->v[i][p] = c * vp - s * vq;
		j->v[i][q] = s * vp + c * vq;
	}
}

static double largest_off(const struct jacobi *j)
{
	double largest = 0;
	for (uint32_t p = 0; p < j->count; p++)
		for (uint32_t q = p + 1; q < j->count; q++)
			largest = scalar_max(largest, scalar_abs(j->a[p][q]));
	return largest;
}

/* Sorts into descending order by insertion; equal values stay in their order. */
static void order_descending(const struct jacobi *j, uint32_t order[EIGEN_MAX])
{
	for (uint32_t i = 0; i < j->count; i++) {
		uint32_t at = i;
		for (; at > 0 && j->a[order[at - 1]][order[at - 1]] < j->a[i][i]; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
}

/* The largest size of an entry of the lower triangle; infinite if one is not finite. */
static double size_of(const double *a, uint32_t count, uint32_t stride)
{
	double size = 0;
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = 0; k <= i; k++) {
			double entry = a[(size_t)i * stride + k];
			if (!scalar_is_finite(entry))
				return __builtin_inf();
			size = scalar_max(size, scalar_abs(entry));
		}
	return size;
}

struct eigen eigen_symmetric(const double *a, uint32_t count, uint32_t stride)
{
	ASSERT(count > 0 && count <= EIGEN_MAX && stride >= count);
	struct eigen result = { .count = count, .residue = __builtin_inf() };
	double size = size_of(a, count, stride);
	for (uint32_t i = 0; i < count; i++)
		result.vectors[i][i] = 1;
	if (!scalar_is_finite(size))
		return result;
	/* Scaling by a power of two is exact and keeps sums and squares from overflowing. */
	double scale = size > 0x1p500 ? 0x1p-600 : size < 0x1p-500 ? 0x1p500 : 1.0;
	struct jacobi j = { .count = count };
	for (uint32_t i = 0; i < count; i++) {
		j.v[i][i] = 1;
		for (uint32_t k = 0; k <= i; k++)
			j.a[i][k] = j.a[k][i] = a[(size_t)i * stride + k] * scale;
	}
	while (largest_off(&j) > 0 && result.sweeps < SWEEPS_MAX) {
		for (uint32_t p = 0; p < count; p++)
			for (uint32_t q = p + 1; q < count; q++)
				rotate_plane(&j, p, q);
		result.sweeps++;
	}
	uint32_t order[EIGEN_MAX];
	order_descending(&j, order);
	result.residue = largest_off(&j) / scale;
	for (uint32_t i = 0; i < count; i++) {
		result.values[i] = j.a[order[i]][order[i]] / scale;
		ASSERT(i == 0 || result.values[i - 1] >= result.values[i]);
		for (uint32_t k = 0; k < count; k++)
			result.vectors[k][i] = j.v[k][order[i]];
	}
	return result;
}
