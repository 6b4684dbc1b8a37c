/* The histogram of the costs of ticks, against sorted costs. */
#include "server/tick/tick_costs.h"

#include <stdlib.h>

#include "server/base/rng.h"
#include "tests/lib/check_main.h"

enum { COSTS = 3000 };

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* From 1 ns to some 68 s: each power of two is as likely. */
static uint64_t draw_cost(struct rng *rng)
{
	uint64_t scale = UINT64_C(1) << rng_below(rng, 36);
	return scale + rng_below(rng, (uint32_t)(scale > UINT32_MAX ? UINT32_MAX : scale));
}

START_TEST(a_quantile_is_the_bound_of_the_bucket_in_which_it_lies)
{
	struct rng rng = rng_seeded(check_seed());
	struct tick_costs costs = { 0 };
	static uint64_t sorted[COSTS];
	for (uint32_t i = 0; i < COSTS; i++) {
		sorted[i] = draw_cost(&rng);
		tick_costs_add(&costs, sorted[i]);
	}
	qsort(sorted, COSTS, sizeof *sorted, by_value);
	ck_assert_uint_eq(tick_costs_count(&costs), COSTS);
	for (uint32_t permille = 1; permille <= 1000; permille++) {
		uint64_t exact = sorted[(COSTS * permille + 999) / 1000 - 1];
		uint64_t told = tick_costs_quantile(&costs, permille);
		uint64_t last = tick_costs_bound(TICK_COST_BUCKETS - 2);
		ck_assert_uint_le(told, last);
		ck_assert(exact > last ? told == last : told >= exact);
		/* The bound before it is less than the quantile. */
		ck_assert(told == tick_costs_bound(0) || told / 2 < exact);
	}
}
END_TEST

START_TEST(bounds_are_included_and_merging_adds)
{
	struct tick_costs costs = { 0 }, other = { 0 };
	ck_assert_uint_eq(tick_costs_quantile(&costs, 500), 0);
	for (uint32_t k = 0; k + 1 < TICK_COST_BUCKETS; k++) {
		tick_costs_add(&costs, tick_costs_bound(k));
		tick_costs_add(&other, tick_costs_bound(k) + 1);
		ck_assert_uint_eq(costs.counts[k], 1);
		ck_assert_uint_eq(other.counts[k + 1], 1);
	}
	uint64_t sum = costs.sum + other.sum;
	tick_costs_merge(&costs, &other);
	ck_assert_uint_eq(costs.sum, sum);
	ck_assert_uint_eq(tick_costs_count(&costs), 2 * (TICK_COST_BUCKETS - 1));
	ck_assert_uint_eq(costs.counts[TICK_COST_BUCKETS - 1], 1);
	tick_costs_add(&costs, UINT64_MAX);
	ck_assert_uint_eq(costs.counts[TICK_COST_BUCKETS - 1], 2);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("server/tick/tick_costs");
	TCase *costs = tcase_create("costs");
	tcase_add_test(costs, a_quantile_is_the_bound_of_the_bucket_in_which_it_lies);
	tcase_add_test(costs, bounds_are_included_and_merging_adds);
	suite_add_tcase(suite, costs);
	return suite;
}

int main(void)
{
	return check_main(make);
}
