/* order_amd.h: in which order a sparse symmetric matrix fills in little. */
#ifndef CAIRN_ENGINE_LINALG_ORDER_AMD_H
#define CAIRN_ENGINE_LINALG_ORDER_AMD_H

#include "server/base/base.h"

/* How many words `work` needs; SIZE_MAX for counts of 2³¹ and more. */
size_t order_amd_words(uint32_t count, uint32_t entries);
/* order[k] is the row that comes k-th. The pattern by rows: row i's columns are column[start[i]] …
 * column[start[i + 1] - 1], in any order but none twice, both triangles, without the diagonal. Works
 * on integers only, so the order is the same everywhere. Allocates nothing. */
void order_amd(uint32_t count, const uint32_t *start, const uint32_t *column, uint32_t *order,
	       uint32_t *work);

#endif
