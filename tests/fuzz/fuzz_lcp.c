/* fuzz_lcp: any problem of finite numbers (bounded, with friction, or over bodies) ends with a
 * status and a true residual. Input: rows, then doubles as they are. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/engine/solvers/lcp_friction.h"
#include "tests/lib/far_residual.h"
#include "tests/lib/gen_sparse.h"

enum { N = 9, BODIES = 3 };
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(double reported, double found)
{
	if (memcmp(&reported, &found, sizeof reported) != 0)
		abort();
}

/* The next number: a small integer, or with `raw` the bits of a double. */
static double take(const uint8_t **data, size_t *size, bool raw)
{
	double value = 0;
	size_t bytes = raw ? sizeof value : 1;
	if (*size < bytes)
		return 0;
	memcpy(&value, *data, raw ? bytes : 0);
	value = raw ? value : (double)(**data % 15) - 7;
	*data += bytes;
	*size -= bytes;
	return value;
}

/* The same rows as contacts with friction. */
static void sparse_friction(struct lcp_sparse *solver, const struct lcp_sparse_problem *rows,
			    const double *friction, uint8_t kinds, bool moderate)
{
	struct solver_options options = solver_options_default();
	double x[N], v[BODIES][LCP_BODY];
	uint8_t kind[N];
	struct friction_sparse_problem problem = { *rows, kind, friction };
	for (uint32_t i = 0; i < N; i++)
		kind[i] = (uint8_t)(i % 3 == 0	       ? FRICTION_NORMAL
				    : (kinds & 6) != 0 ? FRICTION_STATIC
				    : (kinds & 8) != 0 ? FRICTION_FORWARD
						       : FRICTION_JOINT);
	problem.rows.compliance = NULL;
	options.rounds_max = 60;
	struct solver_result result = lcp_friction_sparse_solve(solver, &problem, &options, x, v);
	const double(*velocity)[LCP_BODY] = (const double(*)[LCP_BODY])v;
	if (result.status == SOLVER_INVALID)
		return;
	if (!(result.residual >= 0) ||
	    (result.status == SOLVER_SOLVED && !solver_finite(x, rows->rows)))
		abort();
	if (moderate && result.status == SOLVER_SOLVED &&
	    gen_friction_residual(&problem, x, velocity) > 16 * options.tolerance)
		abort();
	/* The tangents of a certificate are 0, so that it proves the normals alone infeasible. */
	if (moderate && result.status == SOLVER_INFEASIBLE)
		for (uint32_t i = 0; i < rows->rows; i++)
			if (kind[i] != FRICTION_NORMAL && kind[i] != FRICTION_JOINT &&
			    result.certificate[i] != 0)
				abort();
}

/* Rows over bodies: any numbers, any indices. A result reported as solved is one, and a problem
 * reported as infeasible has no solution; for moderate numbers twice the digits confirm it. */
static void sparse(const uint8_t *data, size_t size)
{
	static _Alignas(64) unsigned char memory[1 << 16];
	struct lcp_sparse_size room = { N, BODIES, 2 * N, 4 * N, BODIES * (BODIES + 1) / 2 };
	double jacobian[2 * N][LCP_BODY], mass_inv[BODIES][LCP_BODY][LCP_BODY] = { { { 0 } } };
	double number[4][N], x[N], v[BODIES][LCP_BODY];
	uint32_t start[N + 1], body[2 * N], rows = data[0] % N + 1;
	bool raw = (data[1] & 1) != 0, odd = (data[1] & 14) == 14, moderate = true;
	struct lcp_sparse solver;
	struct solver_options options = solver_options_default();
	for (uint32_t i = 0; i <= N; i++)
		start[i] = odd ? data[i] : 2 * i;
	data += 1 + N;
	size -= 1 + N;
	for (uint32_t p = 0; p < 2 * N; p++)
		body[p] = (uint32_t)((int32_t)take(&data, &size, false) + 7) - (odd ? 1 : 0);
	for (uint32_t p = 0; p < 2 * N; p++) {
		body[p] = odd ? body[p] : body[p] % BODIES;
		for (uint32_t c = 0; c < LCP_BODY; c++)
			jacobian[p][c] = take(&data, &size, raw);
	}
	for (uint32_t k = 0; k < 4 * N; k++)
		number[k / N][k % N] = take(&data, &size, raw);
	for (uint32_t k = 0; k < BODIES * LCP_BODY; k++)
		mass_inv[k / LCP_BODY][k % LCP_BODY][k % LCP_BODY] = fabs(take(&data, &size, raw));
	for (uint32_t i = 0; i < 4 * N; i++)
		moderate = moderate &&
			   (number[i / N][i % N] == 0 || (fabs(number[i / N][i % N]) > 1e-60 &&
							  fabs(number[i / N][i % N]) < 1e60));
	for (uint32_t k = 0; k < 2 * N * LCP_BODY; k++) {
		double size_of = fabs(jacobian[k / LCP_BODY][k % LCP_BODY]);
		moderate = moderate && (size_of == 0 || (size_of > 1e-60 && size_of < 1e60));
	}
	for (uint32_t k = 0; k < BODIES * LCP_BODY; k++) {
		double size_of = mass_inv[k / LCP_BODY][k % LCP_BODY][k % LCP_BODY];
		moderate = moderate && (size_of == 0 || (size_of > 1e-60 && size_of < 1e60));
	}
	struct lcp_sparse_problem problem = {
		.rows = rows,
		.bodies = BODIES,
		.start = start,
		.body = body,
		.jacobian = (const double(*)[LCP_BODY])jacobian,
		.mass_inv = (const double(*)[LCP_BODY][LCP_BODY])mass_inv,
		.b = number[0],
		.lower = number[1],
		.upper = number[2],
		.compliance = (data[-1] & 1) != 0 ? number[3] : NULL,
	};
	if (lcp_sparse_bytes(room) > sizeof memory)
		abort();
	memset(memory, 0x7f, sizeof memory);
	lcp_sparse_init(&solver, memory, room);
	options.rounds_max = 60;
	struct solver_result result = lcp_sparse_solve(&solver, &problem, &options, x, v);
	const double(*velocity)[LCP_BODY] = (const double(*)[LCP_BODY])v;
	if (result.status == SOLVER_SOLVED &&
	    !(result.residual <= options.tolerance && solver_finite(x, rows) &&
	      (!moderate || gen_sparse_residual(&problem, x, velocity) <= 16 * options.tolerance)))
		abort();
	if (result.status == SOLVER_INFEASIBLE && moderate &&
	    !gen_sparse_proves(&problem, result.certificate))
		abort();
	sparse_friction(&solver, &problem, number[3], data[-1], moderate);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static _Alignas(64) unsigned char memory[1 << 16];
	double a[N * N] = { 0 }, b[4 * N] = { 0 }, x[N], w[N];
	uint8_t kind[N], collision[N];
	struct lcp_friction solver;
	struct solver_options options = solver_options_default();
	if (size < 1 + N || lcp_friction_bytes(N) > sizeof memory)
		return 0;
	sparse(data, size);
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
	/* Fills the memory, so that a value read before it is written shows. */
	memset(memory, 0x7f, lcp_friction_bytes(N));
	lcp_friction_init(&solver, memory, N);
	struct lcp_problem bounded = { n, n, a, b, b + N, b + 2 * N };
	struct solver_result result = lcp_dantzig_solve(&solver.lcp, &bounded, &options, x, NULL);
	if (result.status != SOLVER_NOT_FINITE)
		check(result.residual, lcp_residual(&bounded, x, w));
	if (result.status == SOLVER_SOLVED &&
	    far_lcp_residual(&bounded, x) > 1.001L * options.tolerance)
		abort();
	struct friction_problem rough = { n, n, a, b, kind, b + 3 * N };
	result = lcp_friction_solve(&solver, &rough, &options, x, collision);
	if (result.status != SOLVER_NOT_FINITE)
		check(result.residual, lcp_friction_residual(&rough, x, w, collision));
	return 0;
}
