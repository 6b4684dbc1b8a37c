/* The table, compared with a plain list that is searched from the front. */
#include "server/base/table.h"

#include "server/base/heap.h"
#include "server/base/rng.h"
#include "tests/lib/check_main.h"

enum { KEYS = 200 };

static uint64_t key_number(uint32_t i)
{
	/* Neighbours, large strides, and both ends of the range. */
	return i < 100 ? i : i < 190 ? (uint64_t)i << 32 : UINT64_MAX - i;
}

START_TEST(the_table_agrees_with_a_list_through_a_long_life)
{
	struct rng rng = rng_seeded(check_seed());
	struct table table;
	bool here[KEYS] = { false };
	uint32_t values[KEYS], count = 0;
	table_init(&table);
	for (uint32_t step = 0; step < 60000; step++) {
		uint32_t i = rng_below(&rng, KEYS), value = rng_u32(&rng), found = 77;
		switch (rng_below(&rng, 4)) {
		case 0:
			ck_assert_int_eq(table_insert(&table, key_number(i), value),
					 here[i] ? STATUS_EXISTS : STATUS_OK);
			values[i] = here[i] ? values[i] : value;
			count += !here[i];
			here[i] = true;
			break;
		case 1:
			ck_assert_int_eq(table_put(&table, key_number(i), value), STATUS_OK);
			values[i] = value;
			count += !here[i];
			here[i] = true;
			break;
		default:
			ck_assert(table_remove(&table, key_number(i)) == here[i]);
			count -= here[i];
			here[i] = false;
		}
		uint32_t other = rng_below(&rng, KEYS);
		ck_assert(table_find(&table, key_number(other), &found) == here[other]);
		ck_assert_uint_eq(found, here[other] ? values[other] : 77);
		ck_assert_uint_eq(table.count, count);
	}
	for (uint32_t i = 0; i < KEYS; i++)
		ck_assert(table_find(&table, key_number(i), NULL) == here[i]);
	table_release(&table);
}
END_TEST

START_TEST(a_reserved_table_does_not_allocate)
{
	struct table table = { 0 };
	ck_assert_int_eq(table_reserve(&table, 5000), STATUS_OK);
	uint64_t calls = heap_calls();
	for (int round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < 5000; i++)
			ck_assert_int_eq(table_insert(&table, rng_mix(i), i), STATUS_OK);
		table_reset(&table);
	}
	ck_assert_uint_eq(heap_calls(), calls);
	ck_assert(!table_find(&table, rng_mix(3), NULL));
	table_release(&table);
}
END_TEST

START_TEST(a_table_that_cannot_grow_is_unchanged)
{
	struct table table = { 0 };
	heap_fail_at(1);
	ck_assert_int_eq(table_insert(&table, 1, 1), STATUS_NO_MEMORY);
	uint32_t value, keys = 0;
	for (uint32_t capacity = 0; keys == 0 || table.capacity == capacity; keys++) {
		ck_assert_int_eq(table_insert(&table, keys, keys), STATUS_OK);
		capacity = capacity ? capacity : table.capacity;
	}
	/* Fills the table to its present capacity; the next insertion must allocate, and fails. */
	while (table.count < table.capacity / 4 * 3) {
		ck_assert_int_eq(table_insert(&table, keys, keys), STATUS_OK);
		keys++;
	}
	heap_fail_at(1);
	ck_assert_int_eq(table_insert(&table, keys, keys), STATUS_NO_MEMORY);
	ck_assert_int_eq(table_reserve(&table, UINT32_MAX), STATUS_NO_MEMORY);
	ck_assert_uint_eq(table.count, keys);
	for (uint32_t i = 0; i < keys; i++)
		ck_assert(table_find(&table, i, &value) && value == i);
	table_release(&table);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("table");
	TCase *all = tcase_create("table");
	tcase_add_test(all, the_table_agrees_with_a_list_through_a_long_life);
	tcase_add_test(all, a_reserved_table_does_not_allocate);
	tcase_add_test(all, a_table_that_cannot_grow_is_unchanged);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
