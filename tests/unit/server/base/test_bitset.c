/* The set, compared with a plain array of flags. */
#include "server/base/bitset.h"

#include <string.h>

#include "server/base/heap.h"
#include "server/base/rng.h"
#include "tests/lib/check_main.h"

enum { SIZE = 64 * 70 }; /* more than one word of the first summary level */

static void expect_equal(const struct bitset *set, const bool *flags)
{
	uint32_t lowest = set->size, next = bitset_next(set, 0), count = 0;
	for (uint32_t i = 0; i < set->size; i++) {
		ck_assert(bitset_get(set, i) == flags[i]);
		if (!flags[i] && lowest == set->size)
			lowest = i;
		if (!flags[i])
			continue;
		ck_assert_uint_eq(next, i);
		next = bitset_next(set, i + 1);
		count++;
	}
	ck_assert_uint_eq(next, BITSET_NONE);
	ck_assert_uint_eq(bitset_lowest_clear(set), lowest);
	ck_assert_uint_eq(set->count, count);
}

START_TEST(the_set_agrees_with_an_array_of_flags)
{
	struct rng rng = rng_seeded(check_seed());
	struct bitset set;
	bool flags[SIZE] = { false };
	bitset_init(&set);
	ck_assert_int_eq(bitset_reserve(&set, SIZE), STATUS_OK);
	/* First mostly sets, then mostly clears, so that full and empty words of the summaries
	 * occur. */
	for (int phase = 0; phase < 12; phase++) {
		for (int i = 0; i < 6000; i++) {
			uint32_t index = rng_below(&rng, SIZE);
			bool set_it = rng_below(&rng, 20) < (phase % 2 ? 1u : 19u);
			flags[index] = set_it;
			if (set_it)
				bitset_set(&set, index);
			else
				bitset_clear(&set, index);
		}
		expect_equal(&set, flags);
		for (int i = 0; i < 20; i++) {
			uint32_t word = rng_below(&rng, SIZE / 64);
			uint64_t bits = i % 2 ? UINT64_MAX : rng_u64(&rng);
			bitset_set_word(&set, word, bits);
			for (uint32_t k = 0; k < 64; k++)
				flags[word * 64 + k] |= (bits >> k & 1) != 0;
		}
		expect_equal(&set, flags);
	}
	bitset_reset(&set);
	memset(flags, 0, sizeof flags);
	expect_equal(&set, flags);
	bitset_release(&set);
}
END_TEST

START_TEST(bits_are_counted)
{
	struct rng rng = rng_seeded(check_seed());
	ck_assert_uint_eq(bits_count(0), 0);
	ck_assert_uint_eq(bits_count(UINT64_MAX), 64);
	for (int i = 0; i < 1000; i++) {
		uint64_t word = rng_u64(&rng) & rng_u64(&rng);
		uint32_t count = 0;
		for (uint32_t k = 0; k < 64; k++)
			count += word >> k & 1;
		ck_assert_uint_eq(bits_count(word), count);
	}
}
END_TEST

START_TEST(taking_the_lowest_free_number_counts_upwards)
{
	struct bitset set = { 0 };
	for (uint32_t i = 0; i < 300000; i++) {
		uint32_t index = bitset_lowest_clear(&set);
		ck_assert_uint_eq(index, i);
		if (index == set.size)
			ck_assert_int_eq(bitset_reserve(&set, index * 2 + 1), STATUS_OK);
		bitset_set(&set, index);
	}
	bitset_clear(&set, 299000);
	bitset_clear(&set, 777);
	ck_assert_uint_eq(bitset_lowest_clear(&set), 777);
	bitset_set(&set, 777);
	ck_assert_uint_eq(bitset_lowest_clear(&set), 299000);
	bitset_release(&set);
}
END_TEST

START_TEST(growing_keeps_members_and_failing_to_grow_changes_nothing)
{
	struct bitset set = { 0 };
	bool flags[SIZE] = { false };
	ck_assert_int_eq(bitset_reserve(&set, 100), STATUS_OK);
	ck_assert_uint_eq(set.size, 128);
	for (uint32_t i = 0; i < 128; i++) {
		flags[i] = i != 70;
		if (flags[i])
			bitset_set(&set, i);
	}
	heap_fail_at(1);
	ck_assert_int_eq(bitset_reserve(&set, SIZE), STATUS_NO_MEMORY);
	ck_assert_int_eq(bitset_reserve(&set, UINT32_MAX), STATUS_NO_MEMORY);
	expect_equal(&set, flags);
	ck_assert_int_eq(bitset_reserve(&set, SIZE), STATUS_OK);
	expect_equal(&set, flags);
	ck_assert(!bitset_get(&set, UINT32_MAX));
	ck_assert_uint_eq(bitset_next(&set, UINT32_MAX), BITSET_NONE);
	bitset_release(&set);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("bitset");
	TCase *all = tcase_create("bitset");
	tcase_add_test(all, the_set_agrees_with_an_array_of_flags);
	tcase_add_test(all, bits_are_counted);
	tcase_add_test(all, taking_the_lowest_free_number_counts_upwards);
	tcase_add_test(all, growing_keeps_members_and_failing_to_grow_changes_nothing);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
