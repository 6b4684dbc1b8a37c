/* parts.h: a problem of statics as problems that have nothing to do with each other.
 *
 * Bodies that a point or a row of a joint joins are in one part; what does not move joins nothing. A heap
 * that has fallen apart is many small parts, most of which end after a factor or two, while one problem
 * of all bodies would be solved as often as its worst part.
 */
#ifndef CAIRN_ENGINE_STATICS_PARTS_H
#define CAIRN_ENGINE_STATICS_PARTS_H

#include "server/engine/statics/equilibrium.h"

/* Indexes of the whole problem by parts, which are numbered by their lowest body; those of each part
 * ascend. */
struct statics_parts {
	uint32_t count;
	uint32_t *body, *point, *row, *carry;			      /* owned, with those below */
	uint32_t *body_first, *point_first, *row_first, *carry_first; /* by part, and one more */
	uint32_t *slot;		     /* by body of the whole: its index in its part */
	struct statics_body *bodies; /* the problems' arrays, in the order of the indexes above */
	struct statics_point *points;
	struct statics_row *rows;
	struct statics_carried *carried;
};

/* NO_MEMORY. Release it in any case. */
MUST_CHECK enum status statics_parts_init(struct statics_parts *self,
					  const struct statics_problem *problem);
void statics_parts_release(struct statics_parts *self);
/* The problem of a part, which borrows from `self`. */
struct statics_problem statics_part(const struct statics_parts *self,
				    const struct statics_problem *whole, uint32_t part);

#endif
