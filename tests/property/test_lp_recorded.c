/* The linear programs of running scenes, recorded at the solver's door: each is solved as the method asks,
 * from the basis of the step before, and by CLP from the same basis and from none. All have the same optimum
 * to 1e-9 of its terms.
 *
 * The linker sends every call of lp_dual_simplex_solve to __wrap_lp_dual_simplex_solve below.
 * CAIRN_LP_RECORDED is the number of programs (make bench-lp-steps: 500), default 20; each scene has its
 * share, and pivots and times of both are printed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "server/base/heap.h"
#include "server/base/parallel.h"
#include "server/commands/batch_world.h"
#include "server/engine/solvers/lp_dual_simplex.h"
#include "tests/lib/check_main.h"
#include "tests/lib/lp_clp.h"

enum { ROWS = 8192, COLUMNS = 4096, NONZEROS = 1 << 16, RECORDED = 20, TICKS_MAX = 400 };

/* A scene, and how many of its programs are left out: those of its first fall have few rows. */
static const struct recorded_scene {
	const char *path;
	uint32_t skipped, share; /* of ten programs, at most */
	struct option_list set;
} scenes[] = {
	{ "clients/scenes/pile-box.yaml", 20, 1, { .count = 0 } },
	/* With a budget of pivots that no step reaches, and without a limit of work, the simplex
	 * method goes on to the end. */
	{ "clients/scenes/hourglass.yaml",
	  40,
	  10,
	  { .count = 2, .items = { "pile.pivots=1000000", "pile.work=0" } } },
};

static struct {
	struct lp_clp clp;
	double *scratch;
	uint8_t *places;
	uint32_t seen, wanted, taken, skipped;
	uint64_t pivots, clp_pivots, clp_cold_pivots;
	double ms, clp_ms, clp_cold_ms, worst;
	uint32_t clp_failed, clp_cold_failed, both_failed;
} record;

struct solver_result __real_lp_dual_simplex_solve(struct lp_dual_simplex *self,
						  const struct lp_problem *problem,
						  const struct solver_options *options,
						  struct lp_solution *solution);
struct solver_result __wrap_lp_dual_simplex_solve(struct lp_dual_simplex *self,
						  const struct lp_problem *problem,
						  const struct solver_options *options,
						  struct lp_solution *solution);

/* Compares an optimum with that of CLP, unless that has a residual over 1e-9; ours has at most 1e-10, which
 * proves it. */
static void compare_optima(const struct lp_problem *problem, const struct solver_result *result,
			   const uint8_t *places)
{
	struct lp_clp_answer warm = lp_clp_solve(&record.clp, problem, places, record.scratch);
	struct lp_clp_answer cold = lp_clp_solve(&record.clp, problem, NULL, record.scratch);
	bool warm_failed = warm.verdict != 0 || warm.residual > 1e-9;
	bool cold_failed = cold.verdict != 0 || cold.residual > 1e-9;
	record.clp_failed += warm_failed;
	record.clp_cold_failed += cold_failed;
	record.both_failed += warm_failed && cold_failed;
	if (warm_failed && cold_failed)
		printf("# program %u: CLP's verdicts %d, %d, residuals %.1e, %.1e\n", record.seen,
		       warm.verdict, cold.verdict, warm.residual, cold.residual);
	const struct lp_clp_answer *answer = cold_failed ? &warm : &cold;
	double off = fabs(result->objective - answer->objective) / (1 + answer->size);
	ck_assert_msg(off <= 1e-9 || (warm_failed && cold_failed), "program %u: %.15g, CLP %.15g",
		      record.seen, result->objective, answer->objective);
	if (!warm_failed || !cold_failed)
		record.worst = fmax(record.worst, off);
	record.clp_pivots += (uint64_t)warm.pivots;
	record.clp_cold_pivots += (uint64_t)cold.pivots;
	record.clp_ms += warm.ms;
	record.clp_cold_ms += cold.ms;
}

struct solver_result __wrap_lp_dual_simplex_solve(struct lp_dual_simplex *self,
						  const struct lp_problem *problem,
						  const struct solver_options *options,
						  struct lp_solution *solution)
{
	const struct lp_matrix *a = &problem->matrix;
	bool recorded =
		record.taken < record.wanted && a->rows > 0 && record.seen++ >= record.skipped;
	if (recorded)
		memcpy(record.places, solution->places, a->columns + a->rows);
	double begin = lp_clp_now();
	struct solver_result result =
		__real_lp_dual_simplex_solve(self, problem, options, solution);
	if (!recorded)
		return result;
	record.ms += lp_clp_now() - begin;
	record.pivots += result.pivots;
	record.taken++;
	ck_assert_msg(result.status == SOLVER_SOLVED, "program %u: %s, residual %g", record.seen,
		      solver_status_name(result.status), result.residual);
	compare_optima(problem, &result, record.places);
	return result;
}

/* Runs a scene until `wanted` of its programs are recorded, or to its end; returns how many are. */
static uint32_t record_scene(const struct recorded_scene *scene, uint32_t wanted)
{
	const char *source = getenv("CAIRN_SRCDIR");
	char path[2048];
	struct option_list none = { .count = 0 };
	struct batch_scene from = { .path = path, .set = &scene->set, .let = &none };
	struct shape_library book;
	struct scene *read;
	struct world *world;
	struct reason why = { 0 };
	snprintf(path, sizeof path, "%s/%s", source != NULL ? source : ".", scene->path);
	shape_library_init(&book);
	ck_assert_msg(batch_world_make(&from, &book, &read, &world, &why) == STATUS_OK, "%s: %s",
		      path, why.text);
	record.seen = record.taken = 0;
	record.wanted = wanted;
	record.skipped = scene->skipped;
	for (uint32_t tick = 0; record.taken < wanted && tick < TICKS_MAX; tick++)
		ck_assert_int_eq(world_step(world, &parallel_serial, &why), STATUS_OK);
	world_destroy(world);
	scene_destroy(read);
	shape_library_release(&book);
	return record.taken;
}

START_TEST(programs_of_steps_have_the_optima_of_clp)
{
	const char *text = getenv("CAIRN_LP_RECORDED");
	uint32_t count = text != NULL ? (uint32_t)strtoul(text, NULL, 10) : RECORDED;
	uint32_t recorded = 0;
	lp_clp_init(&record.clp, ROWS, COLUMNS, NONZEROS);
	record.scratch = heap_alloc_zero(2 * ROWS * sizeof *record.scratch);
	record.places = heap_alloc_zero(ROWS + COLUMNS);
	for (uint32_t i = 0; i < COUNT_OF(scenes); i++)
		recorded += record_scene(&scenes[i],
					 MIN_OF(count * scenes[i].share / 10, count - recorded));
	ck_assert_uint_eq(recorded, count);
	printf("# ours %llu pivots %.1f ms; CLP from the same basis %llu pivots %.1f ms (%u wrong), from "
	       "none %llu pivots %.1f ms (%u wrong)\n# optima differ by at most %.1e\n",
	       (unsigned long long)record.pivots, record.ms, (unsigned long long)record.clp_pivots,
	       record.clp_ms, record.clp_failed, (unsigned long long)record.clp_cold_pivots,
	       record.clp_cold_ms, record.clp_cold_failed, record.worst);
	fflush(stdout);
	ck_assert_uint_le(50 * record.both_failed, count);
	lp_clp_release(&record.clp);
	heap_free(record.scratch);
	heap_free(record.places);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("lp_recorded");
	TCase *optima = tcase_create("optima");
	tcase_set_timeout(optima, 60);
	tcase_add_test(optima, programs_of_steps_have_the_optima_of_clp);
	suite_add_tcase(suite, optima);
	return suite;
}

int main(void)
{
	return check_main(make);
}
