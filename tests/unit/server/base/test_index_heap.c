/* The heap of item numbers against a linear search: the first item, whatever was put, moved and removed. */
#include "server/base/index_heap.h"

#include "server/base/rng.h"
#include "tests/lib/check_main.h"

enum { ITEMS = 200, ACTS = 20000 };

struct model {
	uint32_t key[ITEMS];
	bool in[ITEMS];
};

/* Keys are few, so most comparisons are decided by the numbers. */
static bool key_before(const void *context, uint32_t a, uint32_t b)
{
	const struct model *model = context;
	return model->key[a] != model->key[b] ? model->key[a] < model->key[b] : a < b;
}

static uint32_t first_by_search(const struct model *model)
{
	uint32_t first = INDEX_HEAP_NONE;
	for (uint32_t i = 0; i < ITEMS; i++)
		if (model->in[i] && (first == INDEX_HEAP_NONE || key_before(model, i, first)))
			first = i;
	return first;
}

START_TEST(the_first_item_is_that_of_a_linear_search)
{
	struct rng rng = rng_seeded(check_seed());
	struct model model = { 0 };
	uint32_t items[ITEMS], place[ITEMS];
	struct index_heap heap;
	index_heap_init(&heap, items, place, ITEMS, key_before, &model);
	ck_assert_uint_eq(index_heap_first(&heap), INDEX_HEAP_NONE);
	for (uint32_t act = 0; act < ACTS; act++) {
		uint32_t item = rng_below(&rng, ITEMS);
		/* Phases of growth and of decay, so that the heap also runs empty. */
		if (rng_below(&rng, 100) < (act / 2000 % 2 == 0 ? 70u : 20u)) {
			model.key[item] = rng_below(&rng, 16);
			model.in[item] = true;
			index_heap_put(&heap, item);
		} else {
			model.in[item] = false;
			index_heap_remove(&heap, item);
		}
		ck_assert_uint_eq(index_heap_first(&heap), first_by_search(&model));
	}
}
END_TEST

START_TEST(items_come_out_in_order)
{
	struct rng rng = rng_seeded(check_seed());
	struct model model = { 0 };
	uint32_t items[ITEMS], place[ITEMS], before = INDEX_HEAP_NONE;
	struct index_heap heap;
	index_heap_init(&heap, items, place, ITEMS, key_before, &model);
	for (uint32_t i = 0; i < ITEMS; i++) {
		model.key[i] = rng_below(&rng, 50);
		index_heap_put(&heap, i);
	}
	for (uint32_t i = 0; i < ITEMS; i++) {
		uint32_t first = index_heap_first(&heap);
		if (i > 0)
			ck_assert(key_before(&model, before, first));
		before = first;
		index_heap_remove(&heap, first);
	}
	ck_assert_uint_eq(heap.count, 0);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("index_heap");
	TCase *all = tcase_create("index_heap");
	tcase_add_test(all, the_first_item_is_that_of_a_linear_search);
	tcase_add_test(all, items_come_out_in_order);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
