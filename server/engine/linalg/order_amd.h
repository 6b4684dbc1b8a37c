/* order_amd.h: in which order a sparse symmetric matrix fills in little. */
#ifndef CAIRN_ENGINE_LINALG_ORDER_AMD_H
#define CAIRN_ENGINE_LINALG_ORDER_AMD_H

#include "server/base/status.h"

/* order[k] is the row that comes k-th. The pattern by rows: row i's columns are column[start[i]] …
 * column[start[i + 1] - 1], ascending, both triangles. Works on integers only, so the order is the
 * same everywhere. Allocates (in SuiteSparse): not for a steady tick. STATUS_NO_MEMORY leaves 0, 1,
 * 2, …, as does a count or a number of entries of 2³¹ or more with STATUS_LIMIT. */
enum status order_amd(uint32_t count, const uint32_t *start, const uint32_t *column,
		      uint32_t *order) MUST_CHECK;

#endif
