/* order_amd.c: approximate minimum degree, by SuiteSparse's AMD; the only file that knows it. */
#include "server/engine/linalg/order_amd.h"

#include <suitesparse/amd.h>

enum status order_amd(uint32_t count, const uint32_t *start, const uint32_t *column,
		      uint32_t *order)
{
	_Static_assert(sizeof(int) == sizeof(uint32_t), "AMD counts in int");
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	if (count == 0)
		return STATUS_OK;
	if (count > INT32_MAX || start[count] > INT32_MAX)
		return STATUS_LIMIT;
	int answer = amd_order((int)count, (const int *)start, (const int *)column, (int *)order,
			       NULL, NULL);
	if (answer == AMD_OK || answer == AMD_OK_BUT_JUMBLED)
		return STATUS_OK;
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	return STATUS_NO_MEMORY;
}
