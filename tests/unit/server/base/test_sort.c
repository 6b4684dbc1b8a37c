/* Both sorts: ascending and stable for keys of every shape; keys of doubles order as the doubles do. */
#include "server/base/sort.h"

#include "server/base/rng.h"
#include "tests/lib/check_main.h"

enum { COUNT = 3000 };

struct item {
	uint64_t key;
	uint32_t value;
};

/* The values are the positions before sorting: of equal keys they must stay ascending. */
static void expect_sorted(const uint64_t *keys, const uint32_t *values, const uint64_t *before,
			  uint32_t count)
{
	bool seen[COUNT] = { false };
	for (uint32_t i = 0; i < count; i++) {
		ck_assert(!seen[values[i]]);
		seen[values[i]] = true;
		ck_assert_uint_eq(keys[i], before[values[i]]);
		if (i == 0)
			continue;
		ck_assert_uint_le(keys[i - 1], keys[i]);
		ck_assert(keys[i - 1] < keys[i] || values[i - 1] < values[i]);
	}
}

START_TEST(keys_of_every_shape_come_out_ascending_and_stable)
{
	struct rng rng = rng_seeded(check_seed());
	static const uint64_t masks[] = { UINT64_MAX,	     0, 7, 0xff00, 0xff000000000000ff,
					  0x8000000000000000 };
	static const uint32_t counts[] = { 0, 1, 2, 3, 255, COUNT };
	uint64_t keys[COUNT], before[COUNT], scratch_keys[COUNT];
	uint32_t values[COUNT], scratch_values[COUNT];
	for (size_t m = 0; m < COUNT_OF(masks); m++) {
		for (size_t c = 0; c < COUNT_OF(counts); c++) {
			for (uint32_t i = 0; i < counts[c]; i++) {
				keys[i] = before[i] = rng_u64(&rng) & masks[m];
				values[i] = i;
			}
			sort_keys(keys, values, scratch_keys, scratch_values, counts[c]);
			expect_sorted(keys, values, before, counts[c]);
			sort_keys(before, NULL, scratch_keys, NULL, counts[c]);
			for (uint32_t i = 0; i < counts[c]; i++)
				ck_assert_uint_eq(before[i], keys[i]);
		}
	}
}
END_TEST

static int by_key(const void *a, const void *b, void *context)
{
	const struct item *x = a, *y = b;
	++*(uint32_t *)context;
	return x->key < y->key ? -1 : x->key > y->key;
}

START_TEST(both_sorts_agree)
{
	struct rng rng = rng_seeded(check_seed());
	static struct item items[COUNT], scratch[COUNT];
	uint64_t keys[COUNT], scratch_keys[COUNT];
	uint32_t values[COUNT], scratch_values[COUNT], calls = 0;
	for (uint32_t count = 0; count < COUNT; count = count * 3 + 1) {
		for (uint32_t i = 0; i < count; i++) {
			keys[i] = rng_below(&rng, count / 2 + 1);
			values[i] = i;
			items[i] = (struct item){ keys[i], i };
		}
		sort_items(items, scratch, count, sizeof items[0], by_key, &calls);
		sort_keys(keys, values, scratch_keys, scratch_values, count);
		for (uint32_t i = 0; i < count; i++)
			ck_assert(items[i].key == keys[i] && items[i].value == values[i]);
	}
	ck_assert_uint_gt(calls, 0);
}
END_TEST

START_TEST(keys_made_of_doubles_order_as_the_doubles)
{
	static const double ascending[] = { -1.0 / 0.0, -1e300, -1.0,  -1e-300,
					    -0x1p-1074, -0.0,	0.0,   0x1p-1074,
					    1e-300,	1.0,	1e300, 1.0 / 0.0 };
	for (size_t i = 1; i < COUNT_OF(ascending); i++)
		ck_assert_uint_lt(sort_key_of_double(ascending[i - 1]),
				  sort_key_of_double(ascending[i]));
	double nan = 0.0 / 0.0;
	ck_assert_uint_eq(sort_key_of_double(nan), UINT64_MAX);
	ck_assert_uint_eq(sort_key_of_double(-nan), UINT64_MAX);
	ck_assert_uint_lt(sort_key_of_double(1.0 / 0.0), UINT64_MAX);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("sort");
	TCase *all = tcase_create("sort");
	tcase_add_test(all, keys_of_every_shape_come_out_ascending_and_stable);
	tcase_add_test(all, both_sorts_agree);
	tcase_add_test(all, keys_made_of_doubles_order_as_the_doubles);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
