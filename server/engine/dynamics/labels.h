/* labels.h: names of bodies and joints, for people: rows of the table label, which body.label and
 * joint.label name. No motion and no hash depends on them.
 */
#ifndef CAIRN_ENGINE_DYNAMICS_LABELS_H
#define CAIRN_ENGINE_DYNAMICS_LABELS_H

#include "server/engine/dynamics/dynamics.h"

enum label_kind { LABEL_BODY, LABEL_JOINT };

/* What label.owner is for the row of a body or joint. */
static inline uint32_t label_owner(enum label_kind kind, uint32_t row)
{
	return 2 * row + 1 + (kind == LABEL_JOINT);
}

/* Memory for more rows. NO_MEMORY. */
MUST_CHECK enum status dynamics_label_reserve(struct dynamics *self, uint32_t rows);
/* Gives the body or joint in this row a name of 1 to 31 bytes, in place of one that it has. Room is
 * reserved. */
void dynamics_label_set(struct dynamics *self, enum label_kind kind, uint32_t row,
			const char *text);
/* Takes it away. */
void dynamics_label_drop(struct dynamics *self, enum label_kind kind, uint32_t row);

#endif
