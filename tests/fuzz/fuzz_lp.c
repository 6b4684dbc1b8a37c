/* fuzz_lp.c: arbitrary bytes as a linear program, of small integers or arbitrary doubles. The
 * solver ends with a status, and a result reported as solved, infeasible or unbounded is verified
 * by multiplication. */
#include <stdlib.h>

#include "server/engine/math/scalar.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/lib/far_residual.h"
#include "tests/lib/gen_lp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { ROWS = 12, COLUMNS = 12 };

static double number(struct fuzz_input *input)
{
	if (!input->raw)
		return (double)fuzz_byte(input) / 8 - 16;
	return fuzz_double(input);
}

static void bounds(struct fuzz_input *input, double *low, double *high)
{
	uint8_t kind = fuzz_byte(input) % 8;
	double a = number(input), b = number(input);
	/* Sometimes with low > high. */
	*low = kind == 7 ? a : scalar_min(a, b);
	*high = kind == 7 ? b : scalar_max(b, a);
	if (kind == 0 || kind == 2)
		*low = -LP_INFINITY;
	if (kind == 1 || kind == 2)
		*high = LP_INFINITY;
	if (kind == 3)
		*high = *low;
}

static void build(struct gen_lp *gen, struct fuzz_input *input)
{
	gen_lp_begin(gen, fuzz_byte(input) % (ROWS + 1));
	uint32_t columns = fuzz_byte(input) % (COLUMNS + 1);
	for (uint32_t i = 0; i < gen->problem.matrix.rows; i++)
		bounds(input, &gen->row_low[i], &gen->row_high[i]);
	for (uint32_t j = 0; j < columns; j++) {
		double low, high;
		bounds(input, &low, &high);
		gen_lp_column(gen, number(input), low, high);
		for (uint32_t i = 0; i < gen->problem.matrix.rows; i++)
			if (fuzz_byte(input) % 4 != 0)
				gen_lp_entry(gen, i, number(input));
	}
}

static void check(struct gen_lp *gen, const struct solver_result *result, double tolerance)
{
	const struct lp_problem *problem = &gen->problem;
	ASSERT((uint32_t)result->status < SOLVER_STATUSES);
	for (uint32_t j = 0; j < problem->matrix.columns + problem->matrix.rows; j++)
		ASSERT(gen->solution.places[j] <= LP_BETWEEN);
	if (result->status == SOLVER_SOLVED) {
		double residual =
			lp_residual(problem, gen->solution.x, gen->solution.dual, gen->scratch);
		ASSERT(residual == result->residual && residual <= tolerance);
		ASSERT(far_lp_residual(problem, gen->solution.x, gen->solution.dual) <=
		       1.001L * tolerance);
	}
	if (result->status == SOLVER_INFEASIBLE && result->certificate != NULL)
		ASSERT(lp_infeasibility(problem, result->certificate) > 0);
	if (result->status == SOLVER_INFEASIBLE && result->certificate == NULL)
		ASSERT(lp_crossed(problem) != UINT32_MAX);
	if (result->status == SOLVER_UNBOUNDED)
		ASSERT(lp_unboundedness(problem, result->certificate, gen->scratch) > 0);
	if (!lp_valid(problem))
		ASSERT(result->status == SOLVER_NOT_FINITE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct fuzz_input input = { data, bytes, false };
	struct solver_options options = solver_options_default();
	struct gen_lp gen;
	gen_lp_init(&gen, ROWS, COLUMNS, ROWS * COLUMNS);
	uint8_t flags = fuzz_byte(&input);
	input.raw = (flags & 1) != 0;
	build(&gen, &input);
	if ((flags & 2) != 0)
		options.pivots_max = 1 + (flags >> 4);
	struct solver_result result = gen_lp_solve(&gen, &options);
	check(&gen, &result, options.tolerance);
	options.warm = true;
	result = gen_lp_solve(&gen, &options);
	check(&gen, &result, options.tolerance);
	gen_lp_release(&gen);
	return 0;
}
