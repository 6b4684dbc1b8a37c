/* test_order_dissect.c: nested dissection orders every body once, with less fill-in than minimum degree. */
#include <stdlib.h>
#include <string.h>

#include "server/base/rng.h"
#include "server/engine/linalg/chol_panel.h"
#include "server/engine/linalg/order_amd.h"
#include "server/engine/linalg/order_dissect.h"
#include "server/engine/math/quat.h"
#include "tests/lib/check_main.h"

enum { MOST = 4096, NEAR = 26, WIDE = 14 };

static struct arena arena;
static uint32_t count, start[MOST + 1], list[MOST * NEAR], order[MOST];
static vec3 place[MOST];

static void setup(void)
{
	ck_assert_int_eq(arena_init(&arena, 1 << 20), STATUS_OK);
}

static void teardown(void)
{
	arena_release(&arena);
}

static bool is_near(uint32_t i, uint32_t j, double range)
{
	return i != j && vec3_distance(place[i], place[j]) < range;
}

/* Who is near whom, of the first bodies that fit. */
static void list_pattern(double range)
{
	uint32_t entries = 0;
	for (uint32_t i = 0; i < count; i++) {
		start[i] = entries;
		for (uint32_t j = 0; j < count; j++)
			if (is_near(i, j, range))
				list[entries++] = j;
		ck_assert_uint_le(entries, COUNT_OF(list));
	}
	start[count] = entries;
}

/* A lattice, turned by some angle, whose bodies are moved by chance. */
static void make_lattice(struct rng *rng, uint32_t wide, uint32_t deep, uint32_t high, double angle)
{
	quat turn = quat_from_axis_angle(vec3_normalize(vec3_make(1, 2, 3)), angle);
	count = wide * deep * high;
	ck_assert_uint_le(count, MOST);
	for (uint32_t i = 0; i < count; i++) {
		vec3 at = vec3_make(i % wide, i / wide % deep, i / wide / deep);
		at = vec3_add(at, vec3_make(rng_range(rng, -0.2, 0.2), rng_range(rng, -0.2, 0.2),
					    rng_range(rng, -0.2, 0.2)));
		place[i] = quat_rotate(turn, at);
	}
}

static void dissect(void)
{
	ck_assert_int_eq(order_dissect(&arena, count, start, list, place, order), STATUS_OK);
	ck_assert_uint_eq(arena_used(&arena), 0);
}

static void check_permutation(void)
{
	static bool seen[MOST];
	memset(seen, 0, sizeof seen);
	for (uint32_t k = 0; k < count; k++) {
		ck_assert_uint_lt(order[k], count);
		ck_assert(!seen[order[k]]);
		seen[order[k]] = true;
	}
}

/* Of a factor in the present order. */
static size_t count_products(void)
{
	struct chol_panel factor = { .parallel = NULL };
	arena_reset(&arena);
	ck_assert_int_eq(chol_panel_analyse(&factor, &arena, count, start, list, order), STATUS_OK);
	arena_reset(&arena);
	return factor.products;
}

START_TEST(every_body_is_ordered_once)
{
	struct rng rng = rng_seeded(check_seed());
	for (uint32_t round = 0; round < 60; round++) {
		count = rng_below(&rng, round < 30 ? 8 : 1500);
		/* Places in space, in a plane, on a line, and all at one point. */
		for (uint32_t i = 0; i < count; i++) {
			place[i] = vec3_make(rng_range(&rng, 0, 12),
					     round % 4 < 2 ? rng_range(&rng, 0, 12) : 0,
					     round % 4 < 1 ? rng_range(&rng, 0, 8) : 0);
			if (round % 4 == 3)
				place[i] = vec3_make(3, 4, 5);
		}
		uint32_t entries = 0;
		for (uint32_t i = 0; i < count; i++) {
			start[i] = entries;
			for (uint32_t j = 0; j < count && entries < start[i] + NEAR; j++)
				if (i != j && (i ^ j) < 4)
					list[entries++] = j;
		}
		start[count] = entries;
		if (round % 4 == 0)
			list_pattern(1.3);
		memset(order, 0xff, sizeof order);
		dissect();
		check_permutation();
	}
}
END_TEST

/* How many products a factor needs beside those with approximate minimum degree, for lattices of any
 * direction: cubes and slabs. */
START_TEST(heaps_have_less_fill_in_than_by_minimum_degree)
{
	static const uint32_t SIDES[][3] = { { WIDE, WIDE, WIDE }, { 22, 22, 6 }, { 12, 12, 24 } };
	static uint32_t work[MOST * (NEAR + NEAR / 5 + 16)];
	struct rng rng = rng_seeded(check_seed() + 1);
	for (uint32_t round = 0; round < 6; round++) {
		const uint32_t *sides = SIDES[round % COUNT_OF(SIDES)];
		make_lattice(&rng, sides[0], sides[1], sides[2], round < 3 ? 0 : round);
		list_pattern(1.5);
		ck_assert_uint_le(order_amd_words(count, start[count]), COUNT_OF(work));
		order_amd(count, start, list, order, work);
		size_t before = count_products();
		dissect();
		check_permutation();
		ck_assert_double_le((double)count_products(), 0.85 * (double)before);
	}
}
END_TEST

/* A way of bodies has separators of one: hardly any fill-in, wherever they are. */
START_TEST(a_chain_has_hardly_any_fill_in)
{
	struct rng rng = rng_seeded(check_seed() + 2);
	count = 1000;
	for (uint32_t i = 0; i < count; i++)
		place[i] = vec3_make(0.1 * i, rng_range(&rng, -1, 1), rng_range(&rng, -1, 1));
	uint32_t entries = 0;
	for (uint32_t i = 0; i < count; i++) {
		start[i] = entries;
		if (i > 0)
			list[entries++] = i - 1;
		if (i + 1 < count)
			list[entries++] = i + 1;
	}
	start[count] = entries;
	dissect();
	check_permutation();
	ck_assert_uint_le(count_products(), 20 * count);
}
END_TEST

START_TEST(the_same_places_give_the_same_order)
{
	static uint32_t first[MOST];
	struct rng rng = rng_seeded(check_seed() + 3);
	make_lattice(&rng, WIDE, WIDE, 8, 0.3);
	list_pattern(1.4);
	dissect();
	memcpy(first, order, sizeof first);
	/* Another state of the memory, and another scale. */
	void *waste = arena_push(&arena, 12345);
	ck_assert_ptr_nonnull(waste);
	memset(waste, 0x55, 12345);
	arena_reset(&arena);
	for (uint32_t i = 0; i < count; i++)
		place[i] = vec3_scale(place[i], 4);
	dissect();
	ck_assert(memcmp(first, order, count * sizeof *order) == 0);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("order_dissect");
	TCase *tcase = tcase_create("order");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, every_body_is_ordered_once);
	tcase_add_test(tcase, heaps_have_less_fill_in_than_by_minimum_degree);
	tcase_add_test(tcase, a_chain_has_hardly_any_fill_in);
	tcase_add_test(tcase, the_same_places_give_the_same_order);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
