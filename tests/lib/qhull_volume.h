/* qhull_volume.h: the volume of a cloud's hull by Qhull, the oracle of the hull tests. */
#ifndef CAIRN_TESTS_QHULL_VOLUME_H
#define CAIRN_TESTS_QHULL_VOLUME_H

#include "config.h"
#include "server/engine/math/vec3.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_QHULL
#include <libqhull_r/qhull_ra.h>
#endif

static inline bool qhull_is_here(void)
{
#ifdef HAVE_QHULL
	return true;
#else
	return false;
#endif
}

/* m³; negative if Cairn was built without Qhull. */
static inline double qhull_volume(const vec3 *points, uint32_t count)
{
#ifdef HAVE_QHULL
	qhT state;
	FILE *nowhere = fopen("/dev/null", "w");
	coordT *numbers = malloc(count * sizeof(vec3));
	memcpy(numbers, points, count * sizeof(vec3));
	qh_zero(&state, nowhere);
	char options[] = "qhull Qt";
	int failed = qh_new_qhull(&state, 3, (int)count, numbers, False, options, NULL, nowhere);
	ck_assert_int_eq(failed, 0);
	qh_getarea(&state, state.facet_list);
	double volume = state.totvol;
	/* Frees everything except the short-memory buffers, which are freed next. */
	qh_freeqhull(&state, !qh_ALL);
	int left, left_total;
	qh_memfreeshort(&state, &left, &left_total);
	free(numbers);
	fclose(nowhere);
	return volume;
#else
	UNUSED(points);
	UNUSED(count);
	return -1;
#endif
}

#endif
