/* packing_work.h: the parts of a compaction. Private to server/engine/packing. */
#ifndef CAIRN_ENGINE_PACKING_PACKING_WORK_H
#define CAIRN_ENGINE_PACKING_PACKING_WORK_H

#include "server/base/arena.h"
#include "server/base/array.h"
#include "server/engine/packing/packing.h"

#define PACKING_NONE UINT32_MAX
/* Beyond every length. */
#define LENGTH_NONE 1e300

/* A convex polygon: corners first … first + count − 1 of `corners`, counter-clockwise. */
struct packing_part {
	uint32_t first, count;
	vec2 low, high; /* box, before the place is added */
};

struct packing_shape {
	uint32_t first_part, part_count;
	vec2 low, high; /* box, before the place is added */
	vec2 place;
	double area;
};

/* Keeps two polygons apart: normal · (d_b − d_a) ≥ −gap, d the displacement in a jump. */
struct packing_row {
	uint32_t a, b; /* a < b */
	vec2 normal;
	double gap;
	bool taken;    /* it is in the program */
	uint8_t place; /* enum lp_place */
};

struct packing {
	struct packing_shape *shapes; /* owned, as are the next two */
	uint32_t count;
	struct {
		vec2 *items;
		uint32_t count, capacity;
	} corners;
	struct {
		struct packing_part *items;
		uint32_t count, capacity;
	} parts;
	double left, y_min, y_max, pull, rest;
	double scale; /* the height of the strip */
	/* Of one jump. */
	struct {
		struct packing_row *items;
		uint32_t count, capacity;
	} rows;
	vec2 *moves;	 /* by shape */
	uint8_t *places; /* enum lp_place of the columns, then of the rows of lengths */
	uint32_t pairs;	 /* that have rows */
	uint64_t *made;	 /* bits: by a × count + b, whether the pair has its rows */
	struct arena arena;
};

static inline vec2 packing_low(const struct packing_shape *shape)
{
	return vec2_add(shape->place, shape->low);
}

static inline vec2 packing_high(const struct packing_shape *shape)
{
	return vec2_add(shape->place, shape->high);
}

/* packing_parts.c: checks a polygon and appends its convex parts. DEGENERATE, NO_MEMORY. */
MUST_CHECK enum status packing_divide(struct packing *self, const struct packing_polygon *polygon,
				      struct packing_shape *shape, struct reason *why);

/* packing_region.c: appends the rows of a pair at the present places. NO_MEMORY. */
MUST_CHECK enum status packing_add_rows(struct packing *self, uint32_t a, uint32_t b);
/* The depth to which two shapes overlap; ≤ 0: they do not. NO_MEMORY. */
MUST_CHECK enum status packing_depth(struct packing *self, uint32_t a, uint32_t b, double *depth);

/* packing_solve.c: fills in moves, which violate no row, and the figures of the program. NO_MEMORY. */
MUST_CHECK enum status packing_solve(struct packing *self, struct packing_jump *out);

/* packing_pairs.c: calls `visit` for every pair a < b whose boxes, moved and grown by `reach` on each side,
 * meet; in ascending order of the left sides. The boxes contain places before and after `moves` (NULL:
 * none). */
typedef enum status packing_visit(void *context, uint32_t a, uint32_t b);
MUST_CHECK enum status packing_each_pair(struct packing *self, const vec2 *moves, double reach,
					 packing_visit *visit, void *context);

#endif
