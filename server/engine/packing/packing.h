/* packing.h: planar compaction: polygons in a strip are moved, without turning, until the strip cannot become
 * shorter by a small move of all of them.
 *
 *   y_max ┌──────────────────┐         A jump moves all polygons at once to the best place that they can
 *         │  ▱   ◸    ▱   ◺  │ → x     reach in a convex set of places around the present ones, in which no
 *   y_min └──────────────────┘         two overlap. So every place between two jumps is free of overlap, too.
 *        left            length
 *
 * The best place minimises length + pull × (mean of the x of all polygons): the solution of a linear program.
 * Polygons may be non-convex; each is divided into convex parts (packing_parts.c). For a pair, the set is
 * bounded by sides of the sums of parts (packing_region.c).
 *
 * Promises, of every jump: the length does not grow; no overlap is larger than before by more than the
 * tolerance; the same problem gives the same bits. A jump of a layout that an earlier one has left at rest
 * moves nothing.
 *
 * Source: papers P-02, P-09, and the compaction of polygons that papers P cites.
 */
#ifndef CAIRN_ENGINE_PACKING_PACKING_H
#define CAIRN_ENGINE_PACKING_PACKING_H

#include "server/base/status.h"
#include "server/engine/math/vec2.h"
#include "server/engine/solvers/solver.h"

/* Corners of a polygon; of all. With more corners the exact test for crossing sides takes seconds. */
enum { PACKING_POLYGONS_MAX = 4096, PACKING_CORNERS_MAX = 1024, PACKING_CORNERS_ALL = 65536 };
/* Greatest coordinate. Beyond it squares of lengths lose the digits that the tolerance needs. */
#define PACKING_COORDINATE_MAX 1e6
/* Of the strip's height. Deeper overlaps at the start are refused. */
#define PACKING_OVERLAP 1e-9

struct packing_polygon {
	const vec2 *corners; /* borrowed until packing_create returns; in either direction */
	uint32_t count;
	vec2 place; /* is added to each corner */
};

struct packing_problem {
	const struct packing_polygon *polygons;
	uint32_t count;
	double left, y_min, y_max;
	double pull; /* price of the mean x against the length, 0 to 1 */
	double rest; /* of the length: a jump that gains less is not made */
};

/* What is wrong with a problem: one or two polygons. */
struct packing_fault {
	uint32_t polygon, other; /* UINT32_MAX: none */
};

struct packing_jump {
	bool moved;    /* false: at rest, or the program was not solved */
	bool rest;     /* the program's prices prove that the convex set gains at most `rest` */
	double length; /* after the jump */
	double gain; /* of the program: an upper bound of what this set allows; in units of length */
	double overlap; /* greatest depth after the jump, by separating sides of all parts; 0: none */
	double residual,
		bound; /* of the program: optimality; and the worst violated bound, in units of length */
	uint32_t rows, row_pairs; /* of the last round; pairs of polygons with rows */
	uint32_t rounds, pivots;
	bool shortened; /* the move was shortened, because the solution violated rows */
	enum solver_status status;
};

struct packing;

/* The corners are copied. Errors: RANGE, NOT_FINITE, LIMIT, DEGENERATE (sides cross or touch, or no area),
 * with the polygon in *fault; EXISTS (two overlap); NO_MEMORY. *out is owned, for packing_destroy. */
MUST_CHECK enum status packing_create(const struct packing_problem *problem, struct packing **out,
				      struct packing_fault *fault, struct reason *why);
/* NULL is ignored. */
void packing_destroy(struct packing *self);
/* One jump. NO_MEMORY: nothing has moved. */
MUST_CHECK enum status packing_jump(struct packing *self, struct packing_jump *out);
vec2 packing_place(const struct packing *self, uint32_t polygon);
double packing_length(const struct packing *self);
/* The area of all polygons. */
double packing_area(const struct packing *self);
/* Convex parts of all polygons. */
uint32_t packing_part_count(const struct packing *self);
/* The greatest depth to which two polygons overlap, and which; 0: none do. The depth of two parts is the
 * least way along a side's normal that parts them. NO_MEMORY. */
MUST_CHECK enum status packing_overlap(struct packing *self, double *depth,
				       struct packing_fault *worst);

#endif
