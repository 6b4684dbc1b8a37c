/* test_contract.c: the contract of solver.h, checked for every solver of one table.
 *
 * All arrays of a problem, its solution and the workspace end at a protected page, so that any access
 * behind them ends the test.
 */
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "server/base/rng.h"
#include "server/engine/solvers/impulse.h"
#include "server/engine/solvers/lp_dual_simplex.h"
#include "server/engine/solvers/reflection.h"
#include "tests/lib/check_main.h"

enum { N = 5, ARRAYS = 8, GUARDS = 16 };

/* ---- memory that ends at a guard page ----------------------------------------------------------- */

static struct guard {
	void *at;
	size_t bytes;
} guards[GUARDS];
static uint32_t guard_count;

static void *guarded(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE),
	       whole = (bytes + page - 1) / page * page + page;
	unsigned char *at =
		mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert(at != MAP_FAILED && guard_count < GUARDS);
	ck_assert_int_eq(mprotect(at + whole - page, page, PROT_NONE), 0);
	guards[guard_count++] = (struct guard){ at, whole };
	/* Garbage, so that a read of an uninitialised number changes the result. */
	memset(at, 0x7f, whole - page);
	return at + whole - page - bytes;
}

static void release_guards(void)
{
	while (guard_count > 0) {
		struct guard guard = guards[--guard_count];
		ck_assert_int_eq(munmap(guard.at, guard.bytes), 0);
	}
}

/* ---- the table ---------------------------------------------------------------------------------- */

/* The numbers of a problem of n rows; each solver reads some of these arrays. */
struct numbers {
	uint32_t n, stride;
	double *a, *b, *c, *low, *high, *matrix, *mu; /* a, matrix: n × stride less the tail */
	uint8_t *kind;
	uint32_t *starts, *index; /* of `matrix` by columns, all entries */
	double *x, *y;		  /* solutions, 3 n each */
	uint8_t *states;
	struct solver_options options;
	/* A workspace for `room` rows in `memory`. */
	uint32_t room;
	void *memory;
	enum reflection_core core;
};

struct array {
	double *at;
	uint32_t count;
	bool infinite; /* ±∞ is allowed, NaN is invalid */
};

struct row {
	const char *name;
	size_t (*bytes)(uint32_t room);
	struct solver_result (*solve)(const struct numbers *self);
	/* The arrays in which the solver reads every number; returns how many there are. */
	uint32_t (*arrays)(const struct numbers *self, struct array *out);
	uint32_t solution; /* doubles of x for each row */
};

static uint32_t cells(const struct numbers *self)
{
	return self->n > 0 ? (self->n - 1) * self->stride + self->n : 0;
}

static struct solver_result solve_lcp(const struct numbers *self)
{
	struct lcp_dantzig solver;
	lcp_dantzig_init(&solver, self->memory, self->room);
	struct lcp_problem problem = { self->n, self->stride, self->a,
				       self->b, self->low,    self->high };
	return lcp_dantzig_solve(&solver, &problem, &self->options, self->x, self->states);
}

static uint32_t lcp_arrays(const struct numbers *self, struct array *out)
{
	out[0] = (struct array){ self->a, cells(self), false };
	out[1] = (struct array){ self->b, self->n, false };
	out[2] = (struct array){ self->low, self->n, true };
	out[3] = (struct array){ self->high, self->n, true };
	return 4;
}

static struct solver_result solve_friction(const struct numbers *self)
{
	struct lcp_friction solver;
	lcp_friction_init(&solver, self->memory, self->room);
	struct friction_problem problem = { self->n, self->stride, self->a,
					    self->b, self->kind,   self->mu };
	return lcp_friction_solve(&solver, &problem, &self->options, self->x, self->states);
}

static uint32_t friction_arrays(const struct numbers *self, struct array *out)
{
	out[0] = (struct array){ self->a, cells(self), false };
	out[1] = (struct array){ self->b, self->n, false };
	/* Rows 0 and 3 are normals, which have no μ. */
	out[2] = (struct array){ self->mu + 1, MIN_OF(2, self->n - 1), false };
	return 3;
}

static size_t qp_bytes(uint32_t room)
{
	return qp_dual_active_set_bytes(room, room);
}

static struct solver_result solve_qp(const struct numbers *self)
{
	struct qp_dual_active_set solver;
	qp_dual_active_set_init(&solver, self->memory, self->room, self->room);
	struct qp_problem problem = { self->n,	    self->n, self->a, self->c,
				      self->matrix, self->b, NULL };
	return qp_dual_active_set_solve(&solver, &problem, &self->options, self->x, self->y,
					self->states);
}

static uint32_t qp_arrays(const struct numbers *self, struct array *out)
{
	out[0] = (struct array){ self->a, self->n * self->n, false };
	out[1] = (struct array){ self->b, self->n, false };
	out[2] = (struct array){ self->c, self->n, false };
	out[3] = (struct array){ self->matrix, self->n * self->n, false };
	return 4;
}

static struct lp_sizes lp_sizes_of(uint32_t room)
{
	uint64_t entries = (uint64_t)room * room;
	return (struct lp_sizes){ room, room, (uint32_t)MIN_OF(entries, UINT32_MAX), 0 };
}

static size_t lp_bytes(uint32_t room)
{
	return lp_dual_simplex_bytes(lp_sizes_of(room));
}

static struct solver_result solve_lp(const struct numbers *self)
{
	struct lp_dual_simplex solver;
	struct lp_solution solution = { self->x, self->y, self->states };
	lp_dual_simplex_init(&solver, self->memory, lp_sizes_of(self->room));
	struct lp_problem problem = {
		{ self->n, self->n, self->starts, self->index, self->matrix },
		self->c,
		self->low,
		self->high,
		self->low,
		self->high,
		NULL,
	};
	return lp_dual_simplex_solve(&solver, &problem, &self->options, &solution);
}

static uint32_t lp_arrays(const struct numbers *self, struct array *out)
{
	out[0] = (struct array){ self->matrix, self->n * self->n, false };
	out[1] = (struct array){ self->c, self->n, false };
	out[2] = (struct array){ self->low, self->n, true };
	out[3] = (struct array){ self->high, self->n, true };
	return 4;
}

static uint32_t impulse_arrays(const struct numbers *self, struct array *out)
{
	out[0] = (struct array){ self->a, self->n * self->n, false };
	out[1] = (struct array){ self->b, self->n, false };
	out[2] = (struct array){ self->c, self->n, false };
	out[3] = (struct array){ self->mu, self->n, false };
	return 4;
}

/* Each entry of `a` is a block of three equal ones; the contacts arrive with b and slip with c. */
static struct solver_result solve_impulse(const struct numbers *self)
{
	struct impulse solver;
	uint32_t n = self->n, rows = 3 * n;
	double a[9 * N * N] = { 0 }, u[3 * N] = { 0 }, restitution[N], friction[2 * N] = { 0 };
	for (uint32_t i = 0; i < n; i++) {
		u[3 * i] = self->b[i];
		u[3 * i + 1] = self->c[i];
		restitution[i] = 0.5;
		friction[2 * i] = self->mu[i];
		for (uint32_t j = 0; j < n; j++)
			for (uint32_t k = 0; k < 3; k++)
				a[(3 * i + k) * rows + 3 * j + k] = self->a[i * n + j];
	}
	impulse_init(&solver, self->memory, self->room);
	struct impulse_problem problem = { n, rows, a, u, restitution, friction };
	return impulse_solve(&solver, &problem, &self->options, self->x);
}

static uint32_t reflection_arrays(const struct numbers *self, struct array *out)
{
	out[0] = (struct array){ self->a, self->n * self->n, false };
	out[1] = (struct array){ self->b, self->n, false };
	return 2;
}

static struct reflection_sizes reflection_sizes_of(uint32_t room)
{
	return (struct reflection_sizes){ room, room + (room == 0) };
}

static size_t reflection_room(uint32_t room)
{
	return reflection_bytes(reflection_sizes_of(room));
}

/* With coordinates in which M and N are both `a`, so that A is as well. */
static struct solver_result solve_reflection(const struct numbers *self)
{
	struct reflection solver;
	struct reflection_problem problem = { self->n, self->stride, self->a, self->b,
					      1,       self->n,	     self->a, self->a };
	struct solver_options options = self->options;
	/* With entries of very different exponents the rounds may not end. */
	options.rounds_max = 20;
	reflection_init(&solver, self->memory, reflection_sizes_of(self->room));
	return reflection_solve(&solver, &problem, self->core, 0.5, &options, self->x);
}

static struct solver_result solve_projection(const struct numbers *self)
{
	struct numbers projecting = *self;
	projecting.core = REFLECTION_PROJECTION;
	return solve_reflection(&projecting);
}

static const struct row table[] = {
	{ "lcp_dantzig", lcp_dantzig_bytes, solve_lcp, lcp_arrays, 1 },
	{ "lcp_friction", lcp_friction_bytes, solve_friction, friction_arrays, 1 },
	{ "qp_dual_active_set", qp_bytes, solve_qp, qp_arrays, 1 },
	{ "lp_dual_simplex", lp_bytes, solve_lp, lp_arrays, 1 },
	{ "impulse", impulse_bytes, solve_impulse, impulse_arrays, 3 },
	{ "reflection", reflection_room, solve_reflection, reflection_arrays, 1 },
	{ "reflection by projection", reflection_room, solve_projection, reflection_arrays, 1 },
};

/* A valid problem of n rows for row `solver` of the table, with a workspace for `room` rows. */
static struct numbers make(const struct row *solver, uint32_t n, uint32_t room, uint64_t seed)
{
	struct rng rng = rng_seeded(seed);
	struct numbers self = { .n = n, .stride = n, .room = room };
	double root[N][N];
	size_t square = (size_t)n * n * sizeof(double), line = n * sizeof(double);
	self.options = solver_options_default();
	self.a = guarded(square);
	self.matrix = guarded(square);
	double **lines[] = { &self.b, &self.c, &self.low, &self.high, &self.mu };
	for (uint32_t i = 0; i < COUNT_OF(lines); i++)
		*lines[i] = guarded(line);
	self.kind = guarded(n);
	self.starts = guarded((n + 1) * sizeof(uint32_t));
	self.index = guarded((size_t)n * n * sizeof(uint32_t));
	self.x = guarded(solver->solution * line);
	self.y = guarded(line);
	self.states = guarded(2 * (size_t)n);
	self.memory = guarded(solver->bytes(room));
	memset(self.states, 0, 2 * (size_t)n);
	for (uint32_t i = 0; i < n * n; i++)
		root[i / n][i % n] = rng_range(&rng, -1, 1);
	for (uint32_t i = 0; i < n; i++) {
		self.b[i] = rng_range(&rng, -1, 0);
		self.c[i] = rng_range(&rng, 0, 1);
		self.low[i] = i % 2 == 0 ? 0 : -1;
		self.high[i] = i % 3 == 0 ? HUGE_VAL : 2;
		self.mu[i] = 0.5;
		self.kind[i] = i % 3 == 0 ? FRICTION_NORMAL : FRICTION_STATIC;
		for (uint32_t j = 0; j < n; j++) {
			self.a[i * n + j] = i == j ? 1 : 0;
			for (uint32_t k = 0; k < n; k++)
				self.a[i * n + j] += root[i][k] * root[j][k];
			self.matrix[i * n + j] = rng_range(&rng, 0.1, 1);
			self.index[i * n + j] = j;
		}
	}
	for (uint32_t j = 0; j <= n; j++)
		self.starts[j] = j * n;
	return self;
}

static void check_invalid(const struct row *solver, const struct numbers *self)
{
	struct solver_result result = solver->solve(self);
	ck_assert_msg(result.status == SOLVER_INVALID, "%s says %s", solver->name,
		      solver_status_name(result.status));
	ck_assert(isinf(result.residual) && isinf(result.violation) && isinf(result.stationarity));
	ck_assert_ptr_null(result.certificate);
	ck_assert_uint_eq(result.certificate_count, 0);
	for (uint32_t i = 0; i < solver->solution * self->n; i++)
		ck_assert_double_eq(self->x[i], 0);
}

/* ---- the contract ------------------------------------------------------------------------------- */

START_TEST(a_valid_problem_is_solved_within_its_arrays)
{
	const struct row *solver = &table[_i];
	for (uint32_t n = 0; n <= N; n++)
		for (uint64_t seed = 0; seed < 20; seed++) {
			struct numbers self = make(solver, n, n, check_seed() + seed);
			struct solver_result result = solver->solve(&self);
			ck_assert_msg(result.status == SOLVER_SOLVED, "%s, %u rows: %s",
				      solver->name, n, solver_status_name(result.status));
			ck_assert_double_le(result.residual, 1e-10);
			ck_assert_double_le(result.violation, 1e-9);
			ck_assert_double_le(result.stationarity, 1e-9);
			release_guards();
		}
}
END_TEST

/* Two arrays of a problem are the same memory; the result must equal that with copies. Lower bounds
 * are b ≤
 * 0. */
START_TEST(arrays_of_a_problem_may_be_the_same)
{
	const struct row *solver = &table[_i];
	for (uint32_t n = 1; n <= N; n++)
		for (uint64_t seed = 0; seed < 20; seed++) {
			struct numbers apart = make(solver, n, n, check_seed() + seed);
			double expected[3 * N];
			size_t line = n * sizeof(double), square = n * line;
			memcpy(apart.c, apart.b, line);
			memcpy(apart.low, apart.b, line);
			memcpy(apart.matrix, apart.a, square);
			struct solver_result first = solver->solve(&apart);
			memcpy(expected, apart.x, solver->solution * line);
			struct numbers same = apart;
			same.c = same.low = same.b;
			same.matrix = same.a;
			struct solver_result second = solver->solve(&same);
			ck_assert_int_eq(first.status, second.status);
			ck_assert(first.residual == second.residual);
			ck_assert_mem_eq(expected, same.x, solver->solution * line);
			/* The solver has not written to the problem. */
			ck_assert_mem_eq(apart.c, same.b, line);
			ck_assert_mem_eq(apart.matrix, same.a, square);
			release_guards();
		}
}
END_TEST

START_TEST(every_number_that_is_not_finite_is_invalid)
{
	static const double bad[] = { NAN, HUGE_VAL, -HUGE_VAL };
	const struct row *solver = &table[_i];
	struct numbers self = make(solver, N, N, check_seed());
	struct array arrays[ARRAYS];
	uint32_t count = solver->arrays(&self, arrays);
	for (uint32_t k = 0; k < count; k++)
		for (uint32_t i = 0; i < arrays[k].count; i++)
			for (uint32_t b = 0; b < (arrays[k].infinite ? 1 : 3); b++) {
				double kept = arrays[k].at[i];
				arrays[k].at[i] = bad[b];
				check_invalid(solver, &self);
				arrays[k].at[i] = kept;
			}
	ck_assert_int_eq(solver->solve(&self).status, SOLVER_SOLVED);
	release_guards();
}
END_TEST

START_TEST(a_problem_larger_than_the_workspace_is_invalid)
{
	const struct row *solver = &table[_i];
	for (uint32_t room = 0; room < N; room++) {
		struct numbers self = make(solver, N, room, check_seed());
		check_invalid(solver, &self);
		release_guards();
	}
}
END_TEST

START_TEST(memory_that_is_missing_or_misaligned_is_invalid)
{
	const struct row *solver = &table[_i];
	for (uint32_t n = 0; n <= N; n += N) {
		struct numbers self = make(solver, n, n, check_seed());
		unsigned char *memory = self.memory;
		/* The memory is too short for the workspace, so it must not be written to. */
		for (uint32_t off = 1; off < 64; off++) {
			self.memory = memory + off;
			check_invalid(solver, &self);
		}
		self.memory = NULL;
		check_invalid(solver, &self);
		release_guards();
	}
}
END_TEST

START_TEST(sizes_out_of_range_cannot_be_allocated)
{
	ck_assert_uint_ge(table[_i].bytes(UINT32_MAX), SIZE_MAX / 2);
	ck_assert_uint_ge(table[_i].bytes(UINT32_MAX - 1), SIZE_MAX / 2);
}
END_TEST

START_TEST(problems_of_any_exponent_end_with_a_true_status)
{
	static const double sizes[] = { 1e-300, 1e-150, 1e-9, 1e9, 1e150, 1e300 };
	const struct row *solver = &table[_i];
	struct rng rng = rng_seeded(check_seed());
	for (uint32_t round = 0; round < 600; round++) {
		struct numbers self = make(solver, N, N, check_seed() + round);
		struct array arrays[ARRAYS];
		uint32_t count = solver->arrays(&self, arrays);
		for (uint32_t k = 0; k < count; k++) {
			double size = sizes[rng_below(&rng, COUNT_OF(sizes))];
			bool mixed = rng_below(&rng, 3) == 0;
			for (uint32_t i = 0; i < arrays[k].count; i++)
				arrays[k].at[i] *=
					mixed ? sizes[rng_below(&rng, COUNT_OF(sizes))] : size;
		}
		struct solver_result result = solver->solve(&self);
		ck_assert_uint_lt((uint32_t)result.status, SOLVER_STATUSES);
		if (result.status == SOLVER_SOLVED)
			ck_assert_double_le(result.residual, 1e-10);
		if (result.status == SOLVER_INFEASIBLE || result.status == SOLVER_UNBOUNDED)
			ck_assert_ptr_nonnull(result.certificate);
		ck_assert(!(result.residual < 0) && !isnan(result.residual));
		release_guards();
	}
}
END_TEST

START_TEST(an_invalid_tolerance_becomes_the_default)
{
	static const double none[] = { 0, -1, NAN };
	const struct row *solver = &table[_i];
	struct numbers self = make(solver, N, N, check_seed());
	double first[3 * N];
	struct solver_result wanted = solver->solve(&self);
	memcpy(first, self.x, solver->solution * N * sizeof *first);
	for (uint32_t k = 0; k < COUNT_OF(none); k++) {
		self.options.tolerance = none[k];
		struct solver_result result = solver->solve(&self);
		ck_assert_int_eq(result.status, wanted.status);
		ck_assert_int_eq(memcmp(first, self.x, solver->solution * N * sizeof *first), 0);
	}
	/* With any tolerance a number that is not finite is INVALID. */
	self.options.tolerance = HUGE_VAL;
	ck_assert_double_le(solver->solve(&self).residual, 1);
	release_guards();
}
END_TEST

/* ---- properties of some solvers ----------------------------------------------------------------- */

START_TEST(a_stride_below_the_count_is_invalid)
{
	for (uint32_t k = 0; k < 2; k++) {
		struct numbers self = make(&table[k], N, N, check_seed());
		for (self.stride = 0; self.stride < N; self.stride++)
			check_invalid(&table[k], &self);
		release_guards();
	}
}
END_TEST

START_TEST(residuals_are_the_same_in_all_units_and_violations_are_in_them)
{
	/* Other units of w: b, w and x times 2^k, which is exact, so all bits must agree. */
	for (int k = -40; k <= 40; k += 16)
		for (uint32_t which = 0; which < 2; which++)
			for (uint64_t seed = 0; seed < 50; seed++) {
				struct numbers self =
					make(&table[which], N, N, check_seed() + seed);
				for (uint32_t i = 0; i < N; i++) {
					self.low[i] = 0;
					self.high[i] = HUGE_VAL;
				}
				struct solver_result one = table[which].solve(&self);
				for (uint32_t i = 0; i < N; i++)
					self.b[i] = ldexp(self.b[i], k);
				struct solver_result other = table[which].solve(&self);
				ck_assert_double_eq(one.residual, other.residual);
				ck_assert_double_eq(ldexp(one.violation, k), other.violation);
				release_guards();
			}
}
END_TEST

START_TEST(crossed_bounds_are_invalid_or_proved_infeasible)
{
	struct numbers self = make(&table[0], N, N, check_seed());
	self.low[2] = 1;
	self.high[2] = 0.5;
	check_invalid(&table[0], &self);
	release_guards();
	/* In a linear program crossed bounds are INFEASIBLE, without a certificate. */
	self = make(&table[3], N, N, check_seed());
	self.low[2] = 1;
	self.high[2] = 0.5;
	struct solver_result result = table[3].solve(&self);
	ck_assert_int_eq(result.status, SOLVER_INFEASIBLE);
	ck_assert_double_gt(result.violation, 0.4);
	release_guards();
}
END_TEST

START_TEST(a_matrix_with_indices_out_of_order_is_invalid_and_not_read)
{
	const struct row *solver = &table[3];
	struct numbers self = make(solver, N, N, check_seed());
	static const struct {
		uint32_t at, value;
	} starts[] = { { 0, 1 }, { 1, 1u << 30 }, { 2, 0 }, { N, N * N + 1 }, { N, UINT32_MAX } },
	  index[] = { { 0, N }, { 1, 0 }, { 1, 2 }, { 3, UINT32_MAX }, { N * N - 1, 0 } };
	for (uint32_t k = 0; k < COUNT_OF(starts); k++) {
		uint32_t kept = self.starts[starts[k].at];
		self.starts[starts[k].at] = starts[k].value;
		check_invalid(solver, &self);
		self.starts[starts[k].at] = kept;
	}
	for (uint32_t k = 0; k < COUNT_OF(index); k++) {
		uint32_t kept = self.index[index[k].at];
		self.index[index[k].at] = index[k].value;
		check_invalid(solver, &self);
		self.index[index[k].at] = kept;
	}
	ck_assert_int_eq(solver->solve(&self).status, SOLVER_SOLVED);
	release_guards();
}
END_TEST

START_TEST(an_unknown_kind_or_core_is_invalid)
{
	struct numbers self = make(&table[1], N, N, check_seed());
	self.kind[3] = FRICTION_JOINT + 1;
	check_invalid(&table[1], &self);
	self.kind[3] = FRICTION_NORMAL;
	self.kind[0] = FRICTION_STATIC;
	check_invalid(&table[1], &self);
	release_guards();
	self = make(&table[5], N, N, check_seed());
	self.core = (enum reflection_core)(REFLECTION_PROJECTION + 1);
	check_invalid(&table[5], &self);
	release_guards();
}
END_TEST

START_TEST(a_matrix_that_is_not_symmetric_gives_no_false_proof)
{
	struct rng rng = rng_seeded(check_seed());
	struct numbers self = make(&table[0], N, N, check_seed());
	for (uint32_t i = 0; i < N; i++) {
		self.low[i] = 0;
		self.high[i] = HUGE_VAL;
	}
	for (uint32_t round = 0; round < 5000; round++) {
		for (uint32_t i = 0; i < N * N; i++)
			self.a[i] = (double)rng_below(&rng, 5) - 2;
		struct solver_result result = table[0].solve(&self);
		if (result.status == SOLVER_SOLVED)
			ck_assert_double_le(result.residual, 1e-10);
		/* A true proof has z ≥ 0, zᵀA = 0 and z·b < 0, hence z·w < 0 for every x. */
		for (uint32_t j = 0; j < N && result.status == SOLVER_INFEASIBLE; j++) {
			double sum = 0;
			for (uint32_t i = 0; i < N; i++)
				sum += result.certificate[i] * self.a[i * N + j];
			ck_assert_double_eq_tol(sum, 0, 1e-9);
			ck_assert_double_ge(result.certificate[j], 0);
		}
	}
	release_guards();
}
END_TEST

static Suite *make_suite(void)
{
	Suite *suite = suite_create("contract");
	TCase *tcase = tcase_create("solver.h");
	int rows = COUNT_OF(table);
	tcase_add_loop_test(tcase, a_valid_problem_is_solved_within_its_arrays, 0, rows);
	tcase_add_loop_test(tcase, arrays_of_a_problem_may_be_the_same, 0, rows);
	tcase_add_loop_test(tcase, every_number_that_is_not_finite_is_invalid, 0, rows);
	tcase_add_loop_test(tcase, a_problem_larger_than_the_workspace_is_invalid, 0, rows);
	tcase_add_loop_test(tcase, memory_that_is_missing_or_misaligned_is_invalid, 0, rows);
	tcase_add_loop_test(tcase, sizes_out_of_range_cannot_be_allocated, 0, rows);
	tcase_add_loop_test(tcase, problems_of_any_exponent_end_with_a_true_status, 0, rows);
	tcase_add_loop_test(tcase, an_invalid_tolerance_becomes_the_default, 0, rows);
	tcase_add_test(tcase, a_stride_below_the_count_is_invalid);
	tcase_add_test(tcase, residuals_are_the_same_in_all_units_and_violations_are_in_them);
	tcase_add_test(tcase, crossed_bounds_are_invalid_or_proved_infeasible);
	tcase_add_test(tcase, a_matrix_with_indices_out_of_order_is_invalid_and_not_read);
	tcase_add_test(tcase, an_unknown_kind_or_core_is_invalid);
	tcase_add_test(tcase, a_matrix_that_is_not_symmetric_gives_no_false_proof);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make_suite);
}
