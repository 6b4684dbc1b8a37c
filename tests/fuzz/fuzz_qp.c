/* fuzz_qp: any quadratic program ends with a status and a true residual, which long double
 * confirms. A result reported as infeasible or unbounded is verified by multiplication. Input:
 * flags, sizes, then small integers or doubles as they are. */
#include <stdlib.h>
#include <string.h>

#include "server/engine/math/scalar.h"
#include "server/engine/solvers/qp_dual_active_set.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/lib/far_residual.h"

enum { N = 6, M = 8, FILL = N * N };
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static double number(struct fuzz_input *input)
{
	if (!input->raw)
		return (double)(fuzz_byte(input) % 15) - 7;
	return fuzz_double(input);
}

static void fill(struct fuzz_input *input, double *values, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		values[i] = number(input);
}

/* The square of the matrix read, which is semidefinite; with `as_is` the matrix itself, made
 * symmetric. */
static void make_symmetric(double *g, uint32_t n, bool as_is)
{
	double root[N * N];
	memcpy(root, g, sizeof root);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j <= i; j++) {
			double sum = as_is ? root[i * n + j] : 0;
			for (uint32_t k = 0; k < n && !as_is; k++)
				sum += root[i * n + k] * root[j * n + k];
			g[i * n + j] = g[j * n + i] = sum;
		}
}

/* Farkas: z ≥ 0 where not equal, Cᵀz = 0 to rounding, dᵀz > 0. */
static void check_infeasible(const struct qp_problem *problem, const double *z)
{
	double gain = 0;
	for (uint32_t k = 0; k < problem->rows; k++) {
		ASSERT(qp_equal(problem, k) || z[k] >= 0);
		gain += problem->d[k] * z[k];
	}
	ASSERT(gain > 0);
	for (uint32_t j = 0; j < problem->variables; j++) {
		double sum = 0, size = 0;
		for (uint32_t k = 0; k < problem->rows; k++) {
			sum += problem->matrix[k * problem->variables + j] * z[k];
			size += scalar_abs(problem->matrix[k * problem->variables + j] * z[k]);
		}
		ASSERT(scalar_abs(sum) <= 1e-6 * (1 + size));
	}
}

static void quadratic(struct fuzz_input *input, uint8_t flags)
{
	static _Alignas(64) unsigned char memory[1 << 16];
	double g[N * N] = { 0 }, c[N], matrix[M * N], d[M], x[N], lambda[M];
	bool equal[M];
	struct qp_dual_active_set solver;
	struct solver_options options = solver_options_default();
	uint32_t n = 1 + fuzz_byte(input) % N, m = fuzz_byte(input) % (M + 1);
	if (qp_dual_active_set_bytes(N, M) > sizeof memory)
		abort();
	fill(input, g, n * n);
	make_symmetric(g, n, (flags & 2) != 0);
	fill(input, c, n);
	fill(input, matrix, m * n);
	fill(input, d, m);
	for (uint32_t k = 0; k < m; k++)
		equal[k] = fuzz_byte(input) % 4 == 0;
	/* Fills the memory, so that a value read before it is written shows. */
	memset(memory, 0x7f, qp_dual_active_set_bytes(N, M));
	qp_dual_active_set_init(&solver, memory, N, M);
	struct qp_problem problem = { n, m, g, c, matrix, d, equal };
	struct solver_result result =
		qp_dual_active_set_solve(&solver, &problem, &options, x, lambda, NULL);
	ASSERT((uint32_t)result.status < SOLVER_STATUSES);
	ASSERT(qp_valid(&problem) == (result.status != SOLVER_NOT_FINITE));
	if (result.status == SOLVER_SOLVED) {
		ASSERT(result.residual == qp_residual(&problem, x, lambda) &&
		       result.residual <= options.tolerance);
		ASSERT(far_qp_residual(&problem, x, lambda) <= 1.001L * options.tolerance);
	}
	if (result.status == SOLVER_INFEASIBLE && !input->raw)
		check_infeasible(&problem, result.certificate);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct fuzz_input input = { data, bytes, false };
	uint8_t flags = fuzz_byte(&input);
	input.raw = (flags & 1) != 0;
	quadratic(&input, flags);
	return 0;
}
