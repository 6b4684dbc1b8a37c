/* test_chol_panel.c: the factor by panels against its dense matrix, in every width. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/processor.h"
#include "server/base/rng.h"
#include "server/engine/linalg/chol_panel.h"
#include "server/engine/linalg/order_amd.h"
#include "server/engine/linalg/order_dissect.h"
#include "server/io/parallel_pool.h"
#include "tests/lib/check_main.h"

enum { BODIES = 60, B = CHOL_PANEL, SIZE = BODIES * B };

static struct arena arena;
static struct chol_panel factor;
static uint32_t size;
static double dense[SIZE][SIZE];
static bool near[BODIES][BODIES];
static uint32_t start[BODIES + 1], list[BODIES * BODIES], order[BODIES];

static void setup(void)
{
	ck_assert_int_eq(arena_init(&arena, 1 << 20), STATUS_OK);
}

static void teardown(void)
{
	arena_release(&arena);
	processor_limit_lanes(UINT32_MAX);
}

/* 1 + stiffness × Σ j jᵀ over `links` rows that each act on two bodies at most `span` apart. */
static void make_matrix(struct rng *rng, uint32_t links, uint32_t span, double stiffness)
{
	memset(dense, 0, sizeof dense);
	memset(near, 0, sizeof near);
	for (uint32_t i = 0; i < SIZE; i++)
		dense[i][i] = 1;
	for (uint32_t l = 0; l < links; l++) {
		uint32_t body = rng_below(rng, size);
		uint32_t bodies[2] = { body, (body + rng_below(rng, span)) % size };
		double j[2 * B];
		for (uint32_t k = 0; k < 2 * B; k++)
			j[k] = rng_range(rng, -1, 1);
		near[bodies[0]][bodies[1]] = near[bodies[1]][bodies[0]] = true;
		for (uint32_t r = 0; r < 2 * B; r++)
			for (uint32_t c = 0; c < 2 * B; c++)
				dense[bodies[r / B] * B + r % B][bodies[c / B] * B + c % B] +=
					stiffness * j[r] * j[c];
	}
}

static void list_pattern(void)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < size; i++) {
		start[i] = count;
		for (uint32_t j = 0; j < size; j++)
			if (near[i][j] && j != i)
				list[count++] = j;
	}
	start[size] = count;
}

static void fill_and_factor(void)
{
	chol_panel_identity(&factor);
	for (uint32_t a = 0; a < size; a++)
		for (uint32_t b = 0; b < size; b++) {
			if (factor.place[a] < factor.place[b] || (a != b && !near[a][b]))
				continue;
			double *to = factor.value +
				     chol_panel_find(&factor, factor.place[a], factor.place[b]);
			for (uint32_t c = 0; c < B; c++)
				for (uint32_t r = 0; r < B; r++)
					to[c * CHOL_PANEL_TILE + r] = dense[a * B + r][b * B + c];
		}
	chol_panel_factor(&factor);
}

static void analyse(void)
{
	arena_reset(&arena);
	ck_assert_int_eq(chol_panel_analyse(&factor, &arena, size, start, list, order), STATUS_OK);
}

static void random_side(struct rng *rng, double *b)
{
	for (uint32_t i = 0; i < size * B; i++)
		b[i] = rng_range(rng, -1, 1);
}

/* The most by which A x misses b. */
static double residual_of(const double *x, const double *b)
{
	double worst = 0;
	for (uint32_t i = 0; i < size * B; i++) {
		double sum = b[i];
		for (uint32_t j = 0; j < size * B; j++)
			sum -= dense[i][j] * x[j];
		worst = fmax(worst, fabs(sum));
	}
	return worst;
}

START_TEST(the_factor_solves_in_any_order_of_any_pattern)
{
	static uint32_t work[BODIES * (BODIES + 32)];
	struct rng rng = rng_seeded(check_seed());
	for (uint32_t round = 0; round < 90; round++) {
		double b[SIZE], x[SIZE];
		size = 1 + rng_below(&rng, BODIES);
		make_matrix(&rng, rng_below(&rng, 4 * size), 1 + rng_below(&rng, size), 1);
		list_pattern();
		for (uint32_t i = 0; i < size; i++)
			order[i] = round % 3 == 0 ? i : size - 1 - i;
		if (round % 3 == 2) {
			ck_assert_uint_le(order_amd_words(size, start[size]), COUNT_OF(work));
			order_amd(size, start, list, order, work);
		}
		analyse();
		fill_and_factor();
		ck_assert_uint_eq(factor.pivots_lost, 0);
		random_side(&rng, b);
		memcpy(x, b, sizeof x);
		chol_panel_solve(&factor, x);
		ck_assert_double_le(residual_of(x, b), 1e-12);
	}
}
END_TEST

START_TEST(every_width_gives_the_same_bits)
{
	static const uint32_t LANES[] = { 1, 4, 8, 16 };
	struct rng rng = rng_seeded(check_seed() + 1);
	for (uint32_t round = 0; round < 30; round++) {
		double b[SIZE], x[COUNT_OF(LANES)][SIZE];
		size = BODIES - round % 5;
		make_matrix(&rng, 2 * size, 2 + 2 * round, round % 2 == 0 ? 1 : 1e9);
		list_pattern();
		for (uint32_t i = 0; i < size; i++)
			order[i] = i;
		random_side(&rng, b);
		for (uint32_t which = 0; which < COUNT_OF(LANES); which++) {
			processor_limit_lanes(LANES[which]);
			analyse();
			fill_and_factor();
			memcpy(x[which], b, sizeof b);
			chol_panel_solve(&factor, x[which]);
			ck_assert(memcmp(x[0], x[which], size * B * sizeof *b) == 0);
		}
		processor_limit_lanes(UINT32_MAX);
	}
}
END_TEST

/* Stiff, linearly dependent rows: eigenvalues from 1 to 1e10, 1e20 and 1e28. All are at least 1, so solving
 * never increases the length of a vector, however many pivots rounding takes away. */
START_TEST(dependent_stiff_rows_can_be_factored)
{
	static const double STIFF[] = { 1e10, 1e20, 1e28 };
	struct rng rng = rng_seeded(check_seed() + 2);
	size = BODIES;
	for (uint32_t round = 0; round < 40; round++) {
		double b[SIZE];
		make_matrix(&rng, round % 2 == 0 ? 500 : size, size, STIFF[_i]);
		list_pattern();
		for (uint32_t i = 0; i < size; i++)
			order[i] = i;
		analyse();
		fill_and_factor();
		random_side(&rng, b);
		chol_panel_solve(&factor, b);
		for (uint32_t i = 0; i < SIZE; i++)
			ck_assert(fabs(b[i]) <= sqrt(SIZE));
	}
}
END_TEST

/* A chain has no fill-in: its columns become panels that join only while few of their blocks are zeros. A
 * matrix of all pairs is as few panels as their width permits. */
START_TEST(panels_are_columns_with_the_same_rows)
{
	size = BODIES;
	memset(near, 0, sizeof near);
	for (uint32_t i = 0; i < size; i++) {
		order[i] = i;
		if (i > 0)
			near[i][i - 1] = near[i - 1][i] = true;
	}
	list_pattern();
	analyse();
	ck_assert_uint_ge(factor.panels, size / 4);
	ck_assert_uint_le(factor.start[factor.panels], 2 * size);
	memset(near, 1, sizeof near);
	list_pattern();
	analyse();
	ck_assert_uint_eq(factor.panels, 2);
	ck_assert_uint_eq(factor.start[1], size);
	ck_assert_uint_eq(factor.start[2], size + size - factor.first[1]);
}
END_TEST

/* ---- a heap, of which several workers factor parts ------------------------------------------------ */

enum { WIDE = 13, HEAP = WIDE * WIDE * WIDE, NEAR = 18 };

static uint32_t heap_start[HEAP + 1], heap_list[HEAP * NEAR], heap_order[HEAP];
static vec3 heap_place[HEAP], heap_side[HEAP];

/* Places of a lattice; neighbours along its axes, and some across. */
static void make_heap(void)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < HEAP; i++)
		heap_place[i] = vec3_make(i % WIDE, i / WIDE % WIDE, i / WIDE / WIDE);
	for (uint32_t i = 0; i < HEAP; i++) {
		heap_start[i] = count;
		for (uint32_t j = 0; j < HEAP; j++) {
			double square = vec3_distance_squared(heap_place[i], heap_place[j]);
			if (i != j && square < ((i + j) % 3 == 0 ? 2.5 : 1.5))
				heap_list[count++] = j;
		}
	}
	heap_start[HEAP] = count;
	ck_assert_uint_le(count, COUNT_OF(heap_list));
}

/* The matrix is 1 + Σ j jᵀ: j is this for the one body and minus this for the other. */
static vec3 row_of(uint32_t i, uint32_t j)
{
	vec3 way = vec3_sub(heap_place[MIN_OF(i, j)], heap_place[MAX_OF(i, j)]);
	return vec3_scale(way, 1 + 20 * ((i + j) % 7));
}

static void factor_heap(void)
{
	chol_panel_identity(&factor);
	for (uint32_t i = 0; i < HEAP; i++)
		for (uint32_t p = heap_start[i]; p < heap_start[i + 1]; p++) {
			uint32_t k = factor.place[i], l = factor.place[heap_list[p]];
			vec3 row = row_of(i, heap_list[p]);
			double *own = factor.value + chol_panel_find(&factor, k, k);
			double *both = k < l ? NULL : factor.value + chol_panel_find(&factor, k, l);
			for (uint32_t e = 0; e < B * B; e++) {
				double product = vec3_get(row, e / B) * vec3_get(row, e % B);
				own[e / B * CHOL_PANEL_TILE + e % B] += product;
				if (both != NULL)
					both[e / B * CHOL_PANEL_TILE + e % B] -= product;
			}
		}
	chol_panel_factor(&factor);
}

/* The most by which A x misses the right side. */
static double heap_residual(const vec3 *x)
{
	double worst = 0;
	for (uint32_t i = 0; i < HEAP; i++) {
		vec3 sum = vec3_sub(heap_side[i], x[i]);
		for (uint32_t p = heap_start[i]; p < heap_start[i + 1]; p++) {
			vec3 row = row_of(i, heap_list[p]);
			vec3 way = vec3_sub(x[i], x[heap_list[p]]);
			sum = vec3_mul_sub(sum, row, vec3_dot(row, way));
		}
		worst = fmax(worst, vec3_length(sum));
	}
	return worst;
}

static void solve_heap(const struct parallel *parallel, vec3 *x)
{
	_Static_assert(sizeof *x == B * sizeof(double), "three doubles");
	arena_reset(&arena);
	factor.parallel = parallel;
	ck_assert_int_eq(
		chol_panel_analyse(&factor, &arena, HEAP, heap_start, heap_list, heap_order),
		STATUS_OK);
	factor_heap();
	memcpy(x, heap_side, sizeof heap_side);
	chol_panel_solve(&factor, &x->x);
	factor.parallel = NULL;
}

/* A supplier that hands out items one by one, the last first, to workers in turn. */
static void run_backwards(const struct parallel *self, uint32_t count, uint32_t grain,
			  parallel_piece *piece, void *context)
{
	(void)grain;
	for (uint32_t i = count; i-- > 0;)
		piece(i, i + 1, i % self->workers, context);
}

START_TEST(every_number_of_workers_gives_the_same_bits)
{
	static vec3 x[HEAP], other[HEAP];
	struct rng rng = rng_seeded(check_seed() + 3);
	make_heap();
	ck_assert_int_eq(order_dissect(&arena, HEAP, heap_start, heap_list, heap_place, heap_order),
			 STATUS_OK);
	for (uint32_t i = 0; i < HEAP; i++)
		heap_side[i] = vec3_make(rng_range(&rng, -1, 1), rng_range(&rng, -1, 1),
					 rng_range(&rng, -1, 1));
	solve_heap(NULL, x);
	ck_assert_double_le(heap_residual(x), 1e-9);
	ck_assert_uint_eq(factor.pivots_lost, 0);
	ck_assert_uint_gt(factor.parts, 8);
	for (uint32_t workers = 1; workers <= 3; workers++) {
		const struct parallel backwards = { run_backwards, workers, NULL };
		struct parallel_pool *pool;
		ck_assert_int_eq(parallel_pool_create(workers, &pool), STATUS_OK);
		for (uint32_t way = 0; way < 3; way++) {
			processor_limit_lanes(way == 2 ? 4 : UINT32_MAX);
			memset(other, 0xff, sizeof other);
			solve_heap(way == 0 ? &backwards : parallel_pool_parallel(pool), other);
			ck_assert(memcmp(x, other, sizeof x) == 0);
		}
		parallel_pool_destroy(pool);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("chol_panel");
	TCase *tcase = tcase_create("factor");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, the_factor_solves_in_any_order_of_any_pattern);
	tcase_add_test(tcase, every_width_gives_the_same_bits);
	tcase_add_loop_test(tcase, dependent_stiff_rows_can_be_factored, 0, 3);
	tcase_add_test(tcase, panels_are_columns_with_the_same_rows);
	tcase_add_test(tcase, every_number_of_workers_gives_the_same_bits);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
