/* test_mps.c: the reader of bench_lp_sets (tests/bench/mps.c). Programs of all families are written in
 * the MPS format and read again, and files that contradict themselves are refused with their line. */
#include "tests/bench/mps.h"
#include "tests/lib/check_main.h"

#include "server/engine/math/scalar.h"

#include <string.h>

static struct gen_lp drawn, found;

static void write_rows(FILE *file, const struct lp_problem *p)
{
	fprintf(file, "* a comment\nNAME          drawn\nROWS\n N  COST\n");
	for (uint32_t i = 0; i < p->matrix.rows; i++) {
		bool low = p->row_low[i] > -LP_INFINITY, high = p->row_high[i] < LP_INFINITY;
		char type = p->row_low[i] == p->row_high[i] ? 'E' : low ? 'G' : high ? 'L' : 'N';
		fprintf(file, " %c  R%u\n", type, (unsigned)i);
	}
}

static void write_columns(FILE *file, const struct lp_problem *p)
{
	fprintf(file, "COLUMNS\n    M1  'MARKER'  'INTORG'\n");
	for (uint32_t j = 0; j < p->matrix.columns; j++) {
		fprintf(file, "    C%u  COST  %.17g\n", (unsigned)j, p->cost[j]);
		/* Downwards: the reader sorts. */
		for (uint32_t k = p->matrix.starts[j + 1]; k-- > p->matrix.starts[j];)
			fprintf(file, "    C%u  R%u  %.17g\n", (unsigned)j,
				(unsigned)p->matrix.index[k], p->matrix.values[k]);
	}
}

static void write_sides(FILE *file, const struct lp_problem *p)
{
	fprintf(file, "RHS\n    RHS  COST  -5\n");
	for (uint32_t i = 0; i < p->matrix.rows; i++) {
		double side = p->row_low[i] > -LP_INFINITY ? p->row_low[i] : p->row_high[i];
		if (side < LP_INFINITY)
			fprintf(file, "    RHS  R%u  %.17g\n", (unsigned)i, side);
	}
	fprintf(file, "RANGES\n");
	for (uint32_t i = 0; i < p->matrix.rows; i++)
		if (p->row_low[i] > -LP_INFINITY && p->row_high[i] < LP_INFINITY &&
		    p->row_low[i] < p->row_high[i])
			fprintf(file, "    RNG  R%u  %.17g\n", (unsigned)i,
				p->row_high[i] - p->row_low[i]);
}

static void write_bounds(FILE *file, const struct lp_problem *p)
{
	fprintf(file, "BOUNDS\n");
	for (uint32_t j = 0; j < p->matrix.columns; j++) {
		double low = p->column_low[j], high = p->column_high[j];
		if (low == high)
			fprintf(file, " FX BND  C%u  %.17g\n", (unsigned)j, low);
		else if (low > -LP_INFINITY)
			fprintf(file, " LO BND  C%u  %.17g\n", (unsigned)j, low);
		else
			fprintf(file, " MI BND  C%u\n", (unsigned)j);
		if (low != high && high < LP_INFINITY)
			fprintf(file, " UP BND  C%u  %.17g\n", (unsigned)j, high);
	}
	fprintf(file, "ENDATA\n");
}

static void expect_bounds(double low, double high, double wanted_low, double wanted_high)
{
	double scale = 1 + (scalar_abs(low) < LP_INFINITY ? scalar_abs(low) : 0);
	ck_assert(low == wanted_low || (low <= -LP_INFINITY && wanted_low <= -LP_INFINITY));
	if (wanted_high >= LP_INFINITY)
		ck_assert_double_ge(high, LP_INFINITY);
	else
		ck_assert_double_eq_tol(high, wanted_high, 1e-14 * (scale + scalar_abs(high)));
}

/* Rows without bounds are left out of what is read. */
static void expect_same(void)
{
	const struct lp_problem *a = &drawn.problem, *b = &found.problem;
	uint32_t row_of[64], rows = 0;
	for (uint32_t i = 0; i < a->matrix.rows; i++) {
		bool bounded = a->row_low[i] > -LP_INFINITY || a->row_high[i] < LP_INFINITY;
		row_of[i] = bounded ? rows : UINT32_MAX;
		if (bounded) {
			expect_bounds(b->row_low[rows], b->row_high[rows], a->row_low[i],
				      a->row_high[i]);
			rows++;
		}
	}
	ck_assert_uint_eq(b->matrix.rows, rows);
	ck_assert_uint_eq(b->matrix.columns, a->matrix.columns);
	for (uint32_t j = 0; j < a->matrix.columns; j++) {
		uint32_t at = b->matrix.starts[j];
		ck_assert(b->cost[j] == a->cost[j]);
		expect_bounds(b->column_low[j], b->column_high[j], a->column_low[j],
			      a->column_high[j]);
		for (uint32_t k = a->matrix.starts[j]; k < a->matrix.starts[j + 1]; k++) {
			if (row_of[a->matrix.index[k]] == UINT32_MAX || a->matrix.values[k] == 0)
				continue;
			ck_assert_uint_eq(b->matrix.index[at], row_of[a->matrix.index[k]]);
			ck_assert(b->matrix.values[at++] == a->matrix.values[k]);
		}
		ck_assert_uint_eq(at, b->matrix.starts[j + 1]);
	}
}

START_TEST(programs_are_read_as_they_were_written)
{
	struct rng rng = rng_seeded(check_seed());
	gen_lp_init(&drawn, 64, 64, 4096);
	gen_lp_init(&found, 64, 64, 4096);
	for (uint32_t n = 0; n < 10 * GEN_LP_FAMILIES; n++) {
		char why[120];
		double constant;
		FILE *file = tmpfile();
		ck_assert_ptr_nonnull(file);
		gen_lp_random(&drawn, &rng, (enum gen_lp_family)(n % GEN_LP_FAMILIES));
		write_rows(file, &drawn.problem);
		write_columns(file, &drawn.problem);
		write_sides(file, &drawn.problem);
		write_bounds(file, &drawn.problem);
		rewind(file);
		ck_assert_msg(mps_read(file, &found, &constant, why), "%s", why);
		fclose(file);
		ck_assert(constant == 5);
		expect_same();
	}
	gen_lp_release(&drawn);
	gen_lp_release(&found);
}
END_TEST

static bool reads(const char *text, char why[120])
{
	double constant;
	FILE *file = tmpfile();
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	rewind(file);
	bool good = mps_read(file, &found, &constant, why);
	fclose(file);
	return good;
}

START_TEST(blanks_in_names_and_errors)
{
	char why[120];
	gen_lp_init(&found, 8, 8, 64);
	ck_assert(reads("ROWS\n N  THE COST\n L  A ROW\nCOLUMNS\n"
			"    A COLUMN  A ROW               2.   THE COST           -1.\n"
			"RHS\n    SIDE      A ROW               6.\nENDATA\n",
			why));
	ck_assert_uint_eq(found.problem.matrix.rows, 1);
	ck_assert(found.cost[0] == -1 && found.values[0] == 2 && found.row_high[0] == 6);
	ck_assert(!reads("ROWS\n N  COST\n X  R\n", why));
	ck_assert(strstr(why, "line 3") != NULL);
	ck_assert(!reads("ROWS\n N  COST\nCOLUMNS\n    C  R  1\n", why));
	ck_assert(strstr(why, "no row R") != NULL);
	ck_assert(!reads("ROWS\n L  R\n", why));
	ck_assert(strstr(why, "no objective") != NULL);
	ck_assert(!reads("ROWS\n N  COST\nSOS\n S1  A\n", why));
	gen_lp_release(&found);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("mps");
	TCase *tcase = tcase_create("mps");
	tcase_add_test(tcase, programs_are_read_as_they_were_written);
	tcase_add_test(tcase, blanks_in_names_and_errors);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
