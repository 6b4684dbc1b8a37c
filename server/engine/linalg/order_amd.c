/* order_amd.c: approximate minimum degree, by SuiteSparse's AMD; the only file that knows it.
 *
 * Called below amd_order, which would allocate: amd_2 takes a pattern that is symmetric and has no
 * diagonal in an array with a fifth of elbow room, and destroys it.
 */
#include "server/engine/linalg/order_amd.h"

#include <suitesparse/amd.h>

enum { ARRAYS = 8 };

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
