/* order_amd.c: approximate minimum degree, by SuiteSparse's AMD, which only this file includes.
 *
 * It calls amd_2 and not amd_order, because amd_order allocates. amd_2 needs a symmetric pattern
 * without diagonal in an array with a fifth of free space, and overwrites it.
 */
#include "server/engine/linalg/order_amd.h"

#include <suitesparse/amd.h>

enum { ARRAYS = 8 }; /* arrays of `count` words that amd_2 works on */

size_t order_amd_words(uint32_t count, uint32_t entries)
{
	size_t words = (size_t)entries + entries / 5 + count + 1 + ARRAYS * (size_t)count;
	return words > INT32_MAX ? SIZE_MAX : words;
}

#ifdef CAIRN_VALIDATE
/* `seen`: count words of scratch. */
static bool is_permutation(const uint32_t *order, uint32_t count, uint32_t *seen)
{
	for (uint32_t i = 0; i < count; i++)
		seen[i] = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (order[i] >= count || seen[order[i]])
			return false;
		seen[order[i]] = 1;
	}
	return true;
}
#endif

void order_amd(uint32_t count, const uint32_t *start, const uint32_t *column, uint32_t *order,
	       uint32_t *work)
{
	_Static_assert(sizeof(int) == sizeof(uint32_t), "AMD counts in int");
	uint32_t entries = start[count];
	ASSERT(order_amd_words(count, entries) != SIZE_MAX);
	if (count == 0)
		return;
	int *at[ARRAYS], *pattern = (int *)work + (size_t)ARRAYS * count;
	for (uint32_t i = 0; i < ARRAYS; i++)
		at[i] = (int *)work + (size_t)i * count;
	for (uint32_t i = 0; i < count; i++) {
		at[0][i] = (int)start[i];
		at[1][i] = (int)(start[i + 1] - start[i]);
		VALIDATE(start[i] <= start[i + 1]);
	}
	for (uint32_t p = 0; p < entries; p++)
		pattern[p] = (int)column[p];
	amd_2((int)count, at[0], pattern, at[1], (int)(entries + entries / 5 + count + 1),
	      (int)entries, at[2], at[3], (int *)order, at[4], at[5], at[6], at[7], NULL, NULL);
	VALIDATE(is_permutation(order, count, work));
}
