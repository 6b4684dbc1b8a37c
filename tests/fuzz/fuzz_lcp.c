/* fuzz_lcp: any problem of finite numbers, bounded or with friction, ends with a status and a true
 * residual. Input: rows, then doubles as they are. */
#include <stdlib.h>
#include <string.h>

#include "server/engine/solvers/lcp_friction.h"
#include "tests/lib/far_residual.h"

enum { N = 9 };
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(double told, double found)
{
	if (memcmp(&told, &found, sizeof told) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static _Alignas(64) unsigned char memory[1 << 16];
	double a[N * N] = {0}, b[4 * N] = {0}, x[N], w[N];
	uint8_t kind[N], collision[N];
	struct lcp_friction solver;
	struct solver_options options = solver_options_default();
	if (size < 1 + N || lcp_friction_bytes(N) > sizeof memory)
		return 0;
	uint32_t n = data[0] % N + 1;
	for (uint32_t i = 0; i < n; i++)
		kind[i] = data[1 + i] % (FRICTION_JOINT + 1);
	size -= 1 + N;
	memcpy(b, data + 1 + N, MIN_OF(size, sizeof b));
	if (size > sizeof b)
		memcpy(a, data + 1 + N + sizeof b, MIN_OF(size - sizeof b, sizeof a));
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < i; j++)
			a[j * n + i] = a[i * n + j];
	/* What a solver reads before it has written it is seen. */
	memset(memory, 0x7f, lcp_friction_bytes(N));
	lcp_friction_init(&solver, memory, N);
	struct lcp_problem bounded = {n, n, a, b, b + N, b + 2 * N};
	struct solver_result result = lcp_dantzig_solve(&solver.lcp, &bounded, &options, x, NULL);
	if (result.status != SOLVER_NOT_FINITE)
		check(result.residual, lcp_residual(&bounded, x, w));
	if (result.status == SOLVER_SOLVED && far_lcp_residual(&bounded, x) > 1.001L * options.tolerance)
		abort();
	struct friction_problem rough = {n, n, a, b, kind, b + 3 * N};
	result = lcp_friction_solve(&solver, &rough, &options, x, collision);
	if (result.status != SOLVER_NOT_FINITE)
		check(result.residual, lcp_friction_residual(&rough, x, w, collision));
	return 0;
}
