/* sort.c: least-significant-digit radix sort, and bottom-up merge sort.
 *
 * Radix: eight digits of eight bits. All eight histograms are counted in one pass; a digit in which
 * every key agrees is skipped, so keys that use few bits cost few passes. Each pass moves items in
 * order, hence stable. Merge: runs of width 1, 2, 4 … are merged between the two arrays; the left
 * run wins ties, hence stable.
 */
#include "server/base/sort.h"

#include <string.h>

enum { DIGITS = 8, DIGIT_VALUES = 256 };

static uint32_t digit_of(uint64_t key, uint32_t digit)
{
	VALIDATE(digit < DIGITS);
	return (uint32_t)(key >> (8 * digit)) & (DIGIT_VALUES - 1);
}

/* One stable pass; `start` holds the counts of the digit and becomes running positions. */
static void sort_pass(const uint64_t *keys, const uint32_t *values, uint64_t *to_keys,
		      uint32_t *to_values, uint32_t count, uint32_t digit, uint32_t *start)
{
	uint32_t position = 0;
	for (uint32_t value = 0; value < DIGIT_VALUES; value++) {
		uint32_t here = start[value];
		start[value] = position;
		position += here;
	}
	ASSERT(position == count);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t to = start[digit_of(keys[i], digit)]++;
		to_keys[to] = keys[i];
		if (values != NULL)
			to_values[to] = values[i];
	}
}

#ifdef CAIRN_VALIDATE
static bool keys_ascend(const uint64_t *keys, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		if (keys[i - 1] > keys[i])
			return false;
	return true;
}
#endif

void sort_keys(uint64_t *keys, uint32_t *values, uint64_t *scratch_keys, uint32_t *scratch_values,
	       uint32_t count)
{
	ASSERT(values == NULL || scratch_values != NULL || count < 2);
	ASSERT(count < 2 || keys != scratch_keys);
	if (count < 2)
		return;
	uint32_t counts[DIGITS][DIGIT_VALUES];
	memset(counts, 0, sizeof counts);
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t digit = 0; digit < DIGITS; digit++)
			counts[digit][digit_of(keys[i], digit)]++;

	uint64_t *from_keys = keys, *to_keys = scratch_keys;
	uint32_t *from_values = values, *to_values = scratch_values;
	for (uint32_t digit = 0; digit < DIGITS; digit++) {
		if (counts[digit][digit_of(from_keys[0], digit)] == count)
			continue;
		sort_pass(from_keys, from_values, to_keys, to_values, count, digit, counts[digit]);
		uint64_t *swap_keys = from_keys;
		from_keys = to_keys;
		to_keys = swap_keys;
		uint32_t *swap_values = from_values;
		from_values = to_values;
		to_values = swap_values;
	}
	if (from_keys != keys) {
		memcpy(keys, from_keys, (size_t)count * sizeof *keys);
		if (values != NULL)
			memcpy(values, from_values, (size_t)count * sizeof *values);
	}
	VALIDATE(keys_ascend(keys, count));
}

/* Merges [first, middle) and [middle, last) of `from` into the same places of `to`. */
static void sort_merge(const uint8_t *from, uint8_t *to, uint64_t first, uint64_t middle,
		       uint64_t last, size_t bytes, sort_compare *compare, void *context)
{
	VALIDATE(first <= middle && middle <= last);
	VALIDATE(bytes > 0);
	uint64_t left = first, right = middle;
	for (uint64_t out = first; out < last; out++) {
		const uint8_t *a = from + left * bytes, *b = from + right * bytes;
		bool take_right = left == middle;
		if (!take_right && right < last)
			take_right = compare(b, a, context) < 0;
		uint64_t in = take_right ? right++ : left++;
		memcpy(to + out * bytes, from + in * bytes, bytes);
	}
}

void sort_items(void *items, void *scratch, uint32_t count, uint32_t item_bytes,
		sort_compare *compare, void *context)
{
	ASSERT(item_bytes > 0);
	ASSERT(count < 2 || items != scratch);
	uint8_t *from = items, *to = scratch;
	for (uint64_t width = 1; width < count; width *= 2) {
		for (uint64_t first = 0; first < count; first += 2 * width) {
			uint64_t middle = MIN_OF(first + width, (uint64_t)count);
			uint64_t last = MIN_OF(first + 2 * width, (uint64_t)count);
			sort_merge(from, to, first, middle, last, item_bytes, compare, context);
		}
		uint8_t *swap = from;
		from = to;
		to = swap;
	}
	if (from != items)
		memcpy(items, from, (size_t)count * item_bytes);
}

uint64_t sort_key_of_double(double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	/* NaN of either sign goes last. */
	if ((bits & 0x7fffffffffffffffu) > 0x7ff0000000000000u)
		return UINT64_MAX;
	/* Negative numbers count backwards in their bits; positive ones go above them. */
	return bits >> 63 ? ~bits : bits | 0x8000000000000000u;
}
