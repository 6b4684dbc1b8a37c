/* chol_rows.h: the rows of a column or panel of a sparse factor. Private to server/engine/linalg. */
#ifndef CAIRN_ENGINE_LINALG_CHOL_ROWS_H
#define CAIRN_ENGINE_LINALG_CHOL_ROWS_H

#include "server/base/base.h"

/* The first index from `low` on whose row is not below `wanted`, `high` if there is none; row[low] …
 * row[high − 1] ascend. */
static inline uint32_t chol_rows_find(const uint32_t *row, uint32_t low, uint32_t high,
				      uint32_t wanted)
{
	ASSERT(low <= high);
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (row[middle] < wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

#endif
