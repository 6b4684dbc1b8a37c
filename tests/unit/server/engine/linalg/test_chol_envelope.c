/* The envelope factor solves A x = b for a known x, after random appends and deletions of rows. The
 * Schur complement of a border equals that of the dense matrix. */
#include <math.h>
#include <string.h>

#include "server/base/rng.h"
#include "server/engine/linalg/chol_envelope.h"
#include "tests/lib/check_main.h"

enum { N = 24 };

/* A banded, diagonally dominant matrix with a few entries far from the diagonal. */
static void make_matrix(struct rng *rng, double a[N][N], uint32_t band)
{
	memset(a, 0, N * sizeof a[0]);
	for (uint32_t i = 0; i < N; i++) {
		a[i][i] = 2.0 * band + 4;
		for (uint32_t j = 0; j < i; j++)
			if (i - j <= band || rng_below(rng, 20) == 0)
				a[i][j] = a[j][i] = rng_range(rng, -1, 1);
	}
}

static void append(struct chol_envelope *factor, double a[N][N], const uint32_t *kept, uint32_t i)
{
	uint32_t first = 0;
	while (first < factor->size && a[i][kept[first]] == 0)
		first++;
	double *border = chol_envelope_border(factor, first);
	for (uint32_t p = first; p < factor->size; p++)
		border[p] = a[i][kept[p]];
	chol_envelope_append(factor, chol_envelope_schur(factor, a[i][i]));
}

static double error_of_solve(const struct chol_envelope *factor, double a[N][N],
			     const uint32_t *kept, struct rng *rng)
{
	double x[N], b[N], worst = 0;
	for (uint32_t p = 0; p < factor->size; p++)
		x[p] = rng_range(rng, -1, 1);
	for (uint32_t p = 0; p < factor->size; p++) {
		b[p] = 0;
		for (uint32_t q = 0; q < factor->size; q++)
			b[p] += a[kept[p]][kept[q]] * x[q];
	}
	chol_envelope_solve(factor, b);
	for (uint32_t p = 0; p < factor->size; p++)
		worst = fmax(worst, fabs(b[p] - x[p]));
	return worst;
}

START_TEST(the_factor_solves_after_random_appends_and_deletions)
{
	struct rng rng = rng_seeded(check_seed());
	double a[N][N], scratch[2 * N];
	static double storage[N * (N + 1) / 2];
	uint32_t first[N], kept[N];
	ck_assert_uint_eq(chol_envelope_doubles(N), COUNT_OF(storage));
	for (uint32_t round = 0; round < 300; round++) {
		make_matrix(&rng, a, 1 + round % 5);
		struct chol_envelope factor;
		chol_envelope_init(&factor, storage, first, N);
		bool in[N] = { false };
		for (uint32_t step = 0; step < 60; step++) {
			uint32_t i = rng_below(&rng, N);
			if (!in[i]) {
				append(&factor, a, kept, i);
				kept[factor.size - 1] = i;
			} else {
				uint32_t at = 0;
				while (kept[at] != i)
					at++;
				chol_envelope_delete(&factor, at, scratch);
				for (uint32_t p = at; p < factor.size; p++)
					kept[p] = kept[p + 1];
			}
			in[i] = !in[i];
			ck_assert_double_le(error_of_solve(&factor, a, kept, &rng), 1e-13);
		}
	}
}
END_TEST

START_TEST(the_border_gives_the_schur_complement_and_its_solution)
{
	struct rng rng = rng_seeded(check_seed() + 1);
	double a[N][N], storage[N * (N + 1) / 2], y[N];
	uint32_t first[N], kept[N];
	make_matrix(&rng, a, 3);
	struct chol_envelope factor;
	chol_envelope_init(&factor, storage, first, N);
	for (uint32_t i = 0; i + 1 < N; i++) {
		append(&factor, a, kept, i);
		kept[i] = i;
	}
	double *border = chol_envelope_border(&factor, 0);
	memcpy(border, a[N - 1], (N - 1) * sizeof(double));
	double schur = chol_envelope_schur(&factor, a[N - 1][N - 1]);
	chol_envelope_border_solve(&factor, y);
	double wanted = a[N - 1][N - 1];
	for (uint32_t i = 0; i + 1 < N; i++) {
		double sum = -a[N - 1][i];
		for (uint32_t j = 0; j + 1 < N; j++)
			sum += a[i][j] * y[j];
		ck_assert_double_le(fabs(sum), 1e-13);
		wanted -= a[N - 1][i] * y[i];
	}
	ck_assert_double_eq_tol(schur, wanted, 1e-13);
	/* A row equal to one already in the factor has a Schur complement of 0. */
	factor.size = N - 1;
	border = chol_envelope_border(&factor, 0);
	for (uint32_t p = 0; p + 1 < N; p++)
		border[p] = a[5][p];
	ck_assert_double_le(fabs(chol_envelope_schur(&factor, a[5][5])), 1e-13);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("chol_envelope");
	TCase *tcase = tcase_create("factor");
	tcase_add_test(tcase, the_factor_solves_after_random_appends_and_deletions);
	tcase_add_test(tcase, the_border_gives_the_schur_complement_and_its_solution);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
