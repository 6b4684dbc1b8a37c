/* Cholesky and LU on random, graded, singular and empty matrices: residuals, and agreement of
 * an updated factor with a newly computed one. */
#include <string.h>

#include "server/base/rng.h"
#include "server/engine/linalg/chol.h"
#include "server/engine/linalg/dense.h"
#include "server/engine/linalg/lu.h"
#include "server/engine/math/scalar.h"
#include "tests/lib/check_main.h"

enum { N = 24, STRIDE = 27 };

static struct rng rng;
static double A[N * STRIDE], B[N * STRIDE], F[N * STRIDE], G[N * STRIDE];
static double x[N], b[N], r[N];

static void seed(void)
{
	rng = rng_seeded(check_seed());
}

static void random_vector(double *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		v[i] = rng_range(&rng, -1, 1);
}

static void random_matrix(double *a, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		random_vector(a + i * STRIDE, n);
}

/* B Bᵀ + shift, with rows and columns scaled over `decades` powers of ten. */
static void random_definite(double *a, uint32_t n, double shift, int decades)
{
	random_matrix(B, n);
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t j = 0; j < n; j++)
			a[i * STRIDE + j] = dense_dot(B + i * STRIDE, B + j * STRIDE, n);
		a[i * STRIDE + i] += shift;
	}
	for (uint32_t i = 0; i < n; i++) {
		double s = 1;
		for (uint32_t k = 0; k < i * (uint32_t)decades / N; k++)
			s *= 0.1;
		for (uint32_t j = 0; j < n; j++) {
			a[i * STRIDE + j] *= s;
			a[j * STRIDE + i] *= s;
		}
	}
}

/* max |b − A x| / (max |A| max |x| + max |b|). */
static double relative_residual(uint32_t n)
{
	double size = 0;
	for (uint32_t i = 0; i < n; i++) {
		r[i] = b[i] - dense_dot(A + i * STRIDE, x, n);
		size = scalar_max(size, dense_max_abs(A + i * STRIDE, n));
	}
	return n ? dense_max_abs(r, n) / (size * dense_max_abs(x, n) + dense_max_abs(b, n)) : 0;
}

static void fill(double *v, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		v[i] = 0.0 / 0.0;
}

/* The largest difference between two factors, relative to the largest entry. */
static double factor_difference(const struct chol *p, const struct chol *q)
{
	double apart = 0, size = 0;
	ck_assert_uint_eq(p->size, q->size);
	for (uint32_t i = 0; i < p->size; i++) {
		for (uint32_t j = 0; j <= i; j++) {
			double u = p->lower[i * p->capacity + j], v = q->lower[i * q->capacity + j];
			apart = scalar_max(apart, scalar_abs(u - v));
			size = scalar_max(size, scalar_abs(u));
		}
	}
	return size > 0 ? apart / size : 0;
}

START_TEST(cholesky_solves_to_rounding_for_every_size_and_grading)
{
	struct chol chol;
	for (uint32_t n = 0; n <= N; n++) {
		for (int decades = 0; decades <= 6; decades += 3) {
			random_definite(A, n, 0.5, decades);
			random_vector(b, n);
			fill(F, COUNT_OF(F));
			chol_init(&chol, F, STRIDE);
			ck_assert(chol_factor(&chol, A, n, STRIDE));
			dense_copy(x, b, n);
			chol_solve(&chol, x);
			ck_assert_double_le(relative_residual(n), 1e-14);
			/* The upper triangle is not touched. */
			for (uint32_t i = 0; i < n; i++)
				ck_assert(scalar_is_nan(F[i * STRIDE + i + 1]));
		}
	}
}
END_TEST

START_TEST(cholesky_factors_in_place_to_the_same_bits)
{
	struct chol apart, in_place;
	random_definite(A, N, 0.5, 0);
	memcpy(G, A, sizeof A);
	chol_init(&apart, F, STRIDE);
	chol_init(&in_place, G, STRIDE);
	ck_assert(chol_factor(&apart, A, N, STRIDE) && chol_factor(&in_place, G, N, STRIDE));
	ck_assert_double_eq(factor_difference(&apart, &in_place), 0);
}
END_TEST

START_TEST(cholesky_stops_at_the_first_pivot_that_is_not_positive)
{
	struct chol chol;
	for (uint32_t bad = 0; bad < N; bad++) {
		random_definite(A, N, 0.5, 0);
		A[bad * STRIDE + bad] = bad % 2 ? -1 : 0.0 / 0.0;
		chol_init(&chol, F, STRIDE);
		ck_assert(!chol_factor(&chol, A, N, STRIDE));
		ck_assert_uint_eq(chol.size, bad);
	}
}
END_TEST

START_TEST(appends_give_the_factor_of_the_present_rows)
{
	struct chol chol, fresh;
	random_definite(A, N, 0.5, 0);
	chol_init(&chol, F, STRIDE);
	chol_init(&fresh, G, STRIDE);
	for (uint32_t n = 0; n < N; n++) {
		ck_assert(chol_append(&chol, A + n * STRIDE, A[n * STRIDE + n]));
		ck_assert(chol_factor(&fresh, A, n + 1, STRIDE));
		ck_assert_double_le(factor_difference(&chol, &fresh), 1e-13);
	}
}
END_TEST

START_TEST(a_row_that_depends_on_the_others_cannot_be_appended)
{
	struct chol chol;
	random_definite(A, 5, 0.5, 0);
	chol_init(&chol, F, STRIDE);
	ck_assert(chol_factor(&chol, A, 5, STRIDE));
	/* A copy of variable 2 with a slightly smaller diagonal entry. */
	ck_assert(!chol_append(&chol, A + 2 * STRIDE, A[2 * STRIDE + 2] * (1 - 1e-12)));
	ck_assert_uint_eq(chol.size, 5);
	dense_copy(x, A + 2 * STRIDE, 5);
	chol_solve(&chol, x);
	ck_assert_double_le(scalar_abs(x[2] - 1), 1e-12);
}
END_TEST

START_TEST(lu_solves_to_rounding)
{
	uint32_t pivots[N];
	for (int round = 0; round < 20; round++) {
		for (uint32_t n = 0; n <= N; n++) {
			random_matrix(A, n);
			/* Zero diagonal entries require row exchanges. */
			for (uint32_t i = 0; i < n && n > 1; i++)
				A[i * STRIDE + i] = 0;
			random_vector(b, n);
			memcpy(F, A, sizeof A);
			ck_assert(lu_factor(F, n, STRIDE, pivots));
			dense_copy(x, b, n);
			lu_solve(F, n, STRIDE, pivots, x);
			ck_assert_double_le(relative_residual(n), 1e-14);
		}
	}
}
END_TEST

START_TEST(ranked_elimination_solves_consistent_singular_systems)
{
	for (uint32_t round = 0; round < 300; round++) {
		uint32_t n = 1 + rng_below(&rng, 12), rank = rng_below(&rng, n + 1), columns[12];
		double g[12][12], h[12][12], a[144], kept[144], answer[12], wanted[12];
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t k = 0; k < rank; k++) {
				g[i][k] = rng_range(&rng, -1, 1);
				h[i][k] = rng_range(&rng, -1, 1);
			}
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t j = 0; j < n; j++) {
				a[i * n + j] = 0;
				for (uint32_t k = 0; k < rank; k++)
					a[i * n + j] += g[i][k] * h[j][k];
				kept[i * n + j] = a[i * n + j];
			}
		for (uint32_t i = 0; i < n; i++) {
			wanted[i] = 0;
			for (uint32_t k = 0; k < rank; k++)
				wanted[i] += g[i][k] * (k + 1.0);
			answer[i] = wanted[i];
		}
		ck_assert_uint_eq(lu_solve_ranked(a, n, n, columns, answer), rank);
		for (uint32_t i = 0; i < n; i++) {
			double sum = 0;
			for (uint32_t j = 0; j < n; j++)
				sum += kept[i * n + j] * answer[j];
			ck_assert_double_eq_tol(sum, wanted[i], 1e-8);
		}
	}
}
END_TEST

START_TEST(lu_takes_the_first_of_equal_pivots_and_refuses_singular_matrices)
{
	double a[9] = { 1, 2, 3, -2, 1, 1, 2, 5, 7 };
	uint32_t pivots[3];
	ck_assert(lu_factor(a, 3, 3, pivots));
	ck_assert_uint_eq(pivots[0], 1); /* −2 comes before 2 */
	double singular[9] = { 1, 2, 3, 2, 4, 6, 1, 1, 1 };
	ck_assert(!lu_factor(singular, 3, 3, pivots));
	double zero[4] = { 0 }, nan[4] = { 0.0 / 0.0, 1, 1, 1 };
	ck_assert(!lu_factor(zero, 2, 2, pivots) && !lu_factor(nan, 2, 2, pivots));
}
END_TEST

START_TEST(matrix_products_agree_with_sums_in_index_order)
{
	double y[N];
	for (uint32_t n = 0; n <= N; n++) {
		random_matrix(A, n);
		random_vector(b, n);
		dense_mul_vec(A, n, n, STRIDE, b, x);
		dense_transposed_mul_vec(A, n, n, STRIDE, b, y);
		for (uint32_t i = 0; i < n; i++) {
			double sum = 0;
			for (uint32_t k = 0; k < n; k++)
				sum += A[k * STRIDE + i] * b[k];
			ck_assert_double_eq(y[i], sum);
			ck_assert_double_eq(x[i], dense_dot(A + i * STRIDE, b, n));
		}
	}
	double values[3] = { 1, -5, 2 }, nan[3] = { 0.0 / 0.0, 9, 1 };
	ck_assert_double_eq(dense_max_abs(values, 3), 5);
	ck_assert(scalar_is_nan(dense_max_abs(nan, 3)) && dense_max_abs(values, 0) == 0);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("factor");
	TCase *all = tcase_create("factor");
	tcase_add_checked_fixture(all, seed, NULL);
	tcase_add_test(all, cholesky_solves_to_rounding_for_every_size_and_grading);
	tcase_add_test(all, cholesky_factors_in_place_to_the_same_bits);
	tcase_add_test(all, cholesky_stops_at_the_first_pivot_that_is_not_positive);
	tcase_add_test(all, appends_give_the_factor_of_the_present_rows);
	tcase_add_test(all, a_row_that_depends_on_the_others_cannot_be_appended);
	tcase_add_test(all, lu_solves_to_rounding);
	tcase_add_test(all, ranked_elimination_solves_consistent_singular_systems);
	tcase_add_test(all, lu_takes_the_first_of_equal_pivots_and_refuses_singular_matrices);
	tcase_add_test(all, matrix_products_agree_with_sums_in_index_order);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
