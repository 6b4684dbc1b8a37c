/* The heap, compared with a plain list that is searched from the front. */
#include "server/base/min_heap.h"

#include "server/base/rng.h"
#include "tests/lib/check_main.h"

#include <stdlib.h>
#include <string.h>

enum { ITEMS = 60, MORE = 90 };

static int compare_numbers(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

/* The least entry of the list, and all up to a key. */
static void compare_with_list(const struct min_heap *heap, const double *keys, const bool *here,
			      double key)
{
	uint32_t least = MIN_HEAP_NONE, count = 0, expected = 0, found[MORE], all[MORE];
	for (uint32_t i = 0; i < MORE; i++) {
		if (!here[i])
			continue;
		count++;
		if (least == MIN_HEAP_NONE || keys[i] < keys[least])
			least = i;
		if (keys[i] <= key)
			all[expected++] = i;
	}
	ck_assert_uint_eq(heap->count, count);
	const struct min_heap_entry *first = min_heap_first(heap);
	ck_assert((first == NULL) == (least == MIN_HEAP_NONE));
	if (first != NULL)
		ck_assert_msg(first->item == least && first->key == keys[least], "item %u for %u",
			      first->item, least);
	ck_assert_uint_eq(min_heap_up_to(heap, key, found), expected);
	qsort(found, expected, sizeof *found, compare_numbers);
	ck_assert(expected == 0 || memcmp(found, all, expected * sizeof *all) == 0);
}

START_TEST(the_heap_agrees_with_a_list_through_a_long_life)
{
	struct rng rng = rng_seeded(check_seed());
	struct min_heap heap;
	struct min_heap_entry entries[ITEMS], more_entries[MORE];
	uint32_t place[ITEMS], more_place[MORE];
	double keys[MORE];
	bool here[MORE] = { false };
	min_heap_init(&heap, entries, place, ITEMS);
	for (uint32_t step = 0; step < 8000; step++) {
		if (step == 4000)
			min_heap_grow(&heap, more_entries, more_place, MORE);
		uint32_t item = rng_below(&rng, heap.items);
		/* Few different keys, so that many are equal. */
		double key = rng_below(&rng, 12) * 0.25 - 1;
		here[item] = rng_below(&rng, 3) > 0;
		if (here[item]) {
			keys[item] = key;
			min_heap_put(&heap, item, key);
		} else {
			min_heap_remove(&heap, item);
		}
		compare_with_list(&heap, keys, here, rng_below(&rng, 16) * 0.25 - 1.5);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("base/min_heap");
	TCase *tcase = tcase_create("min_heap");
	tcase_add_test(tcase, the_heap_agrees_with_a_list_through_a_long_life);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
