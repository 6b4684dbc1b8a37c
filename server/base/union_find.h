/* union_find.h: disjoint sets of numbers. parent[i] is a member of i's set nearer to its root, which
 * is its own parent. The arrays belong to the caller, who sets parent[i] = i at first. */
#ifndef CAIRN_BASE_UNION_FIND_H
#define CAIRN_BASE_UNION_FIND_H

#include "server/base/base.h"

/* The root of i's set; shortens the way to it. */
static inline uint32_t union_find_root(uint32_t *parent, uint32_t i)
{
	while (parent[i] != i) {
		parent[i] = parent[parent[i]];
		i = parent[i];
	}
	return i;
}

/* Unites the sets of a and b; false if they were one. The lower root stays one, so where sets are only
 * joined here the root of a set is its least member, whatever the order of the calls. */
static inline bool union_find_join(uint32_t *parent, uint32_t a, uint32_t b)
{
	VALIDATE(parent[a] <= a && parent[b] <= b);
	a = union_find_root(parent, a);
	b = union_find_root(parent, b);
	parent[MAX_OF(a, b)] = MIN_OF(a, b);
	return a != b;
}

#endif
