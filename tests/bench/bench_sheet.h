/* bench_sheet.h: the cloth of the benchmarks: square, 0.1 m between particles of 1 g, level,
 * held by two corners. It begins to swing when it is stepped. */
#ifndef CAIRN_TESTS_BENCH_SHEET_H
#define CAIRN_TESTS_BENCH_SHEET_H

#include "server/engine/engine.h"

struct sheet {
	uint32_t side, substeps; /* side: particles */
	double thickness;	 /* m: it meets itself; 0: it does not */
	double limit;		 /* of stretch; 0: none */
};

/* Returned owned. */
struct world *bench_sheet(const struct sheet *sheet);
/* s of this process and all its threads, and of the clock on the wall. */
double bench_processor(void);
double bench_wall(void);

#endif
