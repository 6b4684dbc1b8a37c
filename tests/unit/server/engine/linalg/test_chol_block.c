/* test_chol_block.c: the sparse block factor against its dense matrix, and the fill of the AMD
 * order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/rng.h"
#include "server/engine/linalg/chol_block.h"
#include "server/engine/linalg/order_amd.h"
#include "tests/lib/check_main.h"

enum { N = 24, B = CHOL_BLOCK, SIZE = N * B, FILL = N * (N + 1) / 2 };

static struct chol_block factor;
static double dense[SIZE][SIZE];
static bool near[N][N];
static uint32_t start[N + 1], row[N * N];

static void setup(void)
{
	static uint32_t counts[5][N + 1], rows[FILL];
	static _Alignas(64) double value[FILL * CHOL_BLOCK_DOUBLES];
	factor = (struct chol_block){ .blocks_max = FILL,
				      .start = counts[0],
				      .parent = counts[1],
				      .link = counts[2],
				      .at = counts[3],
				      .place = counts[4],
				      .row = rows,
				      .value = value };
}

/* 1 + stiffness × Σ j jᵀ over `links` rows that each act on two bodies. */
static void make_rows(struct rng *rng, uint32_t links, double stiffness, bool planar)
{
	memset(dense, 0, sizeof dense);
	memset(near, 0, sizeof near);
	for (uint32_t i = 0; i < SIZE; i++)
		dense[i][i] = 1;
	for (uint32_t l = 0; l < links; l++) {
		uint32_t body[2] = { rng_below(rng, N), rng_below(rng, N) };
		double j[2][B];
		for (uint32_t k = 0; k < 2 * B; k++)
			j[k / B][k % B] =
				planar && k % B >= 2 && k % B <= 4 ? 0 : rng_range(rng, -1, 1);
		near[body[0]][body[1]] = near[body[1]][body[0]] = true;
		for (uint32_t r = 0; r < 2 * B; r++)
			for (uint32_t c = 0; c < 2 * B; c++)
				dense[body[r / B] * B + r % B][body[c / B] * B + c % B] +=
					stiffness * j[r / B][r % B] * j[c / B][c % B];
	}
}

static void make_matrix(struct rng *rng, uint32_t links, double stiffness)
{
	make_rows(rng, links, stiffness, false);
}

/* Analyses and factors the matrix in the given order. Returns the fill in blocks. */
static size_t analyse_and_factor(const uint32_t *order)
{
	uint32_t count = 0;
	for (uint32_t k = 0; k < N; k++) {
		start[k] = count;
		for (uint32_t i = 0; i < k; i++)
			if (near[order[i]][order[k]])
				row[count++] = i;
	}
	start[N] = count;
	size_t fill = chol_block_analyse(&factor, N, start, row);
	ck_assert_uint_le(fill, FILL);
	chol_block_identity(&factor);
	for (uint32_t k = 0; k < N; k++)
		for (uint32_t i = k; i < N; i++) {
			if (i != k && !near[order[i]][order[k]])
				continue;
			static const uint8_t unknowns[2][B] = { { 0, 1, 2, 3, 4, 5 }, { 0, 1, 5 } };
			const uint8_t *own = unknowns[factor.planar];
			uint32_t n = chol_block_width(&factor);
			double *to = factor.value + (size_t)chol_block_find(&factor, i, k) * n * n;
			for (uint32_t c = 0; c < n; c++)
				for (uint32_t r = 0; r < n; r++)
					to[c * n + r] =
						dense[order[i] * B + own[r]][order[k] * B + own[c]];
		}
	chol_block_factor(&factor);
	return fill;
}

START_TEST(the_factor_solves_in_any_order_and_amd_has_less_fill)
{
	struct rng rng = rng_seeded(check_seed());
	static uint32_t work[4096], columns[N * N], starts[N + 1];
	for (uint32_t round = 0; round < 60; round++) {
		uint32_t order[2][N], count = 0;
		size_t fill[2];
		make_matrix(&rng, round, 1);
		for (uint32_t i = 0; i < N; i++) {
			starts[i] = count;
			order[0][i] = i;
			for (uint32_t j = 0; j < N; j++)
				if (near[i][j] && j != i)
					columns[count++] = j;
		}
		starts[N] = count;
		ck_assert_uint_le(order_amd_words(N, count), COUNT_OF(work));
		order_amd(N, starts, columns, order[1], work);
		for (uint32_t which = 0; which < 2; which++) {
			double b[SIZE], x[SIZE], worst = 0;
			for (uint32_t i = 0; i < SIZE; i++)
				b[i] = rng_range(&rng, -1, 1);
			fill[which] = analyse_and_factor(order[which]);
			ck_assert_uint_eq(factor.pivots_raised, 0);
			memcpy(x, b, sizeof x);
			chol_block_solve(&factor, x);
			for (uint32_t i = 0; i < SIZE; i++) {
				double sum = b[i];
				for (uint32_t j = 0; j < SIZE; j++)
					sum -= dense[order[which][i / B] * B + i % B]
						    [order[which][j / B] * B + j % B] *
					       x[j];
				worst = fmax(worst, fabs(sum));
			}
			ck_assert_double_le(worst, 1e-12);
		}
		ck_assert(round != 20 || fill[1] < fill[0]);
	}
}
END_TEST

/* Blocks without the unknowns that no row has leave out products with zeros alone. */
START_TEST(planar_blocks_give_the_same_bits)
{
	struct rng rng = rng_seeded(check_seed() + 3);
	for (uint32_t round = 0; round < 40; round++) {
		uint32_t order[N];
		double b[SIZE], x[2][SIZE];
		for (uint32_t i = 0; i < N; i++)
			order[i] = (7 * i + round) % N; /* N is no multiple of 7 */
		make_rows(&rng, 3 * round, round % 2 == 0 ? 1 : 1e9, true);
		for (uint32_t i = 0; i < SIZE; i++)
			b[i] = rng_range(&rng, -1, 1);
		for (uint32_t planar = 0; planar < 2; planar++) {
			factor.planar = planar != 0;
			(void)analyse_and_factor(order);
			memcpy(x[planar], b, sizeof b);
			chol_block_solve(&factor, x[planar]);
		}
		factor.planar = false;
		for (uint32_t i = 0; i < SIZE; i++)
			ck_assert(x[0][i] == x[1][i]);
	}
}
END_TEST

/* Stiff, linearly dependent rows: eigenvalues from 1 to 1e10. All are at least 1, so solving never
 * increases the length of a vector. */
START_TEST(dependent_stiff_rows_can_be_factored)
{
	struct rng rng = rng_seeded(check_seed() + 1);
	for (uint32_t round = 0; round < 40; round++) {
		uint32_t order[N];
		double b[SIZE];
		for (uint32_t i = 0; i < N; i++)
			order[i] = i;
		make_matrix(&rng, 200, 1e10);
		(void)analyse_and_factor(order);
		for (uint32_t i = 0; i < SIZE; i++)
			b[i] = rng_range(&rng, -1, 1);
		chol_block_solve(&factor, b);
		for (uint32_t i = 0; i < SIZE; i++)
			ck_assert(fabs(b[i]) <= sqrt(SIZE));
	}
}
END_TEST

START_TEST(a_pattern_beyond_the_capacity_is_counted_but_not_written)
{
	uint32_t order[N];
	struct rng rng = rng_seeded(check_seed() + 2);
	make_matrix(&rng, 100, 1);
	for (uint32_t i = 0; i < N; i++)
		order[i] = i;
	size_t fill = analyse_and_factor(order);
	uint32_t before = factor.row[3];
	factor.blocks_max = fill - 1;
	factor.row[3] = 77;
	ck_assert_uint_eq(chol_block_analyse(&factor, N, start, row), fill);
	ck_assert_uint_eq(factor.row[3], 77);
	factor.blocks_max = fill;
	ck_assert_uint_eq(chol_block_analyse(&factor, N, start, row), fill);
	ck_assert_uint_eq(factor.row[3], before);
}
END_TEST

START_TEST(amd_refuses_counts_that_overflow_its_workspace)
{
	uint32_t starts[1] = { 0 };
	ck_assert(order_amd_words(1u << 31, 0) == SIZE_MAX);
	ck_assert(order_amd_words(10, UINT32_MAX) == SIZE_MAX);
	order_amd(0, starts, NULL, NULL, NULL);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("chol_block");
	TCase *tcase = tcase_create("factor");
	tcase_add_unchecked_fixture(tcase, setup, NULL);
	tcase_add_test(tcase, the_factor_solves_in_any_order_and_amd_has_less_fill);
	tcase_add_test(tcase, planar_blocks_give_the_same_bits);
	tcase_add_test(tcase, dependent_stiff_rows_can_be_factored);
	tcase_add_test(tcase, a_pattern_beyond_the_capacity_is_counted_but_not_written);
	tcase_add_test(tcase, amd_refuses_counts_that_overflow_its_workspace);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
