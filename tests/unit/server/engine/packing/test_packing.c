/* Planar compaction: no two polygons meet after a jump nor on the way (an exact test of all pairs of
 * sides), the length never grows and reaches what closed forms give, a layout at rest stays, the same problem
 * gives the same bits, and what is not a layout is refused with its polygon.
 *
 * CAIRN_PACKING=1 (make bench-packing) takes 100 polygons of 75 corners and prints each jump. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "server/base/heap.h"
#include "tests/lib/check_main.h"
#include "tests/lib/gen_packing.h"

enum { JUMPS_MAX = 60, INTERPOLANTS = 10 };

static struct packing *created(const struct packing_problem *problem)
{
	struct packing *packing;
	struct packing_fault fault;
	struct reason why = { 0 };
	enum status status = packing_create(problem, &packing, &fault, &why);
	ck_assert_msg(status == STATUS_OK, "%s: %s", why.field, why.text);
	ck_assert_uint_eq(fault.polygon, UINT32_MAX);
	return packing;
}

static void read_places(const struct packing *packing, uint32_t count, vec2 *places)
{
	for (uint32_t i = 0; i < count; i++)
		places[i] = packing_place(packing, i);
}

/* Pairs that meet at a point between two layouts. */
static uint32_t count_meetings(const struct gen_packing *gen, const vec2 *from, const vec2 *to,
			       double part)
{
	uint32_t met = 0;
	for (uint32_t i = 0; i < gen->count; i++)
		for (uint32_t k = 0; k < i; k++) {
			vec2 a = vec2_lerp(from[i], to[i], part),
			     b = vec2_lerp(from[k], to[k], part);
			if (vec2_distance(a, b) < 2)
				met += gen_packing_meet(&gen->polygons[i], a, &gen->polygons[k], b);
		}
	return met;
}

/* Jumps to rest; checks every jump and what is between. Returns the number of jumps. */
static uint32_t compact(struct packing *packing, const struct gen_packing *gen, bool print)
{
	vec2 *before = heap_alloc_zero(2 * gen->count * sizeof *before),
	     *after = before + gen->count;
	double length = packing_length(packing);
	ck_assert_ptr_nonnull(before);
	read_places(packing, gen->count, before);
	uint32_t jumps = 0;
	for (struct packing_jump jump = { .moved = true }; jump.moved && jumps < JUMPS_MAX;) {
		ck_assert_int_eq(packing_jump(packing, &jump), STATUS_OK);
		if (print)
			printf("# %u: %.4f gain %.4g overlap %g residual %.2g bound %.2g rows %u pairs "
			       "%u rounds %u pivots %u%s\n",
			       jumps, jump.length, jump.gain, jump.overlap, jump.residual,
			       jump.bound, jump.rows, jump.row_pairs, jump.rounds, jump.pivots,
			       jump.shortened ? " shortened" : "");
		read_places(packing, gen->count, after);
		ck_assert_int_eq(jump.status, SOLVER_SOLVED);
		ck_assert(jump.moved != jump.rest);
		ck_assert(jump.length <= length && jump.length == packing_length(packing));
		ck_assert(jump.overlap == 0 && jump.residual < 1e-9);
		for (uint32_t n = 1; n <= INTERPOLANTS; n++)
			ck_assert_uint_eq(
				count_meetings(gen, before, after,
					       n == INTERPOLANTS ? 1 : (double)n / INTERPOLANTS),
				0);
		memcpy(before, after, gen->count * sizeof *before);
		length = jump.length;
		jumps += jump.moved;
	}
	heap_free(before);
	return jumps;
}

START_TEST(layouts_become_shorter_without_overlap_at_any_instant)
{
	struct rng rng = rng_seeded(check_seed() + (uint64_t)_i);
	struct gen_packing gen;
	gen_packing_stars(&gen, &rng, 12 + 6 * (uint32_t)_i, 3, 4 + 5 * (uint32_t)_i, false,
			  0.2 + 0.2 * _i);
	struct packing *packing = created(&gen.problem);
	double length = packing_length(packing);
	uint32_t jumps = compact(packing, &gen, false);
	ck_assert_uint_lt(jumps, JUMPS_MAX);
	ck_assert(packing_length(packing) < 0.85 * length);
	ck_assert(packing_length(packing) * gen.problem.y_max >= packing_area(packing));
	/* What is at rest stays, bit by bit. */
	for (uint32_t i = 0; i < gen.count; i++)
		gen.polygons[i].place = packing_place(packing, i);
	struct packing *again = created(&gen.problem);
	struct packing_jump jump;
	ck_assert_int_eq(packing_jump(again, &jump), STATUS_OK);
	ck_assert(jump.rest && !jump.moved);
	packing_destroy(again);
	packing_destroy(packing);
	gen_packing_release(&gen);
}
END_TEST

START_TEST(the_same_problem_gives_the_same_bits)
{
	struct gen_packing gen;
	vec2 places[2][12];
	for (uint32_t run = 0; run < 2; run++) {
		struct rng rng = rng_seeded(check_seed());
		gen_packing_stars(&gen, &rng, COUNT_OF(places[0]), 2, 9, false, 0.3);
		struct packing *packing = created(&gen.problem);
		struct packing_jump jump = { .moved = true };
		while (jump.moved)
			ck_assert_int_eq(packing_jump(packing, &jump), STATUS_OK);
		read_places(packing, gen.count, places[run]);
		packing_destroy(packing);
		gen_packing_release(&gen);
	}
	ck_assert_mem_eq(places[0], places[1], sizeof places[0]);
}
END_TEST

/* Boxes that cannot pass each other end in a row without gaps. */
START_TEST(boxes_in_a_low_strip_end_side_by_side)
{
	enum { COUNT = 9 };
	static const vec2 box[4] = { { 0, 0 }, { 0, 1 }, { 1, 1 }, { 1, 0 } };
	vec2 corners[COUNT][4];
	struct packing_polygon polygons[COUNT];
	double width = 0;
	for (uint32_t i = 0; i < COUNT; i++) {
		double size = 0.6 + 0.04 * i;
		for (uint32_t k = 0; k < 4; k++)
			corners[i][k] = vec2_scale(box[k], size);
		polygons[i] =
			(struct packing_polygon){ corners[i], 4, { 1.5 * i + 0.3, 0.01 * i } };
		width += size;
	}
	struct packing_problem problem = {
		.polygons = polygons, .count = COUNT, .y_max = 1, .pull = 0.1, .rest = 1e-9
	};
	struct packing *packing = created(&problem);
	struct packing_jump jump = { .moved = true };
	while (jump.moved)
		ck_assert_int_eq(packing_jump(packing, &jump), STATUS_OK);
	ck_assert(jump.rest);
	ck_assert_double_eq_tol(packing_length(packing), width, 1e-7);
	packing_destroy(packing);
}
END_TEST

/* A box of 1 × 1 in front of a cup that is open to the right, 1.2 wide inside: it ends on the cup's
 * bottom, and the length is the cup's. */
START_TEST(a_box_goes_into_a_cup)
{
	static const vec2 cup[] = { { 0, 0 },	{ 3, 0 },   { 3, 0.4 }, { 1, 0.4 },
				    { 1, 1.6 }, { 3, 1.6 }, { 3, 2 },	{ 0, 2 } };
	static const vec2 box[] = { { 0, 0 }, { 1, 0 }, { 1, 1 }, { 0, 1 } };
	struct packing_polygon polygons[] = { { box, COUNT_OF(box), { 6, 0.45 } },
					      { cup, COUNT_OF(cup), { 0.5, 0 } } };
	struct packing_problem problem = {
		.polygons = polygons, .count = 2, .y_max = 2, .pull = 0.1, .rest = 1e-9
	};
	struct packing *packing = created(&problem);
	struct packing_jump jump = { .moved = true };
	uint32_t jumps = 0;
	for (; jump.moved; jumps += jump.moved)
		ck_assert_int_eq(packing_jump(packing, &jump), STATUS_OK);
	ck_assert_double_eq_tol(packing_length(packing), 3, 1e-7);
	ck_assert_double_eq_tol(packing_place(packing, 0).x, 1, 1e-7);
	ck_assert_uint_le(jumps, 5);
	ck_assert_uint_eq(packing_part_count(packing), 4);
	ck_assert_double_eq_tol(packing_area(packing), 6 - 2 * 1.2 + 1, 1e-12);
	packing_destroy(packing);
}
END_TEST

/* ---- refusals ---------------------------------------------------------------------------------- */

struct refusal {
	const char *text; /* part of the reason */
	enum status status;
	vec2 corners[6];
	uint32_t count;
	vec2 place;
};

static const struct refusal refusals[] = {
	{ "cross", STATUS_DEGENERATE, { { 0, 0 }, { 1, 1 }, { 1, 0 }, { 0, 1 } }, 4, { 0, 0 } },
	{ "touch",
	  STATUS_DEGENERATE,
	  { { 0, 0 }, { 2, 0 }, { 2, 1 }, { 1, 0 }, { 0, 1 } },
	  5,
	  { 0, 0 } },
	{ "no area", STATUS_DEGENERATE, { { 0, 0 }, { 1, 1 }, { 1, 1 }, { 0, 0 } }, 4, { 0, 0 } },
	{ "runs back", STATUS_DEGENERATE, { { 0, 0 }, { 2, 0 }, { 1, 0 }, { 1, 1 } }, 4, { 0, 0 } },
	{ "3 to", STATUS_LIMIT, { { 0, 0 }, { 1, 0 } }, 2, { 0, 0 } },
	{ "finite", STATUS_NOT_FINITE, { { 0, 0 }, { 1, NAN }, { 1, 0 } }, 3, { 0, 0 } },
	{ "within", STATUS_RANGE, { { 0, 0 }, { 1, 1 }, { 1, 0 } }, 3, { 2e6, 0 } },
	{ "higher", STATUS_RANGE, { { 0, 0 }, { 1, 9 }, { 1, 0 } }, 3, { 0, 0 } },
	{ "into the strip", STATUS_RANGE, { { 0, 0 }, { 1, 1 }, { 1, 0 } }, 3, { 0, 7.5 } },
	{ "before the strip", STATUS_RANGE, { { 0, 0 }, { 1, 1 }, { 1, 0 } }, 3, { -0.1, 0 } },
	{ "overlap", STATUS_EXISTS, { { 0, 0 }, { 1, 1 }, { 1, 0 } }, 3, { 4.5, 0 } },
};

START_TEST(what_is_not_a_layout_is_refused_with_its_polygon)
{
	static const vec2 good[] = { { 0, 0 }, { 1, 0 }, { 1, 1 }, { 0, 1 } };
	const struct refusal *refusal = &refusals[_i];
	struct packing_polygon polygons[] = {
		{ good, 4, { 5, 0 } }, { refusal->corners, refusal->count, refusal->place }
	};
	struct packing_problem problem = { .polygons = polygons, .count = 2, .y_max = 8 };
	struct packing *packing;
	struct packing_fault fault;
	struct reason why = { 0 };
	int64_t live = heap_live();
	ck_assert_int_eq(packing_create(&problem, &packing, &fault, &why), refusal->status);
	ck_assert_ptr_null(packing);
	ck_assert_msg(strstr(why.text, refusal->text) != NULL, "%s", why.text);
	ck_assert_uint_eq(MAX_OF(fault.polygon + 1, fault.other + 1), 2);
	ck_assert_int_eq(heap_live(), live);
}
END_TEST

START_TEST(a_strip_that_is_none_is_refused)
{
	static const vec2 good[] = { { 0, 0 }, { 1, 0 }, { 1, 1 }, { 0, 1 } };
	struct packing_polygon polygon = { good, 4, { 0, 0 } };
	const struct packing_problem problems[] = {
		{ .polygons = &polygon, .count = 0, .y_max = 1 },
		{ .polygons = &polygon, .count = PACKING_POLYGONS_MAX + 1, .y_max = 1 },
		{ .polygons = &polygon, .count = 1, .y_max = 0 },
		{ .polygons = &polygon, .count = 1, .y_max = INFINITY },
		{ .polygons = &polygon, .count = 1, .y_max = 1, .pull = 2 },
		{ .polygons = &polygon, .count = 1, .y_max = 1, .rest = NAN },
	};
	struct packing *packing;
	struct packing_fault fault;
	for (uint32_t i = 0; i < COUNT_OF(problems); i++)
		ck_assert_int_ne(packing_create(&problems[i], &packing, &fault, NULL), STATUS_OK);
}
END_TEST

START_TEST(a_lack_of_memory_is_told_and_moves_nothing)
{
	struct rng rng = rng_seeded(check_seed());
	struct gen_packing gen;
	gen_packing_stars(&gen, &rng, 4, 2, 6, false, 0.4);
	int64_t live = heap_live();
	bool failed = true;
	for (uint64_t at = 1; failed && at < 500; at++) {
		struct packing *packing;
		struct packing_fault fault;
		struct packing_jump jump;
		heap_fail_at(at);
		enum status status = packing_create(&gen.problem, &packing, &fault, NULL);
		if (status == STATUS_OK)
			status = packing_jump(packing, &jump);
		failed = !heap_fail_pending();
		heap_fail_at(0);
		ck_assert_int_eq(status, failed ? STATUS_NO_MEMORY : STATUS_OK);
		packing_destroy(packing);
		ck_assert_int_eq(heap_live(), live);
	}
	ck_assert(!failed);
	gen_packing_release(&gen);
}
END_TEST

/* The claim of papers P for compaction: at most 5 jumps for 100 polygons of up to 75 corners. */
START_TEST(a_hundred_large_polygons_need_few_jumps)
{
	struct rng rng = rng_seeded(check_seed());
	struct gen_packing gen;
	gen_packing_stars(&gen, &rng, 100, 5, 75, true, 0.4);
	struct packing *packing = created(&gen.problem);
	double length = packing_length(packing);
	printf("# length %.4f, %u convex parts\n", length, packing_part_count(packing));
	compact(packing, &gen, true);
	ck_assert(packing_length(packing) < 0.85 * length);
	packing_destroy(packing);
	gen_packing_release(&gen);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("packing");
	TCase *tests = tcase_create("packing");
	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, layouts_become_shorter_without_overlap_at_any_instant, 0, 3);
	tcase_add_test(tests, the_same_problem_gives_the_same_bits);
	tcase_add_test(tests, boxes_in_a_low_strip_end_side_by_side);
	tcase_add_test(tests, a_box_goes_into_a_cup);
	tcase_add_loop_test(tests, what_is_not_a_layout_is_refused_with_its_polygon, 0,
			    (int)COUNT_OF(refusals));
	tcase_add_test(tests, a_strip_that_is_none_is_refused);
	tcase_add_test(tests, a_lack_of_memory_is_told_and_moves_nothing);
	suite_add_tcase(suite, tests);
	if (getenv("CAIRN_PACKING") != NULL) {
		tests = tcase_create("large");
		tcase_set_timeout(tests, 600);
		tcase_add_test(tests, a_hundred_large_polygons_need_few_jumps);
		suite_add_tcase(suite, tests);
	}
	return suite;
}

int main(void)
{
	return check_main(make);
}
