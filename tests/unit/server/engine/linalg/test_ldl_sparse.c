/* test_ldl_sparse.c: the sparse factor against the matrix it came from, and the order of AMD. */
#include <math.h>
#include <string.h>

#include "server/base/rng.h"
#include "server/engine/linalg/ldl_sparse.h"
#include "server/engine/linalg/order_amd.h"
#include "tests/lib/check_main.h"

enum { N = 60, FILL = N * N / 2 };

static struct ldl_sparse factor;
static double dense[N][N], half_value[N * N];
static uint32_t half_start[N + 1], half_row[N * N];

static void setup(void)
{
	static uint32_t counts[5][N + 1], row[FILL];
	static double value[FILL], doubles[2][N];
	factor = (struct ldl_sparse){.entries_max = FILL,
				     .start = counts[0],
				     .parent = counts[1],
				     .count = counts[2],
				     .flag = counts[3],
				     .pattern = counts[4],
				     .row = row,
				     .value = value,
				     .diagonal = doubles[0],
				     .work = doubles[1]};
}

static void make_matrix(struct rng *rng)
{
	memset(dense, 0, sizeof dense);
	for (uint32_t i = 0; i < N; i++)
		dense[i][i] = 8;
	for (uint32_t k = 0; k < 2 * N; k++) {
		uint32_t i = rng_below(rng, N), j = rng_below(rng, N);
		if (i != j)
			dense[i][j] = dense[j][i] = rng_range(rng, -1, 1);
	}
}

/* The upper triangle of the permuted matrix, by columns. */
static void permute(const uint32_t *order)
{
	uint32_t entries = 0;
	for (uint32_t k = 0; k < N; k++) {
		half_start[k] = entries;
		for (uint32_t i = 0; i <= k; i++)
			if (dense[order[i]][order[k]] != 0) {
				half_row[entries] = i;
				half_value[entries++] = dense[order[i]][order[k]];
			}
	}
	half_start[N] = entries;
}

START_TEST(solves_in_any_order_and_amd_fills_in_less)
{
	struct rng rng = rng_seeded(check_seed());
	size_t fills[2] = {0, 0};
	for (uint32_t round = 0; round < 100; round++) {
		uint32_t start[N + 1], column[N * N], order[N], entries = 0;
		make_matrix(&rng);
		for (uint32_t i = 0; i < N; i++) {
			start[i] = entries;
			for (uint32_t j = 0; j < N; j++)
				if (dense[i][j] != 0)
					column[entries++] = j;
		}
		start[N] = entries;
		for (uint32_t way = 0; way < 2; way++) {
			double x[N], b[N];
			for (uint32_t i = 0; i < N; i++)
				order[i] = i;
			if (way == 1)
				ck_assert_int_eq(order_amd(N, start, column, order), STATUS_OK);
			permute(order);
			fills[way] += ldl_sparse_analyse(&factor, N, half_start, half_row);
			ldl_sparse_factor(&factor, half_start, half_row, half_value, 1e-12);
			ck_assert_uint_eq(factor.helped, 0);
			for (uint32_t i = 0; i < N; i++)
				x[i] = rng_range(&rng, -1, 1);
			for (uint32_t i = 0; i < N; i++) {
				b[i] = 0;
				for (uint32_t j = 0; j < N; j++)
					b[i] += dense[order[i]][order[j]] * x[j];
			}
			ldl_sparse_solve(&factor, b);
			for (uint32_t i = 0; i < N; i++)
				ck_assert_double_eq_tol(b[i], x[i], 1e-13);
		}
	}
	ck_assert_uint_lt(fills[1], fills[0] * 2 / 3);
}
END_TEST

START_TEST(a_pivot_of_nothing_is_replaced_and_counted)
{
	/* Two equal rows. */
	uint32_t start[3] = {0, 1, 3}, row[3] = {0, 0, 1};
	double value[3] = {1, 1, 1};
	ck_assert_uint_eq(ldl_sparse_analyse(&factor, 2, start, row), 1);
	ldl_sparse_factor(&factor, start, row, value, 1e-12);
	ck_assert_uint_eq(factor.helped, 1);
	ck_assert_double_eq(factor.diagonal[1], 1);
}
END_TEST

START_TEST(rows_that_leave_and_come_back_make_the_factor_made_anew)
{
	struct rng rng = rng_seeded(check_seed() + 1);
	uint32_t order[N];
	bool here[N];
	make_matrix(&rng);
	for (uint32_t i = 0; i < N; i++) {
		order[i] = i;
		here[i] = true;
	}
	permute(order);
	ldl_sparse_analyse(&factor, N, half_start, half_row);
	ldl_sparse_factor(&factor, half_start, half_row, half_value, 1e-12);
	for (uint32_t round = 0; round < 600; round++) {
		uint32_t k = rng_below(&rng, N);
		double x[N], b[N];
		here[k] = !here[k];
		if (here[k]) {
			for (uint32_t i = 0; i < N; i++)
				if (here[i])
					factor.work[i] = dense[i][k];
			ck_assert(ldl_sparse_insert(&factor, k, half_start, half_row, 1e-12));
		} else {
			ldl_sparse_remove(&factor, k, half_start, half_row);
		}
		for (uint32_t i = 0; i < N; i++)
			ck_assert_double_eq(factor.work[i], 0);
		for (uint32_t i = 0; i < N; i++)
			x[i] = rng_range(&rng, -1, 1);
		for (uint32_t i = 0; i < N; i++) {
			b[i] = here[i] ? 0 : x[i];
			for (uint32_t j = 0; j < N && here[i]; j++)
				b[i] += here[j] ? dense[i][j] * x[j] : 0;
		}
		ldl_sparse_solve(&factor, b);
		for (uint32_t i = 0; i < N; i++)
			ck_assert_double_eq_tol(b[i], x[i], 1e-12);
	}
}
END_TEST

START_TEST(a_row_that_makes_the_matrix_singular_does_not_come_in)
{
	/* Two equal rows, of which the first comes second. */
	uint32_t start[3] = {0, 1, 3}, row[3] = {0, 0, 1};
	double value[3] = {1, 1, 1};
	ldl_sparse_analyse(&factor, 2, start, row);
	ldl_sparse_factor(&factor, start, row, (double[]){1, 0, 1}, 1e-12);
	ldl_sparse_remove(&factor, 0, start, row);
	factor.work[0] = factor.work[1] = 1;
	ck_assert(!ldl_sparse_insert(&factor, 0, start, row, 1e-12));
	ldl_sparse_factor(&factor, start, row, value, 1e-12);
	ck_assert_uint_eq(factor.helped, 1);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("ldl_sparse");
	TCase *tcase = tcase_create("factor");
	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_test(tcase, solves_in_any_order_and_amd_fills_in_less);
	tcase_add_test(tcase, a_pivot_of_nothing_is_replaced_and_counted);
	tcase_add_test(tcase, rows_that_leave_and_come_back_make_the_factor_made_anew);
	tcase_add_test(tcase, a_row_that_makes_the_matrix_singular_does_not_come_in);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
