/* bench_closest_none.c: takes the place of libraries that are not installed. */
#include "tests/bench/bench_closest.h"

#ifndef BENCH_HAVE_CCD
const struct closest_peer closest_ccd = { 0 };
#endif
#ifndef BENCH_HAVE_BULLET
const struct closest_peer closest_bullet = { 0 };
#endif
