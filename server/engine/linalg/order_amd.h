/* order_amd.h: an elimination order of a sparse symmetric matrix with little fill-in. */
#ifndef CAIRN_ENGINE_LINALG_ORDER_AMD_H
#define CAIRN_ENGINE_LINALG_ORDER_AMD_H

#include "server/base/base.h"

/* How many words `work` needs; SIZE_MAX for counts of 2³¹ and more. */
size_t order_amd_words(uint32_t count, uint32_t entries);
/* order[k] becomes the row that is eliminated k-th. The pattern by rows: row i has the columns
 * column[start[i]] … column[start[i + 1] − 1], in any order but none twice, both triangles, without the
 * diagonal. The order is the same on every machine, because only integers are used. Does not
 * allocate. */
void order_amd(uint32_t count, const uint32_t *start, const uint32_t *column, uint32_t *order,
	       uint32_t *work);

#endif
