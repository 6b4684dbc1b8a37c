/* sort.h: the two sorts. Both are stable, so equal keys keep the order they came in; callers that
 * need a total order put the id in the key's low bits (or compare it last) and say so. */
#ifndef CAIRN_BASE_SORT_H
#define CAIRN_BASE_SORT_H

#include "server/base/base.h"

/* Sorts `count` (key, value) pairs by ascending key, by counting digits of 8 bits from the lowest
 * up; a digit in which all keys agree is skipped. All four arrays hold `count` items; the scratch
 * arrays' contents are lost. Values may be NULL, then scratch_values too. */
void sort_keys(uint64_t *keys, uint32_t *values, uint64_t *scratch_keys, uint32_t *scratch_values,
	       uint32_t count);

/* Returns < 0, 0 or > 0 if a sorts before, equal to or after b. Must be a total preorder:
 * transitive, also for NaN, which needs a defined place. */
typedef int sort_compare(const void *a, const void *b, void *context);

/* Merge sort of `count` items of `item_bytes` each, for lists that are short or rarely sorted.
 * `scratch` holds as many bytes as `items`; its contents are lost. */
void sort_items(void *items, void *scratch, uint32_t count, uint32_t item_bytes,
		sort_compare *compare, void *context);

/* A key for sort_keys that orders doubles ascending: −inf … −0 < +0 … +inf, then NaN. */
uint64_t sort_key_of_double(double value);

#endif
